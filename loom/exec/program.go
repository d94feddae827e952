package exec

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

// Program is a compiled kernel, or a compiled function of scalars. It is safe
// for concurrent use: a run keeps its state in frames of its own.
type Program struct {
	Kernel *kernel.Kernel // nil for a function
	def    *loom.Def
	wave   int

	mu    sync.Mutex
	codes map[Mode]*code
	bound map[boundKey]*boundCode
}

type boundKey struct {
	mode  Mode
	lanes int
}

// Mode is the set of instrumentations a run asks for.
type Mode uint32

// Instrumentations. The sanitizers come first; see sanitize.go for what each
// reports.
const (
	SanRace Mode = 1 << iota
	SanBounds
	SanInit
	SanAssume
	SanNaN
	SanDivergence
	modeTrace
	modeCount
	modeHash
	modeZero

	SanAll = SanRace | SanBounds | SanInit | SanAssume | SanNaN | SanDivergence
)

const sanMemory = SanRace | SanBounds | SanInit

var sanNames = []struct {
	name string
	mode Mode
}{
	{"race", SanRace}, {"bounds", SanBounds}, {"init", SanInit}, {"assume", SanAssume}, {"nan", SanNaN}, {"divergence", SanDivergence}, {"all", SanAll},
}

// ParseSanitizers reads a comma-separated list of sanitizer names; "all" and
// "" stand for every and none. determinism is not one of them: it needs several
// runs, see CheckDeterminism.
func ParseSanitizers(names []string) (Mode, error) {
	var m Mode
next:
	for _, n := range names {
		if n == "" || n == "none" || n == "determinism" {
			continue
		}
		for _, s := range sanNames {
			if s.name == n {
				m |= s.mode
				continue next
			}
		}
		return 0, fmt.Errorf("unknown sanitizer %q: race, bounds, init, assume, nan, divergence, determinism and all are known", n)
	}
	return m, nil
}

// vreg is a virtual register: n components of one word class, uniform or one
// word per lane.
type vreg struct {
	wide        bool
	uni         bool
	pinned      bool // keeps its storage for the whole program
	n           int32
	first, last int32 // instruction positions of the first and last mention
	at          int32 // component index in its arena part
	bits        uint64
	isConst     bool
}

// ref names component c of a virtual register; v ≤ 0 is no register.
type ref struct{ v, c int32 }

var none = ref{}

func (r ref) ok() bool { return r.v > 0 }

// label is a code position that is filled in later.
type label int32

// lowered is an instruction over virtual registers.
type lowered struct {
	run        func(*frame, *instr)
	flat       flatFn
	d, a, b, c ref
	xs         []ref
	labels     []label // becomes xs
	n          int
	imm        int64
	to         label // 0 none
	depth      int
	x          any
	op         *loom.Op
}

// instr is an instruction whose registers are arena offsets.
type instr struct {
	run        func(*frame, *instr)
	flat       flatFn
	d, a, b, c int
	xs         []int
	n          int
	imm        int64
	t          int
	depth      int
	x          any
	op         *loom.Op
}

// bufInfo is the static side of a buffer id.
type bufInfo struct {
	name    string
	space   space
	binding int // index among the kernel's bindings, -1 for an allocation
	op      *loom.Op
	lanes   bool // private: one copy per lane
}

type space uint8

const (
	spaceGlobal space = iota
	spaceWorkgroup
	spacePrivate
)

func (s space) String() string { return [...]string{"global", "workgroup", "private"}[s] }

// code is the lowered program of one mode, independent of the workgroup size.
type code struct {
	ins    []lowered
	regs   []vreg
	marks  []int32 // label positions
	bufs   []bufInfo
	params []paramReg
	out    []outReg // function results
	depth  int
	// parts holds the component counts of the arenas: uniform and per-lane words
	// of each class.
	uni32, lane32, uni64, lane64 int32
	ordered                      bool // workgroups interact through atomics
	counters                     []counter
	hashOps                      []hashed
	gran                         uint // log2 of the smallest element that memory checks see
}

type paramReg struct {
	r    ref
	kind loom.Kind
	buf  int // buffer id, -1 for a scalar
}

type outReg struct {
	r    ref
	kind loom.Kind
	n    int
}

// constant is an initial register value.
type constant struct {
	wide  bool
	at, n int
	bits  uint64
}

// boundCode is code for one number of lanes.
type boundCode struct {
	*code
	ins            []instr
	lanes, wave    int
	size32, size64 int
	consts         []constant
	param          []int
}

// Compile translates the body of a closed kernel. It reports ops that have no
// meaning on the CPU.
func Compile(k *kernel.Kernel) (*Program, diag.List) { return CompileMode(k, 0) }

// CompileMode is Compile for the instrumentations of m; other modes are
// translated when a run first asks for them.
func CompileMode(k *kernel.Kernel, m Mode) (*Program, diag.List) {
	wave := 32
	if k.Target != nil && k.Target.WaveSize > 0 {
		wave = k.Target.WaveSize
	}
	p := &Program{Kernel: k, def: k.Def, wave: wave, codes: map[Mode]*code{}, bound: map[boundKey]*boundCode{}}
	_, ds := p.lower(m)
	if ds.HasErrors() {
		return nil, ds
	}
	return p, ds
}

// CompileFunc translates a function of scalars and vectors without calls, such
// as a host helper a check case uses.
func CompileFunc(d *loom.Def) (*Program, diag.List) {
	p := &Program{def: d, wave: 1, codes: map[Mode]*code{}, bound: map[boundKey]*boundCode{}}
	_, ds := p.lower(0)
	if ds.HasErrors() {
		return nil, ds
	}
	return p, ds
}

func (p *Program) lower(m Mode) (*code, diag.List) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.codes[m]; c != nil {
		return c, nil
	}
	c, ds := lowerGuarded(p, m)
	if ds.HasErrors() {
		return nil, ds
	}
	c.allocate()
	p.codes[m] = c
	return c, ds
}

// lowerGuarded turns a panic over IR that breaks the verifier's rules into a
// diagnostic.
func lowerGuarded(p *Program, m Mode) (c *code, ds diag.List) {
	defer func() {
		if r := recover(); r != nil {
			c = nil
			ds.Add(diag.Errorf(p.def.NameSpan, codeInternal, "the executor could not translate @%s: %v", p.def.Name, r).
				WithHelp("verify the kernel first; a verified kernel that does this is a bug of the executor"))
		}
	}()
	return lowerDef(p, m)
}

// bind resolves the program for a workgroup of lanes items.
func (p *Program) bind(m Mode, lanes int) (*boundCode, diag.List) {
	c, ds := p.lower(m)
	if c == nil {
		return nil, ds
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := boundKey{m, lanes}
	if b := p.bound[key]; b != nil {
		return b, nil
	}
	b := c.bind(lanes, p.wave)
	p.bound[key] = b
	return b, nil
}

func (c *code) bind(lanes, wave int) *boundCode {
	b := &boundCode{code: c, lanes: lanes, wave: wave}
	at := func(r ref) int {
		if !r.ok() {
			return -1
		}
		v := &c.regs[r.v]
		switch {
		case v.uni:
			return int(v.at + r.c)
		case v.wide:
			return int(c.uni64) + int(v.at+r.c)*lanes
		}
		return int(c.uni32) + int(v.at+r.c)*lanes
	}
	b.size32 = int(c.uni32) + int(c.lane32)*lanes
	b.size64 = int(c.uni64) + int(c.lane64)*lanes
	b.ins = make([]instr, len(c.ins))
	for i := range c.ins {
		l := &c.ins[i]
		in := &b.ins[i]
		*in = instr{run: l.run, flat: l.flat, d: at(l.d), a: at(l.a), b: at(l.b), c: at(l.c), n: l.n, imm: l.imm, depth: l.depth, x: l.x, op: l.op}
		if l.to > 0 {
			in.t = int(c.marks[l.to])
		}
		if len(l.labels) > 0 {
			in.xs = make([]int, len(l.labels))
			for j, lb := range l.labels {
				in.xs[j] = int(c.marks[lb])
			}
		} else if len(l.xs) > 0 {
			in.xs = make([]int, len(l.xs))
			for j, r := range l.xs {
				in.xs[j] = at(r)
			}
		}
	}
	for i := range c.regs {
		v := &c.regs[i]
		if v.isConst {
			n := int(v.n)
			if !v.uni {
				n *= lanes
			}
			b.consts = append(b.consts, constant{wide: v.wide, at: at(ref{v: int32(i)}), n: n, bits: v.bits})
		}
	}
	for _, p := range c.params {
		b.param = append(b.param, at(p.r))
	}
	return b
}

// allocate gives registers storage. A register is live from its first to its
// last mention, and through every loop that it enters from outside.
func (c *code) allocate() {
	for i := range c.regs {
		c.regs[i].first = -1
	}
	mention := func(r ref, pos int32) {
		if !r.ok() {
			return
		}
		v := &c.regs[r.v]
		if v.first < 0 {
			v.first = pos
		}
		v.last = pos
	}
	for i := range c.ins {
		l := &c.ins[i]
		pos := int32(i)
		mention(l.a, pos)
		mention(l.b, pos)
		mention(l.c, pos)
		for _, r := range l.xs {
			mention(r, pos)
		}
		mention(l.d, pos)
	}
	for _, o := range c.out {
		mention(o.r, int32(len(c.ins)))
	}
	// Loops are the backward jumps; the inner ones come first.
	type span struct{ lo, hi int32 }
	var loops []span
	for i := range c.ins {
		l := &c.ins[i]
		if l.to > 0 && c.marks[l.to] <= int32(i) {
			loops = append(loops, span{c.marks[l.to], int32(i)})
		}
	}
	slices.SortFunc(loops, func(a, b span) int { return int((a.hi - a.lo) - (b.hi - b.lo)) })
	for _, lp := range loops {
		for i := range c.regs {
			v := &c.regs[i]
			if v.first >= 0 && v.first < lp.lo && v.last >= lp.lo && v.last < lp.hi {
				v.last = lp.hi
			}
		}
	}
	order := make([]int32, 0, len(c.regs))
	for i := range c.regs {
		if v := &c.regs[i]; v.first >= 0 || v.isConst || v.pinned {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &c.regs[a], &c.regs[b]
		if px, py := x.pinned || x.isConst, y.pinned || y.isConst; px != py {
			if px {
				return -1
			}
			return 1
		}
		return int(x.first - y.first)
	})
	var pools [4]pool
	for _, i := range order {
		v := &c.regs[i]
		p := &pools[poolOf(v)]
		if v.pinned || v.isConst {
			v.at = p.top
			p.top += v.n
			continue
		}
		p.expire(v.first)
		v.at = p.take(v.n)
		p.live = append(p.live, interval{v.last, v.at, v.n})
	}
	c.uni32, c.lane32, c.uni64, c.lane64 = pools[0].top, pools[1].top, pools[2].top, pools[3].top
}

func poolOf(v *vreg) int {
	i := 0
	if v.wide {
		i = 2
	}
	if !v.uni {
		i++
	}
	return i
}

type interval struct{ last, at, n int32 }

// pool hands out component ranges of one arena part.
type pool struct {
	top  int32
	live []interval
	free map[int32][]int32 // by size
}

func (p *pool) expire(pos int32) {
	keep := p.live[:0]
	for _, iv := range p.live {
		if iv.last < pos {
			if p.free == nil {
				p.free = map[int32][]int32{}
			}
			p.free[iv.n] = append(p.free[iv.n], iv.at)
			continue
		}
		keep = append(keep, iv)
	}
	p.live = keep
}

func (p *pool) take(n int32) int32 {
	if l := p.free[n]; len(l) > 0 {
		at := l[len(l)-1]
		p.free[n] = l[:len(l)-1]
		return at
	}
	// Split a larger free range rather than grow.
	best := int32(0)
	for size, l := range p.free {
		if size > n && len(l) > 0 && (best == 0 || size < best) {
			best = size
		}
	}
	if best > 0 {
		l := p.free[best]
		at := l[len(l)-1]
		p.free[best] = l[:len(l)-1]
		p.free[best-n] = append(p.free[best-n], at+n)
		return at
	}
	at := p.top
	p.top += n
	return at
}

// Registers returns the number of instructions and the register bytes one
// workgroup of lanes items needs.
func (p *Program) Registers(lanes int) (instructions, bytes int) {
	b, _ := p.bind(0, lanes)
	if b == nil {
		return 0, 0
	}
	return len(b.ins), b.size32*4 + b.size64*8
}

func opName(op *loom.Op) string {
	if op == nil {
		return "launch"
	}
	return op.Name()
}

func quoteValue(v *loom.Value) string {
	if v.Name == "" {
		return "%" + strconv.Itoa(int(v.Index))
	}
	return "%" + v.Name
}
