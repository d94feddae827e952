package gguf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/corpus/require/gguf"
)

// header writes a GGUF header the way the format describes it.
type header struct {
	bytes.Buffer
	version uint32
}

func newHeader(version uint32, tensors, entries uint64) *header {
	h := &header{version: version}
	h.WriteString("GGUF")
	h.put(version)
	h.size(tensors)
	h.size(entries)
	return h
}

func (h *header) put(v any) { binary.Write(h, binary.LittleEndian, v) }

func (h *header) size(n uint64) {
	if h.version == 1 {
		h.put(uint32(n))
	} else {
		h.put(n)
	}
}

func (h *header) str(s string) { h.size(uint64(len(s))); h.WriteString(s) }

func (h *header) entry(key string, typ uint32, v any) {
	h.str(key)
	h.put(typ)
	if s, ok := v.(string); ok {
		h.str(s)
	} else {
		h.put(v)
	}
}

func (h *header) tensor(name string, typ uint32, dims ...uint64) {
	h.str(name)
	h.put(uint32(len(dims)))
	for _, d := range dims {
		h.size(d)
	}
	h.put(typ)
	h.put(uint64(0))
}

func sample(version uint32) *header {
	h := newHeader(version, 2, 10)
	h.entry("general.architecture", 8, "llama")
	h.entry("llama.u8", 0, uint8(200))
	h.entry("llama.i8", 1, int8(-3))
	h.entry("llama.i16", 3, int16(-300))
	h.entry("llama.embedding_length", 4, uint32(4096))
	h.entry("llama.i64", 11, int64(-1<<40))
	h.entry("llama.eps", 6, float32(0.5))
	h.entry("llama.flag", 7, true)
	h.str("tokenizer.ggml.tokens") // a list of strings
	h.put(uint32(9))
	h.put(uint32(8))
	h.size(3)
	for _, s := range []string{"a", "", "ccc"} {
		h.str(s)
	}
	h.str("llama.scores") // a list too long to keep
	h.put(uint32(9))
	h.put(uint32(6))
	h.size(20000)
	for range 20000 {
		h.put(float32(1))
	}
	h.tensor("token_embd.weight", 12, 4096, 32000)
	h.tensor("blk.0.attn_q.weight", 99, 4096, 4096)
	h.WriteString("tensor data that nobody reads")
	return h
}

func TestRead(t *testing.T) {
	for _, version := range []uint32{1, 2, 3} {
		f, err := gguf.Read(sample(version))
		if err != nil {
			t.Fatal(err)
		}
		if f.Version != version || f.Architecture() != "llama" || len(f.Metadata) != 10 || len(f.Tensors) != 2 {
			t.Errorf("version %d: %+v", version, f)
		}
		for key, want := range map[string]int64{"llama.u8": 200, "llama.i8": -3, "llama.i16": -300, "llama.embedding_length": 4096, "llama.i64": -1 << 40, "llama.flag": 1} {
			if got := f.Metadata[key].Int; got != want {
				t.Errorf("%s is %d, want %d", key, got, want)
			}
		}
		if v := f.Metadata["llama.eps"]; v.Kind != gguf.Float || v.Float != 0.5 {
			t.Errorf("eps %+v", v)
		}
		if v := f.Metadata["tokenizer.ggml.tokens"]; v.Len != 3 || len(v.Items) != 3 || v.Items[2].Str != "ccc" {
			t.Errorf("tokens %+v", v)
		}
		if v := f.Metadata["llama.scores"]; v.Len != 20000 || v.Items != nil {
			t.Errorf("scores: %d elements, %d kept", v.Len, len(v.Items))
		}
		q, ok := f.Tensor("token_embd.weight")
		if !ok || q.Type.String() != "q4_k" || q.Dims[1] != 32000 {
			t.Errorf("tensor %+v", q)
		}
		if q, _ := f.Tensor("blk.0.attn_q.weight"); q.Type.String() != "type99" {
			t.Errorf("unknown type is called %s", q.Type)
		}
		if _, ok := f.Tensor("nothing"); ok {
			t.Error("found a tensor that is not there")
		}
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(name, sample(3).Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if f, err := gguf.ReadFile(name); err != nil || f.Architecture() != "llama" {
		t.Error(f, err)
	}
	if _, err := gguf.ReadFile(name + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	claim := func(f func(h *header)) io.Reader {
		h := newHeader(3, 1, 1)
		f(h)
		return h
	}
	for _, c := range []struct {
		name string
		in   io.Reader
		want string
	}{
		{"empty", strings.NewReader(""), "not a GGUF file"},
		{"another format", strings.NewReader("PK\x03\x04 zip"), "not a GGUF file"},
		{"cut in the counts", bytes.NewReader(sample(3).Bytes()[:10]), "the header is cut short"},
		{"cut in the metadata", bytes.NewReader(sample(3).Bytes()[:60]), "the header is cut short"},
		{"cut in an unkept list", bytes.NewReader(sample(3).Bytes()[:1000]), "the header is cut short"},
		{"version 9", newHeader(9, 0, 0), "format version 9 is not supported"},
		{"big-endian", newHeader(3<<24, 0, 0), "the file is big-endian"},
		{"too many tensors", newHeader(3, 1<<40, 0), "the header claims 1099511627776 tensors"},
		{"too many entries", newHeader(3, 0, 1<<40), "0 tensors and 1099511627776 metadata entries"},
		{"long string", claim(func(h *header) { h.size(1 << 40) }), "a string claims 1099511627776 bytes"},
		{"unknown type", claim(func(h *header) { h.entry("k", 13, uint8(0)) }), "metadata 'k': value type 13 is not known"},
		{"unknown element", claim(func(h *header) { h.entry("k", 9, uint32(77)); h.size(1) }), "metadata 'k': element type 77 is not known"},
		{"long list", claim(func(h *header) { h.entry("k", 9, uint32(4)); h.size(math.MaxInt64) }), "an array claims 9223372036854775807 elements"},
		{"deep list", claim(func(h *header) {
			h.str("k")
			h.put(uint32(9))
			for range 9 {
				h.put(uint32(9))
				h.size(1)
			}
		}), "arrays are nested too deeply"},
		{"large number", claim(func(h *header) { h.entry("k", 10, uint64(math.MaxUint64)) }), "value 18446744073709551615 is too large"},
		{"many dimensions", claim(func(h *header) { h.entry("k", 0, uint8(0)); h.str("t"); h.put(uint32(99)) }), "tensor 't' claims 99 dimensions"},
		{"large extent", claim(func(h *header) { h.entry("k", 0, uint8(0)); h.str("t"); h.put(uint32(1)); h.size(math.MaxUint64) }), "tensor 't' claims an extent"},
	} {
		if _, err := gguf.Read(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample(1).Bytes())
	f.Add(sample(3).Bytes()[:400])
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := gguf.Read(bytes.NewReader(b))
		if (m == nil) == (err == nil) {
			t.Error("neither or both of a file and an error")
		}
	})
}
