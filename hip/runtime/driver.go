package runtime

import "unsafe"

// address is device memory as the driver names it.
type address = uintptr

// handle is an object of the driver: module, function, event.
type handle = uintptr

// driver is what both vendors' libraries can do, call by call. A status of 0 is
// success. Every method but start and devices runs on a device's worker.
type driver interface {
	kind() Kind
	label() string // "HIP", "CUDA": for messages
	// start initialises the library and returns its version.
	start() (version string, err *Error)
	devices() ([]DeviceInfo, *Error)
	// current makes the device the calling thread's.
	current(device int) *Error
	release(device int)

	alloc(n uintptr) (address, *Error)
	free(a address) *Error
	toDevice(dst address, src unsafe.Pointer, n uintptr) *Error
	toHost(dst unsafe.Pointer, src address, n uintptr) *Error
	copyDevice(dst, src address, n uintptr) *Error
	fill(a address, v byte, n uintptr) *Error
	memory() (free, total uint64, err *Error)

	load(image []byte) (handle, *Error)
	unload(module handle) *Error
	function(module handle, name string) (handle, *Error)
	// params returns the sizes of a function's parameters; ok is false when the
	// driver cannot tell.
	params(fn handle) (sizes []int, ok bool)
	launch(fn handle, grid, block [3]uint32, shared uint32, params unsafe.Pointer) *Error
	synchronize() *Error

	newEvent() (handle, *Error)
	destroyEvent(e handle) *Error
	record(e handle) *Error
	waitEvent(e handle) *Error
	elapsed(from, to handle) (milliseconds float32, err *Error)
}

// status turns a result code into an error, through the library's own names.
func status(label, call string, code int32, describe func(int32) (name, text string)) *Error {
	if code == 0 {
		return nil
	}
	e := &Error{Driver: label, Call: call, Code: int(code)}
	if describe != nil {
		e.Name, e.Text = describe(code)
	}
	e.Hint = hints[e.Driver][e.Code]
	return e
}
