package codegen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// TestEmitTree emits every kernel of the .loom files below LOOMC_TEST_TREE (default:
// the bundled corpus, its tests included) for each target of LOOMC_TEST_TARGETS
// (default: one of every family), compiles the text with clang where one is
// installed, and prints one line per kernel. With LOOMC_TEST_OUT the texts and
// objects are kept there.
func TestEmitTree(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every kernel of a tree")
	}
	t.Parallel()
	tree := os.Getenv("LOOMC_TEST_TREE")
	if tree == "" {
		tree = "../corpus/kernels"
	}
	files, libraries := treeSources(t, tree)
	targets := strings.Fields(os.Getenv("LOOMC_TEST_TARGETS"))
	if len(targets) == 0 {
		targets = []string{"gfx1151", "gfx1100", "gfx1201", "gfx942"}
	}
	out := os.Getenv("LOOMC_TEST_OUT")
	if out == "" {
		out = t.TempDir()
	}
	only := os.Getenv("LOOMC_TEST_ONLY")
	literals := catalogLiterals(t, os.Getenv("LOOMC_TEST_CATALOG"))
	clang, _ := exec.LookPath("clang-19")
	ok, all := 0, 0
	for _, f := range files {
		x := linker.NewIndex(append([]linker.Source{f}, libraries...))
		for _, d := range f.Mod.Defs {
			if d.Kind != loom.DefKernel || only != "" && !strings.Contains(f.Mod.Source.Name+"@"+d.Name, only) {
				continue
			}
			for _, tg := range targets {
				all++
				rel := f.Mod.Source.Name
				k, err := closeKernel(x, d.Name, tg, literals, rel)
				if err != nil {
					t.Errorf("%s @%s %s: %v", rel, d.Name, tg, err)
					continue
				}
				start := time.Now()
				u, ds := codegen.Emit(k, codegen.Options{Line: os.Getenv("LOOMC_TEST_LINE") != "", Tool: "loomc test"})
				took := time.Since(start)
				if ds.HasErrors() {
					t.Errorf("%s @%s %s: emit:\n%s", rel, d.Name, tg, diag.Text(ds))
					continue
				}
				base := filepath.Join(out, strings.NewReplacer("/", "_", ".loom", "").Replace(rel)+"."+d.Name+"."+tg)
				if err := os.WriteFile(base+".hip", u.Source, 0o644); err != nil {
					t.Fatal(err)
				}
				os.WriteFile(base+".loom", loom.PrintDef(k.Def), 0o644)
				stat := ""
				if clang != "" {
					stat, err = compile(clang, base, tg, u.WaveSize)
					if err != nil {
						t.Errorf("%s @%s %s: %v", rel, d.Name, tg, err)
						continue
					}
				}
				ok++
				t.Logf("%-70s %-8s emit %6.2fms lds %6d %s", rel+"@"+d.Name, tg, float64(took.Microseconds())/1000, u.LocalBytes, stat)
			}
		}
	}
	t.Logf("%d of %d", ok, all)
}

// treeSources parses the files below a directory: those with kernels, and the
// libraries they may use.
func treeSources(t *testing.T, tree string) (files, libraries []linker.Source) {
	t.Helper()
	err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(tree, path)
		m, ds := parser.Parse(diag.NewSource(rel, string(text)))
		if ds = append(ds, m.Load()...); ds.HasErrors() {
			t.Logf("%s does not parse", rel)
			return nil
		}
		library := true
		for _, d := range m.Defs {
			library = library && d.Kind != loom.DefKernel && d.Kind != loom.DefCheckCase && d.Kind != loom.DefConfigDef
		}
		if library {
			libraries = append(libraries, linker.Source{Mod: m, Role: linker.Library})
		} else {
			files = append(files, linker.Source{Mod: m, Role: linker.Primary})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, libraries
}

// compile checks that clang takes the text and reads what the assembler says
// about it.
func compile(clang, base, arch string, wave int) (string, error) {
	args := []string{"-x", "hip", "--offload-arch=" + arch, "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
		"-O3", "-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-mcode-object-version=5"}
	if wave == 64 && !strings.HasPrefix(arch, "gfx9") {
		args = append(args, "-mwavefrontsize64")
	}
	args = append(args, base+".hip", "-S", "-o", base+".s")
	if text, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("clang: %w\n%.3000s", err, text)
	}
	asm, err := os.ReadFile(base + ".s")
	if err != nil {
		return "", err
	}
	n := 0
	for _, l := range strings.Split(string(asm), "\n") {
		if len(l) > 1 && l[0] == '\t' && l[1] >= 'a' && l[1] <= 'z' && !strings.HasPrefix(l, "\ts_code_end") {
			n++
		}
	}
	get := func(name string) string {
		m := regexp.MustCompile(`(?m)^; ` + name + `: (\S+)`).FindSubmatch(asm)
		if m == nil {
			return "?"
		}
		return string(m[1])
	}
	if s := get("ScratchSize"); s != "0" {
		return "", fmt.Errorf("%s bytes of scratch per lane", s)
	}
	if m := regexp.MustCompile(`\.(vgpr|sgpr)_spill_count: +([1-9]\d*)`).Find(asm); m != nil {
		return "", fmt.Errorf("spills: %s", m)
	}
	return fmt.Sprintf("instr %5d vgpr %3s sgpr %3s", n, get("NumVgprs"), get("NumSgprs")), nil
}

// closeKernel links and specialises one kernel. Config values come from the
// catalog, else from what the declaration allows nearest to LOOMC_TEST_NEAR (1024).
func closeKernel(x *linker.Index, name, arch string, literals map[string]string, rel string) (*kernel.Kernel, error) {
	ctx := context.Background()
	req := linker.Request{Roots: []string{name}, Target: arch, StripCheck: true}
	first, _ := linker.Link(ctx, x, req)
	for _, c := range first.Configs {
		text := literals[rel+" "+c.Key]
		if text == "" && c.Integer {
			allowed := c.Allowed
			for _, p := range c.Promises {
				if p.Exact {
					allowed = allowed.Intersect(p.Set)
				}
			}
			want := int64(1024)
			if n, err := strconv.ParseInt(os.Getenv("LOOMC_TEST_NEAR"), 10, 64); err == nil {
				want = n
			}
			text = fmt.Sprint(want)
			if near := allowed.Nearest(want); len(near) > 0 {
				text = fmt.Sprint(near[0])
			}
		}
		if text == "" {
			text = "1.0"
		}
		req.Config = append(req.Config, linker.Binding{Key: c.Key, Text: text})
	}
	res, ds := linker.Link(ctx, x, req)
	if len(res.Roots) == 0 || res.Roots[0].Def == nil {
		return nil, fmt.Errorf("link:\n%s", diag.Text(ds))
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup(arch)
	}
	if ds.HasErrors() && !onlyTarget(ds) {
		return nil, fmt.Errorf("link:\n%s", diag.Text(ds))
	}
	k, _, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	if err != nil {
		return nil, err
	}
	if ds.HasErrors() {
		return nil, fmt.Errorf("specialise:\n%s", diag.Text(ds))
	}
	return k, nil
}

func onlyTarget(ds diag.List) bool {
	for _, d := range ds {
		if d.Severity == diag.Error && !strings.HasPrefix(d.Code, "TARGET/") {
			return false
		}
	}
	return true
}

func catalogLiterals(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	if dir == "" {
		return out
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var route struct {
			Kernel struct{ Path string }
			Config struct {
				Bindings []struct{ Key, Value string }
			}
		}
		if json.Unmarshal(text, &route) == nil {
			for _, b := range route.Config.Bindings {
				if b.Value != "" {
					out[route.Kernel.Path+" "+strings.TrimPrefix(b.Key, "@")] = b.Value
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
