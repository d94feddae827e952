package parser

import (
	"hash/maphash"
	"slices"

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

// maxCandidates bounds the search for a near name: comparing with every value of
// an enormous body for each of its errors would take minutes.
const maxCandidates = 4096

// visible returns the names that stand for a value, none when there are too many
// to choose from.
func (n *names) visible() []string {
	if len(n.entries) > maxCandidates {
		return nil
	}
	var out []string
	for _, e := range n.entries {
		if e.val != nil {
			out = append(out, e.name)
		}
	}
	return out
}

// nameSet notices a name that comes again in one list.
type nameSet struct {
	few  [8]string
	n    int
	many map[string]bool
}

// add adds name and reports whether it was there.
func (s *nameSet) add(name string) bool {
	if s.many == nil {
		if slices.Contains(s.few[:s.n], name) {
			return true
		}
		if s.n < len(s.few) {
			s.few[s.n] = name
			s.n++
			return false
		}
		s.many = map[string]bool{}
		for _, f := range s.few {
			s.many[f] = true
		}
	}
	if s.many[name] {
		return true
	}
	s.many[name] = true
	return false
}

// valueIndex finds a value of a list by its name. It serves one statement.
type valueIndex struct {
	of []*loom.Value
	at map[string]int
}

// find returns the position of the last value called name, -1 when there is none.
func (x *valueIndex) find(list []*loom.Value, name string) int {
	if len(list) <= 16 {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Name == name {
				return i
			}
		}
		return -1
	}
	if len(x.of) != len(list) || x.of[0] != list[0] {
		x.of, x.at = list, make(map[string]int, len(list))
		for i, v := range list {
			x.at[v.Name] = i
		}
	}
	if i, ok := x.at[name]; ok {
		return i
	}
	return -1
}
