package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/hip"
	hiprt "github.com/loomc/loomc/hip/runtime"
)

func (a *app) doctorCommand() *cobra.Command {
	var compiler string
	c := &cobra.Command{
		Use:     "doctor",
		GroupID: "other",
		Short:   "Print what loomc finds here and what each missing piece would enable",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			search := hip.Search{Path: compiler}
			fmt.Fprintf(a.out, "loomc %s, %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)

			fmt.Fprintln(a.out, "\ngit (reads pins)")
			if p, err := exec.LookPath("git"); err == nil {
				v, _ := exec.CommandContext(ctx, p, "--version").Output()
				fmt.Fprintf(a.out, "  found  %s: %s\n", p, strings.TrimSpace(string(v)))
			} else {
				fmt.Fprintln(a.out, "  missing: 'loomc link --pin' needs it; install git")
			}

			fmt.Fprintln(a.out, "\ncompilers for AMDGPU ('loomc build' takes the first)")
			found, tried, err := hip.Survey(ctx, search)
			if err != nil {
				return failed(err)
			}
			for i, t := range found {
				word := "found "
				if i == 0 {
					word = "chosen"
				}
				fmt.Fprintf(a.out, "  %s %s\n         %s, linker %s\n         identity %.16s…\n", word, t.Path, t.VersionLine, t.Linker, t.Identity())
			}
			listed := map[string]bool{}
			for _, t := range found {
				listed[fmt.Sprintf("%s, linker %s", t.VersionLine, t.Linker)] = true
			}
			for _, t := range tried {
				if !listed[t.Reason] {
					fmt.Fprintf(a.out, "  tried  %s (%s): %s\n", t.Path, t.Rule, t.Reason)
				}
			}
			if len(found) == 0 {
				_, _, err := hip.Discover(ctx, search)
				for _, d := range hip.Explain(err, nil) {
					fmt.Fprintf(a.out, "  missing: %s\n           %s\n", d.Message, d.Help)
				}
			}

			fmt.Fprintln(a.out, "\nROCm")
			if r := hip.FindROCm(search); r.Root != "" {
				fmt.Fprintf(a.out, "  root %s (%s), version %s, device libraries %s\n", r.Root, r.Rule, orNone(r.Version), orNone(r.Bitcode))
			} else {
				fmt.Fprintln(a.out, "  none: not needed to link, emit, build or run on the CPU")
			}
			if v := os.Getenv("HSA_OVERRIDE_GFX_VERSION"); v != "" {
				fmt.Fprintf(a.out, "  warning: HSA_OVERRIDE_GFX_VERSION=%s is set: the device pretends to be another one\n", v)
			}

			fmt.Fprintln(a.out, "\nobject cache")
			if d, err := hip.DefaultCacheDir(nil); err != nil {
				fmt.Fprintf(a.out, "  none: %v\n", err)
			} else {
				fmt.Fprintf(a.out, "  %s\n", d)
			}

			for _, kind := range []string{"hip", "cuda"} {
				a.doctorDevices(ctx, kind)
			}
			if len(found) == 0 {
				return &status{code: exitMissing}
			}
			return nil
		},
	}
	c.Flags().StringVar(&compiler, "compiler", "", "check this compiler alone")
	return c
}

// enables says what a piece of a vendor's software is good for.
var enables = map[string]struct{ library, rtc string }{
	"hip":  {"'loomc run' and 'loomc test' with --device hip", "'loomc build --compiler hiprtc'; a clang does the same"},
	"cuda": {"'loomc run' and 'loomc test' with --device cuda", "the same: it compiles for NVIDIA devices"},
}

// doctorDevices probes a device runtime in a child process: a crash inside a
// vendor's library is a line of the report, not the end of it.
func (a *app) doctorDevices(ctx context.Context, kind string) {
	fmt.Fprintf(a.out, "\n%s devices\n", strings.ToUpper(kind))
	p, err := deviceChild(kind).Probe(ctx)
	if err != nil {
		for _, d := range hip.Explain(err, nil) {
			fmt.Fprintf(a.out, "  broken: %s\n", d.Message)
			for _, r := range d.Related {
				fmt.Fprintf(a.out, "          %s\n", r.Message)
			}
			fmt.Fprintf(a.out, "          %s\n", d.Help)
		}
		return
	}
	if p.Library == "" {
		fmt.Fprintf(a.out, "  missing: a runtime library, for %s\n           %s\n", enables[kind].library, p.Install)
	} else {
		fmt.Fprintf(a.out, "  library %s, version %s: for %s\n", p.Library, orNone(p.Version), enables[kind].library)
	}
	a.doctorTried(p.Tried)
	if p.NoDevice != "" {
		fmt.Fprintf(a.out, "  no device: %s\n             %s\n", p.NoDevice, p.Hint)
	}
	for _, d := range p.Devices {
		fmt.Fprintf(a.out, "  %d: %s, %s, wave%d, %d compute units, %d bytes of workgroup memory, %d MiB of L2, %d MiB\n",
			d.Index, d.Name, d.Arch, d.WaveSize, d.ComputeUnits, d.LDSPerBlock, d.L2Bytes>>20, d.TotalMemory>>20)
	}
	if p.RTC != "" {
		fmt.Fprintf(a.out, "  run-time compiler %s, version %s: for %s\n", p.RTC, orNone(p.RTCVersion), enables[kind].rtc)
	} else {
		fmt.Fprintf(a.out, "  missing: a run-time compiler, for %s\n           %s\n", enables[kind].rtc, p.RTCInstall)
	}
	a.doctorTried(p.RTCTried)
}

func (a *app) doctorTried(tried []hip.Attempt) {
	for _, t := range tried {
		if !t.OK {
			fmt.Fprintf(a.out, "  tried  %s (%s): %s\n", t.Path, t.Rule, t.Reason)
		}
	}
}

// deviceChild is this program run as a child that loads a vendor's library.
func deviceChild(kind string) hip.Child {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return hip.Child{Command: []string{self, childCommand}, Kind: kind}
}

// childCommand is the hidden command that serves a parent loomc over the
// standard streams.
const childCommand = "device-child"

func (a *app) childCommand() *cobra.Command {
	return &cobra.Command{Use: childCommand, Hidden: true, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		go orphaned(os.Getppid())
		if err := hiprt.RunChild(a.in, a.out); err != nil {
			return missing(err)
		}
		return nil
	}}
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
