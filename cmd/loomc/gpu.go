package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/hip"
	hiprt "github.com/loomc/loomc/hip/runtime"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/loom/kernel"
)

// gpu runs launches on a HIP or CUDA device: it emits and compiles each kernel
// once, copies the arguments over, launches and copies the results back. It is
// safe for concurrent use; the device runs one launch at a time.
type gpu struct {
	runtime *hiprt.Runtime
	device  *hiprt.Device
	builder *hip.Builder
	arch    string

	launching sync.Mutex // one launch at a time
	mu        sync.Mutex // guards kernels
	kernels   map[*kernel.Kernel]*gpuKernel

	// repeat and took measure a kernel: after the launch that counts, it runs
	// repeat more times between two events.
	repeat int
	took   time.Duration
}

type gpuKernel struct {
	once sync.Once
	err  error
	unit *codegen.Unit
	mod  *hiprt.Module
	fn   *hiprt.Kernel
}

// openGPU opens the first device of a kind and a compiler for it.
func (a *app) openGPU(ctx context.Context, kind string, f *cacheFlags) (*gpu, error) {
	if kind != string(hiprt.HIP) && kind != string(hiprt.CUDA) {
		return nil, &status{exitUsage, fmt.Errorf("--device %s: want cpu, hip or cuda", kind)}
	}
	r, err := hiprt.Open(hiprt.Options{Kind: hiprt.Kind(kind)})
	if err != nil {
		return nil, a.noDevice(err)
	}
	if len(r.Devices()) == 0 {
		r.Close()
		return nil, a.noDevice(r.NoDevice())
	}
	d, err := r.Device(0)
	if err != nil {
		r.Close()
		return nil, a.noDevice(err)
	}
	b, err := f.caches()
	if err != nil {
		r.Close()
		return nil, err
	}
	if kind == string(hiprt.CUDA) {
		rtc, err := hip.OpenRTC(ctx, deviceChild(kind))
		if err != nil {
			r.Close()
			return nil, a.noDevice(err)
		}
		b.Compiler = rtc
	} else if err := f.compiler(ctx, b, ""); err != nil {
		r.Close()
		return nil, a.noDevice(err)
	}
	return &gpu{runtime: r, device: d, builder: b, arch: d.Info().Arch, kernels: map[*kernel.Kernel]*gpuKernel{}, repeat: 0}, nil
}

// noDevice shows why a device cannot be used; that is a fault of the environment.
func (a *app) noDevice(err error) error {
	if err == nil {
		err = errors.New("no device")
	}
	_ = a.show(hip.Explain(err, nil))
	return &status{code: exitMissing}
}

// gpuDevice opens a GPU as a device for test launches.
func (a *app) gpuDevice(ctx context.Context, kind string) (check.Device, func(), error) {
	g, err := a.openGPU(ctx, kind, &cacheFlags{})
	if err != nil {
		return nil, nil, err
	}
	return g, func() { g.runtime.Close() }, nil
}

// Name implements check.Device.
func (g *gpu) Name() string { return fmt.Sprintf("%s %s", g.device.Kind(), g.device.Info().Arch) }

// kernel returns the loaded kernel. Different kernels compile side by side.
func (g *gpu) kernel(ctx context.Context, k *kernel.Kernel) (*gpuKernel, error) {
	g.mu.Lock()
	e := g.kernels[k]
	if e == nil {
		e = &gpuKernel{}
		g.kernels[k] = e
	}
	g.mu.Unlock()
	e.once.Do(func() { e.err = g.load(ctx, k, e) })
	return e, e.err
}

// load emits, compiles and loads a kernel into e.
func (g *gpu) load(ctx context.Context, k *kernel.Kernel, e *gpuKernel) error {
	u, ds := codegen.Emit(k, codegen.Options{Line: true, Tool: "loomc"})
	if u == nil {
		return ds
	}
	out := g.builder.Build(ctx, hip.Job{Name: u.Symbol + ".hip", Source: u.Source, Arch: g.arch, Wave64: u.WaveSize == 64})
	if out.Err != nil {
		return hip.Explain(out.Err, func(name string) *diag.Source {
			if s := k.Def.Span.Src; s != nil && s.Name == name {
				return s
			}
			return nil
		})
	}
	m, err := g.device.Load(out.Output.Object)
	if err != nil {
		return fmt.Errorf("load '%s': %w", u.Symbol, err)
	}
	params := make([]hiprt.Param, len(u.ABI.Args))
	for i, a := range u.ABI.Args {
		params[i] = hiprt.Param{Name: a.Name, Pointer: a.Buffer, Size: a.Size}
	}
	fn, err := m.Kernel(u.Symbol, params...)
	if err != nil {
		return fmt.Errorf("look up '%s': %w", u.Symbol, err)
	}
	e.unit, e.mod, e.fn = u, m, fn
	return nil
}

// Launch implements check.Device.
func (g *gpu) Launch(ctx context.Context, k *kernel.Kernel, geo kernel.Geometry, args []exec.Arg) (*exec.Report, error) {
	e, err := g.kernel(ctx, k)
	if err != nil {
		return nil, err
	}
	g.launching.Lock()
	defer g.launching.Unlock()
	buffers, scalars := splitArgs(args)
	if len(buffers)+len(scalars) != len(e.unit.ABI.Args) {
		return nil, fmt.Errorf("kernel '@%s' takes %d arguments, got %d", k.Symbol, len(e.unit.ABI.Args), len(args))
	}
	// Arguments that share storage share a device buffer.
	dev := map[*byte]*hiprt.Buffer{}
	var launch []hiprt.Arg
	for _, x := range e.unit.ABI.Args {
		if !x.Buffer {
			launch = append(launch, scalarArg(scalars[x.Launch], x.Size))
			continue
		}
		host := buffers[x.Binding].Buffer
		b := dev[unsafe.SliceData(host)]
		if b == nil {
			if b, err = g.device.Alloc(max(len(host), 1)); err != nil {
				return nil, fmt.Errorf("allocate binding '%s': %w", x.Name, err)
			}
			defer b.Close()
			dev[unsafe.SliceData(host)] = b
			if err := b.Write(0, host); err != nil {
				return nil, fmt.Errorf("copy binding '%s' to the device: %w", x.Name, err)
			}
		}
		launch = append(launch, hiprt.Ptr(b))
	}
	shape := hiprt.Geometry{}
	if g.device.Kind() == hiprt.CUDA && e.unit.LocalBytes > codegen.CUDAStaticBytes {
		shape.Shared = uint32(e.unit.LocalBytes)
	}
	for i := range 3 {
		shape.Grid[i], shape.Block[i] = uint32(geo.Count[i]), uint32(geo.Size[i])
		if geo.Count[i] == 0 {
			return nil, nil // nothing to launch
		}
	}
	if err := e.fn.Launch(shape, launch...); err != nil {
		return nil, fmt.Errorf("launch '%s': %w", k.Symbol, err)
	}
	if err := g.device.Synchronize(ctx); err != nil {
		return nil, fmt.Errorf("run '%s': %w", k.Symbol, err)
	}
	for _, b := range buffers {
		if err := dev[unsafe.SliceData(b.Buffer)].Read(0, b.Buffer); err != nil {
			return nil, fmt.Errorf("copy results of '%s' back: %w", k.Symbol, err)
		}
	}
	if g.repeat > 0 {
		g.took, err = g.device.Time(func() error {
			for range g.repeat {
				if err := e.fn.Launch(shape, launch...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("time '%s': %w", k.Symbol, err)
		}
	}
	return nil, nil
}

// splitArgs separates launch arguments, which arrive in the order of the launch
// parameters, into buffers and scalars: emitted code takes the buffers first.
func splitArgs(args []exec.Arg) (buffers, scalars []exec.Arg) {
	for _, a := range args {
		if a.IsBuffer {
			buffers = append(buffers, a)
		} else {
			scalars = append(scalars, a)
		}
	}
	return buffers, scalars
}

func scalarArg(a exec.Arg, size int) hiprt.Arg {
	if size == 8 {
		return hiprt.U64(a.Bits)
	}
	return hiprt.U32(uint32(a.Bits))
}
