package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/loom/diag"
)

func (a *app) addonCommand() *cobra.Command {
	var cf corpusFlags
	var vf configFlags
	var roots []string
	var target, planCase, output, name, form string
	c := &cobra.Command{
		Use:     "addon -o DIR",
		GroupID: "corpus",
		Short:   "Write kernels as sources for another engine's build",
		Long: `Links, specialises and emits the selected exports and writes them in the form an
engine's build takes:

  hrx     an HRX HIP add-on: kernels/STEM.hip and a C++ file that registers them
  header  kernels/STEM.hip and one C++ header with argument layouts and launch
          functions, for engines that load code objects themselves

Files are generated at build time; nothing needs to be committed.`,
		Example: "  loomc addon -o build/addon --root ggml_softmax_f32\n  loomc addon --form header --name my_kernels -o build/gen",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "" {
				return &status{exitUsage, errors.New("say where to write with -o DIR")}
			}
			if form != "hrx" && form != "header" {
				return &status{exitUsage, fmt.Errorf("--form %s: want hrx or header", form)}
			}
			if err := checkTarget(target); err != nil {
				return err
			}
			bindings, ds, err := vf.bindings(a)
			if err != nil {
				return err
			}
			if ds.HasErrors() {
				return a.show(ds)
			}
			set, l, err := cf.open(c.Context(), c)
			if err != nil {
				return err
			}
			ds = append(ds, l...)
			if set == nil {
				return a.showOpen(ds)
			}
			picked, l := set.Select(roots)
			ds = append(ds, l...)
			picked, l = set.Fit(picked, target)
			ds = append(ds, l...)
			outs, l := set.Link(c.Context(), picked, exports.Request{Config: bindings, Target: target, Case: planCase, Close: true, StripCheck: true, StrictConfig: true})
			ds = append(ds, l...)
			ks, l := addonKernels(set, outs)
			ds = append(ds, l...)
			if ds.HasErrors() {
				return a.show(ds)
			}
			files, l := addonFiles(form, name, ks)
			ds = append(ds, l...)
			if ds.HasErrors() {
				return a.show(ds)
			}
			for _, f := range files {
				path := filepath.Join(output, filepath.FromSlash(f.Path))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return failed(fmt.Errorf("make the output directory: %w", err))
				}
				if err := corpus.WriteFileAtomic(path, f.Data, 0o644); err != nil {
					return failed(fmt.Errorf("write add-on: %w", err))
				}
			}
			if !a.quiet {
				fmt.Fprintf(a.out, "%s: %s of %s written into %s\n", set.Corpus(), count(len(files), "file"), count(len(ks), "kernel"), output)
			}
			return a.show(ds)
		},
	}
	cf.add(c)
	vf.add(c)
	f := c.Flags()
	f.StringArrayVar(&roots, "root", nil, "export name or @symbol to write (repeatable; default: every export)")
	f.StringVar(&target, "target", exports.DefaultTarget, "processor to specialise for")
	f.StringVar(&planCase, "case", "", "write only this plan case; 'none': only what --config gives")
	f.StringVarP(&output, "output", "o", "", "directory to write into")
	f.StringVar(&name, "name", "loom_kernels", "name of the registration file or header")
	f.StringVar(&form, "form", "hrx", "hrx or header")
	return c
}

// addonKernels emits the closed cases of every outcome.
func addonKernels(set *exports.Set, outs []exports.Outcome) ([]codegen.AddonKernel, diag.List) {
	var ks []codegen.AddonKernel
	var ds diag.List
	for i := range outs {
		ds = append(ds, outs[i].Diags...)
		for j := range outs[i].Closed {
			cl := &outs[i].Closed[j]
			if cl.Kernel == nil {
				continue
			}
			u, l := codegen.Emit(cl.Kernel, emitOptions(set, false))
			ds = append(ds, l...)
			if u != nil {
				ks = append(ks, codegen.AddonKernel{Kernel: cl.Kernel, Unit: u, Stem: stemOf(outs[i].Export, cl, len(outs[i].Closed))})
			}
		}
	}
	return ks, ds
}

func addonFiles(form, name string, ks []codegen.AddonKernel) ([]codegen.File, diag.List) {
	if form == "hrx" {
		return codegen.Addon(name, ks)
	}
	text, ds := codegen.CppHeader(name, ks)
	files := []codegen.File{{Path: name + ".h", Data: text}}
	for _, k := range ks {
		files = append(files, codegen.File{Path: "kernels/" + k.Stem + ".hip", Data: k.Unit.Source})
	}
	return files, ds
}
