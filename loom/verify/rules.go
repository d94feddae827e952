package verify

import (
	"fmt"
	"strings"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
)

// The type-rule language of the op table. A rule is a list of clauses separated
// by ';':
//
//	a=b=c:set     the fields a, b and c have types of the set and are of one type
//	a=b           they are of one type
//	a:set         the type of a is in the set
//	element(a,b)  equal element kinds; a scalar is its own element
//	shape(a,b)    equal extents
//	rank(a,b)     equal numbers of axes
//	layout(a,b)   equal encodings
//	alike(a)      all values of the variadic field a have one type
//	wider(a,b)    the element of b has more bits than that of a; equal shapes
//	narrower(a,b) the element of b has fewer bits than that of a; equal shapes
//	bits(a,b)     equal numbers of bits in all
//	groupedN(a,b) b has the extents of a with the last one divided by N
//
// A rule starting with "form " is documentation of a head and not a rule.

// fieldRef names an operand or result field of an op.
type fieldRef struct {
	name     string
	index    int
	result   bool
	variadic bool
}

// typeSet is a set of types: those whose kind is in kinds and, for shaped types,
// whose element is in elems.
type typeSet struct {
	name  string // how messages call it
	kinds uint32
	elems uint32
	role  string // encodings and dotted types: Type.Name, "" for any
	shape shapeRule
}

type shapeRule uint8

const (
	anyShape   shapeRule = iota
	rank1                // one axis
	atMost1              // scalars, or one axis
	staticDims           // all extents literal
	static1              // one axis with a literal extent
)

func bit(ks ...loom.Kind) uint32 {
	var m uint32
	for _, k := range ks {
		m |= 1 << k
	}
	return m
}

var (
	intBits    = bit(loom.I1, loom.I8, loom.I16, loom.I32, loom.I64)
	floatBits  = bit(loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64)
	indexBits  = bit(loom.Index, loom.Offset)
	coordBits  = bit(loom.Index, loom.I8, loom.I16, loom.I32, loom.I64)
	scalarBits = intBits | floatBits | indexBits
	vectorBit  = bit(loom.Vector)
	allBits    = ^uint32(0)
)

// typeSets returns the sets by the name the op table uses.
var typeSets = sync.OnceValue(func() map[string]*typeSet {
	m := map[string]*typeSet{}
	add := func(key, name string, kinds, elems uint32, shape shapeRule) {
		m[key] = &typeSet{name: name, kinds: kinds, elems: elems, shape: shape}
	}
	add("any", "any type", allBits, allBits, anyShape)
	for _, s := range []struct {
		key, name string
		kinds     uint32
	}{
		{"int", "a fixed-width integer", intBits},
		{"float", "a floating-point type", floatBits},
		{"index", "index", bit(loom.Index)},
		{"offset", "offset", bit(loom.Offset)},
		{"indexlike", "index or offset", indexBits},
		{"intindex", "an integer, index or offset", intBits | indexBits},
		{"coord", "index or an integer wider than i1", coordBits},
		{"number", "a fixed-width integer or floating-point type", intBits | floatBits},
		{"scalar", "a scalar", scalarBits},
		{"bool", "i1", bit(loom.I1)},
		{"i32", "i32", bit(loom.I32)},
		{"mask32", "i32 or i64", bit(loom.I32, loom.I64)},
		{"i8", "i8", bit(loom.I8)},
		{"f32", "f32", bit(loom.F32)},
		{"half", "f16 or bf16", bit(loom.F16, loom.BF16)},
		{"element", "a scalar", scalarBits},
	} {
		add(s.key, s.name, s.kinds, 0, anyShape)
		add("vec."+s.key, "a vector whose elements are "+s.name, vectorBit, s.kinds, anyShape)
	}
	add("vec.any", "a vector", vectorBit, allBits, anyShape)
	add("vector", "a vector", vectorBit, allBits, anyShape)
	add("vec.rank1", "a vector with one axis", vectorBit, allBits, rank1)
	add("vec.float1", "a floating-point vector with one axis", vectorBit, floatBits, rank1)
	add("vec.static", "a vector with literal extents", vectorBit, allBits, staticDims)
	add("vec.static1", "a vector with one axis of literal extent", vectorBit, allBits, static1)
	add("mask", "a vector of i1", vectorBit, bit(loom.I1), anyShape)
	add("payload", "a scalar, or a vector with one axis", scalarBits|vectorBit, allBits, atMost1)
	add("buffer", "buffer", bit(loom.Buffer), 0, anyShape)
	add("view", "a view", bit(loom.View), allBits, anyShape)
	add("tensor", "a tensor", bit(loom.Tensor), allBits, anyShape)
	add("tile", "a tile", bit(loom.Tile), allBits, anyShape)
	add("pool", "a pool", bit(loom.Pool), 0, anyShape)
	add("encoding", "an encoding", bit(loom.EncodingKind), 0, anyShape)
	for _, role := range []string{"layout", "schema", "storage", "transform"} {
		m[role] = &typeSet{name: "encoding<" + role + ">", kinds: bit(loom.EncodingKind), role: role}
	}
	for key, word := range map[string]string{"token": "kernel.async.token", "group": "kernel.async.group", "descriptor": "kernel.tensor.lds.descriptor"} {
		m[key] = &typeSet{name: word, kinds: bit(loom.Dotted), role: word}
	}
	return m
})

// hasKind reports whether t passes all but the element test of the set.
func (s *typeSet) hasKind(t *loom.Type) bool {
	if s.kinds&(1<<t.Kind) == 0 || s.role != "" && t.Name != s.role {
		return false
	}
	switch s.shape {
	case rank1, atMost1:
		return !t.IsShaped() || len(t.Dims) == 1
	case staticDims, static1:
		if s.shape == static1 && len(t.Dims) != 1 {
			return false
		}
		for _, d := range t.Dims {
			if d.Val != nil {
				return false
			}
		}
	}
	return true
}

// hasElement reports whether the element of a shaped t is in the set.
func (s *typeSet) hasElement(t *loom.Type) bool {
	return !t.IsShaped() || s.elems&(1<<t.Elem) != 0
}

// clause is one compiled clause of a rule: a set over fields, or a relation.
type clause struct {
	set    *typeSet // nil: relation only
	same   bool     // fields are of one type
	rel    relation
	n      int64 // relation parameter
	fields []fieldRef
	// elem is the field an element fault is reported at, so that one wrong
	// element kind shared by all operands gives one diagnostic: a result when the
	// clause has one, else the first field.
	elem int
}

type relation uint8

const (
	relNone relation = iota
	relElement
	relShape
	relRank
	relLayout
	relAlike
	relWider
	relNarrower
	relBits
	relGrouped
)

var relationNames = map[string]relation{
	"element": relElement, "shape": relShape, "rank": relRank, "layout": relLayout, "alike": relAlike,
	"wider": relWider, "narrower": relNarrower, "bits": relBits, "grouped": relGrouped,
}

// rule is everything the verifier knows about one op.
type rule struct {
	def     *loom.OpDef
	clauses []clause
	attrs   []attrRule
	hasDict bool
	check   func(*verifier, *loom.Op) // what is particular to the op, or nil
	poison  bool                      // observes its operands: poison must not reach it
}

// rules compiles the whole op table once.
var rules = sync.OnceValue(func() map[*loom.OpDef]*rule {
	out := make(map[*loom.OpDef]*rule, 512)
	checks := opChecks()
	for _, d := range dialect.Ops().All() {
		d.Compile()
		r := &rule{def: d, attrs: attrRules(d), hasDict: len(d.Attrs) > 0, check: checks[d.Name]}
		r.poison = d.Traits&(loom.Reads|loom.Writes) != 0 || d.Name == "func.return" || d.Name == "template.return" || d.Name == "test.yield"
		if !strings.HasPrefix(d.Types, "form ") {
			for _, text := range strings.Split(d.Types, ";") {
				if text = strings.TrimSpace(text); text != "" {
					r.clauses = append(r.clauses, parseClause(d, text))
				}
			}
		}
		// Sets before relations: a relation between types that are wrong already
		// would only repeat the fault in other words, but equality is worth saying.
		out[d] = r
	}
	return out
})

// parseClause compiles one clause. A malformed one is a fault of the op table
// and panics; a test compiles the whole table.
func parseClause(d *loom.OpDef, text string) clause {
	if i := strings.IndexByte(text, '('); i >= 0 && strings.HasSuffix(text, ")") {
		name := text[:i]
		c := clause{fields: fieldRefs(d, strings.Split(text[i+1:len(text)-1], ","))}
		if digits := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"); digits != "" {
			name = strings.TrimSuffix(name, digits)
			if _, err := fmt.Sscanf(digits, "%d", &c.n); err != nil {
				panic(fmt.Sprintf("op table: %s: relation %q: %v", d.Name, text, err))
			}
		}
		c.rel = relationNames[name]
		if c.rel == relNone {
			panic(fmt.Sprintf("op table: %s: unknown relation %q", d.Name, text))
		}
		return c
	}
	names, setName, _ := strings.Cut(text, ":")
	c := clause{fields: fieldRefs(d, strings.Split(names, "="))}
	c.same = len(c.fields) > 1
	if setName != "" {
		c.set = typeSets()[setName]
		if c.set == nil {
			panic(fmt.Sprintf("op table: %s: unknown type set %q", d.Name, setName))
		}
	}
	for i, f := range c.fields {
		if f.result {
			c.elem = i
		}
	}
	return c
}

func fieldRefs(d *loom.OpDef, names []string) []fieldRef {
	out := make([]fieldRef, len(names))
	for n, name := range names {
		name = strings.TrimSpace(name)
		found := false
		for i, f := range d.Operands {
			if f.Name == name {
				out[n], found = fieldRef{name, i, false, f.Variadic}, true
			}
		}
		for i, f := range d.Results {
			if f.Name == name {
				out[n], found = fieldRef{name, i, true, f.Variadic}, true
			}
		}
		if !found {
			panic(fmt.Sprintf("op table: %s: type rule names no field %q", d.Name, name))
		}
	}
	return out
}

// values returns the values of the field in op.
func (f *fieldRef) values(op *loom.Op) []*loom.Value {
	if f.result {
		if f.index >= len(op.Results) {
			return nil
		}
		if f.variadic {
			return op.Results[f.index:]
		}
		return op.Results[f.index : f.index+1]
	}
	if op.Segs == nil {
		if f.index >= len(op.Operands) {
			return nil
		}
		return op.Operands[f.index : f.index+1]
	}
	if f.index >= len(op.Segs) {
		return nil
	}
	at := 0
	for _, n := range op.Segs[:f.index] {
		at += int(n)
	}
	end := at + int(op.Segs[f.index])
	if end > len(op.Operands) {
		return nil
	}
	return op.Operands[at:end]
}

// what describes the field in a message: "operand 'lhs'" or "result".
func (f *fieldRef) what(i int) string {
	kind := "operand"
	if f.result {
		kind = "result"
	}
	if f.variadic {
		return fmt.Sprintf("%s '%s[%d]'", kind, f.name, i)
	}
	if f.result && f.name == "result" {
		return "result"
	}
	return fmt.Sprintf("%s '%s'", kind, f.name)
}

func (f *fieldRef) code() string {
	if f.result {
		return "TYPE/004"
	}
	return "TYPE/003"
}

// apply checks one clause and reports whether it holds.
func (c *clause) apply(v *verifier, op *loom.Op) bool {
	ok := true
	if c.set != nil {
		ok = c.applySet(v, op)
	}
	if c.same {
		ok = c.applySame(v, op) && ok
	}
	if c.rel != relNone {
		ok = c.applyRelation(v, op)
	}
	return ok
}

func (c *clause) applySet(v *verifier, op *loom.Op) bool {
	ok := true
	set := c.set
	for i := range c.fields {
		f := &c.fields[i]
		for j, val := range f.values(op) {
			t := val.Type
			if t == nil || set.kinds == allBits {
				continue
			}
			if set.hasKind(t) && (i != c.elem || set.hasElement(t)) {
				continue
			}
			ok = false
			d := v.opError(op, f.code(), "%s of %s has type %s, expected %s", f.what(j), op.Def.Name, t, set.name)
			if !f.result {
				d = v.definedHere(d, val)
			}
			if hint := conversionHint(op, t, set); hint != "" {
				d = d.WithHelp("%s", hint)
			}
			v.report(d)
			if f.variadic {
				break
			}
		}
	}
	return ok
}

// conversionHint suggests what to do about a type outside the expected set.
func conversionHint(op *loom.Op, t *loom.Type, set *typeSet) string {
	prefix, rest, _ := strings.Cut(op.Def.Name, ".")
	try := func(p string) string {
		// index.mul corresponds to scalar.muli: the suffix says the element family.
		for _, name := range []string{rest, strings.TrimRight(rest, "if"), rest + "i"} {
			if p != prefix && dialect.Ops().Lookup(p+"."+name) != nil {
				return fmt.Sprintf("for %s use %s.%s", t, p, name)
			}
		}
		return ""
	}
	switch {
	case t.Kind == loom.Vector && (prefix == "scalar" || prefix == "index"):
		return try("vector")
	case t.Kind.IsIndexLike() && (prefix == "scalar" || prefix == "vector"):
		if h := try("index"); h != "" {
			return h
		}
		return "convert with index.cast"
	case (t.Kind.IsInt() || t.Kind.IsFloat()) && (prefix == "index" || prefix == "vector"):
		if h := try("scalar"); h != "" {
			return h
		}
		if t.Kind.IsInt() && set.kinds&indexBits != 0 {
			return "convert with index.cast"
		}
	case t.Kind == loom.Index && set.kinds == bit(loom.Offset):
		return "convert with index.cast, or multiply by the byte stride with index.scale"
	}
	return ""
}

func (c *clause) applySame(v *verifier, op *loom.Op) bool {
	first, firstVals := &c.fields[0], c.fields[0].values(op)
	if first.variadic {
		return c.applySamePairwise(v, op)
	}
	if len(firstVals) == 0 {
		return true
	}
	want := firstVals[0].Type
	for i := range c.fields[1:] {
		f := &c.fields[i+1]
		for j, val := range f.values(op) {
			if val.Type == want || val.Type == nil || want == nil || val.Type.Equal(want) {
				continue
			}
			d := v.opError(op, "TYPE/001", "%s of %s has type %s, but %s has type %s; they must be of one type",
				first.what(0), op.Def.Name, want, f.what(j), val.Type)
			v.report(v.definedHere(d, firstVals[0]))
			return false
		}
	}
	return true
}

// applySamePairwise compares two variadic fields position by position.
func (c *clause) applySamePairwise(v *verifier, op *loom.Op) bool {
	a, b := &c.fields[0], &c.fields[1]
	as, bs := a.values(op), b.values(op)
	if len(as) != len(bs) {
		v.report(v.opError(op, "STRUCTURE/013", "%s has %s in '%s' and %d in '%s'; the counts must agree",
			op.Def.Name, plural(len(as), "value"), a.name, len(bs), b.name).
			WithHelp("name one result per operand"))
		return false
	}
	ok := true
	for i, x := range as {
		if x.Type == nil || bs[i].Type == nil || x.Type.Equal(bs[i].Type) {
			continue
		}
		// A type fault reported by the set would only be repeated.
		if c.set != nil && !(c.set.hasKind(x.Type) && c.set.hasKind(bs[i].Type)) {
			continue
		}
		ok = false
		v.report(v.opError(op, "TYPE/001", "%s of %s has type %s, but %s has type %s; they must be of one type",
			a.what(i), op.Def.Name, x.Type, b.what(i), bs[i].Type))
	}
	return ok
}

func (c *clause) applyRelation(v *verifier, op *loom.Op) bool {
	first := &c.fields[0]
	vals := first.values(op)
	if len(vals) == 0 || vals[0].Type == nil {
		return true
	}
	base := vals[0].Type
	if c.rel == relAlike {
		for i, x := range vals[1:] {
			if x.Type != nil && !x.Type.Equal(base) {
				v.report(v.opError(op, "TYPE/001", "%s of %s has type %s, but %s has type %s; they must be of one type",
					first.what(0), op.Def.Name, base, first.what(i+1), x.Type))
				return false
			}
		}
		return true
	}
	// All values of the first field against its first, then the other fields.
	for i := range c.fields {
		f := &c.fields[i]
		for j, val := range f.values(op) {
			if val.Type == nil || i == 0 && (j == 0 || c.rel != relElement) {
				continue
			}
			if !c.related(v, op, f, j, base, val) {
				return false
			}
		}
	}
	return true
}

func (c *clause) related(v *verifier, op *loom.Op, f *fieldRef, j int, base *loom.Type, val *loom.Value) bool {
	first, t := &c.fields[0], val.Type
	switch c.rel {
	case relElement:
		if base.Element() == t.Element() {
			return true
		}
		v.report(v.definedHere(v.opError(op, "TYPE/002", "%s of %s has elements of type %s, but %s has %s",
			first.what(0), op.Def.Name, base.Element(), f.what(j), t.Element()), val))
	case relShape:
		if sameDims(base, t) {
			return true
		}
		v.report(v.opError(op, "SHAPE/002", "%s of %s has type %s and %s has type %s; their shapes must be equal",
			first.what(0), op.Def.Name, base, f.what(j), t))
	case relRank:
		if len(base.Dims) == len(t.Dims) {
			return true
		}
		v.report(v.opError(op, "SHAPE/001", "%s of %s has rank %d and %s has rank %d; the ranks must be equal",
			first.what(0), op.Def.Name, len(base.Dims), f.what(j), len(t.Dims)))
	case relLayout:
		if sameLayout(base, t) {
			return true
		}
		v.report(v.opError(op, "ENCODING/001", "%s of %s has type %s and %s has type %s; their layouts must be equal",
			first.what(0), op.Def.Name, base, f.what(j), t))
	case relWider, relNarrower:
		if base.IsShaped() && t.IsShaped() && !sameDims(base, t) {
			v.report(v.opError(op, "SHAPE/002", "%s of %s has type %s and %s has type %s; their shapes must be equal",
				first.what(0), op.Def.Name, base, f.what(j), t))
			return false
		}
		x, y := base.Element().Bits(), t.Element().Bits()
		if x == 0 || y == 0 || (c.rel == relWider && y > x) || (c.rel == relNarrower && y < x) {
			return true
		}
		word := "more"
		if c.rel == relNarrower {
			word = "fewer"
		}
		v.report(v.opError(op, f.code(), "%s of %s has elements of %d bits; it needs %s than the %d bits of %s",
			f.what(j), op.Def.Name, y, word, x, first.what(0)))
	case relBits:
		if sameBits(base, t) {
			return true
		}
		v.report(v.opError(op, f.code(), "%s of %s has type %s, which is not provably of the same size in bits as %s of %s",
			f.what(j), op.Def.Name, t, base, first.what(0)))
	case relGrouped:
		return c.grouped(v, op, f, j, base, t)
	}
	return false
}

// grouped checks dot products that fold N neighbouring lanes into one.
func (c *clause) grouped(v *verifier, op *loom.Op, f *fieldRef, j int, base, t *loom.Type) bool {
	first := &c.fields[0]
	if len(base.Dims) != len(t.Dims) || len(base.Dims) == 0 {
		v.report(v.opError(op, "SHAPE/001", "%s of %s has rank %d and %s has rank %d; the ranks must be equal and at least 1",
			first.what(0), op.Def.Name, len(base.Dims), f.what(j), len(t.Dims)))
		return false
	}
	last := len(base.Dims) - 1
	for i := range last {
		if base.Dims[i] != t.Dims[i] {
			v.report(v.opError(op, "SHAPE/002", "axis %d of %s is %s in %s and %s in %s; all but the last axis must be equal",
				i, op.Def.Name, dimText(base.Dims[i]), first.what(0), dimText(t.Dims[i]), f.what(j)))
			return false
		}
	}
	x, y := base.Dims[last], t.Dims[last]
	if x.Val != nil {
		return true
	}
	if x.Size%c.n != 0 {
		v.report(v.opError(op, first.code(), "the last axis of %s of %s has extent %d, which is not a multiple of %d",
			first.what(0), op.Def.Name, x.Size, c.n))
		return false
	}
	if y.Val == nil && y.Size != x.Size/c.n {
		v.report(v.opError(op, f.code(), "the last axis of %s of %s has extent %d; %d lanes in groups of %d give %d",
			f.what(j), op.Def.Name, y.Size, x.Size, c.n, x.Size/c.n))
		return false
	}
	return true
}

func sameDims(a, b *loom.Type) bool {
	if len(a.Dims) != len(b.Dims) {
		return false
	}
	for i := range a.Dims {
		if a.Dims[i] != b.Dims[i] {
			return false
		}
	}
	return true
}

func sameLayout(a, b *loom.Type) bool {
	if a.EncVal != nil || b.EncVal != nil {
		return a.EncVal == b.EncVal || a.Enc.IsDense() && denseValue(b.EncVal) || b.Enc.IsDense() && denseValue(a.EncVal)
	}
	return a.Enc.IsDense() && b.Enc.IsDense() || a.Enc.Equal(b.Enc)
}

// denseValue reports whether v is known to be the dense layout.
func denseValue(v *loom.Value) bool {
	return v != nil && v.Def != nil && v.Def.Def.Name == "encoding.layout.dense"
}

// sameBits reports whether two types provably have the same number of bits:
// literal extents multiply out, SSA extents must be the same values.
func sameBits(a, b *loom.Type) bool {
	na, da := bitParts(a)
	nb, db := bitParts(b)
	if na != nb || len(da) != len(db) {
		return false
	}
	for _, v := range da {
		at := -1
		for i, w := range db {
			if w == v {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		db = append(db[:at:at], db[at+1:]...)
	}
	return true
}

func bitParts(t *loom.Type) (n int64, dyn []*loom.Value) {
	n = int64(t.Element().Bits())
	for _, d := range t.Dims {
		if d.Val != nil {
			dyn = append(dyn, d.Val)
		} else {
			n *= d.Size
		}
	}
	return n, dyn
}

func dimText(d loom.Dim) string {
	if d.Val != nil {
		return "[%" + d.Val.Name + "]"
	}
	return fmt.Sprint(d.Size)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
