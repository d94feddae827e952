package lint

import (
	"fmt"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// checkUnalignedWide compares the alignment that the facts prove for a vector
// access with the one a single wide instruction wants. Masked forms are left out:
// they are edges, and move their lanes one by one.
func checkUnalignedWide(b *body) {
	if b.kernel == nil {
		return // strides and alignments are those of the caller
	}
	type group struct {
		root *loom.Value
		part string
	}
	told := map[group]bool{}
	for _, a := range b.mem.accesses {
		switch a.op.Name() {
		case "vector.load", "vector.store":
		default:
			continue
		}
		want := int64(1)
		for want < a.bytes && want < widestAccess {
			want *= 2
		}
		if a.bytes <= bankBytes || !a.window.ok || a.window.space == "private" {
			continue
		}
		have, limit, atRoot := b.alignment(a)
		if have >= want {
			continue
		}
		if g := (group{a.window.root, limit}); atRoot {
			// One promise about the buffer mends every access to it.
			if told[g] {
				continue
			}
			told[g] = true
		}
		b.report(unalignedWide, a.op, diag.Diagnostic{Span: a.op.NameSpan(), Message: fmt.Sprintf(
			"%s moves %d bytes per lane, but only a multiple of %d bytes is proven for its address: %s", a.op.Name(), a.bytes, have, limit)})
	}
}

// alignment returns the largest power of two that provably divides the address,
// up to the widest access, and the part that limits it. An element is always
// aligned to its own size.
func (b *body) alignment(a *access) (have int64, limit string, atRoot bool) {
	have = widestAccess
	elem := int64(a.view.Type.Elem.Bytes())
	lower := func(div int64, part string) {
		if div == 0 {
			return
		}
		if p := max(div&-div, elem); p < have {
			have, limit = p, part
		}
	}
	root := a.window.root
	lower(b.rootAlign(root), fmt.Sprintf("no stronger alignment of '%s' is promised", b.name(root)))
	atRoot = limit != ""
	part := func(s shift, kind string) {
		div := s.unit
		words := fmt.Sprintf("the %s", kind)
		if s.index.Val != nil {
			div = mulDiv(div, b.facts.At(a.op, s.index.Val).Div)
			words += fmt.Sprintf(" '%s'", b.name(s.index.Val))
		} else {
			div = mulDiv(div, abs(s.index.Int))
			words += fmt.Sprintf(" %d", s.index.Int)
		}
		if s.stride != nil {
			div = mulDiv(div, b.facts.At(a.op, s.stride).Div)
			words += fmt.Sprintf(" times the stride '%s'", b.name(s.stride))
		} else if s.unit > 1 {
			words += fmt.Sprintf(" times %d bytes", s.unit)
		}
		before := have
		lower(div, words+" may be no multiple of more than that")
		atRoot = atRoot && have == before
	}
	for _, s := range a.window.bases {
		part(s, "offset")
	}
	for i, it := range a.op.Indices("indices") {
		unit, val := b.mem.stride(a.view.Type, i)
		part(shift{it, val, unit * elem}, "index")
	}
	return have, limit, atRoot
}

// rootAlign is the promised alignment of a storage root.
func (b *body) rootAlign(root *loom.Value) int64 {
	if root.Def != nil && root.Def.Name() == "buffer.alloca" {
		if n := root.Def.Attr("base_alignment").Int; n > 0 {
			return n
		}
		return widestAccess
	}
	for _, x := range b.kernel.Bindings {
		if x.Param == root {
			return max(1, x.Align)
		}
	}
	return 1
}

// mulDiv multiplies divisors; 0 is the constant zero, which everything divides.
func mulDiv(a, b int64) int64 {
	const large = 1 << 20
	if a == 0 || b == 0 {
		return 0
	}
	return min(a&-a, large) * min(b&-b, large)
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
