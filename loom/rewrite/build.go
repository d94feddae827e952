// Package rewrite holds the changes to a definition that know nothing about
// linking or targets: building operations, merging equal ones (Merge), moving
// invariant ones out of loops (Hoist), removing unused ones (Prune) and giving
// values unique names (Rename).
//
// Every function here changes the definition it is given in place; the caller
// owns it (loom.CloneDef). Each one walks the definition a fixed number of times
// and keeps its tables only for that long, so that its cost is linear in the
// number of operations and nothing has to be kept up to date between passes.
package rewrite

import (
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Op makes an operation of the table with one result of the given type. It is in
// no block. The name must be in the table.
func Op(name string, at diag.Span, result *loom.Type, resultName string, operands ...*loom.Value) *loom.Op {
	def := dialect.Ops().Lookup(name)
	op := &loom.Op{Def: def.Compile(), Span: at, NamePos: at.Start, Operands: operands}
	op.Results = []*loom.Value{{Name: resultName, Type: result, Def: op}}
	return op
}

// Constant turns op, which must have one result of a scalar or static vector
// type, into the constant a in place, so that the uses of its result stay.
func Constant(op *loom.Op, a loom.Attr) {
	t := op.Results[0].Type
	name := "scalar.constant"
	switch {
	case t.Kind == loom.Vector:
		name = "vector.constant"
	case t.Kind.IsIndexLike():
		name = "index.constant"
	}
	op.Def = dialect.Ops().Lookup(name).Compile()
	op.Operands, op.Segs, op.Regions, op.Succs = nil, nil, nil, nil
	op.Attrs = []loom.NamedAttr{{Name: "value", Value: a}}
}

// IntValue returns the attribute a constant of kind k and value v is written
// with.
func IntValue(k loom.Kind, v int64) loom.Attr {
	if k == loom.I1 {
		return loom.BoolAttr(v != 0)
	}
	return loom.IntAttr(v)
}

// IsConstant reports whether op is a constant.
func IsConstant(op *loom.Op) bool {
	switch op.Def.Name {
	case "index.constant", "scalar.constant", "vector.constant":
		return true
	}
	return false
}

// SetOperands replaces the operands of field number i of op.
func SetOperands(op *loom.Op, i int, vs []*loom.Value) {
	if op.Segs == nil {
		op.Segs = make([]uint16, len(op.Def.Operands))
		for j := range op.Segs {
			op.Segs[j] = 1
		}
		if len(op.Def.Operands) == 1 {
			op.Segs[0] = uint16(len(op.Operands))
		}
	}
	at := 0
	for j := range i {
		at += int(op.Segs[j])
	}
	n := int(op.Segs[i])
	op.Operands = slices.Replace(slices.Clone(op.Operands), at, at+n, vs...)
	op.Segs[i] = uint16(len(vs))
}

// FieldIndex returns the number of the operand field called name, or −1.
func FieldIndex(def *loom.OpDef, name string) int {
	for i, f := range def.Operands {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Map replaces every value op itself refers to (operands, successor arguments,
// predicates, result types) by f of it. Regions are left alone.
func Map(op *loom.Op, f func(*loom.Value) *loom.Value) {
	for i, v := range op.Operands {
		op.Operands[i] = f(v)
	}
	for i := range op.Succs {
		for j, v := range op.Succs[i].Args {
			op.Succs[i].Args[j] = f(v)
		}
	}
	for i := range op.Attrs {
		a := &op.Attrs[i].Value
		if a.Kind != loom.AttrPreds {
			continue
		}
		ps := a.Preds()
		for j := range ps {
			for k := range ps[j].Args {
				if v := ps[j].Args[k].Val; v != nil {
					if w := f(v); w != v {
						ps = slices.Clone(ps)
						ps[j] = ps[j].Map(f)
						a.Aux = ps
						break
					}
				}
			}
		}
	}
	for _, r := range op.Results {
		r.Type = r.Type.Map(f)
	}
}

// Structured reports whether op is one of the scf operations whose results are
// handed out by the yields of its regions.
func Structured(op *loom.Op) bool {
	switch op.Def.Name {
	case "scf.if", "scf.for", "scf.switch":
		return len(op.Regions) > 0
	}
	return false
}

// Yield returns the terminator of a single-block region, or nil.
func Yield(r *loom.Region) *loom.Op {
	if r == nil || len(r.Blocks) != 1 {
		return nil
	}
	return r.Blocks[0].Terminator()
}

// SideEffectFree reports whether op may be removed when nothing uses its
// results. Assumes are not: they promise something even when unused.
func SideEffectFree(op *loom.Op) bool {
	t := op.Def.Traits
	switch {
	case t&(loom.Terminator|loom.Opaque) != 0:
		return false
	case op.Def.Name == "index.assume" || op.Def.Name == "scalar.assume":
		return false
	case t&loom.Pure != 0:
		return true
	case op.Def.Name == "buffer.alloca":
		return true
	case t&loom.Writes == 0 && t&(loom.Reads|loom.Convergent) != 0:
		return true
	}
	return Structured(op)
}
