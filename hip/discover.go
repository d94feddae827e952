package hip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Search says where to look for compilers and what to remember about them.
type Search struct {
	// Path is the compiler the user named on the command line; when set, nothing
	// else is tried.
	Path string
	// Getenv reads the environment; nil means os.Getenv.
	Getenv func(string) string
	// StateDir keeps what probing found, so that a later start need not digest the
	// compiler again; empty keeps nothing. The cache's StateDir is a good value.
	StateDir string
	// ROCmParents are the directories whose "rocm" and "rocm-*" entries are tried
	// after the environment; nil means /opt.
	ROCmParents []string
}

func (s Search) env(name string) string {
	if s.Getenv == nil {
		return os.Getenv(name)
	}
	return s.Getenv(name)
}

// compilerNames are looked up in PATH, best first: the compiler that ROCm ships,
// then the version this program is tested with, newer ones, older ones, whatever
// "clang" is, and hipcc, which is a wrapper around one of these.
var compilerNames = []string{
	"amdclang++",
	"clang-19", "clang-20", "clang-21", "clang-22", "clang-18", "clang-17",
	"clang", "hipcc",
}

// rocmCompilers are where a ROCm tree keeps its compiler, newest layout first.
var rocmCompilers = []string{
	"lib/llvm/bin/amdclang++", "llvm/bin/amdclang++",
	"lib/llvm/bin/clang++", "llvm/bin/clang++",
	"bin/amdclang++", "bin/hipcc",
}

type candidate struct {
	path string // absolute, or empty when the name was not found
	name string // what to show
	rule string
	only bool // the user asked for this one: nothing replaces it
}

// Discover returns the first compiler, in the order flag, LOOMC_CLANG,
// LOOMC_HIPCC, one ROCm root, PATH, that answers, is new enough and has a linker.
// Everything tried is in the attempts, found or not. When nothing fits the error is
// a *MissingError that carries them too.
func Discover(ctx context.Context, s Search) (*Toolchain, []Attempt, error) {
	tcs, tried, err := s.run(ctx, true)
	if err != nil {
		return nil, tried, err
	}
	return tcs[0], tried, nil
}

// Survey probes every candidate, not just up to the first that fits, for a report.
// The toolchains are in order of preference; none is not an error.
func Survey(ctx context.Context, s Search) ([]*Toolchain, []Attempt, error) {
	tcs, tried, err := s.run(ctx, false)
	if ctx.Err() == nil {
		err = nil
	}
	return tcs, tried, err
}

func (s Search) run(ctx context.Context, first bool) ([]*Toolchain, []Attempt, error) {
	var tried []Attempt
	var found []*Toolchain
	seen := map[string]bool{}
	for _, c := range s.candidates() {
		if err := ctx.Err(); err != nil {
			return found, tried, err
		}
		a := Attempt{Path: c.name, Rule: c.rule}
		switch {
		case c.path == "" && c.only:
			a.Reason = absence(c.name)
		case c.path == "":
			a.Reason = notThere
			if c.rule == "PATH" {
				a.Reason += " in PATH"
			}
		case seen[c.path]:
			continue
		default:
			seen[c.path] = true
			t, err := probe(ctx, c.path, s.StateDir, s.linkers)
			if err != nil {
				a.Reason = err.Error()
				break
			}
			a.OK = len(found) == 0
			a.Reason = fmt.Sprintf("%s, linker %s", t.VersionLine, t.Linker)
			found = append(found, t)
		}
		tried = append(tried, a)
		if len(found) > 0 && first {
			return found, tried, nil
		}
		if c.only {
			break
		}
	}
	if len(found) > 0 {
		return found, tried, nil
	}
	e := &MissingError{What: "compiler for AMD GPU code", Tried: tried, Install: s.advice(tried)}
	return nil, tried, e
}

func (s Search) advice(tried []Attempt) string {
	switch {
	case s.Path != "":
		return "name a clang of version 17 or newer, or leave the choice to the search"
	case s.env("LOOMC_CLANG") != "":
		return "LOOMC_CLANG is set and does not lead to a usable compiler: correct it or unset it"
	case s.env("LOOMC_HIPCC") != "":
		return "LOOMC_HIPCC is set and does not lead to a usable compiler: correct it or unset it"
	}
	for _, a := range tried {
		if _, after, ok := strings.Cut(a.Reason, "has no lld to link device code with: "); ok {
			return after
		}
	}
	return "apt-get install " + packages + ", or set LOOMC_CLANG to a clang of version 17 or newer"
}

func (s Search) candidates() []candidate {
	explicit := []struct{ path, rule string }{
		{s.Path, "flag"},
		{s.env("LOOMC_CLANG"), "LOOMC_CLANG"},
		{s.env("LOOMC_HIPCC"), "LOOMC_HIPCC"},
	}
	for _, e := range explicit {
		if e.path != "" {
			return []candidate{{path: s.resolve(e.path), name: e.path, rule: e.rule, only: true}}
		}
	}
	var out []candidate
	if root, rule, ok := s.rocmRoot(&out); ok {
		for _, rel := range rocmCompilers {
			c := candidate{name: filepath.Join(root, rel), rule: rule}
			if fileExists(c.name) {
				c.path = c.name
			}
			out = append(out, c)
		}
	}
	for _, n := range compilerNames {
		out = append(out, candidate{path: s.lookPath(n), name: n, rule: "PATH"})
	}
	return out
}

// rocmRoot picks one ROCm root, so that compiler, bitcode and runtime are of one
// version. Roots that are not there are added to missing.
func (s Search) rocmRoot(missing *[]candidate) (root, rule string, ok bool) {
	for _, name := range []string{"ROCM_PATH", "ROCM_HOME", "HIP_PATH"} {
		if v := s.env(name); v != "" {
			if isDir(v) {
				return v, name, true
			}
			*missing = append(*missing, candidate{name: v, rule: name})
		}
	}
	parents := s.ROCmParents
	if parents == nil {
		parents = []string{"/opt"}
	}
	for _, p := range parents {
		plain := filepath.Join(p, "rocm")
		if isDir(plain) {
			return plain, plain, true
		}
		*missing = append(*missing, candidate{name: plain, rule: "ROCm root"})
		versions, _ := filepath.Glob(filepath.Join(p, "rocm-*"))
		slices.SortFunc(versions, func(a, b string) int { return compareVersions(b, a) })
		for _, v := range versions {
			if isDir(v) {
				return v, v, true
			}
		}
	}
	return "", "", false
}

// compareVersions orders "rocm-6.10.0" after "rocm-6.9.2".
func compareVersions(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(filepath.Base(s), func(r rune) bool { return r == '.' || r == '-' })
	}
	as, bs := split(a), split(b)
	for i := range min(len(as), len(bs)) {
		an, aerr := strconv.Atoi(as[i])
		bn, berr := strconv.Atoi(bs[i])
		c := cmp.Compare(as[i], bs[i])
		if aerr == nil && berr == nil {
			c = cmp.Compare(an, bn)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// resolve turns what the user wrote, a path or a name, into a path; empty when
// there is nothing.
func (s Search) resolve(p string) string {
	if !strings.ContainsRune(p, filepath.Separator) {
		return s.lookPath(p)
	}
	if !fileExists(p) {
		return ""
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return ""
	}
	return abs
}

// absence says why a compiler that the user named, a path or a name, is not used.
func absence(name string) string {
	if !strings.ContainsRune(name, filepath.Separator) {
		return notThere + " in PATH"
	}
	if _, err := os.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "cannot be looked at: " + err.Error()
	}
	return "does not exist"
}

// lookPath searches the PATH of s's environment. Entries that are not absolute are
// passed over: a compiler out of the current directory is nobody's intent.
func (s Search) lookPath(name string) string {
	for _, dir := range filepath.SplitList(s.env("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p := filepath.Join(dir, name); runnable(p) {
			return p
		}
	}
	return ""
}

// linkers lists linkers for a compiler that names none itself, closest version
// first.
func (s Search) linkers(major int) []string {
	names := []string{fmt.Sprintf("lld-%d", major), fmt.Sprintf("ld.lld-%d", major)}
	for v := 22; v >= minMajor; v-- {
		if v != major {
			names = append(names, fmt.Sprintf("lld-%d", v), fmt.Sprintf("ld.lld-%d", v))
		}
	}
	names = append(names, "lld", "ld.lld")
	var out []string
	for _, n := range names {
		if p := s.lookPath(n); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// ROCm describes the ROCm tree that the search settles on, for a report.
type ROCm struct {
	Root    string // empty when there is none
	Rule    string // which variable or directory named it
	Version string // from .info/version; empty when not known
	Bitcode string // directory of the device libraries; empty when absent
}

// rocmBitcode are where device libraries have lived, newest layout first.
var rocmBitcode = []string{"lib/llvm/amdgcn/bitcode", "amdgcn/bitcode", "lib/bitcode"}

// FindROCm returns the ROCm tree of the search. loomc's own compiles need nothing
// from it but, if preferred, the compiler.
func FindROCm(s Search) ROCm {
	var missing []candidate
	root, rule, ok := s.rocmRoot(&missing)
	if !ok {
		return ROCm{}
	}
	r := ROCm{Root: root, Rule: rule}
	if b, err := readBounded(filepath.Join(root, ".info", "version"), 1024); err == nil {
		r.Version = strings.TrimSpace(string(b))
	}
	for _, rel := range rocmBitcode {
		if d := filepath.Join(root, rel); isDir(d) {
			r.Bitcode = d
			break
		}
	}
	return r
}
