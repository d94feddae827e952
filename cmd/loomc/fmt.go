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
	"github.com/loomc/loomc/loom/generation"
	"github.com/loomc/loomc/parser"
)

func (a *app) fmtCommand() *cobra.Command {
	var check, write bool
	var to string
	c := &cobra.Command{
		Use:     "fmt [--check | -w] [--to new|old] FILE|DIR…",
		GroupID: "file",
		Short:   "Print Loom text in canonical form",
		Long: `Prints the canonical form of Loom files: two-space indentation, one statement
per line; comments, SSA names and blank-line grouping are kept. "-" reads the
standard input. A file with errors is reported and never touched.

--to rewrites each file into one generation of the language, where that can say
the same: predicates, layouts and encodings, clauses, templates, launches. What it
cannot say is reported with its place, and that file is left as it is.`,
		Example: "  loomc fmt kernel.loom\n  loomc fmt -w corpus/\n  loomc fmt --check corpus/\n  loomc fmt --to=new -w corpus/",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if check && write {
				return &status{exitUsage, errors.New("--check and -w exclude each other")}
			}
			var convert converter
			if c.Flags().Changed("to") {
				g, err := generation.Parse(to)
				if err != nil {
					return &status{exitUsage, fmt.Errorf("--to: %w", err)}
				}
				convert = func(m *loom.Module) (*loom.Module, diag.List) { return generation.Convert(m, g) }
			}
			return a.runFmt(c.Context(), args, check, write, convert)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "print the names of files that are not canonical; exit 1 if there are any")
	c.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the file")
	c.Flags().StringVar(&to, "to", "", "rewrite into a generation of the language: new or old")
	return c
}

// converter changes a module before it is printed.
type converter func(*loom.Module) (*loom.Module, diag.List)

type formatted struct {
	name    string
	text    []byte
	changed bool
	diags   diag.List
}

func (a *app) runFmt(ctx context.Context, args []string, check, write bool, convert converter) error {
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
		if convert != nil {
			n, l := convert(m)
			r.diags = append(r.diags, l...)
			if n == nil {
				return r, nil
			}
			m = n
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
