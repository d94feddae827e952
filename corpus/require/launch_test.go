package require_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/loom/kernel"
)

// checkedDevice holds every launch against require.Launch before it runs.
type checkedDevice struct {
	check.CPU
	mu       sync.Mutex
	launches int
	exact    int // bindings whose whole buffer is needed
	bindings int
	refused  []string
}

func (d *checkedDevice) Launch(ctx context.Context, k *kernel.Kernel, g kernel.Geometry, args []exec.Arg) (*exec.Report, error) {
	l := require.Launch{Kernel: k, Geometry: g}
	var lengths []int64
	for _, a := range args {
		if a.IsBuffer {
			lengths = append(lengths, int64(len(a.Buffer)))
		} else {
			l.Scalars = append(l.Scalars, int64(a.Bits))
		}
	}
	reach := l.Reach()
	ds := l.Check(reach, lengths)
	d.mu.Lock()
	d.launches++
	for i, r := range reach {
		d.bindings++
		if r.Known && r.Bytes == lengths[i] {
			d.exact++
		}
	}
	if ds.HasErrors() {
		d.refused = append(d.refused, diag.Text(ds))
	}
	d.mu.Unlock()
	return d.CPU.Launch(ctx, k, g, args)
}

// Every launch of the bundled test cases is within its buffers, as the bounds
// sanitizer says too: a check before the launch that refused one would be wrong.
func TestLaunchAcceptsBundledCases(t *testing.T) {
	c, ds := corpus.Open(t.Context(), corpus.Options{})
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	d := &checkedDevice{}
	for _, f := range exports.New(c).TestFiles(t.Context(), nil, "") {
		for _, def := range f.Module.Defs {
			if def.Kind != loom.DefCheckCase {
				continue
			}
			if _, err := check.Run(t.Context(), def, f.Provider, check.Options{Device: d}); err != nil {
				t.Errorf("%s: %v", def.Name, err)
			}
		}
	}
	for _, r := range d.refused {
		t.Error(r)
	}
	t.Logf("%d launches; %d of %d bindings are needed to their last byte", d.launches, d.exact, d.bindings)
	if d.launches < 50 || d.exact*2 < d.bindings {
		t.Errorf("%d launches, %d of %d bindings exact: the check says little", d.launches, d.exact, d.bindings)
	}
}

func TestLaunchCheck(t *testing.T) {
	b := bundled(t)
	c := b.Surface().Set().Corpus()
	find := func(name string, config ...string) *kernel.Kernel {
		t.Helper()
		for i := range c.Manifest().Exports {
			e := &c.Manifest().Exports[i]
			if e.Name.Value != name {
				continue
			}
			f := b.Fit(t.Context(), e, bind(config...), "gfx1151")
			if f.Kernel == nil {
				t.Fatal(diag.Text(f.Diags))
			}
			return f.Kernel
		}
		t.Fatalf("no export %s", name)
		return nil
	}
	k := find("ggml_rms_norm_f32", "ggml.rms_norm.columns=128", "ggml.rms_norm.src_row_stride=160", "ggml.rms_norm.dst_row_stride=128",
		"ggml.rms_norm.epsilon=1e-6", "ggml.rms_norm.workgroup_size=64")
	g, err := kernel.EvalLaunch(k, []int64{3})
	if err != nil {
		t.Fatal(err)
	}
	l := require.Launch{Kernel: k, Geometry: g, Workload: []int64{3}, Scalars: []int64{3}}
	reach := l.Reach()
	const src, dst = (2*160 + 128) * 4, 3 * 128 * 4
	if reach[0].Bytes != src || reach[1].Bytes != dst {
		t.Errorf("reach %d and %d bytes, want %d and %d", reach[0].Bytes, reach[1].Bytes, src, dst)
	}
	if tr := l.Traffic(reach, nil); tr != (require.Traffic{Read: src, Write: dst, Known: true}) {
		t.Errorf("traffic %+v", tr)
	}
	if ds := l.Check(reach, []int64{src, dst}); len(ds) != 0 {
		t.Error(diag.Text(ds))
	}
	ds := l.Check(reach, []int64{src - 4, 0})
	if len(ds) != 2 {
		t.Fatalf("%d diagnostics, want one for each buffer", len(ds))
	}
	text := diag.Text(ds[:1])
	for _, want := range []string{
		fmt.Sprintf("LAUNCH/BUFFER: argument 'src' of '@ggml_rms_norm_f32' has %d bytes, this launch touches %d", src-4, src),
		"rms_norm_f32.loom:", "binding 0 of this kernel", "buffer.view", "workload rows = 3; launch rows = 3; config ggml.rms_norm.columns = 128",
		fmt.Sprintf("help: pass at least %d bytes for 'src'", src),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	// A launch may be larger than the extents that texts write for "whatever there is".
	scale := find("ggml_scale_f32", "ggml.scale.factor=2.0", "ggml.scale.bias=0.0", "ggml.scale.workgroup_size=256")
	const many = 1 << 28
	if g, err = kernel.EvalLaunch(scale, []int64{many}); err != nil {
		t.Fatal(err)
	}
	big := require.Launch{Kernel: scale, Geometry: g, Workload: []int64{many}, Scalars: []int64{many}}
	if r := big.Reach(); !r[0].Known || r[0].Bytes != 4*many {
		t.Errorf("reach %+v", r[0])
	}
	empty := l
	empty.Geometry.Count[1] = 0
	if ds := empty.Check(empty.Reach(), []int64{0, 0}); len(ds) != 0 {
		t.Errorf("an empty grid needs buffers: %s", diag.Text(ds))
	}
}

func bind(config ...string) []linker.Binding {
	var out []linker.Binding
	for _, c := range config {
		k, v, _ := strings.Cut(c, "=")
		out = append(out, linker.Binding{Key: k, Text: v})
	}
	return out
}
