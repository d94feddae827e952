package facts

import (
	"math"

	"github.com/loomc/loomc/loom"
)

// implied returns what predicate kind says about its first argument x, given
// the facts of the other arguments (argument ordinal to fact; false when that
// argument says nothing).
func implied(kind loom.PredKind, x Fact, arg func(int) (Fact, bool)) (Fact, bool) {
	f := Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1}
	switch kind {
	case loom.PredPow2:
		f.Lo, f.Hi, f.Pow2 = 1, 1<<62, true
		return f, true
	case loom.PredNotNaN:
		f.NotNaN = true
		return f, true
	case loom.PredNotInf:
		f.NotInf = true
		return f, true
	case loom.PredFinite:
		f.NotNaN, f.NotInf = true, true
		return f, true
	}
	b, ok := arg(1)
	if !ok {
		return f, false
	}
	switch kind {
	case loom.PredEq:
		b.Uniform = Varying
		if _, c := b.Const(); c {
			b.Uniform = UniformGrid
		}
		return b, true
	case loom.PredNe:
		if c, isConst := b.Const(); isConst {
			return without(x, c), true
		}
	case loom.PredLt:
		if b.Hi != math.MinInt64 {
			f.Hi = b.Hi - 1
			return f, true
		}
	case loom.PredLe, loom.PredMax:
		f.Hi = b.Hi
		return f, true
	case loom.PredGt:
		if b.Lo != math.MaxInt64 {
			f.Lo = b.Lo + 1
			return f, true
		}
	case loom.PredGe, loom.PredMin:
		f.Lo = b.Lo
		return f, true
	case loom.PredMultipleOf:
		if b.Div > 0 {
			f.Div = b.Div
			return f, true
		}
	case loom.PredRange:
		f.Lo = b.Lo
		if c, ok := arg(2); ok {
			f.Hi = c.Hi
		}
		return f, true
	case loom.PredULt:
		if b.Lo >= 0 { // the bound is non-negative, so the value is too
			if b.Hi == 0 {
				return f, false
			}
			f.Lo, f.Hi = 0, b.Hi-1
			return f, true
		}
	case loom.PredULe:
		if b.Lo >= 0 {
			f.Lo, f.Hi = 0, b.Hi
			return f, true
		}
	case loom.PredUGt:
		if b.Lo >= 0 && x.Lo >= 0 && b.Lo != math.MaxInt64 {
			f.Lo = b.Lo + 1
			return f, true
		}
	case loom.PredUGe:
		if b.Lo >= 0 && x.Lo >= 0 {
			f.Lo = b.Lo
			return f, true
		}
	}
	return f, false
}

// without removes c from the range when it is an end of it.
func without(x Fact, c int64) Fact {
	f := Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1}
	if x.Lo == c && c != math.MaxInt64 {
		f.Lo = c + 1
	}
	if x.Hi == c && c != math.MinInt64 {
		f.Hi = c - 1
	}
	return f
}

// cmpKinds maps comparison words to predicate kinds.
var cmpKinds = map[string]loom.PredKind{
	"eq": loom.PredEq, "ne": loom.PredNe, "slt": loom.PredLt, "sle": loom.PredLe, "sgt": loom.PredGt, "sge": loom.PredGe,
	"ult": loom.PredULt, "ule": loom.PredULe, "ugt": loom.PredUGt, "uge": loom.PredUGe,
}

// negated and swapped give the predicate of ¬(a ∘ b) and of b ∘ a.
var (
	negated = map[loom.PredKind]loom.PredKind{
		loom.PredEq: loom.PredNe, loom.PredNe: loom.PredEq, loom.PredLt: loom.PredGe, loom.PredGe: loom.PredLt,
		loom.PredGt: loom.PredLe, loom.PredLe: loom.PredGt, loom.PredULt: loom.PredUGe, loom.PredUGe: loom.PredULt,
		loom.PredUGt: loom.PredULe, loom.PredULe: loom.PredUGt,
	}
	swapped = map[loom.PredKind]loom.PredKind{
		loom.PredEq: loom.PredEq, loom.PredNe: loom.PredNe, loom.PredLt: loom.PredGt, loom.PredGt: loom.PredLt,
		loom.PredLe: loom.PredGe, loom.PredGe: loom.PredLe, loom.PredULt: loom.PredUGt, loom.PredUGt: loom.PredULt,
		loom.PredULe: loom.PredUGe, loom.PredUGe: loom.PredULe, loom.PredMin: loom.PredLe, loom.PredMax: loom.PredGe,
	}
)

// refine narrows v inside sc by g, and what v was copied or cast from.
func (z *analyzer) refine(sc *scope, v *loom.Value, g Fact) {
	for depth := 0; v != nil && depth < 16; depth++ {
		old := z.get(v)
		f := old.Meet(g)
		if f != old {
			z.overlay(sc, v, f)
			for _, w := range z.copies[z.root(v)] {
				if w != v && !within(w, sc.region) {
					if o := z.get(w); o.Meet(g) != o {
						z.overlay(sc, w, o.Meet(g))
					}
				}
			}
		}
		d := v.Def
		if d == nil {
			return
		}
		switch d.Def.Name {
		case "index.assume", "scalar.assume":
			v = d.Operands[v.Index]
		case "index.cast", "scalar.extsi":
			// A cast that keeps the value carries the fact back.
			src := d.Operands[0]
			s := z.get(src)
			to := Top(v.Type.Element())
			if src.Type.Kind == loom.I1 || s.Lo < to.Lo || s.Hi > to.Hi {
				return
			}
			g.Div, g.Pow2 = max(1, g.Div), false
			v = src
		default:
			return
		}
	}
}

// within reports whether v is defined inside r: what the walk of r computes for
// it must not be undone with r's refinements.
func within(v *loom.Value, r *loom.Region) bool {
	b := v.Block
	if v.Def != nil {
		b = v.Def.Block
	}
	for b != nil && b.Region != nil {
		if b.Region == r {
			return true
		}
		if b.Region.Op == nil {
			return false
		}
		b = b.Region.Op.Block
	}
	return false
}

func (z *analyzer) overlay(sc *scope, v *loom.Value, f Fact) {
	old, had := z.set.vals[v]
	z.undo = append(z.undo, undo{v, old, had})
	z.set.vals[v] = f
	sc.refined = append(sc.refined, refinement{v, f})
}

// predicate applies kind(a, b) to both sides inside sc.
func (z *analyzer) compare(sc *scope, kind loom.PredKind, a, b *loom.Value) {
	fa, fb := z.get(a), z.get(b)
	if f, ok := implied(kind, fa, func(i int) (Fact, bool) { return fb, i == 1 }); ok {
		z.refine(sc, a, f)
	}
	if s, ok := swapped[kind]; ok {
		if f, ok := implied(s, fb, func(i int) (Fact, bool) { return fa, i == 1 }); ok {
			z.refine(sc, b, f)
		}
	}
	z.relate(sc, kind, a, b, fa, fb)
}

// relate records an ordering between two values that are not constants.
func (z *analyzer) relate(sc *scope, kind loom.PredKind, a, b *loom.Value, fa, fb Fact) {
	if fa.Lo == fa.Hi || fb.Lo == fb.Hi {
		return
	}
	nonneg := fb.Lo >= 0
	switch kind {
	case loom.PredULt:
		if !nonneg {
			return
		}
		kind = loom.PredLt
	case loom.PredULe:
		if !nonneg {
			return
		}
		kind = loom.PredLe
	case loom.PredUGt:
		if fa.Lo < 0 {
			return
		}
		kind = loom.PredGt
	case loom.PredUGe:
		if fa.Lo < 0 {
			return
		}
		kind = loom.PredGe
	case loom.PredMin:
		kind = loom.PredGe
	case loom.PredMax:
		kind = loom.PredLe
	}
	switch kind {
	case loom.PredGt:
		kind, a, b = loom.PredLt, b, a
	case loom.PredGe:
		kind, a, b = loom.PredLe, b, a
	case loom.PredLt, loom.PredLe, loom.PredEq, loom.PredNe:
	default:
		return
	}
	sc.rels = append(sc.rels, relation{kind, z.root(a), z.root(b)})
}

// condition narrows sc by the truth value of an i1.
func (z *analyzer) condition(sc *scope, c *loom.Value, truth bool, depth int) {
	v := int64(0)
	if truth {
		v = 1
	}
	z.refine(sc, c, Exact(v))
	d := c.Def
	if d == nil || depth > 16 {
		return
	}
	switch d.Def.Name {
	case "index.cmp", "scalar.cmpi":
		k, ok := cmpKinds[d.Word("predicate")]
		if !ok || d.Operands[0].Type.Kind == loom.I1 {
			return
		}
		if !truth {
			k = negated[k]
		}
		z.compare(sc, k, d.Operands[0], d.Operands[1])
	case "scalar.andi":
		if truth {
			z.condition(sc, d.Operands[0], true, depth+1)
			z.condition(sc, d.Operands[1], true, depth+1)
		}
	case "scalar.ori":
		if !truth {
			z.condition(sc, d.Operands[0], false, depth+1)
			z.condition(sc, d.Operands[1], false, depth+1)
		}
	case "scalar.xori":
		for i := range 2 {
			if f := z.get(d.Operands[i]); f.Lo == f.Hi {
				z.condition(sc, d.Operands[1-i], truth != (f.Lo == 1), depth+1)
				return
			}
		}
	case "scf.select":
		// select c, x, false is an and; select c, true, x is an or.
		if f := z.get(d.Operands[2]); truth && f.IsConst(0) {
			z.condition(sc, d.Operands[0], true, depth+1)
			z.condition(sc, d.Operands[1], true, depth+1)
		}
		if f := z.get(d.Operands[1]); !truth && f.IsConst(1) {
			z.condition(sc, d.Operands[0], false, depth+1)
			z.condition(sc, d.Operands[2], false, depth+1)
		}
	}
}

// predicateOn narrows f, the fact of value x, by predicate p where p mentions x
// (or a value x stands for) in any argument position.
func (z *analyzer) predicateOn(f Fact, x *loom.Value, p loom.Predicate) Fact {
	for i, a := range p.Args {
		if a.Val != x {
			continue
		}
		arg := func(j int) (Fact, bool) {
			if j >= len(p.Args) || p.Args[j].IsFloat {
				return Fact{}, false
			}
			if p.Args[j].Val != nil {
				return z.get(p.Args[j].Val), true
			}
			return Exact(p.Args[j].Int), true
		}
		switch {
		case i == 0:
			if g, ok := implied(p.Kind, f, arg); ok {
				g.Uniform = f.Uniform
				f = f.Meet(g)
			}
		case i == 1 && p.Kind == loom.PredRange: // range(y, x, hi): x ≤ y
			if b, ok := arg(0); ok {
				f = f.Meet(Fact{Lo: math.MinInt64, Hi: b.Hi, Div: 1, Uniform: f.Uniform})
			}
		case i == 2 && p.Kind == loom.PredRange: // range(y, lo, x): x ≥ y
			if b, ok := arg(0); ok {
				f = f.Meet(Fact{Lo: b.Lo, Hi: math.MaxInt64, Div: 1, Uniform: f.Uniform})
			}
		case i == 1:
			if s, ok := swapped[p.Kind]; ok {
				if g, ok := implied(s, f, func(int) (Fact, bool) { return arg(0) }); ok {
					g.Uniform = f.Uniform
					f = f.Meet(g)
				}
			}
		}
	}
	return f
}

// relatePred records the orderings a predicate states between values.
func (z *analyzer) relatePred(sc *scope, p loom.Predicate) {
	if sc == nil || len(p.Args) < 2 || p.Args[0].Val == nil {
		return
	}
	a := p.Args[0].Val
	if p.Kind == loom.PredRange {
		if lo := p.Args[1].Val; lo != nil {
			z.relate(sc, loom.PredGe, a, lo, z.get(a), z.get(lo))
		}
		if len(p.Args) > 2 && p.Args[2].Val != nil {
			hi := p.Args[2].Val
			z.relate(sc, loom.PredLe, a, hi, z.get(a), z.get(hi))
		}
		return
	}
	if b := p.Args[1].Val; b != nil {
		z.relate(sc, p.Kind, a, b, z.get(a), z.get(b))
	}
}
