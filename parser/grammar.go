package parser

import (
	"io"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of record for module-level constructs. Each struct below is one
// production; its tag is the right-hand side. Types, encodings and attribute
// values are captured as text ranges (typeText, encText) and read by the same
// functions that read them in bodies, so that there is one definition of each.
// A region or attribute dictionary in braces is one token, braceToken: bodies
// are parsed by the op table, not by this grammar.

// configDecl is config.decl @key : [%v :] T [where [p, …]].
type configDecl struct {
	Name  string     `parser:"'config.decl' @Symbol ':'"`
	Value *valueName `parser:"( @@ ':' )?"`
	Type  typeText   `parser:"@@"`
	Where *predList  `parser:"( 'where' @@ )?"`
}

// configDef is config.def @key = value : T.
type configDef struct {
	Name  string   `parser:"'config.def' @Symbol '='"`
	Value attrText `parser:"@@ ':'"`
	Type  typeText `parser:"@@"`
}

// targetRecord is amdgpu.target<SELECTOR> @sym [{…}].
type targetRecord struct {
	Op       string     `parser:"@OpName"`
	Selector string     `parser:"( '<' @( Ident | OpName ) '>' )?"`
	Name     string     `parser:"@Symbol"`
	Attrs    *braceText `parser:"@@?"`
}

// callable is the head of a function or template, with or without a body.
type callable struct {
	Op      string      `parser:"@OpName"`
	Family  string      `parser:"( '<' @( Symbol | Ident | OpName ) '>' )?"`
	Mods    []*modifier `parser:"@@*"`
	Name    string      `parser:"@Symbol"`
	Params  groupText   `parser:"@@"`
	Results *groupText  `parser:"( Arrow @@ )?"`
	Where   *predList   `parser:"( 'where' @@ )?"`
	Body    *braceText  `parser:"@@?"`
}

// kernelDef is a kernel: launch-config block and launch body.
type kernelDef struct {
	Op       string      `parser:"@OpName"`
	Mods     []*modifier `parser:"@@*"`
	Name     string      `parser:"@Symbol"`
	Workload groupText   `parser:"@@"`
	Config   *braceText  `parser:"@@?"`
	Params   groupText   `parser:"'launch' @@"`
	Where    *predList   `parser:"( 'where' @@ )?"`
	Body     *braceText  `parser:"@@?"`
}

// globalDef is global.constant or global.variable.
type globalDef struct {
	Op    string    `parser:"@OpName"`
	Name  string    `parser:"@Symbol ':'"`
	Type  typeText  `parser:"@@"`
	Where *predList `parser:"( 'where' @@ )?"`
	Init  *attrText `parser:"( '=' @@ )?"`
}

// checkCase is check.case [public] @name { … }.
type checkCase struct {
	Op     string     `parser:"'check.case'"`
	Public bool       `parser:"@'public'?"`
	Name   string     `parser:"@Symbol"`
	Body   *braceText `parser:"@@"`
}

// benchmark is check.benchmark<@case> [@name] [{…}].
type benchmark struct {
	Op    string     `parser:"'check.benchmark'"`
	Case  string     `parser:"'<' @Symbol '>'"`
	Name  string     `parser:"@Symbol?"`
	Attrs *braceText `parser:"@@?"`
}

// moduleImport is module.import "provider" [@a, …].
type moduleImport struct {
	Name    string   `parser:"'module.import' @String"`
	Symbols []string `parser:"( '[' ( @Symbol ( ',' @Symbol )* )? ']' )?"`
}

// metadata is metadata.module "key" = value.
type metadata struct {
	Name  string   `parser:"'metadata.module' @String '='"`
	Value attrText `parser:"@@"`
}

// modifier is one word or clause between the op name and the symbol.
type modifier struct {
	Pos      lexer.Position
	Word     string     `parser:"@( 'public' | 'retain' | 'host' | 'device' | 'initializer' | 'deinitializer' | 'pure' | 'hot' | 'cold' | 'inline' | 'noinline' )"`
	Target   string     `parser:"| 'target' '(' @Symbol ')'"`
	ABI      string     `parser:"| 'abi' '(' @( Ident | OpName )"`
	ABIAttrs *braceText `parser:"( ',' @@ )? ')'"`
	Export   *exportAs  `parser:"| 'export' '(' @@ ')'"`
	Import   *importAs  `parser:"| 'import' '(' @@ ')'"`
	Requires []encText  `parser:"| 'requires' '[' ( @@ ( ',' @@ )* )? ']'"`
	Priority string     `parser:"| 'priority' '(' @Int ')'"`
	Linkage  string     `parser:"| 'linkage' '(' @Ident ')'"`
}

type exportAs struct {
	Name  string     `parser:"@String"`
	Attrs *braceText `parser:"( ',' @@ )?"`
}

type importAs struct {
	Module string `parser:"@String"`
	Symbol string `parser:"( ',' @String )?"`
}

type valueName struct {
	Pos  lexer.Position
	Name string `parser:"@Value"`
}

// predList is a list of constraints: [range(%v, 1, 64), multiple_of(%v, 4)].
type predList struct {
	Pos   lexer.Position
	Preds []*pred `parser:"'[' ( @@ ( ',' @@ )* )? ']'"`
}

// pred is one constraint: name(argument, …).
type pred struct {
	Pos    lexer.Position
	Name   string     `parser:"@Ident '('"`
	Args   []*predArg `parser:"( @@ ( ',' @@ )* )? ')'"`
	EndPos lexer.Position
}

// predArg is a %value or a literal.
type predArg struct {
	Pos   lexer.Position
	Value string `parser:"@Value"`
	Int   string `parser:"| @Int"`
	Float string `parser:"| @( Float | 'inf' | 'nan' )"`
}

// typeText, encText, attrText, braceText and groupText capture source ranges.
// groupText is a signature in parentheses: parameters (%name: T) or results (T,
// %operand as T, %name: T).
type (
	groupText struct{ start, end int }
	typeText  struct{ start, end int }
	encText   struct{ start, end int }
	attrText  struct{ start, end int }
	braceText struct{ start, end int }
)

// Parse implements participle.Parseable: a scalar word, a word with a bracketed
// payload, or a function type.
func (t *typeText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	t.start = tok.Pos.Offset
	switch {
	case tok.Type == ruleIdent, tok.Type == ruleOpName:
		t.end = t.start + len(tok.Value)
		lex.Next()
		if lex.Peek().Value == "<" && lex.Peek().Type == rulePunct {
			return balanced(lex, &t.end)
		}
		return nil
	case tok.Value == "(":
		if err := balanced(lex, &t.end); err != nil {
			return err
		}
		if lex.Peek().Type == ruleArrow {
			lex.Next()
			return balanced(lex, &t.end)
		}
		return nil
	}
	return participle.NextMatch
}

// Parse implements participle.Parseable: #name with an optional payload.
func (t *encText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	if tok.Type != ruleHash {
		return participle.NextMatch
	}
	t.start, t.end = tok.Pos.Offset, tok.Pos.Offset+len(tok.Value)
	lex.Next()
	if lex.Peek().Value == "<" {
		return balanced(lex, &t.end)
	}
	return nil
}

// Parse implements participle.Parseable: a literal, word, symbol, encoding, or
// bracketed value.
func (t *attrText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	t.start, t.end = tok.Pos.Offset, tok.Pos.Offset+len(tok.Value)
	switch {
	case tok.Type == ruleHash:
		lex.Next()
		if lex.Peek().Value == "<" {
			return balanced(lex, &t.end)
		}
		return nil
	case tok.Type == ruleIdent:
		lex.Next()
		if lex.Peek().Value == "(" {
			return balanced(lex, &t.end)
		}
		return nil
	case tok.Value == "[":
		return balanced(lex, &t.end)
	case tok.Type == ruleInt, tok.Type == ruleFloat, tok.Type == ruleString, tok.Type == ruleSymbol, tok.Type == ruleOpName, tok.Type == ruleBraces:
		lex.Next()
		return nil
	}
	return participle.NextMatch
}

// Parse implements participle.Parseable.
func (t *braceText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	if tok.Type != ruleBraces {
		return participle.NextMatch
	}
	t.start, t.end = tok.Pos.Offset, tok.Pos.Offset+len(tok.Value)
	lex.Next()
	return nil
}

// Parse implements participle.Parseable.
func (t *groupText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	if tok.Type != ruleGroup {
		return participle.NextMatch
	}
	t.start, t.end = tok.Pos.Offset, tok.Pos.Offset+len(tok.Value)
	lex.Next()
	return nil
}

// balanced consumes a bracketed group and sets end to the offset behind it.
func balanced(lex *lexer.PeekingLexer, end *int) error {
	depth := 0
	for {
		tok := lex.Next()
		if tok.EOF() {
			return participle.Errorf(tok.Pos, "bracket is not closed")
		}
		if tok.Type == rulePunct {
			switch tok.Value {
			case "<", "(", "[":
				depth++
			case ">", ")", "]":
				depth--
			}
		}
		*end = tok.Pos.Offset + len(tok.Value)
		if depth <= 0 {
			return nil
		}
	}
}

// Token types of the head lexer.
const (
	ruleIdent lexer.TokenType = iota + 1
	ruleOpName
	ruleInt
	ruleFloat
	ruleString
	ruleValue
	ruleSymbol
	ruleHash
	ruleLabel
	ruleArrow
	rulePunct
	ruleBad
	ruleBraces
	ruleGroup
)

var ruleOf = [...]lexer.TokenType{tIdent: ruleIdent, tOpName: ruleOpName, tInt: ruleInt, tFloat: ruleFloat, tString: ruleString,
	tValue: ruleValue, tSymbol: ruleSymbol, tHash: ruleHash, tLabel: ruleLabel, tArrow: ruleArrow, tPunct: rulePunct, tBad: ruleBad}

// headLexer is the lexer of one definition's head: the scanner's tokens, with a
// balanced group in braces as one token.
type headLexer struct{}

func (headLexer) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Ident": ruleIdent, "OpName": ruleOpName, "Int": ruleInt, "Float": ruleFloat,
		"String": ruleString, "Value": ruleValue, "Symbol": ruleSymbol, "Hash": ruleHash, "Label": ruleLabel, "Arrow": ruleArrow,
		"Punct": rulePunct, "Bad": ruleBad, "Braces": ruleBraces, "Group": ruleGroup}
}

func (h headLexer) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return h.LexString(filename, string(b))
}

func (headLexer) LexString(_, text string) (lexer.Lexer, error) {
	return &headTokens{sc: scanner{src: text}}, nil
}

// headTokens makes one token of a group in braces, and of the parentheses that
// follow a symbol, an arrow or the word launch.
type headTokens struct {
	sc        scanner
	signature bool // a parenthesis here opens a signature
}

func (h *headTokens) Next() (lexer.Token, error) {
	h.sc.next()
	pos := lexer.Position{Offset: h.sc.start}
	if h.sc.kind == tEOF {
		return lexer.Token{Type: lexer.EOF, Pos: pos}, nil
	}
	if h.sc.punct('{') {
		end := closeBrace(h.sc.src, h.sc.pos)
		h.sc.pos, h.sc.end = end, end
		return lexer.Token{Type: ruleBraces, Value: h.sc.src[h.sc.start:end], Pos: pos}, nil
	}
	if h.signature && h.sc.punct('(') {
		h.signature = false
		end := closeParen(h.sc.src, h.sc.pos)
		h.sc.pos, h.sc.end = end, end
		return lexer.Token{Type: ruleGroup, Value: h.sc.src[pos.Offset:end], Pos: pos}, nil
	}
	h.signature = h.sc.kind == tSymbol || h.sc.kind == tArrow || h.sc.kind == tIdent && h.sc.text() == "launch"
	return lexer.Token{Type: ruleOf[h.sc.kind], Value: h.sc.text(), Pos: pos}, nil
}

// closeBrace returns the offset behind the brace that closes the one before
// pos, or the end of the text.
func closeBrace(text string, pos int) int {
	sc := scanner{src: text, pos: pos}
	depth := 1
	for {
		sc.next()
		switch {
		case sc.kind == tEOF:
			return len(text)
		case sc.punct('{'):
			depth++
		case sc.punct('}'):
			if depth--; depth == 0 {
				return sc.end
			}
		}
	}
}

// closeParen returns the offset behind the parenthesis that closes the one
// before pos, or the end of the text.
func closeParen(text string, pos int) int {
	sc := scanner{src: text, pos: pos}
	depth := 1
	for {
		sc.next()
		switch {
		case sc.kind == tEOF, sc.punct('{'), sc.punct('}'):
			return sc.start
		case sc.punct('('):
			depth++
		case sc.punct(')'):
			if depth--; depth == 0 {
				return sc.end
			}
		}
	}
}

// grammars holds the compiled productions; building them reflects over the
// structs above, so it happens once, on first use.
type grammars struct {
	configDecl   *participle.Parser[configDecl]
	configDef    *participle.Parser[configDef]
	target       *participle.Parser[targetRecord]
	callable     *participle.Parser[callable]
	kernel       *participle.Parser[kernelDef]
	global       *participle.Parser[globalDef]
	checkCase    *participle.Parser[checkCase]
	benchmark    *participle.Parser[benchmark]
	moduleImport *participle.Parser[moduleImport]
	metadata     *participle.Parser[metadata]
}

var grammar = sync.OnceValue(func() *grammars {
	return &grammars{
		configDecl: build[configDecl](), configDef: build[configDef](), target: build[targetRecord](),
		callable: build[callable](), kernel: build[kernelDef](), global: build[globalDef](),
		checkCase: build[checkCase](), benchmark: build[benchmark](), moduleImport: build[moduleImport](), metadata: build[metadata](),
	}
})

func build[G any]() *participle.Parser[G] {
	return participle.MustBuild[G](participle.Lexer(headLexer{}), participle.UseLookahead(2))
}

// EBNF returns the grammar of module-level constructs in EBNF, for the language
// reference.
func EBNF() string {
	g := grammar()
	var b strings.Builder
	for _, s := range []string{g.configDecl.String(), g.configDef.String(), g.target.String(), g.callable.String(), g.kernel.String(),
		g.global.String(), g.checkCase.String(), g.benchmark.String(), g.moduleImport.String(), g.metadata.String()} {
		b.WriteString(s)
		b.WriteString("\n\n")
	}
	return b.String()
}
