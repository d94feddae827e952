package linker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// TestSpecialize runs the archives in testdata/specialize. Each holds .loom
// sources (the first is the primary one), options, and what is expected:
//
//	target=gfx1151          selected processor
//	key=value               any other line binds a config
//	!after=PASS             compare the definition after the last run of PASS
//	!rounds=N               limit of rounds
//
// "closed" is the text of the closed kernel (or of the definition after PASS),
// "interface" its bindings, scalars and workgroup memory, "report" the selections
// and loops, "diagnostics" the rendered findings. Sections that are absent are
// not compared.
func TestSpecialize(t *testing.T) {
	files, err := filepath.Glob("testdata/specialize/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := specializeArchive(t, ar)
			changed, faults := false, false
			for i, f := range ar.Files {
				want, known := got[f.Name]
				faults = faults || f.Name == "diagnostics"
				if !known {
					switch f.Name {
					case "closed", "interface", "report", "diagnostics":
						t.Errorf("no %s:\n%s", f.Name, got["diagnostics"])
					}
					continue
				}
				if d := cmp.Diff(string(f.Data), want); d != "" {
					if !*update {
						t.Errorf("%s differs (-want +got):\n%s", f.Name, d)
					}
					ar.Files[i].Data = []byte(want)
					changed = true
				}
			}
			if !faults && got["diagnostics"] != "" {
				t.Errorf("unexpected diagnostics:\n%s", got["diagnostics"])
			}
			if *update && changed {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func specializeArchive(t *testing.T, ar *txtar.Archive) map[string]string {
	t.Helper()
	ctx := context.Background()
	var sources []linker.Source
	var req linker.Request
	o := linker.SpecializeOptions{}
	after := ""
	var ds diag.List
	for _, f := range ar.Files {
		switch {
		case strings.HasSuffix(f.Name, ".loom"):
			m, found := parser.Parse(diag.NewSource(f.Name, string(f.Data)))
			ds = append(ds, found...)
			role := linker.Library
			if len(sources) == 0 {
				role = linker.Primary
			}
			sources = append(sources, linker.Source{Mod: m, Role: role})
		case f.Name == "options":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				key, value, _ := strings.Cut(line, "=")
				switch key {
				case "":
				case "target":
					req.Target = value
				case "!after":
					after = value
				case "!rounds":
					fmt.Sscan(value, &o.MaxRounds)
				default:
					req.Config = append(req.Config, linker.Binding{Key: key, Text: value})
				}
			}
		}
	}
	for _, d := range sources[0].Mod.Defs {
		if d.Kind == loom.DefKernel {
			req.Roots = []string{d.Name}
		}
	}
	req.AllowMissingProviders = true
	res, found := linker.Link(ctx, linker.NewIndex(sources), req)
	ds = append(ds, found...)
	got := map[string]string{}
	if ds.HasErrors() {
		got["diagnostics"] = diag.Text(ds)
		return got
	}
	o.Target = res.Roots[0].Target
	if after != "" {
		o.Dump = func(pass string, _ int, def *loom.Def) {
			if pass == after {
				got["closed"] = string(loom.PrintDef(def))
			}
		}
	}
	before := loom.PrintDef(res.Roots[0].Def)
	k, report, found, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, o)
	if err != nil {
		t.Fatal(err)
	}
	if string(loom.PrintDef(res.Roots[0].Def)) != string(before) {
		t.Error("Specialize changed the linked module")
	}
	ds = append(ds, found...)
	got["diagnostics"] = diag.Text(ds)
	got["report"] = reportText(report)
	if k == nil {
		if len(ds) == 0 {
			t.Error("no kernel and no diagnostic")
		}
		return got
	}
	if after == "" {
		got["closed"] = string(loom.PrintDef(k.Def))
	}
	got["interface"] = interfaceText(k)
	for _, text := range []string{got["closed"]} {
		m, found := parser.Parse(diag.NewSource("closed", text))
		if found = append(found, m.Load()...); found.HasErrors() {
			t.Errorf("the result does not parse:\n%s\n%s", diag.Text(found), text)
		}
	}
	return got
}

// reportText is the part of a report that says why: pass counts change with
// every improvement and are not compared.
func reportText(r *linker.Report) string {
	c := *r
	c.Passes = nil
	return c.Text()
}

func interfaceText(k *kernel.Kernel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "export %s, workgroup size %v, %d bytes of workgroup memory\n", k.Export, k.WorkgroupSize, k.LocalBytes)
	for _, x := range k.Workload {
		fmt.Fprintf(&b, "workload %s: %s\n", x.Name, x.Param.Type)
	}
	for _, x := range k.Launch {
		fmt.Fprintf(&b, "scalar %s: %s\n", x.Name, x.Param.Type)
	}
	for _, x := range k.Bindings {
		fmt.Fprintf(&b, "binding %s: %s align %d noalias %v\n", x.Name, x.Access, x.Align, x.NoAlias)
	}
	for _, x := range k.Local {
		fmt.Fprintf(&b, "local %%%s: %d bytes at %d align %d\n", x.Name, x.Size, x.Offset, x.Align)
	}
	for _, x := range k.Config {
		fmt.Fprintf(&b, "config %s = %s\n", x.Key, x.Text)
	}
	return b.String()
}

// TestSpecializeConcurrently closes one shared module many times at once: the
// texts must be equal, and the race detector has nothing to say.
func TestSpecializeConcurrently(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/specialize/select_where.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m, ds := parser.Parse(diag.NewSource("k.loom", string(ar.Files[0].Data)))
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	tg, _ := target.Lookup("gfx1151")
	texts := make([]string, 8)
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			k, _, _, err := linker.Specialize(context.Background(), m, "k", linker.SpecializeOptions{Target: tg})
			if err == nil && k != nil {
				texts[i] = string(loom.PrintDef(k.Def))
			}
		})
	}
	wg.Wait()
	for i, text := range texts {
		if text == "" || text != texts[0] {
			t.Errorf("run %d differs:\n%s", i, text)
		}
	}
}

func TestSpecializeRefuses(t *testing.T) {
	m, ds := parser.Parse(diag.NewSource("k.loom", `kernel.def @k() {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%n: index) {
  kernel.return
}
func.def @f() {
  func.return
}`))
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	tg, _ := target.Lookup("gfx1151")
	ctx := context.Background()
	for _, c := range []struct {
		root, code string
		o          linker.SpecializeOptions
	}{
		{"missing", "SYMBOL/002", linker.SpecializeOptions{Target: tg}},
		{"f", "SYMBOL/003", linker.SpecializeOptions{Target: tg}},
		{"k", "TARGET/026", linker.SpecializeOptions{}},
		{"k", "LOWERING/SIZE", linker.SpecializeOptions{Target: tg, MaxOps: 1}},
	} {
		k, report, ds, err := linker.Specialize(ctx, m, c.root, c.o)
		if err != nil || k != nil || report == nil || len(ds) != 1 || ds[0].Code != c.code {
			t.Errorf("@%s: kernel %v, error %v, diagnostics %v; want %s", c.root, k, err, ds, c.code)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, _, err := linker.Specialize(ended, m, "k", linker.SpecializeOptions{Target: tg}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gives %v", err)
	}
}

// TestPassesAreDocumented: the list is what --dump-after and the documentation
// are made of.
func TestPassesAreDocumented(t *testing.T) {
	for _, p := range linker.Passes() {
		if p.Name == "" || !strings.HasSuffix(p.Doc, ".") {
			t.Errorf("pass %q has no sentence: %q", p.Name, p.Doc)
		}
	}
}
