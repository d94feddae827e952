package codegen

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

// lane is what an element-wise op knows when it writes one lane.
type lane struct {
	e        *emitter
	op       *loom.Op
	src, dst loom.Kind // element of the first operand, of the result
	flags    fmf
}

// fmf are the fast-math permissions of an op.
type fmf struct{ nnan, ninf, nsz, arcp, contract, afn bool }

func flagsOf(op *loom.Op) fmf {
	var f fmf
	for _, w := range op.Attr("fmf").Flags() {
		switch w {
		case "nnan":
			f.nnan = true
		case "ninf":
			f.ninf = true
		case "nsz":
			f.nsz = true
		case "arcp":
			f.arcp = true
		case "contract":
			f.contract = true
		case "afn":
			f.afn = true
		case "fast":
			f = fmf{nnan: true, ninf: true, nsz: true, arcp: true, contract: true, afn: true}
		}
	}
	return f
}

// needF64 reports a function that exists in single precision only.
func (l lane) needF64(fn string) {
	if prelude()[fn+"_f64"] == nil {
		l.e.unsupported("compute in f32: narrow the operand, widen the result", "no f64 form of it")
	}
}

// laneOp writes one lane of an element-wise op.
type laneOp struct {
	expr func(l lane, a []string) string
	// vec is the operator that does the same on whole vectors, "" when there is none.
	vec string
}

func infix(op string) laneOp {
	return laneOp{vec: op, expr: func(l lane, a []string) string {
		switch {
		case l.dst == loom.I8 || l.dst == loom.I16:
			// Promoted to int; a product of two u16 would overflow it.
			return "(" + scalarNames[l.dst] + ")((loom_u32)" + paren(a[0]) + " " + op + " " + paren(a[1]) + ")"
		case l.dst == loom.I1:
			return "((" + a[0] + " " + op + " " + a[1] + ") & 1) != 0"
		}
		return a[0] + " " + op + " " + a[1]
	}}
}

// floatOp is an arithmetic operator on floats; narrow formats go through f32.
func floatOp(op, name string) laneOp {
	return laneOp{vec: op, expr: func(l lane, a []string) string {
		if viaF32(l.dst) {
			return fromF32(l.dst, toF32(l.dst, a[0])+" "+op+" "+toF32(l.dst, a[1]))
		}
		if l.flags.contract && name != "" {
			return "loom_" + name + "_contract(" + a[0] + ", " + a[1] + ")"
		}
		return a[0] + " " + op + " " + a[1]
	}}
}

// viaF32 reports a format that has no arithmetic of its own.
func viaF32(k loom.Kind) bool { return k == loom.BF16 || k == loom.F8E4M3 || k == loom.F8E5M2 }

var shortNames = map[loom.Kind]string{
	loom.F8E4M3: "f8e4m3", loom.F8E5M2: "f8e5m2", loom.F16: "f16", loom.BF16: "bf16", loom.F32: "f32", loom.F64: "f64",
}

func toF32(k loom.Kind, s string) string {
	switch k {
	case loom.F32:
		return s
	case loom.F16, loom.F64:
		return "(loom_f32)" + paren(s)
	}
	return "loom_" + shortNames[k] + "_f32(" + s + ")"
}

func fromF32(k loom.Kind, s string) string {
	switch k {
	case loom.F32:
		return s
	case loom.F16, loom.F64:
		return "(" + scalarNames[k] + ")" + paren(s)
	}
	return "loom_f32_" + shortNames[k] + "(" + s + ")"
}

// paren wraps s unless it is a name, a number, an element of a vector or a call.
func paren(s string) string {
	i := 0
	for i < len(s) && isIdentPart(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	if i > 0 && s[i] == '<' { // template arguments of a call
		if j := strings.Index(s[i:], ">("); j > 0 && !strings.ContainsAny(s[i:i+j], " &|") {
			i += j + 1
		}
	}
	if s[i] == '(' && matching(s, i) == len(s)-1 || s[i] == '[' && strings.IndexByte(s, ']') == len(s)-1 {
		return s
	}
	return "(" + s + ")"
}

// matching is the index of the parenthesis that closes the one at i, or -1.
func matching(s string, i int) int {
	depth := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j
			}
		}
	}
	return -1
}

// math1 is a function of one float. fast is its form when the source allows
// approximation; f16 and narrower formats go through f32.
func math1(name string, hasFast bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		fn := "loom_" + name
		if hasFast && l.flags.afn && l.dst != loom.F64 {
			fn += "_fast"
		}
		if l.dst == loom.F64 {
			l.needF64(fn)
			return fn + "_f64(" + a[0] + ")"
		}
		return fromF32(l.dst, fn+"("+toF32(l.dst, a[0])+")")
	}}
}

func math2(name string, hasFast bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		fn := "loom_" + name
		if hasFast && l.flags.afn && l.dst != loom.F64 {
			fn += "_fast"
		}
		if l.dst == loom.F64 {
			l.needF64(fn)
			return fn + "_f64(" + a[0] + ", " + a[1] + ")"
		}
		return fromF32(l.dst, fn+"("+toF32(l.dst, a[0])+", "+toF32(l.dst, a[1])+")")
	}}
}

// exact1 is a function every float format but the narrow ones has natively
// through an overloaded helper.
func exact1(name string) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		if viaF32(l.dst) || l.dst == loom.F16 {
			return fromF32(l.dst, "loom_"+name+"_f32("+toF32(l.dst, a[0])+")")
		}
		return "loom_" + name + "_" + shortNames[l.dst] + "(" + a[0] + ")"
	}}
}

func extremum(name string) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		fn := name
		if l.flags.nnan && (name == "minnum" || name == "maxnum") {
			fn += "_nnan"
		}
		if viaF32(l.dst) {
			return fromF32(l.dst, "loom_"+fn+"_f32("+toF32(l.dst, a[0])+", "+toF32(l.dst, a[1])+")")
		}
		return "loom_" + fn + "_" + shortNames[l.dst] + "(" + a[0] + ", " + a[1] + ")"
	}}
}

// needsOpaque reports a division that clang 19 may get wrong on AMDGPU. It divides
// in 24 or 32 bits what was sign-extended from fewer, also when the sign bit makes
// it a large unsigned number; and its 24-bit division, by a reciprocal in f32, is
// off by one for some dividends from 2^22 on. What the facts do not bound it may still
// know to be that narrow.
func (l lane) needsOpaque(name string, sign bool) bool {
	if l.dst.Bits() < 32 || !strings.Contains("div rem ceildiv floordiv", name) || l.op == nil || len(l.op.Operands) < 2 {
		return false
	}
	a, b := l.e.factAt(l.op.Operands[0]), l.e.factAt(l.op.Operands[1])
	if _, ok := b.Const(); ok && sign {
		return false // by a multiplication
	}
	return !sign && (a.Lo < 0 || b.Lo < 0) || !exact24(a)
}

// exact24 reports a dividend that a division in 24 bits gets right.
func exact24(a facts.Fact) bool { return a.Within(-1<<22, 1<<22) }

// inexact24 reports operands that may be divided in 24 bits with a wrong result.
func inexact24(a, b facts.Fact) bool {
	if _, ok := b.Const(); ok {
		return false // by a multiplication
	}
	return a.Within(-1<<24, 1<<24) && b.Within(-1<<24, 1<<24) && !exact24(a)
}

// intFn calls a helper named for the width, its operands read as signed when sign
// is set.
func intFn(name string, sign bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		w := max(l.dst.Bits(), 8)
		args := slices.Clone(a)
		t := map[bool]string{true: "loom_i", false: "loom_u"}[sign] + strconv.Itoa(max(w, 32))
		for i := range args {
			if sign {
				args[i] = "(" + t + ")(" + signed(l.dst) + ")" + paren(args[i])
			} else if w < 32 {
				args[i] = "(" + t + ")" + paren(args[i])
			}
		}
		if l.needsOpaque(name, sign) {
			u := "u" + t[6:]
			args[0] = "loom_opaque_" + u + "(" + args[0] + ")"
			if sign {
				args[0] = "(" + t + ")" + args[0]
			}
		}
		s := "loom_" + name + "_" + t[5:] + "(" + strings.Join(args, ", ") + ")"
		if w < 32 || sign {
			s = "(" + scalarNames[l.dst] + ")" + s
		}
		return s
	}}
}

// shiftOp keeps narrow results in their width.
func shiftOp(op string, sign bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		x := a[0]
		if sign {
			x = "(" + signed(l.dst) + ")" + paren(x)
		}
		s := x + " " + op + " " + a[1]
		if sign || l.dst.Bits() < 32 {
			s = "(" + scalarNames[l.dst] + ")(" + s + ")"
		}
		return s
	}}
}

func bitCount(name string) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		w := l.dst.Bits()
		if w == 64 {
			return "loom_" + name + "_u64(" + a[0] + ")"
		}
		x := "(loom_u32)" + paren(a[0])
		switch {
		case w == 32:
			return "loom_" + name + "_u32(" + a[0] + ")"
		case name == "ctlz":
			return "(" + scalarNames[l.dst] + ")(loom_ctlz_u32(" + x + ") - " + strconv.Itoa(32-w) + "u)"
		case name == "cttz":
			return "(" + scalarNames[l.dst] + ")loom_cttz_u32(" + x + " | " + strconv.Itoa(1<<w) + "u)"
		}
		return "(" + scalarNames[l.dst] + ")loom_ctpop_u32(" + x + ")"
	}}
}

func rotate(left bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		w := l.dst.Bits()
		t := "loom_u32"
		if w == 64 {
			t = "loom_u64"
		}
		x, n := "("+t+")"+paren(a[0]), "("+t+")"+paren(a[1])
		m := strconv.Itoa(w - 1)
		op, inv := "<<", ">>"
		if !left {
			op, inv = inv, op
		}
		return fmt.Sprintf("(%s)((%s %s (%s & %s)) | (%s %s ((%d - %s) & %s)))", scalarNames[l.dst], x, op, n, m, x, inv, w, n, m)
	}}
}

// convert covers the float and integer conversions.
func floatToFloat(l lane, a []string) string {
	x := a[0]
	if l.src == l.dst {
		return x
	}
	if l.src == loom.F64 && viaF32(l.dst) {
		return "loom_f64_" + shortNames[l.dst] + "(" + x + ")"
	}
	if viaF32(l.src) || viaF32(l.dst) {
		f := toF32(l.src, x)
		if l.dst == loom.F64 {
			return "(loom_f64)" + f
		}
		return fromF32(l.dst, f)
	}
	return "(" + scalarNames[l.dst] + ")" + paren(x)
}

func intToFloat(sign bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		x := paren(a[0])
		if l.src == loom.I1 {
			if sign {
				return fromF32(l.dst, "("+a[0]+" ? -1.0f : 0.0f)")
			}
			return fromF32(l.dst, "("+a[0]+" ? 1.0f : 0.0f)")
		}
		if sign {
			x = "(" + signed(l.src) + ")" + x
		}
		switch {
		case viaF32(l.dst) && l.src.Bits() > 16:
			return "loom_f64_" + shortNames[l.dst] + "((loom_f64)" + x + ")"
		case viaF32(l.dst):
			return fromF32(l.dst, "(loom_f32)"+x)
		}
		return "(" + scalarNames[l.dst] + ")" + x
	}}
}

func floatToInt(sign bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		x := a[0]
		if viaF32(l.src) || l.src == loom.F16 {
			x = toF32(l.src, x)
		}
		t := "loom_i32"
		if !sign {
			t = "loom_u32"
		}
		if l.dst.Bits() == 64 {
			t = t[:6] + "64"
		}
		if t == scalarNames[l.dst] {
			return "(" + t + ")" + paren(x)
		}
		if l.dst == loom.I1 {
			return "(" + t + ")" + paren(x) + " != 0"
		}
		return "(" + scalarNames[l.dst] + ")(" + t + ")" + paren(x)
	}}
}

func intToInt(sign bool) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		x := paren(a[0])
		switch {
		case l.dst == loom.I1:
			return "(" + x + " & 1) != 0"
		case l.src == loom.I1 && sign:
			return "(" + scalarNames[l.dst] + ")(" + x + " ? -1 : 0)"
		case sign:
			return "(" + scalarNames[l.dst] + ")(" + signed(l.dst) + ")(" + signed(l.src) + ")" + x
		}
		return "(" + scalarNames[l.dst] + ")" + x
	}}
}

func division(l lane, a []string) string {
	if viaF32(l.dst) {
		return fromF32(l.dst, toF32(l.dst, a[0])+" / "+toF32(l.dst, a[1]))
	}
	if l.flags.arcp || l.flags.afn {
		switch l.dst {
		case loom.F32:
			return "loom_div_fast(" + a[0] + ", " + a[1] + ")"
		case loom.F16:
			return "(loom_f16)loom_div_fast((loom_f32)" + paren(a[0]) + ", (loom_f32)" + paren(a[1]) + ")"
		}
	}
	if l.dst == loom.F32 {
		return "loom_div_f32(" + a[0] + ", " + a[1] + ")"
	}
	return a[0] + " / " + a[1]
}

func fused(l lane, a []string) string {
	if viaF32(l.dst) {
		return fromF32(l.dst, "loom_fma_f32("+toF32(l.dst, a[0])+", "+toF32(l.dst, a[1])+", "+toF32(l.dst, a[2])+")")
	}
	return "loom_fma_" + shortNames[l.dst] + "(" + strings.Join(a, ", ") + ")"
}

func clamp(l lane, a []string) string {
	mode := l.op.Word("mode")
	if viaF32(l.dst) || l.dst == loom.F16 {
		return fromF32(l.dst, "loom_clamp_"+mode+"_f32("+toF32(l.dst, a[0])+", "+toF32(l.dst, a[1])+", "+toF32(l.dst, a[2])+")")
	}
	return "loom_clamp_" + mode + "_" + shortNames[l.dst] + "(" + strings.Join(a, ", ") + ")"
}

func gelu(l lane, a []string) string {
	v := l.op.Word("variant")
	fn := "loom_gelu_" + v
	if l.dst == loom.F64 {
		l.needF64(fn)
	}
	if l.dst == loom.F64 {
		fn += "_f64"
	}
	args := toF32(l.dst, a[0])
	if l.dst == loom.F64 {
		args = a[0]
	}
	if v == "logistic" {
		scale := 1.702
		if s := l.op.Attr("scale"); s.Kind != loom.AttrNone {
			scale = s.Float()
		}
		k := loom.F32
		if l.dst == loom.F64 {
			k = loom.F64
		}
		args += ", " + floatLit(scale, k)
	}
	if l.dst == loom.F64 {
		return fn + "(" + args + ")"
	}
	return fromF32(l.dst, fn+"("+args+")")
}

var floatPreds = map[string]string{
	"oeq": "%s == %s", "ogt": "%s > %s", "oge": "%s >= %s", "olt": "%s < %s", "ole": "%s <= %s",
	"one": "loom_one(%s, %s)", "ord": "loom_ord(%s, %s)", "ueq": "!loom_one(%s, %s)", "uno": "!loom_ord(%s, %s)",
	"ugt": "!(%s <= %s)", "uge": "!(%s < %s)", "ult": "!(%s >= %s)", "ule": "!(%s > %s)", "une": "%s != %s",
}

func compareFloat(l lane, a []string) string {
	x, y := a[0], a[1]
	p := l.op.Word("predicate")
	if x == y { // compilers warn about comparing a thing with itself
		switch p {
		case "oeq", "oge", "ole", "ord":
			p = "ord"
		case "une", "ugt", "ult", "uno":
			p = "uno"
		case "ueq", "uge", "ule":
			return "true"
		default:
			return "false"
		}
	}
	if viaF32(l.src) || l.src == loom.F16 && strings.HasPrefix(floatPreds[p], "loom") {
		x, y = toF32(l.src, x), toF32(l.src, y)
	}
	return fmt.Sprintf(floatPreds[p], x, y)
}

var intPreds = map[string]string{
	"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=", "ult": "<", "ule": "<=", "ugt": ">", "uge": ">=",
}

func compareInt(l lane, a []string) string {
	p := l.op.Word("predicate")
	x, y := a[0], a[1]
	if x == y {
		return strconv.FormatBool(selfHolds(p))
	}
	if p[0] == 's' && l.src.IsInt() {
		if l.src == loom.I1 {
			x, y = "-(int)"+paren(x), "-(int)"+paren(y)
		} else {
			t := "(" + signed(l.src) + ")"
			x, y = t+paren(x), t+paren(y)
		}
	}
	return x + " " + intPreds[p] + " " + y
}

// selfHolds reports an integer predicate that holds between a value and itself:
// compilers warn about such a comparison.
func selfHolds(p string) bool { return p == "eq" || strings.HasSuffix(p, "e") && p != "ne" }

func floatClass(name string) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		if l.src == loom.F64 {
			return "loom_" + name + "_f64(" + a[0] + ")"
		}
		return "loom_" + name + "(" + toF32(l.src, a[0]) + ")"
	}}
}

// product writes an integer product; see fragileProduct.
func product(l lane, a []string) string {
	if !l.fragileProduct() {
		return infix("*").expr(l, a)
	}
	t := "u" + strconv.Itoa(max(l.dst.Bits(), 32))
	return "(" + scalarNames[l.dst] + ")loom_opaque_" + t + "((loom_" + t + ")" + paren(a[0]) + " * " + paren(a[1]) + ")"
}

// fragileProduct reports a product of bytes that clang 19 may take for a part of a
// dot product on AMDGPU although it is none: it reads x·y + f(z·w, c) as
// x·y + z·w + c when f is any operation of two operands. Where a product of bytes
// goes anywhere but into a sum, its origin is hidden.
func (l lane) fragileProduct() bool {
	if l.op == nil || l.e == nil || l.dst == loom.I1 || l.op.Result() == nil || len(l.op.Operands) < 2 {
		return false
	}
	if l.dst == loom.I8 {
		return true
	}
	if !strings.HasSuffix(l.op.Def.Name, ".muli") {
		return false
	}
	for _, v := range l.op.Operands[:2] {
		f := l.e.factAt(v)
		if _, constant := f.Const(); constant || !f.Within(-128, 255) {
			return false
		}
	}
	return !l.e.summed(l.op.Result(), 0)
}

// summed reports that v ends in sums, conversions to float and memory alone.
func (e *emitter) summed(v *loom.Value, depth int) bool {
	if depth > 6 {
		return false
	}
	for _, u := range e.usersOf(v) {
		switch u.Def.Name {
		case "scalar.addi", "vector.addi", "scalar.fmai", "vector.fmai", "scalar.sitofp", "vector.sitofp", "scalar.uitofp", "vector.uitofp",
			"view.store", "vector.store", "vector.store.mask", "kernel.subgroup.reduce", "kernel.workgroup.reduce":
		case "vector.reduce", "vector.reduce.axes":
			if u.Word("kind") != "addi" {
				return false
			}
		case "vector.extract", "vector.slice", "vector.shuffle", "vector.from_elements", "vector.concat", "vector.insert", "vector.deinterleave", "vector.splat":
			for _, r := range u.Results {
				if !e.summed(r, depth+1) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// usersOf lists the ops that read v. The lists are made when they are first asked
// for, which few kernels do.
func (e *emitter) usersOf(v *loom.Value) []*loom.Op {
	if e.readers == nil {
		e.readers = map[*loom.Value][]*loom.Op{}
		e.k.Def.Body.Walk(func(o *loom.Op) bool {
			for _, x := range o.Operands {
				e.readers[x] = append(e.readers[x], o)
			}
			for _, s := range o.Succs {
				for _, x := range s.Args {
					e.readers[x] = append(e.readers[x], o)
				}
			}
			return true
		})
	}
	return e.readers[v]
}

// signBits writes an operation on the sign bit: absf, negf, copysignf.
func signBits(name string) laneOp {
	return laneOp{expr: func(l lane, a []string) string {
		if viaF32(l.dst) {
			w := l.dst.Bits()
			m := strconv.Itoa(1 << (w - 1))
			n := strconv.Itoa(1<<(w-1) - 1)
			t := "(" + scalarNames[l.dst] + ")"
			switch name {
			case "abs":
				return t + "(" + a[0] + " & " + n + ")"
			case "neg":
				return t + "(" + a[0] + " ^ " + m + ")"
			}
			return t + "((" + a[0] + " & " + n + ") | (" + a[1] + " & " + m + "))"
		}
		if name == "neg" {
			return "-" + paren(a[0])
		}
		return "loom_" + name + "_" + shortNames[l.dst] + "(" + strings.Join(a, ", ") + ")"
	}}
}

// floatLit writes a float constant rounded to kind k.
func floatLit(v float64, k loom.Kind) string {
	switch k {
	case loom.F32:
		return f32Lit(float32(v))
	case loom.F64:
		switch {
		case math.IsNaN(v):
			return "loom_bits_f64(0x7ff8000000000000ull)"
		case math.IsInf(v, 0):
			return fmt.Sprintf("loom_bits_f64(0x%xull)", math.Float64bits(v))
		}
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case loom.F16:
		h := f16Bits(v)
		if h&0x7c00 == 0x7c00 {
			return fmt.Sprintf("loom_bits_f16(0x%04x)", h)
		}
		return "(loom_f16)" + f32Lit(f16Value(h))
	case loom.BF16:
		return fmt.Sprintf("(loom_bf16)0x%04x", bf16Bits(v))
	case loom.F8E4M3:
		return fmt.Sprintf("(loom_f8e4m3)0x%02x", f8e4m3Bits(v))
	case loom.F8E5M2:
		return fmt.Sprintf("(loom_f8e5m2)0x%02x", f8Bits(v, 5, 2))
	}
	return "0"
}

func f32Lit(v float32) string {
	switch {
	case v != v:
		return "loom_bits_f32(0x7fc00000u)"
	case math.IsInf(float64(v), 0):
		return fmt.Sprintf("loom_bits_f32(0x%xu)", math.Float32bits(v))
	}
	s := strconv.FormatFloat(float64(v), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f"
}

// f16Bits rounds to half precision, nearest even.
func f16Bits(v float64) uint16 { return uint16(roundBits(v, 5, 10)) }

func bf16Bits(v float64) uint16 { return uint16(roundBits(v, 8, 7)) }

// f8e4m3Bits rounds to the FN format: the top exponent holds numbers up to 448 and
// one NaN.
func f8e4m3Bits(v float64) uint8 {
	sign := uint8(math.Float64bits(v) >> 63 << 7)
	if math.IsNaN(v) || math.Abs(v) >= 464 {
		return sign | 0x7f
	}
	if a := math.Abs(v); a >= 256 {
		return sign | 0x78 | uint8(math.RoundToEven((a-256)/32))
	}
	return uint8(roundBits(v, 4, 3))
}

func f8Bits(v float64, exp, man int) uint8 { return uint8(roundBits(v, exp, man)) }

// roundBits encodes v in an IEEE-style format with exp exponent and man fraction
// bits, nearest even.
func roundBits(v float64, exp, man int) uint64 {
	bits := math.Float64bits(v)
	sign := bits >> 63 << (exp + man)
	inf := (uint64(1)<<exp - 1) << man
	switch {
	case math.IsNaN(v):
		return sign | inf | 1<<(man-1)
	case math.IsInf(v, 0):
		return sign | inf
	case v == 0:
		return sign
	}
	bias := 1<<(exp-1) - 1
	frac, e2 := math.Frexp(math.Abs(v)) // |v| = frac·2^e2, frac in [0.5, 1)
	e := e2 - 1
	shift := man
	if e < 1-bias { // subnormal
		shift = man - (1 - bias - e)
	}
	m := math.RoundToEven(math.Ldexp(frac*2, shift))
	var r uint64
	if e < 1-bias {
		r = uint64(m)
	} else {
		r = uint64(e+bias)<<man + uint64(m) - 1<<man
	}
	if r >= inf {
		r = inf
	}
	return sign | r
}

func f16Value(h uint16) float32 {
	e, m := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(m, -24)
	if e > 0 {
		v = math.Ldexp(1024+m, e-25)
	}
	if h>>15 != 0 {
		v = -v
	}
	return float32(v)
}

// laneOps is the table of element-wise ops, keyed by the name after "scalar." or
// "vector.".
var laneOps = map[string]laneOp{
	"addf": floatOp("+", "add"), "subf": floatOp("-", "sub"), "mulf": floatOp("*", "mul"),
	"divf": {expr: division}, "remf": math2("fmod", false), "powf": math2("pow", true), "atan2f": math2("atan2", false),
	"fmaf":    {expr: fused},
	"minnumf": extremum("minnum"), "maxnumf": extremum("maxnum"), "minimumf": extremum("minimum"), "maximumf": extremum("maximum"),
	"absf": signBits("abs"), "negf": signBits("neg"), "copysignf": signBits("copysign"), "signf": exact1("sign"),
	"ceilf": exact1("ceil"), "floorf": exact1("floor"), "truncf": exact1("trunc"), "roundf": exact1("round"), "roundevenf": exact1("roundeven"),
	"sqrtf": math1("sqrt", true), "rsqrtf": math1("rsqrt", true), "cbrtf": math1("cbrt", false),
	"expf": math1("exp", true), "exp2f": math1("exp2", true), "expm1f": math1("expm1", false),
	"logf": math1("log", true), "log2f": math1("log2", true), "log10f": math1("log10", true), "log1pf": math1("log1p", false),
	"sinf": math1("sin", true), "cosf": math1("cos", true), "tanf": math1("tan", false),
	"sinturnsf": math1("sinturns", true), "costurnsf": math1("costurns", true),
	"asinf": math1("asin", false), "acosf": math1("acos", false), "atanf": math1("atan", false),
	"sinhf": math1("sinh", false), "coshf": math1("cosh", false), "tanhf": math1("tanh", true),
	"asinhf": math1("asinh", false), "acoshf": math1("acosh", false), "atanhf": math1("atanh", false),
	"erff": math1("erf", false), "erfcf": math1("erfc", false),
	"logisticf": math1("logistic", true), "siluf": math1("silu", true), "softplusf": math1("softplus", true),
	"geluf": {expr: gelu}, "clampf": {expr: clamp},
	"isnanf": floatClass("isnan"), "isinff": floatClass("isinf"), "isfinitef": floatClass("isfinite"),
	"cmpf": {expr: compareFloat}, "cmpi": {expr: compareInt},
	"addi": infix("+"), "subi": infix("-"), "muli": {vec: "*", expr: product},
	"fmai": {expr: func(l lane, a []string) string {
		return infix("+").expr(l, []string{product(l, a[:2]), a[2]})
	}},
	"shli": shiftOp("<<", false), "shrui": shiftOp(">>", false), "shrsi": shiftOp(">>", true),
	"rotli": rotate(true), "rotri": rotate(false),
	"andi": infix("&"), "ori": infix("|"), "xori": infix("^"),
	"divsi": intFn("div", true), "divui": intFn("div", false), "remsi": intFn("rem", true), "remui": intFn("rem", false),
	"ceildivsi": intFn("ceildiv", true), "ceildivui": intFn("ceildiv", false), "floordivsi": intFn("floordiv", true),
	"minsi": intFn("min", true), "maxsi": intFn("max", true), "minui": intFn("min", false), "maxui": intFn("max", false),
	"absi": {expr: func(l lane, a []string) string {
		t := scalarNames[l.dst]
		return fmt.Sprintf("(%s)%s < 0 ? (%s)(0 - %s) : %s", signed(l.dst), paren(a[0]), t, paren(a[0]), a[0])
	}},
	"negi": {expr: func(l lane, a []string) string { return "(" + scalarNames[l.dst] + ")(0 - " + paren(a[0]) + ")" }},
	"signi": {expr: func(l lane, a []string) string {
		s := "(" + signed(l.dst) + ")" + paren(a[0])
		return fmt.Sprintf("(%s)((%s > 0) - (%s < 0))", scalarNames[l.dst], s, s)
	}},
	"ctlzi": bitCount("ctlz"), "cttzi": bitCount("cttz"), "ctpopi": bitCount("ctpop"),
	"extf": {expr: floatToFloat}, "fptrunc": {expr: floatToFloat},
	"extsi": intToInt(true), "extui": intToInt(false), "trunci": intToInt(false),
	"sitofp": intToFloat(true), "uitofp": intToFloat(false), "fptosi": floatToInt(true), "fptoui": floatToInt(false),
	"bitfield.extractu": {expr: extractField}, "bitfield.extracts": {expr: extractField}, "bitfield.insert": {expr: insertField},
}

func extractField(l lane, a []string) string {
	off, w := l.op.Attr("offset").Int, l.op.Attr("width").Int
	sign := strings.HasSuffix(l.op.Def.Name, "s")
	bits := int64(max(l.src.Bits(), 32))
	t := "loom_u" + itoa(bits)
	x := "(" + t + ")" + paren(a[0])
	if bits == int64(l.src.Bits()) {
		x = a[0]
	}
	if sign {
		st := "loom_i" + itoa(bits)
		return fmt.Sprintf("(%s)(((%s)(%s << %d)) >> %d)", scalarNames[l.dst], st, x, bits-off-w, bits-w)
	}
	s := x
	if off > 0 {
		s = "(" + x + " >> " + itoa(off) + ")"
	}
	if off+w < int64(l.src.Bits()) {
		m := fmt.Sprintf("0x%xu", uint64(1)<<w-1)
		if bits == 64 {
			m += "ll"
		}
		s = "(" + s + " & " + m + ")"
	}
	return "(" + scalarNames[l.dst] + ")" + paren(s)
}

func insertField(l lane, a []string) string {
	// Operands in format order: field, base.
	off, w := l.op.Attr("offset").Int, l.op.Attr("width").Int
	bits := int64(max(l.dst.Bits(), 32))
	t := "loom_u" + itoa(bits)
	m := uint64(1)<<w - 1
	if w >= 64 {
		m = math.MaxUint64
	}
	suffix := "u"
	if bits == 64 {
		suffix = "ull"
	}
	keep := ^(m << off)
	if bits == 32 {
		keep &= math.MaxUint32
	}
	return fmt.Sprintf("(%s)(((%s)%s & 0x%x%s) | (((%s)%s & 0x%x%s) << %d))", scalarNames[l.dst],
		t, paren(a[1]), keep, suffix, t, paren(a[0]), m, suffix, off)
}
