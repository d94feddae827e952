package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
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
file (name=x.npy), or a size in bytes of zeros (name=zeros:4096). Workload parameters come from --workload,
a launch scalar of the same name, or the plan case. --out writes a buffer after the run; its
shape and element are those of the input file of the same buffer, or raw bytes.`,
		Example: `  loomc run ggml_scale_f32 --arg count=1024 --arg src=x.npy --arg dst=zeros:4096 --out dst=y.npy
  loomc run ggml_softmax_f32 … --device hip --repeat 100 --time`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.runExport(c, &o, args[0]) },
	}
	o.closeFlags.add(c)
	o.cacheFlags.add(c)
	f := c.Flags()
	f.StringVar(&o.device, "device", "cpu", "cpu (the reference executor), hip or cuda")
	f.StringArrayVar(&o.workload, "workload", nil, "workload parameter: name=value (repeatable)")
	f.StringArrayVar(&o.args, "arg", nil, "launch argument: name=number, name=file.npy or name=zeros:BYTES (repeatable)")
	f.StringArrayVar(&o.outs, "out", nil, "write a buffer after the run: name=file.npy (repeatable)")
	f.StringSliceVar(&o.sanitize, "sanitize", nil, "sanitizers to run with on the cpu; see 'loomc test'")
	f.StringArrayVar(&o.dead, "dead", nil, "bytes the launch must not depend on: binding[lo:hi]; see 'loomc test'")
	f.IntVar(&o.repeat, "repeat", 1, "launches to time")
	f.BoolVar(&o.timed, "time", false, "print the time of a launch")
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
}

func (a *app) runExport(c *cobra.Command, o *runOptions, name string) error {
	ctx := c.Context()
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
	launch := make([]exec.Arg, len(args))
	for i := range args {
		launch[i] = args[i].arg
	}
	var took time.Duration
	var report *exec.Report
	if o.device == "cpu" {
		san, err := parseSanitizers(o.sanitize, o.dead)
		if err != nil {
			return err
		}
		p, l := exec.Compile(k)
		if err := a.show(l); err != nil {
			return err
		}
		ln := exec.Launch{Geometry: geo, Args: launch, Options: exec.Options{Sanitize: san.mode, Count: o.counts, Trace: a.tracer(o)}}
		if san.determinism != nil {
			l, err := exec.CheckDeterminism(ctx, p, ln, *san.determinism)
			if err != nil {
				return a.showError(err)
			}
			if err := a.show(l); err != nil {
				return err
			}
		}
		start := time.Now()
		if report, err = p.Run(ctx, ln); err != nil {
			return a.showError(err)
		}
		took = time.Since(start)
	} else {
		g, err := a.openGPU(ctx, o.device, &o.cacheFlags)
		if err != nil {
			return err
		}
		defer g.runtime.Close()
		if o.timed {
			g.repeat = max(o.repeat, 1)
		}
		if _, err := g.Launch(ctx, k, geo, launch); err != nil {
			return a.showError(err)
		}
		took = g.took / time.Duration(max(o.repeat, 1))
	}
	for _, f := range outs {
		if err := writeArray(f.path, args[f.index]); err != nil {
			return err
		}
	}
	if !a.quiet {
		fmt.Fprintf(a.out, "%s on %s: %d × %d × %d workgroups of %d × %d × %d\n", k.Export, o.device,
			geo.Count[0], geo.Count[1], geo.Count[2], geo.Size[0], geo.Size[1], geo.Size[2])
	}
	if o.timed {
		fmt.Fprintf(a.out, "time per launch: %v\n", took)
	}
	if report == nil {
		return nil
	}
	if o.counts && report.Counts != nil {
		a.printCounts(report.Counts)
	}
	return a.show(report.Findings)
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
	if size, ok := strings.CutPrefix(text, "zeros:"); ok {
		n, err := strconv.ParseInt(size, 0, 64)
		if err != nil || n < 0 || n > 1<<34 {
			return runArg{}, fmt.Errorf("zeros:%s: want a number of bytes", size)
		}
		return runArg{arg: exec.BufferArg(make([]byte, n))}, nil
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
