package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// waveOp is one subgroup operation of the matrix. In its text VAL is the lane's
// value, ODD a value that may be a NaN or an infinity, MSK a random i32, T the
// element type, and # the suffix that keeps names apart; the result is RES.
type waveOp struct {
	name, text string
	out        loom.Kind // kind of RES
	ulp        float64
	whole      bool // only where all lanes are active
}

func combiners(k loom.Kind) []string {
	switch {
	case k == loom.I1:
		return []string{"andi", "ori", "xori"}
	case k.IsFloat():
		return []string{"addf", "mulf", "minnumf", "maxnumf", "minimumf", "maximumf"}
	}
	return []string{"addi", "muli", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori"}
}

// clusters are sizes and strides; 0 is the whole subgroup.
var clusters = [][2]int{{0, 0}, {2, 1}, {4, 1}, {8, 1}, {16, 1}, {32, 1}, {4, 4}, {8, 2}, {2, 16}, {16, 2}, {8, 4}, {2, 8}, {64, 1}, {16, 4}, {2, 32}, {1, 1}}

func clusterText(c [2]int) string {
	switch {
	case c[0] == 0:
		return ""
	case c[1] == 1:
		return fmt.Sprintf("cluster_size = %d", c[0])
	}
	return fmt.Sprintf("cluster_size = %d, cluster_stride = %d", c[0], c[1])
}

// waveOps lists every subgroup operation on values of kind k.
func waveOps(k loom.Kind, wave int) []waveOp {
	var out []waveOp
	for _, kind := range combiners(k) {
		val := "VAL"
		if strings.HasPrefix(kind, "min") || strings.HasPrefix(kind, "max") {
			val = "ODD"
		}
		exact, near := 0.0, 0.0
		if strings.HasSuffix(kind, "numf") {
			exact, near = 0.25, 0.25 // equal zeros may differ in sign
		}
		if kind == "addf" || kind == "mulf" {
			near = 24
		}
		for _, c := range clusters {
			if c[0]*c[1] > wave {
				continue
			}
			attrs := ""
			if c[0] != 0 {
				attrs = "{" + clusterText(c) + "}"
			}
			out = append(out, waveOp{name: fmt.Sprintf("reduce %s %v", kind, c), out: k, ulp: exact,
				text: fmt.Sprintf("RES = kernel.subgroup.reduce<%s> %s %s : T", kind, val, attrs)})
			for _, dir := range []string{"forward", "reverse"} {
				for _, mode := range []string{"inclusive", "exclusive"} {
					attrs := "direction = " + dir + ", mode = " + mode
					if c[0] != 0 {
						attrs += ", " + clusterText(c)
					}
					out = append(out, waveOp{name: fmt.Sprintf("scan %s %s %s %v", kind, dir, mode, c), out: k, ulp: near,
						text: fmt.Sprintf("RES = kernel.subgroup.scan<%s> %s {%s} : T", kind, val, attrs)})
				}
			}
		}
	}
	for _, mode := range []string{"xor", "up", "down", "index"} {
		for _, width := range []int{wave, 16, 4, 12, 0} {
			for _, off := range []int{0, 1, 3, 5, 11, 16, 19, 33, 70, -1, 1000} {
				o := "%off# = scalar.constant " + strconv.Itoa(off) + " : i32"
				if off == 1000 {
					o = "%c25# = scalar.constant 25 : i32\n%off# = scalar.shrsi MSK, %c25# : i32"
				}
				w := "%wid# = scalar.constant " + strconv.Itoa(width) + " : i32\n"
				both := w + o + "\n"
				call := fmt.Sprintf("kernel.subgroup.shuffle<%s> VAL, %%off#, %%wid# : T, i32, i32", mode)
				name := fmt.Sprintf("shuffle %s %d of %d", mode, off, width)
				out = append(out, waveOp{name: name, out: k, text: both + "RES, %ok# = " + call},
					waveOp{name: name + " valid", out: loom.I1, text: both + "%sh#, RES = " + call})
			}
		}
	}
	vec := "%vec# = vector.from_elements VAL, ODD, VAL : vector<3xT>\n"
	get := "\nRES = vector.extract %vr#[1] : vector<3xT> -> T"
	if k != loom.I1 {
		for _, op := range []string{"reduce<MIN> %vec# : vector<3xT>", "reduce<MIN> %vec# {cluster_size = 8} : vector<3xT>",
			"scan<MIN> %vec# {direction = forward, mode = inclusive} : vector<3xT>", "scan<MIN> %vec# {direction = reverse, mode = exclusive} : vector<3xT>",
			"broadcast.first %vec# : vector<3xT>"} {
			kind := "maxsi"
			if k.IsFloat() {
				kind = "minimumf"
			}
			out = append(out, waveOp{name: "vector " + op, out: k, text: vec + "%vr# = kernel.subgroup." + strings.ReplaceAll(op, "MIN", kind) + get})
		}
		out = append(out, waveOp{name: "vector shuffle", out: k, text: vec + "%off# = scalar.constant 3 : i32\n%wid# = scalar.constant 16 : i32\n" +
			"%vr#, %vok# = kernel.subgroup.shuffle<down> %vec#, %off#, %wid# : vector<3xT>, i32, i32" + get})
	}
	if k == loom.I32 || k == loom.F32 {
		for _, kind := range combiners(loom.I64) {
			for _, op := range []string{"reduce<KIND> %ix# : index", "reduce<KIND> %ix# {cluster_size = 4} : index", "scan<KIND> %ix# {direction = forward, mode = inclusive} : index",
				"scan<KIND> %ix# {direction = reverse, mode = exclusive} : index", "scan<KIND> %ix# {direction = forward, mode = exclusive, cluster_size = 8} : index"} {
				op = strings.ReplaceAll(op, "KIND", kind)
				out = append(out, waveOp{name: "index " + op, out: loom.I64, text: "%ix# = index.cast MSK : i32 to index\n%ir# = kernel.subgroup." + op + "\nRES = index.cast %ir# : index to i64"})
			}
		}
		for _, op := range []string{"vote.ballot %bit0 : i1 -> i32", "active.mask : i32", "match.any MSK : i32 -> i32"} {
			out = append(out, waveOp{name: "i32 " + op, out: loom.I64, text: "%im# = kernel.subgroup." + op + "\nRES = scalar.extui %im# : i32 to i64"})
		}
	}
	active := "%act# = kernel.subgroup.active.mask : i64\n"
	out = append(out,
		waveOp{name: "active mask", out: loom.I64, text: "RES = kernel.subgroup.active.mask : i64"},
		waveOp{name: "broadcast.first", out: k, text: "RES = kernel.subgroup.broadcast.first VAL : T"},
		waveOp{name: "broadcast from the first", out: k, text: active + "%tz# = scalar.cttzi %act# : i64\nRES = kernel.subgroup.broadcast VAL from %tz# : T, i64"},
		waveOp{name: "broadcast from the last", out: k, text: active + `%lz# = scalar.ctlzi %act# : i64
%c63# = scalar.constant 63 : i64
%hi# = scalar.subi %c63#, %lz# : i64
%hi32# = scalar.trunci %hi# : i64 to i32
RES = kernel.subgroup.broadcast VAL from %hi32# : T, i32`},
		waveOp{name: "broadcast from 77", out: k, whole: true, text: "%far# = index.constant 77 : index\nRES = kernel.subgroup.broadcast VAL from %far# : T, index"},
		waveOp{name: "broadcast from 7", out: k, whole: true, text: "%near# = index.constant 7 : index\nRES = kernel.subgroup.broadcast VAL from %near# : T, index"},
		waveOp{name: "match.any", out: loom.I64, text: "RES = kernel.subgroup.match.any VAL : T -> i64"},
		waveOp{name: "match.all", out: loom.I64, text: "RES, %eq# = kernel.subgroup.match.all VAL : T -> i64, i1"},
		waveOp{name: "match.all of one", out: loom.I1, text: "%one# = kernel.subgroup.broadcast.first VAL : T\n%mk#, RES = kernel.subgroup.match.all %one# : T -> i64, i1"},
	)
	bit := "%c5# = scalar.constant 5 : i32\n%b5# = scalar.shrui MSK, %c5# : i32\n%z# = scalar.constant 0 : i32\n%c15# = scalar.constant KKK : i32\n%lo# = scalar.andi %b5#, %c15# : i32\n%p# = scalar.cmpi ne, %lo#, %z# : i32\n"
	for _, m := range []string{"1", "31", "-2147483648"} { // about half, nearly all, none
		b := strings.ReplaceAll(bit, "KKK", m)
		out = append(out,
			waveOp{name: "vote.any " + m, out: loom.I1, text: b + "RES = kernel.subgroup.vote.any %p# : i1"},
			waveOp{name: "vote.all " + m, out: loom.I1, text: b + "RES = kernel.subgroup.vote.all %p# : i1"},
			waveOp{name: "vote.ballot " + m, out: loom.I64, text: b + "RES = kernel.subgroup.vote.ballot %p# : i1 -> i64"})
	}
	return out
}

// A shape is control flow around operations; OPS stands for them and the stores of
// their results, or for them alone where STORES stands elsewhere.
type shape struct {
	name, text string
	divergent  bool
}

var shapes = []shape{
	{name: "straight", text: "OPS(%zero, a)"},
	{name: "used in a branch", text: "OPS(%zero, a)\nscf.if %bit0 {\nSTORES(%zero, a)\n}"},
	{name: "the first lanes", divergent: true, text: "%lim = index.constant 21 : index\n%c = index.cmp ult, %lane, %lim : index\nscf.if %c {\nOPS(%zero, a)\n}"},
	{name: "the last lanes", divergent: true, text: "%lim = index.constant 27 : index\n%c = index.cmp ugt, %lane, %lim : index\nscf.if %c {\nOPS(%zero, a)\n}"},
	{name: "holes", divergent: true, text: "scf.if %bit0 {\nOPS(%zero, a)\n}"},
	{name: "few lanes", divergent: true, text: "%k15 = scalar.constant 15 : i32\n%low = scalar.andi %msk, %k15 : i32\n%c = scalar.cmpi eq, %low, %z32 : i32\nscf.if %c {\nOPS(%zero, a)\n}"},
	{name: "nested", divergent: true, text: "scf.if %bit0 {\nscf.if %bit1 {\nOPS(%zero, a)\n} else {\nOPS(%zero, b)\n}\n} else {\nOPS(%one, c)\n}"},
	{name: "trips differ", divergent: true, text: "scf.for %j = [%zero to %trips step %one] {\nOPS(%j, a)\n}"},
	{name: "after an exit", divergent: true, text: "kernel.exit %bit0 : i1\nOPS(%zero, a)"},
	{name: "while", divergent: true, text: `%w = scf.while (%n = %zero : index) -> (index) {
%go = index.cmp ult, %n, %trips : index
scf.condition %go, %n : i1, index
} do(%n2: index) {
OPS(%n2, a)
%next = index.add %n2, %one : index
scf.yield %next : index
}`},
	{name: "switch", divergent: true, text: "scf.switch %trips {\ncase 1 {\nOPS(%zero, a)\n}\ncase 2 {\nOPS(%one, b)\n}\ndefault {\nOPS(%zero, c)\n}\n}"},
	{name: "both halves of a uniform branch", text: "%u = kernel.subgroup.vote.any %bit0 : i1\nscf.if %u {\nOPS(%zero, a)\n}"},
}

// waveKernel is a kernel that runs ops inside a shape.
func waveKernel(k loom.Kind, sh shape, ops []waveOp, groups, items int) (string, []column) {
	n := groups * items
	at := map[loom.Kind]int{}
	order := []loom.Kind{k, loom.I1, loom.I64}
	buf := map[loom.Kind]int{}
	var bufs []loom.Kind
	for _, o := range order {
		if _, ok := buf[o]; !ok {
			buf[o] = len(bufs)
			bufs = append(bufs, o)
		}
	}
	var cols []column
	var slots []int
	for _, o := range ops {
		slots = append(slots, at[o.out])
		at[o.out]++
		cols = append(cols, column{buffer: 3 + buf[o.out], at: slots[len(slots)-1] * 4 * n, n: 4 * n, kind: o.out, ulp: o.ulp, name: o.name + ", " + sh.name})
	}
	views := func(o loom.Kind) string { return fmt.Sprintf("view<%dx4x%dx%s>", max(at[o], 1), n, o) }
	body := sh.text
	expand := func(mark string, text func(o waveOp, j, id string, slot int) string) {
		for {
			before, rest, ok := strings.Cut(body, mark+"(")
			if !ok {
				return
			}
			arg, after, _ := strings.Cut(rest, ")")
			j, suffix, _ := strings.Cut(arg, ", ")
			for m, o := range ops {
				before += text(o, j, fmt.Sprintf("%s%d", suffix, m), slots[m]) + "\n"
			}
			body = before + after
		}
	}
	store := func(o waveOp, j, id string, slot int) string {
		return fmt.Sprintf("view.store %%r%s, %%o_%s[%d, %s, %%i] : %s, %s", id, o.out, slot, j, o.out, views(o.out))
	}
	late := strings.Contains(body, "STORES(")
	expand("STORES", store)
	expand("OPS", func(o waveOp, j, id string, slot int) string {
		text := strings.NewReplacer("RES", "%r"+id, "#", id, "VAL", "%val", "ODD", "%odd", "MSK", "%msk",
			": T", ": "+k.String(), "xT>", "x"+k.String()+">", "-> T", "-> "+k.String()).Replace(o.text)
		if late {
			return text
		}
		return text + "\n" + store(o, j, id, slot)
	})
	var b strings.Builder
	fmt.Fprintf(&b, `kernel.def @k() {
  %%one = index.constant 1 : index
  %%groups = index.constant %d : index
  %%items = index.constant %d : index
  kernel.launch.config workgroups(%%groups, %%one, %%one) workgroup_size(%%items, %%one, %%one) : index
} launch(%%pa: buffer, %%pb: buffer, %%pm: buffer`, groups, items)
	for _, o := range bufs {
		fmt.Fprintf(&b, ", %%p_%s: buffer", o)
	}
	fmt.Fprintf(&b, `) {
  %%base = index.constant 0 : offset
  %%zero = index.constant 0 : index
  %%one = index.constant 1 : index
  %%size = index.constant %[1]d : index
  %%g = kernel.workgroup.id<x> : index
  %%t = kernel.workitem.id<x> : index
  %%i = index.madd %%g, %%size, %%t : index
  %%lane = kernel.subgroup.lane.id : index
  %%va = buffer.view %%pa[%%base] : buffer -> view<%[2]dx%[3]s>
  %%vb = buffer.view %%pb[%%base] : buffer -> view<%[2]dx%[3]s>
  %%vm = buffer.view %%pm[%%base] : buffer -> view<%[2]dxi32>
  %%val = view.load %%va[%%i] : view<%[2]dx%[3]s> -> %[3]s
  %%odd = view.load %%vb[%%i] : view<%[2]dx%[3]s> -> %[3]s
  %%msk = view.load %%vm[%%i] : view<%[2]dxi32> -> i32
  %%z32 = scalar.constant 0 : i32
  %%k1 = scalar.constant 1 : i32
  %%k2 = scalar.constant 2 : i32
  %%k3 = scalar.constant 3 : i32
  %%m0 = scalar.andi %%msk, %%k1 : i32
  %%m1 = scalar.andi %%msk, %%k2 : i32
  %%m3 = scalar.andi %%msk, %%k3 : i32
  %%bit0 = scalar.cmpi ne, %%m0, %%z32 : i32
  %%bit1 = scalar.cmpi ne, %%m1, %%z32 : i32
  %%trips = index.cast %%m3 : i32 to index
`, items, n, k)
	for _, o := range bufs {
		fmt.Fprintf(&b, "  %%o_%s = buffer.view %%p_%s[%%base] : buffer -> %s\n", o, o, views(o))
	}
	b.WriteString(body)
	b.WriteString("\n  kernel.return\n}\n")
	return b.String(), cols
}

// results are the output buffers of a waveKernel with two groups of items.
func results(k loom.Kind, cols []column, items int) (out []loomexec.Arg) {
	size := map[loom.Kind]int{k: 0, loom.I1: 0, loom.I64: 0}
	for _, c := range cols {
		size[c.kind] = max(size[c.kind], (c.at+c.n)*c.kind.Bytes())
	}
	for _, o := range []loom.Kind{k, loom.I1, loom.I64} {
		if n, ok := size[o]; ok {
			out = append(out, loomexec.BufferArg(make([]byte, max(n, 8*items*o.Bytes()))))
			delete(size, o)
		}
	}
	return out
}

// waveData are the inputs: values of moderate size whose sums and products stay in
// range, values of all sorts, and masks.
func waveData(r *rand.Rand, k loom.Kind, n int) []loomexec.Arg {
	plain := random(r, k, n)
	if k.IsFloat() {
		for i := range n {
			v := 0.75 + float64(r.IntN(5))/8
			e := map[loom.Kind][2]int{loom.F16: {5, 10}, loom.BF16: {8, 7}, loom.F32: {8, 23}, loom.F64: {11, 52}, loom.F8E4M3: {4, 3}, loom.F8E5M2: {5, 2}}[k]
			m, x := v, 0
			if m < 1 {
				m, x = 2*m, -1
			}
			bits := uint64(x+1<<(e[0]-1)-1)<<e[1] | uint64((m-1)*float64(uint64(1)<<e[1]))
			for b := range k.Bytes() {
				plain[i*k.Bytes()+b] = byte(bits >> (8 * b))
			}
		}
	}
	if k == loom.I1 {
		for i := range plain {
			plain[i] &= 1
		}
	}
	odd := random(r, k, n)
	if k == loom.I1 {
		copy(odd, plain)
	}
	return []loomexec.Arg{loomexec.BufferArg(plain), loomexec.BufferArg(odd), loomexec.BufferArg(random(r, loom.I32, n))}
}

var waveKinds = []loom.Kind{loom.I32, loom.F32, loom.I64, loom.F16, loom.I8, loom.BF16, loom.F64, loom.I16, loom.I1, loom.F8E4M3, loom.F8E5M2}

// waveTrials calls add with kernels that between them hold every operation on k,
// count to a kernel, in a number of shapes each; add returns false to stop.
func waveTrials(k loom.Kind, wave, count, rounds int, add func(name string, tr trial, cols []column, keys map[string]any) bool) {
	r := rand.New(rand.NewPCG(uint64(wave), uint64(k)))
	ops := waveOps(k, wave)
	r.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	sizes := []int{2 * wave, 44, wave, 100, 16, wave + 3, 24}
	turn := int(k)*7 + wave/32
	for round := range rounds {
		for i := 0; i < len(ops); i += count {
			sh, items := shapes[turn%len(shapes)], sizes[turn/2%len(sizes)]
			turn++
			var part []waveOp
			for _, o := range ops[i:min(i+count, len(ops))] {
				if !o.whole || !sh.divergent {
					part = append(part, o)
				}
			}
			if len(part) == 0 {
				continue
			}
			text, cols := waveKernel(k, sh, part, 2, items)
			tr := trial{text: text, target: "gfx1151", wave: wave, args: waveData(r, k, 2*items)}
			tr.args = append(tr.args, results(k, cols, items)...)
			if !add(fmt.Sprintf("%s, wave %d, %d items, %s, round %d at %d", k, wave, items, sh.name, round, i), tr, cols,
				map[string]any{"order": "random", "quantum": 4, "seed": 1 + turn}) {
				return
			}
		}
		turn++ // the next round meets other shapes
	}
}

// TestWaveMatrix compares subgroup operations of every kind with the reference
// executor: on the host, and on built gfx1151 objects where an emulator is
// configured. It samples the matrix; LOOMC_TEST_WAVE=n runs all of it in n shapes
// of control flow, LOOMC_TEST_WAVE_KIND=f32 that of one type.
func TestWaveMatrix(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("LOOMC_TEST_WAVE"))
	if rounds == 0 {
		var s suite
		for i, k := range waveKinds {
			for _, w := range []int{32, 64} {
				if i < 4 || (i+w/32)%2 == 0 {
					waveTrials(k, w, 10, 1, func(name string, tr trial, cols []column, keys map[string]any) bool {
						s.add(name, tr, cols, keys)
						return false
					})
				}
			}
		}
		s.run(t)
		return
	}
	for _, k := range waveKinds {
		if only := os.Getenv("LOOMC_TEST_WAVE_KIND"); only != "" && only != k.String() {
			continue
		}
		for _, w := range []int{32, 64} {
			t.Run(fmt.Sprintf("%s/%d", k, w), func(t *testing.T) {
				var s suite
				waveTrials(k, w, 16, rounds, func(name string, tr trial, cols []column, keys map[string]any) bool {
					s.add(name, tr, cols, keys)
					if len(s.trials) == 12 {
						s.run(t)
						s = suite{}
					}
					return true
				})
				if len(s.trials) > 0 {
					s.run(t)
				}
			})
		}
	}
}
