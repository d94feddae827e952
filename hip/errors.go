package hip

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Attempt is one place that a search looked at.
type Attempt struct {
	Path   string // file, or bare name looked up in PATH
	Rule   string // why it was looked at: "flag", "LOOMC_CLANG", "ROCM_PATH", "PATH", …
	OK     bool   // this is the one that is used
	Reason string // why it was not used; when OK, what it is
}

// String returns "path: reason".
func (a Attempt) String() string { return a.Path + ": " + a.Reason }

// MissingError says that something the work needs is not on this machine. Commands
// answer it with exit status 3.
type MissingError struct {
	What    string // "compiler for AMD GPU code", …
	Tried   []Attempt
	Install string // what to do, one line
}

func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no %s found", e.What)
	for _, a := range e.Tried {
		b.WriteString("\n  tried ")
		b.WriteString(a.String())
	}
	return b.String()
}

// Diagnostic returns the error for people: one line, the last rejected candidates
// as related places, and what to install.
func (e *MissingError) Diagnostic() diag.Diagnostic {
	if len(e.Tried) == 1 { // the one that the user named
		a := e.Tried[0]
		from := ""
		if a.Rule != "flag" {
			from = ", from " + a.Rule
		}
		return diag.Errorf(diag.Span{}, "HIP/MISSING", "no %s: '%s'%s: %s", e.What, a.Path, from, a.Reason).WithHelp("%s", e.Install)
	}
	d := diag.Errorf(diag.Span{}, "HIP/MISSING", "no %s found in %d places", e.What, len(e.Tried)).WithHelp("%s", e.Install)
	for _, a := range e.Tried {
		if !strings.HasPrefix(a.Reason, notThere) {
			d = d.WithRelated(diag.Span{}, "%s (%s): %s", a.Path, a.Rule, a.Reason)
		}
	}
	return d
}

// notThere begins the reason of attempts that found nothing at all, which are
// worth listing in a report and not in an error.
const notThere = "not found"

// Explain turns an error of this package or of its subpackage runtime, wrapped or
// not, into diagnostics; there is always at least one of severity error, unless err
// is nil. lookup finds the files that #line directives name and may be nil.
func Explain(err error, lookup Sources) diag.List {
	if err == nil {
		return nil
	}
	var ce *CompileError
	if errors.As(err, &ce) {
		return ce.Diagnostics(lookup)
	}
	var one interface {
		error
		Diagnostic() diag.Diagnostic
	}
	if errors.As(err, &one) {
		d := one.Diagnostic()
		// What was being done when it happened is in the wrapping.
		if what, found := strings.CutSuffix(err.Error(), one.Error()); found {
			d.Message = what + d.Message
		}
		return diag.List{d}
	}
	return diag.List{diag.Errorf(diag.Span{}, "HIP/FAILED", "%s", err)}
}

// CompileError says that a compiler ran and did not produce a usable object.
type CompileError struct {
	Job      Job
	Compiler string    // what ran
	Messages []Message // what it said, placed
	Log      string    // everything it said
	Exit     int       // exit status; -1 when a signal ended it
	Reason   string    // set when the messages do not tell: a crash, a bad object
	Help     string    // what to do; may be empty
}

func (e *CompileError) Error() string {
	first := e.Reason
	n := 0
	for _, m := range e.Messages {
		if m.Severity != diag.Error {
			continue
		}
		if n++; first == "" {
			first = m.Text
			if m.File != "" {
				first = fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, m.Text)
			}
		}
	}
	if first == "" {
		first = fmt.Sprintf("exit status %d: %s", e.Exit, strings.TrimSpace(tail(e.Log, 400)))
	}
	if n > 1 {
		first = fmt.Sprintf("%s (and %d more)", first, n-1)
	}
	return fmt.Sprintf("compiling %s for %s: %s", e.Job.Name, e.Job.Arch, first)
}

// Diagnostics returns the error as located diagnostics; there is always at least
// one of severity error. lookup finds the files that #line directives name and may
// be nil.
func (e *CompileError) Diagnostics(lookup Sources) diag.List {
	list := MessageDiagnostics(e.Job, e.Messages, lookup)
	if e.Reason != "" || !list.HasErrors() {
		reason := e.Reason
		if reason == "" {
			reason = fmt.Sprintf("%s ended with status %d", e.Compiler, e.Exit)
		}
		d := diag.Errorf(diag.Span{}, "HIP/COMPILE", "%s", reason)
		if len(e.Messages) == 0 {
			for _, line := range firstLines(e.Log, 5) {
				d = d.WithRelated(diag.Span{}, "it printed: %s", line)
			}
		}
		list.Add(d)
	}
	// What the compiler gave no place is about the job as a whole: its first line
	// says which that is.
	own := diag.NewSource(e.Job.Name, string(e.Job.Source))
	for i := range list {
		if !list[i].Span.Valid() {
			list[i].Span = diag.Span{Src: own}
		}
	}
	if e.Help != "" {
		for i := range list {
			if list[i].Severity == diag.Error {
				list[i].Help = e.Help
				break
			}
		}
	}
	return list
}

// firstLines returns up to n lines of s that hold something.
func firstLines(s string, n int) []string {
	var out []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && len(out) < n {
			out = append(out, line)
		}
	}
	return out
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + s[len(s)-n:]
}

// hints turns well-known complaints into what to do about them. The first whose
// text occurs in the log wins. {major} is the compiler's version, {arch} the job's.
var hints = []struct{ in, help string }{
	{`Executable "lld" doesn't exist`, "device code is linked by the compiler's own lld: apt-get install lld-{major}"},
	{"unable to execute command: Killed", memoryHelp},
	{"due to signal", "a program that the compiler starts crashed: try another version of it with --compiler, and report the source (--keep-source) to the compiler's authors"},
	{"PLEASE submit a bug report", "the compiler crashed: try another version of it with --compiler, and report the source (--keep-source) to the compiler's authors"},
	{"LLVM ERROR: out of memory", memoryHelp},
	{"std::bad_alloc", memoryHelp},
	{"unable to execute command", "a program that the compiler starts is missing or cannot run; device code is linked by lld: apt-get install lld-{major}"},
	{"invalid target ID", "compiler version {major} does not know {arch}: choose another architecture or a newer compiler"},
	{"unsupported HIP gpu architecture", "compiler version {major} does not know {arch}: choose another architecture or a newer compiler"},
	{"is not a recognized processor", "compiler version {major} does not know {arch}: choose another architecture or a newer compiler"},
	{"No available targets are compatible", "this compiler was built without AMD GPU support: apt-get install " + packages},
	{"invalid code object version", "this compiler does not write that code object version: leave it at 5"},
	{"code object version 4, want", "this compiler writes version 4 whatever it is asked for, as run-time compilers of ROCm 5 do: build with --code-object-version 4, or with clang"},
	{"local memory (", "the kernel's workgroup arrays do not fit {arch}: choose a smaller tile"},
	{"No space left on device", "the temporary directory is full: free space or point TMPDIR elsewhere"},
}

// memoryHelp is what to do when the system ended a process to get its memory back.
const memoryHelp = "memory is used up: compile fewer kernels at a time (GOMAXPROCS=2), or raise the limit of the container or job"

func hint(log string, major int, arch string) string {
	for _, h := range hints {
		if strings.Contains(log, h.in) {
			return strings.NewReplacer("{major}", strconv.Itoa(major), "{arch}", arch).Replace(h.help)
		}
	}
	return ""
}
