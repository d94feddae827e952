package compat

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
)

// Sum is a semantic hash.
type Sum [sha256.Size]byte

// Short is a prefix that tells sums apart for people.
func (s Sum) Short() string {
	const digits = "0123456789abcdef"
	var b [12]byte
	for i := range b {
		b[i] = digits[s[i/2]>>(4*(1-i%2))&15]
	}
	return string(b[:])
}

// Hashes are the semantic hashes of a linked kernel: equal when two kernels
// compute the same by the same operations. SSA names, symbol names, comments,
// places, the order of definitions and the spelling of either generation do not
// count; operations, their order, types, attributes, config keys and what the
// templates in reach do, count.
type Hashes struct {
	// Body covers the launch body and everything it calls or may apply. Promises
	// (assumes, preconditions) are left out of it.
	Body Sum
	// ByName is Body with the launch parameters told apart by name and not by
	// position, so that it survives their reordering.
	ByName Sum
	// Geometry covers the launch-config block, with the workload parameters told
	// apart by name; GeometryAt tells them apart by position.
	Geometry, GeometryAt Sum
	// Promises covers the assumes and preconditions of the body, apart from those
	// that show elsewhere in a contract: what the kernel itself assumes of a config
	// value and literals, of configs and launch parameters together, and of the
	// alignment of its bindings. PromisesByName is to it as ByName is to Body.
	Promises, PromisesByName Sum
}

// hashKernel hashes the kernel of a linked module. keys renames config keys
// first; nil keeps them.
func hashKernel(m *loom.Module, kernel *loom.Def, keys map[string]string) Hashes {
	h := &hasher{
		defs: make(map[string]*loom.Def, len(m.Defs)), providers: map[string][]*loom.Def{}, keys: keys,
		done: map[*loom.Def]sums{}, busy: map[*loom.Def]int{}, root: kernel,
	}
	for _, d := range m.Defs {
		switch d.Kind {
		case loom.DefAlias, loom.DefImport, loom.DefMetadata, loom.DefCheckCase, loom.DefBenchmark:
			continue
		}
		d.Load()
		if old := h.defs[d.Name]; old == nil || old.Body == nil && d.Body != nil {
			h.defs[d.Name] = d
		}
		if d.IsTemplate() {
			h.providers[d.Family] = append(h.providers[d.Family], d)
		}
	}
	var out Hashes
	geometry := h.begin(kernel, true)
	geometry.values(kernel.Workload)
	geometry.region(kernel.Config)
	out.Geometry = geometry.sums().body
	at := h.begin(kernel, false)
	at.values(kernel.Workload)
	at.region(kernel.Config)
	out.GeometryAt = at.sums().body
	body := h.begin(kernel, false)
	body.values(kernel.Params)
	body.region(kernel.Body)
	out.Body, out.Promises = body.sums().body, body.sums().promises
	named := h.begin(kernel, true)
	named.values(kernel.Params)
	named.region(kernel.Body)
	out.ByName, out.PromisesByName = named.sums().body, named.sums().promises
	return out
}

type sums struct{ body, promises Sum }

type hasher struct {
	defs      map[string]*loom.Def
	providers map[string][]*loom.Def
	keys      map[string]string
	done      map[*loom.Def]sums
	busy      map[*loom.Def]int
	root      *loom.Def
}

// begin starts the hash of one definition.
func (h *hasher) begin(d *loom.Def, byName bool) *defHash {
	w := &defHash{h: h, def: d, body: sha256.New(), promises: sha256.New(), number: map[*loom.Value]uint64{}}
	if byName {
		w.names = map[*loom.Value]string{}
		for _, p := range slices.Concat(d.Params, d.Workload) {
			w.names[p] = p.Name
		}
	}
	return w
}

// sum returns the hashes of a function or template, each computed once.
func (h *hasher) sum(d *loom.Def) sums {
	if s, ok := h.done[d]; ok {
		return s
	}
	if depth, ok := h.busy[d]; ok {
		// A template that applies its own family: the distance up the chain of
		// definitions says which one is meant.
		w := h.begin(d, false)
		w.word("again")
		w.int(uint64(len(h.busy) - depth))
		return w.sums()
	}
	h.busy[d] = len(h.busy)
	w := h.begin(d, false)
	w.int(uint64(d.Kind))
	w.values(d.Params)
	w.int(uint64(len(d.Results)))
	for _, r := range d.Results {
		w.typ(r.Type)
		w.use(r.Tied)
		if r.Val != nil {
			w.define(r.Val)
		}
	}
	where := w.promises
	if d.IsTemplate() {
		// Here the clause decides which implementation is taken.
		where = w.body
	}
	w.preds(where, d.Where, nil)
	if d.IsTemplate() || d.Kind == loom.DefTemplateDecl {
		w.int(uint64(d.Mods.Priority))
		w.target(d.Mods.Target)
		for _, r := range d.Mods.Requires {
			w.attr(w.body, r)
		}
	}
	if d.Body == nil {
		w.word("no body")
		if d.Kind == loom.DefFuncDecl || d.Kind == loom.DefUkernel {
			w.word(d.Name) // the name is all that says what it does
		}
	}
	w.region(d.Body)
	if d.Kind == loom.DefGlobal {
		w.typ(d.ConfigType)
		w.attr(w.body, d.Init)
	}
	s := w.sums()
	delete(h.busy, d)
	h.done[d] = s
	return s
}

// defHash hashes one definition into two streams.
type defHash struct {
	h              *hasher
	def            *loom.Def
	body, promises hash.Hash
	number         map[*loom.Value]uint64
	names          map[*loom.Value]string
	blocks         map[*loom.Block]uint64
	buf            [8]byte
}

func (w *defHash) sums() sums {
	var s sums
	w.body.Sum(s.body[:0])
	w.promises.Sum(s.promises[:0])
	return s
}

func (w *defHash) put(to hash.Hash, v uint64) {
	binary.LittleEndian.PutUint64(w.buf[:], v)
	to.Write(w.buf[:])
}

func (w *defHash) text(to hash.Hash, s string) {
	w.put(to, uint64(len(s)))
	to.Write([]byte(s))
}

func (w *defHash) int(v uint64)  { w.put(w.body, v) }
func (w *defHash) word(s string) { w.text(w.body, s) }

func (w *defHash) define(v *loom.Value) uint64 {
	n, ok := w.number[v]
	if !ok {
		n = uint64(len(w.number) + 1)
		w.number[v] = n
	}
	return n
}

// use writes which value is meant; 0 for none.
func (w *defHash) use(v *loom.Value) { w.useIn(w.body, v) }

func (w *defHash) useIn(to hash.Hash, v *loom.Value) {
	if v == nil {
		w.put(to, 0)
		return
	}
	if name, ok := w.names[v]; ok {
		w.put(to, math.MaxUint64)
		w.text(to, name)
		return
	}
	w.put(to, w.define(v))
}

// values defines parameters or block arguments. Launch parameters that go by
// name take no number, so that their order does not show.
func (w *defHash) values(vs []*loom.Value) {
	for _, v := range vs {
		if _, ok := w.names[v]; ok {
			continue
		}
		w.int(w.define(v))
	}
	for _, v := range vs {
		if _, ok := w.names[v]; !ok {
			w.typ(v.Type)
		}
	}
	w.word("defined")
}

func (w *defHash) region(r *loom.Region) {
	if r == nil {
		w.word("none")
		return
	}
	w.int(uint64(len(r.Blocks)))
	if len(r.Blocks) > 1 {
		if w.blocks == nil {
			w.blocks = map[*loom.Block]uint64{}
		}
		for _, b := range r.Blocks {
			w.blocks[b] = uint64(len(w.blocks))
		}
	}
	for i, b := range r.Blocks {
		if i > 0 || r.Owner == nil {
			w.values(b.Args)
		}
		for _, o := range b.Ops {
			if o.Def.Traits&loom.Fact != 0 {
				w.promise(o)
				continue
			}
			w.op(o)
		}
		w.word("end")
	}
}

// promise hashes an operation that only states facts. It leaves no trace in the
// body: its results stand for its operands.
func (w *defHash) promise(o *loom.Op) {
	for i, r := range o.Results {
		if i >= len(o.Operands) {
			break
		}
		if name, ok := w.names[o.Operands[i]]; ok {
			w.names[r] = name
			continue
		}
		w.number[r] = w.define(o.Operands[i])
	}
	own := w.def == w.h.root && topLevel(o)
	if own && o.Name() == "buffer.assume.alignment" && onParameters(o, w.def) {
		return // shows as the bindings' alignment
	}
	for _, a := range o.Attrs {
		if a.Value.Kind == loom.AttrPreds {
			w.preds(w.promises, a.Value.Preds(), o)
			continue
		}
		w.text(w.promises, o.Name())
		for _, v := range o.Operands {
			w.useIn(w.promises, v)
		}
		w.text(w.promises, a.Name)
		w.attr(w.promises, a.Value)
	}
	if len(o.Attrs) == 0 {
		w.text(w.promises, o.Name())
		for _, v := range o.Operands {
			w.useIn(w.promises, v)
		}
	}
}

func onParameters(o *loom.Op, k *loom.Def) bool {
	for _, v := range o.Operands {
		if parameterOf(k, v) == nil {
			return false
		}
	}
	return true
}

// sameOps maps an operation's older or context-bound spelling to the one that
// stands for both.
var sameOps = map[string]string{
	"func.apply":      "template.apply",
	"template.return": "func.return",
}

func (w *defHash) op(o *loom.Op) {
	name := o.Name()
	if n := sameOps[name]; n != "" {
		name = n
	}
	w.word(name)
	w.int(uint64(len(o.Operands)))
	for _, v := range o.Operands {
		w.use(v)
	}
	for _, n := range o.Segs {
		w.int(uint64(n))
	}
	w.int(uint64(len(o.Results)))
	for _, v := range o.Results {
		w.define(v)
		w.typ(v.Type)
	}
	w.attrs(o)
	for _, r := range o.Regions {
		w.region(r)
	}
	for _, s := range o.Succs {
		w.int(w.blocks[s.Dest])
		w.int(uint64(len(s.Args)))
		for _, v := range s.Args {
			w.use(v)
		}
	}
	if o.Def.Traits&loom.Opaque != 0 {
		w.word(o.Span.Text())
	}
}

// cosmetic are attributes that only keep a spelling, or that no result depends
// on.
var cosmetic = map[string]bool{"old": true, "temperature": true, "inline": true, "pure": true}

func (w *defHash) attrs(o *loom.Op) {
	as := slices.Clone(o.Attrs)
	slices.SortStableFunc(as, func(a, b loom.NamedAttr) int { return strings.Compare(a.Name, b.Name) })
	n := 0
	for _, a := range as {
		if cosmetic[a.Name] {
			continue
		}
		n++
		switch {
		case a.Name == "contract" && o.Name() == "func.apply":
			w.word("family")
			w.family(a.Value.Str)
			continue
		case a.Name == "family" && a.Value.Kind == loom.AttrSymbol:
			w.word("family")
			w.family(a.Value.Str)
			continue
		case a.Name == "config" && o.Name() == "config.get":
			key := a.Value.Str
			if k, ok := w.h.keys[key]; ok {
				key = k
			}
			w.word("config")
			w.word(key)
			continue
		}
		w.word(a.Name)
		w.attr(w.body, a.Value)
	}
	w.int(uint64(n))
}

// family writes what an application may turn into: every implementation, told
// apart by content alone.
func (w *defHash) family(name string) {
	var all []sums
	for _, d := range w.h.providers[name] {
		all = append(all, w.h.sum(d))
	}
	slices.SortFunc(all, func(a, b sums) int { return strings.Compare(string(a.body[:]), string(b.body[:])) })
	w.int(uint64(len(all)))
	for _, s := range all {
		w.body.Write(s.body[:])
		w.promises.Write(s.promises[:])
	}
	if d := w.h.defs[name]; d != nil && d.Kind == loom.DefTemplateDecl {
		s := w.h.sum(d)
		w.body.Write(s.body[:])
	}
}

func (w *defHash) symbol(to hash.Hash, name string) {
	d := w.h.defs[name]
	if d == nil || d.Kind == loom.DefConfigDecl || d.Kind == loom.DefConfigDef {
		w.text(to, name)
		return
	}
	if d.Kind == loom.DefTarget {
		w.target(name)
		return
	}
	s := w.h.sum(d)
	to.Write(s.body[:])
	w.promises.Write(s.promises[:])
}

func (w *defHash) target(name string) {
	d := w.h.defs[name]
	if d == nil {
		w.word("any")
		return
	}
	w.word(d.Selector)
	w.int(uint64(len(d.Attrs)))
	for _, a := range d.Attrs {
		w.word(a.Name)
		w.attr(w.body, a.Value)
	}
}

// preds writes predicates. Those of the kernel's own top level that compare a
// config value with literals are left out; see Hashes.Promises.
func (w *defHash) preds(to hash.Hash, ps []loom.Predicate, o *loom.Op) {
	for _, p := range ps {
		if o != nil && w.def == w.h.root && topLevel(o) && (configAgainstLiterals(p) || amongCallers(p, w.def)) {
			continue
		}
		w.text(to, "pred")
		w.put(to, uint64(p.Kind))
		for _, a := range p.Args {
			switch {
			case a.Val != nil:
				w.text(to, "v")
				w.useIn(to, a.Val)
			case a.IsFloat:
				w.put(to, math.Float64bits(a.Float))
			default:
				w.put(to, uint64(a.Int))
			}
		}
	}
}

// topLevel reports whether o runs whenever its definition does.
func topLevel(o *loom.Op) bool {
	return o.Block != nil && o.Block.Region != nil && o.Block.Region.Entry() == o.Block && o.Parent() == nil
}

// amongCallers reports whether p relates values that callers know: configs and
// launch parameters. Those show as relations.
func amongCallers(p loom.Predicate, k *loom.Def) bool {
	if !relates(p) {
		return false
	}
	configs := false
	for _, a := range p.Args {
		if a.Val == nil {
			continue
		}
		if configOf(a.Val) != "" {
			configs = true
		} else if parameterOf(k, a.Val) == nil {
			return false
		}
	}
	return configs
}

func configAgainstLiterals(p loom.Predicate) bool {
	found := false
	for _, a := range p.Args {
		if a.Val == nil {
			continue
		}
		if configOf(a.Val) == "" {
			return false
		}
		if found {
			return false
		}
		found = true
	}
	return found
}

// configOf follows assumes and casts back to the config read that a value is the
// value of; "" when it is none.
func configOf(v *loom.Value) string {
	for v != nil && v.Def != nil {
		switch {
		case v.Def.Name() == "config.get":
			return v.Def.Word("config")
		case v.Def.Name() == "index.cast":
			v = v.Def.Operand("input")
		case v.Def.Def.Traits&loom.Fact != 0 && int(v.Index) < len(v.Def.Operands):
			v = v.Def.Operands[v.Index]
		default:
			return ""
		}
	}
	return ""
}

func (w *defHash) typ(t *loom.Type) {
	if t == nil {
		w.word("no type")
		return
	}
	w.int(uint64(t.Kind)<<8 | uint64(t.Elem))
	w.word(t.Name)
	w.int(uint64(len(t.Dims)))
	for _, d := range t.Dims {
		if d.Val != nil {
			w.word("v")
			w.use(d.Val)
		} else {
			w.int(uint64(d.Size))
		}
	}
	w.use(t.EncVal)
	w.encoding(w.body, t.Enc)
	for _, p := range t.Params {
		w.typ(p)
	}
	for _, p := range t.Results {
		w.typ(p)
	}
}

func (w *defHash) encoding(to hash.Hash, e *loom.Encoding) {
	if e.IsDense() {
		w.text(to, "dense")
		return
	}
	w.text(to, e.Family)
	ps := slices.Clone(e.Params)
	slices.SortStableFunc(ps, func(a, b loom.NamedAttr) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range ps {
		w.text(to, p.Name)
		w.attr(to, p.Value)
	}
}

func (w *defHash) attr(to hash.Hash, a loom.Attr) {
	w.put(to, uint64(a.Kind))
	switch a.Kind {
	case loom.AttrInt, loom.AttrFloat, loom.AttrBool:
		w.put(to, uint64(a.Int))
	case loom.AttrString, loom.AttrWord:
		w.text(to, a.Str)
	case loom.AttrFlags:
		fs := slices.Clone(a.Flags())
		slices.Sort(fs)
		for _, f := range fs {
			w.text(to, f)
		}
	case loom.AttrSymbol:
		w.symbol(to, a.Str)
	case loom.AttrEnc:
		w.encoding(to, a.Enc())
	case loom.AttrInts:
		w.put(to, uint64(len(a.Ints())))
		for _, v := range a.Ints() {
			w.put(to, uint64(v))
		}
	case loom.AttrList:
		w.put(to, uint64(len(a.List())))
		for _, v := range a.List() {
			w.attr(to, v)
		}
	case loom.AttrDict:
		w.put(to, uint64(len(a.Dict())))
		for _, v := range a.Dict() {
			w.text(to, v.Name)
			w.attr(to, v.Value)
		}
	case loom.AttrPreds:
		w.preds(to, a.Preds(), nil)
	case loom.AttrTyped:
		w.text(to, a.Str)
		if inner, ok := a.Aux.(loom.Attr); ok {
			w.attr(to, inner)
		}
	}
}
