package program

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

// access is one binding of one command as bytes.
type access struct {
	command    *Command
	binding    *Binding
	start, end int64 // in the value, or in the arena
	write      bool
	read       bool
}

// accesses groups every access by the memory it is in: the arena, or a value of
// its own.
func (p *Program) accesses() map[string][]access {
	arena := map[string]*Allocation{}
	for i := range p.Arena.Allocations {
		a := &p.Arena.Allocations[i]
		arena[a.Value] = a
	}
	out := map[string][]access{}
	for i := range p.Commands {
		c := &p.Commands[i]
		for j := range c.Bindings {
			b := &c.Bindings[j]
			if b.Length == 0 || b.Value == "" {
				continue
			}
			a := access{command: c, binding: b, start: b.Offset, end: add(b.Offset, b.Length),
				write: b.Access != corpus.AccessRead, read: b.Access != corpus.AccessWrite}
			memory := "value " + b.Value
			if al := arena[b.Value]; al != nil {
				memory = "arena"
				a.start, a.end = add(a.start, al.Offset), add(a.end, al.Offset)
			}
			out[memory] = append(out[memory], a)
		}
	}
	return out
}

func add(a, b int64) int64 {
	if s := a + b; s >= a {
		return s
	}
	return 1<<63 - 1
}

// hazards reports every two accesses to overlapping bytes, at least one of them a
// write, whose commands are not ordered.
func (p *Program) hazards(o *order) diag.List {
	var ds diag.List
	for _, accesses := range p.accesses() {
		slices.SortStableFunc(accesses, func(a, b access) int { return cmp.Compare(a.start, b.start) })
		type pairKey struct {
			i, j          int
			first, second string
		}
		seen := map[pairKey]bool{}
		for i := range accesses {
			a := &accesses[i]
			for j := i + 1; j < len(accesses) && accesses[j].start < a.end; j++ {
				b := &accesses[j]
				if a.command == b.command || !a.write && !b.write || o.ordered(a.command.index, b.command.index) {
					continue
				}
				first, second := a, b
				if first.command.index > second.command.index {
					first, second = second, first
				}
				k := pairKey{first.command.index, second.command.index, first.binding.Value, second.binding.Value}
				if seen[k] {
					continue
				}
				seen[k] = true
				ds.Add(hazard(first, second))
			}
		}
	}
	return ds
}

func hazard(first, second *access) diag.Diagnostic {
	code, what := "PROGRAM/WAW", "both write"
	switch {
	case first.write && second.read:
		code, what = "PROGRAM/RAW", "the second reads what the first writes"
	case first.read && second.write && !first.write:
		code, what = "PROGRAM/WAR", "the second overwrites what the first reads"
	}
	shared := max(0, min(first.end, second.end)-max(first.start, second.start))
	subject := fmt.Sprintf("value '%s'", first.binding.Value)
	if first.binding.Value != second.binding.Value {
		subject = fmt.Sprintf("values '%s' and '%s', which share arena memory", first.binding.Value, second.binding.Value)
	}
	return diag.Errorf(second.binding.Span, code, "%s and %s are not ordered and touch %d common bytes of %s: %s",
		first.command.Name(), second.command.Name(), shared, subject, what).
		WithRelated(first.binding.Span, "%s %s '%s' here, bytes %d to %d", first.command.Name(), verb(first), first.binding.Name, first.binding.Offset, add(first.binding.Offset, first.binding.Length)).
		WithRelated(second.binding.Span, "%s %s '%s' here, bytes %d to %d", second.command.Name(), verb(second), second.binding.Name, second.binding.Offset, add(second.binding.Offset, second.binding.Length)).
		WithHelp("add %d to the dependencies of command %d, or of a command between the two", first.command.Ordinal, second.command.Ordinal)
}

func verb(a *access) string {
	switch {
	case a.read && a.write:
		return "reads and writes"
	case a.write:
		return "writes"
	}
	return "reads"
}
