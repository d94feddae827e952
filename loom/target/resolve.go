package target

import (
	"fmt"
	"math"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// String returns "16x16x16 f16→f32".
func (s MatrixShape) String() string {
	return fmt.Sprintf("%dx%dx%d %s→%s", s.M, s.N, s.K, s.Lhs, s.Acc)
}

// Resolve makes the target that a kernel is compiled for out of the record its
// target(@…) names and the processor the user selected. Either may be absent:
// without a record the selected processor's facts hold, without a selection the
// record's. With both, the selected processor must be able to stand in for the
// authored one (TARGET/052 otherwise) and the record's attributes narrow its
// facts. The target is nil when an error was found.
func Resolve(record *loom.Def, selected string) (*Target, diag.List) {
	var ds diag.List
	if record == nil {
		if selected == "" {
			return nil, diag.List{diag.Errorf(diag.Span{}, "TARGET/026", "no target: the kernel names none and none was selected").
				WithHelp("select one, e.g. --target gfx1151")}
		}
		t, ok := Lookup(selected)
		if !ok {
			return nil, diag.List{unknown(diag.Span{}, selected)}
		}
		return t, nil
	}
	ds = append(ds, record.Load()...)
	if ds.HasErrors() {
		return nil, ds
	}
	authored, at := Processor(record), record.NameSpan
	if _, ok := Lookup(authored); !ok {
		ds.Add(unknown(at, authored))
		return nil, ds
	}
	processor := authored
	if selected != "" {
		if _, ok := Lookup(selected); !ok {
			ds.Add(unknown(diag.Span{}, selected))
			return nil, ds
		}
		if !Compatible(authored, selected) {
			ds.Add(diag.Errorf(at, "TARGET/052", "target '@%s' is written for %s, which conflicts with the selected target %s",
				record.Name, authored, selected).WithHelp("%s", conflictHelp(authored, selected)))
			return nil, ds
		}
		processor = selected
	}
	t, _ := Lookup(processor)
	n := narrower{t: t, record: record}
	for _, a := range record.Attrs {
		n.apply(a)
	}
	ds = append(ds, n.ds...)
	if ds.HasErrors() {
		return nil, ds
	}
	return t, ds
}

func unknown(at diag.Span, name string) diag.Diagnostic {
	d := diag.Errorf(at, "AMDGPU/003", "unknown target '%s'", name)
	if near := Nearest(name); near != "" {
		return d.WithHelp("did you mean '%s'?", near)
	}
	return d.WithHelp("known targets: %s", strings.Join(Names(), ", "))
}

func conflictHelp(authored, selected string) string {
	a, s := targets().byName[authored], targets().byName[selected]
	var why []string
	if a.family != s.family {
		why = append(why, fmt.Sprintf("instruction family %s against %s", a.family, s.family))
	}
	if fmt.Sprint(a.waves) != fmt.Sprint(s.waves) {
		why = append(why, fmt.Sprintf("wave sizes %v against %v", a.waves, s.waves))
	}
	if a.lds > s.lds {
		why = append(why, fmt.Sprintf("%d bytes of workgroup storage against %d", a.lds, s.lds))
	}
	if len(a.generics) > 0 {
		why = append(why, "a generic record such as "+a.generics[0]+" covers the whole family")
	}
	if len(why) == 0 {
		why = append(why, "the two have different matrix shapes")
	}
	return strings.Join(why, "; ")
}

// narrower applies a record's attributes to the row's facts.
type narrower struct {
	t      *Target
	record *loom.Def
	ds     diag.List
}

func (n *narrower) apply(a loom.NamedAttr) {
	switch a.Name {
	case "subgroup_size":
		v, ok := n.positive(a, math.MaxInt32)
		if !ok {
			return
		}
		if !n.t.HasWave(int(v)) {
			n.ds.Add(diag.Errorf(n.span(), "AMDGPU/026", "target '@%s': %s cannot run subgroups of %d lanes", n.record.Name, n.t.Processor, v).
				WithHelp("%s runs %s", n.t.Processor, wavesWords(n.t.WaveSizes)))
			return
		}
		n.t.WaveSize = int(v)
	case "max_flat_workgroup_size":
		if v, ok := n.positive(a, int64(n.t.MaxWorkgroupSize)); ok {
			n.t.MaxWorkgroupSize = int(v)
		}
	case "max_workgroup_storage_bytes":
		if v, ok := n.positive(a, int64(n.t.LDSBytes)); ok {
			n.t.LDSBytes = int(v)
		}
	case "max_workgroup_size_x", "max_workgroup_size_y", "max_workgroup_size_z":
		n.axis(a, &n.t.MaxWorkgroupDim)
	case "max_workgroup_count_x", "max_workgroup_count_y", "max_workgroup_count_z",
		"max_grid_x", "max_grid_y", "max_grid_z", "max_grid_size_x", "max_grid_size_y", "max_grid_size_z":
		n.axis(a, &n.t.MaxGridDim)
	}
	// Every other attribute (formats, bit widths, memory spaces, linkage) is for
	// back ends that loomc does not have; processor is part of the identity.
}

func (n *narrower) axis(a loom.NamedAttr, dims *[3]int64) {
	i := int(a.Name[len(a.Name)-1] - 'x')
	if v, ok := n.positive(a, dims[i]); ok {
		dims[i] = v
	}
}

// positive returns the attribute's value, which must lie in 1…limit.
func (n *narrower) positive(a loom.NamedAttr, limit int64) (int64, bool) {
	if a.Value.Kind != loom.AttrInt || a.Value.Int < 1 {
		n.ds.Add(diag.Errorf(n.span(), "STRUCTURE/014", "target '@%s': %s = %s, want a positive integer", n.record.Name, a.Name, a.Value).
			WithHelp("write a number from 1 to %d", limit))
		return 0, false
	}
	if a.Value.Int > limit {
		n.ds.Add(diag.Errorf(n.span(), "TARGET/LIMIT", "target '@%s': %s = %d is above the limit %d of %s",
			n.record.Name, a.Name, a.Value.Int, limit, n.t.Processor).WithHelp("a record can lower a processor's limits, not raise them"))
		return 0, false
	}
	return a.Value.Int, true
}

func (n *narrower) span() diag.Span { return n.record.NameSpan }

func wavesWords(ws []int) string {
	var out []string
	for _, w := range ws {
		out = append(out, fmt.Sprint(w))
	}
	return strings.Join(out, " or ") + " lanes"
}

// Processor returns the processor or generic a target record is written for.
func Processor(record *loom.Def) string {
	if record.Op != nil && record.Op.Name == "target.generic" {
		return Reference
	}
	for _, a := range record.Attrs {
		if a.Name == "processor" && a.Value.Kind == loom.AttrString {
			return a.Value.Str
		}
	}
	return record.Selector
}
