package dialect

import "github.com/loomc/loomc/loom"

func bufferOps() []*loom.OpDef {
	return []*loom.OpDef{
		{Name: "buffer.alloca", Format: "~alloca : T(result)", Result: "result", Types: "byte_length:offset;result:buffer", Traits: loom.Writes,
			Attrs: []loom.AttrDef{{Name: "base_alignment", Kind: "int", Doc: "Bytes, a power of two."}, {Name: "memory_space", Kind: "word:space", Required: true}},
			Doc:   "Scratch storage in workgroup or private memory; each execution is a distinct buffer."},
		{Name: "buffer.assume.alignment", Format: "%buffers... {attrs} : T*(results)", Result: "results...", Types: "buffers=results:buffer",
			Attrs:  []loom.AttrDef{{Name: "minimum_alignment", Kind: "int", Required: true, Doc: "Bytes."}},
			Traits: loom.Pure | loom.Fact, Doc: "Promises a base alignment."},
		{Name: "buffer.assume.memory_space", Format: "<memory_space:space> %buffer : T(result)", Result: "result", Types: "buffer=result:buffer", Traits: loom.Pure | loom.Fact, Doc: "Promises a memory space."},
		{Name: "buffer.assume.noalias", Format: "%buffers... : T*(results)", Result: "results...", Types: "buffers=results:buffer", Traits: loom.Pure | loom.Fact, Doc: "Promises pairwise distinct storage."},
		{Name: "buffer.assume.same_root", Format: "%buffer, %root : T(result)", Result: "result", Types: "buffer=root=result:buffer", Traits: loom.Pure | loom.Fact, Doc: "Promises that two handles share a storage root."},
		{Name: "buffer.view", Format: "%buffer[%byte_offset] : T(buffer) -> T(result)", Result: "result", Types: "buffer:buffer;byte_offset:offset;result:view", Traits: loom.Pure, Doc: "Typed window at a byte offset."},
		{Name: "buffer.pack", Format: "~pack : T*(results)", Result: "results...", OneType: true, Types: "results:offset", Traits: loom.Pure, Doc: "Total size and one aligned offset per range; their type may be written once."},
		{Name: "buffer.length", Format: "%buffer : T(result)", Result: "result", Types: "buffer:buffer;result:offset", Traits: loom.Pure, Doc: "Byte length of a buffer."},
	}
}

func viewOps() []*loom.OpDef {
	atomic := []loom.AttrDef{
		{Name: "ordering", Kind: "word:ordering", Required: true},
		{Name: "scope", Kind: "word:scope", Required: true},
	}
	return []*loom.OpDef{
		{Name: "view.load", Format: "%view[indices] {attrs} : T(view) -> T(result)", Result: "result", Types: "view:view;indices:index;result:scalar;element(view,result)", Attrs: cacheAttrs(), Traits: loom.Reads, Doc: "Reads one element."},
		{Name: "view.store", Format: "%value, %view[indices] {attrs} : T(value), T(view)", Types: "value:scalar;view:view;indices:index;element(value,view)", Attrs: cacheAttrs(), Traits: loom.Writes, Doc: "Writes one element."},
		{Name: "view.atomic.reduce", Format: "<kind:akind> %value, %view[indices] {attrs} : T(value), T(view)", Types: "value:scalar;view:view;indices:index;element(value,view)", Attrs: append(atomic, cacheAttrs()...), Traits: loom.Reads | loom.Writes, Doc: "Atomic combination without a result."},
		{Name: "view.atomic.rmw", Format: "<kind:akind> %value, %view[indices] {attrs} : T(value), T(view) -> T(result)", Result: "result", Types: "value=result:scalar;view:view;indices:index;element(value,view)", Attrs: append(atomic, cacheAttrs()...), Traits: loom.Reads | loom.Writes, Doc: "Atomic combination; returns the previous value."},
		{Name: "view.atomic.cmpxchg", Format: "%expected, %replacement, %view[indices] {attrs} : T(expected), T(view) -> T(old)", Result: "old", Types: "expected:coord;expected=replacement=old:scalar;view:view;indices:index;element(expected,view)",
			Attrs: append([]loom.AttrDef{
				{Name: "success_ordering", Kind: "word:ordering"}, {Name: "failure_ordering", Kind: "word:ordering"},
				{Name: "ordering", Kind: "word:ordering"}, {Name: "scope", Kind: "word:scope", Required: true}}, cacheAttrs()...),
			Traits: loom.Reads | loom.Writes, Doc: "Compare and swap; returns the observed value."},
		{Name: "view.prefetch", Format: "%view[indices] {attrs} : T(view)", Types: "view:view;indices:index", Attrs: []loom.AttrDef{{Name: "intent", Kind: "word:read|write", Required: true}, {Name: "locality", Kind: "word:none|l1|l2|l3", Required: true}}, Traits: loom.Hint | loom.Reads, Doc: "Prefetch hint."},
		{Name: "view.refine", Format: "%source : T(source) -> T(result)", Result: "result", Types: "source:view;result:view;element(source,result);rank(source,result)", Traits: loom.Pure, Doc: "Restates shape or layout facts."},
		{Name: "view.subview", Format: "%source[offsets] : T(source) -> T(result)", Result: "result", Types: "source:view;offsets:index;result:view;element(source,result);layout(source,result);rank(source,result)", Traits: loom.Pure, Doc: "Shifts the logical origin; the result type gives the new extents."},
	}
}
