package exec_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// closeKernel links and specialises the kernel called name in text.
func closeKernel(t testing.TB, text, name, processor string, wave int, config map[string]string) *kernel.Kernel {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("test.loom", text))
	ds = append(ds, m.Load()...)
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	x := linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}})
	req := linker.Request{Roots: []string{name}, Target: processor, StripCheck: true}
	for k, v := range config {
		req.Config = append(req.Config, linker.Binding{Key: k, Text: v})
	}
	res, ds := linker.Link(context.Background(), x, req)
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	tg, ok := target.Lookup(processor)
	if !ok {
		t.Fatalf("no target %s", processor)
	}
	if wave != 0 {
		c := *tg
		c.WaveSize = wave
		tg = &c
	}
	k, _, ds, err := linker.Specialize(context.Background(), res.Module, name, linker.SpecializeOptions{Target: tg})
	if err != nil || ds.HasErrors() {
		t.Fatal(err, diag.Text(ds))
	}
	return k
}

func compile(t testing.TB, k *kernel.Kernel) *exec.Program {
	t.Helper()
	p, ds := exec.Compile(k)
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	return p
}

func launch(t testing.TB, p *exec.Program, workload []int64, opt exec.Options, args ...exec.Arg) *exec.Report {
	t.Helper()
	g, err := kernel.EvalLaunch(p.Kernel, workload)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(context.Background(), exec.Launch{Geometry: g, Args: args, Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func f32s(v ...float32) []byte {
	out := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(x))
	}
	return out
}

func asF32(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

const axpyText = `
kernel.def @axpy(%n: index) {
  %one = index.constant 1 : index
  %wg = index.constant 256 : index
  %last = index.constant 255 : index
  %up = index.add %n, %last : index
  %blocks = index.div %up, %wg : index
  kernel.launch.config workgroups(%blocks, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%n: index, %a: f32, %x: buffer, %y: buffer) {
  %zero = index.constant 0 : offset
  %wg = index.constant 256 : index
  %block = kernel.workgroup.id<x> : index
  %item = kernel.workitem.id<x> : index
  %i = index.madd %block, %wg, %item : index
  %xv = buffer.view %x[%zero] : buffer -> view<[%n]xf32>
  %yv = buffer.view %y[%zero] : buffer -> view<[%n]xf32>
  %in = index.cmp ult, %i, %n : index
  scf.if %in {
    %xe = view.load %xv[%i] : view<[%n]xf32> -> f32
    %ye = view.load %yv[%i] : view<[%n]xf32> -> f32
    %p = scalar.mulf %xe, %a : f32
    %s = scalar.addf %p, %ye : f32
    view.store %s, %yv[%i] : f32, view<[%n]xf32>
  }
  kernel.return
}
`

func TestElementwiseKernelWithTail(t *testing.T) {
	p := compile(t, closeKernel(t, axpyText, "axpy", "gfx1151", 0, nil))
	for _, n := range []int{1, 255, 256, 1000} {
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(i), float32(2*i+1)
		}
		yb := f32s(y...)
		launch(t, p, []int64{int64(n)}, exec.Options{}, exec.IntArg(int64(n)), exec.FloatArg(loom.F32, 0.5), exec.BufferArg(f32s(x...)), exec.BufferArg(yb))
		for i, v := range asF32(yb) {
			if want := 0.5*x[i] + y[i]; v != want {
				t.Fatalf("n=%d: y[%d] = %g, want %g", n, i, v, want)
			}
		}
	}
}

const polyText = `
kernel.def @poly() {
  %one = index.constant 1 : index
  %wg = index.constant 256 : index
  %blocks = index.constant 64 : index
  kernel.launch.config workgroups(%blocks, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%trips: index, %x: buffer) {
  %zero = index.constant 0 : offset
  %wg = index.constant 256 : index
  %block = kernel.workgroup.id<x> : index
  %item = kernel.workitem.id<x> : index
  %i = index.madd %block, %wg, %item : index
  %xv = buffer.view %x[%zero] : buffer -> view<16384xf32>
  %v = view.load %xv[%i] : view<16384xf32> -> f32
  %lo = index.constant 0 : index
  %step = index.constant 1 : index
  %c = scalar.constant 0.25 : f32
  %half = scalar.constant 0.5 : f32
  %r = scf.for %k = [%lo to %trips step %step] (%acc = %v : f32) -> (f32) {
    %a = scalar.mulf %acc, %half : f32
    %b = scalar.addf %a, %c : f32
    %d = scalar.fmaf %b, %half, %v : f32
    %e = scalar.subf %d, %c : f32
    %f = scalar.mulf %e, %b : f32
    %g = scalar.maxnumf %f, %c : f32
    %h = scalar.addf %g, %a : f32
    %j = scalar.minnumf %h, %half : f32
    scf.yield %j : f32
  }
  view.store %r, %xv[%i] : f32, view<16384xf32>
  kernel.return
}
`

// BenchmarkDenseF32 reports lane-operations per second: every executed f32 op of
// one item counts as one.
func BenchmarkDenseF32(b *testing.B) {
	p := compile(b, closeKernel(b, polyText, "poly", "gfx1151", 0, nil))
	buf := make([]byte, 16384*4)
	const trips = 1000
	b.ResetTimer()
	for range b.N {
		launch(b, p, nil, exec.Options{Workers: 1}, exec.IntArg(trips), exec.BufferArg(buf))
	}
	b.ReportMetric(float64(b.N)*trips*8*16384/b.Elapsed().Seconds()/1e6, "Mlaneops/s")
}
