package exec

import "github.com/loomc/loomc/loom"

// cfg lowers a region of several blocks; see cfgNext for how lanes proceed.
func (l *lowerer) cfg(r *loom.Region) {
	l.pin++
	defer func() { l.pin-- }()
	order := reversePostorder(r)
	num := make(map[*loom.Block]int, len(order))
	marks := make([]label, len(order))
	for i, b := range order {
		num[b] = i
		marks[i] = l.label()
		if i > 0 {
			for _, a := range b.Args {
				l.phi(a)
			}
		}
	}
	outer := l.yield[len(l.yield)-1]
	state := l.newReg(false, false, 1)
	next, end := l.label(), l.label()
	l.emit(lowered{run: cfgEnter, d: state})
	l.place(next)
	l.emit(lowered{run: cfgNext, a: state, labels: marks, to: end})
	goTo := func(s loom.Succ) {
		l.assign(s.Dest.Args, s.Args)
		l.emit(lowered{run: cfgSet, d: state, imm: int64(num[s.Dest])})
	}
	l.yield = append(l.yield, func(op *loom.Op) {
		outer(op)
		l.emit(lowered{run: cfgSet, d: state, imm: int64(len(order))})
		l.emit(lowered{run: jump, to: next})
	})
	l.level(next, func() {
		for i, b := range order {
			l.place(marks[i])
			l.open()
			for _, op := range b.Ops {
				switch op.Name() {
				case "cfg.br":
					saved := l.op
					l.op = op
					goTo(op.Succs[0])
					l.emit(lowered{run: jump, to: next})
					l.op = saved
				case "cfg.cond_br":
					saved := l.op
					l.op = op
					c := l.lane(op.Operand("condition"))
					no, join := l.label(), l.label()
					l.emit(lowered{run: maskIf, a: c, to: no})
					l.level(no, func() { goTo(op.Succs[0]) })
					l.place(no)
					l.emit(lowered{run: maskElse, a: c, to: join})
					l.level(join, func() { goTo(op.Succs[1]) })
					l.place(join)
					l.emit(lowered{run: jump, to: next})
					l.op = saved
				default:
					l.lowerOp(op)
				}
			}
			l.shut()
		}
	})
	l.yield = l.yield[:len(l.yield)-1]
	l.place(end)
	l.emit(lowered{run: maskEnd, to: l.scope})
}

// reversePostorder lists the blocks that the entry reaches.
func reversePostorder(r *loom.Region) []*loom.Block {
	seen := map[*loom.Block]bool{}
	var post []*loom.Block
	var visit func(b *loom.Block)
	visit = func(b *loom.Block) {
		seen[b] = true
		if n := len(b.Ops); n > 0 {
			succs := b.Ops[n-1].Succs
			for i := len(succs) - 1; i >= 0; i-- {
				if d := succs[i].Dest; d != nil && !seen[d] {
					visit(d)
				}
			}
		}
		post = append(post, b)
	}
	visit(r.Blocks[0])
	out := make([]*loom.Block, 0, len(post))
	for i := len(post) - 1; i >= 0; i-- {
		out = append(out, post[i])
	}
	return out
}
