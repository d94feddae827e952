//go:build !loomc_static

package runtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/loomc/loomc/hip"
)

// These tests run where there is an NVIDIA device. The source is HIP as the
// compiler side of this module writes it, but for the names of the built-ins.

const cudaAdd = `
extern "C" __global__ void __launch_bounds__(256)
add_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  unsigned i = blockIdx.x * 256u + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void past(float* p) { p[(size_t)threadIdx.x << 40] = 1; }
`

func cudaDevice(t *testing.T) *Device {
	t.Helper()
	r, err := Open(Options{Kind: CUDA})
	var m *hip.MissingError
	if errors.As(err, &m) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.NoDevice() != nil {
		t.Skipf("SKIPPED: %v", r.NoDevice())
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := r.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s, %d compute units, %d MB of L2, driver %s", d.Info().Name, d.Info().Arch, d.Info().ComputeUnits, d.Info().L2Bytes>>20, r.Version())
	return d
}

func nvrtc(t *testing.T) *hip.RTC {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Skip("SKIPPED: no path to the test binary:", err)
	}
	t.Setenv("LOOMC_TEST_CHILD", "1")
	rtc, err := hip.OpenRTC(context.Background(), hip.Child{Command: []string{exe}, Kind: "cuda", TempDir: t.TempDir()})
	var m *hip.MissingError
	if errors.As(err, &m) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rtc
}

var cudaParams = []Param{
	{Name: "a", Pointer: true, Access: "read_only"}, {Name: "b", Pointer: true, Access: "read_only"},
	{Name: "c", Pointer: true, Access: "write_only"}, {Name: "n", Size: 4},
}

func TestCUDALaunch(t *testing.T) {
	d := cudaDevice(t)
	out, err := nvrtc(t).Compile(context.Background(), hip.Job{Name: "add.cu", Source: []byte(cudaAdd), Arch: d.Info().Arch})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(out.Object)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Kernel("add_f32"); err == nil {
		t.Error("a kernel without a description was accepted")
	}
	if _, err := m.Kernel("nothing", cudaParams...); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_NOT_FOUND (500)") {
		t.Errorf("error %v", err)
	}
	if _, err := m.Kernel("add_f32", cudaParams[:3]...); err == nil {
		t.Log("this driver does not tell a kernel's parameters")
	}
	k, err := m.Kernel("add_f32", cudaParams...)
	if err != nil {
		t.Fatal(err)
	}

	const n = 64 << 20 // three buffers of 256 MB: past any L2
	var buffers [3]*Buffer
	for i := range buffers {
		buffers[i] = alloc(t, d, 4*n)
	}
	head := floats(1, 2, 3, 4)
	if err := errors.Join(buffers[0].Fill(0), buffers[1].Fill(0), buffers[2].Fill(0xff), buffers[0].Write(0, head), buffers[1].Write(4, head)); err != nil {
		t.Fatal(err)
	}
	g := Geometry{Grid: [3]uint32{n / 256, 1, 1}, Block: [3]uint32{256, 1, 1}}
	if err := k.Launch(g, Input(buffers[0]), Input(buffers[1]), Ptr(buffers[2]), U32(n)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4*n)
	if err := buffers[2].Read(0, got); err != nil {
		t.Fatal(err)
	}
	if want := floats(1, 3, 5, 7, 4); !bytes.Equal(got[:20], want) || binary.LittleEndian.Uint32(got[4*n-4:]) != 0 {
		t.Errorf("got % x", got[:20])
	}

	// Three streams through memory for the kernel, two for the copy.
	const repeat = 20
	kernel, err := d.Time(func() error {
		for range repeat {
			if err := k.Launch(g, Input(buffers[0]), Input(buffers[1]), Ptr(buffers[2]), U32(n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := d.Time(func() error {
		for range repeat {
			if err := buffers[2].CopyFrom(0, buffers[0], 0, 4*n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rate := func(bytes float64, seconds float64) float64 { return bytes * repeat / seconds / 1e9 }
	t.Logf("kernel %.0f GB/s, device-to-device copy %.0f GB/s", rate(12*n, kernel.Seconds()), rate(8*n, copied.Seconds()))
}

// The same device in a child: results, times, a fault that leaves the caller and the
// next child unharmed.
func TestCUDAProcess(t *testing.T) {
	ctx := context.Background()
	rtc := nvrtc(t)
	open := func() *Process {
		p, err := OpenProcess(ctx, hip.Child{Command: rtc.Child.Command, Kind: "cuda", TempDir: t.TempDir()})
		var m *hip.MissingError
		var e *Error
		if errors.As(err, &m) || errors.As(err, &e) && e.Code == codeNoDevice {
			t.Skipf("SKIPPED: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	p := open()
	out, err := rtc.Compile(ctx, hip.Job{Name: "add.cu", Source: []byte(cudaAdd), Arch: p.Info().Arch})
	if err != nil {
		t.Fatal(err)
	}
	past, err := p.Load(ctx, out.Object, "past", Param{Name: "p", Pointer: true})
	if err != nil {
		t.Fatal(err)
	}
	small := Geometry{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}
	var e *Error
	if _, err := past.Launch(ctx, small, []Memory{{Size: 4}}, []ProcessArg{{}}, nil); !errors.As(err, &e) || e.Code != 700 {
		t.Errorf("error %v", err)
	}
	p.Close()

	p = open()
	k, err := p.Load(ctx, out.Object, "add_f32", cudaParams...)
	if err != nil {
		t.Fatal(err)
	}
	const n = 64 << 20
	seed := uint64(1)
	want, got := make([]byte, 4*n), make([]byte, 4*n)
	Random(want, seed, 0)
	g := Geometry{Grid: [3]uint32{n / 256, 1, 1}, Block: [3]uint32{256, 1, 1}}
	m, err := k.Launch(ctx, g, []Memory{{Size: 4 * n, Random: &seed}, {Size: 4 * n}, {Size: 4 * n, Out: got}},
		[]ProcessArg{{Memory: 0}, {Memory: 1}, {Memory: 2}, {Value: []byte{0, 0, 0, 4}}}, &Measure{Repeat: 50, Bytes: 12 * n})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("random + zero is something else")
	}
	t.Logf("launches %v, copies of %d bytes %v", m.Launches[:3], m.CopyBytes, m.Copies[:3])
	if len(m.Launches) != 50 || len(m.Copies) != 50 {
		t.Errorf("%d launches, %d copies", len(m.Launches), len(m.Copies))
	}
}

func TestCUDARefusesBadSource(t *testing.T) {
	d := cudaDevice(t)
	_, err := nvrtc(t).Compile(context.Background(), hip.Job{Name: "bad.cu", Source: []byte("int x = nope;"), Arch: d.Info().Arch})
	var ce *hip.CompileError
	if !errors.As(err, &ce) {
		t.Fatalf("error %v", err)
	}
	t.Log(ce.Diagnostics(nil))
	if !ce.Diagnostics(nil).HasErrors() || !strings.Contains(ce.Log, "nope") {
		t.Errorf("log %q", ce.Log)
	}
}

func TestCUDALoadFails(t *testing.T) {
	d := cudaDevice(t)
	for _, image := range []string{"\x7fELF nonsense", ".version 8.0\n.target sm_50\n.address_size 64\nnonsense"} {
		_, err := d.Load([]byte(image))
		var e *Error
		if !errors.As(err, &e) || e.Name == "" {
			t.Errorf("error %v", err)
		}
	}
	if _, err := d.Alloc(1 << 50); err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_OUT_OF_MEMORY (2)") {
		t.Errorf("error %v", err)
	}
}

// The last one: after it the device's context is of no use to this process.
func TestCUDAZZKernelFault(t *testing.T) {
	d := cudaDevice(t)
	out, err := nvrtc(t).Compile(context.Background(), hip.Job{Name: "add.cu", Source: []byte(cudaAdd), Arch: d.Info().Arch})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(out.Object)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("past", Param{Name: "p", Pointer: true})
	if err != nil {
		t.Fatal(err)
	}
	b := alloc(t, d, 4)
	if err := k.Launch(Geometry{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}, Ptr(b)); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := d.Synchronize(context.Background()); !errors.As(err, &e) || e.Code != 700 {
		t.Errorf("error %v", err)
	}
	t.Log(e, e.Hint)
	t.Log("closing after the fault:", d.Close())
}
