package codegen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/loomc/loomc/codegen"
)

// compileFor emits every trial for each processor and compiles the texts of one
// processor together, warnings being errors.
func (s *suite) compileFor(t *testing.T, processors ...string) {
	t.Helper()
	if testing.Short() {
		return
	}
	if _, err := exec.LookPath("clang-19"); err != nil {
		t.Skip("clang-19 is not installed")
	}
	dir := t.TempDir()
	for _, p := range processors {
		var us []*codegen.Unit
		for i, tr := range s.trials {
			if tr.wave == 0 || tr.wave == 32 || p[:4] == "gfx9" {
				us = append(us, emit(t, closeText(t, renamed(tr.text, i), fmt.Sprintf("k%d", i), p, 0, nil), codegen.Options{NoHeader: true}))
			}
		}
		src := filepath.Join(dir, p+".hip")
		if err := os.WriteFile(src, codegen.Bundle(us...), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"-x", "hip", "--offload-arch=" + p, "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
			"-O2", "-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-mcode-object-version=5", src, "-o", filepath.Join(dir, p+".co")}
		if out, err := exec.Command("clang-19", args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%.3000s", p, err, out)
		}
	}
}

// allProcessors are the processors whose text differs.
var allProcessors = []string{"gfx1100", "gfx1151", "gfx1201", "gfx942"}
