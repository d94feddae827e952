package exports

import (
	"context"
	"strings"
	"sync"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// Provider links and closes what a test file calls, each symbol once. It is
// safe for concurrent use.
type Provider struct {
	ctx    context.Context
	idx    *linker.Index
	config []linker.Binding
	target string

	mu     sync.Mutex
	closed map[string]*provided
}

type provided struct {
	once  sync.Once
	k     *kernel.Kernel
	diags diag.List
}

// NewProvider returns a provider over an index whose primary sources are the test
// file. targetName selects the processor for kernels; "" takes what each kernel
// names, else DefaultTarget.
func NewProvider(ctx context.Context, idx *linker.Index, config []linker.Binding, targetName string) *Provider {
	return &Provider{ctx: ctx, idx: idx, config: config, target: targetName, closed: map[string]*provided{}}
}

// Kernel returns the closed kernel of a symbol without '@'.
func (p *Provider) Kernel(symbol string) (*kernel.Kernel, diag.List) {
	p.mu.Lock()
	e := p.closed[symbol]
	if e == nil {
		e = &provided{}
		p.closed[symbol] = e
	}
	p.mu.Unlock()
	e.once.Do(func() { e.k, e.diags = p.close(symbol) })
	return e.k, e.diags
}

func (p *Provider) close(symbol string) (*kernel.Kernel, diag.List) {
	res, ds := linker.Link(p.ctx, p.idx, linker.Request{Roots: []string{"@" + symbol}, Config: p.config, Target: p.target, StripCheck: true})
	if ds.HasErrors() || len(res.Roots) == 0 {
		return nil, ds
	}
	root := res.Roots[0]
	t := root.Target
	if t == nil {
		t, _ = target.Lookup(DefaultTarget)
	}
	k, _, more, err := linker.Specialize(p.ctx, res.Module, root.Def.Name, linker.SpecializeOptions{Target: t})
	ds = append(ds, more...)
	if err != nil {
		ds.Add(diag.Errorf(root.Def.NameSpan, "LINK/CANCELLED", "specialisation stopped: %v", err))
		return nil, ds
	}
	return k, ds
}

// TestFile is a file of a corpus that holds test cases, ready to run.
type TestFile struct {
	Path     string
	Module   *loom.Module
	Provider *Provider
	Diags    diag.List
}

// TestFiles returns the files of the corpus that define check.case, each with a
// provider that links it against every source file of the manifest.
func (s *Set) TestFiles(ctx context.Context, config []linker.Binding, targetName string) []TestFile {
	libs := s.sourceFiles()
	var out []TestFile
	for _, path := range s.corpus.Paths() {
		if !strings.HasSuffix(path, ".loom") {
			continue
		}
		m, ds := s.Module(path)
		if m == nil || !HasCases(m) {
			continue
		}
		sources := []linker.Source{{Mod: m, Role: linker.Primary}}
		for _, l := range libs {
			if l == path {
				continue
			}
			if lm, _ := s.Module(l); lm != nil {
				sources = append(sources, linker.Source{Mod: lm, Role: linker.Library})
			}
		}
		out = append(out, TestFile{Path: path, Module: m, Diags: ds,
			Provider: NewProvider(ctx, linker.NewIndex(sources), config, targetName)})
	}
	return out
}

// sourceFiles lists the files that take part in any export, in manifest order.
func (s *Set) sourceFiles() []string {
	seen := map[string]bool{}
	var out []string
	add := func(ts ...corpus.Text) {
		for _, t := range ts {
			if !seen[t.Value] && t.Value != "" {
				seen[t.Value] = true
				out = append(out, t.Value)
			}
		}
	}
	if s.corpus.Manifest() == nil {
		return nil
	}
	for i := range s.corpus.Manifest().Exports {
		e := &s.corpus.Manifest().Exports[i]
		add(e.Recipe.PrimarySources...)
		add(e.Source)
		add(s.libraries(e)...)
	}
	return out
}

// HasCases reports whether a module defines a test case.
func HasCases(m *loom.Module) bool {
	for _, d := range m.Defs {
		if d.Kind == loom.DefCheckCase {
			return true
		}
	}
	return false
}
