package lint

import (
	"strings"

	"github.com/loomc/loomc/loom"
)

// access is one read or write of memory by an op.
type access struct {
	op     *loom.Op
	view   *loom.Value
	window window
	read   bool
	write  bool
	atomic bool
	coop   bool // the lanes of a subgroup share the access: matrix fragments
	// addr is the byte address of the lane's first element in the root; only when
	// known.
	addr  sum
	known bool
	bytes int64 // per lane, 0 when not known
}

// window is a view's place in its storage.
type window struct {
	root    *loom.Value // parameter or allocation
	space   string      // "global", "workgroup", "private"
	offset  sum         // bytes
	strides []sum       // elements per axis
	ok      bool        // offset and strides are valid
	// bases are the values that make up offset, for alignment: byte offsets of
	// views and shifts of subviews.
	bases []shift
}

// shift is index·stride elements, or bytes when elem is zero.
type shift struct {
	index  loom.IndexItem
	stride *loom.Value // nil: unit elements of constant unit
	unit   int64       // bytes
}

// memory is the accesses of a body in program order.
type memory struct {
	b        *body
	accesses []*access
	byOp     map[*loom.Op]*access
	windows  map[*loom.Value]window
	stores   map[*loom.Value][]*access // by root
}

func newMemory(b *body) *memory {
	m := &memory{b: b, byOp: map[*loom.Op]*access{}, windows: map[*loom.Value]window{}, stores: map[*loom.Value][]*access{}}
	b.def.Body.Walk(func(op *loom.Op) bool {
		if a := m.access(op); a != nil {
			m.accesses = append(m.accesses, a)
			m.byOp[op] = a
			if a.write {
				m.stores[a.window.root] = append(m.stores[a.window.root], a)
			}
		}
		return true
	})
	return m
}

// access describes what op does to memory through one view, nil when nothing.
func (m *memory) access(op *loom.Op) *access {
	v := op.Operand("view")
	if v == nil || op.Def.Traits&(loom.Reads|loom.Writes) == 0 || op.Def.Traits&loom.Hint != 0 {
		return nil
	}
	a := &access{op: op, view: v, window: m.window(v)}
	a.read = op.Def.Traits&loom.Reads != 0
	a.write = op.Def.Traits&loom.Writes != 0
	a.atomic = strings.Contains(op.Name(), ".atomic.")
	a.coop = strings.HasPrefix(op.Name(), "vector.fragment.")
	elem := int64(v.Type.Elem.Bytes())
	a.bytes = elem
	value := op.Operand("value")
	if value == nil && len(op.Results) > 0 {
		value = op.Results[0]
	}
	if value != nil && value.Type.Kind == loom.Vector {
		a.bytes = elem * int64(value.Type.Lanes())
	}
	items := op.Indices("indices")
	if w := a.window; w.ok && len(items) == len(w.strides) && len(items) > 0 && op.Operand("offsets") == nil {
		a.known = true
		a.addr = w.offset
		for i, it := range items {
			a.addr = a.addr.plus(m.item(it).mul(w.strides[i]).times(elem))
		}
	}
	return a
}

func (m *memory) item(it loom.IndexItem) sum {
	if it.Val == nil {
		return constant(it.Int)
	}
	return m.b.sym.of(it.Val)
}

// window follows a view to its storage.
func (m *memory) window(v *loom.Value) window {
	if w, ok := m.windows[v]; ok {
		return w
	}
	w := m.find(v)
	m.windows[v] = w
	return w
}

func (m *memory) find(v *loom.Value) window {
	if v.Type.Kind == loom.Buffer {
		return m.buffer(v)
	}
	op := v.Def
	if op == nil {
		// A view parameter of a definition by itself.
		w := window{root: v}
		w.strides, w.ok = m.strides(v.Type)
		return w
	}
	elem := int64(v.Type.Elem.Bytes())
	switch op.Name() {
	case "buffer.view":
		w := m.window(op.Operand("buffer"))
		off := op.Operand("byte_offset")
		w.offset = m.b.sym.of(off)
		w.bases = []shift{{loom.IndexItem{Val: off}, nil, 1}}
		w.strides, w.ok = m.strides(v.Type)
		return w
	case "view.refine":
		w := m.window(op.Operand("source"))
		if s, ok := m.strides(v.Type); ok {
			w.strides = s
		}
		return w
	case "view.subview":
		w := m.window(op.Operand("source"))
		items := op.Indices("offsets")
		if !w.ok || len(items) != len(w.strides) {
			w.ok = false
			return w
		}
		src := op.Operand("source").Type
		for i, it := range items {
			w.offset = w.offset.plus(m.item(it).mul(w.strides[i]).times(elem))
			unit, val := m.stride(src, i)
			w.bases = append(w.bases[:len(w.bases):len(w.bases)], shift{it, val, unit * elem})
		}
		return w
	case "scf.select", "scf.if", "scf.for":
		return window{root: v}
	}
	return window{root: v}
}

func (m *memory) buffer(v *loom.Value) window {
	op := v.Def
	switch {
	case op == nil:
		return window{root: v, space: "global", ok: true}
	case op.Name() == "buffer.alloca":
		return window{root: v, space: op.Word("memory_space"), ok: true}
	case op.Def.Traits&loom.Fact != 0 && int(v.Index) < len(op.Operands):
		w := m.window(op.Operands[v.Index])
		if op.Name() == "buffer.assume.memory_space" {
			w.space = op.Word("memory_space")
		}
		return w
	}
	return window{root: v}
}

// strides returns the distance between neighbours along each axis, in elements.
func (m *memory) strides(t *loom.Type) ([]sum, bool) {
	n := len(t.Dims)
	out := make([]sum, n)
	if t.EncVal != nil {
		def := t.EncVal.Def
		for def != nil && def.Def.Traits&loom.Fact != 0 {
			def = def.Operands[0].Def
		}
		switch {
		case def == nil:
			return nil, false
		case def.Name() == "encoding.layout.strided":
			items := def.Indices("strides")
			if len(items) != n {
				return nil, false
			}
			for i, it := range items {
				out[i] = m.item(it)
			}
			return out, true
		case def.Name() != "encoding.layout.dense":
			return nil, false
		}
	} else if !t.Enc.IsDense() {
		p, ok := t.Enc.Param("strides")
		if !ok || len(p.List()) != n && len(p.Ints()) != n {
			return nil, false
		}
		for i := range out {
			if ints := p.Ints(); ints != nil {
				out[i] = constant(ints[i])
			} else {
				out[i] = constant(p.List()[i].Int)
			}
		}
		return out, true
	}
	at := constant(1)
	for i := n - 1; i >= 0; i-- {
		out[i] = at
		if d := t.Dims[i]; d.Val != nil {
			at = at.mul(m.b.sym.of(d.Val))
		} else {
			at = at.times(d.Size)
		}
	}
	return out, true
}

// stride returns the stride of one axis as unit·val elements; val is nil for a
// constant one. A stride that is a product of extents gives its constant part.
func (m *memory) stride(t *loom.Type, axis int) (unit int64, val *loom.Value) {
	if t.EncVal != nil {
		def := t.EncVal.Def
		for def != nil && def.Def.Traits&loom.Fact != 0 {
			def = def.Operands[0].Def
		}
		if def != nil && def.Name() == "encoding.layout.strided" {
			if items := def.Indices("strides"); axis < len(items) {
				if items[axis].Val == nil {
					return items[axis].Int, nil
				}
				return 1, items[axis].Val
			}
		}
		if def == nil || def.Name() != "encoding.layout.dense" {
			return 1, nil
		}
	} else if !t.Enc.IsDense() {
		if s, ok := m.strides(t); ok {
			c, _ := s[axis].constant()
			return c, nil
		}
		return 1, nil
	}
	unit = 1
	for i := len(t.Dims) - 1; i > axis; i-- {
		if d := t.Dims[i]; d.Val == nil {
			unit *= d.Size
		} else if val == nil {
			val = d.Val
		} else {
			unit *= max(1, m.b.facts.Of(d.Val).Div)
		}
	}
	return unit, val
}
