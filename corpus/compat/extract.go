package compat

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// Surface is what a corpus promises as a whole. It is safe for concurrent use.
type Surface struct {
	Name string // as reports show it
	set  *exports.Set

	mu        sync.Mutex
	contracts map[*corpus.Export]*lazy
	motifs    sync.Once
	families  map[string]*Motif
}

type lazy struct {
	once sync.Once
	c    *Contract
}

// NewSurface prepares a corpus; nothing is parsed yet. name is what reports call
// it, "" for the corpus's own name.
func NewSurface(set *exports.Set, name string) *Surface {
	if name == "" {
		name = set.Corpus().String()
	}
	return &Surface{Name: name, set: set, contracts: map[*corpus.Export]*lazy{}}
}

// Set returns the corpus the surface was made from.
func (s *Surface) Set() *exports.Set { return s.set }

// Exports lists the exports in manifest order.
func (s *Surface) Exports() []*corpus.Export {
	m := s.set.Corpus().Manifest()
	if m == nil {
		return nil
	}
	out := make([]*corpus.Export, len(m.Exports))
	for i := range m.Exports {
		out[i] = &m.Exports[i]
	}
	return out
}

// Contract returns the contract of an export of this corpus. It is computed once.
func (s *Surface) Contract(ctx context.Context, e *corpus.Export) *Contract {
	s.mu.Lock()
	l := s.contracts[e]
	if l == nil {
		l = &lazy{}
		s.contracts[e] = l
	}
	s.mu.Unlock()
	l.once.Do(func() { l.c = s.extract(ctx, e) })
	return l.c
}

// Contracts returns the contracts of the given exports, computed on all cores.
func (s *Surface) Contracts(ctx context.Context, es []*corpus.Export) ([]*Contract, error) {
	out := make([]*Contract, len(es))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, e := range es {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return fmt.Errorf("reading the contract of %s: %w", e.ID(), err)
			}
			out[i] = s.Contract(gctx, e)
			return nil
		})
	}
	return out, g.Wait()
}

func (s *Surface) extract(ctx context.Context, e *corpus.Export) *Contract {
	c := &Contract{
		Export: e, Name: e.Name.Value, Target: e.TargetSelector.Value, Family: e.Family.Value,
		Symbol: e.Symbol.Value, Source: e.Source.Value, Record: e.Span,
		Recipe: Recipe{
			Mode: e.Recipe.Mode.Value, LinkModule: e.Recipe.LinkModule.Value,
			Primary: values(e.Recipe.PrimarySources), Libraries: values(e.Recipe.LibrarySources), Span: e.Recipe.Span,
		},
	}
	c.fromManifest(e)
	if !e.OK() {
		for _, d := range s.set.Corpus().Problems() {
			if d.Code == e.Problem && inside(d.Span, e.Span) {
				c.Problems.Add(d)
			}
		}
		if !c.Problems.HasErrors() {
			c.Problems.Add(diag.Errorf(e.Span, e.Problem, "export '%s' is not fit for use", e.ID()))
		}
		return c
	}
	idx, ds := s.set.Index(e)
	c.Problems.Add(ds...)
	res, ds := linker.Link(ctx, idx, linker.Request{Roots: []string{"@" + e.Symbol.Value}, StripCheck: true, AllowMissingProviders: true})
	c.Problems.Add(ds...)
	if res == nil || len(res.Roots) == 0 || res.Roots[0].Def == nil || res.Roots[0].Def.Kind != loom.DefKernel {
		if !c.Problems.HasErrors() {
			c.Problems.Add(diag.Errorf(e.Symbol.Span, "LINK/ROOT", "symbol '@%s' is no kernel", e.Symbol.Value))
		}
		c.Problems = located(c.Problems, e.Symbol.Span)
		return c
	}
	c.link = res
	k := res.Roots[0].Def
	abi := linker.DeriveABI(res.Module, k)
	c.Problems.Add(linker.CheckABI(abi, record(e))...)
	c.Problems = located(c.Problems, e.Symbol.Span).Sorted()
	c.fromKernel(k, abi, e)
	c.target(res, k)
	c.configs(res, k)
	c.families(res)
	c.Hashes = hashKernel(res.Module, k, nil)
	return c
}

func inside(a, b diag.Span) bool {
	return a.Src == b.Src && a.Start >= b.Start && a.End <= b.End
}

func located(ds diag.List, sp diag.Span) diag.List {
	out := slices.Clone(ds)
	for i := range out {
		if !out[i].Span.Valid() {
			out[i].Span = sp
		}
	}
	return out
}

// fromManifest fills in what the record says, for exports that do not link.
func (c *Contract) fromManifest(e *corpus.Export) {
	for i, b := range e.Bindings {
		c.Bindings = append(c.Bindings, Binding{Name: b.Value, Access: e.Access(i), Align: 1, Span: b.Span})
	}
	list := func(ps []corpus.Param) (out []Scalar) {
		for _, p := range ps {
			out = append(out, Scalar{Name: p.Name.Value, Type: p.Type.Value, Span: p.Span})
		}
		return out
	}
	c.Launch, c.Workload = list(e.LaunchParameters), list(e.WorkloadParameters)
}

// fromKernel replaces that by what the kernel says.
func (c *Contract) fromKernel(k *loom.Def, abi *linker.ABI, e *corpus.Export) {
	c.Kernel = k.NameSpan
	align := alignments(k)
	stated := map[string]corpus.Access{}
	for i, b := range e.Bindings {
		stated[b.Value] = e.Access(i)
	}
	c.Bindings = c.Bindings[:0:0]
	for _, b := range abi.Bindings {
		access := stated[b.Name]
		if access == corpus.AccessUnknown {
			access = derived(b.Access)
		}
		c.Bindings = append(c.Bindings, Binding{Name: b.Name, Access: access, Align: max(1, align[b.Name]), Span: b.Span})
	}
	list := func(ss []linker.ABIScalar, vs []*loom.Value) (out []Scalar) {
		byName := map[string]*loom.Value{}
		for _, v := range vs {
			byName[v.Name] = v
		}
		for _, s := range ss {
			sc := Scalar{Name: s.Name, Type: s.Type, Span: s.Span}
			if v := byName[s.Name]; v != nil {
				sc.Allowed, sc.Integer = linker.Domain(v.Type)
				for _, p := range k.Where {
					if set, ok := linker.PredicateSet(p, v); ok && mentions(p, v) {
						sc.Allowed = sc.Allowed.Intersect(set)
					}
				}
			}
			out = append(out, sc)
		}
		return out
	}
	c.Launch, c.Workload = list(abi.Launch, k.Params), list(abi.Workload, k.Workload)
	for _, p := range k.Where {
		if relates(p) {
			c.Relations = append(c.Relations, Relation{p.String(), p.Span})
		}
	}
}

func mentions(p loom.Predicate, v *loom.Value) bool {
	return slices.ContainsFunc(p.Args, func(a loom.PredArg) bool { return a.Val == v })
}

// relates reports whether p is about more than one value.
func relates(p loom.Predicate) bool {
	var first *loom.Value
	for _, a := range p.Args {
		switch {
		case a.Val == nil:
		case first == nil:
			first = a.Val
		case a.Val != first:
			return true
		}
	}
	return false
}

func derived(a kernel.Access) corpus.Access {
	switch a {
	case kernel.Read:
		return corpus.AccessRead
	case kernel.Write:
		return corpus.AccessWrite
	case kernel.Read | kernel.Write:
		return corpus.AccessReadWrite
	}
	return corpus.AccessUnknown
}

// alignments finds the base alignment that the body assumes of each parameter.
func alignments(k *loom.Def) map[string]int64 {
	out := map[string]int64{}
	k.Body.Walk(func(o *loom.Op) bool {
		if o.Name() != "buffer.assume.alignment" {
			return true
		}
		for _, v := range o.Operands {
			for v.Def != nil && v.Def.Def.Traits&loom.Fact != 0 && int(v.Index) < len(v.Def.Operands) {
				v = v.Def.Operands[v.Index]
			}
			if slices.Contains(k.Params, v) {
				out[v.Name] = max(out[v.Name], o.Attr("minimum_alignment").Int)
			}
		}
		return true
	})
	return out
}

func (c *Contract) target(res *linker.Result, k *loom.Def) {
	rec := res.Module.Lookup(k.Mods.Target)
	if k.Mods.Target == "" || rec == nil || rec.Kind != loom.DefTarget {
		if t, ok := target.Lookup(exports.DefaultTarget); ok {
			c.Wave = t.WaveSize
		}
		c.TargetSpan = k.NameSpan
		return
	}
	rec.Load()
	c.Processor, c.TargetSpan = target.Processor(rec), rec.NameSpan
	if t, _ := target.Resolve(rec, ""); t != nil {
		c.Wave = t.WaveSize
	}
}

func (c *Contract) configs(res *linker.Result, k *loom.Def) {
	for _, lc := range res.Configs {
		cfg := Config{
			Key: lc.Key, Type: lc.Type.String(), Required: !lc.Bound, Default: lc.Text(), Integer: lc.Integer,
			Doc: lc.Doc, Span: lc.Place(),
		}
		if lc.Integer {
			cfg.Allowed, cfg.Accepted = lc.Allowed, lc.Accepted()
		}
		for _, p := range lc.Constraints {
			r := Reason{Text: p.Pred.String(), By: "config.decl", Always: true, Set: p.Set, Exact: p.Exact, Span: p.Span}
			cfg.Reasons = append(cfg.Reasons, r)
			if !p.Exact {
				cfg.Others = append(cfg.Others, canonical(p.Pred, func(v *loom.Value) string {
					if v == p.Value {
						return "value"
					}
					return v.Name
				}))
			}
		}
		for _, p := range lc.Promises {
			cfg.Reasons = append(cfg.Reasons, Reason{Text: p.Pred.String(), By: p.Op, In: p.In, Always: p.Always, Set: p.Set, Exact: p.Exact, Span: p.Span})
		}
		slices.Sort(cfg.Others)
		cfg.Relations = relations(k, lc.Key)
		c.Configs = append(c.Configs, cfg)
	}
	slices.SortFunc(c.Configs, func(a, b Config) int { return strings.Compare(a.Key, b.Key) })
}

// relations finds the assumes at the top of the kernel that relate a config to
// other configs or to launch parameters. Each belongs to the config it mentions
// first.
func relations(k *loom.Def, key string) []Relation {
	var out []Relation
	if k.Body == nil {
		return nil
	}
	k.Body.Walk(func(o *loom.Op) bool {
		if o.Def.Traits&loom.Fact == 0 || !topLevel(o) {
			return true
		}
		for _, p := range o.Preds() {
			if !relates(p) {
				continue
			}
			known, first := true, ""
			text := canonical(p, func(v *loom.Value) string {
				if name := configOf(v); name != "" {
					if first == "" {
						first = name
					}
					return "@" + name
				}
				if root := parameterOf(k, v); root != nil {
					return "%" + root.Name
				}
				known = false
				return "?"
			})
			if known && first == key {
				span := p.Span
				if !span.Valid() {
					span = o.NameSpan()
				}
				out = append(out, Relation{text, span})
			}
		}
		return true
	})
	return out
}

func parameterOf(k *loom.Def, v *loom.Value) *loom.Value {
	for v.Def != nil && v.Def.Def.Traits&loom.Fact != 0 && int(v.Index) < len(v.Def.Operands) {
		v = v.Def.Operands[v.Index]
	}
	if slices.Contains(k.Params, v) {
		return v
	}
	return nil
}

// canonical writes a predicate in the newer generation's spelling with the
// values' names chosen by name.
func canonical(p loom.Predicate, name func(*loom.Value) string) string {
	p.Old = false
	var b strings.Builder
	b.WriteString(p.Name())
	b.WriteByte('(')
	for i, a := range p.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case a.Val != nil:
			b.WriteString(name(a.Val))
		case a.IsFloat:
			b.Write(loom.AppendFloat(nil, a.Float))
		default:
			fmt.Fprint(&b, a.Int)
		}
	}
	b.WriteByte(')')
	return b.String()
}

func (c *Contract) families(res *linker.Result) {
	seen := map[string]bool{}
	for _, d := range res.Module.Defs {
		d.Walk(func(o *loom.Op) bool {
			name := ""
			switch o.Name() {
			case "template.apply":
				name = o.Word("family")
			case "func.apply":
				name = o.Word("contract")
			}
			if name != "" && !seen[name] {
				seen[name] = true
				c.Families = append(c.Families, name)
			}
			return true
		})
	}
	slices.Sort(c.Families)
}

// record is the part of a manifest's record that a kernel can confirm.
func record(e *corpus.Export) linker.ExportRecord {
	text := func(t corpus.Text) linker.Text { return linker.Text{Value: t.Value, Span: t.Span} }
	texts := func(ts []corpus.Text) (out []linker.Text) {
		for _, t := range ts {
			out = append(out, text(t))
		}
		return out
	}
	params := func(ps []corpus.Param) (out []linker.ParamRecord) {
		for _, p := range ps {
			out = append(out, linker.ParamRecord{Name: text(p.Name), Type: text(p.Type)})
		}
		return out
	}
	return linker.ExportRecord{
		Name: text(e.Name), Symbol: text(e.Symbol), Workload: params(e.WorkloadParameters), Launch: params(e.LaunchParameters),
		Bindings: texts(e.Bindings), Access: texts(e.BindingAccess), TargetSelector: text(e.TargetSelector),
		Span: e.Span, WorkloadSpan: e.WorkloadSpan, LaunchSpan: e.LaunchSpan, BindingsSpan: e.BindingsSpan, AccessSpan: e.AccessSpan,
	}
}

func values(ts []corpus.Text) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.Value
	}
	return out
}

// Motif is a template family: what kernels of the corpus, and kernels that an
// engine keeps beside it, may apply.
type Motif struct {
	Name    string
	Params  []MotifParam
	Results []string // types
	Where   []string
	File    string
	Span    diag.Span
}

// MotifParam is one parameter of a family.
type MotifParam struct{ Name, Type string }

// Signature is the family's head as text.
func (m *Motif) Signature() string {
	var b strings.Builder
	b.WriteString("@" + m.Name + "(")
	for i, p := range m.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("%" + p.Name + ": " + p.Type)
	}
	b.WriteString(")")
	if len(m.Results) > 0 {
		b.WriteString(" -> (" + strings.Join(m.Results, ", ") + ")")
	}
	return b.String()
}

// Motifs returns the families of the corpus by name. A family that several files
// declare is taken from the file that also implements it, else from the first
// in path order; older-generation keys take the first implementation's head.
func (s *Surface) Motifs() map[string]*Motif {
	s.motifs.Do(func() {
		s.families = map[string]*Motif{}
		c := s.set.Corpus()
		home := map[string]bool{}
		for _, path := range c.Paths() {
			if !strings.HasSuffix(path, ".loom") {
				continue
			}
			m, _ := s.set.Module(path)
			if m == nil {
				continue
			}
			implements := map[string]bool{}
			for _, d := range m.Defs {
				if d.IsTemplate() {
					implements[d.Family] = true
				}
			}
			for _, d := range m.Defs {
				keyed := d.IsTemplate() && d.OldForm
				if d.Kind != loom.DefTemplateDecl && !keyed {
					continue
				}
				name := d.Name
				if keyed || d.OldForm {
					name = d.Family
				}
				if old := s.families[name]; old != nil && (home[name] || !implements[name]) {
					continue
				}
				home[name] = implements[name]
				s.families[name] = motifOf(name, path, d)
			}
		}
	})
	return s.families
}

func motifOf(name, path string, d *loom.Def) *Motif {
	d.Load()
	m := &Motif{Name: name, File: path, Span: d.NameSpan}
	for _, p := range d.Params {
		m.Params = append(m.Params, MotifParam{p.Name, p.Type.String()})
	}
	for _, r := range d.Results {
		m.Results = append(m.Results, r.Type.String())
	}
	if d.Kind == loom.DefTemplateDecl {
		for _, p := range d.Where {
			m.Where = append(m.Where, p.String())
		}
	}
	return m
}
