package codegen

import (
	"fmt"
	"strings"
)

// HostProgram is a C++ program that runs units on the host CPU. Its argument is
// the number of the unit, followed, for a unit whose workgroup size is the launch's,
// by the three sizes. It reads a job from standard input and writes the
// buffers back to standard output:
//
//	count[3] uint32, then per kernel argument: byte count uint32, bytes
//
// all little endian; the output is the bytes of the buffers in binding order. The
// program needs a C++17 compiler and the flags -ffp-contract=off and
// -fno-strict-aliasing. The units' symbols must differ.
func HostProgram(us ...*Unit) []byte {
	host, err := preludeFiles.ReadFile("prelude/host.h")
	if err != nil {
		panic("codegen: " + err.Error()) // an embedded file
	}
	var b strings.Builder
	b.Write(host)
	b.Write(Bundle(us...))
	for n, u := range us {
		fmt.Fprintf(&b, "\nstatic void loom_entry%d(void **a) {\n  (void)a;\n  %s(", n, u.Symbol)
		for i, a := range u.ABI.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			if a.Buffer {
				fmt.Fprintf(&b, "(%s)a[%d]", a.CType, i)
			} else {
				fmt.Fprintf(&b, "*(%s *)a[%d]", a.CType, i)
			}
		}
		b.WriteString(");\n}\n")
	}
	b.WriteString("\nint main(int, char **argv) {\n  switch (atoi(argv[1])) {\n")
	for n, u := range us {
		size := make([]any, 3)
		for i, n := range u.WorkgroupSize {
			size[i] = fmt.Sprint(n)
			if n == 0 {
				size[i] = fmt.Sprintf("(uint32_t)atoi(argv[%d])", 2+i)
			}
		}
		fmt.Fprintf(&b, "  case %d: {\n    const uint32_t size[3] = {%s, %s, %s};\n    return loom_host::serve(loom_entry%d, size, %d, %d, %d);\n  }\n",
			n, size[0], size[1], size[2], n, u.WaveSize, len(u.ABI.Args), buffers(u))
	}
	b.WriteString("  }\n  return 2;\n}\n")
	return []byte(b.String())
}

func buffers(u *Unit) int {
	n := 0
	for _, a := range u.ABI.Args {
		if a.Buffer {
			n++
		}
	}
	return n
}
