package lint

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
)

// body is the statements of one definition with their facts: a closed kernel, or
// a definition by itself (kernel is nil).
type body struct {
	collector
	def    *loom.Def
	facts  *facts.Set
	kernel *kernel.Kernel
	wave   int64  // lanes per subgroup
	where  string // which export and config values, for a note; may be empty

	sym    *symbols
	mem    *memory
	guards map[*loom.Region][]guard
	masks  map[*loom.Value]*mask // of maskOf; nil for values that are no masked weight
	// decided holds what deciders found: buffers and scalars.
	decided map[*loom.Value][2]map[*loom.Value]bool
}

func closedBody(c closed) *body {
	b := &body{def: c.kernel.Def, facts: c.kernel.Facts, kernel: c.kernel, wave: int64(c.kernel.Target.WaveSize), where: c.where}
	b.prepare()
	return b
}

// loneBody prepares a definition that no closed kernel holds. What its callers
// pass is not known; parameters are taken to be equal in all work items, so that
// only what the definition itself does to lanes counts.
func loneBody(d *loom.Def) *body {
	switch d.Kind {
	case loom.DefKernel, loom.DefFunc, loom.DefTemplate:
	default:
		return nil
	}
	env := facts.Env{Params: map[*loom.Value]facts.Fact{}}
	for _, v := range d.Params {
		f := facts.TopOf(v.Type)
		f.Uniform = facts.UniformGrid
		env.Params[v] = f
	}
	b := &body{def: d, facts: facts.Analyze(d, env), wave: 32}
	b.prepare()
	return b
}

func (b *body) prepare() {
	b.sym = newSymbols(b.facts)
	b.guards = map[*loom.Region][]guard{}
	b.masks = map[*loom.Value]*mask{}
	b.decided = map[*loom.Value][2]map[*loom.Value]bool{}
	b.mem = newMemory(b)
}

// report adds a finding, with the call chain that brought op into the kernel and
// the config values it was seen with.
func (b *body) report(id string, op *loom.Op, d diag.Diagnostic) {
	if b.kernel != nil {
		for s := b.kernel.SiteOf(op); s != nil; s = s.Parent {
			d = d.WithRelated(s.Call, "reached by this call of '@%s'", s.Callee)
		}
	}
	if b.where != "" && (id == bankConflict || id == unalignedWide) { // what depends on config values
		d = d.WithRelated(diag.Span{}, "seen %s", b.where)
	}
	b.collector.report(id, d)
}

// name is the SSA name of v as its source writes it, "%x". Inlining and unrolling
// rename values; the reader looks at the source.
func (b *body) name(v *loom.Value) string {
	var src *diag.Source
	switch {
	case v.Def != nil:
		src = v.Def.Span.Src
	case v.Block != nil && v.Block.Region != nil && v.Block.Region.Op != nil:
		src = v.Block.Region.Op.Span.Src
	default:
		src = b.def.Span.Src
	}
	if src != nil && int(v.Pos) < len(src.Text) && src.Text[v.Pos] == '%' {
		end := int(v.Pos) + 1
		for end < len(src.Text) && isName(src.Text[end]) {
			end++
		}
		return src.Text[v.Pos:end]
	}
	return "%" + v.Name
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// guard is a branch condition that holds where an op stands.
type guard struct {
	cond *loom.Value
	not  bool
	op   *loom.Op // the branch
}

// guardsOf lists the conditions around op, outermost first.
func (b *body) guardsOf(op *loom.Op) []guard {
	if op == nil || op.Block == nil {
		return nil
	}
	return b.regionGuards(op.Block.Region)
}

func (b *body) regionGuards(r *loom.Region) []guard {
	if r == nil || r.Op == nil {
		return nil
	}
	if gs, ok := b.guards[r]; ok {
		return gs
	}
	gs := slices.Clip(b.guardsOf(r.Op))
	switch r.Op.Name() {
	case "scf.if":
		gs = append(gs, guard{r.Op.Operands[0], len(r.Op.Regions) > 1 && r.Op.Regions[1] == r, r.Op})
	case "scf.switch":
		gs = append(gs, guard{r.Op.Operands[0], false, r.Op})
	}
	b.guards[r] = gs
	return gs
}

// leaves calls f for the conditions that a conjunction (or, negated, disjunction)
// is made of.
func leaves(v *loom.Value, f func(*loom.Value)) {
	if d := v.Def; d != nil && len(d.Operands) == 2 {
		switch d.Name() {
		case "scalar.andi", "vector.andi", "scalar.ori", "vector.ori":
			leaves(d.Operands[0], f)
			leaves(d.Operands[1], f)
			return
		}
	}
	f(v)
}

// suffix is the op's name without its dialect: "mulf" of vector.mulf.
func suffix(op *loom.Op) string {
	_, s, _ := strings.Cut(op.Name(), ".")
	return s
}
