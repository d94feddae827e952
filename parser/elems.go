package parser

import (
	"slices"
	"strings"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// elems reads the pieces of an op's assembly format in order.
func (p *body) elems(st *statement, es []loom.Elem) {
	for i := range es {
		e := &es[i]
		switch e.Kind {
		case loom.ElemLit:
			p.literal(e.Name)
		case loom.ElemOperand:
			p.operand(st, e.Field)
		case loom.ElemOperands:
			if p.kind == tValue {
				p.operand(st, e.Field)
				for p.accept(',') {
					p.operand(st, e.Field)
				}
			}
		case loom.ElemIndices:
			p.indexList(st, e)
		case loom.ElemDict:
			if p.punct('{') {
				st.op.Attrs = append(st.op.Attrs, p.dict(0, st)...)
			}
		case loom.ElemType:
			p.fieldType(st, e.Field)
		case loom.ElemTypes:
			p.fieldTypes(st, e.Field)
		case loom.ElemParams:
			p.params(st, e)
		case loom.ElemAttr:
			p.attrInPlace(st, e)
		case loom.ElemFlag:
			p.flag(st, e)
		case loom.ElemSymbol:
			if p.kind != tSymbol {
				p.expected("a @symbol")
			}
			if p.end-p.start == 1 {
				p.fail(diag.Errorf(p.here(), "PARSE/024", "'@' without a name"))
			}
			st.op.Attrs = append(st.op.Attrs, loom.NamedAttr{Name: e.Name, Value: loom.Attr{Kind: loom.AttrSymbol, Str: p.src[p.start+1 : p.end]}})
			p.next()
			if st.op.Def.Name == "global.load" {
				for _, r := range st.results { // the printed type may mention the results
					p.define(r)
				}
			}
		case loom.ElemSucc:
			p.successor(st)
		case loom.ElemRegion:
			p.opRegion(st)
		case loom.ElemGroup:
			if p.startsGroup(e.Group) {
				p.elems(st, e.Group)
			}
		case loom.ElemCustom:
			p.customs[e.Name](p, st)
		}
	}
}

func (p *body) literal(s string) {
	if len(s) == 1 && class[s[0]]&cPunct != 0 {
		p.expectPunct(s[0])
		return
	}
	if s == "->" {
		if p.kind != tArrow {
			p.expected("'->'")
		}
		p.next()
		return
	}
	p.expectWord(s)
}

// startsGroup reports whether an optional group is present, by its first
// element.
func (p *body) startsGroup(es []loom.Elem) bool {
	e := &es[0]
	switch e.Kind {
	case loom.ElemLit:
		if e.Name == "->" {
			return p.kind == tArrow
		}
		return p.is(e.Name)
	case loom.ElemOperand, loom.ElemOperands:
		return p.kind == tValue
	case loom.ElemParams:
		return p.punct('<')
	case loom.ElemRegion:
		return p.punct('{')
	case loom.ElemSymbol:
		return p.kind == tSymbol
	case loom.ElemAttr:
		return p.kind == tString
	}
	return false
}

func (p *body) operand(st *statement, field int) {
	n := p.valueName()
	v := p.names.lookup(n)
	if v == nil {
		v = p.newValue(n, p.start)
		st.fixes = append(st.fixes, fixup{slot: len(st.opnds), name: n, place: p.here()})
	}
	p.addOperand(st, field, v)
	p.next()
}

// indexList reads [literal or %value, …].
func (p *body) indexList(st *statement, e *loom.Elem) {
	p.expectPunct('[')
	var buf [8]int64
	static := buf[:0]
	for !p.punct(']') {
		if p.kind == tInt {
			static = append(static, p.parseInt(p.text()))
			p.next()
		} else {
			static = append(static, loom.DynamicIndex)
			p.operand(st, e.Field)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(']')
	st.op.Attrs = append(st.op.Attrs, loom.NamedAttr{Name: e.Name, Value: loom.Attr{Kind: loom.AttrInts, Aux: p.intList(static)}})
}

// listKey is a short index list.
type listKey struct {
	n    int8
	vals [4]int64
}

// maxLists bounds the cache of index lists.
const maxLists = 1024

// intList returns vs as an attribute payload. Payloads are immutable, so ops
// share short ones.
func (p *body) intList(vs []int64) any {
	key := listKey{n: int8(len(vs))}
	if len(vs) > len(key.vals) {
		return slices.Clone(vs)
	}
	copy(key.vals[:], vs)
	l := p.lists[key]
	if l == nil {
		l = slices.Clone(vs)
		if len(p.lists) < maxLists {
			p.lists[key] = l
		}
	}
	return l
}

// fieldType records the printed type of a result, or checks it against the
// operand it describes.
func (p *body) fieldType(st *statement, field int) {
	if field < 0 {
		p.resultType(st)
		return
	}
	t := p.typ()
	for _, v := range st.fieldAll(field) {
		p.checkOperandType(st, v, t)
	}
}

// resultType reads the type of the next result.
func (p *body) resultType(st *statement) {
	p.siblings = st.results
	st.types = append(st.types, p.typ())
	p.siblings = nil
}

func (p *body) checkOperandType(st *statement, v *loom.Value, t *loom.Type) {
	if v.Type == nil || t == nil || v.Type == t || v.Type.Equal(t) {
		return
	}
	sp := p.span(p.prevEnd-min(len(t.String()), p.prevEnd), p.prevEnd)
	d := diag.Errorf(sp, "TYPE/001", "operand '%%%s' has type %s, but %s is written", v.Name, v.Type, t)
	if v.Pos > 0 {
		d = d.WithRelated(p.span(int(v.Pos), int(v.Pos)+len(v.Name)+1), "'%%%s' is defined here as %s", v.Name, v.Type)
	}
	p.report(d.WithHelp("write the type of the operand, or convert the value first"))
}

func (p *body) fieldTypes(st *statement, field int) {
	var vs []*loom.Value
	if field >= 0 {
		vs = st.fieldAll(field)
		if len(vs) == 0 && !p.startsType() {
			return
		}
	} else if !p.startsType() {
		return
	}
	n := 0
	for {
		if field < 0 {
			p.resultType(st)
		} else {
			t := p.typ()
			if n < len(vs) {
				p.checkOperandType(st, vs[n], t)
			}
			n++
		}
		if !p.accept(',') {
			break
		}
	}
	if field >= 0 && n != len(vs) {
		p.report(diag.Errorf(p.span(p.prevEnd-1, p.prevEnd), "PARSE/010", "op '%s' has %d %s, but %d %s written", st.op.Def.Name, len(vs), plural(len(vs), "operand"), n, plural(n, "type")))
	}
}

func (p *body) startsType() bool {
	return p.kind == tIdent || p.kind == tOpName || p.punct('(')
}

// params reads <a, b> template parameters.
func (p *body) params(st *statement, e *loom.Elem) {
	if !p.punct('<') {
		if e.Optional {
			return
		}
		p.expected("'<'")
	}
	p.next()
	for i := range e.Params {
		q := &e.Params[i]
		if i > 0 {
			if q.Optional && !p.punct(',') {
				continue
			}
			p.expectPunct(',')
		}
		st.op.Attrs = append(st.op.Attrs, loom.NamedAttr{Name: q.Name, Value: p.value(q.Kind)})
	}
	if !p.punct('>') {
		if p.kind == tEOF || p.newlines > 0 {
			p.fail(diag.Errorf(p.span(p.prevEnd-1, p.prevEnd), "PARSE/026", "angle bracket is not closed"))
		}
		p.expected("'>'")
	}
	p.next()
}

func (p *body) attrInPlace(st *statement, e *loom.Elem) {
	st.op.Attrs = append(st.op.Attrs, loom.NamedAttr{Name: e.Name, Value: p.value(e.Attr)})
}

func (p *body) flag(st *statement, e *loom.Elem) {
	if p.kind != tIdent {
		return
	}
	if t := p.text(); slices.Contains(e.Words, t) {
		st.op.Attrs = append(st.op.Attrs, loom.NamedAttr{Name: e.Name, Value: loom.WordAttr(t)})
		p.next()
	}
}

// value reads an attribute of the named kind.
func (p *body) value(kind string) loom.Attr {
	switch kind {
	case "int":
		if p.kind != tInt {
			p.expected("an integer")
		}
		a := loom.IntAttr(p.parseInt(p.text()))
		p.next()
		return a
	case "string":
		if p.kind != tString {
			p.expected("a string")
		}
		return p.attr(0)
	case "word":
		if p.kind != tIdent {
			p.expected("a word")
		}
		a := loom.WordAttr(p.text())
		p.next()
		return a
	case "key":
		if p.kind != tIdent && p.kind != tOpName {
			p.expected("a dotted key")
		}
		a := loom.WordAttr(p.text())
		p.next()
		return a
	case "symbol":
		if p.kind != tSymbol {
			p.expected("a @symbol")
		}
		return p.attr(0)
	case "enc":
		return loom.Attr{Kind: loom.AttrEnc, Aux: p.encoding()}
	case "preds":
		return loom.Attr{Kind: loom.AttrPreds, Aux: p.predicates()}
	case "ints":
		return p.ints()
	case "list":
		return p.list()
	case "pattern":
		return p.pattern()
	case "value":
		if p.punct('{') || p.punct('[') {
			p.expected("a literal")
		}
		return p.attr(0)
	}
	words := loom.Enums[kind]
	if p.kind != tIdent {
		p.expected("one of " + strings.Join(words, ", "))
	}
	if loom.FlagEnums[kind] {
		var fs []string
		for {
			w := p.enumWord(kind, words, "PARSE/018")
			fs = append(fs, w)
			if !p.accept('|') {
				return loom.Attr{Kind: loom.AttrFlags, Aux: fs}
			}
			if p.kind != tIdent {
				p.expected("one of " + strings.Join(words, ", "))
			}
		}
	}
	return loom.WordAttr(p.enumWord(kind, words, "PARSE/017"))
}

func (p *body) enumWord(kind string, words []string, code string) string {
	w := p.text()
	if !slices.Contains(words, w) {
		d := diag.Errorf(p.here(), code, "'%s' is not a valid %s; it is one of %s", w, kind, strings.Join(words, ", "))
		if n := dialect.Nearest(w, words); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		}
		p.report(d)
	}
	p.next()
	return w
}

func (p *body) ints() loom.Attr {
	p.expectPunct('[')
	var out []int64
	for p.kind == tInt {
		out = append(out, p.parseInt(p.text()))
		p.next()
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(']')
	return loom.Attr{Kind: loom.AttrInts, Aux: out}
}

// list reads [literal or %value, …] into attributes; a %value is kept as the
// word "%name" with the value as its payload.
func (p *body) list() loom.Attr {
	p.expectPunct('[')
	var out []loom.Attr
	for !p.punct(']') {
		if p.kind == tValue {
			n := p.text()
			out = append(out, loom.Attr{Kind: loom.AttrWord, Str: n, Aux: p.use()})
		} else {
			out = append(out, p.attr(1))
		}
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(']')
	return loom.Attr{Kind: loom.AttrList, Aux: out}
}

// pattern reads k = v, k = v of encoding.matches.
func (p *body) pattern() loom.Attr {
	var out []loom.NamedAttr
	for !p.punct('>') {
		if p.kind != tIdent && p.kind != tOpName {
			p.expected("a parameter name")
		}
		n := p.text()
		p.next()
		p.expectPunct('=')
		out = append(out, loom.NamedAttr{Name: n, Value: p.attr(1)})
		if !p.accept(',') {
			break
		}
	}
	return loom.Attr{Kind: loom.AttrDict, Aux: out}
}

func (p *body) successor(st *statement) {
	if p.kind != tLabel {
		p.expected("a ^label")
	}
	i := len(st.op.Succs)
	st.op.Succs = append(st.op.Succs, loom.Succ{})
	*p.labels = append(*p.labels, labelRef{op: st.op, succ: i, name: p.src[p.start+1 : p.end], place: p.here()})
	p.next()
	if !p.accept('(') {
		return
	}
	for !p.punct(')') {
		n := p.valueName()
		v := p.names.lookup(n)
		if v == nil {
			v = p.newValue(n, p.start)
			st.fixes = append(st.fixes, fixup{slot: -1 - len(st.op.Succs[i].Args), succ: i, name: n, place: p.here()})
		}
		p.next()
		if p.accept(':') {
			p.checkOperandType(st, v, p.typ())
		}
		st.op.Succs[i].Args = append(st.op.Succs[i].Args, v)
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
}

func (p *body) opRegion(st *statement) {
	args := p.valLists.list(st.outArgs)
	st.outArgs = st.outArgs[:0]
	r := p.region(args)
	st.regions = append(st.regions, r)
}

var customs = sync.OnceValue(customPieces)

// customPieces are the format pieces with a rule of their own. They are reached
// through the parser so that the table is not initialised before the functions
// that use it.
func customPieces() map[string]func(*body, *statement) {
	return map[string]func(*body, *statement){
		"iv": func(p *body, st *statement) {
			n := p.valueName()
			st.outArgs = append(st.outArgs, p.newValue(n, p.start))
			p.next()
		},
		"binds":     binds,
		"results":   results,
		"loophints": loopHints,
		"blockargs": func(p *body, st *statement) {
			if !p.accept('(') {
				return
			}
			for !p.punct(')') {
				n := p.valueName()
				v := p.newValue(n, p.start)
				p.next()
				p.expectPunct(':')
				v.Type = p.typ()
				st.outArgs = append(st.outArgs, v)
				if !p.accept(',') {
					break
				}
			}
			p.expectPunct(')')
		},
		"cases":   cases,
		"rows":    rows,
		"args":    callArgs,
		"launch":  launchArgs,
		"barrier": barrier,
		"alloca":  alloca,
		"pack":    pack,
		"isatype": isaType,
		"edict":   operandDict,
		"using": func(p *body, st *statement) {
			if p.acceptWord("using") {
				operandDict(p, st)
			}
		},
	}
}

func fieldIndex(st *statement, name string) int {
	for i, f := range st.op.Def.Operands {
		if f.Name == name {
			return i
		}
	}
	panic("op table: " + st.op.Def.Name + " lacks the operand field " + name)
}

// binds reads the loop-carried bindings (%b = %init : T, …), also in the
// grouped form (%b = %x, %c = %y : T, U).
func binds(p *body, st *statement) {
	f := fieldIndex(st, "iter_args")
	if st.op.Def.Name == "scf.for" && len(st.outArgs) > 0 && st.outArgs[0].Type == nil {
		if v := st.opnds[0]; v.Type != nil {
			st.outArgs[0].Type = v.Type
		} else {
			st.outArgs[0].Type = loom.Scalar(loom.Index)
		}
	}
	if !p.accept('(') {
		return
	}
	var untyped []*loom.Value
	var inits []*loom.Value
	for !p.punct(')') {
		if len(untyped) > 0 && p.kind != tValue { // grouped types
			for i, v := range untyped {
				if i > 0 {
					p.expectPunct(',')
				}
				v.Type = p.typ()
				p.checkOperandType(st, inits[i], v.Type)
			}
			untyped, inits = nil, nil
		} else {
			n := p.valueName()
			v := p.newValue(n, p.start)
			p.next()
			p.expectPunct('=')
			at := len(st.opnds)
			p.operand(st, f)
			st.outArgs = append(st.outArgs, v)
			untyped, inits = append(untyped, v), append(inits, st.opnds[at])
			if p.accept(':') {
				for i, u := range untyped {
					if i > 0 {
						p.expectPunct(',')
					}
					u.Type = p.typ()
					p.checkOperandType(st, inits[i], u.Type)
				}
				untyped, inits = nil, nil
			}
		}
		if !p.accept(',') {
			break
		}
	}
	if len(untyped) > 0 {
		p.expected("':' and the types of the bindings")
	}
	p.expectPunct(')')
}

// results reads an optional -> (T, …).
func results(p *body, st *statement) {
	if p.kind != tArrow {
		return
	}
	p.next()
	if !p.accept('(') {
		p.resultType(st)
		return
	}
	for i := 0; !p.punct(')'); i++ {
		tied := int64(-1)
		if p.kind == tValue { // %operand as T
			n := p.valueName()
			tied = int64(p.operands.find(st.opnds, n))
			if tied < 0 {
				p.report(diag.Errorf(p.here(), "DOMINANCE/005", "tied result names '%%%s', which is not an operand of the op", n))
			}
			p.next()
			p.expectWord("as")
		}
		if tied >= 0 && st.tied == nil {
			st.tied = slices.Repeat([]int64{-1}, len(st.types))
		}
		p.resultType(st)
		if st.tied != nil {
			st.tied = append(st.tied, tied)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
}

// loopHints reads pipeline(%d), unroll(%n), unroll and schedule(kind).
func loopHints(p *body, st *statement) {
	var unroll, pipe *loom.Value
	var fixU, fixP *fixup
	for p.kind == tIdent {
		switch p.text() {
		case "unroll":
			p.next()
			if !p.accept('(') {
				st.op.SetAttr("unroll", loom.BoolAttr(true))
				continue
			}
			unroll, fixU = p.hint(st)
		case "pipeline":
			p.next()
			p.expectPunct('(')
			pipe, fixP = p.hint(st)
		case "schedule":
			p.next()
			p.expectPunct('(')
			st.op.SetAttr("schedule", p.value("schedule"))
			p.expectPunct(')')
		default:
			p.expected("a loop hint (unroll, pipeline, schedule) or '{'")
		}
	}
	for _, h := range []struct {
		name string
		val  *loom.Value
		fix  *fixup
	}{{"unroll_factor", unroll, fixU}, {"pipeline_depth", pipe, fixP}} {
		if h.val != nil {
			if h.fix != nil {
				h.fix.slot = len(st.opnds)
				st.fixes = append(st.fixes, *h.fix)
			}
			p.addOperand(st, fieldIndex(st, h.name), h.val)
		}
	}
}

func (p *body) hint(st *statement) (*loom.Value, *fixup) {
	n := p.valueName()
	v := p.names.lookup(n)
	var f *fixup
	if v == nil {
		v = p.newValue(n, p.start)
		f = &fixup{name: n, place: p.here()}
	}
	p.next()
	p.expectPunct(')')
	return v, f
}

// cases reads { case 0 {…} … default {…} }.
func cases(p *body, st *statement) {
	p.expectPunct('{')
	var keys []int64
	for p.acceptWord("case") {
		if p.kind != tInt {
			p.expected("an integer case")
		}
		keys = append(keys, p.parseInt(p.text())) // their order is the verifier's business
		p.next()
		st.regions = append(st.regions, p.region(nil))
	}
	if !p.acceptWord("default") {
		p.expected("'case' or 'default'")
	}
	st.regions = append(st.regions, p.region(nil))
	p.expectPunct('}')
	st.op.SetAttr("cases", loom.Attr{Kind: loom.AttrInts, Aux: keys})
}

// rows reads { 0 = (%a, %b), … } default(%c, %d).
func rows(p *body, st *statement) {
	f := fieldIndex(st, "values")
	var keys []int64
	width := -1
	row := func() {
		at := p.here()
		p.expectPunct('(')
		n := 0
		for !p.punct(')') {
			p.operand(st, f)
			n++
			if !p.accept(',') {
				break
			}
		}
		p.expectPunct(')')
		if width >= 0 && n != width {
			p.report(diag.Errorf(at, "PARSE/030", "row has %d values where the first has %d", n, width))
		}
		if width < 0 {
			width = n
		}
	}
	p.expectPunct('{')
	for p.kind == tInt {
		keys = append(keys, p.parseInt(p.text()))
		p.next()
		p.expectPunct('=')
		row()
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct('}')
	p.expectWord("default")
	row()
	st.op.SetAttr("keys", loom.Attr{Kind: loom.AttrInts, Aux: keys})
}

// callArgs reads (%a, %b) [flags] : (T, U) [-> (R, …)].
func callArgs(p *body, st *statement) {
	f := fieldIndex(st, "operands")
	p.expectPunct('(')
	for !p.punct(')') {
		p.operand(st, f)
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
	for p.kind == tIdent {
		switch w := p.text(); w {
		case "pure":
			st.op.SetAttr("pure", loom.WordAttr(w))
		case "hot", "cold":
			st.op.SetAttr("temperature", loom.WordAttr(w))
		case "inline", "noinline":
			st.op.SetAttr("inline", loom.WordAttr(w))
		default:
			p.expected("':'")
		}
		p.next()
	}
	p.expectPunct(':')
	p.expectPunct('(')
	p.fieldTypes(st, f)
	p.expectPunct(')')
	results(p, st)
}

// launchArgs reads [%w, …](%a, …) : [index, …](T, …); the bracket parts are
// omitted together. Results are allowed for tensor-valued harnesses.
func launchArgs(p *body, st *statement) {
	w, f := fieldIndex(st, "workload"), fieldIndex(st, "operands")
	brackets := p.accept('[')
	if brackets {
		for !p.punct(']') {
			p.operand(st, w)
			if !p.accept(',') {
				break
			}
		}
		p.expectPunct(']')
	}
	p.expectPunct('(')
	for !p.punct(')') {
		p.operand(st, f)
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
	p.expectPunct(':')
	if brackets {
		p.expectPunct('[')
		p.fieldTypes(st, w)
		p.expectPunct(']')
	}
	p.expectPunct('(')
	p.fieldTypes(st, f)
	p.expectPunct(')')
	results(p, st)
}

// barrier reads <space> followed by scope(…) ordering(…) clauses (newer) or an
// attribute dictionary (older).
func barrier(p *body, st *statement) {
	p.expectPunct('<')
	st.op.SetAttr("memory_space", p.value("space"))
	p.expectPunct('>')
	if p.punct('{') {
		st.op.Attrs = append(st.op.Attrs, p.dict(0, st)...)
		st.op.SetAttr("old", loom.BoolAttr(true))
		return
	}
	for p.kind == tIdent {
		switch w := p.text(); w {
		case "scope", "ordering":
			p.next()
			p.expectPunct('(')
			st.op.SetAttr(w, p.value(w))
			p.expectPunct(')')
		default:
			return
		}
	}
}

// alloca reads <space> [align(N)] %n (newer) or %n {…} (older).
func alloca(p *body, st *statement) {
	f := fieldIndex(st, "byte_length")
	if p.accept('<') {
		st.op.SetAttr("memory_space", p.value("space"))
		p.expectPunct('>')
		if p.acceptWord("align") {
			p.expectPunct('(')
			st.op.SetAttr("base_alignment", p.value("int"))
			p.expectPunct(')')
		}
		p.operand(st, f)
		return
	}
	p.operand(st, f)
	if p.punct('{') {
		st.op.Attrs = append(st.op.Attrs, p.dict(0, st)...)
	}
	st.op.SetAttr("old", loom.BoolAttr(true))
}

// pack reads [align(A) %n, …].
func pack(p *body, st *statement) {
	f := fieldIndex(st, "lengths")
	var aligns []int64
	p.expectPunct('[')
	for !p.punct(']') {
		a := int64(1)
		if p.acceptWord("align") {
			p.expectPunct('(')
			a = p.value("int").Int
			p.expectPunct(')')
		}
		aligns = append(aligns, a)
		p.operand(st, f)
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(']')
	st.op.SetAttr("aligns", loom.Attr{Kind: loom.AttrInts, Aux: aligns})
}

// operandDict reads an optional {name = %v : T, …}. Where an attribute dictionary
// may follow, the two may also be one: entries with literals are attributes.
func operandDict(p *body, st *statement) {
	if !p.punct('{') {
		return
	}
	literals := slices.ContainsFunc(st.op.Def.Elems, func(e loom.Elem) bool { return e.Kind == loom.ElemDict })
	f := fieldIndex(st, "parameters")
	var names []loom.Attr
	var seen nameSet
	p.next()
	for !p.punct('}') {
		if p.kind != tIdent && p.kind != tOpName {
			p.expected("a parameter name")
		}
		n := p.text()
		if seen.add(n) {
			p.report(diag.Errorf(p.here(), "PARSE/027", "parameter '%s' is given twice", n))
		}
		place := p.here()
		p.next()
		p.expectPunct('=')
		if literals && p.kind != tValue {
			p.checkKey(st.op, n, place)
			st.op.Attrs = append(st.op.Attrs, loom.NamedAttr{Name: n, Value: p.attr(1)})
			p.accept(',')
			continue
		}
		names = append(names, loom.Attr{Kind: loom.AttrString, Str: n})
		at := len(st.opnds)
		p.operand(st, f)
		p.expectPunct(':')
		p.checkOperandType(st, st.opnds[at], p.typ())
		if !p.accept(',') && !literals {
			break
		}
	}
	p.expectPunct('}')
	if len(names) > 0 || !literals {
		st.op.SetAttr("parameter_names", loom.Attr{Kind: loom.AttrList, Aux: names})
	}
}

// isaType reads the type of encoding.isa: the older form, with a category, prints
// the result's, the newer one the operand's.
func isaType(p *body, st *statement) {
	p.expectPunct(':')
	t := p.typ()
	if st.op.Has("category") {
		st.types = append(st.types, t)
		return
	}
	p.checkOperandType(st, st.opnds[0], t)
	st.types = append(st.types, loom.Scalar(loom.I1))
}
