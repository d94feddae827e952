package rewrite

import (
	"encoding/binary"
	"slices"

	"github.com/loomc/loomc/loom"
)

// Merge replaces a pure operation by an equal one that dominates it and returns
// how many it merged. Operations that all lanes must reach together merge only
// inside one block, because the set of active lanes belongs to their meaning.
func Merge(def *loom.Def) int {
	m := &merger{ids: make(map[*loom.Value]uint32, 256), repl: map[*loom.Value]*loom.Value{}, seen: make(map[string]entry, 256)}
	def.Regions(m.region)
	return m.n
}

type entry struct {
	op    *loom.Op
	block *loom.Block
}

type merger struct {
	ids  map[*loom.Value]uint32
	repl map[*loom.Value]*loom.Value
	seen map[string]entry
	log  []string // keys added, innermost region last
	key  []byte
	n    int
}

func (m *merger) id(v *loom.Value) uint32 {
	if i, ok := m.ids[v]; ok {
		return i
	}
	i := uint32(len(m.ids) + 1)
	m.ids[v] = i
	return i
}

func (m *merger) get(v *loom.Value) *loom.Value {
	for {
		w, ok := m.repl[v]
		if !ok {
			return v
		}
		v = w
	}
}

func (m *merger) region(r *loom.Region) {
	mark := len(m.log)
	for i, b := range r.Blocks {
		if i > 0 { // other blocks are not dominated by the one before
			m.drop(mark)
		}
		for _, a := range b.Args {
			a.Type = a.Type.Map(m.get)
		}
		kept := b.Ops[:0]
		for _, op := range b.Ops {
			Map(op, m.get)
			if m.merge(op, b) {
				continue
			}
			kept = append(kept, op)
			for _, in := range op.Regions {
				m.region(in)
			}
		}
		clear(b.Ops[len(kept):])
		b.Ops = kept
	}
	m.drop(mark)
}

func (m *merger) drop(mark int) {
	for _, k := range m.log[mark:] {
		delete(m.seen, k)
	}
	m.log = m.log[:mark]
}

func (m *merger) merge(op *loom.Op, b *loom.Block) bool {
	t := op.Def.Traits
	if t&loom.Pure == 0 || len(op.Results) == 0 || len(op.Regions) > 0 || t&loom.Opaque != 0 {
		return false
	}
	k := m.signature(op)
	if e, ok := m.seen[string(k)]; ok {
		if t&loom.Convergent == 0 || e.block == b {
			for i, r := range op.Results {
				m.repl[r] = e.op.Results[i]
			}
			m.n++
			return true
		}
		return false
	}
	s := string(k)
	m.seen[s] = entry{op, b}
	m.log = append(m.log, s)
	return false
}

func (m *merger) signature(op *loom.Op) []byte {
	k := m.key[:0]
	k = append(append(k, op.Def.Name...), 0)
	ids := make([]uint32, 0, 8)
	for _, v := range op.Operands {
		ids = append(ids, m.id(v))
	}
	if op.Def.Traits&loom.Commutative != 0 && len(ids) >= 2 && ids[0] > ids[1] {
		ids[0], ids[1] = ids[1], ids[0]
	}
	for _, i := range ids {
		k = binary.LittleEndian.AppendUint32(k, i)
	}
	for _, n := range op.Segs {
		k = append(k, byte(n), byte(n>>8))
	}
	for _, a := range sortedAttrs(op.Attrs) {
		k = append(append(k, a.Name...), '=')
		if ps := a.Value.Preds(); ps != nil {
			for _, p := range ps {
				k = append(k, byte(p.Kind))
				for _, x := range p.Args {
					if x.Val != nil {
						k = binary.LittleEndian.AppendUint32(append(k, '%'), m.id(x.Val))
					} else {
						k = append(loom.Predicate{Kind: p.Kind, Args: []loom.PredArg{x}}.Append(k), ';')
					}
				}
			}
			continue
		}
		k = append(k, byte(a.Value.Kind))
		if k0 := a.Value.Kind; k0 == loom.AttrFloat || k0 == loom.AttrInt { // the spelling does not matter, the bits do
			k = binary.LittleEndian.AppendUint64(k, uint64(a.Value.Int))
			continue
		}
		k = append(a.Value.Append(k), ';')
	}
	for _, r := range op.Results {
		k = append(k, ':')
		k = r.Type.Append(k)
		r.Type.Values(func(v *loom.Value) { k = binary.LittleEndian.AppendUint32(k, m.id(v)) })
	}
	m.key = k
	return k
}

func sortedAttrs(as []loom.NamedAttr) []loom.NamedAttr {
	if len(as) < 2 {
		return as
	}
	as = slices.Clone(as)
	slices.SortStableFunc(as, func(a, b loom.NamedAttr) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return as
}
