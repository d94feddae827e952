package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/loom/diag"
)

func (a *app) manifestCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "manifest",
		GroupID: "corpus",
		Short:   "Write a corpus's manifest from its sources, or check the one it has",
	}
	c.AddCommand(a.manifestGenerateCommand(), a.manifestCheckCommand())
	return group(c)
}

func (a *app) manifestGenerateCommand() *cobra.Command {
	var f corpusFlags
	var output string
	c := &cobra.Command{
		Use:   "generate --corpus DIR [-o FILE]",
		Short: "Write manifest.json from the sources",
		Long: `Writes the manifest that the sources call for: one export per kernel.def with its
workload and launch parameters, its bindings and what the body does to each, its
target, the library files it reaches and no others, and the digest of every file.

Kept from a manifest the corpus already has: families, target selectors narrower
than the kernel's, archive recipes, plan cases, owners, identity fields, and every
field loomc does not know. Kernels of files with test cases are left out unless
that manifest lists them.`,
		Example: `  loomc manifest generate --corpus kernels -o kernels/manifest.json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.corpus == "" && f.pin == "" {
				return &status{exitUsage, errors.New("name the corpus with --corpus DIR")}
			}
			cp, ds := corpus.Open(c.Context(), corpus.Options{Repo: f.repo, Pin: f.pin, Path: f.corpus, Override: f.override, SourcesOnly: f.pin == ""})
			if cp == nil {
				return a.showOpen(ds)
			}
			ds = beyondRepair(ds)
			m, l := exports.New(cp).Generate(c.Context())
			ds = append(ds, l...)
			if m == nil || ds.HasErrors() {
				return a.show(ds)
			}
			if len(m.Exports) == 0 {
				return failed(fmt.Errorf("%s defines no kernel; nothing to write", cp))
			}
			text, err := m.Marshal()
			if err != nil {
				return failed(err)
			}
			if output == "" {
				output = "-"
			}
			if err := a.writeOutput(output, text); err != nil {
				return err
			}
			if output != "-" && !a.quiet {
				fmt.Fprintf(a.out, "%s: %s, %s\n", output, count(len(m.Exports), "export"), count(len(m.Files), "file"))
			}
			return a.show(ds)
		},
	}
	f.add(c)
	c.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	return c
}

// beyondRepair keeps of what opening a corpus found the faults that writing its
// manifest anew does not mend: unreadable files, and text that is no manifest.
func beyondRepair(ds diag.List) diag.List {
	var out diag.List
	for _, d := range ds {
		switch d.Code {
		case "MANIFEST/SYNTAX", "MANIFEST/TYPE", "MANIFEST/DUPLICATE-KEY":
		default:
			if strings.HasPrefix(d.Code, "MANIFEST/") {
				continue
			}
		}
		out.Add(d)
	}
	return out
}

func (a *app) manifestCheckCommand() *cobra.Command {
	var f corpusFlags
	c := &cobra.Command{
		Use:   "check [--pin SHA] [--corpus DIR]",
		Short: "Explain every difference between the manifest and the sources",
		Long: `Compares the manifest with the one 'loomc manifest generate' would write, and
explains every difference: the line of the manifest, the place in the sources
that calls for something else, and what to write.

Errors can make an engine misbehave; warnings cost time only, such as a library
that is not needed; notes (-v) are optional fields that are missing.`,
		Example: `  loomc manifest check --pin HEAD
  loomc manifest check --corpus kernels`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			set, ds, err := f.open(c.Context(), c)
			if err != nil {
				return err
			}
			if set == nil {
				return a.showOpen(ds)
			}
			ds = append(ds, set.CheckManifest(c.Context())...)
			errs, warns := 0, 0
			for _, d := range ds {
				switch d.Severity {
				case diag.Error:
					errs++
				case diag.Warning:
					warns++
				}
			}
			if !a.quiet {
				m := set.Corpus().Manifest()
				if errs+warns == 0 {
					fmt.Fprintf(a.out, "%s: %s and %s agree with the sources\n", set.Corpus(), count(len(m.Exports), "export"), count(len(m.Files), "file"))
				} else {
					fmt.Fprintf(a.out, "%s: %s, %s\n", set.Corpus(), count(errs, "error"), count(warns, "warning"))
				}
			}
			return a.show(ds)
		},
	}
	f.add(c)
	return c
}
