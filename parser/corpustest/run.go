package corpustest

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/verify"
	"github.com/loomc/loomc/parser"
)

// Outcome is the result of one case.
type Outcome struct {
	Case    *Case
	Agrees  bool
	Foreign string // op of a dialect loomc does not have, which puts the case out of scope
	Detail  string // why it does not agree
}

// Run runs a case.
func Run(c *Case) Outcome {
	o := Outcome{Case: c}
	text := testTargets(stripComments(c.Input))
	m, l := load(c.File, text)
	o.Foreign = foreignOp(text)
	switch c.Mode {
	case RoundTrip:
		o.Detail = roundTrip(c, m, l)
	case Verify:
		l = append(l, verify.Module(m, verify.Options{})...)
		o.Detail = compare(c, l.Sorted())
	}
	o.Agrees = o.Detail == ""
	return o
}

func load(name, text string) (*loom.Module, diag.List) {
	m, l := parser.Parse(diag.NewSource(name, text))
	return m, append(l, m.Load()...)
}

// testTargets rewrites the target record of the corpus's own test dialect into
// the generic one: to this front end both are names of targets.
func testTargets(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "test.target<"); ok {
			if _, sym, ok := strings.Cut(rest, ">"); ok {
				lines[i] = "target.generic<reference>" + sym
			}
		}
	}
	return strings.Join(lines, "\n")
}

// foreignOp returns the first op of the text that belongs to a dialect loomc
// does not have or carries verbatim.
func foreignOp(text string) string {
	for _, l := range strings.Split(text, "\n") {
		if i := strings.Index(l, " = "); i >= 0 && strings.HasPrefix(strings.TrimSpace(l), "%") {
			l = l[i+3:]
		}
		word := strings.TrimSpace(l)
		if i := strings.IndexFunc(word, func(r rune) bool { return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }); i >= 0 {
			word = word[:i]
		}
		d, _, ok := strings.Cut(word, ".")
		if !ok {
			continue
		}
		if dialect.OpaqueDialect(d) || d == "ireevm" || d == "test" && dialect.Ops().Lookup(word) == nil {
			return word
		}
	}
	return ""
}

// roundTrip returns why text and meaning do not survive printing, or "".
func roundTrip(c *Case, m *loom.Module, l diag.List) string {
	if l.HasErrors() {
		return "does not parse: " + firstLine(l.Error())
	}
	once := string(loom.Print(m))
	again, l := load(c.File, once)
	if l.HasErrors() {
		return "printed text does not parse: " + firstLine(l.Error())
	}
	if twice := string(loom.Print(again)); twice != once {
		return "printing is not a fixed point:\n" + firstDifference(once, twice)
	}
	want := stripComments(c.Input)
	if c.HasOut {
		want = stripComments(c.Expected)
	}
	em, l := load(c.File, testTargets(want))
	if l.HasErrors() {
		return "expected text does not parse: " + firstLine(l.Error())
	}
	if expected := string(loom.Print(em)); squeeze(expected) != squeeze(once) {
		return "differs from the expected text:\n" + firstDifference(squeeze(expected), squeeze(once))
	}
	return ""
}

// squeeze drops blank lines, for where groups begin is not part of the
// comparison, and empty yields, which may be written or left out.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l == "" || l == "scf.yield"
	}), "\n")
}

func firstLine(s string) string { l, _, _ := strings.Cut(s, "\n"); return l }

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		var p, q string
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return fmt.Sprintf("  want: %s\n  got:  %s", p, q)
		}
	}
	return ""
}

// compare matches announced and found errors by line and code.
func compare(c *Case, l diag.List) string {
	type found struct {
		line int
		d    diag.Diagnostic
	}
	var have []found
	for _, d := range l {
		if d.Severity == diag.Error {
			line, _ := d.Span.LineCol()
			have = append(have, found{line, d})
		}
	}
	var problems []string
	// Exact announcements choose first, then those that match anything.
	for _, exact := range []bool{true, false} {
		for _, e := range c.Errors {
			if strings.Contains(e.Code, "/") != exact {
				continue
			}
			i := slices.IndexFunc(have, func(f found) bool {
				return f.line == e.Line && (e.Code == "" || f.d.Code == e.Code || strings.HasPrefix(f.d.Code, e.Code+"/"))
			})
			if i < 0 {
				problems = append(problems, fmt.Sprintf("line %d: missing %s", c.Line+e.Line-1, e.Code))
				continue
			}
			have = slices.Delete(have, i, i+1)
		}
	}
	for _, f := range have {
		problems = append(problems, fmt.Sprintf("line %d: unexpected %s: %s", c.Line+f.line-1, f.d.Code, f.d.Message))
	}
	return strings.Join(problems, "\n")
}

// Tally counts the outcomes of one directory and mode.
type Tally struct {
	Dir           string
	Mode          Mode
	Agree, Total  int
	Foreign       int // cases out of scope, not in Total
	Disagreements []Outcome
}

// Dir runs every case below root and returns the tallies by directory and mode.
func Dir(root fs.FS) ([]Tally, error) {
	tallies := map[string]*Tally{}
	var keys []string
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".loom-test") {
			return err
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return fmt.Errorf("read corpus file: %w", err)
		}
		for _, c := range Split(name, string(b)) {
			if c.Mode != RoundTrip && c.Mode != Verify || len(c.Requires) > 0 {
				continue
			}
			key := path.Dir(name) + " " + string(c.Mode)
			t := tallies[key]
			if t == nil {
				t = &Tally{Dir: path.Dir(name), Mode: c.Mode}
				tallies[key] = t
				keys = append(keys, key)
			}
			o := Run(&c)
			switch {
			case o.Agrees:
				t.Agree++
				t.Total++
			case o.Foreign != "":
				t.Foreign++
			default:
				t.Total++
				t.Disagreements = append(t.Disagreements, o)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	out := make([]Tally, len(keys))
	for i, k := range keys {
		out[i] = *tallies[k]
	}
	return out, nil
}

// Report writes agreement per directory and, with details, every disagreement.
func Report(w io.Writer, ts []Tally, details bool) error {
	sum := map[Mode]*Tally{}
	for _, t := range ts {
		if _, err := fmt.Fprintf(w, "%-9s %4d/%-4d %5.1f%%  %s%s\n", t.Mode, t.Agree, t.Total, percent(t.Agree, t.Total), t.Dir, foreignNote(t.Foreign)); err != nil {
			return err
		}
		s := sum[t.Mode]
		if s == nil {
			s = &Tally{}
			sum[t.Mode] = s
		}
		s.Agree, s.Total, s.Foreign = s.Agree+t.Agree, s.Total+t.Total, s.Foreign+t.Foreign
		if !details {
			continue
		}
		for _, o := range t.Disagreements {
			fmt.Fprintf(w, "    %s:%d\n      %s\n", o.Case.File, o.Case.Line, strings.ReplaceAll(o.Detail, "\n", "\n      "))
		}
	}
	for _, m := range []Mode{RoundTrip, Verify} {
		if s := sum[m]; s != nil {
			fmt.Fprintf(w, "%-9s %4d/%-4d %5.1f%%  total%s\n", m, s.Agree, s.Total, percent(s.Agree, s.Total), foreignNote(s.Foreign))
		}
	}
	return nil
}

func foreignNote(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d out of scope: ops of other dialects)", n)
}

func percent(a, n int) float64 {
	if n == 0 {
		return 100
	}
	return 100 * float64(a) / float64(n)
}
