package compat_test

import (
	"flag"
	"io/fs"
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
	"github.com/loomc/loomc/loom/diag"
)

var update = flag.Bool("update", false, "rewrite the expected texts in testdata")

// surface opens the files below dir of an archive as a corpus.
func surface(t testing.TB, fsys fs.FS, name string) *compat.Surface {
	t.Helper()
	c, ds := corpus.OpenFS(t.Context(), fsys, name)
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return compat.NewSurface(exports.New(c), "")
}

func archiveSurface(t testing.TB, a *txtar.Archive, dir string) *compat.Surface {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
			fsys[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return surface(t, fsys, dir)
}

func diff(t testing.TB, old, new *compat.Surface, o compat.Options) *compat.Report {
	t.Helper()
	r, err := compat.Diff(t.Context(), old, new, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t testing.TB, r *compat.Report) string {
	t.Helper()
	var b strings.Builder
	if err := compat.WriteText(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRules runs the example pair of every rule: testdata/rules/ID.txtar holds
// two small corpora below old/ and new/ and the report, places included.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".txtar")
		seen[id] = true
		t.Run(id, func(t *testing.T) {
			rule, ok := compat.LookupRule(id)
			if !ok {
				t.Fatalf("no rule is called %s", id)
			}
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := diff(t, archiveSurface(t, a, "old"), archiveSurface(t, a, "new"), compat.Options{})
			found := false
			for _, f := range r.Findings {
				if f.Rule.ID == id {
					found = true
					if !f.Place().Valid() {
						t.Errorf("finding without a place: %s", f.Message)
					}
					if f.Rule.Category != rule.Category {
						t.Errorf("category %s, want %s", f.Rule.Category, rule.Category)
					}
				}
			}
			if !found {
				t.Errorf("the pair does not show the rule")
			}
			golden(t, file, a, text(t, r))
		})
	}
	for _, r := range compat.Rules() {
		if !seen[r.ID] {
			t.Errorf("rule %s has no example pair", r.ID)
		}
		if r.Doc == "" || r.Title == "" || r.Category != compat.Additive && r.Fix == "" {
			t.Errorf("rule %s is not documented", r.ID)
		}
	}
}

// golden compares got with the archive's last file, "want".
func golden(t *testing.T, file string, a *txtar.Archive, got string) {
	t.Helper()
	want := &a.Files[len(a.Files)-1]
	if want.Name != "want" {
		t.Fatalf("the last file of %s is %s", file, want.Name)
	}
	if *update {
		want.Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(want.Data), got); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
}
