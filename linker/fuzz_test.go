package linker_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

// FuzzLink links whatever the bytes define, in both modes: nothing may panic, a
// failure has a finding, and two runs over one index give the same bytes.
func FuzzLink(f *testing.F) {
	files, err := filepath.Glob("testdata/link/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var parts []string
		for _, x := range ar.Files {
			if strings.HasSuffix(x.Name, ".loom") && !strings.HasPrefix(x.Name, "want.") {
				parts = append(parts, string(x.Data))
			}
		}
		f.Add(strings.Join(parts, "\x00"), "k", "a.n=576")
	}
	f.Fuzz(func(t *testing.T, text, root, binding string) {
		var sources []linker.Source
		for i, part := range strings.Split(text, "\x00") {
			m, _ := parser.Parse(diag.NewSource("f.loom", part))
			role := linker.Primary
			if i > 0 {
				role = linker.Library
			}
			sources = append(sources, linker.Source{Mod: m, Role: role})
		}
		x := linker.NewIndex(sources)
		b, _ := linker.ParseBinding(binding)
		for _, mode := range []linker.Mode{linker.ModeLink, linker.ModeArchive} {
			req := linker.Request{Mode: mode, Roots: []string{root}, Config: []linker.Binding{b}, Target: "gfx1151", RequireResolvedConfig: true}
			res, ds := linker.Link(context.Background(), x, req)
			if len(res.Roots) == 0 && !ds.HasErrors() {
				t.Fatal("no root and no finding")
			}
			again, ds2 := linker.Link(context.Background(), x, req)
			if !bytes.Equal(loom.Print(res.Module), loom.Print(again.Module)) || diag.Text(ds) != diag.Text(ds2) {
				t.Fatal("two links of one request differ")
			}
			for _, r := range res.Roots {
				if r.Def != nil && r.Def.Kind == loom.DefKernel {
					linker.CheckABI(linker.DeriveABI(res.Module, r.Def), linker.ExportRecord{Name: linker.Text{Value: root}})
				}
			}
			linker.SchemaText(res.Configs)
		}
	})
}

// FuzzParseValue reads any text as any type: what is read must print and read
// back as itself.
func FuzzParseValue(f *testing.F) {
	for _, s := range []string{"12", "-7", "true", "1e-5", "inf", "#encoding.operand<element_format=i8, payload_elements=16>", "#a<b=[1,2], c=\"x\", d=#e>", "9223372036854775808", "0x10", "nan"} {
		f.Add(s)
	}
	types := []*loom.Type{
		loom.Scalar(loom.Index), loom.Scalar(loom.Offset), loom.Scalar(loom.I1), loom.Scalar(loom.I8), loom.Scalar(loom.I64),
		loom.Scalar(loom.F16), loom.Scalar(loom.F32), loom.Scalar(loom.F64), {Kind: loom.EncodingKind, Name: "schema"}, loom.BufferType(),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, typ := range types {
			v, err := linker.ParseValue("k", typ, text)
			if err != nil {
				if code := linker.ValueCode(err); code != "CONFIG/TYPE" && code != "CONFIG/RANGE" {
					t.Fatalf("code %s", code)
				}
				continue
			}
			again, err := linker.ParseValue("k", typ, v.String())
			if err != nil {
				t.Fatalf("%s: %q reads as %s, which does not read: %v", typ, text, v, err)
			}
			if again.String() != v.String() {
				t.Fatalf("%s: %q reads as %s, then as %s", typ, text, v, again)
			}
		}
	})
}
