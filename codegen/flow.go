package codegen

import (
	"strings"

	"github.com/loomc/loomc/loom"
)

// slot is the variable of a view or buffer that control flow carries. The layout
// of a view follows from its type, so what moves is where it begins: a pointer in
// global memory, a byte offset in workgroup memory, all of which is one array.
type slot struct {
	cv    *cvar
	space space
	// offset is the value of cv when it holds a byte offset, else nil.
	offset *loom.Value
}

func isMemory(v *loom.Value) bool { return v.Type.Kind == loom.View || v.Type.Kind == loom.Buffer }

// isParam reports a parameter of the kernel: no op defines it, and no branch.
func isParam(v *loom.Value) bool {
	return v.Def == nil && (v.Block == nil || v.Block.Region.Op == nil && v.Block.Region.Entry() == v.Block)
}

// roots lists the parameters and allocations that the memory value v may stand
// for. ok is false when one of its sources is something else.
func (e *emitter) roots(v *loom.Value) (list []*loom.Value, ok bool) {
	seen := map[*loom.Value]bool{}
	ok = true
	var visit func(v *loom.Value)
	visit = func(v *loom.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		if isParam(v) {
			list = append(list, v)
			return
		}
		if v.Def != nil && v.Def.Def.Name == "buffer.alloca" {
			list = append(list, v)
			return
		}
		src := memorySources(v)
		if len(src) == 0 {
			ok = false
		}
		for _, s := range src {
			visit(s)
		}
	}
	visit(v)
	return list, ok
}

// memorySources are the values that v is, or is derived from, on the ways that
// lead to it.
func memorySources(v *loom.Value) []*loom.Value {
	yields := func(r *loom.Region, i int) []*loom.Value {
		if r == nil {
			return nil
		}
		for _, b := range r.Blocks {
			if t := b.Terminator(); t != nil && t.Def.Name == "scf.yield" && i < len(t.Operands) {
				return t.Operands[i : i+1]
			}
		}
		return nil
	}
	forwarded := func(w *loom.Op, i int) []*loom.Value {
		if t := w.Regions[0].Entry().Terminator(); t != nil {
			if f := t.Field("forwarded"); i < len(f) {
				return f[i : i+1]
			}
		}
		return nil
	}
	i := int(v.Index)
	if op := v.Def; op != nil {
		switch op.Def.Name {
		case "buffer.view":
			return []*loom.Value{op.Operand("buffer")}
		case "view.subview", "view.refine":
			return []*loom.Value{op.Operand("source")}
		case "buffer.assume.memory_space", "buffer.assume.same_root":
			return op.Operands[:1]
		case "buffer.assume.alignment", "buffer.assume.noalias":
			return op.Operands[i : i+1]
		case "scf.select":
			return []*loom.Value{op.Operand("true_value"), op.Operand("false_value")}
		case "scf.lookup":
			var out []*loom.Value
			for j, x := range op.Field("values") {
				if j%len(op.Results) == i {
					out = append(out, x)
				}
			}
			return out
		case "scf.for":
			return append(append([]*loom.Value(nil), op.Field("iter_args")[i]), yields(op.Regions[0], i)...)
		case "scf.while":
			return forwarded(op, i)
		case "scf.if", "scf.switch":
			var out []*loom.Value
			for _, r := range op.Regions {
				out = append(out, yields(r, i)...)
			}
			return out
		}
		return nil
	}
	r := v.Block.Region
	if r.Entry() != v.Block { // an argument of a labelled block
		var out []*loom.Value
		for _, b := range r.Blocks {
			if t := b.Terminator(); t != nil {
				for _, s := range t.Succs {
					if s.Dest == v.Block && i < len(s.Args) {
						out = append(out, s.Args[i])
					}
				}
			}
		}
		return out
	}
	switch op := r.Op; op.Def.Name {
	case "scf.for":
		if i > 0 {
			return append(append([]*loom.Value(nil), op.Field("iter_args")[i-1]), yields(op.Regions[0], i-1)...)
		}
	case "scf.while":
		if r == op.Regions[1] {
			return forwarded(op, i)
		}
		return append(append([]*loom.Value(nil), op.Field("iter_args")[i]), yields(op.Regions[1], i)...)
	}
	return nil
}

// rootSpace is the memory space of a parameter or an allocation.
func rootSpace(v *loom.Value) space {
	if v.Def == nil {
		return global
	}
	if v.Def.Word("memory_space") == "private" {
		return private
	}
	return workgroup
}

func (s space) String() string { return [...]string{"global", "workgroup", "private"}[s] }

// carryMemory declares the variable of the memory value v; init, unless nil, writes
// its first value.
func (e *emitter) carryMemory(v *loom.Value, init func(s *slot) string) *cvar {
	roots, ok := e.roots(v)
	if !ok || len(roots) == 0 {
		e.unsupported("derive it from the kernel's buffers and allocations", "%%%s of type '%s' comes through control flow from something that is no buffer of the kernel", v.Name, v.Type)
		return e.declareMutable(v.Name, "loom_u32", "0u")
	}
	sp := rootSpace(roots[0])
	for _, r := range roots[1:] {
		if o := rootSpace(r); o != sp {
			e.unsupported("carry memory of one space: select the loaded values instead, or copy into workgroup memory first",
				"%%%s of type '%s' is %%%s in %s memory on one way and %%%s in %s memory on another", v.Name, v.Type, roots[0].Name, sp, r.Name, o)
			return e.declareMutable(v.Name, "loom_u32", "0u")
		}
	}
	s := &slot{space: sp}
	b := &bufRef{space: sp, binding: -1, align: e.flowAlign(v, map[*loom.Value]bool{})}
	off := lin{}
	if sp == workgroup {
		s.offset = &loom.Value{Name: v.Name + "_at", Type: loom.Scalar(loom.Offset)}
		f := loomRange(0, 1<<31-1)
		f.Div = b.align
		e.made[s.offset] = f
		e.carriers[s.offset] = cu32
		off.terms = []term{{coef: 1, a: s.offset}}
		b.base = e.localVar()
		e.slots[v] = s
		text := ""
		if init != nil {
			text = init(s)
		}
		s.cv = e.declareMutable(v.Name, "loom_u32", text)
		e.bind(s.offset, s.cv)
	} else {
		ct := "loom_u8 *"
		for _, r := range roots {
			if r.Def != nil {
				continue
			}
			for i, p := range e.k.Bindings {
				if p.Param == r {
					b.readonly = b.readonly || e.readonlyBinding(i)
				}
			}
		}
		if b.readonly {
			ct = "const loom_u8 *"
		}
		e.slots[v] = s
		text := ""
		if init != nil {
			text = init(s)
		}
		s.cv = e.declareMutable(v.Name, ct, text)
		b.base = s.cv.name
	}
	if v.Type.Kind == loom.Buffer {
		if s.offset != nil { // a buffer is its base: fold the offset into it
			b.base += " + " + s.cv.name
		}
		e.vals[v] = &binding{buf: b}
	} else {
		e.vals[v] = &binding{view: e.makeView(b, off, v.Type)}
	}
	return s.cv
}

// readonlyBinding reports a binding that the text takes as a pointer to const.
func (e *emitter) readonlyBinding(i int) bool {
	b := e.vals[e.k.Bindings[i].Param]
	return b != nil && b.buf != nil && b.buf.readonly
}

// place is the expression of where the memory value v begins, in the form slot s
// holds.
func (e *emitter) place(v *loom.Value, s *slot) string {
	var b *bufRef
	at := lin{}
	var addr string
	if v.Type.Kind == loom.Buffer {
		b = e.buffer(v)
		addr = b.base
		if b.off != 0 && s.offset == nil {
			addr += " + " + itoa(b.off)
		}
	} else {
		w := e.view(v)
		b, at = w.buf, w.off
		if s.offset == nil {
			addr = e.address(w, w.off)
		}
	}
	if b.space != s.space {
		return "0"
	}
	if s.offset == nil {
		return addr
	}
	text := e.sum32(at.terms, at.c+b.off)
	if extra, ok := strings.CutPrefix(b.base, e.localVar()+" + "); ok {
		text = extra + " + " + text
	}
	return text
}

// flowAlign is the proven alignment of where the memory value v begins.
func (e *emitter) flowAlign(v *loom.Value, seen map[*loom.Value]bool) int64 {
	const most = 4096
	if seen[v] {
		return most
	}
	seen[v] = true
	if isParam(v) {
		if b := e.vals[v]; b != nil && b.buf != nil {
			return max(b.buf.align, 1)
		}
		return 1
	}
	low := int64(most)
	if v.Def != nil {
		switch v.Def.Def.Name {
		case "buffer.alloca":
			if rootSpace(v) == private {
				return 16
			}
			for _, l := range e.k.Local {
				if l.Alloca == v.Def {
					return min(max(l.Align, 1), pow2(l.Offset, most))
				}
			}
			return 1
		case "buffer.view":
			f := e.fact(v.Def.Operand("byte_offset"))
			if c, ok := f.Const(); ok {
				low = pow2(c, most)
			} else {
				low = pow2(f.Div, most)
			}
		case "view.subview":
			for _, it := range v.Def.Indices("offsets") {
				d := int64(1)
				if c, ok := e.itemConst(it); ok {
					d = pow2(c, most)
				} else {
					d = pow2(e.fact(it.Val).Div, most)
				}
				low = min(low, mulPow2(d, pow2(int64(v.Type.Elem.Bytes()), most)))
			}
		case "buffer.assume.alignment":
			return max(v.Def.Attr("minimum_alignment").Int, e.flowAlign(v.Def.Operands[v.Index], seen))
		}
	}
	for _, s := range memorySources(v) {
		low = min(low, e.flowAlign(s, seen))
	}
	return low
}
