package codegen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/loom/diag"
)

// registry is the part of the engine's header that an add-on uses.
const registry = `#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>
namespace ggml::hrx {
struct HipLaunchGeometry { uint32_t workgroup_count[3], workgroup_size[3]; };
struct HipBinding { std::string name, access; };
struct HipKernel {
  std::string name, stem;
  std::vector<HipBinding> bindings;
  std::vector<std::string> launch_parameters, workload_parameters;
  std::function<bool(const std::map<std::string, int64_t> &, HipLaunchGeometry &)> launch;
};
struct DispatchRegistryBuilder {
  std::vector<HipKernel> kernels;
  void register_hip_kernel(HipKernel k) { kernels.push_back(k); }
};
void ggml_hrx_hip_addon_register(DispatchRegistryBuilder &);
}
`

const addonMain = `#include "hip/hip-kernel-registry.h"
#include <cstdio>
int main() {
  ggml::hrx::DispatchRegistryBuilder b;
  ggml::hrx::ggml_hrx_hip_addon_register(b);
  for (const auto &k : b.kernels) {
    ggml::hrx::HipLaunchGeometry g;
    printf("%s %s %zu %zu %zu %d", k.name.c_str(), k.stem.c_str(), k.bindings.size(), k.launch_parameters.size(), k.workload_parameters.size(),
           k.launch({{"rows", 7}, {"columns", 100}}, g));
    printf(" %u %u\n", g.workgroup_count[0], g.workgroup_count[1]);
    for (const auto &x : k.bindings) printf("  %s %s\n", x.name.c_str(), x.access.c_str());
  }
}
`

func TestAddon(t *testing.T) {
	cxx, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("clang++-19 is not installed")
	}
	k := closeText(t, launchText, "k", "gfx1151", 32, nil)
	one := codegen.AddonKernel{Kernel: k, Unit: emit(t, k, codegen.Options{}), Stem: "tool_k"}
	files, ds := codegen.Addon("loom-kernels", []codegen.AddonKernel{one})
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	dir := t.TempDir()
	files = append(files, codegen.File{Path: "hip/hip-kernel-registry.h", Data: []byte(registry)}, codegen.File{Path: "main.cpp", Data: []byte(addonMain)})
	header, ds := codegen.CppHeader("loom-kernels", []codegen.AddonKernel{one})
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	files = append(files, codegen.File{Path: "loom.h", Data: header},
		codegen.File{Path: "header.cpp", Data: []byte("#include \"loom.h\"\nint arguments() { return (int)loom_kernels::kernels[0].argument_count; }\n")})
	for _, f := range files {
		p := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I.", "main.cpp", "loom_kernels.cpp", "header.cpp", "-o", "addon")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "addon")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), "k tool_k 1 0 2 1 2 7\n  dst none\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, ds := codegen.Addon("x", []codegen.AddonKernel{one, one}); !ds.HasErrors() || !strings.Contains(diag.Text(ds), "CODEGEN/STEM") {
		t.Errorf("two kernels with one stem: %v", ds)
	}
}
