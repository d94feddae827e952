package require_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/corpus/require/gguf"
	"github.com/loomc/loomc/loom/diag"
)

// model makes a header out of JSON metadata: numbers without a point are
// integers, lists are arrays.
func model(t testing.TB, text []byte) *gguf.File {
	t.Helper()
	var raw map[string]any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		t.Fatal(err)
	}
	m := &gguf.File{Version: 3, Metadata: map[string]gguf.Value{}}
	var conv func(v any) gguf.Value
	conv = func(v any) gguf.Value {
		switch x := v.(type) {
		case json.Number:
			if i, err := x.Int64(); err == nil {
				return gguf.Value{Kind: gguf.Int, Int: i}
			}
			f, _ := x.Float64()
			return gguf.Value{Kind: gguf.Float, Float: f}
		case string:
			return gguf.Value{Kind: gguf.String, Str: x}
		case []any:
			out := gguf.Value{Kind: gguf.Array, Len: int64(len(x))}
			for _, e := range x {
				out.Items = append(out.Items, conv(e))
			}
			return out
		}
		t.Fatalf("metadata of type %T", v)
		return gguf.Value{}
	}
	for k, v := range raw {
		m.Metadata[k] = conv(v)
	}
	m.Tensors = []gguf.Tensor{{Name: "token_embd.weight", Dims: []int64{m.Metadata[m.Architecture()+".embedding_length"].Int, 32000}, Type: 1}}
	return m
}

func shippedRules(t testing.TB) *require.Rules {
	t.Helper()
	r, ds := require.ReadRules(require.ShippedRules())
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	return r
}

// TestModels runs testdata/models/ARCH.txtar: the metadata of a model and the
// demands that the shipped rules make of it. Every demand on an export of the
// bundled corpus must be complete: no unknown, missing or misnamed value.
func TestModels(t *testing.T) {
	files, err := filepath.Glob("testdata/models/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	bench := bundled(t)
	covered := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := model(t, a.Files[0].Data)
			covered[m.Architecture()] = true
			cases, ds := shippedRules(t).Cases(a.Files[0].Name, m, map[string][]int64{"tokens": {1, 512}})
			var b strings.Builder
			b.WriteString(diag.Text(ds))
			results, err := bench.Check(t.Context(), cases)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				c := r.Case
				fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Export)
				for _, x := range c.Config {
					fmt.Fprintf(&b, "    %s = %s\n", x.Key, x.Text)
				}
				for _, x := range c.Workload {
					fmt.Fprintf(&b, "    workload %s = %d\n", x.Name, x.Value)
				}
				for _, x := range c.Launch {
					fmt.Fprintf(&b, "    launch %s = %d\n", x.Name, x.Value)
				}
				for _, x := range c.Bindings {
					fmt.Fprintf(&b, "    binding %s: %d bytes\n", x.Name, x.Bytes)
				}
				for _, d := range r.Diags {
					switch d.Code {
					case "REQUIRE/EXPORT", "REQUIRE/CONFIG": // the corpus does not serve the model; no fault of the rules
					default:
						t.Errorf("%s: %s: %s", c.Name, d.Code, d.Message)
					}
				}
			}
			want := &a.Files[len(a.Files)-1]
			if *update {
				want.Data = []byte(b.String())
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(want.Data), b.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	for _, arch := range []string{"llama", "qwen2", "qwen3", "qwen3moe", "qwen3next", "deepseek2", "gemma3", "phi3", "mistral3"} {
		if !slices.Contains(shippedRules(t).Architectures(), arch) {
			t.Errorf("no rules for %s", arch)
		}
		if !covered[arch] && arch != "mistral3" {
			t.Errorf("no example of %s", arch)
		}
	}
}

func TestUnknownArchitecture(t *testing.T) {
	r := shippedRules(t)
	_, ds := r.Cases("m.gguf", model(t, []byte(`{"general.architecture": "qwen3mo"}`)), nil)
	if len(ds) != 1 || ds[0].Code != "SHAPES/ARCHITECTURE" || !strings.Contains(ds[0].Help, "'qwen3moe'") {
		t.Error(diag.Text(ds))
	}
	_, ds = r.Cases("m.gguf", model(t, []byte(`{}`)), nil)
	if len(ds) != 1 || !strings.Contains(ds[0].Message, "does not state its architecture") {
		t.Error(diag.Text(ds))
	}
	_, ds = r.Cases("m.gguf", model(t, []byte(`{"general.architecture": "llama", "llama.embedding_length": 64, "llama.attention.head_count": 4, "llama.feed_forward_length": 64}`)), map[string][]int64{"batch": {1}})
	if len(ds) != 1 || ds[0].Code != "SHAPES/PARAMETER" {
		t.Error(diag.Text(ds))
	}
}

const rulesHead = `{"schema": "loomc-model-rules-v1", "parameters": {"tokens": [1, 2]}, `

func TestRuleExpressions(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"1 + 2 * 3", "7"},
		{"(1 + 2) * 3 - 4", "5"},
		{"-3 + 1", "-2"},
		{"7 % 4", "3"},
		{"div(7, 2)", "3"},
		{"ceil_div(7, 2)", "4"},
		{"round_up(7, 4)", "8"},
		{"embedding_length / 16", "4"},
		{"nothing ?? 5", "5"},
		{"nothing / 3 ?? 5", "5"},
		{"max(attention.head_count_kv)", "8"},
		{"min(attention.head_count_kv, 1)", "0"},
		{"count(attention.head_count_kv)", "3"},
		{"first(attention.head_count_kv)", "8"},
		{"sqrt(16)", "4.0"},
		{"1.0 / sqrt(64)", "0.125"},
		{"float(1)", "1.0"},
		{"1e-6", "1e-06"},
		{"0.5 + 1", "1.5"},
		{"has(embedding_length) && !has(nothing)", "1"},
		{"1 < 2 == 1", "1"},
		{"2 >= 3 || 2 <= 2", "1"},
		{"general.architecture == 'toy'", "1"},
		{"general.architecture != 'toy'", "0"},
		{"type('token_embd.weight')", "f16"},
		{"dim('token_embd.weight', 1)", "32000"},
		{"nothing == nothing", "1"},
		{"tokens", "1"},
		// Faults.
		{"5 / 2", "!5 is no multiple of 2"},
		{"5 / 0", "!is not a number"},
		{"5 % 0", "!is not a number"},
		{"9223372036854775807 + 1", "!is too large"},
		{"9223372036854775807 * 2", "!is too large"},
		{"nothing", "!has no value"},
		{"nothing < 3", "!'nothing' has no value"},
		{"1 +", "!it ends too early"},
		{"(1", "!a ')' is missing"},
		{"1 2", "!unexpected '2'"},
		{"f(1)", "!there is no function 'f'"},
		{"sqrt()", "!sqrt takes 1 arguments"},
		{"div(1)", "!div takes 2 arguments"},
		{"div(1.5, 2)", "!takes two positive integers"},
		{"'a' + 1", "!takes numbers"},
		{"'a' < 'b'", "!does not compare strings"},
		{"'a", "!unexpected"},
		{"1 $ 2", "!unexpected '$'"},
		{"12x", "!is no number"},
		{"-'a'", "!takes a number"},
		{"1.5 % 2", "!takes integers"},
		{"max('a')", "!takes numbers"},
		{strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), "!nested too deeply"},
		{strings.Repeat("-", 200) + "1", "!nested too deeply"},
	} {
		text, err := json.Marshal(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		src := diag.NewSource("r.jsonc", rulesHead+`"groups": {"g": [{"name": "n", "export": "e", "config": {"k": `+string(text)+`}}]},
			"architectures": [{"names": ["toy"], "uses": ["g"]}]}`)
		r, ds := require.ReadRules(src)
		if r == nil {
			t.Fatal(diag.Text(ds))
		}
		cases, ds := r.Cases("m", model(t, []byte(`{"general.architecture": "toy", "toy.embedding_length": 64, "toy.attention.head_count_kv": [8, 0, 8]}`)), nil)
		if want, fault := strings.CutPrefix(c.want, "!"); fault {
			if len(ds) != 1 || !strings.Contains(ds[0].Message, want) || ds[0].Help == "" {
				t.Errorf("%s: %v, want %q", c.expr, ds, want)
			}
			continue
		}
		if len(ds) > 0 || len(cases) == 0 || cases[0].Config[0].Text != c.want {
			t.Errorf("%s: %v %v, want %s", c.expr, cases, ds, c.want)
		}
	}
}

func TestRuleLoops(t *testing.T) {
	r, ds := require.ReadRules(diag.NewSource("r.jsonc", rulesHead+`"groups": {"g": [
		{"name": "{heads} × {tokens}", "export": "e_{heads}", "each": {"heads": "attention.head_count_kv"}, "when": "heads > 0",
		 "workload": {"rows": "tokens"}, "bindings": {"a": "heads * 4", "b": null}}]},
		"architectures": [{"names": ["toy"], "uses": ["g", "g"]}]}`))
	if r == nil {
		t.Fatal(diag.Text(ds))
	}
	cases, ds := r.Cases("m", model(t, []byte(`{"general.architecture": "toy", "toy.attention.head_count_kv": [8, 0, 8, 4]}`)), nil)
	var got []string
	for _, c := range cases {
		got = append(got, fmt.Sprintf("%s %s %d %d", c.Name, c.Export, c.Workload[0].Value, c.Bindings[0].Bytes))
	}
	want := []string{"8 × 1 e_8 1 32", "8 × 2 e_8 2 32", "4 × 1 e_4 1 16", "4 × 2 e_4 2 16"}
	if !slices.Equal(got, want) || len(ds) > 0 || cases[0].Bindings[1].Bytes != -1 {
		t.Errorf("%v, want %v; %v", got, want, ds)
	}
}

func TestRuleFileFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{`, "SHAPES/SYNTAX"},
		{`{"schema": "x"}`, "SHAPES/SCHEMA"},
		{rulesHead + `"more": 1}`, "REQUIRE/KEY"},
		{rulesHead + `"groups": {"g": [{"name": "n"}]}}`, "SHAPES/MISSING"},
		{rulesHead + `"groups": {"g": [{"name": "n", "export": "e", "config": {"k": []}}]}}`, "SHAPES/TYPE"},
		{rulesHead + `"architectures": [{"names": ["a"], "uses": ["h"]}]}`, "SHAPES/GROUP"},
		{rulesHead + `"architectures": [{}]}`, "SHAPES/MISSING"},
		{`{"schema": "loomc-model-rules-v1", "parameters": {"tokens": ["x"]}}`, "SHAPES/TYPE"},
	} {
		r, ds := require.ReadRules(diag.NewSource("r.jsonc", c.text))
		if r != nil || len(ds) == 0 || ds[0].Code != c.want || ds[0].Help == "" {
			t.Errorf("%s: %v, want %s", c.text, ds, c.want)
		}
	}
}

func FuzzReadRules(f *testing.F) {
	f.Add(rulesHead+`"groups": {"g": [{"name": "{a}", "export": "e", "config": {"k": "max(1, a ?? 2)"}}]}, "architectures": [{"names": ["toy"], "uses": ["g"]}]}`, int64(3))
	f.Fuzz(func(t *testing.T, s string, v int64) {
		r, ds := require.ReadRules(diag.NewSource("r", s))
		if r == nil {
			if len(ds) == 0 {
				t.Error("no rules and no finding")
			}
			return
		}
		m := &gguf.File{Metadata: map[string]gguf.Value{"general.architecture": {Kind: gguf.String, Str: "toy"}, "toy.a": {Kind: gguf.Int, Int: v},
			"toy.f": {Kind: gguf.Float, Float: math.Float64frombits(uint64(v))}}}
		r.Cases("m", m, nil)
	})
}
