package verify

import (
	"fmt"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// regionRule is what an op demands of one of its regions.
type regionRule struct {
	terminator string
	implicit   bool // the terminator may be left out when it would carry nothing
}

// regionRules gives the rule of region i of op.
func regionRules(op *loom.Op, i int) regionRule {
	switch op.Def.Name {
	case "scf.for", "scf.if", "scf.switch":
		return regionRule{"scf.yield", true}
	case "scf.while":
		if i == 0 {
			return regionRule{"scf.condition", false}
		}
		return regionRule{"scf.yield", true}
	case "kernel.exit":
		return regionRule{"kernel.return", true}
	}
	return regionRule{}
}

// regionName names region i of op for messages.
func regionName(op *loom.Op, i int) string {
	name := "the body"
	switch op.Def.Name {
	case "scf.if":
		name = [...]string{"the then region", "the else region"}[min(i, 1)]
	case "scf.while":
		name = [...]string{"the test region", "the body region"}[min(i, 1)]
	case "scf.switch":
		name = "the default"
		if keys := op.Attr("cases").Ints(); i < len(keys) {
			name = fmt.Sprintf("case %d", keys[i])
		}
	}
	return name + " of " + op.Def.Name
}

// opRegion verifies region i of op: its structure, its contents, and what it
// yields.
func (v *verifier) opRegion(op *loom.Op, i int, r *loom.Region) {
	if r == nil {
		return
	}
	rule := regionRules(op, i)
	if len(r.Blocks) != 1 && rule.terminator != "" {
		v.report(v.opError(op, "STRUCTURE/006", "%s has %s; structured regions have one", regionName(op, i), plural(len(r.Blocks), "block")).
			WithHelp("move the branches into the function body, or use scf.if"))
	}
	v.terminators(r, regionName(op, i), op.NameSpan(), rule.terminator, rule.implicit)
	v.region(r)
	if rule.terminator == "scf.yield" && len(r.Blocks) == 1 {
		v.yield(op, i, r)
	}
}

// terminators checks that every block of r ends, and ends in the right op. what
// and place say which region it is.
func (v *verifier) terminators(r *loom.Region, what string, place diag.Span, want string, implicit bool) {
	branches := len(r.Blocks) > 1
	for _, b := range r.Blocks {
		for _, op := range b.Ops {
			if len(op.Succs) > 0 {
				branches = true
			}
			if op.Def.Traits&loom.Opaque != 0 {
				return // what an op carried verbatim ends is not known
			}
		}
	}
	for _, b := range r.Blocks {
		var term *loom.Op
		for _, op := range b.Ops {
			if op.Def.Traits&loom.Terminator != 0 {
				term = op
				break
			}
		}
		if term == nil {
			if implicit && !branches {
				continue
			}
			sp := place
			if n := len(b.Ops); n > 0 {
				sp = b.Ops[n-1].NameSpan()
			}
			d := diag.Errorf(place, "STRUCTURE/005", "%s does not end in a terminator", what)
			if b.Label != "" {
				d.Message = "block '^" + b.Label + "' of " + what + " does not end in a terminator"
			}
			if sp != place {
				d = d.WithRelated(sp, "the block's last op")
			}
			if want != "" {
				d = d.WithHelp("end it with %s", want)
			}
			v.report(d)
			continue
		}
		if want != "" && !branches && term.Def.Name != want {
			v.report(diag.Errorf(place, "STRUCTURE/018", "%s ends in %s, expected %s", what, term.Def.Name, want).
				WithRelated(term.NameSpan(), "the terminator found").
				WithHelp("use %s", want))
		}
	}
}

// yielded returns the terminator of a structured region if it is a scf.yield.
// ok is false when the region ends in something else, which is reported already.
func yielded(r *loom.Region) (op *loom.Op, ok bool) {
	b := r.Blocks[0]
	if len(b.Ops) == 0 {
		return nil, true
	}
	last := b.Ops[len(b.Ops)-1]
	if last.Def.Name == "scf.yield" {
		return last, true
	}
	return nil, last.Def.Traits&loom.Terminator == 0
}

// yield compares what region i of op hands over with the results.
func (v *verifier) yield(op *loom.Op, i int, r *loom.Region) {
	y, ok := yielded(r)
	if !ok {
		return
	}
	var vals []*loom.Value
	at := op.NameSpan()
	if y != nil {
		vals, at = y.Operands, y.NameSpan()
	}
	count, typ := "STRUCTURE/008", "TYPE/009"
	if op.Def.Name == "scf.switch" { // a table of regions rather than a fixed one
		count, typ, at = "STRUCTURE/013", "TYPE/001", op.NameSpan()
	}
	if op.Def.Name == "scf.if" && len(op.Regions) == 1 && len(op.Results) > 0 {
		return // the missing else says it better
	}
	if len(vals) != len(op.Results) {
		d := diag.Errorf(op.NameSpan(), count, "%s yields %s, but the op has %s", regionName(op, i), plural(len(vals), "value"), plural(len(op.Results), "result"))
		if y != nil {
			d = d.WithRelated(y.NameSpan(), "yielded here")
		}
		v.report(d.WithHelp("yield one value per result, in order"))
		return
	}
	remap := remapper(op.Results, vals)
	for j, x := range vals {
		want := op.Results[j].Type
		if x.Type == nil || want == nil || x.Type == want || want.Map(remap).Equal(x.Type) {
			continue
		}
		v.report(v.definedHere(diag.Errorf(op.NameSpan(), typ, "%s yields '%%%s' of type %s for result '%%%s' of type %s",
			regionName(op, i), x.Name, x.Type, op.Results[j].Name, want), x).
			WithRelated(at, "yielded here"))
	}
}

// remapper maps each value of from to the value of to in the same position: a
// type written in terms of one list, seen from the other.
func remapper(from, to []*loom.Value) func(*loom.Value) *loom.Value {
	return func(x *loom.Value) *loom.Value {
		for i, f := range from {
			if f == x && i < len(to) {
				return to[i]
			}
		}
		return x
	}
}

// carried compares the initial values of a loop with its results.
func (v *verifier) carried(op *loom.Op) bool {
	inits := op.Field("iter_args")
	if len(inits) != len(op.Results) {
		v.report(v.opError(op, "STRUCTURE/013", "%s carries %s in 'iter_args' but has %s", op.Def.Name, plural(len(inits), "value"), plural(len(op.Results), "result")).
			WithHelp("write one result type per carried value"))
		return false
	}
	ok := true
	remap := remapper(op.Results, inits)
	for i, x := range inits {
		want := op.Results[i].Type
		if x.Type == nil || want == nil || x.Type == want || want.Map(remap).Equal(x.Type) {
			continue
		}
		ok = false
		v.report(v.definedHere(v.opError(op, "TYPE/001", "carried value %d of %s, '%%%s', has type %s, but result '%%%s' has type %s",
			i, op.Def.Name, x.Name, x.Type, op.Results[i].Name, want), x))
	}
	return ok
}

func (v *verifier) scfFor(op *loom.Op) {
	body := op.Regions[0].Entry()
	v.carried(op)
	if body != nil && len(body.Args) > 0 {
		iv := body.Args[0]
		if lb := op.Operand("lower_bound"); iv.Type != nil && lb.Type != nil && !iv.Type.Equal(lb.Type) {
			v.report(v.opError(op, "TYPE/013", "induction value '%%%s' has type %s, the bounds have type %s", iv.Name, iv.Type, lb.Type))
		}
	}
	if op.Has("unroll") && len(op.Field("unroll_factor")) > 0 {
		v.report(v.opError(op, "STRUCTURE/014", "scf.for states both 'unroll' and 'unroll(…)'").WithHelp("keep one of the two"))
	}
	if step, ok := constant(op.Operand("step")); ok && step <= 0 {
		v.report(v.definedHere(v.opError(op, "STRUCTURE/035", "the step of scf.for is %d; it must be positive", step), op.Operand("step")).
			WithHelp("loops count upward: exchange the bounds and step forward, computing the descending index inside"))
	}
	for _, f := range op.Field("unroll_factor") {
		if n, ok := constant(f); ok && n <= 0 {
			v.report(v.opError(op, "STRUCTURE/014", "unroll factor %d of scf.for is not positive", n))
		}
	}
}

// constant returns the value of an SSA value that a constant op defines, also
// through promises, which are identities.
func constant(x *loom.Value) (int64, bool) {
	for range 16 {
		if x == nil || x.Def == nil {
			return 0, false
		}
		switch x.Def.Def.Name {
		case "index.constant", "scalar.constant":
			a := x.Def.Attr("value")
			return a.Int, a.Kind == loom.AttrInt || a.Kind == loom.AttrBool
		case "index.assume", "scalar.assume":
			if int(x.Index) >= len(x.Def.Operands) {
				return 0, false
			}
			x = x.Def.Operands[x.Index]
		default:
			return 0, false
		}
	}
	return 0, false
}

func (v *verifier) scfIf(op *loom.Op) {
	if len(op.Results) > 0 && len(op.Regions) < 2 {
		v.report(v.opError(op, "STRUCTURE/013", "scf.if has %s but no else region; each result needs a value on both ways", plural(len(op.Results), "result")).
			WithHelp("add else { scf.yield … }, or use scf.select"))
	}
}

func (v *verifier) scfWhile(op *loom.Op) {
	if !v.carried(op) || len(op.Regions) != 2 {
		return
	}
	inits := op.Field("iter_args")
	for i, r := range op.Regions {
		b := r.Entry()
		if b == nil {
			return
		}
		name := [...]string{"test", "body"}[i]
		if len(b.Args) != len(inits) {
			v.report(v.opError(op, "STRUCTURE/007", "the %s region of scf.while takes %s, but the loop carries %d", name, plural(len(b.Args), "argument"), len(inits)))
			return
		}
		remap := remapper(b.Args, inits)
		for j, a := range b.Args {
			if a.Type != nil && inits[j].Type != nil && !a.Type.Map(remap).Equal(inits[j].Type) {
				v.report(v.opError(op, "TYPE/013", "argument '%%%s' of the %s region of scf.while has type %s, but the carried value '%%%s' has type %s",
					a.Name, name, a.Type, inits[j].Name, inits[j].Type))
				return
			}
		}
	}
}

// scfCondition compares the values that enter the body of a while loop with the
// body's arguments.
func (v *verifier) scfCondition(op *loom.Op) {
	loop := op.Parent()
	if loop == nil || loop.Def.Name != "scf.while" || len(loop.Regions) != 2 {
		v.report(v.opError(op, "STRUCTURE/029", "scf.condition ends the test region of scf.while, but stands in %s", v.context(op)))
		return
	}
	b := loop.Regions[1].Entry()
	if b == nil {
		return
	}
	inits := loop.Field("iter_args")
	if len(b.Args) != len(inits) && len(inits) == len(loop.Results) {
		return // the loop itself says what is wrong with the arguments
	}
	fwd := op.Field("forwarded")
	if len(fwd) != len(b.Args) {
		v.report(v.opError(op, "STRUCTURE/013", "scf.condition forwards %s, but the body region takes %d", plural(len(fwd), "value"), len(b.Args)).
			WithRelated(loop.NameSpan(), "of this loop"))
		return
	}
	remap, carried := remapper(b.Args, fwd), remapper(b.Args, inits)
	for i, a := range b.Args {
		if i < len(inits) && a.Type != nil && !a.Type.Map(carried).Equal(inits[i].Type) {
			return // the loop itself says what is wrong with the argument
		}
		if a.Type != nil && fwd[i].Type != nil && !a.Type.Map(remap).Equal(fwd[i].Type) {
			v.report(v.definedHere(v.opError(op, "TYPE/001", "scf.condition forwards '%%%s' of type %s, but argument '%%%s' of the body region has type %s",
				fwd[i].Name, fwd[i].Type, a.Name, a.Type), fwd[i]))
		}
	}
}

func (v *verifier) scfSwitch(op *loom.Op) {
	keys := op.Attr("cases").Ints()
	v.ascending(op, keys)
	if len(op.Regions) != len(keys)+1 {
		v.report(v.opError(op, "STRUCTURE/004", "scf.switch has %s for %s and the default", plural(len(op.Regions), "region"), plural(len(keys), "case")))
	}
}

func (v *verifier) ascending(op *loom.Op, keys []int64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			d := v.opError(op, "STRUCTURE/014", "case %d of %s follows case %d; cases are unique and ascending", keys[i], op.Def.Name, keys[i-1])
			if i < len(op.Regions) {
				d = d.WithRelated(op.Regions[i].Span, "case %d", keys[i])
			}
			v.report(d.WithHelp("sort the cases"))
			return false
		}
	}
	return true
}

func (v *verifier) scfLookup(op *loom.Op) {
	keys := op.Attr("keys").Ints()
	if !v.ascending(op, keys) {
		return
	}
	vals, cols := op.Field("values"), len(op.Results)
	if want := (len(keys) + 1) * cols; len(vals) != want {
		v.report(v.opError(op, "STRUCTURE/013", "scf.lookup has %s; %s and the default with %s each make %d",
			plural(len(vals), "value"), plural(len(keys), "case"), plural(cols, "result"), want))
		return
	}
	for i, x := range vals {
		want := op.Results[i%cols].Type
		if x.Type == nil || want == nil || x.Type.Equal(want) {
			continue
		}
		v.report(v.definedHere(v.opError(op, "TYPE/001", "value '%%%s' in column %d of scf.lookup has type %s, but result '%%%s' has type %s",
			x.Name, i%cols, x.Type, op.Results[i%cols].Name, want), x))
		return
	}
}

// branch compares the arguments of the op's successors with their blocks.
func (v *verifier) branch(op *loom.Op) {
	for i, s := range op.Succs {
		if s.Dest == nil {
			v.report(v.opError(op, "STRUCTURE/023", "%s lacks its target %d", op.Def.Name, i))
			continue
		}
		if s.Dest.Region != op.Block.Region {
			v.report(v.opError(op, "STRUCTURE/024", "%s goes to block '^%s' of another region", op.Def.Name, s.Dest.Label))
			continue
		}
		if len(s.Args) != len(s.Dest.Args) {
			v.report(v.opError(op, "STRUCTURE/025", "%s passes %s to block '^%s', which takes %d", op.Def.Name, plural(len(s.Args), "value"), s.Dest.Label, len(s.Dest.Args)))
			continue
		}
		remap := remapper(s.Dest.Args, s.Args)
		for j, a := range s.Dest.Args {
			if a.Type == nil || s.Args[j].Type == nil || a.Type == s.Args[j].Type || a.Type.Map(remap).Equal(s.Args[j].Type) {
				continue
			}
			d := v.opError(op, "STRUCTURE/026", "%s passes '%%%s' of type %s to block '^%s', whose argument '%%%s' has type %s",
				op.Def.Name, s.Args[j].Name, s.Args[j].Type, s.Dest.Label, a.Name, a.Type)
			v.report(v.definedHere(d, a))
		}
	}
}

// dominance checks the uses in a region whose blocks form a graph: a value must
// be computed on every way to its use.
func (v *verifier) dominance(r *loom.Region) {
	index := make(map[*loom.Block]int, len(r.Blocks))
	order := make(map[*loom.Op]int, len(r.Blocks)*8)
	for i, b := range r.Blocks {
		index[b] = i
		for j, op := range b.Ops {
			order[op] = j
		}
	}
	idom := dominators(r, index)
	dominates := func(a, b int) bool {
		for b >= 0 {
			if a == b {
				return true
			}
			if b == 0 {
				return false
			}
			b = idom[b]
		}
		return true // unreachable code: nothing is executed before it
	}
	for bi, b := range r.Blocks {
		for oi, op := range b.Ops {
			use := func(user *loom.Op, x *loom.Value) {
				if x == nil {
					return
				}
				db := x.Block
				pos := -1
				if x.Def != nil {
					db = x.Def.Block
					if o, ok := order[x.Def]; ok {
						pos = o
					}
				}
				di, ok := index[db]
				if !ok {
					return // defined outside, or below in the region that uses it
				}
				if di == bi && pos < oi || di != bi && dominates(di, bi) {
					return
				}
				v.report(v.definedHere(v.opError(user, "DOMINANCE/001", "'%%%s' is used here on a way that has not computed it", x.Name), x).
					WithHelp("compute it in a block every such way passes, or hand it over as a block argument"))
			}
			op.Walk(func(o *loom.Op) bool {
				o.Uses(func(x *loom.Value) {
					if o == op && x.Def == op { // a result's type may mention sibling results
						return
					}
					use(o, x)
				})
				return true
			})
		}
	}
}

// dominators returns the immediate dominator of every block by index, −1 for
// blocks no way reaches.
func dominators(r *loom.Region, index map[*loom.Block]int) []int {
	n := len(r.Blocks)
	preds := make([][]int, n)
	post := make([]int, 0, n) // blocks in postorder
	state := make([]uint8, n)
	succs := func(i int) []loom.Succ {
		ops := r.Blocks[i].Ops
		if len(ops) == 0 {
			return nil
		}
		return ops[len(ops)-1].Succs
	}
	type frame struct{ block, next int }
	stack := []frame{{0, 0}}
	state[0] = 1
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		ss := succs(f.block)
		if f.next == len(ss) {
			post = append(post, f.block)
			stack = stack[:len(stack)-1]
			continue
		}
		d, ok := index[ss[f.next].Dest]
		f.next++
		if !ok {
			continue
		}
		preds[d] = append(preds[d], f.block)
		if state[d] == 0 {
			state[d] = 1
			stack = append(stack, frame{d, 0})
		}
	}
	number := make([]int, n)
	for i := range number {
		number[i] = -1
	}
	for i, b := range post {
		number[b] = i
	}
	idom := make([]int, n)
	for i := range idom {
		idom[i] = -1
	}
	idom[0] = 0
	for changed := true; changed; {
		changed = false
		for i := len(post) - 2; i >= 0; i-- {
			b := post[i]
			best := -1
			for _, p := range preds[b] {
				if idom[p] < 0 {
					continue
				}
				if best < 0 {
					best = p
					continue
				}
				x, y := p, best
				for x != y {
					for number[x] < number[y] {
						x = idom[x]
					}
					for number[y] < number[x] {
						y = idom[y]
					}
				}
				best = x
			}
			if best != idom[b] {
				idom[b] = best
				changed = true
			}
		}
	}
	return idom
}
