package codegen

import (
	"math"
	"strconv"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/facts"
)

// carrier is the C++ type an index or offset is held in.
type carrier uint8

const (
	c32  carrier = iota // loom_i32: the value is a signed 32-bit number
	cu32                // loom_u32: the value is an unsigned 32-bit number
	c64                 // loom_i64
	// cMod is loom_u32 holding the value modulo 2^32: every use is an assume that
	// promises a 32-bit range, or arithmetic that ends in one.
	cMod
)

func (c carrier) String() string {
	return [...]string{"loom_i32", "loom_u32", "loom_i64", "loom_u32"}[c]
}

// fit is the narrowest carrier for a fact.
func fit(f facts.Fact) carrier {
	switch {
	case f.Within(math.MinInt32, math.MaxInt32):
		return c32
	case f.Within(0, math.MaxUint32):
		return cu32
	}
	return c64
}

// carrier returns how the index-like value v is held.
func (e *emitter) carrier(v *loom.Value) carrier {
	if c, ok := e.carriers[v]; ok {
		return c
	}
	c := fit(e.fact(v))
	e.carriers[v] = c // cuts recursion through loops
	if c == c64 && e.modular(v, 0) {
		c = cMod
		e.carriers[v] = c
	}
	return c
}

// modularOps compute the same low 32 bits from the low 32 bits of their operands.
var modularOps = map[string]bool{
	"index.add": true, "index.sub": true, "index.mul": true, "index.madd": true, "index.scale": true, "index.assume": true,
}

// modular reports whether only the low 32 bits of v are ever looked at.
func (e *emitter) modular(v *loom.Value, depth int) bool {
	if v.Def == nil || !modularOps[v.Def.Def.Name] || v.Type.IsShaped() || depth > 8 {
		return false
	}
	users := e.users[v]
	if len(users) == 0 {
		return false
	}
	for _, u := range users {
		if !modularOps[u.Def.Name] {
			return false
		}
		if u.Def.Name == "index.assume" {
			for i, o := range u.Operands {
				if o == v && fit(e.fact(u.Results[i])) == c64 && !e.modular(u.Results[i], depth+1) {
					return false
				}
			}
			continue
		}
		if r := u.Result(); fit(e.fact(r)) == c64 && !e.modular(r, depth+1) {
			return false
		}
	}
	return true
}

// as returns the expression of the index-like value v converted to carrier c.
func (e *emitter) as(v *loom.Value, c carrier) string {
	s := e.ref(v)
	have := e.carrier(v)
	if have.String() == c.String() {
		return s
	}
	if isNumber(s) {
		return numberAs(s, c)
	}
	return "(" + c.String() + ")" + s
}

// intLit writes n as a literal of carrier c.
func intLit(n int64, c carrier) string {
	switch c {
	case cu32, cMod:
		return strconv.FormatUint(uint64(uint32(n)), 10) + "u"
	case c64:
		if n == math.MinInt64 {
			return "(-9223372036854775807ll - 1)"
		}
		return strconv.FormatInt(n, 10) + "ll"
	}
	if n == math.MinInt32 {
		return "(-2147483647 - 1)"
	}
	return strconv.FormatInt(n, 10)
}

func isNumber(s string) bool {
	for i := 0; i < len(s); i++ {
		if !(s[i] >= '0' && s[i] <= '9' || s[i] == '-' && i == 0) {
			return false
		}
	}
	return s != "" && s != "-"
}

func numberAs(s string, c carrier) string {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return "(" + c.String() + ")" + s
	}
	return intLit(n, c)
}

// common is the carrier in which all vs keep their value.
func (e *emitter) common(vs ...*loom.Value) carrier {
	f := e.fact(vs[0])
	for _, v := range vs[1:] {
		f = f.Join(e.fact(v))
	}
	return fit(f)
}

// fact is what is known about v wherever it is visible.
func (e *emitter) fact(v *loom.Value) facts.Fact {
	if f, ok := e.made[v]; ok {
		return f
	}
	return e.facts.Of(v)
}

// factAt adds what the branches around the current op guarantee.
func (e *emitter) factAt(v *loom.Value) facts.Fact {
	if f, ok := e.made[v]; ok {
		return f
	}
	return e.facts.At(e.op, v)
}
