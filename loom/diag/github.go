package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteGitHub renders the list as GitHub workflow commands, one line each, which
// the runner turns into annotations of the changed files:
//
//	::error file=ops/add.loom,line=3,col=5,endColumn=9,title=TYPE/001::message
//
// Related places and the help line follow the message, for an annotation has one
// place only.
func WriteGitHub(w io.Writer, l List) error {
	bw := bufio.NewWriter(w)
	for _, d := range l {
		kind := d.Severity.String()
		if d.Severity == Note {
			kind = "notice"
		}
		bw.WriteString("::" + kind + " ")
		if p := placeOf(d.Span); p != nil {
			fmt.Fprintf(bw, "file=%s,line=%d,", githubProperty(Escape(p.File)), p.Line)
			// Columns are only legal for places within one line.
			if p.EndLine == p.Line {
				fmt.Fprintf(bw, "col=%d,endColumn=%d,", p.Column, max(p.EndColumn, p.Column+1))
			} else {
				fmt.Fprintf(bw, "endLine=%d,", p.EndLine)
			}
		}
		fmt.Fprintf(bw, "title=%s::", githubProperty(d.Code))
		text := Escape(d.Message)
		for _, r := range d.Related {
			text += "\n"
			if r.Span.Valid() {
				text += Escape(r.Span.String()) + ": "
			}
			text += Escape(r.Message)
		}
		if d.Help != "" {
			text += "\nhelp: " + Escape(d.Help)
		}
		bw.WriteString(githubData(text) + "\n")
	}
	return bw.Flush()
}

// githubData escapes the text of a workflow command, githubProperty the value of
// one of its properties: unescaped line ends and separators would start another
// command.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
