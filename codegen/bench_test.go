package codegen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
)

// longKernel is n rounds of loads, arithmetic and a store in one straight line.
func longKernel(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `
  %%k%[1]d = index.constant %[2]d : index
  %%p%[1]d = index.add %%i, %%k%[1]d : index
  %%x%[1]d = view.load %%a[%%p%[1]d] : view<1048576xf32> -> f32
  %%y%[1]d = scalar.mulf %%x%[1]d, %%x%[1]d : f32
  %%z%[1]d = scalar.addf %%y%[1]d, %%x%[1]d : f32
  view.store %%z%[1]d, %%o[%%p%[1]d] : f32, view<1048576xf32>`, i, i*128)
	}
	return single(b.String(), f32, f32, 1<<20, 2, 64)
}

func BenchmarkEmit(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("%d ops", 6*n), func(b *testing.B) {
			k := closeText(b, longKernel(n), "k", "gfx1151", 32, nil)
			b.ReportAllocs()
			for b.Loop() {
				emit(b, k, codegen.Options{Line: true})
			}
		})
	}
}
