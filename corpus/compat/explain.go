package compat

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
)

// Explanation is what an export really accepts, and why.
type Explanation struct {
	Contract *Contract
	// Cases are the configurations that were specialised: the plan cases, or one
	// probe.
	Cases []ExplainedCase
	// Local says how workgroup memory follows a config, one row per value tried
	// with the others left at the first case's.
	Local []LocalRow
	// Buffers are the views of the first case that closes.
	Buffers []BufferUse
	// Choices are the template selections of all cases, each once.
	Choices []TemplateChoice
}

// ExplainedCase is one specialised configuration.
type ExplainedCase struct {
	Name     string
	Geometry *Geometry // nil when it does not close
	Problem  string    // the first error then
}

// LocalRow is workgroup memory for one value of one config.
type LocalRow struct {
	Key, Value string
	Bytes      int64  // -1 when the value is refused
	Problem    string // why
}

// BufferUse is how the kernel looks at one binding.
type BufferUse struct {
	Binding Binding
	NoAlias bool
	Views   []ViewUse
}

// ViewUse is one kind of window into a binding.
type ViewUse struct {
	Type    string // element and extents as written
	Strides string // in elements, by facts
	Offset  string // of element 0, by facts
	Place   string
}

// TemplateChoice is one family's implementation under the facts of a case.
type TemplateChoice struct {
	Family, Chosen string
	Rejected       []string
	Cases          []string
}

// localValues is how many values of a config the table of workgroup memory tries.
const localValues = 6

// Explain describes an export of this corpus.
func (s *Surface) Explain(ctx context.Context, c *Contract) *Explanation {
	x := &Explanation{Contract: c}
	if c.link == nil || !c.OK() {
		return x
	}
	var list []Case
	for _, p := range s.set.Cases(c.Export) {
		list = append(list, Case{p.Name.Value, exports.CaseConfig(p), true})
	}
	if len(list) == 0 {
		if p, ok := probe(c, c); ok {
			list = []Case{p}
		}
	}
	for _, k := range list {
		kern, report, ds := s.close(ctx, c, k.Config)
		e := ExplainedCase{Name: k.Name}
		if kern == nil {
			if d := firstError(ds); d.Code != "" {
				e.Problem = d.Code + ": " + d.Message
			}
		} else {
			e.Geometry = &Geometry{WorkgroupSize: kern.WorkgroupSize, LocalBytes: kern.LocalBytes, Wave: kern.Target.WaveSize}
			for _, l := range kern.Local {
				e.Geometry.Local = append(e.Geometry.Local, fmt.Sprintf("%%%s %d", l.Name, l.Size))
			}
			if x.Buffers == nil {
				x.Buffers = buffersOf(kern, c)
			}
		}
		x.Cases = append(x.Cases, e)
		if report != nil {
			x.choices(report, k.Name)
		}
	}
	if len(list) > 0 {
		x.local(ctx, s, list[0])
	}
	return x
}

// choices adds a report's selections to those seen.
func (x *Explanation) choices(r *linker.Report, name string) {
	for _, sel := range r.Selections {
		i := slices.IndexFunc(x.Choices, func(t TemplateChoice) bool { return t.Family == sel.Family && t.Chosen == sel.Chosen })
		if i < 0 {
			x.Choices = append(x.Choices, TemplateChoice{Family: sel.Family, Chosen: sel.Chosen})
			i = len(x.Choices) - 1
		}
		t := &x.Choices[i]
		for _, why := range sel.Rejected {
			if !slices.Contains(t.Rejected, why) {
				t.Rejected = append(t.Rejected, why)
			}
		}
		if !slices.Contains(t.Cases, name) {
			t.Cases = append(t.Cases, name)
		}
	}
}

// local varies one config at a time from a base configuration and keeps those
// that workgroup memory depends on: where the ends of the set differ, or one of
// them is more than there is, the values in between are tried too.
func (x *Explanation) local(ctx context.Context, s *Surface, base Case) {
	try := func(cfg *Config, v int64) LocalRow {
		row := LocalRow{Key: cfg.Key, Value: fmt.Sprint(v), Bytes: -1}
		g, ds := s.Specialise(ctx, x.Contract, with(base.Config, cfg.Key, row.Value))
		if g != nil {
			row.Bytes = g.LocalBytes
		} else if d := firstError(ds); d.Code != "" {
			row.Problem = d.Code + ": " + d.Message
		}
		return row
	}
	matters := func(rows []LocalRow) bool {
		sizes := map[int64]bool{}
		for _, r := range rows {
			if strings.HasPrefix(r.Problem, "TARGET/051") {
				return true
			}
			if r.Bytes >= 0 {
				sizes[r.Bytes] = true
			}
		}
		return len(sizes) > 1
	}
	for i := range x.Contract.Configs {
		cfg := &x.Contract.Configs[i]
		if !cfg.Integer || cfg.Type == "i1" || cfg.Accepted.IsEmpty() {
			continue
		}
		values := spread(cfg.Accepted)
		var first []LocalRow
		for _, v := range slices.Compact([]int64{values[0], values[len(values)/2], values[len(values)-1]}) {
			first = append(first, try(cfg, v))
		}
		if !matters(first) {
			continue
		}
		for _, v := range values {
			if k := slices.IndexFunc(first, func(r LocalRow) bool { return r.Value == fmt.Sprint(v) }); k >= 0 {
				x.Local = append(x.Local, first[k])
			} else {
				x.Local = append(x.Local, try(cfg, v))
			}
		}
	}
}

// spread picks values across a set: its ends and powers of two in between.
func spread(s linker.AllowedSet) []int64 {
	if n, ok := s.Count(); ok && n <= localValues {
		return s.Elements(localValues)
	}
	lo, _ := s.Min()
	hi, _ := s.Max()
	out := []int64{lo}
	for v := int64(16); v < hi && v <= 1<<12 && len(out) < localValues-1; v *= 2 {
		if near := s.Nearest(v); len(near) > 0 && near[0] > out[len(out)-1] && near[0] < hi {
			out = append(out, near[0])
		}
	}
	if hi < 1<<31 && hi != out[len(out)-1] {
		out = append(out, hi)
	}
	return out
}

func with(config []linker.Binding, key, text string) []linker.Binding {
	return exports.Overlay(config, []linker.Binding{{Key: key, Text: text}})
}

func buffersOf(k *kernel.Kernel, c *Contract) []BufferUse {
	out := make([]BufferUse, len(k.Bindings))
	at := map[*loom.Value]int{}
	for i, b := range k.Bindings {
		at[b.Param] = i
		out[i] = BufferUse{Binding: c.Bindings[min(i, len(c.Bindings)-1)], NoAlias: b.NoAlias}
		out[i].Binding.Align = max(out[i].Binding.Align, b.Align)
	}
	k.Def.Body.Walk(func(o *loom.Op) bool {
		if o.Def.Traits&loom.Fact != 0 {
			for i, r := range o.Results {
				if i >= len(o.Operands) {
					break
				}
				if n, ok := at[o.Operands[i]]; ok {
					at[r] = n
				}
			}
		}
		n, ok := at[o.Operand("buffer")]
		if o.Name() != "buffer.view" || !ok {
			return true
		}
		v := ViewUse{Type: shape(k, o), Strides: strideWords(k, o), Offset: factWords(k.Facts.At(o, o.Operand("byte_offset"))), Place: o.NameSpan().String()}
		if !slices.ContainsFunc(out[n].Views, func(w ViewUse) bool { return w.Type == v.Type && w.Strides == v.Strides && w.Offset == v.Offset }) {
			out[n].Views = append(out[n].Views, v)
		}
		return true
	})
	return out
}

func shape(k *kernel.Kernel, o *loom.Op) string {
	t := o.Result().Type
	var parts []string
	for _, d := range t.Dims {
		if d.Val == nil {
			parts = append(parts, fmt.Sprint(d.Size))
		} else if c, ok := k.Facts.At(o, d.Val).Const(); ok {
			parts = append(parts, fmt.Sprint(c))
		} else {
			parts = append(parts, "%"+k.Facts.Root(d.Val).Name)
		}
	}
	return strings.Join(append(parts, t.Elem.String()), "×")
}

func strideWords(k *kernel.Kernel, o *loom.Op) string {
	t := o.Result().Type
	if t.EncVal == nil {
		if t.Enc.IsDense() {
			return "dense"
		}
		return t.Enc.String()
	}
	d := k.Facts.Root(t.EncVal).Def
	if d == nil || d.Name() != "encoding.layout.strided" {
		return "%" + t.EncVal.Name
	}
	var parts []string
	for _, it := range d.Indices("strides") {
		switch {
		case it.Val == nil:
			parts = append(parts, fmt.Sprint(it.Int))
		default:
			parts = append(parts, factWords(k.Facts.At(o, it.Val)))
		}
	}
	return "strides " + strings.Join(parts, ", ")
}

func factWords(f facts.Fact) string {
	if c, ok := f.Const(); ok {
		return fmt.Sprint(c)
	}
	s := "any"
	if f.Lo != math.MinInt64 && f.Hi != math.MaxInt64 {
		s = fmt.Sprintf("%d…%d", f.Lo, f.Hi)
	}
	if f.Div > 1 {
		s += fmt.Sprintf(", a multiple of %d", f.Div)
	}
	return s
}

// WriteText renders the explanation for a terminal.
func (x *Explanation) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	c := x.Contract
	fmt.Fprintf(b, "%s\n  kernel    @%s at %s\n  source    %s\n", c.ID(), c.Symbol, at(c), c.Source)
	if c.Family != "" {
		fmt.Fprintf(b, "  family    %s\n", c.Family)
	}
	target := c.Processor
	if target == "" {
		target = "any target"
	}
	fmt.Fprintf(b, "  target    %s, subgroups of %d\n", target, c.Wave)
	if !c.OK() {
		d := firstError(c.Problems)
		fmt.Fprintf(b, "  unusable  %s: %s (%s)\n", d.Code, d.Message, d.Span)
	}
	b.WriteString("\nbindings\n")
	for i, bind := range c.Bindings {
		fmt.Fprintf(b, "  %d %s: %s", i, bind.Name, bind.Access)
		if i < len(x.Buffers) {
			if a := x.Buffers[i].Binding.Align; a > 1 {
				fmt.Fprintf(b, ", aligned to %d bytes", a)
			}
			if x.Buffers[i].NoAlias {
				b.WriteString(", apart from the others")
			}
		} else if bind.Align > 1 {
			fmt.Fprintf(b, ", aligned to %d bytes", bind.Align)
		}
		b.WriteByte('\n')
		if i < len(x.Buffers) {
			for _, v := range x.Buffers[i].Views {
				fmt.Fprintf(b, "      view %s, %s", v.Type, v.Strides)
				if v.Offset != "0" {
					fmt.Fprintf(b, ", from byte %s", v.Offset)
				}
				fmt.Fprintf(b, "  (%s)\n", v.Place)
			}
		}
	}
	x.scalars(b, "launch parameters", c.Launch)
	x.scalars(b, "workload parameters", c.Workload)
	for _, r := range c.Relations {
		fmt.Fprintf(b, "  demanded: %s  (%s)\n", r.Text, r.Span)
	}
	if len(c.Configs) > 0 {
		b.WriteString("\nconfig\n")
	}
	for i := range c.Configs {
		x.config(b, &c.Configs[i])
	}
	x.cases(b)
	return b.Flush()
}

func (x *Explanation) scalars(b *bufio.Writer, title string, ss []Scalar) {
	if len(ss) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, s := range ss {
		words := "any " + s.Type
		if s.Integer && !s.Allowed.IsEverything() {
			words = s.Allowed.Words()
		}
		fmt.Fprintf(b, "  %s: %s: %s\n", s.Name, s.Type, words)
	}
}

func (x *Explanation) config(b *bufio.Writer, c *Config) {
	fmt.Fprintf(b, "  %s: %s: %s", c.Key, c.Type, c.Words())
	if !c.Required {
		fmt.Fprintf(b, " (default %s)", c.Default)
	}
	b.WriteByte('\n')
	if c.Doc != "" {
		fmt.Fprintf(b, "      %s\n", strings.Join(strings.Fields(c.Doc), " "))
	}
	for _, r := range c.Reasons {
		where := r.By
		if r.In != "" {
			where += " in @" + r.In
		}
		note := ""
		switch {
		case !r.Exact:
			note = ", with other values"
		case !r.Always:
			note = ", on some paths only"
		}
		fmt.Fprintf(b, "      %s: %s%s  (%s)\n", where, r.Text, note, r.Span)
	}
}

func (x *Explanation) cases(b *bufio.Writer) {
	if len(x.Cases) > 0 {
		b.WriteString("\nlaunch\n")
	}
	for _, c := range x.Cases {
		if c.Geometry == nil {
			fmt.Fprintf(b, "  %s: refused: %s\n", c.Name, c.Problem)
			continue
		}
		fmt.Fprintf(b, "  %s: workgroups of %s, %d bytes of workgroup memory\n", c.Name, sizeWords(c.Geometry.WorkgroupSize), c.Geometry.LocalBytes)
		if len(c.Geometry.Local) > 0 {
			fmt.Fprintf(b, "      %s\n", strings.Join(c.Geometry.Local, ", "))
		}
	}
	if len(x.Local) > 0 {
		fmt.Fprintf(b, "\nworkgroup memory by config (the others as in '%s')\n", x.Cases[0].Name)
		for _, r := range x.Local {
			if r.Bytes < 0 {
				fmt.Fprintf(b, "  %s = %s: refused: %s\n", r.Key, r.Value, r.Problem)
			} else {
				fmt.Fprintf(b, "  %s = %s: %d bytes\n", r.Key, r.Value, r.Bytes)
			}
		}
	}
	if len(x.Choices) > 0 {
		b.WriteString("\ntemplates\n")
	}
	for _, t := range x.Choices {
		chosen := "@" + t.Chosen
		if t.Chosen == "" {
			chosen = "nothing"
		}
		fmt.Fprintf(b, "  %s → %s", t.Family, chosen)
		if len(t.Cases) < len(x.Cases) {
			fmt.Fprintf(b, "  in %s", strings.Join(t.Cases, ", "))
		}
		b.WriteByte('\n')
		for _, r := range t.Rejected {
			fmt.Fprintf(b, "      not %s\n", r)
		}
	}
}
