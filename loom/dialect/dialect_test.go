package dialect

import (
	"os"
	"testing"
)

func TestEveryFormatCompiles(t *testing.T) {
	for _, d := range Ops().All() {
		d.Compile()
		if d.Doc == "" {
			t.Errorf("%s has no documentation", d.Name)
		}
		if FormText(d) == "" && d.Format != "" {
			t.Errorf("%s has no form", d.Name)
		}
	}
}

func TestReferencePageIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../../docs/ops.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Reference() {
		t.Error("docs/ops.md is out of date; run 'go generate ./loom/dialect'")
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"index.ad", "index.add"}, {"vector.fragmnt.load", "vector.fragment.load"}, {"nothing.alike.at.all", ""}} {
		if got := Ops().Nearest(c.in); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
