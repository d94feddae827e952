package verify

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// familyRoles gives the role of the known families of both generations. A family
// that is not listed is taken for a schema with parameters of its own.
var familyRoles = map[string]string{
	"dense": "layout", "encoding.layout.dense": "layout", "strided": "layout", "encoding.layout.strided": "layout",
	"physical_storage": "storage", "encoding.storage": "storage",
	"numeric_transform": "transform", "orthogonal_transform": "transform", "transform.hadamard": "transform",
	"matrix_operand": "schema", "encoding.operand": "schema", "turboquant_kv": "schema",
	"q8_0": "schema", "ggml_q4_0": "schema", "ggml_q8_0": "schema", "q6_k": "schema", "ggml_q6_k": "schema",
	"ggml_iq_grid": "schema", "loom_fp4_table": "schema", "ieee_fp8_e4m3": "schema", "ieee_fp8_e5m2": "schema",
	"fp8_e4m3fn": "schema", "fp8_e4m3fnuz": "schema", "fp8_e5m2fnuz": "schema",
	"ggml.q4_0": "schema", "ggml.q8_0": "schema", "ggml.q4_k": "schema", "ggml.q6_k": "schema", "ggml.q8_1_x4": "schema",
}

// roleOfFamily returns the role of a family, "" when the family is not known.
func roleOfFamily(name string) string {
	if r := familyRoles[name]; r != "" {
		return r
	}
	if f, ok := strings.CutPrefix(name, "encoding."); ok && slices.Contains(elementFormats, f) {
		return "schema"
	}
	return ""
}

// familyParams checks the parameters of the families that have rules for them.
func (v *verifier) familyParams(u *encodingUse) {
	switch u.enc.Family {
	case "physical_storage", "encoding.storage":
		v.storageParams(u)
	case "matrix_operand", "encoding.operand":
		v.operandParams(u)
	case "numeric_transform":
		v.transformParams(u)
	case "transform.hadamard":
		v.hadamardParams(u)
	case "turboquant_kv":
		v.turboquantParams(u)
	}
}

var (
	elementFormats = strings.Fields("none f64 f32 tf32 f16 bf16 i32 u32 i16 u16 i8 u8 i6 u6 i5 u5 i4 u4 i3 u3 i2 u2 i1 u1 f8e4m3 f8e5m2 f8e4m3fn " +
		"f8e4m3fnuz f8e5m2fnuz e8m0 bf8 f6e3m2 f6e2m3 bf6 f4e2m1 ternary sign_bit codebook_index quant_i8 quant_i6 quant_i4")
	packings = strings.Fields("dense_lanes little_endian_nibbles big_endian_nibbles bitfield_stream bitplane_stream multi_stream base_n_packed " +
		"codebook_indices target_fragment interleaved_scale_payload separate_scale_payload")
	topologies = strings.Fields("none tensor_global row column channel group_1d block_1d block_2d subblock_in_superblock hierarchical per_token " +
		"per_head per_page runtime_amax_derived")
	affines   = strings.Fields("none scale_only scale_plus_min scale_plus_zero_point scale_plus_bias super_scale_times_subscale sum_correction")
	roundings = strings.Fields("none nearest_even nearest_away toward_zero down up stochastic satfinite overflow_to_inf overflow_to_nan " +
		"flush_subnormal preserve_subnormal relu_clamp finite_only finite_flush_subnormal")
)

// encodingUse is one encoding with its dynamic parameters.
type encodingUse struct {
	op      *loom.Op
	enc     *loom.Encoding
	dynamic []dynamicParam
}

type dynamicParam struct {
	name string
	val  *loom.Value
}

func dynamicParams(op *loom.Op) []dynamicParam {
	vals := op.Field("parameters")
	names := op.Attr("parameter_names").List()
	out := make([]dynamicParam, 0, len(vals))
	for i, x := range vals {
		if i < len(names) {
			out = append(out, dynamicParam{names[i].Str, x})
		}
	}
	return out
}

func (u *encodingUse) static(name string) (loom.Attr, bool) { return u.enc.Param(name) }

func (u *encodingUse) dyn(name string) *loom.Value {
	for _, p := range u.dynamic {
		if p.name == name {
			return p.val
		}
	}
	return nil
}

func (u *encodingUse) has(name string) bool {
	_, ok := u.static(name)
	return ok || u.dyn(name) != nil
}

func (v *verifier) encFault(u *encodingUse, code, format string, args ...any) diag.Diagnostic {
	return v.opError(u.op, code, "#"+u.enc.Family+" "+format, args...)
}

// known reports a parameter that is not in the list.
func (v *verifier) known(u *encodingUse, name string, names []string, where string) bool {
	if slices.Contains(names, name) {
		return true
	}
	d := v.encFault(u, "ENCODING/008", "has no %s parameter '%s'", where, name)
	if n := dialect.Nearest(name, names); n != "" {
		d = d.WithHelp("did you mean '%s'?", n)
	} else if len(names) > 0 {
		d = d.WithHelp("it takes %s", strings.Join(names, ", "))
	}
	v.report(d)
	return false
}

func (v *verifier) missing(u *encodingUse, name string) bool {
	v.report(v.encFault(u, "ENCODING/007", "needs the parameter '%s'", name))
	return false
}

// word checks a parameter that is a word (or, where quoted, a string) of a list.
func (v *verifier) word(u *encodingUse, name string, kind loom.AttrKind, words []string) bool {
	a, ok := u.static(name)
	if !ok {
		return true
	}
	if a.Kind != kind {
		v.report(v.encFault(u, "ENCODING/010", "parameter '%s' is %s, expected %s", name, attrKindNames[a.Kind], attrKindNames[kind]))
		return false
	}
	if words == nil || slices.Contains(words, a.Str) {
		return true
	}
	d := v.encFault(u, "ENCODING/013", "parameter '%s' cannot be '%s'", name, a.Str)
	if n := dialect.Nearest(a.Str, words); n != "" {
		d = d.WithHelp("did you mean '%s'?", n)
	} else {
		d = d.WithHelp("use %s", strings.Join(words, ", "))
	}
	v.report(d)
	return false
}

// number checks an integer parameter against limits.
func (v *verifier) number(u *encodingUse, name string, lo, hi int64) (int64, bool) {
	a, ok := u.static(name)
	if !ok {
		return 0, true
	}
	if a.Kind != loom.AttrInt {
		v.report(v.encFault(u, "ENCODING/010", "parameter '%s' is %s, expected an integer", name, attrKindNames[a.Kind]))
		return 0, false
	}
	if a.Int < lo || a.Int > hi {
		v.report(v.encFault(u, "STRUCTURE/014", "parameter '%s' is %d; it is %d to %d", name, a.Int, lo, hi))
		return 0, false
	}
	return a.Int, true
}

// encodingDefine checks encoding.define: its parameters and the role of its
// result.
func (v *verifier) encodingDefine(op *loom.Op) {
	u := &encodingUse{op: op, enc: op.Attr("spec").Enc(), dynamic: dynamicParams(op)}
	if u.enc == nil {
		return
	}
	for i, p := range u.dynamic {
		if _, ok := u.static(p.name); ok {
			v.report(v.encFault(u, "ENCODING/006", "parameter '%s' is given both in <…> and in {…}", p.name).WithHelp("keep one of the two"))
			return
		}
		for _, q := range u.dynamic[:i] {
			if p.name == q.name {
				v.report(v.encFault(u, "PARSE/027", "parameter '%s' is given twice", p.name))
				return
			}
		}
	}
	if !v.encodingRole(op.NameSpan(), u.enc, op.Result().Type) {
		return
	}
	v.familyParams(u)
}

// encodingRole compares the role of a family with the type of the value it
// makes.
func (v *verifier) encodingRole(sp diag.Span, e *loom.Encoding, t *loom.Type) bool {
	role := roleOfFamily(e.Family)
	if role == "" || t == nil || t.Kind != loom.EncodingKind || t.Name == role {
		return true
	}
	v.report(diag.Errorf(sp, "ENCODING/012", "#%s makes encoding<%s>, but the type written is %s", e.Family, role, t).
		WithHelp("write encoding<%s>", role))
	return false
}

func (v *verifier) encodingAssume(op *loom.Op) {
	if e := op.Attr("spec").Enc(); e != nil {
		v.encodingRole(op.NameSpan(), e, op.Result().Type)
	}
}

var roleText = map[string]string{"layout": "an address layout", "schema": "a storage schema", "transform": "a numeric transform"}

// roleOf returns the role of an encoding value, "" when it is not known.
func roleOf(x *loom.Value) string {
	if x.Type.Name != "" || x.Def == nil {
		return x.Type.Name
	}
	if e := x.Def.Attr("spec").Enc(); e != nil {
		return roleOfFamily(e.Family)
	}
	return ""
}

// storageParams checks a physical storage: a layout and a schema.
func (v *verifier) storageParams(u *encodingUse) bool {
	names := []string{"layout", "schema"}
	for _, p := range u.enc.Params {
		if !v.known(u, p.Name, names, "static") {
			return false
		}
	}
	for _, p := range u.dynamic {
		if !v.known(u, p.name, names, "dynamic") {
			return false
		}
	}
	ok := true
	for _, n := range names {
		if !u.has(n) {
			ok = v.missing(u, n)
			continue
		}
		if a, static := u.static(n); static {
			if a.Kind != loom.AttrEnc {
				v.report(v.encFault(u, "ENCODING/010", "parameter '%s' is %s, expected an encoding", n, attrKindNames[a.Kind]))
				ok = false
			} else if r := roleOfFamily(a.Enc().Family); r != "" && r != n {
				v.report(v.encFault(u, "ENCODING/011", "parameter '%s' is #%s, which is not %s", n, a.Enc().Family, roleText[n]))
				ok = false
			}
			continue
		}
		x := u.dyn(n)
		if x.Type.Kind != loom.EncodingKind {
			v.report(v.definedHere(v.encFault(u, "ENCODING/009", "parameter '%s' has type %s, expected an encoding", n, x.Type), x))
			ok = false
		} else if r := roleOf(x); r != "" && r != n {
			v.report(v.definedHere(v.encFault(u, "ENCODING/011", "parameter '%s' is of type %s, which is not %s", n, x.Type, roleText[n]), x))
			ok = false
		}
	}
	return ok
}

var operandParamNames = strings.Fields("affine codebook element_format payload_elements payload_packing payload_registers rounding scale_format " +
	"scale_group_elements scale_group_shape scale_operands scale_topology secondary_scale_format sparsity sparsity_group_elements " +
	"sparsity_group_nonzero_elements zero_scale_fallback")

// operandParams checks a matrix operand schema.
func (v *verifier) operandParams(u *encodingUse) bool {
	for _, p := range u.enc.Params {
		if !v.known(u, p.Name, operandParamNames, "static") {
			return false
		}
	}
	for _, p := range u.dynamic {
		v.known(u, p.name, nil, "dynamic")
		return false
	}
	if !u.has("element_format") {
		return v.missing(u, "element_format")
	}
	for _, w := range []struct {
		name  string
		words []string
	}{{"element_format", elementFormats}, {"payload_packing", packings}, {"scale_format", elementFormats}, {"secondary_scale_format", elementFormats},
		{"scale_topology", topologies}, {"affine", affines}, {"rounding", roundings}} {
		if !v.word(u, w.name, loom.AttrWord, w.words) {
			return false
		}
	}
	if a, _ := u.static("element_format"); a.Str == "none" {
		v.report(v.encFault(u, "STRUCTURE/014", "parameter 'element_format' is none; an operand has elements"))
		return false
	}
	if !u.has("payload_elements") {
		return v.missing(u, "payload_elements")
	}
	if _, ok := v.number(u, "payload_elements", 1, 65535); !ok {
		return false
	}
	regs, ok := v.number(u, "payload_registers", 0, 65535)
	if !ok {
		return false
	}
	packing, _ := u.static("payload_packing")
	if _, given := u.static("payload_registers"); given && regs == 0 && (packing.Str == "" || packing.Str == "target_fragment") {
		v.report(v.encFault(u, "STRUCTURE/014", "parameter 'payload_registers' is 0; a fragment occupies at least one register"))
		return false
	}
	group, ok := v.number(u, "scale_group_elements", 0, 65535)
	if !ok {
		return false
	}
	operands, ok := v.number(u, "scale_operands", 0, 65535)
	if !ok {
		return false
	}
	topology, _ := u.static("scale_topology")
	format, _ := u.static("scale_format")
	scaled := topology.Str != "" && topology.Str != "none"
	grouped := group > 0 || u.has("scale_group_shape")
	if scaled && (!grouped || operands == 0) || !scaled && (group > 0 || operands > 0 || format.Str != "" && format.Str != "none") {
		v.report(v.encFault(u, "STRUCTURE/014", "describes a scale in part: scale_topology '%s', group of %d, %s", topology.Str, group, plural(int(operands), "scale operand")).
			WithHelp("give scale_topology, scale_group_elements and scale_operands together, or none of them"))
		return false
	}
	return true
}

var transformFamilies = []string{"hadamard", "hadamard_sign", "jl_dense", "sign_permute_hadamard"}

// transformParams checks the older numeric transform description.
func (v *verifier) transformParams(u *encodingUse) bool {
	for _, p := range u.enc.Params {
		if !v.known(u, p.Name, []string{"family", "input_elems", "normalization", "output_elems"}, "static") {
			return false
		}
		switch p.Name {
		case "family":
			if !v.word(u, p.Name, loom.AttrString, transformFamilies) {
				return false
			}
		case "normalization":
			if !v.word(u, p.Name, loom.AttrString, []string{"none", "orthonormal"}) {
				return false
			}
		default:
			if _, ok := v.number(u, p.Name, 1, 1<<62); !ok {
				return false
			}
		}
	}
	for _, p := range u.dynamic {
		if !v.known(u, p.name, []string{"input_elems", "matrix", "output_elems", "permutation", "seed", "signs"}, "dynamic") {
			return false
		}
		ok, want := true, ""
		t := p.val.Type
		switch p.name {
		case "signs":
			ok, want = t.Kind == loom.Vector && t.Elem == loom.I1, "a vector of i1"
		case "permutation":
			ok, want = t.Kind == loom.Vector && coordBits&(1<<t.Elem) != 0, "a vector of index or integers"
		case "matrix":
			ok, want = t.Kind == loom.Vector && t.Elem.IsFloat(), "a floating-point vector"
		default:
			ok, want = t.Kind == loom.Index, "index"
		}
		if !ok {
			v.report(v.definedHere(v.encFault(u, "ENCODING/009", "parameter '%s' has type %s, expected %s", p.name, t, want), p.val))
			return false
		}
	}
	for _, n := range []string{"family", "input_elems", "output_elems"} {
		if !u.has(n) {
			return v.missing(u, n)
		}
	}
	fam, _ := u.static("family")
	need := func(names ...string) bool {
		for _, n := range names {
			if u.dyn(n) == nil {
				return v.missing(u, n)
			}
		}
		return true
	}
	reject := func(names ...string) bool {
		for _, n := range names {
			if u.dyn(n) != nil {
				v.report(v.encFault(u, "ENCODING/008", "of family '%s' takes no parameter '%s'", fam.Str, n))
				return false
			}
		}
		return true
	}
	switch fam.Str {
	case "hadamard":
		return reject("signs", "permutation", "matrix", "seed")
	case "hadamard_sign":
		signs, seed := u.dyn("signs") != nil, u.dyn("seed") != nil
		if !signs && !seed {
			return v.missing(u, "signs or seed")
		}
		if signs && seed {
			v.report(v.encFault(u, "ENCODING/014", "takes 'signs' or 'seed', not both"))
			return false
		}
		return reject("permutation", "matrix")
	case "sign_permute_hadamard":
		return need("signs", "permutation") && reject("seed", "matrix")
	case "jl_dense":
		if !need("matrix") || !reject("signs", "permutation", "seed") {
			return false
		}
		return v.word(u, "normalization", loom.AttrString, []string{"none"})
	}
	return true
}

func (v *verifier) hadamardParams(u *encodingUse) bool {
	for _, p := range u.enc.Params {
		if !v.known(u, p.Name, []string{"normalization"}, "static") {
			return false
		}
	}
	return v.word(u, "normalization", loom.AttrWord, []string{"none", "orthonormal"})
}

// turboquantParams checks the schema of rotated and residual-coded key-value
// records.
func (v *verifier) turboquantParams(u *encodingUse) bool {
	static := []string{"first_stage_bits", "logical_element", "logical_elems", "pack_order", "qjl_rows", "record_bytes", "residual_bits", "scalar_quantizer", "transform_family"}
	for _, p := range u.enc.Params {
		if !v.known(u, p.Name, static, "static") {
			return false
		}
	}
	for _, p := range u.dynamic {
		if !v.known(u, p.name, []string{"centroids", "qjl_transform", "thresholds", "transform"}, "dynamic") {
			return false
		}
	}
	nums := map[string]int64{}
	for _, n := range []struct {
		name   string
		lo, hi int64
	}{{"first_stage_bits", 1, 8}, {"logical_elems", 1, 1 << 40}, {"qjl_rows", 1, 1 << 40}, {"record_bytes", 1, 1 << 40}, {"residual_bits", 1, 1}} {
		if _, ok := u.static(n.name); !ok {
			return v.missing(u, n.name)
		}
		x, ok := v.number(u, n.name, n.lo, n.hi)
		if !ok {
			return false
		}
		nums[n.name] = x
	}
	for _, w := range []struct {
		name  string
		words []string
	}{{"logical_element", []string{"f16", "bf16", "f32", "f64", "f8E4M3", "f8E5M2"}}, {"pack_order", []string{"lsb0"}},
		{"scalar_quantizer", []string{"lloyd_max"}}, {"transform_family", []string{"hadamard", "hadamard_sign", "sign_permute_hadamard"}}} {
		if _, ok := u.static(w.name); !ok {
			return v.missing(u, w.name)
		}
		if !v.word(u, w.name, loom.AttrString, w.words) {
			return false
		}
	}
	need := (nums["logical_elems"]*nums["first_stage_bits"]+7)/8 + (nums["qjl_rows"]*nums["residual_bits"]+7)/8
	if nums["record_bytes"] < need {
		v.report(v.encFault(u, "STRUCTURE/014", "parameter 'record_bytes' is %d, but codes and residual need %d", nums["record_bytes"], need))
		return false
	}
	codes := int64(1) << nums["first_stage_bits"]
	fam, _ := u.static("transform_family")
	return v.turboquantView(u, "centroids", codes) && v.turboquantView(u, "thresholds", codes-1) &&
		v.turboquantTransform(u, "qjl_transform", "jl_dense") && v.turboquantTransform(u, "transform", fam.Str)
}

func (v *verifier) turboquantView(u *encodingUse, name string, n int64) bool {
	x := u.dyn(name)
	if x == nil {
		return v.missing(u, name)
	}
	if t := x.Type; t.Kind != loom.View || len(t.Dims) != 1 || !t.Elem.IsFloat() {
		v.report(v.definedHere(v.encFault(u, "ENCODING/009", "parameter '%s' has type %s, expected a floating-point view with one axis", name, t), x))
		return false
	}
	if d := x.Type.Dims[0]; d.Val == nil && d.Size != n {
		v.report(v.definedHere(v.encFault(u, "STRUCTURE/014", "parameter '%s' has %d entries, expected %d", name, d.Size, n), x))
		return false
	}
	return true
}

func (v *verifier) turboquantTransform(u *encodingUse, name, fam string) bool {
	x := u.dyn(name)
	if x == nil {
		return v.missing(u, name)
	}
	if x.Type.Kind != loom.EncodingKind {
		v.report(v.definedHere(v.encFault(u, "ENCODING/009", "parameter '%s' has type %s, expected encoding<transform>", name, x.Type), x))
		return false
	}
	if x.Type.Name != "transform" {
		v.report(v.definedHere(v.encFault(u, "ENCODING/011", "parameter '%s' is of type %s, which is not %s", name, x.Type, roleText["transform"]), x))
		return false
	}
	if def := definition(x); def != nil && def.enc.Family == "numeric_transform" {
		if a, ok := def.static("family"); ok && a.Str != fam {
			v.report(v.definedHere(v.encFault(u, "ENCODING/013", "parameter '%s' is a transform of family '%s', expected '%s'", name, a.Str, fam), x))
			return false
		}
	}
	return true
}

// definition returns the encoding.define behind a value, looking through
// promises, or nil.
func definition(x *loom.Value) *encodingUse {
	for range 16 {
		if x == nil || x.Def == nil {
			return nil
		}
		switch x.Def.Def.Name {
		case "encoding.define":
			if e := x.Def.Attr("spec").Enc(); e != nil {
				return &encodingUse{op: x.Def, enc: e, dynamic: dynamicParams(x.Def)}
			}
			return nil
		case "encoding.assume.spec":
			if e := x.Def.Attr("spec").Enc(); e != nil {
				return &encodingUse{op: x.Def, enc: e}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

var auxiliaryKeys = strings.Fields("scale secondary_scale scale2 scale3 scale4 scale5 scale6 scale7 zero_point minimum bias sum_correction codebook " +
	"sparsity metadata indices offsets mask signs residual amax thresholds centroids outliers")

// auxiliary checks the operands a schema-driven op takes beside its payload.
func (v *verifier) auxiliary(op *loom.Op) {
	v.auxiliaryFor(op, op.Operand("schema"), dynamicParams(op))
}

func (v *verifier) auxiliaryFor(op *loom.Op, schema *loom.Value, given []dynamicParam) {
	has := map[string]bool{}
	for _, p := range given {
		if !slices.Contains(auxiliaryKeys, p.name) {
			d := v.opError(op, "ENCODING/015", "%s takes no operand called '%s'", op.Def.Name, p.name)
			if n := dialect.Nearest(p.name, auxiliaryKeys); n != "" {
				d = d.WithHelp("did you mean '%s'?", n)
			}
			v.report(d)
			return
		}
		if p.val.Type.Kind != loom.Vector && !p.val.Type.Kind.IsScalar() {
			v.report(v.definedHere(v.opError(op, "TYPE/003", "operand '%s' of %s has type %s, expected a vector", p.name, op.Def.Name, p.val.Type), p.val))
			return
		}
		has[p.name] = true
	}
	u := definition(schema)
	if u == nil || u.enc.Family != "matrix_operand" && u.enc.Family != "encoding.operand" {
		return
	}
	for _, key := range requiredOperands(u) {
		if !has[key] {
			v.report(v.opError(op, "ENCODING/016", "%s lacks the operand '%s' that its schema needs", op.Def.Name, key).
				WithRelated(u.op.NameSpan(), "the schema is defined here").
				WithHelp("add %s = %%value : type to the braces", key))
			return
		}
	}
}

// requiredOperands lists the operands that codes of the schema need.
func requiredOperands(u *encodingUse) []string {
	var out []string
	if n, ok := u.static("scale_operands"); ok {
		scales := []string{"scale", "secondary_scale", "scale2", "scale3", "scale4", "scale5", "scale6", "scale7"}
		out = append(out, scales[:min(max(n.Int, 0), int64(len(scales)))]...)
	}
	word := func(name string) string { a, _ := u.static(name); return a.Str }
	if word("scale_topology") == "runtime_amax_derived" {
		out = append(out, "amax")
	}
	if k := map[string]string{"scale_plus_zero_point": "zero_point", "scale_plus_min": "minimum", "scale_plus_bias": "bias", "sum_correction": "sum_correction"}[word("affine")]; k != "" {
		out = append(out, k)
	}
	if word("codebook") == "dynamic_table_operand" {
		out = append(out, "codebook")
	}
	if s := word("sparsity"); s != "" && s != "none" {
		out = append(out, "sparsity")
	}
	return out
}

// fragment checks the schema and the further operands of a matrix fragment.
func (v *verifier) fragment(op *loom.Op) {
	var schema *loom.Value
	var rest []dynamicParam
	for _, p := range dynamicParams(op) {
		if p.name == "schema" {
			schema = p.val
		} else {
			rest = append(rest, p)
		}
	}
	if schema == nil {
		if len(rest) > 0 {
			v.report(v.opError(op, "ENCODING/016", "%s has the operand '%s' but no 'schema' that gives it a meaning", op.Def.Name, rest[0].name).
				WithHelp("add schema = %%value : encoding<schema>"))
		}
		return
	}
	if schema.Type.Kind != loom.EncodingKind || schema.Type.Name != "schema" {
		v.report(v.definedHere(v.opError(op, "TYPE/003", "operand 'schema' of %s has type %s, expected encoding<schema>", op.Def.Name, schema.Type), schema))
		return
	}
	v.auxiliaryFor(op, schema, rest)
}

// transform checks vector.transform against the definition of its transform.
func (v *verifier) transform(op *loom.Op) {
	src, res := op.Operand("source").Type, op.Result().Type
	if len(src.Dims) == 0 || len(res.Dims) == 0 || !v.sameRank(op, "result", res, "source", src) {
		return
	}
	last := len(src.Dims) - 1
	if !v.othersEqual(op, last, "source", src, "result", res) {
		return
	}
	u := definition(op.Operand("transform"))
	if u == nil || u.enc.Family != "numeric_transform" {
		return
	}
	if !v.extentIs(op, u, "input_elems", "operand 'source'", "TYPE/003", src.Dims[last]) || !v.extentIs(op, u, "output_elems", "result", "TYPE/004", res.Dims[last]) {
		return
	}
	if x := u.dyn("signs"); x != nil && !sameDims(x.Type, src) {
		v.report(v.encFault(u, "ENCODING/009", "parameter 'signs' has type %s, but transforms %s", x.Type, src).WithRelated(op.NameSpan(), "transformed here"))
		return
	}
	if x := u.dyn("permutation"); x != nil {
		if !sameDims(x.Type, src) {
			v.report(v.encFault(u, "ENCODING/009", "parameter 'permutation' has type %s, but transforms %s", x.Type, src).WithRelated(op.NameSpan(), "transformed here"))
			return
		}
		if !v.permutation(op, x, src.Dims[last]) {
			return
		}
	}
	fam, _ := u.static("family")
	if x := u.dyn("matrix"); x != nil && fam.Str == "jl_dense" {
		if t := x.Type; len(t.Dims) != 2 || t.Dims[0] != res.Dims[last] || t.Dims[1] != src.Dims[last] {
			v.report(v.encFault(u, "ENCODING/009", "parameter 'matrix' has type %s, expected %s × %s", t, dimText(res.Dims[last]), dimText(src.Dims[last])).WithRelated(op.NameSpan(), "transformed here"))
			return
		}
	}
	if !strings.HasSuffix(fam.Str, "hadamard") && !strings.HasPrefix(fam.Str, "hadamard") {
		return
	}
	if !sameDims(src, res) {
		v.report(v.opError(op, "SHAPE/002", "a Hadamard transform keeps the shape, but turns %s into %s here", src, res))
		return
	}
	if d := src.Dims[last]; d.Val == nil && !powerOfTwo(d.Size) {
		v.report(v.opError(op, "TYPE/003", "operand 'source' of vector.transform has %d lanes; a Hadamard transform needs a power of two", d.Size))
	}
}

// extentIs compares an extent parameter of a transform with an axis.
func (v *verifier) extentIs(op *loom.Op, u *encodingUse, param, field, code string, d loom.Dim) bool {
	ok, want := true, ""
	if a, static := u.static(param); static {
		// A faulty parameter is reported where the transform is defined.
		ok, want = d.Val != nil || a.Int == d.Size || a.Kind != loom.AttrInt || a.Int <= 0, a.String()
	} else if x := u.dyn(param); x != nil {
		want = "%" + x.Name
		if n, known := constant(x); known && d.Val == nil {
			ok = n == d.Size
		} else if d.Val != nil {
			ok = d.Val == x
		}
	}
	if !ok {
		v.report(v.opError(op, code, "%s of %s has extent %s on its last axis, but the transform's %s is %s", field, op.Def.Name, dimText(d), param, want).
			WithRelated(u.op.NameSpan(), "the transform is defined here"))
	}
	return ok
}

// permutation checks a constant permutation: lanes in range, none twice.
func (v *verifier) permutation(op *loom.Op, x *loom.Value, d loom.Dim) bool {
	if d.Val != nil || x.Def == nil {
		return true
	}
	var lanes []int64
	switch x.Def.Def.Name {
	case "vector.constant":
		n := x.Def.Attr("value").Int
		lanes = []int64{n}
		if d.Size > 1 {
			lanes = append(lanes, n)
		}
	case "vector.from_elements":
		for _, e := range x.Def.Operands {
			n, ok := constant(e)
			if !ok {
				return true
			}
			lanes = append(lanes, n)
		}
	}
	seen := map[int64]bool{}
	for i, l := range lanes {
		if l < 0 || l >= d.Size {
			v.report(v.opError(op, "SUBRANGE/004", "entry %d of the permutation is lane %d, the vector has %d lanes", i, l, d.Size).WithRelated(x.Def.NameSpan(), "the permutation"))
			return false
		}
		if seen[l] {
			v.report(v.opError(op, "STRUCTURE/014", "the permutation names lane %d twice", l).WithRelated(x.Def.NameSpan(), "the permutation"))
			return false
		}
		seen[l] = true
	}
	return true
}
