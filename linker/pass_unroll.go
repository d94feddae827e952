package linker

import (
	"fmt"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/rewrite"
)

const (
	maxFullTrips = 4096 // bare unroll: more trips than anyone means
	maxFactor    = 256
	maxUnrolled  = 200_000 // operations one unrolled loop may grow to
)

// unroll expands loops marked unroll or unroll(n). A loop with a known number of
// trips that is marked bare, or with at least as many as it has, becomes straight
// code. Otherwise n copies of the body make one trip of a loop with n times the
// step, and a second loop runs what is left. The mark is gone afterwards, unless
// the loop could not be unrolled: then it stays as a hint and the report says
// what blocked it.
func (s *specializer) unroll() int {
	marked := false
	s.def.Walk(func(op *loom.Op) bool {
		marked = marked || unrollMarked(op)
		return !marked
	})
	if !marked {
		return 0
	}
	u := &unroller{s: s, set: s.analyze(), repl: map[*loom.Value]*loom.Value{}}
	s.def.Regions(u.region)
	return u.n
}

func unrollMarked(op *loom.Op) bool {
	return op.Def.Name == "scf.for" && (op.Has("unroll") || len(op.Field("unroll_factor")) > 0)
}

type unroller struct {
	s    *specializer
	set  *facts.Set
	repl map[*loom.Value]*loom.Value
	n    int
}

func (u *unroller) get(v *loom.Value) *loom.Value {
	for {
		w, ok := u.repl[v]
		if !ok {
			return v
		}
		v = w
	}
}

func (u *unroller) region(r *loom.Region) {
	for _, b := range r.Blocks {
		out := make([]*loom.Op, 0, len(b.Ops))
		for _, a := range b.Args {
			a.Type = a.Type.Map(u.get)
		}
		for _, op := range b.Ops {
			rewrite.Map(op, u.get)
			for _, in := range op.Regions { // inner loops first
				u.region(in)
			}
			if unrollMarked(op) {
				if ops, ok := u.expand(op); ok {
					for _, o := range ops {
						o.Block = b
					}
					out = append(out, ops...)
					u.n++
					continue
				}
			}
			out = append(out, op)
		}
		b.Ops = out
	}
}

// note reports what happened to a loop, once per loop and outcome.
func (u *unroller) note(op *loom.Op, format string, args ...any) {
	n := LoopNote{Place: op.NameSpan().String(), Action: fmt.Sprintf(format, args...)}
	for _, old := range u.s.report.Loops {
		if old == n {
			return
		}
	}
	u.s.report.Loops = append(u.s.report.Loops, n)
}

func (u *unroller) expand(op *loom.Op) ([]*loom.Op, bool) {
	if len(op.Regions) != 1 || rewrite.Yield(op.Regions[0]) == nil {
		return nil, false
	}
	lb, ub, step := u.set.Of(op.Operand("lower_bound")), u.set.Of(op.Operand("upper_bound")), u.set.Of(op.Operand("step"))
	st, ok := step.Const()
	if !ok || st <= 0 {
		u.note(op, "kept: the step is not a known positive constant")
		return nil, false
	}
	factor := int64(0) // 0: as many as there are
	if fs := op.Field("unroll_factor"); len(fs) > 0 {
		c, ok := u.set.Of(fs[0]).Const()
		if !ok {
			u.note(op, "kept: the unroll factor is not constant")
			return nil, false
		}
		if c < 0 {
			u.s.fail(u.s.at(op, diag.Errorf(op.NameSpan(), "STRUCTURE/014", "unroll factor %d of a loop, want a positive number", c)))
			return nil, false
		}
		factor = c
	}
	size := int64(0)
	op.Regions[0].Walk(func(*loom.Op) bool { size++; return true })

	trips, known := int64(0), false
	if l, ok := lb.Const(); ok {
		if h, ok := ub.Const(); ok {
			trips, known = max(0, (h-l+st-1)/st), true
		}
	}
	// Bounds that move together have a known distance.
	if !known {
		if d := op.Operand("upper_bound").Def; d != nil && d.Def.Name == "index.add" {
			for i := range 2 {
				if c, ok := u.set.Of(d.Operands[i]).Const(); ok && d.Operands[1-i] == op.Operand("lower_bound") && c >= 0 {
					trips, known = (c+st-1)/st, true
				}
			}
		}
	}
	switch {
	case known && (factor == 0 || factor >= trips):
		if trips > maxFullTrips || trips*size > maxUnrolled {
			u.note(op, "kept: %d trips of %d operations are too many to unroll", trips, size)
			return nil, false
		}
		u.note(op, "unrolled: %s", plural(int(trips), "trip"))
		return u.full(op, trips, st), true
	case factor == 0:
		u.note(op, "kept: the number of trips is not constant (from %s to %s)", lb.Known(), ub.Known())
		return nil, false
	case factor == 1:
		u.clear(op)
		u.note(op, "kept: unroll factor 1")
		return nil, false
	case factor > maxFactor || factor*size > maxUnrolled:
		u.note(op, "kept: %d copies of %d operations are too many", factor, size)
		return nil, false
	}
	return u.partial(op, factor, st, trips, known)
}

func (u *unroller) clear(op *loom.Op) {
	attrs := op.Attrs[:0]
	for _, a := range op.Attrs {
		if a.Name != "unroll" {
			attrs = append(attrs, a)
		}
	}
	op.Attrs = attrs
	if i := rewrite.FieldIndex(op.Def, "unroll_factor"); i >= 0 && len(op.Field("unroll_factor")) > 0 {
		rewrite.SetOperands(op, i, nil)
	}
}

// copyBody appends one copy of the loop's body with the given counter and carried
// values and returns what it yields.
func (u *unroller) copyBody(op *loom.Op, out *[]*loom.Op, iv *loom.Value, carried []*loom.Value) []*loom.Value {
	b := op.Regions[0].Blocks[0]
	m := make(map[*loom.Value]*loom.Value, len(b.Ops)+len(carried)+1)
	m[b.Args[0]] = iv
	for i, v := range carried {
		m[b.Args[i+1]] = v
	}
	site := u.s.site(op)
	// The block's arguments are mapped, not copied.
	ops := loom.CloneRegion(&loom.Region{Blocks: []*loom.Block{{Ops: b.Ops}}}, m).Blocks[0].Ops
	for i, c := range ops {
		if c.Def.Traits&loom.Terminator != 0 {
			return c.Operands
		}
		u.copySites(b.Ops[i], c)
		if _, own := u.s.sites[c]; !own && site != nil {
			u.s.sites[c] = site
		}
		*out = append(*out, c)
	}
	return nil
}

// copySites gives a clone the call sites of its original.
func (u *unroller) copySites(from, to *loom.Op) {
	if c, ok := u.s.sites[from]; ok {
		u.s.sites[to] = c
	}
	for i, r := range from.Regions {
		for j, b := range r.Blocks {
			for k, o := range b.Ops {
				u.copySites(o, to.Regions[i].Blocks[j].Ops[k])
			}
		}
	}
}

func (u *unroller) constant(op *loom.Op, out *[]*loom.Op, c int64, name string) *loom.Value {
	n := rewrite.Op("index.constant", op.Span, op.Operand("lower_bound").Type, name)
	n.SetAttr("value", loom.IntAttr(c))
	*out = append(*out, n)
	return n.Result()
}

func (u *unroller) add(op *loom.Op, out *[]*loom.Op, a *loom.Value, c int64, name string) *loom.Value {
	if c == 0 {
		return a
	}
	n := rewrite.Op("index.add", op.Span, a.Type, name, a, u.constant(op, out, c, name+"_step"))
	*out = append(*out, n)
	return n.Result()
}

func (u *unroller) full(op *loom.Op, trips, step int64) []*loom.Op {
	var out []*loom.Op
	carried := op.Field("iter_args")
	iv := op.Regions[0].Blocks[0].Args[0]
	lb := op.Operand("lower_bound")
	for t := range trips {
		carried = u.copyBody(op, &out, u.add(op, &out, lb, t*step, iv.Name), carried)
	}
	for i, r := range op.Results {
		u.repl[r] = carried[i]
	}
	return out
}

// partial makes the main loop of factor-fold trips and the loop of what is left.
func (u *unroller) partial(op *loom.Op, factor, step, trips int64, known bool) ([]*loom.Op, bool) {
	lb, ub := op.Operand("lower_bound"), op.Operand("upper_bound")
	stride := factor * step
	var out []*loom.Op
	var middle *loom.Value
	rest := int64(-1)
	if known {
		rest = trips % factor
		middle = u.add(op, &out, lb, trips/factor*stride, "unrolled_end")
		u.note(op, "unrolled by %d, %s left over", factor, plural(int(rest), "trip"))
	} else {
		if lb.Type.Kind != loom.Index {
			u.note(op, "kept: the number of trips of an offset loop is not constant")
			return nil, false
		}
		// whole = (max(ub, lb) − lb) / stride · stride
		bin := func(name string, a, b *loom.Value, as string) *loom.Value {
			n := rewrite.Op(name, op.Span, lb.Type, as, a, b)
			out = append(out, n)
			return n.Result()
		}
		end := bin("index.max", ub, lb, "unrolled_bound")
		span := bin("index.sub", end, lb, "unrolled_span")
		width := u.constant(op, &out, stride, "unrolled_step")
		whole := bin("index.mul", bin("index.div", span, width, "unrolled_trips"), width, "unrolled_whole")
		middle = bin("index.add", lb, whole, "unrolled_end")
		u.note(op, "unrolled by %d, the number of trips is not constant", factor)
	}
	main := u.shell(op, lb, middle, u.constant(op, &out, stride, "unrolled_step"), op.Field("iter_args"))
	body := main.Regions[0].Blocks[0]
	carried := append([]*loom.Value(nil), body.Args[1:]...)
	var ops []*loom.Op
	for t := range factor {
		carried = u.copyBody(op, &ops, u.add(op, &ops, body.Args[0], t*step, body.Args[0].Name), carried)
	}
	y := *rewrite.Yield(op.Regions[0])
	y.Operands, y.Block = carried, body
	for _, o := range ops {
		o.Block = body
	}
	body.Ops = append(ops, &y)
	out = append(out, main)
	results := main.Results
	if rest != 0 {
		left := u.shell(op, middle, ub, op.Operand("step"), results)
		b := left.Regions[0].Blocks[0]
		var ops []*loom.Op
		ys := u.copyBody(op, &ops, b.Args[0], b.Args[1:])
		t := *rewrite.Yield(op.Regions[0])
		t.Operands, t.Block = ys, b
		for _, o := range ops {
			o.Block = b
		}
		b.Ops = append(ops, &t)
		out = append(out, left)
		results = left.Results
	}
	for i, r := range op.Results {
		u.repl[r] = results[i]
	}
	return out, true
}

// shell makes a loop like op, without a body and without the unroll mark.
func (u *unroller) shell(op *loom.Op, lb, ub, step *loom.Value, inits []*loom.Value) *loom.Op {
	n := &loom.Op{Def: op.Def, Span: op.Span, NamePos: op.NamePos, Trivia: op.Trivia}
	n.Attrs = append(n.Attrs, op.Attrs...)
	n.Operands = append([]*loom.Value(nil), op.Operands...)
	n.Segs = append([]uint16(nil), op.Segs...)
	u.clear(n)
	set := func(field string, vs ...*loom.Value) { rewrite.SetOperands(n, rewrite.FieldIndex(n.Def, field), vs) }
	set("lower_bound", lb)
	set("upper_bound", ub)
	set("step", step)
	set("iter_args", inits...)
	for i, r := range op.Results {
		n.Results = append(n.Results, &loom.Value{Name: r.Name, Type: r.Type, Def: n, Index: int32(i), Pos: r.Pos})
	}
	r := &loom.Region{Op: n, Span: op.Regions[0].Span}
	b := &loom.Block{Region: r}
	r.Blocks = []*loom.Block{b}
	for i, a := range op.Regions[0].Blocks[0].Args {
		b.Args = append(b.Args, &loom.Value{Name: a.Name, Type: a.Type, Block: b, Index: int32(i), Pos: a.Pos})
	}
	n.Regions = []*loom.Region{r}
	if c := u.s.site(op); c != nil {
		u.s.sites[n] = c
	}
	return n
}
