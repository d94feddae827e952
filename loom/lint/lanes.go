package lint

import (
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

// laneValues computes index values for one lane of the first subgroup of the first
// workgroup, in the first trip of loops that start at a lane's own value.
type laneValues struct {
	b    *body
	lane int64
	vals map[*loom.Value]int64
	bad  map[*loom.Value]bool
}

func (b *body) lane(l int64) *laneValues {
	return &laneValues{b: b, lane: l, vals: map[*loom.Value]int64{}, bad: map[*loom.Value]bool{}}
}

// of returns v in this lane, false when it depends on something unknown.
func (e *laneValues) of(v *loom.Value) (int64, bool) {
	if x, ok := e.vals[v]; ok {
		return x, true
	}
	if e.bad[v] {
		return 0, false
	}
	x, ok := e.compute(v)
	if ok {
		e.vals[v] = x
	} else {
		e.bad[v] = true
	}
	return x, ok
}

func (e *laneValues) compute(v *loom.Value) (int64, bool) {
	if c, ok := e.b.facts.Of(v).Const(); ok && !v.Type.Element().IsFloat() {
		return c, true
	}
	op := v.Def
	if op == nil {
		if blk := v.Block; blk != nil && blk.Region != nil && blk.Region.Op != nil && blk.Region.Op.Name() == "scf.for" && v.Index == 0 {
			return e.of(blk.Region.Op.Operand("lower_bound"))
		}
		return 0, false
	}
	switch op.Name() {
	case "kernel.workitem.id":
		return e.item(op.Word("dimension"))
	case "kernel.subgroup.lane.id":
		return e.lane, true
	case "kernel.subgroup.id":
		return 0, true
	case "scf.select":
		c, ok := e.of(op.Operands[0])
		if !ok {
			return 0, false
		}
		if c != 0 {
			return e.of(op.Operands[1])
		}
		return e.of(op.Operands[2])
	case "index.cast":
		return e.of(op.Operands[0])
	}
	if op.Def.Traits&loom.Fact != 0 && int(v.Index) < len(op.Operands) {
		return e.of(op.Operands[v.Index])
	}
	if len(op.Operands) == 0 || len(op.Operands) > 3 || op.Def.Traits&loom.Pure == 0 || len(op.Regions) > 0 {
		return 0, false
	}
	var x [3]int64
	for i, o := range op.Operands {
		var ok bool
		if x[i], ok = e.of(o); !ok {
			return 0, false
		}
	}
	return arithmetic(op, x[0], x[1], x[2])
}

// item is the work item's number along an axis: x runs fastest.
func (e *laneValues) item(axis string) (int64, bool) {
	size := func(i int) (int64, bool) {
		if e.b.kernel != nil && e.b.kernel.WorkgroupSize[i] > 0 {
			return e.b.kernel.WorkgroupSize[i], true
		}
		return e.b.facts.Launch.Size[i].Const()
	}
	sx, okX := size(0)
	sy, okY := size(1)
	switch axis {
	case "x":
		if okX && sx > 0 {
			return e.lane % sx, true
		}
		return e.lane, e.b.kernel == nil || e.b.facts.Launch.Size[0].Lo >= e.b.wave
	case "y":
		if okX && okY && sx > 0 && sy > 0 {
			return e.lane / sx % sy, true
		}
	case "z":
		if okX && okY && sx > 0 && sy > 0 {
			return e.lane / (sx * sy), true
		}
	}
	return 0, false
}

func arithmetic(op *loom.Op, a, b, c int64) (int64, bool) {
	truth := func(t bool) (int64, bool) {
		if t {
			return 1, true
		}
		return 0, true
	}
	switch suffix(op) {
	case "add", "addi":
		return a + b, true
	case "sub", "subi":
		return a - b, true
	case "mul", "muli", "scale":
		return a * b, true
	case "madd", "fmai":
		return a*b + c, true
	case "div", "divsi", "divui":
		if b <= 0 || a < 0 {
			return 0, false
		}
		return a / b, true
	case "rem", "remsi", "remui":
		if b <= 0 || a < 0 {
			return 0, false
		}
		return a % b, true
	case "min", "minsi":
		return min(a, b), true
	case "max", "maxsi":
		return max(a, b), true
	case "andi":
		return a & b, true
	case "ori":
		return a | b, true
	case "xori":
		return a ^ b, true
	case "shli":
		return a << (b & 63), b >= 0 && b < 63
	case "shrui", "shrsi":
		return a >> (b & 63), b >= 0 && b < 63 && a >= 0
	case "extui", "extsi", "trunci":
		return a, a >= 0 && a < 1<<15
	case "cmp", "cmpi":
		switch op.Word("predicate") {
		case "eq":
			return truth(a == b)
		case "ne":
			return truth(a != b)
		case "lt", "slt":
			return truth(a < b)
		case "le", "sle":
			return truth(a <= b)
		case "gt", "sgt":
			return truth(a > b)
		case "ge", "sge":
			return truth(a >= b)
		case "ult":
			return truth(uint64(a) < uint64(b))
		case "ule":
			return truth(uint64(a) <= uint64(b))
		case "ugt":
			return truth(uint64(a) > uint64(b))
		case "uge":
			return truth(uint64(a) >= uint64(b))
		}
	}
	return 0, false
}

// address returns the part of an address that differs between the lanes, in this
// lane. What all lanes share is left out.
func (e *laneValues) address(s sum) (int64, bool) {
	var at int64
	for _, t := range s.terms {
		uniform := true
		for _, a := range t.atoms {
			uniform = uniform && e.b.facts.Of(e.b.sym.vals[a]).Uniform >= facts.UniformSubgroup
		}
		if uniform {
			continue
		}
		p := t.coef
		for _, a := range t.atoms {
			x, ok := e.of(e.b.sym.vals[a])
			if !ok {
				return 0, false
			}
			p *= x
		}
		at += p
	}
	return at, true
}

// active reports whether the branches around op are taken in this lane, as far as
// they are known.
func (e *laneValues) active(op *loom.Op) bool {
	for _, g := range e.b.guardsOf(op) {
		if c, ok := e.of(g.cond); ok && g.op.Name() == "scf.if" && (c != 0) == g.not {
			return false
		}
	}
	return true
}
