package linker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// TestSpecializeTree closes every kernel of the .loom files below
// LOOMC_TEST_TREE. Config values come from the JSON files below
// LOOMC_TEST_CATALOG where one binds the key literally, and from the
// declaration's allowed set otherwise.
func TestSpecializeTree(t *testing.T) {
	tree := os.Getenv("LOOMC_TEST_TREE")
	if tree == "" {
		t.Skip("LOOMC_TEST_TREE is not set")
	}
	literals := catalogLiterals(t, os.Getenv("LOOMC_TEST_CATALOG"))
	kernels, failed := 0, 0
	var spent time.Duration
	var files, libraries []linker.Source
	err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(tree, path)
		m, ds := parser.Parse(diag.NewSource(rel, string(text)))
		ds = append(ds, m.Load()...)
		if ds.HasErrors() {
			t.Errorf("%s does not parse:\n%s", rel, diag.Text(ds))
			return nil
		}
		library := true
		for _, d := range m.Defs {
			if d.Kind == loom.DefCheckCase {
				return nil
			}
			library = library && d.Kind != loom.DefKernel
		}
		if library {
			libraries = append(libraries, linker.Source{Mod: m, Role: linker.Library})
		} else {
			files = append(files, linker.Source{Mod: m, Role: linker.Primary})
		}
		return nil
	})
	for _, f := range files {
		x := linker.NewIndex(append([]linker.Source{f}, libraries...))
		for _, d := range f.Mod.Defs {
			if d.Kind != loom.DefKernel {
				continue
			}
			kernels++
			rel := f.Mod.Source.Name
			if took, err := closeOne(x, d, literals, rel); err != nil {
				failed++
				t.Errorf("%s @%s: %v", rel, d.Name, err)
			} else {
				spent += took
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kernels, %d failed, %v each", kernels, failed, spent/time.Duration(max(1, kernels-failed)))
}

func closeOne(x *linker.Index, d *loom.Def, literals map[string]string, rel string) (time.Duration, error) {
	ctx := context.Background()
	req := linker.Request{Roots: []string{d.Name}, Target: "gfx1151", StripCheck: true}
	first, _ := linker.Link(ctx, x, req)
	for _, c := range first.Configs {
		text := literals[rel+" "+c.Key]
		if text == "" && c.Integer {
			allowed := c.Allowed
			for _, p := range c.Promises {
				if p.Exact {
					allowed = allowed.Intersect(p.Set)
				}
			}
			text = fmt.Sprint(1024)
			if near := allowed.Nearest(1024); len(near) > 0 {
				text = fmt.Sprint(near[0])
			}
		}
		if text == "" {
			text = "1.0"
		}
		req.Config = append(req.Config, linker.Binding{Key: c.Key, Text: text})
	}
	res, ds := linker.Link(ctx, x, req)
	if ds.HasErrors() {
		return 0, fmt.Errorf("link:\n%s", diag.Text(ds))
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup("gfx1151")
	}
	o := linker.SpecializeOptions{Target: tg}
	start := time.Now()
	k, report, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, o)
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	if ds.HasErrors() {
		return took, fmt.Errorf("specialise:\n%s", diag.Text(ds))
	}
	text := string(loom.PrintDef(k.Def))
	if dir := os.Getenv("LOOMC_TEST_OUT"); dir != "" {
		name := strings.ReplaceAll(rel, "/", "_") + "." + d.Name
		os.WriteFile(filepath.Join(dir, name+".loom"), []byte(text), 0o644)
		os.WriteFile(filepath.Join(dir, name+".report"), []byte(report.Text()), 0o644)
	}
	again, ds := parser.Parse(diag.NewSource("closed", text))
	if ds = append(ds, again.Load()...); ds.HasErrors() {
		return took, fmt.Errorf("the closed kernel does not parse:\n%s", diag.Text(ds))
	}
	return took, nil
}

func catalogLiterals(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	if dir == "" {
		return out
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var route struct {
			Kernel struct{ Path string }
			Config struct {
				Bindings []struct{ Key, Value string }
			}
		}
		if json.Unmarshal(text, &route) == nil {
			for _, b := range route.Config.Bindings {
				if b.Value != "" {
					out[route.Kernel.Path+" "+strings.TrimPrefix(b.Key, "@")] = b.Value
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

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
