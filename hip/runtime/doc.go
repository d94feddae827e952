// Package runtime loads code objects onto a device and launches their kernels. It
// reaches the vendor's library (libamdhip64, or libcuda for the same source on an
// NVIDIA device) through purego, at run time: nothing is linked, and a machine
// without the library gets a list of where it was looked for.
//
// Lifetimes, outermost first:
//
//   - [Open] loads a library, once per process and library; the library itself is
//     never unloaded. [Runtime.Close] closes its devices.
//   - [Runtime.Device] starts one worker for a device: a goroutine locked to its
//     thread, because the current device is a property of a thread. Every call about
//     that device runs there, in order. [Device.Close] frees what was made on it.
//   - [Module], [Kernel], [Buffer] and [Event] belong to the device that made them
//     and may be used from any goroutine. Closing one twice does nothing. Using one
//     after it, its module or its device was closed is [ErrClosed], never a crash.
//
// A launch is checked before the driver sees it: number, kind and size of the
// arguments against the kernel's metadata, access and length of buffers against what
// the caller says the kernel ([Param]) or this launch ([Arg.Needs]) needs, the
// geometry against what the kernel was compiled for. An object for another chip is refused before it is loaded.
//
// [Kernel.Times] and [Device.CopyTimes] measure by events.
//
// A driver that crashes takes the process with it. What must survive that runs in a
// child: [OpenProcess] opens a device in one, to load and launch there with the same
// checks, and a crash is a *hip.CrashError. [RunChild] is the child's side of that and
// of the other questions that a hip.Child asks.
//
// With the build tag loomc_static the package keeps its interface and reports that
// it cannot open anything. A program that imports purego needs the system's dynamic
// loader even when it opens nothing; with the tag it does not.
package runtime
