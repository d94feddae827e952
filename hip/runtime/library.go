package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/loomc/loomc/hip"
)

// Kind names a family of devices and the library that drives it.
type Kind string

// The kinds of devices.
const (
	HIP  Kind = "hip"
	CUDA Kind = "cuda"
)

// Options say which library to open.
type Options struct {
	Kind Kind // empty means HIP
	// Library is a path the user named; nothing else is tried then.
	Library string
	// Getenv reads the environment; nil means os.Getenv.
	Getenv func(string) string
	// ROCmParents is as in hip.Search.
	ROCmParents []string
}

func (o Options) env(name string) string {
	if o.Getenv == nil {
		return os.Getenv(name)
	}
	return o.Getenv(name)
}

// family describes one vendor library: how it is called, newest first, and what it
// takes to find it.
type family struct {
	what     string // for messages
	variable string // environment variable that names it
	linux    []string
	windows  []string
	rocm     bool // also look in the ROCm root
	install  string
}

var runtimes = map[Kind]family{
	HIP: {
		what:     "HIP runtime library",
		variable: "LOOMC_HIP_LIBRARY",
		linux:    []string{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
		windows:  []string{"amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"},
		rocm:     true,
		install:  "install ROCm's HIP runtime (Debian: apt-get install libamdhip64-5; ROCm: hip-runtime-amd), or set LOOMC_HIP_LIBRARY",
	},
	CUDA: {
		what:     "CUDA driver library",
		variable: "LOOMC_CUDA_LIBRARY",
		linux:    []string{"libcuda.so.1", "libcuda.so"},
		windows:  []string{"nvcuda.dll"},
		install:  "install NVIDIA's driver, or set LOOMC_CUDA_LIBRARY",
	},
}

var compilers = map[Kind]family{
	HIP: {
		what:     "hiprtc library",
		variable: "LOOMC_HIPRTC_LIBRARY",
		// Before version 7 the functions are also in the runtime library.
		linux: []string{"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", "libamdhip64.so.6", "libamdhip64.so.5"},
		windows: []string{
			"hiprtc0707.dll", "hiprtc0706.dll", "hiprtc0705.dll", "hiprtc0704.dll", "hiprtc0703.dll", "hiprtc0702.dll", "hiprtc0701.dll", "hiprtc0700.dll",
			"hiprtc0605.dll", "hiprtc0604.dll", "hiprtc0603.dll", "hiprtc0602.dll", "hiprtc0601.dll", "hiprtc0600.dll",
			"hiprtc0507.dll", "hiprtc0506.dll", "hiprtc0505.dll", "hiprtc0504.dll", "hiprtc0503.dll", "hiprtc.dll",
		},
		rocm:    true,
		install: "install ROCm's hiprtc, or set LOOMC_HIPRTC_LIBRARY",
	},
	CUDA: {
		what:     "NVRTC library",
		variable: "LOOMC_NVRTC_LIBRARY",
		linux:    []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
		windows:  []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"},
		install:  "install NVIDIA's NVRTC (pip install nvidia-cuda-nvrtc, or the CUDA toolkit), or set LOOMC_NVRTC_LIBRARY",
	},
}

type libraryCandidate struct {
	path string
	rule string
	only bool
}

func (f family) candidates(o Options) []libraryCandidate {
	if o.Library != "" {
		return []libraryCandidate{{o.Library, "flag", true}}
	}
	if v := o.env(f.variable); v != "" {
		return []libraryCandidate{{v, f.variable, true}}
	}
	names := f.linux
	if goruntime.GOOS == "windows" {
		names = f.windows
	}
	var out []libraryCandidate
	if f.rocm {
		if r := hip.FindROCm(hip.Search{Getenv: o.Getenv, ROCmParents: o.ROCmParents}); r.Root != "" {
			for _, dir := range []string{"lib", "lib64", "bin"} {
				for _, n := range names {
					if p := filepath.Join(r.Root, dir, n); exists(p) {
						out = append(out, libraryCandidate{p, r.Rule, false})
					}
				}
			}
		}
	}
	for _, n := range names {
		out = append(out, libraryCandidate{n, "loader", false})
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// binding ties a C function to the Go variable that calls it.
type binding struct {
	name     string
	fn       any // pointer to a func variable
	optional bool
}

// open loads the first library that has every function that is not optional, and
// fills the bindings in. What was tried is returned either way.
func (f family) open(o Options, bindings []binding) (path string, tried []hip.Attempt, err error) {
	for _, c := range f.candidates(o) {
		a := hip.Attempt{Path: c.path, Rule: c.rule}
		lib, err := openLibrary(c.path)
		if err != nil {
			a.Reason = loaderReason(c.path, err)
			tried = append(tried, a)
			continue
		}
		addresses, missing := resolve(lib, bindings)
		if len(missing) > 0 {
			a.Reason = "lacks " + strings.Join(missing, ", ")
			tried = append(tried, a)
			continue
		}
		for i, b := range bindings {
			if addresses[i] != 0 {
				register(b.fn, addresses[i])
			}
		}
		a.OK, a.Reason = true, "loaded"
		return c.path, append(tried, a), nil
	}
	return "", tried, &hip.MissingError{What: f.what, Tried: tried, Install: f.install}
}

func resolve(lib uintptr, bindings []binding) (addresses []uintptr, missing []string) {
	addresses = make([]uintptr, len(bindings))
	for i, b := range bindings {
		address, err := symbol(lib, b.name)
		if err == nil && address != 0 {
			addresses[i] = address
		} else if !b.optional {
			missing = append(missing, b.name)
		}
	}
	slices.Sort(missing)
	return addresses, missing
}

// loaderReason shortens what the loader says: it begins with the path, which is
// shown anyway.
func loaderReason(path string, err error) string {
	s := strings.TrimPrefix(err.Error(), path+": ")
	if strings.Contains(s, "cannot open shared object file: No such file") && strings.HasPrefix(err.Error(), path) {
		return "not found"
	}
	return fmt.Sprintf("does not load: %s", s)
}
