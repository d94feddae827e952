package loom_test

import (
	"bytes"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

const cloneText = `config.decl @n : %v: index where [range(%v, 1, 64)]
func.decl @named(%a: buffer, %n: index) -> (%a as buffer) where [lt(%n, 64)]
template.decl @late(%v: view<[%n]xf32>, %n: index) -> (view<[%n]xf32>)
kernel.def @k(%rows: index) {
  %c1 = index.constant 1 : index
  kernel.launch.config workgroups(%rows, %c1, %c1) workgroup_size(%c1, %c1, %c1) : index
} launch(%n: index, %src: buffer) where [lt(%n, 64)] {
  %o = index.constant 0 : offset
  %c0 = index.constant 0 : index
  %c1 = index.constant 1 : index
  %v = buffer.view %src[%o] : buffer -> view<[%n]xf32>
  %zero = scalar.constant 0.0 : f32
  %sum = scf.for %i = [%c0 to %n step %c1] (%acc = %zero : f32) -> (f32) {
    %j = index.assume %i [lt(%i, %n)] : index
    %x = view.load %v[%j] : view<[%n]xf32> -> f32
    %y = scalar.addf %acc, %x : f32
    scf.yield %y : f32
  }
  view.store %sum, %v[0] : f32, view<[%n]xf32>
  kernel.return
}
func.def @blocks(%c: i1, %x: index) -> (index) {
  cfg.cond_br %c, ^left(%x : index), ^right
^left(%a: index):
  cfg.br ^join(%a : index)
^right:
  %z = index.constant 0 : index
  cfg.br ^join(%z : index)
^join(%r: index):
  func.return %r : index
}
`

func parseClone(t *testing.T) *loom.Module {
	t.Helper()
	m, ds := parser.Parse(diag.NewSource("clone.loom", cloneText))
	if ds = append(ds, m.Load()...); len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	return m
}

// everything collects what a definition owns.
func everything(d *loom.Def) map[any]bool {
	own := map[any]bool{}
	values := func(vs []*loom.Value) {
		for _, v := range vs {
			own[v] = true
			v.Type.Values(func(w *loom.Value) { own[w] = true })
		}
	}
	values(d.Workload)
	values(d.Params)
	for _, r := range d.Results {
		r.Type.Values(func(w *loom.Value) { own[w] = true })
		if r.Tied != nil {
			own[r.Tied] = true
		}
	}
	for _, p := range d.Where {
		for _, a := range p.Args {
			if a.Val != nil {
				own[a.Val] = true
			}
		}
	}
	var region func(r *loom.Region)
	region = func(r *loom.Region) {
		own[r] = true
		for _, b := range r.Blocks {
			own[b] = true
			values(b.Args)
			for _, o := range b.Ops {
				own[o] = true
				values(o.Results)
				o.Uses(func(v *loom.Value) { own[v] = true })
				for _, s := range o.Succs {
					own[s.Dest] = true
				}
				for _, q := range o.Regions {
					region(q)
				}
			}
		}
	}
	d.Regions(region)
	return own
}

func TestCloneDef(t *testing.T) {
	for _, d := range parseClone(t).Defs {
		n := loom.CloneDef(d)
		if got, want := loom.PrintDef(n), loom.PrintDef(d); !bytes.Equal(got, want) {
			t.Errorf("@%s: the clone prints as\n%s\nnot\n%s", d.Name, got, want)
		}
		old := everything(d)
		for x := range everything(n) {
			if old[x] {
				t.Errorf("@%s: the clone shares a %T with the original", d.Name, x)
			}
		}
		checkLinks(t, n)
	}
}

// checkLinks tests the pointers from parts to wholes.
func checkLinks(t *testing.T, d *loom.Def) {
	t.Helper()
	var region func(r *loom.Region)
	region = func(r *loom.Region) {
		for _, b := range r.Blocks {
			if b.Region != r {
				t.Errorf("@%s: a block does not know its region", d.Name)
			}
			for _, a := range b.Args {
				if a.Block != b {
					t.Errorf("@%s: %%%s does not know its block", d.Name, a.Name)
				}
			}
			for _, o := range b.Ops {
				if o.Block != b {
					t.Errorf("@%s: %s does not know its block", d.Name, o.Name())
				}
				for _, v := range o.Results {
					if v.Def != o {
						t.Errorf("@%s: %%%s does not know its op", d.Name, v.Name)
					}
				}
				for _, q := range o.Regions {
					if q.Op != o || q.Owner != nil {
						t.Errorf("@%s: a region of %s has the wrong owner", d.Name, o.Name())
					}
					region(q)
				}
			}
		}
	}
	d.Regions(func(r *loom.Region) {
		if r.Owner != d || r.Op != nil {
			t.Errorf("@%s: a region has the wrong owner", d.Name)
		}
		region(r)
	})
}

// Inlining maps parameters to operands; everything else the region defines is
// new, and values from outside stay.
func TestCloneRegionMapsOuterValues(t *testing.T) {
	k := parseClone(t).Lookup("k")
	n, src := k.Params[0], k.Params[1]
	other := &loom.Value{Name: "other", Type: n.Type}
	m := map[*loom.Value]*loom.Value{n: other}
	r := loom.CloneRegion(k.Body, m)
	if r.Op != nil || r.Owner != nil {
		t.Error("the copy belongs to something")
	}
	sawOther, sawSrc := false, false
	r.Walk(func(o *loom.Op) bool {
		o.Uses(func(v *loom.Value) {
			if v == n {
				t.Errorf("%s still refers to the parameter", o.Name())
			}
			sawOther, sawSrc = sawOther || v == other, sawSrc || v == src
		})
		return true
	})
	if !sawOther || !sawSrc {
		t.Errorf("uses of the operand %v, of an unmapped value %v; want both", sawOther, sawSrc)
	}
	loop := k.Body.Blocks[0].Ops[5]
	if loop.Name() != "scf.for" {
		t.Fatalf("op 5 is %s", loop.Name())
	}
	if got := m[loop.Results[0]]; got == nil || got.Def.Name() != "scf.for" || got == loop.Results[0] {
		t.Error("the mapping does not give the copy of a result")
	}
	again := loom.CloneOp(loop, map[*loom.Value]*loom.Value{n: other})
	if again.Block != nil || again.Results[0] == loop.Results[0] || again.Field("upper_bound")[0] != other {
		t.Error("CloneOp does not follow the same rules")
	}
}
