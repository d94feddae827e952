package linker

import (
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/rewrite"
)

// fold walks the definition once, in order, with the facts of all values at
// hand. An operation whose result is one known value becomes a constant in
// place; identities hand their operand on; branches and loops that are decided
// are replaced by what they execute. Types are rewritten on the way, so that an
// extent that became constant is static from there on.
//
// Nothing here changes a result by a bit: float arithmetic is folded only where
// it rounds like the machine does, and never reassociated.
func (s *specializer) fold() int {
	f := &folder{s: s, set: s.analyze(), repl: make(map[*loom.Value]*loom.Value, 64)}
	params := func(vs []*loom.Value) {
		for _, v := range vs {
			v.Type = f.typ(v.Type)
		}
	}
	params(s.def.Workload)
	params(s.def.Params)
	s.def.Regions(f.region)
	s.keepFacts = !f.spliced
	return f.n
}

type folder struct {
	s    *specializer
	set  *facts.Set
	repl map[*loom.Value]*loom.Value
	out  []*loom.Op // block being built
	blk  *loom.Block
	n    int
	// spliced reports that code moved out of a branch or loop, where a second look
	// can find more.
	spliced bool
}

func (f *folder) get(v *loom.Value) *loom.Value {
	for {
		w, ok := f.repl[v]
		if !ok {
			return v
		}
		v = w
	}
}

// constInt returns the integer v is known to be.
func (f *folder) constInt(v *loom.Value) (int64, bool) {
	if v.Type == nil || v.Type.Element().IsFloat() || !v.Type.Element().IsScalar() {
		return 0, false
	}
	if v.Def != nil && rewrite.IsConstant(v.Def) {
		if a := v.Def.Attr("value"); a.Kind == loom.AttrInt || a.Kind == loom.AttrBool {
			return facts.Wrap(v.Type.Element(), a.Int), true
		}
	}
	return f.set.Of(v).Const()
}

func (f *folder) is(v *loom.Value, c int64) bool {
	x, ok := f.constInt(v)
	return ok && x == c
}

// constFloat returns the float v is known to be; for a vector, every lane.
func (f *folder) constFloat(v *loom.Value) (float64, bool) {
	if v.Def != nil && rewrite.IsConstant(v.Def) && v.Type.Element().IsFloat() {
		return v.Def.Attr("value").Float(), true
	}
	return f.set.Float(v)
}

// typ substitutes values in t and makes extents static that are known.
func (f *folder) typ(t *loom.Type) *loom.Type {
	if t == nil || t.IsStatic() {
		return t
	}
	t = t.Map(f.get)
	if len(t.Dims) > 0 {
		dims := make([]loom.Dim, len(t.Dims))
		changed := false
		for i, d := range t.Dims {
			if d.Val != nil {
				if c, ok := f.constInt(d.Val); ok && c >= 0 {
					d, changed = loom.Dim{Size: c}, true
				}
			}
			dims[i] = d
		}
		if changed {
			n := *t
			n.Dims = dims
			t = &n
			f.n++
		}
	}
	if t.Kind == loom.Function {
		n := *t
		n.Params, n.Results = f.typs(t.Params), f.typs(t.Results)
		t = &n
	}
	return t
}

func (f *folder) typs(ts []*loom.Type) []*loom.Type {
	out := make([]*loom.Type, len(ts))
	for i, t := range ts {
		out[i] = f.typ(t)
	}
	return out
}

func (f *folder) region(r *loom.Region) {
	for _, b := range r.Blocks {
		outer, outerBlk := f.out, f.blk
		f.out, f.blk = make([]*loom.Op, 0, len(b.Ops)), b
		for _, a := range b.Args {
			a.Type = f.typ(a.Type)
		}
		for _, op := range b.Ops {
			f.op(op)
		}
		b.Ops = f.out
		f.out, f.blk = outer, outerBlk
	}
}

func (f *folder) emit(op *loom.Op) {
	op.Block = f.blk
	f.out = append(f.out, op)
}

// forward makes the results of op stand for vs and drops op.
func (f *folder) forward(op *loom.Op, vs ...*loom.Value) {
	for i, r := range op.Results {
		if v := f.get(vs[i]); v != r {
			f.repl[r] = v
		}
	}
	f.n++
}

// splice puts the operations of a region that is executed exactly once in place
// of op, whose results become what the region yields.
func (f *folder) splice(op *loom.Op, r *loom.Region) {
	f.n++
	f.spliced = true
	var last *loom.Op
	for _, o := range r.Blocks[0].Ops {
		if o.Def.Traits&loom.Terminator != 0 {
			last = o
			break
		}
		if c, ok := f.s.sites[op]; ok && f.s.sites[o] == nil {
			f.s.sites[o] = c
		}
		f.op(o)
	}
	for i, res := range op.Results {
		f.repl[res] = f.get(last.Operands[i])
	}
}

// spliceable reports whether a region can stand without its operation.
func spliceable(op *loom.Op, r *loom.Region) bool {
	if r == nil || len(r.Blocks) != 1 {
		return false
	}
	t := r.Blocks[0].Terminator()
	if t == nil {
		return len(op.Results) == 0
	}
	return t.Def.Name == "scf.yield" && len(t.Operands) == len(op.Results)
}

func (f *folder) op(op *loom.Op) {
	rewrite.Map(op, f.get)
	for _, r := range op.Results {
		r.Type = f.typ(r.Type)
	}
	f.literals(op)
	if op.Def.Traits&loom.Fact != 0 {
		f.literalPreds(op)
	}
	if f.control(op) {
		return
	}
	if len(op.Regions) == 0 && op.Def.Traits&loom.Pure != 0 && len(op.Results) > 0 {
		if len(op.Results) == 1 && f.toConstant(op) {
			f.emit(op)
			return
		}
		if v := f.simplify(op); v != nil {
			f.forward(op, v...)
			return
		}
	}
	if len(op.Regions) == 0 && f.masked(op) {
		return
	}
	f.emit(op)
	for _, r := range op.Regions {
		f.region(r)
	}
}

// literals turns known values in index lists into literals.
func (f *folder) literals(op *loom.Op) {
	for i, field := range op.Def.Operands {
		if !field.Variadic || op.Segs == nil || op.Segs[i] == 0 {
			continue
		}
		a := op.Attr(field.Name)
		if a.Kind != loom.AttrInts {
			continue
		}
		static := a.Ints()
		vals := op.Field(field.Name)
		known := false
		for _, v := range vals {
			if c, ok := f.constInt(v); ok && c != loom.DynamicIndex && !v.Type.IsShaped() {
				known = true
			}
		}
		if !known {
			continue
		}
		ns := make([]int64, len(static))
		var rest []*loom.Value
		at := 0
		for j, x := range static {
			if x != loom.DynamicIndex {
				ns[j] = x
				continue
			}
			v := vals[at]
			at++
			if c, ok := f.constInt(v); ok && c != loom.DynamicIndex {
				ns[j] = c
				continue
			}
			ns[j] = loom.DynamicIndex
			rest = append(rest, v)
		}
		op.SetAttr(field.Name, loom.Attr{Kind: loom.AttrInts, Aux: ns})
		rewrite.SetOperands(op, i, rest)
		f.n++
	}
}

// literalPreds turns known values that predicates compare with into literals.
func (f *folder) literalPreds(op *loom.Op) {
	ps := op.Preds()
	for i, p := range ps {
		for j, a := range p.Args {
			if j == 0 || a.Val == nil || slices.Contains(op.Operands, a.Val) || slices.Contains(op.Results, a.Val) {
				continue
			}
			c, ok := f.constInt(a.Val)
			if !ok {
				continue
			}
			ps = slices.Clone(ps)
			p.Args = slices.Clone(p.Args)
			p.Args[j] = loom.PredArg{Int: c}
			ps[i] = p
			op.SetAttr("predicates", loom.Attr{Kind: loom.AttrPreds, Aux: ps})
			f.n++
		}
	}
}

// toConstant turns op into a constant when its value is known.
func (f *folder) toConstant(op *loom.Op) bool {
	if rewrite.IsConstant(op) {
		return true
	}
	r := op.Results[0]
	t := r.Type
	k := t.Element()
	if !k.IsScalar() || t.IsShaped() && (t.Kind != loom.Vector || !t.IsStatic()) {
		return false
	}
	if k.IsFloat() {
		v, ok := f.foldFloat(op)
		if !ok {
			return false
		}
		rewrite.Constant(op, loom.FloatAttr(v))
		f.n++
		return true
	}
	if op.Def.Traits&loom.Fact != 0 || op.Def.Name == "config.get" {
		return false
	}
	c, ok := f.set.Of(r).Const()
	if !ok {
		if c, ok = f.foldBits(op); !ok {
			return false
		}
	}
	f.inherit(op)
	rewrite.Constant(op, rewrite.IntValue(k, c))
	f.n++
	return true
}

// inherit hands the config symbols behind the operands on to the result.
func (f *folder) inherit(op *loom.Op) {
	r := op.Results[0]
	for _, v := range op.Operands {
		for _, key := range f.s.origin[v] {
			if !slices.Contains(f.s.origin[r], key) {
				f.s.origin[r] = append(f.s.origin[r], key)
			}
		}
	}
}

// control decides structured operations; it reports whether op is done with.
func (f *folder) control(op *loom.Op) bool {
	switch op.Def.Name {
	case "scf.if":
		return f.branch(op)
	case "scf.for":
		return f.loop(op)
	case "scf.switch":
		sel, ok := f.constInt(op.Operands[0])
		if !ok {
			return false
		}
		cases := op.Attr("cases").Ints()
		at := len(op.Regions) - 1
		for i, c := range cases {
			if c == sel && i < len(op.Regions) {
				at = i
				break
			}
		}
		if at < 0 || !spliceable(op, op.Regions[at]) {
			return false
		}
		f.splice(op, op.Regions[at])
		return true
	case "scf.while":
		return f.never(op)
	case "scf.select":
		if f.sameValue(op.Operands[1], op.Operands[2]) {
			f.forward(op, op.Operands[1])
			return true
		}
		if c, ok := f.constInt(op.Operands[0]); ok {
			f.forward(op, op.Operands[2-c])
			return true
		}
	case "scf.lookup":
		sel, ok := f.constInt(op.Operands[0])
		if !ok {
			return false
		}
		keys, rows, w := op.Attr("keys").Ints(), op.Field("values"), len(op.Results)
		row := len(keys)
		for i, k := range keys {
			if k == sel {
				row = i
				break
			}
		}
		if (row+1)*w > len(rows) {
			return false
		}
		f.forward(op, rows[row*w:(row+1)*w]...)
		return true
	}
	return false
}

// sameValue reports whether two values are one, or equal constants.
func (f *folder) sameValue(a, b *loom.Value) bool {
	if a == b {
		return true
	}
	if !a.Type.Equal(b.Type) {
		return false
	}
	x, ok1 := f.constInt(a)
	y, ok2 := f.constInt(b)
	return ok1 && ok2 && x == y
}

func (f *folder) branch(op *loom.Op) bool {
	if c, ok := f.constInt(op.Operands[0]); ok {
		if c == 1 && spliceable(op, op.Regions[0]) {
			f.splice(op, op.Regions[0])
			return true
		}
		if c == 0 {
			if len(op.Regions) < 2 {
				if len(op.Results) > 0 {
					return false
				}
				f.n++
				return true
			}
			if spliceable(op, op.Regions[1]) {
				f.splice(op, op.Regions[1])
				return true
			}
		}
		return false
	}
	// A branch that does nothing, and results that do not depend on it.
	empty := true
	for _, r := range op.Regions {
		if len(r.Blocks) != 1 || len(r.Blocks[0].Ops) > 1 || len(r.Blocks[0].Ops) == 1 && r.Blocks[0].Terminator() == nil {
			empty = false
		}
	}
	if empty && len(op.Results) == 0 {
		f.n++
		return true
	}
	return false
}

func (f *folder) loop(op *loom.Op) bool {
	lbV, ubV, stepV := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step")
	if len(op.Regions) != 1 || len(op.Regions[0].Blocks) != 1 {
		return false
	}
	lb, ub, step := f.set.Of(lbV), f.set.Of(ubV), f.set.Of(stepV)
	inits := op.Field("iter_args")
	args := op.Regions[0].Blocks[0].Args
	if len(args) != len(inits)+1 || len(inits) != len(op.Results) {
		return false
	}
	switch {
	case lb.Lo >= ub.Hi || lbV == ubV: // no trip
		f.forward(op, inits...)
		return true
	case lb.Hi < ub.Lo && step.Lo > 0 && spliceable(op, op.Regions[0]):
		// At least one trip; exactly one when the next counter value is past the end.
		if span := ub.Hi - lb.Lo; span > 0 && step.Lo >= span {
			f.repl[args[0]] = lbV
			for i, v := range inits {
				f.repl[args[i+1]] = v
			}
			f.splice(op, op.Regions[0])
			return true
		}
	}
	// A carried value that the body hands on unchanged is the initial value.
	y := rewrite.Yield(op.Regions[0])
	if y == nil {
		return false
	}
	for i, v := range inits {
		if i < len(y.Operands) && f.get(y.Operands[i]) == args[i+1] && f.repl[op.Results[i]] == nil && args[i+1].Type.Equal(v.Type) {
			f.repl[args[i+1]] = v
			f.repl[op.Results[i]] = v
			f.n++
			f.spliced = true
		}
	}
	return false
}

// never drops a while loop whose first test fails, as far as the test region is
// nothing but its terminator.
func (f *folder) never(op *loom.Op) bool {
	if len(op.Regions) < 1 || len(op.Regions[0].Blocks) != 1 {
		return false
	}
	b := op.Regions[0].Blocks[0]
	t := b.Terminator()
	if t == nil || len(b.Ops) != 1 || len(t.Operands) == 0 || len(t.Operands)-1 != len(op.Results) {
		return false
	}
	inits := op.Field("iter_args")
	first := func(v *loom.Value) *loom.Value {
		v = f.get(v)
		for i, a := range b.Args {
			if a == v && i < len(inits) {
				return inits[i]
			}
		}
		return v
	}
	if c, ok := f.constInt(first(t.Operands[0])); !ok || c != 0 {
		return false
	}
	var vs []*loom.Value
	for _, v := range t.Operands[1:] {
		vs = append(vs, first(v))
	}
	f.forward(op, vs...)
	return true
}

// masked turns masked accesses with a mask that is all ones or all zeros into
// plain ones, or nothing.
func (f *folder) masked(op *loom.Op) bool {
	plain, isLoad := map[string]string{"vector.load.mask": "vector.load", "vector.store.mask": "vector.store"}[op.Def.Name]
	if !isLoad {
		return false
	}
	c, ok := f.constInt(op.Operand("mask"))
	if !ok {
		return false
	}
	load := op.Def.Name == "vector.load.mask"
	if c == 0 {
		if load {
			f.forward(op, op.Operand("passthrough"))
		} else {
			f.n++
		}
		return true
	}
	view, value, idx := op.Operand("view"), op.Operand("value"), op.Field("indices")
	op.Def = dialect.Ops().Lookup(plain).Compile()
	if load {
		op.Operands = append([]*loom.Value{view}, idx...)
		op.Segs = []uint16{1, uint16(len(idx))}
	} else {
		op.Operands = append([]*loom.Value{value, view}, idx...)
		op.Segs = []uint16{1, 1, uint16(len(idx))}
	}
	f.n++
	f.emit(op)
	return true
}
