package loom

import (
	"fmt"
	"math"
	"strconv"
)

// AttrKind says what an attribute holds.
type AttrKind uint8

// Attribute kinds.
const (
	AttrNone   AttrKind = iota
	AttrInt             // Int; Str keeps a hexadecimal spelling
	AttrFloat           // Float(); Str keeps the source spelling
	AttrString          // Str, unescaped
	AttrBool            // Int 0 or 1
	AttrWord            // Str: an enum word or a dotted key
	AttrFlags           // Aux []string: words joined by '|'
	AttrSymbol          // Str without '@'
	AttrEnc             // Aux *Encoding
	AttrInts            // Aux []int64; DynamicIndex marks an SSA position of an index list
	AttrList            // Aux []Attr
	AttrDict            // Aux []NamedAttr
	AttrPreds           // Aux []Predicate
	AttrTyped           // Str: type word, Aux Attr: typed literal such as u64(3)
)

// DynamicIndex stands in an index list's static array where an SSA value is
// used.
const DynamicIndex = math.MinInt64

// Attr is an attribute value.
type Attr struct {
	Kind AttrKind
	Int  int64 // AttrInt, AttrBool; the bits of AttrFloat
	Str  string
	Aux  any
}

// NamedAttr is a named attribute of an op, or a dictionary or encoding entry.
type NamedAttr struct {
	Name  string
	Value Attr
}

// Constructors.

// IntAttr returns an integer attribute.
func IntAttr(v int64) Attr { return Attr{Kind: AttrInt, Int: v} }

// FloatAttr returns a float attribute.
func FloatAttr(v float64) Attr { return Attr{Kind: AttrFloat, Int: int64(math.Float64bits(v))} }

// BoolAttr returns a boolean attribute.
func BoolAttr(v bool) Attr {
	a := Attr{Kind: AttrBool}
	if v {
		a.Int = 1
	}
	return a
}

// WordAttr returns an enum word.
func WordAttr(w string) Attr { return Attr{Kind: AttrWord, Str: w} }

// Float returns the value of a float or integer attribute.
func (a Attr) Float() float64 {
	if a.Kind == AttrFloat {
		return math.Float64frombits(uint64(a.Int))
	}
	return float64(a.Int)
}

// Bool returns the value of a boolean or 0/1 attribute.
func (a Attr) Bool() bool { return a.Int != 0 }

// Flags returns the words of a flag attribute.
func (a Attr) Flags() []string { f, _ := a.Aux.([]string); return f }

// Ints returns the elements of an integer array.
func (a Attr) Ints() []int64 { f, _ := a.Aux.([]int64); return f }

// List returns the elements of a list.
func (a Attr) List() []Attr { f, _ := a.Aux.([]Attr); return f }

// Dict returns the entries of a dictionary.
func (a Attr) Dict() []NamedAttr { f, _ := a.Aux.([]NamedAttr); return f }

// Enc returns the encoding of an encoding attribute.
func (a Attr) Enc() *Encoding { f, _ := a.Aux.(*Encoding); return f }

// Preds returns the predicates of a predicate attribute.
func (a Attr) Preds() []Predicate { f, _ := a.Aux.([]Predicate); return f }

// Equal reports whether two attributes hold the same value.
func (a Attr) Equal(b Attr) bool {
	if a.Kind != b.Kind || a.Int != b.Int {
		return false
	}
	if a.Kind == AttrInt || a.Kind == AttrFloat {
		return true // the spelling does not matter
	}
	return a.Str == b.Str && string(a.Append(nil)) == string(b.Append(nil))
}

// String returns the canonical text of a.
func (a Attr) String() string { return string(a.Append(nil)) }

// Append appends the canonical text of a to b.
func (a Attr) Append(b []byte) []byte {
	switch a.Kind {
	case AttrInt:
		if a.Str != "" {
			return append(b, a.Str...)
		}
		return strconv.AppendInt(b, a.Int, 10)
	case AttrFloat:
		if a.Str != "" {
			return append(b, a.Str...)
		}
		return AppendFloat(b, a.Float())
	case AttrString:
		return AppendQuoted(b, a.Str)
	case AttrBool:
		return strconv.AppendBool(b, a.Int != 0)
	case AttrWord:
		return append(b, a.Str...)
	case AttrFlags:
		for i, f := range a.Flags() {
			if i > 0 {
				b = append(b, '|')
			}
			b = append(b, f...)
		}
		return b
	case AttrSymbol:
		return append(append(b, '@'), a.Str...)
	case AttrEnc:
		return a.Enc().Append(b)
	case AttrInts:
		b = append(b, '[')
		for i, v := range a.Ints() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = strconv.AppendInt(b, v, 10)
		}
		return append(b, ']')
	case AttrList:
		b = append(b, '[')
		for i, v := range a.List() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = v.Append(b)
		}
		return append(b, ']')
	case AttrDict:
		return AppendDict(b, a.Dict())
	case AttrPreds:
		return AppendPreds(b, a.Preds())
	case AttrTyped:
		inner, _ := a.Aux.(Attr)
		return append(inner.Append(append(append(b, a.Str...), '(')), ')')
	}
	return b
}

// AppendDict appends "{k = v, k = v}".
func AppendDict(b []byte, d []NamedAttr) []byte {
	b = append(b, '{')
	for i, e := range d {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, e.Name...), " = "...)
		b = e.Value.Append(b)
	}
	return append(b, '}')
}

// AppendFloat appends the shortest text that reads back as v under the
// language's float rule (digits on both sides of the point, or an exponent).
func AppendFloat(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	start := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	for i := start; i < len(b); i++ {
		if b[i] == '.' {
			return b
		}
		if b[i] == 'e' {
			return append(b[:i:i], append([]byte(".0"), b[i:]...)...)
		}
	}
	return append(b, ".0"...)
}

// AppendQuoted appends s as a string literal with JSON escapes.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b = append(b, '\\', byte(r))
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			if r < 0x20 {
				b = fmt.Appendf(b, "\\u%04x", r)
			} else {
				b = append(b, string(r)...)
			}
		}
	}
	return append(b, '"')
}
