package parser

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// maxNesting bounds the depth of regions, types and attribute values, so that a
// hostile file cannot exhaust the stack.
const (
	maxNesting     = 256
	maxAttrNesting = 16
)

// maxErrors stops the parse of one definition that is not Loom at all.
const maxErrors = 50

// body parses the text of one definition: regions, and the pieces of its head
// that the grammar captured as ranges.
type body struct {
	scanner
	def    *loom.Def
	file   *diag.Source
	shared *shared
	diags  diag.List

	ops      *dialect.Table
	customs  map[string]func(*body, *statement)
	head     tokenList
	outer    []scanner // of the ranges around the current one
	names    *names
	fixups   []fixup
	labels   *[]labelRef // successor references of the innermost region
	opStack  []*loom.Op  // of the blocks being read
	free     []*statement
	argBuf   []loom.PredArg
	operands valueIndex    // of the statement
	results  valueIndex    // of siblings
	siblings []*loom.Value // results whose types are being read
	inHead   bool          // reading a signature
	stop     bool

	owner  *byte                  // shared.id of the file that types and slabs belong to
	types  map[string]*loom.Type  // static types by text
	opaque map[string]*loom.OpDef // ops carried verbatim by name
	shapes map[string]any         // heads by shape
	lists  map[listKey]any        // index lists

	opSlab     slab[loom.Op]
	valSlab    slab[loom.Value]
	valLists   slab[*loom.Value]
	opLists    slab[*loom.Op]
	attrSlab   slab[loom.NamedAttr]
	segSlab    slab[uint16]
	triviaSlab slab[loom.Trivia]
	predArgs   slab[loom.PredArg]
}

// fixup is an operand whose name was not defined yet.
type fixup struct {
	op    *loom.Op
	slot  int // operand index; -1-i for successor argument i of succ
	succ  int
	name  string
	place diag.Span
}

// errSyntax unwinds one statement. It never leaves the package.
type errSyntax struct{}

func (p *body) span(start, end int) diag.Span {
	return diag.Span{Src: p.file, Start: uint32(start), End: uint32(end)}
}

func (p *body) here() diag.Span { return p.span(p.start, p.end) }

func (p *body) report(d diag.Diagnostic) {
	if p.stop {
		return
	}
	p.diags.Add(d)
	if len(p.diags) >= maxErrors {
		p.stop = true
		p.diags.Add(diag.Errorf(d.Span, "PARSE/012", "stopped after %d errors in this definition", maxErrors))
	}
}

// fail reports d and abandons the statement.
func (p *body) fail(d diag.Diagnostic) {
	p.report(d)
	panic(errSyntax{})
}

// expected reports that something else was needed at the current token.
func (p *body) expected(what string) {
	if p.kind == tBad {
		p.fail(badToken(&p.scanner, p.file))
	}
	sp := p.here()
	if p.kind == tEOF {
		sp = p.span(max(p.prevEnd-1, 0), p.prevEnd)
	}
	p.fail(diag.Errorf(sp, "PARSE/003", "expected %s, found %s", what, describe(&p.scanner)).WithHelp("%s", formHelp))
}

// formHelp is what to do about a statement that does not have the form of its op.
const formHelp = "compare the statement with the form of its op: `loomc explain OP` prints it"

func (p *body) expectPunct(c byte) {
	if !p.punct(c) {
		p.expected("'" + string(c) + "'")
	}
	p.next()
}

func (p *body) expectWord(w string) {
	if !p.is(w) {
		p.expected("'" + w + "'")
	}
	p.next()
}

func (p *body) accept(c byte) bool {
	if p.punct(c) {
		p.next()
		return true
	}
	return false
}

func (p *body) acceptWord(w string) bool {
	if p.is(w) && (p.kind == tIdent) {
		p.next()
		return true
	}
	return false
}

func (p *body) newValue(name string, pos int) *loom.Value {
	v := p.valSlab.one()
	v.Name, v.Pos = name, uint32(pos)
	return v
}

func (p *body) define(v *loom.Value) {
	if old := p.names.define(v); old != nil {
		p.report(diag.Errorf(p.span(int(v.Pos), int(v.Pos)+len(v.Name)+1), "PARSE/002", "value '%%%s' is defined twice in one scope", v.Name).
			WithRelated(p.span(int(old.Pos), int(old.Pos)+len(v.Name)+1), "first defined here").
			WithHelp("rename one of them"))
	}
}

func (p *body) undefined(name string, sp diag.Span) diag.Diagnostic {
	d := diag.Errorf(sp, "PARSE/001", "value '%%%s' is used before any definition", name)
	names := p.names.visible()
	slices.Sort(names)
	if n := dialect.Nearest(name, names); n != "" {
		v := p.names.lookup(n)
		d = d.WithRelated(p.span(int(v.Pos), int(v.Pos)+len(n)+1), "'%%%s' is defined here", n).
			WithHelp("did you mean '%%%s'?", n)
		return d
	}
	return d.WithHelp("define it above this statement, or check the spelling")
}

// valueName consumes a %name token and returns the name.
func (p *body) valueName() string {
	if p.kind != tValue {
		p.expected("a %value")
	}
	if p.end-p.start == 1 {
		p.fail(diag.Errorf(p.here(), "PARSE/024", "'%%' without a name"))
	}
	n := p.src[p.start+1 : p.end]
	return n
}

// use consumes a %name and returns its value, which must be defined.
func (p *body) use() *loom.Value {
	n := p.valueName()
	v := p.names.lookup(n)
	if v == nil {
		p.report(p.undefined(n, p.here()))
		v = p.newValue(n, p.start) // stands in so that the rest of the statement is still read
	}
	p.next()
	return v
}

// Regions and blocks.

// region parses "{ … }" into a region. args become the arguments of the entry
// block.
func (p *body) region(args []*loom.Value) *loom.Region {
	start := p.start
	if !p.punct('{') {
		p.expected("'{'")
	}
	if p.names.depth > maxNesting {
		p.fail(diag.Errorf(p.here(), "PARSE/021", "regions are nested deeper than %d", maxNesting))
	}
	both := &struct { // nearly every region has one block
		region loom.Region
		block  loom.Block
		blocks [1]*loom.Block
	}{}
	r, b := &both.region, &both.block
	scope := p.names.open()
	defer p.names.close(scope)
	for _, a := range args {
		p.define(a)
	}
	p.next()
	b.Region, b.Args = r, args
	for i, a := range args {
		a.Block, a.Index = b, int32(i)
	}
	both.blocks[0] = b
	r.Blocks = both.blocks[:]
	labels := map[string]*loom.Block(nil)
	firstFix := len(p.fixups)
	firstOp := len(p.opStack)
	var refs []labelRef
	outer := p.labels
	p.labels = &refs
	for {
		if p.kind == tLabel {
			b = p.blockHeader(r, b, firstOp, &labels)
			continue
		}
		if p.punct('}') {
			if p.comment {
				t := p.gap(firstOp)
				r.Inner = trimBlank(t.Above)
				if t.Blank && len(r.Inner) > 0 && len(p.opStack) > firstOp {
					r.Inner = slices.Insert(r.Inner, 0, "")
				}
			}
			break
		}
		if p.kind == tEOF {
			break // an unclosed brace: the split has reported it
		}
		if p.stop {
			p.skipToClose()
			break
		}
		p.statement(b, firstOp)
	}
	p.endBlock(b, firstOp)
	p.labels = outer
	r.Span = p.span(start, p.end)
	for _, ref := range refs {
		dest := labels[ref.name]
		if dest == nil {
			p.report(diag.Errorf(ref.place, "PARSE/032", "block label '^%s' is not defined in this region", ref.name))
			dest = r.Blocks[0]
		}
		ref.op.Succs[ref.succ].Dest = dest
	}
	p.resolveFixups(firstFix, len(r.Blocks) > 1)
	if p.punct('}') {
		p.next()
	}
	return r
}

// endBlock gives b the ops that were read since firstOp.
func (p *body) endBlock(b *loom.Block, firstOp int) {
	b.Ops = p.opLists.list(p.opStack[firstOp:])
	p.opStack = p.opStack[:firstOp]
}

type labelRef struct {
	op    *loom.Op
	succ  int
	name  string
	place diag.Span
}

func (p *body) resolveFixups(from int, multiBlock bool) {
	kept := p.fixups[:from]
	for _, f := range p.fixups[from:] {
		v := p.names.lookup(f.name)
		if v == nil || !multiBlock {
			if p.names.depth > 2 { // an outer region with labels may still define it
				kept = append(kept, f)
				continue
			}
			p.report(p.undefined(f.name, f.place))
			continue
		}
		if f.slot >= 0 {
			f.op.Operands[f.slot] = v
		} else {
			f.op.Succs[f.succ].Args[-1-f.slot] = v
		}
	}
	p.fixups = kept
}

func (p *body) blockHeader(r *loom.Region, cur *loom.Block, firstOp int, labels *map[string]*loom.Block) *loom.Block {
	name := p.src[p.start+1 : p.end]
	place := p.here()
	b := cur
	if len(r.Blocks) > 1 || len(p.opStack) > firstOp || cur.Label != "" {
		b = &loom.Block{Region: r}
		r.Blocks = append(r.Blocks, b)
	}
	b.Label = name
	if p.comment || p.newlines > 1 {
		t := p.gap(firstOp)
		b.Above = t.Above
		if t.Blank && len(r.Blocks) > 1 {
			b.Above = slices.Insert(b.Above, 0, "")
		}
	}
	start := p.start
	if b != cur {
		p.endBlock(cur, firstOp)
	}
	if *labels == nil {
		*labels = map[string]*loom.Block{}
	}
	if (*labels)[name] != nil {
		p.report(diag.Errorf(place, "PARSE/033", "block label '^%s' is defined twice in this region", name))
	}
	(*labels)[name] = b
	func() {
		defer p.recover(p.mark())
		p.next()
		if p.accept('(') {
			for !p.punct(')') {
				n := p.valueName()
				v := p.newValue(n, p.start)
				p.next()
				p.expectPunct(':')
				v.Type = p.typ()
				v.Block, v.Index = b, int32(len(b.Args))
				b.Args = append(b.Args, v)
				p.define(v)
				if !p.accept(',') {
					break
				}
			}
			p.expectPunct(')')
		}
		p.expectPunct(':')
	}()
	b.Above = append(b.Above, commentsIn(p.src, start, max(start, p.prevEnd))...)
	return b
}

// gap returns the comments and blank line before the current token. A comment
// behind the last op of the block being read goes there.
func (p *body) gap(firstOp int) (t loom.Trivia) {
	behind := splitTrivia(p.src[p.prevEnd:p.start], false, &t)
	switch n := len(p.opStack); {
	case behind == "":
	case n > firstOp:
		p.trivia(p.opStack[n-1]).Behind = behind
	default: // behind the brace or the label
		t.Above = slices.Insert(t.Above, 0, behind)
	}
	return t
}

// recover ends a statement that failed: it swallows errSyntax and moves to the
// next place a statement can start.
func (p *body) recover(m mark) {
	r := recover()
	if r == nil {
		return
	}
	if _, ok := r.(errSyntax); !ok {
		panic(r)
	}
	p.unwind(m)
	p.siblings = nil
	p.sync()
}

// sync skips to the start of the next statement: a result list or dotted word
// that begins a line, a label, or the brace that closes the region.
func (p *body) sync() {
	depth := 0
	for {
		switch {
		case p.kind == tEOF:
			return
		case p.punct('{'):
			depth++
		case p.punct('}'):
			if depth == 0 {
				return
			}
			depth--
		case depth == 0 && p.newlines > 0 && (p.kind == tValue || p.kind == tOpName || p.kind == tLabel):
			return
		}
		p.next()
	}
}

func (p *body) skipToClose() {
	depth := 0
	for p.kind != tEOF {
		if p.punct('{') {
			depth++
		} else if p.punct('}') {
			if depth == 0 {
				return
			}
			depth--
		}
		p.next()
	}
}

// statement parses one op of the block b, whose ops start at firstOp.
func (p *body) statement(b *loom.Block, firstOp int) {
	defer p.recover(p.mark())
	op := p.opSlab.one()
	start := p.start
	if p.comment || p.newlines > 1 {
		p.above(op, firstOp)
	}
	st := p.newStatement()
	if p.kind == tValue {
		for {
			n := p.valueName()
			st.results = append(st.results, p.newValue(n, p.start))
			p.next()
			if !p.accept(',') {
				break
			}
		}
		p.expectPunct('=')
	}
	if p.kind != tOpName {
		if p.kind == tIdent && p.end < len(p.src) {
			p.fail(diag.Errorf(p.here(), "PARSE/006", "unknown op '%s'", p.text()).WithHelp("op names have a dialect prefix, such as 'index.add'"))
		}
		p.expected("an op name")
	}
	name := p.text()
	def := p.ops.Lookup(name)
	op.NamePos = uint32(p.start)
	op.Block = b
	op.Span = p.span(start, p.end)
	if def == nil || def.Traits&loom.ModuleLevel != 0 {
		p.unknownOp(op, st.results, def, name)
	} else {
		op.Def = def.Compile()
		p.next()
		st.op, op.Attrs = op, st.attrs
		p.elems(st, def.Elems)
		p.finish(st)
	}
	p.free = append(p.free, st)
}

// above attaches the comments and the blank line before the current statement.
func (p *body) above(op *loom.Op, firstOp int) {
	first := len(p.opStack) == firstOp
	if !p.comment {
		if !first {
			op.Trivia = p.triviaSlab.one()
			op.Trivia.Blank = true
		}
		return
	}
	t := p.gap(firstOp)
	if first {
		t.Blank = false
	}
	if t.Blank || len(t.Above) > 0 {
		*p.trivia(op) = t
	}
}

// statement is the state of the op being read. Its lists are reused.
type statement struct {
	op      *loom.Op
	attrs   []loom.NamedAttr // where op.Attrs starts out
	opnds   []*loom.Value
	segs    [12]uint16
	results []*loom.Value
	types   []*loom.Type // result types, in order
	regions []*loom.Region
	tied    []int64
	outArgs []*loom.Value // block arguments declared by the op head
	fixes   []fixup
}

// newStatement returns a cleared statement. One that a syntax error abandons is
// left to the garbage collector.
func (p *body) newStatement() *statement {
	p.operands, p.results = valueIndex{}, valueIndex{}
	n := len(p.free)
	if n == 0 {
		return &statement{}
	}
	st := p.free[n-1]
	p.free = p.free[:n-1]
	st.op, st.tied, st.segs = nil, nil, [12]uint16{}
	st.attrs, st.opnds, st.results, st.types = st.attrs[:0], st.opnds[:0], st.results[:0], st.types[:0]
	st.regions, st.outArgs, st.fixes = st.regions[:0], st.outArgs[:0], st.fixes[:0]
	return st
}

func (p *body) addOperand(st *statement, field int, v *loom.Value) {
	if st.segs[field] == math.MaxUint16 {
		p.fail(diag.Errorf(p.here(), "PARSE/010", "op '%s' has more than %d operands in one list", st.op.Def.Name, math.MaxUint16))
	}
	st.opnds = append(st.opnds, v)
	st.segs[field]++
}

func (p *body) finish(st *statement) {
	op := st.op
	if p.is("loc") {
		s := p.start
		p.next()
		if !p.punct('(') {
			p.fail(diag.Errorf(p.here(), "PARSE/011", "loc needs a parenthesised location"))
		}
		p.skipGroup()
		p.trivia(op).Loc = plain(p.src[s:p.prevEnd])
	}
	op.Operands = p.valLists.list(st.opnds)
	for i := range op.Def.Operands {
		if st.segs[i] != 1 || op.Def.Operands[i].Variadic {
			op.Segs = p.segSlab.list(st.segs[:len(op.Def.Operands)])
			break
		}
	}
	for i := range st.fixes {
		st.fixes[i].op = op
		p.fixups = append(p.fixups, st.fixes[i])
	}
	if len(st.regions) > 0 {
		op.Regions = slices.Clone(st.regions)
		for _, r := range st.regions {
			r.Op = op
		}
	}
	if st.tied != nil {
		op.Attrs = append(op.Attrs, loom.NamedAttr{Name: "tied", Value: loom.Attr{Kind: loom.AttrInts, Aux: st.tied}})
	}
	st.attrs = op.Attrs // grown, perhaps
	op.Attrs = p.attrSlab.list(op.Attrs)
	op.Span.End = uint32(p.prevEnd)
	p.resultTypes(st)
	p.opStack = append(p.opStack, op)
	p.strayComments(op)
}

func (p *body) trivia(op *loom.Op) *loom.Trivia {
	if op.Trivia == nil {
		op.Trivia = p.triviaSlab.one()
	}
	return op.Trivia
}

// strayComments keeps comments written inside a statement but outside its
// regions.
func (p *body) strayComments(op *loom.Op) {
	at := int(op.Span.Start)
	for _, r := range op.Regions {
		p.keepComments(op, at, int(r.Span.Start))
		at = int(r.Span.End)
	}
	p.keepComments(op, at, int(op.Span.End))
}

// keepComments moves the comments between tokens of the range above op.
func (p *body) keepComments(op *loom.Op, start, end int) {
	if lines := commentsIn(p.src, start, end); len(lines) > 0 {
		t := p.trivia(op)
		t.Above = append(t.Above, lines...)
	}
}

func (p *body) resultTypes(st *statement) {
	op := st.op
	def := op.Def
	want := 0
	next := 0
	var types [16]*loom.Type
	ts := types[:0]
	for _, f := range def.Results {
		switch {
		case f.Variadic:
			ts = append(ts, st.types[next:]...)
			for def.OneType && len(st.types) == next+1 && len(ts) < len(st.results) {
				ts = append(ts, st.types[next])
			}
			next = len(st.types)
		case f.Infer == "":
			if next < len(st.types) {
				ts = append(ts, st.types[next])
				next++
			} else {
				ts = append(ts, nil)
			}
		case f.Infer[0] == '%':
			if v := st.field(f.Infer[1:]); v != nil {
				ts = append(ts, v.Type)
			} else {
				ts = append(ts, nil)
			}
		default:
			ts = append(ts, loom.Scalar(loom.ScalarKind(f.Infer)))
		}
	}
	want = len(ts)
	if def.Name == "global.load" && len(st.results) > 1 {
		for _, r := range st.results[1:] { // the dimensions and layout of the type
			if ts[0] != nil && ts[0].EncVal == r {
				ts = append(ts, encodingType)
			} else {
				ts = append(ts, loom.Scalar(loom.Index))
			}
		}
		want = len(ts)
	}
	if len(st.results) != want {
		p.report(diag.Errorf(op.NameSpan(), "PARSE/009", "op '%s' has %d %s, %d %s given", def.Name, want, plural(want, "result"), len(st.results), plural(len(st.results), "name")).
			WithHelp("write one name per result before '='"))
	}
	for i, v := range st.results {
		if i < len(ts) {
			v.Type = ts[i]
		}
		v.Def, v.Index = op, int32(i)
		if def.Name != "global.load" {
			p.define(v)
		}
	}
	op.Results = p.valLists.list(st.results)
}

func plural(n int, w string) string {
	if n == 1 {
		return w
	}
	return w + "s"
}

func (st *statement) field(name string) *loom.Value {
	at := 0
	for i, f := range st.op.Def.Operands {
		n := int(st.segs[i])
		if f.Name == name {
			if n > 0 {
				return st.opnds[at]
			}
			return nil
		}
		at += n
	}
	return nil
}

func (st *statement) fieldAll(idx int) []*loom.Value {
	at := 0
	for i := 0; i < idx; i++ {
		at += int(st.segs[i])
	}
	return st.opnds[at : at+int(st.segs[idx])]
}

// unknownOp handles an op the table does not have: opaque dialects are kept
// verbatim, others are reported.
func (p *body) unknownOp(op *loom.Op, res []*loom.Value, def *loom.OpDef, name string) {
	if def != nil {
		p.fail(diag.Errorf(p.here(), "STRUCTURE/011", "'%s' defines a module symbol and is not allowed in a body", name).
			WithHelp("a closing '}' may be missing above"))
	}
	if !dialect.OpaqueDialect(prefix(name)) {
		d := diag.Errorf(p.here(), "PARSE/006", "unknown op '%s'", name)
		if n := p.ops.Nearest(name); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		}
		p.report(d)
		for _, v := range res { // later uses need no second error
			p.define(v)
		}
		p.next() // recovery looks for the next statement, which this token would be
		panic(errSyntax{})
	}
	textStart := p.end
	typesAt := 0
	var b brackets
	for p.next(); p.kind != tEOF; p.next() {
		if len(b.open) == 0 && (p.punct(':') || p.kind == tArrow) {
			typesAt = p.end
		}
		if b.firm == 0 && p.newlines > 0 && p.startsStatement() || b.braces == 0 && p.punct('}') {
			break
		}
		if p.kind == tPunct && !b.take(p.src[p.start]) {
			p.fail(diag.Errorf(p.here(), "PARSE/034", "'%s' closes no bracket of op '%s'", p.text(), name))
		}
	}
	if b.firm > 0 {
		p.fail(diag.Errorf(p.span(textStart-len(name), textStart), "PARSE/034", "a bracket of op '%s' is not closed", name))
	}
	op.Def = p.opaqueDef(name)
	op.Span.End = uint32(p.prevEnd)
	if text := strings.TrimSpace(p.src[textStart:p.prevEnd]); text != "" {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		op.Attrs = p.attrSlab.list([]loom.NamedAttr{{Name: "text", Value: loom.Attr{Kind: loom.AttrString, Str: text}}})
	}
	types := p.opaqueTypes(typesAt, p.prevEnd, len(res))
	for i, v := range res {
		v.Def, v.Index, v.Type = op, int32(i), types[i]
		p.define(v)
	}
	op.Results = p.valLists.list(res)
	p.opStack = append(p.opStack, op)
	p.keepComments(op, int(op.Span.Start), textStart)
}

// startsStatement reports whether the current token, the first on its line, begins
// a statement: an op name, a label, or names up to '='.
func (p *body) startsStatement() bool {
	sc := p.scanner
	for range maxResultNames {
		if sc.kind != tValue {
			break
		}
		if sc.next(); sc.punct('=') {
			return true
		}
		if !sc.punct(',') {
			return false
		}
		sc.next()
	}
	return p.kind == tOpName || p.kind == tLabel
}

// maxResultNames bounds how far startsStatement looks.
const maxResultNames = 64

// brackets holds what is open in text carried verbatim. There, '<' and '>' may be
// operators: only where they pair up are they brackets.
type brackets struct {
	open   []byte
	firm   int // of them not '<'
	braces int // of them '{'
}

// take notes the punctuation c. It is false for a bracket that closes nothing.
func (b *brackets) take(c byte) bool {
	n := len(b.open)
	switch c {
	case '(', '[', '{', '<':
		b.open = append(b.open, c)
		b.count(c, 1)
	case '>':
		if n > 0 && b.open[n-1] == '<' {
			b.open = b.open[:n-1]
		}
	case ')', ']', '}':
		for n > 0 && b.open[n-1] == '<' {
			n--
		}
		b.open = b.open[:n]
		if n == 0 || b.open[n-1] != opening(c) {
			return false
		}
		b.open = b.open[:n-1]
		b.count(opening(c), -1)
	}
	return true
}

func (b *brackets) count(c byte, by int) {
	if c != '<' {
		b.firm += by
	}
	if c == '{' {
		b.braces += by
	}
}

// opening returns the bracket that c closes.
func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}

// opaqueDef returns the op table entry of an op carried verbatim.
func (p *body) opaqueDef(name string) *loom.OpDef {
	d := p.opaque[name]
	if d == nil {
		d = &loom.OpDef{Name: name, Traits: loom.Opaque | loom.Reads | loom.Writes, Result: "results..."}
		d.Compile()
		if p.opaque == nil {
			p.opaque = map[string]*loom.OpDef{}
		}
		p.opaque[name] = d
	}
	return d
}

// opaqueTypes reads the result types at the end of an op carried verbatim. What
// cannot be read becomes an opaque dotted type.
func (p *body) opaqueTypes(start, end, n int) []*loom.Type {
	types := make([]*loom.Type, n)
	if n > 0 && start > 0 {
		found, stop := p.diags, p.stop
		p.enter(start, end)
		p.guard(func() {
			paren := p.accept('(')
			for i := range types {
				types[i] = p.typ()
				if !p.accept(',') {
					break
				}
			}
			if paren {
				p.expectPunct(')')
			}
		})
		p.leave()
		p.diags, p.stop = found, stop
	}
	for i, t := range types {
		if t == nil {
			types[i] = &loom.Type{Kind: loom.Dotted, Name: "opaque"}
		}
	}
	return types
}

// skipGroup skips a bracketed group that starts at the current token.
func (p *body) skipGroup() {
	depth := 0
	for p.kind != tEOF {
		switch {
		case p.punct('('), p.punct('['), p.punct('<'), p.punct('{'):
			depth++
		case p.punct(')'), p.punct(']'), p.punct('>'), p.punct('}'):
			depth--
			if depth == 0 {
				p.next()
				return
			}
		}
		p.next()
	}
}

// parseInt reads an integer token's text.
func (p *body) parseInt(text string) int64 {
	v, err := parseIntText(text)
	if err != nil {
		p.fail(diag.Errorf(p.here(), "PARSE/015", "integer '%s' does not fit into 64 bits", text))
	}
	return v
}

func parseIntText(text string) (int64, error) {
	neg := strings.HasPrefix(text, "-")
	digits := strings.TrimPrefix(text, "-")
	if strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X") {
		u, err := strconv.ParseUint(digits[2:], 16, 64)
		if err != nil {
			return 0, fmt.Errorf("parse hexadecimal integer: %w", err)
		}
		if neg {
			return -int64(u), nil
		}
		return int64(u), nil
	}
	if !neg {
		// Unsigned 64-bit literals are written for i64 masks; they wrap.
		if u, err := strconv.ParseUint(digits, 10, 64); err == nil {
			return int64(u), nil
		}
	}
	return strconv.ParseInt(text, 10, 64)
}

func (p *body) parseFloat(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && math.IsInf(v, 0) {
		p.report(diag.Errorf(p.here(), "PARSE/016", "float '%s' is out of range", text))
	}
	return v
}
