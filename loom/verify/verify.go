package verify

import (
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Options says how to verify.
type Options struct {
	// Workers is the number of definitions verified at the same time; 0 and 1
	// mean one after the other.
	Workers int
	// Dominance checks every operand, also where the parser's scopes already
	// guarantee the order. It is for modules that a stage has rewritten.
	Dominance bool
}

// Module loads and verifies every definition of m. The list holds what loading
// and verifying found, in the order of the definitions. A definition that does
// not parse is not verified, the others are.
func Module(m *loom.Module, opts Options) diag.List {
	env := NewEnv(m)
	env.opts = opts
	found := make([]diag.List, len(m.Defs))
	each(len(m.Defs), opts.Workers, func(i int) {
		d := m.Defs[i]
		l := d.Load()
		if l.HasErrors() {
			found[i] = l
			return
		}
		found[i] = append(l[:len(l):len(l)], Def(d, env)...)
	})
	out := env.duplicates()
	for _, l := range found {
		out = append(out, l...)
	}
	return out
}

// each calls f for 0 … n−1 on the given number of goroutines.
func each(n, workers int, f func(int)) {
	if workers <= 1 || n <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// Env is what a definition may refer to: the symbols of its module. It is
// immutable and safe for concurrent use.
type Env struct {
	opts    Options
	mod     *loom.Module
	symbols map[string]*loom.Def // first definition of each name
}

// NewEnv collects the symbols of m.
func NewEnv(m *loom.Module) *Env {
	e := &Env{mod: m, symbols: make(map[string]*loom.Def, len(m.Defs))}
	for _, d := range m.Defs {
		if definesSymbol(d) && e.symbols[d.Name] == nil {
			e.symbols[d.Name] = d
		}
	}
	return e
}

func definesSymbol(d *loom.Def) bool {
	switch d.Kind {
	case loom.DefAlias, loom.DefImport, loom.DefMetadata:
		return false
	}
	return d.Name != ""
}

// duplicates reports names defined twice.
func (e *Env) duplicates() diag.List {
	var l diag.List
	for _, d := range e.mod.Defs {
		if !definesSymbol(d) {
			continue
		}
		if first := e.symbols[d.Name]; first != d && !mergeable(first, d) {
			l.Add(diag.Errorf(d.NameSpan, "SYMBOL/005", "symbol '@%s' is defined twice in this file", d.Name).
				WithRelated(first.NameSpan, "first defined here").
				WithHelp("rename or remove one of the two"))
		}
	}
	return l
}

// mergeable reports whether two definitions of one name may stand in one module:
// a declaration next to its definition, which is what linking leaves.
func mergeable(a, b *loom.Def) bool {
	decl := func(k loom.DefKind) bool {
		switch k {
		case loom.DefConfigDecl, loom.DefTargetDecl, loom.DefFuncDecl, loom.DefTemplateDecl, loom.DefKernelDecl:
			return true
		}
		return false
	}
	return a.Mod != nil && a.Mod.Source == nil && decl(a.Kind) != decl(b.Kind)
}

// names returns all symbols, for suggestions.
func (e *Env) names() []string {
	out := make([]string, 0, len(e.symbols))
	for n := range e.symbols {
		out = append(out, n)
	}
	return out
}

// verifier verifies one definition.
type verifier struct {
	env   *Env
	def   *loom.Def
	rules map[*loom.OpDef]*rule
	list  diag.List
	// config is set while the launch-config block of a kernel is visited.
	config bool
	// effects of the definition's body, for the purity check.
	reads, writes, converges int
	firstEffect              *loom.Op
	async                    transfers
	suggestions              int
}

// Def verifies one loaded definition.
func Def(d *loom.Def, env *Env) diag.List {
	v := verifier{env: env, def: d, rules: rules()}
	v.definition()
	return v.list
}

func (v *verifier) report(d diag.Diagnostic) { v.list = append(v.list, d) }

// opError starts a diagnostic at the name of op.
func (v *verifier) opError(op *loom.Op, code, format string, args ...any) diag.Diagnostic {
	return diag.Errorf(op.NameSpan(), code, format, args...)
}

// definedHere adds the place a value comes from.
func (v *verifier) definedHere(d diag.Diagnostic, val *loom.Value) diag.Diagnostic {
	sp := v.place(val)
	if !sp.Valid() || val.Def != nil && val.Def.NamePos == d.Span.Start { // a result of the op itself
		return d
	}
	return d.WithRelated(sp, "'%%%s' is defined here as %s", val.Name, val.Type)
}

// place returns the span of a value's name where it is defined.
func (v *verifier) place(val *loom.Value) diag.Span {
	src := v.def.Span.Src
	if val == nil || src == nil || val.Pos == 0 && v.def.Span.Start > 0 {
		return diag.Span{}
	}
	end := int(val.Pos) + len(val.Name) + 1
	if end > len(src.Text) || src.Text[val.Pos] != '%' {
		return diag.Span{}
	}
	return diag.Span{Src: src, Start: val.Pos, End: uint32(end)}
}

// region verifies the blocks of r and everything below.
func (v *verifier) region(r *loom.Region) {
	if r == nil {
		return
	}
	for _, b := range r.Blocks {
		for _, a := range b.Args {
			v.typeRefs(a.Type, nil)
		}
		for i, op := range b.Ops {
			v.op(op)
			if op.Def.Traits&loom.Terminator != 0 && i != len(b.Ops)-1 {
				next := b.Ops[i+1]
				v.report(v.opError(next, "STRUCTURE/012", "%s follows the terminator of its block", next.Def.Name).
					WithRelated(op.NameSpan(), "%s ends the block here", op.Def.Name).
					WithHelp("remove it, or move it before the terminator"))
				break
			}
		}
	}
	if len(r.Blocks) > 1 || v.env.opts.Dominance {
		v.dominance(r)
	}
}

// op verifies one op and its regions.
func (v *verifier) op(op *loom.Op) {
	before := len(v.list)
	r := v.rules[op.Def]
	if r == nil { // opaque
		v.effects(op)
		for _, reg := range op.Regions {
			v.region(reg)
		}
		return
	}
	if op.Def.Traits&(loom.KernelOnly|loom.CheckOnly) != 0 || v.config {
		v.placement(op)
	}
	if op.Def.Traits&(loom.Reads|loom.Writes|loom.Convergent) != 0 || r.check != nil {
		v.effects(op)
	}
	if !v.counts(op, r) {
		return
	}
	for i := range r.clauses {
		r.clauses[i].apply(v, op)
	}
	if len(r.attrs) > 0 {
		v.attrs(op, r)
	}
	for _, res := range op.Results {
		v.typeRefs(res.Type, op)
	}
	if r.poison {
		v.poison(op)
	}
	if len(op.Attrs) > 0 {
		v.generalAttrs(op)
	}
	for i, reg := range op.Regions {
		v.opRegion(op, i, reg)
	}
	if r.check != nil && len(v.list) == before && typed(op) {
		r.check(v, op)
	}
}

// typed reports whether the types of all operands are known: those of ops
// carried verbatim are not.
func typed(op *loom.Op) bool {
	for _, x := range op.Operands {
		if x.Type == nil {
			return false
		}
	}
	return true
}

// counts checks that the fixed operand and result fields are filled, so that
// later checks may rely on them.
func (v *verifier) counts(op *loom.Op, r *rule) bool {
	if op.Segs == nil {
		if want := len(r.def.Operands); len(op.Operands) < want {
			v.report(v.opError(op, "STRUCTURE/001", "%s has %s, expected %d", op.Def.Name, plural(len(op.Operands), "operand"), want))
			return false
		}
	}
	want, variadic := 0, false
	for i := range r.def.Results {
		if r.def.Results[i].Variadic {
			variadic = true
		} else {
			want++
		}
	}
	if len(op.Results) < want || !variadic && len(op.Results) != want && op.Def.Name != "global.load" {
		v.report(v.opError(op, "STRUCTURE/002", "%s has %s, expected %d", op.Def.Name, plural(len(op.Results), "result"), want))
		return false
	}
	for _, res := range op.Results {
		if res.Type == nil {
			v.report(v.opError(op, "TYPE/004", "result '%%%s' of %s has no type", res.Name, op.Def.Name))
			return false
		}
	}
	return true
}

// typeRefs checks the SSA values a type refers to: extents are index values, the
// second slot of a view holds an encoding.
func (v *verifier) typeRefs(t *loom.Type, op *loom.Op) {
	if t == nil {
		return
	}
	for _, d := range t.Dims {
		if d.Val != nil && d.Val.Type != nil && d.Val.Type.Kind != loom.Index {
			sp := v.place(d.Val)
			if op != nil {
				sp = op.NameSpan()
			}
			v.report(v.definedHere(diag.Errorf(sp, "TYPE/010", "extent [%%%s] of type %s has type %s; extents are index values", d.Val.Name, t, d.Val.Type), d.Val))
		}
	}
	if e := t.EncVal; e != nil && e.Type != nil && e.Type.Kind != loom.EncodingKind {
		sp := v.place(e)
		if op != nil {
			sp = op.NameSpan()
		}
		v.report(v.definedHere(diag.Errorf(sp, "ENCODING/005", "type %s uses '%%%s' as its layout, but that is of type %s", t, e.Name, e.Type), e).
			WithHelp("use a value of type encoding<layout> or encoding<storage>"))
	}
}

// poison reports an undefined value that op would make observable.
func (v *verifier) poison(op *loom.Op) {
	for _, val := range op.Operands {
		if val.Def == nil || val.Def.Def.Name != "scalar.poison" && val.Def.Def.Name != "vector.poison" {
			continue
		}
		v.report(v.opError(op, "TYPE/012", "%s would observe the poison value '%%%s'", op.Def.Name, val.Name).
			WithRelated(val.Def.NameSpan(), "poison is made here").
			WithHelp("replace it by a defined value, or select it away before this op"))
	}
}

// effects counts what the op does for the purity check of its function.
func (v *verifier) effects(op *loom.Op) {
	t := op.Def.Traits
	if t&loom.Hint != 0 {
		return
	}
	if t&loom.Reads != 0 {
		v.reads++
	}
	if t&loom.Writes != 0 {
		v.writes++
	}
	if t&loom.Convergent != 0 {
		v.converges++
	}
	if t&(loom.Reads|loom.Writes|loom.Convergent) == 0 {
		if op.Def.Name != "func.call" || op.Has("pure") {
			return
		}
		callee := v.env.symbols[op.Attr("callee").Str]
		if callee == nil {
			return
		}
		if callee.Load(); callee.Mods.Pure {
			return
		}
		v.writes++
	}
	if v.firstEffect == nil {
		v.firstEffect = op
	}
}

// placement checks where the op stands.
func (v *verifier) placement(op *loom.Op) {
	t := op.Def.Traits
	where := v.context(op)
	switch {
	case t&loom.CheckOnly != 0 && v.def.Kind != loom.DefCheckCase:
		v.report(v.opError(op, "STRUCTURE/029", "%s belongs inside check.case, but stands in %s", op.Def.Name, where).
			WithHelp("move it into a check.case"))
	case t&loom.KernelOnly != 0 && v.def.Kind != loom.DefKernel && !inlined(v.def):
		v.report(v.opError(op, "STRUCTURE/029", "%s needs a kernel around it, but stands in %s", op.Def.Name, where).
			WithHelp("compute it in the kernel and pass the value as an argument"))
	case v.config && t&loom.KernelOnly != 0:
		v.report(v.opError(op, "STRUCTURE/029", "%s has no meaning in the launch-config block: it runs on the host, before there are work items", op.Def.Name).
			WithHelp("move it into the launch body"))
	case v.config && t&(loom.Reads|loom.Writes|loom.Convergent) != 0:
		v.report(v.opError(op, "STRUCTURE/029", "%s has effects; the launch-config block computes the launch geometry and must have none", op.Def.Name).
			WithHelp("move it into the launch body"))
	}
}

// inlined reports whether d's body always becomes part of its caller's: a
// template implementation that is not for the host. Its kernel ops are placed
// where the kernel applies it.
func inlined(d *loom.Def) bool { return d.Kind == loom.DefTemplate && d.Mods.CC != "host" }

// context names the construct the op stands in.
func (v *verifier) context(op *loom.Op) string {
	if p := op.Parent(); p != nil {
		return p.Def.Name
	}
	if v.def.Op != nil {
		return v.def.Op.Name
	}
	return "the module"
}

// generalAttrs checks the attributes every op may carry: predicates, tied
// results and symbols.
func (v *verifier) generalAttrs(op *loom.Op) {
	for i := range op.Attrs {
		a := &op.Attrs[i]
		switch a.Value.Kind {
		case loom.AttrPreds:
			for _, p := range a.Value.Preds() {
				v.predicate(p)
			}
		case loom.AttrInts:
			if a.Name == "tied" {
				v.tied(op, a.Value.Ints())
			}
		}
	}
}

// tied checks results that take over the storage of an operand.
func (v *verifier) tied(op *loom.Op, ties []int64) {
	for i, t := range ties {
		if t < 0 {
			continue
		}
		if int(t) >= len(op.Operands) || i >= len(op.Results) {
			v.report(v.opError(op, "DOMINANCE/005", "result %d of %s is tied to operand %d, which it does not have", i, op.Def.Name, t))
			continue
		}
		for j := range i {
			if ties[j] == t {
				v.report(v.opError(op, "DOMINANCE/007", "operand '%%%s' of %s is tied to two results", op.Operands[t].Name, op.Def.Name).
					WithHelp("an operand's storage can go to one result only"))
			}
		}
		n := 0
		for _, o := range op.Operands {
			if o == op.Operands[t] {
				n++
			}
		}
		if n > 1 {
			v.report(v.opError(op, "DOMINANCE/008", "'%%%s' is tied to a result of %s and is also another operand of it", op.Operands[t].Name, op.Def.Name).
				WithHelp("pass distinct values"))
		}
	}
}

// predicate checks that a predicate is about values it is defined for.
func (v *verifier) predicate(p loom.Predicate) {
	for i, a := range p.Args {
		if a.Val == nil {
			if a.IsFloat && !(p.Kind == loom.PredEq || p.Kind == loom.PredNe) {
				v.report(diag.Errorf(p.Span, "STRUCTURE/022", "predicate '%s' takes no float literal (argument %d)", p.Name(), i+1).
					WithHelp("use an integer literal or an SSA value"))
			}
			continue
		}
		t := a.Val.Type
		if t == nil {
			continue
		}
		ok, want := true, ""
		k := t.Element()
		switch p.Kind {
		case loom.PredNotNaN, loom.PredNotInf, loom.PredFinite:
			ok, want = k.IsFloat(), "floats"
		case loom.PredULt, loom.PredULe, loom.PredUGt, loom.PredUGe:
			ok, want = k.IsInt(), "fixed-width integers"
		case loom.PredEq, loom.PredNe:
			ok, want = k.IsScalar(), "integers, indices and floats"
		default:
			ok, want = k.IsInt() || k.IsIndexLike(), "integers and indices"
		}
		if !ok {
			v.report(v.definedHere(diag.Errorf(p.Span, "STRUCTURE/021", "predicate '%s' is defined for %s, but '%%%s' has type %s", p.Name(), want, a.Val.Name, t), a.Val))
		}
	}
	if p.Kind == loom.PredMultipleOf && len(p.Args) == 2 && p.Args[1].Val == nil && p.Args[1].Int == 0 && !p.Args[1].IsFloat {
		v.report(diag.Errorf(p.Span, "STRUCTURE/022", "nothing but zero is a multiple of 0: '%s' can never tell anything", p).WithHelp("use a positive divisor"))
	}
	if p.Kind == loom.PredRange && len(p.Args) == 3 && p.Args[1].Val == nil && p.Args[2].Val == nil && p.Args[1].Int > p.Args[2].Int {
		v.report(diag.Errorf(p.Span, "STRUCTURE/022", "the range %d to %d is empty", p.Args[1].Int, p.Args[2].Int).WithHelp("write the smaller bound first"))
	}
}

// Suggestions compare a name with all symbols; these limits keep a hostile file
// from making that slow.
const (
	maxSuggestions      = 16
	maxSuggestedSymbols = 8192
)

// nearestSymbol suggests a symbol close to name.
func (v *verifier) nearestSymbol(name string) (*loom.Def, string) {
	if v.suggestions++; v.suggestions > maxSuggestions || len(v.env.symbols) > maxSuggestedSymbols {
		return nil, ""
	}
	n := dialect.Nearest(name, v.env.names())
	if n == "" {
		return nil, ""
	}
	return v.env.symbols[n], n
}
