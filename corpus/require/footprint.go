package require

import (
	"math"
	"math/bits"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
)

// Reach says how far a kernel goes into one binding for given launch values.
type Reach struct {
	// Bytes is the end of the last byte the views let the kernel touch; 0 when it
	// touches nothing. It is only meaningful when Known.
	Bytes int64
	// Known is false when a view's extent or layout depends on something that is
	// known at run time only. Bytes then covers the other views.
	Known bool
	// At is the access that reaches furthest, View its view.
	At, View diag.Span
	// Layouts are the encodings other than dense and strided under which the
	// kernel views the binding.
	Layouts []Layout
}

// Layout is one encoding of a view of a binding.
type Layout struct {
	Family string // "ggml.q8_1_x4"
	Span   diag.Span
}

// Footprint computes the reach into every binding of a closed kernel. set holds
// the kernel's facts for the launch values in question. Code that those values
// rule out does not count.
func Footprint(k *kernel.Kernel, set *facts.Set) []Reach {
	f := &footprint{set: set, bindings: map[*loom.Value]int{}, views: map[*loom.Value]*view{}, out: make([]Reach, len(k.Bindings))}
	for i, b := range k.Bindings {
		f.bindings[b.Param] = i
		f.out[i].Known = true
	}
	if k.Def.Body != nil {
		f.region(k.Def.Body)
	}
	return f.out
}

// view is a typed window into a binding.
type view struct {
	binding int
	base    facts.Fact // byte offset of element 0
	dims    []facts.Fact
	window  []bool       // the extent is written as a number; see addressSpace
	strides []facts.Fact // in elements
	shift   []facts.Fact // added to indices, for subviews; nil for none
	own     []facts.Fact // a subview's own extents
	elem    int64        // bytes
	known   bool         // layout is understood
	span    diag.Span
}

type footprint struct {
	set      *facts.Set
	bindings map[*loom.Value]int
	views    map[*loom.Value]*view
	out      []Reach
}

func (f *footprint) region(r *loom.Region) {
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			f.op(o)
		}
	}
}

func (f *footprint) op(o *loom.Op) {
	switch o.Name() {
	case "scf.if":
		c, known := f.set.At(o, o.Operand("condition")).Const()
		for i, r := range o.Regions {
			if known && (c != 0) != (i == 0) {
				continue
			}
			f.region(r)
		}
		return
	case "scf.for":
		lo, hi := f.set.At(o, o.Operand("lower_bound")), f.set.At(o, o.Operand("upper_bound"))
		if lo.Lo >= hi.Hi {
			return
		}
	case "buffer.view":
		f.view(o)
	case "view.subview":
		f.subview(o)
	case "view.refine":
		if v := f.views[o.Operand("source")]; v != nil {
			f.views[o.Result()] = v
		}
	default:
		if o.Def.Traits&loom.Fact != 0 {
			for i, r := range o.Results {
				if i >= len(o.Operands) {
					break
				}
				if n, ok := f.bindings[o.Operands[i]]; ok {
					f.bindings[r] = n
				}
				if v := f.views[o.Operands[i]]; v != nil {
					f.views[r] = v
				}
			}
		} else if o.Def.Traits&(loom.Reads|loom.Writes) != 0 && o.Def.Traits&loom.Hint == 0 {
			f.access(o)
		}
	}
	for _, r := range o.Regions {
		f.region(r)
	}
}

func (f *footprint) view(o *loom.Op) {
	n, ok := f.bindings[o.Operand("buffer")]
	if !ok {
		return
	}
	t := o.Result().Type
	v := &view{binding: n, base: f.set.At(o, o.Operand("byte_offset")), elem: int64(t.Elem.Bytes()), known: true, span: o.NameSpan()}
	for _, d := range t.Dims {
		v.dims = append(v.dims, f.extent(o, d))
		v.window = append(v.window, d.Val == nil || f.literal(d.Val))
	}
	v.strides, v.known = f.strides(o, t, v.dims)
	f.layouts(n, o, t)
	f.views[o.Result()] = v
}

// literal reports whether v is a constant of the text, and not a value of the launch.
func (f *footprint) literal(v *loom.Value) bool {
	d := f.set.Root(v).Def
	return d != nil && strings.HasSuffix(d.Name(), ".constant")
}

func (f *footprint) extent(o *loom.Op, d loom.Dim) facts.Fact {
	if d.Val == nil {
		return facts.Exact(d.Size)
	}
	return f.set.At(o, d.Val)
}

// strides returns the element strides of a view type, and whether they are known
// to be all there is to the layout.
func (f *footprint) strides(o *loom.Op, t *loom.Type, dims []facts.Fact) ([]facts.Fact, bool) {
	if t.EncVal != nil {
		return f.layoutStrides(o, t.EncVal, dims)
	}
	if t.Enc.IsDense() {
		return denseStrides(dims), true
	}
	if fam := t.Enc.Family; fam == "strided" || fam == "encoding.layout.strided" {
		for _, key := range []string{"strides", "stride", ""} {
			if a, ok := t.Enc.Param(key); ok {
				return staticStrides(a, len(dims))
			}
		}
	}
	return nil, false
}

func (f *footprint) layoutStrides(o *loom.Op, v *loom.Value, dims []facts.Fact) ([]facts.Fact, bool) {
	d := f.set.Root(v).Def
	if d == nil {
		return nil, false
	}
	switch d.Name() {
	case "encoding.layout.dense":
		return denseStrides(dims), true
	case "encoding.layout.strided":
		items := d.Indices("strides")
		if len(items) != len(dims) {
			return nil, false
		}
		out := make([]facts.Fact, len(items))
		for i, it := range items {
			if it.Val == nil {
				out[i] = facts.Exact(it.Int)
			} else {
				out[i] = f.set.At(o, it.Val)
			}
		}
		return out, true
	case "encoding.define":
		for i, name := range d.Attr("parameter_names").List() {
			if ps := d.Field("parameters"); name.Str == "layout" && i < len(ps) {
				return f.layoutStrides(o, ps[i], dims)
			}
		}
	}
	return nil, false
}

func denseStrides(dims []facts.Fact) []facts.Fact {
	out := make([]facts.Fact, len(dims))
	step := facts.Exact(1)
	for i := len(dims) - 1; i >= 0; i-- {
		out[i] = step
		step = facts.Fact{Lo: mul(max(step.Lo, 0), max(dims[i].Lo, 0)), Hi: mul(max(step.Hi, 0), max(dims[i].Hi, 0))}
	}
	return out
}

func staticStrides(a loom.Attr, rank int) ([]facts.Fact, bool) {
	var out []facts.Fact
	switch a.Kind {
	case loom.AttrInts:
		for _, v := range a.Ints() {
			out = append(out, facts.Exact(v))
		}
	case loom.AttrList:
		for _, v := range a.List() {
			out = append(out, facts.Exact(v.Int))
		}
	case loom.AttrInt:
		out = append(out, facts.Exact(a.Int))
	}
	return out, len(out) == rank
}

// layouts records the encodings that say more than where elements stand.
func (f *footprint) layouts(n int, o *loom.Op, t *loom.Type) {
	add := func(family string) {
		for _, l := range f.out[n].Layouts {
			if l.Family == family {
				return
			}
		}
		f.out[n].Layouts = append(f.out[n].Layouts, Layout{family, o.NameSpan()})
	}
	var follow func(v *loom.Value)
	follow = func(v *loom.Value) {
		d := f.set.Root(v).Def
		if d == nil || d.Name() != "encoding.define" {
			return
		}
		if e := d.Attr("spec").Enc(); e != nil && isFormat(e.Family) {
			add(e.Family)
		}
		for _, p := range d.Field("parameters") {
			follow(p)
		}
	}
	if t.EncVal != nil {
		follow(t.EncVal)
	}
	if t.Enc != nil && isFormat(t.Enc.Family) {
		add(t.Enc.Family)
	}
}

// isFormat reports whether an encoding family says how data is packed, and not
// only where it stands or how a matrix instruction takes it.
func isFormat(family string) bool {
	switch family {
	case "dense", "strided", "encoding.layout.dense", "encoding.layout.strided", "encoding.storage", "physical_storage",
		"encoding.operand", "matrix_operand":
		return false
	}
	return true
}

func (f *footprint) subview(o *loom.Op) {
	src := f.views[o.Operand("source")]
	if src == nil {
		return
	}
	v := *src
	v.span = o.NameSpan()
	v.shift = make([]facts.Fact, len(src.dims))
	for i, it := range o.Indices("offsets") {
		if i >= len(v.shift) {
			break
		}
		s := facts.Exact(it.Int)
		if it.Val != nil {
			s = f.set.At(o, it.Val)
		}
		if src.shift != nil {
			s = facts.Fact{Lo: add(s.Lo, src.shift[i].Lo), Hi: add(s.Hi, src.shift[i].Hi)}
		}
		v.shift[i] = s
	}
	v.own = nil
	for _, d := range o.Result().Type.Dims {
		v.own = append(v.own, f.extent(o, d))
	}
	f.views[o.Result()] = &v
}

// access grows the reach of every view the op touches.
func (f *footprint) access(o *loom.Op) {
	for _, operand := range o.Operands {
		if n, ok := f.bindings[operand]; ok {
			f.out[n].Known = false // an op on the buffer itself
			continue
		}
		v := f.views[operand]
		if v == nil {
			continue
		}
		r := &f.out[v.binding]
		end, known := f.end(o, v)
		if !known {
			r.Known = false
			continue
		}
		if end > r.Bytes {
			r.Bytes, r.At, r.View = end, o.NameSpan(), v.span
		}
	}
}

// addressSpace is the extent from which on a view is taken for a window over
// whatever there is: corpora write view<1073741824xi8> where the real bound is
// not at hand.
const addressSpace = 1<<28 - 1

// end is the end of the last byte an access through v may touch: bounded by the
// view's extents and, where the op names them, by its indices.
func (f *footprint) end(o *loom.Op, v *view) (int64, bool) {
	if !v.known || v.elem == 0 || v.base.Hi == math.MaxInt64 || v.base.Hi < 0 {
		return 0, false
	}
	items := o.Indices("indices")
	spans := widths(o, len(v.dims))
	last := int64(0)
	for i, d := range v.dims {
		if d.Hi <= 0 {
			return 0, true // no element at all
		}
		top := d.Hi
		if top != math.MaxInt64 {
			top--
		}
		if len(items) == len(v.dims) && spans != nil {
			idx := facts.Exact(items[i].Int)
			if items[i].Val != nil {
				idx = f.set.At(o, items[i].Val)
			}
			if v.shift != nil {
				idx = facts.Fact{Lo: add(idx.Lo, v.shift[i].Lo), Hi: add(idx.Hi, v.shift[i].Hi)}
			}
			if idx.Hi >= 0 {
				top = min(top, add(idx.Hi, spans[i]-1))
			}
		} else if v.shift != nil && i < len(v.own) && v.own[i].Hi > 0 && v.shift[i].Hi >= 0 {
			top = min(top, add(v.shift[i].Hi, v.own[i].Hi-1))
		}
		if top >= addressSpace && v.window[i] {
			return 0, false
		}
		s := v.strides[i]
		if top > 0 && (s.Hi < 0 || s.Hi == math.MaxInt64 || top == math.MaxInt64) {
			return 0, false
		}
		last = add(last, mul(top, s.Hi))
	}
	end := add(v.base.Hi, mul(add(last, 1), v.elem))
	return end, end != math.MaxInt64
}

// widths returns how many elements an access covers per dimension, nil when the
// op covers more than its indices say.
func widths(o *loom.Op, rank int) []int64 {
	out := make([]int64, rank)
	for i := range out {
		out[i] = 1
	}
	switch o.Name() {
	case "view.load", "view.store", "view.atomic.reduce", "view.atomic.rmw", "view.atomic.cmpxchg":
		return out
	case "vector.load", "vector.store", "vector.load.mask", "vector.store.mask":
	default:
		return nil
	}
	t := payload(o)
	if t == nil || len(t.Dims) > rank {
		return nil
	}
	for i, d := range t.Dims {
		if d.Val != nil {
			return nil
		}
		out[rank-len(t.Dims)+i] = d.Size
	}
	return out
}

func payload(o *loom.Op) *loom.Type {
	if v := o.Operand("value"); v != nil && v.Type.Kind == loom.Vector {
		return v.Type
	}
	if r := o.Result(); r != nil && r.Type.Kind == loom.Vector {
		return r.Type
	}
	return nil
}

// add and mul saturate; they are for non-negative numbers that may be huge.
func add(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

func mul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	if a < 0 || b < 0 {
		return a * b
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
