package corpus

import (
	"regexp"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Text is a string together with the place it was read from. The Span covers
// the JSON token, quotes included; it has no place in a Manifest built by a
// program.
type Text struct {
	Value string
	Span  diag.Span
}

// Plain returns a Text without a place, for manifests built by a program.
func Plain(s string) Text { return Text{Value: s} }

func (t Text) String() string { return t.Value }

// Access says what a kernel does with a buffer.
type Access uint8

// The access words of a manifest. AccessUnknown stands for anything else.
const (
	AccessUnknown Access = iota
	AccessRead
	AccessWrite
	AccessReadWrite
)

var accessWords = []string{"unknown", "read", "write", "read_write"}

func (a Access) String() string { return accessWords[min(int(a), len(accessWords)-1)] }

// ParseAccess returns the access a manifest word stands for, or AccessUnknown.
func ParseAccess(word string) Access {
	for a := AccessRead; a <= AccessReadWrite; a++ {
		if accessWords[a] == word {
			return a
		}
	}
	return AccessUnknown
}

// The words of compile_recipe's "mode".
const (
	ModeDirect  = "direct"  // compile the primary with its libraries as text
	ModeArchive = "archive" // link the module closure first
)

// SchemaV1 and the others are the manifest schemas that are read. SchemaV1 is
// also what Marshal writes when Schema is empty.
const (
	SchemaV1     = "ggml-hrx-kernel-corpus-v1"
	SchemaV2     = "ggml-hrx-kernel-corpus-v2"
	SchemaQwenV2 = "ggml-hrx-qwen-kernel-corpus-v2"
)

var (
	schemas = []string{SchemaV1, SchemaV2, SchemaQwenV2}
	// anySchema matches schemas of this family, known or not: enough to tell a
	// corpus manifest from the many other files called manifest.json.
	anySchema = regexp.MustCompile(`"schema"\s*:\s*"ggml-hrx-[a-z0-9_-]*kernel-corpus-v[0-9]+"`)
)

// Manifest is manifest.json: the files of a corpus and the exports they offer.
type Manifest struct {
	Source *diag.Source // text it was read from; nil when built by a program

	Schema             Text
	UpstreamRepository Text // where the corpus was copied from, if it says so
	UpstreamRevision   Text
	SourceSubdirectory Text
	CorpusDigest       Text // corpus_sha256 or corpus_digest
	RecipeDigest       Text // build_bazel_sha256 or recipe_digest

	Files       []File
	Exports     []Export
	LinkModules []LinkModule
	PlanCases   []PlanCase

	// Unknown holds the fields this version does not know, in file order. They
	// are kept by Marshal.
	Unknown []Unknown

	filesSpan, exportsSpan diag.Span // the arrays; no place when absent
	corpusKey, recipeKey   string    // which of the two spellings was used
}

// File is one record of "files".
type File struct {
	Path         Text
	SHA256       Text // lower- or upper-case hex; empty when not stated
	Size         Size
	Owner        Text
	UpstreamPath Text
	Span         diag.Span

	// Problem is the code of the first error about this file, "" when sound.
	Problem string

	faults  diag.List // errors about this record and the file's content
	unknown []Unknown
}

// Faults returns the errors about the record and the content of its file, as
// they are among the corpus's Problems.
func (f *File) Faults() diag.List { return slices.Clone(f.faults) }

// Size is a file's stated length in bytes.
type Size struct {
	Bytes  int64
	Stated bool
	Span   diag.Span
}

// Export is one record of "exports": a kernel under the name that engines ask
// for, with the interface it promises.
type Export struct {
	Name   Text
	Family Text
	Symbol Text // kernel.def symbol without '@'
	Source Text // file that defines it, relative to the corpus

	WorkloadParameters []Param // scalars the launch geometry is computed from
	LaunchParameters   []Param // scalars handed to the device, in order
	Bindings           []Text  // buffer arguments, in order
	BindingAccess      []Text  // one word per binding; see Access

	TargetSelector      Text // "" is the default variant
	Recipe              Recipe
	CompileDependencies []Text

	Span diag.Span // the whole record

	// Spans of the lists themselves; without a place when the field is absent.
	WorkloadSpan, LaunchSpan, BindingsSpan, AccessSpan, DependenciesSpan diag.Span

	// Problem is the code of the first error about this export, "" when it is
	// fit for use.
	Problem string

	// OverriddenBy is the record of an override that changed this export; it
	// has no place when none did.
	OverriddenBy diag.Span

	parseProblem string    // the part of Problem that parsing found
	parseFaults  diag.List // what it stands for
	faults       diag.List // all errors about this record and the files it cannot do without
	unknown      []Unknown
}

// Faults returns the errors that make the export unfit for use, as they are
// among the corpus's Problems.
func (e *Export) Faults() diag.List { return slices.Clone(e.faults) }

// OK reports whether nothing is known to be wrong with the export.
func (e *Export) OK() bool { return e.Problem == "" }

// ID is the export's name, with its target when it has one: "add [gfx1151]".
func (e *Export) ID() string {
	if e.TargetSelector.Value == "" {
		return e.Name.Value
	}
	return e.Name.Value + " [" + e.TargetSelector.Value + "]"
}

// Access returns the declared access of binding i, AccessUnknown when the
// manifest does not say.
func (e *Export) Access(i int) Access {
	if i < 0 || i >= len(e.BindingAccess) {
		return AccessUnknown
	}
	return ParseAccess(e.BindingAccess[i].Value)
}

// Sources returns every file that takes part in the export: the primaries, then
// the libraries, each once.
func (e *Export) Sources() []Text {
	var out []Text
	seen := map[string]bool{}
	for _, list := range [][]Text{e.Recipe.PrimarySources, e.Recipe.LibrarySources} {
		for _, t := range list {
			if !seen[t.Value] {
				seen[t.Value] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// Param is a named scalar with a type word: index, i32, f32, ….
type Param struct {
	Name, Type Text
	Span       diag.Span

	unknown []Unknown
}

// Recipe says which files take part in an export and how. When a manifest gives
// none, it is mode direct with Source as the primary and CompileDependencies as
// the libraries.
type Recipe struct {
	Mode           Text
	LinkModule     Text // archive mode
	PrimarySources []Text
	LibrarySources []Text
	Span           diag.Span // no place when the manifest has no recipe

	primarySpan diag.Span
	unknown     []Unknown
}

// LinkModule is a named set of files that link together.
type LinkModule struct {
	Name      Text
	Srcs      []Text
	Libraries []Text // files, or ":name" for another link module
	Span      diag.Span

	unknown []Unknown
}

// PlanCase is a named (root, workload, config) case an engine plans with.
type PlanCase struct {
	Name       Text
	Source     Text
	LinkModule Text
	Owner      Text
	Args       []Text
	// Root is the export (or "@symbol") the case is about. Workload, Launch and
	// Config are its workload parameters, launch scalars and config bindings; a
	// config key has no '@'.
	Root                     Text
	Workload, Launch, Config []ConfigValue
	Span                     diag.Span

	parseFaults diag.List // those of faults that parsing found
	faults      diag.List
	unknown     []Unknown
}

// Faults returns the errors about the case, as they are among the corpus's
// Problems. A case that has some should not be used.
func (p *PlanCase) Faults() diag.List { return slices.Clone(p.faults) }

// Unknown is a field this version does not know.
type Unknown struct {
	In   string // what holds it: "manifest", "file 'a.loom'", "export 'x'"
	Key  string
	Raw  string // its JSON text
	Span diag.Span
}

// Lookup returns the export called name for target. Target "" asks for the
// default variant. It returns nil when there is none.
func (m *Manifest) Lookup(name, target string) *Export {
	for i := range m.Exports {
		if e := &m.Exports[i]; e.Name.Value == name && e.TargetSelector.Value == target {
			return e
		}
	}
	return nil
}

// Variants returns every export called name, in file order.
func (m *Manifest) Variants(name string) []*Export {
	var out []*Export
	for i := range m.Exports {
		if m.Exports[i].Name.Value == name {
			out = append(out, &m.Exports[i])
		}
	}
	return out
}

// NearestExport returns the export name most like name, "" when none is close.
func (m *Manifest) NearestExport(name string) string {
	names := make([]string, 0, len(m.Exports))
	for i := range m.Exports {
		names = append(names, m.Exports[i].Name.Value)
	}
	return nearest(name, names)
}

// UnknownFields returns one note for each field this version does not know.
func (m *Manifest) UnknownFields() diag.List {
	var ds diag.List
	for _, u := range m.Unknown {
		d := diag.Diagnostic{
			Severity: diag.Note,
			Code:     "MANIFEST/UNKNOWN-FIELD",
			Message:  u.In + " has a field '" + u.Key + "' that this version does not know; it is kept and not used",
			Span:     u.Span,
		}
		if n := nearest(u.Key, knownFields); n != "" {
			d = d.WithHelp("if '%s' was meant, rename it", n)
		}
		ds.Add(d)
	}
	return ds
}

var knownFields = strings.Fields(`schema upstream_repository upstream_revision source_subdirectory
	corpus_sha256 corpus_digest build_bazel_sha256 recipe_digest files exports link_modules plan_cases
	path sha256 size owner upstream_path name family symbol source workload_parameters launch_parameters
	bindings binding_access target_selector compile_recipe compile_dependencies type mode link_module
	primary_sources library_sources srcs libraries args`)
