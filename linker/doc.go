// Package linker turns parsed files into one module per request and says what
// does not fit.
//
// The stages, in reading order:
//
//	index.go     NewIndex: which definition a name means, over all sources
//	scan.go      what one definition refers to, found once and kept
//	link.go      Link: closure from the roots, merging, renaming, cloning
//	contract.go  a declaration against the definition that fills it
//	config.go    binding values to config symbols; constraints
//	flow.go      where a config value travels, and which promises it meets
//	allowed.go   sets of integers that constraints leave
//	target.go    the target each root is linked for
//	select.go    choosing a template implementation at one apply site
//	abi.go       what a kernel's launch looks like from outside
//	abicheck.go  a manifest's record against that
//
// An Index is immutable and may serve any number of links at once. Nothing here
// changes a parsed module: a link works on clones.
package linker
