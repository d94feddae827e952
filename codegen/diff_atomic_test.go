package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// TestNarrowAtomics lets neighbouring items change neighbouring bytes of the same
// words, in global and in workgroup memory, and compares what they saw.
func TestNarrowAtomics(t *testing.T) {
	var s suite
	for _, k := range []loom.Kind{loom.I1, loom.I8, loom.I16, loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16} {
		var kinds []string
		for _, a := range loom.Enums["akind"] {
			if k.IsFloat() == strings.HasSuffix(a, "f") && (k != loom.I1 || strings.Contains("xchgi andi ori xori", a)) {
				kinds = append(kinds, a)
			}
		}
		const items, groups = 64, 2
		cols := 2*len(kinds) + 4
		var b strings.Builder
		view := fmt.Sprintf("view<%dx%dx%s>", cols, items*groups, k)
		fmt.Fprintf(&b, "  %%av = buffer.view %%pa[%%base] : buffer -> view<2x%dx%s>\n  %%ov = buffer.view %%po[%%base] : buffer -> %s\n", items*groups, k, view)
		fmt.Fprintf(&b, "  %%v = view.load %%av[0, %%i] : view<2x%dx%s> -> %s\n  %%w = view.load %%av[1, %%i] : view<2x%dx%s> -> %s\n", items*groups, k, k, items*groups, k, k)
		b.WriteString("  %bytes = index.constant 256 : index\n  %mem = buffer.alloca<workgroup> align(16) %bytes : buffer\n")
		fmt.Fprintf(&b, "  %%lv = buffer.view %%mem[%%base] : buffer -> view<%dx%s>\n  view.store %%w, %%lv[%%t] : %s, view<%dx%s>\n", items, k, k, items, k)
		b.WriteString("  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)\n")
		at := 1
		for i, a := range kinds {
			fmt.Fprintf(&b, "  %%g%d = view.atomic.rmw<%s> %%v, %%ov[0, %%i] {ordering = acq_rel, scope = device} : %s, %s -> %s\n", i, a, k, view, k)
			fmt.Fprintf(&b, "  view.store %%g%d, %%ov[%d, %%i] : %s, %s\n", i, at, k, view)
			fmt.Fprintf(&b, "  %%l%d = view.atomic.rmw<%s> %%v, %%lv[%%t] {ordering = relaxed, scope = workgroup} : %s, view<%dx%s> -> %s\n", i, a, k, items, k, k)
			fmt.Fprintf(&b, "  view.store %%l%d, %%ov[%d, %%i] : %s, %s\n", i, at+1, k, view)
			at += 2
		}
		fmt.Fprintf(&b, "  %%now = view.load %%ov[0, %%i] : %s -> %s\n", view, k)
		for i, expected := range []string{"%now", "%w"} {
			fmt.Fprintf(&b, "  %%x%d = view.atomic.cmpxchg %s, %%v, %%ov[0, %%i] {success_ordering = acq_rel, failure_ordering = acquire, scope = device} : %s, %s -> %s\n", i, expected, k, view, k)
			fmt.Fprintf(&b, "  view.store %%x%d, %%ov[%d, %%i] : %s, %s\n", i, at+i, k, view)
		}
		if k.IsInt() && k != loom.I1 { // all items on one element
			fmt.Fprintf(&b, "  view.atomic.reduce<addi> %%v, %%ov[%d, 5] {ordering = relaxed, scope = device} : %s, %s\n", at+2, k, view)
			fmt.Fprintf(&b, "  view.atomic.reduce<minsi> %%v, %%ov[%d, 6] {ordering = relaxed, scope = device} : %s, %s\n", at+2, k, view)
			fmt.Fprintf(&b, "  view.atomic.reduce<maxui> %%v, %%ov[%d, 7] {ordering = relaxed, scope = device} : %s, %s\n", at+2, k, view)
			fmt.Fprintf(&b, "  view.atomic.reduce<xori> %%v, %%ov[%d, 9] {ordering = relaxed, scope = device} : %s, %s\n", at+2, k, view)
		}
		n := cols * items * groups
		text := single(b.String(), k, k, n, groups, items)
		r := rand.New(rand.NewPCG(3, uint64(k)))
		in := random(r, k, 2*items*groups)
		if k == loom.I1 {
			for i := range in {
				in[i] &= 1
			}
		}
		in = append(in, make([]byte, n*k.Bytes()-len(in))...)
		tr := trial{text: text, target: "gfx1151", wave: 32, args: []loomexec.Arg{loomexec.BufferArg(in), loomexec.BufferArg(make([]byte, n*k.Bytes()))}}
		ulp := 0.0
		if k.IsFloat() {
			ulp = 0.25 // equal zeros may differ in sign
		}
		s.add(k.String(), tr, []column{{buffer: 1, n: n, kind: k, ulp: ulp, name: "out"}}, map[string]any{"order": "random", "quantum": 3, "seed": 1})
	}
	s.run(t)
	s.compileFor(t, allProcessors...)
}
