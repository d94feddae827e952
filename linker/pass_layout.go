package linker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/rewrite"
)

// defaultLocalAlign is the alignment of an allocation that asks for none: the
// widest access to workgroup memory.
const defaultLocalAlign = 16

// layout reserves workgroup memory: the exact or the proven largest size of every
// allocation, one after the other in program order, each at its alignment.
func (s *specializer) layout() int {
	set := s.analyze()
	var at int64
	s.def.Walk(func(op *loom.Op) bool {
		if op.Def.Name != "buffer.alloca" || op.Word("memory_space") != "workgroup" {
			return true
		}
		v := op.Operand("byte_length")
		f := set.At(op, v)
		if f.Hi < 0 || f.Hi > 1<<31 {
			s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/051", "the workgroup allocation %%%s has no proven size: %%%s is %s", op.Results[0].Name, v.Name, f.Known()).
				WithHelp("bound it, e.g. index.assume %%%s [range(%%%s, 0, MAX)]", v.Name, v.Name)))
			return true
		}
		align := op.Attr("base_alignment").Int
		if align <= 0 {
			align = defaultLocalAlign
		}
		at = (at + align - 1) / align * align
		s.out.Local = append(s.out.Local, kernel.LocalBuffer{Name: op.Results[0].Name, Alloca: op, Offset: at, Size: f.Hi, Align: align})
		at += f.Hi
		return true
	})
	s.out.LocalBytes = at
	if limit := int64(s.options.Target.LDSBytes); limit > 0 && at > limit && !s.diags.HasErrors() {
		d := diag.Errorf(s.source.NameSpan, "TARGET/051", "kernel '@%s' reserves %d bytes of workgroup memory, %s has %d", s.def.Name, at, s.options.Target.Processor, limit)
		var parts []string
		for _, l := range s.out.Local {
			d = d.WithRelated(l.Alloca.NameSpan(), "%%%s takes %d bytes at offset %d", l.Name, l.Size, l.Offset)
			parts = append(parts, fmt.Sprintf("%%%s %d", l.Name, l.Size))
		}
		s.diags.Add(d.WithHelp("reduce %s", strings.Join(parts, ", ")))
	}
	return 0
}

// boundary fills in what callers of the kernel see.
func (s *specializer) boundary() int {
	if s.def.Body != nil {
		s.deriveBindings()
	}
	scalar := func(vs []*loom.Value) (out []kernel.Scalar) {
		for _, v := range vs {
			if v.Type.Kind != loom.Buffer {
				out = append(out, kernel.Scalar{Name: v.Name, Param: v})
			}
		}
		return out
	}
	s.out.Launch = scalar(s.def.Params)
	s.out.Workload = scalar(s.def.Workload)
	keys := make([]string, 0, len(s.config))
	for k := range s.config {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		s.out.Config = append(s.out.Config, s.config[k])
	}
	rewrite.Rename(s.def)
	s.out.Facts = s.analyze()
	if t := s.def.Config.Entry().Terminator(); t != nil {
		for i, axis := range [3]string{"x", "y", "z"} {
			if v := t.Operand("workgroup_size_" + axis); v != nil {
				if c, ok := s.out.Facts.Of(v).Const(); ok {
					s.out.WorkgroupSize[i] = c
				}
			}
		}
	}
	return 0
}
