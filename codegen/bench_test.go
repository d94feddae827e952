package codegen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
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

// BenchmarkEmitReference emits the kernels of the reference tree's authoring files,
// the longest of which closes to over 2,000 lines.
func BenchmarkEmitReference(b *testing.B) {
	tree := os.Getenv("LOOM_REFERENCE")
	if tree == "" {
		b.Skip("SKIPPED: set LOOM_REFERENCE to a checkout of hrx-system")
	}
	files, _ := filepath.Glob(filepath.Join(tree, "loom/src/loom/test/corpus/authoring/*.loom"))
	if len(files) == 0 {
		b.Fatalf("no authoring files below %s", tree)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		name := filepath.Base(file)
		m, ds := parser.Parse(diag.NewSource(name, string(text)))
		if ds = append(ds, m.Load()...); ds.HasErrors() {
			b.Fatal(diag.Text(ds))
		}
		x := linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}})
		for _, d := range m.Defs {
			if d.Kind != loom.DefKernel {
				continue
			}
			k, err := closeKernel(x, d.Name, "gfx1151", nil, name)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s (%d lines)", d.Name, strings.Count(string(loom.PrintDef(k.Def)), "\n")), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					emit(b, k, codegen.Options{Line: true})
				}
			})
		}
	}
}
