package exec

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

// Determinism steers CheckDeterminism.
type Determinism struct {
	Seed uint64
	// Dead lists bytes of bindings that must not matter.
	Dead []DeadRange
	// Find also looks for such bytes itself: parts of float inputs that the kernel
	// only multiplies by a factor of exactly 0, so that no finite value there
	// changes the result, but a NaN does. It is skipped for launches that take long.
	Find bool
	// MaxRuns bounds the launches that Find spends; 0 means 64.
	MaxRuns int
}

// DeadRange is a byte range of a binding that a launch must not depend on.
type DeadRange struct {
	Kernel  string // symbol without '@'; "" means every kernel with such a binding
	Binding string // parameter name without '%'
	Lo, Hi  int64  // bytes; Hi 0 means the end of the binding
}

// CheckDeterminism runs the launch again and again on copies of its buffers and
// compares what it leaves behind, bit by bit: with other workgroup orders, with
// other bits in memory that nobody wrote (workgroup, private and write-only
// bindings), and with other bits in dead ranges. ln's buffers are not changed.
func CheckDeterminism(ctx context.Context, p *Program, ln Launch, d Determinism) (diag.List, error) {
	c := &detCheck{ctx: ctx, p: p, ln: ln, d: d}
	c.ln.Options.Sanitize, c.ln.Options.Trace, c.ln.Options.Count = 0, nil, false
	return c.run()
}

type detCheck struct {
	ctx  context.Context
	p    *Program
	ln   Launch
	d    Determinism
	base *detRun
	out  diag.List
}

// variant is one way to run the launch.
type variant struct {
	order   Order
	fill    Fill
	seed    uint64
	prefill uint64 // seed of the bits put into write-only bindings
	invert  bool   // the complement of those bits
	change  func(args []Arg)
	hash    bool
	zero    bool
}

// detRun is what a run left behind.
type detRun struct {
	args   []Arg
	before [][]byte // write-only bindings before the run
	hashes []uint64
	code   *boundCode
	// zeros counts the ops in which a NaN met a factor of 0, others the workgroups
	// in which it met something else first.
	zeros, others int64
	err           error
}

// clone copies the buffers, keeping what overlaps overlapping.
func (c *detCheck) clone() []Arg {
	type span struct {
		lo, hi uintptr
		mem    []byte
	}
	var spans []span
	addr := func(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
	for _, a := range c.ln.Args {
		if len(a.Buffer) > 0 {
			spans = append(spans, span{lo: addr(a.Buffer), hi: addr(a.Buffer) + uintptr(len(a.Buffer))})
		}
	}
	slices.SortFunc(spans, func(x, y span) int {
		switch {
		case x.lo < y.lo:
			return -1
		case x.lo > y.lo:
			return 1
		}
		return 0
	})
	var roots []span
	for _, s := range spans {
		if n := len(roots); n > 0 && s.lo < roots[n-1].hi {
			roots[n-1].hi = max(roots[n-1].hi, s.hi)
			continue
		}
		roots = append(roots, s)
	}
	for i := range roots {
		roots[i].mem = make([]byte, roots[i].hi-roots[i].lo)
	}
	out := slices.Clone(c.ln.Args)
	for i, a := range out {
		if len(a.Buffer) == 0 {
			continue
		}
		for _, r := range roots {
			if at := addr(a.Buffer); at >= r.lo && at < r.hi {
				b := r.mem[at-r.lo:][:len(a.Buffer):len(a.Buffer)]
				copy(b, a.Buffer)
				out[i].Buffer = b
			}
		}
	}
	return out
}

// writeOnly reports whether parameter i is a binding the kernel only writes and
// that shares storage with no other.
func (c *detCheck) writeOnly(i int) bool {
	k := c.p.Kernel
	if k == nil || !c.ln.Args[i].IsBuffer {
		return false
	}
	for _, b := range k.Bindings {
		if b.Param == c.p.def.Params[i] {
			if b.Access != kernel.Write {
				return false
			}
			for j, a := range c.ln.Args {
				if j != i && overlap(a.Buffer, c.ln.Args[i].Buffer) {
					return false
				}
			}
			return true
		}
	}
	return false
}

func (c *detCheck) do(v variant) *detRun {
	r := &detRun{args: c.clone(), before: make([][]byte, len(c.ln.Args))}
	for i := range r.args {
		if c.writeOnly(i) {
			FillRandomBytes(r.args[i].Buffer, v.prefill+uint64(i)<<32)
			if v.invert {
				for j := range r.args[i].Buffer {
					r.args[i].Buffer[j] ^= 0xff
				}
			}
			r.before[i] = slices.Clone(r.args[i].Buffer)
		}
	}
	if v.change != nil {
		v.change(r.args)
	}
	ln := c.ln
	ln.Args = r.args
	ln.Options.Order, ln.Options.Fill, ln.Options.Seed = v.order, v.fill, v.seed
	if v.hash {
		r.code, r.hashes, r.err = c.p.hashRun(c.ctx, ln)
		return r
	}
	if v.zero {
		_, r.err = c.p.execute(c.ctx, ln, modeZero, func(fs []*frame) {
			for _, f := range fs {
				r.zeros += f.nanZero
				r.others += f.nanOther
			}
		})
		return r
	}
	_, r.err = c.p.Run(c.ctx, ln)
	return r
}

func (c *detCheck) run() (diag.List, error) {
	seed := mix(c.d.Seed + 1)
	start := time.Now()
	plain := variant{fill: FillRandom, seed: seed, prefill: seed}
	c.base = c.do(plain)
	if c.base.err != nil {
		return nil, c.base.err
	}
	took := time.Since(start)
	rev, shuf, fill, pre := plain, plain, plain, plain
	rev.order = Reverse
	shuf.order, shuf.seed = Shuffled, seed
	fill.seed = ^seed
	pre.invert = true
	for _, t := range []struct {
		v    variant
		what string
		help string
	}{
		{rev, "the order of the workgroups", "combine in an order that does not depend on arrival, or with operations that commute and associate exactly (integers)"},
		{shuf, "the order of the workgroups", "combine in an order that does not depend on arrival, or with operations that commute and associate exactly (integers)"},
		{fill, "bits of workgroup or private memory that nobody wrote", "write every element that is read, tails and padding included"},
		{pre, "what an output held before the launch", "write every output element, and do not read one before it is written"},
	} {
		if c.compare(t.v, t.what, t.help) {
			break
		}
		if err := c.ctx.Err(); err != nil {
			return c.out, err
		}
	}
	for _, r := range c.d.Dead {
		if r.Kernel != "" && r.Kernel != c.p.def.Name {
			continue
		}
		at := slices.IndexFunc(c.p.def.Params, func(v *loom.Value) bool { return v.Name == r.Binding })
		if at < 0 || !c.ln.Args[at].IsBuffer {
			if r.Kernel == "" {
				continue
			}
			return c.out, fmt.Errorf("@%s has no binding %q", c.p.def.Name, r.Binding)
		}
		hi := r.Hi
		if hi == 0 {
			hi = int64(len(c.ln.Args[at].Buffer))
		}
		if r.Lo < 0 || r.Lo > hi || hi > int64(len(c.ln.Args[at].Buffer)) {
			return c.out, fmt.Errorf("bytes %d to %d are outside the %d bytes of %%%s", r.Lo, hi, len(c.ln.Args[at].Buffer), r.Binding)
		}
		v := plain
		v.change = func(args []Arg) { FillRandomBytes(args[at].Buffer[r.Lo:hi], ^seed) }
		c.compare(v, fmt.Sprintf("bytes %d to %d of %%%s, which are declared dead", r.Lo, hi-1, r.Binding), maskHelp)
		// Random bits rarely hold a NaN of every format: try one that does.
		v.change = func(args []Arg) { fill0(args[at].Buffer[r.Lo:hi], 0xff) }
		c.compare(v, fmt.Sprintf("bytes %d to %d of %%%s, which are declared dead", r.Lo, hi-1, r.Binding), maskHelp)
	}
	if c.d.Find && len(c.out) == 0 && took < 20*time.Millisecond {
		c.search(plain)
	}
	return c.out, c.ctx.Err()
}

const maskHelp = "select the value (0 where masked) before it is multiplied: 0 times a stale NaN is NaN"

func fill0(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// differs returns the first byte that two runs left different, leaving out what
// neither wrote.
func (c *detCheck) differs(a, b *detRun) (param int, at int, ok bool) {
	for i := range a.args {
		x, y := a.args[i].Buffer, b.args[i].Buffer
		if !c.written(i) {
			continue
		}
		for j := range x {
			if x[j] == y[j] {
				continue
			}
			if a.before[i] != nil && x[j] == a.before[i][j] && y[j] == b.before[i][j] {
				continue // nobody wrote it
			}
			return i, j, true
		}
	}
	return 0, 0, false
}

// written reports whether the kernel may write parameter i.
func (c *detCheck) written(i int) bool {
	if !c.ln.Args[i].IsBuffer {
		return false
	}
	k := c.p.Kernel
	if k == nil {
		return true
	}
	for _, b := range k.Bindings {
		if b.Param == c.p.def.Params[i] {
			return b.Access&kernel.Write != 0
		}
	}
	return true
}

// compare runs a variant and reports when it leaves other bits than the base.
func (c *detCheck) compare(v variant, what, help string) bool {
	r := c.do(v)
	if r.err != nil {
		if c.ctx.Err() == nil {
			if d, ok := r.err.(diag.Diagnostic); ok {
				d.Code = CodeDeterminism
				d.Message = "the launch fails depending on " + what + ": " + d.Message
				c.out.Add(d)
			}
		}
		return true
	}
	i, j, ok := c.differs(c.base, r)
	if !ok {
		return false
	}
	c.report(v, i, j, r, what, help)
	return true
}

// report runs both variants once more with a hash of every op's values, to name
// the store that differs and the first op that does.
func (c *detCheck) report(v variant, i, j int, r *detRun, what, help string) {
	name := c.p.def.Params[i].Name
	b := variant{fill: FillRandom, seed: mix(c.d.Seed + 1), prefill: mix(c.d.Seed + 1), hash: true}
	v.hash = true
	x, y := c.do(b), c.do(v)
	sp := c.p.def.NameSpan
	var store, first *loom.Op
	if x.err == nil && y.err == nil {
		for h := range x.hashes {
			if x.hashes[h] == y.hashes[h] {
				continue
			}
			e := x.code.hashOps[h]
			if first == nil {
				first = e.op
			}
			if store == nil && e.store {
				store = e.op
			}
		}
		// The same values in another order: an atomic combination.
		if w := x.code.writers(i); store == nil && len(w) > 0 {
			store = w[0]
		}
	}
	if store != nil {
		sp = store.Span
	}
	d := diag.Errorf(sp, CodeDeterminism, "the result of @%s depends on %s: byte %d of %%%s is 0x%02x in one run and 0x%02x in another",
		c.p.def.Name, what, j, name, c.base.args[i].Buffer[j], r.args[i].Buffer[j])
	if first != nil && first != store {
		d = d.WithRelated(first.Span, "the first op whose value differs")
	}
	c.out.Add(d.WithHelp("%s", help))
}

// search looks for parts of float inputs that a mask takes out of play: bytes
// that no finite value changes the result through, while a NaN does because the
// kernel multiplies it by a factor of exactly 0. The other float inputs get random
// values meanwhile, so that the zeros of a test's data are not taken for a mask;
// inputs with infinities, which are masks, stay as they are.
func (c *detCheck) search(plain variant) {
	runs := c.d.MaxRuns
	if runs == 0 {
		runs = 64
	}
	seed := mix(c.d.Seed + 7)
	kinds := c.p.floatInputs()
	var inputs []int
	for at := range c.ln.Args {
		if k, ok := kinds[at]; ok && !c.written(at) && allFinite(c.ln.Args[at].Buffer, k) && len(c.ln.Args[at].Buffer) <= 1<<22 {
			inputs = append(inputs, at)
		}
	}
	for _, at := range inputs {
		k := kinds[at]
		size := int64(k.Bytes())
		others := func(args []Arg) {
			for _, o := range inputs {
				if o != at {
					fillFinite(args[o].Buffer, kinds[o], seed+uint64(o), 1)
				}
			}
		}
		run := func(zero bool, change func(b []byte), lo, hi int64, env func([]Arg)) *detRun {
			runs--
			v := plain
			v.zero = zero
			v.change = func(args []Arg) {
				env(args)
				change(args[at].Buffer[lo:hi])
			}
			return c.do(v)
		}
		nan := func(b []byte) { fill0(b, 0xff) }
		keep := func([]byte) {}
		same := func([]Arg) {}
		n := int64(len(c.ln.Args[at].Buffer)) / size * size
		if r := run(true, nan, 0, n, others); r.err != nil || r.zeros == 0 {
			continue
		}
		base := run(false, keep, 0, n, others)
		if base.err != nil {
			continue
		}
		dead := func(lo, hi int64, s uint64, ref *detRun, env func([]Arg)) bool {
			r := run(false, func(b []byte) { fillFinite(b, k, s, 200) }, lo, hi, env)
			if r.err != nil {
				return false
			}
			_, _, diff := c.differs(ref, r)
			return !diff
		}
		// Halves, then quarters, …: the largest dead parts are found first.
		type part struct{ lo, hi int64 }
		for queue := []part{{0, n}}; len(queue) > 0 && runs > 0 && c.ctx.Err() == nil && len(c.out) == 0; queue = queue[1:] {
			lo, hi := queue[0].lo, queue[0].hi
			if !dead(lo, hi, seed, base, others) {
				if mid := lo + (hi-lo)/2/size*size; hi-lo > 4*size {
					queue = append(queue, part{lo, mid}, part{mid, hi})
				}
				continue
			}
			if !dead(lo, hi, ^seed, base, others) || !dead(lo, hi, seed+1, c.base, same) {
				continue
			}
			if r := run(true, nan, lo, hi, same); r.err != nil || r.zeros == 0 || r.others > 0 {
				continue
			}
			v := plain
			v.change = func(args []Arg) { nan(args[at].Buffer[lo:hi]) }
			c.compare(v, fmt.Sprintf("bytes %d to %d of %%%s, which the kernel multiplies by 0 only: no finite value there reaches the result, but a NaN does", lo, hi-1, c.p.def.Params[at].Name), maskHelp)
		}
	}
}

func allFinite(b []byte, k loom.Kind) bool {
	size := int64(k.Bytes())
	for o := int64(0); o+size <= int64(len(b)); o += size {
		if v := floatValue(k, getElem(b[o:], k, size)); v-v != 0 {
			return false
		}
	}
	return true
}

func fillFinite(b []byte, k loom.Kind, seed uint64, limit float64) {
	size := int64(k.Bytes())
	r := rand.New(rand.NewPCG(seed, 11))
	for o := int64(0); o+size <= int64(len(b)); o += size {
		putElem(b[o:], size, floatBits(k, (r.Float64()*2-1)*limit))
	}
}

// floatInputs maps parameter positions to the float kind all loads of the
// binding use.
func (p *Program) floatInputs() map[int]loom.Kind {
	c, _ := p.lower(0)
	out := map[int]loom.Kind{}
	if c == nil {
		return out
	}
	bad := map[int]bool{}
	for i := range c.ins {
		acc, ok := c.ins[i].x.(*access)
		if !ok || len(c.ins[i].xs) == 0 {
			continue
		}
		r := c.ins[i].xs[0]
		if !c.regs[r.v].isConst {
			continue
		}
		id := int(c.regs[r.v].bits)
		for j, pr := range c.params {
			if pr.buf != id {
				continue
			}
			if k, seen := out[j]; !acc.kind.IsFloat() || seen && k != acc.kind {
				bad[j] = true
			}
			out[j] = acc.kind
		}
	}
	for j := range bad {
		delete(out, j)
	}
	return out
}

// Hashing runs.

// hashRun runs the launch and returns, per op that has values, a hash of all
// values its items saw, whatever the order of workgroups.
func (p *Program) hashRun(ctx context.Context, ln Launch) (*boundCode, []uint64, error) {
	var frames []*frame
	_, err := p.execute(ctx, ln, modeHash, func(fs []*frame) { frames = fs })
	if err != nil || len(frames) == 0 {
		return nil, nil, err
	}
	code := frames[0].code
	out := make([]uint64, len(code.hashOps))
	for _, f := range frames {
		for i, h := range f.hashes {
			out[i] += h
		}
	}
	return code, out, nil
}

// hashed is one thing a hashing run sums up: an op's result, or what and where
// it stores.
type hashed struct {
	op    *loom.Op
	store bool
}

// hashOp emits the hash of an op's results, or of what it stores and where.
func (l *lowerer) hashOp(op *loom.Op) {
	if len(op.Regions) > 0 {
		return
	}
	for _, v := range op.Results {
		l.hashValue(op, v, false)
	}
	if op.Def.Traits&loom.Writes != 0 && op.Operand("view") != nil {
		for _, v := range op.Operands {
			l.hashValue(op, v, true)
		}
	}
}

func (l *lowerer) hashValue(op *loom.Op, v *loom.Value, store bool) {
	if !(v.Type.Kind.IsScalar() || v.Type.Kind == loom.Vector) {
		return
	}
	id := len(l.c.hashOps)
	l.c.hashOps = append(l.c.hashOps, hashed{op, store})
	wide := wideKind(v.Type.Element())
	l.emit(lowered{run: func(f *frame, in *instr) {
		var h uint64
		for e := range in.n {
			for _, l := range f.active() {
				h += mix(f.word(wide, in.a+e*f.L+int(l)) ^ bits.RotateLeft64(uint64(f.wgLin)<<20|uint64(l)<<8|uint64(e), 17))
			}
		}
		f.hashes[id] += h
	}, a: l.lane(v), n: l.count(v.Type)})
}

// writers returns the ops that write parameter i, atomics first.
func (c *code) writers(i int) []*loom.Op {
	var atomics, plain []*loom.Op
	for k := range c.ins {
		acc, ok := c.ins[k].x.(*access)
		if !ok || !acc.write || len(c.ins[k].xs) == 0 {
			continue
		}
		r := c.regs[c.ins[k].xs[0].v]
		if !r.isConst || int(r.bits) != c.params[i].buf {
			continue
		}
		if acc.atomic != nil {
			atomics = append(atomics, c.ins[k].op)
		} else {
			plain = append(plain, c.ins[k].op)
		}
	}
	return append(atomics, plain...)
}

// Zero-factor runs: where does a NaN first meet arithmetic?

type zeroInfo struct {
	factor bool // a product: operands 0 and 1 are its factors
	kinds  []loom.Kind
	n      []int
	comps  int
}

// zeroCheck emits the count of NaN operands of an arithmetic op.
func (l *lowerer) zeroCheck(op *loom.Op) {
	if op.Name() == "vector.mma" {
		if m, ok := l.mmaInfo(op); ok && !m.isInt {
			l.emit(lowered{run: zeroMMA, a: l.lane(op.Operand("lhs")), b: l.lane(op.Operand("rhs")), x: m})
		}
		return
	}
	_, name, _ := strings.Cut(op.Name(), ".")
	z := &zeroInfo{}
	switch name {
	case "mulf", "fmaf", "dotf", "dot2f":
		z.factor = true
	case "negf", "absf", "copysignf", "minnumf", "maxnumf", "minimumf", "maximumf", "clampf", "cmpf", "isnanf", "isinff", "isfinitef",
		"extf", "fptrunc", "constant", "poison", "bitcast":
		return
	case "reduce":
	default:
		if op.Def.Traits&loom.ElementWise == 0 {
			return
		}
	}
	var xs []ref
	for _, o := range op.Operands {
		if !o.Type.Element().IsFloat() || !(o.Type.Kind.IsScalar() || o.Type.Kind == loom.Vector) {
			continue
		}
		z.kinds, z.n = append(z.kinds, o.Type.Element()), append(z.n, l.count(o.Type))
		z.comps = max(z.comps, l.count(o.Type))
		xs = append(xs, l.lane(o))
	}
	if len(xs) > 0 {
		l.emit(lowered{run: zeroCount, xs: xs, x: z})
	}
}

func zeroCount(f *frame, in *instr) {
	z := in.x.(*zeroInfo)
	val := func(j, e, l int) float64 {
		return floatValue(z.kinds[j], f.word(wideKind(z.kinds[j]), in.xs[j]+min(e, z.n[j]-1)*f.L+l))
	}
	zero, other := false, false
	for _, l32 := range f.active() {
		l := int(l32)
		for e := range z.comps {
			for j := range z.kinds {
				if v := val(j, e, l); v == v {
					continue
				}
				if z.factor && j < 2 && val(1-j, e, l) == 0 {
					zero = true
				} else {
					other = true
				}
			}
		}
	}
	f.meet(zero, other)
}

// meet counts the ops in which a NaN met a factor of 0, and the workgroups in
// which it met something else first.
func (f *frame) meet(zero, other bool) {
	if zero {
		f.nanZero++
	}
	if other && !f.nanSeen {
		f.nanOther++
	}
	f.nanSeen = f.nanSeen || zero || other
}

func zeroMMA(f *frame, in *instr) {
	m := in.x.(*mmaInfo)
	f.eachSubgroup(func(base, width int) {
		A, B := m.read(f, in, base, width)
		zero, other := false, false
		for k := range m.k {
			for i := range 16 {
				for j := range 16 {
					a, b := A[i*m.k+k], B[j*m.k+k]
					switch {
					case a != a && b == 0, b != b && a == 0:
						zero = true
					case a != a, b != b:
						other = true
					}
				}
			}
		}
		f.meet(zero, other)
	})
}
