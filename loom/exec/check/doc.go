// Package check runs test cases: check.case bodies that make inputs, launch
// kernels and compare results.
//
// A case is a little program on host values. Its parameters (check.param.*) span
// a sample space: the body runs once per combination, in lexical order of the
// parameters, the last one fastest. Every launch asks a Provider for the closed
// kernel and hands it to a Device; the CPU executor is one, a GPU behind the same
// interface another. A comparison that fails is recorded with its first differing
// elements and the case goes on, so that one run tells everything it can.
//
// check.requires and check.skip_if end a case early with a skip. A skip is not a
// pass: results count it apart.
//
// # Generators
//
// fill repeats one value. iota is offset + step·i at row-major ordinal i, taken
// modulo period when there is one; floats compute in float64 and round once,
// integers must fit the element. random.uniform draws element i from the
// splitmix64 sequence of the seed: with z = seed + (i+1)·0x9e3779b97f4a7c15 put
// through the splitmix64 finaliser, a float is lower + (z >> 11)·2⁻⁵³·(upper −
// lower), an integer is lower + z mod (upper − lower + 1), both ends included.
package check
