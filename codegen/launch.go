package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

// LaunchFunction writes the launch-config region of k as a C++ function
//
//	static bool NAME(const std::map<std::string, int64_t> &parameters, HipLaunchGeometry &geometry)
//
// that fills geometry.workgroup_count[3] and geometry.workgroup_size[3]. It
// returns false when a workload parameter is missing, a promise of the region or
// of the kernel's where clause does not hold, or the result is not a launch. The
// text needs <cstdint>, <map> and <string>.
func LaunchFunction(k *kernel.Kernel, name string) (string, diag.List) {
	l := &launchWriter{k: k, names: newNames(64), vals: map[*loom.Value]string{}}
	for _, w := range []string{"parameters", "geometry", "find", "name", "value"} {
		l.names.used[w] = taken{next: 1}
	}
	fmt.Fprintf(&l.b, "static bool %s(const std::map<std::string, int64_t> &parameters, HipLaunchGeometry &geometry) {\n", name)
	if len(k.Def.Workload) > 0 {
		l.b.WriteString("  const auto find = [&parameters](const char *name, int64_t &value) {\n" +
			"    const auto at = parameters.find(name);\n    if (at == parameters.end()) return false;\n    value = at->second;\n    return true;\n  };\n")
	} else {
		l.b.WriteString("  (void)parameters;\n")
	}
	for _, v := range k.Def.Workload {
		n := l.names.pick(v.Name)
		fmt.Fprintf(&l.b, "  int64_t %s = 0;\n  if (!find(%q, %s)) return false;\n", n, v.Name, n)
		l.vals[v] = n
	}
	for _, p := range k.Def.Where {
		if l.known(p) {
			l.require(p, 1)
		}
	}
	b := k.Def.Config.Entry()
	if b == nil {
		l.diags.Add(diag.Errorf(k.Def.NameSpan, "LAUNCH/CONFIG", "kernel '@%s' has no launch configuration", k.Symbol))
		return "", l.diags
	}
	t := l.block(b, 1)
	if t != nil && t.Def.Name == "kernel.launch.config" && !l.diags.HasErrors() {
		checked := map[string]bool{}
		for i, axis := range [3]string{"x", "y", "z"} {
			c, s := l.ref(t.Operand("workgroup_count_"+axis)), l.ref(t.Operand("workgroup_size_"+axis))
			for _, x := range []string{c, s} {
				if !checked[x] {
					checked[x] = true
					fmt.Fprintf(&l.b, "  if (%s < 1 || %s > INT64_C(4294967295)) return false;\n", x, x)
				}
			}
			fmt.Fprintf(&l.b, "  geometry.workgroup_count[%d] = static_cast<uint32_t>(%s);\n  geometry.workgroup_size[%d] = static_cast<uint32_t>(%s);\n", i, c, i, s)
		}
	}
	l.b.WriteString("  return true;\n}\n")
	if l.diags.HasErrors() {
		return "", l.diags.Sorted()
	}
	return l.b.String(), nil
}

// launchWriter writes host code: every value is an int64_t.
type launchWriter struct {
	k     *kernel.Kernel
	b     strings.Builder
	names *names
	vals  map[*loom.Value]string
	diags diag.List
}

func (l *launchWriter) ref(v *loom.Value) string {
	if s, ok := l.vals[v]; ok {
		return s
	}
	return "0"
}

func (l *launchWriter) known(p loom.Predicate) bool {
	for _, a := range p.Args {
		if a.IsFloat {
			return false
		}
		if a.Val != nil {
			if _, ok := l.vals[a.Val]; !ok {
				return false
			}
		}
	}
	return len(p.Args) > 0
}

// require leaves the function when a predicate does not hold.
func (l *launchWriter) require(p loom.Predicate, depth int) {
	a := make([]string, len(p.Args))
	for i, x := range p.Args {
		if x.Val != nil {
			a[i] = l.ref(x.Val)
		} else {
			a[i] = fmt.Sprintf("INT64_C(%d)", x.Int)
		}
	}
	u := func(i int) string { return "static_cast<uint64_t>(" + a[i] + ")" }
	var cond string
	switch p.Kind {
	case loom.PredEq:
		cond = a[0] + " == " + a[1]
	case loom.PredNe:
		cond = a[0] + " != " + a[1]
	case loom.PredLt:
		cond = a[0] + " < " + a[1]
	case loom.PredLe, loom.PredMax:
		cond = a[0] + " <= " + a[1]
	case loom.PredGt:
		cond = a[0] + " > " + a[1]
	case loom.PredGe, loom.PredMin:
		cond = a[0] + " >= " + a[1]
	case loom.PredMultipleOf:
		cond = a[1] + " != 0 && " + a[0] + " % " + a[1] + " == 0"
	case loom.PredPow2:
		cond = fmt.Sprintf("%s > 0 && (%s & (%s - 1)) == 0", a[0], a[0], a[0])
	case loom.PredRange:
		cond = a[1] + " <= " + a[0] + " && " + a[0] + " <= " + a[2]
	case loom.PredULt:
		cond = u(0) + " < " + u(1)
	case loom.PredULe:
		cond = u(0) + " <= " + u(1)
	case loom.PredUGt:
		cond = u(0) + " > " + u(1)
	case loom.PredUGe:
		cond = u(0) + " >= " + u(1)
	default:
		return
	}
	fmt.Fprintf(&l.b, "%sif (!(%s)) return false; // %s\n", strings.Repeat("  ", depth), cond, p)
}

// block writes the ops of a block and returns its terminator.
func (l *launchWriter) block(b *loom.Block, depth int) *loom.Op {
	for _, op := range b.Ops {
		if op.Def.Traits&loom.Terminator != 0 {
			return op
		}
		l.op(op, depth)
	}
	return nil
}

func (l *launchWriter) let(v *loom.Value, depth int, expr string) {
	n := l.names.pick(v.Name)
	fmt.Fprintf(&l.b, "%sconst int64_t %s = %s;\n", strings.Repeat("  ", depth), n, expr)
	l.vals[v] = n
}

// wrapTo narrows an int64_t to the width of k, sign-extended.
func wrapTo(k loom.Kind, s string) string {
	switch k {
	case loom.I1:
		return "(" + s + ") & 1"
	case loom.I8, loom.I16, loom.I32:
		return fmt.Sprintf("static_cast<int%d_t>(%s)", k.Bits(), s)
	}
	return s
}

func (l *launchWriter) op(op *loom.Op, depth int) {
	dialect, name, _ := strings.Cut(op.Def.Name, ".")
	r := op.Result()
	arg := func(i int) string { return l.ref(op.Operands[i]) }
	switch op.Def.Name {
	case "index.constant", "scalar.constant":
		a := op.Attr("value")
		if r.Type.Kind.IsFloat() {
			l.refuse(op)
			return
		}
		l.let(r, depth, fmt.Sprintf("INT64_C(%d)", a.Int))
		return
	case "index.assume", "scalar.assume":
		for i, v := range op.Results {
			l.vals[v] = arg(i)
		}
		for _, p := range op.Preds() {
			if l.known(p) {
				l.require(p, depth)
			}
		}
		return
	case "index.cast", "scalar.extsi", "scalar.trunci":
		from := op.Operands[0].Type.Kind
		s := arg(0)
		if from == loom.I1 && op.Def.Name == "scalar.extsi" {
			s = "-" + s
		}
		if r.Type.Kind == loom.Offset && from.IsInt() && from.Bits() < 64 && from != loom.I1 {
			s = fmt.Sprintf("static_cast<uint%d_t>(%s)", from.Bits(), s)
		}
		l.let(r, depth, wrapTo(r.Type.Kind, s))
		return
	case "scalar.extui":
		from := op.Operands[0].Type.Kind
		s := arg(0)
		if from != loom.I1 && from.Bits() < 64 {
			s = fmt.Sprintf("static_cast<uint%d_t>(%s)", from.Bits(), s)
		}
		l.let(r, depth, wrapTo(r.Type.Kind, s))
		return
	case "index.cmp", "scalar.cmpi":
		p := op.Word("predicate")
		a, b := arg(0), arg(1)
		if p[0] == 'u' {
			a, b = "static_cast<uint64_t>("+a+")", "static_cast<uint64_t>("+b+")"
		}
		l.let(r, depth, a+" "+intPreds[p]+" "+b)
		return
	case "scf.select":
		if r.Type.Kind.IsIndexLike() || r.Type.Kind.IsInt() {
			l.let(r, depth, arg(0)+" ? "+arg(1)+" : "+arg(2))
			return
		}
	case "scf.if":
		l.branch(op, depth)
		return
	case "index.madd":
		l.let(r, depth, arg(0)+" * "+arg(1)+" + "+arg(2))
		return
	case "target.subgroup.size":
		w := int64(32)
		if l.k.Target != nil {
			w = int64(l.k.Target.WaveSize)
		}
		l.let(r, depth, fmt.Sprintf("INT64_C(%d)", w))
		return
	}
	if dialect == "index" || dialect == "scalar" && r != nil && r.Type.Kind.IsInt() {
		if s, ok := hostArith(strings.TrimSuffix(name, ""), op, arg); ok {
			if dialect == "index" {
				l.let(r, depth, s)
			} else {
				l.let(r, depth, wrapTo(r.Type.Kind, s))
			}
			return
		}
	}
	l.refuse(op)
}

// hostArith is the C++ of a two-operand integer op on int64_t.
func hostArith(name string, op *loom.Op, arg func(int) string) (string, bool) {
	if len(op.Operands) != 2 {
		return "", false
	}
	a, b := arg(0), arg(1)
	w := func(o string) string { // wraps without undefined behaviour
		return "static_cast<int64_t>(static_cast<uint64_t>(" + a + ") " + o + " static_cast<uint64_t>(" + b + "))"
	}
	switch name {
	case "add", "addi":
		return w("+"), true
	case "sub", "subi":
		return w("-"), true
	case "mul", "muli", "scale":
		return w("*"), true
	case "andi":
		return a + " & " + b, true
	case "ori":
		return a + " | " + b, true
	case "xori":
		return a + " ^ " + b, true
	case "div", "divsi":
		return b + " == 0 ? 0 : " + a + " / " + b, true
	case "rem", "remsi":
		return b + " == 0 ? 0 : " + a + " % " + b, true
	case "min", "minsi":
		return a + " < " + b + " ? " + a + " : " + b, true
	case "max", "maxsi":
		return a + " > " + b + " ? " + a + " : " + b, true
	case "shli":
		return "static_cast<int64_t>(static_cast<uint64_t>(" + a + ") << (" + b + " & 63))", true
	case "shrsi":
		return a + " >> (" + b + " & 63)", true
	case "ceildivsi":
		return fmt.Sprintf("%s == 0 ? 0 : %s / %s + (%s %% %s != 0 && (%s < 0) == (%s < 0))", b, a, b, a, b, a, b), true
	case "floordivsi":
		return fmt.Sprintf("%s == 0 ? 0 : %s / %s - (%s %% %s != 0 && (%s < 0) != (%s < 0))", b, a, b, a, b, a, b), true
	}
	k := op.Operands[0].Type.Kind
	if k == loom.Index || k == loom.I64 || k == loom.I32 {
		u := "uint64_t"
		if k == loom.I32 {
			u = "uint32_t"
		}
		ua, ub := "static_cast<"+u+">("+a+")", "static_cast<"+u+">("+b+")"
		switch name {
		case "shrui":
			return "static_cast<int64_t>(" + ua + " >> (" + b + " & 63))", true
		case "divui":
			return b + " == 0 ? 0 : static_cast<int64_t>(" + ua + " / " + ub + ")", true
		case "remui":
			return b + " == 0 ? 0 : static_cast<int64_t>(" + ua + " % " + ub + ")", true
		case "ceildivui":
			return fmt.Sprintf("%s == 0 ? 0 : static_cast<int64_t>(%s / %s + (%s %% %s != 0))", b, ua, ub, ua, ub), true
		case "minui":
			return ua + " < " + ub + " ? " + a + " : " + b, true
		case "maxui":
			return ua + " > " + ub + " ? " + a + " : " + b, true
		}
	}
	return "", false
}

func (l *launchWriter) branch(op *loom.Op, depth int) {
	pad := strings.Repeat("  ", depth)
	out := make([]string, len(op.Results))
	for i, r := range op.Results {
		out[i] = l.names.pick(r.Name)
		fmt.Fprintf(&l.b, "%sint64_t %s = 0;\n", pad, out[i])
		l.vals[r] = out[i]
	}
	for i, reg := range op.Regions {
		if i == 0 {
			fmt.Fprintf(&l.b, "%sif (%s) {\n", pad, l.ref(op.Operands[0]))
		} else {
			fmt.Fprintf(&l.b, "%s} else {\n", pad)
		}
		if y := l.block(reg.Entry(), depth+1); y != nil {
			for j, v := range y.Operands {
				if j < len(out) {
					fmt.Fprintf(&l.b, "%s  %s = %s;\n", pad, out[j], l.ref(v))
				}
			}
		}
	}
	l.b.WriteString(pad + "}\n")
}

func (l *launchWriter) refuse(op *loom.Op) {
	l.diags.Add(diag.Errorf(op.NameSpan(), CodeUnsupported, "op '%s' in the launch configuration of '@%s' has no C++ form", op.Def.Name, l.k.Symbol).
		WithHelp("compute the geometry with index and integer arithmetic, scf.if and scf.select"))
}
