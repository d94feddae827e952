//go:build unix

package hip

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the child in a process group of its own and makes cancellation
// end the whole group: a compiler driver's own children would otherwise go on.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// signalName returns the signal that ended the process, or "".
func signalName(cmd *exec.Cmd) string {
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}
