package require

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
)

// Launch is one launch of a closed kernel that is about to happen.
type Launch struct {
	Kernel   *kernel.Kernel
	Geometry kernel.Geometry
	// Workload are the values the geometry was computed from, in order; nil when
	// they are not known. They are only shown.
	Workload []int64
	// Scalars are the values of the launch parameters that are not buffers, in
	// order. Floats count as unknown, whatever is in their place.
	Scalars []int64
}

// Reach computes how far the launch goes into each binding.
func (l Launch) Reach() []Reach {
	for _, n := range l.Geometry.Count {
		if n == 0 { // nothing runs
			out := make([]Reach, len(l.Kernel.Bindings))
			for i := range out {
				out[i].Known = true
			}
			return out
		}
	}
	k := l.Kernel
	params := map[*loom.Value]facts.Fact{}
	for i, s := range k.Launch {
		if i < len(l.Scalars) && !s.Param.Type.Kind.IsFloat() {
			params[s.Param] = facts.Exact(l.Scalars[i])
		}
	}
	for i, s := range k.Workload {
		if i < len(l.Workload) && !s.Param.Type.Kind.IsFloat() {
			params[s.Param] = facts.Exact(l.Workload[i])
		}
	}
	return Footprint(k, facts.Analyze(k.Def, facts.Env{
		Params: params, WaveSize: int64(k.Target.WaveSize), WorkgroupSize: l.Geometry.Size,
		MaxWorkgroupSize: int64(k.Target.MaxWorkgroupSize), MaxWorkgroupDim: k.Target.MaxWorkgroupDim, MaxGridDim: l.Geometry.Count,
	}))
}

// Check compares the lengths of the buffers, in the order of the bindings, with
// what the kernel's views need. Every short one is an error of code LAUNCH/BUFFER
// at the view that reaches furthest.
func (l Launch) Check(reach []Reach, lengths []int64) diag.List {
	var ds diag.List
	for i, r := range reach {
		if i >= len(lengths) || r.Bytes <= lengths[i] {
			continue
		}
		b := l.Kernel.Bindings[i]
		at := r.View
		if !at.Valid() {
			at = r.At
		}
		d := diag.Errorf(at, "LAUNCH/BUFFER", "argument '%s' of '@%s' has %d bytes, this launch touches %d", b.Name, l.Kernel.Symbol, lengths[i], r.Bytes)
		if r.At.Valid() && r.At != at {
			d = d.WithRelated(r.At, "this access ends at byte %d", r.Bytes)
		}
		if at.Src != l.Kernel.Def.NameSpan.Src { // the access came with a motif
			d = d.WithRelated(l.Kernel.Def.NameSpan, "binding %d of this kernel", i)
		}
		d = d.WithRelated(diag.Span{}, "%s", l.Values())
		ds.Add(d.WithHelp("pass at least %d bytes for '%s', or correct the values that size the view", r.Bytes, b.Name))
	}
	return ds
}

// Values says in words what the launch was computed from.
func (l Launch) Values() string {
	var parts []string
	list := func(what string, names []kernel.Scalar, values []int64) {
		var words []string
		for i, s := range names {
			if i < len(values) && !s.Param.Type.Kind.IsFloat() {
				words = append(words, fmt.Sprintf("%s = %d", s.Name, values[i]))
			}
		}
		if len(words) > 0 {
			parts = append(parts, what+" "+strings.Join(words, ", "))
		}
	}
	list("workload", l.Kernel.Workload, l.Workload)
	list("launch", l.Kernel.Launch, l.Scalars)
	var config []string
	for _, c := range l.Kernel.Config {
		config = append(config, c.Key+" = "+c.Text)
	}
	if len(config) > 0 {
		parts = append(parts, "config "+strings.Join(config, ", "))
	}
	g := l.Geometry
	parts = append(parts, fmt.Sprintf("grid %d×%d×%d of %d×%d×%d", g.Count[0], g.Count[1], g.Count[2], g.Size[0], g.Size[1], g.Size[2]))
	return "with " + strings.Join(parts, "; ")
}

// Traffic is what a launch must at least move between memory and the device when
// every byte it touches is read or written once.
type Traffic struct {
	Read, Write int64 // bytes
	// Known is false when the extent of a view depends on data: the whole buffer is
	// counted for it then.
	Known bool
}

// Traffic adds up reads and writes over the bindings. lengths stand in where the
// reach is not known.
func (l Launch) Traffic(reach []Reach, lengths []int64) Traffic {
	t := Traffic{Known: true}
	for i, r := range reach {
		n := r.Bytes
		if !r.Known {
			t.Known = false
			if i < len(lengths) {
				n = lengths[i]
			}
		}
		a := l.Kernel.Bindings[i].Access
		if a&kernel.Read != 0 {
			t.Read += n
		}
		if a&kernel.Write != 0 {
			t.Write += n
		}
	}
	return t
}
