package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loomc/loomc/hip"
)

// Device is one opened device with its worker thread.
type Device struct {
	r    *Runtime
	info DeviceInfo
	w    *worker
	live map[resource]bool // touched on the worker only
}

// resource is something that is freed with its device.
type resource interface {
	// drop frees it; it runs on the worker, at most once.
	drop() error
}

// Info describes the device.
func (d *Device) Info() DeviceInfo { return d.info }

// Kind returns the kind of the device.
func (d *Device) Kind() Kind { return d.r.d.kind() }

// Close frees everything made on the device and ends its worker. Closing twice does
// nothing.
func (d *Device) Close() error {
	var errs []error
	d.w.stop(func() {
		// Nothing may be freed under a kernel that still runs.
		if err := d.r.d.synchronize(); err != nil && len(d.live) > 0 {
			errs = append(errs, err)
		}
		for _, kind := range []func(resource) bool{isEvent, isBuffer, isModule} {
			for res := range d.live {
				if kind(res) {
					errs = append(errs, res.drop())
				}
			}
		}
		d.live = nil
		d.r.d.release(d.info.Index)
	})
	d.r.forget(d)
	return errors.Join(errs...)
}

func isEvent(r resource) bool  { _, ok := r.(*Event); return ok }
func isBuffer(r resource) bool { _, ok := r.(*Buffer); return ok }
func isModule(r resource) bool { _, ok := r.(*Module); return ok }

// close frees one resource, once.
func (d *Device) close(res resource) error {
	err := d.w.do(func() error {
		if !d.live[res] {
			return nil
		}
		delete(d.live, res)
		return res.drop()
	})
	if errors.Is(err, ErrClosed) {
		return nil // went with the device
	}
	return err
}

// on runs f on the worker while every resource is alive.
func (d *Device) on(f func() error, needs ...resource) error {
	return d.w.do(func() error {
		for _, n := range needs {
			if !d.live[n] {
				return ErrClosed
			}
		}
		return f()
	})
}

// Synchronize waits until everything launched so far is done and returns what went
// wrong on the way. When ctx ends first its error is returned and the device stays
// busy: there is no way to stop a kernel.
func (d *Device) Synchronize(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- d.on(func() error { return ok(d.r.d.synchronize()) }) }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("waiting for device %d: %w", d.info.Index, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for device %d: %w", d.info.Index, ctx.Err())
	}
}

// Memory returns the free and total bytes of the device.
func (d *Device) Memory() (free, total uint64, err error) {
	err = d.on(func() error {
		f, t, e := d.r.d.memory()
		free, total = f, t
		return ok(e)
	})
	return free, total, err
}

// Module is a loaded code object.
type Module struct {
	d      *Device
	h      handle
	object hip.Object // zero on CUDA
	loaded bool
}

// Load loads a code object (HIP: a raw code object; CUDA: PTX text or a cubin). An
// object that is not one, or is for another chip, is refused before the driver sees
// it: a *hip.ObjectError or *hip.MismatchError.
func (d *Device) Load(image []byte) (*Module, error) {
	m := &Module{d: d}
	object, err := checkImage(d.Kind(), image, d.info.Arch, d.r.override)
	if err != nil {
		return nil, err
	}
	m.object = object
	if d.Kind() == CUDA {
		// PTX is a C string; a cubin does not mind.
		image = append(append(make([]byte, 0, len(image)+1), image...), 0)
	}
	err = d.on(func() error {
		h, e := d.r.d.load(image)
		if e != nil {
			e.Hint = d.loadHint(e, m.object)
			return e
		}
		m.h, m.loaded = h, true
		d.live[m] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("loading onto device %d (%s): %w", d.info.Index, d.info.Arch, err)
	}
	return m, nil
}

// checkImage reads what may be loaded onto a device of a kind, and refuses what is
// not an object or is for another chip. The object is zero on CUDA.
func checkImage(kind Kind, image []byte, arch, override string) (hip.Object, error) {
	if len(image) == 0 {
		return hip.Object{}, &hip.ObjectError{Err: errors.New("no bytes")}
	}
	if kind == CUDA {
		return hip.Object{}, checkCUDA(image, arch)
	}
	object, err := hip.ReadObject(image)
	if err != nil {
		return hip.Object{}, err
	}
	if err := hip.CheckTarget(object.Target, arch); err != nil {
		var m *hip.MismatchError
		if override != "" && errors.As(err, &m) {
			m.Reason += fmt.Sprintf(" (%s=%s is set: the device's own architecture may be another)", overrideVariable, override)
		}
		return hip.Object{}, err
	}
	return object, nil
}

func (d *Device) loadHint(e *Error, o hip.Object) string {
	if o.Target == "" {
		return e.Hint
	}
	switch e.Code {
	case 98, 200, 209, 303:
		s := fmt.Sprintf("the object is for %s, code object version %d; the device is %s", o.Target, o.CodeObjectVersion, d.info.Arch)
		if o.CodeObjectVersion > hip.DefaultCodeObjectVersion {
			s += fmt.Sprintf(": ROCm before 6.3 reads version %d, build with that", hip.DefaultCodeObjectVersion)
		}
		return s
	}
	return e.Hint
}

// checkCUDA compares the architecture of PTX (".target sm_90") or of a cubin with
// the device's. PTX runs on its architecture and later ones, a cubin on the same
// major version only, except for those made for one chip ("sm_90a").
func checkCUDA(image []byte, device string) error {
	if strings.HasPrefix(string(image[:min(4, len(image))]), "\x7fELF") {
		return nil // the driver refuses a cubin for another chip with a clean error
	}
	text := string(image[:min(4096, len(image))])
	_, rest, found := strings.Cut(text, ".target ")
	if !found {
		return &hip.ObjectError{Err: errors.New("neither a cubin nor PTX: no .target line")}
	}
	target := rest
	if i := strings.IndexAny(rest, "\n\r, "); i >= 0 {
		target = rest[:i]
	}
	var have, want int
	if _, err := fmt.Sscanf(target, "sm_%d", &want); err != nil {
		return &hip.ObjectError{Err: fmt.Errorf("PTX is for %q, which is not an architecture", target)}
	}
	if _, err := fmt.Sscanf(device, "sm_%d", &have); err != nil || want > have {
		return &hip.MismatchError{Object: target, Device: device, Reason: "PTX does not run on older chips"}
	}
	return nil
}

// Object returns what the code object says about itself; zero on CUDA.
func (m *Module) Object() hip.Object { return m.object }

// Close unloads the module; its kernels answer ErrClosed from then on.
func (m *Module) Close() error { return m.d.close(m) }

func (m *Module) drop() error {
	if !m.loaded {
		return nil
	}
	m.loaded = false
	return ok(m.d.r.d.unload(m.h))
}

// Event is a point in a device's work.
type Event struct {
	d *Device
	h handle
}

// NewEvent makes an event.
func (d *Device) NewEvent() (*Event, error) {
	e := &Event{d: d}
	err := d.on(func() error {
		h, err := d.r.d.newEvent()
		if err != nil {
			return err
		}
		e.h = h
		d.live[e] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("making an event: %w", err)
	}
	return e, nil
}

// Record marks the point after everything launched so far.
func (e *Event) Record() error {
	return e.d.on(func() error { return ok(e.d.r.d.record(e.h)) }, e)
}

// Since waits for e and returns the time on the device between from and e, both
// recorded on the same device.
func (e *Event) Since(from *Event) (time.Duration, error) {
	if from.d != e.d {
		return 0, errors.New("measuring time between two devices")
	}
	var ms float32
	err := e.d.on(func() error {
		if err := e.d.r.d.waitEvent(e.h); err != nil {
			return err
		}
		v, err := e.d.r.d.elapsed(from.h, e.h)
		ms = v
		return ok(err)
	}, e, from)
	if err != nil {
		return 0, fmt.Errorf("measuring time: %w", err)
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), nil
}

// Close destroys the event.
func (e *Event) Close() error { return e.d.close(e) }

func (e *Event) drop() error { return ok(e.d.r.d.destroyEvent(e.h)) }

// Time returns the time on the device that work launched by f takes, waiting for it.
func (d *Device) Time(f func() error) (elapsed time.Duration, err error) {
	from, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := from.Record(); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := to.Record(); err != nil {
		return 0, err
	}
	return to.Since(from)
}
