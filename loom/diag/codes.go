package diag

import (
	"slices"
	"strings"
	"sync"
)

// Code is the documentation of one diagnostic code. Diagnostics refer to it by
// name; explain commands, SARIF rules and the reference page print it.
type Code struct {
	Name   string   // DOMAIN/CODE, the stable name
	Title  string   // what is wrong, in a few words
	Doc    string   // meaning: when it is reported and why the rule exists
	Params []string // the facts a message of this code carries, in order
	Fix    string   // what to do about it
}

// Domain returns the part before the slash.
func (c Code) Domain() string {
	d, _, _ := strings.Cut(c.Name, "/")
	return d
}

// Text returns the whole documentation of the code as plain text.
func (c Code) Text() string {
	var b strings.Builder
	b.WriteString(c.Name + ": " + c.Title + "\n")
	if c.Doc != "" {
		b.WriteString("\n" + c.Doc + "\n")
	}
	if len(c.Params) > 0 {
		b.WriteString("\nThe message names: " + strings.Join(c.Params, ", ") + "\n")
	}
	if c.Fix != "" {
		b.WriteString("\nWhat to do: " + c.Fix + "\n")
	}
	return b.String()
}

// codeTable is the one table of codes. New codes go into the list of their
// domain in codes_*.go; a code declared twice is a programming error that a
// test reports.
var codeTable = sync.OnceValue(func() map[string]Code {
	t := make(map[string]Code, 512)
	for _, list := range codeLists() {
		for _, c := range list {
			t[c.Name] = c
		}
	}
	return t
})

func codeLists() [][]Code {
	return [][]Code{
		parseCodes(), symbolCodes(), typeCodes(), structureCodes(), dominanceCodes(), shapeCodes(),
		encodingCodes(), subrangeCodes(), loweringCodes(), targetCodes(),
		configCodes(), linkCodes(), manifestCodes(), corpusCodes(), codegenCodes(), hipCodes(), execCodes(), lintCodes(), usageCodes(), generationCodes(), runCodes(), requireCodes(), programCodes(),
	}
}

// Lookup returns the documentation of the code called name, written in any
// letter case, and whether it exists.
func Lookup(name string) (Code, bool) {
	c, ok := codeTable()[strings.ToUpper(name)]
	return c, ok
}

// Codes returns all codes sorted by name.
func Codes() []Code {
	out := make([]Code, 0, len(codeTable()))
	for _, c := range codeTable() {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Code) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// params splits a comma-separated parameter list of a table row.
func params(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}
