package corpus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/loomc/loomc/loom/diag"
)

// Kind says what a corpus was read from.
type Kind uint8

// Kinds of origin.
const (
	Directory Kind = iota // files on disk
	Git                   // a commit of a git repository
	Embedded              // an fs.FS, such as the corpus built into this program
)

func (k Kind) String() string {
	return [...]string{"directory", "git", "embedded"}[min(k, Embedded)]
}

// Origin says where files were read.
type Origin struct {
	Kind Kind
	// Root is the corpus directory: a path on disk as the caller wrote it, or a
	// slash-separated path inside the repository ("" is its top).
	Root string
	// The rest is for Kind Git.
	Repo   string // the repository's top level, or its git directory when bare
	Rev    string // the pin as the caller wrote it
	Commit string // full object id of the commit
	Tree   string // full object id of the corpus directory's tree

	prefix string // put before a file's path to make its display name
}

// String is the short form people see: "8f3c2d1:kernels", "kernels", "bundled".
func (o Origin) String() string {
	if o.prefix == "" {
		return cmp.Or(o.Root, ".")
	}
	return cmp.Or(strings.TrimRight(o.prefix, ":/"), "/")
}

// name is the display name of a file.
func (o Origin) name(path string) string { return o.prefix + path }

// file is one file of a corpus with all that is known about it.
type file struct {
	src      *diag.Source
	origin   *Origin
	replaced *file // the file of the layer below that this one hides

	once sync.Once
	sum  string
}

func (f *file) sha256() string {
	f.once.Do(func() {
		sum := sha256.Sum256([]byte(f.src.Text))
		f.sum = hex.EncodeToString(sum[:])
	})
	return f.sum
}

// failure says why a path that is wanted has no content.
type failure struct {
	reason failReason
	detail string
}

type failReason uint8

const (
	failAbsent    failReason = iota // nothing of that name
	failEscapes                     // a symbolic link leads out; detail is where to
	failNotFile                     // detail says what it is
	failSubmodule                   // detail is the submodule's path
	failLazy                        // a partial clone lacks the object
	failTooLarge                    // detail is the size
	failRead                        // detail is the system's message
)

// maxFileSize bounds one file. Positions are 32-bit, and Loom sources are a few
// megabytes at most.
const maxFileSize = 64 << 20

// Corpus is the files of a corpus directory and its manifest. It holds
// manifest.json, the files the manifest lists, and every other .loom file below
// its root. It does not change, and its methods are safe for concurrent use.
type Corpus struct {
	origin       Origin
	files        map[string]*file
	failures     map[string]failure // wanted paths without content
	manifestPath string
	manifest     *Manifest
	parsed       diag.List // what reading the files and manifest found
	problems     diag.List // parsed and what comparing them found

	paths  func() []string
	fsys   func() *memFS
	digest func() string
}

func newCorpus(origin Origin, files map[string]*file, failures map[string]failure) *Corpus {
	c := &Corpus{origin: origin, files: files, failures: failures}
	c.paths = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(c.files)) })
	c.fsys = sync.OnceValue(func() *memFS { return newMemFS(c.files) })
	c.digest = sync.OnceValue(func() string {
		h := sha256.New()
		for _, p := range c.paths() {
			fmt.Fprintf(h, "%s\x00%s\n", p, c.files[p].sha256())
		}
		return hex.EncodeToString(h.Sum(nil))
	})
	return c
}

// String is the short name people see: "8f3c2d1:kernels", "kernels", "bundled".
func (c *Corpus) String() string { return c.origin.String() }

// Origin says where the corpus was read. With an override it is the origin of
// the corpus below.
func (c *Corpus) Origin() Origin { return c.origin }

// FS presents the files by their paths relative to the corpus.
func (c *Corpus) FS() fs.FS { return c.fsys() }

// Paths lists the files, sorted.
func (c *Corpus) Paths() []string { return slices.Clone(c.paths()) }

// Source returns the text of a file, nil when the corpus has none of that path.
// Every call returns the same pointer for the same path.
func (c *Corpus) Source(path string) *diag.Source {
	if f := c.files[path]; f != nil {
		return f.src
	}
	return nil
}

// Sources returns the text of every file by path, the manifest included. The
// map is the caller's own.
func (c *Corpus) Sources() map[string]*diag.Source {
	out := make(map[string]*diag.Source, len(c.files))
	for p, f := range c.files {
		out[p] = f.src
	}
	return out
}

// Manifest returns the manifest, nil when the corpus was opened without one. It
// must not be changed; see Clone.
func (c *Corpus) Manifest() *Manifest { return c.manifest }

// Problems returns everything Open or WithOverride found, sorted.
func (c *Corpus) Problems() diag.List { return slices.Clone(c.problems) }

// Digest is a SHA-256 over the paths and contents of all files: two corpora
// with equal digests are the same to every later stage.
func (c *Corpus) Digest() string { return c.digest() }

// Provenance says which layer a file came from.
type Provenance struct {
	Name     string // display name of the file
	SHA256   string
	Origin   Origin
	Replaces string // display name of the file that an override hides, or ""
}

// Provenance describes a file. It reports false when the corpus has none of
// that path.
func (c *Corpus) Provenance(path string) (Provenance, bool) {
	f := c.files[path]
	if f == nil {
		return Provenance{}, false
	}
	p := Provenance{Name: f.src.Name, SHA256: f.sha256(), Origin: *f.origin}
	if f.replaced != nil {
		p.Replaces = f.replaced.src.Name
	}
	return p, true
}

// fetchHelp is the command that makes a partial clone hold the corpus.
func (c *Corpus) fetchHelp() string {
	root := c.origin.Root
	if root == "" {
		root = "."
	}
	return fmt.Sprintf("`git -C %s archive -o %s %s %s` reads every file once and so downloads it", shellQuote(c.origin.Repo), "/dev/null", c.origin.Commit, shellQuote(root))
}

// shellQuote makes a word safe to paste into a shell.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=^~", r) || r > 0x7f)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// check compares manifest and files and completes the corpus. It runs once, on
// a corpus that nobody else has yet.
func (c *Corpus) check() {
	ds := slices.Clone(c.parsed)
	if c.manifest != nil {
		k := &checker{manifest: c.manifest, corpus: c}
		k.checkManifest()
		ds = append(ds, k.ds...)
	}
	c.problems = ds.Sorted()
}
