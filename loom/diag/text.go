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
			fmt.Fprintf(bw, "%s: ", d.Span)
		}
		fmt.Fprintf(bw, "%s: %s: %s\n", d.Severity, d.Code, d.Message)
		quote(bw, d.Span, "    ")
		for _, r := range d.Related {
			if r.Span.Valid() {
				fmt.Fprintf(bw, "  %s: note: %s\n", r.Span, r.Message)
			} else {
				fmt.Fprintf(bw, "  note: %s\n", r.Message)
			}
			quote(bw, r.Span, "      ")
		}
		if d.Help != "" {
			fmt.Fprintf(bw, "  help: %s\n", d.Help)
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

// printable replaces control characters and invalid UTF-8, which a hostile file
// could use to rewrite the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || (r >= ' ' && r != 0x7f && r != utf8.RuneError) {
			return r
		}
		return '�'
	}, s)
}
