//go:build !loomc_static

package runtime

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"testing"

	"github.com/loomc/loomc/hip"
)

// Where both kinds of compiler exist and are of one version, equal flags give equal
// machine code.
func TestRTCAndClangAgree(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skip("SKIPPED: no path to the test binary:", err)
	}
	ctx := context.Background()
	t.Setenv("LOOMC_TEST_CHILD", "1")
	rtc, err := hip.OpenRTC(ctx, hip.Child{Command: []string{exe}, TempDir: t.TempDir()})
	if err != nil {
		t.Skipf("SKIPPED: no hiprtc (it is looked for under LOOMC_HIPRTC_LIBRARY, a ROCm root, and every name of it that the loader may know): %v", err)
	}
	clang, _, err := hip.Discover(ctx, hip.Search{})
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	t.Logf("hiprtc %s of %s; %s", rtc.Version, rtc.Library, clang)
	j := hip.Job{Name: "k.hip", Arch: "gfx1151", Source: []byte(`
extern "C" __attribute__((global)) void f(const float* a, float* b, unsigned n) {
  unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < n) b[i] = a[i] * a[i] + 1.0f;
}`)}
	var text, comment [2][]byte
	for i, c := range []hip.Compiler{rtc, clang} {
		out, err := c.Compile(ctx, j)
		var ce *hip.CompileError
		if errors.As(err, &ce) && c == hip.Compiler(rtc) && ce.Exit < 0 {
			t.Skipf("SKIPPED: this hiprtc does not work, so that there is nothing to compare: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(out.Object))
		if err != nil {
			t.Fatal(err)
		}
		if text[i], err = f.Section(".text").Data(); err != nil {
			t.Fatal(err)
		}
		if s := f.Section(".comment"); s != nil {
			if comment[i], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Each object says which LLVM made it. Only one and the same must agree with
	// itself.
	if !bytes.Equal(comment[0], comment[1]) {
		t.Skipf("SKIPPED: hiprtc is %q and clang is %q: not one compiler in two forms", comment[0], comment[1])
	}
	if !bytes.Equal(text[0], text[1]) {
		t.Error("the machine code differs")
	}
}
