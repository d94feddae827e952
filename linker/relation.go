package linker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Relation is a predicate over the values of several configs that the code
// states: an index.assume or a function's where with more than one of its
// arguments fed from a config.
type Relation struct {
	Pred loom.Predicate
	Args []RelationArg // parallel to Pred.Args
	Span diag.Span
	Op   string // "index.assume", "the where clause of func.def"
	In   string // symbol that holds it
	// Calls lead from the promise to where the configs are read, innermost first.
	Calls []diag.Span
	// Always and Chosen are those of Promise, for this way of getting there.
	Always, Chosen bool
}

// RelationArg is one argument: a config's value, or a constant.
type RelationArg struct {
	Config *Config // nil for a constant
	Const  int64
}

// String is the predicate over config keys: "multiple_of(@a.heads, @a.kv_heads)".
func (r *Relation) String() string {
	parts := make([]string, len(r.Args))
	for i, a := range r.Args {
		parts[i] = fmt.Sprint(a.Const)
		if a.Config != nil {
			parts[i] = "@" + a.Config.Key
		}
	}
	return r.Pred.Name() + "(" + strings.Join(parts, ", ") + ")"
}

// configs lists the configs that take part, each once.
func (r *Relation) configs() []*Config {
	var out []*Config
	for _, a := range r.Args {
		if a.Config != nil && !slices.Contains(out, a.Config) {
			out = append(out, a.Config)
		}
	}
	return out
}

// allowed returns the values of config i of the relation that keep it, the
// others being what they are. ok is false when one of them has no value, or the
// predicate is not one over integers.
func (r *Relation) allowed(c *Config) (set AllowedSet, ok bool) {
	self := &loom.Value{Name: c.Key}
	p := loom.Predicate{Kind: r.Pred.Kind, Old: r.Pred.Old, Args: make([]loom.PredArg, len(r.Args))}
	for i, a := range r.Args {
		switch {
		case a.Config == c:
			p.Args[i].Val = self
		case a.Config == nil:
			p.Args[i].Int = a.Const
		case !a.Config.Bound || !a.Config.Integer:
			return AllowedSet{}, false
		default:
			p.Args[i].Int = a.Config.Value.Int
		}
	}
	return PredicateSet(p, self)
}

// check reports the relation when every config in it has a value and they break
// it.
func (r *Relation) check() diag.List {
	cs := r.configs()
	first := cs[0]
	if !first.Bound || !first.Integer || r.Chosen {
		return nil // selection may leave it out; specialisation will know
	}
	set, ok := r.allowed(first)
	if !ok || set.Contains(first.Value.Int) {
		return nil
	}
	sev, how, noun := diag.Error, "contradict", "symbols"
	if !r.Always {
		sev, how = diag.Warning, "may contradict"
	}
	if len(cs) == 1 {
		noun = "symbol"
		if r.Always {
			how = "contradicts"
		}
	}
	var words []string
	for _, c := range cs {
		words = append(words, fmt.Sprintf("'@%s' value %s", c.Key, c.Text()))
	}
	d := diag.Diagnostic{Severity: sev, Code: "CONFIG/ASSUME", Span: r.Span,
		Message: fmt.Sprintf("%s %s %s %s, which %s states: %s", noun, strings.Join(words, " and "), how, r, r.Op, r.Pred)}
	for _, sp := range r.Calls {
		d = d.WithRelated(sp, "reached by this call")
	}
	for _, c := range cs {
		d = c.located(d.WithRelated(c.Place(), "'@%s' is declared here: %s", c.Key, c.AllowedWords()), Binding{Span: c.Span})
	}
	return diag.List{d.WithHelp("%s", r.help(cs))}
}

// help proposes, for each config, the nearest value that goes with the others.
func (r *Relation) help(cs []*Config) string {
	var parts []string
	for _, c := range cs {
		set, ok := r.allowed(c)
		if !ok {
			continue
		}
		near := set.Intersect(c.Accepted()).Nearest(c.Value.Int)
		if len(near) == 0 {
			continue
		}
		words := fmt.Sprint(near[0])
		if len(near) > 1 {
			words += fmt.Sprintf(" or %d", near[1])
		}
		parts = append(parts, fmt.Sprintf("bind '@%s' to %s", c.Key, words))
	}
	if len(parts) == 0 {
		return "no value of one of them goes with the others; choose both anew"
	}
	return strings.Join(parts, ", or ")
}

// callSite is one call of a definition, or one application that may choose it.
type callSite struct {
	caller *entry
	op     *loom.Op
	chosen bool // only if selection takes the definition
}

// calls finds every call site of the closure.
func (f *flow) calls() map[*loom.Def][]callSite {
	out := map[*loom.Def][]callSite{}
	add := func(e *entry, o *loom.Op, s *symbol, chosen bool) {
		if s != nil && s.body != nil && f.live[s] != nil {
			out[s.body.def] = append(out[s.body.def], callSite{e, o, chosen})
		}
	}
	for _, ls := range f.queue {
		ls.sym.each(func(e *entry) {
			e.def.Walk(func(o *loom.Op) bool {
				switch o.Name() {
				case "func.call", "template.call":
					s, _ := f.x.resolve(e.source, o.Word("callee"))
					add(e, o, s, false)
				case "template.apply":
					for _, p := range f.x.family[o.Word("family")] {
						add(e, o, p.sym, true)
					}
				case "func.apply":
					for _, p := range f.x.keyed[o.Word("contract")] {
						add(e, o, p.sym, true)
					}
				}
				return true
			})
		})
	}
	return out
}

// relate finds the configs behind a predicate over several values. Each way up
// the calls is a relation of its own: the values that meet at one call need not
// meet at another.
func (f *flow) relate(ls *liveSymbol, e *entry, p loom.Predicate, span diag.Span, op string, r reach) {
	var first *loom.Value
	several := false
	for _, a := range p.Args {
		if a.Val != nil {
			several = several || first != nil && a.Val != first
			first = a.Val
		}
	}
	if !several {
		return
	}
	vals := make([]*loom.Value, len(p.Args))
	for i, a := range p.Args {
		if vals[i] = a.Val; a.Val != nil && len(f.fed[a.Val]) == 0 && constant(a.Val) == nil {
			return
		}
	}
	if f.callers == nil {
		f.callers = f.calls()
	}
	const most = 64 // ways up the calls
	budget := most
	var up func(e *entry, vals []*loom.Value, args []RelationArg, calls []diag.Span, r reach)
	up = func(e *entry, vals []*loom.Value, args []RelationArg, calls []diag.Span, r reach) {
		if budget--; budget < 0 || len(calls) > 16 {
			return
		}
		vals, args = slices.Clone(vals), slices.Clone(args)
		params := map[int]int{}
		for i, v := range vals {
			if v == nil {
				continue
			}
			v = source(v)
			switch c := constant(v); {
			case c != nil:
				args[i].Const, vals[i] = *c, nil
			case v.Def != nil && v.Def.Name() == "config.get":
				s, _ := f.x.resolve(e.source, v.Def.Word("config"))
				if f.configs[s] == nil {
					return
				}
				args[i].Config, vals[i] = f.configs[s], nil
			default:
				n := slices.Index(e.def.Params, v)
				if n < 0 {
					return
				}
				params[i] = n
			}
		}
		if len(params) == 0 {
			rel := &Relation{Pred: p, Args: args, Span: span, Op: op, In: ls.name, Calls: calls, Always: r == surely, Chosen: r == ifChosen}
			cs := rel.configs()
			same := func(o *Relation) bool {
				return o.Span == rel.Span && o.String() == rel.String() && slices.Equal(o.Calls, rel.Calls)
			}
			if len(cs) > 0 && !slices.ContainsFunc(cs[0].Relations, same) {
				f.relations = append(f.relations, rel)
				for _, c := range cs {
					c.Relations = append(c.Relations, rel)
				}
			}
			return
		}
		for _, site := range f.callers[e.def] {
			operands := site.op.Field("operands")
			next := slices.Clone(vals)
			fits := true
			for i, n := range params {
				if fits = fits && n < len(operands); fits {
					next[i] = operands[n]
				}
			}
			if !fits {
				continue
			}
			at := r
			if site.chosen {
				at = ifChosen
			} else {
				at = min(r, f.reach[site.caller.def].at(site.op))
			}
			up(site.caller, next, args, append(slices.Clip(calls), site.op.NameSpan()), at)
		}
	}
	args := make([]RelationArg, len(p.Args))
	for i, a := range p.Args {
		args[i].Const = a.Int
	}
	up(e, vals, args, nil, r)
}

// constant returns the integer an operation makes, nil when v is none.
func constant(v *loom.Value) *int64 {
	if v == nil || v.Def == nil || v.Def.Name() != "index.constant" && v.Def.Name() != "scalar.constant" {
		return nil
	}
	a := v.Def.Attr("value")
	if a.Kind != loom.AttrInt {
		return nil
	}
	return &a.Int
}
