package linker

import (
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/rewrite"
)

// bindConfig replaces every config.get of a bound symbol by its value, and every
// load of a module constant by what it holds.
func (s *specializer) bindConfig() int {
	n := 0
	s.def.Walk(func(op *loom.Op) bool {
		if op.Def.Name == "config.get" && s.bindRead(op) || op.Def.Name == "global.load" && s.bindGlobal(op) {
			n++
		}
		return true
	})
	return n
}

func (s *specializer) bindRead(op *loom.Op) bool {
	key := op.Attr("config").Str
	d := s.defs[key]
	if d == nil || d.Kind != loom.DefConfigDef {
		s.open[key] = true
		return false
	}
	d.Load()
	s.config[key] = kernel.ConfigValue{Key: key, Text: d.Init.String()}
	t := op.Results[0].Type
	s.origin[op.Results[0]] = []string{key}
	switch {
	case d.Init.Kind == loom.AttrEnc:
		op.Def = dialect.Ops().Lookup("encoding.define").Compile()
		op.Attrs = []loom.NamedAttr{{Name: "spec", Value: d.Init}}
		return true
	case t.Kind == loom.I1:
		rewrite.Constant(op, loom.BoolAttr(d.Init.Bool()))
	case t.Kind.IsScalar():
		rewrite.Constant(op, d.Init)
	default:
		return false
	}
	return true
}

func (s *specializer) bindGlobal(op *loom.Op) bool {
	d := s.defs[op.Attr("global").Str]
	if d == nil || d.Kind != loom.DefGlobal || d.Op == nil || d.Op.Name != "global.constant" || d.Load().HasErrors() {
		return false
	}
	t := op.Results[0].Type
	if !t.Kind.IsScalar() || d.Init.Kind == loom.AttrNone {
		return false
	}
	a := d.Init
	if t.Kind == loom.I1 {
		a = loom.BoolAttr(a.Bool())
	}
	rewrite.Constant(op, a)
	return true
}

// targetQueries answers what the target alone decides.
func (s *specializer) targetQueries() int {
	n := 0
	s.def.Walk(func(op *loom.Op) bool {
		if isTargetQuery(op) {
			rewrite.Constant(op, loom.IntAttr(int64(s.options.Target.WaveSize)))
			n++
		}
		return true
	})
	return n
}

func isTargetQuery(op *loom.Op) bool {
	return op.Def.Name == "target.subgroup.size" || op.Def.Name == "kernel.subgroup.size"
}

// probes replaces test.fact operations by what the facts say of their operand, and
// drops test.use, which held the answers. Files that explain the language carry
// them; they cost nothing on a device.
func (s *specializer) probes() int {
	var asked []*loom.Op
	s.def.Walk(func(op *loom.Op) bool {
		if strings.HasPrefix(op.Def.Name, "test.") {
			asked = append(asked, op)
		}
		return true
	})
	if len(asked) == 0 {
		return 0
	}
	set := s.analyze()
	n := 0
	uses := map[*loom.Op]bool{}
	for _, op := range asked {
		switch op.Def.Name {
		case "test.fact_uniform":
			rewrite.Constant(op, loom.BoolAttr(set.At(op, op.Operand("value")).Uniform >= facts.UniformSubgroup))
		case "test.fact_lane_varying", "test.fact_lane_predicate":
			rewrite.Constant(op, loom.BoolAttr(set.At(op, op.Operand("value")).Uniform < facts.UniformSubgroup))
		case "test.use":
			uses[op] = true
		default:
			continue
		}
		n++
	}
	rewrite.Drop(s.def, uses)
	return n
}
