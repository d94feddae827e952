package parser_test

import (
	"strings"
	"testing"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

// Texts that other systems' editors write are named as what they are.
func TestForeignText(t *testing.T) {
	const def = "func.def @f() {\n  func.return\n}\n"
	for name, tt := range map[string]struct {
		text string
		want []string // in the report; none: no report
		defs int
	}{
		"byte order mark":          {"\ufeff" + def, []string{":1:1: error: PARSE/025: the file begins with a byte order mark", "without a byte order mark"}, 1},
		"line ends of two bytes":   {strings.ReplaceAll(def, "\n", "\r\n"), nil, 1},
		"line ends of one CR":      {"// f\r" + strings.ReplaceAll(def, "\n", "\r"), []string{":1:5: error: PARSE/025: carriage return without a line feed", "CR alone"}, 0},
		"CR in a comment":          {"// a \" quote\rfunc.def @g() {}\n" + def, []string{":1:13: error: PARSE/025: carriage return"}, 1},
		"CR at the end":            {def + "\r", []string{":4:1: error: PARSE/025: carriage return"}, 1},
		"CR in a string":           {"metadata.module \"a\rb\"\n" + def, nil, 2},
		"CR behind escaped quotes": {"metadata.module \"a\\\"b\"\r" + def, []string{":1:23: error: PARSE/025: carriage return"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m, ds := parser.Parse(diag.NewSource("in.loom", tt.text))
			got := diag.Text(ds)
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in\n%s", w, got)
				}
			}
			if len(ds) > 1 || len(tt.want) == 0 && len(ds) > 0 {
				t.Errorf("reports:\n%s", got)
			}
			if len(m.Defs) != tt.defs {
				t.Errorf("%d definitions, want %d", len(m.Defs), tt.defs)
			}
		})
	}
}
