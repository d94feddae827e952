package exec

import (
	"github.com/loomc/loomc/loom"
)

func lowerBufferFact(l *lowerer, op *loom.Op) {
	for i, r := range op.Results {
		if i < len(op.Operands) {
			l.alias(r, l.val(op.Operands[i]))
		}
	}
}

func lowerBufferView(l *lowerer, op *loom.Op) {
	b, o := l.val(op.Operand("buffer")), l.val(op.Operand("byte_offset"))
	l.vals[op.Result()] = val{r: b.r, off: o.r, uni: b.uni, uniOff: o.uni}
}

func lowerLength(l *lowerer, op *loom.Op) {
	b := l.val(op.Operand("buffer"))
	d := l.newReg(true, b.uni, 1)
	l.vals[op.Result()] = val{r: d, uni: b.uni}
	uni := b.uni
	l.emit(lowered{run: func(f *frame, in *instr) {
		if uni {
			f.i64[in.d] = f.bufLen(int(f.u32[in.a]))
			return
		}
		for l := f.lo; l < f.hi; l++ {
			f.i64[in.d+l] = f.bufLen(int(f.u32[in.a+l]))
		}
	}, d: d, a: b.r})
}

func (f *frame) bufLen(id int) int64 {
	if id >= len(f.bufs) {
		return 0
	}
	b := &f.bufs[id]
	if b.stride > 0 {
		return b.stride
	}
	return int64(len(b.data))
}

// lowerPack computes the total of aligned byte ranges and the offset of each.
func lowerPack(l *lowerer, op *loom.Op) {
	aligns := op.Attr("aligns").Ints()
	at, uni := l.constant(0, true, 1), true
	align := func(r ref, u bool, a int64) (ref, bool) {
		d := l.newReg(true, u, 1)
		l.flatRaw(func(f *frame, d, x, _, _, n int) {
			for i := range n {
				f.i64[d+i] = (f.i64[x+i] + a - 1) / a * a
			}
		}, u, 1, d, r, none, none)
		return d, u
	}
	for i, v := range op.Field("lengths") {
		a := int64(1)
		if i < len(aligns) {
			a = max(aligns[i], 1)
		}
		at, uni = align(at, uni, a)
		if i+1 < len(op.Results) {
			l.vals[op.Results[i+1]] = val{r: at, uni: uni}
		}
		x := l.val(v)
		u := uni && x.uni
		d := l.newReg(true, u, 1)
		if u {
			l.flatRaw(addU64, true, 1, d, at, x.r, none)
		} else {
			l.flatRaw(addU64, false, 1, d, l.splat(at, 1), l.lane(v), none)
		}
		at, uni = d, u
	}
	l.vals[op.Results[0]] = val{r: at, uni: uni}
}

func lowerAlloca(l *lowerer, op *loom.Op) {
	size := op.Operand("byte_length")
	info := bufInfo{name: op.Result().Name, space: spaceWorkgroup, binding: -1, op: op}
	if op.Word("memory_space") == "private" {
		info.space, info.lanes = spacePrivate, true
	}
	id := len(l.c.bufs)
	l.c.bufs = append(l.c.bufs, info)
	l.vals[op.Result()] = val{r: l.constant(uint64(id), false, 1), uni: true}
	x := l.val(size)
	uni := x.uni
	l.emit(lowered{run: func(f *frame, in *instr) {
		var n int64
		if uni {
			n = f.i64[in.a]
		} else {
			for _, l := range f.active() {
				n = max(n, f.i64[in.a+int(l)])
			}
		}
		f.alloc(id, n, in)
	}, a: x.r})
}

// term is one summand of an address: a register times a constant, or times
// another register.
type term struct {
	r     ref
	uni   bool
	coef  int64
	by    ref // a stride that is not constant
	byUni bool
}

// linear computes base + imm + Σ terms as a 64-bit register.
func (l *lowerer) linear(base ref, baseUni bool, imm int64, terms []term) (ref, bool) {
	add := func(a ref, au bool, b ref, bu bool) (ref, bool) {
		if !a.ok() {
			return b, bu
		}
		u := au && bu
		d := l.newReg(true, u, 1)
		if !u {
			a, b = l.splat(a, 1), l.splat(b, 1)
		}
		l.flatRaw(addU64, u, 1, d, a, b, none)
		return d, u
	}
	scale := func(t term) (ref, bool) {
		r, u := t.r, t.uni
		if t.by.ok() {
			nu := u && t.byUni
			d := l.newReg(true, nu, 1)
			b := t.by
			if !nu {
				r, b = l.splat(r, 1), l.splat(b, 1)
			}
			l.flatRaw(mulU64, nu, 1, d, r, b, none)
			r, u = d, nu
		}
		if t.coef == 1 {
			return r, u
		}
		d := l.newReg(true, u, 1)
		c := uint64(t.coef)
		l.flatRaw(func(f *frame, d, a, _, _, n int) {
			D, A := f.u64[d:d+n], f.u64[a:a+n]
			for i := range D {
				D[i] = A[i] * c
			}
		}, u, 1, d, r, none, none)
		return d, u
	}
	// Uniform and constant parts first: they cost one lane.
	var sumU, sumV ref
	if base.ok() {
		if bits, ok := l.isConst(base); ok {
			imm += int64(bits)
		} else if baseUni {
			sumU = base
		} else {
			sumV = base
		}
	}
	var vary []term
	for _, t := range terms {
		if bits, ok := l.isConst(t.r); ok && !t.by.ok() {
			imm += int64(bits) * t.coef
			continue
		}
		if !t.uni || t.by.ok() && !t.byUni {
			vary = append(vary, t)
			continue
		}
		r, _ := scale(t)
		sumU, _ = add(sumU, true, r, true)
	}
	if imm != 0 || !sumU.ok() && len(vary) == 0 && !sumV.ok() {
		c := l.constant(uint64(imm), true, 1)
		sumU, _ = add(sumU, true, c, true)
	}
	if len(vary) == 0 && !sumV.ok() {
		return sumU, true
	}
	for _, t := range vary {
		// One pass for base + r·coef: the usual case.
		if !sumV.ok() && !t.by.ok() {
			d := l.newReg(true, false, 1)
			coef := uint64(t.coef)
			l.emit(lowered{run: func(f *frame, in *instr) {
				var b uint64
				if in.b >= 0 {
					b = f.u64[in.b]
				}
				D, A := f.u64[in.d+f.lo:in.d+f.hi], f.u64[in.a+f.lo:in.a+f.hi]
				A = A[:len(D)]
				for i := range D {
					D[i] = A[i]*coef + b
				}
			}, d: d, a: t.r, b: sumU})
			sumV, sumU = d, none
			continue
		}
		r, u := scale(t)
		sumV, _ = add(sumV, false, r, u)
	}
	if sumU.ok() {
		sumV, _ = add(sumV, false, sumU, true)
	}
	return sumV, false
}

// layoutStrides returns the element strides of a view type: constants where
// known, else registers.
type stride struct {
	n   int64
	reg ref
	uni bool
}

func (l *lowerer) strides(t *loom.Type) []stride {
	rank := len(t.Dims)
	out := make([]stride, rank)
	if items, ok := l.strided(t); ok {
		if len(items) != rank {
			l.fail("%d strides for a view of rank %d", len(items), rank)
			return out
		}
		for i, it := range items {
			out[i] = l.item(it)
		}
		return out
	}
	cur := stride{n: 1}
	for i := rank - 1; i >= 0; i-- {
		out[i] = cur
		if i == 0 {
			break
		}
		d := t.Dims[i]
		if d.Val == nil {
			cur.n *= d.Size
			continue
		}
		x := l.item(loom.IndexItem{Val: d.Val})
		switch {
		case !x.reg.ok():
			cur.n *= x.n
		case !cur.reg.ok():
			cur.reg, cur.uni = x.reg, x.uni
		default:
			u := cur.uni && x.uni
			r := l.newReg(true, u, 1)
			a, b := cur.reg, x.reg
			if !u {
				a, b = l.splat(a, 1), l.splat(b, 1)
			}
			l.flatRaw(mulU64, u, 1, r, a, b, none)
			cur.reg, cur.uni = r, u
		}
	}
	return out
}

func (l *lowerer) item(it loom.IndexItem) stride {
	if it.Val == nil {
		return stride{n: it.Int}
	}
	r, u := l.asIndex(it.Val)
	if bits, ok := l.isConst(r); ok {
		return stride{n: int64(bits)}
	}
	return stride{n: 1, reg: r, uni: u}
}

// strided finds the stride list of a view's layout; false means row-major.
func (l *lowerer) strided(t *loom.Type) ([]loom.IndexItem, bool) {
	if t.EncVal != nil {
		return l.stridedValue(t.EncVal)
	}
	return stridedStatic(t.Enc)
}

func stridedStatic(e *loom.Encoding) ([]loom.IndexItem, bool) {
	if e.IsDense() {
		return nil, false
	}
	for _, name := range []string{"strides", "stride"} {
		if a, ok := e.Param(name); ok {
			var out []loom.IndexItem
			for _, v := range a.Ints() {
				out = append(out, loom.IndexItem{Int: v})
			}
			for _, v := range a.List() {
				out = append(out, loom.IndexItem{Int: v.Int})
			}
			if a.Kind == loom.AttrInt {
				out = append(out, loom.IndexItem{Int: a.Int})
			}
			return out, true
		}
	}
	if a, ok := e.Param("layout"); ok && a.Kind == loom.AttrEnc {
		return stridedStatic(a.Enc())
	}
	return nil, false
}

func (l *lowerer) stridedValue(v *loom.Value) ([]loom.IndexItem, bool) {
	op := v.Def
	if op == nil {
		l.fail("the layout %s is not defined in the kernel", quoteValue(v))
		return nil, false
	}
	switch op.Name() {
	case "encoding.layout.strided":
		return op.Indices("strides"), true
	case "encoding.layout.dense":
		return nil, false
	case "encoding.define":
		names := op.Attr("parameter_names").List()
		for i, p := range op.Field("parameters") {
			if i < len(names) && names[i].Str == "layout" {
				return l.stridedValue(p)
			}
		}
		return stridedStatic(op.Attr("spec").Enc())
	case "encoding.layout.assume.dense":
		return nil, false
	}
	if len(op.Operands) > 0 {
		return l.stridedValue(op.Operands[0])
	}
	return nil, false
}

// access is the payload of a memory instruction.
type access struct {
	kind    loom.Kind
	size    int64 // bytes of an element
	n       int   // components
	step    int64 // bytes between consecutive components
	stepReg bool  // step is in register xs[1], per lane or uniform
	stepUni bool
	indexed bool // one address per component
	write   bool
	uniID   bool
	uniAddr bool
	masked  bool // c holds an i1 per component
	pass    bool // xs[2] holds the pass-through
	atomic  *atomicAccess
	view    *loom.Type
	mem     memLoop
}

// place returns the address of view[idx]; the last index may get an addition
// per component.
func (l *lowerer) address(view *loom.Value, idx []loom.IndexItem) (addr ref, uni bool, st []stride) {
	x := l.val(view)
	t := view.Type
	st = l.strides(t)
	size := int64(t.Elem.Bytes())
	if len(idx) != len(st) {
		l.fail("%d indices for a view of rank %d", len(idx), len(st))
		return x.off, x.uniOff, st
	}
	var terms []term
	imm := int64(0)
	for i, it := range idx {
		s := st[i]
		if it.Val == nil {
			if s.reg.ok() {
				if it.Int != 0 {
					terms = append(terms, term{r: s.reg, uni: s.uni, coef: it.Int * s.n * size})
				}
			} else {
				imm += it.Int * s.n * size
			}
			continue
		}
		r, u := l.asIndex(it.Val)
		terms = append(terms, term{r: r, uni: u, coef: s.n * size, by: s.reg, byUni: s.uni})
	}
	addr, uni = l.linear(x.off, x.uniOff, imm, terms)
	return addr, uni, st
}

// perComponent returns an address per component: origin plus offsets[e] along
// the last axis.
func (l *lowerer) perComponent(addr ref, st []stride, size int64, offsets *loom.Value) ref {
	n := l.count(offsets.Type)
	d := l.newReg(true, false, n)
	o := l.lane(offsets)
	a := l.splat(addr, 1)
	k := offsets.Type.Element()
	wide := wideKind(k)
	w := uint(k.Bits())
	last := stride{n: 1}
	if len(st) > 0 {
		last = st[len(st)-1]
	}
	var by ref
	if last.reg.ok() {
		by = l.splat(last.reg, 1)
	}
	coef := last.n * size
	for e := range int32(n) {
		l.flatRaw(func(f *frame, d, a, o, by, n int) {
			for i := range n {
				var v int64
				if wide {
					v = f.i64[o+i]
				} else {
					v = sext(uint64(f.u32[o+i]), w)
				}
				v *= coef
				if by >= 0 {
					v *= f.i64[by+i]
				}
				f.i64[d+i] = f.i64[a+i] + v
			}
		}, false, 1, ref{d.v, e}, a, ref{o.v, o.c + e}, by)
	}
	return d
}

// memory builds the common part of an access.
func (l *lowerer) memory(op *loom.Op, view, value *loom.Value, write bool) (in lowered, acc *access) {
	t := view.Type
	acc = &access{kind: t.Elem, size: int64(t.Elem.Bytes()), n: l.count(value.Type), write: write, view: t}
	addr, uni, st := l.address(view, op.Indices("indices"))
	acc.step = acc.size
	x := l.val(view)
	acc.uniID = x.uni
	in = lowered{a: addr, n: acc.n, xs: []ref{x.r, none, none}}
	if off := op.Operand("offsets"); off != nil {
		acc.indexed = true
		in.a = l.perComponent(addr, st, acc.size, off)
		uni = false
	} else if n := len(st); n > 0 {
		s := st[n-1]
		acc.step = s.n * acc.size
		if s.reg.ok() && acc.n > 1 {
			acc.stepReg, acc.stepUni = true, s.uni
			in.xs[1] = s.reg
		}
	}
	acc.uniAddr = uni
	if m := op.Operand("mask"); m != nil {
		acc.masked = true
		in.c = l.lane(m)
	}
	in.x = acc
	return in, acc
}

func lowerLoad(l *lowerer, op *loom.Op) {
	view, res := op.Operand("view"), op.Result()
	in, acc := l.memory(op, view, res, false)
	if p := op.Operand("passthrough"); p != nil {
		acc.pass = true
		in.xs[2] = l.lane(p)
	}
	uni := !l.varying[res] && acc.uniAddr && acc.uniID && !acc.masked && !acc.indexed && l.mode&(sanMemory|modeTrace) == 0
	in.d = l.newReg(wideKind(acc.kind), uni, acc.n)
	l.vals[res] = val{r: in.d, uni: uni}
	l.emitLoad(in, acc, uni)
}

func (l *lowerer) emitLoad(in lowered, acc *access, uni bool) {
	if uni {
		if acc.stepReg {
			uniStep := acc.stepUni
			if !uniStep {
				l.fail("a uniform load with a stride per item")
			}
		}
		in.run = loadUniform
		l.emit(in)
		return
	}
	if acc.uniAddr {
		in.a = l.splat(in.a, 1)
		acc.uniAddr = false
	}
	l.checkAccess(in, acc)
	acc.mem = loopFor(acc)
	in.run = loadLanes
	l.emit(in)
}

func lowerStore(l *lowerer, op *loom.Op) {
	view, value := op.Operand("view"), op.Operand("value")
	in, acc := l.memory(op, view, value, true)
	in.b = l.lane(value)
	l.emitStore(in, acc)
}

func (l *lowerer) emitStore(in lowered, acc *access) {
	if acc.uniAddr {
		in.a = l.splat(in.a, 1)
		acc.uniAddr = false
	}
	l.checkAccess(in, acc)
	acc.mem = loopFor(acc)
	in.run = storeLanes
	l.emit(in)
}

// lowerPacked serves load.expand and store.compress: active components take
// consecutive memory elements.
func lowerPacked(l *lowerer, op *loom.Op) {
	view := op.Operand("view")
	write := op.Name() == "vector.store.compress"
	value := op.Result()
	if write {
		value = op.Operand("value")
	}
	in, acc := l.memory(op, view, value, write)
	// Addresses per component: origin + rank of the component among the active.
	base := l.splat(in.a, 1)
	d := l.newReg(true, false, acc.n)
	n, step := acc.n, acc.step
	l.emit(lowered{run: func(f *frame, in *instr) {
		for l := f.lo; l < f.hi; l++ {
			at := f.i64[in.a+l]
			for e := range n {
				f.i64[in.d+e*f.L+l] = at
				if f.u32[in.c+e*f.L+l]&1 != 0 {
					at += step
				}
			}
		}
	}, d: d, a: base, c: in.c})
	in.a, acc.indexed, acc.uniAddr = d, true, false
	if write {
		in.b = l.lane(value)
		l.emitStore(in, acc)
		return
	}
	acc.pass = true
	in.xs[2] = l.lane(op.Operand("passthrough"))
	in.d = l.newReg(wideKind(acc.kind), false, acc.n)
	l.vals[value] = val{r: in.d}
	l.emitLoad(in, acc, false)
}

func lowerSubview(l *lowerer, op *loom.Op) {
	src := op.Operand("source")
	addr, uni, _ := l.address(src, op.Indices("offsets"))
	x := l.val(src)
	l.vals[op.Result()] = val{r: x.r, off: addr, uni: x.uni, uniOff: uni}
}

func lowerRefine(l *lowerer, op *loom.Op) { l.alias(op.Result(), l.val(op.Operand("source"))) }

// lowerAsyncCopy copies at once: lockstep execution has nothing to overlap. A
// gather writes the lanes of a subgroup one after the other.
func lowerAsyncCopy(l *lowerer, op *loom.Op) {
	src, dst := op.Operand("source"), op.Operand("dest")
	x, y := l.val(src), l.val(dst)
	bytes := func(t *loom.Type) int64 {
		n := int64(t.Elem.Bytes())
		for _, d := range t.Dims {
			n *= l.extent(d)
		}
		return n
	}
	size := bytes(src.Type)
	slot := int64(0)
	if op.Name() == "kernel.async.gather" || op.Name() == "kernel.async.gather.mask" {
		slot = size
		if d := dst.Type.Dims; len(d) > 1 {
			slot = int64(dst.Type.Elem.Bytes()) * l.extent(d[len(d)-1])
		}
	}
	rd := lowered{a: l.splat(x.off, 1), n: int(size), xs: []ref{x.r, none, none}}
	ra := &access{kind: loom.I8, size: 1, n: int(size), step: 1, uniID: x.uni, view: src.Type}
	rd.x = ra
	tmp := l.newReg(false, false, int(size))
	rd.d = tmp
	to := l.splat(y.off, 1)
	if slot > 0 {
		d := l.newReg(true, false, 1)
		l.emit(lowered{run: func(f *frame, in *instr) {
			for l := f.lo; l < f.hi; l++ {
				f.i64[in.d+l] = f.i64[in.a+l] + int64(l%f.wave)*slot
			}
		}, d: d, a: to})
		to = d
	}
	wr := lowered{a: to, b: tmp, n: int(size), xs: []ref{y.r, none, none}}
	wa := &access{kind: loom.I8, size: 1, n: int(size), step: 1, uniID: y.uni, write: true, view: dst.Type}
	wr.x = wa
	emit := func() {
		l.emitLoad(rd, ra, false)
		l.emitStore(wr, wa)
	}
	if p := op.Operand("predicate"); p != nil {
		skip := l.label()
		l.emit(lowered{run: maskIf, a: l.lane(p), to: skip})
		l.level(skip, emit)
		l.place(skip)
		l.emit(lowered{run: maskEnd, to: l.scope})
		return
	}
	emit()
}
