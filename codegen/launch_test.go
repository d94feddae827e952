package codegen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

const launchText = `kernel.def @k(%rows: index, %columns: index) {
  %one = index.constant 1 : index
  %size = index.constant 64 : index
  %c = index.assume %columns [range(%columns, 1, 4096), multiple_of(%columns, 4)] : index
  %pad = index.constant 63 : index
  %sum = index.add %c, %pad : index
  %groups = index.div %sum, %size : index
  %many = index.cmp ugt, %rows, %size : index
  %y = scf.if %many -> (index) {
    %half = index.shrui %rows, %one : index
    %odd = index.andi %rows, %one : index
    %up = index.add %half, %odd : index
    scf.yield %up : index
  } else {
    scf.yield %rows : index
  }
  %r32 = index.cast %rows : index to i32
  %three = scalar.constant 3 : i32
  %d = scalar.divui %r32, %three : i32
  %d1 = index.cast %d : i32 to index
  %z0 = index.max %d1, %one : index
  %z = scf.select %many, %one, %z0 : index
  kernel.launch.config workgroups(%groups, %y, %z) workgroup_size(%size, %one, %one) : index
} launch(%dst: buffer) {
  kernel.return
}
`

// TestLaunchFunction compiles the C++ of a launch configuration and compares it
// with the evaluator for valid and invalid workloads.
func TestLaunchFunction(t *testing.T) {
	cxx := ""
	for _, c := range []string{"clang++-19", "g++"} {
		if p, err := exec.LookPath(c); err == nil {
			cxx = p
			break
		}
	}
	if cxx == "" {
		t.Skip("no C++ compiler is installed")
	}
	k := closeText(t, launchText, "k", "gfx1151", 32, nil)
	text, ds := codegen.LaunchFunction(k, "launch_k")
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	r := rand.New(rand.NewPCG(1, 9))
	var calls strings.Builder
	var want []string
	for range 400 {
		rows, cols := int64(r.IntN(300)-5), int64(r.IntN(5000)-20)
		if r.IntN(2) == 0 {
			cols = cols / 4 * 4
		}
		fmt.Fprintf(&calls, "  show(%d, %d);\n", rows, cols)
		g, err := kernel.EvalLaunch(k, []int64{rows, cols})
		if err != nil || g.Count[0] < 1 || g.Count[1] < 1 || g.Count[2] < 1 {
			want = append(want, "no")
			continue
		}
		want = append(want, fmt.Sprintf("%d %d %d %d %d %d", g.Count[0], g.Count[1], g.Count[2], g.Size[0], g.Size[1], g.Size[2]))
	}
	src := filepath.Join(t.TempDir(), "l.cpp")
	program := "#include <cstdint>\n#include <cstdio>\n#include <map>\n#include <string>\n" +
		"struct HipLaunchGeometry { uint32_t workgroup_count[3], workgroup_size[3]; };\n" + text + `
static void show(int64_t rows, int64_t columns) {
  HipLaunchGeometry g;
  const uint32_t *c = g.workgroup_count, *s = g.workgroup_size;
  if (launch_k({{"rows", rows}, {"columns", columns}}, g)) printf("%u %u %u %u %u %u\n", c[0], c[1], c[2], s[0], s[1], s[2]);
  else printf("no\n");
}
int main() {
  HipLaunchGeometry g;
  if (launch_k({{"rows", 1}}, g)) return 1;
` + calls.String() + "}\n"
	if err := os.WriteFile(src, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", src, "-o", src+".exe").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	out, err := exec.Command(src + ".exe").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("call %d: got %q, want %q\n%s", i, got[i], want[i], text)
		}
	}
}
