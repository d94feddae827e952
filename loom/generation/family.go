package generation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
)

// family is a key of the older generation, or a family symbol of the newer one,
// with everything in the module that belongs to it.
type family struct {
	name     string
	declared *loom.Def   // template.decl or func.provider.decl
	impls    []*loom.Def // implementations in order
	applies  []*loom.Op
}

// findFamilies collects the families that the conversion touches and decides
// where the newer generation's declarations go: above the first definition that
// mentions the family.
func (c *converter) findFamilies() {
	c.families, c.declare, c.mentions = map[string]*family{}, map[int][]*family{}, map[string]*loom.Op{}
	for i, d := range c.mod.Defs {
		get := func(name string) *family {
			f := c.families[name]
			if f == nil {
				f = &family{name: name}
				c.families[name] = f
				if c.to == New && d.Kind != loom.DefTemplateDecl {
					c.declare[i] = append(c.declare[i], f)
				}
			}
			return f
		}
		mine := d.OldForm == (c.to == New)
		switch {
		case d.IsTemplate() && mine:
			f := get(d.Family)
			f.impls = append(f.impls, d)
		case d.Kind == loom.DefTemplateDecl && mine:
			name := d.Name
			if d.OldForm {
				name = d.Family
			}
			get(name).declared = d
		}
		d.Walk(func(op *loom.Op) bool {
			switch n := op.Def.Name; {
			case n == "func.apply" && c.to == New:
				f := get(op.Word("contract"))
				f.applies = append(f.applies, op)
			case n != "template.apply":
				for _, a := range op.Attrs {
					if a.Value.Kind == loom.AttrSymbol && c.mentions[a.Value.Str] == nil {
						c.mentions[a.Value.Str] = op
					}
				}
			}
			return true
		})
	}
	c.clashes()
}

// first returns a place that names the family.
func (f *family) first() diag.Span {
	switch {
	case f.declared != nil:
		return f.declared.NameSpan
	case len(f.impls) > 0:
		return within(head(f.impls[0]), f.name)
	}
	return within(f.applies[0].Span, f.name)
}

// clashes reports families whose name means something else in the other
// generation's name space already.
func (c *converter) clashes() {
	for i, d := range c.mod.Defs {
		for _, f := range c.declare[i] {
			if o := c.symbols[f.name]; o != nil {
				c.diags.Add(taken(f.first(), f.name, o))
			}
		}
		if d.Kind == loom.DefTemplateDecl && d.OldForm && c.to == New {
			if o := c.symbols[d.Family]; o != nil && o != d {
				c.diags.Add(taken(d.NameSpan, d.Family, o))
			}
		}
		if c.to != Old {
			continue
		}
		if d.IsTemplate() && d.OldForm || d.Kind == loom.DefTemplateDecl && d.OldForm {
			if f := c.families[d.Family]; f != nil {
				c.diags.Add(diag.Errorf(f.first(), "GENERATION/NAME", "the key of family '@%s' would be '%s', which is in use", f.name, f.name).
					WithRelated(d.NameSpan, "'@%s' implements the key", d.Name).
					WithHelp("rename the key or the family, in every file that uses it"))
			}
		}
		if d.IsTemplate() && !d.OldForm {
			c.spellKey(d.Family, within(head(d), "@"+d.Family))
		}
	}
}

func taken(at diag.Span, key string, by *loom.Def) diag.Diagnostic {
	return diag.Errorf(at, "GENERATION/NAME", "the family of key '%s' would be called '@%s', which is taken", key, key).
		WithRelated(by.NameSpan, "'@%s' is defined here", by.Name).
		WithHelp("rename the key or the symbol, in every file that uses it")
}

// spellKey reports a family symbol that cannot be written as a dotted key.
func (c *converter) spellKey(name string, at diag.Span) {
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' || part[0] == '-' || strings.HasSuffix(part, "-") {
			c.refuse(at, "GENERATION/NAME", "rename the family", "family '@%s' cannot be written as a key: '%s' is not a word", name, part)
			return
		}
	}
}

// drops reports whether d has no place in the target generation and is left out:
// the declaration of a family, which the older generation implies.
func (c *converter) drops(d *loom.Def) bool { return c.to == Old && d.Kind == loom.DefTemplateDecl }

// checkDropped reports what would be lost with a family's declaration.
func (c *converter) checkDropped(d *loom.Def) {
	c.at = head(d)
	m := &d.Mods
	const help = "move the condition to every implementation of the family"
	switch {
	case len(m.Requires) > 0:
		c.refuse(c.find("requires"), "GENERATION/FAMILY", "select by target record instead", "the older generation has no family declaration that could require something")
	case m.Target != "":
		c.refuse(c.find("target("), "GENERATION/FAMILY", help, "the older generation has no family declaration that could name a target")
	case len(d.Where) > 0:
		c.refuse(d.Where[0].Span, "GENERATION/FAMILY", help, "the older generation has no family declaration that could have conditions")
	case m.Retain:
		c.refuse(c.find("retain"), "GENERATION/MODIFIER", "drop it", "the older generation has no modifier 'retain'")
	}
	name := d.Name
	if d.OldForm {
		return
	}
	c.spellKey(name, d.NameSpan)
	if op := c.mentions[name]; op != nil {
		c.diags.Add(diag.Errorf(within(op.Span, "@"+name), "GENERATION/FAMILY", "%s names the family '@%s', which is no symbol in the older generation", op.Def.Name, name).
			WithRelated(d.NameSpan, "the family is declared here").
			WithHelp("name an implementation, or a function that applies the family"))
	}
}

// declaration makes the template.decl of a family from its first implementation,
// or from how it is applied when the module implements it nowhere. It returns
// nil when they do not agree on a signature, or the family is declared.
func (c *converter) declaration(f *family) *loom.Def {
	if f.declared != nil || c.symbols[f.name] != nil {
		return nil
	}
	c.at = f.first()
	var n *loom.Def
	if len(f.impls) > 0 {
		n = c.fromImplementations(f)
	} else {
		n = c.fromApplications(f)
	}
	if n == nil {
		return nil
	}
	n.Kind, n.Op, n.Name, n.Visible = loom.DefTemplateDecl, defOp("template.decl"), f.name, true
	n.Span, n.NameSpan = c.at, c.at
	// What cannot be converted is reported where the signature was taken from.
	quiet := &converter{to: c.to, types: map[*loom.Type]*loom.Type{}}
	quiet.signature(n)
	return n
}

func (c *converter) fromImplementations(f *family) *loom.Def {
	base := f.impls[0]
	mods := loom.Mods{Pure: true, CC: base.Mods.CC}
	for _, d := range f.impls {
		mods.Pure = mods.Pure && d.Mods.Pure
		if d.Mods.CC != mods.CC {
			mods.CC = ""
		}
		if what := difference(base, d); what != "" {
			c.diags.Add(diag.Errorf(d.NameSpan, "GENERATION/FAMILY", "the implementations of '%s' have no common signature to declare the family with: %s", f.name, what).
				WithRelated(base.NameSpan, "'@%s' is the first implementation", base.Name).
				WithHelp("give the implementations keys of their own, by signature"))
			return nil
		}
	}
	for _, op := range f.applies {
		if !fits(op, base) {
			c.diags.Add(diag.Errorf(op.NameSpan(), "GENERATION/FAMILY", "this application of '%s' does not fit the signature the family would be declared with", f.name).
				WithRelated(base.NameSpan, "taken from '@%s', its first implementation", base.Name).
				WithHelp("give it a key of its own"))
			return nil
		}
		if op.Has("pure") && !mods.Pure {
			c.diags.Add(diag.Errorf(op.NameSpan(), "GENERATION/FAMILY", "'%s' is applied as pure, but not every implementation is declared pure", f.name).
				WithRelated(base.NameSpan, "'@%s' implements it", base.Name).
				WithHelp("declare the implementations pure, or drop the word here"))
			return nil
		}
	}
	n := loom.CloneDef(&loom.Def{Params: base.Params, Results: base.Results})
	n.Mods = mods
	return n
}

// difference says in which way two implementations cannot share a declaration:
// another number of parameters or results, or types that literally differ. ""
// means they can.
func difference(a, b *loom.Def) string {
	switch {
	case len(a.Params) != len(b.Params):
		return strconv.Itoa(len(a.Params)) + " and " + strconv.Itoa(len(b.Params)) + " parameters"
	case len(a.Results) != len(b.Results):
		return strconv.Itoa(len(a.Results)) + " and " + strconv.Itoa(len(b.Results)) + " results"
	}
	for i, p := range a.Params {
		if q := b.Params[i]; differ(p.Type, q.Type) {
			return "parameter " + strconv.Itoa(i+1) + " is " + p.Type.String() + " and " + q.Type.String()
		}
	}
	for i, r := range a.Results {
		s := b.Results[i]
		if differ(r.Type, s.Type) {
			return "result " + strconv.Itoa(i+1) + " is " + r.Type.String() + " and " + s.Type.String()
		}
		if tiedTo(a, i) != tiedTo(b, i) {
			return "result " + strconv.Itoa(i+1) + " is tied to another parameter"
		}
	}
	return ""
}

func tiedTo(d *loom.Def, result int) int { return slices.Index(d.Params, d.Results[result].Tied) }

// differ reports whether no choice of SSA extents makes the two types one.
func differ(a, b *loom.Type) bool {
	if a.Kind != b.Kind || a.Elem != b.Elem || a.Name != b.Name || len(a.Dims) != len(b.Dims) {
		return true
	}
	for i := range a.Dims {
		if a.Dims[i].Val == nil && b.Dims[i].Val == nil && a.Dims[i].Size != b.Dims[i].Size {
			return true
		}
	}
	if a.EncVal != nil || b.EncVal != nil {
		return false
	}
	return !a.Enc.Equal(b.Enc) && !(a.Enc.IsDense() && b.Enc.IsDense())
}

// fits reports whether an application can be one of d's signature.
func fits(op *loom.Op, d *loom.Def) bool {
	args := op.Field("operands")
	if len(args) != len(d.Params) || len(op.Results) != len(d.Results) {
		return false
	}
	for i, v := range args {
		if differ(v.Type, d.Params[i].Type) {
			return false
		}
	}
	for i, v := range op.Results {
		if differ(v.Type, d.Results[i].Type) {
			return false
		}
	}
	return true
}

// fromApplications derives a signature from the operands and results of the
// module's applications: an SSA extent must be one of the operands, because a
// declaration knows no other values.
func (c *converter) fromApplications(f *family) *loom.Def {
	var n *loom.Def
	text := ""
	for i, op := range f.applies {
		d, missing := applied(op)
		if missing != "" {
			c.refuse(within(op.Span, missing), "GENERATION/FAMILY", "declare the family by hand: template.decl @"+f.name+"(…)",
				"'%s' is implemented elsewhere, and its signature cannot be told from here: '%s' in its types is not exactly one of the operands", f.name, missing)
			return nil
		}
		d.Mods.Pure = op.Has("pure")
		t := string(loom.PrintDef(d))
		switch {
		case i == 0:
			n, text = d, t
		case n.Mods.Pure != d.Mods.Pure:
			n.Mods.Pure = true
			text = string(loom.PrintDef(n))
			fallthrough
		default:
			d.Mods.Pure = n.Mods.Pure
			if string(loom.PrintDef(d)) != text {
				c.diags.Add(diag.Errorf(op.NameSpan(), "GENERATION/FAMILY", "'%s' is implemented elsewhere, and its applications here have different signatures", f.name).
					WithRelated(f.applies[0].NameSpan(), "first applied here").
					WithHelp("declare the family by hand: template.decl @%s(…)", f.name))
				return nil
			}
		}
	}
	nameParams(n, f.applies[0])
	return n
}

// applied makes a declaration from an application, with numbered parameters.
// missing names a value in a type that is not exactly one of the operands.
func applied(op *loom.Op) (d *loom.Def, missing string) {
	d = &loom.Def{Kind: loom.DefTemplateDecl, Op: defOp("template.decl"), Name: "f"}
	args := op.Field("operands")
	formal := map[*loom.Value]*loom.Value{}
	twice := map[*loom.Value]bool{}
	for i, a := range args {
		p := &loom.Value{Name: "p" + strconv.Itoa(i), Index: int32(i)}
		d.Params = append(d.Params, p)
		twice[a] = formal[a] != nil
		formal[a] = p
	}
	mapped := func(t *loom.Type) *loom.Type {
		return t.Map(func(v *loom.Value) *loom.Value {
			p := formal[v]
			if p == nil || twice[v] {
				missing = "%" + v.Name
				return v
			}
			return p
		})
	}
	for i, a := range args {
		d.Params[i].Type = mapped(a.Type)
	}
	tied := op.Attr("tied").Ints()
	for i, r := range op.Results {
		res := loom.Result{Type: mapped(r.Type)}
		if i < len(tied) && tied[i] >= 0 && int(tied[i]) < len(d.Params) {
			res.Tied = d.Params[tied[i]]
		}
		d.Results = append(d.Results, res)
	}
	return d, missing
}

// nameParams gives the parameters the names of the operands, where those are
// different from each other.
func nameParams(d *loom.Def, op *loom.Op) {
	used := map[string]bool{}
	for i, a := range op.Field("operands") {
		if a.Name != "" && !used[a.Name] && !(a.Name[0] >= '0' && a.Name[0] <= '9') {
			d.Params[i].Name = a.Name
		}
		used[d.Params[i].Name] = true
	}
}

// targets reports implementations that the two generations would choose
// differently: the older one takes an implementation with a target for kernels of
// the same target symbol only, the newer one for every compatible target. Where
// all implementations of a family have one target there is nothing to choose.
func (c *converter) targets() {
	var others []*loom.Def // records, and kernels without one
	for _, d := range c.mod.Defs {
		if d.Kind == loom.DefTarget || d.Kind == loom.DefKernel && d.Mods.Target == "" {
			others = append(others, d)
		}
	}
	for _, d := range c.mod.Defs {
		if !d.IsTemplate() || d.OldForm != (c.to == New) || d.Mods.Target == "" {
			continue
		}
		if !slices.ContainsFunc(c.families[d.Family].impls, func(o *loom.Def) bool { return o.Mods.Target != d.Mods.Target }) {
			continue
		}
		at := within(head(d), "target(@"+d.Mods.Target+")")
		rec := c.symbols[d.Mods.Target]
		if rec == nil || rec.Kind != loom.DefTarget {
			continue // a target.decl is refused on its own, a missing one is the verifier's business
		}
		for _, o := range others {
			switch {
			case o.Kind == loom.DefTarget && o.Name != rec.Name && target.Compatible(target.Processor(rec), target.Processor(o)):
				c.diags.Add(diag.Errorf(at, "GENERATION/TARGET", "the generations differ on whether '@%s' serves kernels of target '@%s': the older one asks for the same record, the newer one for a compatible processor", d.Name, o.Name).
					WithRelated(o.NameSpan, "'@%s' is compatible with '@%s'", o.Name, rec.Name).
					WithHelp("keep one record per processor in this file"))
			case o.Kind == loom.DefKernel && c.reaches(o, d.Family):
				c.diags.Add(diag.Errorf(at, "GENERATION/TARGET", "the generations differ on whether '@%s' serves kernel '@%s', which has no target of its own", d.Name, o.Name).
					WithRelated(o.NameSpan, "this kernel applies '%s'", d.Family).
					WithHelp("give the kernel a target"))
			}
		}
	}
}

// reaches reports whether the definition applies the family, itself or through
// what it calls in this module.
func (c *converter) reaches(from *loom.Def, name string) bool {
	seen := map[*loom.Def]bool{}
	var visit func(d *loom.Def) bool
	visit = func(d *loom.Def) (found bool) {
		if d == nil || seen[d] {
			return false
		}
		seen[d] = true
		d.Walk(func(op *loom.Op) bool {
			switch op.Def.Name {
			case "func.apply", "template.apply":
				key := op.Word("contract") + op.Word("family")
				found = found || key == name
				if f := c.families[key]; f != nil {
					for _, i := range f.impls {
						found = found || visit(i)
					}
				}
			case "func.call", "template.call":
				found = found || visit(c.symbols[op.Word("callee")])
			}
			return !found
		})
		return found
	}
	return visit(from)
}
