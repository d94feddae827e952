package exports

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// Generate returns the manifest that the sources of the corpus call for: one
// export per kernel, with its parameters, bindings and derived access, the files
// it needs and no others, and the digest of every file.
//
// What only people can decide is taken from the manifest the corpus has, if any:
// families, target selectors narrower than the kernel's, archive recipes, plan
// cases, owners, identity fields, and every field this version does not know.
// Kernels in files that define test cases are no exports unless that manifest
// says so. With errors in the list the manifest is nil: a record of a kernel
// that does not link would be a guess.
func (s *Set) Generate(ctx context.Context) (*corpus.Manifest, diag.List) {
	d, ds := s.derive(ctx)
	for i := range d.exports {
		ds = append(ds, d.exports[i].ds...)
	}
	ds = append(ds, d.dropped()...)
	ds = ds.Sorted()
	if ds.HasErrors() {
		return nil, ds
	}
	return s.manifest(d), ds
}

// derivation is what the sources say about every export.
type derivation struct {
	exports []derived
	gone    []*corpus.Export // records without a kernel
}

// derived is one export as the sources call for it.
type derived struct {
	kernel *loom.Def
	old    *corpus.Export // nil when the manifest does not list it
	path   string         // file of the kernel
	export corpus.Export  // the record; meaningless when ds has errors
	abi    *linker.ABI
	res    *linker.Result
	ds     diag.List
}

// derive links every kernel of the corpus and reads its record off the result.
func (s *Set) derive(ctx context.Context) (*derivation, diag.List) {
	d := &derivation{}
	kernels, ds := s.kernels()
	s.match(d, kernels)
	motifs, ops := s.libraryFiles(kernels)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range d.exports {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			s.deriveOne(gctx, &d.exports[i], motifs, ops)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		ds.Add(diag.Errorf(diag.Span{}, "LINK/CANCELLED", "link stopped: %v", err).WithHelp("run it again"))
	}
	d.separate()
	return d, ds
}

// separate tells variants of one name apart whose kernels are written for
// generics: their selectors name the generics. A record that is the default
// variant already stays that.
func (d *derivation) separate() {
	named := map[string][]*derived{}
	for i := range d.exports {
		if x := &d.exports[i]; x.abi != nil && x.export.TargetSelector.Value == "" {
			named[x.export.Name.Value] = append(named[x.export.Name.Value], x)
		}
	}
	for _, xs := range named {
		kept := slices.IndexFunc(xs, func(x *derived) bool { return x.old != nil })
		for i, x := range xs {
			if len(xs) > 1 && i != kept && strings.HasSuffix(x.abi.TargetSelector, "-generic") {
				x.export.TargetSelector = corpus.Plain(x.abi.TargetSelector)
			}
		}
	}
}

// found is a kernel of the corpus.
type found struct {
	def   *loom.Def
	path  string
	tests bool // its file defines test cases
}

// kernels lists the kernel definitions of every file.
func (s *Set) kernels() ([]found, diag.List) {
	var out []found
	var ds diag.List
	for _, p := range s.corpus.Paths() {
		if !strings.HasSuffix(p, ".loom") {
			continue
		}
		m, l := s.Module(p)
		ds = append(ds, l...)
		if m == nil {
			continue
		}
		tests := HasCases(m)
		for _, d := range m.Defs {
			if d.Kind == loom.DefKernel {
				out = append(out, found{d, p, tests})
			}
		}
	}
	return out, ds
}

// match pairs the records of the manifest with kernels. A record belongs to the
// kernel of its symbol in its source, else to the only kernel of that symbol.
func (s *Set) match(d *derivation, kernels []found) {
	bySymbol := map[string][]found{}
	for _, k := range kernels {
		bySymbol[k.def.Name] = append(bySymbol[k.def.Name], k)
	}
	listed := map[*loom.Def]bool{}
	if m := s.corpus.Manifest(); m != nil {
		for i := range m.Exports {
			e := &m.Exports[i]
			same := bySymbol[e.Symbol.Value]
			at := slices.IndexFunc(same, func(k found) bool { return k.path == e.Source.Value })
			if at < 0 && len(same) == 1 {
				at = 0
			}
			if at < 0 {
				d.gone = append(d.gone, e)
				continue
			}
			listed[same[at].def] = true
			d.exports = append(d.exports, derived{kernel: same[at].def, path: same[at].path, old: e})
		}
	}
	for _, k := range kernels {
		if !listed[k.def] && !k.tests {
			d.exports = append(d.exports, derived{kernel: k.def, path: k.path})
		}
	}
}

// libraryFiles lists the files that can serve as libraries: those without
// kernels, and, as a last resort, those with kernels. Test files are neither.
func (s *Set) libraryFiles(kernels []found) (motifs, ops []string) {
	has := map[string]bool{}
	for _, k := range kernels {
		has[k.path] = true
	}
	for _, p := range s.corpus.Paths() {
		if !strings.HasSuffix(p, ".loom") {
			continue
		}
		m, _ := s.Module(p)
		switch {
		case m == nil || HasCases(m):
		case has[p]:
			ops = append(ops, p)
		default:
			motifs = append(motifs, p)
		}
	}
	return motifs, ops
}

// own reports whether a file is one that an engine keeps beside the corpus's.
func own(p string) bool { return strings.HasPrefix(p, "ours/") }

// deriveOne finds the files of one export and reads its record.
func (s *Set) deriveOne(ctx context.Context, d *derived, motifs, ops []string) {
	// The libraries the record lists keep their order and come first: with two
	// files that define one name, order decides. An engine's own files take part
	// only where the record or the kernel itself is the engine's.
	var listed []string
	if d.old != nil {
		for _, l := range s.libraries(d.old) {
			listed = append(listed, l.Value)
		}
	}
	pick := func(files []string) []string {
		var first, rest []string
		for _, p := range files {
			switch {
			case p == d.path:
			case !own(p):
				rest = append(rest, p)
			case own(d.path):
				first = append(first, p)
			}
		}
		return append(first, rest...)
	}
	libs := slices.Concat(listed, pick(motifs))
	needed, res, ds := s.closure(ctx, d, libs)
	if lacking(ds) {
		if more, r, l := s.closure(ctx, d, append(libs, pick(ops)...)); !lacking(l) {
			needed, res, ds = more, r, l
		}
	}
	// Judge what the recipe itself links, not what lies around it.
	if !lacking(ds) {
		_, res, ds = s.closure(ctx, d, needed)
	}
	d.ds = ds
	d.res = res
	if len(res.Roots) == 0 || res.Roots[0].Def == nil || ds.HasErrors() {
		return
	}
	d.abi = linker.DeriveABI(res.Module, res.Roots[0].Def)
	d.record(needed)
}

// lacking reports whether a link failed for want of a file.
func lacking(ds diag.List) bool {
	return slices.ContainsFunc(ds, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && (d.Code == "LINK/UNRESOLVED" || d.Code == "LOWERING/045" || d.Code == "SYMBOL/002")
	})
}

// closure links the kernel against libs and returns those it takes part of.
func (s *Set) closure(ctx context.Context, d *derived, libs []string) ([]string, *linker.Result, diag.List) {
	m, ds := s.Module(d.path)
	sources := []linker.Source{{Mod: m}}
	paths := map[*diag.Source]string{}
	seen := map[string]bool{d.path: true}
	for _, p := range libs {
		if seen[p] {
			continue
		}
		seen[p] = true
		if lm, _ := s.Module(p); lm != nil {
			sources = append(sources, linker.Source{Mod: lm, Role: linker.Library})
			paths[lm.Source] = p
		}
	}
	if ds.HasErrors() { // its own findings are listed with the files
		return nil, &linker.Result{}, nil
	}
	res, ds := linker.Link(ctx, linker.NewIndex(sources), linker.Request{Roots: []string{"@" + d.kernel.Name}, StripCheck: true})
	var needed []string
	for _, src := range res.Sources {
		if p, ok := paths[src]; ok {
			needed = append(needed, p)
		}
	}
	return needed, res, ds
}

// record fills in the export record.
func (d *derived) record(needed []string) {
	e := corpus.Export{Family: corpus.Plain(familyOf(d.path))}
	if d.old != nil {
		e = *d.old
		e.Span = diag.Span{}
		if e.Family.Value == "" {
			e.Family = corpus.Plain(familyOf(d.path))
		}
	}
	e.Name = corpus.Plain(d.abi.Export)
	e.Symbol = corpus.Plain(d.abi.Symbol)
	e.Source = corpus.Plain(d.path)
	e.WorkloadParameters = scalars(d.abi.Workload)
	e.LaunchParameters = scalars(d.abi.Launch)
	e.Bindings, e.BindingAccess = nil, nil
	for _, b := range d.abi.Bindings {
		e.Bindings = append(e.Bindings, corpus.Plain(b.Name))
		e.BindingAccess = append(e.BindingAccess, corpus.Plain(d.access(b)))
	}
	e.TargetSelector = corpus.Plain(d.selector())
	e.Recipe = d.recipe(needed)
	e.CompileDependencies = plains(needed)
	d.export = e
}

// access is the word for a binding. One that the kernel never touches keeps the
// word it has: the manifest's vocabulary has none for it.
func (d *derived) access(b linker.ABIBinding) string {
	if b.Access != kernel.None {
		return b.Access.String()
	}
	if d.old != nil {
		for i, o := range d.old.Bindings {
			if o.Value == b.Name && d.old.Access(i) != corpus.AccessUnknown {
				return d.old.Access(i).String()
			}
		}
	}
	return kernel.Read.String()
}

// selector is the kernel's own processor, "" for none and for a generic, or the
// choice the record already makes where the kernel's target covers it.
func (d *derived) selector() string {
	authored := d.abi.TargetSelector
	if d.old != nil {
		if o := d.old.TargetSelector.Value; o != "" && (authored == "" || target.Compatible(authored, o)) {
			return o
		}
	}
	if strings.HasSuffix(authored, "-generic") || authored == target.Reference {
		return ""
	}
	return authored
}

// recipe lists the files. A record in archive mode keeps its link module; its
// library list then only holds what the module does not.
func (d *derived) recipe(needed []string) corpus.Recipe {
	r := corpus.Recipe{Mode: corpus.Plain(corpus.ModeDirect)}
	if d.old != nil && d.old.Recipe.Span.Valid() {
		r = d.old.Recipe
		r.Mode = corpus.Plain(r.Mode.Value)
		r.Span = diag.Span{}
	}
	r.PrimarySources = plains([]string{d.path})
	if r.LinkModule.Value == "" {
		r.LibrarySources = plains(needed)
		return r
	}
	r.LibrarySources = slices.DeleteFunc(slices.Clone(r.LibrarySources), func(t corpus.Text) bool { return !slices.Contains(needed, t.Value) })
	return r
}

func scalars(ps []linker.ABIScalar) []corpus.Param {
	var out []corpus.Param
	for _, p := range ps {
		out = append(out, corpus.Param{Name: corpus.Plain(p.Name), Type: corpus.Plain(p.Type)})
	}
	return out
}

func plains(ps []string) []corpus.Text {
	var out []corpus.Text
	for _, p := range ps {
		out = append(out, corpus.Plain(p))
	}
	return out
}

// familyOf guesses a family from where the file lies: its directory, or its own
// name when the directory is one that holds everything.
func familyOf(p string) string {
	switch dir := path.Base(path.Dir(p)); dir {
	case ".", "/", "ops", "kernels", "ours":
		return strings.TrimSuffix(path.Base(p), ".loom")
	default:
		return dir
	}
}

// dropped reports the records that have no kernel any more, and exports that
// would get one name.
func (d *derivation) dropped() diag.List {
	var ds diag.List
	for _, e := range d.gone {
		ds.Add(diag.Warnf(e.Symbol.Span, "MANIFEST/SYMBOL", "export '%s' is dropped: no file of the corpus defines its kernel '@%s'", e.ID(), e.Symbol.Value).
			WithHelp("restore the file that defines it if engines still ask for it"))
	}
	type key struct{ name, selector string }
	first := map[key]*derived{}
	for i := range d.exports {
		x := &d.exports[i]
		if x.abi == nil {
			continue
		}
		k := key{x.export.Name.Value, x.export.TargetSelector.Value}
		if o := first[k]; o != nil {
			ds.Add(diag.Errorf(x.kernel.NameSpan, "MANIFEST/DUPLICATE-EXPORT", "two kernels are exported as '%s'", x.export.ID()).
				WithRelated(o.kernel.NameSpan, "the other one").
				WithHelp("give one of them another name with export(…), or each a target of its own"))
			continue
		}
		first[k] = x
	}
	return ds
}

// manifest puts the derived records together with what the old manifest keeps.
func (s *Set) manifest(d *derivation) *corpus.Manifest {
	m := &corpus.Manifest{}
	if old := s.corpus.Manifest(); old != nil {
		m = old.Clone()
	}
	old := map[string]corpus.File{}
	for _, f := range m.Files {
		old[f.Path.Value] = f
	}
	m.Files = nil
	for _, f := range s.corpus.FileRecords() {
		n := old[f.Path.Value]
		n.Path, n.SHA256, n.Size = f.Path, f.SHA256, f.Size
		m.Files = append(m.Files, n)
		delete(old, f.Path.Value)
	}
	for _, p := range s.corpus.Paths() { // listed files of other kinds
		if f, ok := old[p]; ok {
			info, _ := s.corpus.Provenance(p)
			f.SHA256 = corpus.Plain(info.SHA256)
			f.Size = corpus.Size{Bytes: int64(len(s.corpus.Source(p).Text)), Stated: true}
			m.Files = append(m.Files, f)
		}
	}
	m.Exports = nil
	for i := range d.exports {
		x := &d.exports[i]
		if x.abi == nil {
			continue
		}
		m.Exports = append(m.Exports, x.export)
		for j := range m.PlanCases { // a case follows its export's name
			if x.old != nil && m.PlanCases[j].Root.Value == x.old.Name.Value {
				m.PlanCases[j].Root = x.export.Name
			}
		}
	}
	return m
}
