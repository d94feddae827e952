package codegen

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
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
	left              map[*loom.Op]bool // ops that some lanes of a subgroup no longer reach
	apart             map[*loom.Op]bool // ops that some items of the workgroup no longer reach
}

// planScratch reserves the slots, and room for tiles that change their layout,
// after the kernel's own allocations.
func (e *emitter) planScratch() {
	e.scratch.left, e.scratch.apart = e.afterExits(facts.UniformSubgroup), e.afterExits(facts.UniformWorkgroup)
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

// afterExits are the ops that may run after some items of a group left the kernel
// and others did not: those behind an exit, or all where blocks jump.
func (e *emitter) afterExits(group facts.Uniformity) map[*loom.Op]bool {
	body := e.k.Def.Body
	exits := func(o *loom.Op) bool {
		return o.Def.Name == "kernel.exit" && e.facts.At(o, o.Operand("condition")).Uniform < group
	}
	var out map[*loom.Op]bool
	left := false
	if len(body.Blocks) > 1 {
		body.Walk(func(o *loom.Op) bool {
			left = left || exits(o)
			return true
		})
		if !left {
			return nil
		}
	}
	body.Walk(func(o *loom.Op) bool {
		if left {
			if out == nil {
				out = map[*loom.Op]bool{}
			}
			out[o] = true
		}
		left = left || exits(o)
		return true
	})
	return out
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

// payload lists the scalars of v, in the form that those of r have.
func (e *emitter) payload(v, r *loom.Value) (xs []string, k loom.Kind, typ string) {
	k = v.Type.Element()
	if v.Type.Kind != loom.Vector {
		if k.IsIndexLike() { // a sum may need more bits than its terms
			return []string{paren(e.as(v, e.carrier(r)))}, k, e.ctype(r)
		}
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

// allArrive refuses an exchange between waves of which some may have left.
func (e *emitter) allArrive(op *loom.Op) bool {
	if e.waves() == 1 || !e.scratch.apart[op] {
		return true
	}
	e.unsupported("put it before the kernel.exit, or make the condition of the exit the same for the whole workgroup",
		"some items of the workgroup may have left through an earlier kernel.exit")
	return false
}

func emitGroupReduce(e *emitter, op *loom.Op) {
	if !e.allArrive(op) {
		return
	}
	r := op.Result()
	xs, k, typ := e.payload(op.Operand("value"), r)
	e.defineFrom(r, e.groupTotal(r.Name, op.Word("kind"), xs, k, typ))
}

// groupTotal combines each x over the workgroup.
func (e *emitter) groupTotal(name, kind string, xs []string, k loom.Kind, typ string) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = e.waveReduce(name, kind, x, k, typ, int64(e.wave), 1)
	}
	w := e.waves()
	if w == 1 {
		return out
	}
	p := e.publish(out, typ)
	for j := range out {
		// Each lane takes the value of one wave, and the lanes combine them; that
		// needs as many lanes in every wave.
		if size := nextPow2(w); size <= e.lowestLanes() && (w > 2 || size == w) {
			lane := "(" + e.laneExpr() + ") & " + itoa(size-1)
			if e.wgSize[0]%size == 0 {
				lane = "loom_item_x() & " + itoa(size-1)
			}
			at := lane
			if size != w {
				at = e.tmp("part_id", "loom_i32", lane)
				lane = at + " < " + itoa(w) + " ? " + at + " : " + itoa(w-1)
			}
			s := p.read(int64(j), lane)
			if size != w && !idempotent(kind) {
				// Read by all lanes, also those that take the neutral value: no branch.
				s = e.tmp(name+"_slot", typ, "loom_keep<"+typ+">("+s+")")
				s = at + " < " + itoa(w) + " ? " + s + " : " + neutral(kind, k, typ)
			}
			x := e.butterfly(name, kind, e.tmp(name+"_part", typ, s), k, typ, size, 1)
			if e.lowestLanes()%size != 0 { // the last lanes lack some to combine with
				x = e.tmp(name+"_first", typ, "loom_read_lane("+x+", 0)")
			}
			out[j] = x
			continue
		}
		// Every lane reads all values and combines neighbours.
		parts := make([]string, w)
		for i := range parts {
			parts[i] = e.tmp(name+"_part"+itoa(int64(i)), typ, p.read(int64(j), itoa(int64(i))))
		}
		for len(parts) > 1 {
			var next []string
			for i := 0; i < len(parts); i += 2 {
				x := parts[i]
				if i+1 < len(parts) {
					x = e.tmp(name+"_both", typ, e.combine(kind, k, fmf{}, x, parts[i+1]))
				}
				next = append(next, x)
			}
			parts = next
		}
		out[j] = parts[0]
	}
	return out
}

// idempotent reports a combination that a value met twice does not change.
func idempotent(kind string) bool {
	return strings.HasPrefix(kind, "min") || strings.HasPrefix(kind, "max") || kind == "andi" || kind == "ori"
}

func nextPow2(n int64) int64 {
	p := int64(1)
	for p < n {
		p *= 2
	}
	return p
}

// emitGroupScan scans each wave, publishes the wave totals, and combines the
// totals of the waves that come before.
func emitGroupScan(e *emitter, op *loom.Op) {
	if !e.allArrive(op) {
		return
	}
	r := op.Result()
	kind := op.Word("kind")
	rev, excl := op.Word("direction") == "reverse", op.Word("mode") == "exclusive"
	xs, k, typ := e.payload(op.Operand("value"), r)
	wave, w := int64(e.wave), e.waves()
	out := make([]string, len(xs))
	if w == 1 {
		for i, x := range xs {
			first := ""
			if excl {
				first = initial(kind, k, typ)
			}
			out[i] = e.tmp(r.Name+"_scan", typ, e.waveScan(kind, x, k, typ, wave, 1, rev, first))
		}
		e.defineFrom(r, out)
		return
	}
	none := neutral(kind, k, typ)
	tot := make([]string, len(xs))
	for i, x := range xs {
		out[i] = e.tmp(r.Name+"_scan", typ, e.waveScan(kind, x, k, typ, wave, 1, rev, ""))
		// Only waves that are full pass their total on, except to the front.
		end := itoa(wave - 1)
		if rev {
			end = "0"
		}
		tot[i] = e.tmp(r.Name+"_total", typ, "loom_read_lane("+out[i]+", "+end+")")
	}
	p := e.publish(tot, typ)
	id := e.tmp("wave_id", "loom_i32", e.waveExpr())
	for i := range xs {
		base := e.beforeWaves(r.Name, kind, p, int64(i), k, typ, id, rev)
		s := out[i]
		if excl {
			s = e.tmp(r.Name+"_excl", typ, e.shiftScan(s, none, rev))
		}
		s = e.combine(kind, k, fmf{}, base, s)
		if first := initial(kind, k, typ); excl && first != none {
			at := "0"
			if rev {
				at = itoa(e.items - 1)
			}
			s = paren(e.flat()) + " == " + at + " ? " + first + " : " + paren(s)
		}
		out[i] = s
	}
	e.defineFrom(r, out)
}

// shiftScan makes the inclusive scan s of a wave exclusive; none goes to the end.
func (e *emitter) shiftScan(s, none string, rev bool) string {
	return fmt.Sprintf("loom_lane_before<%d, %d, 1, %t, %t>(%s, %s)", e.wave, e.wave, rev, e.items%int64(e.wave) != 0, s, none)
}

// beforeWaves combines what the waves before this one published: their number id
// is lower, or higher in a reverse scan.
func (e *emitter) beforeWaves(name, kind string, p published, j int64, k loom.Kind, typ, id string, rev bool) string {
	w := e.waves()
	none := neutral(kind, k, typ)
	if w > 3 && w <= e.lowestLanes() {
		// Each lane takes the value of one wave, and the first lanes scan them.
		size := max(nextPow2(w), 16)
		at := e.tmp("part_id", "loom_i32", paren(e.laneExpr())+" & "+itoa(size-1))
		lane := at
		if size != w {
			lane = at + " < " + itoa(w) + " ? " + at + " : " + itoa(w-1)
		}
		s := p.read(j, lane)
		if size != w && rev && !idempotent(kind) {
			s = e.tmp(name+"_slot", typ, "loom_keep<"+typ+">("+s+")")
			s = at + " < " + itoa(w) + " ? " + s + " : " + none
		}
		x := e.tmp(name+"_part", typ, s)
		x = e.tmp(name+"_parts", typ, fmt.Sprintf("loom_scan<%d, %d, 1, %t, true>(%s, %s, %s)", e.wave, size, rev, x, none, e.combiner(kind, k, typ)))
		from, end := id+" - 1", "0"
		if rev {
			from, end = id+" + 1", itoa(w-1)
		}
		x = e.tmp(name+"_waves", typ, "loom_read_lane("+x+", ("+from+") & "+itoa(int64(e.wave-1))+")")
		return e.tmp(name+"_base", typ, id+" == "+end+" ? "+none+" : "+x)
	}
	acc := e.declareMutable(name+"_base", typ, none)
	for i := range w - 1 {
		src, cond := i, id+" > "+itoa(i)
		if rev {
			src = w - 1 - i
			cond = id + " < " + itoa(src)
		}
		e.assign(acc, cond+" ? "+paren(e.combine(kind, k, fmf{}, acc.name, p.read(j, itoa(src))))+" : "+acc.name)
	}
	return acc.name
}

func emitGroupVote(e *emitter, op *loom.Op) {
	if !e.allArrive(op) {
		return
	}
	r := op.Result()
	p := e.ref(op.Operand("predicate"))
	if op.Def.Name == "kernel.workgroup.vote.all" { // no item is against it
		p = "!" + paren(p)
	}
	cnt := e.tmp(r.Name+"_lanes", "loom_u32", "(loom_u32)loom_ctpop_u64("+e.ballotOf(op.Operand("predicate"), p)+")")
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
		e.let(r, tot+" == 0u")
	default:
		if r.Type.Kind.IsIndexLike() {
			e.let(r, "("+e.carrier(r).String()+")"+tot)
		} else {
			e.let(r, "("+scalarNames[r.Type.Kind]+")"+tot)
		}
	}
}
