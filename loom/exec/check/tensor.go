package check

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec"
)

// Tensor is a host array: row-major bytes, elements little-endian, i1 one byte
// each. A view of a tensor shares its storage.
type Tensor struct {
	Elem    loom.Kind
	Dims    []int64
	Strides []int64 // in elements
	Data    []byte  // starts at the tensor's first element
	Offset  int64   // bytes from the start of the storage to Data
}

// maxTensorBytes bounds one tensor of a case.
const maxTensorBytes = 1 << 32

// NewTensor returns a zeroed dense tensor.
func NewTensor(elem loom.Kind, dims []int64) (*Tensor, error) {
	t := &Tensor{Elem: elem, Dims: dims, Strides: make([]int64, len(dims))}
	n := int64(elem.Bytes())
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] < 0 {
			return nil, fmt.Errorf("extent %d of axis %d is negative", dims[i], i)
		}
		t.Strides[i] = n / int64(elem.Bytes())
		if dims[i] > 0 && n > maxTensorBytes/dims[i] {
			return nil, fmt.Errorf("a tensor of shape %v is larger than %d bytes", dims, int64(maxTensorBytes))
		}
		n *= dims[i]
	}
	t.Data = make([]byte, n)
	return t, nil
}

// Len returns the number of elements.
func (t *Tensor) Len() int64 {
	n := int64(1)
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Dense reports whether the elements lie row-major without gaps.
func (t *Tensor) Dense() bool {
	n := int64(1)
	for i := len(t.Dims) - 1; i >= 0; i-- {
		if t.Dims[i] != 1 && t.Strides[i] != n {
			return false
		}
		n *= t.Dims[i]
	}
	return true
}

// Bytes returns the storage a kernel sees: exactly the tensor's elements.
func (t *Tensor) Bytes() []byte {
	n := t.Len() * int64(t.Elem.Bytes())
	return t.Data[:n:n]
}

// offset returns the byte offset of row-major ordinal i.
func (t *Tensor) offset(i int64) int64 {
	size := int64(t.Elem.Bytes())
	at := int64(0)
	for k := len(t.Dims) - 1; k >= 0; k-- {
		at += i % t.Dims[k] * t.Strides[k]
		i /= t.Dims[k]
	}
	return at * size
}

// Bits returns the bits of the element at row-major ordinal i.
func (t *Tensor) Bits(i int64) uint64 { return exec.ReadElement(t.Data[t.offset(i):], t.Elem) }

// SetBits stores the element at row-major ordinal i.
func (t *Tensor) SetBits(i int64, v uint64) { exec.WriteElement(t.Data[t.offset(i):], t.Elem, v) }

// Float returns the value of the element at ordinal i, integers converted.
func (t *Tensor) Float(i int64) float64 {
	if t.Elem.IsFloat() {
		return exec.DecodeFloat(t.Elem, t.Bits(i))
	}
	return float64(exec.SignExtend(t.Elem, t.Bits(i)))
}

// Index returns the multi-index of row-major ordinal i.
func (t *Tensor) Index(i int64) []int64 {
	out := make([]int64, len(t.Dims))
	for k := len(t.Dims) - 1; k >= 0; k-- {
		out[k] = i % t.Dims[k]
		i /= t.Dims[k]
	}
	return out
}

// Window returns the sub-tensor of the given extents at offsets; missing leading
// extents are units.
func (t *Tensor) Window(offsets, dims []int64) (*Tensor, error) {
	if len(offsets) != len(t.Dims) || len(dims) > len(t.Dims) {
		return nil, fmt.Errorf("%d offsets and rank %d do not fit a tensor of rank %d", len(offsets), len(dims), len(t.Dims))
	}
	lead := len(t.Dims) - len(dims)
	at := int64(0)
	w := &Tensor{Elem: t.Elem, Dims: dims, Strides: t.Strides[lead:]}
	for k, o := range offsets {
		n := int64(1)
		if k >= lead {
			n = dims[k-lead]
		}
		if o < 0 || n < 0 || o+n > t.Dims[k] {
			return nil, fmt.Errorf("axis %d: [%d, %d) is outside [0, %d)", k, o, o+n, t.Dims[k])
		}
		at += o * t.Strides[k]
	}
	skip := min(at*int64(t.Elem.Bytes()), int64(len(t.Data)))
	w.Data, w.Offset = t.Data[skip:], t.Offset+skip
	return w, nil
}

// Type returns "tensor<2x3xf32>".
func (t *Tensor) Type() string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.Dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	return b.String() + t.Elem.String() + ">"
}
