package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

func TestTable(t *testing.T) {
	for _, name := range Names() {
		x, ok := Lookup(name)
		if !ok || x.Processor != name {
			t.Fatalf("%s: lookup gives %v", name, x)
		}
		if x.Family == "" || !slices.Contains(x.WaveSizes, x.WaveSize) || x.LDSBytes < 64<<10 || x.MaxWorkgroupSize != 1024 || x.MaxBindings <= 0 {
			t.Errorf("%s: incomplete row %+v", name, x)
		}
		for _, m := range x.Matrix {
			if !x.HasWave(m.Wave) {
				t.Errorf("%s: shape %s is for waves of %d, which it does not run", name, m, m.Wave)
			}
			// A lane holds its share of an operand; RDNA 3 holds every element twice.
			if share := m.M * m.K / m.Wave; m.LhsLanes != share && (x.Family != "gfx11" && x.Family != Reference || m.LhsLanes != m.K) {
				t.Errorf("%s: shape %s: %d operand lanes, want %d", name, m, m.LhsLanes, share)
			}
			share := m.M * m.N / m.Wave
			if half := (m.Acc == "f16" || m.Acc == "bf16") && (x.Family == "gfx11" || x.Family == Reference); half {
				share *= 2 // one half of each register is not used
			}
			if m.AccLanes != share {
				t.Errorf("%s: shape %s at wave %d: %d accumulator lanes, want %d", name, m, m.Wave, m.AccLanes, share)
			}
		}
		seen := map[MatrixShape]bool{}
		for _, m := range x.Matrix {
			if seen[m] {
				t.Errorf("%s: shape %s listed twice", name, m)
			}
			seen[m] = true
		}
	}
	if _, ok := Lookup("gfx1511"); ok {
		t.Error("gfx1511 is not a processor")
	}
}

func TestKnownRows(t *testing.T) {
	for _, c := range []struct {
		name, family string
		wave, lds    int
		shape        string // at the default wave size
	}{
		{"gfx1151", "gfx11", 32, 65536, "16x16x16 f16→f32"},
		{"gfx1100", "gfx11", 32, 65536, "16x16x16 i4→i32"},
		{"gfx1201", "gfx12", 32, 65536, "16x16x16 f8E4M3→f32"},
		{"gfx90a", "gfx9", 64, 65536, "32x32x8 f16→f32"},
		{"gfx942", "gfx9", 64, 65536, "16x16x32 f8E4M3→f32"},
		{"gfx950", "gfx9", 64, 163840, "16x16x32 f16→f32"},
		{"gfx12-5-generic", "gfx12.5", 32, 327680, "16x16x32 f16→f32"},
	} {
		x, ok := Lookup(c.name)
		if !ok || x.Family != c.family || x.WaveSize != c.wave || x.LDSBytes != c.lds {
			t.Errorf("%s: got %+v", c.name, x)
			continue
		}
		if !strings.Contains(x.MatrixWords(), c.shape) {
			t.Errorf("%s: no %s in %s", c.name, c.shape, x.MatrixWords())
		}
	}
	x, _ := Lookup("gfx1151")
	if m, ok := x.FindMatrix(16, 16, 16, "f16", "f32"); !ok || m.LhsLanes != 16 || m.AccLanes != 8 {
		t.Errorf("wave32 f16→f32: %+v %v", m, ok)
	}
	x.WaveSize = 64
	if m, ok := x.FindMatrix(16, 16, 16, "f16", "f32"); !ok || m.AccLanes != 4 {
		t.Errorf("wave64 f16→f32: %+v %v", m, ok)
	}
	if _, ok := x.FindMatrix(32, 32, 8, "f16", "f32"); ok {
		t.Error("gfx1151 has no 32x32x8")
	}
}

func TestLookupResultIsPrivate(t *testing.T) {
	x, _ := Lookup("gfx1151")
	x.Matrix[0].K, x.WaveSizes[0] = 99, 99
	y, _ := Lookup("gfx1151")
	if y.Matrix[0].K == 99 || y.WaveSizes[0] == 99 {
		t.Error("a change to one result shows in the next")
	}
}

func TestRelate(t *testing.T) {
	for _, c := range []struct {
		authored, selected string
		want               Relation
	}{
		{"gfx1151", "gfx1151", Same},
		{"gfx11-generic", "gfx1151", Covered},
		{"gfx9-4-generic", "gfx950", Covered},
		{"gfx12-5-generic", "gfx1250", Covered},
		{"gfx1100", "gfx1151", Relative},
		{"gfx942", "gfx950", Relative}, // gfx950 has all of gfx942 and more
		{"gfx950", "gfx942", Conflict},
		{"gfx90a", "gfx942", Conflict}, // its short i8 shapes are gone
		{"gfx942", "gfx90a", Conflict},
		{"gfx1151", "gfx11-generic", Conflict}, // the generic promises every member, not one
		{"gfx11-generic", "gfx12-generic", Conflict},
		{"gfx1200", "gfx1250", Conflict},
		{"gfx942", "gfx1151", Conflict},
		{"gfx942", Reference, Relative},
		{Reference, "gfx1151", Conflict},
		{"nonsense", "gfx1151", Conflict},
	} {
		if got := Relate(c.authored, c.selected); got != c.want {
			t.Errorf("%s on %s: got %d, want %d", c.authored, c.selected, got, c.want)
		}
	}
}

func recordOf(selector string, attrs ...loom.NamedAttr) *loom.Def {
	return &loom.Def{Kind: loom.DefTarget, Name: "t", Selector: selector, Attrs: attrs}
}

func TestResolve(t *testing.T) {
	attr := func(name string, v int64) loom.NamedAttr { return loom.NamedAttr{Name: name, Value: loom.IntAttr(v)} }
	for _, c := range []struct {
		name     string
		record   *loom.Def
		selected string
		check    func(*Target) bool
		errors   string
	}{
		{"record alone", recordOf("gfx942"), "", func(x *Target) bool { return x.Processor == "gfx942" && x.WaveSize == 64 }, ""},
		{"selection alone", nil, "gfx1151", func(x *Target) bool { return x.Processor == "gfx1151" && x.WaveSize == 32 }, ""},
		{"generic record narrows the selection", recordOf("gfx11-generic", attr("subgroup_size", 64)), "gfx1151",
			func(x *Target) bool { return x.Processor == "gfx1151" && x.WaveSize == 64 }, ""},
		{"limits", recordOf("gfx1151", attr("max_workgroup_storage_bytes", 32768), attr("max_flat_workgroup_size", 256), attr("max_workgroup_size_y", 8), attr("max_workgroup_count_z", 1)), "",
			func(x *Target) bool {
				return x.LDSBytes == 32768 && x.MaxWorkgroupSize == 256 && x.MaxWorkgroupDim[1] == 8 && x.MaxGridDim[2] == 1
			}, ""},
		{"processor attribute", recordOf("gfx11-generic", loom.NamedAttr{Name: "processor", Value: loom.Attr{Kind: loom.AttrString, Str: "gfx1103"}}), "",
			func(x *Target) bool { return x.Processor == "gfx1103" }, ""},
		{"nothing", nil, "", nil, "error: TARGET/026: no target: the kernel names none and none was selected\n  help: select one, e.g. --target gfx1151\n"},
		{"unknown selection", nil, "gfx115", nil, "error: AMDGPU/003: unknown target 'gfx115'\n  help: did you mean 'gfx1150'?\n"},
		{"unknown record", recordOf("sm_90"), "gfx1151", nil, "error: AMDGPU/003: unknown target 'sm_90'\n  help: known targets: " + strings.Join(Names(), ", ") + "\n"},
		{"conflict", recordOf("gfx950"), "gfx942", nil,
			"error: TARGET/052: target '@t' is written for gfx950, which conflicts with the selected target gfx942\n  help: 163840 bytes of workgroup storage against 65536; a generic record such as gfx9-4-generic covers the whole family\n"},
		{"subgroup size", recordOf("gfx942", attr("subgroup_size", 32)), "", nil,
			"error: AMDGPU/026: target '@t': gfx942 cannot run subgroups of 32 lanes\n  help: gfx942 runs 64 lanes\n"},
		{"limit", recordOf("gfx1151", attr("max_flat_workgroup_size", 2048)), "", nil,
			"error: TARGET/LIMIT: target '@t': max_flat_workgroup_size = 2048 is above the limit 1024 of gfx1151\n  help: a record can lower a processor's limits, not raise them\n"},
		{"not a number", recordOf("gfx1151", attr("max_workgroup_size_x", 0)), "", nil,
			"error: STRUCTURE/014: target '@t': max_workgroup_size_x = 0, want a positive integer\n  help: write a number from 1 to 1024\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, ds := Resolve(c.record, c.selected)
			if got := diag.Text(ds); got != c.errors {
				t.Fatalf("got %q, want %q", got, c.errors)
			}
			if (c.check == nil) != (x == nil) {
				t.Fatalf("target: %+v", x)
			}
			if c.check != nil && !c.check(x) {
				t.Errorf("got %+v", x)
			}
		})
	}
}
