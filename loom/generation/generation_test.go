package generation_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/generation"
	"github.com/loomc/loomc/loom/verify"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite golden files")

func parse(name, text string) (*loom.Module, diag.List) {
	m, l := parser.Parse(diag.NewSource(name, text))
	return m, append(l, m.Load()...)
}

func verified(name, text string) (*loom.Module, diag.List) {
	m, l := parser.Parse(diag.NewSource(name, text))
	return m, append(l, verify.Module(m, verify.Options{})...).Sorted()
}

// convert parses text, converts it and returns the canonical text of the result.
func convert(name, text string, to generation.Generation) (string, diag.List) {
	m, l := parse(name, text)
	if l.HasErrors() {
		return "", l
	}
	before := string(loom.Print(m))
	n, l := generation.Convert(m, to)
	if after := string(loom.Print(m)); after != before {
		panic("Convert changed its input:\n" + cmp.Diff(before, after))
	}
	if l.HasErrors() {
		return "", l
	}
	return string(loom.Print(n)), l
}

// Each archive holds in.loom and what becomes of it: new.loom or old.loom where
// it can be converted, new.errors or old.errors where not.
func TestConvert(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := string(ar.Files[0].Data)
			if len(ar.Files) < 2 {
				t.Fatal("the archive expects nothing")
			}
			for i, f := range ar.Files[1:] {
				word, _, _ := strings.Cut(f.Name, ".")
				to, err := generation.Parse(word)
				if err != nil {
					t.Fatal(err)
				}
				out, l := convert("in.loom", in, to)
				got := txtar.File{Name: word + ".loom", Data: []byte(out)}
				if len(l) > 0 {
					got = txtar.File{Name: word + ".errors", Data: []byte(diag.Text(l))}
				} else {
					legal(t, in, out, to)
				}
				if *update {
					ar.Files[i+1] = got
					continue
				}
				if f.Name != got.Name {
					t.Fatalf("want %s, got %s:\n%s", f.Name, got.Name, got.Data)
				}
				if d := cmp.Diff(string(f.Data), string(got.Data)); d != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, d)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func archives(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/convert/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return files
}

// legal demands that a conversion verifies if its input does, is canonical and
// that converting it once more changes nothing.
func legal(t *testing.T, in, out string, to generation.Generation) {
	t.Helper()
	m, l := verified("out.loom", out)
	if _, before := verified("in.loom", in); len(before) > 0 && !before.HasErrors() == l.HasErrors() || len(before) == 0 && len(l) > 0 {
		t.Errorf("the result in the %s generation does not verify:\n%s%s", to, diag.Text(l), out)
	}
	if l.HasErrors() {
		return
	}
	if d := cmp.Diff(out, string(loom.Print(m))); d != "" {
		t.Errorf("the result is not canonical (-result +printed):\n%s", d)
	}
	again, l := convert("out.loom", out, to)
	if d := cmp.Diff(out, again); d != "" || len(l) > 0 {
		t.Errorf("converting twice is not converting once (-once +twice):\n%s%s", d, diag.Text(l))
	}
}

var lossy = regexp.MustCompile(`\b(min|max)\(|func\.template<\S+>.* inline .*@`)

// roundTrip demands that a text of the older generation survives the way to the
// newer one and back. It reports whether the text could be converted.
func roundTrip(t *testing.T, name, in string) bool {
	t.Helper()
	old, l := convert(name, in, generation.Old)
	if l.HasErrors() {
		return false
	}
	if lossy.MatchString(old) {
		return false // what takes the place of these stays
	}
	n, l := convert(name, old, generation.New)
	if l.HasErrors() {
		return false
	}
	legal(t, in, n, generation.New)
	back, l := convert(name, n, generation.Old)
	if l.HasErrors() {
		t.Errorf("%s: what came from the older generation does not go back:\n%s", name, diag.Text(l))
		return true
	}
	if d := cmp.Diff(old, back); d != "" {
		t.Errorf("%s: to=new, to=old is not the identity (-before +after):\n%s", name, d)
	}
	return true
}

func TestRoundTrip(t *testing.T) {
	n := 0
	for _, file := range archives(t) {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if roundTrip(t, filepath.Base(file), string(ar.Files[0].Data)) {
			n++
		}
	}
	if n == 0 {
		t.Error("no golden file makes the round trip")
	}
}

// A tree of files of the older generation, when at hand, must make the round
// trip. Nothing of it is part of this repository.
func TestReferenceTree(t *testing.T) {
	dir := os.Getenv("LOOM_REFERENCE")
	if dir == "" {
		t.Skip("LOOM_REFERENCE names no directory with .loom files: round trip over a reference tree not run")
	}
	n, refused := 0, 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		if !roundTrip(t, path, string(text)) {
			refused++
			for _, to := range []generation.Generation{generation.Old, generation.New} {
				_, l := convert(path, string(text), to)
				t.Logf("%s to %s:\n%s", path, to, diag.Text(l))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d of them not convertible", n, refused)
}

func TestParse(t *testing.T) {
	for _, g := range []generation.Generation{generation.New, generation.Old} {
		if got, err := generation.Parse(g.String()); err != nil || got != g {
			t.Errorf("Parse(%q) = %v, %v", g.String(), got, err)
		}
	}
	if _, err := generation.Parse("newest"); err == nil || !strings.Contains(err.Error(), "newest") {
		t.Errorf("Parse(newest): %v", err)
	}
}

func TestFaultyInput(t *testing.T) {
	m, _ := parser.Parse(diag.NewSource("in.loom", "func.def @f() {\n  index.ad\n}\n"))
	n, l := generation.Convert(m, generation.New)
	if n != nil || !l.HasErrors() || l[0].Code != "PARSE/006" {
		t.Errorf("Convert of a faulty module: %v, %v", n, l)
	}
}
