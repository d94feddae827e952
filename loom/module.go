package loom

import (
	"sync"

	"github.com/loomc/loomc/loom/diag"
)

// DefKind groups module-level definitions by what they are to the linker.
type DefKind uint8

// Definition kinds.
const (
	DefOpaque       DefKind = iota // dialects loomc carries verbatim: low.*, pass.*, …
	DefConfigDecl                  // config.decl
	DefConfigDef                   // config.def
	DefTarget                      // amdgpu.target, target.generic, llvmir.target
	DefTargetDecl                  // target.decl
	DefFunc                        // func.def
	DefFuncDecl                    // func.decl
	DefTemplate                    // func.template (key in Family) or template.def (family symbol in Family)
	DefTemplateDecl                // template.decl, func.provider.decl
	DefUkernel                     // func.ukernel, template.ukernel: an implementation without a body
	DefKernel                      // kernel.def
	DefKernelDecl                  // kernel.decl
	DefGlobal                      // global.constant, global.variable
	DefCheckCase                   // check.case
	DefBenchmark                   // check.benchmark
	DefImport                      // module.import
	DefMetadata                    // metadata.module
	DefAlias                       // #alias = #family<…>
)

// Mods are the modifiers of a function-like head.
type Mods struct {
	Public, Retain, Pure bool
	CC                   string // host, device, initializer, deinitializer or ""
	Temperature          string // hot, cold or ""
	Inline               string // inline, noinline or ""
	Target               string // symbol without '@', or ""
	ABI                  string
	ABIAttrs             []NamedAttr
	Export               string
	ExportAttrs          []NamedAttr
	HasExport            bool
	ImportModule         string
	ImportSymbol         string
	HasImport            bool
	Priority             int64
	HasPriority          bool
	Requires             []Attr // encodings such as #target.subgroup.size<64>
	Linkage              string
}

// Result is one declared result of a signature.
type Result struct {
	Type *Type
	Tied *Value // parameter the result is tied to (%p as T), or nil
	Name string // named result (%r: T), or ""
	Val  *Value // value standing for a named result, so that predicates can mention it
}

// Def is one module-level definition.
//
// Parsing is lazy: the fields of the first group are known as soon as a file is
// split into definitions; the others are valid after Load.
type Def struct {
	Kind     DefKind
	Op       *OpDef // table entry of the defining op, nil for an alias
	Name     string // symbol without '@' (alias: name without '#'; metadata, import: the string)
	Family   string // template: dotted key (older) or family symbol (newer); benchmark: the case
	OldForm  bool   // written in the older generation's form (func.template, key in angle brackets)
	Span     diag.Span
	NameSpan diag.Span
	Mod      *Module
	Ordinal  int  // position in the module
	HasBody  bool // head is followed by a region
	Visible  bool // public, exported or imported: has global identity

	// Valid after Load.
	Mods       Mods
	Selector   string      // target: selector
	Attrs      []NamedAttr // target, benchmark, metadata attributes
	Workload   []*Value    // kernel: workload parameters
	Params     []*Value    // function or launch parameters
	Results    []Result
	Where      []Predicate
	Config     *Region // kernel: launch-config block
	Body       *Region
	ConfigType *Type  // config and global: type
	ConfigVal  *Value // config.decl, global: the named value predicates mention, or nil
	Init       Attr   // config.def, global: initial value
	Enc        *Encoding
	Trivia     *Trivia
	Doc        string // comment text directly above the definition, without slashes

	once  sync.Once
	load  func(*Def) diag.List
	diags diag.List
}

// SetLoader installs the function that fills the lazily parsed fields. It is
// for the parser.
func (d *Def) SetLoader(f func(*Def) diag.List) { d.load = f }

// Load parses the rest of the definition if that has not happened yet and
// returns the diagnostics of doing so. It is safe for concurrent use.
func (d *Def) Load() diag.List {
	d.once.Do(func() {
		if d.load != nil {
			d.diags = d.load(d)
			d.load = nil
		}
	})
	return d.diags
}

// Regions calls f for every region of the definition.
func (d *Def) Regions(f func(*Region)) {
	if d.Config != nil {
		f(d.Config)
	}
	if d.Body != nil {
		f(d.Body)
	}
}

// Walk calls f for every op of the definition's regions.
func (d *Def) Walk(f func(*Op) bool) {
	d.Regions(func(r *Region) { r.Walk(f) })
}

// ExportName returns the name a kernel is exported under: export("…") or the
// symbol.
func (d *Def) ExportName() string {
	if d.Mods.HasExport {
		return d.Mods.Export
	}
	return d.Name
}

// IsTemplate reports whether d is an implementation of a family, with a body or
// without.
func (d *Def) IsTemplate() bool { return d.Kind == DefTemplate || d.Kind == DefUkernel }

// Module is one parsed file, or the result of a link.
type Module struct {
	Source *diag.Source // nil for a linked module
	Defs   []*Def
	Tail   []string // comments after the last definition
}

// Load loads every definition and returns all diagnostics.
func (m *Module) Load() diag.List {
	var l diag.List
	for _, d := range m.Defs {
		l = append(l, d.Load()...)
	}
	return l
}

// Lookup returns the first definition called name that defines a symbol, or nil.
func (m *Module) Lookup(name string) *Def {
	for _, d := range m.Defs {
		if d.Name == name && d.Kind != DefAlias && d.Kind != DefImport && d.Kind != DefMetadata {
			return d
		}
	}
	return nil
}
