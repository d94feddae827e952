package parser

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// A comment may stand before any token, and it survives printing: once, wherever
// it was, and printing again changes nothing.
func TestCommentBeforeEveryToken(t *testing.T) {
	files, err := filepath.Glob("testdata/format/*.txtar")
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
			text := string(ar.Files[0].Data)
			sc := scanner{src: text}
			for n := 0; ; n++ {
				sc.next()
				const mark = "// here"
				with := text[:sc.start] + mark + []string{"\n", "\r\n"}[n%2] + text[sc.start:]
				if sc.comment { // what follows a comment on its line would be part of it
					with = text[:sc.start] + "\n" + with[sc.start:]
				}
				m, l := parseAll("in.loom", with)
				if len(l) > 0 {
					t.Fatalf("with a comment at offset %d:\n%s", sc.start, diag.Text(l))
				}
				out := string(loom.Print(m))
				if n := strings.Count(out, mark); n != 1 {
					line, col := diag.NewSource("", text).LineCol(sc.start)
					t.Fatalf("the comment before %q at %d:%d is printed %d times:\n%s", sc.text(), line, col, n, out)
				}
				again, l := parseAll("out.loom", out)
				if len(l) > 0 {
					t.Fatalf("with a comment at offset %d, printed text does not parse:\n%s", sc.start, diag.Text(l))
				}
				if twice := string(loom.Print(again)); twice != out {
					t.Fatalf("with a comment at offset %d, not a fixed point:\n%s\n---\n%s", sc.start, out, twice)
				}
				if sc.kind == tEOF {
					return
				}
			}
		})
	}
}
