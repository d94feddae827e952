package lint

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/loom/verify"
)

// Options say what to check and for what.
type Options struct {
	// Target is the processor that kernels are closed for; "" takes what each
	// kernel names, and the default target for those that name none.
	Target string
	// Config binds config symbols. Those left open take the values of the plan
	// cases or, where there are none, one that the declarations allow.
	Config []linker.Binding
	// Only, when not empty, and Except choose rules by identifier.
	Only, Except []string
	// Progress, when set, is called after each kernel, from several goroutines.
	Progress func(done, total int, name string)
}

// rules returns the rules that the options choose.
func (o Options) rules() []Rule {
	has := func(ids []string, id string) bool {
		return slices.ContainsFunc(ids, func(s string) bool { return strings.EqualFold(s, id) })
	}
	var out []Rule
	for _, r := range table() {
		if (len(o.Only) == 0 || has(o.Only, r.ID)) && !has(o.Except, r.ID) {
			out = append(out, r)
		}
	}
	return out
}

// Files checks parsed files. Every kernel is linked against all of the files, its
// own first, and closed; what no kernel reaches is checked by itself. The rules take
// valid text for granted: a file that the verifier refuses is left out, and its
// errors are part of the list. The error is the context's, when it ended first.
func Files(ctx context.Context, mods []*loom.Module, o Options) (diag.List, error) {
	r := newRun(o, mods)
	type job struct {
		x   *linker.Index
		def *loom.Def
	}
	var jobs []job
	for i, m := range r.mods {
		var x *linker.Index
		for _, d := range m.Defs {
			if d.Kind != loom.DefKernel || d.Load().HasErrors() {
				continue
			}
			if x == nil {
				srcs := []linker.Source{{Mod: m, Role: linker.Primary}}
				for j, other := range r.mods {
					if j != i {
						srcs = append(srcs, linker.Source{Mod: other, Role: linker.Library})
					}
				}
				x = linker.NewIndex(srcs)
			}
			jobs = append(jobs, job{x, d})
		}
	}
	results := make([]outcome, len(jobs))
	var done atomic.Int64
	err := r.each(ctx, len(jobs), func(ctx context.Context, i int) (err error) {
		results[i], err = r.closeOne(ctx, jobs[i].x, "@"+jobs[i].def.Name, jobs[i].def)
		if o.Progress != nil {
			o.Progress(int(done.Add(1)), len(jobs), jobs[i].def.Name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.finish(ctx, results)
}

// Corpus checks the given exports of a corpus, and the corpus's files. Exports are
// closed for each of their plan cases. An export that does not link is part of the
// list, with the linker's diagnostics.
func Corpus(ctx context.Context, set *exports.Set, picked []*corpus.Export, o Options) (diag.List, error) {
	var mods []*loom.Module
	for _, p := range set.Corpus().Paths() {
		if !strings.HasSuffix(p, ".loom") {
			continue
		}
		if m, _ := set.Module(p); m != nil {
			mods = append(mods, m)
		}
	}
	r := newRun(o, mods)
	outs, ds := set.Link(ctx, picked, exports.Request{Config: o.Config, Target: o.Target, StripCheck: true, Progress: o.Progress})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	r.ds = append(r.ds, ds...)
	results := make([]outcome, len(outs))
	for i := range outs {
		out := &outs[i]
		for _, d := range out.Diags {
			if d.Severity == diag.Error {
				r.ds.Add(d)
			}
		}
		results[i].link = out.Link
		for j := range out.Closed {
			if k := out.Closed[j].Kernel; k != nil {
				results[i].kernels = append(results[i].kernels, closed{k, exportWords(out.Export, &out.Closed[j])})
			}
		}
		if len(results[i].kernels) == 0 && out.OK() && out.Link != nil && len(out.Link.Roots) > 0 {
			x, _ := set.Index(out.Export)
			res, err := r.closeOne(ctx, x, "@"+out.Export.Symbol.Value, nil)
			if err != nil {
				return nil, err
			}
			results[i].kernels = res.kernels
		}
	}
	return r.finish(ctx, results)
}

func exportWords(e *corpus.Export, c *exports.Closed) string {
	if n := c.Name(); n != "" {
		return fmt.Sprintf("in export '%s', plan case '%s'", e.ID(), n)
	}
	return fmt.Sprintf("in export '%s'", e.ID())
}

// run is one call of Files or Corpus.
type run struct {
	options Options
	rules   []Rule
	mods    []*loom.Module
	defs    *places
	ds      diag.List
}

// outcome is what linking and closing one kernel gave.
type outcome struct {
	link    *linker.Result
	kernels []closed
}

type closed struct {
	kernel *kernel.Kernel
	where  string // "in export 'x', plan case 'y'"
}

func newRun(o Options, mods []*loom.Module) *run {
	r := &run{options: o, rules: o.rules()}
	for _, m := range mods {
		ds := verify.Module(m, verify.Options{})
		for _, d := range ds {
			if d.Severity == diag.Error {
				r.ds.Add(d)
			}
		}
		if !ds.HasErrors() {
			r.mods = append(r.mods, m)
		}
	}
	r.defs = newPlaces(r.mods)
	return r
}

// each calls f for 0 … n−1 on all cores until the context ends.
func (r *run) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("lint: %w", err)
			}
			return f(ctx, i)
		})
	}
	return g.Wait()
}

// closeOne links a kernel and closes it, for two choices of the config values that
// nothing binds, out of those that the declarations and promises accept. own is the
// definition in the sources, nil when the kernel is an export's. A kernel that does
// not link or close is checked as it stands, by finish.
func (r *run) closeOne(ctx context.Context, x *linker.Index, root string, own *loom.Def) (outcome, error) {
	req := linker.Request{Roots: []string{root}, Config: r.options.Config, Target: r.options.Target, StripCheck: true, AllowMissingProviders: true}
	res, ds := linker.Link(ctx, x, req)
	if err := ctx.Err(); err != nil {
		return outcome{}, fmt.Errorf("lint: %w", err)
	}
	if ds.HasErrors() && !onlyPromises(ds) || len(res.Roots) == 0 || res.Roots[0].Def == nil {
		return outcome{}, nil
	}
	out := outcome{link: res}
	var tried []linker.Binding
	for _, near := range []int64{usual, odd} {
		guess := guesses(res.Configs, near)
		if near == odd && slices.Equal(guess, tried) {
			break
		}
		tried = guess
		req.Config = append(slices.Clone(r.options.Config), guess...)
		k, err := closeWith(ctx, x, req)
		if err != nil {
			return out, fmt.Errorf("lint: %w", err)
		}
		if k == nil {
			continue
		}
		where := ""
		if own == nil {
			where = fmt.Sprintf("in kernel '@%s'", k.Symbol)
		}
		if text := configWords(k); text != "" {
			where = strings.TrimSpace(where + " with " + text)
		}
		out.kernels = append(out.kernels, closed{k, where})
	}
	return out, nil
}

// closeWith links and specialises one kernel; it returns nil when that fails. What
// specialisation would refuse is left in: the rules say more about it.
func closeWith(ctx context.Context, x *linker.Index, req linker.Request) (*kernel.Kernel, error) {
	res, ds := linker.Link(ctx, x, req)
	if ds.HasErrors() || len(res.Roots) == 0 || res.Roots[0].Def == nil {
		return nil, nil
	}
	t := res.Roots[0].Target
	if t == nil {
		t, _ = target.Lookup(exports.DefaultTarget)
	}
	if t == nil {
		return nil, nil
	}
	k, _, _, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: t, Skip: []string{"promises", "check"}})
	return k, err
}

// onlyPromises reports whether every error is about a value that a declaration or
// an assume refuses; such a link is complete.
func onlyPromises(ds diag.List) bool {
	return !slices.ContainsFunc(ds, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && !strings.HasPrefix(d.Code, "CONFIG/")
	})
}

// Where guessed values lie. usual is large enough to fill a workgroup and small
// enough for workgroup memory; odd is beside it, so that what only works for round
// numbers shows.
const (
	usual = 128
	odd   = 127
)

func guesses(configs []*linker.Config, near int64) []linker.Binding {
	var out []linker.Binding
	for _, c := range configs {
		if c.Bound {
			continue
		}
		text := ""
		switch {
		case c.Type.Kind == loom.I1:
			text = "true"
		case c.Integer:
			for _, s := range []linker.AllowedSet{c.Accepted(), c.Allowed} {
				if ns := s.Nearest(near); len(ns) > 0 {
					text = fmt.Sprint(ns[len(ns)-1])
					if near == odd {
						text = fmt.Sprint(ns[0])
					}
					break
				}
			}
		case c.Type.Kind.IsFloat():
			text = "1.0"
		}
		if text != "" {
			out = append(out, linker.Binding{Key: c.Key, Text: text})
		}
	}
	return out
}

func configWords(k *kernel.Kernel) string {
	const most = 4
	var parts []string
	for i, c := range k.Config {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(k.Config)-most))
			break
		}
		parts = append(parts, c.Key+" = "+c.Text)
	}
	return strings.Join(parts, ", ")
}

// finish runs the rules over everything and applies the suppressions.
func (r *run) finish(ctx context.Context, outs []outcome) (diag.List, error) {
	seen := newReached(r.defs)
	var bodies []*body
	for _, o := range outs {
		for _, c := range o.kernels {
			b := closedBody(c)
			seen.add(b.def)
			bodies = append(bodies, b)
		}
	}
	for _, d := range r.defs.defs {
		if !seen.defs[d] && d.Body != nil {
			if b := loneBody(d); b != nil {
				seen.add(d)
				bodies = append(bodies, b)
			}
		}
	}
	found := make([]diag.List, len(bodies)+len(outs)+1)
	err := r.each(ctx, len(found), func(_ context.Context, i int) error {
		switch {
		case i < len(bodies):
			b := bodies[i]
			for _, rule := range r.rules {
				if rule.body != nil {
					rule.body(b)
				}
			}
			found[i] = b.found
		case i < len(bodies)+len(outs):
			if res := outs[i-len(bodies)].link; res != nil {
				l := &link{Result: res}
				for _, rule := range r.rules {
					if rule.link != nil {
						rule.link(l)
					}
				}
				found[i] = l.found
			}
		default:
			s := &sources{mods: r.mods, defs: r.defs.defs}
			for _, rule := range r.rules {
				if rule.sources != nil {
					rule.sources(s)
				}
			}
			found[i] = s.found
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all diag.List
	for _, l := range found {
		all = append(all, l...)
	}
	all = once(all)
	all = suppress(all, r.mods, r.defs, seen, r.rules)
	return append(r.ds, all...).Sorted(), nil
}

// once keeps the first finding of a rule at a place.
func once(ds diag.List) diag.List {
	type key struct {
		code string
		span diag.Span
	}
	seen := map[key]bool{}
	var out diag.List
	for _, d := range ds {
		k := key{d.Code, d.Span}
		if seen[k] && d.Span.Valid() {
			continue
		}
		seen[k] = true
		out = append(out, d)
	}
	return out
}

// link is a linked kernel before values are bound, as rules see it.
type link struct {
	collector
	*linker.Result
}

// sources are all parsed files, as rules see them.
type sources struct {
	collector
	mods []*loom.Module
	defs []*loom.Def
}
