package linker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Config is one config symbol of a link: what it may be, what it is, and where
// that matters.
type Config struct {
	Key   string
	Type  *loom.Type
	Doc   string      // comment above the first documented declaration
	Decls []*loom.Def // config.decl, in index order; several files may repeat one
	Defs  []*loom.Def // config.def, in index order
	// Constraints are the declarations' predicates, each once.
	Constraints []Constraint
	// Allowed is the set that the declarations leave of an integer config's
	// domain. It is empty and meaningless unless Integer is set.
	Allowed AllowedSet
	Integer bool
	// Reads are the places that read the config.
	Reads []Read
	// Promises are the assumes and function preconditions that say something
	// about the config's value where it is used.
	Promises []Promise
	// Relations are promises that tie the value to those of other configs.
	Relations []*Relation

	Bound bool      // has a value
	Value loom.Attr // when Bound
	// From says where the value came from: "binding" or "definition".
	From string
	// Span is the place of the binding or definition, if it has one.
	Span diag.Span
}

// Constraint is one predicate of a config's declarations.
type Constraint struct {
	Pred loom.Predicate
	// Value is the declared value the predicate talks about.
	Value *loom.Value
	Span  diag.Span
	Decl  *loom.Def
	Also  []diag.Span // further declarations that repeat it
	// Set holds the values that satisfy it; only when Exact.
	Set   AllowedSet
	Exact bool
}

// Read is one config.get.
type Read struct {
	Span diag.Span
	In   string // symbol that holds it
}

// Text returns the value as a binding would write it, "" when unbound.
func (c *Config) Text() string {
	if !c.Bound {
		return ""
	}
	return valueText(c.Value)
}

// Place is where the config is declared or, failing that, defined.
func (c *Config) Place() diag.Span {
	if len(c.Decls) > 0 {
		return c.Decls[0].NameSpan
	}
	return c.Defs[0].NameSpan
}

// AllowedWords describes the values the declarations permit, for people.
func (c *Config) AllowedWords() string {
	switch {
	case c.Type == nil:
		return ""
	case c.Type.Kind == loom.I1 && c.Allowed.Equal(Between(0, 1)):
		return "true or false"
	case c.Integer && c.Allowed.Equal(domainOf(c.Type)):
		return "any " + c.Type.String()
	case c.Integer:
		return c.Allowed.Words()
	}
	return "any " + c.Type.String()
}

// Accepted is Allowed narrowed by the promises the linked code always makes: the
// values the kernel really takes.
func (c *Config) Accepted() AllowedSet {
	s := c.Allowed
	for _, p := range c.Promises {
		if p.Exact && p.Always {
			s = s.Intersect(p.Set)
		}
	}
	return s
}

// configs collects the config symbols of the closure.
func (l *link) configs(ordered []*liveSymbol) map[*symbol]*Config {
	out := map[*symbol]*Config{}
	for _, ls := range ordered {
		if isConfig(ls.sym.entry().def) {
			out[ls.sym] = l.newConfig(ls.sym)
		}
	}
	if len(out) == 0 {
		return out
	}
	for _, ls := range ordered {
		ls.sym.each(func(e *entry) {
			for _, o := range e.configReads() {
				if s, _ := l.x.resolve(e.source, o.Word("config")); out[s] != nil {
					c := out[s]
					c.Reads = append(c.Reads, Read{o.NameSpan(), ls.name})
					l.checkReadType(c, o)
				}
			}
		})
	}
	l.flow(ordered, out)
	return out
}

func (l *link) checkReadType(c *Config, o *loom.Op) {
	if r := o.Result(); r != nil && c.Type != nil && !r.Type.Equal(c.Type) {
		l.ds.Add(diag.Errorf(o.NameSpan(), "TYPE/001", "config.get reads '@%s' as %s, but it is declared as %s", c.Key, r.Type, c.Type).
			WithRelated(c.Place(), "declared here").
			WithHelp("read it as %s", c.Type))
	}
}

// newConfig merges the declarations and definitions of a config symbol.
func (l *link) newConfig(s *symbol) *Config {
	c := &Config{Key: s.name}
	for _, e := range s.decls {
		e.def.Load()
		c.Decls = append(c.Decls, e.def)
	}
	for _, e := range append(slices.Clone(s.extra), s.body) {
		if e != nil {
			e.def.Load()
			c.Defs = append(c.Defs, e.def)
		}
	}
	slices.SortFunc(c.Defs, func(a, b *loom.Def) int { return strings.Compare(a.NameSpan.String(), b.NameSpan.String()) })
	if s.body != nil {
		// The body is the first in index order; keep it in front.
		i := slices.Index(c.Defs, s.body.def)
		c.Defs = append([]*loom.Def{s.body.def}, slices.Delete(c.Defs, i, i+1)...)
	}
	c.mergeTypes(&l.ds)
	c.mergeConstraints()
	c.define(&l.ds)
	return c
}

func (c *Config) mergeTypes(ds *diag.List) {
	for i, d := range append(slices.Clone(c.Decls), c.Defs...) {
		if c.Doc == "" {
			c.Doc = d.Doc
		}
		switch {
		case d.ConfigType == nil:
		case c.Type == nil:
			c.Type = d.ConfigType
		case !d.ConfigType.Equal(c.Type):
			code, msg := "LINK/MISMATCH", "linked config declaration for '@%s' has incompatible field 'type'"
			if i >= len(c.Decls) && len(c.Decls) == 0 {
				code, msg = "CONFIG/DUPLICATE", "duplicate config definition '@%s' has incompatible type"
			}
			ds.Add(diag.Errorf(d.NameSpan, code, msg, c.Key).
				WithRelated(c.Place(), "%s there, %s here", c.Type, d.ConfigType).
				WithHelp("give every declaration and definition of '@%s' one type", c.Key))
		}
	}
	if c.Type == nil {
		c.Type = &loom.Type{Kind: loom.Invalid}
	}
}

func (c *Config) mergeConstraints() {
	c.Allowed, c.Integer = Domain(c.Type)
	byText := map[string]int{}
	for _, d := range c.Decls {
		for _, p := range d.Where {
			span := p.Span
			if !span.Valid() {
				span = d.NameSpan
			}
			text := constraintText(p, d.ConfigVal)
			if i, ok := byText[text]; ok {
				c.Constraints[i].Also = append(c.Constraints[i].Also, span)
				continue
			}
			byText[text] = len(c.Constraints)
			k := Constraint{Pred: p, Value: d.ConfigVal, Span: span, Decl: d}
			k.Set, k.Exact = PredicateSet(p, d.ConfigVal)
			if k.Exact {
				c.Allowed = c.Allowed.Intersect(k.Set)
			}
			c.Constraints = append(c.Constraints, k)
		}
	}
}

// constraintText is a predicate's text under one name for the declared value,
// so that repeated declarations compare equal.
func constraintText(p loom.Predicate, v *loom.Value) string {
	self := &loom.Value{Name: "·"}
	return p.Map(func(w *loom.Value) *loom.Value {
		if w == v {
			return self
		}
		return w
	}).String()
}

// define takes the value of the config's definitions, which must agree.
func (c *Config) define(ds *diag.List) {
	if len(c.Defs) == 0 {
		return
	}
	first := c.Defs[0]
	for _, d := range c.Defs[1:] {
		if d.ConfigType.Equal(first.ConfigType) && !sameConfigValue(d.ConfigType, d.Init, first.Init) {
			ds.Add(diag.Errorf(d.NameSpan, "CONFIG/DUPLICATE", "duplicate config definition '@%s' has incompatible value", c.Key).
				WithRelated(first.NameSpan, "%s there, %s here", first.Init, d.Init).
				WithHelp("keep one definition of '@%s'", c.Key))
		}
	}
	c.Bound, c.Value, c.From, c.Span = true, first.Init, "definition", first.NameSpan
	if c.Type.Kind == loom.I1 && c.Value.Kind == loom.AttrInt {
		c.Value = loom.BoolAttr(c.Value.Int != 0)
	}
}

func sameConfigValue(t *loom.Type, a, b loom.Attr) bool {
	if t != nil && t.Kind == loom.I1 {
		return a.Bool() == b.Bool()
	}
	if a.Kind == loom.AttrFloat && b.Kind == loom.AttrFloat {
		return a.Int == b.Int
	}
	return a.Equal(b)
}

// bind applies the request's bindings, checks every bound value and returns the
// keys that no linked config took.
func (l *link) bind(configs map[*symbol]*Config) (unused []string) {
	byKey := make(map[string]*Config, len(configs))
	var ordered []*Config
	for _, c := range configs {
		byKey[c.Key] = c
		ordered = append(ordered, c)
	}
	slices.SortFunc(ordered, func(a, b *Config) int { return strings.Compare(a.Key, b.Key) })

	bindings, ds := Bindings(l.req.Config)
	l.ds.Add(ds...)
	keys := make([]string, 0, len(bindings))
	for k := range bindings {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b := bindings[k]
		c := byKey[k]
		if c == nil {
			unused = append(unused, k)
			l.unusedKey(b)
			continue
		}
		v, err := ParseValue(k, c.Type, b.Text)
		if err != nil {
			l.ds.Add(c.located(diag.Errorf(c.Place(), ValueCode(err), "%s", err.Error()), b).
				WithHelp("'@%s' is declared as %s; allowed: %s", k, c.Type, c.AllowedWords()))
			continue
		}
		c.Bound, c.Value, c.From, c.Span = true, v, "binding", b.Span
	}
	for _, c := range ordered {
		if c.Bound {
			l.ds.Add(c.Check()...)
		}
	}
	for _, r := range l.relations {
		l.ds.Add(r.check()...)
	}
	if l.req.RequireResolvedConfig {
		l.ds.Add(unresolvedConfigs(ordered)...)
	}
	return unused
}

// unusedKey reports a binding that names no linked config.
func (l *link) unusedKey(b Binding) {
	if s := l.x.globals[b.Key]; s != nil && isConfig(s.entry().def) {
		return // a config of the sources that these roots do not read
	}
	for _, e := range l.x.entries {
		if e.def.Name == b.Key {
			l.ds.Add(diag.Errorf(b.Span, "CONFIG/NOT-CONFIG", "symbol '%s' is not a config symbol", b.Key).
				WithRelated(e.def.NameSpan, "it is a %s", kindWords(e.def)).
				WithHelp("only what config.decl and config.def name can be bound"))
			return
		}
	}
	if l.req.StrictConfig {
		l.ds.Add(UnknownConfig(b, l.x.ConfigKeys()))
	}
}

// UnknownConfig reports a binding whose key is not among the known ones, and
// suggests the nearest. Callers that link several requests under one set of
// bindings use it for the keys that every link left unused.
func UnknownConfig(b Binding, known []string) diag.Diagnostic {
	d := diag.Errorf(b.Span, "CONFIG/UNKNOWN", "unknown config '%s'", b.Key)
	if near := dialect.Nearest(b.Key, known); near != "" {
		return d.WithHelp("did you mean '%s'?", near)
	}
	if len(known) == 0 {
		return d.WithHelp("nothing here declares a config")
	}
	return d.WithHelp("--print-config-schema lists the configs that exist")
}

// ConfigKeys returns the names of every config the sources declare or define,
// sorted.
func (x *Index) ConfigKeys() []string {
	var out []string
	for _, e := range x.entries {
		if isConfig(e.def) {
			out = append(out, e.def.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func unresolvedConfigs(ordered []*Config) diag.List {
	var open []*Config
	for _, c := range ordered {
		if !c.Bound {
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return nil
	}
	d := diag.Errorf(open[0].Place(), "CONFIG/UNRESOLVED", "unresolved config '@%s' remains for final compilation (%d unresolved configs total)", open[0].Key, len(open))
	for i, c := range open {
		d = d.WithRelated(c.Place(), "'@%s: %s' needs a value; allowed: %s", c.Key, c.Type, c.AllowedWords())
		if i == 0 && len(c.Reads) > 0 {
			d = d.WithRelated(c.Reads[0].Span, "read here, in '@%s'", c.Reads[0].In)
		}
	}
	return diag.List{d.WithHelp("bind %s, e.g. --config %s=%s", map[bool]string{true: "it", false: "them"}[len(open) == 1], open[0].Key, open[0].example())}
}

// example returns a value that would do.
func (c *Config) example() string {
	switch {
	case c.Type.Kind == loom.I1:
		return "true"
	case c.Integer:
		if vs := c.Allowed.Nearest(1); len(vs) > 0 {
			return fmt.Sprint(vs[len(vs)-1])
		}
	case c.Type.Kind.IsFloat():
		return "1.0"
	}
	return "VALUE"
}

// Check tests the bound value against the declarations' constraints and the
// promises of the linked code. Every violated constraint gets its own finding;
// the first one carries the related places.
func (c *Config) Check() diag.List {
	var ds diag.List
	for _, k := range c.Constraints {
		switch ok, problem := c.satisfies(k.Pred, k.Value); {
		case problem != "":
			ds.Add(diag.Errorf(k.Span, "CONFIG/CONSTRAINT", "%s", problem).
				WithRelated(k.Decl.NameSpan, "declared here").
				WithHelp("constraints of a config compare its own value with integer literals"))
		case !ok:
			d := diag.Errorf(k.Span, "CONFIG/INVALID", "symbol '@%s' value %s violates constraint '%s'", c.Key, c.Text(), k.Pred.Name())
			if len(ds) == 0 || ds[0].Code != "CONFIG/INVALID" {
				d = c.explain(d, k)
			} else {
				d = c.located(d, Binding{Span: c.Span})
			}
			ds.Add(d)
		}
	}
	if len(ds) > 0 {
		return ds
	}
	for _, p := range c.violatedPromises() {
		sev, how := diag.Error, "contradicts"
		switch {
		case p.Chosen:
			continue // selection may leave it out; specialisation will know
		case !p.Always:
			sev, how = diag.Warning, "may contradict"
		}
		d := diag.Diagnostic{Severity: sev, Code: "CONFIG/ASSUME", Span: p.Span,
			Message: fmt.Sprintf("symbol '@%s' value %s %s '%s', which %s", c.Key, c.Text(), how, p.Pred.Name(), p.says())}
		d = c.located(d.WithRelated(c.Place(), "the declaration permits %s", c.AllowedWords()), Binding{Span: c.Span})
		ds.Add(d.WithHelp("%s", c.nearestHelp(c.Accepted().Intersect(p.Set))))
	}
	return ds
}

// explain adds the declaration, the allowed set and the promises that repeat
// the bound.
func (c *Config) explain(d diag.Diagnostic, k Constraint) diag.Diagnostic {
	d = d.WithRelated(k.Decl.NameSpan, "declared here: %s", declText(k.Decl))
	for _, sp := range k.Also {
		d = d.WithRelated(sp, "the same constraint is repeated here")
	}
	if c.Integer {
		d = d.WithRelated(diag.Span{}, "allowed: %s", c.AllowedWords())
	}
	violated := c.violatedPromises()
	for _, p := range violated {
		d = d.WithRelated(p.Span, "%s here repeats the bound: %s", p.Op, p.Pred)
	}
	d = c.located(d, Binding{Span: c.Span})
	help := c.nearestHelp(c.Accepted())
	if len(violated) > 0 {
		help += fmt.Sprintf("; to allow %s, change the declaration and the %s that %s it", c.Text(),
			plural(len(violated), "place"), map[bool]string{true: "repeats", false: "repeat"}[len(violated) == 1])
	}
	return d.WithHelp("%s", help)
}

// located adds the place of the binding when it has one.
func (c *Config) located(d diag.Diagnostic, b Binding) diag.Diagnostic {
	if b.Span.Valid() && b.Span != d.Span && c.From != "definition" {
		return d.WithRelated(b.Span, "bound here")
	}
	if b.Span.Valid() && b.Span != d.Span {
		return d.WithRelated(b.Span, "defined here")
	}
	return d
}

func (c *Config) nearestHelp(s AllowedSet) string {
	if !c.Integer {
		return "choose a value that satisfies every constraint of the declaration"
	}
	near := s.Nearest(c.Value.Int)
	switch len(near) {
	case 0:
		return "no value satisfies every constraint; the declarations and assumes contradict each other"
	case 1:
		return fmt.Sprintf("the nearest allowed value is %d", near[0])
	}
	return fmt.Sprintf("the nearest allowed values are %d and %d", near[0], near[1])
}

func declText(d *loom.Def) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s where [", d.ConfigType)
	for i, p := range d.Where {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.String())
	}
	return b.String() + "]"
}

// satisfies evaluates one constraint for the bound value. problem is set when
// the constraint cannot be evaluated.
func (c *Config) satisfies(p loom.Predicate, self *loom.Value) (ok bool, problem string) {
	float := p.Kind == loom.PredNotNaN || p.Kind == loom.PredNotInf || p.Kind == loom.PredFinite
	switch {
	case float && c.Type.Kind.IsFloat() && len(p.Args) == 1 && p.Args[0].Val == self:
		return p.Kind.HoldsFloat(c.Value.Float(), 0, 0), ""
	case !c.Integer:
		return false, fmt.Sprintf("config '%s' has constraints that require an integer value", c.Key)
	}
	set, exact := PredicateSet(p, self)
	if !exact {
		return false, fmt.Sprintf("config constraint '%s' must use literal integer arguments", p.Name())
	}
	return set.Contains(c.Value.Int), ""
}

// materialise turns a clone of one of the config's definitions into the linked
// form: a config.def when there is a value, else the merged declaration.
func (c *Config) materialise(n *loom.Def) {
	n.Doc = c.Doc
	n.ConfigType = c.Type
	if c.Bound {
		n.Kind, n.Op = loom.DefConfigDef, lookupOp("config.def")
		n.Init, n.ConfigVal, n.Where = c.Value, nil, nil
		return
	}
	for _, d := range c.Decls {
		if n.ConfigVal == nil && d.ConfigVal != nil {
			n.ConfigVal = &loom.Value{Name: d.ConfigVal.Name, Type: c.Type}
		}
	}
	n.Where = nil
	for _, k := range c.Constraints {
		n.Where = append(n.Where, k.Pred.Map(func(v *loom.Value) *loom.Value {
			if v == k.Value {
				return n.ConfigVal
			}
			return v
		}))
	}
}

func domainOf(t *loom.Type) AllowedSet {
	s, _ := Domain(t)
	return s
}
