package generation

import (
	"slices"

	"github.com/loomc/loomc/loom"
)

// splitHeader divides the comments above the first definition of a file: what
// stands apart by a blank line is about the file and belongs above a declaration
// that is put there, what is next to the definition stays with it.
func splitHeader(t *loom.Trivia) (header, rest *loom.Trivia) {
	if t == nil {
		return nil, &loom.Trivia{Blank: true}
	}
	r := *t
	r.Blank = true
	at := -1
	for i, l := range t.Above {
		if l == "" {
			at = i
		}
	}
	if at < 0 {
		return nil, &r
	}
	r.Above = slices.Clone(t.Above[at+1:])
	return &loom.Trivia{Above: slices.Clone(t.Above[:at+1])}, &r
}

// joinTrivia returns the trivia of a definition whose own is b, after the one
// above it, with trivia a, has gone: its comments stay. It is the inverse of
// splitHeader.
func joinTrivia(a, b *loom.Trivia) *loom.Trivia {
	if a == nil {
		return b
	}
	var out loom.Trivia
	if b != nil {
		out = *b
	}
	above := slices.Clone(a.Above)
	if a.Behind != "" {
		above = append(above, a.Behind)
	}
	if len(above) == 0 {
		out.Blank = out.Blank || a.Blank
		return &out
	}
	if out.Blank && above[len(above)-1] != "" {
		above = append(above, "")
	}
	out.Above = append(above, out.Above...)
	out.Blank = a.Blank
	return &out
}
