package target

import (
	"slices"
	"strings"
	"sync"

	"github.com/loomc/loomc/loom/dialect"
)

// Reference is the processor name of the executor's own target, the one
// target.generic<reference> records name.
const Reference = "reference"

type table struct {
	names  []string
	byName map[string]*row
}

var targets = sync.OnceValue(func() *table {
	t := &table{byName: map[string]*row{}}
	for _, r := range rows() {
		t.names = append(t.names, r.name)
		t.byName[r.name] = &r
	}
	slices.Sort(t.names)
	return t
})

// Names returns every known processor and generic, sorted.
func Names() []string { return slices.Clone(targets().names) }

// Nearest returns the known name most like name, "" when none is close.
func Nearest(name string) string { return dialect.Nearest(name, targets().names) }

// Lookup returns the facts of the processor or generic called name, compiled
// for its default wave size. The result is the caller's to change. ok is false
// when the name is not known.
func Lookup(name string) (t *Target, ok bool) {
	r := targets().byName[name]
	if r == nil {
		return nil, false
	}
	return r.target(), true
}

func (r *row) target() *Target {
	return &Target{
		Processor: r.name, Family: r.family, WaveSize: r.waves[0], WaveSizes: slices.Clone(r.waves),
		LDSBytes: r.lds, MaxWorkgroupSize: 1024,
		MaxWorkgroupDim: [3]int64{1024, 1024, 1024},
		MaxGridDim:      [3]int64{1<<31 - 1, 65535, 65535},
		Matrix:          slices.Clone(r.matrix),
		MaxBindings:     64,
	}
}

// Relation says how a kernel written for one target stands to another.
type Relation uint8

// Relations, from closest to none.
const (
	Same     Relation = iota // one and the same processor
	Covered                  // written for a generic that the selected processor belongs to
	Relative                 // another processor with the same wave sizes, and no less of anything
	Conflict                 // facts differ: the kernel may not mean the same there
)

// Relate says how a kernel authored for one processor stands to the selected
// one. Kernels are compiled from source, so two processors whose facts agree
// can stand in for each other: a gfx1100 kernel runs on gfx1151. Unknown names
// conflict with everything but themselves.
func Relate(authored, selected string) Relation {
	if authored == selected {
		return Same
	}
	a, s := targets().byName[authored], targets().byName[selected]
	switch {
	case a == nil || s == nil:
		return Conflict
	case slices.Contains(s.generics, authored):
		return Covered
	case s.name == Reference:
		return Relative // the executor runs whatever it is given
	case a.family == s.family && slices.Equal(a.waves, s.waves) && a.lds <= s.lds && covers(s.matrix, a.matrix) && !s.generic:
		return Relative
	}
	return Conflict
}

func covers(have, need []MatrixShape) bool {
	for _, m := range need {
		if !slices.Contains(have, m) {
			return false
		}
	}
	return true
}

// Compatible reports whether a kernel or template authored for one processor
// may be compiled for the selected one.
func Compatible(authored, selected string) bool { return Relate(authored, selected) != Conflict }

// FindMatrix returns the shape that multiplies lhs elements into acc ones with
// the given extents at t's wave size.
func (t *Target) FindMatrix(m, n, k int, lhs, acc string) (MatrixShape, bool) {
	for _, s := range t.Matrix {
		if s.M == m && s.N == n && s.K == k && s.Lhs == lhs && s.Acc == acc && s.Wave == t.WaveSize {
			return s, true
		}
	}
	return MatrixShape{}, false
}

// MatrixWords lists the shapes t executes at its wave size, for messages.
func (t *Target) MatrixWords() string {
	var out []string
	for _, s := range t.Matrix {
		if s.Wave == t.WaveSize {
			out = append(out, s.String())
		}
	}
	return strings.Join(out, ", ")
}

// HasWave reports whether the processor can run subgroups of n lanes.
func (t *Target) HasWave(n int) bool { return slices.Contains(t.WaveSizes, n) }
