package require

import "github.com/loomc/loomc/loom"

// holds evaluates a predicate over known integers. known is false when an
// argument has no value or is no integer.
func holds(p loom.Predicate, value func(*loom.Value) (int64, bool)) (ok, known bool) {
	var a [3]int64
	if len(p.Args) == 0 || len(p.Args) > len(a) {
		return false, false
	}
	for i, x := range p.Args {
		switch {
		case x.IsFloat:
			return false, false
		case x.Val == nil:
			a[i] = x.Int
		default:
			v, have := value(x.Val)
			if !have {
				return false, false
			}
			a[i] = v
		}
	}
	if d := loom.LookupPred(p.Name()); d == nil || d.Arity != len(p.Args) {
		return false, false
	}
	switch p.Kind {
	case loom.PredEq:
		return a[0] == a[1], true
	case loom.PredNe:
		return a[0] != a[1], true
	case loom.PredLt:
		return a[0] < a[1], true
	case loom.PredLe, loom.PredMax:
		return a[0] <= a[1], true
	case loom.PredGt:
		return a[0] > a[1], true
	case loom.PredGe, loom.PredMin:
		return a[0] >= a[1], true
	case loom.PredMultipleOf:
		return a[1] != 0 && a[0]%a[1] == 0, true
	case loom.PredPow2:
		return a[0] > 0 && a[0]&(a[0]-1) == 0, true
	case loom.PredRange:
		return a[0] >= a[1] && a[0] <= a[2], true
	case loom.PredULt:
		return uint64(a[0]) < uint64(a[1]), true
	case loom.PredULe:
		return uint64(a[0]) <= uint64(a[1]), true
	case loom.PredUGt:
		return uint64(a[0]) > uint64(a[1]), true
	case loom.PredUGe:
		return uint64(a[0]) >= uint64(a[1]), true
	}
	return false, false
}
