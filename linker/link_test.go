package linker_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/target"
	"github.com/loomc/loomc/parser"
)

var update = flag.Bool("update", false, "rewrite golden files")

// A case is an archive of .loom files (those under lib/ are libraries), a file
// "args" with one switch a line, and the expected outputs. The switch "show"
// names the outputs: diag, loom, plan, config, select, rejected.
func TestLink(t *testing.T) {
	files, err := filepath.Glob("testdata/link/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := readCase(t, ar)
			got := c.run(t)
			if *update {
				ar.Files = slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want.") })
				ar.Files = append(ar.Files, got...)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := map[string]string{}
			for _, f := range ar.Files {
				if strings.HasPrefix(f.Name, "want.") {
					want[f.Name] = string(f.Data)
				}
			}
			for _, f := range got {
				w, ok := want[f.Name]
				if !ok {
					t.Errorf("no %s in the archive; run with -update", f.Name)
				}
				if d := cmp.Diff(w, string(f.Data)); d != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, d)
				}
				delete(want, f.Name)
			}
			for name := range want {
				t.Errorf("%s is not produced", name)
			}
		})
	}
}

type linkCase struct {
	sources []linker.Source
	req     linker.Request
	show    []string
	parse   diag.List
}

func readCase(t *testing.T, ar *txtar.Archive) *linkCase {
	t.Helper()
	c := &linkCase{}
	for _, f := range ar.Files {
		switch {
		case strings.HasSuffix(f.Name, ".loom") && !strings.HasPrefix(f.Name, "want."):
			m, ds := parser.Parse(diag.NewSource(f.Name, string(f.Data)))
			c.parse = append(c.parse, ds...)
			role := linker.Primary
			if strings.HasPrefix(f.Name, "lib/") {
				role = linker.Library
			}
			c.sources = append(c.sources, linker.Source{Mod: m, Role: role})
		case f.Name == "args":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				c.arg(t, line)
			}
		}
	}
	if len(c.show) == 0 {
		c.show = []string{"diag"}
	}
	return c
}

func (c *linkCase) arg(t *testing.T, line string) {
	t.Helper()
	name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch name {
	case "root":
		c.req.Roots = append(c.req.Roots, value)
	case "config":
		b, ds := linker.ParseBinding(value)
		if len(ds) > 0 {
			c.parse = append(c.parse, ds...)
			return
		}
		c.req.Config = append(c.req.Config, b)
	case "target":
		c.req.Target = value
	case "archive":
		c.req.Mode = linker.ModeArchive
	case "strip-check":
		c.req.StripCheck = true
	case "exported-roots":
		c.req.IncludeExportedRoots = true
	case "require-resolved":
		c.req.RequireResolvedConfig = true
	case "strict":
		c.req.StrictConfig = true
	case "allow-missing-providers":
		c.req.AllowMissingProviders = true
	case "show":
		c.show = strings.Fields(value)
	default:
		t.Fatalf("args: unknown switch %q", line)
	}
}

func (c *linkCase) run(t *testing.T) []txtar.File {
	t.Helper()
	res, ds := linker.Link(context.Background(), linker.NewIndex(c.sources), c.req)
	ds = append(slices.Clone(c.parse), ds...).Sorted()
	var out []txtar.File
	for _, what := range c.show {
		var data string
		switch what {
		case "diag":
			data = diag.Text(ds)
		case "loom":
			data = string(loom.Print(res.Module))
		case "plan":
			for _, p := range res.Plan {
				data += fmt.Sprintf("@%s (%s) defined %s: %s", p.Symbol, p.Kind, p.Defined, p.Edge)
				if p.From != "" {
					data += " from " + p.From + " at " + p.Place
				}
				if p.Original != "" {
					data += ", was @" + p.Original
				}
				for _, d := range p.Declared {
					data += ", fills " + d
				}
				data += "\n"
			}
		case "rejected":
			for _, r := range res.Rejected {
				data += fmt.Sprintf("@%s %s: %s\n", r.Symbol, r.Place, r.Reason)
			}
			for _, k := range res.UnusedKeys {
				data += "unused key " + k + "\n"
			}
		case "config":
			data = linker.SchemaText(res.Configs)
		case "config.json":
			b, err := json.MarshalIndent(linker.Schema(res.Configs), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			data = string(b) + "\n"
		case "select":
			data = c.selections(t, res)
		default:
			t.Fatalf("args: cannot show %q", what)
		}
		out = append(out, txtar.File{Name: "want." + what, Data: []byte(data)})
	}
	return out
}

// selections selects at every apply of the roots' own bodies, early and final.
func (c *linkCase) selections(t *testing.T, res *linker.Result) string {
	var b strings.Builder
	for _, root := range res.Roots {
		tgt := root.Target
		env := facts.Env{}
		if tgt != nil {
			env.WaveSize = int64(tgt.WaveSize)
		}
		env.Config = func(key string) (facts.Fact, bool) {
			d := res.Module.Lookup(key)
			switch {
			case d == nil:
				return facts.Fact{}, false
			case d.Kind == loom.DefConfigDef:
				return facts.Exact(d.Init.Int), true
			}
			return facts.Declared(d), true
		}
		set := facts.Analyze(root.Def, env)
		root.Def.Walk(func(o *loom.Op) bool {
			if o.Name() == "template.call" {
				callee := res.Module.Lookup(o.Word("callee"))
				c := linker.CheckExact(siteIn(res.Module, root.Def, o, tgt, set), callee)
				fmt.Fprintf(&b, "%s exact: %s\n", o.NameSpan(), outcome(c))
				if c.Failure != "" {
					b.WriteString(diag.Text(diag.List{c.Diagnostic(siteIn(res.Module, root.Def, o, tgt, set), "specialise")}))
				}
				return true
			}
			if o.Name() != "func.apply" && o.Name() != "template.apply" {
				return true
			}
			site := siteIn(res.Module, root.Def, o, tgt, set)
			early, final := linker.Select(site, false), linker.Select(site, true)
			fmt.Fprintf(&b, "%s %s: early %s, final %s\n", o.NameSpan(), final.Family, outcome(early), outcome(final))
			for _, k := range final.Candidates {
				fmt.Fprintf(&b, "  %s\n", k)
			}
			if final.Failure != "" {
				b.WriteString(diag.Text(diag.List{final.Diagnostic(site, "specialise")}))
			}
			return true
		})
	}
	return b.String()
}

func siteIn(m *loom.Module, caller *loom.Def, o *loom.Op, tgt *target.Target, f linker.SiteFacts) linker.ApplySite {
	site := linker.ApplySite{Apply: o, CallerTarget: caller.Mods.Target, Active: tgt, Facts: f, Lookup: m.Lookup, Family: m.Lookup(o.Word("family"))}
	for _, d := range m.Defs {
		if d.IsTemplate() && d.Family == o.Word("family")+o.Word("contract") && (d.Op.Dialect() == "func") == (o.Name() == "func.apply") {
			site.Candidates = append(site.Candidates, d)
		}
	}
	return site
}

func outcome(c linker.Choice) string {
	switch {
	case c.Failure != "":
		return c.Failure
	case c.Winner == nil:
		return "open"
	}
	return "@" + c.Winner.Name
}
