package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
)

// groupOps lists every workgroup operation on values of kind k.
func groupOps(k loom.Kind) []waveOp {
	var out []waveOp
	for _, kind := range combiners(k) {
		val, exact, near := "VAL", 0.0, 0.0
		switch {
		case strings.HasSuffix(kind, "numf"):
			val, exact, near = "ODD", 0.25, 0.25
		case kind == "addf" || kind == "mulf":
			near = 64
		default:
			val = "ODD"
		}
		out = append(out, waveOp{name: "reduce " + kind, out: k, ulp: exact, text: fmt.Sprintf("RES = kernel.workgroup.reduce<%s> %s : T", kind, val)})
		if near == 64 && (k.Bits() == 8 || k == loom.BF16) {
			continue // a long sum depends on its order alone
		}
		for _, dir := range []string{"forward", "reverse"} {
			for _, mode := range []string{"inclusive", "exclusive"} {
				out = append(out, waveOp{name: fmt.Sprintf("scan %s %s %s", kind, dir, mode), out: k, ulp: near,
					text: fmt.Sprintf("RES = kernel.workgroup.scan<%s> %s {direction = %s, mode = %s} : T", kind, val, dir, mode)})
			}
		}
	}
	out = append(out, waveOp{name: "vote.any", out: loom.I1, text: "RES = kernel.workgroup.vote.any %bit0 : i1"},
		waveOp{name: "vote.all", out: loom.I1, text: "%true# = scalar.ori %bit0, %nbit0 : i1\nRES = kernel.workgroup.vote.all %true# : i1"},
		waveOp{name: "vote.all of some", out: loom.I1, text: "RES = kernel.workgroup.vote.all %bit0 : i1"},
		waveOp{name: "vote.count", out: loom.I64, text: "RES = kernel.workgroup.vote.count %bit0 : i1 -> i64"})
	return out
}

// groupShapes are control flow that all items of a workgroup share.
var groupShapes = []shape{
	{name: "straight", text: "OPS(%zero, a)"},
	{name: "a loop", text: "scf.for %j = [%zero to %three step %one] {\nOPS(%j, a)\n}"},
	{name: "a branch", text: "%odd_group = index.cmp eq, %g, %one : index\nscf.if %odd_group {\nOPS(%zero, a)\n} else {\nOPS(%one, b)\n}"},
}

var groupSizes = [][3]int{{64, 1, 1}, {40, 1, 1}, {8, 8, 1}, {100, 1, 1}, {5, 7, 1}, {256, 1, 1}, {4, 3, 5}, {33, 1, 1}, {16, 16, 1}, {1, 1, 48},
	{1024, 1, 1}, {8, 4, 4}, {16, 1, 1}, {3, 3, 3}, {520, 1, 1}, {31, 5, 1}, {2, 96, 1}, {7, 1, 9}, {500, 1, 1}}

// TestGroupMatrix compares reductions, scans and votes over workgroups of all
// shapes with the reference executor, as TestWaveMatrix does for subgroups.
func TestGroupMatrix(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("LOOMC_TEST_WAVE"))
	var s suite
	add := func(k loom.Kind, wave, turn int, size [3]int, sh shape, ops []waveOp) {
		items := size[0] * size[1] * size[2]
		text, cols := waveKernel(k, sh, ops, 2, items)
		tr := trial{text: inSpace(text, items, size), target: "gfx1151", wave: wave, args: waveData(rand.New(rand.NewPCG(uint64(turn), 3)), k, 2*items)}
		tr.args = append(tr.args, results(k, cols, items)...)
		s.add(fmt.Sprintf("%s, wave %d, %v items, %s, turn %d", k, wave, size, sh.name, turn), tr, cols,
			map[string]any{"order": "random", "quantum": 5, "seed": 1 + turn, "race": 1})
	}
	turn := 0
	for _, k := range waveKinds {
		if only := os.Getenv("LOOMC_TEST_WAVE_KIND"); only != "" && only != k.String() {
			continue
		}
		for _, w := range []int{32, 64} {
			r := rand.New(rand.NewPCG(uint64(w), uint64(k)))
			ops := groupOps(k)
			for range 2 * rounds {
				r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
				for i := 0; i < len(ops); i += 6 {
					add(k, w, turn, groupSizes[turn%len(groupSizes)], groupShapes[turn%len(groupShapes)], ops[i:min(i+6, len(ops))])
					turn++
					if len(s.trials) == 24 {
						s.run(t)
						s = suite{}
					}
				}
			}
		}
	}
	if rounds == 0 { // every workgroup, with some operations on some type
		r := rand.New(rand.NewPCG(1, 2))
		for i, size := range groupSizes {
			for _, w := range []int{32, 64} {
				k := waveKinds[(i+w/32)%8]
				ops := groupOps(k)
				r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
				add(k, w, turn, size, groupShapes[turn%len(groupShapes)], ops[:3])
				turn++
			}
		}
	}
	if len(s.trials) > 0 {
		s.run(t)
	}
}

// inSpace gives a kernel of items in a row a workgroup of three dimensions.
func inSpace(text string, items int, size [3]int) string {
	return strings.NewReplacer(
		"workgroup_size(%items, %one, %one) : index\n", "workgroup_size(%sx, %sy, %sz) : index\n",
		fmt.Sprintf("%%items = index.constant %d : index\n", items),
		fmt.Sprintf("%%sx = index.constant %d : index\n  %%sy = index.constant %d : index\n  %%sz = index.constant %d : index\n", size[0], size[1], size[2]),
		"%t = kernel.workitem.id<x> : index\n", fmt.Sprintf(`%%tx = kernel.workitem.id<x> : index
  %%ty = kernel.workitem.id<y> : index
  %%tz = kernel.workitem.id<z> : index
  %%nx = index.constant %d : index
  %%ny = index.constant %d : index
  %%three = index.constant 3 : index
  %%tzy = index.madd %%tz, %%ny, %%ty : index
  %%t = index.madd %%tzy, %%nx, %%tx : index
`, size[0], size[1]),
		"%trips = ", "%nbit0 = scalar.cmpi eq, %m0, %z32 : i32\n  %trips = ",
	).Replace(text)
}
