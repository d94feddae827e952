package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/hip"
	loomexec "github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/loom/kernel"
)

// emulator runs built gfx1151 code objects on the CPU through the gfx-emu
// program, which checks every access against exact byte bounds and can interleave
// waves at random. It is a device of 'loomc test' for the project's own tests:
// the objects that users load, with the values that the executor computed.
type emulator struct {
	program string // gfxemu.py
	builder *hip.Builder
	dir     string
	order   string
	quantum int
	seed    int

	mu   sync.Mutex
	n    int
	objs map[*kernel.Kernel]*emulated
}

type emulated struct {
	once sync.Once
	path string
	unit *codegen.Unit
	err  error
}

// emulatorArch is the processor the emulator executes.
const emulatorArch = "gfx1151"

// emulatorDevice opens the emulator found in the folder GFXEMU names.
func (a *app) emulatorDevice(ctx context.Context) (check.Device, func(), error) {
	folder := os.Getenv("GFXEMU")
	program := filepath.Join(folder, "gfxemu.py")
	if _, err := os.Stat(program); folder == "" || err != nil {
		return nil, nil, missing(errors.New("--device gfxemu: GFXEMU must name the folder of gfxemu.py"))
	}
	var f cacheFlags
	b, err := f.caches()
	if err != nil {
		return nil, nil, err
	}
	if err := f.compiler(ctx, b, ""); err != nil {
		return nil, nil, missing(err)
	}
	dir, err := os.MkdirTemp("", "loomc-sim-")
	if err != nil {
		return nil, nil, missing(fmt.Errorf("make a work directory: %w", err))
	}
	return &emulator{program: program, builder: b, dir: dir, order: "random", quantum: 7, seed: 1, objs: map[*kernel.Kernel]*emulated{}},
		func() { os.RemoveAll(dir) }, nil
}

// Name implements check.Device.
func (e *emulator) Name() string { return "gfxemu" }

func (e *emulator) object(ctx context.Context, k *kernel.Kernel) (*emulated, error) {
	e.mu.Lock()
	o := e.objs[k]
	if o == nil {
		o = &emulated{}
		e.objs[k] = o
	}
	n := len(e.objs)
	e.mu.Unlock()
	o.once.Do(func() {
		u, ds := codegen.Emit(k, codegen.Options{Line: true, Tool: "loomc"})
		if u == nil {
			o.err = ds
			return
		}
		out := e.builder.Build(ctx, hip.Job{Name: u.Symbol + ".hip", Source: u.Source, Arch: emulatorArch, Wave64: u.WaveSize == 64})
		if out.Err != nil {
			o.err = hip.Explain(out.Err, kernelSources(k))
			return
		}
		o.unit = u
		o.path = filepath.Join(e.dir, fmt.Sprintf("%d-%s.co", n, u.Symbol))
		o.err = os.WriteFile(o.path, out.Output.Object, 0o600)
	})
	return o, o.err
}

// Launch implements check.Device.
func (e *emulator) Launch(ctx context.Context, k *kernel.Kernel, geo kernel.Geometry, args []loomexec.Arg) (*loomexec.Report, error) {
	for _, n := range geo.Count {
		if n == 0 {
			return nil, nil
		}
	}
	o, err := e.object(ctx, k)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.n++
	dir := filepath.Join(e.dir, fmt.Sprintf("launch%d", e.n))
	e.mu.Unlock()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a launch directory: %w", err)
	}
	defer os.RemoveAll(dir)
	buffers, scalars := splitArgs(args)
	type outBuffer struct {
		path string
		host []byte
	}
	files := map[*byte]string{}
	var outs []outBuffer
	jobArgs := []map[string]any{}
	for _, x := range o.unit.ABI.Args {
		if !x.Buffer {
			key := "u32"
			bits := scalars[x.Launch].Bits
			if x.Size == 8 {
				key = "u64"
			} else {
				bits = uint64(uint32(bits))
			}
			jobArgs = append(jobArgs, map[string]any{key: bits})
			continue
		}
		host := buffers[x.Binding].Buffer
		name, ok := files[unsafe.SliceData(host)]
		if !ok {
			name = fmt.Sprintf("b%d.bin", x.Binding)
			files[unsafe.SliceData(host)] = name
			if err := os.WriteFile(filepath.Join(dir, name), host, 0o600); err != nil {
				return nil, fmt.Errorf("write binding '%s': %w", x.Name, err)
			}
			outs = append(outs, outBuffer{filepath.Join(dir, name), host})
		}
		arg := map[string]any{"buffer": name}
		if x.Access&kernel.Write == 0 && !shared(buffers, x.Binding) {
			arg["ro"] = 1
		}
		jobArgs = append(jobArgs, arg)
	}
	job := map[string]any{"co": o.path, "kernel": o.unit.Symbol, "grid": geo.Count, "block": geo.Size, "args": jobArgs,
		"order": e.order, "quantum": e.quantum, "seed": e.seed, "threads": 1}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode the job: %w", err)
	}
	path := filepath.Join(dir, "job.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, fmt.Errorf("write the job: %w", err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "python3", e.program, path)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("gfx-emu on '%s': %w: %s", k.Symbol, err, lastLines(stdout.String()+stderr.String(), 6))
	}
	for _, b := range outs {
		data, err := os.ReadFile(b.path)
		if err != nil {
			return nil, fmt.Errorf("read results: %w", err)
		}
		copy(b.host, data)
	}
	return nil, nil
}

// shared reports whether another binding uses the same storage.
func shared(buffers []loomexec.Arg, i int) bool {
	for j := range buffers {
		if j != i && unsafe.SliceData(buffers[j].Buffer) == unsafe.SliceData(buffers[i].Buffer) {
			return true
		}
	}
	return false
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
