package kernel

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
)

// Geometry is how a kernel is launched.
type Geometry struct {
	Count   [3]int64 // workgroups per axis; a zero means there is nothing to launch
	Size    [3]int64 // work items per workgroup
	Cluster [3]int64 // workgroups per cluster, 1 where the kernel does not use clusters
}

// EvalLaunch evaluates the kernel's launch-config region on the host for the
// given workload values, which must be as many as the kernel's workload
// parameters, in order. It checks the promises the region states, the range of
// the results, and the target's limits. The error is a diag.Diagnostic that names
// the place and the value.
func EvalLaunch(k *Kernel, workload []int64) (Geometry, error) {
	var g Geometry
	if len(workload) != len(k.Def.Workload) {
		names := make([]string, len(k.Def.Workload))
		for i, v := range k.Def.Workload {
			names[i] = v.Name
		}
		return g, diag.Errorf(k.Def.NameSpan, "LAUNCH/WORKLOAD", "kernel '@%s' takes %d workload values (%s), got %d",
			k.Symbol, len(names), strings.Join(names, ", "), len(workload))
	}
	b := k.Def.Config.Entry()
	if b == nil {
		return g, diag.Errorf(k.Def.NameSpan, "LAUNCH/CONFIG", "kernel '@%s' has no launch configuration", k.Symbol)
	}
	e := evaluator{vals: map[*loom.Value]number{}}
	for i, v := range k.Def.Workload {
		if v.Type.Kind == loom.Offset && workload[i] < 0 {
			return g, diag.Errorf(k.Def.NameSpan, "LAUNCH/WORKLOAD", "workload value %%%s = %d is negative", v.Name, workload[i])
		}
		e.vals[v] = number{i: facts.Wrap(v.Type.Kind, workload[i])}
	}
	for _, p := range k.Def.Where {
		known := len(p.Args) > 0
		for _, a := range p.Args {
			if a.Val != nil {
				if _, ok := e.vals[a.Val]; !ok {
					known = false // about launch parameters, which are not known here
				}
			}
		}
		if known && !e.holds(p) {
			return g, diag.Errorf(k.Def.NameSpan, "LAUNCH/PREDICATE", "kernel '@%s' requires %s, got %s", k.Symbol, p, e.say(p))
		}
	}
	if err := e.block(b); err != nil {
		return g, err
	}
	t := b.Terminator()
	if t == nil || t.Def.Name != "kernel.launch.config" {
		return g, diag.Errorf(k.Def.NameSpan, "LAUNCH/CONFIG", "the launch configuration of '@%s' does not end in kernel.launch.config", k.Symbol)
	}
	g.Cluster = [3]int64{1, 1, 1}
	for i, axis := range [3]string{"x", "y", "z"} {
		for _, f := range []struct {
			field string
			to    *int64
		}{{"workgroup_count_", &g.Count[i]}, {"workgroup_size_", &g.Size[i]}, {"cluster_size_", &g.Cluster[i]}} {
			if v := t.Operand(f.field + axis); v != nil {
				*f.to = e.vals[v].i
			}
		}
	}
	return g, g.check(k, t)
}

func (g Geometry) check(k *Kernel, t *loom.Op) error {
	flat := int64(1)
	for i, axis := range [3]string{"x", "y", "z"} {
		switch {
		case g.Count[i] < 0:
			return diag.Errorf(t.NameSpan(), "LAUNCH/RANGE", "kernel '@%s' computes %d workgroups along %s", k.Symbol, g.Count[i], axis)
		case g.Size[i] < 1:
			return diag.Errorf(t.NameSpan(), "LAUNCH/RANGE", "kernel '@%s' computes %d work items along %s, want at least 1", k.Symbol, g.Size[i], axis)
		case g.Cluster[i] < 1:
			return diag.Errorf(t.NameSpan(), "LAUNCH/RANGE", "kernel '@%s' computes clusters of %d workgroups along %s, want at least 1", k.Symbol, g.Cluster[i], axis)
		}
		if k.Target != nil {
			if m := k.Target.MaxGridDim[i]; m > 0 && g.Count[i] > m {
				return diag.Errorf(t.NameSpan(), "LAUNCH/RANGE", "kernel '@%s' computes %d workgroups along %s, %s allows %d", k.Symbol, g.Count[i], axis, k.Target.Processor, m)
			}
			if m := k.Target.MaxWorkgroupDim[i]; m > 0 && g.Size[i] > m {
				return diag.Errorf(t.NameSpan(), "TARGET/024", "kernel '@%s' computes %d work items along %s, %s allows %d", k.Symbol, g.Size[i], axis, k.Target.Processor, m)
			}
		}
		if flat *= g.Size[i]; flat > 1<<31 {
			flat = 1 << 31
		}
	}
	if k.Target != nil {
		if m := int64(k.Target.MaxWorkgroupSize); m > 0 && flat > m {
			return diag.Errorf(t.NameSpan(), "TARGET/025", "kernel '@%s' computes workgroups of %d·%d·%d = %d work items, %s allows %d",
				k.Symbol, g.Size[0], g.Size[1], g.Size[2], flat, k.Target.Processor, m)
		}
	}
	return nil
}

// number is a host value: i for index, offset and integers (signed reading), f
// for floats.
type number struct {
	i int64
	f float64
}

type evaluator struct {
	vals  map[*loom.Value]number
	steps int
}

// maxSteps ends a launch configuration that loops for ever.
const maxSteps = 10_000_000

func (e *evaluator) block(b *loom.Block) error {
	for _, op := range b.Ops {
		if e.steps++; e.steps > maxSteps {
			return diag.Errorf(op.NameSpan(), "LAUNCH/STEPS", "the launch configuration does not end after %d operations", maxSteps)
		}
		if op.Def.Traits&loom.Terminator != 0 {
			return nil
		}
		if err := e.op(op); err != nil {
			return err
		}
	}
	return nil
}

func (e *evaluator) yield(r *loom.Region) []number {
	t := r.Blocks[0].Terminator()
	if t == nil {
		return nil
	}
	out := make([]number, len(t.Operands))
	for i, v := range t.Operands {
		out[i] = e.vals[v]
	}
	return out
}

func (e *evaluator) results(op *loom.Op, ns []number) {
	for i, r := range op.Results {
		if i < len(ns) {
			e.vals[r] = ns[i]
		}
	}
}

func (e *evaluator) args(vs []*loom.Value, ns []number) {
	for i, v := range vs {
		if i < len(ns) {
			e.vals[v] = ns[i]
		}
	}
}

func (e *evaluator) get(vs []*loom.Value) []number {
	out := make([]number, len(vs))
	for i, v := range vs {
		out[i] = e.vals[v]
	}
	return out
}

func (e *evaluator) op(op *loom.Op) error {
	switch op.Def.Name {
	case "scf.if":
		at := 0
		if e.vals[op.Operands[0]].i == 0 {
			at = 1
		}
		if at >= len(op.Regions) {
			return nil
		}
		if err := e.block(op.Regions[at].Blocks[0]); err != nil {
			return err
		}
		e.results(op, e.yield(op.Regions[at]))
		return nil
	case "scf.for":
		lo, hi, step := e.vals[op.Operand("lower_bound")].i, e.vals[op.Operand("upper_bound")].i, e.vals[op.Operand("step")].i
		if step < 1 {
			return diag.Errorf(op.NameSpan(), "STRUCTURE/035", "the step of the loop is %d, want a positive number", step)
		}
		carried := e.get(op.Field("iter_args"))
		b := op.Regions[0].Blocks[0]
		for i := lo; i < hi; {
			e.vals[b.Args[0]] = number{i: i}
			e.args(b.Args[1:], carried)
			if err := e.block(b); err != nil {
				return err
			}
			carried = e.yield(op.Regions[0])
			if i > math.MaxInt64-step {
				break
			}
			i += step
			if e.steps++; e.steps > maxSteps {
				return diag.Errorf(op.NameSpan(), "LAUNCH/STEPS", "the launch configuration does not end after %d operations", maxSteps)
			}
		}
		e.results(op, carried)
		return nil
	case "scf.while":
		ns := e.get(op.Field("iter_args"))
		for {
			before, after := op.Regions[0].Blocks[0], op.Regions[1].Blocks[0]
			e.args(before.Args, ns)
			if err := e.block(before); err != nil {
				return err
			}
			c := e.yield(op.Regions[0])
			if len(c) == 0 {
				return unsupported(op)
			}
			if c[0].i == 0 {
				e.results(op, c[1:])
				return nil
			}
			e.args(after.Args, c[1:])
			if err := e.block(after); err != nil {
				return err
			}
			ns = e.yield(op.Regions[1])
			if e.steps++; e.steps > maxSteps {
				return diag.Errorf(op.NameSpan(), "LAUNCH/STEPS", "the launch configuration does not end after %d operations", maxSteps)
			}
		}
	case "scf.switch":
		at := len(op.Regions) - 1
		for i, c := range op.Attr("cases").Ints() {
			if c == e.vals[op.Operands[0]].i {
				at = i
			}
		}
		if err := e.block(op.Regions[at].Blocks[0]); err != nil {
			return err
		}
		e.results(op, e.yield(op.Regions[at]))
		return nil
	case "scf.select":
		v := op.Operands[2]
		if e.vals[op.Operands[0]].i != 0 {
			v = op.Operands[1]
		}
		e.vals[op.Results[0]] = e.vals[v]
		return nil
	case "scf.lookup":
		rows, w := op.Field("values"), len(op.Results)
		at := len(op.Attr("keys").Ints())
		for i, k := range op.Attr("keys").Ints() {
			if k == e.vals[op.Operands[0]].i {
				at = i
			}
		}
		e.results(op, e.get(rows[at*w:(at+1)*w]))
		return nil
	case "index.assume", "scalar.assume":
		e.results(op, e.get(op.Operands))
		for _, p := range op.Preds() {
			if !e.holds(p) {
				return diag.Errorf(op.NameSpan(), "LAUNCH/PREDICATE", "the launch configuration promises %s, got %s", p, e.say(p)).
					WithHelp("the kernel does not take this workload")
			}
		}
		return nil
	}
	if len(op.Results) == 0 {
		return nil
	}
	if len(op.Results) != 1 || len(op.Regions) > 0 {
		return unsupported(op)
	}
	n, err := e.arith(op)
	if err != nil {
		return err
	}
	e.vals[op.Results[0]] = n
	return nil
}

func unsupported(op *loom.Op) error {
	return diag.Errorf(op.NameSpan(), "LAUNCH/OP", "'%s' cannot be evaluated in a launch configuration", op.Def.Name).
		WithHelp("launch configurations compute with index, scalar and scf operations")
}

// say lists the values a predicate was tested with.
func (e *evaluator) say(p loom.Predicate) string {
	var parts []string
	for _, a := range p.Args {
		if a.Val != nil {
			n := e.vals[a.Val]
			if a.Val.Type.Kind.IsFloat() {
				parts = append(parts, fmt.Sprintf("%%%s = %v", a.Val.Name, n.f))
			} else {
				parts = append(parts, fmt.Sprintf("%%%s = %d", a.Val.Name, n.i))
			}
		}
	}
	return strings.Join(parts, ", ")
}

func (e *evaluator) holds(p loom.Predicate) bool {
	ns := make([]number, 3)
	float := false
	for i, a := range p.Args {
		if i >= len(ns) {
			return false
		}
		switch {
		case a.Val != nil:
			ns[i] = e.vals[a.Val]
			float = float || a.Val.Type.Kind.IsFloat()
		case a.IsFloat:
			ns[i], float = number{f: a.Float}, true
		default:
			ns[i] = number{i: a.Int, f: float64(a.Int)}
		}
	}
	if float {
		return p.Kind.HoldsFloat(ns[0].f, ns[1].f, ns[2].f)
	}
	return p.Kind.HoldsInt(ns[0].i, ns[1].i, ns[2].i, 64)
}

// arith evaluates an operation with one result and no region.
func (e *evaluator) arith(op *loom.Op) (number, error) {
	name := op.Def.Name
	k := op.Results[0].Type.Kind
	if !k.IsScalar() {
		return number{}, unsupported(op)
	}
	dot := strings.IndexByte(name, '.')
	switch name[:dot] {
	case "index", "scalar":
	default:
		return number{}, unsupported(op)
	}
	short := name[dot+1:]
	if short == "constant" {
		a := op.Attr("value")
		if k.IsFloat() {
			return number{f: a.Float()}, nil
		}
		return number{i: facts.Wrap(k, a.Int)}, nil
	}
	n := e.get(op.Operands)
	if len(n) == 0 {
		return number{}, unsupported(op)
	}
	src := op.Operands[0].Type.Kind
	if src.IsFloat() || k.IsFloat() {
		return floatOp(op, short, src, k, n)
	}
	v, err := intOp(op, short, src, k, n)
	return number{i: facts.Wrap(k, v)}, err
}

func intOp(op *loom.Op, short string, src, k loom.Kind, n []number) (int64, error) {
	w := k.Bits()
	at := func(i int) int64 {
		if i < len(n) {
			return n[i].i
		}
		return 0
	}
	a, b, c := at(0), at(1), at(2)
	mask := uint64(math.MaxUint64) >> (64 - w)
	ua, ub := uint64(a)&mask, uint64(b)&mask
	undefined := func(why string) (int64, error) {
		return 0, diag.Errorf(op.NameSpan(), "LAUNCH/UNDEFINED", "%s in the launch configuration: %s of %d and %d", why, op.Def.Name, a, b)
	}
	switch short {
	case "add", "addi":
		return a + b, nil
	case "sub", "subi":
		if k == loom.Offset && b > a {
			return undefined("negative offset")
		}
		return a - b, nil
	case "mul", "muli", "scale":
		return a * b, nil
	case "madd", "fmai":
		return a*b + c, nil
	case "div", "rem":
		if b <= 0 || a < 0 {
			return undefined("division outside its domain")
		}
		if short == "div" {
			return a / b, nil
		}
		return a % b, nil
	case "divsi", "remsi", "ceildivsi", "floordivsi":
		if b == 0 {
			return undefined("division by zero")
		}
		if b == -1 {
			if short == "remsi" {
				return 0, nil
			}
			return -a, nil
		}
		q, r := a/b, a%b
		switch short {
		case "remsi":
			return r, nil
		case "ceildivsi":
			if r != 0 && (r > 0) == (b > 0) {
				q++
			}
		case "floordivsi":
			if r != 0 && (r > 0) != (b > 0) {
				q--
			}
		}
		return q, nil
	case "divui", "remui", "ceildivui":
		if ub == 0 {
			return undefined("division by zero")
		}
		switch short {
		case "remui":
			return int64(ua % ub), nil
		case "ceildivui":
			q := ua / ub
			if ua%ub != 0 {
				q++
			}
			return int64(q), nil
		}
		return int64(ua / ub), nil
	case "min", "minsi":
		return min(a, b), nil
	case "max", "maxsi":
		return max(a, b), nil
	case "minui":
		return int64(min(ua, ub)), nil
	case "maxui":
		return int64(max(ua, ub)), nil
	case "andi":
		return a & b, nil
	case "ori":
		return a | b, nil
	case "xori":
		return a ^ b, nil
	case "shli", "shrui", "shrsi":
		if b < 0 || b >= int64(w) {
			return undefined("shift amount outside the width")
		}
		switch short {
		case "shli":
			return a << b, nil
		case "shrui":
			return int64(ua >> b), nil
		}
		return a >> b, nil
	case "rotli", "rotri":
		s := int(ub % uint64(w))
		if short == "rotri" {
			s = (w - s) % w
		}
		if s == 0 {
			return a, nil
		}
		return int64((ua<<s | ua>>(w-s)) & mask), nil
	case "absi":
		return max(a, -a), nil
	case "negi":
		return -a, nil
	case "signi":
		switch {
		case a > 0:
			return 1, nil
		case a < 0:
			return -1, nil
		}
		return 0, nil
	case "ctlzi":
		return int64(bits.LeadingZeros64(ua) - (64 - w)), nil
	case "cttzi":
		return int64(min(bits.TrailingZeros64(ua), w)), nil
	case "ctpopi":
		return int64(bits.OnesCount64(ua)), nil
	case "cmp", "cmpi":
		sw := src.Bits()
		m := uint64(math.MaxUint64) >> (64 - sw)
		return truth(compare(op.Word("predicate"), a, b, uint64(a)&m, uint64(b)&m)), nil
	case "cast":
		if k == loom.Offset && src.IsInt() {
			return int64(uint64(a) & (uint64(math.MaxUint64) >> (64 - src.Bits()))), nil
		}
		if k == loom.Offset && a < 0 {
			return undefined("negative offset")
		}
		return a, nil
	case "extsi":
		if src == loom.I1 {
			return -a, nil
		}
		return a, nil
	case "extui":
		return int64(uint64(a) & (uint64(math.MaxUint64) >> (64 - src.Bits()))), nil
	case "trunci", "bitcast":
		return a, nil
	case "bitfield.extractu", "bitfield.extracts":
		o, width := op.Attr("offset").Int, op.Attr("width").Int
		if o < 0 || width < 1 || o+width > int64(src.Bits()) {
			return undefined("bit field outside the value")
		}
		f := uint64(a) >> o & (math.MaxUint64 >> (64 - width))
		if short == "bitfield.extracts" && f>>(width-1) != 0 {
			return int64(f | math.MaxUint64<<(width-1)), nil
		}
		return int64(f), nil
	}
	return 0, unsupported(op)
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func compare(p string, a, b int64, ua, ub uint64) bool {
	switch p {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "slt":
		return a < b
	case "sle":
		return a <= b
	case "sgt":
		return a > b
	case "sge":
		return a >= b
	case "ult":
		return ua < ub
	case "ule":
		return ua <= ub
	case "ugt":
		return ua > ub
	case "uge":
		return ua >= ub
	}
	return false
}

// floatOp evaluates float arithmetic in f32 and f64; launch configurations use
// it for ratios at most.
func floatOp(op *loom.Op, short string, src, k loom.Kind, n []number) (number, error) {
	at := func(i int) float64 {
		if i < len(n) {
			return n[i].f
		}
		return 0
	}
	a, b := at(0), at(1)
	var r float64
	switch short {
	case "addf":
		r = a + b
	case "subf":
		r = a - b
	case "mulf":
		r = a * b
	case "divf":
		r = a / b
	case "negf":
		r = -a
	case "absf":
		r = math.Abs(a)
	case "floorf":
		r = math.Floor(a)
	case "ceilf":
		r = math.Ceil(a)
	case "truncf":
		r = math.Trunc(a)
	case "roundf":
		r = math.Round(a)
	case "roundevenf":
		r = math.RoundToEven(a)
	case "sqrtf":
		r = math.Sqrt(a)
	case "minnumf":
		r = fmin(a, b)
	case "maxnumf":
		r = -fmin(-a, -b)
	case "extf", "fptrunc":
		r = a
	case "sitofp":
		r = float64(n[0].i)
	case "uitofp":
		r = float64(uint64(n[0].i) & (math.MaxUint64 >> (64 - src.Bits())))
	case "fptosi", "fptoui":
		t := math.Trunc(a)
		if math.IsNaN(t) || t < -(1<<63) || t >= 1<<63 || short == "fptoui" && t < 0 {
			return number{}, diag.Errorf(op.NameSpan(), "LAUNCH/UNDEFINED", "%v is not representable as %s in the launch configuration", a, k)
		}
		return number{i: facts.Wrap(k, int64(t))}, nil
	case "cmpf":
		return number{i: truth(compareFloat(op.Word("predicate"), a, b))}, nil
	default:
		return number{}, unsupported(op)
	}
	switch k {
	case loom.F64:
	case loom.F32:
		r = float64(float32(r))
	default:
		return number{}, unsupported(op)
	}
	return number{f: r}, nil
}

func fmin(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return math.Min(a, b)
}

func compareFloat(p string, a, b float64) bool {
	unordered := math.IsNaN(a) || math.IsNaN(b)
	switch {
	case p == "ord" || p == "uno":
		return unordered == (p == "uno")
	case len(p) < 3:
		return false
	case unordered:
		return p[0] == 'u'
	}
	switch p[1:] {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "gt":
		return a > b
	case "ge":
		return a >= b
	case "lt":
		return a < b
	}
	return a <= b
}
