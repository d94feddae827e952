package lint

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

// demands says over which group of work items the decision to run an op must be
// the same, and what goes wrong otherwise. Subgroup operations that are about the
// active lanes (votes, masks, broadcast.first) are not listed.
func demands(op *loom.Op) (facts.Uniformity, string) {
	name := op.Name()
	switch {
	case name == "kernel.barrier" && op.Word("scope") == "subgroup":
		return facts.UniformSubgroup, "the lanes that take the other way never arrive"
	case name == "kernel.barrier", strings.HasPrefix(name, "kernel.workgroup.") && op.Def.Traits&loom.Convergent != 0:
		return facts.UniformWorkgroup, "the work items that take the other way never arrive"
	case name == "vector.mma", strings.HasPrefix(name, "vector.fragment.") && op.Def.Traits&loom.Convergent != 0:
		return facts.UniformSubgroup, "a matrix operation takes registers of every lane, also of those that are masked off"
	case name == "kernel.subgroup.reduce", name == "kernel.subgroup.scan":
		return facts.UniformSubgroup, "lanes that are masked off do not contribute"
	case name == "kernel.subgroup.shuffle", name == "kernel.subgroup.broadcast":
		return facts.UniformSubgroup, "the source lane may be masked off"
	}
	return facts.Varying, ""
}

func checkBarrierDivergent(b *body) {
	exits := map[facts.Uniformity]*loom.Op{}
	b.def.Body.Walk(func(op *loom.Op) bool {
		if op.Name() == "kernel.exit" && len(op.Operands) > 0 {
			u := b.facts.At(op, op.Operands[0]).Uniform
			for _, need := range []facts.Uniformity{facts.UniformSubgroup, facts.UniformWorkgroup} {
				if u < need && exits[need] == nil {
					exits[need] = op
				}
			}
			return true
		}
		need, why := demands(op)
		if need == facts.Varying {
			return true
		}
		var at *loom.Op
		var cond *loom.Value
		if b.facts.Control(op) < need {
			at, cond = b.divergence(op, need)
		} else if e := exits[need]; e != nil {
			at, cond = e, e.Operands[0]
		}
		if at == nil {
			return true
		}
		origin, ok := b.laneSource(cond, need)
		if !ok {
			return true
		}
		group := map[facts.Uniformity]string{facts.UniformSubgroup: "subgroup", facts.UniformWorkgroup: "workgroup"}[need]
		d := diag.Diagnostic{Span: op.NameSpan(), Message: fmt.Sprintf("%s under a condition that differs inside a %s: %s", op.Name(), group, why)}
		d = d.WithRelated(at.NameSpan(), "the %s is decided by '%s' here", flowWord(at), b.name(cond))
		if origin != nil && origin != at {
			d = d.WithRelated(origin.NameSpan(), "'%s' differs between lanes because of this", b.name(cond))
		}
		b.report(barrierDivergent, op, d)
		return true
	})
}

func flowWord(op *loom.Op) string {
	switch op.Name() {
	case "scf.for", "scf.while":
		return "number of trips"
	case "kernel.exit":
		return "exit"
	}
	return "branch"
}

// divergence finds the branch or loop around op that differs inside the group.
func (b *body) divergence(op *loom.Op, need facts.Uniformity) (*loom.Op, *loom.Value) {
	for p := op.Parent(); p != nil; p = p.Parent() {
		var conds []*loom.Value
		switch p.Name() {
		case "scf.if", "scf.switch":
			conds = p.Operands[:1]
		case "scf.for":
			conds = []*loom.Value{p.Operand("lower_bound"), p.Operand("upper_bound"), p.Operand("step")}
			if b.equalTrips(p) {
				continue
			}
		case "scf.while":
			if t := p.Regions[0].Blocks[len(p.Regions[0].Blocks)-1].Terminator(); t != nil && len(t.Operands) > 0 {
				conds = t.Operands[:1]
			}
		}
		for _, c := range conds {
			if c != nil && b.facts.At(p, c).Uniform < need {
				return p, c
			}
		}
	}
	return nil, nil
}

// equalTrips reports whether a loop that starts at a different value in each lane
// still runs equally often everywhere: it starts below one step from a common base
// and the distance is whole steps.
func (b *body) equalTrips(loop *loom.Op) bool {
	lo, hi, step := loop.Operand("lower_bound"), loop.Operand("upper_bound"), loop.Operand("step")
	f, s, h := b.facts.At(loop, lo), b.facts.At(loop, step), b.facts.At(loop, hi)
	c, ok := s.Const()
	return ok && c > 0 && f.Lo >= 0 && f.Hi < c && h.Uniform >= facts.UniformWorkgroup && h.DivisibleBy(c)
}

// laneSource finds what makes cond differ between lanes. It reports false when
// that is something this body does not show: the result of a call that was not
// inlined.
func (b *body) laneSource(cond *loom.Value, need facts.Uniformity) (*loom.Op, bool) {
	var found *loom.Op
	hidden := false
	b.backward(cond, true, func(v *loom.Value) bool {
		op := v.Def
		if op == nil {
			return b.facts.Of(v).Uniform < need
		}
		if b.facts.Of(v).Uniform >= need {
			return false
		}
		hidden = hidden || isCall(op)
		lane := strings.HasPrefix(op.Name(), "kernel.workitem.") || strings.HasPrefix(op.Name(), "kernel.subgroup.") || b.mem.byOp[op] != nil
		if lane && (found == nil || strings.HasPrefix(op.Name(), "kernel.workitem.") || strings.HasPrefix(op.Name(), "kernel.subgroup.")) {
			found = op
		}
		return true
	})
	return found, !hidden
}
