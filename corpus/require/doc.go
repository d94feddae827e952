// Package require checks an engine's demands against a corpus.
//
// A demand is one launch an engine wants to make: an export, config values,
// workload and launch values, and buffers with their sizes. Check links the
// export with the config, specialises it, evaluates its launch geometry and
// computes how far into each buffer it reaches; whatever does not fit is
// reported, all of it at once, with the nearest value that would do and the other
// exports that would take the demand as it is.
//
// Demands come from a file (read.go) or from a model: package gguf reads the
// header of a model file, and a rule file (rules.go, rules/*.jsonc) maps its
// metadata to demands.
//
// Reading order:
//
//	case.go       Case: one demand; read.go: the file of demands
//	bench.go      Bench: specialised kernels, each made once
//	geometry.go   the launch geometry of a kernel for given values
//	footprint.go  how far a kernel reaches into its bindings for given values
//	launch.go     Launch: what one launch that is about to happen needs of its buffers
//	predicate.go  predicates over known values
//	check.go      Check: one demand against the corpus
//	rules.go      model metadata to demands; expr.go: the expressions in it
package require
