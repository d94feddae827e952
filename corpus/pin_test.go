package corpus_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

// scratchRepo makes a repository with one corpus commit.
func scratchRepo(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "k/manifest.json"), `{"schema": "ggml-hrx-kernel-corpus-v1", "files": [{"path": "a.loom"}],
		"exports": [{"name": "a", "symbol": "a", "source": "a.loom"}]}`)
	write(t, filepath.Join(dir, "k/a.loom"), "// a\n")
	git(t, dir, "init", "-q", ".")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "corpus")
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), gitEnv...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// only checks that the list is one diagnostic of the code, and returns it.
func only(t *testing.T, ds diag.List, code string) diag.Diagnostic {
	t.Helper()
	if len(ds) != 1 || ds[0].Code != code || !ds[0].Span.Valid() || ds[0].Help == "" {
		t.Fatalf("want one located %s with help, have\n%s", code, diag.Text(ds))
	}
	return ds[0]
}

func TestPinIgnoresHookEnvironment(t *testing.T) {
	repo := scratchRepo(t)
	// What git sets for hooks points elsewhere and must not matter.
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "nowhere"))
	t.Setenv("GIT_WORK_TREE", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "/nonexistent")
	t.Setenv("GIT_OBJECT_DIRECTORY", "/nonexistent")
	t.Setenv("GIT_PREFIX", "x/")
	c, ds := corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD"})
	if c == nil || len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	if o := c.Origin(); o.Kind != corpus.Git || o.Root != "k" || len(o.Commit) != 40 || len(o.Tree) != 40 || o.Rev != "HEAD" {
		t.Errorf("origin %+v", o)
	}
}

func TestPinWholeTreeID(t *testing.T) {
	repo := scratchRepo(t)
	commit := git(t, repo, "rev-parse", "HEAD")
	c, ds := corpus.Open(t.Context(), corpus.Options{Dir: filepath.Join(repo, "k"), Pin: commit[:12]})
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	if o := c.Origin(); o.Commit != commit || o.Tree != git(t, repo, "rev-parse", "HEAD:k") {
		t.Errorf("origin %+v", o)
	}
	// A corpus that is a whole repository: the tree is the commit's.
	c, ds = corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD", Path: ".", SourcesOnly: true})
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	if o := c.Origin(); o.Tree != git(t, repo, "rev-parse", "HEAD^{tree}") || c.String() != commit[:7] {
		t.Errorf("origin %+v, name %q", o, c)
	}
	if got := c.Source("k/a.loom"); got == nil || got.Name != commit[:7]+":k/a.loom" || got != c.Sources()["k/a.loom"] {
		t.Errorf("source %+v", got)
	}
}

func TestPinReplacementRefsDoNotApply(t *testing.T) {
	repo := scratchRepo(t)
	old := git(t, repo, "rev-parse", "HEAD:k/a.loom")
	write(t, filepath.Join(repo, "other"), "// replaced\n")
	git(t, repo, "replace", old, git(t, repo, "hash-object", "-w", "other"))
	c, ds := corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD"})
	if c == nil || c.Source("a.loom").Text != "// a\n" {
		t.Fatal(diag.Text(ds))
	}
}

func TestPinDubiousOwnership(t *testing.T) {
	repo := scratchRepo(t)
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	_, ds := corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD"})
	d := only(t, ds, "PIN/DUBIOUS-OWNERSHIP")
	if !strings.Contains(d.Help, "git config --global --add safe.directory ") {
		t.Error(d.Help)
	}
}

func TestPinWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, ds := corpus.Open(t.Context(), corpus.Options{Pin: "HEAD"})
	only(t, ds, "PIN/GIT-MISSING")
}

func TestPinOutsideAnyRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	_, ds := corpus.Open(t.Context(), corpus.Options{Dir: dir, Pin: "HEAD"})
	only(t, ds, "PIN/NO-REPOSITORY")
	_, ds = corpus.Open(t.Context(), corpus.Options{Repo: dir, Pin: "HEAD"})
	only(t, ds, "PIN/NO-REPOSITORY")
}

func TestPinSafeBareRepository(t *testing.T) {
	repo := scratchRepo(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, repo, "clone", "-q", "--bare", ".", bare)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "safe.bareRepository")
	t.Setenv("GIT_CONFIG_VALUE_0", "explicit")
	c, ds := corpus.Open(t.Context(), corpus.Options{Repo: bare, Pin: "HEAD"})
	if c == nil || len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
}

func TestPinDamagedRepository(t *testing.T) {
	repo := scratchRepo(t)
	oid := git(t, repo, "rev-parse", "HEAD:k/a.loom")
	if err := os.Remove(filepath.Join(repo, ".git/objects", oid[:2], oid[2:])); err != nil {
		t.Fatal(err)
	}
	c, ds := corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD"})
	d := only(t, ds, "CORPUS/READ")
	if c == nil || !strings.Contains(d.Message, oid) {
		t.Error(d)
	}
	if e := c.Manifest().Lookup("a", ""); e.Problem != "CORPUS/READ" {
		t.Errorf("export problem %q", e.Problem)
	}

	tree := git(t, repo, "rev-parse", "HEAD:k")
	if err := os.Remove(filepath.Join(repo, ".git/objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	_, ds = corpus.Open(t.Context(), corpus.Options{Repo: repo, Pin: "HEAD"})
	only(t, ds, "PIN/GIT")
}

func TestOpenCanceled(t *testing.T) {
	repo := scratchRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, o := range []corpus.Options{{Repo: repo, Pin: "HEAD"}, {Path: filepath.Join(repo, "k")}, {}} {
		_, ds := corpus.Open(ctx, o)
		only(t, ds, "CORPUS/CANCELED")
	}
}
