package parser

import "strings"

// kind is the kind of a token.
type kind uint8

const (
	tEOF    kind = iota
	tIdent       // bare word: may hold digits, '_', '$' and '-'
	tOpName      // word with dots
	tInt
	tFloat
	tString // with quotes, escapes not yet resolved
	tValue  // %name
	tSymbol // @name
	tHash   // #name
	tLabel  // ^name
	tArrow  // ->
	tPunct  // one of ( ) { } [ ] < > , : = | and '*'
	tBad    // anything else
)

var kindText = [...]string{"end of file", "identifier", "op name", "integer", "float", "string", "%value", "@symbol",
	"#attribute", "^label", "'->'", "punctuation", "character"}

// scanner turns source text into tokens, one at a time. The zero-cost state is
// the current token; everything else is derived from offsets.
type scanner struct {
	src string
	pos int // where the next token starts to be looked for
	// Current token.
	kind       kind
	start, end int
	// What stood between the previous token and this one.
	prevEnd  int
	newlines int
	comment  bool // a comment was skipped
}

const (
	cSpace = 1 << iota
	cIdentStart
	cIdent
	cDigit
	cSymbol // additional symbol characters: '.'
	cPunct
	cGroup // what matters between braces: the braces, quotes, comments, line ends
)

var class = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = cIdentStart | cIdent
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = cIdentStart | cIdent
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = cIdent | cDigit
	}
	t['_'] = cIdentStart | cIdent
	t['$'] = cIdentStart | cIdent
	t['-'] = cIdent
	t['.'] = cSymbol
	for _, c := range " \t\r\n" {
		t[c] = cSpace
	}
	for _, c := range "(){}[]<>,:=|*" {
		t[c] = cPunct
	}
	for _, c := range "{}\"/\n" {
		t[c] |= cGroup
	}
	return t
}()

// next advances to the next token.
func (s *scanner) next() {
	src, i := s.src, s.pos
	s.prevEnd = s.end
	s.newlines, s.comment = 0, false
	for i < len(src) {
		c := src[i]
		if class[c]&cSpace != 0 {
			if c == '\n' {
				s.newlines++
			}
			i++
			continue
		}
		if c == '/' && i+1 < len(src) && src[i+1] == '/' {
			s.comment = true
			i = lineEnd(src, i)
			continue
		}
		break
	}
	s.start = i
	if i >= len(src) {
		s.kind, s.end, s.pos = tEOF, i, i
		return
	}
	c := src[i]
	cl := class[c]
	switch {
	case cl&cIdentStart != 0:
		s.kind = tIdent
		i++
		for i < len(src) {
			k := class[src[i]]
			if k&cIdent != 0 {
				if src[i] == '-' && i+1 < len(src) && src[i+1] == '>' {
					break
				}
				i++
				continue
			}
			if src[i] == '.' && i+1 < len(src) && class[src[i+1]]&cIdentStart != 0 {
				s.kind = tOpName
				i += 2
				continue
			}
			break
		}
	case c == '%':
		s.kind = tValue
		i = s.name(i+1, 0)
	case c == '@':
		s.kind = tSymbol
		i = s.name(i+1, cSymbol)
	case c == '#':
		s.kind = tHash
		i = s.name(i+1, cSymbol)
	case c == '^':
		s.kind = tLabel
		i = s.name(i+1, 0)
	case cl&cDigit != 0:
		i = s.number(i)
	case c == '-':
		switch {
		case i+1 < len(src) && src[i+1] == '>':
			s.kind = tArrow
			i += 2
		case i+1 < len(src) && class[src[i+1]]&cDigit != 0:
			i = s.number(i + 1)
		case strings.HasPrefix(src[i+1:], "inf") && (i+4 == len(src) || class[src[i+4]]&cIdent == 0):
			s.kind = tFloat
			i += 4
		default:
			s.kind = tBad
			i++
		}
	case c == '"':
		s.kind = tString
		i++
		for {
			if i >= len(src) || src[i] == '\n' {
				s.kind = tBad
				break
			}
			if src[i] == '"' {
				i++
				break
			}
			if src[i] == '\\' && i+1 < len(src) && src[i+1] != '\n' {
				i++
			}
			i++
		}
	case cl&cPunct != 0:
		s.kind = tPunct
		i++
	default:
		s.kind = tBad
		i++
		for i < len(src) && src[i] >= 0x80 && src[i] < 0xC0 { // rest of a UTF-8 sequence
			i++
		}
	}
	s.end, s.pos = i, i
}

// lineEnd returns the offset of the first line break at or behind pos, or the end
// of the text.
func lineEnd(text string, pos int) int {
	if j := strings.IndexByte(text[pos:], '\n'); j >= 0 {
		return pos + j
	}
	return len(text)
}

func (s *scanner) name(i int, extra uint8) int {
	for i < len(s.src) {
		c := s.src[i]
		k := class[c]
		if k&(cIdent|extra) == 0 || (c == '-' && i+1 < len(s.src) && s.src[i+1] == '>') {
			break
		}
		i++
	}
	return i
}

func (s *scanner) number(i int) int {
	src := s.src
	s.kind = tInt
	if src[i] == '0' && i+1 < len(src) && (src[i+1] == 'x' || src[i+1] == 'X') && i+2 < len(src) && isHex(src[i+2]) {
		i += 2
		for i < len(src) && isHex(src[i]) {
			i++
		}
		return i
	}
	for i < len(src) && class[src[i]]&cDigit != 0 {
		i++
	}
	if i+1 < len(src) && src[i] == '.' && class[src[i+1]]&cDigit != 0 {
		s.kind = tFloat
		i++
		for i < len(src) && class[src[i]]&cDigit != 0 {
			i++
		}
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		j := i + 1
		if j < len(src) && (src[j] == '+' || src[j] == '-') {
			j++
		}
		if j < len(src) && class[src[j]]&cDigit != 0 {
			s.kind = tFloat
			for j < len(src) && class[src[j]]&cDigit != 0 {
				j++
			}
			i = j
		}
	}
	return i
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// text returns the text of the current token.
func (s *scanner) text() string { return s.src[s.start:s.end] }

// is reports whether the current token is the punctuation or word w.
func (s *scanner) is(w string) bool { return s.src[s.start:s.end] == w && s.kind != tString }

// punct reports whether the current token is the single punctuation character c.
func (s *scanner) punct(c byte) bool { return s.kind == tPunct && s.src[s.start] == c }
