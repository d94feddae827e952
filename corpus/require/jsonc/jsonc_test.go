package jsonc_test

import (
	"strings"
	"testing"

	"github.com/loomc/loomc/corpus/require/jsonc"
	"github.com/loomc/loomc/loom/diag"
)

func TestParse(t *testing.T) {
	src := diag.NewSource("a.jsonc", "{\n  // A remark.\n  \"a\": [1, 2.5, \"x\\ny\", true, null,],\n  \"b\": {\"c\": 9007199254740993, \"d\": 1e3, \"e\": \"12\"},\n}\n")
	v, ds := jsonc.Parse(src, "X/SYNTAX", "test file")
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	a := v.Get("a")
	if a.Kind != jsonc.Array || len(a.Items) != 5 || a.Items[2].Str() != "x\ny" || a.Items[4].Kind != jsonc.Null || a.Items[3].Text != "true" {
		t.Errorf("%+v", a)
	}
	if line, col := a.Items[1].Span.LineCol(); line != 3 || col != 12 {
		t.Errorf("2.5 is at %d:%d", line, col)
	}
	if _, ok := a.Items[1].Int(); ok {
		t.Error("2.5 is an integer")
	}
	for key, want := range map[string]int64{"c": 9007199254740993, "d": 1000, "e": 12} {
		if n, ok := v.Get("b").Get(key).Int(); !ok || n != want {
			t.Errorf("%s is %d, want %d", key, n, want)
		}
	}
	var absent *jsonc.Value
	if absent.Get("x") != nil || absent.Str() != "" {
		t.Error("nil has members")
	}
	if _, ok := v.Scalar(); ok {
		t.Error("an object is a scalar")
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\n  \"a\": 1,\n  b\n}", "x:3:3: error: X/SYNTAX: malformed test file"},
		{"", "x:1:1: error: X/SYNTAX: malformed test file"},
		{strings.Repeat("[", 300), "x:1:1: error: X/SYNTAX: malformed test file: nested too deeply"},
		{`{"a": 1, "a": 2}`, "x:1:10: error: X/SYNTAX: key 'a' comes twice"},
		{`{"a0":0,"a1":0,"a2":0,"a3":0,"a4":0,"a5":0,"a6":0,"a7":0,"a8":0,"a9":0,"b0":0,"b1":0,"b2":0,"b3":0,"b4":0,"b5":0,"b6":0,"a0":1}`, "x:1:121: error: X/SYNTAX: key 'a0' comes twice"},
	} {
		_, ds := jsonc.Parse(diag.NewSource("x", c.text), "X/SYNTAX", "test file")
		if len(ds) != 1 || !strings.HasPrefix(ds[0].Error(), c.want) || ds[0].Help == "" {
			t.Errorf("%.20q: %v, want %s", c.text, ds, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a": [1, "b", {"c": null}], /* x */ "d": true,}`)
	f.Fuzz(func(t *testing.T, s string) {
		v, ds := jsonc.Parse(diag.NewSource("x", s), "X/SYNTAX", "test file")
		if v == nil && len(ds) == 0 {
			t.Error("no value and no finding")
		}
	})
}
