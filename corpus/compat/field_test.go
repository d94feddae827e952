package compat_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/loom/diag"
)

// fieldPins is a pin pair in the shape of one that broke an engine: 83 files
// removed, the flash-attention head size 36864 → 512, and a family that 40 kernels
// publish through taking 21 parameters instead of 23.
func fieldPins(t testing.TB) (old, new *compat.Surface) {
	o := synthetic{exports: 60, spare: 83, headLimit: 36864, publishArgs: 23, publishers: 40}
	n := o
	n.spare, n.headLimit, n.publishArgs = 0, 512, 21
	return surface(t, o.fs(), "a1b2c3d"), surface(t, n.fs(), "d4e5f6a")
}

func TestFieldPins(t *testing.T) {
	old, new := fieldPins(t)
	r := diff(t, old, new, compat.Options{})
	if len(r.Files.Removed) != 83 {
		t.Errorf("%d files removed, want 83", len(r.Files.Removed))
	}
	byRule := map[string][]compat.Finding{}
	for _, f := range r.Findings {
		byRule[f.Rule.ID] = append(byRule[f.Rule.ID], f)
	}
	narrowed := byRule[compat.ConfigNarrowed]
	if len(narrowed) != 1 || narrowed[0].Export != "field_flash_attention" || narrowed[0].Subject != "field.flash_attention.head_size" ||
		!slices.Contains(narrowed[0].Detail, "lost: 528, 544, …, 36864 (2272 values)") {
		t.Errorf("narrowed: %+v", narrowed)
	}
	changed := byRule[compat.MotifChanged]
	if len(changed) != 1 || changed[0].Subject != "field.publish_output" || len(changed[0].Users) != 40 ||
		!strings.Contains(changed[0].Message, "takes 21 parameters, it took 23") || !strings.Contains(changed[0].Message, "parameter 18 was '%p17: index' and is '%limit: index'") {
		t.Errorf("changed: %+v", changed)
	}
	if n := len(byRule[compat.MotifRemoved]); n != 83 {
		t.Errorf("%d families removed, want 83", n)
	}
	// The publishing kernels dropped two arguments that nothing read. Their bodies
	// hold another application, so they need a re-check.
	if n := len(byRule[compat.BodyChanged]); n != 40 {
		t.Errorf("%d bodies changed, want 40", n)
	}
	if r.Count(compat.Breaking) != 84 || !r.Worst(compat.Breaking) {
		t.Errorf("%s", r.Summary())
	}
	if r.Unchanged != 20 {
		t.Errorf("%d exports unchanged, want 20", r.Unchanged)
	}
}

func TestDiffOfSomeExports(t *testing.T) {
	old, new := fieldPins(t)
	r := diff(t, old, new, compat.Options{Exports: []string{"field_flash_attention"}})
	if len(r.Findings) != 1 || r.OldCount != 1 || r.Findings[0].Rule.ID != compat.ConfigNarrowed {
		t.Errorf("%s", text(t, r))
	}
}

func TestDiffIsDeterministic(t *testing.T) {
	var first string
	for i := range 4 {
		old, new := fieldPins(t)
		var b strings.Builder
		if err := compat.WriteJSON(&b, diff(t, old, new, compat.Options{})); err != nil {
			t.Fatal(err)
		}
		if i > 0 && b.String() != first {
			t.Fatal("two runs differ")
		}
		first = b.String()
	}
}

const ignores = `{
  // Other commands keep their settings here too.
  "link": {"target": "gfx1151"},
  "diff": {
    "ignore": [
      {"export": "field_kernel_*", "rule": "body-changed", "reason": "bit-identical on gfx1151"},
      {"export": "@legacy.*", "rule": "motif-removed", "reason": "nothing of ours uses them"},
      {"export": "field_flash_attention", "rule": "config-widened", "reason": "never happens"},
    ],
  },
}
`

func TestSettings(t *testing.T) {
	s, ds := compat.ReadSettings(diag.NewSource(".loomc.jsonc", ignores))
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	old, new := fieldPins(t)
	r := diff(t, old, new, compat.Options{Settings: s})
	if r.Accepted() != 40+83 || r.Count(compat.Breaking) != 1 || r.Count(compat.Behaviour) != 0 {
		t.Errorf("%s", r.Summary())
	}
	if len(r.UnusedIgnores) != 1 || r.UnusedIgnores[0].Reason != "never happens" {
		t.Errorf("unused: %v", r.UnusedIgnores)
	}
	out := text(t, r)
	for _, want := range []string{".loomc.jsonc:6:7: bit-identical on gfx1151", ".loomc.jsonc:8:7: note: this entry accepts nothing (config-widened of field_flash_attention)"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
}

func TestSettingsFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[`, "x:1:1: error: SETTINGS/SYNTAX"},
		{`[]`, "x:1:1: error: SETTINGS/TYPE: the settings file is not an object"},
		{`{"diff": []}`, "x:1:10: error: SETTINGS/TYPE: 'diff' is not an object"},
		{`{"diff": {"ignored": []}}`, "x:1:11: error: SETTINGS/KEY: 'diff' has no setting 'ignored'"},
		{`{"diff": {"ignore": {}}}`, "x:1:21: error: SETTINGS/TYPE: 'ignore' is not a list"},
		{`{"diff": {"ignore": [1]}}`, "x:1:22: error: SETTINGS/TYPE: an element of 'ignore' is not an object"},
		{`{"diff": {"ignore": [{"export": "a", "rule": "body-changed"}]}}`, "x:1:22: error: SETTINGS/MISSING: an element of 'ignore' has no 'reason'"},
		{`{"diff": {"ignore": [{"export": "a", "rule": "body-change", "reason": "b"}]}}`, "x:1:46: error: SETTINGS/RULE: there is no rule 'body-change'"},
		{`{"diff": {"ignore": [{"export": "a", "rule": "body-changed", "why": "b"}]}}`, "x:1:62: error: SETTINGS/KEY: an element of 'ignore' has no field 'why'"},
		{`{"diff": {"ignore": [{"export": 1, "rule": "body-changed", "reason": "b"}]}}`, "x:1:33: error: SETTINGS/TYPE: 'export' is not a string"},
		{`{"diff": {"ignore": [{"export": "[", "rule": "body-changed", "reason": "b"}]}}`, "x:1:33: error: SETTINGS/PATTERN: '[' is not a pattern"},
	} {
		_, ds := compat.ReadSettings(diag.NewSource("x", c.text))
		if len(ds) == 0 || !strings.HasPrefix(ds[0].Error(), c.want) || ds[0].Help == "" {
			t.Errorf("%s: %v, want %s", c.text, ds, c.want)
		}
	}
}

func FuzzReadSettings(f *testing.F) {
	f.Add(ignores)
	f.Add(`{"diff": {"ignore": [{"export": "a"}]}}`)
	f.Fuzz(func(t *testing.T, s string) {
		_, ds := compat.ReadSettings(diag.NewSource("x", s))
		for _, d := range ds {
			if !d.Span.Valid() || d.Help == "" {
				t.Errorf("diagnostic without place or help: %v", d)
			}
		}
	})
}

// small is a report with every category, an accepted finding and text that
// formats have to escape.
func small(t *testing.T) *compat.Report {
	t.Helper()
	o := synthetic{exports: 3, spare: 1, headLimit: 64, publishArgs: 6, publishers: 1}
	n := o
	n.exports, n.spare, n.headLimit, n.publishArgs, n.edited = 2, 0, 32, 5, 1
	s, ds := compat.ReadSettings(diag.NewSource(".loomc.jsonc", `{"diff": {"ignore": [{"export": "field_kernel_001", "rule": "body-changed", "reason": "same <bits> & time"}]}}`))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return diff(t, surface(t, o.fs(), "old"), surface(t, n.fs(), "new"), compat.Options{Settings: s})
}

func TestFormats(t *testing.T) {
	r := small(t)
	for _, f := range compat.Formats() {
		t.Run(f.Name, func(t *testing.T) {
			var b strings.Builder
			if err := f.Write(&b, r); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("testdata", "formats", f.Name+".golden")
			if *update {
				if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("%s has changed; run with -update and look at the difference", name)
			}
			switch f.Name {
			case "json", "sarif":
				if !json.Valid([]byte(b.String())) {
					t.Error("not JSON")
				}
			case "junit":
				var v struct {
					Failures int `xml:"failures,attr"`
				}
				if err := xml.Unmarshal([]byte(b.String()), &v); err != nil || v.Failures != r.Count(compat.Breaking) {
					t.Errorf("%v, %d failures", err, v.Failures)
				}
			}
		})
	}
	if _, ok := compat.LookupFormat("github-actions"); !ok {
		t.Error("github-actions is unknown")
	}
	if _, ok := compat.LookupFormat("pdf"); ok {
		t.Error("pdf is known")
	}
}

// TestJSONFollowsSchema checks the JSON report against the published schema's
// required and known properties.
func TestJSONFollowsSchema(t *testing.T) {
	var b strings.Builder
	if err := compat.WriteJSON(&b, small(t)); err != nil {
		t.Fatal(err)
	}
	var doc any
	var schema map[string]any
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(compat.SchemaJSON, &schema); err != nil {
		t.Fatal(err)
	}
	conform(t, "", doc, schema, schema)
}

// conform checks the part of JSON Schema that the schema uses.
func conform(t *testing.T, at string, v any, s, root map[string]any) {
	if ref, ok := s["$ref"].(string); ok {
		s = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if c, ok := s["const"]; ok && c != v {
		t.Errorf("%s: %v, want %v", at, v, c)
	}
	if e, ok := s["enum"].([]any); ok && !slices.Contains(e, v) {
		t.Errorf("%s: %v is none of %v", at, v, e)
	}
	kind := map[string]bool{}
	switch x := v.(type) {
	case map[string]any:
		kind["object"] = true
		for _, name := range anyStrings(s["required"]) {
			if _, ok := x[name]; !ok {
				t.Errorf("%s: %s is missing", at, name)
			}
		}
		props, _ := s["properties"].(map[string]any)
		more, _ := s["additionalProperties"].(map[string]any)
		for name, w := range x {
			switch p, ok := props[name].(map[string]any); {
			case ok:
				conform(t, at+"."+name, w, p, root)
			case more != nil:
				conform(t, at+"."+name, w, more, root)
			default:
				t.Errorf("%s: %s is not in the schema", at, name)
			}
		}
	case []any:
		kind["array"] = true
		items, _ := s["items"].(map[string]any)
		for i, w := range x {
			conform(t, fmt.Sprintf("%s[%d]", at, i), w, items, root)
		}
	case string:
		kind["string"] = true
	case float64:
		kind["number"], kind["integer"] = true, x == float64(int64(x))
	}
	if want, ok := s["type"].(string); ok && !kind[want] {
		t.Errorf("%s: %v is no %s", at, v, want)
	}
}

func anyStrings(v any) (out []string) {
	list, _ := v.([]any)
	for _, x := range list {
		out = append(out, x.(string))
	}
	return out
}

// TestHTMLInBrowser loads the page in headless Chromium, runs its script and
// looks at what it shows, unfiltered and filtered.
func TestHTMLInBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		t.Skip("NOT CHECKED: no Chromium is installed, so the HTML report was not loaded in a browser")
	}
	r := small(t)
	var b strings.Builder
	if err := compat.WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	dump := func(page string) string {
		name := filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(name, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "file://"+name).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return string(out)
	}
	n := len(r.Findings)
	if want := fmt.Sprintf("%d of %d findings", n, n); !strings.Contains(dump(b.String()), want) {
		t.Errorf("the page does not say %q", want)
	}
	filter := `<script>var r = document.getElementById("rule"); r.value = "config-narrowed"; r.dispatchEvent(new Event("change"));</script></body>`
	if want := fmt.Sprintf("1 of %d findings", n); !strings.Contains(dump(strings.Replace(b.String(), "</body>", filter, 1)), want) {
		t.Errorf("the filtered page does not say %q", want)
	}
}

// benchPins are two pins of 150 exports; every second kernel was edited.
func benchPins() (o, n synthetic) {
	o = synthetic{exports: 149, headLimit: 36864, publishArgs: 23, publishers: 60}
	n = o
	n.headLimit, n.edited = 512, 2
	return o, n
}

// BenchmarkDiffCold opens, parses, links and compares two pins of 150 exports.
func BenchmarkDiffCold(b *testing.B) {
	o, n := benchPins()
	of, nf := o.fs(), n.fs()
	for b.Loop() {
		r := diff(b, surface(b, of, "old"), surface(b, nf, "new"), compat.Options{})
		if r.Count(compat.Narrowing) != 1 {
			b.Fatal(r.Summary())
		}
	}
}

// BenchmarkDiffWarm compares the pins again with their contracts at hand.
func BenchmarkDiffWarm(b *testing.B) {
	o, n := benchPins()
	old, new := surface(b, o.fs(), "old"), surface(b, n.fs(), "new")
	diff(b, old, new, compat.Options{})
	for b.Loop() {
		diff(b, old, new, compat.Options{})
	}
}
