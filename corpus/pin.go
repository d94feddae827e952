package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/loomc/loomc/loom/diag"
)

// openPin opens the corpus of a commit.
func openPin(ctx context.Context, o Options) (*Corpus, diag.List) {
	p := &pin{o: o, at: argument("--pin", o.Pin)}
	st, req, ds := p.open(ctx)
	if p.batch != nil {
		defer p.batch.close()
	}
	if st == nil {
		return nil, ds
	}
	c, more := load(ctx, st, req)
	return c, append(ds, more...)
}

// pin is one attempt to reach a commit.
type pin struct {
	o     Options
	at    diag.Span // the pin as the caller wrote it
	repo  *repo
	batch *batch
}

func (p *pin) open(ctx context.Context) (store, request, diag.List) {
	fail := func(d diag.Diagnostic) (store, request, diag.List) { return nil, request{}, diag.List{d} }
	fault := func(err error) (store, request, diag.List) {
		return fail(storeFault(ctx, p.at, Origin{Root: p.o.Repo}, err))
	}
	if d := p.checkName(); d.Code != "" {
		return fail(d)
	}
	if d := p.findRepo(ctx); d.Code != "" {
		return fail(d)
	}
	var err error
	if p.batch, err = p.repo.startBatch(ctx); err != nil {
		return fault(err)
	}
	var ds diag.List
	outer := p.outer()
	commit, d := p.commit(ctx)
	if d.Code != "" {
		if outer.Code != "" {
			d = d.WithRelated(diag.Span{}, "%s", outer.Message)
		}
		return fail(d)
	}
	if outer.Code != "" {
		ds.Add(outer)
	}

	st := &gitStore{repo: p.repo, batch: p.batch, at: p.at, from: Origin{
		Kind: Git, Repo: p.repo.name(), Rev: p.o.Pin, Commit: commit.oid,
	}}
	req := request{at: p.at, what: "commit " + short(commit.oid), sourcesOnly: p.o.SourcesOnly, near: p.repo.prefix}
	if p.o.Path != "" {
		req.at = argument("--corpus", p.o.Path)
		req.explicit, req.near = true, ""
	}
	root, entries, d := p.root(ctx, commit.oid)
	if d.Code != "" {
		return nil, request{}, append(ds, d)
	}
	if e, isFile := entries[root]; isFile && root != "" && e.mode != modeTree {
		req.manifest = path.Base(root)
		if root = path.Dir(root); root == "." {
			root = ""
		}
		if entries, err = p.repo.tree(ctx, commit.oid, root); err != nil {
			return fault(err)
		}
	}
	if req.explicit {
		req.what = fmt.Sprintf("'%s' at %s", cmp.Or(root, "."), short(commit.oid))
	}
	st.place(root, entries)
	if root == "" {
		st.from.Tree = treeOf(commit.data)
	}
	return st, req, ds
}

// short abbreviates an object id for display.
func short(oid string) string { return oid[:min(7, len(oid))] }

// treeOf reads the tree id out of a commit object.
func treeOf(commit string) string {
	line, _, _ := strings.Cut(commit, "\n")
	return strings.TrimPrefix(line, "tree ")
}

func (p *pin) checkName() diag.Diagnostic {
	rev := p.o.Pin
	switch {
	case strings.TrimSpace(rev) != rev || strings.ContainsFunc(rev, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return diag.Errorf(p.at, "PIN/INVALID", "the pin has white space or control characters around or in it").
			WithHelp("give one commit: a sha, a branch or a tag")
	case strings.HasPrefix(rev, "-"):
		return diag.Errorf(p.at, "PIN/INVALID", "'%s' is an option, not a commit", rev).
			WithHelp("give one commit: a sha, a branch or a tag")
	case strings.Contains(rev, ".."):
		return diag.Errorf(p.at, "PIN/INVALID", "'%s' is a range of commits", rev).
			WithHelp("give one commit; `loomc diff OLD NEW` compares two")
	}
	return diag.Diagnostic{}
}

func (p *pin) findRepo(ctx context.Context) diag.Diagnostic {
	dir, at := p.o.dir(), p.at
	if p.o.Repo != "" {
		dir, at = p.o.resolve(p.o.Repo), argument("--repo", p.o.Repo)
	}
	shown := dir
	if abs, err := filepath.Abs(dir); err == nil && dir == "." {
		shown = abs
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		what := "does not exist"
		if err == nil {
			what = "is a file"
		} else if !errors.Is(err, os.ErrNotExist) {
			what = reason(err)
		}
		return diag.Errorf(at, "PIN/NO-REPOSITORY", "repository directory '%s' %s", shown, what).
			WithHelp("give the directory of a local clone: --repo DIR")
	}
	r, err := openRepo(ctx, dir)
	if err == nil {
		p.repo = r
		return diag.Diagnostic{}
	}
	var ge *gitError
	if errors.As(err, &ge) {
		switch {
		case strings.Contains(ge.stderr, "dubious ownership"), strings.Contains(ge.stderr, "unsafe repository"):
			return diag.Errorf(at, "PIN/DUBIOUS-OWNERSHIP", "git does not read '%s' because another user owns it", shown).
				WithHelp("if you trust it: git config --global --add safe.directory %s", shellQuote(unsafeDir(ge.stderr, shown)))
		case strings.Contains(ge.stderr, "not a git repository"):
			d := diag.Errorf(at, "PIN/NO-REPOSITORY", "'%s' is not in a git repository", shown)
			if p.o.Repo == "" {
				return d.WithHelp("name the repository with --repo DIR, or read files on disk with --corpus DIR and no --pin")
			}
			return d.WithHelp("give the directory of a local clone: --repo DIR")
		}
	}
	return storeFault(ctx, at, Origin{Root: shown}, err)
}

// unsafeDir takes the directory out of git's advice, which may be above the one
// that was asked for.
func unsafeDir(stderr, otherwise string) string {
	if _, rest, ok := strings.Cut(stderr, "safe.directory "); ok {
		line, _, _ := strings.Cut(rest, "\n")
		if line = strings.TrimSpace(line); line != "" {
			return strings.Trim(line, "'")
		}
	}
	return otherwise
}

// outer warns when git found a repository above a directory that is no part of
// it: an archive unpacked inside somebody's work tree.
func (p *pin) outer() diag.Diagnostic {
	r := p.repo
	if r.prefix == "" || r.top == "" || strings.ContainsAny(r.prefix, "\n") {
		return diag.Diagnostic{}
	}
	o, err := p.batch.get([]string{"HEAD:" + r.prefix})
	if err != nil || o[0].found {
		return diag.Diagnostic{} // a failure shows up again, and is reported, with the commit
	}
	return diag.Warnf(p.at, "PIN/OUTER-REPOSITORY", "the commit is read from '%s', which lies above '%s' and does not track it", r.top, r.prefix).
		WithHelp("if that is the wrong repository (an unpacked archive has none of its own) name the right one with --repo; --repo %s silences this", shellQuote(r.top))
}

// commit resolves the pin.
func (p *pin) commit(ctx context.Context) (gitObject, diag.Diagnostic) {
	rev := p.o.Pin
	os, err := p.batch.get([]string{rev + "^{commit}", rev})
	if err != nil {
		if remote := p.repo.promisor(ctx); remote != "" && ctx.Err() == nil {
			return gitObject{}, p.unknown(ctx, remote)
		}
		return gitObject{}, storeFault(ctx, p.at, Origin{}, err)
	}
	if os[0].found && os[0].kind == "commit" {
		return os[0], diag.Diagnostic{}
	}
	// The suffix becomes part of a name that searches messages, such as ":/fix".
	if os[1].found && os[1].kind == "commit" {
		return os[1], diag.Diagnostic{}
	}
	if os[1].found {
		return gitObject{}, p.notACommit(os[1])
	}
	if hex := strings.ToLower(rev); isHex(hex) && len(hex) >= 4 && len(hex) < 40 {
		if d := p.ambiguous(ctx, hex); d.Code != "" {
			return gitObject{}, d
		}
	}
	return gitObject{}, p.unknown(ctx, "")
}

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}

func (p *pin) notACommit(o gitObject) diag.Diagnostic {
	rev := p.o.Pin
	what := "a " + o.kind
	switch o.kind {
	case "tree":
		what = "a tree (a directory)"
	case "blob":
		what = "a blob (a file)"
	case "tag":
		what = "a tag of something other than a commit"
	}
	d := diag.Errorf(p.at, "PIN/NOT-A-COMMIT", "'%s' is %s, not a commit", rev, what)
	if at, in, ok := strings.Cut(rev, ":"); ok && at != "" && in != "" {
		return d.WithHelp("give commit and path apart: --pin %s --corpus %s", shellQuote(at), shellQuote(in))
	}
	return d.WithHelp("a pin names a commit, so that the text can be traced; `git log --all --find-object=%s` shows commits with this object", short(o.oid))
}

// ambiguous lists the objects that an abbreviation could mean.
func (p *pin) ambiguous(ctx context.Context, prefix string) diag.Diagnostic {
	out, err := p.repo.output(ctx, "rev-parse", "--disambiguate="+prefix)
	oids := strings.Fields(string(out))
	if err != nil || len(oids) < 2 {
		return diag.Diagnostic{}
	}
	slices.Sort(oids)
	d := diag.Errorf(p.at, "PIN/AMBIGUOUS", "abbreviation '%s' fits %d objects in '%s'", prefix, len(oids), p.repo.name())
	objects, err := p.batch.get(oids[:min(len(oids), 8)])
	if err != nil {
		return storeFault(ctx, p.at, Origin{}, err)
	}
	best := ""
	for _, o := range objects {
		line := o.kind
		if o.kind == "commit" {
			if _, message, ok := strings.Cut(o.data, "\n\n"); ok {
				subject, _, _ := strings.Cut(message, "\n")
				line += " \"" + subject + "\""
			}
			best = cmp.Or(best, o.oid)
		}
		d = d.WithRelated(diag.Span{}, "%s %s", o.oid, line)
	}
	if len(oids) > len(objects) {
		d = d.WithRelated(diag.Span{}, "and %d more", len(oids)-len(objects))
	}
	if best == "" {
		return d.WithHelp("none of these is a commit; check the sha")
	}
	return d.WithHelp("write more digits, for example --pin %s", best[:min(len(best), unique(best, oids))])
}

// unique is how many digits tell oid from the others, with three to spare.
func unique(oid string, others []string) int {
	n := 0
	for _, o := range others {
		i := 0
		for i < min(len(o), len(oid)) && o[i] == oid[i] {
			i++
		}
		if o != oid {
			n = max(n, i+1)
		}
	}
	return n + 3
}

// unknown explains a pin that the repository does not have.
func (p *pin) unknown(ctx context.Context, promisor string) diag.Diagnostic {
	rev, name := p.o.Pin, p.repo.name()
	git := "git -C " + shellQuote(name)
	remote := p.remote(ctx)
	switch {
	case isHex(strings.ToLower(rev)) && p.repo.shallow:
		return diag.Errorf(p.at, "PIN/SHALLOW", "commit '%s' is not in '%s', which is a shallow clone", rev, name).
			WithHelp("fetch that commit alone: `%s fetch --depth=1 %s %s` (it needs the full sha), or all history: `%s fetch --unshallow`", git, remote, rev, git)
	case isHex(strings.ToLower(rev)):
		d := diag.Errorf(p.at, "PIN/UNKNOWN", "commit '%s' is not in '%s'", rev, name)
		if promisor != "" {
			return d.WithHelp("this is a partial clone; fetch the commit: `%s fetch %s %s`", git, promisor, rev)
		}
		if remote == "" {
			return d.WithHelp("the repository has no remote to fetch from; check the sha, or name the right repository with --repo")
		}
		return d.WithHelp("fetch it: `%s fetch %s %s`; if that fails the sha is of another repository (--repo) or mistyped", git, remote, rev)
	}
	d := diag.Errorf(p.at, "PIN/UNKNOWN", "'%s' is no commit, branch or tag of '%s'", rev, name)
	refs := p.refs(ctx)
	if len(refs) == 0 {
		return d.WithHelp("the repository has no commits yet, or no branches and tags; name the right one with --repo")
	}
	for _, r := range refs {
		if strings.HasSuffix(r, "/"+rev) {
			return d.WithHelp("did you mean '%s'?", r)
		}
	}
	if n := nearest(rev, refs); n != "" {
		return d.WithHelp("did you mean '%s'?", n)
	}
	if p.repo.shallow {
		return d.WithHelp("this is a shallow clone of few branches: `%s fetch --depth=1 %s %s`, then --pin FETCH_HEAD", git, cmp.Or(remote, "origin"), rev)
	}
	if remote != "" {
		return d.WithHelp("if it is new: `%s fetch --tags %s`; `%s branch -a` lists what is here", git, remote, git)
	}
	return d.WithHelp("`%s branch -a` and `%s tag` list what is here", git, git)
}

// remote returns "origin", or the first remote, or "".
func (p *pin) remote(ctx context.Context) string {
	out, err := p.repo.output(ctx, "remote")
	names := strings.Fields(string(out))
	switch {
	case err != nil || len(names) == 0:
		return ""
	case contains(names, "origin"):
		return "origin"
	}
	return names[0]
}

func (p *pin) refs(ctx context.Context) []string {
	out, err := p.repo.output(ctx, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// root finds the corpus directory, or the manifest file, that Path names, and
// lists what is below it.
func (p *pin) root(ctx context.Context, commit string) (string, map[string]treeEntry, diag.Diagnostic) {
	if p.o.Path == "" {
		entries, err := p.repo.tree(ctx, commit, "")
		if err != nil {
			return "", nil, storeFault(ctx, p.at, Origin{}, err)
		}
		return "", entries, diag.Diagnostic{}
	}
	at := argument("--corpus", p.o.Path)
	candidates := p.candidates()
	if len(candidates) == 0 {
		return "", nil, diag.Errorf(at, "CORPUS/PATH", "'%s' is outside the repository '%s'", p.o.Path, p.repo.name()).
			WithHelp("give the path inside the repository, from its top level; without --pin the directory is read from disk")
	}
	for _, c := range candidates {
		entries, err := p.repo.tree(ctx, commit, c)
		if err != nil {
			return "", nil, storeFault(ctx, at, Origin{}, err)
		}
		if entries == nil {
			continue
		}
		switch e := entries[c]; {
		case c == "" || e.mode == modeTree:
			return c, entries, diag.Diagnostic{}
		case e.mode == modeSubmodule:
			return "", nil, p.inSubmodule(at, c, e)
		case e.mode == modeSymlink:
			to := ""
			if o, err := p.batch.get([]string{e.oid}); err == nil && o[0].found {
				to = o[0].data
			}
			return "", nil, diag.Errorf(at, "CORPUS/PATH", "'%s' is a symbolic link to '%s' at %s", c, to, short(commit)).
				WithHelp("name the directory itself: --corpus %s", shellQuote(path.Join(path.Dir(c), to)))
		case strings.HasSuffix(c, ".json"):
			return c, entries, diag.Diagnostic{}
		default:
			return "", nil, diag.Errorf(at, "CORPUS/PATH", "'%s' is a file at %s, not a corpus directory", c, short(commit)).
				WithHelp("give the directory that holds manifest.json, or that file itself")
		}
	}
	return "", nil, p.noPath(ctx, at, commit, candidates[0])
}

// candidates lists what Path may mean inside the repository, likeliest first.
func (p *pin) candidates() []string {
	given := filepath.ToSlash(p.o.Path)
	inside := func(s string) (string, bool) {
		s = path.Clean(s)
		if s == "." {
			return "", true
		}
		return s, s != ".." && !strings.HasPrefix(s, "../") && !path.IsAbs(s)
	}
	var tries []string
	switch {
	case filepath.IsAbs(p.o.Path):
		if p.repo.top == "" {
			return nil
		}
		top, err := filepath.EvalSymlinks(p.repo.top)
		if err != nil {
			top = p.repo.top
		}
		for _, abs := range []string{p.o.Path, realPath(p.o.Path)} {
			if rel, err := filepath.Rel(top, abs); err == nil {
				tries = append(tries, filepath.ToSlash(rel))
			}
		}
	case given == "." || given == ".." || strings.HasPrefix(given, "./") || strings.HasPrefix(given, "../"):
		tries = []string{path.Join(p.repo.prefix, given)}
	default:
		tries = []string{given, path.Join(p.repo.prefix, given)}
	}
	var out []string
	for _, t := range tries {
		if c, ok := inside(t); ok && !contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// realPath resolves symbolic links of p, which need not exist on disk, as far
// as it does.
func realPath(p string) string {
	rest := ""
	for dir := filepath.Clean(p); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

func (p *pin) inSubmodule(at diag.Span, dir string, e treeEntry) diag.Diagnostic {
	repo := dir
	if p.repo.top != "" {
		repo = filepath.Join(p.repo.top, filepath.FromSlash(dir))
	}
	return diag.Errorf(at, "CORPUS/SUBMODULE", "'%s' is a submodule, whose files are not part of this commit", dir).
		WithHelp("read the submodule's own repository at the commit recorded here: --repo %s --pin %s", shellQuote(repo), e.oid)
}

// noPath explains a corpus path that a commit does not have.
func (p *pin) noPath(ctx context.Context, at diag.Span, commit, want string) diag.Diagnostic {
	d := diag.Errorf(at, "CORPUS/PATH", "commit %s has no path '%s'", short(commit), want)
	entries, err := p.repo.tree(ctx, commit, "")
	if err != nil {
		return storeFault(ctx, at, Origin{}, err)
	}
	for dir := path.Dir(want); dir != "."; dir = path.Dir(dir) {
		switch e := entries[dir]; e.mode {
		case modeSubmodule:
			return p.inSubmodule(at, dir, e)
		case modeSymlink:
			return d.WithHelp("'%s' is a symbolic link; name the directory it leads to", dir)
		}
	}
	var dirs, manifests []string
	for name, e := range entries {
		if e.mode == modeTree {
			dirs = append(dirs, name)
		} else if path.Base(name) == "manifest.json" {
			manifests = append(manifests, path.Dir(name))
		}
	}
	slices.Sort(dirs)
	slices.Sort(manifests)
	near := nearestPath(want, manifests)
	if near == "" {
		near = nearestPath(want, dirs)
	}
	if then, subject := p.lastSeen(ctx, want); then != "" {
		d = d.WithRelated(diag.Span{}, "commit %s (%s) has '%s'", then, subject, want)
	}
	switch {
	case near != "":
		return d.WithHelp("'%s' exists there: --corpus %s", near, shellQuote(near))
	case len(manifests) == 1:
		return d.WithHelp("manifest.json is in '%s' there: --corpus %s", manifests[0], shellQuote(manifests[0]))
	case len(manifests) > 0:
		return d.WithHelp("manifest.json is found in '%s'", strings.Join(manifests[:min(3, len(manifests))], "', '"))
	}
	return d.WithHelp("`git -C %s ls-tree -r -d --name-only %s` lists the directories of this commit", shellQuote(p.repo.name()), short(commit))
}

// lastSeen returns the newest commit of any branch that changed files below a
// path and kept it. History can be long, so the search gives up soon.
func (p *pin) lastSeen(ctx context.Context, want string) (abbrev, subject string) {
	ctx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	// With an explicit git directory, paths start at the top level.
	r := &repo{dir: p.repo.gitDir, flags: []string{"--git-dir=" + p.repo.gitDir, "--work-tree=" + p.repo.gitDir}}
	out, err := r.output(ctx, "log", "-1", "--all", "--no-renames", "--diff-filter=AM", "--abbrev=7", "--format=%h%x00%s", "--", want)
	if err != nil {
		return "", ""
	}
	abbrev, subject, _ = strings.Cut(strings.TrimSpace(string(out)), "\x00")
	return abbrev, subject
}

// repositoryPath reports whether Path, which is not on disk, exists at HEAD of
// the repository that Dir is in.
func repositoryPath(ctx context.Context, o Options) string {
	r, err := openRepo(ctx, o.dir())
	if err != nil || filepath.IsAbs(o.Path) {
		return ""
	}
	p := &pin{o: o, repo: r}
	for _, c := range p.candidates() {
		if entries, err := r.tree(ctx, "HEAD", c); err == nil && entries != nil && c != "" {
			return c
		}
	}
	return ""
}

// gitStore reads the tree of a commit.
type gitStore struct {
	repo    *repo
	batch   *batch
	at      diag.Span // the pin as the caller wrote it
	from    Origin
	entries map[string]treeEntry // by path below from.Root
	links   map[string]string    // target of each symbolic link
}

// place sets the root and takes over what is below it.
func (s *gitStore) place(root string, entries map[string]treeEntry) {
	s.entries = make(map[string]treeEntry, len(entries))
	for p, e := range entries {
		if root == "" {
			s.entries[p] = e
		} else if rel, ok := strings.CutPrefix(p, root+"/"); ok {
			s.entries[rel] = e
		}
	}
	s.from.Root = root
	s.from.Tree = entries[root].oid
	s.from.prefix = short(s.from.Commit) + ":"
	if root != "" {
		s.from.prefix += root + "/"
	}
}

func (s *gitStore) origin() Origin { return s.from }

func (s *gitStore) sub(dir string) (store, error) {
	sub := &gitStore{repo: s.repo, batch: s.batch, at: s.at, from: s.from}
	sub.place(dir, s.entries)
	if root := s.from.Root; root != "" {
		sub.from.Root = path.Join(root, dir)
		sub.from.prefix = short(s.from.Commit) + ":" + sub.from.Root + "/"
	}
	return sub, nil
}

func (s *gitStore) list(context.Context) ([]string, error) {
	var out []string
	for p, e := range s.entries {
		if e.mode != modeTree && e.mode != modeSubmodule {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (s *gitStore) read(ctx context.Context, paths []string) ([]content, error) {
	if err := s.readLinks(); err != nil {
		return nil, s.explain(ctx, err)
	}
	out := make([]content, len(paths))
	var oids []string
	var index []int
	for i, p := range paths {
		e, f := s.resolve(p)
		if e.oid == "" {
			out[i].failure = f
			continue
		}
		oids, index = append(oids, e.oid), append(index, i)
	}
	objects, err := s.batch.get(oids)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	for j, o := range objects {
		c := &out[index[j]]
		switch {
		case !o.found && s.repo.promisor(ctx) != "":
			c.failure = failure{failLazy, "object " + oids[j] + " was never downloaded"}
		case !o.found:
			c.failure = failure{failRead, "object " + oids[j] + " is missing from the repository"}
		case o.size > maxFileSize:
			c.failure = failure{failTooLarge, fmt.Sprint(o.size)}
		default:
			c.text, c.ok = o.data, true
		}
	}
	return out, nil
}

// explain recognises a partial clone behind a cat-file that ended: git before
// 2.44 tries to download a missing object and gives up when it may not.
func (s *gitStore) explain(ctx context.Context, err error) error {
	remote := s.repo.promisor(ctx)
	if remote == "" || ctx.Err() != nil {
		return err
	}
	c := &Corpus{origin: s.from}
	return diag.Errorf(s.at, "CORPUS/PARTIAL-CLONE", "'%s' is a partial clone that lacks files of commit %s", s.repo.name(), short(s.from.Commit)).
		WithHelp("fetch what the corpus needs: %s", c.fetchHelp())
}

// readLinks reads the targets of all symbolic links, once.
func (s *gitStore) readLinks() error {
	if s.links != nil {
		return nil
	}
	s.links = map[string]string{}
	var paths, oids []string
	for _, p := range slices.Sorted(maps.Keys(s.entries)) {
		if e := s.entries[p]; e.mode == modeSymlink {
			paths, oids = append(paths, p), append(oids, e.oid)
		}
	}
	objects, err := s.batch.get(oids)
	if err != nil {
		return err
	}
	for i, o := range objects {
		s.links[paths[i]] = o.data
	}
	return nil
}

// resolve follows symbolic links inside the tree to a file. The entry's oid is
// "" when there is none, and the failure says why.
func (s *gitStore) resolve(p string) (treeEntry, failure) {
	const maxLinks = 40 // as the kernel has it
	rest, done := p, ""
	for links := 0; ; {
		var element string
		element, rest, _ = strings.Cut(rest, "/")
		at := path.Join(done, element)
		e, ok := s.entries[at]
		switch {
		case !ok:
			return treeEntry{}, failure{reason: failAbsent}
		case e.mode == modeSubmodule:
			return treeEntry{}, failure{failSubmodule, at}
		case e.mode == modeSymlink:
			to := s.links[at]
			if links++; links > maxLinks {
				return treeEntry{}, failure{failNotFile, "a symbolic link in a loop"}
			}
			next := path.Join(done, to, rest)
			if path.IsAbs(to) || next == ".." || strings.HasPrefix(next, "../") {
				return treeEntry{}, failure{failEscapes, to}
			}
			if next == "." {
				return treeEntry{}, failure{failNotFile, "a directory"}
			}
			rest, done = next, ""
		case e.mode == modeTree && rest == "":
			return treeEntry{}, failure{failNotFile, "a directory"}
		case e.mode == modeTree:
			done = at
		case rest != "":
			return treeEntry{}, failure{reason: failAbsent}
		default:
			return e, failure{}
		}
	}
}
