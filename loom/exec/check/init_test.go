package check_test

import (
	"testing"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/check"
)

// Tensors of a case have all their elements before a launch. A binding that one
// kernel only writes, and that it leaves holes in, is therefore no finding when
// the case or another kernel reads the holes.
func TestOutputsOfACaseAreInitialised(t *testing.T) {
	const text = `
kernel.def @even() {
  %one = index.constant 1 : index
  %wg = index.constant 32 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%y: buffer) {
  %zero = index.constant 0 : offset
  %item = kernel.workitem.id<x> : index
  %two = index.constant 2 : index
  %i = index.mul %item, %two : index
  %v = buffer.view %y[%zero] : buffer -> view<64xi32>
  %c = scalar.constant 7 : i32
  view.store %c, %v[%i] : i32, view<64xi32>
  kernel.return
}
kernel.def @double() {
  %one = index.constant 1 : index
  %wg = index.constant 64 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%wg, %one, %one) : index
} launch(%y: buffer) {
  %zero = index.constant 0 : offset
  %item = kernel.workitem.id<x> : index
  %v = buffer.view %y[%zero] : buffer -> view<64xi32>
  %c = view.load %v[%item] : view<64xi32> -> i32
  %d = scalar.addi %c, %c : i32
  view.store %d, %v[%item] : i32, view<64xi32>
  kernel.return
}
check.case @case {
  %y = check.generate.fill value(7) : tensor<64xi32>
  %e = check.generate.fill value(14) : tensor<64xi32>
  kernel.launch @even(%y) : (tensor<64xi32>)
  kernel.launch @double(%y) : (tensor<64xi32>)
  check.expect.equal actual(%y) expected(%e) : tensor<64xi32>
  check.return
}
`
	cpu := &check.CPU{Options: exec.Options{Sanitize: exec.SanAll}}
	for _, r := range runText(t, "init.loom", text, cpu) {
		for _, s := range r.Samples {
			if s.Status != check.Pass || len(s.Problems) > 0 {
				t.Errorf("%v\n%s", s.Status, diag.Text(s.Problems))
			}
		}
	}
}
