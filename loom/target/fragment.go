package target

import "github.com/loomc/loomc/loom"

// Fragment is the lane layout of one matrix tile: which element each component
// of each lane of a wave holds. A fragment of the language is an ordinary vector;
// Fragment is what gives its components their place.
//
// A tile is Edge rows or columns wide (16 or 32). Lane l belongs to lane group
// l/Edge. An operand's lane holds part of row l mod Edge of the left side or of
// column l mod Edge of the right side, an accumulator's lane part of column
// l mod Edge; the components run along the other axis.
//
//	            operands, along k           accumulators, along the rows
//	gfx11       all of k in every group     row = groups·i + group; 16-bit results
//	                                        use the low half of each register
//	gfx12       k = Count·order + i         row = Count·order + i
//	gfx9, 16²   k = Count·group + i         row = Count·group + i (f64: groups·i + group)
//	gfx9, 32²   k = Count·group + i         row = 8·(i/4) + 4·group + i mod 4
//
// order is the group's number, except in waves of 64 lanes on gfx12, where the
// groups hold rows 0, 8, 4 and 12. AMD's tables number k of a 16-bit operand
// differently there (four of the first half, four of the second). A product does
// not change when both sides number k the same way, and this numbering lets a
// lane read its share with one load and turns an accumulator into a right operand
// without moving a value.
type Fragment struct {
	Role  string // lhs, rhs, init or result
	Edge  int
	Count int // elements a lane holds
	// Stride is the number of components per element: 2 for the 16-bit accumulators
	// of gfx11, which leave every other component unused, else 1.
	Stride int
	Groups int // lane groups of the wave
	// Replicated operands are the same in every group.
	Replicated bool
	// Swapped groups come in the order 0, 2, 1, 3.
	Swapped bool

	rows rowOrder
}

type rowOrder uint8

const (
	adjacent    rowOrder = iota // the rows of a group lie together
	interleaved                 // neighbouring rows are in neighbouring groups
	quads                       // four rows of each group in turn
)

// FragmentOf is the layout of a role on an instruction family (see
// Target.Family) for vectors of n components of kind k. Codes packed into wider
// components count one by one. edge is the tile's width in the lane direction;
// "" and the reference target have gfx11's layouts.
func FragmentOf(family string, wave int, role string, k loom.Kind, n, edge int) Fragment {
	f := Fragment{Role: role, Edge: edge, Count: n, Stride: 1, Groups: max(wave/edge, 1)}
	gfx11 := family == "gfx11" || family == "" || family == Reference
	f.Swapped = f.Groups == 4 && (family == "gfx12" || family == "gfx12.5")
	if !f.Accumulator() {
		f.Replicated = gfx11
		return f
	}
	switch {
	case gfx11:
		f.rows = interleaved
		if k.Bits() == 16 && n == 2*edge/f.Groups {
			f.Stride, f.Count = 2, n/2
		}
	case edge == 32:
		f.rows = quads
	case k == loom.F64:
		f.rows = interleaved
	}
	return f
}

// Accumulator reports whether the tile is an init or a result.
func (f Fragment) Accumulator() bool { return f.Role == "init" || f.Role == "result" }

// Place is where element i of a lane lies along the element axis, counted from
// the tile's origin: lit + perGroup·Order(lane's group).
func (f Fragment) Place(i int) (lit, perGroup int) {
	switch {
	case !f.Accumulator() && f.Replicated:
		return i, 0
	case !f.Accumulator() || f.rows == adjacent:
		return i, f.Count
	case f.rows == interleaved:
		return f.Groups * i, 1
	}
	return 8*(i/4) + i%4, 4
}

// Order is the rank of a lane group along the element axis.
func (f Fragment) Order(group int) int {
	if f.Swapped {
		return group>>1 | group&1<<1
	}
	return group
}

// Contiguous reports whether a lane's elements are neighbours.
func (f Fragment) Contiguous() bool { return !f.Accumulator() || f.rows == adjacent }

// At is the element of component i in a lane, and whether the component holds
// one.
func (f Fragment) At(lane, i int) (row, col int, ok bool) {
	if i%f.Stride != 0 {
		return 0, 0, false
	}
	lit, per := f.Place(i / f.Stride)
	in, e := lane%f.Edge, lit+per*f.Order(lane/f.Edge%f.Groups)
	if f.Role == "lhs" {
		return in, e, true
	}
	return e, in, true
}

// Depth is an operand's extent along k.
func (f Fragment) Depth() int {
	if f.Replicated {
		return f.Count
	}
	return f.Count * f.Groups
}
