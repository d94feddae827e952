//go:build !unix

package hip

import "os/exec"

func ownGroup(*exec.Cmd) {}

func signalName(*exec.Cmd) string { return "" }
