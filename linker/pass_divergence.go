package linker

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

// collective says which work items an operation needs to arrive together, and
// what happens when they do not. Operations on the lanes that happen to be active
// (votes, subgroup reductions, shuffles) are left to lint: code may mean that.
func collective(op *loom.Op) (group facts.Uniformity, why string) {
	switch name := op.Def.Name; {
	case name == "kernel.barrier" && op.Word("scope") == "subgroup":
		return facts.UniformSubgroup, "those that do not get here never arrive"
	case name == "kernel.barrier", name == "kernel.workgroup.reduce", name == "kernel.workgroup.scan":
		return facts.UniformWorkgroup, "those that do not get here never arrive"
	case name == "vector.mma":
		return facts.UniformSubgroup, "it takes registers of every lane, also of those that are masked off"
	}
	return facts.Varying, ""
}

// convergent reports a collective operation that provably only part of its group
// reaches: a branch or a trip count around it was computed for every work item
// and differs. What cannot be computed is left to lint and to the executor.
func (s *specializer) convergent(op *loom.Op, set *facts.Set) {
	group, why := collective(op)
	if group == facts.Varying || set.Control(op) >= group {
		return
	}
	items := s.workItems(set)
	if items == nil {
		return
	}
	var around []*loom.Op // outermost first
	for p := op.Parent(); p != nil; p = p.Parent() {
		around = append([]*loom.Op{p}, around...)
	}
	for _, p := range around {
		decision, cond := decisionAt(p)
		if decision == nil {
			continue
		}
		values, ok := items.each(decision)
		if !ok {
			if set.At(p, cond).Uniform >= group {
				continue // the same for all, whatever it is
			}
			return
		}
		if a, b, differ := items.differ(values, group); differ {
			s.diverges(op, p, cond, group, why, items, a, b)
			return
		}
	}
}

// decisionAt returns what op p decides in one work item (the branch taken, the
// number of trips), and the value that decides it. It is nil for an op that
// decides nothing.
func decisionAt(p *loom.Op) (func(*workItem) (int64, bool), *loom.Value) {
	switch p.Def.Name {
	case "scf.if":
		c := p.Operands[0]
		return func(w *workItem) (int64, bool) { return w.of(c) }, c
	case "scf.switch":
		c := p.Operands[0]
		return func(w *workItem) (int64, bool) { return w.of(c) }, c
	case "scf.for":
		lo, hi, step := p.Operand("lower_bound"), p.Operand("upper_bound"), p.Operand("step")
		cond := hi
		if _, ok := constantOf(hi); ok {
			cond = lo
		}
		return func(w *workItem) (int64, bool) {
			a, ok1 := w.of(lo)
			b, ok2 := w.of(hi)
			c, ok3 := w.of(step)
			if !ok1 || !ok2 || !ok3 || c <= 0 {
				return 0, false
			}
			return max(0, (b-a+c-1)/c), true
		}, cond
	case "scf.while":
		if t := p.Regions[0].Blocks[len(p.Regions[0].Blocks)-1].Terminator(); t != nil && len(t.Operands) > 0 {
			return func(*workItem) (int64, bool) { return 0, false }, t.Operands[0]
		}
	}
	return nil, nil
}

func constantOf(v *loom.Value) (int64, bool) {
	if c := constant(v); c != nil {
		return *c, true
	}
	return 0, false
}

// diverges reports what was found, with one work item of either kind.
func (s *specializer) diverges(op, p *loom.Op, cond *loom.Value, group facts.Uniformity, why string, items *workItems, a, b int) {
	name := map[facts.Uniformity]string{facts.UniformSubgroup: "subgroup", facts.UniformWorkgroup: "workgroup"}[group]
	d := diag.Errorf(op.NameSpan(), "LOWERING/DIVERGENT", "%s must be reached by the whole %s, and part of it takes another way: %s", op.Def.Name, name, why)
	what := "the branch"
	if p.Def.Name == "scf.for" {
		what = "the number of trips"
	}
	d = d.WithRelated(p.NameSpan(), "%s is decided by '%%%s' here; it differs between work item %s and work item %s", what, cond.Name, items.name(a), items.name(b))
	if cond.Def != nil && cond.Def != p {
		d = d.WithRelated(cond.Def.NameSpan(), "'%%%s' is computed here", cond.Name)
	}
	s.diags.Add(s.at(op, d.WithHelp("move the operation out of the branch or loop, or make the condition the same for the whole %s", name)))
}

// workItems is the grid of one workgroup.
type workItems struct {
	size [3]int64
	wave int64
	set  *facts.Set
}

// workItems returns the workgroup's grid, nil when its size is not known.
func (s *specializer) workItems(set *facts.Set) *workItems {
	g := &workItems{wave: int64(s.options.Target.WaveSize), set: set}
	total := int64(1)
	for i := range g.size {
		c, ok := set.Launch.Size[i].Const()
		if !ok || c < 1 || c > 1024 {
			return nil
		}
		g.size[i] = c
		total *= c
	}
	if total > 1024 {
		return nil
	}
	return g
}

func (g *workItems) total() int { return int(g.size[0] * g.size[1] * g.size[2]) }

// name is a work item's position, as short as the grid allows.
func (g *workItems) name(i int) string {
	w := g.item(i)
	if g.size[1] == 1 && g.size[2] == 1 {
		return fmt.Sprint(w.id[0])
	}
	return fmt.Sprintf("(%d, %d, %d)", w.id[0], w.id[1], w.id[2])
}

func (g *workItems) item(i int) *workItem {
	n := int64(i)
	return &workItem{grid: g, linear: n, vals: map[*loom.Value]int64{}, bad: map[*loom.Value]bool{},
		id: [3]int64{n % g.size[0], n / g.size[0] % g.size[1], n / (g.size[0] * g.size[1])}}
}

// each evaluates f for every work item; false when one of them is unknown.
func (g *workItems) each(f func(*workItem) (int64, bool)) ([]int64, bool) {
	out := make([]int64, g.total())
	for i := range out {
		v, ok := f(g.item(i))
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// differ finds two work items of one group with different values.
func (g *workItems) differ(vals []int64, group facts.Uniformity) (a, b int, ok bool) {
	span := len(vals)
	if group == facts.UniformSubgroup {
		span = int(g.wave)
	}
	for from := 0; from < len(vals); from += span {
		for i := from + 1; i < min(from+span, len(vals)); i++ {
			if vals[i] != vals[from] {
				return from, i, true
			}
		}
	}
	return 0, 0, false
}

// workItem computes values as one work item sees them.
type workItem struct {
	grid   *workItems
	linear int64
	id     [3]int64
	vals   map[*loom.Value]int64
	bad    map[*loom.Value]bool
}

// of returns v in this work item, false when it depends on something that is
// only known at run time.
func (w *workItem) of(v *loom.Value) (int64, bool) {
	if x, ok := w.vals[v]; ok {
		return x, true
	}
	if w.bad[v] {
		return 0, false
	}
	x, ok := w.compute(v)
	// Values that would wrap in 32 bits are left alone: the width they are computed
	// in is the code generator's choice.
	if ok && x == int64(int32(x)) {
		w.vals[v] = x
		return x, true
	}
	w.bad[v] = true
	return 0, false
}

func (w *workItem) compute(v *loom.Value) (int64, bool) {
	if v == nil || v.Type == nil || !v.Type.Kind.IsScalar() || v.Type.Kind.IsFloat() {
		return 0, false
	}
	if c, ok := w.grid.set.Of(v).Const(); ok {
		return c, true
	}
	op := v.Def
	if op == nil {
		return 0, false
	}
	switch op.Def.Name {
	case "kernel.workitem.id":
		return w.id[strings.IndexByte("xyz", op.Word("dimension")[0])], true
	case "kernel.subgroup.lane.id":
		return w.linear % w.grid.wave, true
	case "kernel.subgroup.id":
		return w.linear / w.grid.wave, true
	}
	if op.Def.Traits&loom.Fact != 0 {
		if int(v.Index) < len(op.Operands) {
			return w.of(op.Operands[v.Index])
		}
		return 0, false
	}
	if op.Def.Traits&loom.Pure == 0 || len(op.Regions) > 0 || len(op.Operands) == 0 || len(op.Operands) > 3 || len(op.Results) != 1 {
		return 0, false
	}
	var x [3]int64
	for i, o := range op.Operands {
		c, ok := w.of(o)
		if !ok {
			return 0, false
		}
		x[i] = c
	}
	_, name, _ := strings.Cut(op.Def.Name, ".")
	return evaluate(name, op.Word("predicate"), x)
}

// evaluate computes an integer operation of small values. It knows what index
// arithmetic around work-item ids is made of, and says so when asked for more.
func evaluate(name, predicate string, x [3]int64) (int64, bool) {
	a, b := x[0], x[1]
	natural := a >= 0 && b > 0
	switch name {
	case "add", "addi":
		return a + b, true
	case "sub", "subi":
		return a - b, true
	case "mul", "muli":
		return a * b, true
	case "madd":
		return a*b + x[2], true
	case "div", "divsi", "divui":
		if natural {
			return a / b, true
		}
	case "rem", "remsi", "remui":
		if natural {
			return a % b, true
		}
	case "min", "minsi":
		return min(a, b), true
	case "max", "maxsi":
		return max(a, b), true
	case "and", "andi":
		return a & b, true
	case "or", "ori":
		return a | b, true
	case "xor", "xori":
		return a ^ b, true
	case "shl", "shli":
		return a << (b & 31), a >= 0 && b >= 0 && b < 31
	case "shr", "shrui", "shrsi":
		return a >> (b & 31), a >= 0 && b >= 0 && b < 31
	case "cast", "trunci", "extui", "extsi":
		return a, a >= 0 && a < 1<<15
	case "select":
		if a != 0 {
			return b, true
		}
		return x[2], true
	case "cmp", "cmpi":
		return compareInts(predicate, a, b)
	}
	return 0, false
}

func compareInts(predicate string, a, b int64) (int64, bool) {
	switch predicate {
	case "eq":
		return truth(a == b), true
	case "ne":
		return truth(a != b), true
	case "slt":
		return truth(a < b), true
	case "sle":
		return truth(a <= b), true
	case "sgt":
		return truth(a > b), true
	case "sge":
		return truth(a >= b), true
	case "ult":
		return truth(uint64(a) < uint64(b)), true
	case "ule":
		return truth(uint64(a) <= uint64(b)), true
	case "ugt":
		return truth(uint64(a) > uint64(b)), true
	case "uge":
		return truth(uint64(a) >= uint64(b)), true
	}
	return 0, false
}
