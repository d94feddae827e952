package codegen

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
)

var encodingOps = map[string]emitFunc{
	"encoding.define": bindEncoding, "encoding.layout.dense": bindEncoding, "encoding.layout.strided": bindEncoding,
	"encoding.layout.assume.dense": aliasEncoding, "encoding.layout.assume.strided": aliasEncoding,
	"encoding.assume.spec": aliasEncoding, "encoding.assume.match": aliasEncoding,
	"vector.decode": emitDecode, "vector.encode": emitEncode, "vector.transform": emitTransform,
}

func bindEncoding(e *emitter, op *loom.Op) { e.vals[op.Result()] = &binding{enc: op} }

func aliasEncoding(e *emitter, op *loom.Op) { e.alias(op.Result(), op.Operands[0]) }

// schema is what vector.decode and vector.encode need to know of a storage schema.
type schema struct {
	text   string // as the source spells it
	width  int    // bits of a code
	signed bool
	float  loom.Kind // format of a floating-point code, else Invalid
	// place is the position in the stream of codes of the code of lane i of n.
	place    func(i, n int) int
	bias     int64  // taken off an integer code
	affine   string // how scale, zero point, minimum and bias apply
	rounding string
}

func inOrder(i, _ int) int { return i }

// schemaFormats are the element formats with a decoder: N-bit integers and floats
// the lanes compute with. The *fn spelling is the format of f8E4M3 here.
var schemaFormats = map[string]loom.Kind{
	"f16": loom.F16, "bf16": loom.BF16, "f32": loom.F32, "f64": loom.F64,
	"f8e4m3": loom.F8E4M3, "f8e4m3fn": loom.F8E4M3, "f8e5m2": loom.F8E5M2, "bf8": loom.F8E5M2,
}

// schema reads the schema operand of the current op; ok is false when that was
// reported.
func (e *emitter) schema(v *loom.Value) (s schema, ok bool) {
	b := e.vals[v]
	if b == nil || b.enc == nil || b.enc.Def.Name != "encoding.define" {
		e.unsupported("define the schema in this kernel with encoding.define", "schema %%%s is known only at run time", v.Name)
		return s, false
	}
	enc := b.enc.Attr("spec").Enc()
	s = schema{text: enc.String(), place: inOrder, affine: "none", rounding: "none"}
	word := func(name, other string) string {
		if a, ok := enc.Param(name); ok && a.Str != "" {
			return a.Str
		}
		return other
	}
	refuse := func(help, format string, args ...any) (schema, bool) {
		e.unsupported(help, "schema '%s': %s", s.text, fmt.Sprintf(format, args...))
		return s, false
	}
	family, format := enc.Family, ""
	switch family {
	case "ggml.q8_0", "ggml_q8_0", "q8_0":
		s.width, s.signed, s.affine = 8, true, "scale_only"
		return s, true
	case "ggml.q4_0", "ggml_q4_0", "q4_0":
		// The low nibbles of a block's bytes are its first half.
		s.width, s.bias, s.affine = 4, 8, "scale_only"
		s.place = func(i, n int) int { return 2*(i%(n/2)) + i/(n/2) }
		return s, true
	case "encoding.operand", "matrix_operand":
		format = word("element_format", "")
	case "ieee_fp8_e4m3", "fp8_e4m3fn":
		format = "f8e4m3"
	case "ieee_fp8_e5m2":
		format = "f8e5m2"
	default:
		format = strings.TrimPrefix(family, "encoding.")
	}
	if k, ok := schemaFormats[format]; ok {
		s.float, s.width = k, k.Bits()
	} else if n, err := strconv.Atoi(strings.TrimLeft(strings.TrimPrefix(format, "quant_"), "iu")); err == nil && n >= 1 && n <= 32 {
		s.width, s.signed = n, !strings.HasPrefix(format, "u")
	} else {
		return refuse("take the lanes apart in the source with vector.bitunpacku, vector.table.lookup and arithmetic, as the motifs of the corpora do; #ggml.q8_0, #ggml.q4_0, integer, f16, bf16, f32 and f8 formats are known", "its codes have no form here")
	}
	switch p := word("payload_packing", "dense_lanes"); p {
	case "dense_lanes", "little_endian_nibbles", "bitfield_stream":
	case "big_endian_nibbles":
		s.place = func(i, _ int) int { return i ^ 1 }
	default:
		return refuse("unpack the payload in the source", "payload packing '%s'", p)
	}
	for _, name := range []string{"codebook", "sparsity"} {
		if w := word(name, "none"); w != "none" {
			return refuse("look the codes up in the source", "%s '%s'", name, w)
		}
	}
	s.affine, s.rounding = word("affine", "none"), word("rounding", "none")
	switch s.affine {
	case "none", "scale_only", "scale_plus_min", "scale_plus_bias", "scale_plus_zero_point":
	default:
		return refuse("scale the lanes in the source", "affine policy '%s'", s.affine)
	}
	return s, true
}

// auxiliary returns the named operands of a decode or an encode.
func auxiliary(op *loom.Op) map[string]*loom.Value {
	out := map[string]*loom.Value{}
	names := op.Attr("parameter_names").List()
	for i, v := range op.Field("parameters") {
		if i < len(names) {
			out[names[i].Str] = v
		}
	}
	return out
}

// affineTerms gives, for lane i of n, what scales a code and what is added to it
// before or after, in element kind k. Empty texts stand for nothing.
func (e *emitter) affineTerms(op *loom.Op, s schema, k loom.Kind, n int) (terms func(i int) (scale, before, after string), ok bool) {
	aux := auxiliary(op)
	need := func(name string) *loom.Value {
		v := aux[name]
		delete(aux, name)
		if v == nil {
			e.unsupported("pass {"+name+" = %v : vector<1x…>}", "schema '%s' without its operand '%s'", s.text, name)
		} else if v.Type.Kind == loom.Vector && (v.Type.Lanes() == 0 || n%v.Type.Lanes() != 0) {
			e.unsupported("give each lane, or each group of equally many lanes, one", "%d values of '%s' for %d lanes", v.Type.Lanes(), name, n)
			return nil
		}
		return v
	}
	var scale, pre, post *loom.Value
	ok = true
	if s.affine != "none" {
		scale = need("scale")
		ok = scale != nil
	}
	switch s.affine {
	case "scale_plus_min":
		post = need("minimum")
		ok = ok && post != nil
	case "scale_plus_bias":
		post = need("bias")
		ok = ok && post != nil
	case "scale_plus_zero_point":
		pre = need("zero_point")
		ok = ok && pre != nil
	}
	delete(aux, "amax") // what the scale was made from
	for _, name := range sortedNames(aux) {
		e.unsupported("drop the operand, or apply it in the source", "operand '%s' has no part in schema '%s'", name, s.text)
		ok = false
	}
	text := func(v *loom.Value, i int) string {
		if v == nil {
			return ""
		}
		if v.Type.Kind == loom.Vector {
			i /= n / v.Type.Lanes()
		}
		l := lane{e: e, op: op, src: v.Type.Element(), dst: k}
		if l.src.IsInt() {
			return intToFloat(s.signed).expr(l, []string{e.laneOf(v, i)})
		}
		return floatToFloat(l, []string{e.laneOf(v, i)})
	}
	return func(i int) (string, string, string) { return text(scale, i), text(pre, i), text(post, i) }, ok
}

func sortedNames(m map[string]*loom.Value) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// emitDecode turns codes into numbers: (code - zero point)·scale + minimum, in the
// result's format.
func emitDecode(e *emitter, op *loom.Op) {
	r, in := op.Result(), op.Operand("payload")
	s, ok := e.schema(op.Operand("schema"))
	if !ok {
		return
	}
	k, n := r.Type.Elem, r.Type.Lanes()
	pk := in.Type.Elem
	lanewise := in.Type.Lanes() == n && pk.Bits() >= s.width
	if !k.IsFloat() || !lanewise && in.Type.Lanes()*pk.Bits() != n*s.width {
		e.unsupported("make the payload as many bits as the codes of all lanes, and the result a float vector",
			"decoding '%s' by schema '%s' with %d-bit codes into '%s'", in.Type, s.text, s.width, r.Type)
		return
	}
	terms, ok := e.affineTerms(op, s, k, n)
	if !ok {
		return
	}
	arith := func(name, a, b string) string {
		return laneOps[name].expr(lane{e: e, op: op, src: k, dst: k}, []string{paren(a), paren(b)})
	}
	e.lanes(r, n, func(i int) string {
		var x string
		at := s.place(i, n)
		switch {
		case pk.IsFloat() && pk == s.float:
			x = floatToFloat(lane{e: e, op: op, src: pk, dst: k}, []string{e.laneOf(in, at)})
		case s.float != loom.Invalid:
			code := e.laneOf(in, at)
			if !lanewise || pk.Bits() != s.width {
				code = e.codeBits(in, s, at, lanewise)
			}
			raw := "loom_bitcast<" + scalarNames[s.float] + ">((loom_u" + itoa(int64(s.width)) + ")" + paren(code) + ")"
			x = floatToFloat(lane{e: e, op: op, src: s.float, dst: k}, []string{raw})
		default:
			code := e.codeBits(in, s, at, lanewise)
			switch {
			case s.bias != 0:
				code = "((loom_u32)" + paren(code) + " - " + itoa(s.bias) + "u)"
			case s.signed && s.width == 8 && pk == loom.I8:
				code = "(loom_u32)(loom_i8)" + paren(code)
			case s.signed && s.width < 32:
				code = fmt.Sprintf("(loom_u32)((loom_i32)((loom_u32)%s << %d) >> %d)", paren(code), 32-s.width, 32-s.width)
			default:
				code = "(loom_u32)" + paren(code)
			}
			x = intToFloat(s.signed || s.bias != 0).expr(lane{e: e, op: op, src: loom.I32, dst: k}, []string{code})
		}
		scale, pre, post := terms(i)
		if pre != "" {
			x = arith("subf", x, pre)
		}
		if scale != "" {
			x = arith("mulf", x, scale)
		}
		if post != "" {
			x = arith("addf", x, post)
		}
		return x
	})
}

// codeBits reads code number i of a payload.
func (e *emitter) codeBits(in *loom.Value, s schema, i int, lanewise bool) string {
	w := in.Type.Elem.Bits()
	switch {
	case !lanewise:
		return e.bitsOf(in, i*s.width, s.width)
	case w == s.width:
		return e.laneOf(in, i)
	}
	return fmt.Sprintf("(%s & 0x%xu)", e.laneOf(in, i), uint64(1)<<s.width-1)
}

// roundingOps are the ways a number becomes an integer code.
var roundingOps = map[string]string{
	"none": "roundevenf", "nearest_even": "roundevenf", "nearest_away": "roundf", "toward_zero": "truncf", "down": "floorf", "up": "ceilf",
}

// emitEncode is the inverse of emitDecode: (value - minimum)/scale + zero point,
// rounded and held inside the range of the codes. A zero scale and a NaN give the
// code of zero.
func emitEncode(e *emitter, op *loom.Op) {
	r, in := op.Result(), op.Operand("source")
	s, ok := e.schema(op.Operand("schema"))
	if !ok {
		return
	}
	k, n, pk := in.Type.Elem, in.Type.Lanes(), r.Type.Elem
	lanewise := r.Type.Lanes() == n && pk.Bits() >= s.width
	if !k.IsFloat() || !pk.IsInt() && pk != s.float || !lanewise && r.Type.Lanes()*pk.Bits() != n*s.width {
		e.unsupported("make the payload an integer vector of as many bits as the codes of all lanes", "encoding '%s' by schema '%s' with %d-bit codes into '%s'", in.Type, s.text, s.width, r.Type)
		return
	}
	round := roundingOps[s.rounding]
	if round == "" || s.float != loom.Invalid && s.rounding != "none" && s.rounding != "nearest_even" {
		e.unsupported("round in the source and encode integers, or use nearest_even", "rounding '%s' of schema '%s'", s.rounding, s.text)
		return
	}
	terms, ok := e.affineTerms(op, s, k, n)
	if !ok {
		return
	}
	// Narrow floats would round between the steps.
	wk := k
	if k != loom.F64 {
		wk = loom.F32
	}
	l := lane{e: e, op: op, src: wk, dst: wk}
	widen := func(x string) string { return floatToFloat(lane{src: k, dst: wk}, []string{x}) }
	wt := scalarNames[wk]
	codes := make([]string, n)
	for i := range n {
		scale, pre, post := terms(i)
		x := widen(e.laneOf(in, i))
		if post != "" {
			x = laneOps["subf"].expr(l, []string{paren(x), paren(widen(post))})
		}
		if scale != "" {
			d := e.tmp(r.Name+"_scale", wt, widen(scale))
			x = d + " == " + floatLit(0, wk) + " ? " + floatLit(0, wk) + " : " + division(l, []string{paren(x), d})
		}
		if pre != "" {
			x = laneOps["addf"].expr(l, []string{paren(x), paren(widen(pre))})
		}
		v := e.tmp(r.Name+"_number", wt, x)
		if s.float != loom.Invalid {
			c := floatToFloat(lane{src: wk, dst: s.float}, []string{v})
			if pk != s.float {
				c = "loom_bitcast<loom_u" + itoa(int64(s.width)) + ">(" + c + ")"
			}
			codes[i] = c
			continue
		}
		lo, hi := float64(-s.bias), float64(int64(1)<<s.width-1-s.bias)
		if s.signed {
			lo, hi = -math.Ldexp(1, s.width-1), math.Ldexp(1, s.width-1)-1
		}
		// In f32 the end of a 32-bit range is the next number below.
		hiText := floatLit(hi, wk)
		if wk == loom.F32 && s.width > 24 {
			hiText = floatLit(float64(math.Nextafter32(float32(hi)+1, 0)), wk)
		}
		q := laneOps[round].expr(l, []string{v})
		q = "loom_clamp_number_" + shortNames[wk] + "(" + v + " != " + v + " ? " + floatLit(0, wk) + " : " + q + ", " + floatLit(lo, wk) + ", " + hiText + ")"
		t := "loom_i32"
		if !s.signed && s.bias == 0 {
			t = "loom_u32"
		}
		q = "(loom_u32)(" + t + ")" + q
		if s.bias != 0 {
			q = "(" + q + " + " + itoa(s.bias) + "u)"
		}
		codes[i] = e.tmp(r.Name+"_code", "loom_u32", q)
	}
	pt := scalarNames[pk]
	mask := fmt.Sprintf("0x%xu", uint64(1)<<s.width-1)
	from := make([]int, n) // lane of each code of the stream
	for i := range n {
		from[s.place(i, n)] = i
	}
	if lanewise {
		e.lanes(r, n, func(i int) string {
			c := codes[from[i]]
			if pk == s.float {
				return c
			}
			if pk.Bits() > s.width && s.float == loom.Invalid {
				c = "(" + c + " & " + mask + ")"
			}
			return "(" + pt + ")" + paren(c)
		})
		return
	}
	wide := "loom_u32"
	if pk.Bits() == 64 {
		wide = "loom_u64"
	}
	e.lanes(r, r.Type.Lanes(), func(i int) string {
		var parts []string
		lo, hi := i*pk.Bits(), (i+1)*pk.Bits()
		for j := lo / s.width; j*s.width < hi && j < n; j++ {
			c := "(" + wide + ")" + paren(codes[from[j]])
			if s.width < 32 && s.float == loom.Invalid {
				c = "(" + c + " & " + mask + ")"
			}
			switch d := j*s.width - lo; {
			case d > 0:
				c = fmt.Sprintf("(%s << %d)", c, d)
			case d < 0:
				c = fmt.Sprintf("(%s >> %d)", c, -d)
			}
			parts = append(parts, c)
		}
		return "(" + pt + ")(" + strings.Join(parts, " | ") + ")"
	})
}

// emitTransform applies a linear map along the last axis: a Walsh-Hadamard
// transform as log2(n) rounds of sums and differences, or a dense matrix.
func emitTransform(e *emitter, op *loom.Op) {
	r, in := op.Result(), op.Operand("source")
	b := e.vals[op.Operand("transform")]
	if b == nil || b.enc == nil || b.enc.Def.Name != "encoding.define" {
		e.unsupported("define the transform in this kernel with encoding.define", "transform %%%s is known only at run time", op.Operand("transform").Name)
		return
	}
	enc := b.enc.Attr("spec").Enc()
	family := enc.Family
	if family == "transform.hadamard" {
		family = "hadamard"
	}
	if a, ok := enc.Param("family"); ok {
		family = a.Str
	}
	par := auxiliary(b.enc)
	k := r.Type.Elem
	last := len(in.Type.Dims) - 1
	n := int(in.Type.Dims[last].Size)
	m := int(r.Type.Dims[last].Size)
	rows := in.Type.Lanes() / max(n, 1)
	l := lane{e: e, op: op, src: k, dst: k}
	arith := func(name, x, y string) string { return laneOps[name].expr(l, []string{x, y}) }
	out := make([]string, 0, r.Type.Lanes())
	switch {
	case family == "jl_dense" && par["matrix"] != nil:
		mat := par["matrix"]
		for row := range rows {
			for j := range m {
				acc := ""
				for i := range n {
					p := arith("mulf", e.laneOf(mat, j*n+i), e.laneOf(in, row*n+i))
					if acc != "" {
						p = arith("addf", acc, paren(p))
					}
					acc = e.tmp(r.Name+"_sum", scalarNames[k], p)
				}
				out = append(out, acc)
			}
		}
	case (family == "hadamard" || family == "hadamard_sign" || family == "sign_permute_hadamard") && bits.OnesCount(uint(n)) == 1 && m == n:
		source, ok := e.transformSource(op, family, par, in, n)
		if !ok {
			return
		}
		for row := range rows {
			v := make([]string, n)
			for i := range v {
				v[i] = source(row, i)
			}
			for step := 1; step < n; step *= 2 {
				for i := range n {
					if i&step == 0 {
						a, c := v[i], v[i|step]
						v[i] = e.tmp(r.Name+"_sum", scalarNames[k], arith("addf", a, c))
						v[i|step] = e.tmp(r.Name+"_difference", scalarNames[k], arith("subf", a, c))
					}
				}
			}
			if a, ok := enc.Param("normalization"); ok && a.Str == "orthonormal" {
				for i := range v {
					v[i] = arith("mulf", v[i], floatLit(1/math.Sqrt(float64(n)), k))
				}
			}
			out = append(out, v...)
		}
	default:
		e.unsupported("write the map out with vector arithmetic; hadamard, hadamard_sign, sign_permute_hadamard and jl_dense are known", "transform '%s' of '%s' into '%s'", enc, in.Type, r.Type)
		return
	}
	e.lanes(r, len(out), func(i int) string { return out[i] })
}

// transformSource gives the lanes a Hadamard transform starts from: with signs
// applied, then gathered through the permutation.
func (e *emitter) transformSource(op *loom.Op, family string, par map[string]*loom.Value, in *loom.Value, n int) (func(row, i int) string, bool) {
	k := in.Type.Elem
	l := lane{e: e, op: op, src: k, dst: k}
	plain := func(row, i int) string { return e.laneOf(in, row*n+i) }
	if family == "hadamard" {
		return plain, true
	}
	sign := func(i int) string { return "" }
	switch signs, seed := par["signs"], par["seed"]; {
	case signs != nil:
		sign = func(i int) string { return e.laneOf(signs, i) }
	case seed != nil && family == "hadamard_sign":
		s := e.ref(seed)
		if seed.Type.Kind.IsIndexLike() {
			s = e.as(seed, c64)
		}
		sign = func(i int) string { return fmt.Sprintf("loom_seed_sign((loom_u64)%s + %dull)", paren(s), i) }
	default:
		e.unsupported("give the transform its signs or seed", "transform '%s' without signs", family)
		return nil, false
	}
	signed := func(row, i int) string {
		x := plain(row, i)
		return e.tmp(op.Result().Name+"_signed", scalarNames[k], sign(i)+" ? "+laneOps["negf"].expr(l, []string{x})+" : "+x)
	}
	if family == "hadamard_sign" {
		return signed, true
	}
	perm := par["permutation"]
	if perm == nil {
		e.unsupported("give the transform its permutation", "transform '%s' without a permutation", family)
		return nil, false
	}
	rows := in.Type.Lanes() / n
	flipped := make([][]string, rows)
	for row := range rows {
		for i := range n {
			flipped[row] = append(flipped[row], signed(row, i))
		}
	}
	return func(row, i int) string {
		at := e.tmp(op.Result().Name+"_from", "loom_u32", "(loom_u32)"+e.laneOf(perm, i))
		var b strings.Builder
		for j, x := range flipped[row] {
			if j == n-1 {
				b.WriteString(x)
			} else {
				fmt.Fprintf(&b, "%s == %du ? %s : ", at, j, x)
			}
		}
		return e.tmp(op.Result().Name+"_moved", scalarNames[k], b.String())
	}, true
}
