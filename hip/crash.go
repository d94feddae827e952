package hip

import (
	"os/exec"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// CrashError says that a child process ended without an answer: a vendor's library
// or a kernel took it down. The calling program is as it was before.
type CrashError struct {
	Reason string // "SIGSEGV: segmentation violation", "exit status 1"
	Step   string // what the child was doing, "loading k"; empty when it had not begun
	Log    string // what it printed

	// What is known about the object in question and the device; empty when nothing.
	Object string // "gfx1100, code object version 5"
	Device string // "gfx1151"
	// Override is the value of HSA_OVERRIDE_GFX_VERSION, with which the device is
	// not what it says.
	Override string
}

func (e *CrashError) Error() string {
	s := "the device process ended: " + e.Reason
	if e.Step != "" {
		s += ", while " + e.Step
	}
	return s
}

// Diagnostic returns the error with everything that tells crashes apart.
func (e *CrashError) Diagnostic() diag.Diagnostic {
	d := diag.Errorf(diag.Span{}, "HIP/CRASH", "%s", e.Error())
	if e.Object != "" {
		d = d.WithRelated(diag.Span{}, "the object is for %s; the device is %s", e.Object, e.Device)
	}
	if e.Override != "" {
		d = d.WithRelated(diag.Span{}, "HSA_OVERRIDE_GFX_VERSION=%s is set: the device's own architecture may be another", e.Override)
	}
	if l := e.said(); l != "" {
		d = d.WithRelated(diag.Span{}, "it printed: %s", l)
	}
	switch {
	case e.Override != "":
		return d.WithHelp("unset HSA_OVERRIDE_GFX_VERSION and build for the device's own architecture")
	case e.Object != "":
		return d.WithHelp("run the same on the reference executor with its checks: --device cpu --sanitize=all; when that is clean, look at the kernel log and the driver's version")
	}
	return d.WithHelp("loomc doctor shows what the vendor's library answers; look at the kernel log and the driver's version")
}

// said is the first line of the log that is about the library and not of the Go
// runtime's account of the signal.
func (e *CrashError) said() string {
	for line := range strings.Lines(e.Log) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "SIG"), strings.HasPrefix(line, "[signal "), strings.HasPrefix(line, "fatal error: unexpected signal"),
			strings.HasPrefix(line, "PC="), strings.HasPrefix(line, "goroutine "), strings.HasPrefix(line, "runtime stack:"):
			return ""
		default:
			return line
		}
	}
	return ""
}

// killed is the name of the signal that the system ends processes with when memory
// is used up.
const killed = "killed"

// crash describes the end of cmd, which has been waited for with the result err.
func crash(cmd *exec.Cmd, err error, log string) *CrashError {
	e := &CrashError{Reason: "it ended without an answer", Log: log}
	if sig := signalName(cmd); sig != "" {
		e.Reason = sig
	} else if err != nil {
		e.Reason = err.Error()
		// The Go runtime catches most signals: it prints which, then where it was.
		for line := range strings.Lines(log) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "[signal ")
			if strings.HasPrefix(line, "SIG") {
				e.Reason, _, _ = strings.Cut(line, " code=")
				break
			}
		}
	}
	if e.Reason == killed {
		e.Reason = "killed (SIGKILL): the system ends processes so when memory is used up"
	}
	return e
}
