package exec

import (
	"math"
	"math/bits"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec/float"
)

// number is the element types that loops are instantiated for.
type number interface {
	~int32 | ~int64 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func addLoop[T number](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func subLoop[T number](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulLoop[T number](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func divLoop[T ~float32 | ~float64](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] / b[i]
	}
}

func minLoop[T ~int32 | ~int64 | ~uint32 | ~uint64](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func maxLoop[T ~int32 | ~int64 | ~uint32 | ~uint64](d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func logicLoop[T ~uint32 | ~uint64](op string, d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case "andi":
		for i := range d {
			d[i] = a[i] & b[i]
		}
	case "ori":
		for i := range d {
			d[i] = a[i] | b[i]
		}
	default:
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
	}
}

// cmpLoop writes the truth of an ordered comparison; with NaN operands every
// predicate but ne is false.
func cmpLoop[T number](pred string, d []uint32, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	switch pred {
	case "eq":
		for i := range d {
			d[i] = b2u(a[i] == b[i])
		}
	case "ne":
		for i := range d {
			d[i] = b2u(a[i] != b[i])
		}
	case "lt":
		for i := range d {
			d[i] = b2u(a[i] < b[i])
		}
	case "le":
		for i := range d {
			d[i] = b2u(a[i] <= b[i])
		}
	case "gt":
		for i := range d {
			d[i] = b2u(a[i] > b[i])
		}
	case "ge":
		for i := range d {
			d[i] = b2u(a[i] >= b[i])
		}
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Instruction bodies with a loop of their own.

func addU64(f *frame, d, a, b, _, n int) { addLoop(f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n]) }
func subU64(f *frame, d, a, b, _, n int) { subLoop(f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n]) }
func mulU64(f *frame, d, a, b, _, n int) { mulLoop(f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n]) }
func addU32(f *frame, d, a, b, _, n int) { addLoop(f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]) }
func subU32(f *frame, d, a, b, _, n int) { subLoop(f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]) }
func mulU32(f *frame, d, a, b, _, n int) { mulLoop(f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]) }
func addF32(f *frame, d, a, b, _, n int) { addLoop(f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]) }
func subF32(f *frame, d, a, b, _, n int) { subLoop(f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]) }
func mulF32(f *frame, d, a, b, _, n int) { mulLoop(f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]) }
func divF32(f *frame, d, a, b, _, n int) { divLoop(f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]) }
func addF64(f *frame, d, a, b, _, n int) { addLoop(f.f64[d:d+n], f.f64[a:a+n], f.f64[b:b+n]) }
func subF64(f *frame, d, a, b, _, n int) { subLoop(f.f64[d:d+n], f.f64[a:a+n], f.f64[b:b+n]) }
func mulF64(f *frame, d, a, b, _, n int) { mulLoop(f.f64[d:d+n], f.f64[a:a+n], f.f64[b:b+n]) }
func divF64(f *frame, d, a, b, _, n int) { divLoop(f.f64[d:d+n], f.f64[a:a+n], f.f64[b:b+n]) }

func maddI64(f *frame, d, a, b, c, n int) {
	D, A, B, C := f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n], f.u64[c:c+n]
	A, B, C = A[:len(D)], B[:len(D)], C[:len(D)]
	for i := range D {
		D[i] = A[i]*B[i] + C[i]
	}
}

func maddI32(f *frame, d, a, b, c, n int) {
	D, A, B, C := f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n], f.u32[c:c+n]
	A, B, C = A[:len(D)], B[:len(D)], C[:len(D)]
	for i := range D {
		D[i] = A[i]*B[i] + C[i]
	}
}

func fmaF32(f *frame, d, a, b, c, n int) {
	D, A, B, C := f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n], f.f32[c:c+n]
	A, B, C = A[:len(D)], B[:len(D)], C[:len(D)]
	for i := range D {
		s := float64(A[i])*float64(B[i]) + float64(C[i])
		u := math.Float64bits(s)
		if u&0x1fffffff != 0x10000000 && u>>52&0x7ff > 1023-126 {
			D[i] = float32(s)
			continue
		}
		D[i] = float.FMA32(A[i], B[i], C[i])
	}
}

func fmaF64(f *frame, d, a, b, c, n int) {
	D, A, B, C := f.f64[d:d+n], f.f64[a:a+n], f.f64[b:b+n], f.f64[c:c+n]
	for i := range D {
		D[i] = math.FMA(A[i], B[i], C[i])
	}
}

func cmpI64(pred string) flatFn {
	if pred[0] == 'u' {
		p := pred[1:]
		return func(f *frame, d, a, b, _, n int) { cmpLoop(p, f.u32[d:d+n], f.u64[a:a+n], f.u64[b:b+n]) }
	}
	p := pred
	if pred[0] == 's' {
		p = pred[1:]
	}
	return func(f *frame, d, a, b, _, n int) { cmpLoop(p, f.u32[d:d+n], f.i64[a:a+n], f.i64[b:b+n]) }
}

func cmpInt(pred string, k loom.Kind) flatFn {
	if wideKind(k) {
		return cmpI64(pred)
	}
	p := pred
	signed := pred[0] == 's'
	if pred != "eq" && pred != "ne" {
		p = pred[1:]
	}
	switch {
	case !signed:
		return func(f *frame, d, a, b, _, n int) { cmpLoop(p, f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]) }
	case k == loom.I32:
		return func(f *frame, d, a, b, _, n int) { cmpLoop(p, f.u32[d:d+n], f.i32[a:a+n], f.i32[b:b+n]) }
	}
	s := 32 - k.Bits()
	return func(f *frame, d, a, b, _, n int) {
		D, A, B := f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]
		for i := range D {
			x, y := int32(A[i]<<s), int32(B[i]<<s)
			var r bool
			switch p {
			case "lt":
				r = x < y
			case "le":
				r = x <= y
			case "gt":
				r = x > y
			case "ge":
				r = x >= y
			}
			D[i] = b2u(r)
		}
	}
}

// cmpFloat implements the fourteen float predicates: an o-predicate is the
// comparison, a u-predicate is true on NaN.
func cmpFloat(pred string, k loom.Kind) flatFn {
	plain := map[string]string{"oeq": "eq", "ogt": "gt", "oge": "ge", "olt": "lt", "ole": "le", "une": "ne"}
	if p, ok := plain[pred]; ok {
		switch k {
		case loom.F32:
			return func(f *frame, d, a, b, _, n int) { cmpLoop(p, f.u32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]) }
		case loom.F64:
			return func(f *frame, d, a, b, _, n int) { cmpLoop(p, f.u32[d:d+n], f.f64[a:a+n], f.f64[b:b+n]) }
		}
	}
	var test func(x, y float64) bool
	nan := func(x, y float64) bool { return x != x || y != y }
	switch pred {
	case "oeq":
		test = func(x, y float64) bool { return x == y }
	case "ogt":
		test = func(x, y float64) bool { return x > y }
	case "oge":
		test = func(x, y float64) bool { return x >= y }
	case "olt":
		test = func(x, y float64) bool { return x < y }
	case "ole":
		test = func(x, y float64) bool { return x <= y }
	case "one":
		test = func(x, y float64) bool { return x < y || x > y }
	case "ord":
		test = func(x, y float64) bool { return !nan(x, y) }
	case "ueq":
		test = func(x, y float64) bool { return x == y || nan(x, y) }
	case "ugt":
		test = func(x, y float64) bool { return !(x <= y) }
	case "uge":
		test = func(x, y float64) bool { return !(x < y) }
	case "ult":
		test = func(x, y float64) bool { return !(x >= y) }
	case "ule":
		test = func(x, y float64) bool { return !(x > y) }
	case "une":
		test = func(x, y float64) bool { return x != y }
	default: // uno
		test = nan
	}
	get := loader(k)
	return func(f *frame, d, a, b, _, n int) {
		for i := range n {
			f.u32[d+i] = b2u(test(get(f, a+i), get(f, b+i)))
		}
	}
}

// loader returns the reader of a float register word.
func loader(k loom.Kind) func(f *frame, i int) float64 {
	switch k {
	case loom.F64:
		return func(f *frame, i int) float64 { return f.f64[i] }
	case loom.F32:
		return func(f *frame, i int) float64 { return float64(f.f32[i]) }
	case loom.F16:
		return func(f *frame, i int) float64 { return float64(float.HalfToFloat32(f.u32[i])) }
	case loom.BF16:
		return func(f *frame, i int) float64 { return float64(float.BFloatToFloat32(f.u32[i])) }
	}
	fm := narrowFormat(k)
	return func(f *frame, i int) float64 { return fm.Value(f.u32[i]) }
}

// storer returns the writer of a float register word; it rounds once.
func storer(k loom.Kind) func(f *frame, i int, v float64) {
	switch k {
	case loom.F64:
		return func(f *frame, i int, v float64) { f.f64[i] = v }
	case loom.F32:
		return func(f *frame, i int, v float64) { f.f32[i] = float32(v) }
	}
	fm := narrowFormat(k)
	return func(f *frame, i int, v float64) { f.u32[i] = fm.Bits(v) }
}

func unaryFloat(k loom.Kind, op func(float64) float64) flatFn {
	switch k {
	case loom.F32:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.f32[d:d+n], f.f32[a:a+n]
			for i := range D {
				D[i] = float32(op(float64(A[i])))
			}
		}
	case loom.F64:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.f64[d:d+n], f.f64[a:a+n]
			for i := range D {
				D[i] = op(A[i])
			}
		}
	}
	get, put := loader(k), storer(k)
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			put(f, d+i, op(get(f, a+i)))
		}
	}
}

func binaryFloat(k loom.Kind, op func(x, y float64) float64) flatFn {
	if k == loom.F32 {
		return func(f *frame, d, a, b, _, n int) {
			D, A, B := f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]
			for i := range D {
				D[i] = float32(op(float64(A[i]), float64(B[i])))
			}
		}
	}
	get, put := loader(k), storer(k)
	return func(f *frame, d, a, b, _, n int) {
		for i := range n {
			put(f, d+i, op(get(f, a+i), get(f, b+i)))
		}
	}
}

func ternaryFloat(k loom.Kind, op func(x, y, z float64) float64) flatFn {
	get, put := loader(k), storer(k)
	return func(f *frame, d, a, b, c, n int) {
		for i := range n {
			put(f, d+i, op(get(f, a+i), get(f, b+i), get(f, c+i)))
		}
	}
}

// minNum and maxNum ignore a NaN operand; minimum and maximum pass it on. All
// four order −0 below +0.
func minNum(x, y float64) float64 {
	if x != x {
		return y
	}
	if y != y {
		return x
	}
	return min(x, y)
}

func maxNum(x, y float64) float64 {
	if x != x {
		return y
	}
	if y != y {
		return x
	}
	return max(x, y)
}

func minimum(x, y float64) float64 { return min(x, y) }
func maximum(x, y float64) float64 { return max(x, y) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func signf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // zero keeps its sign, NaN stays
}

// turns returns the angle of x turns, reduced so that whole turns are exact.
func turns(x float64) float64 { return 2 * math.Pi * (x - math.Round(x)) }

var unaryFloats = map[string]func(float64) float64{
	"absf": math.Abs, "negf": func(x float64) float64 { return -x }, "signf": signf,
	"ceilf": math.Ceil, "floorf": math.Floor, "truncf": math.Trunc, "roundf": math.Round, "roundevenf": math.RoundToEven,
	"sqrtf": math.Sqrt, "rsqrtf": func(x float64) float64 { return 1 / math.Sqrt(x) }, "cbrtf": math.Cbrt,
	"expf": math.Exp, "exp2f": math.Exp2, "expm1f": math.Expm1,
	"logf": math.Log, "log2f": math.Log2, "log10f": math.Log10, "log1pf": math.Log1p,
	"sinf": math.Sin, "cosf": math.Cos, "tanf": math.Tan,
	"sinturnsf": func(x float64) float64 { return math.Sin(turns(x)) },
	"costurnsf": func(x float64) float64 { return math.Cos(turns(x)) },
	"asinf":     math.Asin, "acosf": math.Acos, "atanf": math.Atan,
	"sinhf": math.Sinh, "coshf": math.Cosh, "tanhf": math.Tanh,
	"asinhf": math.Asinh, "acoshf": math.Acosh, "atanhf": math.Atanh,
	"erff": math.Erf, "erfcf": math.Erfc,
	"logisticf": logistic,
	"siluf":     func(x float64) float64 { return x * logistic(x) },
	"softplusf": func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
}

var binaryFloats = map[string]func(x, y float64) float64{
	"addf": func(x, y float64) float64 { return x + y },
	"subf": func(x, y float64) float64 { return x - y },
	"mulf": func(x, y float64) float64 { return x * y },
	"divf": func(x, y float64) float64 { return x / y },
	"remf": math.Mod, "powf": math.Pow, "atan2f": math.Atan2, "copysignf": math.Copysign,
	"minnumf": minNum, "maxnumf": maxNum, "minimumf": minimum, "maximumf": maximum,
}

func gelu(variant string, scale float64) func(float64) float64 {
	switch variant {
	case "tanh":
		return func(x float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		}
	case "logistic":
		return func(x float64) float64 { return x * logistic(scale*x) }
	}
	return func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }
}

func clamp(mode string) func(v, lo, hi float64) float64 {
	switch mode {
	case "number":
		return func(v, lo, hi float64) float64 { return minNum(maxNum(v, lo), hi) }
	case "ieee":
		return func(v, lo, hi float64) float64 { return minimum(maximum(v, lo), hi) }
	}
	return func(v, lo, hi float64) float64 {
		if v < lo {
			v = lo
		}
		if v > hi {
			v = hi
		}
		return v
	}
}

// Integers. Words hold the value zero-extended from its width.

type intOp func(x, y uint64, w uint) uint64

func sext(x uint64, w uint) int64 { return int64(x<<(64-w)) >> (64 - w) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

var binaryInts = map[string]intOp{
	"addi": func(x, y uint64, _ uint) uint64 { return x + y },
	"subi": func(x, y uint64, _ uint) uint64 { return x - y },
	"muli": func(x, y uint64, _ uint) uint64 { return x * y },
	"andi": func(x, y uint64, _ uint) uint64 { return x & y },
	"ori":  func(x, y uint64, _ uint) uint64 { return x | y },
	"xori": func(x, y uint64, _ uint) uint64 { return x ^ y },
	"shli": func(x, y uint64, w uint) uint64 {
		if y >= uint64(w) {
			return 0
		}
		return x << y
	},
	"shrui": func(x, y uint64, w uint) uint64 {
		if y >= uint64(w) {
			return 0
		}
		return x >> y
	},
	"shrsi": func(x, y uint64, w uint) uint64 { return uint64(sext(x, w) >> min(y, 63)) },
	"rotli": func(x, y uint64, w uint) uint64 {
		s := uint(y % uint64(w))
		return x<<s | x>>(w-s)
	},
	"rotri": func(x, y uint64, w uint) uint64 {
		s := uint(y % uint64(w))
		return x>>s | x<<(w-s)
	},
	"divsi": func(x, y uint64, w uint) uint64 {
		a, b := sext(x, w), sext(y, w)
		switch b {
		case 0:
			return 0
		case -1:
			return uint64(-a)
		}
		return uint64(a / b)
	},
	"remsi": func(x, y uint64, w uint) uint64 {
		a, b := sext(x, w), sext(y, w)
		if b == 0 || b == -1 {
			return 0
		}
		return uint64(a % b)
	},
	"divui": func(x, y uint64, _ uint) uint64 {
		if y == 0 {
			return 0
		}
		return x / y
	},
	"remui": func(x, y uint64, _ uint) uint64 {
		if y == 0 {
			return 0
		}
		return x % y
	},
	"ceildivsi": func(x, y uint64, w uint) uint64 {
		a, b := sext(x, w), sext(y, w)
		switch b {
		case 0:
			return 0
		case -1:
			return uint64(-a)
		}
		q := a / b
		if a%b != 0 && (a < 0) == (b < 0) {
			q++
		}
		return uint64(q)
	},
	"ceildivui": func(x, y uint64, _ uint) uint64 {
		if y == 0 {
			return 0
		}
		q := x / y
		if x%y != 0 {
			q++
		}
		return q
	},
	"floordivsi": func(x, y uint64, w uint) uint64 {
		a, b := sext(x, w), sext(y, w)
		switch b {
		case 0:
			return 0
		case -1:
			return uint64(-a)
		}
		return uint64(floorDiv(a, b))
	},
	"minsi": func(x, y uint64, w uint) uint64 { return uint64(min(sext(x, w), sext(y, w))) },
	"maxsi": func(x, y uint64, w uint) uint64 { return uint64(max(sext(x, w), sext(y, w))) },
	"minui": func(x, y uint64, _ uint) uint64 { return min(x, y) },
	"maxui": func(x, y uint64, _ uint) uint64 { return max(x, y) },
}

var unaryInts = map[string]func(x uint64, w uint) uint64{
	"absi": func(x uint64, w uint) uint64 {
		if v := sext(x, w); v < 0 {
			return uint64(-v)
		}
		return x
	},
	"negi": func(x uint64, _ uint) uint64 { return -x },
	"signi": func(x uint64, w uint) uint64 {
		switch v := sext(x, w); {
		case v > 0:
			return 1
		case v < 0:
			return ^uint64(0)
		}
		return 0
	},
	"ctlzi":  func(x uint64, w uint) uint64 { return uint64(bits.LeadingZeros64(x)) - uint64(64-w) },
	"cttzi":  func(x uint64, w uint) uint64 { return min(uint64(bits.TrailingZeros64(x)), uint64(w)) },
	"ctpopi": func(x uint64, _ uint) uint64 { return uint64(bits.OnesCount64(x)) },
}

func binaryInt(name string, k loom.Kind) flatFn {
	switch k {
	case loom.I64, loom.Index, loom.Offset:
		switch name {
		case "addi":
			return addU64
		case "subi":
			return subU64
		case "muli":
			return mulU64
		case "andi", "ori", "xori":
			return func(f *frame, d, a, b, _, n int) { logicLoop(name, f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n]) }
		case "minsi":
			return func(f *frame, d, a, b, _, n int) { minLoop(f.i64[d:d+n], f.i64[a:a+n], f.i64[b:b+n]) }
		case "maxsi":
			return func(f *frame, d, a, b, _, n int) { maxLoop(f.i64[d:d+n], f.i64[a:a+n], f.i64[b:b+n]) }
		}
		op := binaryInts[name]
		if op == nil {
			return nil
		}
		return func(f *frame, d, a, b, _, n int) {
			D, A, B := f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n]
			for i := range D {
				D[i] = op(A[i], B[i], 64)
			}
		}
	}
	switch name {
	case "andi", "ori", "xori":
		return func(f *frame, d, a, b, _, n int) { logicLoop(name, f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]) }
	}
	if k == loom.I32 {
		switch name {
		case "addi":
			return addU32
		case "subi":
			return subU32
		case "muli":
			return mulU32
		case "shli":
			return func(f *frame, d, a, b, _, n int) {
				D, A, B := f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]
				for i := range D {
					D[i] = A[i] << B[i]
				}
			}
		case "shrui":
			return func(f *frame, d, a, b, _, n int) {
				D, A, B := f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]
				for i := range D {
					D[i] = A[i] >> B[i]
				}
			}
		case "shrsi":
			return func(f *frame, d, a, b, _, n int) {
				D, A, B := f.i32[d:d+n], f.i32[a:a+n], f.u32[b:b+n]
				for i := range D {
					D[i] = A[i] >> B[i]
				}
			}
		case "minsi":
			return func(f *frame, d, a, b, _, n int) { minLoop(f.i32[d:d+n], f.i32[a:a+n], f.i32[b:b+n]) }
		case "maxsi":
			return func(f *frame, d, a, b, _, n int) { maxLoop(f.i32[d:d+n], f.i32[a:a+n], f.i32[b:b+n]) }
		}
	}
	op := binaryInts[name]
	if op == nil {
		return nil
	}
	w := uint(k.Bits())
	m := uint32(widthMask(k))
	return func(f *frame, d, a, b, _, n int) {
		D, A, B := f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n]
		for i := range D {
			D[i] = uint32(op(uint64(A[i]), uint64(B[i]), w)) & m
		}
	}
}

func unaryInt(name string, k loom.Kind) flatFn {
	op := unaryInts[name]
	if op == nil {
		return nil
	}
	w := uint(k.Bits())
	if wideKind(k) {
		return func(f *frame, d, a, _, _, n int) {
			for i := range n {
				f.u64[d+i] = op(f.u64[a+i], 64)
			}
		}
	}
	m := uint32(widthMask(k))
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			f.u32[d+i] = uint32(op(uint64(f.u32[a+i]), w)) & m
		}
	}
}

func unaryFloatFast(name string, k loom.Kind) flatFn {
	if k == loom.F32 {
		switch name {
		case "negf":
			return func(f *frame, d, a, _, _, n int) {
				D, A := f.u32[d:d+n], f.u32[a:a+n]
				for i := range D {
					D[i] = A[i] ^ 1<<31
				}
			}
		case "absf":
			return func(f *frame, d, a, _, _, n int) {
				D, A := f.u32[d:d+n], f.u32[a:a+n]
				for i := range D {
					D[i] = A[i] &^ (1 << 31)
				}
			}
		case "sqrtf":
			return func(f *frame, d, a, _, _, n int) {
				D, A := f.f32[d:d+n], f.f32[a:a+n]
				for i := range D {
					D[i] = float32(math.Sqrt(float64(A[i])))
				}
			}
		}
	}
	// Sign operations work on bits so that a NaN keeps its payload.
	if k != loom.F64 && (name == "negf" || name == "absf") {
		sign := uint32(1) << (k.Bits() - 1)
		if name == "negf" {
			return func(f *frame, d, a, _, _, n int) {
				for i := range n {
					f.u32[d+i] = f.u32[a+i] ^ sign
				}
			}
		}
		return func(f *frame, d, a, _, _, n int) {
			for i := range n {
				f.u32[d+i] = f.u32[a+i] &^ sign
			}
		}
	}
	if op := unaryFloats[name]; op != nil {
		return unaryFloat(k, op)
	}
	return nil
}

func binaryFloatFast(name string, k loom.Kind) flatFn {
	switch k {
	case loom.F32:
		switch name {
		case "addf":
			return addF32
		case "subf":
			return subF32
		case "mulf":
			return mulF32
		case "divf":
			return divF32
		case "maxnumf":
			return func(f *frame, d, a, b, _, n int) {
				D, A, B := f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]
				for i := range D {
					x, y := A[i], B[i]
					switch {
					case x > y || y != y:
						D[i] = x
					case y > x || x != x:
						D[i] = y
					default:
						D[i] = max(x, y)
					}
				}
			}
		case "minnumf":
			return func(f *frame, d, a, b, _, n int) {
				D, A, B := f.f32[d:d+n], f.f32[a:a+n], f.f32[b:b+n]
				for i := range D {
					x, y := A[i], B[i]
					switch {
					case x < y || y != y:
						D[i] = x
					case y < x || x != x:
						D[i] = y
					default:
						D[i] = min(x, y)
					}
				}
			}
		}
	case loom.F64:
		switch name {
		case "addf":
			return addF64
		case "subf":
			return subF64
		case "mulf":
			return mulF64
		case "divf":
			return divF64
		}
	}
	if op := binaryFloats[name]; op != nil {
		return binaryFloat(k, op)
	}
	return nil
}

func fmaFloat(k loom.Kind) flatFn {
	switch k {
	case loom.F32:
		return fmaF32
	case loom.F64:
		return fmaF64
	}
	return ternaryFloat(k, func(x, y, z float64) float64 { return float.OddSum(x*y, z) })
}

// Conversions.

func convertFloat(from, to loom.Kind) flatFn {
	switch {
	case from == loom.F16 && to == loom.F32:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.f32[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = float.HalfToFloat32(A[i])
			}
		}
	case from == loom.BF16 && to == loom.F32:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = A[i] << 16
			}
		}
	case from == loom.F32 && to == loom.F16:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.f32[a:a+n]
			for i := range D {
				D[i] = float.Float32ToHalf(A[i])
			}
		}
	case from == loom.F32 && to == loom.BF16:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.f32[a:a+n]
			for i := range D {
				D[i] = float.Float32ToBFloat(A[i])
			}
		}
	}
	get, put := loader(from), storer(to)
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			put(f, d+i, get(f, a+i))
		}
	}
}

// convertInt changes the width: signed extends with the sign, otherwise with
// zeros; narrowing drops bits.
func convertInt(from, to loom.Kind, signed bool) flatFn {
	w := uint(from.Bits())
	m := widthMask(to)
	fw, tw := wideKind(from), wideKind(to)
	switch {
	case fw && tw:
		return func(f *frame, d, a, _, _, n int) { copy(f.u64[d:d+n], f.u64[a:a+n]) }
	case fw:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.u64[a:a+n]
			for i := range D {
				D[i] = uint32(A[i] & m)
			}
		}
	case tw && signed:
		s := 64 - w
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.i64[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = int64(uint64(A[i])<<s) >> s
			}
		}
	case tw:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u64[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = uint64(A[i])
			}
		}
	case signed:
		s := 32 - w
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = uint32(int32(A[i]<<s)>>s) & uint32(m)
			}
		}
	}
	return func(f *frame, d, a, _, _, n int) {
		D, A := f.u32[d:d+n], f.u32[a:a+n]
		for i := range D {
			D[i] = A[i] & uint32(m)
		}
	}
}

func intToFloat(from, to loom.Kind, signed bool) flatFn {
	w := uint(from.Bits())
	if to == loom.F32 && from == loom.I32 && signed {
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.f32[d:d+n], f.i32[a:a+n]
			for i := range D {
				D[i] = float32(A[i])
			}
		}
	}
	fw := wideKind(from)
	get := func(f *frame, i int) uint64 {
		if fw {
			return f.u64[i]
		}
		return uint64(f.u32[i])
	}
	if to == loom.F32 {
		return func(f *frame, d, a, _, _, n int) {
			for i := range n {
				if signed {
					f.f32[d+i] = float32(sext(get(f, a+i), w))
				} else {
					f.f32[d+i] = float32(get(f, a+i))
				}
			}
		}
	}
	put := storer(to)
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			switch {
			case signed && to == loom.F64:
				put(f, d+i, float64(sext(get(f, a+i), w)))
			case signed:
				put(f, d+i, oddInt(sext(get(f, a+i), w)))
			default:
				put(f, d+i, oddUint(get(f, a+i), to))
			}
		}
	}
}

// oddInt and oddUint convert to float64; magnitudes past 2^53 are rounded to odd
// so that a second rounding to a narrow format is correct.
func oddInt(v int64) float64 {
	if v < 0 {
		return -oddMag(uint64(-v))
	}
	return oddMag(uint64(v))
}

func oddUint(v uint64, to loom.Kind) float64 {
	if to == loom.F64 {
		return float64(v)
	}
	return oddMag(v)
}

func oddMag(v uint64) float64 {
	if v>>53 == 0 {
		return float64(v)
	}
	s := uint(11 - bits.LeadingZeros64(v))
	rest := v & (1<<s - 1)
	v >>= s
	if rest != 0 {
		v |= 1
	}
	return math.Ldexp(float64(v), int(s))
}

// floatToInt truncates toward zero, saturates and takes NaN to 0.
func floatToInt(from, to loom.Kind, signed bool) flatFn {
	get := loader(from)
	w := to.Bits()
	m := widthMask(to)
	conv := func(v float64) uint64 {
		if v != v {
			return 0
		}
		v = math.Trunc(v)
		if signed {
			lim := math.Ldexp(1, w-1)
			switch {
			case v >= lim:
				return m >> 1
			case v < -lim:
				return (m>>1 + 1) & m
			}
			return uint64(int64(v)) & m
		}
		switch {
		case v <= 0:
			return 0
		case v >= math.Ldexp(1, w):
			return m
		}
		return uint64(v)
	}
	if wideKind(to) {
		return func(f *frame, d, a, _, _, n int) {
			for i := range n {
				f.u64[d+i] = conv(get(f, a+i))
			}
		}
	}
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			f.u32[d+i] = uint32(conv(get(f, a+i)))
		}
	}
}

// extractField takes width bits from bit offset.
func extractField(from, to loom.Kind, offset, width uint, signed bool) flatFn {
	fw, tw := wideKind(from), wideKind(to)
	m := widthMask(to)
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			var v uint64
			if fw {
				v = f.u64[a+i]
			} else {
				v = uint64(f.u32[a+i])
			}
			v = v >> offset & (1<<width - 1)
			if signed {
				v = uint64(sext(v, width))
			}
			v &= m
			if tw {
				f.u64[d+i] = v
			} else {
				f.u32[d+i] = uint32(v)
			}
		}
	}
}

// insertField writes the low width bits of a into b at bit offset.
func insertField(field, base loom.Kind, offset, width uint) flatFn {
	fw, bw := wideKind(field), wideKind(base)
	return func(f *frame, d, a, b, _, n int) {
		for i := range n {
			var v, x uint64
			if fw {
				v = f.u64[a+i]
			} else {
				v = uint64(f.u32[a+i])
			}
			fm := uint64(1<<width - 1)
			if bw {
				x = f.u64[b+i]
				f.u64[d+i] = x&^(fm<<offset) | v&fm<<offset
			} else {
				x = uint64(f.u32[b+i])
				f.u32[d+i] = uint32(x&^(fm<<offset)|v&fm<<offset) & uint32(widthMask(base))
			}
		}
	}
}

func classify(name string, k loom.Kind) flatFn {
	get := loader(k)
	return func(f *frame, d, a, _, _, n int) {
		for i := range n {
			v := get(f, a+i)
			var r bool
			switch name {
			case "isnanf":
				r = v != v
			case "isinff":
				r = math.IsInf(v, 0)
			default:
				r = v == v && !math.IsInf(v, 0)
			}
			f.u32[d+i] = b2u(r)
		}
	}
}

// oddFMA returns x·y + z rounded to odd; x and y have at most 26 mantissa bits.
func oddFMA(x, y, z float64) float64 { return float.OddSum(x*y, z) }
