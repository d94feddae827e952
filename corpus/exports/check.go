package exports

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
)

// CheckManifest explains every difference between the manifest of the corpus and
// the one Generate would write, with the manifest's line and the place in the
// sources that calls for something else. What corpus.Open reports (digests,
// sizes, malformed records) is not repeated.
//
// A difference that can make an engine misbehave is an error. One that only
// costs time, such as a library that is not needed, is a warning, and an
// optional field that is missing a note.
func (s *Set) CheckManifest(ctx context.Context) diag.List {
	m := s.corpus.Manifest()
	if m == nil {
		return diag.List{diag.Errorf(diag.Span{}, "CORPUS/NO-MANIFEST", "%s has no manifest", s.corpus).
			WithHelp("write one with `loomc manifest generate`")}
	}
	d, ds := s.derive(ctx)
	for i := range d.exports {
		ds = append(ds, s.checkExport(&d.exports[i])...)
	}
	for _, e := range d.gone {
		x := diag.Errorf(e.Symbol.Span, "MANIFEST/SYMBOL", "export '%s': no file of the corpus defines kernel '@%s'", e.ID(), e.Symbol.Value)
		ds.Add(x.WithHelp("%s", s.goneHelp(e)))
	}
	ds = append(ds, s.checkFiles()...)
	if len(ds) == 0 && len(s.corpus.Problems()) == 0 {
		ds = append(ds, s.checkText(d)...)
	}
	return ds.Sorted()
}

func (s *Set) goneHelp(e *corpus.Export) string {
	kernels, _ := s.kernels()
	for _, k := range kernels {
		k.def.Load()
		if k.def.ExportName() == e.Name.Value {
			return fmt.Sprintf("kernel '@%s' in %s is exported under this name; write \"symbol\": \"%s\" and that source", k.def.Name, k.path, k.def.Name)
		}
	}
	return "remove the record, or restore the file that defines the kernel"
}

// checkExport compares one record with what its kernel calls for.
func (s *Set) checkExport(d *derived) diag.List {
	if d.old == nil {
		return s.unlisted(d)
	}
	e := d.old
	if d.abi == nil {
		return place(d.ds, e.Symbol.Span)
	}
	ds := slices.Clone(d.ds)
	ds = append(ds, linker.CheckABI(d.abi, record(e))...)
	if e.Source.Value != d.path {
		ds.Add(diag.Errorf(e.Source.Span, "MANIFEST/STALE", "export '%s' names source '%s', but '%s' defines kernel '@%s'", e.ID(), e.Source.Value, d.path, d.kernel.Name).
			WithRelated(d.kernel.NameSpan, "the kernel").
			WithHelp(`write "source": "%s"`, d.path))
	}
	if want := d.export.TargetSelector.Value; e.TargetSelector.Value != want && !hasCode(ds, "MANIFEST/ABI", e.TargetSelector.Span) {
		ds.Add(diag.Warnf(orElse(e.TargetSelector.Span, e.Span), "MANIFEST/STALE", "export '%s' has target_selector '%s'; its kernel is written for '%s'", e.ID(), e.TargetSelector.Value, d.abi.TargetSelector).
			WithRelated(d.kernel.NameSpan, "the kernel").
			WithHelp(`write "target_selector": "%s", so that engines on other processors do not take it`, want))
	}
	return append(ds, s.checkRecipe(d)...)
}

func hasCode(ds diag.List, code string, at diag.Span) bool {
	return slices.ContainsFunc(ds, func(d diag.Diagnostic) bool { return d.Code == code && d.Span == at })
}

func orElse(a, b diag.Span) diag.Span {
	if a.Valid() {
		return a
	}
	return b
}

// unlisted reports a kernel that no record names, at the kernel, with the record
// of a kernel of the same file as the place to look at.
func (s *Set) unlisted(d *derived) diag.List {
	if d.abi == nil {
		return d.ds
	}
	x := diag.Errorf(d.kernel.NameSpan, "MANIFEST/EXPORT-UNLISTED", "kernel '@%s' has no export record in the manifest", d.kernel.Name)
	m := s.corpus.Manifest()
	for i := range m.Exports {
		if m.Exports[i].Source.Value == d.path {
			x = x.WithRelated(m.Exports[i].Span, "another kernel of the file is listed here")
			break
		}
	}
	return append(slices.Clone(d.ds), x.WithHelp("`loomc manifest generate` writes the record of '%s'", d.export.Name.Value))
}

// checkRecipe compares the files of the record with those the kernel needs.
func (s *Set) checkRecipe(d *derived) diag.List {
	var ds diag.List
	e := d.old
	stated := e.Recipe.Span.Valid()
	at := orElse(orElse(e.Recipe.Span, e.DependenciesSpan), e.Span)
	if stated && len(e.Recipe.PrimarySources) > 0 && (len(e.Recipe.PrimarySources) > 1 || e.Recipe.PrimarySources[0].Value != d.path) {
		ds.Add(diag.Errorf(e.Recipe.PrimarySources[0].Span, "MANIFEST/RECIPE", "export '%s' lists %s as primary, its kernel is in '%s'", e.ID(), quoted(e.Recipe.PrimarySources), d.path).
			WithRelated(d.kernel.NameSpan, "the kernel").
			WithHelp(`write "primary_sources": ["%s"]`, d.path))
	}
	want := values(d.export.CompileDependencies)
	// In archive mode the link module brings files of its own.
	full := e.Recipe.LinkModule.Value == ""
	for _, list := range []struct {
		name  string
		have  []corpus.Text
		span  diag.Span
		exact bool
		use   bool
	}{
		{"compile_recipe.library_sources", e.Recipe.LibrarySources, at, full, stated},
		{"compile_dependencies", e.CompileDependencies, orElse(e.DependenciesSpan, at), true, e.DependenciesSpan.Valid() || !stated},
	} {
		if !list.use {
			continue
		}
		have := values(list.have)
		for _, p := range want {
			if list.exact && !slices.Contains(have, p) {
				ds.Add(s.missingLibrary(d, list.name, list.span, p))
			}
		}
		for i, p := range have {
			if !slices.Contains(want, p) {
				ds.Add(diag.Warnf(list.have[i].Span, "MANIFEST/RECIPE", "export '%s': %s lists '%s', which kernel '@%s' does not need", e.ID(), list.name, p, d.kernel.Name).
					WithHelp("remove it: each change of that file makes engines rebuild the export"))
			}
		}
	}
	return ds
}

// missingLibrary says what the kernel takes from a file that is not listed.
func (s *Set) missingLibrary(d *derived, list string, at diag.Span, p string) diag.Diagnostic {
	x := diag.Errorf(at, "MANIFEST/RECIPE", "export '%s': %s lacks '%s'", d.old.ID(), list, p)
	n, src := 0, s.corpus.Source(p)
	for _, l := range d.res.Plan {
		def := d.res.Module.Lookup(l.Symbol)
		if def == nil || def.NameSpan.Src != src {
			continue
		}
		if n++; n > 3 {
			x = x.WithRelated(diag.Span{}, "and more of that file")
			break
		}
		x = x.WithRelated(l.Span, "'@%s' of that file is live by this %s", l.Symbol, l.Edge)
	}
	return x.WithHelp("add '%s' to %s", p, list)
}

func values(ts []corpus.Text) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.Value
	}
	return out
}

func quoted(ts []corpus.Text) string { return "'" + strings.Join(values(ts), "', '") + "'" }

// checkFiles looks for sources that are not listed and records without digest.
func (s *Set) checkFiles() diag.List {
	var ds diag.List
	m := s.corpus.Manifest()
	listed := map[string]bool{}
	for i := range m.Files {
		f := &m.Files[i]
		listed[f.Path.Value] = true
		var lack []string
		if f.SHA256.Value == "" {
			lack = append(lack, "sha256")
		}
		if !f.Size.Stated {
			lack = append(lack, "size")
		}
		if len(lack) > 0 {
			ds.Add(diag.Diagnostic{Severity: diag.Note, Code: "MANIFEST/STALE", Span: f.Path.Span,
				Message: fmt.Sprintf("the record of '%s' does not state %s", f.Path.Value, strings.Join(lack, " and "))}.
				WithHelp("with both, a file that was changed or cut short is found before it is compiled"))
		}
	}
	for _, p := range s.corpus.Paths() {
		if strings.HasSuffix(p, ".loom") && !listed[p] {
			ds.Add(diag.Warnf(diag.Span{Src: s.corpus.Source(p)}, "MANIFEST/FILE-UNLISTED", "'%s' is not listed in 'files'", p).
				WithHelp(`add {"path": "%s"} to 'files', or remove the file: engines copy what is listed`, p))
		}
	}
	return ds
}

// checkText is the last resort: where no rule above saw a difference, the two
// manifests must be the same text.
func (s *Set) checkText(d *derivation) diag.List {
	old, err := s.corpus.Manifest().Marshal()
	if err == nil {
		var now []byte
		if now, err = s.manifest(d).Marshal(); err == nil && bytes.Equal(old, now) {
			return nil
		} else if err == nil {
			a, b := bytes.Split(old, []byte("\n")), bytes.Split(now, []byte("\n"))
			for i := range min(len(a), len(b)) {
				if !bytes.Equal(a[i], b[i]) {
					return diag.List{diag.Warnf(diag.Span{Src: s.corpus.Manifest().Source}, "MANIFEST/STALE", "the manifest says %s where the sources call for %s", bytes.TrimSpace(a[i]), bytes.TrimSpace(b[i])).
						WithHelp("`loomc manifest generate` writes the manifest anew")}
				}
			}
			return nil
		}
	}
	return diag.List{diag.Errorf(diag.Span{Src: s.corpus.Manifest().Source}, "MANIFEST/STALE", "the manifest cannot be written anew: %v", err)}
}
