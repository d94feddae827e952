package codegen_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	loomexec "github.com/loomc/loomc/loom/exec"
)

// TestUnsignedDivisionOfSignExtended divides numbers that were sign-extended from
// fewer bits, and store vectors of three lanes: both are places where clang 19
// needs help.
func TestUnsignedDivisionOfSignExtended(t *testing.T) {
	var s suite
	for _, from := range []loom.Kind{loom.I8, loom.I16, loom.I32} {
		var p program
		for _, k := range []loom.Kind{loom.I32, loom.I64} {
			if k.Bits() <= from.Bits() {
				continue
			}
			fmt.Fprintf(&p.body, "  %%one%[1]s = scalar.constant 1 : %[1]s\n  %%eleven%[1]s = scalar.constant 11 : %[1]s\n  %%minus%[1]s = scalar.constant -3 : %[1]s\n", k)
			fmt.Fprintf(&p.body, "  %%x%[1]s = scalar.extsi %%a : %[2]s to %[1]s\n  %%y0%[1]s = scalar.extsi %%b : %[2]s to %[1]s\n  %%y%[1]s = scalar.ori %%y0%[1]s, %%one%[1]s : %[1]s\n", k, from)
			for _, n := range []string{"divui", "remui", "ceildivui", "divsi", "remsi"} {
				for _, d := range []string{"y", "eleven", "minus"} {
					p.op(n+" "+d, fmt.Sprintf("scalar.%s %%x%[2]s, %%%[3]s%[2]s : %[2]s", n, k, d), k, 0)
				}
			}
		}
		// As an index of 32 unsigned bits.
		fmt.Fprintf(&p.body, `  %%m = index.constant 4294967295 : index
  %%xi0 = index.cast %%a : %[1]s to index
  %%xi = index.andi %%xi0, %%m : index
  %%yb = scalar.cttzi %%b : %[1]s
  %%yi0 = index.cast %%yb : %[1]s to index
  %%onei = index.constant 1 : index
  %%yi = index.add %%yi0, %%onei : index
  %%qi = index.div %%xi, %%yi : index
  %%ri = index.rem %%xi, %%yi : index
`, from)
		p.op("index.div", "index.cast %qi : index to i64", loom.I64, 0)
		p.op("index.rem", "index.cast %ri : index to i64", loom.I64, 0)
		p.trial(&s, from)
	}
	s.run(t)
}

// TestDivisionOf24Bits divides numbers that are known to have 24 bits, near the
// multiples of the divisor, where a quotient in f32 rounds up.
func TestDivisionOf24Bits(t *testing.T) {
	n := 4096
	in := make([]byte, 8*n)
	r := rand.New(rand.NewPCG(2, 3))
	for i := range n {
		d := uint32(1 + r.IntN(1<<(1+r.IntN(12))-1))
		x := uint32(r.IntN(1<<24))/d*d + uint32(r.IntN(3)) - 1
		binary.LittleEndian.PutUint32(in[8*i:], x&0xffffff)
		binary.LittleEndian.PutUint32(in[8*i+4:], d)
	}
	var s suite
	s.add("24 bits", trial{text: single(`
  %two = index.constant 2 : index
  %p = index.mul %i, %two : index
  %v = vector.load %a[%p] : view<8192xi32> -> vector<2xi32>
  %x0 = vector.extract %v[0] : vector<2xi32> -> i32
  %d0 = vector.extract %v[1] : vector<2xi32> -> i32
  %m = scalar.constant 16777215 : i32
  %x = scalar.andi %x0, %m : i32
  %m2 = scalar.constant 8191 : i32
  %d = scalar.andi %d0, %m2 : i32
  %q = scalar.divui %x, %d : i32
  %e = scalar.remui %x, %d : i32
  %k = scalar.constant 8388608 : i32
  %y = scalar.subi %x, %k : i32
  %qs = scalar.divsi %y, %d : i32
  %xi0 = index.cast %x0 : i32 to index
  %di0 = index.cast %d0 : i32 to index
  %mi = index.constant 16777215 : index
  %mi2 = index.constant 8191 : index
  %xi = index.andi %xi0, %mi : index
  %di1 = index.andi %di0, %mi2 : index
  %di = index.assume %di1 [range(%di1, 1, 8191)] : index
  %qi = index.div %xi, %di : index
  %ri = index.rem %xi, %di : index
  %q1 = index.cast %qi : index to i32
  %r1 = index.cast %ri : index to i32
  %f = scalar.uitofp %x : i32 to f32
  %dg = scalar.uitofp %d : i32 to f32
  %fr = scalar.remf %f, %dg : f32
  %fi = scalar.bitcast %fr : f32 to i32
  %out = vector.from_elements %q, %e, %qs, %q1, %r1, %fi : vector<6xi32>
  %six = index.constant 6 : index
  %at = index.mul %i, %six : index
  %ov = buffer.view %po[%base] : buffer -> view<24576xi32>
  vector.store %out, %ov[%at] : vector<6xi32>, view<24576xi32>`, loom.I32, loom.I32, 8192, 64, 64), target: "gfx1151", wave: 32,
		args: []loomexec.Arg{loomexec.BufferArg(in), loomexec.BufferArg(make([]byte, 24*n))}}, []column{{buffer: 1, n: 6 * n, kind: loom.I32, name: "out"}}, nil)
	s.run(t)
}

func TestVectorsOfThree(t *testing.T) {
	var cases []vcase
	for _, k := range []loom.Kind{loom.I8, loom.F16, loom.F32, loom.F64} {
		cases = append(cases, vcase{name: "three " + k.String(), in: k, out: k, n: 512, groups: 2, items: 64, body: fmt.Sprintf(`
  %%k3 = index.constant 3 : index
  %%p = index.mul %%i, %%k3 : index
  %%x = vector.load %%a[%%p] : VIN -> vector<3x%[1]s>
  %%y = vector.shuffle<[2, 0, 1]> %%x : vector<3x%[1]s>
  %%end = index.constant 509 : index
  %%q = index.sub %%end, %%p : index
  vector.store %%y, %%o[%%q] : vector<3x%[1]s>, VOUT`, k)})
	}
	runCases(t, cases, allProcessors...)
}

// TestSumsOfByteProducts adds products of bytes in every width: clang 19 turns such
// sums into byte dot products.
func TestSumsOfByteProducts(t *testing.T) {
	var s suite
	for _, k := range []loom.Kind{loom.I8, loom.I16, loom.I32, loom.I64} {
		var p program
		for _, v := range []string{"a", "b", "c"} {
			if k == loom.I8 {
				fmt.Fprintf(&p.body, "  %%s%[1]s = scalar.assume %%%[1]s [range(%%%[1]s, -128, 127)] : i8\n  %%u%[1]s = scalar.assume %%%[1]s [range(%%%[1]s, -128, 127)] : i8\n", v)
			} else {
				fmt.Fprintf(&p.body, "  %%s%[1]s = scalar.extsi %%%[1]s : i8 to %[2]s\n  %%u%[1]s = scalar.extui %%%[1]s : i8 to %[2]s\n", v, k)
			}
		}
		n := 0
		mul := func(x, y string) string {
			n++
			fmt.Fprintf(&p.body, "  %%m%d = scalar.muli %s, %s : %s\n", n, x, y, k)
			return fmt.Sprintf("%%m%d", n)
		}
		for _, c := range []string{"sa sa sa sa", "sa sb sb sc", "ua ub ub uc", "sa ub sc ua", "ua ua ua ua"} {
			w := strings.Fields(c)
			x, y := mul("%"+w[0], "%"+w[1]), mul("%"+w[2], "%"+w[3])
			p.op("two products "+c, fmt.Sprintf("scalar.addi %s, %s : %s", x, y, k), k, 0)
			n++
			fmt.Fprintf(&p.body, "  %%m%d = scalar.addi %s, %s : %s\n", n, x, y, k)
			sum := fmt.Sprintf("%%m%d", n)
			p.op("a product more "+c, fmt.Sprintf("scalar.fmai %%%s, %%%s, %s : %s", w[0], w[2], sum, k), k, 0)
			n++
			fmt.Fprintf(&p.body, "  %%m%d = scalar.fmai %%%s, %%%s, %s : %s\n", n, w[1], w[3], sum, k)
			p.op("four products "+c, fmt.Sprintf("scalar.fmai %%%s, %%%s, %%m%d : %s", w[0], w[3], n, k), k, 0)
		}
		// A product inside another operation is no part of the sum.
		fmt.Fprintf(&p.body, "  %%k%[1]s = scalar.constant 52 : %[1]s\n  %%sh%[1]s = scalar.constant 3 : %[1]s\n", k)
		for _, w := range []string{"s", "u"} {
			x := mul("%"+w+"a", "%"+w+"b")
			for _, f := range []string{"andi", "ori", "xori", "shrsi", "shrui", "shli", "minsi", "maxsi", "subi"} {
				c := map[bool]string{true: "sh", false: "k"}[strings.HasPrefix(f, "sh")]
				y := mul("%"+w+"b", "%"+w+"c")
				n++
				fmt.Fprintf(&p.body, "  %%m%[1]d = scalar.%[2]s %[3]s, %%%[4]s%[5]s : %[5]s\n", n, f, y, c, k)
				p.op("product and "+f+" of a product "+w, fmt.Sprintf("scalar.addi %s, %%m%d : %s", x, n, k), k, 0)
				p.op(f+" of a product and product "+w, fmt.Sprintf("scalar.fmai %%%[1]sa, %%%[1]sc, %%m%[2]d : %[3]s", w, n, k), k, 0)
			}
		}
		p.trial(&s, loom.I8)
	}
	s.run(t)
}
