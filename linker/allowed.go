package linker

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
)

// AllowedSet is a set of 64-bit integers: what a config's constraints leave, or
// what a kernel accepts. It holds disjoint arithmetic progressions in ascending
// order, which is exact for every predicate of the language. The zero value is
// the empty set. AllowedSets are immutable.
type AllowedSet struct {
	runs []run
}

// run is lo, lo+step, …, hi with step ≥ 1 and hi ≡ lo (mod step). A single
// element has step 1.
type run struct {
	lo, hi int64
	step   uint64
}

// Everything returns the set of all 64-bit integers.
func Everything() AllowedSet { return Between(math.MinInt64, math.MaxInt64) }

// Between returns lo…hi, both ends included.
func Between(lo, hi int64) AllowedSet {
	if lo > hi {
		return AllowedSet{}
	}
	return AllowedSet{[]run{{lo, hi, 1}}}
}

// Values returns the set of the given elements.
func Values(vs ...int64) AllowedSet {
	vs = slices.Clone(vs)
	slices.Sort(vs)
	vs = slices.Compact(vs)
	s := AllowedSet{make([]run, len(vs))}
	for i, v := range vs {
		s.runs[i] = run{v, v, 1}
	}
	return s
}

// Multiples returns the multiples of d; the sign of d does not matter. d = 0
// gives the empty set, because nothing satisfies multiple_of(x, 0).
func Multiples(d int64) AllowedSet {
	if d == 0 {
		return AllowedSet{}
	}
	step := magnitude(d)
	lo := -int64(uint64(1<<63) / step * step) // at step 2^63 this is -2^63 itself
	hi := int64(uint64(math.MaxInt64) / step * step)
	return AllowedSet{[]run{newRun(lo, hi, step)}}
}

// PowersOfTwo returns 1, 2, 4, …, 2^62.
func PowersOfTwo() AllowedSet {
	vs := make([]int64, 63)
	for i := range vs {
		vs[i] = 1 << i
	}
	return Values(vs...)
}

// Domain returns the values a type can hold as the language's signed reading of
// it; false when the type holds no integers.
func Domain(t *loom.Type) (AllowedSet, bool) {
	if t == nil {
		return AllowedSet{}, false
	}
	switch t.Kind {
	case loom.I1:
		return Between(0, 1), true
	case loom.I8:
		return Between(math.MinInt8, math.MaxInt8), true
	case loom.I16:
		return Between(math.MinInt16, math.MaxInt16), true
	case loom.I32:
		return Between(math.MinInt32, math.MaxInt32), true
	case loom.I64, loom.Index:
		return Everything(), true
	case loom.Offset:
		return Between(0, math.MaxInt64), true
	}
	return AllowedSet{}, false
}

// PredicateSet returns the values x for which p holds when every SSA argument
// that is x stands for the value itself. ok is false when p does not restrict
// x by literals alone: another value takes part, or the predicate is about
// floats.
func PredicateSet(p loom.Predicate, x *loom.Value) (set AllowedSet, ok bool) {
	subject := -1
	for i, a := range p.Args {
		switch {
		case a.Val == nil && a.IsFloat:
			return AllowedSet{}, false
		case a.Val == nil:
		case a.Val != x:
			return AllowedSet{}, false
		case subject >= 0:
			return reflexive(p, x)
		default:
			subject = i
		}
	}
	d := loom.LookupPred(p.Name())
	if subject < 0 || d == nil || d.Arity != len(p.Args) {
		return AllowedSet{}, false
	}
	if subject == 0 {
		return predicateFirst(p)
	}
	return predicateMirrored(p, subject)
}

func predicateFirst(p loom.Predicate) (AllowedSet, bool) {
	arg := func(i int) int64 { return p.Args[i].Int }
	switch p.Kind {
	case loom.PredEq:
		return Values(arg(1)), true
	case loom.PredNe:
		return Everything().Without(Values(arg(1))), true
	case loom.PredLt:
		return below(arg(1)), true
	case loom.PredLe, loom.PredMax:
		return Between(math.MinInt64, arg(1)), true
	case loom.PredGt:
		return above(arg(1)), true
	case loom.PredGe, loom.PredMin:
		return Between(arg(1), math.MaxInt64), true
	case loom.PredMultipleOf:
		return Multiples(arg(1)), true
	case loom.PredPow2:
		return PowersOfTwo(), true
	case loom.PredRange:
		return Between(arg(1), arg(2)), true
	case loom.PredULt:
		return unsignedBelow(arg(1)), true
	case loom.PredULe:
		return unsignedBelow(arg(1)).Union(Values(arg(1))), true
	case loom.PredUGt:
		return Everything().Without(unsignedBelow(arg(1)).Union(Values(arg(1)))), true
	case loom.PredUGe:
		return Everything().Without(unsignedBelow(arg(1))), true
	}
	return AllowedSet{}, false
}

// predicateMirrored handles a literal in front, as in lt(4, %v).
func predicateMirrored(p loom.Predicate, subject int) (AllowedSet, bool) {
	swapped := map[loom.PredKind]loom.PredKind{
		loom.PredEq: loom.PredEq, loom.PredNe: loom.PredNe,
		loom.PredLt: loom.PredGt, loom.PredLe: loom.PredGe, loom.PredGt: loom.PredLt, loom.PredGe: loom.PredLe,
		loom.PredMin: loom.PredMax, loom.PredMax: loom.PredMin,
		loom.PredULt: loom.PredUGt, loom.PredULe: loom.PredUGe, loom.PredUGt: loom.PredULt, loom.PredUGe: loom.PredULe,
	}
	if k, ok := swapped[p.Kind]; ok {
		return predicateFirst(loom.Predicate{Kind: k, Args: []loom.PredArg{p.Args[1], p.Args[0]}})
	}
	switch {
	case p.Kind == loom.PredMultipleOf:
		return divisors(p.Args[0].Int), true
	case p.Kind == loom.PredRange && subject == 1 && p.Args[0].Int <= p.Args[2].Int:
		return Between(math.MinInt64, p.Args[0].Int), true
	case p.Kind == loom.PredRange && subject == 2 && p.Args[1].Int <= p.Args[0].Int:
		return Between(p.Args[0].Int, math.MaxInt64), true
	case p.Kind == loom.PredRange:
		return AllowedSet{}, true
	}
	return AllowedSet{}, false
}

// maxDivisorSearch bounds the work of listing the divisors of a literal.
const maxDivisorSearch = 1 << 20

func divisors(n int64) AllowedSet {
	if n == 0 {
		return Everything().Without(Values(0))
	}
	m := magnitude(n)
	var vs []int64
	for d := uint64(1); d <= m/d && d < maxDivisorSearch; d++ {
		if m%d == 0 {
			for _, q := range []uint64{d, m / d} {
				vs = append(vs, -int64(q))
				if q <= math.MaxInt64 {
					vs = append(vs, int64(q))
				}
			}
		}
	}
	return Values(vs...)
}

// reflexive handles predicates that compare x with itself.
func reflexive(p loom.Predicate, x *loom.Value) (AllowedSet, bool) {
	if len(p.Args) != 2 {
		return AllowedSet{}, false
	}
	switch p.Kind {
	case loom.PredEq, loom.PredLe, loom.PredGe, loom.PredMin, loom.PredMax, loom.PredULe, loom.PredUGe:
		return Everything(), true
	case loom.PredNe, loom.PredLt, loom.PredGt, loom.PredULt, loom.PredUGt:
		return AllowedSet{}, true
	case loom.PredMultipleOf:
		return Everything().Without(Values(0)), true
	}
	return AllowedSet{}, false
}

func below(v int64) AllowedSet {
	if v == math.MinInt64 {
		return AllowedSet{}
	}
	return Between(math.MinInt64, v-1)
}

func above(v int64) AllowedSet {
	if v == math.MaxInt64 {
		return AllowedSet{}
	}
	return Between(v+1, math.MaxInt64)
}

// unsignedBelow is the set of x < v under the unsigned reading of both.
func unsignedBelow(v int64) AllowedSet {
	switch {
	case v == 0:
		return AllowedSet{}
	case v > 0:
		return Between(0, v-1)
	}
	return Between(0, math.MaxInt64).Union(below(v))
}

// Contains reports whether v is in the set.
func (s AllowedSet) Contains(v int64) bool {
	i, found := slices.BinarySearchFunc(s.runs, v, func(r run, v int64) int { return cmp.Compare(r.lo, v) })
	if !found {
		i--
	}
	return i >= 0 && s.runs[i].contains(v)
}

// IsEmpty reports whether nothing is in the set.
func (s AllowedSet) IsEmpty() bool { return len(s.runs) == 0 }

// IsEverything reports whether every 64-bit integer is in the set.
func (s AllowedSet) IsEverything() bool {
	return len(s.runs) == 1 && s.runs[0] == run{math.MinInt64, math.MaxInt64, 1}
}

// Min returns the smallest element; false when the set is empty.
func (s AllowedSet) Min() (int64, bool) {
	if s.IsEmpty() {
		return 0, false
	}
	return s.runs[0].lo, true
}

// Max returns the largest element; false when the set is empty.
func (s AllowedSet) Max() (int64, bool) {
	if s.IsEmpty() {
		return 0, false
	}
	return s.runs[len(s.runs)-1].hi, true
}

// Stride returns the largest number that divides the distance of any two
// elements, and the remainder that all elements leave by it. It is 0 for sets
// of less than two elements.
func (s AllowedSet) Stride() (step uint64, remainder int64) {
	if s.IsEmpty() {
		return 0, 0
	}
	first := s.runs[0].lo
	for _, r := range s.runs {
		step = gcd(step, distance(first, r.lo))
		if r.lo != r.hi {
			step = gcd(step, r.step)
		}
	}
	if step == 0 {
		return 0, first
	}
	return step, modulo(first, step)
}

// Count returns the number of elements, or false when it does not fit an int64.
func (s AllowedSet) Count() (int64, bool) {
	n := s.count()
	if !n.IsInt64() {
		return 0, false
	}
	return n.Int64(), true
}

func (s AllowedSet) count() *big.Int {
	n := new(big.Int)
	for _, r := range s.runs {
		n.Add(n, new(big.Int).SetUint64(r.span()/r.step))
		n.Add(n, big.NewInt(1))
	}
	return n
}

// Elements returns the elements in ascending order, the smallest limit of them
// when there are more.
func (s AllowedSet) Elements(limit int) []int64 {
	var out []int64
	for _, r := range s.runs {
		for k := uint64(0); k <= r.span()/r.step; k++ {
			if len(out) == limit {
				return out
			}
			out = append(out, r.lo+int64(k*r.step))
		}
	}
	return out
}

// Intersect returns the elements that are in both sets.
func (s AllowedSet) Intersect(o AllowedSet) AllowedSet {
	var out []run
	for i, j := 0, 0; i < len(s.runs) && j < len(o.runs); {
		if r, ok := s.runs[i].intersect(o.runs[j]); ok {
			out = append(out, r)
		}
		if s.runs[i].hi < o.runs[j].hi {
			i++
		} else {
			j++
		}
	}
	return AllowedSet{out}
}

// Without returns the elements of s that are not in o. Taking a progression out
// of another one leaves as many pieces as it has elements; o may therefore hold
// only runs with step 1 or few elements. More than that and the elements stay,
// which errs on the side of allowing.
func (s AllowedSet) Without(o AllowedSet) AllowedSet {
	out := s.runs
	for _, hole := range o.runs {
		if hole.step == 1 {
			out = cut(out, hole.lo, hole.hi)
			continue
		}
		if hole.span()/hole.step > 4096 {
			continue
		}
		for _, v := range (AllowedSet{[]run{hole}}).Elements(4097) {
			out = cut(out, v, v)
		}
	}
	return AllowedSet{out}
}

func cut(rs []run, lo, hi int64) []run {
	var out []run
	for _, r := range rs {
		if lo != math.MinInt64 {
			if left, ok := r.clamp(r.lo, min(r.hi, lo-1)); ok {
				out = append(out, left)
			}
		}
		if hi != math.MaxInt64 {
			if right, ok := r.clamp(max(r.lo, hi+1), r.hi); ok {
				out = append(out, right)
			}
		}
	}
	return out
}

// Union returns the elements that are in either set. Overlapping progressions
// are kept apart by cutting the second out of the way of the first.
func (s AllowedSet) Union(o AllowedSet) AllowedSet {
	rest := o
	for _, r := range s.runs {
		if r.step == 1 {
			rest = AllowedSet{cut(rest.runs, r.lo, r.hi)}
		}
	}
	keep := s
	for _, r := range rest.runs {
		if r.step == 1 {
			keep = AllowedSet{cut(keep.runs, r.lo, r.hi)}
		}
	}
	all := append(slices.Clone(keep.runs), rest.runs...)
	slices.SortFunc(all, func(a, b run) int { return cmp.Compare(a.lo, b.lo) })
	// Dense runs are out of the way now; what still overlaps has strides and is
	// spelled out, one overlapping cluster at a time.
	var out []run
	for i := 0; i < len(all); {
		j, hi := i+1, all[i].hi
		for j < len(all) && all[j].lo <= hi {
			hi = max(hi, all[j].hi)
			j++
		}
		if j == i+1 {
			out = append(out, all[i])
		} else {
			out = append(out, unionByElements(all[i:j])...)
		}
		i = j
	}
	return AllowedSet{joinDense(out)}
}

// maxInterleaved bounds the elements that overlapping progressions are spelled
// out to.
const maxInterleaved = 1 << 16

func unionByElements(all []run) []run {
	var vs []int64
	for _, r := range all {
		vs = append(vs, (AllowedSet{[]run{r}}).Elements(maxInterleaved)...)
	}
	return Values(vs...).runs
}

func joinDense(rs []run) []run {
	var out []run
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].step == 1 && r.step == 1 && r.lo == out[n-1].hi+1 {
			out[n-1].hi = r.hi
			continue
		}
		out = append(out, r)
	}
	return out
}

// Subset reports whether every element of s is in o.
func (s AllowedSet) Subset(o AllowedSet) bool {
	return s.Intersect(o).count().Cmp(s.count()) == 0
}

// Equal reports whether the sets hold the same elements.
func (s AllowedSet) Equal(o AllowedSet) bool { return s.Subset(o) && o.Subset(s) }

// Nearest returns the elements closest to v: v itself when it is in the set,
// else its neighbour below and its neighbour above, as far as they exist.
func (s AllowedSet) Nearest(v int64) []int64 {
	var lower, upper int64
	hasLower, hasUpper := false, false
	for _, r := range s.runs {
		if r.lo <= v {
			lower, hasLower = r.lo+int64(distance(r.lo, min(v, r.hi))/r.step*r.step), true
		}
		if r.hi >= v && !hasUpper {
			upper, hasUpper = r.lo, true
			if r.lo < v {
				d := distance(r.lo, v)
				upper = r.lo + int64((d+r.step-1)/r.step*r.step)
			}
		}
	}
	switch {
	case hasLower && hasUpper && lower == upper:
		return []int64{lower}
	case hasLower && hasUpper:
		return []int64{lower, upper}
	case hasLower:
		return []int64{lower}
	case hasUpper:
		return []int64{upper}
	}
	return nil
}

// maxListed is the number of elements that Words spells out.
const maxListed = 8

// Words describes the set for people: "16, 32, …, 512", "1, 2, 4 or 8",
// "at least 1", "any multiple of 16", "nothing".
func (s AllowedSet) Words() string {
	switch {
	case s.IsEmpty():
		return "nothing"
	case s.IsEverything():
		return "any integer"
	}
	if n, ok := s.Count(); ok && n <= maxListed {
		return orList(s.Elements(maxListed))
	}
	if p := s.powersWords(); p != "" {
		return p
	}
	var parts []string
	for i := 0; i < len(s.runs); {
		r, n := mergeProgression(s.runs[i:])
		parts = append(parts, r.words())
		i += n
	}
	if len(parts) > maxListed {
		parts = append(append(parts[:maxListed-1:maxListed-1], "…"), parts[len(parts)-1])
	}
	return strings.Join(parts, ", ")
}

func orList(vs []int64) string {
	var b strings.Builder
	for i, v := range vs {
		switch {
		case i == 0:
		case i == len(vs)-1 && len(vs) == 2:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(v, 10))
	}
	return b.String()
}

// powersWords recognises a consecutive part of the powers of two.
func (s AllowedSet) powersWords() string {
	var vs []int64
	for _, r := range s.runs {
		if r.lo != r.hi {
			return ""
		}
		v := r.lo
		if v <= 0 || v&(v-1) != 0 || len(vs) > 0 && v != 2*vs[len(vs)-1] {
			return ""
		}
		vs = append(vs, v)
	}
	return fmt.Sprintf("%d, %d, %d, …, %d (powers of two)", vs[0], vs[1], vs[2], vs[len(vs)-1])
}

// mergeProgression joins leading single elements that are equally spaced, which
// reads better than a long list, and returns how many runs it took.
func mergeProgression(rs []run) (run, int) {
	r := rs[0]
	if r.lo != r.hi || len(rs) < 4 {
		return r, 1
	}
	step := distance(r.lo, rs[1].lo)
	n := 1
	for n < len(rs) && rs[n].lo == rs[n].hi && distance(rs[n-1].lo, rs[n].lo) == step {
		n++
	}
	if n < 4 {
		return r, 1
	}
	return newRun(r.lo, rs[n-1].hi, step), n
}

func (r run) words() string {
	step := ""
	if r.step > 1 {
		step = fmt.Sprintf("multiples of %d", r.step)
		if rem := modulo(r.lo, r.step); rem != 0 {
			step = fmt.Sprintf("%d more than multiples of %d", rem, r.step)
		}
	}
	openLow := distance(math.MinInt64, r.lo) < r.step
	openHigh := distance(r.hi, math.MaxInt64) < r.step
	switch {
	case openLow && openHigh:
		return "any " + strings.Replace(step, "multiples", "multiple", 1)
	case openHigh && step == "":
		return fmt.Sprintf("at least %d", r.lo)
	case openLow && step == "":
		return fmt.Sprintf("at most %d", r.hi)
	case openHigh:
		return fmt.Sprintf("%s from %d on", step, r.lo)
	case openLow:
		return fmt.Sprintf("%s up to %d", step, r.hi)
	}
	n := r.span()/r.step + 1
	second := r.lo + int64(r.step)
	switch n {
	case 1:
		return strconv.FormatInt(r.lo, 10)
	case 2:
		return fmt.Sprintf("%d, %d", r.lo, r.hi)
	case 3:
		return fmt.Sprintf("%d, %d, %d", r.lo, second, r.hi)
	}
	return fmt.Sprintf("%d, %d, …, %d", r.lo, second, r.hi)
}

func newRun(lo, hi int64, step uint64) run {
	if lo == hi {
		step = 1
	}
	return run{lo, hi, step}
}

func (r run) span() uint64 { return distance(r.lo, r.hi) }

func (r run) contains(v int64) bool {
	return v >= r.lo && v <= r.hi && distance(r.lo, v)%r.step == 0
}

// clamp returns the part of r inside lo…hi, which must not reach outside r.
func (r run) clamp(lo, hi int64) (run, bool) {
	if lo > hi {
		return run{}, false
	}
	up := distance(r.lo, lo)
	if rem := up % r.step; rem != 0 {
		if r.step-rem > distance(lo, r.hi) {
			return run{}, false
		}
		up += r.step - rem
	}
	lo = r.lo + int64(up)
	if lo > hi {
		return run{}, false
	}
	hi = r.lo + int64(distance(r.lo, hi)/r.step*r.step)
	return newRun(lo, hi, r.step), true
}

// intersect solves the two congruences at once.
func (r run) intersect(o run) (run, bool) {
	lo, hi := max(r.lo, o.lo), min(r.hi, o.hi)
	if lo > hi {
		return run{}, false
	}
	switch {
	case o.step == 1:
		return r.clamp(lo, hi)
	case r.step == 1:
		return o.clamp(lo, hi)
	}
	// x = r.lo + r.step·k with r.step·k ≡ o.lo − r.lo (mod o.step).
	rs, os := new(big.Int).SetUint64(r.step), new(big.Int).SetUint64(o.step)
	diff := new(big.Int).Sub(big.NewInt(o.lo), big.NewInt(r.lo))
	g := new(big.Int).GCD(nil, nil, rs, os)
	q, m := new(big.Int).DivMod(diff, g, new(big.Int))
	if m.Sign() != 0 {
		return run{}, false
	}
	om := new(big.Int).Div(os, g)
	k := new(big.Int)
	if om.Cmp(big.NewInt(1)) > 0 {
		inv := new(big.Int).ModInverse(new(big.Int).Div(rs, g), om)
		k.Mod(q.Mul(q, inv), om)
	}
	step := new(big.Int).Mul(rs, om)
	x := new(big.Int).Add(big.NewInt(r.lo), k.Mul(k, rs))
	// Move x up to lo.
	if d := new(big.Int).Sub(big.NewInt(lo), x); d.Sign() > 0 {
		d.Add(d, step).Sub(d, big.NewInt(1)).Div(d, step)
		x.Add(x, d.Mul(d, step))
	}
	if x.Cmp(big.NewInt(hi)) > 0 {
		return run{}, false
	}
	first := x.Int64()
	if !step.IsUint64() {
		return run{first, first, 1}, true
	}
	s := step.Uint64()
	return newRun(first, first+int64(distance(first, hi)/s*s), s), true
}

// distance is b − a for a ≤ b.
func distance(a, b int64) uint64 { return uint64(b) - uint64(a) }

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func modulo(v int64, m uint64) int64 {
	r := magnitude(v) % m
	if v < 0 && r != 0 {
		r = m - r
	}
	return int64(r)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
