package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// huntKinds are the element kinds random kernels compute with; each has an input
// and an output buffer.
var huntKinds = []loom.Kind{loom.I1, loom.I8, loom.I16, loom.I32, loom.I64, loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64}

// hval is a value of a random kernel.
type hval struct {
	name  string
	kind  loom.Kind
	lanes int // 0 for a scalar
	// soft values hold NaNs whose sign nothing fixes: they stay away from ops that
	// look at bits.
	soft bool
}

func (v hval) typ() string { return vtype(v.kind, v.lanes) }

func vtype(k loom.Kind, n int) string {
	if n == 0 {
		return k.String()
	}
	return fmt.Sprintf("vector<%dx%s>", n, k)
}

// hunt writes one random kernel. What every op computes is stored, so that a
// difference names the op.
type hunt struct {
	r     *rand.Rand
	body  strings.Builder
	pool  []hval
	cols  []column
	at    map[loom.Kind]int
	n     int
	depth int
}

const huntItems, huntColumns = 64, 400

func (h *hunt) fresh() string { h.n++; return fmt.Sprintf("%%h%d", h.n) }

func (h *hunt) line(format string, args ...any) {
	h.body.WriteString(strings.Repeat("  ", h.depth+1))
	fmt.Fprintf(&h.body, format, args...)
	h.body.WriteByte('\n')
}

// keep adds a value to the pool.
func (h *hunt) keep(v hval) hval {
	h.pool = append(h.pool, v)
	return v
}

// see stores a value to columns of the output of its kind.
func (h *hunt) see(v hval, what string, ulp float64) {
	if h.depth > 0 {
		return
	}
	n := max(v.lanes, 1)
	c := h.at[v.kind]
	if c+n > huntColumns {
		return
	}
	h.at[v.kind] += n
	o := 0
	for i, k := range huntKinds {
		if k == v.kind {
			o = len(huntKinds) + i
		}
	}
	for i := range n {
		x := v.name
		if v.lanes > 0 {
			x = h.fresh()
			h.line("%s = vector.extract %s[%d] : %s -> %s", x, v.name, i, v.typ(), v.kind)
		}
		h.line("view.store %s, %%w_%s[%d, %%t] : %s, view<%dx%dx%s>", x, v.kind, c+i, v.kind, huntColumns, huntItems, v.kind)
		h.cols = append(h.cols, column{buffer: o, at: (c + i) * huntItems, n: huntItems, kind: v.kind, ulp: ulp, name: fmt.Sprintf("%s = %s (lane %d)", v.name, what, i)})
	}
}

// def defines a value by an op, stores it, and adds it to the pool unless its
// exact bits are not fixed.
func (h *hunt) def(k loom.Kind, lanes int, soft bool, ulp float64, format string, args ...any) hval {
	v := hval{h.fresh(), k, lanes, soft}
	text := fmt.Sprintf(format, args...)
	h.line("%s = %s", v.name, text)
	h.see(v, text, ulp)
	if ulp == 0 {
		h.keep(v)
	}
	return v
}

// pick returns a value of the kind and lanes, making one if there is none. A hard
// one has no NaN of free sign.
func (h *hunt) pick(k loom.Kind, lanes int, hard bool) hval {
	var fit []hval
	for _, v := range h.pool {
		if v.kind == k && v.lanes == lanes && !(hard && v.soft) {
			fit = append(fit, v)
		}
	}
	if len(fit) > 0 && h.r.IntN(5) != 0 {
		// Later values are more interesting.
		i := max(h.r.IntN(len(fit)), h.r.IntN(len(fit)))
		return fit[i]
	}
	if lanes == 0 {
		if h.r.IntN(3) == 0 || len(fit) == 0 {
			return h.constant(k)
		}
		return fit[h.r.IntN(len(fit))]
	}
	if h.r.IntN(2) == 0 {
		s := h.pick(k, 0, hard)
		v := hval{h.fresh(), k, lanes, s.soft}
		h.line("%s = vector.splat %s : %s", v.name, s.name, v.typ())
		return h.keep(v)
	}
	var els []string
	soft := false
	for range lanes {
		s := h.pick(k, 0, hard)
		els = append(els, s.name)
		soft = soft || s.soft
	}
	v := hval{h.fresh(), k, lanes, soft}
	h.line("%s = vector.from_elements %s : %s", v.name, strings.Join(els, ", "), v.typ())
	return h.keep(v)
}

func (h *hunt) constant(k loom.Kind) hval {
	v := hval{h.fresh(), k, 0, false}
	text := ""
	switch {
	case k == loom.I1:
		text = []string{"true", "false"}[h.r.IntN(2)]
	case k.IsInt():
		w := k.Bits()
		pickFrom := []int64{0, 1, -1, 2, 3, 7, 10, -5, 1<<(w-1) - 1, -1 << (w - 1), 1 << (w / 2), 100}
		text = strconv.FormatInt(pickFrom[h.r.IntN(len(pickFrom))], 10)
	default:
		text = []string{"0.0", "-0.0", "1.0", "-1.0", "0.5", "2.0", "3.0", "-1.5", "0.25", "100.0", "0.0078125", "-7.0"}[h.r.IntN(12)]
	}
	h.line("%s = scalar.constant %s : %s", v.name, text, k)
	return h.keep(v)
}

func (h *hunt) anyOf(ks ...loom.Kind) loom.Kind { return ks[h.r.IntN(len(ks))] }

func (h *hunt) intKind() loom.Kind { return h.anyOf(loom.I8, loom.I16, loom.I32, loom.I32, loom.I64) }
func (h *hunt) floatKind() loom.Kind {
	return h.anyOf(loom.F16, loom.BF16, loom.F32, loom.F32, loom.F64)
}
func (h *hunt) lanes() int { return []int{0, 0, 0, 2, 4, 3, 8}[h.r.IntN(7)] }

func dialectOf(lanes int) string {
	if lanes == 0 {
		return "scalar"
	}
	return "vector"
}

func one[T any](r *rand.Rand, xs ...T) T { return xs[r.IntN(len(xs))] }

// step adds one random op.
func (h *hunt) step() {
	n := h.lanes()
	d := dialectOf(n)
	to := func(k loom.Kind) string { // result type where the format states it
		if n == 0 {
			return ""
		}
		return " -> " + vtype(k, n)
	}
	switch h.r.IntN(30) {
	case 0, 1, 2:
		k := h.intKind()
		op := one(h.r, "addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		h.def(k, n, false, 0, "%s.%s %s, %s : %s", d, op, a.name, b.name, a.typ())
	case 3:
		k := h.intKind()
		op := one(h.r, "absi", "negi", "signi", "ctlzi", "cttzi", "ctpopi")
		a := h.pick(k, n, false)
		h.def(k, n, false, 0, "%s.%s %s : %s", d, op, a.name, a.typ())
	case 4:
		k := h.intKind()
		a, b, c := h.pick(k, n, false), h.pick(k, n, false), h.pick(k, n, false)
		h.def(k, n, false, 0, "%s.fmai %s, %s, %s : %s", d, a.name, b.name, c.name, a.typ())
	case 5, 6: // shifts by less than the width
		k := h.intKind()
		m := hval{h.fresh(), k, n, false}
		h.line("%s = %s.constant %d : %s", m.name, d, k.Bits()-1, m.typ())
		x := h.pick(k, n, false)
		s := h.def(k, n, false, 0, "%s.andi %s, %s : %s", d, x.name, m.name, x.typ())
		a := h.pick(k, n, false)
		h.def(k, n, false, 0, "%s.%s %s, %s : %s", d, one(h.r, "shli", "shrui", "shrsi", "rotli", "rotri"), a.name, s.name, a.typ())
	case 7, 8: // division by what is not zero
		k := h.intKind()
		o := hval{h.fresh(), k, n, false}
		h.line("%s = %s.constant 1 : %s", o.name, d, o.typ())
		x := h.pick(k, n, false)
		s := h.def(k, n, false, 0, "%s.ori %s, %s : %s", d, x.name, o.name, x.typ())
		a := h.pick(k, n, false)
		h.def(k, n, false, 0, "%s.%s %s, %s : %s", d, one(h.r, "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"), a.name, s.name, a.typ())
	case 9:
		k := h.intKind()
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		h.def(loom.I1, n, false, 0, "%s.cmpi %s, %s, %s : %s%s", d, one(h.r, loom.Enums["ipred"]...), a.name, b.name, a.typ(), to(loom.I1))
	case 10, 11:
		k := h.floatKind()
		op := one(h.r, "addf", "subf", "mulf", "divf", "addf", "mulf")
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		h.def(k, n, true, 0, "%s.%s %s, %s : %s", d, op, a.name, b.name, a.typ())
	case 12:
		k := h.floatKind()
		op := one(h.r, "absf", "negf", "signf", "ceilf", "floorf", "truncf", "roundf", "roundevenf")
		a := h.pick(k, n, false)
		h.def(k, n, true, 0, "%s.%s %s : %s", d, op, a.name, a.typ())
	case 13:
		k := h.floatKind()
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		switch h.r.IntN(4) {
		case 0:
			h.def(k, n, true, 0.25, "%s.%s %s, %s : %s", d, one(h.r, "minnumf", "maxnumf"), a.name, b.name, a.typ())
		case 1:
			h.def(k, n, true, 0, "%s.%s %s, %s : %s", d, one(h.r, "minimumf", "maximumf"), a.name, b.name, a.typ())
		case 2:
			b = h.pick(k, n, true)
			h.def(k, n, true, 0, "%s.copysignf %s, %s : %s", d, a.name, b.name, a.typ())
		default:
			c := h.pick(k, n, false)
			h.def(k, n, true, 0.25, "%s.clampf<%s> %s, %s, %s : %s", d, one(h.r, "ordered", "number", "ieee"), a.name, b.name, c.name, a.typ())
		}
	case 14:
		k := h.floatKind()
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		h.def(loom.I1, n, false, 0, "%s.cmpf %s, %s, %s : %s%s", d, one(h.r, loom.Enums["fpred"]...), a.name, b.name, a.typ(), to(loom.I1))
	case 15:
		k := h.anyOf(loom.F16, loom.F32, loom.F64)
		a, b, c := h.pick(k, n, false), h.pick(k, n, false), h.pick(k, n, false)
		h.def(k, n, true, 0, "%s.fmaf %s, %s, %s : %s", d, a.name, b.name, c.name, a.typ())
	case 16: // between floats
		from := h.anyOf(loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64)
		k := h.anyOf(loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64)
		if from.Bits() == k.Bits() {
			return
		}
		a := h.pick(from, n, false)
		op := "extf"
		if k.Bits() < from.Bits() {
			op = "fptrunc"
		}
		h.def(k, n, true, 0, "%s.%s %s : %s to %s", d, op, a.name, a.typ(), vtype(k, n))
	case 17: // between integers
		from, k := h.anyOf(loom.I1, loom.I8, loom.I16, loom.I32, loom.I64), h.anyOf(loom.I1, loom.I8, loom.I16, loom.I32, loom.I64)
		if from == k {
			return
		}
		a := h.pick(from, n, false)
		op := one(h.r, "extsi", "extui")
		if k.Bits() < from.Bits() {
			op = "trunci"
		}
		h.def(k, n, false, 0, "%s.%s %s : %s to %s", d, op, a.name, a.typ(), vtype(k, n))
	case 18: // integer to float and back in range
		from, k := h.anyOf(loom.I1, loom.I8, loom.I16, loom.I32, loom.I64), h.anyOf(loom.F8E4M3, loom.F8E5M2, loom.F16, loom.BF16, loom.F32, loom.F64)
		a := h.pick(from, n, false)
		h.def(k, n, true, 0, "%s.%s %s : %s to %s", d, one(h.r, "sitofp", "uitofp"), a.name, a.typ(), vtype(k, n))
		k, back := h.floatKind(), h.intKind()
		lo, hi := hval{h.fresh(), k, n, false}, hval{h.fresh(), k, n, false}
		sign := h.r.IntN(2)
		h.line("%s = %s.constant %s : %s", lo.name, d, []string{"0.0", "-100.0"}[sign], lo.typ())
		h.line("%s = %s.constant 100.0 : %s", hi.name, d, hi.typ())
		x := h.pick(k, n, false)
		c := h.fresh()
		h.line("%s = %s.clampf<number> %s, %s, %s : %s", c, d, x.name, lo.name, hi.name, x.typ())
		h.def(back, n, false, 0, "%s.%s %s : %s to %s", d, []string{"fptoui", "fptosi"}[sign], c, x.typ(), vtype(back, n))
	case 19: // bits
		k := h.anyOf(loom.I8, loom.I16, loom.I32, loom.I64)
		f := map[loom.Kind][]loom.Kind{loom.I8: {loom.F8E4M3, loom.F8E5M2}, loom.I16: {loom.F16, loom.BF16}, loom.I32: {loom.F32}, loom.I64: {loom.F64}}[k]
		fk := one(h.r, f...)
		if h.r.IntN(2) == 0 {
			a := h.pick(k, n, false)
			h.def(fk, n, false, 0, "%s.bitcast %s : %s to %s", d, a.name, a.typ(), vtype(fk, n))
		} else {
			a := h.pick(fk, n, true)
			h.def(k, n, false, 0, "%s.bitcast %s : %s to %s", d, a.name, a.typ(), vtype(k, n))
		}
	case 20: // bit fields
		k := h.anyOf(loom.I8, loom.I16, loom.I32, loom.I64)
		a := h.pick(k, n, false)
		w := 1 + h.r.IntN(k.Bits())
		o := h.r.IntN(k.Bits() - w + 1)
		if n > 0 && h.r.IntN(3) == 0 {
			b := h.pick(k, n, false)
			h.def(k, n, false, 0, "vector.bitfield.insert %s into %s {offset = %d, width = %d} : %s, %s", a.name, b.name, o, w, a.typ(), b.typ())
			return
		}
		h.def(k, n, false, 0, "%s.bitfield.extract%s %s {offset = %d, width = %d} : %s -> %s", d, one(h.r, "u", "s"), a.name, o, w, a.typ(), a.typ())
	case 21: // choices
		k := h.anyOf(huntKinds...)
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		soft := a.soft || b.soft
		if n > 0 && h.r.IntN(2) == 0 {
			c := h.pick(loom.I1, n, false)
			h.def(k, n, soft, 0, "vector.select %s, %s, %s : %s", c.name, a.name, b.name, a.typ())
			return
		}
		c := h.pick(loom.I1, 0, false)
		h.def(k, n, soft, 0, "scf.select %s, %s, %s : %s", c.name, a.name, b.name, a.typ())
	case 22:
		h.index()
	case 23:
		h.shape()
	case 24:
		h.control()
	case 26, 27:
		h.memory()
	case 28:
		h.axes()
	case 29:
		h.wave()
	case 25:
		k := h.floatKind()
		a, b := h.pick(k, n, false), h.pick(k, n, false)
		op := one(h.r, "addf<nsz>", "mulf<nsz>", "subf<nsz>", "remf", "isnanf", "isinff", "isfinitef")
		switch {
		case strings.HasPrefix(op, "is"):
			h.def(loom.I1, n, false, 0, "%s.%s %s : %s%s", d, op, a.name, a.typ(), to(loom.I1))
		case op == "remf":
			h.def(k, n, true, 0, "%s.remf %s, %s : %s", d, a.name, b.name, a.typ())
		default:
			h.def(k, n, true, 0.25, "%s.%s %s, %s : %s", d, op, a.name, b.name, a.typ())
		}
	}
}

// index computes in index arithmetic, near the ends of 32 and 64 bits.
func (h *hunt) index() {
	k := h.anyOf(loom.I32, loom.I64, loom.I8)
	a, b := h.pick(k, 0, false), h.pick(k, 0, false)
	x, y := h.fresh(), h.fresh()
	h.line("%s = index.cast %s : %s to index", x, a.name, k)
	h.line("%s = index.cast %s : %s to index", y, b.name, k)
	r := h.fresh()
	switch h.r.IntN(6) {
	case 0, 1:
		h.line("%s = index.%s %s, %s : index", r, one(h.r, "add", "sub", "mul", "min", "max", "andi", "ori", "xori"), x, y)
	case 2:
		c := h.fresh()
		h.line("%s = index.constant %d : index", c, one(h.r, int64(1), -1, 3, 4, 1<<31-1, -1<<31, 1<<31, 1<<32-1, 1<<40, 60))
		h.line("%s = index.%s %s, %s : index", r, one(h.r, "add", "sub", "mul", "min", "max", "andi"), x, c)
	case 3:
		m, s := h.fresh(), h.fresh()
		h.line("%s = index.constant 63 : index", m)
		h.line("%s = index.andi %s, %s : index", s, y, m)
		h.line("%s = index.%s %s, %s : index", r, one(h.r, "shli", "shrui", "shrsi", "rotli", "rotri"), x, s)
	case 4:
		m, s, p, o, q := h.fresh(), h.fresh(), h.fresh(), h.fresh(), h.fresh()
		lim := one(h.r, int64(1<<31-1), 1<<32-1, 255, 1<<62-1)
		h.line("%s = index.constant %d : index", m, lim)
		h.line("%s = index.andi %s, %s : index", s, x, m)
		h.line("%s = index.andi %s, %s : index", p, y, m)
		h.line("%s = index.constant 1 : index", o)
		h.line("%s = index.add %s, %s : index", q, p, o)
		h.line("%s = index.%s %s, %s : index", r, one(h.r, "div", "rem"), s, q)
	default:
		c := hval{h.fresh(), loom.I1, 0, false}
		text := fmt.Sprintf("index.cmp %s, %s, %s : index", one(h.r, loom.Enums["ipred"]...), x, y)
		h.line("%s = %s", c.name, text)
		h.see(h.keep(c), text, 0)
		h.line("%s = index.madd %s, %s, %s : index", r, x, y, x)
	}
	to := h.anyOf(loom.I32, loom.I64)
	h.def(to, 0, false, 0, "index.cast %s : index to %s", r, to)
}

// shape moves lanes.
func (h *hunt) shape() {
	k := h.anyOf(loom.I8, loom.I16, loom.I32, loom.I64, loom.F16, loom.BF16, loom.F32, loom.F64, loom.F8E4M3, loom.I1)
	switch h.r.IntN(9) {
	case 0:
		a := h.pick(k, 4, false)
		ls := fmt.Sprintf("%d, %d, %d, %d", h.r.IntN(4), h.r.IntN(4), h.r.IntN(4), h.r.IntN(4))
		h.def(k, 4, a.soft, 0, "vector.shuffle<[%s]> %s : %s", ls, a.name, a.typ())
	case 1:
		a := h.pick(k, 8, false)
		h.def(k, 4, a.soft, 0, "vector.slice %s[%d] : %s -> %s", a.name, h.r.IntN(5), a.typ(), vtype(k, 4))
	case 2:
		a, b := h.pick(k, 4, false), h.pick(k, 4, false)
		h.def(k, 8, a.soft || b.soft, 0, "vector.concat<0> %s, %s : %s, %s -> %s", a.name, b.name, a.typ(), b.typ(), vtype(k, 8))
	case 3:
		a, b := h.pick(k, 4, false), h.pick(k, 4, false)
		h.def(k, 8, a.soft || b.soft, 0, "vector.interleave<0> %s, %s : %s, %s -> %s", a.name, b.name, a.typ(), b.typ(), vtype(k, 8))
	case 4: // a lane chosen at run time
		a := h.pick(k, 8, false)
		x, m, i := h.fresh(), h.fresh(), h.fresh()
		s := h.pick(loom.I32, 0, false)
		h.line("%s = index.cast %s : i32 to index", x, s.name)
		h.line("%s = index.constant 7 : index", m)
		h.line("%s = index.andi %s, %s : index", i, x, m)
		h.def(k, 0, a.soft, 0, "vector.extract %s[%s] : %s -> %s", a.name, i, a.typ(), k)
		e := h.pick(k, 0, false)
		h.def(k, 8, a.soft || e.soft, 0, "vector.insert %s into %s[%s] : %s, %s", e.name, a.name, i, k, a.typ())
	case 5:
		k = h.intKind()
		a, s := h.pick(k, one(h.r, 2, 4, 8), false), h.pick(k, 0, false)
		h.def(k, 0, false, 0, "vector.reduce<%s> %s, %s : %s, %s", one(h.r, "addi", "muli", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori"), a.name, s.name, a.typ(), k)
	case 6:
		w := one(h.r, 2, 4, 8, 16)
		a := h.pick(loom.I32, one(h.r, 2, 4), false)
		to := one(h.r, loom.I8, loom.I16, loom.I32)
		if w > to.Bits() || a.lanes*32/w > 16 {
			return
		}
		u := h.def(to, a.lanes*32/w, false, 0, "vector.bitunpack%s<%d> %s : %s -> %s", one(h.r, "u", "s"), w, a.name, a.typ(), vtype(to, a.lanes*32/w))
		h.def(loom.I32, a.lanes, false, 0, "vector.bitpack<%d> %s : %s -> %s", w, u.name, u.typ(), a.typ())
	case 7:
		k = h.anyOf(loom.I8, loom.I16, loom.I32, loom.F32, loom.F16)
		tab := h.pick(k, 8, false)
		c := h.pick(loom.I8, 4, false)
		m := hval{h.fresh(), loom.I8, 4, false}
		h.line("%s = vector.constant 7 : %s", m.name, m.typ())
		x := h.def(loom.I8, 4, false, 0, "vector.andi %s, %s : %s", c.name, m.name, m.typ())
		h.def(k, 4, tab.soft, 0, "vector.table.lookup %s[%s] : %s, %s -> %s", tab.name, x.name, tab.typ(), x.typ(), vtype(k, 4))
	default: // lanes of another width
		from, to := loom.I32, one(h.r, loom.I8, loom.I16, loom.I64)
		a := h.pick(from, 4, false)
		n := 4 * 32 / to.Bits()
		h.def(to, n, false, 0, "vector.bitcast %s : %s to %s", a.name, a.typ(), vtype(to, n))
	}
}

// position is an index below a power of two, by one of several ways that prove it.
func (h *hunt) position(limit int) string {
	s := h.pick(h.anyOf(loom.I32, loom.I8, loom.I64), 0, false)
	x, m, r := h.fresh(), h.fresh(), h.fresh()
	h.line("%s = index.cast %s : %s to index", x, s.name, s.kind)
	switch h.r.IntN(3) {
	case 0:
		h.line("%s = index.constant %d : index", m, limit-1)
		h.line("%s = index.andi %s, %s : index", r, x, m)
	case 1:
		k, y := h.fresh(), h.fresh()
		h.line("%s = index.constant 9223372036854775807 : index", k)
		h.line("%s = index.andi %s, %s : index", y, x, k)
		h.line("%s = index.constant %d : index", m, limit)
		h.line("%s = index.rem %s, %s : index", r, y, m)
	default:
		q := h.fresh()
		h.line("%s = index.constant %d : index", m, limit-1)
		h.line("%s = index.andi %s, %s : index", q, x, m)
		h.line("%s = index.assume %s [range(%s, 0, %d)] : index", r, q, q, limit-1)
	}
	return r
}

// memory reads the inputs at computed places, and a part of workgroup memory that
// is the item's own.
func (h *hunt) memory() {
	k := h.anyOf(loom.I8, loom.I16, loom.I32, loom.I64, loom.F16, loom.BF16, loom.F32, loom.F64, loom.F8E4M3)
	size := 2 * huntItems
	flat := fmt.Sprintf("view<%dx%s>", size, k)
	n := one(h.r, 2, 3, 4, 8)
	mask := func() hval { return h.pick(loom.I1, n, false) }
	switch h.r.IntN(8) {
	case 0:
		i := h.position(size)
		h.def(k, 0, false, 0, "view.load %%f_%s[%s] : %s -> %s", k, i, flat, k)
	case 1:
		i := h.position(64)
		h.def(k, n, false, 0, "vector.load %%f_%s[%s] : %s -> %s", k, i, flat, vtype(k, n))
	case 2:
		i, m, p := h.position(64), mask(), h.pick(k, n, false)
		op := one(h.r, "mask", "expand")
		h.def(k, n, p.soft, 0, "vector.load.%s %%f_%s[%s], %s, %s : %s, %s, %s", op, k, i, m.name, p.name, flat, m.typ(), p.typ())
	case 3:
		c := h.pick(loom.I32, n, false)
		m7 := hval{h.fresh(), loom.I32, n, false}
		h.line("%s = vector.constant 31 : %s", m7.name, m7.typ())
		off := h.def(loom.I32, n, false, 0, "vector.andi %s, %s : %s", c.name, m7.name, c.typ())
		i := h.position(64)
		if h.r.IntN(2) == 0 {
			h.def(k, n, false, 0, "vector.gather %%f_%s[%s][%s] : %s, %s -> %s", k, i, off.name, flat, off.typ(), vtype(k, n))
			return
		}
		m, p := mask(), h.pick(k, n, false)
		h.def(k, n, p.soft, 0, "vector.gather.mask %%f_%s[%s][%s], %s, %s : %s, %s, %s, %s", k, i, off.name, m.name, p.name, flat, off.typ(), m.typ(), p.typ())
	case 4: // columns of a strided view
		i, j := h.position(8), h.position(8)
		h.def(k, 0, false, 0, "view.load %%s_%s[%s, %s] : view<8x8x%s, %%lay> -> %s", k, i, j, k, k)
		h.def(k, 4, false, 0, "vector.load %%s_%s[%s, 1] : view<8x8x%s, %%lay> -> %s", k, i, k, vtype(k, 4))
	case 5: // a strided view whose stride is known at run time
		st := h.position(8)
		l, v := h.fresh(), h.fresh()
		h.line("%s = encoding.layout.strided [%s, 1] : encoding<layout>", l, st)
		h.line("%s = buffer.view %%pi_%s[%%base] : buffer -> view<8x8x%s, %s>", v, k, k, l)
		i, j := h.position(8), h.position(8)
		h.def(k, 0, false, 0, "view.load %s[%s, %s] : view<8x8x%s, %s> -> %s", v, i, j, k, l, k)
	case 6: // sub-views
		i, j := h.position(32), h.position(16)
		v := h.fresh()
		h.line("%s = view.subview %%f_%s[%s] : %s -> view<64x%s>", v, k, i, flat, k)
		h.def(k, 0, false, 0, "view.load %s[%s] : view<64x%s> -> %s", v, j, k, k)
	default: // out and in again
		v := h.pick(k, 4, false)
		h.line("vector.store %s, %%l_%s[%%t, 0] : %s, view<%dx8x%s>", v.name, k, v.typ(), huntItems, k)
		x, i := h.pick(k, 0, false), h.position(8)
		h.line("view.store %s, %%l_%s[%%t, %s] : %s, view<%dx8x%s>", x.name, k, i, k, huntItems, k)
		j := h.position(4)
		h.def(k, 0, v.soft || x.soft, 0, "view.load %%l_%s[%%t, %s] : view<%dx8x%s> -> %s", k, j, huntItems, k, k)
	}
}

// axes moves and folds lanes of two axes.
func (h *hunt) axes() {
	k := h.intKind()
	a := h.pick(k, 8, false)
	els := make([]string, 8)
	for i := range els {
		els[i] = h.fresh()
		h.line("%s = vector.extract %s[%d] : %s -> %s", els[i], a.name, i, a.typ(), k)
	}
	q, tr, row := h.fresh(), h.fresh(), h.fresh()
	h.line("%s = vector.from_elements %s : vector<2x4x%s>", q, strings.Join(els, ", "), k)
	h.line("%s = vector.transpose<[1, 0]> %s : vector<2x4x%s> -> vector<4x2x%s>", tr, q, k, k)
	h.line("%s = vector.extract %s[%d] : vector<4x2x%s> -> vector<2x%s>", row, tr, h.r.IntN(4), k, k)
	h.keep(hval{row, k, 2, false})
	init := h.pick(k, 4, false)
	h.def(k, 4, false, 0, "vector.reduce.axes<%s> %s, %s axes [0] : vector<2x4x%s>, %s", one(h.r, "addi", "maxsi", "minui", "xori"), q, init.name, k, init.typ())
	b, s := h.pick(k, 0, false), h.pick(k, 0, false)
	h.def(k, 4, false, 0, "vector.iota %s step %s : %s", b.name, s.name, vtype(k, 4))
	lo, hi, st := h.position(16), h.position(16), h.fresh()
	h.line("%s = index.constant %d : index", st, 1+h.r.IntN(3))
	h.def(loom.I1, 4, false, 0, "vector.mask.range [%s to %s step %s] : index -> vector<4xi1>", lo, hi, st)
}

// wave combines the items, which are all active outside of control flow.
func (h *hunt) wave() {
	if h.depth > 0 {
		return
	}
	k := h.anyOf(loom.I32, loom.I64, loom.I8, loom.I16)
	a := hval{name: fmt.Sprintf("%%in_%s_%d", k, h.r.IntN(2))}
	switch h.r.IntN(4) {
	case 0:
		h.def(k, 0, false, 0, "kernel.subgroup.reduce<%s> %s : %s", one(h.r, "addi", "muli", "minsi", "maxui", "andi", "xori"), a.name, k)
	case 1:
		h.def(k, 0, false, 0, "kernel.subgroup.scan<%s> %s {direction = %s, mode = %s} : %s", one(h.r, "addi", "maxsi", "minui", "ori"), a.name, one(h.r, "forward", "reverse"), one(h.r, "inclusive", "exclusive"), k)
	case 2:
		c := h.pick(loom.I1, 0, false)
		h.def(loom.I64, 0, false, 0, "kernel.subgroup.vote.ballot %s : i1 -> i64", c.name)
	default:
		h.def(k, 0, false, 0, "kernel.workgroup.reduce<%s> %s : %s", one(h.r, "addi", "minsi", "maxui", "ori"), a.name, k)
	}
}

// control wraps a few ops into a branch or a loop.
func (h *hunt) control() {
	if h.depth > 1 {
		return
	}
	k := h.anyOf(loom.I8, loom.I16, loom.I32, loom.I64, loom.F32, loom.F16, loom.BF16, loom.I1)
	n := one(h.r, 0, 0, 4)
	init := h.pick(k, n, false)
	c := h.pick(loom.I1, 0, false)
	s := h.pick(loom.I32, 0, false)
	outer := len(h.pool)
	r := hval{h.fresh(), k, n, k.IsFloat()}
	arm := func() {
		h.depth++
		for range 1 + h.r.IntN(3) {
			h.step()
		}
		v := h.pick(k, n, false)
		h.line("scf.yield %s : %s", v.name, v.typ())
		h.depth--
		h.pool = h.pool[:outer]
	}
	switch h.r.IntN(3) {
	case 0:
		h.line("%s = scf.if %s -> (%s) {", r.name, c.name, r.typ())
		arm()
		h.line("} else {")
		arm()
		h.line("}")
	case 1:
		lo, hi, st, iv, x := h.fresh(), h.fresh(), h.fresh(), h.fresh(), h.fresh()
		h.line("%s = index.constant 0 : index", lo)
		h.line("%s = index.constant %d : index", hi, h.r.IntN(5))
		h.line("%s = index.constant 1 : index", st)
		h.line("%s = scf.for %s = [%s to %s step %s](%s = %s : %s) -> (%s) {", r.name, iv, lo, hi, st, x, init.name, r.typ(), r.typ())
		h.keep(hval{x, k, n, k.IsFloat()})
		arm()
		h.line("}")
	default:
		x, m, i := h.fresh(), h.fresh(), h.fresh()
		h.line("%s = index.cast %s : i32 to index", x, s.name)
		h.line("%s = index.constant 3 : index", m)
		h.line("%s = index.andi %s, %s : index", i, x, m)
		h.line("%s = scf.switch %s -> (%s) {", r.name, i, r.typ())
		h.depth++
		for _, label := range []string{"case 0", "case 2", "default"} {
			h.line("%s {", label)
			arm()
			h.line("}")
		}
		h.depth--
		h.line("}")
	}
	h.see(h.keep(r), "control flow", 0)
}

func (h *hunt) text(steps int) string {
	for _, k := range huntKinds {
		for j := range 2 {
			v := hval{fmt.Sprintf("%%in_%s_%d", k, j), k, 0, false}
			h.line("%s = view.load %%x_%s[%d, %%t] : view<2x%dx%s> -> %s", v.name, k, j, huntItems, k, k)
			h.keep(v)
		}
	}
	for range steps {
		h.step()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "kernel.def @k() {\n  %%one = index.constant 1 : index\n  %%n = index.constant %d : index\n  kernel.launch.config workgroups(%%one, %%one, %%one) workgroup_size(%%n, %%one, %%one) : index\n} launch(", huntItems)
	for i, k := range huntKinds {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%%pi_%s: buffer", k)
	}
	for _, k := range huntKinds {
		fmt.Fprintf(&b, ", %%po_%s: buffer", k)
	}
	b.WriteString(") {\n  %base = index.constant 0 : offset\n  %t = kernel.workitem.id<x> : index\n  %lay = encoding.layout.strided [1, 9] : encoding<layout>\n")
	for _, n := range []int{1, 2, 4, 8} {
		fmt.Fprintf(&b, "  %%b_%d = index.constant %d : index\n", n, n*8*huntItems)
	}
	for _, k := range huntKinds {
		fmt.Fprintf(&b, "  %%x_%s = buffer.view %%pi_%s[%%base] : buffer -> view<2x%dx%s>\n", k, k, huntItems, k)
		fmt.Fprintf(&b, "  %%f_%s = buffer.view %%pi_%s[%%base] : buffer -> view<%dx%s>\n", k, k, 2*huntItems, k)
		fmt.Fprintf(&b, "  %%s_%s = buffer.view %%pi_%s[%%base] : buffer -> view<8x8x%s, %%lay>\n", k, k, k)
		fmt.Fprintf(&b, "  %%m_%s = buffer.alloca<workgroup> align(16) %%b_%d : buffer\n  %%l_%s = buffer.view %%m_%s[%%base] : buffer -> view<%dx8x%s>\n", k, k.Bytes(), k, k, huntItems, k)
		fmt.Fprintf(&b, "  %%w_%s = buffer.view %%po_%s[%%base] : buffer -> view<%dx%dx%s>\n", k, k, huntColumns, huntItems, k)
	}
	b.WriteString(h.body.String())
	b.WriteString("  kernel.return\n}\n")
	return b.String()
}

// TestRandomKernels compares kernels of random ops on every runner. A failing seed
// is named in the report; LOOMC_TEST_HUNT="first count steps" looks for more.
func TestRandomKernels(t *testing.T) {
	first, count, steps := 1, 6, 60
	if s := os.Getenv("LOOMC_TEST_HUNT"); s != "" {
		if _, err := fmt.Sscan(s, &first, &count, &steps); err != nil {
			t.Fatal(err)
		}
	}
	type pick struct{ seed, steps int }
	// These found faults: a quotient in 24 bits of what only the compiler knew to be
	// narrow, and a ballot of "ordered and unequal".
	seeds := []pick{{20172, 80}, {20191, 80}}
	for seed := first; seed < first+count; seed++ {
		seeds = append(seeds, pick{seed, steps})
	}
	var s suite
	for _, c := range seeds {
		seed := c.seed
		h := &hunt{r: rand.New(rand.NewPCG(uint64(seed), 77)), at: map[loom.Kind]int{}}
		text := h.text(c.steps)
		tr := trial{text: text, target: "gfx1151", wave: 32}
		for _, k := range huntKinds {
			in := random(h.r, k, 2*huntItems)
			if k == loom.I1 {
				for i := range in {
					in[i] &= 1
				}
			}
			tr.args = append(tr.args, loomexec.BufferArg(in))
		}
		for _, k := range huntKinds {
			tr.args = append(tr.args, loomexec.BufferArg(make([]byte, huntColumns*huntItems*k.Bytes())))
		}
		s.add(fmt.Sprintf("seed %d", seed), tr, h.cols, nil)
	}
	s.run(t)
}
