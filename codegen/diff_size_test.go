package codegen_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// TestWorkgroupSizeOfTheLaunch runs kernels whose launch decides how many items a
// workgroup has, along one axis or two.
func TestWorkgroupSizeOfTheLaunch(t *testing.T) {
	const text = `kernel.def @k(%n: index, %m: index) {
  %one = index.constant 1 : index
  %three = index.constant 3 : index
  %p, %q = index.assume %n, %m [range(%n, 1, 64), range(%m, 1, 4)] : index, index
  kernel.launch.config workgroups(%three, %one, %one) workgroup_size(SIZES) : index
} launch(%pa: buffer, %po: buffer) {
  %base = index.constant 0 : offset
  %a = buffer.view %pa[%base] : buffer -> view<1024xi32>
  %o = buffer.view %po[%base] : buffer -> view<1024xi32>
  %g = kernel.workgroup.id<x> : index
  %x = kernel.workitem.id<x> : index
  %y = kernel.workitem.id<y> : index
  %sx = kernel.workgroup.size<x> : index
  %sy = kernel.workgroup.size<y> : index
  %cx = kernel.workgroup.count<x> : index
  %dx = kernel.workitem.dispatch.id<x> : index
  %waves = kernel.subgroup.count : index
  %lane = kernel.subgroup.lane.id : index
  %w = kernel.subgroup.id : index
  %row = index.madd %g, %sy, %y : index
  %i = index.madd %row, %sx, %x : index
  %v = view.load %a[%i] : view<1024xi32> -> i32
  %t0 = index.add %dx, %cx : index
  %t1 = index.add %t0, %waves : index
  %k = index.constant 100 : index
  %t2 = index.madd %lane, %k, %t1 : index
  %k2 = index.constant 10000 : index
  %t3 = index.madd %w, %k2, %t2 : index
  %s = index.cast %t3 : index to i32
  %r = scalar.xori %v, %s : i32
  MORE
  view.store %u, %o[%i] : i32, view<1024xi32>
  kernel.return
}
`
	var s suite
	for _, c := range []struct {
		name, sizes, more string
		n, m              int64
		wave              int
	}{
		{"one axis", "%p, %one, %one", "%u = scalar.negi %r : i32", 37, 1, 32},
		{"two axes", "%p, %q, %one", "%u = scalar.negi %r : i32", 24, 3, 32},
		{"whole waves", "%p64, %q, %one", "%u = kernel.subgroup.reduce<addi> %r : i32", 2, 2, 64},
	} {
		body := text
		if c.name == "whole waves" {
			body = strings.ReplaceAll(body, "  kernel.launch", "  %k64 = index.constant 64 : index\n  %p64 = index.mul %p, %k64 : index\n  kernel.launch")
			body = strings.ReplaceAll(body, "range(%n, 1, 64)", "range(%n, 1, 4)")
		}
		body = strings.ReplaceAll(strings.ReplaceAll(body, "SIZES", c.sizes), "MORE", c.more)
		r := rand.New(rand.NewPCG(4, 4))
		s.add(c.name, trial{text: body, target: "gfx1151", wave: c.wave, workload: []int64{c.n, c.m}, args: []loomexec.Arg{
			loomexec.BufferArg(random(r, loom.I32, 1024)), loomexec.BufferArg(make([]byte, 4096))}},
			[]column{{buffer: 1, n: 1024, kind: loom.I32, name: "out"}}, nil)
	}
	s.run(t)
	s.compileFor(t, allProcessors...)
}
