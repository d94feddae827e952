package loom

import (
	"strconv"
	"strings"
)

// Kind is the constructor of a type.
type Kind uint8

// Scalar kinds come first so that a shaped type's element kind fits the same
// enumeration.
const (
	Invalid Kind = iota
	Index        // signed logical coordinate; the target picks the carrier width
	Offset       // non-negative byte count
	I1
	I8
	I16
	I32
	I64
	F8E4M3
	F8E5M2
	F16
	BF16
	F32
	F64
	Buffer // opaque storage root
	Vector
	View
	Tensor
	Tile
	Pool
	Group
	EncodingKind // encoding, encoding<layout>, …; Type.Name holds the role
	Reg          // reg<class xN>; Type.Name holds the text between the brackets
	LowStorage   // low.storage<…>; likewise
	Dotted       // hal.buffer, kernel.async.token, …; Type.Name holds the word
	Function     // (T, …) -> (R, …)
)

var kindNames = [...]string{
	Invalid: "<invalid>", Index: "index", Offset: "offset", I1: "i1", I8: "i8", I16: "i16", I32: "i32", I64: "i64",
	F8E4M3: "f8E4M3", F8E5M2: "f8E5M2", F16: "f16", BF16: "bf16", F32: "f32", F64: "f64", Buffer: "buffer",
	Vector: "vector", View: "view", Tensor: "tensor", Tile: "tile", Pool: "pool", Group: "group",
	EncodingKind: "encoding", Reg: "reg", LowStorage: "low.storage", Dotted: "<dotted>", Function: "<function>",
}

func (k Kind) String() string { return kindNames[k] }

// ScalarKind returns the scalar kind spelled name, or Invalid.
func ScalarKind(name string) Kind {
	switch name {
	case "index":
		return Index
	case "offset":
		return Offset
	case "i1":
		return I1
	case "i8":
		return I8
	case "i16":
		return I16
	case "i32":
		return I32
	case "i64":
		return I64
	case "f8E4M3":
		return F8E4M3
	case "f8E5M2":
		return F8E5M2
	case "f16":
		return F16
	case "bf16":
		return BF16
	case "f32":
		return F32
	case "f64":
		return F64
	}
	return Invalid
}

// IsInt reports whether k is a fixed-width integer (i1 included).
func (k Kind) IsInt() bool { return k >= I1 && k <= I64 }

// IsFloat reports whether k is a floating-point kind.
func (k Kind) IsFloat() bool { return k >= F8E4M3 && k <= F64 }

// IsIndexLike reports whether k is index or offset.
func (k Kind) IsIndexLike() bool { return k == Index || k == Offset }

// IsScalar reports whether k is a scalar: index, offset, integer or float.
func (k Kind) IsScalar() bool { return k >= Index && k <= F64 }

// Bits returns the width of a fixed-width scalar in bits; 64 for index and
// offset (their logical width; a target may carry them in 32), 0 otherwise.
func (k Kind) Bits() int {
	switch k {
	case I1:
		return 1
	case I8, F8E4M3, F8E5M2:
		return 8
	case I16, F16, BF16:
		return 16
	case I32, F32:
		return 32
	case Index, Offset, I64, F64:
		return 64
	}
	return 0
}

// Bytes returns the storage size of a scalar element in bytes (i1 takes one).
func (k Kind) Bytes() int { return (k.Bits() + 7) / 8 }

// Dim is one extent of a shaped type: a literal Size, or an SSA index Val.
type Dim struct {
	Size int64
	Val  *Value // nil for a literal extent
}

// Type is a Loom type. Types are immutable; those without SSA references may be
// shared freely. Compare with Equal, not ==.
type Type struct {
	Kind            Kind
	Elem            Kind      // shaped types: the element; Dotted element names are not supported
	Dims            []Dim     // shaped types and pool
	Enc             *Encoding // view, tile, tensor: static second slot, nil when absent
	EncVal          *Value    // view, tile, tensor: SSA second slot
	Name            string    // role, scope, register text or dotted word
	Params, Results []*Type   // Function
}

var scalarTypes = func() (t [F64 + 1]*Type) {
	for k := Index; k <= F64; k++ {
		t[k] = &Type{Kind: k}
	}
	return t
}()

// Scalar returns the shared type of a scalar kind.
func Scalar(k Kind) *Type { return scalarTypes[k] }

// BufferType is the shared buffer type.
func BufferType() *Type { return bufferType }

var bufferType = &Type{Kind: Buffer}

// VectorOf returns vector<n0xn1x…xelem>.
func VectorOf(elem Kind, dims ...int64) *Type {
	t := &Type{Kind: Vector, Elem: elem, Dims: make([]Dim, len(dims))}
	for i, d := range dims {
		t.Dims[i].Size = d
	}
	return t
}

// IsShaped reports whether t has dimensions and an element.
func (t *Type) IsShaped() bool { return t.Kind >= Vector && t.Kind <= Tile }

// Element returns the element kind of a shaped type and the kind itself of a
// scalar.
func (t *Type) Element() Kind {
	if t.IsShaped() {
		return t.Elem
	}
	return t.Kind
}

// IsStatic reports whether t refers to no SSA value.
func (t *Type) IsStatic() bool {
	if t.EncVal != nil {
		return false
	}
	for _, d := range t.Dims {
		if d.Val != nil {
			return false
		}
	}
	for _, p := range t.Params {
		if !p.IsStatic() {
			return false
		}
	}
	for _, p := range t.Results {
		if !p.IsStatic() {
			return false
		}
	}
	return true
}

// NumElements returns the product of the extents and whether all are literal.
// Scalars have one element.
func (t *Type) NumElements() (int64, bool) {
	n := int64(1)
	for _, d := range t.Dims {
		if d.Val != nil {
			return 0, false
		}
		n *= d.Size
	}
	return n, true
}

// Lanes returns the lane count of a static vector, 1 for scalars and 0 when the
// count is not literal.
func (t *Type) Lanes() int {
	n, ok := t.NumElements()
	if !ok {
		return 0
	}
	return int(n)
}

// Values calls f for every SSA value t refers to.
func (t *Type) Values(f func(*Value)) {
	if t == nil {
		return
	}
	for _, d := range t.Dims {
		if d.Val != nil {
			f(d.Val)
		}
	}
	if t.EncVal != nil {
		f(t.EncVal)
	}
	for _, p := range t.Params {
		p.Values(f)
	}
	for _, p := range t.Results {
		p.Values(f)
	}
}

// Map returns t with every SSA reference v replaced by f(v). Types without
// references are returned as they are.
func (t *Type) Map(f func(*Value) *Value) *Type {
	if t == nil || t.IsStatic() {
		return t
	}
	n := *t
	n.Dims = make([]Dim, len(t.Dims))
	for i, d := range t.Dims {
		if d.Val != nil {
			d.Val = f(d.Val)
		}
		n.Dims[i] = d
	}
	if t.EncVal != nil {
		n.EncVal = f(t.EncVal)
	}
	n.Params = mapTypes(t.Params, f)
	n.Results = mapTypes(t.Results, f)
	return &n
}

func mapTypes(ts []*Type, f func(*Value) *Value) []*Type {
	if ts == nil {
		return nil
	}
	out := make([]*Type, len(ts))
	for i, t := range ts {
		out[i] = t.Map(f)
	}
	return out
}

// Equal reports whether two types are the same: SSA dimensions and encodings by
// value identity, an omitted encoding equal to a dense layout.
func (t *Type) Equal(u *Type) bool {
	if t == u {
		return true
	}
	if t == nil || u == nil || t.Kind != u.Kind || t.Elem != u.Elem || t.Name != u.Name ||
		len(t.Dims) != len(u.Dims) || t.EncVal != u.EncVal ||
		len(t.Params) != len(u.Params) || len(t.Results) != len(u.Results) {
		return false
	}
	for i := range t.Dims {
		if t.Dims[i] != u.Dims[i] {
			return false
		}
	}
	if !sameEncoding(t.Enc, u.Enc) {
		return false
	}
	for i := range t.Params {
		if !t.Params[i].Equal(u.Params[i]) {
			return false
		}
	}
	for i := range t.Results {
		if !t.Results[i].Equal(u.Results[i]) {
			return false
		}
	}
	return true
}

func sameEncoding(a, b *Encoding) bool {
	if a.IsDense() || b.IsDense() {
		return a.IsDense() && b.IsDense()
	}
	return a.Equal(b)
}

// String returns the canonical text of t.
func (t *Type) String() string { return string(t.Append(nil)) }

// Append appends the canonical text of t to b.
func (t *Type) Append(b []byte) []byte {
	if t == nil {
		return append(b, "<nil>"...)
	}
	switch t.Kind {
	case Dotted:
		return append(b, t.Name...)
	case EncodingKind:
		b = append(b, "encoding"...)
		if t.Name != "" {
			b = append(append(append(b, '<'), t.Name...), '>')
		}
		return b
	case Group, Reg, LowStorage:
		b = append(append(b, t.Kind.String()...), '<')
		return append(append(b, t.Name...), '>')
	case Pool:
		b = append(b, "pool<"...)
		for i, d := range t.Dims {
			if i > 0 {
				b = append(b, 'x')
			}
			b = d.append(b)
		}
		return append(b, '>')
	case Function:
		b = appendTypeList(b, t.Params)
		if len(t.Results) > 0 {
			b = appendTypeList(append(b, " -> "...), t.Results)
		}
		return b
	case Vector, View, Tensor, Tile:
		b = append(append(b, t.Kind.String()...), '<')
		for _, d := range t.Dims {
			b = append(d.append(b), 'x')
		}
		b = append(b, t.Elem.String()...)
		if t.EncVal != nil {
			b = append(append(b, ", %"...), t.EncVal.Name...)
		} else if t.Enc != nil {
			b = t.Enc.Append(append(b, ", "...))
		}
		return append(b, '>')
	}
	return append(b, t.Kind.String()...)
}

func (d Dim) append(b []byte) []byte {
	if d.Val != nil {
		return append(append(append(b, "[%"...), d.Val.Name...), ']')
	}
	return strconv.AppendInt(b, d.Size, 10)
}

func appendTypeList(b []byte, ts []*Type) []byte {
	b = append(b, '(')
	for i, t := range ts {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = t.Append(b)
	}
	return append(b, ')')
}

// Encoding is a static hash encoding: #family<name = value, …>.
type Encoding struct {
	Alias  string // file-level alias it was written as, "" when spelled out
	Family string // without the '#'
	Params []NamedAttr
}

// IsDense reports whether e is the implicit dense layout: absent, #dense, or
// #encoding.layout.dense.
func (e *Encoding) IsDense() bool {
	return e == nil || ((e.Family == "dense" || e.Family == "encoding.layout.dense") && len(e.Params) == 0)
}

// canonicalFamily maps the older family names to the newer ones with the same
// meaning (loom-language section 2.1).
func canonicalFamily(f string) string {
	switch f {
	case "dense":
		return "encoding.layout.dense"
	case "strided":
		return "encoding.layout.strided"
	case "matrix_operand":
		return "encoding.operand"
	case "physical_storage":
		return "encoding.storage"
	}
	return f
}

// Equal reports whether two encodings have the same family (in either
// generation's spelling) and parameters, in any order.
func (e *Encoding) Equal(o *Encoding) bool {
	if e == o {
		return true
	}
	if e == nil || o == nil || canonicalFamily(e.Family) != canonicalFamily(o.Family) || len(e.Params) != len(o.Params) {
		return false
	}
	for _, p := range e.Params {
		q, ok := o.Param(p.Name)
		if !ok || !p.Value.Equal(q) {
			return false
		}
	}
	return true
}

// Param returns the static parameter called name.
func (e *Encoding) Param(name string) (Attr, bool) {
	if e != nil {
		for _, p := range e.Params {
			if p.Name == name {
				return p.Value, true
			}
		}
	}
	return Attr{}, false
}

// String returns the canonical text of e.
func (e *Encoding) String() string { return string(e.Append(nil)) }

// Append appends the canonical text of e to b.
func (e *Encoding) Append(b []byte) []byte {
	if e.Alias != "" {
		return append(append(b, '#'), e.Alias...)
	}
	b = append(append(b, '#'), e.Family...)
	if len(e.Params) > 0 {
		b = append(b, '<')
		for i, p := range e.Params {
			if i > 0 {
				b = append(b, ", "...)
			}
			if p.Name != "" { // positional parameters have no name
				b = append(append(b, p.Name...), '=')
			}
			b = p.Value.Append(b)
		}
		b = append(b, '>')
	}
	return b
}

// TypeList returns "T, U, V".
func TypeList(ts []*Type) string {
	var sb strings.Builder
	for i, t := range ts {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(t.String())
	}
	return sb.String()
}
