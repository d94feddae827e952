package corpustest

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/verify"
)

// referenceTree returns the checkout the agreement tests run on; they need one.
func referenceTree(t *testing.T) fs.FS {
	dir := os.Getenv("LOOM_REFERENCE")
	if dir == "" {
		t.Skip("SKIPPED: set LOOM_REFERENCE to a checkout of the reference implementation to measure agreement with its tests")
	}
	return os.DirFS(dir)
}

func TestAgreement(t *testing.T) {
	ts, err := Dir(referenceTree(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Report(&b, ts, true); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	if len(ts) == 0 {
		t.Fatal("the tree holds no corpus files")
	}
	agree, total := map[Mode]int{}, map[Mode]int{}
	for _, x := range ts {
		agree[x.Mode] += x.Agree
		total[x.Mode] += x.Total
	}
	if got := percent(agree[RoundTrip], total[RoundTrip]); got < 100 {
		t.Errorf("roundtrip agreement %.1f%%, want 100%%", got)
	}
	if got := percent(agree[Verify], total[Verify]); got < 95 {
		t.Errorf("verify agreement %.1f%%, want at least 95%%", got)
	}
}

// faulty names modules that are meant to be refused.
var faulty = map[string]bool{"duplicate_symbol.loom": true}

// TestModules parses, verifies and prints every module of the tree and, where
// LOOM_BENCH names one, of a kernel corpus.
func TestModules(t *testing.T) {
	trees := []fs.FS{referenceTree(t)}
	if dir := os.Getenv("LOOM_BENCH"); dir != "" {
		trees = append(trees, os.DirFS(dir))
	}
	for _, tree := range trees {
		files, bad := 0, 0
		err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".loom") {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			files++
			m, l := load(name, string(text))
			l = append(l, verify.Module(m, verify.Options{})...).Sorted()
			if l.HasErrors() {
				if faulty[path.Base(name)] {
					return nil
				}
				bad++
				t.Errorf("%s", strings.Join(strings.SplitN(l.Error(), "\n", 4)[:min(3, len(l))], "\n"))
				return nil
			}
			once := string(loom.Print(m))
			again, l := load(name, once)
			if l.HasErrors() {
				bad++
				t.Errorf("%s: printed text: %s", name, firstLine(l.Error()))
			} else if twice := string(loom.Print(again)); twice != once {
				bad++
				t.Errorf("%s: printing is not a fixed point:\n%s", name, firstDifference(once, twice))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d of %d modules parse, verify and round-trip", files-bad, files)
	}
}

func TestSplitReadsDirectives(t *testing.T) {
	cases := Split("f", `// RUN: verify

func.def @a() {
  // ERROR@+1: TYPE/003 "lhs"
  func.return
}

// ====

// RUN: roundtrip
func.def @b() { func.return }
// ----
func.def @b() {
  func.return
}
`)
	if len(cases) != 2 {
		t.Fatalf("%d cases, want 2", len(cases))
	}
	a, b := cases[0], cases[1]
	if a.Mode != Verify || len(a.Errors) != 1 || a.Errors[0] != (Expectation{5, "TYPE/003"}) {
		t.Errorf("first case: %+v", a)
	}
	if b.Mode != RoundTrip || !b.HasOut || b.Line != 9 {
		t.Errorf("second case: %+v", b)
	}
}

func TestRunComparesLineAndCode(t *testing.T) {
	const body = `func.def @f(%x: i64, %y: index) -> (index) {
  // ERROR@+2: TYPE/003 "lhs"
  // ERROR@+1: TYPE/001
  %r = index.add %x, %y : index
  func.return %r : index
}
`
	c := Split("f", "// RUN: verify\n"+body)[0]
	if o := Run(&c); !o.Agrees {
		t.Errorf("disagrees: %s", o.Detail)
	}
	wrong := Split("f", "// RUN: verify\n"+strings.Replace(body, "ERROR@+1", "ERROR@+2", 1))[0]
	if o := Run(&wrong); o.Agrees || !strings.Contains(o.Detail, "missing TYPE/001") || !strings.Contains(o.Detail, "unexpected TYPE/001") {
		t.Errorf("a diagnostic on the wrong line went unnoticed: %q", o.Detail)
	}
}
