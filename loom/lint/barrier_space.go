package lint

import (
	"fmt"
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

// checkBarrierSpace walks the body along its control flow with the stores that no
// barrier over their own memory space has ordered yet. A barrier over the other
// space makes work items meet, so the program looks ordered; what they stored may
// still be on its way. A read of another lane's store in that state is the fault.
func checkBarrierSpace(b *body) {
	w := &spaceWalk{body: b, done: map[spaceFinding]bool{}}
	w.region(b.def.Body, nil)
}

// pending is a store that is not ordered in its own space, and the last barrier
// over another space since then.
type pending struct {
	store   *access
	barrier *loom.Op
}

type spaceFinding struct {
	barrier diag.Span
	root    *loom.Value
}

type spaceWalk struct {
	*body
	done map[spaceFinding]bool
}

// region walks the blocks of a region. The list is the callee's to change.
func (w *spaceWalk) region(r *loom.Region, in []pending) []pending {
	for _, blk := range r.Blocks {
		for _, op := range blk.Ops {
			in = w.op(op, in)
		}
	}
	return in
}

func (w *spaceWalk) op(op *loom.Op, in []pending) []pending {
	switch op.Name() {
	case "scf.if", "scf.switch":
		var out []pending
		for _, r := range op.Regions {
			out = join(out, w.region(r, slices.Clone(in)))
		}
		if op.Name() == "scf.if" && len(op.Regions) < 2 {
			out = join(out, in)
		}
		return out
	case "scf.for", "scf.while":
		// The second trip starts with what the first one left.
		state := in
		for range 2 {
			next := slices.Clone(state)
			for _, r := range op.Regions {
				next = w.region(r, next)
			}
			state = join(slices.Clone(in), next)
		}
		return state
	case "kernel.barrier":
		return w.barrier(op, in)
	}
	a := w.mem.byOp[op]
	if a == nil {
		return in
	}
	if a.read {
		w.reads(a, in)
	}
	if a.atomic && releases(op) && w.facts.Control(op) >= facts.UniformWorkgroup {
		// Every item publishes its own stores.
		return slices.DeleteFunc(in, func(p pending) bool { return p.store.window.space == "global" })
	}
	if a.write && !a.atomic && (a.window.space == "global" || a.window.space == "workgroup") {
		if i := slices.IndexFunc(in, func(p pending) bool { return p.store == a }); i >= 0 {
			in[i].barrier = nil
		} else {
			in = append(in, pending{store: a})
		}
	}
	return in
}

// barrier drops the stores that a barrier orders and marks the others.
func (w *spaceWalk) barrier(op *loom.Op, in []pending) []pending {
	if op.Word("scope") == "subgroup" {
		return in // reads by other subgroups stay unordered either way
	}
	var out []pending
	for _, p := range in {
		if p.store.window.space != op.Word("memory_space") {
			p.barrier = op
			out = append(out, p)
		}
	}
	return out
}

func releases(op *loom.Op) bool {
	for _, a := range []string{"ordering", "success_ordering"} {
		switch op.Word(a) {
		case "release", "acq_rel", "seq_cst":
			return true
		}
	}
	return false
}

func join(a, b []pending) []pending {
	for _, p := range b {
		i := slices.IndexFunc(a, func(q pending) bool { return q.store == p.store })
		switch {
		case i < 0:
			a = append(a, p)
		case a[i].barrier == nil:
			a[i].barrier = p.barrier
		}
	}
	return a
}

func (w *spaceWalk) reads(load *access, in []pending) {
	for _, p := range in {
		key := spaceFinding{root: load.window.root}
		if p.barrier == nil || p.store.window.root != load.window.root || w.sameLane(p.store, load) || w.disjoint(p.store, load) {
			continue
		}
		if key.barrier = p.barrier.NameSpan(); w.done[key] {
			continue
		}
		w.done[key] = true
		space, fence := p.store.window.space, p.barrier.Word("memory_space")
		buffer := w.name(load.window.root)
		d := diag.Diagnostic{Span: p.barrier.NameSpan(), Message: fmt.Sprintf(
			"this barrier orders %s memory only, but stores to %s memory '%s' before it are read by other work items after it", fence, space, buffer)}
		d = d.WithRelated(p.store.op.NameSpan(), "the store").WithRelated(load.op.NameSpan(), "the load, of what another work item stored")
		if space == "global" {
			d = d.WithHelp("fence both spaces: put kernel.barrier<global> scope(workgroup) ordering(acq_rel) before this barrier")
		} else {
			d = d.WithHelp("add kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel) after this barrier")
		}
		w.report(barrierSpace, load.op, d)
	}
}

// sameLane reports whether every work item that makes the second access made the
// first one at the same address, so that it can only meet its own store.
func (b *body) sameLane(first, second *access) bool {
	if !first.known || !second.known || first.coop || second.coop || !first.addr.equal(second.addr) || second.bytes > first.bytes {
		return false
	}
	if !b.covered(first.op, second.op) {
		return false
	}
	// Equal addresses in all lanes: only a single writer would keep this in order,
	// and then the readers are others.
	return b.laneOwned(first.addr)
}

// covered reports whether the conditions around first hold around second too,
// apart from those that all items decide alike.
func (b *body) covered(first, second *loom.Op) bool {
	have := b.guardsOf(second)
	for _, g := range b.guardsOf(first) {
		if b.facts.Control(g.op) >= facts.UniformWorkgroup && b.facts.At(g.op, g.cond).Uniform >= facts.UniformWorkgroup {
			continue
		}
		if !slices.ContainsFunc(have, func(h guard) bool { return h.not == g.not && (h.op == g.op || b.sym.same(h.cond, g.cond)) }) {
			return false
		}
	}
	return true
}

// laneOwned reports whether an address differs between lanes, or stands under the
// condition of one.
func (b *body) laneOwned(s sum) bool {
	for _, t := range s.terms {
		for _, a := range t.atoms {
			if b.facts.Of(b.sym.vals[a]).Uniform < facts.UniformWorkgroup {
				return true
			}
		}
	}
	return false
}

// disjoint reports whether two accesses through views of one shape cannot meet:
// along some axis their index ranges are apart.
func (b *body) disjoint(x, y *access) bool {
	if !x.known || !y.known || len(x.window.strides) != len(y.window.strides) || !x.window.offset.equal(y.window.offset) || x.view.Type.Elem != y.view.Type.Elem {
		return false
	}
	xs, ys := x.op.Indices("indices"), y.op.Indices("indices")
	for i := range xs {
		if !x.window.strides[i].equal(y.window.strides[i]) {
			return false
		}
	}
	for i := range xs {
		f, g := b.indexFact(x.op, xs[i]), b.indexFact(y.op, ys[i])
		if i == len(xs)-1 && !x.coop && !y.coop {
			elem := int64(x.view.Type.Elem.Bytes())
			f.Hi, g.Hi = spread(f.Hi, x.bytes/max(elem, 1)), spread(g.Hi, y.bytes/max(elem, 1))
		} else if x.coop || y.coop {
			f.Hi, g.Hi = spread(f.Hi, 16), spread(g.Hi, 16)
		}
		if f.Hi < g.Lo || g.Hi < f.Lo {
			return true
		}
	}
	return false
}

func (b *body) indexFact(op *loom.Op, it loom.IndexItem) facts.Fact {
	if it.Val == nil {
		return facts.Exact(it.Int)
	}
	return b.facts.At(op, it.Val)
}

// spread is the last index that n elements from hi on touch.
func spread(hi, n int64) int64 {
	if n <= 1 || hi > 1<<62 {
		return hi
	}
	return hi + n - 1
}
