package dialect

import "github.com/loomc/loomc/loom"

// moduleOps are the ops that stand between definitions. Their heads are parsed
// by the grammar in package parser, so Format is documentation here: the same
// notation, with <…> for the parts the grammar owns.
func moduleOps() []*loom.OpDef {
	const (
		mods = "[public] [retain] [host|device|initializer|deinitializer] [pure] [hot|cold] [inline|noinline] [target(@t)] [abi(kind)] [export(\"name\")]"
		tmod = "[public] [retain] [host|device] [pure] [hot|cold] [target(@t)] [requires [#fact, …]]"
		sig  = "(%a: T, …) [-> (R, …)] [where [preds]]"
	)
	m := func(name, form, doc string) *loom.OpDef {
		return &loom.OpDef{Name: name, Doc: doc, Traits: loom.ModuleLevel, Types: "form " + form}
	}
	return []*loom.OpDef{
		m("amdgpu.target", "<SELECTOR> @sym [{attrs}]", "AMDGPU target record: the selector picks a processor row, attributes override its facts."),
		m("target.generic", "<reference> @sym [{attrs}]", "Host or reference execution target."),
		m("target.decl", "@sym", "Target record that another source must define."),
		m("llvmir.target", "<object> @sym [{attrs}]", "Target record of the LLVM IR path."),
		m("config.decl", "@key : [%v:] T [where [preds]]", "Open compile-time parameter with constraints."),
		m("config.def", "@key = value : T", "Bound compile-time value."),
		m("func.def", mods+" @f"+sig+" { … }", "Function with a body."),
		m("func.decl", mods+" @f"+sig, "Function contract without a body, satisfied at link."),
		m("func.template", "<key> [public] [cc] [pure] [target(@t)] [priority(N)] @impl"+sig+" { … }", "Older generation: one implementation of a keyed contract."),
		m("func.ukernel", "<key> … @impl"+sig, "Older generation: opaque implementation of a keyed contract."),
		m("func.provider.decl", "<key> @f"+sig, "Intermediate generation: declares a keyed contract."),
		m("template.decl", tmod+" @family"+sig, "Declares a template family."),
		m("template.def", "<@family> "+tmod+" [priority(N)] @impl"+sig+" { … }", "One implementation of a family."),
		m("template.ukernel", "<@family> "+tmod+" [priority(N)] @impl"+sig, "Opaque implementation of a family."),
		m("kernel.def", "[retain] [target(@t)] [export(\"name\")] [linkage(default|dso_local)] @k(%w: index, …) { … } launch(%a: T, …) [where [preds]] { … }", "Device entry: launch-config block and body."),
		m("kernel.decl", "[target(@t)] @k(%w: index, …) launch(%a: T, …)", "Kernel contract, satisfied at link."),
		m("global.constant", "@g : T [where [preds]] [= init]", "Module constant."),
		m("global.variable", "@g : T [where [preds]] [= init]", "Module variable."),
		m("check.case", "[public] @case { … }", "Named test."),
		m("check.benchmark", "<@case> [@name] [{param = value}]", "Timed run of a test case."),
		m("module.import", "\"provider\" [@a, …]", "Availability metadata; never creates a dependency."),
		m("metadata.module", "\"key\" = value", "Module metadata."),
	}
}

// callOps are the ops of the config, func, template, global and target dialects
// that stand in bodies.
func callOps() []*loom.OpDef {
	return []*loom.OpDef{
		{Name: "config.get", Format: "@config : T(result)", Result: "result", Traits: loom.Pure,
			Doc: "Reads a compile-time parameter."},
		{Name: "func.call", Format: "!pure !temperature=hot|cold !inline=inline|noinline @callee~args", Result: "results...",
			Doc: "Exact call."},
		{Name: "func.apply", Format: "<contract:key>~args", Result: "results...",
			Doc: "Older generation: compile-time dispatch on a key."},
		{Name: "func.return", Format: "?(%operands... : T*(operands) ?)", Traits: loom.Terminator,
			Doc: "Ends a function."},
		{Name: "template.apply", Format: "<family:symbol>~args", Result: "results...",
			Doc: "Compile-time dispatch on a template family."},
		{Name: "template.call", Format: "!pure !temperature=hot|cold @callee~args", Result: "results...",
			Doc: "Call of one implementation, still checked against the family's contract."},
		{Name: "template.return", Format: "?(%operands... : T*(operands) ?)", Traits: loom.Terminator,
			Doc: "Ends a template implementation."},
		{Name: "global.load", Format: "@global : T(result)", Result: "result", Traits: loom.Reads, Doc: "Reads a module global."},
		{Name: "global.store", Format: "%value, @global : T(value)", Traits: loom.Writes, Doc: "Writes a module global."},
		{Name: "target.subgroup.size", Format: ": T(result)", Result: "result", Types: "result:index", Traits: loom.Pure,
			Doc: "Selected subgroup size as a compile-time query."},
		{Name: "test.fact_uniform", Format: "%value : T(value) -> T(result)", Result: "result", Types: "result:bool", Traits: loom.Pure,
			Doc: "Whether the value is known to be the same in every lane of a subgroup, answered at specialisation."},
		{Name: "test.fact_lane_varying", Format: "%value : T(value) -> T(result)", Result: "result", Types: "result:bool", Traits: loom.Pure,
			Doc: "Whether the value may differ between the lanes of a subgroup, answered at specialisation."},
		{Name: "test.fact_lane_predicate", Format: "%value : T(value) -> T(result)", Result: "result", Types: "value:bool; result:bool", Traits: loom.Pure,
			Doc: "Whether a condition may differ between the lanes of a subgroup, answered at specialisation."},
		{Name: "test.use", Format: "?(%values... : T*(values) ?)", Traits: loom.Writes, Doc: "Keeps values alive in tests of the front end."},
	}
}
