package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/loom"
)

// TestWaveTargets compiles subgroup and workgroup operations for every kind of
// target and both wave sizes, one compiler run each: a sample of them, a greater one with
// LOOMC_TEST_WAVE.
func TestWaveTargets(t *testing.T) {
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip("clang-19 is not installed")
	}
	share := 160 // one of so many operations
	if os.Getenv("LOOMC_TEST_WAVE") != "" {
		share = 8
	}
	for _, c := range []struct {
		target string
		wave   int
	}{{"gfx1151", 32}, {"gfx1151", 64}, {"gfx1100", 32}, {"gfx1100", 64}, {"gfx1201", 32}, {"gfx1201", 64}, {"gfx942", 64}} {
		t.Run(fmt.Sprintf("%s/%d", c.target, c.wave), func(t *testing.T) {
			t.Parallel()
			var units []*codegen.Unit
			add := func(k loom.Kind, sh shape, ops []waveOp, items int) {
				var part []waveOp
				for _, o := range ops {
					if !o.whole || !sh.divergent {
						part = append(part, o)
					}
				}
				text, _ := waveKernel(k, sh, part, 1, items)
				text = inSpace(text, items, [3]int{items, 1, 1})
				n := len(units)
				units = append(units, emit(t, closeText(t, renamed(text, n), fmt.Sprintf("k%d", n), c.target, c.wave, nil), codegen.Options{NoHeader: true}))
			}
			r := rand.New(rand.NewPCG(1, uint64(c.wave)))
			pick := func(ops []waveOp) []waveOp {
				r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
				return ops[:(len(ops)+share-1)/share]
			}
			for i, k := range waveKinds {
				straight, holes := shapes[0], shapes[4]
				for j, sh := range []shape{straight, holes, straight} {
					ops := pick(waveOps(k, c.wave))
					for m := 0; m < len(ops); m += 64 {
						add(k, sh, ops[m:min(m+64, len(ops))], []int{2 * c.wave, 2 * c.wave, c.wave + 13}[j])
					}
				}
				ops := pick(groupOps(k))
				add(k, straight, ops, []int{8 * c.wave, 5*c.wave + 7, 16}[i%3])
			}
			compileFor(t, c.target, c.wave, codegen.Bundle(units...))
		})
	}
}

// compileFor compiles a text of ours for a processor.
func compileFor(t *testing.T, target string, wave int, text []byte) {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "k.hip")
	if err := os.WriteFile(src, text, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-x", "hip", "--offload-arch=" + target, "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
		"-O3", "-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-mcode-object-version=5"}
	if wave == 64 && target != "gfx942" {
		args = append(args, "-mwavefrontsize64")
	}
	if out, err := exec.Command("clang-19", append(args, src, "-o", filepath.Join(dir, "k.co"))...).CombinedOutput(); err != nil {
		t.Errorf("clang: %v\n%.3000s", err, out)
	}
}

// TestUniformSums compiles 64-bit sums over the subgroup of a value that all its
// lanes share, which clang 19 makes an illegal instruction of when it sits in
// scalar registers.
func TestUniformSums(t *testing.T) {
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip("clang-19 is not installed")
	}
	t.Parallel()
	for _, target := range []string{"gfx1151", "gfx1201", "gfx942"} {
		var units []*codegen.Unit
		for _, op := range []string{"kernel.subgroup.reduce<addi> %v", "kernel.subgroup.reduce<addi> %v {cluster_size = 8}", "kernel.subgroup.scan<addi> %v", "kernel.workgroup.reduce<addi> %v"} {
			for _, items := range []int{64, 44} {
				name := fmt.Sprintf("k%d", len(units))
				text := fmt.Sprintf(`kernel.def @%s() {
  %%one = index.constant 1 : index
  %%items = index.constant %d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%items, %%one, %%one) : index
} launch(%%src: buffer, %%dst: buffer) {
  %%origin = index.constant 0 : offset
  %%zero = index.constant 0 : index
  %%from = buffer.view %%src[%%origin] : buffer -> view<1xi64>
  %%to = buffer.view %%dst[%%origin] : buffer -> view<64xi64>
  %%item = kernel.workitem.id<x> : index
  %%v = view.load %%from[%%zero] : view<1xi64> -> i64
  %%sum = %s : i64
  view.store %%sum, %%to[%%item] : i64, view<64xi64>
  kernel.return
}
`, name, items, op)
				wave := 32
				if target == "gfx942" {
					wave = 64
				}
				units = append(units, emit(t, closeText(t, text, name, target, wave, nil), codegen.Options{NoHeader: true}))
			}
		}
		compileFor(t, target, units[0].WaveSize, codegen.Bundle(units...))
	}
}

// TestWaveInstructions holds exchanges of whole waves to code without workgroup
// memory, branches or waits for either: data moves between registers.
func TestWaveInstructions(t *testing.T) {
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip("clang-19 is not installed")
	}
	const scan = "RES = kernel.subgroup.scan<addf> VAL {direction = %s, mode = %s} : T"
	shuffle := func(mode string, off, width int) string {
		return fmt.Sprintf("%%wid# = scalar.constant %d : i32\n%%off# = scalar.constant %d : i32\nRES, %%ok# = kernel.subgroup.shuffle<%s> VAL, %%off#, %%wid# : T, i32, i32", width, off, mode)
	}
	for _, c := range []struct {
		target    string
		wave, max int // greatest number of instructions, loading and storing included
		ops       []string
	}{
		{"gfx1151", 32, 40, []string{"RES = kernel.subgroup.reduce<addf> VAL : T", "RES = kernel.subgroup.reduce<maxnumf> VAL {cluster_size = 8} : T",
			fmt.Sprintf(scan, "forward", "inclusive"), fmt.Sprintf(scan, "reverse", "exclusive"), shuffle("xor", 13, 16), shuffle("xor", 21, 32),
			shuffle("up", 3, 32), shuffle("down", 16, 32), shuffle("down", 2, 8), shuffle("index", 9, 32), "RES = kernel.subgroup.broadcast.first VAL : T"}},
		{"gfx1201", 64, 48, []string{"RES = kernel.subgroup.reduce<addf> VAL : T", "RES = kernel.subgroup.reduce<addf> VAL {cluster_size = 32} : T",
			fmt.Sprintf(scan, "forward", "exclusive"), fmt.Sprintf(scan, "reverse", "inclusive"), shuffle("xor", 45, 64), shuffle("index", 50, 64)}},
		{"gfx942", 64, 56, []string{"RES = kernel.subgroup.reduce<addf> VAL : T", "RES = kernel.subgroup.reduce<minnumf> VAL {cluster_size = 16} : T",
			fmt.Sprintf(scan, "forward", "exclusive"), fmt.Sprintf(scan, "reverse", "inclusive"), shuffle("xor", 9, 16), shuffle("index", 50, 64)}},
	} {
		var units []*codegen.Unit
		for i, op := range c.ops {
			for j, items := range []int{4 * c.wave, 3*c.wave + 16} {
				if j == 1 && (strings.Contains(op, "shuffle") || strings.Contains(op, "cluster_size = 32")) {
					continue
				}
				text, _ := waveKernel(loom.F32, shapes[0], []waveOp{{name: op, text: op, out: loom.F32}}, 1, items)
				n := 2*i + j
				units = append(units, emit(t, closeText(t, renamed(text, n), fmt.Sprintf("k%d", n), c.target, c.wave, nil), codegen.Options{NoHeader: true}))
			}
		}
		src := filepath.Join(t.TempDir(), "k.hip")
		if err := os.WriteFile(src, codegen.Bundle(units...), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"-x", "hip", "--offload-arch=" + c.target, "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
			"-O3", "-std=c++17", "-ffp-contract=off", "-S", "-o", "-", src}
		if c.wave == 64 && c.target != "gfx942" {
			args = append(args, "-mwavefrontsize64")
		}
		out, err := exec.Command("clang-19", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("clang: %v\n%.3000s", err, out)
		}
		for _, u := range units {
			_, body, _ := strings.Cut(string(out), "\n"+u.Symbol+":")
			body, _, ok := strings.Cut(body, "s_endpgm")
			if !ok {
				t.Fatalf("%s: no code", u.Symbol)
			}
			n := 0
			for l := range strings.Lines(body) {
				if f := strings.Fields(l); len(f) > 0 && strings.HasPrefix(l, "\t") && !strings.HasPrefix(f[0], ";") && !strings.HasPrefix(f[0], ".") {
					n++
					if strings.HasPrefix(f[0], "ds_") || strings.HasPrefix(f[0], "s_cbranch") || strings.HasPrefix(f[0], "scratch_") {
						t.Errorf("%s, wave %d, %d items: %s uses %s", c.target, c.wave, u.WorkgroupSize[0], c.ops[symbolNumber(u.Symbol)/2], f[0])
					}
				}
			}
			if n > c.max {
				t.Errorf("%s, wave %d, %d items: %s takes %d instructions, more than %d", c.target, c.wave, u.WorkgroupSize[0], c.ops[symbolNumber(u.Symbol)/2], n, c.max)
			}
		}
	}
}

// symbolNumber is n of the symbol kn.
func symbolNumber(s string) (n int) {
	fmt.Sscanf(s, "k%d", &n)
	return n
}
