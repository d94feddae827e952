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

// chunk is how many nodes, variables and bindings are allocated at a time.
const chunk = 64

// slab allocates values of one type a chunk at a time. They live as long as the
// emitter does.
type slab[T any] struct{ free []T }

func (s *slab[T]) alloc() *T {
	if len(s.free) == 0 {
		s.free = make([]T, chunk)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}

// lists cuts short slices out of shared arrays.
type lists[T any] struct{ free []T }

// keep returns a copy of v that grows into memory of its own.
func (l *lists[T]) keep(v []T) []T {
	if len(v) == 0 {
		return nil
	}
	if len(v) > len(l.free) {
		l.free = make([]T, max(4*chunk, len(v)))
	}
	out := l.free[:len(v):len(v)]
	l.free = l.free[len(v):]
	copy(out, v)
	return out
}

// identifiers calls f for every identifier of C++ text outside comments and
// string literals.
func identifiers(text string, f func(string)) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case class[c] == letter:
			j := i + 1
			for j < len(text) && class[text[j]] != other {
				j++
			}
			f(text[i:j])
			i = j
		case class[c] == digit: // skip suffixes and exponents of numbers
			for i < len(text) && (class[text[i]] != other || text[i] == '.') {
				i++
			}
		case c != '/' && c != '"':
			i++
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

// class says what a byte is in an identifier.
var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = letter
		case c >= '0' && c <= '9':
			t[c] = digit
		}
	}
	return t
}()

const (
	other uint8 = iota
	letter
	digit
)

func isIdentStart(c byte) bool { return class[c] == letter }

func isIdentPart(c byte) bool { return class[c] != other }

// tree collects nodes in program order.
type tree struct {
	root  *node // holds the function body as its only arm
	at    *arm
	owner *node
	names *names
	span  diag.Span
	above []string
	roots []*node
	size  int // bytes of all statements

	// What the text of the current node reads, before it is copied to the node.
	deps []*cvar
	uses []string

	nodes    slab[node]
	depLists lists[*cvar]
	useLists lists[string]
	defLists lists[*node]
}

func newTree(names *names) *tree {
	t := &tree{names: names}
	t.root = &node{arms: []*arm{{}}, live: true}
	t.at, t.owner = t.root.arms[0], t.root
	return t
}

// scan adds to n what a piece of its text reads: variables, and names of the
// prelude.
func (t *tree) scan(n *node, text string) {
	t.size += len(text)
	t.deps = append(t.deps[:0], n.deps...)
	t.uses = append(t.uses[:0], n.uses...)
	identifiers(text, func(id string) {
		if len(id) > 5 && (id[:5] == "loom_" || id[:5] == "LOOM_") {
			if !slices.Contains(t.uses, id) {
				t.uses = append(t.uses, id)
			}
			return
		}
		if v := t.names.variable(id); v != nil && !slices.Contains(t.deps, v) {
			t.deps = append(t.deps, v)
		}
	})
	n.deps, n.uses = t.depLists.keep(t.deps), t.useLists.keep(t.uses)
}

// newNode makes a node for a statement at the current place.
func (t *tree) newNode() *node {
	n := t.nodes.alloc()
	n.span, n.parent = t.span, t.owner
	return n
}

// define notes that n declares or assigns v.
func (t *tree) define(v *cvar, n *node) {
	if v.defs == nil {
		v.defs = t.defLists.keep([]*node{n})
		return
	}
	v.defs = append(v.defs, n)
}

// add appends a statement. def is the variable it declares or assigns, nil for a
// statement that is needed for its effect.
func (t *tree) add(text string, def *cvar) *node {
	n := t.newNode()
	n.text, n.above = text, t.above
	t.scan(n, text)
	t.above = nil
	if def != nil {
		t.define(def, n)
	} else {
		t.roots = append(t.roots, n)
	}
	t.at.kids = append(t.at.kids, n)
	return n
}

// control appends a control statement that is printed only if one of its bodies
// has something to print or it is forced.
func (t *tree) control(close string) *node {
	n := t.newNode()
	n.above, n.close, n.arms = t.above, close, []*arm{}
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
	k := t.newNode()
	k.text = text
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
