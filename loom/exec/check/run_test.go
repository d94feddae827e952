package check_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/loom/exec/npy"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/parser"
)

const scaleKernel = `
kernel.def @scale(%n: index) {
  %one = index.constant 1 : index
  %wg = index.constant 32 : index
  %up = index.add %n, %wg : index
  %m = index.sub %up, %one : index
  %blocks = index.div %m, %wg : index
  kernel.launch.config workgroups(%blocks, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%n: index, %x: buffer, %y: buffer) {
  %zero = index.constant 0 : offset
  %wg = index.constant 32 : index
  %g = kernel.workgroup.id<x> : index
  %item = kernel.workitem.id<x> : index
  %i = index.madd %g, %wg, %item : index
  %xv = buffer.view %x[%zero] : buffer -> view<[%n]xf32>
  %yv = buffer.view %y[%zero] : buffer -> view<[%n]xf32>
  %two = scalar.constant 2.0 : f32
  %in = index.cmp ult, %i, %n : index
  scf.if %in {
    %v = view.load %xv[%i] : view<[%n]xf32> -> f32
    %w = scalar.mulf %v, %two : f32
    view.store %w, %yv[%i] : f32, view<[%n]xf32>
  }
  kernel.return
}
func.def pure @twice(%n: index) -> (index) {
  %r = index.add %n, %n : index
  func.return %r : index
}
`

func module(t testing.TB, name, text string) *loom.Module {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource(name, text))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	return m
}

func runCase(t *testing.T, body string, o check.Options) *check.CaseResult {
	t.Helper()
	rs := runFile(t, module(t, "case.loom", scaleKernel+"check.case @c {\n"+body+"\n  check.return\n}\n"), nil, "gfx1151", o)
	return rs[0]
}

func text(t *testing.T, rs ...*check.CaseResult) string {
	t.Helper()
	var b strings.Builder
	if err := check.WriteText(&b, rs, check.ShowCases); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const scaleBody = `  %n = check.param.choice values([5, 40]) name("n") : index
  %x = check.generate.iota offset(1.0) step(1.0) : tensor<[%n]xf32>
  %y = check.generate.fill value(0.0) : tensor<[%n]xf32>
`

func TestBothLaunchSpellings(t *testing.T) {
	for _, l := range []string{
		"kernel.launch @scale[%n](%n, %x, %y) : [index](index, tensor<[%n]xf32>, tensor<[%n]xf32>)",
		"func.call @scale(%n, %x, %y) : (index, tensor<[%n]xf32>, tensor<[%n]xf32>)",
	} {
		r := runCase(t, scaleBody+l+`
  %e = check.generate.iota offset(2.0) step(2.0) : tensor<[%n]xf32>
  check.expect.equal actual(%y) expected(%e) : tensor<[%n]xf32>
  %once = check.literal value(1) : index
  check.expect.event<launch.count> {count = %once : index}`, check.Options{})
		if r.Status() != check.Pass || len(r.Samples) != 2 || r.Samples[1].Launches[0].Workgroups != 2 {
			t.Errorf("%s:\n%s", l, text(t, r))
		}
	}
}

func TestMismatchShowsTheFirstElements(t *testing.T) {
	r := runCase(t, scaleBody+`  kernel.launch @scale[%n](%n, %x, %y) : [index](index, tensor<[%n]xf32>, tensor<[%n]xf32>)
  %e = check.generate.iota offset(2.0) step(2.0) period(20) : tensor<[%n]xf32>
  check.expect.close actual(%y) expected(%e) atol(0.5) rtol(0.0) nan(same) : tensor<[%n]xf32>`, check.Options{MaxDiffs: 2})
	want := `FAIL  @c (2 samples, cpu)
  sample 2 of 2: n=40: fail
    case.loom:36:3: check.expect.close: 20 of 40 elements of %y : tensor<40xf32> break "|actual - expected| <= 0.5 + 0*|expected|" (largest difference 40, 36175872 ulp)
      index  expected  actual  ulp
      [20]          2      42  36175872
      [21]          4      44  28311552
      and 18 more
1 cases, 2 samples: 0 passed, 1 failed
`
	if got := text(t, r); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	var j bytes.Buffer
	if err := check.WriteJSON(&j, []*check.CaseResult{r}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Summary check.Summary
		Cases   []struct {
			Name, Status string
			Samples      []struct {
				Status     string
				Params     []check.ParamValue
				Mismatches []struct{ First []check.Element }
			}
		}
	}
	if err := json.Unmarshal(j.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if s := doc.Cases[0].Samples[1]; doc.Summary.Failed != 1 || s.Status != "fail" || s.Params[0].Text != "40" || s.Mismatches[0].First[0].Index[0] != 20 {
		t.Errorf("%s", j.String())
	}
	var x bytes.Buffer
	if err := check.WriteJUnit(&x, []*check.CaseResult{r}); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suite    []struct {
			Case []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(x.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 2 || suites.Failures != 1 || suites.Suite[0].Case[1].Failure == nil || suites.Suite[0].Case[1].Name != "c n=40" {
		t.Errorf("%s", x.String())
	}
}

// A skip is structured and is not a pass.
func TestSkips(t *testing.T) {
	reg := check.DefaultRegistry()
	reg.Requirements["device.kind"] = func(a map[string]loom.Attr) (bool, string, error) {
		return a["kind"].Str == "cpu", "this is a cpu", nil
	}
	for body, want := range map[string]string{
		`check.requires<target.feature> {feature = "x"}`:                    "check.requires<target.feature>: no such provider",
		`check.requires<device.kind> {kind = "gpu"}`:                        "check.requires<device.kind>: this is a cpu",
		`check.skip_if<device.kind> {kind = "cpu"} reason("slow on a cpu")`: "check.skip_if<device.kind>: this is a cpu: slow on a cpu",
		`check.skip_if<missing> {} reason("no way to tell")`:                "check.skip_if<missing>: no such provider: no way to tell",
	} {
		r := runCase(t, "  "+body+`
  %a = check.literal value(1) : i32
  %b = check.literal value(2) : i32
  check.expect.equal actual(%a) expected(%b) : i32`, check.Options{Registry: reg})
		if r.Status() != check.Skip || r.Samples[0].SkipReason != want {
			t.Errorf("%s: %s %q", body, r.Status(), r.Samples[0].SkipReason)
		}
		if s := check.Summarize([]*check.CaseResult{r}); s.Passed != 0 || s.Skipped != 1 {
			t.Errorf("%+v", s)
		}
	}
	r := runCase(t, `  check.requires<device.kind> {kind = "cpu"}`, check.Options{Registry: reg})
	if r.Status() != check.Pass {
		t.Errorf("%s", text(t, r))
	}
}

func TestFilesStayInTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	data := make([]byte, 20)
	for i := range 5 {
		exec.WriteElement(data[4*i:], loom.F32, exec.EncodeFloat(loom.F32, float64(i+1)))
	}
	if err := os.WriteFile(filepath.Join(dir, "x.npy"), npy.Encode(&npy.Array{Descr: "<f4", Shape: []int64{5}, Data: data}), 0o644); err != nil {
		t.Fatal(err)
	}
	body := func(in, out, mode string) string {
		return `  %n = check.literal value(5) : index
  %x = check.file.read.npy path("` + in + `") : tensor<5xf32>
  %y = check.generate.fill value(0.0) : tensor<5xf32>
  kernel.launch @scale[%n](%n, %x, %y) : [index](index, tensor<5xf32>, tensor<5xf32>)
  check.file.write.npy value(%y) path("` + out + `") ` + mode + ` : tensor<5xf32>`
	}
	r := runCase(t, body("x.npy", "sub/y.npy", ""), check.Options{Dir: dir})
	if r.Status() != check.Pass {
		t.Fatalf("%s", text(t, r))
	}
	b, err := os.ReadFile(filepath.Join(dir, "sub", "y.npy"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := npy.Decode(b)
	if err != nil || exec.DecodeFloat(loom.F32, exec.ReadElement(a.Data[16:], loom.F32)) != 10 {
		t.Errorf("%v %v", a, err)
	}
	if runCase(t, body("x.npy", "only.npy", "mode(on_failure)"), check.Options{Dir: dir}); exists(dir, "only.npy") {
		t.Error("a passing case wrote its on_failure file")
	}
	fail := body("x.npy", "only.npy", "mode(on_failure)") + "\n  check.expect.equal actual(%y) expected(%x) : tensor<5xf32>"
	if runCase(t, fail, check.Options{Dir: dir}); !exists(dir, "only.npy") {
		t.Error("a failing case did not write its on_failure file")
	}
	os.WriteFile(filepath.Join(dir, "..", "outside.npy"), nil, 0o644)
	for in, want := range map[string]string{
		"../outside.npy": "leaves the directory", "/etc/passwd": "leaves the directory", "none.npy": "no such file", "sub/y.npy": "",
	} {
		r := runCase(t, body(in, "z.npy", ""), check.Options{Dir: dir})
		if want == "" {
			continue
		}
		if r.Status() != check.Error || !strings.Contains(text(t, r), want) {
			t.Errorf("%s: %s", in, text(t, r))
		}
	}
	if r := runCase(t, body("x.npy", "y.npy", ""), check.Options{}); !strings.Contains(text(t, r), "no directory for files") {
		t.Errorf("%s", text(t, r))
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func TestCaseFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		status check.Status
		want   string
	}{
		"oracle": {`  %a = check.generate.iota offset(0) step(1) : tensor<2x3xi32>
  %b = check.generate.fill value(2) : tensor<3x2xi32>
  %e = check.oracle.call<reference.matmul> {} callee(@scale) inputs(%a, %b) : (tensor<2x3xi32>, tensor<3x2xi32>) -> (tensor<2x2xi32>)
  %w = check.tensor.view %e[1, 0] : tensor<2x2xi32> -> tensor<2xi32>
  %x = check.generate.fill value(24) : tensor<2xi32>
  check.expect.bitwise actual(%w) expected(%x) : tensor<2xi32>`, check.Pass, ""},
		"unknown oracle": {`  %a = check.generate.fill value(0) : tensor<1xi32>
  %e = check.oracle.call<reference.fft> {} callee(@scale) inputs(%a) : (tensor<1xi32>) -> (tensor<1xi32>)`, check.Error, `no oracle "reference.fft" is registered`},
		"host function and arithmetic": {`  %n = check.literal value(20) : index
  %m = func.call pure @twice(%n) : (index) -> (index)
  %k = index.add %m, %n : index
  %e = check.literal value(60) : index
  check.expect.equal actual(%k) expected(%e) : index`, check.Pass, ""},
		"shape": {`  %n = check.literal value(3) : index
  %a = check.generate.fill value(0) : tensor<[%n]x4xi32>
  check.expect.shape value(%a) shape([%n, 4]) : tensor<[%n]x4xi32>
  check.expect.shape value(%a) shape([4, %n]) : tensor<[%n]x4xi32>`, check.Fail, "the shape is [3 4], expected [4 3]"},
		"bits of zeros differ": {`  %a = check.literal value(0.0) : f32
  %b = check.literal value(-0.0) : f32
  check.expect.equal actual(%a) expected(%b) : f32
  check.expect.bitwise actual(%a) expected(%b) : f32`, check.Fail, "check.expect.bitwise: 1 of 1 elements"},
		"NaN": {`  %a = check.literal value(nan) : f32
  check.expect.close actual(%a) expected(%a) atol(0.0) rtol(0.0) nan(same) : f32
  check.expect.close actual(%a) expected(%a) atol(0.0) rtol(0.0) nan(different) : f32`, check.Fail, "1 of 1 elements"},
		"random": {`  %s = check.param.seed base(7) count(3) : i64
  %a = check.generate.random.uniform seed(%s) range(-2 to 5) : tensor<64xi8>
  %b = check.generate.random.uniform seed(%s) range(-2 to 5) : tensor<64xi8>
  check.expect.bitwise actual(%a) expected(%b) : tensor<64xi8>`, check.Pass, ""},
		"value does not fit": {`  %a = check.generate.iota offset(0) step(100) : tensor<4xi8>`, check.Error, "element 3 is 300, which does not fit i8"},
		"sweep": {`  %a = check.param.range po2 bounds(1 to 64) : index
  %b = check.param.range linear bounds(0 to 10) step(5) : index
  check.expect.equal actual(%a) expected(%a) : index`, check.Pass, "1 cases, 21 samples"},
		"empty sweep":    {`  %a = check.param.range linear bounds(3 to 1) : index`, check.Error, "the sweep from 3 to 1 is empty"},
		"missing kernel": {`  kernel.launch @nowhere() : ()`, check.Error, "needed here"},
		"wrong argument": {`  %n = check.literal value(3) : index
  kernel.launch @scale[%n](%n, %n, %n) : [index](index, index, index)`, check.Error, "launch argument 1 of @scale, %x, is buffer but index is given"},
		"argument count": {`  %n = check.literal value(3) : index
  kernel.launch @scale[%n](%n) : [index](index)`, check.Error, "@scale takes 3 launch arguments, got 1"},
		"out of bounds is a failure": {`  %n = check.literal value(3) : index
  %x = check.generate.fill value(0.0) : tensor<2xf32>
  kernel.launch @scale[%n](%n, %x, %x) : [index](index, tensor<2xf32>, tensor<2xf32>)`, check.Fail, "EXEC/BOUNDS: view.load reads bytes [8, 12) of binding %x, which has 8 bytes"},
	} {
		r := runCase(t, c.body, check.Options{})
		if got := text(t, r); r.Status() != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\n%s", name, r.Status(), got)
		}
	}
}

func TestUniformGeneratorIsTheDocumentedOne(t *testing.T) {
	// splitmix64 of seed 1, first value, as a fraction of [0, 8).
	z := uint64(1) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	want := float64(z>>11) / (1 << 53) * 8
	r := runCase(t, `  %s = check.literal value(1) : i64
  %a = check.generate.random.uniform seed(%s) range(0.0 to 8.0) : tensor<1xf64>
  %b = check.generate.fill value(`+string(loom.AppendFloat(nil, want))+`) : tensor<1xf64>
  check.expect.bitwise actual(%a) expected(%b) : tensor<1xf64>`, check.Options{})
	if r.Status() != check.Pass {
		t.Errorf("%s", text(t, r))
	}
}

func TestBenchmarks(t *testing.T) {
	m := module(t, "b.loom", scaleKernel+`check.case @c {
`+scaleBody+`  %m = check.param.choice values([1, 2, 3]) name("m") : index
  check.return
}
check.benchmark<@c>
check.benchmark<@c> @large {n = 40}
check.benchmark<@c> @one {n = 5, m = 2}
check.benchmark<@c> @wrong {k = 5}
check.benchmark<@c> @never {n = 6}
check.benchmark<@d> @lost
`)
	bs, ds := check.Benchmarks(m)
	counts := map[string]int{}
	for _, b := range bs {
		counts[b.Name] = len(b.Samples)
	}
	if counts["c"] != 6 || counts["large"] != 3 || counts["one"] != 1 {
		t.Errorf("%v", counts)
	}
	for _, want := range []string{`has no parameter "k"`, `its parameters are: "n", "m"`, "no sample of the case '@c'", "'@d', which does not exist"} {
		if !strings.Contains(diag.Text(ds), want) {
			t.Errorf("no %q in\n%s", want, diag.Text(ds))
		}
	}
	r, err := check.Run(context.Background(), m.Lookup("c"), &linked{}, check.Options{Only: bs[1].Samples})
	if err != nil || len(r.Samples) != 3 || r.Samples[0].Params[0].Text != "40" {
		t.Errorf("%v %+v", err, r)
	}
}

// Another device sees the kernel, the geometry and the arguments.
type fakeDevice struct{ calls []string }

func (d *fakeDevice) Name() string { return "fake" }
func (d *fakeDevice) Launch(_ context.Context, k *kernel.Kernel, g kernel.Geometry, args []exec.Arg) (*exec.Report, error) {
	d.calls = append(d.calls, k.Symbol)
	for i := range args[2].Buffer {
		args[2].Buffer[i] = args[1].Buffer[i]
	}
	return nil, nil
}

func TestOtherDevices(t *testing.T) {
	d := &fakeDevice{}
	r := runCase(t, scaleBody+`  kernel.launch @scale[%n](%n, %x, %y) : [index](index, tensor<[%n]xf32>, tensor<[%n]xf32>)
  check.expect.equal actual(%y) expected(%x) : tensor<[%n]xf32>`, check.Options{Device: d})
	if r.Status() != check.Pass || r.Device != "fake" || len(d.calls) != 2 {
		t.Errorf("%s %v", text(t, r), d.calls)
	}
}
