package lint

import (
	"fmt"

	"github.com/loomc/loomc/loom/diag"
)

// Workgroup memory has 32 banks of 4 bytes. One pass serves 128 bytes: as many
// lanes as fit, one after the other; lanes of one pass that want different words
// of one bank wait for each other, equal words are shared.
const (
	banks        = 32
	bankBytes    = 4
	passBytes    = banks * bankBytes
	widestAccess = 16 // bytes that one lane moves in one instruction

	// A pass of fewer turns is not reported. Two lanes that meet where rows wrap
	// around cost little; at a constant stride every lane meets another.
	leastRegular   = 2
	leastIrregular = 4
)

func checkBankConflict(b *body) {
	for _, a := range b.mem.accesses {
		if a.window.space != "workgroup" || !a.known || a.atomic || a.bytes == 0 {
			continue
		}
		lanes, width, ok := b.pattern(a)
		if !ok {
			continue
		}
		c := worst(lanes, width)
		least := leastIrregular
		if regular(lanes) {
			least = leastRegular
		}
		if c.degree < least {
			continue
		}
		d := diag.Diagnostic{Span: a.op.NameSpan(), Message: fmt.Sprintf(
			"%d lanes meet in one bank of workgroup memory: lanes %d and %d are %d bytes apart, a multiple of %d", c.degree, c.first, c.second, c.distance, passBytes)}
		if v := a.window.root.Def; v != nil {
			d = d.WithRelated(v.NameSpan(), "'%s' is allocated here", b.name(a.window.root))
		}
		d = d.WithHelp("pad the pitch of the tile so that neighbouring lanes fall into different banks (an odd number of %d-byte units per row), or let neighbouring lanes take neighbouring words", max(width, bankBytes))
		b.report(bankConflict, a.op, d)
	}
}

// laneAddress is a lane that takes part in an access.
type laneAddress struct{ lane, at int64 }

// pattern returns the byte addresses of the lanes of one subgroup relative to what
// they share, and the bytes each lane moves per instruction.
func (b *body) pattern(a *access) (lanes []laneAddress, width int64, ok bool) {
	if a.coop {
		return b.fragmentPattern(a)
	}
	n := min(b.wave, banks)
	for l := range n {
		e := b.lane(l)
		if !e.active(a.op) {
			continue
		}
		at, ok := e.address(a.addr)
		if !ok {
			return nil, 0, false
		}
		lanes = append(lanes, laneAddress{l, at})
	}
	return lanes, min(a.bytes, widestAccess), len(lanes) > 1
}

// fragmentPattern covers matrix operands whose rows are contiguous: lane l reads
// row l mod 16 in 16-byte pieces.
func (b *body) fragmentPattern(a *access) (lanes []laneAddress, width int64, ok bool) {
	role := a.op.Word("role")
	if len(a.window.strides) != 2 || !a.read || role != "lhs" && role != "rhs" {
		return nil, 0, false
	}
	across, along := 0, 1 // lhs: lane = row, contiguous along k
	if role == "rhs" {
		across, along = 1, 0
	}
	step, ok1 := a.window.strides[along].constant()
	pitch, ok2 := a.window.strides[across].constant()
	if !ok1 || !ok2 || step != 1 {
		return nil, 0, false
	}
	elem := int64(a.view.Type.Elem.Bytes())
	for l := range int64(16) {
		lanes = append(lanes, laneAddress{l, l * pitch * elem})
	}
	return lanes, widestAccess, true
}

// regular reports whether neighbouring lanes are all equally far apart.
func regular(lanes []laneAddress) bool {
	for i := 2; i < len(lanes); i++ {
		if lanes[i].at-lanes[i-1].at != lanes[1].at-lanes[0].at {
			return false
		}
	}
	return true
}

type conflict struct {
	degree        int
	first, second int64 // two lanes that meet
	distance      int64 // bytes between them
}

// worst finds the pass with the most turns.
func worst(lanes []laneAddress, width int64) conflict {
	width = max(width, 1)
	perPass := int(max(1, passBytes/max(width, bankBytes)))
	var out conflict
	for from := 0; from < len(lanes); from += perPass {
		pass := lanes[from:min(len(lanes), from+perPass)]
		words := map[int64]map[int64]laneAddress{} // bank → word → first lane
		for _, l := range pass {
			for w := floorDiv(l.at, bankBytes); w <= floorDiv(l.at+width-1, bankBytes); w++ {
				bank := ((w % banks) + banks) % banks
				if words[bank] == nil {
					words[bank] = map[int64]laneAddress{}
				}
				if _, ok := words[bank][w]; !ok {
					words[bank][w] = l
				}
			}
		}
		for bank := range int64(banks) {
			if n := len(words[bank]); n > out.degree {
				out.degree = n
				out.first, out.second, out.distance = nearest(words[bank])
			}
		}
	}
	return out
}

// nearest picks the two lowest lanes that meet.
func nearest(words map[int64]laneAddress) (first, second, distance int64) {
	var a, b laneAddress
	a.lane, b.lane = -1, -1
	for lane := range int64(64) {
		for _, l := range words {
			if l.lane != lane {
				continue
			}
			switch {
			case a.lane < 0:
				a = l
			case b.lane < 0 && l.lane != a.lane:
				b = l
			}
		}
	}
	d := b.at - a.at
	if d < 0 {
		d = -d
	}
	return a.lane, b.lane, d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}
