package parser

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// tokenList is a head as tokens: the scanner's, except that these groups are one
// token each: braces; parentheses behind a symbol, an arrow or the word launch;
// angle brackets behind a word or #name; square brackets behind '='.
type tokenList struct {
	text     string
	toks     []headToken
	shape    []byte   // kinds of all tokens, texts of words
	comments []string // those between and inside tokens, braces aside
}

// headToken is one token and its byte range in the text.
type headToken struct {
	typ        lexer.TokenType
	start, end int
	word       int // a word: where its text starts in the shape
}

// maxHeadTokens bounds a head: what is longer is not Loom, and the grammar needs
// far more memory for a token than its text has bytes.
const maxHeadTokens = 1 << 16

// read fills the list with the tokens of text[pos:]. braces knows where the
// groups in braces end, as far as the split has seen them.
func (t *tokenList) read(text string, pos int, braces braceTable) {
	*t = tokenList{text: text, toks: t.toks[:0], shape: t.shape[:0]}
	sc := scanner{src: text, pos: pos, end: pos}
	var before lexer.TokenType
	signature, value := false, false // a bracket here opens a signature, a value
	unclosed := false                // one was never closed: looking again costs too much
	for sc.next(); sc.kind != tEOF && len(t.toks) < maxHeadTokens; sc.next() {
		if sc.comment {
			t.comments = append(t.comments, commentLines(text[sc.prevEnd:sc.start])...)
		}
		typ, end := ruleOf[sc.kind], sc.end
		if typ == rulePunct {
			ok := false
			switch c := text[sc.start]; {
			case c == '{':
				typ, end, ok = ruleBraces, braces.end(text, sc.start), true
			case c == '(' && signature:
				end, _ = closeBracket(text, sc.pos, '(', ')')
				typ, ok = ruleGroup, true // also when it is never closed
			case c == '<' && !unclosed && (before == ruleIdent || before == ruleHash):
				if end, ok = closeBracket(text, sc.pos, '<', '>'); ok {
					typ = rulePayload
				}
				unclosed = !ok
			case c == '[' && !unclosed && value:
				if end, ok = closeBracket(text, sc.pos, '[', ']'); ok {
					typ = ruleList
				}
				unclosed = !ok
			}
			if ok {
				sc.pos, sc.end = end, end
				if typ != ruleBraces {
					t.comments = append(t.comments, commentsIn(text, sc.start, end)...)
				}
			}
		}
		signature = typ == ruleSymbol || typ == ruleArrow || typ == ruleIdent && sc.text() == "launch"
		value = typ == rulePunct && text[sc.start] == '='
		before = typ
		t.shape = append(t.shape, byte(typ))
		t.toks = append(t.toks, headToken{typ, sc.start, sc.end, len(t.shape)})
		switch typ {
		case ruleIdent, ruleOpName, rulePunct:
			t.shape = append(append(t.shape, sc.text()...), 0)
		}
	}
}

// commentsIn returns the comments between the tokens of text[start:end].
func commentsIn(text string, start, end int) (lines []string) {
	if start >= end || !strings.Contains(text[start:end], "//") {
		return nil
	}
	sc := scanner{src: text[:end], pos: start, end: start}
	for {
		sc.next()
		if sc.comment {
			lines = append(lines, commentLines(text[sc.prevEnd:sc.start])...)
		}
		if sc.kind == tEOF {
			return lines
		}
	}
}

// shapeLexer hands the grammar the tokens of a list. The texts of words are those
// of the shape, others are empty: a result must not keep one source alive.
type shapeLexer struct {
	list  *tokenList
	shape string
	next  int
}

// Next implements lexer.Lexer.
func (l *shapeLexer) Next() (lexer.Token, error) {
	tok := lexer.Token{Type: lexer.EOF, Pos: lexer.Position{Offset: l.next}}
	if l.next == len(l.list.toks) {
		return tok, nil
	}
	t := l.list.toks[l.next]
	l.next++
	tok.Type = t.typ
	switch t.typ {
	case ruleIdent, ruleOpName, rulePunct:
		tok.Value = l.shape[t.word : t.word+t.end-t.start]
	}
	return tok, nil
}

// str returns the text of the i-th token.
func (t *tokenList) str(i int) string { return t.text[t.toks[i].start:t.toks[i].end] }

// start returns where the i-th token starts, the end of the text behind the last
// one.
func (t *tokenList) start(i int) int {
	if i >= len(t.toks) {
		return len(t.text)
	}
	return t.toks[i].start
}

// Captures, as text and byte offsets.

// given reports whether an optional token was there.
func given(tok lexer.Token) bool { return tok.Type != 0 }

// textOf returns the text of a captured token.
func (p *body) textOf(tok lexer.Token) string { return p.head.str(tok.Pos.Offset) }

// nameOf returns the text of a captured token without its sigil.
func (p *body) nameOf(tok lexer.Token) string { return p.textOf(tok)[1:] }

// spanOf returns the place of a captured token.
func (p *body) spanOf(tok lexer.Token) diag.Span {
	t := p.head.toks[tok.Pos.Offset]
	return p.span(t.start, t.end)
}

// bytesOf returns the byte range of captured tokens.
func (p *body) bytesOf(r tokenRange) (start, end int) {
	return p.head.toks[r.first].start, p.head.toks[r.last].end
}

// Bounds of the memory of head shapes: how many, and how long one may be.
const (
	maxShapes   = 2048
	maxShapeLen = 1024
)

// parseHead runs one production over the definition's head. Heads of one shape
// share a result, so the grammar runs once per shape.
func parseHead[G any](p *body, g *participle.Parser[G]) *G {
	h := &p.head
	h.read(p.src, int(p.def.Span.Start), p.shared.braces)
	p.aboveHead(h.comments)
	if len(h.toks) == maxHeadTokens {
		t := h.toks[maxHeadTokens-1]
		p.report(diag.Errorf(p.span(t.start, t.end), "PARSE/003", "the head of %s has more than %d tokens", p.def.Op.Name, maxHeadTokens-1).
			WithHelp("is a bracket before this place never closed?"))
		return nil
	}
	if ast, ok := p.shapes[string(h.shape)].(*G); ok {
		return ast
	}
	shape := string(h.shape)
	lex, err := lexer.Upgrade(&shapeLexer{list: h, shape: shape})
	if err == nil {
		var ast *G
		if ast, err = g.ParseFromLexer(lex); err == nil {
			if len(p.shapes) < maxShapes && len(shape) <= maxShapeLen {
				p.shapes[shape] = ast
			}
			return ast
		}
	}
	p.headError(err)
	return nil
}

// aboveHead moves comments from inside the definition's head above it.
func (p *body) aboveHead(lines []string) {
	if len(lines) == 0 {
		return
	}
	var t loom.Trivia
	if p.def.Trivia != nil {
		t = *p.def.Trivia
	}
	t.Above = append(slices.Clip(t.Above), lines...)
	p.def.Trivia = &t
}

// headError reports what the grammar found wrong.
func (p *body) headError(err error) {
	var perr participle.Error
	if !errors.As(err, &perr) {
		p.report(diag.Errorf(p.def.Span, "PARSE/003", "%v", err))
		return
	}
	sc := scanner{src: p.src, pos: p.head.start(perr.Position().Offset)}
	sc.next()
	if sc.kind == tBad {
		p.report(badToken(&sc, p.file))
		return
	}
	sp := p.span(sc.start, sc.end)
	if sc.kind == tEOF {
		end := int(p.def.Span.End)
		sp = p.span(max(end-1, int(p.def.Span.Start)), end)
	}
	p.report(diag.Errorf(sp, "PARSE/003", "in the head of %s: %s", p.def.Op.Name, headMessage(perr.Message(), &sc)).
		WithHelp("`loomc explain %s` prints the form", p.def.Op.Name))
}

// braceTable holds where groups in braces outside any other start and end, as
// the split found them, in order.
type braceTable []braceRange

type braceRange struct{ open, end uint32 }

// end returns the offset behind the group that opens at open.
func (b braceTable) end(text string, open int) int {
	i := sort.Search(len(b), func(i int) bool { return int(b[i].open) >= open })
	if i < len(b) && int(b[i].open) == open {
		return min(int(b[i].end), len(text))
	}
	end, _ := closeBrace(text, open+1, nil)
	return end
}

// closeBrace returns the offset behind the brace that closes the one before pos.
// Strings and comments are skipped. ok is false when the text ends first, or a
// line starts with a word for which stop is true: end is that place then.
func closeBrace(text string, pos int, stop func(word string) bool) (end int, ok bool) {
	depth := 1
	for pos < len(text) {
		switch c := text[pos]; {
		case class[c]&cGroup == 0:
			pos++
		case c == '{':
			depth++
			pos++
		case c == '}':
			depth--
			pos++
			if depth == 0 {
				return pos, true
			}
		case c == '"':
			pos = closeString(text, pos+1)
		case c == '/':
			pos++
			if pos < len(text) && text[pos] == '/' {
				pos = lineEnd(text, pos)
			}
		case c == '\n':
			pos++
			if stop != nil && pos < len(text) && class[text[pos]]&cIdentStart != 0 {
				e := pos + 1
				for e < len(text) && class[text[e]]&(cIdent|cSymbol) != 0 {
					e++
				}
				if stop(text[pos:e]) {
					return pos, false
				}
			}
		default:
			pos++
		}
	}
	return len(text), false
}

// closeBracket returns the offset behind the bracket that closes the one before
// pos. ok is false when a brace (which only square brackets may hold) or the end
// of the text comes first: end is that place then.
func closeBracket(text string, pos int, open, close byte) (end int, ok bool) {
	depth := 1
	for pos < len(text) {
		switch c := text[pos]; {
		case c == open:
			depth++
		case c == close:
			if c == '>' && text[pos-1] == '-' { // the arrow of a function type
				break
			}
			if depth--; depth == 0 {
				return pos + 1, true
			}
		case class[c]&cGroup == 0:
		case c == '"':
			pos = closeString(text, pos+1)
			continue
		case c == '/' && pos+1 < len(text) && text[pos+1] == '/':
			pos = lineEnd(text, pos)
			continue
		case (c == '{' || c == '}') && open != '[':
			return pos, false
		}
		pos++
	}
	return len(text), false
}

// closeString returns the offset behind the quote that closes the one before
// pos; a string ends with its line, closed or not.
func closeString(text string, pos int) int {
	for pos < len(text) && text[pos] != '\n' {
		switch text[pos] {
		case '"':
			return pos + 1
		case '\\':
			if pos+1 < len(text) && text[pos+1] != '\n' {
				pos++
			}
		}
		pos++
	}
	return min(pos, len(text))
}
