package linker

import (
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/kernel"
)

// deriveBindings lists the kernel's buffer parameters with the access its closed
// body makes to each, and what the body promises about them.
func (s *specializer) deriveBindings() {
	at := map[*loom.Value]int{}
	abi := DeriveABI(s.module, s.def)
	for _, p := range s.def.Params {
		if p.Type.Kind == loom.Buffer {
			i := len(s.out.Bindings)
			at[p] = i
			s.out.Bindings = append(s.out.Bindings, kernel.Binding{Name: p.Name, Param: p, Align: 1, Access: abi.Bindings[i].Access})
		}
	}
	s.def.Body.Walk(func(op *loom.Op) bool {
		for _, v := range op.Operands {
			i, ok := at[promisedBuffer(v)]
			if !ok {
				continue
			}
			b := &s.out.Bindings[i]
			switch op.Def.Name {
			case "buffer.assume.noalias":
				b.NoAlias = true
			case "buffer.assume.alignment":
				b.Align = max(b.Align, op.Attr("minimum_alignment").Int)
			}
		}
		return true
	})
}

// promisedBuffer follows buffer assumes back to what they are about.
func promisedBuffer(v *loom.Value) *loom.Value {
	for v.Def != nil && v.Def.Def.Traits&loom.Fact != 0 && int(v.Index) < len(v.Def.Operands) {
		v = v.Def.Operands[v.Index]
	}
	return v
}
