package codegen_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	loomexec "github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// closeText links and specialises a kernel of text.
func closeText(t testing.TB, text, name, processor string, wave int, config map[string]string) *kernel.Kernel {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("test.loom", text))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatalf("%s\n%s", diag.Text(ds), text)
	}
	x := linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}})
	req := linker.Request{Roots: []string{name}, Target: processor, StripCheck: true}
	for k, v := range config {
		req.Config = append(req.Config, linker.Binding{Key: k, Text: v})
	}
	res, ds := linker.Link(context.Background(), x, req)
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	tg, ok := target.Lookup(processor)
	if !ok {
		t.Fatalf("no target %s", processor)
	}
	if wave != 0 {
		c := *tg
		c.WaveSize = wave
		tg = &c
	}
	k, _, ds, err := linker.Specialize(context.Background(), res.Module, name, linker.SpecializeOptions{Target: tg})
	if err != nil || ds.HasErrors() {
		t.Fatal(err, diag.Text(ds))
	}
	return k
}

func emit(t testing.TB, k *kernel.Kernel, opt codegen.Options) *codegen.Unit {
	t.Helper()
	u, ds := codegen.Emit(k, opt)
	if ds.HasErrors() {
		t.Fatalf("%s\n%s", diag.Text(ds), loom.PrintDef(k.Def))
	}
	return u
}

// trial is one kernel with its arguments. Buffers are shared by all runners and
// copied for each.
type trial struct {
	text   string
	target string
	wave   int
	args   []loomexec.Arg
	// workload are the arguments of the launch configuration.
	workload []int64
	// plain is the same kernel spelled out for the executor, where it has no form
	// of an op in text.
	plain string
}

// reference runs the trial on the executor.
func (tr trial) reference(t testing.TB, k *kernel.Kernel) [][]byte {
	t.Helper()
	p, ds := loomexec.Compile(k)
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	g, err := kernel.EvalLaunch(k, tr.workload)
	if err != nil {
		t.Fatal(err)
	}
	args := tr.copies()
	if _, err := p.Run(context.Background(), loomexec.Launch{Geometry: g, Args: args}); err != nil {
		t.Fatalf("%v\n%s", err, loom.PrintDef(k.Def))
	}
	return bufferBytes(args)
}

func (tr trial) copies() []loomexec.Arg {
	args := append([]loomexec.Arg(nil), tr.args...)
	for i := range args {
		if args[i].IsBuffer {
			args[i].Buffer = bytes.Clone(args[i].Buffer)
		}
	}
	return args
}

func bufferBytes(args []loomexec.Arg) [][]byte {
	var out [][]byte
	for _, a := range args {
		if a.IsBuffer {
			out = append(out, a.Buffer)
		}
	}
	return out
}

// abiArgs orders the arguments as the emitted function takes them.
func abiArgs(u *codegen.Unit, args []loomexec.Arg) []loomexec.Arg {
	var bufs, scalars []loomexec.Arg
	for _, a := range args {
		if a.IsBuffer {
			bufs = append(bufs, a)
		} else {
			scalars = append(scalars, a)
		}
	}
	return append(bufs, scalars...)
}

// suite collects trials so that each compiler runs once for all of them.
type suite struct {
	names  []string
	trials []trial
	cols   [][]column
	keys   []map[string]any // extra keys of emulator jobs
}

func (s *suite) add(name string, tr trial, cols []column, keys map[string]any) {
	s.names = append(s.names, name)
	s.trials = append(s.trials, tr)
	s.cols = append(s.cols, cols)
	s.keys = append(s.keys, keys)
}

// run executes every trial on the reference executor, on the host and, where one
// is configured, on the emulator, and compares.
func (s *suite) run(t *testing.T) {
	t.Helper()
	n := len(s.trials)
	units := make([]*codegen.Unit, n)
	kernels := make([]*kernel.Kernel, n)
	want := make([][][]byte, n)
	for i, tr := range s.trials {
		kernels[i] = closeText(t, renamed(tr.text, i), fmt.Sprintf("k%d", i), tr.target, tr.wave, nil)
		ref := kernels[i]
		if tr.plain != "" {
			ref = closeText(t, renamed(tr.plain, i), fmt.Sprintf("k%d", i), tr.target, tr.wave, nil)
		}
		want[i] = tr.reference(t, ref)
		units[i] = emit(t, kernels[i], codegen.Options{NoHeader: true})
	}
	compilers := []string{"clang++-19", "g++"}
	if testing.Short() {
		compilers = compilers[:1]
	}
	for _, cxx := range compilers {
		if _, err := exec.LookPath(cxx); err != nil {
			continue
		}
		exe := hostProgram(t, units, cxx)
		for i, tr := range s.trials {
			got, err := tr.onHost(exe, i, units[i], kernels[i])
			if err != nil {
				t.Errorf("%s on %s: %v", s.names[i], cxx, err)
				continue
			}
			compare(t, s.names[i]+" on "+cxx, want[i], got, s.cols[i])
		}
	}
	if emulator() != "" {
		s.emulate(t, units, kernels, want)
	}
	if t.Failed() && os.Getenv("LOOMC_TEST_SHOW") != "" {
		t.Logf("%s", codegen.Bundle(units...))
	}
}

// hostProgram compiles the units for the host.
func hostProgram(t testing.TB, units []*codegen.Unit, cxx string) string {
	t.Helper()
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "k.cpp"), filepath.Join(dir, "k")
	if err := os.WriteFile(src, codegen.HostProgram(units...), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cxx, "-O1", "-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-w", src, "-o", exe, "-lm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%.3000s", cxx, err, out)
	}
	return exe
}

// onHost runs unit number i of a host program.
func (tr trial) onHost(exe string, i int, u *codegen.Unit, k *kernel.Kernel) ([][]byte, error) {
	g, err := kernel.EvalLaunch(k, tr.workload)
	if err != nil {
		return nil, err
	}
	var in bytes.Buffer
	for _, c := range g.Count {
		binary.Write(&in, binary.LittleEndian, uint32(c))
	}
	args := abiArgs(u, tr.copies())
	for i, a := range args {
		raw := a.Buffer
		if !a.IsBuffer {
			raw = make([]byte, 8)
			binary.LittleEndian.PutUint64(raw, a.Bits)
			raw = raw[:u.ABI.Args[i].Size]
		}
		binary.Write(&in, binary.LittleEndian, uint32(len(raw)))
		in.Write(raw)
	}
	run := exec.Command(exe, fmt.Sprint(i), fmt.Sprint(g.Size[0]), fmt.Sprint(g.Size[1]), fmt.Sprint(g.Size[2]))
	run.Stdin = &in
	var stderr bytes.Buffer
	run.Stderr = &stderr
	raw, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%w %s", err, stderr.String())
	}
	var out [][]byte
	for _, a := range args {
		if a.IsBuffer {
			out = append(out, raw[:len(a.Buffer)])
			raw = raw[len(a.Buffer):]
		}
	}
	return out, nil
}

// emulator is the gfx11 emulator's front end, "" when none is configured.
func emulator() string { return os.Getenv("LOOMC_GFX_EMU") }

// emulate compiles the gfx11 units, one object per wave size, and runs all trials
// in one process.
func (s *suite) emulate(t *testing.T, units []*codegen.Unit, kernels []*kernel.Kernel, want [][][]byte) {
	t.Helper()
	dir := t.TempDir()
	objects := map[int]string{}
	for _, w := range []int{32, 64} {
		var us []*codegen.Unit
		for _, u := range units {
			if u.WaveSize == w && strings.HasPrefix(u.Target, "gfx11") {
				us = append(us, u)
			}
		}
		if us == nil {
			continue
		}
		src, co := filepath.Join(dir, fmt.Sprintf("k%d.hip", w)), filepath.Join(dir, fmt.Sprintf("k%d.co", w))
		if err := os.WriteFile(src, codegen.Bundle(us...), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"-x", "hip", "--offload-arch=gfx1151", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
			"-O3", "-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-mcode-object-version=5"}
		if w == 64 {
			args = append(args, "-mwavefrontsize64")
		}
		if out, err := exec.Command("clang-19", append(args, src, "-o", co)...).CombinedOutput(); err != nil {
			t.Fatalf("clang: %v\n%.3000s", err, out)
		}
		objects[w] = co
	}
	var jobs []map[string]any
	var outs [][]string
	var which []int
	for i, u := range units {
		co := objects[u.WaveSize]
		if co == "" || !strings.HasPrefix(u.Target, "gfx11") {
			continue
		}
		g, err := kernel.EvalLaunch(kernels[i], s.trials[i].workload)
		if err != nil {
			t.Fatal(err)
		}
		job := map[string]any{"co": co, "kernel": u.Symbol, "grid": g.Count, "block": g.Size}
		for k, v := range s.keys[i] {
			job[k] = v
		}
		var list []map[string]any
		var files []string
		for j, a := range abiArgs(u, s.trials[i].copies()) {
			if !a.IsBuffer {
				kind := "u32"
				if u.ABI.Args[j].Size == 8 {
					kind = "u64"
				}
				list = append(list, map[string]any{kind: a.Bits})
				continue
			}
			p := filepath.Join(dir, fmt.Sprintf("b%d_%d.bin", i, j))
			if err := os.WriteFile(p, a.Buffer, 0o644); err != nil {
				t.Fatal(err)
			}
			arg := map[string]any{"buffer": p}
			if u.ABI.Args[j].Access&kernel.Write == 0 {
				arg["ro"] = 1
			}
			list = append(list, arg)
			files = append(files, p)
		}
		job["args"] = list
		jobs, outs, which = append(jobs, job), append(outs, files), append(which, i)
	}
	text, _ := json.Marshal(jobs)
	jp := filepath.Join(dir, "jobs.json")
	if err := os.WriteFile(jp, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", emulator(), jp).CombinedOutput()
	if err != nil {
		t.Errorf("emulator: %v\n%.3000s", err, out)
	}
	for n, i := range which {
		var got [][]byte
		for _, p := range outs[n] {
			raw, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, raw)
		}
		compare(t, s.names[i]+" on the emulator", want[i], got, s.cols[i])
	}
}

// column is a run of output elements of one kind, compared within ulp.
type column struct {
	buffer, at, n int // element offset and count
	kind          loom.Kind
	ulp           float64
	abs           float64 // difference that is always allowed
	name          string
}

func elemAt(k loom.Kind, raw []byte, i int) (bits uint64, val float64) {
	switch k.Bytes() {
	case 1:
		bits = uint64(raw[i])
	case 2:
		bits = uint64(binary.LittleEndian.Uint16(raw[2*i:]))
	case 4:
		bits = uint64(binary.LittleEndian.Uint32(raw[4*i:]))
	default:
		bits = binary.LittleEndian.Uint64(raw[8*i:])
	}
	switch k {
	case loom.F32:
		return bits, float64(math.Float32frombits(uint32(bits)))
	case loom.F64:
		return bits, math.Float64frombits(bits)
	case loom.F16:
		return bits, decode(bits, 5, 10)
	case loom.BF16:
		return bits, decode(bits, 8, 7)
	case loom.F8E4M3:
		return bits, decode(bits, 4, 3)
	case loom.F8E5M2:
		return bits, decode(bits, 5, 2)
	}
	return bits, float64(bits)
}

func decode(b uint64, exp, man int) float64 {
	s := 1.0
	if b>>(exp+man)&1 != 0 {
		s = -1
	}
	e, m := int(b>>man)&(1<<exp-1), float64(b&(1<<man-1))
	bias := 1<<(exp-1) - 1
	switch {
	case e == 1<<exp-1 && m != 0:
		return math.NaN()
	case e == 1<<exp-1:
		return s * math.Inf(1)
	case e == 0:
		return s * math.Ldexp(m, 1-bias-man)
	}
	return s * math.Ldexp(m+float64(int(1)<<man), e-bias-man)
}

// spacing is the unit in the last place of v in kind k.
func spacing(k loom.Kind, v float64) float64 {
	man := map[loom.Kind]int{loom.F32: 23, loom.F64: 52, loom.F16: 10, loom.BF16: 7, loom.F8E4M3: 3, loom.F8E5M2: 2}[k]
	low := map[loom.Kind]int{loom.F32: -126, loom.F64: -1022, loom.F16: -14, loom.BF16: -126, loom.F8E4M3: -6, loom.F8E5M2: -14}[k]
	_, e := math.Frexp(v)
	return math.Ldexp(1, max(e-1, low)-man)
}

// compare reports elements that differ by more than the column allows.
func compare(t testing.TB, who string, want, got [][]byte, cols []column) {
	t.Helper()
	for _, c := range cols {
		bad := 0
		for i := c.at; i < c.at+c.n; i++ {
			wb, wv := elemAt(c.kind, want[c.buffer], i)
			gb, gv := elemAt(c.kind, got[c.buffer], i)
			if wb == gb {
				continue
			}
			d := math.Inf(1)
			if c.kind.IsFloat() {
				switch {
				case wv != wv && gv != gv:
					continue
				case wv == gv && c.ulp > 0:
					continue
				case !math.IsInf(wv, 0) && !math.IsInf(gv, 0):
					d = math.Abs(wv-gv) / spacing(c.kind, wv)
				}
				if d <= c.ulp || math.Abs(wv-gv) <= c.abs {
					continue
				}
			}
			if bad == 0 {
				t.Errorf("%s: %s[%d]: got %v (%#x), want %v (%#x), %.1f ulp", who, c.name, i-c.at, gv, gb, wv, wb, d)
			}
			bad++
		}
		if bad > 1 {
			t.Errorf("%s: %s: %d of %d elements differ", who, c.name, bad, c.n)
		}
	}
}

// random fills a buffer with elements of kind k: mostly ordinary values, some
// extreme ones.
func random(r *rand.Rand, k loom.Kind, n int) []byte {
	out := make([]byte, n*k.Bytes())
	put := func(i int, v uint64) {
		switch k.Bytes() {
		case 1:
			out[i] = byte(v)
		case 2:
			binary.LittleEndian.PutUint16(out[2*i:], uint16(v))
		case 4:
			binary.LittleEndian.PutUint32(out[4*i:], uint32(v))
		default:
			binary.LittleEndian.PutUint64(out[8*i:], v)
		}
	}
	for i := range n {
		v := r.Uint64()
		if k.IsFloat() {
			switch r.IntN(8) {
			case 0: // any bits
			case 1:
				v = uint64(r.IntN(3)) << (k.Bits() - 1) // zeros
			default:
				x := (r.Float64() - 0.5) * math.Ldexp(1, r.IntN(10)-2)
				switch k {
				case loom.F64:
					v = math.Float64bits(x)
				case loom.F32:
					v = uint64(math.Float32bits(float32(x)))
				case loom.BF16:
					v = uint64(math.Float32bits(float32(x)) >> 16)
				case loom.F16:
					v = uint64(toHalf(x))
				}
			}
		} else if r.IntN(3) == 0 {
			v = uint64(int64(r.IntN(7)) - 3)
		}
		put(i, v)
	}
	return out
}

func toHalf(x float64) uint16 {
	b := math.Float32bits(float32(x))
	e := int(b>>23&255) - 112
	if e <= 0 || e >= 31 {
		return uint16(b >> 16 & 0x8000)
	}
	return uint16(b>>16&0x8000) | uint16(e<<10) | uint16(b>>13&0x3ff)
}

func putF32(b []byte, v float32) { binary.LittleEndian.PutUint32(b, math.Float32bits(v)) }

// renamed gives the kernel k of a text the name k0, k1, …
func renamed(text string, n int) string {
	return strings.Replace(text, "@k(", fmt.Sprintf("@k%d(", n), 1)
}
