package require_test

import (
	"flag"
	"fmt"
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
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

var update = flag.Bool("update", false, "rewrite the expected texts in testdata")

func bundled(t testing.TB) *require.Bench {
	t.Helper()
	c, ds := corpus.Open(t.Context(), corpus.Options{})
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return require.NewBench(compat.NewSurface(exports.New(c), ""))
}

func archived(t testing.TB, a *txtar.Archive) *require.Bench {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "corpus/"); ok {
			fsys[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	if len(fsys) == 0 {
		return bundled(t)
	}
	c, ds := corpus.OpenFS(t.Context(), fsys, "corpus")
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return require.NewBench(compat.NewSurface(exports.New(c), ""))
}

// TestCheck runs testdata/check/*.txtar: requirements against a corpus of the
// archive, or the bundled one, and the whole report.
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range a.Files {
				if f.Name != "requirements.jsonc" {
					continue
				}
				cases, ds := require.Read(diag.NewSource(f.Name, string(f.Data)))
				got.WriteString(diag.Text(ds))
				results, err := archived(t, a).Check(t.Context(), cases)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range results {
					ds = append(ds, r.Diags...)
					got.WriteString(diag.Text(r.Diags))
					if r.Run != nil {
						fmt.Fprintf(&got, "case '%s': %s", r.Case.Name, r.Run.Geometry)
						for i, b := range r.Fit.Kernel.Bindings {
							fmt.Fprintf(&got, ", %s %d", b.Name, r.Run.Reach[i].Bytes)
							if !r.Run.Reach[i].Known {
								got.WriteString("+?")
							}
						}
						got.WriteByte('\n')
					}
				}
				for _, d := range ds {
					if !d.Span.Valid() || d.Help == "" && d.Severity == diag.Error {
						t.Errorf("diagnostic without place or help: %v", d)
					}
				}
			}
			want := &a.Files[len(a.Files)-1]
			if want.Name != "want" {
				t.Fatalf("the last file is %s", want.Name)
			}
			if *update {
				want.Data = []byte(got.String())
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(want.Data), got.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
