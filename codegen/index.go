package codegen

import (
	"math"
	"strconv"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

var indexOps = map[string]emitFunc{
	"index.constant": func(e *emitter, op *loom.Op) {
		r := op.Result()
		e.let(r, intLit(op.Attr("value").Int, e.carrier(r)))
	},
	"target.subgroup.size": func(e *emitter, op *loom.Op) { e.let(op.Result(), itoa(int64(e.wave))) },
	"index.add":            indexArith("+"),
	"index.sub":            indexArith("-"),
	"index.mul":            indexArith("*"),
	"index.scale":          indexArith("*"),
	"index.madd":           emitMadd,
	"index.div":            indexDivide("/"),
	"index.rem":            indexDivide("%"),
	"index.min":            indexExtremum("<"),
	"index.max":            indexExtremum(">"),
	"index.andi":           indexBits("&"),
	"index.ori":            indexBits("|"),
	"index.xori":           indexBits("^"),
	"index.shli":           indexShift("<<"),
	"index.shrui":          indexShift(">>"),
	"index.shrsi":          indexShift(">>"),
	"index.rotli":          indexCall2("loom_rotl_u64"),
	"index.rotri":          indexCall2("loom_rotr_u64"),
	"index.ctlzi":          indexCall1("loom_ctlz_u64"),
	"index.cttzi":          indexCall1("loom_cttz_u64"),
	"index.ctpopi":         indexCall1("loom_ctpop_u64"),
	"index.cmp":            emitIndexCmp,
	"index.cast":           emitIndexCast,
	"index.assume":         emitAssume,
	"scalar.assume":        emitScalarAssume,
}

// indexArith computes in the result's carrier. Where the operands or an
// intermediate may be wider than the result, 32-bit arithmetic wraps: the low
// bits are right and the facts say that nothing else is left.
func indexArith(op string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		r, a, b := o.Result(), o.Operands[0], o.Operands[1]
		c := e.carrier(r)
		if c == c32 && (e.carrier(a) != c32 || e.carrier(b) != c32) {
			e.let(r, "(loom_i32)("+e.as(a, cu32)+" "+op+" "+e.as(b, cu32)+")")
			return
		}
		x, y := e.as(a, c), e.as(b, c)
		if c == c64 && e.mayWrap(op, e.factAt(a), e.factAt(b)) {
			e.let(r, "(loom_i64)((loom_u64)"+paren(x)+" "+op+" (loom_u64)"+paren(y)+")")
			return
		}
		e.let(r, x+" "+op+" "+y)
	}
}

// mayWrap reports arithmetic on 64-bit values that the facts do not keep inside 64
// bits. It wraps, which C++ grants to unsigned types only.
func (e *emitter) mayWrap(op string, x, y facts.Fact) bool {
	if op == "*" {
		_, _, ok := mulRange(x.Lo, x.Hi, y.Lo, y.Hi)
		return !ok
	}
	if op == "-" {
		if y.Lo == math.MinInt64 {
			return true
		}
		y.Lo, y.Hi = -y.Hi, -y.Lo
	}
	return x.Lo < 0 && y.Lo < math.MinInt64-x.Lo || x.Hi > 0 && y.Hi > math.MaxInt64-x.Hi
}

func emitMadd(e *emitter, o *loom.Op) {
	r := o.Result()
	c := e.carrier(r)
	in := c
	open, close := "", ""
	if c == c32 {
		x, y := e.fact(o.Operands[0]), e.fact(o.Operands[1])
		lo, hi, ok := mulRange(x.Lo, x.Hi, y.Lo, y.Hi)
		if !ok || lo < math.MinInt32 || hi > math.MaxInt32 || e.carrier(o.Operands[2]) != c32 {
			in, open, close = cu32, "(loom_i32)(", ")"
		}
	}
	if c == c64 {
		x, y, z := e.factAt(o.Operands[0]), e.factAt(o.Operands[1]), e.factAt(o.Operands[2])
		lo, hi, ok := mulRange(x.Lo, x.Hi, y.Lo, y.Hi)
		if !ok || e.mayWrap("+", facts.Fact{Lo: lo, Hi: hi}, z) {
			a := func(i int) string { return "(loom_u64)" + paren(e.as(o.Operands[i], c64)) }
			e.let(r, "(loom_i64)("+a(0)+" * "+a(1)+" + "+a(2)+")")
			return
		}
	}
	e.let(r, open+e.as(o.Operands[0], in)+" * "+e.as(o.Operands[1], in)+" + "+e.as(o.Operands[2], in)+close)
}

// indexDivide divides a non-negative value by a positive one, as unsigned.
func indexDivide(op string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		r, a, b := o.Result(), o.Operands[0], o.Operands[1]
		fa, fb := e.factAt(a), e.factAt(b)
		if e.carrier(a) != c64 && e.carrier(b) != c64 || fa.Hi <= math.MaxUint32 && fb.Hi <= math.MaxUint32 && fa.Lo >= 0 && fb.Lo >= 0 {
			x := e.as(a, cu32)
			if fa.Hi > math.MaxInt32 || fb.Hi > math.MaxInt32 || inexact24(fa, fb) { // see needsOpaque
				x = "loom_opaque_u32(" + x + ")"
			}
			s := x + " " + op + " " + e.as(b, cu32)
			if c := e.carrier(r); c == c32 {
				s = "(loom_i32)(" + s + ")"
			}
			e.let(r, s)
			return
		}
		e.let(r, "("+e.carrier(r).String()+")((loom_u64)"+e.as(a, c64)+" "+op+" (loom_u64)"+e.as(b, c64)+")")
	}
}

func indexExtremum(op string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		r, a, b := o.Result(), o.Operands[0], o.Operands[1]
		c := e.common(a, b)
		x, y := e.as(a, c), e.as(b, c)
		fn := "loom_min_"
		if op == ">" {
			fn = "loom_max_"
		}
		s := fn + c.String()[5:] + "(" + x + ", " + y + ")"
		if rc := e.carrier(r); rc.String() != c.String() {
			s = "(" + rc.String() + ")" + s
		}
		e.let(r, s)
	}
}

func indexBits(op string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		r, a, b := o.Result(), o.Operands[0], o.Operands[1]
		c := e.common(a, b)
		if rc := e.carrier(r); op == "&" && rc != c64 {
			// The result fits, so the high halves cancel.
			c = rc
		}
		s := e.as(a, c) + " " + op + " " + e.as(b, c)
		if rc := e.carrier(r); rc.String() != c.String() {
			s = "(" + rc.String() + ")(" + s + ")"
		}
		e.let(r, s)
	}
}

func indexShift(op string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		r, a, n := o.Result(), o.Operands[0], o.Operands[1]
		rc := e.carrier(r)
		f := e.fact(a)
		switch {
		case op == "<<" && rc != c64:
			s := e.as(a, cu32) + " << " + e.as(n, cu32)
			if e.fact(n).Hi > 31 {
				s = "(loom_u32)((loom_u64)" + e.as(a, c64) + " << " + e.as(n, cu32) + ")"
			}
			if rc == c32 {
				s = "(loom_i32)(" + s + ")"
			}
			e.let(r, s)
		case op == "<<":
			e.let(r, "(loom_i64)((loom_u64)"+e.as(a, c64)+" << "+e.as(n, cu32)+")")
		case f.Within(0, math.MaxUint32) && e.fact(n).Within(0, 31):
			s := e.as(a, cu32) + " >> " + e.as(n, cu32)
			if rc == c32 {
				s = "(loom_i32)(" + s + ")"
			}
			e.let(r, s)
		case o.Def.Name == "index.shrsi":
			e.let(r, "("+rc.String()+")("+e.as(a, c64)+" >> "+e.as(n, cu32)+")")
		default:
			e.let(r, "("+rc.String()+")((loom_u64)"+e.as(a, c64)+" >> "+e.as(n, cu32)+")")
		}
	}
}

func indexCall1(fn string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		e.let(o.Result(), "("+e.carrier(o.Result()).String()+")"+fn+"((loom_u64)"+e.as(o.Operands[0], c64)+")")
	}
}

func indexCall2(fn string) emitFunc {
	return func(e *emitter, o *loom.Op) {
		e.let(o.Result(), "("+e.carrier(o.Result()).String()+")"+fn+"((loom_u64)"+e.as(o.Operands[0], c64)+", "+e.as(o.Operands[1], cu32)+")")
	}
}

func emitIndexCmp(e *emitter, o *loom.Op) {
	a, b := o.Operands[0], o.Operands[1]
	p := o.Word("predicate")
	c := e.common(a, b)
	x, y := e.as(a, c), e.as(b, c)
	if x == y {
		e.let(o.Result(), strconv.FormatBool(selfHolds(p)))
		return
	}
	if p[0] == 'u' && c != cu32 && !(e.fact(a).Lo >= 0 && e.fact(b).Lo >= 0) {
		// Sign-extended on both sides, so the order of the narrow patterns is that of
		// the wide ones.
		u := "(loom_u32)"
		if c == c64 {
			u = "(loom_u64)"
		}
		x, y = u+paren(x), u+paren(y)
	}
	e.let(o.Result(), x+" "+intPreds[p]+" "+y)
}

func emitIndexCast(e *emitter, o *loom.Op) {
	in, r := o.Operands[0], o.Result()
	from, to := in.Type.Kind, r.Type.Kind
	switch {
	case from.IsIndexLike() && to.IsIndexLike():
		if e.carrier(in).String() == e.carrier(r).String() {
			e.alias(r, in)
			return
		}
		e.let(r, e.as(in, e.carrier(r)))
	case from.IsIndexLike():
		if to == loom.I1 {
			e.let(r, "("+e.ref(in)+" & 1) != 0")
			return
		}
		c := cu32
		if to == loom.I64 {
			c = c64
		}
		s := e.as(in, c)
		if c.String() != scalarNames[to] {
			s = "(" + scalarNames[to] + ")" + s
		}
		e.let(r, s)
	default:
		c := e.carrier(r)
		s := e.ref(in)
		if from != loom.I1 && to == loom.Index {
			s = "(" + signed(from) + ")" + s
			if signed(from) == c.String() {
				e.let(r, s)
				return
			}
		}
		e.let(r, "("+c.String()+")"+s)
	}
}

// emitAssume renames; the facts have already shaped carriers and addresses.
func emitAssume(e *emitter, o *loom.Op) {
	for i, r := range o.Results {
		v := o.Operands[i]
		if e.carrier(r).String() == e.carrier(v).String() {
			e.alias(r, v)
			continue
		}
		e.let(r, e.as(v, e.carrier(r)))
	}
}

func emitScalarAssume(e *emitter, o *loom.Op) {
	for i, r := range o.Results {
		e.alias(r, o.Operands[i])
	}
}
