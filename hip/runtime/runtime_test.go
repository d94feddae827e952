//go:build !loomc_static

package runtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomc/loomc/hip"
	"github.com/loomc/loomc/hip/internal/fixture"
)

// stub is a compiled testdata/stub.c: a library that checks what it is called with.
type stub struct {
	path       string
	reset      func()
	fail       func(call string, code, skip int32)
	devices    func(n int32)
	violations func() int32
	violation  func() string
	calls      func(name string) int32
	live       func() int32
	slow       func(microseconds int32)
}

var (
	stubMu    sync.Mutex
	stubFiles = map[string]string{} // by compiler flags
	stubDir   string
)

func TestMain(m *testing.M) {
	var err error
	if stubDir, err = os.MkdirTemp("", "stub-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv("LOOMC_TEST_CHILD") != "" {
		err := RunChild(os.Stdin, os.Stdout)
		os.RemoveAll(stubDir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	os.RemoveAll(stubDir)
	os.Exit(code)
}

// compileC builds a C file of testdata into a shared library, once for each set of
// flags. Without a C compiler the test is skipped, loudly.
func compileC(t testing.TB, file string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		if cc, err = exec.LookPath("gcc"); err != nil {
			t.Skip("SKIPPED: no C compiler to build the stub library with (apt-get install gcc libc6-dev)")
		}
	}
	stubMu.Lock()
	defer stubMu.Unlock()
	key := file + fmt.Sprint(flags)
	if p, ok := stubFiles[key]; ok {
		return p
	}
	out := filepath.Join(stubDir, fmt.Sprintf("lib%d.so", len(stubFiles)))
	args := append([]string{"-shared", "-fPIC", "-pthread", "-fvisibility=hidden", "-o", out, filepath.Join("testdata", file)}, flags...)
	if b, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("building the stub: %v\n%s", err, b)
	}
	stubFiles[key] = out
	return out
}

// newStub returns a fresh ledger and fails the test if the library was called
// wrongly or anything is left at the end.
func newStub(t *testing.T, flags ...string) *stub {
	t.Helper()
	s := &stub{path: compileC(t, "stub.c", flags...)}
	lib, err := openLibrary(s.path)
	if err != nil {
		t.Skipf("SKIPPED: shared libraries cannot be opened: %v", err)
	}
	for name, fn := range map[string]any{
		"stub_reset": &s.reset, "stub_fail": &s.fail, "stub_devices": &s.devices, "stub_violations": &s.violations,
		"stub_violation": &s.violation, "stub_calls": &s.calls, "stub_live": &s.live,
		"stub_slow": &s.slow,
	} {
		address, err := symbol(lib, name)
		if err != nil {
			t.Fatal(err)
		}
		register(fn, address)
	}
	s.reset()
	t.Cleanup(func() {
		if n := s.violations(); n != 0 {
			t.Errorf("the library was called wrongly %d times, the last: %s", n, s.violation())
		}
		if n := s.live(); n != 0 {
			t.Errorf("%d allocations, modules and events are left", n)
		}
	})
	return s
}

func noEnv(string) string { return "" }

func (s *stub) open(t *testing.T) *Runtime {
	t.Helper()
	r, err := Open(Options{Library: s.path, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func (s *stub) device(t *testing.T) *Device {
	t.Helper()
	d, err := s.open(t).Device(0)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// addKernel loads the fixture's add_f32; the fixture fixes blocks of 256.
func addKernel(t *testing.T, d *Device, params ...Param) (*Module, *Kernel) {
	t.Helper()
	m, err := d.Load(fixture.Add().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("add_f32", params...)
	if err != nil {
		t.Fatal(err)
	}
	return m, k
}

func alloc(t *testing.T, d *Device, n int) *Buffer {
	t.Helper()
	b, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floats(v ...float32) []byte {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

var geometry = Geometry{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{256, 1, 1}, Shared: 64}

func TestOpen(t *testing.T) {
	s := newStub(t)
	s.devices(2)
	r := s.open(t)
	want := DeviceInfo{Index: 1, Name: "Stub 1", Arch: "gfx1151", WaveSize: 32, LDSPerBlock: 65536, ComputeUnits: 40, L2Bytes: 2 << 20, TotalMemory: 8 << 30}
	if len(r.Devices()) != 2 || r.Devices()[1] != want || r.NoDevice() != nil {
		t.Errorf("devices %+v, %v", r.Devices(), r.NoDevice())
	}
	if r.Version() != "6.3.42134" || r.Kind() != HIP || r.Library() != s.path || len(r.Tried()) != 1 || !r.Tried()[0].OK {
		t.Errorf("version %s, tried %v", r.Version(), r.Tried())
	}
	for _, i := range []int{-1, 2} {
		if _, err := r.Device(i); err == nil || !strings.Contains(err.Error(), "devices 0 to 1") {
			t.Errorf("device %d: %v", i, err)
		}
	}
}

// The 5.x library has another properties structure under another name.
func TestOpenOldLibrary(t *testing.T) {
	r := newStub(t, "-DOLD").open(t)
	if a := r.Devices()[0].Arch; a != "gfx1151" {
		t.Errorf("architecture %q", a)
	}
}

func TestOpenFails(t *testing.T) {
	t.Run("no architecture", func(t *testing.T) {
		s := newStub(t, "-DNO_ARCH")
		if _, err := Open(Options{Library: s.path, Getenv: noEnv}); err == nil || !strings.Contains(err.Error(), "no gcnArchName") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("missing function", func(t *testing.T) {
		s := newStub(t, "-DNO_LAUNCH")
		_, err := Open(Options{Library: s.path, Getenv: noEnv})
		var m *hip.MissingError
		if !errors.As(err, &m) || m.Tried[0].Reason != "lacks hipModuleLaunchKernel" {
			t.Errorf("error %v", err)
		}
	})
	t.Run("not there", func(t *testing.T) {
		_, err := Open(Options{Library: "/nowhere/libx.so", Getenv: noEnv})
		var m *hip.MissingError
		if !errors.As(err, &m) || len(m.Tried) != 1 || m.Tried[0].Reason != "not found" || m.Install == "" {
			t.Errorf("error %v", err)
		}
	})
	t.Run("not a library", func(t *testing.T) {
		_, err := Open(Options{Getenv: func(n string) string {
			if n == "LOOMC_HIP_LIBRARY" {
				return "testdata/stub.c"
			}
			return ""
		}})
		var m *hip.MissingError
		if !errors.As(err, &m) || len(m.Tried) != 1 || m.Tried[0].Rule != "LOOMC_HIP_LIBRARY" || !strings.HasPrefix(m.Tried[0].Reason, "does not load: ") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("unknown kind", func(t *testing.T) {
		if _, err := Open(Options{Kind: "sycl"}); err == nil {
			t.Error("opened")
		}
	})
	t.Run("initialisation", func(t *testing.T) {
		s := newStub(t)
		s.fail("hipInit", 3, 0)
		_, err := Open(Options{Library: s.path, Getenv: noEnv})
		var e *Error
		if !errors.As(err, &e) || e.Code != 3 || !strings.Contains(e.Diagnostic().Help, "/dev/kfd") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("worker", func(t *testing.T) {
		s := newStub(t)
		r := s.open(t)
		s.fail("hipSetDevice", 101, 0)
		if _, err := r.Device(0); err == nil || !strings.Contains(err.Error(), "hipSetDevice") {
			t.Errorf("error %v", err)
		}
	})
}

func TestSearchOrder(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"lib/libamdhip64.so.6", "lib/libamdhip64.so.7"} {
		p = filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Getenv: func(n string) string {
		if n == "ROCM_PATH" {
			return root
		}
		return ""
	}}
	var got []string
	for _, c := range runtimes[HIP].candidates(o) {
		got = append(got, c.rule+" "+strings.ReplaceAll(c.path, root, "ROOT"))
	}
	want := "ROCM_PATH ROOT/lib/libamdhip64.so.7\nROCM_PATH ROOT/lib/libamdhip64.so.6\nloader libamdhip64.so.7\nloader libamdhip64.so.6\nloader libamdhip64.so.5\nloader libamdhip64.so"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s", s)
	}
}

func TestNoDevice(t *testing.T) {
	for _, call := range []string{"hipInit", "hipGetDeviceCount"} {
		s := newStub(t)
		s.fail(call, 100, 0)
		r := s.open(t)
		if len(r.Devices()) != 0 {
			t.Errorf("devices %v", r.Devices())
		}
		var e *Error
		if !errors.As(r.NoDevice(), &e) || e.Name != "hipErrorNoDevice" || !strings.Contains(e.Hint, "groups render and video") {
			t.Errorf("no device: %v", r.NoDevice())
		}
		if _, err := r.Device(0); !errors.As(err, &e) {
			t.Errorf("error %v", err)
		}
	}
	// At the start "invalid device" says the same: no device was named yet.
	s := newStub(t)
	s.fail("hipInit", 101, 0)
	var e *Error
	if r := s.open(t); !errors.As(r.NoDevice(), &e) || e.Code != 101 || !strings.Contains(e.Hint, "no AMD GPU is visible") {
		t.Errorf("no device: %v", r.NoDevice())
	}
}

func TestLaunch(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	m, k := addKernel(t, d)
	a, b, c := alloc(t, d, 12), alloc(t, d, 16), alloc(t, d, 12)
	if err := errors.Join(a.Write(0, floats(1, 2, 3)), b.Write(4, floats(10, 20, 30)), c.Fill(0xff)); err != nil {
		t.Fatal(err)
	}
	elapsed, err := d.Time(func() error { return k.Launch(geometry, Input(a), PtrAt(b, 4), Ptr(c), U32(3)) })
	if err != nil || elapsed != 1500*time.Microsecond {
		t.Errorf("time %s, %v", elapsed, err)
	}
	if err := d.Synchronize(context.Background()); err != nil {
		t.Error(err)
	}
	got := make([]byte, 12)
	if err := c.Read(0, got); err != nil || !bytes.Equal(got, floats(11, 22, 33)) {
		t.Errorf("result % x, %v", got, err)
	}
	if err := a.CopyFrom(4, c, 0, 8); err != nil {
		t.Error(err)
	}
	if err := a.Read(0, got); err != nil || !bytes.Equal(got, floats(1, 11, 22)) {
		t.Errorf("copy % x, %v", got, err)
	}
	if free, total, err := d.Memory(); err != nil || free != 7<<30 || total != 8<<30 {
		t.Errorf("memory %d %d %v", free, total, err)
	}
	if n := s.calls("hipModuleLaunchKernel"); n != 1 {
		t.Errorf("%d launches", n)
	}
	if m.Object().Target != "gfx1151" || k.Info().LDS != 512 || k.Name() != "add_f32" || len(k.Params()) != 4 {
		t.Errorf("%+v", k.Info())
	}
}

func TestLaunchIsChecked(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	params := []Param{
		{Name: "a", Pointer: true, Access: "read_only", MinBytes: 8},
		{Name: "b", Pointer: true, MinBytes: 8},
		{Name: "c", Pointer: true, MinBytes: 8},
		{Name: "n", Size: 4},
	}
	_, k := addKernel(t, d, params...)
	a, short := alloc(t, d, 8), alloc(t, d, 4)
	good := func() []Arg { return []Arg{Ptr(a), Ptr(a), Ptr(a), U32(2)} }
	with := func(i int, v Arg) []Arg { g := good(); g[i] = v; return g }
	shape := func(f func(*Geometry)) Geometry { g := geometry; f(&g); return g }
	tests := map[string]struct {
		g    Geometry
		args []Arg
		want string
	}{
		"too few":          {geometry, good()[:3], "3 arguments, the kernel takes 4"},
		"too many":         {geometry, append(good(), U32(1)), "5 arguments, the kernel takes 4"},
		"value for buffer": {geometry, with(0, U64(1)), "argument 0 (a): is a u64, the kernel takes a buffer"},
		"buffer for value": {geometry, with(3, Ptr(a)), "argument 3 (n): is a buffer, the kernel takes a value of 4 bytes"},
		"value too wide":   {geometry, with(3, I64(1)), "is a i64 of 8 bytes, the kernel takes 4"},
		"bytes too short":  {geometry, with(3, Bytes([]byte{1})), "is a bytes of 1 bytes"},
		"buffer too short": {geometry, with(1, Ptr(short)), "argument 1 (b): has 4 bytes, the kernel touches 8"},
		"offset":           {geometry, with(1, PtrAt(a, 4)), "has 4 bytes, the kernel touches 8"},
		"offset outside":   {geometry, with(1, PtrAt(a, 9)), "begins at byte 9 of a buffer of 8"},
		"written input":    {geometry, with(2, Input(a)), "argument 2 (c): is passed as an input, and the kernel's access is write_only"},
		"empty grid":       {shape(func(g *Geometry) { g.Grid[1] = 0 }), good(), "empty dimension"},
		"huge grid":        {shape(func(g *Geometry) { g.Grid[0] = 1 << 31 }), good(), "more than 2³² lanes"},
		"huge block":       {shape(func(g *Geometry) { g.Block = [3]uint32{512, 1, 1} }), good(), "compiled for at most 256"},
		"other block":      {shape(func(g *Geometry) { g.Block = [3]uint32{128, 2, 1} }), good(), "compiled for [256 1 1]"},
		"no buffer":        {geometry, with(1, Ptr(nil)), "argument 1 (b): is no buffer at all (nil)"},
		"too little now":   {geometry, with(1, Ptr(a).Needs(12, "the view at k.loom:3:9")), "argument 1 (b): has 8 bytes, this launch touches 12: the view at k.loom:3:9"},
		"offset now":       {geometry, with(2, PtrAt(a, 0).Needs(9, "")), "argument 2 (c): has 8 bytes, this launch touches 9"},
		"too much LDS":     {shape(func(g *Geometry) { g.Shared = 65536 }), good(), "the device has 65536"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := k.Launch(tt.g, tt.args...)
			var e *ArgumentError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "launching add_f32") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if e != nil && e.Diagnostic().Code != "HIP/LAUNCH" {
				t.Error(e.Diagnostic())
			}
		})
	}
	if n := s.calls("hipModuleLaunchKernel"); n != 0 {
		t.Errorf("%d of the bad launches reached the driver", n)
	}
	if err := k.Launch(geometry, good()...); err != nil {
		t.Errorf("the good launch: %v", err)
	}
}

func TestKernelDescriptionMustFit(t *testing.T) {
	d := newStub(t).device(t)
	m, _ := addKernel(t, d)
	ptr := Param{Name: "p", Pointer: true}
	tests := map[string]struct {
		name   string
		params []Param
		want   string
	}{
		"name":  {"mul_f32", nil, `no kernel "mul_f32"; it has ["add_f32"]`},
		"count": {"add_f32", []Param{ptr}, "takes 4 arguments in the object and 1"},
		"kind":  {"add_f32", []Param{ptr, ptr, {Name: "v", Size: 8}, {Size: 4}}, "argument 2 (v): global_buffer in the object, a value by"},
		"size":  {"add_f32", []Param{ptr, ptr, ptr, {Name: "n", Size: 8}}, "argument 3 (n): 4 bytes in the object, 8"},
		"empty": {"add_f32", []Param{ptr, ptr, ptr, {Name: "n"}}, "argument 3 (n): a value of 0 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := m.Kernel(tt.name, tt.params...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// What cannot run on the device never reaches the library.
func TestLoadRefuses(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	other := fixture.Add()
	other.Flags = 0x41
	meta := fixture.Metadata(fixture.AddKernel("add_f32"))
	meta["amdhsa.target"] = "amdgcn-amd-amdhsa--gfx1100"
	other.Note = fixture.Pack(meta)
	var mismatch *hip.MismatchError
	if _, err := d.Load(other.Bytes()); !errors.As(err, &mismatch) || mismatch.Object != "gfx1100" || mismatch.Device != "gfx1151" {
		t.Errorf("error %v", err)
	}
	var bad *hip.ObjectError
	for _, b := range [][]byte{nil, []byte("text"), fixture.Add().Bytes()[:100]} {
		if _, err := d.Load(b); !errors.As(err, &bad) {
			t.Errorf("error %v", err)
		}
	}
	if n := s.calls("hipModuleLoadData"); n != 0 {
		t.Errorf("%d of the bad objects reached the library", n)
	}
}

// With the override in force the device's name may not be its own, and the refusal
// says so.
func TestLoadRefusesUnderOverride(t *testing.T) {
	s := newStub(t)
	r, err := Open(Options{Library: s.path, Getenv: func(n string) string {
		if n == "HSA_OVERRIDE_GFX_VERSION" {
			return "11.5.1"
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := r.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	other := fixture.Add()
	other.Flags = 0x41
	meta := fixture.Metadata(fixture.AddKernel("add_f32"))
	meta["amdhsa.target"] = "amdgcn-amd-amdhsa--gfx1100"
	other.Note = fixture.Pack(meta)
	if _, err := d.Load(other.Bytes()); err == nil || !strings.Contains(err.Error(), "HSA_OVERRIDE_GFX_VERSION=11.5.1 is set") || r.Override() != "11.5.1" {
		t.Errorf("error %v", err)
	}
}

func TestLoadFails(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	v6 := fixture.Add()
	v6.ABIVersion = 4
	s.fail("hipModuleLoadData", 209, 0)
	_, err := d.Load(v6.Bytes())
	var e *Error
	if !errors.As(err, &e) || e.Name != "hipErrorNoBinaryForGpu" || !strings.Contains(err.Error(), "loading onto device 0 (gfx1151)") {
		t.Fatalf("error %v", err)
	}
	if want := "the object is for gfx1151, code object version 6; the device is gfx1151: ROCm before 6.3 reads version 5, build with that"; e.Hint != want {
		t.Errorf("hint %q", e.Hint)
	}
	// The failed call left garbage in the handle; nothing unloads it.
	if err := d.Close(); err != nil || s.calls("hipModuleUnload") != 0 {
		t.Errorf("%v, %d unloads", err, s.calls("hipModuleUnload"))
	}
}

func TestFailuresAreNamed(t *testing.T) {
	tests := map[string]struct {
		code int32
		do   func(d *Device, k *Kernel, b *Buffer) error
		want string
	}{
		"hipMalloc":             {2, func(d *Device, _ *Kernel, _ *Buffer) error { _, err := d.Alloc(4); return err }, "allocating 4 bytes on device 0: hipMalloc: hipErrorOutOfMemory (2): as told by the stub"},
		"hipMemcpy":             {1, func(_ *Device, _ *Kernel, b *Buffer) error { return b.Write(0, []byte{1}) }, "hipMemcpy: hipErrorInvalidValue"},
		"hipMemset":             {1, func(_ *Device, _ *Kernel, b *Buffer) error { return b.Fill(1) }, "hipMemset"},
		"hipMemGetInfo":         {1, func(d *Device, _ *Kernel, _ *Buffer) error { _, _, err := d.Memory(); return err }, "hipMemGetInfo"},
		"hipModuleGetFunction":  {500, func(d *Device, k *Kernel, _ *Buffer) error { _, err := k.m.Kernel("add_f32"); return err }, "looking up kernel add_f32: hipModuleGetFunction"},
		"hipModuleLaunchKernel": {719, func(_ *Device, k *Kernel, b *Buffer) error { return k.Launch(geometry, Ptr(b), Ptr(b), Ptr(b), U32(1)) }, "launching add_f32: hipModuleLaunchKernel: hipErrorLaunchFailure"},
		"hipDeviceSynchronize":  {700, func(d *Device, _ *Kernel, _ *Buffer) error { return d.Synchronize(context.Background()) }, "waiting for device 0: hipDeviceSynchronize: hipErrorIllegalAddress"},
		"hipEventCreate":        {2, func(d *Device, _ *Kernel, _ *Buffer) error { _, err := d.NewEvent(); return err }, "making an event"},
		"hipEventRecord":        {1, func(d *Device, _ *Kernel, _ *Buffer) error { _, err := d.Time(func() error { return nil }); return err }, "hipEventRecord"},
		"hipEventSynchronize":   {700, func(d *Device, _ *Kernel, _ *Buffer) error { _, err := d.Time(func() error { return nil }); return err }, "measuring time: hipEventSynchronize"},
		"hipEventElapsedTime":   {1, func(d *Device, _ *Kernel, _ *Buffer) error { _, err := d.Time(func() error { return nil }); return err }, "measuring time: hipEventElapsedTime"},
	}
	for call, tt := range tests {
		t.Run(call, func(t *testing.T) {
			s := newStub(t)
			d := s.device(t)
			_, k := addKernel(t, d)
			b := alloc(t, d, 4)
			s.fail(call, tt.code, 0)
			err := tt.do(d, k, b)
			var e *Error
			if !errors.As(err, &e) || e.Code != int(tt.code) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			s.fail("", 0, 0)
		})
	}
}

// A kernel that goes wrong says so at the next wait.
func TestKernelFailureSurfaces(t *testing.T) {
	d := newStub(t).device(t)
	_, k := addKernel(t, d)
	b := alloc(t, d, 4)
	if err := k.Launch(geometry, Ptr(b), Ptr(b), Ptr(b), U32(100)); err != nil { // past the end of b
		t.Fatal(err)
	}
	var e *Error
	if err := d.Synchronize(context.Background()); !errors.As(err, &e) || e.Code != 700 || !strings.Contains(e.Hint, "bounds check") {
		t.Errorf("error %v", err)
	}
}

func TestBufferRanges(t *testing.T) {
	d := newStub(t).device(t)
	b, other, empty := alloc(t, d, 8), alloc(t, d, 4), alloc(t, d, 0)
	for i, err := range []error{
		b.Write(1, make([]byte, 8)), b.Write(-1, nil), b.Read(9, nil), b.Read(0, make([]byte, 9)),
		b.CopyFrom(0, other, 0, 5), b.CopyFrom(6, other, 0, 4), b.CopyFrom(0, other, -1, 1), b.CopyFrom(0, other, 0, -1),
	} {
		if err == nil {
			t.Errorf("case %d was accepted", i)
		}
	}
	if err := errors.Join(empty.Write(0, nil), empty.Read(0, nil), empty.Fill(1), b.CopyFrom(8, other, 4, 0)); err != nil {
		t.Error(err)
	}
	if _, err := d.Alloc(-1); err == nil {
		t.Error("allocated -1 bytes")
	}
	if b.Size() != 8 || b.Device() != d {
		t.Error("size or device")
	}
}

func TestLifetimes(t *testing.T) {
	s := newStub(t)
	r := s.open(t)
	d, err := r.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := r.Device(0); again != d {
		t.Error("opening a device twice gives two")
	}
	m, k := addKernel(t, d)
	b, c := alloc(t, d, 4), alloc(t, d, 4)
	e, err := d.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second does nothing
		if err := errors.Join(b.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	}
	if n := s.calls("hipFree"); n != 1 {
		t.Errorf("freed %d times", n)
	}
	closed := map[string]error{
		"write":  b.Write(0, []byte{1}),
		"read":   b.Read(0, []byte{1}),
		"fill":   b.Fill(0),
		"copy":   c.CopyFrom(0, b, 0, 4),
		"launch": k.Launch(geometry, Ptr(c), Ptr(b), Ptr(c), U32(1)),
		"record": e.Record(),
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	closed["kernel of a closed module"] = k.Launch(geometry, Ptr(c), Ptr(c), Ptr(c), U32(1))
	_, closed["lookup in a closed module"] = m.Kernel("add_f32")
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := errors.Join(d.Close(), m.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	}
	closed["buffer of a closed device"] = c.Fill(0)
	_, closed["allocation on a closed device"] = d.Alloc(4)
	_, closed["load onto a closed device"] = d.Load(fixture.Add().Bytes())
	closed["synchronize"] = d.Synchronize(context.Background())
	for what, err := range closed {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again, err := r.Device(0); err != nil || again == d {
		t.Errorf("opening the device again: %v", err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := r.Device(0); !errors.Is(err, ErrClosed) {
		t.Errorf("device of a closed runtime: %v", err)
	}
}

// Closing a device frees what was left on it, whatever the order of making.
func TestCloseFreesEverything(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	for range 5 {
		addKernel(t, d)
		alloc(t, d, 100)
		if _, err := d.NewEvent(); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.live(); n != 15 {
		t.Errorf("%d alive, want 15", n)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if n := s.live(); n != 0 {
		t.Errorf("%d left", n)
	}
}

func TestTwoDevices(t *testing.T) {
	s := newStub(t)
	s.devices(2)
	r := s.open(t)
	d0, err0 := r.Device(0)
	d1, err1 := r.Device(1)
	if err := errors.Join(err0, err1); err != nil {
		t.Fatal(err)
	}
	_, k := addKernel(t, d0)
	a, b := alloc(t, d0, 4), alloc(t, d1, 4)
	if err := k.Launch(geometry, Ptr(a), Ptr(b), Ptr(a), U32(1)); err == nil || !strings.Contains(err.Error(), "is on device 1, the kernel on device 0") {
		t.Errorf("error %v", err)
	}
	if err := a.CopyFrom(0, b, 0, 4); err == nil {
		t.Error("copied between devices")
	}
	e0, _ := d0.NewEvent()
	e1, _ := d1.NewEvent()
	if _, err := e0.Since(e1); err == nil {
		t.Error("measured between devices")
	}
}

// Many goroutines share a device; the worker keeps its library on one thread.
func TestConcurrentUse(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	_, k := addKernel(t, d)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			b, err := d.Alloc(4)
			if err != nil {
				t.Error(err)
				return
			}
			v := float32(i)
			got := make([]byte, 4)
			err = errors.Join(b.Write(0, floats(v)), k.Launch(geometry, Ptr(b), Ptr(b), Ptr(b), U32(1)), b.Read(0, got), b.Close())
			if err != nil || !bytes.Equal(got, floats(2*v)) {
				t.Errorf("%d: % x %v", i, got, err)
			}
		})
	}
	wg.Wait()
	if n := s.calls("hipSetDevice"); n != 1 {
		t.Errorf("hipSetDevice was called %d times, want once for the worker", n)
	}
}

// A wait can be given up; the device is busy until the library is done, and Close
// waits for that.
func TestSynchronizeIsCancelled(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	b := alloc(t, d, 4)
	s.slow(300_000)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := d.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 250*time.Millisecond {
		t.Errorf("error %v after %s", err, time.Since(start))
	}
	s.slow(0)
	if err := errors.Join(b.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took < 250*time.Millisecond {
		t.Errorf("closed after %s, under a library that was at work", took)
	}
}

// Whoever closes what in the middle of launches, copies, timing and lookups, the
// library sees no stale handle and everybody gets a result or ErrClosed.
func TestCloseDuringLaunches(t *testing.T) {
	for _, what := range []string{"buffer", "module", "device", "runtime"} {
		t.Run(what, func(t *testing.T) {
			s := newStub(t)
			r := s.open(t)
			d, err := r.Device(0)
			if err != nil {
				t.Fatal(err)
			}
			m, k := addKernel(t, d)
			b := alloc(t, d, 4)
			calls := []func() error{
				func() error { return k.Launch(geometry, Ptr(b), Ptr(b), Ptr(b), U32(1)) },
				func() error { return b.CopyFrom(0, b, 0, 4) },
				func() error { _, err := m.Kernel("add_f32"); return err },
				func() error {
					_, err := k.Times(context.Background(), 3, geometry, []Arg{Ptr(b), Ptr(b), Ptr(b), U32(1)})
					return err
				},
				func() error { _, err := d.Time(func() error { return b.Fill(1) }); return err },
				func() error { return d.Synchronize(context.Background()) },
				func() error { _, err := r.Device(0); return err },
			}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for i := range 14 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := calls[i%len(calls)](); err != nil && !errors.Is(err, ErrClosed) {
							t.Error(err)
							return
						}
					}
				})
			}
			time.Sleep(3 * time.Millisecond)
			for range 3 {
				wg.Go(func() {
					close := map[string]func() error{"buffer": b.Close, "module": m.Close, "device": d.Close, "runtime": r.Close}[what]
					if err := close(); err != nil {
						t.Error(err)
					}
				})
			}
			time.Sleep(3 * time.Millisecond)
			close(stop)
			wg.Wait()
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	s := newStub(t)
	d := s.device(t)
	m, k := addKernel(t, d)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	args := func(b *Buffer) []Arg { return []Arg{Ptr(b), Ptr(b), Ptr(b), U32(1)} }
	ctx := context.Background()
	times, err := k.Times(ctx, 100, geometry, args(a), args(b))
	if err != nil || len(times) != 100 {
		t.Fatalf("%d times, %v", len(times), err)
	}
	for _, v := range times { // the stub's clock moves 1.5 ms from event to event
		if v != 1500*time.Microsecond {
			t.Fatalf("times %v", times)
		}
	}
	if n := s.calls("hipModuleLaunchKernel"); n != 100+2*lead {
		t.Errorf("%d launches", n)
	}
	copies, err := d.CopyTimes(ctx, 5, Copy{a, b, 4})
	if err != nil || len(copies) != 5 || s.calls("hipMemcpyAsync") != 5+lead {
		t.Errorf("copies %v, %v", copies, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	other := Copy{a, nil, 4}
	for name, err := range map[string]error{
		"no launches": second(k.Times(ctx, 0, geometry, args(a))),
		"no sets":     second(k.Times(ctx, 1, geometry)),
		"arguments":   second(k.Times(ctx, 1, geometry, args(a)[:1])),
		"geometry":    second(k.Times(ctx, 1, Geometry{}, args(a))),
		"cancelled":   second(k.Times(cancelled, 1, geometry, args(a))),
		"no copies":   second(d.CopyTimes(ctx, 1)),
		"no source":   second(d.CopyTimes(ctx, 1, other)),
		"too far":     second(d.CopyTimes(ctx, 1, Copy{a, b, 5})),
		"no bytes":    second(d.CopyTimes(ctx, 1, Copy{a, b, 0})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s.fail("hipModuleLaunchKernel", 719, 0)
	if _, err := k.Times(ctx, 1, geometry, args(a)); err == nil || !strings.Contains(err.Error(), "timing add_f32: hipModuleLaunchKernel") {
		t.Errorf("error %v", err)
	}
	s.fail("", 0, 0)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := k.Times(ctx, 1, geometry, args(a)); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Closing while others are in the middle of calls ends in ErrClosed for them.
func TestCloseDuringUse(t *testing.T) {
	d := newStub(t).device(t)
	b := alloc(t, d, 4)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				if err := b.Fill(1); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(5 * time.Millisecond)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// Debian's HIP 5.2 on a machine without a GPU: a real library's answer.
func TestDebianLibrary(t *testing.T) {
	const lib = "libamdhip64.so.5"
	if _, err := openLibrary(lib); err != nil {
		t.Skipf("SKIPPED: %v (apt-get install libamdhip64-5)", err)
	}
	r, err := Open(Options{Library: lib, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.Devices()) > 0 {
		t.Skipf("SKIPPED: this machine has a GPU: %+v", r.Devices())
	}
	var e *Error
	if !errors.As(r.NoDevice(), &e) || (e.Code != codeNoDevice && e.Code != codeInvalidDevice) || e.Hint == "" || e.Name == "" {
		t.Errorf("no device: %v", r.NoDevice())
	}
	t.Logf("version %s: %v", r.Version(), r.NoDevice())
}

func TestPTXTarget(t *testing.T) {
	ptx := func(target string) []byte {
		return []byte("//\n.version 8.0\n.target " + target + "\n.address_size 64\n")
	}
	for _, tt := range []struct{ target, device, want string }{
		{"sm_80", "sm_90", ""},
		{"sm_90, debug", "sm_90", ""},
		{"sm_90", "sm_80", "older chips"},
		{"gfx1151", "sm_90", "not an architecture"},
	} {
		err := checkCUDA(ptx(tt.target), tt.device)
		if (err == nil) != (tt.want == "") || (err != nil && !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s on %s: %v", tt.target, tt.device, err)
		}
	}
	if err := checkCUDA([]byte("text"), "sm_90"); err == nil {
		t.Error("text accepted")
	}
	if err := checkCUDA([]byte(".target "), "sm_90"); err == nil {
		t.Error("an empty target accepted")
	}
	if err := checkCUDA([]byte("\x7fELF"), "sm_90"); err != nil {
		t.Error(err)
	}
}
