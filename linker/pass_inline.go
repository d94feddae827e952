package linker

import (
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/rewrite"
)

// inline replaces every func.call and template.call by the callee's body. Calls
// inside an inlined body are left to the next round, when its constants have
// been folded and its dead branches are gone.
func (s *specializer) inline() int {
	found := false
	s.def.Walk(func(op *loom.Op) bool {
		found = found || isCall(op)
		return !found
	})
	if !found {
		return 0
	}
	in := &inliner{s: s, repl: map[*loom.Value]*loom.Value{}, set: s.analyze()}
	s.def.Regions(in.region)
	return in.n
}

func isCall(op *loom.Op) bool { return op.Def.Name == "func.call" || op.Def.Name == "template.call" }

type inliner struct {
	s    *specializer
	set  *facts.Set
	repl map[*loom.Value]*loom.Value
	n    int
}

func (in *inliner) get(v *loom.Value) *loom.Value {
	for {
		w, ok := in.repl[v]
		if !ok {
			return v
		}
		v = w
	}
}

func (in *inliner) region(r *loom.Region) {
	for _, b := range r.Blocks {
		for _, a := range b.Args {
			a.Type = a.Type.Map(in.get)
		}
		out := make([]*loom.Op, 0, len(b.Ops))
		for _, op := range b.Ops {
			rewrite.Map(op, in.get)
			if isCall(op) {
				if body, ok := in.expand(op); ok {
					for _, o := range body {
						o.Block = b
					}
					out = append(out, body...)
					in.n++
					continue
				}
			}
			out = append(out, op)
			for _, inner := range op.Regions {
				in.region(inner)
			}
		}
		b.Ops = out
	}
}

// expand returns the callee's operations with the call's operands in place of
// the parameters, and maps the call's results to what the body returns.
func (in *inliner) expand(call *loom.Op) ([]*loom.Op, bool) {
	s := in.s
	name := call.Attr("callee").Str
	callee := s.defs[name]
	blocked := func(why, help string, args ...any) ([]*loom.Op, bool) {
		d := diag.Errorf(call.NameSpan(), "LOWERING/044", "cannot inline '@%s': %s", name, why).WithHelp(help, args...)
		if callee != nil {
			d = d.WithRelated(callee.NameSpan, "'@%s' is here", name)
		}
		s.fail(s.at(call, d))
		return nil, false
	}
	if callee == nil {
		return blocked("it is not defined", "link the source that defines it")
	}
	if ds := callee.Load(); ds.HasErrors() {
		s.diags.Add(ds...)
		s.stopped = true
		return nil, false
	}
	for c := s.site(call); c != nil; c = c.Parent {
		if c.Callee == name {
			return blocked("it calls itself", "calls are inlined into the kernel, so recursion has no end")
		}
	}
	switch {
	case callee.Kind == loom.DefUkernel || callee.Mods.HasImport:
		return blocked("it is opaque: an implementation without a body", "provide a template.def or func.def with a body")
	case callee.Body == nil:
		return blocked("it is declared but no source defines it", "link the source that defines '@%s'", name)
	case len(callee.Body.Blocks) != 1:
		return blocked("its body has several blocks", "write the control flow with scf.if and scf.for")
	}
	if call.Def.Name == "template.call" && callee.IsTemplate() {
		site := s.applySite(call)
		if c := CheckExact(site, callee); c.Failure != "" {
			s.fail(s.at(call, c.Diagnostic(site, "specialise")))
			return nil, false
		}
	}
	operands := call.Field("operands")
	if len(operands) != len(callee.Params) {
		return blocked(plural(len(operands), "operand")+" for "+plural(len(callee.Params), "parameter"), "pass what '@%s' declares", name)
	}
	ret := callee.Body.Blocks[0].Terminator()
	if ret == nil || len(ret.Operands) != len(call.Results) {
		return blocked("its results differ from the call's", "declare the results that '@%s' returns", name)
	}
	m := make(map[*loom.Value]*loom.Value, 2*len(callee.Body.Blocks[0].Ops)+len(operands))
	for i, p := range callee.Params {
		m[p] = operands[i]
	}
	for i, a := range callee.Body.Blocks[0].Args {
		if i < len(operands) {
			m[a] = operands[i]
		}
	}
	site := &kernel.Site{Callee: name, Call: call.NameSpan(), Parent: s.site(call)}
	out := in.promises(call, callee, m, site)
	body := loom.CloneRegion(callee.Body, m)
	ops := body.Blocks[0].Ops
	t := ops[len(ops)-1]
	for _, op := range ops[:len(ops)-1] {
		s.sites[op] = site
	}
	out = append(out, ops[:len(ops)-1]...)
	for i, r := range call.Results {
		in.repl[r] = in.get(t.Operands[i])
	}
	return out, true
}

// promises turns the callee's where clause into assumes on the operands, as far
// as the facts at the call do not prove it anyway.
func (in *inliner) promises(call *loom.Op, callee *loom.Def, m map[*loom.Value]*loom.Value, site *kernel.Site) []*loom.Op {
	var out []*loom.Op
	subst := func(v *loom.Value) *loom.Value {
		if w, ok := m[v]; ok {
			return w
		}
		return v
	}
	for i, p := range callee.Params {
		name := "scalar.assume"
		switch {
		case p.Type.Kind.IsIndexLike():
			name = "index.assume"
		case !p.Type.Kind.IsScalar():
			continue
		}
		var open []loom.Predicate
		for _, w := range callee.Where {
			mentions := len(w.Args) > 0 && w.Args[0].Val == p
			if !mentions {
				continue
			}
			if v, _ := in.set.Decide(call, w, subst); v != facts.Match {
				open = append(open, w.Map(subst))
			}
		}
		if len(open) == 0 {
			continue
		}
		x := call.Field("operands")[i]
		op := rewrite.Op(name, call.Span, x.Type, p.Name, x)
		op.Segs = []uint16{1}
		op.SetAttr("predicates", loom.Attr{Kind: loom.AttrPreds, Aux: open})
		in.s.sites[op] = site
		m[p] = op.Result()
		if args := callee.Body.Blocks[0].Args; i < len(args) {
			m[args[i]] = op.Result()
		}
		out = append(out, op)
	}
	return out
}
