package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Marshal writes the manifest in its canonical form: fixed field order, files
// by path, exports by name and target, two spaces of indentation, a newline at
// the end; what is short stands on one line, so that a changed file is a changed
// line. The same manifest always gives the same bytes, and reading them back
// gives the same manifest. Fields this version does not know follow the known
// ones. An empty Schema is written as SchemaV1 and an empty UpstreamRevision as
// "local", because engines refuse a manifest without them.
func (m *Manifest) Marshal() ([]byte, error) {
	top := jsonObject{
		{"schema", cmp.Or(m.Schema.Value, SchemaV1)},
	}
	top.text("upstream_repository", m.UpstreamRepository)
	top.put("upstream_revision", cmp.Or(m.UpstreamRevision.Value, "local"))
	top.text("source_subdirectory", m.SourceSubdirectory)
	top.text(cmp.Or(m.corpusKey, "corpus_sha256"), m.CorpusDigest)
	top.text(cmp.Or(m.recipeKey, "build_bazel_sha256"), m.RecipeDigest)

	files := slices.Clone(m.Files)
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Path.Value, b.Path.Value) })
	top.put("files", list(files, marshalFile))
	exports := slices.Clone(m.Exports)
	slices.SortStableFunc(exports, func(a, b Export) int {
		return cmp.Or(strings.Compare(a.Name.Value, b.Name.Value), strings.Compare(a.TargetSelector.Value, b.TargetSelector.Value))
	})
	top.put("exports", list(exports, marshalExport))
	if m.LinkModules != nil {
		modules := slices.Clone(m.LinkModules)
		slices.SortStableFunc(modules, func(a, b LinkModule) int { return strings.Compare(a.Name.Value, b.Name.Value) })
		top.put("link_modules", list(modules, func(l LinkModule) any {
			o := jsonObject{{"name", l.Name.Value}, {"srcs", list(l.Srcs, textValue)}, {"libraries", list(l.Libraries, textValue)}}
			return o.rest(l.unknown)
		}))
	}
	if m.PlanCases != nil {
		top.put("plan_cases", list(m.PlanCases, marshalPlanCase))
	}
	for _, u := range m.Unknown {
		if u.In == "manifest" {
			top.put(u.Key, json.RawMessage(u.Raw))
		}
	}

	var b bytes.Buffer
	if err := writeJSON(&b, top, ""); err != nil {
		return nil, fmt.Errorf("writing the manifest: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func textValue(t Text) any { return t.Value }

func marshalFile(f File) any {
	o := jsonObject{{"path", f.Path.Value}}
	o.text("sha256", f.SHA256)
	if f.Size.Stated {
		o.put("size", f.Size.Bytes)
	}
	o.text("owner", f.Owner)
	o.text("upstream_path", f.UpstreamPath)
	return o.rest(f.unknown)
}

func marshalExport(e Export) any {
	params := func(ps []Param) any {
		return list(ps, func(p Param) any {
			o := jsonObject{{"name", p.Name.Value}, {"type", p.Type.Value}}
			return o.rest(p.unknown)
		})
	}
	r := e.Recipe
	recipe := jsonObject{{"mode", cmp.Or(r.Mode.Value, ModeDirect)}}
	recipe.text("link_module", r.LinkModule)
	recipe.put("primary_sources", list(r.PrimarySources, textValue))
	recipe.put("library_sources", list(r.LibrarySources, textValue))
	o := jsonObject{{"name", e.Name.Value}}
	o.text("family", e.Family)
	o.put("symbol", e.Symbol.Value)
	o.put("source", e.Source.Value)
	o.put("workload_parameters", params(e.WorkloadParameters))
	o.put("launch_parameters", params(e.LaunchParameters))
	o.put("bindings", list(e.Bindings, textValue))
	o.put("binding_access", list(e.BindingAccess, textValue))
	o.put("target_selector", e.TargetSelector.Value)
	o.put("compile_recipe", recipe.rest(r.unknown))
	o.put("compile_dependencies", list(e.CompileDependencies, textValue))
	return o.rest(e.unknown)
}

func marshalPlanCase(p PlanCase) any {
	o := jsonObject{{"name", p.Name.Value}}
	o.text("root", p.Root)
	for _, v := range []struct {
		key    string
		values []ConfigValue
	}{{"workload", p.Workload}, {"launch", p.Launch}, {"config", p.Config}} {
		if v.values != nil {
			o.put(v.key, marshalValues(v.values))
		}
	}
	if p.Args != nil {
		o.put("args", list(p.Args, textValue))
	}
	o.text("source", p.Source)
	o.text("link_module", p.LinkModule)
	o.text("owner", p.Owner)
	return o.rest(p.unknown)
}

// marshalValues writes a value as it was written: readers of a manifest may want
// config as strings and workloads as numbers. Values that a program made are
// numbers when they are integers, and strings otherwise.
func marshalValues(vs []ConfigValue) jsonObject {
	var o jsonObject
	for _, v := range vs {
		if strings.HasPrefix(v.Span.Text(), `"`) {
			o.put(v.Key, v.Text)
		} else if v.Span.Valid() {
			o.put(v.Key, json.RawMessage(v.Span.Text()))
		} else if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && strconv.FormatInt(n, 10) == v.Text {
			o.put(v.Key, n)
		} else {
			o.put(v.Key, v.Text)
		}
	}
	return o
}

func list[T any](ts []T, one func(T) any) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		out[i] = one(t)
	}
	return out
}

// jsonObject is an object whose members keep their order.
type jsonObject []jsonField

type jsonField struct {
	key   string
	value any // string, int64, []any, jsonObject or json.RawMessage
}

func (o *jsonObject) put(key string, value any) { *o = append(*o, jsonField{key, value}) }

// text adds an optional string.
func (o *jsonObject) text(key string, t Text) {
	if t.Value != "" {
		o.put(key, t.Value)
	}
}

func (o jsonObject) rest(unknown []Unknown) jsonObject {
	for _, u := range unknown {
		o.put(u.Key, json.RawMessage(u.Raw))
	}
	return o
}

// lineWidth is the length up to which a list or an object stands on one line. A
// file record with a path of 90 characters fits.
const lineWidth = 200

// writeJSON writes v with its members on lines of their own, or on one line below
// the manifest's own lists where that is short.
func writeJSON(b *bytes.Buffer, v any, indent string) error {
	const step = "  "
	members, open, end := 0, "", ""
	var member func(i int, indent string) error
	switch v := v.(type) {
	case string:
		return writeJSONString(b, v)
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
		return nil
	case json.RawMessage:
		return json.Indent(b, v, indent, step)
	case []any:
		members, open, end = len(v), "[", "]"
		member = func(i int, indent string) error { return writeJSON(b, v[i], indent) }
	case jsonObject:
		members, open, end = len(v), "{", "}"
		member = func(i int, indent string) error {
			if err := writeJSONString(b, v[i].key); err != nil {
				return err
			}
			b.WriteString(": ")
			return writeJSON(b, v[i].value, indent)
		}
	default:
		return fmt.Errorf("a %T in a manifest", v)
	}
	write := func(first, between, last, indent string) error {
		b.WriteString(open)
		for i := range members {
			if i == 0 {
				b.WriteString(first)
			} else {
				b.WriteString(between)
			}
			if err := member(i, indent); err != nil {
				return err
			}
		}
		b.WriteString(last + end)
		return nil
	}
	inner := indent + step
	if members == 0 || len(indent) > len(step) {
		start := b.Len()
		if err := write("", ", ", "", inner); err != nil {
			return err
		}
		if line := b.Bytes()[start:]; len(inner)+len(line) <= lineWidth && !bytes.ContainsRune(line, '\n') {
			return nil
		}
		b.Truncate(start)
	}
	return write("\n"+inner, ",\n"+inner, "\n"+indent, inner)
}

func writeJSONString(b *bytes.Buffer, s string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // Encode ends with a newline
	return nil
}

// FileRecords returns a record with digest and size for every .loom file of the
// corpus, by path: what a manifest's "files" should hold.
func (c *Corpus) FileRecords() []File {
	var out []File
	for _, p := range c.paths() {
		if f := c.files[p]; strings.HasSuffix(p, ".loom") {
			out = append(out, File{
				Path:   Plain(p),
				SHA256: Plain(f.sha256()),
				Size:   Size{Bytes: int64(len(f.src.Text)), Stated: true},
			})
		}
	}
	return out
}
