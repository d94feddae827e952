package codegen_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// member is the contents of a file of an archive, "" when absent.
func member(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// golden compares a result with the archive's member, or rewrites it.
func golden(t *testing.T, path string, a *txtar.Archive, name, got string) {
	t.Helper()
	if !*update {
		if d := cmp.Diff(member(a, name), got); d != "" {
			t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", name, d)
		}
		return
	}
	found := false
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data, found = []byte(got), true
		}
	}
	if !found {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got)})
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// closeArchive specialises the kernel @k of an archive.
func closeArchive(t *testing.T, a *txtar.Archive) *kernel.Kernel {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("kernel.loom", member(a, "kernel.loom")))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	req := linker.Request{Roots: []string{"k"}, Target: "gfx1151", StripCheck: true}
	for _, l := range strings.Fields(member(a, "config")) {
		key, text, _ := strings.Cut(l, "=")
		req.Config = append(req.Config, linker.Binding{Key: key, Text: text})
	}
	res, ds := linker.Link(context.Background(), linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}}), req)
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	tg, _ := target.Lookup("gfx1151")
	k, _, ds, err := linker.Specialize(context.Background(), res.Module, "k", linker.SpecializeOptions{Target: tg})
	if err != nil || ds.HasErrors() {
		t.Fatal(err, diag.Text(ds))
	}
	return k
}

// archives calls f for each txtar file of a directory.
func archives(t *testing.T, dir string, f func(t *testing.T, path string, a *txtar.Archive)) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			f(t, p, a)
		})
	}
}

// TestEmitGolden shows the text of whole kernels, without the prelude.
func TestEmitGolden(t *testing.T) {
	archives(t, "testdata/emit", func(t *testing.T, path string, a *txtar.Archive) {
		k := closeArchive(t, a)
		u := emit(t, k, codegen.Options{Line: true, Tool: "loomc test", Corpus: "0123abc"})
		again := emit(t, k, codegen.Options{Line: true, Tool: "loomc test", Corpus: "0123abc"})
		if !bytes.Equal(u.Source, again.Source) {
			t.Error("two emissions of one kernel differ")
		}
		head, _, _ := bytes.Cut(u.Source, []byte("\n\n"))
		at := bytes.Index(u.Source, []byte(`extern "C"`))
		at = bytes.LastIndex(u.Source[:at-1], []byte("\n")) + 1
		golden(t, path, a, "want.hip", string(head)+"\n\n"+string(u.Source[at:]))
		golden(t, path, a, "want.abi", u.ABI.String())
		launch, ds := codegen.LaunchFunction(k, "launch_k")
		if ds.HasErrors() {
			t.Fatal(diag.Text(ds))
		}
		golden(t, path, a, "want.launch", launch)
	})
}

// TestRefusals shows the diagnostics of what cannot be emitted.
func TestRefusals(t *testing.T) {
	archives(t, "testdata/refuse", func(t *testing.T, path string, a *txtar.Archive) {
		u, ds := codegen.Emit(closeArchive(t, a), codegen.Options{})
		if u != nil || !ds.HasErrors() {
			t.Fatal("emitted")
		}
		golden(t, path, a, "want", diag.Text(ds))
	})
}
