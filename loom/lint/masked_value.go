package lint

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// checkMaskedValue looks at products of a masked weight and a value read from
// global memory. A removed key weighs exactly 0, but 0 times what its value row
// happens to hold is NaN when that is a NaN or an infinity, and another rounding
// otherwise. The value has to be removed by the same mask.
func checkMaskedValue(b *body) {
	b.def.Body.Walk(func(op *loom.Op) bool {
		x, y := factors(op)
		if x == nil {
			return true
		}
		for _, p := range [2][2]*loom.Value{{x, y}, {y, x}} {
			m := b.maskOf(p[0])
			if m == nil {
				continue
			}
			if load := b.unmasked(op, p[1], m); load != nil {
				d := diag.Diagnostic{Span: op.NameSpan(), Message: fmt.Sprintf(
					"the masked weight '%s' is multiplied with values of '%s' that the mask does not remove: 0 times a stale NaN is NaN",
					b.name(p[0]), b.name(load.window.root))}
				d = d.WithRelated(m.at.NameSpan(), "%s", m.how).WithRelated(load.op.NameSpan(), "read here, for removed keys too")
				d = d.WithHelp("make the value zero where the mask removes its key (guard the load with the mask, or select 0) before multiplying")
				b.report(maskedValue, op, d)
				return true
			}
		}
		return true
	})
}

// factors returns the two operands that an op multiplies.
func factors(op *loom.Op) (x, y *loom.Value) {
	switch suffix(op) {
	case "mulf", "fmaf", "dotf", "dot2f", "mma":
		if len(op.Operands) >= 2 {
			return op.Operands[0], op.Operands[1]
		}
	}
	return nil, nil
}

// mask is what makes a weight zero.
type mask struct {
	at  *loom.Op // select or exp that applies it
	how string
	// roots are the buffers and parameters that decide.
	buffers, scalars map[*loom.Value]bool
}

// linear reports whether an op hands on a factor: whatever makes its input zero
// makes its result zero, and whatever is NaN in its input is in its result.
func linear(op *loom.Op) bool {
	switch suffix(op) {
	case "extf", "fptrunc", "bitcast", "mulf", "negf", "extract", "insert", "slice", "concat", "broadcast", "splat", "transpose", "shuffle",
		"interleave", "deinterleave", "from_elements", "fragment", "fragment.repack", "decode", "transform", "empty":
		return true
	}
	switch op.Name() {
	case "scf.if", "scf.for", "scf.switch", "scf.select", "vector.select", "kernel.subgroup.shuffle", "kernel.subgroup.broadcast":
		return true
	}
	return op.Def.Traits&loom.Fact != 0
}

func isExp(op *loom.Op) bool {
	s := suffix(op)
	return s == "expf" || s == "exp2f"
}

// maskOf finds the mask of a weight: a select of 0 for an exponential, or an
// exponential of something that a mask lowers to −∞.
func (b *body) maskOf(v *loom.Value) *mask {
	if m, ok := b.masks[v]; ok {
		return m
	}
	m := b.findMask(v)
	b.masks[v] = m
	return m
}

func (b *body) findMask(v *loom.Value) *mask {
	var m *mask
	b.backward(v, false, func(x *loom.Value) bool {
		op := x.Def
		if m != nil {
			return false
		}
		if op == nil {
			return true
		}
		switch {
		case isSelect(op) && (b.isZero(op.Operands[2]) && b.fromExp(op.Operands[1]) || b.isZero(op.Operands[1]) && b.fromExp(op.Operands[2])):
			m = b.newMask(op, op.Operands[0], "the weight is masked to 0 here")
			return false
		case isExp(op):
			m = b.loweredBy(op)
			return false
		}
		if a := b.mem.byOp[op]; a != nil {
			return a.window.space != "global"
		}
		return linear(op)
	})
	return m
}

func isSelect(op *loom.Op) bool { return op.Name() == "scf.select" || op.Name() == "vector.select" }

// fromExp reports whether v is an exponential, scaled at most.
func (b *body) fromExp(v *loom.Value) bool {
	found := false
	b.backward(v, false, func(x *loom.Value) bool {
		if x.Def == nil {
			return true
		}
		found = found || isExp(x.Def)
		return !found && b.mem.byOp[x.Def] == nil && linear(x.Def)
	})
	return found
}

// loweredBy finds the mask inside an exponent: a select of a huge negative number,
// a masked load that passes one through, or the addition of data from a buffer
// that is called a mask.
func (b *body) loweredBy(exp *loom.Op) *mask {
	var m *mask
	b.backward(exp.Operands[0], false, func(x *loom.Value) bool {
		op := x.Def
		if m != nil {
			return false
		}
		if op == nil {
			return true
		}
		if isSelect(op) && (b.isLowest(op.Operands[1]) || b.isLowest(op.Operands[2])) {
			m = b.newMask(op, op.Operands[0], "the exponent is masked to −∞ here")
			return false
		}
		if a := b.mem.byOp[op]; a != nil {
			if a.window.space != "global" {
				return true
			}
			if p := op.Operand("passthrough"); p != nil && b.isLowest(p) {
				m = b.newMask(op, op.Operand("mask"), "the exponent is masked to −∞ here")
			} else if strings.Contains(strings.ToLower(b.name(a.window.root)), "mask") {
				m = b.newMask(op, nil, "this mask is added to the exponent")
				m.buffers[a.window.root] = true
			}
			return false
		}
		switch suffix(op) {
		case "addf", "subf", "fmaf", "maxnumf", "maximumf", "minnumf", "minimumf":
			return true
		case "subgroup.reduce", "workgroup.reduce", "reduce":
			return false // the running maximum takes part without masking anything
		}
		return linear(op)
	})
	return m
}

func (b *body) newMask(at *loom.Op, cond *loom.Value, how string) *mask {
	m := &mask{at: at, how: how, buffers: map[*loom.Value]bool{}, scalars: map[*loom.Value]bool{}}
	if cond != nil {
		m.buffers, m.scalars = b.deciders(cond)
	}
	return m
}

// deciders lists the buffers whose contents, and the parameters whose values, take
// part in a condition.
func (b *body) deciders(cond *loom.Value) (buffers, scalars map[*loom.Value]bool) {
	if d, ok := b.decided[cond]; ok {
		return d[0], d[1]
	}
	buffers, scalars = map[*loom.Value]bool{}, map[*loom.Value]bool{}
	b.decided[cond] = [2]map[*loom.Value]bool{buffers, scalars}
	b.backward(cond, true, func(x *loom.Value) bool {
		if a, ok := b.isLoad(x); ok && a.window.space == "global" {
			buffers[a.window.root] = true
			return false // where in the buffer does not matter
		}
		if x.Def == nil && x.Block == nil && x.Type.Kind.IsScalar() {
			scalars[x] = true
		}
		return x.Type.Kind != loom.View && x.Type.Kind != loom.Buffer
	})
	return buffers, scalars
}

// decides reports whether a condition depends on the mask.
func (m *mask) decides(b *body, cond *loom.Value) bool {
	buffers, scalars := b.deciders(cond)
	want, have := m.buffers, buffers
	if len(m.buffers) == 0 {
		want, have = m.scalars, scalars
	}
	for r := range want {
		if have[r] {
			return true
		}
	}
	return false
}

// unmasked follows a value back to a read of float data from global memory that no
// condition depending on the mask stands before. The multiplication itself may
// stand under such a condition.
func (b *body) unmasked(op *loom.Op, v *loom.Value, m *mask) *access {
	guarded := func(o *loom.Op) bool {
		for _, g := range b.guardsOf(o) {
			if m.decides(b, g.cond) {
				return true
			}
		}
		return false
	}
	if guarded(op) {
		return nil
	}
	var found *access
	b.backward(v, false, func(x *loom.Value) bool {
		o := x.Def
		if found != nil {
			return false
		}
		if o == nil {
			return true
		}
		if a := b.mem.byOp[o]; a != nil {
			if a.window.space != "global" {
				return true
			}
			if !a.view.Type.Elem.IsFloat() || m.buffers[a.window.root] || guarded(o) {
				return false
			}
			if c := o.Operand("mask"); c != nil && m.decides(b, c) {
				return false
			}
			found = a
			return false
		}
		switch {
		case isSelect(o) && (b.isZero(o.Operands[1]) || b.isZero(o.Operands[2])) && m.decides(b, o.Operands[0]):
			return false
		case o.Name() == "scf.if" && m.decides(b, o.Operands[0]):
			return false
		}
		return linear(o)
	})
	return found
}

// isZero and isLowest look at constants, splats of them included.
func (b *body) isZero(v *loom.Value) bool {
	c, ok := b.floatConstant(v)
	return ok && c == 0
}

func (b *body) isLowest(v *loom.Value) bool {
	c, ok := b.floatConstant(v)
	return ok && c <= -1e4
}

func (b *body) floatConstant(v *loom.Value) (float64, bool) {
	if c, ok := b.facts.Float(v); ok {
		return c, true
	}
	if v.Def == nil {
		return 0, false
	}
	switch v.Def.Name() {
	case "vector.constant", "scalar.constant":
		return v.Def.Attr("value").Float(), v.Type.Element().IsFloat()
	case "vector.splat", "vector.broadcast":
		return b.floatConstant(v.Def.Operands[0])
	}
	return 0, false
}
