package program

import (
	"cmp"
	"slices"

	"github.com/loomc/loomc/loom/diag"
)

// span is a run of bytes of the arena with its owner.
type span struct {
	what       string // "value 'x'", "the completion counters"
	value      string // "" for the counters
	start, end int64
	at         diag.Span
	life       *life // nil when no command uses it
}

// apart reports whether two uses lie apart in the order of commands.
func apart(a, b *life) bool {
	return a.last.command.index < b.first.command.index || b.last.command.index < a.first.command.index
}

// arenaLayout checks that transients and counters lie inside the arena, aligned,
// and that values that share bytes do not live at the same time.
func (p *Program) arenaLayout() diag.List {
	var ds diag.List
	var spans []span
	seen := map[string]diag.Span{}
	for _, a := range p.Arena.Allocations {
		if first, dup := seen[a.Value]; dup {
			ds.Add(diag.Errorf(a.Span, "PROGRAM/TRANSIENT", "value '%s' is allocated twice", a.Value).WithRelated(first, "first here").WithHelp("keep one allocation"))
			continue
		}
		seen[a.Value] = a.Span
		s := span{what: "value '" + a.Value + "'", value: a.Value, start: a.Offset, end: add(a.Offset, a.Size), at: a.Span}
		spans = append(spans, s)
		if align := max(a.Alignment, 1); a.Offset%align != 0 {
			ds.Add(diag.Errorf(a.Span, "PROGRAM/TRANSIENT", "value '%s' is at arena offset %d, which is no multiple of its alignment %d", a.Value, a.Offset, align).
				WithHelp("move it to offset %d", (a.Offset+align-1)/align*align))
		}
		if p.Arena.Alignment%max(a.Alignment, 1) != 0 {
			ds.Add(diag.Errorf(a.Span, "PROGRAM/TRANSIENT", "value '%s' wants alignment %d, the arena itself is aligned to %d", a.Value, a.Alignment, p.Arena.Alignment).
				WithRelated(p.Arena.Span, "the arena").WithHelp("align the arena to a multiple of %d", a.Alignment))
		}
		ds.Add(p.inside(s)...)
	}
	if c := p.Counters; c.Present {
		s := span{what: "the completion counters", start: max(c.Offset, 0), end: add(max(c.Offset, 0), max(c.Bytes, 0)), at: c.Span}
		const counterBytes = 4
		if c.Count >= 0 && c.Bytes >= 0 && c.Count > c.Bytes/counterBytes {
			ds.Add(diag.Errorf(c.Span, "PROGRAM/COUNTERS", "%d completion counters need %d bytes, there are %d", c.Count, c.Count*counterBytes, c.Bytes).
				WithHelp("reserve %d bytes", c.Count*counterBytes))
		}
		if c.Bytes > 0 && c.Offset >= 0 {
			ds.Add(p.inside(s)...)
			spans = append(spans, s)
		}
	}
	ds.Add(p.liveRanges(spans)...)
	ds.Add(p.insideValues()...)
	return ds
}

func (p *Program) inside(s span) diag.List {
	if p.Arena.Size < 0 || s.end <= p.Arena.Size {
		return nil
	}
	return diag.List{diag.Errorf(s.at, "PROGRAM/TRANSIENT", "%s ends at byte %d of the arena, which has %d", s.what, s.end, p.Arena.Size).
		WithRelated(p.Arena.Span, "the arena").WithHelp("enlarge the arena, or move the value")}
}

// life is the range of commands that use a value.
type life struct{ first, last *access }

// liveRanges reports values that share arena bytes while both are in use. The
// counters live as long as the program.
func (p *Program) liveRanges(spans []span) diag.List {
	lives := map[string]*life{}
	for _, a := range p.accesses()["arena"] {
		l := lives[a.binding.Value]
		if l == nil {
			l = &life{}
			lives[a.binding.Value] = l
		}
		x := a
		if l.first == nil || x.command.index < l.first.command.index {
			l.first = &x
		}
		if l.last == nil || x.command.index > l.last.command.index {
			l.last = &x
		}
	}
	var ds diag.List
	for i := range spans {
		spans[i].life = lives[spans[i].value]
	}
	// Values that nothing uses overlap nobody; the counters have no uses of their own.
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.start == s.end || s.value != "" && s.life == nil })
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for i := range spans {
		a := &spans[i]
		for j := i + 1; j < len(spans) && spans[j].start < a.end; j++ {
			b := &spans[j]
			if a.life == nil || b.life == nil || !apart(a.life, b.life) {
				ds.Add(overlap(a, b))
			}
		}
	}
	return ds
}

func overlap(a, b *span) diag.Diagnostic {
	d := diag.Errorf(b.at, "PROGRAM/LIVE-RANGE", "%s and %s share bytes %d to %d of the arena and are in use at the same time",
		a.what, b.what, max(a.start, b.start), min(a.end, b.end)).WithRelated(a.at, "%s lies here", a.what)
	for _, x := range []*span{a, b} {
		if x.life != nil {
			d = d.WithRelated(x.life.first.binding.Span, "%s: first used by %s", x.what, x.life.first.command.Name()).
				WithRelated(x.life.last.binding.Span, "%s: last used by %s", x.what, x.life.last.command.Name())
		}
	}
	return d.WithHelp("move one of them to bytes that nothing else uses in that time")
}

// isCounters reports whether a binding is the completion counters.
func (b *Binding) isCounters() bool {
	switch b.Origin {
	case "completion_counter", "completion_counters", "counters":
		return true
	}
	return b.Value == "completion_counters"
}

// insideValues checks that bindings stay inside the transients and counters they
// are part of.
func (p *Program) insideValues() diag.List {
	sizes := map[string]*Allocation{}
	for i := range p.Arena.Allocations {
		a := &p.Arena.Allocations[i]
		if sizes[a.Value] == nil {
			sizes[a.Value] = a
		}
	}
	var ds diag.List
	for i := range p.Commands {
		c := &p.Commands[i]
		for j := range c.Bindings {
			b := &c.Bindings[j]
			end := add(b.Offset, b.Length)
			if a := sizes[b.Value]; a != nil && end > a.Size {
				ds.Add(diag.Errorf(b.LengthSpan, "PROGRAM/RANGE", "binding '%s' of %s ends at byte %d of value '%s', which has %d", b.Name, c.Name(), end, b.Value, a.Size).
					WithRelated(a.Span, "the value is allocated here").WithHelp("bind at most %d bytes from offset %d, or enlarge the value", max(a.Size-b.Offset, 0), b.Offset))
			}
			if b.isCounters() && sizes[b.Value] == nil {
				if !p.Counters.Present || p.Counters.Bytes < 0 {
					ds.Add(diag.Errorf(b.Span, "PROGRAM/COUNTERS", "%s binds completion counters, and the program reserves none", c.Name()).WithHelp(`add "completion_counters"`))
				} else if end > p.Counters.Bytes {
					ds.Add(diag.Errorf(b.LengthSpan, "PROGRAM/COUNTERS", "binding '%s' of %s ends at byte %d of the completion counters, which have %d", b.Name, c.Name(), end, p.Counters.Bytes).
						WithRelated(p.Counters.Span, "reserved here").WithHelp("reserve at least %d bytes", end))
				}
			}
		}
	}
	return ds
}
