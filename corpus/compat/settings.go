package compat

import (
	"path"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// SettingsFile is the name under which commands look for settings.
const SettingsFile = ".loomc.jsonc"

// Settings are the accepted findings of a settings file:
//
//	{
//	  "diff": {
//	    "ignore": [
//	      // A pattern of export names ("*" any run), one rule, and why.
//	      {"export": "ggml_rope_*", "rule": "body-changed", "reason": "compared on gfx1151, bit-identical"},
//	      {"export": "@ggml.rows.load_quad", "rule": "motif-signature-changed", "reason": "ours/ follows"}
//	    ]
//	  }
//	}
//
// "subject" narrows an entry to one binding, parameter or config key, "target"
// to one variant. A template family is written with '@' in "export".
type Settings struct {
	Ignore []Ignore
}

// Ignore accepts findings of one rule about some exports.
type Ignore struct {
	Export  string // pattern
	Rule    string
	Subject string // "" is any
	Target  string // "*" is any
	Reason  string
	Span    diag.Span
}

// ReadSettings reads a settings file (JSON with comments). Keys of other tools
// and commands are left alone; what stands under "diff" is checked. Entries at
// fault are left out and reported.
func ReadSettings(src *diag.Source) (*Settings, diag.List) {
	v, err := hujson.Parse([]byte(src.Text))
	if err != nil {
		return nil, diag.List{diag.Errorf(diag.Span{Src: src}, "SETTINGS/SYNTAX", "malformed settings file: %v", err).
			WithHelp("settings are JSON; comments and trailing commas are allowed")}
	}
	r := &settingsReader{src: src, out: &Settings{}}
	root := r.object(&v, "the settings file")
	diff := r.member(root, "diff")
	if diff == nil {
		return r.out, r.ds.Sorted()
	}
	for _, m := range r.object(diff, "'diff'") {
		if name := r.name(&m.Name); name != "ignore" {
			r.ds.Add(diag.Errorf(r.span(&m.Name), "SETTINGS/KEY", "'diff' has no setting '%s'", name).WithHelp("it has 'ignore'"))
		}
	}
	list := r.member(r.object(diff, "'diff'"), "ignore")
	if list == nil {
		return r.out, r.ds.Sorted()
	}
	arr, ok := list.Value.(*hujson.Array)
	if !ok {
		r.ds.Add(diag.Errorf(r.span(list), "SETTINGS/TYPE", "'ignore' is not a list").WithHelp(`write "ignore": [{"export": "…", "rule": "…", "reason": "…"}]`))
		return r.out, r.ds.Sorted()
	}
	for i := range arr.Elements {
		r.entry(&arr.Elements[i])
	}
	return r.out, r.ds.Sorted()
}

type settingsReader struct {
	src *diag.Source
	out *Settings
	ds  diag.List
}

func (r *settingsReader) span(v *hujson.Value) diag.Span {
	return diag.Span{Src: r.src, Start: uint32(v.StartOffset), End: uint32(v.EndOffset)}
}

func (r *settingsReader) name(v *hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok && l.Kind() == '"' {
		return l.String()
	}
	return ""
}

func (r *settingsReader) object(v *hujson.Value, what string) []hujson.ObjectMember {
	if v == nil {
		return nil
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		r.ds.Add(diag.Errorf(r.span(v), "SETTINGS/TYPE", "%s is not an object", what).WithHelp("write {…}"))
		return nil
	}
	return o.Members
}

func (r *settingsReader) member(ms []hujson.ObjectMember, key string) *hujson.Value {
	for i := range ms {
		if r.name(&ms[i].Name) == key {
			return &ms[i].Value
		}
	}
	return nil
}

func (r *settingsReader) entry(v *hujson.Value) {
	ms := r.object(v, "an element of 'ignore'")
	if ms == nil {
		return
	}
	e := Ignore{Target: "*", Span: r.span(v)}
	fields := map[string]*string{"export": &e.Export, "rule": &e.Rule, "subject": &e.Subject, "target": &e.Target, "reason": &e.Reason}
	before := len(r.ds)
	for i := range ms {
		key := r.name(&ms[i].Name)
		to := fields[key]
		if to == nil {
			r.ds.Add(diag.Errorf(r.span(&ms[i].Name), "SETTINGS/KEY", "an element of 'ignore' has no field '%s'", key).
				WithHelp("its fields are export, rule, subject, target and reason"))
			continue
		}
		l, ok := ms[i].Value.Value.(hujson.Literal)
		if !ok || l.Kind() != '"' {
			r.ds.Add(diag.Errorf(r.span(&ms[i].Value), "SETTINGS/TYPE", "'%s' is not a string", key).WithHelp("write it in quotes"))
			continue
		}
		*to = l.String()
	}
	for _, key := range []string{"export", "rule", "reason"} {
		if *fields[key] == "" && len(r.ds) == before {
			help := map[string]string{
				"export": `name the export, or a pattern such as "ggml_rope_*"`,
				"rule":   "`loomc diff --rules` lists the rules",
				"reason": "say who looked at it and what was found; the reason appears in every report",
			}[key]
			r.ds.Add(diag.Errorf(e.Span, "SETTINGS/MISSING", "an element of 'ignore' has no '%s'", key).WithHelp("%s", help))
		}
	}
	if _, ok := LookupRule(e.Rule); !ok && e.Rule != "" {
		var known []string
		for _, rule := range rules {
			known = append(known, rule.ID)
		}
		d := diag.Errorf(r.span(r.member(ms, "rule")), "SETTINGS/RULE", "there is no rule '%s'", e.Rule)
		if near := dialect.Nearest(e.Rule, known); near != "" {
			d = d.WithHelp("did you mean '%s'?", near)
		} else {
			d = d.WithHelp("`loomc diff --rules` lists the rules")
		}
		r.ds.Add(d)
	}
	if _, err := path.Match(e.Export, ""); err != nil {
		r.ds.Add(diag.Errorf(r.span(r.member(ms, "export")), "SETTINGS/PATTERN", "'%s' is not a pattern", e.Export).
			WithHelp("'*' stands for any run of characters, '?' for one, [abc] for one of several"))
	}
	if len(r.ds) == before {
		r.out.Ignore = append(r.out.Ignore, e)
	}
}

// matches reports whether the entry accepts f.
func (e *Ignore) matches(f *Finding) bool {
	if e.Rule != f.Rule.ID || e.Subject != "" && e.Subject != f.Subject || e.Target != "*" && e.Target != f.Target {
		return false
	}
	name := f.Export
	if name == "" {
		name = "@" + f.Subject
	}
	ok, err := path.Match(e.Export, name)
	return ok && err == nil
}

// apply marks the accepted findings and returns the entries that accept none.
func (s *Settings) apply(fs []Finding) []Ignore {
	if s == nil {
		return nil
	}
	used := make([]bool, len(s.Ignore))
	for i := range fs {
		for j := range s.Ignore {
			if s.Ignore[j].matches(&fs[i]) {
				used[j] = true
				if fs[i].Ignored == nil {
					e := s.Ignore[j]
					fs[i].Ignored = &e
				}
			}
		}
	}
	var unused []Ignore
	for j, u := range used {
		if !u {
			unused = append(unused, s.Ignore[j])
		}
	}
	return slices.Clip(unused)
}
