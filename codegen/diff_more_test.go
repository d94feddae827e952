package codegen_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// moreCases are structural ops in their less common forms.
var moreCases = []vcase{
	{name: "dense sub-views", in: loom.I32, out: loom.I32, n: 1024, groups: 1, items: 64, body: `
  %m = buffer.view %pa[%base] : buffer -> view<32x32xi32>
  %eight = index.constant 8 : index
  %r = index.div %t, %eight : index
  %c = index.rem %t, %eight : index
  %s = view.subview %m[%r, %c] : view<32x32xi32> -> view<4x4xi32>
  %v = view.load %s[3, 2] : view<4x4xi32> -> i32
  %f = view.refine %s : view<4x4xi32> -> view<4x2xi32>
  %w = view.load %f[1, 1] : view<4x2xi32> -> i32
  %x = scalar.subi %v, %w : i32
  view.store %x, %o[%t] : i32, VOUT`},
	{name: "an allocation of bounded length, and its length", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[0] : VIN -> i32
  %k = scalar.constant 63 : i32
  %x = scalar.andi %v, %k : i32
  %xi = index.cast %x : i32 to index
  %c256 = index.constant 256 : index
  %four = index.constant 4 : index
  %b0 = index.madd %xi, %four, %c256 : index
  %b = index.assume %b0 [range(%b0, 256, 512), mul(%b0, 4)] : index
  %mem = buffer.alloca<workgroup> align(16) %b : buffer
  %lv = buffer.view %mem[%base] : buffer -> view<64xi32>
  %y = view.load %a[%i] : VIN -> i32
  view.store %y, %lv[%t] : i32, view<64xi32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %n = buffer.length %mem : offset
  %ni = index.cast %n : offset to index
  %n32 = index.cast %ni : index to i32
  %c63 = index.constant 63 : index
  %rev = index.sub %c63, %t : index
  %z = view.load %lv[%rev] : view<64xi32> -> i32
  %s = scalar.addi %z, %n32 : i32
  view.store %s, %o[%i] : i32, VOUT`},
	{name: "packed ranges", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  %k = scalar.constant 1048575 : i32
  %x = scalar.andi %v, %k : i32
  %n = index.cast %x : i32 to offset
  %m = index.constant 7 : offset
  %total, %p0, %p1, %p2 = buffer.pack [align(16) %n, align(256) %m, align(4) %n] : offset
  %t0 = index.cast %total : offset to i32
  %t1 = index.cast %p0 : offset to i32
  %t2 = index.cast %p1 : offset to i32
  %t3 = index.cast %p2 : offset to i32
  %vec = vector.from_elements %t0, %t1, %t2, %t3 : vector<4xi32>
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  vector.store %vec, %o[%p] : vector<4xi32>, VOUT`},
	{name: "lookup of several results", in: loom.I32, out: loom.I32, n: 512, groups: 2, items: 64, body: `
  %five = index.constant 5 : index
  %k = index.rem %t, %five : index
  %v = view.load %a[%i] : VIN -> i32
  %c1 = scalar.constant 17 : i32
  %c2 = scalar.constant -4 : i32
  %x, %y = scf.lookup %k {0 = (%v, %c1), 3 = (%c2, %v)} default(%c1, %c2) : i32, i32
  %vec = vector.from_elements %x, %y : vector<2xi32>
  %two = index.constant 2 : index
  %p = index.mul %i, %two : index
  vector.store %vec, %o[%p] : vector<2xi32>, VOUT`},
	{name: "loop over a 64-bit range", in: loom.I64, out: loom.I64, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i64
  %lo = index.constant 4294967290 : index
  %hi = index.constant 4294967310 : index
  %st = index.constant 3 : index
  %r = scf.for %j = [%lo to %hi step %st](%x = %v : i64) -> (i64) {
    %ji = index.cast %j : index to i64
    %y = scalar.xori %x, %ji : i64
    %n = scalar.muli %y, %ji : i64
    scf.yield %n : i64
  }
  view.store %r, %o[%i] : i64, VOUT`},
	{name: "masks in memory and as bits", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %mem = index.constant 2048 : index
  %l = buffer.alloca<workgroup> align(16) %mem : buffer
  %lv = buffer.view %l[%base] : buffer -> view<2048xi1>
  %eight = index.constant 8 : index
  %p = index.mul %t, %eight : index
  %v = view.load %a[%i] : VIN -> i32
  %b = scalar.trunci %v : i32 to i8
  %s = vector.splat %b : vector<1xi8>
  %m = vector.bitcast %s : vector<1xi8> to vector<8xi1>
  vector.store %m, %lv[%p] : vector<8xi1>, view<2048xi1>
  %w = vector.load %lv[%p] : view<2048xi1> -> vector<8xi1>
  %n = vector.shuffle<[7, 6, 5, 4, 3, 2, 1, 0]> %w : vector<8xi1>
  %q = vector.bitcast %n : vector<8xi1> to vector<1xi8>
  %e = vector.extract %q[0] : vector<1xi8> -> i8
  %x = scalar.extui %e : i8 to i32
  view.store %x, %o[%i] : i32, VOUT`},
}

func TestMoreStructuralOps(t *testing.T) { runCases(t, moreCases, allProcessors...) }

// TestClusterGather gathers under the mask of a cluster, which holds one workgroup.
func TestClusterGather(t *testing.T) {
	const body = `
  %bytes = index.constant 1024 : index
  %lds = buffer.alloca<workgroup> align(16) %bytes : buffer
  %k16 = index.constant 16 : index
  %p = index.mul %i, %k16 : index
  %po0 = index.cast %p : index to offset
  %src = buffer.view %pa[%po0] : buffer -> view<16xi8>
  %wave = kernel.subgroup.id : index
  %k512 = index.constant 512 : index
  %wb = index.mul %wave, %k512 : index
  %wo = index.cast %wb : index to offset
  %dst = buffer.view %lds[%wo] : buffer -> view<32x16xi8>
  %mask = scalar.constant 5 : i32
  %c = OP -> kernel.async.token
  %gr = kernel.async.group %c : kernel.async.token -> kernel.async.group
  kernel.async.wait %gr {newer_groups = 0} : kernel.async.group
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %k = index.constant 37 : index
  %s = index.add %t, %k : index
  %q = index.rem %s, %size : index
  %qp = index.mul %q, %k16 : index
  %lv = buffer.view %lds[%base] : buffer -> view<1024xi8>
  %w = vector.load %lv[%qp] : view<1024xi8> -> vector<16xi8>
  vector.store %w, %o[%p] : vector<16xi8>, view<4096xi8>`
	cluster := strings.Replace(body, "OP", "kernel.async.cluster.gather %src to %dst using %mask : view<16xi8> to view<32x16xi8>, i32", 1)
	plain := strings.Replace(body, "OP", "kernel.async.gather %src to %dst : view<16xi8> to view<32x16xi8>", 1)
	var s suite
	in := make([]byte, 4096)
	for i := range in {
		in[i] = byte(i*7 + i>>8)
	}
	s.add("cluster gather", trial{text: single(cluster, loom.I8, loom.I8, 4096, 2, 64), plain: single(plain, loom.I8, loom.I8, 4096, 2, 64), target: "gfx1151", wave: 32,
		args: []loomexec.Arg{loomexec.BufferArg(in), loomexec.BufferArg(make([]byte, 4096))}},
		[]column{{buffer: 1, n: 4096, kind: loom.I8, name: "out"}}, nil)
	s.run(t)
}

// TestWindowsAtRunTimeOffsets slices along two axes, which the executor is told as
// single lanes.
func TestWindowsAtRunTimeOffsets(t *testing.T) {
	const head = `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : view<1024xi32> -> vector<8xi32>
  %x0 = vector.extract %x[0] : vector<8xi32> -> i32
  %x1 = vector.extract %x[1] : vector<8xi32> -> i32
  %x2 = vector.extract %x[2] : vector<8xi32> -> i32
  %x3 = vector.extract %x[3] : vector<8xi32> -> i32
  %x4 = vector.extract %x[4] : vector<8xi32> -> i32
  %x5 = vector.extract %x[5] : vector<8xi32> -> i32
  %q = vector.from_elements %x0, %x1, %x2, %x3, %x4, %x5, %x5, %x1, %x3, %x0, %x2, %x4 : vector<QxI>
  %two = index.constant 2 : index
  %r = index.rem %t, %two : index
  %three = index.constant 3 : index
  %c = index.rem %i, %three : index
`
	const sliced = `  %w = vector.slice %q[%r, %c] : vector<3x4xi32> -> vector<2x2xi32>
  %v = vector.slice %q[1, %c] : vector<3x4xi32> -> vector<1x2xi32>
  %e0 = vector.extract %w[0, 0] : vector<2x2xi32> -> i32
  %e1 = vector.extract %w[0, 1] : vector<2x2xi32> -> i32
  %e2 = vector.extract %w[1, 0] : vector<2x2xi32> -> i32
  %e3 = vector.extract %w[1, 1] : vector<2x2xi32> -> i32
  %e4 = vector.extract %v[0, 0] : vector<1x2xi32> -> i32
  %e5 = vector.extract %v[0, 1] : vector<1x2xi32> -> i32
`
	const lanes = `  %four = index.constant 4 : index
  %one1 = index.constant 1 : index
  %five = index.constant 5 : index
  %i0 = index.madd %r, %four, %c : index
  %i1 = index.add %i0, %one1 : index
  %i2 = index.add %i0, %four : index
  %i3 = index.add %i0, %five : index
  %i4 = index.add %c, %four : index
  %i5 = index.add %c, %five : index
  %e0 = vector.extract %q[%i0] : vector<12xi32> -> i32
  %e1 = vector.extract %q[%i1] : vector<12xi32> -> i32
  %e2 = vector.extract %q[%i2] : vector<12xi32> -> i32
  %e3 = vector.extract %q[%i3] : vector<12xi32> -> i32
  %e4 = vector.extract %q[%i4] : vector<12xi32> -> i32
  %e5 = vector.extract %q[%i5] : vector<12xi32> -> i32
`
	const tail = `  %z = vector.from_elements %e0, %e1, %e2, %e3, %e4, %e5 : vector<6xi32>
  vector.store %z, %o[%p] : vector<6xi32>, view<1024xi32>`
	var s suite
	text := func(shape, mid string) string {
		return single(strings.Replace(head, "QxI", shape, 1)+mid+tail, loom.I32, loom.I32, 1024, 2, 64)
	}
	r := rand.New(rand.NewPCG(6, 6))
	s.add("windows", trial{text: text("3x4xi32", sliced), plain: text("12xi32", lanes), target: "gfx1151", wave: 32,
		args: []loomexec.Arg{loomexec.BufferArg(random(r, loom.I32, 1024)), loomexec.BufferArg(make([]byte, 4096))}},
		[]column{{buffer: 1, n: 1024, kind: loom.I32, name: "out"}}, nil)
	s.run(t)
	s.compileFor(t, allProcessors...)
}
