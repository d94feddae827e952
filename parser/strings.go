package parser

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// unescape resolves JSON escapes. bad is the offset of the first faulty escape,
// or -1.
func unescape(s string) (out string, bad int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		if c != '\\' {
			b.WriteByte(c)
			i++
			continue
		}
		if i+1 >= len(s) {
			return b.String(), i
		}
		simple := strings.IndexByte(`"\/bfnrt`, s[i+1])
		if simple >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[simple])
			i += 2
			continue
		}
		r, n := unicodeEscape(s[i:])
		if n == 0 {
			return b.String(), i
		}
		b.WriteRune(r)
		i += n
	}
	return b.String(), -1
}

// unicodeEscape reads \uXXXX, joining a surrogate pair. n is 0 when malformed.
func unicodeEscape(s string) (r rune, n int) {
	hi, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(hi) {
		return hi, 6
	}
	if lo, ok := hex4(s[6:]); ok {
		if r := utf16.DecodeRune(hi, lo); r != '�' {
			return r, 12
		}
	}
	return 0, 0
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(v), err == nil
}
