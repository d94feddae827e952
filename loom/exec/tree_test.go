package exec_test

import (
	"context"
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
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// closeDefault closes a kernel with config values picked from the declared sets.
func closeDefault(m *loom.Module, name string) (*kernel.Kernel, error) {
	ctx := context.Background()
	x := linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}})
	req := linker.Request{Roots: []string{name}, Target: "gfx1151", StripCheck: true}
	first, _ := linker.Link(ctx, x, req)
	for _, c := range first.Configs {
		text := "1.0"
		if c.Integer {
			allowed := c.Allowed
			for _, p := range c.Promises {
				if p.Exact {
					allowed = allowed.Intersect(p.Set)
				}
			}
			text = "1024"
			if near := allowed.Nearest(1024); len(near) > 0 {
				text = fmt.Sprint(near[0])
			}
		}
		req.Config = append(req.Config, linker.Binding{Key: c.Key, Text: text})
	}
	res, ds := linker.Link(ctx, x, req)
	if ds.HasErrors() {
		return nil, ds
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup("gfx1151")
	}
	k, _, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	if err == nil && ds.HasErrors() {
		err = ds
	}
	return k, err
}

// TestCompileTree compiles every kernel of the .loom files below
// LOOMC_TEST_TREE that can be closed.
func TestCompileTree(t *testing.T) {
	tree := os.Getenv("LOOMC_TEST_TREE")
	if tree == "" {
		t.Skip("LOOMC_TEST_TREE is not set")
	}
	ok, open := 0, 0
	err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, ds := parser.Parse(diag.NewSource(path, string(text)))
		ds = append(ds, m.Load()...)
		if ds.HasErrors() {
			open++
			return nil
		}
		for _, d := range m.Defs {
			if d.Kind != loom.DefKernel {
				continue
			}
			k, err := closeDefault(m, d.Name)
			if err != nil {
				open++
				continue
			}
			for _, mode := range []exec.Mode{0, exec.SanAll} {
				p, ds := exec.CompileMode(k, mode)
				if ds.HasErrors() {
					t.Errorf("%s @%s: %s", path, d.Name, diag.Text(ds))
					continue
				}
				ins, bytes := p.Registers(256)
				if os.Getenv("LOOMC_TEST_VERBOSE") != "" {
					t.Logf("%s: %d instructions, %d register bytes at 256 lanes", d.Name, ins, bytes)
				}
			}
			ok++
			smoke(t, path, k)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kernels compiled, %d could not be closed", ok, open)
}

// smoke runs a kernel on zeros. Whatever the kernel does with them, the executor
// itself must not fail.
func smoke(t *testing.T, path string, k *kernel.Kernel) {
	work := make([]int64, len(k.Def.Workload))
	for i := range work {
		work[i] = 32
	}
	g, err := kernel.EvalLaunch(k, work)
	if err != nil {
		return
	}
	for i := range g.Count {
		g.Count[i] = min(g.Count[i], 2)
	}
	var args []exec.Arg
	for _, v := range k.Def.Params {
		if v.Type.Kind == loom.Buffer {
			args = append(args, exec.BufferArg(make([]byte, 4<<20)))
		} else {
			args = append(args, exec.IntArg(32))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, m := range []exec.Mode{0, exec.SanAll} {
		p, ds := exec.CompileMode(k, m)
		if ds.HasErrors() {
			continue
		}
		rep, err := p.Run(ctx, exec.Launch{Geometry: g, Args: args, Options: exec.Options{Sanitize: m}})
		if err != nil && strings.Contains(err.Error(), "INTERNAL/") {
			t.Errorf("%s @%s: %v", path, k.Symbol, err)
		}
		if rep != nil && os.Getenv("LOOMC_TEST_VERBOSE") != "" {
			t.Logf("@%s: %v\n%s", k.Symbol, err, diag.Text(rep.Findings))
		}
	}
}
