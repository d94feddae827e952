package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/require"
	hiprt "github.com/loomc/loomc/hip/runtime"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/npy"
	"github.com/loomc/loomc/loom/kernel"
)

type runOptions struct {
	closeFlags
	cacheFlags
	device        string
	workload      []string
	args, outs    []string
	sanitize      []string
	dead          []string
	repeat        int
	format        string
	timed, counts bool
	trace         bool
	lane          int
	workgroup     int64
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:     "run EXPORT --arg NAME=VALUE… [--out NAME=FILE…]",
		GroupID: "corpus",
		Short:   "Run one export on given data, on the CPU or a GPU",
		Long: `Links and specialises one export, evaluates its launch geometry, and runs it once.

Every launch parameter needs an --arg: a scalar takes a number, a buffer a NumPy
file (name=x.npy), a raw file, or a size in bytes: name=zeros:4096, or
name=random:256M, finite numbers in every float format from a fixed seed. Workload
parameters come from --workload, a launch scalar of the same name, or the plan case.
Every buffer's length is held against what the kernel's views reach with these
values before anything runs. --out writes a buffer after the run; its shape and
element are those of the input file of the same buffer, or raw bytes.

--device hip and cuda load and launch in a child process: a crash of the driver or
of a kernel is a diagnostic. --time measures there: after the launch whose results
count and a warm-up, --repeat launches and as many device-to-device copies that move
the same bytes take turns, with enough sets of buffers to get past the device's
cache. It prints the time of a launch by events, the bytes it must move, the rate,
and the rate's share of what the copy reaches.`,
		Example: `  loomc run ggml_scale_f32 --arg count=1024 --arg src=x.npy --arg dst=zeros:4096 --out dst=y.npy
  loomc run ggml_scale_f32 --arg count=67108864 --arg src=random:256M --arg dst=zeros:256M \
    --device hip --time --repeat 100`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.runExport(c, &o, args[0]) },
	}
	o.closeFlags.add(c)
	o.cacheFlags.add(c)
	f := c.Flags()
	f.StringVar(&o.device, "device", "cpu", "cpu (the reference executor), hip or cuda")
	f.StringArrayVar(&o.workload, "workload", nil, "workload parameter: name=value (repeatable)")
	f.StringArrayVar(&o.args, "arg", nil, "launch argument: name=number, name=file.npy, name=zeros:BYTES or name=random:BYTES (repeatable)")
	f.StringArrayVar(&o.outs, "out", nil, "write a buffer after the run: name=file.npy (repeatable)")
	f.StringSliceVar(&o.sanitize, "sanitize", nil, "sanitizers to run with on the cpu; see 'loomc test'")
	f.StringArrayVar(&o.dead, "dead", nil, "bytes the launch must not depend on: binding[lo:hi]; see 'loomc test'")
	f.IntVar(&o.repeat, "repeat", 0, "launches to time on a device (default 100; with --time)")
	f.BoolVar(&o.timed, "time", false, "print the time of a launch; on hip and cuda also its rate and a copy's")
	f.StringVar(&o.format, "format", "text", "text or json")
	f.BoolVar(&o.counts, "count", false, "print executed operations, loads, stores and bytes (cpu)")
	f.BoolVar(&o.trace, "trace", false, "print the value of every operation of one work item (cpu)")
	f.IntVar(&o.lane, "lane", 0, "work item that --trace follows, counted through the workgroup")
	f.Int64Var(&o.workgroup, "workgroup", 0, "workgroup that --trace follows, counted through the grid")
	return c
}

// runArg is one launch argument as the user gave it.
type runArg struct {
	arg   exec.Arg
	array *npy.Array // shape and element of a buffer read from a file
	// A buffer that is not read from a file has its bytes made where they are
	// needed, which for a large one on a device is not here.
	made bool
	size int
	seed *uint64 // of random contents; nil means zeros
}

// bytes returns the length of a buffer.
func (x *runArg) bytes() int {
	if x.made {
		return x.size
	}
	return len(x.arg.Buffer)
}

// here makes the contents of a buffer in this process.
func (x *runArg) here() {
	if !x.made {
		return
	}
	b := make([]byte, x.size)
	if x.seed != nil {
		hiprt.Random(b, *x.seed, 0)
	}
	x.arg, x.made = exec.BufferArg(b), false
}

// check refuses flags that do not go together.
func (o *runOptions) check() error {
	usage := func(format string, args ...any) error { return &status{exitUsage, fmt.Errorf(format, args...)} }
	switch {
	case o.format != "text" && o.format != "json":
		return usage("--format %s: want text or json", o.format)
	case o.repeat < 0:
		return usage("--repeat %d: want a number of launches", o.repeat)
	case o.device == "cpu" && o.repeat > 0:
		return usage("--repeat counts the launches timed on a device; the cpu runs once: use --device hip or cuda")
	case o.repeat > 0 && !o.timed:
		return usage("--repeat goes with --time")
	case o.device != "cpu" && (len(o.sanitize) > 0 || len(o.dead) > 0 || o.counts || o.trace):
		return usage("--sanitize, --dead, --count and --trace work with --device cpu")
	}
	return nil
}

// defaultRepeat is how many launches are timed when nobody says.
const defaultRepeat = 100

func (a *app) runExport(c *cobra.Command, o *runOptions, name string) error {
	ctx := c.Context()
	if err := o.check(); err != nil {
		return err
	}
	var g *gpu
	if o.device != "cpu" {
		var err error
		if g, err = a.openGPU(ctx, o.device, &o.cacheFlags); err != nil {
			return err
		}
		defer g.Close()
		o.target = cmp.Or(o.target, g.processor())
	}
	_, _, cl, ds, err := o.closed(c, a, name)
	if err != nil {
		return err
	}
	if err := a.show(ds); err != nil {
		return err
	}
	if cl == nil || cl.Kernel == nil {
		return failed(errors.New("the export did not close"))
	}
	k := cl.Kernel
	args, err := readArgs(k, o.args)
	if err != nil {
		return err
	}
	caseValues, _ := cl.WorkloadValues()
	work, err := workloadValues(k, o.workload, args, caseValues)
	if err != nil {
		return err
	}
	geo, err := kernel.EvalLaunch(k, work)
	if err != nil {
		return a.showError(err)
	}
	outs, err := outFiles(k, o.outs)
	if err != nil {
		return err
	}
	r := &runResult{kernel: k, geometry: geo, workload: work, device: o.device}
	launch := require.Launch{Kernel: k, Geometry: geo, Workload: work}
	var lengths []int64
	for i := range args {
		if args[i].arg.IsBuffer {
			lengths = append(lengths, int64(args[i].bytes()))
		} else {
			launch.Scalars = append(launch.Scalars, int64(args[i].arg.Bits))
		}
	}
	r.scalars = launch.Scalars
	reach := launch.Reach()
	if err := a.show(launch.Check(reach, lengths)); err != nil {
		return err
	}
	r.traffic = launch.Traffic(reach, lengths)
	var report *exec.Report
	if o.device == "cpu" {
		report, err = a.runHere(ctx, o, r, args)
	} else {
		err = a.runDevice(ctx, g, o, r, args, reach, outs)
	}
	if err != nil {
		return err
	}
	for _, f := range outs {
		if err := writeArray(f.path, args[f.index]); err != nil {
			return err
		}
	}
	if err := a.printRun(o, r); err != nil {
		return err
	}
	if report == nil {
		return nil
	}
	if o.counts && report.Counts != nil {
		a.printCounts(report.Counts)
	}
	return a.show(report.Findings)
}

// runHere runs the launch on the reference executor.
func (a *app) runHere(ctx context.Context, o *runOptions, r *runResult, args []runArg) (*exec.Report, error) {
	san, err := parseSanitizers(o.sanitize, o.dead)
	if err != nil {
		return nil, err
	}
	p, l := exec.Compile(r.kernel)
	if err := a.show(l); err != nil {
		return nil, err
	}
	ln := exec.Launch{Geometry: r.geometry, Options: exec.Options{Sanitize: san.mode, Count: o.counts, Trace: a.tracer(o)}}
	for i := range args {
		args[i].here()
		ln.Args = append(ln.Args, args[i].arg)
	}
	if san.determinism != nil {
		l, err := exec.CheckDeterminism(ctx, p, ln, *san.determinism)
		if err != nil {
			return nil, a.showError(err)
		}
		if err := a.show(l); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	report, err := p.Run(ctx, ln)
	if err != nil {
		return nil, a.showError(err)
	}
	r.elapsed = time.Since(start)
	return report, nil
}

// runDevice runs the launch on a GPU. Only buffers that --out asks for come back.
func (a *app) runDevice(ctx context.Context, g *gpu, o *runOptions, r *runResult, args []runArg, reach []require.Reach, outs []outFile) error {
	r.info = &g.info
	x := gpuLaunch{kernel: r.kernel, geometry: r.geometry, reach: reach}
	for i := range args {
		if !args[i].arg.IsBuffer {
			x.scalars = append(x.scalars, args[i].arg)
			continue
		}
		wanted := slices.ContainsFunc(outs, func(f outFile) bool { return f.index == i })
		m := hiprt.Memory{Size: args[i].bytes(), Data: args[i].arg.Buffer, Random: args[i].seed}
		if args[i].made {
			m.Data = nil
		}
		if wanted {
			if args[i].made {
				args[i].arg, args[i].made = exec.BufferArg(make([]byte, m.Size)), false
			}
			m.Out = args[i].arg.Buffer
		}
		x.buffers = append(x.buffers, gpuBuffer{memory: len(x.memory)})
		x.memory = append(x.memory, m)
	}
	if o.timed {
		x.measure = &hiprt.Measure{Repeat: cmp.Or(o.repeat, defaultRepeat), Bytes: int(r.traffic.Read + r.traffic.Write)}
	}
	measured, err := g.run(ctx, x)
	if err != nil {
		return a.showError(err)
	}
	r.measured = measured
	return nil
}

// tracer prints the values of one work item, each with its source line.
func (a *app) tracer(o *runOptions) *exec.Trace {
	if !o.trace {
		return nil
	}
	return &exec.Trace{Workgroup: o.workgroup, Item: o.lane, Event: func(op *loom.Op, v *loom.Value, text string) {
		fmt.Fprintf(a.out, "%s: %%%s = %s\n", op.NameSpan(), v.Name, text)
	}}
}

// printCounts prints what a roofline needs: bytes by memory space and operations.
func (a *app) printCounts(c *exec.Counts) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	spaces := make([]string, 0, len(c.LoadBytes))
	for s := range c.LoadBytes {
		spaces = append(spaces, s)
	}
	for s := range c.StoreBytes {
		spaces = append(spaces, s)
	}
	slices.Sort(spaces)
	for _, s := range slices.Compact(spaces) {
		fmt.Fprintf(w, "%s memory\t%d bytes read\t%d bytes written\n", s, c.LoadBytes[s], c.StoreBytes[s])
	}
	fmt.Fprintf(w, "elements\t%d loads\t%d stores\n", c.Loads, c.Stores)
	fmt.Fprintf(w, "arithmetic\t%d float operations\t%d of matrix instructions\t%d lane operations in all\n", c.FloatOps, c.MatrixFlops, c.LaneOps)
	w.Flush()
	w = tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "OP\tITEMS\tLANE OPS\t")
	for _, o := range c.Ops {
		fmt.Fprintf(w, "%s\t%d\t%d\t\n", o.Op, o.Items, o.Lanes)
	}
	w.Flush()
}

// showError shows an error that is a diagnostic or a list of them.
func (a *app) showError(err error) error {
	var d diag.Diagnostic
	var l diag.List
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &l):
		return a.show(l)
	case errors.As(err, &d):
		return a.show(diag.List{d})
	}
	return failed(err)
}

// pairs splits name=value flags.
func pairs(flag string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range list {
		n, v, ok := strings.Cut(s, "=")
		if !ok || n == "" {
			return nil, &status{exitUsage, fmt.Errorf("%s %s: want name=value", flag, s)}
		}
		if _, dup := out[n]; dup {
			return nil, &status{exitUsage, fmt.Errorf("%s %s is given twice", flag, n)}
		}
		out[n] = v
	}
	return out, nil
}

// readArgs reads a value for every launch parameter, in order.
func readArgs(k *kernel.Kernel, flags []string) ([]runArg, error) {
	given, err := pairs("--arg", flags)
	if err != nil {
		return nil, err
	}
	var out []runArg
	var missingArgs []string
	for _, p := range k.Def.Params {
		v, ok := given[p.Name]
		delete(given, p.Name)
		if !ok {
			missingArgs = append(missingArgs, fmt.Sprintf("%s: %s", p.Name, p.Type))
			continue
		}
		x, err := readArg(p, v)
		if err != nil {
			return nil, &status{exitUsage, fmt.Errorf("--arg %s: %w", p.Name, err)}
		}
		out = append(out, x)
	}
	if len(missingArgs) > 0 {
		return nil, &status{exitUsage, fmt.Errorf("kernel '@%s' also needs --arg for %s", k.Symbol, strings.Join(missingArgs, ", "))}
	}
	for n := range given {
		return nil, &status{exitUsage, fmt.Errorf("--arg %s: kernel '@%s' has no such launch parameter", n, k.Symbol)}
	}
	return out, nil
}

func readArg(p *loom.Value, text string) (runArg, error) {
	if p.Type.Kind != loom.Buffer {
		if p.Type.Kind.IsFloat() {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return runArg{}, fmt.Errorf("'%s' is not a number", text)
			}
			return runArg{arg: exec.FloatArg(p.Type.Kind, f)}, nil
		}
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return runArg{}, fmt.Errorf("'%s' is not an integer", text)
		}
		return runArg{arg: exec.IntArg(n)}, nil
	}
	for _, kind := range []string{"zeros", "random"} {
		text, ok := strings.CutPrefix(text, kind+":")
		if !ok {
			continue
		}
		n, err := parseBytes(text)
		if err != nil {
			return runArg{}, fmt.Errorf("%s:%s: %w", kind, text, err)
		}
		x := runArg{arg: exec.Arg{IsBuffer: true}, made: true, size: n}
		if kind == "random" {
			// Two buffers of one launch differ, the same buffer is the same every time.
			h := fnv.New64a()
			h.Write([]byte(p.Name))
			seed := h.Sum64()
			x.seed = &seed
		}
		return x, nil
	}
	b, err := os.ReadFile(text)
	if err != nil {
		return runArg{}, fmt.Errorf("read buffer: %w", err)
	}
	if !strings.HasSuffix(text, ".npy") {
		return runArg{arg: exec.BufferArg(b)}, nil
	}
	arr, err := npy.Decode(b)
	if err != nil {
		return runArg{}, fmt.Errorf("%s: %w", text, err)
	}
	return runArg{arg: exec.BufferArg(arr.Data), array: arr}, nil
}

// parseBytes reads a number of bytes, with K, M or G for powers of 1024.
func parseBytes(text string) (int, error) {
	digits, shift := text, 0
	for i, unit := range []string{"K", "M", "G"} {
		if d, ok := strings.CutSuffix(text, unit); ok {
			digits, shift = d, 10*(i+1)
		}
	}
	const most = 1 << 40
	n, err := strconv.ParseInt(digits, 0, 64)
	if err != nil || n < 0 || n > most>>shift {
		return 0, errors.New("want a number of bytes, as in 4096, 64K, 256M or 1G")
	}
	return int(n) << shift, nil
}

// workloadValues collects the workload parameters: flags, launch scalars of the
// same name, the plan case.
func workloadValues(k *kernel.Kernel, flags []string, args []runArg, fromCase []int64) ([]int64, error) {
	given, err := pairs("--workload", flags)
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, len(k.Workload))
	for i, w := range k.Workload {
		if text, ok := given[w.Name]; ok {
			n, err := strconv.ParseInt(text, 0, 64)
			if err != nil {
				return nil, &status{exitUsage, fmt.Errorf("--workload %s: '%s' is not an integer", w.Name, text)}
			}
			out = append(out, n)
			continue
		}
		j := slices.IndexFunc(k.Def.Params, func(p *loom.Value) bool { return p.Name == w.Name && p.Type.Kind.IsIndexLike() })
		switch {
		case j >= 0:
			out = append(out, int64(args[j].arg.Bits))
		case i < len(fromCase):
			out = append(out, fromCase[i])
		default:
			return nil, &status{exitUsage, fmt.Errorf("give the workload parameter with --workload %s=N", w.Name)}
		}
	}
	return out, nil
}

type outFile struct {
	path  string
	index int // launch parameter
}

func outFiles(k *kernel.Kernel, flags []string) ([]outFile, error) {
	given, err := pairs("--out", flags)
	if err != nil {
		return nil, err
	}
	var out []outFile
	for i, p := range k.Def.Params {
		if path, ok := given[p.Name]; ok && p.Type.Kind == loom.Buffer {
			out = append(out, outFile{path, i})
			delete(given, p.Name)
		}
	}
	for n := range given {
		return nil, &status{exitUsage, fmt.Errorf("--out %s: kernel '@%s' has no such buffer", n, k.Symbol)}
	}
	return out, nil
}

// writeArray writes a buffer as a NumPy array: in the shape it was read with, or
// as bytes.
func writeArray(path string, x runArg) error {
	arr := x.array
	if arr == nil {
		arr = &npy.Array{Descr: "|u1", Shape: []int64{int64(len(x.arg.Buffer))}}
	}
	data := x.arg.Buffer
	if strings.HasSuffix(path, ".npy") {
		data = npy.Encode(&npy.Array{Descr: arr.Descr, Shape: arr.Shape, Data: data})
	}
	if err := corpus.WriteFileAtomic(path, data, 0o644); err != nil {
		return failed(fmt.Errorf("write result: %w", err))
	}
	return nil
}
