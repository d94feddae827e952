package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the goldens inside the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"loomc": func() { os.Exit(run()) }})
}

// The scripts in testdata/script read as documentation of the command line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GIT_CONFIG_GLOBAL", e.WorkDir+"/gitconfig")
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("LOOMC_CACHE", e.WorkDir+"/cache")
			stub, err := filepath.Abs("../../hip/runtime/testdata/stub.c")
			if err != nil {
				return err
			}
			e.Setenv("STUB_C", stub)
			return os.WriteFile(e.WorkDir+"/gitconfig", []byte("[user]\nname = t\nemail = t@example.com\n[init]\ndefaultBranch = main\n[protocol \"file\"]\nallow = always\n"), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exit N ARGS… runs loomc and demands the exit status N.
			"exit": exitStatus,
		},
	})
}
