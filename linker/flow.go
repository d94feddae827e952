package linker

import (
	"fmt"
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Promise is a predicate about a config's value that the code states again: an
// index.assume it flows into, or a function's where.
type Promise struct {
	Pred loom.Predicate
	Span diag.Span
	Op   string // "index.assume", "func.def where", …
	In   string // symbol that holds it
	// Always reports that every run of the roots comes by it: no branch and no
	// template choice lies in between.
	Always bool
	// Chosen reports that it is made in a template implementation, or below one,
	// so that it only counts when selection takes that implementation.
	Chosen bool
	// Set holds the values that keep the promise; only when Exact. Otherwise
	// another value takes part.
	Set   AllowedSet
	Exact bool
}

func (p Promise) says() string { return fmt.Sprintf("%s states: %s", p.Op, p.Pred) }

func (c *Config) violatedPromises() []Promise {
	if !c.Integer || !c.Bound {
		return nil
	}
	var out []Promise
	for _, p := range c.Promises {
		if p.Exact && !p.Set.Contains(c.Value.Int) {
			out = append(out, p)
		}
	}
	return out
}

// flow follows config values from config.get through assumes, casts and calls,
// and collects what is promised about them on the way.
func (l *link) flow(ordered []*liveSymbol, configs map[*symbol]*Config) {
	f := &flow{link: l, configs: configs, fed: map[*loom.Value][]*Config{}, reach: map[*loom.Def]reach{}}
	for _, ls := range l.rootS {
		f.reach[ls.sym.entry().def] = surely
	}
	if l.req.Mode == ModeArchive {
		for _, ls := range l.queue {
			if d := ls.sym.entry().def; d.Kind == loom.DefKernel {
				f.reach[d] = surely
			}
		}
	}
	// A value reaches a callee's parameters only after its call was seen, so the
	// bodies are gone through until nothing is new. Calls do not recurse and
	// callees mostly come later in discovery order, so this ends soon.
	for changed := true; changed; {
		changed = false
		for _, ls := range l.queue {
			ls.sym.each(func(e *entry) {
				if e.def.Body != nil || e.def.Config != nil {
					changed = f.body(e) || changed
				}
			})
		}
	}
	for _, ls := range ordered {
		ls.sym.each(func(e *entry) { f.promises(ls, e) })
	}
}

type flow struct {
	*link
	configs map[*symbol]*Config
	fed     map[*loom.Value][]*Config // which configs a value is the value of
	reach   map[*loom.Def]reach
	callers map[*loom.Def][]callSite // nil until a relation asks
}

// reach says how certainly a run comes by a place.
type reach uint8

const (
	ifChosen reach = iota // when template selection takes the implementation
	ifTaken               // when branches lead there
	surely                // always
)

// at is the reach of an op inside a definition that is reached so.
func (r reach) at(o *loom.Op) reach {
	if unconditional(o) {
		return r
	}
	return min(r, ifTaken)
}

func (f *flow) feed(v *loom.Value, cs ...*Config) (changed bool) {
	for _, c := range cs {
		if !slices.Contains(f.fed[v], c) {
			f.fed[v] = append(f.fed[v], c)
			changed = true
		}
	}
	return changed
}

func (f *flow) body(e *entry) (changed bool) {
	e.def.Walk(func(o *loom.Op) bool {
		switch name := o.Name(); {
		case name == "config.get":
			s, _ := f.x.resolve(e.source, o.Word("config"))
			if c := f.configs[s]; c != nil && o.Result() != nil {
				changed = f.feed(o.Result(), c) || changed
			}
		case name == "index.cast":
			if r, v := o.Result(), o.Operand("input"); r != nil && v != nil {
				changed = f.feed(r, f.fed[v]...) || changed
			}
		case o.Def.Traits&loom.Fact != 0:
			for i, r := range o.Results {
				if i < len(o.Operands) {
					changed = f.feed(r, f.fed[o.Operands[i]]...) || changed
				}
			}
		case name == "func.call" || name == "template.call":
			s, _ := f.x.resolve(e.source, o.Word("callee"))
			changed = f.call(e, o, s, f.reach[e.def].at(o)) || changed
		case name == "template.apply":
			for _, p := range f.x.family[o.Word("family")] {
				changed = f.call(e, o, p.sym, ifChosen) || changed
			}
		case name == "func.apply":
			for _, p := range f.x.keyed[o.Word("contract")] {
				changed = f.call(e, o, p.sym, ifChosen) || changed
			}
		}
		return true
	})
	return changed
}

func (f *flow) call(e *entry, o *loom.Op, s *symbol, r reach) (changed bool) {
	if s == nil || s.body == nil || f.live[s] == nil {
		return false
	}
	callee := s.body.def
	if r > f.reach[callee] {
		f.reach[callee] = r
		changed = true
	}
	args := o.Field("operands")
	for i, p := range callee.Params {
		if i < len(args) {
			changed = f.feed(p, f.fed[args[i]]...) || changed
		}
	}
	return changed
}

// unconditional reports whether o runs whenever its definition does.
func unconditional(o *loom.Op) bool {
	return o.Block != nil && o.Block.Region != nil && o.Block.Region.Entry() == o.Block && o.Parent() == nil
}

func (f *flow) promises(ls *liveSymbol, e *entry) {
	if e.def.Kind == loom.DefFunc {
		for _, p := range e.def.Where {
			f.promise(ls, e, p, p.Span, "the where clause of func.def", f.reach[e.def])
		}
	}
	e.def.Walk(func(o *loom.Op) bool {
		if o.Def.Traits&loom.Fact == 0 {
			return true
		}
		for _, p := range o.Preds() {
			span := p.Span
			if !span.Valid() {
				span = o.NameSpan()
			}
			f.promise(ls, e, p, span, o.Name(), f.reach[e.def].at(o))
		}
		return true
	})
}

// promise attaches p to every config that one of its values is fed from.
func (f *flow) promise(ls *liveSymbol, e *entry, p loom.Predicate, span diag.Span, op string, r reach) {
	if !span.Valid() {
		span = e.def.NameSpan
	}
	f.relate(ls, e, p, span, op, r)
	for _, a := range p.Args {
		for _, c := range f.fed[a.Val] {
			q := Promise{Pred: p, Span: span, Op: op, In: ls.name, Always: r == surely, Chosen: r == ifChosen}
			q.Set, q.Exact = PredicateSet(p, a.Val)
			if dup := slices.ContainsFunc(c.Promises, func(o Promise) bool { return o.Span == q.Span && o.Pred.String() == q.Pred.String() }); !dup {
				c.Promises = append(c.Promises, q)
			}
		}
	}
}
