package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/loomc/loomc/loom"
)

// fault stops a workgroup: an access outside its buffer, a failed assertion.
type fault struct {
	in   *instr
	lane int // -1 none
	addr int64
	msg  string
}

func (f *frame) outside(in *instr, l int, addr, size int64, id int) {
	verb := "reads"
	if acc, ok := in.x.(*access); ok && acc.write {
		verb = "writes"
	}
	name := fmt.Sprintf("buffer %d", id)
	if id < len(f.bufs) {
		name = f.bufs[id].info.describe()
	}
	panic(fault{in: in, lane: l, addr: addr, msg: fmt.Sprintf("%s bytes [%d, %d) of %s, which has %d bytes", verb, addr, addr+size, name, f.bufLen(id))})
}

func (b *bufInfo) describe() string {
	if b.binding >= 0 {
		return "binding %" + b.name
	}
	return b.space.String() + " memory %" + b.name
}

// alloc gives buffer id n bytes for this execution of its alloca. What was
// there before is unspecified, so it is overwritten with the fill pattern.
func (f *frame) alloc(id int, n int64, in *instr) {
	const limit = 1 << 30
	b := &f.bufs[id]
	total := n
	if b.info.lanes {
		b.stride = n
		total = n * int64(f.L)
	}
	if n < 0 || total > limit {
		panic(fault{in: in, lane: -1, msg: fmt.Sprintf("allocates %d bytes of %s memory", n, b.info.space)})
	}
	if int64(cap(b.own)) < total {
		b.own = make([]byte, total)
	}
	b.data = b.own[:total]
	f.run.fillBytes(b.data, uint64(f.wgLin)<<16|uint64(id))
	if f.san != nil {
		f.san.allocated(f, id)
	}
}

// memLoop moves one component of the listed lanes between memory and registers.
type memLoop func(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int

// addressing of a component: either its own address array or the first one plus
// a byte distance.

func loopFor(acc *access) memLoop {
	if acc.write {
		switch acc.size {
		case 1:
			return store8
		case 2:
			return store16
		case 4:
			return store32
		}
		return store64
	}
	switch {
	case acc.size == 1 && acc.kind == loom.I1:
		return loadBool
	case acc.size == 1:
		return load8
	case acc.size == 2:
		return load16
	case acc.size == 4:
		return load32
	}
	return load64
}

// Each loop returns the first lane whose address is outside, or -1.

func load8(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	d := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		d[l] = uint32(data[o])
	}
	return -1
}

func loadBool(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	d := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		d[l] = uint32(data[o] & 1)
	}
	return -1
}

func load16(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	d := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		d[l] = uint32(binary.LittleEndian.Uint16(data[o:]))
	}
	return -1
}

func load32(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	d := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		d[l] = binary.LittleEndian.Uint32(data[o:])
	}
	return -1
}

func load64(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	d := f.u64[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		d[l] = binary.LittleEndian.Uint64(data[o:])
	}
	return -1
}

func store8(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	s := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		data[o] = byte(s[l])
	}
	return -1
}

func store16(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	s := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		binary.LittleEndian.PutUint16(data[o:], uint16(s[l]))
	}
	return -1
}

func store32(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	s := f.u32[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		binary.LittleEndian.PutUint32(data[o:], s[l])
	}
	return -1
}

func store64(f *frame, data []byte, addr []int64, reg int, off, size, lim int64, lanes []int32) int {
	s := f.u64[reg : reg+f.L]
	for _, l := range lanes {
		o := addr[l] + off
		if uint64(o) > uint64(lim) {
			return int(l)
		}
		binary.LittleEndian.PutUint64(data[o:], s[l])
	}
	return -1
}

// element reads and writes one element as register bits.

func getElem(data []byte, kind loom.Kind, size int64) uint64 {
	switch size {
	case 1:
		if kind == loom.I1 {
			return uint64(data[0] & 1)
		}
		return uint64(data[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(data))
	case 4:
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return binary.LittleEndian.Uint64(data)
}

func putElem(data []byte, size int64, v uint64) {
	switch size {
	case 1:
		data[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(data, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(data, uint32(v))
	default:
		binary.LittleEndian.PutUint64(data, v)
	}
}

// loadUniform reads one value for the whole workgroup.
func loadUniform(f *frame, in *instr) {
	acc := in.x.(*access)
	id := int(f.u32[in.xs[0]])
	b := &f.bufs[id]
	addr := f.i64[in.a]
	step := acc.step
	if acc.stepReg {
		step *= f.i64[in.xs[1]]
	}
	for e := range acc.n {
		o := addr + int64(e)*step
		if o < 0 || o > int64(len(b.data))-acc.size {
			f.outside(in, f.lo, o, acc.size, id)
		}
		v := getElem(b.data[o:], acc.kind, acc.size)
		if acc.size == 8 {
			f.u64[in.d+e] = v
		} else {
			f.u32[in.d+e] = uint32(v)
		}
	}
}

func loadLanes(f *frame, in *instr) {
	acc := in.x.(*access)
	if acc.pass {
		passThrough(f, in, acc)
	}
	f.eachComponent(in, acc, in.d)
}

func storeLanes(f *frame, in *instr) { f.eachComponent(in, in.x.(*access), in.b) }

// passThrough fills the result with the pass-through before the active
// components are read.
func passThrough(f *frame, in *instr, acc *access) {
	for e := range acc.n {
		d, p := in.d+e*f.L, in.xs[2]+e*f.L
		if acc.size == 8 {
			copy(f.u64[d+f.lo:d+f.hi], f.u64[p+f.lo:p+f.hi])
		} else {
			copy(f.u32[d+f.lo:d+f.hi], f.u32[p+f.lo:p+f.hi])
		}
	}
}

// eachComponent runs the access loop for every component, on the fast path
// without further decisions per lane.
func (f *frame) eachComponent(in *instr, acc *access, reg int) {
	lanes := f.active()
	if !acc.uniID || acc.stepReg {
		f.slowComponents(in, acc, reg)
		return
	}
	id := int(f.u32[in.xs[0]])
	b := &f.bufs[id]
	if b.stride > 0 {
		f.slowComponents(in, acc, reg)
		return
	}
	lim := int64(len(b.data)) - acc.size
	for e := range acc.n {
		run := lanes
		if acc.masked {
			run = f.where(lanes, in.c+e*f.L)
		}
		addr, off := f.i64[in.a:in.a+f.L], int64(e)*acc.step
		if acc.indexed {
			addr, off = f.i64[in.a+e*f.L:in.a+(e+1)*f.L], 0
		}
		if lim < 0 && len(run) > 0 {
			f.outside(in, int(run[0]), addr[run[0]]+off, acc.size, id)
		}
		if l := acc.mem(f, b.data, addr, reg+e*f.L, off, acc.size, lim, run); l >= 0 {
			f.outside(in, l, addr[l]+off, acc.size, id)
		}
	}
}

// where returns the lanes whose i1 at reg holds.
func (f *frame) where(lanes []int32, reg int) []int32 {
	out := f.src[:0]
	for _, l := range lanes {
		if f.u32[reg+int(l)]&1 != 0 {
			out = append(out, l)
		}
	}
	return out
}

// locate returns the buffer and byte address of one component of one lane.
func (f *frame) locate(in *instr, acc *access, l, e int) (id int, addr int64) {
	if acc.uniID {
		id = int(f.u32[in.xs[0]])
	} else {
		id = int(f.u32[in.xs[0]+l])
	}
	if acc.indexed {
		return id, f.i64[in.a+e*f.L+l]
	}
	step := acc.step
	if acc.stepReg {
		if acc.stepUni {
			step *= f.i64[in.xs[1]]
		} else {
			step *= f.i64[in.xs[1]+l]
		}
	}
	return id, f.i64[in.a+l] + int64(e)*step
}

// slowComponents handles private memory, buffers that differ per lane and
// strides in registers.
func (f *frame) slowComponents(in *instr, acc *access, reg int) {
	for _, l32 := range f.active() {
		l := int(l32)
		for e := range acc.n {
			if acc.masked && f.u32[in.c+e*f.L+l]&1 == 0 {
				continue
			}
			id, addr := f.locate(in, acc, l, e)
			data := f.slot(in, acc, id, l, addr)
			r := reg + e*f.L + l
			switch {
			case acc.write && acc.size == 8:
				putElem(data, 8, f.u64[r])
			case acc.write:
				putElem(data, acc.size, uint64(f.u32[r]))
			case acc.size == 8:
				f.u64[r] = getElem(data, acc.kind, 8)
			default:
				f.u32[r] = uint32(getElem(data, acc.kind, acc.size))
			}
		}
	}
}

// slot returns the bytes of an element, or stops the workgroup.
func (f *frame) slot(in *instr, acc *access, id, l int, addr int64) []byte {
	if id >= len(f.bufs) {
		f.outside(in, l, addr, acc.size, id)
	}
	b := &f.bufs[id]
	if addr < 0 || addr+acc.size > f.bufLen(id) {
		f.outside(in, l, addr, acc.size, id)
	}
	if b.stride > 0 {
		addr += int64(l) * b.stride
	}
	return b.data[addr : addr+acc.size]
}
