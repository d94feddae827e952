package exec_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/loomc/loomc/loom/exec"
)

// intMatrixText multiplies a 16×16 tile of integer codes. load makes %l and %q,
// the operands of the product, out of %av and %bv; words is the number of
// 32-bit registers of codes per lane, acc that of accumulator elements. Besides
// the tile the kernel stores what each lane holds.
func intMatrixText(wave, words, acc int, load, operands string) string {
	return fmt.Sprintf(`
kernel.def @mm() {
  %%one = index.constant 1 : index
  %%wg = index.constant %[1]d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%wg, %%one, %%one) : index
} launch(%%a: buffer, %%b: buffer, %%init: buffer, %%c: buffer, %%lanes: buffer) {
  %%zero = index.constant 0 : offset
  %%m16 = index.constant 16 : index
  %%item = kernel.workitem.id<x> : index
  %%rows = buffer.view %%a[%%zero] : buffer -> view<16x%[2]dxi32>
  %%cols = buffer.view %%b[%%zero] : buffer -> view<16x%[2]dxi32>
  %%abytes = buffer.view %%a[%%zero] : buffer -> view<16x16xi8>
  %%unit = index.constant 1 : index
  %%lay = encoding.layout.strided [%%unit, %%m16] : encoding<layout>
  %%bbytes = buffer.view %%b[%%zero] : buffer -> view<16x16xi8, %%lay>
  %%iv = buffer.view %%init[%%zero] : buffer -> view<16x16xi32>
  %%cv = buffer.view %%c[%%zero] : buffer -> view<16x16xi32>
  %%lv = buffer.view %%lanes[%%zero] : buffer -> view<%[1]dx%[3]dxi32>
  %%row = index.rem %%item, %%m16 : index
%[4]s
  %%acc = vector.fragment.load<init> %%iv[0, 0] shape [%%m16, %%m16] : view<16x16xi32> -> vector<%[3]dxi32>
  %%d = vector.mma %%l, %%q, %%acc : %[5]s
  vector.fragment.store<result> %%d, %%cv[0, 0] shape [%%m16, %%m16] : vector<%[3]dxi32>, view<16x16xi32>
  vector.store %%d, %%lv[%%item, 0] : vector<%[3]dxi32>, view<%[1]dx%[3]dxi32>
  kernel.return
}
`, wave, words, acc, load, operands)
}

// The registers of the ISA: lane l holds row (of b: column) l mod 16, its sixteen
// codes along k from the lowest bits up; lanes 16 and more repeat the first
// sixteen. Component i of a lane's accumulator is row groups·i + l/16, column
// l mod 16, with as many groups as the subgroup has sixteens of lanes.
//
// A is m at k = 0, all bits set at k = 1, one at k = 15 and zero elsewhere; B is
// 2, n and the highest bit there. So C[m][n] = init + 2·m + ones·n + top, where
// signedness decides what m, ones, n and top stand for.
func TestIntegerMatrixFragments(t *testing.T) {
	for _, bits := range []int{8, 4} {
		for _, wave := range []int{32, 64} {
			for _, sign := range []struct {
				a, b bool
				// The value of all bits set in A and of the highest bit in B, by width.
				ones, top map[int]int
			}{
				{true, true, map[int]int{8: -1, 4: -1}, map[int]int{8: -128, 4: -8}},
				{false, true, map[int]int{8: 255, 4: 15}, map[int]int{8: -128, 4: -8}},
				{true, false, map[int]int{8: -1, 4: -1}, map[int]int{8: 128, 4: 8}},
				{false, false, map[int]int{8: 255, 4: 15}, map[int]int{8: 128, 4: 8}},
			} {
				words, acc := bits*16/32, 16*16/wave
				name := func(signed bool) string { return map[bool]string{true: "i", false: "u"}[signed] + fmt.Sprint(bits) }
				load := fmt.Sprintf(`  %%sa = encoding.define #encoding.operand<element_format=%[2]s, payload_elements=16> : encoding<schema>
  %%sb = encoding.define #encoding.operand<element_format=%[3]s, payload_elements=16> : encoding<schema>
  %%ra = vector.load %%rows[%%row, 0] : view<16x%[1]dxi32> -> vector<%[1]dxi32>
  %%rb = vector.load %%cols[%%row, 0] : view<16x%[1]dxi32> -> vector<%[1]dxi32>
  %%l = vector.fragment<lhs> %%ra shape [%%m16, %%m16] using {schema = %%sa : encoding<schema>} : vector<%[1]dxi32>
  %%q = vector.fragment<rhs> %%rb shape [%%m16, %%m16] using {schema = %%sb : encoding<schema>} : vector<%[1]dxi32>`, words, name(sign.a), name(sign.b))
				code := func(v int, signed bool) int { // the value of the code of a small number
					if bits == 4 && signed && v > 7 {
						return v - 16
					}
					return v
				}
				operands := fmt.Sprintf("vector<%[1]dxi32>, vector<%[1]dxi32>, vector<%[2]dxi32>", words, acc)
				t.Run(fmt.Sprintf("%s·%s/wave%d", name(sign.a), name(sign.b), wave), func(t *testing.T) {
					intMatrix(t, bits, wave, words, acc, load, operands, func(m, n int) int {
						return 2*code(m, sign.a) + sign.ones[bits]*code(n, sign.b) + sign.top[bits]
					})
				})
			}
		}
	}
	// Codes loaded as bytes are signed unless a schema says otherwise.
	for _, wave := range []int{32, 64} {
		acc := 16 * 16 / wave
		load := `  %l = vector.fragment.load<lhs> %abytes[0, 0] shape [%m16, %m16] : view<16x16xi8> -> vector<16xi8>
  %q = vector.fragment.load<rhs> %bbytes[0, 0] shape [%m16, %m16] : view<16x16xi8, %lay> -> vector<16xi8>`
		t.Run(fmt.Sprintf("load/wave%d", wave), func(t *testing.T) {
			operands := fmt.Sprintf("vector<16xi8>, vector<16xi8>, vector<%dxi32>", acc)
			intMatrix(t, 8, wave, 4, acc, load, operands, func(m, n int) int { return 2*m - n - 128 })
		})
	}
}

func intMatrix(t *testing.T, bits, wave, words, acc int, load, operands string, product func(m, n int) int) {
	t.Helper()
	ones, top := byte(1<<bits-1), byte(1)<<(bits-1)
	a, b := make([]byte, 2*16*bits), make([]byte, 2*16*bits)
	put := func(buf []byte, line, k int, code byte) {
		at := line*2*bits + k*bits/8
		buf[at] |= code << (k * bits % 8)
	}
	init := make([]byte, 4*16*16)
	for i := range 16 {
		for k, c := range map[int][2]byte{0: {byte(i), 2}, 1: {ones, byte(i)}, 15: {1, top}} {
			put(a, i, k, c[0])
			put(b, i, k, c[1])
		}
		for j := range 16 {
			binary.LittleEndian.PutUint32(init[4*(16*i+j):], uint32(int32(1000*i-j)))
		}
	}
	c, lanes := make([]byte, 4*16*16), make([]byte, 4*16*16)
	k := closeKernel(t, intMatrixText(wave, words, acc, load, operands), "mm", "gfx1151", wave, nil)
	launch(t, compile(t, k), nil, exec.Options{}, exec.BufferArg(a), exec.BufferArg(b), exec.BufferArg(init), exec.BufferArg(c), exec.BufferArg(lanes))
	word := func(b []byte, i int) int { return int(int32(binary.LittleEndian.Uint32(b[4*i:]))) }
	for m := range 16 {
		for n := range 16 {
			if got, want := word(c, 16*m+n), 1000*m-n+product(m, n); got != want {
				t.Fatalf("c[%d][%d] = %d, want %d", m, n, got, want)
			}
		}
	}
	for l := range wave {
		for i := range acc {
			m, n := wave/16*i+l/16, l%16
			if got, want := word(lanes, l*acc+i), 1000*m-n+product(m, n); got != want {
				t.Fatalf("component %d of lane %d = %d, want c[%d][%d] = %d", i, l, got, m, n, want)
			}
		}
	}
}
