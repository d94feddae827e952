package linker

import (
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
)

// Role says what part a source plays. It sets lookup priority and nothing else.
type Role uint8

// Roles.
const (
	Primary Role = iota // the file that was asked for
	Library             // searched after every primary source
)

func (r Role) String() string { return [...]string{"primary", "library"}[r] }

// Source is one file that takes part in a link.
type Source struct {
	Mod  *loom.Module
	Role Role
}

// Index is the frozen symbol table of a list of sources. It is immutable and
// safe for concurrent use; the definitions it points to are loaded when a link
// reaches them.
//
// A definition has global identity when it is public, exported, imported, a
// declaration or a config; all others are private to their file. Definitions
// with global identity and one name are one symbol. A declaration is filled by
// the first definition of its name in index order, even a private one: corpora
// keep the bodies that several files declare in unmarked library functions.
type Index struct {
	sources []Source // primary first, then libraries, each in the given order
	entries []*entry // every symbol-defining definition in index order
	locals  []map[string]*symbol
	globals map[string]*symbol
	keyed   map[string][]*entry // func.template implementations by key
	family  map[string][]*entry // template.def implementations by family symbol
}

// entry is one definition in the index.
type entry struct {
	def    *loom.Def
	source int // position in Index.sources
	order  int // position in Index.entries
	sym    *symbol

	once sync.Once
	refs []reference
	gets []*loom.Op // every config.get
}

// symbol is what a name means: one body, or none, and the declarations it
// fills.
type symbol struct {
	name    string
	global  bool
	body    *entry   // nil when only declared
	decls   []*entry // in index order
	extra   []*entry // further concrete definitions with global identity
	eclipse *entry   // a later public body that an earlier private one displaced
	others  []*entry // later private bodies of the name, which the declarations do not mean
}

// NewIndex builds the index of sources. Only what splitting a file yields is
// looked at, so the cost does not depend on the size of bodies.
func NewIndex(sources []Source) *Index {
	x := &Index{
		sources: slices.Clone(sources),
		globals: map[string]*symbol{},
		keyed:   map[string][]*entry{},
		family:  map[string][]*entry{},
	}
	slices.SortStableFunc(x.sources, func(a, b Source) int { return int(a.Role) - int(b.Role) })
	x.sources = withoutPrimary(x.sources)
	x.locals = make([]map[string]*symbol, len(x.sources))
	byName := map[string][]*entry{}
	var names []string
	for i, s := range x.sources {
		x.locals[i] = make(map[string]*symbol, len(s.Mod.Defs))
		for _, d := range s.Mod.Defs {
			if d.Name == "" || !definesSymbol(d) {
				continue
			}
			e := &entry{def: d, source: i, order: len(x.entries)}
			x.entries = append(x.entries, e)
			if byName[d.Name] == nil {
				names = append(names, d.Name)
			}
			byName[d.Name] = append(byName[d.Name], e)
			if d.IsTemplate() {
				if d.Op != nil && d.Op.Dialect() == "template" {
					x.family[d.Family] = append(x.family[d.Family], e)
				} else {
					x.keyed[d.Family] = append(x.keyed[d.Family], e)
				}
			}
		}
	}
	for _, name := range names {
		x.identify(name, byName[name])
	}
	return x
}

// withoutPrimary leaves out the libraries that are a primary source given again,
// as happens when a directory of libraries holds the primary file too. Sources
// are in lookup order.
func withoutPrimary(sources []Source) []Source {
	primary := map[string]string{} // text by cleaned name
	return slices.DeleteFunc(sources, func(s Source) bool {
		src := s.Mod.Source
		if src == nil {
			return false
		}
		name := path.Clean(filepath.ToSlash(src.Name))
		if s.Role == Primary {
			primary[name] = src.Text
			return false
		}
		text, ok := primary[name]
		return ok && text == src.Text
	})
}

// identify decides which of the same-named entries are one symbol.
func (x *Index) identify(name string, es []*entry) {
	var g *symbol
	declared := false
	for _, e := range es {
		if hasGlobalIdentity(e.def) && g == nil {
			g = &symbol{name: name, global: true}
			x.globals[name] = g
		}
		declared = declared || isDeclaration(e.def)
	}
	for _, e := range es {
		switch {
		case isDeclaration(e.def):
			g.decls = append(g.decls, e)
		case hasGlobalIdentity(e.def):
			if g.body == nil {
				g.body = e
			} else if !hasGlobalIdentity(g.body.def) {
				if g.eclipse == nil {
					g.eclipse = e
				}
				continue // a symbol of its own; nothing refers to it
			} else {
				g.extra = append(g.extra, e)
			}
		case declared && g.body == nil:
			g.body = e
		default:
			if declared {
				g.others = append(g.others, e)
			}
			e.sym = &symbol{name: name, body: e}
			x.bindLocal(e)
			continue
		}
		e.sym = g
		x.bindLocal(e)
	}
	for _, e := range es {
		if e.sym == nil {
			e.sym = &symbol{name: name, body: e, global: true}
			x.bindLocal(e)
		}
	}
}

// bindLocal makes e what its name means inside its own file. A definition of
// the file itself goes before a declaration in it.
func (x *Index) bindLocal(e *entry) {
	m := x.locals[e.source]
	if old := m[e.def.Name]; old == nil || (old.body != e && !isDeclaration(e.def) && old.global && !e.sym.global) {
		m[e.def.Name] = e.sym
	}
}

// Sources returns the sources in lookup order.
func (x *Index) Sources() []Source { return slices.Clone(x.sources) }

// resolve returns what name means in a source. declared is false when the
// source itself neither defines nor declares it.
func (x *Index) resolve(source int, name string) (s *symbol, declared bool) {
	if s := x.locals[source][name]; s != nil {
		return s, true
	}
	return x.globals[name], false
}

// Candidates returns every implementation of a family (newer generation) or of
// a key (older generation) in index order.
func (x *Index) Candidates(name string, keyed bool) []*loom.Def {
	es := x.family[name]
	if keyed {
		es = x.keyed[name]
	}
	out := make([]*loom.Def, len(es))
	for i, e := range es {
		out[i] = e.def
	}
	return out
}

// nearestSymbol suggests a name for one that nothing defines.
func (x *Index) nearestSymbol(name string, fits func(*loom.Def) bool) string {
	var names []string
	for _, e := range x.entries {
		if fits == nil || fits(e.def) {
			names = append(names, e.def.Name)
		}
	}
	return dialect.Nearest(name, names)
}

// SymbolInfo describes one definition for listings.
type SymbolInfo struct {
	Name     string    `json:"name"`
	Kind     string    `json:"kind"` // op name, e.g. "func.def"
	File     string    `json:"file"`
	Role     string    `json:"role"`
	Place    string    `json:"place"` // file:line:col
	Global   bool      `json:"global"`
	Declared bool      `json:"declaration"`
	Def      *loom.Def `json:"-"`
	Family   string    `json:"family,omitempty"`
}

// Symbols lists every definition in index order.
func (x *Index) Symbols() []SymbolInfo {
	out := make([]SymbolInfo, len(x.entries))
	for i, e := range x.entries {
		s := x.sources[e.source]
		out[i] = SymbolInfo{
			Name: e.def.Name, Kind: defWord(e.def), Role: s.Role.String(), Place: e.def.NameSpan.String(),
			Global: e.sym.global, Declared: isDeclaration(e.def), Def: e.def, Family: e.def.Family,
		}
		if s.Mod.Source != nil {
			out[i].File = s.Mod.Source.Name
		}
	}
	return out
}

func definesSymbol(d *loom.Def) bool {
	return d.Kind != loom.DefAlias && d.Kind != loom.DefImport && d.Kind != loom.DefMetadata
}

// isDeclaration reports whether d only announces a symbol.
func isDeclaration(d *loom.Def) bool {
	switch d.Kind {
	case loom.DefFuncDecl, loom.DefConfigDecl, loom.DefTemplateDecl, loom.DefKernelDecl, loom.DefTargetDecl:
		return true
	}
	return false
}

func hasGlobalIdentity(d *loom.Def) bool {
	return d.Visible || isDeclaration(d) || d.Kind == loom.DefConfigDef
}

// defWord is the op that defines d, as the user wrote it.
func defWord(d *loom.Def) string {
	if d.Op != nil {
		return d.Op.Name
	}
	return "definition"
}

// kindWords names what a symbol is, for messages about the wrong kind.
func kindWords(d *loom.Def) string {
	switch d.Kind {
	case loom.DefConfigDecl, loom.DefConfigDef:
		return "config"
	case loom.DefTarget, loom.DefTargetDecl:
		return "target"
	case loom.DefFunc, loom.DefFuncDecl:
		return "function"
	case loom.DefTemplate, loom.DefUkernel:
		return "template implementation"
	case loom.DefTemplateDecl:
		return "template family"
	case loom.DefKernel, loom.DefKernelDecl:
		return "kernel"
	case loom.DefGlobal:
		return "global"
	case loom.DefCheckCase:
		return "check case"
	case loom.DefBenchmark:
		return "benchmark"
	}
	return defWord(d)
}
