package exec_test

import (
	"context"
	"strings"

	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/float"
	"github.com/loomc/loomc/loom/kernel"
)

const softmaxText = `
kernel.def @softmax(%rows: index) {
  %one = index.constant 1 : index
  %wg = index.constant 64 : index
  kernel.launch.config workgroups(%rows, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%rows: index, %cols: index, %x: buffer, %y: buffer) {
  %zero = index.constant 0 : offset
  %lo = index.constant 0 : index
  %wg = index.constant 64 : index
  %row = kernel.workgroup.id<x> : index
  %item = kernel.workitem.id<x> : index
  %xv = buffer.view %x[%zero] : buffer -> view<[%rows]x[%cols]xf32>
  %yv = buffer.view %y[%zero] : buffer -> view<[%rows]x[%cols]xf32>
  %ninf = scalar.constant -inf : f32
  %z = scalar.constant 0.0 : f32
  %m = scf.for %c = [%item to %cols step %wg] (%acc = %ninf : f32) -> (f32) {
    %v = view.load %xv[%row, %c] : view<[%rows]x[%cols]xf32> -> f32
    %n = scalar.maxnumf %acc, %v : f32
    scf.yield %n : f32
  }
  %max = kernel.workgroup.reduce<maxnumf> %m : f32
  %s = scf.for %c = [%item to %cols step %wg] (%acc = %z : f32) -> (f32) {
    %v = view.load %xv[%row, %c] : view<[%rows]x[%cols]xf32> -> f32
    %d = scalar.subf %v, %max : f32
    %e = scalar.expf %d : f32
    view.store %e, %yv[%row, %c] : f32, view<[%rows]x[%cols]xf32>
    %n = scalar.addf %acc, %e : f32
    scf.yield %n : f32
  }
  %sum = kernel.workgroup.reduce<addf> %s : f32
  scf.for %c = [%item to %cols step %wg] {
    %e = view.load %yv[%row, %c] : view<[%rows]x[%cols]xf32> -> f32
    %q = scalar.divf %e, %sum : f32
    view.store %q, %yv[%row, %c] : f32, view<[%rows]x[%cols]xf32>
    scf.yield
  }
  kernel.return
}
`

// A loop whose trip count differs per item, between two workgroup reductions.
func TestSoftmaxWithDivergentLoops(t *testing.T) {
	p := compile(t, closeKernel(t, softmaxText, "softmax", "gfx1151", 0, nil))
	const rows, cols = 3, 151
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(math.Sin(float64(i))) * 4
	}
	out := make([]byte, 4*len(x))
	launch(t, p, []int64{rows}, exec.Options{}, exec.IntArg(rows), exec.IntArg(cols), exec.BufferArg(f32s(x...)), exec.BufferArg(out))
	got := asF32(out)
	for r := range rows {
		sum := 0.0
		for c := range cols {
			sum += math.Exp(float64(x[r*cols+c]))
		}
		for c := range cols {
			want := math.Exp(float64(x[r*cols+c])) / sum
			if d := math.Abs(float64(got[r*cols+c]) - want); d > 1e-6 {
				t.Fatalf("row %d col %d: %g, want %g", r, c, got[r*cols+c], want)
			}
		}
	}
}

func matmulText(lanesA, lanesC int, elem, acc string) string {
	return fmt.Sprintf(`
kernel.def @mm(%%n: index) {
  %%one = index.constant 1 : index
  %%wg = index.constant 64 : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%wg, %%one, %%one) : index
} launch(%%k: index, %%a: buffer, %%b: buffer, %%c: buffer) {
  %%zero = index.constant 0 : offset
  %%z = index.constant 0 : index
  %%m16 = index.constant 16 : index
  %%one = index.constant 1 : index
  %%sg = kernel.subgroup.id : index
  %%first = index.cmp eq, %%sg, %%z : index
  %%av = buffer.view %%a[%%zero] : buffer -> view<16x[%%k]x%[3]s>
  %%lay = encoding.layout.strided [1, %%k] : encoding<layout>
  %%bv = buffer.view %%b[%%zero] : buffer -> view<[%%k]x16x%[3]s, %%lay>
  %%cv = buffer.view %%c[%%zero] : buffer -> view<16x16xf32>
  scf.if %%first {
    %%init = vector.constant 0.0 : vector<%[2]dx%[4]s>
    %%r = scf.for %%kk = [%%z to %%k step %%m16] (%%acc = %%init : vector<%[2]dx%[4]s>) -> (vector<%[2]dx%[4]s>) {
      %%l = vector.fragment.load<lhs> %%av[%%z, %%kk] shape [%%m16, %%m16] : view<16x[%%k]x%[3]s> -> vector<%[1]dx%[3]s>
      %%q = vector.fragment.load<rhs> %%bv[%%kk, %%z] shape [%%m16, %%m16] : view<[%%k]x16x%[3]s, %%lay> -> vector<%[1]dx%[3]s>
      %%s = vector.mma %%l, %%q, %%acc : vector<%[1]dx%[3]s>, vector<%[1]dx%[3]s>, vector<%[2]dx%[4]s>
      scf.yield %%s : vector<%[2]dx%[4]s>
    }
    vector.fragment.store<result> %%r, %%cv[%%z, %%z] shape [%%m16, %%m16] : vector<%[2]dx%[4]s>, view<16x16xf32>
  }
  kernel.return
}
`, lanesA, lanesC, elem, acc)
}

// Matrix tiles give the same product in every wave size and lane layout; b is
// stored column by column, which its view's strides say.
func TestMatrixFragments(t *testing.T) {
	const K = 32
	a, b := make([]byte, 16*K*2), make([]byte, 16*K*2)
	av, bv := make([]float64, 16*K), make([]float64, 16*K)
	for i := range av {
		av[i], bv[i] = float64(i%7)-3, float64(i%5)*0.5-1
		binary.LittleEndian.PutUint16(a[2*i:], uint16(float.F16.Bits(av[i])))
		binary.LittleEndian.PutUint16(b[2*i:], uint16(float.F16.Bits(bv[i])))
	}
	for _, c := range []struct {
		proc           string
		wave           int
		lanesA, lanesC int
		acc            string
	}{
		{"gfx1151", 32, 16, 8, "f32"}, {"gfx1151", 64, 16, 4, "f32"}, {"gfx1151", 32, 16, 16, "f16"}, {"gfx1151", 64, 16, 8, "f16"},
		{"gfx1200", 32, 8, 8, "f32"}, {"gfx942", 64, 4, 4, "f32"},
	} {
		t.Run(fmt.Sprintf("%s/wave%d/%s", c.proc, c.wave, c.acc), func(t *testing.T) {
			k := closeKernel(t, matmulText(c.lanesA, c.lanesC, "f16", c.acc), "mm", c.proc, c.wave, nil)
			out := make([]byte, 16*16*4)
			launch(t, compile(t, k), []int64{1}, exec.Options{}, exec.IntArg(K), exec.BufferArg(a), exec.BufferArg(b), exec.BufferArg(out))
			for i, v := range asF32(out) {
				row, col := i/16, i%16
				want := 0.0
				for k := range K {
					want += av[row*K+k] * bv[col*K+k]
				}
				if float64(v) != want {
					t.Fatalf("c[%d][%d] = %g, want %g", row, col, v, want)
				}
			}
		})
	}
}

// Two runs that differ in bytes declared dead must not differ in the result.
func TestDeclaredDeadRanges(t *testing.T) {
	body := `  %xv = buffer.view %x[%zero] : buffer -> view<64xf32>
  %yv = buffer.view %y[%zero] : buffer -> view<32xf32>
  %c32 = index.constant 32 : index
  %z = scalar.constant 0.0 : f32
  %j = index.add %item, %c32 : index
  %a = view.load %xv[%item] : view<64xf32> -> f32
  %b = view.load %xv[%j] : view<64xf32> -> f32
  %m = scalar.mulf %b, %z : f32
  %s = scalar.addf %a, %m : f32
  view.store %s, %yv[%item] : f32, view<32xf32>`
	p := compile(t, closeKernel(t, simple(32, 1, "%x: buffer, %y: buffer", body), "k", "gfx1151", 0, nil))
	g, err := kernel.EvalLaunch(p.Kernel, nil)
	if err != nil {
		t.Fatal(err)
	}
	ln := exec.Launch{Geometry: g, Args: []exec.Arg{exec.BufferArg(make([]byte, 256)), exec.BufferArg(make([]byte, 128))}}
	for _, c := range []struct {
		r    exec.DeadRange
		want string
	}{
		{exec.DeadRange{Binding: "x", Lo: 128}, "bytes 128 to 255 of %x, which are declared dead"},
		{exec.DeadRange{Binding: "x", Lo: 256, Hi: 256}, ""},
		{exec.DeadRange{Binding: "other"}, ""},
		{exec.DeadRange{Kernel: "elsewhere", Binding: "other"}, ""},
	} {
		ds, err := exec.CheckDeterminism(context.Background(), p, ln, exec.Determinism{Dead: []exec.DeadRange{c.r}})
		if err != nil || (c.want == "") != (len(ds) == 0) || !strings.Contains(diag.Text(ds), c.want) {
			t.Errorf("%+v: %v\n%s", c.r, err, diag.Text(ds))
		}
	}
	for _, r := range []exec.DeadRange{{Kernel: "k", Binding: "other"}, {Binding: "x", Lo: 300, Hi: 400}} {
		if _, err := exec.CheckDeterminism(context.Background(), p, ln, exec.Determinism{Dead: []exec.DeadRange{r}}); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
	if x := ln.Args[0].Buffer; x[200] != 0 {
		t.Error("the check changed the caller's buffers")
	}
}

// BenchmarkMatrix reports multiply-adds of matrix ops per second.
func BenchmarkMatrix(b *testing.B) {
	k := closeKernel(b, matmulText(16, 8, "f16", "f32"), "mm", "gfx1151", 32, nil)
	p := compile(b, k)
	const K = 4096
	a, c := make([]byte, 16*K*2), make([]byte, 16*16*4)
	for range b.N {
		launch(b, p, []int64{1}, exec.Options{Workers: 1}, exec.IntArg(K), exec.BufferArg(a), exec.BufferArg(a), exec.BufferArg(c))
	}
	b.ReportMetric(float64(b.N)*16*16*K/b.Elapsed().Seconds()/1e6, "Mmacs/s")
}
