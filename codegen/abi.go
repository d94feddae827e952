package codegen

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/kernel"
)

// ABI is the kernarg segment: pointers first, then scalars by value.
type ABI struct {
	Args []Arg
	// Bytes is the size of the explicit arguments, rounded up to 8.
	Bytes int
}

// Arg is one kernel argument.
type Arg struct {
	Name   string
	Buffer bool
	Type   string // Loom type
	CType  string // parameter type in the emitted text
	Offset int
	Size   int
	// Access and Binding describe buffers: how the body uses it and its position
	// among the buffers. Launch is the position among the scalar parameters.
	Access  kernel.Access
	Binding int
	Launch  int
}

// signature names the parameters and binds them.
func (e *emitter) signature() ABI {
	var abi ABI
	off := 0
	for i, b := range e.k.Bindings {
		ct := "loom_u8 *"
		if b.Access&kernel.Write == 0 {
			ct = "const loom_u8 *"
		}
		cv := e.newVar(b.Name, ct)
		e.params[b.Param] = cv
		align := max(b.Align, 1)
		e.vals[b.Param] = &binding{buf: &bufRef{space: global, base: cv.name, binding: i, align: align, readonly: b.Access&kernel.Write == 0}}
		abi.Args = append(abi.Args, Arg{Name: b.Name, Buffer: true, Type: "buffer", CType: ct, Offset: off, Size: 8, Access: b.Access, Binding: i, Launch: -1})
		off += 8
	}
	for i, s := range e.k.Launch {
		ct, size := "uint32_t", 4
		switch {
		case s.Param.Type.Kind == loom.I64, s.Param.Type.Kind == loom.F64,
			s.Param.Type.Kind.IsIndexLike() && e.carrier(s.Param) == c64 && e.fact(s.Param).Lo >= 0 && e.wideIndex(s.Param):
			ct, size = "loom_u64", 8
		}
		off = (off + size - 1) / size * size
		cv := e.newVar(s.Name+"_arg", ct)
		e.params[s.Param] = cv
		abi.Args = append(abi.Args, Arg{Name: s.Name, Type: s.Param.Type.String(), CType: ct, Offset: off, Size: size, Binding: -1, Launch: i})
		off += size
		e.bindScalar(s, cv, ct)
	}
	abi.Bytes = (off + 7) / 8 * 8
	return abi
}

// wideIndex reports whether an index parameter is promised to need more than 32
// bits. Without a promise the runtime packs 32.
func (e *emitter) wideIndex(v *loom.Value) bool {
	f := e.fact(v)
	return f.Lo > 1<<32-1
}

// bindScalar converts the bit pattern of a parameter to its value.
func (e *emitter) bindScalar(s kernel.Scalar, cv *cvar, ct string) {
	p := s.Param
	k := p.Type.Kind
	e.t.span = e.k.Def.NameSpan
	var expr string
	switch k {
	case loom.F32:
		expr = "loom_bits_f32(" + cv.name + ")"
	case loom.F16:
		expr = "loom_bits_f16((loom_u16)" + cv.name + ")"
	case loom.F64:
		expr = "loom_bits_f64(" + cv.name + ")"
	case loom.I1:
		expr = "(" + cv.name + " & 1u) != 0u"
	case loom.Index, loom.Offset:
		c := e.carrier(p)
		if c == cMod {
			c = cu32
		}
		expr = "(" + c.String() + ")" + cv.name
		if c.String() == "loom_u32" && ct == "uint32_t" {
			expr = cv.name
		}
	default:
		expr = "(" + scalarNames[k] + ")" + cv.name
	}
	e.let(p, expr)
}

// parameters writes the parameter list, without the names the body does not use.
func (e *emitter) parameters() string {
	var ps []string
	one := func(cv *cvar, typ string) {
		if cv.live {
			ps = append(ps, typ+cv.name)
		} else {
			ps = append(ps, strings.TrimRight(typ, " ")+" /*"+cv.name+"*/")
		}
	}
	for _, b := range e.k.Bindings {
		cv := e.params[b.Param]
		t := cv.ctype
		if b.NoAlias {
			t += "__restrict__ "
		}
		one(cv, t)
	}
	for _, s := range e.k.Launch {
		cv := e.params[s.Param]
		one(cv, cv.ctype+" ")
	}
	return strings.Join(ps, ", ")
}

// String renders the ABI as a table for people.
func (a ABI) String() string {
	var b strings.Builder
	for _, x := range a.Args {
		kind := "launch " + itoa(int64(x.Launch))
		if x.Buffer {
			kind = fmt.Sprintf("binding %d %s", x.Binding, x.Access)
		}
		fmt.Fprintf(&b, "%4d %2d  %-24s %-8s %s\n", x.Offset, x.Size, x.Name, x.Type, kind)
	}
	fmt.Fprintf(&b, "%4d     end\n", a.Bytes)
	return b.String()
}
