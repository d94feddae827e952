package exec

import (
	"math"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec/float"
)

// val is where a value lives: a register, for a view also the register of its
// byte offset (r then holds the buffer id).
type val struct {
	r, off ref
	uni    bool // r is uniform
	uniOff bool
}

type lowerer struct {
	p       *Program
	mode    Mode
	varying map[*loom.Value]bool
	c       *code
	ds      diag.List
	vals    map[*loom.Value]val
	consts  map[constKey]ref
	lanes   []map[ref]ref // per scope: uniform register → its splat
	depth   int
	scope   label // where a level that lost all lanes goes
	op      *loom.Op
	pin     int // >0 inside a region of several blocks
	yield   []func(op *loom.Op)
}

type constKey struct {
	wide, uni bool
	n         int32
	bits      uint64
}

const (
	codeUnsupported = "EXEC/UNSUPPORTED"
	codeInternal    = "INTERNAL/FAULT"
)

func lowerDef(p *Program, m Mode) (*code, diag.List) {
	l := &lowerer{
		p: p, mode: m,
		varying: findVarying(p.def.Body, m&(sanMemory|modeTrace) != 0),
		// Register 0 and label 0 are never used: a zero field means none.
		c: &code{regs: make([]vreg, 1), marks: make([]int32, 1)}, vals: map[*loom.Value]val{}, consts: map[constKey]ref{},
		lanes: []map[ref]ref{{}},
	}
	if p.def.Body == nil || len(p.def.Body.Blocks) == 0 {
		l.ds.Add(diag.Errorf(p.def.Span, codeUnsupported, "@%s has no body to run", p.def.Name))
		return nil, l.ds
	}
	binding := 0
	for _, v := range p.def.Params {
		pr := paramReg{kind: v.Type.Kind, buf: -1}
		switch {
		case v.Type.Kind == loom.Buffer:
			id := len(l.c.bufs)
			l.c.bufs = append(l.c.bufs, bufInfo{name: v.Name, space: spaceGlobal, binding: binding})
			binding++
			pr.buf = id
			pr.r = l.constant(uint64(id), false, 1)
			l.vals[v] = val{r: pr.r, uni: true}
		case v.Type.Kind.IsScalar():
			pr.r = l.newReg(v.Type.Kind.Bits() == 64, true, 1)
			l.c.regs[pr.r.v].pinned = true
			l.vals[v] = val{r: pr.r, uni: true}
		default:
			l.ds.Add(diag.Errorf(p.def.Span, codeUnsupported, "parameter %%%s of @%s has type %s, which cannot be a launch argument", v.Name, p.def.Name, v.Type))
			return nil, l.ds
		}
		l.c.params = append(l.c.params, pr)
	}
	end := l.label()
	l.scope = end
	if m&SanAssume != 0 {
		l.launchWhere()
	}
	l.yield = append(l.yield, func(op *loom.Op) {
		switch op.Name() {
		case "func.return", "template.return":
			for _, v := range op.Operands {
				x := l.vals[v]
				n := l.count(v.Type)
				if !x.uni {
					d := l.newReg(wideKind(v.Type.Element()), true, n)
					l.move(d, true, x.r, false, n)
					x.r = d
				}
				l.c.out = append(l.c.out, outReg{r: x.r, kind: v.Type.Element(), n: n})
			}
		}
	})
	l.region(p.def.Body)
	l.place(end)
	l.c.gran = l.c.granule()
	return l.c, l.ds
}

func (l *lowerer) fail(format string, args ...any) {
	sp := l.p.def.Span
	name := "@" + l.p.def.Name
	if l.op != nil {
		sp, name = l.op.Span, l.op.Name()
	}
	d := diag.Errorf(sp, codeUnsupported, format, args...)
	d.Message = name + ": " + d.Message
	l.ds.Add(d)
}

// Registers.

func (l *lowerer) newReg(wide, uni bool, n int) ref {
	l.c.regs = append(l.c.regs, vreg{wide: wide, uni: uni, n: int32(n), pinned: l.pin > 0})
	return ref{v: int32(len(l.c.regs) - 1)}
}

// constant returns a uniform register that always holds bits in n components.
func (l *lowerer) constant(bits uint64, wide bool, n int) ref {
	return l.constReg(constKey{wide, true, int32(n), bits})
}

func (l *lowerer) constReg(k constKey) ref {
	if r, ok := l.consts[k]; ok {
		return r
	}
	r := l.newReg(k.wide, k.uni, int(k.n))
	v := &l.c.regs[r.v]
	v.isConst, v.bits = true, k.bits
	l.consts[k] = r
	return r
}

func (l *lowerer) isConst(r ref) (uint64, bool) {
	if r.ok() && l.c.regs[r.v].isConst {
		return l.c.regs[r.v].bits, true
	}
	return 0, false
}

func wideKind(k loom.Kind) bool { return k.Bits() == 64 }

// count returns the number of components of a value of type t.
func (l *lowerer) count(t *loom.Type) int {
	if t.Kind != loom.Vector {
		return 1
	}
	n := int64(1)
	for i := range t.Dims {
		n *= l.extent(t.Dims[i])
	}
	if n < 0 || n > 1<<16 {
		l.fail("a vector of %d elements is too long", n)
		return 1
	}
	return int(n)
}

// extent returns a constant dimension.
func (l *lowerer) extent(d loom.Dim) int64 {
	if d.Val == nil {
		return d.Size
	}
	if v, ok := l.vals[d.Val]; ok {
		if bits, ok := l.isConst(v.r); ok {
			return int64(bits)
		}
	}
	if k := l.p.Kernel; k != nil && k.Facts != nil {
		if c, ok := k.Facts.Of(d.Val).Const(); ok {
			return c
		}
	}
	l.fail("the vector extent %%%s is not a constant", d.Val.Name)
	return 1
}

func (l *lowerer) val(v *loom.Value) val {
	x, ok := l.vals[v]
	if !ok {
		l.fail("%s has no run-time value", quoteValue(v))
		x = val{r: l.constant(0, wideKind(v.Type.Element()), max(l.count(v.Type), 1)), off: l.constant(0, true, 1), uni: true, uniOff: true}
		l.vals[v] = x
	}
	return x
}

// lane returns a register with one word per lane for v.
func (l *lowerer) lane(v *loom.Value) ref {
	x := l.val(v)
	if !x.uni {
		return x.r
	}
	return l.splat(x.r, l.count(v.Type))
}

// splat returns a per-lane copy of n components of a uniform register.
func (l *lowerer) splat(r ref, n int) ref {
	reg := l.c.regs[r.v]
	if !reg.uni {
		return r
	}
	if reg.isConst {
		return l.constReg(constKey{reg.wide, false, int32(n), reg.bits})
	}
	for i := len(l.lanes) - 1; i >= 0; i-- {
		if s, ok := l.lanes[i][r]; ok && int(l.c.regs[s.v].n) >= n {
			return s
		}
	}
	d := l.newReg(reg.wide, false, n)
	l.emit(lowered{run: pick(reg.wide, splat64, splat32), d: d, a: r, n: n})
	l.lanes[len(l.lanes)-1][r] = d
	return d
}

func pick[T any](wide bool, a, b T) T {
	if wide {
		return a
	}
	return b
}

// open and shut bound the region in which splats made inside are valid.
func (l *lowerer) open() { l.lanes = append(l.lanes, map[ref]ref{}) }
func (l *lowerer) shut() { l.lanes = l.lanes[:len(l.lanes)-1] }

// Emission.

func (l *lowerer) emit(in lowered) {
	if in.op == nil {
		in.op = l.op
	}
	in.depth += l.depth
	l.c.ins = append(l.c.ins, in)
}

func (l *lowerer) label() label {
	l.c.marks = append(l.c.marks, -1)
	return label(len(l.c.marks) - 1)
}

func (l *lowerer) place(b label) { l.c.marks[b] = int32(len(l.c.ins)) }

func (l *lowerer) def(v *loom.Value) ref {
	uni := !l.varying[v]
	r := l.newReg(wideKind(v.Type.Element()), uni, l.count(v.Type))
	l.vals[v] = val{r: r, uni: uni}
	return r
}

func (l *lowerer) alias(v *loom.Value, of val) { l.vals[v] = of }

// flat emits an element-wise instruction over the components of the result; it
// is uniform when every operand is.
func (l *lowerer) flat(res *loom.Value, fn flatFn, operands ...*loom.Value) {
	uni := true
	for _, o := range operands {
		uni = uni && l.val(o).uni
	}
	rs := [3]ref{none, none, none}
	for i, o := range operands {
		if uni {
			rs[i] = l.val(o).r
		} else {
			rs[i] = l.lane(o)
		}
	}
	n := l.count(res.Type)
	d := l.newReg(wideKind(res.Type.Element()), uni, n)
	l.vals[res] = val{r: d, uni: uni}
	l.flatRaw(fn, uni, n, d, rs[0], rs[1], rs[2])
}

func (l *lowerer) flatRaw(fn flatFn, uni bool, n int, d, a, b, c ref) {
	run := runFlat
	if uni {
		run = runFlatUniform
	}
	l.emit(lowered{run: run, flat: fn, d: d, a: a, b: b, c: c, n: n})
}

// move assigns src to the register d that several paths write; d is uniform or
// per lane as uni says.
func (l *lowerer) move(d ref, uni bool, src ref, srcUni bool, n int) {
	wide := l.c.regs[d.v].wide
	switch {
	case uni:
		if !srcUni {
			// The same in every item, but computed per lane.
			l.emit(lowered{run: pick(wide, moveFirst64, moveFirst32), d: d, a: src, n: n})
			return
		}
		l.emit(lowered{run: pick(wide, moveUniform64, moveUniform32), d: d, a: src, n: n})
	case srcUni:
		l.emit(lowered{run: pick(wide, moveSplat64, moveSplat32), d: d, a: src, n: n})
	default:
		l.emit(lowered{run: pick(wide, moveLanes64, moveLanes32), d: d, a: src, n: n})
	}
}

// phi makes the registers of a value that several paths write.
func (l *lowerer) phi(v *loom.Value) {
	switch v.Type.Kind {
	case loom.View:
		uni := !l.varying[v]
		l.vals[v] = val{r: l.newReg(false, uni, 1), off: l.newReg(true, uni, 1), uni: uni, uniOff: uni}
	case loom.EncodingKind, loom.Dotted:
		// no run-time part
	default:
		l.def(v)
	}
}

// assign moves the values src into the phis dst as if at once.
func (l *lowerer) assign(dst, src []*loom.Value) {
	type mv struct {
		d, s      ref
		uni, suni bool
		n         int
		wide      bool
	}
	var ms []mv
	for i, d := range dst {
		if i >= len(src) {
			break
		}
		if d.Type.Kind == loom.EncodingKind || d.Type.Kind == loom.Dotted {
			continue
		}
		x, y := l.val(d), l.val(src[i])
		if x.r == y.r && d.Type.Kind != loom.View {
			continue
		}
		ms = append(ms, mv{d: x.r, s: y.r, uni: x.uni, suni: y.uni, n: l.count(d.Type), wide: l.c.regs[x.r.v].wide})
		if d.Type.Kind == loom.View {
			ms = append(ms, mv{d: x.off, s: y.off, uni: x.uniOff, suni: y.uniOff, n: 1, wide: true})
		}
	}
	// A source that an earlier move overwrites is saved first.
	for i := range ms {
		for j := 0; j < i; j++ {
			if ms[j].d.v == ms[i].s.v {
				t := l.newReg(ms[i].wide, ms[i].suni, ms[i].n)
				if ms[i].suni {
					l.emit(lowered{run: pick(ms[i].wide, moveUniform64, moveUniform32), d: t, a: ms[i].s, n: ms[i].n})
				} else {
					l.emit(lowered{run: pick(ms[i].wide, moveLanes64, moveLanes32), d: t, a: ms[i].s, n: ms[i].n})
				}
				// The save must come before every move: they are emitted below.
				ms[i].s = t
				break
			}
		}
	}
	for _, m := range ms {
		l.move(m.d, m.uni, m.s, m.suni, m.n)
	}
}

// Regions.

func (l *lowerer) region(r *loom.Region) {
	if len(r.Blocks) > 1 {
		l.cfg(r)
		return
	}
	for _, b := range r.Blocks {
		l.block(b)
	}
}

func (l *lowerer) block(b *loom.Block) {
	for _, op := range b.Ops {
		if l.ds.HasErrors() && len(l.ds) > 20 {
			return
		}
		l.lowerOp(op)
	}
}

func (l *lowerer) lowerOp(op *loom.Op) {
	saved := l.op
	l.op = op
	defer func() { l.op = saved }()
	if op.Def.Traits&loom.Terminator != 0 && op.Name() != "cfg.br" && op.Name() != "cfg.cond_br" {
		l.yield[len(l.yield)-1](op)
		return
	}
	fn := lowerings()[op.Name()]
	if fn == nil {
		if op.Def.Traits&loom.Hint != 0 {
			return
		}
		l.ds.Add(diag.Errorf(op.NameSpan(), codeUnsupported, "%s cannot be executed on the CPU", op.Name()).
			WithHelp("the executor runs closed device bodies; a config read, call or template left here was not specialised"))
		return
	}
	l.instrumentBefore(op)
	fn(l, op)
	l.instrumentAfter(op)
}

// inner lowers a nested region; its terminator's operands go to onYield.
func (l *lowerer) inner(r *loom.Region, onYield func(op *loom.Op)) {
	l.open()
	l.yield = append(l.yield, onYield)
	l.region(r)
	l.yield = l.yield[:len(l.yield)-1]
	l.shut()
}

// level lowers body one mask level down; leaving it without lanes continues at
// out.
func (l *lowerer) level(out label, body func()) {
	saved := l.scope
	l.scope = out
	l.depth++
	l.c.depth = max(l.c.depth, l.depth)
	body()
	l.depth--
	l.scope = saved
}

func lowerIf(l *lowerer, op *loom.Op) {
	for _, r := range op.Results {
		l.phi(r)
	}
	yield := func(t *loom.Op) { l.assign(op.Results, t.Operands) }
	cond := l.val(op.Operand("condition"))
	end := l.label()
	other := end
	if len(op.Regions) > 1 {
		other = l.label()
	}
	if cond.uni {
		if bits, ok := l.isConst(cond.r); ok {
			if bits&1 != 0 {
				l.inner(op.Regions[0], yield)
			} else if len(op.Regions) > 1 {
				l.inner(op.Regions[1], yield)
			}
			l.place(end)
			l.place(other)
			return
		}
		l.emit(lowered{run: jumpUnless, a: cond.r, to: other})
		l.inner(op.Regions[0], yield)
		if len(op.Regions) > 1 {
			l.emit(lowered{run: jump, to: end})
			l.place(other)
			l.inner(op.Regions[1], yield)
		}
		l.place(end)
		return
	}
	l.emit(lowered{run: maskIf, a: cond.r, to: other})
	l.level(other, func() { l.inner(op.Regions[0], yield) })
	if len(op.Regions) > 1 {
		l.place(other)
		l.emit(lowered{run: maskElse, a: cond.r, to: end})
		l.level(end, func() { l.inner(op.Regions[1], yield) })
	}
	l.place(end)
	l.emit(lowered{run: maskEnd, to: l.scope})
}

func lowerFor(l *lowerer, op *loom.Op) {
	lo, hi, step := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step")
	body := op.Regions[0]
	args := body.Entry().Args
	iv := args[0]
	uni := l.val(lo).uni && l.val(hi).uni && l.val(step).uni && !l.varying[iv]
	for _, a := range args[1:] {
		l.phi(a)
	}
	l.assign(args[1:], op.Field("iter_args"))
	r := l.newReg(true, uni, 1)
	l.vals[iv] = val{r: r, uni: uni}
	head, exit := l.label(), l.label()
	yield := func(t *loom.Op) { l.assign(args[1:], t.Operands) }
	enter := func() {
		if l.mode&modeTrace != 0 {
			l.open() // copies made for the trace are good for one trip only
			for _, a := range args {
				l.traceValue(a)
			}
			l.shut()
		}
	}
	if uni {
		l.move(r, true, l.val(lo).r, true, 1)
		l.place(head)
		l.emit(lowered{run: jumpUnlessLess, a: r, b: l.val(hi).r, to: exit})
		enter()
		l.inner(body, yield)
		l.flatRaw(addU64, true, 1, r, r, l.val(step).r, none)
		l.emit(lowered{run: jump, to: head})
		l.place(exit)
	} else {
		hiLane, stepLane := l.lane(hi), l.lane(step)
		l.move(r, false, l.val(lo).r, l.val(lo).uni, 1)
		l.emit(lowered{run: maskLoop})
		l.level(exit, func() {
			l.place(head)
			cond := l.newReg(false, false, 1)
			l.flatRaw(cmpI64("slt"), false, 1, cond, r, hiLane, none)
			l.emit(lowered{run: maskWhile, a: cond, to: exit})
			enter()
			l.inner(body, yield)
			next := l.newReg(true, false, 1)
			l.flatRaw(addU64, false, 1, next, r, stepLane, none)
			l.move(r, false, next, false, 1)
			l.emit(lowered{run: jump, to: head})
		})
		l.place(exit)
		l.emit(lowered{run: maskEnd, to: l.scope})
	}
	for i, res := range op.Results {
		l.alias(res, l.val(args[1+i]))
	}
}

func lowerWhile(l *lowerer, op *loom.Op) {
	before, after := op.Regions[0], op.Regions[1]
	barg, aarg := before.Entry().Args, after.Entry().Args
	for _, a := range barg {
		l.phi(a)
	}
	l.assign(barg, op.Field("iter_args"))
	// The values handed to the body are also the loop's results.
	for i, a := range aarg {
		if i < len(op.Results) && l.varying[op.Results[i]] {
			l.varying[a] = true
		}
		l.phi(a)
	}
	for i, r := range op.Results {
		if i >= len(aarg) {
			l.phi(r)
		}
	}
	cond := before.Blocks[len(before.Blocks)-1].Terminator()
	if cond == nil || cond.Name() != "scf.condition" {
		l.fail("the test region does not end in scf.condition")
		return
	}
	uni := !l.varying[cond.Operand("condition")] && len(before.Blocks) == 1
	head, exit := l.label(), l.label()
	step := func() {
		l.place(head)
		var c ref
		l.inner(before, func(t *loom.Op) {
			l.assign(aarg, t.Field("forwarded"))
			c = l.val(t.Operand("condition")).r
			if uni {
				l.emit(lowered{run: jumpUnless, a: c, to: exit})
			} else {
				l.emit(lowered{run: maskWhile, a: l.lane(t.Operand("condition")), to: exit})
			}
		})
		l.inner(after, func(t *loom.Op) { l.assign(barg, t.Operands) })
		l.emit(lowered{run: jump, to: head})
	}
	if uni {
		step()
		l.place(exit)
	} else {
		l.emit(lowered{run: maskLoop})
		l.level(exit, step)
		l.place(exit)
		l.emit(lowered{run: maskEnd, to: l.scope})
	}
	for i, r := range op.Results {
		if i < len(aarg) {
			l.alias(r, l.val(aarg[i]))
		}
	}
}

func lowerSwitch(l *lowerer, op *loom.Op) {
	for _, r := range op.Results {
		l.phi(r)
	}
	yield := func(t *loom.Op) { l.assign(op.Results, t.Operands) }
	sel := l.val(op.Operand("selector"))
	keys := op.Attr("cases").Ints()
	end := l.label()
	for i, r := range op.Regions {
		next := l.label()
		isDefault := i >= len(keys)
		if sel.uni {
			if !isDefault {
				l.emit(lowered{run: jumpUnlessEqual, a: sel.r, imm: keys[i], to: next})
			}
			l.inner(r, yield)
			l.emit(lowered{run: jump, to: end})
			l.place(next)
			continue
		}
		if isDefault {
			l.emit(lowered{run: maskNone, a: sel.r, x: keys, to: next})
		} else {
			l.emit(lowered{run: maskEqual, a: sel.r, imm: keys[i], to: next})
		}
		l.level(next, func() { l.inner(r, yield) })
		l.place(next)
	}
	l.place(end)
	if !sel.uni {
		l.emit(lowered{run: maskEnd, to: l.scope})
	}
}

func lowerExit(l *lowerer, op *loom.Op) {
	c := l.lane(op.Operand("condition"))
	if len(op.Regions) > 0 {
		skip := l.label()
		l.emit(lowered{run: maskIf, a: c, to: skip})
		l.level(skip, func() { l.inner(op.Regions[0], func(*loom.Op) {}) })
		l.place(skip)
		l.emit(lowered{run: maskEnd, to: l.scope})
	}
	l.emit(lowered{run: exitLanes, a: c, to: l.scope})
}

// Constants.

// literalBits returns the bits of a constant of kind k.
func literalBits(a loom.Attr, k loom.Kind) uint64 {
	switch a.Kind {
	case loom.AttrWord:
		switch a.Str {
		case "true":
			return 1
		case "false":
			return 0
		case "inf":
			return floatBits(k, math.Inf(1))
		case "-inf":
			return floatBits(k, math.Inf(-1))
		case "nan":
			return floatBits(k, math.NaN())
		}
	}
	if k.IsFloat() {
		return floatBits(k, a.Float())
	}
	v := a.Int
	if a.Kind == loom.AttrFloat {
		v = int64(a.Float())
	}
	return uint64(v) & widthMask(k)
}

func widthMask(k loom.Kind) uint64 {
	if b := k.Bits(); b < 64 {
		return 1<<b - 1
	}
	return ^uint64(0)
}

// floatBits rounds v to the float kind k and returns its bits.
func floatBits(k loom.Kind, v float64) uint64 {
	switch k {
	case loom.F64:
		return math.Float64bits(v)
	case loom.F32:
		return uint64(math.Float32bits(float32(v)))
	}
	return uint64(narrowFormat(k).Bits(v))
}

// floatValue returns the value of the bits of float kind k.
func floatValue(k loom.Kind, bits uint64) float64 {
	switch k {
	case loom.F64:
		return math.Float64frombits(bits)
	case loom.F32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return narrowFormat(k).Value(uint32(bits))
}

func narrowFormat(k loom.Kind) *float.Format {
	switch k {
	case loom.F16:
		return &float.F16
	case loom.BF16:
		return &float.BF16
	case loom.F8E4M3:
		return &float.F8E4M3
	}
	return &float.F8E5M2
}

func lowerConstant(l *lowerer, op *loom.Op) {
	r := op.Result()
	k := r.Type.Element()
	l.vals[r] = val{r: l.constant(literalBits(op.Attr("value"), k), wideKind(k), l.count(r.Type)), uni: true}
}

func lowerPoison(l *lowerer, op *loom.Op) {
	r := op.Result()
	if r.Type.Kind == loom.View || r.Type.Kind == loom.Buffer {
		l.vals[r] = val{r: l.constant(0, false, 1), off: l.constant(0, true, 1), uni: true, uniOff: true}
		return
	}
	k := r.Type.Element()
	l.vals[r] = val{r: l.constant(widthMask(k), wideKind(k), l.count(r.Type)), uni: true}
}
