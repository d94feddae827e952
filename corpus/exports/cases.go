package exports

import (
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// fileFaults returns what is wrong with the files that an export is made of: a
// file that is not the one the manifest describes must not become an object.
func (s *Set) fileFaults(e *corpus.Export) diag.List {
	m := s.corpus.Manifest()
	if m == nil {
		return nil
	}
	used := map[string]bool{e.Source.Value: true}
	for _, t := range slices.Concat(e.Recipe.PrimarySources, s.libraries(e)) {
		used[t.Value] = true
	}
	var ds diag.List
	for i := range m.Files {
		if f := &m.Files[i]; f.Problem != "" && used[f.Path.Value] {
			ds = append(ds, f.Faults()...)
		}
	}
	return ds
}

// checkCase compares the values of a plan case with the parameters of its
// kernel: all of them must have one, and there are no others.
func checkCase(c *corpus.PlanCase, abi *linker.ABI) diag.List {
	var ds diag.List
	at := orElse(c.Name.Span, c.Span)
	for _, list := range []struct {
		name   string
		have   []corpus.ConfigValue
		params []linker.ABIScalar
		shared []linker.ABIScalar // parameters of other lists whose values serve here too
	}{
		{"workload", c.Workload, abi.Workload, nil},
		{"launch", c.Launch, abi.Launch, abi.Workload},
	} {
		var names []string
		for _, p := range list.params {
			names = append(names, p.Name)
			if hasKey(list.have, p.Name) || hasParam(list.shared, p.Name) {
				continue
			}
			d := diag.Errorf(at, "MANIFEST/CASE-PARAMETER", "plan case '%s' gives no value for %s parameter '%s'", c.Name.Value, list.name, p.Name).
				WithRelated(p.Span, "the parameter, of type %s", p.Type).
				WithHelp(`add "%s" to "%s"`, p.Name, list.name)
			if list.name == "launch" && len(list.have) == 0 {
				d.Severity = diag.Warning // it compiles and has a geometry; only a run would miss the value
			}
			ds.Add(d)
		}
		for _, v := range list.have {
			if slices.Contains(names, v.Key) {
				continue
			}
			d := diag.Errorf(v.KeySpan, "MANIFEST/CASE-PARAMETER", "plan case '%s': kernel '@%s' has no %s parameter '%s'", c.Name.Value, abi.Symbol, list.name, v.Key).
				WithRelated(abi.Kernel.NameSpan, "the kernel")
			switch n := dialect.Nearest(v.Key, names); {
			case n != "":
				d = d.WithHelp("did you mean '%s'?", n)
			case len(names) == 0:
				d = d.WithHelp("remove it: the kernel has no %s parameters", list.name)
			default:
				d = d.WithHelp("remove it, or rename it to one of '%s'", strings.Join(names, "', '"))
			}
			ds.Add(d)
		}
	}
	return ds
}

func hasParam(ps []linker.ABIScalar, name string) bool {
	return slices.ContainsFunc(ps, func(p linker.ABIScalar) bool { return p.Name == name })
}

func hasKey(vs []corpus.ConfigValue, key string) bool {
	return slices.ContainsFunc(vs, func(v corpus.ConfigValue) bool { return v.Key == key })
}

// checkCaseConfig looks for config of a plan case that the export does not have.
// known are the config symbols that its link reaches.
func checkCaseConfig(c *corpus.PlanCase, e *corpus.Export, known []string) diag.List {
	var ds diag.List
	for _, v := range c.Config {
		if slices.Contains(known, v.Key) {
			continue
		}
		d := diag.Errorf(v.KeySpan, "CONFIG/UNKNOWN", "plan case '%s': export '%s' has no config '%s'", c.Name.Value, e.ID(), v.Key)
		if n := dialect.Nearest(v.Key, known); n != "" {
			d = d.WithHelp("did you mean '%s'?", n)
		} else {
			d = d.WithHelp("remove it; `loomc link --root %s --print-config-schema` lists the config of the export", e.Name.Value)
		}
		ds.Add(d)
	}
	return ds
}

func configKeys(rs ...*linker.Result) []string {
	var out []string
	for _, r := range rs {
		if r == nil {
			continue
		}
		for _, c := range r.Configs {
			out = append(out, c.Key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
