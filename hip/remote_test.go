package hip

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomc/loomc/hip/internal/fixture"
)

// memoryServer is a cache server; rewrite, when set, answers instead.
type memoryServer struct {
	mu      sync.Mutex
	files   map[string][]byte
	gets    int
	puts    []string
	auth    []string
	rewrite func(w http.ResponseWriter, r *http.Request) bool
}

func (m *memoryServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.auth = append(m.auth, r.Header.Get("Authorization"))
	if m.rewrite != nil && m.rewrite(w, r) {
		return
	}
	switch r.Method {
	case http.MethodGet:
		m.gets++
		b, ok := m.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(b)
	case http.MethodPut:
		b, _ := io.ReadAll(r.Body)
		m.files[r.URL.Path] = b
		m.puts = append(m.puts, r.URL.Path)
	}
}

func serve(t testing.TB) (*memoryServer, string) {
	t.Helper()
	m := &memoryServer{files: map[string][]byte{}}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	return m, s.URL
}

func remote(t testing.TB, url string, opts RemoteOptions) *Remote {
	t.Helper()
	if opts.Getenv == nil {
		opts.Getenv = environment()
	}
	r, err := OpenRemote(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRemoteRoundTrip(t *testing.T) {
	m, url := serve(t)
	r := remote(t, url+"/some/path/", RemoteOptions{Write: true})
	ctx := context.Background()
	k := testKey(1)
	if _, ok, err := r.Get(ctx, k); ok || err != nil {
		t.Fatalf("empty server: %v %v", ok, err)
	}
	e := Entry{Object: fixture.Add().Bytes(), Log: "a warning\n"}
	if err := r.Put(ctx, k, e); err != nil {
		t.Fatal(err)
	}
	got, ok, err := r.Get(ctx, k)
	if !ok || err != nil || !bytes.Equal(got.Object, e.Object) || got.Log != e.Log {
		t.Errorf("%v %v", ok, err)
	}
	if len(m.puts) != 2 || !strings.HasPrefix(m.puts[0], "/some/path/cas/") || m.puts[1] != "/some/path/ac/"+k.String() {
		t.Errorf("stored in the order %v: the object must be there before it is named", m.puts)
	}
	if s := r.Stats(); s.Hits != 1 || s.Misses != 1 || s.Stored != 1 || s.Failures != 0 || s.Disabled != "" {
		t.Errorf("%+v", s)
	}
}

func TestRemoteReadOnlyByPolicy(t *testing.T) {
	m, url := serve(t)
	r := remote(t, url, RemoteOptions{})
	if err := r.Put(context.Background(), testKey(1), Entry{Object: []byte("x")}); err != nil || len(m.puts) != 0 {
		t.Errorf("stored %v, %v", m.puts, err)
	}
}

func TestRemoteReadOnlyByServer(t *testing.T) {
	m, url := serve(t)
	m.rewrite = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			m.puts = append(m.puts, r.URL.Path)
			w.WriteHeader(http.StatusForbidden)
		}
		return r.Method == http.MethodPut
	}
	r := remote(t, url, RemoteOptions{Write: true})
	ctx := context.Background()
	if err := r.Put(ctx, testKey(1), Entry{Object: []byte("x")}); err == nil || !strings.Contains(err.Error(), "netrc") {
		t.Errorf("error %v", err)
	}
	if err := r.Put(ctx, testKey(2), Entry{Object: []byte("x")}); err != nil || len(m.puts) != 1 {
		t.Errorf("asked again: %v, %v", m.puts, err)
	}
	if s := r.Stats(); s.ReadOnly == "" || s.Disabled != "" {
		t.Errorf("%+v", s)
	}
}

// A server that lies costs time and never gives a wrong object.
func TestRemoteLies(t *testing.T) {
	k, other := testKey(1), testKey(2)
	object := fixture.Add().Bytes()
	hash := fmt.Sprintf("%x", sha256.Sum256(object))
	action := func(f func(*actionResult)) []byte {
		a := actionResult{path: actionPath(k), hash: hash, size: int64(len(object))}
		f(&a)
		return a.encode()
	}
	honest := action(func(*actionResult) {})
	failedAction := append(bytes.Clone(honest), 4<<3, 1)
	twoFiles := append(bytes.Clone(honest), honest...)
	tests := map[string]struct {
		ac, cas []byte
		want    string
	}{
		"other bytes":    {honest, append(bytes.Clone(object[:len(object)-1]), 'x'), "another digest"},
		"truncated":      {honest, object[:10], "has 10 bytes"},
		"longer":         {honest, append(bytes.Clone(object), 0), "more than"},
		"other action":   {action(func(a *actionResult) { a.path = actionPath(other) }), object, "another action"},
		"not a digest":   {action(func(a *actionResult) { a.hash = "../../etc" }), object, "not a digest"},
		"huge size":      {action(func(a *actionResult) { a.size = 1 << 40 }), object, "1099511627776 bytes"},
		"no size":        {action(func(a *actionResult) { a.size = 0 }), object, "0 bytes"},
		"failed action":  {failedAction, object, "exit code 1"},
		"two files":      {twoFiles, object, "2 output files"},
		"empty":          {[]byte{}, object, "0 output files"},
		"an error page":  {[]byte("<html>welcome to the portal</html>"), object, "not an action result"},
		"huge ac":        {make([]byte, 2<<20), object, "goes on past"},
		"half a message": {honest[:len(honest)-4], object, "middle of a field"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, url := serve(t)
			m.files["/ac/"+k.String()], m.files["/cas/"+hash] = tt.ac, tt.cas
			r := remote(t, url, RemoteOptions{Write: true})
			_, ok, err := r.Get(context.Background(), k)
			if ok || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("hit %v, error %v, want %q", ok, err, tt.want)
			}
			if s := r.Stats(); s.Rejected != 1 {
				t.Errorf("%+v", s)
			}
			b := Builder{Compiler: &fakeCompiler{}, Remote: r}
			if o := b.Build(context.Background(), Job{Arch: "gfx1151"}); o.Err != nil || o.From != FromCompiler {
				t.Errorf("build from %s, %v", o.From, o.Err)
			}
		})
	}
}

// Everything agrees, and the object is one for another chip.
func TestRemoteObjectMustFitTheJob(t *testing.T) {
	_, url := serve(t)
	f := &fakeCompiler{}
	j := Job{Name: "n", Source: []byte("x"), Arch: "gfx1151"}
	s := fixture.Add()
	s.Flags, s.Note = 0x41, fixture.Pack(map[string]any{"amdhsa.target": "amdgcn-amd-amdhsa--gfx1100", "amdhsa.kernels": []any{}})
	r := remote(t, url, RemoteOptions{Write: true})
	if err := r.Put(context.Background(), NewKey(f.Identity(), j), Entry{Object: s.Bytes()}); err != nil {
		t.Fatal(err)
	}
	b := Builder{Compiler: f, Remote: r, Cache: openCache(t)}
	o := b.Build(context.Background(), j)
	if o.Err != nil || o.From != FromCompiler || len(o.Warnings) != 1 || r.Stats().Rejected != 1 {
		t.Errorf("from %s, warnings %v, error %v", o.From, o.Warnings, o.Err)
	}
}

func TestRemoteStopsAskingALiar(t *testing.T) {
	m, url := serve(t)
	asked := 0
	m.rewrite = func(w http.ResponseWriter, r *http.Request) bool {
		asked++
		w.Write([]byte("<html>"))
		return true
	}
	r := remote(t, url, RemoteOptions{})
	for i := range 10 {
		r.Get(context.Background(), testKey(i))
	}
	if asked != maxRejected || r.Stats().Disabled == "" {
		t.Errorf("asked %d times, %+v", asked, r.Stats())
	}
}

// A stopped server costs a few refused connections, whatever the number of jobs.
func TestRemoteStopped(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	r := remote(t, url, RemoteOptions{Write: true})
	b := Builder{Compiler: &fakeCompiler{}, Remote: r, Parallelism: 1}
	var jobs []Job
	for i := range 20 {
		jobs = append(jobs, Job{Source: []byte{byte(i)}, Arch: "gfx1151"})
	}
	warned := 0
	for _, o := range b.BuildAll(context.Background(), jobs, nil) {
		if o.Err != nil || o.From != FromCompiler {
			t.Errorf("from %s, %v", o.From, o.Err)
		}
		warned += len(o.Warnings)
	}
	if s := r.Stats(); s.Failures != maxFails || warned != maxFails || !strings.Contains(s.Disabled, "refused") {
		t.Errorf("%d warnings, %+v", warned, s)
	}
}

// A slow server, before its headers or in the middle of a body, costs two
// deadlines.
func TestRemoteSlow(t *testing.T) {
	k := testKey(1)
	for _, where := range []string{"headers", "body"} {
		t.Run(where, func(t *testing.T) {
			stop := make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if where == "body" {
					w.Write([]byte("x"))
					w.(http.Flusher).Flush()
				}
				select {
				case <-stop:
				case <-r.Context().Done():
				}
			}))
			defer s.Close()
			defer close(stop)
			r := remote(t, s.URL, RemoteOptions{Timeout: 50 * time.Millisecond})
			start := time.Now()
			for range 10 {
				if _, ok, _ := r.Get(context.Background(), k); ok {
					t.Fatal("hit")
				}
			}
			if s := r.Stats(); s.Failures != maxSlow || !strings.Contains(s.Disabled, "longer than 50ms") {
				t.Errorf("%+v", s)
			}
			if d := time.Since(start); d > 3*time.Second {
				t.Errorf("took %s", d)
			}
		})
	}
}

func TestRemoteServerErrors(t *testing.T) {
	m, url := serve(t)
	status := http.StatusInternalServerError
	m.rewrite = func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(status); return true }
	r := remote(t, url, RemoteOptions{Write: true})
	ctx := context.Background()
	if _, _, err := r.Get(ctx, testKey(1)); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("error %v", err)
	}
	if err := r.Put(ctx, testKey(1), Entry{Object: []byte("x")}); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("error %v", err)
	}
	status = http.StatusUnauthorized
	if _, _, err := r.Get(ctx, testKey(1)); err == nil || !strings.Contains(err.Error(), "netrc") {
		t.Errorf("error %v", err)
	}
	if r.Stats().Disabled == "" {
		t.Error("still asked after three failures in a row")
	}
}

// The caller's cancellation is not the server's fault.
func TestRemoteCancelled(t *testing.T) {
	_, url := serve(t)
	r := remote(t, url, RemoteOptions{Write: true})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 5 {
		if _, ok, err := r.Get(ctx, testKey(1)); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("%v %v", ok, err)
		}
		if err := r.Put(ctx, testKey(1), Entry{Object: []byte("x")}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if s := r.Stats(); s.Failures != 0 || s.Disabled != "" {
		t.Errorf("%+v", s)
	}
}

func TestRemoteCredentials(t *testing.T) {
	m, url := serve(t)
	netrc := filepath.Join(t.TempDir(), "netrc")
	write := func(s string) {
		if err := os.WriteFile(netrc, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct{ netrc, want string }{
		"basic":         {"machine 127.0.0.1 login me password secret", "Basic bWU6c2VjcmV0"},
		"bearer":        {"machine 127.0.0.1\n  login bearer\n  password tok", "Bearer tok"},
		"no login":      {"machine 127.0.0.1 password tok", "Bearer tok"},
		"other machine": {"machine example.com login me password secret", ""},
		"default":       {"machine example.com login a password b default login me password secret", "Basic bWU6c2VjcmV0"},
		"macro":         {"machine x login a password b\nmacdef init\nmachine 127.0.0.1 login no password no\n\nmachine 127.0.0.1 login me account z password secret\n", "Basic bWU6c2VjcmV0"},
		"comment":       {"# machine 127.0.0.1 login no password no\nmachine 127.0.0.1 login me password secret", "Basic bWU6c2VjcmV0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			write(tt.netrc)
			r := remote(t, url, RemoteOptions{Getenv: environment("NETRC", netrc)})
			m.auth = nil
			if _, _, err := r.Get(context.Background(), testKey(1)); err != nil {
				t.Fatal(err)
			}
			if m.auth[0] != tt.want {
				t.Errorf("Authorization %q, want %q", m.auth[0], tt.want)
			}
		})
	}
	if _, err := OpenRemote(url, RemoteOptions{Netrc: netrc + "x"}); err == nil {
		t.Error("a credentials file that was named and is absent was passed over")
	}
}

func TestOpenRemoteRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"":                         "want http",
		"ftp://x":                  "want http",
		"http://":                  "want http",
		"http://me:secret@host/":   "netrc",
		"http://host/?x=1":         "query",
		"http://host:port:again/%": "remote cache",
	} {
		_, err := OpenRemote(url, RemoteOptions{Getenv: environment()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password", url)
		}
	}
}

func TestRemoteRedirects(t *testing.T) {
	m, url := serve(t)
	m.rewrite = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		return true
	}
	r := remote(t, url, RemoteOptions{})
	if _, ok, err := r.Get(context.Background(), testKey(1)); ok || err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("%v %v", ok, err)
	}
}

func FuzzDecodeAction(f *testing.F) {
	f.Add(actionResult{path: "p", hash: "h", size: 3, log: "l"}.encode())
	f.Add([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeAction(b)
		if err != nil {
			return
		}
		again, err := decodeAction(r.encode())
		if err != nil || again != r {
			t.Errorf("%+v reads back as %+v, %v", r, again, err)
		}
	})
}

// Two farms' worth of sharing through a real server: a writer fills it, a reader
// with an empty local cache takes everything from it, a stopped server is survived.
func TestRemoteNginx(t *testing.T) {
	bin, err := exec.LookPath("nginx")
	if err != nil {
		if bin = "/usr/sbin/nginx"; !runnable(bin) {
			t.Skip("SKIPPED: no nginx here (apt-get install nginx)")
		}
	}
	url, stop := startNginx(t, bin)
	var jobs []Job
	for i := range 8 {
		jobs = append(jobs, Job{Name: "n", Source: []byte{byte(i)}, Arch: "gfx1151"})
	}
	build := func(f *fakeCompiler, write bool) (map[Origin]int, RemoteStats) {
		t.Helper()
		r := remote(t, url, RemoteOptions{Write: write, Timeout: 2 * time.Second})
		b := Builder{Compiler: f, Cache: openCache(t), Remote: r}
		from := map[Origin]int{}
		for _, o := range b.BuildAll(context.Background(), jobs, nil) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			for _, w := range o.Warnings {
				t.Log(w)
			}
			from[o.From]++
		}
		return from, r.Stats()
	}
	writer, reader := &fakeCompiler{log: "w\n"}, &fakeCompiler{log: "w\n"}
	if from, s := build(writer, true); from[FromCompiler] != 8 || s.Stored != 8 {
		t.Errorf("writer: %v %+v", from, s)
	}
	if from, s := build(reader, false); from[FromRemote] != 8 || reader.starts != 0 || s.Hits != 8 {
		t.Errorf("reader: %v %+v", from, s)
	}
	stop()
	if from, s := build(&fakeCompiler{}, true); from[FromCompiler] != 8 || s.Disabled == "" {
		t.Errorf("stopped server: %v %+v", from, s)
	}
}

func startNginx(t *testing.T, bin string) (url string, stop func()) {
	t.Helper()
	dir := t.TempDir()
	// The workers run as another user when the test is root.
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	conf := fmt.Sprintf(`%s
daemon off; worker_processes 1; pid %[2]s/pid; error_log stderr;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path %[2]s/body; proxy_temp_path %[2]s/p; fastcgi_temp_path %[2]s/f;
  uwsgi_temp_path %[2]s/u; scgi_temp_path %[2]s/s;
  server {
    listen %[3]s;
    location / { root %[2]s/store; dav_methods PUT; create_full_put_path on; client_max_body_size 64m; }
  }
}
`, user, dir, addr)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "store"), 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(bin, "-c", path, "-p", dir)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			_ = cmd.Process.Signal(os.Interrupt) // fast shutdown of master and worker
			_ = cmd.Wait()
		})
	}
	t.Cleanup(stop)
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return "http://" + addr + "/cache", stop
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	t.Fatalf("nginx did not start:\n%s", log.String())
	return "", nil
}
