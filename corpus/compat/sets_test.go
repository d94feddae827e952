package compat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
)

// domain is what the brute force looks at. Every random set lies inside.
const domain = 400

// randomSet returns a set built from random predicates, and the same set as a
// plain list of members.
func randomSet(r *rand.Rand) (linker.AllowedSet, []bool) {
	x := &loom.Value{Name: "x", Type: loom.Scalar(loom.Index)}
	self, lit := loom.PredArg{Val: x}, func(v int64) loom.PredArg { return loom.PredArg{Int: v} }
	small := func() int64 { return r.Int64N(2*domain) - domain }
	set := linker.Between(-domain, domain)
	in := make([]bool, 2*domain+1)
	for i := range in {
		in[i] = true
	}
	for range r.IntN(4) {
		var p loom.Predicate
		var holds func(v int64) bool
		a, b := small(), small()
		switch r.IntN(10) {
		case 0:
			p = loom.Predicate{Kind: loom.PredRange, Args: []loom.PredArg{self, lit(min(a, b)), lit(max(a, b))}}
			holds = func(v int64) bool { return v >= min(a, b) && v <= max(a, b) }
		case 1, 2, 3:
			d := 1 + r.Int64N(48)
			p = loom.Predicate{Kind: loom.PredMultipleOf, Args: []loom.PredArg{self, lit(d)}}
			holds = func(v int64) bool { return v%d == 0 }
		case 4:
			p = loom.Predicate{Kind: loom.PredPow2, Args: []loom.PredArg{self}}
			holds = func(v int64) bool { return v > 0 && v&(v-1) == 0 }
		case 5:
			p = loom.Predicate{Kind: loom.PredNe, Args: []loom.PredArg{self, lit(a)}}
			holds = func(v int64) bool { return v != a }
		case 6:
			p = loom.Predicate{Kind: loom.PredGe, Args: []loom.PredArg{self, lit(a)}}
			holds = func(v int64) bool { return v >= a }
		case 7:
			p = loom.Predicate{Kind: loom.PredLt, Args: []loom.PredArg{self, lit(a)}}
			holds = func(v int64) bool { return v < a }
		case 8:
			p = loom.Predicate{Kind: loom.PredLe, Args: []loom.PredArg{lit(a), self}} // mirrored
			holds = func(v int64) bool { return a <= v }
		case 9:
			p = loom.Predicate{Kind: loom.PredUGe, Args: []loom.PredArg{self, lit(a)}}
			holds = func(v int64) bool { return uint64(v) >= uint64(a) }
		}
		s, ok := linker.PredicateSet(p, x)
		if !ok {
			panic("not a set: " + p.String())
		}
		set = set.Intersect(s)
		for i := range in {
			in[i] = in[i] && holds(int64(i)-domain)
		}
	}
	return set, in
}

func TestCompareSetsAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[compat.Change]int{}
	for range 20000 {
		a, as := randomSet(r)
		b, bs := randomSet(r)
		var lost, gained []int64
		for i := range as {
			switch v := int64(i) - domain; {
			case as[i] && !bs[i]:
				lost = append(lost, v)
			case bs[i] && !as[i]:
				gained = append(gained, v)
			}
		}
		want := compat.Same
		switch {
		case len(lost) > 0 && len(gained) > 0:
			want = compat.Incomparable
		case len(lost) > 0:
			want = compat.Narrowed
		case len(gained) > 0:
			want = compat.Widened
		}
		seen[want]++
		if got := compat.CompareSets(a, b); got != want {
			t.Fatalf("%s against %s: %s, want %s", a.Words(), b.Words(), got, want)
		}
		check := func(d compat.Difference, values []int64) {
			t.Helper()
			if d.Count != int64(len(values)) || d.Empty() != (len(values) == 0) {
				t.Fatalf("%s minus %s: %d values, want %d", a.Words(), b.Words(), d.Count, len(values))
			}
			if want := values[:min(len(values), len(d.Sample))]; !slices.Equal(d.Sample, want) || len(values) > 0 && len(d.Sample) == 0 {
				t.Fatalf("%s minus %s: sample %v, want a part of %v", a.Words(), b.Words(), d.Sample, values)
			}
		}
		check(compat.Minus(a, b), lost)
		check(compat.Minus(b, a), gained)
	}
	for c := compat.Same; c <= compat.Incomparable; c++ {
		if seen[c] == 0 {
			t.Errorf("no random pair was %s", c)
		}
	}
}

func TestMinusWords(t *testing.T) {
	steps := func(lo, hi, d int64) linker.AllowedSet { return linker.Between(lo, hi).Intersect(linker.Multiples(d)) }
	for _, c := range []struct {
		name string
		a, b linker.AllowedSet
		want string
	}{
		{"upper end", steps(16, 36864, 16), steps(16, 512, 16), "528, 544, …, 36864 (2272 values)"},
		{"both ends", linker.Between(1, 100), linker.Between(10, 98), "1, 2, …, 9; 99 or 100 (11 values)"},
		{"coarser step", steps(16, 512, 16), steps(16, 512, 32), "16; those of 32, 48, …, 512 that are no multiple of 32 (16 values)"},
		{"one hole", linker.Between(1, 1<<40), linker.Between(1, 1<<40).Without(linker.Values(77)), "77"},
		{"a hole far up", linker.Everything(), linker.Everything().Without(linker.Values(1 << 60)), "1152921504606846976"},
		{"nothing", steps(16, 512, 16), linker.Everything(), "nothing"},
		{"all", linker.Values(1, 2), linker.Values(3), "1 or 2"},
		{"no upper bound any more", linker.Between(1, math.MaxInt64), linker.Between(1, 8), "at least 9 (9223372036854775799 values)"},
	} {
		if got := compat.Minus(c.a, c.b).Words(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
