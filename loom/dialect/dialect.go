// Package dialect is the op table: every operation of the language, declared
// once. Parser, printer, verifier, executor, code generator, the explain command
// and the generated reference page all read these records; nothing else in
// loomc knows the spelling of an operation.
//
// One file holds one dialect. Scalar and vector arithmetic share one list
// (elementwise.go) because a vector op means its scalar op lane by lane. The
// record itself and the assembly-format language are described in package loom.
package dialect

import (
	"sort"
	"strings"
	"sync"

	"github.com/loomc/loomc/loom"
)

// Table is the set of known operations.
type Table struct {
	ops map[string]*loom.OpDef
}

var table = sync.OnceValue(func() *Table {
	t := &Table{ops: make(map[string]*loom.OpDef, 512)}
	for _, list := range [][]*loom.OpDef{
		moduleOps(), callOps(), kernelOps(), bufferOps(), viewOps(), indexOps(),
		elementwiseOps(), vectorOps(), scfOps(), cfgOps(), encodingOps(), checkOps(),
	} {
		for _, d := range list {
			if t.ops[d.Name] != nil {
				panic("op table: " + d.Name + " declared twice")
			}
			t.ops[d.Name] = d
		}
	}
	return t
})

// Ops returns the shared, immutable table.
func Ops() *Table { return table() }

// Lookup returns the op called name, or nil.
func (t *Table) Lookup(name string) *loom.OpDef { return t.ops[name] }

// All returns every op sorted by name.
func (t *Table) All() []*loom.OpDef {
	out := make([]*loom.OpDef, 0, len(t.ops))
	for _, d := range t.ops {
		out = append(out, d)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// OpaqueDialect reports whether ops of the dialect are carried verbatim: they
// parse and print, and become an error only when a link root reaches them.
func OpaqueDialect(dialect string) bool {
	switch dialect {
	case "low", "llvmir", "pass", "command", "group", "pipeline", "pool", "amdgpu", "sanitizer", "spirv", "wasm", "hal", "vm", "iree", "ireevm", "x86", "test":
		return true
	}
	return false
}

// Nearest returns the known op name closest to name, or "" when none is close.
func (t *Table) Nearest(name string) string {
	names := make([]string, 0, len(t.ops))
	for n := range t.ops {
		names = append(names, n)
	}
	return Nearest(name, names)
}

// Nearest returns the candidate with the smallest edit distance to name if that
// distance is small enough to suggest a typing mistake, else "". Ties go to the
// candidate that sorts first.
func Nearest(name string, candidates []string) string {
	best, bestDist := "", len(name)/3+2
	for _, c := range candidates {
		if d := distance(name, c, bestDist); d < bestDist || (d == bestDist && best != "" && c < best) {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b, cut off at limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		low := cur[0]
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			low = min(low, cur[j])
		}
		if low > limit {
			return limit + 1
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}

// words splits a space-separated list of op name suffixes.
func words(s string) []string { return strings.Fields(s) }
