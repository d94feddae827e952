package corpus

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
)

// checker compares a manifest with itself and, when it has a corpus, with the
// files. It reports everything and marks the records at fault.
type checker struct {
	manifest *Manifest
	corpus   *Corpus // nil: the text of the manifest is all there is

	listed   map[string]*File // path → first record
	unlisted map[string]int   // path → index in ds of the diagnostic about it
	ds       diag.List
}

// checkManifest runs every rule that applies and completes defaults.
func (c *checker) checkManifest() {
	c.checkSchema()
	c.listed = make(map[string]*File, len(c.manifest.Files))
	c.unlisted = map[string]int{}
	for i := range c.manifest.Files {
		c.checkFile(&c.manifest.Files[i])
	}
	modules := map[string]bool{}
	for i := range c.manifest.LinkModules {
		modules[c.manifest.LinkModules[i].Name.Value] = true
	}
	for i := range c.manifest.Exports {
		e := &c.manifest.Exports[i]
		e.Problem, e.faults = e.parseProblem, slices.Clone(e.parseFaults)
		if e.Recipe.Mode.Value == "" && !e.Recipe.Span.Valid() {
			e.Recipe = Recipe{Mode: Plain(ModeDirect), PrimarySources: []Text{e.Source}, LibrarySources: e.CompileDependencies}
		}
		c.checkExport(e, modules)
	}
	c.checkNames()
	c.checkCases()
}

func (c *checker) failFile(f *File, d diag.Diagnostic) {
	if d.Severity == diag.Error {
		f.Problem = cmp.Or(f.Problem, d.Code)
		f.faults.Add(d)
	}
	c.ds.Add(d)
}

func (c *checker) failExport(e *Export, d diag.Diagnostic) {
	if d.Severity == diag.Error {
		e.Problem = cmp.Or(e.Problem, d.Code)
		e.faults.Add(d)
	}
	c.ds.Add(d)
}

// top is the place of the manifest as a whole.
func (c *checker) top() diag.Span { return diag.Span{Src: c.manifest.Source} }

func (c *checker) checkSchema() {
	m := c.manifest
	known := "'" + strings.Join(schemas, "', '") + "'"
	switch s := m.Schema; {
	case !s.Span.Valid() && m.Source != nil && !m.filesSpan.Valid() && !m.exportsSpan.Valid():
		c.ds.Add(diag.Errorf(c.top(), "MANIFEST/SCHEMA", "this is not the manifest of a kernel corpus: it has no 'schema', 'files' or 'exports'").
			WithHelp("known schemas are %s; is this the right manifest.json?", known))
		return
	case s.Value == "":
		sp := s.Span
		if !sp.Valid() {
			sp = c.top()
		}
		c.ds.Add(diag.Errorf(sp, "MANIFEST/SCHEMA", "the manifest does not state its schema").
			WithHelp(`add "schema": "%s"`, SchemaV1))
	case s.Value != schemas[0] && s.Value != schemas[1] && s.Value != schemas[2]:
		d := diag.Errorf(s.Span, "MANIFEST/SCHEMA", "schema '%s' is not one this version reads", s.Value)
		switch n := nearest(s.Value, schemas); {
		case anySchema.MatchString(`"schema": "` + s.Value + `"`):
			d = d.WithHelp("known schemas are %s; a newer one needs a newer loomc", known)
		case n != "":
			d = d.WithHelp("'%s' was probably meant; known schemas are %s", n, known)
		default:
			d = d.WithHelp("known schemas are %s; is this the right manifest.json?", known)
		}
		c.ds.Add(d)
	}
	for _, list := range []struct {
		key string
		sp  diag.Span
	}{{"files", m.filesSpan}, {"exports", m.exportsSpan}} {
		if m.Source != nil && !list.sp.Valid() {
			c.ds.Add(diag.Errorf(c.top(), "MANIFEST/MISSING-FIELD", "the manifest has no '%s'", list.key).
				WithHelp(`add "%s": […]; "loomc manifest generate" writes a manifest from the sources`, list.key))
		}
	}
}

// badPath says why p cannot name a file of a corpus, or "".
func badPath(p string) string {
	switch {
	case p == "":
		return "is empty"
	case strings.ContainsRune(p, '\\'):
		return "contains a backslash"
	case strings.HasPrefix(p, "/"):
		return "is absolute"
	case len(p) > 1 && p[1] == ':':
		return "is absolute"
	case p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."):
		return "leaves the corpus through '..'"
	case strings.HasSuffix(p, "/"):
		return "names a directory"
	case path.Clean(p) != p || p == ".":
		return "is not in its shortest form"
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "contains a control character"
	}
	return ""
}

func pathHelp(p string) string {
	if strings.HasSuffix(p, "/") {
		return "list the files themselves"
	}
	if clean := path.Clean(strings.ReplaceAll(p, "\\", "/")); clean != p && badPath(clean) == "" {
		return fmt.Sprintf("write '%s'", clean)
	}
	return "write the path relative to the directory of manifest.json, with '/' between elements and no '..'; files kept elsewhere belong in an override directory (--override)"
}

func (c *checker) checkFile(f *File) {
	p := f.Path.Value
	if !f.Path.Span.Valid() && p == "" {
		c.failFile(f, diag.Errorf(f.Span, "MANIFEST/MISSING-FIELD", "an element of 'files' has no 'path'").
			WithHelp(`write {"path": "ops/name.loom"}`))
		return
	}
	if why := badPath(p); why != "" {
		c.failFile(f, diag.Errorf(f.Path.Span, "MANIFEST/PATH", "path '%s' %s", p, why).WithHelp("%s", pathHelp(p)))
		if _, again := c.listed[p]; !again {
			c.listed[p] = f // so that exports do not report it once more
		}
		return
	}
	if first, again := c.listed[p]; again {
		d := diag.Errorf(f.Path.Span, "MANIFEST/DUPLICATE-FILE", "file '%s' is listed twice", p).
			WithRelated(first.Path.Span, "first here").WithHelp("remove one of the two records")
		if strings.EqualFold(first.SHA256.Value, f.SHA256.Value) && first.Size.Bytes == f.Size.Bytes {
			d.Severity = diag.Warning // the same statement twice harms nobody
		}
		c.failFile(f, d)
		if d.Severity == diag.Warning {
			f.Problem, f.faults = first.Problem, first.faults
			return
		}
	} else {
		c.listed[p] = f
	}
	want := strings.TrimPrefix(strings.ToLower(f.SHA256.Value), "sha256:")
	if want != "" {
		if b, err := hex.DecodeString(want); err != nil || len(b) != sha256.Size {
			c.failFile(f, diag.Errorf(f.SHA256.Span, "MANIFEST/DIGEST-FORMAT", "'%s' is not a SHA-256 digest", f.SHA256.Value).
				WithHelp("write 64 hexadecimal digits, or remove the field"))
			want = ""
		}
	}
	if c.corpus != nil {
		c.checkContent(f, want)
	}
}

// checkContent compares a record with the file it lists.
func (c *checker) checkContent(f *File, want string) {
	p := f.Path.Value
	got, ok := c.corpus.files[p]
	if !ok {
		c.failFile(f, c.missing(f.Path, c.corpus.failures[p]))
		return
	}
	if strings.HasPrefix(got.src.Text, "version https://git-lfs.github.com/spec/") {
		c.failFile(f, diag.Errorf(f.Path.Span, "CORPUS/LFS-POINTER", "'%s' is a Git LFS pointer, not the file's text", got.src.Name).
			WithHelp("read the corpus from a work tree in which `git lfs pull` has run: --corpus DIR without --pin"))
		return
	}
	size := int64(len(got.src.Text))
	wrongSize := f.Size.Stated && f.Size.Bytes != size
	if have := ""; want != "" {
		if have = got.sha256(); have != want {
			d := diag.Errorf(f.SHA256.Span, "MANIFEST/DIGEST", "'%s' has sha256 %s, the manifest says %s", got.src.Name, have, want)
			if wrongSize {
				d.Message += fmt.Sprintf(" (%d bytes, the manifest says %d)", size, f.Size.Bytes)
			}
			c.failFile(f, d.WithHelp("%s", digestHelp(got.src.Text, want)))
			return
		}
	}
	if wrongSize {
		c.failFile(f, diag.Errorf(f.Size.Span, "MANIFEST/SIZE", "'%s' has %d bytes, the manifest says %d", got.src.Name, size, f.Size.Bytes).
			WithHelp(`restore the file, or correct "size" to %d`, size))
	}
}

// digestHelp looks for the usual innocent cause of a changed digest.
func digestHelp(text, want string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	lf := strings.ReplaceAll(text, "\r\n", "\n")
	switch {
	case lf != text && hash(lf) == want:
		return "only the line ends differ: the file was checked out with CRLF; set `*.loom text eol=lf` in .gitattributes"
	case hash(strings.ReplaceAll(lf, "\n", "\r\n")) == want:
		return "only the line ends differ: the digest was taken of a CRLF copy; regenerate the manifest with `loomc manifest generate`"
	}
	return "if the file is right, write its digest into the manifest (`loomc manifest generate`); if not, restore the file that the manifest describes"
}

// missing explains why a listed file has no content.
func (c *checker) missing(at Text, f failure) diag.Diagnostic {
	p, where := at.Value, c.corpus.String()
	switch f.reason {
	case failEscapes:
		return diag.Errorf(at.Span, "MANIFEST/PATH-ESCAPE", "'%s' is reached through a symbolic link that leaves the corpus (%s)", p, f.detail).
			WithHelp("copy the file into the corpus; a corpus must be complete by itself")
	case failNotFile:
		return diag.Errorf(at.Span, "MANIFEST/NOT-A-FILE", "'%s' is not a file but %s", p, f.detail).
			WithHelp("list the files themselves")
	case failSubmodule:
		return diag.Errorf(at.Span, "CORPUS/SUBMODULE", "'%s' lies in submodule %s, whose files are not part of this commit", p, f.detail).
			WithHelp("pin the submodule's own repository: --repo SUBMODULE --pin COMMIT")
	case failLazy:
		return diag.Errorf(at.Span, "CORPUS/PARTIAL-CLONE", "'%s' is not in this partial clone: %s", p, f.detail).
			WithHelp("fetch what the corpus needs: %s", c.corpus.fetchHelp())
	case failTooLarge:
		return diag.Errorf(at.Span, "CORPUS/TOO-LARGE", "'%s' has %s bytes, more than the %d that a corpus file may have", p, f.detail, maxFileSize).
			WithHelp("a Loom source is text of at most a few megabytes; check what this file is")
	case failRead:
		return diag.Errorf(at.Span, "CORPUS/READ", "'%s' cannot be read: %s", p, f.detail).
			WithHelp("make the file readable")
	}
	d := diag.Errorf(at.Span, "MANIFEST/FILE-ABSENT", "file '%s' is listed but absent from %s", p, where)
	if n := nearestPath(p, c.corpus.Paths()); n != "" {
		return d.WithHelp("'%s' exists; correct the path, or add the file", n)
	}
	return d.WithHelp("add the file to the corpus, or remove it from the manifest")
}

func (c *checker) checkExport(e *Export, modules map[string]bool) {
	for _, need := range []struct {
		key string
		t   Text
	}{{"name", e.Name}, {"symbol", e.Symbol}, {"source", e.Source}} {
		if need.t.Value == "" && e.parseProblem == "" {
			sp, what := e.Span, "has no"
			if need.t.Span.Valid() {
				sp, what = need.t.Span, "has an empty"
			}
			c.failExport(e, diag.Errorf(sp, "MANIFEST/MISSING-FIELD", "export '%s' %s '%s'", e.Name.Value, what, need.key).
				WithHelp(`every export states "name", "symbol" and "source"`))
		}
	}
	if s, ok := strings.CutPrefix(e.Symbol.Value, "@"); ok {
		c.failExport(e, diag.Warnf(e.Symbol.Span, "MANIFEST/SYMBOL", "symbol '%s' is written without '@' in a manifest", e.Symbol.Value).
			WithHelp(`write "symbol": "%s"`, s))
		e.Symbol.Value = s
	}
	c.checkTarget(e)
	c.checkBindings(e)
	c.checkUnique(e)
	c.checkRecipe(e, modules)
	c.checkSource(e, e.Source, "source")
	for _, t := range e.Recipe.PrimarySources {
		c.checkSource(e, t, "primary source")
	}
	for _, t := range e.Recipe.LibrarySources {
		c.checkSource(e, t, "library source")
	}
	for _, t := range e.CompileDependencies {
		c.checkSource(e, t, "compile dependency")
	}
}

// checkTarget: an engine compares the selector with the processor it runs on, so
// that a misspelt one is never chosen.
func (c *checker) checkTarget(e *Export) {
	t := e.TargetSelector
	if t.Value == "" {
		return
	}
	if _, ok := target.Lookup(t.Value); ok {
		return
	}
	d := diag.Errorf(t.Span, "MANIFEST/TARGET", "export '%s': target_selector '%s' is no processor that this version knows", e.Name.Value, t.Value)
	if n := nearest(t.Value, target.Names()); n != "" {
		d = d.WithHelp("did you mean '%s'? `loomc targets` lists them", n)
	} else {
		d = d.WithHelp("`loomc targets` lists the processors; an empty selector fits every one")
	}
	c.failExport(e, d)
}

func (c *checker) checkBindings(e *Export) {
	for _, a := range e.BindingAccess {
		if ParseAccess(a.Value) != AccessUnknown {
			continue
		}
		d := diag.Errorf(a.Span, "MANIFEST/ACCESS", "export '%s': '%s' is not an access word", e.ID(), a.Value)
		if n := nearest(a.Value, accessWords[1:]); n != "" {
			d = d.WithHelp("'%s' was probably meant; the words are 'read', 'write' and 'read_write'", n)
		} else {
			d = d.WithHelp("write 'read', 'write' or 'read_write'")
		}
		c.failExport(e, d)
	}
	nb, na := len(e.Bindings), len(e.BindingAccess)
	if nb == na || e.parseProblem != "" {
		return
	}
	if !e.AccessSpan.Valid() && c.manifest.Source != nil && na == 0 {
		c.failExport(e, diag.Errorf(e.BindingsSpan, "MANIFEST/ACCESS-COUNT", "export '%s' has %s and no 'binding_access'", e.ID(), count(nb, "binding")).
			WithHelp("state the access of each binding in order: 'read', 'write' or 'read_write'"))
		return
	}
	d := diag.Errorf(e.AccessSpan, "MANIFEST/ACCESS-COUNT", "export '%s' has %s and %s", e.ID(), count(nb, "binding"), count(na, "access word"))
	if e.BindingsSpan.Valid() {
		d = d.WithRelated(e.BindingsSpan, "the bindings")
	}
	if na < nb {
		d = d.WithHelp("add the access of '%s'", e.Bindings[na].Value)
	} else {
		d = d.WithHelp("remove the surplus words from '%s' on, or name the bindings they belong to", e.BindingAccess[nb].Value)
	}
	c.failExport(e, d)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// checkUnique: bindings and launch parameters are arguments of one list, and
// workload parameters of another; names are unique in each.
func (c *checker) checkUnique(e *Export) {
	report := func(first, again Text, what string) {
		c.failExport(e, diag.Errorf(again.Span, "MANIFEST/DUPLICATE-ARGUMENT", "export '%s': %s '%s' appears twice", e.ID(), what, again.Value).
			WithRelated(first.Span, "first here").
			WithHelp("names are those of the kernel's arguments, and each is used once"))
	}
	launch := map[string]Text{}
	for _, b := range e.Bindings {
		if first, ok := launch[b.Value]; ok {
			report(first, b, "binding")
		} else {
			launch[b.Value] = b
		}
	}
	for _, p := range e.LaunchParameters {
		if first, ok := launch[p.Name.Value]; ok {
			report(first, p.Name, "launch parameter")
		} else {
			launch[p.Name.Value] = p.Name
		}
	}
	workload := map[string]Text{}
	for _, p := range e.WorkloadParameters {
		if first, ok := workload[p.Name.Value]; ok {
			report(first, p.Name, "workload parameter")
		} else {
			workload[p.Name.Value] = p.Name
		}
	}
}

func (c *checker) checkRecipe(e *Export, modules map[string]bool) {
	r := &e.Recipe
	modes := []string{ModeDirect, ModeArchive}
	switch {
	case r.Mode.Value == ModeDirect || r.Mode.Value == ModeArchive:
	case r.Mode.Value == "" && !r.Mode.Span.Valid() && e.parseProblem == "":
		c.failExport(e, diag.Errorf(r.Span, "MANIFEST/RECIPE-MODE", "export '%s': compile_recipe has no 'mode'", e.ID()).
			WithHelp("write 'direct' (compile the sources) or 'archive' (link the module closure first)"))
	case e.parseProblem == "":
		d := diag.Errorf(r.Mode.Span, "MANIFEST/RECIPE-MODE", "export '%s': compile_recipe mode '%s' is not known", e.ID(), r.Mode.Value)
		if n := nearest(r.Mode.Value, modes); n != "" {
			d = d.WithHelp("'%s' was probably meant; the modes are 'direct' and 'archive'", n)
		} else {
			d = d.WithHelp("write 'direct' (compile the sources) or 'archive' (link the module closure first)")
		}
		c.failExport(e, d)
	}
	if len(r.PrimarySources) == 0 && e.parseProblem == "" {
		sp := r.primarySpan
		if !sp.Valid() {
			sp = r.Span
		}
		c.failExport(e, diag.Errorf(sp, "MANIFEST/NO-PRIMARY", "export '%s': compile_recipe names no primary source", e.ID()).
			WithHelp(`write "primary_sources": ["%s"]`, e.Source.Value))
	}
	if r.Mode.Value == ModeDirect && len(r.PrimarySources) > 1 {
		c.failExport(e, diag.Warnf(r.PrimarySources[1].Span, "MANIFEST/PRIMARY-COUNT", "export '%s': %d primary sources in mode direct; engines take exactly one", e.ID(), len(r.PrimarySources)).
			WithHelp("keep '%s' and list the others under library_sources", r.PrimarySources[0].Value))
	}
	if name := r.LinkModule; name.Value != "" && len(modules) > 0 && !modules[name.Value] {
		c.failExport(e, diag.Errorf(name.Span, "MANIFEST/LINK-MODULE", "export '%s': link module '%s' is not in 'link_modules'", e.ID(), name.Value).
			WithHelp("add the module to 'link_modules', or correct the name"))
	}
}

// checkSource: t must be a listed, sound file. A path that many exports share is
// reported once, with the other places related.
func (c *checker) checkSource(e *Export, t Text, what string) {
	const relatedMax = 4
	if t.Value == "" {
		return // reported as a missing field
	}
	if f := c.listed[t.Value]; f != nil {
		switch f.Problem {
		case "", "MANIFEST/DIGEST", "MANIFEST/SIZE", "MANIFEST/DIGEST-FORMAT", "MANIFEST/DUPLICATE-FILE":
		default:
			e.Problem = cmp.Or(e.Problem, f.Problem)
			e.faults = append(e.faults, f.faults...)
		}
		return
	}
	if i, again := c.unlisted[t.Value]; again {
		e.Problem = cmp.Or(e.Problem, c.ds[i].Code)
		e.faults.Add(c.ds[i])
		if t.Span == c.ds[i].Span {
			return // a recipe made up from the same field
		}
		for _, r := range c.ds[i].Related {
			if r.Span == t.Span {
				return
			}
		}
		if n := len(c.ds[i].Related); n < relatedMax {
			c.ds[i] = c.ds[i].WithRelated(t.Span, "also %s of export '%s'", what, e.ID())
		} else if n == relatedMax {
			c.ds[i] = c.ds[i].WithRelated(diag.Span{}, "and in further exports")
		}
		return
	}
	if why := badPath(t.Value); why != "" {
		c.unlisted[t.Value] = len(c.ds)
		c.failExport(e, diag.Errorf(t.Span, "MANIFEST/PATH", "%s '%s' of export '%s' %s", what, t.Value, e.ID(), why).WithHelp("%s", pathHelp(t.Value)))
		return
	}
	exists := c.corpus != nil && c.corpus.files[t.Value] != nil
	if !c.manifest.filesSpan.Valid() && (exists || c.corpus == nil) {
		return // no 'files' to be listed in; that is reported by itself
	}
	d := diag.Errorf(t.Span, "MANIFEST/SOURCE-UNLISTED", "%s '%s' of export '%s' is not listed in 'files'", what, t.Value, e.ID())
	paths := make([]string, 0, len(c.manifest.Files))
	for i := range c.manifest.Files {
		paths = append(paths, c.manifest.Files[i].Path.Value)
	}
	switch n := nearestPath(t.Value, paths); {
	case exists:
		d = d.WithHelp(`the file exists; add {"path": "%s"} to 'files'`, t.Value)
	case n != "":
		d = d.WithHelp("'%s' is listed; correct the path, or add the file", n)
	default:
		d = d.WithHelp("add the file to the corpus and to 'files', or correct the path")
	}
	c.unlisted[t.Value] = len(c.ds)
	c.failExport(e, d)
}

// checkNames: one record per name and target, and variants of one name agree on
// their interface, because an engine picks a variant by target alone.
func (c *checker) checkNames() {
	type key struct{ name, target string }
	seen := make(map[key]*Export, len(c.manifest.Exports))
	first := make(map[string]*Export, len(c.manifest.Exports))
	for i := range c.manifest.Exports {
		e := &c.manifest.Exports[i]
		if e.Name.Value == "" {
			continue
		}
		k := key{e.Name.Value, e.TargetSelector.Value}
		if before := seen[k]; before != nil {
			c.failExport(e, diag.Errorf(e.Name.Span, "MANIFEST/DUPLICATE-EXPORT", "export '%s' is defined twice for the same target", e.ID()).
				WithRelated(before.Name.Span, "first here").
				WithHelp("rename one, or give each its own 'target_selector'"))
			continue
		}
		seen[k] = e
		f := first[e.Name.Value]
		if f == nil {
			first[e.Name.Value] = e
			continue
		}
		if f.parseProblem != "" || e.parseProblem != "" {
			continue
		}
		if diff := DiffInterface(f, e); diff != nil {
			c.failExport(e, diag.Errorf(diff.B, "MANIFEST/VARIANT-ABI", "variants of export '%s' disagree: %s", e.Name.Value, diff.What).
				WithRelated(diff.A, "%s", variantName(f)).
				WithHelp("an engine calls every variant in the same way; make the records agree, or give the export another name"))
		}
	}
}

func variantName(e *Export) string {
	if t := e.TargetSelector.Value; t != "" {
		return "the variant for " + t
	}
	return "the default variant"
}

// InterfaceDiff is the first difference between two exports' interfaces.
type InterfaceDiff struct {
	What string    // "binding 1 is 'a' here, 'b' there"
	A, B diag.Span // the places in either record
}

// DiffInterface compares what callers of two exports see: workload parameters,
// launch parameters, bindings and access, with names and order. It returns nil
// when they agree.
func DiffInterface(a, b *Export) *InterfaceDiff {
	type item struct {
		text string
		at   diag.Span
	}
	params := func(ps []Param) []item {
		out := make([]item, len(ps))
		for i, p := range ps {
			out[i] = item{p.Name.Value + ": " + p.Type.Value, p.Span}
		}
		return out
	}
	texts := func(ts []Text) []item {
		out := make([]item, len(ts))
		for i, t := range ts {
			out[i] = item{t.Value, t.Span}
		}
		return out
	}
	for _, part := range []struct {
		what       string
		a, b       []item
		aAll, bAll diag.Span
	}{
		{"workload parameter", params(a.WorkloadParameters), params(b.WorkloadParameters), a.WorkloadSpan, b.WorkloadSpan},
		{"launch parameter", params(a.LaunchParameters), params(b.LaunchParameters), a.LaunchSpan, b.LaunchSpan},
		{"binding", texts(a.Bindings), texts(b.Bindings), a.BindingsSpan, b.BindingsSpan},
		{"access of binding", texts(a.BindingAccess), texts(b.BindingAccess), a.AccessSpan, b.AccessSpan},
	} {
		for i := range min(len(part.a), len(part.b)) {
			if part.a[i].text != part.b[i].text {
				return &InterfaceDiff{
					What: fmt.Sprintf("%s %d is '%s' in one and '%s' in the other", part.what, i, part.a[i].text, part.b[i].text),
					A:    part.a[i].at, B: part.b[i].at,
				}
			}
		}
		if len(part.a) != len(part.b) {
			d := &InterfaceDiff{What: fmt.Sprintf("%s in one and %d in the other", count(len(part.a), part.what), len(part.b)), A: part.aAll, B: part.bAll}
			if !d.A.Valid() {
				d.A = a.Span
			}
			if !d.B.Valid() {
				d.B = b.Span
			}
			return d
		}
	}
	return nil
}
