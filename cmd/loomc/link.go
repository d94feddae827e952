package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/verify"
	"github.com/loomc/loomc/parser"
)

type linkOptions struct {
	corpusFlags
	configFlags
	roots, libraries               []string
	target, planCase, mode, format string
	output                         string
	plan, schema, symbols          bool
	requireConfig, strictConfig    bool
	stripCheck, exported           bool
}

func (a *app) linkCommand() *cobra.Command {
	var o linkOptions
	c := &cobra.Command{
		Use:     "link [--pin SHA] [--root NAME…] | link FILE… --root @SYM",
		GroupID: "corpus",
		Short:   "Link and check a corpus at a pin, or plain files",
		Long: `Links every export of a corpus (or those named with --root), binds config,
selects templates, checks every constraint, the manifest's interface and the
planned cases, and prints one line per export.

The corpus is read at a commit of a local git repository (--pin; bare and shallow
repositories work, the work tree is never touched), from a directory (--corpus
without --pin), or is the one built into loomc. With FILE arguments there is no
manifest: the files are the primary sources and --root names what to link.`,
		Example: `  loomc link --pin 8f3c2d1 --repo ~/llama.cpp --corpus ggml/src/ggml-hrx/kernel-corpus/kernels/loom-libs
  loomc link --config ggml.flash_attention.qk_head_size=576
  loomc link --root ggml_softmax_f32 --print-config-schema
  loomc link kernel.loom --library motifs.loom --root @my_kernel -o linked.loom`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTarget(o.target); err != nil {
				return err
			}
			if o.format != "text" && o.format != "json" {
				return &status{exitUsage, fmt.Errorf("--format %s: want text or json", o.format)}
			}
			if o.mode != "link" && o.mode != "archive" {
				return &status{exitUsage, fmt.Errorf("--mode %s: want link or archive", o.mode)}
			}
			if len(args) > 0 {
				return a.linkFiles(c, &o, args)
			}
			for _, f := range []string{"mode", "include-exported-roots"} {
				if c.Flags().Changed(f) {
					return &status{exitUsage, fmt.Errorf("--%s goes with FILE arguments", f)}
				}
			}
			if len(o.libraries) > 0 {
				return &status{exitUsage, errors.New("--library goes with FILE arguments")}
			}
			return a.linkCorpus(c, &o)
		},
	}
	o.corpusFlags.add(c)
	o.configFlags.add(c)
	f := c.Flags()
	f.StringArrayVar(&o.roots, "root", nil, "export name or @symbol to link (repeatable; default: every export)")
	f.StringArrayVar(&o.libraries, "library", nil, "library file, searched after the primary files (repeatable)")
	f.StringVar(&o.target, "target", "", "processor to link for, e.g. gfx1151 (default: what each kernel names)")
	f.StringVar(&o.planCase, "case", "", "close only this plan case of the manifest; 'none' closes none")
	f.StringVar(&o.mode, "mode", "link", "link (what the roots reach) or archive (every symbol); for FILE arguments")
	f.StringVar(&o.format, "format", "text", "text or json")
	f.StringVarP(&o.output, "output", "o", "", "write the linked Loom text to this file ('-': standard output)")
	f.BoolVar(&o.plan, "print-plan", false, "print why every symbol is live")
	f.BoolVar(&o.schema, "print-config-schema", false, "print each config symbol with its type, allowed values and where it is read")
	f.BoolVar(&o.symbols, "list-symbols", false, "print every symbol of the sources")
	f.BoolVar(&o.requireConfig, "require-resolved-config", false, "fail when a config symbol has no value")
	f.BoolVar(&o.strictConfig, "strict-config", false, "fail on a config key that no export knows")
	f.BoolVar(&o.stripCheck, "strip-check", false, "leave test cases and benchmarks out")
	f.BoolVar(&o.exported, "include-exported-roots", false, "add every exported definition as a root; for FILE arguments")
	c.MarkFlagsMutuallyExclusive("print-plan", "print-config-schema", "list-symbols")
	return c
}

func (a *app) linkCorpus(c *cobra.Command, o *linkOptions) error {
	ctx := c.Context()
	bindings, ds, err := o.bindings(a)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return a.early(ds, o.format)
	}
	set, problems, err := o.open(ctx, c)
	if err != nil {
		return err
	}
	ds = append(ds, problems...)
	if set == nil {
		return a.early(ds, o.format)
	}
	if o.symbols {
		if err := a.listCorpusSymbols(set, o.format); err != nil {
			return err
		}
		return a.show(ds)
	}
	picked, l := set.Select(o.roots)
	ds = append(ds, l...)
	picked, l = set.Fit(picked, o.target)
	ds = append(ds, l...)
	bar := a.progress("linking")
	outs, l := set.Link(ctx, picked, exports.Request{
		Config: bindings, Target: o.target, Case: o.planCase, StripCheck: o.stripCheck,
		RequireResolvedConfig: o.requireConfig, StrictConfig: o.strictConfig, Progress: bar.update, Summary: true,
	})
	bar.done()
	ds = append(ds, l...)
	for i := range outs {
		ds = append(ds, outs[i].Diags...)
	}
	if o.output != "" {
		switch {
		case ds.HasErrors():
			fmt.Fprintf(a.err, "loomc: %s is not written: the link has errors\n", o.output)
		default:
			m, l := set.LinkTogether(ctx, picked, exports.Request{Config: bindings, Target: o.target, StripCheck: o.stripCheck})
			ds = append(ds, l...)
			if l.HasErrors() {
				fmt.Fprintf(a.err, "loomc: %s is not written: the exports do not link together\n", o.output)
			} else if err := a.writeOutput(o.output, loom.Print(m)); err != nil {
				return err
			}
		}
	}
	if o.format == "json" {
		if err := a.linkJSON(set, outs, ds.Sorted(), o); err != nil {
			return err
		}
		if ds.HasErrors() {
			return &status{code: exitFindings}
		}
		return nil
	}
	switch {
	case o.schema:
		a.printSchemas(outs)
	case o.plan:
		a.printPlans(outs)
	case o.output == "-" && !ds.HasErrors(): // the text is the output
	default:
		a.linkTable(set, outs)
	}
	return a.show(ds)
}

// showOpen shows why a corpus could not be opened. Missing git is a fault of the
// environment, not of the input.
func (a *app) showOpen(ds diag.List) error {
	if err := a.show(ds); err == nil {
		return failed(errors.New("the corpus could not be opened"))
	}
	return &status{code: openStatus(ds)}
}

func openStatus(ds diag.List) int {
	for _, d := range ds {
		switch d.Code {
		case "PIN/GIT-MISSING":
			return exitMissing
		case "CONFIG/SYNTAX":
			return exitUsage
		}
	}
	return exitFindings
}

// early ends a command before there is a result to print: the diagnostics in the
// chosen format.
func (a *app) early(ds diag.List, format string) error {
	if format != "json" {
		return a.showOpen(ds)
	}
	if err := diag.WriteJSON(a.out, ds.Sorted()); err != nil {
		return failed(fmt.Errorf("write diagnostics: %w", err))
	}
	return &status{code: openStatus(ds)}
}

// linkTable prints one line per export and a summary.
func (a *app) linkTable(set *exports.Set, outs []exports.Outcome) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "EXPORT\tTARGET\tBINDINGS\tCONFIG\tSTATUS")
	bad := 0
	for i := range outs {
		o := &outs[i]
		if !o.OK() {
			bad++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", o.Export.Name.Value, targetName(o), bindingWords(o.Export), configWords(o), statusWords(o))
	}
	w.Flush()
	if !a.quiet {
		fmt.Fprintf(a.out, "\n%s: %d exports, %d linked, %d failed\n", set.Corpus(), len(outs), len(outs)-bad, bad)
	}
}

func targetName(o *exports.Outcome) string {
	switch {
	case o.Target != nil:
		return o.Target.Processor
	case o.Export.TargetSelector.Value != "":
		return o.Export.TargetSelector.Value
	}
	return "-"
}

// bindingWords writes the bindings with their access: "src:r dst:w".
func bindingWords(e *corpus.Export) string {
	parts := make([]string, len(e.Bindings))
	for i, b := range e.Bindings {
		parts[i] = b.Value
		switch e.Access(i) {
		case corpus.AccessRead:
			parts[i] += ":r"
		case corpus.AccessWrite:
			parts[i] += ":w"
		case corpus.AccessReadWrite:
			parts[i] += ":rw"
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " ")
}

func configWords(o *exports.Outcome) string {
	if o.Link == nil {
		return "-"
	}
	bound := 0
	for _, c := range o.Link.Configs {
		if c.Bound {
			bound++
		}
	}
	return fmt.Sprintf("%d/%d bound", bound, len(o.Link.Configs))
}

func statusWords(o *exports.Outcome) string {
	if !o.OK() {
		for _, d := range o.Diags {
			if d.Severity == diag.Error {
				return "FAILED " + d.Code
			}
		}
	}
	n := 0
	for i := range o.Closed {
		if o.Closed[i].Kernel != nil {
			n++
		}
	}
	if n == 0 {
		return "ok"
	}
	return fmt.Sprintf("ok, %s closed", count(n, "case"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (a *app) printSchemas(outs []exports.Outcome) {
	for i := range outs {
		if outs[i].Link == nil {
			continue
		}
		fmt.Fprintf(a.out, "%s\n", outs[i].Export.ID())
		a.printSchema(outs[i].Link.Configs)
	}
}

func (a *app) printSchema(configs []*linker.Config) {
	for _, c := range configs {
		fmt.Fprintf(a.out, "  %s : %s", c.Key, c.Type)
		if c.Bound {
			fmt.Fprintf(a.out, " = %s", c.Text())
		}
		fmt.Fprintf(a.out, "\n    allowed:  %s\n", c.AllowedWords())
		if c.Doc != "" {
			fmt.Fprintf(a.out, "    meaning:  %s\n", strings.ReplaceAll(c.Doc, "\n", "\n              "))
		}
		fmt.Fprintf(a.out, "    declared: %s\n", c.Place())
		for _, r := range c.Reads {
			fmt.Fprintf(a.out, "    read:     %s in @%s\n", r.Span, r.In)
		}
	}
}

func (a *app) printPlans(outs []exports.Outcome) {
	for i := range outs {
		if outs[i].Link == nil {
			continue
		}
		fmt.Fprintf(a.out, "%s\n", outs[i].Export.ID())
		a.printPlan(outs[i].Link)
	}
}

func (a *app) printPlan(r *linker.Result) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, l := range r.Plan {
		from := ""
		if l.From != "" {
			from = "of " + l.From
		}
		fmt.Fprintf(w, "  @%s\t%s\t%s\t%s\tat %s\n", l.Symbol, l.Kind, l.Edge, from, l.Place)
	}
	for _, x := range r.Rejected {
		fmt.Fprintf(w, "  @%s\tnot taken\t%s\t\tat %s\n", x.Symbol, x.Reason, x.Place)
	}
	w.Flush()
}

// linkJSON is the machine form of link: schema loomc-link-v1.
func (a *app) linkJSON(set *exports.Set, outs []exports.Outcome, ds diag.List, o *linkOptions) error {
	type jsonConfig struct {
		Key      string `json:"key"`
		Type     string `json:"type"`
		Allowed  string `json:"allowed"`
		Doc      string `json:"doc,omitempty"`
		Value    string `json:"value,omitempty"`
		Bound    bool   `json:"bound"`
		Declared string `json:"declared"`
	}
	type jsonCase struct {
		Name       string `json:"name,omitempty"`
		Closed     bool   `json:"closed"`
		LocalBytes int64  `json:"lds_bytes,omitempty"`
	}
	type jsonExport struct {
		Name     string            `json:"name"`
		Symbol   string            `json:"symbol"`
		Source   string            `json:"source"`
		Target   string            `json:"target,omitempty"`
		Bindings []json.RawMessage `json:"bindings"`
		Config   []jsonConfig      `json:"config"`
		Cases    []jsonCase        `json:"cases,omitempty"`
		Status   string            `json:"status"`
		Plan     []linker.Live     `json:"plan,omitempty"`
	}
	doc := struct {
		Schema      string          `json:"schema"`
		Corpus      string          `json:"corpus"`
		Commit      string          `json:"commit,omitempty"`
		Digest      string          `json:"digest"`
		Exports     []jsonExport    `json:"exports"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}{Schema: "loomc-link-v1", Corpus: set.Corpus().String(), Commit: set.Corpus().Origin().Commit, Digest: set.Corpus().Digest(), Exports: []jsonExport{}}
	for i := range outs {
		out := &outs[i]
		e := jsonExport{Name: out.Export.Name.Value, Symbol: out.Export.Symbol.Value, Source: out.Export.Source.Value,
			Status: "ok", Bindings: []json.RawMessage{}, Config: []jsonConfig{}}
		if out.Target != nil {
			e.Target = out.Target.Processor
		}
		if !out.OK() {
			e.Status = "failed"
		}
		for j, b := range out.Export.Bindings {
			raw, err := json.Marshal(struct {
				Name   string `json:"name"`
				Access string `json:"access,omitempty"`
			}{b.Value, accessWord(out.Export, j)})
			if err != nil {
				return failed(fmt.Errorf("encode binding: %w", err))
			}
			e.Bindings = append(e.Bindings, raw)
		}
		if out.Link != nil {
			for _, c := range out.Link.Configs {
				e.Config = append(e.Config, jsonConfig{c.Key, c.Type.String(), c.AllowedWords(), c.Doc, c.Text(), c.Bound, c.Place().String()})
			}
			if o.plan {
				e.Plan = out.Link.Plan
			}
		}
		for j := range out.Closed {
			k := jsonCase{Name: out.Closed[j].Name()}
			if out.Closed[j].Kernel != nil {
				k.Closed, k.LocalBytes = true, out.Closed[j].Kernel.LocalBytes
			}
			e.Cases = append(e.Cases, k)
		}
		doc.Exports = append(doc.Exports, e)
	}
	raw, err := diagnosticsJSON(ds)
	if err != nil {
		return err
	}
	doc.Diagnostics = raw
	return a.writeJSON(doc)
}

func accessWord(e *corpus.Export, i int) string {
	if w := e.Access(i); w != corpus.AccessUnknown {
		return w.String()
	}
	return ""
}

// diagnosticsJSON renders diagnostics in the documented form.
func diagnosticsJSON(ds diag.List) (json.RawMessage, error) {
	var b strings.Builder
	if err := diag.WriteJSON(&b, ds); err != nil {
		return nil, failed(fmt.Errorf("encode diagnostics: %w", err))
	}
	return json.RawMessage(b.String()), nil
}

func (a *app) writeJSON(v any) error {
	b, err := marshalIndent(v)
	if err != nil {
		return err
	}
	if _, err := a.out.Write(b); err != nil {
		return failed(fmt.Errorf("write output: %w", err))
	}
	return nil
}

func (a *app) writeOutput(path string, text []byte) error {
	if path == "-" {
		if _, err := a.out.Write(text); err != nil {
			return failed(fmt.Errorf("write output: %w", err))
		}
		return nil
	}
	if err := corpus.WriteFileAtomic(path, text, 0o644); err != nil {
		return failed(fmt.Errorf("write output: %w", err))
	}
	return nil
}

func (a *app) listCorpusSymbols(set *exports.Set, format string) error {
	var all []linker.SymbolInfo
	paths := set.Corpus().Paths()
	var sources []linker.Source
	var ds diag.List
	for _, p := range paths {
		if strings.HasSuffix(p, ".loom") {
			if m, l := set.Module(p); m != nil {
				ds = append(ds, l...)
				sources = append(sources, linker.Source{Mod: m, Role: linker.Library})
			}
		}
	}
	all = linker.NewIndex(sources).Symbols()
	if err := a.printSymbols(all, format); err != nil {
		return err
	}
	return a.show(ds)
}

func (a *app) printSymbols(all []linker.SymbolInfo, format string) error {
	if format == "json" {
		return a.writeJSON(all)
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	for _, s := range all {
		fmt.Fprintf(w, "@%s\t%s\t%s\n", s.Name, s.Kind, s.Place)
	}
	return w.Flush()
}

// linkFiles links plain files without a manifest.
func (a *app) linkFiles(c *cobra.Command, o *linkOptions, args []string) error {
	ctx := c.Context()
	for _, f := range []string{"pin", "repo", "corpus", "override", "case"} {
		if c.Flags().Changed(f) {
			return &status{exitUsage, fmt.Errorf("--%s does not go with FILE arguments", f)}
		}
	}
	bindings, ds, err := o.bindings(a)
	if err != nil {
		return err
	}
	primary, err := loomFiles(args)
	if err != nil {
		return err
	}
	libs, err := loomFiles(o.libraries)
	if err != nil {
		return err
	}
	libs = slices.DeleteFunc(libs, func(l string) bool { return slices.Contains(primary, l) })
	idx, l, err := a.index(ctx, primary, libs)
	if err != nil {
		return err
	}
	ds = append(ds, l...)
	if o.symbols {
		if err := a.printSymbols(idx.Symbols(), o.format); err != nil {
			return err
		}
		return a.show(ds)
	}
	req := linker.Request{Roots: o.roots, Config: bindings, Target: o.target, StripCheck: o.stripCheck,
		RequireResolvedConfig: o.requireConfig, StrictConfig: o.strictConfig, IncludeExportedRoots: o.exported}
	if o.mode == "archive" {
		req.Mode = linker.ModeArchive
	} else if len(o.roots) == 0 && !o.exported {
		return &status{exitUsage, errors.New("name what to link with --root @symbol, or use --include-exported-roots or --mode archive")}
	}
	res, l := linker.Link(ctx, idx, req)
	ds = append(ds, l...)
	if !ds.HasErrors() {
		ds = append(ds, verify.Module(res.Module, verify.Options{})...)
	}
	switch {
	case o.schema:
		a.printSchema(res.Configs)
	case o.plan:
		a.printPlan(res)
	case !ds.HasErrors():
		out := o.output
		if out == "" {
			out = "-"
		}
		if err := a.writeOutput(out, loom.Print(res.Module)); err != nil {
			return err
		}
	}
	return a.show(ds)
}

// index parses files and builds the index over them.
func (a *app) index(ctx context.Context, primary, libraries []string) (*linker.Index, diag.List, error) {
	type parsed struct {
		mod *loom.Module
		ds  diag.List
	}
	files := slices.Concat(primary, libraries)
	mods, err := eachFile(ctx, files, func(_ context.Context, name string) (parsed, error) {
		src, err := a.readSource(name)
		if err != nil {
			return parsed{}, err
		}
		m, ds := parser.Parse(src)
		return parsed{m, ds}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	var ds diag.List
	sources := make([]linker.Source, len(mods))
	for i, m := range mods {
		sources[i] = linker.Source{Mod: m.mod, Role: linker.Library}
		if i < len(primary) {
			sources[i].Role = linker.Primary
		}
		ds = append(ds, m.ds...)
	}
	return linker.NewIndex(sources), ds, nil
}
