package runtime

import (
	"errors"
	"fmt"

	"github.com/loomc/loomc/loom/diag"
)

// ErrClosed is the answer of anything that was closed, or whose device was.
var ErrClosed = errors.New("used after it was closed")

// Error is a failure that the driver reported.
type Error struct {
	Driver string // "HIP" or "CUDA"
	Call   string // "hipModuleLoadData"
	Code   int
	Name   string // "hipErrorNoBinaryForGpu"; empty when the library has none
	Text   string // the library's own words
	Hint   string // what to do; may be empty
}

func (e *Error) Error() string {
	name := e.Name
	if name == "" {
		name = fmt.Sprintf("error %d", e.Code)
	}
	s := fmt.Sprintf("%s: %s (%d)", e.Call, name, e.Code)
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// Diagnostic returns the error with its hint.
func (e *Error) Diagnostic() diag.Diagnostic {
	d := diag.Errorf(diag.Span{}, "HIP/RUNTIME", "%s", e.Error())
	d.Help = e.Hint
	return d
}

// ok turns the typed nil of a driver call into an untyped one.
func ok(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}

// ArgumentError says that a launch was refused before the driver saw it.
type ArgumentError struct {
	Kernel string
	Index  int    // of the argument; -1 when it is not about one
	Name   string // of the parameter; may be empty
	Reason string
}

func (e *ArgumentError) Error() string {
	switch {
	case e.Index < 0:
		return fmt.Sprintf("launching %s: %s", e.Kernel, e.Reason)
	case e.Name != "":
		return fmt.Sprintf("launching %s: argument %d (%s): %s", e.Kernel, e.Index, e.Name, e.Reason)
	default:
		return fmt.Sprintf("launching %s: argument %d: %s", e.Kernel, e.Index, e.Reason)
	}
}

// Diagnostic returns the error under its code.
func (e *ArgumentError) Diagnostic() diag.Diagnostic {
	return diag.Errorf(diag.Span{}, "HIP/LAUNCH", "%s", e.Error())
}

// hints says what to do about the codes that people meet. The texts for a wrong
// architecture are written where object and device are known.
var hints = map[string]map[int]string{
	"HIP": {
		2:   "device memory is used up: choose smaller sizes, or free what other processes hold (rocm-smi --showpids)",
		3:   "the library did not initialise: check that the amdgpu driver is loaded and /dev/kfd can be opened",
		98:  "the kernel is not usable on this device: build it for the device's architecture",
		100: "no AMD GPU is visible: check that /dev/kfd exists and that the user is in the groups render and video, and look at HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES",
		101: "there is no device of that number: see loomc doctor",
		200: "the code object is damaged or of a version this ROCm does not read: build with code object version 5",
		209: "the code object is for another architecture, or of a version this ROCm does not read: build for the device, with code object version 5",
		303: "the code object could not be loaded: ROCm before 6.3 reads code object version 5 and not 6",
		500: "the module has no kernel of that name",
		700: "the kernel touched memory outside its buffers: run it with the reference executor's bounds check",
		701: "the kernel needs more registers or workgroup memory than the device has for this block size",
		702: "the kernel ran longer than the system allows",
		719: "the kernel failed while running: run it with the reference executor's checks",
	},
	"CUDA": {
		2:   "device memory is used up: choose smaller sizes, or free what other processes hold (nvidia-smi)",
		3:   "the driver did not initialise",
		100: "no NVIDIA GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES",
		101: "there is no device of that number: see loomc doctor",
		200: "the module is damaged",
		209: "the module is for another architecture: build for the device",
		218: "the driver could not assemble the PTX",
		222: "the PTX is of a newer version than the driver reads: update the driver or use an older NVRTC",
		500: "the module has no kernel of that name",
		700: "the kernel touched memory outside its buffers: run it with the reference executor's bounds check",
		701: "the kernel needs more registers or shared memory than the device has for this block size",
		719: "the kernel failed while running: run it with the reference executor's checks",
		803: "driver and library are of different versions: restart after a driver update",
	},
}
