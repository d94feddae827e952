package linker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/rewrite"
)

// check verifies the closed kernel: nothing open is left, promises can hold, and
// the target can run what it says. It runs after dead code is gone, so that code
// a configuration excludes is never judged.
func (s *specializer) check() int {
	set := s.analyze()
	s.openConfigs()
	if s.def.Body != nil {
		s.def.Body.Walk(func(op *loom.Op) bool {
			s.footprint(op, set)
			s.convergent(op, set)
			return true
		})
	}
	s.def.Walk(func(op *loom.Op) bool {
		switch name := op.Def.Name; {
		case op.Def.Traits&loom.Opaque != 0 || dialect.OpaqueDialect(op.Def.Dialect()):
			s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/001", "%s '@%s' reaches '%s', an operation that loomc carries but cannot execute",
				kindWords(s.def), s.def.Name, name).WithHelp("keep the part that uses it out of this %s's configuration, or override its file", kindWords(s.def))))
		case name == "func.call" || name == "template.call" || name == "func.apply" || name == "template.apply":
			s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "LOWERING/044", "'%s' is left over after inlining", name)))
		case op.Def.Traits&loom.CheckOnly != 0 || name == "kernel.launch" || op.Def.Dialect() == "global":
			s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/001", "%[1]s '@%[2]s' contains '%[3]s', which cannot run in a %[1]s", kindWords(s.def), s.def.Name, name)))
		case op.Def.Traits&loom.KernelOnly != 0 && s.def.Kind != loom.DefKernel:
			s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/001", "%s '@%s' contains '%s', which runs in a kernel alone", kindWords(s.def), s.def.Name, name).
				WithHelp("a test case can call functions that only compute; to test this one, launch a kernel that calls it")))
		case name == "vector.mma":
			s.matrix(op, set)
		case name == "scf.for":
			s.step(op, set)
		default:
			s.shapes(op)
		}
		return true
	})
	s.workgroup(set)
	if s.diags.HasErrors() {
		s.stopped = true
	}
	return 0
}

// openConfigs reports config reads that no value was bound for and that dead
// code did not take with it.
func (s *specializer) openConfigs() {
	reads := map[string]*loom.Op{}
	var keys []string
	s.def.Walk(func(op *loom.Op) bool {
		if op.Def.Name == "config.get" {
			key := op.Attr("config").Str
			if reads[key] == nil {
				reads[key] = op
				keys = append(keys, key)
			}
		}
		return true
	})
	sort.Strings(keys)
	for _, key := range keys {
		op := reads[key]
		d := diag.Errorf(op.NameSpan(), "CONFIG/UNRESOLVED", "unresolved config '@%s' remains for final compilation (%s in total)",
			key, plural(len(keys), "unresolved config"))
		if decl := s.defs[key]; decl != nil {
			d = d.WithRelated(decl.NameSpan, "'@%s' is declared here", key)
		}
		s.diags.Add(s.at(op, d.WithHelp("bind it, e.g. --config %s=VALUE", key)))
	}
}

// promises reports assumes that no value can satisfy. It runs when dead branches
// are gone and before equal constants merge, so that a broken promise can be led
// back to the config values behind it.
func (s *specializer) promises() int {
	set := s.analyze()
	s.def.Walk(func(op *loom.Op) bool {
		if op.Def.Name == "index.assume" || op.Def.Name == "scalar.assume" {
			s.promise(op, set)
		}
		return true
	})
	return 0
}

func (s *specializer) promise(op *loom.Op, set *facts.Set) {
	f := folder{s: s, set: set}
	var broken []string
	var known string
	for _, p := range op.Preds() {
		if v, why := set.Decide(op, p, f.beforePromise(op)); v == facts.Reject {
			broken = append(broken, p.String())
			known = why
		}
	}
	if len(broken) == 0 {
		return
	}
	d := diag.Errorf(op.NameSpan(), "TARGET/059", "%s promises %s, which cannot hold: %s", op.Def.Name, strings.Join(broken, " and "), known)
	seen := map[string]bool{}
	for _, x := range op.Operands {
		for _, key := range s.origin[x] {
			if decl := s.defs[key]; decl != nil && !seen[key] {
				seen[key] = true
				d = d.WithRelated(decl.NameSpan, "the value comes from config '@%s' = %s", key, s.config[key].Text)
			}
		}
	}
	s.diags.Add(s.at(op, d.WithHelp("this code is not written for the value; choose a kernel that is, or widen the promise together with what relies on it")))
}

// step: a loop must advance.
func (s *specializer) step(op *loom.Op, set *facts.Set) {
	v := op.Operand("step")
	if f := set.At(op, v); f.Lo < 1 {
		d := diag.Errorf(op.NameSpan(), "STRUCTURE/035", "the step %%%s of the loop is not known to be positive: it is %s", v.Name, f.Known())
		if c, ok := f.Const(); ok {
			d.Message = fmt.Sprintf("the step %%%s of the loop is %d, want a positive number", v.Name, c)
		}
		s.diags.Add(s.at(op, d.WithHelp("state it with index.assume %%%s [range(%%%s, 1, MAX)]", v.Name, v.Name)))
	}
}

// shapes: what was dynamic in a template must be static now.
func (s *specializer) shapes(op *loom.Op) {
	for _, r := range op.Results {
		if r.Type.Kind != loom.Vector || r.Type.IsStatic() {
			continue
		}
		s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "SHAPE/007", "vector %%%s of type %s has a lane count that is not constant", r.Name, r.Type).
			WithHelp("lane counts must come from constants, config values or template arguments that are constant")))
	}
}

// workgroup checks the launch configuration against the target's limits.
func (s *specializer) workgroup(set *facts.Set) {
	b := s.def.Config.Entry()
	if b == nil {
		return
	}
	t := b.Terminator()
	if t == nil || t.Def.Name != "kernel.launch.config" {
		return
	}
	tg := s.options.Target
	flat := facts.Exact(1)
	words := make([]string, 3)
	for i, axis := range [3]string{"x", "y", "z"} {
		v := t.Operand("workgroup_size_" + axis)
		if v == nil {
			return
		}
		f := set.Of(v)
		words[i] = f.String()
		if c, ok := f.Const(); ok {
			words[i] = fmt.Sprint(c)
		}
		switch {
		case f.Hi < 1:
			s.diags.Add(diag.Errorf(t.NameSpan(), "TARGET/025", "kernel '@%s' asks for %s work items along %s", s.def.Name, words[i], axis).
				WithHelp("a workgroup has at least one work item along every axis"))
			return
		case f.Lo > tg.MaxWorkgroupDim[i]:
			s.diags.Add(diag.Errorf(t.NameSpan(), "TARGET/024", "kernel '@%s' asks for %s work items along %s, %s allows %d",
				s.def.Name, words[i], axis, tg.Processor, tg.MaxWorkgroupDim[i]).WithHelp("%s", s.sizeHelp(v)))
			return
		}
		lo := max(f.Lo, 1)
		flat.Lo, flat.Hi = flat.Lo*lo, satMul(flat.Hi, max(f.Hi, 1))
	}
	limit := int64(tg.MaxWorkgroupSize)
	switch {
	case flat.Lo > limit && flat.Lo == flat.Hi:
		s.diags.Add(diag.Errorf(t.NameSpan(), "TARGET/025", "kernel '@%s' asks for workgroups of %s = %d work items, %s allows %d",
			s.def.Name, strings.Join(words, "·"), flat.Lo, tg.Processor, limit).WithHelp("lower the config values that set the workgroup size"))
	case flat.Lo > limit:
		s.diags.Add(diag.Errorf(t.NameSpan(), "TARGET/023", "kernel '@%s' asks for workgroups of at least %d work items, %s allows %d",
			s.def.Name, flat.Lo, tg.Processor, limit).WithHelp("lower the config values that set the workgroup size"))
	}
	if !tg.HasWave(tg.WaveSize) {
		s.diags.Add(diag.Errorf(s.source.NameSpan, "AMDGPU/026", "%s cannot run subgroups of %d lanes", tg.Processor, tg.WaveSize))
	}
}

func (s *specializer) sizeHelp(v *loom.Value) string {
	return "set by %" + v.Name + "; lower the config value behind it"
}

func satMul(a, b int64) int64 {
	if a > 0 && b > 0 && a > (1<<62)/b {
		return 1 << 62
	}
	return a * b
}

// matrix checks that the target multiplies fragments of this shape.
func (s *specializer) matrix(op *loom.Op, set *facts.Set) {
	lhs, rhs := fragmentOf(op.Operand("lhs"), set), fragmentOf(op.Operand("rhs"), set)
	acc := op.Results[0].Type.Elem.String()
	elem := lhs.elem
	if elem == "" {
		elem = rhs.elem
	}
	if !lhs.known && !rhs.known && elem == "i32" {
		return // codes in 32-bit carriers without a schema: nothing to judge by
	}
	tg := s.options.Target
	m, n, k := lhs.rows, rhs.cols, lhs.cols
	for _, bad := range []struct {
		f    fragment
		side string
	}{{lhs, "lhs"}, {rhs, "rhs"}} {
		if bad.f.known && !bad.f.constant {
			s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/039", "the %s fragment of vector.mma has a shape that is not constant", bad.side).
				WithHelp("fragment shapes must be constants after specialisation")))
			return
		}
	}
	if !lhs.known || !rhs.known {
		m, n, k = 16, 16, 16 // untagged operands: the shape every listed target has
		if lhs.known {
			m, k = lhs.rows, lhs.cols
		}
		if rhs.known {
			k, n = rhs.rows, rhs.cols
		}
	}
	if lhs.known && rhs.known && lhs.cols != rhs.rows {
		s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/039", "vector.mma multiplies a %d×%d lhs with a %d×%d rhs", lhs.rows, lhs.cols, rhs.rows, rhs.cols).
			WithHelp("the lhs' columns must equal the rhs' rows")))
		return
	}
	shape, ok := tg.FindMatrix(int(m), int(n), int(k), elem, acc)
	if !ok {
		help := tg.Processor + " has no matrix instructions"
		if w := tg.MatrixWords(); w != "" {
			help = fmt.Sprintf("at %d lanes per subgroup %s multiplies %s", tg.WaveSize, tg.Processor, w)
		}
		s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/039", "vector.mma %dx%dx%d %s→%s is not available on %s with %d lanes per subgroup",
			m, n, k, elem, acc, tg.Processor, tg.WaveSize).WithHelp("%s", help)))
		return
	}
	if got := op.Results[0].Type.Lanes(); got != 0 && shape.AccLanes != 0 && got != shape.AccLanes {
		s.diags.Add(s.at(op, diag.Errorf(op.NameSpan(), "TARGET/039", "the accumulator of vector.mma has %s per work item, %s on %s uses %d with %d lanes per subgroup",
			plural(got, "element"), shape, tg.Processor, shape.AccLanes, tg.WaveSize).
			WithHelp("the kernel may be written for the other subgroup size; its target record sets subgroup_size")))
	}
}

// fragment is what is known about a matrix operand.
type fragment struct {
	known, constant bool
	rows, cols      int64
	elem            string
}

func fragmentOf(v *loom.Value, set *facts.Set) fragment {
	f := fragment{}
	if v == nil {
		return f
	}
	f.elem = v.Type.Elem.String()
	for depth := 0; v != nil && depth < 32; depth++ {
		d := v.Def
		if d == nil {
			v = carriedFrom(v)
			continue
		}
		switch d.Def.Name {
		case "vector.fragment", "vector.fragment.load", "vector.fragment.repack":
			f.known = true
			r, ok1 := set.Of(d.Operand("rows")).Const()
			c, ok2 := set.Of(d.Operand("columns")).Const()
			f.rows, f.cols, f.constant = r, c, ok1 && ok2
			if e := schemaElement(d); e != "" {
				f.elem = e
			}
			return f
		case "scf.select", "vector.select":
			v = d.Operands[1]
		case "scf.for", "scf.if":
			y := rewrite.Yield(d.Regions[0])
			if y == nil || int(v.Index) >= len(y.Operands) {
				return f
			}
			v = y.Operands[v.Index]
		default:
			return f
		}
	}
	return f
}

// carriedFrom returns the initial value of a loop's carried value.
func carriedFrom(v *loom.Value) *loom.Value {
	if v.Block == nil || v.Block.Region == nil || v.Block.Region.Op == nil {
		return nil
	}
	inits := v.Block.Region.Op.Field("iter_args")
	if i := int(v.Index) - 1; v.Block.Region.Op.Def.Name == "scf.for" && i >= 0 && i < len(inits) {
		return inits[i]
	}
	return nil
}

// schemaElement returns the element that the schema of a fragment codes, i8 for
// both signednesses of 8-bit integers.
func schemaElement(op *loom.Op) string {
	for _, v := range op.Field("parameters") {
		if v.Def == nil || v.Def.Def.Name != "encoding.define" {
			continue
		}
		e := v.Def.Attr("spec").Enc()
		if a, ok := e.Param("element_format"); ok {
			w := strings.ToLower(a.Str)
			if len(w) > 1 && w[0] == 'u' && w[1] >= '0' && w[1] <= '9' {
				w = "i" + w[1:]
			}
			return w
		}
		if rest, ok := strings.CutPrefix(e.Family, "encoding."); ok && !strings.Contains(rest, ".") {
			return rest
		}
	}
	return ""
}
