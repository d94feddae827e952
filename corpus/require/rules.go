package require

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/corpus/require/gguf"
	"github.com/loomc/loomc/corpus/require/jsonc"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// RulesSchema names the form of a rule file.
const RulesSchema = "loomc-model-rules-v1"

//go:embed rules/models.jsonc
var shipped embed.FS

// ShippedRules returns the text of the rules that come with loomc. They are also
// the documentation of the form.
func ShippedRules() *diag.Source {
	b, err := shipped.ReadFile("rules/models.jsonc")
	if err != nil {
		return diag.NewSource("models.jsonc", "") // the file is embedded, so it is there
	}
	return diag.NewSource("models.jsonc", string(b))
}

// Rules map the metadata of models to demands.
type Rules struct {
	// Parameters are the engine's choices (tokens per batch, cache length) with the
	// values that are tried.
	Parameters    map[string][]int64
	architectures []architecture
	groups        map[string][]template
	src           *diag.Source
}

type architecture struct {
	names  []string
	values []named
	uses   []string
	span   diag.Span
}

// named is an expression with a name, in file order.
type named struct {
	name string
	expr string
	lit  *jsonc.Value // a number or boolean written as such
	span diag.Span
	key  diag.Span
}

// template is a demand with expressions in place of values.
type template struct {
	name, export   string
	when           string
	whenSpan       diag.Span
	each           []named
	values         []named
	config         []named
	workload       []named
	launch         []named
	bindings       []named
	span, nameSpan diag.Span
}

// ReadRules reads a rule file. The shipped file documents the form.
func ReadRules(src *diag.Source) (*Rules, diag.List) {
	root, ds := jsonc.Parse(src, "SHAPES/SYNTAX", "rule file")
	if root == nil {
		return nil, ds
	}
	r := &rulesReader{reader: reader{ds: ds}, out: &Rules{Parameters: map[string][]int64{}, groups: map[string][]template{}, src: src}}
	if root.Kind != jsonc.Object || root.Get("schema").Str() != RulesSchema {
		r.fail(root.Span, "SHAPES/SCHEMA", "schema is '%s', want '%s'", root.Get("schema").Str(), RulesSchema).help(`write "schema": "%s"`, RulesSchema)
		return nil, r.ds
	}
	r.known(root, "a rule file", "schema", "comment", "parameters", "architectures", "groups")
	for _, m := range members(root.Get("parameters")) {
		var vs []int64
		for _, x := range m.Value.Items {
			n, ok := x.Int()
			if !ok {
				r.fail(x.Span, "SHAPES/TYPE", "parameter '%s' is no list of integers", m.Key).help("write [1, 512]")
			}
			vs = append(vs, n)
		}
		r.out.Parameters[m.Key] = vs
	}
	for _, m := range members(root.Get("groups")) {
		for _, x := range m.Value.Items {
			r.out.groups[m.Key] = append(r.out.groups[m.Key], r.template(x))
		}
	}
	if a := root.Get("architectures"); a != nil {
		for _, x := range a.Items {
			r.architecture(x)
		}
	}
	if r.ds.HasErrors() {
		return nil, r.ds.Sorted()
	}
	return r.out, r.ds.Sorted()
}

func members(v *jsonc.Value) []jsonc.Member {
	if v == nil {
		return nil
	}
	return v.Members
}

type rulesReader struct {
	reader
	out *Rules
}

func (r *rulesReader) strings(v *jsonc.Value, key string) (out []string) {
	l := v.Get(key)
	if l == nil {
		return nil
	}
	for _, x := range l.Items {
		out = append(out, x.Str())
	}
	return out
}

func (r *rulesReader) architecture(v *jsonc.Value) {
	r.known(v, "an architecture", "names", "values", "uses", "comment")
	a := architecture{names: r.strings(v, "names"), uses: r.strings(v, "uses"), values: r.named(v.Get("values")), span: v.Span}
	if len(a.names) == 0 {
		r.fail(v.Span, "SHAPES/MISSING", "an architecture has no names").help(`add "names": ["llama"]`)
	}
	for _, u := range a.uses {
		if _, ok := r.out.groups[u]; !ok {
			var known []string
			for g := range r.out.groups {
				known = append(known, g)
			}
			slices.Sort(known)
			f := r.fail(v.Span, "SHAPES/GROUP", "architecture '%s' uses group '%s', which does not exist", strings.Join(a.names, ", "), u)
			f.help("groups are: %s", orNone(known))
		}
	}
	r.out.architectures = append(r.out.architectures, a)
}

func (r *rulesReader) named(v *jsonc.Value) (out []named) {
	for _, m := range members(v) {
		if m.Key == "comment" {
			continue
		}
		n := named{name: m.Key, span: m.Value.Span, key: m.KeySpan}
		switch m.Value.Kind {
		case jsonc.String:
			n.expr = m.Value.Text
		case jsonc.Number, jsonc.Bool, jsonc.Null:
			n.lit = m.Value
		default:
			r.fail(m.Value.Span, "SHAPES/TYPE", "'%s' is %s, want an expression or a number", m.Key, m.Value.Kind).help("write the expression as a string")
		}
		out = append(out, n)
	}
	return out
}

func (r *rulesReader) template(v *jsonc.Value) template {
	r.known(v, "a rule", "name", "export", "when", "each", "values", "config", "workload", "launch", "bindings", "comment")
	t := template{
		name: r.str(v, "name"), export: r.str(v, "export"), when: r.str(v, "when"), span: v.Span, nameSpan: v.Span,
		each: r.named(v.Get("each")), values: r.named(v.Get("values")), config: r.named(v.Get("config")),
		workload: r.named(v.Get("workload")), launch: r.named(v.Get("launch")), bindings: r.named(v.Get("bindings")),
	}
	if w := v.Get("when"); w != nil {
		t.whenSpan = w.Span
	}
	if n := v.Get("name"); n != nil {
		t.nameSpan = n.Span
	}
	if t.name == "" || t.export == "" {
		r.fail(v.Span, "SHAPES/MISSING", "a rule needs a name and an export").help(`add "name" and "export"`)
	}
	return t
}

// Architectures lists the model architectures that the rules know, sorted.
func (r *Rules) Architectures() []string {
	var out []string
	for _, a := range r.architectures {
		out = append(out, a.names...)
	}
	slices.Sort(out)
	return out
}

// Cases returns the demands of a model. name is what reports call it; params
// override the values of the rules' parameters.
func (r *Rules) Cases(name string, m *gguf.File, params map[string][]int64) ([]Case, diag.List) {
	arch := m.Architecture()
	top := diag.Span{Src: r.src}
	if arch == "" {
		return nil, diag.List{diag.Errorf(top, "SHAPES/ARCHITECTURE", "%s does not state its architecture (general.architecture)", name).
			WithHelp("is it a model? Projector and vocabulary files have no shapes to check")}
	}
	i := slices.IndexFunc(r.architectures, func(a architecture) bool { return slices.Contains(a.names, arch) })
	if i < 0 {
		d := diag.Errorf(top, "SHAPES/ARCHITECTURE", "no rules for architecture '%s' of %s", arch, name)
		if near := dialect.Nearest(arch, r.Architectures()); near != "" {
			d = d.WithHelp("the nearest known one is '%s'; add the architecture to a rule file (--rules)", near)
		} else {
			d = d.WithHelp("known: %s; add the architecture to a rule file (--rules)", strings.Join(r.Architectures(), ", "))
		}
		return nil, diag.List{d}
	}
	a := &r.architectures[i]
	x := &expander{rules: r, model: name, arch: arch, file: m, params: params, seen: map[string]bool{}}
	var known []string
	for p := range r.Parameters {
		known = append(known, p)
	}
	slices.Sort(known)
	for p := range params {
		if !slices.Contains(known, p) {
			d := diag.Errorf(top, "SHAPES/PARAMETER", "the rules have no parameter '%s'", p)
			x.ds.Add(d.WithHelp("they have: %s", orNone(known)))
		}
	}
	base := map[string]value{}
	x.define(base, a.values)
	for _, g := range a.uses {
		for j := range r.groups[g] {
			x.each(&r.groups[g][j], base, 0)
		}
	}
	return x.out, x.ds.Sorted()
}

// expander turns the rules of one model into cases.
type expander struct {
	rules  *Rules
	model  string
	arch   string
	file   *gguf.File
	params map[string][]int64
	out    []Case
	seen   map[string]bool // cases by content
	ds     diag.List
}

func (x *expander) scope(vars map[string]value, used map[string]bool) scope {
	return scope{
		lookup: func(name string) value {
			if v, ok := vars[name]; ok {
				return v
			}
			if _, ok := x.rules.Parameters[name]; ok && used != nil {
				used[name] = true
			}
			for _, key := range []string{x.arch + "." + name, name} {
				if v, ok := x.file.Metadata[key]; ok {
					return metadata(v)
				}
			}
			return value{}
		},
		tensor: func(name string) (string, []int64, bool) {
			t, ok := x.file.Tensor(name)
			return t.Type.String(), t.Dims, ok
		},
	}
}

func metadata(v gguf.Value) value {
	switch v.Kind {
	case gguf.Int, gguf.Bool:
		return intValue(v.Int)
	case gguf.Float:
		return value{kind: float, f: v.Float}
	case gguf.String:
		return value{kind: text, s: v.Str}
	case gguf.Array:
		out := value{kind: list}
		for _, e := range v.Items {
			out.list = append(out.list, metadata(e))
		}
		return out
	}
	return value{}
}

func (x *expander) eval(n named, vars map[string]value, used map[string]bool) (value, bool) {
	if n.lit != nil {
		if i, err := strconv.ParseInt(n.lit.Text, 10, 64); err == nil {
			return intValue(i), true
		}
		if n.lit.Kind == jsonc.Null {
			return value{}, true
		}
		if f, err := strconv.ParseFloat(n.lit.Text, 64); err == nil {
			return value{kind: float, f: f}, true
		}
		return value{kind: text, s: n.lit.Text}, true
	}
	v, err := eval(n.expr, x.scope(vars, used))
	if err != nil {
		x.report(n.span, err)
		return value{}, false
	}
	return v, true
}

func (x *expander) report(sp diag.Span, err error) {
	d := diag.Errorf(sp, "SHAPES/EXPRESSION", "%s (architecture %s): %v", x.model, x.arch, err)
	if errors.Is(err, errMissing) {
		d = d.WithHelp("the model states no such value; give the expression a fallback with ??")
	} else {
		d = d.WithHelp("names are metadata keys without '%s.', values of this file, or parameters", x.arch)
	}
	x.ds.Add(d)
}

// define evaluates named values in order; later ones may use earlier ones. A
// value that comes out as nothing stays undefined.
func (x *expander) define(vars map[string]value, ns []named) {
	for _, n := range ns {
		if v, ok := x.eval(n, vars, nil); ok && v.kind != missing {
			vars[n.name] = v
		}
	}
}

// each expands the loops of a rule: every distinct element of a list, or the
// value itself when it is none.
func (x *expander) each(t *template, base map[string]value, level int) {
	if level == len(t.each) {
		x.parameters(t, base)
		return
	}
	n := t.each[level]
	v, ok := x.eval(n, base, nil)
	if !ok || v.kind == missing {
		return
	}
	items := []value{v}
	if v.kind == list {
		items = nil
		for _, e := range v.list {
			if !slices.ContainsFunc(items, func(o value) bool { return o.String() == e.String() }) {
				items = append(items, e)
			}
		}
	}
	for _, e := range items {
		vars := clone(base)
		vars[n.name] = e
		x.each(t, vars, level+1)
	}
}

func clone(m map[string]value) map[string]value {
	out := make(map[string]value, len(m)+4)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// parameters expands the rule for every combination of the parameters that it
// mentions.
func (x *expander) parameters(t *template, base map[string]value) {
	vars := clone(base)
	x.define(vars, t.values)
	if t.when != "" {
		v, err := eval(t.when, x.scope(vars, nil))
		if err != nil {
			x.report(t.whenSpan, err)
			return
		}
		if !v.truth() {
			return
		}
	}
	used := map[string]bool{}
	for _, n := range slices.Concat(t.values, t.config, t.workload, t.launch, t.bindings) {
		if n.lit == nil {
			for p := range x.rules.Parameters {
				if mentions(n.expr, p) {
					used[p] = true
				}
			}
		}
	}
	var names []string
	for p := range used {
		if _, own := base[p]; !own {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	x.combine(t, base, names)
}

// mentions reports whether name stands in an expression as a word of its own.
func mentions(expr, name string) bool {
	for at := 0; ; {
		i := strings.Index(expr[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		if (i == 0 || !isName(expr[i-1])) && (end == len(expr) || !isName(expr[end])) {
			return true
		}
		at = end
	}
}

func (x *expander) combine(t *template, vars map[string]value, names []string) {
	if len(names) == 0 {
		x.emit(t, vars)
		return
	}
	vs := x.params[names[0]]
	if vs == nil {
		vs = x.rules.Parameters[names[0]]
	}
	for _, v := range vs {
		next := clone(vars)
		next[names[0]] = intValue(v)
		x.combine(t, next, names[1:])
	}
}

func (x *expander) emit(t *template, base map[string]value) {
	vars := clone(base)
	x.define(vars, t.values)
	c := Case{Export: t.export, Span: t.span, ExportSpan: t.span}
	c.Why = fmt.Sprintf("%s asks for it (architecture %s, rule at %s)", x.model, x.arch, t.nameSpan)
	ok := true
	c.Name = x.fill(t.name, t.nameSpan, vars, &ok)
	c.Export = x.fill(t.export, t.span, vars, &ok)
	for _, n := range t.config {
		v, good := x.eval(n, vars, nil)
		ok = ok && good && x.present(n, v)
		c.Config = append(c.Config, linker.Binding{Key: n.name, Text: v.String(), Span: n.span})
	}
	params := func(ns []named) (out []Param) {
		for _, n := range ns {
			v, good := x.eval(n, vars, nil)
			ok = ok && good && x.present(n, v)
			out = append(out, Param{Name: n.name, Value: v.i, IsFloat: v.kind == float, Span: n.span, KeySpan: n.key})
		}
		return out
	}
	c.Workload, c.Launch = params(t.workload), params(t.launch)
	for _, n := range t.bindings {
		v, good := x.eval(n, vars, nil)
		ok = ok && good
		b := Buffer{Name: n.name, Bytes: -1, Span: n.span}
		if v.kind == integer {
			b.Bytes = v.i
		}
		c.Bindings = append(c.Bindings, b)
	}
	if !ok {
		return
	}
	if key := content(&c); !x.seen[key] {
		x.seen[key] = true
		x.out = append(x.out, c)
	}
}

func (x *expander) present(n named, v value) bool {
	if v.kind == missing {
		x.report(n.span, fmt.Errorf("in \"%s\": '%s' %w", n.expr, n.name, errMissing))
		return false
	}
	return true
}

// fill replaces {expression} in a name.
func (x *expander) fill(s string, sp diag.Span, vars map[string]value, ok *bool) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		expr, after, _ := strings.Cut(rest, "}")
		v, err := eval(expr, x.scope(vars, nil))
		if err != nil {
			x.report(sp, err)
			*ok = false
		}
		b.WriteString(v.String())
		s = after
	}
}

// content identifies what a case demands, its name apart.
func content(c *Case) string {
	var b strings.Builder
	b.WriteString(c.Export)
	for _, x := range c.Config {
		fmt.Fprintf(&b, " %s=%s", x.Key, x.Text)
	}
	for _, ps := range [][]Param{c.Workload, c.Launch} {
		b.WriteByte('|')
		for _, p := range ps {
			fmt.Fprintf(&b, " %s=%d", p.Name, p.Value)
		}
	}
	for _, x := range c.Bindings {
		fmt.Fprintf(&b, " %s:%d", x.Name, x.Bytes)
	}
	return b.String()
}
