package rewrite

import (
	"strconv"

	"github.com/loomc/loomc/loom"
)

// Rename gives every value of the definition a name of its own: the first to
// bear a name keeps it, later ones get a numbered one. Inlining and unrolling
// copy names; the printed text must not define one twice.
func Rename(def *loom.Def) {
	r := renamer{used: make(map[string]int, 256)}
	// Workload and launch parameters live in scopes of their own, but a reader is
	// served by equal names for equal things, so each scope starts afresh.
	for _, v := range def.Workload {
		r.value(v)
	}
	if def.Config != nil {
		r.region(def.Config)
	}
	clear(r.used)
	for _, v := range def.Params {
		r.value(v)
	}
	if def.Body != nil {
		r.region(def.Body)
	}
}

type renamer struct{ used map[string]int }

func (r *renamer) value(v *loom.Value) {
	name := v.Name
	if name == "" {
		name = "v"
	}
	n, taken := r.used[name]
	if !taken {
		r.used[name] = 1
		v.Name = name
		return
	}
	for ; ; n++ {
		c := name + "_" + strconv.Itoa(n)
		if _, taken := r.used[c]; !taken {
			r.used[name], r.used[c] = n+1, 1
			v.Name = c
			return
		}
	}
}

func (r *renamer) region(g *loom.Region) {
	for _, b := range g.Blocks {
		for _, v := range b.Args {
			r.value(v)
		}
		for _, op := range b.Ops {
			for _, v := range op.Results {
				r.value(v)
			}
			for _, in := range op.Regions {
				r.region(in)
			}
		}
	}
}
