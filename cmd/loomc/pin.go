package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/pin"
	"github.com/loomc/loomc/loom/diag"
)

func (a *app) pinCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "pin",
		GroupID: "corpus",
		Short:   "Keep the corpus pin of an engine (" + pin.LockFile + ")",
	}
	c.AddCommand(a.pinStatusCommand(), a.pinBumpCommand())
	return group(c)
}

// pinFlags are what the pin commands share.
type pinFlags struct{ lock, repo string }

func (f *pinFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.lock, "lock", pin.LockFile, "lock file")
	c.Flags().StringVar(&f.repo, "repo", "", "local git repository of the corpus (default: the one around the current directory)")
}

// read reads the lock; it is nil without an error when there is none and absent
// is allowed.
func (f *pinFlags) read(a *app, absent bool) (*pin.Lock, error) {
	if _, err := os.Stat(f.lock); errors.Is(err, fs.ErrNotExist) {
		if absent {
			return nil, nil
		}
		return nil, failed(fmt.Errorf("no lock file %s; 'loomc pin bump --to SHA' writes one", f.lock))
	}
	src, err := a.readSource(f.lock)
	if err != nil {
		return nil, err
	}
	l, ds := pin.ReadLock(src)
	if err := a.show(ds); err != nil {
		return nil, err
	}
	return l, nil
}

func (a *app) pinStatusCommand() *cobra.Command {
	var f pinFlags
	var against, format string
	c := &cobra.Command{
		Use:   "status",
		Short: "Say how the locked commit stands to the repository",
		Long: `Compares the commit of the lock file with a revision of the repository: up to
date, behind, ahead, diverged, missing, or cut off by a shallow clone, and how many
commits in between touch the corpus. Exit status 1 when the commit is not there.`,
		Example: "  loomc pin status --repo ~/llama.cpp\n  loomc pin status --against origin/master --format json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := f.read(a, false)
			if err != nil {
				return err
			}
			s, ds := pin.Check(c.Context(), l, pin.Where{Repo: f.repo, Against: against})
			switch {
			case s == nil:
				return a.showOpen(ds)
			case format == "json":
				if err := a.writeJSON(s); err != nil {
					return err
				}
			case format == "text":
				fmt.Fprintln(a.out, s)
			default:
				return &status{exitUsage, fmt.Errorf("--format %s: want text or json", format)}
			}
			return a.show(ds)
		},
	}
	f.add(c)
	c.Flags().StringVar(&against, "against", "HEAD", "revision to compare with")
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

type bumpOptions struct {
	pinFlags
	modelFlags
	to, corpus, settings string
	accept, files        []string
	models               []string
	dryRun               bool
}

func (a *app) pinBumpCommand() *cobra.Command {
	var o bumpOptions
	c := &cobra.Command{
		Use:   "bump --to SHA",
		Short: "Move the pin when nothing stands against it",
		Long: `Compares the locked corpus with the one at the new commit, checks the engine's
demands there, and writes the lock file when nothing worse than ADDITIVE was found.
Findings are accepted by rule, with a reason that the lock records; failing demands
under the rule 'requirements'.`,
		Example: `  loomc pin bump --to HEAD --repo ~/llama.cpp -r requirements.jsonc
  loomc pin bump --to 8f3c2d1 --accept 'body-changed=compared on gfx1151, bit-identical'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.to == "" {
				return &status{exitUsage, errors.New("name the commit with --to")}
			}
			return a.pinBump(c.Context(), &o)
		},
	}
	o.pinFlags.add(c)
	o.modelFlags.add(c)
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "commit to move to")
	f.StringVar(&o.corpus, "corpus", "", "corpus directory inside the repository (default: the lock's)")
	f.StringVar(&o.settings, "settings", "", "settings file with accepted findings (default: "+compat.SettingsFile+" if it exists)")
	f.StringArrayVar(&o.accept, "accept", nil, "accept the findings of a rule: RULE=REASON (repeatable)")
	f.StringArrayVarP(&o.files, "require", "r", nil, "requirements file that the new corpus must meet (repeatable)")
	f.StringArrayVar(&o.models, "model", nil, "GGUF model that the new corpus must serve (repeatable)")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "do not write the lock file")
	return c
}

func (a *app) pinBump(ctx context.Context, o *bumpOptions) error {
	m := pin.Move{Where: pin.Where{Repo: o.repo}, To: o.to, Corpus: o.corpus}
	for _, s := range o.accept {
		x, err := pin.ParseAcceptance(s)
		if err != nil {
			return &status{exitUsage, fmt.Errorf("--accept: %w", err)}
		}
		m.Accept = append(m.Accept, x)
	}
	old, err := o.read(a, true)
	if err != nil {
		return err
	}
	if m.Settings, err = a.diffSettings(o.settings); err != nil {
		return err
	}
	cases, ds, err := a.demands(o.files)
	if err != nil {
		return err
	}
	more, l, err := o.cases(a, o.models)
	if err != nil {
		return err
	}
	ds, m.Cases = append(ds, l...), append(cases, more...)
	if err := a.show(ds); err != nil {
		return err
	}
	b, ds, err := pin.Bump(ctx, old, m)
	if err != nil {
		return err
	}
	if b == nil {
		return a.showOpen(ds)
	}
	return a.bumped(b, o, ds)
}

// bumped reports a move and writes the lock.
func (a *app) bumped(b *pin.Bumped, o *bumpOptions, ds diag.List) error {
	if b.Report != nil && !a.quiet {
		if err := compat.WriteText(a.out, b.Report); err != nil {
			return failed(fmt.Errorf("write report: %w", err))
		}
	}
	for i := range b.Results {
		ds = append(ds, b.Results[i].Diags...)
	}
	if len(b.Results) > 0 {
		a.checkTable(b.Results)
	}
	shown := a.show(ds)
	if b.Lock == nil {
		var words []string
		for _, rule := range slices.Sorted(maps.Keys(b.Blocking)) {
			words = append(words, fmt.Sprintf("%s (%d)", rule, b.Blocking[rule]))
		}
		return failed(fmt.Errorf("the pin stays: %s; repair, or accept with --accept RULE=REASON", strings.Join(words, ", ")))
	}
	text, err := b.Lock.Marshal()
	if err != nil {
		return failed(err)
	}
	if o.dryRun {
		return a.writeOutput("-", text)
	}
	if err := a.writeOutput(o.lock, text); err != nil {
		return err
	}
	if !a.quiet {
		fmt.Fprintf(a.out, "%s is at %s\n", o.lock, b.Lock.Revision)
	}
	// Demands that failed and were accepted have been shown; they no longer fail.
	var st *status
	if errors.As(shown, &st) && len(b.Results) > 0 {
		return nil
	}
	return shown
}
