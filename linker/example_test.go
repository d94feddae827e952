package linker_test

import (
	"context"
	"fmt"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

// Link one kernel with its library and a config value, close it for gfx1151, and
// look at what is left.
func Example() {
	const kernel = `
config.decl @scale.block : %v: index where [range(%v, 32, 256), multiple_of(%v, 32)]
func.decl @scaled(%x: f32) -> (f32)
kernel.def export("scale_f32") @scale() {
  %one = index.constant 1 : index
  %block = config.get @scale.block : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%block, %one, %one) : index
} launch(%src: buffer, %dst: buffer) {
  %zero = index.constant 0 : offset
  %from = buffer.view %src[%zero] : buffer -> view<256xf32>
  %to = buffer.view %dst[%zero] : buffer -> view<256xf32>
  %i = kernel.workitem.id<x> : index
  %x = view.load %from[%i] : view<256xf32> -> f32
  %y = func.call @scaled(%x) : (f32) -> (f32)
  view.store %y, %to[%i] : f32, view<256xf32>
  kernel.return
}`
	const library = `
func.def inline @scaled(%x: f32) -> (f32) {
  %two = scalar.constant 2.0 : f32
  %y = scalar.mulf %x, %two : f32
  func.return %y : f32
}`
	primary, _ := parser.Parse(diag.NewSource("ops/scale.loom", kernel))
	motif, _ := parser.Parse(diag.NewSource("motifs/scaled.loom", library))

	// The index is frozen: any number of goroutines may link from it.
	index := linker.NewIndex([]linker.Source{{Mod: primary}, {Mod: motif, Role: linker.Library}})
	ctx := context.Background()

	// A value the declaration does not allow is a finding with its place.
	_, findings := linker.Link(ctx, index, linker.Request{
		Roots: []string{"scale_f32"}, Config: []linker.Binding{{Key: "scale.block", Text: "48"}},
	})
	fmt.Println(findings[0].Message)

	linked, findings := linker.Link(ctx, index, linker.Request{
		Roots: []string{"scale_f32"}, Target: "gfx1151", Config: []linker.Binding{{Key: "scale.block", Text: "64"}},
	})
	if err := findings.Err(); err != nil {
		fmt.Println(err)
		return
	}
	for _, live := range linked.Plan {
		fmt.Printf("%s: %s from %s\n", live.Symbol, live.Edge, live.From)
	}
	root := linked.Roots[0]
	closed, _, findings, err := linker.Specialize(ctx, linked.Module, root.Def.Name, linker.SpecializeOptions{Target: root.Target})
	if err != nil || findings.HasErrors() {
		fmt.Println(err, findings)
		return
	}
	for _, b := range closed.Bindings {
		fmt.Println(b.Name, b.Access)
	}
	fmt.Println("workgroup size", closed.WorkgroupSize)
	// Output:
	// symbol '@scale.block' value 48 violates constraint 'multiple_of'
	// scale.block: config from @scale
	// scale: root from scale_f32
	// scaled: call from @scale
	// src read
	// dst write
	// workgroup size [64 1 1]
}

// Specialize reports what it did: which implementation it chose and what became
// of the rest.
func ExampleSpecialize() {
	const text = `
template.decl @store.width(%n: index) -> (index)
template.def<@store.width> priority(1) @width_four(%n: index) -> (index) where [multiple_of(%n, 4)] {
  %c = index.constant 4 : index
  template.return %c : index
}
template.def<@store.width> @width_one(%n: index) -> (index) {
  %c = index.constant 1 : index
  template.return %c : index
}
kernel.def @k() {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%dst: buffer) {
  %zero = index.constant 0 : offset
  %n = index.constant 64 : index
  %v = buffer.view %dst[%zero] : buffer -> view<64xi32>
  %w = template.apply<@store.width>(%n) : (index) -> (index)
  %x = index.cast %w : index to i32
  view.store %x, %v[0] : i32, view<64xi32>
  kernel.return
}`
	m, _ := parser.Parse(diag.NewSource("k.loom", text))
	ctx := context.Background()
	linked, _ := linker.Link(ctx, linker.NewIndex([]linker.Source{{Mod: m}}), linker.Request{Roots: []string{"k"}, Target: "gfx1151"})
	k, report, findings, err := linker.Specialize(ctx, linked.Module, "k", linker.SpecializeOptions{Target: linked.Roots[0].Target})
	if err != nil || findings.HasErrors() {
		fmt.Println(err, findings)
		return
	}
	for _, s := range report.Selections {
		fmt.Printf("%s: %s, not %s\n", s.Family, s.Chosen, s.Rejected[0])
	}
	fmt.Print(string(loom.PrintDef(k.Def)))
	// Output:
	// store.width: width_four, not @width_one (priority 0): fits, at a lower priority
	// kernel.def @k() {
	//   %one = index.constant 1 : index
	//   kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
	// } launch(%dst: buffer) {
	//   %zero = index.constant 0 : offset
	//   %v = buffer.view %dst[%zero] : buffer -> view<64xi32>
	//   %x = scalar.constant 4 : i32
	//   view.store %x, %v[0] : i32, view<64xi32>
	//   kernel.return
	// }
}
