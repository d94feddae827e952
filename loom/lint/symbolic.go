package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

// sum is a polynomial over atoms: c + Σ coef·atom·atom…. Two index expressions are
// the same when their sums are.
type sum struct {
	c     int64
	terms []product // sorted by atoms; no two alike, no zero coefficient
}

type product struct {
	coef  int64
	atoms []int // sorted
}

// maxTerms bounds a sum; larger ones become an atom.
const maxTerms = 48

// symbols numbers values: equal numbers are equal values.
type symbols struct {
	facts *facts.Set
	atoms map[string]int
	vals  []*loom.Value // a value of each atom
	sums  map[*loom.Value]sum
	ids   map[*loom.Value]int
}

func newSymbols(f *facts.Set) *symbols {
	return &symbols{facts: f, atoms: map[string]int{}, sums: map[*loom.Value]sum{}, ids: map[*loom.Value]int{}}
}

func constant(c int64) sum { return sum{c: c} }

func (s *symbols) atom(key string, v *loom.Value) sum {
	id, ok := s.atoms[key]
	if !ok {
		id = len(s.vals)
		s.atoms[key] = id
		s.vals = append(s.vals, v)
	}
	return sum{terms: []product{{1, []int{id}}}}
}

// of returns v as a sum.
func (s *symbols) of(v *loom.Value) sum {
	if p, ok := s.sums[v]; ok {
		return p
	}
	p := s.expand(v)
	if len(p.terms) > maxTerms {
		p = s.opaque(v)
	}
	s.sums[v] = p
	return p
}

func (s *symbols) opaque(v *loom.Value) sum {
	id, ok := s.ids[v]
	if !ok {
		id = len(s.ids)
		s.ids[v] = id
	}
	return s.atom(fmt.Sprintf("v%d", id), v)
}

func (s *symbols) expand(v *loom.Value) sum {
	if k := v.Type.Element(); !v.Type.IsShaped() && (k.IsInt() || k.IsIndexLike()) {
		if c, ok := s.facts.Of(v).Const(); ok {
			return constant(c)
		}
	}
	op := v.Def
	if op == nil {
		return s.argument(v)
	}
	arg := func(i int) sum { return s.of(op.Operands[i]) }
	switch op.Name() {
	case "index.add", "scalar.addi":
		return arg(0).plus(arg(1))
	case "index.sub", "scalar.subi":
		return arg(0).plus(arg(1).times(-1))
	case "index.mul", "index.scale", "scalar.muli":
		return arg(0).mul(arg(1))
	case "index.madd", "scalar.fmai":
		return arg(0).mul(arg(1)).plus(arg(2))
	case "index.shli", "scalar.shli":
		if n, ok := arg(1).constant(); ok && n >= 0 && n < 62 {
			return arg(0).times(1 << n)
		}
	case "index.cast":
		return arg(0)
	}
	if op.Def.Traits&loom.Fact != 0 && int(v.Index) < len(op.Operands) {
		return arg(int(v.Index))
	}
	if op.Def.Traits&loom.Pure == 0 || len(op.Regions) > 0 || len(op.Results) != 1 {
		return s.opaque(v)
	}
	var key strings.Builder
	key.WriteString(op.Name())
	for _, a := range op.Attrs {
		fmt.Fprintf(&key, " %s=%s", a.Name, a.Value)
	}
	fmt.Fprintf(&key, ":%s", op.Results[0].Type)
	for i := range op.Operands {
		key.WriteByte('(')
		key.WriteString(arg(i).key())
		key.WriteByte(')')
	}
	return s.atom(key.String(), v)
}

// argument is a parameter, a carried value or a loop counter. Counters of loops
// with equal bounds and step take the same values in the same lane, which is what
// comparing the addresses of two loops needs.
func (s *symbols) argument(v *loom.Value) sum {
	if b := v.Block; b != nil && b.Region != nil && b.Region.Op != nil && b.Region.Op.Name() == "scf.for" && v.Index == 0 {
		op := b.Region.Op
		lo, hi, step := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step")
		if lo != nil && hi != nil && step != nil {
			return s.atom("for("+s.of(lo).key()+","+s.of(hi).key()+","+s.of(step).key()+")", v)
		}
	}
	return s.opaque(v)
}

func (p sum) constant() (int64, bool) { return p.c, len(p.terms) == 0 }

func (p sum) plus(q sum) sum {
	out := sum{c: p.c + q.c}
	i, j := 0, 0
	for i < len(p.terms) || j < len(q.terms) {
		switch {
		case j == len(q.terms) || i < len(p.terms) && slices.Compare(p.terms[i].atoms, q.terms[j].atoms) < 0:
			out.terms = append(out.terms, p.terms[i])
			i++
		case i == len(p.terms) || slices.Compare(p.terms[i].atoms, q.terms[j].atoms) > 0:
			out.terms = append(out.terms, q.terms[j])
			j++
		default:
			if c := p.terms[i].coef + q.terms[j].coef; c != 0 {
				out.terms = append(out.terms, product{c, p.terms[i].atoms})
			}
			i, j = i+1, j+1
		}
	}
	return out
}

func (p sum) times(c int64) sum {
	if c == 0 {
		return sum{}
	}
	out := sum{c: p.c * c, terms: make([]product, len(p.terms))}
	for i, t := range p.terms {
		out.terms[i] = product{t.coef * c, t.atoms}
	}
	return out
}

func (p sum) mul(q sum) sum {
	out := p.times(q.c)
	for _, t := range q.terms {
		if p.c != 0 {
			out = out.plus(sum{terms: []product{{t.coef * p.c, t.atoms}}})
		}
		for _, u := range p.terms {
			atoms := append(slices.Clone(u.atoms), t.atoms...)
			slices.Sort(atoms)
			out = out.plus(sum{terms: []product{{u.coef * t.coef, atoms}}})
		}
	}
	return out
}

func (p sum) equal(q sum) bool {
	return p.c == q.c && slices.EqualFunc(p.terms, q.terms, func(a, b product) bool {
		return a.coef == b.coef && slices.Equal(a.atoms, b.atoms)
	})
}

func (p sum) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", p.c)
	for _, t := range p.terms {
		fmt.Fprintf(&b, "+%d", t.coef)
		for _, a := range t.atoms {
			fmt.Fprintf(&b, "*a%d", a)
		}
	}
	return b.String()
}

// same reports whether two values are known to be equal.
func (s *symbols) same(a, b *loom.Value) bool { return a == b || s.of(a).equal(s.of(b)) }
