package kernel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

func load(t *testing.T, workload, config, where string) *kernel.Kernel {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("k.loom", "kernel.def @k("+workload+") {\n"+config+"\n} launch(%x: f32)"+where+" {\n  kernel.return\n}\n"))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	tg, _ := target.Lookup("gfx1151")
	return &kernel.Kernel{Def: m.Defs[0], Symbol: "k", Target: tg}
}

const one = "  %one = index.constant 1 : index\n"

func TestEvalLaunch(t *testing.T) {
	for _, c := range []struct {
		name, workload, config string
		in                     []int64
		want                   kernel.Geometry
	}{
		{"constants", "", one + "  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index",
			nil, kernel.Geometry{Count: [3]int64{1, 1, 1}, Size: [3]int64{1, 1, 1}, Cluster: [3]int64{1, 1, 1}}},
		{"ceiling", "%n: index", one + `  %wg = index.constant 256 : index
  %last = index.sub %wg, %one : index
  %up = index.add %n, %last : index
  %blocks = index.div %up, %wg : index
  kernel.launch.config workgroups(%blocks, %one, %one) workgroup_size(%wg, %one, %one) : index`,
			[]int64{1000}, kernel.Geometry{Count: [3]int64{4, 1, 1}, Size: [3]int64{256, 1, 1}, Cluster: [3]int64{1, 1, 1}}},
		{"control flow", "%n: index", one + `  %zero = index.constant 0 : index
  %ten = index.constant 10 : index
  %big = index.cmp ugt, %n, %ten : index
  %a = scf.if %big -> (index) {
    %h = index.shrui %n, %one : index
    scf.yield %h : index
  } else {
    scf.yield %n : index
  }
  %sum = scf.for %i = [%zero to %n step %one](%s = %zero : index) -> (index) {
    %t = index.add %s, %i : index
    scf.yield %t : index
  }
  %lv, %log = scf.while (%v = %n : index, %k = %zero : index) -> (index, index) {
    %more = index.cmp ugt, %v, %one : index
    scf.condition %more, %v, %k : i1, index, index
  } do (%v2: index, %k2: index) {
    %v3 = index.shrui %v2, %one : index
    %k3 = index.add %k2, %one : index
    scf.yield %v3, %k3 : index, index
  }
  %two = index.constant 2 : index
  kernel.launch.config workgroups(%a, %sum, %one) workgroup_size(%two, %one, %one) cluster_size(%two, %one, %one) : index`,
			[]int64{20}, kernel.Geometry{Count: [3]int64{10, 190, 1}, Size: [3]int64{2, 1, 1}, Cluster: [3]int64{2, 1, 1}}},
		{"scalars", "%n: index", one + `  %i = index.cast %n : index to i32
  %c = scalar.constant 3 : i32
  %d = scalar.ceildivui %i, %c : i32
  %f = scalar.sitofp %d : i32 to f32
  %h = scalar.constant 0.5 : f32
  %p = scalar.mulf %f, %h : f32
  %r = scalar.ceilf %p : f32
  %q = scalar.fptosi %r : f32 to i32
  %x = index.cast %q : i32 to index
  %s = scf.lookup %x { 2 = (%n), 3 = (%one) } default(%x) : index
  kernel.launch.config workgroups(%x, %s, %one) workgroup_size(%one, %one, %one) : index`,
			[]int64{10}, kernel.Geometry{Count: [3]int64{2, 10, 1}, Size: [3]int64{1, 1, 1}, Cluster: [3]int64{1, 1, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := kernel.EvalLaunch(load(t, c.workload, c.config, ""), c.in)
			if err != nil {
				t.Fatal(err)
			}
			if g != c.want {
				t.Errorf("got %+v, want %+v", g, c.want)
			}
		})
	}
}

func TestEvalLaunchFails(t *testing.T) {
	end := func(count, size string) string {
		return "  kernel.launch.config workgroups(" + count + ", %one, %one) workgroup_size(" + size + ", %one, %one) : index"
	}
	for _, c := range []struct {
		name, workload, config string
		in                     []int64
		code, says             string
	}{
		{"too few", "%n: index, %m: index", one + end("%n", "%one"), []int64{1}, "LAUNCH/WORKLOAD", "takes 2 workload values (n, m), got 1"},
		{"assume", "%n: index", one + "  %a = index.assume %n [range(%n, 1, 8)] : index\n" + end("%a", "%one"), []int64{9}, "LAUNCH/PREDICATE", "promises range(%n, 1, 8), got %n = 9"},
		{"division", "%n: index", one + "  %a = index.div %one, %n : index\n" + end("%a", "%one"), []int64{0}, "LAUNCH/UNDEFINED", "index.div of 1 and 0"},
		{"negative", "%n: index", one + end("%n", "%one"), []int64{-3}, "LAUNCH/RANGE", "computes -3 workgroups along x"},
		{"empty group", "%n: index", one + end("%one", "%n"), []int64{0}, "LAUNCH/RANGE", "computes 0 work items along x"},
		{"axis", "%n: index", one + end("%one", "%n"), []int64{2000}, "TARGET/024", "computes 2000 work items along x, gfx1151 allows 1024"},
		{"grid", "%n: index", one + end("%n", "%one"), []int64{1 << 40}, "LAUNCH/RANGE", "gfx1151 allows 2147483647"},
		{"endless", "%n: index", one + `  %r = scf.while (%v = %n : index) -> (index) {
    %more = index.cmp uge, %v, %one : index
    scf.condition %more, %v : i1, index
  } do (%w: index) {
    scf.yield %w : index
  }
` + end("%r", "%one"), []int64{1}, "LAUNCH/STEPS", "does not end"},
		{"op", "%n: index", one + "  %b = kernel.workgroup.id<x> : index\n" + end("%b", "%one"), []int64{1}, "LAUNCH/OP", "'kernel.workgroup.id' cannot be evaluated"},
		{"step", "%n: index", one + "  scf.for %i = [%one to %one step %n] {\n    scf.yield\n  }\n" + end("%one", "%one"), []int64{0}, "STRUCTURE/035", "step of the loop is 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := kernel.EvalLaunch(load(t, c.workload, c.config, ""), c.in)
			var d diag.Diagnostic
			if !errors.As(err, &d) {
				t.Fatalf("got %v, want a diagnostic", err)
			}
			if d.Code != c.code || !strings.Contains(d.Message, c.says) || !d.Span.Valid() {
				t.Errorf("got %s %q at %v, want %s … %q", d.Code, d.Message, d.Span, c.code, c.says)
			}
		})
	}
}

// TestEvalLaunchWhere: predicates about launch parameters cannot be judged by the
// workload and are left to the launch.
func TestEvalLaunchWhere(t *testing.T) {
	k := load(t, "%n: index", one+"  kernel.launch.config workgroups(%n, %one, %one) workgroup_size(%one, %one, %one) : index", " where [not_nan(%x)]")
	if _, err := kernel.EvalLaunch(k, []int64{3}); err != nil {
		t.Fatal(err)
	}
}
