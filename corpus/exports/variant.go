package exports

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
)

// Fit keeps, of every name that picked has several exports of, the variant that
// suits the processor best: one written for it, then one for a generic that covers
// it, one for a relative that it can stand in for, and last one for any target.
// Names with a single export stay; linking says whether it fits. A name without a
// fitting variant is reported with all it has, and left out. An empty
// targetName keeps everything.
func (s *Set) Fit(picked []*corpus.Export, targetName string) ([]*corpus.Export, diag.List) {
	if targetName == "" {
		return picked, nil
	}
	groups := map[string][]*corpus.Export{}
	for _, e := range picked {
		groups[e.Name.Value] = append(groups[e.Name.Value], e)
	}
	var out []*corpus.Export
	var ds diag.List
	for _, e := range picked {
		vs := groups[e.Name.Value]
		if len(vs) == 1 {
			out = append(out, e)
			continue
		}
		best := s.closest(vs, targetName)
		switch {
		case best == e:
			out = append(out, e)
		case best == nil && vs[0] == e:
			ds.Add(s.noVariant(vs, targetName))
		}
	}
	return out, ds
}

// One is Fit for a command that works on a single export. Without a processor it
// takes the default variant, or the first when there is none.
func (s *Set) One(picked []*corpus.Export, targetName string) (*corpus.Export, diag.List) {
	fit, ds := s.Fit(picked, targetName)
	if len(fit) == 0 {
		return nil, ds
	}
	if i := slices.IndexFunc(fit, func(e *corpus.Export) bool { return e.TargetSelector.Value == "" }); i > 0 && targetName == "" {
		return fit[i], ds
	}
	return fit[0], ds
}

// anyTarget ranks variants that name no processor behind those that do.
const anyTarget = target.Conflict

// closest is the variant of the best relation, the first of those.
func (s *Set) closest(vs []*corpus.Export, targetName string) *corpus.Export {
	var best *corpus.Export
	rank := anyTarget + 1
	for _, e := range vs {
		r := anyTarget
		if authored := s.authored(e); authored != "" {
			if r = target.Relate(authored, targetName); r == target.Conflict {
				continue
			}
		}
		if r < rank {
			best, rank = e, r
		}
	}
	return best
}

// authored is the processor that a variant is for: the record's selector, which
// may be narrower than what the kernel names, else the kernel's. It is "" for
// kernels that name none.
func (s *Set) authored(e *corpus.Export) string {
	if t := e.TargetSelector.Value; t != "" {
		return t
	}
	k := s.define(e, loom.DefKernel, e.Symbol.Value)
	if k == nil || k.Load().HasErrors() || k.Mods.Target == "" {
		return ""
	}
	if r := s.define(e, loom.DefTarget, k.Mods.Target); r != nil && !r.Load().HasErrors() {
		return target.Processor(r)
	}
	return ""
}

// define finds a definition in the files of an export.
func (s *Set) define(e *corpus.Export, kind loom.DefKind, name string) *loom.Def {
	for _, p := range slices.Concat(e.Recipe.PrimarySources, []corpus.Text{e.Source}, s.libraries(e)) {
		m, _ := s.Module(p.Value)
		if m == nil {
			continue
		}
		for _, d := range m.Defs {
			if d.Kind == kind && d.Name == name {
				return d
			}
		}
	}
	return nil
}

func (s *Set) noVariant(vs []*corpus.Export, targetName string) diag.Diagnostic {
	d := diag.Errorf(vs[0].Name.Span, "LINK/VARIANT", "no variant of export '%s' is for %s", vs[0].Name.Value, targetName)
	var have []string
	for _, e := range vs {
		a := s.authored(e)
		have = append(have, a)
		at := e.Span
		if k := s.define(e, loom.DefKernel, e.Symbol.Value); k != nil {
			at = k.NameSpan
		}
		d = d.WithRelated(at, "this one is for %s", a)
	}
	slices.Sort(have)
	return d.WithHelp("select a processor that one of them is for (%s), or add a variant", strings.Join(slices.Compact(have), ", "))
}
