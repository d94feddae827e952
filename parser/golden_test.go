package parser

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
)

var update = flag.Bool("update", false, "rewrite golden files")

// parseAll parses and loads a whole text.
func parseAll(name, text string) (*loom.Module, diag.List) {
	m, l := Parse(diag.NewSource(name, text))
	return m, append(l, m.Load()...).Sorted()
}

// Each archive holds in.loom and what parsing it gives: out.loom (canonical
// text) when it is clean, errors otherwise.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := string(ar.Files[0].Data)
			m, l := parseAll("in.loom", in)
			got := txtar.File{Name: "errors", Data: []byte(diag.Text(l))}
			if len(l) == 0 {
				out := loom.Print(m)
				got = txtar.File{Name: "out.loom", Data: out}
				again, l2 := parseAll("out.loom", string(out))
				if len(l2) > 0 {
					t.Fatalf("canonical text does not parse:\n%s", diag.Text(l2))
				}
				if d := cmp.Diff(string(out), string(loom.Print(again))); d != "" {
					t.Errorf("canonical text is not a fixed point (-first +second):\n%s", d)
				}
			}
			if *update {
				ar.Files = []txtar.File{ar.Files[0], got}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(ar.Files) < 2 {
				t.Fatal("no expectation; run with -update")
			}
			want := ar.Files[1]
			if want.Name != got.Name {
				t.Fatalf("want %s, got %s:\n%s", want.Name, got.Name, got.Data)
			}
			if d := cmp.Diff(string(want.Data), string(got.Data)); d != "" {
				t.Errorf("%s (-want +got):\n%s", want.Name, d)
			}
		})
	}
}

// A reference tree, when at hand, must parse and round-trip. Nothing of it is
// part of this repository.
func TestReferenceTree(t *testing.T) {
	dir := os.Getenv("LOOM_REFERENCE")
	if dir == "" {
		t.Skip("LOOM_REFERENCE names no directory with .loom files: round trip over a reference tree not run")
	}
	n, bad := 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		m, l := parseAll(path, string(text))
		if len(l) > 0 {
			bad++
			t.Logf("%s", diag.Text(l[:1]))
			return nil
		}
		out := loom.Print(m)
		again, l2 := parseAll(path, string(out))
		if len(l2) > 0 || string(loom.Print(again)) != string(out) {
			t.Errorf("%s: canonical text is not a fixed point\n%s", path, diag.Text(l2))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d files parse and round-trip", n-bad, n)
}

func TestBundledCorpusIsCanonical(t *testing.T) {
	err := filepath.WalkDir("../corpus/kernels", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, l := parseAll(path, string(text))
		if len(l) > 0 {
			t.Errorf("%s", diag.Text(l))
			return nil
		}
		if d := cmp.Diff(string(text), string(loom.Print(m))); d != "" {
			t.Errorf("%s is not canonical (-file +printed):\n%s", path, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
