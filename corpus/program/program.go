package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/require"
	"github.com/loomc/loomc/corpus/require/jsonc"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/dialect"
)

// Schema names the form that is read.
const Schema = "ggml-hrx-command-program-v1"

// Program is a command program.
type Program struct {
	Source   *diag.Source
	Target   string
	Arena    Arena
	Counters Counters
	Commands []Command // sorted: init before main, then by ordinal
}

// Arena is the memory that transient values share.
type Arena struct {
	Size, Alignment int64 // -1 when not stated
	Span            diag.Span
	Allocations     []Allocation
}

// Allocation is one transient value.
type Allocation struct {
	Value                   string
	Size, Alignment, Offset int64
	Span                    diag.Span
}

// Counters are the completion counters at a place of the arena.
type Counters struct {
	Offset, Bytes, Count int64 // -1 when not stated
	Present              bool
	Span                 diag.Span
}

// Command is one launch.
type Command struct {
	Init         bool
	Ordinal      int64
	Kind         string
	Kernel       string // as written: family:name
	Params       []require.Param
	Config       []linker.Binding
	Dependencies []Dependency
	Bindings     []Binding

	Span, KernelSpan diag.Span
	index            int // position in Program.Commands
}

// Name is how reports call the command.
func (c *Command) Name() string {
	phase := "main"
	if c.Init {
		phase = "init"
	}
	return fmt.Sprintf("%s command %d (%s)", phase, c.Ordinal, c.Kernel)
}

// Family and name of the kernel.
func (c *Command) split() (family, name string) {
	if f, n, ok := strings.Cut(c.Kernel, ":"); ok {
		return f, n
	}
	return "", c.Kernel
}

// Dependency is an earlier command that must have finished.
type Dependency struct {
	Ordinal int64
	Span    diag.Span
}

// Binding is one buffer of a command.
type Binding struct {
	Index          int64 // -1 when not stated
	Name, Value    string
	Origin         string
	Access         corpus.Access
	AccessWord     string
	Offset, Length int64
	Span           diag.Span
	AccessSpan     diag.Span
	LengthSpan     diag.Span
}

// maxCommands bounds a program: the order of its commands takes a bit per pair.
const maxCommands = 1 << 15

// Read reads a program. It reports everything it finds; commands at fault are
// left out.
func Read(src *diag.Source) (*Program, diag.List) {
	root, ds := jsonc.Parse(src, "PROGRAM/SYNTAX", "command program")
	if root == nil {
		return nil, ds
	}
	r := &reader{ds: ds, out: &Program{Source: src}}
	if root.Kind != jsonc.Object {
		r.fail(root.Span, "PROGRAM/TYPE", "a command program is an object, this is %s", root.Kind).help("is this the right file?")
		return nil, r.ds
	}
	if s := root.Get("schema"); s.Str() != Schema {
		at := root.Span
		if s != nil {
			at = s.Span
		}
		r.fail(at, "PROGRAM/SCHEMA", "schema is '%s', want '%s'", s.Str(), Schema).help("is this the right file? A newer schema needs a newer loomc")
		if s == nil {
			return nil, r.ds
		}
	}
	r.out.Target = root.Get("target").Str()
	r.arena(root.Get("transients"))
	r.counters(root.Get("completion_counters"))
	list := root.Get("commands")
	if list == nil || list.Kind != jsonc.Array {
		r.fail(root.Span, "PROGRAM/TYPE", "'commands' is not a list").help(`write "commands": […]`)
		return r.out, r.ds.Sorted()
	}
	if len(list.Items) > maxCommands {
		r.fail(list.Span, "PROGRAM/SIZE", "the program has %d commands, more than %d", len(list.Items), maxCommands).help("split it")
		return r.out, r.ds.Sorted()
	}
	for i, v := range list.Items {
		r.command(v, i)
	}
	slices.SortStableFunc(r.out.Commands, func(a, b Command) int {
		switch {
		case a.Init != b.Init && a.Init:
			return -1
		case a.Init != b.Init:
			return 1
		case a.Ordinal != b.Ordinal && a.Ordinal < b.Ordinal:
			return -1
		case a.Ordinal != b.Ordinal:
			return 1
		}
		return 0
	})
	for i := range r.out.Commands {
		r.out.Commands[i].index = i
	}
	return r.out, r.ds.Sorted()
}

type reader struct {
	ds  diag.List
	out *Program
}

type failure struct {
	r *reader
	i int
}

func (r *reader) fail(sp diag.Span, code, format string, args ...any) failure {
	r.ds.Add(diag.Errorf(sp, code, format, args...))
	return failure{r, len(r.ds) - 1}
}

func (f failure) help(format string, args ...any) { f.r.ds[f.i].Help = fmt.Sprintf(format, args...) }

// number reads a non-negative integer member, or the default when it is absent.
func (r *reader) number(v *jsonc.Value, key string, absent int64) int64 {
	n := v.Get(key)
	if n == nil || n.Kind == jsonc.Null {
		return absent
	}
	x, ok := n.Int()
	if !ok || x < 0 {
		r.fail(n.Span, "PROGRAM/TYPE", "'%s' is no non-negative integer", key).help("write the number of bytes, or the count")
		return absent
	}
	return x
}

func (r *reader) arena(v *jsonc.Value) {
	a := Arena{Size: -1, Alignment: 1}
	if v != nil && v.Kind == jsonc.Object {
		a.Span = v.Span
		a.Size = r.number(v, "arena_size", -1)
		a.Alignment = max(1, r.number(v, "arena_alignment", 1))
		if l := v.Get("allocations"); l != nil {
			for _, x := range l.Items {
				al := Allocation{Value: scalarOf(x.Get("value")), Size: r.number(x, "size", 0), Alignment: max(1, r.number(x, "alignment", 1)),
					Offset: r.number(x, "arena_offset", 0), Span: x.Span}
				if al.Value == "" {
					r.fail(x.Span, "PROGRAM/MISSING", "an allocation names no value").help(`add "value"`)
					continue
				}
				a.Allocations = append(a.Allocations, al)
			}
		}
	}
	r.out.Arena = a
}

func (r *reader) counters(v *jsonc.Value) {
	if v == nil || v.Kind != jsonc.Object {
		return
	}
	r.out.Counters = Counters{Offset: r.number(v, "arena_offset", -1), Bytes: r.number(v, "byte_count", -1), Count: r.number(v, "count", -1), Present: true, Span: v.Span}
}

func (r *reader) command(v *jsonc.Value, i int) {
	if v.Kind != jsonc.Object {
		r.fail(v.Span, "PROGRAM/TYPE", "command %d is %s, want an object", i, v.Kind).help("write {…}")
		return
	}
	c := Command{Ordinal: r.number(v, "ordinal", int64(i)), Kind: v.Get("kind").Str(), Kernel: v.Get("kernel").Str(), Span: v.Span, KernelSpan: v.Span}
	if k := v.Get("kernel"); k != nil {
		c.KernelSpan = k.Span
	}
	switch p := v.Get("phase"); p.Str() {
	case "init":
		c.Init = true
	case "main", "":
	default:
		r.fail(p.Span, "PROGRAM/PHASE", "phase '%s' is neither 'init' nor 'main'", p.Str()).help("write init or main")
		return
	}
	if c.Kernel == "" {
		r.fail(v.Span, "PROGRAM/MISSING", "command %d names no kernel", c.Ordinal).help(`add "kernel": "family:name"`)
		return
	}
	for _, m := range members(v.Get("integer_parameters")) {
		n, ok := m.Value.Int()
		if !ok {
			r.fail(m.Value.Span, "PROGRAM/TYPE", "integer parameter '%s' of command %d is no integer", m.Key, c.Ordinal).help("write an integer; floats travel as config")
			continue
		}
		c.Params = append(c.Params, require.Param{Name: m.Key, Value: n, Span: m.Value.Span, KeySpan: m.KeySpan})
	}
	for _, m := range members(v.Get("compile_parameters")) {
		text, ok := m.Value.Scalar()
		if !ok {
			r.fail(m.Value.Span, "PROGRAM/TYPE", "compile parameter '%s' of command %d is %s", m.Key, c.Ordinal, m.Value.Kind).help("write its value as a string")
			continue
		}
		c.Config = append(c.Config, linker.Binding{Key: linker.CleanKey(m.Key), Text: text, Span: m.Value.Span})
	}
	if l := v.Get("dependencies"); l != nil {
		for _, x := range l.Items {
			n, ok := x.Int()
			if !ok {
				r.fail(x.Span, "PROGRAM/TYPE", "a dependency of command %d is no ordinal", c.Ordinal).help("write the ordinal of an earlier command")
				continue
			}
			c.Dependencies = append(c.Dependencies, Dependency{n, x.Span})
		}
	}
	if l := v.Get("bindings"); l != nil {
		for _, x := range l.Items {
			c.Bindings = append(c.Bindings, r.binding(x, &c))
		}
	}
	r.out.Commands = append(r.out.Commands, c)
}

var accessWords = []string{"read", "write", "read_write"}

func (r *reader) binding(v *jsonc.Value, c *Command) Binding {
	b := Binding{
		Index: r.number(v, "index", -1), Name: v.Get("name").Str(), Value: scalarOf(v.Get("value")), Origin: v.Get("origin").Str(),
		Offset: r.number(v, "offset", 0), Length: r.number(v, "length", 0), Span: v.Span, AccessSpan: v.Span, LengthSpan: v.Span,
	}
	if a := v.Get("access"); a != nil {
		b.AccessSpan, b.AccessWord = a.Span, a.Str()
	}
	if l := v.Get("length"); l != nil {
		b.LengthSpan = l.Span
	}
	b.Access = corpus.ParseAccess(b.AccessWord)
	if b.Access == corpus.AccessUnknown {
		f := r.fail(b.AccessSpan, "PROGRAM/ACCESS", "access '%s' of binding '%s' of command %d is not known", b.AccessWord, b.Name, c.Ordinal)
		if near := dialect.Nearest(b.AccessWord, accessWords); near != "" {
			f.help("did you mean '%s'?", near)
		} else {
			f.help("write read, write or read_write")
		}
		b.Access = corpus.AccessReadWrite
	}
	return b
}

func scalarOf(v *jsonc.Value) string {
	s, _ := v.Scalar()
	return s
}

func members(v *jsonc.Value) []jsonc.Member {
	if v == nil {
		return nil
	}
	return v.Members
}
