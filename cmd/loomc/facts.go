package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

func (a *app) factsCommand() *cobra.Command {
	var config configFlags
	var processor string
	c := &cobra.Command{
		Use:     "facts FILE @SYMBOL",
		GroupID: "file",
		Short:   "Print what is known about each value, beside the source",
		Long: `Prints the source of a definition with what loomc knows about the values of each
line: an exact value, or a range, a divisor (×4: a multiple of 4), pow2, finite,
and over which work items the value is the same: grid, workgroup, subgroup, or
varying. Where a branch or loop adds to what is known about a value from outside,
the line that opens it says so after "inside".

Config symbols count as far as the file declares or defines them; --config binds
one. --target, or the kernel's own target, adds subgroup size and launch limits.
The added text is a comment, so the output is still legal source.`,
		Example: "  loomc facts kernel.loom @rms_norm\n  loomc facts kernel.loom @rms_norm --config ggml.rms_norm.columns=4096 --target gfx1151",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTarget(processor); err != nil {
				return err
			}
			bound, l, err := config.bindings(a)
			if err != nil {
				return err
			}
			if err := a.show(l); err != nil {
				return err
			}
			return a.runFacts(c.Context(), args[0], strings.TrimPrefix(args[1], "@"), processor, bound)
		},
	}
	config.add(c)
	c.Flags().StringVar(&processor, "target", "", "processor to assume, for example gfx1151")
	return c
}

func (a *app) runFacts(_ context.Context, file, symbol, processor string, bound []linker.Binding) error {
	src, err := a.readSource(file)
	if err != nil {
		return err
	}
	m, l := parser.Parse(src)
	def := m.Lookup(symbol)
	if def == nil {
		return a.show(append(l, missingSymbol(m, symbol)))
	}
	l = append(l, def.Load()...)
	env, more := factsEnv(m, def, processor, bound)
	if err := a.show(append(l, more...)); err != nil {
		return err
	}
	if _, err := a.out.Write(besideSource(def, facts.Analyze(def, env))); err != nil {
		return failed(fmt.Errorf("write output: %w", err))
	}
	return nil
}

func missingSymbol(m *loom.Module, symbol string) diag.Diagnostic {
	d := diag.Errorf(diag.Span{Src: m.Source}, "SYMBOL/002", "this file defines no symbol '@%s'", symbol)
	var names []string
	for _, o := range m.Defs {
		if o.Kind != loom.DefAlias {
			names = append(names, o.Name)
		}
	}
	if near := dialect.Nearest(symbol, names); near != "" {
		return d.WithHelp("did you mean '@%s'?", near)
	}
	return d
}

// factsEnv is what is known from outside def: the file's configs with the values
// bound on the command line, and the target.
func factsEnv(m *loom.Module, def *loom.Def, processor string, bound []linker.Binding) (facts.Env, diag.List) {
	var ds diag.List
	values := map[string]loom.Attr{}
	configs := map[string]*loom.Def{}
	var known []string
	for _, d := range m.Defs {
		if d.Kind == loom.DefConfigDecl || d.Kind == loom.DefConfigDef {
			ds = append(ds, d.Load()...)
			configs[d.Name] = d
			known = append(known, d.Name)
			if d.Kind == loom.DefConfigDef {
				values[d.Name] = d.Init
			}
		}
	}
	for _, b := range bound {
		d := configs[b.Key]
		if d == nil {
			ds.Add(linker.UnknownConfig(b, known).WithHelp("this file declares: %s", strings.Join(known, ", ")))
			continue
		}
		if d.ConfigType == nil {
			continue // its own fault is reported
		}
		v, err := linker.ParseValue(b.Key, d.ConfigType, b.Text)
		if err != nil {
			ds.Add(diag.Errorf(b.Span, "CONFIG/TYPE", "%v", err).WithRelated(d.NameSpan, "the config is declared here"))
			continue
		}
		if f := facts.Declared(d); isInteger(v) && f.Contradicts(facts.Exact(v.Int)) {
			ds.Add(diag.Errorf(b.Span, "CONFIG/INVALID", "value %d of config '@%s' breaks its declaration: %s", v.Int, b.Key, f.Known()).
				WithRelated(d.NameSpan, "the config is declared here").
				WithHelp("bind a value that the declaration allows"))
			continue
		}
		values[b.Key] = v
	}
	env := facts.Env{
		Config: func(key string) (facts.Fact, bool) {
			if v, ok := values[key]; ok && isInteger(v) {
				return facts.Exact(v.Int), true
			}
			if d := configs[key]; d != nil && d.Kind == loom.DefConfigDecl {
				return facts.Declared(d), true
			}
			return facts.Fact{}, false
		},
		ConfigFloat: func(key string) (float64, bool) {
			v, ok := values[key]
			return v.Float(), ok && v.Kind == loom.AttrFloat
		},
	}
	record := m.Lookup(def.Mods.Target)
	if record != nil && (record.Kind != loom.DefTarget || record.Load().HasErrors()) {
		record = nil
	}
	if record == nil && processor == "" {
		return env, ds
	}
	t, l := target.Resolve(record, processor)
	ds = append(ds, l...)
	if t != nil {
		env.WaveSize, env.MaxWorkgroupSize = int64(t.WaveSize), int64(t.MaxWorkgroupSize)
		env.MaxWorkgroupDim, env.MaxGridDim = t.MaxWorkgroupDim, t.MaxGridDim
	}
	return env, ds
}

func isInteger(a loom.Attr) bool { return a.Kind == loom.AttrInt || a.Kind == loom.AttrBool }

// note is one fact to print beside a line.
type note struct {
	name   string // of the value, with '%'
	text   string
	inside bool // holds in the region that the line opens
	plain  bool // result of a simple statement: needs no name when alone
}

// maxSourceColumn is where facts start at the latest; longer lines push theirs
// to the right.
const maxSourceColumn = 88

// besideSource returns the source lines of def, each with the facts of the values
// that are named on it.
func besideSource(def *loom.Def, set *facts.Set) []byte {
	n := &notes{set: set, src: def.Span.Src, at: map[int][]note{}, refines: map[*loom.Op][]*loom.Value{}}
	for _, r := range set.Rows() {
		if r.Refined && !slices.Contains(n.refines[r.Op], r.Value) {
			n.refines[r.Op] = append(n.refines[r.Op], r.Value)
		}
	}
	n.head(def)
	def.Regions(n.region)
	first, _ := n.src.LineCol(int(def.Span.Start))
	last, _ := n.src.LineCol(max(int(def.Span.End)-1, 0))
	width := 0
	for line := range n.at {
		if w := utf8.RuneCountInString(n.src.Line(line)); w <= maxSourceColumn {
			width = max(width, w)
		}
	}
	var b []byte
	for line := first; line <= last; line++ {
		text := n.src.Line(line)
		b = append(b, text...)
		if ns := n.at[line]; len(ns) > 0 {
			for range max(0, width-utf8.RuneCountInString(text)) {
				b = append(b, ' ')
			}
			b = append(append(b, "  // "...), joinNotes(ns)...)
		}
		b = append(b, '\n')
	}
	return b
}

func joinNotes(ns []note) string {
	var parts []string
	for _, inside := range []bool{false, true} {
		var words []string
		for _, x := range ns {
			if x.inside != inside {
				continue
			}
			if x.plain && len(ns) == 1 {
				words = append(words, x.text)
			} else {
				words = append(words, x.name+" "+x.text)
			}
		}
		if len(words) == 0 {
			continue
		}
		text := strings.Join(words, "; ")
		if inside {
			text = "inside: " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

type notes struct {
	set *facts.Set
	src *diag.Source
	at  map[int][]note
	// refines lists the values that the regions of an operation tell more about.
	refines map[*loom.Op][]*loom.Value
}

func (n *notes) add(offset uint32, x note) {
	line, _ := n.src.LineCol(int(offset))
	n.at[line] = append(n.at[line], x)
}

// value notes what is known about v where it is named. Buffers, views and
// encodings have no facts.
func (n *notes) value(v *loom.Value, plain bool) {
	if v.Type == nil || !v.Type.Element().IsScalar() || v.Type.Kind == loom.View || v.Type.Kind == loom.Tensor || v.Type.Kind == loom.Tile {
		return
	}
	text := n.set.Of(v).String()
	if f, ok := n.set.Float(v); ok {
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	n.add(v.Pos, note{name: "%" + v.Name, text: text, plain: plain})
}

func (n *notes) head(def *loom.Def) {
	if def.ConfigType != nil && def.ConfigType.Kind.IsScalar() {
		n.config(def)
	}
	for _, v := range def.Workload {
		n.value(v, false)
	}
	if def.Kind != loom.DefGlobal { // whose parameters are the unknown parts of its type
		for _, v := range def.Params {
			n.value(v, false)
		}
	}
}

func (n *notes) config(def *loom.Def) {
	x := note{name: "@" + def.Name, plain: true}
	switch {
	case def.Kind == loom.DefConfigDecl:
		x.text = facts.Declared(def).String()
	case isInteger(def.Init):
		x.text = facts.Exact(def.Init.Int).String()
	default:
		return
	}
	n.add(def.NameSpan.Start, x)
}

func (n *notes) region(r *loom.Region) {
	n.refined(r)
	for _, b := range r.Blocks {
		for _, v := range b.Args {
			n.value(v, false)
		}
		for _, op := range b.Ops {
			for _, v := range op.Results {
				n.value(v, len(op.Regions) == 0)
			}
			for _, in := range op.Regions {
				n.region(in)
			}
		}
	}
}

// refined notes what entering the region adds to the facts of values from
// outside.
func (n *notes) refined(r *loom.Region) {
	b := r.Entry()
	if r.Op == nil || b == nil || len(b.Ops) == 0 || !r.Span.Valid() {
		return
	}
	for _, v := range n.refines[r.Op] {
		if slices.Contains(r.Op.Operands, v) && v.Type.Kind == loom.I1 {
			continue // the condition itself
		}
		if in := n.set.At(b.Ops[0], v); in != n.set.At(r.Op, v) {
			n.add(r.Span.Start, note{name: "%" + v.Name, text: in.String(), inside: true})
		}
	}
}
