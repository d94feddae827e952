package main

import (
	"bytes"
	"testing"

	"github.com/loomc/loomc/loom/exec"
	"github.com/loomc/loomc/loom/kernel"
)

// Buffers that share storage on the host share it on the device, however they
// overlap; what the kernel writes comes back, once.
func TestShareMemory(t *testing.T) {
	host := []byte("0123456789abcdef")
	k := &kernel.Kernel{Bindings: []kernel.Binding{
		{Access: kernel.Read}, {Access: kernel.Write}, {Access: kernel.Read}, {Access: kernel.Read}, {Access: kernel.Read | kernel.Write},
	}}
	other := []byte("xyz")
	memory, where := shareMemory(k, []exec.Arg{
		exec.BufferArg(host[2:6]), exec.BufferArg(host[4:12]), exec.BufferArg(other), exec.BufferArg(nil), exec.BufferArg(host[5:6]),
	})
	if len(memory) != 3 {
		t.Fatalf("%d memories, want the host's two and an empty one", len(memory))
	}
	for i, want := range []string{"2345", "456789ab", "xyz", "", "5"} {
		m := memory[where[i].memory]
		if m.Size != len(m.Data) || !bytes.HasPrefix(m.Data[where[i].offset:], []byte(want)) {
			t.Errorf("binding %d at %+v of %q, want %q", i, where[i], m.Data, want)
		}
	}
	shared := memory[where[0].memory]
	if string(shared.Data) != "23456789ab" || string(shared.Out) != "23456789ab" || memory[where[2].memory].Out != nil {
		t.Errorf("shared %q comes back as %q, the other as %q", shared.Data, shared.Out, memory[where[2].memory].Out)
	}
	if where[0].memory != where[1].memory || where[4].memory != where[0].memory || where[1].offset != 2 || where[4].offset != 3 {
		t.Errorf("places %+v", where)
	}
	// The same buffer twice, read first: the write decides.
	memory, _ = shareMemory(k, []exec.Arg{exec.BufferArg(host), exec.BufferArg(host)})
	if len(memory) != 1 || len(memory[0].Out) != len(host) {
		t.Errorf("in place: %d memories, %d bytes back", len(memory), len(memory[0].Out))
	}
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "4096": 4096, "0x10": 16, "64K": 64 << 10, "256M": 256 << 20, "1G": 1 << 30, "1024G": 1 << 40} {
		if n, err := parseBytes(text); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "-1", "K", "1.5G", "1025G", "1KK", "99999999999999999999"} {
		if n, err := parseBytes(text); err == nil {
			t.Errorf("%q is %d bytes", text, n)
		}
	}
}
