package lint

import (
	"strings"

	"github.com/loomc/loomc/loom"
)

// sourcesOf calls f for the values v was computed from: operands, what branches
// and loops hand on, and, for a read of workgroup or private memory, what was
// stored there. With control set, branch conditions count too.
func (b *body) sourcesOf(v *loom.Value, control bool, f func(*loom.Value)) {
	op := v.Def
	if op == nil {
		b.argumentSources(v, f)
		return
	}
	switch op.Name() {
	case "scf.if":
		for _, r := range op.Regions {
			if ys := yielded(r); int(v.Index) < len(ys) {
				f(ys[v.Index])
			}
		}
		if control {
			f(op.Operands[0])
		}
		return
	case "scf.switch":
		for _, r := range op.Regions {
			if ys := yielded(r); int(v.Index) < len(ys) {
				f(ys[v.Index])
			}
		}
		if control {
			f(op.Operands[0])
		}
		return
	case "scf.for", "scf.while":
		if in := op.Field("iter_args"); int(v.Index) < len(in) {
			f(in[v.Index])
		}
		for _, r := range op.Regions {
			if ys := yielded(r); int(v.Index) < len(ys) {
				f(ys[v.Index])
			}
		}
		return
	}
	if a := b.mem.byOp[op]; a != nil {
		if control {
			for _, x := range op.Operands {
				f(x)
			}
		}
		if a.window.space != "global" {
			for _, s := range b.mem.stores[a.window.root] {
				if x := s.op.Operand("value"); x != nil {
					f(x)
				}
			}
		}
		for _, name := range []string{"passthrough", "mask"} {
			if x := op.Operand(name); x != nil {
				f(x)
			}
		}
		return
	}
	for _, x := range op.Operands {
		f(x)
	}
}

func (b *body) argumentSources(v *loom.Value, f func(*loom.Value)) {
	if v.Block == nil || v.Block.Region == nil || v.Block.Region.Op == nil {
		return
	}
	op := v.Block.Region.Op
	i := int(v.Index)
	switch op.Name() {
	case "scf.for":
		if i--; i < 0 {
			return // a counter carries no data
		}
	case "scf.while":
	default:
		return
	}
	if in := op.Field("iter_args"); i < len(in) {
		f(in[i])
	}
	for _, r := range op.Regions {
		if ys := yielded(r); i < len(ys) {
			f(ys[i])
		}
	}
}

// yielded returns what a region's terminator hands on.
func yielded(r *loom.Region) []*loom.Value {
	if len(r.Blocks) == 0 {
		return nil
	}
	t := r.Blocks[len(r.Blocks)-1].Terminator()
	switch {
	case t == nil:
		return nil
	case t.Name() == "scf.condition":
		return t.Operands[1:]
	}
	return t.Operands
}

// backward visits v and everything it was computed from, each value once, until
// visit returns false for a value: its sources are then left out.
func (b *body) backward(v *loom.Value, control bool, visit func(*loom.Value) bool) {
	seen := map[*loom.Value]bool{}
	stack := []*loom.Value{v}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		if visit(x) {
			b.sourcesOf(x, control, func(y *loom.Value) { stack = append(stack, y) })
		}
	}
}

// isLoad reports whether v was read from memory.
func (b *body) isLoad(v *loom.Value) (*access, bool) {
	if v.Def == nil {
		return nil, false
	}
	a := b.mem.byOp[v.Def]
	return a, a != nil && a.read
}

// usesOf lists, for every value of the body, the ops that take it.
func usesOf(def *loom.Def) map[*loom.Value][]*loom.Op {
	uses := map[*loom.Value][]*loom.Op{}
	def.Walk(func(op *loom.Op) bool {
		op.Uses(func(v *loom.Value) { uses[v] = append(uses[v], op) })
		return true
	})
	return uses
}

// isCall reports whether op leads to statements outside the body.
func isCall(op *loom.Op) bool {
	switch op.Name() {
	case "func.call", "func.apply", "template.apply", "template.call":
		return true
	}
	return strings.HasPrefix(op.Name(), "cfg.")
}
