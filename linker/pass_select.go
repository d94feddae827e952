package linker

import (
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/target"
)

// selectTemplates chooses an implementation for every application and turns the
// application into a call of it. One that cannot be chosen yet waits: inlining
// and folding may make more known, or remove the branch it stands in. When
// nothing changes any more, what still waits is decided with what is known, and
// what fails then is an error.
func (s *specializer) selectTemplates() int {
	var applies []*loom.Op
	s.def.Walk(func(op *loom.Op) bool {
		if isApply(op) {
			applies = append(applies, op)
		}
		return true
	})
	s.waiting = s.waiting[:0]
	if len(applies) == 0 {
		return 0
	}
	n := 0
	for _, op := range applies {
		site := s.applySite(op)
		c := Select(site, s.final)
		switch {
		case c.Failure == "" && c.Winner != nil:
			s.record(op, c)
			s.toCall(op, c.Winner)
			n++
		case !s.final:
			s.waiting = append(s.waiting, op)
		default:
			s.record(op, c)
			s.fail(s.at(op, s.unknowns(site, c, c.Diagnostic(site, "specialise"))))
		}
	}
	return n
}

// unknowns adds, for every value that keeps an implementation open, where the
// value comes from: that is where the missing fact has to be stated.
func (s *specializer) unknowns(site ApplySite, c Choice, d diag.Diagnostic) diag.Diagnostic {
	if c.Failure != MissingFacts {
		return d
	}
	set, sel := s.analyze(), selection{ApplySite: site, old: c.Old}
	seen := map[*loom.Value]bool{}
	for _, k := range c.Candidates {
		if k.Verdict != facts.Maybe || k.Test != "where" {
			continue
		}
		actual := sel.actuals(k.Def)
		for _, p := range k.Def.Where {
			if v, _ := set.Decide(site.Apply, p, actual); v != facts.Maybe {
				continue
			}
			for _, a := range p.Args {
				v := source(actual(a.Val))
				if v == nil || seen[v] {
					continue
				}
				seen[v] = true
				switch {
				case v.Def == nil && slices.ContainsFunc(s.def.Params, func(p *loom.Value) bool { return p.Name == v.Name }):
					d = d.WithRelated(valueSpan(s.source, v), "'%%%s' is a launch parameter: its value is known at run time only", v.Name)
				case v.Def != nil && v.Def.Def.Name == "config.get":
					key := v.Def.Attr("config").Str
					d = d.WithRelated(v.Def.NameSpan(), "'%%%s' is read here from config '@%s', which has no value", v.Name, key)
					if decl := s.defs[key]; decl != nil {
						d = d.WithRelated(decl.NameSpan, "'@%s' is declared here", key)
					}
				case v.Def != nil && set.Of(v).Lo != set.Of(v).Hi:
					d = d.WithRelated(v.Def.NameSpan(), "'%%%s' comes from here: %s", v.Name, set.At(site.Apply, v).Known())
				}
			}
		}
	}
	return d
}

// source leads a value back over assumes and casts to the operation that made it.
func source(v *loom.Value) *loom.Value {
	for v != nil && v.Def != nil && (v.Def.Def.Name == "index.assume" || v.Def.Def.Name == "scalar.assume" || v.Def.Def.Name == "index.cast") {
		i := 0
		if v.Def.Def.Traits&loom.Fact != 0 {
			i = int(v.Index)
		}
		if i >= len(v.Def.Operands) {
			break
		}
		v = v.Def.Operands[i]
	}
	return v
}

func isApply(op *loom.Op) bool { return op.Def.Name == "func.apply" || op.Def.Name == "template.apply" }

func (s *specializer) applySite(op *loom.Op) ApplySite {
	site := ApplySite{
		Apply: op, CallerTarget: s.callerTarget(), Active: s.options.Target,
		Facts: s.analyze(), Lookup: func(name string) *loom.Def { return s.defs[name] },
	}
	old := op.Def.Name == "func.apply"
	key := op.Word("family")
	if old {
		key = op.Word("contract")
	}
	if callee := s.defs[op.Attr("callee").Str]; isCall(op) && callee != nil {
		key, old = callee.Family, callee.OldForm
	}
	for _, d := range s.module.Defs {
		switch {
		case d.IsTemplate() && d.Family == key && (d.Op == nil || (d.Op.Dialect() == "template") != old):
			if d.Load().HasErrors() {
				continue // reported with the module
			}
			site.Candidates = append(site.Candidates, d)
		case d.Kind == loom.DefTemplateDecl && d.Name == key && !old:
			d.Load()
			site.Family = d
		}
	}
	return site
}

// callerTarget names the target record the kernel is compiled as: its own, or,
// when it names none, the first one of the module that the selected processor
// can stand in for.
func (s *specializer) callerTarget() string {
	if t := s.source.Mods.Target; t != "" {
		return t
	}
	for _, d := range s.module.Defs {
		if d.Kind == loom.DefTarget && !d.Load().HasErrors() && target.Compatible(target.Processor(d), s.options.Target.Processor) {
			return d.Name
		}
	}
	return ""
}

// toCall makes an application an exact call of the winner.
func (s *specializer) toCall(op *loom.Op, winner *loom.Def) {
	operands := op.Field("operands")
	op.Def = dialect.Ops().Lookup("func.call").Compile()
	op.Operands, op.Segs = operands, []uint16{uint16(len(operands))}
	op.Attrs = []loom.NamedAttr{{Name: "callee", Value: loom.Attr{Kind: loom.AttrSymbol, Str: winner.Name}}}
}

func (s *specializer) record(op *loom.Op, c Choice) {
	r := Selection{Place: op.NameSpan().String(), Family: c.Family, Chain: s.chain(op)}
	if c.Winner != nil && c.Failure == "" {
		r.Chosen = c.Winner.Name
	}
	for _, k := range c.Candidates {
		switch {
		case r.Chosen == "":
			r.Rejected = append(r.Rejected, k.String())
		case k.Def != c.Winner && k.Verdict == facts.Match:
			r.Rejected = append(r.Rejected, k.String()+", at a lower priority")
		case k.Def != c.Winner:
			r.Rejected = append(r.Rejected, k.String())
		}
	}
	s.report.Selections = append(s.report.Selections, r)
}
