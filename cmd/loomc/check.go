package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/corpus/require/gguf"
	"github.com/loomc/loomc/loom/diag"
)

// modelFlags say which demands models make.
type modelFlags struct {
	rules string
	set   []string
}

func (f *modelFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.rules, "rules", "", "rule file that maps model metadata to demands (default: the one that comes with loomc)")
	c.Flags().StringArrayVar(&f.set, "set", nil, "values of a rule parameter, e.g. tokens=1,32,512 (repeatable)")
}

// params reads --set.
func (f *modelFlags) params() (map[string][]int64, error) {
	out := map[string][]int64{}
	for _, s := range f.set {
		name, list, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, &status{exitUsage, fmt.Errorf("--set %s: write NAME=N[,N…]", s)}
		}
		for _, w := range strings.Split(list, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(w), 10, 64)
			if err != nil {
				return nil, &status{exitUsage, fmt.Errorf("--set %s: '%s' is no integer", s, w)}
			}
			out[name] = append(out[name], n)
		}
	}
	return out, nil
}

// cases reads the headers of models and applies the rules to them.
func (f *modelFlags) cases(a *app, models []string) ([]require.Case, diag.List, error) {
	if len(models) == 0 {
		return nil, nil, nil
	}
	params, err := f.params()
	if err != nil {
		return nil, nil, err
	}
	src := require.ShippedRules()
	if f.rules != "" {
		if src, err = a.readSource(f.rules); err != nil {
			return nil, nil, err
		}
	}
	rules, ds := require.ReadRules(src)
	if rules == nil {
		return nil, ds, nil
	}
	var out []require.Case
	for _, name := range models {
		m, err := gguf.ReadFile(name)
		if err != nil {
			return nil, ds, failed(err)
		}
		cs, l := rules.Cases(name, m, params)
		ds = append(ds, l...)
		out = append(out, cs...)
	}
	return out, ds, nil
}

type checkOptions struct {
	corpusFlags
	modelFlags
	files, models  []string
	target, format string
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:     "check -r FILE… | --model FILE…",
		GroupID: "corpus",
		Short:   "Check an engine's demands, or a model's, against a corpus",
		Long: `Checks every case of a requirements file (JSON with comments; schema
` + require.Schema + `): the export is linked with the case's config, specialised,
its launch geometry evaluated and the bytes it reaches in every binding compared
with the sizes given. Everything that stands against a case is reported, with the
nearest allowed value and the other exports that would take it.

With --model the cases come from the header of a GGUF file: what the model's
head sizes, widths and counts ask of the corpus.`,
		Example: `  loomc check -r requirements.jsonc --pin 8f3c2d1
  loomc check --model GLM-4.7-Flash.gguf --set tokens=1,512 --target gfx1151`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(o.files)+len(o.models) == 0 {
				return &status{exitUsage, errors.New("name a requirements file with -r, or a model with --model")}
			}
			if o.format != "text" && o.format != "json" {
				return &status{exitUsage, fmt.Errorf("--format %s: want text or json", o.format)}
			}
			if err := checkTarget(o.target); err != nil {
				return err
			}
			return a.runCheck(c, &o)
		},
	}
	o.corpusFlags.add(c)
	o.modelFlags.add(c)
	f := c.Flags()
	f.StringArrayVarP(&o.files, "require", "r", nil, "requirements file (repeatable)")
	f.StringArrayVar(&o.models, "model", nil, "GGUF model whose header states the demands (repeatable)")
	f.StringVar(&o.target, "target", "", "processor of cases that name none, e.g. gfx1151")
	f.StringVar(&o.format, "format", "text", "text or json")
	return c
}

// demands reads requirement files.
func (a *app) demands(files []string) ([]require.Case, diag.List, error) {
	var out []require.Case
	var ds diag.List
	for _, name := range files {
		src, err := a.readSource(name)
		if err != nil {
			return nil, nil, err
		}
		cs, l := require.Read(src)
		ds = append(ds, l...)
		out = append(out, cs...)
	}
	return out, ds, nil
}

func (a *app) runCheck(c *cobra.Command, o *checkOptions) error {
	ctx := c.Context()
	cases, ds, err := a.demands(o.files)
	if err != nil {
		return err
	}
	fromModels, l, err := o.cases(a, o.models)
	if err != nil {
		return err
	}
	ds, cases = append(ds, l...), append(cases, fromModels...)
	for i := range cases {
		if cases[i].Target == "" {
			cases[i].Target = o.target
		}
	}
	bench, l, err := a.openBench(ctx, c, &o.corpusFlags)
	if err != nil {
		return err
	}
	ds = append(ds, l...)
	if bench == nil {
		return a.showOpen(ds)
	}
	results, err := bench.Check(ctx, cases)
	if err != nil {
		return err
	}
	for i := range results {
		ds = append(ds, results[i].Diags...)
	}
	if o.format == "json" {
		if err := a.checkJSON(results, ds); err != nil {
			return err
		}
		if ds.HasErrors() {
			return &status{code: exitFindings}
		}
		return nil
	}
	a.checkTable(results)
	return a.show(ds)
}

// openBench opens the corpus for checks of single launches. Problems of exports
// that nothing asks for are left out.
func (a *app) openBench(ctx context.Context, c *cobra.Command, f *corpusFlags) (*require.Bench, diag.List, error) {
	set, ds, err := f.open(ctx, c)
	if err != nil || set == nil {
		return nil, ds, err
	}
	ds = slices.DeleteFunc(slices.Clone(ds), func(d diag.Diagnostic) bool {
		return !strings.HasPrefix(d.Code, "PIN/") && !strings.HasPrefix(d.Code, "CORPUS/")
	})
	return require.NewBench(compat.NewSurface(set, "")), ds, nil
}

func (a *app) checkTable(results []require.Result) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	bad := 0
	for i := range results {
		r := &results[i]
		word := "ok"
		if !r.OK() {
			bad++
			word = "FAILED"
			for _, d := range r.Diags {
				if d.Severity == diag.Error && !strings.Contains(word, d.Code) {
					word += " " + d.Code
				}
			}
		} else if r.Run != nil {
			word += ", " + r.Run.Geometry.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Case.Name, r.Case.Export, word)
	}
	w.Flush()
	if !a.quiet {
		fmt.Fprintf(a.out, "\n%s: %d met, %d not\n", count(len(results), "case"), len(results)-bad, bad)
	}
}

// checkJSON is the machine form of check: schema loomc-check-v1.
func (a *app) checkJSON(results []require.Result, ds diag.List) error {
	type jsonReach struct {
		Name  string `json:"name"`
		Bytes int64  `json:"bytes"`
		Known bool   `json:"known"`
	}
	type jsonCase struct {
		Name       string      `json:"name"`
		Export     string      `json:"export"`
		OK         bool        `json:"ok"`
		Codes      []string    `json:"codes,omitempty"`
		Accepting  []string    `json:"accepting,omitempty"`
		Workgroups *[3]int64   `json:"workgroups,omitempty"`
		Size       *[3]int64   `json:"workgroup_size,omitempty"`
		LocalBytes int64       `json:"lds_bytes,omitempty"`
		Bindings   []jsonReach `json:"bindings,omitempty"`
	}
	raw, err := diagnosticsJSON(ds.Sorted())
	if err != nil {
		return err
	}
	doc := struct {
		Schema      string     `json:"schema"`
		Cases       []jsonCase `json:"cases"`
		Diagnostics any        `json:"diagnostics"`
	}{Schema: "loomc-check-v1", Cases: []jsonCase{}, Diagnostics: raw}
	for i := range results {
		r := &results[i]
		j := jsonCase{Name: r.Case.Name, Export: r.Case.Export, OK: r.OK(), Accepting: r.Accepting}
		for _, d := range r.Diags {
			if !slices.Contains(j.Codes, d.Code) {
				j.Codes = append(j.Codes, d.Code)
			}
		}
		if r.Run != nil {
			j.Workgroups, j.Size, j.LocalBytes = &r.Run.Geometry.Count, &r.Run.Geometry.Size, r.Fit.Kernel.LocalBytes
			for k, b := range r.Fit.Kernel.Bindings {
				j.Bindings = append(j.Bindings, jsonReach{b.Name, r.Run.Reach[k].Bytes, r.Run.Reach[k].Known})
			}
		}
		doc.Cases = append(doc.Cases, j)
	}
	return a.writeJSON(doc)
}
