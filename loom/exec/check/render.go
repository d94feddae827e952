package check

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Summary counts cases by status and samples.
type Summary struct {
	Cases   int `json:"cases"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errors  int `json:"errors"`
	Skipped int `json:"skipped"`
	Samples int `json:"samples"`
}

// Summarize counts results.
func Summarize(rs []*CaseResult) Summary {
	s := Summary{Cases: len(rs)}
	for _, r := range rs {
		s.Samples += len(r.Samples)
		switch r.Status() {
		case Pass:
			s.Passed++
		case Skip:
			s.Skipped++
		case Fail:
			s.Failed++
		default:
			s.Errors++
		}
	}
	return s
}

// Text renders a summary in one line.
func (s Summary) Text() string {
	out := fmt.Sprintf("%d cases, %d samples: %d passed", s.Cases, s.Samples, s.Passed)
	for _, p := range []struct {
		n    int
		word string
	}{{s.Failed, "failed"}, {s.Errors, "could not run"}, {s.Skipped, "skipped"}} {
		if p.n > 0 {
			out += fmt.Sprintf(", %d %s", p.n, p.word)
		}
	}
	return out
}

// Detail says how much WriteText shows.
type Detail uint8

// Details, from least to most.
const (
	ShowFailures Detail = iota // cases that did not pass
	ShowCases                  // every case and a summary
	ShowSamples                // passing samples as well
)

// WriteText renders results for people: one line per case, then what went wrong
// in it.
func WriteText(w io.Writer, rs []*CaseResult, detail Detail) error {
	bw := bufio.NewWriter(w)
	for _, r := range rs {
		if detail == ShowFailures && r.Status() == Pass {
			continue
		}
		n := len(r.Samples)
		fmt.Fprintf(bw, "%-5s @%s (%s, %s)\n", strings.ToUpper(r.Status().String()), r.Name, plural(n, "sample"), r.Device)
		writeProblems(bw, r.Problems)
		for i := range r.Samples {
			s := &r.Samples[i]
			if s.Status == Pass && len(s.Problems) == 0 && detail < ShowSamples {
				continue
			}
			head := fmt.Sprintf("  sample %d of %d", i+1, n)
			if len(s.Params) > 0 {
				head += ": " + paramText(s.Params)
			}
			fmt.Fprintf(bw, "%s: %s\n", head, s.Status)
			if s.SkipReason != "" {
				fmt.Fprintf(bw, "    %s\n", s.SkipReason)
			}
			for _, m := range s.Mismatches {
				writeMismatch(bw, m)
			}
			writeProblems(bw, s.Problems)
		}
	}
	if detail > ShowFailures {
		fmt.Fprintln(bw, Summarize(rs).Text())
	}
	return bw.Flush()
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func writeProblems(w io.Writer, ds diag.List) {
	for _, line := range strings.Split(strings.TrimSuffix(diag.Text(ds), "\n"), "\n") {
		if line != "" {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
}

func writeMismatch(w io.Writer, m Mismatch) {
	if m.Message != "" {
		fmt.Fprintf(w, "    %s: %s: %s\n", m.Where, m.Op, m.Message)
		return
	}
	fmt.Fprintf(w, "    %s: %s: %d of %d elements of %s break %q", m.Where, m.Op, m.Wrong, m.Total, m.Actual, m.Rule)
	if m.MaxAbs > 0 {
		fmt.Fprintf(w, " (largest difference %.6g, %d ulp)", m.MaxAbs, m.MaxULP)
	}
	fmt.Fprintln(w)
	iw, ew, aw := len("index"), len("expected"), len("actual")
	for _, e := range m.First {
		iw, ew, aw = max(iw, len(indexText(e.Index))), max(ew, len(e.Expected)), max(aw, len(e.Actual))
	}
	fmt.Fprintf(w, "      %-*s  %*s  %*s  %s\n", iw, "index", ew, "expected", aw, "actual", "ulp")
	for _, e := range m.First {
		u := "-"
		if e.ULP >= 0 {
			u = fmt.Sprint(e.ULP)
		}
		fmt.Fprintf(w, "      %-*s  %*s  %*s  %s\n", iw, indexText(e.Index), ew, e.Expected, aw, e.Actual, u)
	}
	if rest := m.Wrong - int64(len(m.First)); rest > 0 {
		fmt.Fprintf(w, "      and %d more\n", rest)
	}
}

func indexText(idx []int64) string {
	if len(idx) == 0 {
		return "[]"
	}
	parts := make([]string, len(idx))
	for i, v := range idx {
		parts[i] = fmt.Sprint(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

type jsonProblem struct {
	Severity string   `json:"severity"`
	Code     string   `json:"code"`
	Place    string   `json:"place,omitempty"`
	Message  string   `json:"message"`
	Related  []string `json:"related,omitempty"`
	Help     string   `json:"help,omitempty"`
}

func jsonProblems(ds diag.List) []jsonProblem {
	var out []jsonProblem
	for _, d := range ds {
		p := jsonProblem{Severity: d.Severity.String(), Code: d.Code, Message: d.Message, Help: d.Help}
		if d.Span.Valid() {
			p.Place = d.Span.String()
		}
		for _, r := range d.Related {
			p.Related = append(p.Related, r.Span.String()+": "+r.Message)
		}
		out = append(out, p)
	}
	return out
}

// WriteJSON renders results as one JSON document. Durations are left out, so the
// same run gives the same bytes.
func WriteJSON(w io.Writer, rs []*CaseResult) error {
	type sample struct {
		SampleResult
		Problems []jsonProblem `json:"problems,omitempty"`
	}
	type one struct {
		*CaseResult
		Status   Status        `json:"status"`
		Samples  []sample      `json:"samples"`
		Problems []jsonProblem `json:"problems,omitempty"`
	}
	doc := struct {
		Summary Summary `json:"summary"`
		Cases   []one   `json:"cases"`
	}{Summary: Summarize(rs), Cases: []one{}}
	for _, r := range rs {
		o := one{CaseResult: r, Status: r.Status(), Samples: []sample{}, Problems: jsonProblems(r.Problems)}
		for _, s := range r.Samples {
			o.Samples = append(o.Samples, sample{s, jsonProblems(s.Problems)})
		}
		doc.Cases = append(doc.Cases, o)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	File    string     `xml:"file,attr,omitempty"`
	Line    int        `xml:"line,attr,omitempty"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Skipped *junitText `xml:"skipped"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit renders results as JUnit XML: a suite per file, a test per sample.
func WriteJUnit(w io.Writer, rs []*CaseResult) error {
	var doc junitSuites
	at := map[string]int{}
	for _, r := range rs {
		i, ok := at[r.File]
		if !ok {
			i = len(doc.Suites)
			at[r.File] = i
			doc.Suites = append(doc.Suites, junitSuite{Name: r.File})
		}
		s := &doc.Suites[i]
		samples := r.Samples
		if r.Problems.HasErrors() {
			samples = []SampleResult{{Status: Error, Problems: r.Problems}}
		}
		for j := range samples {
			sm := &samples[j]
			c := junitCase{Class: r.File, Name: r.Name, File: r.File, Line: r.Line, Time: fmt.Sprintf("%.3f", sm.Time.Seconds())}
			if len(sm.Params) > 0 {
				c.Name += " " + paramText(sm.Params)
			}
			var b strings.Builder
			for _, m := range sm.Mismatches {
				writeMismatch(&b, m)
			}
			writeProblems(&b, sm.Problems)
			first, _, _ := strings.Cut(strings.TrimSpace(b.String()), "\n")
			s.Tests++
			switch sm.Status {
			case Fail:
				s.Failures++
				c.Failure = &junitText{Message: first, Text: b.String()}
			case Error:
				s.Errors++
				c.Error = &junitText{Message: first, Text: b.String()}
			case Skip:
				s.Skipped++
				c.Skipped = &junitText{Message: sm.SkipReason}
			}
			s.Cases = append(s.Cases, c)
		}
	}
	for _, s := range doc.Suites {
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
