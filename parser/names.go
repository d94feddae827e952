package parser

import (
	"hash/maphash"

	"github.com/loomc/loomc/loom"
)

// names is what SSA names stand for at one place of a definition. A name keeps
// its entry once it was seen; leaving a scope restores what it stood for before.
type names struct {
	seed    maphash.Seed
	entries []nameEntry
	slots   []nameSlot // open addressing; a power of two
	gen     uint32     // slots of other generations are free
	log     []nameUndo
	depth   int32
}

type nameEntry struct {
	name  string
	hash  uint64
	val   *loom.Value // nil where the name stands for nothing
	depth int32       // scope that defined it
}

type nameSlot struct{ gen, entry uint32 }

type nameUndo struct {
	entry uint32
	depth int32
	val   *loom.Value
}

func newNames() *names {
	return &names{seed: maphash.MakeSeed(), slots: make([]nameSlot, 64), gen: 1}
}

// reset forgets every name.
func (n *names) reset() {
	n.entries, n.log, n.depth = n.entries[:0], n.log[:0], 0
	if n.gen++; n.gen == 0 {
		clear(n.slots)
		n.gen = 1
	}
}

// slot returns the slot of name: its own, or the free one where it belongs.
func (n *names) slot(name string, hash uint64) *nameSlot {
	mask := uint64(len(n.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &n.slots[i]
		if s.gen != n.gen {
			return s
		}
		if e := &n.entries[s.entry]; e.hash == hash && e.name == name {
			return s
		}
	}
}

// lookup returns the value called name, or nil.
func (n *names) lookup(name string) *loom.Value {
	s := n.slot(name, maphash.String(n.seed, name))
	if s.gen != n.gen {
		return nil
	}
	return n.entries[s.entry].val
}

// define makes v what its name stands for until the scope is left. It returns
// the value that the same scope already gave that name, or nil.
func (n *names) define(v *loom.Value) (twice *loom.Value) {
	hash := maphash.String(n.seed, v.Name)
	s := n.slot(v.Name, hash)
	if s.gen != n.gen {
		*s = nameSlot{n.gen, uint32(len(n.entries))}
		n.entries = append(n.entries, nameEntry{name: v.Name, hash: hash})
		if len(n.entries)*2 > len(n.slots) {
			n.grow()
			s = n.slot(v.Name, hash)
		}
	}
	e := &n.entries[s.entry]
	if e.val != nil && e.depth == n.depth {
		twice = e.val
	}
	n.log = append(n.log, nameUndo{s.entry, e.depth, e.val})
	e.val, e.depth = v, n.depth
	return twice
}

func (n *names) grow() {
	n.slots, n.gen = make([]nameSlot, 2*len(n.slots)), 1
	for i := range n.entries {
		*n.slot(n.entries[i].name, n.entries[i].hash) = nameSlot{n.gen, uint32(i)}
	}
}

// open enters a scope; close, given what open returned, leaves it.
func (n *names) open() int { n.depth++; return len(n.log) }

func (n *names) close(mark int) {
	for i := len(n.log) - 1; i >= mark; i-- {
		u := &n.log[i]
		n.entries[u.entry].val, n.entries[u.entry].depth = u.val, u.depth
	}
	n.log = n.log[:mark]
	n.depth--
}

// visible returns the names that stand for a value.
func (n *names) visible() []string {
	var out []string
	for _, e := range n.entries {
		if e.val != nil {
			out = append(out, e.name)
		}
	}
	return out
}
