package linker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/target"
)

// Mode says how much of the sources a link takes.
type Mode uint8

// Modes.
const (
	ModeLink    Mode = iota // what the roots reach
	ModeArchive             // every symbol of every source
)

// Request says what to link out of an index.
type Request struct {
	Mode  Mode
	Roots []string // symbols with or without '@', or export names
	// IncludeExportedRoots adds every definition with an export name.
	IncludeExportedRoots bool
	Config               []Binding
	// Target is the selected processor, e.g. gfx1151; "" takes what the kernels
	// themselves name.
	Target string
	// StripCheck drops test cases and benchmarks.
	StripCheck bool
	// RequireResolvedConfig makes a config without a value an error.
	RequireResolvedConfig bool
	// StrictConfig makes a binding for an unknown key an error. Without it such
	// keys are listed in Result.UnusedKeys and otherwise ignored.
	StrictConfig bool
	// AllowMissingProviders leaves an apply without any implementation in the
	// sources to specialisation, where it may turn out to be dead code.
	AllowMissingProviders bool
	// Like is an earlier result of the same index for a request that differed in
	// Config alone. What the values of configs have no part in is then shared with it
	// instead of copied: the definitions of both modules, other than configs, must
	// not be changed.
	Like *Result
}

// Result is what a link yields. With errors in the accompanying list it holds
// as much as could be linked.
type Result struct {
	Module  *loom.Module // clones, in index order; private to the caller
	Roots   []Root
	Plan    []Live
	Configs []*Config // every config the linked module mentions, sorted by key
	// Rejected lists definitions of live names that were not taken, and why.
	Rejected []Rejected
	// UnusedKeys are bindings that no linked config took, sorted.
	UnusedKeys []string
	// Sources are the files that the closure takes something from, in index order:
	// every body, and for a symbol that is only declared one declaration.
	Sources []*diag.Source

	index  *Index
	clones map[*symbol]*loom.Def // what Module holds for each symbol
}

// Root is one linked root.
type Root struct {
	Request string    // as asked for
	Def     *loom.Def // in Result.Module
	// Target is what the root is compiled for; nil when neither the root nor the
	// request names one, or when the two conflict.
	Target *target.Target
}

// Live says why a symbol is part of the result.
type Live struct {
	Symbol   string   `json:"symbol"`
	Kind     string   `json:"kind"`           // op that defines it, e.g. "func.def"
	Edge     EdgeKind `json:"edge"`           // why it is live
	From     string   `json:"from,omitempty"` // symbol that needs it; the request's text for a root
	Place    string   `json:"place"`          // where From needs it: file:line:col
	Defined  string   `json:"defined"`        // where the body (or the declaration) is
	Original string   `json:"original,omitempty"`
	// Declared lists the declarations that the definition fills.
	Declared []string  `json:"declared,omitempty"`
	Span     diag.Span `json:"-"`
}

// MarshalText makes plans readable as JSON.
func (k EdgeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Rejected is a definition that was left out although its name is live.
type Rejected struct {
	Symbol string    `json:"symbol"`
	Reason string    `json:"reason"`
	Place  string    `json:"place"`
	Span   diag.Span `json:"-"`
}

// Link computes the closure of the request's roots over the index and returns
// it as one module. It reports all that it finds; the context is looked at
// between symbols.
func Link(ctx context.Context, x *Index, req Request) (*Result, diag.List) {
	l := &link{ctx: ctx, x: x, req: req, live: map[*symbol]*liveSymbol{}}
	l.collect()
	if err := ctx.Err(); err != nil {
		l.ds.Add(diag.Errorf(diag.Span{}, "LINK/CANCELLED", "link stopped: %v", err))
		return &Result{Module: &loom.Module{}}, l.ds
	}
	res := l.assemble()
	return res, l.ds.Sorted()
}

type link struct {
	ctx   context.Context
	x     *Index
	req   Request
	ds    diag.List
	live  map[*symbol]*liveSymbol
	queue []*liveSymbol // every live symbol in discovery order
	roots []Root
	rootS []*liveSymbol // parallel to roots

	relations []*Relation
}

// liveSymbol is a symbol in the closure with the edge that brought it in.
type liveSymbol struct {
	sym     *symbol
	edge    EdgeKind
	from    *liveSymbol // nil for roots
	request string      // roots: as asked for
	span    diag.Span
	op      *loom.Op
	name    string    // output name
	clone   *loom.Def // in the result
}

// entry is the definition that stands for the symbol: its body, or its first
// declaration.
func (s *symbol) entry() *entry {
	if s.body != nil {
		return s.body
	}
	return s.decls[0]
}

// each calls f for the body and the declarations.
func (s *symbol) each(f func(*entry)) {
	if s.body != nil {
		f(s.body)
	}
	for _, e := range s.decls {
		f(e)
	}
}

func (l *link) collect() {
	if l.req.Mode == ModeArchive {
		for _, e := range l.x.entries {
			if !l.stripped(e.def) {
				l.add(e.sym, EdgeArchive, nil, e.def.NameSpan, nil)
			}
		}
	}
	for _, name := range l.req.Roots {
		if s := l.findRoot(name); s != nil {
			l.addRoot(s, EdgeRoot, name)
		}
	}
	if l.req.IncludeExportedRoots {
		for _, e := range l.x.exported() {
			l.addRoot(e.sym, EdgeExport, e.def.ExportName())
		}
	}
	if len(l.roots) == 0 && l.req.Mode == ModeLink && !l.ds.HasErrors() {
		l.ds.Add(diag.Errorf(diag.Span{}, "LINK/ROOT", "selective link planning requires at least one root").
			WithHelp("name one with --root, or use --include-exported-roots or --mode=archive"))
	}
	for i := 0; i < len(l.queue); i++ {
		if l.ctx.Err() != nil {
			return
		}
		l.expand(l.queue[i])
	}
}

func (l *link) addRoot(s *symbol, edge EdgeKind, request string) {
	ls := l.add(s, edge, nil, s.entry().def.NameSpan, nil)
	ls.request = request
	if !slices.Contains(l.rootS, ls) {
		l.roots = append(l.roots, Root{Request: request})
		l.rootS = append(l.rootS, ls)
	}
}

func (l *link) add(s *symbol, edge EdgeKind, from *liveSymbol, span diag.Span, op *loom.Op) *liveSymbol {
	if ls := l.live[s]; ls != nil {
		return ls
	}
	ls := &liveSymbol{sym: s, edge: edge, from: from, span: span, op: op}
	l.live[s] = ls
	l.queue = append(l.queue, ls)
	return ls
}

func (l *link) stripped(d *loom.Def) bool {
	return l.req.StripCheck && (d.Kind == loom.DefCheckCase || d.Kind == loom.DefBenchmark)
}

// findRoot resolves a requested root: a symbol, private ones included when the
// name is unique, else an export name.
func (l *link) findRoot(request string) *symbol {
	name, isSymbol := strings.CutPrefix(strings.TrimSpace(request), "@")
	if name == "" {
		l.ds.Add(diag.Errorf(diag.Span{}, "LINK/ROOT", "root symbol name must not be empty"))
		return nil
	}
	if s := l.x.globals[name]; s != nil {
		return l.rootWithBody(s)
	}
	var private []*entry
	for _, e := range l.x.entries {
		if e.def.Name == name {
			private = append(private, e)
		}
	}
	switch {
	case len(private) == 1:
		return l.rootWithBody(private[0].sym)
	case len(private) > 1:
		oneFile := !slices.ContainsFunc(private, func(e *entry) bool { return e.source != private[0].source })
		d := diag.Errorf(private[0].def.NameSpan, "LINK/ROOT", "root symbol '@%s' is private in multiple modules", name)
		if oneFile {
			d = diag.Errorf(private[0].def.NameSpan, "SYMBOL/005", "symbol '@%s' is defined more than once in this file", name)
		}
		for _, e := range private[1:] {
			d = d.WithRelated(e.def.NameSpan, "and here")
		}
		if oneFile {
			l.ds.Add(d.WithHelp("rename one of them; targets, configs, functions and kernels share one space of names"))
			return nil
		}
		l.ds.Add(d.WithHelp("leave out one of the files, or give the definition that is meant an export name"))
		return nil
	}
	if !isSymbol {
		if es := l.chooseExport(name); len(es) == 1 {
			return l.rootWithBody(es[0].sym)
		} else if len(es) > 1 {
			d := diag.Errorf(es[0].def.NameSpan, "LINK/ROOT", "export name '%s' stands for %d definitions", name, len(es))
			for _, e := range es[1:] {
				d = d.WithRelated(e.def.NameSpan, "and here, as '@%s'", e.def.Name)
			}
			l.ds.Add(d.WithHelp("name the symbol that is meant, e.g. --root @%s, or select a target that only one of them fits", es[0].def.Name))
			return nil
		}
	}
	d := diag.Errorf(diag.Span{}, "LINK/ROOT", "root symbol '@%s' was not found", name)
	near := l.x.nearestSymbol(name, func(d *loom.Def) bool { return d.Kind == loom.DefKernel })
	if near == "" {
		near = l.x.nearestSymbol(name, nil)
	}
	if near != "" {
		d = d.WithHelp("did you mean '@%s'?", near)
	} else {
		d = d.WithHelp("--list-symbols shows what the %s define", plural(len(l.x.sources), "source"))
	}
	l.ds.Add(d)
	return nil
}

func (l *link) rootWithBody(s *symbol) *symbol {
	if l.stripped(s.entry().def) {
		l.ds.Add(diag.Errorf(s.entry().def.NameSpan, "LINK/STRIPPED", "required symbol '@%s' was stripped", s.name).
			WithHelp("a test case cannot be a root while test cases are stripped; drop --strip-check"))
		return nil
	}
	return s
}

// chooseExport returns the definitions exported as name that fit the selected
// target, or all of them when none does.
func (l *link) chooseExport(name string) []*entry {
	var all, fit []*entry
	for _, e := range l.x.exported() {
		if e.def.ExportName() != name {
			continue
		}
		all = append(all, e)
		if rec := l.targetRecord(e); l.req.Target == "" || rec == nil || target.Compatible(target.Processor(rec), l.req.Target) {
			fit = append(fit, e)
		}
	}
	if len(fit) > 0 {
		return fit
	}
	return all
}

// targetRecord returns the target record that a definition's head names, nil
// when it names none or nothing defines it.
func (l *link) targetRecord(e *entry) *loom.Def {
	e.def.Load()
	if e.def.Mods.Target == "" {
		return nil
	}
	s, _ := l.x.resolve(e.source, e.def.Mods.Target)
	if s == nil || s.body == nil || s.body.def.Kind != loom.DefTarget {
		return nil
	}
	s.body.def.Load()
	return s.body.def
}

// exported returns the definitions with an export name in index order. Finding
// them means loading every visible kernel and function, so it happens on first
// need.
func (x *Index) exported() []*entry {
	var out []*entry
	for _, e := range x.entries {
		if e.def.Visible && (e.def.Kind == loom.DefKernel || e.def.Kind == loom.DefFunc) {
			if e.def.Load(); e.def.Mods.HasExport {
				out = append(out, e)
			}
		}
	}
	return out
}

// expand follows every reference of a live symbol.
func (l *link) expand(ls *liveSymbol) {
	ls.sym.each(func(e *entry) {
		refs := e.scan()
		l.ds.Add(e.def.Load()...)
		if l.req.Mode == ModeArchive {
			return // everything is live already, and an archive may have holes
		}
		for _, r := range refs {
			l.follow(ls, e, r)
		}
	})
	l.checkSymbol(ls)
}

func (l *link) follow(ls *liveSymbol, e *entry, r reference) {
	if r.key {
		l.addProviders(ls, r, l.x.keyed[r.name])
		return
	}
	s, declared := l.x.resolve(e.source, r.name)
	if s == nil {
		l.unresolved(ls, r)
		return
	}
	if !declared && needsDeclaration(r.kind) {
		def := s.entry().def
		l.ds.Add(l.withChain(diag.Errorf(r.span, "SYMBOL/002", "symbol '@%s' is not declared in this file", r.name).
			WithRelated(def.NameSpan, "%s %s it", fileOf(def), map[bool]string{true: "declares", false: "defines"}[isDeclaration(def)]), ls).
			WithHelp("add a %s of '@%s' to %s", declarationFor(def), r.name, fileOf(e.def)))
	}
	def := s.entry().def
	if want := wanted(r); want != nil && !slices.Contains(want.kinds, def.Kind) {
		l.ds.Add(l.withChain(diag.Errorf(r.span, "SYMBOL/003", "symbol '@%s' is a %s, expected %s", r.name, kindWords(def), want.word).
			WithRelated(def.NameSpan, "defined here"), ls))
		return
	}
	if r.kind == EdgeCall && (def.Kind == loom.DefKernel || def.Kind == loom.DefKernelDecl) && e.def.Kind != loom.DefCheckCase {
		l.ds.Add(l.withChain(diag.Errorf(r.span, "SYMBOL/003", "symbol '@%s' is a kernel, expected function", r.name).
			WithRelated(def.NameSpan, "defined here"), ls).
			WithHelp("only a test case launches a kernel with func.call; move what both need into a func.def"))
		return
	}
	if l.stripped(def) {
		l.ds.Add(l.withChain(diag.Errorf(r.span, "LINK/STRIPPED", "required symbol '@%s' was stripped", r.name), ls).
			WithHelp("drop --strip-check, or do not link what needs the test case"))
		return
	}
	l.add(s, r.kind, ls, r.span, r.op)
	if r.kind == EdgeApply {
		l.addProviders(ls, r, l.x.family[r.name])
	}
}

func (l *link) addProviders(ls *liveSymbol, r reference, es []*entry) {
	for _, e := range es {
		l.add(e.sym, EdgeProvider, ls, r.span, r.op)
	}
	if len(es) > 0 || l.req.AllowMissingProviders {
		return
	}
	where := "family '@" + r.name + "'"
	if r.key {
		where = "key '" + r.name + "'"
	}
	d := l.withChain(diag.Errorf(r.span, "LOWERING/045", "no implementation of %s in the %s (no_provider)", where, plural(len(l.x.sources), "source")), ls)
	l.ds.Add(d.WithHelp("%s", l.providerHelp(r)))
}

func (l *link) providerHelp(r reference) string {
	names := make([]string, 0, len(l.x.family)+len(l.x.keyed))
	table := l.x.family
	if r.key {
		table = l.x.keyed
	}
	for n := range table {
		names = append(names, n)
	}
	if near := dialect.Nearest(r.name, names); near != "" {
		return fmt.Sprintf("implementations exist for '%s'; is that meant? Otherwise add the file that implements '%s'", near, r.name)
	}
	return fmt.Sprintf("add the file that implements '%s' as a library (for a manifest: to library_sources)", r.name)
}

func (l *link) unresolved(ls *liveSymbol, r reference) {
	if r.kind == EdgeFamily {
		l.ds.Add(l.withChain(diag.Errorf(r.span, "SYMBOL/002", "template family '@%s' is not declared", r.name), ls).
			WithHelp("add its template.decl to this file"))
		return
	}
	d := diag.Errorf(r.span, "LINK/UNRESOLVED", "unresolved global dependency '@%s'", r.name)
	for _, e := range l.x.entries {
		if e.def.Name == r.name {
			l.ds.Add(l.withChain(d.WithRelated(e.def.NameSpan, "%s defines it, but privately", fileOf(e.def)), ls).
				WithHelp("declare it in the file that uses it: add a %s of '@%s'", declarationFor(e.def), r.name))
			return
		}
	}
	d = l.withChain(d, ls)
	l.ds.Add(d.WithHelp("%s", l.unresolvedHelp(r.name, wanted(r))))
}

func (l *link) unresolvedHelp(name string, want *expected) string {
	near := l.x.nearestSymbol(name, func(d *loom.Def) bool { return want == nil || slices.Contains(want.kinds, d.Kind) })
	if near != "" && near != name {
		return fmt.Sprintf("did you mean '@%s'? Otherwise add the file that defines '@%s' as a library", near, name)
	}
	return fmt.Sprintf("add the file that defines '@%s' as a library (for a manifest: to library_sources)", name)
}

// withChain adds the way from the root to ls.
func (l *link) withChain(d diag.Diagnostic, ls *liveSymbol) diag.Diagnostic {
	const longest = 8
	for n := 0; ls != nil && n < longest; n++ {
		if ls.from == nil {
			if ls.edge == EdgeRoot || ls.edge == EdgeExport {
				return d.WithRelated(ls.sym.entry().def.NameSpan, "reached from root '@%s'", ls.sym.name)
			}
			return d
		}
		d = d.WithRelated(ls.span, "'@%s' is live by this %s in '@%s'", ls.sym.name, ls.edge, ls.from.sym.name)
		ls = ls.from
	}
	return d
}

// checkSymbol reports what is wrong with a live symbol as a whole.
func (l *link) checkSymbol(ls *liveSymbol) {
	s := ls.sym
	if isConfig(s.entry().def) {
		return // config.go
	}
	if d := s.entry().def; d.Kind == loom.DefOpaque && l.req.Mode == ModeLink {
		l.ds.Add(l.withChain(diag.Errorf(d.NameSpan, "LINK/OPAQUE", "'@%s' is a %s, which loomc only carries verbatim", s.name, defWord(d)), ls).
			WithHelp("choose another root, or keep what reaches it out of the link"))
	}
	for _, e := range s.extra {
		l.ds.Add(l.withChain(diag.Errorf(e.def.NameSpan, "LINK/DUPLICATE", "duplicate concrete symbol definition '@%s'", s.name).
			WithRelated(s.body.def.NameSpan, "first defined here"), ls).
			WithHelp("%s", duplicateHelp(s.body.def, e.def)))
	}
	if s.eclipse != nil {
		l.ds.Add(diag.Warnf(s.body.def.NameSpan, "LINK/ECLIPSED", "private '@%s' fills the declaration before the public definition of that name", s.name).
			WithRelated(s.eclipse.def.NameSpan, "the public definition that is not used").
			WithHelp("the first body in source order is taken; rename one of the two, or list %s first", fileOf(s.eclipse.def)))
	}
	if s.body == nil && l.req.Mode == ModeLink && mustHaveBody(s) {
		d := diag.Errorf(s.decls[0].def.NameSpan, "LINK/UNRESOLVED", "unresolved global dependency '@%s'", s.name)
		l.ds.Add(l.withChain(d, ls).WithHelp("%s", l.unresolvedHelp(s.name, &expected{kinds: bodyKinds(s.decls[0].def)})))
	}
	against := s.body
	decls := s.decls
	if against == nil {
		against, decls = s.decls[0], s.decls[1:]
	}
	for _, e := range decls {
		l.ds.Add(checkContract(e.def, against.def)...)
	}
	if against.def.IsTemplate() {
		l.checkFamily(against)
	}
}

// checkFamily compares an implementation with the declaration of its family
// that its own file has.
func (l *link) checkFamily(e *entry) {
	s, _ := l.x.resolve(e.source, e.def.Family)
	if e.def.Op == nil || e.def.Op.Dialect() != "template" || s == nil {
		return
	}
	for _, d := range s.decls {
		if d.source != e.source && len(s.decls) > 1 {
			continue
		}
		if d.def.Load().HasErrors() || e.def.Load().HasErrors() || d.def.Kind != loom.DefTemplateDecl {
			return
		}
		// Extents may be narrower than the family's: selection compares them with
		// the operands' at each application.
		var ds diag.List
		signature{decl: d.def, def: e.def, what: "args", a: d.def.Params, b: e.def.Params, anyExtent: true}.check(&ds)
		l.ds.Add(ds...)
		return
	}
}

func duplicateHelp(a, b *loom.Def) string {
	if a.NameSpan.Src == b.NameSpan.Src {
		return "remove one of the two"
	}
	return fmt.Sprintf("leave out %s or %s, or drop 'public' or the export name from the one that only its own file uses", fileOf(a), fileOf(b))
}

func isConfig(d *loom.Def) bool { return d.Kind == loom.DefConfigDecl || d.Kind == loom.DefConfigDef }

// mustHaveBody reports whether a declaration alone is not enough.
func mustHaveBody(s *symbol) bool {
	d := s.decls[0].def
	switch d.Kind {
	case loom.DefFuncDecl:
		return !slices.ContainsFunc(s.decls, func(e *entry) bool { e.def.Load(); return e.def.Mods.HasImport })
	case loom.DefKernelDecl, loom.DefTargetDecl:
		return true
	}
	return false
}

func bodyKinds(decl *loom.Def) []loom.DefKind {
	switch decl.Kind {
	case loom.DefKernelDecl:
		return []loom.DefKind{loom.DefKernel}
	case loom.DefTargetDecl:
		return []loom.DefKind{loom.DefTarget}
	}
	return []loom.DefKind{loom.DefFunc}
}

// needsDeclaration reports whether the file that mentions a symbol this way must
// define or declare it itself.
func needsDeclaration(k EdgeKind) bool {
	return k == EdgeCall || k == EdgeLaunch || k == EdgeApply || k == EdgeFamily
}

func declarationFor(d *loom.Def) string {
	switch d.Kind {
	case loom.DefKernel, loom.DefKernelDecl:
		return "kernel.decl"
	case loom.DefTemplateDecl, loom.DefTemplate, loom.DefUkernel:
		return "template.decl"
	case loom.DefConfigDecl, loom.DefConfigDef:
		return "config.decl"
	case loom.DefTarget, loom.DefTargetDecl:
		return "target.decl"
	}
	return "func.decl"
}

// expected is what a reference may point to.
type expected struct {
	word  string
	kinds []loom.DefKind
}

func wanted(r reference) *expected {
	switch r.kind {
	case EdgeCall:
		if r.op != nil && r.op.Name() == "template.call" {
			return &expected{"template implementation", []loom.DefKind{loom.DefTemplate, loom.DefUkernel}}
		}
		// The older generation calls implementations, and in tests kernels, by
		// func.call too.
		return &expected{"function", []loom.DefKind{loom.DefFunc, loom.DefFuncDecl, loom.DefTemplate, loom.DefUkernel, loom.DefKernel, loom.DefKernelDecl}}
	case EdgeLaunch:
		return &expected{"kernel", []loom.DefKind{loom.DefKernel, loom.DefKernelDecl}}
	case EdgeApply, EdgeFamily:
		return &expected{"template family", []loom.DefKind{loom.DefTemplateDecl}}
	case EdgeConfig:
		return &expected{"config", []loom.DefKind{loom.DefConfigDecl, loom.DefConfigDef}}
	case EdgeTarget:
		return &expected{"target", []loom.DefKind{loom.DefTarget, loom.DefTargetDecl}}
	case EdgeGlobal:
		return &expected{"global", []loom.DefKind{loom.DefGlobal}}
	case EdgeCase:
		return &expected{"check case", []loom.DefKind{loom.DefCheckCase}}
	}
	return nil
}
