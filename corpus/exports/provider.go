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

// Provider links and closes what a test file launches and calls, each symbol
// once. It is a check.FuncProvider, safe for concurrent use.
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
	k     *kernel.Kernel // a kernel symbol
	f     *loom.Def      // any other symbol that can be called
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
	e := p.get(symbol)
	if e.k == nil && e.f != nil {
		return nil, append(e.diags, diag.Errorf(e.f.NameSpan, "SYMBOL/003", "symbol '@%s' is a function, expected kernel", symbol))
	}
	return e.k, e.diags
}

// Func returns the closed function of a symbol without '@', see
// linker.SpecializeFunc. It is nil without an error when the symbol is a kernel.
func (p *Provider) Func(symbol string) (*loom.Def, diag.List) {
	e := p.get(symbol)
	return e.f, e.diags
}

func (p *Provider) get(symbol string) *provided {
	p.mu.Lock()
	e := p.closed[symbol]
	if e == nil {
		e = &provided{}
		p.closed[symbol] = e
	}
	p.mu.Unlock()
	e.once.Do(func() { p.close(e, symbol) })
	return e
}

func (p *Provider) close(e *provided, symbol string) {
	res, ds := linker.Link(p.ctx, p.idx, linker.Request{Roots: []string{"@" + symbol}, Config: p.config, Target: p.target, StripCheck: true})
	e.diags = ds
	if ds.HasErrors() || len(res.Roots) == 0 {
		return
	}
	root := res.Roots[0]
	t := root.Target
	if t == nil {
		t, _ = target.Lookup(DefaultTarget)
	}
	o := linker.SpecializeOptions{Target: t}
	var err error
	if root.Def.Kind == loom.DefKernel {
		e.k, _, ds, err = linker.Specialize(p.ctx, res.Module, root.Def.Name, o)
	} else {
		e.f, _, ds, err = linker.SpecializeFunc(p.ctx, res.Module, root.Def.Name, o)
	}
	e.diags = append(e.diags, ds...)
	if err != nil {
		e.k, e.f = nil, nil
		e.diags.Add(diag.Errorf(root.Def.NameSpan, "LINK/CANCELLED", "specialisation stopped: %v", err))
	}
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
	libs := s.sourceFiles(targetName)
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

// sourceFiles lists the files that take part in any export, in manifest order; of
// exports with variants, those of the one for the target.
func (s *Set) sourceFiles(targetName string) []string {
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
	all, _ := s.Select(nil)
	if targetName == "" {
		targetName = DefaultTarget
	}
	fit, _ := s.Fit(all, targetName)
	for _, e := range fit {
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
