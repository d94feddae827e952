package hip

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Object is what a code object says about itself.
type Object struct {
	Target            string // target id without the triple: "gfx1151", "gfx90a:xnack-"
	CodeObjectVersion int    // 3 … 6
	Kernels           []KernelInfo
}

// KernelInfo describes one kernel of a code object. Sizes are bytes, counts are
// registers per lane (VGPR, AGPR) or per wave (SGPR).
type KernelInfo struct {
	Name   string // as the source wrote it and as a module lookup wants it
	Symbol string // the kernel descriptor, "NAME.kd"

	KernargSize  int
	KernargAlign int
	Args         []Arg // in layout order, the hidden ones included

	LDS              int // static workgroup memory
	Scratch          int // private memory per lane; 0 unless something spills or is indexed
	DynamicStack     bool
	VGPR, SGPR, AGPR int
	VGPRSpill        int // registers, not bytes
	SGPRSpill        int

	WaveSize             int // 32 or 64
	MaxFlatWorkgroupSize int
	ReqdWorkgroupSize    [3]int // zero when the source did not fix it
}

// Arg is one entry of a kernel's argument block.
type Arg struct {
	Name         string // often empty: compilers drop names of unnamed parameters
	TypeName     string // often empty
	Offset, Size int
	ValueKind    string // "by_value", "global_buffer", "hidden_block_count_x", …
	AddressSpace string // "global", "local", …; empty for values
	Access       string // "read_only", "write_only", "read_write"; empty when not known
}

// Hidden reports whether the runtime, not the caller, fills the argument in.
func (a Arg) Hidden() bool { return strings.HasPrefix(a.ValueKind, "hidden_") }

// Pointer reports whether the argument is an address in device memory.
func (a Arg) Pointer() bool {
	return a.ValueKind == "global_buffer" || a.ValueKind == "dynamic_shared_pointer"
}

// ExplicitArgs returns the arguments that a launch supplies.
func (k KernelInfo) ExplicitArgs() []Arg {
	var out []Arg
	for _, a := range k.Args {
		if !a.Hidden() {
			out = append(out, a)
		}
	}
	return out
}

// Kernel returns the kernel called name.
func (o Object) Kernel(name string) (KernelInfo, bool) {
	for _, k := range o.Kernels {
		if k.Name == name {
			return k, true
		}
	}
	return KernelInfo{}, false
}

// ObjectError says why bytes are not a usable code object.
type ObjectError struct {
	Err error
}

func (e *ObjectError) Error() string { return "reading code object: " + e.Err.Error() }
func (e *ObjectError) Unwrap() error { return e.Err }

// Diagnostic returns the error under its code.
func (e *ObjectError) Diagnostic() diag.Diagnostic {
	return diag.Errorf(diag.Span{}, "HIP/LOAD", "%s", e.Error())
}

// ReadObject reads a raw AMD GPU code object. The bytes may come from anywhere:
// whatever they hold, ReadObject returns an *ObjectError or an Object, in time and
// memory proportional to len(data). Kernels are sorted by name. The result shares
// no memory with data.
func ReadObject(data []byte) (Object, error) {
	o, err := readObject(data)
	if err != nil {
		return Object{}, &ObjectError{Err: err}
	}
	return o, nil
}

func readObject(data []byte) (Object, error) {
	f, err := readELF(data)
	if err != nil {
		return Object{}, err
	}
	switch {
	case f.osabi != elfOSABIHSA:
		return Object{}, fmt.Errorf("ELF OS/ABI is %d, want %d (AMD HSA)", f.osabi, elfOSABIHSA)
	case f.typ != elfTypeDyn:
		return Object{}, errors.New("not linked: a relocatable object where a shared object is needed (the lld step is missing)")
	case f.abiVersion == 0:
		return Object{}, errors.New("code object version 2 is not supported: compile with -mcode-object-version=5")
	}
	o := Object{CodeObjectVersion: int(f.abiVersion) + 2}

	note, err := f.metadata()
	if err != nil {
		return Object{}, err
	}
	v, err := decodeMsgpack(note)
	if err != nil {
		return Object{}, err
	}
	root, ok := v.(map[string]any)
	if !ok {
		return Object{}, errors.New("metadata is not a map")
	}
	m := fields{m: root}
	o.Target, err = objectTarget(f, m.str("amdhsa.target"))
	if err != nil {
		return Object{}, err
	}
	var symbols []string
	for i, kv := range m.list("amdhsa.kernels") {
		km, ok := kv.(map[string]any)
		if !ok {
			return Object{}, fmt.Errorf("metadata: kernel %d is not a map", i)
		}
		k, err := readKernel(km)
		if err != nil {
			return Object{}, fmt.Errorf("metadata of kernel %d (%q): %w", i, k.Name, err)
		}
		symbols = append(symbols, k.Symbol)
		o.Kernels = append(o.Kernels, k)
	}
	if m.err != nil {
		return Object{}, fmt.Errorf("metadata: %w", m.err)
	}
	switch missing, err := f.missingSymbol(symbols); {
	case err != nil:
		return Object{}, err
	case missing != "":
		return Object{}, fmt.Errorf("metadata names the kernel descriptor %q, which the object does not define", missing)
	}
	slices.SortStableFunc(o.Kernels, func(a, b KernelInfo) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(o.Kernels); i++ {
		if o.Kernels[i].Name == o.Kernels[i-1].Name {
			return Object{}, fmt.Errorf("metadata describes the kernel %q twice", o.Kernels[i].Name)
		}
	}
	return o, nil
}

// objectTarget joins the two places that name the target. e_flags is what a loader
// trusts; the metadata string, present from code object version 4 on, must agree.
func objectTarget(f *elfFile, meta string) (string, error) {
	mach := f.flags & 0xff
	name, known := machines[mach]
	if meta == "" {
		if !known {
			return "", fmt.Errorf("machine number 0x%02x in e_flags is not one this version knows, and there is no target in the metadata", mach)
		}
		t := Target{Processor: name, Features: map[string]bool{}}
		if f.flags&0x100 != 0 { // version 3 spells features as single bits
			t.Features["xnack"] = true
		}
		if f.flags&0x200 != 0 {
			t.Features["sramecc"] = true
		}
		return t.String(), nil
	}
	t, err := ParseTarget(meta)
	if err != nil {
		return "", fmt.Errorf("metadata: %w", err)
	}
	if known && t.Processor != name {
		return "", fmt.Errorf("e_flags says %s and the metadata says %s", name, t.Processor)
	}
	return t.String(), nil
}

func readKernel(km map[string]any) (KernelInfo, error) {
	m := fields{m: km}
	k := KernelInfo{
		Name:                 m.str(".name"),
		Symbol:               m.str(".symbol"),
		KernargSize:          m.count(".kernarg_segment_size"),
		KernargAlign:         m.count(".kernarg_segment_align"),
		LDS:                  m.count(".group_segment_fixed_size"),
		Scratch:              m.count(".private_segment_fixed_size"),
		DynamicStack:         m.flag(".uses_dynamic_stack"),
		VGPR:                 m.count(".vgpr_count"),
		SGPR:                 m.count(".sgpr_count"),
		AGPR:                 m.count(".agpr_count"),
		VGPRSpill:            m.count(".vgpr_spill_count"),
		SGPRSpill:            m.count(".sgpr_spill_count"),
		WaveSize:             m.count(".wavefront_size"),
		MaxFlatWorkgroupSize: m.count(".max_flat_workgroup_size"),
	}
	if reqd := m.list(".reqd_workgroup_size"); len(reqd) > 0 {
		if len(reqd) != 3 {
			return k, fmt.Errorf(".reqd_workgroup_size has %d entries, want 3", len(reqd))
		}
		for i, v := range reqd {
			n, ok := v.(int64)
			if !ok || n < 0 || n > math.MaxInt32 {
				return k, errors.New(".reqd_workgroup_size holds something that is not a size")
			}
			k.ReqdWorkgroupSize[i] = int(n)
		}
	}
	args := m.list(".args")
	if m.err != nil {
		return k, m.err
	}
	if k.Name == "" || k.Symbol == "" {
		return k, errors.New(".name and .symbol are required")
	}
	for i, v := range args {
		am, ok := v.(map[string]any)
		if !ok {
			return k, fmt.Errorf("argument %d is not a map", i)
		}
		f := fields{m: am}
		a := Arg{
			Name:         f.str(".name"),
			TypeName:     f.str(".type_name"),
			Offset:       f.count(".offset"),
			Size:         f.count(".size"),
			ValueKind:    f.str(".value_kind"),
			AddressSpace: f.str(".address_space"),
			Access:       f.str(".actual_access"),
		}
		if a.Access == "" {
			a.Access = f.str(".access")
		}
		if f.err != nil {
			return k, fmt.Errorf("argument %d: %w", i, f.err)
		}
		if a.ValueKind == "" || a.Size == 0 {
			return k, fmt.Errorf("argument %d: .value_kind and .size are required", i)
		}
		if a.Offset+a.Size > k.KernargSize {
			return k, fmt.Errorf("argument %d at offset %d, %d bytes, lies outside the argument block of %d bytes", i, a.Offset, a.Size, k.KernargSize)
		}
		k.Args = append(k.Args, a)
	}
	slices.SortStableFunc(k.Args, func(a, b Arg) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(k.Args); i++ {
		if p := k.Args[i-1]; p.Offset+p.Size > k.Args[i].Offset {
			return k, fmt.Errorf("arguments at offsets %d and %d overlap", p.Offset, k.Args[i].Offset)
		}
	}
	return k, nil
}

// fields reads typed entries of a metadata map and keeps the first error, so that
// callers can list what they want in one expression.
type fields struct {
	m   map[string]any
	err error
}

func (f *fields) fail(key, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s is not %s", key, want)
	}
}

func (f *fields) str(key string) string {
	v, ok := f.m[key]
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		f.fail(key, "a string")
	}
	return s
}

func (f *fields) count(key string) int {
	v, ok := f.m[key]
	if !ok {
		return 0
	}
	n, ok := v.(int64)
	if !ok || n < 0 || n > math.MaxInt32 {
		f.fail(key, "a size or count")
		return 0
	}
	return int(n)
}

func (f *fields) flag(key string) bool {
	switch v := f.m[key].(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	default:
		f.fail(key, "a truth value")
		return false
	}
}

func (f *fields) list(key string) []any {
	v, ok := f.m[key]
	if !ok {
		return nil
	}
	l, ok := v.([]any)
	if !ok {
		f.fail(key, "a list")
	}
	return l
}
