package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/parser"
)

func simple(wg, blocks int, launch, body string) string {
	return fmt.Sprintf(`kernel.def @k() {
  %%one = index.constant 1 : index
  %%wg = index.constant %d : index
  %%blocks = index.constant %d : index
  kernel.launch.config workgroups(%%blocks, %%one, %%one) workgroup_size(%%wg, %%one, %%one) : index
} launch(%s) {
  %%zero = index.constant 0 : offset
  %%item = kernel.workitem.id<x> : index
%s
  kernel.return
}`, wg, blocks, launch, body)
}

func i32s(v ...int32) []byte {
	out := make([]byte, 4*len(v))
	for i, x := range v {
		exec.WriteElement(out[4*i:], loom.I32, uint64(uint32(x)))
	}
	return out
}

func asI32(b []byte) []int32 {
	out := make([]int32, len(b)/4)
	for i := range out {
		out[i] = int32(exec.ReadElement(b[4*i:], loom.I32))
	}
	return out
}

// One item works through the memory ops; y holds 16 elements of -1 before.
func TestMemoryOps(t *testing.T) {
	pre := `  %xv = buffer.view %x[%zero] : buffer -> view<16xi32>
  %yv = buffer.view %y[%zero] : buffer -> view<16xi32>
  %z = index.constant 0 : index
  %c1 = index.constant 1 : index
  %c2 = index.constant 2 : index
  %c3 = index.constant 3 : index
  %n1 = vector.constant -1 : vector<4xi32>
  %ten = scalar.constant 10 : i32
  %i1 = vector.mask.range [%z to %c3 step %c2] : index -> vector<4xi1>
  %off = vector.iota %z step %c2 : vector<4xindex>
`
	for name, c := range map[string]struct {
		body string
		want []int32
	}{
		"vector copy":      {"%v = vector.load %xv[2] : view<16xi32> -> vector<4xi32>\nvector.store %v, %yv[1] : vector<4xi32>, view<16xi32>", []int32{-1, 2, 3, 4, 5, -1}},
		"masked load":      {"%v = vector.load.mask %xv[2], %i1, %n1 : view<16xi32>, vector<4xi1>, vector<4xi32>\nvector.store %v, %yv[0] : vector<4xi32>, view<16xi32>", []int32{2, 3, -1, -1, -1}},
		"masked store":     {"%v = vector.load %xv[2] : view<16xi32> -> vector<4xi32>\nvector.store.mask %v, %yv[0], %i1 : vector<4xi32>, view<16xi32>, vector<4xi1>", []int32{2, 3, -1, -1}},
		"expand":           {"%v = vector.load.expand %xv[5], %i1, %n1 : view<16xi32>, vector<4xi1>, vector<4xi32>\nvector.store %v, %yv[0] : vector<4xi32>, view<16xi32>", []int32{5, 6, -1, -1}},
		"compress":         {"%v = vector.load %xv[4] : view<16xi32> -> vector<4xi32>\nvector.store.compress %v, %yv[8], %i1 : vector<4xi32>, view<16xi32>, vector<4xi1>", []int32{-1, -1, -1, -1, -1, -1, -1, -1, 4, 5, -1}},
		"gather":           {"%v = vector.gather %xv[1][%off] : view<16xi32>, vector<4xindex> -> vector<4xi32>\nvector.store %v, %yv[0] : vector<4xi32>, view<16xi32>", []int32{1, 3, 5, 7, -1}},
		"masked gather":    {"%v = vector.gather.mask %xv[1][%off], %i1, %n1 : view<16xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32>\nvector.store %v, %yv[0] : vector<4xi32>, view<16xi32>", []int32{1, 3, -1, -1, -1}},
		"scatter":          {"%v = vector.load %xv[0] : view<16xi32> -> vector<4xi32>\nvector.scatter %v, %yv[1][%off] : vector<4xi32>, view<16xi32>, vector<4xindex>", []int32{-1, 0, -1, 1, -1, 2, -1, 3, -1}},
		"masked scatter":   {"%v = vector.load %xv[0] : view<16xi32> -> vector<4xi32>\nvector.scatter.mask %v, %yv[1][%off], %i1 : vector<4xi32>, view<16xi32>, vector<4xindex>, vector<4xi1>", []int32{-1, 0, -1, 1, -1, -1}},
		"rmw":              {"%o = view.atomic.rmw<addi> %ten, %yv[0] {ordering = relaxed, scope = device} : i32, view<16xi32> -> i32\nview.store %o, %yv[1] : i32, view<16xi32>", []int32{9, -1, -1}},
		"exchange":         {"%o = view.atomic.rmw<xchgi> %ten, %yv[0] {ordering = relaxed, scope = device} : i32, view<16xi32> -> i32\nview.store %o, %yv[1] : i32, view<16xi32>", []int32{10, -1, -1}},
		"compare and swap": {"%m = scalar.constant -1 : i32\n%o = view.atomic.cmpxchg %m, %ten, %yv[0] {success_ordering = acq_rel, failure_ordering = acquire, scope = device} : i32, view<16xi32> -> i32\n%p = view.atomic.cmpxchg %m, %ten, %yv[0] {success_ordering = acq_rel, failure_ordering = acquire, scope = device} : i32, view<16xi32> -> i32\nview.store %p, %yv[1] : i32, view<16xi32>", []int32{10, 10, -1}},
		"vector atomic":    {"%v = vector.load %xv[5] : view<16xi32> -> vector<4xi32>\nvector.atomic.reduce<maxsi> %v, %yv[0][%off] {ordering = relaxed, scope = device} : vector<4xi32>, view<16xi32>, vector<4xindex>", []int32{5, -1, 6, -1, 7, -1, 8, -1}},
		"sub-view":         {"%m = buffer.view %x[%zero] : buffer -> view<4x4xi32>\n%s = view.subview %m[1, 2] : view<4x4xi32> -> view<2x2xi32, %rows>\n%v = view.load %s[1, 1] : view<2x2xi32, %rows> -> i32\nview.store %v, %yv[0] : i32, view<16xi32>", []int32{11, -1}},
		"column stride":    {"%m = buffer.view %x[%zero] : buffer -> view<4x4xi32, %cols>\n%v = vector.load %m[1, 0] : view<4x4xi32, %cols> -> vector<4xi32>\nvector.store %v, %yv[0] : vector<4xi32>, view<16xi32>", []int32{1, 5, 9, 13, -1}},
		"length":           {"%l = buffer.length %y : offset\n%q = index.cast %l : offset to i32\nview.store %q, %yv[0] : i32, view<16xi32>", []int32{64, -1}},
		"chosen view":      {"%c = index.cmp eq, %item, %z : index\n%w = scf.if %c -> (view<16xi32>) {\nscf.yield %xv : view<16xi32>\n} else {\nscf.yield %yv : view<16xi32>\n}\n%v = view.load %w[3] : view<16xi32> -> i32\nview.store %v, %yv[0] : i32, view<16xi32>", []int32{3, -1}},
	} {
		lay := "  %rows = encoding.layout.strided [4, 1] : encoding<layout>\n  %cols = encoding.layout.strided [1, 4] : encoding<layout>\n"
		p := compile(t, closeKernel(t, simple(1, 1, "%x: buffer, %y: buffer", pre+lay+c.body), "k", "gfx1151", 0, nil))
		x, y := make([]int32, 16), make([]int32, 16)
		for i := range x {
			x[i], y[i] = int32(i), -1
		}
		yb := i32s(y...)
		launch(t, p, nil, exec.Options{}, exec.BufferArg(i32s(x...)), exec.BufferArg(yb))
		got := asI32(yb)
		if !slices.Equal(got[:len(c.want)], c.want) || got[15] != -1 {
			t.Errorf("%s: %v, want %v…", name, got, c.want)
		}
	}
}

// Private memory is one copy per item; workgroup memory of a dynamic size is
// exactly that long.
func TestAllocations(t *testing.T) {
	body := `  %four = index.constant 4 : offset
  %pb = index.constant 16 : offset
  %p = buffer.alloca<private> align(4) %pb : buffer
  %pv = buffer.view %p[%zero] : buffer -> view<4xi32>
  %yv = buffer.view %y[%zero] : buffer -> view<8xi32>
  %z = index.constant 0 : index
  %c1 = index.constant 1 : index
  %c4 = index.constant 4 : index
  %it = index.cast %item : index to i32
  scf.for %k = [%z to %c4 step %c1] {
    %ki = index.cast %k : index to i32
    %s = scalar.addi %ki, %it : i32
    view.store %s, %pv[%k] : i32, view<4xi32>
    scf.yield
  }
  %q = index.rem %item, %c4 : index
  %v = view.load %pv[%q] : view<4xi32> -> i32
  view.store %v, %yv[%item] : i32, view<8xi32>`
	p := compile(t, closeKernel(t, simple(8, 1, "%y: buffer", body), "k", "gfx1151", 0, nil))
	y := make([]byte, 32)
	launch(t, p, nil, exec.Options{}, exec.BufferArg(y))
	if got, want := asI32(y), []int32{0, 2, 4, 6, 4, 6, 8, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The result does not depend on the number of workers; kernels whose workgroups
// meet in atomics run in order.
func TestWorkersAndOrders(t *testing.T) {
	text := simple(32, 50, "%c: buffer, %y: buffer", `  %g = kernel.workgroup.id<x> : index
  %z = index.constant 0 : index
  %one = scalar.constant 1 : i32
  %cv = buffer.view %c[%zero] : buffer -> view<1xi32>
  %yv = buffer.view %y[%zero] : buffer -> view<50xi32>
  %first = index.cmp eq, %item, %z : index
  scf.if %first {
    %o = view.atomic.rmw<addi> %one, %cv[0] {ordering = relaxed, scope = device} : i32, view<1xi32> -> i32
    view.store %o, %yv[%g] : i32, view<50xi32>
  }`)
	p := compile(t, closeKernel(t, text, "k", "gfx1151", 0, nil))
	run := func(o exec.Options) []int32 {
		y := make([]byte, 200)
		launch(t, p, nil, o, exec.BufferArg(make([]byte, 4)), exec.BufferArg(y))
		return asI32(y)
	}
	want := make([]int32, 50)
	for i := range want {
		want[i] = int32(i)
	}
	for w := range 5 {
		if got := run(exec.Options{Workers: w}); !slices.Equal(got, want) {
			t.Errorf("%d workers: %v", w, got)
		}
	}
	slices.Reverse(want)
	if got := run(exec.Options{Order: exec.Reverse}); !slices.Equal(got, want) {
		t.Errorf("reverse order: %v", got)
	}
	a, b := run(exec.Options{Order: exec.Shuffled, Seed: 4}), run(exec.Options{Order: exec.Shuffled, Seed: 4})
	if !slices.Equal(a, b) || slices.Equal(a, want) {
		t.Errorf("shuffled orders of one seed: %v and %v", a, b)
	}
}

func TestFaultsAndRefusals(t *testing.T) {
	body := `  %xv = buffer.view %x[%zero] : buffer -> view<64xf32>
  %v = view.load %xv[%item] : view<64xf32> -> f32
  %w = scalar.addf %v, %v : f32
  view.store %w, %xv[%item] : f32, view<64xf32>`
	p := compile(t, closeKernel(t, simple(64, 1, "%x: buffer", body), "k", "gfx1151", 0, nil))
	g, _ := kernel.EvalLaunch(p.Kernel, nil)
	try := func(g kernel.Geometry, args ...exec.Arg) string {
		_, err := p.Run(context.Background(), exec.Launch{Geometry: g, Args: args})
		var d diag.Diagnostic
		if !errors.As(err, &d) {
			t.Fatalf("got %v, want a diagnostic", err)
		}
		if !exec.IsFault(err) {
			t.Errorf("%v is not a fault", err)
		}
		return diag.Text(diag.List{d})
	}
	for want, got := range map[string]string{
		"EXEC/BOUNDS: view.load reads bytes [160, 164) of binding %x, which has 160 bytes (kernel @k, workgroup (0, 0, 0), item (40, 0, 0), subgroup 1 lane 8)": try(g, exec.BufferArg(make([]byte, 160))),
		"EXEC/LAUNCH: @k takes 1 launch arguments, got 0":              try(g),
		"EXEC/LAUNCH: launch argument 0 of @k, %x, is buffer":          try(g, exec.IntArg(3)),
		"EXEC/LAUNCH: a workgroup of @k has 2048 items; 1 to 1024 are": try(kernel.Geometry{Count: [3]int64{1, 1, 1}, Size: [3]int64{2048, 1, 1}}, exec.BufferArg(make([]byte, 256))),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	assert := compile(t, closeKernel(t, simple(8, 1, "%n: index", "  %c = index.cmp ult, %item, %n : index\n  kernel.assert %c \"too many items\" : i1"), "k", "gfx1151", 0, nil))
	g, _ = kernel.EvalLaunch(assert.Kernel, nil)
	_, err := assert.Run(context.Background(), exec.Launch{Geometry: g, Args: []exec.Arg{exec.IntArg(5)}})
	if err == nil || !strings.Contains(err.Error(), "EXEC/ASSERT: kernel.assert assertion failed: too many items") || !strings.Contains(err.Error(), "item (5, 0, 0)") {
		t.Errorf("got %v", err)
	}
}

// A kernel that never ends stops when its context does.
func TestEndlessLoopIsCancelled(t *testing.T) {
	body := `  %yv = buffer.view %y[%zero] : buffer -> view<1xi32>
  %u = scalar.constant 1 : i32
  %r = scf.while (%s = %u : i32) -> (i32) {
    %c = scalar.cmpi ne, %s, %n : i32
    scf.condition %c, %s : i1, i32
  } do(%s: i32) {
    %m = scalar.muli %s, %u : i32
    scf.yield %m : i32
  }
  view.store %r, %yv[0] : i32, view<1xi32>`
	p := compile(t, closeKernel(t, simple(1, 1, "%n: i32, %y: buffer", body), "k", "gfx1151", 0, nil))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	g, _ := kernel.EvalLaunch(p.Kernel, nil)
	_, err := p.Run(ctx, exec.Launch{Geometry: g, Args: []exec.Arg{exec.IntArg(2), exec.BufferArg(make([]byte, 4))}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestTraceAndCounts(t *testing.T) {
	p := compile(t, closeKernel(t, axpyText, "axpy", "gfx1151", 0, nil))
	var lines []string
	tr := &exec.Trace{Workgroup: 1, Item: 3, Event: func(op *loom.Op, v *loom.Value, text string) {
		l, _ := op.Span.LineCol()
		lines = append(lines, fmt.Sprintf("%d %s = %s", l, v.Name, text))
	}}
	x := make([]float32, 300)
	for i := range x {
		x[i] = float32(i)
	}
	args := func() []exec.Arg {
		return []exec.Arg{exec.IntArg(300), exec.FloatArg(loom.F32, 2), exec.BufferArg(f32s(x...)), exec.BufferArg(f32s(x...))}
	}
	launch(t, p, []int64{300}, exec.Options{Trace: tr}, args()...)
	text := strings.Join(lines, "\n")
	for _, want := range []string{"item = 3", "i = 259", "xe = 259", "p = 518", "s = 777"} {
		if !strings.Contains(text, want) {
			t.Errorf("the trace lacks %q:\n%s", want, text)
		}
	}
	rep := launch(t, p, []int64{300}, exec.Options{Count: true}, args()...)
	c := rep.Counts
	if c.Loads != 600 || c.Stores != 300 || c.LoadBytes["global"] != 2400 || c.StoreBytes["global"] != 1200 || c.FloatOps != 600 {
		t.Errorf("counts: %+v", c)
	}
	for _, o := range c.Ops {
		if o.Op == "scalar.mulf" && o.Items != 300 {
			t.Errorf("%+v", o)
		}
	}
}

// Memory nobody wrote is all ones unless the run asks for something else.
func TestFillOfUnwrittenMemory(t *testing.T) {
	body := `  %n = index.constant 128 : offset
  %b = buffer.alloca<workgroup> align(16) %n : buffer
  %bv = buffer.view %b[%zero] : buffer -> view<32xi32>
  %yv = buffer.view %y[%zero] : buffer -> view<32xi32>
  %v = view.load %bv[%item] : view<32xi32> -> i32
  view.store %v, %yv[%item] : i32, view<32xi32>`
	p := compile(t, closeKernel(t, simple(32, 1, "%y: buffer", body), "k", "gfx1151", 0, nil))
	run := func(o exec.Options) []byte {
		y := make([]byte, 128)
		launch(t, p, nil, o, exec.BufferArg(y))
		return y
	}
	if got := run(exec.Options{}); !bytes.Equal(got, bytes.Repeat([]byte{0xff}, 128)) {
		t.Errorf("default fill: %x", got)
	}
	if got := run(exec.Options{Fill: exec.FillZero}); !bytes.Equal(got, make([]byte, 128)) {
		t.Errorf("zero fill: %x", got)
	}
	a, b := run(exec.Options{Fill: exec.FillRandom, Seed: 1}), run(exec.Options{Fill: exec.FillRandom, Seed: 2})
	if bytes.Equal(a, b) {
		t.Error("two seeds fill alike")
	}
}

func TestHostFunctions(t *testing.T) {
	m, ds := parser.Parse(diag.NewSource("f.loom", `
func.def pure @blocks(%n: index, %w: index) -> (index, i1) {
  %one = index.constant 1 : index
  %a = index.add %n, %w : index
  %b = index.sub %a, %one : index
  %q = index.div %b, %w : index
  %r = index.rem %n, %w : index
  %z = index.constant 0 : index
  %even = index.cmp eq, %r, %z : index
  func.return %q, %even : index, i1
}
func.def @bad(%n: index) -> (index) {
  %x = func.call @blocks(%n, %n) : (index, index) -> (index)
  func.return %x : index
}`))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	p, ds := exec.CompileFunc(m.Lookup("blocks"))
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	out, err := p.Call(context.Background(), []uint64{100, 32})
	if err != nil || out[0][0] != 4 || out[1][0] != 0 {
		t.Errorf("got %v, %v", out, err)
	}
	_, ds = exec.CompileFunc(m.Lookup("bad"))
	if !strings.Contains(diag.Text(ds), "EXEC/UNSUPPORTED: func.call cannot be executed on the CPU") {
		t.Errorf("got %s", diag.Text(ds))
	}
}
