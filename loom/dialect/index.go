package dialect

import "github.com/loomc/loomc/loom"

func indexOps() []*loom.OpDef {
	out := []*loom.OpDef{
		{Name: "index.constant", Format: "$value:value : T(result)", Result: "result", Types: "result:indexlike", Traits: loom.Pure,
			Doc: "Index or offset literal."},
		{Name: "index.assume", Format: "%values... $predicates:preds : T*(results)", Result: "results...",
			Types: "values=results:indexlike", Traits: loom.Pure | loom.Fact,
			Doc: "Identity that promises predicates; each result inherits those that mention its operand."},
		{Name: "index.cast", Format: "%input : T(input) to T(result)", Result: "result", Types: "input:intindex;result:intindex", Traits: loom.Pure,
			Doc: "Conversion between index, offset and integers: signed for index, unsigned for offset and i1."},
		{Name: "index.cmp", Format: "$predicate:ipred, %lhs, %rhs : T(lhs)", Result: "result=i1", Types: "lhs=rhs:indexlike", Traits: loom.Pure,
			Doc: "Comparison."},
		{Name: "index.madd", Format: "%a, %b, %c : T(result)", Result: "result", Types: "a=b=c=result:index", Traits: loom.Pure,
			Doc: "a·b + c."},
		{Name: "index.scale", Format: "%index, %stride : T(index), T(stride) -> T(result)", Result: "result",
			Types: "index:index;stride:offset;result:offset", Traits: loom.Pure,
			Doc: "Index times byte stride."},
	}
	for _, e := range []struct {
		names, format, result, types string
		traits                       loom.Traits
		doc                          map[string]string
	}{
		{names: "add sub", format: "%lhs, %rhs : T(result)", types: "lhs=rhs=result:indexlike", doc: map[string]string{
			"add": "Sum in one domain.", "sub": "Difference in one domain."}},
		{names: "mul div rem min max andi ori xori shli shrui shrsi rotli rotri", format: "%lhs, %rhs : T(result)", types: "lhs=rhs=result:index", doc: map[string]string{
			"mul": "Product.", "div": "Quotient of a non-negative dividend by a positive divisor.",
			"rem": "Remainder of a non-negative dividend by a positive divisor.",
			"min": "Signed minimum.", "max": "Signed maximum.", "andi": "Bitwise and.", "ori": "Bitwise or.", "xori": "Bitwise exclusive or.",
			"shli": "Left shift.", "shrui": "Logical right shift.", "shrsi": "Arithmetic right shift.",
			"rotli": "Left rotation.", "rotri": "Right rotation."}},
		{names: "ctlzi cttzi ctpopi", format: "%input : T(result)", types: "input=result:index", doc: map[string]string{
			"ctlzi": "Number of leading zero bits.", "cttzi": "Number of trailing zero bits.", "ctpopi": "Number of one bits."}},
	} {
		for _, n := range words(e.names) {
			t := loom.Pure
			switch n {
			case "add", "mul", "min", "max", "andi", "ori", "xori":
				t |= loom.Commutative
			}
			out = append(out, &loom.OpDef{Name: "index." + n, Format: e.format, Result: "result", Types: e.types, Traits: t, Doc: e.doc[n]})
		}
	}
	return out
}
