package require

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// value is what an expression of a rule file yields: an integer, a float, a
// string, a list, or nothing.
type value struct {
	kind valueKind
	i    int64
	f    float64
	s    string
	list []value
}

type valueKind uint8

const (
	missing valueKind = iota
	integer
	float
	text
	list
)

func intValue(i int64) value { return value{kind: integer, i: i} }

func boolValue(b bool) value {
	if b {
		return intValue(1)
	}
	return intValue(0)
}

func (v value) number() (float64, bool) {
	switch v.kind {
	case integer:
		return float64(v.i), true
	case float:
		return v.f, true
	}
	return 0, false
}

func (v value) truth() bool {
	switch v.kind {
	case integer:
		return v.i != 0
	case float:
		return v.f != 0
	case text:
		return v.s != ""
	case list:
		return len(v.list) > 0
	}
	return false
}

// String writes the value as a config binding would.
func (v value) String() string {
	switch v.kind {
	case integer:
		return strconv.FormatInt(v.i, 10)
	case float:
		s := strconv.FormatFloat(v.f, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	case text:
		return v.s
	case list:
		var parts []string
		for _, x := range v.list {
			parts = append(parts, x.String())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "nothing"
}

// scope gives names their values and calls functions on tensors.
type scope struct {
	lookup func(name string) value
	tensor func(name string) (typ string, dims []int64, ok bool)
}

// errMissing is wrapped by errors about names that have no value.
var errMissing = errors.New("has no value")

// eval evaluates an expression:
//
//	numbers, 'strings', names, + - * / % ( ), == != < <= > >=, && || !,
//	a ?? b (a unless it has no value), f(x, …)
//
// The division of integers is exact or an error; div() and ceil_div() round.
func eval(src string, sc scope) (value, error) {
	p := &exprParser{src: src, sc: sc}
	p.next()
	v, err := p.or()
	if err == nil && p.tok != "" {
		err = fmt.Errorf("unexpected '%s'", p.tok)
	}
	if err != nil {
		return value{}, fmt.Errorf("in \"%s\": %w", src, err)
	}
	return v, nil
}

// exprParser evaluates while it parses. A name without a value is an error only
// where the value is used, so that ?? can stand in.
type exprParser struct {
	src   string
	at    int
	tok   string
	kind  byte // 'n' number, 's' string, 'i' name, 'o' operator, 0 end
	sc    scope
	depth int
	gap   string // the name that was last found without a value
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (p *exprParser) next() {
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\n' || p.src[p.at] == '\t') {
		p.at++
	}
	p.kind, p.tok = 0, ""
	if p.at >= len(p.src) {
		return
	}
	start := p.at
	switch c := p.src[p.at]; {
	case c >= '0' && c <= '9':
		for p.at < len(p.src) && (isName(p.src[p.at]) || (p.src[p.at] == '-' || p.src[p.at] == '+') && (p.src[p.at-1] == 'e' || p.src[p.at-1] == 'E')) {
			p.at++
		}
		p.kind = 'n'
	case isName(c):
		for p.at < len(p.src) && isName(p.src[p.at]) {
			p.at++
		}
		p.kind = 'i'
	case c == '\'':
		end := strings.IndexByte(p.src[p.at+1:], '\'')
		if end < 0 {
			p.at = len(p.src)
			p.kind, p.tok = 'o', p.src[start:]
			return
		}
		p.at += end + 2
		p.kind, p.tok = 's', p.src[start+1:p.at-1]
		return
	default:
		p.at++
		if p.at < len(p.src) {
			switch p.src[start : p.at+1] {
			case "??", "&&", "||", "==", "!=", "<=", ">=":
				p.at++
			}
		}
		p.kind = 'o'
	}
	p.tok = p.src[start:p.at]
}

func (p *exprParser) is(ops ...string) (string, bool) {
	if p.kind != 'o' {
		return "", false
	}
	for _, op := range ops {
		if p.tok == op {
			return op, true
		}
	}
	return "", false
}

// binary parses a left-associative level.
func (p *exprParser) binary(operand func() (value, error), apply func(op string, a, b value) (value, error), ops ...string) (value, error) {
	a, err := operand()
	for err == nil {
		op, ok := p.is(ops...)
		if !ok {
			return a, nil
		}
		p.next()
		var b value
		if b, err = operand(); err == nil {
			a, err = apply(op, a, b)
		}
	}
	return value{}, err
}

func (p *exprParser) or() (value, error) {
	return p.binary(p.and, func(_ string, a, b value) (value, error) { return boolValue(a.truth() || b.truth()), nil }, "||")
}

func (p *exprParser) and() (value, error) {
	return p.binary(p.comparison, func(_ string, a, b value) (value, error) { return boolValue(a.truth() && b.truth()), nil }, "&&")
}

func (p *exprParser) comparison() (value, error) {
	return p.binary(p.otherwise, p.compare, "==", "!=", "<", "<=", ">", ">=")
}

func (p *exprParser) compare(op string, a, b value) (value, error) {
	if a.kind == text || b.kind == text || a.kind == missing || b.kind == missing {
		same := a.kind == b.kind && a.s == b.s
		switch op {
		case "==":
			return boolValue(same), nil
		case "!=":
			return boolValue(!same), nil
		}
		if a.kind == missing || b.kind == missing {
			return value{}, p.missing()
		}
		return value{}, fmt.Errorf("'%s' does not compare strings", op)
	}
	x, ok1 := a.number()
	y, ok2 := b.number()
	if !ok1 || !ok2 {
		return value{}, fmt.Errorf("'%s' compares numbers", op)
	}
	return boolValue(map[string]bool{"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]), nil
}

func (p *exprParser) otherwise() (value, error) {
	return p.binary(p.sum, func(_ string, a, b value) (value, error) {
		if a.kind != missing {
			return a, nil
		}
		return b, nil
	}, "??")
}

func (p *exprParser) sum() (value, error) { return p.binary(p.term, p.arithmetic, "+", "-") }

func (p *exprParser) term() (value, error) { return p.binary(p.unary, p.arithmetic, "*", "/", "%") }

func (p *exprParser) missing() error {
	if p.gap == "" {
		return errMissing
	}
	return fmt.Errorf("'%s' %w", p.gap, errMissing)
}

func (p *exprParser) arithmetic(op string, a, b value) (value, error) {
	// Nothing in, nothing out, so that "a / b ?? c" works.
	if a.kind == missing || b.kind == missing {
		return value{}, nil
	}
	if a.kind == integer && b.kind == integer {
		return intArithmetic(op, a.i, b.i)
	}
	x, ok1 := a.number()
	y, ok2 := b.number()
	if !ok1 || !ok2 {
		return value{}, fmt.Errorf("'%s' takes numbers, this is %s and %s", op, a, b)
	}
	switch op {
	case "+":
		return value{kind: float, f: x + y}, nil
	case "-":
		return value{kind: float, f: x - y}, nil
	case "*":
		return value{kind: float, f: x * y}, nil
	case "/":
		return value{kind: float, f: x / y}, nil
	}
	return value{}, fmt.Errorf("'%s' takes integers", op)
}

func intArithmetic(op string, a, b int64) (value, error) {
	overflow := fmt.Errorf("%d %s %d is too large", a, op, b)
	switch op {
	case "+":
		s := a + b
		if (s > a) != (b > 0) && b != 0 {
			return value{}, overflow
		}
		return intValue(s), nil
	case "-":
		s := a - b
		if (s < a) != (b > 0) && b != 0 {
			return value{}, overflow
		}
		return intValue(s), nil
	case "*":
		if a != 0 && (a*b/a != b || a == -1 && b == math.MinInt64) {
			return value{}, overflow
		}
		return intValue(a * b), nil
	}
	if b == 0 || a == math.MinInt64 && b == -1 {
		return value{}, fmt.Errorf("%d %s %d is not a number", a, op, b)
	}
	if op == "%" {
		return intValue(a % b), nil
	}
	if a%b != 0 {
		return value{}, fmt.Errorf("%d is no multiple of %d; div() rounds down", a, b)
	}
	return intValue(a / b), nil
}

// maxExprDepth bounds nesting, for rule files come from anywhere.
const maxExprDepth = 100

func (p *exprParser) unary() (value, error) {
	op, ok := p.is("-", "!")
	if !ok {
		return p.primary()
	}
	if p.depth++; p.depth > maxExprDepth {
		return value{}, errors.New("nested too deeply")
	}
	defer func() { p.depth-- }()
	p.next()
	v, err := p.unary()
	switch {
	case err != nil:
		return v, err
	case op == "!":
		return boolValue(!v.truth()), nil
	case v.kind == integer:
		return intArithmetic("-", 0, v.i)
	case v.kind == float:
		return value{kind: float, f: -v.f}, nil
	}
	return value{}, errors.New("'-' takes a number")
}

func (p *exprParser) primary() (value, error) {
	tok, kind := p.tok, p.kind
	switch kind {
	case 'n':
		p.next()
		if i, err := strconv.ParseInt(tok, 10, 64); err == nil {
			return intValue(i), nil
		}
		f, err := strconv.ParseFloat(tok, 64)
		if err != nil {
			return value{}, fmt.Errorf("'%s' is no number", tok)
		}
		return value{kind: float, f: f}, nil
	case 's':
		p.next()
		return value{kind: text, s: tok}, nil
	case 'i':
		p.next()
		if _, call := p.is("("); call {
			return p.call(tok)
		}
		v := p.sc.lookup(tok)
		if v.kind == missing {
			p.gap = tok
		}
		return v, nil
	}
	if _, ok := p.is("("); !ok {
		if tok == "" {
			return value{}, errors.New("it ends too early")
		}
		return value{}, fmt.Errorf("unexpected '%s'", tok)
	}
	if p.depth++; p.depth > maxExprDepth {
		return value{}, errors.New("nested too deeply")
	}
	defer func() { p.depth-- }()
	p.next()
	v, err := p.or()
	if err != nil {
		return v, err
	}
	if _, ok := p.is(")"); !ok {
		return value{}, errors.New("a ')' is missing")
	}
	p.next()
	return v, nil
}

func (p *exprParser) call(name string) (value, error) {
	if p.depth++; p.depth > maxExprDepth {
		return value{}, errors.New("nested too deeply")
	}
	defer func() { p.depth-- }()
	p.next()
	var args []value
	for {
		if _, ok := p.is(")"); ok && len(args) == 0 {
			break
		}
		v, err := p.or()
		if err != nil {
			return value{}, err
		}
		args = append(args, v)
		if _, ok := p.is(","); !ok {
			break
		}
		p.next()
	}
	if _, ok := p.is(")"); !ok {
		return value{}, fmt.Errorf("the arguments of %s have no ')'", name)
	}
	p.next()
	f, ok := functions[name]
	if !ok {
		return value{}, fmt.Errorf("there is no function '%s'", name)
	}
	if f.args >= 0 && len(args) != f.args || len(args) == 0 {
		return value{}, fmt.Errorf("%s takes %d arguments, this is %d", name, max(f.args, 1), len(args))
	}
	if !f.lazy {
		for _, a := range args {
			if a.kind == missing {
				return value{}, nil
			}
		}
	}
	v, err := f.run(p.sc, args)
	if err != nil {
		return value{}, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

type function struct {
	args int // -1: any number
	lazy bool
	run  func(sc scope, args []value) (value, error)
}

var functions = map[string]function{
	"has":      {1, true, func(_ scope, a []value) (value, error) { return boolValue(a[0].kind != missing), nil }},
	"sqrt":     {1, false, func(_ scope, a []value) (value, error) { return floatFunc(a[0], math.Sqrt) }},
	"float":    {1, false, func(_ scope, a []value) (value, error) { return floatFunc(a[0], func(x float64) float64 { return x }) }},
	"max":      {-1, false, func(_ scope, a []value) (value, error) { return extreme(a, func(x, y float64) bool { return x > y }) }},
	"min":      {-1, false, func(_ scope, a []value) (value, error) { return extreme(a, func(x, y float64) bool { return x < y }) }},
	"div":      {2, false, func(_ scope, a []value) (value, error) { return rounded(a, 0, false) }},
	"ceil_div": {2, false, func(_ scope, a []value) (value, error) { return rounded(a, 1, false) }},
	"round_up": {2, false, func(_ scope, a []value) (value, error) { return rounded(a, 1, true) }},
	"first":    {1, false, func(_ scope, a []value) (value, error) { return element(a[0], 0) }},
	"count":    {1, false, func(_ scope, a []value) (value, error) { return intValue(int64(len(a[0].list))), nil }},
	"type": {1, false, func(sc scope, a []value) (value, error) {
		t, _, ok := sc.tensor(a[0].s)
		if !ok {
			return value{}, nil
		}
		return value{kind: text, s: t}, nil
	}},
	"dim": {2, false, func(sc scope, a []value) (value, error) {
		_, dims, ok := sc.tensor(a[0].s)
		if !ok || a[1].kind != integer || a[1].i < 0 || a[1].i >= int64(len(dims)) {
			return value{}, nil
		}
		return intValue(dims[a[1].i]), nil
	}},
}

func floatFunc(v value, f func(float64) float64) (value, error) {
	x, ok := v.number()
	if !ok {
		return value{}, errors.New("takes a number")
	}
	return value{kind: float, f: f(x)}, nil
}

func extreme(args []value, better func(x, y float64) bool) (value, error) {
	var all []value
	for _, a := range args {
		if a.kind == list {
			all = append(all, a.list...)
		} else {
			all = append(all, a)
		}
	}
	var best value
	for _, v := range all {
		x, ok := v.number()
		if !ok {
			return value{}, errors.New("takes numbers")
		}
		if y, _ := best.number(); best.kind == missing || better(x, y) {
			best = v
		}
	}
	return best, nil
}

func rounded(a []value, up int64, multiple bool) (value, error) {
	if a[0].kind != integer || a[1].kind != integer || a[1].i <= 0 || a[0].i < 0 {
		return value{}, errors.New("takes two positive integers")
	}
	q := a[0].i / a[1].i
	if up == 1 && a[0].i%a[1].i != 0 {
		q++
	}
	if multiple {
		return intArithmetic("*", q, a[1].i)
	}
	return intValue(q), nil
}

func element(v value, i int) (value, error) {
	if v.kind != list {
		return v, nil
	}
	if i >= len(v.list) {
		return value{}, nil
	}
	return v.list[i], nil
}
