package corpus_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

var update = flag.Bool("update", false, "rewrite the expected texts in testdata")

// TestScripts runs testdata/*.txtar. Beside testscript's own commands there are
//
//	open [--pin REV] [--repo DIR] [--corpus PATH] [--override DIR] [--sources-only] [--show FILE]…
//	parse FILE      diagnostics of a manifest's text alone
//	marshal FILE    canonical form of a manifest
//	config FILE     values and diagnostics of a config file
//
// which print to stdout what the library returns. Commits made with `exec git`
// have fixed names and dates, so their shas are the same on every machine.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, kv := range gitEnv {
				k, v, _ := strings.Cut(kv, "=")
				env.Setenv(k, v)
			}
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"open":    cmdOpen,
			"parse":   cmdParse,
			"marshal": cmdMarshal,
			"config":  cmdConfig,
		},
	})
}

var gitEnv = []string{
	"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_DEFAULT_HASH=sha1",
	"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
	"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
	"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
	"GIT_CONFIG_KEY_1=protocol.file.allow", "GIT_CONFIG_VALUE_1=always",
	"GIT_CONFIG_KEY_2=uploadpack.allowFilter", "GIT_CONFIG_VALUE_2=true",
}

// show prints a list with the scratch directory's name taken out.
func show(ts *testscript.TestScript, ds diag.List) {
	for _, d := range ds {
		if !d.Span.Valid() {
			ts.Fatalf("diagnostic without a place: %v", d)
		}
		if d.Help == "" && d.Severity != diag.Note {
			ts.Fatalf("diagnostic without help: %v", d)
		}
	}
	work, _ := filepath.EvalSymlinks(ts.Getenv("WORK"))
	text := strings.ReplaceAll(diag.Text(ds), ts.Getenv("WORK"), "$WORK")
	fmt.Fprint(ts.Stdout(), strings.ReplaceAll(text, work, "$WORK"))
}

func cmdOpen(ts *testscript.TestScript, neg bool, args []string) {
	o := corpus.Options{Dir: ts.MkAbs(".")}
	var showFiles []string
	fset := flag.NewFlagSet("open", flag.ContinueOnError)
	fset.StringVar(&o.Pin, "pin", "", "")
	fset.StringVar(&o.Repo, "repo", "", "")
	fset.StringVar(&o.Path, "corpus", "", "")
	fset.StringVar(&o.Override, "override", "", "")
	fset.BoolVar(&o.SourcesOnly, "sources-only", false, "")
	fset.Func("show", "", func(s string) error { showFiles = append(showFiles, s); return nil })
	if err := fset.Parse(args); err != nil || fset.NArg() > 0 {
		ts.Fatalf("usage of open: %v %v", err, fset.Args())
	}
	c, ds := corpus.Open(context.Background(), o)
	show(ts, ds)
	if c == nil {
		if !ds.HasErrors() {
			ts.Fatalf("no corpus and no error")
		}
		if !neg {
			ts.Fatalf("open failed:\n%s", diag.Text(ds))
		}
		return
	}
	if neg != ds.HasErrors() {
		ts.Fatalf("errors: %v, expected: %v\n%s", ds.HasErrors(), neg, diag.Text(ds))
	}
	fmt.Fprintf(ts.Stdout(), "corpus %s: %d files\n", c, len(c.Paths()))
	if m := c.Manifest(); m != nil {
		for i := range m.Exports {
			e := &m.Exports[i]
			state := "ok"
			if !e.OK() {
				state = e.Problem
			}
			fmt.Fprintf(ts.Stdout(), "  export %s: %s", e.ID(), state)
			if e.OverriddenBy.Valid() {
				fmt.Fprintf(ts.Stdout(), " (overridden at %s)", e.OverriddenBy)
			}
			fmt.Fprintln(ts.Stdout())
		}
	}
	for _, p := range showFiles {
		b, err := fs.ReadFile(c.FS(), p)
		if err != nil {
			ts.Fatalf("%v", err)
		}
		from, _ := c.Provenance(p)
		fmt.Fprintf(ts.Stdout(), "-- %s, replaces %q\n%s", from.Name, from.Replaces, b)
	}
}

func source(ts *testscript.TestScript, name string) *diag.Source {
	return diag.NewSource(name, ts.ReadFile(name))
}

func cmdParse(ts *testscript.TestScript, neg bool, args []string) {
	m, ds := corpus.ParseManifest(source(ts, args[0]))
	if m != nil {
		ds = append(ds, m.UnknownFields()...).Sorted()
	}
	show(ts, ds)
	if neg != ds.HasErrors() {
		ts.Fatalf("errors: %v, expected: %v\n%s", ds.HasErrors(), neg, diag.Text(ds))
	}
}

func cmdMarshal(ts *testscript.TestScript, neg bool, args []string) {
	m, ds := corpus.ParseManifest(source(ts, args[0]))
	if m == nil {
		ts.Fatalf("%v", ds)
	}
	b, err := m.Marshal()
	if err != nil {
		ts.Fatalf("%v", err)
	}
	ts.Stdout().Write(b)
}

func cmdConfig(ts *testscript.TestScript, neg bool, args []string) {
	values, ds := corpus.ReadConfig(source(ts, args[0]))
	show(ts, ds)
	for _, v := range values {
		fmt.Fprintf(ts.Stdout(), "%s: %s = %s\n", v.Span, v.Key, v.Text)
	}
	if neg != ds.HasErrors() {
		ts.Fatalf("errors: %v, expected: %v\n%s", ds.HasErrors(), neg, diag.Text(ds))
	}
}
