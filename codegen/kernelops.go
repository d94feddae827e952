package codegen

import (
	"math/bits"

	"github.com/loomc/loomc/loom"
)

var kernelOps = map[string]emitFunc{
	"kernel.workgroup.id": emitGroupID, "kernel.workgroup.count": emitGroupCount, "kernel.workgroup.size": emitGroupSize,
	"kernel.workitem.id": emitItemID, "kernel.workitem.dispatch.id": emitDispatchID,
	"kernel.subgroup.id": emitWaveID, "kernel.subgroup.lane.id": emitLaneID,
	"kernel.subgroup.size":  func(e *emitter, op *loom.Op) { e.let(op.Result(), itoa(int64(e.wave))) },
	"kernel.subgroup.count": func(e *emitter, op *loom.Op) { e.let(op.Result(), itoa(e.waves())) },
	"kernel.barrier":        emitBarrier, "kernel.exit": emitExit, "kernel.assert": emitAssert,
	"kernel.cluster.size":              func(e *emitter, op *loom.Op) { e.let(op.Result(), "1") },
	"kernel.cluster.workgroup.id":      func(e *emitter, op *loom.Op) { e.let(op.Result(), "0") },
	"kernel.cluster.workgroup.flat_id": func(e *emitter, op *loom.Op) { e.let(op.Result(), "0") },
	"kernel.cluster.id":                emitGroupID,
	"kernel.cluster.count":             emitGroupCount,
}

func axis(op *loom.Op) int { return int(op.Word("dimension")[0] - 'x') }

// waves is the number of subgroups in the workgroup.
func (e *emitter) waves() int64 { return (e.items + int64(e.wave) - 1) / int64(e.wave) }

func emitGroupID(e *emitter, op *loom.Op) {
	e.let(op.Result(), "loom_group_"+op.Word("dimension")+"()")
}

func emitItemID(e *emitter, op *loom.Op) {
	if e.wgSize[axis(op)] == 1 {
		e.let(op.Result(), "0")
		return
	}
	e.let(op.Result(), "loom_item_"+op.Word("dimension")+"()")
}

func emitGroupCount(e *emitter, op *loom.Op) {
	a := axis(op)
	if e.facts != nil {
		if c, ok := e.facts.Launch.Count[a].Const(); ok && c > 0 {
			e.let(op.Result(), itoa(c))
			return
		}
	}
	e.let(op.Result(), "loom_groups_"+op.Word("dimension")+"("+itoa(e.wgSize[a])+")")
}

func emitGroupSize(e *emitter, op *loom.Op) { e.let(op.Result(), itoa(e.wgSize[axis(op)])) }

func emitDispatchID(e *emitter, op *loom.Op) {
	d := op.Word("dimension")
	c := e.carrier(op.Result())
	e.let(op.Result(), "("+c.String()+")loom_group_"+d+"() * "+intLit(e.wgSize[axis(op)], c)+" + loom_item_"+d+"()")
}

// flat is the item's number inside the workgroup; lanes are assigned in this
// order.
func (e *emitter) flat() string {
	s := "loom_item_x()"
	if e.wgSize[0] == 1 {
		s = ""
	}
	add := func(t string) {
		if s == "" {
			s = t
		} else {
			s += " + " + t
		}
	}
	if e.wgSize[1] > 1 {
		t := "loom_item_y()"
		if e.wgSize[0] > 1 {
			t += " * " + itoa(e.wgSize[0])
		}
		add(t)
	}
	if e.wgSize[2] > 1 {
		t := "loom_item_z()"
		if n := e.wgSize[0] * e.wgSize[1]; n > 1 {
			t += " * " + itoa(n)
		}
		add(t)
	}
	if s == "" {
		return "0"
	}
	return s
}

func (e *emitter) laneExpr() string {
	if e.items <= int64(e.wave) {
		return e.flat()
	}
	if e.wgSize[0]%int64(e.wave) == 0 { // rows of whole waves
		return "loom_item_x() & " + itoa(int64(e.wave-1))
	}
	return paren(e.flat()) + " & " + itoa(int64(e.wave-1))
}

func (e *emitter) waveExpr() string {
	if e.items <= int64(e.wave) {
		return "0"
	}
	return "loom_uniform(" + paren(e.flat()) + " >> " + itoa(int64(bits.TrailingZeros(uint(e.wave)))) + ")"
}

func emitLaneID(e *emitter, op *loom.Op) { e.let(op.Result(), e.laneExpr()) }
func emitWaveID(e *emitter, op *loom.Op) { e.let(op.Result(), e.waveExpr()) }

// emitBarrier synchronises the scope and orders the named memory space only.
func emitBarrier(e *emitter, op *loom.Op) {
	sp := map[string]string{"workgroup": "local", "global": "global"}[op.Word("memory_space")]
	if sp == "" {
		e.unsupported("name memory space workgroup or global", "a barrier on memory space '%s'", op.Word("memory_space"))
		return
	}
	switch op.Word("scope") {
	case "workgroup", "":
		if sp == "local" {
			e.scratch.dirty = 0
		}
		e.t.add("loom_barrier_"+sp+"();", nil)
	case "subgroup":
		e.t.add("loom_wave_barrier_"+sp+"();", nil)
	default:
		e.unsupported("synchronise a workgroup or a subgroup; wider scopes need separate launches or atomics", "a barrier of scope '%s'", op.Word("scope"))
	}
}

// emitExit leaves the kernel where the condition holds.
func emitExit(e *emitter, op *loom.Op) {
	n := e.t.control("}")
	e.t.in(n, "if ("+e.ref(op.Operand("condition"))+") {", func() {
		if len(op.Regions) > 0 {
			cfg := e.cfg
			e.cfg = false
			e.region(op.Regions[0])
			e.cfg = cfg
		}
		e.t.add("return;", nil)
	})
}

func emitAssert(e *emitter, op *loom.Op) {
	e.t.add("loom_assert("+e.ref(op.Operand("condition"))+");", nil)
}
