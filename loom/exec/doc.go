// Package exec runs closed kernels on the CPU. It is the oracle the code
// generator is compared with, and a tool of its own: it finds races, reads past
// the end of a binding and reads of memory nobody wrote before a GPU does.
//
// The stages, in reading order:
//
//   - uniform.go decides which values are the same for every item of a
//     workgroup. Those are computed once, on one lane.
//   - lower.go and its siblings turn the SSA body into a flat list of register
//     instructions: structured control flow becomes jumps over a stack of lane
//     masks, views become (buffer, byte offset) pairs, vectors become one lane
//     array per component. Instrumentation (sanitizers, trace, counts) is extra
//     instructions of the same list, so a plain run pays nothing for it.
//   - regs.go gives registers with disjoint lifetimes the same storage.
//   - sanitize.go, sanitize_race.go and determinism.go hold what the checks look
//     for; trace.go and count.go report values and totals.
//   - frame.go runs the list for one workgroup, all its lanes op by op in
//     lockstep; launch.go runs many workgroups on many cores.
//
// # Meaning where the language leaves a choice
//
// Fast-math flags permit, they do not oblige: the executor computes the strict
// meaning. Arithmetic rounds once to the type's format. Math functions are
// computed in float64 and rounded. vector.reduce folds in lane order starting
// from init; dotf and dot2f are chains of fused multiply-adds in lane order.
// Subgroup reductions combine neighbours first (a balanced tree over the active
// lanes, lower lane on the left), workgroup reductions combine the subgroups'
// results the same way. vector.mma accumulates a whole k extent in float64 and
// rounds once. Integers wrap; a shift by the width or more gives 0 (arithmetic
// right shifts: the sign); division by zero gives 0; float to integer
// conversion saturates and takes NaN to 0. Memory nobody wrote holds all-ones
// bytes unless Options.Fill says otherwise.
//
// Under lockstep all lanes finish an op before any starts the next, so a kernel
// that lacks a barrier may still compute the right result here. The race
// sanitizer is what finds the missing barrier.
package exec
