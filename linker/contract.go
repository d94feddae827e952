package linker

import (
	"fmt"
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// checkContract compares a declaration with the definition (or another
// declaration) of the same symbol: argument and result types, ties and the
// head's modifiers. It reports the first difference of the signature, because
// those behind it usually follow from it, and every conflicting modifier.
func checkContract(decl, def *loom.Def) diag.List {
	if decl.Load().HasErrors() || def.Load().HasErrors() {
		return nil // reported where the files are loaded
	}
	if declaresLaunch(decl, def) {
		var ds diag.List
		signature{decl: decl, def: def, what: "args", a: decl.Params, b: def.Params, launch: true}.check(&ds)
		if len(ds) == 0 {
			checkResults(decl, def, &ds)
		}
		return ds
	}
	if !sameSort(decl, def) {
		return diag.List{diag.Errorf(decl.NameSpan, "SYMBOL/003", "symbol '@%s' is declared as %s but %s as %s",
			decl.Name, kindWords(decl), defined(def), kindWords(def)).WithRelated(def.NameSpan, "%s here", defined(def)).
			WithHelp("rename one of the two")}
	}
	var ds diag.List
	if decl.Kind == loom.DefKernelDecl {
		signature{decl: decl, def: def, what: "workload parameters", a: decl.Workload, b: def.Workload}.check(&ds)
	}
	if len(ds) == 0 {
		signature{decl: decl, def: def, what: "args", a: decl.Params, b: def.Params}.check(&ds)
	}
	if len(ds) == 0 {
		checkResults(decl, def, &ds)
	}
	checkMods(decl, def, &ds)
	return ds
}

// sameSort reports whether def is what decl announces.
func sameSort(decl, def *loom.Def) bool {
	switch decl.Kind {
	case loom.DefFuncDecl:
		return def.Kind == loom.DefFunc || def.Kind == loom.DefFuncDecl
	case loom.DefTemplateDecl:
		return def.Kind == loom.DefTemplateDecl || def.IsTemplate()
	case loom.DefKernelDecl:
		return def.Kind == loom.DefKernel || def.Kind == loom.DefKernelDecl
	case loom.DefTargetDecl:
		return def.Kind == loom.DefTarget || def.Kind == loom.DefTargetDecl
	case loom.DefConfigDecl:
		return def.Kind == loom.DefConfigDecl || def.Kind == loom.DefConfigDef
	}
	return false
}

// declaresLaunch reports whether a func.decl stands for a kernel. The older
// generation declares a kernel of another file this way in the file whose test
// cases launch it with func.call; the parameters are the launch's.
func declaresLaunch(decl, def *loom.Def) bool {
	return decl.Kind == loom.DefFuncDecl && def.Kind == loom.DefKernel
}

// signature is one parameter list on both sides.
type signature struct {
	decl, def *loom.Def
	what      string
	a, b      []*loom.Value
	anyExtent bool // dimensions need not agree
	launch    bool // a tensor is given where the kernel takes a buffer
}

func (s signature) check(ds *diag.List) {
	pairs := pairing(s.decl, s.def)
	at := -1
	for i := 0; i < min(len(s.a), len(s.b)); i++ {
		t := s.a[i].Type.Map(pairs.get)
		if s.anyExtent && len(t.Dims) == len(s.b[i].Type.Dims) {
			u := *t
			u.Dims = s.b[i].Type.Dims
			t = &u
		}
		if s.launch && t.Kind == loom.Tensor && s.b[i].Type.Kind == loom.Buffer {
			continue
		}
		if !t.Equal(s.b[i].Type) {
			at = i
			break
		}
	}
	if at < 0 && len(s.a) == len(s.b) {
		return
	}
	var d diag.Diagnostic
	if len(s.a) != len(s.b) {
		d = diag.Errorf(s.decl.NameSpan, "LINK/MISMATCH", "linked declaration for '@%s' has %d %s but selected symbol has %d",
			s.decl.Name, len(s.a), s.what, len(s.b)).
			WithRelated(s.def.NameSpan, "%s here: %s here, %d there", defined(s.def), plural(len(s.b), "parameter"), len(s.a))
		// Names tell better than types where something was put in or left out.
		for i := 0; i < min(len(s.a), len(s.b)); i++ {
			if (at < 0 || i < at) && s.a[i].Name != s.b[i].Name {
				at = i
			}
		}
		if at < 0 {
			at = min(len(s.a), len(s.b))
		}
	} else {
		d = diag.Errorf(s.decl.NameSpan, "LINK/MISMATCH", "linked declaration for '@%s' has incompatible %s type at index %d",
			s.decl.Name, s.what[:len(s.what)-1], at).
			WithRelated(s.def.NameSpan, "%s here", defined(s.def))
	}
	d = s.firstDifference(d, at)
	*ds = append(*ds, d.WithHelp("%s", contractHelp(s.decl, s.def)))
}

func (s signature) firstDifference(d diag.Diagnostic, at int) diag.Diagnostic {
	const first = "first difference, parameter %d: "
	switch {
	case at < len(s.a) && at < len(s.b):
		return d.WithRelated(valueSpan(s.decl, s.a[at]), first+"'%s' here", at+1, paramText(s.a[at])).
			WithRelated(valueSpan(s.def, s.b[at]), "'%s' there", paramText(s.b[at]))
	case at < len(s.b):
		return d.WithRelated(valueSpan(s.def, s.b[at]), first+"'%s' is only here", at+1, paramText(s.b[at]))
	default:
		return d.WithRelated(valueSpan(s.decl, s.a[at]), first+"'%s' is only here", at+1, paramText(s.a[at]))
	}
}

func checkResults(decl, def *loom.Def, ds *diag.List) {
	report := func(format string, args ...any) {
		ds.Add(diag.Errorf(decl.NameSpan, "LINK/MISMATCH", format, args...).
			WithRelated(def.NameSpan, "%s here", defined(def)).
			WithHelp("%s", contractHelp(decl, def)))
	}
	if len(decl.Results) != len(def.Results) {
		report("linked declaration for '@%s' has %d results but selected symbol has %d", decl.Name, len(decl.Results), len(def.Results))
		return
	}
	pairs := pairing(decl, def)
	for i, r := range decl.Results {
		q := def.Results[i]
		if !r.Type.Map(pairs.get).Equal(q.Type) {
			report("linked declaration for '@%s' has incompatible result type at index %d: %s here, %s there", decl.Name, i, r.Type, q.Type)
			return
		}
		if (r.Tied == nil) != (q.Tied == nil) || r.Tied != nil && pairs.get(r.Tied) != q.Tied {
			report("linked declaration for '@%s' has incompatible function contract field 'tied_results'", decl.Name)
			return
		}
	}
}

// checkMods reports modifiers that both sides state and state differently.
func checkMods(decl, def *loom.Def, ds *diag.List) {
	a, b := &decl.Mods, &def.Mods
	for _, f := range []struct{ field, a, b string }{
		{"cc", a.CC, b.CC},
		{"temperature", a.Temperature, b.Temperature},
		{"inline_policy", a.Inline, b.Inline},
		{"abi", a.ABI, b.ABI},
		{"export_symbol", a.Export, b.Export},
		{"export_linkage", a.Linkage, b.Linkage},
		{"import_module", a.ImportModule, b.ImportModule},
		{"import_symbol", a.ImportSymbol, b.ImportSymbol},
	} {
		if f.a != "" && f.b != "" && f.a != f.b {
			ds.Add(diag.Errorf(decl.NameSpan, "LINK/MISMATCH", "linked declaration for '@%s' has incompatible function contract field '%s'", decl.Name, f.field).
				WithRelated(def.NameSpan, "'%s' in the declaration, '%s' here", f.a, f.b).
				WithHelp("%s", contractHelp(decl, def)))
		}
	}
}

// mergeContract adds to a definition what only its declarations state.
func mergeContract(def, decl *loom.Def) {
	m, o := &def.Mods, &decl.Mods
	m.Public = m.Public || o.Public
	m.Retain = m.Retain || o.Retain
	m.Pure = m.Pure || o.Pure
	for _, f := range []struct {
		into *string
		from string
	}{
		{&m.CC, o.CC}, {&m.Temperature, o.Temperature}, {&m.Inline, o.Inline}, {&m.Target, o.Target}, {&m.ABI, o.ABI},
		{&m.Linkage, o.Linkage}, {&m.ImportModule, o.ImportModule}, {&m.ImportSymbol, o.ImportSymbol},
	} {
		if *f.into == "" {
			*f.into = f.from
		}
	}
	if !m.HasExport && o.HasExport {
		m.HasExport, m.Export, m.ExportAttrs = true, o.Export, o.ExportAttrs
	}
	m.HasImport = m.HasImport || o.HasImport
	if m.ABIAttrs == nil {
		m.ABIAttrs = o.ABIAttrs
	}
	for _, r := range o.Requires {
		if !slices.ContainsFunc(m.Requires, r.Equal) {
			m.Requires = append(slices.Clip(m.Requires), r)
		}
	}
	mergeWhere(def, decl)
	def.Visible = def.Visible || decl.Visible
	if def.Doc == "" {
		def.Doc = decl.Doc
	}
}

// mergeWhere appends the predicates of decl to those of def, restated in def's
// values and without repeating any.
func mergeWhere(def, decl *loom.Def) {
	if len(decl.Where) == 0 {
		return
	}
	pairs := pairing(decl, def)
	have := map[string]bool{}
	for _, p := range def.Where {
		have[p.String()] = true
	}
	for _, p := range decl.Where {
		q := p.Map(pairs.get)
		if text := q.String(); !have[text] {
			have[text] = true
			def.Where = append(slices.Clip(def.Where), q)
		}
	}
}

// valuePairs maps the named values of one head to those of another.
type valuePairs map[*loom.Value]*loom.Value

func (m valuePairs) get(v *loom.Value) *loom.Value {
	if n, ok := m[v]; ok {
		return n
	}
	return v
}

// pairing pairs the values of two heads by position.
func pairing(a, b *loom.Def) valuePairs {
	m := valuePairs{}
	pair := func(vs, ws []*loom.Value) {
		for i := 0; i < min(len(vs), len(ws)); i++ {
			m[vs[i]] = ws[i]
		}
	}
	pair(a.Workload, b.Workload)
	pair(a.Params, b.Params)
	for i := 0; i < min(len(a.Results), len(b.Results)); i++ {
		if v, w := a.Results[i].Val, b.Results[i].Val; v != nil && w != nil {
			m[v] = w
		}
	}
	if a.ConfigVal != nil && b.ConfigVal != nil {
		m[a.ConfigVal] = b.ConfigVal
	}
	return m
}

func contractHelp(decl, def *loom.Def) string {
	if isDeclaration(def) {
		return fmt.Sprintf("the two declarations of '@%s' must agree; change whichever is out of date, and its callers", decl.Name)
	}
	return fmt.Sprintf("change the declaration in %s and its callers to match, or give the definition in %s another name",
		fileOf(decl), fileOf(def))
}

func defined(d *loom.Def) string {
	if isDeclaration(d) {
		return "declared"
	}
	return "defined"
}

func fileOf(d *loom.Def) string {
	if d.NameSpan.Src == nil {
		return "the linked module"
	}
	return d.NameSpan.Src.Name
}

func paramText(v *loom.Value) string { return "%" + v.Name + ": " + v.Type.String() }

// valueSpan is the place of a named value of d's head.
func valueSpan(d *loom.Def, v *loom.Value) diag.Span {
	if d.Span.Src == nil || v.Pos < d.Span.Start || v.Pos >= d.Span.End {
		return d.NameSpan
	}
	return diag.Span{Src: d.Span.Src, Start: v.Pos, End: min(v.Pos+uint32(len(v.Name))+1, d.Span.End)}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
