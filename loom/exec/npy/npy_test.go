package npy

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, a := range []*Array{
		{Descr: "<f4", Shape: []int64{2, 3}, Data: bytes.Repeat([]byte{1, 2, 3, 4}, 6)},
		{Descr: "|i1", Shape: []int64{5}, Data: []byte{1, 2, 3, 4, 5}},
		{Descr: "<V2", Shape: []int64{}, Data: []byte{7, 8}},
		{Descr: "<f8", Shape: []int64{0, 4}, Data: nil},
	} {
		b := Encode(a)
		if (len(b)-len(a.Data))%64 != 0 {
			t.Errorf("%v: data starts at %d", a.Shape, len(b)-len(a.Data))
		}
		got, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if got.Descr != a.Descr || !slices.Equal(got.Shape, a.Shape) || !bytes.Equal(got.Data, a.Data) {
			t.Errorf("got %v, want %v", got, a)
		}
	}
}

func TestFortranOrderAndBigEndian(t *testing.T) {
	b := Encode(&Array{Descr: ">i2", Shape: []int64{2, 3}, Data: []byte{0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6}})
	b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
	a, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}; !bytes.Equal(a.Data, want) || a.Descr != "<i2" {
		t.Errorf("got %s %v, want %v", a.Descr, a.Data, want)
	}
}

func TestRefusals(t *testing.T) {
	good := Encode(&Array{Descr: "<f4", Shape: []int64{2}, Data: make([]byte, 8)})
	for want, b := range map[string][]byte{
		"magic":           []byte("PK\x03\x04 not an array"),
		"version":         append([]byte(magic), 9, 0, 0, 0),
		"cut off":         good[:20],
		"needs 8 bytes":   good[:len(good)-1],
		"not supported":   bytes.Replace(good, []byte("<f4"), []byte("<c8"), 1),
		"no \"shape\"":    bytes.Replace(good, []byte("'shape'"), []byte("'shade'"), 1),
		"not a count":     bytes.Replace(good, []byte("(2,)"), []byte("(x,)"), 1),
		"needs more than": bytes.Replace(good, []byte("(2,), }   "), []byte("(2,99999),"), 1),
		"not a tuple":     bytes.Replace(good, []byte("(2,)"), []byte("[2,]"), 1),
	} {
		_, err := Decode(b)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(&Array{Descr: "<f4", Shape: []int64{2, 3}, Data: make([]byte, 24)}))
	f.Add([]byte(magic + "\x01\x00\x10\x00{'descr': '<f4'}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Encode(a))
		if err != nil {
			t.Fatalf("the rewritten file is refused: %v", err)
		}
		if !bytes.Equal(a.Data, again.Data) || !slices.Equal(a.Shape, again.Shape) {
			t.Fatal("a round trip changed the array")
		}
	})
}
