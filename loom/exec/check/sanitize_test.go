package check_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/parser"
	"github.com/rogpeppe/go-internal/txtar"
)

// The zoo: every file below testdata/sanitize/KIND holds a kernel with one
// planted fault of that kind and its corrected twin. The fault is reported at the
// line marked "// fault", and nothing else is; the twin is clean under every
// sanitizer.
func TestZoo(t *testing.T) {
	files, err := filepath.Glob("testdata/sanitize/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 40 {
		t.Fatalf("only %d files", len(files))
	}
	for _, f := range files {
		kind := filepath.Base(filepath.Dir(f))
		t.Run(kind+"/"+strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range txtar.Parse(b).Files {
				text := string(part.Data)
				fault := part.Name == "fault.loom"
				results := runText(t, part.Name, text, zooDevice(fault, kind))
				if len(results) == 0 {
					t.Fatalf("%s has no case", part.Name)
				}
				for _, r := range results {
					for _, s := range r.Samples {
						if fault {
							checkFault(t, text, kind, s)
							continue
						}
						if s.Status != check.Pass {
							var out strings.Builder
							check.WriteText(&out, results, check.ShowCases)
							t.Errorf("the twin is not clean:\n%s", out.String())
						}
					}
				}
			}
		})
	}
}

func zooDevice(fault bool, kind string) *check.CPU {
	cpu := &check.CPU{}
	if !fault || kind != "determinism" {
		cpu.Options.Sanitize = exec.SanAll
	}
	if !fault || kind == "determinism" {
		cpu.Determinism = &exec.Determinism{Find: true}
	}
	return cpu
}

func runText(t *testing.T, name, text string, dev check.Device) []*check.CaseResult {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource(name, text))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatalf("%s", diag.Text(ds))
	}
	return runFile(t, m, nil, "gfx1151", check.Options{Device: dev})
}

func checkFault(t *testing.T, text, kind string, s check.SampleResult) {
	t.Helper()
	var marked []int
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "// fault") {
			marked = append(marked, i+1)
		}
	}
	want := "SANITIZE/" + strings.ToUpper(kind)
	found := false
	for _, d := range s.Problems {
		line, _ := d.Span.LineCol()
		if d.Code != want {
			t.Errorf("unexpected %s:\n%s", d.Code, diag.Text(diag.List{d}))
			continue
		}
		if slices.Contains(marked, line) {
			found = true
		} else {
			t.Errorf("reported at another line than %v:\n%s", marked, diag.Text(diag.List{d}))
		}
		if d.Help == "" {
			t.Errorf("no fix is named:\n%s", diag.Text(diag.List{d}))
		}
	}
	if !found {
		t.Errorf("nothing was reported at line %v; status %s", marked, s.Status)
	}
	if s.Status != check.Fail && len(s.Problems) > 0 {
		t.Errorf("the status is %s", s.Status)
	}
	if testing.Verbose() {
		t.Logf("\n%s", diag.Text(s.Problems))
	}
}
