package codegen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
)

// Integers are carried unsigned: they wrap without undefined behaviour, and
// operations that read a sign convert first. Eight-bit and bf16 floats are
// carried as their bits.
var scalarNames = map[loom.Kind]string{
	loom.I1: "bool", loom.I8: "loom_u8", loom.I16: "loom_u16", loom.I32: "loom_u32", loom.I64: "loom_u64",
	loom.F8E4M3: "loom_f8e4m3", loom.F8E5M2: "loom_f8e5m2", loom.F16: "loom_f16", loom.BF16: "loom_bf16",
	loom.F32: "loom_f32", loom.F64: "loom_f64",
}

// signed is the signed type of the same width.
func signed(k loom.Kind) string {
	return [...]string{8: "loom_i8", 16: "loom_i16", 32: "loom_i32", 64: "loom_i64"}[max(k.Bits(), 8)]
}

// elemName is the element spelling in vector and memory type names: lanes of a
// mask are bytes that hold 0 or 1.
func elemName(k loom.Kind, c carrier) string {
	switch {
	case k == loom.I1:
		return "loom_i1"
	case k.IsIndexLike():
		return c.String()
	}
	return scalarNames[k]
}

// laneType is the type of one lane when it stands alone.
func laneType(k loom.Kind, c carrier) string {
	if k.IsIndexLike() {
		return c.String()
	}
	return scalarNames[k]
}

func vecName(elem string, lanes int) string { return elem + "x" + strconv.Itoa(lanes) }

// memName is the type through which memory is accessed: it may alias anything
// and is only as aligned as known.
func memName(typ string, align int64) string { return typ + "_m" + strconv.FormatInt(align, 10) }

// declare writes the typedef a type name stands for, if it is one the emitter
// composes: loom_f32x4 and loom_f32x4_m16. It calls need for the names the
// typedef refers to.
func declare(id string, need func(string)) (string, bool) {
	if !strings.HasPrefix(id, "loom_") {
		return "", false
	}
	if i := strings.LastIndex(id, "_m"); i > 4 {
		if a, err := strconv.Atoi(id[i+2:]); err == nil {
			need(id[:i])
			need("LOOM_MEM")
			return fmt.Sprintf("LOOM_MEM(%s, %d, %s);", id[:i], a, id), true
		}
	}
	if i := strings.LastIndexByte(id, 'x'); i > 5 {
		if n, err := strconv.Atoi(id[i+1:]); err == nil && vecElems[id[:i]] {
			need(id[:i])
			need("LOOM_VEC")
			return fmt.Sprintf("LOOM_VEC(%s, %d, %s);", id[:i], n, id), true
		}
	}
	return "", false
}

var vecElems = map[string]bool{
	"loom_i1": true, "loom_u8": true, "loom_u16": true, "loom_u32": true, "loom_u64": true,
	"loom_i8": true, "loom_i16": true, "loom_i32": true, "loom_i64": true,
	"loom_f8e4m3": true, "loom_f8e5m2": true, "loom_f16": true, "loom_bf16": true, "loom_f32": true, "loom_f64": true,
}
