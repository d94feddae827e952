package codegen

import (
	"fmt"

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
		typ := e.ctype(v)
		s := f(e.ref(v), k, typ)
		if k.IsIndexLike() && e.carrier(r).String() != typ {
			s = "(" + e.carrier(r).String() + ")" + paren(s)
		}
		e.let(r, s)
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
		x = e.tmp(name+"_xor"+itoa(m), typ, e.combine(kind, k, fmf{}, x, fmt.Sprintf("loom_lane_xor<%d>(%s)", m, x)))
	}
	return x
}

func isPow2(n int64) bool { return n > 0 && n&(n-1) == 0 }

// waveTotal combines x over the whole subgroup. Where the last subgroup of the
// workgroup is not full, only lanes that exist take part.
func (e *emitter) waveTotal(name, kind, x string, k loom.Kind, typ string) string {
	w := int64(e.wave)
	switch {
	case e.items%w == 0:
		return e.butterfly(name, kind, x, k, typ, w, 1)
	case e.items < w && isPow2(e.items):
		return e.butterfly(name, kind, x, k, typ, e.items, 1)
	}
	// Fold the lanes in order; rare, and exact about who takes part.
	x = e.tmp(name+"_own", typ, x)
	acc := e.declareMutable(name+"_all", typ, "loom_read_lane("+x+", 0)")
	lanes := e.lanesHere()
	n := e.t.control("}")
	i := e.newVar("lane_i", "int")
	i.defs = append(i.defs, n)
	e.t.in(n, "for (int "+i.name+" = 1; "+i.name+" < "+lanes+"; ++"+i.name+") {", func() {
		e.assign(acc, e.combine(kind, k, fmf{}, acc.name, "loom_read_lane("+x+", "+i.name+")"))
	})
	return acc.name
}

// lanesHere is the number of lanes of this subgroup that exist.
func (e *emitter) lanesHere() string {
	w := int64(e.wave)
	if e.items < w {
		return itoa(e.items)
	}
	return "(" + e.waveExpr() + " == " + itoa(e.waves()-1) + " ? " + itoa(e.items%w) + " : " + itoa(w) + ")"
}

// foldCluster combines x over the lanes of a cluster that exist, where the last
// subgroup may cut a cluster short. The first lane of a cluster is its lowest, so
// it exists wherever any other does; every lane takes part in each shuffle.
func (e *emitter) foldCluster(name, kind, x string, k loom.Kind, typ string, size, stride int64) string {
	lane := e.tmp(name+"_lane", "loom_i32", e.laneExpr())
	first := e.tmp(name+"_first", "loom_i32", lane+" & ~"+itoa((size-1)*stride))
	count := e.tmp(name+"_lanes", "loom_i32", e.lanesHere())
	x = e.tmp(name+"_own", typ, x)
	acc := e.tmp(name+"_part0", typ, "loom_shuffle("+x+", "+first+")")
	for i := int64(1); i < size; i++ {
		src := first + " + " + itoa(i*stride)
		t := e.tmp(name+"_of"+itoa(i), typ, "loom_shuffle("+x+", "+src+")")
		acc = e.tmp(name+"_part"+itoa(i), typ, src+" < "+count+" ? "+paren(e.combine(kind, k, fmf{}, acc, t))+" : "+acc)
	}
	return acc
}

func emitWaveReduce(e *emitter, op *loom.Op) {
	r, v := op.Result(), op.Operand("value")
	size, stride := e.cluster(op)
	if !isPow2(size) || !isPow2(stride) || size*stride > int64(e.wave) {
		e.unsupported("use powers of two whose product is at most the subgroup size", "clusters of %d lanes at stride %d in a subgroup of %d", size, stride, e.wave)
		return
	}
	kind := op.Word("kind")
	e.perLane(v, r, func(x string, k loom.Kind, typ string) string {
		if size == int64(e.wave) {
			return e.waveTotal(r.Name, kind, x, k, typ)
		}
		if n := e.items % int64(e.wave); n != 0 && (stride > 1 || n%size != 0) {
			return e.foldCluster(r.Name, kind, x, k, typ, size, stride)
		}
		return e.butterfly(r.Name, kind, x, k, typ, size, stride)
	})
}

// identity is the neutral element of a combination.
func identity(kind string, k loom.Kind) string {
	bits := k.Bits()
	smin := fmt.Sprintf("(%s)((%s)1 << %d)", scalarNames[k], scalarNames[k], bits-1)
	if k.IsIndexLike() {
		switch kind {
		case "minsi", "minui":
			return "0x7fffffff"
		case "maxsi":
			return "(-2147483647 - 1)"
		}
	}
	inf := map[loom.Kind]string{loom.F16: "loom_bits_f16(0x%04x)", loom.F32: "loom_bits_f32(0x%08xu)", loom.F64: "loom_bits_f64(0x%016xull)", loom.BF16: "(loom_bf16)0x%04x"}
	pos := map[loom.Kind]uint64{loom.F16: 0x7c00, loom.F32: 0x7f800000, loom.F64: 0x7ff0000000000000, loom.BF16: 0x7f80}
	nan := map[loom.Kind]uint64{loom.F16: 0x7e00, loom.F32: 0x7fc00000, loom.F64: 0x7ff8000000000000, loom.BF16: 0x7fc0}
	neg := map[loom.Kind]uint64{loom.F16: 0xfc00, loom.F32: 0xff800000, loom.F64: 0xfff0000000000000, loom.BF16: 0xff80}
	zero := map[loom.Kind]uint64{loom.F16: 0x8000, loom.F32: 0x80000000, loom.F64: 0x8000000000000000, loom.BF16: 0x8000}
	switch kind {
	case "addf": // −0 is the neutral element of float addition
		return fmt.Sprintf(inf[k], zero[k])
	case "mulf":
		return floatLit(1, k)
	case "muli":
		return "(" + scalarNames[k] + ")1"
	case "andi", "minui":
		if k == loom.I1 {
			return "true"
		}
		return "(" + scalarNames[k] + ")~(" + scalarNames[k] + ")0"
	case "minsi":
		return "(" + scalarNames[k] + ")~" + smin
	case "maxsi":
		return smin
	case "minimumf":
		return fmt.Sprintf(inf[k], pos[k])
	case "maximumf":
		return fmt.Sprintf(inf[k], neg[k])
	case "minnumf", "maxnumf": // a NaN is ignored
		return fmt.Sprintf(inf[k], nan[k])
	}
	if k.IsIndexLike() {
		return "0"
	}
	return "(" + scalarNames[k] + ")0"
}

// prefixLanes is the inclusive prefix of x over clusters of size lanes, in
// forward or reverse lane order.
func (e *emitter) prefixLanes(name, kind, x string, k loom.Kind, typ, lane string, size, stride int64, reverse bool) string {
	dir := "up"
	if reverse {
		dir = "down"
	}
	for d := int64(1); d < size; d *= 2 {
		t := e.tmp(name+"_"+dir+itoa(d), typ, fmt.Sprintf("loom_lane_%s<%d>(%s)", dir, d*stride, x))
		pos := lane
		if stride > 1 {
			pos = lane + " / " + itoa(stride)
		}
		if size*stride < int64(e.wave) || stride > 1 {
			pos = "(" + pos + " & " + itoa(size-1) + ")"
		}
		cond := pos + " >= " + itoa(d)
		if reverse {
			cond = pos + " + " + itoa(d) + " < " + itoa(size)
		}
		x = e.tmp(name+"_scan"+itoa(d), typ, cond+" ? "+paren(e.combine(kind, k, fmf{}, t, x))+" : "+x)
	}
	return x
}

func emitWaveScan(e *emitter, op *loom.Op) {
	r, v := op.Result(), op.Operand("value")
	size, stride := e.cluster(op)
	if !isPow2(size) || !isPow2(stride) || size*stride > int64(e.wave) {
		e.unsupported("use powers of two whose product is at most the subgroup size", "clusters of %d lanes at stride %d in a subgroup of %d", size, stride, e.wave)
		return
	}
	rev := op.Word("direction") == "reverse"
	excl := op.Word("mode") == "exclusive"
	if rev && e.items%int64(e.wave) != 0 {
		e.unsupported("use a workgroup of whole subgroups", "a reverse scan in a subgroup that is not full")
		return
	}
	lane := e.tmp("lane_id", "loom_i32", e.laneExpr())
	kind := op.Word("kind")
	e.perLane(v, r, func(x string, k loom.Kind, typ string) string {
		s := e.prefixLanes(r.Name, kind, x, k, typ, lane, size, stride, rev)
		if !excl {
			return s
		}
		return e.shiftLane(r.Name, kind, s, k, typ, lane, size, stride, rev)
	})
}

// shiftLane makes an inclusive prefix exclusive.
func (e *emitter) shiftLane(name, kind, s string, k loom.Kind, typ, lane string, size, stride int64, rev bool) string {
	dir := "up"
	pos := lane
	if stride > 1 {
		pos = "(" + lane + " / " + itoa(stride) + ")"
	}
	cond := "(" + pos + " & " + itoa(size-1) + ") == 0"
	if rev {
		dir = "down"
		cond = "(" + pos + " & " + itoa(size-1) + ") == " + itoa(size-1)
	}
	t := e.tmp(name+"_before", typ, fmt.Sprintf("loom_lane_%s<%d>(%s)", dir, stride, s))
	return cond + " ? " + identity(kind, k) + " : " + t
}

// emitWaveShuffle fetches a value from another lane of a segment of width lanes.
// A lane whose source is outside keeps its own value and gets valid = false.
func emitWaveShuffle(e *emitter, op *loom.Op) {
	r, valid := op.Results[0], op.Results[1]
	v, off, width := op.Operand("value"), op.Operand("offset"), op.Operand("width")
	mode := op.Word("mode")
	w, wok := e.constOf(width)
	o, ook := e.constOf(off)
	if mode == "xor" && wok && ook && isPow2(w) && w <= int64(e.wave) && o >= 0 && o < w && isPow2(o) && e.items%int64(e.wave) == 0 {
		e.perLane(v, r, func(x string, _ loom.Kind, _ string) string { return fmt.Sprintf("loom_lane_xor<%d>(%s)", o, x) })
		e.let(valid, "true")
		return
	}
	lane := e.tmp("lane_id", "loom_i32", e.laneExpr())
	ws := "(loom_i32)" + e.ref(width)
	seg := e.tmp(r.Name+"_seg", "loom_i32", lane+" & -"+paren(ws))
	os := "(loom_i32)" + e.ref(off)
	src := e.tmp(r.Name+"_src", "loom_i32", map[string]string{
		"xor": lane + " ^ " + os, "up": lane + " - " + os, "down": lane + " + " + os, "index": seg + " + " + os}[mode])
	in := src + " >= " + seg + " && " + src + " < " + seg + " + " + ws
	if e.items%int64(e.wave) != 0 {
		n := e.items % int64(e.wave)
		if e.items < int64(e.wave) {
			in += " && " + src + " < " + itoa(n)
		} else {
			in += " && (" + e.waveExpr() + " != " + itoa(e.waves()-1) + " || " + src + " < " + itoa(n) + ")"
		}
	}
	e.let(valid, in)
	from := e.tmp(r.Name+"_from", "loom_i32", e.ref(valid)+" ? "+src+" : "+lane)
	e.perLane(v, r, func(x string, _ loom.Kind, _ string) string { return "loom_shuffle(" + x + ", " + from + ")" })
}

func emitWaveBroadcast(e *emitter, op *loom.Op) {
	v, l := op.Operand("value"), op.Operand("lane")
	s := e.ref(l)
	if l.Type.Kind.IsIndexLike() {
		s = e.as(l, c32)
	} else {
		s = "(loom_i32)" + s
	}
	fn := "loom_shuffle"
	if e.fact(l).Uniform >= facts.UniformSubgroup {
		fn = "loom_read_lane"
	}
	e.perLane(v, op.Result(), func(x string, _ loom.Kind, _ string) string { return fn + "(" + x + ", " + s + ")" })
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

func (e *emitter) ballot(p string) string { return fmt.Sprintf("loom_ballot<%d>(%s)", e.wave, p) }

func emitBallot(e *emitter, op *loom.Op) {
	e.mask(op.Result(), e.ballot(e.ref(op.Operand("predicate"))))
}

func emitActiveMask(e *emitter, op *loom.Op) { e.mask(op.Result(), e.ballot("true")) }

func emitVote(kind string) emitFunc {
	return func(e *emitter, op *loom.Op) {
		p := e.ref(op.Operand("predicate"))
		if kind == "all" {
			e.let(op.Result(), e.ballot("!"+paren(p))+" == 0")
			return
		}
		e.let(op.Result(), e.ballot(p)+" != 0")
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
