package target

import (
	"fmt"
	"slices"
	"testing"

	"github.com/loomc/loomc/loom"
)

// TestAccumulatorRows holds the layouts against AMD's matrix instruction
// calculator: the row that each lane group's registers hold, in column 0.
func TestAccumulatorRows(t *testing.T) {
	run := func(from, n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = from + i
		}
		return out
	}
	every := func(from, step, n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = from + i*step
		}
		return out
	}
	fours := func(from int) []int {
		return slices.Concat(run(from, 4), run(from+8, 4), run(from+16, 4), run(from+24, 4))
	}
	for _, c := range []struct {
		processor string
		wave      int
		kind      loom.Kind
		n, edge   int
		rows      [][]int
	}{
		{"gfx1151", 32, loom.F32, 8, 16, [][]int{every(0, 2, 8), every(1, 2, 8)}},
		{"gfx1151", 32, loom.I32, 8, 16, [][]int{every(0, 2, 8), every(1, 2, 8)}},
		{"gfx1151", 32, loom.F16, 16, 16, [][]int{every(0, 2, 8), every(1, 2, 8)}},
		{"gfx1151", 64, loom.F32, 4, 16, [][]int{every(0, 4, 4), every(1, 4, 4), every(2, 4, 4), every(3, 4, 4)}},
		{"gfx1151", 64, loom.BF16, 8, 16, [][]int{every(0, 4, 4), every(1, 4, 4), every(2, 4, 4), every(3, 4, 4)}},
		{"gfx1201", 32, loom.F32, 8, 16, [][]int{run(0, 8), run(8, 8)}},
		{"gfx1201", 32, loom.F16, 8, 16, [][]int{run(0, 8), run(8, 8)}},
		{"gfx1201", 64, loom.F32, 4, 16, [][]int{run(0, 4), run(8, 4), run(4, 4), run(12, 4)}},
		{"gfx1201", 64, loom.F16, 4, 16, [][]int{run(0, 4), run(8, 4), run(4, 4), run(12, 4)}},
		{"gfx942", 64, loom.F32, 4, 16, [][]int{run(0, 4), run(4, 4), run(8, 4), run(12, 4)}},
		{"gfx942", 64, loom.I32, 16, 32, [][]int{fours(0), fours(4)}},
		{"gfx942", 64, loom.F64, 4, 16, [][]int{every(0, 4, 4), every(1, 4, 4), every(2, 4, 4), every(3, 4, 4)}},
	} {
		t.Run(fmt.Sprintf("%s %s %d wave %d", c.processor, c.kind, c.edge, c.wave), func(t *testing.T) {
			x, _ := Lookup(c.processor)
			f := FragmentOf(x.Family, c.wave, "result", c.kind, c.n, c.edge)
			for g, want := range c.rows {
				var got []int
				for i := range c.n {
					if row, col, ok := f.At(g*c.edge, i); ok {
						got = append(got, row)
						if col != 0 {
							t.Errorf("group %d, component %d: column %d", g, i, col)
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("group %d: rows %v, want %v", g, got, want)
				}
			}
		})
	}
}

// TestTilesAreWhole checks every shape of every processor: the two sides number k
// alike and hold each element once, or on gfx11 once in each lane group, and so
// does the accumulator.
func TestTilesAreWhole(t *testing.T) {
	for _, name := range Names() {
		x, _ := Lookup(name)
		for _, s := range x.Matrix {
			at := fmt.Sprintf("%s %s, wave %d", name, s, s.Wave)
			in, acc := loom.ScalarKind(s.Lhs), loom.ScalarKind(s.Acc)
			lhs := FragmentOf(x.Family, s.Wave, "lhs", in, s.LhsLanes, s.M)
			rhs := FragmentOf(x.Family, s.Wave, "rhs", in, s.LhsLanes, s.N)
			res := FragmentOf(x.Family, s.Wave, "result", acc, s.AccLanes, s.N)
			if lhs.Depth() != s.K {
				t.Errorf("%s: depth %d", at, lhs.Depth())
				continue
			}
			sides, sums := map[[2]int]int{}, map[[2]int]int{}
			for l := range s.Wave {
				for i := range s.LhsLanes {
					r, k, _ := lhs.At(l, i)
					k2, c, _ := rhs.At(l, i)
					if r != c || k != k2 {
						t.Fatalf("%s: lane %d component %d is (%d, %d) of the left side and (%d, %d) of the right", at, l, i, r, k, k2, c)
					}
					sides[[2]int{r, k}]++
				}
				for i := range s.AccLanes {
					if r, c, ok := res.At(l, i); ok {
						sums[[2]int{r, c}]++
					}
				}
			}
			copies := 1
			if lhs.Replicated {
				copies = lhs.Groups
			}
			for r := range s.M {
				for k := range s.K {
					if sides[[2]int{r, k}] != copies {
						t.Fatalf("%s: element (%d, %d) of an operand is held %d times", at, r, k, sides[[2]int{r, k}])
					}
				}
				for c := range s.N {
					if sums[[2]int{r, c}] != 1 {
						t.Fatalf("%s: element (%d, %d) of the product is held %d times", at, r, c, sums[[2]int{r, c}])
					}
				}
			}
		}
	}
}
