package compat_test

import (
	"fmt"
	"strings"
	"testing/fstest"
)

// synthetic builds a corpus in the shape of a field corpus: one file per kernel,
// shared motifs, a flash-attention kernel whose head size is bounded, and a
// family with many parameters that several kernels publish their output through.
type synthetic struct {
	exports     int // kernels besides the attention kernel
	spare       int // files that the manifest lists and no export uses
	headLimit   int // upper bound of the head size
	publishArgs int // parameters of the publish family
	publishers  int // kernels that use it
	edited      int // every edited-th kernel computes something else; 0 is none
}

func (s synthetic) fs() fstest.MapFS {
	files := fstest.MapFS{}
	var listed, records []string
	add := func(path, text string) {
		files[path] = &fstest.MapFile{Data: []byte(text)}
		listed = append(listed, fmt.Sprintf("    {%q: %q}", "path", path))
	}
	params, args, types := s.publish()
	family := fmt.Sprintf("template.decl @field.publish_output(%s)\n", params)
	add("motifs/publish.loom", family+fmt.Sprintf(`
template.def<@field.publish_output> device @field_publish_output(%s) {
  %%origin = index.constant 0 : offset
  %%view = buffer.view %%out[%%origin] : buffer -> view<[%%limit]xf32>
  view.store %%value, %%view[%%at] : f32, view<[%%limit]xf32>
  template.return
}
`, params))
	add("motifs/grid.loom", `func.def pure inline @field_cover(%extent: index, %span: index) -> (index) {
  %one = index.constant 1 : index
  %slack = index.sub %span, %one : index
  %padded = index.add %extent, %slack : index
  %groups = index.div %padded, %span : index
  func.return %groups : index
}
`)
	for i := range s.spare {
		add(fmt.Sprintf("legacy/motif_%03d.loom", i), fmt.Sprintf("template.decl @legacy.motif_%03d(%%x: f32) -> (f32)\n", i))
	}
	record := func(name, file, libraries string) {
		records = append(records, fmt.Sprintf(`    {
      "name": %[1]q, "family": "field", "symbol": %[1]q, "source": %[2]q,
      "workload_parameters": [{"name": "rows", "type": "index"}],
      "launch_parameters": [{"name": "rows", "type": "index"}],
      "bindings": ["src", "dst"], "binding_access": ["read", "write"], "target_selector": "",
      "compile_recipe": {"mode": "direct", "primary_sources": [%[2]q], "library_sources": [%[3]s]}
    }`, name, file, libraries))
	}
	kernel := func(name, key, where, prologue, compute string) string {
		return fmt.Sprintf(`amdgpu.target<gfx11-generic> @gfx11 {subgroup_size = 32}
config.decl @%[2]s : %%value: index where [%[3]s]
config.decl @%[2]s.stride : %%value: index where [range(%%value, 1, 1048576)]
func.decl pure @field_cover(%%extent: index, %%span: index) -> (index)
%[4]skernel.def target(@gfx11) export(%[1]q) @%[1]s(%%rows: index) {
  %%one = index.constant 1 : index
  %%items = index.constant 64 : index
  %%blocks = index.constant 4 : index
  %%groups = func.call pure @field_cover(%%rows, %%blocks) : (index, index) -> (index)
  kernel.launch.config workgroups(%%groups, %%one, %%one) workgroup_size(%%items, %%one, %%one) : index
} launch(%%rows: index, %%src: buffer, %%dst: buffer) where [range(%%rows, 1, 65536)] {
  %%origin = index.constant 0 : offset
  %%limit = config.get @%[2]s : index
  %%stride_value = config.get @%[2]s.stride : index
  %%stride = index.assume %%stride_value [ge(%%stride_value, %%limit)] : index
  %%layout = encoding.layout.strided [%%stride, 1] : encoding<layout>
  %%row = kernel.workgroup.id<x> : index
  %%lane = kernel.workitem.id<x> : index
  %%items = kernel.workgroup.size<x> : index
  %%src_view = buffer.view %%src[%%origin] : buffer -> view<[%%rows]x[%%limit]xf32, %%layout>
  scf.for %%at = [%%lane to %%limit step %%items] {
    %%x = view.load %%src_view[%%row, %%at] : view<[%%rows]x[%%limit]xf32, %%layout> -> f32
%[5]s  }
  kernel.return
}
`, name, key, where, prologue, compute)
	}
	for i := range s.exports {
		name := fmt.Sprintf("field_kernel_%03d", i)
		file := fmt.Sprintf("ops/kernel_%03d.loom", i)
		op := "scalar.addf"
		if s.edited > 0 && i%s.edited == 0 {
			op = "scalar.mulf"
		}
		// Each kernel is a different body: a chain of its own length.
		compute := "    %v0 = scalar.addf %x, %x : f32\n"
		n := i%40 + 3
		for j := 1; j <= n; j++ {
			step := "scalar.addf"
			if (i>>uint(j%8))&1 == 1 {
				step = "scalar.mulf"
			}
			if j == n {
				step = op
			}
			compute += fmt.Sprintf("    %%v%d = %s %%v%d, %%x : f32\n", j, step, j-1)
		}
		prologue, libraries := "", `"motifs/grid.loom"`
		if i < s.publishers {
			prologue, libraries = family, `"motifs/grid.loom", "motifs/publish.loom"`
			compute += fmt.Sprintf("    template.apply<@field.publish_output>(%s) : (%s)\n", strings.ReplaceAll(args, "%value", fmt.Sprintf("%%v%d", n)), types)
		} else {
			compute += fmt.Sprintf("    %%dst_view = buffer.view %%dst[%%origin] : buffer -> view<[%%limit]xf32>\n    view.store %%v%d, %%dst_view[%%at] : f32, view<[%%limit]xf32>\n", n)
		}
		add(file, kernel(name, "field.k"+fmt.Sprint(i)+".columns", "range(%value, 1, 262144)", prologue, compute))
		record(name, file, libraries)
	}
	where := fmt.Sprintf("range(%%value, 16, %d), multiple_of(%%value, 16)", s.headLimit)
	add("ops/flash_attention.loom", kernel("field_flash_attention", "field.flash_attention.head_size", where, "",
		"    %dst_view = buffer.view %dst[%origin] : buffer -> view<[%limit]xf32>\n    view.store %x, %dst_view[%at] : f32, view<[%limit]xf32>\n"))
	record("field_flash_attention", "ops/flash_attention.loom", `"motifs/grid.loom"`)
	files["manifest.json"] = &fstest.MapFile{Data: []byte(fmt.Sprintf(
		"{\n  \"schema\": \"ggml-hrx-kernel-corpus-v1\",\n  \"upstream_revision\": \"local\",\n  \"files\": [\n%s\n  ],\n  \"exports\": [\n%s\n  ]\n}\n",
		strings.Join(listed, ",\n"), strings.Join(records, ",\n")))}
	return files
}

// publish returns the family's parameters, and the arguments and types of an
// application of it.
func (s synthetic) publish() (params, args, types string) {
	var ps, as, ts []string
	for i := range s.publishArgs - 4 {
		ps, as, ts = append(ps, fmt.Sprintf("%%p%d: index", i)), append(as, "%rows"), append(ts, "index")
	}
	for _, p := range [][3]string{{"%limit", "index", "%limit"}, {"%at", "index", "%at"}, {"%value", "f32", "%value"}, {"%out", "buffer", "%dst"}} {
		ps, as, ts = append(ps, p[0]+": "+p[1]), append(as, p[2]), append(ts, p[1])
	}
	return strings.Join(ps, ", "), strings.Join(as, ", "), strings.Join(ts, ", ")
}
