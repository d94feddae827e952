package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus/program"
	"github.com/loomc/loomc/loom/diag"
)

func (a *app) programCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "program",
		GroupID: "corpus",
		Short:   "Work on an engine's command programs",
	}
	c.AddCommand(a.programCheckCommand())
	return group(c)
}

func (a *app) programCheckCommand() *cobra.Command {
	var f corpusFlags
	var target, format string
	c := &cobra.Command{
		Use:   "check PROGRAM.json…",
		Short: "Check command programs against a corpus",
		Long: `Checks programs that an engine dumped (schema ` + program.Schema + `):
every command against its kernel (config, parameters, binding names, access and
sizes), every two commands that touch the same bytes for an order, transients for
their place in the arena and their live ranges, completion counters, and the
layouts that producers and consumers of a value take it for.`,
		Example: "  loomc program check program.json --pin 8f3c2d1\n  loomc program check dumps/*.json --corpus ./loom-libs --format sarif",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			write := map[string]func(diag.List) error{
				"text":  a.show,
				"json":  func(l diag.List) error { return diag.WriteJSON(a.out, l) },
				"sarif": func(l diag.List) error { return diag.WriteSARIF(a.out, l, version()) },
				"github": func(l diag.List) error {
					return diag.WriteGitHub(a.out, l)
				},
			}[format]
			if write == nil {
				return &status{exitUsage, fmt.Errorf("--format %s: want text, json, sarif or github", format)}
			}
			if err := checkTarget(target); err != nil {
				return err
			}
			bench, ds, err := a.openBench(c.Context(), c, &f)
			if err != nil {
				return err
			}
			if bench == nil {
				return a.showOpen(ds)
			}
			commands := 0
			for _, name := range args {
				src, err := a.readSource(name)
				if err != nil {
					return err
				}
				p, l := program.Read(src)
				ds = append(ds, l...)
				if p == nil {
					continue
				}
				if target != "" {
					p.Target = target
				}
				commands += len(p.Commands)
				l, err = program.Check(c.Context(), bench, p)
				if err != nil {
					return err
				}
				ds = append(ds, l...)
			}
			ds = ds.Sorted()
			if format == "text" && !a.quiet {
				fmt.Fprintf(a.out, "%s, %s: %s, %s\n", count(len(args), "program"), count(commands, "command"), count(ds.Count(diag.Error), "error"), count(ds.Count(diag.Warning), "warning"))
			}
			if err := write(ds); err != nil {
				return err
			}
			if ds.HasErrors() {
				return &status{code: exitFindings}
			}
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&target, "target", "", "processor to check for (default: the program's)")
	c.Flags().StringVar(&format, "format", "text", "text, json, sarif or github")
	return c
}
