package loom

import (
	"fmt"
	"strings"
)

// The assembly-format language, one token at a time:
//
//	%x  %x...      operand, comma-separated operand list
//	[idx]          index list: literals and SSA values, stored as a static array
//	               attribute idx plus a variadic operand field idx
//	{attrs}        optional attribute dictionary with the entries of OpDef.Attrs
//	T(x)  T*(x)    type of an operand or result, comma list of types
//	<a:k, b:k?>    template parameters of the kinds k; '?' marks optional ones
//	$a:k           attribute in place
//	!a|b           optional keyword(s) stored as a word attribute named after
//	               the group: "!pure" stores pure, "!temperature=hot|cold" too
//	@a             symbol attribute
//	^a             successor with optional arguments
//	&a             region
//	?( … )         optional group, present when its first variable part is
//	~name          piece with its own rule in parser and printer (loops, calls, …)
//	anything else  literal punctuation or keyword
//
// Attribute kinds: int float value string word key ints preds enc symbol flags
// and enum names declared in Enums.

// ElemKind is the kind of a format element.
type ElemKind uint8

// Format element kinds.
const (
	ElemLit ElemKind = iota
	ElemOperand
	ElemOperands
	ElemIndices
	ElemDict
	ElemType
	ElemTypes
	ElemParams
	ElemAttr
	ElemFlag
	ElemSymbol
	ElemSucc
	ElemRegion
	ElemGroup
	ElemCustom
)

// Param is one template parameter of an ElemParams.
type Param struct {
	Name     string
	Kind     string
	Optional bool
}

// Elem is one element of a compiled assembly format.
type Elem struct {
	Kind     ElemKind
	Name     string   // field, attribute, literal or custom name
	Attr     string   // ElemAttr: attribute kind
	Field    int      // operand field index, or ^result field index for ElemType(s); 0 otherwise
	Params   []Param  // ElemParams
	Words    []string // ElemFlag
	Group    []Elem   // ElemGroup
	Optional bool     // ElemParams: the whole bracket may be absent
	Space    bool     // a space stands before the element
}

func (d *OpDef) compile() {
	c := formatCompiler{def: d, in: d.Format}
	for _, r := range strings.Split(d.Result, ",") {
		r = strings.TrimSpace(r)
		if r == "" {
			continue
		}
		var f Field
		f.Name = r
		if i := strings.IndexByte(r, '='); i >= 0 {
			f.Name, f.Infer = r[:i], r[i+1:]
		}
		if n, ok := strings.CutSuffix(f.Name, "..."); ok {
			f.Name, f.Variadic = n, true
		}
		d.Results = append(d.Results, f)
	}
	d.Elems = c.seq("")
	c.resolve(d.Elems)
	d.placed = placedAttrs(nil, d.Elems)
}

// placedAttrs appends the names of the attributes that es print themselves.
func placedAttrs(out []string, es []Elem) []string {
	for i := range es {
		e := &es[i]
		switch e.Kind {
		case ElemParams:
			for j := range e.Params {
				out = append(out, e.Params[j].Name)
			}
		case ElemAttr, ElemFlag, ElemSymbol, ElemIndices:
			out = append(out, e.Name)
		case ElemGroup:
			out = placedAttrs(out, e.Group)
		}
	}
	return out
}

type formatCompiler struct {
	def *OpDef
	in  string
}

func (c *formatCompiler) fail(what string) {
	panic(fmt.Sprintf("op table: %s: format %q: %s near %q", c.def.Name, c.def.Format, what, c.in))
}

func isWord(b byte) bool {
	return b == '_' || b == '.' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func (c *formatCompiler) word() string {
	i := 0
	for i < len(c.in) && isWord(c.in[i]) {
		i++
	}
	w := c.in[:i]
	c.in = c.in[i:]
	return w
}

func (c *formatCompiler) name() string {
	i := 0
	for i < len(c.in) && isWord(c.in[i]) && c.in[i] != '.' {
		i++
	}
	w := c.in[:i]
	if w == "" {
		c.fail("name expected")
	}
	c.in = c.in[i:]
	return w
}

func (c *formatCompiler) expect(s string) {
	if !strings.HasPrefix(c.in, s) {
		c.fail("expected " + s)
	}
	c.in = c.in[len(s):]
}

func (c *formatCompiler) operand(name string, variadic bool) {
	for _, f := range c.def.Operands {
		if f.Name == name {
			return
		}
	}
	c.def.Operands = append(c.def.Operands, Field{Name: name, Variadic: variadic})
}

func (c *formatCompiler) seq(end string) []Elem {
	var out []Elem
	for {
		trimmed := strings.TrimLeft(c.in, " ")
		space := len(trimmed) < len(c.in) || len(out) == 0
		c.in = trimmed
		if c.in == "" {
			if end != "" {
				c.fail("missing " + end)
			}
			return out
		}
		if end != "" && strings.HasPrefix(c.in, end) {
			c.in = c.in[len(end):]
			return out
		}
		e := c.elem()
		e.Space = space && !(len(out) == 0 && end == "" && e.Kind == ElemParams) && !(e.Kind == ElemLit && e.Name == ",")
		out = append(out, e)
	}
}

func (c *formatCompiler) elem() Elem {
	in := c.in
	switch {
	case in[0] == '%':
		c.in = in[1:]
		n := c.name()
		if strings.HasPrefix(c.in, "...") {
			c.in = c.in[3:]
			c.operand(n, true)
			return Elem{Kind: ElemOperands, Name: n}
		}
		c.operand(n, false)
		return Elem{Kind: ElemOperand, Name: n}
	case in[0] == '[' && len(in) > 1 && isWord(in[1]):
		c.in = in[1:]
		n := c.name()
		c.expect("]")
		c.operand(n, true)
		return Elem{Kind: ElemIndices, Name: n}
	case in[0] == '{' && len(in) > 1 && isWord(in[1]):
		c.in = in[1:]
		n := c.name()
		c.expect("}")
		return Elem{Kind: ElemDict, Name: n}
	case strings.HasPrefix(in, "T("), strings.HasPrefix(in, "T*("):
		k := ElemType
		if in[1] == '*' {
			k = ElemTypes
		}
		c.in = in[strings.IndexByte(in, '(')+1:]
		n := c.name()
		c.expect(")")
		return Elem{Kind: k, Name: n}
	case in[0] == '<':
		c.in = in[1:]
		e := Elem{Kind: ElemParams, Optional: true}
		for {
			c.in = strings.TrimLeft(c.in, " ")
			p := Param{Name: c.name()}
			c.expect(":")
			p.Kind = c.word()
			if strings.HasPrefix(c.in, "?") {
				c.in, p.Optional = c.in[1:], true
			} else {
				e.Optional = false
			}
			e.Params = append(e.Params, p)
			if strings.HasPrefix(c.in, ">") {
				c.in = c.in[1:]
				return e
			}
			c.expect(",")
		}
	case in[0] == '$':
		c.in = in[1:]
		e := Elem{Kind: ElemAttr, Name: c.name()}
		c.expect(":")
		e.Attr = c.word()
		return e
	case in[0] == '!':
		c.in = in[1:]
		e := Elem{Kind: ElemFlag, Name: c.name()}
		if strings.HasPrefix(c.in, "=") {
			c.in = c.in[1:]
			e.Words = append(e.Words, c.name())
		} else {
			e.Words = append(e.Words, e.Name)
		}
		for strings.HasPrefix(c.in, "|") {
			c.in = c.in[1:]
			e.Words = append(e.Words, c.name())
		}
		return e
	case in[0] == '@':
		c.in = in[1:]
		return Elem{Kind: ElemSymbol, Name: c.name()}
	case in[0] == '^':
		c.in = in[1:]
		return Elem{Kind: ElemSucc, Name: c.name()}
	case in[0] == '&':
		c.in = in[1:]
		return Elem{Kind: ElemRegion, Name: c.name()}
	case in[0] == '~':
		c.in = in[1:]
		e := Elem{Kind: ElemCustom, Name: c.name()}
		switch e.Name {
		case "binds":
			c.operand("iter_args", true)
		case "rows":
			c.operand("values", true)
		case "args":
			c.operand("operands", true)
		case "using", "edict":
			c.operand("parameters", true)
		case "pack":
			c.operand("lengths", true)
		case "alloca":
			c.operand("byte_length", false)
		case "loophints":
			c.operand("unroll_factor", true)
			c.operand("pipeline_depth", true)
		case "launch":
			c.operand("workload", true)
			c.operand("operands", true)
		}
		return e
	case strings.HasPrefix(in, "?("):
		c.in = in[2:]
		return Elem{Kind: ElemGroup, Group: c.seq("?)")}
	case strings.HasPrefix(in, "->"):
		c.in = in[2:]
		return Elem{Kind: ElemLit, Name: "->"}
	case isWord(in[0]):
		return Elem{Kind: ElemLit, Name: c.word()}
	default:
		c.in = in[1:]
		return Elem{Kind: ElemLit, Name: in[:1]}
	}
}

// resolve fills the field indices of type elements.
func (c *formatCompiler) resolve(es []Elem) {
	for i := range es {
		e := &es[i]
		switch e.Kind {
		case ElemGroup:
			c.resolve(e.Group)
		case ElemOperand, ElemOperands, ElemIndices:
			e.Field = c.fieldOf(e.Name)
		case ElemType, ElemTypes:
			e.Field = c.typeField(e.Name)
		}
	}
}

func (c *formatCompiler) fieldOf(name string) int {
	for i, f := range c.def.Operands {
		if f.Name == name {
			return i
		}
	}
	c.fail("no operand " + name)
	return 0
}

func (c *formatCompiler) typeField(name string) int {
	for i, f := range c.def.Results {
		if f.Name == name {
			return ^i
		}
	}
	return c.fieldOf(name)
}

// Enums lists the enumerations that format parameters refer to by name.
var Enums = map[string][]string{
	"rkind": {"addi", "addf", "muli", "mulf", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori",
		"minimumf", "maximumf", "minnumf", "maxnumf"},
	"akind": {"xchgi", "xchgf", "addi", "addf", "subi", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui",
		"minimumf", "maximumf", "minnumf", "maxnumf"},
	"ipred":      {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"},
	"fpred":      {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"},
	"space":      {"unknown", "global", "workgroup", "private", "constant", "host", "descriptor", "generic"},
	"ordering":   {"relaxed", "acquire", "release", "acq_rel", "seq_cst"},
	"scope":      {"thread", "subgroup", "workgroup", "device", "system"},
	"cachescope": {"cu", "se", "device", "system"},
	"axis":       {"x", "y", "z"},
	"role":       {"lhs", "rhs", "init", "result"},
	"shuffle":    {"xor", "up", "down", "index"},
	"clampmode":  {"ordered", "number", "ieee"},
	"gelu":       {"erf", "tanh", "logistic"},
	"dot4i":      {"s8s8", "u8s8", "s8u8", "u8u8"},
	"dot8i4":     {"s4s4", "u4s4", "s4u4", "u4u4"},
	"dot4f8":     {"fp8bf8", "bf8fp8", "fp8fp8", "bf8bf8"},
	"fmf":        {"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"},
	"overflow":   {"nsw", "nuw"},
	"nanmode":    {"same", "different"},
	"direction":  {"forward", "reverse"},
	"scanmode":   {"inclusive", "exclusive"},
	"schedule":   {"linear", "interleaved", "recurrence"},
	"writemode":  {"always", "on_failure"},
	"sweep":      {"linear", "po2"},
}

// FlagEnums names the enumerations whose words join with '|'.
var FlagEnums = map[string]bool{"fmf": true, "overflow": true}
