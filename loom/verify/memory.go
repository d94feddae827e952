package verify

import (
	"math"
	"slices"

	"github.com/loomc/loomc/loom"
)

// indices checks an index list against the axes of a shaped type: one index per
// axis, literals inside literal extents. extent gives the number of elements the
// access covers along an axis, 1 for a single element, 0 when that is not known.
func (v *verifier) indices(op *loom.Op, list, what string, t *loom.Type, extent func(axis int) int64) bool {
	static := op.Attr(list).Ints()
	if len(static) != len(t.Dims) {
		n := len(static)
		word := "indices"
		if n == 1 {
			word = "index"
		}
		v.report(v.opError(op, "SUBRANGE/001", "%s gives %d %s for '%s' of type %s, which has rank %d", op.Def.Name, n, word, what, t, len(t.Dims)).
			WithHelp("write one index per axis"))
		return false
	}
	for axis, at := range static {
		size := extent(axis)
		bound, literal := int64(-1), t.Dims[axis].Val == nil
		if literal {
			bound = t.Dims[axis].Size
		}
		dynamic := at == loom.DynamicIndex
		switch {
		case dynamic && !(literal && size > bound):
			continue
		case dynamic:
			at = 0
		case at < 0:
		case !literal:
			continue
		case size == 0 && at <= bound:
			continue
		case at <= bound && size <= bound-at && size > 0:
			continue
		}
		v.outside(op, what, axis, at, max(size, 1), bound)
		return false
	}
	return true
}

// outside reports an access that leaves a literal extent; bound is −1 when the
// extent is not literal and only the index is impossible.
func (v *verifier) outside(op *loom.Op, what string, axis int, at, size, bound int64) {
	if bound < 0 {
		v.report(v.opError(op, "SUBRANGE/004", "%s uses index %d on axis %d of '%s'; indices are not negative", op.Def.Name, at, axis, what))
		return
	}
	if size == 1 {
		v.report(v.opError(op, "SUBRANGE/004", "%s uses index %d on axis %d of '%s', which has extent %d", op.Def.Name, at, axis, what, bound).
			WithHelp("indices go from 0 to %d", bound-1))
		return
	}
	end := at + size
	if size > math.MaxInt64-at {
		end = math.MaxInt64
	}
	v.report(v.opError(op, "SUBRANGE/004", "%s covers %d to %d (exclusive) on axis %d of '%s', which has extent %d", op.Def.Name, at, end, axis, what, bound).
		WithHelp("correct the index, the number of lanes, or the extent in the type"))
}

func one(int) int64 { return 1 }

// elementAccess checks view.load, view.store and the scalar atomics.
func (v *verifier) elementAccess(op *loom.Op) {
	if !v.indices(op, "indices", "view", op.Operand("view").Type, one) {
		return
	}
	v.access(op)
}

// vectorAccess checks accesses of consecutive elements: the lanes cover the last
// axes of the view.
func (v *verifier) vectorAccess(op *loom.Op) {
	view := op.Operand("view").Type
	vec := op.Operand("value")
	code := "TYPE/003"
	if vec == nil {
		vec, code = op.Result(), "TYPE/004"
	}
	if !v.ranked(op, view) {
		return
	}
	lanes := vec.Type
	lead := len(view.Dims) - len(lanes.Dims)
	if lead < 0 {
		// The count of indices is the plainer fault when it is wrong as well.
		if static := op.Attr("indices").Ints(); len(static) != len(view.Dims) {
			v.indices(op, "indices", "view", view, one)
			return
		}
		v.report(v.opError(op, code, "%s moves %s of rank %d, but the view has rank %d", op.Def.Name, lanes, len(lanes.Dims), len(view.Dims)))
		return
	}
	ok := v.indices(op, "indices", "view", view, func(axis int) int64 {
		if axis < lead {
			return 1
		}
		if d := lanes.Dims[axis-lead]; d.Val == nil {
			return d.Size
		}
		return 0
	})
	if ok {
		v.access(op)
	}
}

// ranked checks that a view has an axis to move along.
func (v *verifier) ranked(op *loom.Op, view *loom.Type) bool {
	if len(view.Dims) > 0 {
		return true
	}
	v.report(v.opError(op, "TYPE/003", "operand 'view' of %s has type %s, expected a view with at least one axis", op.Def.Name, view))
	return false
}

// scatteredAccess checks gathers, scatters and vector atomics, whose lanes add
// an offset of their own to the origin.
func (v *verifier) scatteredAccess(op *loom.Op) {
	view := op.Operand("view").Type
	if v.ranked(op, view) && v.indices(op, "indices", "view", view, one) {
		v.access(op)
	}
}

// access checks what all memory ops share: atomic kinds and orderings, cache
// hints.
func (v *verifier) access(op *loom.Op) {
	if kind := op.Word("kind"); kind != "" && op.Has("ordering") {
		v.atomicKind(op, kind)
	}
	v.exchangeOrdering(op)
	v.cache(op)
}

// atomicKind checks that the combination is defined for the element.
func (v *verifier) atomicKind(op *loom.Op, kind string) {
	val := op.Operand("value")
	if val == nil || val.Type == nil {
		return
	}
	if op.Result() == nil && (kind == "xchgi" || kind == "xchgf") {
		v.report(v.opError(op, "STRUCTURE/014", "%s combines and returns nothing; '%s' is an exchange", op.Def.Name, kind).
			WithHelp("use the rmw form, or a store"))
		return
	}
	v.kindFits(op, kind, "value", val.Type)
}

// kindFits checks a combining or atomic kind against an element: names that end
// in f are about floats, the others about integers.
func (v *verifier) kindFits(op *loom.Op, kind, field string, t *loom.Type) {
	e := t.Element()
	float := kind[len(kind)-1] == 'f'
	if float && e.IsFloat() || !float && (e.IsInt() || e == loom.Index) {
		return
	}
	want := "integer"
	if float {
		want = "floating-point"
	}
	v.report(v.opError(op, "TYPE/003", "operand '%s' of %s has type %s, but the kind '%s' combines %s elements", field, op.Def.Name, t, kind, want).
		WithHelp("%s", kindHelp(kind, e)))
}

// kindHelp names the kind of the other element family.
func kindHelp(kind string, e loom.Kind) string {
	pairs := map[string]string{"addi": "addf", "muli": "mulf", "minsi": "minnumf", "maxsi": "maxnumf", "minui": "minnumf", "maxui": "maxnumf",
		"addf": "addi", "mulf": "muli", "minimumf": "minsi", "maximumf": "maxsi", "minnumf": "minsi", "maxnumf": "maxsi", "xchgi": "xchgf", "xchgf": "xchgi"}
	if p := pairs[kind]; p != "" {
		return "for " + e.String() + " use " + p
	}
	return "use a kind for " + e.String()
}

// exchangeOrdering checks the orderings of a compare and swap.
func (v *verifier) exchangeOrdering(op *loom.Op) {
	fail, success := op.Word("failure_ordering"), op.Word("success_ordering")
	if fail == "" {
		return
	}
	if fail == "release" || fail == "acq_rel" {
		v.report(v.opError(op, "STRUCTURE/014", "failure_ordering of %s is %s; a failed exchange stores nothing to release", op.Def.Name, fail).
			WithHelp("use relaxed, acquire or seq_cst"))
		return
	}
	strength := func(o string) int { return slices.Index([]string{"relaxed", "acquire", "seq_cst"}, o) }
	limit := map[string]int{"relaxed": 0, "release": 0, "acquire": 1, "acq_rel": 1, "seq_cst": 2}
	if l, ok := limit[success]; ok && strength(fail) > l {
		v.report(v.opError(op, "STRUCTURE/014", "failure_ordering of %s is %s, which is stronger than success_ordering %s", op.Def.Name, fail, success).
			WithHelp("strengthen success_ordering, or weaken failure_ordering"))
	}
}

// cache checks the pair of cache hints.
func (v *verifier) cache(op *loom.Op) {
	scope, temporal := op.Word("cache_scope"), op.Word("cache_temporal")
	switch {
	case scope == "" && temporal == "":
		return
	case scope == "":
		v.report(v.opError(op, "STRUCTURE/014", "%s states cache_temporal without cache_scope", op.Def.Name).WithHelp("add cache_scope = cu, se, device or system"))
		return
	case temporal == "":
		v.report(v.opError(op, "STRUCTURE/014", "%s states cache_scope without cache_temporal", op.Def.Name).WithHelp("add cache_temporal = regular"))
		return
	case temporal == "last_use" && scope == "system":
		v.report(v.opError(op, "STRUCTURE/014", "cache_temporal = last_use of %s needs a cache_scope below system", op.Def.Name))
		return
	case temporal == "bypass" && scope != "system":
		v.report(v.opError(op, "STRUCTURE/014", "cache_temporal = bypass of %s needs cache_scope = system, not %s", op.Def.Name, scope))
		return
	}
	loads, stores := cacheDirection(op)
	bad := func(kind, help string) {
		v.report(v.opError(op, "STRUCTURE/014", "cache_temporal = %s of %s is not a hint for %s", temporal, op.Def.Name, kind).WithHelp("%s", help))
	}
	switch {
	case loads && stores:
		if temporal != "regular" && temporal != "non_temporal" {
			bad("atomics", "use regular or non_temporal")
		}
	case loads:
		if temporal == "writeback" || temporal == "non_temporal_writeback" {
			bad("loads", "writeback hints are for stores")
		}
	case stores:
		if temporal == "last_use" {
			bad("stores", "last_use is for loads")
		}
	}
}

// cacheDirection says whether the cached side of op is read, written, or both.
func cacheDirection(op *loom.Op) (loads, stores bool) {
	switch op.Def.Name {
	case "kernel.async.copy", "kernel.async.copy.mask":
		in := op.Word("direction") != "workgroup_to_global"
		return in, !in
	case "kernel.async.gather", "kernel.async.gather.mask", "kernel.async.cluster.gather", "kernel.async.cluster.gather.mask", "kernel.async.tensor.load.to.lds":
		return true, false
	case "kernel.async.tensor.store.from.lds":
		return false, true
	}
	return op.Def.Traits&loom.Reads != 0, op.Def.Traits&loom.Writes != 0
}

func powerOfTwo(n int64) bool { return n > 0 && n&(n-1) == 0 }

func (v *verifier) alloca(op *loom.Op) {
	if a := op.Attr("base_alignment"); a.Kind == loom.AttrInt && !powerOfTwo(a.Int) {
		v.report(v.opError(op, "STRUCTURE/014", "base_alignment of buffer.alloca is %d; an alignment is a power of two", a.Int))
		return
	}
	if s := op.Word("memory_space"); s != "workgroup" && s != "private" {
		v.report(v.opError(op, "STRUCTURE/014", "buffer.alloca makes workgroup or private storage, not '%s'", s).
			WithHelp("global buffers are launch parameters"))
	}
}

func (v *verifier) assumeAlignment(op *loom.Op) {
	if a := op.Attr("minimum_alignment"); !powerOfTwo(a.Int) {
		v.report(v.opError(op, "STRUCTURE/014", "minimum_alignment is %d; an alignment is a power of two", a.Int))
	}
}

func (v *verifier) assumeSpace(op *loom.Op) {
	space := op.Word("memory_space")
	if space == "unknown" {
		v.report(v.opError(op, "STRUCTURE/014", "promising the memory space 'unknown' promises nothing").WithHelp("name a space, or drop the op"))
		return
	}
	if known, from := spaceOf(op.Operand("buffer")); known != "" && known != space {
		v.report(v.opError(op, "STRUCTURE/014", "'%%%s' is in %s memory, so it cannot be in %s memory", op.Operand("buffer").Name, known, space).
			WithRelated(from.NameSpan(), "known from here"))
	}
}

// spaceOf returns the memory space a buffer or view is known to be in, and the
// op that says so.
func spaceOf(x *loom.Value) (string, *loom.Op) {
	for range 64 {
		if x == nil || x.Def == nil {
			return "", nil
		}
		op := x.Def
		switch op.Def.Name {
		case "buffer.alloca", "buffer.assume.memory_space":
			if s := op.Word("memory_space"); s != "unknown" {
				return s, op
			}
			return "", nil
		case "buffer.view":
			x = op.Operand("buffer")
		case "view.subview", "view.refine":
			x = op.Operand("source")
		case "buffer.assume.alignment", "buffer.assume.noalias":
			if int(x.Index) >= len(op.Operands) {
				return "", nil
			}
			x = op.Operands[x.Index]
		default:
			return "", nil
		}
	}
	return "", nil
}

// bufferView checks that a strided layout gives a stride per axis.
func (v *verifier) bufferView(op *loom.Op) {
	t := op.Result().Type
	n := strideCount(t)
	if n >= 0 && n != len(t.Dims) {
		v.report(v.opError(op, "SHAPE/001", "the view type %s has rank %d, but its layout gives %s", t, len(t.Dims), plural(n, "stride")))
	}
}

// strideCount returns the number of strides of a view's layout, −1 when the
// layout is not a strided one spelled out in the type or by its defining op.
func strideCount(t *loom.Type) int {
	if e := t.EncVal; e != nil {
		if e.Def != nil && e.Def.Def.Name == "encoding.layout.strided" {
			return len(e.Def.Attr("strides").Ints())
		}
		return -1
	}
	if t.Enc == nil {
		return -1
	}
	for _, name := range []string{"strides", "stride"} {
		if p, ok := t.Enc.Param(name); ok {
			switch p.Kind {
			case loom.AttrInts:
				return len(p.Ints())
			case loom.AttrInt:
				return 1
			}
		}
	}
	return -1
}

func (v *verifier) subview(op *loom.Op) {
	src, res := op.Operand("source").Type, op.Result().Type
	v.indices(op, "offsets", "source", src, func(axis int) int64 {
		if axis < len(res.Dims) && res.Dims[axis].Val == nil {
			return res.Dims[axis].Size
		}
		return 0
	})
}

func (v *verifier) refine(op *loom.Op) {
	a, b := op.Operand("source").Type, op.Result().Type
	for i := range a.Dims {
		if a.Dims[i].Val == nil && b.Dims[i].Val == nil && a.Dims[i].Size != b.Dims[i].Size {
			v.report(v.opError(op, "SHAPE/001", "axis %d of the source has extent %d, the result says %d; a refinement cannot contradict", i, a.Dims[i].Size, b.Dims[i].Size))
			return
		}
	}
}
