package hip

import (
	"errors"
	"fmt"
	"math"
)

// The metadata of a code object is one MessagePack value in an ELF note. The
// decoder below reads it from bytes that may be hostile: it never recurses past
// maxDepth and never reserves more than the remaining bytes could fill (every
// element takes at least one byte).

const maxDepth = 32

var errTruncated = errors.New("metadata ends in the middle of a value")

type msgpack struct {
	b   []byte
	pos int
}

// decodeMsgpack reads one value: nil, bool, int64, uint64, float64, string,
// []byte, []any or map[string]any. Bytes after the value are allowed: notes are
// padded.
func decodeMsgpack(b []byte) (any, error) {
	d := msgpack{b: b}
	v, err := d.value(0)
	if err != nil {
		return nil, fmt.Errorf("metadata byte %d: %w", d.pos, err)
	}
	return v, nil
}

func (d *msgpack) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)-d.pos) {
		return nil, errTruncated
	}
	b := d.b[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return b, nil
}

// uint reads a big-endian unsigned integer of size bytes.
func (d *msgpack) uint(size int) (uint64, error) {
	b, err := d.take(uint64(size))
	if err != nil {
		return 0, err
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v, nil
}

func (d *msgpack) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("metadata nests deeper than %d levels", maxDepth)
	}
	tag, err := d.uint(1)
	if err != nil {
		return nil, err
	}
	switch c := byte(tag); {
	case c < 0x80:
		return int64(c), nil
	case c < 0x90:
		return d.mapOf(uint64(c&0x0f), depth)
	case c < 0xa0:
		return d.arrayOf(uint64(c&0x0f), depth)
	case c < 0xc0:
		return d.stringOf(uint64(c & 0x1f))
	case c >= 0xe0:
		return int64(int8(c)), nil
	case c == 0xc0:
		return nil, nil
	case c == 0xc2, c == 0xc3:
		return c == 0xc3, nil
	case c >= 0xc4 && c <= 0xc6: // bin 8, 16, 32
		n, err := d.uint(1 << (c - 0xc4))
		if err != nil {
			return nil, err
		}
		return d.take(n)
	case c == 0xca:
		v, err := d.uint(4)
		return float64(math.Float32frombits(uint32(v))), err
	case c == 0xcb:
		v, err := d.uint(8)
		return math.Float64frombits(v), err
	case c >= 0xcc && c <= 0xcf: // uint 8 … 64
		v, err := d.uint(1 << (c - 0xcc))
		if v <= math.MaxInt64 {
			return int64(v), err
		}
		return v, err
	case c >= 0xd0 && c <= 0xd3: // int 8 … 64
		size := 1 << (c - 0xd0)
		v, err := d.uint(size)
		shift := 64 - 8*size
		return int64(v<<shift) >> shift, err
	case c >= 0xd9 && c <= 0xdb: // str 8, 16, 32
		n, err := d.uint(1 << (c - 0xd9))
		if err != nil {
			return nil, err
		}
		return d.stringOf(n)
	case c == 0xdc, c == 0xdd: // array 16, 32
		n, err := d.uint(2 << (c - 0xdc))
		if err != nil {
			return nil, err
		}
		return d.arrayOf(n, depth)
	case c == 0xde, c == 0xdf: // map 16, 32
		n, err := d.uint(2 << (c - 0xde))
		if err != nil {
			return nil, err
		}
		return d.mapOf(n, depth)
	default:
		return nil, fmt.Errorf("metadata has a value of unsupported kind 0x%02x", c)
	}
}

func (d *msgpack) stringOf(n uint64) (any, error) {
	b, err := d.take(n)
	return string(b), err
}

func (d *msgpack) arrayOf(n uint64, depth int) (any, error) {
	if n > uint64(len(d.b)-d.pos) {
		return nil, errTruncated
	}
	out := make([]any, 0, min(n, 64)) // grows with what is really there
	for range n {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (d *msgpack) mapOf(n uint64, depth int) (any, error) {
	if 2*n > uint64(len(d.b)-d.pos) {
		return nil, errTruncated
	}
	out := make(map[string]any, min(n, 64))
	for range n {
		k, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		name, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("metadata has a map key that is not a string")
		}
		if _, dup := out[name]; dup {
			return nil, fmt.Errorf("metadata has the map key %q twice", name)
		}
		if out[name], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return out, nil
}
