package runtime

import (
	"bytes"
	"fmt"
	goruntime "runtime"
	"unsafe"
)

// hipDriver calls libamdhip64. C's int is int32 throughout.
type hipDriver struct {
	hipInit               func(flags uint32) int32
	hipRuntimeGetVersion  func(v *int32) int32
	hipGetDeviceCount     func(n *int32) int32
	hipSetDevice          func(device int32) int32
	hipDeviceGetName      func(name *byte, size int32, device int32) int32
	hipDeviceGetAttribute func(v *int32, attribute int32, device int32) int32
	hipDeviceTotalMem     func(n *uintptr, device int32) int32
	properties            func(p *byte, device int32) int32 // the 5.x structure
	propertiesR0600       func(p *byte, device int32) int32 // the 6.x structure
	hipMemGetInfo         func(free, total *uintptr) int32
	hipMalloc             func(p *address, n uintptr) int32
	hipFree               func(p address) int32
	memcpyTo              func(dst address, src unsafe.Pointer, n uintptr, kind int32) int32
	memcpyFrom            func(dst unsafe.Pointer, src address, n uintptr, kind int32) int32
	hipMemcpyAsync        func(dst, src address, n uintptr, kind int32, stream handle) int32
	hipMemset             func(p address, v int32, n uintptr) int32
	hipModuleLoadData     func(m *handle, image unsafe.Pointer) int32
	hipModuleUnload       func(m handle) int32
	hipModuleGetFunction  func(f *handle, m handle, name string) int32
	hipModuleLaunchKernel func(f handle, gx, gy, gz, bx, by, bz, shared uint32, stream handle, params, extra unsafe.Pointer) int32
	hipDeviceSynchronize  func() int32
	hipEventCreate        func(e *handle) int32
	hipEventDestroy       func(e handle) int32
	hipEventRecord        func(e, stream handle) int32
	hipEventSynchronize   func(e handle) int32
	hipEventElapsedTime   func(ms *float32, from, to handle) int32
	hipGetErrorName       func(code int32) string
	hipGetErrorString     func(code int32) string
}

func (d *hipDriver) bindings() []binding {
	return []binding{
		{"hipInit", &d.hipInit, false},
		{"hipRuntimeGetVersion", &d.hipRuntimeGetVersion, false},
		{"hipGetDeviceCount", &d.hipGetDeviceCount, false},
		{"hipSetDevice", &d.hipSetDevice, false},
		{"hipDeviceGetName", &d.hipDeviceGetName, false},
		{"hipDeviceGetAttribute", &d.hipDeviceGetAttribute, false},
		{"hipDeviceTotalMem", &d.hipDeviceTotalMem, false},
		{"hipGetDeviceProperties", &d.properties, true},
		{"hipGetDevicePropertiesR0600", &d.propertiesR0600, true},
		{"hipMemGetInfo", &d.hipMemGetInfo, false},
		{"hipMalloc", &d.hipMalloc, false},
		{"hipFree", &d.hipFree, false},
		{"hipMemcpy", &d.memcpyTo, false},
		{"hipMemcpy", &d.memcpyFrom, false},
		{"hipMemcpyAsync", &d.hipMemcpyAsync, false},
		{"hipMemset", &d.hipMemset, false},
		{"hipModuleLoadData", &d.hipModuleLoadData, false},
		{"hipModuleUnload", &d.hipModuleUnload, false},
		{"hipModuleGetFunction", &d.hipModuleGetFunction, false},
		{"hipModuleLaunchKernel", &d.hipModuleLaunchKernel, false},
		{"hipDeviceSynchronize", &d.hipDeviceSynchronize, false},
		{"hipEventCreate", &d.hipEventCreate, false},
		{"hipEventDestroy", &d.hipEventDestroy, false},
		{"hipEventRecord", &d.hipEventRecord, false},
		{"hipEventSynchronize", &d.hipEventSynchronize, false},
		{"hipEventElapsedTime", &d.hipEventElapsedTime, false},
		{"hipGetErrorName", &d.hipGetErrorName, false},
		{"hipGetErrorString", &d.hipGetErrorString, false},
	}
}

func (d *hipDriver) kind() Kind    { return HIP }
func (d *hipDriver) label() string { return "HIP" }

func (d *hipDriver) err(call string, code int32) *Error {
	return status("HIP", call, code, func(c int32) (string, string) { return d.hipGetErrorName(c), d.hipGetErrorString(c) })
}

func (d *hipDriver) start() (string, *Error) {
	var v int32
	version := ""
	if d.hipRuntimeGetVersion(&v) == 0 {
		version = fmt.Sprintf("%d.%d.%d", v/10000000, v/100000%100, v%100000)
	}
	return version, d.err("hipInit", d.hipInit(0))
}

// Attribute numbers of hipDeviceAttribute_t, the same since 5.0 where they are used.
const (
	hipAttributeWarpSize   = 87
	hipAttributeSharedMem  = 74
	hipAttributeMultiprocs = 63
	hipAttributeL2         = 19
)

func (d *hipDriver) devices() ([]DeviceInfo, *Error) {
	var n int32
	if err := d.err("hipGetDeviceCount", d.hipGetDeviceCount(&n)); err != nil {
		return nil, err
	}
	var out []DeviceInfo
	for i := range n {
		info := DeviceInfo{Index: int(i)}
		name := make([]byte, 256)
		if err := d.err("hipDeviceGetName", d.hipDeviceGetName(&name[0], int32(len(name)), i)); err != nil {
			return nil, err
		}
		info.Name = cString(name)
		var err *Error
		if info.Arch, err = d.arch(i); err != nil {
			return nil, err
		}
		for attribute, dst := range map[int32]*int{
			hipAttributeWarpSize:   &info.WaveSize,
			hipAttributeSharedMem:  &info.LDSPerBlock,
			hipAttributeMultiprocs: &info.ComputeUnits,
			hipAttributeL2:         &info.L2Bytes,
		} {
			var v int32
			if err := d.err("hipDeviceGetAttribute", d.hipDeviceGetAttribute(&v, attribute, i)); err != nil {
				return nil, err
			}
			*dst = int(v)
		}
		var total uintptr
		if err := d.err("hipDeviceTotalMem", d.hipDeviceTotalMem(&total, i)); err != nil {
			return nil, err
		}
		info.TotalMemory = uint64(total)
		out = append(out, info)
	}
	return out, nil
}

const (
	propertiesSize = 4096 // the structure has 1472 bytes; a later one may have more
	archOffset     = 1160 // of gcnArchName in the 6.x structure
)

// arch reads gcnArchName out of the device's properties. The structure changed with
// version 6 and the name of the function with it; where the name is not at its
// place, it is looked for, because it is the only text of its form in there.
func (d *hipDriver) arch(device int32) (string, *Error) {
	p := make([]byte, propertiesSize)
	get, call := d.propertiesR0600, "hipGetDevicePropertiesR0600"
	if get == nil {
		get, call = d.properties, "hipGetDeviceProperties"
	}
	if get == nil {
		return "", &Error{Driver: "HIP", Call: call, Code: -1, Name: "missing function", Text: "the library tells no device properties"}
	}
	if err := d.err(call, get(&p[0], device)); err != nil {
		return "", err
	}
	if bytes.HasPrefix(p[archOffset:], []byte("gfx")) {
		return cString(p[archOffset : archOffset+256]), nil
	}
	const nameSize = 256 // the marketing name comes first and may hold anything
	if i := bytes.Index(p[nameSize:], []byte("gfx")); i >= 0 {
		rest := p[nameSize+i:]
		return cString(rest[:min(256, len(rest))]), nil
	}
	return "", &Error{Driver: "HIP", Call: call, Code: -1, Name: "no gcnArchName", Text: "the properties of the device do not name its architecture"}
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

func (d *hipDriver) current(device int) *Error {
	return d.err("hipSetDevice", d.hipSetDevice(int32(device)))
}

func (d *hipDriver) release(int) {}

func (d *hipDriver) alloc(n uintptr) (address, *Error) {
	var a address
	code := d.hipMalloc(&a, n)
	return a, d.err("hipMalloc", code)
}

func (d *hipDriver) free(a address) *Error { return d.err("hipFree", d.hipFree(a)) }

const (
	copyToDevice = 1
	copyToHost   = 2
	copyOnDevice = 3
)

func (d *hipDriver) toDevice(dst address, src unsafe.Pointer, n uintptr) *Error {
	return d.err("hipMemcpy", d.memcpyTo(dst, src, n, copyToDevice))
}

func (d *hipDriver) toHost(dst unsafe.Pointer, src address, n uintptr) *Error {
	return d.err("hipMemcpy", d.memcpyFrom(dst, src, n, copyToHost))
}

func (d *hipDriver) copyDevice(dst, src address, n uintptr) *Error {
	// In order with launches and without waiting for them, as CUDA's call does it.
	return d.err("hipMemcpyAsync", d.hipMemcpyAsync(dst, src, n, copyOnDevice, 0))
}

func (d *hipDriver) fill(a address, v byte, n uintptr) *Error {
	return d.err("hipMemset", d.hipMemset(a, int32(v), n))
}

func (d *hipDriver) memory() (uint64, uint64, *Error) {
	var free, total uintptr
	code := d.hipMemGetInfo(&free, &total)
	return uint64(free), uint64(total), d.err("hipMemGetInfo", code)
}

func (d *hipDriver) load(image []byte) (handle, *Error) {
	var m handle // stays zero when the call fails: some versions leave it unwritten
	code := d.hipModuleLoadData(&m, unsafe.Pointer(&image[0]))
	goruntime.KeepAlive(image)
	return m, d.err("hipModuleLoadData", code)
}

func (d *hipDriver) unload(m handle) *Error { return d.err("hipModuleUnload", d.hipModuleUnload(m)) }

func (d *hipDriver) function(m handle, name string) (handle, *Error) {
	var f handle
	code := d.hipModuleGetFunction(&f, m, name)
	return f, d.err("hipModuleGetFunction", code)
}

func (d *hipDriver) params(handle) ([]int, bool) { return nil, false }

func (d *hipDriver) launch(f handle, g, b [3]uint32, shared uint32, params unsafe.Pointer) *Error {
	return d.err("hipModuleLaunchKernel", d.hipModuleLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, 0, params, nil))
}

func (d *hipDriver) synchronize() *Error {
	return d.err("hipDeviceSynchronize", d.hipDeviceSynchronize())
}

func (d *hipDriver) newEvent() (handle, *Error) {
	var e handle
	code := d.hipEventCreate(&e)
	return e, d.err("hipEventCreate", code)
}

func (d *hipDriver) destroyEvent(e handle) *Error {
	return d.err("hipEventDestroy", d.hipEventDestroy(e))
}

func (d *hipDriver) record(e handle) *Error {
	return d.err("hipEventRecord", d.hipEventRecord(e, 0))
}

func (d *hipDriver) waitEvent(e handle) *Error {
	return d.err("hipEventSynchronize", d.hipEventSynchronize(e))
}

func (d *hipDriver) elapsed(from, to handle) (float32, *Error) {
	var ms float32
	code := d.hipEventElapsedTime(&ms, from, to)
	return ms, d.err("hipEventElapsedTime", code)
}
