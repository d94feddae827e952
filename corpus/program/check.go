package program

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/loom/diag"
)

// Check checks a program against a corpus. Findings are in the order of the
// commands. The error is the context's.
func Check(ctx context.Context, b *require.Bench, p *Program) (diag.List, error) {
	runs := make([]*require.Result, len(p.Commands))
	found := make([]diag.List, len(p.Commands))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	const batch = 64
	for from := 0; from < len(p.Commands); from += batch {
		g.Go(func() error {
			for i := from; i < min(from+batch, len(p.Commands)); i++ {
				if err := gctx.Err(); err != nil {
					return fmt.Errorf("checking command %d: %w", p.Commands[i].Ordinal, err)
				}
				runs[i], found[i] = checkCommand(gctx, b, p, &p.Commands[i])
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var ds diag.List
	for _, f := range found {
		ds = append(ds, f...)
	}
	o, l := newOrder(p)
	ds = append(ds, l...)
	if !hasCode(l, "PROGRAM/CYCLE") {
		ds = append(ds, p.hazards(o)...)
	}
	ds = append(ds, p.arenaLayout()...)
	ds = append(ds, p.layouts(runs)...)
	return ds.Sorted(), nil
}

func hasCode(ds diag.List, code string) bool {
	return slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Code == code })
}

func bindingNamed(name string) func(compat.Binding) bool {
	return func(b compat.Binding) bool { return b.Name == name }
}

// checkCommand checks one command against its kernel.
func checkCommand(ctx context.Context, b *require.Bench, p *Program, c *Command) (*require.Result, diag.List) {
	family, name := c.split()
	demand := require.Case{
		Name: c.Name(), Export: name, Target: p.Target, Config: c.Config, Params: c.Params,
		Ordered: true, Span: c.Span, ExportSpan: c.KernelSpan,
	}
	for i := range c.Bindings {
		x := &c.Bindings[i]
		demand.Bindings = append(demand.Bindings, require.Buffer{Name: x.Name, Bytes: x.Length, Span: x.LengthSpan})
	}
	r := b.CheckCase(ctx, &demand)
	ds := r.Diags
	for i := range ds {
		ds[i].Message = strings.TrimPrefix(ds[i].Message, "case '"+demand.Name+"': ")
		ds[i].Message = c.Name() + ": " + ds[i].Message
	}
	if r.Export == nil || r.Fit == nil {
		return &r, ds
	}
	if f := r.Export.Family.Value; family != "" && f != "" && family != f {
		ds.Add(diag.Errorf(c.KernelSpan, "PROGRAM/KERNEL", "%s: export '%s' is of family '%s'", c.Name(), name, f).
			WithRelated(r.Export.Family.Span, "the manifest says so").WithHelp("write '%s:%s'", f, name))
	}
	if len(c.Bindings) == 0 && len(r.Fit.Contract.Bindings) > 0 {
		ds.Add(diag.Errorf(c.Span, "PROGRAM/BINDING", "%s binds nothing, the kernel takes %d buffers", c.Name(), len(r.Fit.Contract.Bindings)).
			WithRelated(r.Fit.Contract.Kernel, "the kernel").WithHelp("list every binding"))
	}
	ds.Add(checkBindings(c, r.Fit.Contract)...)
	return &r, ds
}

// checkBindings compares positions and access; names and sizes are the demand's
// business.
func checkBindings(c *Command, contract *compat.Contract) diag.List {
	var ds diag.List
	seen := map[string]diag.Span{}
	for i := range c.Bindings {
		b := &c.Bindings[i]
		if first, dup := seen[b.Name]; dup {
			ds.Add(diag.Errorf(b.Span, "PROGRAM/BINDING", "%s: binding '%s' comes twice", c.Name(), b.Name).WithRelated(first, "first here").WithHelp("bind every buffer once"))
			continue
		}
		seen[b.Name] = b.Span
		if b.Index >= 0 && b.Index != int64(i) {
			ds.Add(diag.Errorf(b.Span, "PROGRAM/BINDING", "%s: binding '%s' states index %d and is number %d of the list", c.Name(), b.Name, b.Index, i).WithHelp("list the bindings in the order of their indices"))
		}
		k := slices.IndexFunc(contract.Bindings, bindingNamed(b.Name))
		if k < 0 {
			continue
		}
		have := contract.Bindings[k].Access
		if have == b.Access || have == corpus.AccessUnknown {
			continue
		}
		d := diag.Errorf(b.AccessSpan, "PROGRAM/ACCESS", "%s: binding '%s' is bound for %s, the kernel's access is %s", c.Name(), b.Name, b.Access, have).
			WithRelated(contract.Bindings[k].Span, "the kernel's binding").WithHelp("bind it for %s; dependencies and barriers follow from it", have)
		if b.Access == corpus.AccessReadWrite {
			d.Severity = diag.Warning // promising too much costs synchronisation, not correctness
		}
		ds.Add(d)
	}
	return ds
}
