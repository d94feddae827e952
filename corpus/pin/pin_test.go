package pin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/pin"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

const kernel = `config.decl @demo.columns : %value: index where [range(%value, 1, 4096)]

kernel.def export("demo_copy") @demo_copy(%rows: index) {
  %one = index.constant 1 : index
  %items = index.constant 64 : index
  kernel.launch.config workgroups(%rows, %one, %one) workgroup_size(%items, %one, %one) : index
} launch(%rows: index, %src: buffer, %dst: buffer) where [range(%rows, 1, 65536)] {
  %origin = index.constant 0 : offset
  %columns = config.get @demo.columns : index
  %row = kernel.workgroup.id<x> : index
  %lane = kernel.workitem.id<x> : index
  %items = kernel.workgroup.size<x> : index
  %src_view = buffer.view %src[%origin] : buffer -> view<[%rows]x[%columns]xf32>
  %dst_view = buffer.view %dst[%origin] : buffer -> view<[%rows]x[%columns]xf32>
  scf.for %at = [%lane to %columns step %items] {
    %x = view.load %src_view[%row, %at] : view<[%rows]x[%columns]xf32> -> f32
    view.store %x, %dst_view[%row, %at] : f32, view<[%rows]x[%columns]xf32>
  }
  kernel.return
}
`

const manifest = `{"schema": "ggml-hrx-kernel-corpus-v1", "upstream_revision": "local", "files": [{"path": "copy.loom"}],
 "exports": [{"name": "demo_copy", "family": "demo", "symbol": "demo_copy", "source": "copy.loom",
  "workload_parameters": [{"name": "rows", "type": "index"}], "launch_parameters": [{"name": "rows", "type": "index"}],
  "bindings": ["src", "dst"], "binding_access": ["read", "write"], "target_selector": ""}]}
`

// repo is a scratch repository with a corpus in k/.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for k, v := range map[string]string{"NAME": "Ada", "EMAIL": "ada@example.com", "DATE": "2026-01-02T03:04:05Z"} {
		t.Setenv("GIT_AUTHOR_"+k, v)
		t.Setenv("GIT_COMMITTER_"+k, v)
	}
	r := &repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main", ".")
	r.write("k/manifest.json", manifest)
	r.write("k/copy.loom", kernel)
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.dir}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(message string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-qm", message, "--allow-empty")
	return r.git("rev-parse", "HEAD")
}

func (r *repo) lock(revision string) *pin.Lock {
	return &pin.Lock{Corpus: "k", Revision: revision}
}

func (r *repo) status(l *pin.Lock) (*pin.Status, diag.List) {
	r.t.Helper()
	return pin.Check(r.t.Context(), l, pin.Where{Repo: r.dir})
}

func (r *repo) bump(old *pin.Lock, m pin.Move) (*pin.Bumped, diag.List) {
	r.t.Helper()
	m.Repo = r.dir
	b, ds, err := pin.Bump(r.t.Context(), old, m)
	if err != nil {
		r.t.Fatal(err)
	}
	return b, ds
}

func TestStatus(t *testing.T) {
	r := newRepo(t)
	first := r.commit("one")
	r.write("README", "text\n")
	second := r.commit("unrelated")
	r.write("k/copy.loom", "// A comment.\n"+kernel)
	third := r.commit("corpus")
	for _, c := range []struct {
		at, want string
		changed  bool
	}{
		{third, "up to date with HEAD", false},
		{second, "behind against HEAD (" + third[:7] + "): 1 behind, 0 ahead; 1 and 0 of them touch the corpus", true},
		{first, "behind against HEAD (" + third[:7] + "): 2 behind, 0 ahead; 1 and 0 of them touch the corpus", true},
	} {
		s, ds := r.status(r.lock(c.at))
		if len(ds) > 0 || s == nil || !strings.HasSuffix(s.String(), c.want) || s.Changed != c.changed {
			t.Errorf("%v, want %q; %s", s, c.want, diag.Text(ds))
		}
	}
	r.git("checkout", "-q", first)
	if s, ds := r.status(r.lock(second)); len(ds) > 0 || s.State != pin.Ahead || s.Ahead != 1 || !strings.HasSuffix(s.String(), "the corpus is the same") {
		t.Errorf("%v %v", s, ds)
	}
	r.write("k/copy.loom", kernel+"// Elsewhere.\n")
	r.commit("side")
	if s, ds := r.status(r.lock(third)); len(ds) > 0 || s.State != pin.Diverged || s.Behind != 1 || s.Ahead != 2 {
		t.Errorf("%v %v", s, ds)
	}
	s, ds := r.status(r.lock(strings.Repeat("ab", 20)))
	if s == nil || s.State != pin.Missing || len(ds) != 1 || ds[0].Code != "PIN/MISSING" || !strings.Contains(ds[0].Help, "fetch origin abab") {
		t.Errorf("%v %s", s, diag.Text(ds))
	}
}

func TestStatusOfShallowClone(t *testing.T) {
	r := newRepo(t)
	first := r.commit("one")
	r.write("k/copy.loom", kernel+"// More.\n")
	r.commit("two")
	clone := &repo{t, t.TempDir()}
	clone.git("clone", "-q", "--depth", "1", "file://"+r.dir, ".")
	s, ds := clone.status(r.lock(first))
	if s == nil || s.State != pin.Shallow || len(ds) != 1 || ds[0].Code != "PIN/SHALLOW" {
		t.Errorf("%v %s", s, diag.Text(ds))
	}
}

func TestOuterRepositoryIsRefused(t *testing.T) {
	r := newRepo(t)
	first := r.commit("outer")
	inner := filepath.Join(r.dir, "unpacked")
	for _, name := range []string{"manifest.json", "copy.loom"} {
		r.write("unpacked/k/"+name, map[string]string{"manifest.json": manifest, "copy.loom": kernel}[name])
	}
	_, ds := pin.Check(t.Context(), r.lock(first), pin.Where{Dir: inner})
	if len(ds) != 1 || ds[0].Code != "PIN/OUTER-REPOSITORY" || ds[0].Severity != diag.Error {
		t.Error(diag.Text(ds))
	}
	b, ds, err := pin.Bump(t.Context(), nil, pin.Move{Where: pin.Where{Dir: inner}, To: "HEAD"})
	if b != nil || err != nil || len(ds) != 1 || ds[0].Code != "PIN/OUTER-REPOSITORY" {
		t.Error(b, err, diag.Text(ds))
	}
}

func TestBump(t *testing.T) {
	r := newRepo(t)
	first := r.commit("one")
	b, ds := r.bump(nil, pin.Move{To: "HEAD"})
	if b == nil || b.Lock == nil || b.Lock.Revision != first || b.Lock.Corpus != "k" || b.Report != nil {
		t.Fatal(b, diag.Text(ds))
	}
	lock := b.Lock
	lock.Repository = "https://example.com/k.git"

	// Comments change nothing: the pin moves by itself.
	r.write("k/copy.loom", "// A comment.\n"+kernel)
	second := r.commit("comment")
	b, ds = r.bump(lock, pin.Move{To: "main"})
	if b == nil || b.Lock == nil || b.Lock.Revision != second || b.Lock.Repository != lock.Repository || len(b.Report.Findings) != 0 {
		t.Fatal(b, diag.Text(ds))
	}

	// A narrower range stops it until it is accepted.
	r.write("k/copy.loom", strings.Replace(kernel, "range(%value, 1, 4096)", "range(%value, 1, 2048)", 1))
	third := r.commit("narrow")
	b, ds = r.bump(lock, pin.Move{To: third})
	if b == nil || b.Lock != nil || b.Blocking[compat.ConfigNarrowed] != 1 || len(ds) > 0 {
		t.Fatal(b, diag.Text(ds))
	}
	accept, err := pin.ParseAcceptance("config-narrowed = no model is wider")
	if err != nil {
		t.Fatal(err)
	}
	b, _ = r.bump(lock, pin.Move{To: third, Accept: []pin.Acceptance{accept}})
	want := pin.Accepted{Rule: "config-narrowed", Findings: 1, Reason: "no model is wider", From: first, To: third}
	if b.Lock == nil || len(b.Lock.Accepted) != 1 || b.Lock.Accepted[0] != want {
		t.Fatalf("%+v", b.Lock)
	}

	// A demand that the new corpus does not meet stops it too.
	cases, ds := require.Read(diag.NewSource("r.jsonc", `{"schema": "loomc-requirements-v1", "cases": [
		{"export": "demo_copy", "config": {"demo.columns": 4096}, "params": {"rows": 4}}]}`))
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	b, _ = r.bump(lock, pin.Move{To: third, Accept: []pin.Acceptance{accept}, Cases: cases})
	if b.Lock != nil || b.Blocking[pin.Requirements] != 1 {
		t.Fatalf("%+v", b)
	}
	b, _ = r.bump(lock, pin.Move{To: third, Accept: []pin.Acceptance{accept, {Rule: pin.Requirements, Reason: "not shipped"}}, Cases: cases})
	if b.Lock == nil || len(b.Lock.Accepted) != 2 {
		t.Fatalf("%+v", b)
	}

	// A digest that is not the commit's: the lock was edited.
	edited := *lock
	edited.Digest = strings.Repeat("0", 64)
	if b, ds := r.bump(&edited, pin.Move{To: third}); b != nil || len(ds) != 1 || ds[0].Code != "LOCK/DIGEST" {
		t.Error(b, diag.Text(ds))
	}
	if b, ds := r.bump(lock, pin.Move{To: "nowhere"}); b != nil || !ds.HasErrors() {
		t.Error(b, diag.Text(ds))
	}
}

func TestLockRoundTrip(t *testing.T) {
	l := &pin.Lock{Repository: "https://example.com/k.git", Corpus: "k", Revision: strings.Repeat("ab", 20), Tree: strings.Repeat("cd", 20), Digest: strings.Repeat("ef", 32),
		Accepted: []pin.Accepted{{Rule: "body-changed", Findings: 3, Reason: "same bits <&>", From: "a", To: "b"}}}
	text, err := l.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, ds := pin.ReadLock(diag.NewSource(pin.LockFile, string(text)))
	if len(ds) > 0 || got == nil {
		t.Fatal(diag.Text(ds))
	}
	again, err := got.Marshal()
	if err != nil || string(again) != string(text) {
		t.Errorf("%s, want %s", again, text)
	}
	for _, c := range []struct{ text, want string }{
		{"{", "LOCK/SYNTAX"},
		{"[]", "LOCK/SCHEMA"},
		{`{"schema": "loomc-lock-v1", "revision": "main"}`, "LOCK/REVISION"},
		{`{"schema": "loomc-lock-v1", "revision": "` + l.Revision + `", "accepted": [{"rule": "body-changed"}]}`, "LOCK/ACCEPTED"},
	} {
		if _, ds := pin.ReadLock(diag.NewSource("l", c.text)); len(ds) != 1 || ds[0].Code != c.want || ds[0].Help == "" {
			t.Errorf("%s: %v, want %s", c.text, ds, c.want)
		}
	}
}

func TestParseAcceptance(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"body-changed=", "states no reason"},
		{"body-changed", "states no reason"},
		{"body-change=x", "did you mean 'body-changed'?"},
		{"zzz=x", "'loomc diff --rules' lists them"},
	} {
		if _, err := pin.ParseAcceptance(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.in, err, c.want)
		}
	}
}
