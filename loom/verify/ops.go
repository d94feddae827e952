package verify

import "github.com/loomc/loomc/loom"

// opChecks is the table of checks particular to one op. They run after the
// general checks found nothing, so they may rely on operand counts, type sets
// and attribute kinds.
func opChecks() map[string]func(*verifier, *loom.Op) {
	m := map[string]func(*verifier, *loom.Op){
		"config.get":        (*verifier).configGet,
		"global.load":       (*verifier).globalAccess,
		"global.store":      (*verifier).globalAccess,
		"func.return":       (*verifier).returnOp,
		"template.return":   (*verifier).returnOp,
		"func.call":         (*verifier).call,
		"template.apply":    (*verifier).call,
		"template.call":     (*verifier).call,
		"kernel.launch":     (*verifier).call,
		"check.oracle.call": (*verifier).call,

		"index.constant":  (*verifier).constantOp,
		"scalar.constant": (*verifier).constantOp,
		"vector.constant": (*verifier).constantOp,
		"index.cast":      (*verifier).indexCast,

		"scf.for":       (*verifier).scfFor,
		"scf.if":        (*verifier).scfIf,
		"scf.while":     (*verifier).scfWhile,
		"scf.condition": (*verifier).scfCondition,
		"scf.switch":    (*verifier).scfSwitch,
		"scf.lookup":    (*verifier).scfLookup,
		"cfg.br":        (*verifier).branch,
		"cfg.cond_br":   (*verifier).branch,

		"buffer.alloca":              (*verifier).alloca,
		"buffer.assume.alignment":    (*verifier).assumeAlignment,
		"buffer.assume.memory_space": (*verifier).assumeSpace,
		"buffer.view":                (*verifier).bufferView,
		"view.subview":               (*verifier).subview,
		"view.refine":                (*verifier).refine,

		"encoding.define":                (*verifier).encodingDefine,
		"encoding.assume.spec":           (*verifier).encodingAssume,
		"encoding.layout.strided":        (*verifier).strided,
		"encoding.layout.assume.strided": (*verifier).stridedRank,

		"kernel.barrier":               (*verifier).barrier,
		"kernel.exit":                  (*verifier).exit,
		"kernel.launch.config":         (*verifier).launchConfig,
		"kernel.subgroup.match.all":    (*verifier).matchAll,
		"kernel.async.group":           (*verifier).asyncGroup,
		"kernel.async.wait":            (*verifier).asyncWait,
		"kernel.tensor.lds.descriptor": (*verifier).tensorDescriptor,

		"vector.extract":         (*verifier).element,
		"vector.insert":          (*verifier).element,
		"vector.slice":           (*verifier).slice,
		"vector.concat":          (*verifier).concat,
		"vector.broadcast":       (*verifier).broadcast,
		"vector.transpose":       (*verifier).transpose,
		"vector.shuffle":         (*verifier).shuffle,
		"vector.interleave":      (*verifier).interleave,
		"vector.deinterleave":    (*verifier).interleave,
		"vector.empty":           (*verifier).empty,
		"vector.poison":          (*verifier).empty,
		"vector.from_elements":   (*verifier).fromElements,
		"vector.reduce":          (*verifier).reduce,
		"vector.reduce.axes":     (*verifier).reduceAxes,
		"vector.table.lookup":    (*verifier).tableLookup,
		"vector.table.quantize":  (*verifier).tableQuantize,
		"vector.bitpack":         (*verifier).bitstream,
		"vector.bitunpacku":      (*verifier).bitstream,
		"vector.bitunpacks":      (*verifier).bitstream,
		"vector.geluf":           (*verifier).gelu,
		"scalar.geluf":           (*verifier).gelu,
		"vector.fragment":        (*verifier).fragment,
		"vector.fragment.repack": (*verifier).fragment,
		"vector.fragment.load":   (*verifier).fragmentAccess,
		"vector.fragment.store":  (*verifier).fragmentAccess,
		"vector.decode":          (*verifier).auxiliary,
		"vector.encode":          (*verifier).auxiliary,
		"vector.transform":       (*verifier).transform,

		"check.literal":                 func(v *verifier, op *loom.Op) { v.literals(op, "value") },
		"check.param.range":             func(v *verifier, op *loom.Op) { v.literals(op, "lower", "upper", "step") },
		"check.generate.fill":           func(v *verifier, op *loom.Op) { v.literals(op, "value") },
		"check.generate.iota":           func(v *verifier, op *loom.Op) { v.literals(op, "offset", "step") },
		"check.generate.random.uniform": func(v *verifier, op *loom.Op) { v.literals(op, "lower", "upper") },
		"check.expect.shape":            (*verifier).expectShape,
	}
	for _, group := range []struct {
		names []string
		check func(*verifier, *loom.Op)
	}{
		{[]string{"view.load", "view.store", "view.prefetch", "view.atomic.reduce", "view.atomic.rmw", "view.atomic.cmpxchg"}, (*verifier).elementAccess},
		{[]string{"vector.load", "vector.store", "vector.load.mask", "vector.store.mask", "vector.load.expand", "vector.store.compress"}, (*verifier).vectorAccess},
		{[]string{"vector.gather", "vector.gather.mask", "vector.scatter", "vector.scatter.mask", "vector.atomic.reduce", "vector.atomic.reduce.mask",
			"vector.atomic.rmw", "vector.atomic.rmw.mask", "vector.atomic.cmpxchg"}, (*verifier).scatteredAccess},
		{[]string{"kernel.subgroup.reduce", "kernel.subgroup.scan", "kernel.workgroup.reduce", "kernel.workgroup.scan"}, (*verifier).collective},
		{[]string{"scalar.bitfield.extractu", "scalar.bitfield.extracts", "vector.bitfield.extractu", "vector.bitfield.extracts", "vector.bitfield.insert"}, (*verifier).bitfield},
		{[]string{"kernel.async.copy", "kernel.async.copy.mask"}, (*verifier).asyncCopy},
		{[]string{"kernel.async.gather", "kernel.async.gather.mask"}, (*verifier).asyncGather},
		{[]string{"kernel.async.cluster.gather", "kernel.async.cluster.gather.mask"}, (*verifier).asyncCluster},
		{[]string{"kernel.async.tensor.load.to.lds", "kernel.async.tensor.store.from.lds"}, (*verifier).asyncTensor},
	} {
		for _, n := range group.names {
			m[n] = group.check
		}
	}
	return m
}

// literals checks literal attributes against the element of the result.
func (v *verifier) literals(op *loom.Op, names ...string) {
	for _, n := range names {
		if !v.literal(op, n, op.Result().Type.Element()) {
			return
		}
	}
}

// expectShape checks that one extent is expected per axis.
func (v *verifier) expectShape(op *loom.Op) {
	t := op.Operand("value").Type
	if n := len(op.Attr("shape").List()); n != len(t.Dims) {
		v.report(v.opError(op, "SUBRANGE/001", "check.expect.shape gives %s for %s, which has rank %d", plural(n, "extent"), t, len(t.Dims)))
	}
}
