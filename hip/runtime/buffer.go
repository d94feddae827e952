package runtime

import (
	"fmt"
	goruntime "runtime"
	"unsafe"
)

// Buffer is device memory of a fixed length.
type Buffer struct {
	d    *Device
	a    address
	size int
}

// Alloc reserves size bytes on the device. Their contents are whatever was there.
func (d *Device) Alloc(size int) (*Buffer, error) {
	if size < 0 {
		return nil, fmt.Errorf("allocating %d bytes", size)
	}
	b := &Buffer{d: d, size: size}
	err := d.on(func() error {
		a, err := d.r.d.alloc(uintptr(max(size, 1))) // an empty buffer still has a place
		if err != nil {
			return err
		}
		b.a = a
		d.live[b] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("allocating %d bytes on device %d: %w", size, d.info.Index, err)
	}
	return b, nil
}

// Size returns the length in bytes.
func (b *Buffer) Size() int { return b.size }

// Device returns where the buffer is.
func (b *Buffer) Device() *Device { return b.d }

func (b *Buffer) inside(what string, off, n int) error {
	if off < 0 || n < 0 || off > b.size || n > b.size-off {
		return fmt.Errorf("%s %d bytes at offset %d of a buffer of %d bytes", what, n, off, b.size)
	}
	return nil
}

// Write copies data to the buffer at off, after everything launched before.
func (b *Buffer) Write(off int, data []byte) error {
	if err := b.inside("writing", off, len(data)); err != nil {
		return err
	}
	return b.d.on(func() error {
		if len(data) == 0 {
			return nil
		}
		err := b.d.r.d.toDevice(b.a+address(off), unsafe.Pointer(&data[0]), uintptr(len(data)))
		goruntime.KeepAlive(data)
		return ok(err)
	}, b)
}

// Read copies len(data) bytes at off of the buffer to data, after waiting for
// everything launched before; failures of kernels surface here.
func (b *Buffer) Read(off int, data []byte) error {
	if err := b.inside("reading", off, len(data)); err != nil {
		return err
	}
	return b.d.on(func() error {
		if len(data) == 0 {
			return nil
		}
		err := b.d.r.d.toHost(unsafe.Pointer(&data[0]), b.a+address(off), uintptr(len(data)))
		goruntime.KeepAlive(data)
		return ok(err)
	}, b)
}

// Fill sets every byte of the buffer to v.
func (b *Buffer) Fill(v byte) error {
	return b.d.on(func() error {
		if b.size == 0 {
			return nil
		}
		return ok(b.d.r.d.fill(b.a, v, uintptr(b.size)))
	}, b)
}

// CopyFrom copies n bytes at srcOff of src, on the same device, to off of b. It
// happens in order with launches and is not waited for.
func (b *Buffer) CopyFrom(off int, src *Buffer, srcOff, n int) error {
	if src.d != b.d {
		return fmt.Errorf("copying from device %d to device %d: not supported", src.d.info.Index, b.d.info.Index)
	}
	if err := b.inside("writing", off, n); err != nil {
		return err
	}
	if err := src.inside("reading", srcOff, n); err != nil {
		return err
	}
	return b.d.on(func() error {
		if n == 0 {
			return nil
		}
		return ok(b.d.r.d.copyDevice(b.a+address(off), src.a+address(srcOff), uintptr(n)))
	}, b, src)
}

// Close frees the buffer. Kernels launched before that are finished first: both
// drivers wait.
func (b *Buffer) Close() error { return b.d.close(b) }

func (b *Buffer) drop() error { return ok(b.d.r.d.free(b.a)) }
