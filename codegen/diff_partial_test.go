package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// partialCases exercise lanes that are missing: the last wave of a workgroup that
// does not fill it, and lanes masked off by nested control flow.
var partialCases = []vcase{
	{name: "scans in a partial wave", in: loom.I32, out: loom.I32, n: 512, groups: 2, items: 44, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %s0 = kernel.subgroup.scan<addi> %v {direction = forward, mode = inclusive} : i32
  %s1 = kernel.subgroup.scan<maxsi> %v {direction = forward, mode = exclusive} : i32
  %s2 = kernel.subgroup.scan<minsi> %v {direction = forward, mode = exclusive, cluster_size = 16} : i32
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %s3 = kernel.subgroup.reduce<minui> %v {cluster_size = 8} : i32
  %vec = vector.from_elements %s0, %s1, %s2, %s3 : vector<4xi32>
  vector.store %vec, %o[%p] : vector<4xi32>, VOUT`},
	{name: "shuffle flags in a partial wave", in: loom.I32, out: loom.I32, n: 512, groups: 2, items: 44, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %off = scalar.constant 9 : i32
  %wid = scalar.constant 32 : i32
  %z = scalar.constant 0 : i32
  %d, %dv = kernel.subgroup.shuffle<down> %v, %off, %wid : i32, i32, i32
  %u, %uv = kernel.subgroup.shuffle<up> %v, %off, %wid : i32, i32, i32
  %x, %xv = kernel.subgroup.shuffle<xor> %v, %off, %wid : i32, i32, i32
  %ds = scf.select %dv, %d, %z : i32
  %us = scf.select %uv, %u, %z : i32
  %xs = scf.select %xv, %x, %z : i32
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %vec = vector.from_elements %ds, %us, %xs, %v : vector<4xi32>
  vector.store %vec, %o[%p] : vector<4xi32>, VOUT`},
	{name: "loops that lanes leave at different trips", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 50, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %zero = index.constant 0 : index
  %one = index.constant 1 : index
  %five = index.constant 5 : index
  %three = index.constant 3 : index
  %two = index.constant 2 : index
  %h = index.rem %t, %five : index
  %r = scf.for %j = [%zero to %h step %one](%x = %v : i32) -> (i32) {
    %k = index.rem %j, %two : index
    %odd = index.cmp eq, %k, %one : index
    %y = scf.if %odd -> (i32) {
      %q = scf.for %l = [%j to %three step %one](%b = %x : i32) -> (i32) {
        %li = index.cast %l : index to i32
        %m = scalar.muli %b, %b : i32
        %n = scalar.addi %m, %li : i32
        scf.yield %n : i32
      }
      scf.yield %q : i32
    } else {
      %m = scalar.negi %x : i32
      scf.yield %m : i32
    }
    scf.yield %y : i32
  }
  view.store %r, %o[%i] : i32, VOUT`},
	{name: "several workgroup allocations", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 48, wave64: true, body: `
  %b1 = index.constant 192 : index
  %b2 = index.constant 48 : index
  %l1 = buffer.alloca<workgroup> align(16) %b1 : buffer
  %l2 = buffer.alloca<workgroup> align(4) %b2 : buffer
  %v1 = buffer.view %l1[%base] : buffer -> view<48xi32>
  %v2 = buffer.view %l2[%base] : buffer -> view<48xi8>
  %v = view.load %a[%i] : VIN -> i32
  %n8 = scalar.trunci %v : i32 to i8
  view.store %v, %v1[%t] : i32, view<48xi32>
  view.store %n8, %v2[%t] : i8, view<48xi8>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %k = index.constant 47 : index
  %q = index.sub %k, %t : index
  %x = view.load %v1[%q] : view<48xi32> -> i32
  %y = view.load %v2[%q] : view<48xi8> -> i8
  %ys = scalar.extsi %y : i8 to i32
  %w = scalar.xori %x, %ys : i32
  view.store %w, %o[%i] : i32, VOUT`},
	{name: "clusters cut short, with and without a stride", in: loom.I32, out: loom.I32, n: 512, groups: 2, items: 41, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %x = kernel.subgroup.reduce<maxsi> %v {cluster_size = 4, cluster_stride = 4} : i32
  %y = kernel.subgroup.reduce<addi> %v {cluster_size = 16} : i32
  %z = kernel.subgroup.scan<addi> %v {direction = forward, mode = inclusive, cluster_size = 4, cluster_stride = 2} : i32
  %w = kernel.workgroup.reduce<minsi> %v : i32
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %vec = vector.from_elements %x, %y, %z, %w : vector<4xi32>
  vector.store %vec, %o[%p] : vector<4xi32>, VOUT`},
	{name: "votes and matches in a partial wave", in: loom.I32, out: loom.I64, n: 512, groups: 2, items: 44, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %k3 = scalar.constant 3 : i32
  %low = scalar.andi %v, %k3 : i32
  %same = kernel.subgroup.match.any %low : i32 -> i64
  %mall, %eq = kernel.subgroup.match.all %k3 : i32 -> i64, i1
  %all = kernel.subgroup.vote.all %eq : i1
  %act = kernel.subgroup.active.mask : i64
  %e64 = scalar.extui %all : i1 to i64
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %vec = vector.from_elements %same, %mall, %act, %e64 : vector<4xi64>
  vector.store %vec, %o[%p] : vector<4xi64>, VOUT`},
}

// TestPartialWaves compares them on the executor, the host and the emulator.
func TestPartialWaves(t *testing.T) {
	var s suite
	for _, c := range partialCases {
		for _, w := range []int{32, 64} {
			body := strings.NewReplacer("VIN", fmt.Sprintf("view<%dx%s>", c.n, c.in), "VOUT", fmt.Sprintf("view<%dx%s>", c.n, c.out)).Replace(c.body)
			tr := trial{text: single(body, c.in, c.out, c.n, c.groups, c.items), target: "gfx1151", wave: w, args: []loomexec.Arg{
				loomexec.BufferArg(random(rand.New(rand.NewPCG(uint64(w), 9)), c.in, c.n)), loomexec.BufferArg(make([]byte, c.n*c.out.Bytes()))}}
			s.add(fmt.Sprintf("%s, wave %d", c.name, w), tr, []column{{buffer: 1, n: c.n, kind: c.out, name: "out"}},
				map[string]any{"order": "random", "quantum": 3, "seed": 5})
		}
	}
	s.run(t)
}
