package loom

import "math"

// HoldsInt reports whether the predicate holds for integers a, b and c, of which
// it reads as many as its arity. They are sign-extended values of the given width
// in bits (1 to 64), which is where the unsigned comparisons wrap. Predicates of
// floats alone hold for every integer.
func (k PredKind) HoldsInt(a, b, c int64, bits uint) bool {
	m := uint64(math.MaxUint64) >> (64 - bits)
	ua, ub := uint64(a)&m, uint64(b)&m
	if holds, ok := compare(k, a, b, c); ok {
		return holds
	}
	switch k {
	case PredULt:
		return ua < ub
	case PredULe:
		return ua <= ub
	case PredUGt:
		return ua > ub
	case PredUGe:
		return ua >= ub
	case PredMultipleOf:
		return b != 0 && a%b == 0
	case PredPow2:
		return a > 0 && a&(a-1) == 0
	case PredNotNaN, PredNotInf, PredFinite:
		return true
	}
	return false
}

// HoldsFloat is HoldsInt for floats. Comparisons with a NaN do not hold, except
// ne. The integer predicates (multiple_of, power_of_two, unsigned comparisons)
// hold for no float.
func (k PredKind) HoldsFloat(x, y, z float64) bool {
	if holds, ok := compare(k, x, y, z); ok {
		return holds
	}
	switch k {
	case PredNotNaN:
		return !math.IsNaN(x)
	case PredNotInf:
		return !math.IsInf(x, 0)
	case PredFinite:
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return false
}

// compare evaluates the predicates that order numbers as Go does; ok is false for
// the others.
func compare[T int64 | float64](k PredKind, a, b, c T) (holds, ok bool) {
	switch k {
	case PredEq:
		return a == b, true
	case PredNe:
		return a != b, true
	case PredLt:
		return a < b, true
	case PredLe, PredMax:
		return a <= b, true
	case PredGt:
		return a > b, true
	case PredGe, PredMin:
		return a >= b, true
	case PredRange:
		return a >= b && a <= c, true
	}
	return false, false
}
