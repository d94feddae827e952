// Package gguf reads the header of a GGUF model file: its metadata and the list
// of its tensors, and not one byte of the tensors themselves.
//
// The well-kept Go readers of the format bring an HTTP client with a cache,
// estimators of memory use and a numerics library along. A corpus check needs a
// few integers from the front of a local file, and needs them with firm limits,
// because the file may be anything; so the header is read here, in one pass,
// with everything it claims checked before memory is taken for it.
package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Limits on what a header may claim.
const (
	maxString  = 1 << 24 // bytes of one string
	maxEntries = 1 << 20 // metadata entries, tensors
	maxDims    = 8
	maxDepth   = 4
	maxKept    = 1 << 14 // elements of an array that are kept; longer ones are only counted
)

// File is the header of a model file.
type File struct {
	Version  uint32
	Metadata map[string]Value
	Tensors  []Tensor // in file order
}

// Value is one metadata value.
type Value struct {
	Kind  Kind
	Int   int64   // integers and booleans
	Float float64 // floats
	Str   string
	Len   int64   // arrays: number of elements
	Items []Value // arrays: the elements, nil for long ones
}

// Kind is the kind of a metadata value.
type Kind uint8

// Kinds.
const (
	Int Kind = iota
	Float
	Bool
	String
	Array
)

func (k Kind) String() string {
	return [...]string{"integer", "float", "boolean", "string", "array"}[k]
}

// Tensor is one entry of the tensor list.
type Tensor struct {
	Name   string
	Dims   []int64 // fastest first, as the format has them
	Type   Type
	Offset uint64 // from the start of the tensor data
}

// Type is a tensor's element format.
type Type uint32

var typeNames = map[Type]string{
	0: "f32", 1: "f16", 2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 9: "q8_1", 10: "q2_k", 11: "q3_k", 12: "q4_k",
	13: "q5_k", 14: "q6_k", 15: "q8_k", 16: "iq2_xxs", 17: "iq2_xs", 18: "iq3_xxs", 19: "iq1_s", 20: "iq4_nl", 21: "iq3_s",
	22: "iq2_s", 23: "iq4_xs", 24: "i8", 25: "i16", 26: "i32", 27: "i64", 28: "f64", 29: "iq1_m", 30: "bf16", 34: "tq1_0", 35: "tq2_0", 39: "mxfp4",
}

func (t Type) String() string {
	if n, ok := typeNames[t]; ok {
		return n
	}
	return "type" + strconv.FormatUint(uint64(t), 10)
}

// Tensor returns the tensor called name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// Architecture is the value of general.architecture, "" when it is missing.
func (f *File) Architecture() string { return f.Metadata["general.architecture"].Str }

// ErrNotGGUF is returned for a file that does not begin like one.
var ErrNotGGUF = errors.New("not a GGUF file")

// ReadFile reads the header of the file called name, whatever its size.
func ReadFile(name string) (*File, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading model: %w", err)
	}
	defer r.Close()
	f, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("reading model %s: %w", name, err)
	}
	return f, nil
}

// Read reads a header. The reader is left somewhere behind it.
func Read(r io.Reader) (*File, error) {
	d := &decoder{r: bufio.NewReaderSize(r, 1<<16)}
	f, err := d.file()
	if err != nil && !errors.Is(err, ErrNotGGUF) {
		return nil, fmt.Errorf("at byte %d: %w", d.at, err)
	}
	return f, err
}

type decoder struct {
	r    *bufio.Reader
	at   int64
	wide bool // counts and lengths take 64 bits
	buf  [8]byte
}

func (d *decoder) bytes(n int) ([]byte, error) {
	b := d.buf[:n]
	m, err := io.ReadFull(d.r, b)
	d.at += int64(m)
	if err != nil {
		return nil, fmt.Errorf("the header is cut short: %w", io.ErrUnexpectedEOF)
	}
	return b, nil
}

func (d *decoder) u32() (uint32, error) {
	b, err := d.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (d *decoder) u64() (uint64, error) {
	b, err := d.bytes(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// size reads a count or length.
func (d *decoder) size() (uint64, error) {
	if d.wide {
		return d.u64()
	}
	n, err := d.u32()
	return uint64(n), err
}

func (d *decoder) skip(n uint64) error {
	for n > 0 {
		step := int(min(n, 1<<20))
		m, err := d.r.Discard(step)
		d.at += int64(m)
		if err != nil {
			return fmt.Errorf("the header is cut short: %w", io.ErrUnexpectedEOF)
		}
		n -= uint64(step)
	}
	return nil
}

func (d *decoder) string() (string, error) {
	n, err := d.size()
	if err != nil {
		return "", err
	}
	if n > maxString {
		return "", fmt.Errorf("a string claims %d bytes", n)
	}
	// The claim is not believed: memory grows with what is there.
	var out []byte
	for left := int(n); left > 0; {
		step := min(left, 1<<16)
		start := len(out)
		out = append(out, make([]byte, step)...)
		m, err := io.ReadFull(d.r, out[start:])
		d.at += int64(m)
		if err != nil {
			return "", fmt.Errorf("the header is cut short: %w", io.ErrUnexpectedEOF)
		}
		left -= step
	}
	if !utf8.Valid(out) {
		return strconv.QuoteToASCII(string(out)), nil
	}
	return string(out), nil
}

func (d *decoder) file() (*File, error) {
	magic, err := d.bytes(4)
	if err != nil || string(magic) != "GGUF" {
		return nil, ErrNotGGUF
	}
	f := &File{Metadata: map[string]Value{}}
	if f.Version, err = d.u32(); err != nil {
		return nil, err
	}
	switch {
	case f.Version == 1:
	case f.Version == 2 || f.Version == 3:
		d.wide = true
	case f.Version&0xffff == 0:
		return nil, errors.New("the file is big-endian, which is not supported")
	default:
		return nil, fmt.Errorf("format version %d is not supported (1 to 3 are)", f.Version)
	}
	tensors, err := d.size()
	if err != nil {
		return nil, err
	}
	entries, err := d.size()
	if err != nil {
		return nil, err
	}
	if tensors > maxEntries || entries > maxEntries {
		return nil, fmt.Errorf("the header claims %d tensors and %d metadata entries", tensors, entries)
	}
	for range entries {
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		v, err := d.typed(0)
		if err != nil {
			return nil, fmt.Errorf("metadata '%s': %w", key, err)
		}
		f.Metadata[key] = v
	}
	for range tensors {
		t, err := d.tensor()
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, t)
	}
	return f, nil
}

func (d *decoder) tensor() (t Tensor, err error) {
	if t.Name, err = d.string(); err != nil {
		return t, err
	}
	n, err := d.u32()
	if err != nil {
		return t, err
	}
	if n > maxDims {
		return t, fmt.Errorf("tensor '%s' claims %d dimensions", t.Name, n)
	}
	for range n {
		v, err := d.size()
		if err != nil {
			return t, err
		}
		if v > math.MaxInt64 {
			return t, fmt.Errorf("tensor '%s' claims an extent of %d", t.Name, v)
		}
		t.Dims = append(t.Dims, int64(v))
	}
	typ, err := d.u32()
	if err != nil {
		return t, err
	}
	t.Type = Type(typ)
	t.Offset, err = d.u64()
	return t, err
}

// scalarSizes gives the bytes of each fixed-size metadata type, by its number.
var scalarSizes = [...]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

const (
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
	typeFloat64 = 12
)

func (d *decoder) typed(depth int) (Value, error) {
	typ, err := d.u32()
	if err != nil {
		return Value{}, err
	}
	return d.value(typ, depth)
}

func (d *decoder) value(typ uint32, depth int) (Value, error) {
	switch {
	case typ == typeString:
		s, err := d.string()
		return Value{Kind: String, Str: s}, err
	case typ == typeArray:
		return d.array(depth)
	case typ > typeFloat64:
		return Value{}, fmt.Errorf("value type %d is not known", typ)
	}
	b, err := d.bytes(scalarSizes[typ])
	if err != nil {
		return Value{}, err
	}
	switch typ {
	case typeFloat32:
		return Value{Kind: Float, Float: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}, nil
	case typeFloat64:
		return Value{Kind: Float, Float: math.Float64frombits(binary.LittleEndian.Uint64(b))}, nil
	case typeBool:
		v := Value{Kind: Bool}
		if b[0] != 0 {
			v.Int = 1
		}
		return v, nil
	}
	var u uint64
	for i, x := range b {
		u |= uint64(x) << (8 * i)
	}
	// Odd type numbers below 6, and 11, are the signed ones.
	if signed := typ == 1 || typ == 3 || typ == 5 || typ == 11; signed {
		shift := 64 - 8*len(b)
		return Value{Kind: Int, Int: int64(u<<shift) >> shift}, nil
	}
	if u > math.MaxInt64 {
		return Value{}, fmt.Errorf("value %d is too large", u)
	}
	return Value{Kind: Int, Int: int64(u)}, nil
}

func (d *decoder) array(depth int) (Value, error) {
	if depth >= maxDepth {
		return Value{}, errors.New("arrays are nested too deeply")
	}
	typ, err := d.u32()
	if err != nil {
		return Value{}, err
	}
	n, err := d.size()
	if err != nil {
		return Value{}, err
	}
	v := Value{Kind: Array, Len: int64(min(n, math.MaxInt64))}
	switch {
	case typ > typeFloat64:
		return Value{}, fmt.Errorf("element type %d is not known", typ)
	case n > math.MaxInt64/8:
		return Value{}, fmt.Errorf("an array claims %d elements", n)
	case n > maxKept && typ != typeString && typ != typeArray:
		return v, d.skip(n * uint64(scalarSizes[typ]))
	}
	for range n {
		if typ == typeString && n > maxKept {
			size, err := d.size()
			if err != nil {
				return Value{}, err
			}
			if size > maxString {
				return Value{}, fmt.Errorf("a string claims %d bytes", size)
			}
			if err := d.skip(size); err != nil {
				return Value{}, err
			}
			continue
		}
		x, err := d.value(typ, depth+1)
		if err != nil {
			return Value{}, err
		}
		if n <= maxKept {
			v.Items = append(v.Items, x)
		}
	}
	return v, nil
}
