package lint

import (
	"fmt"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// checkConfigUnused finds declared configs that no statement of the sources reads.
// A binding for one is accepted and has no effect.
func checkConfigUnused(s *sources) {
	read := map[string]bool{}
	for _, d := range s.defs {
		d.Walk(func(op *loom.Op) bool {
			if op.Name() == "config.get" {
				read[op.Word("config")] = true
			}
			return true
		})
	}
	var keys []string
	for k := range read {
		keys = append(keys, k)
	}
	for _, d := range s.defs {
		if d.Kind != loom.DefConfigDecl || read[d.Name] {
			continue
		}
		x := diag.Diagnostic{Span: d.NameSpan, Message: fmt.Sprintf("config '@%s' is declared and never read", d.Name)}
		if n := dialect.Nearest(d.Name, keys); n != "" {
			x = x.WithHelp("remove it; or was '@%s' meant, which is read?", n)
		}
		s.report(configUnused, x)
	}
}
