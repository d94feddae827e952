package codegen

import (
	"strings"
	"sync"

	"github.com/loomc/loomc/loom"
)

// emitFunc emits one op.
type emitFunc func(e *emitter, op *loom.Op)

// table maps an op name to the function that emits it.
var table = sync.OnceValue(func() map[string]emitFunc {
	m := map[string]emitFunc{}
	for suffix := range laneOps {
		m["scalar."+suffix] = emitElementwise
		m["vector."+suffix] = emitElementwise
	}
	delete(m, "scalar.bitfield.insert")
	for _, list := range []map[string]emitFunc{indexOps, constantOps, vectorOps, memoryOps, atomicOps, scfOps, kernelOps, waveOps, groupOps, matrixOps, encodingOps, asyncOps} {
		for k, f := range list {
			m[k] = f
		}
	}
	return m
})

// Supported reports whether device code exists for the op called name. Ops may
// still be refused for some types or targets.
func Supported(name string) bool {
	if table()[name] != nil {
		return true
	}
	switch name { // handled by the ops they end
	case "scf.yield", "scf.condition", "kernel.return", "cfg.br", "cfg.cond_br", "kernel.launch.config":
		return true
	}
	return false
}

// emitElementwise writes an arithmetic op: once for a scalar, once per lane for a
// vector unless one operator does all lanes.
func emitElementwise(e *emitter, op *loom.Op) {
	_, suffix, _ := strings.Cut(op.Def.Name, ".")
	lo := laneOps[suffix]
	r := op.Result()
	l := lane{e: e, op: op, src: op.Operands[0].Type.Element(), dst: r.Type.Element(), flags: flagsOf(op)}
	if r.Type.Kind != loom.Vector {
		if v := e.neutral(op, suffix, l.flags); v != nil {
			e.alias(r, v)
			return
		}
		args := make([]string, len(op.Operands))
		for i, v := range op.Operands {
			args[i] = e.ref(v)
		}
		e.let(r, lo.expr(l, args))
		return
	}
	n := r.Type.Lanes()
	if lo.vec != "" && wholeVector(l) {
		e.let(r, e.ref(op.Operands[0])+" "+lo.vec+" "+e.ref(op.Operands[1]))
		return
	}
	e.lanes(r, n, func(i int) string {
		args := make([]string, len(op.Operands))
		for j, v := range op.Operands {
			args[j] = e.laneOf(v, i)
		}
		return lo.expr(l, args)
	})
}

// neutral returns the operand that a scalar op passes through: what is multiplied
// by one, and what zero is added to where the sign of a zero does not matter.
func (e *emitter) neutral(op *loom.Op, name string, f fmf) *loom.Value {
	is := func(v *loom.Value, c float64) bool {
		x, ok := e.facts.Float(v)
		return ok && x == c
	}
	switch {
	case name == "addf" && f.nsz && is(op.Operands[0], 0), name == "mulf" && is(op.Operands[0], 1):
		return op.Operands[1]
	case (name == "addf" || name == "subf") && f.nsz && is(op.Operands[1], 0), name == "mulf" && is(op.Operands[1], 1):
		return op.Operands[0]
	}
	return nil
}

// wholeVector reports whether the operator of l applies to whole vectors: the
// lanes are native arithmetic types that need no conversion or helper.
func wholeVector(l lane) bool {
	switch l.dst {
	case loom.F16, loom.F32, loom.F64:
		return !l.flags.contract
	case loom.I8, loom.I16, loom.I32, loom.I64:
		return !strings.HasSuffix(l.op.Def.Name, ".muli") || !l.fragileProduct()
	}
	return false
}

// laneOf reads lane i of v.
func (e *emitter) laneOf(v *loom.Value, i int) string {
	s := e.ref(v)
	if v.Type.Kind != loom.Vector {
		return s
	}
	return s + "[" + itoa(int64(i)) + "]"
}

// lanes defines the vector v lane by lane.
func (e *emitter) lanes(v *loom.Value, n int, f func(i int) string) {
	e.let(v, e.list(e.ctype(v), n, f))
}

// list is a braced vector value.
func (e *emitter) list(ctype string, n int, f func(i int) string) string {
	if n == 0 {
		return ctype + "{}"
	}
	var b strings.Builder
	b.Grow(len(ctype) + 24*n)
	b.WriteString(ctype)
	b.WriteByte('{')
	col := 0
	for i := range n {
		s := f(i)
		if i > 0 {
			b.WriteByte(',')
			if col += len(s) + 2; col > 96 {
				b.WriteString("\n    ")
				col = len(s)
			} else {
				b.WriteByte(' ')
			}
		} else {
			col = len(s)
		}
		b.WriteString(s)
	}
	b.WriteByte('}')
	return b.String()
}
