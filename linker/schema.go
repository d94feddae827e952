package linker

import (
	"fmt"
	"strings"
)

// ConfigSchema describes one config for machines: what --print-config-schema
// writes as JSON.
type ConfigSchema struct {
	Key  string `json:"key"`
	Type string `json:"type"`
	Doc  string `json:"doc,omitempty"`
	// Allowed describes the permitted values in words.
	Allowed string `json:"allowed"`
	// Minimum, Maximum and Step bound integer configs; absent when unbounded.
	Minimum *int64 `json:"minimum,omitempty"`
	Maximum *int64 `json:"maximum,omitempty"`
	Step    uint64 `json:"step,omitempty"`
	// Accepted is set when the linked code takes less than the declaration
	// permits.
	Accepted    string             `json:"accepted,omitempty"`
	Constraints []ConstraintSchema `json:"constraints"`
	Promises    []ConstraintSchema `json:"promises,omitempty"`
	// Relations are predicates over this config and others, by key.
	Relations []ConstraintSchema `json:"relations,omitempty"`
	Declared  []string           `json:"declared"` // file:line:col
	Reads     []ConfigReadSchema `json:"reads"`
	Value     string             `json:"value,omitempty"`
	Bound     bool               `json:"bound"`
	From      string             `json:"from,omitempty"` // "binding" or "definition"
}

// ConstraintSchema is one predicate and its place.
type ConstraintSchema struct {
	Predicate string `json:"predicate"`
	Place     string `json:"place"`
	In        string `json:"in,omitempty"`
}

// ConfigReadSchema is one config.get.
type ConfigReadSchema struct {
	Place string `json:"place"`
	In    string `json:"in"`
}

// Schema returns the machine form of a link's configs.
func Schema(configs []*Config) []ConfigSchema {
	out := make([]ConfigSchema, 0, len(configs))
	for _, c := range configs {
		s := ConfigSchema{Key: c.Key, Type: c.Type.String(), Doc: c.Doc, Allowed: c.AllowedWords(),
			Constraints: []ConstraintSchema{}, Declared: []string{}, Reads: []ConfigReadSchema{},
			Bound: c.Bound, Value: c.Text(), From: c.From}
		if domain := domainOf(c.Type); c.Integer {
			if lo, ok := c.Allowed.Min(); ok && !isEnd(domain, lo) {
				s.Minimum = &lo
			}
			if hi, ok := c.Allowed.Max(); ok && !isEnd(domain, hi) {
				s.Maximum = &hi
			}
			if step, _ := c.Allowed.Stride(); step > 1 {
				s.Step = step
			}
			if a := c.Accepted(); !a.Equal(c.Allowed) {
				s.Accepted = a.Words()
			}
		}
		for _, k := range c.Constraints {
			s.Constraints = append(s.Constraints, ConstraintSchema{Predicate: k.Pred.String(), Place: k.Span.String()})
		}
		for _, p := range c.Promises {
			s.Promises = append(s.Promises, ConstraintSchema{Predicate: p.Pred.String(), Place: p.Span.String(), In: p.In})
		}
		for _, r := range c.Relations {
			s.Relations = append(s.Relations, ConstraintSchema{Predicate: r.String(), Place: r.Span.String(), In: r.In})
		}
		for _, d := range c.Decls {
			s.Declared = append(s.Declared, d.NameSpan.String())
		}
		for _, d := range c.Defs {
			s.Declared = append(s.Declared, d.NameSpan.String())
		}
		for _, r := range c.Reads {
			s.Reads = append(s.Reads, ConfigReadSchema{r.Span.String(), r.In})
		}
		out = append(out, s)
	}
	return out
}

// isEnd reports whether v is an end of the type's own domain, which says nothing
// about the config.
func isEnd(domain AllowedSet, v int64) bool {
	lo, _ := domain.Min()
	hi, _ := domain.Max()
	return v == lo && lo != 0 || v == hi
}

// SchemaText renders a link's configs for people.
func SchemaText(configs []*Config) string {
	var b strings.Builder
	for i, c := range configs {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s", c.Key, c.Type)
		if c.Bound {
			fmt.Fprintf(&b, " = %s (%s)", c.Text(), c.From)
		}
		b.WriteByte('\n')
		for _, line := range strings.Split(c.Doc, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				fmt.Fprintf(&b, "  %s\n", line)
			}
		}
		fmt.Fprintf(&b, "  allowed:  %s\n", c.AllowedWords())
		if c.Integer {
			if a := c.Accepted(); !a.Equal(c.Allowed) {
				fmt.Fprintf(&b, "  accepted: %s, as the code states\n", a.Words())
			}
		}
		for _, k := range c.Constraints {
			fmt.Fprintf(&b, "  where:    %s  %s\n", k.Pred, k.Span)
		}
		for _, p := range c.Promises {
			fmt.Fprintf(&b, "  states:   %s  %s in @%s\n", p.Pred, p.Span, p.In)
		}
		for _, r := range c.Relations {
			fmt.Fprintf(&b, "  ties:     %s  %s in @%s\n", r, r.Span, r.In)
		}
		for _, d := range c.Decls {
			fmt.Fprintf(&b, "  declared: %s\n", d.NameSpan)
		}
		for _, d := range c.Defs {
			fmt.Fprintf(&b, "  defined:  %s\n", d.NameSpan)
		}
		for _, r := range c.Reads {
			fmt.Fprintf(&b, "  read:     %s in @%s\n", r.Span, r.In)
		}
	}
	return b.String()
}
