package parser

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Hostile and broken input gives a located error, quickly and in bounded memory,
// and never a panic.
func TestHostileInput(t *testing.T) {
	statement := "  %a = index.add %x, %x : index\n"
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	chain := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i+1, i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		clean      bool
	}{
		{name: "empty", text: "", clean: true},
		{name: "only comments", text: "// nothing\n// here\n", clean: true},
		{name: "NUL", text: "func.def @f() {\x00}"},
		{name: "not UTF-8", text: "func.def @f() { \xff\xfe }"},
		{name: "binary", text: string([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0xc3, 0x28})},
		{name: "truncated body", text: "func.def @f(%x: index) {\n" + statement},
		{name: "truncated string", text: "metadata.module \"abc"},
		{name: "truncated head", text: "func.def @f(%x: ind"},
		{name: "10 MB on one line", text: "func.def @f(%x: index) {" + strings.Repeat(" %a = index.add %x, %x : index", 300_000) + "}"},
		{name: "100,000 open braces", text: "func.def @f() " + strings.Repeat("{", 100_000)},
		{name: "100,000 nested regions", text: "func.def @f(%c: i1) {\n" + strings.Repeat("scf.if %c {\n", 100_000) + strings.Repeat("}\n", 100_001)},
		{name: "100,000 nested types", text: "func.def @f(%c: " + strings.Repeat("vector<", 100_000) + strings.Repeat(">", 100_000) + ") { func.return }"},
		{name: "100,000 nested attributes", text: "amdgpu.target<gfx1151> @t {a = " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}"},
		{name: "1,000,000 statements", text: "func.def @f(%x: index) {\n" + strings.Repeat("  scf.schedule.fence\n", 1_000_000) + "  func.return\n}\n", clean: true},
		{name: "100,000 definitions", text: strings.Repeat("config.decl @a : index\n", 100_000), clean: true},
		{name: "close brackets", text: strings.Repeat(")>]}", 10_000)},
		{name: "1,000,000 unknown definitions", text: strings.Repeat("a.b\n", 1_000_000)},
		{name: "1,000,000 unknown statements", text: "func.def @f() {\n" + strings.Repeat("a.b\n", 1_000_000) + "}"},
		{name: "1,000,000 opaque statements", text: "func.def @f() {\n" + strings.Repeat("low.nop\n", 1_000_000) + "func.return }", clean: true},
		{name: "300,000 values, then unknown names", text: "func.def @f(%x: index) {\n" + numbered(300_000, "%%v%d = index.add %%x, %%x : index\n") + strings.Repeat("test.use %w : index\n", 1000) + "func.return }"},
		{name: "300,000 attributes", text: "amdgpu.target<gfx1151> @t {" + numbered(300_000, "a%d = 1, ") + "}", clean: true},
		{name: "300,000 aliases in a chain", text: "#a = #dense\n#a0 = #a\n" + chain(300_000, "#a%d = #a%d\n"), clean: true},
		{name: "100,000 tied results", text: "func.def @f(%x: index) {\n" + strings.TrimSuffix(numbered(60_000, "%%r%d, "), ", ") + " = func.call @f(" + strings.TrimSuffix(numbered(60_000, "%%u%d, "), ", ") + ") : (" +
			strings.TrimSuffix(strings.Repeat("index, ", 60_000), ", ") + ") -> (" + strings.TrimSuffix(numbered(60_000, "%%u%d as vector<[%%r1]xf32>, "), ", ") + ")\nfunc.return }"},
		{name: "more operands than a list may have", text: "func.def @f(%x: index) {\n test.use " + strings.TrimSuffix(strings.Repeat("%x, ", 70_000), ", ") + " : index\nfunc.return }"},
		{name: "500,000 constraints", text: "config.decl @a : %v: index where [" + strings.TrimSuffix(strings.Repeat("ge(%v, 1), ", 500_000), ", ") + "]"},
		{name: "3,000,000 numbers", text: "metadata.module \"a\" = [" + strings.Repeat("1, ", 3_000_000) + "1]", clean: true},
		{name: "3,000,000 open payloads", text: "func.decl @f " + strings.Repeat("x<", 3_000_000)},
		{name: "3,000,000 open lists", text: "func.decl @f " + strings.Repeat("=[", 3_000_000)},
		{name: "1,000,000 brackets of an opaque op", text: "func.def @f() {\nlow.a " + strings.Repeat("<\n", 1_000_000) + strings.Repeat("(\n%a, ", 1_000_000) + "}"},
		{name: "10 MB of carriage returns in a string", text: "metadata.module \"a\" = \"" + strings.Repeat("\r", 10_000_000) + "\"", clean: true},
		{name: "10 MB of comment", text: "//" + strings.Repeat("x", 10_000_000), clean: true},
		{name: "10 MB of line ends", text: "// a" + strings.Repeat("\n", 10_000_000) + "// b", clean: true},
		{name: "10 MB without a token", text: strings.Repeat("?", 10_000_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			m, l := parseAll("hostile.loom", c.text)
			if took := time.Since(start); took > 10*time.Second { // a second where nothing else runs
				t.Errorf("took %s", took)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if l.HasErrors() == c.clean {
				t.Fatalf("errors: %v, want clean=%v\n%.2000s", l.HasErrors(), c.clean, diag.Text(l))
			}
			for _, d := range l {
				if !d.Span.Valid() || d.Code == "" {
					t.Errorf("diagnostic without a place or code: %s", d.Error())
				}
			}
			if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); len(c.text) > 1_000_000 && held > 40*int64(len(c.text)) {
				t.Errorf("holds %d bytes for %d bytes of text", held, len(c.text))
			}
			runtime.KeepAlive(m)
		})
	}
}

// A file with five faults in five definitions reports five.
func TestEveryFaultIsReported(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "func.def @f%d(%%x: index) -> (index) {\n  %%y = index.add %%x, %%missing%d : index\n  func.return %%y : index\n}\n\n", i, i)
	}
	_, l := parseAll("five.loom", b.String())
	if len(l) != 5 {
		t.Errorf("%d diagnostics, want 5:\n%s", len(l), diag.Text(l))
	}
}

func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		_, l := parseAll("fuzz.loom", text)
		diag.Text(l)
	})
}

func FuzzPrintParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		m, l := parseAll("fuzz.loom", text)
		if len(l) > 0 {
			return
		}
		out := string(loom.Print(m))
		m2, l2 := parseAll("printed.loom", out)
		if len(l2) > 0 {
			t.Fatalf("printed text does not parse:\n%s\n%s", out, diag.Text(l2))
		}
		if again := string(loom.Print(m2)); again != out {
			t.Fatalf("not a fixed point:\n%s\n---\n%s", out, again)
		}
	})
}
