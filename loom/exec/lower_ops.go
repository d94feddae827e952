package exec

import (
	"strings"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
)

type lowering func(l *lowerer, op *loom.Op)

var lowerTable struct {
	once sync.Once
	ops  map[string]lowering
}

// lowerings returns the table from op name to translation.
func lowerings() map[string]lowering {
	lowerTable.once.Do(func() { lowerTable.ops = buildLowerings() })
	return lowerTable.ops
}

func buildLowerings() map[string]lowering {
	m := map[string]lowering{
		"scf.if": lowerIf, "scf.for": lowerFor, "scf.while": lowerWhile, "scf.switch": lowerSwitch,
		"scf.select": lowerSelect, "vector.select": lowerSelect, "scf.lookup": lowerLookup,
		"kernel.exit": lowerExit, "kernel.assert": lowerAssert,

		"index.constant": lowerConstant, "scalar.constant": lowerConstant, "vector.constant": lowerConstant,
		"scalar.poison": lowerPoison, "vector.poison": lowerPoison, "vector.empty": lowerPoison,
		"index.assume": lowerAssume, "scalar.assume": lowerAssume,
		"index.cast": lowerIndexCast, "index.madd": lowerMadd,
		"index.scale": func(l *lowerer, op *loom.Op) {
			l.flat(op.Result(), mulU64, op.Operand("index"), op.Operand("stride"))
		},
		"index.cmp": func(l *lowerer, op *loom.Op) {
			k := op.Operand("lhs").Type.Kind
			p := op.Word("predicate")
			if k == loom.Offset && p[0] == 's' {
				p = "u" + p[1:]
			}
			l.flat(op.Result(), cmpI64(p), op.Operand("lhs"), op.Operand("rhs"))
		},

		"buffer.assume.alignment": lowerBufferFact, "buffer.assume.memory_space": lowerBufferFact,
		"buffer.assume.noalias": lowerBufferFact, "buffer.assume.same_root": lowerBufferFact,
		"buffer.view": lowerBufferView, "buffer.alloca": lowerAlloca, "buffer.length": lowerLength, "buffer.pack": lowerPack,
		"view.load": lowerLoad, "vector.load": lowerLoad, "vector.load.mask": lowerLoad, "vector.load.expand": lowerPacked,
		"view.store": lowerStore, "vector.store": lowerStore, "vector.store.mask": lowerStore, "vector.store.compress": lowerPacked,
		"vector.gather": lowerLoad, "vector.gather.mask": lowerLoad, "vector.scatter": lowerStore, "vector.scatter.mask": lowerStore,
		"view.subview": lowerSubview, "view.refine": lowerRefine,
		"view.prefetch": func(*lowerer, *loom.Op) {},

		"vector.splat": lowerSplat, "vector.iota": lowerIota, "vector.from_elements": lowerFromElements,
		"vector.extract": lowerExtract, "vector.insert": lowerInsert, "vector.slice": lowerSlice,
		"vector.concat": lowerConcat, "vector.broadcast": lowerBroadcast, "vector.transpose": lowerTranspose,
		"vector.shuffle": lowerShuffle, "vector.interleave": lowerInterleave, "vector.deinterleave": lowerDeinterleave,
		"vector.reduce": lowerReduce, "vector.reduce.axes": lowerReduceAxes,
		"vector.dotf": lowerDotf, "vector.dot2f": lowerDot2f, "vector.dot4i": lowerDot4i, "vector.dot8i4": lowerDot8i4, "vector.dot4f8": lowerDot4f8,
		"vector.bitunpacku": lowerBitstream, "vector.bitunpacks": lowerBitstream, "vector.bitpack": lowerBitstream,
		"vector.table.lookup": lowerTableLookup, "vector.table.quantize": lowerTableQuantize, "vector.mask.range": lowerMaskRange,

		"vector.fragment": lowerFragment, "vector.fragment.load": lowerFragmentLoad, "vector.fragment.store": lowerFragmentStore,
		"vector.fragment.repack": lowerRepack, "vector.mma": lowerMMA,

		"kernel.barrier": func(*lowerer, *loom.Op) {},
		"target.subgroup.size": func(l *lowerer, op *loom.Op) {
			l.vals[op.Result()] = val{r: l.constant(uint64(l.p.wave), true, 1), uni: true}
		},
		"kernel.async.copy": lowerAsyncCopy, "kernel.async.copy.mask": lowerAsyncCopy,
		"kernel.async.gather": lowerAsyncCopy, "kernel.async.gather.mask": lowerAsyncCopy,
		"kernel.async.group": func(*lowerer, *loom.Op) {}, "kernel.async.wait": func(*lowerer, *loom.Op) {},
	}
	for name := range dialectEncodings {
		m[name] = func(*lowerer, *loom.Op) {}
	}
	for name, fn := range kernelLowerings {
		m[name] = fn
	}
	for name, fn := range atomicLowerings {
		m[name] = fn
	}
	for _, d := range dialect.Ops().All() {
		if m[d.Name] != nil {
			continue
		}
		suffix, ok := strings.CutPrefix(d.Name, "scalar.")
		if !ok {
			suffix, ok = strings.CutPrefix(d.Name, "vector.")
		}
		if ok {
			if fn := elementwise(suffix); fn != nil {
				m[d.Name] = fn
			}
			continue
		}
		if suffix, ok = strings.CutPrefix(d.Name, "index."); ok {
			if fn := indexOp(suffix); fn != nil {
				m[d.Name] = fn
			}
		}
	}
	return m
}

// dialectEncodings are ops without run-time effect: views read the encodings
// where they are defined.
var dialectEncodings = map[string]bool{
	"encoding.define": true, "encoding.layout.dense": true, "encoding.layout.strided": true,
	"encoding.layout.assume.dense": true, "encoding.layout.assume.strided": true,
	"encoding.assume.spec": true, "encoding.assume.match": true, "scf.schedule.fence": true,
}

// elementwise returns the translation of an op of the scalar and vector
// dialects that acts lane by lane.
func elementwise(name string) lowering {
	lhsrhs := func(op *loom.Op) (*loom.Value, *loom.Value) { return op.Operand("lhs"), op.Operand("rhs") }
	switch {
	case binaryFloats[name] != nil:
		return func(l *lowerer, op *loom.Op) {
			a, b := lhsrhs(op)
			l.flat(op.Result(), binaryFloatFast(name, op.Result().Type.Element()), a, b)
		}
	case unaryFloats[name] != nil:
		return func(l *lowerer, op *loom.Op) {
			l.flat(op.Result(), unaryFloatFast(name, op.Result().Type.Element()), op.Operand("input"))
		}
	case binaryInts[name] != nil:
		return func(l *lowerer, op *loom.Op) {
			a, b := lhsrhs(op)
			k := op.Result().Type.Element()
			fn := binaryInt(name, k)
			if k == loom.I1 && (name == "addi" || name == "subi") {
				fn = binaryInt("xori", k)
			}
			l.flat(op.Result(), fn, a, b)
		}
	case unaryInts[name] != nil:
		return func(l *lowerer, op *loom.Op) {
			l.flat(op.Result(), unaryInt(name, op.Result().Type.Element()), op.Operand("input"))
		}
	}
	switch name {
	case "fmaf":
		return func(l *lowerer, op *loom.Op) {
			l.flat(op.Result(), fmaFloat(op.Result().Type.Element()), op.Operand("a"), op.Operand("b"), op.Operand("c"))
		}
	case "fmai":
		return func(l *lowerer, op *loom.Op) {
			k := op.Result().Type.Element()
			fn := maddI32
			if wideKind(k) {
				fn = maddI64
			} else if k != loom.I32 {
				m := uint32(widthMask(k))
				fn = func(f *frame, d, a, b, c, n int) {
					for i := range n {
						f.u32[d+i] = (f.u32[a+i]*f.u32[b+i] + f.u32[c+i]) & m
					}
				}
			}
			l.flat(op.Result(), fn, op.Operand("a"), op.Operand("b"), op.Operand("c"))
		}
	case "clampf":
		return func(l *lowerer, op *loom.Op) {
			l.flat(op.Result(), ternaryFloat(op.Result().Type.Element(), clamp(op.Word("mode"))), op.Operand("value"), op.Operand("lower"), op.Operand("upper"))
		}
	case "geluf":
		return func(l *lowerer, op *loom.Op) {
			scale := 1.702
			if a := op.Attr("scale"); a.Kind != loom.AttrNone {
				scale = a.Float()
			}
			l.flat(op.Result(), unaryFloat(op.Result().Type.Element(), gelu(op.Word("variant"), scale)), op.Operand("input"))
		}
	case "isnanf", "isinff", "isfinitef":
		return func(l *lowerer, op *loom.Op) {
			in := op.Operand("input")
			l.flat(op.Result(), classify(name, in.Type.Element()), in)
		}
	case "cmpf":
		return func(l *lowerer, op *loom.Op) {
			a, b := lhsrhs(op)
			l.flat(op.Result(), cmpFloat(op.Word("predicate"), a.Type.Element()), a, b)
		}
	case "cmpi":
		return func(l *lowerer, op *loom.Op) {
			a, b := lhsrhs(op)
			l.flat(op.Result(), cmpInt(op.Word("predicate"), a.Type.Element()), a, b)
		}
	case "extf", "fptrunc":
		return func(l *lowerer, op *loom.Op) {
			in := op.Operand("input")
			l.flat(op.Result(), convertFloat(in.Type.Element(), op.Result().Type.Element()), in)
		}
	case "extsi", "extui", "trunci":
		return func(l *lowerer, op *loom.Op) {
			in := op.Operand("input")
			l.flat(op.Result(), convertInt(in.Type.Element(), op.Result().Type.Element(), name == "extsi"), in)
		}
	case "sitofp", "uitofp":
		return func(l *lowerer, op *loom.Op) {
			in := op.Operand("input")
			l.flat(op.Result(), intToFloat(in.Type.Element(), op.Result().Type.Element(), name == "sitofp"), in)
		}
	case "fptosi", "fptoui":
		return func(l *lowerer, op *loom.Op) {
			in := op.Operand("input")
			l.flat(op.Result(), floatToInt(in.Type.Element(), op.Result().Type.Element(), name == "fptosi"), in)
		}
	case "bitcast":
		return lowerBitstream
	case "bitfield.extractu", "bitfield.extracts":
		return func(l *lowerer, op *loom.Op) {
			in := op.Operand("source")
			l.flat(op.Result(), extractField(in.Type.Element(), op.Result().Type.Element(),
				uint(op.Attr("offset").Int), uint(op.Attr("width").Int), name == "bitfield.extracts"), in)
		}
	case "bitfield.insert":
		return func(l *lowerer, op *loom.Op) {
			fl, base := op.Operand("field"), op.Operand("base")
			l.flat(op.Result(), insertField(fl.Type.Element(), base.Type.Element(), uint(op.Attr("offset").Int), uint(op.Attr("width").Int)), fl, base)
		}
	}
	return nil
}

func indexOp(name string) lowering {
	to := map[string]string{"add": "addi", "sub": "subi", "mul": "muli", "div": "divsi", "rem": "remsi", "min": "minsi", "max": "maxsi"}
	full := name
	if n, ok := to[name]; ok {
		full = n
	}
	switch {
	case binaryInts[full] != nil:
		fn := binaryInt(full, loom.Index)
		switch name {
		case "div":
			fn = divIndex
		case "rem":
			fn = remIndex
		}
		return func(l *lowerer, op *loom.Op) { l.flat(op.Result(), fn, op.Operand("lhs"), op.Operand("rhs")) }
	case unaryInts[full] != nil:
		fn := unaryInt(full, loom.Index)
		return func(l *lowerer, op *loom.Op) { l.flat(op.Result(), fn, op.Operand("input")) }
	}
	return nil
}

// divIndex and remIndex take 32-bit divisions where both sides fit: half the
// time of the 64-bit ones.
func divIndex(f *frame, d, a, b, _, n int) {
	D, A, B := f.i64[d:d+n], f.i64[a:a+n], f.i64[b:b+n]
	A, B = A[:len(D)], B[:len(D)]
	for i := range D {
		x, y := A[i], B[i]
		switch {
		case uint64(x|y)>>32 == 0 && y != 0:
			D[i] = int64(uint32(x) / uint32(y))
		case y == 0:
			D[i] = 0
		case y == -1:
			D[i] = -x
		default:
			D[i] = x / y
		}
	}
}

func remIndex(f *frame, d, a, b, _, n int) {
	D, A, B := f.i64[d:d+n], f.i64[a:a+n], f.i64[b:b+n]
	A, B = A[:len(D)], B[:len(D)]
	for i := range D {
		x, y := A[i], B[i]
		switch {
		case uint64(x|y)>>32 == 0 && y != 0:
			D[i] = int64(uint32(x) % uint32(y))
		case y == 0 || y == -1:
			D[i] = 0
		default:
			D[i] = x % y
		}
	}
}

func lowerMadd(l *lowerer, op *loom.Op) {
	l.flat(op.Result(), maddI64, op.Operand("a"), op.Operand("b"), op.Operand("c"))
}

func lowerIndexCast(l *lowerer, op *loom.Op) {
	in, res := op.Operand("input"), op.Result()
	from, to := in.Type.Element(), res.Type.Element()
	if wideKind(from) && wideKind(to) {
		l.alias(res, l.val(in))
		return
	}
	// Entering index extends with the sign (i1 counts as 0 or 1), entering
	// offset with zeros.
	l.flat(res, convertInt(from, to, to == loom.Index && from != loom.I1), in)
}

func lowerAssume(l *lowerer, op *loom.Op) {
	for i, r := range op.Results {
		l.alias(r, l.val(op.Operands[i]))
	}
}

func selectLoop[T any](d, a, b []T, c []uint32) {
	a, b, c = a[:len(d)], b[:len(d)], c[:len(d)]
	for i := range d {
		if c[i]&1 != 0 {
			d[i] = a[i]
		} else {
			d[i] = b[i]
		}
	}
}

func select32(f *frame, d, a, b, c, n int) {
	selectLoop(f.u32[d:d+n], f.u32[a:a+n], f.u32[b:b+n], f.u32[c:c+n])
}

func select64(f *frame, d, a, b, c, n int) {
	selectLoop(f.u64[d:d+n], f.u64[a:a+n], f.u64[b:b+n], f.u32[c:c+n])
}

func lowerSelect(l *lowerer, op *loom.Op) {
	c, a, b, res := op.Operand("condition"), op.Operand("true_value"), op.Operand("false_value"), op.Result()
	cv := l.val(c)
	if bits, ok := l.isConst(cv.r); ok && c.Type.Kind == loom.I1 {
		if bits&1 != 0 {
			l.alias(res, l.val(a))
		} else {
			l.alias(res, l.val(b))
		}
		return
	}
	if res.Type.Kind == loom.View || res.Type.Kind == loom.Buffer {
		l.selectPlace(c, a, b, res)
		return
	}
	wide := wideKind(res.Type.Element())
	fn := pick[flatFn](wide, select64, select32)
	if l.count(c.Type) == l.count(res.Type) {
		l.flat(res, fn, a, b, c)
		return
	}
	// One condition for a whole vector.
	n := l.count(res.Type)
	uni := cv.uni && l.val(a).uni && l.val(b).uni
	d := l.newReg(wide, uni, n)
	l.vals[res] = val{r: d, uni: uni}
	var ra, rb, rc ref
	if uni {
		ra, rb, rc = l.val(a).r, l.val(b).r, cv.r
	} else {
		ra, rb, rc = l.lane(a), l.lane(b), l.lane(c)
	}
	for e := range int32(n) {
		l.flatRaw(fn, uni, 1, ref{d.v, d.c + e}, ref{ra.v, ra.c + e}, ref{rb.v, rb.c + e}, rc)
	}
}

// selectPlace chooses between buffers or views: buffer ids and offsets apart.
func (l *lowerer) selectPlace(c, a, b, res *loom.Value) {
	x, y, cv := l.val(a), l.val(b), l.val(c)
	out := val{}
	part := func(p, q ref, pu, qu, wide bool) (ref, bool) {
		if p == q {
			return p, pu
		}
		uni := pu && qu && cv.uni
		d := l.newReg(wide, uni, 1)
		fn := pick[flatFn](wide, select64, select32)
		if uni {
			l.flatRaw(fn, true, 1, d, p, q, cv.r)
		} else {
			l.flatRaw(fn, false, 1, d, l.splat(p, 1), l.splat(q, 1), l.splat(cv.r, 1))
		}
		return d, uni
	}
	out.r, out.uni = part(x.r, y.r, x.uni, y.uni, false)
	if res.Type.Kind == loom.View {
		out.off, out.uniOff = part(x.off, y.off, x.uniOff, y.uniOff, true)
	}
	l.vals[res] = out
}

// lowerLookup picks a row of values by an index: a chain of selects from the
// default row.
func lowerLookup(l *lowerer, op *loom.Op) {
	keys := op.Attr("keys").Ints()
	vals := op.Field("values")
	n := len(op.Results)
	sel := op.Operand("selector")
	if len(vals) != n*(len(keys)+1) {
		l.fail("%d values do not fill %d rows of %d", len(vals), len(keys)+1, n)
		return
	}
	for j, res := range op.Results {
		wide := wideKind(res.Type.Element())
		comps := l.count(res.Type)
		cur := l.val(vals[len(keys)*n+j])
		for i, k := range keys {
			v := l.val(vals[i*n+j])
			s := l.val(sel)
			uni := cur.uni && v.uni && s.uni
			cond := l.newReg(false, uni, 1)
			key := l.constant(uint64(k), true, 1)
			d := l.newReg(wide, uni, comps)
			fix := func(r ref, n int) ref {
				if uni {
					return r
				}
				return l.splat(r, n)
			}
			l.flatRaw(cmpI64("eq"), uni, 1, cond, fix(s.r, 1), fix(key, 1), none)
			a, b := fix(v.r, comps), fix(cur.r, comps)
			for e := range int32(comps) {
				l.flatRaw(pick[flatFn](wide, select64, select32), uni, 1, ref{d.v, e}, ref{a.v, a.c + e}, ref{b.v, b.c + e}, cond)
			}
			cur = val{r: d, uni: uni}
		}
		l.vals[res] = cur
	}
}
