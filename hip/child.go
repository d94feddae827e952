package hip

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Vendors' libraries can crash the process they are loaded into. What is asked of
// them is asked in a child of the calling program: which devices there are and to
// compile a source with one JSON request on its standard input and one line of
// answer on its standard output (Probe, RTC), to load and launch over a connection
// that stays open (Conn). The subpackage runtime has the child's side.

// Child starts children of the program.
type Child struct {
	// Command is the program and the arguments that lead it to runtime.RunChild,
	// usually the program itself and a hidden command.
	Command []string
	Kind    string // "hip" or "cuda"; empty means "hip"
	Library string // path of the runtime's library; empty searches
	RTC     string // path of the run-time compiler's library; empty searches
	Device  int    // number of the device to launch on
	TempDir string // for the child's temporary files; empty means the system's
}

// ChildRequest is what a child is asked. Its form is private to this module: parent
// and child are the same program.
type ChildRequest struct {
	Op      string // "probe", "compile" or "serve"
	Kind    string
	Library string
	RTC     string
	Device  int
	// Answers is the file descriptor that a serving child writes to; 0 is its
	// standard output, where the device's own output would be in the way.
	Answers int
	Name    string
	Source  []byte
	Flags   []string
}

// ChildAnswer is what it answers.
type ChildAnswer struct {
	Error    string        // the request could not be served at all
	Missing  *MissingError // there is no library
	Probe    *Probe
	Object   []byte
	Log      string
	Rejected bool // the compiler refused the source: the log says why
}

// ChildMark begins the line of the answer: libraries print what they like around it.
const ChildMark = "loomc-child-1 "

// Probe is what a machine offers for running kernels.
type Probe struct {
	Kind    string
	Library string // of the runtime; empty when there is none
	Version string
	Tried   []Attempt
	Install string // what would bring the library
	Devices []ProbeDevice
	// NoDevice says why Devices is empty although there is a library, and Hint what
	// to do about it.
	NoDevice, Hint string
	// Override is HSA_OVERRIDE_GFX_VERSION when set: Devices then say what it says.
	Override string

	RTC        string // library of the run-time compiler; empty when there is none
	RTCVersion string
	RTCTried   []Attempt
	RTCInstall string
	RTCFiles   []string // the files that the process mapped for it
}

// ProbeDevice describes one device.
type ProbeDevice struct {
	Index        int
	Name         string
	Arch         string
	WaveSize     int
	LDSPerBlock  int
	ComputeUnits int
	L2Bytes      int
	TotalMemory  uint64
}

// Probe asks a child what the libraries of this machine offer. A library that is
// not there is not an error: the fields that it would fill are empty. A library that
// crashes is an error, which says so.
func (c Child) Probe(ctx context.Context) (Probe, error) {
	a, _, err := c.ask(ctx, ChildRequest{Op: "probe"})
	if err != nil {
		return Probe{}, fmt.Errorf("looking for devices: %w", err)
	}
	if a.Probe == nil {
		return Probe{}, fmt.Errorf("looking for devices: %s", a.Error)
	}
	return *a.Probe, nil
}

func (c Child) ask(ctx context.Context, r ChildRequest) (ChildAnswer, string, error) {
	if len(c.Command) == 0 {
		return ChildAnswer{}, "", errors.New("no command for a child process is set")
	}
	r.Kind, r.Library, r.RTC, r.Device = c.Kind, c.Library, c.RTC, c.Device
	in, err := json.Marshal(r)
	if err != nil {
		return ChildAnswer{}, "", err
	}
	dir, err := os.MkdirTemp(c.TempDir, "child-")
	if err != nil {
		return ChildAnswer{}, "", fmt.Errorf("making a work directory: %w", err)
	}
	defer os.RemoveAll(dir)
	stdout, stderr := &boundedBuffer{limit: 2 * maxObject}, &boundedBuffer{limit: maxLog}
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = childEnv(os.Environ(), dir)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 2 * time.Second
	ownGroup(cmd)
	runErr := cmd.Run()
	if err := ctx.Err(); err != nil {
		return ChildAnswer{}, "", err
	}
	if cmd.ProcessState == nil {
		return ChildAnswer{}, "", fmt.Errorf("starting %s: %w", c.Command[0], runErr)
	}
	log := stderr.String()
	for line := range strings.Lines(stdout.String()) {
		text, found := strings.CutPrefix(line, ChildMark)
		if !found {
			log += line
			continue
		}
		var a ChildAnswer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return ChildAnswer{}, log, fmt.Errorf("reading the child's answer: %w", err)
		}
		if a.Missing != nil {
			return ChildAnswer{}, log, a.Missing
		}
		return a, log, nil // a crash on the way out changes nothing
	}
	return ChildAnswer{}, log, crash(cmd, runErr, log)
}

// RTC is a vendor's run-time compiler, started in a child process for every job.
type RTC struct {
	Child    Child
	Library  string
	Version  string
	Files    []File
	identity string
}

// OpenRTC asks a child for the run-time compiler and digests what it consists of.
// The error is a *MissingError when there is none.
func OpenRTC(ctx context.Context, c Child) (*RTC, error) {
	p, err := c.Probe(ctx)
	if err != nil {
		return nil, err
	}
	if p.RTC == "" {
		return nil, &MissingError{What: "run-time compiler", Tried: p.RTCTried, Install: "a clang does the same: apt-get install " + packages}
	}
	c.RTC = p.RTC // the one that was digested
	r := &RTC{Child: c, Library: p.RTC, Version: p.RTCVersion}
	h := sha256.New()
	fmt.Fprintf(h, "loomc-rtc-1\n%s\n%s\n", p.Kind, p.RTCVersion)
	slices.Sort(p.RTCFiles)
	for _, path := range p.RTCFiles {
		f, err := digestFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("digesting the run-time compiler: %w", err)
		}
		r.Files = append(r.Files, f)
		fmt.Fprintf(h, "%s\n", f.SHA256)
	}
	r.identity = hex.EncodeToString(h.Sum(nil))
	return r, nil
}

// Identity implements Compiler.
func (r *RTC) Identity() string { return r.identity }

// Compile implements Compiler. A crash of the library is a *CompileError.
func (r *RTC) Compile(ctx context.Context, j Job) (Output, error) {
	if err := j.check(); err != nil {
		return Output{}, err
	}
	a, log, err := r.Child.ask(ctx, ChildRequest{Op: "compile", Name: sourceFile, Source: j.Source, Flags: Flags(j)})
	var ended *CrashError
	switch {
	case errors.As(err, &ended):
		ce := newCompileError(j, r.Library, log)
		ce.Exit, ce.Reason = -1, fmt.Sprintf("%s crashed: %s", r.Library, ended.Reason)
		ce.Help = "use a clang instead: apt-get install " + packages
		return Output{}, ce
	case err != nil:
		return Output{}, fmt.Errorf("compiling %s: %w", j.Name, err)
	case a.Error != "" && !a.Rejected:
		return Output{}, fmt.Errorf("compiling %s: %s", j.Name, a.Error)
	case a.Rejected:
		ce := newCompileError(j, r.Library, a.Log)
		ce.Exit, ce.Help = 1, hint(a.Log, 0, j.Arch)
		if len(ce.Messages) == 0 {
			ce.Reason = a.Error
		}
		return Output{}, ce
	}
	return finish(j, r.Library, a.Object, a.Log)
}
