package float

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every bit pattern of every format survives a round trip, and rounding picks
// the nearest neighbour with ties to even.
func TestRoundTripAndNearest(t *testing.T) {
	for _, f := range []Format{F16, BF16, F8E4M3, F8E5M2} {
		n := uint32(1) << (1 + f.Exp + f.Man)
		prev := math.Inf(-1)
		for b := uint32(0); b < n/2; b++ {
			v := f.Value(b)
			if math.IsNaN(v) {
				if !math.IsNaN(f.Value(f.Bits(v))) {
					t.Fatalf("%s: NaN %#x became %g", f.Name, b, f.Value(f.Bits(v)))
				}
				continue
			}
			if got := f.Bits(v); got != b {
				t.Fatalf("%s: %#x is %g, which rounds to %#x", f.Name, b, v, got)
			}
			if got := f.Bits(-v); got != b|n/2 {
				t.Fatalf("%s: -%g rounds to %#x", f.Name, v, got)
			}
			if b > 0 && !math.IsInf(v, 0) {
				mid := (prev + v) / 2
				want := b
				if b&1 == 1 {
					want = b - 1
				}
				if got := f.Bits(mid); got != want {
					t.Fatalf("%s: tie %g rounds to %#x, want %#x", f.Name, mid, got, want)
				}
				if got := f.Bits(math.Nextafter(mid, math.Inf(1))); got != b {
					t.Fatalf("%s: above the tie %g rounds to %#x, want %#x", f.Name, mid, got, b)
				}
			}
			prev = v
		}
	}
}

func TestOverflow(t *testing.T) {
	for _, c := range []struct {
		f    Format
		v    float64
		want float64
	}{
		{F16, 65519, 65504}, {F16, 65520, math.Inf(1)}, {F16, -1e9, math.Inf(-1)},
		{F8E4M3, 448, 448}, {F8E4M3, 463, 448}, {F8E5M2, 57344, 57344}, {F8E5M2, 1e6, math.Inf(1)},
		{BF16, math.MaxFloat32, math.Inf(1)},
	} {
		if got := c.f.Value(c.f.Bits(c.v)); got != c.want {
			t.Errorf("%s(%g) = %g, want %g", c.f.Name, c.v, got, c.want)
		}
	}
	if v := F8E4M3.Value(F8E4M3.Bits(500)); !math.IsNaN(v) {
		t.Errorf("f8E4M3(500) = %g, want NaN", v)
	}
}

// The float32 shortcuts agree with the general conversion.
func TestFloat32Paths(t *testing.T) {
	for h := uint32(0); h < 1<<16; h++ {
		if a, b := float64(HalfToFloat32(h)), F16.Value(h); a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
			t.Fatalf("f16 %#x: %g, want %g", h, a, b)
		}
		if a, b := float64(BFloatToFloat32(h)), BF16.Value(h); a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
			t.Fatalf("bf16 %#x: %g, want %g", h, a, b)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2_000_000 {
		v := math.Float32frombits(r.Uint32())
		if r.IntN(2) == 0 {
			v = HalfToFloat32(r.Uint32()&0xffff) * (1 + float32(r.IntN(3)-1)*0x1p-11)
		}
		if v != v {
			continue
		}
		if got, want := Float32ToHalf(v), F16.Bits(float64(v)); got != want {
			t.Fatalf("f16(%g) = %#x, want %#x", v, got, want)
		}
		if got, want := Float32ToBFloat(v), BF16.Bits(float64(v)); got != want {
			t.Fatalf("bf16(%g) = %#x, want %#x", v, got, want)
		}
	}
}

func TestFMA32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	near := func() float32 {
		return math.Float32frombits(uint32(120+r.IntN(16))<<23 | r.Uint32()&0x7fffff&^uint32(r.Uint32()))
	}
	for range 200_000 {
		a, b, c := near(), near(), near()
		if r.IntN(2) == 0 {
			c = float32(-float64(a)*float64(b)) * (1 + float32(r.IntN(5)-2)*0x1p-23)
		}
		x := new(big.Float).SetPrec(400).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		x.Add(x, big.NewFloat(float64(c)))
		want, _ := x.Float32()
		if got := FMA32(a, b, c); got != want {
			t.Fatalf("fma(%g, %g, %g) = %g, want %g", a, b, c, got, want)
		}
	}
}
