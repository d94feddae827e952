package hip

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Message is one thing a compiler said.
type Message struct {
	File     string // as in the source or its #line directives; empty without a place
	Line     int    // 1-based
	Col      int    // 1-based byte column in the compiled text, not in File when #line is in force
	Severity diag.Severity
	Text     string
	Snippet  string    // the line of compiled text it points at, when the compiler quoted it
	Notes    []Message // places the compiler adds to it
}

// severities maps the word between the place and the text. The order matters:
// "fatal error" ends in "error".
var severities = []struct {
	word string
	sev  diag.Severity
}{
	{"fatal error: ", diag.Error},
	{"error: ", diag.Error},
	{"warning: ", diag.Warning},
	{"warning #", diag.Warning}, // NVRTC: "warning #177-D: TEXT"
	{"remark: ", diag.Note},
	{"note: ", diag.Note},
}

// ParseMessages reads what clang, lld, hiprtc and NVRTC print. Lines it does not
// recognise are left to the log.
func ParseMessages(log string) []Message {
	var out []Message
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if m, ok := parseMessage(line); ok {
			if m.Severity == diag.Note && len(out) > 0 {
				last := &out[len(out)-1]
				last.Notes = append(last.Notes, m)
			} else {
				out = append(out, m)
			}
			continue
		}
		if len(out) == 0 {
			continue
		}
		last := &out[len(out)-1]
		if len(last.Notes) > 0 {
			last = &last.Notes[len(last.Notes)-1]
		}
		if rest, ok := strings.CutPrefix(line, ">>> "); ok { // lld goes on below
			last.Text += "; " + strings.TrimSpace(rest)
		} else if text, ok := snippet(line, last.Line); ok && last.Snippet == "" {
			last.Snippet = text
		}
	}
	return out
}

// parseMessage reads "FILE:LINE:COL: error: TEXT", "FILE:LINE: error: TEXT",
// NVRTC's "FILE(LINE): error: TEXT", "PROGRAM: error: TEXT" and "error: TEXT".
func parseMessage(line string) (Message, bool) {
	if rest, ok := strings.CutPrefix(line, "LLVM ERROR: "); ok {
		return Message{Severity: diag.Error, Text: rest}, true
	}
	best, bestAt := -1, len(line)
	for i, s := range severities {
		if strings.HasPrefix(line, s.word) {
			best, bestAt = i, 0
			break
		}
		if at := strings.Index(line, ": "+s.word); at >= 0 && at+2 < bestAt {
			best, bestAt = i, at+2
		}
	}
	if best < 0 {
		return Message{}, false
	}
	m := Message{Severity: severities[best].sev, Text: line[bestAt+len(severities[best].word):]}
	if strings.HasSuffix(severities[best].word, "#") {
		if _, text, ok := strings.Cut(m.Text, ": "); ok {
			m.Text = text
		}
	}
	place := strings.TrimSuffix(line[:bestAt], ": ")
	if file, line, ok := cutParenthesis(place); ok {
		m.File, m.Line = file, line
		return m, true
	}
	head, last, ok := cutLastNumber(place)
	if !ok {
		// No place, only the program's name. A quoted line of source that happens to
		// hold the word has blanks before it.
		return m, !strings.ContainsAny(place, " \t|")
	}
	if file, line, ok := cutLastNumber(head); ok {
		m.File, m.Line, m.Col = file, line, last
	} else {
		m.File, m.Line = head, last
	}
	if m.File == "<unknown>" {
		m.File, m.Line, m.Col = "", 0, 0
	}
	return m, true
}

func cutLastNumber(s string) (head string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil || n < 0 {
		return "", 0, false
	}
	return s[:i], n, true
}

// cutParenthesis reads "FILE(LINE)".
func cutParenthesis(s string) (head string, n int, ok bool) {
	i := strings.LastIndexByte(s, '(')
	if i <= 0 || !strings.HasSuffix(s, ")") {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1 : len(s)-1])
	return s[:i], n, err == nil && n >= 0
}

// snippet reads "   12 | text".
func snippet(line string, want int) (string, bool) {
	num, text, ok := strings.Cut(line, " | ")
	if !ok {
		return "", false
	}
	if n, err := strconv.Atoi(strings.TrimSpace(num)); err != nil || n != want {
		return "", false
	}
	return strings.TrimSpace(text), true
}

// renameFile gives messages about the compiled text itself the job's name.
func renameFile(ms []Message, from, to string) {
	for i := range ms {
		if ms[i].File == from {
			ms[i].File = to
		}
		ms[i].Text = strings.ReplaceAll(ms[i].Text, from, to) // lld names it in the text
		renameFile(ms[i].Notes, from, to)
	}
}

// Sources finds the text behind a file name in a message; nil when it is not known.
type Sources func(name string) *diag.Source

// MessageDiagnostics renders a job's messages as diagnostics. Messages that #line
// directives place in another file cover the whole line there, because the
// compiler's columns count the generated text; that text is quoted beside it.
// lookup may be nil. Errors have the code HIP/COMPILE, warnings HIP/WARNING.
func MessageDiagnostics(j Job, ms []Message, lookup Sources) diag.List {
	own := diag.NewSource(j.Name, string(j.Source))
	var out diag.List
	for _, m := range ms {
		sp := place(m, own, lookup)
		d := diag.Diagnostic{Severity: m.Severity, Code: "HIP/COMPILE", Message: text(m, sp), Span: sp}
		if m.Severity != diag.Error {
			d.Code = "HIP/WARNING"
		}
		if m.Snippet != "" && (!sp.Valid() || sp.Src != own) {
			d = d.WithRelated(diag.Span{}, "in the generated code: %s", m.Snippet)
		}
		for _, n := range m.Notes {
			nsp := place(n, own, lookup)
			d = d.WithRelated(nsp, "%s", text(n, nsp))
		}
		out.Add(d)
	}
	return out
}

func text(m Message, sp diag.Span) string {
	if m.File == "" || sp.Valid() {
		return m.Text
	}
	return fmt.Sprintf("%s (at %s:%d)", m.Text, m.File, m.Line)
}

func place(m Message, own *diag.Source, lookup Sources) diag.Span {
	if m.File == "" {
		return diag.Span{}
	}
	src := own
	if m.File != own.Name {
		src = nil
		if lookup != nil {
			src = lookup(m.File)
		}
	}
	if src == nil {
		return diag.Span{}
	}
	line := src.Line(m.Line)
	start := src.LineStart(m.Line)
	if src == own && m.Col > 0 {
		off := start + min(m.Col-1, len(line))
		return diag.Span{Src: src, Start: uint32(off), End: uint32(min(off+1, len(src.Text)))}
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	return diag.Span{Src: src, Start: uint32(start + indent), End: uint32(start + len(strings.TrimRight(line, " \t\r")))}
}
