package linker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/rewrite"
	"github.com/loomc/loomc/loom/target"
)

// SpecializeOptions says what a kernel is closed for.
type SpecializeOptions struct {
	// Target is the processor; its wave size answers subgroup-size queries and its
	// limits are checked. It must not be nil.
	Target *target.Target
	// Dump, when set, is called after every run of a pass with the pass's name, the
	// round (from 1) and the definition as it is then. The definition is only valid
	// during the call and must not be changed.
	Dump func(pass string, round int, def *loom.Def)
	// Skip names passes to leave out, to find the one that a fault depends on.
	// Kernels with calls or templates need bind-config, fold, select and inline.
	Skip []string
	// MaxRounds bounds select–inline–fold; 0 means 64. A corpus that needs more has
	// templates that apply each other without end.
	MaxRounds int
	// MaxOps bounds the size of the closed kernel in operations; 0 means 1,000,000.
	MaxOps int
}

// Report says what specialisation did, pass by pass.
type Report struct {
	Kernel     string      `json:"kernel"`
	Passes     []PassRun   `json:"passes"`
	Selections []Selection `json:"selections,omitempty"`
	Loops      []LoopNote  `json:"loops,omitempty"`
	// Unproven are the accesses of the closed kernel that the facts do not prove to
	// stay inside their views.
	Unproven []AccessNote `json:"unproven,omitempty"`
}

// PassRun is one run of one pass.
type PassRun struct {
	Pass    string `json:"pass"`
	Round   int    `json:"round"`
	Changes int    `json:"changes"` // what the pass counts: reads bound, calls inlined, operations folded
	Ops     int    `json:"ops"`     // operations in the definition afterwards
}

// Selection is the outcome of one template application.
type Selection struct {
	Place    string   `json:"place"`
	Family   string   `json:"family"`
	Chosen   string   `json:"chosen"` // "" when nothing could be chosen
	Rejected []string `json:"rejected,omitempty"`
	Chain    []string `json:"chain,omitempty"` // calls that led here, innermost first
}

// LoopNote is what the unroll pass did with one marked loop.
type LoopNote struct {
	Place  string `json:"place"`
	Action string `json:"action"` // "unrolled 16 trips", "unrolled by 4, 3 trips left", or what blocked it
}

// A Pass is one step of specialisation. Passes are listed in Passes in the order
// they run.
type Pass struct {
	Name string
	Doc  string
	// Passes of one non-zero Group run together, again and again, until none of
	// them changes anything; the others run once.
	Group int
	// KernelOnly passes are left out when a function is closed: they concern what
	// a launch sees.
	KernelOnly bool
	run        func(*specializer) int
}

// Passes lists what Specialize does, in order.
func Passes() []Pass { return append([]Pass(nil), passes...) }

var passes = []Pass{
	{"bind-config", "Replaces config reads by the bound values; values that are only declared stay open.", 1, false, (*specializer).bindConfig},
	{"target-queries", "Replaces subgroup-size queries by the target's wave size.", 1, false, (*specializer).targetQueries},
	{"fold", "Folds constants and identities, decides branches and loops of none or one trip, and gives shaped types the extents that became constant.", 1, false, (*specializer).fold},
	{"select", "Chooses an implementation for every template application from its facts.", 1, false, (*specializer).selectTemplates},
	{"inline", "Replaces calls by the callee's body.", 1, false, (*specializer).inline},
	{"unroll", "Unrolls loops that ask for it.", 1, false, (*specializer).unroll},
	{"probes", "Answers test.fact operations from what is known of their operand, and drops test.use.", 0, false, (*specializer).probes},
	{"promises", "Reports assumes that cannot hold.", 0, false, (*specializer).promises},
	{"merge", "Merges equal pure operations (common subexpressions).", 2, false, (*specializer).merge},
	{"fold", "Folds what merging made equal.", 2, false, (*specializer).fold},
	{"hoist", "Moves loop-invariant arithmetic out of loops.", 0, false, (*specializer).hoist},
	{"prune", "Removes what nothing uses.", 0, false, (*specializer).prune},
	{"check", "Verifies that nothing is left open and that the target can run it.", 0, false, (*specializer).check},
	{"layout", "Places the workgroup-memory allocations.", 0, true, (*specializer).layout},
	{"interface", "Derives bindings, scalars and workgroup size.", 0, true, (*specializer).boundary},
}

// Specialize closes a kernel: it binds config values, chooses template
// implementations, inlines every call, folds what became constant, and returns a
// kernel that depends on nothing but its launch arguments. m is a linked module
// whose config symbols are bound where values are known (config.def); it is not
// changed and may be shared between calls. root is the kernel's symbol without
// '@'.
//
// The kernel is nil when the diagnostics contain an error. The report is always
// returned. The error is the context's, when it ended first.
func Specialize(ctx context.Context, m *loom.Module, root string, o SpecializeOptions) (*kernel.Kernel, *Report, diag.List, error) {
	s, report, ds, err := specialize(ctx, m, root, o, loom.DefKernel)
	if err != nil || ds.HasErrors() {
		return nil, report, ds, err
	}
	return s.out, report, ds, nil
}

// SpecializeFunc closes an ordinary function, or a template implementation that
// is called by its own name, the way Specialize closes a kernel: the definition
// it returns has no config reads, target queries, applications or calls left. It
// serves the calls that test cases make.
//
// The definition is nil when the diagnostics contain an error. The report is
// always returned. The error is the context's, when it ended first.
func SpecializeFunc(ctx context.Context, m *loom.Module, root string, o SpecializeOptions) (*loom.Def, *Report, diag.List, error) {
	s, report, ds, err := specialize(ctx, m, root, o, loom.DefFunc, loom.DefTemplate)
	if err != nil || ds.HasErrors() {
		return nil, report, ds, err
	}
	rewrite.Rename(s.def)
	return s.def, report, ds, nil
}

// specialize runs the passes over a root of one of the given kinds; the first
// kind names what is expected. The specializer is nil when the root cannot be
// used at all.
func specialize(ctx context.Context, m *loom.Module, root string, o SpecializeOptions, kinds ...loom.DefKind) (*specializer, *Report, diag.List, error) {
	report := &Report{Kernel: root}
	def := m.Lookup(root)
	switch {
	case def == nil:
		return nil, report, diag.List{diag.Errorf(diag.Span{}, "SYMBOL/002", "root symbol '@%s' was not found", root)}, nil
	case !slices.Contains(kinds, def.Kind):
		want := kindWords(&loom.Def{Kind: kinds[0]})
		return nil, report, diag.List{diag.Errorf(def.NameSpan, "SYMBOL/003", "symbol '@%s' is %s, expected %s", root, kindWords(def), want)}, nil
	}
	if ds := def.Load(); ds.HasErrors() {
		return nil, report, ds, nil
	}
	if o.Target == nil {
		return nil, report, diag.List{diag.Errorf(def.NameSpan, "TARGET/026", "%s '@%s' has no target and none was selected", kindWords(def), root).
			WithHelp("select one, e.g. --target gfx1151")}, nil
	}
	if o.MaxRounds == 0 {
		o.MaxRounds = 64
	}
	if o.MaxOps == 0 {
		o.MaxOps = 1_000_000
	}
	s := &specializer{
		options: o, module: m, source: def, def: loom.CloneDef(def), report: report,
		defs: make(map[string]*loom.Def, len(m.Defs)), sites: map[*loom.Op]*kernel.Site{},
		config: map[string]kernel.ConfigValue{}, open: map[string]bool{}, origin: map[*loom.Value][]string{},
	}
	for _, d := range m.Defs {
		if d.IsTemplate() {
			d.Load() // selection compares families, which loading states exactly
		}
		if _, dup := s.defs[d.Name]; !dup && definesSymbol(d) {
			s.defs[d.Name] = d
		}
	}
	s.out = &kernel.Kernel{Def: s.def, Export: def.ExportName(), Symbol: root, Target: o.Target, Sites: s.sites}
	err := s.runAll(ctx)
	return s, report, s.diags.Sorted(), err
}

// specializer is the state the passes share. The definition is private to it.
type specializer struct {
	options SpecializeOptions
	module  *loom.Module
	source  *loom.Def // as linked
	def     *loom.Def // being rewritten
	defs    map[string]*loom.Def
	set     *facts.Set // of the last analysis; nil when out of date
	// keepFacts is set by a pass whose changes leave the facts of every remaining
	// value as sound and as sharp as they were.
	keepFacts bool
	sites     map[*loom.Op]*kernel.Site
	config    map[string]kernel.ConfigValue
	open      map[string]bool // config symbols read without a value
	// origin names the config symbols that a constant was computed from.
	origin  map[*loom.Value][]string
	report  *Report
	diags   diag.List
	out     *kernel.Kernel
	waiting []*loom.Op // applications that could not be decided in the last select
	final   bool       // decide them with what is known
	stopped bool       // an error makes further passes meaningless
}

func (s *specializer) runAll(ctx context.Context) error {
	for i := 0; i < len(passes); {
		if passes[i].Group == 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("specialising @%s: %w", s.def.Name, err)
			}
			if passes[i].KernelOnly && s.def.Kind != loom.DefKernel {
				i++
				continue
			}
			s.runPass(passes[i], 1)
			if s.stopped {
				return nil
			}
			i++
			continue
		}
		end := i
		for end < len(passes) && passes[end].Group == passes[i].Group {
			end++
		}
		if err := s.rounds(ctx, passes[i:end]); err != nil || s.stopped {
			return err
		}
		i = end
	}
	return nil
}

// rounds repeats a group of passes until each has run once without a change.
func (s *specializer) rounds(ctx context.Context, group []Pass) error {
	clean := 0
	for i := 0; ; i++ {
		if clean >= len(group) {
			if len(s.waiting) == 0 || s.final {
				break
			}
			// Nothing will become known any more: what is still open is decided now.
			s.final, clean = true, 0
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("specialising @%s: %w", s.def.Name, err)
		}
		round := i/len(group) + 1
		if round > s.options.MaxRounds {
			s.fail(diag.Errorf(s.source.NameSpan, "LOWERING/043", "specialising '@%s' did not settle after %d rounds", s.source.Name, s.options.MaxRounds).
				WithHelp("a template or function of this kernel leads back to itself; --dump-after=inline shows which"))
			return nil
		}
		if clean++; s.runPass(group[i%len(group)], round) > 0 {
			clean, s.final = 0, false
		}
		if s.stopped {
			return nil
		}
	}
	return nil
}

func (s *specializer) runPass(p Pass, round int) int {
	if slices.Contains(s.options.Skip, p.Name) {
		return 0
	}
	s.keepFacts = false
	n := p.run(s)
	if n > 0 && !s.keepFacts {
		s.set = nil
	}
	ops := countOps(s.def)
	s.report.Passes = append(s.report.Passes, PassRun{Pass: p.Name, Round: round, Changes: n, Ops: ops})
	if ops > s.options.MaxOps {
		s.fail(diag.Errorf(s.source.NameSpan, "LOWERING/SIZE", "'@%s' has %d operations after %s, more than %d", s.source.Name, ops, p.Name, s.options.MaxOps).
			WithHelp("an unrolled loop or a chain of inlined calls multiplies the body; --pass-report names the loops"))
	}
	if s.options.Dump != nil {
		rewrite.Rename(s.def)
		s.options.Dump(p.Name, round, s.def)
	}
	return n
}

// analyze returns the facts of the definition as it is now.
func (s *specializer) analyze() *facts.Set {
	if s.set == nil {
		t := s.options.Target
		s.set = facts.Analyze(s.def, facts.Env{
			Config:           s.configFact,
			WaveSize:         int64(t.WaveSize),
			MaxWorkgroupSize: int64(t.MaxWorkgroupSize),
			MaxWorkgroupDim:  t.MaxWorkgroupDim,
			MaxGridDim:       t.MaxGridDim,
		})
	}
	return s.set
}

// configFact is what the declaration of a symbol says when no value is bound.
func (s *specializer) configFact(key string) (facts.Fact, bool) {
	d := s.defs[key]
	if d == nil || d.Kind != loom.DefConfigDecl {
		return facts.Fact{}, false
	}
	d.Load()
	return facts.Declared(d), true
}

// fail records an error and ends specialisation after the current pass.
func (s *specializer) fail(d diag.Diagnostic) {
	s.diags.Add(d)
	s.stopped = true
}

// at adds the calls that brought op here to a diagnostic about op.
func (s *specializer) at(op *loom.Op, d diag.Diagnostic) diag.Diagnostic {
	for c := s.site(op); c != nil; c = c.Parent {
		d = d.WithRelated(c.Call, "inlined into the kernel as '@%s' here", c.Callee)
	}
	return d
}

// site returns the innermost call that op was inlined from: its own, or that of
// the nearest operation around it.
func (s *specializer) site(op *loom.Op) *kernel.Site {
	for ; op != nil; op = op.Parent() {
		if c, ok := s.sites[op]; ok {
			return c
		}
	}
	return nil
}

// chain lists the calls that led to op, innermost first.
func (s *specializer) chain(op *loom.Op) []string {
	var out []string
	for c := s.site(op); c != nil; c = c.Parent {
		out = append(out, fmt.Sprintf("@%s at %s", c.Callee, c.Call))
	}
	return out
}

func countOps(def *loom.Def) int {
	n := 0
	def.Walk(func(*loom.Op) bool { n++; return true })
	return n
}

// Merge, hoist and prune are generic rewrites.

func (s *specializer) merge() int {
	s.keepFacts = true
	return rewrite.Merge(s.def)
}

func (s *specializer) hoist() int { return rewrite.Hoist(s.def, s.analyze()) }

func (s *specializer) prune() int {
	s.keepFacts = true
	return rewrite.Prune(s.def)
}

// Text renders the report for people: what every pass changed, what was selected
// and why nothing else was, what became of marked loops, and which accesses are
// not proven to stay inside.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "@%s\n", r.Kernel)
	for _, p := range r.Passes {
		if p.Changes > 0 {
			fmt.Fprintf(&b, "  %-14s round %d: %s, %s left\n", p.Pass, p.Round, plural(p.Changes, "change"), plural(p.Ops, "operation"))
		}
	}
	for _, s := range r.Selections {
		chosen := "@" + s.Chosen
		if s.Chosen == "" {
			chosen = "nothing"
		}
		fmt.Fprintf(&b, "  %s: %s → %s\n", s.Place, s.Family, chosen)
		for _, c := range s.Chain {
			fmt.Fprintf(&b, "      in %s\n", c)
		}
		for _, c := range s.Rejected {
			fmt.Fprintf(&b, "      not %s\n", c)
		}
	}
	for _, l := range r.Loops {
		fmt.Fprintf(&b, "  %s: loop %s\n", l.Place, l.Action)
	}
	for _, n := range r.Unproven {
		fmt.Fprintf(&b, "  %s: %s is not proven inside on axis %d: %s\n", n.Place, n.Access, n.Axis, n.Why)
	}
	return b.String()
}
