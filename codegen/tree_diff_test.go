package codegen_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	loomexec "github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
)

// elements finds the element kind each binding is first viewed with.
func elements(k *kernel.Kernel) []loom.Kind {
	root := map[*loom.Value]int{}
	out := make([]loom.Kind, len(k.Bindings))
	for i, b := range k.Bindings {
		root[b.Param], out[i] = i, loom.I32
	}
	seen := make([]bool, len(out))
	k.Def.Body.Walk(func(o *loom.Op) bool {
		for i, r := range o.Results {
			at := min(i, len(o.Operands)-1)
			if at < 0 {
				continue
			}
			j, ok := root[o.Operands[at]]
			switch {
			case ok && r.Type.Kind == loom.Buffer:
				root[r] = j
			case ok && r.Type.Kind == loom.View && !seen[j]:
				out[j], seen[j] = r.Type.Elem, true
			}
		}
		return true
	})
	return out
}

// tame fills a buffer with values that keep a kernel going: moderate floats,
// integers that are small enough to be indices.
func tame(r *rand.Rand, k loom.Kind, n int) []byte {
	if k.IsFloat() {
		return small(r, k, n/k.Bytes())
	}
	out := make([]byte, n)
	for i := 0; i+k.Bytes() <= n; i += k.Bytes() {
		switch k.Bytes() {
		case 1:
			out[i] = byte(r.IntN(256))
		case 2:
			binary.LittleEndian.PutUint16(out[i:], uint16(r.IntN(0x3c00)))
		default:
			out[i] = byte(r.IntN(4))
		}
	}
	return out
}

// TestTreeAgainstExecutor runs every kernel below LOOMC_TEST_TREE that works on
// made-up data, on the executor, the host and the emulator, and compares.
func TestTreeAgainstExecutor(t *testing.T) {
	tree := os.Getenv("LOOMC_TEST_TREE")
	if tree == "" {
		t.Skip("LOOMC_TEST_TREE is not set")
	}
	files, libraries := treeSources(t, tree)
	only := os.Getenv("LOOMC_TEST_ONLY")
	literals := catalogLiterals(t, os.Getenv("LOOMC_TEST_CATALOG"))
	hosts := &emitted{t: t, dir: t.TempDir(), done: map[*kernel.Kernel]*object{}}
	emu := &emitted{t: t, emu: true, dir: t.TempDir(), done: map[*kernel.Kernel]*object{}, keys: map[string]any{"order": "random", "quantum": 9, "seed": 4}}
	ran, skipped := 0, 0
	for _, f := range files {
		x := linker.NewIndex(append([]linker.Source{f}, libraries...))
		for _, d := range f.Mod.Defs {
			name := f.Mod.Source.Name + "@" + d.Name
			if d.Kind != loom.DefKernel || only != "" && !strings.Contains(name, only) {
				continue
			}
			k, err := closeKernel(x, d.Name, "gfx1151", literals, f.Mod.Source.Name)
			if err != nil {
				t.Logf("%s: %.200v", name, err)
				skipped++
				continue
			}
			work := make([]int64, len(k.Workload))
			for i := range work {
				work[i] = 3
			}
			g, err := kernel.EvalLaunch(k, work)
			if err != nil {
				t.Logf("%s: %v", name, err)
				skipped++
				continue
			}
			for i := range g.Count {
				g.Count[i] = min(g.Count[i], 3)
			}
			p, ds := loomexec.Compile(k)
			if ds.HasErrors() {
				t.Errorf("%s: %s", name, diag.Text(ds))
				continue
			}
			kinds := elements(k)
			var args, want []loomexec.Arg
			for size := 1 << 14; ; size *= 4 {
				r := rand.New(rand.NewPCG(21, 5))
				args = nil
				b := 0
				for _, v := range k.Def.Params {
					switch {
					case v.Type.Kind == loom.Buffer:
						args = append(args, loomexec.BufferArg(tame(r, kinds[b], size)))
						b++
					case v.Type.Kind.IsFloat():
						args = append(args, loomexec.FloatArg(v.Type.Kind, 0.5))
					default:
						args = append(args, loomexec.IntArg(3))
					}
				}
				want = (trial{args: args}).copies()
				_, err = p.Run(context.Background(), loomexec.Launch{Geometry: g, Args: want, Options: loomexec.Options{Sanitize: 0}})
				if err == nil || size >= 1<<24 {
					break
				}
			}
			if err != nil {
				t.Logf("%s: not run: %.160v", name, err)
				skipped++
				continue
			}
			ran++
			devices := []*emitted{hosts}
			if emulator() != "" {
				devices = append(devices, emu)
			}
			for _, dev := range devices {
				got := (trial{args: args}).copies()
				if _, err := dev.Launch(context.Background(), k, g, got); err != nil {
					t.Errorf("%s on %s: %v", name, dev.Name(), err)
					continue
				}
				var cols []column
				b := 0
				for i, a := range got {
					if !a.IsBuffer {
						continue
					}
					kind := kinds[b]
					if !bytes.Equal(a.Buffer, want[i].Buffer) {
						cols = append(cols, column{buffer: b, n: len(a.Buffer) / kind.Bytes(), kind: kind, ulp: 64, abs: 2e-3, name: fmt.Sprintf("%%%s", k.Bindings[b].Name)})
					}
					b++
				}
				compare(t, name+" on "+dev.Name(), bufferBytes(want), bufferBytes(got), cols)
			}
		}
	}
	t.Logf("%d kernels ran, %d did not", ran, skipped)
}
