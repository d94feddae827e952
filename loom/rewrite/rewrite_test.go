package rewrite_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/rewrite"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestRewrites runs the rewrite that an archive's name starts with over the first
// file's only definition; the second file is the result.
func TestRewrites(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, ds := parser.Parse(diag.NewSource("in.loom", string(ar.Files[0].Data)))
			if ds = append(ds, m.Load()...); ds.HasErrors() {
				t.Fatal(diag.Text(ds))
			}
			def := loom.CloneDef(m.Defs[0])
			what, _, _ := strings.Cut(name, "_")
			n := 0
			switch what {
			case "prune":
				n = rewrite.Prune(def)
			case "merge":
				n = rewrite.Merge(def)
			case "hoist":
				n = rewrite.Hoist(def, facts.Analyze(def, facts.Env{}))
			case "rename":
				rewrite.Rename(def)
			default:
				t.Fatalf("no rewrite %q", what)
			}
			got := string(loom.PrintDef(def))
			if (n > 0) != (what != "rename" && got != string(loom.PrintDef(m.Defs[0]))) && what != "prune" {
				t.Errorf("%d changes reported", n)
			}
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(ar.Files[1].Data), got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			again, ds := parser.Parse(diag.NewSource("out.loom", got))
			if ds = append(ds, again.Load()...); ds.HasErrors() {
				t.Errorf("the result does not parse:\n%s", diag.Text(ds))
			}
		})
	}
}
