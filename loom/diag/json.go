package diag

import (
	"encoding/json"
	"io"
)

// JSONSchema names the form WriteJSON produces. A change that a reader would
// notice gets a new number.
const JSONSchema = "loomc-diagnostics-v1"

// jsonPlace is a range of a file. Lines and columns count from 1, columns in
// bytes; offsets count bytes from 0; the end is exclusive.
type jsonPlace struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Offset    uint32 `json:"offset"`
	EndOffset uint32 `json:"end_offset"`
}

type jsonRelated struct {
	Message string     `json:"message"`
	Place   *jsonPlace `json:"place,omitempty"`
}

type jsonDiagnostic struct {
	Severity string        `json:"severity"`
	Code     string        `json:"code"`
	Message  string        `json:"message"`
	Place    *jsonPlace    `json:"place,omitempty"`
	Related  []jsonRelated `json:"related,omitempty"`
	Help     string        `json:"help,omitempty"`
}

type jsonReport struct {
	Schema      string           `json:"schema"`
	Errors      int              `json:"errors"`
	Warnings    int              `json:"warnings"`
	Diagnostics []jsonDiagnostic `json:"diagnostics"`
}

func placeOf(s Span) *jsonPlace {
	if !s.Valid() {
		return nil
	}
	l, c := s.LineCol()
	end := max(s.End, s.Start)
	el, ec := s.Src.LineCol(int(end))
	return &jsonPlace{File: s.Src.Name, Line: l, Column: c, EndLine: el, EndColumn: ec, Offset: s.Start, EndOffset: end}
}

// WriteJSON renders the list as one JSON object of the form JSONSchema.
func WriteJSON(w io.Writer, l List) error {
	r := jsonReport{Schema: JSONSchema, Errors: l.Count(Error), Warnings: l.Count(Warning), Diagnostics: make([]jsonDiagnostic, len(l))}
	for i, d := range l {
		j := jsonDiagnostic{Severity: d.Severity.String(), Code: d.Code, Message: d.Message, Place: placeOf(d.Span), Help: d.Help}
		for _, rel := range d.Related {
			j.Related = append(j.Related, jsonRelated{rel.Message, placeOf(rel.Span)})
		}
		r.Diagnostics[i] = j
	}
	return encodeJSON(w, r)
}

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
