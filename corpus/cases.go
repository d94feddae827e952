package corpus

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

func (c *checker) failCase(p *PlanCase, d diag.Diagnostic) {
	if d.Severity == diag.Error {
		p.faults.Add(d)
	}
	c.ds.Add(d)
}

// checkCases looks at the plan cases as far as the manifest alone tells: their
// names, the export each is about, and the form of its numbers. Whether a kernel
// has the parameters and the config of a case only its link can say.
func (c *checker) checkCases() {
	first := map[string]*PlanCase{}
	for i := range c.manifest.PlanCases {
		p := &c.manifest.PlanCases[i]
		p.faults = append(diag.List(nil), p.parseFaults...)
		c.checkCaseName(p, first)
		exports := c.checkCaseRoot(p)
		c.checkCaseNumbers(p, p.Workload, "workload", exports, func(e *Export) []Param { return e.WorkloadParameters })
		c.checkCaseNumbers(p, p.Launch, "launch", exports, func(e *Export) []Param { return e.LaunchParameters })
	}
}

// badCaseName says why a plan case cannot have the name, or "". Names become
// parts of file names, so that what a path may not hold a name may not either.
func badCaseName(name string) string {
	switch {
	case name == "none":
		return "means 'no plan case' on the command line"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "contains a control character"
	case strings.ContainsRune(name, '\\'):
		return "contains a backslash"
	case strings.TrimSpace(name) != name:
		return "begins or ends with white space"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "":
			return "has an empty part between, before or behind its '/'"
		case ".", "..":
			return "has the path element '" + part + "'"
		}
	}
	return ""
}

func (c *checker) checkCaseName(p *PlanCase, first map[string]*PlanCase) {
	name := p.Name.Value
	const form = `write a name such as "EXPORT/4096x512": words joined by '/'`
	if name == "" {
		if len(p.parseFaults) == 0 || p.Name.Span.Valid() {
			c.failCase(p, diag.Errorf(orSpan(p.Name.Span, p.Span), "MANIFEST/MISSING-FIELD", "a plan case has no 'name'").WithHelp("%s", form))
		}
		return
	}
	if why := badCaseName(name); why != "" {
		c.failCase(p, diag.Errorf(p.Name.Span, "MANIFEST/CASE-NAME", "the name '%s' of a plan case %s", name, why).WithHelp("%s", form))
		return
	}
	before := first[name]
	if before == nil {
		first[name] = p
		return
	}
	d := diag.Errorf(p.Name.Span, "MANIFEST/DUPLICATE-CASE", "two plan cases are called '%s'", name).
		WithRelated(before.Name.Span, "first here").
		WithHelp("give each a name of its own: --case selects by name")
	if before.Root.Value != p.Root.Value {
		d.Severity = diag.Warning // each is still found, by its export
	}
	c.failCase(p, d)
}

func orSpan(a, b diag.Span) diag.Span {
	if a.Valid() {
		return a
	}
	return b
}

// checkCaseRoot returns the exports that the case is about.
func (c *checker) checkCaseRoot(p *PlanCase) []*Export {
	root := p.Root.Value
	if root == "" {
		// Cases that only give a tool's arguments have no root.
		if stated := p.Root.Span.Valid() || len(p.Workload)+len(p.Launch)+len(p.Config) > 0; stated {
			c.failCase(p, diag.Errorf(orSpan(p.Root.Span, orSpan(p.Name.Span, p.Span)), "MANIFEST/MISSING-FIELD", "plan case '%s' has no 'root'", p.Name.Value).
				WithHelp(`write "root": "EXPORT": the export that the case is about`))
		}
		return nil
	}
	var out []*Export
	names := make([]string, 0, len(c.manifest.Exports))
	for i := range c.manifest.Exports {
		e := &c.manifest.Exports[i]
		if e.Name.Value == root || "@"+e.Symbol.Value == root {
			out = append(out, e)
		}
		if strings.HasPrefix(root, "@") {
			names = append(names, "@"+e.Symbol.Value)
		} else {
			names = append(names, e.Name.Value)
		}
	}
	if len(out) == 0 && (c.manifest.Source == nil || c.manifest.exportsSpan.Valid()) {
		d := diag.Errorf(p.Root.Span, "MANIFEST/CASE-ROOT", "plan case '%s' is about '%s', which is no export", p.Name.Value, root)
		if n := nearest(root, names); n != "" {
			d = d.WithHelp("'%s' was probably meant; without an export the case is never compiled", n)
		} else {
			d = d.WithHelp("name an export, or '@' and the symbol of one; or remove the case")
		}
		c.failCase(p, d)
	}
	return out
}

// checkCaseNumbers: workload values are counts; launch values are of the type of
// their parameter.
func (c *checker) checkCaseNumbers(p *PlanCase, values []ConfigValue, field string, exports []*Export, params func(*Export) []Param) {
	for _, v := range values {
		typ := ""
		for _, e := range exports {
			for _, q := range params(e) {
				if q.Name.Value == v.Key {
					typ = q.Type.Value
				}
			}
		}
		why := numberFault(v.Text, typ)
		if field == "workload" {
			if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && n < 0 {
				why = "is negative"
			} else if typ == "" {
				why = numberFault(v.Text, "index")
			}
		}
		if why == "" {
			continue
		}
		d := diag.Errorf(v.Span, "MANIFEST/CASE-VALUE", "plan case '%s': %s value '%s' of '%s' %s", p.Name.Value, field, v.Text, v.Key, why)
		if field == "workload" {
			d = d.WithHelp("write a whole number from 0 to %d", int64(math.MaxInt64))
		} else {
			d = d.WithHelp("write a number that '%s' can have", v.Key)
		}
		c.failCase(p, d)
	}
}

// numberFault says why text is no number of a type, or "". An unknown type, as
// "", takes any number.
func numberFault(text, typ string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	bits := map[string]int{"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 63, "offset": 63}[typ]
	switch {
	case bits == 1 && (text == "true" || text == "false"):
		return ""
	case bits == 0: // a float, or a type that this version does not know
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			if errors.Is(err, strconv.ErrRange) {
				return "is out of range"
			}
			return "is not a number"
		}
		return ""
	case errors.Is(err, strconv.ErrRange):
		return "does not fit 64 bits"
	case err != nil:
		return "is not a whole number"
	case bits == 63 && n < 0:
		return fmt.Sprintf("is negative, and '%s' is not", typ)
	case bits < 63 && (n < -(int64(1)<<(bits-1)) || n >= int64(1)<<bits):
		return fmt.Sprintf("does not fit type '%s'", typ)
	}
	return ""
}
