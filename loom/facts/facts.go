// Package facts computes what is known about the values of a definition:
// constants, ranges, divisibility, powers of two and over which work items a
// value is the same.
//
// Analyze walks a definition forward once (loops: until their carried values
// settle) and returns an immutable Set. Of gives what holds wherever a value is
// visible; At adds what the branches around an operation guarantee; Decide
// answers whether a predicate holds, fails or is open at a place. A fact is
// always sound: a value that occurs at run time lies inside it, as long as the
// promises of assume operations and where clauses hold.
//
// Reading order: this file (the lattice), env.go (what is known from outside),
// transfer.go (one function per operation), analyze.go (the walk), refine.go
// (predicates and branches) and decide.go (questions).
package facts

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
)

// Uniformity says over which group of work items a value is the same.
type Uniformity uint8

// Uniformity levels, from weakest to strongest.
const (
	Varying          Uniformity = iota // may differ per lane
	UniformSubgroup                    // one value per subgroup
	UniformWorkgroup                   // one value per workgroup
	UniformGrid                        // one value per launch
)

func (u Uniformity) String() string {
	return [...]string{"varying", "subgroup", "workgroup", "grid"}[u]
}

// Fact is what is known about one value. For vectors it holds for every lane.
// Fixed-width integers are described by their signed value, i1 by 0 and 1.
type Fact struct {
	Lo, Hi  int64 // inclusive signed range; full int64 range when unknown
	Div     int64 // largest known divisor, at least 1; 0 only for the constant 0
	Pow2    bool  // a positive power of two
	NotNaN  bool  // floats: never a NaN
	NotInf  bool  // floats: never an infinity
	Uniform Uniformity
}

// Const returns the exact value if it is known.
func (f Fact) Const() (int64, bool) { return f.Lo, f.Lo == f.Hi }

// IsConst reports whether the fact is the exact value c.
func (f Fact) IsConst(c int64) bool { return f.Lo == c && f.Hi == c }

// DivisibleBy reports whether the value is known to be a multiple of n.
func (f Fact) DivisibleBy(n int64) bool { return n != 0 && f.Div%n == 0 }

// Within reports whether every possible value lies in [lo, hi].
func (f Fact) Within(lo, hi int64) bool { return f.Lo >= lo && f.Hi <= hi }

// Fits reports whether every possible value is representable as a signed
// integer of the given width.
func (f Fact) Fits(width int) bool {
	if width >= 64 {
		return true
	}
	return f.Within(-1<<(width-1), 1<<(width-1)-1)
}

// String returns the fact in words: "64", "[0, 255] ×4 pow2 workgroup".
func (f Fact) String() string {
	k := f.Known()
	switch {
	case f.Lo == f.Hi:
		return k
	case k == unknown:
		return f.Uniform.String()
	}
	return k + " " + f.Uniform.String()
}

const unknown = "unknown"

// Known is String without the uniformity: "[0, 255] ×4", "unknown".
func (f Fact) Known() string {
	if c, ok := f.Const(); ok {
		return strconv.FormatInt(c, 10)
	}
	var parts []string
	if lo, hi := bound(f.Lo), bound(f.Hi); lo != "-∞" || hi != "∞" {
		parts = append(parts, "["+lo+", "+hi+"]")
	}
	if f.Div > 1 {
		parts = append(parts, "×"+strconv.FormatInt(f.Div, 10))
	}
	if f.Pow2 {
		parts = append(parts, "pow2")
	}
	switch {
	case f.NotNaN && f.NotInf:
		parts = append(parts, "finite")
	case f.NotNaN:
		parts = append(parts, "not-nan")
	case f.NotInf:
		parts = append(parts, "not-inf")
	}
	if len(parts) == 0 {
		return unknown
	}
	return strings.Join(parts, " ")
}

func bound(v int64) string {
	const near = 1 << 8 // a comparison with an unknown value shaves the limit
	switch {
	case v < math.MinInt64+near:
		return "-∞"
	case v > math.MaxInt64-near:
		return "∞"
	}
	return strconv.FormatInt(v, 10)
}

// Exact returns the fact of the constant c.
func Exact(c int64) Fact {
	d := c
	if d < 0 {
		d = -d
	}
	if d < 0 { // the smallest int64 has no positive counterpart
		d = 1 << 62
	}
	return Fact{Lo: c, Hi: c, Div: d, Pow2: c > 0 && c&(c-1) == 0, Uniform: UniformGrid}
}

// Range returns the fact lo ≤ v ≤ hi with the given uniformity.
func Range(lo, hi int64, u Uniformity) Fact {
	return Fact{Lo: lo, Hi: hi, Div: 1, Uniform: u}.norm()
}

// Top returns what the kind alone says about a value.
func Top(k loom.Kind) Fact {
	f := Fact{Lo: math.MinInt64, Hi: math.MaxInt64, Div: 1}
	switch k {
	case loom.I1:
		f.Lo, f.Hi = 0, 1
	case loom.I8:
		f.Lo, f.Hi = math.MinInt8, math.MaxInt8
	case loom.I16:
		f.Lo, f.Hi = math.MinInt16, math.MaxInt16
	case loom.I32:
		f.Lo, f.Hi = math.MinInt32, math.MaxInt32
	case loom.Offset:
		f.Lo = 0
	}
	return f
}

// TopOf is Top for a type: the element kind of a shaped type.
func TopOf(t *loom.Type) Fact {
	if t == nil {
		return Top(loom.Invalid)
	}
	return Top(t.Element())
}

// norm tightens the range by divisor and power of two and recognises constants.
func (f Fact) norm() Fact {
	if f.Lo > f.Hi {
		return f
	}
	if f.Pow2 {
		if f.Lo < 1 {
			f.Lo = 1
		}
		if f.Hi >= 1 && f.Lo <= f.Hi {
			if f.Lo > 1<<62 {
				return f
			}
			f.Lo = 1 << bits.Len64(uint64(f.Lo-1))
			f.Hi = 1 << (bits.Len64(uint64(f.Hi)) - 1)
			if f.Lo > f.Div {
				// A power of two that is at least Lo is a multiple of it.
				if f.Div&(f.Div-1) == 0 {
					f.Div = f.Lo
				}
			}
		}
	}
	if f.Div > 1 && f.Lo <= f.Hi {
		if f.Lo != math.MinInt64 {
			if r := mod(f.Lo, f.Div); r != 0 && f.Lo <= math.MaxInt64-(f.Div-r) {
				f.Lo += f.Div - r
			}
		}
		if f.Hi != math.MaxInt64 {
			if r := mod(f.Hi, f.Div); r != 0 && f.Hi >= math.MinInt64+r {
				f.Hi -= r
			}
		}
	}
	if f.Lo == f.Hi {
		e := Exact(f.Lo)
		return e
	}
	if f.Div == 0 {
		f.Div = 1
	}
	return f
}

// Meet returns what both facts together say. When they contradict each other
// (the place cannot be reached, or a promise is broken) it returns f.
func (f Fact) Meet(g Fact) Fact {
	r := Fact{
		Lo: max(f.Lo, g.Lo), Hi: min(f.Hi, g.Hi),
		Div: lcm(f.Div, g.Div), Pow2: f.Pow2 || g.Pow2,
		NotNaN: f.NotNaN || g.NotNaN, NotInf: f.NotInf || g.NotInf,
		Uniform: max(f.Uniform, g.Uniform),
	}
	if r.Lo > r.Hi {
		return f
	}
	if r = r.norm(); r.Lo > r.Hi {
		return f
	}
	return r
}

// Contradicts reports whether no value satisfies both facts.
func (f Fact) Contradicts(g Fact) bool {
	r := Fact{Lo: max(f.Lo, g.Lo), Hi: min(f.Hi, g.Hi), Div: lcm(f.Div, g.Div), Pow2: f.Pow2 || g.Pow2}
	if r.Lo > r.Hi {
		return true
	}
	r = r.norm()
	return r.Lo > r.Hi
}

// Join returns what holds for a value that is described by one of the two.
func (f Fact) Join(g Fact) Fact {
	return Fact{
		Lo: min(f.Lo, g.Lo), Hi: max(f.Hi, g.Hi),
		Div: gcd(f.Div, g.Div), Pow2: f.Pow2 && g.Pow2,
		NotNaN: f.NotNaN && g.NotNaN, NotInf: f.NotInf && g.NotInf,
		Uniform: min(f.Uniform, g.Uniform),
	}.norm()
}

// covers reports whether f allows everything g allows.
func (f Fact) covers(g Fact) bool {
	return f.Lo <= g.Lo && f.Hi >= g.Hi && (f.Div == 0 && g.Div == 0 || f.Div != 0 && g.Div%f.Div == 0) &&
		(!f.Pow2 || g.Pow2) && (!f.NotNaN || g.NotNaN) && (!f.NotInf || g.NotInf) && f.Uniform <= g.Uniform
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

// lcm returns the least common multiple, or the larger divisor when that does
// not fit.
func lcm(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	g := gcd(a, b)
	if p, ok := mulOK(a/g, b); ok {
		return p
	}
	return max(a, b)
}

// mod is the remainder with the sign of a positive divisor.
func mod(a, m int64) int64 {
	r := a % m
	if r < 0 {
		r += m
	}
	return r
}

func addOK(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func subOK(a, b int64) (int64, bool) {
	d := a - b
	return d, (d < a) == (b > 0)
}

func mulOK(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p := a * b
	if a == math.MinInt64 && b == -1 || b == math.MinInt64 && a == -1 || p/b != a {
		return p, false
	}
	return p, true
}

// Set holds the facts of one definition. It is immutable and safe for
// concurrent use.
type Set struct {
	def     *loom.Def
	vals    map[*loom.Value]Fact
	floats  map[*loom.Value]float64 // exact float constants
	scopes  map[*loom.Region]*scope
	Launch  Launch // what the launch-config region computes; zero for non-kernels
	aliases map[*loom.Value]*loom.Value
}

// Launch is what is known about the launch geometry of a kernel.
type Launch struct {
	Count, Size, Cluster [3]Fact // workgroups per axis, items per workgroup, workgroups per cluster
}

// scope is what entering a region adds.
type scope struct {
	region  *loom.Region
	control Uniformity
	refined []refinement
	rels    []relation
}

type refinement struct {
	v *loom.Value
	f Fact
}

// relation is an ordering between two values that ranges cannot express.
type relation struct {
	kind loom.PredKind // PredLt, PredLe, PredEq, PredNe
	a, b *loom.Value   // roots
}

// Of returns what holds for v wherever it is visible.
func (s *Set) Of(v *loom.Value) Fact {
	if s != nil {
		if f, ok := s.vals[v]; ok {
			return f
		}
	}
	return TopOf(v.Type)
}

// Float returns the exact value of a float constant.
func (s *Set) Float(v *loom.Value) (float64, bool) {
	if s == nil {
		return 0, false
	}
	f, ok := s.floats[v]
	return f, ok
}

// At returns what holds for v at op, branch conditions around op included.
func (s *Set) At(op *loom.Op, v *loom.Value) Fact {
	f := s.Of(v)
	if s == nil || op == nil {
		return f
	}
	for o := op; o != nil && o.Block != nil; o = o.Block.Region.Op {
		sc := s.scopes[o.Block.Region]
		if sc == nil {
			continue
		}
		for _, r := range sc.refined {
			if r.v == v {
				f = f.Meet(r.f)
			}
		}
	}
	return f
}

// Control returns over which work items the decision to execute op is the same:
// Varying inside a branch whose condition differs between lanes.
func (s *Set) Control(op *loom.Op) Uniformity {
	if s == nil || op.Block == nil {
		return Varying
	}
	if sc := s.scopes[op.Block.Region]; sc != nil {
		return sc.control
	}
	return Varying
}

// Root follows identities (assume operations, matrix fragment tags) back to the
// value they promise something about.
func (s *Set) Root(v *loom.Value) *loom.Value {
	if s == nil {
		return v
	}
	for {
		r, ok := s.aliases[v]
		if !ok {
			return v
		}
		v = r
	}
}

// Len returns the number of values the set knows something about.
func (s *Set) Len() int { return len(s.vals) }
