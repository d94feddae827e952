package check

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Param is one parameter of a case with the values it takes.
type Param struct {
	Name   string
	Value  *loom.Value // what the body refers to
	Values []loom.Attr
	Place  diag.Span
}

// ParamValue is a parameter's value in one sample.
type ParamValue struct {
	Name string `json:"name"`
	Text string `json:"value"`
}

// Sample is one point of the sample space: the index of each parameter's value.
type Sample []int

// maxSamples bounds the sample space of one case.
const maxSamples = 1 << 16

// Params collects the parameters of a case in lexical order.
func Params(def *loom.Def) ([]Param, diag.List) {
	var out []Param
	var ds diag.List
	def.Load()
	total := 1
	def.Walk(func(op *loom.Op) bool {
		p := Param{Name: op.Attr("param_name").Str, Value: op.Result(), Place: op.Span}
		bad := func(format string, args ...any) {
			ds.Add(diag.Errorf(op.Span, "CHECK/PARAM", format, args...))
		}
		switch op.Name() {
		case "check.param.choice":
			p.Values = op.Attr("values").List()
			for _, v := range op.Attr("values").Ints() {
				p.Values = append(p.Values, loom.IntAttr(v))
			}
		case "check.param.range":
			lo, hi := op.Attr("lower").Int, op.Attr("upper").Int
			step := int64(1)
			if s := op.Attr("step"); s.Kind != loom.AttrNone {
				step = s.Int
			}
			po2 := op.Word("sweep") == "po2"
			switch {
			case hi < lo:
				bad("the sweep from %d to %d is empty", lo, hi)
				return true
			case !po2 && step < 1:
				bad("the step %d of the sweep is not positive", step)
				return true
			case po2 && lo < 1:
				bad("a sweep by powers of two starts at 1 or more, not %d", lo)
				return true
			}
			for v := lo; v <= hi; {
				p.Values = append(p.Values, loom.IntAttr(v))
				if len(p.Values) > maxSamples {
					bad("the sweep from %d to %d has more than %d values", lo, hi, maxSamples)
					return true
				}
				next := v + step
				if po2 {
					next = v * 2
				}
				if next <= v {
					break
				}
				v = next
			}
		case "check.param.seed":
			n := op.Attr("count").Int
			if n < 1 || n > maxSamples {
				bad("%d seeds; 1 to %d are possible", n, maxSamples)
				return true
			}
			for i := range n {
				p.Values = append(p.Values, loom.IntAttr(op.Attr("base").Int+i))
			}
		default:
			return true
		}
		if len(p.Values) == 0 {
			bad("the parameter takes no value")
			return true
		}
		if p.Name == "" {
			p.Name = p.Value.Name
		}
		out = append(out, p)
		if total *= len(p.Values); total > maxSamples {
			bad("the parameters of @%s span more than %d samples", def.Name, maxSamples)
		}
		return true
	})
	return out, ds
}

// Samples lists the sample space, the last parameter fastest.
func Samples(ps []Param) []Sample {
	out := []Sample{make(Sample, len(ps))}
	for i, p := range ps {
		var next []Sample
		for _, s := range out {
			for v := range p.Values {
				n := append(Sample(nil), s...)
				n[i] = v
				next = append(next, n)
			}
		}
		out = next
	}
	return out
}

func (s Sample) values(ps []Param) []ParamValue {
	out := make([]ParamValue, len(ps))
	for i, p := range ps {
		out[i] = ParamValue{p.Name, p.Values[s[i]].String()}
	}
	return out
}

func paramText(vs []ParamValue) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = v.Name + "=" + v.Text
	}
	return strings.Join(parts, " ")
}

// Benchmark is a timed run of a case.
type Benchmark struct {
	Name    string
	Case    string
	Def     *loom.Def
	Samples []Sample // the samples its parameter values allow
	Params  []Param
}

// Benchmarks enumerates the check.benchmark definitions of a module with the
// samples of their cases that they select. A benchmark without a name is called
// after its case.
func Benchmarks(m *loom.Module) ([]Benchmark, diag.List) {
	var out []Benchmark
	var ds diag.List
	for _, d := range m.Defs {
		if d.Kind != loom.DefBenchmark {
			continue
		}
		d.Load()
		c := m.Lookup(d.Family)
		if c == nil || c.Kind != loom.DefCheckCase {
			ds.Add(diag.Errorf(d.Span, "SYMBOL/002", "check.benchmark refers to the case '@%s', which does not exist", d.Family))
			continue
		}
		ps, pd := Params(c)
		ds = append(ds, pd...)
		b := Benchmark{Name: d.Name, Case: c.Name, Def: d, Params: ps}
		if b.Name == "" {
			b.Name = c.Name
		}
		fixed := map[int]string{}
		for _, a := range d.Attrs {
			at := -1
			for i, p := range ps {
				if p.Name == a.Name {
					at = i
				}
			}
			if at < 0 {
				ds.Add(diag.Errorf(d.Span, "CHECK/PARAM", "the case '@%s' has no parameter %q", c.Name, a.Name).
					WithHelp("its parameters are: %s", paramNames(ps)))
				continue
			}
			fixed[at] = a.Value.String()
		}
	samples:
		for _, s := range Samples(ps) {
			for i, want := range fixed {
				if ps[i].Values[s[i]].String() != want {
					continue samples
				}
			}
			b.Samples = append(b.Samples, s)
		}
		if len(b.Samples) == 0 && !pd.HasErrors() {
			ds.Add(diag.Errorf(d.Span, "CHECK/PARAM", "no sample of the case '@%s' has the benchmark's parameter values", c.Name))
		}
		out = append(out, b)
	}
	return out, ds
}

func paramNames(ps []Param) string {
	if len(ps) == 0 {
		return "none"
	}
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = fmt.Sprintf("%q", p.Name)
	}
	return strings.Join(names, ", ")
}
