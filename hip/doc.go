// Package hip turns HIP C++ text into AMD GPU code objects and reads them back.
// It knows nothing of Loom: text, an architecture and flags go in, bytes and
// facts about those bytes come out.
//
// The stages, in the order a build meets them:
//
//   - [Discover] looks for a compiler along one ordered path (flag, environment,
//     one ROCm root, PATH) and records every place it looked at and why that
//     place was not taken.
//   - [Builder] takes jobs. Each job has a [Key]: source, architecture, flags and
//     the identity of the compiler's binaries. The key is looked up in the local
//     [Cache], then in a [Remote] cache, and only then compiled, once, whoever
//     asks in whichever process.
//   - [Toolchain] runs clang as a child process with the one flag list of [Flags];
//     [RTC] does the same with a run-time compiler (hiprtc, NVRTC) that is loaded by
//     a [Child] of the calling program, so that its crash is an error message.
//   - [Child.Open] keeps such a child for more than one question: the subpackage
//     runtime loads and launches through it, and its death is a [CrashError].
//   - [ReadObject] reads what came out: target, kernels, kernarg layout, register
//     and memory use. [CheckTarget] compares an object with a device before anything
//     is loaded, because loading an object built for another chip can end the
//     process.
//
// Errors that a user can cause have types, and [Explain] turns any of them into
// diagnostics.
//
// Loading and launching are in the subpackage runtime, which is the only place
// that reaches shared libraries (through purego). This package stays free of it so
// that a statically linked program can compile, cache and inspect.
package hip
