// Package linker turns parsed files into one module per request, closes kernels
// for a target, and says what does not fit.
//
// # Linking
//
// The stages of a link, in reading order:
//
//	index.go       NewIndex: which definition a name means, over all sources
//	scan.go        what one definition refers to, found once and kept
//	link.go        Link: closure from the roots, why each symbol is live
//	contract.go    a declaration against the definition that fills it
//	config.go      binding values to config symbols; constraints
//	configvalue.go the text of a value by the declared type
//	allowed.go     sets of integers that constraints leave
//	flow.go        where a config value travels, and which promises it meets
//	relation.go    promises that tie several configs together
//	assemble.go    names, clones and merged contracts of the result
//	schema.go      the configs of a link for people and machines
//	abi.go         what a kernel's launch looks like from outside
//	abicheck.go    a manifest's record against that
//	all.go         LinkAll: many links at once
//
// An Index is immutable and may serve any number of links at once. Nothing here
// changes a parsed module: a link works on clones.
//
// # Specialising
//
// Specialize takes a linked module and closes one kernel: no config, no
// templates, no calls, facts for every value. It is a list of passes (Passes),
// each of which documents itself and can be watched with SpecializeOptions.Dump:
//
//	specialize.go      the pass list, rounds, and the report
//	pass_bind.go       bind-config, target-queries
//	pass_fold.go       fold; with pass_simplify.go (identities) and pass_float.go
//	pass_select.go     select; select.go has the tests of one application
//	pass_inline.go     inline
//	pass_unroll.go     unroll
//	pass_check.go      promises, check: what is open, what the target cannot run
//	pass_footprint.go  check: accesses against the extents of their views
//	pass_divergence.go check: collective operations that only a part reaches
//	pass_layout.go     layout, interface; with pass_access.go (binding access)
//
// The passes from bind-config to unroll repeat until none of them changes
// anything, because each makes more known to the others. Code that a config
// excludes is gone before check judges what is left.
package linker
