package rewrite

import (
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

// Hoist moves pure arithmetic whose operands do not change inside a loop in
// front of the loop and returns how many operations it moved. Only operations
// that are defined for every operand value move, because a loop may run no
// iteration at all; set proves that of divisions.
func Hoist(def *loom.Def, set *facts.Set) int {
	h := &hoister{set: set, depth: make(map[*loom.Value]int, 256)}
	def.Regions(func(r *loom.Region) { h.region(r, 0) })
	return h.n
}

type hoister struct {
	set   *facts.Set
	depth map[*loom.Value]int // number of loops around the definition
	n     int
}

// region returns nothing but records, for each value, the loop depth it is
// available at. Inner loops are done first, so that what leaves one can leave
// the next.
func (h *hoister) region(r *loom.Region, depth int) {
	for _, b := range r.Blocks {
		for _, a := range b.Args {
			h.depth[a] = depth
		}
		out := make([]*loom.Op, 0, len(b.Ops))
		for _, op := range b.Ops {
			for _, v := range op.Results {
				h.depth[v] = depth
			}
			if op.Def.Name == "scf.for" && len(op.Regions) == 1 && len(op.Regions[0].Blocks) == 1 {
				h.region(op.Regions[0], depth+1)
				out = h.lift(op.Regions[0].Blocks[0], b, depth, out)
			} else {
				for _, in := range op.Regions {
					h.region(in, depth)
				}
			}
			out = append(out, op)
		}
		b.Ops = out
	}
}

// lift moves what it can out of the loop body into out, in order.
func (h *hoister) lift(body, to *loom.Block, depth int, out []*loom.Op) []*loom.Op {
	kept := body.Ops[:0]
	for _, op := range body.Ops {
		if !h.movable(op, depth) {
			kept = append(kept, op)
			continue
		}
		op.Block = to
		for _, v := range op.Results {
			h.depth[v] = depth
		}
		out = append(out, op)
		h.n++
	}
	clear(body.Ops[len(kept):])
	body.Ops = kept
	return out
}

func (h *hoister) movable(op *loom.Op, depth int) bool {
	if op.Def.Traits&loom.Pure == 0 || op.Def.Traits&(loom.Convergent|loom.Fact|loom.Opaque) != 0 || len(op.Regions) > 0 {
		return false
	}
	invariant := true
	op.Uses(func(v *loom.Value) {
		if h.depth[v] > depth {
			invariant = false
		}
	})
	return invariant && h.total(op)
}

// total reports whether op is defined for all operands it can see.
func (h *hoister) total(op *loom.Op) bool {
	name := op.Def.Name
	i := strings.IndexByte(name, '.')
	switch name[:i] {
	case "index", "scalar", "vector":
	case "scf":
		return name == "scf.select"
	case "kernel", "target", "encoding":
		return true
	default:
		return false
	}
	switch name[i+1:] {
	case "div", "rem", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi":
		return h.set.Of(op.Operands[1]).Lo > 0 && h.set.Of(op.Operands[0]).Lo >= 0
	case "shli", "shrui", "shrsi":
		w := int64(op.Results[0].Type.Element().Bits())
		return h.set.Of(op.Operands[1]).Within(0, w-1)
	case "sub", "cast", "scale":
		if op.Results[0].Type.Kind != loom.Offset {
			return true
		}
		f := h.set.Of(op.Operands[0])
		if name == "index.sub" {
			return f.Lo >= h.set.Of(op.Operands[1]).Hi
		}
		return f.Lo >= 0
	case "extract", "insert", "slice", "table.lookup", "fptosi", "fptoui", "poison":
		return false
	}
	return true
}
