package codegen

import (
	"fmt"
	"math/bits"

	"github.com/loomc/loomc/loom"
)

var kernelOps = map[string]emitFunc{
	"kernel.workgroup.id": emitGroupID, "kernel.workgroup.count": emitGroupCount, "kernel.workgroup.size": emitGroupSize,
	"kernel.workitem.id": emitItemID, "kernel.workitem.dispatch.id": emitDispatchID,
	"kernel.subgroup.id": emitWaveID, "kernel.subgroup.lane.id": emitLaneID,
	"kernel.subgroup.size":  func(e *emitter, op *loom.Op) { e.let(op.Result(), itoa(int64(e.wave))) },
	"kernel.subgroup.count": emitWaveCount,
	"kernel.barrier":        emitBarrier, "kernel.exit": emitExit, "kernel.assert": emitAssert,
	"kernel.cluster.size":              func(e *emitter, op *loom.Op) { e.let(op.Result(), "1") },
	"kernel.cluster.workgroup.id":      func(e *emitter, op *loom.Op) { e.let(op.Result(), "0") },
	"kernel.cluster.workgroup.flat_id": func(e *emitter, op *loom.Op) { e.let(op.Result(), "0") },
	"kernel.cluster.id":                emitGroupID,
	"kernel.cluster.count":             emitGroupCount,
}

func axis(op *loom.Op) int { return int(op.Word("dimension")[0] - 'x') }

// groupSize finds the workgroup's size. Where the launch decides it, the axis is 0
// and items is the most the facts and the target allow.
func (e *emitter) groupSize() {
	e.wgSize = e.k.WorkgroupSize
	most := int64(1024)
	if e.k.Target != nil && e.k.Target.MaxWorkgroupSize > 0 {
		most = int64(e.k.Target.MaxWorkgroupSize)
	}
	var end *loom.Op
	if b := e.k.Def.Config.Entry(); b != nil {
		end = b.Terminator()
	}
	e.items = 1
	div := int64(1)
	for i, n := range e.wgSize {
		d := n
		if n <= 0 {
			e.varies, e.wgSize[i] = true, 0
			n, d = most, 1
			if end != nil {
				f := e.facts.Of(end.Operand("workgroup_size_" + "xyz"[i:i+1]))
				n, d = max(min(f.Hi, most), 1), max(f.Div, 1)
			}
		}
		e.items *= n
		div = mulPow2(div, pow2(d, 4096))
	}
	if e.varies {
		e.items = min(e.items, most)
		e.ragged = div%int64(e.wave) != 0
	}
}

// needsSize refuses ops whose code depends on how many items a workgroup has.
func (e *emitter) needsSize(op *loom.Op) {
	name := op.Def.Name
	switch {
	case groupOps[name] != nil:
	case e.ragged && (waveOps[name] != nil || matrixOps[name] != nil && op.Def.Traits&loom.Convergent != 0):
	default:
		return
	}
	help := "compute workgroup_size in the launch config from constants or config values, and bind the config it depends on"
	if groupOps[name] == nil {
		help += fmt.Sprintf("; or promise a multiple of %d there", e.wave)
	}
	e.unsupported(help, "it needs the size of a workgroup of '@%s', which the launch decides,", e.k.Symbol)
}

// sizeText is the number of items along an axis.
func (e *emitter) sizeText(axis int) string {
	if n := e.wgSize[axis]; n > 0 {
		return itoa(n)
	}
	return "loom_items_" + "xyz"[axis:axis+1] + "()"
}

// waves is the number of subgroups in the workgroup, at most.
func (e *emitter) waves() int64 { return (e.items + int64(e.wave) - 1) / int64(e.wave) }

// emitWaveCount counts the subgroups of the workgroup.
func emitWaveCount(e *emitter, op *loom.Op) {
	if !e.varies {
		e.let(op.Result(), itoa(e.waves()))
		return
	}
	e.let(op.Result(), fmt.Sprintf("(%s * %s * %s + %d) / %d", e.sizeText(0), e.sizeText(1), e.sizeText(2), e.wave-1, e.wave))
}

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
	e.let(op.Result(), "loom_groups_"+op.Word("dimension")+"("+e.sizeText(a)+")")
}

func emitGroupSize(e *emitter, op *loom.Op) { e.let(op.Result(), e.sizeText(axis(op))) }

func emitDispatchID(e *emitter, op *loom.Op) {
	d := op.Word("dimension")
	c := e.carrier(op.Result())
	size := "(" + c.String() + ")" + e.sizeText(axis(op))
	if n := e.wgSize[axis(op)]; n > 0 {
		size = intLit(n, c)
	}
	e.let(op.Result(), "("+c.String()+")loom_group_"+d+"() * "+size+" + loom_item_"+d+"()")
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
	times := func(axes ...int) string {
		t := ""
		for _, a := range axes {
			if e.wgSize[a] != 1 {
				t += " * " + e.sizeText(a)
			}
		}
		return t
	}
	if e.wgSize[1] != 1 {
		add("loom_item_y()" + times(0))
	}
	if e.wgSize[2] != 1 {
		if n := e.wgSize[0] * e.wgSize[1]; n > 1 {
			add("loom_item_z() * " + itoa(n))
		} else {
			add("loom_item_z()" + times(0, 1))
		}
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
	if e.wgSize[0] > 0 && e.wgSize[0]%int64(e.wave) == 0 { // rows of whole waves
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
	spaces := map[string][]string{
		"workgroup": {"local"}, "global": {"global"}, "generic": {"global", "local"}, "unknown": {"global", "local"},
	}[op.Word("memory_space")]
	if spaces == nil {
		e.unsupported("name memory space workgroup or global", "a barrier on memory space '%s'", op.Word("memory_space"))
		return
	}
	for _, sp := range spaces {
		switch op.Word("scope") {
		case "workgroup", "":
			if sp == "local" {
				e.scratch.dirty = 0
			}
			e.t.add("loom_barrier_"+sp+"();", nil)
		case "subgroup":
			e.t.add("loom_wave_barrier_"+sp+"();", nil)
		case "thread": // an item is always in step with itself
		default:
			e.unsupported("synchronise a workgroup or a subgroup; wider scopes need separate launches or atomics", "a barrier of scope '%s'", op.Word("scope"))
			return
		}
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
