package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/target"
)

// matrixOps work on 16×16 and 32×32 tiles held in the lanes of a wave. A
// fragment is an ordinary vector; tile (below) says which matrix element each
// component of each lane holds.
var matrixOps = map[string]emitFunc{
	"vector.fragment": emitFragment, "vector.fragment.load": emitFragmentLoad, "vector.fragment.store": emitFragmentStore,
	"vector.fragment.repack": emitRepack, "vector.mma": emitMMA,
}

// tile is the lane layout of one role and the axis it runs along.
type tile struct{ target.Fragment }

// tileOf is the layout of a role for a fragment with n elements of kind k.
func (e *emitter) tileOf(role string, k loom.Kind, n int, rows, cols int64) tile {
	edge := cols
	if role == "lhs" {
		edge = rows
	}
	return tile{target.FragmentOf(e.family(), e.wave, role, k, n, int(edge))}
}

// axes gives the axis that the lane number runs along and the one that elements
// run along: 0 for rows, 1 for columns.
func (t tile) axes() (lane, elem int) {
	if t.Role == "lhs" {
		return 0, 1
	}
	return 1, 0
}

// unused reports whether component i is one that 16-bit accumulators of gfx11
// leave alone.
func (t tile) unused(i int) bool { return i%t.Stride != 0 }

// shape reads the constant extents of a fragment op.
func (e *emitter) shape(op *loom.Op) (rows, cols int64, ok bool) {
	r, ok1 := e.constOf(op.Operand("rows"))
	c, ok2 := e.constOf(op.Operand("columns"))
	if !ok1 || !ok2 {
		e.unsupported("make the fragment's extents constants of the kernel", "fragment extents that are known only at run time")
		return 0, 0, false
	}
	edge := c
	if op.Word("role") == "lhs" {
		edge = r
	}
	if edge != 16 && edge != 32 {
		e.unsupported("cut the matrix into tiles 16 or 32 wide", "a matrix tile %d wide", edge)
		return 0, 0, false
	}
	return r, c, true
}

// laneValues are the lane's number inside its group and the rank of the group
// along the element axis.
func (e *emitter) laneValues(t tile) (in, group *loom.Value) {
	lane := paren(e.laneExpr())
	in = e.countValue("lane_in_tile", lane+" & "+itoa(int64(t.Edge-1)), int64(t.Edge-1))
	shift := "4"
	if t.Edge == 32 {
		shift = "5"
	}
	rank := lane + " >> " + shift
	if t.Swapped {
		rank = lane + " >> 5 | (" + lane + " & 16) >> 3"
	}
	return in, e.countValue("lane_group", rank, int64(t.Groups-1))
}

func emitFragment(e *emitter, op *loom.Op) { e.alias(op.Result(), op.Operand("data")) }

// cell is the address of element i of the tile.
func (a access) cell(t tile, i int, in, group *loom.Value) lin {
	e := a.e
	axes := [2]int{len(a.v.strides) - 2, len(a.v.strides) - 1}
	lane, elem := t.axes()
	lit, g := t.Place(i)
	l := e.shift(a.v, a.l, axes[lane], lin{terms: []term{{coef: 1, a: in}}})
	d := lin{c: int64(lit)}
	if g > 0 && t.Groups > 1 {
		d.terms = []term{{coef: int64(g), a: group}}
	}
	return e.shift(a.v, l, axes[elem], d)
}

// wholeWaves refuses fragments in workgroups whose last wave has missing lanes.
func (e *emitter) wholeWaves() bool {
	if e.items%int64(e.wave) != 0 {
		e.unsupported(fmt.Sprintf("make the workgroup a multiple of %d items", e.wave), "matrix fragments in a workgroup of %d items", e.items)
		return false
	}
	return true
}

func emitFragmentLoad(e *emitter, op *loom.Op) {
	rows, cols, ok := e.shape(op)
	a := e.access(op)
	r := op.Result()
	if !ok || !e.wholeWaves() {
		return
	}
	if len(a.v.strides) < 2 {
		e.unsupported("load a fragment from a view of rank 2", "a matrix tile of a view of rank %d", len(a.v.strides))
		return
	}
	k := r.Type.Elem
	per := 1 // view elements per component
	if op.Word("role") != "init" && k.IsInt() && a.v.elem.Bits() < k.Bits() && a.v.elem.Bits() > 0 {
		per = k.Bits() / a.v.elem.Bits()
	}
	comps := r.Type.Lanes()
	t := e.tileOf(op.Word("role"), k, comps*per, rows, cols)
	in, group := e.laneValues(t)
	_, ea := t.axes()
	unit := a.v.strides[len(a.v.strides)-2+ea] == stride{c: 1}
	conv := func(s string) string { return s }
	if a.v.elem != k && per == 1 {
		if !a.v.elem.IsFloat() || !k.IsFloat() {
			e.unsupported("load the view's own element type", "a fragment of %s from a view of %s", k, a.v.elem)
			return
		}
		conv = func(s string) string { return floatToFloat(lane{src: a.v.elem, dst: k}, []string{s}) }
	}
	if unit && t.Contiguous() && t.Stride == 1 {
		l := a.cell(t, 0, in, group)
		s := a.read(vecName(elemName(a.v.elem, c64), t.Count), a.wideAlign(l, int64(t.Count*a.v.elem.Bytes())), l)
		switch {
		case per > 1:
			s = "loom_bitcast<" + e.ctype(r) + ">(" + s + ")"
		case a.v.elem != k:
			w := e.tmp(r.Name+"_raw", vecName(elemName(a.v.elem, c64), t.Count), s)
			e.lanes(r, comps, func(i int) string { return conv(w + "[" + itoa(int64(i)) + "]") })
			return
		}
		e.let(r, s)
		return
	}
	one := func(i int) string { return conv(a.read(a.memElem(), int64(a.v.elem.Bytes()), a.cell(t, i, in, group))) }
	if per > 1 {
		raw := e.tmp(r.Name+"_raw", vecName(elemName(a.v.elem, c64), t.Count), e.list(vecName(elemName(a.v.elem, c64), t.Count), t.Count, one))
		e.let(r, "loom_bitcast<"+e.ctype(r)+">("+raw+")")
		return
	}
	e.lanes(r, comps, func(i int) string {
		if t.unused(i) {
			return e.constText(loom.IntAttr(0), k, c64)
		}
		return one(i / t.Stride)
	})
}

func emitFragmentStore(e *emitter, op *loom.Op) {
	rows, cols, ok := e.shape(op)
	a := e.access(op)
	x := op.Operand("value")
	if !ok || !e.wholeWaves() {
		return
	}
	if len(a.v.strides) < 2 {
		e.unsupported("store a fragment to a view of rank 2", "a matrix tile of a view of rank %d", len(a.v.strides))
		return
	}
	k := x.Type.Elem
	t := e.tileOf(op.Word("role"), k, x.Type.Lanes(), rows, cols)
	in, group := e.laneValues(t)
	conv := func(s string) string { return s }
	if a.v.elem != k {
		l := lane{src: k, dst: a.v.elem}
		switch {
		case k.IsFloat() && a.v.elem.IsFloat():
			conv = func(s string) string { return floatToFloat(l, []string{s}) }
		case k.IsInt() && a.v.elem.IsInt():
			conv = func(s string) string { return intToInt(true).expr(l, []string{s}) }
		case k.IsInt() && a.v.elem.IsFloat():
			conv = func(s string) string { return intToFloat(true).expr(l, []string{s}) }
		default:
			e.unsupported("convert the fragment before the store", "a fragment of %s into a view of %s", k, a.v.elem)
			return
		}
	}
	comp := func(i int) string { return conv(e.laneOf(x, i*t.Stride)) }
	_, ea := t.axes()
	if a.v.strides[len(a.v.strides)-2+ea] == (stride{c: 1}) && t.Contiguous() && t.Stride == 1 && a.v.elem != loom.I1 {
		l := a.cell(t, 0, in, group)
		vt := vecName(elemName(a.v.elem, c64), t.Count)
		a.write(vt, a.wideAlign(l, int64(t.Count*a.v.elem.Bytes())), l, e.list(vt, t.Count, comp))
		return
	}
	for i := range t.Count {
		a.write(a.memElem(), int64(a.v.elem.Bytes()), a.cell(t, i, in, group), comp(i))
	}
}

// operand describes one side of a multiply-accumulate.
type operand struct {
	fmt    string // f16, bf16, i8, i4, f8E4M3, f8E5M2, f32, f64
	signed bool
	count  int // elements per lane
}

func (e *emitter) operandOf(v *loom.Value) operand {
	k := v.Type.Elem
	o := operand{fmt: k.String(), signed: true, count: v.Type.Lanes()}
	f := e.elementFormat(v, map[*loom.Value]bool{})
	switch {
	case k == loom.I32:
		o.fmt = "i8"
		if f == "i4" || f == "u4" || f == "" && o.count == 2 && e.tileOf("lhs", k, 16, 16, 16).Replicated {
			o.fmt = "i4"
		}
		per := 4
		if o.fmt == "i4" {
			per = 8
		}
		o.count *= per
	case k == loom.I8 && (f == "i4" || f == "u4"):
		o.fmt, o.count = "i4", o.count*2
	case f == "f8e5m2" || f == "bf8":
		o.fmt = loom.F8E5M2.String()
	case f == "f8e4m3" || f == "f8e4m3fn":
		o.fmt = loom.F8E4M3.String()
	}
	o.signed = !strings.HasPrefix(f, "u")
	return o
}

// elementFormat follows a fragment to the schema that says what its codes mean.
func (e *emitter) elementFormat(v *loom.Value, seen map[*loom.Value]bool) string {
	if v == nil || seen[v] {
		return ""
	}
	seen[v] = true
	op := v.Def
	if op == nil {
		if v.Block != nil && v.Block.Region != nil && v.Block.Region.Op != nil {
			if p := v.Block.Region.Op; p.Name() == "scf.for" && v.Index > 0 {
				if in := p.Field("iter_args"); int(v.Index)-1 < len(in) {
					return e.elementFormat(in[v.Index-1], seen)
				}
			}
		}
		return ""
	}
	switch op.Name() {
	case "vector.fragment", "vector.fragment.repack":
		names := op.Attr("parameter_names").List()
		for i, p := range op.Field("parameters") {
			if i < len(names) && names[i].Str == "schema" {
				if f := schemaFormat(p); f != "" {
					return f
				}
			}
		}
		return e.elementFormat(op.Operand("data"), seen)
	case "vector.fragment.load":
		if enc := op.Operand("view").Type.EncVal; enc != nil {
			return schemaFormat(enc)
		}
	case "scf.select":
		return e.elementFormat(op.Operand("true_value"), seen)
	case "vector.bitcast", "vector.select":
		return e.elementFormat(op.Operands[len(op.Operands)-1], seen)
	}
	return ""
}

// schemaFormat is the element format a schema or storage value names.
func schemaFormat(v *loom.Value) string {
	op := v.Def
	if op == nil {
		return ""
	}
	if op.Name() != "encoding.define" {
		if len(op.Operands) > 0 {
			return schemaFormat(op.Operands[0])
		}
		return ""
	}
	spec := op.Attr("spec").Enc()
	if f, ok := spec.Param("element_format"); ok {
		return strings.ToLower(f.Str)
	}
	if s, ok := spec.Param("schema"); ok && s.Enc() != nil {
		if f, ok := s.Enc().Param("element_format"); ok {
			return strings.ToLower(f.Str)
		}
	}
	names := op.Attr("parameter_names").List()
	for i, p := range op.Field("parameters") {
		if i < len(names) && names[i].Str == "schema" {
			return schemaFormat(p)
		}
	}
	if f, ok := strings.CutPrefix(spec.Family, "encoding."); ok && !strings.Contains(f, ".") && f != "operand" && f != "storage" {
		return f
	}
	return ""
}

// emitMMA calls the helper for the instruction whose shape fits the operands.
func emitMMA(e *emitter, op *loom.Op) {
	lhs, rhs, init, r := op.Operand("lhs"), op.Operand("rhs"), op.Operand("init"), op.Result()
	a, b := e.operandOf(lhs), e.operandOf(rhs)
	acc := r.Type.Elem
	n := r.Type.Lanes()
	if !e.wholeWaves() {
		return
	}
	var shape *target.MatrixShape
	var shapes []target.MatrixShape
	if e.k.Target != nil {
		shapes = e.k.Target.Matrix
	}
	for i, s := range shapes {
		if s.Lhs != a.fmt || s.Acc != acc.String() || s.Wave != e.wave || s.LhsLanes != a.count {
			continue
		}
		if s.AccLanes == n {
			shape = &shapes[i]
			break
		}
	}
	// A row of the table that has no helper is no instruction we can give.
	if shape != nil && prelude()[strings.SplitN(e.mmaName(shape, a, b), "<", 2)[0]] == nil {
		shape = nil
	}
	f8 := func(s string) bool { return strings.HasPrefix(s, "f8") }
	if shape == nil || a.count != b.count || a.fmt != b.fmt && !(f8(a.fmt) && f8(b.fmt)) {
		help := "no matrix instructions are known for the target"
		if e.k.Target != nil {
			help = "it has " + e.k.Target.MatrixWords()
		}
		e.unsupported(help, "a matrix product of %s (%d elements a lane) and %s (%d) into %s with %d elements, wave %d", a.fmt, a.count, b.fmt, b.count, acc, n, e.wave)
		return
	}
	fn := e.mmaName(shape, a, b)
	e.let(r, fn+"("+e.mmaOperand(lhs, a)+", "+e.mmaOperand(rhs, b)+", "+e.ref(init)+")")
}

// mmaName is the prelude helper for a shape: signs are part of integer names.
func (e *emitter) mmaName(s *target.MatrixShape, a, b operand) string {
	fam := map[string]string{"gfx11": "wmma11", "": "wmma11", "reference": "wmma11", "gfx12": "wmma12", "gfx9": "mfma"}[e.family()]
	if fam == "" {
		fam = "wmma125"
	}
	in := strings.ToLower(a.fmt)
	template := ""
	switch {
	case s.Lhs == "i8" || s.Lhs == "i4":
		if fam != "mfma" {
			template = fmt.Sprintf("<%t, %t>", a.signed, b.signed)
		}
	case strings.HasPrefix(a.fmt, "f8"):
		in = strings.ToLower(a.fmt) + "_" + strings.ToLower(b.fmt)
	}
	name := fmt.Sprintf("loom_%s_%s_%dx%dx%d_%s", fam, s.Acc, s.M, s.N, s.K, in)
	if fam != "mfma" {
		name += fmt.Sprintf("_w%d", s.Wave)
	}
	return name + template
}

// mmaOperand hands codes over in 32-bit words and floats as they are.
func (e *emitter) mmaOperand(v *loom.Value, o operand) string {
	s := e.ref(v)
	switch o.fmt {
	case "f16", "bf16", "f32", "f64":
		return s
	}
	words := v.Type.Lanes() * v.Type.Elem.Bits() / 32
	t := vecName("loom_u32", words)
	if words == 0 {
		return s
	}
	if v.Type.Elem == loom.I32 {
		return s
	}
	return "loom_bitcast<" + t + ">(" + s + ")"
}

// emitRepack moves a tile to the lane layout of another role.
func emitRepack(e *emitter, op *loom.Op) {
	rows, cols, ok := e.shape(op)
	v, r := op.Operand("value"), op.Result()
	if !ok || !e.wholeWaves() {
		return
	}
	fk, tk := v.Type.Elem, r.Type.Elem
	src := e.tileOf(sourceRole(v), fk, v.Type.Lanes(), rows, cols)
	dst := e.tileOf(op.Word("role"), tk, r.Type.Lanes(), rows, cols)
	if fk != tk && !(fk.IsFloat() && tk.IsFloat()) {
		e.unsupported("repack within one element type, or between floats", "a repack of %s into %s", fk, tk)
		return
	}
	conv := func(s string) string {
		if fk == tk {
			return s
		}
		return floatToFloat(lane{src: fk, dst: tk}, []string{s})
	}
	comp := func(i int) string {
		return conv(e.laneOf(v, i*src.Stride))
	}
	if src.Role == dst.Role || src.Accumulator() && dst.Accumulator() {
		// The same lanes hold the same elements; only the padding may differ.
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			if dst.unused(i) {
				return e.constText(loom.IntAttr(0), tk, c64)
			}
			return comp(i / dst.Stride)
		})
		return
	}
	typ := laneType(tk, c64)
	if src.Accumulator() && dst.Role == "rhs" && src.Edge == dst.Edge {
		e.repackColumns(r, src, dst, typ, comp)
		return
	}
	e.repackThroughLocal(r, src, dst, typ, tk, comp)
}

// repackColumns keeps every element in its column: the lane that holds it differs
// only in the group.
func (e *emitter) repackColumns(r *loom.Value, src, dst tile, typ string, comp func(int) string) {
	in, group := e.laneValues(src)
	out := make([]string, dst.Count)
	vals := make([]string, src.Count)
	for i := range vals {
		vals[i] = e.tmp(r.Name+"_c"+itoa(int64(i)), typ, comp(i))
	}
	for k := range dst.Count {
		lit, g := dst.Place(k) // row k of the operand, for group 0
		if dst.Replicated && !src.Contiguous() {
			i, sg := lit/src.Groups, lit%src.Groups
			if src.Groups == 2 {
				other := e.tmp(r.Name+"_x"+itoa(int64(k)), typ, fmt.Sprintf("loom_lane_xor<16>(%s)", vals[i]))
				out[k] = e.tmp(r.Name+"_k"+itoa(int64(k)), typ, fmt.Sprintf("%s == %d ? %s : %s", e.ref(group), sg, vals[i], other))
				continue
			}
			out[k] = e.tmp(r.Name+"_k"+itoa(int64(k)), typ, fmt.Sprintf("loom_shuffle(%s, %s + %d)", vals[i], e.ref(in), sg*src.Edge))
			continue
		}
		// Rows of a group are adjacent on both sides: row lit + g·group of the
		// operand is element i of source group s.
		if g == src.Count {
			out[k] = vals[k]
			continue
		}
		e.unsupported("", "a repack between tiles of different depth")
		return
	}
	e.lanes(r, len(out), func(i int) string { return out[i] })
}

// repackThroughLocal writes the tile to the wave's own piece of workgroup memory
// and reads it back in the other layout.
func (e *emitter) repackThroughLocal(r *loom.Value, src, dst tile, typ string, k loom.Kind, comp func(int) string) {
	size := int64(k.Bytes())
	pitch := int64(16)*size*int64(src.Edge)/16 + 16 // bytes per row, padded against bank conflicts
	base := e.repackBase()
	wave := e.tmp("wave_id", "loom_i32", e.waveExpr())
	in, group := e.laneValues(src)
	buf := e.tmp("tile_bytes", "loom_u32", fmt.Sprintf("%du + (loom_u32)%s * %du", base, wave, e.repackBytes()))
	addr := func(t tile, i int) string {
		lit, g := t.Place(i)
		row, col := pitch, size
		if la, _ := t.axes(); la == 1 {
			row, col = col, row
		}
		// row is the pitch of the lane's axis, col of the element's.
		s := fmt.Sprintf("%s + (loom_u32)%s * %du", buf, e.ref(in), row)
		if g > 0 && t.Groups > 1 {
			s += fmt.Sprintf(" + (loom_u32)%s * %du", e.ref(group), int64(g)*col)
		}
		return fmt.Sprintf("%s + (%s + %du)", e.localVar(), s, int64(lit)*col)
	}
	e.t.add("loom_wave_barrier_local();", nil)
	m := memName(typ, size)
	for i := range src.Count {
		e.t.add(fmt.Sprintf("*(%s *)(%s) = %s;", m, addr(src, i), comp(i)), nil)
	}
	e.t.add("loom_wave_barrier_local();", nil)
	if dst.Role == "lhs" && dst.Stride == 1 {
		vt := vecName(typ, dst.Count)
		e.let(r, fmt.Sprintf("*(const %s *)(%s)", memName(vt, min(16, size*int64(dst.Count))), addr(dst, 0)))
	} else {
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			if dst.unused(i) {
				return e.constText(loom.IntAttr(0), k, c64)
			}
			return fmt.Sprintf("*(const %s *)(%s)", m, addr(dst, i/dst.Stride))
		})
	}
	cv := e.vals[r].cv
	e.t.roots = append(e.t.roots, cv.defs...)
	e.t.add("(void)"+cv.name+";", nil)
}

// repackBytes is the workgroup memory each wave needs for repacks.
func (e *emitter) repackBytes() int64 {
	var n int64
	e.k.Def.Body.Walk(func(o *loom.Op) bool {
		if o.Def.Name == "vector.fragment.repack" {
			m := int64(16)
			if c, ok := e.constOf(o.Operand("rows")); ok && c > m {
				m = 32
			}
			n = max(n, m*(m*int64(o.Result().Type.Elem.Bytes())+16))
		}
		return true
	})
	return n
}

func (e *emitter) repackBase() int64 { return e.scratch.base + 2*e.scratch.slot }

// sourceRole is the role whose layout a fragment value has.
func sourceRole(v *loom.Value) string {
	if v.Def != nil {
		switch v.Def.Name() {
		case "vector.fragment", "vector.fragment.load", "vector.fragment.repack":
			return v.Def.Word("role")
		}
	}
	return "result"
}
