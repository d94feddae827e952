package diag

import (
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Source is one input text together with the name shown to the user. A Source
// is immutable after creation and safe for concurrent use.
type Source struct {
	Name string // path or pseudo-path as the user knows it, e.g. "ops/add.loom" or "8f3c2d1:ops/add.loom"
	Text string

	once  sync.Once
	lines []uint32 // byte offset of each line start
}

// NewSource returns a source called name holding text.
func NewSource(name, text string) *Source { return &Source{Name: name, Text: text} }

func (s *Source) index() {
	s.once.Do(func() {
		n := strings.Count(s.Text, "\n") + 1
		s.lines = make([]uint32, 1, n)
		for i := 0; i < len(s.Text); i++ {
			j := strings.IndexByte(s.Text[i:], '\n')
			if j < 0 {
				break
			}
			i += j
			s.lines = append(s.lines, uint32(i+1))
		}
	})
}

// LineCol returns the 1-based line and 1-based byte column of offset off.
func (s *Source) LineCol(off int) (line, col int) {
	s.index()
	if off > len(s.Text) {
		off = len(s.Text)
	}
	i := sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > off }) - 1
	return i + 1, off - int(s.lines[i]) + 1
}

// Line returns the text of the 1-based line without its line ending.
func (s *Source) Line(line int) string {
	s.index()
	if line < 1 || line > len(s.lines) {
		return ""
	}
	start := int(s.lines[line-1])
	end := len(s.Text)
	if line < len(s.lines) {
		end = int(s.lines[line]) - 1
	}
	return strings.TrimSuffix(s.Text[start:end], "\r")
}

// LineStart returns the byte offset at which the 1-based line begins.
func (s *Source) LineStart(line int) int {
	s.index()
	if line < 1 {
		return 0
	}
	if line > len(s.lines) {
		return len(s.Text)
	}
	return int(s.lines[line-1])
}

// Span is a half-open byte range [Start, End) of a source. The zero Span has
// no place; Valid reports false for it.
type Span struct {
	Src        *Source
	Start, End uint32
}

// Valid reports whether the span has a source.
func (s Span) Valid() bool { return s.Src != nil }

// Text returns the source text the span covers.
func (s Span) Text() string {
	if s.Src == nil || int(s.End) > len(s.Src.Text) || s.Start > s.End {
		return ""
	}
	return s.Src.Text[s.Start:s.End]
}

// LineCol returns the 1-based line and byte column of the span's start.
func (s Span) LineCol() (line, col int) {
	if s.Src == nil {
		return 0, 0
	}
	return s.Src.LineCol(int(s.Start))
}

// String returns "file:line:col", or "-" for a span without a place.
func (s Span) String() string {
	if s.Src == nil {
		return "-"
	}
	l, c := s.LineCol()
	return s.Src.Name + ":" + strconv.Itoa(l) + ":" + strconv.Itoa(c)
}
