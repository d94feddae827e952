// Package diag holds diagnostics: what is wrong, where, by which rule, and what
// to do about it. Every stage of loomc returns its findings as a List of
// Diagnostic values; nothing below cmd prints. Renderings (text, JSON, SARIF,
// GitHub annotations) live here too so that all commands look alike.
//
// A diagnostic's code ("CONFIG/INVALID", "PARSE/003") is its stable name: codes
// are declared once, with their documentation, in codes.go.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says how much a diagnostic matters.
type Severity uint8

// Severities, from worst to mildest.
const (
	Error Severity = iota
	Warning
	Note
)

func (s Severity) String() string {
	return [...]string{"error", "warning", "note"}[s]
}

// Related is another place that matters for a diagnostic: where the config was
// declared, the other end of a conflict, a rejected candidate.
type Related struct {
	Span    Span
	Message string
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity
	Code     string // DOMAIN/CODE
	Message  string // one sentence, no trailing period
	Span     Span   // primary place
	Related  []Related
	Help     string // what to do; may be empty
}

// Errorf returns an error diagnostic.
func Errorf(sp Span, code, format string, args ...any) Diagnostic {
	return Diagnostic{Severity: Error, Code: code, Span: sp, Message: fmt.Sprintf(format, args...)}
}

// Warnf returns a warning diagnostic.
func Warnf(sp Span, code, format string, args ...any) Diagnostic {
	return Diagnostic{Severity: Warning, Code: code, Span: sp, Message: fmt.Sprintf(format, args...)}
}

// WithRelated returns d with one more related place.
func (d Diagnostic) WithRelated(sp Span, format string, args ...any) Diagnostic {
	d.Related = append(slices.Clip(d.Related), Related{Span: sp, Message: fmt.Sprintf(format, args...)})
	return d
}

// WithHelp returns d with its help line set.
func (d Diagnostic) WithHelp(format string, args ...any) Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// Error implements error with the one-line form.
func (d Diagnostic) Error() string {
	if d.Span.Valid() {
		return fmt.Sprintf("%s: %s: %s: %s", d.Span, d.Severity, d.Code, d.Message)
	}
	return fmt.Sprintf("%s: %s: %s", d.Severity, d.Code, d.Message)
}

// List is a collection of diagnostics. A nil List means nothing was found.
type List []Diagnostic

// Add appends diagnostics.
func (l *List) Add(ds ...Diagnostic) { *l = append(*l, ds...) }

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Count returns the number of diagnostics of severity s.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Err returns l as an error when it holds at least one error, else nil.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return l
}

// Error implements error: all one-line forms, one per line.
func (l List) Error() string {
	var b strings.Builder
	for i, d := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.Error())
	}
	return b.String()
}

// Sorted returns the list ordered by file, offset, code and message with exact
// duplicates removed, so that output does not depend on the order of work.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(srcName(a.Span), srcName(b.Span)),
			cmp.Compare(a.Span.Start, b.Span.Start),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.Span == b.Span && a.Severity == b.Severity && a.Code == b.Code && a.Message == b.Message
	})
}

func srcName(s Span) string {
	if s.Src == nil {
		return ""
	}
	return s.Src.Name
}
