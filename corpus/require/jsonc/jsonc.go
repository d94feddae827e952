// Package jsonc reads JSON with comments and trailing commas into a tree whose
// every value knows its place, so that findings about requirements, rules and
// command programs can point at the line that causes them.
package jsonc

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/loomc/loomc/loom/diag"
)

// Kind is the kind of a value.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// Value is one JSON value.
type Value struct {
	Kind    Kind
	Text    string // a string's content; the spelling of a number or boolean
	Items   []*Value
	Members []Member
	Span    diag.Span
}

// Member is a key of an object with its value.
type Member struct {
	Key     string
	KeySpan diag.Span
	Value   *Value
}

// maxDepth bounds nesting; deeper text is hostile.
const maxDepth = 200

// Parse reads a text. code is the diagnostic code of malformed text, what names
// the kind of file: "requirements file". A key that comes twice in one object is
// reported under the same code and its first value kept.
func Parse(src *diag.Source, code, what string) (*Value, diag.List) {
	if depth(src.Text) > maxDepth {
		return nil, diag.List{diag.Errorf(diag.Span{Src: src}, code, "malformed %s: nested too deeply", what).WithHelp("no such file needs more than %d levels", maxDepth)}
	}
	v, err := hujson.Parse([]byte(src.Text))
	if err != nil {
		return nil, diag.List{diag.Errorf(place(src, err), code, "malformed %s: %v", what, err).
			WithHelp("it is JSON; comments and trailing commas are allowed")}
	}
	b := &builder{src: src, code: code}
	return b.value(&v), b.ds
}

// depth is the deepest nesting of brackets outside strings; comments may add to
// it, which does not matter for a bound.
func depth(s string) int {
	n, most, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			n++
			most = max(most, n)
		case c == '}' || c == ']':
			n--
		}
	}
	return most
}

// place takes the line and column out of a parser's message.
func place(src *diag.Source, err error) diag.Span {
	msg := err.Error()
	i := strings.Index(msg, "line ")
	if i < 0 {
		return diag.Span{Src: src}
	}
	line, rest, _ := strings.Cut(msg[i+len("line "):], ",")
	l, e1 := strconv.Atoi(line)
	col, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rest), "column "), ":")
	c, e2 := strconv.Atoi(col)
	if e1 != nil || e2 != nil {
		return diag.Span{Src: src}
	}
	at := uint32(min(src.LineStart(l)+c-1, len(src.Text)))
	return diag.Span{Src: src, Start: at, End: at}
}

type builder struct {
	src  *diag.Source
	code string
	ds   diag.List
}

func (b *builder) span(v *hujson.Value) diag.Span {
	return diag.Span{Src: b.src, Start: uint32(v.StartOffset), End: uint32(v.EndOffset)}
}

func (b *builder) value(v *hujson.Value) *Value {
	out := &Value{Span: b.span(v)}
	switch x := v.Value.(type) {
	case hujson.Literal:
		switch x.Kind() {
		case '"':
			out.Kind, out.Text = String, content(x)
		case 't', 'f':
			out.Kind, out.Text = Bool, string(x)
		case 'n':
		default:
			out.Kind, out.Text = Number, string(x)
		}
	case *hujson.Array:
		out.Kind = Array
		for i := range x.Elements {
			out.Items = append(out.Items, b.value(&x.Elements[i]))
		}
	case *hujson.Object:
		out.Kind = Object
		var seen map[string]diag.Span // small objects are searched instead
		if len(x.Members) > 16 {
			seen = make(map[string]diag.Span, len(x.Members))
		}
		out.Members = make([]Member, 0, len(x.Members))
		for i := range x.Members {
			m := &x.Members[i]
			name, _ := m.Name.Value.(hujson.Literal)
			key, sp := content(name), b.span(&m.Name)
			first, dup := seen[key]
			if seen == nil {
				if k := slices.IndexFunc(out.Members, func(m Member) bool { return m.Key == key }); k >= 0 {
					first, dup = out.Members[k].KeySpan, true
				}
			}
			if dup {
				b.ds.Add(diag.Errorf(sp, b.code, "key '%s' comes twice", key).WithRelated(first, "first here").WithHelp("remove one of the two"))
				continue
			}
			if seen != nil {
				seen[key] = sp
			}
			out.Members = append(out.Members, Member{key, sp, b.value(&m.Value)})
		}
	}
	return out
}

// content is a string literal's content. Most have no escapes, and decoding is
// what reading a large program spends its time on.
func content(x hujson.Literal) string {
	if n := len(x); n >= 2 && !slices.Contains(x, '\\') {
		if s := string(x[1 : n-1]); utf8.ValidString(s) {
			return s
		}
	}
	return x.String()
}

// Get returns the member called key, nil when there is none. It may be called on
// nil and on values of any kind.
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Key == key {
			return v.Members[i].Value
		}
	}
	return nil
}

// Str returns a string's content, "" for anything else.
func (v *Value) Str() string {
	if v == nil || v.Kind != String {
		return ""
	}
	return v.Text
}

// Int returns the value as an integer: a number without fraction, or a string
// that is one.
func (v *Value) Int() (int64, bool) {
	if v == nil || v.Kind != Number && v.Kind != String {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
		return n, true
	}
	if v.Kind == Number {
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), true
		}
	}
	return 0, false
}

// Scalar returns the text of a string, number or boolean.
func (v *Value) Scalar() (string, bool) {
	if v == nil || v.Kind == Null || v.Kind >= Array {
		return "", false
	}
	return v.Text, true
}
