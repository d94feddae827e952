//go:build (linux || darwin || freebsd || netbsd) && !loomc_static

package runtime

import "github.com/ebitengine/purego"

func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(lib uintptr, name string) (uintptr, error) { return purego.Dlsym(lib, name) }

func register(fn any, address uintptr) { purego.RegisterFunc(fn, address) }
