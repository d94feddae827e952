package exec

import (
	"github.com/loomc/loomc/loom"
)

// atomicAccess is the atomic side of an access.
type atomicAccess struct {
	kind     string
	ordering string
	scope    string
	fn       func(old, v uint64) uint64
	result   bool
	exchange bool // compare and swap: b holds expected, xs[3] the replacement
}

var atomicLowerings = map[string]lowering{
	"view.atomic.reduce": lowerAtomic, "view.atomic.rmw": lowerAtomic, "view.atomic.cmpxchg": lowerAtomic,
	"vector.atomic.reduce": lowerAtomic, "vector.atomic.reduce.mask": lowerAtomic,
	"vector.atomic.rmw": lowerAtomic, "vector.atomic.rmw.mask": lowerAtomic, "vector.atomic.cmpxchg": lowerAtomic,
}

func lowerAtomic(l *lowerer, op *loom.Op) {
	view := op.Operand("view")
	value := op.Operand("value")
	a := &atomicAccess{kind: op.Word("kind"), ordering: op.Word("ordering"), scope: op.Word("scope"), result: len(op.Results) > 0}
	if value == nil {
		value, a.exchange = op.Operand("expected"), true
		a.kind = "cmpxchg"
		if a.ordering == "" {
			a.ordering = op.Word("success_ordering")
		}
	} else {
		a.fn = rawCombine(a.kind, view.Type.Elem)
		if a.fn == nil {
			l.fail("no atomic %s on %s", a.kind, view.Type.Elem)
			return
		}
	}
	in, acc := l.memory(op, view, value, true)
	acc.atomic = a
	in.b = l.lane(value)
	if a.exchange {
		in.xs = append(in.xs, l.lane(op.Operand("replacement")))
	}
	if p := op.Operand("passthrough"); p != nil {
		acc.pass = true
		in.xs[2] = l.lane(p)
	}
	if acc.uniAddr {
		in.a = l.splat(in.a, 1)
		acc.uniAddr = false
	}
	if bits, ok := l.isConst(in.xs[0]); !ok || l.c.bufs[bits].space == spaceGlobal {
		l.c.ordered = true
	}
	if a.result {
		in.d = l.newReg(wideKind(acc.kind), false, acc.n)
		l.vals[op.Result()] = val{r: in.d}
	}
	l.checkAccess(in, acc)
	in.run = atomicLanes
	l.emit(in)
}

// atomicLanes performs the lanes' atomics one after the other, lowest first.
func atomicLanes(f *frame, in *instr) {
	acc := in.x.(*access)
	a := acc.atomic
	if acc.pass && a.result {
		passThrough(f, in, acc)
	}
	wide := acc.size == 8
	for _, l32 := range f.active() {
		l := int(l32)
		for e := range acc.n {
			if acc.masked && f.u32[in.c+e*f.L+l]&1 == 0 {
				continue
			}
			id, addr := f.locate(in, acc, l, e)
			data := f.slot(in, acc, id, l, addr)
			old := getElem(data, acc.kind, acc.size)
			v := f.word(wide, in.b+e*f.L+l)
			if a.exchange {
				if old == v {
					putElem(data, acc.size, f.word(wide, in.xs[3]+e*f.L+l))
				}
			} else {
				putElem(data, acc.size, a.fn(old, v))
			}
			if a.result {
				f.setWord(wide, in.d+e*f.L+l, old)
			}
		}
	}
}

func (f *frame) word(wide bool, i int) uint64 {
	if wide {
		return f.u64[i]
	}
	return uint64(f.u32[i])
}

func (f *frame) setWord(wide bool, i int, v uint64) {
	if wide {
		f.u64[i] = v
	} else {
		f.u32[i] = uint32(v)
	}
}
