// Package program checks a command program that an engine is about to run
// against a corpus: program.json, schema ggml-hrx-command-program-v1.
//
// Each command launches one kernel with config values, parameters and buffers.
// Check asks what no single launch can tell: whether the commands fit their
// kernels, whether every two commands that touch the same bytes are ordered when
// one of them writes, whether transient values share arena memory only when
// their lives do not overlap, and whether producers and consumers of a value
// mean the same layout.
//
// Reading order:
//
//	program.go  Program: the file and its parts, with places
//	check.go    Check: one command against its kernel, and the rest in turn
//	order.go    which commands are ordered by dependencies
//	hazard.go   overlapping accesses without an order
//	arena.go    transients and completion counters
//	layout.go   what producers and consumers of a value take it for
package program
