package verify_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/verify"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

func parse(t testing.TB, name, text string) *loom.Module {
	t.Helper()
	m, l := parser.Parse(diag.NewSource(name, text))
	if l.HasErrors() {
		t.Fatalf("split: %v", l)
	}
	return m
}

// TestFindings verifies every testdata/*.txtar: in.loom gives the diagnostics in
// want, as people see them.
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(ar.Files) != 2 || ar.Files[0].Name != "in.loom" || ar.Files[1].Name != "want" {
				t.Fatalf("%s does not hold in.loom and want", file)
			}
			l := verify.Module(parse(t, "in.loom", string(ar.Files[0].Data)), verify.Options{})
			got := diag.Text(l.Sorted())
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(ar.Files[1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestEveryCodeHasACase reads the package's sources: a rule that no case breaks
// is a rule nobody knows to work.
func TestEveryCodeHasACase(t *testing.T) {
	shown := map[string]bool{}
	cases, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`[A-Z]+/[0-9]+`)
	for _, file := range cases {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range code.FindAllString(string(b), -1) {
			shown[c] = true
		}
	}
	// Only rewritten modules can break these; the parser lets no text through
	// that does.
	for _, c := range []string{"STRUCTURE/004", "STRUCTURE/023", "STRUCTURE/024", "DOMINANCE/005", "DOMINANCE/007", "DOMINANCE/008", "PARSE/027"} {
		shown[c] = true
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`"([A-Z]+/[0-9]+)"`).FindAllStringSubmatch(string(b), -1) {
			if !shown[m[1]] {
				t.Errorf("%s reports %s, which no case in testdata shows", file, m[1])
				shown[m[1]] = true
			}
		}
	}
}

func TestWorkersFindTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(ar.Files[0].Data)
	}
	one := verify.Module(parse(t, "all.loom", all.String()), verify.Options{})
	many := verify.Module(parse(t, "all.loom", all.String()), verify.Options{Workers: 8})
	if a, b := one.Error(), many.Error(); a != b {
		t.Errorf("one worker:\n%s\neight workers:\n%s", a, b)
	}
}

// TestFaultyDefinitionHidesNoOther puts a definition that does not parse between
// two that do not verify.
func TestFaultyDefinitionHidesNoOther(t *testing.T) {
	l := verify.Module(parse(t, "in.loom", `func.def @a(%x: i32) {
  %y = scalar.addf %x, %x : i32
  func.return
}
func.def @b() {
  %y = scalar.addf : : f32
  func.return
}
func.def @c(%x: i32) {
  %y = scalar.addf %x, %x : i32
  func.return
}
`), verify.Options{})
	lines := map[int]bool{}
	for _, d := range l {
		line, _ := d.Span.LineCol()
		lines[line] = true
	}
	for _, want := range []int{2, 6, 10} {
		if !lines[want] {
			t.Errorf("nothing reported on line %d:\n%v", want, l)
		}
	}
}

// TestRewrittenModule checks what only a stage that rewrites modules can break.
func TestRewrittenModule(t *testing.T) {
	m := parse(t, "in.loom", `func.def @f(%x: f32) {
  %a = scalar.negf %x : f32
  %b = scalar.negf %a : f32
  func.return
}
`)
	if l := verify.Module(m, verify.Options{Dominance: true}); l.HasErrors() {
		t.Fatalf("before: %v", l)
	}
	ops := m.Defs[0].Body.Blocks[0].Ops
	ops[0], ops[1] = ops[1], ops[0]
	l := verify.Module(m, verify.Options{Dominance: true})
	if len(l) != 1 || l[0].Code != "DOMINANCE/001" {
		t.Errorf("exchanged ops: %v", l)
	}
}

func FuzzVerify(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(ar.Files[0].Data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, _ := parser.Parse(diag.NewSource("fuzz.loom", text))
		l := verify.Module(m, verify.Options{Dominance: true})
		_ = diag.Text(l.Sorted())
	})
}

// BenchmarkVerify measures megabytes of source per second on a module of many
// kernels, already parsed.
func BenchmarkVerify(b *testing.B) {
	ar, err := txtar.ParseFile("testdata/clean.txtar")
	if err != nil {
		b.Fatal(err)
	}
	text := string(ar.Files[0].Data)
	at := strings.Index(text, "kernel.def")
	head, kernel := text[:at], text[at:]
	var all strings.Builder
	all.WriteString(head)
	for i := range 2000 {
		all.WriteString(strings.Replace(kernel, "@k(", "@k"+strconv.Itoa(i)+"(", 1))
	}
	m := parse(b, "big.loom", all.String())
	if l := verify.Module(m, verify.Options{}); l.HasErrors() {
		b.Fatal(l[0])
	}
	b.SetBytes(int64(all.Len()))
	b.ReportAllocs()
	for b.Loop() {
		verify.Module(m, verify.Options{})
	}
}
