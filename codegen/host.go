package codegen

import (
	"fmt"
	"strings"
)

// HostProgram is a C++ program that runs the unit on the host CPU. It reads a job
// from standard input and writes the buffers back to standard output:
//
//	count[3] uint32, then per kernel argument: byte count uint32, bytes
//
// all little endian; the output is the bytes of the buffers in binding order. The
// program needs a C++17 compiler and no flags besides -ffp-contract=off and
// -fno-strict-aliasing.
func HostProgram(u *Unit) []byte {
	host, err := preludeFiles.ReadFile("prelude/host.h")
	if err != nil {
		panic("codegen: " + err.Error()) // an embedded file
	}
	var b strings.Builder
	b.Write(host)
	b.Write(u.Source)
	b.WriteString("\nstatic void loom_entry(void **a) {\n  (void)a;\n  " + u.Symbol + "(")
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
	fmt.Fprintf(&b, `
int main() {
  uint32_t count[3], size[3] = {%d, %d, %d};
  if (fread(count, 4, 3, stdin) != 3) return 2;
  std::vector<void *> args;
  std::vector<uint32_t> sizes;
  for (int i = 0; i < %d; ++i) {
    uint32_t n;
    if (fread(&n, 4, 1, stdin) != 1) return 2;
    void *p = aligned_alloc(256, (n + 256) / 256 * 256);
    if (fread(p, 1, n, stdin) != n) return 2;
    args.push_back(p);
    sizes.push_back(n);
  }
  loom_host::launch(loom_entry, args.data(), count, size, %d);
  for (int i = 0; i < %d; ++i) fwrite(args[i], 1, sizes[i], stdout);
  return 0;
}
`, u.WorkgroupSize[0], u.WorkgroupSize[1], u.WorkgroupSize[2], len(u.ABI.Args), u.WaveSize, buffers(u))
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
