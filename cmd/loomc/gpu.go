package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/hip"
	hiprt "github.com/loomc/loomc/hip/runtime"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// gpu runs launches on a HIP or CUDA device. Loading and launching happen in a
// child of this program, one for all launches of a command: a crash of the driver
// or of a kernel is a diagnostic. After a crash, and after a fault that leaves the
// device's context useless, the next launch starts another child. A gpu is safe for
// concurrent use; kernels compile side by side, the device runs one launch at a time.
type gpu struct {
	ctx     context.Context // of the command: it bounds the life of the children
	child   hip.Child
	builder *hip.Builder
	info    hiprt.DeviceInfo

	mu      sync.Mutex // guards kernels
	kernels map[*kernel.Kernel]*gpuKernel

	launching sync.Mutex // one launch at a time; guards what follows
	process   *hiprt.Process
	started   int
}

type gpuKernel struct {
	once   sync.Once
	err    error
	unit   *codegen.Unit
	object []byte

	// fn is the kernel in process, which may be one of the past.
	process *hiprt.Process
	fn      *hiprt.ProcessKernel
}

// maxChildren bounds how many device processes a command wears out.
const maxChildren = 32

// openGPU opens the first device of a kind and a compiler for it.
func (a *app) openGPU(ctx context.Context, kind string, f *cacheFlags) (*gpu, error) {
	if kind != string(hiprt.HIP) && kind != string(hiprt.CUDA) {
		return nil, &status{exitUsage, fmt.Errorf("--device %s: want cpu, hip or cuda", kind)}
	}
	g := &gpu{ctx: ctx, child: deviceChild(kind), kernels: map[*kernel.Kernel]*gpuKernel{}}
	p, err := g.running() // first: without a device nothing else matters
	if err != nil {
		return nil, a.noDevice(err)
	}
	g.info = p.Info()
	b, err := f.caches()
	if err != nil {
		g.Close()
		return nil, err
	}
	g.builder = b
	if kind == string(hiprt.CUDA) {
		err = useRTC(ctx, b, kind)
	} else {
		err = f.compiler(ctx, b, "")
	}
	if err != nil {
		g.Close()
		return nil, a.noDevice(err)
	}
	return g, nil
}

// noDevice shows why a device cannot be used; that is a fault of the environment.
func (a *app) noDevice(err error) error {
	if err == nil {
		err = errors.New("no device")
	}
	_ = a.show(hip.Explain(err, nil))
	return &status{code: exitMissing}
}

// running returns the device process, started when there is none.
func (g *gpu) running() (*hiprt.Process, error) {
	if g.process != nil {
		return g.process, nil
	}
	if g.started >= maxChildren {
		return nil, fmt.Errorf("the device process ended %d times; it is not started again", g.started)
	}
	p, err := hiprt.OpenProcess(g.ctx, g.child)
	if err != nil {
		return nil, err
	}
	g.started++
	g.process = p
	return p, nil
}

// Close ends the device process.
func (g *gpu) Close() {
	g.launching.Lock()
	defer g.launching.Unlock()
	if g.process != nil {
		g.process.Close() // all results are in; what it says on the way out is nobody's concern
		g.process = nil
	}
}

// Name implements check.Device.
func (g *gpu) Name() string {
	kind := g.child.Kind
	return fmt.Sprintf("%s %s", kind, g.info.Arch)
}

// processor is the target that kernels naming none are closed for when nobody
// selects one: the device's own, "" where that is not an AMD processor we know.
func (g *gpu) processor() string {
	arch, _, _ := strings.Cut(g.info.Arch, ":") // without features such as xnack
	if _, ok := target.Lookup(arch); !ok {
		return ""
	}
	return arch
}

// kernel returns the compiled kernel. Different kernels compile side by side.
func (g *gpu) kernel(ctx context.Context, k *kernel.Kernel) (*gpuKernel, error) {
	g.mu.Lock()
	e := g.kernels[k]
	if e == nil {
		e = &gpuKernel{}
		g.kernels[k] = e
	}
	g.mu.Unlock()
	e.once.Do(func() { e.err = g.compile(ctx, k, e) })
	return e, e.err
}

// compile emits and compiles a kernel into e.
func (g *gpu) compile(ctx context.Context, k *kernel.Kernel, e *gpuKernel) error {
	u, ds := codegen.Emit(k, codegen.Options{Line: true, Tool: "loomc"})
	if u == nil {
		return ds
	}
	out := g.builder.Build(ctx, hip.Job{Name: u.Symbol + ".hip", Source: u.Source, Arch: g.info.Arch, Wave64: u.WaveSize == 64})
	if out.Err != nil {
		list := hip.Explain(out.Err, kernelSources(k))
		var ce *hip.CompileError
		if errors.As(out.Err, &ce) {
			list = atKernelOf(ce, list, k)
		}
		return list
	}
	e.unit, e.object = u, out.Output.Object
	return nil
}

// kernelSources finds the files that a closed kernel came from: its own and those
// of the motifs it uses.
func kernelSources(k *kernel.Kernel) hip.Sources {
	byName := map[string]*diag.Source{}
	add := func(sp diag.Span) {
		if sp.Src != nil {
			byName[sp.Src.Name] = sp.Src
		}
	}
	add(k.Def.Span)
	k.Def.Walk(func(o *loom.Op) bool {
		add(o.NameSpan())
		return true
	})
	return func(name string) *diag.Source { return byName[name] }
}

// loaded returns the kernel in the running process.
func (g *gpu) loaded(ctx context.Context, e *gpuKernel) (*hiprt.ProcessKernel, error) {
	p, err := g.running()
	if err != nil {
		return nil, err
	}
	if e.process == p {
		return e.fn, nil
	}
	params := make([]hiprt.Param, len(e.unit.ABI.Args))
	for i, a := range e.unit.ABI.Args {
		params[i] = hiprt.Param{Name: a.Name, Pointer: a.Buffer, Size: a.Size}
		if a.Buffer {
			params[i].Access = accessWords[a.Access]
		}
	}
	fn, err := p.Load(ctx, e.object, e.unit.Symbol, params...)
	if err != nil {
		return nil, fmt.Errorf("load '%s': %w", e.unit.Symbol, err)
	}
	e.process, e.fn = p, fn
	return fn, nil
}

// accessWords are how code objects name what a kernel does with a buffer.
var accessWords = map[kernel.Access]string{kernel.Read: "read_only", kernel.Write: "write_only", kernel.Read | kernel.Write: "read_write"}

// gpuLaunch is one launch: the memory it uses, and what stands in each argument.
type gpuLaunch struct {
	kernel   *kernel.Kernel
	geometry kernel.Geometry
	memory   []hiprt.Memory
	buffers  []gpuBuffer // per binding
	scalars  []exec.Arg
	reach    []require.Reach // per binding; nil when it was not computed
	measure  *hiprt.Measure
}

// gpuBuffer is the part of a memory that a binding stands for.
type gpuBuffer struct{ memory, offset int }

// Launch implements check.Device.
func (g *gpu) Launch(ctx context.Context, k *kernel.Kernel, geo kernel.Geometry, args []exec.Arg) (*exec.Report, error) {
	buffers, scalars := splitArgs(args)
	if len(buffers) != len(k.Bindings) || len(scalars) != len(k.Launch) {
		return nil, fmt.Errorf("kernel '@%s' takes %d buffers and %d values, got %d and %d", k.Symbol, len(k.Bindings), len(k.Launch), len(buffers), len(scalars))
	}
	l := require.Launch{Kernel: k, Geometry: geo, Scalars: bits(scalars)}
	reach := l.Reach()
	lengths := make([]int64, len(buffers))
	for i, b := range buffers {
		lengths[i] = int64(len(b.Buffer))
	}
	if ds := l.Check(reach, lengths); ds.HasErrors() {
		return nil, ds[0]
	}
	x := gpuLaunch{kernel: k, geometry: geo, scalars: scalars, reach: reach}
	x.memory, x.buffers = shareMemory(k, buffers)
	_, err := g.run(ctx, x)
	return nil, err
}

func bits(scalars []exec.Arg) []int64 {
	out := make([]int64, len(scalars))
	for i, s := range scalars {
		out[i] = int64(s.Bits)
	}
	return out
}

// shareMemory gives every buffer its place in device memory. Buffers that share
// storage on the host share it on the device.
func shareMemory(k *kernel.Kernel, args []exec.Arg) ([]hiprt.Memory, []gpuBuffer) {
	type part struct {
		binding    int
		start, end uintptr
	}
	parts := make([]part, len(args))
	for i, a := range args {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(a.Buffer)))
		parts[i] = part{i, start, start + uintptr(len(a.Buffer))}
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var memory []hiprt.Memory
	where := make([]gpuBuffer, len(args))
	var start, end uintptr // of the last memory
	for _, p := range parts {
		if n := len(memory); n > 0 && p.start < end && p.start < p.end {
			if p.end > end { // goes on past the ones before
				end = p.end
				memory[n-1].Data = unsafe.Slice((*byte)(unsafe.SliceData(memory[n-1].Data)), int(end-start))
			}
		} else {
			start, end = p.start, p.end
			memory = append(memory, hiprt.Memory{Data: args[p.binding].Buffer})
		}
		m := &memory[len(memory)-1]
		if m.Data == nil {
			m.Data = []byte{}
		}
		m.Size = len(m.Data)
		if m.Out != nil || k.Bindings[p.binding].Access&kernel.Write != 0 {
			m.Out = m.Data
		}
		where[p.binding] = gpuBuffer{len(memory) - 1, int(p.start - start)}
	}
	return memory, where
}

// run makes a launch and waits for it. Errors are diagnostics at the kernel.
func (g *gpu) run(ctx context.Context, x gpuLaunch) (*hiprt.Measured, error) {
	e, err := g.kernel(ctx, x.kernel)
	if err != nil {
		return nil, err
	}
	shape := hiprt.Geometry{}
	if g.child.Kind == string(hiprt.CUDA) && e.unit.LocalBytes > codegen.CUDAStaticBytes {
		shape.Shared = uint32(e.unit.LocalBytes)
	}
	for i := range 3 {
		shape.Grid[i], shape.Block[i] = uint32(x.geometry.Count[i]), uint32(x.geometry.Size[i])
		if x.geometry.Count[i] == 0 {
			return nil, nil // nothing to launch
		}
	}
	args := make([]hiprt.ProcessArg, len(e.unit.ABI.Args))
	for i, a := range e.unit.ABI.Args {
		if !a.Buffer {
			args[i].Value = binary.LittleEndian.AppendUint64(nil, x.scalars[a.Launch].Bits)[:a.Size]
			continue
		}
		b := x.buffers[a.Binding]
		args[i].Memory, args[i].Offset = b.memory, b.offset
		if x.reach != nil {
			args[i].Needs, args[i].Why = int(x.reach[a.Binding].Bytes), "the view at "+x.reach[a.Binding].View.String()
		}
	}
	g.launching.Lock()
	defer g.launching.Unlock()
	fn, err := g.loaded(ctx, e)
	var m *hiprt.Measured
	if err == nil {
		m, err = fn.Launch(ctx, shape, x.memory, args, x.measure)
		if err != nil {
			err = fmt.Errorf("run '%s': %w", x.kernel.Symbol, err)
		}
	}
	if err == nil {
		return m, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if useless(err) && g.process != nil {
		g.process.Close()
		g.process = nil
	}
	return nil, atKernel(err, x.kernel)
}

// useless reports whether the process that gave err is of no further use: it died,
// or a kernel's fault has poisoned the context, which only ends with the process.
func useless(err error) bool {
	var crash *hip.CrashError
	if errors.As(err, &crash) {
		return true
	}
	var e *hiprt.Error
	return errors.As(err, &e) && e.Code >= 700 && e.Code < 800
}

// atKernel places an error that has no place of its own at the kernel.
func atKernel(err error, k *kernel.Kernel) error {
	list := hip.Explain(err, nil)
	d := list[0]
	if !d.Span.Valid() {
		d.Span = k.Def.NameSpan
	}
	return d
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

// orphaned ends a device process whose parent is gone: it may be waiting for a
// kernel that never ends, where it does not see its input close.
func orphaned(parent int) {
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			os.Exit(exitMissing)
		}
	}
}
