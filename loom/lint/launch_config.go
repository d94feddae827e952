package lint

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// perLaunch are names of what changes from launch to launch: how much data there
// is this time, rather than what the model looks like.
var perLaunch = regexp.MustCompile(`^((n|num|total)_)?(tokens?|u?batch|rows?|sequences|requests|prompts?|queries|slots|positions?|past)(_(count|length|len|size))?$|` +
	`^(kv|seq|sequence|context|ctx|prompt|cache|past|query)_(length|len|count|tokens|rows)$|^n_(kv|ctx|past|seq|seqs|query|queries)$`)

// checkLaunchConfig finds configs that are called like a workload quantity and only
// bound it: they size the grid, end loops, guard edges and give a view its outer
// extent. Nothing in the kernel gets faster because they are constants, but every
// new value is another compilation.
func checkLaunchConfig(l *link) {
	for _, c := range l.Configs {
		if !c.Integer || len(c.Decls) == 0 || !perLaunch.MatchString(c.Key[strings.LastIndexByte(c.Key, '.')+1:]) {
			continue
		}
		f := &boundsFlow{link: l, key: c.Key, seen: map[*loom.Value]bool{}}
		sinks := f.sinks()
		if f.other || len(sinks) == 0 {
			continue
		}
		d := diag.Diagnostic{Span: c.Place(), Message: fmt.Sprintf("config '@%s' changes from launch to launch: it only bounds work, and every value compiles another kernel", c.Key)}
		if len(c.Reads) > 0 {
			d = d.WithRelated(c.Reads[0].Span, "read here, in '@%s'", c.Reads[0].In)
		}
		d = d.WithRelated(sinks[0].span, "and used as %s", sinks[0].as)
		l.report(launchConfig, d)
	}
}

type sink struct {
	as   string
	span diag.Span
}

// boundsFlow follows a config's value through index arithmetic and calls to where
// it is used.
type boundsFlow struct {
	*link
	key   string
	seen  map[*loom.Value]bool
	uses  map[*loom.Value][]*loom.Op
	queue []*loom.Value
	found []sink
	other bool // used for something that wants a constant
}

func (f *boundsFlow) sinks() []sink {
	f.uses = map[*loom.Value][]*loom.Op{}
	defs := map[string]*loom.Def{}
	families := map[string][]*loom.Def{}
	for _, d := range f.Module.Defs {
		defs[d.Name] = d
		if d.IsTemplate() {
			families[d.Family] = append(families[d.Family], d)
		}
		d.Walk(func(op *loom.Op) bool {
			op.Uses(func(v *loom.Value) { f.uses[v] = append(f.uses[v], op) })
			if op.Name() == "config.get" && op.Word("config") == f.key {
				f.follow(op.Result())
			}
			return true
		})
	}
	for i := 0; i < len(f.queue); i++ {
		v := f.queue[i]
		for _, op := range f.uses[v] {
			f.use(v, op, defs, families)
		}
	}
	return f.found
}

func (f *boundsFlow) follow(v *loom.Value) {
	if v != nil && !f.seen[v] {
		f.seen[v] = true
		f.queue = append(f.queue, v)
	}
}

func (f *boundsFlow) bound(op *loom.Op, as string) {
	f.found = append(f.found, sink{as, op.NameSpan()})
}

func (f *boundsFlow) use(v *loom.Value, op *loom.Op, defs map[string]*loom.Def, families map[string][]*loom.Def) {
	name := op.Name()
	pass := func(callee *loom.Def) {
		if callee == nil {
			return
		}
		for i, a := range op.Field("operands") {
			if a == v && i < len(callee.Params) {
				f.follow(callee.Params[i])
			}
		}
		for _, r := range op.Results {
			f.follow(r)
		}
	}
	switch {
	case op.Def.Traits&loom.Fact != 0, name == "index.cast", strings.HasPrefix(name, "index.") && name != "index.cmp" && name != "index.scale":
		for i, r := range op.Results {
			if op.Def.Traits&loom.Fact == 0 || i < len(op.Operands) && op.Operands[i] == v {
				f.follow(r)
			}
		}
	case name == "index.cmp", name == "scalar.cmpi":
		f.bound(op, "the bound of a comparison")
	case name == "vector.mask.range":
		f.bound(op, "the bound of a mask")
	case name == "scf.for" && op.Operand("step") != v && !has(op.Field("unroll_factor"), v) && !has(op.Field("pipeline_depth"), v) && !has(op.Field("iter_args"), v):
		f.bound(op, "the bound of a loop")
	case name == "kernel.launch.config":
		for _, axis := range [...]string{"x", "y", "z"} {
			f.other = f.other || op.Operand("workgroup_size_"+axis) == v || op.Operand("cluster_size_"+axis) == v
		}
		f.bound(op, "a size of the grid")
	case name == "func.call", name == "template.call":
		pass(defs[op.Word("callee")])
	case name == "template.apply":
		for _, d := range families[op.Word("family")] {
			pass(d)
		}
	case name == "func.apply":
		for _, d := range families[op.Word("contract")] {
			pass(d)
		}
	case name == "func.return", name == "template.return":
	case (name == "buffer.view" || name == "view.refine") && !has(op.Operands, v):
		if !outerExtent(op.Result().Type, v) {
			f.other = true
		} else {
			f.bound(op, "the outer extent of a view")
		}
	case has(op.Operands, v):
		f.other = true
	}
}

// outerExtent reports whether v only says how much there is: the first extent, or
// any extent of a view that has its strides from elsewhere.
func outerExtent(t *loom.Type, v *loom.Value) bool {
	for i, d := range t.Dims {
		if d.Val == v && i > 0 && t.EncVal == nil && t.Enc.IsDense() {
			return false
		}
	}
	return true
}

func has(vs []*loom.Value, v *loom.Value) bool {
	for _, x := range vs {
		if x == v {
			return true
		}
	}
	return false
}
