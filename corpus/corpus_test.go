package corpus_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

const smallManifest = `{"schema": "ggml-hrx-kernel-corpus-v1", "files": [{"path": "ops/a.loom"}, {"path": "m/b/c.loom"}],
 "exports": [{"name": "a", "symbol": "a", "source": "ops/a.loom"}]}`

func smallFS() fstest.MapFS {
	return fstest.MapFS{
		"manifest.json": {Data: []byte(smallManifest)},
		"ops/a.loom":    {Data: []byte("// a\n")},
		"m/b/c.loom":    {Data: []byte("// c\n")},
		"notes.txt":     {Data: []byte("not part of the corpus")},
	}
}

func TestOpenFS(t *testing.T) {
	c, ds := corpus.OpenFS(t.Context(), smallFS(), "engine")
	if c == nil || len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	if diff := cmp.Diff([]string{"m/b/c.loom", "manifest.json", "ops/a.loom"}, c.Paths()); diff != "" {
		t.Error(diff)
	}
	if err := fstest.TestFS(c.FS(), c.Paths()...); err != nil {
		t.Error(err)
	}
	if _, err := fs.ReadFile(c.FS(), "notes.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("notes.txt: %v", err)
	}
	if s := c.Source("ops/a.loom"); s.Name != "engine:ops/a.loom" || c.String() != "engine" {
		t.Errorf("names %q, %q", s.Name, c)
	}
	if c.Source("nope") != nil {
		t.Error("a source for a file that is not there")
	}
}

// The digest depends on paths and contents alone.
func TestDigest(t *testing.T) {
	digest := func(change func(fstest.MapFS), name string) string {
		fsys := smallFS()
		change(fsys)
		c, ds := corpus.OpenFS(t.Context(), fsys, name)
		if c == nil {
			t.Fatal(diag.Text(ds))
		}
		return c.Digest()
	}
	base := digest(func(fstest.MapFS) {}, "x")
	if got := digest(func(m fstest.MapFS) { delete(m, "notes.txt") }, "y"); got != base {
		t.Error("the digest depends on a name or on a file outside the corpus")
	}
	for name, change := range map[string]func(fstest.MapFS){
		"content": func(m fstest.MapFS) { m["ops/a.loom"].Data = []byte("// b\n") },
		"new":     func(m fstest.MapFS) { m["z.loom"] = &fstest.MapFile{} },
		"moved":   func(m fstest.MapFS) { m["ops/b.loom"] = m["ops/a.loom"]; delete(m, "ops/a.loom") },
	} {
		if digest(change, "x") == base {
			t.Errorf("%s: same digest", name)
		}
	}
}

// A corpus is read by many goroutines at once; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	c, _ := corpus.OpenFS(t.Context(), smallFS(), "engine")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c.Digest()
			c.Paths()
			c.Sources()
			c.Provenance("ops/a.loom")
			fs.ReadFile(c.FS(), "ops/a.loom")
			c.Source("ops/a.loom").LineCol(2)
			c.Manifest().Lookup("a", "")
		})
	}
	wg.Wait()
}

func TestReadsFromDiskAlikeFromGit(t *testing.T) {
	repo := scratchRepo(t)
	fromGit, ds := corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD"})
	if fromGit == nil {
		t.Fatal(diag.Text(ds))
	}
	fromDisk, ds := corpus.Open(t.Context(), corpus.Options{Dir: repo, Path: "k"})
	if fromDisk == nil {
		t.Fatal(diag.Text(ds))
	}
	if fromGit.Digest() != fromDisk.Digest() {
		t.Error("digests differ")
	}
}

func TestDirectoryOddFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "manifest.json"), `{"schema": "ggml-hrx-kernel-corpus-v1", "files": [{"path": "big.loom"}, {"path": "secret.loom"}], "exports": []}`)
	write(t, filepath.Join(dir, "secret.loom"), "x")
	if err := os.Truncate(filepath.Join(dir, "secret.loom"), 1); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "big.loom"), "x")
	if err := os.Truncate(filepath.Join(dir, "big.loom"), 65<<20); err != nil { // sparse
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "stray.loom")); err != nil {
		t.Skip("no symbolic links here")
	}
	c, ds := corpus.Open(t.Context(), corpus.Options{Path: dir})
	if c == nil || len(ds) != 2 {
		t.Fatal(diag.Text(ds))
	}
	for i, want := range []string{"CORPUS/TOO-LARGE", "MANIFEST/NOT-A-FILE"} {
		if ds[i].Code != want {
			t.Errorf("have %v, want %s", ds[i], want)
		}
	}
	if ds[1].Severity != diag.Warning {
		t.Errorf("nothing lists stray.loom, so it harms nobody: %v", ds[1])
	}
}

func TestDirectoryUnreadable(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "manifest.json"), `{"schema": "ggml-hrx-kernel-corpus-v1", "files": [{"path": "a.loom"}], "exports": []}`)
	write(t, filepath.Join(dir, "a.loom"), "x")
	if err := os.Chmod(filepath.Join(dir, "a.loom"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "a.loom")); err == nil {
		t.Skip("this user reads everything")
	}
	_, ds := corpus.Open(t.Context(), corpus.Options{Path: dir})
	only(t, ds, "CORPUS/READ")
}

// A checkout with CRLF changes every digest; the help says so.
func TestDigestHelpNamesLineEnds(t *testing.T) {
	fsys := fstest.MapFS{
		"manifest.json": {Data: []byte(`{"schema": "ggml-hrx-kernel-corpus-v1", "exports": [], "files": [
			{"path": "a.loom", "sha256": "12a61f4e173fb3a11c05d6471f74728f76231b4a5fcd9667cef3af87a3ae4dc2"}]}`)},
		"a.loom": {Data: []byte("b\r\n")},
	}
	_, ds := corpus.OpenFS(t.Context(), fsys, "x")
	d := only(t, ds, "MANIFEST/DIGEST")
	if strings.Contains(d.Help, "CRLF") {
		t.Errorf("the digest is of \"a\\n\", not of \"b\\n\": %s", d.Help)
	}
	// sha256 of "b\n"
	fsys["manifest.json"].Data = bytes.ReplaceAll(fsys["manifest.json"].Data,
		[]byte("12a61f4e173fb3a11c05d6471f74728f76231b4a5fcd9667cef3af87a3ae4dc2"),
		[]byte("0263829989b6fd954f72baaf2fc64bc2e2f01d692d4de72986ea808f6e99813f"))
	_, ds = corpus.OpenFS(t.Context(), fsys, "x")
	if d := only(t, ds, "MANIFEST/DIGEST"); !strings.Contains(d.Help, "CRLF") {
		t.Error(d.Help)
	}
}

func TestFileRecordsAreTrue(t *testing.T) {
	c, _ := corpus.OpenFS(t.Context(), smallFS(), "x")
	m := c.Manifest().Clone()
	m.Files = c.FileRecords()
	text, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	fsys := smallFS()
	fsys["manifest.json"].Data = text
	if _, ds := corpus.OpenFS(t.Context(), fsys, "x"); len(ds) > 0 {
		t.Error(diag.Text(ds))
	}
	fsys["ops/a.loom"].Data = []byte("changed")
	_, ds := corpus.OpenFS(t.Context(), fsys, "x")
	only(t, ds, "MANIFEST/DIGEST")
}

// Cloning and overriding must not write into the corpus below.
func TestOverrideLeavesBaseAlone(t *testing.T) {
	base, _ := corpus.OpenFS(t.Context(), smallFS(), "base")
	before, err := base.Manifest().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ops/a.loom"), "// ours\n")
	write(t, filepath.Join(dir, "manifest.json"), `{"exports": [{"name": "a", "symbol": "a2"}]}`)
	over, ds := corpus.WithOverride(t.Context(), base, dir)
	if over == nil || len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	after, err := base.Manifest().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Error(diff)
	}
	if base.Source("ops/a.loom").Text != "// a\n" || over.Source("ops/a.loom").Text != "// ours\n" {
		t.Error("wrong text")
	}
	if e := over.Manifest().Lookup("a", ""); e.Symbol.Value != "a2" || !e.OverriddenBy.Valid() {
		t.Errorf("export %+v", e)
	}
	from, ok := over.Provenance("ops/a.loom")
	if !ok || from.Origin.Kind != corpus.Directory || from.Replaces != "base:ops/a.loom" {
		t.Errorf("provenance %+v", from)
	}
	if base.Digest() == over.Digest() {
		t.Error("same digest")
	}
}

func TestWriteFileAtomic(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.txt")
	for _, text := range []string{"first", "second, longer", ""} {
		if err := corpus.WriteFileAtomic(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != text {
			t.Fatalf("read %q, %v", got, err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	// A link stays a link.
	link := filepath.Join(dir, "link")
	if err := os.Symlink("out.txt", link); err == nil {
		if err := corpus.WriteFileAtomic(link, []byte("through"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(name); string(got) != "through" {
			t.Errorf("target holds %q", got)
		}
		if to, err := os.Readlink(link); err != nil || to != "out.txt" {
			t.Errorf("link is %q, %v", to, err)
		}
	}
	if err := corpus.WriteFileAtomic(os.DevNull, []byte("x"), 0o600); err != nil {
		t.Error(err)
	}

	// Failures name the path and leave nothing behind.
	if err := corpus.WriteFileAtomic(dir, nil, 0o600); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory: %v", err)
	}
	if err := corpus.WriteFileAtomic(filepath.Join(dir, "no", "such"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestAccessWords(t *testing.T) {
	for _, w := range []string{"read", "write", "read_write"} {
		if got := corpus.ParseAccess(w).String(); got != w {
			t.Errorf("%s became %s", w, got)
		}
	}
	for _, w := range []string{"", "unknown", "Read", "readwrite"} {
		if got := corpus.ParseAccess(w); got != corpus.AccessUnknown {
			t.Errorf("%q became %s", w, got)
		}
	}
}

// FuzzManifest: no input may panic, every diagnostic has a place inside the
// text, and what parses survives Marshal.
func FuzzManifest(f *testing.F) {
	f.Add(smallManifest)
	f.Add(`{"schema": "ggml-hrx-kernel-corpus-v2", "files": [{"path": "a", "size": 1, "x": {}}], "exports": [{"name": "\ud800", "compile_recipe": {"mode": "archive"}}], "link_modules": [{}], "plan_cases": [{"args": []}]}`)
	f.Add(`{"a": [/* x */ 1, {"b": "\u0041",},],} // end`)
	f.Add(strings.Repeat("[", 100))
	f.Add("{\"a\": \"\xff\"}")
	f.Add("\ufeff{}")
	f.Fuzz(func(t *testing.T, text string) {
		m, ds := corpus.ParseManifest(diag.NewSource("m.json", text))
		for _, d := range ds {
			if !d.Span.Valid() || int(d.Span.End) > len(text) || d.Span.Start > d.Span.End {
				t.Fatalf("place of %v: %+v", d, d.Span)
			}
		}
		corpus.ReadConfig(diag.NewSource("c.json", text))
		if m == nil || ds.HasErrors() {
			return
		}
		once, err := m.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, ds := corpus.ParseManifest(diag.NewSource("m.json", string(once)))
		if ds.HasErrors() {
			t.Fatalf("Marshal wrote what ParseManifest refuses:\n%s\n%s", once, diag.Text(ds))
		}
		twice, err := again.Marshal()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not a fixed point (%v):\n%s\n%s", err, once, twice)
		}
	})
}

// BenchmarkOpen reads a corpus of 1500 exports and 1000 files.
func BenchmarkOpen(b *testing.B) {
	const files, exports = 1000, 1500
	var m corpus.Manifest
	fsys := fstest.MapFS{}
	for i := range files {
		p := fmt.Sprintf("ops/k%d.loom", i)
		fsys[p] = &fstest.MapFile{Data: bytes.Repeat([]byte("// some text of a kernel\n"), 400)}
		m.Files = append(m.Files, corpus.File{Path: corpus.Plain(p)})
	}
	for i := range exports {
		e := corpus.Export{
			Name: corpus.Plain(fmt.Sprintf("k%d", i)), Symbol: corpus.Plain("k"), Source: m.Files[i%files].Path,
			Bindings: []corpus.Text{corpus.Plain("a"), corpus.Plain("b")}, BindingAccess: []corpus.Text{corpus.Plain("read"), corpus.Plain("write")},
			WorkloadParameters: []corpus.Param{{Name: corpus.Plain("n"), Type: corpus.Plain("index")}},
		}
		e.Recipe.PrimarySources = []corpus.Text{e.Source}
		for j := range 8 {
			e.CompileDependencies = append(e.CompileDependencies, m.Files[(i*7+j)%files].Path)
		}
		e.Recipe.LibrarySources = e.CompileDependencies
		m.Exports = append(m.Exports, e)
	}
	text, err := m.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	fsys["manifest.json"] = &fstest.MapFile{Data: text}
	dir := b.TempDir()
	if err := os.CopyFS(dir, fsys); err != nil {
		b.Fatal(err)
	}
	b.Run("manifest", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, ds := corpus.ParseManifest(diag.NewSource("m", string(text))); len(ds) > 0 {
				b.Fatal(diag.Text(ds))
			}
		}
	})
	b.Run("directory", func(b *testing.B) {
		for b.Loop() {
			if _, ds := corpus.Open(b.Context(), corpus.Options{Path: dir}); len(ds) > 0 {
				b.Fatal(diag.Text(ds))
			}
		}
	})
}

// The corpus built into this program is sound: every record, file and digest.
func TestBundled(t *testing.T) {
	c, ds := corpus.Open(t.Context(), corpus.Options{})
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	if c.Manifest() == nil || len(c.Manifest().Exports) == 0 {
		t.Error("no exports")
	}
	for i := range c.Manifest().Exports {
		if e := &c.Manifest().Exports[i]; !e.OK() {
			t.Errorf("export %s: %s", e.ID(), e.Problem)
		}
	}
}

// Texts that a golden file cannot hold.
func TestMalformedBytes(t *testing.T) {
	for _, c := range []struct {
		name, text, place, message string
	}{
		{"deep", strings.Repeat("[", 65) + strings.Repeat("]", 65), "m.json:1:65", "deeper than 64 levels"},
		{"byte order mark", "\ufeff{}", "m.json:1:1", "byte order mark"},
		{"not UTF-8", "{\n\"a\": \"\xe9\"}", "m.json:2:7", "byte 0xe9 is not UTF-8"},
		{"NUL", "{\"a\x00\": 1}", "m.json:1:4", "a string holds the control character 0x00"},
		{"line end in a string", "{\"a\": \"b\n\"}", "m.json:1:9", "the line ends inside a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := corpus.ParseManifest(diag.NewSource("m.json", c.text))
			d := only(t, ds, "MANIFEST/SYNTAX")
			if d.Span.String() != c.place || !strings.Contains(d.Message, c.message) {
				t.Errorf("have %s: %s\nwant %s: …%s…", d.Span, d.Message, c.place, c.message)
			}
		})
	}
}
