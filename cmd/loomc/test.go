package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec/check"
)

type testOptions struct {
	corpusFlags
	configFlags
	libraries []string
	cases     string
	device    string
	format    string
	sanitize  []string
	target    string
	dir       string
	list      bool
	dead      []string
}

// testUnit is one file of test cases with what it links against.
type testUnit struct {
	module   *loom.Module
	provider check.Provider
	dir      string
}

func (a *app) testCommand() *cobra.Command {
	var o testOptions
	c := &cobra.Command{
		Use:     "test [FILE… [--library FILE…]]",
		GroupID: "corpus",
		Short:   "Run the check.case tests of a corpus or of files, with no GPU",
		Long: `Runs check.case tests. Kernels are linked, specialised and executed on the CPU by
the reference executor; --sanitize watches the run for races, accesses out of
bounds, reads of memory never written, broken promises, NaNs, divergent barriers
and results that depend on what they must not.

Without FILE arguments every test of the corpus runs (the bundled one unless
--pin or --corpus names another). A file's config.def lines specialise the kernels
it launches.`,
		Example: `  loomc test
  loomc test --case '*softmax*' --sanitize=all
  loomc test my_checks.loom --library kernels.loom --format junit`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTarget(o.target); err != nil {
				return err
			}
			return a.runTests(c, &o, args)
		},
	}
	o.corpusFlags.add(c)
	o.configFlags.add(c)
	f := c.Flags()
	f.StringArrayVar(&o.libraries, "library", nil, "file with definitions that FILE arguments use (repeatable)")
	f.StringVar(&o.cases, "case", "*", "run only the cases whose name matches this pattern")
	f.StringVar(&o.device, "device", "cpu", "cpu, hip or cuda")
	f.StringVar(&o.format, "format", "text", "text, json or junit")
	f.StringSliceVar(&o.sanitize, "sanitize", nil, "race, bounds, init, assume, nan, divergence, determinism or all (comma-separated)")
	f.StringVar(&o.target, "target", "", "processor to link kernels for (default: with --device hip the device's own, else what each kernel names)")
	f.StringVar(&o.dir, "dir", "", "directory for npy files (default: the test file's)")
	f.StringArrayVar(&o.dead, "dead", nil, "bytes a launch must not depend on: [kernel:]binding[lo:hi], for the determinism sanitizer (repeatable)")
	f.BoolVar(&o.list, "list", false, "list the cases instead of running them")
	return c
}

func (a *app) runTests(c *cobra.Command, o *testOptions, args []string) error {
	ctx := c.Context()
	switch o.format {
	case "text", "json", "junit":
	default:
		return &status{exitUsage, fmt.Errorf("--format %s: want text, json or junit", o.format)}
	}
	if _, err := path.Match(o.cases, ""); err != nil {
		return &status{exitUsage, fmt.Errorf("--case %s: %w", o.cases, err)}
	}
	device, done, err := a.testDevice(ctx, o)
	if err != nil {
		return err
	}
	defer done()
	units, ds, err := a.testUnits(ctx, c, o, args)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return a.show(ds)
	}
	type job struct {
		unit *testUnit
		def  *loom.Def
	}
	var jobs []job
	for i := range units {
		for _, d := range units[i].module.Defs {
			if d.Kind != loom.DefCheckCase {
				continue
			}
			if ok, _ := path.Match(o.cases, d.Name); ok {
				jobs = append(jobs, job{&units[i], d})
			}
		}
	}
	if len(jobs) == 0 {
		return failed(fmt.Errorf("no test case matches '%s'", o.cases))
	}
	if o.list {
		for _, j := range jobs {
			fmt.Fprintf(a.out, "@%s\t%s\n", j.def.Name, j.def.NameSpan)
		}
		return nil
	}
	results := make([]*check.CaseResult, len(jobs))
	bar := a.progress("testing")
	var finished atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		g.Go(func() error {
			r, err := check.Run(gctx, j.def, j.unit.provider, check.Options{Device: device, Dir: j.unit.dir})
			results[i] = r
			bar.update(int(finished.Add(1)), len(jobs), j.def.Name)
			return err
		})
	}
	err = g.Wait()
	bar.done()
	if err != nil {
		return err
	}
	switch o.format {
	case "json":
		err = check.WriteJSON(a.out, results)
	case "junit":
		err = check.WriteJUnit(a.out, results)
	default:
		err = a.testText(a.out, results)
	}
	if err != nil {
		return failed(fmt.Errorf("write results: %w", err))
	}
	if err := a.show(ds); err != nil {
		return err
	}
	s := check.Summarize(results)
	if s.Failed+s.Errors > 0 {
		return &status{code: exitFindings}
	}
	for _, r := range results {
		for i := range r.Samples {
			if r.Samples[i].Problems.HasErrors() {
				return &status{code: exitFindings}
			}
		}
	}
	return nil
}

func (a *app) testText(w io.Writer, results []*check.CaseResult) error {
	detail := check.ShowCases
	switch {
	case a.quiet:
		detail = check.ShowFailures
	case a.verbose:
		detail = check.ShowSamples
	}
	return check.WriteText(w, results, detail)
}

// testDevice opens the device that launches run on.
func (a *app) testDevice(ctx context.Context, o *testOptions) (check.Device, func(), error) {
	if o.device != "cpu" {
		if len(o.sanitize) > 0 {
			return nil, nil, &status{exitUsage, errors.New("--sanitize works with --device cpu")}
		}
		if o.device == "gfxemu" {
			return a.emulatorDevice(ctx)
		}
		g, err := a.openGPU(ctx, o.device, &cacheFlags{})
		if err != nil {
			return nil, nil, err
		}
		o.target = cmp.Or(o.target, g.processor())
		return g, g.Close, nil
	}
	san, err := parseSanitizers(o.sanitize, o.dead)
	if err != nil {
		return nil, nil, err
	}
	cpu := &check.CPU{Determinism: san.determinism}
	cpu.Options.Sanitize = san.mode
	return cpu, func() {}, nil
}

// testUnits collects the files that hold cases.
func (a *app) testUnits(ctx context.Context, c *cobra.Command, o *testOptions, args []string) ([]testUnit, diag.List, error) {
	bindings, ds, err := o.bindings(a)
	if err != nil || ds.HasErrors() {
		return nil, ds, err
	}
	if len(args) == 0 {
		if len(o.libraries) > 0 {
			return nil, nil, &status{exitUsage, errors.New("--library goes with FILE arguments")}
		}
		set, l, err := o.open(ctx, c)
		ds = append(ds, l...)
		if err != nil || set == nil {
			return nil, ds, err
		}
		var out []testUnit
		for _, f := range set.TestFiles(ctx, bindings, o.target) {
			ds = append(ds, f.Diags...)
			out = append(out, testUnit{f.Module, f.Provider, o.dir})
		}
		return out, ds, nil
	}
	files, err := loomFiles(args)
	if err != nil {
		return nil, nil, err
	}
	libs, err := loomFiles(o.libraries)
	if err != nil {
		return nil, nil, err
	}
	var out []testUnit
	for _, f := range files {
		idx, l, err := a.index(ctx, []string{f}, libs)
		if err != nil {
			return nil, nil, err
		}
		ds = append(ds, l...)
		m := idx.Sources()[0].Mod
		if !exports.HasCases(m) {
			continue
		}
		dir := o.dir
		if dir == "" {
			dir = filepath.Dir(f)
		}
		out = append(out, testUnit{m, exports.NewProvider(ctx, idx, bindings, o.target), dir})
	}
	if len(out) == 0 && !ds.HasErrors() {
		return nil, nil, failed(fmt.Errorf("no check.case in %s", strings.Join(files, ", ")))
	}
	return out, ds, nil
}
