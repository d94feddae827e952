package parser

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// moduleKinds maps the op names that define something to their kind.
var moduleKinds = map[string]loom.DefKind{
	"config.decl": loom.DefConfigDecl, "config.def": loom.DefConfigDef,
	"amdgpu.target": loom.DefTarget, "target.generic": loom.DefTarget, "llvmir.target": loom.DefTarget, "target.decl": loom.DefTargetDecl,
	"func.def": loom.DefFunc, "func.decl": loom.DefFuncDecl,
	"func.template": loom.DefTemplate, "func.ukernel": loom.DefUkernel, "func.provider.decl": loom.DefTemplateDecl,
	"template.decl": loom.DefTemplateDecl, "template.def": loom.DefTemplate, "template.ukernel": loom.DefUkernel,
	"kernel.def": loom.DefKernel, "kernel.decl": loom.DefKernelDecl,
	"global.constant": loom.DefGlobal, "global.variable": loom.DefGlobal,
	"check.case": loom.DefCheckCase, "check.benchmark": loom.DefBenchmark,
	"module.import": loom.DefImport, "metadata.module": loom.DefMetadata,
}

// splitter cuts a file into definitions without parsing them: it looks only at
// braces, strings, comments and the words of each head up to its symbol.
type splitter struct {
	src    *diag.Source
	mod    *loom.Module
	diags  diag.List
	shared *shared
	load   func(*loom.Def) diag.List // shared.load
	opaque map[string]*loom.OpDef    // ops of definitions carried verbatim
	defs   []loom.Def                // to be handed out
	stop   bool                      // too many errors
}

func (s *splitter) span(start, end int) diag.Span {
	return diag.Span{Src: s.src, Start: uint32(start), End: uint32(end)}
}

// maxFileErrors bounds the errors of a file's outer structure: a file with more
// is not Loom at all.
const maxFileErrors = 1000

// report adds an error, up to the limit.
func (s *splitter) report(d diag.Diagnostic) {
	switch n := len(s.diags); {
	case n < maxFileErrors:
		s.diags.Add(d)
	case n == maxFileErrors:
		s.diags.Add(diag.Errorf(d.Span, "PARSE/012", "stopped after %d errors in the file's outer structure", maxFileErrors))
		s.stop = true
	}
}

// Parse splits src into definitions and returns the module. Bodies and heads
// are parsed when a definition is loaded (loom.Def.Load, loom.Module.Load); the
// returned diagnostics are those of the file's outer structure alone.
func Parse(src *diag.Source) (*loom.Module, diag.List) {
	sh := &shared{id: new(byte)}
	s := &splitter{src: src, mod: &loom.Module{Source: src}, shared: sh, load: sh.load}
	if len(src.Text) >= 1<<31 {
		s.diags.Add(diag.Errorf(s.span(0, 0), "PARSE/012", "file of %d bytes is larger than the 2 GiB that loomc reads", len(src.Text)))
		return s.mod, s.diags
	}
	if !utf8.ValidString(src.Text) {
		off := invalidUTF8(src.Text)
		s.diags.Add(diag.Errorf(s.span(off, off+1), "PARSE/019", "byte 0x%02x at offset %d is not valid UTF-8", src.Text[off], off).
			WithHelp("save the file as UTF-8; is it a binary file?"))
		return s.mod, s.diags
	}
	if off := loneReturn(src.Text); off >= 0 {
		s.diags.Add(diag.Errorf(s.span(off, off+1), "PARSE/025", "carriage return without a line feed: to loomc the line does not end here").
			WithHelp("end lines with LF, or with CR LF; `tr '\\r' '\\n' < OLD > NEW` converts a file whose lines end with CR alone"))
		if strings.IndexByte(src.Text, '\n') < 0 {
			return s.mod, s.diags // one line: whatever else were said would be about that
		}
	}
	s.split()
	return s.mod, s.diags
}

const byteOrderMark = "\ufeff"

// loneReturn returns the offset of the first carriage return outside a string
// that no line feed follows, -1 when there is none. Such a return hides what
// follows it: a comment goes on to the next line feed.
func loneReturn(text string) int {
	lone := func(i int) bool { return text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') }
	first := 0
	for ; ; first++ { // most texts have none at all
		n := strings.IndexByte(text[first:], '\r')
		if n < 0 {
			return -1
		}
		if first += n; lone(first) {
			break
		}
	}
	str, comment := false, false // neither reaches over a line feed
	for i := strings.LastIndexByte(text[:first], '\n') + 1; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			str, comment = false, false
		case lone(i) && !str:
			return i
		case comment:
		case str && text[i] == '\\' && i+1 < len(text) && text[i+1] != '\n':
			i++
		case text[i] == '"':
			str = !str
		case !str && strings.HasPrefix(text[i:], "//"):
			comment = true
		}
	}
	return -1
}

func invalidUTF8(t string) int {
	for i := 0; i < len(t); {
		r, n := utf8.DecodeRuneInString(t[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(t)
}

func (s *splitter) split() {
	text := s.src.Text
	sc := scanner{src: text}
	sc.next()
	lastEnd := 0
	for sc.kind != tEOF && !s.stop {
		start := sc.start
		switch {
		case sc.kind == tOpName && (moduleKinds[sc.text()] != 0 || dialect.OpaqueDialect(prefix(sc.text())) || dialect.Ops().Lookup(sc.text()) == nil):
			s.definition(&sc, lastEnd)
		case sc.kind == tHash:
			s.alias(&sc, lastEnd)
		default:
			s.stray(&sc)
		}
		if sc.start == start && sc.kind != tEOF { // progress whatever happened
			sc.next()
		}
		lastEnd = sc.prevEnd
	}
	if sc.comment && !s.stop {
		s.mod.Tail = trimBlank(s.gap(lastEnd, len(text)).Above)
	}
}

func prefix(op string) string {
	if i := strings.IndexByte(op, '.'); i >= 0 {
		return op[:i]
	}
	return op
}

// stray reports a token that starts no definition and skips to the next one.
func (s *splitter) stray(sc *scanner) {
	d := diag.Errorf(s.span(sc.start, sc.end), "PARSE/003", "%s is not the start of a definition", describe(sc))
	if sc.kind == tBad {
		d = badToken(sc, s.src)
	} else if sc.kind == tOpName {
		d = diag.Errorf(s.span(sc.start, sc.end), "STRUCTURE/011", "op '%s' is not allowed at module level", sc.text()).
			WithHelp("put it into the body of a function or kernel")
	} else if sc.punct('}') {
		d = d.WithHelp("a closing brace without its opening brace: check the definition above")
	} else {
		d = d.WithHelp("a definition starts with the name of its op, such as kernel.def, func.def or config.decl; `loomc explain kernel.def` prints the form of one")
	}
	s.report(d)
	depth := 0
	for {
		sc.next()
		if sc.kind == tEOF {
			return
		}
		if sc.punct('{') {
			depth++
		} else if sc.punct('}') {
			depth--
		}
		if sc.newlines > 0 || depth <= 0 {
			if atColumnOne(sc) && (sc.kind == tOpName && moduleKinds[sc.text()] != 0 || sc.kind == tHash) {
				return
			}
			if depth <= 0 && sc.kind == tOpName && moduleKinds[sc.text()] != 0 {
				return
			}
		}
	}
}

func atColumnOne(sc *scanner) bool { return sc.start == 0 || sc.src[sc.start-1] == '\n' }

// newDef returns the next definition of the module.
func (s *splitter) newDef(k loom.DefKind) *loom.Def {
	if len(s.defs) == 0 { // several at once, but not for a small file
		s.defs = make([]loom.Def, min(1+len(s.src.Text)/2048, 32))
	}
	d := &s.defs[0]
	s.defs = s.defs[1:]
	d.Kind, d.Mod, d.Ordinal = k, s.mod, len(s.mod.Defs)
	return d
}

func (s *splitter) alias(sc *scanner, lastEnd int) {
	d := s.newDef(loom.DefAlias)
	d.Name, d.NameSpan = sc.text()[1:], s.span(sc.start, sc.end)
	start := sc.start
	s.trivia(d, sc, lastEnd)
	end := sc.end
	sc.next()
	depth, value := 0, false // value: the '=' came last
	for sc.kind != tEOF && (depth > 0 || sc.kind != tOpName && (sc.kind != tHash || value)) {
		switch {
		case sc.punct('<'), sc.punct('{'), sc.punct('['), sc.punct('('):
			depth++
		case sc.punct('>'), sc.punct('}'), sc.punct(']'), sc.punct(')'):
			depth--
		}
		value = sc.punct('=')
		end = sc.end
		sc.next()
	}
	d.Span = s.span(start, end)
	if first := s.shared.addAlias(d); first != d {
		s.report(diag.Errorf(d.NameSpan, "PARSE/014", "alias '#%s' is defined twice", d.Name).WithRelated(first.NameSpan, "first defined here"))
	}
	s.add(d)
}

// definition records one definition. The scanner stands on its op name and is
// left on the first token after it.
func (s *splitter) definition(sc *scanner, lastEnd int) {
	name := sc.text()
	def := s.newDef(moduleKinds[name])
	def.Op = dialect.Ops().Lookup(name)
	start := sc.start
	s.trivia(def, sc, lastEnd)
	opEnd := sc.end
	if def.Kind == loom.DefOpaque && def.Op == nil {
		if !dialect.OpaqueDialect(prefix(name)) {
			dg := diag.Errorf(s.span(start, opEnd), "PARSE/006", "unknown op '%s'", name)
			if len(s.diags) < maxErrors {
				if n := dialect.Ops().Nearest(name); n != "" {
					dg = dg.WithHelp("did you mean '%s'?", n)
				}
			}
			s.report(dg)
		}
		if def.Op = s.opaque[name]; def.Op == nil {
			if s.opaque == nil {
				s.opaque = map[string]*loom.OpDef{}
			}
			def.Op = &loom.OpDef{Name: name, Traits: loom.Opaque | loom.ModuleLevel}
			s.opaque[name] = def.Op
		}
	}
	switch name {
	case "func.template", "func.ukernel", "func.provider.decl":
		def.OldForm = true
	}
	sc.next()
	end := opEnd
	// Angle parameters directly after the name: family, key, selector, case.
	if sc.punct('<') {
		sc.next()
		switch sc.kind {
		case tSymbol, tHash:
			def.Family = sc.text()[1:]
		case tIdent, tOpName:
			def.Family = sc.text()
			def.Selector = sc.text()
		}
		for sc.kind != tEOF && !sc.punct('>') && !sc.punct('{') {
			sc.next()
		}
		if sc.punct('>') {
			end = sc.end
			sc.next()
		}
	}
	// Head up to the symbol: note what gives a symbol global identity.
	depth := 0 // ( [ < nesting
	braces := 0
	var openAt int
	value := false // '=' came last
	for sc.kind != tEOF {
		if braces == 0 {
			if depth > 0 && sc.kind == tOpName && atColumnOne(sc) && defines(sc.text()) {
				break // a bracket of this head is not closed; Load says so
			}
			if depth <= 0 && !value && (sc.kind == tOpName && s.startsDefinition(sc) || sc.kind == tHash && atColumnOne(sc)) {
				break
			}
			value = sc.punct('=')
			switch {
			case def.Name == "" && sc.kind == tSymbol && depth == 0:
				def.Name = sc.text()[1:]
				def.NameSpan = s.span(sc.start, sc.end)
			case def.Name == "" && depth == 0 && sc.kind == tIdent:
				switch sc.text() {
				case "public", "export", "import":
					def.Visible = true
				}
			case def.Name == "" && sc.kind == tString && depth == 0 && (def.Kind == loom.DefImport || def.Kind == loom.DefMetadata):
				def.Name = unquoteLoose(sc.text())
				def.NameSpan = s.span(sc.start, sc.end)
			}
			if sc.kind == tBad {
				// leave it to Load, which reports it inside the definition
				end = sc.end
				sc.next()
				continue
			}
			switch {
			case sc.punct('('), sc.punct('['), sc.punct('<'):
				depth++
			case sc.punct(')'), sc.punct(']'), sc.punct('>'):
				depth--
			case sc.punct('{'):
				if depth <= 0 && hasRegion(def.Kind) {
					def.HasBody = true
				}
				openAt = sc.start
				braces = 1
				e, ok := closeBrace(sc.src, sc.pos, defines)
				s.shared.braces = append(s.shared.braces, braceRange{uint32(openAt), uint32(e)})
				if !ok {
					line, _ := s.src.LineCol(start)
					s.report(diag.Errorf(s.span(openAt, openAt+1), "PARSE/003", "brace is never closed").
						WithRelated(s.span(start, opEnd), "in the definition that starts at line %d", line).
						WithHelp("add the missing '}'"))
				}
				sc.pos, sc.end = e, e
				braces = 0
				if !ok {
					def.Span = s.span(start, e)
					sc.next()
					s.add(def)
					return
				}
				end = e
				sc.next()
				continue
			case sc.punct('}'):
				def.Span = s.span(start, end)
				s.add(def)
				return // stray brace: reported by the caller's loop
			}
		}
		end = sc.end
		sc.next()
	}
	def.Span = s.span(start, end)
	s.add(def)
}

func hasRegion(k loom.DefKind) bool {
	switch k {
	case loom.DefFunc, loom.DefTemplate, loom.DefKernel, loom.DefCheckCase, loom.DefOpaque:
		return true
	}
	return false
}

// startsDefinition reports whether the dotted word at the scanner begins a new
// definition rather than continuing the current head.
func (s *splitter) startsDefinition(sc *scanner) bool {
	w := sc.text()
	if moduleKinds[w] != 0 || dialect.OpaqueDialect(prefix(w)) && (sc.newlines > 0 || sc.start == 0) {
		return true
	}
	return sc.newlines > 0
}

// defines reports whether word is the op of a definition: where a line starts
// with one inside a body, the body is taken to be unclosed.
func defines(word string) bool { return moduleKinds[word] != 0 }

func (s *splitter) add(d *loom.Def) {
	d.SetLoader(s.load)
	s.mod.Defs = append(s.mod.Defs, d)
}

// trivia attaches the comments and blank line between lastEnd and the current
// token to d, and derives its doc comment.
func (s *splitter) trivia(d *loom.Def, sc *scanner, lastEnd int) {
	if !sc.comment && sc.newlines < 2 {
		return
	}
	if t := s.gap(lastEnd, sc.start); t.Blank || len(t.Above) > 0 {
		d.Trivia = &t
		d.Doc = docText(t.Above)
	}
}

// gap returns the comments and blank line between two definitions. A comment
// behind the first goes there.
func (s *splitter) gap(start, end int) (t loom.Trivia) {
	behind := splitTrivia(s.src.Text[start:end], start == 0, &t)
	if behind == "" {
		return t
	}
	if len(s.mod.Defs) == 0 {
		t.Above = slices.Insert(t.Above, 0, behind)
		return t
	}
	p := s.mod.Defs[len(s.mod.Defs)-1]
	if p.Trivia == nil {
		p.Trivia = &loom.Trivia{}
	}
	p.Trivia.Behind = behind
	return t
}

// splitTrivia separates the text between two statements into a comment behind
// the first (on its line), and the comments and blank line above the second.
func splitTrivia(gap string, atStart bool, t *loom.Trivia) (behind string) {
	for i := 0; ; i++ {
		l, rest, more := strings.Cut(gap, "\n")
		l = strings.TrimSpace(l)
		switch {
		case i == 0 && !atStart:
			behind = l
		case l != "":
			t.Above = append(t.Above, l)
		case i > 0 && more && len(t.Above) > 0:
			if t.Above[len(t.Above)-1] != "" {
				t.Above = append(t.Above, "")
			}
		case i > 0 && more:
			t.Blank = true
		}
		if !more {
			return behind
		}
		gap = rest
	}
}

// docText returns the comment run that ends directly above a definition.
func docText(above []string) string {
	from := len(above)
	for from > 0 && above[from-1] != "" {
		from--
	}
	var b strings.Builder
	for i, l := range above[from:] {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimPrefix(strings.TrimLeft(l, "/"), " "))
	}
	return b.String()
}

// commentLines returns the comments of a gap between tokens.
func commentLines(gap string) []string {
	var t loom.Trivia
	splitTrivia(gap, true, &t)
	return trimBlank(t.Above)
}

// trimBlank drops a blank line at the end.
func trimBlank(lines []string) []string {
	if n := len(lines); n > 0 && lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}

// unquoteLoose returns the value of a string token; a faulty escape is reported
// when the definition is loaded.
func unquoteLoose(s string) string {
	if len(s) < 2 {
		return s
	}
	v, _ := unescape(s[1 : len(s)-1])
	return v
}

// describe names the current token for a message.
func describe(sc *scanner) string {
	switch sc.kind {
	case tEOF:
		return "end of file"
	case tPunct, tArrow, tIdent, tOpName, tValue, tSymbol, tHash, tLabel:
		t := sc.text()
		if len(t) > 60 {
			t = t[:60] + "…"
		}
		return "'" + t + "'"
	}
	return kindText[sc.kind]
}

// badToken is the diagnostic of a token that cannot exist.
func badToken(sc *scanner, src *diag.Source) diag.Diagnostic {
	sp := diag.Span{Src: src, Start: uint32(sc.start), End: uint32(sc.end)}
	t := sc.text()
	switch {
	case t[0] == '"':
		return diag.Errorf(sp, "PARSE/005", "string is not closed on its line").WithHelp("add the closing '\"'; a line break inside a string is written \\n")
	case t[0] == 0:
		return diag.Errorf(sp, "PARSE/025", "NUL byte in the text").WithHelp("is this a binary file?")
	case t == byteOrderMark && sc.start == 0:
		return diag.Errorf(sp, "PARSE/025", "the file begins with a byte order mark (U+FEFF)").WithHelp("save the file as UTF-8 without a byte order mark")
	case t[0] >= 0x80:
		return diag.Errorf(sp, "PARSE/025", "character %q is not allowed outside comments and strings", t).
			WithHelp("remove it, or write it in ASCII; text that was copied out of a document may hold look-alikes of quotes, dashes and spaces")
	}
	return diag.Errorf(sp, "PARSE/025", "character %q is not part of the language", t).WithHelp("remove it, or check what was meant here")
}
