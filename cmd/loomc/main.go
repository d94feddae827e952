// Command loomc compiles and links Loom kernel corpora: it checks a corpus at a
// pin, emits HIP per export and config, builds code objects, compares pins, and
// runs kernels without a GPU. Each command lives in a file of its own and does
// no more than turn flags into library calls and results into text.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loomc/loomc/loom/diag"
)

// Exit statuses.
const (
	exitClean    = 0
	exitFindings = 1 // the input has faults, all of them printed
	exitUsage    = 2 // the command line is wrong
	exitMissing  = 3 // the environment lacks something: compiler, library, device
)

func main() { os.Exit(run()) }

func run() int {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		collectLate()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks the work to stop. Work that cannot hear it, such as a
	// read that blocks, is left behind; a second signal ends the process at once.
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(2 * time.Second)
		fmt.Fprintln(os.Stderr, "loomc: interrupted")
		os.Exit(130)
	})
	return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// collectLate puts the first garbage collection off until the process holds 96 MiB.
// Most runs end before that, and collecting for them would cost a quarter of their
// time. From then on the heap may grow fourfold between collections, up to a limit
// that large inputs meet. GOGC and GOMEMLIMIT decide instead when they are set.
func collectLate() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(96 << 20)
	runtime.AddCleanup(new([16]byte), func(int) { // nothing holds it: the first collection finds it
		debug.SetGCPercent(300)
		debug.SetMemoryLimit(2 << 30)
	}, 0)
}

// execute runs one command line and returns its exit status.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &stickyWriter{w: stdout}
	stdout = out
	a := &app{in: stdin, out: stdout, err: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil {
		fmt.Fprintf(stderr, "loomc: output is incomplete: %v\n", out.err)
		return exitFindings
	}
	var st *status
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &st):
		var d diag.Diagnostic
		switch {
		case errors.As(st.err, &d):
			_ = diag.WriteText(stderr, diag.List{d}) // there is nowhere left to report to
		case st.err != nil:
			fmt.Fprintf(stderr, "loomc: %v\n", st.err)
		}
		return st.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "loomc: interrupted")
		return 130
	}
	fmt.Fprintf(stderr, "loomc: %v\nRun 'loomc --help' for usage.\n", err)
	return exitUsage
}

// stickyWriter remembers the first failure to write, so that output lost on the
// way is never reported as success.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// status is an error that carries an exit status. err is nil when everything
// that matters has been printed.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return fmt.Sprintf("exit status %d", s.code)
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

// missing wraps an error about the environment.
func missing(err error) error { return &status{exitMissing, err} }

// failed wraps an error about the input or the run.
func failed(err error) error { return &status{exitFindings, err} }

// app is what commands share: the streams and the global flags.
type app struct {
	in       io.Reader
	out, err io.Writer
	quiet    bool
	verbose  bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "loomc",
		Short:         "Compiler and linker for Loom kernel corpora",
		Long:          rootLong,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("loomc {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "print no progress and no summary")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "print notes as well")
	root.AddGroup(&cobra.Group{ID: "corpus", Title: "Corpus commands:"}, &cobra.Group{ID: "file", Title: "File commands:"},
		&cobra.Group{ID: "other", Title: "Other commands:"})
	for _, c := range a.commands() {
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID("other")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return noEmptyFlags(c) }
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &status{exitUsage, fmt.Errorf("%w\nRun '%s --help' for usage", err, c.CommandPath())}
	})
	return root
}

// noEmptyFlags refuses a flag that was given an empty value: in a script that is
// an unset variable, and taking it for "not given" would do something else than
// was asked for.
func noEmptyFlags(c *cobra.Command) error {
	var bad error
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && bad == nil {
			bad = &status{exitUsage, fmt.Errorf("--%s is empty; leave it out or give it a value", f.Name)}
		}
	})
	return bad
}

const rootLong = `loomc links and checks a Loom kernel corpus at a pin, emits HIP per export and
config, builds it for gfx1151 and its relatives, and runs kernels with no GPU.

Exit status: 0 clean, 1 findings (printed with place and help), 2 wrong usage,
3 something is missing here (compiler, library, device); 'loomc doctor' says what.`

// revision is the commit the program was built from; the Makefile sets it at link
// time.
var revision string

// version is the module version of the build, with the revision when known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	rev := revision
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && rev == "" {
			rev = s.Value[:min(12, len(s.Value))]
		}
	}
	if rev != "" && !strings.Contains(v, rev) {
		v += " (" + rev + ")"
	}
	return v
}

// group is a command that only holds others: without one of them it is wrong
// usage.
func group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		names := make([]string, 0, len(c.Commands()))
		for _, s := range c.Commands() {
			names = append(names, s.Name())
		}
		what := "needs a command"
		if len(args) > 0 {
			what = fmt.Sprintf("has no command '%s'", args[0])
		}
		return &status{exitUsage, fmt.Errorf("'%s' %s: one of %s", c.CommandPath(), what, strings.Join(names, ", "))}
	}
	return c
}

// show prints diagnostics to the error stream, sorted, and returns the findings
// status when one of them is an error.
func (a *app) show(l diag.List) error {
	l = l.Sorted()
	if !a.verbose {
		kept := l[:0:0]
		for _, d := range l {
			if d.Severity != diag.Note {
				kept = append(kept, d)
			}
		}
		l = kept
	}
	if err := diag.WriteText(a.err, l); err != nil {
		return failed(fmt.Errorf("write diagnostics: %w", err))
	}
	if l.HasErrors() {
		return &status{code: exitFindings}
	}
	return nil
}
