package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

func (a *app) fmtCommand() *cobra.Command {
	var check, write bool
	c := &cobra.Command{
		Use:     "fmt [--check | -w] FILE|DIR…",
		GroupID: "file",
		Short:   "Print Loom text in canonical form",
		Long: `Prints the canonical form of Loom files: two-space indentation, one statement
per line; comments, SSA names and blank-line grouping are kept. "-" reads the
standard input. A file with errors is reported and never touched.`,
		Example: "  loomc fmt kernel.loom\n  loomc fmt -w corpus/\n  loomc fmt --check corpus/",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if check && write {
				return &status{exitUsage, errors.New("--check and -w exclude each other")}
			}
			return a.runFmt(c.Context(), args, check, write)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "print the names of files that are not canonical; exit 1 if there are any")
	c.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the file")
	return c
}

type formatted struct {
	name    string
	text    []byte
	changed bool
	diags   diag.List
}

func (a *app) runFmt(ctx context.Context, args []string, check, write bool) error {
	files, err := loomFiles(args)
	if err != nil {
		return err
	}
	results, err := eachFile(ctx, files, func(_ context.Context, name string) (formatted, error) {
		src, err := a.readSource(name)
		if err != nil {
			return formatted{}, err
		}
		m, l := parser.Parse(src)
		l = append(l, m.Load()...)
		r := formatted{name: src.Name, diags: l}
		if l.HasErrors() {
			return r, nil
		}
		r.text = loom.Print(m)
		r.changed = string(r.text) != src.Text
		if write && r.changed && name != "-" {
			info, err := os.Stat(name)
			if err != nil {
				return r, failed(fmt.Errorf("write %s: %w", name, err))
			}
			if err := corpus.WriteFileAtomic(name, r.text, info.Mode().Perm()); err != nil {
				return r, failed(fmt.Errorf("write %s: %w", name, err))
			}
		}
		return r, nil
	})
	if err != nil {
		return err
	}
	var all diag.List
	dirty := false
	for _, r := range results {
		all = append(all, r.diags...)
		switch {
		case r.text == nil:
		case check:
			if r.changed {
				dirty = true
				fmt.Fprintln(a.out, r.name)
			}
		case !write || r.name == "<stdin>":
			if _, err := a.out.Write(r.text); err != nil {
				return failed(fmt.Errorf("write output: %w", err))
			}
		}
	}
	if err := a.show(all); err != nil {
		return err
	}
	if dirty {
		return &status{code: exitFindings}
	}
	return nil
}
