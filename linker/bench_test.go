package linker_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

// corpusText generates a corpus of n motif files and n op files with three exports each,
// shaped like the real ones: an op file declares what it uses of a few motifs,
// its configs and kernels of some hundred operations.
func corpusText(n int) (motifs, ops []string) {
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "template.decl device @motif%d.tile(%%x: index, %%src: buffer) -> (f32)\n", i)
		for v := range 3 {
			fmt.Fprintf(&b, "template.def<@motif%d.tile> device priority(%d) @motif%d_tile_%d(%%x: index, %%src: buffer) -> (f32) where [multiple_of(%%x, %d)] {\n", i, v, i, v, 1<<v)
			b.WriteString("  %o = index.constant 0 : offset\n  %v = buffer.view %src[%o] : buffer -> view<4096xf32>\n  %a0 = view.load %v[0] : view<4096xf32> -> f32\n")
			for k := range 40 {
				fmt.Fprintf(&b, "  %%i%d = index.constant %d : index\n  %%l%d = view.load %%v[%%i%d] : view<4096xf32> -> f32\n  %%a%d = scalar.addf %%a%d, %%l%d : f32\n", k, k, k, k, k+1, k, k)
			}
			b.WriteString("  template.return %a40 : f32\n}\n")
		}
		motifs = append(motifs, b.String())
	}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "amdgpu.target<gfx11-generic> @gfx11_%d {subgroup_size = 32}\n", i)
		for c := range 6 {
			fmt.Fprintf(&b, "config.decl @op%d.c%d : %%v: index where [range(%%v, 1, 4096), multiple_of(%%v, %d)]\n", i, c, c+1)
		}
		fmt.Fprintf(&b, "template.decl device @motif%d.tile(%%x: index, %%src: buffer) -> (f32)\n", i)
		for k := range 3 {
			fmt.Fprintf(&b, "kernel.def target(@gfx11_%d) export(\"op%d_%d\") @op%d_%d_kernel(%%rows: index) {\n  %%c1 = index.constant 1 : index\n", i, i, k, i, k)
			b.WriteString("  kernel.launch.config workgroups(%rows, %c1, %c1) workgroup_size(%c1, %c1, %c1) : index\n} launch(%n: index, %src: buffer, %dst: buffer) {\n")
			for c := range 6 {
				fmt.Fprintf(&b, "  %%g%d = config.get @op%d.c%d : index\n  %%c%d = index.assume %%g%d [range(%%g%d, 1, 4096)] : index\n", c, i, c, c, c, c)
			}
			b.WriteString("  %o = index.constant 0 : offset\n  %w = buffer.view %dst[%o] : buffer -> view<4096xf32>\n")
			for s := range 30 {
				fmt.Fprintf(&b, "  %%t%d = template.apply<@motif%d.tile>(%%c%d, %%src) : (index, buffer) -> (f32)\n  %%k%d = index.constant %d : index\n  view.store %%t%d, %%w[%%k%d] : f32, view<4096xf32>\n", s, i, s%6, s, s, s, s)
			}
			b.WriteString("  kernel.return\n}\n")
		}
		ops = append(ops, b.String())
	}
	return motifs, ops
}

// jobs parses the corpus and makes one job per export, each with an index of its
// own op file and the one library it lists, or all over one index.
func jobs(t testing.TB, n int, shared bool) []linker.Job {
	motifs, ops := corpusText(n)
	parse := func(name, text string) *loom.Module {
		m, ds := parser.Parse(diag.NewSource(name, text))
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		return m
	}
	var libs, prim []linker.Source
	for i := range n {
		libs = append(libs, linker.Source{Mod: parse(fmt.Sprintf("motifs/m%d.loom", i), motifs[i]), Role: linker.Library})
		prim = append(prim, linker.Source{Mod: parse(fmt.Sprintf("ops/o%d.loom", i), ops[i])})
	}
	var all *linker.Index
	if shared {
		all = linker.NewIndex(append(append([]linker.Source{}, prim...), libs...))
	}
	var out []linker.Job
	for i := range n {
		x := all
		if x == nil {
			x = linker.NewIndex([]linker.Source{prim[i], libs[i]})
		}
		for k := range 3 {
			out = append(out, linker.Job{Index: x, Request: linker.Request{
				Roots: []string{fmt.Sprintf("@op%d_%d_kernel", i, k)}, Target: "gfx1151",
				Config: []linker.Binding{{Key: fmt.Sprintf("op%d.c3", i), Text: "64"}},
			}})
		}
	}
	return out
}

// BenchmarkLinkCorpus links every export of a generated corpus from text to
// linked modules: 100 files and 150 exports, then ten and a hundred times that.
func BenchmarkLinkCorpus(b *testing.B) {
	for _, n := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("files=%d", 2*n), func(b *testing.B) {
			if n > 500 && testing.Short() {
				b.Skip("large")
			}
			exports := 0
			for b.Loop() {
				// Results are dropped by the batch, as a command that prints a line per
				// export drops them.
				for done := 0; done < n; done += 500 {
					js := jobs(b, min(500, n-done), false)
					out, err := linker.LinkAll(context.Background(), js)
					if err != nil {
						b.Fatal(err)
					}
					for _, o := range out {
						if len(o.Diags) > 0 {
							b.Fatal(o.Diags)
						}
					}
					exports += len(js)
				}
			}
			b.ReportMetric(float64(exports)/float64(b.N), "exports")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB")
		})
	}
}

// BenchmarkLinkRoot links one root over a frozen index of 100 files.
func BenchmarkLinkRoot(b *testing.B) {
	js := jobs(b, 50, true)
	for b.Loop() {
		if _, ds := linker.Link(context.Background(), js[7].Index, js[7].Request); len(ds) > 0 {
			b.Fatal(ds)
		}
	}
}

// One index serves many links at once, and every one of them gives the bytes
// that it gives alone.
func TestSharedIndexConcurrently(t *testing.T) {
	js := jobs(t, 8, true)
	want := make([][]byte, len(js))
	for i, j := range jobs(t, 8, true) {
		res, ds := linker.Link(context.Background(), j.Index, j.Request)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		want[i] = loom.Print(res.Module)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			out, err := linker.LinkAll(context.Background(), js)
			if err != nil {
				t.Error(err)
				return
			}
			for i, o := range out {
				if len(o.Diags) > 0 || !bytes.Equal(loom.Print(o.Result.Module), want[i]) {
					t.Errorf("job %d differs when run beside others", i)
				}
			}
		})
	}
	wg.Wait()
}

// A link's module belongs to the caller: changing it must not show in the next.
func TestResultIsPrivate(t *testing.T) {
	j := jobs(t, 1, true)[0]
	first, _ := linker.Link(context.Background(), j.Index, j.Request)
	want := loom.Print(first.Module)
	for _, d := range first.Module.Defs {
		d.Name = "changed"
		d.Walk(func(o *loom.Op) bool {
			for i := range o.Attrs {
				o.Attrs[i].Name = "changed"
			}
			for _, r := range o.Results {
				r.Name = "changed"
			}
			return true
		})
	}
	second, _ := linker.Link(context.Background(), j.Index, j.Request)
	if !bytes.Equal(loom.Print(second.Module), want) {
		t.Error("a change to one result shows in the next")
	}
}

func TestCancelledLink(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	j := jobs(t, 1, true)[0]
	if _, ds := linker.Link(ctx, j.Index, j.Request); len(ds) != 1 || ds[0].Code != "LINK/CANCELLED" {
		t.Errorf("got %v", ds)
	}
	if _, err := linker.LinkAll(ctx, []linker.Job{j}); err == nil {
		t.Error("LinkAll hides the cancelled context")
	}
}
