package parser

// slab hands out pieces of larger arrays, so that the many small lists of a body
// cost no allocation each. A piece is never given out twice, and the pieces of
// one array belong to one module: what keeps one alive keeps all alive.
type slab[T any] struct {
	free  []T
	chunk int // elements of the newest array; arrays grow up to maxChunk
}

// Array sizes: a file of a few lines should not pay for a large one.
const (
	minChunk = 8
	maxChunk = 128
)

// grow makes a new array with room for n elements at least.
func (s *slab[T]) grow(n int) {
	s.chunk = min(max(2*s.chunk, minChunk, n), maxChunk)
	s.free = make([]T, s.chunk)
}

// one returns a zero element.
func (s *slab[T]) one() *T {
	if len(s.free) == 0 {
		s.grow(1)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// list returns a copy of vs, nil when it is empty.
func (s *slab[T]) list(vs []T) []T {
	n := len(vs)
	if n == 0 {
		return nil
	}
	if len(s.free) < n {
		if n > maxChunk/4 {
			return append(make([]T, 0, n), vs...)
		}
		s.grow(n)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	copy(out, vs)
	return out
}
