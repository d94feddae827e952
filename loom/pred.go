package loom

import (
	"strconv"

	"github.com/loomc/loomc/loom/diag"
)

// PredKind names a predicate. The two spellings of one meaning (mul and
// multiple_of, pow2 and power_of_two) share a kind; Predicate.Old remembers
// which was written.
type PredKind uint8

// Predicate kinds.
const (
	PredInvalid PredKind = iota
	PredEq
	PredNe
	PredLt
	PredLe
	PredGt
	PredGe
	PredMultipleOf
	PredPow2
	PredMin // first >= second
	PredMax // first <= second
	PredRange
	PredULt
	PredULe
	PredUGt
	PredUGe
	PredNotNaN
	PredNotInf
	PredFinite
)

// PredDef is the declaration of one predicate spelling.
type PredDef struct {
	Name  string
	Kind  PredKind
	Arity int
	Old   bool   // spelling of the older generation only
	Doc   string // meaning
}

// PredDefs lists every spelling.
var PredDefs = []PredDef{
	{"eq", PredEq, 2, false, "a = b"},
	{"ne", PredNe, 2, false, "a ≠ b"},
	{"lt", PredLt, 2, false, "a < b, signed"},
	{"le", PredLe, 2, false, "a ≤ b, signed"},
	{"gt", PredGt, 2, false, "a > b, signed"},
	{"ge", PredGe, 2, false, "a ≥ b, signed"},
	{"multiple_of", PredMultipleOf, 2, false, "a is a multiple of b"},
	{"mul", PredMultipleOf, 2, true, "a is a multiple of b"},
	{"power_of_two", PredPow2, 1, false, "a is a positive power of two"},
	{"pow2", PredPow2, 1, true, "a is a positive power of two"},
	{"min", PredMin, 2, true, "a ≥ b"},
	{"max", PredMax, 2, true, "a ≤ b"},
	{"range", PredRange, 3, false, "b ≤ a ≤ c, both ends included"},
	{"ult", PredULt, 2, false, "a < b, unsigned"},
	{"ule", PredULe, 2, false, "a ≤ b, unsigned"},
	{"ugt", PredUGt, 2, false, "a > b, unsigned"},
	{"uge", PredUGe, 2, false, "a ≥ b, unsigned"},
	{"not_nan", PredNotNaN, 1, false, "a is not a NaN"},
	{"not_inf", PredNotInf, 1, false, "a is not an infinity"},
	{"finite", PredFinite, 1, false, "a is neither NaN nor infinite"},
}

// LookupPred returns the declaration of the spelling name, or nil.
func LookupPred(name string) *PredDef {
	for i := range PredDefs {
		if PredDefs[i].Name == name {
			return &PredDefs[i]
		}
	}
	return nil
}

// PredArg is an argument of a predicate: an SSA value or a literal.
type PredArg struct {
	Val   *Value // nil for a literal
	Int   int64
	Float float64 // literal float when IsFloat
	// IsFloat marks a float literal.
	IsFloat bool
}

// Predicate is one fact or constraint: kind(args…).
type Predicate struct {
	Kind PredKind
	Old  bool // written in the older generation's spelling
	Args []PredArg
	Span diag.Span
}

// Name returns the spelling the predicate was written with.
func (p Predicate) Name() string {
	name := "<invalid>"
	for _, d := range PredDefs {
		if d.Kind == p.Kind {
			if d.Old == p.Old {
				return d.Name
			}
			name = d.Name
		}
	}
	return name
}

// Map returns p with every SSA argument v replaced by f(v).
func (p Predicate) Map(f func(*Value) *Value) Predicate {
	args := make([]PredArg, len(p.Args))
	for i, a := range p.Args {
		if a.Val != nil {
			a.Val = f(a.Val)
		}
		args[i] = a
	}
	p.Args = args
	return p
}

// Append appends the canonical text of p to b.
func (p Predicate) Append(b []byte) []byte {
	b = append(append(b, p.Name()...), '(')
	for i, a := range p.Args {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch {
		case a.Val != nil:
			b = append(append(b, '%'), a.Val.Name...)
		case a.IsFloat:
			b = AppendFloat(b, a.Float)
		default:
			b = strconv.AppendInt(b, a.Int, 10)
		}
	}
	return append(b, ')')
}

// String returns the canonical text of p.
func (p Predicate) String() string { return string(p.Append(nil)) }

// AppendPreds appends "[p, q]".
func AppendPreds(b []byte, ps []Predicate) []byte {
	b = append(b, '[')
	for i, p := range ps {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = p.Append(b)
	}
	return append(b, ']')
}
