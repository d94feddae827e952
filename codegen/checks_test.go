package codegen_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	loomexec "github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// emitted is a device that runs the generated code: compiled for the host, or for
// gfx1151 and executed by the emulator. Objects are kept per kernel.
type emitted struct {
	t    testing.TB
	emu  bool
	keys map[string]any // extra keys of emulator jobs
	dir  string
	mu   sync.Mutex
	done map[*kernel.Kernel]*object
	runs int
}

type object struct {
	u    *codegen.Unit
	path string
}

func (d *emitted) Name() string {
	if d.emu {
		return "gfx1151 emulator"
	}
	return "host"
}

func (d *emitted) object(k *kernel.Kernel) (*object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.done[k]; o != nil {
		return o, nil
	}
	u, ds := codegen.Emit(k, codegen.Options{})
	if ds.HasErrors() {
		return nil, ds
	}
	base := filepath.Join(d.dir, fmt.Sprintf("k%d", len(d.done)))
	o := &object{u: u, path: base}
	var cmd *exec.Cmd
	if d.emu {
		os.WriteFile(base+".hip", u.Source, 0o644)
		args := []string{"-x", "hip", "--offload-arch=gfx1151", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
			"-O3", "-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-mcode-object-version=5"}
		if u.WaveSize == 64 {
			args = append(args, "-mwavefrontsize64")
		}
		o.path = base + ".co"
		cmd = exec.Command("clang-19", append(args, base+".hip", "-o", o.path)...)
	} else {
		os.WriteFile(base+".cpp", codegen.HostProgram(u), 0o644)
		cmd = exec.Command("clang++-19", "-O1", "-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-w", base+".cpp", "-o", o.path, "-lm")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %.2000s", err, out)
	}
	d.done[k] = o
	return o, nil
}

func (d *emitted) Launch(_ context.Context, k *kernel.Kernel, g kernel.Geometry, args []loomexec.Arg) (*loomexec.Report, error) {
	o, err := d.object(k)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.runs++
	n := d.runs
	d.mu.Unlock()
	for _, c := range g.Count {
		if c == 0 {
			return nil, nil
		}
	}
	if d.emu {
		return nil, d.emulate(o, n, g, abiArgs(o.u, args))
	}
	return nil, d.host(o, g, abiArgs(o.u, args))
}

func (d *emitted) host(o *object, g kernel.Geometry, args []loomexec.Arg) error {
	var in bytes.Buffer
	for _, c := range g.Count {
		binary.Write(&in, binary.LittleEndian, uint32(c))
	}
	for i, a := range args {
		raw := a.Buffer
		if !a.IsBuffer {
			raw = make([]byte, 8)
			binary.LittleEndian.PutUint64(raw, a.Bits)
			raw = raw[:o.u.ABI.Args[i].Size]
		}
		binary.Write(&in, binary.LittleEndian, uint32(len(raw)))
		in.Write(raw)
	}
	cmd := exec.Command(o.path, "0")
	cmd.Stdin = &in
	raw, err := cmd.Output()
	if err != nil {
		return err
	}
	for _, a := range args {
		if a.IsBuffer {
			copy(a.Buffer, raw)
			raw = raw[len(a.Buffer):]
		}
	}
	return nil
}

func (d *emitted) emulate(o *object, n int, g kernel.Geometry, args []loomexec.Arg) error {
	job := map[string]any{"co": o.path, "kernel": o.u.Symbol, "grid": g.Count, "block": o.u.WorkgroupSize}
	for k, v := range d.keys {
		job[k] = v
	}
	var list []map[string]any
	paths := make([]string, len(args))
	for i, a := range args {
		if !a.IsBuffer {
			list = append(list, map[string]any{map[int]string{4: "u32", 8: "u64"}[o.u.ABI.Args[i].Size]: a.Bits})
			continue
		}
		paths[i] = filepath.Join(d.dir, fmt.Sprintf("run%d_%d.bin", n, i))
		if err := os.WriteFile(paths[i], a.Buffer, 0o644); err != nil {
			return err
		}
		arg := map[string]any{"buffer": paths[i]}
		if o.u.ABI.Args[i].Access&kernel.Write == 0 {
			arg["ro"] = 1
		}
		list = append(list, arg)
	}
	job["args"] = list
	text, _ := json.Marshal(job)
	jp := filepath.Join(d.dir, fmt.Sprintf("run%d.json", n))
	if err := os.WriteFile(jp, text, 0o644); err != nil {
		return err
	}
	if out, err := exec.Command("python3", emulator(), jp).CombinedOutput(); err != nil {
		return fmt.Errorf("emulator: %w: %.1500s", err, out)
	}
	for i, a := range args {
		if a.IsBuffer {
			raw, err := os.ReadFile(paths[i])
			if err != nil {
				return err
			}
			copy(a.Buffer, raw)
			os.Remove(paths[i])
		}
	}
	return nil
}

// linked closes kernels on demand, for gfx1151 unless another processor is named.
type linked struct {
	x         *linker.Index
	processor string
	done      map[string]*kernel.Kernel
}

func (l *linked) Kernel(symbol string) (*kernel.Kernel, diag.List) {
	if k := l.done[symbol]; k != nil {
		return k, nil
	}
	ctx := context.Background()
	processor := cmp.Or(l.processor, "gfx1151")
	res, ds := linker.Link(ctx, l.x, linker.Request{Roots: []string{symbol}, Target: processor, StripCheck: true})
	if ds.HasErrors() {
		return nil, ds
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup(processor)
	}
	k, _, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	if err != nil {
		ds.Add(diag.Errorf(diag.Span{}, "TEST/ERROR", "%v", err))
	}
	l.done[symbol] = k
	return k, ds
}

// parseTree parses the .loom files below a directory.
func parseTree(t testing.TB, tree string) []*loom.Module {
	t.Helper()
	var mods []*loom.Module
	err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m, ds := parser.Parse(diag.NewSource(filepath.ToSlash(path), string(text)))
		if ds = append(ds, m.Load()...); ds.HasErrors() {
			t.Errorf("%s", diag.Text(ds))
			return nil
		}
		mods = append(mods, m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return mods
}

func casesOf(m *loom.Module) (out []*loom.Def) {
	for _, d := range m.Defs {
		if d.Kind == loom.DefCheckCase {
			out = append(out, d)
		}
	}
	return out
}

// indexFor links a file of cases against the files without any.
func indexFor(mods []*loom.Module, i int) *linker.Index {
	sources := []linker.Source{{Mod: mods[i], Role: linker.Primary}}
	for j, l := range mods {
		if i != j && casesOf(l) == nil {
			sources = append(sources, linker.Source{Mod: l, Role: linker.Library})
		}
	}
	return linker.NewIndex(sources)
}

// TestMatrixChecks runs the cases of the bundled matrix kernels on the text
// generated for processors whose tiles have other lanes than those of gfx1151,
// compiled for the host.
func TestMatrixChecks(t *testing.T) {
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("clang++-19 is not installed")
	}
	if testing.Short() {
		t.Skip("compiles every kernel of the cases")
	}
	mods := parseTree(t, "../corpus/kernels")
	for _, processor := range []string{"gfx1201", "gfx942"} {
		d := &emitted{t: t, dir: t.TempDir(), done: map[*kernel.Kernel]*object{}}
		for i, m := range mods {
			if base := filepath.Base(m.Source.Name); !strings.HasPrefix(base, "mul_mat") && !strings.HasPrefix(base, "flash_attention") {
				continue
			}
			p := &linked{x: indexFor(mods, i), processor: processor, done: map[string]*kernel.Kernel{}}
			for _, c := range casesOf(m) {
				r, err := check.Run(context.Background(), c, p, check.Options{Device: d})
				if err != nil {
					t.Fatal(err)
				}
				if s := check.Summarize([]*check.CaseResult{r}); s.Failed+s.Errors > 0 {
					var b strings.Builder
					check.WriteText(&b, []*check.CaseResult{r}, check.ShowCases)
					t.Errorf("%s: @%s:\n%.3000s", processor, c.Name, b.String())
				}
			}
		}
		t.Logf("%s: %d kernels, %d launches", processor, len(d.done), d.runs)
		if d.runs == 0 {
			t.Errorf("%s: no case ran", processor)
		}
	}
}

// TestBundledChecks runs every case of the bundled corpus, or of the tree in
// LOOMC_TEST_TREE, on generated code: on the host, and on the emulator with waves
// in random order where one is configured.
func TestBundledChecks(t *testing.T) {
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("clang++-19 is not installed")
	}
	tree := os.Getenv("LOOMC_TEST_TREE")
	if tree == "" {
		tree = "../corpus/kernels"
	}
	mods := parseTree(t, tree)
	devices := []*emitted{{t: t, dir: t.TempDir(), done: map[*kernel.Kernel]*object{}}}
	if emulator() != "" {
		devices = append(devices, &emitted{t: t, emu: true, dir: t.TempDir(), done: map[*kernel.Kernel]*object{},
			keys: map[string]any{"order": "random", "quantum": 7, "seed": 1}})
	}
	ran := 0
	for i, m := range mods {
		cs := casesOf(m)
		if cs == nil {
			continue
		}
		p := &linked{x: indexFor(mods, i), done: map[string]*kernel.Kernel{}}
		for _, c := range cs {
			for _, d := range devices {
				r, err := check.Run(context.Background(), c, p, check.Options{Device: d})
				if err != nil {
					t.Fatal(err)
				}
				ran++
				var b strings.Builder
				check.WriteText(&b, []*check.CaseResult{r}, check.ShowCases)
				if s := check.Summarize([]*check.CaseResult{r}); s.Failed+s.Errors > 0 {
					t.Errorf("%s: @%s:\n%.3000s", d.Name(), c.Name, b.String())
				}
			}
		}
	}
	for _, d := range devices {
		t.Logf("%s: %d kernels, %d launches", d.Name(), len(d.done), d.runs)
	}
	if ran == 0 {
		t.Skip("no cases")
	}
}
