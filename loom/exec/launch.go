package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

// Geometry is how a kernel is launched; see kernel.EvalLaunch.
type Geometry = kernel.Geometry

// Arg is one launch argument: storage for a buffer parameter, or the bits of a
// scalar.
type Arg struct {
	Buffer   []byte
	Bits     uint64
	IsBuffer bool
	// Offset is where Buffer starts in its allocation, in bytes; promises about
	// alignment are checked against it.
	Offset int64
}

// BufferArg returns an argument that binds b to a buffer parameter. Two
// arguments may share storage. The length of b is the exact binding length.
func BufferArg(b []byte) Arg { return Arg{Buffer: b, IsBuffer: true} }

// IntArg returns an integer, index or offset argument.
func IntArg(v int64) Arg { return Arg{Bits: uint64(v)} }

// FloatArg returns a float argument of kind k.
func FloatArg(k loom.Kind, v float64) Arg { return Arg{Bits: floatBits(k, v)} }

// Order is the order in which workgroups run.
type Order uint8

// Workgroup orders. Forward runs independent workgroups in parallel; the others
// use one core.
const (
	Forward Order = iota
	Reverse
	Shuffled // by Options.Seed
)

// Options steer a run.
type Options struct {
	// Workers bounds the cores used; 0 means all. Results do not depend on it:
	// kernels whose workgroups meet in global atomics run in order on one core.
	Workers int
	Order   Order
	// Seed orders Shuffled workgroups and, when Fill is FillRandom, picks the bits
	// of memory that nobody wrote.
	Seed uint64
	Fill Fill
	// Sanitize is the set of sanitizers to run with.
	Sanitize Mode
	// MaxFindings bounds the sanitizer reports of one launch; 0 means 20.
	MaxFindings int
	// Outputs marks bindings, by index among the buffers, whose bytes count as
	// never written before the launch.
	Outputs map[int]bool
	// Trace receives the value of every op of one lane; see Trace.
	Trace *Trace
	// Count asks for Report.Counts.
	Count bool
}

// Fill says what memory holds that nobody wrote.
type Fill uint8

// Fill patterns.
const (
	FillOnes   Fill = iota // all-ones bytes: NaN, -1
	FillRandom             // bits from Options.Seed
	FillZero
)

// Launch is one kernel launch.
type Launch struct {
	Geometry Geometry
	Args     []Arg // one per launch parameter, in order
	Options  Options
}

// Report is what a run found and counted.
type Report struct {
	Findings   diag.List // sanitizer reports, in workgroup order
	Workgroups int64
	Counts     *Counts
}

// launch is the shared, immutable side of one run.
type launch struct {
	ctx  context.Context
	prog *Program
	code *boundCode
	geo  Geometry
	args []Arg
	opt  Options
	san  *sanShared
}

// Run executes the launch. The error is a diag.Diagnostic for a fault of the
// kernel or the arguments, or the context's error. Buffers are written in place.
func (p *Program) Run(ctx context.Context, ln Launch) (*Report, error) {
	return p.execute(ctx, ln, 0, nil)
}

// execute runs the launch with the instrumentations of extra besides those the
// options ask for; done sees the frames afterwards.
func (p *Program) execute(ctx context.Context, ln Launch, extra Mode, done func([]*frame)) (*Report, error) {
	geo := ln.Geometry
	lanes := int64(1)
	total := int64(1)
	for i := range 3 {
		if geo.Cluster[i] == 0 {
			geo.Cluster[i] = 1
		}
		lanes *= geo.Size[i]
		total *= geo.Count[i]
	}
	if lanes < 1 || lanes > 1024 {
		return nil, diag.Errorf(p.def.NameSpan, "EXEC/LAUNCH", "a workgroup of @%s has %d items; 1 to 1024 are possible", p.def.Name, lanes)
	}
	if total < 0 {
		return nil, diag.Errorf(p.def.NameSpan, "EXEC/LAUNCH", "the launch of @%s has %d workgroups", p.def.Name, total)
	}
	if len(ln.Args) != len(p.def.Params) {
		return nil, diag.Errorf(p.def.NameSpan, "EXEC/LAUNCH", "@%s takes %d launch arguments, got %d", p.def.Name, len(p.def.Params), len(ln.Args))
	}
	for i, v := range p.def.Params {
		if (v.Type.Kind == loom.Buffer) != ln.Args[i].IsBuffer {
			return nil, diag.Errorf(p.def.NameSpan, "EXEC/LAUNCH", "launch argument %d of @%s, %%%s, is %s", i, p.def.Name, v.Name, v.Type)
		}
	}
	mode := ln.Options.Sanitize&SanAll | extra
	if ln.Options.Trace != nil {
		mode |= modeTrace
	}
	if ln.Options.Count {
		mode |= modeCount
	}
	code, ds := p.bind(mode, int(lanes))
	if code == nil {
		return nil, ds
	}
	r := &launch{ctx: ctx, prog: p, code: code, geo: geo, args: ln.Args, opt: ln.Options}
	rep := &Report{Workgroups: total}
	if mode&SanAll != 0 {
		r.san = newSanShared(r)
	}
	order := r.order(total)
	workers := ln.Options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if code.ordered || mode != 0 || ln.Options.Order != Forward {
		workers = 1
	}
	workers = int(min(int64(workers), max(total, 1)))
	var (
		mu    sync.Mutex
		next  int64
		first = int64(math.MaxInt64) // position of the earliest failure
		fail  error
		wg    sync.WaitGroup
	)
	frames := make([]*frame, workers)
	for w := range workers {
		frames[w] = newFrame(code, r)
		frames[w].bindArgs()
		wg.Go(func() {
			f := frames[w]
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= total || i > first
				mu.Unlock()
				if stop {
					return
				}
				if err := f.workgroup(order(i)); err != nil {
					mu.Lock()
					if i < first {
						first, fail = i, err
					}
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	if r.san != nil {
		rep.Findings = r.san.findings()
	}
	if done != nil {
		done(frames)
	}
	if ln.Options.Count {
		rep.Counts = collectCounts(code, frames)
	}
	if fail == nil && ctx.Err() != nil {
		fail = ctx.Err()
	}
	return rep, fail
}

// order returns the workgroup that runs at position i.
func (r *launch) order(total int64) func(i int64) int64 {
	switch r.opt.Order {
	case Reverse:
		return func(i int64) int64 { return total - 1 - i }
	case Shuffled:
		perm := rand.New(rand.NewPCG(r.opt.Seed, 0x5eed)).Perm(int(total))
		return func(i int64) int64 { return int64(perm[i]) }
	}
	return func(i int64) int64 { return i }
}

// fillBytes overwrites memory nobody wrote.
func (r *launch) fillBytes(b []byte, key uint64) {
	switch r.opt.Fill {
	case FillZero:
		clear(b)
	case FillRandom:
		FillRandomBytes(b, r.opt.Seed^key*0x9e3779b97f4a7c15)
	default:
		for i := range b {
			b[i] = 0xff
		}
	}
}

// FillRandomBytes fills b with bits that depend on seed alone.
func FillRandomBytes(b []byte, seed uint64) {
	var w [8]byte
	for i := 0; i < len(b); i += 8 {
		seed += 0x9e3779b97f4a7c15
		binary.LittleEndian.PutUint64(w[:], mix(seed))
		copy(b[i:], w[:])
	}
}

// mix is the finaliser of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (f *frame) bindArgs() {
	for i, p := range f.code.params {
		a := f.run.args[i]
		if p.buf >= 0 {
			f.bufs[p.buf].data = a.Buffer
			continue
		}
		bits := a.Bits & widthMask(p.kind)
		f.setWord(wideKind(p.kind), f.code.param[i], bits)
	}
	if f.run.san != nil {
		f.san = newSanState(f)
	}
}

// workgroup runs one workgroup.
func (f *frame) workgroup(lin int64) (err error) {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	c := f.geo.Count
	f.wgLin = lin
	f.wg = [3]int64{lin % c[0], lin / c[0] % c[1], lin / (c[0] * c[1])}
	f.start()
	if f.san != nil {
		f.san.startWorkgroup(f)
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fault:
			err = f.faultError(r)
		case cancelled:
			err = r.err
		case stopFindings:
			err = nil
		default:
			err = f.internal(r)
		}
	}()
	f.exec()
	return nil
}

// internal turns a bug of the executor into a diagnostic at the op it was running.
func (f *frame) internal(r any) error {
	var sp diag.Span
	name := "launch"
	if f.pc > 0 && f.pc <= len(f.ins) && f.ins[f.pc-1].op != nil {
		sp, name = f.ins[f.pc-1].op.Span, f.ins[f.pc-1].op.Name()
	}
	return diag.Errorf(sp, codeInternal, "the executor failed in %s: %v (%s)", name, r, f.where1(-1))
}

// faultError renders a fault with the place and the items it happened in.
func (f *frame) faultError(r fault) error {
	var sp diag.Span
	name := "launch"
	if r.in != nil && r.in.op != nil {
		sp, name = r.in.op.Span, r.in.op.Name()
	}
	code := "EXEC/BOUNDS"
	if r.msg != "" && r.lane >= 0 && name == "kernel.assert" {
		code = "EXEC/ASSERT"
	}
	d := diag.Errorf(sp, code, "%s %s (%s)", name, r.msg, f.where1(r.lane))
	d = f.run.withSite(d, r.in)
	if code == "EXEC/BOUNDS" {
		d = d.WithHelp("guard the access with the real extent, or give the binding the bytes the kernel addresses")
	}
	return d
}

// where1 names the workgroup, lane and kernel of an event.
func (f *frame) where1(lane int) string {
	s := fmt.Sprintf("kernel @%s, workgroup (%d, %d, %d)", f.run.prog.def.Name, f.wg[0], f.wg[1], f.wg[2])
	if lane >= 0 {
		s += fmt.Sprintf(", item (%d, %d, %d), subgroup %d lane %d",
			workitem(f, 0, lane), workitem(f, 1, lane), workitem(f, 2, lane), lane/f.wave, lane%f.wave)
	}
	return s
}

// withSite adds the calls an inlined op came from.
func (r *launch) withSite(d diag.Diagnostic, in *instr) diag.Diagnostic {
	if in == nil {
		return d
	}
	return r.withOpSite(d, in.op)
}

func (r *launch) withOpSite(d diag.Diagnostic, op *loom.Op) diag.Diagnostic {
	if op == nil || r.prog.Kernel == nil {
		return d
	}
	for s := r.prog.Kernel.SiteOf(op); s != nil; s = s.Parent {
		d = d.WithRelated(s.Call, "in @%s, called here", s.Callee)
	}
	return d
}

// Call runs a function compiled with CompileFunc and returns the bits of its
// results.
func (p *Program) Call(ctx context.Context, args []uint64) ([][]uint64, error) {
	b, ds := p.bind(0, 1)
	if b == nil {
		return nil, ds
	}
	if len(args) != len(b.params) {
		return nil, diag.Errorf(p.def.NameSpan, "EXEC/LAUNCH", "@%s takes %d arguments, got %d", p.def.Name, len(b.params), len(args))
	}
	r := &launch{ctx: ctx, prog: p, code: b, geo: Geometry{Count: [3]int64{1, 1, 1}, Size: [3]int64{1, 1, 1}, Cluster: [3]int64{1, 1, 1}}}
	for i, a := range args {
		if b.params[i].buf >= 0 {
			return nil, diag.Errorf(p.def.NameSpan, "EXEC/LAUNCH", "argument %d of @%s is a buffer", i, p.def.Name)
		}
		r.args = append(r.args, Arg{Bits: a})
	}
	f := newFrame(b, r)
	f.bindArgs()
	if err := f.workgroup(0); err != nil {
		return nil, err
	}
	var out [][]uint64
	for _, o := range b.out {
		at := int(b.regs[o.r.v].at + o.r.c)
		v := make([]uint64, o.n)
		for i := range v {
			v[i] = f.word(wideKind(o.kind), at+i)
		}
		out = append(out, v)
	}
	return out, nil
}

// IsFault reports whether err is a fault of the kernel, as opposed to a
// cancelled context.
func IsFault(err error) bool {
	var d diag.Diagnostic
	return errors.As(err, &d)
}
