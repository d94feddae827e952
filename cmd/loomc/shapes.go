package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus/require"
)

func (a *app) shapesCommand() *cobra.Command {
	var f modelFlags
	var output, target string
	var printRules bool
	c := &cobra.Command{
		Use:     "shapes MODEL.gguf…",
		GroupID: "corpus",
		Short:   "Turn a model's metadata into a requirements file",
		Long: `Reads the header of GGUF files (never the tensors, so size does not matter) and
writes the demands of the model on a kernel corpus as a requirements file for
'loomc check -r'. A rule file maps metadata to demands; the one that comes with
loomc knows llama, mistral, qwen2, qwen3, qwen3moe, qwen3next, deepseek2, gemma and
phi. --print-rules prints it, as documentation and as a start for a file of your
own.`,
		Example: "  loomc shapes model.gguf -o requirements.jsonc\n  loomc shapes model.gguf --set tokens=1,512 --set kv_length=8192\n  loomc shapes --print-rules > my-rules.jsonc",
		Args: func(c *cobra.Command, args []string) error {
			if printRules {
				return cobra.NoArgs(c, args)
			}
			return cobra.MinimumNArgs(1)(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if printRules {
				return a.writeOutput("-", []byte(require.ShippedRules().Text))
			}
			if err := checkTarget(target); err != nil {
				return err
			}
			cases, ds, err := f.cases(a, args)
			if err != nil {
				return err
			}
			text, err := requirementsText(cases, target, args)
			if err != nil {
				return err
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
	c.Flags().StringVarP(&output, "output", "o", "-", "file to write ('-': standard output)")
	c.Flags().StringVar(&target, "target", "", "processor to state in the file, e.g. gfx1151")
	c.Flags().BoolVar(&printRules, "print-rules", false, "print the rule file that comes with loomc")
	return c
}

// requirementsText writes cases as a requirements file, one case per line block.
func requirementsText(cases []require.Case, target string, models []string) ([]byte, error) {
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			return `""` // a string always encodes
		}
		return string(b)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Demands of %s, made by loomc shapes.\n{\n  \"schema\": %s,\n", strings.Join(models, ", "), quote(require.Schema))
	if target != "" {
		fmt.Fprintf(&b, "  \"target\": %s,\n", quote(target))
	}
	b.WriteString("  \"cases\": [\n")
	for i, c := range cases {
		fmt.Fprintf(&b, "    {\n      \"name\": %s,\n      \"export\": %s", quote(c.Name), quote(c.Export))
		if len(c.Config) > 0 {
			b.WriteString(",\n      \"config\": {")
			for j, x := range c.Config {
				fmt.Fprintf(&b, "%s\n        %s: %s", comma(j), quote(x.Key), quote(x.Text))
			}
			b.WriteString("\n      }")
		}
		for _, list := range []struct {
			key string
			ps  []require.Param
		}{{"workload", c.Workload}, {"launch", c.Launch}} {
			if len(list.ps) == 0 {
				continue
			}
			fmt.Fprintf(&b, ",\n      %s: {", quote(list.key))
			for j, p := range list.ps {
				fmt.Fprintf(&b, "%s%s: %d", comma2(j), quote(p.Name), p.Value)
			}
			b.WriteString("}")
		}
		if len(c.Bindings) > 0 {
			b.WriteString(",\n      \"bindings\": {")
			for j, x := range c.Bindings {
				size := "null"
				if x.Bytes >= 0 {
					size = fmt.Sprint(x.Bytes)
				}
				fmt.Fprintf(&b, "%s%s: %s", comma2(j), quote(x.Name), size)
			}
			b.WriteString("}")
		}
		b.WriteString("\n    }")
		if i < len(cases)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("  ]\n}\n")
	return []byte(b.String()), nil
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func comma2(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}
