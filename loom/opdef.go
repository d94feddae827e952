package loom

import "sync"

// Traits are properties of an operation that hold for every instance.
type Traits uint32

// Traits.
const (
	Pure        Traits = 1 << iota // no effects; may be removed, duplicated and moved
	Terminator                     // ends a block
	Convergent                     // all lanes of its scope must reach it together
	Reads                          // reads memory
	Writes                         // writes memory
	Commutative                    // the two first operands may be exchanged
	KernelOnly                     // needs a kernel launch body as ancestor
	CheckOnly                      // belongs into check.case bodies
	ModuleLevel                    // appears between definitions only
	Fact                           // identity with facts: results alias operands
	Opaque                         // carried verbatim: no meaning inside loomc
	ElementWise                    // acts lane by lane; scalar and vector forms share one meaning
	Hint                           // has no run-time effect
)

// Field is an operand or result field of an operation.
type Field struct {
	Name     string
	Variadic bool
	Infer    string // results: "" when printed; "i1", "index", "=field" (same type as an operand field)
}

// AttrDef is an entry of an operation's attribute dictionary.
type AttrDef struct {
	Name     string
	Kind     string // int, float, string, bool, word:<enum>, ints, any
	Required bool
	Doc      string
}

// OpDef declares one operation: everything parser, printer, verifier, executor
// and code generator share about it.
type OpDef struct {
	Name string
	// Format is the assembly format after the op name; see format.go.
	Format string
	// Result lists the result fields, comma separated: "result" (type printed),
	// "result=i1" (type implied), "result=%value" (type of an operand field),
	// "results..." (variadic), or "" for none.
	Result string
	// OneType marks an op with several results of one type, written once.
	OneType bool
	// Types lists type rules, separated by ';': "lhs=rhs=result:float" demands one
	// type for the three and that it be in the set float.
	Types  string
	Attrs  []AttrDef
	Traits Traits
	Doc    string // one sentence

	// Derived from Format and Result on first use; see Compile.
	Operands []Field
	Results  []Field
	Elems    []Elem

	once   sync.Once
	placed []string // attributes that the format prints outside the dictionary
}

// Dialect returns the part of the op name before the first dot.
func (d *OpDef) Dialect() string {
	for i := 0; i < len(d.Name); i++ {
		if d.Name[i] == '.' {
			return d.Name[:i]
		}
	}
	return d.Name
}

// AttrDef returns the declaration of the dictionary entry called name, or nil.
func (d *OpDef) AttrDef(name string) *AttrDef {
	for i := range d.Attrs {
		if d.Attrs[i].Name == name {
			return &d.Attrs[i]
		}
	}
	return nil
}

// Compile parses Format and Result into Elems, Operands and Results. It is safe
// for concurrent use; parser and printer call it before they look at those
// fields. A malformed format is a programming error of the table and panics; a
// test compiles every entry.
func (d *OpDef) Compile() *OpDef {
	d.once.Do(d.compile)
	return d
}
