package codegen

import (
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// cvar is a C++ variable of the emitted function.
type cvar struct {
	name  string
	ctype string
	defs  []*node // nodes that declare or assign it
	live  bool
}

// node is one statement, or a control statement with its bodies.
type node struct {
	text   string // statement without indentation; may span lines
	span   diag.Span
	above  []string // comment lines printed before
	arms   []*arm   // bodies of a control statement; nil for a plain one
	close  string   // closing text of a control statement
	parent *node
	deps   []*cvar
	uses   []string // prelude names in the text
	ctl    []*node  // statements that live and die with the control statement
	live   bool
}

// arm is one body of a control statement.
type arm struct {
	open string
	kids []*node
	keep bool // printed even when empty, as long as the statement is
}

// identifiers calls f for every identifier of C++ text outside comments and
// string literals.
func identifiers(text string, f func(string)) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isIdentStart(c):
			j := i + 1
			for j < len(text) && isIdentPart(text[j]) {
				j++
			}
			f(text[i:j])
			i = j
		case c >= '0' && c <= '9': // skip suffixes and exponents of numbers
			for i < len(text) && (isIdentPart(text[i]) || text[i] == '.') {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			if j := strings.IndexByte(text[i:], '\n'); j >= 0 {
				i += j
			} else {
				i = len(text)
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			if j := strings.Index(text[i+2:], "*/"); j >= 0 {
				i += j + 4
			} else {
				i = len(text)
			}
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		default:
			i++
		}
	}
}

func isIdentStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isIdentPart(c byte) bool { return isIdentStart(c) || c >= '0' && c <= '9' }

// tree collects nodes in program order.
type tree struct {
	root  *node // holds the function body as its only arm
	at    *arm
	owner *node
	vars  map[string]*cvar
	span  diag.Span
	above []string
	roots []*node
	deps  []*cvar
	uses  []string
}

func newTree() *tree {
	t := &tree{vars: map[string]*cvar{}}
	t.root = &node{arms: []*arm{{}}, live: true}
	t.at, t.owner = t.root.arms[0], t.root
	return t
}

// scan adds to n what a piece of its text reads: variables, and names of the
// prelude. The lists of all nodes share two growing arrays.
func (t *tree) scan(n *node, text string) {
	d, u := len(t.deps), len(t.uses)
	t.deps = append(t.deps, n.deps...)
	t.uses = append(t.uses, n.uses...)
	identifiers(text, func(id string) {
		if len(id) > 5 && (id[:5] == "loom_" || id[:5] == "LOOM_") {
			t.uses = append(t.uses, id)
			return
		}
		if v := t.vars[id]; v != nil && !slices.Contains(t.deps[d:], v) {
			t.deps = append(t.deps, v)
		}
	})
	n.deps, n.uses = slices.Clip(t.deps[d:]), slices.Clip(t.uses[u:])
}

// add appends a statement. def is the variable it declares or assigns, nil for a
// statement that is needed for its effect.
func (t *tree) add(text string, def *cvar) *node {
	n := &node{text: text, span: t.span, above: t.above, parent: t.owner}
	t.scan(n, text)
	t.above = nil
	if def != nil {
		def.defs = append(def.defs, n)
	} else {
		t.roots = append(t.roots, n)
	}
	t.at.kids = append(t.at.kids, n)
	return n
}

// control appends a control statement that is printed only if one of its bodies
// has something to print or it is forced.
func (t *tree) control(close string) *node {
	n := &node{span: t.span, above: t.above, parent: t.owner, close: close, arms: []*arm{}}
	t.above = nil
	t.at.kids = append(t.at.kids, n)
	return n
}

// in runs body with statements going to a new arm of n that starts with open.
func (t *tree) in(n *node, open string, body func()) *arm {
	a := &arm{open: open}
	n.arms = append(n.arms, a)
	t.scan(n, open)
	at, owner := t.at, t.owner
	t.at, t.owner = a, n
	body()
	t.at, t.owner = at, owner
	return a
}

// addControl appends a statement that lives exactly as long as the control
// statement n.
func (t *tree) addControl(n *node, text string) {
	k := &node{text: text, span: t.span, parent: t.owner}
	t.scan(k, text)
	t.at.kids = append(t.at.kids, k)
	n.ctl = append(n.ctl, k)
}

// sweep marks what the statements with effects need.
func (t *tree) sweep() {
	for _, n := range t.roots {
		n.mark()
	}
}

func (n *node) mark() {
	if n == nil || n.live {
		return
	}
	n.live = true
	for _, v := range n.deps {
		v.mark()
	}
	for _, k := range n.ctl {
		k.mark()
	}
	n.parent.mark()
}

func (v *cvar) mark() {
	if v.live {
		return
	}
	v.live = true
	for _, n := range v.defs {
		n.mark()
	}
}

// printer writes live nodes with indentation and line directives.
type printer struct {
	b      []byte
	line   bool // write #line directives
	file   string
	number int          // line the compiler would give the next line of output
	used   func(string) // told every prelude name that is printed
}

func (p *printer) directive(sp diag.Span) {
	if !p.line || !sp.Valid() {
		return
	}
	n, _ := sp.LineCol()
	if p.file == sp.Src.Name && p.number == n {
		return
	}
	p.b = append(p.b, "#line "...)
	p.b = strconv.AppendInt(p.b, int64(n), 10)
	if p.file != sp.Src.Name {
		p.b = append(p.b, ' ')
		p.b = strconv.AppendQuote(p.b, sp.Src.Name)
	}
	p.b = append(p.b, '\n')
	p.file, p.number = sp.Src.Name, n
}

func (p *printer) text(s string, depth int) {
	if s == "" {
		return
	}
	for s != "" {
		var l string
		l, s, _ = strings.Cut(s, "\n")
		if l != "" && l[0] != '#' {
			for range depth {
				p.b = append(p.b, "  "...)
			}
		}
		p.b = append(append(p.b, l...), '\n')
		p.number++
	}
}

func (p *printer) nodes(ns []*node, depth int) {
	for _, n := range ns {
		if !n.live {
			continue
		}
		for _, id := range n.uses {
			p.used(id)
		}
		for _, c := range n.above {
			p.text(c, depth)
		}
		p.directive(n.span)
		if n.arms == nil {
			p.text(n.text, depth)
			continue
		}
		for i, a := range n.arms {
			if i > 0 && !a.keep && !anyLive(a.kids) {
				continue
			}
			p.text(a.open, depth)
			p.nodes(a.kids, depth+1)
		}
		p.text(n.close, depth)
	}
}

func anyLive(ns []*node) bool {
	for _, n := range ns {
		if n.live {
			return true
		}
	}
	return false
}
