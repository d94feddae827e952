package require

import (
	"fmt"

	"github.com/loomc/loomc/corpus/require/jsonc"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Schema names the form of a requirements file.
const Schema = "loomc-requirements-v1"

// Read reads a requirements file:
//
//	{
//	  "schema": "loomc-requirements-v1",
//	  "target": "gfx1151",                     // default of every case
//	  "cases": [{
//	    "name": "prefill, 576/512",
//	    "export": "ggml_flash_attention_f32_f16_wmma",
//	    "config": {"ggml.flash_attention.qk_head_size": 576},
//	    "workload": {"tokens": 512},
//	    "launch": {"tokens": 512, "kv_length": 4096},
//	    "bindings": {"q": 1048576, "dst": null}  // bytes; null leaves a size open
//	  }]
//	}
//
// Config may be nested; its keys join with dots. "params" takes values for
// either parameter list. Bindings may be a list of {"name", "bytes"}, which is
// checked for order too. Cases at fault are reported and left out.
func Read(src *diag.Source) ([]Case, diag.List) {
	root, ds := jsonc.Parse(src, "REQUIRE/SYNTAX", "requirements file")
	if root == nil {
		return nil, ds
	}
	r := &reader{ds: ds}
	if root.Kind != jsonc.Object {
		r.fail(root.Span, "REQUIRE/TYPE", "a requirements file holds an object, this is %s", root.Kind).help(`write {"schema": "%s", "cases": […]}`, Schema)
		return nil, r.ds
	}
	if s := root.Get("schema"); s.Str() != Schema {
		at := root.Span
		if s != nil {
			at = s.Span
		}
		r.fail(at, "REQUIRE/SCHEMA", "schema is '%s', want '%s'", s.Str(), Schema).help(`write "schema": "%s"`, Schema)
	}
	r.known(root, "the file", "schema", "target", "cases", "comment", "$schema")
	target := r.str(root, "target")
	list := root.Get("cases")
	if list == nil || list.Kind != jsonc.Array {
		r.fail(root.Span, "REQUIRE/TYPE", "'cases' is not a list").help("write \"cases\": [{…}]")
		return nil, r.ds.Sorted()
	}
	var out []Case
	for i, v := range list.Items {
		if c, ok := r.demand(v, i, target); ok {
			out = append(out, c)
		}
	}
	return out, r.ds.Sorted()
}

type reader struct{ ds diag.List }

type failure struct {
	r *reader
	i int
}

func (r *reader) fail(sp diag.Span, code, format string, args ...any) failure {
	r.ds.Add(diag.Errorf(sp, code, format, args...))
	return failure{r, len(r.ds) - 1}
}

func (f failure) help(format string, args ...any) {
	f.r.ds[f.i].Help = fmt.Sprintf(format, args...)
}

// known reports keys that are none of names.
func (r *reader) known(v *jsonc.Value, what string, names ...string) {
	for _, m := range v.Members {
		found := false
		for _, n := range names {
			found = found || n == m.Key
		}
		if found {
			continue
		}
		f := r.fail(m.KeySpan, "REQUIRE/KEY", "%s has no field '%s'", what, m.Key)
		if near := dialect.Nearest(m.Key, names); near != "" {
			f.help("did you mean '%s'?", near)
		} else {
			f.help("its fields are %s", orNone(names))
		}
	}
}

func (r *reader) str(v *jsonc.Value, key string) string {
	s := v.Get(key)
	if s == nil {
		return ""
	}
	if s.Kind != jsonc.String {
		r.fail(s.Span, "REQUIRE/TYPE", "'%s' is %s, want a string", key, s.Kind).help("write it in quotes")
	}
	return s.Str()
}

func (r *reader) demand(v *jsonc.Value, i int, target string) (Case, bool) {
	before := len(r.ds)
	if v.Kind != jsonc.Object {
		r.fail(v.Span, "REQUIRE/TYPE", "an element of 'cases' is %s, want an object", v.Kind).help("write {\"export\": …}")
		return Case{}, false
	}
	r.known(v, "a case", "name", "export", "target", "config", "workload", "launch", "params", "bindings", "comment", "why")
	c := Case{Name: r.str(v, "name"), Export: r.str(v, "export"), Target: r.str(v, "target"), Why: r.str(v, "why"), Span: v.Span}
	if c.Target == "" {
		c.Target = target
	}
	if c.Name == "" {
		c.Name = fmt.Sprintf("%s #%d", c.Export, i+1)
	}
	if e := v.Get("export"); e != nil {
		c.ExportSpan = e.Span
	}
	if c.Export == "" && len(r.ds) == before {
		r.fail(v.Span, "REQUIRE/MISSING", "a case names no export").help("add \"export\": \"NAME\"")
	}
	r.config(v.Get("config"), "", &c.Config)
	c.Workload = r.params(v.Get("workload"), "workload")
	c.Launch = r.params(v.Get("launch"), "launch")
	c.Params = r.params(v.Get("params"), "params")
	r.bindings(v.Get("bindings"), &c)
	return c, len(r.ds) == before
}

func (r *reader) config(v *jsonc.Value, prefix string, out *[]linker.Binding) {
	if v == nil {
		return
	}
	if v.Kind != jsonc.Object {
		r.fail(v.Span, "REQUIRE/TYPE", "'config' is %s, want an object", v.Kind).help(`write "config": {"symbol": value}`)
		return
	}
	for _, m := range v.Members {
		key := linker.CleanKey(m.Key)
		if prefix != "" {
			key = prefix + "." + m.Key
		}
		if m.Value.Kind == jsonc.Object {
			r.config(m.Value, key, out)
			continue
		}
		text, ok := m.Value.Scalar()
		if !ok {
			r.fail(m.Value.Span, "REQUIRE/TYPE", "config '%s' is %s, want a number, a string or a boolean", key, m.Value.Kind).help("a config symbol takes one value")
			continue
		}
		*out = append(*out, linker.Binding{Key: key, Text: text, Span: m.Value.Span})
	}
}

func (r *reader) params(v *jsonc.Value, what string) []Param {
	if v == nil {
		return nil
	}
	if v.Kind != jsonc.Object {
		r.fail(v.Span, "REQUIRE/TYPE", "'%s' is %s, want an object", what, v.Kind).help(`write "%s": {"name": number}`, what)
		return nil
	}
	var out []Param
	for _, m := range v.Members {
		p := Param{Name: m.Key, Span: m.Value.Span, KeySpan: m.KeySpan}
		n, ok := m.Value.Int()
		switch {
		case ok:
			p.Value = n
		case m.Value.Kind == jsonc.Number:
			p.IsFloat = true
		default:
			r.fail(m.Value.Span, "REQUIRE/TYPE", "%s value '%s' is %s, want a number", what, m.Key, m.Value.Kind).help("parameters are numbers")
			continue
		}
		out = append(out, p)
	}
	return out
}

func (r *reader) bindings(v *jsonc.Value, c *Case) {
	if v == nil {
		return
	}
	size := func(v *jsonc.Value, name string) int64 {
		if v == nil || v.Kind == jsonc.Null {
			return -1
		}
		n, ok := v.Int()
		if !ok || n < 0 {
			r.fail(v.Span, "REQUIRE/TYPE", "size of binding '%s' is not a number of bytes", name).help("write the bytes, or null to leave the size open")
		}
		return n
	}
	switch v.Kind {
	case jsonc.Object:
		for _, m := range v.Members {
			c.Bindings = append(c.Bindings, Buffer{Name: m.Key, Bytes: size(m.Value, m.Key), Span: m.Value.Span})
		}
	case jsonc.Array:
		c.Ordered = true
		for _, x := range v.Items {
			if x.Kind == jsonc.String {
				c.Bindings = append(c.Bindings, Buffer{Name: x.Text, Bytes: -1, Span: x.Span})
				continue
			}
			name := x.Get("name").Str()
			if name == "" {
				r.fail(x.Span, "REQUIRE/TYPE", "an element of 'bindings' has no name").help(`write {"name": "src", "bytes": 4096}`)
				continue
			}
			c.Bindings = append(c.Bindings, Buffer{Name: name, Bytes: size(x.Get("bytes"), name), Span: x.Span})
		}
	default:
		r.fail(v.Span, "REQUIRE/TYPE", "'bindings' is %s, want an object or a list", v.Kind).help(`write "bindings": {"src": bytes}`)
	}
}
