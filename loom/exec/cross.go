package exec

import (
	"math"
	"strings"

	"github.com/loomc/loomc/loom"
)

// rawCombine returns a reduction or atomic kind as a function of element bits.
func rawCombine(kind string, k loom.Kind) func(a, b uint64) uint64 {
	switch kind {
	case "xchgi", "xchgf":
		return func(_, b uint64) uint64 { return b }
	}
	if strings.HasSuffix(kind, "f") {
		op := binaryFloats[kind]
		if op == nil || !k.IsFloat() {
			return nil
		}
		switch k {
		case loom.F32:
			if kind == "addf" {
				return func(a, b uint64) uint64 {
					return uint64(math.Float32bits(math.Float32frombits(uint32(a)) + math.Float32frombits(uint32(b))))
				}
			}
			return func(a, b uint64) uint64 {
				return uint64(math.Float32bits(float32(op(float64(math.Float32frombits(uint32(a))), float64(math.Float32frombits(uint32(b)))))))
			}
		}
		return func(a, b uint64) uint64 { return floatBits(k, op(floatValue(k, a), floatValue(k, b))) }
	}
	op := binaryInts[kind]
	if op == nil || k.IsFloat() {
		return nil
	}
	w, m := uint(k.Bits()), widthMask(k)
	return func(a, b uint64) uint64 { return op(a, b, w) & m }
}

// identity returns the neutral element of a reduction kind, for exclusive
// scans.
func identity(kind string, k loom.Kind) uint64 {
	w := uint(k.Bits())
	switch kind {
	case "muli":
		return 1
	case "mulf":
		return floatBits(k, 1)
	case "minsi":
		return widthMask(k) >> 1
	case "maxsi":
		return 1 << (w - 1)
	case "minui", "andi":
		return widthMask(k)
	case "minnumf", "minimumf":
		return floatBits(k, math.Inf(1))
	case "maxnumf", "maximumf":
		return floatBits(k, math.Inf(-1))
	}
	return 0
}

var kernelLowerings = map[string]lowering{
	"kernel.workgroup.id":         axisValue(true, func(f *frame, ax, _ int) int64 { return f.wg[ax] }),
	"kernel.workgroup.count":      axisValue(true, func(f *frame, ax, _ int) int64 { return f.geo.Count[ax] }),
	"kernel.workgroup.size":       axisValue(true, func(f *frame, ax, _ int) int64 { return f.geo.Size[ax] }),
	"kernel.workitem.id":          axisValue(false, workitem),
	"kernel.workitem.dispatch.id": axisValue(false, func(f *frame, ax, l int) int64 { return f.wg[ax]*f.geo.Size[ax] + workitem(f, ax, l) }),
	"kernel.subgroup.id":          axisValue(false, func(f *frame, _, l int) int64 { return int64(l / f.wave) }),
	"kernel.subgroup.lane.id":     axisValue(false, func(f *frame, _, l int) int64 { return int64(l % f.wave) }),
	"kernel.subgroup.size":        axisValue(true, func(f *frame, _, _ int) int64 { return int64(f.wave) }),
	"kernel.subgroup.count":       axisValue(true, func(f *frame, _, _ int) int64 { return int64((f.L + f.wave - 1) / f.wave) }),
	"kernel.cluster.id":           axisValue(true, func(f *frame, ax, _ int) int64 { return f.wg[ax] / max(f.geo.Cluster[ax], 1) }),
	"kernel.cluster.size":         axisValue(true, func(f *frame, ax, _ int) int64 { return max(f.geo.Cluster[ax], 1) }),
	"kernel.cluster.count":        axisValue(true, func(f *frame, ax, _ int) int64 { return f.geo.Count[ax] / max(f.geo.Cluster[ax], 1) }),
	"kernel.cluster.workgroup.id": axisValue(true, func(f *frame, ax, _ int) int64 { return f.wg[ax] % max(f.geo.Cluster[ax], 1) }),
	"kernel.cluster.workgroup.flat_id": axisValue(true, func(f *frame, _, _ int) int64 {
		c := f.geo.Cluster
		x, y, z := max(c[0], 1), max(c[1], 1), max(c[2], 1)
		return f.wg[0]%x + x*(f.wg[1]%y+y*(f.wg[2]%z))
	}),

	"kernel.subgroup.reduce": lowerGroupReduce, "kernel.workgroup.reduce": lowerGroupReduce,
	"kernel.subgroup.scan": lowerScan, "kernel.workgroup.scan": lowerScan,
	"kernel.subgroup.shuffle": lowerSubgroupShuffle, "kernel.subgroup.broadcast": lowerBroadcastLane, "kernel.subgroup.broadcast.first": lowerBroadcastLane,
	"kernel.subgroup.active.mask": lowerVote, "kernel.subgroup.vote.ballot": lowerVote,
	"kernel.subgroup.vote.all": lowerVote, "kernel.subgroup.vote.any": lowerVote,
	"kernel.workgroup.vote.all": lowerWorkgroupVote, "kernel.workgroup.vote.any": lowerWorkgroupVote, "kernel.workgroup.vote.count": lowerWorkgroupVote,
	"kernel.subgroup.match.any": lowerMatch, "kernel.subgroup.match.all": lowerMatch,
}

func workitem(f *frame, ax, l int) int64 {
	sx, sy := f.geo.Size[0], f.geo.Size[1]
	switch ax {
	case 0:
		return int64(l) % sx
	case 1:
		return int64(l) / sx % sy
	}
	return int64(l) / (sx * sy)
}

func axisValue(uniform bool, get func(f *frame, ax, l int) int64) lowering {
	return func(l *lowerer, op *loom.Op) {
		ax := max(strings.Index("xyz", op.Word("dimension")), 0)
		d := l.newReg(true, uniform, 1)
		l.vals[op.Result()] = val{r: d, uni: uniform}
		l.emit(lowered{run: func(f *frame, in *instr) {
			if uniform {
				f.i64[in.d] = get(f, ax, 0)
				return
			}
			for l := f.lo; l < f.hi; l++ {
				f.i64[in.d+l] = get(f, ax, l)
			}
		}, d: d})
	}
}

// cluster lists the lanes of cluster c of a subgroup: size lanes at distance
// step.
func clusterLanes(out []int, wave, size, step, c int) []int {
	out = out[:0]
	block, j := c/step*size*step, c%step
	for i := range size {
		if l := block + j + i*step; l < wave {
			out = append(out, l)
		}
	}
	return out
}

// tree combines the present values, neighbours first, and returns the result
// and whether there was any value.
func tree(v []uint64, has []bool, fn func(a, b uint64) uint64) (uint64, bool) {
	n := len(v)
	if n == 0 {
		return 0, false
	}
	for s := 1; s < n; s *= 2 {
		for i := 0; i+s < n; i += 2 * s {
			switch {
			case has[i] && has[i+s]:
				v[i] = fn(v[i], v[i+s])
			case has[i+s]:
				v[i], has[i] = v[i+s], true
			}
		}
	}
	return v[0], has[0]
}

func lowerGroupReduce(l *lowerer, op *loom.Op) {
	v, res := op.Operand("value"), op.Result()
	k := v.Type.Element()
	fn := rawCombine(op.Word("kind"), k)
	if fn == nil {
		l.fail("cannot reduce %s with %s", v.Type, op.Word("kind"))
		return
	}
	wide := wideKind(k)
	n := l.count(v.Type)
	if op.Name() == "kernel.workgroup.reduce" {
		uni := !l.varying[res]
		d := l.newReg(wide, uni, n)
		l.vals[res] = val{r: d, uni: uni}
		l.emit(lowered{run: func(f *frame, in *instr) { workgroupReduce(f, in, wide, uni, fn) }, d: d, a: l.lane(v), n: n})
		return
	}
	size, step := int(op.Attr("cluster_size").Int), int(op.Attr("cluster_stride").Int)
	d := l.newReg(wide, false, n)
	l.vals[res] = val{r: d}
	l.emit(lowered{run: func(f *frame, in *instr) {
		cs, st := size, max(step, 1)
		if cs <= 0 {
			cs, st = f.wave, 1
		}
		var lanes [64]int
		var v [64]uint64
		var has [64]bool
		f.eachSubgroup(func(base, width int) {
			for c := 0; c < f.wave/cs; c++ {
				ls := clusterLanes(lanes[:], min(width, f.wave), cs, st, c)
				for e := range in.n {
					for i, l := range ls {
						has[i] = f.m.has(base + l)
						v[i] = f.word(wide, in.a+e*f.L+base+l)
					}
					r, ok := tree(v[:len(ls)], has[:len(ls)], fn)
					if !ok {
						continue
					}
					for _, l := range ls {
						if f.m.has(base + l) {
							f.setWord(wide, in.d+e*f.L+base+l, r)
						}
					}
				}
			}
		})
	}, d: d, a: l.lane(v), n: n})
}

// eachSubgroup calls g with the first lane and the width of every subgroup that
// has active lanes.
func (f *frame) eachSubgroup(g func(base, width int)) {
	for base := f.lo / f.wave * f.wave; base < f.hi; base += f.wave {
		g(base, min(f.wave, f.L-base))
	}
}

func workgroupReduce(f *frame, in *instr, wide, uni bool, fn func(a, b uint64) uint64) {
	var v [64]uint64
	var has [64]bool
	nw := (f.L + f.wave - 1) / f.wave
	part, present := make([]uint64, nw), make([]bool, nw)
	for e := range in.n {
		clear(present)
		f.eachSubgroup(func(base, width int) {
			for i := range width {
				has[i] = f.full || f.m.has(base+i)
				v[i] = f.word(wide, in.a+e*f.L+base+i)
			}
			w := base / f.wave
			part[w], present[w] = tree(v[:width], has[:width], fn)
		})
		r, ok := tree(part, present, fn)
		if !ok {
			continue
		}
		if uni {
			f.setWord(wide, in.d+e, r)
			continue
		}
		for _, l := range f.active() {
			f.setWord(wide, in.d+e*f.L+int(l), r)
		}
	}
}

func lowerScan(l *lowerer, op *loom.Op) {
	v, res := op.Operand("value"), op.Result()
	k := v.Type.Element()
	kind := op.Word("kind")
	fn := rawCombine(kind, k)
	if fn == nil {
		l.fail("cannot scan %s with %s", v.Type, kind)
		return
	}
	wide := wideKind(k)
	n := l.count(v.Type)
	zero := identity(kind, k)
	exclusive := op.Word("mode") == "exclusive"
	reverse := op.Word("direction") == "reverse"
	whole := op.Name() == "kernel.workgroup.scan"
	size, step := int(op.Attr("cluster_size").Int), max(int(op.Attr("cluster_stride").Int), 1)
	d := l.newReg(wide, false, n)
	l.vals[res] = val{r: d}
	l.emit(lowered{run: func(f *frame, in *instr) {
		pass := func(e int, lanes []int) {
			acc, any := zero, false
			for i := range lanes {
				l := lanes[i]
				if reverse {
					l = lanes[len(lanes)-1-i]
				}
				if !f.m.has(l) {
					continue
				}
				x := f.word(wide, in.a+e*f.L+l)
				if exclusive {
					f.setWord(wide, in.d+e*f.L+l, acc)
				}
				if any {
					acc = fn(acc, x)
				} else {
					acc, any = x, true
				}
				if !exclusive {
					f.setWord(wide, in.d+e*f.L+l, acc)
				}
			}
		}
		if whole {
			lanes := sequence(f.L)
			for e := range in.n {
				pass(e, lanes)
			}
			return
		}
		cs, st := size, step
		if cs <= 0 {
			cs, st = f.wave, 1
		}
		var buf [64]int
		f.eachSubgroup(func(base, width int) {
			for c := 0; c < f.wave/cs; c++ {
				ls := clusterLanes(buf[:], width, cs, st, c)
				for i := range ls {
					ls[i] += base
				}
				for e := range in.n {
					pass(e, ls)
				}
			}
		})
	}, d: d, a: l.lane(v), n: n})
}

// lowerSubgroupShuffle reads another lane inside segments of width lanes. A
// lane whose source is outside the segment or inactive keeps its own value and
// gets false.
func lowerSubgroupShuffle(l *lowerer, op *loom.Op) {
	v := op.Operand("value")
	k := v.Type.Element()
	wide := wideKind(k)
	n := l.count(v.Type)
	mode := op.Word("mode")
	d := l.newReg(wide, false, n)
	l.vals[op.Results[0]] = val{r: d}
	var ok ref
	if len(op.Results) > 1 {
		ok = l.newReg(false, false, 1)
		l.vals[op.Results[1]] = val{r: ok}
	}
	in := lowered{d: d, a: l.lane(v), b: l.lane(op.Operand("offset")), c: l.lane(op.Operand("width")), xs: []ref{ok}, n: n}
	in.run = func(f *frame, in *instr) {
		f.eachSubgroup(func(base, width int) {
			for i := range width {
				l := base + i
				if !f.m.has(l) {
					continue
				}
				w := int(f.i32[in.c+l])
				if w <= 0 || w > f.wave {
					w = f.wave
				}
				off := int(f.i32[in.b+l])
				seg := i / w * w
				src := -1
				switch mode {
				case "xor":
					src = i ^ off
				case "up":
					src = i - off
				case "down":
					src = i + off
				default:
					src = seg + off
				}
				valid := src >= seg && src < seg+w && src < width && f.m.has(base+src)
				if !valid {
					src = i
				}
				for e := range in.n {
					f.setWord(wide, in.d+e*f.L+l, f.word(wide, in.a+e*f.L+base+src))
				}
				if in.xs[0] >= 0 {
					f.u32[in.xs[0]+l] = b2u(valid)
				}
			}
		})
	}
	l.emit(in)
}

func lowerBroadcastLane(l *lowerer, op *loom.Op) {
	v := op.Operand("value")
	wide := wideKind(v.Type.Element())
	n := l.count(v.Type)
	lane := op.Operand("lane")
	in := lowered{d: l.newReg(wide, false, n), a: l.lane(v), n: n}
	l.vals[op.Result()] = val{r: in.d}
	var lw bool
	if lane != nil {
		in.b = l.lane(lane)
		lw = wideKind(lane.Type.Element())
	}
	in.run = func(f *frame, in *instr) {
		f.eachSubgroup(func(base, width int) {
			src := -1
			for i := range width {
				if f.m.has(base + i) {
					src = i
					break
				}
			}
			if src < 0 {
				return
			}
			if in.b >= 0 {
				src = int(f.word(lw, in.b+base+src))
				if src < 0 || src >= width {
					src = 0
				}
			}
			for i := range width {
				if f.m.has(base + i) {
					for e := range in.n {
						f.setWord(wide, in.d+e*f.L+base+i, f.word(wide, in.a+e*f.L+base+src))
					}
				}
			}
		})
	}
	l.emit(in)
}

func lowerVote(l *lowerer, op *loom.Op) {
	res := op.Result()
	wide := wideKind(res.Type.Element())
	kind := op.Name()[strings.LastIndexByte(op.Name(), '.')+1:]
	in := lowered{d: l.newReg(wide, false, 1)}
	l.vals[res] = val{r: in.d}
	if p := op.Operand("predicate"); p != nil {
		in.a = l.lane(p)
	}
	in.run = func(f *frame, in *instr) {
		f.eachSubgroup(func(base, width int) {
			var yes, act uint64
			for i := range width {
				if !f.m.has(base + i) {
					continue
				}
				act |= 1 << i
				if in.a >= 0 && f.u32[in.a+base+i]&1 != 0 {
					yes |= 1 << i
				}
			}
			var r uint64
			switch kind {
			case "mask":
				r = act
			case "ballot":
				r = yes
			case "all":
				r = uint64(b2u(yes == act))
			default:
				r = uint64(b2u(yes != 0))
			}
			for i := range width {
				if f.m.has(base + i) {
					f.setWord(wide, in.d+base+i, r)
				}
			}
		})
	}
	l.emit(in)
}

func lowerWorkgroupVote(l *lowerer, op *loom.Op) {
	res := op.Result()
	wide := wideKind(res.Type.Element())
	kind := op.Name()[strings.LastIndexByte(op.Name(), '.')+1:]
	uni := !l.varying[res]
	in := lowered{d: l.newReg(wide, uni, 1), a: l.lane(op.Operand("predicate"))}
	l.vals[res] = val{r: in.d, uni: uni}
	in.run = func(f *frame, in *instr) {
		yes, act := 0, 0
		for _, l := range f.active() {
			act++
			yes += int(f.u32[in.a+int(l)] & 1)
		}
		r := uint64(yes)
		switch kind {
		case "all":
			r = uint64(b2u(yes == act))
		case "any":
			r = uint64(b2u(yes > 0))
		}
		if uni {
			f.setWord(wide, in.d, r)
			return
		}
		for _, l := range f.active() {
			f.setWord(wide, in.d+int(l), r)
		}
	}
	l.emit(in)
}

func lowerMatch(l *lowerer, op *loom.Op) {
	v := op.Operand("value")
	wide := wideKind(v.Type.Element())
	n := l.count(v.Type)
	mask := op.Results[0]
	mw := wideKind(mask.Type.Element())
	all := op.Name() == "kernel.subgroup.match.all"
	in := lowered{d: l.newReg(mw, false, 1), a: l.lane(v), n: n, xs: []ref{none}}
	l.vals[mask] = val{r: in.d}
	if len(op.Results) > 1 {
		in.xs[0] = l.newReg(false, false, 1)
		l.vals[op.Results[1]] = val{r: in.xs[0]}
	}
	in.run = func(f *frame, in *instr) {
		same := func(a, b int) bool {
			for e := range in.n {
				if f.word(wide, in.a+e*f.L+a) != f.word(wide, in.a+e*f.L+b) {
					return false
				}
			}
			return true
		}
		f.eachSubgroup(func(base, width int) {
			for i := range width {
				if !f.m.has(base + i) {
					continue
				}
				var eq, act uint64
				for j := range width {
					if f.m.has(base + j) {
						act |= 1 << j
						if same(base+i, base+j) {
							eq |= 1 << j
						}
					}
				}
				flag := eq == act
				if all && !flag {
					eq = 0
				}
				f.setWord(mw, in.d+base+i, eq)
				if in.xs[0] >= 0 {
					f.u32[in.xs[0]+base+i] = b2u(flag)
				}
			}
		})
	}
	l.emit(in)
}

func lowerAssert(l *lowerer, op *loom.Op) {
	msg := op.Attr("message").Str
	if msg == "" {
		msg = "the condition is false"
	}
	l.emit(lowered{run: func(f *frame, in *instr) {
		for _, l := range f.active() {
			if f.u32[in.a+int(l)]&1 == 0 {
				panic(fault{in: in, lane: int(l), msg: "assertion failed: " + msg})
			}
		}
	}, a: l.lane(op.Operand("condition"))})
}
