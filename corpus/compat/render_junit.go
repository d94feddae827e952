package compat

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit renders the report for test reporters: a suite per category, a case
// per finding. Breaking findings fail, accepted ones are skipped.
func WriteJUnit(w io.Writer, r *Report) error {
	all := junitSuites{Name: "loomc diff " + r.Old + " " + r.New}
	for c := Breaking; c <= Additive; c++ {
		s := junitSuite{Name: c.String()}
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Rule.Category != c {
				continue
			}
			k := junitCase{Class: f.ID(), Name: strings.TrimSpace(f.Rule.ID + " " + f.Subject)}
			if sp := f.Place(); sp.Valid() {
				k.File = sp.Src.Name
				k.Line, _ = sp.LineCol()
			}
			switch {
			case f.Ignored != nil:
				k.Skipped = &junitMessage{Message: "accepted: " + f.Ignored.Reason}
				s.Skipped++
			case c == Breaking:
				k.Failure = &junitMessage{Type: f.Rule.ID, Message: f.Message, Text: findingText(f)}
				s.Failures++
			default:
				k.Out = f.Message + "\n" + findingText(f)
			}
			s.Cases = append(s.Cases, k)
			s.Tests++
		}
		if s.Tests == 0 && c == Breaking {
			s.Cases = append(s.Cases, junitCase{Class: "corpus", Name: fmt.Sprintf("%d exports compared", r.NewCount)})
			s.Tests++
		}
		if s.Tests > 0 {
			all.Suites = append(all.Suites, s)
			all.Tests += s.Tests
			all.Failures += s.Failures
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// findingText is what stands below a finding's message.
func findingText(f *Finding) string {
	var lines []string
	for _, s := range []struct {
		word string
		side Side
	}{{"old", f.Old}, {"new", f.New}} {
		if s.side.Span.Valid() {
			lines = append(lines, strings.TrimSpace(s.word+" "+s.side.Span.String()+"  "+s.side.Text))
		}
	}
	lines = append(lines, f.Detail...)
	if len(f.Users) > 0 {
		lines = append(lines, "used by: "+strings.Join(f.Users, ", "))
	}
	if f.Rule.Fix != "" {
		lines = append(lines, "help: "+f.Rule.Fix)
	}
	return strings.Join(lines, "\n")
}

// fileURI turns a file name into a relative or file URI.
func fileURI(name string) string {
	u := url.URL{Path: strings.ReplaceAll(name, "\\", "/")}
	if strings.HasPrefix(u.Path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
