package pin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/loomc/loomc/corpus/require/jsonc"
	"github.com/loomc/loomc/loom/diag"
)

// LockFile is the usual name of the lock file.
const LockFile = "loom.lock"

// LockSchema names the form of a lock file.
const LockSchema = "loomc-lock-v1"

// Lock is a lock file.
type Lock struct {
	Repository string     `json:"repository,omitempty"`
	Corpus     string     `json:"corpus"`
	Revision   string     `json:"revision"`
	Tree       string     `json:"tree,omitempty"`
	Digest     string     `json:"digest,omitempty"`
	Accepted   []Accepted `json:"accepted,omitempty"`

	// RevisionSpan is where the revision stands; no place in a new lock.
	RevisionSpan diag.Span `json:"-"`
}

// Accepted is a kind of finding that somebody looked at when the pin moved.
type Accepted struct {
	Rule     string `json:"rule"`
	Findings int    `json:"findings"`
	Reason   string `json:"reason"`
	From     string `json:"from"`
	To       string `json:"to"`
}

var objectID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// ReadLock reads a lock file. The lock is nil when it is of no use.
func ReadLock(src *diag.Source) (*Lock, diag.List) {
	root, ds := jsonc.Parse(src, "LOCK/SYNTAX", "lock file")
	if root == nil {
		return nil, ds
	}
	fail := func(sp diag.Span, code, help, format string, args ...any) {
		ds.Add(diag.Errorf(sp, code, format, args...).WithHelp("%s", help))
	}
	if root.Kind != jsonc.Object || root.Get("schema").Str() != LockSchema {
		fail(root.Span, "LOCK/SCHEMA", "'loomc pin bump --to SHA' writes a lock file", "schema is '%s', want '%s'", root.Get("schema").Str(), LockSchema)
		return nil, ds
	}
	l := &Lock{
		Repository: root.Get("repository").Str(), Corpus: root.Get("corpus").Str(), Revision: root.Get("revision").Str(),
		Tree: root.Get("tree").Str(), Digest: root.Get("digest").Str(), RevisionSpan: root.Span,
	}
	if r := root.Get("revision"); r != nil {
		l.RevisionSpan = r.Span
	}
	if !objectID.MatchString(l.Revision) {
		fail(l.RevisionSpan, "LOCK/REVISION", "write the full 40 or 64 digits; branches and short ids move", "revision '%s' is no full object id", l.Revision)
		return nil, ds
	}
	if a := root.Get("accepted"); a != nil {
		for _, x := range a.Items {
			n, _ := x.Get("findings").Int()
			e := Accepted{Rule: x.Get("rule").Str(), Findings: int(n), Reason: x.Get("reason").Str(), From: x.Get("from").Str(), To: x.Get("to").Str()}
			if e.Rule == "" || e.Reason == "" {
				fail(x.Span, "LOCK/ACCEPTED", "state the rule and the reason", "an accepted finding lacks its rule or its reason")
				continue
			}
			l.Accepted = append(l.Accepted, e)
		}
	}
	return l, ds
}

// Marshal writes the lock in its one form: the same lock gives the same bytes.
func (l *Lock) Marshal() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Schema string `json:"schema"`
		*Lock
	}{LockSchema, l})
	if err != nil {
		return nil, fmt.Errorf("writing the lock: %w", err)
	}
	return b.Bytes(), nil
}
