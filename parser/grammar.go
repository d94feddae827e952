package parser

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of record for module-level constructs. Each struct below is one
// production; its tag is the right-hand side. Types, encodings and attribute
// values are captured as token ranges (typeText, encText) and read by the same
// functions that read them in bodies, so that there is one definition of each.
// A region or attribute dictionary in braces is one token: bodies are parsed by
// the op table, not by this grammar.
//
// A position is the ordinal of a token in its head, and what a head chooses
// freely (names, numbers, strings) is captured as its token, never as its text.
// The result of a production then depends on the kinds of the tokens and on the
// words alone, and serves every head of that shape (head.go).

// configDecl is config.decl @key : [%v :] T [where [p, …]].
type configDecl struct {
	Name  lexer.Token `parser:"'config.decl' @Symbol ':'"`
	Value *valueName  `parser:"( @@ ':' )?"`
	Type  typeText    `parser:"@@"`
	Where *predList   `parser:"( 'where' @@ )?"`
}

// configDef is config.def @key = value : T.
type configDef struct {
	Name  lexer.Token `parser:"'config.def' @Symbol '='"`
	Value attrText    `parser:"@@ ':'"`
	Type  typeText    `parser:"@@"`
}

// targetRecord is amdgpu.target<SELECTOR> @sym [{…}].
type targetRecord struct {
	Op       string      `parser:"@OpName"`
	Selector string      `parser:"( '<' @( Ident | OpName ) '>' )?"`
	Name     lexer.Token `parser:"@Symbol"`
	Attrs    *braceText  `parser:"@@?"`
}

// callable is the head of a function or template, with or without a body.
type callable struct {
	Op      string      `parser:"@OpName"`
	Family  lexer.Token `parser:"( '<' @( Symbol | Ident | OpName ) '>' )?"`
	Mods    []*modifier `parser:"@@*"`
	Name    lexer.Token `parser:"@Symbol"`
	Params  groupText   `parser:"@@"`
	Results *groupText  `parser:"( Arrow @@ )?"`
	Where   *predList   `parser:"( 'where' @@ )?"`
	Body    *braceText  `parser:"@@?"`
}

// kernelDef is a kernel: launch-config block and launch body.
type kernelDef struct {
	Op       string      `parser:"@OpName"`
	Mods     []*modifier `parser:"@@*"`
	Name     lexer.Token `parser:"@Symbol"`
	Workload groupText   `parser:"@@"`
	Config   *braceText  `parser:"@@?"`
	Params   groupText   `parser:"'launch' @@"`
	Where    *predList   `parser:"( 'where' @@ )?"`
	Body     *braceText  `parser:"@@?"`
}

// globalDef is global.constant or global.variable.
type globalDef struct {
	Op    string      `parser:"@OpName"`
	Name  lexer.Token `parser:"@Symbol ':'"`
	Type  typeText    `parser:"@@"`
	Where *predList   `parser:"( 'where' @@ )?"`
	Init  *attrText   `parser:"( '=' @@ )?"`
}

// checkCase is check.case [public] @name { … }.
type checkCase struct {
	Op     string      `parser:"'check.case'"`
	Public bool        `parser:"@'public'?"`
	Name   lexer.Token `parser:"@Symbol"`
	Body   *braceText  `parser:"@@"`
}

// benchmark is check.benchmark<@case> [@name] [{…}].
type benchmark struct {
	Op    string      `parser:"'check.benchmark'"`
	Case  lexer.Token `parser:"'<' @Symbol '>'"`
	Name  lexer.Token `parser:"@Symbol?"`
	Attrs *braceText  `parser:"@@?"`
}

// moduleImport is module.import "provider" [@a, …].
type moduleImport struct {
	Name    lexer.Token   `parser:"'module.import' @String"`
	Symbols []*symbolName `parser:"( '[' ( @@ ( ',' @@ )* )? ']' )?"`
}

type symbolName struct {
	Name lexer.Token `parser:"@Symbol"`
}

// metadata is metadata.module "key" = value.
type metadata struct {
	Name  lexer.Token `parser:"'metadata.module' @String '='"`
	Value attrText    `parser:"@@"`
}

// modifier is one word or clause between the op name and the symbol.
type modifier struct {
	Pos      lexer.Position
	Word     string      `parser:"@( 'public' | 'retain' | 'host' | 'device' | 'initializer' | 'deinitializer' | 'pure' | 'hot' | 'cold' | 'inline' | 'noinline' )"`
	Target   lexer.Token `parser:"| 'target' '(' @Symbol ')'"`
	ABI      string      `parser:"| 'abi' '(' @( Ident | OpName )"`
	ABIAttrs *braceText  `parser:"( ',' @@ )? ')'"`
	Export   *exportAs   `parser:"| 'export' '(' @@ ')'"`
	Import   *importAs   `parser:"| 'import' '(' @@ ')'"`
	Requires []encText   `parser:"| 'requires' '[' ( @@ ( ',' @@ )* )? ']'"`
	Priority lexer.Token `parser:"| 'priority' '(' @Int ')'"`
	Linkage  string      `parser:"| 'linkage' '(' @Ident ')'"`
}

type exportAs struct {
	Name  lexer.Token `parser:"@String"`
	Attrs *braceText  `parser:"( ',' @@ )?"`
}

type importAs struct {
	Module lexer.Token `parser:"@String"`
	Symbol lexer.Token `parser:"( ',' @String )?"`
}

type valueName struct {
	Pos  lexer.Position
	Name lexer.Token `parser:"@Value"`
}

// predList is a list of constraints: [range(%v, 1, 64), multiple_of(%v, 4)].
type predList struct {
	Pos   lexer.Position
	Preds []*pred `parser:"'[' ( @@ ( ',' @@ )* )? ']'"`
}

// pred is one constraint: name(argument, …).
type pred struct {
	Pos    lexer.Position
	Name   lexer.Token `parser:"@Ident '('"`
	Args   []*predArg  `parser:"( @@ ( ',' @@ )* )? ')'"`
	EndPos lexer.Position
}

// predArg is a %value or a literal.
type predArg struct {
	Pos   lexer.Position
	Value lexer.Token `parser:"@Value"`
	Int   lexer.Token `parser:"| @Int"`
	Float lexer.Token `parser:"| @( Float | 'inf' | 'nan' )"`
}

// typeText, encText, attrText, braceText and groupText capture ranges of tokens.
// groupText is a signature in parentheses: parameters (%name: T) or results (T,
// %operand as T, %name: T).
type (
	groupText struct{ tokenRange }
	typeText  struct{ tokenRange }
	encText   struct{ tokenRange }
	attrText  struct{ tokenRange }
	braceText struct{ tokenRange }
)

// tokenRange is the ordinals of the first and the last token.
type tokenRange struct{ first, last int }

// take consumes one token as the whole range.
func (t *tokenRange) take(lex *lexer.PeekingLexer) {
	t.first = lex.Next().Pos.Offset
	t.last = t.first
}

// group consumes a bracketed group as the rest of the range.
func (t *tokenRange) group(lex *lexer.PeekingLexer) error {
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
		t.last = tok.Pos.Offset
		if depth <= 0 {
			return nil
		}
	}
}

// payload consumes a payload as the rest of the range, if there is one.
func (t *tokenRange) payload(lex *lexer.PeekingLexer) error {
	switch tok := lex.Peek(); {
	case tok.Type == rulePayload:
		t.last = lex.Next().Pos.Offset
	case tok.Value == "<": // after a dotted word, or never closed
		return t.group(lex)
	}
	return nil
}

// Parse implements participle.Parseable: a scalar word, a word with a bracketed
// payload, or a function type.
func (t *typeText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	switch {
	case tok.Type == ruleIdent, tok.Type == ruleOpName:
		t.take(lex)
		return t.payload(lex)
	case tok.Value == "(":
		t.first = tok.Pos.Offset
		if err := t.group(lex); err != nil {
			return err
		}
		if lex.Peek().Type == ruleArrow {
			lex.Next()
			if lex.Peek().Type == ruleGroup {
				t.last = lex.Next().Pos.Offset
				return nil
			}
			return t.group(lex)
		}
		return nil
	}
	return participle.NextMatch
}

// Parse implements participle.Parseable: #name with an optional payload.
func (t *encText) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != ruleHash {
		return participle.NextMatch
	}
	t.take(lex)
	return t.payload(lex)
}

// Parse implements participle.Parseable: a literal, word, symbol, encoding, or
// bracketed value.
func (t *attrText) Parse(lex *lexer.PeekingLexer) error {
	tok := lex.Peek()
	switch tok.Type {
	case ruleHash:
		t.take(lex)
		return t.payload(lex)
	case ruleIdent:
		t.take(lex)
		if lex.Peek().Value == "(" {
			return t.group(lex)
		}
		return nil
	case ruleInt, ruleFloat, ruleString, ruleSymbol, ruleOpName, ruleBraces, ruleList:
		t.take(lex)
		return nil
	}
	if tok.Value == "[" { // never closed
		t.first = tok.Pos.Offset
		return t.group(lex)
	}
	return participle.NextMatch
}

// Parse implements participle.Parseable.
func (t *braceText) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != ruleBraces {
		return participle.NextMatch
	}
	t.take(lex)
	return nil
}

// Parse implements participle.Parseable.
func (t *groupText) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != ruleGroup {
		return participle.NextMatch
	}
	t.take(lex)
	return nil
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
	ruleBraces  // {…}
	ruleGroup   // (…) of a signature
	rulePayload // <…> of a type or an encoding
	ruleList    // […] of an attribute value
)

var ruleOf = [...]lexer.TokenType{tIdent: ruleIdent, tOpName: ruleOpName, tInt: ruleInt, tFloat: ruleFloat, tString: ruleString,
	tValue: ruleValue, tSymbol: ruleSymbol, tHash: ruleHash, tLabel: ruleLabel, tArrow: ruleArrow, tPunct: rulePunct, tBad: ruleBad}

// headLexer names the tokens of a head for the grammar. The tokens themselves
// come from shapeLexer (head.go).
type headLexer struct{}

func (headLexer) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Ident": ruleIdent, "OpName": ruleOpName, "Int": ruleInt, "Float": ruleFloat,
		"String": ruleString, "Value": ruleValue, "Symbol": ruleSymbol, "Hash": ruleHash, "Label": ruleLabel, "Arrow": ruleArrow,
		"Punct": rulePunct, "Bad": ruleBad, "Braces": ruleBraces, "Group": ruleGroup, "Payload": rulePayload, "List": ruleList}
}

// Lex reads all of r as the head of one definition.
func (headLexer) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read a definition's head: %w", err)
	}
	var t tokenList
	t.read(string(b), 0, nil)
	return &shapeLexer{list: &t, shape: string(t.shape)}, nil
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
