package generation

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// rules holds what is particular to one operation, per target generation.
// Predicates, encodings and types are converted for every operation alike.
var rules = [...]map[string]func(*converter, *loom.Op){
	New: {
		"func.apply":     applyToFamily,
		"func.return":    returnOfTemplate,
		"func.call":      callToNew,
		"buffer.alloca":  allocaToClauses,
		"kernel.barrier": barrierToClauses,
		"encoding.isa":   isaByCategory,
	},
	Old: {
		"template.apply":       applyToKey,
		"template.return":      func(_ *converter, op *loom.Op) { become(op, "func.return") },
		"template.call":        callToOld,
		"kernel.launch":        launchToCall,
		"kernel.launch.config": noClusters,
		"buffer.alloca":        allocaToDict,
		"kernel.barrier":       barrierToDict,
		"scf.for":              plainLoop,
		"encoding.isa":         isaBySpec,
		"check.generate.iota":  noPeriod,
	},
}

// newerOps are the operations without a counterpart in the older generation,
// with what to do instead.
var newerOps = map[string]string{
	"index.scale":                      "multiply as index and cast: index.cast, index.mul, index.cast",
	"scalar.bitfield.extractu":         "shift and mask: scalar.shrui, scalar.andi",
	"scalar.bitfield.extracts":         "shift left, then right: scalar.shli, scalar.shrsi",
	"scf.schedule.fence":               "remove it; it is a hint without effect",
	"vector.fragment.repack":           "store the fragment to workgroup memory and load it in the other role",
	"buffer.pack":                      "add up the lengths and alignments with index ops",
	"buffer.length":                    "pass the length as a parameter",
	"target.subgroup.size":             "select by target record, or read a config",
	"encoding.matches":                 "select by a config instead",
	"encoding.assume.match":            "promise the exact spec with encoding.assume.spec",
	"check.expect.event":               "remove the expectation",
	"check.tensor.view":                "generate a tensor of its own for the part",
	"kernel.cluster.id":                noClusterHelp,
	"kernel.cluster.size":              noClusterHelp,
	"kernel.cluster.count":             noClusterHelp,
	"kernel.cluster.workgroup.id":      noClusterHelp,
	"kernel.cluster.workgroup.flat_id": noClusterHelp,
}

const noClusterHelp = "launch without clusters and use workgroup numbers"

// newerDefs are the definitions without a counterpart in the older generation.
var newerDefs = map[loom.DefKind]string{
	loom.DefKernelDecl: "put the kernel and its users into one file, or declare it as func.decl with the launch parameters",
	loom.DefTargetDecl: "repeat the record itself: amdgpu.target<…>",
	loom.DefImport:     "remove it; it is metadata",
	loom.DefMetadata:   "remove it, or keep the information in a comment",
}

// head converts what stands before the regions of a definition, types and
// predicates aside.
func (c *converter) head(d, n *loom.Def) {
	if c.to == Old {
		c.headToOld(d, n)
		return
	}
	if n.OldForm {
		c.templateToNew(d, n)
	}
}

func (c *converter) headToOld(d, n *loom.Def) {
	m := &n.Mods
	if help, ok := newerDefs[d.Kind]; ok {
		c.refuse(within(c.at, d.Op.Name), "GENERATION/OP", help, "%s exists in the newer generation only", d.Op.Name)
		return
	}
	if m.Retain {
		c.refuse(c.find("retain"), "GENERATION/MODIFIER", "export the definition, or make it public", "the older generation has no modifier 'retain'")
	}
	if len(m.Requires) > 0 {
		c.refuse(c.find("requires"), "GENERATION/MODIFIER", "name a target record with target(@…) that has those facts",
			"the older generation cannot say what '@%s' requires of its target", d.Name)
	}
	switch d.Kind {
	case loom.DefAlias:
		if strings.Contains(d.Name, ".") {
			c.refuse(d.NameSpan, "GENERATION/NAME", "rename the alias", "the older generation allows no dot in the alias #%s", d.Name)
		}
	case loom.DefTarget:
		for _, a := range d.Attrs {
			if a.Name == "max_workgroup_storage_bytes" {
				c.refuse(c.find(a.Name), "GENERATION/MODIFIER", "remove it; the processor's limit then holds", "target records of the older generation have no '%s'", a.Name)
			}
		}
	case loom.DefTemplate, loom.DefUkernel:
		if !d.OldForm {
			n.Op, n.OldForm = defOp(map[loom.DefKind]string{loom.DefTemplate: "func.template", loom.DefUkernel: "func.ukernel"}[d.Kind]), true
		}
	}
}

func (c *converter) templateToNew(d, n *loom.Def) {
	m := &n.Mods
	switch {
	case m.Inline == "noinline":
		c.refuse(c.find("noinline"), "GENERATION/MODIFIER", "make it a func.def that is called by name",
			"implementations of the newer generation are always inlined, so '@%s' cannot be noinline", d.Name)
	case m.ABI != "" || m.HasExport || m.HasImport:
		c.refuse(d.NameSpan, "GENERATION/MODIFIER", "make it a func.def and apply it from an implementation",
			"implementations of the newer generation take no abi, import or export, which '@%s' has", d.Name)
	}
	m.Inline = "" // an implementation is inlined anyway
	n.OldForm = false
	switch d.Kind {
	case loom.DefTemplate:
		n.Op = defOp("template.def")
	case loom.DefUkernel:
		n.Op = defOp("template.ukernel")
	case loom.DefTemplateDecl: // func.provider.decl<key> @name: the key is what is applied
		if by := c.mentions[d.Name]; by != nil {
			c.diags.Add(diag.Errorf(d.NameSpan, "GENERATION/NAME", "'@%s' would become '@%s', the key it declares, but is used by this name", d.Name, d.Family).
				WithRelated(by.NameSpan(), "used here").
				WithHelp("apply the key '%s' instead", d.Family))
		}
		n.Op, n.Name, n.Family = defOp("template.decl"), d.Family, ""
	}
}

// Calls.

func applyToFamily(_ *converter, op *loom.Op) {
	become(op, "template.apply")
	renameAttr(op, "contract", "family", loom.AttrSymbol)
}

func applyToKey(c *converter, op *loom.Op) {
	c.spellKey(op.Word("family"), op.NameSpan())
	become(op, "func.apply")
	renameAttr(op, "family", "contract", loom.AttrWord)
}

func renameAttr(op *loom.Op, from, to string, kind loom.AttrKind) {
	for i := range op.Attrs {
		if op.Attrs[i].Name == from {
			op.Attrs[i] = loom.NamedAttr{Name: to, Value: loom.Attr{Kind: kind, Str: op.Attrs[i].Value.Str}}
		}
	}
}

func returnOfTemplate(c *converter, op *loom.Op) {
	if c.src.Kind == loom.DefTemplate {
		become(op, "template.return")
	}
}

// callToNew turns calls of implementations into template.call and calls of
// kernels into launches.
func callToNew(c *converter, op *loom.Op) {
	callee := c.symbols[op.Word("callee")]
	if callee == nil {
		return // the verifier's business
	}
	switch callee.Kind {
	case loom.DefTemplate, loom.DefUkernel:
		if op.Word("inline") == "noinline" {
			c.refuse(c.find("noinline"), "GENERATION/MODIFIER", "drop noinline, or make the callee a func.def",
				"implementations of the newer generation are always inlined, so this call of '@%s' cannot be noinline", callee.Name)
			return
		}
		become(op, "template.call")
		dropAttr(op, "inline")
	case loom.DefKernel, loom.DefKernelDecl:
		if len(callee.Workload) > 0 {
			c.diags.Add(launchFault(op, "kernel.launch needs the workload of '@%s', which func.call does not give", callee.Name).
				WithRelated(callee.NameSpan, "the workload parameters are declared here").
				WithHelp("write kernel.launch @%s[…](…) with the workload values", callee.Name))
			return
		}
		for _, w := range []string{"pure", "temperature", "inline"} {
			if t := op.Word(w); t != "" {
				c.diags.Add(launchFault(op, "a kernel launch takes no '%s'", t).WithHelp("drop the word"))
				return
			}
		}
		become(op, "kernel.launch")
		op.Segs = []uint16{0, uint16(len(op.Operands))}
	case loom.DefFuncDecl:
		if slices.ContainsFunc(op.Operands, func(v *loom.Value) bool { return v.Type != nil && v.Type.Kind == loom.Tensor }) {
			c.diags.Add(launchFault(op, "'@%s' takes tensors, so it stands for a kernel, whose workload parameters are not declared here", callee.Name).
				WithRelated(callee.NameSpan, "declared here").
				WithHelp("declare it as kernel.decl @%s(workload) launch(…) and launch it with kernel.launch", callee.Name))
		}
	}
}

func callToOld(_ *converter, op *loom.Op) {
	become(op, "func.call")
	op.SetAttr("inline", loom.WordAttr("inline"))
}

func launchToCall(c *converter, op *loom.Op) {
	if len(op.Field("workload")) > 0 {
		c.diags.Add(launchFault(op, "func.call cannot give the workload of '@%s'", op.Word("callee")).
			WithHelp("bind the workload with configs, so that the kernel's workload list is empty"))
		return
	}
	become(op, "func.call")
	op.Segs = []uint16{uint16(len(op.Operands))}
}

func launchFault(op *loom.Op, format string, args ...any) diag.Diagnostic {
	return diag.Errorf(op.NameSpan(), "GENERATION/LAUNCH", format, args...)
}

func dropAttr(op *loom.Op, name string) {
	op.Attrs = slices.DeleteFunc(op.Attrs, func(a loom.NamedAttr) bool { return a.Name == name })
}

// Clauses and dictionaries.

// reorder puts the attributes of op into the order of names. It reports a
// dictionary key that is not among them.
func (c *converter) reorder(op *loom.Op, names ...string) bool {
	out := make([]loom.NamedAttr, 0, len(op.Attrs))
	for _, n := range names {
		if a := op.Attr(n); a.Kind != loom.AttrNone {
			out = append(out, loom.NamedAttr{Name: n, Value: a})
		}
	}
	for _, a := range op.Attrs {
		if !slices.Contains(names, a.Name) && a.Name != "old" {
			c.refuse(c.find(a.Name), "GENERATION/CLAUSE", "remove it", "%s has no clause for '%s'", op.Def.Name, a.Name)
			return false
		}
	}
	op.Attrs = out
	return true
}

// need reports whether op has the named attributes, which the other form cannot
// do without.
func (c *converter) need(op *loom.Op, names ...string) bool {
	for _, n := range names {
		if !op.Has(n) {
			c.refuse(op.NameSpan(), "GENERATION/CLAUSE", "add it", "%s does not say its %s", op.Def.Name, n)
			return false
		}
	}
	return true
}

func allocaToClauses(c *converter, op *loom.Op) {
	if c.need(op, "memory_space") {
		c.reorder(op, "memory_space", "base_alignment")
	}
}

func allocaToDict(c *converter, op *loom.Op) {
	if c.need(op, "memory_space") && c.reorder(op, "base_alignment", "memory_space") {
		op.SetAttr("old", loom.BoolAttr(true))
	}
}

func barrierToClauses(c *converter, op *loom.Op) {
	if c.need(op, "ordering", "scope") {
		c.reorder(op, "memory_space", "scope", "ordering")
	}
}

func barrierToDict(c *converter, op *loom.Op) {
	if !c.need(op, "ordering", "scope") || !c.reorder(op, "memory_space", "ordering", "scope") {
		return
	}
	if s := op.Word("memory_space"); s != "workgroup" {
		c.refuse(c.find(s), "GENERATION/CLAUSE", "the older generation cannot order "+s+" memory inside a kernel: end the kernel at this point",
			"kernel.barrier of the older generation orders workgroup memory only, not %s", s)
	}
	if o := op.Word("ordering"); o != "acq_rel" {
		c.refuse(c.find(o), "GENERATION/CLAUSE", "use acq_rel, which is at least as strong", "kernel.barrier of the older generation has the ordering acq_rel only, not %s", o)
	}
	op.SetAttr("old", loom.BoolAttr(true))
}

func plainLoop(c *converter, op *loom.Op) {
	if op.Operand("pipeline_depth") != nil {
		c.refuse(c.find("pipeline"), "GENERATION/CLAUSE", "remove it; it is a hint without effect on the result", "loops of the older generation take no pipeline hint")
	}
	if op.Word("schedule") != "" {
		c.refuse(c.find("schedule"), "GENERATION/CLAUSE", "remove it; it is a hint without effect on the result", "loops of the older generation take no schedule hint")
	}
	if v := op.Operand("lower_bound"); v != nil && v.Type != nil && v.Type.Kind == loom.Offset {
		c.refuse(op.NameSpan(), "GENERATION/CLAUSE", "count in index and cast inside the loop", "loops of the older generation count in index, not in offset")
	}
}

func noClusters(c *converter, op *loom.Op) {
	if op.Operand("cluster_size_x") != nil {
		c.refuse(c.find("cluster_size"), "GENERATION/CLAUSE", "launch without clusters", "launch configs of the older generation have no cluster_size")
	}
}

func noPeriod(c *converter, op *loom.Op) {
	if op.Has("period") {
		c.refuse(c.find("period"), "GENERATION/CLAUSE", "read the tensor from a file, or generate one period", "check.generate.iota of the older generation has no period")
	}
}

func isaByCategory(c *converter, op *loom.Op) {
	if op.Has("category") {
		c.refuse(op.NameSpan(), "GENERATION/CLAUSE", "write encoding.isa<#spec> or encoding.matches<…>", "encoding.isa of the newer generation tests a spec, not the category \"%s\"", op.Word("category"))
	}
}

func isaBySpec(c *converter, op *loom.Op) {
	if op.Has("spec") {
		c.refuse(op.NameSpan(), "GENERATION/CLAUSE", "select by a config instead", "encoding.isa of the older generation tests a category, not a spec")
	}
}
