package verify

import (
	"slices"

	"github.com/loomc/loomc/loom"
)

// collective checks reductions and scans over a subgroup or workgroup.
func (v *verifier) collective(op *loom.Op) {
	n := len(v.list)
	v.kindFits(op, op.Word("kind"), "value", op.Operand("value").Type)
	if len(v.list) > n {
		return
	}
	size, stride := op.Attr("cluster_size"), op.Attr("cluster_stride")
	if stride.Kind != loom.AttrNone && size.Kind == loom.AttrNone {
		v.report(v.opError(op, "STRUCTURE/014", "%s states cluster_stride without cluster_size", op.Def.Name).WithHelp("add cluster_size"))
		return
	}
	for _, a := range []string{"cluster_size", "cluster_stride"} {
		if x := op.Attr(a); x.Kind == loom.AttrInt && (x.Int <= 0 || x.Int > 1<<32-1) {
			v.report(v.opError(op, "STRUCTURE/014", "%s of %s is %d; it is a positive 32-bit number", a, op.Def.Name, x.Int))
		}
	}
}

// matchAll checks the two results of kernel.subgroup.match.all.
func (v *verifier) matchAll(op *loom.Op) {
	if len(op.Results) != 2 {
		v.report(v.opError(op, "STRUCTURE/002", "%s has %s, expected the mask and the flag", op.Def.Name, plural(len(op.Results), "result")))
		return
	}
	if k := op.Results[0].Type.Kind; k != loom.I32 && k != loom.I64 {
		v.report(v.opError(op, "TYPE/004", "the mask of %s has type %s, expected i32 or i64", op.Def.Name, op.Results[0].Type))
	}
	if t := op.Results[1].Type; t.Kind != loom.I1 {
		v.report(v.opError(op, "TYPE/004", "the flag of %s has type %s, expected i1", op.Def.Name, t))
	}
}

// barrier checks space, ordering and scope. The older form knows one memory
// space and one ordering.
func (v *verifier) barrier(op *loom.Op) {
	space, ordering, scope := op.Word("memory_space"), op.Word("ordering"), op.Word("scope")
	old := op.Has("old")
	switch {
	case space != "workgroup" && (old || space != "global"):
		d := v.opError(op, "STRUCTURE/014", "kernel.barrier cannot order '%s' memory", space)
		if space == "global" {
			d = v.opError(op, "STRUCTURE/014", "the older form of kernel.barrier orders workgroup memory only, not global").
				WithHelp("write kernel.barrier<global> scope(%s) ordering(%s)", scope, ordering)
		}
		v.report(d)
	case ordering == "relaxed" || ordering == "seq_cst" || old && ordering != "acq_rel":
		v.report(v.opError(op, "STRUCTURE/014", "kernel.barrier<%s> cannot have ordering %s", space, ordering).WithHelp("use acq_rel"))
	case scope != "subgroup" && scope != "workgroup" && scope != "":
		v.report(v.opError(op, "STRUCTURE/014", "kernel.barrier cannot wait for scope %s", scope).WithHelp("use subgroup or workgroup"))
	}
}

// exit checks that a kernel is left from its own body, not from a nested region
// that other work items may have skipped.
func (v *verifier) exit(op *loom.Op) {
	if v.def.Kind != loom.DefKernel || op.Parent() != nil {
		v.report(v.opError(op, "STRUCTURE/029", "kernel.exit stands in %s; it must stand directly in the body of a kernel", v.context(op)).
			WithHelp("hoist it, and combine the conditions with scalar.andi"))
	}
}

func (v *verifier) launchConfig(op *loom.Op) {
	if op.Parent() != nil || !v.config {
		v.report(v.opError(op, "STRUCTURE/029", "kernel.launch.config stands in %s; it ends the launch-config block of a kernel", v.context(op)))
		return
	}
	for _, f := range []string{"workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "cluster_size_x", "cluster_size_y", "cluster_size_z"} {
		x := op.Operand(f)
		if x == nil {
			continue
		}
		if n, ok := constant(x); ok && n <= 0 {
			v.report(v.definedHere(v.opError(op, "STRUCTURE/014", "%s is %d; a workgroup has at least one item along each axis", f, n), x))
		}
	}
}

// Asynchronous transfers.

// staticBytes returns the size of the axes of a view from the given one on.
func staticBytes(t *loom.Type, from int) (int64, bool) {
	bits := t.Elem.Bits()
	if bits == 0 || bits%8 != 0 {
		return 0, false
	}
	n := int64(bits / 8)
	for _, d := range t.Dims[min(from, len(t.Dims)):] {
		if d.Val != nil {
			return 0, false
		}
		n *= d.Size
	}
	return n, true
}

func (v *verifier) viewFault(op *loom.Op, field, expected string) {
	v.report(v.opError(op, "TYPE/003", "operand '%s' of %s has type %s, expected %s", field, op.Def.Name, op.Operand(field).Type, expected))
}

// spaces checks the memory spaces of both ends of a transfer.
func (v *verifier) spaces(op *loom.Op, source, dest []string) bool {
	for _, e := range []struct {
		field string
		want  []string
	}{{"source", source}, {"dest", dest}} {
		got, from := spaceOf(op.Operand(e.field))
		if slices.Contains(e.want, got) {
			continue
		}
		d := v.opError(op, "TYPE/003", "operand '%s' of %s is not known to be in %s memory", e.field, op.Def.Name, e.want[0])
		if got != "" {
			d = v.opError(op, "TYPE/003", "operand '%s' of %s is in %s memory, expected %s", e.field, op.Def.Name, got, e.want[0]).WithRelated(from.NameSpan(), "known from here")
		}
		v.report(d.WithHelp("promise it with buffer.assume.memory_space<%s>", e.want[0]))
		return false
	}
	return true
}

var (
	globalSources = []string{"global", "constant", "descriptor"}
	globalDests   = []string{"global", "descriptor"}
	localSpace    = []string{"workgroup"}
)

// sameFootprint checks that both ends cover the same literal number of bytes.
func (v *verifier) sameFootprint(op *loom.Op) (int64, bool) {
	a, okA := staticBytes(op.Operand("source").Type, 0)
	b, okB := staticBytes(op.Operand("dest").Type, 0)
	if !okA {
		v.viewFault(op, "source", "a view of a literal number of bytes")
	}
	if !okB {
		v.viewFault(op, "dest", "a view of a literal number of bytes")
	}
	if !okA || !okB {
		return 0, false
	}
	if a != b {
		v.report(v.opError(op, "TYPE/003", "operand 'dest' of %s covers %d bytes, but 'source' covers %d", op.Def.Name, b, a))
		return 0, false
	}
	return a, true
}

func (v *verifier) asyncCopy(op *loom.Op) {
	if _, ok := v.sameFootprint(op); !ok {
		return
	}
	ok := false
	if op.Word("direction") == "workgroup_to_global" {
		ok = v.spaces(op, localSpace, globalDests)
	} else {
		ok = v.spaces(op, globalSources, localSpace)
	}
	if ok {
		v.transfer(op)
	}
}

func (v *verifier) asyncGather(op *loom.Op) {
	src, dst := op.Operand("source").Type, op.Operand("dest").Type
	if len(dst.Dims) != len(src.Dims)+1 {
		v.viewFault(op, "dest", "one leading axis for the lanes of the subgroup")
		return
	}
	a, okA := staticBytes(src, 0)
	b, okB := staticBytes(dst, 1)
	switch {
	case !okA:
		v.viewFault(op, "source", "a view of a literal number of bytes")
	case !okB:
		v.viewFault(op, "dest", "a literal number of bytes per lane")
	case a > b:
		v.report(v.opError(op, "TYPE/003", "operand 'dest' of %s has %d bytes per lane, but the source has %d", op.Def.Name, b, a))
	case v.spaces(op, globalSources, localSpace):
		v.transfer(op)
	}
}

func (v *verifier) asyncCluster(op *loom.Op) {
	n, ok := v.sameFootprint(op)
	if !ok {
		return
	}
	if n != 1 && n != 4 && n != 8 && n != 16 {
		v.viewFault(op, "source", "a view of 1, 4, 8 or 16 bytes")
		return
	}
	if v.spaces(op, globalSources, localSpace) {
		v.transfer(op)
	}
}

func (v *verifier) asyncTensor(op *loom.Op) {
	src, dst := op.Operand("source").Type, op.Operand("dest").Type
	switch bits := src.Elem.Bits(); {
	case len(src.Dims) == 0 || len(src.Dims) > 5:
		v.viewFault(op, "source", "a view of rank 1 to 5")
	case len(src.Dims) != len(dst.Dims):
		v.viewFault(op, "dest", "the rank of the source")
	case src.Elem != dst.Elem:
		v.viewFault(op, "dest", "the element type of the source")
	case bits != 8 && bits != 16 && bits != 32 && bits != 64:
		v.viewFault(op, "source", "elements of 1, 2, 4 or 8 bytes")
	default:
		ok := false
		if op.Def.Name == "kernel.async.tensor.load.to.lds" {
			ok = v.spaces(op, globalSources, localSpace)
		} else {
			ok = v.spaces(op, localSpace, globalDests)
		}
		if ok {
			v.transfer(op)
		}
	}
}

// transfers are the tokens and groups of a definition, whose uses are checked
// when all of it has been seen.
type transfers struct {
	tokens []*loom.Value
	groups []*loom.Value
}

func (v *verifier) transfer(op *loom.Op) {
	v.cache(op)
	v.async.tokens = append(v.async.tokens, op.Result())
}

func (v *verifier) asyncGroup(op *loom.Op) {
	for _, t := range op.Operands {
		if t.Def == nil || t.Def.Def.Result != "token" {
			v.report(v.definedHere(v.opError(op, "DOMINANCE/010", "'%%%s' does not come from an asynchronous transfer", t.Name), t))
		}
	}
	v.async.groups = append(v.async.groups, op.Result())
}

func (v *verifier) asyncWait(op *loom.Op) {
	if n := op.Attr("newer_groups").Int; n < 0 || n > 1<<15-1 {
		v.report(v.opError(op, "STRUCTURE/014", "newer_groups of kernel.async.wait is %d; it is 0 to 32767", n))
	}
}

// transferUses checks that every transfer is committed once and every group is
// waited for or handed on.
func (v *verifier) transferUses() {
	if len(v.async.tokens)+len(v.async.groups) == 0 {
		return
	}
	used := map[*loom.Value]int{}
	v.def.Walk(func(op *loom.Op) bool {
		for _, o := range op.Operands {
			used[o]++
		}
		return true
	})
	for _, t := range v.async.tokens {
		if n := used[t]; n != 1 {
			v.report(v.opError(t.Def, "DOMINANCE/009", "token '%%%s' has %s; every transfer is committed by exactly one kernel.async.group", t.Name, plural(n, "use")))
		}
	}
	for _, g := range v.async.groups {
		if used[g] == 0 {
			v.report(v.opError(g.Def, "DOMINANCE/009", "group '%%%s' is never waited for", g.Name).WithHelp("add kernel.async.wait %%%s", g.Name))
		}
	}
}

func (v *verifier) tensorDescriptor(op *loom.Op) {
	ds := op.Field("dgroups")
	if len(ds) != 2 && len(ds) != 4 {
		v.report(v.opError(op, "STRUCTURE/014", "kernel.tensor.lds.descriptor takes two or four descriptor groups, not %d", len(ds)))
		return
	}
	for i, d := range ds {
		want := int64(4)
		if i == 1 {
			want = 8
		}
		if t := d.Type; len(t.Dims) != 1 || t.Dims[0].Val != nil || t.Dims[0].Size != want || t.Elem != loom.I32 {
			v.report(v.opError(op, "TYPE/003", "descriptor group %d has type %s, expected vector<%dxi32>", i, t, want))
			return
		}
	}
}
