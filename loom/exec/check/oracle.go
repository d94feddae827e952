package check

import (
	"fmt"
	"slices"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec"
)

// Value is a host value: a scalar of Kind in Bits, or a tensor.
type Value struct {
	Kind   loom.Kind
	Bits   uint64
	Tensor *Tensor
}

// OracleCall is what check.oracle.call asks for.
type OracleCall struct {
	Callee  string // symbol without '@'
	Attrs   map[string]loom.Attr
	Inputs  []Value
	Results []*Tensor // zeroed tensors of the result types, to be filled
}

// Oracle computes expected values.
type Oracle func(call OracleCall) error

// Requirement answers check.requires and check.skip_if: whether the condition
// holds, and in words why not (or why).
type Requirement func(attrs map[string]loom.Attr) (holds bool, reason string, err error)

// Comparison serves check.expect<provider>: it returns "" when the values agree
// and else what is wrong.
type Comparison func(actual, expected Value, attrs map[string]loom.Attr) (string, error)

// Event serves check.expect.event.
type Event func(attrs map[string]loom.Attr, launches []LaunchRecord) (string, error)

// Registry names the providers that cases may refer to. A requirement that is
// not registered skips the case; any other missing provider is an error.
type Registry struct {
	Oracles      map[string]Oracle
	Requirements map[string]Requirement
	Comparisons  map[string]Comparison
	Events       map[string]Event
}

// DefaultRegistry returns the providers every run has: the matrix product
// oracles reference.matmul and reference.tiled_matmul, and the launch.count
// event.
func DefaultRegistry() *Registry {
	return &Registry{
		Oracles:      map[string]Oracle{"reference.matmul": matmul, "reference.tiled_matmul": matmul},
		Requirements: map[string]Requirement{},
		Comparisons:  map[string]Comparison{},
		Events:       map[string]Event{"launch.count": launchCount},
	}
}

func launchCount(attrs map[string]loom.Attr, launches []LaunchRecord) (string, error) {
	want, ok := attrs["count"]
	if !ok {
		return "", fmt.Errorf("the event launch.count needs count = N")
	}
	n := int64(0)
	for _, l := range launches {
		if k, ok := attrs["kernel"]; !ok || k.Str == l.Kernel {
			n++
		}
	}
	if n != want.Int {
		return fmt.Sprintf("%d launches, expected %d", n, want.Int), nil
	}
	return "", nil
}

// matmul computes lhs·rhs, plus init when a third input is given, each element
// accumulated in float64 (integers exactly) and rounded once. The attributes lhs
// and rhs say u8 where bytes are unsigned.
func matmul(c OracleCall) error {
	if len(c.Inputs) < 2 || len(c.Inputs) > 3 || len(c.Results) != 1 {
		return fmt.Errorf("takes lhs, rhs and optionally init, and gives one result")
	}
	ts := make([]*Tensor, 3)
	for i, v := range c.Inputs {
		if v.Tensor == nil || len(v.Tensor.Dims) != 2 {
			return fmt.Errorf("input %d is not a matrix", i)
		}
		ts[i] = v.Tensor
	}
	a, b, init, out := ts[0], ts[1], ts[2], c.Results[0]
	m, k, n := a.Dims[0], a.Dims[1], b.Dims[1]
	if b.Dims[0] != k || !slices.Equal(out.Dims, []int64{m, n}) || init != nil && !slices.Equal(init.Dims, out.Dims) {
		return fmt.Errorf("%s times %s does not give %s", a.Type(), b.Type(), out.Type())
	}
	value := func(t *Tensor, name string, i int64) float64 {
		if f, ok := c.Attrs[name]; ok && len(f.Str) > 0 && f.Str[0] == 'u' && t.Elem.IsInt() {
			return float64(t.Bits(i))
		}
		return t.Float(i)
	}
	for i := range m {
		for j := range n {
			s := 0.0
			if init != nil {
				s = init.Float(i*n + j)
			}
			for x := range k {
				s += value(a, "lhs", i*k+x) * value(b, "rhs", x*n+j)
			}
			if out.Elem.IsFloat() {
				out.SetBits(i*n+j, exec.EncodeFloat(out.Elem, s))
			} else {
				out.SetBits(i*n+j, uint64(int64(s))&mask(out.Elem))
			}
		}
	}
	return nil
}
