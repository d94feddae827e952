package corpus

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/loomc/loomc/loom/diag"
)

// maxJSONDepth bounds nesting, because the parser recurses. Real manifests nest
// five deep.
const maxJSONDepth = 64

// jsonDialect says which texts parseJSON accepts and how it reports faults.
type jsonDialect struct {
	code     string // diagnostic code for malformed text
	name     string // what the text is, for messages
	comments bool   // comments and trailing commas are allowed

	whenEmpty string // what to do about an empty text
}

// parseJSON reads one JSON value and keeps the offset of every part. The value
// is nil when the text has no usable structure; faults that leave the structure
// clear (a trailing comma where none is allowed) come with a value.
func parseJSON(src *diag.Source, dialect jsonDialect) (*hujson.Value, diag.List) {
	scan := scanJSON(src.Text)
	fault := func(off int, format string, args ...any) diag.Diagnostic {
		return diag.Errorf(spanAt(src, off, off+1), dialect.code, dialect.name+": "+format, args...)
	}
	switch {
	case strings.TrimSpace(src.Text) == "":
		return nil, diag.List{fault(0, "the file is empty").WithHelp("%s", dialect.whenEmpty)}
	case strings.HasPrefix(src.Text, "\ufeff"):
		return nil, diag.List{fault(0, "the text begins with a byte order mark").WithHelp("save the file as UTF-8 without a byte order mark")}
	case scan.tooDeep >= 0:
		return nil, diag.List{fault(scan.tooDeep, "values nest deeper than %d levels here", maxJSONDepth).
			WithHelp("no corpus needs that depth; check how the file was generated")}
	case scan.badByte >= 0:
		return nil, diag.List{fault(scan.badByte, "byte 0x%02x is not UTF-8", src.Text[scan.badByte]).WithHelp("save the file as UTF-8")}
	}

	// A line comment at the very end is complete without its newline.
	v, err := hujson.Parse([]byte(src.Text + "\n"))
	if err != nil {
		off, message := jsonFault(src, err)
		if at := controlInString(src.Text, off); at >= 0 {
			d := fault(at, "a string holds the control character 0x%02x", src.Text[at])
			if src.Text[at] == '\n' || src.Text[at] == '\r' {
				return nil, diag.List{fault(at, "the line ends inside a string").
					WithHelp(`close the string with '"'; a line break inside a string is written \n`)}
			}
			return nil, diag.List{d.WithHelp(`remove the character, or write it as \u%04x; should the string end before it?`, src.Text[at])}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && len(scan.open) > 0 {
			inner := scan.open[len(scan.open)-1]
			d := fault(len(strings.TrimRight(src.Text, " \t\r\n")), "the text ends inside %s", map[byte]string{'{': "an object", '[': "an array", '"': "a string", '/': "a comment"}[src.Text[inner]]).
				WithRelated(spanAt(src, inner, inner+1), "opened here").
				WithHelp("the file was cut short or a closing %s is missing", map[byte]string{'{': "'}'", '[': "']'", '"': `'"'`, '/': "'*/'"}[src.Text[inner]])
			return nil, diag.List{d}
		}
		return nil, diag.List{fault(off, "%s", message).WithHelp("%s", jsonAdvice(src.Text, off))}
	}
	if dialect.comments {
		return &v, nil
	}
	var ds diag.List
	strictJSON(&v, fault, &ds)
	return &v, ds
}

func spanAt(src *diag.Source, start, end int) diag.Span {
	n := len(src.Text)
	start = min(start, n)
	return diag.Span{Src: src, Start: uint32(start), End: uint32(max(start, min(end, n)))}
}

// jsonFault takes the offset and the words out of a parser error, which states
// its place as "hujson: line L, column C: …".
func jsonFault(src *diag.Source, err error) (off int, message string) {
	var line, col int
	if _, serr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &col); serr == nil {
		off = min(src.LineStart(line)+col-1, len(src.Text))
	}
	message = err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		message = inner.Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the text ends too early"
	}
	if r := []rune(message); len(r) > 120 {
		message = string(r[:120]) + "…"
	}
	return off, message
}

// controlInString returns the offset of the control character for which the
// string at off is refused, -1 when there is no such string.
func controlInString(text string, off int) int {
	if off >= len(text) {
		return -1
	}
	if c := text[off]; c < ' ' && c != '\t' && c != '\n' && c != '\r' {
		off = strings.LastIndexByte(text[:off], '\n') + 1
		for ; off < len(text) && text[off] != '"'; off++ {
			if text[off] < ' ' && text[off] != '\t' && text[off] != '\r' {
				return -1 // outside any string
			}
		}
	}
	if off >= len(text) || text[off] != '"' {
		return -1
	}
	for i := off + 1; i < len(text) && text[i] != '"'; i++ {
		if text[i] < ' ' {
			return i
		}
		if text[i] == '\\' {
			i++
		}
	}
	return -1
}

// jsonAdvice guesses the usual slip behind a syntax error at off.
func jsonAdvice(text string, off int) string {
	if off < len(text) {
		switch c := text[off]; {
		case c == '\'':
			return "strings are written in double quotes"
		case c == '"':
			return "a comma is missing before this string, or a quote inside the string before it is not written as \\\""
		case c == '{' || c == '[':
			return "a comma is missing between the value before and this one"
		case strings.HasPrefix(text[off:], "<<<<<<<") || strings.HasPrefix(text[off:], ">>>>>>>") || strings.HasPrefix(text[off:], "======="):
			return "resolve the merge conflict that git left in this file"
		}
	}
	return "correct the text here; `python3 -m json.tool FILE` shows the same fault"
}

// strictJSON reports what JSONC allows and JSON does not.
func strictJSON(v *hujson.Value, fault func(int, string, ...any) diag.Diagnostic, ds *diag.List) {
	comment := func(extra hujson.Extra, start int) {
		if i := strings.IndexByte(string(extra), '/'); i >= 0 {
			ds.Add(fault(start+i, "comments are not JSON").WithHelp("remove the comment; engines read this file with a strict parser"))
		}
	}
	trailing := func(last *hujson.Value, what string) {
		if last.AfterExtra != nil {
			ds.Add(fault(last.EndOffset+len(last.AfterExtra), "trailing comma after the last %s", what).
				WithHelp("remove the comma; engines read this file with a strict parser"))
		}
	}
	comment(v.BeforeExtra, v.StartOffset-len(v.BeforeExtra))
	comment(v.AfterExtra, v.EndOffset)
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			strictJSON(&m.Name, fault, ds)
			strictJSON(&m.Value, fault, ds)
		}
		if n := len(c.Members); n > 0 {
			trailing(&c.Members[n-1].Value, "member")
		}
		comment(c.AfterExtra, v.EndOffset-1-len(c.AfterExtra))
	case *hujson.Array:
		for i := range c.Elements {
			strictJSON(&c.Elements[i], fault, ds)
		}
		if n := len(c.Elements); n > 0 {
			trailing(&c.Elements[n-1], "element")
		}
		comment(c.AfterExtra, v.EndOffset-1-len(c.AfterExtra))
	}
}

// jsonScan is what a pass over the bytes finds before parsing.
type jsonScan struct {
	open    []int // offsets of brackets, of a string or of a comment still open at the end
	tooDeep int   // offset of the bracket that nests too deep, -1 when none
	badByte int   // offset of the first byte that is not UTF-8, -1 when none
}

func scanJSON(text string) jsonScan {
	s := jsonScan{tooDeep: -1, badByte: -1}
	if !utf8.ValidString(text) {
		for i, r := range text {
			if _, n := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && n == 1 {
				s.badByte = i
				return s
			}
		}
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if s.open = append(s.open, i); len(s.open) > maxJSONDepth {
				s.tooDeep = i
				return s
			}
		case '}', ']':
			if len(s.open) > 0 {
				s.open = s.open[:len(s.open)-1]
			}
		case '"':
			start := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				s.open = append(s.open, start)
			}
		case '/':
			start := i
			switch {
			case strings.HasPrefix(text[i:], "//"):
				n := strings.IndexByte(text[i:], '\n')
				if n < 0 {
					return s
				}
				i += n
			case strings.HasPrefix(text[i:], "/*"):
				n := strings.Index(text[i+2:], "*/")
				if n < 0 {
					s.open = append(s.open, start)
					return s
				}
				i += n + 3
			}
		}
	}
	return s
}

// jsonMember is one member of an object with the places of its parts.
type jsonMember struct {
	key     string
	keySpan diag.Span
	value   *hujson.Value
}

// jsonMembers lists the members of an object in file order. A key that appears
// a second time is reported under code and left out: parsers differ in which of
// the two they keep.
func jsonMembers(src *diag.Source, o *hujson.Object, code string, ds *diag.List) []jsonMember {
	out := make([]jsonMember, 0, len(o.Members))
	var seen map[string]int // only for large objects; small ones are searched
	if len(o.Members) > 16 {
		seen = make(map[string]int, len(o.Members))
	}
	for i := range o.Members {
		m := jsonMember{
			key:     jsonString(src, &o.Members[i].Name),
			keySpan: jsonSpan(src, &o.Members[i].Name),
			value:   &o.Members[i].Value,
		}
		first := -1
		if seen != nil {
			if j, ok := seen[m.key]; ok {
				first = j
			}
		} else {
			for j := range out {
				if out[j].key == m.key {
					first = j
					break
				}
			}
		}
		if first >= 0 {
			ds.Add(diag.Errorf(m.keySpan, code, "key '%s' appears twice in one object", m.key).
				WithRelated(out[first].keySpan, "first here").
				WithHelp("remove one of the two: parsers differ in which they keep"))
			continue
		}
		if seen != nil {
			seen[m.key] = len(out)
		}
		out = append(out, m)
	}
	return out
}

func jsonSpan(src *diag.Source, v *hujson.Value) diag.Span {
	return spanAt(src, v.StartOffset, v.EndOffset)
}

// jsonString returns the value of a string literal. Text without escapes is
// taken from the source as it stands.
func jsonString(src *diag.Source, v *hujson.Value) string {
	if raw := src.Text[v.StartOffset:v.EndOffset]; len(raw) >= 2 && strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	lit, _ := v.Value.(hujson.Literal)
	return lit.String()
}

// jsonKind names a value's kind for messages.
func jsonKind(v *hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	default:
		return "an array"
	}
}
