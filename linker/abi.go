package linker

import (
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// ABI is what a kernel looks like from outside: what a manifest promises of it.
type ABI struct {
	Symbol   string
	Export   string
	Kernel   *loom.Def
	Bindings []ABIBinding // buffer launch parameters, in order
	Launch   []ABIScalar  // the other launch parameters, in order
	Workload []ABIScalar
	// TargetSelector is the processor of the kernel's target record, "" when it
	// names none.
	TargetSelector string
}

// ABIBinding is one buffer parameter.
type ABIBinding struct {
	Name   string
	Access kernel.Access
	Span   diag.Span // the parameter
	// ReadAt and WriteAt are the first operations that read and write it, without
	// a place when nothing does.
	ReadAt, WriteAt diag.Span
}

// ABIScalar is one scalar parameter.
type ABIScalar struct {
	Name string
	Type string // index, i32, f32, …
	Span diag.Span
}

// DeriveABI reads a kernel's ABI off its head and derives the access of every
// binding from the loads, stores and atomics in its body and in all that the
// body may call. m is the linked module that holds k. For a template
// application every implementation in m counts, so a module in which templates
// are not chosen yet can show more access than the specialised kernel has.
func DeriveABI(m *loom.Module, k *loom.Def) *ABI {
	k.Load()
	a := &ABI{Symbol: k.Name, Export: k.ExportName(), Kernel: k}
	uses := (&accessAnalysis{module: m}).kernel(k)
	for _, p := range k.Params {
		if p.Type.Kind == loom.Buffer {
			u := uses[p]
			a.Bindings = append(a.Bindings, ABIBinding{Name: p.Name, Access: u.access, Span: valueSpan(k, p), ReadAt: u.read, WriteAt: u.write})
			continue
		}
		a.Launch = append(a.Launch, ABIScalar{p.Name, p.Type.String(), valueSpan(k, p)})
	}
	for _, p := range k.Workload {
		a.Workload = append(a.Workload, ABIScalar{p.Name, p.Type.String(), valueSpan(k, p)})
	}
	if rec := m.Lookup(k.Mods.Target); rec != nil && rec.Kind == loom.DefTarget {
		rec.Load()
		a.TargetSelector = target.Processor(rec)
	}
	return a
}

// use is what is done to the storage behind a value.
type use struct {
	access      kernel.Access
	read, write diag.Span
}

func (u *use) add(o use) (changed bool) {
	if o.access&kernel.Read != 0 && u.access&kernel.Read == 0 {
		u.access, u.read, changed = u.access|kernel.Read, o.read, true
	}
	if o.access&kernel.Write != 0 && u.access&kernel.Write == 0 {
		u.access, u.write, changed = u.access|kernel.Write, o.write, true
	}
	return changed
}

// summary is what a function does to its parameters, and which of them each
// result may stand for.
type summary struct {
	uses    []use
	results [][]int // parameter positions
}

// accessAnalysis finds which storage parameters are read and written. A value
// stands for a set of parameters; the sets grow until nothing changes, because
// loops carry them round.
type accessAnalysis struct {
	module    *loom.Module
	defs      map[string]*loom.Def
	providers map[string][]*loom.Def
	done      map[*loom.Def]*summary
	busy      map[*loom.Def]bool
}

func (a *accessAnalysis) kernel(k *loom.Def) map[*loom.Value]use {
	a.defs = map[string]*loom.Def{}
	a.providers = map[string][]*loom.Def{}
	a.done = map[*loom.Def]*summary{}
	a.busy = map[*loom.Def]bool{}
	for _, d := range a.module.Defs {
		if d.Name != "" && a.defs[d.Name] == nil && definesSymbol(d) {
			a.defs[d.Name] = d
		}
		if d.IsTemplate() {
			a.providers[d.Family] = append(a.providers[d.Family], d)
		}
	}
	s := a.summarize(k)
	out := make(map[*loom.Value]use, len(k.Params))
	for i, p := range k.Params {
		out[p] = s.uses[i]
	}
	return out
}

func (a *accessAnalysis) summarize(d *loom.Def) *summary {
	if s := a.done[d]; s != nil {
		return s
	}
	d.Load()
	if a.busy[d] || d.Body == nil {
		// Recursion does not occur in valid code. A body that is missing may do
		// anything to what it is given.
		s := &summary{uses: make([]use, len(d.Params)), results: make([][]int, len(d.Results))}
		if d.Body == nil {
			for i, p := range d.Params {
				if isStorage(p.Type) {
					s.uses[i] = use{kernel.Read | kernel.Write, d.NameSpan, d.NameSpan}
				}
			}
		}
		return s
	}
	a.busy[d] = true
	f := &accessFlow{accessAnalysis: a, origins: map[*loom.Value][]int{}, out: &summary{
		uses: make([]use, len(d.Params)), results: make([][]int, len(d.Results))}}
	for i, p := range d.Params {
		if isStorage(p.Type) {
			f.origins[p] = []int{i}
		}
	}
	if b := d.Body.Entry(); b != nil {
		for i, p := range b.Args { // where the entry block has arguments of its own
			if i < len(d.Params) && isStorage(p.Type) {
				f.origins[p] = []int{i}
			}
		}
	}
	for f.changed = true; f.changed; {
		f.changed = false
		d.Body.Walk(func(o *loom.Op) bool { f.op(o); return true })
	}
	delete(a.busy, d)
	a.done[d] = f.out
	return f.out
}

func isStorage(t *loom.Type) bool {
	return t != nil && (t.Kind == loom.Buffer || t.Kind == loom.View || t.Kind == loom.Tensor || t.Kind == loom.Tile)
}

type accessFlow struct {
	*accessAnalysis
	origins map[*loom.Value][]int
	out     *summary
	changed bool
}

// alias lets to stand for whatever from stands for.
func (f *accessFlow) alias(to, from *loom.Value) {
	if to == nil || from == nil {
		return
	}
	for _, i := range f.origins[from] {
		f.origin(to, i)
	}
}

func (f *accessFlow) origin(v *loom.Value, i int) {
	for _, j := range f.origins[v] {
		if i == j {
			return
		}
	}
	f.origins[v] = append(f.origins[v], i)
	f.changed = true
}

func (f *accessFlow) touch(v *loom.Value, u use) {
	for _, i := range f.origins[v] {
		if f.out.uses[i].add(u) {
			f.changed = true
		}
	}
}

func (f *accessFlow) op(o *loom.Op) {
	switch name := o.Name(); name {
	case "func.call", "template.call":
		if callee := f.defs[o.Word("callee")]; callee != nil {
			f.call(o, callee)
		}
	case "func.apply":
		for _, d := range f.providers[o.Word("contract")] {
			f.call(o, d)
		}
	case "template.apply":
		for _, d := range f.providers[o.Word("family")] {
			f.call(o, d)
		}
	case "func.return", "template.return":
		for i, v := range o.Operands {
			if i < len(f.out.results) {
				f.returned(i, v)
			}
		}
	case "scf.yield", "scf.condition":
		f.yield(o)
	case "scf.for", "scf.while":
		f.loop(o)
	case "scf.select":
		f.alias(o.Result(), o.Operand("true_value"))
		f.alias(o.Result(), o.Operand("false_value"))
	case "scf.lookup":
		if n := len(o.Results); n > 0 {
			for i, v := range o.Field("values") {
				f.alias(o.Results[i%n], v)
			}
		}
	case "buffer.view", "view.subview", "view.refine", "buffer.assume.same_root":
		for _, v := range o.Operands {
			if isStorage(v.Type) {
				f.alias(o.Result(), v)
			}
		}
	default:
		if o.Def.Traits&loom.Fact != 0 {
			for i, r := range o.Results {
				if i < len(o.Operands) {
					f.alias(r, o.Operands[i])
				}
			}
		}
	}
	for _, s := range o.Succs {
		for i, v := range s.Args {
			if s.Dest != nil && i < len(s.Dest.Args) {
				f.alias(s.Dest.Args[i], v)
			}
		}
	}
	f.memory(o)
}

// memory records what the op itself does to storage. Copies name their two
// ends; every other op does to each storage operand what its traits say.
func (f *accessFlow) memory(o *loom.Op) {
	t := o.Def.Traits
	if t&(loom.Reads|loom.Writes) == 0 || t&loom.Hint != 0 {
		return
	}
	var u use
	if t&loom.Reads != 0 {
		u.access, u.read = kernel.Read, o.NameSpan()
	}
	if t&loom.Writes != 0 {
		u.access, u.write = u.access|kernel.Write, o.NameSpan()
	}
	source, dest := o.Operand("source"), o.Operand("dest")
	for _, v := range o.Operands {
		switch {
		case !isStorage(v.Type):
		case source != nil && dest != nil && v == source && v != dest:
			f.touch(v, use{access: kernel.Read, read: o.NameSpan()})
		case source != nil && dest != nil && v == dest && v != source:
			f.touch(v, use{access: kernel.Write, write: o.NameSpan()})
		default:
			f.touch(v, u)
		}
	}
}

func (f *accessFlow) call(o *loom.Op, callee *loom.Def) {
	s := f.summarize(callee)
	args := o.Field("operands")
	for i, v := range args {
		if i < len(s.uses) {
			f.touch(v, s.uses[i])
		}
	}
	for i, r := range o.Results {
		if i < len(s.results) {
			for _, p := range s.results[i] {
				if p < len(args) {
					f.alias(r, args[p])
				}
			}
		}
	}
}

func (f *accessFlow) returned(i int, v *loom.Value) {
	for _, p := range f.origins[v] {
		have := false
		for _, q := range f.out.results[i] {
			have = have || p == q
		}
		if !have {
			f.out.results[i] = append(f.out.results[i], p)
			f.changed = true
		}
	}
}

// loop carries the initial values into the body's arguments and, for loops that
// may not run at all, into the results.
func (f *accessFlow) loop(o *loom.Op) {
	init := o.Field("iter_args")
	for i, v := range init {
		if i < len(o.Results) {
			f.alias(o.Results[i], v)
		}
		for _, r := range o.Regions {
			if b := r.Entry(); b != nil {
				if at := len(b.Args) - len(init) + i; at >= 0 && at < len(b.Args) {
					f.alias(b.Args[at], v)
				}
			}
		}
	}
}

// yield hands values to the op around it and, in loops, to the next iteration.
func (f *accessFlow) yield(o *loom.Op) {
	p := o.Parent()
	if p == nil {
		return
	}
	vs := o.Operands
	if o.Name() == "scf.condition" {
		vs = o.Field("forwarded")
	}
	for i, v := range vs {
		if i < len(p.Results) {
			f.alias(p.Results[i], v)
		}
		if p.Name() != "scf.for" && p.Name() != "scf.while" {
			continue
		}
		for _, r := range p.Regions {
			if b := r.Entry(); b != nil {
				if at := len(b.Args) - len(vs) + i; at >= 0 && at < len(b.Args) {
					f.alias(b.Args[at], v)
				}
			}
		}
	}
}
