package check

import (
	"context"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
)

// Provider hands out what a case calls, linked and specialised.
type Provider interface {
	// Kernel returns the closed kernel of a symbol (without '@').
	Kernel(symbol string) (*kernel.Kernel, diag.List)
}

// FuncProvider is a Provider that also knows ordinary functions. The definition
// it returns has no calls and no config reads left. For a kernel it returns nil
// and no error, and func.call launches it.
type FuncProvider interface {
	Provider
	Func(symbol string) (*loom.Def, diag.List)
}

// Device runs launches.
type Device interface {
	Name() string
	// Launch runs the kernel and leaves the results in the arguments' buffers. The
	// report may be nil.
	Launch(ctx context.Context, k *kernel.Kernel, g kernel.Geometry, args []exec.Arg) (*exec.Report, error)
}

// CPU is the device that executes kernels with package exec. It compiles each
// kernel once and is safe for concurrent use.
type CPU struct {
	// Options are used for every launch.
	Options exec.Options
	// Determinism, when set, also runs every launch in different orders and with
	// different bits in memory that must not matter; see exec.CheckDeterminism.
	Determinism *exec.Determinism

	mu    sync.Mutex
	progs map[*kernel.Kernel]*compiled
}

type compiled struct {
	once sync.Once
	p    *exec.Program
	ds   diag.List
}

// Name returns "cpu".
func (c *CPU) Name() string { return "cpu" }

// Program returns the compiled kernel.
func (c *CPU) Program(k *kernel.Kernel) (*exec.Program, diag.List) {
	c.mu.Lock()
	if c.progs == nil {
		c.progs = map[*kernel.Kernel]*compiled{}
	}
	e := c.progs[k]
	if e == nil {
		e = &compiled{}
		c.progs[k] = e
	}
	c.mu.Unlock()
	e.once.Do(func() { e.p, e.ds = exec.Compile(k) })
	return e.p, e.ds
}

// Launch implements Device.
func (c *CPU) Launch(ctx context.Context, k *kernel.Kernel, g kernel.Geometry, args []exec.Arg) (*exec.Report, error) {
	p, ds := c.Program(k)
	if p == nil {
		return nil, ds
	}
	ln := exec.Launch{Geometry: g, Args: args, Options: c.Options}
	var extra diag.List
	if c.Determinism != nil {
		found, err := exec.CheckDeterminism(ctx, p, ln, *c.Determinism)
		if err != nil {
			return nil, err
		}
		extra = found
	}
	rep, err := p.Run(ctx, ln)
	if rep != nil {
		rep.Findings = append(rep.Findings, extra...)
	}
	return rep, err
}
