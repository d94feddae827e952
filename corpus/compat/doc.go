// Package compat says what a corpus promises and how two corpora differ in it.
//
// An engine pins a corpus and moves the pin now and then. Between two pins an
// export may vanish, take other bindings, accept fewer values of a config
// symbol, or compute something else under the same interface. Diff finds out
// before any GPU runs.
//
// Reading order:
//
//	contract.go  Contract: what one export promises
//	extract.go   Surface: the contracts of a corpus, each computed when asked for
//	hash.go      the semantic hash of a linked kernel
//	sets.go      comparing sets of allowed values, and naming the lost ones
//	geometry.go  workgroup size, workgroup memory and wave size, case by case
//	rules.go     the table of rules
//	diff.go      which exports belong together, and what concerns no single one
//	compare.go   one export's two contracts, rule by rule
//	settings.go  .loomc.jsonc: findings that were looked at and accepted
//	render*.go   text, JSON, Markdown, GitHub annotations, SARIF, JUnit, HTML
//
// Contracts are computed on demand: exports whose record and sources are the
// same in both corpora are never parsed, let alone linked.
package compat
