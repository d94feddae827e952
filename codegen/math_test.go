package codegen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// hostCompilers are the C++ compilers the prelude must hold for.
func hostCompilers(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, c := range []string{"clang++-19", "g++"} {
		if p, err := exec.LookPath(c); err == nil {
			out = append(out, p)
		}
	}
	if out == nil {
		t.Skip("no C++ compiler is installed")
	}
	return out
}

// preludeText prints the parts that define the given names.
func preludeText(names ...string) string {
	n := &needs{parts: map[*part]bool{}, types: map[string]string{}}
	for _, name := range names {
		n.add(name)
	}
	return string(n.render(nil))
}

// mathCase is one function of the prelude with its reference and the error it
// documents.
type mathCase struct {
	name string
	ref  func(x float64) float64
	ulp  float64
	lo   float64 // smallest and largest argument that is tried, besides specials
	hi   float64
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func silu(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	return x * logistic(x)
}

func geluErf(x float64) float64 {
	if x < -100 {
		return math.Copysign(0, -1)
	}
	return 0.5 * x * math.Erfc(-x/math.Sqrt2)
}

func geluTanh(x float64) float64 {
	if x < -1e5 {
		return math.Copysign(0, -1)
	}
	return x * logistic(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))
}

func turns(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		_, fr := math.Modf(x)
		switch fr { // where the reference itself would round
		case 0:
			return f(0)
		case 0.5, -0.5:
			return math.Round(f(math.Pi))
		}
		fr -= math.Round(fr)
		q := math.Round(fr * 4)
		r := (fr - q/4) * 2 * math.Pi
		s, c := math.Sincos(r)
		isSin := f(0) == 0
		k := ((int(q) % 4) + 4) % 4
		if !isSin {
			k = (k + 1) % 4
		}
		return [4]float64{s, c, -s, -c}[k]
	}
}

var mathCases = []mathCase{
	{"exp", math.Exp, 1.5, -104, 89}, {"expm1", math.Expm1, 1.5, -20, 89}, {"exp2", math.Exp2, 1.5, -150, 128},
	{"log", math.Log, 1.5, 0, math.MaxFloat32}, {"log2", math.Log2, 1.5, 0, math.MaxFloat32}, {"log10", math.Log10, 2, 0, math.MaxFloat32},
	{"log1p", math.Log1p, 1.5, -1, math.MaxFloat32},
	{"sin", math.Sin, 1.5, -65536, 65536}, {"cos", math.Cos, 1.5, -65536, 65536}, {"tan", math.Tan, 3, -65536, 65536},
	{"sin", math.Sin, 2.5, -math.MaxFloat32, math.MaxFloat32}, {"cos", math.Cos, 2.5, -math.MaxFloat32, math.MaxFloat32},
	{"tan", math.Tan, 4, -math.MaxFloat32, math.MaxFloat32},
	{"sinturns", turns(math.Sin), 1.5, -1 << 24, 1 << 24}, {"costurns", turns(math.Cos), 1.5, -1 << 24, 1 << 24},
	{"asin", math.Asin, 2, -1, 1}, {"acos", math.Acos, 1.5, -1, 1}, {"atan", math.Atan, 2, -math.MaxFloat32, math.MaxFloat32},
	{"sinh", math.Sinh, 2.5, -90, 90}, {"cosh", math.Cosh, 2, -90, 90}, {"tanh", math.Tanh, 2, -20, 20},
	{"asinh", math.Asinh, 2.5, -math.MaxFloat32, math.MaxFloat32}, {"acosh", math.Acosh, 2.5, 1, math.MaxFloat32}, {"atanh", math.Atanh, 2.5, -1, 1},
	{"erf", math.Erf, 1.5, -5, 5}, {"erfc", math.Erfc, 6, -5, 10.2}, {"cbrt", math.Cbrt, 1, -math.MaxFloat32, math.MaxFloat32},
	{"sqrt", math.Sqrt, 0.5, 0, math.MaxFloat32}, {"rsqrt", func(x float64) float64 { return 1 / math.Sqrt(x) }, 1, 0, math.MaxFloat32},
	{"logistic", logistic, 2, -104, 104}, {"silu", silu, 3.5, -110, 100},
	{"softplus", func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 2.5, -104, 104},
	{"gelu_erf", geluErf, 8, -13, 20},
	{"gelu_tanh", geluTanh, 4, -10, 1e6},
}

// samples spreads arguments over all exponents of [lo, hi], evenly inside it, and
// around integers and specials.
func samples(lo, hi float64, n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	var out []float32
	add := func(v float64) {
		if v >= lo && v <= hi {
			out = append(out, float32(v))
		}
	}
	for range n {
		add(math.Ldexp(1+r.Float64(), r.IntN(278)-150) * float64(1-2*r.IntN(2)))
		if hi-lo < 1e9 {
			add(lo + (hi-lo)*r.Float64())
		}
		add((r.Float64() - 0.5) * 8)
		add((r.Float64() - 0.5) * 400)
	}
	for i := -300; i <= 300; i++ {
		add(float64(i) / 8)
		add(float64(i) * math.Pi / 4)
	}
	return out
}

var specials = []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32, 1, -1, 0x1p-126, 0x1p-127}

// ulps is the distance of got from the exact value in units of the last place of
// the exact value.
func ulps(got float32, ref float64) float64 {
	r := float32(ref)
	switch {
	case math.IsNaN(ref):
		if got != got {
			return 0
		}
		return math.Inf(1)
	case got != got:
		return math.Inf(1)
	case r == got:
		return 0
	case math.IsInf(float64(got), 0) || math.IsInf(float64(r), 0):
		if math.Abs(ref) > 0x1.ffffffp127*0.9999999 && math.Abs(float64(got)) > 0x1.fffffcp127 && (got > 0) == (ref > 0) {
			return 0.5 // at the very end of the range
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(ref)
	u := math.Ldexp(1, max(e-24, -149))
	return math.Abs(float64(got)-ref) / u
}

// runMath compiles a program that applies function number i of fns to the words
// of its input and returns the results.
func runMath(t *testing.T, cxx string, fns []string, args int) func(i int, xs ...[]float32) []float32 {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	ids := make([]string, len(fns))
	for i, f := range fns {
		ids[i] = "loom_" + f
	}
	b.WriteString("#include <cstdio>\n#include <cstdlib>\n")
	b.WriteString(preludeText(ids...))
	fmt.Fprintf(&b, "int main(int, char **argv) {\n  const int f = atoi(argv[1]);\n  loom_f32 x[%d];\n  while (fread(x, 4, %d, stdin) == %d) {\n    loom_f32 r = 0;\n    switch (f) {\n", args, args, args)
	for i, id := range ids {
		call := []string{"x[0]", "x[1]", "x[2]"}[:args]
		fmt.Fprintf(&b, "    case %d: r = %s(%s); break;\n", i, id, strings.Join(call, ", "))
	}
	b.WriteString("    }\n    fwrite(&r, 4, 1, stdout);\n  }\n}\n")
	src := filepath.Join(dir, "m.cpp")
	if err := os.WriteFile(src, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "m")
	if out, err := exec.Command(cxx, "-O2", "-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", src, "-o", exe, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%.4000s", cxx, err, out)
	}
	return func(i int, xs ...[]float32) []float32 {
		var in bytes.Buffer
		for j := range xs[0] {
			for _, x := range xs {
				binary.Write(&in, binary.LittleEndian, x[j])
			}
		}
		cmd := exec.Command(exe, fmt.Sprint(i))
		cmd.Stdin = &in
		raw, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, len(raw)/4)
		for j := range out {
			out[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
		}
		return out
	}
}

func TestMathAgainstFloat64(t *testing.T) {
	for _, cxx := range hostCompilers(t) {
		t.Run(filepath.Base(cxx), func(t *testing.T) {
			var names []string
			for _, c := range mathCases {
				names = append(names, c.name)
			}
			run := runMath(t, cxx, names, 1)
			for i, c := range mathCases {
				xs := append(samples(c.lo, c.hi, 4000), specials...)
				got := run(i, xs)
				type bad struct {
					x, g float32
					u    float64
				}
				var worst []bad
				most := 0.0
				for j, x := range xs {
					u := ulps(got[j], c.ref(float64(x)))
					if u > most && !math.IsInf(u, 0) {
						most = u
					}
					if u > c.ulp {
						worst = append(worst, bad{x, got[j], u})
					}
				}
				sort.Slice(worst, func(a, b int) bool { return worst[a].u > worst[b].u })
				if len(worst) > 0 {
					w := worst[0]
					t.Errorf("%s(%g) = %g, want %g: %.2f ulp, documented %.1f (%d of %d arguments)", c.name, w.x, w.g, c.ref(float64(w.x)), w.u, c.ulp, len(worst), len(xs))
				}
				t.Logf("%-10s %.2f ulp", c.name, most)
			}
		})
	}
}

func TestMathTwoArguments(t *testing.T) {
	cases := []struct {
		name string
		ref  func(a, b float64) float64
		ulp  float64
	}{
		{"pow", math.Pow, 2}, {"atan2", math.Atan2, 3}, {"fmod", math.Mod, 0},
	}
	for _, cxx := range hostCompilers(t) {
		t.Run(filepath.Base(cxx), func(t *testing.T) {
			run := runMath(t, cxx, []string{"pow", "atan2", "fmod"}, 2)
			r := rand.New(rand.NewPCG(3, 4))
			var a, b []float32
			for range 40000 {
				a = append(a, float32(math.Ldexp(1+r.Float64(), r.IntN(276)-150)), float32(r.Float64()*4), float32((r.Float64()-0.5)*100))
				b = append(b, float32(math.Ldexp(1+r.Float64(), r.IntN(276)-150)*float64(1-2*r.IntN(2))), float32((r.Float64()-0.5)*300), float32(r.IntN(41)-20))
			}
			for _, x := range specials {
				for _, y := range append([]float32{2, 3, -3, 0.5, 1e10}, specials...) {
					a, b = append(a, x), append(b, y)
				}
			}
			for i, c := range cases {
				got := run(i, a, b)
				most, bad := 0.0, 0
				for j := range a {
					ref := c.ref(float64(a[j]), float64(b[j]))
					u := ulps(got[j], ref)
					if ref == 0 && math.Signbit(ref) != math.Signbit(float64(got[j])) {
						u = math.Inf(1)
					}
					if u > c.ulp {
						if bad == 0 {
							t.Errorf("%s(%g, %g) = %g, want %g: %.2f ulp, documented %.1f", c.name, a[j], b[j], got[j], ref, u, c.ulp)
						}
						bad++
					}
					most = max(most, u)
				}
				t.Logf("%-10s %.2f ulp, %d of %d beyond the bound", c.name, most, bad, len(a))
			}
		})
	}
}
