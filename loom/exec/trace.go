package exec

import (
	"github.com/loomc/loomc/loom"
)

// Trace selects one item whose values are reported op by op.
type Trace struct {
	Workgroup int64 // flat number of the workgroup
	Item      int   // flat number of the item in it
	// Event is called in execution order. Text is the value as the language would
	// write it, vectors in brackets.
	Event func(op *loom.Op, value *loom.Value, text string)
}

type traceInfo struct {
	value *loom.Value
	kind  loom.Kind
	n     int
}

// traceValue emits the report of one result.
func (l *lowerer) traceValue(v *loom.Value) {
	if !(v.Type.Kind.IsScalar() || v.Type.Kind == loom.Vector) {
		return
	}
	l.emit(lowered{run: traceEvent, a: l.lane(v), x: &traceInfo{value: v, kind: v.Type.Element(), n: l.count(v.Type)}})
}

func traceEvent(f *frame, in *instr) {
	t := f.run.opt.Trace
	if f.wgLin != t.Workgroup || t.Item >= f.L || !f.m.has(t.Item) || t.Event == nil {
		return
	}
	i := in.x.(*traceInfo)
	if i.value.Type.Kind != loom.Vector {
		t.Event(in.op, i.value, f.showReg(i.kind, in.a+t.Item))
		return
	}
	s := "["
	for e := range i.n {
		if e > 0 {
			s += ", "
		}
		s += f.showReg(i.kind, in.a+e*f.L+t.Item)
	}
	t.Event(in.op, i.value, s+"]")
}
