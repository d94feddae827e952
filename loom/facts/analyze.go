package facts

import (
	"math"
	"strings"

	"github.com/loomc/loomc/loom"
)

// Analyze computes the facts of a definition: its launch-config block first
// (what it computes bounds the workgroup and work-item numbers of the body),
// then its body. The definition must be loaded.
func Analyze(def *loom.Def, env Env) *Set {
	n := len(def.Workload) + len(def.Params)
	def.Walk(func(o *loom.Op) bool {
		n += len(o.Results)
		for _, r := range o.Regions {
			for _, b := range r.Blocks {
				n += len(b.Args)
			}
		}
		return true
	})
	z := &analyzer{
		env: env,
		set: &Set{
			def: def, vals: make(map[*loom.Value]Fact, n), floats: map[*loom.Value]float64{},
			scopes: map[*loom.Region]*scope{}, aliases: map[*loom.Value]*loom.Value{},
		},
		copies: map[*loom.Value][]*loom.Value{},
	}
	z.size = env.WorkgroupSize
	z.axisLimits()
	params := func(vs []*loom.Value, u Uniformity) {
		for _, v := range vs {
			f := TopOf(v.Type)
			f.Uniform = u
			if g, ok := env.Params[v]; ok {
				f = f.Meet(g)
			}
			z.put(v, f)
		}
	}
	u := Varying
	if def.Kind == loom.DefKernel {
		u = UniformGrid
	}
	params(def.Workload, UniformGrid)
	params(def.Params, u)
	root := &scope{control: UniformWorkgroup}
	if def.Kind == loom.DefKernel {
		root.control = UniformGrid
	}
	z.where(root, def)
	if def.Config != nil {
		z.set.scopes[def.Config] = &scope{control: UniformGrid}
		z.region(def.Config, z.set.scopes[def.Config])
		z.launch(def.Config)
	} else {
		z.launch(nil)
	}
	if def.Body != nil {
		z.set.scopes[def.Body] = root
		z.region(def.Body, root)
	}
	return z.set
}

type undo struct {
	v   *loom.Value
	old Fact
	had bool
}

type analyzer struct {
	env    Env
	set    *Set
	undo   []undo
	copies map[*loom.Value][]*loom.Value // root → values that promise something about it
	size   [3]int64                      // constant workgroup size, 0 where unknown
	maxDim [3]int64
	maxWG  int64
	args   []Fact // scratch
}

func (z *analyzer) axisLimits() {
	z.maxWG = z.env.MaxWorkgroupSize
	if z.maxWG == 0 {
		z.maxWG = 1024
	}
	for i := range z.maxDim {
		z.maxDim[i] = z.env.MaxWorkgroupDim[i]
		if z.maxDim[i] == 0 || z.maxDim[i] > z.maxWG {
			z.maxDim[i] = z.maxWG
		}
	}
}

func (z *analyzer) get(v *loom.Value) Fact {
	if f, ok := z.set.vals[v]; ok {
		return f
	}
	return TopOf(v.Type)
}

func (z *analyzer) put(v *loom.Value, f Fact) { z.set.vals[v] = f }

func (z *analyzer) root(v *loom.Value) *loom.Value {
	for {
		r, ok := z.set.aliases[v]
		if !ok {
			return v
		}
		v = r
	}
}

// where applies a definition's where clause to its parameters. Predicates may
// mention each other's values, so a second round lets bounds settle.
func (z *analyzer) where(sc *scope, def *loom.Def) {
	for range 2 {
		for _, p := range def.Where {
			for _, a := range p.Args {
				if a.Val != nil {
					z.put(a.Val, z.predicateOn(z.get(a.Val), a.Val, p))
				}
			}
		}
	}
	for _, p := range def.Where {
		z.relatePred(sc, p)
	}
}

// launch records what the launch-config block computes.
func (z *analyzer) launch(r *loom.Region) {
	l := &z.set.Launch
	for i := range 3 {
		l.Count[i] = Range(1, math.MaxInt32, UniformGrid)
		if m := z.env.MaxGridDim[i]; m > 0 {
			l.Count[i].Hi = m
		}
		l.Size[i] = Range(1, z.maxDim[i], UniformGrid)
		l.Cluster[i] = Exact(1)
	}
	if b := r.Entry(); b != nil {
		if t := b.Terminator(); t != nil && t.Name() == "kernel.launch.config" {
			for i, axis := range [3]string{"x", "y", "z"} {
				if v := t.Operand("workgroup_count_" + axis); v != nil {
					f := z.get(v)
					f.Lo = max(f.Lo, 1) // an empty grid runs no work item
					if f.Hi >= f.Lo {
						l.Count[i] = l.Count[i].Meet(f)
					}
				}
				if v := t.Operand("workgroup_size_" + axis); v != nil {
					l.Size[i] = l.Size[i].Meet(z.get(v))
				}
				if v := t.Operand("cluster_size_" + axis); v != nil {
					l.Cluster[i] = z.get(v)
				}
			}
		}
	}
	for i := range 3 {
		if z.size[i] != 0 {
			l.Size[i] = Exact(z.size[i])
		} else if c, ok := l.Size[i].Const(); ok {
			z.size[i] = c
		}
		l.Count[i].Uniform, l.Size[i].Uniform, l.Cluster[i].Uniform = UniformGrid, UniformGrid, UniformGrid
	}
}

// region walks the blocks of a region. Values of other blocks than the entry
// that arrive through block arguments are unknown.
func (z *analyzer) region(r *loom.Region, sc *scope) {
	for i, b := range r.Blocks {
		if i > 0 {
			sc.control = Varying
			for _, a := range b.Args {
				z.put(a, TopOf(a.Type))
			}
		}
		for _, op := range b.Ops {
			z.op(op, sc)
		}
	}
}

// enter opens the scope of a nested region; leave undoes its refinements.
func (z *analyzer) enter(r *loom.Region, control Uniformity) (*scope, int) {
	sc := &scope{region: r, control: control}
	z.set.scopes[r] = sc
	return sc, len(z.undo)
}

func (z *analyzer) leave(mark int) {
	for i := len(z.undo) - 1; i >= mark; i-- {
		u := z.undo[i]
		if u.had {
			z.set.vals[u.v] = u.old
		} else {
			delete(z.set.vals, u.v)
		}
	}
	z.undo = z.undo[:mark]
}

// yields returns the operands of the region's terminator called name.
func yields(r *loom.Region) []*loom.Value {
	if len(r.Blocks) == 0 {
		return nil
	}
	t := r.Blocks[len(r.Blocks)-1].Terminator()
	if t == nil {
		return nil
	}
	return t.Operands
}

func (z *analyzer) op(op *loom.Op, sc *scope) {
	name := op.Def.Name
	if h, ok := handlers[name]; ok {
		h(z, op, sc)
		return
	}
	if len(op.Results) == 0 && len(op.Regions) == 0 {
		return
	}
	for _, r := range op.Regions { // an operation without a rule of its own
		in, mark := z.enter(r, Varying)
		z.region(r, in)
		z.leave(mark)
	}
	if len(op.Results) == 0 {
		return
	}
	z.args = z.args[:0]
	u := UniformGrid
	for _, v := range op.Operands {
		f := z.get(v)
		u = min(u, f.Uniform)
		z.args = append(z.args, f)
	}
	if op.Def.Traits&loom.Pure == 0 {
		u = Varying
	}
	if len(op.Operands) == 2 && z.root(op.Operands[0]) == z.root(op.Operands[1]) {
		switch name {
		case "index.sub", "index.xori", "scalar.subi", "scalar.xori", "vector.subi", "vector.xori":
			z.put(op.Results[0], Exact(0))
			return
		}
	}
	t, ok := transfers[name]
	if !ok {
		if rest, isScalar := strings.CutPrefix(name, "scalar."); isScalar {
			t, ok = transfers[rest]
		} else if rest, isVector := strings.CutPrefix(name, "vector."); isVector {
			t, ok = transfers[rest]
		}
	}
	for _, r := range op.Results {
		k := r.Type.Element()
		if !ok || len(z.args) == 0 {
			f := Top(k)
			f.Uniform = u
			z.put(r, f)
			continue
		}
		f := clamp(k, t(op, k, z.args))
		if f.Lo != f.Hi {
			f.Uniform = u
		}
		if k.IsFloat() {
			f = Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1, NotNaN: f.NotNaN, NotInf: f.NotInf, Uniform: u}
		}
		z.put(r, f)
	}
}

// handlers are the operations whose facts do not follow from their operands'
// facts alone.
var handlers map[string]func(z *analyzer, op *loom.Op, sc *scope)

func init() {
	// Not a literal: the handlers of regions lead back to the table.
	handlers = map[string]func(z *analyzer, op *loom.Op, sc *scope){
		"index.constant": (*analyzer).constant, "scalar.constant": (*analyzer).constant, "vector.constant": (*analyzer).constant,
		"index.assume": (*analyzer).assume, "scalar.assume": (*analyzer).assume,
		"index.cast": (*analyzer).cast,
		"index.cmp":  (*analyzer).cmp, "scalar.cmpi": (*analyzer).cmp,
		"config.get": (*analyzer).config, "scf.select": (*analyzer).choose, "vector.select": (*analyzer).choose,
		"scf.if": (*analyzer).branch, "scf.for": (*analyzer).loop, "scf.while": (*analyzer).while, "scf.switch": (*analyzer).choice,
		"scf.lookup": (*analyzer).lookup, "vector.fragment": (*analyzer).fragment,
		"view.load": (*analyzer).load, "vector.load": (*analyzer).load, "vector.load.mask": (*analyzer).load,
		"buffer.length": (*analyzer).length, "buffer.pack": (*analyzer).pack, "buffer.alloca": (*analyzer).alloca,
		"kernel.workgroup.id": (*analyzer).query, "kernel.workgroup.count": (*analyzer).query, "kernel.workgroup.size": (*analyzer).query,
		"kernel.workitem.id": (*analyzer).query, "kernel.workitem.dispatch.id": (*analyzer).query,
		"kernel.cluster.id": (*analyzer).query, "kernel.cluster.size": (*analyzer).query, "kernel.cluster.count": (*analyzer).query,
		"kernel.cluster.workgroup.id": (*analyzer).query, "kernel.cluster.workgroup.flat_id": (*analyzer).query,
		"kernel.subgroup.id": (*analyzer).query, "kernel.subgroup.lane.id": (*analyzer).query, "kernel.subgroup.size": (*analyzer).query,
		"kernel.subgroup.count": (*analyzer).query, "target.subgroup.size": (*analyzer).query,
		"kernel.subgroup.reduce": (*analyzer).collective, "kernel.subgroup.broadcast": (*analyzer).collective,
		"kernel.subgroup.broadcast.first": (*analyzer).collective, "kernel.subgroup.vote.all": (*analyzer).collective,
		"kernel.subgroup.vote.any": (*analyzer).collective, "kernel.subgroup.vote.ballot": (*analyzer).collective,
		"kernel.subgroup.active.mask": (*analyzer).collective, "kernel.subgroup.match.all": (*analyzer).collective,
		"kernel.subgroup.scan": (*analyzer).lanewise, "kernel.subgroup.shuffle": (*analyzer).lanewise,
		"kernel.subgroup.match.any": (*analyzer).lanewise, "kernel.workgroup.scan": (*analyzer).lanewise,
		"kernel.workgroup.reduce": (*analyzer).collective, "kernel.workgroup.vote.all": (*analyzer).collective,
		"kernel.workgroup.vote.any": (*analyzer).collective, "kernel.workgroup.vote.count": (*analyzer).collective,
	}
}

func (z *analyzer) constant(op *loom.Op, _ *scope) {
	r := op.Result()
	k := r.Type.Element()
	a := op.Attr("value")
	if k.IsFloat() {
		v := a.Float()
		f := Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1, NotNaN: !math.IsNaN(v), NotInf: !math.IsInf(v, 0), Uniform: UniformGrid}
		z.put(r, f)
		if !r.Type.IsShaped() {
			z.set.floats[r] = v
		}
		return
	}
	if a.Kind == loom.AttrFloat {
		z.put(r, clamp(k, Top(k)))
		return
	}
	z.put(r, Exact(Wrap(k, a.Int)))
}

// Wrap returns v as the signed value of a fixed-width integer kind.
func Wrap(k loom.Kind, v int64) int64 {
	switch k {
	case loom.I1:
		return v & 1
	case loom.I8:
		return int64(int8(v))
	case loom.I16:
		return int64(int16(v))
	case loom.I32:
		return int64(int32(v))
	}
	return v
}

func (z *analyzer) alias(v, of *loom.Value) {
	r := z.root(of)
	z.set.aliases[v] = r
	for _, c := range z.copies[r] {
		if c == v { // a loop body is walked more than once
			return
		}
	}
	if len(z.copies[r]) == 0 {
		z.copies[r] = append(z.copies[r], r)
	}
	z.copies[r] = append(z.copies[r], v)
}

func (z *analyzer) assume(op *loom.Op, sc *scope) {
	preds := op.Preds()
	for i, r := range op.Results {
		if i >= len(op.Operands) {
			break
		}
		x := op.Operands[i]
		f := z.get(x)
		for _, p := range preds {
			f = z.predicateOn(f, x, p)
			f = z.predicateOn(f, r, p)
		}
		z.put(r, f)
		if c, ok := z.set.floats[x]; ok {
			z.set.floats[r] = c
		}
		z.alias(r, x)
	}
	for _, p := range preds {
		z.relatePred(sc, p)
	}
}

func (z *analyzer) fragment(op *loom.Op, _ *scope) {
	f := z.get(op.Operands[0])
	z.put(op.Result(), f)
}

func (z *analyzer) cast(op *loom.Op, _ *scope) {
	x, r := op.Operands[0], op.Result()
	f := z.get(x)
	u := f.Uniform
	f = clamp(r.Type.Element(), cast(x.Type.Element(), r.Type.Element(), f))
	if f.Lo != f.Hi {
		f.Uniform = u
	}
	z.put(r, f)
}

func (z *analyzer) cmp(op *loom.Op, _ *scope) {
	a, b := op.Operands[0], op.Operands[1]
	f := Top(loom.I1)
	f.Uniform = min(z.get(a).Uniform, z.get(b).Uniform)
	if k, ok := cmpKinds[op.Word("predicate")]; ok {
		switch z.set.compare(op, k, a, b, z.get(a), z.get(b)) {
		case Match:
			f = Exact(1)
		case Reject:
			f = Exact(0)
		}
	}
	z.put(op.Result(), f)
}

func (z *analyzer) config(op *loom.Op, _ *scope) {
	r := op.Result()
	f := TopOf(r.Type)
	key := op.Attr("config").Str
	if r.Type.Kind.IsFloat() {
		if z.env.ConfigFloat != nil {
			if v, ok := z.env.ConfigFloat(key); ok {
				f.NotNaN, f.NotInf = !math.IsNaN(v), !math.IsInf(v, 0)
				z.set.floats[r] = v
			}
		}
	} else if z.env.Config != nil {
		if g, ok := z.env.Config(key); ok {
			f = f.Meet(g)
		}
	}
	f.Uniform = UniformGrid
	z.put(r, f)
}

func (z *analyzer) choose(op *loom.Op, _ *scope) {
	c, a, b := z.get(op.Operands[0]), z.get(op.Operands[1]), z.get(op.Operands[2])
	f := a.Join(b)
	if v, ok := c.Const(); ok && op.Operands[0].Type.Kind == loom.I1 {
		if f = b; v == 1 {
			f = a
		}
	} else if f.Lo != f.Hi {
		f.Uniform = min(f.Uniform, c.Uniform)
	}
	z.put(op.Result(), f)
}

func (z *analyzer) branch(op *loom.Op, sc *scope) {
	c := z.get(op.Operands[0])
	control := min(sc.control, c.Uniform)
	var outs [2][]Fact
	for i, r := range op.Regions {
		in, mark := z.enter(r, control)
		z.condition(in, op.Operands[0], i == 0, 0)
		z.region(r, in)
		for _, v := range yields(r) {
			outs[i] = append(outs[i], z.get(v))
		}
		z.leave(mark)
	}
	for i, r := range op.Results {
		f := TopOf(r.Type)
		switch {
		case len(op.Regions) < 2 || i >= len(outs[0]) || i >= len(outs[1]):
		case c.IsConst(1):
			f = outs[0][i]
		case c.IsConst(0):
			f = outs[1][i]
		default:
			f = outs[0][i].Join(outs[1][i])
			if f.Lo != f.Hi {
				f.Uniform = min(f.Uniform, c.Uniform)
			}
		}
		z.put(r, f)
	}
}

// loop handles scf.for: the counter's range follows from the bounds, carried
// values are widened until the body's result lies inside what was assumed.
func (z *analyzer) loop(op *loom.Op, sc *scope) {
	lbV, ubV, stepV := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step")
	if lbV == nil || ubV == nil || stepV == nil || len(op.Regions) == 0 || len(op.Regions[0].Blocks) == 0 {
		return
	}
	lb, ub, step := z.get(lbV), z.get(ubV), z.get(stepV)
	trips := min(lb.Uniform, ub.Uniform, step.Uniform)
	inits := op.Field("iter_args")
	body := op.Regions[0]
	args := body.Entry().Args
	if len(args) == 0 {
		return
	}
	iv, carried := args[0], args[1:]

	ivf := Fact{Lo: lb.Lo, Hi: math.MaxInt64, Div: gcd(lb.Div, step.Div), Uniform: min(lb.Uniform, step.Uniform)}
	maxTrips := int64(math.MaxInt64)
	if ub.Hi > math.MinInt64 {
		ivf.Hi = ub.Hi - 1
		if l, ok := lb.Const(); ok && step.Lo == step.Hi && step.Lo > 0 && ivf.Hi >= l {
			if span, ok := subOK(ivf.Hi, l); ok {
				ivf.Hi = l + span/step.Lo*step.Lo
			}
		}
		if step.Lo >= 1 {
			if span, ok := subOK(ub.Hi, lb.Lo); ok {
				maxTrips = max(0, (span+step.Lo-1)/step.Lo)
			}
		}
	}
	if ivf.Hi < ivf.Lo { // never runs
		ivf.Hi = ivf.Lo
		maxTrips = 0
	}
	ivf = ivf.norm()
	if ivf.Lo == ivf.Hi {
		ivf.Uniform = UniformGrid
	}

	state := make([]Fact, len(carried))
	for i := range carried {
		state[i] = TopOf(carried[i].Type)
		if i < len(inits) {
			state[i] = z.get(inits[i])
		}
	}
	l := &carry{args: carried, inits: inits, state: state, out: make([]Fact, len(carried)), after: make([]Fact, len(carried)), counts: make([]bool, len(carried)), trips: maxTrips}
	run := func() {
		in, mark := z.enter(body, min(sc.control, trips))
		z.put(iv, ivf)
		for i, a := range carried {
			z.put(a, l.state[i])
		}
		z.relate(in, loom.PredLt, iv, ubV, ivf, ub)
		z.relate(in, loom.PredGe, iv, lbV, ivf, lb)
		z.region(body, in)
		l.yields = yields(body)
		for i := range l.out {
			if l.out[i] = TopOf(carried[i].Type); i < len(l.yields) {
				l.out[i] = z.get(l.yields[i])
			}
		}
		z.settleInduction(l)
		z.leave(mark)
	}
	z.fixpoint(l, run)
	for i, r := range op.Results {
		f := TopOf(r.Type)
		if i < len(l.state) {
			f = l.state[i]
			if l.counts[i] {
				f = l.after[i]
			}
			if maxTrips == 0 && i < len(inits) {
				f = z.get(inits[i])
			} else if f.Lo != f.Hi {
				f.Uniform = min(f.Uniform, trips)
			}
		}
		z.put(r, f)
	}
}

// carry is the state of a loop's carried values while it settles.
type carry struct {
	args, inits, yields []*loom.Value
	state               []Fact // assumed at the start of every trip
	out                 []Fact // what a trip hands on
	after               []Fact // after the last trip, where counts
	counts              []bool // grows by a bounded amount per trip
	trips               int64
}

// fixpoint runs the loop until every trip's outcome lies inside what was assumed
// at its start: the state joins the outcome at first, then unstable ends of
// ranges go to the limits of the type. One more run from what the settled state
// yields takes back what was given away too quickly.
func (z *analyzer) fixpoint(l *carry, run func()) {
	for round := 0; ; round++ {
		run()
		if l.trips == 0 || z.widen(l, round) {
			break
		}
	}
	if l.trips == 0 {
		return
	}
	narrowed := false
	old := append([]Fact(nil), l.state...)
	for i := range l.state {
		if l.counts[i] || i >= len(l.inits) {
			continue
		}
		f := z.get(l.inits[i]).Join(l.out[i])
		if f != l.state[i] && l.state[i].covers(f) && (f.Lo > l.state[i].Lo || f.Hi < l.state[i].Hi) {
			l.state[i], narrowed = f, true
		}
	}
	if !narrowed {
		return
	}
	run()
	for i := range l.state {
		if !l.state[i].covers(l.out[i]) {
			l.state = old
			run()
			return
		}
	}
}

// widen compares what a trip yields with the assumed state and extends the state
// where it does not cover it. It reports whether the state stands.
func (z *analyzer) widen(l *carry, round int) bool {
	done := true
	for i := range l.state {
		s := l.state[i]
		t := TopOf(l.args[i].Type)
		if l.counts[i] {
			if s.covers(l.out[i]) { // out holds the counted range, see settleInduction
				continue
			}
			done = false
			if round <= 6 {
				l.state[i] = s.Join(l.out[i])
				continue
			}
			l.counts[i] = false
		} else if s.covers(l.out[i]) {
			continue
		}
		done = false
		f := s.Join(l.out[i])
		switch {
		case round > 8: // safety net: give up on everything
			t.Uniform = Varying
			l.state[i] = t
			continue
		case round >= 2:
			if f.Lo < s.Lo {
				f.Lo = t.Lo
				if l.out[i].Lo >= 0 && s.Lo >= 0 {
					f.Lo = 0
				}
			}
			if f.Hi > s.Hi {
				f.Hi = t.Hi
			}
			if round > 4 {
				f.Div, f.Pow2 = 1, false
			}
		}
		l.state[i] = f.norm()
	}
	return done
}

// settleInduction replaces the outcome of carried + step values by the range the
// value takes at the start of any trip, as long as the number of trips and the
// step are bounded, and records the range after the last trip.
func (z *analyzer) settleInduction(l *carry) {
	for i, arg := range l.args {
		l.counts[i] = false
		if i >= len(l.yields) || i >= len(l.inits) {
			continue
		}
		during, after, ok := z.induction(arg, l.yields[i], z.get(l.inits[i]), l.trips)
		if !ok {
			continue
		}
		during.Uniform = min(l.out[i].Uniform, z.get(l.inits[i]).Uniform)
		after.Uniform = during.Uniform
		l.counts[i], l.out[i], l.after[i] = true, during.norm(), after.norm()
	}
}

// induction recognises carried + step with a bounded number of trips. It returns
// the facts at the start of a trip and after the last one.
func (z *analyzer) induction(arg, yield *loom.Value, init Fact, trips int64) (during, after Fact, ok bool) {
	d := yield.Def
	if d == nil || trips < 1 || trips > 1<<40 {
		return
	}
	switch d.Def.Name {
	case "index.add", "scalar.addi":
	default:
		return
	}
	var delta Fact
	switch {
	case d.Operands[0] == arg && d.Operands[1] != arg:
		delta = z.get(d.Operands[1])
	case d.Operands[1] == arg && d.Operands[0] != arg:
		delta = z.get(d.Operands[0])
	default:
		return
	}
	t := TopOf(arg.Type)
	reach := func(n int64) (Fact, bool) {
		lo, ok1 := mulOK(min(delta.Lo, 0), n)
		hi, ok2 := mulOK(max(delta.Hi, 0), n)
		if !ok1 || !ok2 {
			return Fact{}, false
		}
		f := add(init, Fact{Lo: lo, Hi: hi, Div: delta.Div})
		return f, f.Lo >= t.Lo && f.Hi <= t.Hi && f != wide
	}
	during, ok1 := reach(trips - 1)
	after, ok2 := reach(trips)
	return during, after, ok1 && ok2
}

func (z *analyzer) while(op *loom.Op, sc *scope) {
	if len(op.Regions) < 2 || len(op.Regions[0].Blocks) == 0 || len(op.Regions[1].Blocks) == 0 {
		return
	}
	before, after := op.Regions[0], op.Regions[1]
	inits := op.Field("iter_args")
	args := before.Entry().Args
	state := make([]Fact, len(args))
	for i := range args {
		state[i] = TopOf(args[i].Type)
		if i < len(inits) {
			state[i] = z.get(inits[i])
		}
	}
	l := &carry{args: args, inits: inits, state: state, out: make([]Fact, len(args)), after: make([]Fact, len(args)), counts: make([]bool, len(args)), trips: math.MaxInt64}
	trips := sc.control
	var results []Fact
	run := func() {
		for i, a := range args {
			z.put(a, l.state[i])
		}
		in, mark := z.enter(before, min(sc.control, trips))
		z.region(before, in)
		var cond *loom.Value
		var fwd []*loom.Value
		if t := before.Blocks[len(before.Blocks)-1].Terminator(); t != nil && len(t.Operands) > 0 {
			cond, fwd = t.Operands[0], t.Operands[1:]
			trips = min(trips, z.get(cond).Uniform)
		}
		body, inner := z.enter(after, min(sc.control, trips))
		if cond != nil {
			z.condition(body, cond, true, 0)
		}
		for i, a := range after.Entry().Args {
			f := TopOf(a.Type)
			if i < len(fwd) {
				f = z.get(fwd[i])
			}
			z.put(a, f)
		}
		z.region(after, body)
		ys := yields(after)
		for i := range l.out {
			if l.out[i] = TopOf(args[i].Type); i < len(ys) {
				l.out[i] = z.get(ys[i])
			}
		}
		z.leave(inner)
		exit := &scope{region: before}
		if cond != nil {
			z.condition(exit, cond, false, 0)
		}
		results = results[:0]
		for _, v := range fwd {
			results = append(results, z.get(v))
		}
		z.leave(mark)
	}
	for {
		z.fixpoint(l, run)
		if z.set.scopes[before].control == min(sc.control, trips) {
			break
		}
	}
	for i, r := range op.Results {
		f := TopOf(r.Type)
		if i < len(results) {
			f = results[i]
			if f.Lo != f.Hi {
				f.Uniform = min(f.Uniform, trips)
			}
		}
		z.put(r, f)
	}
}

func (z *analyzer) choice(op *loom.Op, sc *scope) {
	sel := z.get(op.Operands[0])
	cases := op.Attr("cases").Ints()
	joined := make([]Fact, len(op.Results))
	seen := false
	for i, r := range op.Regions {
		in, mark := z.enter(r, min(sc.control, sel.Uniform))
		reachable := true
		if i < len(cases) {
			reachable = !sel.Contradicts(Exact(cases[i]))
			z.refine(in, op.Operands[0], Exact(cases[i]))
		} else if c, ok := sel.Const(); ok {
			for _, k := range cases {
				reachable = reachable && k != c
			}
		}
		z.region(r, in)
		ys := yields(r)
		for j := range joined {
			f := TopOf(op.Results[j].Type)
			if j < len(ys) {
				f = z.get(ys[j])
			}
			if !seen {
				joined[j] = f
			} else if reachable {
				joined[j] = joined[j].Join(f)
			}
		}
		seen = seen || reachable
		z.leave(mark)
	}
	for j, r := range op.Results {
		f := joined[j]
		if f.Lo != f.Hi {
			f.Uniform = min(f.Uniform, sel.Uniform)
		}
		z.put(r, f)
	}
}

func (z *analyzer) lookup(op *loom.Op, _ *scope) {
	sel := z.get(op.Operands[0])
	keys := op.Attr("keys").Ints()
	rows := op.Field("values")
	w := len(op.Results)
	for j, r := range op.Results {
		f := TopOf(r.Type)
		seen := false
		for i := 0; i <= len(keys) && (i+1)*w <= len(rows); i++ {
			if i < len(keys) && sel.Contradicts(Exact(keys[i])) {
				continue
			}
			if g := z.get(rows[i*w+j]); seen {
				f = f.Join(g)
			} else {
				f, seen = g, true
			}
		}
		if f.Lo != f.Hi {
			f.Uniform = min(f.Uniform, sel.Uniform)
		}
		z.put(r, f)
	}
}

// load: one address, one value, as long as no other work item writes it between
// two items' reads; a program where one does has a race.
func (z *analyzer) load(op *loom.Op, _ *scope) {
	u := UniformWorkgroup
	for _, v := range op.Operands {
		u = min(u, z.get(v).Uniform)
	}
	for _, r := range op.Results {
		f := TopOf(r.Type)
		f.Uniform = u
		z.put(r, f)
	}
}

func (z *analyzer) alloca(op *loom.Op, _ *scope) {
	f := wide
	f.Uniform = UniformWorkgroup
	if op.Word("memory_space") == "private" {
		f.Uniform = Varying
	}
	z.put(op.Result(), f)
}

func (z *analyzer) length(op *loom.Op, _ *scope) {
	f := Top(loom.Offset)
	f.Uniform = z.get(op.Operands[0]).Uniform
	z.put(op.Result(), f)
}

// pack lays ranges out one after the other, each at its alignment.
func (z *analyzer) pack(op *loom.Op, _ *scope) {
	at := Exact(0)
	aligns := op.Attr("aligns").Ints()
	u := UniformGrid
	for i, v := range op.Field("lengths") {
		a := int64(1)
		if i < len(aligns) && aligns[i] > 0 {
			a = aligns[i]
		}
		at = alignUp(at, a)
		if i+1 < len(op.Results) {
			f := clamp(loom.Offset, at)
			if f.Lo != f.Hi {
				f.Uniform = u
			}
			z.put(op.Results[i+1], f)
		}
		n := z.get(v)
		u = min(u, n.Uniform)
		at = clamp(loom.Offset, add(at, n))
	}
	if len(op.Results) > 0 {
		if at.Lo != at.Hi {
			at.Uniform = u
		}
		z.put(op.Results[0], at)
	}
}

// alignUp rounds up to a multiple of a.
func alignUp(f Fact, a int64) Fact {
	if a <= 1 || f.DivisibleBy(a) {
		return f
	}
	up := func(v int64) int64 {
		if r := mod(v, a); r != 0 {
			if s, ok := addOK(v, a-r); ok {
				return s
			}
			return math.MaxInt64
		}
		return v
	}
	return Fact{Lo: up(f.Lo), Hi: up(f.Hi), Div: a}.norm()
}

var axes = map[string]int{"x": 0, "y": 1, "z": 2}

func (z *analyzer) query(op *loom.Op, _ *scope) {
	i := axes[op.Word("dimension")]
	l := &z.set.Launch
	wave := Fact{Lo: 32, Hi: 64, Div: 32, Pow2: true, Uniform: UniformGrid}
	if z.env.WaveSize > 0 {
		wave = Exact(z.env.WaveSize)
	}
	flat := mul(mul(l.Size[0], l.Size[1]), l.Size[2])
	flat.Hi = min(flat.Hi, max(z.maxWG, flat.Lo))
	subgroups := clamp(loom.Index, ceildiv(flat, wave))
	below := func(n Fact, u Uniformity) Fact { return Range(0, max(0, n.Hi-1), u) }
	var f Fact
	switch op.Name() {
	case "kernel.workgroup.id", "kernel.cluster.workgroup.id":
		n := l.Count[i]
		if op.Name() != "kernel.workgroup.id" {
			n = l.Cluster[i]
		}
		f = below(n, UniformWorkgroup)
	case "kernel.workgroup.count":
		f = l.Count[i]
	case "kernel.workgroup.size":
		f = l.Size[i]
	case "kernel.cluster.size":
		f = l.Cluster[i]
	case "kernel.cluster.count":
		f = Range(1, l.Count[i].Hi, UniformGrid)
	case "kernel.cluster.id":
		f = below(l.Count[i], UniformWorkgroup)
	case "kernel.cluster.workgroup.flat_id":
		f = below(mul(mul(l.Cluster[0], l.Cluster[1]), l.Cluster[2]), UniformWorkgroup)
	case "kernel.workitem.id":
		f = below(l.Size[i], Varying)
		if z.env.WaveSize > 0 && i > 0 {
			// Work items are numbered x first: with full rows a subgroup lies in one.
			row := z.size[0]
			if i == 2 {
				row *= z.size[1]
			}
			if row > 0 && row%z.env.WaveSize == 0 {
				f.Uniform = max(f.Uniform, UniformSubgroup)
			}
		}
	case "kernel.workitem.dispatch.id":
		f = add(mul(below(l.Count[i], Varying), l.Size[i]), below(l.Size[i], Varying))
		f = clamp(loom.Index, f)
		f.Div = 1
	case "kernel.subgroup.id":
		f = below(subgroups, UniformSubgroup)
	case "kernel.subgroup.lane.id":
		f = below(wave, Varying)
		f.Hi = min(f.Hi, max(0, flat.Hi-1))
	case "kernel.subgroup.size", "target.subgroup.size":
		f = wave
	case "kernel.subgroup.count":
		f = subgroups
		f.Uniform = UniformGrid
	}
	if f.Lo == f.Hi {
		f = Exact(f.Lo)
	}
	z.put(op.Result(), f)
}

// collective results are one value per subgroup, or per cluster of lanes, or
// per workgroup.
func (z *analyzer) collective(op *loom.Op, _ *scope) {
	u := UniformSubgroup
	if strings.HasPrefix(op.Name(), "kernel.workgroup.") {
		u = UniformWorkgroup
	}
	if n := op.Attr("cluster_size"); n.Kind == loom.AttrInt && (z.env.WaveSize == 0 || n.Int < z.env.WaveSize) {
		u = Varying
	}
	var x Fact
	if len(op.Operands) > 0 {
		x = z.get(op.Operands[0])
	}
	kind := op.Word("kind")
	keeps := strings.HasPrefix(kind, "min") || strings.HasPrefix(kind, "max") || strings.HasPrefix(op.Name(), "kernel.subgroup.broadcast")
	for i, r := range op.Results {
		f := TopOf(r.Type)
		if i == 0 && keeps && !r.Type.Element().IsFloat() && !(strings.HasSuffix(kind, "ui") && x.Lo < 0) {
			f = x // the result is one of the lanes' values
		}
		if op.Name() == "kernel.workgroup.vote.count" {
			f = clamp(r.Type.Element(), Range(0, z.maxWG, u))
		}
		if f.Lo != f.Hi {
			f.Uniform = u
		}
		z.put(r, f)
	}
}

func (z *analyzer) lanewise(op *loom.Op, _ *scope) {
	for _, r := range op.Results {
		z.put(r, TopOf(r.Type))
	}
}
