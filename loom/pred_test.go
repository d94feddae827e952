package loom_test

import (
	"math"
	"testing"

	"github.com/loomc/loomc/loom"
)

func TestPredicatesHold(t *testing.T) {
	kinds := map[string]loom.PredKind{}
	for _, d := range loom.PredDefs {
		kinds[d.Name] = d.Kind
	}
	seen := map[string]bool{}
	ints := []struct {
		pred    string
		a, b, c int64
		bits    uint
		want    bool
	}{
		{"eq", 3, 3, 0, 64, true}, {"eq", 3, 4, 0, 64, false},
		{"ne", 3, 4, 0, 64, true}, {"ne", 3, 3, 0, 64, false},
		{"lt", -1, 0, 0, 64, true}, {"lt", 0, 0, 0, 64, false},
		{"le", 0, 0, 0, 64, true}, {"le", 1, 0, 0, 64, false},
		{"gt", 1, 0, 0, 64, true}, {"gt", 0, 0, 0, 64, false},
		{"ge", 0, 0, 0, 64, true}, {"ge", -1, 0, 0, 64, false},
		{"min", 2, 2, 0, 64, true}, {"min", 1, 2, 0, 64, false},
		{"max", 2, 2, 0, 64, true}, {"max", 3, 2, 0, 64, false},
		{"ult", 1, -1, 0, 64, true}, {"ult", -1, 1, 0, 64, false},
		{"ule", -1, -1, 0, 8, true}, {"ule", -1, 127, 0, 8, false},
		{"ugt", -1, 127, 0, 8, true}, {"ugt", 5, -6, 0, 8, false},
		{"uge", -6, 5, 0, 8, true}, {"uge", 5, -6, 0, 8, false},
		{"multiple_of", 0, 8, 0, 64, true}, {"multiple_of", -16, 8, 0, 64, true}, {"multiple_of", 12, 8, 0, 64, false}, {"multiple_of", 8, 0, 0, 64, false},
		{"mul", 16, 8, 0, 64, true}, {"mul", 15, 8, 0, 64, false},
		{"power_of_two", 1, 0, 0, 64, true}, {"power_of_two", 0, 0, 0, 64, false}, {"power_of_two", -8, 0, 0, 64, false}, {"power_of_two", math.MinInt64, 0, 0, 64, false},
		{"pow2", 64, 0, 0, 64, true}, {"pow2", 6, 0, 0, 64, false},
		{"range", 1, 1, 4, 64, true}, {"range", 4, 1, 4, 64, true}, {"range", 5, 1, 4, 64, false}, {"range", 0, 1, 4, 64, false},
		{"not_nan", 1, 0, 0, 64, true}, {"not_inf", 1, 0, 0, 64, true}, {"finite", 1, 0, 0, 64, true},
	}
	for _, c := range ints {
		seen[c.pred] = true
		if got := kinds[c.pred].HoldsInt(c.a, c.b, c.c, c.bits); got != c.want {
			t.Errorf("%s(%d, %d, %d) in %d bits: %v", c.pred, c.a, c.b, c.c, c.bits, got)
		}
	}
	for name := range kinds {
		if !seen[name] {
			t.Errorf("no case for %s", name)
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		pred    string
		x, y, z float64
		want    bool
	}{
		{"eq", 0, math.Copysign(0, -1), 0, true}, {"eq", nan, nan, 0, false}, {"ne", nan, nan, 0, true},
		{"lt", 1, 2, 0, true}, {"lt", nan, 2, 0, false}, {"le", 2, 2, 0, true}, {"gt", inf, 2, 0, true}, {"ge", 1, 2, 0, false},
		{"min", 2, 1, 0, true}, {"max", 2, 1, 0, false},
		{"range", 0.5, 0, 1, true}, {"range", 1.5, 0, 1, false}, {"range", nan, 0, 1, false},
		{"not_nan", nan, 0, 0, false}, {"not_nan", inf, 0, 0, true}, {"not_inf", -inf, 0, 0, false}, {"not_inf", nan, 0, 0, true},
		{"finite", nan, 0, 0, false}, {"finite", inf, 0, 0, false}, {"finite", 1, 0, 0, true},
		{"multiple_of", 4, 2, 0, false}, {"power_of_two", 4, 0, 0, false}, {"ult", 1, 2, 0, false},
	} {
		if got := kinds[c.pred].HoldsFloat(c.x, c.y, c.z); got != c.want {
			t.Errorf("%s(%v, %v, %v): %v", c.pred, c.x, c.y, c.z, got)
		}
	}
}
