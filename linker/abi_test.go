package linker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

// linkText links one root out of one text and fails the test on errors.
func linkText(t testing.TB, text, root string) *linker.Result {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("k.loom", text))
	res, more := linker.Link(context.Background(), linker.NewIndex([]linker.Source{{Mod: m}}), linker.Request{Roots: []string{root}})
	if ds = append(ds, more...); len(ds) > 0 {
		t.Fatalf("link:\n%s", diag.Text(ds))
	}
	return res
}

func abiText(a *linker.ABI) string {
	var b strings.Builder
	for _, x := range a.Bindings {
		fmt.Fprintf(&b, "%s %s", x.Name, x.Access)
		if x.ReadAt.Valid() {
			fmt.Fprintf(&b, " read %s", x.ReadAt)
		}
		if x.WriteAt.Valid() {
			fmt.Fprintf(&b, " written %s", x.WriteAt)
		}
		b.WriteByte('\n')
	}
	for _, x := range a.Launch {
		fmt.Fprintf(&b, "launch %s %s\n", x.Name, x.Type)
	}
	for _, x := range a.Workload {
		fmt.Fprintf(&b, "workload %s %s\n", x.Name, x.Type)
	}
	if a.TargetSelector != "" {
		fmt.Fprintf(&b, "target %s\n", a.TargetSelector)
	}
	return b.String()
}

// TestABI derives the interface of an archive's root and checks every record in
// it: want.abi is the interface, want.NAME the findings on record.NAME.
func TestABI(t *testing.T) {
	files, err := filepath.Glob("testdata/abi/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			res := linkText(t, string(ar.Files[0].Data), "@k")
			abi := linker.DeriveABI(res.Module, res.Roots[0].Def)
			got := map[string]string{"want.abi": abiText(abi)}
			out := []txtar.File{ar.Files[0], {Name: "want.abi", Data: []byte(got["want.abi"])}}
			for _, f := range ar.Files {
				if name, ok := strings.CutPrefix(f.Name, "record."); ok {
					text := diag.Text(linker.CheckABI(abi, record(string(f.Data))))
					got["want."+name] = text
					out = append(out, f, txtar.File{Name: "want." + name, Data: []byte(text)})
				}
			}
			if *update {
				ar.Files = out
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := map[string]string{}
			for _, f := range ar.Files {
				if strings.HasPrefix(f.Name, "want.") {
					want[f.Name] = string(f.Data)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// record reads a stand-in for a manifest: one item a line.
func record(text string) linker.ExportRecord {
	src := diag.NewSource("manifest", text)
	var r linker.ExportRecord
	r.Span = diag.Span{Src: src, End: uint32(strings.IndexByte(text, '\n'))}
	off := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		at := off
		word := func(i int) linker.Text {
			f := strings.Fields(line)
			if i >= len(f) {
				return linker.Text{}
			}
			start := at + strings.Index(line, " "+f[i]) + 1
			return linker.Text{Value: f[i], Span: diag.Span{Src: src, Start: uint32(start), End: uint32(start + len(f[i]))}}
		}
		switch kind, _, _ := strings.Cut(strings.TrimSpace(line), " "); kind {
		case "export":
			r.Name = word(1)
		case "target":
			r.TargetSelector = word(1)
		case "workload":
			r.Workload = append(r.Workload, linker.ParamRecord{Name: word(1), Type: word(2)})
		case "launch":
			r.Launch = append(r.Launch, linker.ParamRecord{Name: word(1), Type: word(2)})
		case "binding":
			r.Bindings = append(r.Bindings, word(1))
			if w := word(2); w.Value != "" {
				r.Access = append(r.Access, w)
			}
		}
		off += len(line)
	}
	return r
}
