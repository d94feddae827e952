package check

import (
	"fmt"
	"math"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/exec"
)

// intRange returns the values that fit an integer kind in either reading: a test
// writes a byte as 255 or as -1.
func intRange(k loom.Kind) (lo, hi int64) {
	switch b := k.Bits(); {
	case b == 1:
		return -1, 1
	case b < 64:
		return -(1 << (b - 1)), 1<<b - 1
	}
	return math.MinInt64, math.MaxInt64
}

func number(a loom.Attr) float64 {
	switch {
	case a.Kind == loom.AttrWord && a.Str == "inf":
		return math.Inf(1)
	case a.Kind == loom.AttrWord && a.Str == "-inf":
		return math.Inf(-1)
	case a.Kind == loom.AttrWord && a.Str == "nan":
		return math.NaN()
	}
	return a.Float()
}

// encode returns the bits of a literal for kind k, refusing integers that do not
// fit.
func encode(a loom.Attr, k loom.Kind) (uint64, error) {
	if !k.IsFloat() {
		v := a.Int
		if a.Kind == loom.AttrFloat {
			if v = int64(a.Float()); float64(v) != a.Float() {
				return 0, fmt.Errorf("%s is not an integer", a)
			}
		}
		if lo, hi := intRange(k); a.Kind != loom.AttrBool && (v < lo || v > hi) {
			return 0, fmt.Errorf("%d does not fit %s", v, k)
		}
	}
	return exec.EncodeLiteral(a, k), nil
}

func fill(t *Tensor, value loom.Attr) error {
	bits, err := encode(value, t.Elem)
	if err != nil {
		return err
	}
	for i := range t.Len() {
		t.SetBits(i, bits)
	}
	return nil
}

func ramp(t *Tensor, offset, step loom.Attr, period int64) error {
	if t.Elem.IsFloat() {
		o, s := number(offset), number(step)
		for i := range t.Len() {
			n := i
			if period > 0 {
				n %= period
			}
			t.SetBits(i, exec.EncodeFloat(t.Elem, o+s*float64(n)))
		}
		return nil
	}
	lo, hi := intRange(t.Elem)
	o, s := wholeNumber(offset), wholeNumber(step)
	for i := range t.Len() {
		n := i
		if period > 0 {
			n %= period
		}
		v := o + s*n
		if s != 0 && n != 0 && (v-o)/s != n || v < lo || v > hi {
			return fmt.Errorf("element %d is %d, which does not fit %s", i, v, t.Elem)
		}
		t.SetBits(i, uint64(v)&mask(t.Elem))
	}
	return nil
}

func wholeNumber(a loom.Attr) int64 {
	if a.Kind == loom.AttrFloat {
		return int64(a.Float())
	}
	return a.Int
}

func mask(k loom.Kind) uint64 {
	if b := k.Bits(); b < 64 {
		return 1<<b - 1
	}
	return math.MaxUint64
}

const golden = 0x9e3779b97f4a7c15

// mix is the finaliser of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func uniform(t *Tensor, seed uint64, lower, upper loom.Attr) error {
	if t.Elem.IsFloat() {
		lo, hi := number(lower), number(upper)
		if !(lo <= hi) {
			return fmt.Errorf("the range %v to %v is empty", lo, hi)
		}
		for i := range t.Len() {
			u := float64(mix(seed+uint64(i+1)*golden)>>11) * 0x1p-53
			t.SetBits(i, exec.EncodeFloat(t.Elem, lo+u*(hi-lo)))
		}
		return nil
	}
	lo, hi := wholeNumber(lower), wholeNumber(upper)
	if hi < lo {
		return fmt.Errorf("the range %d to %d is empty", lo, hi)
	}
	if a, b := intRange(t.Elem); lo < a || hi > b {
		return fmt.Errorf("the range %d to %d does not fit %s", lo, hi, t.Elem)
	}
	width := uint64(hi-lo) + 1
	for i := range t.Len() {
		z := mix(seed + uint64(i+1)*golden)
		if width != 0 {
			z %= width
		}
		t.SetBits(i, uint64(lo+int64(z))&mask(t.Elem))
	}
	return nil
}
