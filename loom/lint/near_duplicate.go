package lint

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Two definitions are near-duplicates when, of the runs of shingle statements that
// either has, at least alike are in both. Short definitions are alike by nature.
const (
	shingle       = 3
	alike         = 0.75
	leastCompared = 24
)

// fingerprint is a definition with its statements normalised: operations, types
// and constants count; names, symbols, comments and promises do not.
type fingerprint struct {
	def        *loom.Def
	statements []uint64
	ops        []*loom.Op
	shingles   map[uint64]int
	total      int
}

func checkNearDuplicate(s *sources) {
	// Tests keep their reference implementations beside them, on purpose.
	tests := map[*loom.Module]bool{}
	for _, d := range s.defs {
		tests[d.Mod] = tests[d.Mod] || d.Kind == loom.DefCheckCase
	}
	var prints []fingerprint
	for _, d := range s.defs {
		if tests[d.Mod] {
			continue
		}
		switch d.Kind {
		case loom.DefKernel, loom.DefFunc, loom.DefTemplate:
			if f := newFingerprint(d); len(f.statements) >= leastCompared {
				prints = append(prints, f)
			}
		}
	}
	for i := range prints {
		best, at := 0.0, -1
		for j := range i {
			if x := similarity(&prints[j], &prints[i]); x > best {
				best, at = x, j
			}
		}
		if best < alike {
			continue
		}
		a, b := &prints[at], &prints[i]
		d := diag.Diagnostic{Span: b.def.NameSpan}
		if x, y := difference(a, b); x == nil && y == nil {
			d.Message = fmt.Sprintf("'@%s' is a copy of '@%s': %d statements, all alike", b.def.Name, a.def.Name, len(b.statements))
			d = d.WithRelated(a.def.NameSpan, "the other one")
		} else {
			d.Message = fmt.Sprintf("'@%s' is nearly a copy of '@%s': %d%% of %d statements are alike", b.def.Name, a.def.Name, int(best*100), len(b.statements))
			d = d.WithRelated(a.def.NameSpan, "the other one")
			if x != nil {
				d = d.WithRelated(x.NameSpan(), "the first difference, there")
			}
			if y != nil {
				d = d.WithRelated(y.NameSpan(), "the first difference, here")
			}
		}
		s.report(nearDuplicate, d)
	}
}

func newFingerprint(d *loom.Def) fingerprint {
	f := fingerprint{def: d, shingles: map[uint64]int{}}
	d.Walk(func(op *loom.Op) bool {
		if op.Def.Traits&loom.Fact != 0 {
			return true
		}
		f.statements = append(f.statements, statementHash(op))
		f.ops = append(f.ops, op)
		return true
	})
	for i := 0; i+shingle <= len(f.statements); i++ {
		h := fnv.New64a()
		for _, x := range f.statements[i : i+shingle] {
			var b [8]byte
			for k := range b {
				b[k] = byte(x >> (8 * k))
			}
			h.Write(b[:])
		}
		f.shingles[h.Sum64()]++
		f.total++
	}
	return f
}

func statementHash(op *loom.Op) uint64 {
	var b strings.Builder
	b.WriteString(op.Name())
	for _, a := range op.Attrs {
		switch a.Value.Kind {
		case loom.AttrSymbol, loom.AttrPreds:
		default:
			b.WriteString(" " + a.Name + "=" + a.Value.String())
		}
	}
	blank := &loom.Value{Name: "·"}
	text := func(t *loom.Type) string { return t.Map(func(*loom.Value) *loom.Value { return blank }).String() }
	for _, v := range op.Operands {
		b.WriteString(" " + text(v.Type))
	}
	for _, v := range op.Results {
		b.WriteString(" > " + text(v.Type))
	}
	h := fnv.New64a()
	h.Write([]byte(b.String()))
	return h.Sum64()
}

// similarity is the Jaccard index of the shingles, repetitions counted.
func similarity(a, b *fingerprint) float64 {
	if 2*min(a.total, b.total) < max(a.total, b.total) {
		return 0
	}
	common := 0
	for h, n := range a.shingles {
		common += min(n, b.shingles[h])
	}
	return float64(common) / float64(a.total+b.total-common)
}

// difference returns the first statements that differ; a nil one means that its
// side ends there, both nil that there is none.
func difference(a, b *fingerprint) (x, y *loom.Op) {
	i := 0
	for i < len(a.statements) && i < len(b.statements) && a.statements[i] == b.statements[i] {
		i++
	}
	if i < len(a.ops) {
		x = a.ops[i]
	}
	if i < len(b.ops) {
		y = b.ops[i]
	}
	return x, y
}
