package dialect

import "github.com/loomc/loomc/loom"

func scfOps() []*loom.OpDef {
	return []*loom.OpDef{
		{Name: "scf.for", Format: "~iv = [%lower_bound to %upper_bound step %step]~binds ~results ~loophints &body", Result: "results...",
			Types: "lower_bound=upper_bound=step:indexlike", Doc: "Counted half-open loop with carried values; the step is positive."},
		{Name: "scf.if", Format: "%condition ~results &then_region ?(else &else_region ?)", Result: "results...", Types: "condition:bool", Doc: "Conditional; results need both branches."},
		{Name: "scf.select", Format: "%condition, %true_value, %false_value : T(result)", Result: "result", Types: "condition:bool;true_value=false_value=result:any", Traits: loom.Pure, Doc: "Choice between two whole values."},
		{Name: "scf.yield", Format: "?(%values... : T*(values) ?)", Traits: loom.Terminator, Doc: "Ends a region and hands values to its op."},
		{Name: "scf.condition", Format: "%condition ?(, %forwarded... ?) : T(condition) ?(, T*(forwarded) ?)", Types: "condition:bool", Traits: loom.Terminator, Doc: "Ends the test region of a while loop."},
		{Name: "scf.while", Format: "~binds ~results &before do~blockargs &after", Result: "results...", Doc: "General loop: test region, then body region."},
		{Name: "scf.switch", Format: "%selector ~results ~cases", Result: "results...", Types: "selector:index", Doc: "Multi-way choice on an index: sorted integer cases and a default."},
		{Name: "scf.lookup", Format: "%selector ~rows : T*(results)", Result: "results...", Types: "selector:index", Traits: loom.Pure, Doc: "Table of value rows by index with a default row."},
		{Name: "scf.schedule.fence", Format: "", Traits: loom.Hint | loom.Writes, Doc: "Scheduling hint without run-time effect."},
	}
}

func cfgOps() []*loom.OpDef {
	return []*loom.OpDef{
		{Name: "cfg.br", Format: "^dest", Traits: loom.Terminator, Doc: "Jump."},
		{Name: "cfg.cond_br", Format: "%condition, ^true_dest, ^false_dest", Types: "condition:bool", Traits: loom.Terminator, Doc: "Conditional jump."},
	}
}

func encodingOps() []*loom.OpDef {
	return []*loom.OpDef{
		{Name: "encoding.define", Format: "$spec:enc ~edict : T(result)", Result: "result", Types: "result:encoding", Traits: loom.Pure, Doc: "Encoding value from a static spec and dynamic parameters."},
		{Name: "encoding.layout.dense", Format: ": T(result)", Result: "result", Types: "result:layout", Traits: loom.Pure, Doc: "Row-major layout."},
		{Name: "encoding.layout.strided", Format: "[strides] : T(result)", Result: "result", Types: "strides:index;result:layout", Traits: loom.Pure, Doc: "Layout from element strides."},
		{Name: "encoding.layout.assume.dense", Format: "%layout : T(result)", Result: "result", Types: "layout=result:layout", Traits: loom.Pure | loom.Fact, Doc: "Promises a dense layout."},
		{Name: "encoding.layout.assume.strided", Format: "%layout {attrs} : T(result)", Result: "result", Types: "layout=result:layout", Attrs: []loom.AttrDef{{Name: "rank", Kind: "int", Required: true}}, Traits: loom.Pure | loom.Fact, Doc: "Promises a strided layout of a rank."},
		{Name: "encoding.assume.spec", Format: "%encoding, $spec:enc : T(result)", Result: "result", Types: "encoding=result:encoding", Traits: loom.Pure | loom.Fact, Doc: "Promises an exact spec."},
		{Name: "encoding.isa", Format: "<spec:enc?> %encoding ?(, $category:string ?)~isatype", Result: "result", Types: "encoding:encoding;result:bool", Traits: loom.Pure, Doc: "Tests an encoding against a spec (newer) or category (older)."},
		{Name: "encoding.matches", Format: "<pattern:pattern> %schema : T(schema)", Result: "result=i1", Types: "schema:schema", Traits: loom.Pure, Doc: "Semantic test of a schema."},
		{Name: "encoding.assume.match", Format: "<pattern:pattern> %schema : T(result)", Result: "result", Types: "schema=result:schema", Traits: loom.Pure | loom.Fact, Doc: "Promises that a schema matches."},
	}
}

func checkOps() []*loom.OpDef {
	list := []*loom.OpDef{
		{Name: "check.return", Format: "", Traits: loom.Terminator, Doc: "Ends a test."},
		{Name: "check.literal", Format: "value($value:value) : T(result)", Result: "result", Types: "result:scalar", Doc: "Fixed scalar."},
		{Name: "check.param.choice", Format: "values($values:list) ?(name($param_name:string) ?) : T(result)", Result: "result", Types: "result:scalar", Doc: "Parameter that takes each listed value."},
		{Name: "check.param.range", Format: "$sweep:sweep bounds($lower:value to $upper:value) ?(step($step:value) ?) ?(name($param_name:string) ?) : T(result)", Result: "result", Types: "result:scalar", Doc: "Parameter sweep, linear or by powers of two."},
		{Name: "check.param.seed", Format: "base($base:value) count($count:value) ?(name($param_name:string) ?) : T(result)", Result: "result", Types: "result:int", Doc: "Sequence of seeds."},
		{Name: "check.generate.fill", Format: "value($value:value) : T(result)", Result: "result", Doc: "Tensor of one value."},
		{Name: "check.generate.iota", Format: "offset($offset:value) step($step:value) ?(period($period:value) ?) : T(result)", Result: "result", Doc: "offset + step·ordinal, the ordinal taken modulo period."},
		{Name: "check.generate.random.uniform", Format: "seed(%seed) range($lower:value to $upper:value) : T(result)", Result: "result", Types: "seed:int", Doc: "Seeded uniform tensor."},
		{Name: "check.expect.equal", Format: "actual(%actual) expected(%expected) : T(actual)", Types: "actual=expected", Doc: "Values must compare equal."},
		{Name: "check.expect.bitwise", Format: "actual(%actual) expected(%expected) : T(actual)", Types: "actual=expected", Doc: "Bits must be equal."},
		{Name: "check.expect.close", Format: "actual(%actual) expected(%expected) atol($atol:value) rtol($rtol:value) nan($nan:nanmode) : T(actual)", Types: "actual=expected", Doc: "|actual − expected| ≤ atol + rtol·|expected|."},
		{Name: "check.expect.shape", Format: "value(%value) shape($shape:list) : T(value)", Doc: "Extents must match."},
		{Name: "check.expect.event", Format: "<provider:key> ~edict {attrs}", Doc: "A named event must have happened."},
		{Name: "check.expect", Format: "<provider:key> actual(%actual) expected(%expected) {attrs} : T(actual)", Types: "actual=expected", Doc: "Comparison by a named provider."},
		{Name: "check.tensor.view", Format: "%source[offsets] : T(source) -> T(result)", Result: "result", Doc: "Sub-tensor that shares storage."},
		{Name: "check.file.read.npy", Format: "path($path:string) : T(result)", Result: "result", Doc: "Tensor from a NumPy file."},
		{Name: "check.file.write.npy", Format: "value(%value) path($path:string) ?(mode($mode:writemode) ?) : T(value)", Doc: "Tensor to a NumPy file."},
		{Name: "check.oracle.call", Format: "<provider:key> {attrs} callee(@callee) inputs(%inputs...) : (T*(inputs)) -> (T*(results))", Result: "results...", Doc: "Expected values from a named provider."},
		{Name: "check.requires", Format: "<provider:key> {attrs}", Doc: "Skips the case unless the requirement holds."},
		{Name: "check.skip_if", Format: "<provider:key> {attrs} ?(reason($reason:string) ?)", Doc: "Skips the case when the predicate holds."},
	}
	for _, d := range list {
		d.Traits |= loom.CheckOnly
	}
	return list
}
