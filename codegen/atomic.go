package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

var atomicOps = map[string]emitFunc{
	"view.atomic.reduce": emitAtomic, "view.atomic.rmw": emitAtomic, "view.atomic.cmpxchg": emitCmpxchg,
	"vector.atomic.reduce": emitVectorAtomic, "vector.atomic.reduce.mask": emitVectorAtomic,
	"vector.atomic.rmw": emitVectorAtomic, "vector.atomic.rmw.mask": emitVectorAtomic,
	"vector.atomic.cmpxchg": emitVectorCmpxchg,
}

func loomRange(lo, hi int64) facts.Fact { return facts.Range(lo, hi, facts.Varying) }

var orderings = map[string]string{
	"relaxed": "__ATOMIC_RELAXED", "acquire": "__ATOMIC_ACQUIRE", "release": "__ATOMIC_RELEASE",
	"acq_rel": "__ATOMIC_ACQ_REL", "seq_cst": "__ATOMIC_SEQ_CST", "": "__ATOMIC_RELAXED",
}

var scopes = map[string]string{
	"thread": "LOOM_SCOPE_THREAD", "subgroup": "LOOM_SCOPE_WAVE", "workgroup": "LOOM_SCOPE_WORKGROUP",
	"device": "LOOM_SCOPE_DEVICE", "system": "LOOM_SCOPE_SYSTEM", "": "LOOM_SCOPE_DEVICE",
}

// atomicCall is the macro that does kind on a value of element k of 32 or 64
// bits, and the C++ type of the word it works on.
func (e *emitter) atomicCall(kind string, k loom.Kind) (fn, typ string, ok bool) {
	typ = scalarNames[k]
	switch kind {
	case "addi", "subi", "andi", "ori", "xori":
		return "LOOM_ATOMIC_" + strings.ToUpper(kind[:len(kind)-1]), typ, k.IsInt()
	case "minui", "maxui":
		return "LOOM_ATOMIC_" + strings.ToUpper(kind[:3]), typ, k.IsInt()
	case "minsi", "maxsi":
		return "LOOM_ATOMIC_" + strings.ToUpper(kind[:3]), signed(k), k.IsInt()
	case "xchgi", "xchgf":
		return "LOOM_ATOMIC_XCHG", "loom_u" + itoa(int64(k.Bits())), true
	}
	return "LOOM_ATOMIC_LOOP", typ, k.IsFloat()
}

// atomicExpr is the expression of one atomic combination; it yields the old value.
func (e *emitter) atomicExpr(kind string, k loom.Kind, ptr, val, ord, scope string) string {
	fn, typ, ok := e.atomicCall(kind, k)
	if !ok {
		e.unsupported("use the kind that fits the element", "kind '%s' on '%s'", kind, k)
		return "0"
	}
	if k.Bits() < 32 {
		return e.narrowAtomic(kind, k, ptr, val, ord, scope)
	}
	m := memName(typ, int64(k.Bytes()))
	p := "(" + m + " *)(" + ptr + ")"
	switch {
	case fn == "LOOM_ATOMIC_LOOP":
		return "loom_atomic_" + strings.TrimSuffix(kind, "f") + "_" + shortNames[k] + "<" + scopes[scope] + ">(" + p + ", " + val + ", " + orderings[ord] + ")"
	case fn == "LOOM_ATOMIC_XCHG" && k.IsFloat():
		return "loom_bitcast<" + scalarNames[k] + ">(" + fn + "(" + p + ", loom_bitcast<" + typ + ">(" + val + "), " + orderings[ord] + ", " + scopes[scope] + "))"
	case typ != scalarNames[k]:
		return "(" + scalarNames[k] + ")" + fn + "(" + p + ", (" + typ + ")" + paren(val) + ", " + orderings[ord] + ", " + scopes[scope] + ")"
	}
	return fn + "(" + p + ", " + val + ", " + orderings[ord] + ", " + scopes[scope] + ")"
}

// narrowAtomic is an atomic on an element of 8 or 16 bits. The devices have none:
// it works on the aligned word that holds the element. Bitwise kinds are one
// atomic on that word, the others a loop.
func (e *emitter) narrowAtomic(kind string, k loom.Kind, ptr, val, ord, scope string) string {
	typ := elemName(k, c64)
	v := val
	if k == loom.I1 {
		v = "(" + typ + ")" + paren(val)
	}
	args := ptr + ", " + v + ", " + orderings[ord]
	var s string
	switch kind {
	case "andi", "ori", "xori":
		s = "loom_narrow_" + kind[:len(kind)-1] + "<" + scopes[scope] + ">(" + args + ")"
	case "xchgi", "xchgf":
		s = "loom_narrow_xchg<" + scopes[scope] + ">(" + args + ")"
	default:
		was, with := e.names.pick("was"), e.names.pick("with")
		next := e.combine(kind, k, fmf{}, was, with)
		s = fmt.Sprintf("loom_narrow_loop<%s>(%s, [](%s %s, %s %s) -> %s { return (%s)%s; })", scopes[scope], args, typ, was, typ, with, typ, typ, paren(next))
	}
	if k == loom.I1 {
		s += " != 0"
	}
	return s
}

func emitAtomic(e *emitter, op *loom.Op) {
	a := e.access(op)
	x := op.Operand("value")
	s := e.atomicExpr(op.Word("kind"), a.v.elem, e.address(a.v, a.l), e.ref(x), op.Word("ordering"), op.Word("scope"))
	if r := op.Result(); r != nil {
		e.effectResult(r, s)
		return
	}
	e.t.add("(void)"+s+";", nil)
}

// effectResult defines r by an expression that must be evaluated even when r is
// not read.
func (e *emitter) effectResult(r *loom.Value, expr string) {
	if len(e.users[r]) == 0 {
		e.t.add("(void)"+expr+";", nil)
		e.vals[r] = &binding{lit: "0"}
		return
	}
	e.let(r, expr)
	cv := e.vals[r].cv
	e.t.roots = append(e.t.roots, cv.defs...)
	e.t.add("(void)"+cv.name+";", nil)
}

func (e *emitter) cmpxchgExpr(op *loom.Op, k loom.Kind, ptr, want, repl string) string {
	so, fo := op.Word("success_ordering"), op.Word("failure_ordering")
	if so == "" {
		so = op.Word("ordering")
	}
	if fo == "" {
		fo = map[string]string{"acq_rel": "acquire", "release": "relaxed", "": "relaxed"}[so]
		if fo == "" {
			fo = so
		}
	}
	if k.Bits() < 32 {
		if k == loom.I1 {
			want, repl = "(loom_i1)"+paren(want), "(loom_i1)"+paren(repl)
		}
		s := "loom_narrow_cmpxchg<" + scopes[op.Word("scope")] + ">(" + ptr + ", " + want + ", " + repl + ", " + orderings[so] + ", " + orderings[fo] + ")"
		if k == loom.I1 {
			s += " != 0"
		}
		return s
	}
	t := "loom_u" + itoa(int64(k.Bits()))
	p := "(" + memName(t, int64(k.Bytes())) + " *)(" + ptr + ")"
	w, r := want, repl
	if k.IsFloat() {
		w, r = "loom_bitcast<"+t+">("+want+")", "loom_bitcast<"+t+">("+repl+")"
	}
	s := "loom_cmpxchg_" + t[5:] + "<" + scopes[op.Word("scope")] + ">(" + p + ", " + w + ", " + r + ", " + orderings[so] + ", " + orderings[fo] + ")"
	if k.IsFloat() {
		s = "loom_bitcast<" + scalarNames[k] + ">(" + s + ")"
	}
	return s
}

func emitCmpxchg(e *emitter, op *loom.Op) {
	a := e.access(op)
	e.effectResult(op.Result(), e.cmpxchgExpr(op, a.v.elem, e.address(a.v, a.l), e.ref(op.Operand("expected")), e.ref(op.Operand("replacement"))))
}

func emitVectorAtomic(e *emitter, op *loom.Op) {
	a := e.access(op)
	x, offs, m, p := op.Operand("value"), op.Operand("offsets"), op.Operand("mask"), op.Operand("passthrough")
	n := x.Type.Lanes()
	r := op.Result()
	out := make([]string, n)
	for i := range n {
		l := a.laneOffset(offs, i)
		s := e.atomicExpr(op.Word("kind"), a.v.elem, e.address(a.v, l), e.laneOf(x, i), op.Word("ordering"), op.Word("scope"))
		var cv *cvar
		if r != nil {
			init := scalarNames[a.v.elem] + "()"
			if p != nil {
				init = e.laneOf(p, i)
			}
			cv = e.declareMutable(r.Name+"_"+itoa(int64(i)), scalarNames[a.v.elem], init)
			out[i] = cv.name
		}
		do := func() {
			if cv == nil {
				e.t.add("(void)"+s+";", nil)
				return
			}
			nd := e.t.add(cv.name+" = "+s+";", cv)
			e.t.roots = append(e.t.roots, nd)
		}
		if m == nil {
			do()
			continue
		}
		c := e.t.control("}")
		e.t.in(c, "if ("+e.laneOf(m, i)+") {", do)
	}
	if r != nil {
		e.lanes(r, n, func(i int) string { return out[i] })
	}
}

func emitVectorCmpxchg(e *emitter, op *loom.Op) {
	a := e.access(op)
	r, offs := op.Result(), op.Operand("offsets")
	n := r.Type.Lanes()
	out := make([]string, n)
	for i := range n {
		l := a.laneOffset(offs, i)
		out[i] = e.tmp(r.Name+"_"+itoa(int64(i)), scalarNames[a.v.elem],
			e.cmpxchgExpr(op, a.v.elem, e.address(a.v, l), e.laneOf(op.Operand("expected"), i), e.laneOf(op.Operand("replacement"), i)))
		cv := e.names.variable(out[i])
		e.t.roots = append(e.t.roots, cv.defs...)
		e.t.add("(void)"+out[i]+";", nil)
	}
	e.lanes(r, n, func(i int) string { return out[i] })
}
