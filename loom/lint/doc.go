// Package lint finds faults in Loom text without running it: what the language
// allows, the verifier accepts and a GPU may even survive, but what is wrong, or
// goes wrong later.
//
// Each rule is one row of the table in rule.go and looks at one kind of subject:
//
//	a body       a kernel closed for one set of config values, everything it calls
//	             inlined, with its value facts; or a single definition where no
//	             kernel reaches it (body.go, access.go, symbolic.go, lanes.go,
//	             depend.go give rules their view of it)
//	a link       a kernel with everything it reaches, config values still open
//	the sources  all parsed files at once
//
// Files and Corpus (run.go) bring the three together. A closed kernel repeats the
// text of the templates it inlines, and so do the kernels of a corpus: findings
// are about source lines, and the same finding at the same line is one finding.
//
// A line can be excused with a comment that gives the reason (ignore.go):
//
//	// loomc:ignore LINT/BANK-CONFLICT the tile is read once per launch
//
// Rules that reason about other work items call two accesses the same lane's when
// their addresses are the same expression of the same values and whoever makes the
// second also made the first; everything else may be another lane's.
package lint
