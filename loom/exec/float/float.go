// Package float converts between float64 and the narrow floating-point formats
// of the language: f16, bf16, f8E4M3 (the "fn" format: no infinity, largest
// finite value 448) and f8E5M2. Widening is exact and keeps NaN payloads as far
// as they fit; narrowing rounds once, to nearest, ties to even.
package float

import "math"

// Format describes one binary format. Values are stored in the low bits of a
// uint32.
type Format struct {
	Name  string
	Exp   uint // exponent bits
	Man   uint // mantissa bits
	NoInf bool // the top exponent holds finite values; all-ones is the NaN
}

// The narrow formats of the language.
var (
	F16    = Format{Name: "f16", Exp: 5, Man: 10}
	BF16   = Format{Name: "bf16", Exp: 8, Man: 7}
	F8E4M3 = Format{Name: "f8E4M3", Exp: 4, Man: 3, NoInf: true}
	F8E5M2 = Format{Name: "f8E5M2", Exp: 5, Man: 2}
)

func (f Format) bias() int { return 1<<(f.Exp-1) - 1 }

// Value returns the exact value of bits.
func (f Format) Value(bits uint32) float64 {
	sign := bits >> (f.Exp + f.Man) & 1
	exp := int(bits >> f.Man & (1<<f.Exp - 1))
	man := uint64(bits & (1<<f.Man - 1))
	top := 1<<f.Exp - 1
	var v float64
	switch {
	case exp == top && f.NoInf && man == 1<<f.Man-1:
		v = math.NaN()
	case exp == top && !f.NoInf && man == 0:
		v = math.Inf(1)
	case exp == top && !f.NoInf:
		return math.Float64frombits(uint64(sign)<<63 | 0x7ff<<52 | man<<(52-f.Man))
	case exp == 0:
		v = math.Ldexp(float64(man), 1-f.bias()-int(f.Man))
	default:
		v = math.Float64frombits(uint64(exp-f.bias()+1023)<<52 | man<<(52-f.Man))
	}
	if sign != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

// Bits returns v rounded to the format. Values beyond the finite range become
// infinities; in a format without them, NaN.
func (f Format) Bits(v float64) uint32 {
	b := math.Float64bits(v)
	sign := uint32(b>>63) << (f.Exp + f.Man)
	exp := int(b >> 52 & 0x7ff)
	man := b & (1<<52 - 1)
	top := uint32(1)<<f.Exp - 1
	if exp == 0x7ff {
		switch {
		case man == 0 && !f.NoInf:
			return sign | top<<f.Man
		case f.NoInf:
			return sign | top<<f.Man | (1<<f.Man - 1)
		}
		return sign | top<<f.Man | 1<<(f.Man-1) | uint32(man>>(52-f.Man))
	}
	if exp == 0 {
		return sign // zero, or far below the smallest subnormal
	}
	e := exp - 1023 + f.bias()
	shift := 52 - f.Man
	man |= 1 << 52
	if e <= 0 { // subnormal in the format
		shift += uint(1 - e)
		if shift > 54 {
			return sign
		}
		e = 0
	}
	r := man >> shift
	rest := man & (1<<shift - 1)
	half := uint64(1) << (shift - 1)
	if rest > half || rest == half && r&1 == 1 {
		r++
	}
	// The hidden bit carries into the exponent field by plain addition.
	var out uint64
	if e == 0 {
		out = r
	} else {
		out = uint64(e-1)<<f.Man + r
	}
	limit := uint64(top) << f.Man // infinity, or the first value past the NaN-less range
	if f.NoInf {
		limit |= 1<<f.Man - 1
		if out >= limit {
			return sign | uint32(limit)
		}
		return sign | uint32(out)
	}
	if out >= limit {
		return sign | uint32(limit)
	}
	return sign | uint32(out)
}

// HalfToFloat32 widens an f16.
func HalfToFloat32(h uint32) float32 {
	sign := h & 0x8000 << 16
	em := h & 0x7fff
	switch {
	case em >= 0x7c00:
		return math.Float32frombits(sign | 0x7f800000 | em&0x3ff<<13)
	case em >= 0x400:
		return math.Float32frombits(sign | (em<<13 + (127-15)<<23))
	}
	// Subnormal: em·2^-24, exact in float32.
	return math.Float32frombits(sign | math.Float32bits(float32(em)*0x1p-24))
}

// Float32ToHalf narrows to f16.
func Float32ToHalf(v float32) uint32 {
	b := math.Float32bits(v)
	sign := b >> 16 & 0x8000
	b &= 0x7fffffff
	switch {
	case b >= 0x7f800000:
		if b > 0x7f800000 {
			return sign | 0x7e00 | b>>13&0x3ff
		}
		return sign | 0x7c00
	case b >= 0x477ff000: // rounds to 65536 or more
		return sign | 0x7c00
	case b >= 0x38800000: // normal
		return sign | (b-(127-15)<<23+0xfff+b>>13&1)>>13
	}
	// Subnormal: adding 2^-1 aligns the mantissa so that the float adder rounds.
	return sign | math.Float32bits(math.Float32frombits(b)+0.5)&0x7ff
}

// BFloatToFloat32 widens a bf16.
func BFloatToFloat32(h uint32) float32 { return math.Float32frombits(h << 16) }

// Float32ToBFloat narrows to bf16.
func Float32ToBFloat(v float32) uint32 {
	b := math.Float32bits(v)
	if b&0x7fffffff > 0x7f800000 {
		return b>>16 | 0x40
	}
	return (b + 0x7fff + b>>16&1) >> 16
}

// FMA32 returns a·b + c rounded once to float32.
func FMA32(a, b, c float32) float32 {
	p := float64(a) * float64(b) // exact: 48 bits
	s := p + float64(c)
	u := math.Float64bits(s)
	// A second rounding can only differ when s sits exactly between two
	// float32 values, or when the result is subnormal.
	if u&0x1fffffff != 0x10000000 && u>>52&0x7ff > 1023-126 {
		return float32(s)
	}
	return float32(OddSum(p, float64(c)))
}

// OddSum returns a + b rounded to odd: truncated, with the last bit set when
// inexact. Rounding the result to any format of at most 51 mantissa bits equals
// rounding the exact sum.
func OddSum(a, b float64) float64 {
	s := a + b
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return s
	}
	bb := s - a
	err := (a - (s - bb)) + (b - bb)
	if err == 0 {
		return s
	}
	u := math.Float64bits(s)
	if (err < 0) != (s < 0) {
		u--
	}
	return math.Float64frombits(u | 1)
}
