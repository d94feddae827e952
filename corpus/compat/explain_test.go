package compat_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/corpus"
)

// TestExplain explains the export of testdata/explain.txtar, whose corpus has a
// template choice, a bound in an assume, and workgroup memory that follows a
// config past the device's limit.
func TestExplain(t *testing.T) {
	const file = "testdata/explain.txtar"
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := archiveSurface(t, a, "corpus")
	e := s.Set().Corpus().Manifest().Lookup("demo_rows", "")
	var b strings.Builder
	if err := s.Explain(t.Context(), s.Contract(t.Context(), e)).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := &a.Files[len(a.Files)-1]
	if *update {
		want.Data = []byte(b.String())
		if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(want.Data), b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestExplainBundled explains every export of the bundled corpus: none may be
// refused in a case that its own manifest plans.
func TestExplainBundled(t *testing.T) {
	if testing.Short() {
		t.Skip("specialises every plan case")
	}
	s := surface(t, corpus.Bundled(), "bundled")
	for _, e := range s.Exports() {
		x := s.Explain(t.Context(), s.Contract(t.Context(), e))
		if len(x.Cases) == 0 || len(x.Buffers) != len(e.Bindings) {
			t.Errorf("%s: %d cases, %d buffers", e.ID(), len(x.Cases), len(x.Buffers))
		}
		for _, c := range x.Cases {
			if c.Geometry == nil {
				t.Errorf("%s: case %s: %s", e.ID(), c.Name, c.Problem)
			}
		}
	}
}
