package exec

import (
	"strings"

	"github.com/loomc/loomc/loom"
)

// uniformity is the set of values that may differ between the items of a
// workgroup. A value outside the set is computed once per workgroup.
type uniformity struct {
	varying map[*loom.Value]bool
	changed bool
	// perLane keeps memory accesses per lane even where the address is uniform:
	// a sanitizer wants to know who read.
	perLane bool
	cfg     int // nesting depth of regions with several blocks
}

func findVarying(body *loom.Region, perLane bool) map[*loom.Value]bool {
	u := &uniformity{varying: make(map[*loom.Value]bool), perLane: perLane}
	for {
		u.changed = false
		u.region(body)
		if !u.changed {
			return u.varying
		}
	}
}

func (u *uniformity) mark(vs ...*loom.Value) {
	for _, v := range vs {
		if !u.varying[v] {
			u.varying[v] = true
			u.changed = true
		}
	}
}

func (u *uniformity) is(v *loom.Value) bool {
	if u.varying[v] {
		return true
	}
	// A view with a varying extent or stride is addressed per lane.
	vary := false
	if v.Type != nil && v.Type.Kind == loom.View {
		v.Type.Values(func(d *loom.Value) {
			if u.varying[d] {
				vary = true
			}
			if d.Def != nil {
				for _, o := range d.Def.Operands { // strides of an encoding
					vary = vary || u.varying[o]
				}
			}
		})
	}
	return vary
}

func (u *uniformity) any(vs []*loom.Value) bool {
	for _, v := range vs {
		if u.is(v) {
			return true
		}
	}
	return false
}

// flow marks dst where src varies or the control that chooses it does.
func (u *uniformity) flow(dst, src []*loom.Value, control bool) {
	for i, d := range dst {
		if control || i < len(src) && u.is(src[i]) {
			u.mark(d)
		}
	}
}

func (u *uniformity) region(r *loom.Region) {
	if r == nil {
		return
	}
	if len(r.Blocks) > 1 {
		u.cfg++
		defer func() { u.cfg-- }()
		for _, b := range r.Blocks {
			u.mark(b.Args...)
		}
	}
	for _, b := range r.Blocks {
		for _, op := range b.Ops {
			u.op(op)
		}
	}
}

func yielded(r *loom.Region) []*loom.Value {
	if r == nil {
		return nil
	}
	for _, b := range r.Blocks {
		if t := b.Terminator(); t != nil && t.Name() == "scf.yield" {
			return t.Operands
		}
	}
	return nil
}

func (u *uniformity) op(op *loom.Op) {
	switch op.Name() {
	case "kernel.workitem.id", "kernel.workitem.dispatch.id", "kernel.subgroup.id", "kernel.subgroup.lane.id",
		"kernel.workgroup.scan", "vector.mma", "vector.fragment.load", "vector.fragment.repack":
		u.mark(op.Results...)
		return
	case "kernel.workgroup.reduce", "kernel.workgroup.vote.all", "kernel.workgroup.vote.any", "kernel.workgroup.vote.count":
		if u.cfg > 0 {
			u.mark(op.Results...)
		}
		return
	case "kernel.subgroup.size", "kernel.subgroup.count":
		return
	case "buffer.alloca":
		if op.Word("memory_space") == "private" || u.any(op.Operands) {
			u.mark(op.Results...)
		}
		return
	case "scf.for":
		body := op.Regions[0]
		bounds := u.is(op.Operand("lower_bound")) || u.is(op.Operand("upper_bound")) || u.is(op.Operand("step"))
		args := body.Entry().Args
		if bounds || len(body.Blocks) > 1 {
			u.mark(args[0])
		}
		u.flow(args[1:], op.Field("iter_args"), bounds)
		u.region(body)
		y := yielded(body)
		u.flow(args[1:], y, bounds || len(body.Blocks) > 1)
		u.flow(op.Results, args[1:], bounds)
		return
	case "scf.if":
		c := u.is(op.Operand("condition"))
		for _, r := range op.Regions {
			u.region(r)
			u.flow(op.Results, yielded(r), c || len(r.Blocks) > 1)
		}
		return
	case "scf.switch":
		c := u.is(op.Operand("selector"))
		for _, r := range op.Regions {
			u.region(r)
			u.flow(op.Results, yielded(r), c || len(r.Blocks) > 1)
		}
		return
	case "scf.while":
		before, after := op.Regions[0], op.Regions[1]
		u.flow(before.Entry().Args, op.Field("iter_args"), false)
		u.region(before)
		t := before.Blocks[len(before.Blocks)-1].Terminator()
		if t == nil {
			return
		}
		c := u.is(t.Operand("condition")) || len(before.Blocks) > 1
		fwd := t.Field("forwarded")
		u.flow(after.Entry().Args, fwd, c)
		u.flow(op.Results, fwd, c)
		u.region(after)
		u.flow(before.Entry().Args, yielded(after), c || len(after.Blocks) > 1)
		return
	case "kernel.exit":
		for _, r := range op.Regions {
			u.region(r)
		}
		return
	}
	name := op.Name()
	if strings.HasPrefix(name, "kernel.subgroup.") || strings.Contains(name, ".atomic.") {
		u.mark(op.Results...)
		return
	}
	if op.Def.Traits&loom.Reads != 0 && (u.perLane || u.cfg > 0) {
		u.mark(op.Results...)
		return
	}
	if u.any(op.Operands) {
		u.mark(op.Results...)
	}
}
