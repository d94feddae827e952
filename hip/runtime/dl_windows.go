//go:build windows && !loomc_static

package runtime

import (
	"syscall"

	"github.com/ebitengine/purego"
)

func openLibrary(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

func symbol(lib uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(lib), name)
}

func register(fn any, address uintptr) { purego.RegisterFunc(fn, address) }
