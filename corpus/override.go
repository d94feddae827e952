package corpus

import (
	"context"
	"maps"
	"slices"

	"github.com/loomc/loomc/loom/diag"
)

// WithOverride lays the directory dir over a corpus and returns the result; base
// stays as it is.
//
//   - A file in dir takes the place of the corpus file of the same path, and the
//     digest that the corpus states for that path no longer applies. Other files
//     join the corpus.
//   - Export records in dir/manifest.json change the exports of the same name
//     and target. A record may be partial: fields it leaves out keep the value
//     they have. Without "target_selector" it applies to every variant of the
//     name. A record of a new name, or of a new target of a known name, adds an
//     export.
//   - A record that changes "source" and says nothing of compile_recipe takes
//     the old source's place among the primary sources too.
//
// The list is about the merged corpus: what base had and dir repaired is gone,
// what remains is repeated. Export.OverriddenBy and Provenance say what came
// from where.
func WithOverride(ctx context.Context, base *Corpus, dir string) (*Corpus, diag.List) {
	return override(ctx, base, dir, dir)
}

// override is WithOverride with dir as shown and as found on disk.
func override(ctx context.Context, base *Corpus, shown, disk string) (*Corpus, diag.List) {
	over, ds := openDirectory(ctx, argument("--override", shown), shown, disk, true, nil)
	if over == nil {
		return nil, ds
	}
	files := maps.Clone(base.files)
	failures := maps.Clone(base.failures)
	for p, f := range over.files {
		if p == over.manifestPath {
			continue // its records are merged; the corpus's own text stays
		}
		files[p] = &file{src: f.src, origin: &over.origin, replaced: base.files[p]}
		delete(failures, p)
	}
	maps.Copy(failures, over.failures)

	merged := newCorpus(base.origin, files, failures)
	merged.manifestPath = base.manifestPath
	merged.parsed = slices.Concat(base.parsed, over.parsed, ds)
	if base.manifest != nil {
		merged.manifest = base.manifest.Clone()
	} else if over.manifest != nil {
		merged.manifest = &Manifest{Source: over.manifest.Source, Schema: over.manifest.Schema,
			filesSpan: over.manifest.filesSpan, exportsSpan: over.manifest.exportsSpan}
	}
	if merged.manifest != nil {
		m := merger{m: merged.manifest, over: over}
		m.exports()
		m.files(base)
		m.unused(base, shown)
		merged.manifest.collectUnknown()
		merged.parsed = append(merged.parsed, m.ds...)
	}
	merged.check()
	return merged, merged.Problems()
}

// merger applies an override's records to a manifest.
type merger struct {
	m    *Manifest
	over *Corpus
	ds   diag.List
}

func (g *merger) exports() {
	if g.over.manifest == nil {
		return
	}
	type key struct{ name, target string }
	seen := map[key]diag.Span{}
	for i := range g.over.manifest.Exports {
		o := &g.over.manifest.Exports[i]
		if o.Name.Value == "" {
			g.ds.Add(diag.Errorf(o.Span, "MANIFEST/MISSING-FIELD", "an override record has no 'name'").
				WithHelp(`"name" says which export it changes`))
			continue
		}
		k := key{o.Name.Value, o.TargetSelector.Value}
		if first, again := seen[k]; again {
			g.ds.Add(diag.Errorf(o.Name.Span, "MANIFEST/DUPLICATE-EXPORT", "export '%s' is overridden twice", o.ID()).
				WithRelated(first, "first here").WithHelp("merge the two records"))
			continue
		}
		seen[k] = o.Name.Span
		g.export(o)
	}
}

// export applies one record to the exports it names, or adds it.
func (g *merger) export(o *Export) {
	var like *Export // what a new variant inherits from
	hit := false
	for i := range g.m.Exports {
		e := &g.m.Exports[i]
		if e.Name.Value != o.Name.Value {
			continue
		}
		if like == nil || e.TargetSelector.Value == "" {
			like = e
		}
		if !o.TargetSelector.Span.Valid() || e.TargetSelector.Value == o.TargetSelector.Value {
			e.apply(o)
			hit = true
		}
	}
	if hit {
		return
	}
	added := Export{Span: o.Span}
	if like != nil {
		added = *like
		added.Span = o.Span
	}
	added.apply(o)
	g.m.Exports = append(g.m.Exports, added)
}

// apply sets the fields that o states. Slices are replaced, never changed: base
// shares them.
func (e *Export) apply(o *Export) {
	text := func(dst *Text, src Text) {
		if src.Span.Valid() {
			*dst = src
		}
	}
	oldSource := e.Source
	if !e.Recipe.Span.Valid() {
		e.Recipe = Recipe{} // made up from the other fields; it will be again
	}
	text(&e.Name, o.Name)
	text(&e.Family, o.Family)
	text(&e.Symbol, o.Symbol)
	text(&e.Source, o.Source)
	text(&e.TargetSelector, o.TargetSelector)
	if o.WorkloadSpan.Valid() {
		e.WorkloadParameters, e.WorkloadSpan = o.WorkloadParameters, o.WorkloadSpan
	}
	if o.LaunchSpan.Valid() {
		e.LaunchParameters, e.LaunchSpan = o.LaunchParameters, o.LaunchSpan
	}
	if o.BindingsSpan.Valid() {
		e.Bindings, e.BindingsSpan = o.Bindings, o.BindingsSpan
	}
	if o.AccessSpan.Valid() {
		e.BindingAccess, e.AccessSpan = o.BindingAccess, o.AccessSpan
	}
	if o.DependenciesSpan.Valid() {
		e.CompileDependencies, e.DependenciesSpan = o.CompileDependencies, o.DependenciesSpan
	}
	switch {
	case o.Recipe.Span.Valid():
		e.Recipe = o.Recipe
		if !o.DependenciesSpan.Valid() {
			e.CompileDependencies = o.Recipe.LibrarySources
		}
	case e.Recipe.Span.Valid():
		if o.DependenciesSpan.Valid() {
			e.Recipe.LibrarySources = o.CompileDependencies
		}
		if o.Source.Span.Valid() {
			e.Recipe.PrimarySources = slices.Clone(e.Recipe.PrimarySources)
			for i, t := range e.Recipe.PrimarySources {
				if t.Value == oldSource.Value {
					e.Recipe.PrimarySources[i] = o.Source
				}
			}
		}
	}
	if o.unknown != nil {
		e.unknown = slices.Concat(e.unknown, o.unknown)
	}
	if e.parseProblem == "" {
		e.parseProblem, e.parseFaults = o.parseProblem, o.parseFaults
	}
	e.OverriddenBy = o.Span
}

// files makes the file records describe the merged files.
func (g *merger) files(base *Corpus) {
	index := make(map[string]int, len(g.m.Files))
	for i := range g.m.Files {
		index[g.m.Files[i].Path.Value] = i
	}
	put := func(f File) {
		if i, ok := index[f.Path.Value]; ok {
			g.m.Files[i] = f
			return
		}
		index[f.Path.Value] = len(g.m.Files)
		g.m.Files = append(g.m.Files, f)
	}
	for _, p := range g.over.paths() {
		if p == g.over.manifestPath {
			continue
		}
		if i, ok := index[p]; ok {
			// What the corpus stated about this path describes the hidden file.
			g.m.Files[i].SHA256, g.m.Files[i].Size = Text{}, Size{}
			continue
		}
		put(File{Path: Plain(p), Owner: Plain("override")})
	}
	if g.over.manifest != nil {
		for _, f := range g.over.manifest.Files {
			put(f)
		}
		if !g.m.filesSpan.Valid() {
			g.m.filesSpan = g.over.manifest.filesSpan
		}
	}
}

// unused warns about files that neither hide a corpus file nor take part in an
// export: most likely a path is misspelt and the intended file still in place.
func (g *merger) unused(base *Corpus, shown string) {
	used := map[string]bool{}
	for i := range g.m.Exports {
		e := &g.m.Exports[i]
		used[e.Source.Value] = true
		for _, list := range [][]Text{e.Recipe.PrimarySources, e.Recipe.LibrarySources, e.CompileDependencies} {
			for _, t := range list {
				used[t.Value] = true
			}
		}
	}
	for i := range g.m.LinkModules {
		for _, t := range slices.Concat(g.m.LinkModules[i].Srcs, g.m.LinkModules[i].Libraries) {
			used[t.Value] = true
		}
	}
	for _, p := range g.over.paths() {
		if p == g.over.manifestPath || used[p] || base.files[p] != nil {
			continue
		}
		d := diag.Warnf(diag.Span{Src: g.over.files[p].src}, "CORPUS/OVERRIDE-UNUSED",
			"override file '%s' replaces nothing and no export uses it", p)
		if n := nearestPath(p, base.paths()); n != "" {
			d = d.WithHelp("to replace '%s' move it to that path below '%s'; to use it as it is, name it in an export record of %s/manifest.json", n, shown, shown)
		} else {
			d = d.WithHelp("name it in an export record of %s/manifest.json, or remove it", shown)
		}
		g.ds.Add(d)
	}
}

// Clone returns a copy whose records can be changed without changing m. Lists
// inside the records are shared; replace them, do not write into them.
func (m *Manifest) Clone() *Manifest {
	c := *m
	c.Files = slices.Clone(m.Files)
	for i := range c.Files {
		c.Files[i].Problem, c.Files[i].faults = "", nil
	}
	c.Exports = slices.Clone(m.Exports)
	for i := range c.Exports {
		c.Exports[i].Problem = c.Exports[i].parseProblem
	}
	c.LinkModules = slices.Clone(m.LinkModules)
	c.PlanCases = slices.Clone(m.PlanCases)
	c.Unknown = slices.Clone(m.Unknown)
	return &c
}
