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
	var f corpusFlags
	c := &cobra.Command{
		Use:     "explain CODE|OP|PREDICATE|EXPORT",
		GroupID: "other",
		Short:   "Explain a diagnostic code, an operation, a predicate, or what an export accepts",
		Long: `Explains a diagnostic code, an operation or a predicate of the language, or an
export of the corpus: per config symbol the allowed set and why, strides and
alignments its views need, launch limits, LDS, and the templates it selects.`,
		Example: "  loomc explain CONFIG/INVALID\n  loomc explain vector.mma\n  loomc explain multiple_of\n  loomc explain ggml_softmax_f32",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.explain(args[0]) {
				return nil
			}
			found, err := a.explainExport(c, &f, args[0])
			if err != nil || found {
				return err
			}
			return unknownName(args[0])
		},
	}
	f.add(c)
	return c
}

// explain explains a name of the language or of loomc itself; ok is false when
// it is none.
func (a *app) explain(what string) (ok bool) {
	if code, ok := diag.Lookup(strings.Trim(what, "[]")); ok {
		fmt.Fprint(a.out, code.Text())
		return true
	}
	if d := dialect.Ops().Lookup(what); d != nil {
		a.explainOp(d)
		return true
	}
	p := loom.LookupPred(what)
	if p == nil {
		return a.explainRule(what)
	}
	fmt.Fprintf(a.out, "%s: %s: %s\n", p.Name, count(p.Arity, "argument"), p.Doc)
	if p.Old {
		fmt.Fprintln(a.out, "Spelling of the older generation.")
	}
	return true
}

// unknownName reports a name that nothing explains, with the nearest known one.
func unknownName(what string) error {
	var known []string
	for _, c := range diag.Codes() {
		known = append(known, c.Name)
	}
	for _, d := range dialect.Ops().All() {
		known = append(known, d.Name)
	}
	msg := fmt.Sprintf("'%s' is no diagnostic code, operation, predicate or export", what)
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
