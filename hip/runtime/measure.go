package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"time"
)

// batch is how many calls are timed between two waits: a driver holds a bounded
// number of launches and events.
const batch = 64

// lead calls run before the first timed one of a batch, so that the device is busy
// when the clock starts and the host's part of a launch is not measured.
const lead = 2

// intervals times n calls by events: the calls go out back to back with an event
// between each two. call runs on the worker.
func (d *Device) intervals(ctx context.Context, n int, call func(i int) *Error, needs ...resource) (out []time.Duration, err error) {
	events := make([]*Event, min(n, batch)+1)
	defer func() {
		for _, e := range events {
			if e != nil {
				err = errors.Join(err, e.Close())
			}
		}
	}()
	for i := range events {
		if events[i], err = d.NewEvent(); err != nil {
			return nil, err
		}
	}
	for len(out) < n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := min(n-len(out), batch)
		err := d.on(func() error {
			for i := range lead {
				if err := call(i); err != nil {
					return err
				}
			}
			if err := d.r.d.record(events[0].h); err != nil {
				return err
			}
			for i := range m {
				if err := call(len(out) + i); err != nil {
					return err
				}
				if err := d.r.d.record(events[i+1].h); err != nil {
					return err
				}
			}
			if err := d.r.d.waitEvent(events[m].h); err != nil {
				return err
			}
			for i := range m {
				ms, err := d.r.d.elapsed(events[i].h, events[i+1].h)
				if err != nil {
					return err
				}
				out = append(out, time.Duration(float64(ms)*float64(time.Millisecond)))
			}
			return nil
		}, needs...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Times launches the kernel n times, back to back, and returns the time each launch
// took on the device, by events. Launch i gets the arguments sets[i%len(sets)]:
// sets that together exceed the device's cache keep what one launch left there from
// helping the next. A kernel that is shorter than what the host needs to launch it
// measures the host.
func (k *Kernel) Times(ctx context.Context, n int, g Geometry, sets ...[]Arg) ([]time.Duration, error) {
	if n <= 0 || len(sets) == 0 {
		return nil, fmt.Errorf("timing %s: %d launches with %d sets of arguments", k.name, n, len(sets))
	}
	if err := k.checkGeometry(g); err != nil {
		return nil, err
	}
	var needs []resource
	for _, args := range sets {
		if err := k.checkArgs(args); err != nil {
			return nil, err
		}
		needs = append(needs, k.needs(args)...)
	}
	d := k.m.d
	calls := make([]*packed, len(sets))
	out, err := d.intervals(ctx, n, func(i int) *Error {
		c := calls[i%len(sets)]
		if c == nil {
			c = k.pack(sets[i%len(sets)])
			calls[i%len(sets)] = c
		}
		err := d.r.d.launch(k.h, g.Grid, g.Block, g.Shared, c.pointer())
		goruntime.KeepAlive(c)
		return err
	}, needs...)
	if err != nil {
		return nil, fmt.Errorf("timing %s: %w", k.name, err)
	}
	return out, nil
}

// Copy is one copy between buffers of a device, from their beginnings.
type Copy struct {
	To, From *Buffer
	Bytes    int
}

// CopyTimes copies n times, back to back, and returns the time each copy took on
// the device, by events: what a kernel's rate is held against. Copy i is
// copies[i%len(copies)].
func (d *Device) CopyTimes(ctx context.Context, n int, copies ...Copy) ([]time.Duration, error) {
	if n <= 0 || len(copies) == 0 {
		return nil, fmt.Errorf("timing copies: %d of %d different ones", n, len(copies))
	}
	var needs []resource
	for _, c := range copies {
		if c.To == nil || c.From == nil || c.To.d != d || c.From.d != d {
			return nil, fmt.Errorf("timing copies: a buffer is not on device %d", d.info.Index)
		}
		if err := errors.Join(c.To.inside("writing", 0, c.Bytes), c.From.inside("reading", 0, c.Bytes)); err != nil {
			return nil, err
		}
		if c.Bytes == 0 {
			return nil, errors.New("timing copies: no bytes to copy")
		}
		needs = append(needs, c.To, c.From)
	}
	out, err := d.intervals(ctx, n, func(i int) *Error {
		c := copies[i%len(copies)]
		return d.r.d.copyDevice(c.To.a, c.From.a, uintptr(c.Bytes))
	}, needs...)
	if err != nil {
		return nil, fmt.Errorf("timing copies: %w", err)
	}
	return out, nil
}
