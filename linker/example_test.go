package linker_test

import (
	"context"
	"fmt"

	"github.com/loomc/loomc/linker"
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
