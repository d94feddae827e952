package verify

import (
	"slices"

	"github.com/loomc/loomc/loom"
)

// functionKinds are what func.call may name anywhere.
var functionKinds = []loom.DefKind{loom.DefFunc, loom.DefFuncDecl, loom.DefTemplate, loom.DefUkernel}

// calleeKinds are the definitions each kind of call may name. A kernel is a
// callee of func.call in the check.case of older test files, where the call is a
// launch; an older template implementation can be called exactly.
var calleeKinds = map[string]struct {
	attr, what string
	kinds      []loom.DefKind
}{
	"func.call":         {"callee", "function", append(slices.Clip(functionKinds), loom.DefKernel, loom.DefKernelDecl)},
	"template.apply":    {"family", "template family", []loom.DefKind{loom.DefTemplateDecl}},
	"template.call":     {"callee", "template implementation", []loom.DefKind{loom.DefTemplate, loom.DefUkernel}},
	"kernel.launch":     {"callee", "kernel", []loom.DefKind{loom.DefKernel, loom.DefKernelDecl}},
	"check.oracle.call": {"callee", "function", []loom.DefKind{loom.DefFunc, loom.DefFuncDecl, loom.DefTemplate, loom.DefTemplateDecl, loom.DefKernel, loom.DefKernelDecl}},
}

// call checks a call against the signature of its callee.
func (v *verifier) call(op *loom.Op) {
	c := calleeKinds[op.Def.Name]
	kinds := c.kinds
	if op.Def.Name == "func.call" && v.def.Kind != loom.DefCheckCase {
		kinds = functionKinds
	}
	d := v.symbolRef(op.Attr(c.attr).Str, op.NameSpan(), c.what, kinds...)
	if d == nil || op.Def.Name == "check.oracle.call" {
		return
	}
	args := op.Field("operands")
	if op.Def.Name == "kernel.launch" {
		if w := op.Field("workload"); len(w) != len(d.Workload) {
			v.report(v.opError(op, "STRUCTURE/001", "%s passes %s to '@%s', which takes %d", op.Def.Name, plural(len(w), "workload value"), d.Name, len(d.Workload)).
				WithRelated(d.NameSpan, "the kernel is declared here"))
			return
		}
	}
	if len(args) != len(d.Params) {
		v.report(v.opError(op, "STRUCTURE/001", "%s passes %s to '@%s', which takes %d", op.Def.Name, plural(len(args), "argument"), d.Name, len(d.Params)).
			WithRelated(d.NameSpan, "'@%s' is declared here", d.Name))
		return
	}
	if len(op.Results) != len(d.Results) {
		v.report(v.opError(op, "STRUCTURE/002", "%s names %s of '@%s', which has %d", op.Def.Name, plural(len(op.Results), "result"), d.Name, len(d.Results)).
			WithRelated(d.NameSpan, "'@%s' is declared here", d.Name))
		return
	}
	// The callee's types may mention its parameters and results: they stand for
	// the values of this call.
	formal := func(p *loom.Value) *loom.Value {
		for i, q := range d.Params {
			if p == q {
				return args[i]
			}
		}
		for i := range d.Results {
			if d.Results[i].Val == p && p != nil {
				return op.Results[i]
			}
		}
		return p
	}
	launch := d.Kind == loom.DefKernel || d.Kind == loom.DefKernelDecl
	for i, p := range d.Params {
		if p.Type == nil || args[i].Type == nil {
			continue
		}
		if launch && p.Type.Kind == loom.Buffer && args[i].Type.Kind == loom.Tensor {
			continue // a tensor stands for the buffer that holds it
		}
		if want := p.Type.Map(formal); conflict(want, args[i].Type) {
			v.report(v.opError(op, "TYPE/001", "argument %d of %s, '%%%s', has type %s, but parameter '%%%s' of '@%s' has type %s",
				i, op.Def.Name, args[i].Name, args[i].Type, p.Name, d.Name, want).
				WithRelated(d.NameSpan, "'@%s' is declared here", d.Name))
		}
	}
	for i := range d.Results {
		if d.Results[i].Type == nil || op.Results[i].Type == nil {
			continue
		}
		if want := d.Results[i].Type.Map(formal); conflict(want, op.Results[i].Type) {
			v.report(v.opError(op, "TYPE/001", "result '%%%s' of %s has type %s, but result %d of '@%s' has type %s",
				op.Results[i].Name, op.Def.Name, op.Results[i].Type, i, d.Name, want).
				WithRelated(d.NameSpan, "'@%s' is declared here", d.Name))
		}
	}
	if op.Has("pure") && !d.Mods.Pure {
		v.report(v.opError(op, "STRUCTURE/034", "%s is marked pure, but '@%s' is not declared pure", op.Def.Name, d.Name).
			WithRelated(d.NameSpan, "'@%s' is declared here", d.Name).
			WithHelp("declare the callee pure, or drop the mark"))
	}
}

// conflict reports whether two types can never be the same: an SSA extent or
// layout may turn out to be anything, so only literal parts disagree.
func conflict(a, b *loom.Type) bool {
	if a.Kind != b.Kind || a.Elem != b.Elem || a.Name != b.Name || len(a.Dims) != len(b.Dims) {
		return true
	}
	for i := range a.Dims {
		if a.Dims[i].Val == nil && b.Dims[i].Val == nil && a.Dims[i].Size != b.Dims[i].Size {
			return true
		}
	}
	return a.EncVal == nil && b.EncVal == nil && !sameLayout(a, b)
}

// returnOp checks a function's return against the declared results. Returns in
// nested regions are reported as wrong terminators there.
func (v *verifier) returnOp(op *loom.Op) {
	if op.Parent() != nil {
		return
	}
	vals := op.Operands
	rs := v.def.Results
	if len(vals) != len(rs) {
		v.report(v.opError(op, "STRUCTURE/001", "%s returns %s, but '@%s' declares %d", op.Def.Name, plural(len(vals), "value"), v.def.Name, len(rs)).
			WithRelated(v.def.NameSpan, "'@%s' is declared here", v.def.Name))
		return
	}
	formal := func(p *loom.Value) *loom.Value {
		for i := range rs {
			if rs[i].Val == p && p != nil {
				return vals[i]
			}
		}
		return p
	}
	for i, r := range rs {
		if r.Type == nil || vals[i].Type == nil || r.Type == vals[i].Type {
			continue
		}
		if want := r.Type.Map(formal); conflict(want, vals[i].Type) {
			v.report(v.definedHere(v.opError(op, "TYPE/001", "%s returns '%%%s' of type %s, but result %d of '@%s' has type %s",
				op.Def.Name, vals[i].Name, vals[i].Type, i, v.def.Name, want), vals[i]).
				WithRelated(v.def.NameSpan, "'@%s' is declared here", v.def.Name))
		}
	}
}

// configGet checks a config read against the declaration.
func (v *verifier) configGet(op *loom.Op) {
	d := v.symbolRef(op.Attr("config").Str, op.NameSpan(), "config", loom.DefConfigDecl, loom.DefConfigDef)
	if d == nil || d.ConfigType == nil {
		return
	}
	if t := op.Result().Type; !t.Equal(d.ConfigType) {
		v.report(v.opError(op, "TYPE/001", "config '@%s' has type %s, but is read as %s", d.Name, d.ConfigType, t).
			WithRelated(d.NameSpan, "declared here").
			WithHelp("read it as %s and convert the value", d.ConfigType))
	}
}

// globalAccess checks global.load and global.store.
func (v *verifier) globalAccess(op *loom.Op) {
	d := v.symbolRef(op.Attr("global").Str, op.NameSpan(), "global", loom.DefGlobal)
	if d == nil || d.ConfigType == nil {
		return
	}
	val := op.Result()
	if op.Def.Name == "global.store" {
		val = op.Operand("value")
	}
	if val == nil || val.Type == nil {
		return
	}
	// Names in the declaration's type are local to it: two types agree when one
	// renaming of values makes them equal.
	rename := map[*loom.Value]*loom.Value{}
	want := d.ConfigType
	if !matchRenamed(want, val.Type, rename) {
		v.report(v.opError(op, "TYPE/001", "global '@%s' has type %s, but is accessed as %s", d.Name, want, val.Type).
			WithRelated(d.NameSpan, "declared here"))
		return
	}
	if op.Def.Name != "global.load" {
		return
	}
	// Further results stand for the values the loaded type mentions.
	mentioned := map[*loom.Value]bool{}
	val.Type.Values(func(x *loom.Value) { mentioned[x] = true })
	for _, r := range op.Results[1:] {
		if !mentioned[r] {
			v.report(v.opError(op, "STRUCTURE/002", "result '%%%s' of %s stands for no part of the loaded type %s", r.Name, op.Def.Name, val.Type).
				WithHelp("remove the result"))
		}
	}
}

func matchRenamed(a, b *loom.Type, rename map[*loom.Value]*loom.Value) bool {
	if a.Kind != b.Kind || a.Elem != b.Elem || a.Name != b.Name || len(a.Dims) != len(b.Dims) {
		return false
	}
	same := func(x, y *loom.Value) bool {
		if x == nil || y == nil {
			return x == y
		}
		if z, ok := rename[x]; ok {
			return z == y
		}
		rename[x] = y
		return true
	}
	for i := range a.Dims {
		if a.Dims[i].Size != b.Dims[i].Size || !same(a.Dims[i].Val, b.Dims[i].Val) {
			return false
		}
	}
	return same(a.EncVal, b.EncVal) && (a.EncVal != nil || sameLayout(a, b))
}
