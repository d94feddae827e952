package hip

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DefaultCodeObjectVersion is what jobs get that do not say. Version 6 is refused
// by ROCm before 6.3, version 5 is read by everything since 5.3.
const DefaultCodeObjectVersion = 5

// Job is one translation unit to compile for one architecture.
type Job struct {
	// Name is what messages about the job's own text are attributed to. It is not
	// part of the result: equal jobs under different names share one object.
	Name   string
	Source []byte
	// Arch is a target id, "gfx1151", or "sm_90" for an NVIDIA device. There is no
	// default: "native" would make the result depend on the machine.
	Arch string
	// Wave64 asks for 64 lanes a wave; otherwise 32.
	Wave64 bool
	// CodeObjectVersion is 4, 5 or 6; 0 means DefaultCodeObjectVersion.
	CodeObjectVersion int
	// ExtraFlags are appended last, so that they win.
	ExtraFlags []string
}

// check refuses jobs that no compiler could take, before a process is started.
func (j Job) check() error {
	if j.nvidia() {
		if n, err := strconv.Atoi(strings.TrimSuffix(j.Arch[len(nvidiaPrefix):], "a")); err != nil || n <= 0 {
			return fmt.Errorf("job %s: %q is not an architecture: want one such as sm_90", j.Name, j.Arch)
		}
		return nil
	}
	if _, err := ParseTarget(j.Arch); err != nil {
		return fmt.Errorf("job %s: %w", j.Name, err)
	}
	if v := j.version(); v < 4 || v > 6 {
		return fmt.Errorf("job %s: code object version %d is not one of 4, 5, 6", j.Name, v)
	}
	return nil
}

const nvidiaPrefix = "sm_"

// nvidia reports whether the job is for NVIDIA's compiler.
func (j Job) nvidia() bool { return strings.HasPrefix(j.Arch, nvidiaPrefix) }

func (j Job) version() int {
	if j.CodeObjectVersion == 0 {
		return DefaultCodeObjectVersion
	}
	return j.CodeObjectVersion
}

func (j Job) waveSize() int {
	if j.Wave64 {
		return 64
	}
	return 32
}

// Flags is the one list of flags that decide what the object contains. Clang gets
// it on its command line and a run-time compiler through its option array; with
// equal flags both produce equal machine code.
//
// Contraction is off because the source asks for it operation by operation.
func Flags(j Job) []string {
	if j.nvidia() {
		return append([]string{"--gpu-architecture=" + j.Arch, "--std=c++17", "--fmad=false"}, j.ExtraFlags...)
	}
	flags := []string{
		"--offload-arch=" + j.Arch,
		"-std=c++17",
		"-O3",
		"-ffp-contract=off",
		fmt.Sprintf("-mcode-object-version=%d", j.version()),
	}
	if j.Wave64 {
		flags = append(flags, "-mwavefrontsize64")
	}
	return append(flags, j.ExtraFlags...)
}

// driverFlags is what a clang command line needs besides Flags: the input is HIP,
// only the device side matters, the output is the raw object. The rest keeps the
// machine out of the result: no headers or libraries of an installed ROCm, no
// system-wide configuration file, no unit id made from the path of a temporary file.
var driverFlags = []string{
	"-x", "hip",
	"--cuda-device-only",
	"--no-gpu-bundle-output",
	"-nogpuinc", "-nogpulib",
	"--no-default-config",
	"-fuse-cuid=none",
	"-ffile-compilation-dir=.",
	"-fno-color-diagnostics", "-fno-spell-checking",
	"-fno-crash-diagnostics",
}

// strippedEnv are variables through which a compiler's output could depend on the
// caller's shell without the cache key knowing.
var strippedEnv = []string{
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
	"CCC_OVERRIDE_OPTIONS", "CLANG_CONFIG_FILE_USER_DIR", "SOURCE_DATE_EPOCH", "CLANG_CRASH_DIAGNOSTICS_DIR",
	"HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND", "HIPCC_VERBOSE", "HIP_PLATFORM", "HIP_COMPILER",
	"HCC_AMDGPU_TARGET", "AMD_COMGR_CACHE", "TMPDIR", "LC_ALL", "LANG", "LANGUAGE", "LC_MESSAGES",
}

// childEnv is the environment of a compiler process that works in dir.
func childEnv(environ []string, dir string) []string {
	out := make([]string, 0, len(environ)+3)
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(strippedEnv, name) {
			out = append(out, kv)
		}
	}
	return append(out, "TMPDIR="+dir, "LC_ALL=C", "AMD_COMGR_CACHE=0")
}
