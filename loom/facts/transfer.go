package facts

import (
	"math"
	"math/bits"

	"github.com/loomc/loomc/loom"
)

// A transfer computes the fact of a result from the facts of the operands. k is
// the element kind of the result; uniformity and the clamp to k are applied by
// the caller.
type transfer func(op *loom.Op, k loom.Kind, a []Fact) Fact

// transfers is keyed by the operation name without its dialect for the integer
// arithmetic that scalar and vector share, with the dialect otherwise.
var transfers = map[string]transfer{
	"index.add": bin(add), "index.sub": bin(sub), "index.mul": bin(mul), "index.div": bin(divs), "index.rem": bin(rems),
	"index.min": bin(minFact), "index.max": bin(maxFact), "index.madd": tern(madd), "index.scale": bin(mul),
	"index.andi": bin(and), "index.ori": bin(or), "index.xori": bin(xor),
	"index.shli": bin(shl), "index.shrui": shrui, "index.shrsi": bin(shrs), "index.rotli": top, "index.rotri": top,
	"index.ctlzi": count, "index.cttzi": count, "index.ctpopi": count,

	"addi": bin(add), "subi": bin(sub), "muli": bin(mul), "fmai": tern(madd),
	"divsi": bin(divs), "remsi": bin(rems), "divui": unsigned(divs), "remui": unsigned(rems),
	"ceildivsi": bin(ceildiv), "ceildivui": unsigned(ceildiv), "floordivsi": bin(floordiv),
	"minsi": bin(minFact), "maxsi": bin(maxFact), "minui": unsigned(minFact), "maxui": unsigned(maxFact),
	"andi": bin(and), "ori": bin(or), "xori": bin(xor),
	"shli": bin(shl), "shrui": shrui, "shrsi": bin(shrs), "rotli": top, "rotri": top,
	"absi": abs, "negi": neg, "signi": sign, "ctlzi": count, "cttzi": count, "ctpopi": count,
	"extsi": extsi, "extui": extui, "trunci": first, "bitcast": bitcast,
	"bitfield.extractu": extractu, "bitfield.extracts": extracts,
	"fptosi": top, "fptoui": top,

	"vector.splat": first, "vector.extract": first, "vector.slice": first, "vector.shuffle": first,
	"vector.transpose": first, "vector.broadcast": first, "vector.deinterleave": first, "vector.fragment": first,
	"vector.concat": joinAll, "vector.from_elements": joinAll, "vector.interleave": joinAll,
	"vector.insert": insert, "vector.table.lookup": first, "vector.iota": lanes, "vector.bitunpacku": unpacku,
	"vector.bitunpacks": unpacks,
}

func bin(f func(a, b Fact) Fact) transfer {
	return func(_ *loom.Op, k loom.Kind, a []Fact) Fact {
		if len(a) < 2 {
			return Top(k)
		}
		return f(a[0], a[1])
	}
}

func tern(f func(a, b, c Fact) Fact) transfer {
	return func(_ *loom.Op, k loom.Kind, a []Fact) Fact {
		if len(a) < 3 {
			return Top(k)
		}
		return f(a[0], a[1], a[2])
	}
}

// unsigned applies a signed rule where both operands are known non-negative, so
// that the two readings agree.
func unsigned(f func(a, b Fact) Fact) transfer {
	return func(_ *loom.Op, k loom.Kind, a []Fact) Fact {
		if len(a) < 2 || a[0].Lo < 0 || a[1].Lo < 0 {
			return Top(k)
		}
		return f(a[0], a[1])
	}
}

func top(_ *loom.Op, k loom.Kind, _ []Fact) Fact { return Top(k) }

func first(_ *loom.Op, k loom.Kind, a []Fact) Fact {
	if len(a) == 0 {
		return Top(k)
	}
	return a[0]
}

func joinAll(_ *loom.Op, k loom.Kind, a []Fact) Fact {
	if len(a) == 0 {
		return Top(k)
	}
	f := a[0]
	for _, g := range a[1:] {
		f = f.Join(g)
	}
	return f
}

func insert(op *loom.Op, k loom.Kind, a []Fact) Fact {
	if len(a) < 2 {
		return Top(k)
	}
	return a[0].Join(a[1])
}

// wide is an unknown value: the caller clamps it to the result's kind.
var wide = Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1}

// ranged builds a fact from bounds that may have overflowed: then nothing but
// the divisor's power-of-two part survives, because arithmetic wraps.
func ranged(lo, hi int64, ok bool, div int64) Fact {
	if !ok {
		f := wide
		f.Div = pow2Part(div)
		return f
	}
	return Fact{Lo: lo, Hi: hi, Div: div}
}

func pow2Part(d int64) int64 {
	if d == 0 {
		return 1 << 62
	}
	return d & -d
}

func add(a, b Fact) Fact {
	lo, ok1 := addOK(a.Lo, b.Lo)
	hi, ok2 := addOK(a.Hi, b.Hi)
	return ranged(lo, hi, ok1 && ok2, gcd(a.Div, b.Div))
}

func sub(a, b Fact) Fact {
	lo, ok1 := subOK(a.Lo, b.Hi)
	hi, ok2 := subOK(a.Hi, b.Lo)
	return ranged(lo, hi, ok1 && ok2, gcd(a.Div, b.Div))
}

func mul(a, b Fact) Fact {
	div, fits := mulOK(a.Div, b.Div)
	if !fits {
		div = max(pow2Part(a.Div), pow2Part(b.Div))
	}
	if a.IsConst(0) || b.IsConst(0) {
		return Exact(0)
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	ok := true
	for _, x := range [2]int64{a.Lo, a.Hi} {
		for _, y := range [2]int64{b.Lo, b.Hi} {
			p, o := mulOK(x, y)
			ok = ok && o
			lo, hi = min(lo, p), max(hi, p)
		}
	}
	f := ranged(lo, hi, ok, div)
	f.Pow2 = ok && a.Pow2 && b.Pow2
	return f
}

func madd(a, b, c Fact) Fact { return add(mul(a, b), c) }

// quotient applies a division rule to the corners; b must be positive.
func quotient(a, b Fact, q func(x, y int64) int64) Fact {
	if b.Lo <= 0 {
		return wide
	}
	c := [4]int64{q(a.Lo, b.Lo), q(a.Lo, b.Hi), q(a.Hi, b.Lo), q(a.Hi, b.Hi)}
	f := Fact{Lo: min(c[0], c[1], c[2], c[3]), Hi: max(c[0], c[1], c[2], c[3]), Div: 1}
	if d, ok := b.Const(); ok && a.Div%d == 0 {
		f.Div = a.Div / d
	}
	f.Pow2 = a.Pow2 && b.Pow2 && a.Lo >= b.Hi
	return f
}

func divs(a, b Fact) Fact {
	return quotient(a, b, func(x, y int64) int64 { return x / y })
}

func ceildiv(a, b Fact) Fact {
	return quotient(a, b, func(x, y int64) int64 {
		q := x / y
		if x%y != 0 && x > 0 {
			q++
		}
		return q
	})
}

func floordiv(a, b Fact) Fact {
	return quotient(a, b, func(x, y int64) int64 {
		q := x / y
		if x%y != 0 && x < 0 {
			q--
		}
		return q
	})
}

func rems(a, b Fact) Fact {
	if b.Lo <= 0 {
		return wide
	}
	if c, ok := b.Const(); ok {
		if a.Div%c == 0 {
			return Exact(0)
		}
		if v, ok := a.Const(); ok && v >= 0 {
			return Exact(v % c)
		}
	}
	f := Fact{Lo: 0, Hi: b.Hi - 1, Div: gcd(a.Div, b.Div)}
	if a.Lo >= 0 && a.Hi < b.Lo {
		a.Uniform = 0
		return a
	}
	if a.Lo < 0 {
		f.Lo = max(a.Lo, -(b.Hi - 1))
	}
	f.Hi = min(f.Hi, max(a.Hi, 0))
	return f
}

func minFact(a, b Fact) Fact {
	return Fact{Lo: min(a.Lo, b.Lo), Hi: min(a.Hi, b.Hi), Div: gcd(a.Div, b.Div), Pow2: a.Pow2 && b.Pow2}
}

func maxFact(a, b Fact) Fact {
	return Fact{Lo: max(a.Lo, b.Lo), Hi: max(a.Hi, b.Hi), Div: gcd(a.Div, b.Div), Pow2: a.Pow2 && b.Pow2}
}

func and(a, b Fact) Fact {
	f := wide
	switch {
	case a.Lo >= 0 && b.Lo >= 0:
		f.Lo, f.Hi = 0, min(a.Hi, b.Hi)
	case a.Lo >= 0:
		f.Lo, f.Hi = 0, a.Hi
	case b.Lo >= 0:
		f.Lo, f.Hi = 0, b.Hi
	}
	f.Div = max(pow2Part(a.Div), pow2Part(b.Div))
	if x, ok := a.Const(); ok {
		if y, ok := b.Const(); ok {
			return Exact(x & y)
		}
	}
	return f
}

func or(a, b Fact) Fact { return orxor(a, b, func(x, y int64) int64 { return x | y }, true) }

func xor(a, b Fact) Fact { return orxor(a, b, func(x, y int64) int64 { return x ^ y }, false) }

func orxor(a, b Fact, eval func(x, y int64) int64, grows bool) Fact {
	if x, ok := a.Const(); ok {
		if y, ok := b.Const(); ok {
			return Exact(eval(x, y))
		}
	}
	f := wide
	f.Div = min(pow2Part(a.Div), pow2Part(b.Div))
	if a.Lo >= 0 && b.Lo >= 0 {
		f.Lo = 0
		if grows {
			f.Lo = max(a.Lo, b.Lo)
		}
		if h := max(a.Hi, b.Hi); h < 1<<62 {
			f.Hi = 1<<bits.Len64(uint64(h)) - 1
		}
	}
	return f
}

func shl(a, b Fact) Fact {
	if b.Lo < 0 || b.Hi > 62 {
		return wide
	}
	f := mul(a, Fact{Lo: 1 << b.Lo, Hi: 1 << b.Hi, Div: 1 << b.Lo, Pow2: true})
	return f
}

func shrs(a, b Fact) Fact {
	if b.Lo < 0 || b.Hi > 63 {
		return wide
	}
	c := [4]int64{a.Lo >> b.Lo, a.Lo >> b.Hi, a.Hi >> b.Lo, a.Hi >> b.Hi}
	f := Fact{Lo: min(c[0], c[1], c[2], c[3]), Hi: max(c[0], c[1], c[2], c[3]), Div: 1}
	if k, ok := b.Const(); ok && k < 62 && a.Div%(1<<k) == 0 {
		f.Div = a.Div >> k
	}
	return f
}

// shrui equals the arithmetic shift on non-negative values; a shift by one or
// more of a negative value of width w leaves at most w−1 bits.
func shrui(op *loom.Op, k loom.Kind, a []Fact) Fact {
	if len(a) < 2 {
		return Top(k)
	}
	if a[0].Lo >= 0 {
		return shrs(a[0], a[1])
	}
	w := int64(k.Bits())
	if a[1].Lo >= 1 && a[1].Hi < w {
		return Fact{Lo: 0, Hi: int64(uint64(math.MaxUint64) >> (64 - w) >> a[1].Lo), Div: 1}
	}
	return Top(k)
}

func count(op *loom.Op, k loom.Kind, _ []Fact) Fact {
	return Fact{Lo: 0, Hi: int64(k.Bits()), Div: 1}
}

func abs(_ *loom.Op, k loom.Kind, a []Fact) Fact {
	f := a[0]
	if f.Lo >= 0 {
		return f
	}
	if f.Lo == Top(k).Lo {
		return wide // the smallest value stays negative
	}
	return Fact{Lo: max(0, -f.Hi), Hi: max(-f.Lo, f.Hi), Div: f.Div}
}

func neg(_ *loom.Op, k loom.Kind, a []Fact) Fact { return sub(Exact(0), a[0]) }

func sign(_ *loom.Op, k loom.Kind, a []Fact) Fact {
	f := Fact{Lo: -1, Hi: 1, Div: 1}
	if a[0].Lo >= 0 {
		f.Lo = 0
	}
	if a[0].Lo > 0 {
		f.Lo = 1
	}
	if a[0].Hi <= 0 {
		f.Hi = 0
	}
	if a[0].Hi < 0 {
		f.Hi = -1
	}
	return f
}

func sourceKind(op *loom.Op) loom.Kind {
	if len(op.Operands) == 0 {
		return loom.Invalid
	}
	return op.Operands[0].Type.Element()
}

func extsi(op *loom.Op, k loom.Kind, a []Fact) Fact {
	if sourceKind(op) == loom.I1 { // true sign-extends to −1
		return sub(Exact(0), a[0])
	}
	return a[0]
}

func extui(op *loom.Op, k loom.Kind, a []Fact) Fact {
	return zeroExtend(sourceKind(op), a[0])
}

func zeroExtend(src loom.Kind, f Fact) Fact {
	if f.Lo >= 0 {
		return f
	}
	w := src.Bits()
	if w >= 64 {
		return wide
	}
	return Fact{Lo: 0, Hi: 1<<w - 1, Div: min(pow2Part(f.Div), 1<<w)}
}

func bitcast(op *loom.Op, k loom.Kind, a []Fact) Fact {
	if sourceKind(op) == k {
		return a[0]
	}
	return Top(k)
}

func extractu(op *loom.Op, k loom.Kind, _ []Fact) Fact {
	return unsignedField(k, op.Attr("width").Int)
}

func extracts(op *loom.Op, k loom.Kind, _ []Fact) Fact {
	return signedField(k, op.Attr("width").Int)
}

func unpacku(op *loom.Op, k loom.Kind, _ []Fact) Fact {
	return unsignedField(k, op.Attr("width").Int)
}

func unpacks(op *loom.Op, k loom.Kind, _ []Fact) Fact {
	return signedField(k, op.Attr("width").Int)
}

func unsignedField(k loom.Kind, w int64) Fact {
	if w < 1 || w > 62 || w >= int64(k.Bits()) && k != loom.Index {
		return Top(k)
	}
	return Fact{Lo: 0, Hi: 1<<w - 1, Div: 1}
}

func signedField(k loom.Kind, w int64) Fact {
	if w < 1 || w > 62 {
		return Top(k)
	}
	return Fact{Lo: -1 << (w - 1), Hi: 1<<(w-1) - 1, Div: 1}
}

// lanes covers base + lane·step for all lanes.
func lanes(op *loom.Op, k loom.Kind, a []Fact) Fact {
	n := int64(op.Result().Type.Lanes())
	if len(a) < 2 || n == 0 {
		return Top(k)
	}
	return add(a[0], mul(Fact{Lo: 0, Hi: n - 1, Div: 1}, a[1]))
}

// cast is index.cast: between index, offset and integers.
func cast(from, to loom.Kind, f Fact) Fact {
	if to == loom.Offset {
		if from.IsInt() {
			f = zeroExtend(from, f)
		}
		if f.Lo < 0 { // a negative value is not representable
			f.Lo = 0
			if f.Hi < 0 {
				f.Hi = math.MaxInt64
			}
		}
	}
	return f
}

// clamp makes f a fact of kind k: what does not fit has wrapped.
func clamp(k loom.Kind, f Fact) Fact {
	t := Top(k)
	if k == loom.Offset {
		// An offset is never negative; a difference that would be is undefined.
		if f.Hi < 0 {
			return t
		}
		f.Lo = max(f.Lo, 0)
		return f.norm()
	}
	if f.Lo < t.Lo || f.Hi > t.Hi {
		d := pow2Part(f.Div)
		if w := k.Bits(); w > 0 && w < 64 {
			if d >= 1<<w { // a multiple of 2^w wraps to zero
				return Exact(0)
			}
		}
		t.Div = d
		return t.norm()
	}
	return f.norm()
}
