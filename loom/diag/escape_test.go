package diag

import (
	"bytes"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain größe\t→":       "plain größe\t→",
		"\x1b[31mred":          `\x1b[31mred`,
		"a\x00b\x7f":           `a\x00b\x7f`,
		"one\ntwo\r\n":         `one\ntwo\r\n`,
		"\u009b2J":             `\u009b2J`,
		"x\u202ey":             `x\u202ey`,
		"bad \xff byte \ufffd": `bad \xff byte ` + "\ufffd",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %s, want %s", in, got, want)
		}
	}
}

// Whatever part of a diagnostic a hostile text gets into, a person's terminal
// and a runner's log see it escaped, on the line it belongs to.
func TestRenderingsEscape(t *testing.T) {
	const evil = "\x1b[2J\nx.loom:1:1: error: FORGED\u202e"
	src := NewSource("a"+evil, evil)
	l := List{Errorf(Span{src, 0, 1}, "PARSE/003", "message %s", evil).
		WithRelated(Span{src, 1, 2}, "related %s", evil).WithRelated(Span{}, "note %s", evil).WithHelp("help %s", evil)}
	var text, github, sarif bytes.Buffer
	for _, err := range []error{WriteText(&text, l), WriteGitHub(&github, l), WriteSARIF(&sarif, l, "")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"text": text.String(), "github": github.String(), "sarif": sarif.String()} {
		if strings.Contains(out, "\x1b") || strings.Contains(out, "\u202e") || strings.Contains(out, "\nx.loom") {
			t.Errorf("%s lets it through:\n%q", name, out)
		}
		if n := strings.Count(out, `\x1b[2J`); n < 4 {
			t.Errorf("%s shows %d escapes:\n%s", name, n, out)
		}
	}
}
