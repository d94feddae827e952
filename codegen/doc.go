// Package codegen turns a closed kernel into self-contained HIP C++.
//
// The text has no includes: a prelude (prelude/*.h, embedded) brings fixed-width
// types, vectors, memory and wave operations for three compilers: clang for
// AMDGPU, NVRTC for NVIDIA, and any C++17 compiler for the host, where a small
// runtime (prelude/host.h) runs a workgroup's items with real barriers and wave
// operations. Only the prelude parts a kernel uses are printed.
//
// Emit walks the kernel once. One table (ops.go) maps an operation name to the
// function that emits it; scalar and vector arithmetic share one entry that
// writes a single lane (lanes.go). Each operation becomes a node: a line or a
// block of C++ with the variable it defines (node.go). What a node reads is found
// by scanning its text, so that nodes nobody needs are dropped at the end, and
// with them the prelude parts and types only they needed.
//
// Three decisions shape the code:
//
//   - carriers (carrier.go): an index lives in 32 bits where the kernel's facts
//     prove its range and in 64 otherwise;
//   - addresses (address.go): an access is split into a uniform part, which stays
//     in scalar registers, a 32-bit unsigned part that varies between lanes, and a
//     constant, which is the form the global load instructions take;
//   - matrix fragments (matrix.go) are plain vectors in the lane layout of the
//     target's instructions.
//
// What cannot be emitted is a CODEGEN/UNSUPPORTED diagnostic at the operation;
// Emit then returns no unit.
package codegen
