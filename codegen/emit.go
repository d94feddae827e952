package codegen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
)

// Options select what the text shows besides the kernel itself.
type Options struct {
	// Line writes #line directives back to the Loom source.
	Line bool
	// Tool and Corpus identify the generator and the corpus commit in the header;
	// empty ones are left out.
	Tool, Corpus string
	// NoHeader leaves out the comment that says what the text was made from.
	NoHeader bool
}

// Unit is one emitted kernel.
type Unit struct {
	Source []byte
	Symbol string // name of the __global__ function
	Export string
	Target string // processor the code was chosen for, e.g. gfx1151
	// WaveSize is 32 or 64; 64 needs -mwavefrontsize64 on processors that run both.
	WaveSize      int
	WorkgroupSize [3]int64
	// LocalBytes is all workgroup storage the kernel uses: allocations plus
	// ScratchBytes for workgroup reductions and scans.
	LocalBytes, ScratchBytes int64
	ABI                      ABI
	piece                    piece
	// Parts names the prelude parts the text contains.
	Parts []string
}

// CodeUnsupported is the code of diagnostics about what a target cannot do.
const CodeUnsupported = "CODEGEN/UNSUPPORTED"

type emitter struct {
	k      *kernel.Kernel
	opt    Options
	facts  *facts.Set
	t      *tree
	names  *names
	cvars  slab[cvar]
	bound  slab[binding]
	vals   map[*loom.Value]*binding
	users  map[*loom.Value][]*loom.Op
	lins   map[*loom.Value]lin
	diags  diag.List
	op     *loom.Op
	module *loom.Module
	table  map[string]emitFunc

	carriers map[*loom.Value]carrier
	made     map[*loom.Value]facts.Fact // facts of values the emitter made
	cfg      bool                       // inside a multi-block region: variables are declared up front
	decls    *declList

	wave   int
	wgSize [3]int64
	items  int64 // of a workgroup; the most there can be when the size is the launch's
	// varies says that the launch decides the size of a workgroup, ragged that this
	// may leave its last wave partly filled.
	varies, ragged bool
	scratch        scratchPlan
	params         map[*loom.Value]*cvar
	loops          int      // nesting of loops around the current op
	rolled         *loom.Op // the innermost loop around the current op, if it is not unrolled
	offsets        map[offsetKey]string
	readers        map[*loom.Value][]*loom.Op // who reads a value, made on demand
	slots          map[*loom.Value]*slot      // views and buffers that control flow carries
}

// binding is what a value is in the emitted text.
type binding struct {
	cv   *cvar  // variable that holds it, or nil
	lit  string // expression used instead of a variable
	view *viewRef
	buf  *bufRef
	enc  *loom.Op // encoding: defining op
}

// Emit writes the kernel k as HIP C++. The unit is nil when the diagnostics hold
// an error.
func Emit(k *kernel.Kernel, opt Options) (*Unit, diag.List) {
	values := countValues(k)
	names := newNames(values)
	e := &emitter{
		k: k, opt: opt, facts: k.Facts, t: newTree(names), names: names,
		vals: make(map[*loom.Value]*binding, values), lins: map[*loom.Value]lin{},
		carriers: make(map[*loom.Value]carrier, 256), params: map[*loom.Value]*cvar{}, slots: map[*loom.Value]*slot{}, offsets: map[offsetKey]string{},
		table: table(), module: k.Def.Mod, made: map[*loom.Value]facts.Fact{},
	}
	e.wave = 32
	if k.Target != nil && k.Target.WaveSize != 0 {
		e.wave = k.Target.WaveSize
	}
	e.groupSize()
	e.collectUsers()
	e.planScratch()
	abi := e.signature()
	e.facts = k.Facts
	e.region(k.Def.Body)
	if e.diags.HasErrors() {
		return nil, e.diags.Sorted()
	}
	e.t.sweep()
	u := &Unit{
		Symbol: k.Symbol, Export: k.Export, Target: e.targetName(), WaveSize: e.wave, WorkgroupSize: e.wgSize, ABI: abi,
		LocalBytes: e.localBytes(), ScratchBytes: e.scratch.bytes,
	}
	if err := e.assemble(u); err != nil {
		e.diags.Add(diag.Errorf(k.Def.NameSpan, "CODEGEN/INTERNAL", "%v", err).WithHelp("report this kernel with its config as a fault of loomc"))
		return nil, e.diags.Sorted()
	}
	if lim := e.ldsLimit(); lim > 0 && u.LocalBytes > lim {
		e.diags.Add(e.ldsDiag(u.LocalBytes, lim))
		return nil, e.diags.Sorted()
	}
	return u, e.diags.Sorted()
}

// countValues is how many values the body of k has, so that maps keyed by value
// or name are made large enough at once.
func countValues(k *kernel.Kernel) int {
	n := 0
	k.Def.Body.Walk(func(o *loom.Op) bool {
		n += len(o.Results)
		return true
	})
	return n
}

func (e *emitter) targetName() string {
	if e.k.Target == nil {
		return "generic"
	}
	return e.k.Target.Processor
}

func (e *emitter) family() string {
	if e.k.Target == nil {
		return ""
	}
	return e.k.Target.Family
}

func (e *emitter) ldsLimit() int64 {
	if e.k.Target == nil {
		return 0
	}
	return int64(e.k.Target.LDSBytes)
}

func (e *emitter) localBytes() int64 {
	return e.scratch.base + e.scratch.bytes
}

func (e *emitter) ldsDiag(need, limit int64) diag.Diagnostic {
	var parts []string
	for _, l := range e.k.Local {
		parts = append(parts, fmt.Sprintf("%%%s %d", l.Name, l.Size))
	}
	if e.scratch.bytes > 0 {
		parts = append(parts, fmt.Sprintf("reduction scratch %d", e.scratch.bytes))
	}
	d := diag.Errorf(e.k.Def.NameSpan, "TARGET/051", "kernel '@%s' needs %d bytes of workgroup memory (%s); target '%s' has %d",
		e.k.Symbol, need, strings.Join(parts, " + "), e.targetName(), limit).
		WithHelp("choose smaller tiles in the config, or share one allocation between buffers whose lifetimes do not overlap")
	for _, l := range e.k.Local {
		if l.Alloca != nil {
			d = d.WithRelated(l.Alloca.NameSpan(), "%%%s reserves %d bytes", l.Name, l.Size)
		}
	}
	return d
}

// collectUsers notes who uses index-like values, and results of ops that must run
// even when nobody does.
func (e *emitter) collectUsers() {
	e.users = make(map[*loom.Value][]*loom.Op, 256)
	note := func(v *loom.Value, o *loom.Op) {
		if v.Type.Kind.IsIndexLike() || v.Def != nil && v.Def.Def.Traits&loom.Writes != 0 {
			e.users[v] = append(e.users[v], o)
		}
	}
	e.k.Def.Body.Walk(func(o *loom.Op) bool {
		for _, v := range o.Operands {
			note(v, o)
		}
		for _, s := range o.Succs {
			for _, v := range s.Args {
				note(v, o)
			}
		}
		for _, r := range o.Results {
			if !r.Type.IsStatic() {
				r.Type.Values(func(v *loom.Value) { note(v, o) })
			}
		}
		return true
	})
}

// unsupported reports that the current op cannot be emitted.
func (e *emitter) unsupported(help, format string, args ...any) {
	d := diag.Errorf(e.op.NameSpan(), CodeUnsupported, "op '%s': %s on target '%s'", e.op.Name(), fmt.Sprintf(format, args...), e.targetName())
	if help != "" {
		d = d.WithHelp("%s", help)
	}
	e.diags.Add(d)
}

// ops emits the ops of a block up to its terminator, which it returns.
func (e *emitter) ops(b *loom.Block) *loom.Op {
	for _, op := range b.Ops {
		if op.Def.Traits&loom.Terminator != 0 {
			e.at(op)
			return op
		}
		e.emit(op)
	}
	return nil
}

// at makes op the place that nodes and diagnostics refer to.
func (e *emitter) at(op *loom.Op) {
	e.op = op
	e.t.span = op.Span
	if op.Trivia != nil && len(op.Trivia.Above) > 0 {
		e.t.above = append(e.t.above, op.Trivia.Above...)
	}
}

func (e *emitter) emit(op *loom.Op) {
	e.at(op)
	f := e.table[op.Def.Name]
	if f == nil {
		help, why := "keep this op out of the kernel, or reach it only through code that folds away", "no device code for it"
		if strings.HasPrefix(op.Def.Name, "kernel.async.tensor.") || op.Def.Name == "kernel.tensor.lds.descriptor" {
			help, why = "copy the tile with kernel.async.copy or kernel.async.gather from views, which every target has", "no tensor DMA unit to read its descriptor"
		}
		e.unsupported(help, "%s", why)
		e.bindPoison(op)
		return
	}
	n := len(e.diags)
	if e.varies {
		e.needsSize(op)
	}
	if len(e.diags) == n {
		f(e, op)
	}
	if len(e.diags) > n {
		e.bindPoison(op)
	}
}

// bindPoison gives the results of an op that was reported a value, so that the
// rest of the kernel can be checked too.
func (e *emitter) bindPoison(op *loom.Op) {
	for _, r := range op.Results {
		if e.vals[r] == nil {
			e.vals[r] = &binding{lit: "0"}
		}
	}
}

// region emits the blocks of a region whose entry arguments are bound already. It
// returns the terminator of a single block.
func (e *emitter) region(r *loom.Region) *loom.Op {
	if r == nil || len(r.Blocks) == 0 {
		return nil
	}
	if len(r.Blocks) > 1 {
		return e.blocks(r)
	}
	return e.ops(r.Blocks[0])
}

// newVar makes a variable named after v.
func (e *emitter) newVar(name, ctype string) *cvar {
	cv := e.cvars.alloc()
	cv.name, cv.ctype = e.names.pickFor(name, cv), ctype
	return cv
}

// bind makes v the variable cv.
func (e *emitter) bind(v *loom.Value, cv *cvar) {
	b := e.bound.alloc()
	b.cv = cv
	e.vals[v] = b
}

// let defines v as expr.
func (e *emitter) let(v *loom.Value, expr string) {
	cv := e.newVar(v.Name, e.ctype(v))
	e.define(cv, expr)
	e.bind(v, cv)
}

// define declares cv with its only value.
func (e *emitter) define(cv *cvar, expr string) {
	if e.cfg {
		e.decls.add(cv)
		e.t.add(cv.name+" = "+expr+";", cv)
		return
	}
	e.t.add("const "+cv.ctype+" "+cv.name+" = "+expr+";", cv)
}

// tmp names an intermediate expression.
func (e *emitter) tmp(name, ctype, expr string) string {
	cv := e.newVar(name, ctype)
	e.define(cv, expr)
	return cv.name
}

// declareMutable declares a variable that is assigned later, with an initial
// value unless init is empty.
func (e *emitter) declareMutable(name, ctype, init string) *cvar {
	cv := e.newVar(name, ctype)
	switch {
	case e.cfg:
		e.decls.add(cv)
		if init != "" {
			e.t.add(cv.name+" = "+init+";", cv)
		}
	case init == "":
		e.t.add(ctype+" "+cv.name+";", cv)
	default:
		e.t.add(ctype+" "+cv.name+" = "+init+";", cv)
	}
	return cv
}

func (e *emitter) assign(cv *cvar, expr string) {
	if cv.name == expr {
		return
	}
	e.t.add(cv.name+" = "+expr+";", cv)
}

// ref is the expression that reads v.
func (e *emitter) ref(v *loom.Value) string {
	b := e.vals[v]
	switch {
	case b == nil:
		e.diags.Add(diag.Errorf(e.op.NameSpan(), "CODEGEN/INTERNAL", "op '%s' reads %%%s before it was emitted", e.op.Name(), v.Name).
			WithHelp("report this kernel with its config as a fault of loomc"))
		e.vals[v] = &binding{lit: "0"}
		return "0"
	case b.lit != "":
		return b.lit
	case b.cv != nil:
		return b.cv.name
	}
	return "0"
}

// alias makes r the same thing as v.
func (e *emitter) alias(r, v *loom.Value) {
	b := e.vals[v]
	if b == nil {
		e.ref(v)
		b = e.vals[v]
	}
	e.vals[r] = b
}

// ctype is the C++ type of a value.
func (e *emitter) ctype(v *loom.Value) string {
	t := v.Type
	switch {
	case t.Kind == loom.Vector:
		return vecName(e.elem(v), max(t.Lanes(), 1))
	case t.Kind.IsIndexLike():
		return e.carrier(v).String()
	case t.Kind.IsScalar():
		return scalarNames[t.Kind]
	}
	e.unsupported("", "a value of type '%s' has no C++ form here", t)
	return "int"
}

// elem is the element name of a vector value.
func (e *emitter) elem(v *loom.Value) string {
	return elemName(v.Type.Elem, e.vecCarrier(v))
}

func (e *emitter) vecCarrier(v *loom.Value) carrier {
	if !v.Type.Element().IsIndexLike() {
		return c64
	}
	return fit(e.fact(v))
}

// constOf is the exact value of an index-like or integer value, if known.
func (e *emitter) constOf(v *loom.Value) (int64, bool) { return e.fact(v).Const() }

// literal is the constant an index item stands for.
func (e *emitter) itemConst(it loom.IndexItem) (int64, bool) {
	if it.Val == nil {
		return it.Int, true
	}
	return e.constOf(it.Val)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
