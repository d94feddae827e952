package linker_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// randomKernel writes a kernel of integer, index and float arithmetic, branches
// and loops over values that are partly constant, partly per lane. Every value
// that is visible at the end is stored.
type randomKernel struct {
	rnd  *rand.Rand
	b    strings.Builder
	n    int
	in   int // indent
	pool map[string][]string
}

func (g *randomKernel) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", g.in))
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

func (g *randomKernel) fresh(kind string) string {
	g.n++
	return fmt.Sprintf("%%%s%d", kind, g.n)
}

func (g *randomKernel) pick(kind string) string {
	p := g.pool[kind]
	if g.rnd.Intn(3) == 0 { // recent values make longer chains
		return p[len(p)-1]
	}
	return p[g.rnd.Intn(len(p))]
}

func (g *randomKernel) def(kind, format string, args ...any) string {
	v := g.fresh(kind)
	g.line("%s = %s", v, fmt.Sprintf(format, args...))
	g.pool[kind] = append(g.pool[kind], v)
	return v
}

func (g *randomKernel) save() map[string]int {
	m := map[string]int{}
	for k, v := range g.pool {
		m[k] = len(v)
	}
	return m
}

func (g *randomKernel) restore(m map[string]int) {
	for k, n := range m {
		g.pool[k] = g.pool[k][:n]
	}
}

var types = map[string]string{"x": "index", "i": "i32", "f": "f32", "c": "i1", "v": "vector<4xi32>", "w": "vector<4xf32>"}

func (g *randomKernel) step(depth int) {
	r := g.rnd
	small := func() int { return r.Intn(9) - 2 }
	switch n := r.Intn(26); {
	case n == 0:
		g.def("x", "index.constant %d : index", r.Intn(40))
	case n == 1:
		g.def("i", "scalar.constant %d : i32", small())
	case n == 2:
		g.def("f", "scalar.constant %g.5 : f32", float64(small()))
	case n < 6:
		op := []string{"add", "mul", "min", "max", "andi", "ori", "xori", "sub"}[r.Intn(8)]
		a := g.def("x", "index.%s %s, %s : index", op, g.pick("x"), g.pick("x"))
		if r.Intn(2) == 0 { // keep it small
			m := g.def("x", "index.constant %d : index", []int{7, 15, 31, 63}[r.Intn(4)])
			g.def("x", "index.andi %s, %s : index", a, m)
		}
	case n == 6:
		d := g.def("x", "index.constant %d : index", []int{1, 2, 3, 8, 64}[r.Intn(5)])
		m := g.def("x", "index.constant 1023 : index")
		a := g.def("x", "index.andi %s, %s : index", g.pick("x"), m)
		g.def("x", "index.%s %s, %s : index", []string{"div", "rem"}[r.Intn(2)], a, d)
	case n < 10:
		op := []string{"addi", "subi", "muli", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori"}[r.Intn(10)]
		g.def("i", "scalar.%s %s, %s : i32", op, g.pick("i"), g.pick("i"))
	case n == 10:
		s := g.def("i", "scalar.constant %d : i32", r.Intn(32))
		g.def("i", "scalar.%s %s, %s : i32", []string{"shli", "shrui", "shrsi", "rotli"}[r.Intn(4)], g.pick("i"), s)
	case n == 11:
		g.def("i", "index.cast %s : index to i32", g.pick("x"))
	case n == 12:
		g.def("x", "index.cast %s : i32 to index", g.pick("i"))
	case n == 13:
		g.def("f", "scalar.%s %s, %s : f32", []string{"addf", "subf", "mulf", "minnumf", "maxnumf"}[r.Intn(5)], g.pick("f"), g.pick("f"))
	case n == 14:
		g.def("f", "scalar.%s %s : f32", []string{"negf", "absf", "floorf"}[r.Intn(3)], g.pick("f"))
	case n == 15:
		g.def("f", "scalar.%s %s : i32 to f32", []string{"sitofp", "uitofp"}[r.Intn(2)], g.pick("i"))
	case n == 16:
		g.def("c", "index.cmp %s, %s, %s : index", []string{"eq", "ne", "slt", "sle", "ult", "uge"}[r.Intn(6)], g.pick("x"), g.pick("x"))
	case n == 17:
		g.def("c", "scalar.cmpi %s, %s, %s : i32", []string{"eq", "ne", "slt", "sge", "ult", "ugt"}[r.Intn(6)], g.pick("i"), g.pick("i"))
	case n == 18:
		g.def("c", "scalar.%s %s, %s : i1", []string{"andi", "ori", "xori"}[r.Intn(3)], g.pick("c"), g.pick("c"))
	case n == 19:
		k := []string{"x", "i", "f", "v"}[r.Intn(4)]
		g.def(k, "scf.select %s, %s, %s : %s", g.pick("c"), g.pick(k), g.pick(k), types[k])
	case n == 20:
		switch r.Intn(4) {
		case 0:
			g.def("v", "vector.splat %s : vector<4xi32>", g.pick("i"))
		case 1:
			g.def("v", "vector.from_elements %s, %s, %s, %s : vector<4xi32>", g.pick("i"), g.pick("i"), g.pick("i"), g.pick("i"))
		case 2:
			g.def("v", "vector.insert %s into %s[%d] : i32, vector<4xi32>", g.pick("i"), g.pick("v"), r.Intn(4))
		case 3:
			g.def("v", "vector.addi %s, %s : vector<4xi32>", g.pick("v"), g.pick("v"))
		}
	case n == 21:
		if r.Intn(2) == 0 {
			g.def("i", "vector.extract %s[%d] : vector<4xi32> -> i32", g.pick("v"), r.Intn(4))
		} else {
			g.def("i", "vector.reduce<%s> %s, %s : vector<4xi32>, i32", []string{"addi", "minsi", "xori"}[r.Intn(3)], g.pick("v"), g.pick("i"))
		}
	case n == 22:
		g.def("i", "kernel.subgroup.reduce<%s> %s : i32", []string{"addi", "maxsi"}[r.Intn(2)], g.pick("i"))
	case n == 23:
		m := g.def("x", "index.constant 63 : index")
		a := g.def("x", "index.andi %s, %s : index", g.pick("x"), m)
		g.def("i", "view.load %%src[%s] : view<64xi32> -> i32", a)
	case n == 24 && depth < 3:
		g.branch(depth)
	case n == 25 && depth < 3:
		g.loop(depth)
	}
}

func (g *randomKernel) steps(n, depth int) {
	for range n {
		g.step(depth)
	}
}

func (g *randomKernel) branch(depth int) {
	kinds := []string{"x", "i", "f"}[:1+g.rnd.Intn(3)]
	var res, ts, tt []string
	for _, k := range kinds {
		res = append(res, g.fresh(k))
		ts = append(ts, types[k])
	}
	g.line("%s = scf.if %s -> (%s) {", strings.Join(res, ", "), g.pick("c"), strings.Join(ts, ", "))
	for side := range 2 {
		if side == 1 {
			g.line("} else {")
		}
		mark := g.save()
		g.in++
		g.steps(1+g.rnd.Intn(5), depth+1)
		tt = tt[:0]
		for _, k := range kinds {
			tt = append(tt, g.pick(k))
		}
		g.line("scf.yield %s : %s", strings.Join(tt, ", "), strings.Join(ts, ", "))
		g.in--
		g.restore(mark)
	}
	g.line("}")
	for i, k := range kinds {
		g.pool[k] = append(g.pool[k], res[i])
	}
}

func (g *randomKernel) loop(depth int) {
	kinds := []string{"i", "f", "x"}[:1+g.rnd.Intn(3)]
	lo := g.def("x", "index.constant %d : index", g.rnd.Intn(3))
	hi := g.def("x", "index.constant %d : index", g.rnd.Intn(9))
	if g.rnd.Intn(3) == 0 { // a bound that differs between lanes
		m := g.def("x", "index.constant 3 : index")
		hi = g.def("x", "index.andi %s, %s : index", g.pick("x"), m)
	}
	step := g.def("x", "index.constant %d : index", 1+g.rnd.Intn(3))
	hint := ""
	switch g.rnd.Intn(4) {
	case 0:
		hint = " unroll"
	case 1:
		hint = fmt.Sprintf(" unroll(%s)", g.def("x", "index.constant %d : index", 2+g.rnd.Intn(3)))
	}
	var res, ts, binds, args []string
	for _, k := range kinds {
		r, a := g.fresh(k), g.fresh(k)
		res, args = append(res, r), append(args, a)
		ts = append(ts, types[k])
		binds = append(binds, fmt.Sprintf("%s = %s : %s", a, g.pick(k), types[k]))
	}
	iv := g.fresh("x")
	g.line("%s = scf.for %s = [%s to %s step %s](%s) -> (%s)%s {", strings.Join(res, ", "), iv, lo, hi, step, strings.Join(binds, ", "), strings.Join(ts, ", "), hint)
	mark := g.save()
	g.pool["x"] = append(g.pool["x"], iv)
	for i, k := range kinds {
		g.pool[k] = append(g.pool[k], args[i])
	}
	g.in++
	g.steps(2+g.rnd.Intn(5), depth+1)
	var ys []string
	for i, k := range kinds {
		if y := g.pick(k); g.rnd.Intn(4) > 0 {
			ys = append(ys, y)
		} else {
			ys = append(ys, args[i])
		}
	}
	g.line("scf.yield %s : %s", strings.Join(ys, ", "), strings.Join(ts, ", "))
	g.in--
	g.restore(mark)
	g.line("}")
	for i, k := range kinds {
		g.pool[k] = append(g.pool[k], res[i])
	}
}

const storedPerLane = 64

func generateKernel(seed int64) string {
	g := &randomKernel{rnd: rand.New(rand.NewSource(seed)), in: 1, pool: map[string][]string{}}
	g.b.WriteString("kernel.def @k() {\n  %one = index.constant 1 : index\n  %size = index.constant 64 : index\n" +
		"  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%size, %one, %one) : index\n" +
		"} launch(%n: index, %a: i32, %b: f32, %in: buffer, %out: buffer) {\n")
	g.line("%%base = index.constant 0 : offset")
	g.line("%%src = buffer.view %%in[%%base] : buffer -> view<64xi32>")
	g.line("%%dst = buffer.view %%out[%%base] : buffer -> view<%dxi32>", 64*storedPerLane)
	g.line("%%lane = kernel.workitem.id<x> : index")
	g.line("%%word = view.load %%src[%%lane] : view<64xi32> -> i32")
	g.line("%%odd = index.cmp ult, %%lane, %%n : index")
	g.line("%%vec = vector.splat %%word : vector<4xi32>")
	g.pool["x"] = []string{"%lane", "%n"}
	g.pool["i"] = []string{"%word", "%a"}
	g.pool["f"] = []string{"%b"}
	g.pool["c"] = []string{"%odd"}
	g.pool["v"] = []string{"%vec"}
	g.steps(25, 0)
	g.line("%%per = index.constant %d : index", storedPerLane)
	g.line("%%first = index.mul %%lane, %%per : index")
	slot := 0
	put := func(v string) {
		if slot == storedPerLane {
			return
		}
		o, at := g.fresh("s"), g.fresh("s")
		g.line("%s = index.constant %d : index", o, slot)
		g.line("%s = index.add %%first, %s : index", at, o)
		g.line("view.store %s, %%dst[%s] : i32, view<%dxi32>", v, at, 64*storedPerLane)
		slot++
	}
	for i := len(g.pool["i"]) - 1; i >= 0; i-- {
		put(g.pool["i"][i])
	}
	for _, k := range []struct{ kind, form string }{
		{"f", "scalar.bitcast %s : f32 to i32"}, {"x", "index.cast %s : index to i32"}, {"c", "scalar.extui %s : i1 to i32"},
	} {
		for i := len(g.pool[k.kind]) - 1; i >= 0; i-- {
			v := g.fresh("t")
			g.line("%s = %s", v, fmt.Sprintf(k.form, g.pool[k.kind][i]))
			put(v)
		}
	}
	g.line("kernel.return")
	g.b.WriteString("}\n")
	return g.b.String()
}

// TestRandomKernelsKeepTheirMeaning runs random kernels as written and fully
// specialised; every stored bit must agree.
func TestRandomKernelsKeepTheirMeaning(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 40
	}
	for seed := range n {
		checkRandomKernel(t, int64(seed))
	}
}

func FuzzSpecialize(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(checkRandomKernelFuzz)
}

func checkRandomKernelFuzz(t *testing.T, seed int64) { checkRandomKernel(t, seed) }

func checkRandomKernel(t *testing.T, seed int64) {
	t.Helper()
	text := generateKernel(seed)
	m, ds := parser.Parse(diag.NewSource("random.loom", text))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatalf("seed %d does not parse:\n%s\n%s", seed, diag.Text(ds), text)
	}
	tg, _ := target.Lookup("gfx1151")
	run := func(skip ...string) ([]byte, *kernel.Kernel) {
		k, _, ds, err := linker.Specialize(context.Background(), m, "k", linker.SpecializeOptions{Target: tg, Skip: skip})
		if err != nil || ds.HasErrors() {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, diag.Text(ds), text)
		}
		p, ds := exec.Compile(k)
		if ds.HasErrors() {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, diag.Text(ds), text, loom.PrintDef(k.Def))
		}
		in, out := make([]byte, 64*4), make([]byte, 64*storedPerLane*4)
		r := rand.New(rand.NewSource(seed))
		for i := range 64 {
			v := int32(r.Uint32()) >> uint(r.Intn(32))
			binary.LittleEndian.PutUint32(in[4*i:], uint32(v))
		}
		g, err := kernel.EvalLaunch(k, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(context.Background(), exec.Launch{Geometry: g, Args: []exec.Arg{
			exec.IntArg(int64(r.Intn(80))), exec.IntArg(int64(int32(r.Uint32()))), exec.FloatArg(loom.F32, math.Ldexp(r.Float64()-0.5, r.Intn(20))),
			exec.BufferArg(in), exec.BufferArg(out)}})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		return out, k
	}
	want, _ := run("fold", "unroll", "merge", "hoist", "prune")
	got, k := run()
	if !bytes.Equal(want, got) {
		for i := 0; i < len(want); i += 4 {
			if !bytes.Equal(want[i:i+4], got[i:i+4]) {
				t.Fatalf("seed %d: lane %d slot %d: %x as written, %x specialised\n%s\n%s", seed, i/4/storedPerLane, i/4%storedPerLane,
					want[i:i+4], got[i:i+4], text, loom.PrintDef(k.Def))
			}
		}
	}
}
