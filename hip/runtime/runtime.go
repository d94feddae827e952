package runtime

import (
	"errors"
	"fmt"
	"sync"

	"github.com/loomc/loomc/hip"
)

// Runtime is an opened and initialised library.
type Runtime struct {
	d       driver
	path    string
	version string
	tried   []hip.Attempt
	devices []DeviceInfo
	noDev   error
	// override is HSA_OVERRIDE_GFX_VERSION, which makes a device claim another
	// architecture.
	override string

	mu     sync.Mutex
	opened map[int]*Device
	closed bool
}

// DeviceInfo describes a device.
type DeviceInfo struct {
	Index        int
	Name         string // marketing name
	Arch         string // target id, "gfx1151" or "gfx90a:sramecc+:xnack-"; "sm_90" on CUDA
	WaveSize     int    // lanes
	LDSPerBlock  int    // bytes of workgroup memory
	ComputeUnits int
	L2Bytes      int
	TotalMemory  uint64 // bytes
}

// Open finds, loads and initialises the library for a kind of device. The error is
// a *hip.MissingError when there is no usable library, an *Error when it does not
// initialise. A library that works and sees no device is not an error: Devices is
// empty then and NoDevice says why.
func Open(o Options) (*Runtime, error) {
	if o.Kind == "" {
		o.Kind = HIP
	}
	f, known := runtimes[o.Kind]
	if !known {
		return nil, fmt.Errorf("opening a device runtime: unknown kind %q", o.Kind)
	}
	var d driver
	var bindings []binding
	switch o.Kind {
	case HIP:
		h := &hipDriver{}
		d, bindings = h, h.bindings()
	case CUDA:
		c := &cudaDriver{}
		d, bindings = c, c.bindings()
	}
	path, tried, err := f.open(o, bindings)
	if err != nil {
		return nil, err
	}
	r := &Runtime{d: d, path: path, tried: tried, opened: map[int]*Device{}}
	if o.Kind == HIP {
		r.override = o.env(overrideVariable)
	}
	version, e := d.start()
	r.version = version
	if e == nil {
		r.devices, e = d.devices()
	}
	switch {
	case e != nil && (e.Code == codeNoDevice || e.Code == codeInvalidDevice):
		// No device was asked for yet: "invalid device" says here that there is none.
		e.Hint = hints[d.label()][codeNoDevice]
		r.noDev = e
	case e != nil:
		return nil, fmt.Errorf("initialising %s: %w", path, e)
	case len(r.devices) == 0:
		r.noDev = &Error{Driver: d.label(), Call: "counting devices", Code: codeNoDevice, Name: "no device", Hint: hints[d.label()][codeNoDevice]}
	}
	return r, nil
}

const overrideVariable = "HSA_OVERRIDE_GFX_VERSION"

const (
	codeNoDevice      = 100
	codeInvalidDevice = 101
)

// Kind returns the kind of devices.
func (r *Runtime) Kind() Kind { return r.d.kind() }

// Library returns the path or name the library was loaded by.
func (r *Runtime) Library() string { return r.path }

// Version returns the library's version, "6.3.42134" (HIP) or "12.4" (CUDA).
func (r *Runtime) Version() string { return r.version }

// Tried returns where the library was looked for.
func (r *Runtime) Tried() []hip.Attempt { return r.tried }

// Devices returns the devices in the library's order.
func (r *Runtime) Devices() []DeviceInfo { return r.devices }

// Override returns the value of HSA_OVERRIDE_GFX_VERSION, with which devices report
// an architecture that may not be theirs; empty when it is not set.
func (r *Runtime) Override() string { return r.override }

// NoDevice returns why Devices is empty, nil when it is not.
func (r *Runtime) NoDevice() error { return r.noDev }

// Device opens a device for work. Opening one twice returns the same Device until
// it is closed.
func (r *Runtime) Device(index int) (*Device, error) {
	if index < 0 || index >= len(r.devices) {
		if r.noDev != nil {
			return nil, fmt.Errorf("opening device %d: %w", index, r.noDev)
		}
		return nil, fmt.Errorf("opening device %d: the machine has devices 0 to %d", index, len(r.devices)-1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, fmt.Errorf("opening device %d: %w", index, ErrClosed)
	}
	if d, ok := r.opened[index]; ok {
		if !d.w.ending() {
			return d, nil
		}
		// Somebody is closing it; what it holds is given back before it is taken anew.
		<-d.w.done
	}
	d := &Device{r: r, info: r.devices[index], w: newWorker(), live: map[resource]bool{}}
	if err := d.w.do(func() error { return ok(r.d.current(index)) }); err != nil {
		d.w.stop(nil)
		return nil, fmt.Errorf("opening device %d: %w", index, err)
	}
	r.opened[index] = d
	return d, nil
}

// Close closes every device. The library stays loaded: vendors' libraries do not
// survive being unloaded.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	open := r.opened
	r.opened = map[int]*Device{}
	r.mu.Unlock()
	var errs []error
	for i := range r.devices {
		if d, ok := open[i]; ok {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

func (r *Runtime) forget(d *Device) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened[d.info.Index] == d {
		delete(r.opened, d.info.Index)
	}
}
