package exec

import (
	"context"
	"math/bits"
	"unsafe"
)

// mask is a set of lanes.
type mask struct {
	w      []uint64
	lo, hi int // tight bounds of the set: lo is the first lane, hi one past the last
	n      int // number of lanes
	list   []int32
	listed bool
}

func (m *mask) recount() {
	m.n, m.lo, m.hi, m.listed = 0, 0, 0, false
	for i, w := range m.w {
		if w == 0 {
			continue
		}
		if m.n == 0 {
			m.lo = i*64 + bits.TrailingZeros64(w)
		}
		m.hi = i*64 + 64 - bits.LeadingZeros64(w)
		m.n += bits.OnesCount64(w)
	}
}

func (m *mask) has(l int) bool { return m.w[l>>6]>>(l&63)&1 != 0 }

// frame is the state of one workgroup while it runs. Registers live in two
// arenas, one of 32-bit and one of 64-bit words; the float and signed views
// share their storage.
type frame struct {
	code *boundCode
	ins  []instr
	pc   int

	L    int // lanes: items of the workgroup
	wave int // lanes per subgroup

	u32 []uint32
	i32 []int32
	f32 []float32
	u64 []uint64
	i64 []int64
	f64 []float64

	masks   []mask
	m       *mask
	full    bool // m holds every lane
	lo, hi  int
	dead    mask // lanes that left through kernel.exit
	anyDead bool
	ids     []int32 // 0, 1, 2, …

	bufs  []bufState
	geo   Geometry
	wg    [3]int64
	wgLin int64

	ctx    context.Context
	steps  int
	run    *launch
	san    *sanState
	src    []int32
	mma    map[*mmaInfo]*mmaScratch
	hits   []int64 // per counter: items
	waves  []int64 // per counter: subgroups
	hashes []uint64
	// See meet: counts of a zero-factor run, and whether this workgroup has met a
	// NaN.
	nanZero, nanOther int64
	nanSeen           bool
}

// bufState is what a buffer id stands for at the moment.
type bufState struct {
	data   []byte
	stride int64 // bytes per lane of a private buffer, 0 for shared storage
	own    []byte
	info   *bufInfo
}

func words32[T any](s []uint32) []T {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func words64[T any](s []uint64) []T {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

func newFrame(code *boundCode, ln *launch) *frame {
	f := &frame{code: code, ins: code.ins, L: code.lanes, wave: code.wave, run: ln, ctx: ln.ctx, geo: ln.geo}
	f.u32 = make([]uint32, code.size32)
	f.i32, f.f32 = words32[int32](f.u32), words32[float32](f.u32)
	f.u64 = make([]uint64, code.size64)
	f.i64, f.f64 = words64[int64](f.u64), words64[float64](f.u64)
	nw := (f.L + 63) / 64
	f.masks = make([]mask, code.depth+1)
	for i := range f.masks {
		f.masks[i] = mask{w: make([]uint64, nw), list: make([]int32, 0, f.L)}
	}
	f.dead = mask{w: make([]uint64, nw)}
	f.ids = make([]int32, f.L)
	for i := range f.ids {
		f.ids[i] = int32(i)
	}
	f.hits, f.waves = make([]int64, len(code.counters)), make([]int64, len(code.counters))
	f.hashes = make([]uint64, len(code.hashOps))
	f.src = make([]int32, f.L)
	f.bufs = make([]bufState, len(code.bufs))
	for i := range f.bufs {
		f.bufs[i].info = &code.bufs[i]
	}
	for _, c := range code.consts {
		if c.wide {
			fill(f.u64[c.at:c.at+c.n], c.bits)
		} else {
			fill(f.u32[c.at:c.at+c.n], uint32(c.bits))
		}
	}
	return f
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// start resets the masks for a new workgroup.
func (f *frame) start() {
	m := &f.masks[0]
	for i := range m.w {
		m.w[i] = ^uint64(0)
	}
	if r := f.L & 63; r != 0 {
		m.w[len(m.w)-1] = 1<<r - 1
	}
	m.recount()
	clear(f.dead.w)
	f.dead.recount()
	f.anyDead = false
	f.use(m)
	f.pc = 0
	f.nanSeen = false
}

func (f *frame) use(m *mask) {
	f.m = m
	f.full = m.n == f.L
	f.lo, f.hi = m.lo, m.hi
}

// active returns the active lanes in order.
func (f *frame) active() []int32 {
	m := f.m
	if m.n == m.hi-m.lo {
		return f.ids[m.lo:m.hi]
	}
	if !m.listed {
		m.list = m.list[:0]
		for i, w := range m.w {
			for ; w != 0; w &= w - 1 {
				m.list = append(m.list, int32(i*64+bits.TrailingZeros64(w)))
			}
		}
		m.listed = true
	}
	return m.list
}

// exec runs the instruction list from the current pc to its end.
func (f *frame) exec() {
	ins := f.ins
	for f.pc < len(ins) {
		in := &ins[f.pc]
		f.pc++
		in.run(f, in)
	}
}

// loopCheck is called on backward jumps so that a kernel that never ends can be
// cancelled.
func (f *frame) loopCheck() {
	if f.steps++; f.steps&0xff == 0 && f.ctx.Err() != nil {
		panic(cancelled{f.ctx.Err()})
	}
}

type cancelled struct{ err error }

// Elementwise instructions.

// flatFn computes n consecutive words. It is called once for a fully active
// workgroup, else once per component over the span of active lanes: writing a
// temporary of an inactive lane does no harm.
type flatFn func(f *frame, d, a, b, c, n int)

func runFlat(f *frame, in *instr) {
	if f.full {
		in.flat(f, in.d, in.a, in.b, in.c, in.n*f.L)
		return
	}
	w := f.hi - f.lo
	for e, o := 0, f.lo; e < in.n; e, o = e+1, o+f.L {
		in.flat(f, in.d+o, in.a+o, in.b+o, in.c+o, w)
	}
}

func runFlatUniform(f *frame, in *instr) { in.flat(f, in.d, in.a, in.b, in.c, in.n) }

// Moves.

func splat32(f *frame, in *instr) {
	for e := range in.n {
		fill(f.u32[in.d+e*f.L+f.lo:in.d+e*f.L+f.hi], f.u32[in.a+e])
	}
}

func splat64(f *frame, in *instr) {
	for e := range in.n {
		fill(f.u64[in.d+e*f.L+f.lo:in.d+e*f.L+f.hi], f.u64[in.a+e])
	}
}

func moveUniform32(f *frame, in *instr) { copy(f.u32[in.d:in.d+in.n], f.u32[in.a:in.a+in.n]) }
func moveUniform64(f *frame, in *instr) { copy(f.u64[in.d:in.d+in.n], f.u64[in.a:in.a+in.n]) }

func moveFirst32(f *frame, in *instr) {
	for e := range in.n {
		f.u32[in.d+e] = f.u32[in.a+e*f.L+f.lo]
	}
}

func moveFirst64(f *frame, in *instr) {
	for e := range in.n {
		f.u64[in.d+e] = f.u64[in.a+e*f.L+f.lo]
	}
}

// moveLanes copies the active lanes only: its destination is a value that
// several paths write.
func moveLanes32(f *frame, in *instr) { moveLanes(f, in, f.u32) }
func moveLanes64(f *frame, in *instr) { moveLanes(f, in, f.u64) }

func moveLanes[T any](f *frame, in *instr, w []T) {
	if f.full {
		copy(w[in.d:in.d+in.n*f.L], w[in.a:in.a+in.n*f.L])
		return
	}
	dense := f.m.n == f.hi-f.lo
	for e := range in.n {
		d, a := in.d+e*f.L, in.a+e*f.L
		if dense {
			copy(w[d+f.lo:d+f.hi], w[a+f.lo:a+f.hi])
			continue
		}
		for _, l := range f.active() {
			w[d+int(l)] = w[a+int(l)]
		}
	}
}

func moveSplat32(f *frame, in *instr) { moveSplat(f, in, f.u32) }
func moveSplat64(f *frame, in *instr) { moveSplat(f, in, f.u64) }

func moveSplat[T any](f *frame, in *instr, w []T) {
	dense := f.m.n == f.hi-f.lo
	for e := range in.n {
		d, v := in.d+e*f.L, w[in.a+e]
		if dense {
			fill(w[d+f.lo:d+f.hi], v)
			continue
		}
		for _, l := range f.active() {
			w[d+int(l)] = v
		}
	}
}

// gather32 builds a vector from components: xs holds one source per component.
func gather32(f *frame, in *instr) { gatherLanes(f, in, f.u32) }
func gather64(f *frame, in *instr) { gatherLanes(f, in, f.u64) }

func gatherLanes[T any](f *frame, in *instr, w []T) {
	for e, s := range in.xs {
		d := in.d + e*f.L
		copy(w[d+f.lo:d+f.hi], w[s+f.lo:s+f.hi])
	}
}

func gatherUniform32(f *frame, in *instr) {
	for e, s := range in.xs {
		f.u32[in.d+e] = f.u32[s]
	}
}

func gatherUniform64(f *frame, in *instr) {
	for e, s := range in.xs {
		f.u64[in.d+e] = f.u64[s]
	}
}

// Control flow.

func jump(f *frame, in *instr) {
	if in.t <= f.pc {
		f.loopCheck()
	}
	f.pc = in.t
}

// jumpUnless jumps when a uniform i1 is false.
func jumpUnless(f *frame, in *instr) {
	if f.u32[in.a] == 0 {
		f.pc = in.t
	}
}

// jumpUnlessLess jumps when uniform a < b does not hold.
func jumpUnlessLess(f *frame, in *instr) {
	if f.i64[in.a] >= f.i64[in.b] {
		f.pc = in.t
	}
}

// jumpUnlessEqual jumps when the uniform index a differs from imm.
func jumpUnlessEqual(f *frame, in *instr) {
	if f.i64[in.a] != in.imm {
		f.pc = in.t
	}
}

// condBits collects the i1 lanes at a into a bit set.
func (f *frame) condBits(dst []uint64, a int) {
	c := f.u32[a : a+f.L]
	for i := range dst {
		var w uint64
		end := min(64, f.L-i*64)
		for j, v := range c[i*64 : i*64+end] {
			w |= uint64(v&1) << j
		}
		dst[i] = w
	}
}

// maskIf narrows to the lanes where a holds, one level down; without any, it
// jumps.
func maskIf(f *frame, in *instr) {
	outer, m := &f.masks[in.depth], &f.masks[in.depth+1]
	f.condBits(m.w, in.a)
	for i := range m.w {
		m.w[i] &= outer.w[i]
	}
	m.recount()
	if m.n == 0 {
		f.pc = in.t
		return
	}
	f.use(m)
}

// maskElse switches to the lanes of the outer level where a does not hold.
func maskElse(f *frame, in *instr) {
	outer, m := &f.masks[in.depth], &f.masks[in.depth+1]
	f.condBits(m.w, in.a)
	for i := range m.w {
		m.w[i] = outer.w[i] &^ m.w[i] &^ f.dead.w[i]
	}
	m.recount()
	if m.n == 0 {
		f.pc = in.t
		return
	}
	f.use(m)
}

// maskEqual narrows to the lanes where index a equals imm.
func maskEqual(f *frame, in *instr) {
	outer, m := &f.masks[in.depth], &f.masks[in.depth+1]
	clear(m.w)
	for l := range f.L {
		if outer.has(l) && f.i64[in.a+l] == in.imm && !f.dead.has(l) {
			m.w[l>>6] |= 1 << (l & 63)
		}
	}
	m.recount()
	if m.n == 0 {
		f.pc = in.t
		return
	}
	f.use(m)
}

// maskNone narrows to the lanes where index a equals none of the case keys.
func maskNone(f *frame, in *instr) {
	outer, m := &f.masks[in.depth], &f.masks[in.depth+1]
	keys := in.x.([]int64)
	clear(m.w)
lanes:
	for l := range f.L {
		if !outer.has(l) || f.dead.has(l) {
			continue
		}
		for _, k := range keys {
			if f.i64[in.a+l] == k {
				continue lanes
			}
		}
		m.w[l>>6] |= 1 << (l & 63)
	}
	m.recount()
	if m.n == 0 {
		f.pc = in.t
		return
	}
	f.use(m)
}

// maskEnd returns to the level depth; a level left without lanes is skipped.
func maskEnd(f *frame, in *instr) {
	m := &f.masks[in.depth]
	if f.anyDead {
		for i := range m.w {
			m.w[i] &^= f.dead.w[i]
		}
		m.recount()
	}
	f.use(m)
	if m.n == 0 {
		f.pc = in.t
	}
}

// maskLoop opens a loop level that starts with all lanes of the outer one.
func maskLoop(f *frame, in *instr) {
	outer, m := &f.masks[in.depth], &f.masks[in.depth+1]
	copy(m.w, outer.w)
	m.recount()
	f.use(m)
}

// maskWhile drops the lanes of the loop level where a does not hold.
func maskWhile(f *frame, in *instr) {
	m := &f.masks[in.depth]
	var buf [16]uint64
	c := buf[:len(m.w)]
	f.condBits(c, in.a)
	for i := range m.w {
		m.w[i] &= c[i]
	}
	m.recount()
	if m.n == 0 {
		f.pc = in.t
		return
	}
	f.use(m)
}

// exitLanes ends the lanes where a holds.
func exitLanes(f *frame, in *instr) {
	m := &f.masks[in.depth]
	var buf [16]uint64
	c := buf[:len(m.w)]
	f.condBits(c, in.a)
	for i := range m.w {
		f.dead.w[i] |= c[i] & m.w[i]
		m.w[i] &^= c[i]
	}
	m.recount()
	f.dead.recount()
	f.anyDead = f.dead.n > 0
	f.use(m)
	if m.n == 0 {
		f.pc = in.t
	}
}

// A region of several blocks keeps, per lane, the number of the block the lane
// is at. Blocks are numbered in reverse postorder; the lowest one with waiting
// lanes runs next, which makes lanes meet again where their paths join.

func cfgEnter(f *frame, in *instr) {
	for _, l := range f.active() {
		f.i32[in.d+int(l)] = 0
	}
}

// cfgNext picks the next block; xs are the blocks' code positions, t is the end.
func cfgNext(f *frame, in *instr) {
	f.loopCheck()
	outer, m := &f.masks[in.depth], &f.masks[in.depth+1]
	low := int32(len(in.xs))
	for l := range f.L {
		if outer.has(l) && !f.dead.has(l) {
			low = min(low, f.i32[in.a+l])
		}
	}
	if int(low) == len(in.xs) {
		f.pc = in.t
		return
	}
	clear(m.w)
	for l := range f.L {
		if outer.has(l) && !f.dead.has(l) && f.i32[in.a+l] == low {
			m.w[l>>6] |= 1 << (l & 63)
		}
	}
	m.recount()
	f.use(m)
	f.pc = in.xs[low]
}

// cfgSet sends the active lanes to block imm.
func cfgSet(f *frame, in *instr) {
	for _, l := range f.active() {
		f.i32[in.d+int(l)] = int32(in.imm)
	}
}
