package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

const lanes = 256

const f32 = loom.F32

// program collects ops of one element-wise kernel: every op reads lane values and
// writes its result to its own column of the output of its kind.
type program struct {
	body strings.Builder
	cols []column
	at   map[loom.Kind]int
}

// kernelText wraps the body: inputs a, b, c of kind in, one output buffer per kind.
func (p *program) text(in loom.Kind) string {
	var b strings.Builder
	b.WriteString(`kernel.def @k() {
  %one = index.constant 1 : index
  %four = index.constant 4 : index
  %n = index.constant 64 : index
  kernel.launch.config workgroups(%four, %one, %one) workgroup_size(%n, %one, %one) : index
} launch(%pa: buffer, %pb: buffer, %pc: buffer`)
	for _, k := range outputs {
		fmt.Fprintf(&b, ", %%out_%s: buffer", k)
	}
	b.WriteString(") {\n  %base = index.constant 0 : offset\n  %c64 = index.constant 64 : index\n")
	b.WriteString("  %g = kernel.workgroup.id<x> : index\n  %t = kernel.workitem.id<x> : index\n  %i = index.madd %g, %c64, %t : index\n")
	for _, x := range []string{"a", "b", "c"} {
		fmt.Fprintf(&b, "  %%v%s = buffer.view %%p%s[%%base] : buffer -> view<%dx%s>\n", x, x, lanes, in)
		fmt.Fprintf(&b, "  %%%s = view.load %%v%s[%%i] : view<%dx%s> -> %s\n", x, x, lanes, in, in)
	}
	for _, k := range outputs {
		fmt.Fprintf(&b, "  %%w_%s = buffer.view %%out_%s[%%base] : buffer -> view<%dx%dx%s>\n", k, k, columns, lanes, k)
	}
	b.WriteString(p.body.String())
	b.WriteString("  kernel.return\n}\n")
	return b.String()
}

const columns = 96

var outputs = []loom.Kind{loom.I1, loom.I8, loom.I16, loom.I32, loom.I64, loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64}

// op adds "%r = text" with result kind k and stores it.
func (p *program) op(name, text string, k loom.Kind, ulp float64) {
	if p.at == nil {
		p.at = map[loom.Kind]int{}
	}
	j := p.at[k]
	p.at[k]++
	r := fmt.Sprintf("%%r_%s_%d", k, j)
	fmt.Fprintf(&p.body, "  %s = %s\n  view.store %s, %%w_%s[%d, %%i] : %s, view<%dx%dx%s>\n", r, text, r, k, j, k, columns, lanes, k)
	for i, o := range outputs {
		if o == k {
			p.cols = append(p.cols, column{buffer: 3 + i, at: j * lanes, n: lanes, kind: k, ulp: ulp, name: name})
		}
	}
}

func (p *program) trial(s *suite, in loom.Kind) {
	r := rand.New(rand.NewPCG(7, uint64(in)))
	tr := trial{text: p.text(in), target: "gfx1151", wave: 32}
	for range 3 {
		tr.args = append(tr.args, loomexec.BufferArg(random(r, in, lanes)))
	}
	for _, k := range outputs {
		tr.args = append(tr.args, loomexec.BufferArg(make([]byte, columns*lanes*k.Bytes())))
	}
	s.add(in.String(), tr, p.cols, nil)
}

func TestFloatOps(t *testing.T) {
	var s suite
	exact1 := []string{"absf", "negf", "signf", "ceilf", "floorf", "truncf", "roundf", "roundevenf"}
	exact2 := []string{"addf", "subf", "mulf", "divf", "minnumf", "maxnumf", "minimumf", "maximumf", "copysignf"}
	near := map[string]float64{"sqrtf": 1, "rsqrtf": 2, "cbrtf": 2, "expf": 2, "exp2f": 2, "expm1f": 2, "logf": 3, "log2f": 3, "log10f": 3, "log1pf": 2,
		"sinf": 3, "cosf": 3, "tanf": 5, "sinturnsf": 2, "costurnsf": 2, "asinf": 3, "acosf": 3, "atanf": 3, "sinhf": 4, "coshf": 3, "tanhf": 3,
		"asinhf": 4, "acoshf": 4, "atanhf": 4, "erff": 3, "erfcf": 6, "logisticf": 3, "siluf": 5, "softplusf": 4}
	for _, k := range []loom.Kind{loom.F32, loom.F16, loom.BF16, loom.F64} {
		func() {
			var p program
			zero := 0.0
			for _, n := range exact1 {
				p.op(n, fmt.Sprintf("scalar.%s %%a : %s", n, k), k, zero)
			}
			for _, n := range exact2 {
				ulp := zero
				if strings.Contains(n, "num") {
					ulp = 0.25 // equal zeros may differ in sign
				}
				p.op(n, fmt.Sprintf("scalar.%s %%a, %%b : %s", n, k), k, ulp)
			}
			p.op("fmaf", fmt.Sprintf("scalar.fmaf %%a, %%b, %%c : %s", k), k, map[bool]float64{true: 1}[k == loom.BF16])
			p.op("remf", fmt.Sprintf("scalar.remf %%a, %%b : %s", k), k, 0)
			for _, m := range []string{"ordered", "number", "ieee"} {
				p.op("clampf "+m, fmt.Sprintf("scalar.clampf<%s> %%a, %%b, %%c : %s", m, k), k, 0.25)
			}
			for _, c := range loom.Enums["fpred"] {
				p.op("cmpf "+c, fmt.Sprintf("scalar.cmpf %s, %%a, %%b : %s", c, k), loom.I1, 0)
			}
			for _, c := range []string{"isnanf", "isinff", "isfinitef"} {
				p.op(c, fmt.Sprintf("scalar.%s %%a : %s", c, k), loom.I1, 0)
			}
			// In double precision the executor's own functions set the bound;
			// TestDoublePrecisionMath holds the prelude to a better reference.
			ref := 0.0
			if k == loom.F64 {
				ref = 16
			}
			for _, n := range sortedKeys(near) {
				p.op(n, fmt.Sprintf("scalar.%s %%a : %s", n, k), k, near[n]+ref)
			}
			p.op("powf", fmt.Sprintf("scalar.powf %%a, %%b : %s", k), k, 3+32*ref)
			p.op("atan2f", fmt.Sprintf("scalar.atan2f %%a, %%b : %s", k), k, 4)
			for _, v := range []string{"erf", "tanh", "logistic"} {
				p.op("geluf "+v, fmt.Sprintf("scalar.geluf<%s> %%a : %s", v, k), k, 128)
			}
			for i := range p.cols {
				if n := p.cols[i].name; strings.Contains(n, "turns") || strings.Contains(n, "gelu") {
					p.cols[i].abs = 1e-9 // the reference rounds its argument, or cancels in the tail
				}
			}
			p.trial(&s, k)
		}()
	}
	s.run(t)
	s.compileFor(t, allProcessors...)
}

func sortedKeys(m map[string]float64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

func TestIntOps(t *testing.T) {
	var s suite
	two := []string{"addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"}
	one := []string{"absi", "negi", "signi", "ctlzi", "cttzi", "ctpopi"}
	for _, k := range []loom.Kind{loom.I8, loom.I16, loom.I32, loom.I64} {
		func() {
			var p program
			for _, n := range two {
				p.op(n, fmt.Sprintf("scalar.%s %%a, %%b : %s", n, k), k, 0)
			}
			for _, n := range one {
				p.op(n, fmt.Sprintf("scalar.%s %%a : %s", n, k), k, 0)
			}
			p.op("fmai", fmt.Sprintf("scalar.fmai %%a, %%b, %%c : %s", k), k, 0)
			for _, c := range loom.Enums["ipred"] {
				p.op("cmpi "+c, fmt.Sprintf("scalar.cmpi %s, %%a, %%b : %s", c, k), loom.I1, 0)
			}
			// Divisors are not zero; shift amounts are below the width.
			fmt.Fprintf(&p.body, "  %%k1 = scalar.constant 1 : %s\n  %%d = scalar.ori %%b, %%k1 : %s\n", k, k)
			fmt.Fprintf(&p.body, "  %%km = scalar.constant %d : %s\n  %%s = scalar.andi %%b, %%km : %s\n", k.Bits()-1, k, k)
			for _, n := range []string{"divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"} {
				p.op(n, fmt.Sprintf("scalar.%s %%a, %%d : %s", n, k), k, 0)
			}
			for _, n := range []string{"shli", "shrui", "shrsi", "rotli", "rotri"} {
				p.op(n, fmt.Sprintf("scalar.%s %%a, %%s : %s", n, k), k, 0)
			}
			for _, f := range [][2]int{{0, 4}, {2, 5}, {k.Bits() - 3, 3}} {
				for _, s := range []string{"u", "s"} {
					for _, r := range []loom.Kind{loom.I8, loom.I32, loom.I64} {
						if r.Bits() <= k.Bits() || r == loom.I32 {
							p.op(fmt.Sprintf("bitfield.extract%s %v", s, f), fmt.Sprintf("scalar.bitfield.extract%s %%a {offset = %d, width = %d} : %s -> %s", s, f[0], f[1], k, r), r, 0)
						}
					}
				}
			}
			p.trial(&s, k)
		}()
	}
	s.run(t)
}

func TestConversions(t *testing.T) {
	var s suite
	ints := []loom.Kind{loom.I8, loom.I16, loom.I32, loom.I64}
	floats := []loom.Kind{loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64}
	for _, from := range append(append([]loom.Kind{}, ints...), floats...) {
		func() {
			var p program
			for _, to := range ints {
				switch {
				case from.IsInt() && to.Bits() > from.Bits():
					p.op("extsi "+to.String(), fmt.Sprintf("scalar.extsi %%a : %s to %s", from, to), to, 0)
					p.op("extui "+to.String(), fmt.Sprintf("scalar.extui %%a : %s to %s", from, to), to, 0)
				case from.IsInt() && to.Bits() < from.Bits():
					p.op("trunci "+to.String(), fmt.Sprintf("scalar.trunci %%a : %s to %s", from, to), to, 0)
				case from.IsFloat() && from.Bits() == to.Bits():
					p.op("bitcast "+to.String(), fmt.Sprintf("scalar.bitcast %%a : %s to %s", from, to), to, 0)
				}
			}
			for _, to := range floats {
				switch {
				case from.IsInt():
					p.op("sitofp "+to.String(), fmt.Sprintf("scalar.sitofp %%a : %s to %s", from, to), to, 0)
					p.op("uitofp "+to.String(), fmt.Sprintf("scalar.uitofp %%a : %s to %s", from, to), to, 0)
				case to.Bits() > from.Bits():
					p.op("extf "+to.String(), fmt.Sprintf("scalar.extf %%a : %s to %s", from, to), to, 0)
				case to.Bits() < from.Bits():
					p.op("fptrunc "+to.String(), fmt.Sprintf("scalar.fptrunc %%a : %s to %s", from, to), to, 0)
				}
			}
			p.trial(&s, from)
		}()
	}
	s.run(t)
}
