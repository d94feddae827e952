package codegen_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// single wraps a body into a kernel of groups × items work items with one input
// and one output buffer of the given kinds and n elements each. %i is the item's
// number in the launch, %t its number in the group, %g the group's.
func single(body string, in, out loom.Kind, n, groups, items int) string {
	return fmt.Sprintf(`kernel.def @k() {
  %%one = index.constant 1 : index
  %%groups = index.constant %[5]d : index
  %%items = index.constant %[6]d : index
  kernel.launch.config workgroups(%%groups, %%one, %%one) workgroup_size(%%items, %%one, %%one) : index
} launch(%%pa: buffer, %%po: buffer) {
  %%base = index.constant 0 : offset
  %%size = index.constant %[6]d : index
  %%g = kernel.workgroup.id<x> : index
  %%t = kernel.workitem.id<x> : index
  %%i = index.madd %%g, %%size, %%t : index
  %%a = buffer.view %%pa[%%base] : buffer -> view<%[4]dx%[2]s>
  %%o = buffer.view %%po[%%base] : buffer -> view<%[4]dx%[3]s>
%[1]s
  kernel.return
}
`, strings.TrimRight(body, "\n"), in, out, n, groups, items)
}

type vcase struct {
	name    string
	in, out loom.Kind
	n       int // elements of both buffers
	groups  int
	items   int
	body    string
	ulp     float64
	wave64  bool // also in wave64
}

// In the bodies, VIN and VOUT stand for the view types.
var vectorCases = []vcase{
	{name: "load, arithmetic and store", in: loom.F32, out: loom.F32, n: 512, groups: 2, items: 64, body: `
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %x = vector.load %a[%p] : VIN -> vector<4xf32>
  %y = vector.mulf %x, %x : vector<4xf32>
  %z = vector.addf %y, %x : vector<4xf32>
  %w = vector.maxnumf %z, %x : vector<4xf32>
  vector.store %w, %o[%p] : vector<4xf32>, VOUT`},
	{name: "shuffle, slice, concat, interleave", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xi32>
  %s = vector.shuffle<[7, 0, 2, 2, 5, 1, 6, 3]> %x : vector<8xi32>
  %lo = vector.slice %s[0] : vector<8xi32> -> vector<4xi32>
  %hi = vector.slice %s[4] : vector<8xi32> -> vector<4xi32>
  %c = vector.concat<0> %hi, %lo : vector<4xi32>, vector<4xi32> -> vector<8xi32>
  %e, %d = vector.deinterleave<0> %c : vector<8xi32> -> vector<4xi32>, vector<4xi32>
  %n = vector.interleave<0> %d, %e : vector<4xi32>, vector<4xi32> -> vector<8xi32>
  vector.store %n, %o[%p] : vector<8xi32>, VOUT`},
	{name: "two axes: transpose, broadcast, reduce.axes", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xf32>
  %m = vector.bitcast %x : vector<8xf32> to vector<8xi32>
  %f = vector.bitcast %m : vector<8xi32> to vector<8xf32>
  %x0 = vector.extract %f[0] : vector<8xf32> -> f32
  %x1 = vector.extract %f[1] : vector<8xf32> -> f32
  %x2 = vector.extract %f[2] : vector<8xf32> -> f32
  %x3 = vector.extract %f[3] : vector<8xf32> -> f32
  %x4 = vector.extract %f[4] : vector<8xf32> -> f32
  %x5 = vector.extract %f[5] : vector<8xf32> -> f32
  %q = vector.from_elements %x0, %x1, %x2, %x3, %x4, %x5 : vector<2x3xf32>
  %tr = vector.transpose<[1, 0]> %q : vector<2x3xf32> -> vector<3x2xf32>
  %row = vector.extract %tr[1] : vector<3x2xf32> -> vector<2xf32>
  %ins = vector.insert %row into %tr[2] : vector<2xf32>, vector<3x2xf32>
  %b = vector.broadcast %row : vector<2xf32> -> vector<3x2xf32>
  %sum = vector.addf %ins, %b : vector<3x2xf32>
  %zero = vector.constant 0.5 : vector<2xf32>
  %r = vector.reduce.axes<addf> %sum, %zero axes [0] : vector<3x2xf32>, vector<2xf32>
  %init = scalar.constant 1.0 : f32
  %rr = vector.reduce<mulf> %r, %init : vector<2xf32>, f32
  view.store %rr, %o[%i] : f32, VOUT`},
	{name: "dynamic extract and insert", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xi32>
  %l = index.rem %t, %eight : index
  %e = vector.extract %x[%l] : vector<8xi32> -> i32
  %k = scalar.constant 77 : i32
  %s = scalar.addi %e, %k : i32
  %y = vector.insert %s into %x[%l] : i32, vector<8xi32>
  vector.store %y, %o[%p] : vector<8xi32>, VOUT`},
	{name: "masked load and store", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %one = index.constant 1 : index
  %p = index.mul %i, %eight : index
  %h = index.rem %t, %eight : index
  %zero = index.constant 0 : index
  %m = vector.mask.range [%zero to %h step %one] : index -> vector<8xi1>
  %pass = vector.constant 3.0 : vector<8xf32>
  %x = vector.load.mask %a[%p], %m, %pass : VIN, vector<8xi1>, vector<8xf32>
  %sel = vector.select %m, %x, %pass : vector<8xf32>
  %y = vector.addf %sel, %x : vector<8xf32>
  %h2 = index.add %h, %one : index
  %m2 = vector.mask.range [%zero to %h2 step %one] : index -> vector<8xi1>
  vector.store.mask %y, %o[%p], %m2 : vector<8xf32>, VOUT, vector<8xi1>`},
	{name: "expand and compress", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xi32>
  %z = vector.constant 0 : vector<8xi32>
  %m = vector.cmpi slt, %x, %z : vector<8xi32> -> vector<8xi1>
  %e = vector.load.expand %a[%p], %m, %z : VIN, vector<8xi1>, vector<8xi32>
  %y = vector.addi %e, %x : vector<8xi32>
  vector.store.compress %y, %o[%p], %m : vector<8xi32>, VOUT, vector<8xi1>`},
	{name: "gather and scatter", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xi32>
  %seven = vector.constant 7 : vector<8xi32>
  %off = vector.andi %x, %seven : vector<8xi32>
  %y = vector.gather %a[%p][%off] : VIN, vector<8xi32> -> vector<8xi32>
  %zero = vector.constant 0 : vector<8xi32>
  %m = vector.cmpi ne, %off, %zero : vector<8xi32> -> vector<8xi1>
  %w = vector.gather.mask %a[%p][%off], %m, %x : VIN, vector<8xi32>, vector<8xi1>, vector<8xi32>
  %s = vector.xori %y, %w : vector<8xi32>
  %k7 = scalar.constant 7 : i32
  %km = scalar.constant -1 : i32
  %rev = vector.iota %k7 step %km : vector<8xi32>
  vector.scatter %s, %o[%p][%rev] : vector<8xi32>, VOUT, vector<8xi32>`},
	{name: "bit unpack and pack", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %x = vector.load %a[%p] : VIN -> vector<4xi32>
  %u = vector.bitunpacku<4> %x : vector<4xi32> -> vector<32xi8>
  %s = vector.bitunpacks<4> %x : vector<4xi32> -> vector<32xi8>
  %d = vector.addi %u, %s : vector<32xi8>
  %k = vector.bitpack<4> %d : vector<32xi8> -> vector<4xi32>
  %f5 = vector.bitunpacku<5> %x : vector<4xi32> -> vector<25xi32>
  %five = scalar.constant 0 : i32
  %sum = vector.reduce<addi> %f5, %five : vector<25xi32>, i32
  %k2 = vector.insert %sum into %k[0] : i32, vector<4xi32>
  vector.store %k2, %o[%p] : vector<4xi32>, VOUT`},
	{name: "bit fields", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 64, body: `
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %x = vector.load %a[%p] : VIN -> vector<4xi32>
  %u = vector.bitfield.extractu %x {offset = 3, width = 9} : vector<4xi32> -> vector<4xi32>
  %s = vector.bitfield.extracts %x {offset = 20, width = 7} : vector<4xi32> -> vector<4xi32>
  %y = vector.bitfield.insert %s into %u {offset = 12, width = 6} : vector<4xi32>, vector<4xi32>
  vector.store %y, %o[%p] : vector<4xi32>, VOUT`},
	{name: "table lookup", in: loom.I8, out: loom.I8, n: 2048, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xi8>
  %tab = vector.load %a[0] : VIN -> vector<16xi8>
  %m = vector.constant 15 : vector<8xi8>
  %c = vector.andi %x, %m : vector<8xi8>
  %y = vector.table.lookup %tab[%c] : vector<16xi8>, vector<8xi8> -> vector<8xi8>
  vector.store %y, %o[%p] : vector<8xi8>, VOUT`},
	{name: "table of floats", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 64, body: `
  %tab = vector.load %a[%i] : VIN -> vector<6xf32>
  %b = vector.bitcast %tab : vector<6xf32> to vector<6xi32>
  %five = vector.constant 5 : vector<6xi32>
  %c = vector.remui %b, %five : vector<6xi32>
  %y = vector.table.lookup %tab[%c] : vector<6xf32>, vector<6xi32> -> vector<6xf32>
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  vector.store %y, %o[%p] : vector<6xf32>, VOUT`},
	{name: "dot products of bytes", in: loom.I8, out: loom.I32, n: 2048, groups: 2, items: 64, body: `
  %eight = index.constant 8 : index
  %four = index.constant 4 : index
  %p = index.mul %i, %eight : index
  %x = vector.load %a[%p] : VIN -> vector<8xi8>
  %y = vector.shuffle<[3, 1, 7, 5, 0, 2, 4, 6]> %x : vector<8xi8>
  %z = vector.constant 9 : vector<2xi32>
  %r0 = vector.dot4i<s8s8> %x, %y, %z : vector<8xi8>, vector<8xi8>, vector<2xi32>
  %r1 = vector.dot4i<u8s8> %x, %y, %r0 : vector<8xi8>, vector<8xi8>, vector<2xi32>
  %r2 = vector.dot4i<s8u8> %x, %y, %r1 : vector<8xi8>, vector<8xi8>, vector<2xi32>
  %r3 = vector.dot4i<u8u8> %x, %y, %r2 : vector<8xi8>, vector<8xi8>, vector<2xi32>
  %xb = vector.bitcast %x : vector<8xi8> to vector<2xi32>
  %yb = vector.bitcast %y : vector<8xi8> to vector<2xi32>
  %r4 = vector.dot8i4<s4s4> %xb, %yb, %r3 : vector<2xi32>
  %r5 = vector.dot8i4<u4s4> %xb, %yb, %r4 : vector<2xi32>
  %r6 = vector.dot8i4<s4u4> %xb, %yb, %r5 : vector<2xi32>
  %r7 = vector.dot8i4<u4u4> %xb, %yb, %r6 : vector<2xi32>
  %q = index.mul %i, %four : index
  vector.store %r7, %o[%q] : vector<2xi32>, VOUT`},
	{name: "dot products of floats", in: loom.F16, out: loom.F32, n: 1024, groups: 2, items: 64, ulp: 64, body: `
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %x = vector.load %a[%p] : VIN -> vector<4xf16>
  %s = vector.constant 0.125 : vector<4xf16>
  %one = vector.constant 1.0 : vector<4xf16>
  %c = vector.clampf<number> %x, %s, %one : vector<4xf16>
  %z = vector.constant 0.5 : vector<2xf32>
  %r = vector.dot2f %c, %c, %z : vector<4xf16>, vector<4xf16>, vector<2xf32>
  %init = scalar.constant 1.0 : f32
  %d = vector.dotf %r, %r, %init : vector<2xf32>, vector<2xf32>, f32
  %r2 = vector.insert %d into %r[0] : f32, vector<2xf32>
  vector.store %r2, %o[%p] : vector<2xf32>, VOUT`},
	{name: "quantise by thresholds", in: loom.F32, out: loom.I8, n: 1024, groups: 2, items: 64, body: `
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %x = vector.load %a[%p] : VIN -> vector<4xf32>
  %m1 = scalar.constant -1.0 : f32
  %z0 = scalar.constant 0.0 : f32
  %p1 = scalar.constant 0.25 : f32
  %th = vector.from_elements %m1, %z0, %p1 : vector<3xf32>
  %q = vector.table.quantize %x, %th : vector<4xf32>, vector<3xf32> -> vector<4xi8>
  vector.store %q, %o[%p] : vector<4xi8>, VOUT`},
	{name: "loops with carried values", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 64, body: `
  %lo = index.constant 0 : index
  %hi = index.constant 7 : index
  %st = index.constant 2 : index
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %z = scalar.constant 0.0 : f32
  %w = scalar.constant 1.0 : f32
  %s, %r = scf.for %j = [%lo to %hi step %st](%x = %z : f32, %y = %w : f32) -> (f32, f32) {
    %q = index.add %p, %j : index
    %v = view.load %a[%q] : VIN -> f32
    %n = scalar.addf %x, %v : f32
    scf.yield %y, %n : f32, f32
  }
  %m = scalar.subf %s, %r : f32
  view.store %m, %o[%i] : f32, VOUT`},
	{name: "while loop", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  %k = scalar.constant 1023 : i32
  %x = scalar.andi %v, %k : i32
  %z = scalar.constant 0 : i32
  %one = scalar.constant 1 : i32
  %r, %c = scf.while (%b = %x : i32, %n = %z : i32) -> (i32, i32) {
    %go = scalar.cmpi ne, %b, %z : i32
    scf.condition %go, %b, %n : i1, i32, i32
  } do(%b2: i32, %n2: i32) {
    %m = scalar.subi %b2, %one : i32
    %t2 = scalar.andi %b2, %m : i32
    %n3 = scalar.addi %n2, %one : i32
    scf.yield %t2, %n3 : i32, i32
  }
  %s = scalar.addi %r, %c : i32
  view.store %s, %o[%i] : i32, VOUT`},
	{name: "if, switch, lookup, select", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  %three = index.constant 3 : index
  %five = index.constant 5 : index
  %k = index.rem %t, %five : index
  %z = scalar.constant 0 : i32
  %neg = scalar.cmpi slt, %v, %z : i32
  %x = scf.if %neg -> (i32) {
    %m = scalar.negi %v : i32
    scf.yield %m : i32
  } else {
    %m = scalar.addi %v, %v : i32
    scf.yield %m : i32
  }
  %y = scf.switch %k -> (i32) {
    case 0 {
      %q = scalar.xori %x, %v : i32
      scf.yield %q : i32
    }
    case 3 {
      scf.yield %v : i32
    }
    default {
      scf.yield %x : i32
    }
  }
  %small = index.cmp ult, %t, %three : index
  %w = scf.select %small, %y, %x : i32
  view.store %w, %o[%i] : i32, VOUT`},
	{name: "workgroup memory, rotated", in: loom.F32, out: loom.F32, n: 256, groups: 2, items: 64, wave64: true, body: `
  %bytes = index.constant 256 : index
  %lds = buffer.alloca<workgroup> align(16) %bytes : buffer
  %lv = buffer.view %lds[%base] : buffer -> view<64xf32>
  %v = view.load %a[%i] : VIN -> f32
  view.store %v, %lv[%t] : f32, view<64xf32>
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %k = index.constant 37 : index
  %s = index.add %t, %k : index
  %q = index.rem %s, %size : index
  %w = view.load %lv[%q] : view<64xf32> -> f32
  view.store %w, %o[%i] : f32, VOUT`},
	{name: "private memory", in: loom.F32, out: loom.F32, n: 256, groups: 2, items: 64, body: `
  %bytes = index.constant 16 : index
  %mem = buffer.alloca<private> align(16) %bytes : buffer
  %pv = buffer.view %mem[%base] : buffer -> view<4xf32>
  %v = view.load %a[%i] : VIN -> f32
  view.store %v, %pv[2] : f32, view<4xf32>
  %w = view.load %pv[2] : view<4xf32> -> f32
  view.store %w, %o[%i] : f32, VOUT`},
	{name: "subgroup reductions", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 128, ulp: 64, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> f32
  %lim = scalar.constant 2.0 : f32
  %nlim = scalar.constant 0.25 : f32
  %c = scalar.clampf<number> %v, %nlim, %lim : f32
  %r = kernel.subgroup.reduce<addf> %c : f32
  %m = kernel.subgroup.reduce<maxnumf> %c {cluster_size = 8} : f32
  %n = kernel.subgroup.reduce<minnumf> %c {cluster_size = 4, cluster_stride = 4} : f32
  %d = scalar.subf %m, %n : f32
  %w = scalar.addf %r, %d : f32
  view.store %w, %o[%i] : f32, VOUT`},
	{name: "integer subgroup operations", in: loom.I32, out: loom.I32, n: 2048, groups: 2, items: 128, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %r = kernel.subgroup.reduce<xori> %v : i32
  %s = kernel.subgroup.scan<addi> %v {direction = forward, mode = inclusive} : i32
  %x = kernel.subgroup.scan<maxsi> %v {direction = reverse, mode = exclusive} : i32
  %q = kernel.subgroup.scan<addi> %v {direction = forward, mode = exclusive, cluster_size = 8} : i32
  %off = scalar.constant 3 : i32
  %wid = scalar.constant 16 : i32
  %u, %uv = kernel.subgroup.shuffle<up> %v, %off, %wid : i32, i32, i32
  %d, %dv = kernel.subgroup.shuffle<down> %v, %off, %wid : i32, i32, i32
  %one = scalar.constant 1 : i32
  %e, %ev = kernel.subgroup.shuffle<xor> %v, %one, %wid : i32, i32, i32
  %k7 = scalar.constant 7 : i32
  %lane = kernel.subgroup.lane.id : index
  %li = index.cast %lane : index to i32
  %pick = scalar.andi %li, %k7 : i32
  %f, %fv = kernel.subgroup.shuffle<index> %v, %pick, %wid : i32, i32, i32
  %z = scalar.constant 0 : i32
  %us = scf.select %uv, %u, %z : i32
  %ds = scf.select %dv, %d, %z : i32
  %l5 = index.constant 5 : index
  %b = kernel.subgroup.broadcast %v from %l5 : i32, index
  %bf = kernel.subgroup.broadcast.first %v : i32
  %eight = index.constant 8 : index
  %p = index.mul %i, %eight : index
  %a0 = scalar.addi %r, %s : i32
  %a1 = scalar.xori %us, %ds : i32
  %a2 = scalar.addi %b, %bf : i32
  %vec = vector.from_elements %a0, %x, %q, %a1, %e, %f, %a2, %v : vector<8xi32>
  vector.store %vec, %o[%p] : vector<8xi32>, VOUT`},
	{name: "votes and matches", in: loom.I32, out: loom.I64, n: 1024, groups: 2, items: 128, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %z = scalar.constant 0 : i32
  %neg = scalar.cmpi slt, %v, %z : i32
  %m = kernel.subgroup.vote.ballot %neg : i1 -> i64
  %any = kernel.subgroup.vote.any %neg : i1
  %all = kernel.subgroup.vote.all %neg : i1
  %k3 = scalar.constant 3 : i32
  %low = scalar.andi %v, %k3 : i32
  %same = kernel.subgroup.match.any %low : i32 -> i64
  %act = kernel.subgroup.active.mask : i64
  %anyx = scalar.extui %any : i1 to i64
  %allx = scalar.extui %all : i1 to i64
  %s0 = scalar.addi %anyx, %allx : i64
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %vec = vector.from_elements %m, %same, %act, %s0 : vector<4xi64>
  vector.store %vec, %o[%p] : vector<4xi64>, VOUT`},
	{name: "workgroup reductions", in: loom.F32, out: loom.F32, n: 1024, groups: 2, items: 256, ulp: 64, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> f32
  %lim = scalar.constant 2.0 : f32
  %nlim = scalar.constant 0.25 : f32
  %c = scalar.clampf<number> %v, %nlim, %lim : f32
  %r = kernel.workgroup.reduce<addf> %c : f32
  %m = kernel.workgroup.reduce<maxnumf> %c : f32
  %d = scalar.divf %c, %r : f32
  %r2 = kernel.workgroup.reduce<addf> %d : f32
  %w = scalar.addf %r2, %m : f32
  view.store %w, %o[%i] : f32, VOUT`},
	{name: "workgroup reductions in a loop", in: loom.I32, out: loom.I32, n: 1024, groups: 2, items: 192, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %lo = index.constant 0 : index
  %hi = index.constant 5 : index
  %st = index.constant 1 : index
  %r = scf.for %j = [%lo to %hi step %st](%x = %v : i32) -> (i32) {
    %s = kernel.workgroup.reduce<addi> %x : i32
    %ji = index.cast %j : index to i32
    %y = scalar.xori %x, %s : i32
    %n = scalar.addi %y, %ji : i32
    scf.yield %n : i32
  }
  view.store %r, %o[%i] : i32, VOUT`},
	{name: "workgroup scans and votes", in: loom.I32, out: loom.I32, n: 2048, groups: 2, items: 256, wave64: true, body: `
  %v = view.load %a[%i] : VIN -> i32
  %s = kernel.workgroup.scan<addi> %v {direction = forward, mode = inclusive} : i32
  %x = kernel.workgroup.scan<addi> %v {direction = forward, mode = exclusive} : i32
  %q = kernel.workgroup.scan<maxsi> %v {direction = reverse, mode = inclusive} : i32
  %z = scalar.constant 0 : i32
  %neg = scalar.cmpi slt, %v, %z : i32
  %c = kernel.workgroup.vote.count %neg : i1 -> i32
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %vec = vector.from_elements %s, %x, %q, %c : vector<4xi32>
  vector.store %vec, %o[%p] : vector<4xi32>, VOUT`},
	{name: "small workgroup", in: loom.F32, out: loom.F32, n: 64, groups: 4, items: 8, ulp: 16, body: `
  %v = view.load %a[%i] : VIN -> f32
  %nlim = scalar.constant 0.25 : f32
  %lim = scalar.constant 2.0 : f32
  %c = scalar.clampf<number> %v, %nlim, %lim : f32
  %r = kernel.workgroup.reduce<addf> %c : f32
  %m = kernel.subgroup.reduce<maxnumf> %c : f32
  %w = scalar.addf %r, %m : f32
  view.store %w, %o[%i] : f32, VOUT`},
	{name: "workgroup that does not fill its last wave", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 40, body: `
  %v = view.load %a[%i] : VIN -> i32
  %r = kernel.workgroup.reduce<addi> %v : i32
  %m = kernel.subgroup.reduce<maxsi> %v : i32
  %w = scalar.xori %r, %m : i32
  view.store %w, %o[%i] : i32, VOUT`},
	{name: "atomics", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  view.atomic.reduce<addi> %v, %o[0] {ordering = relaxed, scope = device} : i32, VOUT
  view.atomic.reduce<maxsi> %v, %o[1] {ordering = relaxed, scope = device} : i32, VOUT
  view.atomic.reduce<minui> %v, %o[2] {ordering = acq_rel, scope = device} : i32, VOUT
  view.atomic.reduce<xori> %v, %o[3] {ordering = release, scope = system} : i32, VOUT
  %k = index.constant 16 : index
  %q = index.add %i, %k : index
  %old = view.atomic.rmw<xchgi> %v, %o[%q] {ordering = acq_rel, scope = device} : i32, VOUT -> i32
  %c = view.atomic.cmpxchg %v, %old, %o[%q] {success_ordering = acq_rel, failure_ordering = acquire, scope = workgroup} : i32, VOUT -> i32
  %s = scalar.addi %c, %v : i32
  view.atomic.reduce<ori> %s, %o[4] {ordering = relaxed, scope = device} : i32, VOUT`},
	{name: "index arithmetic", in: loom.I32, out: loom.I32, n: 4096, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  %x0 = index.cast %v : i32 to index
  %k = index.constant 1000 : index
  %m1 = index.constant -7 : index
  %z = index.constant 0 : index
  %abs = index.max %x0, %z : index
  %x = index.min %abs, %k : index
  %d = index.div %x, %size : index
  %r = index.rem %x, %size : index
  %mm = index.madd %d, %m1, %r : index
  %sh = index.constant 3 : index
  %sl = index.shli %x, %sh : index
  %sr = index.shrui %x, %sh : index
  %sa = index.shrsi %mm, %sh : index
  %an = index.andi %x, %size : index
  %or = index.ori %d, %r : index
  %xo = index.xori %sl, %sr : index
  %pc = index.ctpopi %x : index
  %lz = index.ctlzi %x : index
  %tz = index.cttzi %x : index
  %lt = index.cmp slt, %mm, %z : index
  %ul = index.cmp ult, %mm, %k : index
  %s0 = index.add %sl, %sr : index
  %s1 = index.sub %s0, %sa : index
  %s2 = index.add %an, %or : index
  %s3 = index.add %xo, %pc : index
  %s4 = index.add %lz, %tz : index
  %b0 = scf.select %lt, %s1, %s2 : index
  %b1 = scf.select %ul, %s3, %s4 : index
  %i0 = index.cast %b0 : index to i32
  %i1v = index.cast %b1 : index to i32
  %i2 = index.cast %mm : index to i32
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %vec = vector.from_elements %i0, %i1v, %i2, %v : vector<4xi32>
  vector.store %vec, %o[%p] : vector<4xi32>, VOUT`},
	{name: "strided layouts and subviews", in: loom.F32, out: loom.F32, n: 4096, groups: 1, items: 64, body: `
  %lay = encoding.layout.strided [1, 64] : encoding<layout>
  %av = buffer.view %pa[%base] : buffer -> view<64x16xf32, %lay>
  %k8 = index.constant 8 : index
  %c = index.rem %t, %k8 : index
  %sub = view.subview %av[%c, 2] : view<64x16xf32, %lay> -> view<8x8xf32, %lay>
  %r = index.div %t, %k8 : index
  %x = view.load %sub[%r, 3] : view<8x8xf32, %lay> -> f32
  %y = vector.load %av[%c, 0] : view<64x16xf32, %lay> -> vector<4xf32>
  %s = vector.reduce<addf> %y, %x : vector<4xf32>, f32
  view.store %s, %o[%t] : f32, VOUT`},
	{name: "labels and jumps", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  %k = scalar.constant 255 : i32
  %x = scalar.andi %v, %k : i32
  %z = scalar.constant 0 : i32
  %one = scalar.constant 1 : i32
  cfg.br ^loop(%x: i32, %z: i32)
^loop(%n: i32, %acc: i32):
  %go = scalar.cmpi ugt, %n, %z : i32
  cfg.cond_br %go, ^body, ^done
^body:
  %h = scalar.shrui %n, %one : i32
  %ac2 = scalar.addi %acc, %n : i32
  cfg.br ^loop(%h: i32, %ac2: i32)
^done:
  view.store %acc, %o[%i] : i32, VOUT`},
	{name: "leaving early", in: loom.I32, out: loom.I32, n: 256, groups: 2, items: 64, body: `
  %v = view.load %a[%i] : VIN -> i32
  %z = scalar.constant 0 : i32
  %neg = scalar.cmpi slt, %v, %z : i32
  kernel.exit %neg : i1
  view.store %v, %o[%i] : i32, VOUT`},
	{name: "asynchronous copies", in: loom.I8, out: loom.I8, n: 4096, groups: 2, items: 64, body: `
  %bytes = index.constant 1024 : index
  %lds = buffer.alloca<workgroup> align(16) %bytes : buffer
  %k16 = index.constant 16 : index
  %p = index.mul %i, %k16 : index
  %po0 = index.cast %p : index to offset
  %tp = index.mul %t, %k16 : index
  %to = index.cast %tp : index to offset
  %src = buffer.view %pa[%po0] : buffer -> view<16xi8>
  %dst = buffer.view %lds[%to] : buffer -> view<16xi8>
  %c = kernel.async.copy %src to %dst {direction = global_to_workgroup} : view<16xi8> to view<16xi8> -> kernel.async.token
  %gr = kernel.async.group %c : kernel.async.token -> kernel.async.group
  kernel.async.wait %gr {newer_groups = 0} : kernel.async.group
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  %k = index.constant 37 : index
  %s = index.add %t, %k : index
  %q = index.rem %s, %size : index
  %qp = index.mul %q, %k16 : index
  %lv = buffer.view %lds[%base] : buffer -> view<1024xi8>
  %w = vector.load %lv[%qp] : view<1024xi8> -> vector<16xi8>
  vector.store %w, %o[%p] : vector<16xi8>, VOUT`},
	{name: "narrow elements", in: loom.F8E4M3, out: loom.BF16, n: 512, groups: 2, items: 64, body: `
  %four = index.constant 4 : index
  %p = index.mul %i, %four : index
  %x = vector.load %a[%p] : VIN -> vector<4xf8E4M3>
  %f = vector.extf %x : vector<4xf8E4M3> to vector<4xf32>
  %s = vector.mulf %f, %f : vector<4xf32>
  %b = vector.fptrunc %s : vector<4xf32> to vector<4xbf16>
  %c = vector.addf %b, %b : vector<4xbf16>
  vector.store %c, %o[%p] : vector<4xbf16>, VOUT`},
}

func TestStructuralOps(t *testing.T) {
	var s suite
	for _, c := range vectorCases {
		waves := []int{32}
		if c.wave64 {
			waves = append(waves, 64)
		}
		for _, w := range waves {
			body := strings.NewReplacer("VIN", fmt.Sprintf("view<%dx%s>", c.n, c.in), "VOUT", fmt.Sprintf("view<%dx%s>", c.n, c.out)).Replace(c.body)
			r := rand.New(rand.NewPCG(uint64(w), 5))
			tr := trial{text: single(body, c.in, c.out, c.n, c.groups, c.items), target: "gfx1151", wave: w, args: []loomexec.Arg{
				loomexec.BufferArg(random(r, c.in, c.n)), loomexec.BufferArg(make([]byte, c.n*c.out.Bytes()))}}
			var keys map[string]any
			if strings.Contains(c.name, "workgroup") {
				keys = map[string]any{"order": "random", "quantum": 5, "seed": 3}
			}
			s.add(fmt.Sprintf("%s, wave %d", c.name, w), tr, []column{{buffer: 1, n: c.n, kind: c.out, ulp: c.ulp, name: "out"}}, keys)
		}
	}
	s.run(t)
}

// TestFragments multiplies tiles in every operand format of gfx11.
func TestFragments(t *testing.T) {
	var s suite
	for _, c := range []struct {
		in, acc  loom.Kind
		wave     int
		accLanes int
	}{
		{loom.F16, loom.F32, 32, 8}, {loom.F16, loom.F32, 64, 4}, {loom.BF16, loom.F32, 32, 8}, {loom.BF16, loom.F32, 64, 4},
		{loom.F16, loom.F16, 32, 16}, {loom.F16, loom.F16, 64, 8}, {loom.I8, loom.I32, 32, 8}, {loom.I8, loom.I32, 64, 4},
		{loom.BF16, loom.BF16, 32, 16},
	} {
		{
			text := fmt.Sprintf(`kernel.def @k() {
  %%one = index.constant 1 : index
  %%n = index.constant %[3]d : index
  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%n, %%one, %%one) : index
} launch(%%pa: buffer, %%pb: buffer, %%pc: buffer) {
  %%base = index.constant 0 : offset
  %%z = index.constant 0 : index
  %%m = index.constant 16 : index
  %%lay = encoding.layout.strided [1, 16] : encoding<layout>
  %%a = buffer.view %%pa[%%base] : buffer -> view<16x16x%[1]s>
  %%b = buffer.view %%pb[%%base] : buffer -> view<16x16x%[1]s, %%lay>
  %%bd = buffer.view %%pb[%%base] : buffer -> view<16x16x%[1]s>
  %%c = buffer.view %%pc[%%base] : buffer -> view<32x16x%[2]s>
  %%l = vector.fragment.load<lhs> %%a[%%z, %%z] shape [%%m, %%m] : view<16x16x%[1]s> -> vector<16x%[1]s>
  %%r = vector.fragment.load<rhs> %%b[%%z, %%z] shape [%%m, %%m] : view<16x16x%[1]s, %%lay> -> vector<16x%[1]s>
  %%rd = vector.fragment.load<rhs> %%bd[%%z, %%z] shape [%%m, %%m] : view<16x16x%[1]s> -> vector<16x%[1]s>
  %%i = vector.fragment.load<init> %%c[%%z, %%z] shape [%%m, %%m] : view<32x16x%[2]s> -> vector<%[4]dx%[2]s>
  %%p = vector.mma %%l, %%r, %%i : vector<16x%[1]s>, vector<16x%[1]s>, vector<%[4]dx%[2]s>
  %%q = vector.mma %%l, %%rd, %%p : vector<16x%[1]s>, vector<16x%[1]s>, vector<%[4]dx%[2]s>
  vector.fragment.store<result> %%q, %%c[%%m, %%z] shape [%%m, %%m] : vector<%[4]dx%[2]s>, view<32x16x%[2]s>
  kernel.return
}
`, c.in, c.acc, c.wave, c.accLanes)
			r := rand.New(rand.NewPCG(11, 5))
			tr := trial{text: text, target: "gfx1151", wave: c.wave, args: []loomexec.Arg{
				loomexec.BufferArg(small(r, c.in, 256)), loomexec.BufferArg(small(r, c.in, 256)), loomexec.BufferArg(small(r, c.acc, 512))}}
			s.add(fmt.Sprintf("%s to %s, wave %d", c.in, c.acc, c.wave), tr, []column{{buffer: 2, n: 512, kind: c.acc, ulp: 4, abs: 0.05, name: "c"}}, nil)
		}
	}
	s.run(t)
}

// small fills a buffer with values of moderate size.
func small(r *rand.Rand, k loom.Kind, n int) []byte {
	out := random(r, k, n)
	if !k.IsFloat() {
		return out
	}
	for i := range n {
		v := float32(r.IntN(33)-16) / 8
		switch k {
		case loom.F32:
			putF32(out[4*i:], v)
		case loom.F16:
			h := toHalf(float64(v))
			out[2*i], out[2*i+1] = byte(h), byte(h>>8)
		case loom.BF16:
			b := make([]byte, 4)
			putF32(b, v)
			out[2*i], out[2*i+1] = b[2], b[3]
		case loom.F64:
			binary.LittleEndian.PutUint64(out[8*i:], math.Float64bits(float64(v)))
		case loom.F8E4M3, loom.F8E5M2: // near 1 in both formats
			out[i] = out[i]&0x87 | 0x38
		}
	}
	return out
}
