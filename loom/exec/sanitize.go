package exec

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Sanitizer reports are diagnostics with these codes.
const (
	CodeRace        = "SANITIZE/RACE"
	CodeBounds      = "SANITIZE/BOUNDS"
	CodeInit        = "SANITIZE/INIT"
	CodeAssume      = "SANITIZE/ASSUME"
	CodeNaN         = "SANITIZE/NAN"
	CodeDivergence  = "SANITIZE/DIVERGENCE"
	CodeDeterminism = "SANITIZE/DETERMINISM"
)

// stopFindings ends a workgroup whose further execution makes no sense.
type stopFindings struct{}

// sanShared is the sanitizer state of one launch. Instrumented launches run on
// one core, so nothing here is locked.
type sanShared struct {
	run   *launch
	list  diag.List
	seen  map[string]int // report key → position in list, for counting repeats
	times []int
	// roots are the distinct storages behind the bindings.
	roots []*shadow
	sync  map[syncKey]*clock
}

// shadow is what is known about every byte of one storage.
type shadow struct {
	base    uintptr
	size    int64
	gran    uint // log2 of the bytes of a cell
	pages   map[int64]*[pageCells]cell
	page    *[pageCells]cell // the page used last
	pageAt  int64
	written []uint64 // bit per byte; nil when all of it counts as written
	private bool
	since   uint32 // events before this one belong to an earlier allocation
	local   bool   // belongs to one workgroup at a time
}

const pageCells = 512

// stamp says who accessed a cell when. pc is the instruction, -1 for none.
type stamp struct {
	wg     uint32
	when   uint32
	pc     int32
	lane   int16
	valid  bool
	atomic bool
}

// cell holds the last write, the last reads of two different lanes of the
// workgroup that read last, and the last read of another workgroup.
type cell struct{ w, r1, r2, ro stamp }

func newSanShared(r *launch) *sanShared {
	s := &sanShared{run: r, seen: map[string]int{}, sync: map[syncKey]*clock{}}
	type span struct {
		lo, hi uintptr
		ids    []int
	}
	var spans []span
	for i, p := range r.code.params {
		if p.buf < 0 || len(r.args[i].Buffer) == 0 {
			continue
		}
		lo := uintptr(unsafe.Pointer(unsafe.SliceData(r.args[i].Buffer)))
		spans = append(spans, span{lo, lo + uintptr(len(r.args[i].Buffer)), []int{p.buf}})
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].lo < spans[j].lo })
	for _, sp := range spans {
		if n := len(s.roots); n > 0 && sp.lo < s.roots[n-1].base+uintptr(s.roots[n-1].size) {
			last := s.roots[n-1]
			last.size = max(last.size, int64(sp.hi-last.base))
			continue
		}
		s.roots = append(s.roots, &shadow{base: sp.lo, size: int64(sp.hi - sp.lo), gran: r.code.gran, pages: map[int64]*[pageCells]cell{}})
	}
	n := 0
	for i, p := range r.code.params {
		if p.buf < 0 {
			continue
		}
		if r.opt.Outputs[n] {
			if sh, off := s.find(r.args[i].Buffer); sh != nil {
				if sh.written == nil {
					sh.written = make([]uint64, (sh.size+63)/64)
					for j := range sh.written {
						sh.written[j] = ^uint64(0)
					}
				}
				for b := off; b < off+int64(len(r.args[i].Buffer)); b++ {
					sh.written[b>>6] &^= 1 << (b & 63)
				}
			}
		}
		n++
	}
	return s
}

// granule returns log2 of the smallest element any access of the program moves.
func (c *code) granule() uint {
	g := uint(3)
	for i := range c.ins {
		if m, ok := c.ins[i].x.(*memCheck); ok {
			g = min(g, uint(bits.TrailingZeros64(uint64(m.acc.size))))
		}
	}
	return g
}

func (s *sanShared) find(b []byte) (*shadow, int64) {
	if len(b) == 0 {
		return nil, 0
	}
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for _, r := range s.roots {
		if p >= r.base && p < r.base+uintptr(r.size) {
			return r, int64(p - r.base)
		}
	}
	return nil, 0
}

func (s *shadow) cell(i int64) *cell {
	if s.page == nil || s.pageAt != i/pageCells {
		s.pageAt = i / pageCells
		if s.page = s.pages[s.pageAt]; s.page == nil {
			s.page = new([pageCells]cell)
			s.pages[s.pageAt] = s.page
		}
	}
	return &s.page[i%pageCells]
}

func (s *shadow) allWritten(off, n int64) bool {
	if s.written == nil {
		return true
	}
	for b := off; b < off+n; b++ {
		if s.written[b>>6]>>(b&63)&1 == 0 {
			return false
		}
	}
	return true
}

func (s *shadow) setWritten(off, n int64) {
	if s.written == nil {
		return
	}
	for b := off; b < off+n; b++ {
		s.written[b>>6] |= 1 << (b & 63)
	}
}

// sanState is the sanitizer state of the frame.
type sanState struct {
	shared *sanShared
	shadow []*shadow // by buffer id
	off    []int64   // byte offset of the buffer in its shadow
	now    uint32    // events of this workgroup so far
	// lastWG and lastSG are the events of the last barriers per space, the latter
	// per subgroup.
	lastWG   [2]uint32
	lastSG   [2][]uint32
	barriers []barrierRecord
	know     []*clock // per lane: what was acquired since the last barrier
	knowWG   *clock   // what the whole workgroup has acquired
}

type barrierRecord struct {
	when uint32
	pc   int32
	info *barrierInfo
}

func newSanState(f *frame) *sanState {
	s := &sanState{shared: f.run.san, shadow: make([]*shadow, len(f.bufs)), off: make([]int64, len(f.bufs))}
	for i := range f.bufs {
		if f.bufs[i].info.binding >= 0 {
			s.shadow[i], s.off[i] = s.shared.find(f.bufs[i].data)
		}
	}
	n := (f.L + f.wave - 1) / f.wave
	s.lastSG[0], s.lastSG[1] = make([]uint32, n), make([]uint32, n)
	s.know = make([]*clock, f.L)
	return s
}

func (s *sanState) startWorkgroup(f *frame) {
	s.now = 1
	s.lastWG = [2]uint32{}
	clear(s.lastSG[0])
	clear(s.lastSG[1])
	clear(s.know)
	s.knowWG = nil
	s.barriers = s.barriers[:0]
}

// allocated is called when an alloca has given buffer id its storage.
func (s *sanState) allocated(f *frame, id int) {
	b := &f.bufs[id]
	s.now++
	sh := s.shadow[id]
	if sh == nil {
		sh = &shadow{gran: f.code.gran, pages: map[int64]*[pageCells]cell{}, local: true}
		s.shadow[id] = sh
	}
	sh.private = b.info.space == spacePrivate
	sh.size = int64(len(b.data))
	sh.since = s.now
	need := (sh.size + 63) / 64
	if int64(cap(sh.written)) < need {
		sh.written = make([]uint64, need)
	}
	sh.written = sh.written[:need]
	clear(sh.written)
	if sh.written == nil {
		sh.written = []uint64{}
	}
}

// report adds a finding; the key makes repeats of one place count instead of
// pile up.
func (s *sanShared) report(key string, d diag.Diagnostic) {
	if at, ok := s.seen[key]; ok {
		s.times[at]++
		return
	}
	limit := s.run.opt.MaxFindings
	if limit == 0 {
		limit = 20
	}
	if len(s.list) >= limit {
		return
	}
	s.seen[key] = len(s.list)
	s.list = append(s.list, d)
	s.times = append(s.times, 1)
}

func (s *sanShared) findings() diag.List {
	out := slices.Clone(s.list)
	for i, n := range s.times {
		if n > 1 {
			out[i].Message += fmt.Sprintf("; %d more like it", n-1)
		}
	}
	return out
}

func (f *frame) finding(code string, in *instr, lane int, format string, args ...any) diag.Diagnostic {
	var sp diag.Span
	if in != nil && in.op != nil {
		sp = in.op.Span
	} else {
		sp = f.run.prog.def.NameSpan
	}
	d := diag.Errorf(sp, code, "%s", fmt.Sprintf(format, args...)+" ("+f.where1(lane)+")")
	return f.run.withSite(d, in)
}

func (f *frame) pcOf(in *instr) int32 {
	return int32((uintptr(unsafe.Pointer(in)) - uintptr(unsafe.Pointer(&f.ins[0]))) / unsafe.Sizeof(*in))
}

func key(code string, parts ...any) string { return code + fmt.Sprintln(parts...) }

// bounds: indices against extents.

func checkExtents(f *frame, in *instr) {
	c := in.x.(*extentCheck)
	wide := wideKind(c.off)
	w := uint(c.off.Bits())
	for _, l32 := range f.active() {
		l := int(l32)
		bad := func(axis int, i, span, size int64) {
			verb := "reads"
			if c.write {
				verb = "writes"
			}
			what := fmt.Sprintf("index %d", i)
			if span > 1 {
				what = fmt.Sprintf("indices %d to %d", i, i+span-1)
			}
			d := f.finding(CodeBounds, in, l, "%s %s %s along axis %d of %s, whose extent there is %d", in.op.Name(), verb, what, axis, c.view, size).
				WithHelp("guard the access with the extent, or widen the view to what the kernel may touch")
			f.run.san.report(key(CodeBounds, f.pcOf(in), axis), d)
			panic(stopFindings{})
		}
		last := len(c.axes) - 1
		for k, a := range c.axes {
			i, size := a.lit, a.size
			if a.idx >= 0 {
				i = f.i64[in.xs[a.idx]+l]
			}
			if a.extent >= 0 {
				size = f.i64[in.xs[a.extent]+l]
			}
			if k < last || c.n == 1 && !c.hasOff && !c.masked {
				if i < 0 || i+a.span > size {
					bad(k, i, a.span, size)
				}
				continue
			}
			at := i
			for e := range c.n {
				on := !c.masked || f.u32[in.c+e*f.L+l]&1 != 0
				p := at + int64(e)
				if c.packed {
					p = at
				}
				if c.hasOff {
					if wide {
						p = i + f.i64[in.b+e*f.L+l]
					} else {
						p = i + sext(uint64(f.u32[in.b+e*f.L+l]), w)
					}
				}
				if !on {
					continue
				}
				if p < 0 || p >= size {
					if !c.masked && !c.hasOff {
						bad(k, i, int64(c.n), size)
					}
					bad(k, p, 1, size)
				}
				if c.packed {
					at++
				}
			}
		}
	}
}

// checkMemory is the check in front of every access: bytes inside the binding,
// alignment, memory that was written before it is read, and races.
func checkMemory(f *frame, in *instr) {
	c := in.x.(*memCheck)
	acc := c.acc
	mode := f.run.opt.Sanitize
	s := f.san
	s.now++
	pc := f.pcOf(in)
	for _, l32 := range f.active() {
		l := int(l32)
		for e := range acc.n {
			if acc.masked && f.u32[in.c+e*f.L+l]&1 == 0 {
				continue
			}
			id, addr := f.locate(in, acc, l, e)
			if id >= len(f.bufs) || addr < 0 || addr+acc.size > f.bufLen(id) {
				f.boundsFinding(in, acc, l, id, addr)
			}
			if mode&SanBounds != 0 && acc.size > 1 && addr%acc.size != 0 {
				d := f.finding(CodeBounds, in, l, "%s accesses %s at byte %d, which is not a multiple of its element's %d bytes", in.op.Name(), f.bufs[id].info.describe(), addr, acc.size).
					WithHelp("align the view's byte offset to the element type, or load bytes and assemble them")
				f.run.san.report(key(CodeBounds, pc, "align"), d)
			}
			sh := s.shadow[id]
			if sh == nil {
				continue
			}
			at := s.off[id] + addr
			if st := f.bufs[id].stride; st > 0 {
				at += int64(l) * st
			}
			if mode&SanInit != 0 && (!acc.write || acc.atomic != nil) && !sh.allWritten(at, acc.size) {
				f.initFinding(in, acc, l, id, addr)
				sh.setWritten(at, acc.size) // once per byte
			}
			if acc.write {
				sh.setWritten(at, acc.size)
			}
			if mode&SanRace != 0 && !sh.private {
				f.race(in, acc, sh, id, at, addr, l, e, pc)
			}
		}
	}
}

func (f *frame) boundsFinding(in *instr, acc *access, l, id int, addr int64) {
	verb := "reads"
	if acc.write {
		verb = "writes"
	}
	name, size := fmt.Sprintf("buffer %d", id), int64(0)
	if id < len(f.bufs) {
		name, size = f.bufs[id].info.describe(), f.bufLen(id)
	}
	d := f.finding(CodeBounds, in, l, "%s %s bytes %d to %d of %s, which has %d bytes", in.op.Name(), verb, addr, addr+acc.size-1, name, size).
		WithHelp("guard the access with the real extent, or give the binding the bytes the kernel addresses")
	f.run.san.report(key(CodeBounds, f.pcOf(in)), d)
	panic(stopFindings{})
}

func (f *frame) initFinding(in *instr, acc *access, l, id int, addr int64) {
	d := f.finding(CodeInit, in, l, "%s reads bytes %d to %d of %s, which nothing has written", in.op.Name(), addr, addr+acc.size-1, f.bufs[id].info.describe())
	if op := f.bufs[id].info.op; op != nil {
		d = d.WithRelated(op.Span, "allocated here; its content is unspecified")
	}
	d = d.WithHelp("store to every element that is read, tails included, or skip the read")
	f.run.san.report(key(CodeInit, f.pcOf(in)), d)
}

// assume.

func checkPreds(f *frame, in *instr) {
	c := in.x.(*predCheck)
	for i, p := range c.preds {
		for _, l32 := range f.active() {
			l := int(l32)
			if f.predHolds(p, c.args[i], c.kinds[i], in, l) {
				continue
			}
			var vals []string
			for j, a := range p.Args {
				if a.Val != nil {
					vals = append(vals, fmt.Sprintf("%s = %s", quoteValue(a.Val), f.showReg(c.kinds[i][j], in.xs[c.args[i][j]]+l)))
				}
			}
			code := in.op
			what := "promises"
			d := f.finding(CodeAssume, in, l, "%s %s %s, but %s", opName(code), what, p, strings.Join(vals, ", "))
			if c.what == "where" {
				d.Message = fmt.Sprintf("the launch of @%s breaks its where clause %s: %s", f.run.prog.def.Name, p, strings.Join(vals, ", "))
				if p.Span.Valid() {
					d.Span = p.Span
				}
				d = d.WithHelp("launch with arguments the kernel accepts, or relax the clause if the body allows it")
			} else {
				d = d.WithHelp("an assume is a promise, not a check: test the value and take another path, or correct the bound")
			}
			f.run.san.report(key(CodeAssume, f.pcOf(in), i), d)
			break
		}
	}
}

func (f *frame) showReg(k loom.Kind, i int) string {
	bits := f.word(wideKind(k), i)
	switch {
	case k.IsFloat():
		return fmt.Sprint(floatValue(k, bits))
	case k == loom.I1:
		return fmt.Sprint(bits & 1)
	}
	return fmt.Sprint(sext(bits, uint(k.Bits())))
}

func (f *frame) predHolds(p loom.Predicate, at []int, kinds []loom.Kind, in *instr, l int) bool {
	var iv [3]int64
	var fv [3]float64
	isF := false
	w := uint(64)
	for j, a := range p.Args {
		if j > 2 {
			return true
		}
		switch {
		case at[j] >= 0 && kinds[j].IsFloat():
			fv[j], isF = floatValue(kinds[j], f.word(wideKind(kinds[j]), in.xs[at[j]]+l)), true
		case at[j] >= 0:
			w = uint(kinds[j].Bits())
			iv[j] = sext(f.word(wideKind(kinds[j]), in.xs[at[j]]+l), w)
			if kinds[j] == loom.I1 {
				iv[j] &= 1
			}
		case a.IsFloat:
			fv[j], isF = a.Float, true
		default:
			iv[j], fv[j] = a.Int, float64(a.Int)
		}
	}
	if isF {
		return p.Kind.HoldsFloat(fv[0], fv[1], fv[2])
	}
	return p.Kind.HoldsInt(iv[0], iv[1], iv[2], w)
}

// checkBuffers tests promises about buffers. A binding's address is what the
// launch says (Arg.Offset into its allocation), never the host's.
func checkBuffers(f *frame, in *instr) {
	c := in.x.(*bufferCheck)
	report := func(format string, args ...any) {
		d := f.finding(CodeAssume, in, -1, format, args...).
			WithHelp("bind storage that keeps the promise, or drop the assume")
		f.run.san.report(key(CodeAssume, f.pcOf(in)), d)
	}
	arg := func(id int) (Arg, bool) {
		for i, p := range f.code.params {
			if p.buf == id {
				return f.run.args[i], true
			}
		}
		return Arg{}, false
	}
	switch c.kind {
	case "alignment":
		for i, x := range in.xs {
			if a, ok := arg(int(f.u32[x])); ok && c.align > 0 && a.Offset%c.align != 0 {
				report("%s promises %d-byte alignment of %s, which starts at byte %d of its allocation", in.op.Name(), c.align, c.names[i], a.Offset)
			}
		}
	case "noalias":
		for i, x := range in.xs {
			for j := range i {
				a, ok1 := arg(int(f.u32[x]))
				b, ok2 := arg(int(f.u32[in.xs[j]]))
				if !ok1 || !ok2 {
					if f.u32[x] == f.u32[in.xs[j]] {
						report("%s promises distinct storage, but %s and %s are the same buffer", in.op.Name(), c.names[j], c.names[i])
					}
					continue
				}
				if overlap(a.Buffer, b.Buffer) {
					report("%s promises distinct storage, but the bindings of %s and %s overlap", in.op.Name(), c.names[j], c.names[i])
				}
			}
		}
	case "memory_space":
		for i, x := range in.xs {
			got := f.bufs[f.u32[x]].info.space
			if want := c.space; (want == "global" || want == "workgroup" || want == "private") && want != got.String() {
				report("%s promises %s memory, but %s is in %s memory", in.op.Name(), want, c.names[i], got)
			}
		}
	}
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}

// nan.

func checkNaN(f *frame, in *instr) {
	c := in.x.(*nanCheckInfo)
	finite := func(k loom.Kind, i int) bool {
		v := floatValue(k, f.word(wideKind(k), i))
		return v == v && !math.IsInf(v, 0)
	}
	inputsFinite := func(l int) bool {
		for j, o := range c.in {
			for e := range o.n {
				if !finite(o.kind, in.xs[1+j]+e*f.L+l) {
					return false
				}
			}
		}
		return true
	}
	for e := range c.res.n {
		for _, l32 := range f.active() {
			l := int(l32)
			if finite(c.res.kind, in.xs[0]+e*f.L+l) {
				continue
			}
			clean := true
			if in.imm != 0 {
				for _, m := range f.active() {
					clean = clean && inputsFinite(int(m))
				}
			} else {
				for j, o := range c.in {
					if i := min(e, o.n-1); !finite(o.kind, in.xs[1+j]+i*f.L+l) {
						clean = false
					}
				}
			}
			if !clean {
				continue
			}
			v := f.showReg(c.res.kind, in.xs[0]+e*f.L+l)
			var ins []string
			for j, o := range c.in {
				if o.n == 1 {
					ins = append(ins, f.showReg(o.kind, in.xs[1+j]+l))
				} else if in.imm == 0 {
					ins = append(ins, f.showReg(o.kind, in.xs[1+j]+min(e, o.n-1)*f.L+l))
				}
			}
			msg := fmt.Sprintf("%s makes %s = %s", in.op.Name(), c.name, v)
			if len(ins) > 0 {
				msg += " from " + strings.Join(ins, ", ")
			} else {
				msg += " from finite inputs"
			}
			d := f.finding(CodeNaN, in, l, "%s", msg).WithHelp("guard the operand (a zero divisor, a negative root, an exponent out of range), or widen the type")
			f.run.san.report(key(CodeNaN, f.pcOf(in)), d)
			return
		}
	}
}

// divergence.

type convergeCheck struct{ scope string }

func checkConvergence(f *frame, in *instr) {
	c := in.x.(*convergeCheck)
	report := func(missing, present int, group string) {
		d := f.finding(CodeDivergence, in, present, "%s is reached by item %d but not by item %d of the same %s", in.op.Name(), present, missing, group)
		for p := in.op.Parent(); p != nil; p = p.Parent() {
			d = d.WithRelated(p.Span, "inside this %s", p.Name())
		}
		d = d.WithHelp("hoist the op out of the divergent branch or loop, or make its condition the same for the whole %s", group)
		f.run.san.report(key(CodeDivergence, f.pcOf(in)), d)
	}
	lost := func(l int) bool { return !f.m.has(l) && !f.dead.has(l) }
	if c.scope == "workgroup" {
		if f.m.n+f.dead.n >= f.L {
			return
		}
		for l := range f.L {
			if lost(l) {
				report(l, f.m.lo, "workgroup")
				return
			}
		}
		return
	}
	f.eachSubgroup(func(base, width int) {
		present := -1
		for i := range width {
			if f.m.has(base + i) {
				present = base + i
				break
			}
		}
		if present < 0 {
			return
		}
		for i := range width {
			if lost(base + i) {
				report(base+i, present, "subgroup")
				return
			}
		}
	})
}
