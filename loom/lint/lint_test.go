package lint_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/lint"
	"github.com/loomc/loomc/loom/verify"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite the diagnostics of the cases")

// TestRules runs the archives in testdata. The files called bad… are checked
// together and must give the diagnostics; those called good… say how the fault is
// mended and must give none.
func TestRules(t *testing.T) {
	for _, file := range cases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := check(t, ar, "good"); got != "" {
				t.Errorf("the corrected text is reported:\n%s", got)
			}
			got := check(t, ar, "bad")
			i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "diagnostics" })
			if i < 0 {
				t.Fatal("no diagnostics section")
			}
			if got == "" {
				t.Error("the fault is not reported")
			}
			if d := cmp.Diff(string(ar.Files[i].Data), got); d != "" {
				if !*update {
					t.Errorf("diagnostics differ (-want +got):\n%s", d)
				}
				ar.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func cases(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return files
}

func check(t *testing.T, ar *txtar.Archive, prefix string) string {
	t.Helper()
	var mods []*loom.Module
	for _, f := range ar.Files {
		if !strings.HasPrefix(f.Name, prefix) {
			continue
		}
		m, ds := parser.Parse(diag.NewSource(f.Name, string(f.Data)))
		ds = append(ds, verify.Module(m, verify.Options{})...)
		if ds.HasErrors() {
			t.Fatalf("%s is no valid Loom:\n%s", f.Name, diag.Text(ds))
		}
		mods = append(mods, m)
	}
	if len(mods) == 0 {
		t.Fatalf("no %s*.loom", prefix)
	}
	ds, err := lint.Files(context.Background(), mods, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return diag.Text(ds)
}

// Every rule has a case of its own and an entry in the code table.
func TestRulesAreCovered(t *testing.T) {
	var all strings.Builder
	for _, file := range cases(t) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, found, _ := strings.Cut(string(b), "-- diagnostics --")
		all.WriteString(found)
	}
	ids := []string{"LINT/IGNORE-MALFORMED", "LINT/IGNORE-UNUSED"}
	last := ""
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
		if r.ID <= last {
			t.Errorf("%s stands behind %s", r.ID, last)
		}
		last = r.ID
		if r.Title() == "" || r.Doc() == "" || r.Fix() == "" {
			t.Errorf("%s is not documented", r.ID)
		}
	}
	for _, id := range ids {
		if _, ok := diag.Lookup(id); !ok {
			t.Errorf("%s is not in the code table", id)
		}
		if !strings.Contains(all.String(), id+":") {
			t.Errorf("no case reports %s", id)
		}
	}
}

func TestOptionsChooseRules(t *testing.T) {
	src := "config.decl @a : index\n\n// loomc:ignore LINT/CONFIG-UNUSED bound by engines\nconfig.decl @b : index\n"
	run := func(o lint.Options) diag.List {
		t.Helper()
		m, _ := parser.Parse(diag.NewSource("a.loom", src))
		ds, err := lint.Files(context.Background(), []*loom.Module{m}, o)
		if err != nil {
			t.Fatal(err)
		}
		return ds
	}
	if ds := run(lint.Options{Only: []string{"lint/config-unused"}}); len(ds) != 1 || !strings.Contains(ds[0].Message, "@a") {
		t.Errorf("with the rule: %v", ds)
	}
	// A suppression of a rule that does not run is not called useless.
	if ds := run(lint.Options{Except: []string{"LINT/CONFIG-UNUSED"}}); len(ds) != 0 {
		t.Errorf("without the rule: %v", ds)
	}
}

func TestFaultyFileIsReportedAndSkipped(t *testing.T) {
	bad, _ := parser.Parse(diag.NewSource("bad.loom", "config.decl @a : index\n\nfunc.def public @f() {\n  %x = index.nonsense 1 : index\n  func.return\n}\n"))
	good, _ := parser.Parse(diag.NewSource("good.loom", "config.decl @b : index\n"))
	ds, err := lint.Files(context.Background(), []*loom.Module{bad, good}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range ds {
		got = append(got, d.Span.Src.Name+" "+d.Code)
	}
	if d := cmp.Diff([]string{"bad.loom PARSE/006", "good.loom LINT/CONFIG-UNUSED"}, got); d != "" {
		t.Errorf("findings differ (-want +got):\n%s\n%s", d, diag.Text(ds))
	}
}

// Whatever a file holds, checking it ends with located findings.
func FuzzFiles(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range ar.Files {
			if strings.HasSuffix(x.Name, ".loom") {
				f.Add(string(x.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, _ := parser.Parse(diag.NewSource("f.loom", text))
		if m == nil {
			return
		}
		ds, err := lint.Files(context.Background(), []*loom.Module{m}, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range ds {
			if _, ok := diag.Lookup(d.Code); !ok || !d.Span.Valid() {
				t.Errorf("finding without place or with unknown code: %v", d)
			}
		}
	})
}

func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, _ := parser.Parse(diag.NewSource("a.loom", "config.decl @a : index\n"))
	if _, err := lint.Files(ctx, []*loom.Module{m}, lint.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Files: %v", err)
	}
	set := bundled(t)
	picked, _ := set.Select(nil)
	if _, err := lint.Corpus(ctx, set, picked, lint.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Corpus: %v", err)
	}
}

func bundled(t *testing.T) *exports.Set {
	t.Helper()
	c, ds := corpus.Open(context.Background(), corpus.Options{})
	if c == nil || ds.HasErrors() {
		t.Fatalf("bundled corpus:\n%s", diag.Text(ds))
	}
	return exports.New(c)
}

// The bundled corpus has no error, and gives the same list every time.
func TestBundledCorpus(t *testing.T) {
	run := func() diag.List {
		set := bundled(t)
		picked, _ := set.Select(nil)
		ds, err := lint.Corpus(context.Background(), set, picked, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return ds
	}
	first := run()
	if first.HasErrors() {
		t.Errorf("errors:\n%s", diag.Text(first))
	}
	if d := cmp.Diff(diag.Text(first), diag.Text(run())); d != "" {
		t.Errorf("the second run differs:\n%s", d)
	}
}
