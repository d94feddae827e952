package dialect

import "github.com/loomc/loomc/loom"

const wave = loom.KernelOnly | loom.Convergent

func kernelOps() []*loom.OpDef {
	cluster := []loom.AttrDef{
		{Name: "cluster_size", Kind: "int", Doc: "Lanes per cluster; the whole subgroup when absent."},
		{Name: "cluster_stride", Kind: "int", Doc: "Distance between the lanes of a cluster."},
	}
	scan := append([]loom.AttrDef{
		{Name: "direction", Kind: "word:direction", Doc: "forward or reverse lane order."},
		{Name: "mode", Kind: "word:scanmode", Doc: "inclusive or exclusive of the lane's own value."},
	}, cluster...)
	cache := cacheAttrs()
	async := append([]loom.AttrDef{
		{Name: "direction", Kind: "word:global_to_workgroup|workgroup_to_global", Required: true, Doc: "Which end is workgroup memory."},
	}, cache...)
	out := []*loom.OpDef{
		{Name: "kernel.launch.config", Format: "workgroups(%workgroup_count_x, %workgroup_count_y, %workgroup_count_z) workgroup_size(%workgroup_size_x, %workgroup_size_y, %workgroup_size_z) ?(cluster_size(%cluster_size_x, %cluster_size_y, %cluster_size_z) ?) : T(workgroup_count_x)",
			Types: "workgroup_count_x:index;workgroup_count_y:index;workgroup_count_z:index;workgroup_size_x:index;workgroup_size_y:index;workgroup_size_z:index", Traits: loom.Terminator,
			Doc: "Ends the launch-config block: grid in workgroups, items per workgroup, optionally workgroups per cluster."},
		{Name: "kernel.return", Format: "", Traits: loom.Terminator, Doc: "Ends a kernel."},
		{Name: "kernel.launch", Format: "@callee~launch", Result: "results...", Traits: loom.Writes | loom.Reads, Doc: "Launches a kernel from a test or host body."},
		{Name: "kernel.barrier", Format: "~barrier", Traits: loom.Convergent | loom.Reads | loom.Writes,
			Attrs: []loom.AttrDef{{Name: "ordering", Kind: "word:ordering", Required: true}, {Name: "scope", Kind: "word:scope", Required: true}},
			Doc:   "Rendezvous of a scope that orders the named memory space, and only that one."},
		{Name: "kernel.exit", Format: "%condition : T(condition) ?(&body ?)", Types: "condition:bool", Traits: loom.Writes, Doc: "Leaves the kernel where the condition holds, after the optional region."},
		{Name: "kernel.assert", Format: "%condition ?($message:string ?) : T(condition)", Types: "condition:bool", Traits: loom.KernelOnly | loom.Writes, Doc: "Debug assertion."},
		{Name: "kernel.subgroup.reduce", Format: "<kind:rkind> %value {attrs} : T(value)", Result: "result=%value", Attrs: cluster, Traits: loom.Pure | wave, Types: "value:payload", Doc: "Combines over the subgroup or clusters of it; every lane gets the result."},
		{Name: "kernel.subgroup.scan", Format: "<kind:rkind> %value {attrs} : T(value)", Result: "result=%value", Attrs: scan, Traits: loom.Pure | wave, Types: "value:payload", Doc: "Prefix combination over the subgroup."},
		{Name: "kernel.subgroup.shuffle", Format: "<mode:shuffle> %value, %offset, %width : T(value), T(offset), T(width)", Result: "result=%value, valid=i1", Traits: loom.Pure | wave, Types: "value:payload;offset:i32;width:i32", Doc: "Value of another lane; the second result says whether the source lane took part."},
		{Name: "kernel.subgroup.broadcast", Format: "%value from %lane : T(value), T(lane)", Result: "result=%value", Traits: loom.Pure | wave, Types: "value:payload;lane:i32", Doc: "Value of the chosen lane, in all lanes."},
		{Name: "kernel.subgroup.broadcast.first", Format: "%value : T(value)", Result: "result=%value", Traits: loom.Pure | wave, Types: "value:payload", Doc: "Value of the first active lane, in all lanes."},
		{Name: "kernel.subgroup.active.mask", Format: ": T(mask)", Result: "mask", Traits: loom.Pure | wave, Types: "mask:mask32", Doc: "Bit mask of the active lanes."},
		{Name: "kernel.subgroup.match.any", Format: "%value : T(value) -> T(mask)", Result: "mask", Types: "value:scalar;mask:mask32", Traits: loom.Pure | wave, Doc: "Mask of the lanes that hold an equal value."},
		{Name: "kernel.subgroup.match.all", Format: "%value : T(value) -> T*(results)", Result: "results...", Types: "value:scalar", Traits: loom.Pure | wave, Doc: "Mask and flag when all lanes hold an equal value."},
		{Name: "kernel.subgroup.vote.ballot", Format: "%predicate : T(predicate) -> T(mask)", Result: "mask", Types: "predicate:bool;mask:mask32", Traits: loom.Pure | wave, Doc: "Bit mask of the lanes where the predicate holds."},
		{Name: "kernel.subgroup.vote.all", Format: "%predicate : T(predicate)", Result: "result=i1", Types: "predicate:bool", Traits: loom.Pure | wave, Doc: "Whether the predicate holds in all lanes."},
		{Name: "kernel.subgroup.vote.any", Format: "%predicate : T(predicate)", Result: "result=i1", Types: "predicate:bool", Traits: loom.Pure | wave, Doc: "Whether the predicate holds in any lane."},
		{Name: "kernel.workgroup.reduce", Format: "<kind:rkind> %value : T(value)", Result: "result=%value", Types: "value:payload", Traits: wave, Doc: "Combines over the workgroup; every item gets the result. Needs workgroup-uniform control flow."},
		{Name: "kernel.workgroup.scan", Format: "<kind:rkind> %value {attrs} : T(value)", Result: "result=%value", Attrs: scan[:2], Types: "value:payload", Traits: wave, Doc: "Prefix combination over the workgroup."},
		{Name: "kernel.workgroup.vote.all", Format: "%predicate : T(predicate)", Result: "result=i1", Types: "predicate:bool", Traits: wave, Doc: "Whether the predicate holds in all items."},
		{Name: "kernel.workgroup.vote.any", Format: "%predicate : T(predicate)", Result: "result=i1", Types: "predicate:bool", Traits: wave, Doc: "Whether the predicate holds in any item."},
		{Name: "kernel.workgroup.vote.count", Format: "%predicate : T(predicate) -> T(result)", Result: "result", Types: "predicate:bool;result:mask32", Traits: wave, Doc: "Number of items where the predicate holds."},
		{Name: "kernel.async.copy", Format: "%source to %dest {attrs} : T(source) to T(dest) -> T(token)", Result: "token", Attrs: async, Types: "source:view;dest:view;token:token", Traits: loom.Reads | loom.Writes, Doc: "Starts a byte copy between views of equal footprint."},
		{Name: "kernel.async.copy.mask", Format: "%source to %dest, %predicate {attrs} : T(source) to T(dest), T(predicate) -> T(token)", Result: "token", Attrs: async, Types: "source:view;dest:view;predicate:bool;token:token", Traits: loom.Reads | loom.Writes, Doc: "Predicated asynchronous copy."},
		{Name: "kernel.async.gather", Format: "%source to %dest {attrs} : T(source) to T(dest) -> T(token)", Result: "token", Attrs: cache, Types: "source:view;dest:view;token:token", Traits: loom.Reads | loom.Writes, Doc: "Per-lane global source into a wave-contiguous LDS tile."},
		{Name: "kernel.async.gather.mask", Format: "%source to %dest, %predicate {attrs} : T(source) to T(dest), T(predicate) -> T(token)", Result: "token", Attrs: cache, Types: "source:view;dest:view;predicate:bool;token:token", Traits: loom.Reads | loom.Writes, Doc: "Predicated asynchronous gather."},
		{Name: "kernel.async.cluster.gather", Format: "%source to %dest using %cluster_mask {attrs} : T(source) to T(dest), T(cluster_mask) -> T(token)", Result: "token", Attrs: cache, Types: "source:view;dest:view;cluster_mask:i32;token:token", Traits: loom.Reads | loom.Writes, Doc: "Cluster load into LDS under a workgroup mask."},
		{Name: "kernel.async.cluster.gather.mask", Format: "%source to %dest using %cluster_mask, %predicate {attrs} : T(source) to T(dest), T(cluster_mask), T(predicate) -> T(token)", Result: "token", Attrs: cache, Types: "source:view;dest:view;cluster_mask:i32;predicate:bool;token:token", Traits: loom.Reads | loom.Writes, Doc: "Predicated cluster load."},
		{Name: "kernel.async.tensor.load.to.lds", Format: "%source to %dest using %descriptor {attrs} : T(source) to T(dest), T(descriptor) -> T(token)", Result: "token", Attrs: cache, Types: "source:view;dest:view;descriptor:descriptor;token:token", Traits: loom.Reads | loom.Writes, Doc: "Tensor DMA from global memory to LDS."},
		{Name: "kernel.async.tensor.store.from.lds", Format: "%source to %dest using %descriptor {attrs} : T(source) to T(dest), T(descriptor) -> T(token)", Result: "token", Attrs: cache, Types: "source:view;dest:view;descriptor:descriptor;token:token", Traits: loom.Reads | loom.Writes, Doc: "Tensor DMA from LDS to global memory."},
		{Name: "kernel.async.group", Format: "?(%tokens... : T*(tokens) ?) -> T(group)", Result: "group", Types: "tokens:token;group:group", Traits: loom.Writes, Doc: "Commits tokens as one ordered group."},
		{Name: "kernel.async.wait", Format: "%group {attrs} : T(group)", Attrs: []loom.AttrDef{{Name: "newer_groups", Kind: "int", Required: true}}, Types: "group:group", Traits: loom.Writes, Doc: "Waits for a group, leaving newer_groups younger ones pending."},
		{Name: "kernel.tensor.lds.descriptor", Format: "dgroups(%dgroups...) : T*(dgroups) -> T(descriptor)", Result: "descriptor", Types: "dgroups:vector;descriptor:descriptor", Traits: loom.Pure, Doc: "Bundle of tensor DMA descriptor words."},
	}
	for _, q := range []struct{ name, doc string }{
		{"workgroup.id", "Workgroup index along one axis."},
		{"workgroup.count", "Number of workgroups along one axis."},
		{"workgroup.size", "Items per workgroup along one axis."},
		{"workitem.id", "Item index inside the workgroup along one axis."},
		{"workitem.dispatch.id", "Item index inside the grid along one axis."},
		{"cluster.id", "Cluster index along one axis."},
		{"cluster.size", "Workgroups per cluster along one axis."},
		{"cluster.count", "Number of clusters along one axis."},
		{"cluster.workgroup.id", "Workgroup index inside its cluster along one axis."},
	} {
		out = append(out, &loom.OpDef{Name: "kernel." + q.name, Format: "<dimension:axis> : T(result)", Result: "result",
			Types: "result:index", Traits: loom.Pure | loom.KernelOnly, Doc: q.doc})
	}
	for _, q := range []struct{ name, doc string }{
		{"subgroup.id", "Subgroup number inside the workgroup."},
		{"subgroup.lane.id", "Lane number inside the subgroup."},
		{"subgroup.size", "Lanes per subgroup."},
		{"subgroup.count", "Subgroups per workgroup."},
		{"cluster.workgroup.flat_id", "Flat workgroup number inside its cluster."},
	} {
		out = append(out, &loom.OpDef{Name: "kernel." + q.name, Format: ": T(result)", Result: "result",
			Types: "result:index", Traits: loom.Pure | loom.KernelOnly, Doc: q.doc})
	}
	return out
}

func cacheAttrs() []loom.AttrDef {
	return []loom.AttrDef{
		{Name: "cache_scope", Kind: "word:cachescope", Doc: "Level at which the access must be coherent."},
		{Name: "cache_temporal", Kind: "word:" + cacheTemporal, Doc: "Expected reuse."},
	}
}

// cacheTemporal lists the expected reuse an access can state.
const cacheTemporal = "regular|non_temporal|high_temporal|last_use|writeback|non_temporal_regular|regular_non_temporal|" +
	"non_temporal_high_temporal|non_temporal_writeback|bypass"
