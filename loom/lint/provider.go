package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// checkProviderUnreachable finds implementations that no application can select:
// their own conditions exclude each other, or wherever they fit, another one fits
// as well and wins.
func checkProviderUnreachable(s *sources) {
	families := map[string][]*loom.Def{}
	decls := map[string]*loom.Def{}
	var order []string
	for _, d := range s.defs {
		switch {
		case d.IsTemplate():
			key := familyKey(d)
			if families[key] == nil {
				order = append(order, key)
			}
			families[key] = append(families[key], d)
		case d.Kind == loom.DefTemplateDecl && decls[d.Name] == nil:
			decls[d.Name] = d
		}
	}
	for _, key := range order {
		fam := families[key]
		decl := decls[strings.TrimPrefix(key, "@")]
		for _, d := range fam {
			if p := contradiction(d, decl); p != "" {
				x := diag.Diagnostic{Span: d.NameSpan, Message: fmt.Sprintf("implementation '@%s' of %s can never be chosen: no value of '%%%s' satisfies its conditions", d.Name, familyWords(d), p)}
				for _, w := range d.Where {
					if mentions(w, p) {
						x = x.WithRelated(w.Span, "%s", w)
					}
				}
				if decl != nil {
					for _, w := range decl.Where {
						if mentions(w, p) {
							x = x.WithRelated(w.Span, "the family demands %s", w)
						}
					}
				}
				s.report(providerUnreachable, x)
				continue
			}
			if w := winner(d, fam, decl); w != nil {
				x := diag.Diagnostic{Span: d.NameSpan, Message: fmt.Sprintf("implementation '@%s' of %s can never be chosen: wherever it fits, '@%s' fits too and has priority %d over %d",
					d.Name, familyWords(d), w.Name, w.Mods.Priority, d.Mods.Priority)}
				if w.Mods.Priority == d.Mods.Priority {
					x.Message = fmt.Sprintf("implementation '@%s' of %s can never be chosen: wherever it fits, '@%s' fits too with the same priority, which is ambiguous", d.Name, familyWords(d), w.Name)
				}
				s.report(providerUnreachable, x.WithRelated(w.NameSpan, "'@%s' stands in its way", w.Name))
			}
		}
	}
}

func familyKey(d *loom.Def) string {
	if d.Op != nil && d.Op.Dialect() == "template" {
		return "@" + d.Family
	}
	return d.Family
}

func familyWords(d *loom.Def) string {
	if k := familyKey(d); strings.HasPrefix(k, "@") {
		return "family '" + k + "'"
	}
	return "key '" + d.Family + "'"
}

func mentions(p loom.Predicate, name string) bool {
	return slices.ContainsFunc(p.Args, func(a loom.PredArg) bool { return a.Val != nil && a.Val.Name == name })
}

// allowed is the set of values that the literal conditions of an implementation,
// and of its family, leave for one parameter.
func allowed(d, decl *loom.Def, i int) (linker.AllowedSet, bool) {
	set, ok := linker.Domain(d.Params[i].Type)
	if !ok {
		return set, false
	}
	narrow := func(d *loom.Def) {
		if i >= len(d.Params) {
			return
		}
		for _, p := range d.Where {
			if x, exact := linker.PredicateSet(p, d.Params[i]); exact {
				set = set.Intersect(x)
			}
		}
	}
	narrow(d)
	if decl != nil && len(decl.Params) == len(d.Params) {
		narrow(decl)
	}
	return set, true
}

// contradiction returns the parameter that cannot have any value, "" when every
// one can.
func contradiction(d, decl *loom.Def) string {
	for i := range d.Params {
		if set, ok := allowed(d, decl, i); ok && set.IsEmpty() {
			return d.Params[i].Name
		}
	}
	return ""
}

// winner returns an implementation that fits wherever d does and is preferred, or
// at least not less: then the application is ambiguous.
func winner(d *loom.Def, fam []*loom.Def, decl *loom.Def) *loom.Def {
	for _, o := range fam {
		if o == d || !fitsWherever(o, d, decl) {
			continue
		}
		switch {
		case o.Mods.Priority > d.Mods.Priority:
			return o
		case o.Mods.Priority == d.Mods.Priority && o.Mod == d.Mod && (!fitsWherever(d, o, decl) || o.Ordinal < d.Ordinal):
			return o
		}
	}
	return nil
}

// fitsWherever reports whether every application that d fits, o fits too.
func fitsWherever(o, d, decl *loom.Def) bool {
	if o.Mods.Target != "" && o.Mods.Target != d.Mods.Target || len(o.Params) != len(d.Params) || len(o.Results) != len(d.Results) {
		return false
	}
	for _, r := range o.Mods.Requires {
		if !slices.ContainsFunc(d.Mods.Requires, r.Equal) {
			return false
		}
	}
	for i := range o.Params {
		if typeText(o, o.Params[i].Type) != typeText(d, d.Params[i].Type) {
			return false
		}
	}
	for i := range o.Results {
		if typeText(o, o.Results[i].Type) != typeText(d, d.Results[i].Type) {
			return false
		}
	}
	for _, p := range o.Where {
		if !implied(p, o, d, decl) {
			return false
		}
	}
	return true
}

// implied reports whether d's conditions imply condition p of o.
func implied(p loom.Predicate, o, d, decl *loom.Def) bool {
	text := predText(o, p)
	if slices.ContainsFunc(d.Where, func(q loom.Predicate) bool { return predText(d, q) == text }) {
		return true
	}
	for i := range o.Params {
		want, exact := linker.PredicateSet(p, o.Params[i])
		if !exact {
			continue
		}
		if have, ok := allowed(d, decl, i); ok && have.Subset(want) {
			return true
		}
	}
	return false
}

// predText and typeText name parameters by position, so that texts of different
// implementations compare.
func predText(d *loom.Def, p loom.Predicate) string { return p.Map(positional(d)).String() }

func typeText(d *loom.Def, t *loom.Type) string { return t.Map(positional(d)).String() }

func positional(d *loom.Def) func(*loom.Value) *loom.Value {
	return func(v *loom.Value) *loom.Value {
		if i := slices.Index(d.Params, v); i >= 0 {
			return &loom.Value{Name: fmt.Sprint(i), Type: v.Type}
		}
		return v
	}
}
