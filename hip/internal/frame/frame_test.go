package frame

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

type head struct{ Name string }

func TestRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := errors.Join(Write(&b, head{"a"}, []byte("one"), nil, []byte("two")), Write(&b, head{"b"})); err != nil {
		t.Fatal(err)
	}
	var h head
	n, err := Read(&b, &h)
	if err != nil || n != 6 || h.Name != "a" {
		t.Fatalf("%d %+v %v", n, h, err)
	}
	if got, _ := io.ReadAll(io.LimitReader(&b, n)); string(got) != "onetwo" {
		t.Errorf("payload %q", got)
	}
	if n, err := Read(&b, &h); err != nil || n != 0 || h.Name != "b" {
		t.Errorf("%d %+v %v", n, h, err)
	}
	if _, err := Read(&b, &h); err != io.EOF {
		t.Errorf("error %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"cut prefix":   "\x01\x00",
		"cut head":     "\x05\x00\x00\x00" + strings.Repeat("\x00", 8) + "{}",
		"not JSON":     "\x02\x00\x00\x00" + strings.Repeat("\x00", 8) + "!!",
		"huge head":    "\xff\xff\xff\xff" + strings.Repeat("\x00", 8),
		"huge payload": "\x02\x00\x00\x00" + strings.Repeat("\xff", 8) + "{}",
	} {
		var h head
		if _, err := Read(strings.NewReader(text), &h); err == nil || err == io.EOF {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestWriteFails(t *testing.T) {
	if err := Write(io.Discard, func() {}); err == nil {
		t.Error("a function was encoded")
	}
	r, w := io.Pipe()
	r.Close()
	if err := Write(w, head{}, []byte("x")); err == nil {
		t.Error("sent to nobody")
	}
}
