package exec

import (
	"strings"

	"github.com/loomc/loomc/loom"
)

// Instrumentation adds instructions before and after an op. What they look at
// is fixed here; what they report is in sanitize*.go, trace.go and count.go.

// instrumentBefore adds the checks of an op that need its operands only.
func (l *lowerer) instrumentBefore(op *loom.Op) {
	if l.mode&modeCount != 0 {
		l.countOp(op)
	}
	if l.mode&modeZero != 0 {
		l.zeroCheck(op)
	}
	if l.mode&SanDivergence != 0 {
		if scope := convergence(op); scope != "" {
			l.emit(lowered{run: checkConvergence, x: &convergeCheck{scope: scope}})
		}
	}
	if l.mode&SanRace != 0 && op.Name() == "kernel.barrier" {
		l.emit(lowered{run: barrierEvent, x: &barrierInfo{space: op.Word("memory_space"), ordering: op.Word("ordering"), scope: op.Word("scope")}})
	}
	if l.mode&SanBounds != 0 && op.Operand("view") != nil && op.Def.Traits&(loom.Reads|loom.Writes) != 0 && op.Def.Traits&loom.Hint == 0 {
		l.extents(op)
	}
	if l.mode&SanAssume != 0 {
		switch op.Name() {
		case "index.assume", "scalar.assume":
			l.emitPreds(op.Preds(), "assume")
		case "buffer.assume.alignment", "buffer.assume.noalias", "buffer.assume.memory_space":
			l.bufferPromise(op)
		}
	}
}

// instrumentAfter adds the checks that look at results.
func (l *lowerer) instrumentAfter(op *loom.Op) {
	if l.mode&SanNaN != 0 {
		l.nanCheck(op)
	}
	if l.mode&modeHash != 0 {
		l.hashOp(op)
	}
	if l.mode&modeTrace != 0 {
		for _, r := range op.Results {
			l.traceValue(r)
		}
	}
}

// convergence returns the scope whose items must all reach op together, "" for
// ops that work on the active lanes whatever they are.
func convergence(op *loom.Op) string {
	switch op.Name() {
	case "kernel.barrier":
		if op.Word("scope") == "subgroup" {
			return "subgroup"
		}
		return "workgroup"
	case "kernel.workgroup.reduce", "kernel.workgroup.scan", "kernel.workgroup.vote.all", "kernel.workgroup.vote.any", "kernel.workgroup.vote.count":
		return "workgroup"
	case "kernel.subgroup.reduce", "kernel.subgroup.scan", "kernel.subgroup.shuffle", "kernel.subgroup.broadcast",
		"kernel.subgroup.vote.all", "kernel.subgroup.vote.any",
		"vector.mma", "vector.fragment.load", "vector.fragment.store", "vector.fragment.repack":
		return "subgroup"
	}
	return ""
}

// extentCheck compares the index of each axis with the view's extent.
type extentCheck struct {
	view   string
	axes   []axisCheck
	n      int // components along the last axis
	masked bool
	packed bool // components count only where active, one after the other
	off    loom.Kind
	hasOff bool
	write  bool
}

type axisCheck struct {
	idx    int // position in xs, -1 for the literal
	lit    int64
	extent int // position in xs, -1 for the literal
	size   int64
	span   int64
}

// extents emits the check of an access's indices against its view's extents.
func (l *lowerer) extents(op *loom.Op) {
	v := op.Operand("view")
	idx := op.Indices("indices")
	t := v.Type
	if len(idx) != len(t.Dims) {
		return
	}
	c := &extentCheck{view: quoteValue(v) + " : " + t.String(), n: 1, write: op.Def.Traits&loom.Writes != 0}
	var xs []ref
	add := func(v *loom.Value) int {
		r, _ := l.asIndex(v)
		xs = append(xs, l.splat(r, 1))
		return len(xs) - 1
	}
	for i, it := range idx {
		a := axisCheck{idx: -1, lit: it.Int, extent: -1, size: t.Dims[i].Size, span: 1}
		if it.Val != nil {
			a.idx = add(it.Val)
		}
		if d := t.Dims[i].Val; d != nil {
			a.extent = add(d)
		}
		c.axes = append(c.axes, a)
	}
	in := lowered{run: checkExtents, x: c}
	value := op.Result()
	if value == nil || op.Operand("value") != nil {
		value = op.Operand("value")
	}
	if value == nil {
		value = op.Operand("expected")
	}
	switch {
	case strings.HasPrefix(op.Name(), "vector.fragment."):
		if len(c.axes) < 2 || value == nil {
			return
		}
		k := value.Type.Element()
		role := op.Word("role")
		y := l.fragment(role, k, l.count(value.Type)*codesPer(role, t.Elem, k), l.edge(op))
		rows, cols := int64(y.Edge), int64(y.Edge)
		switch role {
		case "lhs":
			cols = int64(y.Depth())
		case "rhs":
			rows = int64(y.Depth())
		}
		c.axes[len(c.axes)-2].span, c.axes[len(c.axes)-1].span = rows, cols
	case value != nil && len(c.axes) > 0:
		c.n = l.count(value.Type)
		if o := op.Operand("offsets"); o != nil {
			c.hasOff, c.off = true, o.Type.Element()
			in.b = l.lane(o)
		}
		if m := op.Operand("mask"); m != nil {
			c.masked = true
			in.c = l.lane(m)
		}
		c.packed = op.Name() == "vector.load.expand" || op.Name() == "vector.store.compress"
	}
	in.xs = xs
	l.emit(in)
}

// memCheck is the payload of the check in front of a memory instruction.
type memCheck struct {
	acc *access
}

// checkAccess emits the check of an access's bytes.
func (l *lowerer) checkAccess(in lowered, acc *access) {
	if l.mode&sanMemory == 0 {
		return
	}
	l.emit(lowered{run: checkMemory, a: in.a, b: in.b, c: in.c, xs: in.xs[:2], n: in.n, x: &memCheck{acc: acc}})
}

// predCheck is a list of predicates over registers.
type predCheck struct {
	preds []loom.Predicate
	kinds [][]loom.Kind
	args  [][]int // positions in xs, -1 for a literal
	what  string
}

// emitPreds emits the test of predicates for the active lanes.
func (l *lowerer) emitPreds(preds []loom.Predicate, what string) {
	c := &predCheck{what: what}
	var xs []ref
next:
	for _, p := range preds {
		var at []int
		var kinds []loom.Kind
		for _, a := range p.Args {
			if a.Val == nil {
				at, kinds = append(at, -1), append(kinds, loom.Invalid)
				continue
			}
			if _, ok := l.vals[a.Val]; !ok || a.Val.Type.Kind == loom.EncodingKind || l.count(a.Val.Type) != 1 {
				continue next
			}
			xs = append(xs, l.lane(a.Val))
			at, kinds = append(at, len(xs)-1), append(kinds, a.Val.Type.Element())
		}
		c.preds, c.args, c.kinds = append(c.preds, p), append(c.args, at), append(c.kinds, kinds)
	}
	if len(c.preds) > 0 {
		l.emit(lowered{run: checkPreds, x: c, xs: xs})
	}
}

// launchWhere emits the test of the kernel's promises about launch arguments.
func (l *lowerer) launchWhere() {
	l.emitPreds(l.p.def.Where, "where")
}

// bufferCheck is a promise about buffers.
type bufferCheck struct {
	kind  string
	align int64
	space string
	names []string
}

func (l *lowerer) bufferPromise(op *loom.Op) {
	c := &bufferCheck{kind: op.Name()[strings.LastIndexByte(op.Name(), '.')+1:], align: op.Attr("minimum_alignment").Int, space: op.Word("memory_space")}
	var xs []ref
	for _, v := range op.Operands {
		x := l.val(v)
		if !x.uni {
			return
		}
		xs = append(xs, x.r)
		c.names = append(c.names, quoteValue(v))
	}
	l.emit(lowered{run: checkBuffers, x: c, xs: xs})
}

// nanOperand is a float operand of an op under the nan check.
type nanOperand struct {
	kind loom.Kind
	n    int
}

type nanCheckInfo struct {
	res  nanOperand
	in   []nanOperand
	name string
}

// nanCheck emits the test whether an op turned finite inputs into a NaN or an
// infinity.
func (l *lowerer) nanCheck(op *loom.Op) {
	if len(op.Results) != 1 || len(op.Regions) > 0 {
		return
	}
	r := op.Result()
	if r.Type == nil || !(r.Type.Kind.IsScalar() || r.Type.Kind == loom.Vector) || !r.Type.Element().IsFloat() {
		return
	}
	if op.Def.Traits&loom.ElementWise == 0 {
		switch op.Name() {
		case "vector.reduce", "vector.reduce.axes", "vector.dotf", "vector.dot2f", "vector.dot4f8", "vector.mma",
			"kernel.subgroup.reduce", "kernel.workgroup.reduce", "kernel.subgroup.scan", "kernel.workgroup.scan":
		default:
			return
		}
	}
	if strings.HasSuffix(op.Name(), ".bitcast") || len(op.Operands) == 0 {
		return
	}
	whole := !strings.HasPrefix(op.Name(), "scalar.") && op.Def.Traits&loom.ElementWise == 0
	c := &nanCheckInfo{res: nanOperand{r.Type.Element(), l.count(r.Type)}, name: quoteValue(r)}
	xs := []ref{l.lane(r)}
	for _, o := range op.Operands {
		if o.Type.Element().IsFloat() {
			c.in = append(c.in, nanOperand{o.Type.Element(), l.count(o.Type)})
			xs = append(xs, l.lane(o))
		}
	}
	in := lowered{run: checkNaN, x: c, xs: xs}
	if whole {
		in.imm = 1 // any lane's input may have caused it
	}
	l.emit(in)
}
