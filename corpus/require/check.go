package require

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Result is what became of one demand.
type Result struct {
	Case   *Case
	Export *corpus.Export // nil when there is none
	Fit    *Fit           // nil when the export could not be looked at
	Run    *Run           // nil when the kernel did not close
	// Accepting are other exports that take the demand's config as it is. It is
	// filled when the demanded one does not.
	Accepting []string
	Diags     diag.List
}

// OK reports whether the demand can be met.
func (r *Result) OK() bool { return !r.Diags.HasErrors() }

// Check checks demands on all cores. Results are in the order of cases. The
// error is the context's.
func (b *Bench) Check(ctx context.Context, cases []Case) ([]Result, error) {
	out := make([]Result, len(cases))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cases {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return fmt.Errorf("checking case '%s': %w", cases[i].Name, err)
			}
			out[i] = b.check(gctx, &cases[i])
			return nil
		})
	}
	return out, g.Wait()
}

// CheckCase checks one demand.
func (b *Bench) CheckCase(ctx context.Context, c *Case) Result { return b.check(ctx, c) }

func (b *Bench) check(ctx context.Context, c *Case) Result {
	k := &checker{bench: b, Result: Result{Case: c}}
	if k.Export = k.find(); k.Export == nil {
		return k.Result
	}
	k.Fit = b.Fit(ctx, k.Export, c.Config, c.Target)
	contract := k.Fit.Contract
	if !contract.OK() {
		for _, d := range contract.Problems {
			if d.Severity == diag.Error {
				k.Diags.Add(diag.Errorf(k.at(c.ExportSpan), d.Code, "export '%s' is unusable: %s", c.Export, d.Message).
					WithRelated(d.Span, "found here").WithHelp("repair the corpus: 'loomc link --root %s' shows everything about it", c.Export))
				break
			}
		}
		k.done()
		return k.Result
	}
	k.config(contract)
	k.params(contract)
	k.relations(contract)
	k.local()
	k.rest(k.Diags.HasErrors())
	if k.Fit.Kernel != nil {
		k.Run = b.Run(k.Fit, values(k.workload()), values(k.launch()))
		k.geometry()
		k.buffers()
	} else {
		k.names(contract)
	}
	if k.Diags.HasErrors() {
		k.alternatives(ctx)
	}
	k.done()
	return k.Result
}

type checker struct {
	bench *Bench
	Result
}

// done sorts the findings and says which case they belong to.
func (k *checker) done() {
	for i := range k.Diags {
		if k.Case.Why != "" && k.Diags[i].Severity == diag.Error {
			k.Diags[i] = k.Diags[i].WithRelated(diag.Span{}, "case '%s': %s", k.Case.Name, k.Case.Why)
		}
	}
}

// at returns sp, or the case when sp has no place.
func (k *checker) at(sp diag.Span) diag.Span {
	if sp.Valid() {
		return sp
	}
	return k.Case.Span
}

func (k *checker) fail(sp diag.Span, code, format string, args ...any) *diag.Diagnostic {
	k.Diags.Add(diag.Errorf(k.at(sp), code, "case '%s': "+format, append([]any{k.Case.Name}, args...)...))
	return &k.Diags[len(k.Diags)-1]
}

// find looks the export up: the variant that suits the case's target, without a
// target the default one.
func (k *checker) find() *corpus.Export {
	m := k.bench.surface.Set().Corpus().Manifest()
	if m == nil {
		return nil
	}
	var vs []*corpus.Export
	if sym, ok := strings.CutPrefix(k.Case.Export, "@"); ok {
		for i := range m.Exports {
			if m.Exports[i].Symbol.Value == sym {
				vs = append(vs, &m.Exports[i])
			}
		}
	} else {
		vs = m.Variants(k.Case.Export)
	}
	if len(vs) > 0 {
		e, ds := k.bench.surface.Set().One(vs, k.Case.Target)
		for _, d := range ds {
			d.Span = k.at(k.Case.ExportSpan)
			d.Message = fmt.Sprintf("case '%s': %s", k.Case.Name, d.Message)
			k.Diags.Add(d)
		}
		return e
	}
	d := k.fail(k.Case.ExportSpan, "REQUIRE/EXPORT", "the corpus has no export '%s'", k.Case.Export)
	if near := m.NearestExport(k.Case.Export); near != "" {
		*d = d.WithHelp("did you mean '%s'?", near)
	} else {
		*d = d.WithHelp("'loomc link' lists the exports of the corpus")
	}
	return nil
}

// config checks every binding against all that is said about its symbol.
func (k *checker) config(contract *compat.Contract) {
	var keys []string
	for i := range contract.Configs {
		keys = append(keys, contract.Configs[i].Key)
	}
	bound := map[string]bool{}
	for _, b := range k.Case.Config {
		bound[b.Key] = true
		cfg := contract.Config(b.Key)
		if cfg == nil {
			d := k.fail(b.Span, "REQUIRE/CONFIG-UNKNOWN", "export '%s' reads no config '%s'", k.Case.Export, b.Key)
			if near := dialect.Nearest(b.Key, keys); near != "" {
				*d = d.WithHelp("did you mean '%s'?", near)
			} else {
				*d = d.WithHelp("it reads: %s", orNone(keys))
			}
			continue
		}
		k.configValue(contract, cfg, b)
	}
	for i := range contract.Configs {
		if cfg := &contract.Configs[i]; cfg.Required && !bound[cfg.Key] {
			d := k.fail(diag.Span{}, "REQUIRE/CONFIG-MISSING", "export '%s' needs config '%s'", k.Case.Export, cfg.Key)
			*d = d.WithRelated(cfg.Span, "declared here; allowed: %s", cfg.Words()).WithHelp("add it to the case's config")
		}
	}
}

func orNone(ss []string) string {
	if len(ss) == 0 {
		return "none"
	}
	return strings.Join(ss, ", ")
}

// configValue reports one value that something does not allow: once, with every
// statement that is against it.
func (k *checker) configValue(contract *compat.Contract, cfg *compat.Config, b linker.Binding) {
	lc := k.linked(cfg.Key)
	if lc == nil {
		return
	}
	if _, err := linker.ParseValue(cfg.Key, lc.Type, b.Text); err != nil {
		d := k.fail(b.Span, linker.ValueCode(err), "%s", err.Error())
		*d = d.WithRelated(cfg.Span, "declared as %s here; allowed: %s", cfg.Type, cfg.Words()).WithHelp("write a value of type %s", cfg.Type)
		return
	}
	if !cfg.Integer || lc.Value.Kind != loom.AttrInt && lc.Value.Kind != loom.AttrBool {
		for _, d := range lc.Check() {
			d.Span, d.Message = k.at(b.Span), "case '"+k.Case.Name+"': "+d.Message
			k.Diags.Add(d.WithRelated(cfg.Span, "declared here"))
		}
		return
	}
	v := lc.Value.Int
	var against []compat.Reason
	for _, r := range cfg.Reasons {
		if r.Exact && r.Always && !r.Set.Contains(v) {
			against = append(against, r)
		}
	}
	if len(against) == 0 {
		return
	}
	d := k.fail(b.Span, "REQUIRE/CONFIG", "config '%s' value %d is not accepted: allowed are %s", cfg.Key, v, cfg.Words())
	for _, r := range against {
		where := ""
		if r.In != "" {
			where = " in '@" + r.In + "'"
		}
		*d = d.WithRelated(r.Span, "%s%s states %s", r.By, where, r.Text)
	}
	*d = d.WithHelp("%s", nearestHelp(cfg.Accepted, v))
}

func nearestHelp(s linker.AllowedSet, v int64) string {
	switch near := s.Nearest(v); len(near) {
	case 0:
		return "no value is accepted: the declarations and assumes contradict each other"
	case 1:
		return fmt.Sprintf("the nearest allowed value is %d", near[0])
	default:
		return fmt.Sprintf("the nearest allowed values are %d and %d", near[0], near[1])
	}
}

func (k *checker) linked(key string) *linker.Config {
	for _, c := range k.Fit.Configs {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// workload and launch return the values given for either list; Params go to the
// list that has the name.
func (k *checker) workload() []Param {
	return assign(k.Case.Workload, k.Case.Params, k.Fit.Contract.Workload)
}
func (k *checker) launch() []Param {
	return assign(k.Case.Launch, k.Case.Params, k.Fit.Contract.Launch)
}

func assign(own, either []Param, list []compat.Scalar) []Param {
	out := slices.Clone(own)
	for _, p := range either {
		if slices.ContainsFunc(list, func(s compat.Scalar) bool { return s.Name == p.Name }) &&
			!slices.ContainsFunc(own, func(o Param) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	return out
}

func values(ps []Param) map[string]int64 {
	out := make(map[string]int64, len(ps))
	for _, p := range ps {
		if !p.IsFloat {
			out[p.Name] = p.Value
		}
	}
	return out
}

// params checks that the values are complete and within what the launch allows.
func (k *checker) params(c *compat.Contract) {
	check := func(what string, given []Param, list []compat.Scalar) {
		var names []string
		for _, s := range list {
			names = append(names, s.Name)
		}
		for _, p := range given {
			i := slices.Index(names, p.Name)
			if i < 0 {
				k.unknownParam(what, p, names)
				continue
			}
			s := list[i]
			if !s.Integer || p.IsFloat {
				continue
			}
			if domain, ok := linker.Domain(loom.Scalar(loom.ScalarKind(s.Type))); ok && !domain.Contains(p.Value) || s.Type == "index" && p.Value < 0 {
				d := k.fail(p.Span, "REQUIRE/PARAMETER", "%s '%s' value %d does not fit %s", what, s.Name, p.Value, s.Type)
				*d = d.WithRelated(s.Span, "declared here").WithHelp("an index parameter is not negative; other types take their own range")
				continue
			}
			if !s.Allowed.Contains(p.Value) {
				d := k.fail(p.Span, "REQUIRE/PARAMETER", "%s '%s' value %d is not accepted: the launch takes %s", what, s.Name, p.Value, s.Allowed.Words())
				*d = d.WithRelated(s.Span, "the launch's where clause bounds it").WithHelp("%s", nearestHelp(s.Allowed, p.Value))
			}
		}
		for _, s := range list {
			if !slices.ContainsFunc(given, func(p Param) bool { return p.Name == s.Name }) {
				d := k.fail(diag.Span{}, "REQUIRE/PARAMETER-MISSING", "no value for %s '%s: %s'", what, s.Name, s.Type)
				*d = d.WithRelated(s.Span, "declared here").WithHelp("add it to the case")
			}
		}
	}
	check("workload parameter", k.workload(), c.Workload)
	check("launch parameter", k.launch(), c.Launch)
	var names []string
	for _, s := range slices.Concat(c.Workload, c.Launch) {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	for _, p := range k.Case.Params {
		if !slices.Contains(names, p.Name) {
			k.unknownParam("parameter", p, names)
		}
	}
}

func (k *checker) unknownParam(what string, p Param, names []string) {
	d := k.fail(p.KeySpan, "REQUIRE/PARAMETER-UNKNOWN", "export '%s' has no %s '%s'", k.Case.Export, what, p.Name)
	if near := dialect.Nearest(p.Name, names); near != "" {
		*d = d.WithHelp("did you mean '%s'?", near)
	} else {
		*d = d.WithHelp("it has: %s", orNone(names))
	}
}

// relations evaluates what is demanded of several values together: the launch
// where clause and the assumes at the top of the kernel.
func (k *checker) relations(c *compat.Contract) {
	launch := values(k.launch())
	link := c.Link()
	if link == nil || len(link.Roots) == 0 {
		return
	}
	def := link.Roots[0].Def
	value := func(v *loom.Value) (int64, bool) {
		v = origin(v)
		if v.Def != nil {
			if v.Def.Name() != "config.get" {
				return constant(v)
			}
			lc := k.linked(v.Def.Word("config"))
			if lc == nil || !lc.Bound || lc.Value.Kind != loom.AttrInt {
				return 0, false
			}
			return lc.Value.Int, true
		}
		if !slices.Contains(def.Params, v) {
			return 0, false
		}
		x, ok := launch[v.Name]
		return x, ok
	}
	judge := func(p loom.Predicate, span diag.Span, by string) {
		if !several(p) {
			return
		}
		if ok, known := holds(p, value); ok || !known {
			return
		}
		var parts []string
		var at diag.Span
		for _, a := range p.Args {
			if a.Val == nil {
				continue
			}
			x, _ := value(a.Val)
			name := k.nameOf(origin(a.Val))
			parts = append(parts, fmt.Sprintf("%s is %d", name, x))
			if sp := k.placeOf(name); sp.Valid() && !at.Valid() {
				at = sp
			}
		}
		d := k.fail(at, "REQUIRE/RELATION", "%s does not hold: %s", p.String(), strings.Join(parts, ", "))
		*d = d.WithRelated(span, "%s states it", by).WithHelp("change one of the values so that the relation holds")
	}
	for _, p := range def.Where {
		judge(p, spanOr(p.Span, def.NameSpan), "the launch's where clause")
	}
	entry := def.Body.Entry()
	if entry == nil {
		return
	}
	for _, o := range entry.Ops {
		if o.Def.Traits&loom.Fact == 0 {
			continue
		}
		for _, p := range o.Preds() {
			judge(p, spanOr(p.Span, o.NameSpan()), o.Name())
		}
	}
}

func spanOr(a, b diag.Span) diag.Span {
	if a.Valid() {
		return a
	}
	return b
}

func several(p loom.Predicate) bool {
	var first *loom.Value
	for _, a := range p.Args {
		switch {
		case a.Val == nil:
		case first == nil:
			first = a.Val
		case a.Val != first:
			return true
		}
	}
	return false
}

// origin follows assumes and casts back.
func origin(v *loom.Value) *loom.Value {
	for v.Def != nil {
		switch {
		case v.Def.Name() == "index.cast" && v.Def.Operand("input") != nil:
			v = v.Def.Operand("input")
		case v.Def.Def.Traits&loom.Fact != 0 && int(v.Index) < len(v.Def.Operands):
			v = v.Def.Operands[v.Index]
		default:
			return v
		}
	}
	return v
}

func constant(v *loom.Value) (int64, bool) {
	if n := v.Def.Name(); n == "index.constant" || n == "scalar.constant" {
		if a := v.Def.Attr("value"); a.Kind == loom.AttrInt {
			return a.Int, true
		}
	}
	return 0, false
}

func (k *checker) nameOf(v *loom.Value) string {
	if v.Def != nil && v.Def.Name() == "config.get" {
		return v.Def.Word("config")
	}
	return v.Name
}

// placeOf is where the case gives a value the name.
func (k *checker) placeOf(name string) diag.Span {
	for _, b := range k.Case.Config {
		if b.Key == name {
			return b.Span
		}
	}
	for _, p := range slices.Concat(k.Case.Launch, k.Case.Params) {
		if p.Name == name {
			return p.Span
		}
	}
	return diag.Span{}
}

// local checks workgroup memory, whatever else is wrong with the config.
func (k *checker) local() {
	f := k.Fit
	if f.Target == nil || f.LocalBytes <= int64(f.Target.LDSBytes) {
		return
	}
	d := k.fail(diag.Span{}, "REQUIRE/WORKGROUP-MEMORY", "the configuration wants %d bytes of workgroup memory, %s has %d", f.LocalBytes, f.Target.Processor, f.Target.LDSBytes)
	*d = d.WithRelated(f.Contract.Kernel, "reserved: %s", strings.Join(f.Local, ", ")).WithHelp("choose config values that reserve less; 'loomc explain %s' shows what each costs", k.Case.Export)
}

// rest reports what linking or specialisation found and nothing above has said.
// With a value refused, what else fails may follow from it; only what is about the
// target is said then.
func (k *checker) rest(refused bool) {
	for _, d := range k.Fit.Diags {
		if d.Severity != diag.Error || refused && d.Code != "TARGET/052" && d.Code != "TARGET/UNKNOWN" {
			continue
		}
		related := d.Related
		n := diag.Errorf(k.at(k.Case.ExportSpan), d.Code, "case '%s': %s", k.Case.Name, d.Message)
		if d.Span.Valid() {
			n = n.WithRelated(d.Span, "found here")
		}
		n.Related = append(n.Related, related...)
		n.Help = d.Help
		k.Diags.Add(n)
	}
}

func (k *checker) geometry() {
	t, g := k.Fit.Target, k.Run.Geometry
	items := int64(1)
	for i, axis := range []string{"x", "y", "z"} {
		switch n := g.Count[i]; {
		case n == 0:
			d := diag.Warnf(k.at(diag.Span{}), "REQUIRE/EMPTY-GRID", "case '%s': the grid has no workgroups along %s", k.Case.Name, axis).
				WithRelated(k.Fit.Contract.Kernel, "the launch-config block computes %s", g)
			k.Diags.Add(d.WithHelp("nothing would run; check the workload values"))
		case n < -1 || n > t.MaxGridDim[i]:
			d := k.fail(diag.Span{}, "REQUIRE/GRID", "the grid has %d workgroups along %s, %s launches at most %d", n, axis, t.Processor, t.MaxGridDim[i])
			*d = d.WithRelated(k.Fit.Contract.Kernel, "the launch-config block computes %s", g).WithHelp("split the launch")
		}
		if n := g.Size[i]; n > t.MaxWorkgroupDim[i] || n == 0 {
			d := k.fail(diag.Span{}, "REQUIRE/WORKGROUP", "the workgroup has %d items along %s, %s runs 1 to %d", n, axis, t.Processor, t.MaxWorkgroupDim[i])
			*d = d.WithRelated(k.Fit.Contract.Kernel, "the launch-config block computes %s", g).WithHelp("choose config values that make a smaller workgroup")
		}
		items *= max(g.Size[i], 1)
	}
	if items > int64(t.MaxWorkgroupSize) {
		d := k.fail(diag.Span{}, "REQUIRE/WORKGROUP", "the workgroup has %d items, %s runs at most %d", items, t.Processor, t.MaxWorkgroupSize)
		*d = d.WithRelated(k.Fit.Contract.Kernel, "the launch-config block computes %s", g).WithHelp("choose config values that make a smaller workgroup")
	}
}

// names checks binding names and, for an ordered list, positions and number.
func (k *checker) names(c *compat.Contract) {
	var have []string
	for _, b := range c.Bindings {
		have = append(have, b.Name)
	}
	if len(k.Case.Bindings) == 0 {
		return
	}
	for i, b := range k.Case.Bindings {
		at := slices.Index(have, b.Name)
		switch {
		case at < 0:
			d := k.fail(b.Span, "REQUIRE/BINDING", "export '%s' has no binding '%s'", k.Case.Export, b.Name)
			if near := dialect.Nearest(b.Name, have); near != "" {
				*d = d.WithHelp("did you mean '%s'?", near)
			} else {
				*d = d.WithHelp("its bindings are: %s", orNone(have))
			}
		case k.Case.Ordered && at != i:
			d := k.fail(b.Span, "REQUIRE/BINDING-ORDER", "binding '%s' is number %d of the case, but number %d of the kernel", b.Name, i+1, at+1)
			*d = d.WithRelated(c.Bindings[at].Span, "the kernel has it here").WithHelp("the kernel's order is: %s", strings.Join(have, ", "))
		}
	}
	for i, name := range have {
		if !slices.ContainsFunc(k.Case.Bindings, func(b Buffer) bool { return b.Name == name }) {
			d := k.fail(diag.Span{}, "REQUIRE/BINDING", "binding %d '%s' of the kernel is not in the case", i+1, name)
			*d = d.WithRelated(c.Bindings[i].Span, "the kernel has it here").WithHelp("list every binding: %s", strings.Join(have, ", "))
		}
	}
}

// buffers compares the sizes with what the kernel reaches.
func (k *checker) buffers() {
	k.names(k.Fit.Contract)
	given := values(k.launch())
	for _, s := range k.Fit.Kernel.Launch {
		if _, ok := given[s.Name]; !ok && !s.Param.Type.Kind.IsFloat() {
			return // reported; without the value the reach is a worst case
		}
	}
	for _, b := range k.Case.Bindings {
		i := slices.IndexFunc(k.Fit.Contract.Bindings, func(x compat.Binding) bool { return x.Name == b.Name })
		if i < 0 || b.Bytes < 0 || i >= len(k.Run.Reach) {
			continue
		}
		if r := k.Run.Reach[i]; r.Bytes > b.Bytes {
			d := k.fail(b.Span, "REQUIRE/BINDING-SIZE", "binding '%s' has %d bytes, the kernel reaches %d", b.Name, b.Bytes, r.Bytes)
			*d = d.WithRelated(r.At, "this access ends at byte %d", r.Bytes)
			if r.View.Valid() && r.View != r.At {
				*d = d.WithRelated(r.View, "through this view")
			}
			*d = d.WithHelp("pass at least %d bytes, or correct the sizes and strides in config and parameters", r.Bytes)
		}
	}
}

// alternatives looks for other exports of the family, or with the same config
// keys, that take the demand's config.
func (k *checker) alternatives(ctx context.Context) {
	if len(k.Case.Config) == 0 {
		return
	}
	refused := slices.ContainsFunc(k.Diags, func(d diag.Diagnostic) bool {
		return d.Code == "REQUIRE/CONFIG" || d.Code == "REQUIRE/WORKGROUP-MEMORY" || d.Code == "REQUIRE/PARAMETER"
	})
	if !refused {
		return
	}
	family := k.Fit.Contract.Family
	for _, e := range k.bench.surface.Exports() {
		if e == k.Export || e.Family.Value != family || !e.OK() {
			continue
		}
		c := k.bench.surface.Contract(ctx, e)
		if c.OK() && k.takes(ctx, e, c) {
			k.Accepting = append(k.Accepting, e.ID())
		}
	}
	slices.Sort(k.Accepting)
	if len(k.Accepting) == 0 {
		return
	}
	for i := range k.Diags {
		if d := &k.Diags[i]; d.Code == "REQUIRE/CONFIG" || d.Code == "REQUIRE/WORKGROUP-MEMORY" || d.Code == "REQUIRE/PARAMETER" {
			d.Help += "; these exports take it: " + strings.Join(k.Accepting, ", ")
		}
	}
}

func (k *checker) takes(ctx context.Context, e *corpus.Export, c *compat.Contract) bool {
	for _, b := range k.Case.Config {
		cfg := c.Config(b.Key)
		if cfg == nil {
			return false
		}
	}
	for i := range c.Configs {
		if cfg := &c.Configs[i]; cfg.Required && !slices.ContainsFunc(k.Case.Config, func(b linker.Binding) bool { return b.Key == cfg.Key }) {
			return false
		}
	}
	for _, p := range slices.Concat(k.Case.Launch, k.Case.Params) {
		for _, s := range c.Launch {
			if s.Name == p.Name && s.Integer && !p.IsFloat && !s.Allowed.Contains(p.Value) {
				return false
			}
		}
	}
	return k.bench.Fit(ctx, e, k.Case.Config, k.Case.Target).Kernel != nil
}
