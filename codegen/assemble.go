package codegen

import (
	"embed"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
)

// CUDAStaticBytes is the most workgroup memory that CUDA gives a kernel as a
// static array. A kernel that uses more is launched with Unit.LocalBytes of
// dynamic workgroup memory there.
const CUDAStaticBytes = 48 << 10

//go:embed prelude/*.h
var preludeFiles embed.FS

// part is a piece of the prelude: the names it defines and its text. Parts are
// printed in file order, so a part may only use names of earlier ones.
type part struct {
	ordinal int
	early   bool // printed before the kernel's vector and memory types
	names   []string
	text    string

	once  sync.Once
	needs []string
}

// deps lists the prelude names the part's text refers to.
func (p *part) deps() []string {
	p.once.Do(func() {
		seen := map[string]bool{}
		identifiers(p.text, func(id string) {
			if prefixed(id) && !seen[id] && !slices.Contains(p.names, id) {
				seen[id] = true
				p.needs = append(p.needs, id)
			}
		})
	})
	return p.needs
}

// prelude indexes the parts by the names they define. A line "//@ a b" starts the
// part that defines a and b; the part called base is always printed.
var prelude = sync.OnceValue(func() map[string]*part {
	idx := map[string]*part{}
	n := 0
	for _, file := range []string{"prelude/base.h", "prelude/math.h", "prelude/math64.h", "prelude/size.h", "prelude/wave.h", "prelude/atomic.h", "prelude/matrix.h"} {
		text, err := preludeFiles.ReadFile(file)
		if err != nil {
			panic("codegen: " + err.Error()) // an embedded file
		}
		for _, p := range strings.Split("\n"+string(text), "\n//@ ")[1:] {
			head, body, _ := strings.Cut(p, "\n")
			pt := &part{ordinal: n, early: file == "prelude/base.h", names: strings.Fields(head), text: strings.TrimRight(body, "\n") + "\n"}
			n++
			for _, name := range pt.names {
				idx[name] = pt
			}
		}
	}
	return idx
})

// needs is what a kernel's text refers to outside itself.
type needs struct {
	parts map[*part]bool
	types map[string]string // typedef name → declaration
	miss  []string
}

func (n *needs) add(id string) {
	if !prefixed(id) {
		return
	}
	if p := prelude()[id]; p != nil {
		if !n.parts[p] {
			n.parts[p] = true
			for _, d := range p.deps() {
				n.add(d)
			}
		}
		return
	}
	if _, ok := n.types[id]; ok {
		return
	}
	if d, ok := declare(id, n.add); ok {
		n.types[id] = d
	}
}

// prefixed reports a name that belongs to the prelude.
func prefixed(id string) bool {
	return strings.HasPrefix(id, "loom_") || strings.HasPrefix(id, "LOOM_")
}

// render writes the prelude the needs call for.
func (n *needs) render(b []byte) []byte {
	ps := []*part{prelude()["base"]}
	for p := range n.parts {
		if p != ps[0] {
			ps = append(ps, p)
		}
	}
	sort.Slice(ps, func(i, j int) bool { return ps[i].ordinal < ps[j].ordinal })
	late := slices.IndexFunc(ps, func(p *part) bool { return !p.early })
	if late < 0 {
		late = len(ps)
	}
	for _, p := range ps[:late] {
		b = append(b, p.text...)
	}
	var ids []string
	for id := range n.types {
		ids = append(ids, id)
	}
	// Vectors come before the memory types made of them.
	mem := func(id string) bool { return strings.HasPrefix(n.types[id], "LOOM_MEM") }
	sort.Slice(ids, func(i, j int) bool {
		if mem(ids[i]) != mem(ids[j]) {
			return mem(ids[j])
		}
		return ids[i] < ids[j]
	})
	for _, id := range ids {
		b = append(append(b, n.types[id]...), '\n')
	}
	for _, p := range ps[late:] {
		b = append(b, p.text...)
	}
	return b
}

// piece is a kernel without its prelude, so that several can share one.
type piece struct {
	header string
	open   string // up to and with the opening of the function's body
	body   []byte
	needs  *needs
}

// assemble prints the function and completes the unit.
func (e *emitter) assemble(u *Unit) error {
	n := &needs{parts: map[*part]bool{}, types: map[string]string{}}
	used := map[string]bool{}
	p := &printer{line: e.opt.Line, b: make([]byte, 0, 2*e.t.size), used: func(id string) {
		if !used[id] {
			used[id] = true
			n.add(id)
		}
	}}
	p.nodes(e.t.root.arms[0].kids, 1)
	var b strings.Builder
	params := e.parameters()
	identifiers(params, n.add)
	e.startLine(&b)
	limit := "LOOM_WORKGROUP"
	if e.varies {
		limit = "LOOM_WORKGROUP_UPTO"
	}
	fmt.Fprintf(&b, "extern \"C\" __global__ void %s(%d)\n%s(%s) {\n", limit, e.items, e.k.Symbol, params)
	if used[e.localVar()] {
		decl := fmt.Sprintf("  __shared__ __attribute__((aligned(16))) loom_u8 %s[%d];\n", e.localVar(), max(u.LocalBytes, 1))
		if u.LocalBytes > CUDAStaticBytes {
			decl = fmt.Sprintf("#ifdef LOOM_CUDA  // more than a static array may have\n  extern __shared__ __attribute__((aligned(16))) loom_u8 %s[];\n#else\n%s#endif\n", e.localVar(), decl)
		}
		b.WriteString(decl)
	} else {
		u.LocalBytes, u.ScratchBytes = 0, 0
	}
	for id := range used {
		if strings.HasPrefix(id, "loom_") && id != e.localVar() && prelude()[id] == nil && n.types[id] == "" {
			n.miss = append(n.miss, id)
		}
	}
	if len(n.miss) > 0 {
		sort.Strings(n.miss)
		return fmt.Errorf("kernel '@%s' uses %s, which the prelude does not define", e.k.Symbol, strings.Join(n.miss, ", "))
	}
	for p := range n.parts {
		u.Parts = append(u.Parts, p.names[0])
	}
	sort.Strings(u.Parts)
	u.piece = piece{header: e.header(u), open: b.String(), body: append(p.b, "}\n"...), needs: n}
	u.Source = Bundle(u)
	// From here on the body is part of the source.
	u.piece.body = u.Source[len(u.Source)-len(u.piece.body):]
	return nil
}

// startLine resets the compiler's idea of the file after the prelude.
func (e *emitter) startLine(b *strings.Builder) {
	sp := e.k.Def.NameSpan
	if !e.opt.Line || !sp.Valid() {
		return
	}
	l, _ := sp.LineCol()
	fmt.Fprintf(b, "#line %d %q\n", l, sp.Src.Name)
}

// header says what the text was made from.
func (e *emitter) header(u *Unit) string {
	if e.opt.NoHeader {
		return ""
	}
	var b strings.Builder
	tool := e.opt.Tool
	if tool == "" {
		tool = "loomc"
	}
	fmt.Fprintf(&b, "// Generated by %s; do not edit.\n", tool)
	if e.opt.Corpus != "" {
		fmt.Fprintf(&b, "// corpus %s\n", e.opt.Corpus)
	}
	fmt.Fprintf(&b, "// export %s, symbol %s, target %s, wave %d, workgroup %d x %d x %d, local memory %d bytes\n",
		u.Export, u.Symbol, u.Target, u.WaveSize, u.WorkgroupSize[0], u.WorkgroupSize[1], u.WorkgroupSize[2], u.LocalBytes)
	for _, c := range e.k.Config {
		fmt.Fprintf(&b, "// config %s = %s\n", c.Key, c.Text)
	}
	return b.String()
}

// Bundle joins several units into one translation unit that states the prelude
// once. The units must be for one wave size.
func Bundle(us ...*Unit) []byte {
	all := &needs{parts: map[*part]bool{}, types: map[string]string{}}
	size := len(prelude()["base"].text)
	for _, u := range us {
		size += len(u.piece.header) + len(u.piece.open) + len(u.piece.body) + 1
		for p := range u.piece.needs.parts {
			all.parts[p] = true
		}
		for id, d := range u.piece.needs.types {
			all.types[id] = d
		}
	}
	for p := range all.parts {
		size += len(p.text)
	}
	for _, d := range all.types {
		size += len(d) + 1
	}
	b := make([]byte, 0, size+1)
	for _, u := range us {
		b = append(b, u.piece.header...)
	}
	if len(b) > 0 {
		b = append(b, '\n')
	}
	b = all.render(b)
	for _, u := range us {
		b = append(b, '\n')
		b = append(b, u.piece.open...)
		b = append(b, u.piece.body...)
	}
	return b
}
