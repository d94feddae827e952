package hip

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Compiler turns a job into a code object.
type Compiler interface {
	// Identity names the compiler so exactly that equal identities give equal
	// objects for equal jobs: it covers the bytes of the programs and libraries that
	// do the work, because a rebuilt compiler keeps its version string.
	Identity() string
	// Compile compiles one job. The error is a *CompileError when the compiler ran
	// and refused, a *MissingError when there is none, ctx's error when cancelled.
	Compile(ctx context.Context, j Job) (Output, error)
}

// Output is the result of compiling one job.
type Output struct {
	Object   []byte    // raw code object
	Info     Object    // the same, read
	Messages []Message // warnings
	Log      string    // everything the compiler printed
}

const (
	sourceFile = "kernel.hip" // constant, so that no caller's name reaches the object
	objectFile = "kernel.hsaco"
	maxLog     = 1 << 20
	maxObject  = 256 << 20
)

// shellSignal is what a shell adds to the number of the signal that ended a program:
// compilers may stand behind a script.
const shellSignal = 128

// Compile runs the compiler as a child process in a directory of its own. A
// cancelled context kills the process and the processes it started.
func (t *Toolchain) Compile(ctx context.Context, j Job) (Output, error) {
	if err := j.check(); err != nil {
		return Output{}, err
	}
	if j.nvidia() {
		return Output{}, fmt.Errorf("job %s: %s compiles for AMD devices, not for %s", j.Name, t.Path, j.Arch)
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	dir, err := os.MkdirTemp(t.TempDir, "compile-")
	if err != nil {
		return Output{}, fmt.Errorf("making a work directory for the compiler: %w", err)
	}
	defer os.RemoveAll(dir)
	log, err := t.start(ctx, j, dir, t.arguments(j))
	if err != nil {
		return Output{}, err
	}
	object, err := readBounded(filepath.Join(dir, objectFile), maxObject)
	if err != nil {
		ce := newCompileError(j, t.Path, log)
		ce.Reason = fmt.Sprintf("%s reported success and left no object: %v", t.Path, err)
		return Output{}, ce
	}
	return finish(j, t.Path, object, log)
}

// start hands the job's source to the compiler in dir, waits, and returns what
// it printed. The error is a *CompileError when the compiler ran and refused.
func (t *Toolchain) start(ctx context.Context, j Job, dir string, args []string) (string, error) {
	if err := os.WriteFile(filepath.Join(dir, sourceFile), j.Source, 0o600); err != nil {
		return "", fmt.Errorf("handing the source to the compiler: %w", err)
	}
	log := &boundedBuffer{limit: maxLog}
	cmd := exec.CommandContext(ctx, t.Path, args...)
	cmd.Dir = dir
	cmd.Env = childEnv(os.Environ(), dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = 2 * time.Second
	ownGroup(cmd)
	runErr := cmd.Run()
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("compiling %s: %w", j.Name, err)
	}
	if cmd.ProcessState == nil {
		return "", fmt.Errorf("starting %s: %w", t.Path, runErr)
	}
	if runErr != nil {
		ce := newCompileError(j, t.Path, log.String())
		ce.Exit = cmd.ProcessState.ExitCode()
		ce.Help = hint(ce.Log, t.Major, j.Arch)
		if sig := signalName(cmd); sig != "" {
			ce.Reason = fmt.Sprintf("%s was ended by a signal: %s", t.Path, sig)
			if sig == killed && ce.Help == "" {
				ce.Help = memoryHelp
			}
		} else if n := ce.Exit - shellSignal; n > 0 && len(ce.Messages) == 0 {
			ce.Reason = fmt.Sprintf("%s ended with status %d, as after signal %d", t.Path, ce.Exit, n)
		}
		return "", ce
	}
	return log.String(), nil
}

// Assembly compiles a job to assembly text with line tables, for people to read.
func (t *Toolchain) Assembly(ctx context.Context, j Job) (string, error) {
	if err := j.check(); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(t.TempDir, "compile-")
	if err != nil {
		return "", fmt.Errorf("making a work directory for the compiler: %w", err)
	}
	defer os.RemoveAll(dir)
	if _, err := t.start(ctx, j, dir, append(t.arguments(j), "-S", "-gline-tables-only")); err != nil {
		return "", err
	}
	text, err := readBounded(filepath.Join(dir, objectFile), maxObject)
	if err != nil {
		return "", fmt.Errorf("reading the assembly: %w", err)
	}
	return string(text), nil
}

// finish reads a fresh object back and holds it against the job.
func finish(j Job, compiler string, object []byte, log string) (Output, error) {
	info, err := checkObject(j, object)
	if err != nil {
		ce := newCompileError(j, compiler, log)
		ce.Reason = fmt.Sprintf("%s produced an object that does not fit the job: %v", compiler, err)
		ce.Help = cmp.Or(ce.Help, hint(ce.Reason, 0, j.Arch))
		return Output{}, ce
	}
	out := Output{Object: object, Info: info, Log: log, Messages: ParseMessages(log)}
	renameFile(out.Messages, sourceFile, j.Name)
	return out, nil
}

// checkObject reads object and reports whether it can be the result of j. It is
// asked about fresh objects and about those that come out of a cache.
func checkObject(j Job, object []byte) (Object, error) {
	if j.nvidia() {
		return Object{}, checkNVIDIA(object)
	}
	info, err := ReadObject(object)
	if err != nil {
		return Object{}, err
	}
	if err := CheckTarget(info.Target, j.Arch); err != nil {
		return Object{}, err
	}
	if info.CodeObjectVersion != j.version() {
		return Object{}, fmt.Errorf("code object version %d, want %d", info.CodeObjectVersion, j.version())
	}
	for _, k := range info.Kernels {
		if k.WaveSize != j.waveSize() {
			return Object{}, fmt.Errorf("kernel %s has waves of %d lanes, want %d", k.Name, k.WaveSize, j.waveSize())
		}
	}
	return info, nil
}

// checkNVIDIA reports whether object is a cubin or PTX. What is in it is between
// NVIDIA's compiler and driver.
func checkNVIDIA(object []byte) error {
	const machineCUDA = 190
	switch {
	case len(object) >= 64 && bytes.HasPrefix(object, []byte("\x7fELF")) && le.Uint16(object[18:]) == machineCUDA:
		return nil
	case bytes.Contains(object[:min(len(object), 4096)], []byte(".target "+nvidiaPrefix)):
		return nil
	}
	return errors.New("neither a cubin nor PTX")
}

func newCompileError(j Job, compiler, log string) *CompileError {
	ms := ParseMessages(log)
	renameFile(ms, sourceFile, j.Name)
	return &CompileError{Job: j, Compiler: compiler, Messages: ms, Log: log}
}

func (t *Toolchain) arguments(j Job) []string {
	args := make([]string, 0, 32)
	args = append(args, driverFlags...)
	if t.linkerDir != "" {
		args = append(args, "-B", t.linkerDir)
	}
	args = append(args, Flags(j)...)
	return append(args, sourceFile, "-o", objectFile)
}

func readBounded(path string, limit int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d", path, st.Size(), limit)
	}
	return os.ReadFile(path)
}

// boundedBuffer keeps the first limit bytes written to it and takes the rest
// without complaint, so that a chatty child neither blocks nor fills memory.
type boundedBuffer struct {
	b     bytes.Buffer
	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.b.Len(); room > 0 {
		b.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (b *boundedBuffer) String() string { return b.b.String() }
