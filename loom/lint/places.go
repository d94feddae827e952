package lint

import (
	"slices"
	"sort"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// places finds the definition that a place in the sources belongs to.
type places struct {
	defs  []*loom.Def // loaded without errors, in file order
	bySrc map[*diag.Source][]*loom.Def
}

func newPlaces(mods []*loom.Module) *places {
	p := &places{bySrc: map[*diag.Source][]*loom.Def{}}
	for _, m := range mods {
		for _, d := range m.Defs {
			if d.Load().HasErrors() {
				continue
			}
			p.defs = append(p.defs, d)
			if d.Span.Src != nil {
				p.bySrc[d.Span.Src] = append(p.bySrc[d.Span.Src], d)
			}
		}
	}
	for _, ds := range p.bySrc {
		slices.SortFunc(ds, func(a, b *loom.Def) int { return int(a.Span.Start) - int(b.Span.Start) })
	}
	return p
}

// at returns the definition around a place, nil when there is none.
func (p *places) at(sp diag.Span) *loom.Def {
	ds := p.bySrc[sp.Src]
	i := sort.Search(len(ds), func(i int) bool { return ds[i].Span.Start > sp.Start }) - 1
	if i < 0 || sp.Start >= ds[i].Span.End {
		return nil
	}
	return ds[i]
}

// reached records which definitions and lines some analysed body holds.
type reached struct {
	places *places
	defs   map[*loom.Def]bool
	lines  map[lineOf]bool
}

type lineOf struct {
	src  *diag.Source
	line int
}

func newReached(p *places) *reached {
	return &reached{places: p, defs: map[*loom.Def]bool{}, lines: map[lineOf]bool{}}
}

func (r *reached) add(def *loom.Def) {
	if d := r.places.at(def.NameSpan); d != nil {
		r.defs[d] = true
	}
	def.Walk(func(op *loom.Op) bool {
		if op.Span.Src == nil {
			return true
		}
		if d := r.places.at(op.Span); d != nil {
			r.defs[d] = true
		}
		line, _ := op.Span.LineCol()
		r.lines[lineOf{op.Span.Src, line}] = true
		return true
	})
}
