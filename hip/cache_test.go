package hip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomc/loomc/hip/internal/fixture"
)

func openCache(t testing.TB) *Cache {
	t.Helper()
	c, err := OpenCache(filepath.Join(t.TempDir(), "cache"), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testKey(n int) Key {
	return NewKey("test", Job{Source: []byte{byte(n), byte(n >> 8)}, Arch: "gfx1151"})
}

func TestKeyCoversWhatDecides(t *testing.T) {
	base := Job{Name: "a", Source: []byte("x"), Arch: "gfx1151"}
	k := NewKey("id", base)
	same := base
	same.Name = "b"
	if NewKey("id", same) != k {
		t.Error("the name changes the key")
	}
	same.CodeObjectVersion = 5
	if NewKey("id", same) != k {
		t.Error("writing the default out changes the key")
	}
	changes := map[string]func(*Job){
		"source":  func(j *Job) { j.Source = []byte("y") },
		"arch":    func(j *Job) { j.Arch = "gfx1100" },
		"wave":    func(j *Job) { j.Wave64 = true },
		"version": func(j *Job) { j.CodeObjectVersion = 6 },
		"flags":   func(j *Job) { j.ExtraFlags = []string{"-g"} },
	}
	seen := map[Key]string{k: "base", NewKey("other", base): "identity"}
	if len(seen) != 2 {
		t.Error("the identity does not change the key")
	}
	for name, change := range changes {
		j := base
		change(&j)
		if other, dup := seen[NewKey("id", j)]; dup {
			t.Errorf("changing %s gives the key of %s", name, other)
		}
		seen[NewKey("id", j)] = name
	}
	if p, err := ParseKey(k.String()); err != nil || p != k {
		t.Errorf("ParseKey: %v", err)
	}
	for _, s := range []string{"", "xyz", k.String()[1:], k.String() + "00"} {
		if _, err := ParseKey(s); err == nil {
			t.Errorf("ParseKey(%q) succeeded", s)
		}
	}
}

func TestShard(t *testing.T) {
	const n = 3
	counts := [n]int{}
	for i := range 300 {
		owners := 0
		for s := 1; s <= n; s++ {
			if (Shard{Index: s, Count: n}).Owns(testKey(i)) {
				owners++
				counts[s-1]++
			}
		}
		if owners != 1 {
			t.Fatalf("key %d has %d owners", i, owners)
		}
	}
	for s, c := range counts {
		if c < 60 {
			t.Errorf("shard %d owns %d of 300 keys", s+1, c)
		}
	}
	if !(Shard{}).Owns(testKey(0)) {
		t.Error("the zero shard owns nothing")
	}
	if s, err := ParseShard("2/8"); err != nil || s != (Shard{2, 8}) {
		t.Errorf("%v %v", s, err)
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "a/b", "1/0", "1/2/3"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("ParseShard(%q) succeeded", bad)
		}
	}
}

func TestCacheRoundTrip(t *testing.T) {
	c := openCache(t)
	k := testKey(1)
	if _, ok, err := c.Get(k); ok || err != nil {
		t.Fatalf("empty cache: %v %v", ok, err)
	}
	for _, e := range []Entry{{Object: []byte("object\nwith\nlines"), Log: "a warning\n"}, {Object: []byte{}, Log: ""}} {
		if err := c.Put(k, e); err != nil {
			t.Fatal(err)
		}
		got, ok, err := c.Get(k)
		if err != nil || !ok || !bytes.Equal(got.Object, e.Object) || got.Log != e.Log {
			t.Errorf("got %q %v %v", got, ok, err)
		}
	}
}

// Whatever happened to an entry's file, reading it gives a miss, takes the file
// away, and leaves room for a good one.
func TestCacheDamage(t *testing.T) {
	k, other := testKey(1), testKey(2)
	good := encodeEntry(k, Entry{Object: fixture.Add().Bytes(), Log: "log"})
	flip := func(i int) []byte { b := bytes.Clone(good); b[i] ^= 1; return b }
	damage := map[string][]byte{
		"empty":       {},
		"half":        good[:len(good)/2],
		"longer":      append(bytes.Clone(good), 0),
		"bit flipped": flip(len(good) - 1),
		"log flipped": flip(bytes.IndexByte(good, '\n') + 1),
		"header":      flip(3),
		"another key": encodeEntry(other, Entry{Object: fixture.Add().Bytes()}),
		"no newline":  bytes.ReplaceAll(good, []byte("\n"), []byte(" ")),
		"garbage":     []byte("loomc-object 1 x y -1 -1\n"),
		"zeros":       make([]byte, 4096),
	}
	for name, b := range damage {
		t.Run(name, func(t *testing.T) {
			c := openCache(t)
			if err := c.Put(k, Entry{Object: fixture.Add().Bytes()}); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(c.path(k), b, 0o644); err != nil {
				t.Fatal(err)
			}
			if n, bad, err := c.Verify(context.Background(), false); err != nil || n != 1 || len(bad) != 1 {
				t.Errorf("Verify: checked %d, bad %v, %v", n, bad, err)
			}
			if _, ok, err := c.Get(k); ok || err != nil {
				t.Errorf("Get: %v %v", ok, err)
			}
			if fileExists(c.path(k)) {
				t.Error("the damaged file is still there")
			}
		})
	}
}

func TestCacheVerify(t *testing.T) {
	c := openCache(t)
	ctx := context.Background()
	if err := c.Put(testKey(1), Entry{Object: fixture.Add().Bytes()}); err != nil {
		t.Fatal(err)
	}
	if err := c.Put(testKey(2), Entry{Object: []byte("not an object")}); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(c.Dir(), "objects", "stray")
	if err := os.WriteFile(stray, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	n, bad, err := c.Verify(ctx, true)
	if err != nil || n != 3 || len(bad) != 2 {
		t.Fatalf("checked %d, bad %v, %v", n, bad, err)
	}
	n, bad, err = c.Verify(ctx, false)
	if err != nil || n != 1 || len(bad) != 0 {
		t.Errorf("after removal: checked %d, bad %v, %v", n, bad, err)
	}
}

func TestCachePruneKeepsWhatIsUsed(t *testing.T) {
	c := openCache(t)
	ctx := context.Background()
	const n = 10
	obj := make([]byte, 1000)
	for i := range n {
		if err := c.Put(testKey(i), Entry{Object: obj}); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(c.path(testKey(i)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, _ := c.Get(testKey(0)); !ok { // the oldest, used now
		t.Fatal("miss")
	}
	s, err := c.Stats(ctx)
	if err != nil || s.Entries != n || s.Bytes < n*1000 || s.MaxBytes != DefaultCacheBytes {
		t.Fatalf("stats %+v, %v", s, err)
	}
	p, err := c.Prune(ctx, 4*1200)
	if err != nil || p.Kept != 4 || p.Removed != n-4 || p.KeptBytes > 4*1200 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, i := range []int{0, 7, 8, 9} {
		if _, ok, _ := c.Get(testKey(i)); !ok {
			t.Errorf("entry %d was pruned", i)
		}
	}
	stale, fresh := filepath.Join(c.TempDir(), "compile-1"), filepath.Join(c.TempDir(), "compile-2")
	for _, d := range []string{stale, fresh} {
		if err := os.MkdirAll(filepath.Join(d, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * staleAfter)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	if p, err = c.Clear(ctx); err != nil || p.Kept != 0 || p.Removed != 4 {
		t.Errorf("clear: %+v, %v", p, err)
	}
	if fileExists(stale) || !fileExists(fresh) {
		t.Error("clear removed a running compiler's directory or kept a dead one's")
	}
}

func TestCacheUnusable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(filepath.Join(file, "cache"), 0); err == nil || !strings.Contains(err.Error(), "opening cache") {
		t.Errorf("error %v", err)
	}
	if d, err := DefaultCacheDir(environment("LOOMC_CACHE", "/a")); d != "/a" || err != nil {
		t.Errorf("%q %v", d, err)
	}
	if d, err := DefaultCacheDir(environment("XDG_CACHE_HOME", "/x")); d != "/x/loomc" || err != nil {
		t.Errorf("%q %v", d, err)
	}
}

func TestCacheLock(t *testing.T) {
	c := openCache(t)
	k := testKey(1)
	ctx := context.Background()
	unlock, err := c.Lock(ctx, k)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := c.Lock(short, k); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v", err)
	}
	unlock()
	again, err := c.Lock(ctx, k)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// A process of this test binary that stores entries until it is killed.
func TestMain(m *testing.M) {
	switch os.Getenv("LOOMC_TEST_CHILD") {
	case "store":
		c, err := OpenCache(os.Getenv("LOOMC_TEST_CACHE"), 0)
		if err != nil {
			panic(err)
		}
		obj := append(fixture.Add().Bytes(), make([]byte, 1<<20)...)
		fmt.Println("ready")
		for i := 0; ; i++ {
			if err := c.Put(testKey(i%64), Entry{Object: obj}); err != nil {
				panic(err)
			}
		}
	case "build":
		buildChild()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestCacheSurvivesKill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skip("SKIPPED: no path to the test binary:", err)
	}
	c := openCache(t)
	for i := range 8 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "LOOMC_TEST_CHILD=store", "LOOMC_TEST_CACHE="+c.Dir())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(1+7*i) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed: the error is the point
		n, bad, err := c.Verify(context.Background(), false)
		if err != nil || len(bad) != 0 {
			t.Fatalf("after kill %d: checked %d, bad %v, %v", i, n, bad, err)
		}
	}
	if s, err := c.Stats(context.Background()); err != nil || s.Entries == 0 {
		t.Errorf("nothing was stored: %+v %v", s, err)
	}
}

// fakeCompiler counts and returns a fixed object.
type fakeCompiler struct {
	mu     sync.Mutex
	starts int
	delay  time.Duration
	err    error
	log    string
}

func (f *fakeCompiler) Identity() string { return "fake" }

func (f *fakeCompiler) Compile(ctx context.Context, j Job) (Output, error) {
	f.mu.Lock()
	f.starts++
	delay := f.delay
	f.mu.Unlock()
	select {
	case <-ctx.Done():
		return Output{}, ctx.Err()
	case <-time.After(delay):
	}
	if f.err != nil {
		return Output{}, f.err
	}
	return finish(j, "fake", fixture.Add().Bytes(), f.log)
}

func TestBuilderLooksNearestFirst(t *testing.T) {
	f := &fakeCompiler{log: "kernel.hip:1:1: warning: odd\n"}
	b := Builder{Compiler: f, Cache: openCache(t)}
	ctx := context.Background()
	for i, want := range []Origin{FromCompiler, FromLocal, FromLocal} {
		j := Job{Name: fmt.Sprint("n", i), Source: []byte("x"), Arch: "gfx1151"}
		o := b.Build(ctx, j)
		if o.Err != nil || o.From != want {
			t.Fatalf("build %d: from %s, %v", i, o.From, o.Err)
		}
		// The warm build warns like the cold one, under the name of its own job.
		if len(o.Output.Messages) != 1 || o.Output.Messages[0].File != j.Name {
			t.Errorf("messages %+v", o.Output.Messages)
		}
		if o.Output.Info.Target != "gfx1151" || len(o.Output.Object) == 0 {
			t.Errorf("output %+v", o.Output)
		}
	}
	if f.starts != 1 {
		t.Errorf("compiled %d times", f.starts)
	}
}

func TestBuildAll(t *testing.T) {
	f := &fakeCompiler{delay: 5 * time.Millisecond}
	b := Builder{Compiler: f, Cache: openCache(t), Parallelism: 4}
	var jobs []Job
	for i := range 20 {
		jobs = append(jobs, Job{Name: fmt.Sprint("n", i), Source: []byte{byte(i % 5)}, Arch: "gfx1151"})
	}
	jobs = append(jobs, Job{Name: "bad", Arch: "native"})
	seen := 0
	out := b.BuildAll(context.Background(), jobs, func(Outcome) { seen++ })
	if seen != len(jobs) || len(out) != len(jobs) {
		t.Errorf("progress %d, outcomes %d, want %d", seen, len(out), len(jobs))
	}
	for i, o := range out[:20] {
		if o.Err != nil || o.Job.Name != jobs[i].Name {
			t.Errorf("%d: %s %v", i, o.Job.Name, o.Err)
		}
	}
	if out[20].Err == nil {
		t.Error("a bad job succeeded")
	}
	if f.starts != 5 {
		t.Errorf("compiled %d times, want once for each of 5 keys", f.starts)
	}
}

func TestBuildFailuresAreNotKept(t *testing.T) {
	f := &fakeCompiler{err: &CompileError{Job: Job{Name: "first"}, Log: "kernel.hip:1:2: error: no\n"}}
	b := Builder{Compiler: f, Cache: openCache(t)}
	j := Job{Name: "second", Source: []byte("x"), Arch: "gfx1151"}
	o := b.Build(context.Background(), j)
	var ce *CompileError
	if !errors.As(o.Err, &ce) || ce.Messages[0].File != "second" {
		t.Errorf("error %v", o.Err)
	}
	f.err = nil
	if o := b.Build(context.Background(), j); o.Err != nil {
		t.Errorf("the failure was remembered: %v", o.Err)
	}
}

func TestBuildCancelled(t *testing.T) {
	f := &fakeCompiler{delay: 10 * time.Second}
	b := Builder{Compiler: f, Cache: openCache(t)}
	j := Job{Name: "n", Source: []byte("x"), Arch: "gfx1151"}
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan Outcome)
	go func() { first <- b.Build(ctx, j) }()
	time.Sleep(20 * time.Millisecond)
	second := make(chan Outcome)
	go func() { second <- b.Build(context.Background(), j) }()
	time.Sleep(20 * time.Millisecond)
	f.mu.Lock()
	f.delay = 0
	f.mu.Unlock()
	cancel()
	if o := <-first; !errors.Is(o.Err, context.Canceled) {
		t.Errorf("cancelled build: %v", o.Err)
	}
	if o := <-second; o.Err != nil {
		t.Errorf("the other caller's build went with it: %v", o.Err)
	}
}

func TestBuildWithUnwritableCache(t *testing.T) {
	c := openCache(t)
	if err := os.RemoveAll(c.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Dir(), nil, 0o644); err != nil { // a file where the directory was
		t.Fatal(err)
	}
	b := Builder{Compiler: &fakeCompiler{}, Cache: c}
	o := b.Build(context.Background(), Job{Name: "n", Arch: "gfx1151"})
	if o.Err != nil || len(o.Warnings) == 0 {
		t.Errorf("error %v, warnings %v", o.Err, o.Warnings)
	}
}

func TestBuildRefusesMisfitsFromCache(t *testing.T) {
	b := Builder{Compiler: &fakeCompiler{}, Cache: openCache(t)}
	j := Job{Name: "n", Arch: "gfx1151"}
	s := fixture.Add()
	s.Flags, s.Note = 0x41, fixture.Pack(map[string]any{"amdhsa.target": "amdgcn-amd-amdhsa--gfx1100", "amdhsa.kernels": []any{}})
	if err := b.Cache.Put(NewKey("fake", j), Entry{Object: s.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if o := b.Build(context.Background(), j); o.Err != nil || o.From != FromCompiler || len(o.Warnings) != 1 {
		t.Errorf("from %s, warnings %v, %v", o.From, o.Warnings, o.Err)
	}
}

func TestAbsentCompiler(t *testing.T) {
	c := openCache(t)
	j := Job{Name: "n", Arch: "gfx1151"}
	b := Builder{Compiler: Absent{ID: "fake", Err: &MissingError{What: "compiler"}}, Cache: c}
	var m *MissingError
	if o := b.Build(context.Background(), j); !errors.As(o.Err, &m) {
		t.Errorf("error %v", o.Err)
	}
	(&Builder{Compiler: &fakeCompiler{}, Cache: c}).Build(context.Background(), j)
	if o := b.Build(context.Background(), j); o.Err != nil || o.From != FromLocal {
		t.Errorf("from %s, %v", o.From, o.Err)
	}
}

// countingCompiler is a fakeCompiler that leaves a mark on disk for every start,
// so that several processes can be counted.
type countingCompiler struct {
	fakeCompiler
	dir string
}

func (c *countingCompiler) Compile(ctx context.Context, j Job) (Output, error) {
	f, err := os.CreateTemp(c.dir, "start-"+string(j.Source)+"-")
	if err != nil {
		return Output{}, err
	}
	f.Close()
	return c.fakeCompiler.Compile(ctx, j)
}

const childJobs = 12

func buildChild() {
	c, err := OpenCache(os.Getenv("LOOMC_TEST_CACHE"), 0)
	if err != nil {
		panic(err)
	}
	b := Builder{Compiler: &countingCompiler{fakeCompiler{delay: 20 * time.Millisecond}, os.Getenv("LOOMC_TEST_MARKS")}, Cache: c, Parallelism: 2}
	var jobs []Job
	for i := range childJobs {
		jobs = append(jobs, Job{Name: "n", Source: []byte(fmt.Sprint(i)), Arch: "gfx1151"})
	}
	for _, o := range b.BuildAll(context.Background(), jobs, nil) {
		if o.Err != nil {
			panic(o.Err)
		}
	}
}

func TestProcessesCompileEachKeyOnce(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skip("SKIPPED: no path to the test binary:", err)
	}
	c, marks := openCache(t), t.TempDir()
	var cmds []*exec.Cmd
	for range 8 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "LOOMC_TEST_CHILD=build", "LOOMC_TEST_CACHE="+c.Dir(), "LOOMC_TEST_MARKS="+marks)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	starts, err := os.ReadDir(marks)
	if err != nil || len(starts) != childJobs {
		t.Errorf("8 processes compiled %d times, want %d", len(starts), childJobs)
	}
}
