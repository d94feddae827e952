package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
)

// asyncOps copy at once. The language lets a copy finish any time before its
// group is waited for, and now is one such time; the compiler still overlaps the
// loads with what follows.
var asyncOps = map[string]emitFunc{
	"kernel.async.copy": emitAsyncCopy, "kernel.async.copy.mask": emitAsyncCopy,
	"kernel.async.gather": emitAsyncCopy, "kernel.async.gather.mask": emitAsyncCopy,
	// A workgroup is alone in its cluster on these targets: a cluster gather is a
	// gather that bit 0 of its mask allows.
	"kernel.async.cluster.gather": emitAsyncCopy, "kernel.async.cluster.gather.mask": emitAsyncCopy,
	"kernel.async.group": bindToken, "kernel.async.wait": func(*emitter, *loom.Op) {},
}

func bindToken(e *emitter, op *loom.Op) { e.vals[op.Result()] = &binding{lit: "0"} }

// emitAsyncCopy moves the bytes of the source view, in the widest pieces both
// sides are aligned for. A gather gives each lane of the subgroup its own slot of
// the destination.
func emitAsyncCopy(e *emitter, op *loom.Op) {
	bindToken(e, op)
	src, dst := e.view(op.Operand("source")), e.view(op.Operand("dest"))
	size, ok := e.denseBytes(src)
	if _, ok2 := e.denseBytes(dst); !ok || !ok2 {
		e.unsupported("copy views with constant extents and a dense layout, row by row if need be", "a copy from '%s' to '%s', whose bytes are not one run of constant length",
			op.Operand("source").Type, op.Operand("dest").Type)
		return
	}
	to := dst.off
	if strings.Contains(op.Def.Name, "gather") {
		slot := size
		if n := len(dst.dims); n > 1 {
			w, ok := e.extent(dst.dims[n-1])
			if !ok {
				e.unsupported("give the destination's last axis a constant extent", "a gather into slots of a size known only at run time")
				return
			}
			slot = w * int64(dst.elem.Bytes())
		}
		lane := e.countValue("lane_id", e.laneExpr(), int64(e.wave-1))
		to = to.plus(lin{terms: []term{{coef: slot, a: lane}}})
	}
	copyAll := func() {
		at := int64(0)
		for at < size {
			a, b := e.alignment(src.buf, src.off.plus(lin{c: at})), e.alignment(dst.buf, to.plus(lin{c: at}))
			n := min(a, b, 16)
			for n > size-at {
				n /= 2
			}
			n = max(n, 1)
			typ := map[int64]string{1: "loom_u8", 2: "loom_u16", 4: "loom_u32", 8: "loom_u32x2", 16: "loom_u32x4"}[n]
			m := memName(typ, n)
			s := access{e: e, op: op, v: src, hint: op.Word("cache_temporal")}
			v := e.tmp("piece", typ, s.read(typ, n, src.off.plus(lin{c: at})))
			e.t.add(fmt.Sprintf("*(%s *)(%s) = %s;", m, e.address(dst, to.plus(lin{c: at})), v), nil)
			at += n
		}
	}
	var conds []string
	if m := op.Operand("cluster_mask"); m != nil {
		conds = append(conds, "("+e.ref(m)+" & 1) != 0")
	}
	if p := op.Operand("predicate"); p != nil {
		conds = append(conds, e.ref(p))
	}
	if conds == nil {
		copyAll()
		return
	}
	c := e.t.control("}")
	e.t.in(c, "if ("+strings.Join(conds, " && ")+") {", copyAll)
}

// extent is the constant size of an axis.
func (e *emitter) extent(d loom.Dim) (int64, bool) {
	if d.Val == nil {
		return d.Size, true
	}
	return e.constOf(d.Val)
}

// denseBytes is the size of a view whose elements lie without gaps.
func (e *emitter) denseBytes(v *viewRef) (int64, bool) {
	n := int64(1)
	for i := len(v.dims) - 1; i >= 0; i-- {
		s := v.strides[i]
		c := s.c
		if s.val != nil {
			k, ok := e.constOf(s.val)
			if !ok {
				return 0, false
			}
			c *= k
		}
		w, ok := e.extent(v.dims[i])
		if !ok || c != n && w > 1 {
			return 0, false
		}
		n *= w
	}
	return n * int64(v.elem.Bytes()), true
}
