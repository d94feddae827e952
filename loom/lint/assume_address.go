package lint

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

// checkAssumeAddress follows values that were read from memory into assumes, and
// from there into addresses. A value is checked when a comparison of it decides a
// branch around the access or a select it passes, or when arithmetic (min, max, a
// remainder, a mask) keeps it within bounds before the assume does.
func checkAssumeAddress(b *body) {
	taint := b.loadedValues()
	if len(taint) == 0 {
		return
	}
	uses := usesOf(b.def)
	b.def.Body.Walk(func(op *loom.Op) bool {
		if op.Name() != "index.assume" && op.Name() != "scalar.assume" {
			return true
		}
		for i, r := range op.Results {
			if i >= len(op.Operands) {
				break
			}
			x := op.Operands[i]
			load := taint[x]
			if load == nil || !bounds(op, x) || b.proven(op, x) {
				continue
			}
			if at, use := b.addressUse(r, uses); at != nil && !b.checkedAt(at, x) && !b.checkedAt(op, x) {
				d := diag.Diagnostic{Span: op.NameSpan(), Message: fmt.Sprintf(
					"'%s' was read from memory; %s only promises its bounds, and it becomes part of an address", b.name(x), op.Name())}
				d = d.WithRelated(load.NameSpan(), "read here").WithRelated(at.NameSpan(), "%s here", use)
				d = d.WithHelp("compare '%s' with its bounds and guard the access with scf.if, or clamp it; the promise alone turns a bad value into a wild access", b.name(x))
				b.report(assumeAddress, op, d)
			}
		}
		return true
	})
}

// loadedValues maps every value computed from memory contents to the read it came
// from. Values that a select or clamp has bounded are not followed further.
func (b *body) loadedValues() map[*loom.Value]*loom.Op {
	taint := map[*loom.Value]*loom.Op{}
	add := func(v *loom.Value, from *loom.Op) bool {
		if from == nil || taint[v] != nil {
			return false
		}
		taint[v] = from
		return true
	}
	for changed := true; changed; {
		changed = false
		b.def.Body.Walk(func(op *loom.Op) bool {
			for _, r := range op.Regions {
				for _, blk := range r.Blocks {
					for _, a := range blk.Args {
						b.sourcesOf(a, false, func(v *loom.Value) { changed = add(a, taint[v]) || changed })
					}
				}
			}
			if a := b.mem.byOp[op]; a != nil && a.read {
				for _, r := range op.Results {
					if k := r.Type.Element(); k.IsInt() && k != loom.I1 {
						changed = add(r, op) || changed
					}
				}
				return true
			}
			for _, r := range op.Results {
				k := r.Type.Element()
				if !k.IsInt() && !k.IsIndexLike() || k == loom.I1 {
					continue
				}
				if b.clamps(op, taint) {
					continue
				}
				b.sourcesOf(r, false, func(v *loom.Value) { changed = add(r, taint[v]) || changed })
			}
			return true
		})
	}
	return taint
}

// clamps reports whether an op limits what its result can be whatever the tainted
// operand holds.
func (b *body) clamps(op *loom.Op, taint map[*loom.Value]*loom.Op) bool {
	switch s := suffix(op); {
	case op.Name() == "scf.select" || op.Name() == "vector.select":
		checked := false
		leaves(op.Operands[0], func(c *loom.Value) {
			if c.Def != nil && strings.Contains(c.Def.Name(), "cmp") {
				for _, v := range c.Def.Operands {
					checked = checked || b.related(v, op.Operands[1]) || b.related(v, op.Operands[2])
				}
			}
		})
		return checked
	case s == "min" || s == "minsi" || s == "minui" || s == "rem" || s == "remui" || s == "remsi" || s == "andi":
		for _, v := range op.Operands {
			if taint[v] == nil {
				return true
			}
		}
	case strings.HasPrefix(s, "cmp"), strings.HasPrefix(s, "ct"):
		return true
	}
	return false
}

// bounds reports whether the assume states an order about x, rather than, say, a
// divisor.
func bounds(op *loom.Op, x *loom.Value) bool {
	for _, p := range op.Preds() {
		about := false
		for _, a := range p.Args {
			about = about || a.Val == x
		}
		switch p.Kind {
		case loom.PredMultipleOf, loom.PredPow2, loom.PredNe, loom.PredNotNaN, loom.PredNotInf, loom.PredFinite:
		default:
			if about {
				return true
			}
		}
	}
	return false
}

// proven reports whether everything the assume says about x with literals follows
// from how x was computed. Orders against other values are recorded by the assume
// itself and prove nothing.
func (b *body) proven(op *loom.Op, x *loom.Value) bool {
	for _, p := range op.Preds() {
		about, literal := false, true
		for _, a := range p.Args {
			about = about || a.Val == x
			literal = literal && (a.Val == nil || a.Val == x)
		}
		if !about {
			continue
		}
		if !literal {
			return false
		}
		if v, _ := b.facts.Decide(op, p, nil); v != facts.Match {
			return false
		}
	}
	return true
}

// addressUse follows v forward to an op that uses it to find memory.
func (b *body) addressUse(v *loom.Value, uses map[*loom.Value][]*loom.Op) (*loom.Op, string) {
	seen := map[*loom.Value]bool{v: true}
	queue := []*loom.Value{v}
	for i := 0; i < len(queue); i++ {
		for _, op := range uses[queue[i]] {
			if a := b.mem.byOp[op]; a != nil {
				for _, name := range []string{"indices", "offsets"} {
					for _, x := range op.Field(name) {
						if x == queue[i] {
							return op, "it is an index of this access"
						}
					}
				}
				continue
			}
			switch op.Name() {
			case "buffer.view":
				if op.Operand("byte_offset") == queue[i] {
					return op, "it is the byte offset of this view"
				}
				continue
			case "view.subview":
				return op, "it is the origin of this view"
			}
			for _, r := range op.Results {
				k := r.Type.Element()
				if (k.IsIndexLike() || k.IsInt() && k != loom.I1) && !seen[r] && len(op.Regions) == 0 {
					seen[r] = true
					queue = append(queue, r)
				}
			}
			if op.Def.Traits&loom.Terminator != 0 {
				for j, y := range op.Operands {
					if p := op.Parent(); y == queue[i] && p != nil && j < len(p.Results) && !seen[p.Results[j]] {
						seen[p.Results[j]] = true
						queue = append(queue, p.Results[j])
					}
				}
			}
		}
	}
	return nil, ""
}

// checkedAt reports whether a branch around op compares x or what it was computed
// from, or is computed from.
func (b *body) checkedAt(op *loom.Op, x *loom.Value) bool {
	for _, g := range b.guardsOf(op) {
		checked := false
		leaves(g.cond, func(c *loom.Value) {
			if c.Def == nil || !strings.Contains(c.Def.Name(), "cmp") {
				return
			}
			for _, v := range c.Def.Operands {
				checked = checked || b.related(v, x)
			}
		})
		if checked {
			return true
		}
	}
	return false
}

// related reports whether one of two values was computed from the other, or both
// from the same read, by arithmetic alone.
func (b *body) related(v, x *loom.Value) bool {
	origin := func(v *loom.Value) map[*loom.Value]bool {
		out := map[*loom.Value]bool{}
		b.backward(v, false, func(y *loom.Value) bool {
			if f := b.facts.Of(y); f.Lo == f.Hi {
				return false
			}
			out[y] = true
			return y.Def != nil && b.mem.byOp[y.Def] == nil && len(y.Def.Regions) == 0
		})
		return out
	}
	from := origin(v)
	for y := range origin(x) {
		if from[y] && (y == v || y == x || y.Def != nil && b.mem.byOp[y.Def] != nil) {
			return true
		}
	}
	return from[x]
}
