package check

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/exec/npy"
	"github.com/loomc/loomc/loom/kernel"
)

// Options steer a run.
type Options struct {
	Device   Device    // nil runs on the CPU executor
	Registry *Registry // nil means DefaultRegistry
	// Dir is the directory below which npy paths are read and written; "" refuses
	// files. Paths must stay inside it.
	Dir string
	// Only restricts the samples; nil runs all.
	Only []Sample
	// MaxDiffs bounds the differing elements listed per comparison; 0 means 8.
	MaxDiffs int
	// Progress is called after every sample.
	Progress func(caseName string, s *SampleResult)
}

// Run executes every sample of a case. An error is the context's; everything
// else is in the result.
func Run(ctx context.Context, def *loom.Def, p Provider, o Options) (*CaseResult, error) {
	start := time.Now()
	if o.Device == nil {
		o.Device = &CPU{}
	}
	if o.Registry == nil {
		o.Registry = DefaultRegistry()
	}
	if o.MaxDiffs == 0 {
		o.MaxDiffs = 8
	}
	res := &CaseResult{Name: def.Name, Device: o.Device.Name()}
	if def.NameSpan.Valid() {
		res.File = def.NameSpan.Src.Name
		res.Line, _ = def.NameSpan.LineCol()
	}
	res.Problems = append(res.Problems, def.Load()...)
	ps, ds := Params(def)
	res.Problems = append(res.Problems, ds...)
	if def.Body == nil {
		res.Problems.Add(diag.Errorf(def.Span, "CHECK/CASE", "the case '@%s' has no body", def.Name))
	}
	if res.Problems.HasErrors() {
		return res, nil
	}
	samples := o.Only
	if samples == nil {
		samples = Samples(ps)
	}
	for _, s := range samples {
		if err := ctx.Err(); err != nil {
			return res, err
		}
		c := &caseRun{ctx: ctx, p: p, o: &o, vals: map[*loom.Value]Value{}}
		c.out.Params = s.values(ps)
		for i, prm := range ps {
			bits, err := encode(prm.Values[s[i]], prm.Value.Type.Kind)
			if err != nil {
				c.problem(diag.Errorf(prm.Place, "CHECK/PARAM", "parameter %q: %v", prm.Name, err))
			}
			c.vals[prm.Value] = Value{Kind: prm.Value.Type.Kind, Bits: bits}
		}
		t := time.Now()
		c.body(def.Body)
		c.finish()
		c.out.Time = time.Since(t)
		res.Samples = append(res.Samples, c.out)
		if o.Progress != nil {
			o.Progress(def.Name, &res.Samples[len(res.Samples)-1])
		}
	}
	res.Time = time.Since(start)
	return res, ctx.Err()
}

// caseRun is one sample being run.
type caseRun struct {
	ctx   context.Context
	p     Provider
	o     *Options
	vals  map[*loom.Value]Value
	out   SampleResult
	later []func() // on_failure writes
}

func (c *caseRun) problem(ds ...diag.Diagnostic) { c.out.Problems.Add(ds...) }

func (c *caseRun) finish() {
	switch {
	case c.out.Status == Skip:
	case c.out.Problems.HasErrors():
		c.out.Status = Error
		for _, d := range c.out.Problems {
			// What a sanitizer finds is a failure of the kernel, not of the run.
			if strings.HasPrefix(d.Code, "SANITIZE/") || strings.HasPrefix(d.Code, "EXEC/BOUNDS") || d.Code == "EXEC/ASSERT" {
				c.out.Status = Fail
			} else if d.Severity == diag.Error {
				c.out.Status = Error
				break
			}
		}
	case len(c.out.Mismatches) > 0:
		c.out.Status = Fail
	}
	if c.out.Status != Pass && c.out.Status != Skip {
		for _, f := range c.later {
			f()
		}
	}
}

func (c *caseRun) body(r *loom.Region) {
	for _, b := range r.Blocks {
		for _, op := range b.Ops {
			if c.out.Status == Skip || c.out.Problems.HasErrors() || c.ctx.Err() != nil {
				return
			}
			if err := c.op(op); err != nil {
				if d, ok := err.(diag.Diagnostic); ok {
					c.problem(d)
				} else if l, ok := err.(diag.List); ok {
					c.problem(l...)
				} else if c.ctx.Err() == nil {
					c.problem(diag.Errorf(op.Span, "CHECK/OP", "%s: %v", op.Name(), err))
				}
			}
		}
	}
}

func (c *caseRun) get(v *loom.Value) (Value, error) {
	x, ok := c.vals[v]
	if !ok {
		return x, fmt.Errorf("%%%s has no value here", v.Name)
	}
	return x, nil
}

// dims evaluates the extents of a type.
func (c *caseRun) dims(t *loom.Type) ([]int64, error) {
	out := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		out[i] = d.Size
		if d.Val != nil {
			v, err := c.get(d.Val)
			if err != nil {
				return nil, err
			}
			out[i] = int64(v.Bits)
		}
	}
	return out, nil
}

func (c *caseRun) tensor(t *loom.Type) (*Tensor, error) {
	if t.Kind != loom.Tensor {
		return nil, fmt.Errorf("%s is not a tensor type", t)
	}
	d, err := c.dims(t)
	if err != nil {
		return nil, err
	}
	return NewTensor(t.Elem, d)
}

// generate makes the result of a generator: a tensor, or one element for a
// scalar type.
func (c *caseRun) generate(op *loom.Op, f func(t *Tensor) error) error {
	r := op.Result()
	if r.Type.Kind != loom.Tensor {
		v := Value{Kind: r.Type.Kind}
		t := v.asTensor()
		if err := f(t); err != nil {
			return err
		}
		v.Bits = t.Bits(0)
		c.vals[r] = v
		return nil
	}
	t, err := c.tensor(r.Type)
	if err != nil {
		return err
	}
	c.vals[r] = Value{Tensor: t}
	return f(t)
}

func attrsOf(op *loom.Op, skip ...string) map[string]loom.Attr {
	m := map[string]loom.Attr{}
	for _, a := range op.Attrs {
		if slices.Contains(skip, a.Name) {
			continue
		}
		if a.Value.Kind == loom.AttrDict && (a.Name == "attrs" || a.Name == "requirements") {
			for _, e := range a.Value.Dict() {
				m[e.Name] = e.Value
			}
			continue
		}
		m[a.Name] = a.Value
	}
	return m
}

func (c *caseRun) op(op *loom.Op) error {
	switch op.Name() {
	case "check.return", "test.use", "check.param.choice", "check.param.range", "check.param.seed":
		return nil
	case "check.literal":
		r := op.Result()
		bits, err := encode(op.Attr("value"), r.Type.Kind)
		c.vals[r] = Value{Kind: r.Type.Kind, Bits: bits}
		return err
	case "check.generate.fill":
		return c.generate(op, func(t *Tensor) error { return fill(t, op.Attr("value")) })
	case "check.generate.iota":
		return c.generate(op, func(t *Tensor) error {
			p := op.Attr("period")
			if p.Kind != loom.AttrNone && p.Int < 1 {
				return fmt.Errorf("the period %d is not positive", p.Int)
			}
			return ramp(t, op.Attr("offset"), op.Attr("step"), p.Int)
		})
	case "check.generate.random.uniform":
		seed, err := c.get(op.Operand("seed"))
		if err != nil {
			return err
		}
		return c.generate(op, func(t *Tensor) error { return uniform(t, seed.Bits, op.Attr("lower"), op.Attr("upper")) })
	case "check.tensor.view":
		return c.window(op)
	case "check.file.read.npy":
		return c.readFile(op)
	case "check.file.write.npy":
		return c.writeFile(op)
	case "check.requires", "check.skip_if":
		return c.requirement(op)
	case "check.oracle.call":
		return c.oracle(op)
	case "check.expect.equal", "check.expect.bitwise", "check.expect.close", "check.expect":
		return c.expect(op)
	case "check.expect.shape":
		return c.expectShape(op)
	case "check.expect.event":
		return c.expectEvent(op)
	case "kernel.launch":
		w := op.Field("workload")
		work := make([]int64, len(w))
		for i, v := range w {
			x, err := c.get(v)
			if err != nil {
				return err
			}
			work[i] = int64(x.Bits)
		}
		return c.launch(op, op.Attr("callee").Str, work, true, op.Field("operands"))
	case "func.call":
		return c.call(op)
	}
	return c.compute(op)
}

func (c *caseRun) window(op *loom.Op) error {
	src, err := c.get(op.Operand("source"))
	if err != nil {
		return err
	}
	if src.Tensor == nil {
		return fmt.Errorf("the source is not a tensor")
	}
	var off []int64
	for _, it := range op.Indices("offsets") {
		v := it.Int
		if it.Val != nil {
			x, err := c.get(it.Val)
			if err != nil {
				return err
			}
			v = int64(x.Bits)
		}
		off = append(off, v)
	}
	d, err := c.dims(op.Result().Type)
	if err != nil {
		return err
	}
	t, err := src.Tensor.Window(off, d)
	c.vals[op.Result()] = Value{Tensor: t}
	return err
}

// Files.

func (c *caseRun) file(p string) (string, error) {
	if c.o.Dir == "" {
		return "", fmt.Errorf("no directory for files was given to this run")
	}
	if !fs.ValidPath(path.Clean(p)) || !filepath.IsLocal(filepath.FromSlash(p)) {
		return "", fmt.Errorf("the path %q leaves the directory of the test files", p)
	}
	return filepath.FromSlash(p), nil
}

func descr(k loom.Kind) string {
	switch k {
	case loom.I1:
		return "|b1"
	case loom.I8:
		return "|i1"
	case loom.I16:
		return "<i2"
	case loom.I32:
		return "<i4"
	case loom.I64, loom.Index, loom.Offset:
		return "<i8"
	case loom.F16:
		return "<f2"
	case loom.F32:
		return "<f4"
	case loom.F64:
		return "<f8"
	case loom.BF16:
		return "<V2"
	}
	return "|V1"
}

func (c *caseRun) readFile(op *loom.Op) error {
	name, err := c.file(op.Attr("path").Str)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(c.o.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	b, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	a, err := npy.Decode(b)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t, err := c.tensor(op.Result().Type)
	if err != nil {
		return err
	}
	want := descr(t.Elem)
	same := a.Descr == want || len(a.Descr) == 3 && len(want) == 3 && a.Descr[2] == want[2] &&
		(strings.ContainsAny(a.Descr[1:2], "iu") && strings.ContainsAny(want[1:2], "iu") || a.Descr[1] == 'V' || want[1] == 'V' && a.Descr[1] == 'u')
	if !same || !slices.Equal(a.Shape, t.Dims) {
		return fmt.Errorf("%s holds %s of shape %v, the case reads %s", name, a.Descr, a.Shape, t.Type())
	}
	copy(t.Data, a.Data)
	c.vals[op.Result()] = Value{Tensor: t}
	return nil
}

func (c *caseRun) writeFile(op *loom.Op) error {
	name, err := c.file(op.Attr("path").Str)
	if err != nil {
		return err
	}
	v, err := c.get(op.Operand("value"))
	if err != nil {
		return err
	}
	src := v.asTensor()
	a := &npy.Array{Descr: descr(src.Elem), Shape: slices.Clone(src.Dims)}
	size := src.Elem.Bytes()
	a.Data = make([]byte, src.Len()*int64(size))
	for i := range src.Len() {
		copy(a.Data[i*int64(size):(i+1)*int64(size)], src.Data[src.offset(i):])
	}
	write := func() error {
		root, err := os.OpenRoot(c.o.Dir)
		if err != nil {
			return err
		}
		defer root.Close()
		if d := filepath.Dir(name); d != "." {
			if err := root.MkdirAll(d, 0o755); err != nil {
				return err
			}
		}
		tmp := name + ".tmp"
		if err := root.WriteFile(tmp, npy.Encode(a), 0o644); err != nil {
			return err
		}
		return root.Rename(tmp, name)
	}
	if op.Word("mode") == "on_failure" {
		c.later = append(c.later, func() {
			if err := write(); err != nil {
				c.problem(diag.Errorf(op.Span, "CHECK/FILE", "%v", err))
			}
		})
		return nil
	}
	return write()
}

// Providers.

func (c *caseRun) requirement(op *loom.Op) error {
	key := op.Word("provider")
	skipIf := op.Name() == "check.skip_if"
	skip := func(why string) {
		if r := op.Attr("reason").Str; r != "" {
			why += ": " + r
		}
		c.out.Status = Skip
		c.out.SkipReason = fmt.Sprintf("%s<%s>: %s", op.Name(), key, why)
	}
	f := c.o.Registry.Requirements[key]
	if f == nil {
		skip("no such provider")
		return nil
	}
	holds, reason, err := f(attrsOf(op, "provider", "reason"))
	if err != nil {
		return err
	}
	if holds == skipIf {
		if reason == "" {
			reason = "the requirement is not met"
			if skipIf {
				reason = "the condition holds"
			}
		}
		skip(reason)
	}
	return nil
}

func (c *caseRun) oracle(op *loom.Op) error {
	key := op.Word("provider")
	f := c.o.Registry.Oracles[key]
	if f == nil {
		return diag.Errorf(op.Span, "CHECK/ORACLE", "no oracle %q is registered", key).
			WithHelp("registered oracles: %s", names(c.o.Registry.Oracles))
	}
	call := OracleCall{Callee: op.Attr("callee").Str, Attrs: attrsOf(op, "provider", "callee")}
	for _, v := range op.Field("inputs") {
		x, err := c.get(v)
		if err != nil {
			return err
		}
		call.Inputs = append(call.Inputs, x)
	}
	for _, r := range op.Results {
		t, err := c.tensor(r.Type)
		if err != nil {
			return err
		}
		call.Results = append(call.Results, t)
		c.vals[r] = Value{Tensor: t}
	}
	if err := f(call); err != nil {
		return diag.Errorf(op.Span, "CHECK/ORACLE", "oracle %s: %v", key, err)
	}
	return nil
}

func names[T any](m map[string]T) string {
	if len(m) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// Comparisons.

func (c *caseRun) expect(op *loom.Op) error {
	a, err := c.get(op.Operand("actual"))
	if err != nil {
		return err
	}
	e, err := c.get(op.Operand("expected"))
	if err != nil {
		return err
	}
	at := a.asTensor()
	var m Mismatch
	text := ""
	switch op.Name() {
	case "check.expect":
		key := op.Word("provider")
		f := c.o.Registry.Comparisons[key]
		if f == nil {
			return diag.Errorf(op.Span, "CHECK/EXPECT", "no comparison %q is registered", key).
				WithHelp("registered comparisons: %s", names(c.o.Registry.Comparisons))
		}
		msg, err := f(a, e, attrsOf(op, "provider"))
		if err != nil || msg == "" {
			return err
		}
		m, text = Mismatch{Message: msg}, key
	case "check.expect.bitwise":
		text = "equal bits"
		m, err = compare(at, e.asTensor(), func(x, y uint64) bool { return x == y }, c.o.MaxDiffs)
	case "check.expect.close":
		atol, rtol := number(op.Attr("atol")), number(op.Attr("rtol"))
		same := op.Word("nan") != "different"
		text = fmt.Sprintf("|actual - expected| <= %v + %v*|expected|", atol, rtol)
		if !same {
			text += ", no NaN"
		}
		m, err = compare(at, e.asTensor(), closeRule(at.Elem, atol, rtol, same), c.o.MaxDiffs)
	default:
		text = "equal values"
		m, err = compare(at, e.asTensor(), equalRule(at.Elem), c.o.MaxDiffs)
	}
	if err != nil {
		return err
	}
	if m.Wrong == 0 && m.Message == "" {
		return nil
	}
	m.Rule = text
	c.record(op, m, "%"+op.Operand("actual").Name+" : "+at.Type())
	return nil
}

func (c *caseRun) record(op *loom.Op, m Mismatch, actual string) {
	m.Place, m.Op, m.Where, m.Actual = op.Span, op.Name(), op.Span.String(), actual
	c.out.Mismatches = append(c.out.Mismatches, m)
}

func (c *caseRun) expectShape(op *loom.Op) error {
	v, err := c.get(op.Operand("value"))
	if err != nil {
		return err
	}
	var want []int64
	for _, a := range op.Attr("shape").List() {
		d := a.Int
		if val, ok := a.Aux.(*loom.Value); ok {
			x, err := c.get(val)
			if err != nil {
				return err
			}
			d = int64(x.Bits)
		}
		want = append(want, d)
	}
	want = append(want, op.Attr("shape").Ints()...)
	if t := v.asTensor(); !slices.Equal(t.Dims, want) && len(t.Dims)+len(want) > 0 {
		c.record(op, Mismatch{Rule: fmt.Sprintf("shape %v", want), Message: fmt.Sprintf("the shape is %v, expected %v", t.Dims, want)}, t.Type())
	}
	return nil
}

func (c *caseRun) expectEvent(op *loom.Op) error {
	key := op.Word("provider")
	f := c.o.Registry.Events[key]
	if f == nil {
		return diag.Errorf(op.Span, "CHECK/EXPECT", "no event %q is registered", key).
			WithHelp("registered events: %s", names(c.o.Registry.Events))
	}
	attrs := attrsOf(op, "provider", "parameter_names")
	for i, v := range op.Field("parameters") {
		if names := op.Attr("parameter_names").List(); i < len(names) {
			x, err := c.get(v)
			if err != nil {
				return err
			}
			attrs[names[i].Str] = loom.IntAttr(int64(x.Bits))
		}
	}
	msg, err := f(attrs, c.out.Launches)
	if err == nil && msg != "" {
		c.record(op, Mismatch{Rule: "event " + key, Message: msg}, key)
	}
	return err
}

// Launches and calls.

func (c *caseRun) launch(op *loom.Op, symbol string, work []int64, hasWork bool, operands []*loom.Value) error {
	k, ds := c.p.Kernel(symbol)
	if k == nil {
		return atCall(op, ds, symbol)
	}
	if !hasWork {
		// The older spelling gives launch arguments only; workload parameters take
		// the launch arguments of the same name.
		var err error
		if work, err = c.inferWorkload(k, operands); err != nil {
			return err
		}
	}
	if len(operands) != len(k.Def.Params) {
		return diag.Errorf(op.Span, "CHECK/LAUNCH", "@%s takes %d launch arguments, got %d", symbol, len(k.Def.Params), len(operands)).
			WithRelated(k.Def.NameSpan, "the kernel is defined here")
	}
	args := make([]exec.Arg, len(operands))
	for i, v := range operands {
		x, err := c.get(v)
		if err != nil {
			return err
		}
		isBuf := k.Def.Params[i].Type.Kind == loom.Buffer
		if isBuf != (x.Tensor != nil) {
			return diag.Errorf(op.Span, "CHECK/LAUNCH", "launch argument %d of @%s, %%%s, is %s but %s is given", i, symbol, k.Def.Params[i].Name, k.Def.Params[i].Type, v.Type).
				WithRelated(k.Def.NameSpan, "the kernel is defined here")
		}
		if !isBuf {
			args[i] = exec.Arg{Bits: x.Bits}
			continue
		}
		if !x.Tensor.Dense() {
			return fmt.Errorf("%%%s is a window with gaps, which a kernel cannot take", v.Name)
		}
		args[i] = exec.BufferArg(x.Tensor.Bytes())
		args[i].Offset = x.Tensor.Offset
	}
	g, err := kernel.EvalLaunch(k, work)
	if err != nil {
		if d, ok := err.(diag.Diagnostic); ok {
			return d.WithRelated(op.Span, "launched here")
		}
		return err
	}
	start := time.Now()
	rep, err := c.o.Device.Launch(c.ctx, k, g, args)
	rec := LaunchRecord{Kernel: symbol, Workgroups: g.Count[0] * g.Count[1] * g.Count[2], Items: g.Size[0] * g.Size[1] * g.Size[2], Time: time.Since(start)}
	if rep != nil {
		rec.Counts = rep.Counts
		for _, d := range rep.Findings {
			c.problem(d.WithRelated(op.Span, "launched here"))
		}
	}
	c.out.Launches = append(c.out.Launches, rec)
	if d, ok := err.(diag.Diagnostic); ok {
		return d.WithRelated(op.Span, "launched here")
	}
	return err
}

func (c *caseRun) inferWorkload(k *kernel.Kernel, operands []*loom.Value) ([]int64, error) {
	work := make([]int64, len(k.Def.Workload))
next:
	for i, w := range k.Def.Workload {
		for j, p := range k.Def.Params {
			if p.Name == w.Name && j < len(operands) {
				x, err := c.get(operands[j])
				if err != nil {
					return nil, err
				}
				work[i] = int64(x.Bits)
				continue next
			}
		}
		return nil, fmt.Errorf("the workload parameter %%%s of @%s has no launch argument of that name; write kernel.launch @%s[…](…)", w.Name, k.Symbol, k.Symbol)
	}
	return work, nil
}

func atCall(op *loom.Op, ds diag.List, symbol string) error {
	if len(ds) == 0 {
		ds = diag.List{diag.Errorf(op.Span, "SYMBOL/002", "'@%s' was not found", symbol)}
	}
	out := make(diag.List, len(ds))
	for i, d := range ds {
		out[i] = d.WithRelated(op.Span, "needed here")
	}
	return out
}

// call is func.call: of an ordinary function, or of a kernel in the older
// spelling of a launch.
func (c *caseRun) call(op *loom.Op) error {
	name := op.Attr("callee").Str
	if fp, ok := c.p.(FuncProvider); ok {
		d, ds := fp.Func(name)
		if ds.HasErrors() {
			return atCall(op, ds, name)
		}
		if d != nil {
			return c.callFunc(op, d)
		}
	}
	if len(op.Results) > 0 {
		return diag.Errorf(op.Span, "CHECK/CALL", "the call of @%s returns values, and there is no function of that name", name).
			WithHelp("a kernel returns nothing: it writes to the tensors it is given")
	}
	return c.launch(op, name, nil, false, op.Field("operands"))
}

func (c *caseRun) callFunc(op *loom.Op, d *loom.Def) error {
	operands := op.Field("operands")
	if len(operands) != len(d.Params) {
		return diag.Errorf(op.Span, "CHECK/CALL", "@%s takes %d arguments, got %d", op.Attr("callee").Str, len(d.Params), len(operands)).
			WithRelated(d.NameSpan, "the function is defined here")
	}
	for i, p := range d.Params {
		if v := operands[i]; !p.Type.Kind.IsScalar() || p.Type.Kind != v.Type.Kind {
			return diag.Errorf(op.Span, "CHECK/CALL", "argument %d of @%s, %%%s, is %s but %s is given", i, op.Attr("callee").Str, p.Name, p.Type, v.Type).
				WithRelated(d.NameSpan, "the function is defined here").
				WithHelp("a test case calls functions of scalars; give tensors to a kernel")
		}
	}
	p, ds := exec.CompileFunc(d)
	if p == nil {
		return atCall(op, ds, op.Attr("callee").Str)
	}
	return c.apply(op, p, operands)
}

func (c *caseRun) apply(op *loom.Op, p *exec.Program, operands []*loom.Value) error {
	args := make([]uint64, len(operands))
	for i, v := range operands {
		x, err := c.get(v)
		if err != nil {
			return err
		}
		if x.Tensor != nil {
			return fmt.Errorf("%%%s is a tensor; host functions take scalars", v.Name)
		}
		args[i] = x.Bits
	}
	out, err := p.Call(c.ctx, args)
	if err != nil {
		return err
	}
	if len(out) != len(op.Results) {
		return fmt.Errorf("%d results for %d values", len(out), len(op.Results))
	}
	for i, r := range op.Results {
		if len(out[i]) != 1 || !r.Type.Kind.IsScalar() {
			return fmt.Errorf("%%%s is %s; a case computes with scalars", r.Name, r.Type)
		}
		c.vals[r] = Value{Kind: r.Type.Kind, Bits: out[i][0]}
	}
	return nil
}

// compute evaluates an arithmetic op of the body through the executor, so that
// it means here what it means in a kernel.
func (c *caseRun) compute(op *loom.Op) error {
	if op.Def.Traits&loom.Pure == 0 || len(op.Results) == 0 {
		return diag.Errorf(op.Span, "CHECK/OP", "%s has no meaning in a test case", op.Name())
	}
	ret := &loom.Op{Def: dialect.Ops().Lookup("func.return"), Operands: op.Results, Span: op.Span}
	d := &loom.Def{Kind: loom.DefFunc, Name: op.Name(), Params: slices.Clone(op.Operands), Span: op.Span, NameSpan: op.Span,
		Body: &loom.Region{Blocks: []*loom.Block{{Ops: []*loom.Op{op, ret}}}}}
	p, ds := exec.CompileFunc(d)
	if p == nil {
		return ds
	}
	return c.apply(op, p, d.Params)
}
