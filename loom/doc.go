// Package loom is the intermediate representation every stage of loomc works
// on: modules of symbol definitions, regions of operations in SSA form, types
// with SSA dimensions, predicates, attributes, and the canonical printer.
//
// The representation stays close to the text, because the text is what users
// own: a value keeps its SSA name, an op keeps its place, its comments and the
// blank line above it. Meaning is added by tables, not by types: an Op points to
// its OpDef (package loom/dialect declares one per operation), and parser,
// printer, verifier, executor and code generator all read that one record.
//
// Reading order: types.go (what values are), op.go (the graph),
// pred.go and attr.go (what is attached), module.go (symbols), opdef.go and
// format.go (the op table's record and its assembly-format language), print.go.
//
// A Module that came from the parser is immutable once loaded and may be shared
// between goroutines; the linker clones what it changes (clone.go).
package loom
