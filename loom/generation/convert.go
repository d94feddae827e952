package generation

import (
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Convert returns m in the spelling of the generation to. It loads m and leaves
// it unchanged. The list holds what could not be read or converted; when it has
// errors the returned module is nil.
func Convert(m *loom.Module, to Generation) (*loom.Module, diag.List) {
	if l := m.Load(); l.HasErrors() {
		return nil, l
	}
	c := &converter{to: to, mod: m, symbols: make(map[string]*loom.Def, len(m.Defs)), types: map[*loom.Type]*loom.Type{}}
	for _, d := range m.Defs {
		switch d.Kind {
		case loom.DefAlias, loom.DefImport, loom.DefMetadata, loom.DefBenchmark:
		default:
			if d.Name != "" && c.symbols[d.Name] == nil {
				c.symbols[d.Name] = d
			}
		}
	}
	c.findFamilies()
	c.targets()
	out := &loom.Module{Source: m.Source, Tail: m.Tail}
	var dropped *loom.Trivia // of declarations that were left out directly above
	for i, d := range m.Defs {
		if c.drops(d) {
			c.checkDropped(d)
			dropped = joinTrivia(dropped, d.Trivia)
			continue
		}
		n := loom.CloneDef(d)
		n.Trivia, dropped = joinTrivia(dropped, n.Trivia), nil
		var decls []*loom.Def
		for _, f := range c.declare[i] {
			if decl := c.declaration(f); decl != nil {
				decls = append(decls, decl)
			}
		}
		if len(decls) > 0 {
			if len(out.Defs) == 0 {
				decls[0].Trivia, n.Trivia = splitHeader(n.Trivia)
			} else if n.Trivia != nil && n.Trivia.Blank {
				decls[0].Trivia = &loom.Trivia{Blank: true}
			}
			out.Defs = append(out.Defs, decls...)
		}
		c.definition(d, n)
		out.Defs = append(out.Defs, n)
	}
	if dropped != nil {
		out.Tail = joinTrivia(dropped, &loom.Trivia{Blank: len(m.Tail) > 0, Above: m.Tail}).Above
		for len(out.Tail) > 0 && out.Tail[len(out.Tail)-1] == "" {
			out.Tail = out.Tail[:len(out.Tail)-1]
		}
	}
	for i, n := range out.Defs {
		n.Mod, n.Ordinal = out, i
	}
	if c.diags.HasErrors() {
		return nil, c.diags.Sorted()
	}
	return out, c.diags.Sorted()
}

// converter holds one conversion.
type converter struct {
	to      Generation
	mod     *loom.Module         // what is converted
	symbols map[string]*loom.Def // its symbols
	diags   diag.List
	types   map[*loom.Type]*loom.Type

	families map[string]*family
	declare  map[int][]*family   // families to declare above the definition with that ordinal
	mentions map[string]*loom.Op // first op that names each symbol

	src *loom.Def // definition that is being converted, as it was
	at  diag.Span // statement or head that is being converted
}

// refuse reports a construct that the target generation cannot express.
func (c *converter) refuse(sp diag.Span, code, help, format string, args ...any) {
	d := diag.Errorf(sp, code, format, args...)
	if help != "" {
		d = d.WithHelp("%s", help)
	}
	c.diags.Add(d)
}

// find returns the place of a word inside the current statement, or the
// statement's first line when it is not spelled there.
func (c *converter) find(word string) diag.Span { return within(c.at, word) }

func within(sp diag.Span, word string) diag.Span {
	text := sp.Text()
	for at := 0; word != ""; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		at += i
		if at == 0 || strings.IndexByte("%@#^.$_-", text[at-1]) < 0 && !alnum(text[at-1]) {
			start := sp.Start + uint32(at)
			return diag.Span{Src: sp.Src, Start: start, End: start + uint32(len(word))}
		}
		at += len(word)
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		sp.End = sp.Start + uint32(i)
	}
	return sp
}

func alnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// head returns the text of the current definition up to its first region.
func head(d *loom.Def) diag.Span {
	sp := d.Span
	for _, r := range []*loom.Region{d.Config, d.Body} {
		if r != nil && r.Span.Valid() && r.Span.Start > sp.Start {
			sp.End = min(sp.End, r.Span.Start)
		}
	}
	return sp
}

// definition rewrites n, a copy of d, in place.
func (c *converter) definition(d, n *loom.Def) {
	c.src, c.at = d, head(d)
	if c.opaque(d.Kind == loom.DefOpaque, d.Span) {
		return
	}
	c.head(d, n)
	n.Where = c.preds(n.Where)
	c.signature(n)
	if n.ConfigVal != nil {
		n.ConfigVal.Type = c.typ(n.ConfigVal.Type)
	}
	n.ConfigType = c.typ(n.ConfigType)
	n.Init = c.attr(n.Init)
	for i := range n.Attrs {
		n.Attrs[i].Value = c.attr(n.Attrs[i].Value)
	}
	if n.Kind == loom.DefAlias {
		n.Enc = c.aliased(n.Enc)
	}
	n.Regions(c.region)
}

// signature converts the types of parameters and results.
func (c *converter) signature(n *loom.Def) {
	c.values(n.Workload)
	c.values(n.Params)
	for i := range n.Results {
		n.Results[i].Type = c.typ(n.Results[i].Type)
		if v := n.Results[i].Val; v != nil {
			v.Type = n.Results[i].Type
		}
	}
}

func (c *converter) values(vs []*loom.Value) {
	for _, v := range vs {
		v.Type = c.typ(v.Type)
	}
}

func (c *converter) region(r *loom.Region) {
	for _, b := range r.Blocks {
		c.values(b.Args)
		for _, op := range b.Ops {
			c.op(op)
			for _, in := range op.Regions {
				c.region(in)
			}
		}
	}
}

func (c *converter) op(op *loom.Op) {
	c.at = op.Span
	c.at.Start = min(c.at.Start, op.NamePos)
	if len(op.Regions) > 0 {
		if s := op.Regions[0].Span; s.Valid() && s.Start > c.at.Start {
			c.at.End = min(c.at.End, s.Start)
		}
	}
	if c.opaque(op.Def.Traits&loom.Opaque != 0, op.Span) {
		return
	}
	c.values(op.Results)
	for i, a := range op.Attrs {
		op.Attrs[i].Value = c.attr(a.Value)
	}
	name := op.Def.Name
	if help, ok := newerOps[name]; ok && c.to == Old {
		c.refuse(op.NameSpan(), "GENERATION/OP", help, "%s exists in the newer generation only", name)
		return
	}
	if rule := rules[c.to][name]; rule != nil {
		rule(c, op)
	}
}

// opaque reports whether the text at sp is carried verbatim. If it is, and it
// spells something in the other generation, nothing can be done about it.
func (c *converter) opaque(verbatim bool, sp diag.Span) bool {
	if !verbatim {
		return false
	}
	for _, w := range spellings[1-c.to] {
		if strings.Contains(sp.Text(), w) {
			c.refuse(within(sp, w), "GENERATION/OPAQUE", "rewrite it by hand, or move it to a file of its own",
				"loomc carries this text verbatim, so '%s' in it stays in the %s generation's spelling", strings.TrimSuffix(w, "("), (1 - c.to).name())
			break
		}
	}
	return true
}

// spellings are marks of each generation that verbatim text is searched for.
var spellings = [...][]string{
	New: {"multiple_of(", "power_of_two(", "template.apply", "template.call", "#encoding.", "kernel.launch @"},
	Old: {"mul(", "pow2(", "func.apply", "func.template", "#dense", "#strided", "#matrix_operand", "#physical_storage"},
}

// become turns op into the op called name, whose operand fields are the same.
func become(op *loom.Op, name string) { op.Def = dialect.Ops().Lookup(name).Compile() }

func defOp(name string) *loom.OpDef { return dialect.Ops().Lookup(name) }
