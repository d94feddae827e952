package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/lint"
	"github.com/loomc/loomc/parser"
)

type lintOptions struct {
	corpusFlags
	configFlags
	roots        []string
	only, except []string
	target       string
	format       string
	strict, list bool
}

func (a *app) lintCommand() *cobra.Command {
	var o lintOptions
	c := &cobra.Command{
		Use:     "lint [FILE|DIR…]",
		GroupID: "corpus",
		Short:   "Find faults in kernels without running them",
		Long: `Checks kernels for what compiles and still goes wrong: barriers that order the
wrong memory, promises about loaded values that reach an address, masks that leak
stale values, config that contradicts the code, implementations nobody can select,
bank conflicts, copies that drifted apart, and more.

With files or directories, every kernel is linked against all of the files and
closed with values its declarations allow. Without, the exports of a corpus are
closed for their plan cases: --pin and --repo, --corpus DIR, or the bundled one.

'loomc explain LINT/RULE' says what a rule means. A line is excused with

  // loomc:ignore LINT/RULE reason

above it, or a whole definition in the comment above that. Errors make the exit
status 1, warnings only with --strict.`,
		Example: "  loomc lint\n  loomc lint --pin v1.4 --corpus kernels --format sarif\n  loomc lint --strict kernels/softmax.loom",
		RunE: func(c *cobra.Command, args []string) error {
			if o.list {
				return a.listRules()
			}
			if err := o.check(args); err != nil {
				return err
			}
			return a.runLint(c, &o, args)
		},
	}
	o.corpusFlags.add(c)
	o.configFlags.add(c)
	f := c.Flags()
	f.StringArrayVar(&o.roots, "root", nil, "export name or @symbol to check (repeatable; default: every export)")
	f.StringSliceVar(&o.only, "rule", nil, "run only these rules (repeatable)")
	f.StringSliceVar(&o.except, "except", nil, "leave these rules out (repeatable)")
	f.StringVar(&o.target, "target", "", "processor to close kernels for (default: what each kernel names)")
	f.StringVar(&o.format, "format", "text", "text, json, sarif or github")
	f.BoolVar(&o.strict, "strict", false, "warnings fail as well")
	f.BoolVar(&o.list, "list-rules", false, "print the rules and their severities")
	return c
}

// check looks at the flags before anything is read.
func (o *lintOptions) check(args []string) error {
	switch o.format {
	case "text", "json", "sarif", "github":
	default:
		return &status{exitUsage, fmt.Errorf("--format %s: want text, json, sarif or github", o.format)}
	}
	if len(args) > 0 && (o.pin != "" || o.repo != "" || o.corpus != "" || o.override != "" || len(o.roots) > 0) {
		return &status{exitUsage, errors.New("FILE arguments exclude --pin, --repo, --corpus, --override and --root")}
	}
	var ids []string
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
	}
	for _, list := range [][]string{o.only, o.except} {
		for i, id := range list {
			if !strings.Contains(id, "/") {
				list[i] = "LINT/" + strings.ToUpper(id)
			}
			if _, ok := lint.LookupRule(list[i]); ok {
				continue
			}
			msg := fmt.Sprintf("there is no lint rule '%s'", id)
			if n := dialect.Nearest(strings.ToUpper(list[i]), ids); n != "" {
				msg += fmt.Sprintf("; did you mean %s?", n)
			}
			return &status{exitUsage, errors.New(msg)}
		}
	}
	return checkTarget(o.target)
}

func (a *app) listRules() error {
	for _, r := range lint.Rules() {
		if _, err := fmt.Fprintf(a.out, "%-26s %-8s %s\n", r.ID, r.Severity, r.Title()); err != nil {
			return failed(fmt.Errorf("write rules: %w", err))
		}
	}
	return nil
}

func (a *app) runLint(c *cobra.Command, o *lintOptions, args []string) error {
	ctx := c.Context()
	bindings, ds, err := o.bindings(a)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return a.render(ds, o.format)
	}
	bar := a.progress("linting")
	opts := lint.Options{Target: o.target, Config: bindings, Only: o.only, Except: o.except, Progress: bar.update}
	var found diag.List
	var subject string
	if len(args) > 0 {
		found, subject, err = a.lintFiles(ctx, args, opts)
		bar.done()
	} else {
		set, problems, oerr := o.open(ctx, c)
		if oerr != nil {
			return oerr
		}
		ds = append(ds, problems...)
		if set == nil {
			return a.showOpen(ds)
		}
		picked, l := set.Select(o.roots)
		ds = append(ds, l...)
		picked, l = set.Fit(picked, o.target)
		ds = append(ds, l...)
		found, err = lint.Corpus(ctx, set, picked, opts)
		bar.done()
		subject = count(len(picked), "export")
	}
	if err != nil {
		return err
	}
	ds = append(ds, found...)
	if err := a.render(ds, o.format); err != nil {
		return err
	}
	if !a.quiet && o.format == "text" {
		fmt.Fprintf(a.out, "%s checked, no errors, %s\n", subject, count(ds.Count(diag.Warning), "warning"))
	}
	if o.strict && ds.Count(diag.Warning) > 0 {
		return &status{code: exitFindings}
	}
	return nil
}

func (a *app) lintFiles(ctx context.Context, args []string, o lint.Options) (diag.List, string, error) {
	files, err := loomFiles(args)
	if err != nil {
		return nil, "", err
	}
	type parsed struct {
		mod   *loom.Module
		diags diag.List
	}
	results, err := eachFile(ctx, files, func(_ context.Context, name string) (parsed, error) {
		src, err := a.readSource(name)
		if err != nil {
			return parsed{}, err
		}
		m, l := parser.Parse(src)
		return parsed{m, l}, nil
	})
	if err != nil {
		return nil, "", err
	}
	var ds diag.List
	var mods []*loom.Module
	for _, p := range results {
		ds = append(ds, p.diags...)
		if p.mod != nil {
			mods = append(mods, p.mod)
		}
	}
	found, err := lint.Files(ctx, mods, o)
	return append(ds, found...), count(len(files), "file"), err
}
