package exec

import (
	"sort"
	"strings"

	"github.com/loomc/loomc/loom"
)

// Counts is how much of what a launch executed: the inputs of a roofline.
type Counts struct {
	// Ops counts items times vector lanes per op name, Items items only.
	Ops   []OpCount `json:"ops"`
	Loads int64     `json:"loads"` // elements read
	// Stores are elements written; atomics count as both.
	Stores      int64            `json:"stores"`
	LoadBytes   map[string]int64 `json:"load_bytes"` // by memory space
	StoreBytes  map[string]int64 `json:"store_bytes"`
	FloatOps    int64            `json:"float_ops"` // a fused multiply-add counts as two
	MatrixFlops int64            `json:"matrix_flops"`
	LaneOps     int64            `json:"lane_ops"`
}

// OpCount is one line of Counts.
type OpCount struct {
	Op    string `json:"op"`
	Items int64  `json:"items"`
	Lanes int64  `json:"lane_ops"`
}

// counter is what one op adds per active item.
type counter struct {
	name        string
	lanes       int64
	bytes       int64
	load, store bool
	space       space
	flops       int64
	matrix      int64 // per subgroup
}

// countOp emits the counting of an op.
func (l *lowerer) countOp(op *loom.Op) {
	c := counter{name: op.Name(), lanes: 1}
	var t *loom.Type
	if r := op.Result(); r != nil {
		t = r.Type
	}
	if v := op.Operand("value"); v != nil && op.Operand("view") != nil {
		t = v.Type
	}
	if t != nil && t.Kind == loom.Vector {
		c.lanes = int64(l.count(t))
	}
	if v := op.Operand("view"); v != nil && op.Def.Traits&loom.Hint == 0 {
		c.load, c.store = op.Def.Traits&loom.Reads != 0, op.Def.Traits&loom.Writes != 0
		c.bytes = c.lanes * int64(v.Type.Elem.Bytes())
		if bits, ok := l.isConst(l.val(v).r); ok {
			c.space = l.c.bufs[bits].space
		}
	}
	if t != nil && t.Element().IsFloat() {
		_, name, _ := strings.Cut(op.Name(), ".")
		switch {
		case name == "fmaf":
			c.flops = 2 * c.lanes
		case binaryFloats[name] != nil || unaryFloats[name] != nil || name == "clampf" || name == "geluf":
			c.flops = c.lanes
		case op.Name() == "vector.reduce":
			c.flops = int64(l.count(op.Operand("input").Type))
		case op.Name() == "vector.dotf" || op.Name() == "vector.dot2f":
			c.flops = 2 * int64(l.count(op.Operand("lhs").Type))
		}
	}
	if op.Name() == "vector.mma" {
		if m, ok := l.mmaInfo(op); ok {
			c.matrix = 2 * int64(m.edge*m.edge*m.k)
		}
	}
	id := len(l.c.counters)
	l.c.counters = append(l.c.counters, c)
	l.emit(lowered{run: func(f *frame, in *instr) {
		f.hits[id] += int64(f.m.n)
		if c.matrix > 0 {
			f.eachSubgroup(func(base, width int) { f.waves[id]++ })
		}
	}})
}

func collectCounts(c *boundCode, fs []*frame) *Counts {
	out := &Counts{LoadBytes: map[string]int64{}, StoreBytes: map[string]int64{}}
	by := map[string]*OpCount{}
	for i, k := range c.counters {
		var n, w int64
		for _, f := range fs {
			n += f.hits[i]
			w += f.waves[i]
		}
		if n == 0 {
			continue
		}
		o := by[k.name]
		if o == nil {
			o = &OpCount{Op: k.name}
			by[k.name] = o
		}
		o.Items += n
		o.Lanes += n * k.lanes
		out.LaneOps += n * k.lanes
		out.FloatOps += n * k.flops
		out.MatrixFlops += w * k.matrix
		if k.load {
			out.Loads += n * k.lanes
			out.LoadBytes[k.space.String()] += n * k.bytes
		}
		if k.store {
			out.Stores += n * k.lanes
			out.StoreBytes[k.space.String()] += n * k.bytes
		}
	}
	for _, o := range by {
		out.Ops = append(out.Ops, *o)
	}
	sort.Slice(out.Ops, func(i, j int) bool { return out.Ops[i].Op < out.Ops[j].Op })
	return out
}
