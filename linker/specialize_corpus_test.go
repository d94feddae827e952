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
		for _, d := range m.Defs {
			if d.Kind != loom.DefKernel {
				continue
			}
			kernels++
			if took, err := closeOne(t, m, d, literals, rel); err != nil {
				failed++
				t.Errorf("%s @%s: %v", rel, d.Name, err)
			} else {
				spent += took
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kernels, %d failed, %v each", kernels, failed, spent/time.Duration(max(1, kernels-failed)))
}

func closeOne(t *testing.T, m *loom.Module, d *loom.Def, literals map[string]string, rel string) (time.Duration, error) {
	ctx := context.Background()
	x := linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}})
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
