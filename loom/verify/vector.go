package verify

import (
	"github.com/loomc/loomc/loom"
)

// element checks vector.extract and vector.insert: leading indices, and the
// element or trailing sub-vector they address.
func (v *verifier) element(op *loom.Op) {
	whole, part, code, field := op.Operand("source"), op.Result(), "TYPE/004", "result"
	if whole == nil {
		whole, part, code, field = op.Operand("dest"), op.Operand("value"), "TYPE/003", "operand 'value'"
	}
	t := whole.Type
	static := op.Attr("indices").Ints()
	if len(static) > len(t.Dims) {
		v.report(v.opError(op, "STRUCTURE/013", "%s gives %d indices for %s, which has rank %d", op.Def.Name, len(static), t, len(t.Dims)))
		return
	}
	head := loom.Type{Kind: t.Kind, Elem: t.Elem, Dims: t.Dims[:len(static)]}
	if !v.indices(op, "indices", whole.Name, &head, one) {
		return
	}
	tail := t.Dims[len(static):]
	switch {
	case len(tail) == 0:
		if part.Type.IsShaped() {
			v.report(v.opError(op, code, "%s of %s has type %s; all axes are indexed, so it is a scalar", field, op.Def.Name, part.Type))
		}
	case part.Type.Kind != loom.Vector:
		v.report(v.opError(op, code, "%s of %s has type %s; %d of %d axes are indexed, so it is a vector of the rest", field, op.Def.Name, part.Type, len(static), len(t.Dims)))
	case len(part.Type.Dims) != len(tail):
		v.report(v.opError(op, "SHAPE/001", "%s of %s has rank %d; %d of %d axes are indexed, which leaves %d", field, op.Def.Name, len(part.Type.Dims), len(static), len(t.Dims), len(tail)))
	default:
		for i := range tail {
			if tail[i] != part.Type.Dims[i] {
				v.report(v.opError(op, "SHAPE/002", "%s of %s has type %s, whose shape is not that of the axes left of %s", field, op.Def.Name, part.Type, t))
				return
			}
		}
	}
}

func (v *verifier) slice(op *loom.Op) {
	src, res := op.Operand("source").Type, op.Result().Type
	if !v.sameRank(op, "result", res, "source", src) {
		return
	}
	v.indices(op, "offsets", "source", src, func(axis int) int64 {
		if d := res.Dims[axis]; d.Val == nil {
			return d.Size
		}
		return 0
	})
}

func (v *verifier) sameRank(op *loom.Op, a string, x *loom.Type, b string, y *loom.Type) bool {
	if len(x.Dims) == len(y.Dims) {
		return true
	}
	v.report(v.opError(op, "SHAPE/001", "'%s' of %s has rank %d and '%s' has rank %d; the ranks must be equal", a, op.Def.Name, len(x.Dims), b, len(y.Dims)))
	return false
}

// axis returns the axis attribute if it names an axis of t.
func (v *verifier) axis(op *loom.Op, t *loom.Type) (int, bool) {
	a := op.Attr("axis").Int
	if a >= 0 && a < int64(len(t.Dims)) {
		return int(a), true
	}
	v.report(v.opError(op, "SUBRANGE/002", "%s works along axis %d, but %s has rank %d", op.Def.Name, a, t, len(t.Dims)).
		WithHelp("axes count from 0"))
	return 0, false
}

// othersEqual checks that two types agree on every axis but one.
func (v *verifier) othersEqual(op *loom.Op, axis int, a string, x *loom.Type, b string, y *loom.Type) bool {
	for i := range x.Dims {
		if i != axis && x.Dims[i] != y.Dims[i] {
			v.report(v.opError(op, "SHAPE/002", "axis %d has extent %s in '%s' and %s in '%s' of %s; only axis %d may differ",
				i, dimText(x.Dims[i]), a, dimText(y.Dims[i]), b, op.Def.Name, axis))
			return false
		}
	}
	return true
}

func (v *verifier) concat(op *loom.Op) {
	res := op.Result().Type
	axis, ok := v.axis(op, res)
	if !ok {
		return
	}
	ins := op.Field("inputs")
	if len(ins) == 0 {
		v.report(v.opError(op, "STRUCTURE/013", "vector.concat joins no vectors").WithHelp("give at least one"))
		return
	}
	sum, known := int64(0), res.Dims[axis].Val == nil
	for _, x := range ins {
		if !v.sameRank(op, x.Name, x.Type, "result", res) || !v.othersEqual(op, axis, x.Name, x.Type, "result", res) {
			return
		}
		known = known && x.Type.Dims[axis].Val == nil
		sum += x.Type.Dims[axis].Size
	}
	if known && sum != res.Dims[axis].Size {
		v.report(v.opError(op, "TYPE/004", "the result of vector.concat has extent %d on axis %d; the inputs add up to %d", res.Dims[axis].Size, axis, sum))
	}
}

func (v *verifier) broadcast(op *loom.Op) {
	src, res := op.Operand("source").Type, op.Result().Type
	lead := len(res.Dims) - len(src.Dims)
	if lead < 0 {
		v.report(v.opError(op, "SHAPE/001", "vector.broadcast cannot drop axes: the source has rank %d, the result %d", len(src.Dims), len(res.Dims)))
		return
	}
	for i, d := range src.Dims {
		r := res.Dims[lead+i]
		if d.Val != nil || r.Val != nil || d.Size == 1 || d.Size == r.Size {
			continue
		}
		v.report(v.opError(op, "SHAPE/004", "axis %d of the source has extent %d and cannot become extent %d on axis %d of the result", i, d.Size, r.Size, lead+i).
			WithHelp("only extents of 1 stretch"))
		return
	}
}

func (v *verifier) transpose(op *loom.Op) {
	src, res := op.Operand("source").Type, op.Result().Type
	if !v.sameRank(op, "result", res, "source", src) {
		return
	}
	perm := op.Attr("permutation").Ints()
	if len(perm) != len(src.Dims) {
		v.report(v.opError(op, "STRUCTURE/013", "the permutation of vector.transpose names %d axes, the source has %d", len(perm), len(src.Dims)))
		return
	}
	seen := make([]bool, len(perm))
	for i, p := range perm {
		if p < 0 || p >= int64(len(perm)) {
			v.report(v.opError(op, "SUBRANGE/002", "the permutation of vector.transpose names axis %d, the source has rank %d", p, len(perm)))
			return
		}
		if seen[p] {
			v.report(v.opError(op, "STRUCTURE/014", "the permutation of vector.transpose names axis %d twice", p).WithHelp("name each axis once"))
			return
		}
		seen[p] = true
		if src.Dims[p] != res.Dims[i] {
			v.report(v.opError(op, "SHAPE/002", "axis %d of the result has extent %s, but it is axis %d of the source, with extent %s", i, dimText(res.Dims[i]), p, dimText(src.Dims[p])))
			return
		}
	}
}

func (v *verifier) shuffle(op *loom.Op) {
	lanes := op.Attr("source_lanes").Ints()
	n := op.Operand("source").Type.Dims[0].Size
	if int64(len(lanes)) != n {
		v.report(v.opError(op, "STRUCTURE/013", "vector.shuffle names %d source lanes, the vector has %d", len(lanes), n))
		return
	}
	for i, l := range lanes {
		if l < 0 || l >= n {
			v.report(v.opError(op, "SUBRANGE/004", "result lane %d of vector.shuffle takes source lane %d, the vector has %d lanes", i, l, n).
				WithHelp("lanes go from 0 to %d", n-1))
			return
		}
	}
}

// interleave checks the op that weaves two vectors and the one that unpicks them.
func (v *verifier) interleave(op *loom.Op) {
	part, whole, names := op.Operand("even"), op.Result(), [2]string{"even", "result"}
	code, partCode := "TYPE/004", ""
	if part == nil {
		if len(op.Results) != 2 {
			v.report(v.opError(op, "STRUCTURE/002", "vector.deinterleave has %s, expected the even and the odd lanes", plural(len(op.Results), "result")))
			return
		}
		part, whole, names = op.Results[0], op.Operand("source"), [2]string{"results[0]", "source"}
		code, partCode = "TYPE/003", "TYPE/004"
	}
	p, w := part.Type, whole.Type
	if partCode != "" {
		p, w = w, p // the axis is one of the operand
	}
	axis, ok := v.axis(op, p)
	if !ok {
		return
	}
	p, w = part.Type, whole.Type
	if !v.sameRank(op, names[1], w, names[0], p) || !v.othersEqual(op, axis, names[0], p, names[1], w) {
		return
	}
	x, y := p.Dims[axis], w.Dims[axis]
	if y.Val == nil && y.Size%2 != 0 {
		v.report(v.opError(op, code, "'%s' of %s has extent %d on axis %d, which is odd", names[1], op.Def.Name, y.Size, axis))
		return
	}
	if x.Val == nil && y.Val == nil && 2*x.Size != y.Size {
		if partCode != "" {
			code = partCode
		}
		v.report(v.opError(op, code, "'%s' of %s has extent %d on axis %d and '%s' has %d, expected half of it", names[1], op.Def.Name, y.Size, axis, names[0], x.Size))
	}
}

func zeroLanes(t *loom.Type) bool {
	for _, d := range t.Dims {
		if d.Val == nil && d.Size == 0 {
			return true
		}
	}
	return false
}

func (v *verifier) empty(op *loom.Op) {
	t := op.Result().Type
	switch {
	case op.Def.Name == "vector.empty" && !zeroLanes(t):
		v.report(v.opError(op, "TYPE/004", "vector.empty makes vectors without lanes; %s has some", t).WithHelp("use vector.constant or vector.splat"))
	case op.Def.Name == "vector.poison" && zeroLanes(t):
		v.report(v.opError(op, "TYPE/004", "%s has no lanes to be undefined", t).WithHelp("use vector.empty"))
	}
}

func (v *verifier) fromElements(op *loom.Op) {
	n, ok := op.Result().Type.NumElements()
	if got := len(op.Operands); ok && int64(got) != n {
		v.report(v.opError(op, "STRUCTURE/013", "vector.from_elements gives %s for %s, which has %d", plural(got, "element"), op.Result().Type, n).
			WithHelp("give one scalar per lane"))
	}
}

func (v *verifier) constantOp(op *loom.Op) {
	v.literal(op, "value", op.Result().Type.Element())
}

// reduceKind checks the kind and float flags of vector.reduce.
func (v *verifier) reduceKind(op *loom.Op) bool {
	t := op.Operand("input").Type
	if f := op.Attr("fmf"); f.Kind == loom.AttrFlags && len(f.Flags()) > 0 && !t.Elem.IsFloat() {
		v.report(v.opError(op, "TYPE/003", "operand 'input' of %s has type %s; the flags %s are about floats", op.Def.Name, t, f).WithHelp("remove the flags"))
		return false
	}
	n := len(v.list)
	v.kindFits(op, op.Word("kind"), "input", t)
	return len(v.list) == n
}

func (v *verifier) reduce(op *loom.Op) { v.reduceKind(op) }

func (v *verifier) reduceAxes(op *loom.Op) {
	if !v.reduceKind(op) {
		return
	}
	in, res := op.Operand("input").Type, op.Result().Type
	axes := op.Attr("axes").Ints()
	bad := func(format string, args ...any) {
		v.report(v.opError(op, "STRUCTURE/014", format, args...).WithHelp("list the axes to fold, ascending, each once"))
	}
	if len(axes) == 0 {
		bad("vector.reduce.axes folds no axis")
		return
	}
	folded := make([]bool, len(in.Dims))
	for i, a := range axes {
		if i > 0 && a <= axes[i-1] {
			bad("axis %d of vector.reduce.axes follows axis %d", a, axes[i-1])
			return
		}
		if a < 0 || a >= int64(len(in.Dims)) {
			bad("vector.reduce.axes folds axis %d of %s, which has rank %d", a, in, len(in.Dims))
			return
		}
		folded[a] = true
	}
	var rest []loom.Dim
	for i, d := range in.Dims {
		if !folded[i] {
			rest = append(rest, d)
		}
	}
	switch {
	case len(rest) == 0:
		if res.IsShaped() {
			v.report(v.opError(op, "TYPE/004", "all axes are folded, so the result is a scalar, not %s", res))
		}
	case res.Kind != loom.Vector:
		v.report(v.opError(op, "TYPE/004", "%d axes remain, so the result is a vector, not %s", len(rest), res))
	case len(res.Dims) != len(rest):
		v.report(v.opError(op, "SHAPE/001", "%d axes remain, but the result %s has rank %d", len(rest), res, len(res.Dims)))
	default:
		for i, d := range rest {
			if res.Dims[i] != d {
				v.report(v.opError(op, "SHAPE/002", "axis %d of the result has extent %s, the axis that remains has %s", i, dimText(res.Dims[i]), dimText(d)))
				return
			}
		}
	}
}

func (v *verifier) tableLookup(op *loom.Op) {
	t := op.Operand("table").Type
	if t.Dims[0].Val != nil {
		return
	}
	idx := op.Operand("indices")
	if idx.Def == nil || idx.Def.Def.Name != "vector.constant" {
		return
	}
	if a := idx.Def.Attr("value"); a.Kind == loom.AttrInt && (a.Int < 0 || a.Int >= t.Dims[0].Size) {
		v.outside(op, "table", 0, a.Int, 1, t.Dims[0].Size)
	}
}

func (v *verifier) tableQuantize(op *loom.Op) {
	th, res := op.Operand("thresholds"), op.Result().Type
	if d := th.Type.Dims[0]; d.Val == nil {
		if w := res.Elem.Bits(); w < 63 && d.Size >= 1<<w {
			v.report(v.opError(op, "TYPE/011", "%d thresholds make the codes 0 to %d, which %s cannot hold", d.Size, d.Size, res.Elem).
				WithHelp("use wider result lanes"))
			return
		}
	}
	if th.Def == nil || th.Def.Def.Name != "vector.from_elements" {
		return
	}
	var prev float64
	for i, e := range th.Def.Operands {
		if e.Def == nil || e.Def.Def.Name != "scalar.constant" {
			return
		}
		x := e.Def.Attr("value").Float()
		if i > 0 && x < prev {
			v.report(v.opError(op, "STRUCTURE/015", "threshold %d is %g, below threshold %d, which is %g", i, x, i-1, prev).
				WithRelated(e.Def.NameSpan(), "the smaller one").WithHelp("sort the thresholds"))
			return
		}
		prev = x
	}
}

// bitfield checks field extraction and insertion.
func (v *verifier) bitfield(op *loom.Op) {
	word := op.Operand("source")
	if word == nil {
		word = op.Operand("base")
	}
	off, width := op.Attr("offset").Int, op.Attr("width").Int
	bits := int64(word.Type.Element().Bits())
	switch {
	case off < 0:
		v.report(v.opError(op, "STRUCTURE/014", "offset of %s is %d; bits count from 0", op.Def.Name, off))
	case width <= 0:
		v.report(v.opError(op, "STRUCTURE/014", "width of %s is %d; a field has at least one bit", op.Def.Name, width))
	case off > bits || width > bits-off:
		v.report(v.opError(op, "STRUCTURE/014", "width of %s is %d: bits %d to %d leave the %d bits of %s", op.Def.Name, width, off, off+width-1, bits, word.Type.Element()))
	default:
		if f := op.Operand("field"); f != nil {
			v.atLeast(op, "TYPE/003", "operand 'field'", f.Type, width)
		} else {
			v.atLeast(op, "TYPE/004", "result", op.Result().Type, width)
		}
	}
}

func (v *verifier) atLeast(op *loom.Op, code, field string, t *loom.Type, width int64) bool {
	if w := int64(t.Element().Bits()); w != 0 && w < width {
		v.report(v.opError(op, code, "%s of %s has elements of %d bits, too few for fields of %d", field, op.Def.Name, w, width))
		return false
	}
	return true
}

// bitstream checks bitpack and bitunpack: as many bits on both sides.
func (v *verifier) bitstream(op *loom.Op) {
	width := op.Attr("width").Int
	if width <= 0 {
		v.report(v.opError(op, "STRUCTURE/014", "the width of %s is %d; a field has at least one bit", op.Def.Name, width))
		return
	}
	fields, words, what := op.Operand("source").Type, op.Result().Type, "packed"
	code, name := "TYPE/003", "operand 'source'"
	if op.Def.Name != "vector.bitpack" {
		fields, words, what = words, fields, "unpacked"
		code, name = "TYPE/004", "result"
	}
	if !v.atLeast(op, code, name, fields, width) {
		return
	}
	n, ok := fields.NumElements()
	m, ok2 := words.NumElements()
	if got, want := n*width, m*int64(words.Elem.Bits()); ok && ok2 && got != want {
		v.report(v.opError(op, "TYPE/004", "%d fields of %d bits are %d bits %s, but %s holds %d", n, width, got, what, words, want))
	}
}

func (v *verifier) gelu(op *loom.Op) {
	logistic, scale := op.Word("variant") == "logistic", op.Attr("scale")
	switch {
	case logistic && scale.Kind == loom.AttrNone:
		v.report(v.opError(op, "TYPE/005", "%s<logistic> needs the attribute 'scale'", op.Def.Name).WithHelp("add {scale = 1.702}"))
	case !logistic && scale.Kind != loom.AttrNone:
		v.report(v.opError(op, "TYPE/005", "%s<%s> takes no 'scale'; only the logistic form does", op.Def.Name, op.Word("variant")).WithHelp("remove it"))
	}
}

// fragmentAccess checks the cooperative loads and stores.
func (v *verifier) fragmentAccess(op *loom.Op) {
	view := op.Operand("view").Type
	if !v.ranked(op, view) || !v.indices(op, "indices", "view", view, one) {
		return
	}
	if val := op.Operand("value"); val != nil {
		// A store converts to a narrower element; it cannot invent precision.
		a, b := val.Type.Elem, view.Elem
		narrows := a.IsFloat() && b.IsFloat() && b.Bits() < a.Bits()
		if a != b && !narrows {
			v.report(v.opError(op, "TYPE/002", "vector.fragment.store writes elements of type %s into a view of %s; it keeps the element or narrows a float", a, b).
				WithHelp("convert the fragment first"))
			return
		}
	}
	v.cache(op)
}

func (v *verifier) indexCast(op *loom.Op) {
	a, b := op.Operand("input").Type, op.Result().Type
	if !a.Kind.IsIndexLike() && !b.Kind.IsIndexLike() {
		v.report(v.opError(op, "TYPE/004", "index.cast from %s to %s has no index or offset on either side", a, b).
			WithHelp("use %s", intCast(a.Kind, b.Kind)))
	}
}

// intCast names the scalar op between two integer widths.
func intCast(a, b loom.Kind) string {
	if b.Bits() > a.Bits() {
		return "scalar.extsi or scalar.extui"
	}
	return "scalar.trunci"
}

func (v *verifier) strided(op *loom.Op) {
	for i, s := range op.Attr("strides").Ints() {
		if s < 0 && s != loom.DynamicIndex {
			v.report(v.opError(op, "STRUCTURE/014", "stride %d of the layout is %d; strides are not negative", i, s))
			return
		}
	}
}

func (v *verifier) stridedRank(op *loom.Op) {
	if r := op.Attr("rank").Int; r < 0 || r > 255 {
		v.report(v.opError(op, "STRUCTURE/014", "rank of encoding.layout.assume.strided is %d; it is 0 to 255", r))
	}
}
