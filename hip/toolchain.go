package hip

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Toolchain is a compiler of the clang family that was found, started and
// understood. It is immutable apart from TempDir and safe for concurrent use.
type Toolchain struct {
	Path         string // as it is started
	Kind         string // "clang" or "hipcc"
	Version      string // "19.1.7"
	Major        int    // 19
	VersionLine  string // "Debian clang version 19.1.7 (3~deb12u1)"
	InstalledDir string // where the compiler proper lives, behind wrappers and links
	Linker       string // the lld that links device code

	// Files are the programs and libraries whose bytes decide what comes out.
	Files []File

	// TempDir holds work directories; empty means the system's.
	TempDir string

	linkerDir string // passed with -B when the compiler does not find Linker itself
	identity  string
}

// File is one file that a toolchain consists of.
type File struct {
	Path   string // with links resolved
	Size   int64
	SHA256 string
	Stamp  string // changes whenever the file may have changed
}

// Identity implements Compiler: a digest over the contents of Files.
func (t *Toolchain) Identity() string { return t.identity }

// String describes the toolchain in one line.
func (t *Toolchain) String() string { return fmt.Sprintf("%s (%s)", t.Path, t.VersionLine) }

const (
	minMajor = 17 // the first that knows gfx1150 and gfx1151
	packages = "clang-19 lld-19"

	probeTimeout = 20 * time.Second
)

var (
	versionLine  = regexp.MustCompile(`(?m)^.*clang version (\d+)\.(\d+)(?:\.(\d+))?.*$`)
	installedDir = regexp.MustCompile(`(?m)^InstalledDir: (.*)$`)
)

// probe starts the compiler at path once, asks who it is and which lld it will
// use, and digests what it consists of. stateDir, when not empty, remembers the
// answer for as long as none of the files change.
func probe(ctx context.Context, path, stateDir string, linkers func(major int) []string) (*Toolchain, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(real); err != nil {
		return nil, err
	} else if st.IsDir() {
		return nil, errors.New("is a directory")
	} else if st.Mode()&0o111 == 0 {
		return nil, errors.New("is not executable")
	}
	memo := memoFile(stateDir, path)
	if t, ok := recall(memo, path); ok {
		return t, nil
	}

	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	stdout, stderr := &boundedBuffer{limit: 64 << 10}, &boundedBuffer{limit: 64 << 10}
	// -v prints the version and goes on to answer the question: one start, not two.
	cmd := exec.CommandContext(ctx, path, "-v", "-print-prog-name=lld")
	cmd.Env = childEnv(os.Environ(), os.TempDir())
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", probeTimeout)
		}
		return nil, fmt.Errorf("does not answer -v: %w%s", err, firstLine(stderr.String()))
	}
	said := stderr.String() + "\n" + stdout.String()
	m := versionLine.FindStringSubmatch(said)
	if m == nil {
		return nil, errors.New("is not clang: no version line in its answer to -v")
	}
	t := &Toolchain{Path: path, Kind: "clang", VersionLine: strings.TrimSpace(m[0]), Version: m[1] + "." + m[2]}
	if m[3] != "" {
		t.Version += "." + m[3]
	}
	if t.Major, err = strconv.Atoi(m[1]); err != nil {
		return nil, fmt.Errorf("has an unreadable version %q", m[1])
	}
	if strings.Contains(filepath.Base(path), "hipcc") {
		t.Kind = "hipcc"
	}
	if t.Major < minMajor {
		return nil, fmt.Errorf("is version %s; gfx1151 needs %d or newer", t.Version, minMajor)
	}
	if m := installedDir.FindStringSubmatch(said); m != nil {
		t.InstalledDir = strings.TrimSpace(m[1])
	}
	if err := t.findLinker(strings.TrimSpace(stdout.String()), linkers(t.Major)); err != nil {
		return nil, err
	}
	if err := t.digest(ctx, real); err != nil {
		return nil, err
	}
	remember(memo, t)
	return t, nil
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	line, _, _ := strings.Cut(s, "\n")
	return ": " + line
}

// findLinker settles which lld will link: the one that the compiler named, or one
// of the others, handed over with -B.
func (t *Toolchain) findLinker(named string, others []string) error {
	if lines := strings.Split(named, "\n"); len(lines) > 0 { // hipcc prints more than the answer
		named = strings.TrimSpace(lines[len(lines)-1])
	}
	if filepath.IsAbs(named) && runnable(named) {
		t.Linker = named
		return nil
	}
	for _, o := range others {
		real, err := filepath.EvalSymlinks(o)
		if err != nil {
			continue
		}
		// The driver looks for a program called exactly "lld" in the -B directory.
		beside := filepath.Join(filepath.Dir(real), "lld")
		if runnable(beside) {
			t.Linker, t.linkerDir = beside, filepath.Dir(beside)
			return nil
		}
	}
	return fmt.Errorf("has no lld to link device code with: apt-get install lld-%d", t.Major)
}

func runnable(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir() && st.Mode()&0o111 != 0
}

// digest fills in Files and the identity.
func (t *Toolchain) digest(ctx context.Context, real string) error {
	programs := []string{real, t.Linker}
	if t.InstalledDir != "" { // behind hipcc, ccache and scripts stands the real one
		for _, name := range []string{"clang", "clang++", fmt.Sprintf("clang-%d", t.Major), "lld"} {
			programs = append(programs, filepath.Join(t.InstalledDir, name))
		}
	}
	var paths []string
	add := func(p string) bool {
		p, err := filepath.EvalSymlinks(p)
		if err != nil || slices.Contains(paths, p) {
			return false
		}
		paths = append(paths, p)
		return true
	}
	for _, p := range programs {
		add(p)
	}
	for i := 0; i < len(paths); i++ { // grows: libraries need libraries
		for _, lib := range compilerLibraries(paths[i]) {
			add(lib)
		}
	}
	t.Files = make([]File, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	for i, p := range paths {
		g.Go(func() (err error) {
			t.Files[i], err = digestFile(ctx, p)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("digesting the compiler: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "loomc-toolchain-1\n%s\n%s\n", t.Kind, t.Version)
	for _, f := range t.Files {
		// The name without its directory: the same package unpacked elsewhere is the
		// same compiler.
		fmt.Fprintf(h, "%s %s\n", filepath.Base(f.Path), f.SHA256)
	}
	t.identity = hex.EncodeToString(h.Sum(nil))
	return nil
}

// compilerLibraries returns the shared libraries of LLVM that the program or
// library at path needs, where the loader would find them.
func compilerLibraries(path string) []string {
	f, err := elf.Open(path)
	if err != nil {
		return nil // a script, or not this system's format
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil
	}
	dir := filepath.Dir(path)
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, _ := f.DynString(tag)
		for _, p := range paths {
			for d := range strings.SplitSeq(p, ":") {
				dirs = append(dirs, strings.NewReplacer("$ORIGIN", dir, "${ORIGIN}", dir).Replace(d))
			}
		}
	}
	dirs = append(dirs, dir, filepath.Join(dir, "..", "lib"),
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
	var out []string
	for _, n := range needed {
		if !strings.HasPrefix(n, "libLLVM") && !strings.HasPrefix(n, "libclang") && !strings.HasPrefix(n, "liblld") {
			continue
		}
		for _, d := range dirs {
			if p := filepath.Join(d, n); fileExists(p) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func digestFile(ctx context.Context, path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return File{}, err
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return File{}, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return File{Path: path, Size: st.Size(), SHA256: hex.EncodeToString(h.Sum(nil)), Stamp: stamp(st)}, nil
}

// The memo of a probe: reading 200 MB of compiler libraries to name them takes
// longer than a warm build may. It is trusted while every file's size, times and
// inode are what they were.

type memoRecord struct {
	Format    int
	Toolchain Toolchain
	LinkerDir string
	Identity  string
	Real      string
}

const memoFormat = 1

func memoFile(stateDir, path string) string {
	if stateDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(stateDir, "toolchain-"+hex.EncodeToString(sum[:8])+".json")
}

func recall(memo, path string) (*Toolchain, bool) {
	if memo == "" {
		return nil, false
	}
	b, err := readBounded(memo, 1<<20)
	if err != nil {
		return nil, false
	}
	var r memoRecord
	if json.Unmarshal(b, &r) != nil || r.Format != memoFormat || r.Toolchain.Path != path || r.Identity == "" || len(r.Toolchain.Files) == 0 {
		return nil, false
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || real != r.Real {
		return nil, false
	}
	for _, f := range r.Toolchain.Files {
		st, err := os.Stat(f.Path)
		if err != nil || st.Size() != f.Size || stamp(st) != f.Stamp {
			return nil, false
		}
	}
	if !runnable(r.Toolchain.Linker) {
		return nil, false
	}
	t := r.Toolchain
	t.linkerDir, t.identity = r.LinkerDir, r.Identity
	return &t, true
}

// remember is best effort: without it the next start is slower and nothing else.
func remember(memo string, t *Toolchain) {
	if memo == "" {
		return
	}
	real, err := filepath.EvalSymlinks(t.Path)
	if err != nil {
		return
	}
	kept := *t
	kept.TempDir = ""
	b, err := json.MarshalIndent(memoRecord{Format: memoFormat, Toolchain: kept, LinkerDir: t.linkerDir, Identity: t.identity, Real: real}, "", "  ")
	if err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(memo), 0o755) == nil {
		_ = writeFileAtomic(memo, b)
	}
}
