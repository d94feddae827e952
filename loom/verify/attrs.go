package verify

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// attrRule is a compiled entry of an op's attribute dictionary.
type attrRule struct {
	name     string
	kind     string   // int, float, string, bool, word, ints, any
	words    []string // word: the enumeration, nil for any word
	required bool
}

func attrRules(d *loom.OpDef) []attrRule {
	out := make([]attrRule, len(d.Attrs))
	for i, a := range d.Attrs {
		kind, enum, _ := strings.Cut(a.Kind, ":")
		r := attrRule{name: a.Name, kind: kind, required: a.Required}
		switch {
		case strings.Contains(enum, "|"):
			r.words = strings.Split(enum, "|")
		case enum != "":
			r.words = loom.Enums[enum]
		}
		out[i] = r
	}
	return out
}

// attrKindNames says what an attribute value is, for messages.
var attrKindNames = map[loom.AttrKind]string{
	loom.AttrNone: "nothing", loom.AttrInt: "an integer", loom.AttrFloat: "a float", loom.AttrString: "a string", loom.AttrBool: "a boolean",
	loom.AttrWord: "a word", loom.AttrFlags: "flags", loom.AttrSymbol: "a symbol", loom.AttrEnc: "an encoding", loom.AttrInts: "a list of integers",
	loom.AttrList: "a list", loom.AttrDict: "a dictionary", loom.AttrPreds: "predicates", loom.AttrTyped: "a typed literal",
}

func (r *attrRule) accepts(k loom.AttrKind) bool {
	switch r.kind {
	case "int":
		return k == loom.AttrInt
	case "float":
		return k == loom.AttrFloat
	case "string":
		return k == loom.AttrString
	case "bool":
		return k == loom.AttrBool
	case "word":
		return k == loom.AttrWord
	case "ints":
		return k == loom.AttrInts
	}
	return true
}

func (r *attrRule) expected() string {
	switch r.kind {
	case "int":
		return "an integer"
	case "float":
		return "a float such as 1.0"
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "word":
		if r.words != nil {
			return "one of " + strings.Join(r.words, ", ")
		}
		return "a word"
	case "ints":
		return "a list of integers"
	}
	return "a value"
}

// attrs checks the attribute dictionary of op.
func (v *verifier) attrs(op *loom.Op, r *rule) bool {
	ok := true
	for i := range r.attrs {
		a := &r.attrs[i]
		val := op.Attr(a.name)
		if val.Kind == loom.AttrNone {
			if a.required && !orderingAlternative(op, a.name) {
				ok = false
				v.report(v.opError(op, "TYPE/005", "%s needs the attribute '%s'", op.Def.Name, a.name).
					WithHelp("add {%s = …}: %s", a.name, a.expected()))
			}
			continue
		}
		if !a.accepts(val.Kind) {
			ok = false
			v.report(v.opError(op, "TYPE/005", "attribute '%s' of %s is %s, expected %s", a.name, op.Def.Name, attrKindNames[val.Kind], a.expected()))
			continue
		}
		if a.words != nil && !slices.Contains(a.words, val.Str) {
			ok = false
			d := v.opError(op, "PARSE/017", "'%s' is not a value of the attribute '%s' of %s; it is one of %s", val.Str, a.name, op.Def.Name, strings.Join(a.words, ", "))
			if n := dialect.Nearest(val.Str, a.words); n != "" {
				d = d.WithHelp("did you mean '%s'?", n)
			}
			v.report(d)
		}
	}
	if r.hasDict {
		ok = v.unknownAttrs(op, r) && ok
	}
	return ok
}

// orderingAlternative lets an exchange state one ordering instead of two.
func orderingAlternative(op *loom.Op, name string) bool {
	return (name == "success_ordering" || name == "failure_ordering") && op.Has("ordering")
}

// unknownAttrs reports dictionary entries the op does not have.
func (v *verifier) unknownAttrs(op *loom.Op, r *rule) bool {
	ok := true
	for i := range op.Attrs {
		name := op.Attrs[i].Name
		if r.knows(name) {
			continue
		}
		ok = false
		names := make([]string, len(r.attrs))
		for i := range r.attrs {
			names[i] = r.attrs[i].name
		}
		d := v.opError(op, "STRUCTURE/014", "%s has no attribute '%s'", op.Def.Name, name)
		if n := dialect.Nearest(name, names); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		} else {
			d = d.WithHelp("it takes %s", strings.Join(names, ", "))
		}
		v.report(d)
	}
	return ok
}

// knows reports whether name is an attribute of the op: an entry of its
// dictionary or a part of its form.
func (r *rule) knows(name string) bool {
	for i := range r.attrs {
		if r.attrs[i].name == name {
			return true
		}
	}
	return knowsElem(r.def.Elems, name) || name == "tied" || name == "old"
}

func knowsElem(es []loom.Elem, name string) bool {
	for i := range es {
		e := &es[i]
		switch e.Kind {
		case loom.ElemGroup:
			if knowsElem(e.Group, name) {
				return true
			}
		case loom.ElemParams:
			for j := range e.Params {
				if e.Params[j].Name == name {
					return true
				}
			}
		case loom.ElemCustom:
			return true // pieces with their own rule store what they read
		case loom.ElemAttr, loom.ElemIndices, loom.ElemSymbol, loom.ElemFlag:
			if e.Name == name {
				return true
			}
		}
	}
	return false
}

// literalFits reports whether a literal can be a value of the element kind, and
// whether its form is right but its value is not.
func literalFits(a loom.Attr, k loom.Kind) (fits, outOfRange bool) {
	switch {
	case k == loom.I1:
		return a.Kind == loom.AttrBool || a.Kind == loom.AttrInt && (a.Int == 0 || a.Int == 1), false
	case k == loom.Offset:
		return a.Kind == loom.AttrInt && a.Int >= 0, a.Kind == loom.AttrInt && a.Int < 0
	case k == loom.Index:
		return a.Kind == loom.AttrInt, false
	case k.IsInt():
		if a.Kind != loom.AttrInt {
			return false, false
		}
		w := k.Bits()
		if w < 64 && (a.Int < -(1<<(w-1)) || a.Int >= 1<<w) {
			return false, true
		}
		return true, false
	case k.IsFloat():
		return a.Kind == loom.AttrFloat, false
	}
	return true, false
}

// literal checks the literal attribute called name against an element kind.
func (v *verifier) literal(op *loom.Op, name string, k loom.Kind) bool {
	a := op.Attr(name)
	if a.Kind == loom.AttrNone {
		return true
	}
	fits, outOfRange := literalFits(a, k)
	if fits {
		return true
	}
	v.report(literalDiag(diag.Diagnostic{Code: "TYPE/005", Span: op.NameSpan()}, name, a, k, outOfRange))
	return false
}

// literalDiag words a literal fault on top of d.
func literalDiag(d diag.Diagnostic, name string, a loom.Attr, k loom.Kind, outOfRange bool) diag.Diagnostic {
	if outOfRange {
		d.Code = "STRUCTURE/014"
		d.Message = "'" + name + "' is " + a.String() + ", which is outside the values of " + k.String()
		return d
	}
	d.Message = "'" + name + "' is " + attrKindNames[a.Kind] + " (" + a.String() + "), which is not a literal of type " + k.String()
	switch {
	case k.IsFloat() && a.Kind == loom.AttrInt:
		return d.WithHelp("write %d.0", a.Int)
	case k == loom.I1:
		return d.WithHelp("write true, false, 0 or 1")
	case k.IsFloat():
		return d.WithHelp("write a float such as 1.0")
	}
	return d.WithHelp("write an integer")
}
