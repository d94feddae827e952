package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
)

var constantOps = map[string]emitFunc{
	"scalar.constant": emitConstant, "vector.constant": emitConstant,
	"scalar.poison": emitPoison, "vector.poison": emitPoison, "vector.empty": emitPoison,
	"scalar.bitcast": emitBitcast, "vector.bitcast": emitBitcast,
}

var vectorOps = map[string]emitFunc{
	"vector.splat": emitSplat, "vector.iota": emitIota, "vector.from_elements": emitFromElements,
	"vector.extract": emitExtract, "vector.insert": emitInsert, "vector.slice": emitSlice, "vector.concat": emitConcat,
	"vector.broadcast": emitBroadcast, "vector.transpose": emitTranspose, "vector.shuffle": emitShuffle,
	"vector.interleave": emitInterleave, "vector.deinterleave": emitDeinterleave, "vector.select": emitVectorSelect,
	"vector.reduce": emitReduce, "vector.reduce.axes": emitReduceAxes, "vector.dotf": emitDotf,
	"vector.dot2f": emitDot2f, "vector.dot4i": emitDot4i, "vector.dot8i4": emitDot8i4, "vector.dot4f8": emitDot4f8,
	"vector.bitunpacku": emitBitunpack, "vector.bitunpacks": emitBitunpack, "vector.bitpack": emitBitpack,
	"vector.table.lookup": emitTableLookup, "vector.table.quantize": emitTableQuantize, "vector.mask.range": emitMaskRange,
}

// constText is a literal of element kind k.
func (e *emitter) constText(a loom.Attr, k loom.Kind, c carrier) string {
	switch {
	case k.IsIndexLike():
		return intLit(a.Int, c)
	case k == loom.I1:
		if a.Bool() {
			return "true"
		}
		return "false"
	case k.IsFloat():
		return floatLit(a.Float(), k)
	}
	n := a.Int
	switch k {
	case loom.I8:
		return "(loom_u8)" + itoa(n&0xff)
	case loom.I16:
		return "(loom_u16)" + itoa(n&0xffff)
	case loom.I64:
		return fmt.Sprintf("%dull", uint64(n))
	}
	return fmt.Sprintf("%du", uint32(n))
}

func emitConstant(e *emitter, op *loom.Op) {
	r := op.Result()
	k := r.Type.Element()
	if r.Type.Kind != loom.Vector {
		e.let(r, e.constText(op.Attr("value"), k, e.scalarCarrier(r)))
		return
	}
	s := e.constText(op.Attr("value"), k, e.vecCarrier(r))
	e.lanes(r, r.Type.Lanes(), func(int) string { return s })
}

func (e *emitter) scalarCarrier(v *loom.Value) carrier {
	if v.Type.Kind.IsIndexLike() {
		return e.carrier(v)
	}
	return c64
}

// emitPoison gives an undefined value a fixed one: it must not be observed, and a
// fixed one keeps runs comparable.
func emitPoison(e *emitter, op *loom.Op) {
	r := op.Result()
	switch k := r.Type.Kind; {
	case k == loom.Vector:
		if n := r.Type.Lanes(); n > 0 {
			z := e.constText(loom.IntAttr(0), r.Type.Elem, e.vecCarrier(r))
			e.lanes(r, n, func(int) string { return z })
			return
		}
		e.vals[r] = &binding{lit: "0"}
	case k.IsScalar():
		e.let(r, e.constText(loom.IntAttr(0), k, e.scalarCarrier(r)))
	default:
		e.unsupported("", "a poison value of type '%s'", r.Type)
	}
}

func emitSplat(e *emitter, op *loom.Op) {
	r, x := op.Result(), op.Operand("scalar")
	s := e.ref(x)
	if x.Type.Kind.IsIndexLike() {
		s = e.as(x, e.vecCarrier(r))
	}
	e.lanes(r, r.Type.Lanes(), func(int) string { return s })
}

func emitIota(e *emitter, op *loom.Op) {
	r, b, s := op.Result(), op.Operand("base"), op.Operand("step")
	k := r.Type.Elem
	c := e.vecCarrier(r)
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		if k.IsIndexLike() {
			if i == 0 {
				return e.as(b, c)
			}
			return e.as(b, c) + " + " + e.as(s, c) + " * " + intLit(int64(i), c)
		}
		if i == 0 {
			return e.ref(b)
		}
		return fmt.Sprintf("(%s)(%s + %s * %du)", scalarNames[k], e.ref(b), e.ref(s), i)
	})
}

// elemExpr converts a scalar to a lane of vector r.
func (e *emitter) elemExpr(x, r *loom.Value) string {
	if r.Type.Element().IsIndexLike() && !x.Type.IsShaped() {
		return e.as(x, e.vecCarrier(r))
	}
	return e.ref(x)
}

func emitFromElements(e *emitter, op *loom.Op) {
	r := op.Result()
	els := op.Field("elements")
	if len(els) == 0 {
		e.vals[r] = &binding{lit: "0"}
		return
	}
	e.lanes(r, len(els), func(i int) string { return e.elemExpr(els[i], r) })
}

// strideOf is the distance in lanes of one step along axis a.
func laneStride(t *loom.Type, a int) int {
	n := 1
	for _, d := range t.Dims[a+1:] {
		n *= int(d.Size)
	}
	return n
}

// position is a lane number: a literal part and a run-time part, both in lanes.
func (e *emitter) position(t *loom.Type, idx []loom.IndexItem) (int, string) {
	at := 0
	var parts []string
	for i, it := range idx {
		s := laneStride(t, i)
		if c, ok := e.itemConst(it); ok {
			at += int(c) * s
			continue
		}
		x := e.as(it.Val, cu32)
		if s != 1 {
			x += " * " + itoa(int64(s)) + "u"
		}
		parts = append(parts, x)
	}
	return at, strings.Join(parts, " + ")
}

func emitExtract(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	at, dyn := e.position(src.Type, op.Indices("indices"))
	n := 1
	if r.Type.Kind == loom.Vector {
		n = r.Type.Lanes()
	}
	total := src.Type.Lanes()
	get := func(i int) string {
		if dyn == "" {
			if at+i >= total || at+i < 0 {
				e.unsupported("extract inside the vector's extents", "lane %d of a vector with %d lanes", at+i, total)
				return "0"
			}
			return e.laneOf(src, at+i)
		}
		return ""
	}
	if dyn != "" {
		sel := dyn
		if at != 0 {
			sel += " + " + itoa(int64(at)) + "u"
		}
		sel = e.tmp(r.Name+"_lane", "loom_u32", sel)
		get = func(i int) string {
			return e.selectLane(src, sel, i, n, total)
		}
	}
	if r.Type.Kind == loom.Vector {
		e.lanes(r, n, get)
		return
	}
	s := get(0)
	if r.Type.Kind == loom.I1 && src.Type.Elem == loom.I1 {
		s = paren(s) + " != 0"
	}
	if r.Type.Kind.IsIndexLike() && e.carrier(r).String() != e.vecCarrier(src).String() {
		s = "(" + e.carrier(r).String() + ")" + paren(s)
	}
	e.let(r, s)
}

// selectLane reads a lane chosen at run time by a chain of selections: a vector
// indexed by a variable would move to memory.
func (e *emitter) selectLane(src *loom.Value, sel string, i, width, total int) string {
	var b strings.Builder
	last := total - width
	for j := 0; j < last; j += 1 {
		fmt.Fprintf(&b, "%s == %du ? %s : ", sel, j, e.laneOf(src, j+i))
	}
	b.WriteString(e.laneOf(src, last+i))
	return b.String()
}

func emitInsert(e *emitter, op *loom.Op) {
	r, x, dst := op.Result(), op.Operand("value"), op.Operand("dest")
	at, dyn := e.position(dst.Type, op.Indices("indices"))
	n := 1
	if x.Type.Kind == loom.Vector {
		n = x.Type.Lanes()
	}
	total := r.Type.Lanes()
	val := func(i int) string {
		if x.Type.Kind == loom.Vector {
			return e.laneOf(x, i)
		}
		if r.Type.Elem == loom.I1 { // a lane of a mask is a byte
			return "(loom_i1)" + paren(e.ref(x))
		}
		return e.elemExpr(x, r)
	}
	if dyn == "" {
		e.lanes(r, total, func(i int) string {
			if i >= at && i < at+n {
				return val(i - at)
			}
			return e.laneOf(dst, i)
		})
		return
	}
	if at != 0 {
		dyn += " + " + itoa(int64(at)) + "u"
	}
	sel := e.tmp(r.Name+"_lane", "loom_u32", dyn)
	e.lanes(r, total, func(i int) string {
		s := e.laneOf(dst, i)
		for j := max(0, i-n+1); j <= i; j++ {
			s = fmt.Sprintf("%s == %du ? %s : %s", sel, j, val(i-j), s)
		}
		return s
	})
}

// coords turns a lane number into coordinates.
func coords(t *loom.Type, lane int) []int {
	out := make([]int, len(t.Dims))
	for a := len(t.Dims) - 1; a >= 0; a-- {
		d := int(t.Dims[a].Size)
		out[a] = lane % d
		lane /= d
	}
	return out
}

// laneAt is the inverse of coords.
func laneAt(t *loom.Type, c []int) int {
	n := 0
	for a, d := range t.Dims {
		n = n*int(d.Size) + c[a]
	}
	return n
}

func emitSlice(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	idx := op.Indices("offsets")
	off := make([]int, len(src.Type.Dims))
	for a, it := range idx {
		c, ok := e.itemConst(it)
		if !ok {
			e.dynamicSlice(op)
			return
		}
		off[a] = int(c)
	}
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		c := coords(r.Type, i)
		pad := len(off) - len(c)
		at := slices.Clone(off)
		for a := range c {
			at[a+pad] += c[a]
		}
		return e.laneOf(src, laneAt(src.Type, at))
	})
}

// dynamicSlice takes a window at a run-time offset: lane i of the result is always
// equally far from the window's first lane.
func (e *emitter) dynamicSlice(op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	at, dyn := e.position(src.Type, op.Indices("offsets"))
	if at != 0 {
		dyn += " + " + itoa(int64(at)) + "u"
	}
	sel := e.tmp(r.Name+"_lane", "loom_u32", dyn)
	n := r.Type.Lanes()
	far := make([]int, n)
	for i := range far {
		c := coords(r.Type, i)
		from := make([]int, len(src.Type.Dims))
		copy(from[len(from)-len(c):], c)
		far[i] = laneAt(src.Type, from)
	}
	e.lanes(r, n, func(i int) string { return e.selectLane(src, sel, far[i], far[n-1]+1, src.Type.Lanes()) })
}

func emitConcat(e *emitter, op *loom.Op) {
	r := op.Result()
	axis := int(op.Attr("axis").Int)
	ins := op.Field("inputs")
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		c := coords(r.Type, i)
		for _, in := range ins {
			d := int(in.Type.Dims[axis].Size)
			if c[axis] < d {
				return e.laneOf(in, laneAt(in.Type, c))
			}
			c[axis] -= d
		}
		return "0"
	})
}

func emitBroadcast(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	if src.Type.Kind != loom.Vector {
		s := e.elemExpr(src, r)
		e.lanes(r, r.Type.Lanes(), func(int) string { return s })
		return
	}
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		c := coords(r.Type, i)
		c = c[len(c)-len(src.Type.Dims):]
		for a, d := range src.Type.Dims {
			if d.Size == 1 {
				c[a] = 0
			}
		}
		return e.laneOf(src, laneAt(src.Type, c))
	})
}

func emitTranspose(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	perm := op.Attr("permutation").Ints()
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		c := coords(r.Type, i)
		from := make([]int, len(c))
		for a, p := range perm {
			from[p] = c[a]
		}
		return e.laneOf(src, laneAt(src.Type, from))
	})
}

func emitShuffle(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	ls := op.Attr("source_lanes").Ints()
	e.lanes(r, len(ls), func(i int) string { return e.laneOf(src, int(ls[i])) })
}

func emitInterleave(e *emitter, op *loom.Op) {
	r, a, b := op.Result(), op.Operand("even"), op.Operand("odd")
	axis := int(op.Attr("axis").Int)
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		c := coords(r.Type, i)
		src := a
		if c[axis]%2 == 1 {
			src = b
		}
		c[axis] /= 2
		return e.laneOf(src, laneAt(src.Type, c))
	})
}

func emitDeinterleave(e *emitter, op *loom.Op) {
	src := op.Operand("source")
	axis := int(op.Attr("axis").Int)
	for j, r := range op.Results {
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			c := coords(r.Type, i)
			c[axis] = c[axis]*len(op.Results) + j
			return e.laneOf(src, laneAt(src.Type, c))
		})
	}
}

func emitVectorSelect(e *emitter, op *loom.Op) {
	r, c := op.Result(), op.Operand("condition")
	t, f := op.Operand("true_value"), op.Operand("false_value")
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		return e.laneOf(c, i) + " ? " + e.laneOf(t, i) + " : " + e.laneOf(f, i)
	})
}

// combine writes kind(a, b) for one pair of scalars.
func (e *emitter) combine(kind string, k loom.Kind, f fmf, a, b string) string {
	l := lane{e: e, op: e.op, src: k, dst: k, flags: f}
	if k.IsIndexLike() {
		op := map[string]string{"addi": "+", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}[kind]
		switch kind {
		case "minsi":
			return "loom_min_i64(" + a + ", " + b + ")"
		case "maxsi":
			return "loom_max_i64(" + a + ", " + b + ")"
		case "minui", "maxui": // signed carriers hold 64-bit numbers
			return "(loom_i64)loom_" + kind[:3] + "_u64((loom_u64)(loom_i64)" + paren(a) + ", (loom_u64)(loom_i64)" + paren(b) + ")"
		}
		return a + " " + op + " " + b
	}
	if kind == "addf" || kind == "mulf" || kind == "addi" || kind == "muli" || kind == "andi" || kind == "ori" || kind == "xori" {
		a, b = paren(a), paren(b)
	}
	return laneOps[kind].expr(l, []string{a, b})
}

func emitReduce(e *emitter, op *loom.Op) {
	r, in, init := op.Result(), op.Operand("input"), op.Operand("init")
	k := r.Type.Kind
	acc := e.into(init, r)
	f := flagsOf(op)
	for i := range in.Type.Lanes() {
		next := e.combine(op.Word("kind"), k, f, acc, e.laneOf(in, i))
		if i == in.Type.Lanes()-1 {
			e.let(r, next)
			return
		}
		acc = e.tmp(r.Name+"_"+itoa(int64(i)), e.ctype(r), next)
	}
	e.alias(r, init)
}

func emitReduceAxes(e *emitter, op *loom.Op) {
	r, in, init := op.Result(), op.Operand("input"), op.Operand("init")
	axes := op.Attr("axes").Ints()
	k := in.Type.Elem
	f := flagsOf(op)
	keep := func(a int) bool { return !slices.Contains(axes, int64(a)) }
	groups := map[int][]int{}
	for i := range in.Type.Lanes() {
		c := coords(in.Type, i)
		at := 0
		for a, d := range in.Type.Dims {
			if keep(a) {
				at = at*int(d.Size) + c[a]
			}
		}
		groups[at] = append(groups[at], i)
	}
	one := func(g int) string {
		acc := e.laneOf(init, g)
		for _, i := range groups[g] {
			acc = e.tmp(r.Name+"_acc", laneType(k, e.vecCarrier(in)), e.combine(op.Word("kind"), k, f, acc, e.laneOf(in, i)))
		}
		return acc
	}
	if r.Type.Kind != loom.Vector {
		e.let(r, one(0))
		return
	}
	n := r.Type.Lanes()
	out := make([]string, n)
	for g := range n {
		out[g] = one(g)
	}
	e.lanes(r, n, func(i int) string { return out[i] })
}

func emitDotf(e *emitter, op *loom.Op) {
	r, a, b := op.Result(), op.Operand("lhs"), op.Operand("rhs")
	k := r.Type.Kind
	acc := e.ref(op.Operand("init"))
	n := a.Type.Lanes()
	wide := func(v *loom.Value, i int) string {
		return floatToFloat(lane{src: v.Type.Elem, dst: k}, []string{e.laneOf(v, i)})
	}
	for i := range n {
		s := fused(lane{dst: k}, []string{wide(a, i), wide(b, i), acc})
		if i == n-1 {
			e.let(r, s)
			return
		}
		acc = e.tmp(r.Name+"_"+itoa(int64(i)), e.ctype(r), s)
	}
	e.alias(r, op.Operand("init"))
}

func emitDot2f(e *emitter, op *loom.Op) {
	r, a, b, c := op.Result(), op.Operand("lhs"), op.Operand("rhs"), op.Operand("acc")
	k := a.Type.Elem
	if k != loom.F16 && k != loom.BF16 || b.Type.Elem != k || r.Type.Elem != loom.F32 {
		e.unsupported("use f16 or bf16 pairs with an f32 accumulator, or vector.dotf, which takes any floats", "dot2f of %s and %s into %s", k, b.Type.Elem, r.Type.Elem)
		return
	}
	fn := "loom_dot2_" + shortNames[k]
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		return fmt.Sprintf("%s(%s, %s, %s, %s, %s)", fn, e.laneOf(a, 2*i), e.laneOf(a, 2*i+1), e.laneOf(b, 2*i), e.laneOf(b, 2*i+1), e.laneOf(c, i))
	})
}

// words finds the 32-bit words that a vector of narrow lanes was cast from.
func words(v *loom.Value) *loom.Value {
	for v.Def != nil {
		switch v.Def.Def.Name {
		case "vector.bitcast", "vector.fragment":
			v = v.Def.Operands[0]
			if v.Type.Element() == loom.I32 {
				return v
			}
			continue
		}
		break
	}
	return nil
}

// packed reads bits [i·32, i·32+32) of a vector as one u32. Words that were cast to
// bytes are used as they are: taking them apart and together again lane by lane is
// more than the compiler sees through.
func (e *emitter) packed(v *loom.Value, i int) string {
	if v.Type.Elem.Bits() >= 32 {
		return e.laneOf(v, i)
	}
	if w := words(v); w != nil && e.vals[w] != nil {
		return e.laneOf(w, i)
	}
	n := v.Type.Lanes() * v.Type.Elem.Bits() / 32
	if n == 1 {
		return "loom_bitcast<loom_u32>(" + e.ref(v) + ")"
	}
	return "loom_bitcast<" + vecName("loom_u32", n) + ">(" + e.ref(v) + ")[" + itoa(int64(i)) + "]"
}

func emitDot4i(e *emitter, op *loom.Op) {
	r, a, b, c := op.Result(), op.Operand("lhs"), op.Operand("rhs"), op.Operand("acc")
	fn := "loom_dot4_" + op.Word("signs")
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		return fmt.Sprintf("%s(%s, %s, %s)", fn, e.packed(a, i), e.packed(b, i), e.laneOf(c, i))
	})
}

func emitDot8i4(e *emitter, op *loom.Op) {
	r, a, b, c := op.Result(), op.Operand("lhs"), op.Operand("rhs"), op.Operand("acc")
	fn := "loom_dot8_" + op.Word("signs")
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		return fmt.Sprintf("%s(%s, %s, %s)", fn, e.packed(a, i), e.packed(b, i), e.laneOf(c, i))
	})
}

func emitDot4f8(e *emitter, op *loom.Op) {
	r, a, b, c := op.Result(), op.Operand("lhs"), op.Operand("rhs"), op.Operand("acc")
	// The formats word names lhs and rhs: fp8 is e4m3, bf8 is e5m2.
	w := op.Word("formats")
	f := map[string]string{"fp8": "f8e4m3", "bf8": "f8e5m2"}
	fa, fb := f[w[:3]], f[w[3:]]
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		return fmt.Sprintf("loom_dot4_%s_%s(%s, %s, %s)", fa, fb, e.packed(a, i), e.packed(b, i), e.laneOf(c, i))
	})
}

// bitsOf reads w bits at bit position pos of the lanes of v as a stream, low bits
// of lane 0 first. A field may straddle two lanes.
func (e *emitter) bitsOf(v *loom.Value, pos, w int) string {
	lw := v.Type.Elem.Bits()
	i, o := pos/lw, pos%lw
	t := "loom_u32"
	if lw == 64 || w > 32 {
		t = "loom_u64"
	}
	part := func(i, shift int) string {
		s := "(" + t + ")" + e.laneOf(v, i)
		if scalarNames[v.Type.Elem] == t {
			s = e.laneOf(v, i)
		}
		if shift > 0 {
			s = "(" + s + " >> " + itoa(int64(shift)) + ")"
		}
		return s
	}
	s := part(i, o)
	have := lw - o
	for j := i + 1; have < w; j++ {
		s = "(" + s + " | (" + part(j, 0) + " << " + itoa(int64(have)) + "))"
		have += lw
	}
	if have != w {
		m := fmt.Sprintf("0x%xu", uint64(1)<<w-1)
		if t == "loom_u64" {
			m += "ll"
		}
		if !(w == 32 && t == "loom_u32") {
			s = "(" + s + " & " + m + ")"
		}
	}
	return s
}

func emitBitunpack(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	w := int(op.Attr("width").Int)
	sign := op.Def.Name == "vector.bitunpacks"
	k := r.Type.Elem
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		s := e.bitsOf(src, i*w, w)
		if sign && w < k.Bits() {
			bits := max(k.Bits(), 32)
			t := itoa(int64(bits))
			return fmt.Sprintf("(%s)((loom_i%s)((loom_u%s)%s << %d) >> %d)", scalarNames[k], t, t, s, bits-w, bits-w)
		}
		if k == loom.I1 {
			return s + " != 0"
		}
		return "(" + scalarNames[k] + ")" + paren(s)
	})
}

func emitBitpack(e *emitter, op *loom.Op) {
	r, src := op.Result(), op.Operand("source")
	w := int(op.Attr("width").Int)
	k := r.Type.Elem
	lw := k.Bits()
	t := "loom_u32"
	if lw == 64 {
		t = "loom_u64"
	}
	mask := uint64(1)<<w - 1
	if w >= 64 {
		mask = ^uint64(0)
	}
	total := src.Type.Lanes() * w
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		var parts []string
		lo, hi := i*lw, (i+1)*lw
		for j := lo / w; j*w < hi && j*w < total; j++ {
			s := fmt.Sprintf("((%s)%s & 0x%xu)", t, e.laneOf(src, j), mask)
			if t == "loom_u64" {
				s = fmt.Sprintf("((%s)%s & 0x%xull)", t, e.laneOf(src, j), mask)
			}
			switch d := j*w - lo; {
			case d > 0:
				s = fmt.Sprintf("(%s << %d)", s, d)
			case d < 0:
				s = fmt.Sprintf("(%s >> %d)", s, -d)
			}
			parts = append(parts, s)
		}
		if len(parts) == 0 {
			return "0"
		}
		return "(" + scalarNames[k] + ")(" + strings.Join(parts, " | ") + ")"
	})
}

// emitBitcast moves bits between types of equal size, lane 0 least significant.
func emitBitcast(e *emitter, op *loom.Op) {
	in, r := op.Operands[0], op.Result()
	from, to := e.ctype(in), e.ctype(r)
	if from == to {
		e.alias(r, in)
		return
	}
	if in.Type.Kind != loom.Vector && r.Type.Kind != loom.Vector {
		e.let(r, "loom_bitcast<"+to+">("+e.ref(in)+")")
		return
	}
	if in.Type.Element() == loom.I1 || r.Type.Element() == loom.I1 {
		// Masks are bytes here, so their bits are gathered or spread one by one.
		e.castMask(op, in, r)
		return
	}
	e.let(r, "loom_bitcast<"+to+">("+e.ref(in)+")")
}

func (e *emitter) castMask(op *loom.Op, in, r *loom.Value) {
	if r.Type.Element() == loom.I1 {
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			w := in.Type.Element().Bits()
			return fmt.Sprintf("(loom_u8)((%s >> %d) & 1)", e.laneOf(in, i/w), i%w)
		})
		return
	}
	k := r.Type.Element()
	w := k.Bits()
	t := "loom_u32"
	if w == 64 {
		t = "loom_u64"
	}
	one := func(i int) string {
		var ps []string
		for j := range w {
			ps = append(ps, fmt.Sprintf("((%s)%s << %d)", t, e.laneOf(in, i*w+j), j))
		}
		return "(" + scalarNames[k] + ")(" + strings.Join(ps, " | ") + ")"
	}
	if r.Type.Kind != loom.Vector {
		e.let(r, one(0))
		return
	}
	e.lanes(r, r.Type.Lanes(), one)
}

// emitTableLookup reads a small table held in registers. Byte tables go through
// the byte permute; others through selections on the bits of the code.
func emitTableLookup(e *emitter, op *loom.Op) {
	r, tab, idx := op.Result(), op.Operand("table"), op.Operand("indices")
	n := tab.Type.Lanes()
	lanes := 1
	if r.Type.Kind == loom.Vector {
		lanes = r.Type.Lanes()
	}
	k := tab.Type.Elem
	if bits := k.Bits(); bits == 8 && (n == 4 || n == 8 || n == 16) && lanes%4 == 0 && idx.Type.Element().Bits() <= 32 {
		e.bytePermute(r, tab, idx, n, lanes)
		return
	}
	get := func(i int) string {
		code := "(loom_u32)" + e.laneOf(idx, i)
		return e.tree(tab, e.tmp(r.Name+"_code", "loom_u32", code), 0, n)
	}
	if r.Type.Kind != loom.Vector {
		e.let(r, get(0))
		return
	}
	out := make([]string, lanes)
	for i := range out {
		out[i] = get(i)
	}
	e.lanes(r, lanes, func(i int) string { return out[i] })
}

// tree selects table entry code from [lo, hi) by halving.
func (e *emitter) tree(tab *loom.Value, code string, lo, hi int) string {
	if hi-lo == 1 {
		return e.laneOf(tab, lo)
	}
	half := 1
	for half*2 < hi-lo {
		half *= 2
	}
	return fmt.Sprintf("(%s < %du ? %s : %s)", code, lo+half, e.tree(tab, code, lo, lo+half), e.tree(tab, code, lo+half, hi))
}

func (e *emitter) bytePermute(r, tab, idx *loom.Value, n, lanes int) {
	word := make([]string, n/4)
	for i := range word {
		word[i] = e.tmp(tab.Name+"_w"+itoa(int64(i)), "loom_u32", e.packed(tab, i))
	}
	out := make([]string, lanes/4)
	for i := range out {
		code := e.tmp(r.Name+"_codes", "loom_u32", fmt.Sprintf("loom_pack_u8((loom_u8)%s, (loom_u8)%s, (loom_u8)%s, (loom_u8)%s)",
			e.laneOf(idx, 4*i), e.laneOf(idx, 4*i+1), e.laneOf(idx, 4*i+2), e.laneOf(idx, 4*i+3)))
		out[i] = e.tmp(r.Name+"_w"+itoa(int64(i)), "loom_u32", "loom_table"+itoa(int64(n))+"("+strings.Join(word, ", ")+", "+code+")")
	}
	k := r.Type.Elem
	e.lanes(r, lanes, func(i int) string {
		s := out[i/4]
		if i%4 > 0 {
			s = "(" + s + " >> " + itoa(int64(8*(i%4))) + ")"
		}
		return "(" + scalarNames[k] + ")" + s
	})
}

// emitTableQuantize counts the thresholds below an input; with tie = upper those
// equal to it too. A NaN gets code 0, or the highest one with nan = max.
func emitTableQuantize(e *emitter, op *loom.Op) {
	r, in, th := op.Result(), op.Operand("input"), op.Operand("thresholds")
	cmp := " > "
	if op.Word("tie") == "upper" {
		cmp = " >= "
	}
	nanMax := op.Word("nan") == "max" && in.Type.Element().IsFloat()
	k := in.Type.Element()
	lift := func(s string) string {
		if viaF32(k) {
			return toF32(k, s)
		}
		return s
	}
	t := scalarNames[r.Type.Element()]
	one := func(i int) string {
		x := lift(e.laneOf(in, i))
		var ps []string
		for j := range th.Type.Lanes() {
			c := "(" + x + cmp + lift(e.laneOf(th, j)) + ")"
			if nanMax {
				c = "(" + x + " != " + x + " || " + c + ")"
			}
			ps = append(ps, c)
		}
		return "(" + t + ")(" + strings.Join(ps, " + ") + ")"
	}
	if r.Type.Kind != loom.Vector {
		e.let(r, one(0))
		return
	}
	e.lanes(r, r.Type.Lanes(), one)
}

func emitMaskRange(e *emitter, op *loom.Op) {
	r := op.Result()
	lo, hi, st := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step")
	if !lo.Type.Kind.IsIndexLike() {
		t := signed(lo.Type.Kind)
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			return fmt.Sprintf("(%s)(%s + (loom_u%d)%s * %du) < (%s)%s", t, e.ref(lo), max(lo.Type.Kind.Bits(), 32), paren(e.ref(st)), i, t, e.ref(hi))
		})
		return
	}
	n := int64(r.Type.Lanes())
	fl, fh, fs := e.factAt(lo), e.factAt(hi), e.factAt(st)
	c := c64
	if fl.Lo >= 0 && fs.Lo >= 0 && fh.Lo >= 0 && fl.Hi < 1<<30 && fh.Hi < 1<<30 && fs.Hi < (1<<30)/n {
		c = c32
	}
	e.lanes(r, int(n), func(i int) string {
		s := e.as(lo, c)
		if i > 0 {
			if k, ok := e.constOf(st); ok {
				s += " + " + intLit(k*int64(i), c)
			} else {
				s += " + " + e.as(st, c) + " * " + intLit(int64(i), c)
			}
		}
		if s == e.as(hi, c) { // compilers warn about comparing a thing with itself
			return "false"
		}
		return s + " < " + e.as(hi, c)
	})
}
