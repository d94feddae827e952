package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/target"
)

// productText multiplies one tile of a shape: C[1] = A·B + C[0].
func productText(s target.MatrixShape) string {
	elem, n := s.Lhs, s.LhsLanes
	load := fmt.Sprintf(`  %%l = vector.fragment.load<lhs> %%a[%%z, %%z] shape [%%m, %%kk] : view<%[1]dx%[3]dx%[4]s> -> vector<%[5]dx%[4]s>
  %%r = vector.fragment.load<rhs> %%b[%%z, %%z] shape [%%kk, %%m] : view<%[3]dx%[1]dx%[4]s, %%lay> -> vector<%[5]dx%[4]s>
`, s.M, s.N, s.K, elem, n)
	operand := fmt.Sprintf("vector<%dx%s>", n, elem)
	if elem == "i4" { // two codes a byte, moved as words
		operand = fmt.Sprintf("vector<%dxi32>", max(n/8, 1))
		load = fmt.Sprintf(`  %%schema = encoding.define #encoding.operand<element_format=i4, payload_elements=%[1]d, payload_registers=%[2]d> : encoding<schema>
  %%lane = kernel.subgroup.lane.id : index
  %%w = index.constant %[2]d : index
  %%lanes = index.constant %[4]d : index
  %%own = index.rem %%lane, %%lanes : index
  %%q = index.mul %%own, %%w : index
  %%aw = buffer.view %%pa[%%base] : buffer -> view<256xi32>
  %%bw = buffer.view %%pb[%%base] : buffer -> view<256xi32>
  %%l0 = vector.load %%aw[%%q] : view<256xi32> -> %[3]s
  %%r0 = vector.load %%bw[%%q] : view<256xi32> -> %[3]s
  %%l = vector.fragment<lhs> %%l0 shape [%%m, %%kk] using {schema = %%schema : encoding<schema>} : %[3]s
  %%r = vector.fragment<rhs> %%r0 shape [%%kk, %%m] using {schema = %%schema : encoding<schema>} : %[3]s
`, n, max(n/8, 1), operand, s.M*s.K/n) // copies of the operand share lanes on gfx11
		elem = "i8"
	}
	return fmt.Sprintf(`kernel.def @k() {
  %%one = index.constant 1 : index
  %%n = index.constant %[7]d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%n, %%one, %%one) : index
} launch(%%pa: buffer, %%pb: buffer, %%pc: buffer) {
  %%base = index.constant 0 : offset
  %%z = index.constant 0 : index
  %%m = index.constant %[1]d : index
  %%kk = index.constant %[3]d : index
  %%lay = encoding.layout.strided [1, %[3]d] : encoding<layout>
  %%a = buffer.view %%pa[%%base] : buffer -> view<%[1]dx%[3]dx%[4]s>
  %%b = buffer.view %%pb[%%base] : buffer -> view<%[3]dx%[1]dx%[4]s, %%lay>
  %%c = buffer.view %%pc[%%base] : buffer -> view<%[2]dx%[1]dx%[5]s>
%[6]s  %%i = vector.fragment.load<init> %%c[%%z, %%z] shape [%%m, %%m] : view<%[2]dx%[1]dx%[5]s> -> vector<%[8]dx%[5]s>
  %%p = vector.mma %%l, %%r, %%i : %[9]s, %[9]s, vector<%[8]dx%[5]s>
  vector.fragment.store<result> %%p, %%c[%%m, %%z] shape [%%m, %%m] : vector<%[8]dx%[5]s>, view<%[2]dx%[1]dx%[5]s>
  kernel.return
}
`, s.M, 2*s.M, s.K, elem, s.Acc, load, s.Wave, s.AccLanes, operand)
}

// TestMatrixInstructions compiles a product of every shape of the targets that the
// installed clang knows, and looks for the one instruction it should become.
func TestMatrixInstructions(t *testing.T) {
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		t.Skip("clang-19 is not installed")
	}
	instr := regexp.MustCompile(`\tv_(wmma|mfma)_\w+`)
	for _, arch := range []string{"gfx1151", "gfx1201", "gfx90a", "gfx942"} {
		t.Run(arch, func(t *testing.T) {
			tg, _ := target.Lookup(arch)
			dir := t.TempDir()
			for _, wave := range tg.WaveSizes {
				var units []*codegen.Unit
				var shapes []target.MatrixShape
				for _, s := range tg.Matrix {
					// MI300's 8-bit floats are another format, so their products are plain code.
					if s.Wave != wave || skipped(s) || arch == "gfx942" && s.Lhs[:2] == "f8" {
						continue
					}
					k := closeText(t, renamed(productText(s), len(units)), fmt.Sprintf("k%d", len(units)), arch, wave, nil)
					units = append(units, emit(t, k, codegen.Options{NoHeader: true}))
					shapes = append(shapes, s)
				}
				if units == nil {
					continue
				}
				src, asm := filepath.Join(dir, "k.hip"), filepath.Join(dir, "k.s")
				if err := os.WriteFile(src, codegen.Bundle(units...), 0o644); err != nil {
					t.Fatal(err)
				}
				args := []string{"-x", "hip", "--offload-arch=" + arch, "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
					"-O3", "-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"}
				if wave == 64 && tg.Family != "gfx9" {
					args = append(args, "-mwavefrontsize64")
				}
				if out, err := exec.Command(clang, append(args, "-S", src, "-o", asm)...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%.3000s", err, out)
				}
				text, err := os.ReadFile(asm)
				if err != nil {
					t.Fatal(err)
				}
				if n := len(instr.FindAll(text, -1)); n < len(units) {
					t.Errorf("wave %d: %d matrix instructions for %d products of %v", wave, n, len(units), shapes)
				}
			}
		})
	}
}

// TestMatrixLayouts compares the plain C++ products, in the lane layouts of all
// processor families, with the executor. No tile is symmetric, so an element in a
// wrong lane shows. gfx950 is here for its deeper shapes, which the compilers at
// hand cannot compile for the device.
func TestMatrixLayouts(t *testing.T) {
	var s suite
	for _, arch := range []string{"gfx1151", "gfx1201", "gfx90a", "gfx942", "gfx950"} {
		tg, _ := target.Lookup(arch)
		for _, m := range tg.Matrix {
			if skipped(m) {
				continue
			}
			in, acc := kindOf(m.Lhs), kindOf(m.Acc)
			r := rand.New(rand.NewPCG(13, 5))
			args := []loomexec.Arg{loomexec.BufferArg(small(r, in, m.M*m.K)), loomexec.BufferArg(small(r, in, m.M*m.K)), loomexec.BufferArg(small(r, acc, 2*m.M*m.M))}
			name := fmt.Sprintf("%s %s, wave %d", arch, m, m.Wave)
			s.add(name, trial{text: productText(m), target: arch, wave: m.Wave, args: args},
				[]column{{buffer: 2, n: 2 * m.M * m.M, kind: acc, ulp: 4, abs: 0.1, name: "c"}}, nil)
			if m.Lhs == "i4" || m.Lhs[:2] == "f8" {
				continue
			}
			narrow := loom.F16 // converting store
			if acc.IsInt() {
				narrow = loom.I8
			}
			panel := append(args[:2:2], loomexec.BufferArg(make([]byte, m.M*m.M*narrow.Bytes())))
			s.add(name+" through workgroup memory", trial{text: panelText(m, narrow), target: arch, wave: m.Wave, args: panel},
				[]column{{buffer: 2, n: m.M * m.M, kind: narrow, ulp: 1, abs: 0.1, name: "c"}}, map[string]any{"order": "random", "quantum": 5, "seed": 2})
		}
	}
	s.run(t)
}

// panelText brings both sides into workgroup memory with padded rows, multiplies
// there and stores the product, narrowed, into a padded workgroup tile that is
// copied out.
func panelText(s target.MatrixShape, out loom.Kind) string {
	return fmt.Sprintf(`kernel.def @k() {
  %%one = index.constant 1 : index
  %%n = index.constant %[7]d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%n, %%one, %%one) : index
} launch(%%pa: buffer, %%pb: buffer, %%pc: buffer) {
  %%base = index.constant 0 : offset
  %%z = index.constant 0 : index
  %%one = index.constant 1 : index
  %%m = index.constant %[1]d : index
  %%kk = index.constant %[3]d : index
  %%items = index.constant %[7]d : index
  %%inputs = index.constant %[2]d : index
  %%outputs = index.constant %[9]d : index
  %%bytes = index.constant 16384 : offset
  %%item = kernel.workitem.id<x> : index
  %%la = buffer.alloca<workgroup> align(16) %%bytes : buffer
  %%lb = buffer.alloca<workgroup> align(16) %%bytes : buffer
  %%lc = buffer.alloca<workgroup> align(16) %%bytes : buffer
  %%rows = encoding.layout.strided [%[10]d, 1] : encoding<layout>
  %%columns = encoding.layout.strided [1, %[10]d] : encoding<layout>
  %%results = encoding.layout.strided [%[11]d, 1] : encoding<layout>
  %%ga = buffer.view %%pa[%%base] : buffer -> view<%[1]dx%[3]dx%[4]s>
  %%gb = buffer.view %%pb[%%base] : buffer -> view<%[1]dx%[3]dx%[4]s>
  %%gc = buffer.view %%pc[%%base] : buffer -> view<%[1]dx%[1]dx%[12]s>
  %%a = buffer.view %%la[%%base] : buffer -> view<%[1]dx%[3]dx%[4]s, %%rows>
  %%b = buffer.view %%lb[%%base] : buffer -> view<%[1]dx%[3]dx%[4]s, %%rows>
  %%bt = buffer.view %%lb[%%base] : buffer -> view<%[3]dx%[1]dx%[4]s, %%columns>
  %%c = buffer.view %%lc[%%base] : buffer -> view<%[1]dx%[1]dx%[12]s, %%results>
  scf.for %%i = [%%item to %%inputs step %%items] {
    %%row = index.div %%i, %%kk : index
    %%column = index.rem %%i, %%kk : index
    %%x = view.load %%ga[%%row, %%column] : view<%[1]dx%[3]dx%[4]s> -> %[4]s
    view.store %%x, %%a[%%row, %%column] : %[4]s, view<%[1]dx%[3]dx%[4]s, %%rows>
    %%y = view.load %%gb[%%row, %%column] : view<%[1]dx%[3]dx%[4]s> -> %[4]s
    view.store %%y, %%b[%%row, %%column] : %[4]s, view<%[1]dx%[3]dx%[4]s, %%rows>
  }
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %%l = vector.fragment.load<lhs> %%a[%%z, %%z] shape [%%m, %%kk] : view<%[1]dx%[3]dx%[4]s, %%rows> -> vector<%[5]dx%[4]s>
  %%r = vector.fragment.load<rhs> %%bt[%%z, %%z] shape [%%kk, %%m] : view<%[3]dx%[1]dx%[4]s, %%columns> -> vector<%[5]dx%[4]s>
  %%zero = vector.constant 0 : vector<%[8]dx%[6]s>
  %%p = vector.mma %%l, %%r, %%zero : vector<%[5]dx%[4]s>, vector<%[5]dx%[4]s>, vector<%[8]dx%[6]s>
  vector.fragment.store<result> %%p, %%c[%%z, %%z] shape [%%m, %%m] : vector<%[8]dx%[6]s>, view<%[1]dx%[1]dx%[12]s, %%results>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  scf.for %%i = [%%item to %%outputs step %%items] {
    %%row = index.div %%i, %%m : index
    %%column = index.rem %%i, %%m : index
    %%x = view.load %%c[%%row, %%column] : view<%[1]dx%[1]dx%[12]s, %%results> -> %[12]s
    view.store %%x, %%gc[%%row, %%column] : %[12]s, view<%[1]dx%[1]dx%[12]s>
  }
  kernel.return
}
`, s.M, s.M*s.K, s.K, s.Lhs, s.LhsLanes, s.Acc, s.Wave, s.AccLanes, s.M*s.M, s.K+8, s.M+3, out)
}

// skipped are shapes that no operand of the language fills: four 4-bit codes are
// half a register.
func skipped(m target.MatrixShape) bool { return m.Lhs == "i4" && m.LhsLanes == 4 }

func kindOf(name string) loom.Kind {
	if name == "i4" {
		return loom.I8
	}
	return loom.ScalarKind(name)
}

// repackText computes P = A·B and Q = repack(P)·B or A·repack(P), with the product
// narrowed to f16 on the way.
func repackText(role string, s target.MatrixShape) string {
	second := "%p2 = vector.mma %h, %r, %zero : OPERAND, OPERAND, ACC"
	if role == "rhs" {
		second = "%p2 = vector.mma %l, %h, %zero : OPERAND, OPERAND, ACC"
	}
	text := fmt.Sprintf(`kernel.def @k() {
  %%one = index.constant 1 : index
  %%n = index.constant %d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%n, %%one, %%one) : index
} launch(%%pa: buffer, %%pb: buffer, %%pc: buffer) {
  %%base = index.constant 0 : offset
  %%z = index.constant 0 : index
  %%m = index.constant 16 : index
  %%wid = kernel.subgroup.id : index
  %%row = index.mul %%wid, %%m : index
  %%lay = encoding.layout.strided [1, 16] : encoding<layout>
  %%a = buffer.view %%pa[%%base] : buffer -> view<32x16xf16>
  %%b = buffer.view %%pb[%%base] : buffer -> view<16x16xf16, %%lay>
  %%c = buffer.view %%pc[%%base] : buffer -> view<32x16xf32>
  %%zero = vector.constant 0.0 : ACC
  %%l = vector.fragment.load<lhs> %%a[%%row, %%z] shape [%%m, %%m] : view<32x16xf16> -> OPERAND
  %%r = vector.fragment.load<rhs> %%b[%%z, %%z] shape [%%m, %%m] : view<16x16xf16, %%lay> -> OPERAND
  %%p = vector.mma %%l, %%r, %%zero : OPERAND, OPERAND, ACC
  %%h = vector.fragment.repack<%s> %%p shape [%%m, %%m] : ACC -> OPERAND
  %s
  vector.fragment.store<result> %%p2, %%c[%%row, %%z] shape [%%m, %%m] : ACC, view<32x16xf32>
  kernel.return
}
`, 2*s.Wave, role, second)
	return strings.NewReplacer("ACC", fmt.Sprintf("vector<%dxf32>", s.AccLanes), "OPERAND", fmt.Sprintf("vector<%dxf16>", s.LhsLanes)).Replace(text)
}

// TestRepack turns a product into an operand of the next, on every family.
func TestRepack(t *testing.T) {
	var s suite
	for _, arch := range []string{"gfx1151", "gfx1201", "gfx942"} {
		tg, _ := target.Lookup(arch)
		for _, m := range tg.Matrix {
			if m.M != 16 || m.K != 16 || m.Lhs != "f16" || m.Acc != "f32" {
				continue
			}
			for _, role := range []string{"lhs", "rhs"} {
				r := rand.New(rand.NewPCG(17, 5))
				tr := trial{text: repackText(role, m), target: arch, wave: m.Wave, args: []loomexec.Arg{
					loomexec.BufferArg(small(r, loom.F16, 512)), loomexec.BufferArg(small(r, loom.F16, 256)), loomexec.BufferArg(make([]byte, 2048))}}
				s.add(fmt.Sprintf("%s repack to %s, wave %d", arch, role, m.Wave), tr, []column{{buffer: 2, n: 512, kind: loom.F32, ulp: 8, abs: 0.01, name: "c"}},
					map[string]any{"order": "random", "quantum": 5, "seed": 2})
			}
		}
	}
	s.run(t)
}
