package generation

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
)

// Predicates.

// preds returns ps in the target's spelling.
func (c *converter) preds(ps []loom.Predicate) []loom.Predicate {
	out := slices.Clone(ps)
	for i := range out {
		c.pred(&out[i])
	}
	return out
}

func (c *converter) pred(p *loom.Predicate) {
	switch p.Kind {
	case loom.PredMultipleOf, loom.PredPow2:
		p.Old = c.to == Old
	case loom.PredMin, loom.PredMax:
		if c.to == New { // both generations read ge and le
			p.Kind = map[loom.PredKind]loom.PredKind{loom.PredMin: loom.PredGe, loom.PredMax: loom.PredLe}[p.Kind]
			p.Old = false
		}
	case loom.PredULt, loom.PredULe, loom.PredUGt, loom.PredUGe:
		if c.to == Old {
			c.refuse(p.Span, "GENERATION/PREDICATE", "if the sign bit is never set, the signed relation says the same; promise that with range first",
				"the older generation has no unsigned predicate: '%s'", p)
		}
	case loom.PredNotNaN, loom.PredNotInf, loom.PredFinite:
		if c.to == Old {
			c.refuse(p.Span, "GENERATION/PREDICATE", "drop the promise, or test the value with scalar.isnanf and scalar.isinff",
				"the older generation has no predicate about classes of floats: '%s'", p)
		}
	case loom.PredRange:
		if c.to == Old && (p.Args[1].Val != nil || p.Args[2].Val != nil) {
			x, lo, hi := argText(p.Args[0]), argText(p.Args[1]), argText(p.Args[2])
			c.refuse(p.Span, "GENERATION/PREDICATE", "write ge("+x+", "+lo+"), le("+x+", "+hi+"), which both generations read",
				"the older generation takes literal ends in range only: '%s'", p)
		}
	}
}

func argText(a loom.PredArg) string {
	t := loom.Predicate{Kind: loom.PredPow2, Args: []loom.PredArg{a}}.String()
	return t[strings.IndexByte(t, '(')+1 : len(t)-1]
}

// Types.

// typ returns t in the target's spelling: encodings renamed, the dense layout of
// views left out (newer) or written (older).
func (c *converter) typ(t *loom.Type) *loom.Type {
	if t == nil || t.Kind.IsScalar() {
		return t
	}
	if n, ok := c.types[t]; ok {
		return n
	}
	n := *t
	n.Enc = c.enc(t.Enc)
	n.Params, n.Results = c.typeList(t.Params), c.typeList(t.Results)
	if t.Kind == loom.View && t.EncVal == nil && (t.Enc == nil || t.Enc.Alias == "") && t.Enc.IsDense() {
		n.Enc = nil
		if c.to == Old {
			n.Enc = &loom.Encoding{Family: "dense"}
		}
	}
	if n.Enc == t.Enc && t.Params == nil && t.Results == nil {
		n.Dims = t.Dims
		c.types[t] = t
		return t
	}
	if !refused(t.Enc, c.to) { // a refusal is reported wherever it is met
		c.types[t] = &n
	}
	return &n
}

func (c *converter) typeList(ts []*loom.Type) []*loom.Type {
	if ts == nil {
		return nil
	}
	out := make([]*loom.Type, len(ts))
	for i, t := range ts {
		out[i] = c.typ(t)
	}
	return out
}

// Encodings.

// familyNames pairs the encoding families that mean the same.
var familyNames = []struct{ old, new string }{
	{"dense", "encoding.layout.dense"},
	{"strided", "encoding.layout.strided"},
	{"matrix_operand", "encoding.operand"},
	{"physical_storage", "encoding.storage"},
}

// lonelyFamilies are the families one generation has and the other does not,
// with what to do about them.
var lonelyFamilies = [...]map[string]string{
	Old: {
		"q8_0":                 "describe the storage with #encoding.operand<…>",
		"q6_k":                 "#ggml.q6_k describes blocks of 256 elements in 210 bytes; write it where that is what is stored",
		"ggml_q4_0":            "#ggml.q4_0 describes blocks of 32 elements in 18 bytes; write it where that is what is stored",
		"ggml_q8_0":            "#ggml.q8_0 describes blocks of 32 elements in 34 bytes; write it where that is what is stored",
		"ggml_q6_k":            "#ggml.q6_k describes blocks of 256 elements in 210 bytes; write it where that is what is stored",
		"ggml_iq_grid":         "describe the storage with #encoding.operand<payload_packing=codebook_indices, …>",
		"loom_fp4_table":       "describe the storage with #encoding.operand<payload_packing=codebook_indices, …>",
		"ieee_fp8_e4m3":        "write #encoding.f8e4m3 where the rounding it implies is meant",
		"ieee_fp8_e5m2":        "write #encoding.f8e5m2 where the rounding it implies is meant",
		"fp8_e4m3fn":           "write #encoding.f8e4m3fn where the rounding it implies is meant",
		"fp8_e4m3fnuz":         "write #encoding.f8e4m3fnuz where the rounding it implies is meant",
		"fp8_e5m2fnuz":         "write #encoding.f8e5m2fnuz where the rounding it implies is meant",
		"numeric_transform":    "write #transform.hadamard<normalization=…> where that transform is meant",
		"orthogonal_transform": "write #transform.hadamard<normalization=…> where that transform is meant",
		"turboquant_kv":        "keep the code that uses it in a file of the older generation",
	},
	New: {
		"ggml.q4_0":            "describe the storage with #matrix_operand<…>",
		"ggml.q8_0":            "describe the storage with #matrix_operand<…>",
		"ggml.q4_k":            "describe the storage with #matrix_operand<…>",
		"ggml.q6_k":            "describe the storage with #matrix_operand<…>",
		"ggml.q8_1_x4":         "describe the storage with #matrix_operand<…>",
		"transform.hadamard":   "compute the transform in the kernel",
		"target.subgroup.size": "select by target record",
	},
}

// counterpart returns the name of family in the target generation, and false
// when it has none. A family known to neither list is the same in both.
func counterpart(family string, to Generation) (string, bool) {
	for _, f := range familyNames {
		switch {
		case to == New && f.old == family:
			return f.new, true
		case to == Old && f.new == family:
			return f.old, true
		}
	}
	_, lonely := lonelyFamilies[1-to][family]
	return family, !lonely
}

// refused reports whether e, or an encoding inside it, has no counterpart.
func refused(e *loom.Encoding, to Generation) bool {
	if e == nil {
		return false
	}
	if _, ok := counterpart(e.Family, to); !ok || e.Alias != "" && to == Old && strings.Contains(e.Alias, ".") || oneStride(e, to) {
		return true
	}
	for _, p := range e.Params {
		if p.Value.Kind == loom.AttrEnc && refused(p.Value.Enc(), to) {
			return true
		}
	}
	return false
}

// oneStride reports the parameter form of #strided that the newer family lacks.
func oneStride(e *loom.Encoding, to Generation) bool {
	_, ok := e.Param("stride")
	return ok && to == New && e.Family == "strided"
}

// enc returns e with the target's family names.
func (c *converter) enc(e *loom.Encoding) *loom.Encoding {
	if e == nil {
		return nil
	}
	if e.Alias != "" && strings.Contains(e.Alias, ".") && c.to == Old {
		return e // reported at the alias
	}
	if e.Alias != "" {
		// The alias is converted, and faults of it reported, where it is defined; a
		// use keeps its name.
		n := *e
		quiet := converter{to: c.to}
		n.Family, n.Params = quiet.named(e)
		return &n
	}
	family, params := c.named(e)
	if family == e.Family && slices.EqualFunc(params, e.Params, sameParam) {
		return e
	}
	return &loom.Encoding{Family: family, Params: params}
}

func sameParam(a, b loom.NamedAttr) bool { return a.Name == b.Name && a.Value.Equal(b.Value) }

// aliased converts the encoding that a file-level alias stands for.
func (c *converter) aliased(e *loom.Encoding) *loom.Encoding {
	n := *e
	n.Family, n.Params = c.named(e)
	return &n
}

func (c *converter) named(e *loom.Encoding) (string, []loom.NamedAttr) {
	params := make([]loom.NamedAttr, len(e.Params))
	for i, p := range e.Params {
		params[i] = loom.NamedAttr{Name: p.Name, Value: c.attr(p.Value)}
	}
	family, ok := counterpart(e.Family, c.to)
	switch format, isFormat := strings.CutPrefix(e.Family, "encoding."); {
	case !ok:
		c.refuse(c.find("#"+e.Family), "GENERATION/ENCODING", lonelyFamilies[1-c.to][e.Family], "the %s generation has no encoding family #%s", c.to.name(), e.Family)
	case oneStride(e, c.to):
		c.refuse(c.find("#"+e.Family), "GENERATION/ENCODING", "write strides=[…] with one stride per axis", "#encoding.layout.strided takes strides, not one stride")
	case c.to == Old && family == e.Family && isFormat && !strings.Contains(format, "."):
		return "matrix_operand", operandOf(format, params)
	}
	return family, params
}

// operandOf spells out what #encoding.<format> stands for: an operand of that
// element format, one element per payload, in dense lanes unless said otherwise.
func operandOf(format string, given []loom.NamedAttr) []loom.NamedAttr {
	out := []loom.NamedAttr{
		{Name: "element_format", Value: loom.WordAttr(format)},
		{Name: "payload_elements", Value: loom.IntAttr(1)},
		{Name: "payload_packing", Value: loom.WordAttr("dense_lanes")},
	}
	for _, a := range given {
		if i := slices.IndexFunc(out, func(o loom.NamedAttr) bool { return o.Name == a.Name }); i >= 0 {
			out[i] = a
		} else {
			out = append(out, a)
		}
	}
	return out
}

// attr returns a with every predicate and encoding in it converted.
func (c *converter) attr(a loom.Attr) loom.Attr {
	switch a.Kind {
	case loom.AttrEnc:
		a.Aux = c.enc(a.Enc())
	case loom.AttrPreds:
		a.Aux = c.preds(a.Preds())
	case loom.AttrList:
		l := slices.Clone(a.List())
		for i := range l {
			l[i] = c.attr(l[i])
		}
		a.Aux = l
	case loom.AttrDict:
		d := slices.Clone(a.Dict())
		for i := range d {
			d[i].Value = c.attr(d[i].Value)
		}
		a.Aux = d
	}
	return a
}
