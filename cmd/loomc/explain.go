package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

func (a *app) explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "explain CODE|OP|PREDICATE",
		GroupID: "other",
		Short:   "Explain a diagnostic code, an operation or a predicate",
		Example: "  loomc explain CONFIG/INVALID\n  loomc explain vector.mma\n  loomc explain multiple_of",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.explain(args[0])
		},
	}
	return c
}

func (a *app) explain(what string) error {
	if code, ok := diag.Lookup(strings.Trim(what, "[]")); ok {
		fmt.Fprint(a.out, code.Text())
		return nil
	}
	if d := dialect.Ops().Lookup(what); d != nil {
		a.explainOp(d)
		return nil
	}
	if p := loom.LookupPred(what); p != nil {
		fmt.Fprintf(a.out, "%s: %d arguments: %s\n", p.Name, p.Arity, p.Doc)
		if p.Old {
			fmt.Fprintln(a.out, "Spelling of the older generation.")
		}
		return nil
	}
	var known []string
	for _, c := range diag.Codes() {
		known = append(known, c.Name)
	}
	for _, d := range dialect.Ops().All() {
		known = append(known, d.Name)
	}
	msg := fmt.Sprintf("'%s' is no diagnostic code, operation or predicate", what)
	if n := dialect.Nearest(what, known); n != "" {
		msg += fmt.Sprintf("; did you mean '%s'?", n)
	}
	return failed(errors.New(msg))
}

func (a *app) explainOp(d *loom.OpDef) {
	d.Compile()
	fmt.Fprintf(a.out, "%s\n\n  %s\n", d.Name, d.Doc)
	if form, ok := strings.CutPrefix(d.Types, "form "); ok {
		fmt.Fprintf(a.out, "\nform\n  %s %s\n", d.Name, form)
		return
	}
	fmt.Fprintf(a.out, "\nform\n  %s %s\n", d.Name, dialect.FormText(d))
	if d.Types != "" {
		fmt.Fprintln(a.out, "\ntypes")
		for rule := range strings.SplitSeq(d.Types, ";") {
			fmt.Fprintf(a.out, "  %s\n", rule)
		}
	}
	if len(d.Attrs) > 0 {
		fmt.Fprintln(a.out, "\nattributes")
		for _, x := range d.Attrs {
			req := ""
			if x.Required {
				req = ", required"
			}
			fmt.Fprintf(a.out, "  %s (%s%s) %s\n", x.Name, x.Kind, req, x.Doc)
		}
	}
	if t := dialect.TraitWords(d.Traits); len(t) > 0 {
		fmt.Fprintf(a.out, "\ntraits\n  %s\n", strings.Join(t, ", "))
	}
}
