// Package verify checks that a module obeys the rules of the language beyond its
// grammar: symbols resolve to definitions of the right kind, every op has the
// operand and result types its table entry demands, regions are closed by the
// right terminators, values are defined before they are used, literal accesses
// stay inside literal extents, and so on.
//
// Most of it is data. The Types rule of an op-table entry is a small language
// (rules.go) that is compiled once per op; attribute dictionaries are checked
// against the entry's declarations (attrs.go). Only what is particular to one op
// is code, in a table from op name to function (ops.go), grouped by subject:
// vector.go, memory.go, encoding.go, kernel.go, control.go, calls.go. What
// concerns whole definitions is in defs.go.
//
// An op's own function runs only when the general checks of that op found
// nothing, so that one fault gives one diagnostic.
//
// Definitions are independent of one another: Def verifies one against the
// symbols of its module, and callers may run them in parallel.
package verify
