package linker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// TestCatalog links and closes every kernel of the kernel bench that LOOM_BENCH
// names (a checkout with kernels/v2 and catalog/v2): once for every route of the
// catalog that uses it, with the values the route states, and once by itself.
// What a route takes from a model's tensors, and everything for a kernel without
// route, is the value nearest to 1024 that declarations and code permit. It
// prints one row per case.
func TestCatalog(t *testing.T) {
	bench := os.Getenv("LOOM_BENCH")
	if bench == "" {
		t.Skip("LOOM_BENCH is not set")
	}
	files, libraries := benchFiles(t, filepath.Join(bench, "kernels", "v2"))
	routes := benchRoutes(t, filepath.Join(bench, "catalog", "v2"))
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ROOT\tROUTE\tTARGET\tVALUES\tOPS\tBINDINGS\tLDS\tWORKGROUP\tTIME\tNOTES")
	roots, cases, failed := 0, 0, 0
	var spent time.Duration
	for _, f := range files {
		x := linker.NewIndex(append([]linker.Source{f}, libraries...))
		for _, d := range f.Mod.Defs {
			if d.Kind != loom.DefKernel {
				continue
			}
			roots++
			uses := append([]benchRoute{{id: "-"}}, routes[d.Name]...)
			for _, r := range uses {
				cases++
				c, err := closeBench(x, d, r)
				if err != nil {
					failed++
					t.Errorf("%s @%s, route %s: %v", f.Mod.Source.Name, d.Name, r.id, err)
					continue
				}
				spent += c.took
				fmt.Fprintf(w, "@%s\t%s\t%s\t%d/%d stated\t%d\t%d\t%d\t%v\t%v\t%s\n", d.Name, r.id, c.kernel.Target.Processor, c.stated, c.configs,
					c.ops, len(c.kernel.Bindings), c.kernel.LocalBytes, c.kernel.WorkgroupSize, c.took.Round(time.Microsecond), strings.Join(c.notes, "; "))
			}
			delete(routes, d.Name)
		}
	}
	for symbol, rs := range routes {
		t.Errorf("route %s is for @%s, which no file defines", rs[0].id, symbol)
	}
	w.Flush()
	t.Logf("%d roots, %d cases, %d failed, %v each\n%s", roots, cases, failed, spent/time.Duration(max(1, cases-failed)), table.String())
}

// benchFiles parses the .loom files below dir: those with kernels, and those
// that serve as libraries. Test files are left out.
func benchFiles(t *testing.T, dir string) (files, libraries []linker.Source) {
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		m, ds := parser.Parse(diag.NewSource(filepath.ToSlash(rel), string(text)))
		if ds = append(ds, m.Load()...); ds.HasErrors() {
			t.Errorf("%s does not parse:\n%s", rel, diag.Text(ds))
			return nil
		}
		has := func(kind loom.DefKind) bool {
			return slices.ContainsFunc(m.Defs, func(d *loom.Def) bool { return d.Kind == kind })
		}
		switch {
		case has(loom.DefCheckCase):
		case has(loom.DefKernel):
			files = append(files, linker.Source{Mod: m})
		default:
			libraries = append(libraries, linker.Source{Mod: m, Role: linker.Library})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, libraries
}

// benchRoute is one route of the catalog.
type benchRoute struct {
	id        string
	values    map[string]string // what the route states, by config key
	keys      []string          // every key the route binds
	workgroup []int64
}

// benchRoutes reads the catalog, by root symbol.
func benchRoutes(t *testing.T, dir string) map[string][]benchRoute {
	out := map[string][]benchRoute{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var route struct {
			ID     string
			Kernel struct {
				Root string `json:"root_symbol"`
			}
			Launch struct {
				Workgroup json.RawMessage `json:"workgroup_size"`
			}
			Config struct {
				Bindings []struct{ Key, Value string }
			}
		}
		if err := json.Unmarshal(text, &route); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if route.Kernel.Root == "" {
			return nil // the list of routes
		}
		r := benchRoute{id: route.ID, values: map[string]string{}}
		_ = json.Unmarshal(route.Launch.Workgroup, &r.workgroup) // an expression is not compared
		for _, b := range route.Config.Bindings {
			key := strings.TrimPrefix(b.Key, "@")
			r.keys = append(r.keys, key)
			if b.Value != "" {
				r.values[key] = b.Value
			}
		}
		symbol := strings.TrimPrefix(route.Kernel.Root, "@")
		out[symbol] = append(out[symbol], r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type closedBench struct {
	kernel               *kernel.Kernel
	configs, stated, ops int
	took                 time.Duration
	notes                []string // where catalog and kernel disagree, which is theirs to settle
}

func closeBench(x *linker.Index, d *loom.Def, r benchRoute) (*closedBench, error) {
	ctx := context.Background()
	c := &closedBench{}
	req := linker.Request{Roots: []string{"@" + d.Name}, Target: "gfx1151", StripCheck: true}
	first, _ := linker.Link(ctx, x, req)
	c.configs = len(first.Configs)
	for _, k := range r.keys {
		if !slices.ContainsFunc(first.Configs, func(c *linker.Config) bool { return c.Key == k }) {
			c.notes = append(c.notes, k+" is bound and not read")
		}
	}
	for _, k := range first.Configs {
		text := r.values[k.Key]
		switch near := k.Accepted().Nearest(1024); {
		case text != "":
			c.stated++
		case k.Integer && len(near) > 0:
			text = fmt.Sprint(near[0])
		default:
			text = "1.0"
		}
		req.Config = append(req.Config, linker.Binding{Key: k.Key, Text: text})
	}
	start := time.Now()
	res, ds := linker.Link(ctx, x, req)
	if ds.HasErrors() {
		return nil, fmt.Errorf("link:\n%s", diag.Text(ds))
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup("gfx1151")
	}
	k, _, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	c.took = time.Since(start)
	if err != nil {
		return nil, err
	}
	if ds.HasErrors() {
		return nil, fmt.Errorf("specialise:\n%s", diag.Text(ds))
	}
	c.kernel = k
	k.Def.Walk(func(*loom.Op) bool { c.ops++; return true })
	for i, n := range r.workgroup {
		if i < 3 && k.WorkgroupSize[i] != 0 && k.WorkgroupSize[i] != n {
			c.notes = append(c.notes, fmt.Sprintf("the route launches %v", r.workgroup))
			break
		}
	}
	text := string(loom.PrintDef(k.Def))
	again, ds := parser.Parse(diag.NewSource("closed", text))
	if ds = append(ds, again.Load()...); ds.HasErrors() {
		return nil, fmt.Errorf("the closed kernel does not parse:\n%s", diag.Text(ds))
	}
	return c, nil
}
