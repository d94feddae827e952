package facts

import "github.com/loomc/loomc/loom"

// Row is one value of a definition with what is known about it.
type Row struct {
	Value *loom.Value
	Op    *loom.Op // what defines or, for a region's argument, holds it; nil for parameters
	Fact  Fact
	Float float64 // exact float constant when IsFloat
	// IsFloat marks a known float constant.
	IsFloat bool
	// Refined marks a row that says more about a value defined further out: what a
	// branch condition adds inside the branch. Op is the branch.
	Refined bool
}

// Rows lists the values of the analysed definition in program order, for a
// reader: parameters, then for every operation its results and what its regions
// add. Values that nothing can be known about (buffers, views, encodings) are
// left out.
func (s *Set) Rows() []Row {
	var out []Row
	add := func(v *loom.Value, op *loom.Op) {
		if !v.Type.Element().IsScalar() || v.Type.Kind == loom.View || v.Type.Kind == loom.Tensor {
			return
		}
		r := Row{Value: v, Op: op, Fact: s.Of(v)}
		r.Float, r.IsFloat = s.Float(v)
		out = append(out, r)
	}
	var region func(r *loom.Region)
	region = func(r *loom.Region) {
		if sc := s.scopes[r]; sc != nil && r.Op != nil {
			for _, x := range sc.refined {
				out = append(out, Row{Value: x.v, Op: r.Op, Fact: x.f, Refined: true})
			}
		}
		for _, b := range r.Blocks {
			for _, a := range b.Args {
				add(a, r.Op)
			}
			for _, op := range b.Ops {
				// Results of a loop or branch hold after it.
				for _, in := range op.Regions {
					region(in)
				}
				for _, v := range op.Results {
					add(v, op)
				}
			}
		}
	}
	for _, v := range s.def.Workload {
		add(v, nil)
	}
	if s.def.Config != nil {
		region(s.def.Config)
	}
	for _, v := range s.def.Params {
		add(v, nil)
	}
	if s.def.Body != nil {
		region(s.def.Body)
	}
	return out
}
