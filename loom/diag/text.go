package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLineShown bounds the width of a quoted source line, so that a file of one
// enormous line does not flood a terminal.
const maxLineShown = 160

// WriteText renders the list for people:
//
//	file:line:col: error: CODE: message
//	    source line
//	    ^~~~
//	  file:line:col: note: related place
//	      source line
//	  help: what to do
func WriteText(w io.Writer, l List) error {
	bw := bufio.NewWriter(w)
	for _, d := range l {
		if d.Span.Valid() {
			fmt.Fprintf(bw, "%s: ", Escape(d.Span.String()))
		}
		fmt.Fprintf(bw, "%s: %s: %s\n", d.Severity, Escape(d.Code), Escape(d.Message))
		quote(bw, d.Span, "    ")
		for _, r := range d.Related {
			if r.Span.Valid() {
				fmt.Fprintf(bw, "  %s: note: %s\n", Escape(r.Span.String()), Escape(r.Message))
			} else {
				fmt.Fprintf(bw, "  note: %s\n", Escape(r.Message))
			}
			quote(bw, r.Span, "      ")
		}
		if d.Help != "" {
			fmt.Fprintf(bw, "  help: %s\n", Escape(d.Help))
		}
	}
	return bw.Flush()
}

// Text returns WriteText's rendering as a string.
func Text(l List) string {
	var b strings.Builder
	_ = WriteText(&b, l) // a strings.Builder does not fail
	return b.String()
}

func quote(w *bufio.Writer, sp Span, indent string) {
	if !sp.Valid() {
		return
	}
	line, col := sp.LineCol()
	text := sp.Src.Line(line)
	if strings.TrimSpace(text) == "" {
		return
	}
	width := int(sp.End) - int(sp.Start)
	start := col - 1
	if start > len(text) {
		start = len(text)
	}
	if width > len(text)-start {
		width = len(text) - start
	}
	lead := ""
	if len(text) > maxLineShown {
		from := max(0, start-maxLineShown/4)
		for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
			from--
		}
		to := min(len(text), from+maxLineShown)
		for to > start && to < len(text) && !utf8.RuneStart(text[to]) {
			to--
		}
		if from > 0 {
			lead = "…"
		}
		text, start = text[from:to], start-from
		width = min(width, len(text)-start)
	}
	fmt.Fprintf(w, "%s%s%s\n", indent, lead, printable(text))
	w.WriteString(indent)
	if lead != "" {
		w.WriteByte(' ')
	}
	for _, r := range text[:start] {
		if r == '\t' {
			w.WriteByte('\t')
		} else {
			w.WriteByte(' ')
		}
	}
	w.WriteByte('^')
	for n := utf8.RuneCountInString(text[start:start+max(width, 0)]) - 1; n > 0; n-- {
		w.WriteByte('~')
	}
	w.WriteByte('\n')
}

// Escape makes a text safe to show on one line: control characters and invalid
// UTF-8 become Go escapes such as \x1b and \n, and the characters that reorder a
// line become \u202e and the like. Paths and strings of a hostile file reach
// messages; raw, they could rewrite the terminal or pass for another message.
func Escape(s string) string {
	if !strings.ContainsFunc(s, hostile) {
		return s
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch {
		case !hostile(r) || r == utf8.RuneError && n > 1:
			b.WriteString(s[i : i+n])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r == utf8.RuneError:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hostile reports what must not reach a terminal as it stands. A replacement
// character may stand for invalid UTF-8.
func hostile(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	case r == 0x2028 || r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e || r == 0x200f:
		return true
	}
	return r == utf8.RuneError
}

// printable replaces control characters and invalid UTF-8, which a hostile file
// could use to rewrite the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if hostile(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}
