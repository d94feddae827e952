package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/hip"
)

func (a *app) cacheCommand() *cobra.Command {
	var dir string
	root := group(&cobra.Command{Use: "cache", GroupID: "other", Short: "Look at and tidy the object cache"})
	root.PersistentFlags().StringVar(&dir, "cache-dir", "", "object cache (default: LOOMC_CACHE, else the user's cache directory)")
	open := func() (*hip.Cache, error) {
		c, err := openCache(dir)
		if err != nil {
			return nil, missing(err)
		}
		return c, nil
	}
	sub := func(use, short string, run func(c *cobra.Command, h *hip.Cache) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			h, err := open()
			if err != nil {
				return err
			}
			return run(c, h)
		}}
	}
	root.AddCommand(sub("stats", "Count entries and bytes", func(c *cobra.Command, h *hip.Cache) error {
		s, err := h.Stats(c.Context())
		if err != nil {
			return failed(err)
		}
		fmt.Fprintf(a.out, "%s: %d objects, %d bytes of %d, %d temporary files\n", s.Dir, s.Entries, s.Bytes, s.MaxBytes, s.Temporary)
		return nil
	}))
	var budget int64
	prune := sub("prune", "Remove the entries used longest ago", func(c *cobra.Command, h *hip.Cache) error {
		p, err := h.Prune(c.Context(), budget)
		if err != nil {
			return failed(err)
		}
		fmt.Fprintf(a.out, "removed %d objects (%d bytes), kept %d (%d bytes)\n", p.Removed, p.Freed, p.Kept, p.KeptBytes)
		return nil
	})
	prune.Flags().Int64Var(&budget, "max-bytes", -1, "bytes to keep (default: the cache's budget)")
	root.AddCommand(prune)
	var remove bool
	verify := sub("verify", "Check every entry against its digest", func(c *cobra.Command, h *hip.Cache) error {
		n, bad, err := h.Verify(c.Context(), remove)
		if err != nil {
			return failed(err)
		}
		for _, b := range bad {
			fmt.Fprintf(a.out, "bad: %s: %s\n", b.Path, b.Reason)
		}
		fmt.Fprintf(a.out, "%d objects checked, %d bad\n", n, len(bad))
		if len(bad) > 0 && !remove {
			return failed(errors.New("the cache has bad entries; they are never used; --remove deletes them"))
		}
		return nil
	})
	verify.Flags().BoolVar(&remove, "remove", false, "delete bad entries")
	root.AddCommand(verify)
	root.AddCommand(sub("clear", "Remove every entry", func(c *cobra.Command, h *hip.Cache) error {
		p, err := h.Clear(c.Context())
		if err != nil {
			return failed(err)
		}
		fmt.Fprintf(a.out, "removed %d objects (%d bytes)\n", p.Removed, p.Freed)
		return nil
	}))
	return root
}
