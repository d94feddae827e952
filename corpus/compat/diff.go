package compat

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Side is one end of a finding.
type Side struct {
	Span diag.Span // no place when this side has nothing
	Text string    // what stands there, in a few words
}

// Finding is one difference.
type Finding struct {
	Rule    Rule
	Export  string // export, without target; "" when a template family changed
	Target  string // target selector of the variant
	Subject string // binding, parameter, config key or family; "" for the export itself
	Message string
	Detail  []string // further lines: lost values, case by case numbers
	Old     Side
	New     Side
	// Users are the exports that a change of a template family touches.
	Users []string
	// Ignored is the setting that accepts the finding, nil when none does.
	Ignored *Ignore
}

// ID names what the finding is about.
func (f *Finding) ID() string {
	switch {
	case f.Export == "":
		return "@" + f.Subject
	case f.Target != "":
		return f.Export + " [" + f.Target + "]"
	}
	return f.Export
}

// Place is where to look first: the new side, or the old one when there is no
// new one.
func (f *Finding) Place() diag.Span {
	if f.New.Span.Valid() {
		return f.New.Span
	}
	return f.Old.Span
}

// Report is the outcome of a comparison.
type Report struct {
	Old, New         string // names of the two corpora
	OldCount         int    // exports
	NewCount         int
	Unchanged        int // exports of both without a finding
	Findings         []Finding
	Files            FileChanges
	UnusedIgnores    []Ignore
	OldPins, NewPins Pins
}

// Pins are the identities of a corpus.
type Pins struct {
	Commit string `json:"commit,omitempty"`
	Digest string `json:"digest"`
}

// FileChanges lists the files that differ, by path.
type FileChanges struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
}

// Count returns the number of findings of a category that no setting accepts.
func (r *Report) Count(c Category) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Rule.Category == c && r.Findings[i].Ignored == nil {
			n++
		}
	}
	return n
}

// Worst reports whether a finding of category c or worse stands.
func (r *Report) Worst(c Category) bool {
	for w := Breaking; w <= c; w++ {
		if r.Count(w) > 0 {
			return true
		}
	}
	return false
}

// Accepted returns the number of findings that settings accept.
func (r *Report) Accepted() int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Ignored != nil {
			n++
		}
	}
	return n
}

// Options narrow a comparison.
type Options struct {
	// Exports compares only exports of these names; nil compares all, and the
	// template families with them.
	Exports []string
	// Settings accept findings; nil accepts none.
	Settings *Settings
}

// Diff compares two corpora. Findings are sorted by category, export and rule.
// The error is the context's.
func Diff(ctx context.Context, old, new *Surface, o Options) (*Report, error) {
	d := &differ{ctx: ctx, old: old, new: new}
	r := &Report{Old: old.Name, New: new.Name, OldPins: pinsOf(old), NewPins: pinsOf(new)}
	oldExports, newExports := selected(old, o.Exports), selected(new, o.Exports)
	r.OldCount, r.NewCount = len(oldExports), len(newExports)
	r.Files = fileChanges(old.set.Corpus(), new.set.Corpus())
	d.files = r.Files
	if err := d.match(oldExports, newExports); err != nil {
		return nil, err
	}
	if o.Exports == nil {
		if err := d.motifs(oldExports); err != nil {
			return nil, err
		}
	}
	r.Findings = d.out
	order := map[string]int{}
	for i, rule := range rules {
		order[rule.ID] = i
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule.Category, b.Rule.Category), strings.Compare(a.Export, b.Export), strings.Compare(a.Target, b.Target),
			cmp.Compare(order[a.Rule.ID], order[b.Rule.ID]), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Message, b.Message))
	})
	r.Unchanged = d.both
	touched := map[string]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Export != "" && f.Old.Span.Valid() && f.New.Span.Valid() {
			touched[f.ID()] = true
		}
	}
	r.Unchanged -= len(touched)
	r.UnusedIgnores = o.Settings.apply(r.Findings)
	return r, nil
}

func pinsOf(s *Surface) Pins {
	c := s.set.Corpus()
	return Pins{Commit: c.Origin().Commit, Digest: c.Digest()}
}

func selected(s *Surface, names []string) []*corpus.Export {
	es := s.Exports()
	if names == nil {
		return es
	}
	return slices.DeleteFunc(es, func(e *corpus.Export) bool { return !slices.Contains(names, e.Name.Value) })
}

func fileChanges(a, b *corpus.Corpus) FileChanges {
	ch := FileChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}
	for _, p := range a.Paths() {
		switch o, n := a.Source(p), b.Source(p); {
		case n == nil:
			ch.Removed = append(ch.Removed, p)
		case o.Text != n.Text:
			ch.Changed = append(ch.Changed, p)
		}
	}
	for _, p := range b.Paths() {
		if a.Source(p) == nil {
			ch.Added = append(ch.Added, p)
		}
	}
	return ch
}

type differ struct {
	ctx      context.Context
	old, new *Surface
	files    FileChanges
	out      []Finding
	both     int
}

func (d *differ) add(f Finding) { d.out = append(d.out, f) }

// finding starts a finding of the rule called id; an unknown id is a programming
// error that the rule tests report.
func finding(id, format string, args ...any) Finding {
	r, _ := LookupRule(id)
	return Finding{Rule: r, Message: fmt.Sprintf(format, args...)}
}

type pair struct{ old, new *corpus.Export }

type exportKey struct{ name, target string }

func keyOf(e *corpus.Export) exportKey { return exportKey{e.Name.Value, e.TargetSelector.Value} }

// match pairs the exports by name and target and compares every pair.
func (d *differ) match(olds, news []*corpus.Export) error {
	byKey := map[exportKey]*corpus.Export{}
	names := map[string]bool{}
	for _, e := range news {
		byKey[keyOf(e)] = e
		names[e.Name.Value] = true
	}
	oldNames := map[string]bool{}
	var pairs []pair
	var gone, fresh []*corpus.Export
	matched := map[*corpus.Export]bool{}
	for _, e := range olds {
		oldNames[e.Name.Value] = true
		if n := byKey[keyOf(e)]; n != nil {
			matched[n] = true
			pairs = append(pairs, pair{e, n})
		} else {
			gone = append(gone, e)
		}
	}
	for _, e := range news {
		if !matched[e] {
			fresh = append(fresh, e)
		}
	}
	d.both = len(pairs)
	var changed []pair
	for _, p := range pairs {
		if !d.identical(p) {
			changed = append(changed, p)
		}
	}
	if err := d.load(changed, gone, fresh); err != nil {
		return err
	}
	for _, p := range changed {
		if err := d.ctx.Err(); err != nil {
			return fmt.Errorf("comparing %s: %w", p.new.ID(), err)
		}
		d.compare(d.old.Contract(d.ctx, p.old), d.new.Contract(d.ctx, p.new))
	}
	fresh = d.missing(gone, fresh, names)
	for _, e := range fresh {
		c := d.new.Contract(d.ctx, e)
		id := ExportAdded
		if oldNames[e.Name.Value] {
			id = TargetAdded
		}
		f := finding(id, "'%s' is new: %s", e.ID(), c.Summary())
		f.Export, f.Target = e.Name.Value, e.TargetSelector.Value
		f.New = Side{at(c), c.Head()}
		d.add(f)
	}
	return d.copies(olds, changed)
}

// load computes the contracts that are needed, on all cores.
func (d *differ) load(changed []pair, gone, fresh []*corpus.Export) error {
	olds, news := slices.Clone(gone), slices.Clone(fresh)
	for _, p := range changed {
		olds, news = append(olds, p.old), append(news, p.new)
	}
	if _, err := d.old.Contracts(d.ctx, olds); err != nil {
		return err
	}
	_, err := d.new.Contracts(d.ctx, news)
	return err
}

// identical reports whether record and sources of an export are the same text in
// both corpora, so that nothing needs to be parsed.
func (d *differ) identical(p pair) bool {
	if !p.old.OK() || !p.new.OK() || corpus.DiffInterface(p.old, p.new) != nil ||
		p.old.Symbol.Value != p.new.Symbol.Value || p.old.Family.Value != p.new.Family.Value || p.old.Source.Value != p.new.Source.Value ||
		!sameRecipe(recipeOf(p.old), recipeOf(p.new)) {
		return false
	}
	// A link module names further files; with one, every file counts.
	if p.old.Recipe.LinkModule.Value != "" {
		for _, path := range slices.Concat(d.files.Added, d.files.Removed, d.files.Changed) {
			if strings.HasSuffix(path, ".loom") {
				return false
			}
		}
	}
	a, b := sourcesOf(p.old), sourcesOf(p.new)
	if !slices.Equal(a, b) {
		return false
	}
	for _, path := range a {
		o, n := d.old.set.Corpus().Source(path), d.new.set.Corpus().Source(path)
		if o == nil || n == nil || o.Text != n.Text {
			return false
		}
	}
	// Plan cases are a means of comparison and no part of the contract.
	return true
}

// sourcesOf lists every file that an export's record names.
func sourcesOf(e *corpus.Export) []string {
	return slices.Concat(values(e.Sources()), []string{e.Source.Value}, values(e.CompileDependencies))
}

// at is the place of a contract: the kernel, or the manifest's record.
func at(c *Contract) diag.Span {
	if c.Kernel.Valid() {
		return c.Kernel
	}
	return c.Record
}

// missing reports exports that are gone and pairs them with new ones of the same
// body. It returns the new exports that are left over.
func (d *differ) missing(gone, fresh []*corpus.Export, names map[string]bool) []*corpus.Export {
	for _, e := range gone {
		if names[e.Name.Value] {
			c := d.old.Contract(d.ctx, e)
			f := finding(TargetRemoved, "'%s' has no variant for '%s' any more", e.Name.Value, selectorWords(e.TargetSelector.Value))
			f.Export, f.Target = e.Name.Value, e.TargetSelector.Value
			f.Old = Side{at(c), c.Head()}
			d.add(f)
			continue
		}
		o := d.old.Contract(d.ctx, e)
		if i := d.renamed(o, fresh); i >= 0 {
			n := d.new.Contract(d.ctx, fresh[i])
			f := finding(ExportRenamed, "'%s' is '%s' now: same body, same launch geometry", e.ID(), fresh[i].ID())
			f.Export, f.Target = e.Name.Value, e.TargetSelector.Value
			f.Old, f.New = Side{at(o), o.Head()}, Side{at(n), n.Head()}
			d.add(f)
			fresh = slices.Delete(slices.Clone(fresh), i, i+1)
			continue
		}
		f := finding(ExportRemoved, "'%s' is gone", e.ID())
		f.Export, f.Target = e.Name.Value, e.TargetSelector.Value
		f.Old = Side{at(o), o.Head()}
		var left []string
		for name := range maps.Keys(names) {
			left = append(left, name)
		}
		slices.Sort(left)
		if near := dialect.Nearest(e.Name.Value, left); near != "" {
			f.Detail = append(f.Detail, "the nearest name that is left is '"+near+"'; its body is another")
		}
		d.add(f)
	}
	return fresh
}

// renamed finds the new export that is the old one under another name: the one
// of equal hashes and target, and among several the one of the nearest name.
func (d *differ) renamed(o *Contract, fresh []*corpus.Export) int {
	if !o.OK() || o.link == nil {
		return -1
	}
	best := -1
	var names []string
	for i, e := range fresh {
		n := d.new.Contract(d.ctx, e)
		if !n.OK() || n.link == nil || n.Target != o.Target || n.Hashes.GeometryAt != o.Hashes.GeometryAt || n.Hashes.Body != o.Hashes.Body {
			continue
		}
		names = append(names, e.Name.Value)
		if best < 0 {
			best = i
		}
	}
	if len(names) > 1 {
		if near := dialect.Nearest(o.Name, names); near != "" {
			best = slices.IndexFunc(fresh, func(e *corpus.Export) bool { return e.Name.Value == near && e.TargetSelector.Value == o.Target })
		}
	}
	return best
}

func selectorWords(s string) string {
	if s == "" {
		return "every target"
	}
	return s
}

// copies reports exports that had the body of a changed one and kept it.
func (d *differ) copies(olds []*corpus.Export, changed []pair) error {
	diverged := map[Sum][]*Contract{}
	for _, p := range changed {
		o, n := d.old.Contract(d.ctx, p.old), d.new.Contract(d.ctx, p.new)
		if o.OK() && n.OK() && o.Hashes.Body != n.Hashes.Body && o.Hashes.ByName != n.Hashes.ByName {
			diverged[o.Hashes.Body] = append(diverged[o.Hashes.Body], n)
		}
	}
	if len(diverged) == 0 {
		return nil
	}
	kept := map[exportKey]*corpus.Export{}
	for _, e := range d.new.Exports() {
		kept[keyOf(e)] = e
	}
	contracts, err := d.old.Contracts(d.ctx, olds)
	if err != nil {
		return err
	}
	for _, o := range contracts {
		ns := diverged[o.Hashes.Body]
		e := kept[keyOf(o.Export)]
		if len(ns) == 0 || e == nil || !o.OK() {
			continue
		}
		n := d.new.Contract(d.ctx, e)
		if n.Hashes.Body != o.Hashes.Body {
			continue
		}
		var others []string
		for _, c := range ns {
			others = append(others, "'"+c.ID()+"'")
		}
		slices.Sort(others)
		f := finding(CopyDiverged, "'%s' had the same body as %s, which changed; this copy did not", o.ID(), strings.Join(others, ", "))
		f.Export, f.Target = o.Name, o.Target
		f.Old, f.New = Side{at(o), ""}, Side{at(n), ""}
		d.add(f)
	}
	return nil
}

// motifs compares the template families.
func (d *differ) motifs(olds []*corpus.Export) error {
	if len(d.files.Added)+len(d.files.Removed)+len(d.files.Changed) == 0 {
		return nil
	}
	a, b := d.old.Motifs(), d.new.Motifs()
	var changed []Finding
	for _, name := range slices.Sorted(maps.Keys(a)) {
		o, n := a[name], b[name]
		switch {
		case n == nil:
			f := finding(MotifRemoved, "template family '@%s' is gone", name)
			f.Old = Side{o.Span, o.Signature()}
			f.Subject = name
			changed = append(changed, f)
		default:
			if what := firstDifference(o, n); what != "" {
				f := finding(MotifChanged, "template family '@%s' takes %d parameters, it took %d: %s", name, len(n.Params), len(o.Params), what)
				if len(n.Params) == len(o.Params) {
					f.Message = fmt.Sprintf("template family '@%s' has another signature: %s", name, what)
				}
				f.Subject, f.Old, f.New = name, Side{o.Span, o.Signature()}, Side{n.Span, n.Signature()}
				changed = append(changed, f)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if a[name] == nil {
			f := finding(MotifAdded, "template family '@%s' is new", name)
			f.Subject, f.New = name, Side{b[name].Span, b[name].Signature()}
			d.add(f)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	contracts, err := d.old.Contracts(d.ctx, olds)
	if err != nil {
		return err
	}
	for _, f := range changed {
		for _, c := range contracts {
			if slices.Contains(c.Families, f.Subject) {
				f.Users = append(f.Users, c.ID())
			}
		}
		slices.Sort(f.Users)
		d.add(f)
	}
	return nil
}

// firstDifference names the first parameter or result in which two signatures
// differ, "" when a caller sees none. Names of parameters do not count.
func firstDifference(o, n *Motif) string {
	for i := range max(len(o.Params), len(n.Params)) {
		switch {
		case i >= len(n.Params):
			return fmt.Sprintf("parameter %d '%%%s: %s' is gone", i+1, o.Params[i].Name, o.Params[i].Type)
		case i >= len(o.Params):
			return fmt.Sprintf("parameter %d '%%%s: %s' is new", i+1, n.Params[i].Name, n.Params[i].Type)
		case o.Params[i].Type != n.Params[i].Type || len(o.Params) != len(n.Params) && o.Params[i].Name != n.Params[i].Name:
			return fmt.Sprintf("parameter %d was '%%%s: %s' and is '%%%s: %s'", i+1, o.Params[i].Name, o.Params[i].Type, n.Params[i].Name, n.Params[i].Type)
		}
	}
	for i := range max(len(o.Results), len(n.Results)) {
		switch {
		case i >= len(n.Results):
			return fmt.Sprintf("result %d '%s' is gone", i+1, o.Results[i])
		case i >= len(o.Results):
			return fmt.Sprintf("result %d '%s' is new", i+1, n.Results[i])
		case o.Results[i] != n.Results[i]:
			return fmt.Sprintf("result %d was %s and is %s", i+1, o.Results[i], n.Results[i])
		}
	}
	return ""
}
