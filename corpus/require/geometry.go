package require

import (
	"fmt"

	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
)

// Geometry is the launch geometry of a kernel for given workload values. Entries
// that the values leave open are -1.
type Geometry struct {
	Count, Size [3]int64
}

func geometryOf(k *kernel.Kernel, s *facts.Set) Geometry {
	g := Geometry{Count: [3]int64{-1, -1, -1}, Size: [3]int64{-1, -1, -1}}
	entry := k.Def.Config.Entry()
	if entry == nil || entry.Terminator() == nil {
		return g
	}
	t := entry.Terminator()
	// The facts of the launch itself are clamped to what a device can do; the
	// operands tell what the block really computes.
	for i, axis := range [3]string{"x", "y", "z"} {
		if v := t.Operand("workgroup_count_" + axis); v != nil {
			if c, ok := s.Of(v).Const(); ok {
				g.Count[i] = c
			}
		}
		if v := t.Operand("workgroup_size_" + axis); v != nil {
			if c, ok := s.Of(v).Const(); ok {
				g.Size[i] = c
			}
		}
	}
	return g
}

func (g Geometry) String() string {
	word := func(v [3]int64) string {
		s := ""
		for i, x := range v {
			if i > 0 {
				s += "×"
			}
			if x < 0 {
				s += "?"
			} else {
				s += fmt.Sprint(x)
			}
		}
		return s
	}
	return word(g.Count) + " workgroups of " + word(g.Size)
}
