package linker

import (
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// EdgeKind says why one symbol needs another.
type EdgeKind uint8

// Edge kinds.
const (
	EdgeRoot      EdgeKind = iota // asked for
	EdgeExport                    // an exported root, asked for as a group
	EdgeArchive                   // archive mode takes everything
	EdgeCall                      // func.call, template.call
	EdgeLaunch                    // kernel.launch
	EdgeApply                     // the family an apply names
	EdgeProvider                  // an implementation of an applied family or key
	EdgeFamily                    // the family that an implementation belongs to
	EdgeConfig                    // config.get
	EdgeTarget                    // target(@…)
	EdgeGlobal                    // global.load, global.store
	EdgeCase                      // the case a benchmark runs
	EdgeReference                 // any other mention
)

var edgeWords = [...]string{"root", "export", "archive", "call", "launch", "apply", "provider", "family",
	"config", "target", "global", "case", "reference"}

func (k EdgeKind) String() string { return edgeWords[k] }

// reference is one mention of a symbol, or of an older-generation key, in a
// definition.
type reference struct {
	kind EdgeKind
	name string
	key  bool // name is a func.apply key, not a symbol
	span diag.Span
	op   *loom.Op // nil for a mention in the head
}

// scan loads the entry's definition and returns what it refers to, each symbol
// once per edge kind, in order of first mention.
func (e *entry) scan() []reference {
	e.once.Do(e.scanDef)
	return e.refs
}

// configReads returns the config.get operations of the entry's definition.
func (e *entry) configReads() []*loom.Op {
	e.once.Do(e.scanDef)
	return e.gets
}

func (e *entry) scanDef() {
	d := e.def
	d.Load()
	type mention struct {
		kind EdgeKind
		name string
		key  bool
	}
	seen := map[mention]bool{}
	var out []reference
	add := func(r reference) {
		m := mention{r.kind, r.name, r.key}
		if r.name != "" && !seen[m] {
			seen[m] = true
			out = append(out, r)
		}
	}
	add(reference{kind: EdgeTarget, name: d.Mods.Target, span: headSpan(d, d.Mods.Target)})
	switch {
	case d.IsTemplate() && d.Op != nil && d.Op.Dialect() == "template":
		add(reference{kind: EdgeFamily, name: d.Family, span: headSpan(d, d.Family)})
	case d.Kind == loom.DefBenchmark:
		add(reference{kind: EdgeCase, name: d.Family, span: headSpan(d, d.Family)})
	}
	for _, a := range d.Attrs {
		symbols(a.Value, func(name string) { add(reference{kind: EdgeReference, name: name, span: d.NameSpan}) })
	}
	d.Walk(func(o *loom.Op) bool {
		switch o.Name() {
		case "func.apply":
			add(reference{kind: EdgeApply, name: o.Word("contract"), key: true, span: o.NameSpan(), op: o})
		case "config.get":
			e.gets = append(e.gets, o)
		}
		for _, a := range o.Attrs {
			kind := opEdge(o.Name())
			symbols(a.Value, func(name string) { add(reference{kind: kind, name: name, span: o.NameSpan(), op: o}) })
		}
		return true
	})
	e.refs = out
}

// headSpan is the place where the head of d, up to its own name, mentions a
// symbol; the definition's name when it cannot be found.
func headSpan(d *loom.Def, name string) diag.Span {
	if d.Span.Src == nil || d.NameSpan.Start <= d.Span.Start {
		return d.NameSpan
	}
	head := diag.Span{Src: d.Span.Src, Start: d.Span.Start, End: d.NameSpan.Start}.Text()
	for from := len(head); from > 0; {
		i := strings.LastIndex(head[:from], "@"+name)
		if i < 0 {
			break
		}
		if end := i + 1 + len(name); end == len(head) || strings.IndexByte(">) ,\n\t", head[end]) >= 0 {
			at := d.Span.Start + uint32(i)
			return diag.Span{Src: d.Span.Src, Start: at, End: at + uint32(len(name)) + 1}
		}
		from = i
	}
	return d.NameSpan
}

func opEdge(op string) EdgeKind {
	switch op {
	case "func.call", "template.call":
		return EdgeCall
	case "kernel.launch":
		return EdgeLaunch
	case "template.apply":
		return EdgeApply
	case "config.get":
		return EdgeConfig
	case "global.load", "global.store":
		return EdgeGlobal
	}
	return EdgeReference
}

// symbols calls f for every symbol in an attribute.
func symbols(a loom.Attr, f func(string)) {
	switch a.Kind {
	case loom.AttrSymbol:
		f(a.Str)
	case loom.AttrList:
		for _, e := range a.List() {
			symbols(e, f)
		}
	case loom.AttrDict:
		for _, e := range a.Dict() {
			symbols(e.Value, f)
		}
	}
}

// renameSymbols returns a with every symbol replaced by f of it.
func renameSymbols(a loom.Attr, f func(string) string) loom.Attr {
	switch a.Kind {
	case loom.AttrSymbol:
		a.Str = f(a.Str)
	case loom.AttrList:
		old := a.List()
		l := make([]loom.Attr, len(old))
		for i, e := range old {
			l[i] = renameSymbols(e, f)
		}
		a.Aux = l
	case loom.AttrDict:
		old := a.Dict()
		l := make([]loom.NamedAttr, len(old))
		for i, e := range old {
			l[i] = loom.NamedAttr{Name: e.Name, Value: renameSymbols(e.Value, f)}
		}
		a.Aux = l
	}
	return a
}
