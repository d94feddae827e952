package compat_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/compat"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/loom/diag"
)

// bundle is the bundled corpus as text that a mutation may change.
type bundle struct {
	files    map[string]string
	manifest *corpus.Manifest
}

func bundled(t testing.TB) *bundle {
	t.Helper()
	b := &bundle{files: map[string]string{}}
	fsys := corpus.Bundled()
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		b.files[p] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m, ds := corpus.ParseManifest(diag.NewSource("manifest.json", b.files["manifest.json"]))
	if ds.HasErrors() {
		t.Fatal(diag.Text(ds))
	}
	b.manifest = m
	return b
}

func (b *bundle) clone() *bundle {
	return &bundle{maps.Clone(b.files), b.manifest.Clone()}
}

func (b *bundle) surface(t testing.TB, name string) *compat.Surface {
	t.Helper()
	for i := range b.manifest.Files {
		f := &b.manifest.Files[i]
		f.SHA256, f.Size = corpus.Text{}, corpus.Size{} // the texts change
	}
	listed := map[string]bool{}
	for _, f := range b.manifest.Files {
		listed[f.Path.Value] = true
	}
	for p := range b.files {
		if p != "manifest.json" && !listed[p] {
			b.manifest.Files = append(b.manifest.Files, corpus.File{Path: corpus.Plain(p)})
		}
	}
	b.manifest.Files = slices.DeleteFunc(b.manifest.Files, func(f corpus.File) bool { return b.files[f.Path.Value] == "" })
	text, err := b.manifest.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{"manifest.json": {Data: text}}
	for p, s := range b.files {
		if p != "manifest.json" {
			fsys[p] = &fstest.MapFile{Data: []byte(s)}
		}
	}
	c, ds := corpus.OpenFS(t.Context(), fsys, name)
	if c == nil {
		t.Fatal(diag.Text(ds))
	}
	return compat.NewSurface(exports.New(c), name)
}

func (b *bundle) export(name string) *corpus.Export { return b.manifest.Lookup(name, "") }

// kernelText returns the text of an export's kernel.def and where it stands.
func (b *bundle) kernelText(e *corpus.Export) (text string, start, end int) {
	src := b.files[e.Source.Value]
	at := strings.Index(src, "@"+e.Symbol.Value+"(")
	start = strings.LastIndex(src[:at], "kernel.def")
	end = strings.Index(src[start:], "\n}\n")
	return src[start : start+end+3], start, start + end + 3
}

// withTarget gives a kernel that names no target a record for the selector.
func (b *bundle) withTarget(e *corpus.Export, selector string) bool {
	return b.kernel(e, func(s string) string {
		if strings.Contains(s, "target(@") {
			return s
		}
		return "amdgpu.target<" + selector + "> @its_target\n" + strings.Replace(s, "kernel.def ", "kernel.def target(@its_target) ", 1)
	})
}

// kernel replaces the kernel's text by f of it; f returning "" means that the
// mutation does not apply.
func (b *bundle) kernel(e *corpus.Export, f func(string) string) bool {
	text, start, end := b.kernelText(e)
	changed := f(text)
	if changed == "" || changed == text {
		return false
	}
	src := b.files[e.Source.Value]
	b.files[e.Source.Value] = src[:start] + changed + src[end:]
	return true
}

var launchList = regexp.MustCompile(`\} launch\(([^)]*)\)( where \[[^{]*\])? \{`)

// launch replaces the launch parameters by f of them.
func (b *bundle) launch(e *corpus.Export, f func([]string) []string) bool {
	return b.kernel(e, func(s string) string {
		return launchList.ReplaceAllStringFunc(s, func(m string) string {
			sub := launchList.FindStringSubmatch(m)
			ps := f(strings.Split(sub[1], ", "))
			if ps == nil {
				return m
			}
			return "} launch(" + strings.Join(ps, ", ") + ")" + sub[2] + " {"
		})
	})
}

func texts(ts []corpus.Text, more ...string) []corpus.Text {
	out := slices.Clone(ts)
	for _, s := range more {
		out = append(out, corpus.Plain(s))
	}
	return out
}

func param(name string) corpus.Param {
	return corpus.Param{Name: corpus.Plain(name), Type: corpus.Plain("index")}
}

func addBinding(b *bundle, e *corpus.Export) bool {
	e.Bindings, e.BindingAccess = texts(e.Bindings, "extra"), texts(e.BindingAccess, "read")
	return b.launch(e, func(ps []string) []string { return append(ps, "%extra: buffer") })
}

func addLaunch(b *bundle, e *corpus.Export) bool {
	e.LaunchParameters = append(slices.Clone(e.LaunchParameters), param("extra"))
	return b.launch(e, func(ps []string) []string { return append(ps, "%extra: index") })
}

func addWorkload(b *bundle, e *corpus.Export) bool {
	e.WorkloadParameters = append(slices.Clone(e.WorkloadParameters), param("extra"))
	return b.kernel(e, func(s string) string {
		open := strings.Index(s, "@"+e.Symbol.Value+"(") + len(e.Symbol.Value) + 2
		list, rest, _ := strings.Cut(s[open:], ")")
		return s[:open] + strings.Trim(list+", %extra: index", ", ") + ")" + rest
	})
}

// firstConfig returns the first config declaration of an export's own file that
// its kernel reads.
func firstConfig(b *bundle, e *corpus.Export) string {
	text, _, _ := b.kernelText(e)
	m := regexp.MustCompile(`config\.get @([\w.]+) : index`).FindStringSubmatch(text)
	if m == nil || !strings.Contains(b.files[e.Source.Value], "config.decl @"+m[1]+" : %value: index where [") {
		return ""
	}
	return m[1]
}

func configConstraint(extra string) func(*bundle, *corpus.Export) bool {
	return func(b *bundle, e *corpus.Export) bool {
		key := firstConfig(b, e)
		if key == "" {
			return false
		}
		old := "config.decl @" + key + " : %value: index where ["
		b.files[e.Source.Value] = strings.Replace(b.files[e.Source.Value], old, old+extra+", ", 1)
		return true
	}
}

func renameLocals(s string, keep map[string]bool) string {
	return regexp.MustCompile(`%[A-Za-z_]\w*`).ReplaceAllStringFunc(s, func(v string) string {
		if keep[v] {
			return v
		}
		return v + "_renamed"
	})
}

func rows(r *compat.Report, id string) []string {
	var out []string
	for i := range r.Findings {
		if r.Findings[i].ID() == id {
			out = append(out, r.Findings[i].Rule.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type mutation struct {
	name string
	// change mutates the corpus; false means that it does not apply to the export.
	change func(b *bundle, e *corpus.Export) bool
	// before, when set, mutates the old side too.
	before func(b *bundle, e *corpus.Export) bool
	want   []string // rules about the export, sorted
	// reversed are the rules when old and new change places; nil is not tried.
	reversed []string
	id       string // what the findings are about when it is not the export
}

var mutations = []mutation{
	{name: "nothing", change: func(*bundle, *corpus.Export) bool { return true }, want: nil, reversed: []string{}},
	{name: "comment", change: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			return "// A remark.\n" + strings.Replace(s, "{\n", "{\n  // Another remark.\n\n", 1)
		})
	}, reversed: []string{}},
	{name: "local names", change: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			keep := map[string]bool{}
			open := strings.Index(s, "@"+e.Symbol.Value+"(")
			head := s[open : open+strings.Index(s[open:], ")")]
			for _, m := range regexp.MustCompile(`%\w+`).FindAllString(head+launchList.FindStringSubmatch(s)[1], -1) {
				keep[m] = true
			}
			return renameLocals(s, keep)
		})
	}, reversed: []string{}},
	{name: "function and template names", change: func(b *bundle, e *corpus.Export) bool {
		for p, s := range b.files {
			b.files[p] = strings.NewReplacer("@ggml_grid_cover", "@ggml_grid_blocks", "@ggml_quad_columns", "@ggml_whole_quads").Replace(s)
		}
		return true
	}, reversed: []string{}},
	{name: "definitions in another order", change: func(b *bundle, e *corpus.Export) bool {
		src := b.files[e.Source.Value]
		text, start, end := b.kernelText(e)
		b.files[e.Source.Value] = src[:start] + src[end:] + "\n" + text
		return true
	}, reversed: []string{}},
	{name: "export dropped", change: func(b *bundle, e *corpus.Export) bool {
		b.manifest.Exports = slices.DeleteFunc(b.manifest.Exports, func(x corpus.Export) bool { return x.Name.Value == e.Name.Value })
		b.manifest.PlanCases = nil
		return true
	}, want: []string{compat.ExportRemoved}, reversed: []string{compat.ExportAdded}},
	{name: "export renamed", change: func(b *bundle, e *corpus.Export) bool {
		old := e.Name.Value
		e.Name, e.Symbol = corpus.Plain(old+"_v2"), corpus.Plain(old+"_v2")
		b.manifest.PlanCases = nil
		b.files[e.Source.Value] = strings.NewReplacer("@"+old+"(", "@"+old+"_v2(", `"`+old+`"`, `"`+old+`_v2"`).Replace(b.files[e.Source.Value])
		return true
	}, want: []string{compat.ExportRenamed}},
	{name: "symbol renamed", change: func(b *bundle, e *corpus.Export) bool {
		old := e.Symbol.Value
		e.Symbol = corpus.Plain(old + "_kernel")
		b.files[e.Source.Value] = strings.ReplaceAll(b.files[e.Source.Value], "@"+old+"(", "@"+old+"_kernel(")
		return true
	}, want: []string{compat.SymbolChanged}, reversed: []string{compat.SymbolChanged}},
	{name: "family", change: func(b *bundle, e *corpus.Export) bool { e.Family = corpus.Plain("other"); return true },
		want: []string{compat.FamilyChanged}, reversed: []string{compat.FamilyChanged}},
	{name: "parameter missing in the manifest", change: func(b *bundle, e *corpus.Export) bool {
		e.LaunchParameters = nil
		return true
	}, want: []string{compat.ExportUnusable}, reversed: []string{compat.ExportRepaired}},
	{name: "target variant", change: func(b *bundle, e *corpus.Export) bool {
		v := *e
		v.TargetSelector = corpus.Plain("gfx1151")
		b.manifest.Exports = append(b.manifest.Exports, v)
		return true
	}, id: " [gfx1151]", want: []string{compat.TargetAdded}, reversed: []string{compat.TargetRemoved}},
	{name: "binding at the end", change: addBinding, want: []string{compat.BindingAdded}, reversed: []string{compat.BindingRemoved}},
	{name: "bindings swapped", change: func(b *bundle, e *corpus.Export) bool {
		n := len(e.Bindings)
		if n < 2 {
			return false
		}
		e.Bindings, e.BindingAccess = texts(e.Bindings), texts(e.BindingAccess)
		e.Bindings[n-1], e.Bindings[n-2] = e.Bindings[n-2], e.Bindings[n-1]
		e.BindingAccess[n-1], e.BindingAccess[n-2] = e.BindingAccess[n-2], e.BindingAccess[n-1]
		return b.launch(e, func(ps []string) []string {
			m := len(ps)
			ps[m-1], ps[m-2] = ps[m-2], ps[m-1]
			return ps
		})
	}, want: []string{compat.BindingReorder}, reversed: []string{compat.BindingReorder}},
	{name: "binding renamed", change: func(b *bundle, e *corpus.Export) bool {
		name := e.Bindings[0].Value
		e.Bindings = texts(e.Bindings)
		e.Bindings[0] = corpus.Plain(name + "_data")
		return b.kernel(e, func(s string) string { return regexp.MustCompile(`%`+name+`\b`).ReplaceAllString(s, "%"+name+"_data") })
	}, want: []string{compat.BindingRenamed}, reversed: []string{compat.BindingRenamed}},
	{name: "access", change: func(b *bundle, e *corpus.Export) bool {
		i := slices.IndexFunc(e.BindingAccess, func(t corpus.Text) bool { return t.Value == "write" })
		if i < 0 {
			return false
		}
		e.BindingAccess = texts(e.BindingAccess)
		e.BindingAccess[i] = corpus.Plain("read_write")
		return true
	}, want: []string{compat.AccessWidened}, reversed: []string{compat.AccessReduced}},
	{name: "base alignment", change: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			return regexp.MustCompile(`minimum_alignment = \d+`).ReplaceAllString(s, "minimum_alignment = 128")
		})
	}, want: []string{compat.AlignRaised}, reversed: []string{compat.AlignLowered}},
	{name: "launch parameter", change: addLaunch, want: []string{compat.LaunchAdded}, reversed: []string{compat.LaunchRemoved}},
	{name: "launch parameter renamed", change: func(b *bundle, e *corpus.Export) bool {
		name := e.LaunchParameters[0].Name.Value
		ps := slices.Clone(e.LaunchParameters)
		ps[0].Name = corpus.Plain(name + "_now")
		e.LaunchParameters = ps
		return b.kernel(e, func(s string) string {
			at := strings.Index(s, "} launch(")
			return s[:at] + regexp.MustCompile(`%`+name+`\b`).ReplaceAllString(s[at:], "%"+name+"_now")
		})
	}, want: []string{compat.LaunchRenamed}, reversed: []string{compat.LaunchRenamed}},
	{name: "launch parameters swapped", before: addLaunch, change: func(b *bundle, e *corpus.Export) bool {
		addLaunch(b, e)
		ps := slices.Clone(e.LaunchParameters)
		n := len(ps)
		e.LaunchParameters = append([]corpus.Param{ps[n-1]}, ps[:n-1]...)
		return b.launch(e, func(ps []string) []string { n := len(ps); return append([]string{ps[n-1]}, ps[:n-1]...) })
	}, want: []string{compat.LaunchReorder}, reversed: []string{compat.LaunchReorder}},
	{name: "launch bound", change: func(b *bundle, e *corpus.Export) bool {
		name := e.LaunchParameters[0].Name.Value
		return b.kernel(e, func(s string) string {
			return launchList.ReplaceAllStringFunc(s, func(m string) string {
				sub := launchList.FindStringSubmatch(m)
				if sub[2] == "" {
					return m
				}
				return strings.Replace(m, sub[2], strings.TrimSuffix(sub[2], "]")+", ne(%"+name+", 77)]", 1)
			})
		})
	}, want: []string{compat.LaunchNarrowed}, reversed: []string{compat.LaunchWidened}},
	{name: "workload parameter", change: addWorkload, want: []string{compat.WorkloadAdded}, reversed: []string{compat.WorkloadRemoved}},
	{name: "workload parameter renamed", change: func(b *bundle, e *corpus.Export) bool {
		name := e.WorkloadParameters[0].Name.Value
		ps := slices.Clone(e.WorkloadParameters)
		ps[0].Name = corpus.Plain(name + "_now")
		e.WorkloadParameters = ps
		return b.kernel(e, func(s string) string {
			at := strings.Index(s, "} launch(")
			return regexp.MustCompile(`%`+name+`\b`).ReplaceAllString(s[:at], "%"+name+"_now") + s[at:]
		})
	}, want: []string{compat.WorkloadRenamed}, reversed: []string{compat.WorkloadRenamed}},
	{name: "config value excluded", change: configConstraint("ne(%value, 128)"), want: []string{compat.ConfigNarrowed}, reversed: []string{compat.ConfigWidened}},
	{name: "config values exchanged", before: configConstraint("ne(%value, 128)"), change: configConstraint("ne(%value, 256)"),
		want: []string{compat.ConfigShifted}, reversed: []string{compat.ConfigShifted}},
	{name: "config bound in other words", change: configConstraint("ge(%value, 0)"), reversed: []string{}},
	{name: "config bound in the body alone", change: func(b *bundle, e *corpus.Export) bool {
		key := firstConfig(b, e)
		return key != "" && b.kernel(e, func(s string) string {
			at := strings.Index(s, "} launch(")
			body := at + strings.Index(s[at:], "{\n") + 2
			return s[:body] + "  %again = config.get @" + key + " : index\n  %bound = index.assume %again [ne(%again, 128)] : index\n" + s[body:]
		})
	}, want: []string{compat.BodyChanged, compat.ConfigNarrowed}, reversed: []string{compat.BodyChanged, compat.ConfigWidened}},
	{name: "config renamed", change: func(b *bundle, e *corpus.Export) bool {
		key := firstConfig(b, e)
		if key == "" {
			return false
		}
		b.files[e.Source.Value] = regexp.MustCompile(`@`+regexp.QuoteMeta(key)+`\b`).ReplaceAllString(b.files[e.Source.Value], "@"+key+"_now")
		b.manifest.PlanCases = nil
		return true
	}, want: []string{compat.ConfigRenamed}, reversed: []string{compat.ConfigRenamed}},
	{name: "config added", change: func(b *bundle, e *corpus.Export) bool {
		b.files[e.Source.Value] = "config.decl @extra.key : index\n" + b.files[e.Source.Value]
		return b.kernel(e, func(s string) string {
			at := strings.Index(s, "} launch(")
			body := at + strings.Index(s[at:], "{\n") + 2
			return s[:body] + "  %more = config.get @extra.key : index\n" + s[body:]
		})
	}, want: []string{compat.BodyChanged, compat.ConfigAdded}, reversed: []string{compat.BodyChanged, compat.ConfigRemoved}},
	{name: "target record", change: func(b *bundle, e *corpus.Export) bool { return b.withTarget(e, "gfx1151") },
		before: func(b *bundle, e *corpus.Export) bool { return b.withTarget(e, "gfx11-generic") },
		want:   []string{compat.TargetNarrowed}, reversed: []string{compat.TargetWidened}},
	{name: "body", change: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			return strings.Replace(s, "  kernel.return\n", "  kernel.barrier<workgroup> ordering(acq_rel) scope(workgroup)\n  kernel.return\n", 1)
		})
	}, want: []string{compat.BodyChanged}, reversed: []string{compat.BodyChanged}},
	{name: "assume", change: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			return strings.Replace(s, "  kernel.return\n", "  %last = kernel.workgroup.id<y> : index\n  %low = index.assume %last [le(%last, 9)] : index\n  kernel.return\n", 1)
		})
	}, before: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			return strings.Replace(s, "  kernel.return\n", "  %last = kernel.workgroup.id<y> : index\n  %low = index.assume %last [le(%last, 99)] : index\n  kernel.return\n", 1)
		})
	}, want: []string{compat.AssumesChanged}, reversed: []string{compat.AssumesChanged}},
	{name: "launch geometry", change: func(b *bundle, e *corpus.Export) bool {
		return b.kernel(e, func(s string) string {
			return regexp.MustCompile(`workgroups\((%\w+), (%\w+), (%\w+)\)`).ReplaceAllString(s, "workgroups($3, $2, $1)")
		})
	}, want: []string{compat.GeometryChanged}, reversed: []string{compat.GeometryChanged}},
	{name: "recipe", change: func(b *bundle, e *corpus.Export) bool {
		b.files["motifs/extra.loom"] = "// Nothing yet.\n"
		e.Recipe.LibrarySources = texts(e.Recipe.LibrarySources, "motifs/extra.loom")
		return true
	}, want: []string{compat.RecipeChanged}, reversed: []string{compat.RecipeChanged}},
	{name: "file moved", change: func(b *bundle, e *corpus.Export) bool {
		old := e.Source.Value
		b.files["moved/"+old] = b.files[old]
		for i := range b.manifest.Exports {
			x := &b.manifest.Exports[i]
			if x.Source.Value == old {
				x.Source = corpus.Plain("moved/" + old)
				x.Recipe.PrimarySources = []corpus.Text{x.Source}
			}
		}
		delete(b.files, old)
		return true
	}, want: []string{compat.SourceMoved}, reversed: []string{compat.SourceMoved}},
}

// TestMutations changes every export of the bundled corpus in every way of the
// table and looks at what is reported about it.
func TestMutations(t *testing.T) {
	base := bundled(t)
	table := map[string][2]int{}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			perFile := map[string]int{}
			for i := range base.manifest.Exports {
				name, file := base.manifest.Exports[i].Name.Value, base.manifest.Exports[i].Source.Value
				if perFile[file]++; perFile[file] > 1 {
					continue // the same text with another template
				}
				old, new := base.clone(), base.clone()
				if m.before != nil && !m.before(old, old.export(name)) {
					continue
				}
				if !m.change(new, new.export(name)) {
					continue
				}
				tried := table[m.name]
				tried[1]++
				a, b := old.surface(t, "old"), new.surface(t, "new")
				r := diff(t, a, b, compat.Options{})
				if got := rows(r, name+m.id); !slices.Equal(got, m.want) {
					t.Errorf("%s: %v, want %v\n%s", name, got, m.want, text(t, r))
				} else {
					tried[0]++
				}
				if m.reversed != nil {
					r := diff(t, b, a, compat.Options{})
					if got := rows(r, name+m.id); !slices.Equal(got, m.reversed) {
						t.Errorf("%s, reversed: %v, want %v\n%s", name, got, m.reversed, text(t, r))
					}
				}
				table[m.name] = tried
			}
			if n := table[m.name]; n[1] == 0 {
				t.Errorf("the mutation applies to no export")
			}
		})
	}
	var lines []string
	for _, m := range mutations {
		lines = append(lines, fmt.Sprintf("%-36s %3d of %3d", m.name, table[m.name][0], table[m.name][1]))
	}
	t.Log("classified right:\n" + strings.Join(lines, "\n"))
}
