package exports_test

import (
	"context"
	"testing"

	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec/check"
	"github.com/loomc/loomc/parser"
)

var _ check.FuncProvider = (*exports.Provider)(nil)

const checkFile = `func.decl @double(%n: index, %x: tensor<[%n]xi32>)
func.decl @helper(%v: i32) -> (i32)
config.def @test.factor = 3 : i32
func.def @triple_twice(%v: i32) -> (i32, i1) {
  %f = config.get @test.factor : i32
  %a = scalar.muli %v, %f : i32
  %b = func.call @helper(%a) : (i32) -> (i32)
  %even = scalar.cmpi eq, %b, %a : i32
  func.return %b, %even : i32, i1
}
check.case @functions {
  %v = check.param.choice values([1, -4]) name("v") : i32
  %a, %same = func.call @triple_twice(%v) : (i32) -> (i32, i1)
  %f = check.literal value(false) : i1
  check.expect.equal actual(%same) expected(%f) : i1
  %six = check.literal value(6) : i32
  %e = scalar.muli %v, %six : i32
  check.expect.equal actual(%a) expected(%e) : i32
  check.return
}
check.case @declared_kernel {
  %n = check.param.choice values([1, 9]) name("n") : index
  %x = check.generate.iota offset(0) step(1) : tensor<[%n]xi32>
  %e = check.generate.iota offset(0) step(2) : tensor<[%n]xi32>
  func.call @double(%n, %x) : (index, tensor<[%n]xi32>)
  check.expect.equal actual(%x) expected(%e) : tensor<[%n]xi32>
  check.expect.event<launch.count> {count = 1, kernel = "double"}
  check.return
}
check.case @wrong_count {
  check.expect.event<launch.count> {count = 1}
  check.return
}
check.case @tensor_to_function {
  %t = check.generate.fill value(0) : tensor<4xi32>
  %r = func.call @helper(%t) : (tensor<4xi32>) -> (i32)
  check.return
}
check.case @value_of_kernel {
  %n = check.literal value(1) : index
  %t = check.generate.fill value(0) : tensor<1xi32>
  %r = func.call @double(%n, %t) : (index, tensor<1xi32>) -> (i32)
  check.return
}
check.case @launched_function {
  %v = check.literal value(1) : i32
  kernel.launch @helper(%v) : (i32)
  check.return
}
check.case @too_few {
  %r = func.call @helper() : () -> (i32)
  check.return
}
`

const checkLibrary = `func.def public @helper(%v: i32) -> (i32) {
  %r = scalar.addi %v, %v : i32
  func.return %r : i32
}
kernel.def export("double") @double(%n: index) {
  %c1 = index.constant 1 : index
  kernel.launch.config workgroups(%n, %c1, %c1) workgroup_size(%c1, %c1, %c1) : index
} launch(%n: index, %x: buffer) {
  %zero = index.constant 0 : offset
  %i = kernel.workgroup.id<x> : index
  %v = buffer.view %x[%zero] : buffer -> view<[%n]xi32>
  %a = view.load %v[%i] : view<[%n]xi32> -> i32
  %b = func.call @helper(%a) : (i32) -> (i32)
  view.store %b, %v[%i] : i32, view<[%n]xi32>
  kernel.return
}
func.decl @helper(%v: i32) -> (i32)
`

// A case calls functions and, through a func.decl, the kernels of other files.
func TestProviderServesFunctionsAndKernels(t *testing.T) {
	var sources []linker.Source
	for i, f := range []string{checkFile, checkLibrary} {
		m, ds := parser.Parse(diag.NewSource([]string{"check.loom", "lib.loom"}[i], f))
		if ds.HasErrors() {
			t.Fatal(diag.Text(ds))
		}
		sources = append(sources, linker.Source{Mod: m, Role: linker.Role(i)})
	}
	p := exports.NewProvider(context.Background(), linker.NewIndex(sources), nil, "")
	want := map[string]struct {
		status check.Status
		code   string
	}{
		"functions": {check.Pass, ""}, "declared_kernel": {check.Pass, ""}, "wrong_count": {check.Fail, ""},
		"tensor_to_function": {check.Error, "CHECK/CALL"}, "value_of_kernel": {check.Error, "CHECK/CALL"},
		"launched_function": {check.Error, "SYMBOL/003"}, "too_few": {check.Error, "CHECK/CALL"},
	}
	for _, d := range sources[0].Mod.Defs {
		if d.Kind != loom.DefCheckCase {
			continue
		}
		r, err := check.Run(context.Background(), d, p, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, ds := want[d.Name], r.Problems
		for _, s := range r.Samples {
			ds = append(ds, s.Problems...)
		}
		if r.Status() != w.status || w.code == "" && len(ds) > 0 || w.code != "" && (len(ds) != 1 || ds[0].Code != w.code) {
			t.Errorf("@%s: %v, want %v %s\n%s", d.Name, r.Status(), w.status, w.code, diag.Text(ds))
		}
	}
	if k, ds := p.Kernel("nowhere"); k != nil || !ds.HasErrors() {
		t.Errorf("a missing kernel: %v, %v", k, ds)
	}
	if d, ds := p.Func("nowhere"); d != nil || !ds.HasErrors() {
		t.Errorf("a missing function: %v, %v", d, ds)
	}
}
