package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/loom/diag"
)

type diffOptions struct {
	repo, corpus             string
	format, output, settings string
	failOn                   string
	exports                  []string
	rules, schema            bool
}

func (a *app) diffCommand() *cobra.Command {
	var o diffOptions
	var formats []string
	for _, f := range compat.Formats() {
		formats = append(formats, f.Name)
	}
	c := &cobra.Command{
		Use:     "diff OLD NEW",
		GroupID: "corpus",
		Short:   "Compare two corpora: what an engine can no longer use, and why",
		Long: `Compares what every export promises in two corpora: bindings, parameters, the
set of values each config symbol accepts, targets, launch geometry, workgroup
memory, template families, and the body itself by a semantic hash.

OLD and NEW are git revisions of a local repository (--repo, --corpus), corpus
directories, or 'embedded' for the corpus built into loomc. A directory that
exists is taken before a revision of the same name.

Findings are BREAKING, NARROWING, BEHAVIOUR or ADDITIVE. The exit status is 1 when
a finding as bad as --fail-on stands. Findings that were looked at are accepted in
` + compat.SettingsFile + `, one entry per rule and export, with a reason.`,
		Example: `  loomc diff 8f3c2d1 HEAD --repo ~/llama.cpp --corpus ggml/src/ggml-hrx/kernel-corpus/kernels/loom-libs
  loomc diff embedded ./my-corpus --format markdown
  loomc diff v1 v2 --export ggml_softmax_f32 --fail-on narrowing
  loomc diff --rules`,
		Args: func(c *cobra.Command, args []string) error {
			if o.rules || o.schema {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(2)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case o.rules:
				return a.diffRules()
			case o.schema:
				return a.writeOutput("-", compat.SchemaJSON)
			}
			return a.runDiff(c.Context(), &o, args[0], args[1])
		},
	}
	f := c.Flags()
	f.StringVar(&o.repo, "repo", "", "git repository of the revisions (default: the one around the current directory)")
	f.StringVar(&o.corpus, "corpus", "", "corpus directory inside the repository (default: searched)")
	f.StringVar(&o.format, "format", "text", strings.Join(formats, ", "))
	f.StringVarP(&o.output, "output", "o", "-", "file for the report ('-': standard output)")
	f.StringVar(&o.settings, "settings", "", "settings file with accepted findings (default: "+compat.SettingsFile+" if it exists)")
	f.StringVar(&o.failOn, "fail-on", "breaking", "mildest category that fails: breaking, narrowing, behaviour, additive or never")
	f.StringArrayVar(&o.exports, "export", nil, "compare only this export (repeatable)")
	f.BoolVar(&o.rules, "rules", false, "list the rules and what they mean")
	f.BoolVar(&o.schema, "print-schema", false, "print the JSON Schema of --format json")
	return c
}

func (a *app) diffRules() error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, r := range compat.Rules() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Category, r.Title)
		if a.verbose {
			fmt.Fprintf(w, "\t\t  %s\n", r.Doc)
		}
	}
	return w.Flush()
}

func (a *app) runDiff(ctx context.Context, o *diffOptions, oldName, newName string) error {
	format, ok := compat.LookupFormat(o.format)
	if !ok {
		return &status{exitUsage, fmt.Errorf("--format %s is unknown; see --help", o.format)}
	}
	fails, err := failsOn(o.failOn)
	if err != nil {
		return err
	}
	settings, err := a.diffSettings(o.settings)
	if err != nil {
		return err
	}
	old, err := a.openSide(ctx, o, oldName)
	if err != nil {
		return err
	}
	new, err := a.openSide(ctx, o, newName)
	if err != nil {
		return err
	}
	r, err := compat.Diff(ctx, old, new, compat.Options{Exports: o.exports, Settings: settings})
	if err != nil {
		return err
	}
	if len(o.exports) > 0 && r.OldCount == 0 && r.NewCount == 0 {
		return failed(fmt.Errorf("neither corpus has an export %s", strings.Join(o.exports, ", ")))
	}
	var b strings.Builder
	if err := format.Write(&b, r); err != nil {
		return failed(fmt.Errorf("write report: %w", err))
	}
	if err := a.writeOutput(o.output, []byte(b.String())); err != nil {
		return err
	}
	if o.output != "-" && !a.quiet {
		fmt.Fprintf(a.err, "%s: %s\n", o.output, r.Summary())
	}
	if fails(r) {
		return &status{code: exitFindings}
	}
	return nil
}

func failsOn(word string) (func(*compat.Report) bool, error) {
	if word == "never" {
		return func(*compat.Report) bool { return false }, nil
	}
	c, err := compat.ParseCategory(word)
	if err != nil {
		return nil, &status{exitUsage, fmt.Errorf("--fail-on: %w, or never", err)}
	}
	return func(r *compat.Report) bool { return r.Worst(c) }, nil
}

// diffSettings reads the settings file: the named one, or the usual one if it is
// there.
func (a *app) diffSettings(name string) (*compat.Settings, error) {
	if name == "" {
		if _, err := os.Stat(compat.SettingsFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		name = compat.SettingsFile
	}
	src, err := a.readSource(name)
	if err != nil {
		return nil, err
	}
	s, ds := compat.ReadSettings(src)
	if err := a.show(ds); err != nil {
		return nil, err
	}
	return s, nil
}

// openSide opens one side of a comparison. Problems of single exports are part of
// the comparison and not shown here.
func (a *app) openSide(ctx context.Context, o *diffOptions, name string) (*compat.Surface, error) {
	opts := corpus.Options{}
	info, statErr := os.Stat(name)
	switch {
	case name == "embedded":
	case statErr == nil && info.IsDir():
		opts.Path = name
	case name == "":
		return nil, &status{exitUsage, errors.New("an empty name stands for no corpus")}
	case strings.ContainsAny(name[:1], "./") || strings.HasSuffix(name, "/"):
		return nil, failed(fmt.Errorf("no directory %s", name))
	default:
		opts = corpus.Options{Repo: o.repo, Pin: name, Path: o.corpus}
	}
	c, ds := corpus.Open(ctx, opts)
	if c == nil {
		for i, d := range ds {
			if opts.Pin != "" && (d.Code == "PIN/NO-REPOSITORY" || d.Code == "PIN/UNKNOWN") {
				ds[i] = d.WithHelp("there is no directory '%s' here, so it was taken for a commit, read with --repo DIR; 'embedded' is the corpus in loomc", name)
			}
		}
		return nil, a.showOpen(ds)
	}
	var about diag.List
	for _, d := range ds {
		if strings.HasPrefix(d.Code, "PIN/") || strings.HasPrefix(d.Code, "CORPUS/") {
			about.Add(d)
		}
	}
	if err := a.show(about); err != nil {
		return nil, err
	}
	return compat.NewSurface(exports.New(c), ""), nil
}
