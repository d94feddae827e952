package codegen

import (
	"strconv"
	"strings"
	"sync"
)

// names hands out C++ identifiers that keep the SSA spelling where it is legal.
type names struct{ used map[string]taken }

// taken is an identifier that is in use.
type taken struct {
	next int   // number to try for the next name that is to look like this one
	cv   *cvar // the variable of that name, nil for everything else
}

// newNames expects about size names.
func newNames(size int) *names {
	return &names{used: make(map[string]taken, size)}
}

var isReserved = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool, len(reserved))
	for _, w := range reserved {
		m[w] = true
	}
	return m
})

// reserved are words an SSA name may collide with: C++ keywords, and names that
// compilers and their headers define.
var reserved = []string{
	"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
	"class", "compl", "concept", "const", "constexpr", "continue", "decltype", "default", "delete", "do", "double",
	"else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "half", "if", "inline", "int",
	"long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
	"private", "protected", "public", "register", "requires", "return", "short", "signed", "sizeof", "static",
	"struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid", "typename", "union",
	"unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "main",
	"char8_t", "char16_t", "char32_t", "co_await", "co_return", "co_yield", "static_assert", "thread_local",
	"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t", "size_t",
	"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "linux", "unix", "NULL", "min", "max", "abs",
	"exp", "log", "pow", "sin", "cos", "tan", "sqrt", "floor", "ceil", "round", "trunc", "fabs", "fmin", "fmax",
	"errno", "stdin", "stdout", "stderr", "signbit", "isnan", "isinf", "assert", "HUGE", "I", "y0", "y1", "yn", "j0", "j1", "jn",
	"gamma", "index", "exit", "abort", "malloc", "free", "read", "write", "time", "clock", "signal", "select", "wait",
}

// pick returns a fresh identifier close to the SSA name s.
func (n *names) pick(s string) string { return n.pickFor(s, nil) }

// pickFor is pick for the name of a variable.
func (n *names) pickFor(s string, cv *cvar) string {
	base := identifier(s)
	t := n.used[base]
	if t.next == 0 && !isReserved()[base] {
		n.used[base] = taken{1, cv}
		return base
	}
	for i := max(t.next, 1); ; i++ {
		name := base + "_" + strconv.Itoa(i)
		if n.used[name].next == 0 {
			n.used[name] = taken{1, cv}
			n.used[base] = taken{i + 1, t.cv}
			return name
		}
	}
}

// variable is the variable called name, or nil.
func (n *names) variable(name string) *cvar { return n.used[name].cv }

// identifier spells an SSA name as a C++ identifier: itself, most of the time.
func identifier(s string) string {
	legal := s != "" && isIdentStart(s[0]) && s[0] != '_' && !strings.HasPrefix(s, "loom_")
	for i := 1; legal && i < len(s); i++ {
		legal = isIdentPart(s[i]) && (s[i] != '_' || s[i-1] != '_')
	}
	if legal {
		return s
	}
	b := make([]byte, 0, len(s)+4)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isIdentPart(c) {
			c = '_'
		}
		if i == 0 && c >= '0' && c <= '9' {
			b = append(b, 'v')
		}
		if c == '_' && len(b) > 0 && b[len(b)-1] == '_' {
			continue // two underscores in a row belong to the implementation
		}
		b = append(b, c)
	}
	if len(b) == 0 || b[0] == '_' {
		b = append([]byte{'v'}, b...)
	}
	if len(b) >= 5 && string(b[:5]) == "loom_" {
		b = append([]byte("v_"), b...)
	}
	return string(b)
}
