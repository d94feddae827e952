package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

var waveOps = map[string]emitFunc{
	"kernel.subgroup.reduce": emitWaveReduce, "kernel.subgroup.scan": emitWaveScan,
	"kernel.subgroup.shuffle": emitWaveShuffle, "kernel.subgroup.broadcast": emitWaveBroadcast,
	"kernel.subgroup.broadcast.first": emitBroadcastFirst, "kernel.subgroup.active.mask": emitActiveMask,
	"kernel.subgroup.match.any": emitMatchAny, "kernel.subgroup.match.all": emitMatchAll,
	"kernel.subgroup.vote.ballot": emitBallot, "kernel.subgroup.vote.all": emitVote("all"), "kernel.subgroup.vote.any": emitVote("any"),
}

// perLane applies f to a scalar payload, or to each lane of a vector payload, and
// defines r from the results. The statements f emits for different lanes do not
// depend on each other.
func (e *emitter) perLane(v, r *loom.Value, f func(x string, k loom.Kind, typ string) string) {
	k := v.Type.Element()
	if v.Type.Kind != loom.Vector {
		x := e.ref(v)
		if k.IsIndexLike() { // a sum may need more bits than its terms
			x = paren(e.as(v, e.carrier(r)))
		}
		e.let(r, f(x, k, e.ctype(r)))
		return
	}
	n := v.Type.Lanes()
	out := make([]string, n)
	typ := laneType(k, e.vecCarrier(v))
	if k == loom.I1 {
		typ = "loom_u8"
	}
	for i := range n {
		out[i] = f(e.laneOf(v, i), k, typ)
	}
	e.lanes(r, n, func(i int) string { return out[i] })
}

// cluster is the number of lanes that combine and the distance between them.
func (e *emitter) cluster(op *loom.Op) (size, stride int64) {
	size, stride = int64(e.wave), 1
	if n := op.Attr("cluster_size").Int; n > 0 {
		size = n
	}
	if n := op.Attr("cluster_stride").Int; n > 0 {
		stride = n
	}
	return size, stride
}

// butterfly combines x over lanes that differ in the bits of size·stride; every
// lane ends with the result.
func (e *emitter) butterfly(name, kind, x string, k loom.Kind, typ string, size, stride int64) string {
	for m := stride; m < size*stride; m *= 2 {
		if m == 16 && size == 64 && e.family() == "gfx9" {
			return e.tmp(name+"_rows", typ, fmt.Sprintf("loom_join_rows(%s, %s)", x, e.combiner(kind, k, typ)))
		}
		lane := m
		if m == 4 && stride == 1 && e.family() == "gfx9" {
			lane = 7 // also a lane of the other four, and one instruction there
		}
		x = e.tmp(name+"_xor"+itoa(m), typ, e.combine(kind, k, fmf{}, x, fmt.Sprintf("loom_lane_xor<%d>(%s)", lane, x)))
	}
	return x
}

func isPow2(n int64) bool { return n > 0 && n&(n-1) == 0 }

// together reports whether all lanes of a subgroup that exist reach the current op
// at the same time: no branch or loop around it differs between them, and none has
// left the kernel.
func (e *emitter) together() bool {
	same := func(at *loom.Op, vs ...*loom.Value) bool {
		for _, v := range vs {
			if e.facts.At(at, v).Uniform < facts.UniformSubgroup {
				return false
			}
		}
		return true
	}
	if e.scratch.left[e.op] {
		return false
	}
	for r := e.op.Block.Region; r != nil; {
		if len(r.Blocks) > 1 {
			for _, b := range r.Blocks {
				if t := b.Terminator(); t != nil && t.Def.Name == "cfg.cond_br" && !same(t, t.Operand("condition")) {
					return false
				}
			}
		}
		p := r.Op
		if p == nil {
			return true
		}
		switch p.Def.Name {
		case "scf.if", "kernel.exit":
			if !same(p, p.Operand("condition")) {
				return false
			}
		case "scf.switch":
			if !same(p, p.Operand("selector")) {
				return false
			}
		case "scf.for":
			if !same(p, p.Operand("lower_bound"), p.Operand("upper_bound"), p.Operand("step")) && !e.equalTrips(p) {
				return false
			}
		case "scf.while":
			if t := p.Regions[0].Entry().Terminator(); t == nil || !same(t, t.Operand("condition")) {
				return false
			}
		default:
			return false
		}
		r = p.Block.Region
	}
	return true
}

// equalTrips reports a loop whose lanes start at different values and still run
// equally often: all start below one step, and the end is a multiple of the step.
func (e *emitter) equalTrips(loop *loom.Op) bool {
	lo, hi, step := e.facts.At(loop, loop.Operand("lower_bound")), e.facts.At(loop, loop.Operand("upper_bound")), e.facts.At(loop, loop.Operand("step"))
	c, ok := step.Const()
	return ok && c > 0 && lo.Lo >= 0 && lo.Hi < c && hi.Uniform >= facts.UniformSubgroup && hi.DivisibleBy(c)
}

// powerClusters refuses clusters whose lanes no exchange by bits of the lane
// number reaches.
func (e *emitter) powerClusters(size, stride int64) bool {
	if isPow2(size) && isPow2(stride) && size*stride <= int64(e.wave) {
		return true
	}
	e.unsupported("use powers of two whose product is at most the subgroup size", "clusters of %d lanes at stride %d in a subgroup of %d", size, stride, e.wave)
	return false
}

// combiner is a C++ function object that combines two values.
func (e *emitter) combiner(kind string, k loom.Kind, typ string) string {
	return fmt.Sprintf("[](%s a, %s b) -> %s { return %s; }", typ, typ, typ, e.combine(kind, k, fmf{}, "a", "b"))
}

// floatMarks are bit patterns of a float format: minus zero, one, the greatest
// value, and a NaN. The lowest value has the sign bit besides.
var floatMarks = map[loom.Kind]struct{ minusZero, one, greatest, nan uint64 }{
	loom.F8E4M3: {0x80, 0x38, 0x7e, 0x7f}, // no infinity
	loom.F8E5M2: {0x80, 0x3c, 0x7c, 0x7e},
	loom.F16:    {0x8000, 0x3c00, 0x7c00, 0x7e00},
	loom.BF16:   {0x8000, 0x3f80, 0x7f80, 0x7fc0},
	loom.F32:    {1 << 31, 0x3f800000, 0x7f800000, 0x7fc00000},
	loom.F64:    {1 << 63, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000},
}

// neutral is a value that combines with any other to that other.
func neutral(kind string, k loom.Kind, typ string) string {
	m := floatMarks[k]
	switch kind {
	case "addf": // 0 + −0 is 0
		return bitsAs(m.minusZero, k, typ)
	case "minnumf", "maxnumf": // a NaN is ignored
		return bitsAs(m.nan, k, typ)
	}
	return initial(kind, k, typ)
}

// initial is what an exclusive scan gives the first lane.
func initial(kind string, k loom.Kind, typ string) string {
	m := floatMarks[k]
	width := uint(k.Bits())
	if k.IsIndexLike() {
		width = 32
		if typ == "loom_i64" {
			width = 64
		}
	}
	all := ^uint64(0) >> (64 - width)
	switch kind {
	case "mulf":
		return bitsAs(m.one, k, typ)
	case "muli":
		return bitsAs(1, k, typ)
	case "minsi":
		return bitsAs(all>>1, k, typ)
	case "maxsi":
		return bitsAs(all/2+1, k, typ)
	case "minui", "andi":
		return bitsAs(all, k, typ)
	case "minnumf", "minimumf":
		return bitsAs(m.greatest, k, typ)
	case "maxnumf", "maximumf":
		return bitsAs(m.greatest|m.minusZero, k, typ)
	}
	return bitsAs(0, k, typ)
}

// bitsAs is the value of C++ type typ with the given bits.
func bitsAs(bits uint64, k loom.Kind, typ string) string {
	switch k {
	case loom.I1:
		if typ == "bool" {
			return fmt.Sprint(bits&1 != 0)
		}
	case loom.F16:
		return fmt.Sprintf("loom_bits_f16(0x%04x)", bits)
	case loom.F32:
		return fmt.Sprintf("loom_bits_f32(0x%08xu)", bits)
	case loom.F64:
		return fmt.Sprintf("loom_bits_f64(0x%016xull)", bits)
	}
	suffix := "u"
	if bits>>32 != 0 {
		suffix = "ull"
	}
	return fmt.Sprintf("(%s)0x%x%s", typ, bits, suffix)
}

// inVector puts the first term of a 64-bit sum into vector registers: clang 19
// folds an exchange into the upper half of the addition, which takes no scalar
// register there.
func (e *emitter) inVector(name, kind, x, typ string) string {
	if kind == "addi" && (typ == "loom_i64" || typ == "loom_u64") {
		return e.tmp(name+"_each", typ, "loom_keep<"+typ+">("+x+")")
	}
	return x
}

// waveReduce combines x over clusters of the subgroup. Which lanes exist and are
// active decides the form: with all of them, or none of a cluster missing, the
// lanes exchange in place.
func (e *emitter) waveReduce(name, kind, x string, k loom.Kind, typ string, size, stride int64) string {
	w := int64(e.wave)
	rest := e.items % w
	x = e.inVector(name, kind, x, typ)
	if e.together() {
		switch {
		case rest == 0, stride == 1 && rest%size == 0:
			return e.butterfly(name, kind, x, k, typ, size, stride)
		case size == w && e.items < w && isPow2(e.items):
			return e.butterfly(name, kind, x, k, typ, e.items, 1)
		case size == w:
			fn := fmt.Sprintf("loom_reduce_low<%d>", w)
			if rows := rest & -rest; rows >= 16 { // groups of so many lanes are whole
				x = e.butterfly(name, kind, x, k, typ, rows, 1)
				fn = fmt.Sprintf("loom_reduce_rows<%d, %d>", w, rows)
			}
			return e.tmp(name+"_all", typ, fmt.Sprintf("%s(%s, %s, %s, %s)", fn, x, e.lanesHere(), neutral(kind, k, typ), e.combiner(kind, k, typ)))
		}
	}
	return e.tmp(name+"_all", typ, fmt.Sprintf("loom_reduce_some<%d, %d, %d>(%s, %s)", w, size, stride, x, e.combiner(kind, k, typ)))
}

func emitWaveReduce(e *emitter, op *loom.Op) {
	size, stride := e.cluster(op)
	if !e.powerClusters(size, stride) {
		return
	}
	r, kind := op.Result(), op.Word("kind")
	e.perLane(op.Operand("value"), r, func(x string, k loom.Kind, typ string) string {
		return e.waveReduce(r.Name, kind, x, k, typ, size, stride)
	})
}

// waveScan is the scan of x over clusters. first is what an exclusive scan gives
// the first lane; "" asks for an inclusive one.
func (e *emitter) waveScan(kind, x string, k loom.Kind, typ string, size, stride int64, rev bool, first string) string {
	fn, args := "loom_scan", e.inVector("scan", kind, x, typ)
	whole := e.items%int64(e.wave) == 0
	shape := fmt.Sprintf("%d, %d, %d, %t", e.wave, size, stride, rev)
	if first != "" {
		fn += "_before"
	}
	if e.together() && (whole || stride == 1 || size*stride <= 16) {
		shape += fmt.Sprintf(", %t", !whole)
		args += ", " + neutral(kind, k, typ)
	} else {
		fn += "_some"
	}
	if first != "" {
		args += ", " + first
	}
	return fn + "<" + shape + ">(" + args + ", " + e.combiner(kind, k, typ) + ")"
}

func emitWaveScan(e *emitter, op *loom.Op) {
	size, stride := e.cluster(op)
	if !e.powerClusters(size, stride) {
		return
	}
	kind, rev, excl := op.Word("kind"), op.Word("direction") == "reverse", op.Word("mode") == "exclusive"
	e.perLane(op.Operand("value"), op.Result(), func(x string, k loom.Kind, typ string) string {
		first := ""
		if excl {
			first = initial(kind, k, typ)
		}
		return e.waveScan(kind, x, k, typ, size, stride, rev, first)
	})
}

// emitWaveShuffle fetches a value from another lane of a segment of width lanes.
// A lane whose source is outside, or is not active, keeps its own value and gets
// valid = false.
func emitWaveShuffle(e *emitter, op *loom.Op) {
	r, valid := op.Results[0], op.Results[1]
	v, off, width := op.Operand("value"), op.Operand("offset"), op.Operand("width")
	mode := op.Word("mode")
	wave := int64(e.wave)
	w, wok := e.constOf(width)
	if wok && (w <= 0 || w > wave) {
		w = wave
	}
	o, ook := e.constOf(off)
	all := e.together() && e.items%wave == 0
	if all && wok && isPow2(w) && ook && e.constantShuffle(op, mode, o, w) {
		return
	}
	lane := e.tmp("lane_id", "loom_i32", e.laneExpr())
	ws := itoa(w)
	seg := "0"
	switch {
	case !wok:
		x := e.ref(width)
		ws = e.tmp(r.Name+"_width", "loom_i32", "(loom_i32)("+x+" - 1u < "+itoa(wave)+"u ? "+x+" : "+itoa(wave)+"u)")
		seg = e.tmp(r.Name+"_seg", "loom_i32", lane+" - (loom_i32)((loom_u32)"+lane+" % (loom_u32)"+ws+")")
	case w == wave:
	case isPow2(w):
		seg = e.tmp(r.Name+"_seg", "loom_i32", lane+" & "+itoa(-w))
	default:
		seg = e.tmp(r.Name+"_seg", "loom_i32", lane+" - (loom_i32)((loom_u32)"+lane+" % "+ws+"u)")
	}
	// Lane numbers wrap: an offset out of all range stays outside the segment.
	os := "(loom_u32)" + paren(e.ref(off))
	expr := map[string]string{"xor": "(loom_u32)" + lane + " ^ " + os, "up": "(loom_u32)" + lane + " - " + os, "down": "(loom_u32)" + lane + " + " + os,
		"index": os}[mode]
	if mode == "index" && seg != "0" {
		expr = "(loom_u32)" + seg + " + " + os
	}
	src := e.tmp(r.Name+"_src", "loom_i32", "(loom_i32)("+expr+")")
	in := "(loom_u32)" + src + " < " + ws + "u"
	if seg != "0" {
		in = "(loom_u32)(" + src + " - " + seg + ") < (loom_u32)" + ws
	}
	if !wok || !isPow2(w) { // the last segment may be cut short
		in += " && " + src + " < " + itoa(wave)
	}
	if !all {
		active := e.tmp("active", "loom_u64", e.ballot("true"))
		in = "(" + in + ") & (((" + active + " >> (" + src + " & " + itoa(wave-1) + ")) & 1) != 0)"
	}
	e.let(valid, in)
	from := e.tmp(r.Name+"_from", "loom_i32", e.ref(valid)+" ? "+src+" : "+lane)
	fn := "loom_shuffle"
	if !all {
		fn = "loom_shuffle_some"
	}
	e.perLane(v, r, func(x string, _ loom.Kind, _ string) string { return fn + "(" + x + ", " + from + ")" })
}

// constantShuffle emits a shuffle by o within segments of w lanes, both known,
// where every lane runs; it reports false where a general one is as good.
func (e *emitter) constantShuffle(op *loom.Op, mode string, o, w int64) bool {
	r, valid, v := op.Results[0], op.Results[1], op.Operand("value")
	wave := int64(e.wave)
	each := func(format string, args ...any) {
		e.perLane(v, r, func(x string, _ loom.Kind, _ string) string { return fmt.Sprintf(format, append([]any{x}, args...)...) })
	}
	if o < 0 && (mode == "up" || mode == "down") {
		mode, o = map[string]string{"up": "down", "down": "up"}[mode], -o
	}
	switch {
	case o < 0 || o >= w || o == 0 && mode != "index": // no lane of the segment, or the own one
		e.let(valid, fmt.Sprint(o == 0))
		each("%s")
		return true
	case mode == "xor":
		each("loom_lane_xor<%[2]d>(%[1]s)", o)
		e.let(valid, "true")
		return true
	case mode == "index" && w == wave:
		each("loom_read_lane(%s, %d)", o)
		e.let(valid, "true")
		return true
	case wave == 32 && mode != "index" && o <= 16:
		lane := e.tmp("lane_id", "loom_i32", e.laneExpr())
		if w < wave {
			lane = "(" + lane + " & " + itoa(w-1) + ")"
		}
		in := lane + " >= " + itoa(o)
		if mode == "down" {
			in = lane + " < " + itoa(w-o)
		}
		e.let(valid, in)
		e.perLane(v, r, func(x string, _ loom.Kind, typ string) string {
			t := e.tmp(r.Name+"_"+mode+itoa(o), typ, fmt.Sprintf("loom_lane_%s<%d>(%s)", mode, o, x))
			return e.ref(valid) + " ? " + t + " : " + x
		})
		return true
	}
	return false
}

// emitWaveBroadcast gives every active lane the value of one lane, the one that
// the first active lane names. Lane 0 stands for lanes that do not exist.
func emitWaveBroadcast(e *emitter, op *loom.Op) {
	v, l := op.Operand("value"), op.Operand("lane")
	f := e.fact(l)
	s := e.ref(l)
	if f.Uniform < facts.UniformSubgroup {
		s = "loom_first_lane(" + s + ")"
	}
	n := itoa(int64(e.wave))
	if e.items%int64(e.wave) != 0 {
		n = e.lanesHere()
	}
	if f.Lo < 0 || f.Hi >= min(e.lowestLanes(), int64(e.wave)) {
		typ := e.ctype(l)
		s = e.tmp(op.Result().Name+"_lane", typ, s)
		u := strings.Replace(typ, "loom_i", "loom_u", 1)
		s = "(" + u + ")" + s + " < (" + u + ")" + n + " ? (loom_i32)" + s + " : 0"
	} else if e.ctype(l) != "loom_i32" {
		s = "(loom_i32)" + paren(s)
	}
	e.perLane(v, op.Result(), func(x string, _ loom.Kind, _ string) string { return "loom_read_lane(" + x + ", " + s + ")" })
}

// lanesHere is the number of lanes of this subgroup that exist.
func (e *emitter) lanesHere() string {
	w := int64(e.wave)
	if e.items < w {
		return itoa(e.items)
	}
	return "(" + e.waveExpr() + " == " + itoa(e.waves()-1) + " ? " + itoa(e.items%w) + " : " + itoa(w) + ")"
}

// lowestLanes is the number of lanes of the smallest subgroup.
func (e *emitter) lowestLanes() int64 {
	if n := e.items % int64(e.wave); n != 0 {
		return n
	}
	return int64(e.wave)
}

func emitBroadcastFirst(e *emitter, op *loom.Op) {
	e.perLane(op.Operand("value"), op.Result(), func(x string, _ loom.Kind, _ string) string { return "loom_first_lane(" + x + ")" })
}

// mask converts a ballot to the mask type of r.
func (e *emitter) mask(r *loom.Value, s string) {
	switch {
	case r.Type.Kind == loom.Vector:
		// One 32-bit word per lane of the vector.
		m := e.tmp(r.Name+"_bits", "loom_u64", s)
		w := r.Type.Elem.Bits()
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			if i*w >= 64 {
				return "0"
			}
			return fmt.Sprintf("(%s)(%s >> %d)", scalarNames[r.Type.Elem], m, i*w)
		})
	case r.Type.Kind.IsIndexLike():
		e.carriers[r] = c64
		e.let(r, "(loom_i64)"+s)
	default:
		e.let(r, "("+scalarNames[r.Type.Kind]+")"+s)
	}
}

// ballotOf is the ballot of a condition, p in C++. Clang 19 takes "ordered and
// unequal" for "unequal" where it folds a comparison of floats into the ballot, so
// what may be one is hidden from it.
func (e *emitter) ballotOf(v *loom.Value, p string) string {
	if v.Def == nil || v.Def.Def.Name != "index.cmp" && v.Def.Def.Name != "scalar.cmpi" {
		p = "loom_pin((loom_u32)(" + p + ")) != 0u"
	}
	return e.ballot(p)
}

func (e *emitter) ballot(p string) string { return fmt.Sprintf("loom_ballot<%d>(%s)", e.wave, p) }

func emitBallot(e *emitter, op *loom.Op) {
	e.mask(op.Result(), e.ballotOf(op.Operand("predicate"), e.ref(op.Operand("predicate"))))
}

func emitActiveMask(e *emitter, op *loom.Op) { e.mask(op.Result(), e.ballot("true")) }

func emitVote(kind string) emitFunc {
	return func(e *emitter, op *loom.Op) {
		p := e.ref(op.Operand("predicate"))
		if kind == "all" {
			e.let(op.Result(), e.ballotOf(op.Operand("predicate"), "!"+paren(p))+" == 0")
			return
		}
		e.let(op.Result(), e.ballotOf(op.Operand("predicate"), p)+" != 0")
	}
}

func emitMatchAny(e *emitter, op *loom.Op) {
	e.mask(op.Result(), fmt.Sprintf("loom_match_any<%d>(%s)", e.wave, e.ref(op.Operand("value"))))
}

// emitMatchAll gives the mask of active lanes when all hold the value of the
// first, else 0, and the flag.
func emitMatchAll(e *emitter, op *loom.Op) {
	x := e.ref(op.Operand("value"))
	act := e.tmp("active", "loom_u64", e.ballot("true"))
	same := e.tmp("equal", "loom_u64", e.ballot("loom_same("+x+", loom_first_lane("+x+"))"))
	e.mask(op.Results[0], "("+act+" == "+same+" ? "+act+" : 0)")
	if len(op.Results) > 1 {
		e.let(op.Results[1], act+" == "+same)
	}
}
