package linker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/target"
)

// assemble turns the closure into a module: names, clones, merged contracts,
// bound configs, targets.
func (l *link) assemble() *Result {
	res := &Result{Module: &loom.Module{}, Roots: l.roots, index: l.x, clones: make(map[*symbol]*loom.Def, len(l.queue))}
	ordered := slices.Clone(l.queue)
	slices.SortStableFunc(ordered, func(a, b *liveSymbol) int {
		return cmp.Compare(a.sym.entry().order, b.sym.entry().order)
	})
	l.assignNames(ordered)
	configs := l.configs(ordered)
	res.UnusedKeys = l.bind(configs)

	aliases := aliasFree{}
	for i, ls := range ordered {
		c := configs[ls.sym]
		if ls.clone = l.shared(ls, c, i); ls.clone == nil {
			ls.clone = l.clone(ls, c)
			aliases.def(ls.clone)
			ls.clone.Mod = res.Module
			ls.clone.Ordinal = i
		}
		res.clones[ls.sym] = ls.clone
		res.Module.Defs = append(res.Module.Defs, ls.clone)
	}
	if l.req.Mode == ModeArchive {
		l.appendUnnamed(res.Module)
	}
	for _, ls := range ordered {
		res.Plan = append(res.Plan, planEntry(ls))
		if c := configs[ls.sym]; c != nil {
			res.Configs = append(res.Configs, c)
		}
		res.Rejected = append(res.Rejected, l.rejected(ls)...)
	}
	slices.SortFunc(res.Configs, func(a, b *Config) int { return cmp.Compare(a.Key, b.Key) })
	res.Sources = l.sources(ordered)
	for i, ls := range l.rootS {
		res.Roots[i].Def = ls.clone
		res.Roots[i].Target = l.rootTarget(ls)
	}
	return res
}

// sources lists the files the closure needs. A declaration of a file that is
// needed anyway serves as well as any other, so bodies are counted first.
func (l *link) sources(ordered []*liveSymbol) []*diag.Source {
	needed := make([]bool, len(l.x.sources))
	for _, ls := range ordered {
		if ls.sym.body != nil {
			needed[ls.sym.body.source] = true
		}
	}
	for _, ls := range ordered {
		s := ls.sym
		if s.body == nil && !slices.ContainsFunc(s.decls, func(e *entry) bool { return needed[e.source] }) {
			needed[s.decls[0].source] = true
		}
	}
	var out []*diag.Source
	for i, s := range l.x.sources {
		if needed[i] && s.Mod.Source != nil {
			out = append(out, s.Mod.Source)
		}
	}
	return out
}

// assignNames lets symbols with global identity keep their names, then roots,
// then the rest; a name that is taken gets the first free number.
func (l *link) assignNames(ordered []*liveSymbol) {
	wanted := make(map[string]bool, len(ordered))
	for _, ls := range ordered {
		wanted[ls.sym.name] = true
	}
	taken := make(map[string]bool, len(ordered))
	give := func(ls *liveSymbol) {
		name := ls.sym.name
		// A numbered name may be someone's own; that one is left to them.
		for n := 1; taken[name] || n > 1 && wanted[name]; n++ {
			name = fmt.Sprintf("%s_%d", ls.sym.name, n)
		}
		ls.name = name
		taken[name] = true
	}
	passes := []func(*liveSymbol) bool{
		func(ls *liveSymbol) bool { return ls.sym.global && l.x.globals[ls.sym.name] == ls.sym },
		func(ls *liveSymbol) bool { return slices.Contains(l.rootS, ls) },
		func(*liveSymbol) bool { return true },
	}
	for _, pass := range passes {
		for _, ls := range ordered {
			if ls.name == "" && pass(ls) {
				give(ls)
			}
		}
	}
}

// shared returns the linked form of a symbol that Request.Like has, nil when it
// has none or a value of this request is part of it.
func (l *link) shared(ls *liveSymbol, c *Config, ordinal int) *loom.Def {
	like := l.req.Like
	if like == nil || like.index != l.x || c != nil {
		return nil
	}
	if d := like.clones[ls.sym]; d != nil && d.Name == ls.name && d.Ordinal == ordinal {
		return d
	}
	return nil
}

// clone makes the linked form of a symbol.
func (l *link) clone(ls *liveSymbol, c *Config) *loom.Def {
	e := ls.sym.entry()
	n := loom.CloneDef(e.def)
	l.rename(n, e.source)
	n.Name = ls.name
	if c != nil {
		c.materialise(n)
		return n
	}
	for _, d := range ls.sym.decls {
		if d == e || d.def.Load().HasErrors() || !sameSort(d.def, e.def) || len(d.def.Params) != len(n.Params) {
			continue
		}
		had := n.Mods.Target
		mergeContract(n, d.def)
		if had == "" && n.Mods.Target != "" {
			n.Mods.Target = l.nameIn(d.source, n.Mods.Target)
		}
	}
	return n
}

// nameIn returns what a name of a source is called in the result.
func (l *link) nameIn(source int, name string) string {
	if s, _ := l.x.resolve(source, name); s != nil {
		if ls := l.live[s]; ls != nil {
			return ls.name
		}
	}
	return name
}

// rename makes every symbol in a clone the result's name for it.
func (l *link) rename(n *loom.Def, source int) {
	f := func(name string) string { return l.nameIn(source, name) }
	if n.Mods.Target != "" {
		n.Mods.Target = f(n.Mods.Target)
	}
	if n.Kind == loom.DefBenchmark || n.IsTemplate() && n.Op != nil && n.Op.Dialect() == "template" {
		n.Family = f(n.Family)
	}
	for i, a := range n.Attrs {
		n.Attrs[i].Value = renameSymbols(a.Value, f)
	}
	n.Walk(func(o *loom.Op) bool {
		for i := range o.Attrs {
			switch o.Attrs[i].Value.Kind {
			case loom.AttrSymbol, loom.AttrList, loom.AttrDict:
				o.Attrs[i].Value = renameSymbols(o.Attrs[i].Value, f)
			}
		}
		return true
	})
}

// appendUnnamed adds what an archive keeps although nothing can refer to it.
func (l *link) appendUnnamed(m *loom.Module) {
	for i, s := range l.x.sources {
		for _, d := range s.Mod.Defs {
			unnamed := d.Kind == loom.DefMetadata || d.Kind == loom.DefImport || d.Kind == loom.DefBenchmark && d.Name == ""
			if !unnamed || l.stripped(d) {
				continue
			}
			n := loom.CloneDef(d)
			l.rename(n, i)
			n.Mod, n.Ordinal = m, len(m.Defs)
			m.Defs = append(m.Defs, n)
		}
	}
}

func planEntry(ls *liveSymbol) Live {
	e := ls.sym.entry()
	p := Live{Symbol: ls.name, Kind: defWord(e.def), Edge: ls.edge, From: ls.request,
		Place: ls.span.String(), Span: ls.span, Defined: e.def.NameSpan.String()}
	if ls.from != nil {
		p.From = "@" + ls.from.name
	}
	if ls.name != ls.sym.name {
		p.Original = ls.sym.name
	}
	for _, d := range ls.sym.decls {
		if d != e {
			p.Declared = append(p.Declared, d.def.NameSpan.String())
		}
	}
	return p
}

// rejected lists the definitions that share a live symbol's name and were not
// taken.
func (l *link) rejected(ls *liveSymbol) []Rejected {
	var out []Rejected
	reject := func(e *entry, why string) {
		out = append(out, Rejected{Symbol: ls.sym.name, Reason: why, Place: e.def.NameSpan.String(), Span: e.def.NameSpan})
	}
	first := ls.sym.entry()
	for _, e := range ls.sym.extra {
		reject(e, "duplicate of "+first.def.NameSpan.String())
	}
	for _, e := range ls.sym.others {
		reject(e, "private; the declaration means the body at "+first.def.NameSpan.String())
	}
	if ls.sym.eclipse != nil {
		reject(ls.sym.eclipse, "comes after the body at "+first.def.NameSpan.String())
	}
	return out
}

// rootTarget resolves what a root is compiled for and reports conflicts.
func (l *link) rootTarget(ls *liveSymbol) *target.Target {
	e := ls.sym.entry()
	rec := l.targetRecord(e)
	if rec == nil && (l.req.Target == "" || e.def.Mods.Target != "") {
		return nil
	}
	t, ds := target.Resolve(rec, l.req.Target)
	for i := range ds {
		ds[i] = ds[i].WithRelated(e.def.NameSpan, "kernel '@%s' is compiled for it", ls.name)
	}
	l.ds.Add(ds...)
	return t
}

// aliasFree spells out encodings that were written through a file's alias,
// because the alias does not travel with the definition. It remembers types so
// that shared ones stay shared.
type aliasFree map[*loom.Type]*loom.Type

func (m aliasFree) def(d *loom.Def) {
	values := func(vs []*loom.Value) {
		for _, v := range vs {
			v.Type = m.typ(v.Type)
		}
	}
	values(d.Workload)
	values(d.Params)
	for i := range d.Results {
		d.Results[i].Type = m.typ(d.Results[i].Type)
		if v := d.Results[i].Val; v != nil {
			v.Type = m.typ(v.Type)
		}
	}
	d.Init = spellOut(d.Init)
	d.Mods.Requires = slices.Clone(d.Mods.Requires)
	for i := range d.Mods.Requires {
		d.Mods.Requires[i] = spellOut(d.Mods.Requires[i])
	}
	var region func(r *loom.Region)
	region = func(r *loom.Region) {
		for _, b := range r.Blocks {
			values(b.Args)
			for _, o := range b.Ops {
				values(o.Results)
				for i := range o.Attrs {
					if o.Attrs[i].Value.Kind == loom.AttrEnc {
						o.Attrs[i].Value = spellOut(o.Attrs[i].Value)
					}
				}
				for _, q := range o.Regions {
					region(q)
				}
			}
		}
	}
	d.Regions(region)
}

func (m aliasFree) typ(t *loom.Type) *loom.Type {
	if t == nil || t.Enc == nil {
		return t
	}
	n, ok := m[t]
	if !ok {
		n = t
		if e := spellEncoding(t.Enc); e != t.Enc {
			c := *t
			c.Enc = e
			n = &c
		}
		m[t] = n
	}
	return n
}

func spellOut(a loom.Attr) loom.Attr {
	if e := a.Enc(); a.Kind == loom.AttrEnc && e != nil {
		a.Aux = spellEncoding(e)
	}
	return a
}

func spellEncoding(e *loom.Encoding) *loom.Encoding {
	nested := slices.ContainsFunc(e.Params, func(p loom.NamedAttr) bool { return p.Value.Kind == loom.AttrEnc })
	if e.Alias == "" && !nested {
		return e
	}
	c := *e
	c.Alias = ""
	if nested {
		c.Params = slices.Clone(e.Params)
		for i := range c.Params {
			c.Params[i].Value = spellOut(c.Params[i].Value)
		}
	}
	return &c
}

func lookupOp(name string) *loom.OpDef { return dialect.Ops().Lookup(name) }
