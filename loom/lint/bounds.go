package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
)

// statement is the promises that one place makes about one config.
type statement struct {
	config   *linker.Config
	span     diag.Span // of the first
	op, in   string
	promises []linker.Promise
}

// statements groups the promises about integer configs by the line they stand on.
func statements(l *link) []statement {
	var out []statement
	for _, c := range l.Configs {
		if !c.Integer || len(c.Decls) == 0 {
			continue
		}
		first := len(out)
		for _, p := range c.Promises {
			if !p.Exact || p.Set.IsEverything() || !p.Span.Valid() {
				continue
			}
			line, _ := p.Span.LineCol()
			i := slices.IndexFunc(out[first:], func(s statement) bool {
				other, _ := s.span.LineCol()
				return s.span.Src == p.Span.Src && other == line && s.op == p.Op
			})
			if i < 0 {
				out = append(out, statement{config: c, span: p.Span, op: p.Op, in: p.In})
				i = len(out) - 1 - first
			}
			out[first+i].promises = append(out[first+i].promises, p)
		}
	}
	return out
}

// checkBoundContradicted reports places that every run comes by and that promise
// more about a config than its declaration demands: the declaration accepts values
// that break the promise.
func checkBoundContradicted(l *link) {
	for _, s := range statements(l) {
		for _, p := range s.promises {
			if !p.Always || s.config.Allowed.IsEmpty() || s.config.Allowed.Subset(p.Set) {
				continue
			}
			broken := s.config.Allowed.Without(p.Set)
			left := s.config.Allowed.Intersect(p.Set)
			d := diag.Diagnostic{Span: p.Span, Message: fmt.Sprintf("%s promises %s, but the declaration of '@%s' also accepts %s", s.op, p.Pred, s.config.Key, broken.Words())}
			if left.IsEmpty() {
				d.Message = fmt.Sprintf("%s promises %s, which no value that the declaration of '@%s' accepts satisfies", s.op, p.Pred, s.config.Key)
			}
			d = d.WithRelated(s.config.Place(), "declared here; accepts %s", s.config.AllowedWords())
			if left.IsEmpty() {
				d = d.WithHelp("correct one of the two: no value can be bound")
			} else {
				d = d.WithHelp("narrow the declaration to %s, or widen the promise after checking the code that relies on it", left.Words())
			}
			l.report(boundContradicted, d)
		}
	}
}

// checkBoundRepeated reports places that promise the very constraint that the
// declaration states.
func checkBoundRepeated(l *link) {
	for _, s := range statements(l) {
		var texts []string
		var from diag.Span
		for _, p := range s.promises {
			for _, k := range s.config.Constraints {
				if k.Exact && k.Set.Equal(p.Set) {
					texts = append(texts, p.Pred.String())
					if !from.Valid() {
						from = k.Span
					}
					break
				}
			}
		}
		if len(texts) == 0 {
			continue
		}
		d := diag.Diagnostic{Span: s.span, Message: fmt.Sprintf("%s repeats %s from the declaration of '@%s'", s.op, strings.Join(texts, ", "), s.config.Key)}
		d = d.WithRelated(from, "stated here; relaxing one of the two alone breaks the other")
		l.report(boundRepeated, d)
	}
}
