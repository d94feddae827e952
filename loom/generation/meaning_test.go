package generation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/generation"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

// closed links and specialises a kernel of a one-file program and returns what
// is left, in the newer spelling: no templates, no configs, no calls. Two texts
// of one meaning close to the same text.
func closed(text, kernel string) (string, error) {
	m, ds := parser.Parse(diag.NewSource("in.loom", text))
	if ds.HasErrors() {
		return "", ds
	}
	ctx := context.Background()
	x := linker.NewIndex([]linker.Source{{Mod: m, Role: linker.Primary}})
	req := linker.Request{Roots: []string{kernel}, Target: "gfx1151", StripCheck: true}
	first, _ := linker.Link(ctx, x, req)
	for _, c := range first.Configs {
		value := "1.0"
		if c.Integer {
			allowed := c.Allowed
			for _, p := range c.Promises {
				if p.Exact {
					allowed = allowed.Intersect(p.Set)
				}
			}
			value = "1024"
			if near := allowed.Nearest(1024); len(near) > 0 {
				value = fmt.Sprint(near[0])
			}
		}
		req.Config = append(req.Config, linker.Binding{Key: c.Key, Text: value})
	}
	res, ds := linker.Link(ctx, x, req)
	if ds.HasErrors() {
		return "", ds
	}
	tg := res.Roots[0].Target
	if tg == nil {
		tg, _ = target.Lookup("gfx1151")
	}
	k, _, ds, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: tg})
	if err != nil {
		return "", err
	}
	if ds.HasErrors() {
		return "", ds
	}
	out, ds := convert("closed.loom", string(loom.PrintDef(k.Def)), generation.New)
	return out, ds.Err()
}

// sameMeaning compares every kernel of a text before and after conversion and
// returns how many it could close.
func sameMeaning(t *testing.T, name, text string, to generation.Generation) int {
	t.Helper()
	m, l := parse(name, text)
	out, refused := convert(name, text, to)
	if l.HasErrors() || refused.HasErrors() {
		return 0
	}
	n := 0
	for _, d := range m.Defs {
		if d.Kind != loom.DefKernel {
			continue
		}
		before, err := closed(text, d.Name)
		if err != nil {
			t.Logf("%s: @%s does not close: %v", name, d.Name, err)
			continue
		}
		n++
		after, err := closed(out, d.Name)
		if err != nil {
			t.Errorf("%s: @%s does not close after conversion to %s: %v", name, d.Name, to, err)
		} else if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: @%s means something else after conversion to %s (-before +after):\n%s", name, d.Name, to, diff)
		}
	}
	return n
}

func TestMeaning(t *testing.T) {
	n := 0
	for _, file := range archives(t) {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []generation.Generation{generation.New, generation.Old} {
			n += sameMeaning(t, filepath.Base(file), string(ar.Files[0].Data), to)
		}
	}
	if n < 8 {
		t.Errorf("only %d kernels were compared", n)
	}
}

func TestMeaningOfReferenceTree(t *testing.T) {
	dir := os.Getenv("LOOM_REFERENCE")
	if dir == "" {
		t.Skip("LOOM_REFERENCE names no directory with .loom files: meaning of a reference tree not compared")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".loom") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			n += sameMeaning(t, path, string(text), generation.New)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kernels mean the same", n)
}
