package facts_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestFacts compares the facts of the last definition of each archive's source
// with its "facts" section. The first line of the comment may set "wave N".
func TestFacts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := parse(t, string(ar.Files[0].Data))
			got := rows(facts.Analyze(m.Defs[len(m.Defs)-1], env(m)))
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(ar.Files[1].Data), got); d != "" {
				t.Errorf("facts differ (-want +got):\n%s", d)
			}
		})
	}
}

func parse(t *testing.T, text string) *loom.Module {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("case.loom", text))
	if ds = append(ds, m.Load()...); ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	return m
}

func env(m *loom.Module) facts.Env {
	return facts.Env{WaveSize: 32, Config: func(key string) (facts.Fact, bool) {
		if d := m.Lookup(key); d != nil {
			return facts.Declared(d), true
		}
		return facts.Fact{}, false
	}}
}

func rows(s *facts.Set) string {
	var b strings.Builder
	for _, r := range s.Rows() {
		if r.Refined {
			b.WriteString("  inside: ")
		}
		fmt.Fprintf(&b, "%%%s: %s", r.Value.Name, r.Fact)
		if r.IsFloat {
			fmt.Fprintf(&b, " = %v", r.Float)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLattice(t *testing.T) {
	four := facts.Fact{Lo: 0, Hi: 100, Div: 4}
	six := facts.Fact{Lo: 3, Hi: 200, Div: 6}
	if got := four.Meet(six); got.Lo != 12 || got.Hi != 96 || got.Div != 12 {
		t.Errorf("meet of multiples of 4 and 6 = %v", got)
	}
	if got := four.Join(six); got.Div != 2 || got.Lo != 0 || got.Hi != 200 {
		t.Errorf("join = %v", got)
	}
	if !facts.Exact(7).Contradicts(four) || facts.Exact(8).Contradicts(four) {
		t.Error("7 is no multiple of 4, 8 is")
	}
	p := facts.Fact{Lo: 3, Hi: 17, Div: 1, Pow2: true}.Meet(facts.Range(0, 1000, facts.UniformGrid))
	if p.Lo != 4 || p.Hi != 16 || p.Div != 4 {
		t.Errorf("powers of two in [3, 17] = %v", p)
	}
	for k, want := range map[int64]string{math.MinInt64: "-9223372036854775808", 0: "0"} {
		if got := facts.Exact(k).String(); got != want {
			t.Errorf("Exact(%d) = %s", k, got)
		}
	}
}

// TestDecide asks about the parameters of @f at the operation named by the mark.
func TestDecide(t *testing.T) {
	m := parse(t, `
func.def @f(%a: index, %b: index, %c: index, %x: f32) where [range(%a, 0, 64), multiple_of(%a, 4), lt(%b, %c), finite(%x)] {
  %eight = index.constant 8 : index
  %y = scalar.constant 1.5 : f32
  %low = index.cmp slt, %a, %eight : index
  scf.if %low {
    %mark = index.add %a, %b : index
    test.use %mark, %y : index, f32
  }
  func.return
}`)
	f := m.Defs[0]
	set := facts.Analyze(f, facts.Env{})
	var mark *loom.Op
	vals := map[string]*loom.Value{}
	for _, p := range f.Params {
		vals[p.Name] = p
	}
	f.Walk(func(op *loom.Op) bool {
		for _, r := range op.Results {
			vals[r.Name] = r
			if r.Name == "mark" {
				mark = op
			}
		}
		return true
	})
	arg := func(s string) loom.PredArg {
		if v := vals[s]; v != nil {
			return loom.PredArg{Val: v}
		}
		if strings.Contains(s, ".") {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			return loom.PredArg{IsFloat: true, Float: x}
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return loom.PredArg{Int: n}
	}
	for _, c := range []struct {
		pred string
		want facts.Verdict
		why  string
	}{
		{"range a 0 4", facts.Match, "%a is [0, 4] ×4"},
		{"range a 0 3", facts.Maybe, "%a is [0, 4] ×4"},
		{"range a 5 9", facts.Reject, "%a is [0, 4] ×4"},
		{"multiple_of a 2", facts.Match, "%a is [0, 4] ×4"},
		{"multiple_of a 8", facts.Maybe, "%a is [0, 4] ×4"},
		{"multiple_of a a", facts.Match, "%a is [0, 4] ×4, %a is [0, 4] ×4"},
		{"multiple_of a 0", facts.Reject, "%a is [0, 4] ×4"},
		{"power_of_two a", facts.Maybe, "%a is [0, 4] ×4"},
		{"power_of_two eight", facts.Match, "%eight is 8"},
		{"lt b c", facts.Match, "%b is unknown, %c is unknown"},
		{"ge c b", facts.Match, "%c is unknown, %b is unknown"},
		{"eq b c", facts.Reject, "%b is unknown, %c is unknown"},
		{"gt b c", facts.Reject, "%b is unknown, %c is unknown"},
		{"eq b b", facts.Match, "%b is unknown, %b is unknown"},
		{"ult a eight", facts.Match, "%a is [0, 4] ×4, %eight is 8"},
		{"uge b 4", facts.Maybe, "%b is unknown"},
		{"max a 4", facts.Match, "%a is [0, 4] ×4"},
		{"min a 1", facts.Maybe, "%a is [0, 4] ×4"},
		{"ne a 3", facts.Match, "%a is [0, 4] ×4"},
		{"eq eight 8", facts.Match, "%eight is 8"},
		{"finite x", facts.Match, "%x is finite"},
		{"not_nan y", facts.Match, "%y is 1.5"},
		{"lt x 2.0", facts.Maybe, "%x is finite"},
		{"lt y 2.0", facts.Match, "%y is 1.5"},
		{"gt y 2.0", facts.Reject, "%y is 1.5"},
	} {
		words := strings.Fields(c.pred)
		p := loom.Predicate{Kind: loom.LookupPred(words[0]).Kind}
		for _, w := range words[1:] {
			p.Args = append(p.Args, arg(w))
		}
		got, why := set.Decide(mark, p, nil)
		if got != c.want || why != c.why {
			t.Errorf("%s: %v (%s), want %v (%s)", c.pred, got, why, c.want, c.why)
		}
	}
	outside := set.Of(vals["a"])
	if outside.Hi != 64 || set.At(mark, vals["a"]).Hi != 4 {
		t.Errorf("%%a is %v, inside the branch %v", outside, set.At(mark, vals["a"]))
	}
}

func TestControl(t *testing.T) {
	m := parse(t, `
kernel.def @k() {
  %one = index.constant 1 : index
  %n = index.constant 64 : index
  kernel.launch.config workgroups(%n, %one, %one) workgroup_size(%n, %one, %one) : index
} launch(%n: index) {
  %t = kernel.workitem.id<x> : index
  %g = kernel.workgroup.id<x> : index
  %per_lane = index.cmp ult, %t, %n : index
  %per_group = index.cmp ult, %g, %n : index
  scf.if %per_lane {
    kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  }
  scf.if %per_group {
    kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  }
  kernel.barrier<workgroup> scope(workgroup) ordering(acq_rel)
  kernel.return
}`)
	set := facts.Analyze(m.Defs[0], facts.Env{})
	want := []facts.Uniformity{facts.Varying, facts.UniformWorkgroup, facts.UniformGrid}
	i := 0
	m.Defs[0].Walk(func(op *loom.Op) bool {
		if op.Name() == "kernel.barrier" {
			if got := set.Control(op); got != want[i] {
				t.Errorf("barrier %d: control is %v, want %v", i, got, want[i])
			}
			i++
		}
		return true
	})
	if i != len(want) {
		t.Fatalf("%d barriers", i)
	}
}

// TestNilSet: a missing set knows what types say.
func TestNilSet(t *testing.T) {
	var s *facts.Set
	v := &loom.Value{Type: loom.Scalar(loom.I8)}
	if f := s.Of(v); f.Lo != -128 || f.Hi != 127 {
		t.Errorf("an i8 is %v", f)
	}
}
