package corpus

import (
	"slices"
	"strconv"

	"github.com/tailscale/hujson"

	"github.com/loomc/loomc/loom/diag"
)

var manifestJSON = jsonDialect{code: "MANIFEST/SYNTAX", name: "malformed manifest",
	whenEmpty: `write a JSON object with "schema": "` + SchemaV1 + `", "files" and "exports"; "loomc manifest generate" writes one from the sources`}

// ParseManifest reads a manifest. It looks at the text alone: whether the files
// exist and fit is for Open to say. The manifest is nil only when the text is
// not a JSON object; otherwise it holds all that could be read, with the
// records at fault marked.
func ParseManifest(src *diag.Source) (*Manifest, diag.List) {
	m, ds := decodeManifest(src)
	if m != nil {
		c := &checker{manifest: m}
		c.checkManifest()
		ds = append(ds, c.ds...)
	}
	return m, ds.Sorted()
}

// decodeManifest turns the text into the model and reports wrong shapes. What a
// complete manifest must have is left to the checker, because an override's
// manifest may be partial.
func decodeManifest(src *diag.Source) (*Manifest, diag.List) {
	root, ds := parseJSON(src, manifestJSON)
	if root == nil {
		return nil, ds
	}
	d := &decoder{src: src, ds: ds}
	m := &Manifest{Source: src}
	obj, ok := d.object(root, "the manifest")
	if !ok {
		return nil, d.ds
	}
	for _, f := range obj {
		switch f.key {
		case "schema":
			m.Schema = d.text(f)
		case "upstream_repository":
			m.UpstreamRepository = d.text(f)
		case "upstream_revision":
			m.UpstreamRevision = d.text(f)
		case "source_subdirectory":
			m.SourceSubdirectory = d.text(f)
		case "corpus_sha256", "corpus_digest":
			m.CorpusDigest, m.corpusKey = d.text(f), f.key
		case "build_bazel_sha256", "recipe_digest":
			m.RecipeDigest, m.recipeKey = d.text(f), f.key
		case "files":
			m.filesSpan = jsonSpan(src, f.value)
			m.Files = records(d, f, d.file)
		case "exports":
			m.exportsSpan = jsonSpan(src, f.value)
			m.Exports = records(d, f, d.export)
		case "link_modules":
			m.LinkModules = records(d, f, d.linkModule)
		case "plan_cases":
			m.PlanCases = records(d, f, d.planCase)
		default:
			m.Unknown = append(m.Unknown, d.unknown("manifest", f))
		}
	}
	m.collectUnknown()
	return m, d.ds
}

// collectUnknown gathers the records' unknown fields into m.Unknown.
func (m *Manifest) collectUnknown() {
	own := slices.DeleteFunc(slices.Clone(m.Unknown), func(u Unknown) bool { return u.In != "manifest" })
	for i := range m.Files {
		own = append(own, named(m.Files[i].unknown, "file", m.Files[i].Path)...)
	}
	for i := range m.Exports {
		e := &m.Exports[i]
		own = append(own, named(e.unknown, "export", e.Name)...)
		own = append(own, named(e.Recipe.unknown, "export", e.Name)...)
		for _, p := range slices.Concat(e.WorkloadParameters, e.LaunchParameters) {
			own = append(own, named(p.unknown, "export", e.Name)...)
		}
	}
	for i := range m.LinkModules {
		own = append(own, named(m.LinkModules[i].unknown, "link module", m.LinkModules[i].Name)...)
	}
	for i := range m.PlanCases {
		own = append(own, named(m.PlanCases[i].unknown, "plan case", m.PlanCases[i].Name)...)
	}
	m.Unknown = own
}

func named(us []Unknown, kind string, name Text) []Unknown {
	out := slices.Clone(us)
	for i := range out {
		out[i].In = kind + " '" + name.Value + "'"
		if us[i].In != "" {
			out[i].In = us[i].In + " of " + out[i].In
		}
	}
	return out
}

type decoder struct {
	src *diag.Source
	ds  diag.List
}

// since returns the code of the first error reported after the first n.
func (d *decoder) since(n int) string {
	for _, x := range d.ds[n:] {
		if x.Severity == diag.Error {
			return x.Code
		}
	}
	return ""
}

// errorsSince returns the errors reported after the first n.
func (d *decoder) errorsSince(n int) diag.List {
	var out diag.List
	for _, x := range d.ds[n:] {
		if x.Severity == diag.Error {
			out.Add(x)
		}
	}
	return out
}

func (d *decoder) wrongType(v *hujson.Value, what, want string) {
	d.ds.Add(diag.Errorf(jsonSpan(d.src, v), "MANIFEST/TYPE", "%s is %s, want %s", what, jsonKind(v), want).
		WithHelp("write %s here", want))
}

func (d *decoder) object(v *hujson.Value, what string) ([]jsonMember, bool) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		d.wrongType(v, what, "an object")
		return nil, false
	}
	return jsonMembers(d.src, o, "MANIFEST/DUPLICATE-KEY", &d.ds), true
}

func (d *decoder) string(v *hujson.Value, what string) (Text, bool) {
	if v.Value.Kind() != '"' {
		d.wrongType(v, what, "a string")
		return Text{}, false
	}
	return Text{Value: jsonString(d.src, v), Span: jsonSpan(d.src, v)}, true
}

func (d *decoder) text(f jsonMember) Text {
	t, _ := d.string(f.value, "'"+f.key+"'")
	return t
}

func (d *decoder) elements(f jsonMember) []hujson.Value {
	a, ok := f.value.Value.(*hujson.Array)
	if !ok {
		d.wrongType(f.value, "'"+f.key+"'", "an array")
		return nil
	}
	return a.Elements
}

func (d *decoder) texts(f jsonMember) []Text {
	es := d.elements(f)
	out := make([]Text, 0, len(es))
	for i := range es {
		if t, ok := d.string(&es[i], "an element of '"+f.key+"'"); ok {
			out = append(out, t)
		}
	}
	return out
}

// records decodes an array of objects.
func records[T any](d *decoder, f jsonMember, one func([]jsonMember, diag.Span) T) []T {
	es := d.elements(f)
	out := make([]T, 0, len(es))
	for i := range es {
		if ms, ok := d.object(&es[i], "an element of '"+f.key+"'"); ok {
			out = append(out, one(ms, jsonSpan(d.src, &es[i])))
		}
	}
	return out
}

func (d *decoder) unknown(in string, f jsonMember) Unknown {
	return Unknown{In: in, Key: f.key, Raw: jsonSpan(d.src, f.value).Text(), Span: f.keySpan}
}

func (d *decoder) file(ms []jsonMember, span diag.Span) File {
	f := File{Span: span}
	for _, m := range ms {
		switch m.key {
		case "path":
			f.Path = d.text(m)
		case "sha256":
			f.SHA256 = d.text(m)
		case "size":
			f.Size = d.size(m)
		case "owner":
			f.Owner = d.text(m)
		case "upstream_path":
			f.UpstreamPath = d.text(m)
		default:
			f.unknown = append(f.unknown, d.unknown("", m))
		}
	}
	return f
}

func (d *decoder) size(f jsonMember) Size {
	sp := jsonSpan(d.src, f.value)
	if f.value.Value.Kind() != '0' {
		d.wrongType(f.value, "'size'", "a number of bytes")
		return Size{}
	}
	n, err := strconv.ParseInt(sp.Text(), 10, 64)
	if err != nil || n < 0 {
		d.ds.Add(diag.Errorf(sp, "MANIFEST/TYPE", "'size' is %s, want a whole number of bytes", sp.Text()).
			WithHelp("write the file's length in bytes, or remove the field"))
		return Size{}
	}
	return Size{Bytes: n, Stated: true, Span: sp}
}

func (d *decoder) export(ms []jsonMember, span diag.Span) Export {
	before := len(d.ds)
	e := Export{Span: span}
	for _, m := range ms {
		at := jsonSpan(d.src, m.value)
		switch m.key {
		case "name":
			e.Name = d.text(m)
		case "family":
			e.Family = d.text(m)
		case "symbol":
			e.Symbol = d.text(m)
		case "source":
			e.Source = d.text(m)
		case "workload_parameters":
			e.WorkloadParameters, e.WorkloadSpan = d.params(m), at
		case "launch_parameters":
			e.LaunchParameters, e.LaunchSpan = d.params(m), at
		case "bindings":
			e.Bindings, e.BindingsSpan = d.texts(m), at
		case "binding_access":
			e.BindingAccess, e.AccessSpan = d.texts(m), at
		case "target_selector":
			e.TargetSelector = d.text(m)
		case "compile_recipe":
			e.Recipe = d.recipe(m)
		case "compile_dependencies":
			e.CompileDependencies, e.DependenciesSpan = d.texts(m), at
		default:
			e.unknown = append(e.unknown, d.unknown("", m))
		}
	}
	e.parseProblem, e.parseFaults = d.since(before), d.errorsSince(before)
	return e
}

func (d *decoder) params(f jsonMember) []Param {
	return records(d, f, func(ms []jsonMember, span diag.Span) Param {
		p := Param{Span: span}
		for _, m := range ms {
			switch m.key {
			case "name":
				p.Name = d.text(m)
			case "type":
				p.Type = d.text(m)
			default:
				p.unknown = append(p.unknown, d.unknown(f.key, m))
			}
		}
		for _, need := range []struct {
			key string
			t   Text
		}{{"name", p.Name}, {"type", p.Type}} {
			if need.t.Value == "" {
				d.ds.Add(diag.Errorf(span, "MANIFEST/MISSING-FIELD", "an element of '%s' has no '%s'", f.key, need.key).
					WithHelp(`write {"name": …, "type": "index"}`))
			}
		}
		return p
	})
}

func (d *decoder) recipe(f jsonMember) Recipe {
	r := Recipe{}
	ms, ok := d.object(f.value, "'compile_recipe'")
	if !ok {
		return r
	}
	r.Span = jsonSpan(d.src, f.value)
	for _, m := range ms {
		switch m.key {
		case "mode":
			r.Mode = d.text(m)
		case "link_module":
			r.LinkModule = d.text(m)
		case "primary_sources":
			r.PrimarySources, r.primarySpan = d.texts(m), jsonSpan(d.src, m.value)
		case "library_sources":
			r.LibrarySources = d.texts(m)
		default:
			r.unknown = append(r.unknown, d.unknown("compile_recipe", m))
		}
	}
	return r
}

func (d *decoder) linkModule(ms []jsonMember, span diag.Span) LinkModule {
	l := LinkModule{Span: span}
	for _, m := range ms {
		switch m.key {
		case "name":
			l.Name = d.text(m)
		case "srcs":
			l.Srcs = d.texts(m)
		case "libraries":
			l.Libraries = d.texts(m)
		default:
			l.unknown = append(l.unknown, d.unknown("", m))
		}
	}
	return l
}

func (d *decoder) planCase(ms []jsonMember, span diag.Span) PlanCase {
	before := len(d.ds)
	p := PlanCase{Span: span}
	for _, m := range ms {
		switch m.key {
		case "name":
			p.Name = d.text(m)
		case "source":
			p.Source = d.text(m)
		case "link_module":
			p.LinkModule = d.text(m)
		case "owner":
			p.Owner = d.text(m)
		case "args":
			p.Args = d.texts(m)
		case "root":
			p.Root = d.text(m)
		case "workload":
			p.Workload = d.values(m)
		case "launch":
			p.Launch = d.values(m)
		case "config":
			p.Config = d.values(m)
		default:
			p.unknown = append(p.unknown, d.unknown("", m))
		}
	}
	p.parseFaults = d.errorsSince(before)
	return p
}

// values reads an object of named scalars, such as the config of a plan case.
func (d *decoder) values(f jsonMember) []ConfigValue {
	obj, ok := f.value.Value.(*hujson.Object)
	if !ok {
		d.wrongType(f.value, "'"+f.key+"'", "an object")
		return nil
	}
	r := &configReader{src: d.src, seen: map[string]diag.Span{}}
	r.object(obj, "")
	d.ds = append(d.ds, r.ds...)
	return r.out
}
