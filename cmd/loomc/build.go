package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/hip"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

type buildOptions struct {
	corpusFlags
	configFlags
	cacheFlags
	roots          []string
	arch, planCase string
	output         string
	compiler       string
	codeObject     int
	shard          string
	keepSource     bool
	format         string
}

func (a *app) buildCommand() *cobra.Command {
	var o buildOptions
	c := &cobra.Command{
		Use:     "build [--pin SHA] -o DIR",
		GroupID: "corpus",
		Short:   "Emit and compile every export to a raw code object",
		Long: `Links, specialises, emits and compiles the selected exports, one code object per
plan case (or one for the values given with --config), and writes them with an
artifact manifest, artifacts.json, that says per object: symbol, arch, argument
layout, launch, LDS bytes, registers, spills and digest. The manifest is written
last; nothing is left half-written.

Compilers are searched in the order 'loomc doctor' prints. Objects come from the
cache when an equal source was compiled with an equal compiler before.`,
		Example: "  loomc build --arch gfx1151 -o build/gfx1151\n  loomc build --root ggml_softmax_f32 -o out --keep-source",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkTarget(o.arch); err != nil {
				return err
			}
			if o.output == "" {
				return &status{exitUsage, errors.New("say where to write with -o DIR")}
			}
			return a.runBuild(c, &o)
		},
	}
	o.corpusFlags.add(c)
	o.configFlags.add(c)
	o.cacheFlags.add(c)
	f := c.Flags()
	f.StringArrayVar(&o.roots, "root", nil, "export name or @symbol to build (repeatable; default: every export)")
	f.StringVar(&o.arch, "arch", exports.DefaultTarget, "processor to compile for")
	f.StringVar(&o.planCase, "case", "", "build only this plan case; 'none': only what --config gives")
	f.StringVarP(&o.output, "output", "o", "", "directory for the objects")
	f.StringVar(&o.compiler, "compiler", "", "compiler to use instead of searching: a clang, or 'hiprtc'")
	f.IntVar(&o.codeObject, "code-object-version", 0, "4, 5 or 6 (default 5: ROCm before 6.3 refuses 6)")
	f.StringVar(&o.shard, "shard", "", "i/n: build only this part of the work, split by key")
	f.BoolVar(&o.keepSource, "keep-source", false, "write the emitted HIP beside each object")
	f.StringVar(&o.format, "format", "text", "text or json")
	return c
}

// cacheFlags say which caches objects come from.
type cacheFlags struct {
	dir, remote string
	noCache     bool
	remoteWrite bool
}

func (f *cacheFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "cache-dir", "", "object cache (default: LOOMC_CACHE, else the user's cache directory)")
	c.Flags().BoolVar(&f.noCache, "no-cache", false, "compile everything anew and store nothing")
	c.Flags().StringVar(&f.remote, "remote-cache", os.Getenv("LOOMC_REMOTE_CACHE"), "URL of a cache that speaks the Bazel HTTP protocol")
	c.Flags().BoolVar(&f.remoteWrite, "remote-write", false, "store what is compiled here in the remote cache")
}

// caches opens the caches that a build uses.
func (f *cacheFlags) caches() (*hip.Builder, error) {
	b := &hip.Builder{}
	if !f.noCache {
		c, err := openCache(f.dir)
		if err != nil {
			return nil, missing(fmt.Errorf("%w; name a writable directory with --cache-dir or LOOMC_CACHE, or use --no-cache", err))
		}
		b.Cache = c
	}
	if f.remote != "" {
		r, err := hip.OpenRemote(f.remote, hip.RemoteOptions{Write: f.remoteWrite})
		if err != nil {
			return nil, &status{exitUsage, err}
		}
		b.Remote = r
	}
	return b, nil
}

// openCache opens the cache in dir, or in the default place when dir is "".
func openCache(dir string) (*hip.Cache, error) {
	if dir == "" {
		d, err := hip.DefaultCacheDir(nil)
		if err != nil {
			return nil, err
		}
		dir = d
	}
	return hip.OpenCache(dir, 0)
}

// hiprtcCompiler is the --compiler that names ROCm's run-time compiler.
const hiprtcCompiler = "hiprtc"

// useRTC makes the run-time compiler of the given kind of device, in a child, the
// builder's compiler.
func useRTC(ctx context.Context, b *hip.Builder, kind string) error {
	c := deviceChild(kind)
	if b.Cache != nil {
		c.TempDir = b.Cache.TempDir()
	}
	rtc, err := hip.OpenRTC(ctx, c)
	if err != nil {
		return err
	}
	b.Compiler = rtc
	return nil
}

// compiler finds the compiler for AMD code objects.
func (f *cacheFlags) compiler(ctx context.Context, b *hip.Builder, path string) error {
	if path == hiprtcCompiler {
		return useRTC(ctx, b, "hip")
	}
	search := hip.Search{Path: path}
	if b.Cache != nil {
		search.StateDir = b.Cache.StateDir()
	}
	tc, _, err := hip.Discover(ctx, search)
	if err != nil {
		return err
	}
	if b.Cache != nil {
		tc.TempDir = b.Cache.TempDir()
	}
	b.Compiler = tc
	return nil
}

// unit is one object to build.
type unit struct {
	export *corpus.Export
	closed *exports.Closed
	code   *codegen.Unit
	stem   string
	job    hip.Job
	out    hip.Outcome
}

func (a *app) runBuild(c *cobra.Command, o *buildOptions) error {
	ctx := c.Context()
	if strings.HasSuffix(o.arch, "-generic") && o.codeObject == 0 {
		o.codeObject = 6 // generic processors exist from version 6 on
	}
	if o.codeObject != 0 && (o.codeObject < 4 || o.codeObject > 6) {
		return &status{exitUsage, fmt.Errorf("--code-object-version %d: want 4, 5 or 6", o.codeObject)}
	}
	var shard hip.Shard
	if o.shard != "" {
		s, err := hip.ParseShard(o.shard)
		if err != nil {
			return &status{exitUsage, err}
		}
		shard = s
	}
	bindings, ds, err := o.bindings(a)
	if err != nil {
		return err
	}
	if ds.HasErrors() {
		return a.early(ds, o.format)
	}
	builder, err := o.caches()
	if err != nil {
		return err
	}
	if err := o.cacheFlags.compiler(ctx, builder, o.compiler); err != nil {
		var me *hip.MissingError
		if errors.As(err, &me) {
			_ = a.show(diag.List{me.Diagnostic()})
			return &status{code: exitMissing}
		}
		return err
	}
	set, l, err := o.open(ctx, c)
	if err != nil {
		return err
	}
	ds = append(ds, l...)
	if set == nil {
		return a.early(ds, o.format)
	}
	picked, l := set.Select(o.roots)
	ds = append(ds, l...)
	picked, l = set.Fit(picked, o.arch)
	ds = append(ds, l...)
	if len(picked) == 0 {
		return a.early(ds, o.format)
	}
	bar := a.progress("linking")
	outs, l := set.Link(ctx, picked, exports.Request{Config: bindings, Target: o.arch, Case: o.planCase, Close: true, StripCheck: true, StrictConfig: true, Progress: bar.update})
	bar.done()
	ds = append(ds, l...)
	units, l := a.emitUnits(set, outs, o)
	ds = append(ds, l...)
	if shard != (hip.Shard{}) {
		kept := units[:0]
		for _, u := range units {
			if shard.Owns(hip.NewKey(builder.Compiler.Identity(), u.job)) {
				kept = append(kept, u)
			}
		}
		units = kept
	}
	jobs := make([]hip.Job, len(units))
	for i, u := range units {
		jobs[i] = u.job
	}
	bar = a.progress("compiling")
	finished := 0
	results := builder.BuildAll(ctx, jobs, func(r hip.Outcome) { // called one at a time
		finished++
		bar.update(finished, len(jobs), r.Job.Name)
	})
	bar.done()
	if err := ctx.Err(); err != nil {
		return err
	}
	lookup := sourceLookup(set)
	for i, r := range results {
		units[i].out = r
		for _, w := range r.Warnings {
			ds.Add(diag.Warnf(units[i].export.Span, "HIP/CACHE", "%v", w))
		}
		var ce *hip.CompileError
		switch {
		case errors.As(r.Err, &ce):
			ds = append(ds, atKernelOf(ce, ce.Diagnostics(lookup), units[i].closed.Kernel)...)
		case r.Err != nil:
			ds.Add(diag.Errorf(units[i].export.Span, "HIP/COMPILE", "%v", r.Err))
		default:
			ds = append(ds, checkObject(units[i])...)
		}
	}
	if builder.Remote != nil {
		if why := builder.Remote.Stats().Disabled; why != "" {
			ds.Add(diag.Warnf(diag.Span{}, "HIP/CACHE", "the remote cache was given up during this build: %s", why).
				WithHelp("objects are right all the same; look at the server at %s, or build without --remote-cache", o.remote))
		}
	}
	if err := a.writeBuild(set, builder, units, o); err != nil {
		return err
	}
	if o.format == "text" {
		a.buildTable(set, units, o, outs)
	}
	return a.show(ds)
}

// atKernelOf places what a compiler said about a kernel as a whole at the kernel.
func atKernelOf(ce *hip.CompileError, ds diag.List, k *kernel.Kernel) diag.List {
	for i, d := range ds {
		if d.Span.Src != nil && d.Span.Src.Name == ce.Job.Name && d.Span.End == 0 {
			d.Span = k.Def.NameSpan
			ds[i] = d.WithRelated(diag.Span{}, "compiling %s for %s with %s", ce.Job.Name, ce.Job.Arch, ce.Compiler)
		}
	}
	return ds
}

// sourceLookup maps the file names of #line directives back to the corpus's texts.
func sourceLookup(set *exports.Set) hip.Sources {
	byName := map[string]*diag.Source{}
	for _, s := range set.Corpus().Sources() {
		byName[s.Name] = s
	}
	return func(name string) *diag.Source { return byName[name] }
}

// emitUnits emits the closed cases of every outcome.
func (a *app) emitUnits(set *exports.Set, outs []exports.Outcome, o *buildOptions) ([]*unit, diag.List) {
	type emitted struct {
		code *codegen.Unit
		ds   diag.List
	}
	texts := make([][]emitted, len(outs))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range outs {
		texts[i] = make([]emitted, len(outs[i].Closed))
		for j := range outs[i].Closed {
			k := outs[i].Closed[j].Kernel
			if k == nil {
				continue
			}
			g.Go(func() error {
				t := &texts[i][j]
				t.code, t.ds = codegen.Emit(k, emitOptions(set, true))
				return nil
			})
		}
	}
	_ = g.Wait() // what goes wrong is in the diagnostics
	var units []*unit
	var ds diag.List
	used := map[string]bool{}
	for i := range outs {
		out := &outs[i]
		ds = append(ds, out.Diags...)
		for j := range out.Closed {
			cl, code := &out.Closed[j], texts[i][j].code
			ds = append(ds, texts[i][j].ds...)
			if code == nil {
				continue
			}
			stem := stemOf(out.Export, cl, len(out.Closed))
			for n := 2; used[stem]; n++ {
				stem = fmt.Sprintf("%s-%d", stemOf(out.Export, cl, len(out.Closed)), n)
			}
			used[stem] = true
			units = append(units, &unit{export: out.Export, closed: cl, code: code, stem: stem, job: hip.Job{
				Name: stem + ".hip", Source: code.Source, Arch: o.arch, Wave64: code.WaveSize == 64, CodeObjectVersion: o.codeObject,
			}})
		}
	}
	return units, ds
}

// stemOf names the object of a case: the export's name, and the rest of the case's
// name when the export has several.
func stemOf(e *corpus.Export, cl *exports.Closed, cases int) string {
	name := e.Name.Value
	if cases > 1 && cl.Case != nil {
		rest := strings.TrimLeft(strings.TrimPrefix(cl.Case.Name.Value, name), "/._- ")
		if rest != "" {
			name += "-" + rest
		}
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// checkObject compares a code object with what was asked for.
func checkObject(u *unit) diag.List {
	var ds diag.List
	k, ok := u.out.Output.Info.Kernel(u.code.Symbol)
	if !ok {
		return diag.List{diag.Errorf(u.export.Symbol.Span, "HIP/OBJECT", "the code object of '%s' has no kernel '%s'", u.stem, u.code.Symbol)}
	}
	args := k.ExplicitArgs()
	if len(args) != len(u.code.ABI.Args) {
		ds.Add(diag.Errorf(u.export.Span, "HIP/OBJECT", "the code object of '%s' takes %d arguments, %d were emitted", u.stem, len(args), len(u.code.ABI.Args)))
	}
	for i := range min(len(args), len(u.code.ABI.Args)) {
		if w := u.code.ABI.Args[i]; args[i].Offset != w.Offset || args[i].Size != w.Size {
			ds.Add(diag.Errorf(u.export.Span, "HIP/OBJECT", "argument '%s' of '%s' is at %d+%d in the code object, %d+%d was emitted", w.Name, u.stem, args[i].Offset, args[i].Size, w.Offset, w.Size))
		}
	}
	if k.VGPRSpill > 0 || k.Scratch > 0 {
		ds.Add(diag.Warnf(u.export.Span, "HIP/SPILL", "'%s' spills: %d VGPRs, %d bytes of scratch per lane", u.stem, k.VGPRSpill, k.Scratch))
	}
	return ds
}

// artifact is one record of artifacts.json.
type artifact struct {
	Export        string            `json:"export"`
	Case          string            `json:"case,omitempty"`
	Symbol        string            `json:"symbol"`
	Object        string            `json:"object"`
	Arch          string            `json:"arch"`
	SHA256        string            `json:"sha256"`
	Bytes         int               `json:"bytes"`
	Config        map[string]string `json:"config"`
	Kernarg       []artifactArg     `json:"kernarg"`
	KernargBytes  int               `json:"kernarg_bytes"`
	WorkgroupSize [3]int64          `json:"workgroup_size"`
	Workload      []string          `json:"workload_parameters"`
	LaunchConfig  string            `json:"launch_config"`
	Geometry      *geometry         `json:"case_geometry,omitempty"`
	WaveSize      int               `json:"wave_size"`
	LDS           int               `json:"lds_bytes"`
	VGPR          int               `json:"vgpr"`
	SGPR          int               `json:"sgpr"`
	VGPRSpill     int               `json:"vgpr_spill"`
	SGPRSpill     int               `json:"sgpr_spill"`
	Scratch       int               `json:"scratch_bytes"`
	CodeObject    int               `json:"code_object_version"`
	Source        string            `json:"source,omitempty"`
}

type artifactArg struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"` // buffer or scalar
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Access string `json:"access,omitempty"`
}

type geometry struct {
	Workload map[string]int64 `json:"workload"`
	Count    [3]int64         `json:"workgroup_count"`
	Size     [3]int64         `json:"workgroup_size"`
}

// writeBuild writes every object, then artifacts.json.
func (a *app) writeBuild(set *exports.Set, b *hip.Builder, units []*unit, o *buildOptions) error {
	if err := os.MkdirAll(o.output, 0o755); err != nil {
		return failed(fmt.Errorf("make the output directory: %w; give a writable one with -o", err))
	}
	doc := struct {
		Schema   string     `json:"schema"`
		Tool     string     `json:"tool"`
		Corpus   string     `json:"corpus"`
		Commit   string     `json:"commit,omitempty"`
		Digest   string     `json:"corpus_digest"`
		Compiler string     `json:"compiler"`
		Objects  []artifact `json:"objects"`
	}{artifactSchema, "loomc " + version(), set.Corpus().String(), set.Corpus().Origin().Commit, set.Corpus().Digest(), b.Compiler.Identity(), []artifact{}}
	for _, u := range units {
		if u.out.Err != nil {
			continue
		}
		name := u.stem + "." + o.arch + ".co"
		if err := writeChanged(filepath.Join(o.output, name), u.out.Output.Object); err != nil {
			return failed(fmt.Errorf("write object: %w", err))
		}
		rec := u.artifact(name, o.arch)
		if o.keepSource {
			rec.Source = u.stem + ".hip"
			if err := writeChanged(filepath.Join(o.output, rec.Source), u.code.Source); err != nil {
				return failed(fmt.Errorf("write source: %w", err))
			}
		}
		doc.Objects = append(doc.Objects, rec)
	}
	text, err := marshalIndent(doc)
	if err != nil {
		return err
	}
	old := listedFiles(filepath.Join(o.output, "artifacts.json"))
	if err := writeChanged(filepath.Join(o.output, "artifacts.json"), text); err != nil {
		return failed(fmt.Errorf("write artifact manifest: %w", err))
	}
	for _, rec := range doc.Objects {
		delete(old, rec.Object)
		delete(old, rec.Source)
	}
	for name := range old { // what the previous build listed and this one does not
		if err := os.Remove(filepath.Join(o.output, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(fmt.Errorf("remove an object of the previous build: %w", err))
		}
	}
	if o.format == "json" {
		if _, err := a.out.Write(text); err != nil {
			return failed(fmt.Errorf("write output: %w", err))
		}
	}
	return nil
}

// writeChanged writes a file unless it holds these bytes already: what a repeated
// build leaves alone costs no disk flush and looks unchanged to make.
func writeChanged(path string, data []byte) error {
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Size() == int64(len(data)) {
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	return corpus.WriteFileAtomic(path, data, 0o644)
}

// listedFiles returns the files that an earlier artifacts.json in the directory
// lists; names that are paths are left alone.
func listedFiles(path string) map[string]bool {
	out := map[string]bool{}
	text, err := os.ReadFile(path)
	if err != nil {
		return out
	}
	var doc struct {
		Schema  string     `json:"schema"`
		Objects []artifact `json:"objects"`
	}
	if json.Unmarshal(text, &doc) != nil || doc.Schema != artifactSchema {
		return out
	}
	for _, o := range doc.Objects {
		for _, n := range []string{o.Object, o.Source} {
			if n != "" && filepath.Base(n) == n {
				out[n] = true
			}
		}
	}
	return out
}

const artifactSchema = "loomc-artifacts-v1"

func (u *unit) artifact(object, arch string) artifact {
	sum := sha256.Sum256(u.out.Output.Object)
	info := u.out.Output.Info
	k, _ := info.Kernel(u.code.Symbol)
	rec := artifact{
		Export: u.export.Name.Value, Case: u.closed.Name(), Symbol: u.code.Symbol, Object: object, Arch: arch,
		SHA256: hex.EncodeToString(sum[:]), Bytes: len(u.out.Output.Object), Config: map[string]string{},
		KernargBytes: k.KernargSize, WorkgroupSize: u.code.WorkgroupSize, Workload: []string{},
		WaveSize: k.WaveSize, LDS: k.LDS, VGPR: k.VGPR, SGPR: k.SGPR, VGPRSpill: k.VGPRSpill, SGPRSpill: k.SGPRSpill,
		Scratch: k.Scratch, CodeObject: info.CodeObjectVersion,
	}
	for _, c := range u.closed.Kernel.Config {
		rec.Config[c.Key] = c.Text
	}
	for _, x := range u.code.ABI.Args {
		g := artifactArg{Name: x.Name, Kind: "scalar", Type: x.Type, Offset: x.Offset, Size: x.Size}
		if x.Buffer {
			g.Kind, g.Access = "buffer", x.Access.String()
		}
		rec.Kernarg = append(rec.Kernarg, g)
	}
	for _, s := range u.closed.Kernel.Workload {
		rec.Workload = append(rec.Workload, s.Name)
	}
	rec.LaunchConfig = launchText(u.closed.Kernel)
	if g, _, ok := caseGeometry(u.closed); ok {
		vals, _ := u.closed.WorkloadValues()
		rec.Geometry = &geometry{Workload: map[string]int64{}, Count: g.Count, Size: g.Size}
		for i, s := range u.closed.Kernel.Workload {
			rec.Geometry.Workload[s.Name] = vals[i]
		}
	}
	return rec
}

func (a *app) buildTable(set *exports.Set, units []*unit, o *buildOptions, outs []exports.Outcome) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "OBJECT\tBYTES\tVGPR\tSGPR\tSPILL\tSCRATCH\tLDS\tWAVE\tFROM\t")
	built := 0
	for _, u := range units {
		if u.out.Err != nil {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t-\t-\tFAILED\t\n", u.stem)
			continue
		}
		built++
		k, _ := u.out.Output.Info.Kernel(u.code.Symbol)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n", u.stem, len(u.out.Output.Object), k.VGPR, k.SGPR, k.VGPRSpill+k.SGPRSpill, k.Scratch, k.LDS, k.WaveSize, u.out.From)
	}
	w.Flush()
	if !a.quiet {
		bad := 0
		for i := range outs {
			if !outs[i].OK() {
				bad++
			}
		}
		fmt.Fprintf(a.out, "\n%s: %s built for %s into %s", set.Corpus(), count(built, "object"), o.arch, o.output)
		if failed := len(units) - built; failed+bad > 0 {
			fmt.Fprintf(a.out, "; %d failed to compile, %s did not link", failed, count(bad, "export"))
		}
		fmt.Fprintln(a.out)
	}
}
