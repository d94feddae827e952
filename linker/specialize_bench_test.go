package linker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// BenchmarkSpecialize closes a kernel of several hundred operations with nested
// templates and unrolled loops.
func BenchmarkSpecialize(b *testing.B) {
	var text strings.Builder
	text.WriteString(`template.decl @bench.step(%w: index, %i: index, %x: f32) -> (f32)
template.def<@bench.step> priority(1) @bench_wide(%w: index, %i: index, %x: f32) -> (f32) where [multiple_of(%w, 4)] {
  %c = scalar.constant 2.0 : f32
`)
	for i := range 20 {
		fmt.Fprintf(&text, "  %%a%d = index.constant %d : index\n  %%m%d = index.madd %%i, %%w, %%a%d : index\n  %%i%d = index.cast %%m%d : index to i32\n  %%f%d = scalar.sitofp %%i%d : i32 to f32\n",
			i, i, i, i, i, i, i, i)
	}
	text.WriteString(`  %s = scalar.mulf %x, %c : f32
  %r = scalar.addf %s, %f7 : f32
  template.return %r : f32
}
template.def<@bench.step> @bench_narrow(%w: index, %i: index, %x: f32) -> (f32) {
  template.return %x : f32
}
kernel.def @k(%n: index) {
  %one = index.constant 1 : index
  %size = index.constant 64 : index
  kernel.launch.config workgroups(%n, %one, %one) workgroup_size(%size, %one, %one) : index
} launch(%b: buffer) {
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %eight = index.constant 8 : index
  %base = index.constant 0 : offset
  %v = buffer.view %b[%base] : buffer -> view<64xf32>
  %t = kernel.workitem.id<x> : index
  %x = view.load %v[%t] : view<64xf32> -> f32
  %r = scf.for %i = [%zero to %eight step %one](%a = %x : f32) -> (f32) unroll {
    %y = template.apply<@bench.step>(%eight, %i, %a) : (index, index, f32) -> (f32)
    scf.yield %y : f32
  }
  view.store %r, %v[%t] : f32, view<64xf32>
  kernel.return
}
`)
	m, ds := parser.Parse(diag.NewSource("bench.loom", text.String()))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		b.Fatal(diag.Text(ds))
	}
	tg, _ := target.Lookup("gfx1151")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ds, err := linker.Specialize(context.Background(), m, "k", linker.SpecializeOptions{Target: tg}); err != nil || ds.HasErrors() {
			b.Fatal(err, diag.Text(ds))
		}
	}
}
