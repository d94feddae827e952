package program

import (
	"github.com/loomc/loomc/loom/diag"
)

// order answers whether one command is known to have finished before another
// starts: by dependencies, direct or through others, and because every init
// command precedes every main one.
type order struct {
	words int
	// before holds a row of bits per command: the commands that precede it.
	before []uint64
	init   int // commands before this position are init commands
}

// key names a command for dependencies.
type key struct {
	init    bool
	ordinal int64
}

// newOrder builds the order and reports dependencies that lead nowhere or in a
// circle.
func newOrder(p *Program) (*order, diag.List) {
	var ds diag.List
	n := len(p.Commands)
	at := make(map[key]int, n)
	for i := range p.Commands {
		c := &p.Commands[i]
		k := key{c.Init, c.Ordinal}
		if first, dup := at[k]; dup {
			ds.Add(diag.Errorf(c.Span, "PROGRAM/ORDINAL", "%s has the ordinal of another command", c.Name()).
				WithRelated(p.Commands[first].Span, "first used here").WithHelp("give every command of a phase its own ordinal"))
			continue
		}
		at[k] = i
	}
	o := &order{words: (n + 63) / 64}
	o.before = make([]uint64, n*o.words)
	next := make([][]int, n)
	waits := make([]int, n)
	for i := range p.Commands {
		c := &p.Commands[i]
		if c.Init {
			o.init = i + 1
		}
		for _, d := range c.Dependencies {
			j, ok := at[key{c.Init, d.Ordinal}]
			if !ok && !c.Init {
				j, ok = at[key{true, d.Ordinal}]
			}
			switch {
			case !ok:
				ds.Add(diag.Errorf(d.Span, "PROGRAM/DEPENDENCY", "%s depends on %d, which is no command", c.Name(), d.Ordinal).
					WithHelp("dependencies are ordinals of earlier commands"))
			case j == i:
				ds.Add(diag.Errorf(d.Span, "PROGRAM/DEPENDENCY", "%s depends on itself", c.Name()).WithHelp("remove the dependency"))
			default:
				next[j] = append(next[j], i)
				waits[i]++
			}
		}
	}
	// Commands in an order that respects dependencies; what is left is a circle.
	var ready []int
	for i := range waits {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		done++
		row := o.row(i)
		for _, j := range next[i] {
			to := o.row(j)
			for w, bits := range row {
				to[w] |= bits
			}
			to[i/64] |= 1 << (i % 64)
			if waits[j]--; waits[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	if done < n {
		for i := range waits {
			if waits[i] > 0 {
				ds.Add(diag.Errorf(p.Commands[i].Span, "PROGRAM/CYCLE", "%s waits, through its dependencies, for itself or for commands that do", p.Commands[i].Name()).
					WithHelp("no order satisfies these dependencies; a dependency leads to an earlier command"))
				break
			}
		}
	}
	return o, ds
}

func (o *order) row(i int) []uint64 { return o.before[i*o.words : (i+1)*o.words] }

// ordered reports whether i and j cannot run at the same time.
func (o *order) ordered(i, j int) bool {
	if (i < o.init) != (j < o.init) {
		return true
	}
	return o.before[j*o.words+i/64]>>(i%64)&1 == 1 || o.before[i*o.words+j/64]>>(j%64)&1 == 1
}
