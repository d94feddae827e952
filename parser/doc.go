// Package parser reads Loom text into loom.Module values.
//
// It works in three steps, each on demand:
//
//  1. Parse (split.go) cuts a file into definitions by looking at braces,
//     strings, comments and the first words of each head. This is all that
//     indexing a library needs, and it runs at the speed of a byte scan.
//  2. Loading a definition parses its head with the participle grammar in
//     grammar.go, the grammar of record for module-level constructs and
//     constraints, and turns the result into a loom.Def (load.go). Heads differ
//     in names and numbers far more than in shape, so the grammar runs once per
//     shape (head.go).
//  3. Regions are parsed by body.go and elems.go, which interpret the assembly
//     formats of the op table. Types, encodings, attributes and predicates have
//     one reader each (types.go), used in heads and bodies alike. names.go holds
//     what SSA names stand for, slab.go where the small lists of a body live.
//
// A comment is never lost: behind a statement it stays there, between statements
// it stays above the next, and inside one it moves above it.
//
// A syntax error ends one statement or one head, never the file: the parser
// resynchronises at the next statement or definition and reports them all.
package parser
