package facts

import (
	"fmt"
	"math"

	"github.com/loomc/loomc/loom"
)

// Verdict answers a question about values that are only partly known.
type Verdict uint8

// Verdicts.
const (
	Maybe  Verdict = iota // the facts do not decide
	Match                 // holds for every possible value
	Reject                // holds for no possible value
)

func (v Verdict) String() string { return [...]string{"maybe", "match", "reject"}[v] }

// Decide answers predicate p at op. subst maps the values p mentions (formals
// of a template, say) to values of the analysed definition; nil is the
// identity. The string says what was known, for a report: "%n is [1, 64]".
func (s *Set) Decide(op *loom.Op, p loom.Predicate, subst func(*loom.Value) *loom.Value) (Verdict, string) {
	type arg struct {
		f Fact
		v *loom.Value
		x loom.PredArg
	}
	args := make([]arg, len(p.Args))
	why := ""
	for i, a := range p.Args {
		args[i].x = a
		if a.Val == nil {
			args[i].f = Exact(a.Int)
			continue
		}
		v := a.Val
		if subst != nil {
			if w := subst(v); w != nil {
				v = w
			}
		}
		args[i].v, args[i].f = v, s.At(op, v)
		if why != "" {
			why += ", "
		}
		text := args[i].f.Known()
		if c, ok := s.Float(v); ok {
			text = fmt.Sprint(c)
		}
		why += "%" + a.Val.Name + " is " + text
	}
	if len(args) == 0 {
		return Maybe, why
	}
	x := args[0]
	switch p.Kind {
	case loom.PredNotNaN, loom.PredNotInf, loom.PredFinite:
		nan, inf := p.Kind != loom.PredNotInf, p.Kind != loom.PredNotNaN
		if c, ok := s.Float(x.v); ok {
			if nan && math.IsNaN(c) || inf && math.IsInf(c, 0) {
				return Reject, why
			}
			return Match, why
		}
		if (!nan || x.f.NotNaN) && (!inf || x.f.NotInf) {
			return Match, why
		}
		return Maybe, why
	case loom.PredPow2:
		if x.f.Pow2 {
			return Match, why
		}
		if c, ok := x.f.Const(); ok || x.f.Hi < 1 {
			if c > 0 && c&(c-1) == 0 {
				return Match, why
			}
			return Reject, why
		}
		if d := x.f.Div; x.f.Lo >= 1 && d&(d-1) != 0 { // a multiple of three, say
			return Reject, why
		}
		return Maybe, why
	}
	if len(args) < 2 {
		return Maybe, why
	}
	if x.v != nil && x.v.Type.Element().IsFloat() || x.x.IsFloat || args[1].x.IsFloat {
		return s.decideFloat(p.Kind, x.v, x.x, args[1].v, args[1].x), why
	}
	y := args[1]
	switch p.Kind {
	case loom.PredMultipleOf:
		switch {
		case y.f.IsConst(0):
			return Reject, why
		case x.f.IsConst(0):
			return Match, why
		}
		if x.v != nil && y.v != nil && s.Root(x.v) == s.Root(y.v) {
			return Match, why
		}
		d, ok := y.f.Const()
		if !ok {
			return Maybe, why
		}
		if x.f.Div%d == 0 {
			return Match, why
		}
		if c, ok := x.f.Const(); ok && c%d != 0 {
			return Reject, why
		}
		if g := (Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: max(d, -d)}); x.f.Contradicts(g) {
			return Reject, why
		}
		return Maybe, why
	case loom.PredRange:
		if len(args) < 3 {
			return Maybe, why
		}
		hi := args[2]
		lov := s.compareArgs(op, loom.PredGe, x.v, y.v, x.f, y.f)
		hiv := s.compareArgs(op, loom.PredLe, x.v, hi.v, x.f, hi.f)
		switch {
		case lov == Reject || hiv == Reject:
			return Reject, why
		case lov == Match && hiv == Match:
			return Match, why
		}
		return Maybe, why
	}
	return s.compareArgs(op, p.Kind, x.v, y.v, x.f, y.f), why
}

func (s *Set) decideFloat(k loom.PredKind, a *loom.Value, ax loom.PredArg, b *loom.Value, bx loom.PredArg) Verdict {
	value := func(v *loom.Value, x loom.PredArg) (float64, bool) {
		if v != nil {
			return s.Float(v)
		}
		if x.IsFloat {
			return x.Float, true
		}
		return float64(x.Int), true
	}
	x, ok1 := value(a, ax)
	y, ok2 := value(b, bx)
	if !ok1 || !ok2 {
		return Maybe
	}
	r := false
	switch k {
	case loom.PredEq:
		r = x == y
	case loom.PredNe:
		r = x != y
	case loom.PredLt:
		r = x < y
	case loom.PredLe:
		r = x <= y
	case loom.PredGt:
		r = x > y
	case loom.PredGe:
		r = x >= y
	default:
		return Maybe
	}
	if r {
		return Match
	}
	return Reject
}

func (s *Set) compareArgs(op *loom.Op, k loom.PredKind, a, b *loom.Value, fa, fb Fact) Verdict {
	switch k {
	case loom.PredMin:
		k = loom.PredGe
	case loom.PredMax:
		k = loom.PredLe
	}
	return s.compare(op, k, a, b, fa, fb)
}

// compare decides a ∘ b from identity, ranges and the orderings known at op. a
// or b is nil for a literal.
func (s *Set) compare(op *loom.Op, k loom.PredKind, a, b *loom.Value, fa, fb Fact) Verdict {
	if a != nil && b != nil && s.Root(a) == s.Root(b) {
		switch k {
		case loom.PredEq, loom.PredLe, loom.PredGe, loom.PredULe, loom.PredUGe:
			return Match
		case loom.PredNe, loom.PredLt, loom.PredGt, loom.PredULt, loom.PredUGt:
			return Reject
		}
	}
	// Unsigned order equals signed order where both have the same sign.
	switch k {
	case loom.PredULt, loom.PredULe, loom.PredUGt, loom.PredUGe:
		if !(fa.Lo >= 0 && fb.Lo >= 0) && !(fa.Hi < 0 && fb.Hi < 0) {
			neg := func(f Fact) bool { return f.Hi < 0 }
			switch { // a negative value reads as larger than any non-negative one
			case neg(fa) && fb.Lo >= 0:
				return when(k == loom.PredUGt || k == loom.PredUGe)
			case neg(fb) && fa.Lo >= 0:
				return when(k == loom.PredULt || k == loom.PredULe)
			}
			return Maybe
		}
		k = map[loom.PredKind]loom.PredKind{loom.PredULt: loom.PredLt, loom.PredULe: loom.PredLe,
			loom.PredUGt: loom.PredGt, loom.PredUGe: loom.PredGe}[k]
	}
	if v := order(k, fa, fb); v != Maybe {
		return v
	}
	if a == nil || b == nil || op == nil {
		return Maybe
	}
	return s.related(op, k, s.Root(a), s.Root(b))
}

func when(b bool) Verdict {
	if b {
		return Match
	}
	return Reject
}

// order decides a signed comparison from ranges and divisors.
func order(k loom.PredKind, a, b Fact) Verdict {
	switch k {
	case loom.PredEq, loom.PredNe:
		if a.Lo == a.Hi && b.Lo == b.Hi {
			return when((a.Lo == b.Lo) == (k == loom.PredEq))
		}
		if a.Contradicts(b) {
			return when(k == loom.PredNe)
		}
	case loom.PredLt:
		switch {
		case a.Hi < b.Lo:
			return Match
		case a.Lo >= b.Hi:
			return Reject
		}
	case loom.PredLe:
		switch {
		case a.Hi <= b.Lo:
			return Match
		case a.Lo > b.Hi:
			return Reject
		}
	case loom.PredGt:
		return order(loom.PredLt, b, a)
	case loom.PredGe:
		return order(loom.PredLe, b, a)
	}
	return Maybe
}

// related decides a comparison from orderings stated by branches and assumes
// around op.
func (s *Set) related(op *loom.Op, k loom.PredKind, a, b *loom.Value) Verdict {
	for o := op; o != nil && o.Block != nil; o = o.Block.Region.Op {
		sc := s.scopes[o.Block.Region]
		if sc == nil {
			continue
		}
		for _, r := range sc.rels {
			kind := r.kind
			switch {
			case r.a == a && r.b == b:
			case r.a == b && r.b == a:
				kind = swapped[kind]
			default:
				continue
			}
			if v := entails(kind, k); v != Maybe {
				return v
			}
		}
	}
	return Maybe
}

// entails reports what "x kind y" says about "x want y".
func entails(kind, want loom.PredKind) Verdict {
	switch kind {
	case loom.PredLt:
		return when(want == loom.PredLt || want == loom.PredLe || want == loom.PredNe)
	case loom.PredGt:
		return when(want == loom.PredGt || want == loom.PredGe || want == loom.PredNe)
	case loom.PredEq:
		return when(want == loom.PredEq || want == loom.PredLe || want == loom.PredGe)
	case loom.PredNe:
		switch want {
		case loom.PredNe:
			return Match
		case loom.PredEq:
			return Reject
		}
	case loom.PredLe:
		switch want {
		case loom.PredLe:
			return Match
		case loom.PredGt:
			return Reject
		}
	case loom.PredGe:
		switch want {
		case loom.PredGe:
			return Match
		case loom.PredLt:
			return Reject
		}
	}
	return Maybe
}
