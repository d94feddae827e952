package linker

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loomc/loomc/loom"
)

// A small window of integers stands for all of them in the property tests.
const windowLo, windowHi = -40, 80

func window(s AllowedSet) []int64 {
	var out []int64
	for v := int64(windowLo); v <= windowHi; v++ {
		if s.Contains(v) {
			out = append(out, v)
		}
	}
	return out
}

func randomPredicate(r *rand.Rand, x *loom.Value) loom.Predicate {
	defs := slices.DeleteFunc(slices.Clone(loom.PredDefs), func(d loom.PredDef) bool {
		return d.Kind == loom.PredNotNaN || d.Kind == loom.PredNotInf || d.Kind == loom.PredFinite
	})
	d := defs[r.IntN(len(defs))]
	p := loom.Predicate{Kind: d.Kind, Old: d.Old, Args: make([]loom.PredArg, d.Arity)}
	for i := range p.Args {
		p.Args[i].Int = int64(r.IntN(60) - 15)
	}
	switch r.IntN(12) {
	case 0: // literal in front
		p.Args[d.Arity-1].Val = x
	case 1: // x with itself
		for i := range p.Args {
			p.Args[i].Val = x
		}
	default:
		p.Args[0].Val = x
	}
	return p
}

// holds is the meaning of a predicate, written down a second time.
func holds(p loom.Predicate, v int64) bool {
	arg := func(i int) int64 {
		if p.Args[i].Val != nil {
			return v
		}
		return p.Args[i].Int
	}
	switch p.Kind {
	case loom.PredEq:
		return arg(0) == arg(1)
	case loom.PredNe:
		return arg(0) != arg(1)
	case loom.PredLt:
		return arg(0) < arg(1)
	case loom.PredLe, loom.PredMax:
		return arg(0) <= arg(1)
	case loom.PredGt:
		return arg(0) > arg(1)
	case loom.PredGe, loom.PredMin:
		return arg(0) >= arg(1)
	case loom.PredMultipleOf:
		return arg(1) != 0 && arg(0)%arg(1) == 0
	case loom.PredPow2:
		return arg(0) > 0 && arg(0)&(arg(0)-1) == 0
	case loom.PredRange:
		return arg(1) <= arg(0) && arg(0) <= arg(2)
	case loom.PredULt:
		return uint64(arg(0)) < uint64(arg(1))
	case loom.PredULe:
		return uint64(arg(0)) <= uint64(arg(1))
	case loom.PredUGt:
		return uint64(arg(0)) > uint64(arg(1))
	case loom.PredUGe:
		return uint64(arg(0)) >= uint64(arg(1))
	}
	panic("unknown predicate")
}

func TestPredicateSetAgreesWithMeaning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := &loom.Value{Name: "x"}
	for range 20000 {
		p := randomPredicate(r, x)
		s, ok := PredicateSet(p, x)
		if !ok {
			// Only a range whose value stands for a bound of itself has no set form.
			if p.Kind == loom.PredRange || p.Kind == loom.PredPow2 {
				continue
			}
			t.Fatalf("%s: no set", p)
		}
		for v := int64(windowLo); v <= windowHi; v++ {
			if s.Contains(v) != holds(p, v) {
				t.Fatalf("%s at %d: set says %v (%s)", p, v, s.Contains(v), s.Words())
			}
		}
		for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64 + 16} {
			if s.Contains(v) != holds(p, v) {
				t.Fatalf("%s at %d: set says %v (%s)", p, v, s.Contains(v), s.Words())
			}
		}
	}
}

func randomSet(r *rand.Rand) AllowedSet {
	x := &loom.Value{Name: "x"}
	s := Between(windowLo, windowHi)
	for range r.IntN(4) {
		if q, ok := PredicateSet(randomPredicate(r, x), x); ok {
			if n := s.Intersect(q); !n.IsEmpty() || r.IntN(8) == 0 {
				s = n
			}
		}
	}
	return s
}

func TestAllowedSetAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		a, b := randomSet(r), randomSet(r)
		wa, wb := window(a), window(b)
		in := func(w []int64, v int64) bool { _, ok := slices.BinarySearch(w, v); return ok }
		var and, or, minus []int64
		for v := int64(windowLo); v <= windowHi; v++ {
			if in(wa, v) && in(wb, v) {
				and = append(and, v)
			}
			if in(wa, v) || in(wb, v) {
				or = append(or, v)
			}
			if in(wa, v) && !in(wb, v) {
				minus = append(minus, v)
			}
		}
		check := func(what string, got AllowedSet, want []int64) {
			t.Helper()
			if !slices.Equal(window(got), want) {
				t.Fatalf("%s of %s and %s: got %v, want %v", what, a.Words(), b.Words(), window(got), want)
			}
			if n, _ := got.Count(); n != int64(len(want)) {
				t.Fatalf("%s of %s and %s: count %d, want %d", what, a.Words(), b.Words(), n, len(want))
			}
			if !slices.Equal(got.Elements(1000), want) {
				t.Fatalf("%s: elements %v, want %v", what, got.Elements(1000), want)
			}
			for i := 1; i < len(got.runs); i++ {
				if got.runs[i].lo <= got.runs[i-1].hi {
					t.Fatalf("%s of %s and %s: runs overlap: %v", what, a.Words(), b.Words(), got.runs)
				}
			}
			for _, run := range got.runs {
				if run.span()%run.step != 0 {
					t.Fatalf("%s: run %v does not end on its stride", what, run)
				}
			}
		}
		check("intersection", a.Intersect(b), and)
		check("union", a.Union(b), or)
		check("difference", a.Without(b), minus)
		if a.Subset(b) != (len(minus) == 0) {
			t.Fatalf("subset of %s in %s: %v", a.Words(), b.Words(), a.Subset(b))
		}
		if a.Equal(b) != slices.Equal(wa, wb) {
			t.Fatalf("equal %s %s: %v", a.Words(), b.Words(), a.Equal(b))
		}
		for range 4 {
			v := int64(r.IntN(windowHi-windowLo+1) + windowLo)
			var want []int64
			i, found := slices.BinarySearch(wa, v)
			switch {
			case found:
				want = []int64{v}
			default:
				if i > 0 {
					want = append(want, wa[i-1])
				}
				if i < len(wa) {
					want = append(want, wa[i])
				}
			}
			if got := a.Nearest(v); !slices.Equal(got, want) {
				t.Fatalf("nearest to %d in %v: got %v, want %v", v, wa, got, want)
			}
		}
	}
}

func TestAllowedSetStride(t *testing.T) {
	for _, c := range []struct {
		s    AllowedSet
		step uint64
		rem  int64
	}{
		{AllowedSet{}, 0, 0},
		{Values(7), 0, 7},
		{Values(3, 11, 27), 8, 3},
		{Between(16, 512).Intersect(Multiples(16)), 16, 0},
		{Everything(), 1, 0},
		{Values(-3, 5), 8, 5},
	} {
		if step, rem := c.s.Stride(); step != c.step || rem != c.rem {
			t.Errorf("%s: stride %d remainder %d, want %d, %d", c.s.Words(), step, rem, c.step, c.rem)
		}
	}
}

func TestAllowedSetExtremes(t *testing.T) {
	if got, ok := Everything().Count(); ok {
		t.Errorf("count of everything = %d, want no int64", got)
	}
	if !Multiples(math.MinInt64).Equal(Values(math.MinInt64, 0)) {
		t.Errorf("multiples of the smallest integer: %s", Multiples(math.MinInt64).Words())
	}
	big := Multiples(1<<40 + 1).Intersect(Multiples(1<<40 - 1)).Intersect(Between(1, math.MaxInt64))
	if !big.IsEmpty() {
		t.Errorf("no common multiple fits, got %s", big.Words())
	}
	for _, v := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		if !Everything().Contains(v) || Everything().Without(Values(v)).Contains(v) {
			t.Errorf("taking %d out of everything", v)
		}
	}
}

func TestWords(t *testing.T) {
	steps := func(lo, hi, d int64) AllowedSet { return Between(lo, hi).Intersect(Multiples(d)) }
	for _, c := range []struct {
		s    AllowedSet
		want string
	}{
		{AllowedSet{}, "nothing"},
		{Everything(), "any integer"},
		{Values(4), "4"},
		{Values(32, 64), "32 or 64"},
		{Values(1, 2, 4), "1, 2, 4"},
		{steps(16, 512, 16), "16, 32, …, 512"},
		{Between(1, 2048), "1, 2, …, 2048"},
		{Between(1, math.MaxInt64), "at least 1"},
		{Between(math.MinInt64, 9), "at most 9"},
		{Multiples(16), "any multiple of 16"},
		{steps(16, math.MaxInt64, 16), "multiples of 16 from 16 on"},
		{PowersOfTwo().Intersect(Between(1, 1024)), "1, 2, 4, …, 1024 (powers of two)"},
		{Between(1, 100).Without(Values(50)), "1, 2, …, 49, 51, 52, …, 100"},
		{Everything().Without(Values(0)), "at most -1, at least 1"},
	} {
		if got := c.s.Words(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
