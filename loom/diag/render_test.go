package diag

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// sample holds every feature a rendering must show: two places, a help line, a
// multi-byte character before the caret, a place without a file, a warning.
func sample() List {
	src := NewSource("ops/add.loom", "config.decl @n : index // größe\nfunc.def @f() {\n  /* é */ %n = config.get @n : i32\n}\n")
	decl := Span{src, 12, 14}
	at := strings.Index(src.Text, "config.get")
	use := Span{src, uint32(at), uint32(at + len("config.get"))}
	whole := Span{src, uint32(strings.Index(src.Text, "func.def")), uint32(len(src.Text) - 1)}
	return List{
		Errorf(use, "TYPE/001", "config '@n' has type index, read as i32").
			WithRelated(decl, "declared here").WithHelp("write ': index' and convert with index.cast"),
		Warnf(whole, "LINT/UNUSED", "function '@f' is never used, 100%% sure"),
		Errorf(Span{}, "CONFIG/UNKNOWN", "no config is called 'm'").WithRelated(Span{}, "known: n"),
	}
}

func TestRenderings(t *testing.T) {
	for name, render := range map[string]func(*bytes.Buffer, List) error{
		"text.txt":    func(b *bytes.Buffer, l List) error { return WriteText(b, l) },
		"report.json": func(b *bytes.Buffer, l List) error { return WriteJSON(b, l) },
		"log.sarif":   func(b *bytes.Buffer, l List) error { return WriteSARIF(b, l, "1.2.3") },
		"github.txt":  func(b *bytes.Buffer, l List) error { return WriteGitHub(b, l) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := render(&b, sample()); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.MkdirAll("testdata", 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
			}
		})
	}
}

func TestEmptyListRendersAsValidDocuments(t *testing.T) {
	for name, render := range map[string]func(*bytes.Buffer) error{
		"json":  func(b *bytes.Buffer) error { return WriteJSON(b, nil) },
		"sarif": func(b *bytes.Buffer) error { return WriteSARIF(b, nil, "") },
	} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(b.String(), "null") {
			t.Errorf("%s: a null where a list belongs:\n%s", name, b.String())
		}
	}
}

func TestGitHubCommandCannotBeInjected(t *testing.T) {
	src := NewSource("a,b:c\n::error::x", "x\n")
	var b bytes.Buffer
	if err := WriteGitHub(&b, List{Errorf(Span{src, 0, 1}, "PARSE/003", "bad\n::set-output name=x::1")}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 1 {
		t.Errorf("%d lines, want 1:\n%s", n, b.String())
	}
}
