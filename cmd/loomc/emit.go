package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
)

// closeFlags are the flags of commands that work on one closed export.
type closeFlags struct {
	corpusFlags
	configFlags
	target, planCase string
	dumpAfter        string
}

func (f *closeFlags) add(c *cobra.Command) {
	f.corpusFlags.add(c)
	f.configFlags.add(c)
	c.Flags().StringVar(&f.target, "target", "", "processor, e.g. gfx1151 (default: what the kernel names, else "+exports.DefaultTarget+"; on a HIP device its own)")
	c.Flags().StringVar(&f.planCase, "case", "", "plan case whose values stand in for config that --config leaves open (default: the first; 'none': no case)")
	c.Flags().StringVar(&f.dumpAfter, "dump-after", "", "print the kernel after every run of this pass of specialisation ('all': after every pass)")
}

// closed links and specialises one export and returns its kernel. A nil kernel
// means that the diagnostics say why.
func (f *closeFlags) closed(c *cobra.Command, a *app, name string) (*exports.Set, *exports.Outcome, *exports.Closed, diag.List, error) {
	if err := checkTarget(f.target); err != nil {
		return nil, nil, nil, nil, err
	}
	bindings, ds, err := f.bindings(a)
	if err != nil || ds.HasErrors() {
		return nil, nil, nil, ds, err
	}
	set, l, err := f.open(c.Context(), c)
	ds = append(ds, l...)
	if err != nil || set == nil {
		return nil, nil, nil, ds, err
	}
	picked, l := set.Select([]string{name})
	ds = append(ds, l...)
	one, l := set.One(picked, f.target)
	ds = append(ds, l...)
	if one == nil {
		return set, nil, nil, ds, nil
	}
	req := exports.Request{Config: bindings, Target: f.target, Case: f.planCase, Close: true, StrictConfig: true, StripCheck: true}
	if req.Case == "" {
		if cases := set.Cases(one); len(cases) > 0 {
			req.Case = cases[0].Name.Value
		}
	}
	if f.dumpAfter != "" {
		known := f.dumpAfter == "all"
		for _, p := range linker.Passes() {
			known = known || p.Name == f.dumpAfter
		}
		if !known {
			return nil, nil, nil, nil, &status{exitUsage, fmt.Errorf("--dump-after %s: no such pass\n%s", f.dumpAfter, passList())}
		}
		req.Dump = func(string) linker.SpecializeOptions {
			return linker.SpecializeOptions{Dump: func(pass string, round int, d *loom.Def) {
				if f.dumpAfter == "all" || pass == f.dumpAfter {
					fmt.Fprintf(a.out, "// after %s, round %d\n%s\n", pass, round, loom.PrintDef(d))
				}
			}}
		}
	}
	outs, l := set.Link(c.Context(), []*corpus.Export{one}, req)
	ds = append(ds, l...)
	ds = append(ds, outs[0].Diags...)
	if len(outs[0].Closed) == 0 {
		return set, &outs[0], nil, ds, nil
	}
	return set, &outs[0], &outs[0].Closed[0], ds, nil
}

func passList() string {
	s := "passes:"
	for _, p := range linker.Passes() {
		s += "\n  " + p.Name + ": " + p.Doc
	}
	return s
}

func (a *app) emitCommand() *cobra.Command {
	var f closeFlags
	var noLine, abi, report bool
	var format, output, arch string
	c := &cobra.Command{
		Use:     "emit EXPORT",
		GroupID: "corpus",
		Short:   "Specialise one export and print it as HIP C++ or Loom",
		Long: `Links one export, binds its config, chooses and inlines templates, folds what
became constant, and prints self-contained HIP C++: no includes, pointers first,
then scalars, literal wave size, #line back to the Loom source.

Config that --config leaves open comes from the manifest's first plan case for the
export, or from the one named with --case.

--pass-report says what each pass did and what blocked it, and --dump-after=PASS
prints the kernel after every run of a pass. The ` + passList(),
		Example: `  loomc emit ggml_softmax_f32 --target gfx1151
  loomc emit ggml_flash_attention_f32_f16_wmma --config ggml.flash_attention.qk_head_size=64 --abi
  loomc emit ggml_rms_norm_f32 --format loom`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch format {
			case "hip", "loom", "asm":
			default:
				return &status{exitUsage, fmt.Errorf("--format %s: want hip, loom or asm", format)}
			}
			set, _, cl, ds, err := f.closed(c, a, args[0])
			if err != nil {
				return err
			}
			if report && cl != nil && cl.Report != nil {
				a.printReport(cl.Report)
			}
			if cl == nil || cl.Kernel == nil {
				if err := a.show(ds); err != nil {
					return err
				}
				return failed(errors.New("the export did not close"))
			}
			var text []byte
			switch {
			case abi:
				return a.printABI(c.Context(), set, cl, ds)
			case format == "loom":
				text = closedText(cl.Kernel)
			default:
				u, l := codegen.Emit(cl.Kernel, emitOptions(set, !noLine))
				ds = append(ds, l...)
				if u != nil {
					text = u.Source
				}
				if u != nil && format == "asm" {
					if text, err = a.assembly(c.Context(), set, u, arch); err != nil {
						return err
					}
				}
			}
			if !ds.HasErrors() {
				if err := a.writeOutput(output, text); err != nil {
					return err
				}
			}
			return a.show(ds)
		},
	}
	f.add(c)
	c.Flags().BoolVar(&noLine, "no-line", false, "leave out #line directives")
	c.Flags().BoolVar(&abi, "abi", false, "print the argument layout and the launch geometry instead of code")
	c.Flags().BoolVar(&report, "pass-report", false, "print what each pass did first: selections, folds, unrolled loops, what blocked")
	c.Flags().StringVar(&format, "format", "hip", "hip, loom (the closed kernel) or asm (the ISA beside the Loom lines)")
	c.Flags().StringVar(&arch, "arch", exports.DefaultTarget, "processor that --format asm compiles for")
	c.Flags().StringVarP(&output, "output", "o", "-", "file to write")
	c.MarkFlagsMutuallyExclusive("abi", "format")
	return c
}

// closedText prints a closed kernel as a file that stands on its own: with the
// record of the target it names.
func closedText(k *kernel.Kernel) []byte {
	var b []byte
	if t := k.Def.Mods.Target; t != "" {
		b = fmt.Appendf(b, "amdgpu.target<%s> @%s {subgroup_size = %d}\n\n", k.Target.Processor, t, k.Target.WaveSize)
	}
	return append(b, loom.PrintDef(k.Def)...)
}

func emitOptions(set *exports.Set, line bool) codegen.Options {
	return codegen.Options{Line: line, Tool: "loomc " + version(), Corpus: set.Corpus().String()}
}

// printReport prints a report as comments, so that what follows stays what it is.
func (a *app) printReport(r *linker.Report) {
	for line := range strings.Lines(r.Text()) {
		fmt.Fprintf(a.out, "// %s", line)
	}
}

// printABI prints the kernarg layout, config and launch geometry of a kernel.
func (a *app) printABI(_ context.Context, set *exports.Set, cl *exports.Closed, ds diag.List) error {
	u, l := codegen.Emit(cl.Kernel, emitOptions(set, false))
	ds = append(ds, l...)
	if u == nil {
		return a.show(ds)
	}
	k := cl.Kernel
	fmt.Fprintf(a.out, "export  %s\nsymbol  %s\ntarget  %s, wave%d\n", k.Export, u.Symbol, u.Target, u.WaveSize)
	fmt.Fprintf(a.out, "lds     %d bytes (%d of them scratch for reductions)\n", u.LocalBytes, u.ScratchBytes)
	fmt.Fprintf(a.out, "kernarg %d bytes of explicit arguments, rounded up to 8\n", u.ABI.Bytes)
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "  OFFSET\tSIZE\tNAME\tTYPE\tACCESS")
	for _, x := range u.ABI.Args {
		access := "by value"
		if x.Buffer {
			access = x.Access.String()
		}
		fmt.Fprintf(w, "  %d\t%d\t%s\t%s\t%s\n", x.Offset, x.Size, x.Name, x.Type, access)
	}
	w.Flush()
	fmt.Fprintf(a.out, "workgroup size %d × %d × %d\n", u.WorkgroupSize[0], u.WorkgroupSize[1], u.WorkgroupSize[2])
	if len(k.Workload) > 0 {
		fmt.Fprint(a.out, "workload      ")
		for _, s := range k.Workload {
			fmt.Fprintf(a.out, " %s: %s", s.Name, s.Param.Type)
		}
		fmt.Fprintln(a.out)
	}
	for _, c := range k.Config {
		fmt.Fprintf(a.out, "config         %s = %s\n", c.Key, c.Text)
	}
	if g, vals, ok := caseGeometry(cl); ok {
		fmt.Fprintf(a.out, "grid           %d × %d × %d workgroups for %s (plan case)\n", g.Count[0], g.Count[1], g.Count[2], vals)
	}
	fmt.Fprintf(a.out, "launch config:\n")
	for line := range strings.Lines(launchText(k)) {
		fmt.Fprintf(a.out, "  %s", line)
	}
	return a.show(ds)
}

// caseGeometry evaluates the launch geometry for the plan case's workload.
func caseGeometry(cl *exports.Closed) (g kernel.Geometry, values string, ok bool) {
	vals, ok := cl.WorkloadValues()
	if !ok {
		return g, "", false
	}
	g, err := kernel.EvalLaunch(cl.Kernel, vals)
	if err != nil {
		return g, "", false
	}
	for i, s := range cl.Kernel.Workload {
		if i > 0 {
			values += ", "
		}
		values += fmt.Sprintf("%s = %d", s.Name, vals[i])
	}
	return g, values, true
}
