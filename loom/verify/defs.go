package verify

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
)

// definition verifies v.def: its head and its regions.
func (v *verifier) definition() {
	d := v.def
	switch d.Kind {
	case loom.DefConfigDecl:
		v.configType()
		v.configWhere()
	case loom.DefConfigDef:
		if v.configType() {
			v.configValue()
		}
	case loom.DefGlobal:
		v.global()
	case loom.DefTarget:
		v.target()
	case loom.DefBenchmark:
		if v.symbolRef(d.Family, v.headSpan(d.Family), "check case", loom.DefCheckCase) != nil {
			break
		}
	case loom.DefFunc, loom.DefFuncDecl, loom.DefTemplate, loom.DefTemplateDecl, loom.DefUkernel, loom.DefKernel, loom.DefKernelDecl:
		v.callable()
	}
	if d.Config != nil {
		v.config = true
		v.defRegion(d.Config, "the launch-config block", "kernel.launch.config")
		v.config = false
		v.reads, v.writes, v.converges, v.firstEffect = 0, 0, 0, nil
	}
	if d.Body != nil {
		v.defRegion(d.Body, "the body", bodyTerminator(d))
	}
	if d.Mods.Pure && v.firstEffect != nil {
		v.report(diag.Errorf(d.NameSpan, "STRUCTURE/017", "'@%s' is declared pure, but its body has effects: %s, %s, %s",
			d.Name, plural(v.reads, "read"), plural(v.writes, "write"), plural(v.converges, "convergent op")).
			WithRelated(v.firstEffect.NameSpan(), "%s is the first", v.firstEffect.Def.Name).
			WithHelp("drop 'pure', or move the effect out of the function"))
	}
	v.transferUses()
}

// headSpan returns the place of a word in the head of the definition, or of the
// definition's name when the word is not found there.
func (v *verifier) headSpan(word string) diag.Span {
	d := v.def
	text := d.Span.Text()
	if i := strings.IndexByte(text, '{'); i >= 0 && d.HasBody {
		text = text[:i]
	}
	if i := strings.Index(text, "@"+word); i >= 0 {
		start := d.Span.Start + uint32(i)
		return diag.Span{Src: d.Span.Src, Start: start, End: start + uint32(len(word)) + 1}
	}
	return d.NameSpan
}

// bodyTerminator names the op that ends the body of d.
func bodyTerminator(d *loom.Def) string {
	switch {
	case d.Kind == loom.DefKernel:
		return "kernel.return"
	case d.Kind == loom.DefCheckCase:
		return "check.return"
	case d.Kind == loom.DefTemplate && !d.OldForm:
		return "template.return"
	}
	return "func.return"
}

// defRegion verifies a region of the definition; what names it.
func (v *verifier) defRegion(r *loom.Region, what, terminator string) {
	v.terminators(r, what+" of '@"+v.def.Name+"'", v.def.NameSpan, terminator, false)
	v.region(r)
}

// configType reports whether the type of a config can be bound at compile time.
func (v *verifier) configType() bool {
	t := v.def.ConfigType
	if t == nil || t.Kind.IsScalar() || t.Kind == loom.EncodingKind {
		return true
	}
	v.report(diag.Errorf(v.def.NameSpan, "TYPE/004", "config '@%s' has type %s; a config is a scalar or an encoding", v.def.Name, t).
		WithHelp("declare one config per number the shape depends on"))
	return false
}

// configValue checks the value of config.def against its type.
func (v *verifier) configValue() {
	d := v.def
	if d.ConfigType == nil {
		return
	}
	if d.ConfigType.Kind == loom.EncodingKind {
		if d.Init.Kind != loom.AttrEnc {
			v.report(diag.Errorf(d.NameSpan, "TYPE/005", "config '@%s' is %s, expected an encoding such as #encoding.operand<…>", d.Name, attrKindNames[d.Init.Kind]))
			return
		}
		v.encodingRole(d.NameSpan, d.Init.Enc(), d.ConfigType)
		return
	}
	fits, outOfRange := literalFits(d.Init, d.ConfigType.Kind)
	if !fits {
		v.report(literalDiag(diag.Diagnostic{Code: "TYPE/005", Span: d.NameSpan}, "@"+d.Name, d.Init, d.ConfigType.Kind, outOfRange))
	}
	// A definition next to its declaration must agree with it; the linker checks
	// the constraints, which also come from other files.
	if o := v.env.symbols[d.Name]; o != nil && o.Kind == loom.DefConfigDecl {
		o.Load()
		if o.ConfigType != nil && !o.ConfigType.Equal(d.ConfigType) {
			v.report(diag.Errorf(d.NameSpan, "TYPE/001", "config '@%s' is defined with type %s and declared with type %s", d.Name, d.ConfigType, o.ConfigType).
				WithRelated(o.NameSpan, "declared here"))
		}
	}
}

// configWhere checks constraints of a config declaration: they mention the
// declared value first and literals after it.
func (v *verifier) configWhere() {
	for _, p := range v.def.Where {
		v.predicate(p)
		for i, a := range p.Args {
			if i == 0 && a.Val != v.def.ConfigVal {
				v.report(diag.Errorf(p.Span, "STRUCTURE/022", "constraint '%s' of config '@%s' does not start with the declared value", p, v.def.Name).
					WithHelp("write %s(%%value, …)", p.Name()))
				break
			}
			if i > 0 && a.Val != nil {
				v.report(diag.Errorf(p.Span, "STRUCTURE/022", "constraint '%s' of config '@%s' relates two values; only literals can be checked when the value is bound", p, v.def.Name).
					WithHelp("write the bound as an integer literal"))
			}
		}
		if t := v.def.ConfigType; t != nil && t.Kind.IsFloat() && p.Kind < loom.PredNotNaN {
			v.report(diag.Errorf(p.Span, "STRUCTURE/021", "config '@%s' is of type %s, whose values take no constraints", v.def.Name, t))
		}
	}
}

func (v *verifier) global() {
	d := v.def
	for _, p := range d.Where {
		v.predicate(p)
	}
	if d.Init.Kind == loom.AttrNone || d.ConfigType == nil {
		return
	}
	if !d.ConfigType.Kind.IsScalar() {
		v.report(diag.Errorf(d.NameSpan, "TYPE/004", "global '@%s' has type %s; only scalars can be initialised in place", d.Name, d.ConfigType).
			WithHelp("leave the initialiser out and store the value at start-up"))
		return
	}
	if fits, outOfRange := literalFits(d.Init, d.ConfigType.Kind); !fits {
		v.report(literalDiag(diag.Diagnostic{Code: "TYPE/005", Span: d.NameSpan}, "@"+d.Name, d.Init, d.ConfigType.Kind, outOfRange))
	}
}

// target checks that a target record's processor is known, and its subgroup size
// against what processors of the selector run.
func (v *verifier) target() {
	d := v.def
	if d.Op == nil || d.Op.Name != "amdgpu.target" {
		return
	}
	if _, ok := target.Lookup(target.Processor(d)); !ok {
		_, ds := target.Resolve(d, "")
		for _, x := range ds {
			v.report(x)
		}
		return
	}
	for _, a := range d.Attrs {
		if a.Name != "subgroup_size" || a.Value.Kind != loom.AttrInt {
			continue
		}
		ok, sizes := true, "32 or 64"
		switch {
		case strings.HasPrefix(d.Selector, "gfx9"):
			ok, sizes = a.Value.Int == 64, "64"
		case d.Selector == "gfx1250" || strings.HasPrefix(d.Selector, "gfx12-5"):
			ok, sizes = a.Value.Int == 32, "32"
		default:
			ok = a.Value.Int == 32 || a.Value.Int == 64
		}
		if !ok {
			v.report(diag.Errorf(d.NameSpan, "AMDGPU/026", "target '@%s' asks for subgroups of %d, but %s runs %s", d.Name, a.Value.Int, d.Selector, sizes).
				WithHelp("write subgroup_size = %s, or leave it out", sizes))
		}
	}
}

// callable checks the head of a function, template or kernel.
func (v *verifier) callable() {
	d := v.def
	for _, ps := range [][]*loom.Value{d.Workload, d.Params} {
		for _, p := range ps {
			v.typeRefs(p.Type, nil)
		}
	}
	for _, p := range d.Where {
		v.predicate(p)
	}
	if d.Mods.Target != "" {
		v.symbolRef(d.Mods.Target, v.headSpan(d.Mods.Target), "target record", loom.DefTarget, loom.DefTargetDecl)
	}
	switch d.Kind {
	case loom.DefKernel, loom.DefKernelDecl:
		if d.Mods.Linkage != "" && !d.Mods.HasExport {
			v.report(diag.Errorf(d.NameSpan, "STRUCTURE/014", "kernel '@%s' states a linkage but exports nothing", d.Name).
				WithHelp("add export(\"name\"), or remove linkage(%s)", d.Mods.Linkage))
		}
		for _, w := range d.Workload {
			if w.Type != nil && !w.Type.Kind.IsScalar() {
				v.report(diag.Errorf(v.place(w), "TYPE/014", "workload parameter '%%%s' of kernel '@%s' has type %s; workload parameters are scalars", w.Name, d.Name, w.Type))
			}
		}
		for _, p := range d.Params {
			if p.Type != nil && !p.Type.Kind.IsScalar() && p.Type.Kind != loom.Buffer && p.Type.Kind != loom.Vector {
				v.report(diag.Errorf(v.place(p), "TYPE/014", "launch parameter '%%%s' of kernel '@%s' has type %s; launch parameters are buffers, scalars and vectors", p.Name, d.Name, p.Type).
					WithHelp("pass the buffer and make the view in the body"))
			}
		}
	case loom.DefTemplate, loom.DefUkernel:
		if !d.OldForm {
			v.family()
		}
	}
}

// family checks an implementation against the declaration of its family.
func (v *verifier) family() {
	d := v.def
	f := v.symbolRef(d.Family, v.headSpan(d.Family), "template family", loom.DefTemplateDecl)
	if f == nil {
		return
	}
	if len(f.Params) != len(d.Params) || len(f.Results) != len(d.Results) {
		v.report(diag.Errorf(d.NameSpan, "STRUCTURE/013", "'@%s' implements family '@%s' with %s and %s; the family has %d and %d",
			d.Name, f.Name, plural(len(d.Params), "parameter"), plural(len(d.Results), "result"), len(f.Params), len(f.Results)).
			WithRelated(f.NameSpan, "the family is declared here"))
		return
	}
	// An implementation may be more special than its family, so only types of
	// different kinds are a fault; selection compares the rest at each apply.
	for i, p := range d.Params {
		if q := f.Params[i]; p.Type != nil && q.Type != nil && p.Type.Kind != q.Type.Kind {
			v.report(diag.Errorf(v.place(p), "TYPE/001", "parameter '%%%s' of '@%s' has type %s, but the family '@%s' declares %s for it", p.Name, d.Name, p.Type, f.Name, q.Type).
				WithRelated(f.NameSpan, "the family is declared here"))
		}
	}
	for i, r := range d.Results {
		if q := f.Results[i]; r.Type != nil && q.Type != nil && r.Type.Kind != q.Type.Kind {
			v.report(diag.Errorf(d.NameSpan, "TYPE/001", "result %d of '@%s' has type %s, but the family '@%s' declares %s for it", i, d.Name, r.Type, f.Name, q.Type).
				WithRelated(f.NameSpan, "the family is declared here"))
		}
	}
}

// defKindNames says what a definition is, for messages.
var defKindNames = map[loom.DefKind]string{
	loom.DefOpaque: "a low-level definition", loom.DefConfigDecl: "a config", loom.DefConfigDef: "a config", loom.DefTarget: "a target record",
	loom.DefTargetDecl: "a target record", loom.DefFunc: "a function", loom.DefFuncDecl: "a function", loom.DefTemplate: "a template implementation",
	loom.DefTemplateDecl: "a template family", loom.DefUkernel: "a template implementation", loom.DefKernel: "a kernel", loom.DefKernelDecl: "a kernel",
	loom.DefGlobal: "a global", loom.DefCheckCase: "a check case", loom.DefBenchmark: "a benchmark",
}

// symbolRef resolves a symbol used at sp that must be of one of the kinds, loads
// and returns it; nil, with a diagnostic, when it is missing or something else.
func (v *verifier) symbolRef(name string, sp diag.Span, expected string, kinds ...loom.DefKind) *loom.Def {
	d := v.env.symbols[name]
	if d != nil && !slices.Contains(kinds, d.Kind) {
		// A symbol defined twice is a fault of its own; take the one that fits.
		for _, o := range v.env.mod.Defs {
			if o.Name == name && slices.Contains(kinds, o.Kind) {
				d = o
				break
			}
		}
	}
	if d == nil {
		e := diag.Errorf(sp, "SYMBOL/002", "symbol '@%s' is not defined in this file", name)
		if near, n := v.nearestSymbol(name); near != nil {
			e = e.WithRelated(near.NameSpan, "'@%s' is %s defined here", n, defKindNames[near.Kind]).WithHelp("did you mean '@%s'?", n)
		} else {
			e = e.WithHelp("define it, or declare it so that the linker can find it")
		}
		v.report(e)
		return nil
	}
	if slices.Contains(kinds, d.Kind) {
		d.Load()
		return d
	}
	if d.Kind == loom.DefOpaque { // loomc cannot know what it stands for
		return nil
	}
	v.report(diag.Errorf(sp, "SYMBOL/003", "'@%s' is %s, expected %s", name, defKindNames[d.Kind], article(expected)).
		WithRelated(d.NameSpan, "defined here"))
	return nil
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
