package rewrite

import (
	"slices"

	"github.com/loomc/loomc/loom"
)

// Prune removes operations whose results nothing uses and that have no effect,
// and the results of loops and branches that nothing needs, carried values that
// only feed themselves included. It returns the number of operations removed.
func Prune(def *loom.Def) int {
	p := &pruner{live: make(map[*loom.Op]bool, 256), slots: map[slot]bool{}}
	def.Regions(func(r *loom.Region) {
		r.Walk(func(op *loom.Op) bool {
			if !SideEffectFree(op) && !handsOut(op) {
				p.op(op)
			}
			return true
		})
	})
	p.drain()
	n := 0
	def.Regions(func(r *loom.Region) { n += p.sweep(r) })
	return n
}

// handsOut reports whether op is the yield of a structured operation: its
// operands live only as far as the results they become.
func handsOut(op *loom.Op) bool {
	return op.Def.Name == "scf.yield" && op.Parent() != nil && Structured(op.Parent())
}

// slot is one result of a structured operation with everything that feeds it.
type slot struct {
	op *loom.Op
	i  int
}

type pruner struct {
	live  map[*loom.Op]bool
	slots map[slot]bool
	work  []*loom.Value
}

func (p *pruner) drain() {
	for len(p.work) > 0 {
		v := p.work[len(p.work)-1]
		p.work = p.work[:len(p.work)-1]
		p.value(v)
	}
}

func (p *pruner) push(v *loom.Value) { p.work = append(p.work, v) }

func (p *pruner) op(op *loom.Op) {
	for ; op != nil && !p.live[op]; op = op.Parent() {
		p.live[op] = true
		if !Structured(op) {
			op.Uses(p.push)
			if len(op.Regions) > 0 { // scf.while and the like keep all they carry
				for _, r := range op.Regions {
					for _, b := range r.Blocks {
						for _, a := range b.Args {
							a.Type.Values(p.push)
						}
						if t := b.Terminator(); t != nil {
							p.op(t)
						}
					}
				}
			}
			continue
		}
		carried := FieldIndex(op.Def, "iter_args")
		at := 0
		for i := range op.Def.Operands {
			n := 1
			if op.Segs != nil {
				n = int(op.Segs[i])
			}
			if i != carried {
				for _, v := range op.Operands[at : at+n] {
					p.push(v)
				}
			}
			at += n
		}
		for _, r := range op.Regions {
			if y := Yield(r); y != nil {
				p.live[y] = true
			} else { // several blocks: keep everything
				for i := range op.Results {
					p.slot(op, i)
				}
				for _, b := range r.Blocks {
					for _, o := range b.Ops {
						p.op(o)
					}
				}
			}
		}
	}
}

func (p *pruner) slot(op *loom.Op, i int) {
	s := slot{op, i}
	if p.slots[s] {
		return
	}
	p.slots[s] = true
	op.Results[i].Type.Values(p.push)
	for _, r := range op.Regions {
		if y := Yield(r); y != nil && i < len(y.Operands) {
			p.push(y.Operands[i])
		}
		if b := r.Entry(); b != nil && op.Def.Name == "scf.for" && i+1 < len(b.Args) {
			b.Args[i+1].Type.Values(p.push)
		}
	}
	if inits := op.Field("iter_args"); op.Def.Name == "scf.for" && i < len(inits) {
		p.push(inits[i])
	}
}

func (p *pruner) value(v *loom.Value) {
	if v.Def != nil {
		p.op(v.Def)
		if Structured(v.Def) {
			p.slot(v.Def, int(v.Index))
		}
		return
	}
	if v.Block == nil || v.Block.Region == nil {
		return
	}
	if op := v.Block.Region.Op; op != nil {
		p.op(op)
		if op.Def.Name == "scf.for" && v.Index > 0 {
			p.slot(op, int(v.Index)-1)
		}
	}
}

func (p *pruner) sweep(r *loom.Region) int {
	n := 0
	for _, b := range r.Blocks {
		kept := b.Ops[:0]
		for _, op := range b.Ops {
			if !p.live[op] {
				op.Walk(func(*loom.Op) bool { n++; return true })
				continue
			}
			kept = append(kept, op)
			if Structured(op) {
				p.narrow(op)
			}
			for _, in := range op.Regions {
				n += p.sweep(in)
			}
		}
		clear(b.Ops[len(kept):])
		b.Ops = kept
	}
	return n
}

// narrow drops the results of op that no one needs.
func (p *pruner) narrow(op *loom.Op) {
	keep := make([]bool, len(op.Results))
	all := true
	for i := range op.Results {
		keep[i] = p.slots[slot{op, i}]
		all = all && keep[i]
	}
	if all {
		return
	}
	filter := func(vs []*loom.Value) []*loom.Value {
		out := make([]*loom.Value, 0, len(vs))
		for i, v := range vs {
			if i >= len(keep) || keep[i] {
				out = append(out, v)
			}
		}
		return out
	}
	op.Results = filter(op.Results)
	for i, v := range op.Results {
		v.Index = int32(i)
	}
	for _, r := range op.Regions {
		if y := Yield(r); y != nil {
			SetOperands(y, 0, filter(y.Operands))
		}
		if b := r.Entry(); b != nil && op.Def.Name == "scf.for" {
			b.Args = append(b.Args[:1:1], filter(b.Args[1:])...)
			for i, v := range b.Args {
				v.Index = int32(i)
			}
		}
	}
	if i := FieldIndex(op.Def, "iter_args"); op.Def.Name == "scf.for" && i >= 0 {
		SetOperands(op, i, filter(op.Field("iter_args")))
	}
}

// Drop removes the given operations, whose results nothing uses.
func Drop(def *loom.Def, ops map[*loom.Op]bool) {
	blocks := func(r *loom.Region) {
		for _, b := range r.Blocks {
			b.Ops = slices.DeleteFunc(b.Ops, func(op *loom.Op) bool { return ops[op] })
		}
	}
	def.Regions(func(r *loom.Region) {
		blocks(r)
		r.Walk(func(op *loom.Op) bool {
			for _, in := range op.Regions {
				blocks(in)
			}
			return true
		})
	})
}
