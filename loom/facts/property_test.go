package facts

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
)

// program is a random straight-line definition: parameters with declared
// ranges, integer operations over earlier values. It is evaluated on concrete
// inputs; every value must lie inside its fact.
type program struct {
	def *loom.Def
	rnd *rand.Rand
	all []*loom.Value
}

func newOp(name string, result *loom.Type, operands ...*loom.Value) *loom.Op {
	d := dialect.Ops().Lookup(name)
	if d == nil {
		panic("no op " + name)
	}
	op := &loom.Op{Def: d.Compile(), Operands: operands}
	op.Results = []*loom.Value{{Type: result, Def: op}}
	return op
}

func (p *program) add(op *loom.Op) *loom.Value {
	b := p.def.Body.Entry()
	op.Block = b
	b.Ops = append(b.Ops, op)
	v := op.Result()
	v.Name = fmt.Sprintf("v%d", len(p.all))
	p.all = append(p.all, v)
	return v
}

func (p *program) pick(k loom.Kind) *loom.Value {
	var fit []*loom.Value
	for _, v := range p.all {
		if v.Type.Kind == k {
			fit = append(fit, v)
		}
	}
	return fit[p.rnd.Intn(len(fit))]
}

var (
	indexOps  = strings.Fields("add sub mul div rem min max madd andi ori xori shli shrui shrsi ctlzi cttzi ctpopi")
	scalarOps = strings.Fields("addi subi muli fmai divsi divui remsi remui ceildivsi ceildivui floordivsi minsi maxsi minui maxui andi ori xori shli shrui shrsi absi negi signi ctlzi cttzi ctpopi")
	compares  = strings.Fields("eq ne slt sle sgt sge ult ule ugt uge")
	intKinds  = []loom.Kind{loom.I8, loom.I16, loom.I32, loom.I64}
)

func generate(seed int64) *program {
	p := &program{def: &loom.Def{Kind: loom.DefFunc}, rnd: rand.New(rand.NewSource(seed))}
	r := &loom.Region{Owner: p.def}
	r.Blocks = []*loom.Block{{Region: r}}
	p.def.Body = r
	index := loom.Scalar(loom.Index)
	for i := range 3 {
		v := &loom.Value{Type: index, Name: fmt.Sprintf("p%d", i)}
		p.def.Params = append(p.def.Params, v)
		p.all = append(p.all, v)
		lo := int64(p.rnd.Intn(100) - 20)
		hi := lo + int64(p.rnd.Intn(1<<uint(p.rnd.Intn(20))))
		p.def.Where = append(p.def.Where, loom.Predicate{Kind: loom.PredRange, Args: []loom.PredArg{{Val: v}, {Int: lo}, {Int: hi}}})
	}
	constant := func(k loom.Kind, c int64) *loom.Value {
		name := "scalar.constant"
		if k == loom.Index {
			name = "index.constant"
		}
		op := newOp(name, loom.Scalar(k))
		op.SetAttr("value", loom.IntAttr(c))
		return p.add(op)
	}
	constant(loom.I1, int64(p.rnd.Intn(2)))
	for _, k := range intKinds {
		constant(k, int64(p.rnd.Intn(300)-100))
		op := newOp("index.cast", loom.Scalar(k), p.pick(loom.Index))
		p.add(op)
	}
	for range 30 {
		switch p.rnd.Intn(8) {
		case 0:
			constant(loom.Index, int64(p.rnd.Intn(70)-3))
		case 1, 2, 3:
			name := indexOps[p.rnd.Intn(len(indexOps))]
			op := newOp("index."+name, index)
			for range op.Def.Operands {
				op.Operands = append(op.Operands, p.pick(loom.Index))
			}
			p.add(op)
		case 4, 5:
			k := intKinds[p.rnd.Intn(len(intKinds))]
			name := scalarOps[p.rnd.Intn(len(scalarOps))]
			op := newOp("scalar."+name, loom.Scalar(k))
			for range op.Def.Operands {
				op.Operands = append(op.Operands, p.pick(k))
			}
			p.add(op)
		case 6:
			switch p.rnd.Intn(4) {
			case 0:
				p.add(newOp("index.cast", index, p.pick(intKinds[p.rnd.Intn(4)])))
			case 1:
				i := p.rnd.Intn(3)
				name := []string{"scalar.extsi", "scalar.extui"}[p.rnd.Intn(2)]
				p.add(newOp(name, loom.Scalar(intKinds[i+1]), p.pick(intKinds[i])))
			case 2:
				i := p.rnd.Intn(3)
				p.add(newOp("scalar.trunci", loom.Scalar(intKinds[i]), p.pick(intKinds[i+1])))
			case 3:
				p.add(newOp("index.cast", loom.Scalar(intKinds[p.rnd.Intn(4)]), p.pick(loom.Index)))
			}
		case 7:
			op := newOp("index.cmp", loom.Scalar(loom.I1), p.pick(loom.Index), p.pick(loom.Index))
			op.SetAttr("predicate", loom.WordAttr(compares[p.rnd.Intn(len(compares))]))
			c := p.add(op)
			p.add(newOp("scf.select", index, c, p.pick(loom.Index), p.pick(loom.Index)))
		}
	}
	return p
}

// eval runs the program; ok is false when it leaves what the language defines
// (division by zero, shift amounts out of range).
func (p *program) eval(in []int64) (vals map[*loom.Value]int64, ok bool) {
	vals = map[*loom.Value]int64{}
	for i, v := range p.def.Params {
		vals[v] = in[i]
	}
	for _, op := range p.def.Body.Entry().Ops {
		var a []int64
		for _, v := range op.Operands {
			x, known := vals[v]
			if !known {
				return vals, false
			}
			a = append(a, x)
		}
		r, good := evalOp(op, a)
		if !good {
			continue // undefined: the value does not occur
		}
		vals[op.Result()] = r
	}
	return vals, true
}

func evalOp(op *loom.Op, a []int64) (int64, bool) {
	k := op.Result().Type.Kind
	w := k.Bits()
	u := func(v int64) uint64 { return uint64(v) & (math.MaxUint64 >> (64 - w)) }
	shift := func() bool { return a[1] >= 0 && a[1] < int64(w) }
	name := op.Name()[strings.IndexByte(op.Name(), '.')+1:]
	isIndex := strings.HasPrefix(op.Name(), "index.")
	var r int64
	switch name {
	case "constant":
		return Wrap(k, op.Attr("value").Int), true
	case "select":
		if a[0] == 1 {
			return a[1], true
		}
		return a[2], true
	case "cmp":
		x, y := a[0], a[1]
		b := map[string]bool{"eq": x == y, "ne": x != y, "slt": x < y, "sle": x <= y, "sgt": x > y, "sge": x >= y,
			"ult": uint64(x) < uint64(y), "ule": uint64(x) <= uint64(y), "ugt": uint64(x) > uint64(y), "uge": uint64(x) >= uint64(y)}
		if b[op.Word("predicate")] {
			return 1, true
		}
		return 0, true
	case "add", "addi":
		r = a[0] + a[1]
	case "sub", "subi":
		r = a[0] - a[1]
	case "mul", "muli":
		r = a[0] * a[1]
	case "madd", "fmai":
		r = a[0]*a[1] + a[2]
	case "div":
		if a[0] < 0 || a[1] <= 0 {
			return 0, false
		}
		r = a[0] / a[1]
	case "rem":
		if a[0] < 0 || a[1] <= 0 {
			return 0, false
		}
		r = a[0] % a[1]
	case "divsi", "remsi", "ceildivsi", "floordivsi":
		if a[1] == 0 || a[1] == -1 {
			return 0, false
		}
		q, m := a[0]/a[1], a[0]%a[1]
		switch name {
		case "divsi":
			r = q
		case "remsi":
			r = m
		case "ceildivsi":
			if r = q; m != 0 && (m > 0) == (a[1] > 0) {
				r++
			}
		default:
			if r = q; m != 0 && (m > 0) != (a[1] > 0) {
				r--
			}
		}
	case "divui", "remui", "ceildivui":
		x, y := u(a[0]), u(a[1])
		if y == 0 {
			return 0, false
		}
		switch name {
		case "divui":
			r = int64(x / y)
		case "remui":
			r = int64(x % y)
		default:
			r = int64(x / y)
			if x%y != 0 {
				r++
			}
		}
	case "min", "minsi":
		r = min(a[0], a[1])
	case "max", "maxsi":
		r = max(a[0], a[1])
	case "minui":
		if r = a[1]; u(a[0]) < u(a[1]) {
			r = a[0]
		}
	case "maxui":
		if r = a[1]; u(a[0]) > u(a[1]) {
			r = a[0]
		}
	case "andi":
		r = a[0] & a[1]
	case "ori":
		r = a[0] | a[1]
	case "xori":
		r = a[0] ^ a[1]
	case "shli":
		if !shift() {
			return 0, false
		}
		r = a[0] << a[1]
	case "shrui":
		if !shift() {
			return 0, false
		}
		r = int64(u(a[0]) >> a[1])
	case "shrsi":
		if !shift() {
			return 0, false
		}
		r = a[0] >> a[1]
	case "absi":
		if r = a[0]; r < 0 {
			r = -r
		}
	case "negi":
		r = -a[0]
	case "signi":
		switch {
		case a[0] > 0:
			r = 1
		case a[0] < 0:
			r = -1
		}
	case "ctlzi":
		r = int64(bits.LeadingZeros64(u(a[0])) - (64 - w))
	case "cttzi":
		r = int64(min(bits.TrailingZeros64(u(a[0])), w))
	case "ctpopi":
		r = int64(bits.OnesCount64(u(a[0])))
	case "cast", "extsi", "trunci":
		r = a[0]
	case "extui":
		src := op.Operands[0].Type.Kind.Bits()
		r = int64(uint64(a[0]) & (math.MaxUint64 >> (64 - src)))
	default:
		panic("no evaluation of " + op.Name() + fmt.Sprint(isIndex))
	}
	return Wrap(k, r), true
}

func TestRandomProgramsStayInsideFacts(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	exact := 0
	for seed := range n {
		p := generate(int64(seed))
		set := Analyze(p.def, Env{})
		for trial := range 12 {
			var in []int64
			for _, pr := range p.def.Where {
				lo, hi := pr.Args[1].Int, pr.Args[2].Int
				x := lo + p.rnd.Int63n(hi-lo+1)
				if trial == 0 {
					x = lo
				} else if trial == 1 {
					x = hi
				}
				in = append(in, x)
			}
			vals, _ := p.eval(in)
			for _, v := range p.all {
				x, ok := vals[v]
				if !ok {
					continue
				}
				f := set.Of(v)
				if x < f.Lo || x > f.Hi || f.Div > 1 && x%f.Div != 0 || f.Div == 0 && x != 0 || f.Pow2 && (x <= 0 || x&(x-1) != 0) {
					t.Fatalf("seed %d, inputs %v: %%%s = %d is outside %v (op %v)", seed, in, v.Name, x, f, v.Def)
				}
				if f.Lo != math.MinInt64 || f.Hi != math.MaxInt64 {
					exact++
				}
			}
		}
	}
	if exact == 0 {
		t.Fatal("no fact ever said anything")
	}
}
