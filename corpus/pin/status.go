package pin

import (
	"context"
	"fmt"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

// State says how the locked commit stands to the one it is compared with.
type State uint8

// States.
const (
	Missing  State = iota // the locked commit is not in the repository
	Shallow               // the repository's history is cut off before the two meet
	Same                  // the lock is at the commit
	Behind                // the lock is at an ancestor
	Ahead                 // the lock is at a descendant
	Diverged              // each has commits that the other lacks
)

func (s State) String() string {
	return [...]string{"missing", "shallow", "up to date", "behind", "ahead", "diverged"}[s]
}

// Where says which repository a lock is compared with.
type Where struct {
	Repo string // "" is the one around Dir
	Dir  string // "" is the current directory
	// Against is the revision that the lock is compared with; "" is HEAD.
	Against string
}

// Status is what the lock says against the repository.
type Status struct {
	State   State  `json:"-"`
	Word    string `json:"state"`
	Lock    string `json:"locked"`
	Against string `json:"against"` // full id of the commit compared with
	Rev     string `json:"revision"`
	// Only the lock's side has Ahead commits, only the other Behind.
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// CorpusBehind and CorpusAhead count those that touch the corpus directory.
	CorpusAhead  int `json:"corpus_ahead"`
	CorpusBehind int `json:"corpus_behind"`
	// Changed reports that the corpus directory differs between the two.
	Changed bool   `json:"corpus_changed"`
	Repo    string `json:"repository"`
	Corpus  string `json:"corpus"`
}

// String says it in one line.
func (s *Status) String() string {
	short := func(id string) string { return id[:min(7, len(id))] }
	line := fmt.Sprintf("%s: %s", short(s.Lock), s.Word)
	switch s.State {
	case Same:
		return fmt.Sprintf("%s: up to date with %s", short(s.Lock), s.Rev)
	case Behind, Ahead, Diverged:
		line = fmt.Sprintf("%s against %s (%s): %d behind, %d ahead; %d and %d of them touch the corpus", line, s.Rev, short(s.Against), s.Behind, s.Ahead, s.CorpusBehind, s.CorpusAhead)
		if !s.Changed {
			line += "; the corpus is the same"
		}
	}
	return line
}

// Check compares a lock with a repository. The status is nil when the repository
// cannot be used at all; a locked commit that is not there is a status (Missing,
// Shallow) and a finding.
func Check(ctx context.Context, l *Lock, w Where) (*Status, diag.List) {
	rev := w.Against
	if rev == "" {
		rev = "HEAD"
	}
	c, ds := open(ctx, w, rev, l.Corpus)
	if c == nil || ds.HasErrors() && hasPrefix(ds, "PIN/") {
		return nil, ds
	}
	ds = nil // what is wrong inside the corpus is for 'loomc link' to say
	o := c.Origin()
	s := &Status{State: Missing, Lock: l.Revision, Against: o.Commit, Rev: rev, Repo: o.Repo, Corpus: o.Root}
	defer func() { s.Word = s.State.String() }()
	h := history{o.Repo}
	if !h.has(ctx, l.Revision) {
		d := diag.Errorf(l.RevisionSpan, "PIN/MISSING", "the locked commit %s is not in '%s'", l.Revision, o.Repo)
		if h.shallow(ctx) {
			s.State = Shallow
			d = diag.Errorf(l.RevisionSpan, "PIN/SHALLOW", "the locked commit %s is not in '%s', which is a shallow clone", l.Revision, o.Repo)
		}
		ds.Add(d.WithHelp("get it with: git -C %s fetch %s %s", o.Repo, remote(l), l.Revision))
		return s, ds
	}
	if err := s.relate(ctx, h, l, o); err != nil {
		ds.Add(diag.Errorf(l.RevisionSpan, "PIN/GIT", "comparing %s with %s: %v", l.Revision, rev, err).WithHelp("`git fsck` in the repository shows whether it is damaged"))
	}
	if s.State == Shallow {
		ds.Add(diag.Errorf(l.RevisionSpan, "PIN/SHALLOW", "'%s' is a shallow clone whose history ends before %s and %s meet", o.Repo, l.Revision[:7], rev).
			WithHelp("complete it with: git -C %s fetch --unshallow", o.Repo))
	}
	return s, ds
}

func remote(l *Lock) string {
	if l.Repository != "" {
		return l.Repository
	}
	return "origin"
}

func (s *Status) relate(ctx context.Context, h history, l *Lock, o corpus.Origin) error {
	if l.Revision == o.Commit {
		s.State = Same
		return nil
	}
	behind, err := h.ancestor(ctx, l.Revision, o.Commit)
	if err != nil {
		return err
	}
	ahead, err := h.ancestor(ctx, o.Commit, l.Revision)
	if err != nil {
		return err
	}
	switch {
	case behind:
		s.State = Behind
	case ahead:
		s.State = Ahead
	case h.shallow(ctx):
		s.State = Shallow
	default:
		s.State = Diverged
	}
	if s.Behind, s.CorpusBehind, err = h.count(ctx, l.Revision, o.Commit, o.Root); err != nil {
		return err
	}
	if s.Ahead, s.CorpusAhead, err = h.count(ctx, o.Commit, l.Revision, o.Root); err != nil {
		return err
	}
	locked, _, err := h.run(ctx, "rev-parse", "--verify", "--quiet", l.Revision+":"+o.Root)
	s.Changed = err != nil || locked != o.Tree
	return nil
}

// open opens the corpus at a revision and refuses a repository that was found
// above the directory by accident.
func open(ctx context.Context, w Where, rev, path string) (*corpus.Corpus, diag.List) {
	c, ds := corpus.Open(ctx, corpus.Options{Dir: w.Dir, Repo: w.Repo, Pin: rev, Path: path})
	for i, d := range ds {
		if d.Code == "PIN/OUTER-REPOSITORY" {
			ds[i].Severity = diag.Error
			ds[i].Message += "; a lock must not follow it"
			return nil, ds[i : i+1 : i+1]
		}
	}
	return c, ds
}

func hasPrefix(ds diag.List, prefix string) bool {
	for _, d := range ds {
		if d.Severity == diag.Error && len(d.Code) >= len(prefix) && d.Code[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}
