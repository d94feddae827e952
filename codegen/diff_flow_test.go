package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// flowCases carry views and buffers through every kind of control flow.
var flowCases = []vcase{
	{name: "view advanced by a loop", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 64, ulp: 0, body: `
  %lo = index.constant 0 : index
  %st = index.constant 1 : index
  %hi = index.constant 5 : index
  %z = scalar.constant 0.0 : f32
  %iw = index.cast %i : index to offset
  %k4 = index.constant 4 : index
  %ib = index.mul %i, %k4 : index
  %io = index.cast %ib : index to offset
  %v0 = buffer.view %pa[%io] : buffer -> view<16xf32>
  %last, %s = scf.for %j = [%lo to %hi step %st](%v = %v0 : view<16xf32>, %x = %z : f32) -> (view<16xf32>, f32) {
    %e = view.load %v[3] : view<16xf32> -> f32
    %n = scalar.addf %x, %e : f32
    %w = view.subview %v[7] : view<16xf32> -> view<16xf32>
    scf.yield %w, %n : view<16xf32>, f32
  }
  %f = view.load %last[1] : view<16xf32> -> f32
  %r = scalar.subf %s, %f : f32
  view.store %r, %o[%i] : f32, VOUT`},
	{name: "views swapped by a loop", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, wave64: true, body: `
  %bytes = index.constant 256 : index
  %la = buffer.alloca<workgroup> align(16) %bytes : buffer
  %lb = buffer.alloca<workgroup> align(16) %bytes : buffer
  %va = buffer.view %la[%base] : buffer -> view<64xi32>
  %vb = buffer.view %lb[%base] : buffer -> view<64xi32>
  %x = view.load %a[%i] : VIN -> i32
  view.store %x, %va[%t] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %lo = index.constant 0 : index
  %st = index.constant 1 : index
  %hi = index.constant 5 : index
  %k = index.constant 13 : index
  %sh = index.add %t, %k : index
  %q = index.rem %sh, %size : index
  %p1, %p2 = scf.for %j = [%lo to %hi step %st](%from = %va : view<64xi32>, %to = %vb : view<64xi32>) -> (view<64xi32>, view<64xi32>) {
    %e = view.load %from[%q] : view<64xi32> -> i32
    %ji = index.cast %j : index to i32
    %f = scalar.addi %e, %ji : i32
    view.store %f, %to[%t] : i32, view<64xi32>
    kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
    scf.yield %to, %from : view<64xi32>, view<64xi32>
  }
  %y = view.load %p1[%q] : view<64xi32> -> i32
  %w = view.load %p2[%t] : view<64xi32> -> i32
  %r = scalar.xori %y, %w : i32
  view.store %r, %o[%i] : i32, VOUT`},
	{name: "views out of if, switch, select and lookup", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %k3 = index.constant 3 : index
  %k4 = index.constant 4 : index
  %o16 = index.constant 16 : offset
  %o64 = index.constant 64 : offset
  %va = buffer.view %pa[%base] : buffer -> view<512xi32>
  %vb = buffer.view %pa[%o16] : buffer -> view<512xi32>
  %vc = buffer.view %pa[%o64] : buffer -> view<512xi32>
  %x = view.load %a[%i] : VIN -> i32
  %z = scalar.constant 0 : i32
  %neg = scalar.cmpi slt, %x, %z : i32
  %v1 = scf.if %neg -> (view<512xi32>) {
    %s = view.subview %va[%t] : view<512xi32> -> view<512xi32>
    scf.yield %s : view<512xi32>
  } else {
    scf.yield %vb : view<512xi32>
  }
  %l0 = vector.load %v1[4] : view<512xi32> -> vector<4xi32>
  %r0 = vector.reduce<addi> %l0, %z : vector<4xi32>, i32
  %sel = index.rem %t, %k4 : index
  %v2 = scf.switch %sel -> (view<512xi32>) {
    case 0 {
      scf.yield %vc : view<512xi32>
    }
    case 2 {
      scf.yield %v1 : view<512xi32>
    }
    default {
      scf.yield %va : view<512xi32>
    }
  }
  %r1 = view.load %v2[%t] : view<512xi32> -> i32
  %v3 = scf.select %neg, %v2, %vc : view<512xi32>
  %r2 = view.load %v3[9] : view<512xi32> -> i32
  %b = scf.select %neg, %po, %pa : buffer
  %v4 = buffer.view %b[%o64] : buffer -> view<64xi32>
  %r3 = view.load %v4[%t] : view<64xi32> -> i32
  %s0 = scalar.addi %r0, %r1 : i32
  %s1 = scalar.xori %r2, %r3 : i32
  %s2 = scalar.addi %s0, %s1 : i32
  %k = index.constant 512 : index
  %at = index.add %i, %k : index
  view.store %s2, %o[%at] : i32, VOUT`},
	{name: "buffers in workgroup memory out of an if", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %bytes = index.constant 256 : index
  %la = buffer.alloca<workgroup> align(16) %bytes : buffer
  %lb = buffer.alloca<workgroup> align(16) %bytes : buffer
  %va = buffer.view %la[%base] : buffer -> view<64xi32>
  %vb = buffer.view %lb[%base] : buffer -> view<64xi32>
  %x = view.load %a[%i] : VIN -> i32
  view.store %x, %va[%t] : i32, view<64xi32>
  %m = scalar.negi %x : i32
  view.store %m, %vb[%t] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %z = scalar.constant 0 : i32
  %neg = scalar.cmpi slt, %x, %z : i32
  %b = scf.if %neg -> (buffer) {
    scf.yield %la : buffer
  } else {
    scf.yield %lb : buffer
  }
  %o4 = index.constant 4 : offset
  %v = buffer.view %b[%o4] : buffer -> view<63xi32>
  %k63 = index.constant 63 : index
  %q = index.rem %t, %k63 : index
  %y = view.load %v[%q] : view<63xi32> -> i32
  view.store %y, %o[%i] : i32, VOUT`},
	{name: "view in a while loop and over labels", in: loom.I32, out: loom.I32, n: 2048, groups: 2, items: 64, body: `
  %k4 = index.constant 4 : index
  %ib = index.mul %i, %k4 : index
  %io = index.cast %ib : index to offset
  %v0 = buffer.view %pa[%io] : buffer -> view<[%size]xi32>
  %z = scalar.constant 0 : i32
  %one = scalar.constant 1 : i32
  %seven = scalar.constant 7 : i32
  %end, %n = scf.while (%v = %v0 : view<[%size]xi32>, %c = %z : i32) -> (view<[%size]xi32>, i32) {
    %x = view.load %v[0] : view<[%size]xi32> -> i32
    %big = scalar.cmpi sgt, %x, %z : i32
    %few = scalar.cmpi slt, %c, %seven : i32
    %go = scalar.andi %big, %few : i1
    scf.condition %go, %v, %c : i1, view<[%size]xi32>, i32
  } do(%w: view<[%size]xi32>, %d: i32) {
    %s = view.subview %w[2] : view<[%size]xi32> -> view<[%size]xi32>
    %e = scalar.addi %d, %one : i32
    scf.yield %s, %e : view<[%size]xi32>, i32
  }
  %x0 = view.load %end[1] : view<[%size]xi32> -> i32
  cfg.br ^loop(%v0: view<[%size]xi32>, %n: i32)
^loop(%p: view<[%size]xi32>, %k: i32):
  %more = scalar.cmpi sgt, %k, %z : i32
  cfg.cond_br %more, ^body, ^done
^body:
  %p2 = view.subview %p[3] : view<[%size]xi32> -> view<[%size]xi32>
  %k2 = scalar.subi %k, %one : i32
  cfg.br ^loop(%p2: view<[%size]xi32>, %k2: i32)
^done:
  %x1 = view.load %p[0] : view<[%size]xi32> -> i32
  %r = scalar.xori %x0, %x1 : i32
  view.store %r, %o[%i] : i32, VOUT`},
}

func runCases(t *testing.T, cases []vcase, processors ...string) {
	t.Helper()
	var s suite
	for _, c := range cases {
		waves := []int{32}
		if c.wave64 {
			waves = append(waves, 64)
		}
		for _, w := range waves {
			body := strings.NewReplacer("VIN", fmt.Sprintf("view<%dx%s>", c.n, c.in), "VOUT", fmt.Sprintf("view<%dx%s>", c.n, c.out)).Replace(c.body)
			r := rand.New(rand.NewPCG(uint64(w), 5))
			tr := trial{text: single(body, c.in, c.out, c.n, c.groups, c.items), target: "gfx1151", wave: w, args: []loomexec.Arg{
				loomexec.BufferArg(random(r, c.in, c.n)), loomexec.BufferArg(make([]byte, c.n*c.out.Bytes()))}}
			s.add(fmt.Sprintf("%s, wave %d", c.name, w), tr, []column{{buffer: 1, n: c.n, kind: c.out, ulp: c.ulp, name: "out"}},
				map[string]any{"order": "random", "quantum": 5, "seed": 3})
		}
	}
	s.run(t)
	s.compileFor(t, processors...)
}

func TestMemoryThroughControlFlow(t *testing.T) { runCases(t, flowCases, allProcessors...) }
