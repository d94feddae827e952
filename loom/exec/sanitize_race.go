package exec

import (
	"fmt"

	"github.com/loomc/loomc/loom/diag"
)

// The race sanitizer keeps, per workgroup, a count of events: memory
// instructions and barriers. Two accesses of one cell by different items of a
// workgroup are ordered when a barrier that orders the cell's memory space, of a
// scope that holds both items, lies between them. A barrier over workgroup memory
// does not order global memory, although it makes the items wait.
//
// Atomics do not race with atomics. A release publishes, at the cell it writes,
// what happened before it: the item's own accesses, and those of its workgroup
// that a barrier over global memory ordered before. An acquire at that cell of a
// sufficient scope takes it over for the item; the next barrier over global
// memory passes it on to the workgroup.

type barrierInfo struct{ space, ordering, scope string }

// spaceIndex: 0 for global memory, 1 for workgroup memory.
func (b *barrierInfo) spaceIndex() int {
	if b.space == "workgroup" {
		return 1
	}
	return 0
}

func barrierEvent(f *frame, in *instr) {
	b := in.x.(*barrierInfo)
	s := f.san
	s.now++
	s.barriers = append(s.barriers, barrierRecord{s.now, f.pcOf(in), b})
	if b.ordering == "relaxed" || b.scope == "thread" {
		return
	}
	i := b.spaceIndex()
	if b.scope == "subgroup" {
		f.eachSubgroup(func(base, _ int) { s.lastSG[i][base/f.wave] = s.now })
		return
	}
	s.lastWG[i] = s.now
	if i == 0 {
		merged := s.knowWG
		for l, k := range s.know {
			if k != nil {
				merged = merged.join(k)
				s.know[l] = nil
			}
		}
		s.knowWG = merged
	}
}

// syncKey names an atomic cell.
type syncKey struct {
	sh *shadow
	at int64
}

// clock is what an item knows to have happened, per workgroup. It is immutable.
type clock struct {
	entries map[uint32]entry
}

// entry: of one workgroup, everything before event barrier, and of single lanes
// everything up to an event.
type entry struct {
	barrier uint32
	lanes   map[int16]uint32
}

func (c *clock) join(d *clock) *clock {
	if c == nil {
		return d
	}
	if d == nil || c == d {
		return c
	}
	out := &clock{entries: make(map[uint32]entry, len(c.entries)+len(d.entries))}
	for w, e := range c.entries {
		out.entries[w] = e
	}
	for w, e := range d.entries {
		o, ok := out.entries[w]
		if !ok {
			out.entries[w] = e
			continue
		}
		n := entry{barrier: max(o.barrier, e.barrier), lanes: make(map[int16]uint32, len(o.lanes)+len(e.lanes))}
		for l, t := range o.lanes {
			n.lanes[l] = t
		}
		for l, t := range e.lanes {
			n.lanes[l] = max(n.lanes[l], t)
		}
		out.entries[w] = n
	}
	return out
}

// covers reports whether the clock knows of p. Inside the own workgroup only what
// single lanes released counts: its barriers are judged per memory space.
func (c *clock) covers(p stamp, own uint32) bool {
	if c == nil {
		return false
	}
	e, ok := c.entries[p.wg]
	if !ok {
		return false
	}
	return p.wg != own && p.when < e.barrier || e.lanes[p.lane] >= p.when && e.lanes[p.lane] > 0
}

// ordered reports whether the earlier access p happened before what lane l of
// the running workgroup does now.
func (f *frame) ordered(p stamp, space, l int) bool {
	s := f.san
	if p.wg == uint32(f.wgLin) {
		if int(p.lane) == l {
			return true
		}
		if p.when < s.lastWG[space] {
			return true
		}
		if int(p.lane)/f.wave == l/f.wave && p.when < s.lastSG[space][l/f.wave] {
			return true
		}
	}
	return s.know[l].covers(p, uint32(f.wgLin)) || s.knowWG.covers(p, uint32(f.wgLin))
}

// race checks one access of one lane against the history of its cells and
// records it.
func (f *frame) race(in *instr, acc *access, sh *shadow, id int, at, addr int64, l, e int, pc int32) {
	s := f.san
	space := 0
	if f.bufs[id].info.space == spaceWorkgroup {
		space = 1
	}
	me := stamp{wg: uint32(f.wgLin), when: s.now, pc: pc, lane: int16(l), valid: true, atomic: acc.atomic != nil}
	key := syncKey{sh, at >> sh.gran}
	if a := acc.atomic; a != nil && acquires(a.ordering) {
		if c := s.shared.sync[key]; c != nil {
			s.know[l] = s.know[l].join(f.atScope(c, a.scope))
		}
	}
	last := (at + acc.size - 1) >> sh.gran
	for i := at >> sh.gran; i <= last; i++ {
		c := sh.cell(i)
		f.conflict(in, acc, &c.w, me, sh, space, id, addr, l, e, true)
		if acc.write {
			f.conflict(in, acc, &c.r1, me, sh, space, id, addr, l, e, false)
			f.conflict(in, acc, &c.r2, me, sh, space, id, addr, l, e, false)
			f.conflict(in, acc, &c.ro, me, sh, space, id, addr, l, e, false)
			c.w = me
			if me.atomic {
				c.read(me)
			}
		} else {
			c.read(me)
		}
	}
	if a := acc.atomic; a != nil && releases(a.ordering) {
		rel := &clock{entries: map[uint32]entry{me.wg: {barrier: s.lastWG[0], lanes: map[int16]uint32{me.lane: s.now}}}}
		rel = rel.join(s.know[l]).join(s.knowWG)
		s.shared.sync[key] = s.shared.sync[key].join(rel)
	}
}

// atScope limits an acquired clock to what the scope covers: below device scope
// only the own workgroup's part counts.
func (f *frame) atScope(c *clock, scope string) *clock {
	if scope == "device" || scope == "system" {
		return c
	}
	own := uint32(f.wgLin)
	if e, ok := c.entries[own]; ok {
		return &clock{entries: map[uint32]entry{own: e}}
	}
	return nil
}

func acquires(o string) bool { return o == "acquire" || o == "acq_rel" || o == "seq_cst" }
func releases(o string) bool { return o == "release" || o == "acq_rel" || o == "seq_cst" }

// read records a read: the last two lanes of the reading workgroup, and the last
// read of another one.
func (c *cell) read(me stamp) {
	if c.r1.valid && c.r1.wg != me.wg {
		c.ro, c.r1, c.r2 = c.r1, stamp{}, stamp{}
	}
	switch {
	case !c.r1.valid || c.r1.lane == me.lane:
		c.r1 = me
	case !c.r2.valid || c.r2.lane == me.lane || c.r2.when <= c.r1.when:
		c.r2 = me
	default:
		c.r1 = me
	}
}

// conflict reports the pair of the earlier access p and the present one when
// nothing orders them.
func (f *frame) conflict(in *instr, acc *access, p *stamp, me stamp, sh *shadow, space, id int, addr int64, l, e int, pWrites bool) {
	if !p.valid || p.atomic && me.atomic {
		return
	}
	if sh.local && (p.wg != me.wg || p.when < sh.since) {
		return // another allocation's history
	}
	if p.wg == me.wg && p.lane == me.lane {
		return
	}
	if f.ordered(*p, space, l) {
		return
	}
	if acc.write && pWrites && acc.atomic == nil && !p.atomic && f.sameBits(in, acc, id, addr, l, e, *p, me) {
		return // both leave the same bits behind
	}
	f.raceFinding(in, acc, *p, me, space, id, addr, pWrites)
}

// sameBits reports whether the value about to be written is what memory already
// holds, or what the other lane of the same instruction writes.
func (f *frame) sameBits(in *instr, acc *access, id int, addr int64, l, e int, p, me stamp) bool {
	wide := acc.size == 8
	v := f.word(wide, in.b+e*f.L+l)
	if m := widthBytes(acc.size); !wide {
		v &= m
	}
	if p.wg == me.wg && p.when == me.when && p.pc == me.pc {
		// The other lane's store has not reached memory yet.
		for o := range acc.n {
			if _, a := f.locate(in, acc, int(p.lane), o); a == addr {
				x := f.word(wide, in.b+o*f.L+int(p.lane))
				if !wide {
					x &= widthBytes(acc.size)
				}
				return x == v
			}
		}
		return false
	}
	at := addr
	if st := f.bufs[id].stride; st > 0 {
		at += int64(l) * st
	}
	return getElem(f.bufs[id].data[at:], acc.kind, acc.size)&widthBytes(acc.size) == v
}

func widthBytes(n int64) uint64 {
	if n >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*n) - 1
}

func (f *frame) raceFinding(in *instr, acc *access, p, me stamp, space, id int, addr int64, pWrites bool) {
	word := func(w, atomic bool) string {
		s := "read"
		if w {
			s = "write"
		}
		if atomic {
			s = "atomic " + s
		}
		return s
	}
	first, second := word(pWrites, p.atomic), word(acc.write, me.atomic)
	spaceName := spaceGlobal
	if space == 1 {
		spaceName = spaceWorkgroup
	}
	prev := f.ins[p.pc]
	sameWG := p.wg == me.wg
	who := fmt.Sprintf("item %d", p.lane)
	switch {
	case !sameWG:
		who = fmt.Sprintf("item %d of workgroup %d", p.lane, p.wg)
	case int(p.lane)/f.wave == int(me.lane)/f.wave:
		who += " of the same subgroup"
	default:
		who += fmt.Sprintf(" of subgroup %d", int(p.lane)/f.wave)
	}
	d := f.finding(CodeRace, in, int(me.lane), "race on %s byte %d: %s here, unordered with the %s by %s", f.bufs[id].info.describe(), addr, second, first, who)
	if prev.op != nil {
		d = f.run.withOpSite(d.WithRelated(prev.op.Span, "the %s, by %s", first, who), prev.op)
	}
	partial := false
	if sameWG {
		// The barriers in between, which did not order this space for these items.
		for _, b := range f.san.barriers {
			if b.when <= p.when || f.ins[b.pc].op == nil {
				continue
			}
			why := fmt.Sprintf("this barrier orders only %s memory", b.info.space)
			switch {
			case b.info.spaceIndex() == space && b.info.ordering == "relaxed":
				why = "this barrier is relaxed and orders nothing"
			case b.info.spaceIndex() == space && b.info.scope == "subgroup":
				why = "this barrier joins the items of one subgroup only"
			default:
				partial = true
			}
			d = d.WithRelated(f.ins[b.pc].op.Span, "%s", why)
			break
		}
	}
	f.run.san.report(key(CodeRace, p.pc, me.pc), withRaceHelp(d, sameWG, partial, spaceName, p.atomic || me.atomic))
}

func withRaceHelp(d diag.Diagnostic, sameWG, partial bool, s space, atomic bool) diag.Diagnostic {
	switch {
	case !sameWG:
		return d.WithHelp("workgroups are ordered only by a release and an acquire at device scope on one atomic cell, each passed to the workgroup by kernel.barrier<global>")
	case atomic:
		return d.WithHelp("make both accesses atomic, or put kernel.barrier<%s> scope(workgroup) ordering(acq_rel) between them", s)
	case partial && s == spaceGlobal:
		return d.WithHelp("fence both spaces: kernel.barrier<global> scope(workgroup) ordering(acq_rel), then kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)")
	}
	return d.WithHelp("put kernel.barrier<%s> scope(workgroup) ordering(acq_rel) between the two accesses", s)
}
