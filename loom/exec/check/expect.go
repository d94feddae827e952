package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec"
)

// scalarTensor lets scalars and tensors share the comparison.
func (v Value) asTensor() *Tensor {
	if v.Tensor != nil {
		return v.Tensor
	}
	t := &Tensor{Elem: v.Kind, Data: make([]byte, max(v.Kind.Bytes(), 1))}
	t.SetBits(0, v.Bits)
	return t
}

// rule decides whether one element agrees.
type rule func(actual, expected uint64) bool

// equalRule: floats compare by value, so −0 equals +0 and a NaN equals a NaN.
func equalRule(k loom.Kind) rule {
	if !k.IsFloat() {
		return func(a, e uint64) bool { return a == e }
	}
	return func(a, e uint64) bool {
		x, y := exec.DecodeFloat(k, a), exec.DecodeFloat(k, e)
		return x == y || x != x && y != y
	}
}

func closeRule(k loom.Kind, atol, rtol float64, nanSame bool) rule {
	return func(a, e uint64) bool {
		var x, y float64
		if k.IsFloat() {
			x, y = exec.DecodeFloat(k, a), exec.DecodeFloat(k, e)
		} else {
			x, y = float64(exec.SignExtend(k, a)), float64(exec.SignExtend(k, e))
		}
		switch {
		case x != x || y != y:
			return nanSame && x != x && y != y
		case x == y:
			return true
		case math.IsInf(x, 0) || math.IsInf(y, 0):
			return false
		}
		return math.Abs(x-y) <= atol+rtol*math.Abs(y)
	}
}

// compare lists the elements that break the rule.
func compare(actual, expected *Tensor, ok rule, limit int) (m Mismatch, err error) {
	if actual.Elem != expected.Elem || !slices.Equal(actual.Dims, expected.Dims) {
		return m, fmt.Errorf("actual is %s and expected %s", actual.Type(), expected.Type())
	}
	m.Total = actual.Len()
	k := actual.Elem
	for i := range m.Total {
		a, e := actual.Bits(i), expected.Bits(i)
		if ok(a, e) {
			continue
		}
		m.Wrong++
		d := ulps(k, a, e)
		m.MaxULP = max(m.MaxULP, d)
		if k.IsFloat() {
			if abs := math.Abs(exec.DecodeFloat(k, a) - exec.DecodeFloat(k, e)); abs > m.MaxAbs {
				m.MaxAbs = abs
			}
		}
		if len(m.First) < limit {
			m.First = append(m.First, Element{Index: actual.Index(i), Expected: show(k, e), Actual: show(k, a), ULP: d})
		}
	}
	return m, nil
}

// ulps returns how many representable values lie between two floats, or the
// distance of two integers; -1 when a NaN or a single infinity takes part.
func ulps(k loom.Kind, a, e uint64) int64 {
	if !k.IsFloat() {
		d := exec.SignExtend(k, a) - exec.SignExtend(k, e)
		if d < 0 {
			d = -d
		}
		return d
	}
	x, y := exec.DecodeFloat(k, a), exec.DecodeFloat(k, e)
	if x != x || y != y || math.IsInf(x, 0) != math.IsInf(y, 0) {
		return -1
	}
	sign := uint64(1) << (k.Bits() - 1)
	order := func(b uint64) int64 {
		if b&sign != 0 {
			return -int64(b &^ sign)
		}
		return int64(b)
	}
	d := order(a) - order(e)
	if d < 0 {
		d = -d
	}
	return d
}

func show(k loom.Kind, bits uint64) string {
	switch {
	case k == loom.I1:
		return strconv.FormatBool(bits&1 != 0)
	case !k.IsFloat():
		return strconv.FormatInt(exec.SignExtend(k, bits), 10)
	}
	v := exec.DecodeFloat(k, bits)
	size := 64
	if k != loom.F64 {
		size = 32
	}
	s := strconv.FormatFloat(v, 'g', -1, size)
	if v != v {
		s = fmt.Sprintf("nan(0x%x)", bits)
	}
	return s
}
