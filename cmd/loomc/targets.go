package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/loom/target"
)

func (a *app) targetsCommand() *cobra.Command {
	var shapes bool
	c := &cobra.Command{
		Use:     "targets",
		GroupID: "other",
		Short:   "List the processors loomc knows and what it knows of them",
		Long: `Lists the table of facts that linking, checking and code generation ask: wave
sizes (the first is the default), workgroup memory, the largest workgroup, and
with --shapes the matrix multiplies at each wave size. A kernel written for a
processor or generic runs on those listed under COVERS as well.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "TARGET\tFAMILY\tWAVES\tLDS\tWORKGROUP\tMATRIX\tCOVERS")
			for _, name := range target.Names() {
				t, _ := target.Lookup(name)
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", name, t.Family, strings.Trim(strings.ReplaceAll(fmt.Sprint(t.WaveSizes), " ", ","), "[]"),
					t.LDSBytes, t.MaxWorkgroupSize, count(len(t.Matrix), "shape"), covered(name))
			}
			if err := w.Flush(); err != nil {
				return failed(fmt.Errorf("write output: %w", err))
			}
			if !shapes {
				return nil
			}
			for _, name := range target.Names() {
				t, _ := target.Lookup(name)
				for _, wave := range t.WaveSizes {
					t.WaveSize = wave
					words := t.MatrixWords()
					if words == "" {
						words = "none"
					}
					fmt.Fprintf(a.out, "\n%s, wave%d: %s\n", name, wave, words)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&shapes, "shapes", false, "print the matrix shapes of each target")
	return c
}

// covered lists the other processors that kernels of a target run on.
func covered(name string) string {
	var out []string
	for _, n := range target.Names() {
		if n != name && n != target.Reference && target.Compatible(name, n) {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}
