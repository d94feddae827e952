// Package npy reads and writes NumPy array files (format versions 1 to 3) as
// little-endian, row-major bytes.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Array is the content of a file.
type Array struct {
	// Descr is the element type as NumPy writes it: "<f4", "|i1", "<u2", "|b1", or
	// "<V2" and "|V1" for formats NumPy has no name for.
	Descr string
	Shape []int64
	Data  []byte // little-endian, row-major
}

const magic = "\x93NUMPY"

// maxRank bounds the axes a file may claim.
const maxRank = 32

// ElementSize returns the bytes of an element of type descr, 0 when descr is not
// one this package handles.
func ElementSize(descr string) int {
	if len(descr) < 3 || !strings.ContainsRune("<>|=", rune(descr[0])) || !strings.ContainsRune("fiubV", rune(descr[1])) {
		return 0
	}
	switch descr[2:] {
	case "1", "2", "4", "8":
		return int(descr[2] - '0')
	}
	return 0
}

// Decode parses a file.
func Decode(b []byte) (*Array, error) {
	if len(b) < 10 || string(b[:6]) != magic {
		return nil, errors.New("not a NumPy file: the magic bytes are missing")
	}
	var header, rest []byte
	switch b[6] {
	case 1:
		n := int(binary.LittleEndian.Uint16(b[8:]))
		if len(b) < 10+n {
			return nil, fmt.Errorf("the header is cut off: %d bytes announced", n)
		}
		header, rest = b[10:10+n], b[10+n:]
	case 2, 3:
		if len(b) < 12 {
			return nil, errors.New("the header is cut off")
		}
		n := uint64(binary.LittleEndian.Uint32(b[8:]))
		if uint64(len(b)-12) < n {
			return nil, fmt.Errorf("the header is cut off: %d bytes announced", n)
		}
		header, rest = b[12:12+n], b[12+n:]
	default:
		return nil, fmt.Errorf("format version %d.%d is not known", b[6], b[7])
	}
	h := string(header)
	descr, err := quoted(h, "descr")
	if err != nil {
		return nil, err
	}
	size := ElementSize(descr)
	if size == 0 {
		return nil, fmt.Errorf("element type %q is not supported", descr)
	}
	fortran, err := field(h, "fortran_order")
	if err != nil {
		return nil, err
	}
	shape, err := tuple(h)
	if err != nil {
		return nil, err
	}
	n := int64(1)
	for _, d := range shape {
		if d != 0 && n > int64(len(rest))/d+1 {
			return nil, fmt.Errorf("shape %v needs more than the %d bytes in the file", shape, len(rest))
		}
		n *= d
	}
	if n*int64(size) != int64(len(rest)) {
		return nil, fmt.Errorf("shape %v of %q needs %d bytes, the file has %d", shape, descr, n*int64(size), len(rest))
	}
	data := slices.Clone(rest)
	if descr[0] == '>' {
		for i := 0; i < len(data); i += size {
			slices.Reverse(data[i : i+size])
		}
		descr = "<" + descr[1:]
	}
	if descr[0] == '=' {
		descr = "<" + descr[1:]
	}
	if size == 1 {
		descr = "|" + descr[1:]
	}
	if strings.HasPrefix(fortran, "True") && len(shape) > 1 {
		data = rowMajor(data, shape, size)
	}
	return &Array{Descr: descr, Shape: shape, Data: data}, nil
}

func rowMajor(in []byte, shape []int64, size int) []byte {
	out := make([]byte, len(in))
	idx := make([]int64, len(shape))
	for o := 0; o < len(out); o += size {
		at, stride := int64(0), int64(1)
		for k, d := range shape {
			at += idx[k] * stride
			stride *= d
		}
		copy(out[o:o+size], in[at*int64(size):])
		for k := len(idx) - 1; k >= 0; k-- {
			if idx[k]++; idx[k] < shape[k] {
				break
			}
			idx[k] = 0
		}
	}
	return out
}

func field(h, name string) (string, error) {
	for _, q := range []string{"'", `"`} {
		if _, rest, ok := strings.Cut(h, q+name+q); ok {
			rest = strings.TrimLeft(rest, " ")
			if v, ok := strings.CutPrefix(rest, ":"); ok {
				return strings.TrimLeft(v, " "), nil
			}
		}
	}
	return "", fmt.Errorf("the header has no %q", name)
}

func quoted(h, name string) (string, error) {
	v, err := field(h, name)
	if err != nil {
		return "", err
	}
	if v == "" || v[0] != '\'' && v[0] != '"' {
		return "", fmt.Errorf("%s is not a string; structured types are not supported", name)
	}
	s, _, ok := strings.Cut(v[1:], v[:1])
	if !ok {
		return "", fmt.Errorf("%s is not closed", name)
	}
	return s, nil
}

func tuple(h string) ([]int64, error) {
	v, err := field(h, "shape")
	if err != nil {
		return nil, err
	}
	body, _, ok := strings.Cut(strings.TrimPrefix(v, "("), ")")
	if !ok || v[0] != '(' {
		return nil, errors.New("shape is not a tuple")
	}
	shape := []int64{}
	for part := range strings.SplitSeq(body, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		d, err := strconv.ParseInt(part, 10, 64)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("extent %q of the shape is not a count", part)
		}
		if shape = append(shape, d); len(shape) > maxRank {
			return nil, fmt.Errorf("more than %d axes", maxRank)
		}
	}
	return shape, nil
}

// Encode renders an array as a version 1.0 file, header padded so that the data
// starts at a multiple of 64 bytes.
func Encode(a *Array) []byte {
	dims := make([]string, len(a.Shape))
	for i, d := range a.Shape {
		dims[i] = strconv.FormatInt(d, 10)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a.Descr, shape)
	pad := 64 - (10+len(h)+1)%64
	h += strings.Repeat(" ", pad%64) + "\n"
	out := append([]byte(magic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(h)))
	return append(append(out, h...), a.Data...)
}
