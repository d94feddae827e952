package compat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
)

// comparison is one export on both sides.
type comparison struct {
	*differ
	o, n    *Contract
	configs bool              // a finding about the set of a config or a relation was made
	renamed map[string]string // "%new" or "@new" → the old name, sigil included
}

// compare runs every rule on one export.
func (d *differ) compare(o, n *Contract) {
	c := &comparison{differ: d, o: o, n: n, renamed: map[string]string{}}
	if !o.OK() || !n.OK() {
		c.usability()
	}
	c.identity()
	c.bindings()
	c.scalars(o.Launch, n.Launch, "launch parameter", scalarRules{LaunchAdded, LaunchRemoved, LaunchReorder, LaunchRenamed, LaunchRetyped})
	c.scalars(o.Workload, n.Workload, "workload parameter", scalarRules{WorkloadAdded, WorkloadRemoved, WorkloadReorder, WorkloadRenamed, WorkloadRetyped})
	if o.link == nil || n.link == nil {
		return
	}
	c.launchSets()
	keys := c.configSymbols()
	c.relations()
	c.body(keys)
	c.geometry()
}

func (c *comparison) report(f Finding) {
	f.Export, f.Target = c.n.Name, c.n.Target
	if !f.Old.Span.Valid() {
		f.Old.Span = at(c.o)
	}
	if !f.New.Span.Valid() {
		f.New.Span = at(c.n)
	}
	c.add(f)
}

func (c *comparison) usability() {
	switch {
	case c.o.OK():
		first := firstError(c.n.Problems)
		f := finding(ExportUnusable, "'%s' does not link any more: %s: %s", c.n.ID(), first.Code, first.Message)
		f.New = Side{first.Span, first.Help}
		for _, r := range first.Related {
			f.Detail = append(f.Detail, strings.TrimPrefix(r.Span.String()+": ", "-: ")+r.Message)
		}
		c.report(f)
	case c.n.OK():
		first := firstError(c.o.Problems)
		f := finding(ExportRepaired, "'%s' links again; the old error was %s: %s", c.n.ID(), first.Code, first.Message)
		f.Old = Side{Span: first.Span}
		c.report(f)
	}
}

func firstError(ds diag.List) diag.Diagnostic {
	for _, d := range ds {
		if d.Severity == diag.Error {
			return d
		}
	}
	return diag.Diagnostic{}
}

func (c *comparison) identity() {
	o, n := c.o, c.n
	if o.Symbol != n.Symbol {
		f := finding(SymbolChanged, "kernel symbol was '@%s' and is '@%s'", o.Symbol, n.Symbol)
		f.Old, f.New = Side{o.Export.Symbol.Span, o.Symbol}, Side{n.Export.Symbol.Span, n.Symbol}
		c.report(f)
	}
	if o.Family != n.Family {
		f := finding(FamilyChanged, "family was '%s' and is '%s'", o.Family, n.Family)
		f.Old, f.New = Side{o.Export.Family.Span, o.Family}, Side{n.Export.Family.Span, n.Family}
		c.report(f)
	}
	if o.Source != n.Source {
		f := finding(SourceMoved, "the kernel moved from %s to %s", o.Source, n.Source)
		f.Old, f.New = Side{o.Export.Source.Span, o.Source}, Side{n.Export.Source.Span, n.Source}
		c.report(f)
	}
	c.recipe()
	c.processor()
}

func recipeOf(e *corpus.Export) Recipe {
	return Recipe{Mode: e.Recipe.Mode.Value, LinkModule: e.Recipe.LinkModule.Value,
		Primary: values(e.Recipe.PrimarySources), Libraries: values(e.Recipe.LibrarySources)}
}

func sameRecipe(a, b Recipe) bool {
	return a.Mode == b.Mode && a.LinkModule == b.LinkModule && slices.Equal(a.Primary, b.Primary) && slices.Equal(a.Libraries, b.Libraries)
}

func (c *comparison) recipe() {
	o, n := c.o.Recipe, c.n.Recipe
	var what []string
	differs := func(name, a, b string) {
		if a != b {
			what = append(what, fmt.Sprintf("%s was %s and is %s", name, orNone(a), orNone(b)))
		}
	}
	differs("mode", o.Mode, n.Mode)
	differs("link module", o.LinkModule, n.LinkModule)
	// A kernel that moved takes its primary file along; that is one finding.
	moved := c.o.Source != c.n.Source && slices.Equal(o.Primary, []string{c.o.Source}) && slices.Equal(n.Primary, []string{c.n.Source})
	if !moved {
		what = append(what, listChange("primary source", o.Primary, n.Primary)...)
	}
	what = append(what, listChange("library", o.Libraries, n.Libraries)...)
	if len(what) == 0 {
		return
	}
	f := finding(RecipeChanged, "compile recipe changed: %s", what[0])
	f.Detail = what[1:]
	f.Old, f.New = Side{Span: o.Span}, Side{Span: n.Span}
	c.report(f)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func listChange(what string, o, n []string) (out []string) {
	for _, s := range o {
		if !slices.Contains(n, s) {
			out = append(out, what+" "+s+" is out")
		}
	}
	for _, s := range n {
		if !slices.Contains(o, s) {
			out = append(out, what+" "+s+" is in")
		}
	}
	if len(out) == 0 && !slices.Equal(o, n) {
		out = append(out, what+" order changed")
	}
	return out
}

func (c *comparison) processor() {
	o, n := c.o.Processor, c.n.Processor
	if o == n || c.o.link == nil || c.n.link == nil {
		return
	}
	covers := func(a, b string) bool { // whether what a is written for includes all b is
		for _, t := range target.Names() {
			if (b == "" || target.Compatible(b, t)) && a != "" && !target.Compatible(a, t) {
				return false
			}
		}
		return true
	}
	id := TargetNarrowed
	if covers(n, o) {
		id = TargetWidened
	}
	name := func(s string) string {
		if s == "" {
			return "any target"
		}
		return s
	}
	f := finding(id, "the kernel was written for %s and is written for %s", name(o), name(n))
	f.Old, f.New = Side{c.o.TargetSpan, name(o)}, Side{c.n.TargetSpan, name(n)}
	if id == TargetNarrowed {
		var lost []string
		for _, t := range target.Names() {
			if (o == "" || target.Compatible(o, t)) && !target.Compatible(n, t) {
				lost = append(lost, t)
			}
		}
		f.Detail = append(f.Detail, "no longer for: "+strings.Join(lost, ", "))
	}
	c.report(f)
}

// item is an entry of an ordered list of named things.
type item struct {
	name string
	text string
	span diag.Span
}

type listRules struct{ added, removed, reorder, renamed string }

// list compares two ordered lists of names and returns the pairs that belong
// together, as positions in both.
func (c *comparison) list(what string, o, n []item, r listRules) (pairs [][2]int) {
	oldAt, newAt := positions(o), positions(n)
	var gone, fresh []int
	for i, it := range o {
		if j, ok := newAt[it.name]; ok {
			pairs = append(pairs, [2]int{i, j})
		} else {
			gone = append(gone, i)
		}
	}
	for j, it := range n {
		if _, ok := oldAt[it.name]; !ok {
			fresh = append(fresh, j)
		}
	}
	// A name that went and one that came at the same place, with the lists of one
	// length, is a rename.
	if len(o) == len(n) {
		for _, i := range slices.Clone(gone) {
			if !slices.Contains(fresh, i) {
				continue
			}
			gone = slices.DeleteFunc(gone, func(x int) bool { return x == i })
			fresh = slices.DeleteFunc(fresh, func(x int) bool { return x == i })
			pairs = append(pairs, [2]int{i, i})
			if r.renamed == LaunchRenamed {
				c.renamed["%"+n[i].name] = "%" + o[i].name
			}
			f := finding(r.renamed, "%s %d was '%s' and is '%s'", what, i+1, o[i].name, n[i].name)
			f.Subject, f.Old, f.New = n[i].name, Side{o[i].span, o[i].text}, Side{n[i].span, n[i].text}
			c.report(f)
		}
	}
	for _, i := range gone {
		f := finding(r.removed, "%s %d '%s' is gone", what, i+1, o[i].name)
		f.Subject, f.Old = o[i].name, Side{o[i].span, o[i].text}
		f.Detail = []string{"the list is now: " + names(n)}
		c.report(f)
	}
	for _, j := range fresh {
		f := finding(r.added, "%s %d '%s' is new", what, j+1, n[j].name)
		f.Subject, f.New = n[j].name, Side{n[j].span, n[j].text}
		f.Detail = []string{"the list was: " + names(o)}
		c.report(f)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return a[0] - b[0] })
	var before, after []string
	for _, p := range pairs {
		before = append(before, n[p[1]].name)
	}
	byNew := slices.Clone(pairs)
	slices.SortFunc(byNew, func(a, b [2]int) int { return a[1] - b[1] })
	first := -1
	for k, p := range byNew {
		after = append(after, n[p[1]].name)
		if first < 0 && before[k] != after[k] {
			first = k
		}
	}
	if first >= 0 {
		p := byNew[first]
		f := finding(r.reorder, "%ss were (%s) and are (%s)", what, names(o), names(n))
		f.Subject, f.Old, f.New = n[p[1]].name, Side{o[pairs[first][0]].span, o[pairs[first][0]].text}, Side{n[p[1]].span, n[p[1]].text}
		c.report(f)
	}
	return pairs
}

func positions(l []item) map[string]int {
	m := map[string]int{}
	for i, it := range l {
		m[it.name] = i
	}
	return m
}

func names(l []item) string {
	if len(l) == 0 {
		return "none"
	}
	var out []string
	for _, it := range l {
		out = append(out, it.name)
	}
	return strings.Join(out, ", ")
}

func (c *comparison) bindings() {
	items := func(bs []Binding) (out []item) {
		for _, b := range bs {
			out = append(out, item{b.Name, fmt.Sprintf("%s: %s", b.Name, b.Access), b.Span})
		}
		return out
	}
	ois, nis := items(c.o.Bindings), items(c.n.Bindings)
	for _, p := range c.list("binding", ois, nis, listRules{BindingAdded, BindingRemoved, BindingReorder, BindingRenamed}) {
		o, n := c.o.Bindings[p[0]], c.n.Bindings[p[1]]
		side := func(f Finding) Finding {
			f.Subject, f.Old, f.New = n.Name, Side{o.Span, ois[p[0]].text}, Side{n.Span, nis[p[1]].text}
			return f
		}
		if o.Access != n.Access && o.Access != corpus.AccessUnknown && n.Access != corpus.AccessUnknown {
			id := AccessWidened
			if o.Access == corpus.AccessReadWrite {
				id = AccessReduced
			}
			c.report(side(finding(id, "access to binding %d '%s' was %s and is %s", p[1]+1, n.Name, o.Access, n.Access)))
		}
		switch {
		case o.Align < n.Align:
			c.report(side(finding(AlignRaised, "binding %d '%s' must be aligned to %d bytes, it was %d", p[1]+1, n.Name, n.Align, o.Align)))
		case o.Align > n.Align && c.o.link != nil && c.n.link != nil:
			c.report(side(finding(AlignLowered, "binding %d '%s' need be aligned to %d bytes only, it was %d", p[1]+1, n.Name, n.Align, o.Align)))
		}
	}
}

type scalarRules struct{ added, removed, reorder, renamed, retyped string }

func (c *comparison) scalars(o, n []Scalar, what string, r scalarRules) {
	items := func(ss []Scalar) (out []item) {
		for _, s := range ss {
			out = append(out, item{s.Name, s.Name + ": " + s.Type, s.Span})
		}
		return out
	}
	ois, nis := items(o), items(n)
	for _, p := range c.list(what, ois, nis, listRules{r.added, r.removed, r.reorder, r.renamed}) {
		a, b := o[p[0]], n[p[1]]
		if a.Type != b.Type && a.Type != "" && b.Type != "" {
			f := finding(r.retyped, "%s %d '%s' was %s and is %s", what, p[1]+1, b.Name, a.Type, b.Type)
			f.Subject, f.Old, f.New = b.Name, Side{a.Span, ois[p[0]].text}, Side{b.Span, nis[p[1]].text}
			c.report(f)
		}
	}
}

// launchSets compares what the launch where clause leaves of each parameter that
// kept its name.
func (c *comparison) launchSets() {
	for _, b := range c.n.Launch {
		i := slices.IndexFunc(c.o.Launch, func(s Scalar) bool { return s.Name == b.Name })
		if i < 0 || !b.Integer || !c.o.Launch[i].Integer || c.o.Launch[i].Type != b.Type {
			continue
		}
		a := c.o.Launch[i]
		change := CompareSets(a.Allowed, b.Allowed)
		if change == Same {
			continue
		}
		id := LaunchNarrowed
		if change == Widened {
			id = LaunchWidened
		}
		f := finding(id, "launch parameter '%s' took %s and takes %s", b.Name, setWords(a.Allowed, a.Type), setWords(b.Allowed, b.Type))
		f.Subject, f.Old, f.New = b.Name, Side{a.Span, setWords(a.Allowed, a.Type)}, Side{b.Span, setWords(b.Allowed, b.Type)}
		f.Detail = lostAndGained(a.Allowed, b.Allowed)
		c.report(f)
	}
}

func setWords(s linker.AllowedSet, typ string) string {
	if s.IsEverything() {
		return "any " + typ
	}
	return s.Words()
}

func lostAndGained(old, new linker.AllowedSet) (out []string) {
	if d := Minus(old, new); !d.Empty() {
		out = append(out, "lost: "+d.Words())
	}
	if d := Minus(new, old); !d.Empty() {
		out = append(out, "gained: "+d.Words())
	}
	return out
}

// configSymbols compares the config symbols. It returns the renames it found,
// from the new key to the old one.
func (c *comparison) configSymbols() map[string]string {
	var gone, fresh []*Config
	for i := range c.o.Configs {
		a := &c.o.Configs[i]
		if b := c.n.Config(a.Key); b != nil {
			c.config(a, b)
		} else {
			gone = append(gone, a)
		}
	}
	for i := range c.n.Configs {
		if b := &c.n.Configs[i]; c.o.Config(b.Key) == nil {
			fresh = append(fresh, b)
		}
	}
	renamed := map[string]string{}
	if len(gone) == 1 && len(fresh) == 1 && gone[0].Type == fresh[0].Type {
		keys := map[string]string{fresh[0].Key: gone[0].Key}
		h := hashKernel(c.n.link.Module, c.n.link.Roots[0].Def, keys)
		if h.Body == c.o.Hashes.Body && h.GeometryAt == c.o.Hashes.GeometryAt {
			f := finding(ConfigRenamed, "config '@%s' is '@%s' now", gone[0].Key, fresh[0].Key)
			f.Subject, f.Old, f.New = fresh[0].Key, gone[0].side(), fresh[0].side()
			c.report(f)
			c.config(gone[0], fresh[0])
			c.renamed["@"+fresh[0].Key] = "@" + gone[0].Key
			return keys
		}
	}
	for _, a := range gone {
		f := finding(ConfigRemoved, "config '@%s' is read no longer", a.Key)
		f.Subject, f.Old = a.Key, a.side()
		c.report(f)
	}
	for _, b := range fresh {
		id, format := ConfigAdded, "config '@%s' is new and must be bound: %s"
		if !b.Required {
			id, format = ConfigOptional, "config '@%s' is new, with a default: %s"
		}
		f := finding(id, format, b.Key, b.side().Text)
		f.Subject, f.New = b.Key, b.side()
		c.report(f)
	}
	return renamed
}

// side describes a config in a few words.
func (c *Config) side() Side {
	text := c.Type
	if c.Integer {
		text += ", " + c.Words()
	}
	for _, o := range c.Others {
		text += ", " + o
	}
	if !c.Required {
		text += ", default " + c.Default
	}
	return Side{c.Span, text}
}

func (c *comparison) config(a, b *Config) {
	report := func(f Finding) {
		f.Subject, f.Old, f.New = b.Key, a.side(), b.side()
		c.report(f)
	}
	switch {
	case !a.Required && b.Required:
		report(finding(ConfigRequired, "config '@%s' must be bound now; its default was %s", b.Key, a.Default))
	case a.Required && !b.Required:
		report(finding(ConfigDefaulted, "config '@%s' has a default now: %s", b.Key, b.Default))
	case !a.Required && a.Default != b.Default:
		report(finding(ConfigDefault, "default of config '@%s' was %s and is %s", b.Key, a.Default, b.Default))
	}
	if a.Type != b.Type {
		report(finding(ConfigRetyped, "config '@%s' was %s and is %s", b.Key, a.Type, b.Type))
		return
	}
	change := Same
	if a.Integer {
		change = CompareSets(a.Accepted, b.Accepted)
	}
	if others := compareTexts(a.Others, b.Others); others != Same {
		change = worse(change, others)
	}
	if change == Same {
		return
	}
	c.configs = true
	id := map[Change]string{Narrowed: ConfigNarrowed, Widened: ConfigWidened, Incomparable: ConfigShifted}[change]
	verb := map[Change]string{Narrowed: "fewer values", Widened: "more values", Incomparable: "other values"}[change]
	f := finding(id, "config '@%s' accepts %s: it was %s and is %s", b.Key, verb, a.Words(), b.Words())
	f.Detail = lostAndGained(a.Accepted, b.Accepted)
	f.Detail = append(f.Detail, listChange("constraint", a.Others, b.Others)...)
	if lost := c.planned(b); lost != "" {
		f.Detail = append(f.Detail, lost)
	}
	// Where the bound stands beside the declaration, name that place too.
	for _, r := range b.Reasons {
		if r.By != "config.decl" && r.Always && r.Exact && !b.Allowed.Subset(r.Set) {
			f.Detail = append(f.Detail, fmt.Sprintf("%s: %s narrows it further: %s", r.Span, r.By, r.Text))
		}
	}
	report(f)
}

// planned names the plan cases that ask for a value the config no longer
// accepts.
func (c *comparison) planned(b *Config) string {
	if !b.Integer {
		return ""
	}
	var out []string
	for _, k := range cases(c.old, c.new, c.o, c.n) {
		if k.Planned && lostKey(k, []Config{*b}) != "" {
			out = append(out, k.Name)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "plan cases that ask for a lost value: " + strings.Join(out, ", ")
}

// lostKey returns the first config that does not accept a case's value for it.
func lostKey(k Case, configs []Config) string {
	for i := range configs {
		b := &configs[i]
		for _, x := range k.Config {
			if v, err := strconv.ParseInt(x.Text, 10, 64); x.Key == b.Key && b.Integer && err == nil && !b.Accepted.Contains(v) {
				return b.Key
			}
		}
	}
	return ""
}

// compareTexts compares constraints that are no sets: more of them allow less.
func compareTexts(o, n []string) Change {
	lost := slices.ContainsFunc(o, func(s string) bool { return !slices.Contains(n, s) })
	more := slices.ContainsFunc(n, func(s string) bool { return !slices.Contains(o, s) })
	switch {
	case lost && more:
		return Incomparable
	case lost:
		return Widened
	case more:
		return Narrowed
	}
	return Same
}

func worse(a, b Change) Change {
	if a == Same || a == b {
		return b
	}
	return Incomparable
}

// relations compares the demands that relate several values.
func (c *comparison) relations() {
	collect := func(k *Contract) (out []Relation) {
		out = append(out, k.Relations...)
		for _, cfg := range k.Configs {
			out = append(out, cfg.Relations...)
		}
		return out
	}
	o, n := collect(c.o), collect(c.n)
	// Both sides in the old names.
	var olds, news []string
	for _, r := range o {
		olds = append(olds, r.Text)
	}
	for _, r := range n {
		news = append(news, rename(r.Text, c.renamed))
	}
	for _, r := range o {
		if !slices.Contains(news, r.Text) {
			f := finding(RelationRemoved, "no longer demanded: %s", r.Text)
			f.Subject, f.Old = r.Text, Side{r.Span, r.Text}
			c.configs = true
			c.report(f)
		}
	}
	for i, r := range n {
		if !slices.Contains(olds, news[i]) {
			f := finding(RelationAdded, "newly demanded: %s", r.Text)
			f.Subject, f.New = r.Text, Side{r.Span, r.Text}
			c.configs = true
			c.report(f)
		}
	}
}

// rename replaces the names of a predicate's text; a name runs from its sigil to
// the next comma or parenthesis.
func rename(text string, names map[string]string) string {
	var b strings.Builder
	for len(text) > 0 {
		i := strings.IndexAny(text, "%@")
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		text = text[i:]
		end := strings.IndexAny(text, ",)")
		if end < 0 {
			end = len(text)
		}
		if old, ok := names[text[:end]]; ok {
			b.WriteString(old)
		} else {
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
	return b.String() + text
}

func (c *comparison) body(keys map[string]string) {
	n := c.n.Hashes
	if len(keys) > 0 {
		n = hashKernel(c.n.link.Module, c.n.link.Roots[0].Def, keys)
	}
	o := c.o.Hashes
	switch {
	case o.Body != n.Body && o.ByName != n.ByName:
		f := finding(BodyChanged, "the body changed: needs a numeric re-check")
		f.Old, f.New = Side{c.o.Kernel, "body " + o.Body.Short()}, Side{c.n.Kernel, "body " + n.Body.Short()}
		f.Detail = c.sources()
		c.report(f)
	case o.Promises != n.Promises && o.PromisesByName != n.PromisesByName && !c.configs:
		f := finding(AssumesChanged, "the body computes the same under other assumptions")
		f.Detail = c.sources()
		c.report(f)
	}
	if o.Geometry != n.Geometry && o.GeometryAt != n.GeometryAt {
		f := finding(GeometryChanged, "the launch-config block computes by other operations")
		c.report(f)
	}
}

// sources lists which files of the export differ.
func (c *comparison) sources() (out []string) {
	a, b := c.old.set.Corpus(), c.new.set.Corpus()
	news := sourcesOf(c.n.Export)
	for _, p := range slices.Compact(slices.Sorted(slices.Values(news))) {
		if o, n := a.Source(p), b.Source(p); n != nil && (o == nil || o.Text != n.Text) {
			word := "changed"
			if o == nil {
				word = "new"
			}
			out = append(out, word+": "+p)
		}
	}
	return out
}

// geometry specialises both sides for the cases they share and compares what
// they occupy. Equal hashes and sets make equal kernels; then there is nothing to
// do.
func (c *comparison) geometry() {
	if !c.o.OK() || !c.n.OK() || c.o.Hashes == c.n.Hashes && c.o.Processor == c.n.Processor && c.o.Wave == c.n.Wave && !c.configs {
		return
	}
	if c.o.Wave != c.n.Wave {
		f := finding(WaveChanged, "subgroups had %d lanes and have %d", c.o.Wave, c.n.Wave)
		f.Old, f.New = Side{c.o.TargetSpan, fmt.Sprint(c.o.Wave)}, Side{c.n.TargetSpan, fmt.Sprint(c.n.Wave)}
		c.report(f)
	}
	var broken, size, local []string
	var brokenAt diag.Span
	for _, k := range cases(c.old, c.new, c.o, c.n) {
		if lostKey(k, c.n.Configs) != "" || lostKey(k, c.o.Configs) != "" {
			continue // reported with the config
		}
		og, _ := c.old.Specialise(c.ctx, c.o, known(k.Config, c.o))
		ng, nds := c.new.Specialise(c.ctx, c.n, known(k.Config, c.n))
		switch {
		case og == nil:
		case ng == nil:
			first := firstError(nds)
			broken = append(broken, fmt.Sprintf("%s: %s: %s", k.Name, first.Code, first.Message))
			if !brokenAt.Valid() {
				brokenAt = first.Span
			}
		default:
			if og.WorkgroupSize != ng.WorkgroupSize {
				size = append(size, fmt.Sprintf("%s: %s → %s", k.Name, sizeWords(og.WorkgroupSize), sizeWords(ng.WorkgroupSize)))
			}
			if og.LocalBytes != ng.LocalBytes {
				local = append(local, fmt.Sprintf("%s: %d → %d bytes (%s → %s)", k.Name, og.LocalBytes, ng.LocalBytes, buffers(og), buffers(ng)))
			}
		}
	}
	if len(broken) > 0 && len(c.newSets()) == 0 {
		f := finding(CaseBroken, "a configuration that built no longer does: %s", broken[0])
		f.Detail = broken[1:]
		f.New = Side{Span: brokenAt}
		c.report(f)
	}
	if len(size) > 0 {
		f := finding(SizeChanged, "workgroup size changed: %s", size[0])
		f.Detail = size[1:]
		c.report(f)
	}
	if len(local) > 0 {
		f := finding(LocalChanged, "workgroup memory changed: %s", local[0])
		f.Detail = local[1:]
		c.report(f)
	}
}

// newSets lists the required configs that only the new side has: no old
// configuration can satisfy those, which is reported already.
func (c *comparison) newSets() (out []string) {
	for i := range c.n.Configs {
		if b := &c.n.Configs[i]; b.Required && c.o.Config(b.Key) == nil {
			out = append(out, b.Key)
		}
	}
	return out
}

// known keeps the bindings that a contract has a config for.
func known(bs []linker.Binding, c *Contract) (out []linker.Binding) {
	for _, b := range bs {
		if c.Config(b.Key) != nil {
			out = append(out, b)
		}
	}
	return out
}

func sizeWords(s [3]int64) string {
	word := func(v int64) string {
		if v == 0 {
			return "?"
		}
		return fmt.Sprint(v)
	}
	return word(s[0]) + "×" + word(s[1]) + "×" + word(s[2])
}

func buffers(g *Geometry) string {
	if len(g.Local) == 0 {
		return "none"
	}
	return strings.Join(g.Local, ", ")
}

// Head is the export's interface in one line.
func (c *Contract) Head() string {
	var parts []string
	for _, s := range c.Launch {
		parts = append(parts, s.Name+": "+s.Type)
	}
	for _, b := range c.Bindings {
		parts = append(parts, b.Name+": "+b.Access.String())
	}
	return "launch(" + strings.Join(parts, ", ") + ")"
}

// Summary says what an export takes, in a few words.
func (c *Contract) Summary() string {
	required := 0
	for _, k := range c.Configs {
		if k.Required {
			required++
		}
	}
	return fmt.Sprintf("%s, %s, %s", counted(len(c.Bindings), "binding"), counted(len(c.Launch), "launch parameter"), counted(required, "required config"))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
