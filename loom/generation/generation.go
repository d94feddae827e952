// Package generation rewrites a module from one generation of the language into
// the other where both can say the same, and refuses, with a place, where they
// cannot.
//
// The generations differ in spelling (mul and multiple_of, attribute
// dictionaries and clauses, #dense written or left out), in how callables are
// named (a dotted key against a family symbol that must be declared) and in what
// exists at all (hints, unsigned predicates, kernel.decl, …). A file may mix
// both; Convert takes each construct for itself.
//
// What Convert promises:
//
//   - The meaning stays. Where a construct has no counterpart, or where the two
//     generations would choose differently between implementations, nothing is
//     converted and a diagnostic of the domain GENERATION names the construct.
//   - Names, comments and the grouping by blank lines stay. A comment above a
//     family declaration that the older generation has no place for moves to the
//     definition that follows.
//   - A module of the older generation that was converted to the newer one
//     converts back to the same text. The spellings min and max, and the
//     redundant inline of a template, are the exceptions: what replaces them (ge,
//     le, nothing) is legal in both generations and therefore stays.
//
// It looks at one file. What another file does with a family (another
// implementation with another signature, a record of the same processor) shows
// when the files are linked.
//
// Reading order: convert.go (the walk), rules.go (what each operation needs),
// types.go (predicates, encodings, view layouts), family.go (templates) and
// trivia.go (comments of definitions that come and go).
package generation

import "fmt"

// Generation is a generation of the language.
type Generation uint8

// Generations.
const (
	New Generation = iota // template families, clauses, multiple_of
	Old                   // dotted keys, attribute dictionaries, mul
)

// String returns "new" or "old".
func (g Generation) String() string {
	if g == Old {
		return "old"
	}
	return "new"
}

// name is the generation in a sentence.
func (g Generation) name() string {
	if g == Old {
		return "older"
	}
	return "newer"
}

// Parse reads "new" or "old".
func Parse(word string) (Generation, error) {
	switch word {
	case "new":
		return New, nil
	case "old":
		return Old, nil
	}
	return New, fmt.Errorf("unknown generation '%s': want new or old", word)
}
