package codegen

import (
	"math"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

type space uint8

const (
	global space = iota
	workgroup
	private
)

// bufRef is a storage root.
type bufRef struct {
	space    space
	base     string // C++ expression of a byte pointer
	binding  int
	align    int64
	readonly bool
	size     int64       // bytes where known, else 0
	off      int64       // byte offset of an allocation inside base
	length   *loom.Value // byte length an allocation was asked for, nil for a binding
}

// viewRef is a typed window: root, byte offset of its origin, extents, strides.
type viewRef struct {
	buf     *bufRef
	off     lin
	elem    loom.Kind
	dims    []loom.Dim
	strides []stride
	schema  *loom.Op // encoding op that gives the storage schema, nil when plain
}

// stride is a distance in elements: c times val.
type stride struct {
	c   int64
	val *loom.Value
}

// lin is a sum of terms plus a constant.
type lin struct {
	c     int64
	terms []term
}

// term is coef·a, or coef·a·b.
type term struct {
	coef int64
	a, b *loom.Value
}

func (l lin) plus(m lin) lin {
	out := lin{c: l.c + m.c, terms: make([]term, 0, len(l.terms)+len(m.terms))}
	out.terms = append(out.terms, l.terms...)
next:
	for _, t := range m.terms {
		for i := range out.terms {
			if out.terms[i].a == t.a && out.terms[i].b == t.b {
				out.terms[i].coef += t.coef
				continue next
			}
		}
		out.terms = append(out.terms, t)
	}
	return out
}

func (l lin) times(c int64) lin {
	out := lin{c: l.c * c, terms: make([]term, len(l.terms))}
	for i, t := range l.terms {
		t.coef *= c
		out.terms[i] = t
	}
	return out
}

// expand splits an index-like value into a sum. It goes through additions and
// products with constants only as far as that separates constants and uniform
// parts from varying ones; other values are terms by themselves, computed once
// where the source computes them.
func (e *emitter) expand(v *loom.Value) lin {
	if c, ok := e.constOf(v); ok {
		return lin{c: c}
	}
	if l, ok := e.lins[v]; ok {
		return l
	}
	l := e.expandOp(v)
	leaf := lin{terms: []term{{coef: 1, a: v}}}
	switch {
	case l == nil:
		e.lins[v] = leaf
		return leaf
	case len(l.terms) == 1 && l.c == 0 && l.terms[0].coef == 1 && l.terms[0].b == nil && e.fact(l.terms[0].a) != e.fact(v):
		// An assume that only narrows: its own facts are the better ones.
		e.lins[v] = leaf
		return leaf
	}
	uniform, varying := 0, 0
	for _, t := range l.terms {
		if e.carrier(t.a) == cMod {
			e.lins[v] = leaf
			return leaf
		}
		if e.uniform(t.a) {
			uniform++
		} else {
			varying++
		}
	}
	if l.c == 0 && (uniform == 0 || varying == 0) && !(uniform == 0 && varying == 1) && !(varying == 0 && uniform == 1) {
		e.lins[v] = leaf
		return leaf
	}
	e.lins[v] = *l
	return *l
}

func (e *emitter) expandOp(v *loom.Value) *lin {
	op := v.Def
	if op == nil {
		return nil
	}
	switch op.Def.Name {
	case "index.assume":
		for i, r := range op.Results {
			if r == v {
				l := e.expand(op.Operands[i])
				return &l
			}
		}
	case "index.cast":
		if in := op.Operands[0]; in.Type.Kind.IsIndexLike() {
			l := e.expand(in)
			return &l
		}
	case "index.add":
		l := e.expand(op.Operands[0]).plus(e.expand(op.Operands[1]))
		return &l
	case "index.sub":
		l := e.expand(op.Operands[0]).plus(e.expand(op.Operands[1]).times(-1))
		return &l
	case "index.mul", "index.scale":
		return e.expandMul(op.Operands[0], op.Operands[1])
	case "index.madd":
		if m := e.expandMul(op.Operands[0], op.Operands[1]); m != nil {
			l := m.plus(e.expand(op.Operands[2]))
			return &l
		}
	case "index.shli":
		if n, ok := e.constOf(op.Operands[1]); ok && n >= 0 && n < 31 {
			l := e.expand(op.Operands[0]).times(1 << n)
			return &l
		}
	}
	return nil
}

func (e *emitter) expandMul(a, b *loom.Value) *lin {
	c, ok := e.constOf(b)
	if !ok {
		if c, ok = e.constOf(a); !ok {
			return nil
		}
		a = b
	}
	if c > 1<<31 || c < -1<<31 {
		return nil
	}
	l := e.expand(a).times(c)
	return &l
}

func (e *emitter) uniform(v *loom.Value) bool {
	return e.fact(v).Uniform >= facts.UniformSubgroup
}

// item is the sum an entry of an index list stands for.
func (e *emitter) item(it loom.IndexItem) lin {
	if it.Val == nil {
		return lin{c: it.Int}
	}
	return e.expand(it.Val)
}

// scaled is l elements of the given stride, in elements.
func (e *emitter) scaled(l lin, s stride) (lin, bool) {
	if s.val == nil {
		return l.times(s.c), true
	}
	if c, ok := e.constOf(s.val); ok {
		return l.times(s.c * c), true
	}
	out := lin{}
	if l.c != 0 {
		out.terms = append(out.terms, term{coef: l.c * s.c, a: s.val})
	}
	for _, t := range l.terms {
		if t.b != nil {
			return lin{}, false
		}
		out.terms = append(out.terms, term{coef: t.coef * s.c, a: t.a, b: s.val})
	}
	return out, true
}

// offset is the byte offset of the element at the indices from the root.
func (e *emitter) offset(v *viewRef, idx []loom.IndexItem) lin {
	size := int64(v.elem.Bytes())
	l := v.off
	for i, it := range idx {
		if i >= len(v.strides) {
			break
		}
		d, ok := e.scaled(e.item(it), v.strides[i])
		if !ok {
			e.unsupported("give the view constant strides on all but one axis", "an index with two run-time factors")
		}
		l = l.plus(d.times(size))
	}
	return l
}

// shift is offset for a list of sums, as subviews and fragments use it.
func (e *emitter) shift(v *viewRef, base lin, axis int, elems lin) lin {
	d, ok := e.scaled(elems, v.strides[axis])
	if !ok {
		e.unsupported("give the view constant strides on all but one axis", "an index with two run-time factors")
	}
	return base.plus(d.times(int64(v.elem.Bytes())))
}

// rangeOf bounds a sum; ok is false when it may leave 64 bits.
func (e *emitter) rangeOf(ts []term, c int64) (lo, hi int64, ok bool) {
	lo, hi = c, c
	for _, t := range ts {
		f := e.termFact(t)
		if f.Lo <= math.MinInt64/4 || f.Hi >= math.MaxInt64/4 {
			return 0, 0, false
		}
		l, h := lo+f.Lo, hi+f.Hi
		if l > lo && f.Lo < 0 || h < hi && f.Hi > 0 {
			return 0, 0, false
		}
		lo, hi = l, h
	}
	return lo, hi, true
}

func (e *emitter) termFact(t term) facts.Fact {
	f := e.factAt(t.a)
	lo, hi, ok := mulRange(f.Lo, f.Hi, t.coef, t.coef)
	if ok && t.b != nil {
		g := e.factAt(t.b)
		lo, hi, ok = mulRange(lo, hi, g.Lo, g.Hi)
	}
	if !ok {
		return facts.Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1}
	}
	return facts.Fact{Lo: lo, Hi: hi, Div: 1}
}

func mulRange(a, b, c, d int64) (int64, int64, bool) {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range [2]int64{a, b} {
		for _, y := range [2]int64{c, d} {
			p := x * y
			if x != 0 && (p/x != y || x == -1 && y == math.MinInt64 || y == -1 && x == math.MinInt64) {
				return 0, 0, false
			}
			lo, hi = min(lo, p), max(hi, p)
		}
	}
	return lo, hi, true
}

// alignment is the proven alignment of root + l in bytes.
func (e *emitter) alignment(b *bufRef, l lin) int64 {
	a := b.align
	if a == 0 {
		a = 1
	}
	g := pow2(l.c+b.off, 4096)
	for _, t := range l.terms {
		d := mulPow2(pow2(t.coef, 4096), pow2(e.factAt(t.a).Div, 4096))
		if t.b != nil {
			d = mulPow2(d, pow2(e.factAt(t.b).Div, 4096))
		}
		g = min(g, d)
	}
	return min(a, g)
}

// pow2 is the largest power of two up to limit that divides n.
func pow2(n, limit int64) int64 {
	if n == 0 {
		return limit
	}
	return min(n&-n, limit)
}

func mulPow2(a, b int64) int64 { return min(a*b, 4096) }

// viewBytes is the proven extent of the view in bytes, or 0.
func (e *emitter) viewBytes(v *viewRef) int64 {
	n := int64(v.elem.Bytes())
	total := n
	for i, d := range v.dims {
		size := d.Size
		if d.Val != nil {
			f := e.fact(d.Val)
			size = f.Hi
		}
		s := v.strides[i].c
		if v.strides[i].val != nil {
			f := e.fact(v.strides[i].val)
			if f.Lo < 0 || f.Hi > math.MaxInt32 {
				return 0
			}
			s *= f.Hi
		}
		if s < 0 || size < 0 || size > 1<<40 || s > 1<<40 || s != 0 && size > (1<<52)/s {
			return 0
		}
		total += max(size-1, 0) * s * n
		if total > 1<<52 {
			return 0
		}
	}
	return total
}

// address is the byte pointer of view element offset l.
func (e *emitter) address(v *viewRef, l lin) string {
	b := v.buf
	switch b.space {
	case workgroup, private:
		s := e.sum32(l.terms, l.c+b.off)
		if s == "0u" {
			return b.base
		}
		return b.base + " + " + s
	}
	var uni, vary []term
	for _, t := range l.terms {
		if t.coef == 0 {
			continue
		}
		if e.uniform(t.a) && (t.b == nil || e.uniform(t.b)) {
			uni = append(uni, t)
		} else {
			vary = append(vary, t)
		}
	}
	var sb strings.Builder
	sb.Grow(96)
	sb.WriteString(b.base)
	c := l.c + b.off
	if e.bounded(v, l) {
		// Nothing is subtracted and the whole distance fits 32 bits, so do its parts.
		if len(uni) > 0 {
			sb.WriteString(" + " + e.sum32(uni, 0))
		}
		if len(vary) > 0 {
			sb.WriteString(" + " + e.laneOffsetText(vary))
		}
		e.writeConst(&sb, c)
		return sb.String()
	}
	lo, hi, ok := e.rangeOf(vary, 0)
	if len(vary) > 0 && !(ok && lo >= 0 && hi <= math.MaxUint32) {
		// The varying part alone may be negative or too large. A constant can repair
		// a small negative range; otherwise the whole offset is bounded by the view.
		if ok && lo < 0 && hi-lo <= math.MaxUint32 && c+lo >= 0 && hi+c <= math.MaxUint32 {
			e.writeUniform(&sb, uni)
			sb.WriteString(" + " + e.sum32(vary, c))
			return sb.String()
		}
		if n := e.viewBytes(v); n > 0 && n <= 1<<32 && !e.subtractsOrigin(v) {
			// In bounds, so the whole distance from the view's origin fits.
			in := lin{c: l.c - v.off.c}
			in.terms = append(in.terms, l.plus(v.off.times(-1)).terms...)
			e.writeUniform(&sb, v.off.terms)
			sb.WriteString(" + " + e.sum32(in.terms, in.c))
			e.writeConst(&sb, v.off.c+b.off)
			return sb.String()
		}
		e.writeUniform(&sb, uni)
		sb.WriteString(" + " + e.sum64(vary))
		e.writeConst(&sb, c)
		return sb.String()
	}
	e.writeUniform(&sb, uni)
	if len(vary) > 0 {
		sb.WriteString(" + " + e.laneOffsetText(vary))
	}
	e.writeConst(&sb, c)
	return sb.String()
}

// laneOffsetText is the varying part of an address. In a loop that stays a loop it
// is a variable the optimiser cannot look through: otherwise loop optimisation
// widens it into a 64-bit pointer per access, which takes two additions and two
// registers where the load instruction would have added the offset itself.
func (e *emitter) laneOffsetText(vary []term) string {
	text := e.sum32(vary, 0)
	if e.rolled == nil || e.cfg || !slices.ContainsFunc(vary, func(t term) bool { return inside(t.a, e.rolled) }) {
		return text
	}
	arm := e.t.at
	if name, ok := e.offsets[offsetKey{arm, text}]; ok {
		return name
	}
	name := e.tmp(e.ref(vary[0].a)+"_offset", "loom_u32", "loom_here("+text+")")
	e.offsets[offsetKey{arm, text}] = name
	return name
}

// inside reports a value that the body of loop defines.
func inside(v *loom.Value, loop *loom.Op) bool {
	b := v.Block
	if v.Def != nil {
		b = v.Def.Block
	}
	for b != nil && b.Region != nil && b.Region.Op != nil {
		if b.Region.Op == loop {
			return true
		}
		b = b.Region.Op.Block
	}
	return false
}

// offsetKey is a body and the text of an offset computed in it.
type offsetKey struct {
	arm  *arm
	text string
}

// bounded reports an access whose parts are all non-negative, in a view of at most
// 2^32 bytes: accesses stay inside the view, so every part stays below 2^32.
func (e *emitter) bounded(v *viewRef, l lin) bool {
	if n := e.viewBytes(v); n == 0 || n > 1<<32 || len(v.off.terms) > 0 || l.c < v.off.c {
		return false
	}
	for _, t := range l.terms {
		if t.coef < 0 || e.factAt(t.a).Lo < 0 || t.b != nil && e.factAt(t.b).Lo < 0 {
			return false
		}
	}
	return true
}

// subtractsOrigin reports that the view's own offset varies, so that it cannot be
// kept apart as a uniform base.
func (e *emitter) subtractsOrigin(v *viewRef) bool {
	for _, t := range v.off.terms {
		if !e.uniform(t.a) {
			return true
		}
	}
	return false
}

func (e *emitter) writeConst(sb *strings.Builder, c int64) {
	switch {
	case c > 0:
		sb.WriteString(" + " + itoa(c))
	case c < 0:
		sb.WriteString(" - " + itoa(-c))
	}
}

func (e *emitter) writeUniform(sb *strings.Builder, uni []term) {
	if len(uni) == 0 {
		return
	}
	if lo, hi, ok := e.rangeOf(uni, 0); ok && lo >= 0 && hi <= math.MaxUint32 {
		sb.WriteString(" + " + e.sum32(uni, 0))
		return
	}
	sb.WriteString(" + " + e.sum64(uni))
}

// sum32 is the sum modulo 2^32 as an unsigned expression.
func (e *emitter) sum32(ts []term, c int64) string {
	var sb strings.Builder
	sb.Grow(96)
	n := 0
	for _, t := range ts {
		if t.coef == 0 {
			continue
		}
		coef := t.coef
		if n > 0 {
			if coef < 0 {
				sb.WriteString(" - ")
				coef = -coef
			} else {
				sb.WriteString(" + ")
			}
		}
		sb.WriteString(e.factor(t, coef, cu32))
		n++
	}
	if c != 0 || n == 0 {
		switch {
		case n == 0:
			sb.WriteString(intLit(c, cu32))
		case c < 0:
			sb.WriteString(" - " + intLit(-c, cu32))
		default:
			sb.WriteString(" + " + intLit(c, cu32))
		}
		n++
	}
	if n > 1 {
		return "(" + sb.String() + ")"
	}
	return sb.String()
}

func (e *emitter) sum64(ts []term) string {
	var sb strings.Builder
	sb.Grow(96)
	n := 0
	for _, t := range ts {
		if t.coef == 0 {
			continue
		}
		if n > 0 {
			sb.WriteString(" + ")
		}
		sb.WriteString(e.factor(t, t.coef, c64))
		n++
	}
	if n > 1 {
		return "(" + sb.String() + ")"
	}
	return sb.String()
}

func (e *emitter) factor(t term, coef int64, c carrier) string {
	s := e.as(t.a, c)
	if t.b != nil {
		s += " * " + e.as(t.b, c)
	}
	if coef != 1 {
		s += " * " + intLit(coef, c)
	}
	return s
}

// view returns what is known about a view value.
func (e *emitter) view(v *loom.Value) *viewRef {
	if b := e.vals[v]; b != nil && b.view != nil {
		return b.view
	}
	if !e.diags.HasErrors() {
		e.unsupported("keep the view where it was made: build it from its buffer inside the region", "view %%%s reaches it through control flow", v.Name)
	}
	return &viewRef{buf: &bufRef{base: "loom_null", align: 1}, elem: v.Type.Elem, dims: v.Type.Dims, strides: make([]stride, len(v.Type.Dims))}
}

// makeView builds the reference of a view of type t at byte offset off in buf.
func (e *emitter) makeView(buf *bufRef, off lin, t *loom.Type) *viewRef {
	v := &viewRef{buf: buf, off: off, elem: t.Elem, dims: t.Dims}
	v.strides, v.schema = e.layout(t)
	if v.strides == nil {
		v.strides = make([]stride, len(t.Dims))
	}
	return v
}

// layout returns element strides of a view type and the schema of its storage.
func (e *emitter) layout(t *loom.Type) ([]stride, *loom.Op) {
	enc, val := t.Enc, t.EncVal
	var schema *loom.Op
	for val != nil {
		b := e.vals[val]
		if b == nil || b.enc == nil {
			e.unsupported("pass the layout as an encoding op of this kernel", "a layout known only at run time")
			return nil, nil
		}
		op := b.enc
		switch op.Def.Name {
		case "encoding.layout.dense":
			return e.dense(t), schema
		case "encoding.layout.strided":
			var ss []stride
			for _, it := range op.Indices("strides") {
				if it.Val != nil {
					ss = append(ss, stride{c: 1, val: it.Val})
				} else {
					ss = append(ss, stride{c: it.Int})
				}
			}
			if len(ss) != len(t.Dims) {
				e.diags.Add(diag.Errorf(e.op.NameSpan(), CodeUnsupported, "layout with %d strides on a view of rank %d", len(ss), len(t.Dims)).
					WithHelp("give encoding.layout.strided one stride per axis of the view"))
				return nil, nil
			}
			return ss, schema
		case "encoding.define":
			schema = op
			enc, val = op.Attr("spec").Enc(), nil
			names := op.Attr("parameter_names").List()
			for i, p := range op.Field("parameters") {
				if i < len(names) && names[i].Str == "layout" {
					val = p
				}
			}
			if val == nil {
				if s, ok := enc.Param("strides"); ok {
					return staticStrides(s), schema
				}
				return e.dense(t), schema
			}
		default:
			val = nil
		}
	}
	if enc.IsDense() {
		return e.dense(t), schema
	}
	for _, name := range []string{"strides", "stride"} {
		if s, ok := enc.Param(name); ok {
			return staticStrides(s), schema
		}
	}
	return e.dense(t), schema
}

func staticStrides(a loom.Attr) []stride {
	var out []stride
	for _, n := range a.Ints() {
		out = append(out, stride{c: n})
	}
	for _, n := range a.List() {
		out = append(out, stride{c: n.Int})
	}
	if a.Kind == loom.AttrInt {
		out = append(out, stride{c: a.Int})
	}
	return out
}

// dense is the row-major layout. An extent known only at run time may occur on
// one inner axis; products of several are named.
func (e *emitter) dense(t *loom.Type) []stride {
	ss := make([]stride, len(t.Dims))
	acc := stride{c: 1}
	for i := len(t.Dims) - 1; i >= 0; i-- {
		ss[i] = acc
		d := t.Dims[i]
		switch {
		case i == 0: // the outermost extent is no stride
		case d.Val == nil:
			acc.c *= d.Size
		default:
			if c, ok := e.constOf(d.Val); ok {
				acc.c *= c
			} else if acc.val == nil {
				acc.val = d.Val
			} else {
				acc = stride{c: 1, val: e.product(acc, d.Val)}
			}
		}
	}
	return ss
}

// product names acc·d as a value of its own.
func (e *emitter) product(acc stride, d *loom.Value) *loom.Value {
	v := &loom.Value{Name: acc.val.Name + "_" + d.Name, Type: loom.Scalar(loom.Index)}
	cv := e.newVar(v.Name, "loom_i64")
	e.define(cv, e.as(acc.val, c64)+" * "+e.as(d, c64)+" * "+intLit(acc.c, c64))
	e.bind(v, cv)
	e.carriers[v] = c64
	f := facts.Top(loom.Index)
	f.Uniform = min(e.fact(acc.val).Uniform, e.fact(d).Uniform)
	f.Lo = 0
	e.made[v] = f
	return v
}
