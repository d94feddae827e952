package loom

import "github.com/loomc/loomc/loom/diag"

// Value is an SSA value: the result of an op or an argument of a block or
// signature.
type Value struct {
	Name  string // without the '%'
	Type  *Type
	Def   *Op    // defining op; nil for an argument
	Block *Block // block whose argument it is; nil for results and signature arguments
	Index int32  // position among the results or arguments
	Pos   uint32 // byte offset of the name in the source of the definition it came from
}

// Op is one operation.
type Op struct {
	Def      *OpDef
	Span     diag.Span // from the first result name to the end of the statement
	NamePos  uint32    // offset of the op name in Span.Src
	Operands []*Value
	// Segs gives the number of operands per operand field of Def, in order. It is
	// nil when every field is a single operand.
	Segs    []uint16
	Results []*Value
	Attrs   []NamedAttr
	Regions []*Region
	Succs   []Succ
	Block   *Block // block that holds the op
	Trivia  *Trivia
}

// Succ is a successor edge with its arguments.
type Succ struct {
	Dest *Block
	Args []*Value
}

// Trivia is what the printer keeps of the layout: comment lines above, the
// comment at the end of the line, whether a blank line came before, and the
// trailing location.
type Trivia struct {
	Blank  bool
	Above  []string // comment text with the slashes
	Behind string   // comment on the op's last line
	Loc    string   // loc(…) text
}

// Block is a straight-line list of ops, ended by a terminator.
type Block struct {
	Label  string // without the '^'; "" for an unlabelled entry block
	Args   []*Value
	Ops    []*Op
	Region *Region
	Above  []string // comments above the label
}

// Region is a list of blocks owned by an op or a definition.
type Region struct {
	Blocks []*Block
	Op     *Op  // owning op, nil for the region of a definition
	Owner  *Def // owning definition, nil for a region of an op
	Span   diag.Span
	Inner  []string // comments before the closing brace
}

// Entry returns the first block, or nil.
func (r *Region) Entry() *Block {
	if r == nil || len(r.Blocks) == 0 {
		return nil
	}
	return r.Blocks[0]
}

// Terminator returns the last op of the block if it is a terminator, else nil.
func (b *Block) Terminator() *Op {
	if len(b.Ops) == 0 {
		return nil
	}
	last := b.Ops[len(b.Ops)-1]
	if last.Def.Traits&Terminator == 0 {
		return nil
	}
	return last
}

// Name returns the op's name, e.g. "index.add".
func (o *Op) Name() string { return o.Def.Name }

// NameSpan returns the place of the op name.
func (o *Op) NameSpan() diag.Span {
	return diag.Span{Src: o.Span.Src, Start: o.NamePos, End: o.NamePos + uint32(len(o.Def.Name))}
}

// Field returns the operands of the field called name, nil when it has none.
func (o *Op) Field(name string) []*Value {
	for i := range o.Def.Operands {
		if o.Def.Operands[i].Name == name {
			return o.fieldAt(i)
		}
	}
	return nil
}

// fieldAt returns the operands of the i-th field.
func (o *Op) fieldAt(i int) []*Value {
	if o.Segs == nil {
		if i < len(o.Operands) {
			return o.Operands[i : i+1]
		}
		return nil
	}
	if i >= len(o.Segs) {
		return nil
	}
	at := 0
	for _, n := range o.Segs[:i] {
		at += int(n)
	}
	return o.Operands[at : at+int(o.Segs[i])]
}

// Operand returns the single operand of the field called name, or nil.
func (o *Op) Operand(name string) *Value {
	if f := o.Field(name); len(f) > 0 {
		return f[0]
	}
	return nil
}

// Result returns the op's only result, or its first one; nil when it has none.
func (o *Op) Result() *Value {
	if len(o.Results) == 0 {
		return nil
	}
	return o.Results[0]
}

// Attr returns the attribute called name; its Kind is AttrNone when absent.
func (o *Op) Attr(name string) Attr {
	for i := range o.Attrs {
		if o.Attrs[i].Name == name {
			return o.Attrs[i].Value
		}
	}
	return Attr{}
}

// Has reports whether the attribute called name is present.
func (o *Op) Has(name string) bool { return o.Attr(name).Kind != AttrNone }

// SetAttr sets or replaces an attribute.
func (o *Op) SetAttr(name string, v Attr) {
	for i := range o.Attrs {
		if o.Attrs[i].Name == name {
			o.Attrs[i].Value = v
			return
		}
	}
	o.Attrs = append(o.Attrs, NamedAttr{name, v})
}

// Word returns the enum word of the attribute called name, "" when absent.
func (o *Op) Word(name string) string { return o.Attr(name).Str }

// Preds returns the op's predicate list.
func (o *Op) Preds() []Predicate { return o.Attr("predicates").Preds() }

// IndexItem is one position of an index list: a literal or an SSA value.
type IndexItem struct {
	Val *Value // nil for a literal
	Int int64
}

// Indices returns the index list called name, literals and values in order.
func (o *Op) Indices(name string) []IndexItem {
	static := o.Attr(name).Ints()
	dyn := o.Field(name)
	out := make([]IndexItem, len(static))
	for i, s := range static {
		if s == DynamicIndex {
			if len(dyn) == 0 {
				return nil
			}
			out[i].Val, dyn = dyn[0], dyn[1:]
		} else {
			out[i].Int = s
		}
	}
	return out
}

// Walk calls f for op and every op nested in it, in order. It stops descending
// where f returns false.
func (o *Op) Walk(f func(*Op) bool) {
	if !f(o) {
		return
	}
	for _, r := range o.Regions {
		r.Walk(f)
	}
}

// Walk calls f for every op of the region, in order.
func (r *Region) Walk(f func(*Op) bool) {
	if r == nil {
		return
	}
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			o.Walk(f)
		}
	}
}

// Uses calls f for every value the op itself refers to (not its regions):
// operands, successor arguments, predicate arguments and the SSA parts of its
// result types.
func (o *Op) Uses(f func(*Value)) {
	for _, v := range o.Operands {
		f(v)
	}
	for _, s := range o.Succs {
		for _, v := range s.Args {
			f(v)
		}
	}
	for _, a := range o.Attrs {
		for _, p := range a.Value.Preds() {
			for _, arg := range p.Args {
				if arg.Val != nil {
					f(arg.Val)
				}
			}
		}
	}
	for _, r := range o.Results {
		r.Type.Values(f)
	}
}

// Parent returns the op whose region holds o, or nil at the top of a
// definition.
func (o *Op) Parent() *Op {
	if o.Block == nil || o.Block.Region == nil {
		return nil
	}
	return o.Block.Region.Op
}
