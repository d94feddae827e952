package runtime

import (
	"encoding/binary"
	goruntime "runtime"
	"sync"
)

// Random fills b with the bytes from off of the endless sequence that seed names.
// Every 16 bits of it are a half-precision number of size 0.5 to 2 of either sign,
// every 32 bits a finite single-precision and every 64 bits a finite
// double-precision one: timing and comparing kernels wants numbers, not NaNs. Large
// fills run on all cores.
func Random(b []byte, seed uint64, off int) {
	const part = 4 << 20
	if len(b) <= part {
		random(b, seed, off)
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, goruntime.GOMAXPROCS(0))
	for at := 0; at < len(b); at += part {
		slots <- struct{}{}
		wg.Go(func() {
			random(b[at:min(at+part, len(b))], seed, off+at)
			<-slots
		})
	}
	wg.Wait()
}

const (
	randomKeep = 0x87ff87ff87ff87ff // sign, the exponent's last bit, mantissa
	randomSet  = 0x3800380038003800 // the rest of the exponent
)

func random(b []byte, seed uint64, off int) {
	var word [8]byte
	for len(b) > 0 {
		w := word8(seed, uint64(off/8))
		if off%8 == 0 && len(b) >= 8 {
			binary.LittleEndian.PutUint64(b, w)
			b, off = b[8:], off+8
			continue
		}
		binary.LittleEndian.PutUint64(word[:], w)
		n := copy(b, word[off%8:])
		b, off = b[n:], off+n
	}
}

// word8 is a word of the sequence: splitmix64 of its place.
func word8(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z^z>>31)&randomKeep | randomSet
}
