package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// codingCases pair a schema-driven op with the arithmetic it stands for, which the
// executor runs.
var codingCases = []struct {
	name        string
	in, out     loom.Kind
	n           int
	body, plain string
	ulp         float64
	small       bool // moderate inputs, for which the order of sums does not matter
}{
	{name: "decode q8_0", in: loom.I8, out: loom.F32, n: 2048, body: `
  %s = encoding.define #ggml.q8_0 : encoding<schema>
  %v = vector.decode %x using %s {scale = %d : vector<1xf16>} : vector<8xi8>, encoding<schema> -> vector<8xf32>
`, plain: `
  %c = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %e = vector.extf %d : vector<1xf16> to vector<1xf32>
  %m = vector.broadcast %e : vector<1xf32> -> vector<8xf32>
  %v = vector.mulf %c, %m : vector<8xf32>
`},
	{name: "decode q4_0", in: loom.I8, out: loom.F32, n: 2048, body: `
  %h = vector.slice %x[0] : vector<8xi8> -> vector<4xi8>
  %s = encoding.define #ggml.q4_0 : encoding<schema>
  %v = vector.decode %h using %s {scale = %d : vector<1xf16>} : vector<4xi8>, encoding<schema> -> vector<8xf32>
`, plain: `
  %h = vector.slice %x[0] : vector<8xi8> -> vector<4xi8>
  %m4 = vector.constant 15 : vector<4xi8>
  %k4 = vector.constant 4 : vector<4xi8>
  %lo = vector.andi %h, %m4 : vector<4xi8>
  %hi = vector.shrui %h, %k4 : vector<4xi8>
  %q = vector.concat<0> %lo, %hi : vector<4xi8>, vector<4xi8> -> vector<8xi8>
  %b = vector.constant 8 : vector<8xi8>
  %c0 = vector.subi %q, %b : vector<8xi8>
  %c = vector.sitofp %c0 : vector<8xi8> to vector<8xf32>
  %e = vector.extf %d : vector<1xf16> to vector<1xf32>
  %m = vector.broadcast %e : vector<1xf32> -> vector<8xf32>
  %v = vector.mulf %c, %m : vector<8xf32>
`},
	{name: "decode 5-bit codes in groups with a minimum", in: loom.I8, out: loom.F32, n: 2048, body: `
  %w = vector.bitunpacku<5> %x5 : vector<5xi8> -> vector<8xi8>
  %pk = vector.bitpack<5> %w : vector<8xi8> -> vector<5xi8>
  %s = encoding.define #encoding.operand<element_format=u5, payload_elements=8, payload_packing=bitfield_stream, affine=scale_plus_min> : encoding<schema>
  %v = vector.decode %pk using %s {minimum = %d : vector<1xf16>, scale = %gg : vector<2xf32>} : vector<5xi8>, encoding<schema> -> vector<8xf32>
`, plain: `
  %w = vector.bitunpacku<5> %x5 : vector<5xi8> -> vector<8xi8>
  %c = vector.uitofp %w : vector<8xi8> to vector<8xf32>
  %g0 = vector.extract %gg[0] : vector<2xf32> -> f32
  %g1 = vector.extract %gg[1] : vector<2xf32> -> f32
  %gs = vector.from_elements %g0, %g0, %g0, %g0, %g1, %g1, %g1, %g1 : vector<8xf32>
  %t0 = vector.mulf %c, %gs : vector<8xf32>
  %e = vector.extf %d : vector<1xf16> to vector<1xf32>
  %m = vector.broadcast %e : vector<1xf32> -> vector<8xf32>
  %v = vector.addf %t0, %m : vector<8xf32>
`},
	{name: "decode signed nibbles, high ones first, with a zero point", in: loom.I8, out: loom.F32, n: 2048, body: `
  %h = vector.slice %x[0] : vector<8xi8> -> vector<4xi8>
  %s = encoding.define #encoding.operand<element_format=i4, payload_elements=2, payload_packing=big_endian_nibbles, affine=scale_plus_zero_point> : encoding<schema>
  %v = vector.decode %h using %s {scale = %gg : vector<2xf32>, zero_point = %d : vector<1xf16>} : vector<4xi8>, encoding<schema> -> vector<8xf32>
`, plain: `
  %h = vector.slice %x[0] : vector<8xi8> -> vector<4xi8>
  %w = vector.bitunpacks<4> %h : vector<4xi8> -> vector<8xi8>
  %q = vector.shuffle<[1, 0, 3, 2, 5, 4, 7, 6]> %w : vector<8xi8>
  %c = vector.sitofp %q : vector<8xi8> to vector<8xf32>
  %e = vector.extf %d : vector<1xf16> to vector<1xf32>
  %m = vector.broadcast %e : vector<1xf32> -> vector<8xf32>
  %t0 = vector.subf %c, %m : vector<8xf32>
  %g0 = vector.extract %gg[0] : vector<2xf32> -> f32
  %g1 = vector.extract %gg[1] : vector<2xf32> -> f32
  %gs = vector.from_elements %g0, %g0, %g0, %g0, %g1, %g1, %g1, %g1 : vector<8xf32>
  %v = vector.mulf %t0, %gs : vector<8xf32>
`},
	{name: "decode f8 out of words", in: loom.I8, out: loom.F32, n: 2048, body: `
  %y = vector.bitcast %x : vector<8xi8> to vector<2xi32>
  %s = encoding.define #encoding.f8e4m3 : encoding<schema>
  %v = vector.decode %y using %s : vector<2xi32>, encoding<schema> -> vector<8xf32>
`, plain: `
  %y = vector.bitcast %x : vector<8xi8> to vector<8xf8E4M3>
  %v = vector.extf %y : vector<8xf8E4M3> to vector<8xf32>
`},
	{name: "encode q8_0", in: loom.I8, out: loom.F32, n: 2048, body: `
  %f0 = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %k = vector.constant 0.375 : vector<8xf32>
  %f = vector.mulf %f0, %k : vector<8xf32>
  %s = encoding.define #ggml.q8_0 : encoding<schema>
  %c = vector.encode %f using %s {scale = %d : vector<1xf16>} : vector<8xf32>, encoding<schema> -> vector<8xi8>
  %v = vector.sitofp %c : vector<8xi8> to vector<8xf32>
`, plain: `
  %f0 = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %k = vector.constant 0.375 : vector<8xf32>
  %f = vector.mulf %f0, %k : vector<8xf32>
  %e = vector.extf %d : vector<1xf16> to vector<1xf32>
  %m = vector.broadcast %e : vector<1xf32> -> vector<8xf32>
  %q = vector.divf %f, %m : vector<8xf32>
  %r = vector.roundevenf %q : vector<8xf32>
  %lo = vector.constant -128.0 : vector<8xf32>
  %hi = vector.constant 127.0 : vector<8xf32>
  %b = vector.clampf<number> %r, %lo, %hi : vector<8xf32>
  %z = vector.constant 0.0 : vector<8xf32>
  %is0 = vector.cmpf oeq, %m, %z : vector<8xf32> -> vector<8xi1>
  %nan = vector.isnanf %q : vector<8xf32> -> vector<8xi1>
  %none = vector.ori %is0, %nan : vector<8xi1>
  %u = vector.select %none, %z, %b : vector<8xf32>
  %c = vector.fptosi %u : vector<8xf32> to vector<8xi8>
  %v = vector.sitofp %c : vector<8xi8> to vector<8xf32>
`},
	{name: "encode signed nibbles away from zero", in: loom.I8, out: loom.I32, n: 2048, body: `
  %f0 = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %k = vector.constant 0.125 : vector<8xf32>
  %f = vector.mulf %f0, %k : vector<8xf32>
  %s = encoding.define #encoding.operand<element_format=i4, payload_elements=8, payload_packing=little_endian_nibbles, rounding=nearest_away> : encoding<schema>
  %v = vector.encode %f using %s : vector<8xf32>, encoding<schema> -> vector<1xi32>
`, plain: `
  %f0 = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %k = vector.constant 0.125 : vector<8xf32>
  %f = vector.mulf %f0, %k : vector<8xf32>
  %r = vector.roundf %f : vector<8xf32>
  %lo = vector.constant -8.0 : vector<8xf32>
  %hi = vector.constant 7.0 : vector<8xf32>
  %b = vector.clampf<number> %r, %lo, %hi : vector<8xf32>
  %c = vector.fptosi %b : vector<8xf32> to vector<8xi32>
  %v = vector.bitpack<4> %c : vector<8xi32> -> vector<1xi32>
`},
	{name: "Hadamard with signs and scale", in: loom.I8, out: loom.F32, n: 2048, ulp: 2, body: `
  %f = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %z = vector.constant 0 : vector<8xi8>
  %n = vector.cmpi slt, %x, %z : vector<8xi8> -> vector<8xi1>
  %xf = encoding.define #numeric_transform<family="hadamard_sign", input_elems=8, normalization="orthonormal", output_elems=8> {signs = %n : vector<8xi1>} : encoding<transform>
  %v = vector.transform %f, %xf : vector<8xf32>, encoding<transform> -> vector<8xf32>
`, plain: `
  %f0 = vector.sitofp %x : vector<8xi8> to vector<8xf32>
  %f = vector.absf %f0 : vector<8xf32>
` + hadamardRows(8, "%f", "0.35355339059327373")},
	{name: "dense projection", in: loom.I8, out: loom.F32, n: 2048, body: `
  %f = vector.slice %fl[0] : vector<8xf32> -> vector<2xf32>
  %mm = vector.from_elements %a0, %a1, %a2, %a3, %a1, %a0 : vector<3x2xf32>
  %xf = encoding.define #numeric_transform<family="jl_dense", input_elems=2, output_elems=3> {matrix = %mm : vector<3x2xf32>} : encoding<transform>
  %v = vector.transform %f, %xf : vector<2xf32>, encoding<transform> -> vector<3xf32>
`, plain: `
  %pr0 = scalar.mulf %a0, %a0 : f32
  %p1 = scalar.mulf %a1, %a1 : f32
  %r0 = scalar.addf %pr0, %p1 : f32
  %p2 = scalar.mulf %a2, %a0 : f32
  %p3 = scalar.mulf %a3, %a1 : f32
  %r1 = scalar.addf %p2, %p3 : f32
  %p4 = scalar.mulf %a1, %a0 : f32
  %p5 = scalar.mulf %a0, %a1 : f32
  %r2 = scalar.addf %p4, %p5 : f32
  %v = vector.from_elements %r0, %r1, %r2 : vector<3xf32>
`},
}

// hadamardRows writes the n rows of a Hadamard transform of %f, scaled.
func hadamardRows(n int, f, scale string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %%hs = scalar.constant %s : f32\n", scale)
	for i := range n {
		fmt.Fprintf(&b, "  %%h%d = vector.extract %s[%d] : vector<%dxf32> -> f32\n", i, f, i, n)
	}
	var rows []string
	for j := range n {
		acc := "%h0"
		for i := 1; i < n; i++ {
			op := "addf"
			for x := i & j; x != 0; x &= x - 1 {
				op = map[string]string{"addf": "subf", "subf": "addf"}[op]
			}
			next := fmt.Sprintf("%%r%d_%d", j, i)
			fmt.Fprintf(&b, "  %s = scalar.%s %s, %%h%d : f32\n", next, op, acc, i)
			acc = next
		}
		fmt.Fprintf(&b, "  %%row%d = scalar.mulf %s, %%hs : f32\n", j, acc)
		rows = append(rows, fmt.Sprintf("%%row%d", j))
	}
	fmt.Fprintf(&b, "  %%v = vector.from_elements %s : vector<%dxf32>\n", strings.Join(rows, ", "), n)
	return b.String()
}

func TestEncodingOps(t *testing.T) {
	var s suite
	for _, c := range codingCases {
		lanes := 8
		for _, n := range []int{1, 3} {
			if strings.Contains(c.body, fmt.Sprintf("-> vector<%dx%s>\n", n, c.out)) {
				lanes = n
			}
		}
		wrap := func(body string) string {
			return single(fmt.Sprintf(`
  %%eight = index.constant 8 : index
  %%p = index.mul %%i, %%eight : index
  %%x = vector.load %%a[%%p] : view<%dx%s> -> vector<8x%s>
  %%x5 = vector.slice %%x[0] : vector<8xi8> -> vector<5xi8>
  %%d0 = vector.extract %%x[7] : vector<8xi8> -> i8
  %%d1 = scalar.sitofp %%d0 : i8 to f16
  %%d = vector.splat %%d1 : vector<1xf16>
  %%fl = vector.sitofp %%x : vector<8xi8> to vector<8xf32>
  %%a0 = vector.extract %%fl[0] : vector<8xf32> -> f32
  %%a1 = vector.extract %%fl[1] : vector<8xf32> -> f32
  %%a2 = vector.extract %%fl[2] : vector<8xf32> -> f32
  %%a3 = vector.extract %%fl[3] : vector<8xf32> -> f32
  %%gg = vector.slice %%fl[1] : vector<8xf32> -> vector<2xf32>
%s
  vector.store %%v, %%o[%%p] : vector<%dx%s>, view<%dx%s>`, c.n, c.in, c.in, strings.Trim(body, "\n"), lanes, c.out, c.n, c.out), c.in, c.out, c.n, 2, 64)
		}
		r := rand.New(rand.NewPCG(9, 5))
		s.add(c.name, trial{text: wrap(c.body), plain: wrap(c.plain), target: "gfx1151", wave: 32, args: []loomexec.Arg{
			loomexec.BufferArg(random(r, c.in, c.n)), loomexec.BufferArg(make([]byte, c.n*c.out.Bytes()))}},
			[]column{{buffer: 1, n: c.n, kind: c.out, ulp: c.ulp, abs: c.ulp * 1e-5, name: "out"}}, nil)
	}
	s.run(t)
	s.compileFor(t, allProcessors...)
}
