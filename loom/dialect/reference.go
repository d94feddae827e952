package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
)

//go:generate go run ../../tools/opdoc ../../docs/ops.md

// TraitWords lists the traits in words.
func TraitWords(t loom.Traits) []string {
	var out []string
	for _, w := range []struct {
		bit  loom.Traits
		word string
	}{
		{loom.Pure, "pure"}, {loom.Terminator, "terminator"}, {loom.Convergent, "convergent"}, {loom.Reads, "reads memory"},
		{loom.Writes, "writes memory"}, {loom.Commutative, "commutative"}, {loom.KernelOnly, "inside kernels only"},
		{loom.CheckOnly, "inside check.case only"}, {loom.ModuleLevel, "module level"}, {loom.Fact, "identity with facts"},
		{loom.ElementWise, "element-wise"}, {loom.Hint, "hint"},
	} {
		if t&w.bit != 0 {
			out = append(out, w.word)
		}
	}
	return out
}

// customForms spells the format pieces that have a rule of their own.
var customForms = map[string]string{
	"iv": "%i", "binds": "(%b = %init : T, …)", "results": "-> (T, …)",
	"loophints": "[pipeline(%d)] [unroll(%n) | unroll] [schedule(linear|interleaved|recurrence)]",
	"blockargs": "(%a: T, …)", "cases": "{ case N { … } … default { … } }", "rows": "{ N = (%v, …), … } default(%v, …)",
	"isatype": " : T(encoding) (newer) | : i1 (older, with a category)", "args": "(%a, …) : (T, …) [-> (R, …)]", "launch": "[%workload, …](%a, …) : [index, …](T, …)",
	"barrier": "<space> scope(scope) ordering(ordering)  |  <space> {ordering = …, scope = …}",
	"alloca":  "<space> [align(N)] %bytes  |  %bytes {base_alignment = N, memory_space = space}",
	"pack":    "[align(N) %n, …]", "edict": "[{name = %v : T, …}]", "using": "[using {name = %v : T, …}]",
}

// FormText is the op's assembly format for people: optional parts in brackets,
// enumerations spelled out.
func FormText(d *loom.OpDef) string {
	d.Compile()
	var b strings.Builder
	form(&b, d.Elems)
	return strings.TrimSpace(b.String())
}

func form(b *strings.Builder, es []loom.Elem) {
	for i := range es {
		e := &es[i]
		if e.Space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch e.Kind {
		case loom.ElemLit:
			b.WriteString(e.Name)
		case loom.ElemOperand:
			b.WriteString("%" + e.Name)
		case loom.ElemOperands:
			b.WriteString("%" + e.Name + ", …")
		case loom.ElemIndices:
			b.WriteString("[" + e.Name + "]")
		case loom.ElemDict:
			b.WriteString("[{attributes}]")
		case loom.ElemType:
			b.WriteString("T(" + e.Name + ")")
		case loom.ElemTypes:
			b.WriteString("T(" + e.Name + "), …")
		case loom.ElemParams:
			formParams(b, e)
		case loom.ElemAttr:
			b.WriteString(kindText(e.Name, e.Attr))
		case loom.ElemFlag:
			b.WriteString("[" + strings.Join(e.Words, "|") + "]")
		case loom.ElemSymbol:
			b.WriteString("@" + e.Name)
		case loom.ElemSucc:
			b.WriteString("^" + e.Name + "[(%arg: T, …)]")
		case loom.ElemRegion:
			b.WriteString("{ " + e.Name + " }")
		case loom.ElemGroup:
			b.WriteByte('[')
			var g strings.Builder
			form(&g, e.Group)
			b.WriteString(strings.TrimSpace(g.String()))
			b.WriteByte(']')
		case loom.ElemCustom:
			b.WriteString(customForms[e.Name])
		}
	}
}

func formParams(b *strings.Builder, e *loom.Elem) {
	if e.Optional {
		b.WriteByte('[')
	}
	b.WriteByte('<')
	for i, p := range e.Params {
		if p.Optional && i > 0 {
			b.WriteByte('[')
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(kindText(p.Name, p.Kind))
		if p.Optional && i > 0 {
			b.WriteByte(']')
		}
	}
	b.WriteByte('>')
	if e.Optional {
		b.WriteByte(']')
	}
}

// kindText names an attribute: the words of an enumeration, else its name.
func kindText(name, kind string) string {
	if ws := loom.Enums[kind]; ws != nil && len(ws) <= 4 {
		return strings.Join(ws, "|")
	}
	if kind == "symbol" {
		return "@" + name
	}
	return name
}

// Reference renders the whole op table as a Markdown page.
func Reference() string {
	var b strings.Builder
	b.WriteString("# Operations\n\nGenerated from the op table by `go generate ./loom/dialect`; `loomc explain OP` prints the same.\n")
	b.WriteString("`[…]` marks optional parts, `T(x)` the type of x. Sets in type rules: see the end of the page.\n")
	dialectName := ""
	for _, d := range Ops().All() {
		if d.Dialect() == "test" {
			continue
		}
		if n := d.Dialect(); n != dialectName {
			dialectName = n
			fmt.Fprintf(&b, "\n## %s\n", n)
		}
		f, module := strings.CutPrefix(d.Types, "form ")
		if !module {
			f = FormText(d)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n```\n%s\n```\n", d.Name, d.Doc, strings.TrimSpace(d.Name+" "+f))
		if d.Types != "" && !module {
			fmt.Fprintf(&b, "\nTypes: `%s`\n", strings.ReplaceAll(d.Types, ";", "`; `"))
		}
		for i, a := range d.Attrs {
			if i == 0 {
				b.WriteString("\nAttributes:\n\n")
			}
			req := ""
			if a.Required {
				req = ", required"
			}
			fmt.Fprintf(&b, "- `%s` (%s%s) %s\n", a.Name, a.Kind, req, a.Doc)
		}
		if t := TraitWords(d.Traits &^ loom.ModuleLevel); len(t) > 0 {
			fmt.Fprintf(&b, "\nTraits: %s.\n", strings.Join(t, ", "))
		}
	}
	b.WriteString("\n## Enumerations\n\n")
	names := make([]string, 0, len(loom.Enums))
	for n := range loom.Enums {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(&b, "- `%s`: %s\n", n, strings.Join(loom.Enums[n], ", "))
	}
	b.WriteString("\n## Predicates\n\n")
	for _, p := range loom.PredDefs {
		old := ""
		if p.Old {
			old = " (older generation)"
		}
		fmt.Fprintf(&b, "- `%s`, %d arguments: %s%s\n", p.Name, p.Arity, p.Doc, old)
	}
	return b.String()
}
