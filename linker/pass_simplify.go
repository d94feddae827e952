package linker

import (
	"math"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/rewrite"
)

// simplify returns the values that stand for op's results when an identity
// applies, else nil.
func (f *folder) simplify(op *loom.Op) []*loom.Value {
	if rule, ok := identities[op.Def.Name]; ok {
		if v := rule(f, op); v != nil {
			return []*loom.Value{v}
		}
		return nil
	}
	if op.Def.Name == "index.assume" || op.Def.Name == "scalar.assume" {
		return f.proven(op)
	}
	return nil
}

// identities are the algebraic rules. Each returns the value that stands for the
// result, or nil.
var identities = map[string]func(*folder, *loom.Op) *loom.Value{
	"index.add": neutral(0), "scalar.addi": neutral(0), "index.ori": neutral(0), "scalar.ori": idempotent(0),
	"index.xori": neutral(0), "scalar.xori": neutral(0),
	"index.mul": neutral(1), "scalar.muli": neutral(1), "index.andi": idempotent(-1), "scalar.andi": (*folder).conjunction,
	"index.sub": rightNeutral(0), "scalar.subi": rightNeutral(0),
	"index.div": rightNeutral(1), "scalar.divsi": rightNeutral(1), "scalar.divui": rightNeutral(1),
	"index.shli": rightNeutral(0), "index.shrui": rightNeutral(0), "index.shrsi": rightNeutral(0),
	"scalar.shli": rightNeutral(0), "scalar.shrui": rightNeutral(0), "scalar.shrsi": rightNeutral(0),
	"index.rem": (*folder).remainder, "scalar.remui": (*folder).remainder,
	"index.min": (*folder).smaller, "index.max": (*folder).larger,
	"scalar.minsi": (*folder).smaller, "scalar.maxsi": (*folder).larger,
	"index.madd": (*folder).madd, "index.cast": (*folder).roundTrip,
	"vector.extract": (*folder).extract, "vector.bitcast": sameType, "scalar.bitcast": (*folder).bitcast,
	"vector.select": (*folder).choose, "vector.slice": sameType, "vector.broadcast": sameType, "vector.concat": sameType,
	"vector.transpose": (*folder).transpose, "scalar.trunci": (*folder).truncated,
}

func neutral(e int64) func(*folder, *loom.Op) *loom.Value {
	return func(f *folder, op *loom.Op) *loom.Value {
		if f.is(op.Operands[1], e) {
			return op.Operands[0]
		}
		if f.is(op.Operands[0], e) {
			return op.Operands[1]
		}
		return nil
	}
}

func rightNeutral(e int64) func(*folder, *loom.Op) *loom.Value {
	return func(f *folder, op *loom.Op) *loom.Value {
		if f.is(op.Operands[1], e) {
			return op.Operands[0]
		}
		return nil
	}
}

func idempotent(e int64) func(*folder, *loom.Op) *loom.Value {
	n := neutral(e)
	return func(f *folder, op *loom.Op) *loom.Value {
		if op.Operands[0] == op.Operands[1] {
			return op.Operands[0]
		}
		return n(f, op)
	}
}

// conjunction is and: of a value with itself, with all ones (true for i1), or
// with a mask that keeps every bit the value can have.
func (f *folder) conjunction(op *loom.Op) *loom.Value {
	if op.Operands[0] == op.Operands[1] {
		return op.Operands[0]
	}
	for i := range 2 {
		c, ok := f.constInt(op.Operands[1-i])
		if !ok {
			continue
		}
		x := op.Operands[i]
		if c == -1 || x.Type.Kind == loom.I1 && c == 1 {
			return x
		}
		if c > 0 && c&(c+1) == 0 && f.set.Of(x).Within(0, c) {
			return x
		}
	}
	return nil
}

func (f *folder) remainder(op *loom.Op) *loom.Value {
	x, d := f.set.Of(op.Operands[0]), f.set.Of(op.Operands[1])
	if x.Lo >= 0 && d.Lo > 0 && x.Hi < d.Lo {
		return op.Operands[0]
	}
	return nil
}

func (f *folder) smaller(op *loom.Op) *loom.Value { return f.extreme(op, 0) }
func (f *folder) larger(op *loom.Op) *loom.Value  { return f.extreme(op, 1) }

func (f *folder) extreme(op *loom.Op, side int) *loom.Value {
	a, b := f.set.Of(op.Operands[0]), f.set.Of(op.Operands[1])
	switch {
	case op.Operands[0] == op.Operands[1], a.Hi <= b.Lo:
		return op.Operands[side]
	case b.Hi <= a.Lo:
		return op.Operands[1-side]
	}
	return nil
}

// madd becomes its addend when a factor is zero, and a sum or product in place
// when a factor is one or the addend zero.
func (f *folder) madd(op *loom.Op) *loom.Value {
	a, b, c := op.Operands[0], op.Operands[1], op.Operands[2]
	become := func(name string, x, y *loom.Value) *loom.Value {
		n := rewrite.Op(name, op.Span, op.Results[0].Type, op.Results[0].Name, x, y)
		op.Def, op.Operands, op.Segs = n.Def, n.Operands, n.Segs
		f.n++
		return nil
	}
	switch {
	case f.is(a, 0) || f.is(b, 0):
		return c
	case f.is(a, 1):
		return become("index.add", b, c)
	case f.is(b, 1):
		return become("index.add", a, c)
	case f.is(c, 0):
		return become("index.mul", a, b)
	}
	return nil
}

// roundTrip drops casts that change nothing: to the same type, and back from a
// type that held the value.
func (f *folder) roundTrip(op *loom.Op) *loom.Value {
	x := op.Operands[0]
	to := op.Results[0].Type
	if x.Type.Equal(to) {
		return x
	}
	d := x.Def
	if d == nil || d.Def.Name != "index.cast" {
		return nil
	}
	src := d.Operands[0]
	if !src.Type.Equal(to) {
		return nil
	}
	v := f.set.Of(src)
	mid := facts.Top(x.Type.Element())
	if v.Lo >= max(mid.Lo, 0) && v.Hi <= mid.Hi {
		return src
	}
	return nil
}

// truncated drops a truncation right after the extension it undoes.
func (f *folder) truncated(op *loom.Op) *loom.Value {
	if d := op.Operands[0].Def; d != nil && (d.Def.Name == "scalar.extui" || d.Def.Name == "scalar.extsi") && d.Operands[0].Type.Equal(op.Results[0].Type) {
		return d.Operands[0]
	}
	return nil
}

func sameType(f *folder, op *loom.Op) *loom.Value {
	if len(op.Operands) == 0 || !op.Operands[0].Type.Equal(op.Results[0].Type) {
		return nil
	}
	if op.Def.Name == "vector.concat" && len(op.Operands) != 1 {
		return nil
	}
	return op.Operands[0]
}

// bitcast undoes itself.
func (f *folder) bitcast(op *loom.Op) *loom.Value {
	if v := sameType(f, op); v != nil {
		return v
	}
	if d := op.Operands[0].Def; d != nil && d.Def.Name == "scalar.bitcast" && d.Operands[0].Type.Equal(op.Results[0].Type) {
		return d.Operands[0]
	}
	return nil
}

func (f *folder) transpose(op *loom.Op) *loom.Value {
	for i, p := range op.Attr("permutation").Ints() {
		if int64(i) != p {
			return nil
		}
	}
	return sameType(f, op)
}

func (f *folder) choose(op *loom.Op) *loom.Value {
	if op.Operands[1] == op.Operands[2] {
		return op.Operands[1]
	}
	if c, ok := f.constInt(op.Operands[0]); ok && (c == 0 || c == 1) {
		return op.Operands[2-c]
	}
	return nil
}

// extract follows a literal index into what built the vector.
func (f *folder) extract(op *loom.Op) *loom.Value {
	idx := op.Attr("indices").Ints()
	src := op.Operands[0]
	if len(src.Type.Dims) != 1 || len(idx) != 1 {
		return nil
	}
	for depth := 0; depth < 64 && src.Def != nil; depth++ {
		d := src.Def
		switch d.Def.Name {
		case "vector.splat":
			return d.Operands[0]
		case "vector.from_elements":
			if i := idx[0]; i >= 0 && i < int64(len(d.Operands)) {
				return d.Operands[i]
			}
			return nil
		case "vector.insert":
			at := d.Attr("indices").Ints()
			if idx[0] == loom.DynamicIndex || len(at) != 1 || at[0] == loom.DynamicIndex {
				return nil
			}
			if at[0] == idx[0] {
				return d.Operand("value")
			}
			src = d.Operand("dest")
		default:
			if depth > 0 { // read from further back
				op.Operands[0] = src
				f.n++
			}
			return nil
		}
	}
	return nil
}

// proven drops an assume whose predicates the facts of its operands prove. One
// that is not proven stays: it is a promise that can be checked. Its results are
// still replaced where the promise makes them constant.
func (f *folder) proven(op *loom.Op) []*loom.Value {
	for _, p := range op.Preds() {
		if v, _ := f.set.Decide(nil, p, f.beforePromise(op)); v != facts.Match {
			return nil
		}
	}
	return op.Operands
}

// beforePromise makes a predicate that mentions a result speak about the
// operand.
func (f *folder) beforePromise(op *loom.Op) func(*loom.Value) *loom.Value {
	return func(v *loom.Value) *loom.Value {
		for i, r := range op.Results {
			if r == v && i < len(op.Operands) {
				return op.Operands[i]
			}
		}
		return v
	}
}

// foldBits evaluates what the integer facts do not cover: reinterpreted floats,
// float comparisons and classifications, encoding tests.
func (f *folder) foldBits(op *loom.Op) (int64, bool) {
	switch op.Def.Name {
	case "index.sub", "scalar.subi", "vector.subi", "index.xori", "scalar.xori", "vector.xori":
		return 0, op.Operands[0] == op.Operands[1]
	case "scalar.bitcast", "vector.bitcast":
		x := op.Operands[0]
		from, to := x.Type.Element(), op.Results[0].Type.Element()
		v, ok := f.constFloat(x)
		if !ok || from.Bits() != to.Bits() || math.IsNaN(v) {
			return 0, false
		}
		return floatBits(from, v)
	case "scalar.cmpf", "vector.cmpf":
		a, ok1 := f.constFloat(op.Operands[0])
		b, ok2 := f.constFloat(op.Operands[1])
		if !ok1 || !ok2 {
			return 0, false
		}
		return truth(compareFloat(op.Word("predicate"), a, b)), true
	case "scalar.isnanf", "vector.isnanf", "scalar.isinff", "vector.isinff", "scalar.isfinitef", "vector.isfinitef":
		v, ok := f.constFloat(op.Operands[0])
		if !ok {
			return 0, false
		}
		switch strings.TrimPrefix(strings.TrimPrefix(op.Def.Name, "scalar."), "vector.") {
		case "isnanf":
			return truth(math.IsNaN(v)), true
		case "isinff":
			return truth(math.IsInf(v, 0)), true
		}
		return truth(!math.IsNaN(v) && !math.IsInf(v, 0)), true
	case "scalar.fptosi", "scalar.fptoui":
		v, ok := f.constFloat(op.Operands[0])
		w := op.Results[0].Type.Kind.Bits()
		if !ok || math.IsNaN(v) {
			return 0, false
		}
		v = math.Trunc(v)
		lo, hi := -math.Ldexp(1, w-1), math.Ldexp(1, w-1)
		if op.Def.Name == "scalar.fptoui" {
			lo, hi = 0, math.Ldexp(1, min(w, 63))
		}
		if v < lo || v >= hi {
			return 0, false
		}
		return facts.Wrap(op.Results[0].Type.Kind, int64(v)), true
	case "encoding.isa":
		spec, ok := f.encoding(op.Operands[0])
		want := op.Attr("spec").Enc()
		if !ok || want == nil {
			return 0, false
		}
		return truth(spec.Equal(want)), true
	case "encoding.matches":
		spec, ok := f.encoding(op.Operands[0])
		if !ok {
			return 0, false
		}
		for _, p := range op.Attr("pattern").Dict() {
			v, ok := spec.Param(p.Name)
			if !ok || !v.Equal(p.Value) {
				return 0, true
			}
		}
		return 1, true
	case "vector.mask.range":
		return f.wholeMask(op)
	}
	return 0, false
}

// wholeMask decides a range mask that is true, or false, in every lane.
func (f *folder) wholeMask(op *loom.Op) (int64, bool) {
	n := int64(op.Results[0].Type.Lanes())
	lo, hi, step := f.set.Of(op.Operands[0]), f.set.Of(op.Operands[1]), f.set.Of(op.Operands[2])
	if n == 0 || step.Lo < 0 || step.Hi > math.MaxInt32 || n > math.MaxInt32 || lo.Hi > math.MaxInt64/2 {
		return 0, false
	}
	switch {
	case lo.Hi+(n-1)*step.Hi < hi.Lo:
		return 1, true
	case lo.Lo >= hi.Hi:
		return 0, true
	}
	return 0, false
}

// encoding returns the static spec an encoding value was defined with.
func (f *folder) encoding(v *loom.Value) (*loom.Encoding, bool) {
	for v.Def != nil {
		switch v.Def.Def.Name {
		case "encoding.define":
			e := v.Def.Attr("spec").Enc()
			return e, e != nil && len(v.Def.Field("parameters")) == 0
		case "encoding.assume.spec", "encoding.assume.match":
			v = v.Def.Operands[0]
		default:
			return nil, false
		}
	}
	return nil, false
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func compareFloat(p string, a, b float64) bool {
	unordered := math.IsNaN(a) || math.IsNaN(b)
	switch p {
	case "ord":
		return !unordered
	case "uno":
		return unordered
	}
	if unordered {
		return p[0] == 'u'
	}
	switch p[1:] {
	case "eq":
		return a == b
	case "gt":
		return a > b
	case "ge":
		return a >= b
	case "lt":
		return a < b
	case "le":
		return a <= b
	}
	return a != b
}
