package compat

import (
	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
)

// Contract is what one export promises its callers, and what a caller has to
// promise it.
type Contract struct {
	Export *corpus.Export
	Name   string
	Target string // target selector of the manifest; "" is the default variant
	Family string
	Symbol string // kernel symbol without '@'
	Source string // file the manifest names

	Bindings []Binding
	Launch   []Scalar
	Workload []Scalar
	// Relations are the predicates of the launch where clause that relate
	// parameters to each other, in their canonical text.
	Relations []Relation
	Configs   []Config // sorted by key
	// Families lists the template families (or older-generation keys) that the
	// kernel's closure applies, sorted.
	Families []string

	// Processor is what the kernel's target record names, "" when the kernel has
	// none; Wave is the subgroup size the record leaves.
	Processor  string
	Wave       int
	TargetSpan diag.Span

	Recipe Recipe

	Hashes Hashes
	// Kernel is the place of the kernel.def; Record that of the manifest's record.
	Kernel, Record diag.Span

	// Problems holds the errors that make the export unusable. The rest of the
	// contract is then only as complete as the link was.
	Problems diag.List

	link *linker.Result
}

// ID is the export's name, with its target when it has one: "add [gfx1151]".
func (c *Contract) ID() string { return c.Export.ID() }

// OK reports whether the export links and keeps the manifest's promises.
func (c *Contract) OK() bool { return !c.Problems.HasErrors() }

// Binding is one buffer argument.
type Binding struct {
	Name string
	// Access is the manifest's word, or what the body does when the manifest says
	// nothing.
	Access corpus.Access
	Align  int64 // base alignment the body relies on, in bytes; 1 when none
	Span   diag.Span
}

// Scalar is a launch or workload parameter.
type Scalar struct {
	Name    string
	Type    string
	Allowed linker.AllowedSet // meaningless unless Integer
	Integer bool
	Span    diag.Span
}

// Relation is a predicate between several values, such as "stride >= columns".
type Relation struct {
	Text string // canonical, with the names callers know
	Span diag.Span
}

// Config is one config symbol of an export.
type Config struct {
	Key      string
	Type     string
	Required bool   // has no default
	Default  string // when not Required
	Integer  bool
	// Allowed is what the declarations leave; Accepted what the assumes and
	// preconditions that every run meets leave of it. Integer configs only.
	Allowed, Accepted linker.AllowedSet
	// Others are constraints that are no integer sets, in canonical text, sorted.
	Others []string
	// Relations are the assumes that relate the config to other configs or to
	// launch parameters.
	Relations []Relation
	// Reasons say which statement leaves which set, in the order they apply.
	Reasons []Reason
	Doc     string
	Span    diag.Span
}

// Reason is one statement about a config's value.
type Reason struct {
	Text   string // the predicate
	By     string // "config.decl", "index.assume", …
	In     string // symbol that holds it, "" for a declaration
	Always bool   // every run of the kernel comes by it
	Set    linker.AllowedSet
	Exact  bool // Set is meaningful
	Span   diag.Span
}

// Recipe is how the export is compiled.
type Recipe struct {
	Mode       string
	LinkModule string
	Primary    []string
	Libraries  []string
	Span       diag.Span
}

// Config returns the config called key, nil when the export has none.
func (c *Contract) Config(key string) *Config {
	for i := range c.Configs {
		if c.Configs[i].Key == key {
			return &c.Configs[i]
		}
	}
	return nil
}

// Link is the linked module the contract was read from, with open configs. It
// is nil when there was nothing to link, and must not be changed.
func (c *Contract) Link() *linker.Result { return c.link }

// Words describes the values the config accepts, for people.
func (c *Config) Words() string {
	if c.Type == "i1" && c.Accepted.Equal(linker.Between(0, 1)) {
		return "true or false"
	}
	if !c.Integer || c.Accepted.IsEverything() {
		return "any " + c.Type
	}
	return c.Accepted.Words()
}
