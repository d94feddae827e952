package exec

import (
	"strings"

	"github.com/loomc/loomc/loom"
)

// shape returns the constant extents of a vector type.
func (l *lowerer) shape(t *loom.Type) []int {
	out := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		out[i] = int(l.extent(d))
	}
	return out
}

func product(s []int) int {
	n := 1
	for _, v := range s {
		n *= v
	}
	return n
}

// source is one component of a value.
type source struct {
	v *loom.Value
	c int
}

// permute builds res from components of other values. Consecutive components of
// one value need no instruction.
func (l *lowerer) permute(res *loom.Value, src []source) {
	if len(src) == 0 {
		lowerPoison(l, &loom.Op{Def: l.op.Def, Results: []*loom.Value{res}})
		return
	}
	uni, run := true, true
	for i, s := range src {
		x := l.val(s.v)
		uni = uni && x.uni
		run = run && s.v == src[0].v && s.c == src[0].c+i
	}
	if run {
		x := l.val(src[0].v)
		l.vals[res] = val{r: ref{x.r.v, x.r.c + int32(src[0].c)}, uni: x.uni}
		return
	}
	wide := wideKind(res.Type.Element())
	d := l.newReg(wide, uni, len(src))
	l.vals[res] = val{r: d, uni: uni}
	xs := make([]ref, len(src))
	for i, s := range src {
		r := l.val(s.v).r
		if !uni {
			r = l.lane(s.v)
		}
		xs[i] = ref{r.v, r.c + int32(s.c)}
	}
	var fn func(*frame, *instr)
	if uni {
		fn = pick(wide, gatherUniform64, gatherUniform32)
	} else {
		fn = pick(wide, gather64, gather32)
	}
	l.emit(lowered{run: fn, d: d, xs: xs, n: len(src)})
}

func lowerSplat(l *lowerer, op *loom.Op) {
	n := l.count(op.Result().Type)
	s := op.Operand("scalar")
	if bits, ok := l.isConst(l.val(s).r); ok {
		l.vals[op.Result()] = val{r: l.constant(bits, wideKind(s.Type.Element()), n), uni: true}
		return
	}
	src := make([]source, n)
	for i := range src {
		src[i] = source{s, 0}
	}
	l.permute(op.Result(), src)
}

func lowerFromElements(l *lowerer, op *loom.Op) {
	var src []source
	for _, e := range op.Operands {
		for c := range l.count(e.Type) {
			src = append(src, source{e, c})
		}
	}
	l.permute(op.Result(), src)
}

func lowerIota(l *lowerer, op *loom.Op) {
	base, step, res := op.Operand("base"), op.Operand("step"), op.Result()
	k := res.Type.Element()
	wide := wideKind(k)
	n := l.count(res.Type)
	b, s := l.val(base), l.val(step)
	uni := b.uni && s.uni
	d := l.newReg(wide, uni, n)
	l.vals[res] = val{r: d, uni: uni}
	m := widthMask(k)
	rb, rs := b.r, s.r
	if !uni {
		rb, rs = l.lane(base), l.lane(step)
	}
	for e := range n {
		u := uint64(e)
		fn := func(f *frame, d, a, b, _, n int) {
			for i := range n {
				f.u32[d+i] = uint32(uint64(f.u32[a+i])+u*uint64(f.u32[b+i])) & uint32(m)
			}
		}
		if wide {
			fn = func(f *frame, d, a, b, _, n int) {
				for i := range n {
					f.u64[d+i] = f.u64[a+i] + u*f.u64[b+i]
				}
			}
		}
		l.flatRaw(fn, uni, 1, ref{d.v, int32(e)}, rb, rs, none)
	}
}

// position returns the flat component of an index list when all of it is
// constant, and the extent of the trailing part it selects.
func (l *lowerer) position(shape []int, idx []loom.IndexItem) (at, size int, dynamic bool) {
	size = product(shape[min(len(idx), len(shape)):])
	stride := product(shape)
	for i, it := range idx {
		if i >= len(shape) {
			break
		}
		stride /= max(shape[i], 1)
		v := it.Int
		if it.Val != nil {
			bits, ok := l.isConst(l.val(it.Val).r)
			if !ok {
				return 0, size, true
			}
			v = int64(bits)
		}
		at += int(v) * stride
	}
	return at, size, false
}

func lowerExtract(l *lowerer, op *loom.Op) {
	v, res := op.Operand("source"), op.Result()
	shape := l.shape(v.Type)
	idx := op.Indices("indices")
	at, size, dyn := l.position(shape, idx)
	if !dyn {
		if at < 0 || at+size > product(shape) {
			l.fail("position %d is outside a vector of %d elements", at, product(shape))
			return
		}
		src := make([]source, size)
		for i := range src {
			src[i] = source{v, at + i}
		}
		l.permute(res, src)
		return
	}
	pos, uniPos := l.flatPosition(shape, idx)
	x := l.val(v)
	uni := x.uni && uniPos
	wide := wideKind(v.Type.Element())
	d := l.newReg(wide, uni, size)
	l.vals[res] = val{r: d, uni: uni}
	limit := product(shape)
	if uni {
		l.emit(lowered{run: func(f *frame, in *instr) {
			p := int(min(max(f.i64[in.b], 0), int64(limit-size)))
			if wide {
				copy(f.u64[in.d:in.d+size], f.u64[in.a+p:])
			} else {
				copy(f.u32[in.d:in.d+size], f.u32[in.a+p:])
			}
		}, d: d, a: x.r, b: pos})
		return
	}
	l.emit(lowered{run: func(f *frame, in *instr) {
		for l := f.lo; l < f.hi; l++ {
			p := int(min(max(f.i64[in.b+l], 0), int64(limit-size)))
			for e := range size {
				if wide {
					f.u64[in.d+e*f.L+l] = f.u64[in.a+(p+e)*f.L+l]
				} else {
					f.u32[in.d+e*f.L+l] = f.u32[in.a+(p+e)*f.L+l]
				}
			}
		}
	}, d: d, a: l.lane(v), b: l.splat(pos, 1)})
}

// flatPosition computes the flat component a dynamic index list selects.
func (l *lowerer) flatPosition(shape []int, idx []loom.IndexItem) (ref, bool) {
	var terms []term
	stride := product(shape)
	imm := int64(0)
	for i, it := range idx {
		stride /= max(shape[i], 1)
		if it.Val == nil {
			imm += it.Int * int64(stride)
			continue
		}
		r, uni := l.asIndex(it.Val)
		terms = append(terms, term{r: r, uni: uni, coef: int64(stride)})
	}
	return l.linear(none, true, imm, terms)
}

// asIndex returns v as a 64-bit register: an integer index is sign-extended.
func (l *lowerer) asIndex(v *loom.Value) (ref, bool) {
	x := l.val(v)
	k := v.Type.Element()
	if wideKind(k) {
		return x.r, x.uni
	}
	d := l.newReg(true, x.uni, 1)
	l.flatRaw(convertInt(k, loom.Index, k != loom.I1), x.uni, 1, d, x.r, none, none)
	return d, x.uni
}

func lowerInsert(l *lowerer, op *loom.Op) {
	v, dest, res := op.Operand("value"), op.Operand("dest"), op.Result()
	shape := l.shape(dest.Type)
	idx := op.Indices("indices")
	at, size, dyn := l.position(shape, idx)
	n := product(shape)
	if !dyn {
		if at < 0 || at+size > n {
			l.fail("position %d is outside a vector of %d elements", at, n)
			return
		}
		src := make([]source, n)
		for i := range src {
			if i >= at && i < at+size {
				src[i] = source{v, i - at}
			} else {
				src[i] = source{dest, i}
			}
		}
		l.permute(res, src)
		return
	}
	pos, _ := l.flatPosition(shape, idx)
	wide := wideKind(dest.Type.Element())
	d := l.newReg(wide, false, n)
	l.vals[res] = val{r: d}
	l.emit(lowered{run: func(f *frame, in *instr) {
		for e := range n {
			o, p := in.d+e*f.L, in.a+e*f.L
			if wide {
				copy(f.u64[o+f.lo:o+f.hi], f.u64[p+f.lo:p+f.hi])
			} else {
				copy(f.u32[o+f.lo:o+f.hi], f.u32[p+f.lo:p+f.hi])
			}
		}
		for l := f.lo; l < f.hi; l++ {
			p := f.i64[in.b+l]
			if p < 0 || p > int64(n-size) {
				continue
			}
			for e := range size {
				if wide {
					f.u64[in.d+(int(p)+e)*f.L+l] = f.u64[in.c+e*f.L+l]
				} else {
					f.u32[in.d+(int(p)+e)*f.L+l] = f.u32[in.c+e*f.L+l]
				}
			}
		}
	}, d: d, a: l.lane(dest), b: l.splat(pos, 1), c: l.lane(v)})
}

// eachIndex calls f with every multi-index of shape in row-major order.
func eachIndex(shape []int, f func(idx []int)) {
	n := product(shape)
	idx := make([]int, len(shape))
	for range n {
		f(idx)
		for k := len(idx) - 1; k >= 0; k-- {
			if idx[k]++; idx[k] < shape[k] {
				break
			}
			idx[k] = 0
		}
	}
}

func flatten(shape, idx []int) int {
	at := 0
	for k := range shape {
		at = at*shape[k] + idx[k]
	}
	return at
}

func lowerSlice(l *lowerer, op *loom.Op) {
	v, res := op.Operand("source"), op.Result()
	in, out := l.shape(v.Type), l.shape(res.Type)
	off := op.Indices("offsets")
	base := make([]int, len(in))
	for i, it := range off {
		if i >= len(base) {
			break
		}
		base[i] = int(it.Int)
		if it.Val != nil {
			bits, ok := l.isConst(l.val(it.Val).r)
			if !ok {
				if len(in) == 1 {
					l.dynamicSlice(v, res, it, in[0], out[0])
					return
				}
				l.fail("a slice of a vector of rank %d needs constant offsets", len(in))
				return
			}
			base[i] = int(int64(bits))
		}
	}
	var src []source
	at := make([]int, len(in))
	eachIndex(out, func(idx []int) {
		for k := range at {
			at[k] = base[k] + idx[k]
			if at[k] >= in[k] || at[k] < 0 {
				l.fail("the slice leaves its source along axis %d", k)
				at[k] = 0
			}
		}
		src = append(src, source{v, flatten(in, at)})
	})
	l.permute(res, src)
}

func (l *lowerer) dynamicSlice(v, res *loom.Value, it loom.IndexItem, n, size int) {
	wide := wideKind(v.Type.Element())
	d := l.newReg(wide, false, size)
	l.vals[res] = val{r: d}
	pos, _ := l.asIndex(it.Val)
	l.emit(lowered{run: func(f *frame, in *instr) {
		for l := f.lo; l < f.hi; l++ {
			p := int(min(max(f.i64[in.b+l], 0), int64(n-size)))
			for e := range size {
				if wide {
					f.u64[in.d+e*f.L+l] = f.u64[in.a+(p+e)*f.L+l]
				} else {
					f.u32[in.d+e*f.L+l] = f.u32[in.a+(p+e)*f.L+l]
				}
			}
		}
	}, d: d, a: l.lane(v), b: l.splat(pos, 1)})
}

func lowerConcat(l *lowerer, op *loom.Op) {
	axis := int(op.Attr("axis").Int)
	out := l.shape(op.Result().Type)
	if axis < 0 || axis >= len(out) {
		l.fail("axis %d does not exist", axis)
		return
	}
	var src []source
	eachIndex(out, func(idx []int) {
		at := idx[axis]
		for _, v := range op.Operands {
			s := l.shape(v.Type)
			if at < s[axis] {
				save := idx[axis]
				idx[axis] = at
				src = append(src, source{v, flatten(s, idx)})
				idx[axis] = save
				return
			}
			at -= s[axis]
		}
	})
	if len(src) != product(out) {
		l.fail("the inputs do not fill the result")
		return
	}
	l.permute(op.Result(), src)
}

func lowerBroadcast(l *lowerer, op *loom.Op) {
	v, res := op.Operand("source"), op.Result()
	out := l.shape(res.Type)
	var in []int
	if v.Type.Kind == loom.Vector {
		in = l.shape(v.Type)
	}
	lead := len(out) - len(in)
	var src []source
	at := make([]int, len(in))
	eachIndex(out, func(idx []int) {
		for k := range at {
			at[k] = idx[lead+k]
			if in[k] == 1 {
				at[k] = 0
			}
		}
		src = append(src, source{v, flatten(in, at)})
	})
	l.permute(res, src)
}

func lowerTranspose(l *lowerer, op *loom.Op) {
	v, res := op.Operand("source"), op.Result()
	perm := op.Attr("permutation").Ints()
	in, out := l.shape(v.Type), l.shape(res.Type)
	if len(perm) != len(in) || len(in) != len(out) {
		l.fail("the permutation does not fit the rank")
		return
	}
	var src []source
	at := make([]int, len(in))
	eachIndex(out, func(idx []int) {
		for k, p := range perm {
			at[p] = idx[k]
		}
		src = append(src, source{v, flatten(in, at)})
	})
	l.permute(res, src)
}

func lowerShuffle(l *lowerer, op *loom.Op) {
	v := op.Operand("source")
	n := l.count(v.Type)
	var src []source
	for _, s := range op.Attr("source_lanes").Ints() {
		if s < 0 || int(s) >= n {
			l.fail("source lane %d is outside a vector of %d lanes", s, n)
			return
		}
		src = append(src, source{v, int(s)})
	}
	l.permute(op.Result(), src)
}

func lowerInterleave(l *lowerer, op *loom.Op) {
	even, odd := op.Operand("even"), op.Operand("odd")
	axis := int(op.Attr("axis").Int)
	in, out := l.shape(even.Type), l.shape(op.Result().Type)
	var src []source
	at := make([]int, len(in))
	eachIndex(out, func(idx []int) {
		copy(at, idx)
		at[axis] = idx[axis] / 2
		v := even
		if idx[axis]%2 == 1 {
			v = odd
		}
		src = append(src, source{v, flatten(in, at)})
	})
	l.permute(op.Result(), src)
}

func lowerDeinterleave(l *lowerer, op *loom.Op) {
	v := op.Operand("source")
	axis := int(op.Attr("axis").Int)
	in := l.shape(v.Type)
	at := make([]int, len(in))
	for p, res := range op.Results {
		var src []source
		eachIndex(l.shape(res.Type), func(idx []int) {
			copy(at, idx)
			at[axis] = idx[axis]*len(op.Results) + p
			src = append(src, source{v, flatten(in, at)})
		})
		l.permute(res, src)
	}
}

// combine returns the binary instruction of a reduction kind.
func combine(kind string, k loom.Kind) flatFn {
	if strings.HasSuffix(kind, "f") {
		return binaryFloatFast(kind, k)
	}
	return binaryInt(kind, k)
}

func lowerReduce(l *lowerer, op *loom.Op) {
	v, init, res := op.Operand("input"), op.Operand("init"), op.Result()
	l.fold(res, v, init, combine(op.Word("kind"), res.Type.Element()), [][]int{sequence(l.count(v.Type))})
}

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// fold combines, for each result component, the listed components of v into the
// init's component, in order.
func (l *lowerer) fold(res, v, init *loom.Value, fn flatFn, groups [][]int) {
	if fn == nil {
		l.fail("the reduction kind does not fit %s", res.Type)
		return
	}
	x, y := l.val(v), l.val(init)
	uni := x.uni && y.uni
	rv, ri := x.r, y.r
	if !uni {
		rv, ri = l.lane(v), l.lane(init)
	}
	wide := wideKind(res.Type.Element())
	d := l.newReg(wide, uni, len(groups))
	l.vals[res] = val{r: d, uni: uni}
	for g, comps := range groups {
		dst := ref{d.v, int32(g)}
		acc := ref{ri.v, ri.c + int32(g)}
		if len(comps) == 0 {
			l.flatRaw(copyFlat(wide), uni, 1, dst, acc, none, none)
			continue
		}
		for _, c := range comps {
			l.flatRaw(fn, uni, 1, dst, acc, ref{rv.v, rv.c + int32(c)}, none)
			acc = dst
		}
	}
}

func copyFlat(wide bool) flatFn {
	if wide {
		return func(f *frame, d, a, _, _, n int) { copy(f.u64[d:d+n], f.u64[a:a+n]) }
	}
	return func(f *frame, d, a, _, _, n int) { copy(f.u32[d:d+n], f.u32[a:a+n]) }
}

func lowerReduceAxes(l *lowerer, op *loom.Op) {
	v, init, res := op.Operand("input"), op.Operand("init"), op.Result()
	axes := map[int]bool{}
	for _, a := range op.Attr("axes").Ints() {
		axes[int(a)] = true
	}
	in := l.shape(v.Type)
	var kept []int
	for k, s := range in {
		if !axes[k] {
			kept = append(kept, s)
		}
	}
	groups := make([][]int, product(kept))
	eachIndex(in, func(idx []int) {
		g := 0
		for k, s := range in {
			if !axes[k] {
				g = g*s + idx[k]
			}
		}
		groups[g] = append(groups[g], flatten(in, idx))
	})
	l.fold(res, v, init, combine(op.Word("kind"), res.Type.Element()), groups)
}

// chain emits, per result component, a sequence of three-operand steps
// acc = fn(a[i], b[i], acc).
func (l *lowerer) chain(res, a, b, acc *loom.Value, fn flatFn, pairs func(e int) []int) {
	xa, xb, xc := l.val(a), l.val(b), l.val(acc)
	uni := xa.uni && xb.uni && xc.uni
	ra, rb, rc := xa.r, xb.r, xc.r
	if !uni {
		ra, rb, rc = l.lane(a), l.lane(b), l.lane(acc)
	}
	n := l.count(res.Type)
	wide := wideKind(res.Type.Element())
	d := l.newReg(wide, uni, n)
	l.vals[res] = val{r: d, uni: uni}
	for e := range n {
		dst, cur := ref{d.v, int32(e)}, ref{rc.v, rc.c + int32(e)}
		ps := pairs(e)
		if len(ps) == 0 {
			l.flatRaw(copyFlat(wide), uni, 1, dst, cur, none, none)
		}
		for _, p := range ps {
			l.flatRaw(fn, uni, 1, dst, ref{ra.v, ra.c + int32(p)}, ref{rb.v, rb.c + int32(p)}, cur)
			cur = dst
		}
	}
}

func group(size int) func(e int) []int {
	return func(e int) []int {
		out := make([]int, size)
		for i := range out {
			out[i] = e*size + i
		}
		return out
	}
}

func lowerDotf(l *lowerer, op *loom.Op) {
	a := op.Operand("lhs")
	n := l.count(a.Type)
	k := op.Result().Type.Element()
	fn := fmaFloat(k)
	if ka := a.Type.Element(); ka != k {
		fn = mixedFMA(ka, k)
	}
	l.chain(op.Result(), a, op.Operand("rhs"), op.Operand("init"), fn, func(int) []int { return sequence(n) })
}

// mixedFMA multiplies narrow floats and adds to a wider accumulator, one
// rounding.
func mixedFMA(in, out loom.Kind) flatFn {
	get, acc, put := loader(in), loader(out), storer(out)
	return func(f *frame, d, a, b, c, n int) {
		for i := range n {
			x, y, z := get(f, a+i), get(f, b+i), acc(f, c+i)
			put(f, d+i, oddFMA(x, y, z))
		}
	}
}

func lowerDot2f(l *lowerer, op *loom.Op) {
	a := op.Operand("lhs")
	l.chain(op.Result(), a, op.Operand("rhs"), op.Operand("acc"), mixedFMA(a.Type.Element(), op.Result().Type.Element()), group(2))
}

func lowerDot4i(l *lowerer, op *loom.Op) {
	signs := op.Word("signs")
	ls, rs := signs[0] == 's', signs[2] == 's'
	ext := func(v uint32, s bool) int32 {
		if s {
			return int32(int8(v))
		}
		return int32(uint8(v))
	}
	fn := func(f *frame, d, a, b, c, n int) {
		D, A, B, C := f.i32[d:d+n], f.u32[a:a+n], f.u32[b:b+n], f.i32[c:c+n]
		if ls && rs {
			for i := range D {
				D[i] = C[i] + int32(int8(A[i]))*int32(int8(B[i]))
			}
			return
		}
		for i := range D {
			D[i] = C[i] + ext(A[i], ls)*ext(B[i], rs)
		}
	}
	l.chain(op.Result(), op.Operand("lhs"), op.Operand("rhs"), op.Operand("acc"), fn, group(4))
}

func lowerDot8i4(l *lowerer, op *loom.Op) {
	signs := op.Word("signs")
	ls, rs := signs[0] == 's', signs[2] == 's'
	ext := func(v uint32, s bool) int32 {
		if s {
			return int32(v<<28) >> 28
		}
		return int32(v & 15)
	}
	fn := func(f *frame, d, a, b, c, n int) {
		for i := range n {
			x, y, s := f.u32[a+i], f.u32[b+i], f.i32[c+i]
			for j := 0; j < 32; j += 4 {
				s += ext(x>>j, ls) * ext(y>>j, rs)
			}
			f.i32[d+i] = s
		}
	}
	l.chain(op.Result(), op.Operand("lhs"), op.Operand("rhs"), op.Operand("acc"), fn, group(1))
}

func lowerDot4f8(l *lowerer, op *loom.Op) {
	formats := op.Word("formats")
	pickFmt := func(fp8 bool) loom.Kind {
		if fp8 {
			return loom.F8E4M3
		}
		return loom.F8E5M2
	}
	fa, fb := narrowFormat(pickFmt(strings.HasPrefix(formats, "fp8"))), narrowFormat(pickFmt(strings.HasSuffix(formats, "fp8") && !strings.HasSuffix(formats, "bf8")))
	step := func(x, y uint32, acc float64) float64 {
		return acc + fa.Value(x&0xff)*fb.Value(y&0xff)
	}
	lhs := op.Operand("lhs")
	if lhs.Type.Element() == loom.I32 {
		fn := func(f *frame, d, a, b, c, n int) {
			for i := range n {
				x, y, s := f.u32[a+i], f.u32[b+i], float64(f.f32[c+i])
				for j := 0; j < 32; j += 8 {
					s = step(x>>j, y>>j, s)
				}
				f.f32[d+i] = float32(s)
			}
		}
		l.chain(op.Result(), lhs, op.Operand("rhs"), op.Operand("acc"), fn, group(1))
		return
	}
	fn := func(f *frame, d, a, b, c, n int) {
		for i := range n {
			f.f32[d+i] = float32(step(f.u32[a+i], f.u32[b+i], float64(f.f32[c+i])))
		}
	}
	l.chain(op.Result(), lhs, op.Operand("rhs"), op.Operand("acc"), fn, group(4))
}

// lowerBitstream serves bitcast, bitunpack and bitpack: the source is a stream
// of fields, low bits first, that the result cuts anew.
func lowerBitstream(l *lowerer, op *loom.Op) {
	in := op.Operand("input")
	if in == nil {
		in = op.Operand("source")
	}
	res := op.Result()
	fk, tk := in.Type.Element(), res.Type.Element()
	sw, dw := fk.Bits(), tk.Bits() // bits taken from a source lane, bits of a result field
	signed := false
	switch op.Name() {
	case "vector.bitunpacku", "vector.bitunpacks":
		dw = int(op.Attr("width").Int)
		signed = op.Name() == "vector.bitunpacks"
	case "vector.bitpack":
		sw = int(op.Attr("width").Int)
	}
	x := l.val(in)
	fw, tw := wideKind(fk), wideKind(tk)
	ns, nd := l.count(in.Type), l.count(res.Type)
	if sw == dw && fw == tw && !signed && dw == tk.Bits() && sw == fk.Bits() && ns == nd {
		l.alias(res, val{r: x.r, uni: x.uni})
		return
	}
	if sw <= 0 || dw <= 0 || sw > 64 || dw > 64 {
		l.fail("field width is outside 1 to 64")
		return
	}
	if nd*dw > ns*sw && op.Name() != "vector.bitpack" {
		l.fail("%d fields of %d bits need more than the %d source bits", nd, dw, ns*sw)
		return
	}
	d := l.newReg(tw, x.uni, nd)
	l.vals[res] = val{r: d, uni: x.uni}
	tm := widthMask(tk)
	for e := range nd {
		// The pieces of this field: source lane, shift right, shift left, mask.
		type piece struct {
			c    int
			r, s uint
			m    uint64
		}
		var ps []piece
		for at := 0; at < dw; {
			bit := e*dw + at
			c := bit / sw
			if c >= ns {
				break
			}
			r := bit % sw
			n := min(sw-r, dw-at)
			m := ^uint64(0)
			if n < 64 {
				m = 1<<n - 1
			}
			ps = append(ps, piece{c, uint(r), uint(at), m})
			at += n
		}
		dst := ref{d.v, int32(e)}
		if len(ps) == 0 {
			l.flatRaw(func(f *frame, d, _, _, _, n int) {
				for i := range n {
					if tw {
						f.u64[d+i] = 0
					} else {
						f.u32[d+i] = 0
					}
				}
			}, x.uni, 1, dst, none, none, none)
		}
		for i, p := range ps {
			first, last := i == 0, i == len(ps)-1
			fn := func(f *frame, d, a, _, _, n int) {
				for i := range n {
					var v, old uint64
					if fw {
						v = f.u64[a+i]
					} else {
						v = uint64(f.u32[a+i])
					}
					v = v >> p.r & p.m << p.s
					if !first {
						if tw {
							old = f.u64[d+i]
						} else {
							old = uint64(f.u32[d+i])
						}
						v |= old
					}
					if last && signed {
						v = uint64(sext(v, uint(dw))) & tm
					}
					if tw {
						f.u64[d+i] = v
					} else {
						f.u32[d+i] = uint32(v)
					}
				}
			}
			if !fw && !tw {
				fn = bits32(p.r, p.s, uint32(p.m), first, last && signed, uint(dw), uint32(tm))
			}
			l.flatRaw(fn, x.uni, 1, dst, ref{x.r.v, x.r.c + int32(p.c)}, none, none)
		}
	}
}

// bits32 moves one piece of a field between 32-bit words: shift right, mask,
// shift left; the first piece overwrites, later ones add; sign extends the whole
// field of w bits at the end.
func bits32(r, s uint, m uint32, first, sign bool, w uint, tm uint32) flatFn {
	r, s = r&31, s&31
	ext := 32 - min(w, 32)
	switch {
	case first && sign:
		up := ext
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = uint32(int32(A[i]>>r&m<<s<<up)>>up) & tm
			}
		}
	case first:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = A[i] >> r & m << s
			}
		}
	case sign:
		return func(f *frame, d, a, _, _, n int) {
			D, A := f.u32[d:d+n], f.u32[a:a+n]
			for i := range D {
				D[i] = uint32(int32((D[i]|A[i]>>r&m<<s)<<ext)>>ext) & tm
			}
		}
	}
	return func(f *frame, d, a, _, _, n int) {
		D, A := f.u32[d:d+n], f.u32[a:a+n]
		for i := range D {
			D[i] |= A[i] >> r & m << s
		}
	}
}

func lowerTableLookup(l *lowerer, op *loom.Op) {
	t, idx, res := op.Operand("table"), op.Operand("indices"), op.Result()
	xt, xi := l.val(t), l.val(idx)
	uni := xt.uni && xi.uni
	wide, iw := wideKind(res.Type.Element()), wideKind(idx.Type.Element())
	n, size := l.count(res.Type), l.count(t.Type)
	d := l.newReg(wide, uni, n)
	l.vals[res] = val{r: d, uni: uni}
	a, b := xt.r, xi.r
	tableUni := xt.uni
	if !uni {
		b = l.lane(idx)
	}
	l.emit(lowered{run: func(f *frame, in *instr) {
		lo, hi, L := f.lo, f.hi, f.L
		if uni {
			lo, hi, L = 0, 1, 1
		}
		ts := L
		if tableUni {
			ts = 1
		}
		for e := range n {
			for l := lo; l < hi; l++ {
				var i uint64
				if iw {
					i = f.u64[in.b+e*L+l]
				} else {
					i = uint64(f.u32[in.b+e*L+l])
				}
				i = min(i, uint64(size-1))
				at := in.a + int(i)*ts
				if !tableUni {
					at += l
				}
				if wide {
					f.u64[in.d+e*L+l] = f.u64[at]
				} else {
					f.u32[in.d+e*L+l] = f.u32[at]
				}
			}
		}
	}, d: d, a: a, b: b, n: n})
}

// lowerTableQuantize counts the thresholds below each input; tie = upper also
// counts the equal ones.
func lowerTableQuantize(l *lowerer, op *loom.Op) {
	in, th, res := op.Operand("input"), op.Operand("thresholds"), op.Result()
	get := loader(in.Type.Element())
	n, size := l.count(res.Type), l.count(th.Type)
	wide := wideKind(res.Type.Element())
	upper := op.Word("tie") == "upper"
	nanMax := op.Word("nan") == "max"
	d := l.newReg(wide, false, n)
	l.vals[res] = val{r: d}
	l.emit(lowered{run: func(f *frame, in *instr) {
		for e := range n {
			for l := f.lo; l < f.hi; l++ {
				v := get(f, in.a+e*f.L+l)
				code := 0
				for t := range size {
					if th := get(f, in.b+t*f.L+l); v > th || upper && v == th {
						code++
					}
				}
				if v != v && nanMax {
					code = size
				}
				if wide {
					f.u64[in.d+e*f.L+l] = uint64(code)
				} else {
					f.u32[in.d+e*f.L+l] = uint32(code)
				}
			}
		}
	}, d: d, a: l.lane(in), b: l.lane(th), n: n})
}

func lowerMaskRange(l *lowerer, op *loom.Op) {
	lo, hi, step, res := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step"), op.Result()
	n := l.count(res.Type)
	wide := wideKind(lo.Type.Element())
	w := uint(lo.Type.Element().Bits())
	uni := l.val(lo).uni && l.val(hi).uni && l.val(step).uni
	ra, rb, rc := l.val(lo).r, l.val(hi).r, l.val(step).r
	if !uni {
		ra, rb, rc = l.lane(lo), l.lane(hi), l.lane(step)
	}
	d := l.newReg(false, uni, n)
	l.vals[res] = val{r: d, uni: uni}
	for e := range n {
		k := int64(e)
		fn := func(f *frame, d, a, b, c, n int) {
			for i := range n {
				if wide {
					f.u32[d+i] = b2u(f.i64[a+i]+k*f.i64[c+i] < f.i64[b+i])
				} else {
					f.u32[d+i] = b2u(sext(uint64(f.u32[a+i]), w)+k*sext(uint64(f.u32[c+i]), w) < sext(uint64(f.u32[b+i]), w))
				}
			}
		}
		l.flatRaw(fn, uni, 1, ref{d.v, int32(e)}, ra, rb, rc)
	}
}
