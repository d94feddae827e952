//go:build !loomc_static

package runtime

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/hip"
	"github.com/loomc/loomc/hip/internal/fixture"
)

// child is this test binary as a hip.Child, with the stub libraries.
func child(t *testing.T) hip.Child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip("SKIPPED: no path to the test binary:", err)
	}
	t.Setenv("LOOMC_TEST_CHILD", "1")
	for _, name := range []string{"LOOMC_HIP_LIBRARY", "LOOMC_HIPRTC_LIBRARY", "ROCM_PATH"} {
		t.Setenv(name, "")
	}
	object := filepath.Join(t.TempDir(), "object")
	if err := os.WriteFile(object, fixture.Add().Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STUB_OBJECT", object)
	return hip.Child{Command: []string{exe}, Library: compileC(t, "stub.c"), RTC: compileC(t, "rtc.c"), TempDir: t.TempDir()}
}

func TestChildProbe(t *testing.T) {
	c := child(t)
	p, err := c.Probe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Devices) != 1 || p.Devices[0].Arch != "gfx1151" || p.Version != "6.3.42134" || p.Library != c.Library || !p.Tried[0].OK {
		t.Errorf("%+v", p)
	}
	if p.RTC != c.RTC || p.RTCVersion != "6.3" || !p.RTCTried[0].OK || len(p.RTCFiles) == 0 {
		t.Errorf("%+v", p)
	}
	if left, _ := os.ReadDir(c.TempDir); len(left) != 0 {
		t.Errorf("%d files left behind", len(left))
	}
}

func TestChildProbeFindsNothing(t *testing.T) {
	c := child(t)
	c.Library, c.RTC = "/nowhere/libamdhip64.so", "/nowhere/libhiprtc.so"
	p, err := c.Probe(context.Background())
	if err != nil || p.Library != "" || p.RTC != "" || len(p.Tried) != 1 || len(p.RTCTried) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	var m *hip.MissingError
	if _, err := hip.OpenRTC(context.Background(), c); !errors.As(err, &m) || len(m.Tried) != 1 {
		t.Errorf("error %v", err)
	}
}

func TestChildCompile(t *testing.T) {
	rtc, err := hip.OpenRTC(context.Background(), child(t))
	if err != nil {
		t.Fatal(err)
	}
	if rtc.Identity() == "" || len(rtc.Files) == 0 {
		t.Errorf("%+v", rtc)
	}
	j := hip.Job{Name: "k.hip", Source: []byte("x"), Arch: "gfx1151"}
	out, err := rtc.Compile(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Object, fixture.Add().Bytes()) || out.Info.Target != "gfx1151" {
		t.Errorf("%+v", out.Info)
	}
	// The one flag list reaches the library as it is.
	if want := strings.Join(hip.Flags(j), "\n") + "\n"; !strings.HasPrefix(out.Log, want) {
		t.Errorf("log\n%s\nwant\n%s", out.Log, want)
	}
	if len(out.Messages) != 1 || out.Messages[0].File != "k.hip" {
		t.Errorf("messages %+v", out.Messages)
	}
}

func TestChildCompileFails(t *testing.T) {
	rtc, err := hip.OpenRTC(context.Background(), child(t))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		source, want string
		compile      bool // a *hip.CompileError
	}{
		"refused":   {"ERROR", "compiling k.hip for gfx1151: k.hip:1:1: told to", true},
		"no reason": {"SILENT", "HIPRTC_ERROR_COMPILATION (6)", true},
		"crash":     {"CRASH", "crashed: SIGABRT: abort", true},
		"internal":  {"INTERNAL", "HIPRTC_ERROR_INVALID_INPUT (11)", false},
		"zero byte": {"a\x00b", "zero byte", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := rtc.Compile(context.Background(), hip.Job{Name: "k.hip", Source: []byte(tt.source), Arch: "gfx1151"})
			var ce *hip.CompileError
			if errors.As(err, &ce) != tt.compile || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if ce != nil && !ce.Diagnostics(nil).HasErrors() {
				t.Error("no diagnostic")
			}
		})
	}
	if _, err := rtc.Compile(context.Background(), hip.Job{Name: "k.hip", Arch: "gfx1100"}); err == nil || !strings.Contains(err.Error(), "does not fit the job") {
		t.Errorf("an object for another chip: %v", err)
	}
}

// Debian's HIP 5.2 has a hiprtc that aborts: the child does, this process does not.
func TestDebianHiprtcAborts(t *testing.T) {
	c := child(t)
	c.RTC = "libamdhip64.so.5"
	rtc, err := hip.OpenRTC(context.Background(), c)
	var m *hip.MissingError
	if errors.As(err, &m) {
		t.Skipf("SKIPPED: %v (apt-get install libamdhip64-5)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = rtc.Compile(context.Background(), hip.Job{Name: "k.hip", Source: []byte(`extern "C" __attribute__((global)) void k(float* p) { *p = 1; }`), Arch: "gfx1151"})
	if err == nil {
		t.Skip("SKIPPED: this libamdhip64.so.5 compiles; it is not Debian's 5.2")
	}
	var ce *hip.CompileError
	if !errors.As(err, &ce) || ce.Exit != -1 || !strings.Contains(err.Error(), "libamdhip64.so.5 crashed: SIGABRT") {
		t.Errorf("error %v", err)
	}
	if d := ce.Diagnostics(nil); !d.HasErrors() || !strings.Contains(d[0].Help, "use a clang instead") {
		t.Errorf("diagnostics %v", d)
	}
}

func TestChildHangIsCancelled(t *testing.T) {
	rtc, err := hip.OpenRTC(context.Background(), child(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = rtc.Compile(ctx, hip.Job{Name: "k.hip", Source: []byte("HANG"), Arch: "gfx1151"})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("error %v after %s", err, time.Since(start))
	}
}

func TestChildCommandIsWrong(t *testing.T) {
	for name, command := range map[string][]string{
		"none":      nil,
		"absent":    {"/nowhere/loomc"},
		"silent":    {"/bin/true"},
		"failing":   {"/bin/false"},
		"something": {"/bin/echo", hip.ChildMark + "{"},
	} {
		if _, err := (hip.Child{Command: command, TempDir: t.TempDir()}).Probe(context.Background()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRunChildRequests(t *testing.T) {
	var out bytes.Buffer
	if err := RunChild(strings.NewReader("not JSON"), &out); err == nil {
		t.Error("accepted")
	}
	if err := RunChild(strings.NewReader(`{"Op":"dance"}`), &out); err != nil || !strings.Contains(out.String(), `unknown request \"dance\"`) {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := RunChild(strings.NewReader(`{"Op":"probe","Kind":"sycl"}`), &out); err != nil || !strings.Contains(out.String(), "unknown kind") {
		t.Errorf("%v: %s", err, out.String())
	}
}
