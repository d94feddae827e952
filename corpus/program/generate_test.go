package program_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/corpus/program"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

func bundled(t testing.TB) *require.Bench {
	t.Helper()
	c, ds := corpus.Open(t.Context(), corpus.Options{})
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return require.NewBench(compat.NewSurface(exports.New(c), ""))
}

// The JSON form, for programs that tests build.
type jsonProgram struct {
	Schema     string         `json:"schema"`
	Target     string         `json:"target"`
	Transients jsonTransients `json:"transients"`
	Counters   *jsonCounters  `json:"completion_counters,omitempty"`
	Commands   []jsonCommand  `json:"commands"`
}

type jsonTransients struct {
	Size        int64            `json:"arena_size"`
	Alignment   int64            `json:"arena_alignment"`
	Allocations []jsonAllocation `json:"allocations"`
}

type jsonAllocation struct {
	Value     string `json:"value"`
	Size      int64  `json:"size"`
	Alignment int64  `json:"alignment"`
	Offset    int64  `json:"arena_offset"`
}

type jsonCounters struct {
	Offset int64 `json:"arena_offset"`
	Bytes  int64 `json:"byte_count"`
	Count  int64 `json:"count"`
}

type jsonCommand struct {
	Phase        string            `json:"phase"`
	Ordinal      int               `json:"ordinal"`
	Kind         string            `json:"kind"`
	ID           string            `json:"kernel_id"`
	Kernel       string            `json:"kernel"`
	Integers     map[string]int64  `json:"integer_parameters"`
	Config       map[string]string `json:"compile_parameters"`
	Dependencies []int             `json:"dependencies"`
	Bindings     []jsonBinding     `json:"bindings"`
}

type jsonBinding struct {
	Index  int    `json:"index"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Access string `json:"access"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
}

func (p *jsonProgram) check(t testing.TB, b *require.Bench) diag.List {
	t.Helper()
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	q, ds := program.Read(diag.NewSource("program.json", string(text)))
	if len(ds) > 0 {
		t.Fatal(diag.Text(ds))
	}
	ds, err = program.Check(t.Context(), b, q)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// scale and add are commands of bundled kernels over n elements.
func scale(ordinal int, n int64, src, dst jsonBinding) jsonCommand {
	src.Index, src.Name, src.Access, src.Length = 0, "src", "read", n*4
	dst.Index, dst.Name, dst.Access, dst.Length = 1, "dst", "write", n*4
	return jsonCommand{Phase: "main", Ordinal: ordinal, Kind: "dispatch", Kernel: "scale:ggml_scale_f32",
		Integers: map[string]int64{"count": n}, Dependencies: []int{},
		Config:   map[string]string{"ggml.scale.factor": "0.5", "ggml.scale.bias": "0.0", "ggml.scale.workgroup_size": "256"},
		Bindings: []jsonBinding{src, dst}}
}

func add(ordinal int, n int64, a, b, dst jsonBinding) jsonCommand {
	for i, x := range []*jsonBinding{&a, &b, &dst} {
		x.Index, x.Name, x.Length, x.Access = i, []string{"src0", "src1", "dst"}[i], n*4, []string{"read", "read", "write"}[i]
	}
	cols := fmt.Sprint(n)
	return jsonCommand{Phase: "main", Ordinal: ordinal, Kind: "dispatch", Kernel: "binary:ggml_binary_add_f32",
		Integers: map[string]int64{"rows": 1, "src1_rows": 1}, Dependencies: []int{},
		Config: map[string]string{"ggml.binary.columns": cols, "ggml.binary.src0_row_stride": cols, "ggml.binary.src1_row_stride": cols,
			"ggml.binary.dst_row_stride": cols, "ggml.binary.workgroup_size": "256"},
		Bindings: []jsonBinding{a, b, dst}}
}

// conflict is a pair of commands that touch common bytes, one of them writing.
type conflict struct{ first, second int }

// conflicts finds the pairs by looking at every byte range of every pair.
func conflicts(p *jsonProgram) []conflict {
	arena := map[string]int64{}
	for _, a := range p.Transients.Allocations {
		arena[a.Value] = a.Offset
	}
	place := func(b jsonBinding) (string, int64) {
		if o, ok := arena[b.Value]; ok {
			return "arena", o + b.Offset
		}
		return b.Value, b.Offset
	}
	var out []conflict
	for i := range p.Commands {
		for j := i + 1; j < len(p.Commands); j++ {
			hit := false
			for _, a := range p.Commands[i].Bindings {
				for _, b := range p.Commands[j].Bindings {
					ma, sa := place(a)
					mb, sb := place(b)
					if ma == mb && sa < sb+b.Length && sb < sa+a.Length && (a.Access != "read" || b.Access != "read") {
						hit = true
					}
				}
			}
			if hit {
				out = append(out, conflict{i, j})
			}
		}
	}
	return out
}

// reaches reports whether j waits for i, by walking the dependencies.
func reaches(p *jsonProgram, i, j int) bool {
	if i == j {
		return true
	}
	return slices.ContainsFunc(p.Commands[j].Dependencies, func(d int) bool { return d >= i && reaches(p, i, d) })
}

// random makes a program whose conflicts are all ordered.
func random(r *rand.Rand, commands int) *jsonProgram {
	const n = 256
	p := &jsonProgram{Schema: program.Schema, Target: "gfx1151", Transients: jsonTransients{Size: 1 << 20, Alignment: 256}}
	var values []jsonBinding
	for i := range 4 {
		values = append(values, jsonBinding{Value: fmt.Sprintf("tensor%d", i), Origin: "tensor"})
	}
	for i := range 4 {
		// Transients of their own bytes: sharing is tested elsewhere.
		name := fmt.Sprintf("t%d", i)
		p.Transients.Allocations = append(p.Transients.Allocations, jsonAllocation{name, 4 * n * 4, 256, int64(i) * 4 * n * 4})
		values = append(values, jsonBinding{Value: name, Origin: "transient"})
	}
	pick := func() jsonBinding {
		b := values[r.IntN(len(values))]
		b.Offset = int64(r.IntN(5)) * n * 2 // halves of commands overlap
		if b.Origin == "transient" {
			b.Offset = min(b.Offset, 3*n*4)
		}
		return b
	}
	for i := range commands {
		if r.IntN(2) == 0 {
			p.Commands = append(p.Commands, scale(i, n, pick(), pick()))
		} else {
			p.Commands = append(p.Commands, add(i, n, pick(), pick(), pick()))
		}
	}
	for _, c := range conflicts(p) {
		if !reaches(p, c.first, c.second) {
			d := &p.Commands[c.second].Dependencies
			*d = append(*d, c.first)
		}
	}
	return p
}

func hazardPairs(t *testing.T, ds diag.List, p *jsonProgram) []string {
	t.Helper()
	var out []string
	for _, d := range ds {
		switch d.Code {
		case "PROGRAM/RAW", "PROGRAM/WAR", "PROGRAM/WAW":
		default:
			t.Fatalf("unexpected finding: %s", diag.Text(diag.List{d}))
		}
		var a, b int
		for i := range p.Commands {
			name := fmt.Sprintf("main command %d (", i)
			if strings.HasPrefix(d.Message, name) {
				a = i
			} else if strings.Contains(d.Message, " and "+name) {
				b = i
			}
		}
		out = append(out, fmt.Sprintf("%d-%d", a, b))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestPlantedHazards removes dependencies from random programs and demands that
// exactly the pairs that lost their order are reported.
func TestPlantedHazards(t *testing.T) {
	bench := bundled(t)
	r := rand.New(rand.NewPCG(7, 8))
	planted := 0
	for round := range 120 {
		p := random(r, 6+r.IntN(24))
		if ds := p.check(t, bench); len(ds) > 0 {
			t.Fatalf("round %d: findings in an ordered program:\n%s", round, diag.Text(ds))
		}
		for range 1 + r.IntN(4) {
			c := &p.Commands[r.IntN(len(p.Commands))]
			if len(c.Dependencies) > 0 {
				i := r.IntN(len(c.Dependencies))
				c.Dependencies = slices.Delete(c.Dependencies, i, i+1)
			}
		}
		var want []string
		for _, c := range conflicts(p) {
			if !reaches(p, c.first, c.second) {
				want = append(want, fmt.Sprintf("%d-%d", c.first, c.second))
			}
		}
		slices.Sort(want)
		planted += len(want)
		if got := hazardPairs(t, p.check(t, bench), p); !slices.Equal(got, want) {
			t.Fatalf("round %d: reported %v, planted %v", round, got, want)
		}
	}
	if planted < 100 {
		t.Errorf("only %d hazards were planted", planted)
	}
}

// long is a program of layers that reuse arena memory, everything ordered.
func long(commands int) *jsonProgram {
	const n = 4096
	p := &jsonProgram{Schema: program.Schema, Target: "gfx1151", Transients: jsonTransients{Size: 1 << 22, Alignment: 256}}
	slot := func(i int) jsonBinding { return jsonBinding{Value: fmt.Sprintf("h%d", i), Origin: "transient"} }
	for i := range commands + 1 {
		p.Transients.Allocations = append(p.Transients.Allocations, jsonAllocation{fmt.Sprintf("h%d", i), n * 4, 256, int64(i%3) * n * 4})
	}
	for i := range commands {
		var c jsonCommand
		if i%3 == 0 {
			c = add(i, n, slot(i), jsonBinding{Value: "bias", Origin: "weight"}, slot(i+1))
		} else {
			c = scale(i, n, slot(i), slot(i+1))
		}
		if i > 0 {
			c.Dependencies = []int{i - 1}
		}
		p.Commands = append(p.Commands, c)
	}
	return p
}

// BenchmarkCheck5000 reads and checks a program of 5,000 commands with a corpus at
// hand.
func BenchmarkCheck5000(b *testing.B) {
	text, err := json.Marshal(long(5000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		bench := bundled(b)
		p, ds := program.Read(diag.NewSource("program.json", string(text)))
		if len(ds) > 0 {
			b.Fatal(diag.Text(ds))
		}
		ds, err := program.Check(b.Context(), bench, p)
		if err != nil || len(ds) > 0 {
			b.Fatal(err, diag.Text(ds[:min(len(ds), 3)]))
		}
	}
}
