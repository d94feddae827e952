package linker

import (
	"math"

	"github.com/loomc/loomc/loom"
)

// foldFloat evaluates a float operation on constants where the result is the
// one every machine computes: a single correctly rounded operation whose result
// is a normal number or zero. NaNs keep their bits and small results their
// denormal mode for run time.
func (f *folder) foldFloat(op *loom.Op) (float64, bool) {
	k := op.Results[0].Type.Element()
	if op.Def.Name == "config.get" || op.Def.Traits&loom.Fact != 0 {
		return 0, false
	}
	name := op.Def.Name
	switch name {
	case "vector.splat", "vector.broadcast":
		return f.constFloat(op.Operands[0])
	case "scf.select", "vector.select":
		return 0, false
	case "vector.extract":
		if d := op.Operands[0].Def; d != nil && d.Def.Name == "vector.constant" {
			return f.constFloat(op.Operands[0])
		}
		return 0, false
	}
	rule, ok := floatRules[trimDialect(name)]
	if !ok {
		return 0, false
	}
	var a [3]float64
	if len(op.Operands) > len(a) || len(op.Operands) == 0 {
		return 0, false
	}
	for i, v := range op.Operands {
		switch e := v.Type.Element(); {
		case e.IsFloat():
			x, ok := f.constFloat(v)
			if !ok || math.IsNaN(x) {
				return 0, false
			}
			a[i] = x
		default:
			x, ok := f.constInt(v)
			if !ok {
				return 0, false
			}
			if name == "scalar.uitofp" || name == "vector.uitofp" {
				if w := e.Bits(); x < 0 && w < 64 {
					x += 1 << w
				} else if x < 0 {
					return 0, false
				}
			}
			if x > 1<<53 || x < -1<<53 { // would round twice
				return 0, false
			}
			a[i] = float64(x)
		}
	}
	if trimDialect(name) == "bitcast" {
		from := op.Operands[0].Type.Element()
		if !from.IsInt() || from.Bits() != k.Bits() {
			return 0, false
		}
		x, ok := f.constInt(op.Operands[0])
		if !ok {
			return 0, false
		}
		return bitsFloat(k, x)
	}
	return roundTo(k, rule(a))
}

func trimDialect(name string) string {
	for i := range len(name) {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

var floatRules = map[string]func([3]float64) float64{
	"addf": func(a [3]float64) float64 { return a[0] + a[1] },
	"subf": func(a [3]float64) float64 { return a[0] - a[1] },
	"mulf": func(a [3]float64) float64 { return a[0] * a[1] },
	"divf": func(a [3]float64) float64 { return a[0] / a[1] },
	"negf": func(a [3]float64) float64 { return -a[0] },
	"absf": func(a [3]float64) float64 { return math.Abs(a[0]) },

	"floorf": func(a [3]float64) float64 { return math.Floor(a[0]) },
	"ceilf":  func(a [3]float64) float64 { return math.Ceil(a[0]) },
	"truncf": func(a [3]float64) float64 { return math.Trunc(a[0]) },

	"extf": first, "fptrunc": first, "sitofp": first, "uitofp": first, "bitcast": first,
}

func first(a [3]float64) float64 { return a[0] }

// format describes a binary float format.
type format struct {
	precision int // significant bits, the hidden one included
	minExp    int // exponent of the smallest normal number
	maxExp    int // exponent of the largest finite number
}

var formats = map[loom.Kind]format{
	loom.F16: {11, -14, 15}, loom.BF16: {8, -126, 127}, loom.F32: {24, -126, 127}, loom.F64: {53, -1022, 1023},
}

// roundTo rounds v to kind k, nearest even; false when the result is not a
// normal number, an exact zero or an infinity that was there before. f64
// arithmetic carries more than twice the digits of the narrower formats, so that
// rounding its result gives the correctly rounded sum, product or quotient.
func roundTo(k loom.Kind, v float64) (float64, bool) {
	m, ok := formats[k]
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	if v == 0 {
		return v, true
	}
	frac, exp := math.Frexp(v) // |frac| in [0.5, 1)
	if exp-1 < m.minExp {
		return 0, false
	}
	r := math.Ldexp(math.RoundToEven(math.Ldexp(frac, m.precision)), exp-m.precision)
	if _, e := math.Frexp(r); e-1 > m.maxExp {
		return 0, false
	}
	return r, true
}

// floatBits returns the bits of v in kind k as a signed integer.
func floatBits(k loom.Kind, v float64) (int64, bool) {
	switch k {
	case loom.F64:
		return int64(math.Float64bits(v)), true
	case loom.F32:
		return int64(int32(math.Float32bits(float32(v)))), true
	}
	m, ok := formats[k]
	if !ok {
		return 0, false
	}
	sign := uint64(0)
	if math.Signbit(v) {
		sign = 1
	}
	width := k.Bits()
	mant := m.precision - 1
	var body uint64
	switch a := math.Abs(v); {
	case a == 0:
	case math.IsInf(a, 0):
		body = uint64(m.maxExp-m.minExp+2) << mant
	default:
		r, ok := roundTo(k, a)
		if !ok {
			return 0, false
		}
		frac, exp := math.Frexp(r)
		body = uint64(exp-1-m.minExp+1)<<mant | uint64(math.Ldexp(frac, m.precision))&(1<<mant-1)
	}
	return int64(int16(sign<<(width-1) | body)), true
}

// bitsFloat is the inverse of floatBits for zeros and normal numbers.
func bitsFloat(k loom.Kind, bits int64) (float64, bool) {
	var v float64
	switch k {
	case loom.F64:
		v = math.Float64frombits(uint64(bits))
	case loom.F32:
		v = float64(math.Float32frombits(uint32(bits)))
	default:
		m, ok := formats[k]
		if !ok {
			return 0, false
		}
		u, mant := uint64(bits)&0xffff, m.precision-1
		exp := int(u>>mant) & (m.maxExp - m.minExp + 3 - 1)
		f := u & (1<<mant - 1)
		switch {
		case exp == 0 && f == 0:
		case exp == 0 || exp > m.maxExp-m.minExp+1:
			return 0, false
		default:
			v = math.Ldexp(float64(1<<mant|f), exp-1+m.minExp-mant)
		}
		if u>>15 != 0 {
			v = -v
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) || v != 0 && math.Abs(v) < math.Ldexp(1, formats[k].minExp) {
		return 0, false
	}
	return v, true
}
