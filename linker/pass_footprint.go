package linker

import (
	"fmt"
	"math"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

// AccessNote is an access of which the facts do not prove that it stays inside
// its view.
type AccessNote struct {
	Place  string `json:"place"`
	Access string `json:"access"` // e.g. "view.load %v"
	Axis   int    `json:"axis"`
	Why    string `json:"why"`
}

// footprint judges one access of a view. An access whose every possible index
// lies outside is an error: if the code runs, it is wrong. One that may lie
// outside goes into the report.
func (s *specializer) footprint(op *loom.Op, set *facts.Set) {
	view := op.Operand("view")
	if view == nil || op.Def.Traits&(loom.Reads|loom.Writes) == 0 || op.Def.Traits&loom.Hint != 0 || view.Type.Kind != loom.View {
		return
	}
	items := op.Indices("indices")
	if len(items) != len(view.Type.Dims) || op.Operand("mask") != nil {
		return // lanes of a masked access may all be off
	}
	width := accessWidth(op, len(items))
	axes := len(items)
	if op.Operand("offsets") != nil {
		axes-- // every lane adds an offset of its own along the last axis
	}
	noted := false
	for axis := range axes {
		at := indexFact(set, op, items[axis])
		if at.Lo > at.Hi {
			return // nothing gets here
		}
		extent := dimFact(set, op, view.Type.Dims[axis])
		last := satAdd(at.Lo, width[axis]) // one past the last element, at the least
		if at.Hi < 0 || extent.Hi != math.MaxInt64 && last > extent.Hi {
			s.outside(op, view, axis, at, width[axis], extent, items[axis])
			return
		}
		if noted || at.Lo >= 0 && (satAdd(at.Hi, width[axis]) <= extent.Lo || width[axis] == 1 && lessThan(set, op, items[axis], view.Type.Dims[axis])) {
			continue
		}
		noted = true
		s.report.Unproven = append(s.report.Unproven, AccessNote{Place: op.NameSpan().String(), Access: op.Def.Name + " %" + view.Name, Axis: axis,
			Why: fmt.Sprintf("%s, extent %s", covers(at, width[axis]), rangeWords(extent))})
	}
	s.beyondAllocation(op, view, items, width, set)
}

// lessThan reports whether an index is known to be less than an extent, by a branch
// that compared the two or by what both come from.
func lessThan(set *facts.Set, op *loom.Op, it loom.IndexItem, d loom.Dim) bool {
	if it.Val == nil || d.Val == nil {
		return false
	}
	v, _ := set.Decide(op, loom.Predicate{Kind: loom.PredLt, Args: []loom.PredArg{{Val: it.Val}, {Val: d.Val}}}, func(v *loom.Value) *loom.Value { return v })
	return v == facts.Match
}

// accessWidth returns how many consecutive elements an access covers along each
// axis: a vector's lanes along the last ones, one element along the others.
// Matrix tiles count with their origin alone, because the role decides which
// axis is which.
func accessWidth(op *loom.Op, rank int) []int64 {
	width := make([]int64, rank)
	for i := range width {
		width[i] = 1
	}
	v := op.Operand("value")
	if v == nil {
		v = op.Result()
	}
	if v == nil || v.Type.Kind != loom.Vector || op.Operand("offsets") != nil || strings.HasPrefix(op.Def.Name, "vector.fragment.") {
		return width
	}
	lead := rank - len(v.Type.Dims)
	for i, d := range v.Type.Dims {
		if lead+i >= 0 && d.Val == nil {
			width[lead+i] = d.Size
		}
	}
	return width
}

func indexFact(set *facts.Set, op *loom.Op, it loom.IndexItem) facts.Fact {
	if it.Val == nil {
		return facts.Exact(it.Int)
	}
	return set.At(op, it.Val)
}

func dimFact(set *facts.Set, op *loom.Op, d loom.Dim) facts.Fact {
	if d.Val == nil {
		return facts.Exact(d.Size)
	}
	return set.At(op, d.Val)
}

// outside reports an access that cannot lie inside.
func (s *specializer) outside(op *loom.Op, view *loom.Value, axis int, at facts.Fact, width int64, extent facts.Fact, it loom.IndexItem) {
	code := "SUBRANGE/005"
	if width == 1 {
		code = "SUBRANGE/004"
	}
	d := diag.Errorf(op.NameSpan(), code, "%s is always outside: axis %d of %%%s has extent %s, the access takes %s", op.Def.Name, axis, view.Name,
		rangeWords(extent), covers(at, width))
	if view.Def != nil {
		d = d.WithRelated(view.Def.NameSpan(), "%%%s is made here: %s", view.Name, view.Type)
	}
	if v := source(it.Val); it.Val != nil && v != nil && v.Def != nil {
		d = d.WithRelated(v.Def.NameSpan(), "the index comes from here")
	}
	s.diags.Add(s.at(op, d.WithHelp("correct the index or the extent; if this configuration never gets here, guard the code with a condition that it decides")))
}

// covers says which elements an access may touch along an axis.
func covers(at facts.Fact, width int64) string {
	c, exact := at.Const()
	switch {
	case exact && width == 1:
		return fmt.Sprintf("index %d", c)
	case exact:
		return fmt.Sprintf("indices %d to %d", c, c+width-1)
	case width == 1:
		return "index " + rangeWords(at)
	}
	return fmt.Sprintf("%d elements from index %s on", width, rangeWords(at))
}

func rangeWords(f facts.Fact) string {
	switch {
	case f.Lo == f.Hi:
		return fmt.Sprint(f.Lo)
	case f.Lo == math.MinInt64 && f.Hi == math.MaxInt64:
		return "any"
	case f.Hi == math.MaxInt64:
		return fmt.Sprintf("%d or more", f.Lo)
	case f.Lo == math.MinInt64:
		return fmt.Sprintf("%d or less", f.Hi)
	}
	return fmt.Sprintf("%d to %d", f.Lo, f.Hi)
}

// beyondAllocation compares the bytes of an access with the allocation it is
// made in: a view may claim more than there is.
func (s *specializer) beyondAllocation(op *loom.Op, view *loom.Value, items []loom.IndexItem, width []int64, set *facts.Set) {
	mk := view.Def
	if mk == nil || mk.Def.Name != "buffer.view" || view.Type.EncVal != nil || view.Type.Enc != nil && !view.Type.Enc.IsDense() || op.Operand("offsets") != nil {
		return
	}
	root := mk.Operand("buffer")
	for root.Def != nil && root.Def.Def.Traits&loom.Fact != 0 && int(root.Index) < len(root.Def.Operands) {
		root = root.Def.Operands[root.Index]
	}
	if root.Def == nil || root.Def.Def.Name != "buffer.alloca" {
		return
	}
	size := set.At(root.Def, root.Def.Operand("byte_length"))
	bits := int64(view.Type.Elem.Bits())
	base := set.At(op, mk.Operand("byte_offset"))
	if size.Hi == math.MaxInt64 || bits == 0 || base.Lo < 0 {
		return
	}
	// The lowest element the access can touch at its end, in elements from the base.
	end, stride := int64(1), int64(1)
	for i := len(items) - 1; i >= 0; i-- {
		at := indexFact(set, op, items[i])
		end = satAdd(end, satMul(max(at.Lo, 0)+width[i]-1, stride))
		stride = satMul(stride, max(dimFact(set, op, view.Type.Dims[i]).Lo, 1))
	}
	bytes := satAdd(base.Lo, (satMul(end, bits)+7)/8)
	if bytes <= size.Hi {
		return
	}
	d := diag.Errorf(op.NameSpan(), "SUBRANGE/006", "%s reaches byte %d of %%%s, which has %s", op.Def.Name, bytes, root.Name, plural64(size.Hi, "byte")).
		WithRelated(mk.NameSpan(), "through this view: %s at byte %s", view.Type, rangeWords(base)).
		WithRelated(root.Def.NameSpan(), "allocated here")
	s.diags.Add(s.at(op, d.WithHelp("make the allocation larger, or correct the view's offset and extents")))
}

func plural64(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func satAdd(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
