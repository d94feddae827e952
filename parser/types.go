package parser

import (
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// shapedKinds are the type words that take dimensions and an element.
var shapedKinds = map[string]loom.Kind{"vector": loom.Vector, "view": loom.View, "tensor": loom.Tensor, "tile": loom.Tile}

// typ reads a type at the current token. Types without SSA references are
// shared by text.
func (p *body) typ() *loom.Type {
	start := p.start
	switch {
	case p.kind == tIdent:
		word := p.text()
		if p.pos < len(p.src) && p.src[p.pos] == '<' || p.peekAngle() {
			return p.payloadType(word, start)
		}
		if k := loom.ScalarKind(word); k != loom.Invalid {
			p.next()
			return loom.Scalar(k)
		}
		p.next()
		switch word {
		case "buffer":
			return loom.BufferType()
		case "encoding":
			return encodingType
		}
		d := diag.Errorf(p.span(start, p.prevEnd), "PARSE/007", "unknown type '%s'", word)
		if n := dialect.Nearest(word, typeWords); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		}
		p.fail(d)
	case p.kind == tOpName:
		word := p.text()
		switch word {
		case "hal.buffer", "kernel.async.token", "kernel.async.group", "kernel.tensor.lds.descriptor":
			p.next()
			return &loom.Type{Kind: loom.Dotted, Name: word}
		case "low.storage":
			return p.payloadType(word, start)
		}
		p.fail(diag.Errorf(p.here(), "PARSE/007", "unknown type '%s'", word))
	case p.punct('('):
		t := &loom.Type{Kind: loom.Function}
		t.Params = p.typeList()
		if p.kind == tArrow {
			p.next()
			t.Results = p.typeList()
		}
		return t
	}
	p.expected("a type")
	return nil
}

var encodingType = &loom.Type{Kind: loom.EncodingKind}

var typeWords = []string{"index", "offset", "i1", "i8", "i16", "i32", "i64", "f8E4M3", "f8E5M2", "f16", "bf16", "f32", "f64",
	"buffer", "vector", "view", "tensor", "tile", "pool", "group", "encoding", "reg"}

func (p *body) peekAngle() bool {
	i := skipSpace(p.src, p.pos)
	return i < len(p.src) && p.src[i] == '<'
}

// skipSpace returns the offset of the first byte at or behind i that is neither
// white space nor in a comment.
func skipSpace(text string, i int) int {
	for i < len(text) {
		switch {
		case class[text[i]]&cSpace != 0:
			i++
		case strings.HasPrefix(text[i:], "//"):
			i = lineEnd(text, i)
		default:
			return i
		}
	}
	return i
}

// plain returns the tokens of text, one space where anything stood between two.
func plain(text string) string {
	var out []byte
	sc := scanner{src: text}
	for sc.next(); sc.kind != tEOF; sc.next() {
		if len(out) > 0 && sc.start > sc.prevEnd {
			out = append(out, ' ')
		}
		out = append(out, sc.text()...)
	}
	return string(out)
}

func (p *body) typeList() []*loom.Type {
	p.expectPunct('(')
	var out []*loom.Type
	for !p.punct(')') {
		out = append(out, p.typ())
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(')')
	return out
}

// payloadType reads word<…>. The text between the brackets is scanned as bytes
// because 'x' separates dimensions there.
func (p *body) payloadType(word string, start int) *loom.Type {
	open := skipSpace(p.src, p.pos)
	end := matchAngle(p.src, open)
	if end < 0 {
		p.fail(diag.Errorf(p.span(open, open+1), "PARSE/026", "angle bracket of the type is not closed"))
	}
	text := p.src[start:end]
	if t := p.types[text]; t != nil {
		p.pos = end
		p.end = end
		p.next()
		return t
	}
	inner := p.src[open+1 : end-1]
	t := p.buildPayload(word, inner, open+1)
	p.pos, p.end = end, end
	p.next()
	if t.IsStatic() && (t.Enc == nil || t.Enc.Alias == "") {
		p.types[text] = t
	}
	return t
}

// matchAngle returns the offset behind the bracket that closes the one at open,
// or -1 if the line structure says it never closes.
func matchAngle(src string, open int) int {
	depth := 0
	for i := open; i < len(src); i++ {
		switch src[i] {
		case '<':
			depth++
		case '>':
			if src[i-1] == '-' { // an arrow inside a function type
				continue
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case '{', '}', '=':
			if src[i] == '=' && depth > 1 {
				continue // encoding parameter
			}
			if src[i] == '{' || src[i] == '}' {
				if depth > 1 {
					continue
				}
			}
			return -1
		case '"':
			i = closeString(src, i+1) - 1
		case '/':
			if i+1 < len(src) && src[i+1] == '/' {
				i = lineEnd(src, i)
			}
		}
		if depth > maxNesting {
			return -1
		}
	}
	return -1
}

func (p *body) malformed(start, end int, format string, args ...any) {
	p.fail(diag.Errorf(p.span(start, end), "PARSE/004", format, args...))
}

func (p *body) buildPayload(word, inner string, at int) *loom.Type {
	switch word {
	case "encoding":
		role := plain(inner)
		switch role {
		case "layout", "schema", "storage", "transform":
			return &loom.Type{Kind: loom.EncodingKind, Name: role}
		}
		p.malformed(at, at+len(inner), "encoding role '%s' is not one of layout, schema, storage, transform", role)
	case "group":
		return &loom.Type{Kind: loom.Group, Name: plain(inner)}
	case "reg":
		return &loom.Type{Kind: loom.Reg, Name: plain(inner)}
	case "low.storage":
		return &loom.Type{Kind: loom.LowStorage, Name: plain(inner)}
	case "pool":
		t := &loom.Type{Kind: loom.Pool}
		p.enter(at, at+len(inner))
		bracket := p.accept('[')
		t.Dims = append(t.Dims, p.dim())
		if bracket {
			p.expectPunct(']')
		}
		p.leave()
		return t
	}
	kind, ok := shapedKinds[word]
	if !ok {
		d := diag.Errorf(p.span(at-1-len(word), at-1), "PARSE/007", "unknown type '%s'", word)
		if n := dialect.Nearest(word, typeWords); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		}
		p.fail(d)
	}
	t := &loom.Type{Kind: kind}
	i := 0
	skip := func() { i = skipSpace(inner, i) }
	for {
		skip()
		if i >= len(inner) {
			p.malformed(at-1-len(word), at+len(inner)+1, "%s type has no element", word)
		}
		switch c := inner[i]; {
		case class[c]&cDigit != 0:
			j := i
			for j < len(inner) && class[inner[j]]&cDigit != 0 {
				j++
			}
			n, err := strconv.ParseInt(inner[i:j], 10, 64)
			if err != nil {
				p.malformed(at+i, at+j, "extent %s does not fit into 64 bits", inner[i:j])
			}
			t.Dims = append(t.Dims, loom.Dim{Size: n})
			i = j
		case c == '[':
			j := strings.IndexByte(inner[i:], ']')
			if j < 0 {
				p.malformed(at+i, at+i+1, "dimension bracket is not closed")
			}
			p.enter(at+i+1, at+i+j)
			v := p.dim()
			p.leave()
			t.Dims = append(t.Dims, v)
			i += j + 1
		case class[c]&cIdentStart != 0:
			j := i
			for j < len(inner) && class[inner[j]]&(cIdent|cSymbol) != 0 {
				j++
			}
			w := inner[i:j]
			k := loom.ScalarKind(w)
			if k == loom.Invalid {
				d := diag.Errorf(p.span(at+i, at+j), "PARSE/007", "unknown element type '%s'", w)
				if n := dialect.Nearest(w, typeWords[:13]); n != "" {
					d = d.WithHelp("did you mean '%s'?", n)
				}
				p.fail(d)
			}
			t.Elem = k
			i = j
			skip()
			if i < len(inner) {
				if inner[i] != ',' || kind == loom.Vector {
					if kind == loom.Vector && inner[i] == ',' {
						p.malformed(at+i, at+len(inner), "a vector type takes no encoding")
					}
					p.malformed(at+i, at+len(inner), "unexpected '%s' in the type", inner[i:])
				}
				p.enter(at+i+1, at+len(inner))
				p.typeEncoding(t)
				p.leave()
			}
			return t
		default:
			p.malformed(at+i, at+i+1, "unexpected '%s' in the type", string(rune(c)))
		}
		skip()
		if i < len(inner) && inner[i] == 'x' {
			i++
			continue
		}
		p.malformed(at+i-1, at+min(i+1, len(inner)), "dimensions are joined by 'x' and end in an element type")
	}
}

// typeValue returns the value called name that a type refers to, or nil. The type
// of a result may refer to the results beside it.
func (p *body) typeValue(name string) *loom.Value {
	if i := p.results.find(p.siblings, name); i >= 0 {
		return p.siblings[i]
	}
	return p.names.lookup(name)
}

func (p *body) dim() loom.Dim {
	if p.kind == tInt {
		return loom.Dim{Size: p.parseInt(p.text())}
	}
	n := p.valueName()
	v := p.typeValue(n)
	if v == nil {
		p.fail(p.undefinedDim(n))
	}
	p.next()
	return loom.Dim{Val: v}
}

func (p *body) undefinedDim(n string) diag.Diagnostic {
	if p.inHead {
		return diag.Errorf(p.here(), "PARSE/022", "dimension '%%%s' names no parameter of this signature", n)
	}
	return p.undefined(n, p.here())
}

// typeEncoding reads the second slot of a shaped type.
func (p *body) typeEncoding(t *loom.Type) {
	if p.kind == tValue {
		n := p.valueName()
		v := p.typeValue(n)
		if v == nil {
			if p.inHead {
				p.fail(p.undefinedDim(n))
			}
			p.fail(diag.Errorf(p.here(), "ENCODING/004", "encoding value '%%%s' is not in scope", n))
		}
		t.EncVal = v
		p.next()
	} else {
		t.Enc = p.encoding()
	}
	if p.kind != tEOF {
		p.expected("'>'")
	}
}

// encoding reads #family<k = v, …>.
func (p *body) encoding() *loom.Encoding {
	if p.kind != tHash {
		p.expected("an #encoding")
	}
	name := p.src[p.start+1 : p.end]
	if name == "" {
		p.fail(diag.Errorf(p.here(), "PARSE/024", "'#' without a name"))
	}
	if a := p.shared.alias(name, p.def); a != nil {
		e := *a
		e.Alias = name
		p.next()
		return &e
	}
	e := &loom.Encoding{Family: name}
	var seen nameSet
	p.next()
	if !p.accept('<') {
		return e
	}
	for !p.punct('>') {
		if p.kind == tInt && len(e.Params) == 0 { // positional: #target.subgroup.size<64>
			e.Params = append(e.Params, loom.NamedAttr{Value: p.attr(1)})
		} else {
			if p.kind != tIdent && p.kind != tOpName {
				p.expected("a parameter name")
			}
			n, at := p.text(), p.here()
			p.next()
			if p.accept('=') {
				if seen.add(n) {
					p.report(diag.Errorf(at, "PARSE/029", "encoding parameter '%s' is given twice", n))
				}
				if p.kind == tValue {
					p.fail(diag.Errorf(p.here(), "PARSE/028", "parameter '%s' takes an SSA value inside the static parameter list", n).
						WithHelp("dynamic parameters go into braces: {%s = %s : T}", n, p.text()))
				}
				e.Params = append(e.Params, loom.NamedAttr{Name: n, Value: p.attr(1)})
			} else {
				e.Params = append(e.Params, loom.NamedAttr{Value: loom.WordAttr(n)})
			}
		}
		if !p.accept(',') {
			break
		}
	}
	if !p.punct('>') {
		p.fail(diag.Errorf(p.here(), "PARSE/026", "angle bracket of the encoding is not closed"))
	}
	p.next()
	return e
}

// predicates reads [p(…), …].
func (p *body) predicates() []loom.Predicate {
	p.expectPunct('[')
	var out []loom.Predicate
	for !p.punct(']') {
		if p.kind != tIdent {
			p.expected("a predicate")
		}
		start, name := p.start, p.text()
		nameSpan := p.here()
		p.next()
		p.expectPunct('(')
		var args []loom.PredArg
		for !p.punct(')') {
			args = append(args, p.predArg())
			if !p.accept(',') {
				break
			}
		}
		p.expectPunct(')')
		if pr, ok := p.predicate(name, nameSpan, args); ok {
			pr.Span = p.span(start, p.prevEnd)
			out = append(out, pr)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(']')
	return out
}

func (p *body) predArg() loom.PredArg {
	switch p.kind {
	case tValue:
		return loom.PredArg{Val: p.use()}
	case tInt:
		a := loom.PredArg{Int: p.parseInt(p.text())}
		p.next()
		return a
	case tFloat:
		a := loom.PredArg{Float: p.parseFloat(p.text()), IsFloat: true}
		p.next()
		return a
	}
	p.expected("a %value or a literal")
	return loom.PredArg{}
}

// predicate checks name and arity and builds the predicate.
func (p *body) predicate(name string, sp diag.Span, args []loom.PredArg) (loom.Predicate, bool) {
	def := loom.LookupPred(name)
	if def == nil {
		d := diag.Errorf(sp, "PARSE/013", "unknown predicate '%s'", name)
		names := make([]string, len(loom.PredDefs))
		for i := range loom.PredDefs {
			names[i] = loom.PredDefs[i].Name
		}
		if n := dialect.Nearest(name, names); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		}
		p.report(d)
		return loom.Predicate{}, false
	}
	if len(args) != def.Arity {
		p.report(diag.Errorf(sp, "PARSE/031", "predicate '%s' takes %d %s, %d given", name, def.Arity, plural(def.Arity, "argument"), len(args)))
		return loom.Predicate{}, false
	}
	return loom.Predicate{Kind: def.Kind, Old: def.Old, Args: args}, true
}

// Attributes.

// dict reads {k = v, k = v}; the comma is optional. st is the statement whose own
// dictionary this is, nil for others.
func (p *body) dict(depth int, st *statement) []loom.NamedAttr {
	p.expectPunct('{')
	var out []loom.NamedAttr
	var seen nameSet
	for !p.punct('}') {
		if p.kind != tIdent && p.kind != tOpName {
			p.expected("an attribute name")
		}
		n := p.text()
		if seen.add(n) {
			p.report(diag.Errorf(p.here(), "PARSE/020", "attribute '%s' is given twice", n))
		} else if st != nil {
			p.checkKey(st.op, n, p.here())
		}
		p.next()
		p.expectPunct('=')
		out = append(out, loom.NamedAttr{Name: n, Value: p.attr(depth + 1)})
		p.accept(',')
	}
	p.next()
	return out
}

// checkKey refuses a dictionary entry called like an attribute that the form of
// op writes elsewhere: nothing could print it again.
func (p *body) checkKey(op *loom.Op, key string, place diag.Span) {
	if !op.Has(key) && op.InDict(key) {
		return
	}
	p.report(diag.Errorf(place, "PARSE/020", "attribute '%s' of %s does not belong in the dictionary: it stands elsewhere in the op", key, op.Def.Name).
		WithHelp("write it in its own place only: `loomc explain %s` prints the form", op.Def.Name))
}

// attr reads an attribute value.
func (p *body) attr(depth int) loom.Attr {
	if depth > maxAttrNesting {
		p.fail(diag.Errorf(p.here(), "PARSE/021", "attribute values are nested deeper than %d", maxAttrNesting))
	}
	switch p.kind {
	case tInt:
		a := loom.IntAttr(p.parseInt(p.text()))
		if strings.ContainsAny(p.text(), "xX") {
			a.Str = p.text()
		}
		p.next()
		return a
	case tFloat:
		a := loom.FloatAttr(p.parseFloat(p.text()))
		a.Str = p.text()
		p.next()
		return a
	case tString:
		a := loom.Attr{Kind: loom.AttrString, Str: p.unquote()}
		p.next()
		return a
	case tSymbol:
		a := loom.Attr{Kind: loom.AttrSymbol, Str: p.src[p.start+1 : p.end]}
		p.next()
		return a
	case tHash:
		return loom.Attr{Kind: loom.AttrEnc, Aux: p.encoding()}
	case tOpName:
		a := loom.WordAttr(p.text())
		p.next()
		return a
	case tIdent:
		w := p.text()
		p.next()
		switch w {
		case "true", "false":
			return loom.BoolAttr(w == "true")
		case "inf", "nan":
			a := loom.FloatAttr(p.parseFloat(w))
			a.Str = w
			return a
		}
		if p.accept('(') { // typed literal: u64(3)
			inner := p.attr(depth + 1)
			p.expectPunct(')')
			return loom.Attr{Kind: loom.AttrTyped, Str: w, Aux: inner}
		}
		return loom.WordAttr(w)
	case tPunct:
		switch p.src[p.start] {
		case '{':
			return loom.Attr{Kind: loom.AttrDict, Aux: p.dict(depth, nil)}
		case '[':
			return p.attrList(depth)
		}
	}
	p.expected("an attribute value")
	return loom.Attr{}
}

// attrList reads [a, b, …]: integers, or a list of any values.
func (p *body) attrList(depth int) loom.Attr {
	p.next()
	var ints []int64
	var out []loom.Attr // instead of ints once another value or a spelling has to be kept
	mixed := false
	for !p.punct(']') {
		a := p.attr(depth + 1)
		if out == nil && a.Kind == loom.AttrInt && a.Str == "" {
			ints = append(ints, a.Int)
		} else {
			if out == nil {
				for _, v := range ints {
					out = append(out, loom.IntAttr(v))
				}
			}
			mixed = mixed || a.Kind != loom.AttrInt
			out = append(out, a)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expectPunct(']')
	if mixed {
		return loom.Attr{Kind: loom.AttrList, Aux: out}
	}
	if out != nil {
		ints = ints[:0]
		for _, a := range out {
			ints = append(ints, a.Int)
		}
	}
	if ints == nil {
		ints = []int64{}
	}
	return loom.Attr{Kind: loom.AttrInts, Aux: ints}
}

// unquote resolves the JSON escapes of the current string token.
func (p *body) unquote() string {
	s := p.src[p.start+1 : p.end-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	v, bad := unescape(s)
	if bad >= 0 {
		p.report(diag.Errorf(p.span(p.start+1+bad, p.start+2+bad), "PARSE/023", "escape is not one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"))
	}
	return v
}
