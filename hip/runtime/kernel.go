package runtime

import (
	"encoding/binary"
	"fmt"
	"math"
	goruntime "runtime"
	"slices"
	"unsafe"

	"github.com/loomc/loomc/hip"
)

// Param is what a kernel expects in one argument position.
type Param struct {
	Name    string // for messages
	Pointer bool   // a buffer; otherwise a value
	Size    int    // bytes of a value; ignored for pointers
	Access  string // "read_only", "write_only", "read_write"; empty checks nothing
	// MinBytes is how much of the buffer, from the passed offset, the kernel may
	// touch; 0 checks nothing.
	MinBytes int
}

// Kernel is an entry point of a module.
type Kernel struct {
	m      *Module
	h      handle
	name   string
	params []Param
	info   hip.KernelInfo // zero on CUDA
}

// Kernel looks an entry point up. params say what it expects; they are held against
// what the object's metadata says. Without params the metadata alone is used; where
// there is none, on CUDA, params are required.
func (m *Module) Kernel(name string, params ...Param) (*Kernel, error) {
	k := &Kernel{m: m, name: name, params: slices.Clone(params)}
	for i, p := range params {
		if !p.Pointer && p.Size <= 0 {
			return nil, fmt.Errorf("kernel %s, argument %d (%s): a value of %d bytes by its description", name, i, p.Name, p.Size)
		}
	}
	if m.d.Kind() == HIP {
		info, found := m.object.Kernel(name)
		if !found {
			names := make([]string, len(m.object.Kernels))
			for i, o := range m.object.Kernels {
				names[i] = o.Name
			}
			return nil, fmt.Errorf("the object has no kernel %q; it has %q", name, names)
		}
		k.info = info
		if err := k.fromMetadata(params != nil); err != nil {
			return nil, err
		}
	}
	var sizes []int
	known := false
	err := m.d.on(func() error {
		h, err := m.d.r.d.function(m.h, name)
		if err != nil {
			return err
		}
		k.h = h
		sizes, known = m.d.r.d.params(h)
		return nil
	}, m)
	if err != nil {
		return nil, fmt.Errorf("looking up kernel %s: %w", name, err)
	}
	if m.d.Kind() == CUDA {
		if err := k.checkSizes(sizes, known, params != nil); err != nil {
			return nil, err
		}
	}
	return k, nil
}

const pointerSize = 8

// fromMetadata takes the parameters from the object, or compares with it.
func (k *Kernel) fromMetadata(given bool) error {
	explicit := k.info.ExplicitArgs()
	if !given {
		for _, a := range explicit {
			k.params = append(k.params, Param{Name: a.Name, Pointer: a.Pointer(), Size: a.Size, Access: a.Access})
		}
		return nil
	}
	if len(explicit) != len(k.params) {
		return fmt.Errorf("kernel %s takes %d arguments in the object and %d by its description", k.name, len(explicit), len(k.params))
	}
	for i, a := range explicit {
		p := &k.params[i]
		switch {
		case a.Pointer() != p.Pointer:
			return fmt.Errorf("kernel %s, argument %d (%s): %s in the object, a %s by its description", k.name, i, p.Name, a.ValueKind, kindWord(p.Pointer))
		case !p.Pointer && a.Size != p.Size:
			return fmt.Errorf("kernel %s, argument %d (%s): %d bytes in the object, %d by its description", k.name, i, p.Name, a.Size, p.Size)
		}
		if p.Pointer && p.Access == "" {
			p.Access = a.Access
		}
	}
	return nil
}

func (k *Kernel) checkSizes(sizes []int, known, given bool) error {
	if !given {
		return fmt.Errorf("kernel %s: its parameters must be described, a CUDA module does not", k.name)
	}
	if !known {
		return nil
	}
	if len(sizes) != len(k.params) {
		return fmt.Errorf("kernel %s takes %d arguments in the module and %d by its description", k.name, len(sizes), len(k.params))
	}
	for i, n := range sizes {
		want := k.params[i].Size
		if k.params[i].Pointer {
			want = pointerSize
		}
		if n != want {
			return fmt.Errorf("kernel %s, argument %d (%s): %d bytes in the module, %d by its description", k.name, i, k.params[i].Name, n, want)
		}
	}
	return nil
}

func kindWord(pointer bool) string {
	if pointer {
		return "buffer"
	}
	return "value"
}

// Name returns the kernel's name.
func (k *Kernel) Name() string { return k.name }

// Params returns what the kernel expects.
func (k *Kernel) Params() []Param { return slices.Clone(k.params) }

// Info returns the object's description of the kernel; zero on CUDA.
func (k *Kernel) Info() hip.KernelInfo { return k.info }

// Arg is one argument of a launch.
type Arg struct {
	buffer *Buffer
	offset int
	input  bool   // the caller relies on the kernel not writing to it
	need   int    // bytes from offset that this launch touches
	why    string // where need comes from
	value  []byte // little-endian
	typ    string // for messages
}

// Needs says how many bytes of the buffer, from the passed offset, this launch may
// touch with its other arguments, and in a few words why; a shorter buffer is
// refused. It adds to what the kernel's Param says about every launch.
func (a Arg) Needs(bytes int, why string) Arg {
	a.need, a.why = bytes, why
	return a
}

// Ptr passes a buffer.
func Ptr(b *Buffer) Arg { return Arg{buffer: b, typ: "buffer"} }

// PtrAt passes the part of a buffer that begins at offset bytes.
func PtrAt(b *Buffer, offset int) Arg { return Arg{buffer: b, offset: offset, typ: "buffer"} }

// Input passes a buffer that must stay as it is: the launch is refused when the
// kernel is known to write there.
func Input(b *Buffer) Arg { return Arg{buffer: b, input: true, typ: "buffer"} }

// U32 passes a 32-bit unsigned value.
func U32(v uint32) Arg { return Arg{value: binary.LittleEndian.AppendUint32(nil, v), typ: "u32"} }

// I32 passes a 32-bit signed value.
func I32(v int32) Arg {
	return Arg{value: binary.LittleEndian.AppendUint32(nil, uint32(v)), typ: "i32"}
}

// U64 passes a 64-bit unsigned value.
func U64(v uint64) Arg { return Arg{value: binary.LittleEndian.AppendUint64(nil, v), typ: "u64"} }

// I64 passes a 64-bit signed value.
func I64(v int64) Arg {
	return Arg{value: binary.LittleEndian.AppendUint64(nil, uint64(v)), typ: "i64"}
}

// F32 passes a 32-bit floating-point value.
func F32(v float32) Arg {
	return Arg{value: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)), typ: "f32"}
}

// F64 passes a 64-bit floating-point value.
func F64(v float64) Arg {
	return Arg{value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)), typ: "f64"}
}

// Bytes passes a value of any other type by its little-endian bytes.
func Bytes(b []byte) Arg { return Arg{value: slices.Clone(b), typ: "bytes"} }

// Geometry is the shape of a launch, in blocks and in lanes per block.
type Geometry struct {
	Grid   [3]uint32
	Block  [3]uint32
	Shared uint32 // bytes of dynamic workgroup memory
}

// Launch starts the kernel and does not wait for it: failures while it runs come
// out of Device.Synchronize, or of the next call that waits. The buffers may be
// closed at once; their memory lives until the kernel is done.
//
// A launch that cannot be right is refused with an *ArgumentError.
func (k *Kernel) Launch(g Geometry, args ...Arg) error {
	if err := k.checkGeometry(g); err != nil {
		return err
	}
	if err := k.checkArgs(args); err != nil {
		return err
	}
	d := k.m.d
	err := d.on(func() error {
		c := k.pack(args)
		err := d.r.d.launch(k.h, g.Grid, g.Block, g.Shared, c.pointer())
		goruntime.KeepAlive(c)
		return ok(err)
	}, k.needs(args)...)
	if err != nil {
		return fmt.Errorf("launching %s: %w", k.name, err)
	}
	return nil
}

// needs are the resources that a launch with args uses.
func (k *Kernel) needs(args []Arg) []resource {
	out := []resource{k.m}
	for _, a := range args {
		if a.buffer != nil {
			out = append(out, a.buffer)
		}
	}
	return out
}

// packed is a list of arguments as a driver takes it. One block of memory holds the
// values, one the pointers to them; both stay where they are while packed is alive,
// and the driver has copied them when its call returns.
type packed struct {
	values   []uint64
	pointers []unsafe.Pointer
}

// pointer is what the driver gets. The caller keeps p alive over the call.
func (p *packed) pointer() unsafe.Pointer { return unsafe.Pointer(&p.pointers[0]) }

// pack runs on the worker: only there is the place of a buffer known to stay.
func (k *Kernel) pack(args []Arg) *packed {
	p := &packed{values: make([]uint64, 0, 2*len(args)+1), pointers: make([]unsafe.Pointer, len(args)+1)}
	starts := make([]int, len(args))
	for i, a := range args {
		starts[i] = len(p.values)
		if a.buffer != nil {
			p.values = append(p.values, uint64(a.buffer.a)+uint64(a.offset))
			continue
		}
		for off := 0; off < len(a.value); off += 8 {
			var word [8]byte
			copy(word[:], a.value[off:])
			p.values = append(p.values, binary.LittleEndian.Uint64(word[:]))
		}
	}
	for i := range args {
		p.pointers[i] = unsafe.Pointer(&p.values[starts[i]])
	}
	return p
}

func (k *Kernel) refuse(index int, format string, args ...any) error {
	e := &ArgumentError{Kernel: k.name, Index: index, Reason: fmt.Sprintf(format, args...)}
	if index >= 0 && index < len(k.params) {
		e.Name = k.params[index].Name
	}
	return e
}

func (k *Kernel) checkArgs(args []Arg) error {
	if len(args) != len(k.params) {
		return k.refuse(-1, "%d arguments, the kernel takes %d", len(args), len(k.params))
	}
	for i, a := range args {
		p := k.params[i]
		switch {
		case p.Pointer && a.buffer == nil && a.typ == "buffer":
			return k.refuse(i, "is no buffer at all (nil)")
		case p.Pointer && a.buffer == nil:
			return k.refuse(i, "is a %s, the kernel takes a buffer", a.typ)
		case !p.Pointer && a.buffer != nil:
			return k.refuse(i, "is a buffer, the kernel takes a value of %d bytes", p.Size)
		case !p.Pointer && len(a.value) != p.Size:
			return k.refuse(i, "is a %s of %d bytes, the kernel takes %d", a.typ, len(a.value), p.Size)
		case !p.Pointer:
			continue
		case a.buffer.d != k.m.d:
			return k.refuse(i, "is on device %d, the kernel on device %d", a.buffer.d.info.Index, k.m.d.info.Index)
		case a.offset < 0 || a.offset > a.buffer.size:
			return k.refuse(i, "begins at byte %d of a buffer of %d", a.offset, a.buffer.size)
		case a.buffer.size-a.offset < p.MinBytes:
			return k.refuse(i, "has %d bytes, the kernel touches %d", a.buffer.size-a.offset, p.MinBytes)
		case a.buffer.size-a.offset < a.need:
			why := ""
			if a.why != "" {
				why = ": " + a.why
			}
			return k.refuse(i, "has %d bytes, this launch touches %d%s", a.buffer.size-a.offset, a.need, why)
		case a.input && p.Access != "" && p.Access != "read_only":
			return k.refuse(i, "is passed as an input, and the kernel's access is %s", p.Access)
		}
	}
	return nil
}

func (k *Kernel) checkGeometry(g Geometry) error {
	block := uint64(1)
	for i := range 3 {
		if g.Grid[i] == 0 || g.Block[i] == 0 {
			return k.refuse(-1, "grid %v of blocks %v has an empty dimension", g.Grid, g.Block)
		}
		block *= uint64(min(g.Block[i], 1<<16))
		// HIP counts the grid in lanes, in 32 bits.
		if uint64(g.Grid[i])*uint64(g.Block[i]) > math.MaxUint32 {
			return k.refuse(-1, "grid %v of blocks %v has more than 2³² lanes in dimension %d", g.Grid, g.Block, i)
		}
	}
	if most := k.info.MaxFlatWorkgroupSize; most > 0 && block > uint64(most) {
		return k.refuse(-1, "blocks of %v are %d lanes, the kernel was compiled for at most %d", g.Block, block, most)
	}
	if r := k.info.ReqdWorkgroupSize; r != [3]int{} && r != [3]int{int(g.Block[0]), int(g.Block[1]), int(g.Block[2])} {
		return k.refuse(-1, "blocks of %v, the kernel was compiled for %v", g.Block, r)
	}
	if have := k.m.d.info.LDSPerBlock; have > 0 && k.info.LDS+int(g.Shared) > have {
		return k.refuse(-1, "%d bytes of workgroup memory in the kernel and %d in the launch, the device has %d", k.info.LDS, g.Shared, have)
	}
	return nil
}
