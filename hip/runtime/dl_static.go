//go:build loomc_static || !(linux || darwin || freebsd || netbsd || windows)

package runtime

import "errors"

var errStatic = errors.New("this program was built without access to shared libraries (build tag loomc_static)")

func openLibrary(string) (uintptr, error) { return 0, errStatic }

func symbol(uintptr, string) (uintptr, error) { return 0, errStatic }

func register(any, uintptr) {}
