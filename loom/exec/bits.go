package exec

import "github.com/loomc/loomc/loom"

// EncodeFloat rounds v to the float kind k, once, and returns its bits.
func EncodeFloat(k loom.Kind, v float64) uint64 { return floatBits(k, v) }

// DecodeFloat returns the exact value of the bits of float kind k.
func DecodeFloat(k loom.Kind, bits uint64) float64 { return floatValue(k, bits) }

// EncodeLiteral returns the bits of a literal attribute read as kind k.
func EncodeLiteral(a loom.Attr, k loom.Kind) uint64 { return literalBits(a, k) }

// SignExtend returns the signed value of the bits of integer kind k.
func SignExtend(k loom.Kind, bits uint64) int64 {
	if k == loom.I1 {
		return int64(bits & 1)
	}
	return sext(bits, uint(k.Bits()))
}

// ReadElement and WriteElement move one element between memory and bits.
func ReadElement(b []byte, k loom.Kind) uint64 { return getElem(b, k, int64(k.Bytes())) }

// WriteElement stores the low bits of v as one element of kind k.
func WriteElement(b []byte, k loom.Kind, v uint64) { putElem(b, int64(k.Bytes()), v) }
