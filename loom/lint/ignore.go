package lint

import (
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// ignoreMark starts a suppression comment:
//
//	// loomc:ignore LINT/RULE reason
//
// Above a statement (or behind it on its line) it excuses findings on that
// statement's first line; in the comment block above a definition, findings
// anywhere inside it.
const ignoreMark = "loomc:ignore"

type ignore struct {
	rule   string
	reason string
	span   diag.Span
	def    *loom.Def // whole definition, or nil
	line   int       // of the statement, when def is nil
	used   bool
}

// covers reports whether the comment excuses a finding.
func (g *ignore) covers(d diag.Diagnostic) bool {
	if g.rule != d.Code || g.span.Src != d.Span.Src {
		return false
	}
	if g.def != nil {
		return d.Span.Start >= g.def.Span.Start && d.Span.Start < g.def.Span.End
	}
	line, _ := d.Span.LineCol()
	return line == g.line
}

// suppress drops the findings that comments excuse and reports the comments that
// are malformed or excuse nothing. A comment is only judged useless when the run
// looked at what it stands above.
func suppress(ds diag.List, mods []*loom.Module, p *places, seen *reached, ran []Rule) diag.List {
	var igs []*ignore
	var out diag.List
	for _, m := range mods {
		if m.Source == nil {
			continue
		}
		gs, bad := readIgnores(m.Source, p)
		igs = append(igs, gs...)
		out = append(out, bad...)
	}
next:
	for _, d := range ds {
		for _, g := range igs {
			if g.covers(d) {
				g.used = true
				continue next
			}
		}
		out = append(out, d)
	}
	for _, g := range igs {
		if g.used || !judged(g, seen, ran) {
			continue
		}
		out.Add(diag.Warnf(g.span, ignoreUnused, "nothing here is reported as %s", g.rule).
			WithHelp("remove the comment, or move it directly above the line it is about"))
	}
	return out
}

// judged reports whether the run could have found what the comment excuses.
func judged(g *ignore, seen *reached, ran []Rule) bool {
	for _, r := range ran {
		if r.ID != g.rule {
			continue
		}
		switch {
		case r.sources != nil:
			return true
		case g.def != nil:
			return seen.defs[g.def]
		}
		return seen.lines[lineOf{g.span.Src, g.line}]
	}
	return false
}

// readIgnores finds the suppression comments of a file.
func readIgnores(src *diag.Source, p *places) (igs []*ignore, bad diag.List) {
	if !strings.Contains(src.Text, ignoreMark) {
		return nil, nil
	}
	lines := strings.Count(src.Text, "\n") + 1
	for n := 1; n <= lines; n++ {
		text := src.Line(n)
		at, alone := comment(text)
		if at < 0 {
			continue
		}
		body := strings.TrimLeft(text[at:], "/ \t")
		rest, ok := strings.CutPrefix(body, ignoreMark)
		if !ok {
			continue
		}
		start := uint32(src.LineStart(n) + at)
		g := &ignore{span: diag.Span{Src: src, Start: start, End: uint32(src.LineStart(n) + len(text))}, line: n}
		g.rule, g.reason, _ = strings.Cut(strings.TrimSpace(rest), " ")
		g.rule, g.reason = strings.ToUpper(g.rule), strings.TrimSpace(g.reason)
		if d, ok := malformed(g); !ok {
			bad.Add(d)
			continue
		}
		if alone {
			g.line = statementBelow(src, n, lines)
		}
		below := diag.Span{Src: src, Start: uint32(src.LineStart(g.line) + indent(src.Line(g.line)))}
		if d := p.at(below); d != nil && alone {
			if head, _ := d.Span.LineCol(); head == g.line {
				g.def = d
			}
		}
		igs = append(igs, g)
	}
	return igs, bad
}

func malformed(g *ignore) (diag.Diagnostic, bool) {
	_, known := LookupRule(g.rule)
	switch {
	case g.rule == "":
		return diag.Errorf(g.span, ignoreMalformed, "the suppression names no rule").
			WithHelp("write // %s LINT/RULE reason", ignoreMark), false
	case !known:
		d := diag.Errorf(g.span, ignoreMalformed, "there is no lint rule '%s'", g.rule)
		var ids []string
		for _, r := range table() {
			ids = append(ids, r.ID)
		}
		if n := dialect.Nearest(g.rule, ids); n != "" {
			return d.WithHelp("did you mean %s?", n), false
		}
		return d.WithHelp("'loomc lint --list-rules' names them"), false
	case g.reason == "":
		return diag.Errorf(g.span, ignoreMalformed, "the suppression of %s gives no reason and is not honoured", g.rule).
			WithHelp("say behind the rule why the finding does not matter here"), false
	}
	return diag.Diagnostic{}, true
}

// comment returns where a line's comment starts, −1 when it has none, and whether
// nothing stands before it. Slashes inside string literals do not count.
func comment(line string) (at int, alone bool) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch {
		case quoted && line[i] == '\\':
			i++
		case line[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(line[i:], "//"):
			return i, strings.TrimSpace(line[:i]) == ""
		}
	}
	return -1, false
}

// statementBelow is the next line that is neither blank nor a comment.
func statementBelow(src *diag.Source, n, lines int) int {
	for n++; n <= lines; n++ {
		t := strings.TrimSpace(src.Line(n))
		if t != "" && !strings.HasPrefix(t, "//") {
			return n
		}
	}
	return lines
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
