package exports

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// DefaultTarget is what a kernel that names no target is specialised for unless
// the request says otherwise.
const DefaultTarget = "gfx1151"

// Request says how exports are linked.
type Request struct {
	// Config binds config symbols, over the values of a plan case.
	Config []linker.Binding
	// Target selects a processor; "" takes what each kernel names, and
	// DefaultTarget for kernels that name none.
	Target string
	// Case selects one plan case by name, "none" none at all; "" closes every plan
	// case of the export.
	Case string
	// Close asks for closed kernels; without it exports are linked and checked.
	Close bool
	// Summary drops the body and the facts of every closed kernel: its interface,
	// workgroup memory and report stay. A list of a large corpus needs no more.
	Summary               bool
	RequireResolvedConfig bool
	StrictConfig          bool
	// StripCheck drops test cases and benchmarks from the linked module.
	StripCheck bool
	// Dump, when set, sees every pass of specialisation; see linker.SpecializeOptions.
	Dump func(export string) linker.SpecializeOptions
	// Progress, when set, is called after each export, from several goroutines.
	Progress func(done, total int, name string)
}

// Outcome is what became of one export.
type Outcome struct {
	Export *corpus.Export
	// Link is the export linked with the request's config alone. It is nil when
	// there was nothing to link.
	Link   *linker.Result
	Target *target.Target
	// Closed are the export's cases, closed. With a complete config in the request
	// and no plan case there is one, without a name.
	Closed []Closed
	Diags  diag.List
}

// Closed is one specialised case.
type Closed struct {
	Case   *corpus.PlanCase // nil for the request's own config
	Kernel *kernel.Kernel   // nil when it did not close
	Report *linker.Report
}

// Name is the case's name, "" for the request's own config.
func (c *Closed) Name() string {
	if c.Case == nil {
		return ""
	}
	return c.Case.Name.Value
}

// OK reports whether the export has no error.
func (o *Outcome) OK() bool { return !o.Diags.HasErrors() }

// Link links every given export, on all cores. Outcomes are in the order of
// exports. The returned list holds what concerns the request as a whole: config
// keys that no export knows.
func (s *Set) Link(ctx context.Context, exports []*corpus.Export, req Request) ([]Outcome, diag.List) {
	out := make([]Outcome, len(exports))
	var done atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	w := &workers{group: g, alone: req.Dump != nil}
	for _, i := range s.longestFirst(exports) {
		e := exports[i]
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			out[i] = s.linkOne(gctx, e, req, w)
			if req.Progress != nil {
				req.Progress(int(done.Add(1)), len(exports), e.ID())
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return out, diag.List{diag.Errorf(diag.Span{}, "LINK/CANCELLED", "link stopped: %v", err)}
	}
	return out, unusedKeys(out, req)
}

// longestFirst returns the positions of the exports, those that will take longest
// first, so that the last core to finish is not the only one at work for long.
func (s *Set) longestFirst(exports []*corpus.Export) []int {
	order, cost := make([]int, len(exports)), make([]int, len(exports))
	for i, e := range exports {
		order[i] = i
		if src := s.corpus.Source(e.Source.Value); src != nil {
			cost[i] = len(src.Text) * (1 + len(s.Cases(e)))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cost[b] - cost[a] })
	return order
}

// workers lets the cases of one export use cores that no other export needs.
type workers struct {
	group *errgroup.Group
	alone bool // one case after the other: somebody watches
}

// each calls f for 0 to n-1, some of them at a time, and returns when all are done.
func (w *workers) each(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		run := func() error {
			defer wg.Done()
			f(i)
			return nil
		}
		if w.alone || i == n-1 || !w.group.TryGo(run) {
			_ = run()
		}
	}
	wg.Wait()
}

// unusedKeys reports the bindings that no export took.
func unusedKeys(outs []Outcome, req Request) diag.List {
	var ds diag.List
	var known []string
	for _, o := range outs {
		if o.Link != nil {
			for _, c := range o.Link.Configs {
				known = append(known, c.Key)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, b := range req.Config {
		if slices.Contains(known, b.Key) || len(known) == 0 && len(outs) == 0 {
			continue
		}
		d := diag.Warnf(b.Span, "CONFIG/UNKNOWN", "no linked export has a config '%s'", b.Key)
		if req.StrictConfig {
			d.Severity = diag.Error
		}
		if n := dialect.Nearest(b.Key, known); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		} else {
			d = d.WithHelp("list the config of each export with --print-config-schema")
		}
		ds.Add(d)
	}
	return ds
}

func (s *Set) linkOne(ctx context.Context, e *corpus.Export, req Request, w *workers) Outcome {
	o := Outcome{Export: e}
	if !e.OK() {
		o.Diags = e.Faults() // the same that the corpus has, so that a list of both shows them once
		return o
	}
	o.Diags = s.fileFaults(e)
	idx, ds := s.Index(e)
	o.Diags = append(o.Diags, ds...)
	base := linker.Request{
		Roots: []string{"@" + e.Symbol.Value}, Config: req.Config, Target: req.Target, StripCheck: true,
		RequireResolvedConfig: req.RequireResolvedConfig, AllowMissingProviders: false,
	}
	if !req.StripCheck {
		base.StripCheck = false
	}
	res, ds := linker.Link(ctx, idx, base)
	o.Link = res
	o.Diags = append(o.Diags, s.blameOverride(ds)...)
	if len(res.Roots) == 0 || res.Roots[0].Def == nil {
		o.Diags = place(o.Diags, e.Symbol.Span)
		return o
	}
	abi := linker.DeriveABI(res.Module, res.Roots[0].Def)
	o.Diags = append(o.Diags, linker.CheckABI(abi, record(e))...)
	o.Target = res.Roots[0].Target
	if o.Diags.HasErrors() {
		o.Diags = o.Diags.Sorted()
		return o
	}
	if o.Target == nil {
		o.Target, _ = target.Lookup(DefaultTarget)
	}
	if o.Target != nil {
		s.closeCases(ctx, &o, idx, base, req, abi, w)
	}
	o.Diags = o.Diags.Sorted()
	return o
}

// place gives diagnostics without a place the span of the manifest line that
// asked for them.
func place(ds diag.List, sp diag.Span) diag.List {
	out := slices.Clone(ds)
	for i := range out {
		if !out[i].Span.Valid() {
			out[i].Span = sp
		}
	}
	return out
}

// closeCases specialises the export for its plan cases, or for the request's
// own config when that is complete.
func (s *Set) closeCases(ctx context.Context, o *Outcome, idx *linker.Index, base linker.Request, req Request, abi *linker.ABI, w *workers) {
	cases := s.Cases(o.Export)
	switch req.Case {
	case "":
	case "none":
		cases = nil
	default:
		cases = slices.DeleteFunc(cases, func(c *corpus.PlanCase) bool { return c.Name.Value != req.Case })
		if len(cases) == 0 {
			o.Diags.Add(diag.Errorf(o.Export.Span, "LINK/CASE", "export '%s' has no plan case '%s'", o.Export.ID(), req.Case).
				WithHelp("'none' uses only the values given with --config"))
			return
		}
	}
	if len(cases) == 0 {
		open := 0
		for _, c := range o.Link.Configs {
			if !c.Bound {
				open++
			}
		}
		if open == 0 || req.Close {
			c, ds := s.close(ctx, o, o.Link, nil, req)
			o.Closed, o.Diags = append(o.Closed, c), append(o.Diags, ds...)
		}
		return
	}
	type job struct {
		bindings []linker.Binding
		ds       diag.List
		faulty   bool // there is nothing to close
	}
	var jobs []job // one for each of o.Closed
	var first string
	for _, c := range cases {
		faults := append(c.Faults(), checkCase(c, abi)...)
		if faults.HasErrors() {
			o.Closed, jobs = append(o.Closed, Closed{Case: c}), append(jobs, job{ds: faults, faulty: true})
			continue
		}
		bindings := Overlay(CaseConfig(c), req.Config)
		key := bindingKey(bindings)
		if key == first && len(o.Closed) > 0 && req.Case == "" {
			o.Diags = append(o.Diags, faults...)
			continue // the request's config makes the cases equal
		}
		if first == "" {
			first = key
		}
		o.Closed, jobs = append(o.Closed, Closed{Case: c}), append(jobs, job{bindings: bindings, ds: faults})
	}
	w.each(len(jobs), func(i int) {
		j, c := &jobs[i], o.Closed[i].Case
		if j.faulty {
			return
		}
		r := base
		r.Config, r.Like = j.bindings, o.Link // only Specialize sees the result, and changes nothing
		res, ds := linker.Link(ctx, idx, r)
		ds = append(inCase(s.blameOverride(ds), c), checkCaseConfig(c, o.Export, configKeys(o.Link, res))...)
		if ds.HasErrors() || len(res.Roots) == 0 {
			j.ds = append(j.ds, ds...)
			return
		}
		o.Closed[i], ds = s.close(ctx, o, res, c, req)
		j.ds = append(j.ds, ds...)
	})
	for _, j := range jobs {
		o.Diags = append(o.Diags, j.ds...)
	}
}

func (s *Set) close(ctx context.Context, o *Outcome, res *linker.Result, c *corpus.PlanCase, req Request) (Closed, diag.List) {
	opts := linker.SpecializeOptions{}
	if req.Dump != nil {
		opts = req.Dump(o.Export.ID())
	}
	opts.Target = o.Target
	k, report, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, opts)
	if err != nil {
		ds.Add(diag.Errorf(o.Export.Span, "LINK/CANCELLED", "specialisation stopped: %v", err))
	}
	if req.Summary && k != nil {
		k = summary(k)
	}
	return Closed{Case: c, Kernel: k, Report: report}, inCase(ds, c)
}

// summary is a kernel without anything that holds on to its body.
func summary(k *kernel.Kernel) *kernel.Kernel {
	s := *k
	s.Def, s.Facts, s.Sites = nil, nil, nil
	for i := range s.Bindings {
		s.Bindings[i].Param = nil
	}
	for _, list := range [][]kernel.Scalar{s.Launch, s.Workload} {
		for i := range list {
			list[i].Param = nil
		}
	}
	for i := range s.Local {
		s.Local[i].Alloca = nil
	}
	return &s
}

// inCase adds to every error the plan case it happened in.
func inCase(ds diag.List, c *corpus.PlanCase) diag.List {
	if c == nil {
		return ds
	}
	out := make(diag.List, len(ds))
	for i, d := range ds {
		if d.Severity == diag.Error {
			d = d.WithRelated(c.Span, "in plan case '%s'", c.Name.Value)
		}
		out[i] = d
	}
	return out
}

// Cases returns the plan cases of an export.
func (s *Set) Cases(e *corpus.Export) []*corpus.PlanCase {
	m := s.corpus.Manifest()
	var out []*corpus.PlanCase
	for i := range m.PlanCases {
		if m.PlanCases[i].Root.Value == e.Name.Value || m.PlanCases[i].Root.Value == "@"+e.Symbol.Value {
			out = append(out, &m.PlanCases[i])
		}
	}
	return out
}

// CaseConfig returns the config bindings of a plan case.
func CaseConfig(c *corpus.PlanCase) []linker.Binding {
	out := make([]linker.Binding, 0, len(c.Config))
	for _, v := range c.Config {
		out = append(out, linker.Binding{Key: v.Key, Text: v.Text, Span: v.Span})
	}
	return out
}

// Overlay returns base with the bindings of over replacing or joining those of
// the same key.
func Overlay(base, over []linker.Binding) []linker.Binding {
	out := slices.Clone(base)
	for _, b := range over {
		if i := slices.IndexFunc(out, func(o linker.Binding) bool { return o.Key == b.Key }); i >= 0 {
			out[i] = b
		} else {
			out = append(out, b)
		}
	}
	return out
}

func bindingKey(bs []linker.Binding) string {
	sorted := slices.Clone(bs)
	slices.SortFunc(sorted, func(a, b linker.Binding) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	s := ""
	for _, b := range sorted {
		s += b.Key + "=" + b.Text + "\x00"
	}
	return s
}

// WorkloadValues returns the plan case's workload values in the order of the
// kernel's workload parameters; ok is false when the case does not give them all.
func (c *Closed) WorkloadValues() (vals []int64, ok bool) {
	if c.Case == nil || c.Kernel == nil {
		return nil, c.Kernel != nil && len(c.Kernel.Workload) == 0
	}
	for _, s := range c.Kernel.Workload {
		i := slices.IndexFunc(c.Case.Workload, func(v corpus.ConfigValue) bool { return v.Key == s.Name })
		if i < 0 {
			return nil, false
		}
		n, err := strconv.ParseInt(c.Case.Workload[i].Text, 10, 64)
		if err != nil {
			return nil, false
		}
		vals = append(vals, n)
	}
	return vals, true
}
