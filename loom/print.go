package loom

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Print returns the canonical text of m: two-space indentation, one statement
// per line, single spaces, comments and blank-line grouping kept. Parsing the
// result and printing again gives the same bytes.
func Print(m *Module) []byte {
	var p printer
	if m.Source != nil { // canonical text is about as long as what was written
		n := len(m.Source.Text)
		p.b = make([]byte, 0, n+n/16+256)
	}
	for i, d := range m.Defs {
		p.def(d, i == 0)
	}
	if len(m.Tail) > 0 {
		if len(m.Defs) > 0 {
			p.b = append(p.b, '\n')
		}
		p.comments(m.Tail)
	}
	return p.b
}

// PrintDef returns the canonical text of one definition.
func PrintDef(d *Def) []byte {
	var p printer
	p.def(d, true)
	return p.b
}

// PrintOp returns the canonical text of one op, without its comments.
func PrintOp(o *Op) string {
	var p printer
	p.op(o)
	return string(bytes.TrimRight(p.b, "\n"))
}

type printer struct {
	b     []byte
	depth int
}

func (p *printer) s(s string) { p.b = append(p.b, s...) }

func (p *printer) line() {
	for range p.depth {
		p.b = append(p.b, ' ', ' ')
	}
}

func (p *printer) comments(lines []string) {
	for _, l := range lines {
		if l == "" {
			p.b = append(p.b, '\n')
			continue
		}
		p.line()
		p.s(l)
		p.b = append(p.b, '\n')
	}
}

func (p *printer) above(t *Trivia, first bool) {
	if t == nil {
		return
	}
	if t.Blank && !first {
		p.b = append(p.b, '\n')
	}
	p.comments(t.Above)
}

func (p *printer) end(t *Trivia) {
	if t != nil {
		if t.Loc != "" {
			p.s(" ")
			p.s(t.Loc)
		}
		if t.Behind != "" {
			p.s("  ")
			p.s(t.Behind)
		}
	}
	p.b = append(p.b, '\n')
}

func (p *printer) value(v *Value) { p.b = append(append(p.b, '%'), v.Name...) }

func (p *printer) values(vs []*Value) {
	for i, v := range vs {
		if i > 0 {
			p.s(", ")
		}
		p.value(v)
	}
}

func (p *printer) typ(t *Type) { p.b = t.Append(p.b) }

func (p *printer) types(vs []*Value) {
	for i, v := range vs {
		if i > 0 {
			p.s(", ")
		}
		p.typ(v.Type)
	}
}

// Definitions.

func (p *printer) def(d *Def, first bool) {
	p.above(d.Trivia, first)
	switch d.Kind {
	case DefAlias:
		p.s("#")
		p.s(d.Name)
		p.s(" = ")
		p.b = d.Enc.Append(p.b)
	case DefOpaque:
		p.s(strings.ReplaceAll(d.Span.Text(), "\r\n", "\n"))
	case DefConfigDecl:
		p.s("config.decl @")
		p.s(d.Name)
		p.s(" : ")
		if d.ConfigVal != nil {
			p.value(d.ConfigVal)
			p.s(": ")
		}
		p.typ(d.ConfigType)
		p.where(d.Where)
	case DefConfigDef:
		p.s("config.def @")
		p.s(d.Name)
		p.s(" = ")
		p.b = d.Init.Append(p.b)
		p.s(" : ")
		p.typ(d.ConfigType)
	case DefTarget, DefTargetDecl:
		p.s(d.Op.Name)
		if d.Selector != "" {
			p.s("<")
			p.s(d.Selector)
			p.s(">")
		}
		p.s(" @")
		p.s(d.Name)
		p.dict(d.Attrs)
	case DefKernel, DefKernelDecl:
		p.kernel(d)
	case DefGlobal:
		p.s(d.Op.Name)
		p.s(" @")
		p.s(d.Name)
		p.s(" : ")
		p.typ(d.ConfigType)
		p.where(d.Where)
		if d.Init.Kind != AttrNone {
			p.s(" = ")
			p.b = d.Init.Append(p.b)
		}
	case DefCheckCase:
		p.s("check.case ")
		if d.Mods.Public {
			p.s("public ")
		}
		p.s("@")
		p.s(d.Name)
		p.s(" ")
		p.region(d.Body)
	case DefBenchmark:
		p.s("check.benchmark<@")
		p.s(d.Family)
		p.s(">")
		if d.Name != "" {
			p.s(" @")
			p.s(d.Name)
		}
		p.dict(d.Attrs)
	case DefImport:
		p.s("module.import ")
		p.b = AppendQuoted(p.b, d.Name)
		if len(d.Attrs) > 0 {
			p.s(" [")
			for i, a := range d.Attrs {
				if i > 0 {
					p.s(", ")
				}
				p.s("@")
				p.s(a.Name)
			}
			p.s("]")
		}
	case DefMetadata:
		p.s("metadata.module ")
		p.b = AppendQuoted(p.b, d.Name)
		p.s(" = ")
		p.b = d.Init.Append(p.b)
	default:
		p.callable(d)
	}
	p.end(d.Trivia)
}

func (p *printer) dict(attrs []NamedAttr) {
	if len(attrs) > 0 {
		p.b = AppendDict(append(p.b, ' '), attrs)
	}
}

func (p *printer) where(ps []Predicate) {
	if len(ps) > 0 {
		p.s(" where ")
		p.b = AppendPreds(p.b, ps)
	}
}

func (p *printer) mods(m *Mods) {
	word := func(ok bool, w string) {
		if ok {
			p.s(w)
			p.s(" ")
		}
	}
	word(m.Public, "public")
	word(m.Retain, "retain")
	if m.HasImport {
		p.s("import(")
		p.b = AppendQuoted(p.b, m.ImportModule)
		if m.ImportSymbol != "" {
			p.s(", ")
			p.b = AppendQuoted(p.b, m.ImportSymbol)
		}
		p.s(") ")
	}
	word(m.CC != "", m.CC)
	word(m.Pure, "pure")
	word(m.Temperature != "", m.Temperature)
	word(m.Inline != "", m.Inline)
	word(m.Target != "", "target(@"+m.Target+")")
	if m.ABI != "" {
		p.s("abi(")
		p.s(m.ABI)
		if m.ABIAttrs != nil {
			p.b = AppendDict(append(p.b, ',', ' '), m.ABIAttrs)
		}
		p.s(") ")
	}
	if len(m.Requires) > 0 {
		p.s("requires [")
		for i, r := range m.Requires {
			if i > 0 {
				p.s(", ")
			}
			p.b = r.Append(p.b)
		}
		p.s("] ")
	}
	if m.HasExport {
		p.s("export(")
		p.b = AppendQuoted(p.b, m.Export)
		if m.ExportAttrs != nil {
			p.b = AppendDict(append(p.b, ',', ' '), m.ExportAttrs)
		}
		p.s(") ")
	}
	if m.HasPriority {
		p.s("priority(")
		p.b = strconv.AppendInt(p.b, m.Priority, 10)
		p.s(") ")
	}
	word(m.Linkage != "", "linkage("+m.Linkage+")")
}

func (p *printer) params(vs []*Value) {
	p.s("(")
	for i, v := range vs {
		if i > 0 {
			p.s(", ")
		}
		p.value(v)
		p.s(": ")
		p.typ(v.Type)
	}
	p.s(")")
}

func (p *printer) callable(d *Def) {
	p.s(d.Op.Name)
	if d.Family != "" {
		p.s("<")
		if !d.OldForm {
			p.s("@")
		}
		p.s(d.Family)
		p.s(">")
	}
	p.s(" ")
	p.mods(&d.Mods)
	p.s("@")
	p.s(d.Name)
	p.params(d.Params)
	if len(d.Results) > 0 {
		p.s(" -> (")
		for i, r := range d.Results {
			if i > 0 {
				p.s(", ")
			}
			switch {
			case r.Tied != nil:
				p.value(r.Tied)
				p.s(" as ")
			case r.Val != nil:
				p.value(r.Val)
				p.s(": ")
			}
			p.typ(r.Type)
		}
		p.s(")")
	}
	p.where(d.Where)
	if d.Body != nil {
		p.s(" ")
		p.region(d.Body)
	}
}

func (p *printer) kernel(d *Def) {
	p.s(d.Op.Name)
	p.s(" ")
	p.mods(&d.Mods)
	p.s("@")
	p.s(d.Name)
	p.params(d.Workload)
	p.s(" ")
	if d.Config != nil {
		p.region(d.Config)
		p.s(" ")
	}
	p.s("launch")
	p.params(d.Params)
	p.where(d.Where)
	if d.Body != nil {
		p.s(" ")
		p.region(d.Body)
	}
}

// Regions and ops.

func (p *printer) region(r *Region) {
	p.s("{\n")
	for i, b := range r.Blocks {
		if b.Label != "" {
			p.comments(b.Above)
			p.line()
			p.s("^")
			p.s(b.Label)
			if i > 0 && len(b.Args) > 0 {
				p.params(b.Args)
			} else if i == 0 && len(b.Args) > 0 && r.Op == nil {
				p.params(b.Args)
			}
			p.s(":\n")
		}
		p.depth++
		for j, o := range b.Ops {
			p.above(o.Trivia, j == 0)
			p.line()
			p.op(o)
			p.end(o.Trivia)
		}
		p.depth--
	}
	p.depth++
	p.comments(r.Inner)
	p.depth--
	p.line()
	p.s("}")
}

func (p *printer) op(o *Op) {
	if len(o.Results) > 0 {
		p.values(o.Results)
		p.s(" = ")
	}
	p.s(o.Def.Name)
	if o.Def.Traits&Opaque != 0 {
		t := o.Attr("text").Str
		if t != "" && t[0] != '<' && t[0] != '(' {
			p.s(" ")
		}
		p.s(t)
		return
	}
	st := opPrinter{p: p, op: o}
	st.elems(o.Def.Compile().Elems)
}

// opPrinter walks an op's assembly format.
type opPrinter struct {
	p      *printer
	op     *Op
	region int
	succ   int
}

func (s *opPrinter) elems(es []Elem) {
	for i := range es {
		e := &es[i]
		if !s.present(e) {
			continue
		}
		p, o := s.p, s.op
		if e.Space && e.Kind != ElemCustom && e.Kind != ElemGroup {
			p.s(" ")
		}
		switch e.Kind {
		case ElemLit:
			p.s(e.Name)
		case ElemOperand, ElemOperands:
			p.values(o.fieldAt(e.Field))
		case ElemIndices:
			s.indices(e)
		case ElemDict:
			s.dict(func(name string) bool { return !o.InDict(name) })
		case ElemType, ElemTypes:
			s.types(e)
		case ElemParams:
			s.params(e)
		case ElemAttr:
			p.b = o.Attr(e.Name).Append(p.b)
		case ElemFlag:
			p.s(o.Word(e.Name))
		case ElemSymbol:
			p.b = o.Attr(e.Name).Append(p.b)
		case ElemSucc:
			s.successor()
		case ElemRegion:
			p.region(o.Regions[s.region])
			s.region++
		case ElemGroup:
			s.elems(e.Group)
		case ElemCustom:
			s.custom(e)
		}
	}
}

// present reports whether an element has something to print.
func (s *opPrinter) present(e *Elem) bool {
	o := s.op
	switch e.Kind {
	case ElemOperand, ElemOperands:
		return len(o.fieldAt(e.Field)) > 0
	case ElemParams:
		return o.Has(e.Params[0].Name) || !e.Optional
	case ElemAttr, ElemFlag, ElemSymbol:
		return o.Has(e.Name)
	case ElemDict:
		return slices.ContainsFunc(o.Attrs, func(a NamedAttr) bool { return o.InDict(a.Name) })
	case ElemRegion:
		return s.region < len(o.Regions)
	case ElemTypes:
		if e.Field >= 0 {
			return len(o.fieldAt(e.Field)) > 0
		}
		return len(o.Results) > 0
	case ElemGroup:
		for i := range e.Group {
			if g := &e.Group[i]; g.Kind != ElemLit {
				return s.present(g)
			}
		}
	}
	return true
}

// dict prints the attributes that skip does not name as "{k = v, …}".
func (s *opPrinter) dict(skip func(name string) bool) {
	p := s.p
	p.s("{")
	first := true
	for i := range s.op.Attrs {
		a := &s.op.Attrs[i]
		if skip(a.Name) {
			continue
		}
		if !first {
			p.s(", ")
		}
		first = false
		p.s(a.Name)
		p.s(" = ")
		p.b = a.Value.Append(p.b)
	}
	p.s("}")
}

// InDict reports whether the attribute called name stands in o's dictionary:
// the format prints it nowhere else.
func (o *Op) InDict(name string) bool {
	return !slices.Contains(o.Def.placed, name) && !internalAttr(name)
}

// internalAttr reports whether an attribute belongs to a custom format piece.
func internalAttr(name string) bool {
	switch name {
	case "old", "tied", "parameter_names", "cases", "keys", "aligns", "unroll", "schedule":
		return true
	}
	return false
}

func (s *opPrinter) indices(e *Elem) {
	p := s.p
	p.s("[")
	dyn := s.op.fieldAt(e.Field)
	for i, n := range s.op.Attr(e.Name).Ints() {
		if i > 0 {
			p.s(", ")
		}
		if n == DynamicIndex && len(dyn) > 0 {
			p.value(dyn[0])
			dyn = dyn[1:]
		} else {
			p.b = strconv.AppendInt(p.b, n, 10)
		}
	}
	p.s("]")
}

// types prints the type of an operand field or of the results a field stands
// for.
func (s *opPrinter) types(e *Elem) {
	if e.Field >= 0 {
		s.p.types(s.op.fieldAt(e.Field))
		return
	}
	if e.Kind == ElemTypes {
		rs := s.op.Results[^e.Field:]
		if s.op.Def.OneType && sameType(rs) {
			rs = rs[:min(1, len(rs))]
		}
		s.p.types(rs)
		return
	}
	if r := ^e.Field; r < len(s.op.Results) {
		s.p.typ(s.op.Results[r].Type)
	}
}

func sameType(vs []*Value) bool {
	for _, v := range vs {
		if !v.Type.Equal(vs[0].Type) {
			return false
		}
	}
	return true
}

func (s *opPrinter) params(e *Elem) {
	p := s.p
	p.s("<")
	n := 0
	for i := range e.Params {
		a := s.op.Attr(e.Params[i].Name)
		if a.Kind == AttrNone {
			continue
		}
		if n > 0 {
			p.s(", ")
		}
		n++
		if e.Params[i].Kind == "pattern" {
			for j, d := range a.Dict() {
				if j > 0 {
					p.s(", ")
				}
				p.s(d.Name)
				p.s(" = ")
				p.b = d.Value.Append(p.b)
			}
			continue
		}
		p.b = a.Append(p.b)
	}
	p.s(">")
}

func (s *opPrinter) successor() {
	p := s.p
	su := s.op.Succs[s.succ]
	s.succ++
	p.s("^")
	p.s(su.Dest.Label)
	if len(su.Args) > 0 {
		p.params(su.Args)
	}
}

func (s *opPrinter) custom(e *Elem) {
	p, o := s.p, s.op
	space := func() {
		if e.Space {
			p.s(" ")
		}
	}
	switch e.Name {
	case "iv":
		p.s(" ")
		p.value(o.Regions[0].Blocks[0].Args[0])
	case "binds":
		inits := o.Field("iter_args")
		if len(inits) == 0 {
			return
		}
		args := o.Regions[0].Blocks[0].Args
		args = args[len(args)-len(inits):]
		p.s("(")
		for i, v := range inits {
			if i > 0 {
				p.s(", ")
			}
			p.value(args[i])
			p.s(" = ")
			p.value(v)
			p.s(" : ")
			p.typ(args[i].Type)
		}
		p.s(")")
	case "results":
		s.results()
	case "loophints":
		if d := o.Operand("pipeline_depth"); d != nil {
			p.s(" pipeline(%" + d.Name + ")")
		}
		if u := o.Operand("unroll_factor"); u != nil {
			p.s(" unroll(%" + u.Name + ")")
		} else if o.Has("unroll") {
			p.s(" unroll")
		}
		if w := o.Word("schedule"); w != "" {
			p.s(" schedule(" + w + ")")
		}
	case "blockargs":
		if args := o.Regions[1].Blocks[0].Args; len(args) > 0 {
			p.params(args)
		}
	case "cases":
		p.s(" {\n")
		p.depth++
		for i, k := range o.Attr("cases").Ints() {
			p.line()
			p.s("case ")
			p.b = strconv.AppendInt(p.b, k, 10)
			p.s(" ")
			p.region(o.Regions[i])
			p.s("\n")
		}
		p.line()
		p.s("default ")
		p.region(o.Regions[len(o.Regions)-1])
		p.s("\n")
		p.depth--
		p.line()
		p.s("}")
	case "rows":
		s.rows()
	case "args":
		p.s("(")
		p.values(o.Field("operands"))
		p.s(")")
		if o.Def.Name == "func.apply" || o.Def.Name == "template.apply" {
			for _, w := range []string{"pure", "temperature", "inline"} {
				if t := o.Word(w); t != "" {
					p.s(" " + t)
				}
			}
		}
		p.s(" : (")
		p.types(o.Field("operands"))
		p.s(")")
		s.results()
	case "launch":
		w := o.Field("workload")
		if len(w) > 0 {
			p.s("[")
			p.values(w)
			p.s("]")
		}
		p.s("(")
		p.values(o.Field("operands"))
		p.s(") : ")
		if len(w) > 0 {
			p.s("[")
			p.types(w)
			p.s("]")
		}
		p.s("(")
		p.types(o.Field("operands"))
		p.s(")")
		s.results()
	case "barrier":
		p.s("<" + o.Word("memory_space") + ">")
		if o.Has("old") {
			s.optionalDict("memory_space")
			return
		}
		for _, w := range []string{"scope", "ordering"} {
			if t := o.Word(w); t != "" {
				p.s(" " + w + "(" + t + ")")
			}
		}
	case "alloca":
		if o.Has("old") {
			p.s(" ")
			p.value(o.Operand("byte_length"))
			s.optionalDict("")
			return
		}
		p.s("<" + o.Word("memory_space") + ">")
		if a := o.Attr("base_alignment"); a.Kind == AttrInt {
			p.s(" align(")
			p.b = strconv.AppendInt(p.b, a.Int, 10)
			p.s(")")
		}
		p.s(" ")
		p.value(o.Operand("byte_length"))
	case "pack":
		p.s(" [")
		aligns := o.Attr("aligns").Ints()
		for i, v := range o.Field("lengths") {
			if i > 0 {
				p.s(", ")
			}
			p.s("align(")
			p.b = strconv.AppendInt(p.b, aligns[i], 10)
			p.s(") ")
			p.value(v)
		}
		p.s("]")
	case "isatype":
		p.s(" : ")
		if o.Has("category") {
			p.types(o.Results)
		} else {
			p.types(o.Operands[:1])
		}
	case "edict", "using":
		vs := o.Field("parameters")
		if len(vs) == 0 {
			return
		}
		space()
		if e.Name == "using" {
			p.s("using ")
		}
		p.s("{")
		for i, n := range o.Attr("parameter_names").List() {
			if i > 0 {
				p.s(", ")
			}
			p.s(n.Str)
			p.s(" = ")
			p.value(vs[i])
			p.s(" : ")
			p.typ(vs[i].Type)
		}
		p.s("}")
	}
}

// optionalDict prints " {…}" with the attributes other than the one called
// placed, if there are any.
func (s *opPrinter) optionalDict(placed string) {
	skip := func(name string) bool { return name == placed || name == "old" }
	if slices.ContainsFunc(s.op.Attrs, func(a NamedAttr) bool { return !skip(a.Name) }) {
		s.p.s(" ")
		s.dict(skip)
	}
}

func (s *opPrinter) results() {
	p, o := s.p, s.op
	if len(o.Results) == 0 {
		return
	}
	tied := o.Attr("tied").Ints()
	p.s(" -> (")
	for i, r := range o.Results {
		if i > 0 {
			p.s(", ")
		}
		if i < len(tied) && tied[i] >= 0 {
			p.value(o.Operands[tied[i]])
			p.s(" as ")
		}
		p.typ(r.Type)
	}
	p.s(")")
}

func (s *opPrinter) rows() {
	p, o := s.p, s.op
	keys := o.Attr("keys").Ints()
	vs := o.Field("values")
	w := len(vs) / (len(keys) + 1)
	row := func(i int) {
		p.s("(")
		p.values(vs[i*w : (i+1)*w])
		p.s(")")
	}
	p.s(" {\n")
	p.depth++
	for i, k := range keys {
		p.line()
		p.b = strconv.AppendInt(p.b, k, 10)
		p.s(" = ")
		row(i)
		if i < len(keys)-1 {
			p.s(",")
		}
		p.s("\n")
	}
	p.depth--
	p.line()
	p.s("} default")
	row(len(keys))
}
