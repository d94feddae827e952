package hip

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/loom/diag"
)

// fakeClang writes a script that answers a probe like clang and says which lld it
// would use.
func fakeClang(t *testing.T, dir, name, version, lld string) string {
	t.Helper()
	return script(t, dir, name, fmt.Sprintf(`# %s
echo 'clang version %s (made up)' >&2
echo 'InstalledDir: %s' >&2
echo '%s'`, name, version, dir, lld))
}

// environment is a Getenv over pairs; anything else is unset.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDiscoverOrder(t *testing.T) {
	// One machine with a compiler in every place; each case hides what comes before.
	root := t.TempDir()
	mk := func(rel string) string {
		dir := filepath.Join(root, rel)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	bin, llvm, none := mk("bin"), mk("opt/rocm/lib/llvm/bin"), mk("none")
	lld := script(t, mk("lld"), "lld", "")
	flag := fakeClang(t, mk("flag"), "clang", "19.1.7", lld)
	env := fakeClang(t, mk("env"), "clang", "19.1.7", lld)
	amd := fakeClang(t, llvm, "clang++", "20.0.0", lld)
	for _, n := range []string{"clang-18", "clang-19", "clang-20", "clang", "hipcc"} {
		fakeClang(t, bin, n, "19.0.0", lld)
	}
	ancient := mk("ancient")
	fakeClang(t, ancient, "clang-19", "14.0.6", lld)
	fakeClang(t, ancient, "clang", "17.0.1", lld)

	tests := map[string]struct {
		s    Search
		want string
		rule string
	}{
		"flag first":       {Search{Path: flag, Getenv: environment("LOOMC_CLANG", env, "PATH", bin)}, flag, "flag"},
		"then environment": {Search{Getenv: environment("LOOMC_CLANG", env, "LOOMC_HIPCC", bin+"/hipcc", "PATH", bin)}, env, "LOOMC_CLANG"},
		"then hipcc's":     {Search{Getenv: environment("LOOMC_HIPCC", bin+"/hipcc", "PATH", bin)}, bin + "/hipcc", "LOOMC_HIPCC"},
		"a bare name":      {Search{Getenv: environment("LOOMC_CLANG", "clang-18", "PATH", bin)}, bin + "/clang-18", "LOOMC_CLANG"},
		"ROCM_PATH":        {Search{Getenv: environment("ROCM_PATH", root+"/opt/rocm", "PATH", bin)}, amd, "ROCM_PATH"},
		"/opt/rocm":        {Search{Getenv: environment("PATH", bin), ROCmParents: []string{root + "/opt"}}, amd, root + "/opt/rocm"},
		"PATH, by name":    {Search{Getenv: environment("PATH", none+":"+bin)}, bin + "/clang-19", "PATH"},
		"old ones skipped": {Search{Getenv: environment("PATH", ancient)}, ancient + "/clang", "PATH"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.s.ROCmParents == nil {
				tt.s.ROCmParents = []string{none}
			}
			tc, tried, err := Discover(context.Background(), tt.s)
			if err != nil {
				t.Fatal(err)
			}
			last := tried[len(tried)-1]
			if tc.Path != tt.want || !last.OK || last.Rule != tt.rule {
				t.Errorf("found %s by %s, want %s by %s\n%v", tc.Path, last.Rule, tt.want, tt.rule, tried)
			}
		})
	}
}

func TestDiscoverReportsWhatItTried(t *testing.T) {
	bin := t.TempDir()
	fakeClang(t, bin, "clang-19", "14.0.6", "/bin/sh")
	script(t, bin, "clang-20", "echo hello")
	script(t, bin, "clang-21", "echo broken install >&2; exit 3")
	fakeClang(t, bin, "clang-22", "22.1.0", "lld")
	if err := os.WriteFile(filepath.Join(bin, "clang-18"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, tried, err := Discover(context.Background(), Search{Getenv: environment("PATH", bin, "ROCM_PATH", bin+"/absent"), ROCmParents: []string{bin}})
	var m *MissingError
	if !errors.As(err, &m) {
		t.Fatalf("error is %v, want a *MissingError", err)
	}
	var got strings.Builder
	for _, a := range tried {
		fmt.Fprintf(&got, "%s\n", strings.ReplaceAll(a.String(), bin, "BIN"))
	}
	want := `BIN/absent: not found
BIN/rocm: not found
amdclang++: not found in PATH
clang-19: is version 14.0.6; gfx1151 needs 17 or newer
clang-20: is not clang: no version line in its answer to -v
clang-21: does not answer -v: exit status 3: broken install
clang-22: has no lld to link device code with: apt-get install lld-22
clang-18: not found in PATH
clang-17: not found in PATH
clang: not found in PATH
hipcc: not found in PATH
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
	text := diag.Text(diag.List{m.Diagnostic()})
	if !strings.HasPrefix(text, "error: HIP/MISSING: no compiler for AMD GPU code found in 11 places\n") || !strings.HasSuffix(text, "  help: apt-get install lld-22\n") {
		t.Errorf("diagnostic:\n%s", text)
	}
}

func TestDiscoverExplicitIsFinal(t *testing.T) {
	bin := t.TempDir()
	lld := script(t, bin, "lld", "")
	fakeClang(t, bin, "clang-19", "19.1.7", lld)
	for _, s := range []Search{
		{Path: bin + "/nowhere", Getenv: environment("PATH", bin)},
		{Path: bin, Getenv: environment("PATH", bin)},
		{Getenv: environment("PATH", bin, "LOOMC_CLANG", bin+"/nowhere")},
		{Getenv: environment("PATH", bin, "LOOMC_HIPCC", "nowhere")},
	} {
		if tc, tried, err := Discover(context.Background(), s); err == nil || len(tried) != 1 {
			t.Errorf("%+v: fell back to %v after %v", s, tc, tried)
		}
	}
}

// A compiler that names no linker gets another version's, in a directory where the
// driver finds it by the name it looks for.
func TestDiscoverLendsALinker(t *testing.T) {
	bin, llvm := t.TempDir(), t.TempDir()
	fakeClang(t, bin, "clang-20", "20.0.0", "lld")
	lld := script(t, llvm, "lld", "")
	if err := os.Symlink(lld, filepath.Join(bin, "ld.lld-19")); err != nil {
		t.Fatal(err)
	}
	tc, _, err := Discover(context.Background(), Search{Getenv: environment("PATH", bin), ROCmParents: []string{bin}})
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Join(tc.arguments(addJob()), " ")
	if tc.Linker != lld || !strings.Contains(args, "-B "+llvm) {
		t.Errorf("linker %s, arguments %s", tc.Linker, args)
	}
}

func TestDiscoverHungCompilerIsCancelled(t *testing.T) {
	bin := t.TempDir()
	path := script(t, bin, "clang-19", "sleep 30")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, _, err := Discover(ctx, Search{Path: path, Getenv: environment()})
	if err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("error %v after %s", err, time.Since(start))
	}
}

func TestSurveyListsAll(t *testing.T) {
	bin := t.TempDir()
	lld := script(t, bin, "lld", "")
	fakeClang(t, bin, "clang-19", "19.1.7", lld)
	fakeClang(t, bin, "clang", "18.1.0", lld)
	tcs, tried, err := Survey(context.Background(), Search{Getenv: environment("PATH", bin), ROCmParents: []string{bin}})
	if err != nil || len(tcs) != 2 || tcs[0].Major != 19 {
		t.Errorf("%v %v %v", tcs, tried, err)
	}
	if tcs, _, err := Survey(context.Background(), Search{Getenv: environment(), ROCmParents: []string{bin}}); err != nil || len(tcs) != 0 {
		t.Errorf("on an empty machine: %v, %v", tcs, err)
	}
}

// The identity follows the bytes of the compiler, not its version string, and the
// memo notices that they changed.
func TestIdentityFollowsTheFiles(t *testing.T) {
	bin, state := t.TempDir(), t.TempDir()
	lld := script(t, bin, "lld", "")
	path := fakeClang(t, bin, "clang", "19.1.7", lld)
	s := Search{Path: path, Getenv: environment(), StateDir: state}
	find := func() string {
		t.Helper()
		tc, _, err := Discover(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return tc.Identity()
	}
	first := find()
	if again := find(); again != first {
		t.Error("identity changed without a change")
	}
	s.StateDir = ""
	if fresh := find(); fresh != first {
		t.Error("identity out of the memo differs from the computed one")
	}
	s.StateDir = state
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, "# rebuilt\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	second := find()
	if second == first {
		t.Error("a rebuilt compiler has the identity of the old one")
	}
	script(t, bin, "lld", "# rebuilt too")
	if find() == second {
		t.Error("a rebuilt linker has the identity of the old one")
	}
	if err := os.WriteFile(memoFile(state, path), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	find() // a damaged memo is no memo
}

// On a warm machine finding the compiler starts no process and reads no library.
func TestDiscoverWarmStartsNothing(t *testing.T) {
	bin, state := t.TempDir(), t.TempDir()
	lld := script(t, bin, "lld", "")
	path := fakeClang(t, bin, "clang", "19.1.7", lld)
	count := filepath.Join(bin, "count")
	b, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(b, "\necho x >> "+count+"\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, _, err := Discover(context.Background(), Search{Path: path, Getenv: environment(), StateDir: state}); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile(count); string(b) != "x\n" {
		t.Errorf("the compiler was started %d times, want 1", strings.Count(string(b), "x"))
	}
}

func TestRealCompilerFiles(t *testing.T) {
	tc := clang(t)
	if len(tc.Files) < 2 || tc.Identity() == "" {
		t.Errorf("files %v, identity %q", tc.Files, tc.Identity())
	}
	for _, f := range tc.Files {
		if f.Size == 0 || len(f.SHA256) != 64 {
			t.Errorf("%+v", f)
		}
	}
}

func TestFindROCm(t *testing.T) {
	opt := t.TempDir()
	for _, v := range []string{"rocm-6.4.2", "rocm-6.10.0"} {
		if err := os.MkdirAll(filepath.Join(opt, v, ".info"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	newest := filepath.Join(opt, "rocm-6.10.0")
	bitcode := filepath.Join(newest, "amdgcn", "bitcode")
	if err := os.MkdirAll(bitcode, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(newest, ".info", "version"), []byte("6.10.0-99\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := FindROCm(Search{Getenv: environment(), ROCmParents: []string{opt}})
	if want := (ROCm{Root: newest, Rule: newest, Version: "6.10.0-99", Bitcode: bitcode}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := FindROCm(Search{Getenv: environment(), ROCmParents: []string{bitcode}}); got != (ROCm{}) {
		t.Errorf("found %+v where there is none", got)
	}
}

// A compiler that the user names is the only one there is to talk about.
func TestNamedCompilerIsAbsent(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "clang"): "'" + filepath.Join(dir, "clang") + "': does not exist",
		dir:                         ": is a directory",
		"no-such-clang":             "'no-such-clang': not found in PATH",
	} {
		_, tried, err := Discover(t.Context(), Search{Path: path, Getenv: environment("PATH", dir)})
		var me *MissingError
		if !errors.As(err, &me) || len(tried) != 1 {
			t.Fatalf("%s: %v, tried %v", path, err, tried)
		}
		if d := me.Diagnostic(); !strings.Contains(d.Message, want) || d.Help == "" {
			t.Errorf("have %s\nwant %s", d.Message, want)
		}
	}
}
