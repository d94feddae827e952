package check_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// linked is a Provider over an index of sources.
type linked struct {
	x         *linker.Index
	processor string
	mu        sync.Mutex
	done      map[string]*kernel.Kernel
}

func (l *linked) link(symbol string) (*linker.Result, diag.List) {
	return linker.Link(context.Background(), l.x, linker.Request{Roots: []string{symbol}, Target: l.processor, StripCheck: true})
}

func (l *linked) Kernel(symbol string) (*kernel.Kernel, diag.List) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.done[symbol]; k != nil {
		return k, nil
	}
	res, ds := l.link(symbol)
	if ds.HasErrors() {
		return nil, ds
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup(l.processor)
	}
	k, _, ds, err := linker.Specialize(context.Background(), res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	if err != nil {
		ds.Add(diag.Errorf(diag.Span{}, "TEST/ERROR", "%v", err))
	}
	if l.done == nil {
		l.done = map[string]*kernel.Kernel{}
	}
	l.done[symbol] = k
	return k, ds
}

func (l *linked) Func(symbol string) (*loom.Def, diag.List) {
	res, ds := l.link(symbol)
	if ds.HasErrors() || res.Roots[0].Def.Kind == loom.DefKernel {
		return nil, ds
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup(l.processor)
	}
	d, _, ds, err := linker.SpecializeFunc(context.Background(), res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	if err != nil {
		ds.Add(diag.Errorf(diag.Span{}, "TEST/ERROR", "%v", err))
	}
	return d, ds
}

// runFile runs the cases of one module with libraries, and returns the results.
func runFile(t testing.TB, m *loom.Module, libs []*loom.Module, processor string, o check.Options) []*check.CaseResult {
	t.Helper()
	sources := []linker.Source{{Mod: m, Role: linker.Primary}}
	for _, l := range libs {
		sources = append(sources, linker.Source{Mod: l, Role: linker.Library})
	}
	p := &linked{x: linker.NewIndex(sources), processor: processor}
	var out []*check.CaseResult
	for _, d := range m.Defs {
		if d.Kind != loom.DefCheckCase {
			continue
		}
		r, err := check.Run(context.Background(), d, p, o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestCheckTree runs the cases of every file below LOOMC_TEST_TREE, or of the
// bundled corpus; files of the same tree are the libraries.
func TestCheckTree(t *testing.T) {
	tree := os.Getenv("LOOMC_TEST_TREE")
	bundled := tree == ""
	if bundled {
		tree = "../../../corpus/kernels"
	}
	var mods []*loom.Module
	err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, ds := parser.Parse(diag.NewSource(path, string(text)))
		if ds = append(ds, m.Load()...); ds.HasErrors() {
			t.Errorf("%s", diag.Text(ds))
			return nil
		}
		mods = append(mods, m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The bundled corpus runs under every sanitizer.
	sanitize, det := exec.SanAll, &exec.Determinism{Find: true}
	if !bundled {
		sanitize, det = 0, nil
	}
	if s := os.Getenv("LOOMC_TEST_SANITIZE"); s != "" {
		if sanitize, err = exec.ParseSanitizers(strings.Split(s, ",")); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s, "determinism") {
			det = &exec.Determinism{Find: true}
		}
	}
	var all []*check.CaseResult
	for i, m := range mods {
		has := false
		for _, d := range m.Defs {
			has = has || d.Kind == loom.DefCheckCase
		}
		if !has {
			continue
		}
		var libs []*loom.Module
		for j, l := range mods {
			cases := false
			for _, d := range l.Defs {
				cases = cases || d.Kind == loom.DefCheckCase
			}
			if i != j && !cases {
				libs = append(libs, l)
			}
		}
		all = append(all, runFile(t, m, libs, "gfx1151", check.Options{Device: &check.CPU{Options: exec.Options{Sanitize: sanitize}, Determinism: det}})...)
	}
	var b strings.Builder
	if err := check.WriteText(&b, all, check.ShowCases); err != nil {
		t.Fatal(err)
	}
	s := check.Summarize(all)
	fmt.Println(s.Text())
	if s.Failed+s.Errors > 0 || testing.Verbose() {
		t.Log("\n" + b.String())
	}
	if s.Failed+s.Errors > 0 {
		t.Fail()
	}
	if bundled && s.Cases == 0 {
		t.Skip("no cases in the bundled corpus")
	}
}
