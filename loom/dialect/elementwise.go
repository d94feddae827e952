package dialect

import "github.com/loomc/loomc/loom"

// ewClass is a family of element-wise ops with one form. The vector dialect
// repeats every op of it lane by lane.
type ewClass struct {
	format  string // scalar form
	vformat string // vector form when it differs
	result  string
	vresult string
	types   string // rule with the scalar sets; the vector dialect prefixes "vec."
	vtypes  string
}

var ewClasses = map[string]ewClass{
	"unf":     {format: "<fmf:fmf?> %input : T(result)", result: "result", types: "input=result:float"},
	"binf":    {format: "<fmf:fmf?> %lhs, %rhs : T(result)", result: "result", types: "lhs=rhs=result:float"},
	"fma":     {format: "<fmf:fmf?> %a, %b, %c : T(result)", result: "result", types: "a=b=c=result:float"},
	"uni":     {format: "%input : T(result)", result: "result", types: "input=result:int"},
	"bini":    {format: "%lhs, %rhs : T(result)", result: "result", types: "lhs=rhs=result:int"},
	"binio":   {format: "<overflow:overflow?> %lhs, %rhs : T(result)", result: "result", types: "lhs=rhs=result:int"},
	"fmai":    {format: "<overflow:overflow?> %a, %b, %c : T(result)", result: "result", types: "a=b=c=result:int"},
	"extf":    {format: "%input : T(input) to T(result)", result: "result", types: "input:float;result:float;wider(input,result)"},
	"truncf":  {format: "%input : T(input) to T(result)", result: "result", types: "input:float;result:float;narrower(input,result)"},
	"exti":    {format: "%input : T(input) to T(result)", result: "result", types: "input:int;result:int;wider(input,result)"},
	"trunci":  {format: "%input : T(input) to T(result)", result: "result", types: "input:int;result:int;narrower(input,result)"},
	"itofp":   {format: "%input : T(input) to T(result)", result: "result", types: "input:int;result:float;shape(input,result)"},
	"fptoi":   {format: "%input : T(input) to T(result)", result: "result", types: "input:float;result:int;shape(input,result)"},
	"bitcast": {format: "%input : T(input) to T(result)", result: "result", types: "input:number;result:number;bits(input,result)"},
	"isf": {format: "%input : T(input)", result: "result=i1", types: "input:float",
		vformat: "%input : T(input) -> T(result)", vresult: "result", vtypes: "input:vec.float;result:mask;shape(input,result)"},
	"cmpf": {format: "<fmf:fmf?> $predicate:fpred, %lhs, %rhs : T(lhs)", result: "result=i1", types: "lhs=rhs:float",
		vformat: "$predicate:fpred, %lhs, %rhs : T(lhs) -> T(result)", vresult: "result", vtypes: "lhs=rhs:vec.float;result:mask;shape(lhs,result)"},
	"cmpi": {format: "$predicate:ipred, %lhs, %rhs : T(lhs)", result: "result=i1", types: "lhs=rhs:int",
		vformat: "$predicate:ipred, %lhs, %rhs : T(lhs) -> T(result)", vresult: "result", vtypes: "lhs=rhs:vec.intindex;result:mask;shape(lhs,result)"},
	"clampf":   {format: "<mode:clampmode,fmf:fmf?> %value, %lower, %upper : T(result)", result: "result", types: "value=lower=upper=result:float"},
	"geluf":    {format: "<variant:gelu,fmf:fmf?> %input {attrs} : T(result)", result: "result", types: "input=result:float"},
	"constant": {format: "$value:value : T(result)", result: "result", types: "result:number", vtypes: "result:vec.element"},
	"poison":   {format: ": T(result)", result: "result", types: "result:any", vtypes: "result:vec.any"},
}

var ewList = []struct {
	class  string
	name   string
	traits loom.Traits
	doc    string
}{
	{"binf", "addf", loom.Commutative, "Sum."},
	{"binf", "subf", 0, "Difference lhs − rhs."},
	{"binf", "mulf", loom.Commutative, "Product."},
	{"binf", "divf", 0, "Quotient lhs / rhs."},
	{"binf", "remf", 0, "Remainder of lhs / rhs with the sign of lhs (C fmod)."},
	{"binf", "powf", 0, "lhs raised to rhs."},
	{"binf", "atan2f", 0, "Angle of the point (rhs, lhs) in radians."},
	{"binf", "minnumf", loom.Commutative, "Smaller value; a NaN operand is ignored."},
	{"binf", "maxnumf", loom.Commutative, "Larger value; a NaN operand is ignored."},
	{"binf", "minimumf", loom.Commutative, "Smaller value; a NaN operand gives NaN; −0 is below +0."},
	{"binf", "maximumf", loom.Commutative, "Larger value; a NaN operand gives NaN; +0 is above −0."},
	{"binf", "copysignf", 0, "Magnitude of lhs with the sign of rhs."},
	{"fma", "fmaf", 0, "a·b + c rounded once."},
	{"unf", "absf", 0, "Absolute value."},
	{"unf", "negf", 0, "Sign inversion."},
	{"unf", "signf", 0, "−1, 0 or 1 by sign; NaN stays NaN."},
	{"unf", "ceilf", 0, "Smallest integer value not below the input."},
	{"unf", "floorf", 0, "Largest integer value not above the input."},
	{"unf", "truncf", 0, "Integer part, rounding toward zero."},
	{"unf", "roundf", 0, "Nearest integer value, halves away from zero."},
	{"unf", "roundevenf", 0, "Nearest integer value, halves to even."},
	{"unf", "sqrtf", 0, "Square root."},
	{"unf", "rsqrtf", 0, "Reciprocal square root."},
	{"unf", "cbrtf", 0, "Cube root."},
	{"unf", "expf", 0, "e to the input."},
	{"unf", "exp2f", 0, "2 to the input."},
	{"unf", "expm1f", 0, "e to the input, minus 1."},
	{"unf", "logf", 0, "Natural logarithm."},
	{"unf", "log2f", 0, "Base-2 logarithm."},
	{"unf", "log10f", 0, "Base-10 logarithm."},
	{"unf", "log1pf", 0, "Natural logarithm of 1 + input."},
	{"unf", "sinf", 0, "Sine of an angle in radians."},
	{"unf", "cosf", 0, "Cosine of an angle in radians."},
	{"unf", "tanf", 0, "Tangent of an angle in radians."},
	{"unf", "sinturnsf", 0, "Sine of an angle in turns: sin(2πx)."},
	{"unf", "costurnsf", 0, "Cosine of an angle in turns: cos(2πx)."},
	{"unf", "asinf", 0, "Arcsine in radians."},
	{"unf", "acosf", 0, "Arccosine in radians."},
	{"unf", "atanf", 0, "Arctangent in radians."},
	{"unf", "sinhf", 0, "Hyperbolic sine."},
	{"unf", "coshf", 0, "Hyperbolic cosine."},
	{"unf", "tanhf", 0, "Hyperbolic tangent."},
	{"unf", "asinhf", 0, "Inverse hyperbolic sine."},
	{"unf", "acoshf", 0, "Inverse hyperbolic cosine."},
	{"unf", "atanhf", 0, "Inverse hyperbolic tangent."},
	{"unf", "erff", 0, "Error function."},
	{"unf", "erfcf", 0, "Complementary error function."},
	{"unf", "logisticf", 0, "Logistic function 1 / (1 + e^−x)."},
	{"unf", "siluf", 0, "x · logistic(x)."},
	{"unf", "softplusf", 0, "ln(1 + e^x)."},
	{"geluf", "geluf", 0, "Gaussian error linear unit in the erf, tanh or logistic form."},
	{"clampf", "clampf", 0, "Value limited to [lower, upper] under the NaN policy ordered, number or ieee."},
	{"isf", "isnanf", 0, "True for NaN."},
	{"isf", "isinff", 0, "True for an infinity."},
	{"isf", "isfinitef", 0, "True when neither NaN nor infinite."},
	{"cmpf", "cmpf", 0, "Float comparison; o-predicates are false and u-predicates true on NaN."},
	{"cmpi", "cmpi", 0, "Integer comparison; s-predicates are signed, u-predicates unsigned."},
	{"binio", "addi", loom.Commutative, "Sum modulo 2^width."},
	{"binio", "subi", 0, "Difference modulo 2^width."},
	{"binio", "muli", loom.Commutative, "Product modulo 2^width."},
	{"fmai", "fmai", 0, "a·b + c modulo 2^width."},
	{"binio", "shli", 0, "Left shift; the amount must be below the width."},
	{"bini", "shrui", 0, "Logical right shift; the amount must be below the width."},
	{"bini", "shrsi", 0, "Arithmetic right shift; the amount must be below the width."},
	{"bini", "rotli", 0, "Left rotation."},
	{"bini", "rotri", 0, "Right rotation."},
	{"bini", "andi", loom.Commutative, "Bitwise and."},
	{"bini", "ori", loom.Commutative, "Bitwise or."},
	{"bini", "xori", loom.Commutative, "Bitwise exclusive or."},
	{"bini", "divsi", 0, "Signed quotient, rounding toward zero."},
	{"bini", "divui", 0, "Unsigned quotient."},
	{"bini", "remsi", 0, "Signed remainder with the sign of lhs."},
	{"bini", "remui", 0, "Unsigned remainder."},
	{"bini", "ceildivsi", 0, "Signed quotient, rounding up."},
	{"bini", "ceildivui", 0, "Unsigned quotient, rounding up."},
	{"bini", "floordivsi", 0, "Signed quotient, rounding down."},
	{"bini", "minsi", loom.Commutative, "Smaller signed value."},
	{"bini", "maxsi", loom.Commutative, "Larger signed value."},
	{"bini", "minui", loom.Commutative, "Smaller unsigned value."},
	{"bini", "maxui", loom.Commutative, "Larger unsigned value."},
	{"uni", "absi", 0, "Absolute value."},
	{"uni", "negi", 0, "Negation."},
	{"uni", "signi", 0, "−1, 0 or 1 by sign."},
	{"uni", "ctlzi", 0, "Number of leading zero bits."},
	{"uni", "cttzi", 0, "Number of trailing zero bits."},
	{"uni", "ctpopi", 0, "Number of one bits."},
	{"extf", "extf", 0, "Float widening; exact."},
	{"truncf", "fptrunc", 0, "Float narrowing, nearest even."},
	{"exti", "extsi", 0, "Sign extension."},
	{"exti", "extui", 0, "Zero extension."},
	{"trunci", "trunci", 0, "Drops high bits."},
	{"itofp", "sitofp", 0, "Signed integer to float, nearest even."},
	{"itofp", "uitofp", 0, "Unsigned integer to float, nearest even."},
	{"fptoi", "fptosi", 0, "Float to signed integer, toward zero."},
	{"fptoi", "fptoui", 0, "Float to unsigned integer, toward zero."},
	{"bitcast", "bitcast", 0, "Reinterprets the bits; lane 0 is least significant."},
	{"constant", "constant", 0, "Typed literal; a vector constant is a splat."},
	{"poison", "poison", 0, "Undefined value; it must not reach an observable effect."},
}

func elementwiseOps() []*loom.OpDef {
	var out []*loom.OpDef
	for _, e := range ewList {
		c := ewClasses[e.class]
		var attrs []loom.AttrDef
		if e.class == "geluf" {
			attrs = []loom.AttrDef{{Name: "scale", Kind: "float", Doc: "Factor of the logistic form's argument."}}
		}
		out = append(out, &loom.OpDef{Name: "scalar." + e.name, Format: c.format, Result: c.result, Types: c.types,
			Attrs: attrs, Traits: e.traits | loom.Pure | loom.ElementWise, Doc: e.doc})
		format, result, types := c.vformat, c.vresult, c.vtypes
		if format == "" {
			format, result = c.format, c.result
		}
		if types == "" {
			types = vectorRule(c.types)
		}
		out = append(out, &loom.OpDef{Name: "vector." + e.name, Format: format, Result: result, Types: types,
			Attrs: attrs, Traits: e.traits | loom.Pure | loom.ElementWise, Doc: e.doc + " Lane by lane."})
	}
	fields := []loom.AttrDef{
		{Name: "offset", Kind: "int", Required: true, Doc: "Lowest bit of the field."},
		{Name: "width", Kind: "int", Required: true, Doc: "Number of bits."},
	}
	out = append(out,
		&loom.OpDef{Name: "scalar.assume", Format: "%values... $predicates:preds : T*(results)", Result: "results...",
			Types: "values=results:number", Traits: loom.Pure | loom.Fact,
			Doc: "Identity that promises predicates about fixed-width values."},
		&loom.OpDef{Name: "scalar.bitfield.extractu", Format: "%source {attrs} : T(source) -> T(result)", Result: "result",
			Types: "source:int;result:int", Attrs: fields, Traits: loom.Pure, Doc: "Bit field of an integer, zero-extended."},
		&loom.OpDef{Name: "scalar.bitfield.extracts", Format: "%source {attrs} : T(source) -> T(result)", Result: "result",
			Types: "source:int;result:int", Attrs: fields, Traits: loom.Pure, Doc: "Bit field of an integer, sign-extended."},
		&loom.OpDef{Name: "vector.bitfield.extractu", Format: "%source {attrs} : T(source) -> T(result)", Result: "result",
			Types: "source:vec.int;result:vec.int;shape(source,result)", Attrs: fields, Traits: loom.Pure, Doc: "Bit field of every lane, zero-extended."},
		&loom.OpDef{Name: "vector.bitfield.extracts", Format: "%source {attrs} : T(source) -> T(result)", Result: "result",
			Types: "source:vec.int;result:vec.int;shape(source,result)", Attrs: fields, Traits: loom.Pure, Doc: "Bit field of every lane, sign-extended."},
		&loom.OpDef{Name: "vector.bitfield.insert", Format: "%field into %base {attrs} : T(field), T(result)", Result: "result",
			Types: "base=result:vec.int;field:vec.int;shape(field,result)", Attrs: fields, Traits: loom.Pure, Doc: "Writes a bit field into every lane."},
	)
	return out
}

// vectorRule turns a scalar type rule into the vector one: every set gets the
// prefix "vec.", relations between fields stay.
func vectorRule(rule string) string {
	var b []byte
	for i := 0; i < len(rule); i++ {
		b = append(b, rule[i])
		if rule[i] == ':' {
			b = append(b, "vec."...)
		}
	}
	return string(b)
}
