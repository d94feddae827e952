package corpus

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Options say which corpus to open.
//
//	Pin set              that commit of the git repository Repo
//	Path set, no Pin     the directory Path on disk
//	neither              the corpus built into this program
type Options struct {
	// Dir is the directory that relative paths start from; "" is the process's
	// current one.
	Dir string
	// Repo is a directory in (or the git directory of) a local git repository;
	// "" is Dir. It needs a Pin.
	Repo string
	// Pin is a commit: a full or abbreviated object id, a branch, a tag, or any
	// other name git resolves to a commit.
	Pin string
	// Path is the corpus directory, or its manifest file. With a Pin it is
	// relative to the repository's top level, or to Dir when it begins with "./"
	// or "../". When it has no manifest, a unique one below it is used; "" with
	// a Pin searches the whole commit.
	Path string
	// Override is a directory of files and export records that take the place
	// of those of the corpus; see WithOverride.
	Override string
	// SourcesOnly opens a directory that has no manifest (yet): every .loom file
	// below Path. A manifest.json directly in it is read all the same.
	SourcesOnly bool
}

// Open reads a corpus. The Corpus is nil only when there is nothing to work
// with; a corpus with broken records is returned together with the diagnostics,
// and the records are marked (Export.Problem). The list is sorted and may hold
// warnings alone.
func Open(ctx context.Context, o Options) (*Corpus, diag.List) {
	base, ds := openLayer(ctx, o)
	if base == nil {
		return nil, ds.Sorted()
	}
	if o.Override == "" {
		base.check()
		base.problems = append(base.problems, ds...).Sorted()
		return base, base.Problems()
	}
	merged, mds := override(ctx, base, o.Override, o.resolve(o.Override))
	if merged == nil {
		return nil, append(ds, mds...).Sorted()
	}
	merged.problems = append(merged.problems, ds...).Sorted()
	return merged, merged.Problems()
}

// OpenFS reads a corpus from a file system, such as an engine's embed.FS. Its
// files are shown as "name:path".
func OpenFS(ctx context.Context, fsys fs.FS, name string) (*Corpus, diag.List) {
	st := &dirStore{fsys: fsys, from: Origin{Kind: Embedded, prefix: name + ":"}}
	c, ds := load(ctx, st, request{at: argument("corpus", name), what: name})
	if c == nil {
		return nil, ds.Sorted()
	}
	c.check()
	c.problems = append(c.problems, ds...).Sorted()
	return c, c.Problems()
}

// argument is the place of a diagnostic about what the caller asked for rather
// than about a text: the option and its value.
func argument(option, value string) diag.Span {
	text := option + " " + value
	return diag.Span{Src: diag.NewSource("command line", text), Start: uint32(len(option) + 1), End: uint32(len(text))}
}

// resolve makes a path of the caller independent of the current directory.
func (o Options) resolve(p string) string {
	if o.Dir != "" && !filepath.IsAbs(p) {
		return filepath.Join(o.Dir, p)
	}
	return p
}

func (o Options) dir() string {
	if o.Dir != "" {
		return o.Dir
	}
	return "."
}

// openLayer opens the corpus without override and without checking it. The
// returned list is what Corpus.parsed does not hold: warnings of the way there.
func openLayer(ctx context.Context, o Options) (*Corpus, diag.List) {
	switch {
	case o.Pin != "":
		return openPin(ctx, o)
	case o.Repo != "":
		at := argument("--repo", o.Repo)
		return nil, diag.List{diag.Errorf(at, "PIN/MISSING", "a repository is given and no commit to read from it").
			WithHelp("add --pin HEAD (or another commit); to read files as they are on disk use --corpus DIR without --repo")}
	case o.Path != "":
		return openDirectory(ctx, argument("--corpus", o.Path), o.Path, o.resolve(o.Path), o.SourcesOnly,
			func() string { return repositoryPath(ctx, o) })
	}
	st := &dirStore{fsys: Bundled(), from: Origin{Kind: Embedded, prefix: "bundled:"}}
	return load(ctx, st, request{at: argument("corpus", "bundled"), what: "the bundled corpus"})
}

// openDirectory opens the corpus at disk, which the caller wrote as given.
// elsewhere, when set, is asked for a place inside a repository that given may
// have meant.
func openDirectory(ctx context.Context, at diag.Span, given, disk string, sourcesOnly bool, elsewhere func() string) (*Corpus, diag.List) {
	fail := func(d diag.Diagnostic) (*Corpus, diag.List) { return nil, diag.List{d} }
	name, shown := "", filepath.ToSlash(filepath.Clean(given))
	info, err := os.Stat(disk)
	if err == nil && !info.IsDir() && strings.HasSuffix(disk, ".json") {
		disk, name, shown = filepath.Dir(disk), filepath.Base(disk), path.Dir(shown)
		info, err = os.Stat(disk)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d := diag.Errorf(at, "CORPUS/NO-DIRECTORY", "there is no directory '%s'", given)
		if elsewhere != nil {
			if in := elsewhere(); in != "" {
				return fail(d.WithHelp("'%s' exists at HEAD of the repository here; add --pin HEAD to read it from there", in))
			}
		}
		if elsewhere == nil {
			return fail(d.WithHelp("give an existing directory"))
		}
		return fail(d.WithHelp("give the directory that holds manifest.json; a path inside a repository needs --pin"))
	case err == nil && !info.IsDir():
		return fail(diag.Errorf(at, "CORPUS/NO-DIRECTORY", "'%s' is a file, not a corpus directory", given).
			WithHelp("give the directory that holds manifest.json, or that file itself; single .loom files are arguments, not a corpus"))
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(disk)
	}
	if err != nil {
		return fail(diag.Errorf(at, "CORPUS/READ", "'%s' cannot be opened: %s", given, reason(err)).WithHelp("make the directory readable"))
	}
	defer root.Close()
	prefix := shown + "/"
	switch shown {
	case ".":
		prefix = ""
	case "/":
		prefix = "/"
	}
	st := &dirStore{fsys: root.FS(), disk: disk, from: Origin{Kind: Directory, Root: shown, prefix: prefix}}
	return load(ctx, st, request{at: at, what: "'" + shown + "'", manifest: name, sourcesOnly: sourcesOnly, explicit: true})
}

// reason is the system's message without the operation and path around it.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// store is a tree of files to read a corpus from.
type store interface {
	// origin describes the root of the tree.
	origin() Origin
	// list returns the path of every file, sorted.
	list(ctx context.Context) ([]string, error)
	// read returns the content of paths, in their order.
	read(ctx context.Context, paths []string) ([]content, error)
	// sub returns the tree below dir, one of the directories that list implies.
	sub(dir string) (store, error)
}

// content is a file's text, or why there is none.
type content struct {
	text string
	ok   bool
	failure
}

// request says what load should find in a store and how to talk about it.
type request struct {
	at          diag.Span // what the caller asked for
	what        string    // the tree, in words
	manifest    string    // file name of the manifest when the caller named it
	sourcesOnly bool
	explicit    bool   // the caller named the root
	near        string // path below the root that the caller works in
}

// load reads the corpus of a store.
func load(ctx context.Context, st store, req request) (*Corpus, diag.List) {
	paths, err := st.list(ctx)
	if err != nil {
		return nil, diag.List{storeFault(ctx, req.at, st.origin(), err)}
	}
	name := req.manifest
	if name == "" {
		at, ds, err := locate(ctx, st, paths, req)
		if err != nil {
			return nil, diag.List{storeFault(ctx, req.at, st.origin(), err)}
		}
		if ds != nil {
			return nil, ds
		}
		dir := path.Dir(at)
		name = path.Base(at)
		if at == "" {
			name, dir = "", "."
		}
		if dir != "." {
			if st, err = st.sub(dir); err == nil {
				paths, err = st.list(ctx)
			}
			if err != nil {
				return nil, diag.List{storeFault(ctx, req.at, st.origin(), err)}
			}
		}
	}
	c, err := readCorpus(ctx, st, paths, name)
	if err != nil {
		return nil, diag.List{storeFault(ctx, req.at, st.origin(), err)}
	}
	if c.manifest == nil && name != "" && !req.sourcesOnly {
		if len(c.parsed) == 0 { // the manifest itself has no content
			f := c.failures[name]
			k := checker{corpus: c}
			c.parsed.Add(k.missing(Text{Value: name, Span: req.at}, f))
		}
		return nil, c.parsed
	}
	return c, nil
}

func readCorpus(ctx context.Context, st store, paths []string, manifestName string) (*Corpus, error) {
	origin := st.origin()
	c := newCorpus(origin, make(map[string]*file, len(paths)), map[string]failure{})
	add := func(want []string) error {
		contents, err := st.read(ctx, want)
		if err != nil {
			return err
		}
		for i, p := range want {
			if contents[i].ok {
				c.files[p] = &file{src: diag.NewSource(origin.name(p), contents[i].text), origin: &c.origin}
			} else {
				c.failures[p] = contents[i].failure
			}
		}
		return nil
	}
	var want []string
	seen := map[string]bool{}
	wish := func(p string) {
		if !seen[p] {
			seen[p] = true
			want = append(want, p)
		}
	}
	// The manifest says which other files there are, so it is read first.
	if manifestName != "" {
		if err := add([]string{manifestName}); err != nil {
			return nil, err
		}
		seen[manifestName] = true
		if f := c.files[manifestName]; f != nil {
			c.manifestPath = manifestName
			c.manifest, c.parsed = decodeManifest(f.src)
		}
	}
	if c.manifest != nil {
		for i := range c.manifest.Files {
			if p := c.manifest.Files[i].Path.Value; badPath(p) == "" {
				wish(p)
			}
		}
	}
	listed := len(want)
	for _, p := range paths {
		if strings.HasSuffix(p, ".loom") {
			wish(p)
		}
	}
	if err := add(want); err != nil {
		return nil, err
	}
	for _, p := range want[listed:] {
		if f, failed := c.failures[p]; failed {
			at := Text{Value: p, Span: diag.Span{Src: diag.NewSource(origin.name(p), "")}}
			d := (&checker{corpus: c}).missing(at, f)
			d.Severity = diag.Warning // nothing lists the file
			c.parsed.Add(d)
		}
	}
	return c, nil
}

// storeFault turns a store's failure as a whole into a diagnostic.
func storeFault(ctx context.Context, at diag.Span, o Origin, err error) diag.Diagnostic {
	if cause := context.Cause(ctx); cause != nil {
		return diag.Errorf(at, "CORPUS/CANCELED", "reading the corpus was stopped: %s", cause).WithHelp("run it again")
	}
	var d diag.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	var ge *gitError
	if errors.As(err, &ge) {
		return ge.diagnostic(at)
	}
	return diag.Errorf(at, "CORPUS/READ", "%s cannot be read: %s", o, reason(err)).WithHelp("make the directory and its files readable")
}

// locate finds the manifest of a tree: the one at its root, else the only one
// below. It returns "" when there is none and none is needed.
func locate(ctx context.Context, st store, paths []string, req request) (string, diag.List, error) {
	const name = "manifest.json"
	var candidates []string
	for _, p := range paths {
		if path.Base(p) == name {
			candidates = append(candidates, p)
		}
	}
	atRoot := len(candidates) > 0 && contains(candidates, name)
	switch {
	case req.sourcesOnly:
		if atRoot {
			return name, nil, nil
		}
		return "", nil, nil
	case atRoot && (req.explicit || len(candidates) == 1):
		return name, nil, nil
	}
	contents, err := st.read(ctx, candidates)
	if err != nil {
		return "", nil, err
	}
	var found, fixtures []string
	for i, p := range candidates {
		switch {
		case !contents[i].ok || !anySchema.MatchString(contents[i].text):
		case p == name:
			return name, nil, nil
		case strings.HasPrefix(p, "testdata/") || strings.Contains(p, "/testdata/"):
			fixtures = append(fixtures, p)
		default:
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		found = fixtures
	}
	if len(found) > 1 && req.near != "" {
		if near := around(found, req.near); len(near) == 1 {
			found = near
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil, nil
	case 0:
		return "", diag.List{noManifest(st, paths, candidates, req)}, nil
	}
	d := diag.Errorf(req.at, "CORPUS/AMBIGUOUS", "%s holds %d corpora", req.what, len(found))
	for i, p := range found {
		if i == 8 {
			d = d.WithRelated(diag.Span{}, "and %d more", len(found)-i)
			break
		}
		d = d.WithRelated(diag.Span{}, "%s", path.Dir(p))
	}
	option := path.Dir(found[0])
	if st.origin().Kind == Directory {
		option = path.Join(st.origin().Root, option)
	}
	return "", diag.List{d.WithHelp("choose one: --corpus %s", shellQuote(option))}, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// around keeps the manifests whose directory contains, or lies below, dir.
func around(manifests []string, dir string) []string {
	var out []string
	for _, p := range manifests {
		d := path.Dir(p)
		if d == dir || strings.HasPrefix(dir, d+"/") || strings.HasPrefix(d, dir+"/") {
			out = append(out, p)
		}
	}
	return out
}

func noManifest(st store, paths, candidates []string, req request) diag.Diagnostic {
	d := diag.Errorf(req.at, "CORPUS/NO-MANIFEST", "%s has no corpus manifest (manifest.json with a ggml-hrx kernel-corpus schema)", req.what)
	for i, p := range candidates {
		if i == 4 {
			d = d.WithRelated(diag.Span{}, "and %d more", len(candidates)-i)
			break
		}
		d = d.WithRelated(diag.Span{Src: diag.NewSource(st.origin().name(p), "")}, "this manifest.json is of another kind")
	}
	loom := 0
	for _, p := range paths {
		if strings.HasSuffix(p, ".loom") {
			loom++
		}
	}
	if loom > 0 {
		return d.WithHelp("found %s; write a manifest with `loomc manifest generate`, or pass files as arguments with --root", count(loom, ".loom file"))
	}
	if req.explicit {
		return d.WithHelp("give the directory that holds manifest.json")
	}
	return d.WithHelp("name the corpus directory with --corpus PATH; is this the right repository and commit?")
}
