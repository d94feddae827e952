package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/verify"
	"github.com/loomc/loomc/parser"
)

func (a *app) verifyCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "verify FILE|DIR…",
		GroupID: "file",
		Short:   "Check Loom files: syntax, types, structure, symbols",
		Long: `Parses and verifies every file on its own and reports all faults of all files.
References to symbols of other files must be declared in the file, as the language
demands; linking checks the definitions.`,
		Example: "  loomc verify corpus/\n  loomc verify --format github kernel.loom",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			files, err := loomFiles(args)
			if err != nil {
				return err
			}
			lists, err := eachFile(c.Context(), files, func(_ context.Context, name string) (diag.List, error) {
				src, err := a.readSource(name)
				if err != nil {
					return nil, err
				}
				m, l := parser.Parse(src)
				return append(l, verify.Module(m, verify.Options{})...), nil
			})
			if err != nil {
				return err
			}
			var all diag.List
			for _, l := range lists {
				all = append(all, l...)
			}
			if err := a.render(all, format); err != nil {
				return err
			}
			if !a.quiet && format == "text" {
				fmt.Fprintf(a.out, "%s verified, no errors\n", count(len(files), "file"))
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text, json, sarif or github")
	return c
}

// render writes diagnostics in the chosen format: text to the error stream, the
// machine formats to the output.
func (a *app) render(l diag.List, format string) error {
	l = l.Sorted()
	var err error
	switch format {
	case "text":
		return a.show(l)
	case "json":
		err = diag.WriteJSON(a.out, l)
	case "sarif":
		err = diag.WriteSARIF(a.out, l, version())
	case "github":
		err = diag.WriteGitHub(a.out, l)
	default:
		return &status{exitUsage, fmt.Errorf("--format %s: want text, json, sarif or github", format)}
	}
	if err != nil {
		return failed(fmt.Errorf("write diagnostics: %w", err))
	}
	if l.HasErrors() {
		return &status{code: exitFindings}
	}
	return nil
}
