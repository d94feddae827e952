package linker

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/target"
)

// SiteFacts answers what is known at an operation; *facts.Set does.
type SiteFacts interface {
	At(op *loom.Op, v *loom.Value) facts.Fact
	Decide(op *loom.Op, p loom.Predicate, subst func(*loom.Value) *loom.Value) (facts.Verdict, string)
}

// ApplySite is one template application with everything its selection depends
// on. All symbols are those of one linked module.
type ApplySite struct {
	Apply *loom.Op // func.apply or template.apply
	// CallerTarget is the symbol of the target record the kernel names, "" when it
	// names none; Active is what is compiled for, nil when not selected yet.
	CallerTarget string
	Active       *target.Target
	Facts        SiteFacts
	Family       *loom.Def // template.decl; nil in the older generation
	Candidates   []*loom.Def
	Lookup       func(symbol string) *loom.Def // target records
}

// Failure codes of a selection, as LOWERING/045 prints them.
const (
	NoProvider             = "no_provider"
	FamilyRejected         = "family_rejected"
	TargetMismatch         = "target_mismatch"
	AllRejected            = "all_rejected"
	MissingFacts           = "missing_facts"
	Ambiguous              = "ambiguous"
	MaterializationBlocked = "materialization_blocked"
	ExactCallRejected      = "exact_call_rejected"
)

// Choice is the outcome of a selection: a winner, a failure, or, when the
// selection was not final, neither.
type Choice struct {
	Family     string // family symbol or older-generation key
	Old        bool   // func.apply
	Winner     *loom.Def
	Failure    string // one of the failure codes
	Candidates []Candidate
	// FamilyTest explains family_rejected.
	FamilyTest *Candidate
	tied       []*loom.Def
}

// Candidate is one implementation and how it fared. A candidate that does not
// match names the first test that it did not pass.
type Candidate struct {
	Def      *loom.Def
	Priority int64
	Verdict  facts.Verdict
	Test     string // "target", "requires", "type", "where"; "" for a match
	Reason   string // what was found, or which fact is missing
	Span     diag.Span
}

// Select chooses the implementation for one application. With final unset, an
// unproven candidate that could still win leaves the application open; with it
// set, the older generation calls that a failure and the newer one ignores the
// candidate.
func Select(site ApplySite, final bool) Choice {
	c := Choice{Old: site.Apply.Name() == "func.apply"}
	if c.Old {
		c.Family = site.Apply.Word("contract")
	} else {
		c.Family = site.Apply.Word("family")
	}
	s := selection{ApplySite: site, old: c.Old}
	if site.Family != nil {
		if f := s.family(); f.Verdict == facts.Reject {
			c.FamilyTest, c.Failure = &f, FamilyRejected
			return c
		}
	}
	var best, bestMaybe *Candidate
	targetRejects := 0
	c.Candidates = make([]Candidate, len(site.Candidates))
	for i, d := range site.Candidates {
		k := s.candidate(d)
		c.Candidates[i] = k
		p := &c.Candidates[i]
		switch k.Verdict {
		case facts.Match:
			switch {
			case best == nil || p.Priority > best.Priority:
				best, c.tied = p, []*loom.Def{d}
			case p.Priority == best.Priority:
				c.tied = append(c.tied, d)
			}
		case facts.Maybe:
			if bestMaybe == nil || p.Priority > bestMaybe.Priority {
				bestMaybe = p
			}
		default:
			if k.Test == "target" {
				targetRejects++
			}
		}
	}
	open := bestMaybe != nil && (best == nil || bestMaybe.Priority >= best.Priority)
	switch {
	case len(c.Candidates) == 0:
		c.Failure = NoProvider
	case open && !final:
	case open && (c.Old || best == nil):
		c.Failure = MissingFacts
	case best == nil && targetRejects == len(c.Candidates):
		c.Failure = TargetMismatch
	case best == nil:
		c.Failure = AllRejected
	case len(c.tied) > 1:
		c.Failure = Ambiguous
	case best.Def.Body == nil:
		c.Failure = MaterializationBlocked
		c.Winner = best.Def
	default:
		c.Winner = best.Def
	}
	return c
}

// CheckExact tests a template.call: the one implementation it names must pass
// the tests an apply would put it to. The result's Failure is
// ExactCallRejected when it does not.
func CheckExact(site ApplySite, callee *loom.Def) Choice {
	s := selection{ApplySite: site, old: callee.OldForm}
	c := Choice{Family: callee.Family, Old: callee.OldForm}
	k := s.candidate(callee)
	c.Candidates = []Candidate{k}
	switch {
	case k.Verdict != facts.Match:
		c.Failure = ExactCallRejected
	case callee.Body == nil:
		c.Failure = MaterializationBlocked
	}
	c.Winner = callee
	return c
}

type selection struct {
	ApplySite
	old bool
}

// family tests what the family itself demands.
func (s *selection) family() Candidate {
	k := Candidate{Def: s.Family, Span: s.Family.NameSpan, Verdict: facts.Match}
	s.target(&k)
	s.requires(&k)
	s.where(&k)
	return k
}

func (s *selection) candidate(d *loom.Def) Candidate {
	k := Candidate{Def: d, Priority: d.Mods.Priority, Span: d.NameSpan, Verdict: facts.Match}
	s.target(&k)
	s.requires(&k)
	s.types(&k)
	s.where(&k)
	return k
}

// note lowers the verdict. The first test that rejects is kept; short of a
// rejection, the first that is open.
func (k *Candidate) note(v facts.Verdict, test, reason string, span diag.Span) {
	if v == facts.Match || k.Verdict == facts.Reject || k.Verdict == facts.Maybe && v == facts.Maybe {
		return
	}
	k.Verdict, k.Test, k.Reason = v, test, reason
	if span.Valid() {
		k.Span = span
	}
}

func (s *selection) target(k *Candidate) {
	want := k.Def.Mods.Target
	if want == "" || k.Verdict == facts.Reject {
		return
	}
	if want == s.CallerTarget {
		return
	}
	if s.old {
		have := "no target"
		if s.CallerTarget != "" {
			have = "'@" + s.CallerTarget + "'"
		}
		k.note(facts.Reject, "target", fmt.Sprintf("needs target '@%s', the kernel has %s", want, have), diag.Span{})
		return
	}
	rec := s.Lookup(want)
	if rec == nil || rec.Kind != loom.DefTarget {
		k.note(facts.Maybe, "target", fmt.Sprintf("target record '@%s' is not known", want), diag.Span{})
		return
	}
	authored := target.Processor(rec)
	if s.Active == nil {
		k.note(facts.Maybe, "target", fmt.Sprintf("needs %s; no target is selected", authored), diag.Span{})
		return
	}
	if !target.Compatible(authored, s.Active.Processor) {
		k.note(facts.Reject, "target", fmt.Sprintf("needs %s, compiled for %s", authored, s.Active.Processor), diag.Span{})
		return
	}
	for _, a := range rec.Attrs {
		if a.Name == "subgroup_size" && a.Value.Int != int64(s.Active.WaveSize) {
			k.note(facts.Reject, "target", fmt.Sprintf("needs subgroups of %d lanes, compiled for %d", a.Value.Int, s.Active.WaveSize), diag.Span{})
			return
		}
	}
}

func (s *selection) requires(k *Candidate) {
	if k.Verdict == facts.Reject {
		return
	}
	for _, r := range k.Def.Mods.Requires {
		v, reason := requirement(r, s.Active)
		k.note(v, "requires", reason, diag.Span{})
	}
}

// targetFact is one fact a requires list may name: #name<argument>.
type targetFact struct {
	name  string
	holds func(*target.Target, loom.Attr) bool
	// have says what the target has instead.
	have func(*target.Target) string
}

func targetFacts() []targetFact {
	word := func(a loom.Attr) string { return strings.Trim(a.Str, `"`) }
	return []targetFact{
		{"target.subgroup.size",
			func(t *target.Target, a loom.Attr) bool { return a.Int == int64(t.WaveSize) },
			func(t *target.Target) string { return fmt.Sprintf("subgroups of %d", t.WaveSize) }},
		{"target.processor",
			func(t *target.Target, a loom.Attr) bool { return target.Compatible(word(a), t.Processor) },
			func(t *target.Target) string { return t.Processor }},
		{"target.family",
			func(t *target.Target, a loom.Attr) bool { return word(a) == t.Family },
			func(t *target.Target) string { return t.Processor + " of family " + t.Family }},
	}
}

// requirement decides one fact of a requires list for the target that is
// compiled for. A fact this table does not know stays open: an implementation
// that asks for it is never chosen over one that is known to fit.
func requirement(r loom.Attr, active *target.Target) (facts.Verdict, string) {
	e := r.Enc()
	if e == nil {
		return facts.Maybe, fmt.Sprintf("'%s' is not a target fact", r)
	}
	var names []string
	for _, f := range targetFacts() {
		names = append(names, f.name)
		switch {
		case f.name != e.Family:
		case len(e.Params) != 1:
			return facts.Maybe, fmt.Sprintf("%s takes one argument", f.name)
		case active == nil:
			return facts.Maybe, fmt.Sprintf("needs %s; no target is selected", r)
		case f.holds(active, e.Params[0].Value):
			return facts.Match, ""
		default:
			return facts.Reject, fmt.Sprintf("needs %s, compiled for %s", r, f.have(active))
		}
	}
	reason := fmt.Sprintf("the fact %s is not known here", r)
	if near := dialect.Nearest(e.Family, names); near != "" {
		reason += fmt.Sprintf(" (did you mean #%s?)", near)
	}
	return facts.Maybe, reason
}

// types compares operand and result types after putting the operands in place
// of the parameters.
func (s *selection) types(k *Candidate) {
	if k.Verdict == facts.Reject {
		return
	}
	args, results := s.Apply.Field("operands"), s.Apply.Results
	d := k.Def
	if len(args) != len(d.Params) {
		k.note(facts.Reject, "type", fmt.Sprintf("%s here, %s there", plural(len(d.Params), "parameter"), plural(len(args), "operand")), diag.Span{})
		return
	}
	if len(results) != len(d.Results) {
		k.note(facts.Reject, "type", fmt.Sprintf("%s here, %d wanted", plural(len(d.Results), "result"), len(results)), diag.Span{})
		return
	}
	subst := s.actuals(d)
	for i, p := range d.Params {
		if v := s.sameType(p.Type.Map(subst), args[i].Type); v != facts.Match {
			k.note(v, "type", fmt.Sprintf("parameter %d: %s here, %s there", i+1, p.Type, args[i].Type), valueSpan(d, p))
		}
	}
	for i, r := range d.Results {
		if v := s.sameType(r.Type.Map(subst), results[i].Type); v != facts.Match {
			k.note(v, "type", fmt.Sprintf("result %d: %s here, %s wanted", i+1, r.Type, results[i].Type), diag.Span{})
		}
	}
}

// actuals maps a candidate's formal values to the application's.
func (s *selection) actuals(d *loom.Def) func(*loom.Value) *loom.Value {
	args, results := s.Apply.Field("operands"), s.Apply.Results
	m := make(map[*loom.Value]*loom.Value, len(d.Params))
	for i, p := range d.Params {
		if i < len(args) {
			m[p] = args[i]
		}
	}
	for i, r := range d.Results {
		if r.Val != nil && i < len(results) {
			m[r.Val] = results[i]
		}
	}
	return func(v *loom.Value) *loom.Value {
		if w, ok := m[v]; ok {
			return w
		}
		return v
	}
}

// sameType compares types whose extents may be values: equal values, or values
// known to be equal, make equal extents. Extents that may or may not be equal
// leave the question open.
func (s *selection) sameType(a, b *loom.Type) facts.Verdict {
	if a.Equal(b) {
		return facts.Match
	}
	if a.Kind != b.Kind || a.Elem != b.Elem || a.Name != b.Name || len(a.Dims) != len(b.Dims) || len(a.Dims) == 0 {
		return facts.Reject
	}
	// Give b's extents to a: if they differ in nothing else, extents decide.
	t := *a
	t.Dims = b.Dims
	if !t.Equal(b) {
		return facts.Reject
	}
	v := facts.Match
	for i := range a.Dims {
		switch s.sameExtent(a.Dims[i], b.Dims[i]) {
		case facts.Reject:
			return facts.Reject
		case facts.Maybe:
			v = facts.Maybe
		}
	}
	return v
}

func (s *selection) sameExtent(a, b loom.Dim) facts.Verdict {
	if a == b {
		return facts.Match
	}
	fact := func(d loom.Dim) facts.Fact {
		if d.Val == nil {
			return facts.Exact(d.Size)
		}
		return s.Facts.At(s.Apply, d.Val)
	}
	fa, fb := fact(a), fact(b)
	x, okA := fa.Const()
	y, okB := fb.Const()
	switch {
	case okA && okB && x == y:
		return facts.Match
	case fa.Contradicts(fb):
		return facts.Reject
	}
	return facts.Maybe
}

func (s *selection) where(k *Candidate) {
	if k.Verdict == facts.Reject || len(k.Def.Params) != len(s.Apply.Field("operands")) {
		return
	}
	subst := s.actuals(k.Def)
	for _, p := range k.Def.Where {
		v, known := s.Facts.Decide(s.Apply, p, subst)
		reason := p.String()
		switch {
		case v == facts.Reject && known != "":
			reason += ": " + known
		case v == facts.Maybe && known != "":
			reason += " is not proven: " + known
		case v == facts.Maybe:
			reason += " is not proven"
		}
		k.note(v, "where", reason, p.Span)
	}
}

// Diagnostic renders a failed selection: the family, the application, and for
// every candidate the first test it did not pass. phase names when it happened,
// e.g. "specialise". The caller adds the calls that led to the application.
func (c Choice) Diagnostic(site ApplySite, phase string) diag.Diagnostic {
	what := "family '@" + c.Family + "'"
	if c.Old {
		what = "key '" + c.Family + "'"
	}
	messages := map[string]string{
		NoProvider:             "%s has no implementation",
		FamilyRejected:         "%s itself does not apply here",
		TargetMismatch:         "no implementation of %s is for this target",
		AllRejected:            "no implementation of %s fits here",
		MissingFacts:           "too little is known here to choose an implementation of %s",
		Ambiguous:              "several implementations of %s fit equally well",
		MaterializationBlocked: "the chosen implementation of %s has no body",
		ExactCallRejected:      "the implementation of %s that is called does not fit here",
	}
	d := diag.Errorf(site.Apply.NameSpan(), "LOWERING/045", messages[c.Failure]+" (%s: %s, %s)", what, c.Failure, site.Apply.Name(), phase)
	if site.Family != nil {
		d = d.WithRelated(site.Family.NameSpan, "the family is declared here")
	}
	if f := c.FamilyTest; f != nil {
		d = d.WithRelated(f.Span, "%s: %s", f.Test, f.Reason)
	}
	for _, k := range c.Candidates {
		d = d.WithRelated(k.Span, "%s", k.String())
	}
	return d.WithHelp("%s", c.help())
}

// String is one row of the table of candidates.
func (k Candidate) String() string {
	name := fmt.Sprintf("@%s (priority %d)", k.Def.Name, k.Priority)
	switch k.Verdict {
	case facts.Match:
		return name + ": fits"
	case facts.Maybe:
		return fmt.Sprintf("%s: open, %s: %s", name, k.Test, k.Reason)
	}
	return fmt.Sprintf("%s: rejected, %s: %s", name, k.Test, k.Reason)
}

func (c Choice) help() string {
	switch c.Failure {
	case NoProvider:
		return "link the file that implements it"
	case FamilyRejected:
		return "guard the apply so that it is only reached where the family's own conditions hold"
	case TargetMismatch:
		return "add an implementation without a target, or one for this target"
	case Ambiguous:
		return "give one of them a higher priority, or make their where clauses exclude each other"
	case ExactCallRejected:
		return "choose through the family with template.apply, or guard the call so that it is only reached where the implementation's conditions hold"
	case MaterializationBlocked:
		return "an opaque implementation cannot be compiled here; add one with a body"
	case MissingFacts:
		return "bind the configs the where clause depends on, or state the fact before the apply with index.assume or a branch"
	}
	for _, k := range c.Candidates {
		if k.Test == "type" {
			return "change the operands to what an implementation takes; a parameter list that has grown or shrunk usually means a file of another revision"
		}
	}
	return "add an implementation for this case, or change the operands so that one of the above fits"
}
