package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
)

var memoryOps = map[string]emitFunc{
	"buffer.alloca": emitAlloca, "buffer.view": emitBufferView,
	"buffer.assume.alignment": emitAssumeAlignment, "buffer.assume.memory_space": emitAssumeSpace,
	"buffer.assume.noalias": emitBufferAlias, "buffer.assume.same_root": emitBufferAlias,
	"buffer.pack": emitPack, "buffer.length": emitLength,
	"view.load": emitViewLoad, "view.store": emitViewStore, "view.prefetch": emitPrefetch,
	"view.refine": emitRefine, "view.subview": emitSubview,
	"vector.load": emitVectorLoad, "vector.store": emitVectorStore,
	"vector.load.mask": emitLoadMask, "vector.store.mask": emitStoreMask,
	"vector.load.expand": emitLoadExpand, "vector.store.compress": emitStoreCompress,
	"vector.gather": emitGather, "vector.gather.mask": emitGather,
	"vector.scatter": emitScatter, "vector.scatter.mask": emitScatter,
}

// buffer returns the storage root of a buffer value.
func (e *emitter) buffer(v *loom.Value) *bufRef {
	if b := e.vals[v]; b != nil && b.buf != nil {
		return b.buf
	}
	if !e.diags.HasErrors() {
		e.unsupported("use the buffer inside the region that makes it", "buffer %%%s reaches it through control flow", v.Name)
	}
	return &bufRef{base: "loom_null", align: 1}
}

func emitAlloca(e *emitter, op *loom.Op) {
	r := op.Result()
	align := max(op.Attr("base_alignment").Int, 1)
	switch sp := op.Word("memory_space"); sp {
	case "workgroup":
		for _, l := range e.k.Local {
			if l.Alloca == op {
				e.vals[r] = &binding{buf: &bufRef{space: workgroup, base: e.localVar(), binding: -1, align: max(l.Align, 1), size: l.Size, off: l.Offset, length: op.Operand("byte_length")}}
				return
			}
		}
		e.unsupported("report this kernel with its config as a fault of loomc", "an allocation without a reserved place in workgroup memory")
	case "private":
		f := e.factAt(op.Operand("byte_length"))
		if f.Hi < 0 || f.Hi > 1<<16 {
			e.unsupported("bound the byte length with index.assume; private storage is small", "a private allocation without a proven bound")
			return
		}
		cv := e.newVar(r.Name, "loom_u8")
		e.t.add(fmt.Sprintf("alignas(%d) loom_u8 %s[%d];", max(align, 16), cv.name, max(f.Hi, 1)), cv)
		e.vals[r] = &binding{buf: &bufRef{space: private, base: cv.name, binding: -1, align: max(align, 16), size: f.Hi, length: op.Operand("byte_length")}}
	default:
		e.unsupported("allocate workgroup or private memory", "an allocation in memory space '%s'", sp)
	}
}

// localVar names the workgroup storage of the kernel.
func (e *emitter) localVar() string { return "loom_local" }

func emitBufferView(e *emitter, op *loom.Op) {
	r := op.Result()
	b := e.buffer(op.Operand("buffer"))
	e.vals[r] = &binding{view: e.makeView(b, e.expand(op.Operand("byte_offset")), r.Type)}
}

func emitAssumeAlignment(e *emitter, op *loom.Op) {
	a := op.Attr("minimum_alignment").Int
	for i, r := range op.Results {
		b := *e.buffer(op.Operands[i])
		b.align = max(b.align, a)
		e.vals[r] = &binding{buf: &b}
	}
}

func emitAssumeSpace(e *emitter, op *loom.Op) {
	b := e.buffer(op.Operand("buffer"))
	want := map[string]space{"workgroup": workgroup, "private": private}[op.Word("memory_space")]
	if want != b.space {
		e.unsupported("remove the promise or use a buffer of that space", "buffer %%%s is not in memory space '%s'", op.Operand("buffer").Name, op.Word("memory_space"))
	}
	e.vals[op.Result()] = &binding{buf: b}
}

func emitBufferAlias(e *emitter, op *loom.Op) {
	for i, r := range op.Results {
		e.vals[r] = &binding{buf: e.buffer(op.Operands[i])}
	}
}

// emitPack computes aligned offsets of consecutive ranges and the total, in the
// carrier of the total, which is the largest.
func emitPack(e *emitter, op *loom.Op) {
	lens := op.Field("lengths")
	aligns := op.Attr("aligns").Ints()
	total := op.Results[0]
	c := e.carrier(total)
	at := ""
	for i, n := range lens {
		s := intLit(0, c)
		if at != "" {
			s = at
			if i < len(aligns) && aligns[i] > 1 {
				s = fmt.Sprintf("(%s + %s) & ~%s", at, intLit(aligns[i]-1, c), intLit(aligns[i]-1, c))
			}
		}
		r := op.Results[i+1]
		if rc := e.carrier(r); rc.String() != c.String() {
			s = "(" + rc.String() + ")(" + s + ")"
		}
		e.let(r, s)
		at = e.as(r, c) + " + " + e.as(n, c)
	}
	if at == "" {
		at = intLit(0, c)
	}
	e.let(total, at)
}

func emitLength(e *emitter, op *loom.Op) {
	b := e.buffer(op.Operand("buffer"))
	r := op.Result()
	if b.length != nil {
		e.let(r, e.as(b.length, e.carrier(r)))
		return
	}
	e.unsupported("pass the length as a launch parameter of the kernel, whose caller knows it",
		"the length of %%%s is not among the kernel's arguments, which are the addresses of its buffers and its launch parameters,", op.Operand("buffer").Name)
}

// emitRefine and emitSubview take the layout from the result's type: the extents
// of a dense view are its strides.
func emitRefine(e *emitter, op *loom.Op) {
	src := e.view(op.Operand("source"))
	r := op.Result()
	v := e.makeView(src.buf, src.off, r.Type)
	if v.schema == nil {
		v.schema = src.schema
	}
	e.vals[r] = &binding{view: v}
}

func emitSubview(e *emitter, op *loom.Op) {
	src := e.view(op.Operand("source"))
	r := op.Result()
	v := e.makeView(src.buf, e.offset(src, op.Indices("offsets")), r.Type)
	if v.schema == nil {
		v.schema = src.schema
	}
	e.vals[r] = &binding{view: v}
}

// access holds the parts of one memory operation.
type access struct {
	e    *emitter
	op   *loom.Op
	v    *viewRef
	l    lin
	hint string // cache_temporal
}

func (e *emitter) access(op *loom.Op) access {
	v := e.view(op.Operand("view"))
	return access{e: e, op: op, v: v, l: e.offset(v, op.Indices("indices")), hint: op.Word("cache_temporal")}
}

// streaming reports hints that ask not to keep the data near.
func (a access) streaming() bool {
	return strings.HasPrefix(a.hint, "non_temporal") || a.hint == "last_use" || a.hint == "bypass"
}

// read is the expression that loads a value of C++ type typ at l, which is known
// to be aligned to align bytes.
func (a access) read(typ string, align int64, l lin) string {
	m := memName(typ, align)
	p := a.e.address(a.v, l)
	if a.streaming() {
		return "LOOM_LOAD_NT(" + m + ", " + p + ")"
	}
	return "*(const " + m + " *)(" + p + ")"
}

// write stores an expression.
func (a access) write(typ string, align int64, l lin, val string) {
	m := memName(typ, align)
	p := a.e.address(a.v, l)
	if a.v.buf.readonly {
		a.e.unsupported("report this kernel as a fault of loomc", "a store to a binding derived as read-only")
		return
	}
	if a.streaming() {
		a.e.t.add("LOOM_STORE_NT("+m+", "+p+", "+val+");", nil)
		return
	}
	a.e.t.add("*("+m+" *)("+p+") = "+val+";", nil)
}

// memElem is the memory type of one element.
func (a access) memElem() string {
	if a.v.elem == loom.I1 {
		return "loom_u8"
	}
	if a.v.elem.IsIndexLike() {
		return "loom_i64"
	}
	return scalarNames[a.v.elem]
}

func emitViewLoad(e *emitter, op *loom.Op) {
	a := e.access(op)
	r := op.Result()
	s := a.read(a.memElem(), int64(a.v.elem.Bytes()), a.l)
	switch {
	case a.v.elem == loom.I1:
		s += " != 0"
	case r.Type.Kind.IsIndexLike():
		s = "(" + e.carrier(r).String() + ")" + s
	}
	e.let(r, s)
}

func emitViewStore(e *emitter, op *loom.Op) {
	a := e.access(op)
	s := e.ref(op.Operand("value"))
	if a.v.elem == loom.I1 {
		s = "(loom_u8)" + paren(s)
	}
	a.write(a.memElem(), int64(a.v.elem.Bytes()), a.l, s)
}

// emitPrefetch is a hint; the targets here have no use for it in this form.
func emitPrefetch(*emitter, *loom.Op) {}

// unit reports whether the view's last axis is contiguous.
func (v *viewRef) unit() bool {
	n := len(v.strides)
	return n > 0 && v.strides[n-1] == stride{c: 1}
}

// vecMem is the C++ type of n contiguous elements in memory.
func (a access) vecMem(r *loom.Value, n int) string {
	return vecName(elemName(a.v.elem, c64), n)
}

// elemAt is the offset i elements further along the last axis.
func (a access) elemAt(i int) lin {
	return a.e.shift(a.v, a.l, len(a.v.strides)-1, lin{c: int64(i)})
}

// wideAlign is the alignment used for an access of size bytes: the proven one, at
// least the element's, and no more than the access can use.
func (a access) wideAlign(l lin, size int64) int64 {
	al := max(a.e.alignment(a.v.buf, l), int64(a.v.elem.Bytes()))
	for al > 16 || al > size && al > 1 {
		al /= 2
	}
	return max(al, int64(a.v.elem.Bytes()))
}

// emitVectorLoad reads whole vectors, but three lanes one by one: clang accesses a
// vector of three as one of four. Its optimiser joins the three again.
func emitVectorLoad(e *emitter, op *loom.Op) {
	a := e.access(op)
	r := op.Result()
	n := r.Type.Lanes()
	if n == 0 {
		e.vals[r] = &binding{lit: "0"}
		return
	}
	if len(a.v.strides) == 0 {
		e.unsupported("load scalars from a rank-0 view with view.load", "a vector load from a view without axes")
		return
	}
	if !a.v.unit() || r.Type.Elem.IsIndexLike() || n == 3 {
		e.lanes(r, n, func(i int) string { return a.read(a.memElem(), int64(a.v.elem.Bytes()), a.elemAt(i)) })
		return
	}
	e.let(r, a.read(a.vecMem(r, n), a.wideAlign(a.l, int64(n*a.v.elem.Bytes())), a.l))
}

func emitVectorStore(e *emitter, op *loom.Op) {
	a := e.access(op)
	x := op.Operand("value")
	n := x.Type.Lanes()
	if n == 0 {
		return
	}
	if !a.v.unit() || n == 3 {
		for i := range n {
			a.write(a.memElem(), int64(a.v.elem.Bytes()), a.elemAt(i), e.laneOf(x, i))
		}
		return
	}
	a.write(a.vecMem(x, n), a.wideAlign(a.l, int64(n*a.v.elem.Bytes())), a.l, e.ref(x))
}

// guarded loads lane by lane under a mask: inactive lanes touch no memory.
func (a access) guarded(r *loom.Value, at func(i int) (cond string, l lin), other func(i int) string) {
	e := a.e
	n := r.Type.Lanes()
	parts := make([]string, n)
	for i := range n {
		cond, l := at(i)
		cv := e.declareMutable(r.Name+"_"+itoa(int64(i)), a.memElem(), other(i))
		c := e.t.control("}")
		e.t.in(c, "if ("+cond+") {", func() { e.assign(cv, a.read(a.memElem(), int64(a.v.elem.Bytes()), l)) })
		parts[i] = cv.name
	}
	e.lanes(r, n, func(i int) string { return parts[i] })
}

func emitLoadMask(e *emitter, op *loom.Op) {
	a := e.access(op)
	r, m, p := op.Result(), op.Operand("mask"), op.Operand("passthrough")
	if f := e.allTrue(m); f {
		emitVectorLoad(e, op)
		return
	}
	a.guarded(r, func(i int) (string, lin) { return e.laneOf(m, i), a.elemAt(i) }, func(i int) string { return e.laneOf(p, i) })
}

// allTrue reports a mask that is the constant true.
func (e *emitter) allTrue(m *loom.Value) bool {
	return m.Def != nil && m.Def.Def.Name == "vector.constant" && m.Def.Attr("value").Bool()
}

func emitStoreMask(e *emitter, op *loom.Op) {
	a := e.access(op)
	x, m := op.Operand("value"), op.Operand("mask")
	if e.allTrue(m) {
		emitVectorStore(e, op)
		return
	}
	for i := range x.Type.Lanes() {
		c := e.t.control("}")
		e.t.in(c, "if ("+e.laneOf(m, i)+") {", func() {
			a.write(a.memElem(), int64(a.v.elem.Bytes()), a.elemAt(i), e.laneOf(x, i))
		})
	}
}

// countValue makes a computed count between 0 and hi a value that the address
// arithmetic can use.
func (e *emitter) countValue(name, expr string, hi int64) *loom.Value {
	v := &loom.Value{Name: name, Type: loom.Scalar(loom.Index)}
	e.made[v] = loomRange(0, hi)
	e.carriers[v] = c32
	cv := e.newVar(name, "loom_i32")
	e.define(cv, expr)
	e.bind(v, cv)
	return v
}

// emitLoadExpand reads consecutive memory into the active lanes.
func emitLoadExpand(e *emitter, op *loom.Op) {
	a := e.access(op)
	r, m, p := op.Result(), op.Operand("mask"), op.Operand("passthrough")
	n := r.Type.Lanes()
	at := a.prefix(r.Name, m, n)
	a.guarded(r, func(i int) (string, lin) { return e.laneOf(m, i), at[i] }, func(i int) string { return e.laneOf(p, i) })
}

// prefix gives each lane the memory position that follows the active lanes before
// it.
func (a access) prefix(name string, m *loom.Value, n int) []lin {
	e := a.e
	out := make([]lin, n)
	out[0] = a.l
	prev := ""
	for i := 1; i < n; i++ {
		s := "(loom_i32)" + e.laneOf(m, i-1)
		if prev != "" {
			s = prev + " + " + s
		}
		v := e.countValue(name+"_at"+itoa(int64(i)), s, int64(i))
		prev = e.ref(v)
		out[i] = e.shift(a.v, a.l, len(a.v.strides)-1, lin{terms: []term{{coef: 1, a: v}}})
	}
	return out
}

func emitStoreCompress(e *emitter, op *loom.Op) {
	a := e.access(op)
	x, m := op.Operand("value"), op.Operand("mask")
	n := x.Type.Lanes()
	at := a.prefix(x.Name, m, n)
	for i := range n {
		c := e.t.control("}")
		e.t.in(c, "if ("+e.laneOf(m, i)+") {", func() {
			a.write(a.memElem(), int64(a.v.elem.Bytes()), at[i], e.laneOf(x, i))
		})
	}
}

// laneOffset is the access displaced by lane i of a vector of offsets, counted in
// elements along the last axis.
func (a access) laneOffset(offs *loom.Value, i int) lin {
	e := a.e
	f := e.factAt(offs)
	v := &loom.Value{Name: offs.Name + "_" + itoa(int64(i)), Type: loom.Scalar(loom.Index)}
	e.made[v] = loomRange(f.Lo, f.Hi)
	c := fit(e.made[v])
	e.carriers[v] = c
	s := e.laneOf(offs, i)
	if k := offs.Type.Elem; k.IsInt() {
		s = "(" + signed(k) + ")" + s
	}
	cv := e.newVar(v.Name, c.String())
	e.define(cv, "("+c.String()+")"+s)
	e.bind(v, cv)
	return e.shift(a.v, a.l, len(a.v.strides)-1, lin{terms: []term{{coef: 1, a: v}}})
}

func emitGather(e *emitter, op *loom.Op) {
	a := e.access(op)
	r, offs := op.Result(), op.Operand("offsets")
	n := r.Type.Lanes()
	if m := op.Operand("mask"); m != nil {
		p := op.Operand("passthrough")
		a.guarded(r, func(i int) (string, lin) { return e.laneOf(m, i), a.laneOffset(offs, i) }, func(i int) string { return e.laneOf(p, i) })
		return
	}
	ls := make([]lin, n)
	for i := range ls {
		ls[i] = a.laneOffset(offs, i)
	}
	e.lanes(r, n, func(i int) string { return a.read(a.memElem(), int64(a.v.elem.Bytes()), ls[i]) })
}

func emitScatter(e *emitter, op *loom.Op) {
	a := e.access(op)
	x, offs, m := op.Operand("value"), op.Operand("offsets"), op.Operand("mask")
	for i := range x.Type.Lanes() {
		store := func() {
			a.write(a.memElem(), int64(a.v.elem.Bytes()), a.laneOffset(offs, i), e.laneOf(x, i))
		}
		if m == nil {
			store()
			continue
		}
		c := e.t.control("}")
		e.t.in(c, "if ("+e.laneOf(m, i)+") {", store)
	}
}
