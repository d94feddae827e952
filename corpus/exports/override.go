package exports

import (
	"slices"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

// overriding returns, for every file that an override brought into the corpus,
// where it comes from and what it hides.
func overriding(c *corpus.Corpus) map[*diag.Source]corpus.Provenance {
	out := map[*diag.Source]corpus.Provenance{}
	for _, p := range c.Paths() {
		if info, ok := c.Provenance(p); ok && info.Origin != c.Origin() {
			out[c.Source(p)] = info
		}
	}
	return out
}

// blameOverride turns a clash of signatures in which an overriding file takes
// part into what it is for whoever keeps the override: the file no longer fits
// the corpus around it.
func (s *Set) blameOverride(ds diag.List) diag.List {
	if !slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Code == "LINK/MISMATCH" }) {
		return ds
	}
	out := slices.Clone(ds)
	for i, d := range out {
		if d.Code != "LINK/MISMATCH" {
			continue
		}
		spans := []diag.Span{d.Span}
		for _, r := range d.Related {
			spans = append(spans, r.Span)
		}
		for _, sp := range spans {
			info, ok := s.overriding()[sp.Src]
			if !ok {
				continue
			}
			d.Code = "OVERRIDE/SIGNATURE"
			d.Related = slices.Clone(d.Related)
			what, callers := "adds this file to the corpus", d.Span.Src
			if info.Replaces != "" {
				what = "puts this file in place of " + info.Replaces
			}
			d = d.WithRelated(diag.Span{Src: sp.Src}, "the override %s", what)
			if callers != nil && callers != sp.Src {
				d = d.WithHelp("give the definition in %s the parameters its callers pass, or override %s as well, with the new declaration and calls", info.Name, callers.Name)
			}
			break
		}
		out[i] = d
	}
	return out
}
