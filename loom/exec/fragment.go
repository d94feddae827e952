package exec

import (
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec/float"
	"github.com/loomc/loomc/loom/target"
)

func (l *lowerer) family() string {
	if k := l.p.Kernel; k != nil && k.Target != nil {
		return k.Target.Family
	}
	return ""
}

// fragment is the lane layout of a role with n elements of kind k per lane in a
// tile edge wide.
func (l *lowerer) fragment(role string, k loom.Kind, n, edge int) target.Fragment {
	return target.FragmentOf(l.family(), l.p.wave, role, k, n, edge)
}

// edge is the width of a fragment op's tile in the lane direction.
func (l *lowerer) edge(op *loom.Op) int {
	rows, ok := l.isConst(l.val(op.Operand("rows")).r)
	cols, ok2 := l.isConst(l.val(op.Operand("columns")).r)
	if !ok || !ok2 {
		l.fail("the extents of a fragment must be constants")
		return 16
	}
	n := cols
	if op.Word("role") == "lhs" {
		n = rows
	}
	if n != 16 && n != 32 {
		l.fail("a fragment %d wide; matrix tiles are 16 or 32 wide", n)
		return 16
	}
	return int(n)
}

// codesPer is the number of view elements that one component of an operand packs.
func codesPer(role string, view, k loom.Kind) int {
	if role == "lhs" || role == "rhs" {
		if view.IsInt() && k.IsInt() && view.Bits() < k.Bits() {
			return k.Bits() / view.Bits()
		}
	}
	return 1
}

// lowerFragment is the identity: it only names a role.
func lowerFragment(l *lowerer, op *loom.Op) { l.alias(op.Result(), l.val(op.Operand("data"))) }

// tile emits, per component that holds an element, the byte address of
// view[idx + (row, col)].
func (l *lowerer) tile(op *loom.Op, y target.Fragment, size int64) (addrs []ref, view val, ok bool) {
	v := op.Operand("view")
	addr, _, st := l.address(v, op.Indices("indices"))
	if len(st) < 2 {
		l.fail("a matrix tile needs a view of rank 2 or more")
		return nil, val{}, false
	}
	rs, cs := st[len(st)-2], st[len(st)-1]
	reg := func(s stride) ref {
		if !s.reg.ok() {
			return none
		}
		return l.splat(s.reg, 1)
	}
	r1, r2 := reg(rs), reg(cs)
	base := l.splat(addr, 1)
	rn, cn := rs.n*size, cs.n*size
	for i := range y.Count * y.Stride {
		if _, _, has := y.At(0, i); !has {
			addrs = append(addrs, none)
			continue
		}
		d := l.newReg(true, false, 1)
		rows, cols := make([]int64, l.p.wave), make([]int64, l.p.wave)
		for k := range rows {
			row, col, _ := y.At(k, i)
			rows[k], cols[k] = int64(row)*rn, int64(col)*cn
		}
		l.emit(lowered{run: func(f *frame, in *instr) {
			for l := f.lo; l < f.hi; l++ {
				a, b := rows[l%f.wave], cols[l%f.wave]
				if in.b >= 0 {
					a *= f.i64[in.b+l]
				}
				if in.c >= 0 {
					b *= f.i64[in.c+l]
				}
				f.i64[in.d+l] = f.i64[in.a+l] + a + b
			}
		}, d: d, a: base, b: r1, c: r2})
		addrs = append(addrs, d)
	}
	return addrs, l.val(v), true
}

func lowerFragmentLoad(l *lowerer, op *loom.Op) {
	v, res := op.Operand("view"), op.Result()
	from, to := v.Type.Elem, res.Type.Element()
	n := l.count(res.Type)
	per := codesPer(op.Word("role"), from, to)
	y := l.fragment(op.Word("role"), to, n*per, l.edge(op))
	addrs, x, ok := l.tile(op, y, int64(from.Bytes()))
	if !ok {
		return
	}
	tmp := l.newReg(wideKind(from), false, len(addrs))
	for i, a := range addrs {
		dst := ref{tmp.v, int32(i)}
		if !a.ok() {
			l.flatRaw(func(f *frame, d, _, _, _, n int) { clear(f.u32[d : d+n]) }, false, 1, dst, none, none, none)
			continue
		}
		acc := &access{kind: from, size: int64(from.Bytes()), n: 1, uniID: x.uni, view: v.Type}
		l.emitLoad(lowered{d: dst, a: a, n: 1, xs: []ref{x.r, none, none}, x: acc}, acc, false)
	}
	l.vals[res] = val{r: tmp}
	switch {
	case per > 1:
		l.vals[res] = val{r: l.pack(tmp, n, per, from.Bits())}
	case from != to && from.IsFloat() && to.IsFloat():
		d := l.newReg(wideKind(to), false, n)
		l.vals[res] = val{r: d}
		l.flatRaw(convertFloat(from, to), false, n, d, tmp, none, none)
	case from != to:
		l.fail("a tile of %s cannot be loaded as %s", from, res.Type)
	}
}

// pack puts per codes of some bits each into every component of n, the first
// lowest.
func (l *lowerer) pack(codes ref, n, per, bits int) ref {
	d := l.newReg(false, false, n)
	l.emit(lowered{run: func(f *frame, in *instr) {
		for e := range n {
			for i := f.lo; i < f.hi; i++ {
				var w uint32
				for j := range per {
					w |= f.u32[in.a+(e*per+j)*f.L+i] & (1<<bits - 1) << (j * bits)
				}
				f.u32[in.d+e*f.L+i] = w
			}
		}
	}, d: d, a: codes, n: n})
	return d
}

func lowerFragmentStore(l *lowerer, op *loom.Op) {
	v, value := op.Operand("view"), op.Operand("value")
	from, to := value.Type.Element(), v.Type.Elem
	n := l.count(value.Type)
	y := l.fragment(op.Word("role"), from, n, l.edge(op))
	r := l.lane(value)
	if from != to {
		convert := convertTile(from, to)
		if convert == nil {
			l.fail("a fragment of %s cannot be stored as %s", from, to)
			return
		}
		d := l.newReg(wideKind(to), false, n)
		l.flatRaw(convert, false, n, d, r, none, none)
		r = d
	}
	addrs, x, ok := l.tile(op, y, int64(to.Bytes()))
	if !ok {
		return
	}
	for i, a := range addrs {
		if !a.ok() {
			continue
		}
		acc := &access{kind: to, size: int64(to.Bytes()), n: 1, write: true, uniID: x.uni, view: v.Type}
		l.emitStore(lowered{a: a, b: ref{r.v, r.c + int32(i)}, n: 1, xs: []ref{x.r, none, none}, x: acc}, acc)
	}
}

// convertTile converts an accumulator's elements to a view's on the way to memory;
// it is nil where that has no meaning.
func convertTile(from, to loom.Kind) flatFn {
	switch {
	case from.IsFloat() && to.IsFloat():
		return convertFloat(from, to)
	case from.IsInt() && to.IsInt():
		return convertInt(from, to, true)
	case from.IsInt() && to.IsFloat():
		return intToFloat(from, to, true)
	}
	return nil
}

// codes describes how an operand's elements lie in its components.
type codes struct {
	bits   int // width of a code
	per    int // codes per component
	value  func(bits uint64) float64
	kind   loom.Kind // float formats
	isInt  bool
	signed bool
}

// operandCodes finds the element format of a matrix operand: its schema when it
// has one, else its element type.
func (l *lowerer) operandCodes(v *loom.Value) codes {
	k := v.Type.Element()
	name := elementFormat(v, map[*loom.Value]bool{})
	if name == "" {
		switch {
		case k == loom.I32 && l.count(v.Type) == 2 && l.fragment("lhs", k, 16, 16).Replicated:
			name = "i4"
		case k == loom.I32 || k == loom.I8:
			name = "i8"
		default:
			name = strings.ToLower(k.String())
		}
	}
	intCode := func(bits int, signed bool) codes {
		return codes{bits: bits, per: max(k.Bits()/bits, 1), isInt: true, signed: signed, value: func(b uint64) float64 {
			if signed {
				return float64(sext(b, uint(bits)))
			}
			return float64(b)
		}}
	}
	floatCode := func(fk loom.Kind) codes {
		return codes{kind: fk, bits: fk.Bits(), per: max(k.Bits()/fk.Bits(), 1), value: func(b uint64) float64 { return floatValue(fk, b) }}
	}
	switch name {
	case "i8", "u8":
		return intCode(8, name == "i8")
	case "i4", "u4":
		return intCode(4, name == "i4")
	case "f16":
		return floatCode(loom.F16)
	case "bf16":
		return floatCode(loom.BF16)
	case "f32":
		return floatCode(loom.F32)
	case "f64":
		return floatCode(loom.F64)
	case "f8e4m3", "f8e4m3fn":
		return floatCode(loom.F8E4M3)
	case "f8e5m2", "bf8":
		return floatCode(loom.F8E5M2)
	}
	l.fail("no matrix arithmetic on element format %q", name)
	return floatCode(loom.F16)
}

// elementFormat follows a value to the vector.fragment that gives it a schema.
func elementFormat(v *loom.Value, seen map[*loom.Value]bool) string {
	if v == nil || seen[v] {
		return ""
	}
	seen[v] = true
	op := v.Def
	if op == nil {
		// A loop-carried operand: look at the initial value.
		if v.Block != nil && v.Block.Region != nil && v.Block.Region.Op != nil {
			p := v.Block.Region.Op
			if p.Name() == "scf.for" && v.Index > 0 {
				if in := p.Field("iter_args"); int(v.Index)-1 < len(in) {
					return elementFormat(in[v.Index-1], seen)
				}
			}
		}
		return ""
	}
	switch op.Name() {
	case "vector.fragment", "vector.fragment.repack":
		for i, p := range op.Field("parameters") {
			if names := op.Attr("parameter_names").List(); i < len(names) && names[i].Str == "schema" {
				if f := specFormat(p); f != "" {
					return f
				}
			}
		}
		if d := op.Operand("data"); d != nil {
			return elementFormat(d, seen)
		}
	case "vector.fragment.load":
		view := op.Operand("view").Type
		if view.EncVal != nil {
			return specFormat(view.EncVal)
		}
	case "scf.select":
		return elementFormat(op.Operand("true_value"), seen)
	}
	return ""
}

// specFormat reads element_format from a schema or storage value.
func specFormat(v *loom.Value) string {
	op := v.Def
	if op == nil {
		return ""
	}
	if op.Name() != "encoding.define" {
		if len(op.Operands) > 0 {
			return specFormat(op.Operands[0])
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
	if f, ok := strings.CutPrefix(spec.Family, "encoding."); ok && !strings.Contains(f, ".") && f != "operand" && f != "storage" {
		return f
	}
	for i, p := range op.Field("parameters") {
		if names := op.Attr("parameter_names").List(); i < len(names) && names[i].Str == "schema" {
			return specFormat(p)
		}
	}
	return ""
}

// mmaInfo is what a matrix multiply needs to know about its operands.
type mmaInfo struct {
	a, b       codes
	ya, yb, yc target.Fragment
	na, nb, nc int
	wa, wb, wc bool // words of 64 bits
	k          int  // elements along k
	edge       int  // rows and columns of the product
	acc        loom.Kind
	isInt      bool
}

func (l *lowerer) mmaInfo(op *loom.Op) (*mmaInfo, bool) {
	a, b, c, res := op.Operand("lhs"), op.Operand("rhs"), op.Operand("init"), op.Result()
	m := &mmaInfo{a: l.operandCodes(a), b: l.operandCodes(b), na: l.count(a.Type), nb: l.count(b.Type), nc: l.count(c.Type), acc: res.Type.Element()}
	m.isInt = m.a.isInt
	if m.a.isInt != m.b.isInt || m.isInt != m.acc.IsInt() {
		l.fail("%s times %s does not accumulate in %s", a.Type, b.Type, res.Type)
		return nil, false
	}
	m.yc = l.fragment("init", m.acc, m.nc, 16)
	if m.yc.Count*l.p.wave == 32*32 {
		m.yc = l.fragment("init", m.acc, m.nc, 32)
	}
	m.edge = m.yc.Edge
	if m.yc.Count*l.p.wave != m.edge*m.edge {
		l.fail("%s is not an accumulator of a square tile in a subgroup of %d lanes", res.Type, l.p.wave)
		return nil, false
	}
	m.ya = l.fragment("lhs", a.Type.Element(), m.na*m.a.per, m.edge)
	m.yb = l.fragment("rhs", b.Type.Element(), m.nb*m.b.per, m.edge)
	m.k = m.ya.Depth()
	if kb := m.yb.Depth(); m.k != kb {
		l.fail("lhs has %d elements along k, rhs %d", m.k, kb)
		return nil, false
	}
	if l.p.wave < 16 || l.p.wave%16 != 0 {
		l.fail("matrix ops need a subgroup of 16 lanes or more, not %d", l.p.wave)
		return nil, false
	}
	m.wa, m.wb, m.wc = wideKind(a.Type.Element()), wideKind(b.Type.Element()), wideKind(m.acc)
	return m, true
}

// place is where a code of a lane's component goes in a decoded operand.
type place struct {
	word  int32 // component·lanes + lane, lanes counted in the whole workgroup
	shift uint8
	at    int32
}

// places lists the codes of an operand for one subgroup; stride is the number of
// lanes of the workgroup.
func (m *mmaInfo) places(n int, c codes, y target.Fragment, lhs bool, width, stride int) []place {
	var out []place
	for l := range width {
		if y.Replicated && l >= y.Edge {
			break // the other lanes hold copies
		}
		for e := range n {
			for j := range c.per {
				row, col, _ := y.At(l, e*c.per+j)
				at := col*m.k + row
				if lhs {
					at = row*m.k + col
				}
				out = append(out, place{int32(e*stride + l), uint8(j * c.bits), int32(at)})
			}
		}
	}
	return out
}

// accPlace is one component of a lane's accumulator: its word, and where the row
// of A and the column of B start. Unused components have row -1.
type accPlace struct{ word, row, col int32 }

// mmaScratch is what a frame keeps for one matrix multiply.
type mmaScratch struct {
	pa, pb []place
	acc    []accPlace
	A, B   []float64 // A[row·k + i], B[col·k + i]
	width  int
}

func (f *frame) mmaScratch(m *mmaInfo, width int) *mmaScratch {
	s := f.mma[m]
	if s == nil || s.width != width {
		s = &mmaScratch{A: make([]float64, m.edge*m.k), B: make([]float64, m.edge*m.k), width: width}
		s.pa = m.places(m.na, m.a, m.ya, true, width, f.L)
		s.pb = m.places(m.nb, m.b, m.yb, false, width, f.L)
		for l := range width {
			for e := range m.nc {
				row, col, ok := m.yc.At(l, e)
				p := accPlace{int32(e*f.L + l), int32(row * m.k), int32(col * m.k)}
				if !ok {
					p.row = -1
				}
				s.acc = append(s.acc, p)
			}
		}
		if f.mma == nil {
			f.mma = map[*mmaInfo]*mmaScratch{}
		}
		f.mma[m] = s
	}
	return s
}

// read decodes the operands of the subgroup at base.
func (m *mmaInfo) read(f *frame, in *instr, base, width int) (A, B []float64) {
	s := f.mmaScratch(m, width)
	decode(f, s.A, in.a+base, s.pa, m.a, m.wa)
	decode(f, s.B, in.b+base, s.pb, m.b, m.wb)
	return s.A, s.B
}

func decode(f *frame, out []float64, reg int, ps []place, c codes, wide bool) {
	switch {
	case c.kind == loom.F16 && c.per == 1:
		for _, p := range ps {
			out[p.at] = float64(float.HalfToFloat32(f.u32[reg+int(p.word)]))
		}
	case c.kind == loom.BF16 && c.per == 1:
		for _, p := range ps {
			out[p.at] = float64(float.BFloatToFloat32(f.u32[reg+int(p.word)]))
		}
	default:
		mask := ^uint64(0)
		if c.bits < 64 {
			mask = 1<<c.bits - 1
		}
		for _, p := range ps {
			out[p.at] = c.value(f.word(wide, reg+int(p.word)) >> p.shift & mask)
		}
	}
}

func lowerMMA(l *lowerer, op *loom.Op) {
	m, ok := l.mmaInfo(op)
	if !ok {
		return
	}
	res := op.Result()
	d := l.newReg(m.wc, false, m.nc)
	l.vals[res] = val{r: d}
	l.emit(lowered{run: runMMA, d: d, a: l.lane(op.Operand("lhs")), b: l.lane(op.Operand("rhs")), c: l.lane(op.Operand("init")), n: m.nc, x: m})
}

func runMMA(f *frame, in *instr) {
	m := in.x.(*mmaInfo)
	f.eachSubgroup(func(base, width int) {
		A, B := m.read(f, in, base, width)
		for _, p := range f.mma[m].acc {
			at := base + int(p.word)
			init := f.word(m.wc, in.c+at)
			if p.row < 0 {
				f.setWord(m.wc, in.d+at, init)
				continue
			}
			s := dot(A[p.row:int(p.row)+m.k], B[p.col:int(p.col)+m.k])
			if m.isInt {
				f.setWord(m.wc, in.d+at, uint64(uint32(int32(init)+int32(int64(s)))))
				continue
			}
			s += floatValue(m.acc, init)
			f.setWord(m.wc, in.d+at, floatBits(m.acc, s))
		}
	})
}

// dot sums in two interleaved chains, so that the adder's latency is not what
// limits it.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s, t float64
	i := 0
	for ; i+1 < len(x); i += 2 {
		s += x[i] * y[i]
		t += x[i+1] * y[i+1]
	}
	if i < len(x) {
		s += x[i] * y[i]
	}
	return s + t
}

// sourceRole finds the role whose layout a fragment value has.
func sourceRole(v *loom.Value) string {
	if v.Def == nil {
		return "result"
	}
	switch v.Def.Name() {
	case "vector.fragment", "vector.fragment.load", "vector.fragment.repack":
		return v.Def.Word("role")
	}
	return "result"
}

// lowerRepack moves a tile from one role's lane layout to another's.
func lowerRepack(l *lowerer, op *loom.Op) {
	v, res := op.Operand("value"), op.Result()
	fk, tk := v.Type.Element(), res.Type.Element()
	from := sourceRole(v)
	// Element-wise work on a fragment keeps its layout.
	ns, nd := l.count(v.Type), l.count(res.Type)
	edge := l.edge(op)
	ys := l.fragment(from, fk, ns, edge)
	yd := l.fragment(op.Word("role"), tk, nd, edge)
	if fk != tk && !(fk.IsFloat() && tk.IsFloat()) {
		l.fail("a fragment of %s cannot become one of %s", fk, tk)
		return
	}
	sw, dw := wideKind(fk), wideKind(tk)
	d := l.newReg(dw, false, nd)
	l.vals[res] = val{r: d}
	l.emit(lowered{run: func(f *frame, in *instr) {
		var t [64 * 64]uint64
		f.eachSubgroup(func(base, width int) {
			for l := range width {
				for e := range ns {
					if r, c, ok := ys.At(l, e); ok && r < 64 && c < 64 {
						t[r*64+c] = f.word(sw, in.a+e*f.L+base+l)
					}
				}
			}
			for l := range width {
				for e := range nd {
					r, c, ok := yd.At(l, e)
					var v uint64
					if ok && r < 64 && c < 64 {
						v = t[r*64+c]
						if fk != tk {
							v = floatBits(tk, floatValue(fk, v))
						}
					}
					f.setWord(dw, in.d+e*f.L+base+l, v)
				}
			}
		})
	}, d: d, a: l.lane(v), n: nd})
}
