package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
)

// explainExport explains an export of the corpus that the flags name: what it
// accepts and why. found is false when the corpus has no such export.
func (a *app) explainExport(c *cobra.Command, f *corpusFlags, name string) (found bool, err error) {
	set, ds, err := f.open(c.Context(), c)
	if err != nil {
		return false, err
	}
	if set == nil {
		return false, a.showOpen(ds)
	}
	return a.explainIn(c.Context(), set, name)
}

func (a *app) explainIn(ctx context.Context, set *exports.Set, name string) (bool, error) {
	m := set.Corpus().Manifest()
	if m == nil {
		return false, nil
	}
	s := compat.NewSurface(set, "")
	found := false
	for i := range m.Exports {
		e := &m.Exports[i]
		if e.Name.Value != name && e.ID() != name && "@"+e.Symbol.Value != name {
			continue
		}
		if found {
			fmt.Fprintln(a.out)
		}
		found = true
		var b strings.Builder
		if err := s.Explain(ctx, s.Contract(ctx, e)).WriteText(&b); err != nil {
			return true, failed(fmt.Errorf("write explanation: %w", err))
		}
		if err := a.writeOutput("-", []byte(b.String())); err != nil {
			return true, err
		}
	}
	return found, nil
}

// explainRule explains a rule of loomc diff, by its id or as the code DIFF/ID. It
// reports whether there is such a rule.
func (a *app) explainRule(name string) bool {
	r, ok := compat.LookupRule(strings.TrimPrefix(strings.ToLower(strings.Trim(name, "[]")), "diff/"))
	if !ok {
		return false
	}
	fmt.Fprintf(a.out, "%s (%s): %s\n\n%s\n", r.ID, r.Category, r.Title, r.Doc)
	if r.Fix != "" {
		fmt.Fprintf(a.out, "\nWhat to do: %s\n", r.Fix)
	}
	return true
}
