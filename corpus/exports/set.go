// Package exports links, closes and checks what a corpus offers.
//
// A Set joins a corpus (package corpus: files and manifest) with the linker. It
// parses every file once, builds one frozen index per compile recipe, and then
// answers, for any number of exports at a time: does it link, does its interface
// match the manifest, do its config values satisfy every constraint, and does it
// specialise for the planned cases. Each answer is an Outcome that carries its
// own diagnostics; one bad export never hides another.
package exports

import (
	"slices"
	"strings"
	"sync"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/parser"
)

// Set is a corpus prepared for linking. It is safe for concurrent use.
type Set struct {
	corpus     *corpus.Corpus
	overriding func() map[*diag.Source]corpus.Provenance

	mu      sync.Mutex
	modules map[string]*module
	indexes map[string]*index
}

type module struct {
	once  sync.Once
	mod   *loom.Module
	diags diag.List
}

type index struct {
	once sync.Once
	idx  *linker.Index
	ds   diag.List
}

// New prepares the corpus c.
func New(c *corpus.Corpus) *Set {
	return &Set{corpus: c, modules: map[string]*module{}, indexes: map[string]*index{},
		overriding: sync.OnceValue(func() map[*diag.Source]corpus.Provenance { return overriding(c) })}
}

// Corpus returns the corpus of the set.
func (s *Set) Corpus() *corpus.Corpus { return s.corpus }

// Module returns the parsed file at path, nil when the corpus has no such file.
// Its definitions load on demand.
func (s *Set) Module(path string) (*loom.Module, diag.List) {
	s.mu.Lock()
	m := s.modules[path]
	if m == nil {
		m = &module{}
		s.modules[path] = m
	}
	s.mu.Unlock()
	m.once.Do(func() {
		src := s.corpus.Source(path)
		if src == nil {
			return
		}
		m.mod, m.diags = parser.Parse(src)
	})
	return m.mod, m.diags
}

// Index returns the frozen index of an export's compile recipe: its primary
// sources, then its libraries. Exports with equal recipes share one.
func (s *Set) Index(e *corpus.Export) (*linker.Index, diag.List) {
	key := recipeKey(e)
	s.mu.Lock()
	ix := s.indexes[key]
	if ix == nil {
		ix = &index{}
		s.indexes[key] = ix
	}
	s.mu.Unlock()
	ix.once.Do(func() {
		var sources []linker.Source
		seen := map[string]bool{}
		add := func(path corpus.Text, role linker.Role) {
			if seen[path.Value] {
				return
			}
			seen[path.Value] = true
			m, ds := s.Module(path.Value)
			ix.ds = append(ix.ds, ds...)
			if m == nil {
				ix.ds.Add(diag.Errorf(path.Span, "MANIFEST/FILE-ABSENT", "source file '%s' is not in the corpus", path.Value).
					WithHelp("add the file, or correct the path in the compile recipe"))
				return
			}
			sources = append(sources, linker.Source{Mod: m, Role: role})
		}
		for _, p := range e.Recipe.PrimarySources {
			add(p, linker.Primary)
		}
		if len(e.Recipe.PrimarySources) == 0 {
			add(e.Source, linker.Primary)
		}
		for _, p := range s.libraries(e) {
			add(p, linker.Library)
		}
		ix.idx = linker.NewIndex(sources)
	})
	return ix.idx, ix.ds
}

// libraries lists the library files of an export: those of its recipe, and of
// the link module it names.
func (s *Set) libraries(e *corpus.Export) []corpus.Text {
	libs := slices.Clone(e.Recipe.LibrarySources)
	if len(libs) == 0 {
		libs = slices.Clone(e.CompileDependencies)
	}
	if name := e.Recipe.LinkModule.Value; name != "" {
		libs = append(libs, s.linkModule(name, map[string]bool{})...)
	}
	return libs
}

func (s *Set) linkModule(name string, seen map[string]bool) []corpus.Text {
	if seen[name] || s.corpus.Manifest() == nil {
		return nil
	}
	seen[name] = true
	var out []corpus.Text
	for _, m := range s.corpus.Manifest().LinkModules {
		if m.Name.Value != name {
			continue
		}
		out = append(out, m.Srcs...)
		for _, l := range m.Libraries {
			if other, ok := strings.CutPrefix(l.Value, ":"); ok {
				out = append(out, s.linkModule(other, seen)...)
			} else {
				out = append(out, l)
			}
		}
	}
	return out
}

func recipeKey(e *corpus.Export) string {
	var b strings.Builder
	write := func(ts []corpus.Text) {
		for _, t := range ts {
			b.WriteString(t.Value)
			b.WriteByte(0)
		}
		b.WriteByte(1)
	}
	write(e.Recipe.PrimarySources)
	write([]corpus.Text{e.Source})
	write(e.Recipe.LibrarySources)
	write(e.CompileDependencies)
	write([]corpus.Text{e.Recipe.LinkModule})
	return b.String()
}

// Select returns the exports that names ask for, in manifest order: an export
// name stands for all its target variants, "@symbol" for the exports of that
// kernel. No names select every export. Unknown names are reported with the
// nearest known one.
func (s *Set) Select(names []string) ([]*corpus.Export, diag.List) {
	m := s.corpus.Manifest()
	if m == nil {
		return nil, nil
	}
	var out []*corpus.Export
	var ds diag.List
	picked := map[*corpus.Export]bool{}
	for _, n := range names {
		found := false
		sym, bySymbol := strings.CutPrefix(n, "@")
		for i := range m.Exports {
			e := &m.Exports[i]
			if bySymbol && e.Symbol.Value == sym || !bySymbol && (e.Name.Value == n || e.ID() == n) {
				found, picked[e] = true, true
			}
		}
		if !found {
			ds.Add(unknownExport(m, n))
		}
	}
	for i := range m.Exports {
		if e := &m.Exports[i]; len(names) == 0 || picked[e] {
			out = append(out, e)
		}
	}
	return out, ds
}

func unknownExport(m *corpus.Manifest, name string) diag.Diagnostic {
	src := diag.NewSource("command line", name)
	d := diag.Errorf(diag.Span{Src: src, End: uint32(len(name))}, "LINK/ROOT", "the corpus has no export '%s'", name)
	var known []string
	for i := range m.Exports {
		if strings.HasPrefix(name, "@") {
			known = append(known, "@"+m.Exports[i].Symbol.Value)
		} else {
			known = append(known, m.Exports[i].Name.Value)
		}
	}
	if n := dialect.Nearest(name, known); n != "" {
		return d.WithHelp("did you mean '%s'?", n)
	}
	return d.WithHelp("'loomc link' lists the exports; a kernel's symbol is written with '@'")
}
