package loom

import "math"

// HoldsInt reports whether the predicate holds for integers a, b and c, of which
// it reads as many as its arity. They are sign-extended values of the given width
// in bits (1 to 64), which is where the unsigned comparisons wrap. Predicates of
// floats alone hold for every integer.
func (k PredKind) HoldsInt(a, b, c int64, bits uint) bool {
	m := uint64(math.MaxUint64) >> (64 - bits)
	ua, ub := uint64(a)&m, uint64(b)&m
	switch k {
	case PredEq:
		return a == b
	case PredNe:
		return a != b
	case PredLt:
		return a < b
	case PredLe, PredMax:
		return a <= b
	case PredGt:
		return a > b
	case PredGe, PredMin:
		return a >= b
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
	case PredRange:
		return a >= b && a <= c
	case PredNotNaN, PredNotInf, PredFinite:
		return true
	}
	return false
}

// HoldsFloat is HoldsInt for floats. Comparisons with a NaN do not hold, except
// ne. The integer predicates (multiple_of, power_of_two, unsigned comparisons)
// hold for no float.
func (k PredKind) HoldsFloat(x, y, z float64) bool {
	switch k {
	case PredNotNaN:
		return !math.IsNaN(x)
	case PredNotInf:
		return !math.IsInf(x, 0)
	case PredFinite:
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case PredEq:
		return x == y
	case PredNe:
		return x != y
	case PredLt:
		return x < y
	case PredLe, PredMax:
		return x <= y
	case PredGt:
		return x > y
	case PredGe, PredMin:
		return x >= y
	case PredRange:
		return x >= y && x <= z
	}
	return false
}
