package parser

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Definitions may be loaded from any goroutine in any order: the module is the
// same.
func TestDefinitionsLoadInAnyOrder(t *testing.T) {
	text := "#a = #dense\n#b = #a\nfunc.decl @aliased(%x: view<4xf32, #b>)\n" + bundledText(t, 100<<10)
	serial, l := parseAll("a.loom", text)
	if len(l) > 0 {
		t.Fatal(diag.Text(l))
	}
	want := string(loom.Print(serial))
	m, _ := Parse(diag.NewSource("a.loom", text))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range m.Defs {
				m.Defs[len(m.Defs)-1-(i*(w+1))%len(m.Defs)].Load()
			}
		})
	}
	wg.Wait()
	m.Load()
	if got := string(loom.Print(m)); got != want {
		t.Error("loading from several goroutines gives another module")
	}
}

// Heads of one shape share what the grammar made of the first: nothing of its
// text may show in the others.
func TestHeadsOfOneShape(t *testing.T) {
	text := `config.decl @a : %v: index where [range(%v, 1, 64)]
config.decl @b.c : %w: index where [range(%w, -2, 16)]
module.import "one" [@x]
module.import "two" [@y]
metadata.module "k" = [1, 2]
metadata.module "l" = ["three"]
func.def export("first") @f(%a: i32) -> (i32) where [lt(%a, 1)] {
  func.return %a : i32
}
func.def export("second") @g(%b: view<[%n]xf32>, %n: index) -> (f32, %n as index) where [lt(%n, 2)] {
  %x = scalar.constant 1.5 : f32
  func.return %x, %n : f32, index
}
`
	m, l := parseAll("in.loom", text)
	if len(l) > 0 {
		t.Fatal(diag.Text(l))
	}
	if got := string(loom.Print(m)); got != text {
		t.Errorf("printed:\n%s", got)
	}
	// A head that the grammar refuses is refused again, at its own place.
	_, l = parseAll("in.loom", strings.Repeat("func.decl @f(%a: i32) ->\n", 2))
	if len(l) != 2 || l[0].Span.Start == l[1].Span.Start {
		t.Errorf("want a fault in each head:\n%s", diag.Text(l))
	}
}

// A grammar result outlives the file of the first head of its shape: it must not
// hold that file's text.
func TestShapesHoldNoSource(t *testing.T) {
	var list tokenList
	list.read("func.def hot @some.name(%x: f32) -> (f32) { }", 0, nil)
	lex := shapeLexer{list: &list, shape: string(list.shape)}
	var got []string
	for {
		tok, err := lex.Next()
		if err != nil {
			t.Fatal(err)
		}
		if tok.EOF() {
			break
		}
		got = append(got, tok.Value)
	}
	if want := []string{"func.def", "hot", "", "", "", "", ""}; !slices.Equal(got, want) {
		t.Errorf("tokens carry %q, want %q", got, want)
	}
}
