package parser

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// shared is what the definitions of one file need of each other when they are
// loaded, in any order and from any goroutine.
type shared struct {
	id      *byte // names the file without keeping it alive
	braces  braceTable
	aliases []*loom.Def
	byName  map[string]int // first alias of a name, as index of aliases
	ready   atomic.Int32   // aliases before this one are loaded
}

// addAlias notes the alias d and returns the first one of its name.
func (s *shared) addAlias(d *loom.Def) (first *loom.Def) {
	if s.byName == nil {
		s.byName = map[string]int{}
	}
	n, ok := s.byName[d.Name]
	if !ok {
		n = len(s.aliases)
		s.byName[d.Name] = n
	}
	s.aliases = append(s.aliases, d)
	return s.aliases[n]
}

// alias returns the alias that #name stands for in d, or nil. Aliases are loaded
// in order, so that a long chain of them does not nest.
func (s *shared) alias(name string, d *loom.Def) *loom.Encoding {
	n, ok := s.byName[name]
	if !ok || s.aliases[n].Ordinal >= d.Ordinal {
		return nil
	}
	for i := int(s.ready.Load()); i <= n; i++ {
		s.aliases[i].Load()
	}
	if int(s.ready.Load()) <= n {
		s.ready.Store(int32(n) + 1)
	}
	return s.aliases[n].Enc
}

// load parses one definition: its head through the grammar, its regions through
// the op table.
func (s *shared) load(d *loom.Def) diag.List {
	if d.Kind == loom.DefOpaque {
		return nil
	}
	p := newBody(d, s)
	if d.Kind == loom.DefAlias {
		p.loadAlias()
	} else {
		p.guard(p.load)
	}
	return p.release()
}

// bodies keeps parsers for the next definition, for what they have grown: lists
// whose content does not matter, the rest of slabs, and heads by shape.
var bodies = sync.Pool{New: func() any {
	return &body{ops: dialect.Ops(), customs: customs(), names: newNames(), shapes: map[string]any{}, lists: map[listKey]any{}}
}}

func newBody(d *loom.Def, s *shared) *body {
	p, _ := bodies.Get().(*body)
	if p.owner != s.id { // another file: nothing of the last one may stay alive
		*p = body{ops: p.ops, customs: p.customs, names: newNames(), shapes: p.shapes, lists: p.lists, owner: s.id, types: map[string]*loom.Type{}}
	}
	src := d.Mod.Source
	p.scanner = scanner{src: src.Text[:d.Span.End]}
	p.def, p.file, p.shared = d, src, s
	return p
}

// release returns what p found and makes p available for another definition.
func (p *body) release() diag.List {
	found := p.diags
	p.def, p.shared, p.diags = nil, nil, nil
	p.names.reset()
	p.opStack, p.outer, p.fixups = p.opStack[:0], p.outer[:0], p.fixups[:0]
	p.labels, p.siblings, p.inHead, p.stop = nil, nil, false, false
	bodies.Put(p)
	return found
}

// mark is a point to return to when a syntax error unwinds.
type mark struct{ outer, ops int }

func (p *body) mark() mark { return mark{len(p.outer), len(p.opStack)} }

// unwind goes back to the range and the block that were read at m. Scopes are
// left by those who entered them.
func (p *body) unwind(m mark) {
	if len(p.outer) > m.outer {
		p.scanner = p.outer[m.outer]
		p.outer = p.outer[:m.outer]
	}
	p.opStack = p.opStack[:m.ops]
}

// guard runs f and ends it quietly when a syntax error unwinds.
func (p *body) guard(f func()) {
	m := p.mark()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(errSyntax); !ok {
				panic(r)
			}
			p.unwind(m)
		}
	}()
	f()
}

// enter restricts the scanner to the byte range [start, end) until leave.
func (p *body) enter(start, end int) {
	p.outer = append(p.outer, p.scanner)
	p.scanner = scanner{src: p.src[:end], pos: start, end: start}
	p.next()
}

func (p *body) leave() {
	n := len(p.outer) - 1
	p.scanner = p.outer[n]
	p.outer = p.outer[:n]
}

func (p *body) load() {
	g := grammar()
	switch p.def.Kind {
	case loom.DefConfigDecl:
		if a := parseHead(p, g.configDecl); a != nil {
			p.loadConfigDecl(a)
		}
	case loom.DefConfigDef:
		if a := parseHead(p, g.configDef); a != nil {
			p.def.Init = p.attrAt(a.Value)
			p.def.ConfigType = p.typeAt(a.Type)
		}
	case loom.DefTarget, loom.DefTargetDecl:
		if a := parseHead(p, g.target); a != nil {
			p.def.Attrs = p.dictAt(a.Attrs)
		}
	case loom.DefKernel, loom.DefKernelDecl:
		if a := parseHead(p, g.kernel); a != nil {
			p.loadKernel(a)
		}
	case loom.DefGlobal:
		if a := parseHead(p, g.global); a != nil {
			p.loadGlobal(a)
		}
	case loom.DefCheckCase:
		if a := parseHead(p, g.checkCase); a != nil {
			p.def.Mods.Public = a.Public
			scope := p.names.open()
			p.def.Body = p.regionAt(a.Body, nil)
			p.names.close(scope)
		}
	case loom.DefBenchmark:
		if a := parseHead(p, g.benchmark); a != nil {
			p.def.Attrs = p.dictAt(a.Attrs)
		}
	case loom.DefImport:
		if a := parseHead(p, g.moduleImport); a != nil {
			p.unquoted(a.Name)
			for _, s := range a.Symbols {
				n := p.nameOf(s.Name)
				p.def.Attrs = append(p.def.Attrs, loom.NamedAttr{Name: n, Value: loom.Attr{Kind: loom.AttrSymbol, Str: n}})
			}
		}
	case loom.DefMetadata:
		if a := parseHead(p, g.metadata); a != nil {
			p.unquoted(a.Name)
			p.def.Init = p.attrAt(a.Value)
		}
	default:
		if a := parseHead(p, g.callable); a != nil {
			p.loadCallable(a)
		}
	}
}

// headMessage turns participle's wording into ours: token type names become
// what people write.
func headMessage(msg string, sc *scanner) string {
	_, want, ok := strings.Cut(msg, "(expected ")
	if !ok {
		if strings.HasPrefix(msg, "unexpected token") {
			return "unexpected " + describe(sc)
		}
		return msg
	}
	want = strings.TrimSuffix(want, ")")
	r := strings.NewReplacer("<symbol>", "a @symbol", "<value>", "a %value", "<ident>", "a word", "<int>", "an integer",
		"<string>", "a string", "<opname>", "an op name", "<arrow>", "'->'", "<braces>", "'{'", "typeText", "a type", "TypeText", "a type",
		"braceText", "'{ … }'", "BraceText", "'{ … }'", "attrText", "a value", "AttrText", "a value", "encText", "an #encoding", "EncText", "an #encoding", "groupText", "'( … )'", "GroupText", "'( … )'", "<group>", "'( … )'", "<payload>", "'< … >'", "<list>", "'[ … ]'", "\"", "'")
	return "expected " + r.Replace(want) + ", found " + describe(sc)
}

// The grammar captured ranges of tokens; these read them.

// within runs f over captured tokens, which f has to consume.
func (p *body) within(r tokenRange, f func()) {
	p.enter(p.bytesOf(r))
	p.guard(func() {
		f()
		if p.kind != tEOF {
			p.expected("nothing more")
		}
	})
	p.leave()
}

func (p *body) typeAt(t typeText) (out *loom.Type) {
	p.within(t.tokenRange, func() { out = p.typ() })
	return out
}

func (p *body) attrAt(t attrText) (out loom.Attr) {
	p.keepBraces(t.tokenRange)
	p.within(t.tokenRange, func() { out = p.attr(0) })
	return out
}

func (p *body) dictAt(t *braceText) (out []loom.NamedAttr) {
	if t == nil {
		return nil
	}
	p.keepBraces(t.tokenRange)
	p.within(t.tokenRange, func() { out = p.dict(0, nil) })
	return out
}

// keepBraces moves the comments of an attribute dictionary above the definition.
func (p *body) keepBraces(r tokenRange) {
	if start, end := p.bytesOf(r); p.src[start] == '{' {
		p.aboveHead(commentsIn(p.src, start, end))
	}
}

func (p *body) regionAt(t *braceText, args []*loom.Value) (out *loom.Region) {
	p.within(t.tokenRange, func() { out = p.region(args) })
	if out != nil {
		out.Owner = p.def
	}
	return out
}

func (p *body) loadConfigDecl(a *configDecl) {
	scope := p.names.open()
	defer p.names.close(scope)
	p.def.ConfigType = p.typeAt(a.Type)
	if a.Value != nil {
		v := p.newValue(p.nameOf(a.Value.Name), p.head.start(a.Value.Pos.Offset))
		v.Type = p.def.ConfigType
		p.def.ConfigVal = v
		p.define(v)
	}
	p.def.Where = p.constraints(a.Where)
}

func (p *body) loadGlobal(a *globalDef) {
	scope := p.names.open()
	defer p.names.close(scope)
	// Dimensions and layouts of a global's type name themselves.
	start, end := p.bytesOf(a.Type.tokenRange)
	sc := scanner{src: p.src[:end], pos: start}
	for sc.next(); sc.kind != tEOF; sc.next() {
		if sc.kind == tValue && sc.end-sc.start > 1 {
			if n := sc.text()[1:]; p.names.lookup(n) == nil {
				v := p.newValue(n, sc.start)
				v.Type = loom.Scalar(loom.Index)
				if sc.prevEnd > 0 && strings.HasSuffix(strings.TrimSpace(p.src[:sc.start]), ",") {
					v.Type = encodingType
				}
				p.def.Params = append(p.def.Params, v)
				p.define(v)
			}
		}
	}
	p.def.ConfigType = p.typeAt(a.Type)
	p.def.Where = p.constraints(a.Where)
	if a.Init != nil {
		p.def.Init = p.attrAt(*a.Init)
	}
}

func (p *body) loadCallable(a *callable) {
	d := p.def
	p.mods(a.Mods)
	scope := p.names.open()
	defer p.names.close(scope)
	d.Params = p.signature(a.Params)
	d.Results = p.resultList(a.Results)
	d.Where = p.constraints(a.Where)
	wantBody := d.Kind == loom.DefFunc || d.Kind == loom.DefTemplate
	switch {
	case a.Body != nil && !wantBody:
		p.report(diag.Errorf(p.headSpan(a.Body), "PARSE/003", "%s '@%s' is a declaration and takes no body", d.Op.Name, d.Name).
			WithHelp("remove the body, or write %s", map[bool]string{true: "template.def", false: "func.def"}[strings.HasPrefix(d.Op.Name, "template")]))
	case a.Body == nil && wantBody:
		p.report(diag.Errorf(d.NameSpan, "PARSE/003", "%s '@%s' has no body", d.Op.Name, d.Name).WithHelp("add '{ … }', or write a declaration"))
	case a.Body != nil:
		d.Body = p.regionAt(a.Body, nil)
	}
}

func (p *body) headSpan(b *braceText) diag.Span {
	start, _ := p.bytesOf(b.tokenRange)
	return p.span(start, start+1)
}

func (p *body) loadKernel(a *kernelDef) {
	d := p.def
	p.mods(a.Mods)
	scope := p.names.open()
	d.Workload = p.signature(a.Workload)
	isDef := d.Kind == loom.DefKernel
	switch {
	case a.Config != nil && isDef:
		d.Config = p.regionAt(a.Config, nil)
	case isDef:
		p.report(diag.Errorf(d.NameSpan, "PARSE/003", "kernel.def '@%s' has no launch-config block", d.Name).
			WithHelp("add '{ … kernel.launch.config … }' before 'launch'"))
	}
	p.names.close(scope)
	scope = p.names.open()
	defer p.names.close(scope)
	d.Params = p.signature(a.Params)
	d.Where = p.constraints(a.Where)
	switch {
	case a.Body != nil && isDef:
		d.Body = p.regionAt(a.Body, nil)
	case isDef:
		p.report(diag.Errorf(d.NameSpan, "PARSE/003", "kernel.def '@%s' has no body", d.Name).WithHelp("add '{ … kernel.return }' after the launch parameters"))
	case a.Body != nil || a.Config != nil:
		p.report(diag.Errorf(d.NameSpan, "PARSE/003", "kernel.decl '@%s' is a declaration and takes no body", d.Name))
	}
}

// signature reads (%name: T, …).
func (p *body) signature(g groupText) (out []*loom.Value) {
	p.inHead = true
	p.within(g.tokenRange, func() { out = p.parameters() })
	p.inHead = false
	return out
}

// parameters reads a parameter list. A type may name any parameter of the list,
// so types that might are read when all names are known.
func (p *body) parameters() []*loom.Value {
	var out []*loom.Value
	var late []lateType
	p.expectPunct('(')
	for !p.punct(')') {
		v := p.newValue(p.valueName(), p.start)
		v.Index = int32(len(out))
		out = append(out, v)
		p.define(v)
		p.next()
		if !p.punct(':') {
			p.expected("':' and a type")
		}
		at := p.scanner
		p.next()
		if p.namesNoValue() {
			p.typeOrSkip(v)
		} else {
			late = append(late, lateType{at, v})
			p.scanner = at
			p.skipTo()
		}
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
	end := p.scanner
	for _, l := range late {
		p.scanner = l.at
		p.next()
		p.typeOrSkip(l.val)
	}
	p.scanner = end
	return out
}

// lateType is a type to be read when the list it stands in has been.
type lateType struct {
	at  scanner // on the ':' before it
	val *loom.Value
}

// namesNoValue reports whether the type at the current token certainly refers to
// no SSA value.
func (p *body) namesNoValue() bool {
	if p.kind != tIdent {
		return false
	}
	if p.pos >= len(p.src) || p.src[p.pos] != '<' {
		return !p.peekAngle()
	}
	end := matchAngle(p.src, p.pos)
	return end > 0 && strings.IndexByte(p.src[p.pos:end], '%') < 0
}

// typeOrSkip reads v's type; a fault in it is reported and skipped so that the
// other parameters are read too.
func (p *body) typeOrSkip(v *loom.Value) {
	at := p.scanner
	ok := false
	p.guard(func() {
		v.Type = p.typ()
		ok = p.punct(',') || p.punct(')')
		if !ok {
			p.expected("',' or ')'")
		}
	})
	if !ok {
		p.scanner = at
		p.skipTo()
	}
}

// skipTo moves to the ',' or ')' that ends the current list entry.
func (p *body) skipTo() {
	depth := 0
	for p.kind != tEOF {
		switch {
		case depth == 0 && (p.punct(',') || p.punct(')')):
			return
		case p.punct('('), p.punct('<'), p.punct('['):
			depth++
		case p.punct(')'), p.punct('>'), p.punct(']'):
			depth--
		}
		p.next()
	}
}

// resultList reads (T, %operand as T, %name: T).
func (p *body) resultList(g *groupText) (out []loom.Result) {
	if g == nil {
		return nil
	}
	p.inHead = true
	p.within(g.tokenRange, func() {
		p.expectPunct('(')
		for !p.punct(')') {
			r := loom.Result{}
			if p.kind == tValue {
				n, at := p.valueName(), p.here()
				start := p.start
				p.next()
				if p.acceptWord("as") {
					if r.Tied = p.names.lookup(n); r.Tied == nil {
						p.report(diag.Errorf(at, "DOMINANCE/005", "tied result names '%%%s', which is not a parameter", n))
					}
				} else {
					p.expectPunct(':')
					r.Val = p.newValue(n, start)
					r.Name, r.Val.Index = n, int32(len(out))
					p.define(r.Val)
				}
			}
			r.Type = p.typ()
			if r.Val != nil {
				r.Val.Type = r.Type
			}
			out = append(out, r)
			if !p.accept(',') {
				break
			}
		}
		p.expectPunct(')')
	})
	p.inHead = false
	return out
}

// constraints binds a parsed constraint list to values.
func (p *body) constraints(l *predList) []loom.Predicate {
	if l == nil {
		return nil
	}
	var out []loom.Predicate
	for _, q := range l.Preds {
		args := p.argBuf[:0]
		for _, a := range q.Args {
			if arg, ok := p.constraintArg(a); ok {
				args = append(args, arg)
			}
		}
		p.argBuf = args[:0]
		if len(args) != len(q.Args) {
			continue
		}
		if pr, ok := p.predicate(p.textOf(q.Name), p.spanOf(q.Name), p.predArgs.list(args)); ok {
			pr.Span = p.span(p.head.start(q.Pos.Offset), p.head.toks[q.EndPos.Offset-1].end)
			out = append(out, pr)
		}
	}
	return out
}

func (p *body) constraintArg(a *predArg) (loom.PredArg, bool) {
	switch {
	case given(a.Value):
		n := p.nameOf(a.Value)
		v := p.names.lookup(n)
		if v == nil {
			p.report(p.undefined(n, p.spanOf(a.Value)))
			return loom.PredArg{}, false
		}
		return loom.PredArg{Val: v}, true
	case given(a.Int):
		n, err := parseIntText(p.textOf(a.Int))
		if err != nil {
			p.report(diag.Errorf(p.spanOf(a.Int), "PARSE/015", "integer '%s' does not fit into 64 bits", p.textOf(a.Int)))
			return loom.PredArg{}, false
		}
		return loom.PredArg{Int: n}, true
	}
	return loom.PredArg{Float: p.parseFloat(p.textOf(a.Float)), IsFloat: true}, true
}

// modRank is the order in which modifiers must be written.
var modRank = map[string]int{"public": 0, "retain": 1, "import": 2, "host": 3, "device": 3, "initializer": 3, "deinitializer": 3,
	"pure": 4, "hot": 5, "cold": 5, "inline": 6, "noinline": 6, "target": 7, "abi": 8, "requires": 8, "export": 9, "priority": 10, "linkage": 10}

func (p *body) mods(ms []*modifier) {
	m := &p.def.Mods
	last, lastWord := -1, ""
	for _, a := range ms {
		word := a.Word
		switch {
		case given(a.Target):
			word, m.Target = "target", p.nameOf(a.Target)
		case a.ABI != "":
			word, m.ABI, m.ABIAttrs = "abi", a.ABI, p.dictAt(a.ABIAttrs)
		case a.Export != nil:
			word, m.HasExport, m.Export, m.ExportAttrs = "export", true, p.unquoted(a.Export.Name), p.dictAt(a.Export.Attrs)
		case a.Import != nil:
			word, m.HasImport, m.ImportModule, m.ImportSymbol = "import", true, p.unquoted(a.Import.Module), p.unquoted(a.Import.Symbol)
		case given(a.Priority):
			word, m.HasPriority = "priority", true
			n, err := parseIntText(p.textOf(a.Priority))
			if err != nil {
				p.report(diag.Errorf(p.spanOf(a.Priority), "PARSE/015", "priority '%s' does not fit into 64 bits", p.textOf(a.Priority)))
			}
			m.Priority = n
		case a.Linkage != "":
			word, m.Linkage = "linkage", a.Linkage
		case a.Requires != nil:
			word = "requires"
			for _, e := range a.Requires {
				p.within(e.tokenRange, func() {
					m.Requires = append(m.Requires, loom.Attr{Kind: loom.AttrEnc, Aux: p.encoding()})
				})
			}
		case word == "":
			word = "requires"
		}
		switch word {
		case "public":
			m.Public = true
		case "retain":
			m.Retain = true
		case "pure":
			m.Pure = true
		case "host", "device", "initializer", "deinitializer":
			m.CC = word
		case "hot", "cold":
			m.Temperature = word
		case "inline", "noinline":
			m.Inline = word
		}
		if r := modRank[word]; r <= last {
			at := p.head.start(a.Pos.Offset)
			d := diag.Errorf(p.span(at, at+len(word)), "PARSE/003", "modifier '%s' may not follow '%s'", word, lastWord)
			p.report(d.WithHelp("the order is public, retain, import, host/device, pure, hot/cold, inline/noinline, target, abi or requires, export, priority or linkage"))
		} else {
			last, lastWord = r, word
		}
	}
}

// unquoted returns the value of a captured string, "" of one that is not there.
func (p *body) unquoted(tok lexer.Token) string {
	if !given(tok) {
		return ""
	}
	s := p.textOf(tok)
	if len(s) < 2 {
		return ""
	}
	v, bad := unescape(s[1 : len(s)-1])
	if bad >= 0 {
		p.report(diag.Errorf(p.def.NameSpan, "PARSE/023", "escape in %s is malformed", s))
	}
	return v
}

// loadAlias parses #alias = #family<…>.
func (p *body) loadAlias() {
	d := p.def
	p.aboveHead(commentsIn(p.src, int(d.Span.Start), int(d.Span.End)))
	p.guard(func() {
		p.pos = int(d.Span.Start)
		p.next()
		p.next()
		p.expectPunct('=')
		d.Enc = p.encoding()
		if p.kind != tEOF {
			p.expected("nothing more after the alias")
		}
	})
	if d.Enc == nil {
		d.Enc = &loom.Encoding{Family: fmt.Sprintf("invalid.%s", d.Name)}
	}
}
