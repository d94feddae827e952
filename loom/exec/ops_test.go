package exec_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec"
)

// perItem runs a body that turns %v, the item's element of x, into %r, and
// returns the bits of every %r.
func perItem(t *testing.T, wg int, in, out, body string, x []uint64) []uint64 {
	t.Helper()
	text := fmt.Sprintf(`
kernel.def @k() {
  %%one = index.constant 1 : index
  %%wg = index.constant %[1]d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%wg, %%one, %%one) : index
} launch(%%x: buffer, %%y: buffer) {
  %%zero = index.constant 0 : offset
  %%item = kernel.workitem.id<x> : index
  %%xv = buffer.view %%x[%%zero] : buffer -> view<%[1]dx%[2]s>
  %%yv = buffer.view %%y[%%zero] : buffer -> view<%[1]dx%[3]s>
  %%v = view.load %%xv[%%item] : view<%[1]dx%[2]s> -> %[2]s
  %[4]s
  view.store %%r, %%yv[%%item] : %[3]s, view<%[1]dx%[3]s>
  kernel.return
}`, wg, in, out, body)
	ik, ok := loom.ScalarKind(in), loom.ScalarKind(out)
	xb, yb := make([]byte, wg*ik.Bytes()), make([]byte, wg*ok.Bytes())
	for i := range wg {
		exec.WriteElement(xb[i*ik.Bytes():], ik, x[i%len(x)])
	}
	k := closeKernel(t, text, "k", "gfx1151", 0, nil)
	launch(t, compile(t, k), nil, exec.Options{}, exec.BufferArg(xb), exec.BufferArg(yb))
	res := make([]uint64, wg)
	for i := range res {
		res[i] = exec.ReadElement(yb[i*ok.Bytes():], ok)
	}
	return res
}

func encode(k loom.Kind, vs ...float64) []uint64 {
	out := make([]uint64, len(vs))
	for i, v := range vs {
		out[i] = exec.EncodeFloat(k, v)
	}
	return out
}

var inf, nan = math.Inf(1), math.NaN()

// Float ops compute in float64 and round once to the type.
func TestFloatOps(t *testing.T) {
	xs := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.25, 0.001, 100, -7.75, 0.3, inf, -inf, nan, 1e-3, 12.5, 60}
	round := func(k loom.Kind, v float64) uint64 { return exec.EncodeFloat(k, v) }
	for name, ref := range map[string]func(float64) float64{
		"absf": math.Abs, "negf": func(x float64) float64 { return -x }, "ceilf": math.Ceil, "floorf": math.Floor, "truncf": math.Trunc,
		"roundf": math.Round, "roundevenf": math.RoundToEven, "sqrtf": math.Sqrt, "rsqrtf": func(x float64) float64 { return 1 / math.Sqrt(x) },
		"cbrtf": math.Cbrt, "expf": math.Exp, "exp2f": math.Exp2, "expm1f": math.Expm1, "logf": math.Log, "log2f": math.Log2, "log10f": math.Log10,
		"log1pf": math.Log1p, "sinf": math.Sin, "cosf": math.Cos, "tanf": math.Tan, "asinf": math.Asin, "acosf": math.Acos, "atanf": math.Atan,
		"sinhf": math.Sinh, "coshf": math.Cosh, "tanhf": math.Tanh, "asinhf": math.Asinh, "acoshf": math.Acosh, "atanhf": math.Atanh,
		"erff": math.Erf, "erfcf": math.Erfc, "logisticf": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"siluf": func(x float64) float64 { return x / (1 + math.Exp(-x)) }, "softplusf": func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		"signf": func(x float64) float64 {
			if x > 0 {
				return 1
			} else if x < 0 {
				return -1
			}
			return x
		},
	} {
		for _, typ := range []string{"f32", "f16", "bf16", "f64"} {
			k := loom.ScalarKind(typ)
			got := perItem(t, len(xs), typ, typ, fmt.Sprintf("%%r = scalar.%s %%v : %s", name, typ), encode(k, xs...))
			for i, x := range xs {
				v := exec.DecodeFloat(k, round(k, x))
				want := round(k, ref(v))
				g, w := exec.DecodeFloat(k, got[i]), exec.DecodeFloat(k, want)
				if name == "siluf" && math.IsInf(v, -1) {
					continue // -inf·0 by the definition x·logistic(x)
				}
				if got[i] != want && !(g != g && w != w) && math.Abs(g-w) > 1e-6*math.Abs(w) {
					t.Errorf("%s %s(%g) = %g, want %g", typ, name, v, g, w)
				}
			}
		}
	}
	if got := perItem(t, 4, "f32", "f32", "%r = scalar.sinturnsf %v : f32", encode(loom.F32, 0.25, 1000000.5, 0.75, 3)); exec.DecodeFloat(loom.F32, got[0]) != 1 || exec.DecodeFloat(loom.F32, got[2]) != -1 {
		t.Errorf("sin of quarter turns: %x", got)
	}
}

func TestMinMaxAndClampNaNPolicies(t *testing.T) {
	for _, c := range []struct {
		body string
		in   float64
		want float64
	}{
		{"%r = scalar.maxnumf %v, %c : f32", nan, 2}, {"%r = scalar.maximumf %v, %c : f32", nan, nan}, {"%r = scalar.minnumf %c, %v : f32", nan, 2},
		{"%r = scalar.minimumf %c, %v : f32", nan, nan}, {"%r = scalar.maxnumf %v, %c : f32", 3, 3}, {"%r = scalar.minnumf %v, %c : f32", 3, 2},
		{"%r = scalar.clampf<ordered> %v, %l, %c : f32", nan, nan}, {"%r = scalar.clampf<number> %v, %l, %c : f32", nan, -1},
		{"%r = scalar.clampf<ieee> %v, %l, %c : f32", nan, nan}, {"%r = scalar.clampf<number> %v, %l, %c : f32", 5, 2}, {"%r = scalar.clampf<ordered> %v, %l, %c : f32", -5, -1},
		{"%r = scalar.copysignf %c, %v : f32", -0.5, -2}, {"%r = scalar.remf %v, %c : f32", -5.5, -1.5}, {"%r = scalar.powf %v, %c : f32", 3, 9},
		{"%r = scalar.atan2f %v, %c : f32", 2, math.Pi / 4},
	} {
		pre := "%c = scalar.constant 2.0 : f32\n%l = scalar.constant -1.0 : f32\n"
		got := exec.DecodeFloat(loom.F32, perItem(t, 2, "f32", "f32", pre+c.body, encode(loom.F32, c.in))[0])
		if got != float64(float32(c.want)) && !(got != got && c.want != c.want) {
			t.Errorf("%s with %g: %g, want %g", c.body, c.in, got, c.want)
		}
	}
	z := perItem(t, 2, "f32", "f32", "%n = scalar.negf %v : f32\n%r = scalar.maximumf %n, %v : f32", encode(loom.F32, 0))
	if z[0] != 0 {
		t.Errorf("maximum of -0 and +0 is %#x", z[0])
	}
}

func TestComparisons(t *testing.T) {
	want := map[string][3]bool{ // less, equal, unordered
		"oeq": {false, true, false}, "ogt": {false, false, false}, "oge": {false, true, false}, "olt": {true, false, false}, "ole": {true, true, false},
		"one": {true, false, false}, "ord": {true, true, false}, "ueq": {false, true, true}, "ugt": {false, false, true}, "uge": {false, true, true},
		"ult": {true, false, true}, "ule": {true, true, true}, "une": {true, false, true}, "uno": {false, false, true},
	}
	for p, w := range want {
		for _, typ := range []string{"f32", "bf16"} {
			k := loom.ScalarKind(typ)
			got := perItem(t, 3, typ, "i1", fmt.Sprintf("%%c = scalar.constant 2.0 : %s\n%%r = scalar.cmpf %s, %%v, %%c : %s", typ, p, typ), encode(k, 1, 2, nan))
			for i := range 3 {
				if (got[i] != 0) != w[i] {
					t.Errorf("%s %s case %d: %d", typ, p, i, got[i])
				}
			}
		}
	}
	for p, w := range map[string][3]bool{
		"eq": {false, true, false}, "ne": {true, false, true}, "slt": {true, false, false}, "sle": {true, true, false}, "sgt": {false, false, true}, "sge": {false, true, true},
		"ult": {false, false, false}, "ule": {false, true, false}, "ugt": {true, false, true}, "uge": {true, true, true},
	} {
		for _, typ := range []string{"i8", "i16", "i32", "i64"} {
			k := loom.ScalarKind(typ)
			m := uint64(math.MaxUint64) >> (64 - k.Bits())
			got := perItem(t, 3, typ, "i1", fmt.Sprintf("%%c = scalar.constant 5 : %s\n%%r = scalar.cmpi %s, %%v, %%c : %s", typ, p, typ), []uint64{^uint64(2) & m, 5, 9})
			for i := range 3 {
				if (got[i] != 0) != w[i] {
					t.Errorf("%s %s case %d: %d", typ, p, i, got[i])
				}
			}
		}
	}
}

func TestIntegerOps(t *testing.T) {
	sx := func(v uint64, w int) int64 { return int64(v<<(64-w)) >> (64 - w) }
	xs := []uint64{0, 1, 7, 0x80, 0xff, 0x7f, 100, 0x35}
	ops := map[string]func(a, b uint64, w int) uint64{
		"addi": func(a, b uint64, _ int) uint64 { return a + b }, "subi": func(a, b uint64, _ int) uint64 { return a - b }, "muli": func(a, b uint64, _ int) uint64 { return a * b },
		"andi": func(a, b uint64, _ int) uint64 { return a & b }, "ori": func(a, b uint64, _ int) uint64 { return a | b }, "xori": func(a, b uint64, _ int) uint64 { return a ^ b },
		"shli": func(a, b uint64, _ int) uint64 { return a << b }, "shrui": func(a, b uint64, _ int) uint64 { return a >> b },
		"shrsi": func(a, b uint64, w int) uint64 { return uint64(sx(a, w) >> b) },
		"divsi": func(a, b uint64, w int) uint64 { return uint64(sx(a, w) / sx(b, w)) }, "divui": func(a, b uint64, _ int) uint64 { return a / b },
		"remsi": func(a, b uint64, w int) uint64 { return uint64(sx(a, w) % sx(b, w)) }, "remui": func(a, b uint64, _ int) uint64 { return a % b },
		"ceildivsi": func(a, b uint64, w int) uint64 {
			return uint64(int64(math.Ceil(float64(sx(a, w)) / float64(sx(b, w)))))
		},
		"ceildivui": func(a, b uint64, _ int) uint64 { return a/b + (a%b+b-1)/b },
		"floordivsi": func(a, b uint64, w int) uint64 {
			return uint64(int64(math.Floor(float64(sx(a, w)) / float64(sx(b, w)))))
		},
		"minsi": func(a, b uint64, w int) uint64 { return uint64(min(sx(a, w), sx(b, w))) }, "maxsi": func(a, b uint64, w int) uint64 { return uint64(max(sx(a, w), sx(b, w))) },
		"minui": func(a, b uint64, _ int) uint64 { return min(a, b) }, "maxui": func(a, b uint64, _ int) uint64 { return max(a, b) },
		"rotli": func(a, b uint64, w int) uint64 { return a<<b | a>>(uint64(w)-b) }, "rotri": func(a, b uint64, w int) uint64 { return a>>b | a<<(uint64(w)-b) },
	}
	for name, ref := range ops {
		for _, typ := range []string{"i8", "i16", "i32", "i64"} {
			w := loom.ScalarKind(typ).Bits()
			m := uint64(math.MaxUint64) >> (64 - w)
			x := make([]uint64, len(xs))
			for i, v := range xs {
				x[i] = uint64(int64(int8(v))) & m
			}
			got := perItem(t, len(x), typ, typ, fmt.Sprintf("%%c = scalar.constant 3 : %s\n%%r = scalar.%s %%v, %%c : %s", typ, name, typ), x)
			for i, v := range x {
				if want := ref(v, 3, w) & m; got[i] != want {
					t.Errorf("%s %s(%#x, 3) = %#x, want %#x", typ, name, v, got[i], want)
				}
			}
		}
	}
	for name, ref := range map[string]func(v uint64) uint64{
		"ctlzi": func(v uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(v))) }, "cttzi": func(v uint64) uint64 { return uint64(bits.TrailingZeros32(uint32(v))) },
		"ctpopi": func(v uint64) uint64 { return uint64(bits.OnesCount32(uint32(v))) }, "absi": func(v uint64) uint64 { return uint64(max(int32(v), -int32(v))) & math.MaxUint32 },
		"negi": func(v uint64) uint64 { return uint64(uint32(-int32(v))) },
		"signi": func(v uint64) uint64 {
			if v == 0 {
				return 0
			} else if int32(v) < 0 {
				return math.MaxUint32
			}
			return 1
		},
	} {
		x := []uint64{0, 1, 0xffffffff, 0x80000001, 1000}
		got := perItem(t, len(x), "i32", "i32", fmt.Sprintf("%%r = scalar.%s %%v : i32", name), x)
		for i, v := range x {
			if got[i] != ref(v) {
				t.Errorf("%s(%#x) = %#x, want %#x", name, v, got[i], ref(v))
			}
		}
	}
}

func TestUndefinedIntegerCornersAreDefinedHere(t *testing.T) {
	for _, c := range []struct {
		body string
		in   uint64
		want uint64
	}{
		{"%z = scalar.subi %v, %v : i32\n%r = scalar.divsi %v, %z : i32", 7, 0},
		{"%z = scalar.subi %v, %v : i32\n%r = scalar.remui %v, %z : i32", 7, 0},
		{"%m = scalar.constant -1 : i32\n%r = scalar.divsi %v, %m : i32", 0x80000000, 0x80000000},
		{"%r = scalar.shli %v, %v : i32", 33, 0},
		{"%r = scalar.shrsi %v, %m : i32", 0x80000000, 0xffffffff},
	} {
		body := c.body
		if strings.Contains(body, "%m :") && !strings.Contains(body, "%m =") {
			body = "%m = scalar.constant 40 : i32\n" + body
		}
		if got := perItem(t, 2, "i32", "i32", body, []uint64{c.in})[0]; got != c.want {
			t.Errorf("%s of %#x = %#x, want %#x", body, c.in, got, c.want)
		}
	}
}

func TestConversions(t *testing.T) {
	for _, c := range []struct {
		in, out, op string
		x, want     uint64
	}{
		{"i8", "i32", "scalar.extsi", 0x80, 0xffffff80}, {"i8", "i32", "scalar.extui", 0x80, 0x80}, {"i16", "i64", "scalar.extsi", 0xfffe, math.MaxUint64 - 1},
		{"i32", "i8", "scalar.trunci", 0x1234, 0x34}, {"i64", "i32", "scalar.trunci", 1 << 40, 0}, {"i1", "i32", "scalar.extui", 1, 1}, {"i1", "i32", "scalar.extsi", 1, math.MaxUint32},
		{"i32", "f32", "scalar.sitofp", math.MaxUint32, exec.EncodeFloat(loom.F32, -1)}, {"i32", "f32", "scalar.uitofp", math.MaxUint32, exec.EncodeFloat(loom.F32, 4294967296)},
		{"i64", "f16", "scalar.sitofp", 2049, exec.EncodeFloat(loom.F16, 2048)}, {"i64", "f32", "scalar.uitofp", 1<<60 + 1<<36 + 1, exec.EncodeFloat(loom.F32, 1<<60+1<<37)},
		{"f32", "i32", "scalar.fptosi", exec.EncodeFloat(loom.F32, -2.9), uint64(uint32(0xfffffffe))}, {"f32", "i32", "scalar.fptosi", exec.EncodeFloat(loom.F32, 3e9), math.MaxInt32},
		{"f32", "i32", "scalar.fptosi", exec.EncodeFloat(loom.F32, nan), 0}, {"f32", "i8", "scalar.fptoui", exec.EncodeFloat(loom.F32, -1), 0}, {"f32", "i8", "scalar.fptoui", exec.EncodeFloat(loom.F32, 300), 255},
		{"f32", "f16", "scalar.fptrunc", exec.EncodeFloat(loom.F32, 65520), 0x7c00}, {"f16", "f32", "scalar.extf", 1, exec.EncodeFloat(loom.F32, 0x1p-24)},
		{"f32", "bf16", "scalar.fptrunc", 0x3f808000, 0x3f80}, {"f32", "f8E4M3", "scalar.fptrunc", exec.EncodeFloat(loom.F32, 448), 0x7e}, {"f8E5M2", "f32", "scalar.extf", 0x7c, exec.EncodeFloat(loom.F32, inf)},
		{"f64", "f32", "scalar.fptrunc", math.Float64bits(1 + 0x1p-24 + 0x1p-40), 0x3f800001}, {"f32", "i32", "scalar.bitcast", 0xdeadbeef, 0xdeadbeef},
		{"i32", "index", "index.cast", math.MaxUint32, math.MaxUint64}, {"i32", "offset", "index.cast", math.MaxUint32, math.MaxUint32}, {"i1", "index", "index.cast", 1, 1}, {"i64", "index", "index.cast", 77, 77},
	} {
		if c.out == "index" || c.out == "offset" {
			got := perItem(t, 2, c.in, "i64", fmt.Sprintf("%%q = %s %%v : %s to %s\n%%r = index.cast %%q : %s to i64", c.op, c.in, c.out, c.out), []uint64{c.x})[0]
			if got != c.want {
				t.Errorf("%s %s to %s of %#x = %#x, want %#x", c.op, c.in, c.out, c.x, got, c.want)
			}
			continue
		}
		if got := perItem(t, 2, c.in, c.out, fmt.Sprintf("%%r = %s %%v : %s to %s", c.op, c.in, c.out), []uint64{c.x})[0]; got != c.want {
			t.Errorf("%s %s to %s of %#x = %#x, want %#x", c.op, c.in, c.out, c.x, got, c.want)
		}
	}
}

func TestIndexOps(t *testing.T) {
	pre := "%a = index.cast %v : i64 to index\n%c = index.constant 5 : index\n"
	for body, ref := range map[string]func(v int64) int64{
		"%q = index.add %a, %c : index": func(v int64) int64 { return v + 5 }, "%q = index.sub %a, %c : index": func(v int64) int64 { return v - 5 },
		"%q = index.mul %a, %c : index": func(v int64) int64 { return v * 5 }, "%q = index.div %a, %c : index": func(v int64) int64 { return v / 5 },
		"%q = index.rem %a, %c : index": func(v int64) int64 { return v % 5 }, "%q = index.madd %a, %c, %a : index": func(v int64) int64 { return v*5 + v },
		"%q = index.min %a, %c : index": func(v int64) int64 { return min(v, 5) }, "%q = index.max %a, %c : index": func(v int64) int64 { return max(v, 5) },
		"%q = index.andi %a, %c : index": func(v int64) int64 { return v & 5 }, "%q = index.shli %a, %c : index": func(v int64) int64 { return v << 5 },
		"%q = index.ctpopi %a : index": func(v int64) int64 { return int64(bits.OnesCount64(uint64(v))) }, "%q = index.cttzi %a : index": func(v int64) int64 { return int64(bits.TrailingZeros64(uint64(v))) },
	} {
		x := []uint64{1, 17, 1 << 40, 12345678901}
		got := perItem(t, len(x), "i64", "i64", pre+body+"\n%r = index.cast %q : index to i64", x)
		for i, v := range x {
			if int64(got[i]) != ref(int64(v)) {
				t.Errorf("%s of %d = %d, want %d", body, v, int64(got[i]), ref(int64(v)))
			}
		}
	}
	got := perItem(t, 2, "i64", "i64", pre+"%b = index.constant 12 : offset\n%q = index.scale %a, %b : index, offset -> offset\n%r = index.cast %q : offset to i64", []uint64{9})
	if got[0] != 108 {
		t.Errorf("scale: %d", got[0])
	}
}

func TestVectorStructure(t *testing.T) {
	// %v is an i32 whose bytes are 1, 2, 3, 4.
	const x = 0x04030201
	pre := "%one = vector.splat %v : vector<1xi32>\n%b = vector.bitcast %one : vector<1xi32> to vector<4xi8>\n%z = scalar.constant 0 : i32\n%z8 = scalar.constant 0 : i8\n"
	sum := "\n%p = vector.bitcast %q : vector<4xi8> to vector<1xi32>\n%r = vector.extract %p[0] : vector<1xi32> -> i32"
	for body, want := range map[string]uint64{
		"%q = vector.shuffle<[3, 2, 1, 0]> %b : vector<4xi8>":                                                                                                                                                                                                                          0x01020304,
		"%s = vector.slice %b[1] : vector<4xi8> -> vector<2xi8>\n%q = vector.concat<0> %s, %s : vector<2xi8>, vector<2xi8> -> vector<4xi8>":                                                                                                                                            0x03020302,
		"%e, %o = vector.deinterleave<0> %b : vector<4xi8> -> vector<2xi8>, vector<2xi8>\n%q = vector.concat<0> %e, %o : vector<2xi8>, vector<2xi8> -> vector<4xi8>":                                                                                                                   0x04020301,
		"%e, %o = vector.deinterleave<0> %b : vector<4xi8> -> vector<2xi8>, vector<2xi8>\n%q = vector.interleave<0> %o, %e : vector<2xi8>, vector<2xi8> -> vector<4xi8>":                                                                                                               0x03040102,
		"%n = scalar.constant 9 : i8\n%q = vector.insert %n into %b[2] : i8, vector<4xi8>":                                                                                                                                                                                             0x04090201,
		"%n = scalar.constant 9 : i8\n%i0 = index.cast %v : i32 to index\n%m = index.constant 4 : index\n%i = index.rem %i0, %m : index\n%q = vector.insert %n into %b[%i] : i8, vector<4xi8>":                                                                                         0x04030901,
		"%i0 = index.cast %v : i32 to index\n%m = index.constant 4 : index\n%i = index.rem %i0, %m : index\n%y = vector.extract %b[%i] : vector<4xi8> -> i8\n%q = vector.splat %y : vector<4xi8>":                                                                                      0x02020202,
		"%t = vector.constant 7 : vector<4xi8>\n%i = vector.from_elements %z8, %z8, %z8, %z8 : vector<4xi8>\n%q = vector.table.lookup %b[%i] : vector<4xi8>, vector<4xi8> -> vector<4xi8>":                                                                                             0x01010101,
		"%l = scalar.constant 3 : i8\n%st = scalar.constant 2 : i8\n%q = vector.iota %l step %st : vector<4xi8>":                                                                                                                                                                       0x09070503,
		"%w = vector.bitunpacku<4> %b : vector<4xi8> -> vector<8xi8>\n%q = vector.slice %w[0] : vector<8xi8> -> vector<4xi8>":                                                                                                                                                          0x00020001,
		"%w = vector.bitunpacku<3> %b : vector<4xi8> -> vector<8xi8>\n%q = vector.slice %w[2] : vector<8xi8> -> vector<4xi8>":                                                                                                                                                          0x06000100,
		"%w = vector.bitunpacku<4> %b : vector<4xi8> -> vector<8xi8>\n%q = vector.bitpack<4> %w : vector<8xi8> -> vector<4xi8>":                                                                                                                                                        x,
		"%w = vector.bitunpacks<2> %b : vector<4xi8> -> vector<16xi8>\n%q = vector.slice %w[0] : vector<16xi8> -> vector<4xi8>":                                                                                                                                                        0x00000001,
		"%w = vector.bitunpacks<2> %b : vector<4xi8> -> vector<16xi8>\n%q = vector.slice %w[8] : vector<16xi8> -> vector<4xi8>":                                                                                                                                                        0x000000ff,
		"%f = vector.bitfield.extractu %b {offset = 1, width = 2} : vector<4xi8> -> vector<4xi8>\n%q = vector.bitfield.insert %f into %b {offset = 4, width = 4} : vector<4xi8>, vector<4xi8>":                                                                                         0x24131201,
		"%m = vector.mask.range [%z to %c step %u] : i32 -> vector<4xi1>\n%k = vector.constant 9 : vector<4xi8>\n%q = vector.select %m, %k, %b : vector<4xi8>":                                                                                                                         0x04090909,
		"%t2 = vector.broadcast %b : vector<4xi8> -> vector<2x4xi8>\n%t3 = vector.transpose<[1, 0]> %t2 : vector<2x4xi8> -> vector<4x2xi8>\n%t4 = vector.extract %t3[1] : vector<4x2xi8> -> vector<2xi8>\n%q = vector.concat<0> %t4, %t4 : vector<2xi8>, vector<2xi8> -> vector<4xi8>": 0x02020202,
	} {
		got := perItem(t, 2, "i32", "i32", pre+"%c = scalar.constant 3 : i32\n%u = scalar.constant 1 : i32\n"+body+sum, []uint64{x})[0]
		if got != want {
			t.Errorf("%s: %#08x, want %#08x", body, got, want)
		}
	}
}

func TestVectorReductionsAndDots(t *testing.T) {
	pre := "%one = vector.splat %v : vector<1xi32>\n%b = vector.bitcast %one : vector<1xi32> to vector<4xi8>\n%z = scalar.constant 0 : i32\n%z8 = scalar.constant 0 : i8\n%acc = vector.splat %z : vector<1xi32>\n"
	for body, want := range map[string]uint64{
		"%y = vector.reduce<addi> %b, %z8 : vector<4xi8>, i8\n%r = scalar.extui %y : i8 to i32":                                                                                                                                                                                 0x01,
		"%y = vector.reduce<maxsi> %b, %z8 : vector<4xi8>, i8\n%r = scalar.extui %y : i8 to i32":                                                                                                                                                                                3,
		"%d = vector.dot4i<s8s8> %b, %b, %acc : vector<4xi8>, vector<4xi8>, vector<1xi32>\n%r = vector.extract %d[0] : vector<1xi32> -> i32":                                                                                                                                    1 + 4 + 9 + 25,
		"%d = vector.dot4i<u8s8> %b, %b, %acc : vector<4xi8>, vector<4xi8>, vector<1xi32>\n%r = vector.extract %d[0] : vector<1xi32> -> i32":                                                                                                                                    uint64(uint32(0xffffffff & (1 + 4 + 9 - 251*5 + (1 << 32)))),
		"%d = vector.dot4i<u8u8> %b, %b, %acc : vector<4xi8>, vector<4xi8>, vector<1xi32>\n%r = vector.extract %d[0] : vector<1xi32> -> i32":                                                                                                                                    1 + 4 + 9 + 251*251,
		"%d = vector.dot8i4<s4u4> %one, %one, %acc : vector<1xi32>\n%r = vector.extract %d[0] : vector<1xi32> -> i32":                                                                                                                                                           uint64(uint32(0xffffffff & (1 + 4 + 9 - 5*11 - 1*15 + (1 << 32)))),
		"%e = vector.sitofp %b : vector<4xi8> to vector<4xf32>\n%zf = scalar.constant 0.5 : f32\n%d = vector.dotf %e, %e, %zf : vector<4xf32>, vector<4xf32>, f32\n%r = scalar.fptosi %d : f32 to i32":                                                                          39,
		"%e = vector.sitofp %b : vector<4xi8> to vector<4xf16>\n%af = vector.constant 0.0 : vector<2xf32>\n%d = vector.dot2f %e, %e, %af : vector<4xf16>, vector<4xf16>, vector<2xf32>\n%d1 = vector.extract %d[1] : vector<2xf32> -> f32\n%r = scalar.fptosi %d1 : f32 to i32": 34,
		"%i = vector.extsi %b : vector<4xi8> to vector<4xi32>\n%sq = vector.muli %i, %i : vector<4xi32>\n%r = vector.reduce<addi> %sq, %z : vector<4xi32>, i32":                                                                                                                 39,
	} {
		got := perItem(t, 2, "i32", "i32", pre+body, []uint64{0xfb030201})[0]
		if got != want {
			t.Errorf("%s: %d, want %d", body, int32(got), int32(want))
		}
	}
}

func TestControlFlow(t *testing.T) {
	pre := "%z = index.constant 0 : index\n%one = index.constant 1 : index\n%i = index.cast %v : i32 to index\n%zi = scalar.constant 0 : i32\n%u = scalar.constant 1 : i32\n%ten = scalar.constant 10 : i32\n"
	collatz := func(n uint64) uint64 {
		s := uint64(0)
		for n > 1 {
			if n%2 == 0 {
				n /= 2
			} else {
				n = 3*n + 1
			}
			s++
		}
		return s
	}
	for name, c := range map[string]struct {
		body string
		ref  func(v uint64) uint64
	}{
		"for with a trip count per item": {`%r = scf.for %k = [%z to %i step %one] (%a = %zi : i32) -> (i32) {
  %ki = index.cast %k : index to i32
  %n = scalar.addi %a, %ki : i32
  scf.yield %n : i32
}`, func(v uint64) uint64 { return v * (v - min(v, 1)) / 2 }},
		"loop that swaps its values": {`%p, %r = scf.for %k = [%z to %i step %one] (%a = %u : i32, %b = %ten : i32) -> (i32, i32) {
  scf.yield %b, %a : i32, i32
}`, func(v uint64) uint64 { return []uint64{10, 1}[v%2] }},
		"while": {`%r, %q = scf.while (%s = %zi : i32, %n = %v : i32) -> (i32, i32) {
  %c = scalar.cmpi ugt, %n, %u : i32
  scf.condition %c, %s, %n : i1, i32, i32
} do(%s: i32, %n: i32) {
  %odd = scalar.andi %n, %u : i32
  %is = scalar.cmpi eq, %odd, %u : i32
  %m = scf.if %is -> (i32) {
    %three = scalar.constant 3 : i32
    %t = scalar.fmai %n, %three, %u : i32
    scf.yield %t : i32
  } else {
    %h = scalar.shrui %n, %u : i32
    scf.yield %h : i32
  }
  %s1 = scalar.addi %s, %u : i32
  scf.yield %s1, %m : i32, i32
}`, collatz},
		"switch": {`%r = scf.switch %i -> (i32) {
  case 1 {
    scf.yield %ten : i32
  }
  case 3 {
    scf.yield %u : i32
  }
  default {
    scf.yield %v : i32
  }
}`, func(v uint64) uint64 {
			switch v {
			case 1:
				return 10
			case 3:
				return 1
			}
			return v
		}},
		"lookup": {`%r = scf.lookup %i {2 = (%ten), 5 = (%u)} default(%zi) : i32`, func(v uint64) uint64 { return map[uint64]uint64{2: 10, 5: 1}[v] }},
		"select": {`%c = scalar.cmpi ugt, %v, %u : i32
%r = scf.select %c, %v, %ten : i32`, func(v uint64) uint64 {
			if v > 1 {
				return v
			}
			return 10
		}},
	} {
		x := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 27, 9, 2, 1}
		got := perItem(t, 48, "i32", "i32", pre+c.body, x)
		for i := range got {
			v := x[i%len(x)]
			if got[i] != c.ref(v) {
				t.Errorf("%s: f(%d) = %d, want %d", name, v, got[i], c.ref(v))
			}
		}
	}
}

// Blocks with labels: items take different paths and meet again.
func TestUnstructuredControlFlow(t *testing.T) {
	text := `
kernel.def @k() {
  %one = index.constant 1 : index
  %wg = index.constant 40 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%x: buffer, %y: buffer) {
  %zero = index.constant 0 : offset
  %item = kernel.workitem.id<x> : index
  %xv = buffer.view %x[%zero] : buffer -> view<40xi32>
  %yv = buffer.view %y[%zero] : buffer -> view<40xi32>
  %v = view.load %xv[%item] : view<40xi32> -> i32
  %u = scalar.constant 1 : i32
  %zi = scalar.constant 0 : i32
  %three = scalar.constant 3 : i32
  cfg.br ^head(%v: i32, %zi: i32)
^head(%n: i32, %s: i32):
  %c = scalar.cmpi ugt, %n, %u : i32
  cfg.cond_br %c, ^body, ^done
^body:
  %odd = scalar.andi %n, %u : i32
  %is = scalar.cmpi eq, %odd, %u : i32
  %s1 = scalar.addi %s, %u : i32
  cfg.cond_br %is, ^up, ^down
^up:
  %t = scalar.fmai %n, %three, %u : i32
  cfg.br ^head(%t: i32, %s1: i32)
^down:
  %h = scalar.shrui %n, %u : i32
  cfg.br ^head(%h: i32, %s1: i32)
^done:
  view.store %s, %yv[%item] : i32, view<40xi32>
  kernel.return
}`
	m := closeKernel(t, text, "k", "gfx1151", 0, nil)
	xb, yb := make([]byte, 160), make([]byte, 160)
	for i := range 40 {
		exec.WriteElement(xb[4*i:], loom.I32, uint64(i))
	}
	launch(t, compile(t, m), nil, exec.Options{}, exec.BufferArg(xb), exec.BufferArg(yb))
	for i := range 40 {
		n, want := i, uint64(0)
		for n > 1 {
			if n%2 == 0 {
				n /= 2
			} else {
				n = 3*n + 1
			}
			want++
		}
		if got := exec.ReadElement(yb[4*i:], loom.I32); got != want {
			t.Errorf("f(%d) = %d, want %d", i, got, want)
		}
	}
}

func TestSubgroupOps(t *testing.T) {
	pre := "%u = scalar.constant 1 : i32\n%three = scalar.constant 3 : i32\n%w = scalar.constant 32 : i32\n%w8 = scalar.constant 8 : i32\n%odd = scalar.andi %v, %u : i32\n%is = scalar.cmpi eq, %odd, %u : i32\n"
	sub := func(i int) (lo, hi int) { lo = i / 32 * 32; return lo, min(lo+32, 48) }
	for name, c := range map[string]struct {
		body string
		ref  func(i int) uint64
	}{
		"reduce": {"%r = kernel.subgroup.reduce<addi> %v : i32", func(i int) (s uint64) {
			for lo, hi := sub(i); lo < hi; lo++ {
				s += uint64(lo)
			}
			return s
		}},
		"clustered reduce":  {"%r = kernel.subgroup.reduce<maxsi> %v {cluster_size = 4} : i32", func(i int) uint64 { return uint64(i | 3) }},
		"strided clusters":  {"%r = kernel.subgroup.reduce<maxsi> %v {cluster_size = 2, cluster_stride = 8} : i32", func(i int) uint64 { return uint64(i | 8) }},
		"inclusive scan":    {"%r = kernel.subgroup.scan<addi> %u {direction = forward, mode = inclusive} : i32", func(i int) uint64 { return uint64(i%32 + 1) }},
		"exclusive reverse": {"%r = kernel.subgroup.scan<addi> %u {direction = reverse, mode = exclusive} : i32", func(i int) uint64 { _, hi := sub(i); return uint64(hi - 1 - i) }},
		"shuffle xor":       {"%r, %ok = kernel.subgroup.shuffle<xor> %v, %three, %w : i32, i32, i32", func(i int) uint64 { return uint64(i ^ 3) }},
		"shuffle up, segments of 8": {"%q, %ok = kernel.subgroup.shuffle<up> %v, %u, %w8 : i32, i32, i32\n%r = scf.select %ok, %q, %three : i32", func(i int) uint64 {
			if i%8 == 0 {
				return 3
			}
			return uint64(i - 1)
		}},
		"shuffle down past the end": {"%r, %ok = kernel.subgroup.shuffle<down> %v, %u, %w : i32, i32, i32", func(i int) uint64 {
			if i == 31 || i == 47 {
				return uint64(i)
			}
			return uint64(i + 1)
		}},
		"shuffle index": {"%r, %ok = kernel.subgroup.shuffle<index> %v, %three, %w : i32, i32, i32", func(i int) uint64 { return uint64(i/32*32 + 3) }},
		"broadcast":     {"%r = kernel.subgroup.broadcast %v from %three : i32, i32", func(i int) uint64 { return uint64(i/32*32 + 3) }},
		"broadcast first": {"%r = scf.if %is -> (i32) {\n%q = kernel.subgroup.broadcast.first %v : i32\nscf.yield %q : i32\n} else {\nscf.yield %three : i32\n}", func(i int) uint64 {
			if i%2 == 1 {
				return uint64(i/32*32 + 1)
			}
			return 3
		}},
		"ballot": {"%b = kernel.subgroup.vote.ballot %is : i1 -> i64\n%r = scalar.trunci %b : i64 to i32", func(i int) uint64 {
			if i < 32 {
				return 0xaaaaaaaa
			}
			return 0xaaaa
		}},
		"active mask": {"%b = kernel.subgroup.active.mask : i64\n%r = scalar.trunci %b : i64 to i32", func(i int) uint64 {
			if i < 32 {
				return 0xffffffff
			}
			return 0xffff
		}},
		"vote any, all":    {"%a = kernel.subgroup.vote.any %is : i1\n%o = kernel.subgroup.vote.all %is : i1\n%x1 = scalar.extui %a : i1 to i32\n%x2 = scalar.extui %o : i1 to i32\n%r = scalar.fmai %x1, %three, %x2 : i32", func(int) uint64 { return 3 }},
		"match any":        {"%b = kernel.subgroup.match.any %odd : i32 -> i64\n%t = scalar.trunci %b : i64 to i32\n%r = scalar.ctpopi %t : i32", func(i int) uint64 { lo, hi := sub(i); return uint64(hi-lo) / 2 }},
		"match all":        {"%b, %ok = kernel.subgroup.match.all %three : i32 -> i64, i1\n%r = scalar.extui %ok : i1 to i32", func(int) uint64 { return 1 }},
		"workgroup reduce": {"%r = kernel.workgroup.reduce<addi> %v : i32", func(int) uint64 { return 47 * 48 / 2 }},
		"workgroup scan":   {"%r = kernel.workgroup.scan<addi> %v {direction = forward, mode = exclusive} : i32", func(i int) uint64 { return uint64(i * (i - 1) / 2) }},
		"workgroup votes":  {"%n = kernel.workgroup.vote.count %is : i1 -> i32\n%a = kernel.workgroup.vote.any %is : i1\n%x1 = scalar.extui %a : i1 to i32\n%r = scalar.addi %n, %x1 : i32", func(int) uint64 { return 25 }},
		"ids":              {"%s = kernel.subgroup.id : index\n%l = kernel.subgroup.lane.id : index\n%z = kernel.subgroup.size : index\n%q = index.madd %s, %z, %l : index\n%r = index.cast %q : index to i32", func(i int) uint64 { return uint64(i) }},
		"exit":             {"kernel.exit %is : i1\n%r = kernel.subgroup.reduce<addi> %u : i32", nil},
	} {
		x := make([]uint64, 48)
		for i := range x {
			x[i] = uint64(i)
		}
		got := perItem(t, 48, "i32", "i32", pre+c.body, x)
		for i := range got {
			if c.ref == nil { // odd items left before the store
				lo, hi := sub(i)
				want := uint64(hi-lo) / 2
				if i%2 == 1 {
					want = 0
				}
				if got[i] != want {
					t.Errorf("%s: item %d has %d, want %d", name, i, got[i], want)
				}
				continue
			}
			if got[i] != c.ref(i)&math.MaxUint32 {
				t.Errorf("%s: item %d has %d, want %d", name, i, got[i], c.ref(i))
				break
			}
		}
	}
}
