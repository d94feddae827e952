package hip

import (
	"bytes"
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

// clang returns the machine's compiler. Tests that need a real one skip loudly
// without it: everything else in this package runs on scripts and fixtures.
func clang(t testing.TB) *Toolchain {
	t.Helper()
	tc, _, err := Discover(context.Background(), Search{})
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	tc.TempDir = t.TempDir()
	return tc
}

const addSource = `
extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256)))
void add_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < n) c[i] = a[i] + b[i];
}
`

func addJob() Job { return Job{Name: "add.hip", Source: []byte(addSource), Arch: "gfx1151"} }

func TestCompile(t *testing.T) {
	tc := clang(t)
	for _, arch := range []string{"gfx1100", "gfx1151"} {
		for _, wave64 := range []bool{false, true} {
			j := addJob()
			j.Arch, j.Wave64 = arch, wave64
			out, err := tc.Compile(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			k, ok := out.Info.Kernel("add_f32")
			if !ok || out.Info.Target != arch || k.WaveSize != j.waveSize() || out.Info.CodeObjectVersion != 5 {
				t.Errorf("%s wave64=%v: %+v", arch, wave64, out.Info)
			}
			if args := k.ExplicitArgs(); len(args) != 4 || !args[0].Pointer() || args[0].Access != "read_only" || args[2].Access != "write_only" || args[3].Pointer() || args[3].Offset != 24 {
				t.Errorf("arguments %+v", args)
			}
			if k.Scratch != 0 || k.VGPR == 0 {
				t.Errorf("registers %+v", k)
			}
		}
	}
}

// The object depends on nothing but the job: not on its name, the directory it was
// compiled in, or variables of the caller's shell.
func TestCompileIsDeterministic(t *testing.T) {
	tc := clang(t)
	var first []byte
	for i := range 3 {
		j := addJob()
		j.Name = fmt.Sprintf("other%d.hip", i)
		j.ExtraFlags = []string{"-g"} // debug information is where paths hide
		tc.TempDir = t.TempDir()
		t.Setenv("CPATH", tc.TempDir)
		out, err := tc.Compile(context.Background(), j)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Object
		}
		if !bytes.Equal(first, out.Object) {
			t.Fatal("the object changed with the name, the directory or the environment")
		}
		if left, _ := os.ReadDir(tc.TempDir); len(left) != 0 {
			t.Errorf("%d files left behind", len(left))
		}
	}
}

func TestCompileErrorsAreMapped(t *testing.T) {
	tc := clang(t)
	loom := diag.NewSource("8f3c2d1:ops/add.loom", "kernel.def @add {\n  %x = index.add %a, %b : index\n}\n")
	j := addJob()
	j.Source = []byte("int good;\n#line 2 \"8f3c2d1:ops/add.loom\"\n  extern \"C\" __attribute__((global)) void f(int* p) { *p = missing; }\n")
	_, err := tc.Compile(context.Background(), j)
	var ce *CompileError
	if !errors.As(err, &ce) {
		t.Fatalf("error is %v, want a *CompileError", err)
	}
	list := ce.Diagnostics(func(name string) *diag.Source {
		if name == loom.Name {
			return loom
		}
		return nil
	})
	want := `8f3c2d1:ops/add.loom:2:3: error: HIP/COMPILE: use of undeclared identifier 'missing'
      %x = index.add %a, %b : index
      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  note: in the generated code: extern "C" __attribute__((global)) void f(int* p) { *p = missing; }
`
	if got := diag.Text(list); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(err.Error(), "compiling add.hip for gfx1151: 8f3c2d1:ops/add.loom:2:60: use of undeclared") {
		t.Errorf("error text %q", err)
	}
}

func TestCompileErrorInOwnText(t *testing.T) {
	tc := clang(t)
	j := addJob()
	j.Source = []byte("int a;\nint b = nope;\n")
	_, err := tc.Compile(context.Background(), j)
	var ce *CompileError
	if !errors.As(err, &ce) {
		t.Fatalf("error is %v", err)
	}
	if got, want := diag.Text(ce.Diagnostics(nil)), "add.hip:2:9: error: HIP/COMPILE: use of undeclared identifier 'nope'\n    int b = nope;\n            ^\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCompileHints(t *testing.T) {
	tc := clang(t)
	tests := map[string]struct {
		job        Job
		text, help string
	}{
		"unknown arch": {Job{Arch: "gfx9999"}, "gfx9999", "does not know gfx9999"},
		"too much LDS": {Job{Arch: "gfx1151", Source: []byte(`
extern "C" __attribute__((global)) void f(int* p, int n) {
  __attribute__((shared)) int big[20000];
  big[n] = n; __builtin_amdgcn_s_barrier(); *p = big[n + 1];
}`)}, "exceeds limit", "smaller tile"},
		"missing symbol": {Job{Arch: "gfx1151", Source: []byte(`
extern "C" __attribute__((device)) float lm_nowhere(float);
extern "C" __attribute__((global)) void f(float* p) { *p = lm_nowhere(*p); }`)}, "undefined", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.job.Name = "x.hip"
			_, err := tc.Compile(context.Background(), tt.job)
			var ce *CompileError
			if !errors.As(err, &ce) {
				t.Fatalf("error is %v, want a *CompileError", err)
			}
			out := diag.Text(ce.Diagnostics(nil))
			if !strings.Contains(out, tt.text) || !strings.Contains(out, tt.help) {
				t.Errorf("diagnostics lack %q or %q:\n%s\nlog:\n%s", tt.text, tt.help, out, ce.Log)
			}
		})
	}
}

func TestCompileRefusesJobs(t *testing.T) {
	tc := &Toolchain{Path: "/nonexistent"}
	for _, j := range []Job{{Arch: "native"}, {Arch: ""}, {Arch: "gfx1151", CodeObjectVersion: 3}} {
		if _, err := tc.Compile(context.Background(), j); err == nil {
			t.Errorf("%+v accepted", j)
		}
	}
}

// Cancelling ends the compiler and what the compiler started, at once.
func TestCompileCancel(t *testing.T) {
	dir := t.TempDir()
	tc := &Toolchain{Path: script(t, dir, "slowclang", "sleep 30 & wait"), TempDir: t.TempDir()}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := tc.Compile(ctx, addJob())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("cancelling took %s", d)
	}
	if left, _ := os.ReadDir(tc.TempDir); len(left) != 0 {
		t.Errorf("%d files left behind", len(left))
	}
}

func TestCompilerMisbehaves(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"no object":    {"exit 0", "left no object"},
		"other object": {"echo hello > kernel.hsaco", "no ELF signature"},
		"silent":       {"exit 7", "ended with status 7"},
		"killed":       {"kill -SEGV $$", "signal: segmentation fault"},
		"gone":         {"", "starting"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tc := &Toolchain{Path: filepath.Join(dir, "absent"), TempDir: dir, Major: 19}
			if tt.body != "" {
				tc.Path = script(t, dir, "clang", tt.body)
			}
			_, err := tc.Compile(context.Background(), addJob())
			if err == nil {
				t.Fatal("accepted")
			}
			got := err.Error()
			var ce *CompileError
			if errors.As(err, &ce) {
				list := ce.Diagnostics(nil)
				if !list.HasErrors() || !list[0].Span.Valid() {
					t.Errorf("no located diagnostic: %v", list)
				}
				got = diag.Text(list)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%q does not contain %q", got, tt.want)
			}
		})
	}
}

// script writes an executable shell script.
func script(t testing.TB, dir, name, body string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseMessages(t *testing.T) {
	log := `In file included from x:1:
a:b/k.loom:7:56: error: use of undeclared identifier 'q'
    7 | void f(int*p){ *p = q;
      |                     ^
k.loom:3:1: note: declared here
    3 | int error: ;
k.loom:9: warning: odd
clang-19: error: no such file: 'x'
lld: error: undefined symbol: foo
>>> referenced by a.o
error: <unknown>:0:0: in function f: too big
<unknown>:0:0: error: also too big
LLVM ERROR: out of memory
kernel.hip(12): error: identifier "x" is undefined
k.loom(3): warning #177-D: variable "y" was declared but never referenced
2 errors generated when compiling for gfx1151.
`
	ms := ParseMessages(log)
	var got strings.Builder
	var show func(ms []Message, indent string)
	show = func(ms []Message, indent string) {
		for _, m := range ms {
			fmt.Fprintf(&got, "%s%s|%d|%d|%s|%s|%s\n", indent, m.File, m.Line, m.Col, m.Severity, m.Text, m.Snippet)
			show(m.Notes, indent+"  ")
		}
	}
	show(ms, "")
	want := `a:b/k.loom|7|56|error|use of undeclared identifier 'q'|void f(int*p){ *p = q;
  k.loom|3|1|note|declared here|int error: ;
k.loom|9|0|warning|odd|
|0|0|error|no such file: 'x'|
|0|0|error|undefined symbol: foo; referenced by a.o|
|0|0|error|<unknown>:0:0: in function f: too big|
|0|0|error|also too big|
|0|0|error|out of memory|
kernel.hip|12|0|error|identifier "x" is undefined|
k.loom|3|0|warning|variable "y" was declared but never referenced|
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{fmt.Errorf("loading: %w", &MismatchError{Object: "gfx1100", Device: "gfx1151", Reason: "another processor"}),
			"error: HIP/ARCH: loading: code object is built for gfx1100 and the device is gfx1151: another processor\n  help: build again for gfx1151\n"},
		{&ObjectError{Err: errors.New("no bytes")}, "error: HIP/LOAD: reading code object: no bytes\n"},
		{&MissingError{What: "compiler", Tried: []Attempt{{Path: "clang", Rule: "PATH", Reason: "is version 14"}, {Path: "hipcc", Reason: notThere}}, Install: "install it"},
			"error: HIP/MISSING: no compiler found in 2 places\n  note: clang (PATH): is version 14\n  help: install it\n"},
		{&CompileError{Job: Job{Name: "k.hip", Source: []byte("x")}, Reason: "it crashed", Help: "use another"},
			"k.hip:1:1: error: HIP/COMPILE: it crashed\n    x\n    ^\n  help: use another\n"},
		{errors.New("odd"), "error: HIP/FAILED: odd\n"},
		{nil, ""},
	}
	for _, tt := range tests {
		if got := diag.Text(Explain(tt.err, nil)); got != tt.want {
			t.Errorf("%v:\n%s\nwant\n%s", tt.err, got, tt.want)
		}
	}
}

func FuzzParseMessages(f *testing.F) {
	f.Add("a:1:2: error: x\n    1 | y\n>>> z\n")
	f.Add(": error: \n:: note: ")
	f.Fuzz(func(t *testing.T, log string) {
		for _, m := range ParseMessages(log) {
			if m.Line < 0 || m.Col < 0 {
				t.Errorf("negative place in %+v", m)
			}
			_ = MessageDiagnostics(Job{Name: "k", Source: []byte(log)}, []Message{m}, nil)
		}
	})
}

// Compiling 58 small kernels from cold, for the budget of a build.
func BenchmarkCompileMany(b *testing.B) {
	tc := clang(b)
	jobs := make([]Job, 58)
	for i := range jobs {
		jobs[i] = addJob()
		jobs[i].Source = []byte(strings.Replace(addSource, "add_f32", fmt.Sprintf("add_%d", i), 1))
	}
	for b.Loop() {
		build := Builder{Compiler: tc}
		for _, o := range build.BuildAll(context.Background(), jobs, nil) {
			if o.Err != nil {
				b.Fatal(o.Err)
			}
		}
	}
}

// A warm build: the compiler is known and every object is in the cache.
func BenchmarkWarmBuild(b *testing.B) {
	clang(b)
	cache := openCache(b)
	ctx := context.Background()
	jobs := make([]Job, 58)
	for i := range jobs {
		jobs[i] = addJob()
		jobs[i].Source = fmt.Appendf(nil, "%s// %d\n", addSource, i)
	}
	tc, _, err := Discover(ctx, Search{StateDir: cache.StateDir()})
	if err != nil {
		b.Fatal(err)
	}
	first := (&Builder{Compiler: tc}).Build(ctx, jobs[0])
	for _, j := range jobs {
		if err := cache.Put(NewKey(tc.Identity(), j), Entry{Object: first.Output.Object}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		tc, _, err := Discover(ctx, Search{StateDir: cache.StateDir()})
		if err != nil {
			b.Fatal(err)
		}
		build := Builder{Compiler: tc, Cache: cache}
		for _, o := range build.BuildAll(ctx, jobs, nil) {
			if o.Err != nil || o.From != FromLocal {
				b.Fatal(o.From, o.Err)
			}
		}
	}
}
