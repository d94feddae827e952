package compat

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

//go:embed report.html
var pageText string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"lower": strings.ToLower,
	"join":  func(ss []string) string { return strings.Join(ss, ", ") },
}).Parse(pageText))

type htmlReport struct {
	*Report
	Counts []htmlCount
	Rules  []string
	Rows   []htmlRow
}

type htmlCount struct {
	Category Category
	Count    int
	Doc      string
}

type htmlRow struct {
	*Finding
	Hidden   bool
	OldPlace string
	NewPlace string
	OldLines []htmlLine
	NewLines []htmlLine
}

// htmlLine is a line of source around a place.
type htmlLine struct {
	Number int
	Text   string
	Hit    bool
}

// WriteHTML renders one self-contained page: a summary, filters by category,
// export and rule, and both declarations side by side. It needs no network, and
// reads without scripts.
func WriteHTML(w io.Writer, r *Report) error {
	h := htmlReport{Report: r}
	docs := []string{"stops working", "works until it asks for what is gone", "works, with other results or cost", "nothing is affected"}
	for c := Breaking; c <= Additive; c++ {
		h.Counts = append(h.Counts, htmlCount{c, r.Count(c), docs[c]})
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !slices.Contains(h.Rules, f.Rule.ID) {
			h.Rules = append(h.Rules, f.Rule.ID)
		}
		row := htmlRow{Finding: f, OldLines: around(f.Old.Span), NewLines: around(f.New.Span)}
		if f.Old.Span.Valid() {
			row.OldPlace = f.Old.Span.String()
		}
		if f.New.Span.Valid() {
			row.NewPlace = f.New.Span.String()
		}
		h.Rows = append(h.Rows, row)
	}
	slices.Sort(h.Rules)
	if err := page.Execute(w, h); err != nil {
		return fmt.Errorf("writing the HTML report: %w", err)
	}
	return nil
}

// maxShownLine bounds what a line of a kernel's head may take on the page.
const maxShownLine = 400

// around quotes the line of a place with one line on either side.
func around(sp diag.Span) []htmlLine {
	if !sp.Valid() {
		return nil
	}
	at, _ := sp.LineCol()
	var out []htmlLine
	for n := max(1, at-1); n <= at+1; n++ {
		text := sp.Src.Line(n)
		if n != at && strings.TrimSpace(text) == "" {
			continue
		}
		if len(text) > maxShownLine {
			text = strings.ToValidUTF8(text[:maxShownLine], "") + "…"
		}
		out = append(out, htmlLine{n, text, n == at})
	}
	return out
}
