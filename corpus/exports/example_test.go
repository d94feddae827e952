package exports_test

import (
	"context"
	"fmt"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
)

// Link one export of a corpus with a model's values and look at what an engine
// has to call.
func Example() {
	ctx := context.Background()
	c, problems := corpus.Open(ctx, corpus.Options{}) // the bundled corpus
	if c == nil || problems.HasErrors() {
		fmt.Print(problems)
		return
	}
	set := exports.New(c)
	picked, _ := set.Select([]string{"ggml_softmax_f32"})
	outs, findings := set.Link(ctx, picked, exports.Request{
		Config: []linker.Binding{{Key: "ggml.softmax.workgroup_size", Text: "128"}},
		Target: "gfx1151",
		Close:  true,
	})
	findings = append(findings, outs[0].Diags...)
	if err := findings.Err(); err != nil {
		fmt.Println(err)
		return
	}
	k := outs[0].Closed[0].Kernel
	for _, b := range k.Bindings {
		fmt.Println(b.Name, b.Access)
	}
	fmt.Println(k.WorkgroupSize, k.Target.Processor)
	// Output:
	// src read
	// dst write
	// [128 1 1] gfx1151
}

// A value that the corpus does not take is a finding of the export it concerns.
func ExampleSet_Link() {
	ctx := context.Background()
	c, _ := corpus.Open(ctx, corpus.Options{})
	set := exports.New(c)
	picked, _ := set.Select(nil)
	outs, _ := set.Link(ctx, picked, exports.Request{
		Config: []linker.Binding{{Key: "ggml.flash_attention.qk_head_size", Text: "576"}},
	})
	for _, o := range outs {
		if !o.OK() {
			fmt.Println(o.Export.ID(), o.Diags[0].Code)
		}
	}
	// Output: ggml_flash_attention_f32_f16_wmma CONFIG/INVALID
}

// The manifest of a corpus, written from its sources, agrees with the one it has.
func ExampleSet_CheckManifest() {
	ctx := context.Background()
	c, _ := corpus.Open(ctx, corpus.Options{})
	set := exports.New(c)
	fmt.Println(len(set.CheckManifest(ctx)), "differences")
	m, _ := set.Generate(ctx)
	fmt.Println(len(m.Exports) == len(c.Manifest().Exports))
	// Output:
	// 0 differences
	// true
}
