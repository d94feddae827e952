package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/loomc/loomc/hip"
)

// Process is a device opened in a child process: a crash of the driver or of a
// kernel ends the child, and the caller gets a *hip.CrashError that says what the
// child was doing. It is safe for concurrent use; the child does one thing at a
// time. Kernels loaded into it live as long as it does.
//
// The context given to OpenProcess bounds the life of the child, the one given to a
// method the call: when either ends, the child is killed, because a kernel cannot be
// stopped, and the Process is of no further use.
type Process struct {
	conn *hip.Conn
	kind Kind
	hello
}

// OpenProcess starts a child and opens a device in it. The error is a
// *hip.MissingError when there is no library for the kind of device, an *Error when
// the library works and there is no device, a *hip.CrashError when it crashes.
func OpenProcess(ctx context.Context, c hip.Child) (*Process, error) {
	p := &Process{kind: Kind(c.Kind)}
	if p.kind == "" {
		p.kind = HIP
	}
	conn, err := c.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening a device: %w", err)
	}
	var r response
	if err := conn.Receive(ctx, &r); err != nil {
		return nil, fmt.Errorf("opening a device: %w", err)
	}
	if r.Error != nil {
		return nil, errors.Join(r.Error.unpack(), conn.Close())
	}
	if r.Hello == nil {
		return nil, errors.Join(errors.New("opening a device: the child did not say which"), conn.Close())
	}
	p.conn, p.hello = conn, *r.Hello
	return p, nil
}

// Info describes the device.
func (p *Process) Info() DeviceInfo { return p.hello.Device }

// Kind returns the kind of the device.
func (p *Process) Kind() Kind { return p.kind }

// Library returns the path or name of the library in the child, Version its version.
func (p *Process) Library() string { return p.hello.Library }

// Version returns the version of the library in the child.
func (p *Process) Version() string { return p.hello.Version }

// Close ends the child. Closing twice does nothing.
func (p *Process) Close() error { return p.conn.Close() }

// call asks the child and adds what is known here to the news of its death.
func (p *Process) call(ctx context.Context, r request, send [][]byte, object hip.Object, into [][]byte) (response, error) {
	var a response
	err := p.conn.Call(ctx, r, send, &a, into)
	var crash *hip.CrashError
	if errors.As(err, &crash) {
		own := *crash
		own.Device, own.Override = p.hello.Device.Arch, p.hello.Override
		if object.Target != "" {
			own.Object = fmt.Sprintf("%s, code object version %d", object.Target, object.CodeObjectVersion)
		}
		return a, &own
	}
	if err != nil {
		return a, err
	}
	return a, a.Error.unpack()
}

// ProcessKernel is a kernel loaded in a Process.
type ProcessKernel struct {
	p      *Process
	id     int
	object hip.Object
	name   string
}

// Load loads a code object in the child and looks a kernel up in it. params are as
// for Module.Kernel. What is not an object, or is for another chip, is refused before
// the child sees it.
func (p *Process) Load(ctx context.Context, image []byte, symbol string, params ...Param) (*ProcessKernel, error) {
	object, err := checkImage(p.kind, image, p.hello.Device.Arch, p.hello.Override)
	if err != nil {
		return nil, err
	}
	a, err := p.call(ctx, request{Op: "load", Symbol: symbol, Params: params}, [][]byte{image}, object, nil)
	if err != nil {
		return nil, err
	}
	return &ProcessKernel{p: p, id: a.Kernel, object: object, name: symbol}, nil
}

// Memory is device memory that lives for one launch.
type Memory struct {
	Size int
	// Data is what it holds before the launch; nil means zeros, or Random.
	Data []byte
	// Random fills it with Random(…, *Random, 0), made where the device is.
	Random *uint64
	// Out receives what it holds after the launch; nil wants nothing back.
	Out []byte
}

// ProcessArg is one argument: a part of a Memory, or a value when Value is set.
type ProcessArg struct {
	Memory int // index
	Offset int // bytes
	// Needs and Why are as for Arg.Needs.
	Needs int
	Why   string
	Value []byte // little-endian
}

// Measure asks for times. Launches are warmed up first; then they and
// device-to-device copies that move as many bytes take turns.
type Measure struct {
	Repeat int // timed launches, and timed copies
	// Bytes is what a launch moves, reads and writes together; 0 times no copies.
	Bytes int
}

// Measured is what came of it. Launches take turns over Sets sets of buffers with
// equal contents, so that together they exceed the device's cache several times, and
// so do the copies.
type Measured struct {
	Launches, Copies []time.Duration // on the device, by events
	CopyBytes        int             // bytes copied; twice that moves
	Sets, CopySets   int
}

// Launch runs the kernel once and waits for it, then measures when asked to.
func (k *ProcessKernel) Launch(ctx context.Context, g Geometry, memory []Memory, args []ProcessArg, m *Measure) (*Measured, error) {
	r := request{Op: "launch", Kernel: k.id, Geometry: g, Measure: m}
	var send, into [][]byte
	for i, x := range memory {
		switch {
		case x.Data != nil && len(x.Data) != x.Size, x.Out != nil && len(x.Out) != x.Size, x.Size < 0:
			return nil, fmt.Errorf("launching %s: memory %d of %d bytes comes with %d bytes and gives %d", k.name, i, x.Size, len(x.Data), len(x.Out))
		}
		p := place{Size: x.Size, Send: x.Data != nil, Return: x.Out != nil}
		if x.Random != nil {
			p.Random, p.Seed = true, *x.Random
		}
		r.Memory = append(r.Memory, p)
		if p.Send {
			send = append(send, x.Data)
		}
		if p.Return {
			into = append(into, x.Out)
		}
	}
	for i, a := range args {
		x := argument{Memory: a.Memory, Offset: a.Offset, Need: a.Needs, Why: a.Why, Value: slices.Clone(a.Value)}
		if a.Value != nil {
			x.Memory = -1
		} else if a.Memory < 0 || a.Memory >= len(memory) {
			return nil, fmt.Errorf("launching %s: argument %d names memory %d of %d", k.name, i, a.Memory, len(memory))
		}
		r.Args = append(r.Args, x)
	}
	a, err := k.p.call(ctx, r, send, k.object, into)
	return a.Measured, err
}
