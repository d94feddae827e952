package program_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/corpus/program"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

var update = flag.Bool("update", false, "rewrite the expected texts in testdata")

// TestPrograms runs testdata/*.txtar: a program against the corpus of the
// archive, or the bundled one, and the whole report.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			var text string
			for _, f := range a.Files {
				if name, ok := strings.CutPrefix(f.Name, "corpus/"); ok {
					fsys[name] = &fstest.MapFile{Data: f.Data}
				} else if f.Name == "program.json" {
					text = string(f.Data)
				}
			}
			bench := bundled(t)
			if len(fsys) > 0 {
				c, ds := corpus.OpenFS(t.Context(), fsys, "corpus")
				if c == nil {
					t.Fatal(diag.Text(ds))
				}
				bench = require.NewBench(compat.NewSurface(exports.New(c), ""))
			}
			p, ds := program.Read(diag.NewSource("program.json", text))
			if p != nil {
				more, err := program.Check(t.Context(), bench, p)
				if err != nil {
					t.Fatal(err)
				}
				ds = append(ds, more...)
			}
			for _, d := range ds {
				if !d.Span.Valid() || d.Help == "" {
					t.Errorf("diagnostic without place or help: %v", d)
				}
			}
			got := diag.Text(ds.Sorted())
			want := &a.Files[len(a.Files)-1]
			if want.Name != "want" {
				t.Fatalf("the last file is %s", want.Name)
			}
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(want.Data), got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"schema": "ggml-hrx-command-program-v1", "commands": [{"kernel": "a:b", "dependencies": [0], "bindings": [{"value": "x", "access": "read", "offset": 1, "length": 9223372036854775807}]}]}`)
	f.Add(`{"schema": "ggml-hrx-command-program-v1", "transients": {"arena_size": 1, "allocations": [{"value": "x", "size": 9223372036854775807, "arena_offset": 4}]}, "commands": []}`)
	c, ds := corpus.OpenFS(f.Context(), fstest.MapFS{"manifest.json": {Data: []byte(`{"schema": "ggml-hrx-kernel-corpus-v1", "files": [], "exports": []}`)}}, "empty")
	if c == nil {
		f.Fatal(diag.Text(ds))
	}
	bench := require.NewBench(compat.NewSurface(exports.New(c), ""))
	f.Fuzz(func(t *testing.T, s string) {
		p, ds := program.Read(diag.NewSource("p", s))
		if p == nil {
			if len(ds) == 0 {
				t.Error("no program and no finding")
			}
			return
		}
		if _, err := program.Check(t.Context(), bench, p); err != nil {
			t.Error(err)
		}
	})
}
