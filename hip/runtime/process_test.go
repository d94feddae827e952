//go:build !loomc_static

package runtime

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loomc/loomc/hip"
	"github.com/loomc/loomc/hip/internal/fixture"
)

// openProcess opens the stub's device in a child.
func openProcess(t *testing.T, c hip.Child) *Process {
	t.Helper()
	p, err := OpenProcess(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

var addParams = []Param{
	{Name: "a", Pointer: true}, {Name: "b", Pointer: true}, {Name: "c", Pointer: true, Access: "write_only"}, {Name: "n", Size: 4},
}

// addArgs passes memories 0, 1, 2 and a length.
func addArgs(n byte) []ProcessArg {
	return []ProcessArg{{Memory: 0}, {Memory: 1}, {Memory: 2}, {Value: []byte{n, 0, 0, 0}}}
}

func TestProcess(t *testing.T) {
	c := child(t)
	p := openProcess(t, c)
	if p.Info().Arch != "gfx1151" || p.Kind() != HIP || p.Library() != c.Library || p.Version() != "6.3.42134" {
		t.Errorf("%+v", p)
	}
	ctx := context.Background()
	k, err := p.Load(ctx, fixture.Add().Bytes(), "add_f32", addParams...)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3 << 20 // 12 MB: more than one chunk
	out := make([]byte, 4*n)
	seed := uint64(7)
	a := floats(1, 2, 3)
	memory := []Memory{{Size: 12, Data: a}, {Size: 4 * n, Random: &seed}, {Size: 4 * n, Out: out}}
	random := make([]byte, 4*n)
	Random(random, seed, 0)
	if _, err := k.Launch(ctx, geometry, memory, addArgs(3), nil); err != nil {
		t.Fatal(err)
	}
	zero := memory
	zero[0].Size, zero[0].Data = 4*n, nil
	wide := geometry
	wide.Grid[0] = n / 256
	args := addArgs(0)
	args[3].Value = []byte{0, 0, n >> 16, 0}
	m, err := k.Launch(ctx, wide, zero, args, &Measure{Repeat: 20, Bytes: 12 * n})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, random) { // zero + random
		t.Error("the result is not the sum")
	}
	if len(m.Launches) != 20 || len(m.Copies) != 20 || m.CopyBytes != 6*n || m.Sets != 1 || m.CopySets != 1 {
		t.Errorf("measured %+v", m)
	}
	// What fits the device's cache of 2 MB is measured with more buffers.
	small := []Memory{{Size: 16, Data: floats(1, 2, 3, 4)}, {Size: 16}, {Size: 16, Out: make([]byte, 16)}}
	if m, err = k.Launch(ctx, geometry, small, addArgs(4), &Measure{Repeat: 3, Bytes: 48}); err != nil || m.Sets != maxSets || len(m.Launches) != 3 {
		t.Errorf("measured %+v, %v", m, err)
	}
	if !bytes.Equal(small[2].Out, floats(1, 2, 3, 4)) {
		t.Errorf("result % x", small[2].Out)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if _, err := k.Launch(ctx, geometry, small, addArgs(4), nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("launch after close: %v", err)
	}
	if left, _ := os.ReadDir(c.TempDir); len(left) != 0 {
		t.Errorf("%d files left behind", len(left))
	}
}

// Errors come over with their types, and the connection goes on after them.
func TestProcessRelaysErrors(t *testing.T) {
	p := openProcess(t, child(t))
	ctx := context.Background()
	k, err := p.Load(ctx, fixture.Add().Bytes(), "add_f32", addParams...)
	if err != nil {
		t.Fatal(err)
	}
	three := []Memory{{Size: 4, Data: floats(1)}, {Size: 4}, {Size: 4}}
	short := addArgs(1)
	short[1].Needs, short[1].Why = 8, "because"
	outside := addArgs(1)
	outside[2].Offset = 5
	nowhere := addArgs(1)
	nowhere[2].Memory = 3
	other := fixture.Add()
	other.Flags = 0x41
	meta := fixture.Metadata(fixture.AddKernel("add_f32"))
	meta["amdhsa.target"] = "amdgcn-amd-amdhsa--gfx1100"
	other.Note = fixture.Pack(meta)
	launch := func(m []Memory, args []ProcessArg) error {
		_, err := k.Launch(ctx, geometry, m, args, nil)
		return err
	}
	var argument *ArgumentError
	var driver *Error
	var mismatch *hip.MismatchError
	var object *hip.ObjectError
	for name, tt := range map[string]struct {
		err  error
		as   any
		want string
	}{
		"short":        {launch(three, short), &argument, "argument 1 (b): has 4 bytes, this launch touches 8: because"},
		"outside":      {launch(three, outside), &argument, "begins at byte 5 of a buffer of 4"},
		"count":        {launch(three, addArgs(1)[:3]), &argument, "3 arguments, the kernel takes 4"},
		"no memory":    {launch(three, nowhere), nil, "argument 2 names memory 3 of 3"},
		"sizes":        {launch([]Memory{{Size: 5, Data: floats(1)}}, nil), nil, "memory 0 of 5 bytes comes with 4 bytes"},
		"out of":       {launch([]Memory{{Size: 1 << 40}, {Size: 4, Data: floats(1)}}, nil), &driver, "hipMalloc: hipErrorOutOfMemory (2)"},
		"name":         {second(p.Load(ctx, fixture.Add().Bytes(), "nothing")), nil, `no kernel "nothing"`},
		"description":  {second(p.Load(ctx, fixture.Add().Bytes(), "add_f32", addParams[:2]...)), nil, "takes 4 arguments in the object and 2"},
		"other chip":   {second(p.Load(ctx, other.Bytes(), "add_f32")), &mismatch, "built for gfx1100 and the device is gfx1151"},
		"not object":   {second(p.Load(ctx, []byte("text"), "add_f32")), &object, "reading code object"},
		"out of range": {launch(three, append(addArgs(1)[:3], ProcessArg{Value: []byte{9, 0, 0, 0}})), &driver, "running add_f32: waiting for device 0: hipDeviceSynchronize: hipErrorIllegalAddress (700)"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || tt.as != nil && !errors.As(tt.err, tt.as) {
				t.Errorf("error %v, want %q", tt.err, tt.want)
			}
			if !hip.Explain(tt.err, nil).HasErrors() {
				t.Error("no diagnostic")
			}
		})
	}
	if err := launch(three, addArgs(1)); err != nil {
		t.Errorf("a launch after all that: %v", err)
	}
}

// A crash at any step is an error that says which, and the caller lives.
func TestProcessCrash(t *testing.T) {
	tests := map[string]struct{ crash, reason, step string }{
		"init":        {"hipInit:segv", "SIGSEGV: segmentation violation", "opening the hip library"},
		"open":        {"hipSetDevice:abort", "SIGABRT: abort", "opening device 0"},
		"load":        {"hipModuleLoadData:segv", "SIGSEGV: segmentation violation", "loading the code object of add_f32"},
		"look up":     {"hipModuleGetFunction:exit", "exit status 7", "looking up add_f32"},
		"alloc":       {"hipMalloc:segv", "SIGSEGV", "making memory 0 of add_f32, 4 bytes"},
		"launch":      {"hipModuleLaunchKernel:segv", "SIGSEGV: segmentation violation", "launching add_f32"},
		"synchronize": {"hipDeviceSynchronize:abort", "SIGABRT: abort", "waiting for add_f32"},
		"killed":      {"hipDeviceSynchronize:kill", "killed (SIGKILL)", "waiting for add_f32"},
		"timing":      {"hipEventRecord:segv", "SIGSEGV", "timing add_f32"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := child(t)
			t.Setenv("STUB_CRASH", tt.crash)
			t.Setenv("HSA_OVERRIDE_GFX_VERSION", "11.5.1")
			ctx := context.Background()
			p, err := OpenProcess(ctx, c)
			var k *ProcessKernel
			if err == nil {
				defer p.Close()
				k, err = p.Load(ctx, fixture.Add().Bytes(), "add_f32", addParams...)
			}
			if err == nil {
				_, err = k.Launch(ctx, geometry, []Memory{{Size: 4}, {Size: 4}, {Size: 4}}, addArgs(1), &Measure{Repeat: 1})
			}
			var e *hip.CrashError
			if !errors.As(err, &e) || !strings.HasPrefix(e.Reason, tt.reason) || e.Step != tt.step {
				t.Fatalf("error %v, want %q while %q", err, tt.reason, tt.step)
			}
			if p != nil {
				d := hip.Explain(err, nil)[0]
				text := d.Message + "\n" + d.Help
				for _, r := range d.Related {
					text += "\n" + r.Message
				}
				want := []string{"while " + tt.step, "HSA_OVERRIDE_GFX_VERSION=11.5.1 is set", "unset HSA_OVERRIDE", "it printed: stub: about to crash",
					"the object is for gfx1151, code object version 5; the device is gfx1151"}
				for _, w := range want {
					if d.Code != "HIP/CRASH" || !strings.Contains(text, w) {
						t.Errorf("%s lacks %q:\n%s", d.Code, w, text)
					}
				}
				// It stays dead, and says the same.
				if _, again := p.Load(ctx, fixture.Add().Bytes(), "add_f32"); again == nil || !errors.As(again, &e) {
					t.Errorf("the dead answer %v", again)
				}
				if err := p.Close(); err != nil {
					t.Errorf("closing the dead: %v", err)
				}
			}
			if left, _ := os.ReadDir(c.TempDir); len(left) != 0 {
				t.Errorf("%d files left behind", len(left))
			}
		})
	}
}

func TestProcessFails(t *testing.T) {
	c := child(t)
	ctx := context.Background()
	t.Setenv("STUB_FAIL", "hipGetDeviceCount:100")
	var driver *Error
	if _, err := OpenProcess(ctx, c); !errors.As(err, &driver) || driver.Name != "hipErrorNoDevice" || !strings.Contains(driver.Hint, "/dev/kfd") {
		t.Errorf("no device: %v", err)
	}
	t.Setenv("STUB_FAIL", "")
	none := c
	none.Library = "/nowhere/libamdhip64.so"
	var m *hip.MissingError
	if _, err := OpenProcess(ctx, none); !errors.As(err, &m) || m.Install == "" {
		t.Errorf("no library: %v", err)
	}
	second := c
	second.Device = 1
	if _, err := OpenProcess(ctx, second); err == nil || !strings.Contains(err.Error(), "opening device 1") {
		t.Errorf("no second device: %v", err)
	}
	for name, command := range map[string][]string{"none": nil, "absent": {"/nowhere/loomc"}, "silent": {"/bin/true"}, "failing": {"/bin/false"}} {
		c := c
		c.Command = command
		if _, err := OpenProcess(ctx, c); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	if left, _ := os.ReadDir(c.TempDir); len(left) != 0 {
		t.Errorf("%d files left behind", len(left))
	}
}

// A kernel that does not end is left by ending its process.
func TestProcessIsCancelled(t *testing.T) {
	c := child(t)
	t.Setenv("STUB_CRASH", "hipDeviceSynchronize:hang")
	p := openProcess(t, c)
	k, err := p.Load(context.Background(), fixture.Add().Bytes(), "add_f32", addParams...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	memory := []Memory{{Size: 4}, {Size: 4}, {Size: 4}}
	if _, err := k.Launch(ctx, geometry, memory, addArgs(1), nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("error %v after %s", err, time.Since(start))
	}
	if _, err := k.Launch(context.Background(), geometry, memory, addArgs(1), nil); err == nil {
		t.Error("the killed process answers")
	}
}

func TestProcessConcurrentUse(t *testing.T) {
	p := openProcess(t, child(t))
	ctx := context.Background()
	k, err := p.Load(ctx, fixture.Add().Bytes(), "add_f32", addParams...)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			out := make([]byte, 4)
			_, err := k.Launch(ctx, geometry, []Memory{{Size: 4, Data: floats(float32(i))}, {Size: 4}, {Size: 4, Out: out}}, addArgs(1), nil)
			if err != nil || !bytes.Equal(out, floats(float32(i))) {
				t.Errorf("%d: % x %v", i, out, err)
			}
		})
	}
	wg.Wait()
	for range 3 { // close while others launch
		wg.Go(func() {
			if _, err := k.Launch(ctx, geometry, []Memory{{Size: 4}, {Size: 4}, {Size: 4}}, addArgs(1), nil); err != nil && !strings.Contains(err.Error(), "closed") {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestRandom(t *testing.T) {
	whole := make([]byte, 9<<20) // parts are filled side by side
	Random(whole, 1, 0)
	for _, r := range [][2]int{{0, 8}, {3, 3}, {4<<20 - 5, 4<<20 + 9}, {8, 8 << 20}} {
		b := make([]byte, r[1]-r[0])
		Random(b, 1, r[0])
		if !bytes.Equal(b, whole[r[0]:r[1]]) {
			t.Errorf("bytes %v differ", r)
		}
	}
	other := make([]byte, 64)
	Random(other, 2, 0)
	if bytes.Equal(other, whole[:64]) {
		t.Error("two seeds, one sequence")
	}
	for i := 0; i+2 <= 1<<16; i += 2 { // half precision: exponent 14 or 15
		if e := whole[i+1] >> 2 & 0x1f; e != 14 && e != 15 {
			t.Fatalf("half word %d has exponent %d", i/2, e)
		}
	}
}
