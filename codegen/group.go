package codegen

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/loomc/loomc/loom"
)

var groupOps = map[string]emitFunc{
	"kernel.workgroup.reduce": emitGroupReduce, "kernel.workgroup.scan": emitGroupScan,
	"kernel.workgroup.vote.all": emitGroupVote, "kernel.workgroup.vote.any": emitGroupVote, "kernel.workgroup.vote.count": emitGroupVote,
}

// usesScratch reports an op that exchanges values between waves.
func usesScratch(o *loom.Op) bool {
	return strings.HasPrefix(o.Def.Name, "kernel.workgroup.reduce") || strings.HasPrefix(o.Def.Name, "kernel.workgroup.scan") ||
		strings.HasPrefix(o.Def.Name, "kernel.workgroup.vote")
}

// scratchPlan is the workgroup memory behind reductions: two slots that are used
// in turn, so that one barrier per reduction is enough in straight code. A slot is
// dirty while a slower wave may still read it.
type scratchPlan struct {
	base, bytes, slot int64
	dirty             uint8
}

// planScratch reserves the slots, and room for tiles that change their layout,
// after the kernel's own allocations.
func (e *emitter) planScratch() {
	e.scratch.base = e.k.LocalBytes
	var slot int64
	repack := false
	e.k.Def.Body.Walk(func(o *loom.Op) bool {
		switch {
		case o.Def.Name == "vector.fragment.repack":
			repack = true
		case usesScratch(o) && e.waves() > 1:
			n := int64(1)
			size := int64(4)
			if v := o.Operand("value"); v != nil {
				if v.Type.Kind == loom.Vector {
					n = int64(v.Type.Lanes())
				}
				size = max(int64(v.Type.Element().Bytes()), 4)
			}
			slot = max(slot, n*size*e.waves())
		}
		return true
	})
	if slot == 0 && !repack {
		return
	}
	e.scratch.base = (e.k.LocalBytes + 15) / 16 * 16
	e.scratch.slot = (slot + 15) / 16 * 16
	e.scratch.bytes = 2 * e.scratch.slot
	if repack {
		e.scratch.bytes += e.repackBytes() * e.waves()
	}
}

// slotFor chooses the slot of the next exchange, after a barrier when both may
// still be read.
func (e *emitter) slotFor() int64 {
	if e.cfg { // a jump may lead back here
		e.scratch.dirty = 3
	}
	for s := range int64(2) {
		if e.scratch.dirty&(1<<s) == 0 {
			e.scratch.dirty = 1 << s
			return e.scratch.base + s*e.scratch.slot
		}
	}
	e.t.add("loom_barrier_local();", nil)
	e.scratch.dirty = 1
	return e.scratch.base
}

// enterLoop makes both slots dirty for the first reduction of a loop body: the
// slowest wave may still read what the previous round left. A body whose own
// reductions alternate an even number of times leaves one slot free.
func (e *emitter) enterLoop(r *loom.Region) {
	n, nested := 0, false
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			if usesScratch(o) {
				n++
			}
			for _, x := range o.Regions {
				x.Walk(func(i *loom.Op) bool {
					nested = nested || usesScratch(i)
					return true
				})
			}
		}
	}
	if n == 0 && !nested {
		return
	}
	if n >= 2 && n%2 == 0 && !nested && len(r.Blocks) == 1 {
		switch e.scratch.dirty {
		case 0:
			e.scratch.dirty = 2
			return
		case 1, 2:
			return
		}
	}
	e.scratch.dirty = 3
}

// scratchType is the C++ type of one published value.
func scratchType(typ string) (string, int64) {
	switch typ {
	case "bool", "loom_u8", "loom_u16", "loom_f16", "loom_bf16", "loom_f8e4m3", "loom_f8e5m2":
		return "loom_u32", 4
	case "loom_u64", "loom_i64", "loom_f64":
		return typ, 8
	}
	return typ, 4
}

// published is what the waves left in a slot.
type published struct {
	e     *emitter
	slot  int64  // byte offset
	typ   string // value type
	mem   string
	size  int64
	count int64 // values per wave
}

// publish writes the values of each wave to the slot and synchronises.
func (e *emitter) publish(xs []string, typ string) published {
	p := published{e: e, slot: e.slotFor(), typ: typ, count: int64(len(xs))}
	p.mem, p.size = scratchType(typ)
	wave := e.tmp("wave_id", "loom_i32", fmt.Sprintf("%s >> %d", paren(e.flat()), bits.TrailingZeros(uint(e.wave))))
	for j, x := range xs {
		if p.mem != typ {
			x = "loom_to_word(" + x + ")"
		}
		// All lanes hold the same value and write it to the same place: that is
		// shorter than a branch for one lane, and keeps the code around in one piece.
		e.t.add(fmt.Sprintf("*(%s *)(%s + (loom_u32)%s * %du) = %s;", memName(p.mem, p.size), e.localAt(p.slot+int64(j)*p.size*e.waves()), wave, p.size, x), nil)
	}
	e.t.add("loom_barrier_local();", nil)
	return p
}

// read is the value number j that the wave given by an expression published.
func (p published) read(j int64, wave string) string {
	off := p.slot + j*p.size*p.e.waves()
	var s string
	if isNumber(wave) {
		var w int64
		fmt.Sscan(wave, &w)
		s = fmt.Sprintf("*(const %s *)(%s)", memName(p.mem, p.size), p.e.localAt(off+w*p.size))
	} else {
		s = fmt.Sprintf("*(const %s *)(%s + (loom_u32)(%s) * %du)", memName(p.mem, p.size), p.e.localAt(off), wave, p.size)
	}
	if p.mem != p.typ {
		s = "loom_from_word<" + p.typ + ">(" + s + ")"
	}
	return s
}

// localAt is the address of a constant place in workgroup storage.
func (e *emitter) localAt(off int64) string {
	if off == 0 {
		return e.localVar()
	}
	return e.localVar() + " + " + itoa(off)
}

// payload lists the scalars of a value.
func (e *emitter) payload(v *loom.Value) (xs []string, k loom.Kind, typ string) {
	k = v.Type.Element()
	if v.Type.Kind != loom.Vector {
		return []string{e.ref(v)}, k, e.ctype(v)
	}
	typ = laneType(k, e.vecCarrier(v))
	if k == loom.I1 {
		typ = "loom_u8"
	}
	for i := range v.Type.Lanes() {
		xs = append(xs, e.laneOf(v, i))
	}
	return xs, k, typ
}

// defineFrom defines r from its scalars.
func (e *emitter) defineFrom(r *loom.Value, xs []string) {
	if r.Type.Kind == loom.Vector {
		e.lanes(r, len(xs), func(i int) string { return xs[i] })
		return
	}
	s := xs[0]
	if r.Type.Kind.IsIndexLike() {
		s = "(" + e.carrier(r).String() + ")" + paren(s)
	}
	e.let(r, s)
}

func emitGroupReduce(e *emitter, op *loom.Op) {
	r, v := op.Result(), op.Operand("value")
	xs, k, typ := e.payload(v)
	e.defineFrom(r, e.groupTotal(r.Name, op.Word("kind"), xs, k, typ))
}

// groupTotal combines each x over the workgroup.
func (e *emitter) groupTotal(name, kind string, xs []string, k loom.Kind, typ string) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = e.waveTotal(name, kind, x, k, typ)
	}
	w := e.waves()
	if w == 1 {
		return out
	}
	p := e.publish(out, typ)
	for j := range out {
		if isPow2(w) && w <= int64(e.wave) && e.items%int64(e.wave) == 0 {
			lane := "loom_item_x() & " + itoa(w-1)
			if e.wgSize[0]%w != 0 {
				lane = "(" + e.laneExpr() + ") & " + itoa(w-1)
			}
			x := e.tmp(name+"_part", typ, p.read(int64(j), lane))
			out[j] = e.butterfly(name, kind, x, k, typ, w, 1)
			continue
		}
		acc := e.tmp(name+"_part0", typ, p.read(int64(j), "0"))
		for i := int64(1); i < w; i++ {
			acc = e.tmp(name+"_part"+itoa(i), typ, e.combine(kind, k, fmf{}, acc, p.read(int64(j), itoa(i))))
		}
		out[j] = acc
	}
	return out
}

// emitGroupScan scans each wave, publishes the wave totals, and combines the
// totals of the waves that come before.
func emitGroupScan(e *emitter, op *loom.Op) {
	r, v := op.Result(), op.Operand("value")
	kind := op.Word("kind")
	rev, excl := op.Word("direction") == "reverse", op.Word("mode") == "exclusive"
	if e.items%int64(e.wave) != 0 && (rev || e.waves() > 1) {
		e.unsupported("use a workgroup of whole subgroups", "a scan over a workgroup of %d items", e.items)
		return
	}
	xs, k, typ := e.payload(v)
	lane := e.tmp("lane_id", "loom_i32", e.laneExpr())
	incl := make([]string, len(xs))
	for i, x := range xs {
		incl[i] = e.prefixLanes(r.Name, kind, x, k, typ, lane, int64(e.wave), 1, rev)
	}
	out := make([]string, len(xs))
	w := e.waves()
	var p published
	if w > 1 {
		last := itoa(int64(e.wave - 1))
		if rev {
			last = "0"
		}
		tot := make([]string, len(xs))
		for i, x := range incl {
			tot[i] = e.tmp(r.Name+"_total", typ, "loom_read_lane("+x+", "+last+")")
		}
		p = e.publish(tot, typ)
	}
	var wave string
	if w > 1 {
		wave = e.tmp("wave_id", "loom_i32", e.waveExpr())
	}
	for i := range xs {
		s := incl[i]
		if excl {
			s = e.tmp(r.Name+"_excl", typ, e.shiftLane(r.Name, kind, s, k, typ, lane, int64(e.wave), 1, rev))
		}
		if w > 1 {
			acc := e.declareMutable(r.Name+"_base", typ, identity(kind, k))
			for j := range w {
				src, cond := j, wave+" > "+itoa(j)
				if rev {
					src = w - 1 - j
					cond = wave + " < " + itoa(src)
				}
				if !rev && j == w-1 || rev && src == 0 {
					continue
				}
				e.assign(acc, cond+" ? "+paren(e.combine(kind, k, fmf{}, acc.name, p.read(int64(i), itoa(src))))+" : "+acc.name)
			}
			s = e.combine(kind, k, fmf{}, acc.name, s)
		}
		out[i] = s
	}
	e.defineFrom(r, out)
}

func emitGroupVote(e *emitter, op *loom.Op) {
	r := op.Result()
	p := e.ref(op.Operand("predicate"))
	cnt := e.tmp(r.Name+"_lanes", "loom_u32", "(loom_u32)loom_ctpop_u64("+e.ballot(p)+")")
	tot := cnt
	if e.waves() > 1 {
		pub := e.publish([]string{cnt}, "loom_u32")
		tot = e.tmp(r.Name+"_n0", "loom_u32", pub.read(0, "0"))
		for i := int64(1); i < e.waves(); i++ {
			tot = e.tmp(r.Name+"_n"+itoa(i), "loom_u32", tot+" + "+pub.read(0, itoa(i)))
		}
	}
	switch op.Def.Name {
	case "kernel.workgroup.vote.any":
		e.let(r, tot+" != 0u")
	case "kernel.workgroup.vote.all":
		e.let(r, tot+" == "+itoa(e.items)+"u")
	default:
		if r.Type.Kind.IsIndexLike() {
			e.let(r, "("+e.carrier(r).String()+")"+tot)
		} else {
			e.let(r, "("+scalarNames[r.Type.Kind]+")"+tot)
		}
	}
}
