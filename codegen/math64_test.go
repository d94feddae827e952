package codegen

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// math64Case is a double-precision function of the prelude, a reference written in
// C++ on long double, the bound it documents, and the arguments tried.
type math64Case struct {
	name   string
	ref    string // of x, and y
	ulp    float64
	lo, hi float64
}

var math64Cases = []math64Case{
	{"exp", "expl(x)", 1, -760, 720}, {"exp2", "exp2l(x)", 1, -1090, 1030}, {"expm1", "expm1l(x)", 1.5, -50, 720},
	{"log", "logl(x)", 1, 0, math.MaxFloat64}, {"log2", "log2l(x)", 1, 0, math.MaxFloat64}, {"log10", "log10l(x)", 1, 0, math.MaxFloat64},
	{"log1p", "log1pl(x)", 1.5, -1, math.MaxFloat64}, {"cbrt", "cbrtl(x)", 1, -math.MaxFloat64, math.MaxFloat64},
	{"sin", "sinl(x)", 1, -1e300, 1e300}, {"cos", "cosl(x)", 1, -1e300, 1e300}, {"tan", "tanl(x)", 2, -1e300, 1e300},
	{"sinturns", "turns(x, true)", 1, -1e6, 1e6}, {"costurns", "turns(x, false)", 1, -1e6, 1e6},
	{"asin", "asinl(x)", 1.5, -1, 1}, {"acos", "acosl(x)", 1.5, -1, 1}, {"atan", "atanl(x)", 1, -1e300, 1e300},
	{"sinh", "sinhl(x)", 2.5, -720, 720}, {"cosh", "coshl(x)", 2, -720, 720}, {"tanh", "tanhl(x)", 2.5, -30, 30},
	{"asinh", "asinhl(x)", 2.5, -1e300, 1e300}, {"acosh", "acoshl(x)", 2.5, 1, 1e300}, {"atanh", "atanhl(x)", 2.5, -1, 1},
	{"erf", "erfl(x)", 1.5, -7, 7}, {"erfc", "erfcl(x)", 4, -7, 28},
	{"logistic", "1 / (1 + expl(-x))", 2, -760, 760}, {"silu", "x == -INFINITY ? -0.0L : x / (1 + expl(-x))", 2.5, -760, 760},
	{"softplus", "x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x))", 2, -760, 760},
	{"gelu_erf", "x < -50 ? -0.0L : 0.5L * x * erfcl(-x * M_SQRT1_2l)", 5, -40, 40},
	{"gelu_tanh", "x < -50 ? -0.0L : x / (1 + expl(-2 * sqrtl(2 / M_PIl) * (x + 0.044715L * x * x * x)))", 2.5, -25, 25},
	{"rsqrt", "1 / sqrtl(x)", 1.5, 0, math.MaxFloat64}, {"sqrt", "sqrtl(x)", 0.5, 0, math.MaxFloat64},
	{"pow", "powl(x, y)", 1, -1e300, 1e300}, {"atan2", "atan2l(x, y)", 2, -1e300, 1e300}, {"fmod", "fmodl(x, y)", 0, -1e300, 1e300},
	{"gelu_logistic", "x == -INFINITY ? -0.0L : x / (1 + expl(-(long double)x * 1.75L))", 2.5, -400, 400},
}

// samples64 spreads arguments over [lo, hi]: evenly, and evenly by exponent.
func samples64(r *rand.Rand, lo, hi float64, n int) []float64 {
	specials := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, -2, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e-20, -1e-20, 1e-9, 1e20, 1e300,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 6381956970095103 * 0x1p797, 1e22, 0x1p30, 1073741823.5, math.Pi, math.Pi / 2}
	out := specials
	for range n {
		v := lo + (hi/2-lo/2)*r.Float64()*2
		if math.Abs(lo) > 1e4 || math.Abs(hi) > 1e4 {
			v = (2*r.Float64() - 1) * 100
			if lo >= 0 {
				v = math.Abs(v)
			}
		}
		w := math.Ldexp(1+r.Float64(), r.IntN(2090)-1070)
		if r.IntN(2) == 0 && lo < 0 {
			w = -w
		}
		u := math.Ldexp(1+r.Float64(), r.IntN(60)-40)
		if r.IntN(2) == 0 && lo < 0 {
			u = -u
		}
		near := 1 + (r.Float64()-0.5)*math.Ldexp(1, -r.IntN(50))
		out = append(out, v, w, u, near)
	}
	return out
}

func TestDoublePrecisionMath(t *testing.T) {
	for _, cxx := range hostCompilers(t) {
		t.Run(filepath.Base(cxx), func(t *testing.T) {
			dir := t.TempDir()
			var b, ids strings.Builder
			var names []string
			for i, c := range math64Cases {
				names = append(names, "loom_"+c.name+"_f64")
				call := "x"
				switch c.name {
				case "pow", "atan2", "fmod":
					call = "x, y"
				case "gelu_logistic":
					call = "x, 1.75"
				}
				fmt.Fprintf(&ids, "    case %d: got = loom_%s_f64(%s); want = %s; break;\n", i, c.name, call, c.ref)
			}
			b.WriteString(`#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#define M_PIl 3.141592653589793238462643383279502884L
#define M_SQRT1_2l 0.707106781186547524400844362104849039L
static long double turns(double x, bool sine) {
  double t = x - std::rint(x), n = std::rint(4 * t);
  long double a = (long double)(t - n / 4) * 2 * M_PIl;
  int q = (int)n & 3;
  if (!sine) q = (q + 1) & 3;
  long double v = (q & 1) ? cosl(a) : sinl(a);
  if (v == 0) return sine ? copysignl(0, x) : 0;
  return (q & 2) ? -v : v;
}
`)
			b.WriteString(preludeText(names...))
			b.WriteString(`int main(int, char **argv) {
  const int f = atoi(argv[1]);
  double in[2], out[3];
  while (fread(in, 8, 2, stdin) == 2) {
    const double x = in[0], y = in[1];
    (void)y;
    double got = 0;
    long double want = 0;
    switch (f) {
` + ids.String() + `    }
    const double w = (double)want;
    double ulp = 0;
    if (want != want || got != got) ulp = (want != want) == (got != got) ? 0 : INFINITY;
    else if (std::isinf(w) || std::isinf(got)) ulp = w == got ? 0 : fabsl(want) > 1.79769313486231e308L && std::fabs(got) > 1.79769313486231e308 ? 0.5 : INFINITY;
    else if (got == w && got == 0) ulp = std::signbit(got) == std::signbit(w) ? 0 : 1e6;
    else {
      int e;
      frexpl(want, &e);
      ulp = (double)(fabsl(got - want) / ldexpl(1, e - 53 < -1074 ? -1074 : e - 53));
    }
    out[0] = got, out[1] = w, out[2] = ulp;
    fwrite(out, 8, 3, stdout);
  }
}
`)
			src, exe := filepath.Join(dir, "m.cpp"), filepath.Join(dir, "m")
			if err := os.WriteFile(src, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(cxx, "-O2", "-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", src, "-o", exe, "-lm").CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%.4000s", cxx, err, out)
			}
			for i, c := range math64Cases {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				xs := samples64(r, c.lo, c.hi, 6000)
				ys := make([]float64, len(xs))
				for j := range ys {
					ys[j] = (r.Float64() - 0.5) * math.Ldexp(1, r.IntN(14)-2)
					switch r.IntN(6) {
					case 0:
						ys[j] = math.Round(ys[j])
					case 1:
						ys[j] = math.Ldexp(ys[j], r.IntN(2000)-1000)
					case 2:
						ys[j] = []float64{0, math.Copysign(0, -1), 1, -1, 2, 3, 0.5, math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(10)]
					}
				}
				in := make([]byte, 0, 16*len(xs))
				for j := range xs {
					in = binary.LittleEndian.AppendUint64(in, math.Float64bits(xs[j]))
					in = binary.LittleEndian.AppendUint64(in, math.Float64bits(ys[j]))
				}
				cmd := exec.Command(exe, fmt.Sprint(i))
				cmd.Stdin = strings.NewReader(string(in))
				raw, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				most, bad := 0.0, 0
				for j := range xs {
					f := func(k int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(raw[24*j+8*k:])) }
					if u := f(2); u > c.ulp {
						if bad == 0 {
							t.Errorf("%s(%g, %g) = %g (%x), want %g: %.3g ulp, documented %g", c.name, xs[j], ys[j], f(0), math.Float64bits(f(0)), f(1), u, c.ulp)
						}
						bad++
					} else {
						most = max(most, u)
					}
				}
				if bad > 0 {
					t.Errorf("%s: %d of %d arguments beyond the bound", c.name, bad, len(xs))
				}
				t.Logf("%-10s %.2f ulp", c.name, most)
			}
		})
	}
}
