package codegen

import (
	"math"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

var scfOps = map[string]emitFunc{
	"scf.for": emitFor, "scf.if": emitIf, "scf.while": emitWhile, "scf.switch": emitSwitch,
	"scf.lookup": emitLookup, "scf.select": emitSelect, "scf.schedule.fence": func(*emitter, *loom.Op) {},
}

// mutables declares one variable per value, named after it.
func (e *emitter) mutables(vs []*loom.Value, inits []*loom.Value) []*cvar {
	out := make([]*cvar, len(vs))
	for i, v := range vs {
		if isMemory(v) {
			var init func(s *slot) string
			if inits != nil {
				init = func(s *slot) string { return e.place(inits[i], s) }
			}
			out[i] = e.carryMemory(v, init)
			continue
		}
		init := ""
		if inits != nil {
			init = e.into(inits[i], v)
		}
		out[i] = e.declareMutable(v.Name, e.ctype(v), init)
	}
	return out
}

// into is the expression of v converted to the carrier of the variable for to.
func (e *emitter) into(v, to *loom.Value) string {
	if to.Type.Kind.IsIndexLike() {
		return e.as(v, e.carrier(to))
	}
	if s := e.slots[to]; s != nil {
		return e.place(v, s)
	}
	return e.ref(v)
}

// bindCarried makes v the variable cv that was declared for it.
func (e *emitter) bindCarried(v *loom.Value, cv *cvar) {
	if e.slots[v] == nil { // a view or buffer was bound to its slot
		e.bind(v, cv)
	}
}

// refuseOpaque reports carried values that have no C++ variable form.
func (e *emitter) refuseOpaque(vs []*loom.Value) bool {
	for _, v := range vs {
		if k := v.Type.Kind; k != loom.Vector && !k.IsScalar() && !isMemory(v) {
			e.unsupported("make it inside the region instead", "value %%%s of type '%s' is carried through control flow", v.Name, v.Type)
			return true
		}
	}
	return false
}

// assignAll writes several variables at once: values that name a variable
// overwritten earlier in the list are read first.
func (e *emitter) assignAll(cvs []*cvar, targets, vals []*loom.Value) {
	exprs := make([]string, len(cvs))
	for i := range cvs {
		exprs[i] = e.into(vals[i], targets[i])
	}
	for i := range cvs {
		for j := range i {
			if mentions(exprs[i], cvs[j].name) && exprs[j] != cvs[j].name {
				exprs[i] = e.tmp(cvs[i].name+"_next", cvs[i].ctype, exprs[i])
				break
			}
		}
	}
	// Temporaries were emitted before the first assignment.
	for i, cv := range cvs {
		e.assign(cv, exprs[i])
	}
}

func mentions(expr, name string) bool {
	found := false
	identifiers(expr, func(id string) { found = found || id == name })
	return found
}

func emitFor(e *emitter, op *loom.Op) {
	if e.refuseOpaque(op.Results) {
		return
	}
	body := op.Regions[0].Entry()
	iv := body.Args[0]
	carried := body.Args[1:]
	lo, hi, step := op.Operand("lower_bound"), op.Operand("upper_bound"), op.Operand("step")
	// Results share the variables of the carried values.
	cvs := e.mutables(carried, op.Field("iter_args"))
	for i, cv := range cvs {
		e.bindCarried(carried[i], cv)
	}
	flo, fhi, fs := e.factAt(lo), e.factAt(hi), e.factAt(step)
	c := c64
	if flo.Within(math.MinInt32, math.MaxInt32) && fhi.Within(math.MinInt32, math.MaxInt32) && fs.Within(0, math.MaxInt32) && fhi.Hi+fs.Hi <= math.MaxInt32 {
		c = c32
	}
	e.carriers[iv] = c
	name := e.newVar(iv.Name, c.String())
	inc := name.name + " += " + e.as(step, c)
	if n, ok := e.constOf(step); ok && n == 1 {
		inc = "++" + name.name
	}
	n := e.t.control("}")
	open := "for (" + c.String() + " " + name.name + " = " + e.as(lo, c) + "; " + name.name + " < " + e.as(hi, c) + "; " + inc + ") {"
	if p := e.loopHint(op); p != "" {
		open = p + "\n" + open
	}
	e.bind(iv, name)
	name.defs = append(name.defs, n)
	dirty := e.scratch.dirty
	e.enterLoop(op.Regions[0])
	e.loops++
	cfg, rolled := e.cfg, e.rolled
	e.cfg, e.rolled = false, nil
	if e.staysLoop(op, flo, fhi, fs) {
		e.rolled = op
	}
	e.t.in(n, open, func() {
		if y := e.region(op.Regions[0]); y != nil {
			e.assignAll(cvs, carried, y.Operands)
		}
	})
	e.cfg, e.rolled = cfg, rolled
	e.loops--
	e.scratch.dirty |= dirty
	for i, r := range op.Results {
		e.bindResult(r, cvs[i], carried[i])
	}
}

// staysLoop reports a loop that the compiler will not unroll whole: it has many
// trips, or an unknown number, and the source does not ask for it.
func (e *emitter) staysLoop(op *loom.Op, lo, hi, step facts.Fact) bool {
	if op.Has("unroll") || len(op.Field("unroll_factor")) > 0 {
		return false
	}
	if step.Lo < 1 || hi.Hi == math.MaxInt64 || lo.Lo == math.MinInt64 {
		return true
	}
	return (hi.Hi-lo.Lo)/step.Lo > 16
}

// bindResult makes r the variable of v; the carriers may differ.
func (e *emitter) bindResult(r *loom.Value, cv *cvar, v *loom.Value) {
	if e.slots[v] != nil {
		e.alias(r, v)
		return
	}
	if r.Type.Kind.IsIndexLike() {
		e.carriers[r] = e.carrier(v)
	}
	e.bind(r, cv)
}

// loopHint is the pragma for the source's unroll request.
func (e *emitter) loopHint(op *loom.Op) string {
	if f := op.Field("unroll_factor"); len(f) > 0 {
		if n, ok := e.constOf(f[0]); ok {
			if n <= 1 {
				return "#pragma unroll 1"
			}
			return "#pragma unroll " + itoa(n)
		}
	}
	if op.Has("unroll") {
		if n := op.Attr("unroll").Int; n > 1 {
			return "#pragma unroll " + itoa(n)
		}
		return "#pragma unroll"
	}
	return ""
}

func emitIf(e *emitter, op *loom.Op) {
	if e.refuseOpaque(op.Results) {
		return
	}
	if c, ok := e.constOf(op.Operand("condition")); ok {
		e.inline(op, c != 0)
		return
	}
	cvs := e.mutables(op.Results, nil)
	n := e.t.control("}")
	cond := e.ref(op.Operand("condition"))
	cfg := e.cfg
	e.cfg = false
	dirty, after := e.scratch.dirty, e.scratch.dirty
	for i, r := range op.Regions {
		open := "if (" + cond + ") {"
		if i == 1 {
			open = "} else {"
		}
		e.scratch.dirty = dirty
		e.t.in(n, open, func() {
			if y := e.region(r); y != nil && y.Def.Name == "scf.yield" {
				e.assignAll(cvs, op.Results, y.Operands)
			}
		})
		after |= e.scratch.dirty
	}
	e.cfg = cfg
	e.scratch.dirty = after
	for i, r := range op.Results {
		e.bindCarried(r, cvs[i])
	}
}

// inline emits the taken branch of a decided conditional in place.
func (e *emitter) inline(op *loom.Op, then bool) {
	i := 0
	if !then {
		i = 1
	}
	if i >= len(op.Regions) {
		return
	}
	y := e.region(op.Regions[i])
	for j, r := range op.Results {
		if y != nil && j < len(y.Operands) {
			e.carriers[r] = e.carrier(y.Operands[j])
			e.alias(r, y.Operands[j])
		}
	}
}

func emitWhile(e *emitter, op *loom.Op) {
	if e.refuseOpaque(op.Results) {
		return
	}
	before, after := op.Regions[0].Entry(), op.Regions[1].Entry()
	cvs := e.mutables(before.Args, op.Field("iter_args"))
	for i, cv := range cvs {
		e.bindCarried(before.Args[i], cv)
	}
	res := e.mutables(op.Results, nil)
	n := e.t.control("}")
	e.loops++
	if e.scratch.slot > 0 {
		e.scratch.dirty = 3
	}
	cfg := e.cfg
	e.cfg = false
	e.t.in(n, "for (;;) {", func() {
		c := e.region(op.Regions[0])
		if c == nil {
			return
		}
		fwd := c.Field("forwarded")
		e.assignAll(res, op.Results, fwd)
		cond := e.ref(c.Operand("condition"))
		e.t.addControl(n, "if (!"+paren(cond)+") break;")
		for i, a := range after.Args {
			if i < len(fwd) {
				if a.Type.Kind.IsIndexLike() {
					e.carriers[a] = e.carrier(fwd[i])
				}
				// The forwarded value may live in a variable the body overwrites at its end
				// only, after its last read.
				e.alias(a, fwd[i])
			}
		}
		if y := e.region(op.Regions[1]); y != nil {
			e.assignAll(cvs, before.Args, y.Operands)
		}
	})
	e.cfg = cfg
	e.loops--
	for i, r := range op.Results {
		e.bindCarried(r, res[i])
	}
}

func emitSwitch(e *emitter, op *loom.Op) {
	if e.refuseOpaque(op.Results) {
		return
	}
	cases := op.Attr("cases").Ints()
	cvs := e.mutables(op.Results, nil)
	n := e.t.control("}")
	sel := op.Operand("selector")
	cfg := e.cfg
	e.cfg = false
	if e.scratch.slot > 0 {
		e.scratch.dirty = 3
	}
	for i, r := range op.Regions {
		var open string
		switch {
		case i < len(cases) && i == 0:
			open = "if (" + e.ref(sel) + " == " + itoa(cases[i]) + ") {"
		case i < len(cases):
			open = "} else if (" + e.ref(sel) + " == " + itoa(cases[i]) + ") {"
		case i == 0:
			open = "{"
		default:
			open = "} else {"
		}
		if e.scratch.slot > 0 {
			e.scratch.dirty = 3
		}
		a := e.t.in(n, open, func() {
			if y := e.region(r); y != nil && y.Def.Name == "scf.yield" {
				e.assignAll(cvs, op.Results, y.Operands)
			}
		})
		a.keep = true
	}
	e.cfg = cfg
	if e.scratch.slot > 0 {
		e.scratch.dirty = 3
	}
	for i, r := range op.Results {
		e.bindCarried(r, cvs[i])
	}
}

// emitLookup chooses a row of values by a chain of comparisons.
func emitLookup(e *emitter, op *loom.Op) {
	keys := op.Attr("keys").Ints()
	vals := op.Field("values")
	w := len(op.Results)
	sel := e.ref(op.Operand("selector"))
	if e.refuseOpaque(op.Results) {
		return
	}
	for j, r := range op.Results {
		chain := func(one func(v *loom.Value) string) string {
			var b strings.Builder
			for i, k := range keys {
				b.WriteString(sel + " == " + itoa(k) + " ? " + one(vals[i*w+j]) + " : ")
			}
			return b.String() + one(vals[len(keys)*w+j])
		}
		if isMemory(r) {
			e.carryMemory(r, func(s *slot) string { return chain(func(v *loom.Value) string { return e.place(v, s) }) })
			continue
		}
		e.let(r, chain(func(v *loom.Value) string { return e.into(v, r) }))
	}
}

func emitSelect(e *emitter, op *loom.Op) {
	c, r := op.Operand("condition"), op.Result()
	t, f := op.Operand("true_value"), op.Operand("false_value")
	if v, ok := e.constOf(c); ok {
		if v == 0 {
			t = f
		}
		if r.Type.Kind.IsIndexLike() {
			e.carriers[r] = e.carrier(t)
		}
		e.alias(r, t)
		return
	}
	switch k := r.Type.Kind; {
	case k == loom.View || k == loom.Buffer || k == loom.EncodingKind:
		e.selectMemory(op, c, t, f)
	case k == loom.Vector && r.Type.Lanes() > 1:
		e.lanes(r, r.Type.Lanes(), func(i int) string {
			return e.ref(c) + " ? " + e.laneOf(t, i) + " : " + e.laneOf(f, i)
		})
	default:
		x, y := e.into(t, r), e.into(f, r)
		s := e.ref(c) + " ? " + x + " : " + y
		if k == loom.I8 || k == loom.I16 {
			s = "(" + scalarNames[k] + ")(" + s + ")"
		}
		e.let(r, s)
	}
}

// selectMemory chooses between two storage roots in the same memory space.
func (e *emitter) selectMemory(op *loom.Op, c, t, f *loom.Value) {
	r := op.Result()
	if e.refuseOpaque(op.Results) {
		return
	}
	e.carryMemory(r, func(s *slot) string { return e.ref(c) + " ? " + e.place(t, s) + " : " + e.place(f, s) })
}

// blocks emits a region of several blocks with labels and jumps. Every value of
// the region is declared up front, because a jump may not skip a declaration.
func (e *emitter) blocks(r *loom.Region) *loom.Op {
	labels := map[*loom.Block]string{}
	args := map[*loom.Block][]*cvar{}
	outerCfg, outerDecls := e.cfg, e.decls
	n := e.t.control("}")
	e.cfg, e.decls = true, &declList{owner: n}
	e.loops++ // a jump back may repeat any block
	if e.scratch.slot > 0 {
		e.scratch.dirty = 3
	}
	e.t.in(n, "{", func() {
		for i, b := range r.Blocks {
			labels[b] = e.names.pick("block_" + b.Label)
			if i > 0 {
				for _, a := range b.Args {
					var cv *cvar
					if isMemory(a) {
						cv = e.carryMemory(a, nil)
					} else {
						cv = e.declareMutable(a.Name, e.ctype(a), "")
						e.bind(a, cv)
					}
					args[b] = append(args[b], cv)
				}
			}
		}
		jump := func(s loom.Succ) {
			e.assignAll(args[s.Dest], s.Dest.Args, s.Args)
			e.t.add("goto "+labels[s.Dest]+";", nil)
		}
		for i, b := range r.Blocks {
			if i > 0 && labelUsed(r, b) {
				e.t.add(labels[b]+":;", nil)
			}
			t := e.ops(b)
			if t == nil {
				continue
			}
			switch t.Def.Name {
			case "cfg.br":
				jump(t.Succs[0])
			case "cfg.cond_br":
				c := e.t.control("}")
				e.t.in(c, "if ("+e.ref(t.Operand("condition"))+") {", func() { jump(t.Succs[0]) })
				jump(t.Succs[1])
			case "kernel.return":
				e.t.add("return;", nil)
			default:
				e.unsupported("end blocks with cfg.br, cfg.cond_br or kernel.return", "terminator of a multi-block region")
			}
		}
	})
	e.loops--
	n.arms[0].kids = append(e.decls.nodes, n.arms[0].kids...)
	e.cfg, e.decls = outerCfg, outerDecls
	return nil
}

// declList collects the declarations of a multi-block region.
type declList struct {
	owner *node
	nodes []*node
}

func (d *declList) add(cv *cvar) {
	n := &node{text: cv.ctype + " " + cv.name + ";", parent: d.owner}
	if strings.HasPrefix(cv.ctype, "loom_") {
		n.uses = append(n.uses, cv.ctype)
	}
	cv.defs = append(cv.defs, n)
	d.nodes = append(d.nodes, n)
}

func labelUsed(r *loom.Region, b *loom.Block) bool {
	for _, x := range r.Blocks {
		if t := x.Terminator(); t != nil {
			for _, s := range t.Succs {
				if s.Dest == b {
					return true
				}
			}
		}
	}
	return false
}
