package generation_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/generation"
)

// Whatever can be read converts to something that can be read, and converting
// once more changes nothing; or it is refused with a place.
func FuzzConvert(f *testing.F) {
	for _, file := range archives(f) {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(ar.Files[0].Data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m, l := parse("in.loom", text); l.HasErrors() || m == nil {
			return
		}
		for _, to := range []generation.Generation{generation.New, generation.Old} {
			out, l := convert("in.loom", text, to)
			if l.HasErrors() {
				for _, d := range l {
					if !d.Span.Valid() {
						t.Fatalf("%s: no place", d)
					}
				}
				continue
			}
			if _, l := parse("out.loom", out); l.HasErrors() {
				t.Fatalf("to %s: the result does not parse:\n%s%s", to, diag.Text(l), out)
			}
			again, l := convert("out.loom", out, to)
			if again != out || l.HasErrors() {
				t.Fatalf("to %s: converting twice is not converting once:\n%s\n%s%s", to, out, again, diag.Text(l))
			}
		}
	})
}
