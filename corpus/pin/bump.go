package pin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Requirements is the pseudo rule under which failing demands are accepted.
const Requirements = "requirements"

// Acceptance accepts the findings of one rule for one move of the pin.
type Acceptance struct{ Rule, Reason string }

// ParseAcceptance reads "rule=reason".
func ParseAcceptance(s string) (Acceptance, error) {
	rule, reason, _ := strings.Cut(s, "=")
	a := Acceptance{strings.TrimSpace(rule), strings.TrimSpace(reason)}
	if a.Reason == "" {
		return a, fmt.Errorf("'%s' states no reason; write RULE=REASON, the reason is recorded in the lock", s)
	}
	if _, ok := compat.LookupRule(a.Rule); !ok && a.Rule != Requirements {
		known := []string{Requirements}
		for _, r := range compat.Rules() {
			known = append(known, r.ID)
		}
		if near := dialect.Nearest(a.Rule, known); near != "" {
			return a, fmt.Errorf("there is no rule '%s'; did you mean '%s'?", a.Rule, near)
		}
		return a, fmt.Errorf("there is no rule '%s'; 'loomc diff --rules' lists them", a.Rule)
	}
	return a, nil
}

// Move says where the pin goes and what has to hold.
type Move struct {
	Where
	To       string // revision
	Corpus   string // directory; "" is the lock's, or searched for a new lock
	Accept   []Acceptance
	Settings *compat.Settings
	Cases    []require.Case
}

// Bumped is the outcome of a move.
type Bumped struct {
	// Lock is the new lock, nil when something stands against the move.
	Lock *Lock
	// Report compares the old pin with the new one; nil for a first lock.
	Report *compat.Report
	// Results are the engine's demands against the new corpus.
	Results []require.Result
	// Blocking counts the findings per rule that nothing accepts.
	Blocking map[string]int
}

// Bump compares the locked corpus with the one at the new revision and checks
// the engine's demands there. The new lock is made when no finding worse than
// ADDITIVE stands, or each one's rule is accepted. old is nil for a first lock.
// Nothing is written.
func Bump(ctx context.Context, old *Lock, m Move) (*Bumped, diag.List, error) {
	path := m.Corpus
	if path == "" && old != nil {
		path = old.Corpus
	}
	target, ds := open(ctx, m.Where, m.To, path)
	if target == nil || hasPrefix(ds, "PIN/") {
		return nil, ds, nil
	}
	o := target.Origin()
	next := compat.NewSurface(exports.New(target), "")
	b := &Bumped{Blocking: map[string]int{}}
	lock := &Lock{Corpus: o.Root, Revision: o.Commit, Tree: o.Tree, Digest: target.Digest()}
	if lock.Corpus == "" {
		lock.Corpus = "."
	}
	counts := map[string]int{}
	from := ""
	if old != nil {
		lock.Repository, from = old.Repository, old.Revision
		current, l := open(ctx, m.Where, old.Revision, old.Corpus)
		if current == nil || hasPrefix(l, "PIN/") {
			for i := range l {
				l[i] = l[i].WithRelated(old.RevisionSpan, "the lock names it")
			}
			return nil, l, nil
		}
		if old.Digest != "" && old.Digest != current.Digest() {
			return nil, diag.List{diag.Errorf(old.RevisionSpan, "LOCK/DIGEST", "commit %s has digest %s, the lock says %s", old.Revision, current.Digest(), old.Digest).
				WithHelp("the lock was edited by hand, or 'corpus' names another directory; correct it before the pin moves")}, nil
		}
		r, err := compat.Diff(ctx, compat.NewSurface(exports.New(current), ""), next, compat.Options{Settings: m.Settings})
		if err != nil {
			return nil, nil, err
		}
		b.Report = r
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Ignored == nil && f.Rule.Category != compat.Additive {
				counts[f.Rule.ID]++
			}
		}
	}
	failed, err := b.demands(ctx, next, m.Cases)
	if err != nil {
		return nil, nil, err
	}
	if failed > 0 {
		counts[Requirements] = failed
	}
	for rule, n := range counts {
		i := slices.IndexFunc(m.Accept, func(a Acceptance) bool { return a.Rule == rule })
		if i < 0 {
			b.Blocking[rule] = n
			continue
		}
		lock.Accepted = append(lock.Accepted, Accepted{rule, n, m.Accept[i].Reason, from, o.Commit})
	}
	slices.SortFunc(lock.Accepted, func(x, y Accepted) int { return strings.Compare(x.Rule, y.Rule) })
	if len(b.Blocking) == 0 {
		b.Lock = lock
	}
	return b, corpusErrors(target), nil
}

// corpusErrors returns what is wrong with the corpus as a whole; single exports
// are the comparison's business.
func corpusErrors(c *corpus.Corpus) diag.List {
	if c.Manifest() != nil {
		return nil
	}
	return c.Problems()
}

func (b *Bumped) demands(ctx context.Context, s *compat.Surface, cases []require.Case) (failed int, err error) {
	if len(cases) == 0 {
		return 0, nil
	}
	b.Results, err = require.NewBench(s).Check(ctx, cases)
	if err != nil {
		return 0, err
	}
	for i := range b.Results {
		if !b.Results[i].OK() {
			failed++
		}
	}
	return failed, nil
}
