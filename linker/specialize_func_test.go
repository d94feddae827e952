package linker_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

const functions = `amdgpu.target<gfx1100> @gfx1100
config.def @bias = 5 : i32
config.decl @open : i32
func.template<scale> target(@gfx1100) priority(20) @scale_gfx1100(%v: i32) -> (i32) {
  %two = scalar.constant 2 : i32
  %r = scalar.muli %v, %two : i32
  func.return %r : i32
}
func.template<scale> priority(1) @scale_any(%v: i32) -> (i32) {
  func.return %v : i32
}
func.def @add_bias(%v: i32) -> (i32) {
  %b = config.get @bias : i32
  %r = scalar.addi %v, %b : i32
  func.return %r : i32
}
func.def target(@gfx1100) @on_gfx1100(%v: i32) -> (i32, index) {
  %s = func.apply<scale>(%v) : (i32) -> (i32)
  %r = func.call @add_bias(%s) : (i32) -> (i32)
  %w = target.subgroup.size : index
  func.return %r, %w : i32, index
}
func.def @anywhere(%v: i32) -> (i32) {
  %s = func.apply<scale>(%v) : (i32) -> (i32)
  func.return %s : i32
}
func.def @reads_open() -> (i32) {
  %b = config.get @open : i32
  func.return %b : i32
}
func.def @bad_promise() -> (index) {
  %c = index.constant 3 : index
  %d = index.assume %c [range(%c, 5, 9)] : index
  func.return %d : index
}
func.def @endless(%v: i32) -> (i32) {
  %r = func.call @endless(%v) : (i32) -> (i32)
  func.return %r : i32
}
func.def @lane() -> (index) {
  %i = kernel.workitem.id<x> : index
  func.return %i : index
}
kernel.def @k() {
  %one = index.constant 1 : index
  kernel.launch.config workgroups(%one, %one, %one) workgroup_size(%one, %one, %one) : index
} launch(%n: index) {
  kernel.return
}
`

func TestSpecializeFunc(t *testing.T) {
	m, ds := parser.Parse(diag.NewSource("f.loom", functions))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	before := string(loom.Print(m))
	tg, _ := target.Lookup("gfx1100")
	ctx := context.Background()
	other, _ := target.Lookup("gfx1200")
	for _, c := range []struct {
		root string
		tg   *target.Target
		want string
	}{
		{"on_gfx1100", tg, `func.def target(@gfx1100) @on_gfx1100(%v: i32) -> (i32, index) {
  %two = scalar.constant 2 : i32
  %r = scalar.muli %v, %two : i32
  %b = scalar.constant 5 : i32
  %r_1 = scalar.addi %r, %b : i32
  %w = index.constant 32 : index
  func.return %r_1, %w : i32, index
}`},
		{"anywhere", other, "func.def @anywhere(%v: i32) -> (i32) {\n  func.return %v : i32\n}"},
		{"scale_any", tg, "func.template<scale> priority(1) @scale_any(%v: i32) -> (i32) {\n  func.return %v : i32\n}"},
	} {
		d, report, ds, err := linker.SpecializeFunc(ctx, m, c.root, linker.SpecializeOptions{Target: c.tg})
		if err != nil || ds.HasErrors() || report == nil {
			t.Fatalf("@%s: %v\n%s", c.root, err, diag.Text(ds))
		}
		if got := strings.TrimSpace(string(loom.PrintDef(d))); got != c.want {
			t.Errorf("@%s:\n%s\nwant:\n%s", c.root, got, c.want)
		}
		for _, p := range report.Passes {
			if p.Pass == "layout" || p.Pass == "interface" {
				t.Errorf("@%s: the pass %s ran on a function", c.root, p.Pass)
			}
		}
	}
	for _, c := range []struct {
		root, code string
		tg         *target.Target
	}{
		{"missing", "SYMBOL/002", tg}, {"k", "SYMBOL/003", tg}, {"bias", "SYMBOL/003", tg}, {"anywhere", "TARGET/026", nil},
		{"reads_open", "CONFIG/UNRESOLVED", tg}, {"bad_promise", "TARGET/059", tg}, {"endless", "LOWERING/044", tg},
		{"lane", "TARGET/001", tg},
	} {
		d, _, ds, err := linker.SpecializeFunc(ctx, m, c.root, linker.SpecializeOptions{Target: c.tg})
		if err != nil || d != nil || len(ds) != 1 || ds[0].Code != c.code {
			t.Errorf("@%s: %v, %v\n%swant %s", c.root, d, err, diag.Text(ds), c.code)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if d, _, _, err := linker.SpecializeFunc(ended, m, "anywhere", linker.SpecializeOptions{Target: tg}); d != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gives %v, %v", d, err)
	}
	if after := string(loom.Print(m)); after != before {
		t.Errorf("the module changed:\n%s", after)
	}
}

// A directory of libraries may hold the primary file again; a file of the same
// name with another text is another file.
func TestPrimaryAmongTheLibraries(t *testing.T) {
	parse := func(name, text string) *loom.Module {
		m, ds := parser.Parse(diag.NewSource(name, text))
		if ds.HasErrors() {
			t.Fatal(diag.Text(ds))
		}
		return m
	}
	x := linker.NewIndex([]linker.Source{
		{Mod: parse("./f.loom", functions), Role: linker.Library},
		{Mod: parse("f.loom", functions), Role: linker.Primary},
		{Mod: parse("g.loom", functions), Role: linker.Library},
		{Mod: parse("f.loom", "func.def @other() {\n  func.return\n}\n"), Role: linker.Library},
	})
	var got []string
	for _, s := range x.Sources() {
		got = append(got, s.Role.String()+" "+s.Mod.Source.Name)
	}
	if s := strings.Join(got, ", "); s != "primary f.loom, library g.loom, library f.loom" {
		t.Errorf("sources %s", s)
	}
}
