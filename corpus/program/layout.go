package program

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

// form is what a command takes a value for.
type form struct {
	command *Command
	binding *Binding
	start   int64
	end     int64
	// encodings are the packings of the kernel's views of the binding.
	encodings []require.Layout
	// selectors are config values that choose the binding's format, by the part of
	// the key that follows the binding's name: "format", "layout", "packed".
	selectors map[string]selector
}

type selector struct {
	key, value string
	span       diag.Span
}

// selectorWords are what a config key may end in to choose a format. What stands
// before, in the last part of the key, is the binding: "src1_format".
var selectorWords = []string{"format", "layout", "packed", "packing", "encoding"}

func selectorsOf(c *Command, b *Binding) map[string]selector {
	var out map[string]selector
	for _, x := range c.Config {
		last := x.Key[strings.LastIndexByte(x.Key, '.')+1:]
		rest, ok := strings.CutPrefix(last, b.Name+"_")
		if !ok || !slices.Contains(selectorWords, rest) {
			continue
		}
		if out == nil {
			out = map[string]selector{}
		}
		out[rest] = selector{x.Key, x.Text, x.Span}
	}
	return out
}

// layouts reports values whose consumers take them for something else than their
// producers made of them.
func (p *Program) layouts(runs []*require.Result) diag.List {
	producers := map[string][]form{}
	var ds diag.List
	for i := range p.Commands {
		c := &p.Commands[i]
		var made []form
		for j := range c.Bindings {
			b := &c.Bindings[j]
			f := form{command: c, binding: b, start: b.Offset, end: add(b.Offset, b.Length), selectors: selectorsOf(c, b)}
			if r := runs[i]; r != nil && r.Run != nil {
				if k := slices.IndexFunc(r.Fit.Contract.Bindings, bindingNamed(b.Name)); k >= 0 && k < len(r.Run.Reach) {
					f.encodings = r.Run.Reach[k].Layouts
				}
			}
			if b.Access != corpus.AccessWrite {
				ds.Add(consume(&f, producers[b.Value])...)
			}
			if b.Access != corpus.AccessRead {
				made = append(made, f)
			}
		}
		for _, f := range made {
			// What was there before is gone where the new bytes cover it.
			old := producers[f.binding.Value]
			old = slices.DeleteFunc(slices.Clone(old), func(o form) bool { return o.start >= f.start && o.end <= f.end })
			producers[f.binding.Value] = append(old, f)
		}
	}
	return ds
}

func consume(c *form, producers []form) diag.List {
	var ds diag.List
	packedBy := false
	for i := range producers {
		p := &producers[i]
		if p.end <= c.start || c.end <= p.start || p.command == c.command {
			continue
		}
		if len(p.encodings) > 0 && len(c.encodings) > 0 && !shareEncoding(p.encodings, c.encodings) {
			ds.Add(diag.Errorf(c.binding.Span, "PROGRAM/LAYOUT", "%s reads value '%s' as %s, but %s wrote it as %s", c.command.Name(), c.binding.Value, families(c.encodings), p.command.Name(), families(p.encodings)).
				WithRelated(p.binding.Span, "written here").
				WithRelated(p.encodings[0].Span, "the producer's kernel views it as %s", families(p.encodings)).
				WithRelated(c.encodings[0].Span, "the consumer's kernel views it as %s", families(c.encodings)).
				WithHelp("use a producer and a consumer of one layout, or convert in between"))
		}
		for _, word := range selectorWords {
			a, ok1 := p.selectors[word]
			b, ok2 := c.selectors[word]
			if word == "packed" && ok1 && truthy(a.value) {
				packedBy = true
			}
			if ok1 && ok2 && a.value != b.value {
				ds.Add(diag.Errorf(b.span, "PROGRAM/LAYOUT", "%s reads value '%s' with %s = %s, but %s wrote it with %s = %s", c.command.Name(), c.binding.Value, b.key, b.value, p.command.Name(), a.key, a.value).
					WithRelated(a.span, "the producer's choice").WithHelp("give both the same %s", word))
			}
		}
	}
	if s, ok := c.selectors["packed"]; ok && truthy(s.value) && !packedBy && !conflicts(ds) {
		ds.Add(diag.Errorf(s.span, "PROGRAM/LAYOUT", "%s reads value '%s' as packed (%s = %s), but no command packs it", c.command.Name(), c.binding.Value, s.key, s.value).
			WithRelated(c.binding.Span, "read here").WithHelp("pack the value in the init phase, or choose the unpacked layout"))
	}
	return ds
}

func conflicts(ds diag.List) bool { return len(ds) > 0 }

func truthy(s string) bool { return s != "" && s != "0" && s != "false" }

func shareEncoding(a, b []require.Layout) bool {
	return slices.ContainsFunc(a, func(x require.Layout) bool {
		return slices.ContainsFunc(b, func(y require.Layout) bool { return x.Family == y.Family })
	})
}

func families(ls []require.Layout) string {
	var out []string
	for _, l := range ls {
		out = append(out, "#"+l.Family)
	}
	return strings.Join(out, " and ")
}
