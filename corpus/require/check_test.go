package require_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

var update = flag.Bool("update", false, "rewrite the expected texts in testdata")

func bundled(t testing.TB) *require.Bench {
	t.Helper()
	c, ds := corpus.Open(t.Context(), corpus.Options{})
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return require.NewBench(compat.NewSurface(exports.New(c), ""))
}

func archived(t testing.TB, a *txtar.Archive) *require.Bench {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "corpus/"); ok {
			fsys[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	if len(fsys) == 0 {
		return bundled(t)
	}
	c, ds := corpus.OpenFS(t.Context(), fsys, "corpus")
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return require.NewBench(compat.NewSurface(exports.New(c), ""))
}

// TestCheck runs testdata/check/*.txtar: requirements against a corpus of the
// archive, or the bundled one, and the whole report.
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range a.Files {
				if f.Name != "requirements.jsonc" {
					continue
				}
				cases, ds := require.Read(diag.NewSource(f.Name, string(f.Data)))
				got.WriteString(diag.Text(ds))
				results, err := archived(t, a).Check(t.Context(), cases)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range results {
					ds = append(ds, r.Diags...)
					got.WriteString(diag.Text(r.Diags))
					if r.Run != nil {
						fmt.Fprintf(&got, "case '%s': %s", r.Case.Name, r.Run.Geometry)
						for i, b := range r.Fit.Kernel.Bindings {
							fmt.Fprintf(&got, ", %s %d", b.Name, r.Run.Reach[i].Bytes)
							if !r.Run.Reach[i].Known {
								got.WriteString("+?")
							}
						}
						got.WriteByte('\n')
					}
				}
				for _, d := range ds {
					if !d.Span.Valid() || d.Help == "" && d.Severity == diag.Error {
						t.Errorf("diagnostic without place or help: %v", d)
					}
				}
			}
			want := &a.Files[len(a.Files)-1]
			if want.Name != "want" {
				t.Fatalf("the last file is %s", want.Name)
			}
			if *update {
				want.Data = []byte(got.String())
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(want.Data), got.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestHeadSize asks the bundled attention kernel for a head size that its
// declaration and an assume exclude: both places, the nearest value, and the
// faults of the launch values are reported together.
func TestHeadSize(t *testing.T) {
	cases, ds := require.Read(diag.NewSource("r.jsonc", `{"schema": "loomc-requirements-v1", "target": "gfx1151", "cases": [{
		"export": "ggml_flash_attention_f32_f16_wmma",
		"config": {"ggml": {"flash_attention": {
			"qk_head_size": 1040, "value_head_size": 512, "head_count": 128, "kv_head_count": 1,
			"q_row_stride": 133120, "q_head_stride": 1040, "k_row_stride": 1040, "k_head_stride": 1040,
			"v_row_stride": 1040, "v_head_stride": 1040, "scale": 0.07}}},
		"params": {"tokens": 16, "kv_length": 4095, "mask_row_stride": 4092}}]}`))
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	r, err := bundled(t).Check(t.Context(), cases)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]diag.Diagnostic{}
	for _, d := range r[0].Diags {
		codes[d.Code] = d
	}
	if d := codes["REQUIRE/CONFIG"]; !strings.Contains(d.Message, "qk_head_size' value 1040 is not accepted") || len(d.Related) < 2 || !strings.HasPrefix(d.Help, "the nearest allowed value is ") {
		t.Errorf("%s", diag.Text(r[0].Diags))
	}
	if d := codes["REQUIRE/RELATION"]; !strings.Contains(d.Message, "mask_row_stride is 4092, kv_length is 4095") {
		t.Errorf("%s", diag.Text(r[0].Diags))
	}
}
