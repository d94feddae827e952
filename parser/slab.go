package parser

// slab hands out pieces of larger arrays, so that the many small lists of a body
// cost no allocation each. A piece is never given out twice.
type slab[T any] struct {
	free  []T
	chunk int // elements of a new array
}

// one returns a zero element.
func (s *slab[T]) one() *T {
	if len(s.free) == 0 {
		s.free = make([]T, s.chunk)
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
		if n > s.chunk/4 {
			return append(make([]T, 0, n), vs...)
		}
		s.free = make([]T, s.chunk)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	copy(out, vs)
	return out
}
