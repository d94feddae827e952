package exports

import (
	"context"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// LinkTogether links all given exports into one module: what they share stands
// in it once. The sources are the exports' primary files, then their libraries.
func (s *Set) LinkTogether(ctx context.Context, exports []*corpus.Export, req Request) (*loom.Module, diag.List) {
	var sources []linker.Source
	var ds diag.List
	seen := map[string]bool{}
	add := func(role linker.Role, ts ...corpus.Text) {
		for _, t := range ts {
			if seen[t.Value] || t.Value == "" {
				continue
			}
			seen[t.Value] = true
			m, l := s.Module(t.Value)
			ds = append(ds, l...)
			if m != nil {
				sources = append(sources, linker.Source{Mod: m, Role: role})
			}
		}
	}
	var roots []string
	for _, e := range exports {
		add(linker.Primary, e.Recipe.PrimarySources...)
		add(linker.Primary, e.Source)
		roots = append(roots, "@"+e.Symbol.Value)
	}
	for _, e := range exports {
		add(linker.Library, s.libraries(e)...)
	}
	res, l := linker.Link(ctx, linker.NewIndex(sources), linker.Request{
		Roots: roots, Config: req.Config, Target: req.Target, StripCheck: req.StripCheck,
	})
	return res.Module, append(ds, l...)
}
