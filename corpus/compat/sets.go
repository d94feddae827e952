package compat

import (
	"fmt"
	"math"
	"strings"

	"github.com/loomc/loomc/linker"
)

// Change says how a set of allowed values became another.
type Change uint8

// Changes.
const (
	Same         Change = iota
	Narrowed            // every new value was allowed before, some are lost
	Widened             // every old value still is, some are new
	Incomparable        // some lost, some new
)

func (c Change) String() string { return [...]string{"same", "narrowed", "widened", "incomparable"}[c] }

// CompareSets compares what was allowed with what is.
func CompareSets(old, new linker.AllowedSet) Change {
	kept, gone := new.Subset(old), old.Subset(new)
	switch {
	case kept && gone:
		return Same
	case kept:
		return Narrowed
	case gone:
		return Widened
	}
	return Incomparable
}

// Difference describes the values of one set that another lacks.
type Difference struct {
	Count  int64 // number of values; -1 when there are more than an int64 counts
	Sample []int64
	words  []string
}

// maxSample is how many values a difference lists.
const maxSample = 6

// Minus finds the values of a that b lacks. It is exact for any two sets: runs
// below and above b are described as sets, and what is missing in between is
// found by counting, not by listing.
func Minus(a, b linker.AllowedSet) Difference {
	common := a.Intersect(b)
	lo, ok := common.Min()
	if !ok {
		d := Difference{Count: count(a), Sample: a.Elements(maxSample)}
		if !a.IsEmpty() {
			d.words = []string{a.Words()}
		}
		return d
	}
	hi, _ := common.Max()
	var d Difference
	below, above := linker.AllowedSet{}, linker.AllowedSet{}
	if lo > math.MinInt64 {
		below = a.Intersect(linker.Between(math.MinInt64, lo-1))
	}
	if hi < math.MaxInt64 {
		above = a.Intersect(linker.Between(hi+1, math.MaxInt64))
	}
	inner := a.Intersect(linker.Between(lo, hi))
	d.part(below)
	holes(&d, inner, common)
	d.part(above)
	return d
}

func count(s linker.AllowedSet) int64 {
	if n, ok := s.Count(); ok {
		return n
	}
	return -1
}

func (d *Difference) add(n int64) {
	if d.Count < 0 || n < 0 || d.Count > math.MaxInt64-n {
		d.Count = -1
		return
	}
	d.Count += n
}

func (d *Difference) part(s linker.AllowedSet) {
	if s.IsEmpty() {
		return
	}
	d.add(count(s))
	d.words = append(d.words, s.Words())
	d.sample(s.Elements(maxSample)...)
}

func (d *Difference) sample(vs ...int64) {
	for _, v := range vs {
		if len(d.Sample) < maxSample {
			d.Sample = append(d.Sample, v)
		}
	}
}

// holes finds what inner has and kept, a subset of it with the same ends, lacks.
func holes(d *Difference, inner, kept linker.AllowedSet) {
	n, k := count(inner), count(kept)
	if n >= 0 && n == k || n < 0 && inner.Subset(kept) {
		return
	}
	lo, _ := inner.Min()
	var found []int64
	const listed = 8
	complete := false
	for from := lo; len(found) < listed; {
		v, ok := firstHole(inner, kept, from)
		if !ok {
			complete = true
			break
		}
		found = append(found, v)
		if v == math.MaxInt64 {
			complete = true
			break
		}
		from = v + 1
	}
	switch {
	case complete:
		d.add(int64(len(found)))
	case n >= 0 && k >= 0:
		d.add(n - k)
	default:
		d.add(-1)
	}
	d.sample(found...)
	ks, kr := kept.Stride()
	is, _ := inner.Stride()
	switch {
	case complete:
		d.words = append(d.words, linker.Values(found...).Words())
	case ks > 1 && is > 0 && ks%max(is, 1) == 0 && ks != is && kr == 0 && kept.Equal(inner.Intersect(linker.Multiples(int64(ks)))):
		hi, _ := inner.Max()
		d.words = append(d.words, fmt.Sprintf("those of %s that are no multiple of %d", span(inner, lo, hi), ks))
	default:
		var b strings.Builder
		for _, v := range found {
			fmt.Fprintf(&b, "%d, ", v)
		}
		d.words = append(d.words, b.String()+"…")
	}
}

func span(s linker.AllowedSet, lo, hi int64) string {
	if lo == math.MinInt64 || hi == math.MaxInt64 {
		return "the rest"
	}
	return s.Words()
}

// firstHole returns the smallest v ≥ from that inner has and kept lacks.
func firstHole(inner, kept linker.AllowedSet, from int64) (int64, bool) {
	hi, ok := inner.Max()
	if !ok || from > hi {
		return 0, false
	}
	missing := func(to int64) bool {
		w := linker.Between(from, to)
		return !inner.Intersect(w).Subset(kept)
	}
	if !missing(hi) {
		return 0, false
	}
	lo := from
	for lo < hi {
		mid := lo + int64((uint64(hi)-uint64(lo))/2)
		if missing(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, true
}

// Empty reports whether there is no difference.
func (d Difference) Empty() bool { return d.Count == 0 }

// Words describes the difference: "528, 544, …, 36864 (2272 values)".
func (d Difference) Words() string {
	if d.Empty() {
		return "nothing"
	}
	s := strings.Join(d.words, "; ")
	if d.Count > maxSample {
		s += fmt.Sprintf(" (%d values)", d.Count)
	}
	return s
}
