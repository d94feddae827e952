package parser

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// loadDef parses one definition: its head through the grammar, its regions
// through the op table.
func loadDef(d *loom.Def) diag.List {
	if d.Kind == loom.DefOpaque {
		return nil
	}
	p := newBody(d)
	p.guard(func() { p.load() })
	p.release()
	return p.diags
}

// scratch is what one parse leaves for the next: maps and lists whose content
// does not matter, and types without SSA references, which any file may share.
type scratch struct {
	names map[string]binding
	log   []undo
	types map[string]*loom.Type
	free  []*statement
}

// maxSharedTypes bounds the type cache that parses hand on.
const maxSharedTypes = 4096

var scratches = sync.Pool{New: func() any {
	return &scratch{names: map[string]binding{}, types: map[string]*loom.Type{}}
}}

func newBody(d *loom.Def) *body {
	src := d.Mod.Source
	s, _ := scratches.Get().(*scratch)
	return &body{
		scanner: scanner{src: src.Text[:d.Span.End]},
		def:     d, file: src, ops: dialect.Ops(), customs: customs(),
		scratch: s, names: s.names, types: s.types, log: s.log[:0],
	}
}

func (p *body) release() {
	s := p.scratch
	clear(s.names)
	clear(p.log[:cap(p.log)])
	s.log = p.log[:0]
	if len(s.types) > maxSharedTypes {
		clear(s.types)
	}
	scratches.Put(s)
}

// guard runs f and ends it quietly when a syntax error unwinds.
func (p *body) guard(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(errSyntax); !ok {
				panic(r)
			}
		}
	}()
	f()
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
			mark := p.open()
			p.def.Body = p.regionAt(a.Body, nil)
			p.close(mark)
		}
	case loom.DefBenchmark:
		if a := parseHead(p, g.benchmark); a != nil {
			p.def.Attrs = p.dictAt(a.Attrs)
		}
	case loom.DefImport:
		if a := parseHead(p, g.moduleImport); a != nil {
			p.unquoted(a.Name)
			for _, s := range a.Symbols {
				p.def.Attrs = append(p.def.Attrs, loom.NamedAttr{Name: s[1:], Value: loom.Attr{Kind: loom.AttrSymbol, Str: s[1:]}})
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

// parseHead runs one production over the definition's text.
func parseHead[G any](p *body, g *participle.Parser[G]) *G {
	base := int(p.def.Span.Start)
	ast, err := g.ParseString("", p.def.Span.Text())
	if err == nil {
		return ast
	}
	var perr participle.Error
	if !errors.As(err, &perr) {
		p.report(diag.Errorf(p.def.Span, "PARSE/003", "%v", err))
		return nil
	}
	at := base + perr.Position().Offset
	sc := scanner{src: p.src, pos: at}
	sc.next()
	if sc.kind == tBad {
		p.report(badToken(&sc, p.file))
		return nil
	}
	sp := p.span(sc.start, sc.end)
	if sc.kind == tEOF {
		end := int(p.def.Span.End)
		sp = p.span(max(end-1, base), end)
	}
	p.report(diag.Errorf(sp, "PARSE/003", "in the head of %s: %s", p.def.Op.Name, headMessage(perr.Message(), &sc)))
	return nil
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
		"braceText", "'{ … }'", "BraceText", "'{ … }'", "attrText", "a value", "AttrText", "a value", "encText", "an #encoding", "EncText", "an #encoding", "groupText", "'( … )'", "GroupText", "'( … )'", "<group>", "'( … )'", "\"", "'")
	return "expected " + r.Replace(want) + ", found " + describe(sc)
}

// The captured ranges are relative to the definition; these read them.

func (p *body) sub(start, end int, f func(q *body)) {
	base := int(p.def.Span.Start)
	q := p.at(base+start, base+end)
	q.guard(func() {
		f(q)
		if q.kind != tEOF {
			q.expected("nothing more")
		}
	})
	p.diags = append(p.diags, q.diags...)
	p.opSlab, p.valSlab, p.ptrSlab = q.opSlab, q.valSlab, q.ptrSlab
	p.fixups, p.log, p.stop = q.fixups, q.log, q.stop
}

func (p *body) typeAt(t typeText) (out *loom.Type) {
	p.sub(t.start, t.end, func(q *body) { out = q.typ() })
	return out
}

func (p *body) attrAt(t attrText) (out loom.Attr) {
	p.sub(t.start, t.end, func(q *body) { out = q.attr(0) })
	return out
}

func (p *body) dictAt(t *braceText) (out []loom.NamedAttr) {
	if t == nil {
		return nil
	}
	p.sub(t.start, t.end, func(q *body) { out = q.dict(0) })
	return out
}

func (p *body) regionAt(t *braceText, args []*loom.Value) (out *loom.Region) {
	p.sub(t.start, t.end, func(q *body) { out = q.region(args) })
	if out != nil {
		out.Owner = p.def
	}
	return out
}

func (p *body) loadConfigDecl(a *configDecl) {
	mark := p.open()
	defer p.close(mark)
	p.def.ConfigType = p.typeAt(a.Type)
	if a.Value != nil {
		v := p.newValue(a.Value.Name[1:], int(p.def.Span.Start)+a.Value.Pos.Offset)
		v.Type = p.def.ConfigType
		p.def.ConfigVal = v
		p.define(v)
	}
	p.def.Where = p.constraints(a.Where)
}

func (p *body) loadGlobal(a *globalDef) {
	mark := p.open()
	defer p.close(mark)
	// Dimensions and layouts of a global's type name themselves.
	base := int(p.def.Span.Start)
	sc := scanner{src: p.src[:base+a.Type.end], pos: base + a.Type.start}
	for sc.next(); sc.kind != tEOF; sc.next() {
		if sc.kind == tValue && sc.end-sc.start > 1 {
			if n := sc.text()[1:]; p.lookup(n) == nil {
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
	mark := p.open()
	defer p.close(mark)
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
	base := int(p.def.Span.Start)
	return p.span(base+b.start, base+b.start+1)
}

func (p *body) loadKernel(a *kernelDef) {
	d := p.def
	p.mods(a.Mods)
	mark := p.open()
	d.Workload = p.signature(a.Workload)
	isDef := d.Kind == loom.DefKernel
	switch {
	case a.Config != nil && isDef:
		d.Config = p.regionAt(a.Config, nil)
	case isDef:
		p.report(diag.Errorf(d.NameSpan, "PARSE/003", "kernel.def '@%s' has no launch-config block", d.Name).
			WithHelp("add '{ … kernel.launch.config … }' before 'launch'"))
	}
	p.close(mark)
	mark = p.open()
	defer p.close(mark)
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

// signature reads (%name: T, …). The parameters are defined first, then their
// types are read, which may name parameters in any order.
func (p *body) signature(g groupText) (out []*loom.Value) {
	p.inHead = true
	p.sub(g.start, g.end, func(q *body) { out = q.parameters() })
	p.inHead = false
	return out
}

// parameters makes two passes over a parameter list: names, then types.
func (p *body) parameters() []*loom.Value {
	first := p.scanner
	var out []*loom.Value
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
		p.skipTo()
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
	p.scanner = first
	p.next() // '('
	for _, v := range out {
		p.next() // the name
		p.next() // ':'
		p.typeOrSkip(v)
		p.accept(',')
	}
	p.expectPunct(')')
	return out
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
	p.sub(g.start, g.end, func(q *body) {
		q.expectPunct('(')
		for !q.punct(')') {
			r := loom.Result{}
			if q.kind == tValue {
				n, at := q.valueName(), q.here()
				start := q.start
				q.next()
				if q.acceptWord("as") {
					if r.Tied = q.lookup(n); r.Tied == nil {
						q.report(diag.Errorf(at, "DOMINANCE/005", "tied result names '%%%s', which is not a parameter", n))
					}
				} else {
					q.expectPunct(':')
					r.Val = q.newValue(n, start)
					r.Name, r.Val.Index = n, int32(len(out))
					q.define(r.Val)
				}
			}
			r.Type = q.typ()
			if r.Val != nil {
				r.Val.Type = r.Type
			}
			out = append(out, r)
			if !q.accept(',') {
				break
			}
		}
		q.expectPunct(')')
	})
	p.inHead = false
	return out
}

// constraints binds a parsed constraint list to values.
func (p *body) constraints(l *predList) []loom.Predicate {
	if l == nil {
		return nil
	}
	base := int(p.def.Span.Start)
	var out []loom.Predicate
	for _, q := range l.Preds {
		args := make([]loom.PredArg, 0, len(q.Args))
		for _, a := range q.Args {
			arg, ok := p.constraintArg(a)
			if !ok {
				continue
			}
			args = append(args, arg)
		}
		name := p.span(base+q.Pos.Offset, base+q.Pos.Offset+len(q.Name))
		if len(args) != len(q.Args) {
			continue
		}
		if pr, ok := p.predicate(q.Name, name, args); ok {
			pr.Span = p.span(base+q.Pos.Offset, p.trimEnd(base+q.EndPos.Offset))
			out = append(out, pr)
		}
	}
	return out
}

// trimEnd moves an end offset back over the white space before it: participle
// reports the start of the next token.
func (p *body) trimEnd(end int) int {
	for end > 0 && class[p.src[end-1]]&cSpace != 0 {
		end--
	}
	return end
}

func (p *body) constraintArg(a *predArg) (loom.PredArg, bool) {
	at := int(p.def.Span.Start) + a.Pos.Offset
	switch {
	case a.Value != "":
		v := p.lookup(a.Value[1:])
		if v == nil {
			p.report(p.undefined(a.Value[1:], p.span(at, at+len(a.Value))))
			return loom.PredArg{}, false
		}
		return loom.PredArg{Val: v}, true
	case a.Int != "":
		n, err := parseIntText(a.Int)
		if err != nil {
			p.report(diag.Errorf(p.span(at, at+len(a.Int)), "PARSE/015", "integer '%s' does not fit into 64 bits", a.Int))
			return loom.PredArg{}, false
		}
		return loom.PredArg{Int: n}, true
	}
	return loom.PredArg{Float: p.parseFloat(a.Float), IsFloat: true}, true
}

// modRank is the order in which modifiers must be written.
var modRank = map[string]int{"public": 0, "retain": 1, "import": 2, "host": 3, "device": 3, "initializer": 3, "deinitializer": 3,
	"pure": 4, "hot": 5, "cold": 5, "inline": 6, "noinline": 6, "target": 7, "abi": 8, "requires": 8, "export": 9, "priority": 10, "linkage": 10}

func (p *body) mods(ms []*modifier) {
	base := int(p.def.Span.Start)
	m := &p.def.Mods
	last, lastWord := -1, ""
	for _, a := range ms {
		word := a.Word
		switch {
		case a.Target != "":
			word, m.Target = "target", a.Target[1:]
		case a.ABI != "":
			word, m.ABI, m.ABIAttrs = "abi", a.ABI, p.dictAt(a.ABIAttrs)
		case a.Export != nil:
			word, m.HasExport, m.Export, m.ExportAttrs = "export", true, p.unquoted(a.Export.Name), p.dictAt(a.Export.Attrs)
		case a.Import != nil:
			word, m.HasImport, m.ImportModule, m.ImportSymbol = "import", true, p.unquoted(a.Import.Module), p.unquoted(a.Import.Symbol)
		case a.Priority != "":
			word, m.HasPriority = "priority", true
			n, err := parseIntText(a.Priority)
			if err != nil {
				p.report(diag.Errorf(p.span(base+a.Pos.Offset, base+a.Pos.Offset+8), "PARSE/015", "priority '%s' does not fit into 64 bits", a.Priority))
			}
			m.Priority = n
		case a.Linkage != "":
			word, m.Linkage = "linkage", a.Linkage
		case a.Requires != nil:
			word = "requires"
			for _, e := range a.Requires {
				p.sub(e.start, e.end, func(q *body) {
					m.Requires = append(m.Requires, loom.Attr{Kind: loom.AttrEnc, Aux: q.encoding()})
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
			d := diag.Errorf(p.span(base+a.Pos.Offset, base+a.Pos.Offset+len(word)), "PARSE/003", "modifier '%s' may not follow '%s'", word, lastWord)
			p.report(d.WithHelp("the order is public, retain, import, host/device, pure, hot/cold, inline/noinline, target, abi or requires, export, priority or linkage"))
		} else {
			last, lastWord = r, word
		}
	}
}

func (p *body) unquoted(s string) string {
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
func loadAlias(d *loom.Def) diag.List {
	p := newBody(d)
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
	for _, o := range d.Mod.Defs[:d.Ordinal] {
		if o.Kind == loom.DefAlias && o.Name == d.Name {
			p.report(diag.Errorf(d.NameSpan, "PARSE/014", "alias '#%s' is defined twice", d.Name).WithRelated(o.NameSpan, "first defined here"))
		}
	}
	p.release()
	if d.Enc == nil {
		d.Enc = &loom.Encoding{Family: fmt.Sprintf("invalid.%s", d.Name)}
	}
	return p.diags
}
