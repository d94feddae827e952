package runtime

import (
	"fmt"
	goruntime "runtime"
	"unsafe"
)

// cudaDriver calls libcuda. HIP's calls map to it one to one, with a context where
// HIP has a current device.
type cudaDriver struct {
	cuInit                    func(flags uint32) int32
	cuDriverGetVersion        func(v *int32) int32
	cuDeviceGetCount          func(n *int32) int32
	cuDeviceGet               func(device *int32, ordinal int32) int32
	cuDeviceGetName           func(name *byte, size int32, device int32) int32
	cuDeviceGetAttribute      func(v *int32, attribute int32, device int32) int32
	cuDeviceTotalMem          func(n *uintptr, device int32) int32
	cuDevicePrimaryCtxRetain  func(ctx *handle, device int32) int32
	cuDevicePrimaryCtxRelease func(device int32) int32
	cuCtxSetCurrent           func(ctx handle) int32
	cuMemGetInfo              func(free, total *uintptr) int32
	cuMemAlloc                func(p *address, n uintptr) int32
	cuMemFree                 func(p address) int32
	cuMemcpyHtoD              func(dst address, src unsafe.Pointer, n uintptr) int32
	cuMemcpyDtoH              func(dst unsafe.Pointer, src address, n uintptr) int32
	cuMemcpyDtoD              func(dst, src address, n uintptr) int32
	cuMemsetD8                func(p address, v uint8, n uintptr) int32
	cuModuleLoadDataEx        func(m *handle, image unsafe.Pointer, n uint32, options, values unsafe.Pointer) int32
	cuModuleUnload            func(m handle) int32
	cuModuleGetFunction       func(f *handle, m handle, name string) int32
	cuFuncGetParamInfo        func(f handle, index uintptr, offset, size *uintptr) int32 // since 12.4
	cuFuncSetAttribute        func(f handle, attribute, value int32) int32
	cuLaunchKernel            func(f handle, gx, gy, gz, bx, by, bz, shared uint32, stream handle, params, extra unsafe.Pointer) int32
	cuCtxSynchronize          func() int32
	cuEventCreate             func(e *handle, flags uint32) int32
	cuEventDestroy            func(e handle) int32
	cuEventRecord             func(e, stream handle) int32
	cuEventSynchronize        func(e handle) int32
	cuEventElapsedTime        func(ms *float32, from, to handle) int32
	cuGetErrorName            func(code int32, s **byte) int32
	cuGetErrorString          func(code int32, s **byte) int32
}

func (d *cudaDriver) bindings() []binding {
	return []binding{
		{"cuInit", &d.cuInit, false},
		{"cuDriverGetVersion", &d.cuDriverGetVersion, false},
		{"cuDeviceGetCount", &d.cuDeviceGetCount, false},
		{"cuDeviceGet", &d.cuDeviceGet, false},
		{"cuDeviceGetName", &d.cuDeviceGetName, false},
		{"cuDeviceGetAttribute", &d.cuDeviceGetAttribute, false},
		{"cuDeviceTotalMem_v2", &d.cuDeviceTotalMem, false},
		{"cuDevicePrimaryCtxRetain", &d.cuDevicePrimaryCtxRetain, false},
		{"cuDevicePrimaryCtxRelease_v2", &d.cuDevicePrimaryCtxRelease, false},
		{"cuCtxSetCurrent", &d.cuCtxSetCurrent, false},
		{"cuMemGetInfo_v2", &d.cuMemGetInfo, false},
		{"cuMemAlloc_v2", &d.cuMemAlloc, false},
		{"cuMemFree_v2", &d.cuMemFree, false},
		{"cuMemcpyHtoD_v2", &d.cuMemcpyHtoD, false},
		{"cuMemcpyDtoH_v2", &d.cuMemcpyDtoH, false},
		{"cuMemcpyDtoD_v2", &d.cuMemcpyDtoD, false},
		{"cuMemsetD8_v2", &d.cuMemsetD8, false},
		{"cuModuleLoadDataEx", &d.cuModuleLoadDataEx, false},
		{"cuModuleUnload", &d.cuModuleUnload, false},
		{"cuModuleGetFunction", &d.cuModuleGetFunction, false},
		{"cuFuncGetParamInfo", &d.cuFuncGetParamInfo, true},
		{"cuFuncSetAttribute", &d.cuFuncSetAttribute, false},
		{"cuLaunchKernel", &d.cuLaunchKernel, false},
		{"cuCtxSynchronize", &d.cuCtxSynchronize, false},
		{"cuEventCreate", &d.cuEventCreate, false},
		{"cuEventDestroy_v2", &d.cuEventDestroy, false},
		{"cuEventRecord", &d.cuEventRecord, false},
		{"cuEventSynchronize", &d.cuEventSynchronize, false},
		{"cuEventElapsedTime", &d.cuEventElapsedTime, false},
		{"cuGetErrorName", &d.cuGetErrorName, false},
		{"cuGetErrorString", &d.cuGetErrorString, false},
	}
}

func (d *cudaDriver) kind() Kind    { return CUDA }
func (d *cudaDriver) label() string { return "CUDA" }

func (d *cudaDriver) err(call string, code int32) *Error {
	return status("CUDA", call, code, func(c int32) (string, string) {
		return cText(d.cuGetErrorName, c), cText(d.cuGetErrorString, c)
	})
}

// cText reads a constant string of the library.
func cText(get func(int32, **byte) int32, code int32) string {
	var p *byte
	if get(code, &p) != 0 || p == nil {
		return ""
	}
	const longest = 1024
	b := make([]byte, 0, 64)
	for i := range longest {
		c := *(*byte)(unsafe.Add(unsafe.Pointer(p), i))
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

func (d *cudaDriver) start() (string, *Error) {
	var v int32
	version := ""
	if d.cuDriverGetVersion(&v) == 0 {
		version = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
	}
	return version, d.err("cuInit", d.cuInit(0))
}

// Attribute numbers of CUdevice_attribute.
const (
	cuAttributeSharedMem  = 97 // what a kernel may ask for; more than static memory is allowed
	cuAttributeWarpSize   = 10
	cuAttributeMultiprocs = 16
	cuAttributeL2         = 38
	cuAttributeMajor      = 75
	cuAttributeMinor      = 76
)

func (d *cudaDriver) devices() ([]DeviceInfo, *Error) {
	var n int32
	if err := d.err("cuDeviceGetCount", d.cuDeviceGetCount(&n)); err != nil {
		return nil, err
	}
	var out []DeviceInfo
	for i := range n {
		info := DeviceInfo{Index: int(i)}
		var dev int32
		if err := d.err("cuDeviceGet", d.cuDeviceGet(&dev, i)); err != nil {
			return nil, err
		}
		name := make([]byte, 256)
		if err := d.err("cuDeviceGetName", d.cuDeviceGetName(&name[0], int32(len(name)), dev)); err != nil {
			return nil, err
		}
		info.Name = cString(name)
		var major, minor int
		for attribute, dst := range map[int32]*int{
			cuAttributeWarpSize:   &info.WaveSize,
			cuAttributeSharedMem:  &info.LDSPerBlock,
			cuAttributeMultiprocs: &info.ComputeUnits,
			cuAttributeL2:         &info.L2Bytes,
			cuAttributeMajor:      &major,
			cuAttributeMinor:      &minor,
		} {
			var v int32
			if err := d.err("cuDeviceGetAttribute", d.cuDeviceGetAttribute(&v, attribute, dev)); err != nil {
				return nil, err
			}
			*dst = int(v)
		}
		info.Arch = fmt.Sprintf("sm_%d%d", major, minor)
		var total uintptr
		if err := d.err("cuDeviceTotalMem_v2", d.cuDeviceTotalMem(&total, dev)); err != nil {
			return nil, err
		}
		info.TotalMemory = uint64(total)
		out = append(out, info)
	}
	return out, nil
}

// current retains the device's primary context, once for the worker that calls.
func (d *cudaDriver) current(device int) *Error {
	var dev int32
	if err := d.err("cuDeviceGet", d.cuDeviceGet(&dev, int32(device))); err != nil {
		return err
	}
	var ctx handle
	if err := d.err("cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain(&ctx, dev)); err != nil {
		return err
	}
	return d.err("cuCtxSetCurrent", d.cuCtxSetCurrent(ctx))
}

func (d *cudaDriver) release(device int) {
	var dev int32
	if d.cuDeviceGet(&dev, int32(device)) == 0 {
		d.cuDevicePrimaryCtxRelease(dev)
	}
}

func (d *cudaDriver) alloc(n uintptr) (address, *Error) {
	var a address
	code := d.cuMemAlloc(&a, n)
	return a, d.err("cuMemAlloc", code)
}

func (d *cudaDriver) free(a address) *Error { return d.err("cuMemFree", d.cuMemFree(a)) }

func (d *cudaDriver) toDevice(dst address, src unsafe.Pointer, n uintptr) *Error {
	return d.err("cuMemcpyHtoD", d.cuMemcpyHtoD(dst, src, n))
}

func (d *cudaDriver) toHost(dst unsafe.Pointer, src address, n uintptr) *Error {
	return d.err("cuMemcpyDtoH", d.cuMemcpyDtoH(dst, src, n))
}

func (d *cudaDriver) copyDevice(dst, src address, n uintptr) *Error {
	return d.err("cuMemcpyDtoD", d.cuMemcpyDtoD(dst, src, n))
}

func (d *cudaDriver) fill(a address, v byte, n uintptr) *Error {
	return d.err("cuMemsetD8", d.cuMemsetD8(a, v, n))
}

func (d *cudaDriver) memory() (uint64, uint64, *Error) {
	var free, total uintptr
	code := d.cuMemGetInfo(&free, &total)
	return uint64(free), uint64(total), d.err("cuMemGetInfo", code)
}

func (d *cudaDriver) load(image []byte) (handle, *Error) {
	var m handle
	code := d.cuModuleLoadDataEx(&m, unsafe.Pointer(&image[0]), 0, nil, nil)
	goruntime.KeepAlive(image)
	return m, d.err("cuModuleLoadDataEx", code)
}

func (d *cudaDriver) unload(m handle) *Error { return d.err("cuModuleUnload", d.cuModuleUnload(m)) }

func (d *cudaDriver) function(m handle, name string) (handle, *Error) {
	var f handle
	code := d.cuModuleGetFunction(&f, m, name)
	return f, d.err("cuModuleGetFunction", code)
}

const maxParams = 1024

func (d *cudaDriver) params(f handle) ([]int, bool) {
	if d.cuFuncGetParamInfo == nil {
		return nil, false
	}
	sizes := []int{}
	for i := uintptr(0); i < maxParams; i++ {
		var offset, size uintptr
		if d.cuFuncGetParamInfo(f, i, &offset, &size) != 0 {
			break // past the last one
		}
		sizes = append(sizes, int(size))
	}
	return sizes, true
}

const (
	// cuStaticSharedMem is the most that a kernel may use without asking.
	cuStaticSharedMem = 48 << 10
	// cuFuncMaxDynamicSharedSize is the CUfunction_attribute that asks for more.
	cuFuncMaxDynamicSharedSize = 8
)

func (d *cudaDriver) launch(f handle, g, b [3]uint32, shared uint32, params unsafe.Pointer) *Error {
	if shared > cuStaticSharedMem {
		if err := d.err("cuFuncSetAttribute", d.cuFuncSetAttribute(f, cuFuncMaxDynamicSharedSize, int32(shared))); err != nil {
			return err
		}
	}
	return d.err("cuLaunchKernel", d.cuLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, 0, params, nil))
}

func (d *cudaDriver) synchronize() *Error { return d.err("cuCtxSynchronize", d.cuCtxSynchronize()) }

func (d *cudaDriver) newEvent() (handle, *Error) {
	var e handle
	code := d.cuEventCreate(&e, 0)
	return e, d.err("cuEventCreate", code)
}

func (d *cudaDriver) destroyEvent(e handle) *Error {
	return d.err("cuEventDestroy", d.cuEventDestroy(e))
}

func (d *cudaDriver) record(e handle) *Error { return d.err("cuEventRecord", d.cuEventRecord(e, 0)) }

func (d *cudaDriver) waitEvent(e handle) *Error {
	return d.err("cuEventSynchronize", d.cuEventSynchronize(e))
}

func (d *cudaDriver) elapsed(from, to handle) (float32, *Error) {
	var ms float32
	code := d.cuEventElapsedTime(&ms, from, to)
	return ms, d.err("cuEventElapsedTime", code)
}
