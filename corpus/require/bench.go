package require

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// Bench specialises the kernels of a corpus, each combination of export, config
// and target once. It is safe for concurrent use.
type Bench struct {
	surface *compat.Surface

	mu   sync.Mutex
	fits map[string]*lazyFit
	runs map[runKey]*lazyRun
}

type lazyFit struct {
	once sync.Once
	fit  *Fit
}

type runKey struct {
	fit    *Fit
	values string
}

type lazyRun struct {
	once sync.Once
	run  *Run
}

// NewBench prepares a corpus.
func NewBench(s *compat.Surface) *Bench {
	return &Bench{surface: s, fits: map[string]*lazyFit{}, runs: map[runKey]*lazyRun{}}
}

// Surface returns the corpus's contracts.
func (b *Bench) Surface() *compat.Surface { return b.surface }

// Fit is an export specialised for a config and a target.
type Fit struct {
	Contract *compat.Contract
	Configs  []*linker.Config // with the values bound, sorted by key
	Target   *target.Target
	// Kernel is nil when Diags holds an error.
	Kernel *kernel.Kernel
	Diags  diag.List
	// LocalBytes is the workgroup memory the configuration wants, also when it is
	// more than there is; -1 when specialisation did not get that far.
	LocalBytes int64
	Local      []string // "%scores 4096"
}

// Fit specialises an export. Values that violate a constraint are bound all the
// same, so that everything else about them can be said too.
func (b *Bench) Fit(ctx context.Context, e *corpus.Export, config []linker.Binding, targetName string) *Fit {
	sorted := slices.Clone(config)
	slices.SortFunc(sorted, func(x, y linker.Binding) int { return strings.Compare(x.Key, y.Key) })
	var key strings.Builder
	fmt.Fprintf(&key, "%s\x00%s", e.ID(), targetName)
	for _, c := range sorted {
		fmt.Fprintf(&key, "\x00%s=%s", c.Key, c.Text)
	}
	b.mu.Lock()
	l := b.fits[key.String()]
	if l == nil {
		l = &lazyFit{}
		b.fits[key.String()] = l
	}
	b.mu.Unlock()
	l.once.Do(func() { l.fit = b.specialise(ctx, e, sorted, targetName) })
	return l.fit
}

func (b *Bench) specialise(ctx context.Context, e *corpus.Export, config []linker.Binding, targetName string) *Fit {
	f := &Fit{Contract: b.surface.Contract(ctx, e), LocalBytes: -1}
	if !f.Contract.OK() {
		f.Diags = f.Contract.Problems
		return f
	}
	idx, _ := b.surface.Set().Index(e)
	// The places of the values are the caller's; two callers may share the fit.
	bare := make([]linker.Binding, len(config))
	for i, c := range config {
		bare[i] = linker.Binding{Key: c.Key, Text: c.Text}
	}
	res, ds := linker.Link(ctx, idx, linker.Request{Roots: []string{"@" + e.Symbol.Value}, Config: bare, Target: targetName, StripCheck: true, AllowMissingProviders: true})
	f.Diags = ds
	if len(res.Roots) == 0 || res.Roots[0].Def == nil {
		return f
	}
	f.Configs, f.Target = res.Configs, res.Roots[0].Target
	if f.Target == nil && targetName == "" {
		f.Target, _ = target.Lookup(exports.DefaultTarget)
	}
	if f.Target == nil || slices.ContainsFunc(f.Configs, func(c *linker.Config) bool { return !c.Bound }) {
		return f
	}
	opts := linker.SpecializeOptions{Target: f.Target}
	opts.Dump = func(pass string, _ int, d *loom.Def) {
		// What the kernel wants of workgroup memory, before the checks that may end
		// specialisation.
		if pass == "prune" {
			f.LocalBytes, f.Local = localBytes(d, f.Target)
		}
	}
	k, _, more, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, opts)
	if err != nil {
		more.Add(diag.Errorf(f.Contract.Kernel, "LINK/CANCELLED", "specialisation stopped: %v", err))
	}
	f.Diags = append(f.Diags, more...)
	if !f.Diags.HasErrors() {
		f.Kernel = k
	}
	return f
}

// localBytes adds up the workgroup allocations of a definition; -1 when a size
// has no bound.
func localBytes(d *loom.Def, t *target.Target) (int64, []string) {
	set := facts.Analyze(d, facts.Env{WaveSize: int64(t.WaveSize), MaxWorkgroupSize: int64(t.MaxWorkgroupSize), MaxWorkgroupDim: t.MaxWorkgroupDim, MaxGridDim: t.MaxGridDim})
	var at int64
	var words []string
	d.Walk(func(o *loom.Op) bool {
		if o.Name() != "buffer.alloca" || o.Word("memory_space") != "workgroup" || at < 0 {
			return true
		}
		size := set.At(o, o.Operand("byte_length")).Hi
		if size < 0 || size > 1<<31 {
			at = -1
			return true
		}
		align := o.Attr("base_alignment").Int
		if align <= 0 {
			align = 16
		}
		at = (at+align-1)/align*align + size
		words = append(words, fmt.Sprintf("%%%s %d", o.Result().Name, size))
		return true
	})
	return at, words
}

// Run is a specialised kernel with values for its parameters.
type Run struct {
	Geometry Geometry
	Reach    []Reach // per binding
}

// Run evaluates a fit for parameter values, each combination once. Parameters
// without a value stay open.
func (b *Bench) Run(f *Fit, workload, launch map[string]int64) *Run {
	var key strings.Builder
	for _, s := range f.Kernel.Workload {
		if v, ok := workload[s.Name]; ok {
			fmt.Fprintf(&key, "%s=%d ", s.Name, v)
		}
	}
	key.WriteByte('|')
	for _, s := range f.Kernel.Launch {
		if v, ok := launch[s.Name]; ok {
			fmt.Fprintf(&key, "%s=%d ", s.Name, v)
		}
	}
	k := runKey{f, key.String()}
	b.mu.Lock()
	l := b.runs[k]
	if l == nil {
		l = &lazyRun{}
		b.runs[k] = l
	}
	b.mu.Unlock()
	l.once.Do(func() { l.run = evaluate(f.Kernel, workload, launch) })
	return l.run
}

func evaluate(k *kernel.Kernel, workload, launch map[string]int64) *Run {
	params := map[*loom.Value]facts.Fact{}
	set := func(ss []kernel.Scalar, values map[string]int64) {
		for _, s := range ss {
			if v, ok := values[s.Name]; ok && !s.Param.Type.Kind.IsFloat() {
				params[s.Param] = facts.Exact(v)
			}
		}
	}
	set(k.Workload, workload)
	set(k.Launch, launch)
	t := k.Target
	s := facts.Analyze(k.Def, facts.Env{
		Params: params, WaveSize: int64(t.WaveSize), WorkgroupSize: k.WorkgroupSize,
		MaxWorkgroupSize: int64(t.MaxWorkgroupSize), MaxWorkgroupDim: t.MaxWorkgroupDim, MaxGridDim: t.MaxGridDim,
	})
	return &Run{Geometry: geometryOf(k, s), Reach: Footprint(k, s)}
}
