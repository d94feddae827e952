// Package frame writes and reads the messages between a program and the child it
// starts to drive a device: a JSON head and, after it, bytes that are not worth
// encoding, the contents of buffers.
package frame

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// maxHead bounds a head: it names a launch's arguments, not their contents.
	maxHead = 16 << 20
	// maxPayload bounds what one message may carry.
	maxPayload = 1 << 46
)

// prefix is the length of the head in 4 bytes and of the payload in 8.
const prefix = 12

// Write sends a message. The payload is the concatenation of parts.
func Write(w io.Writer, head any, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if err := WriteHead(w, head, n); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return fmt.Errorf("sending a message: %w", err)
		}
	}
	return nil
}

// WriteHead sends the head of a message whose payload the caller writes next.
func WriteHead(w io.Writer, head any, payload int) error {
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	if len(text) > maxHead {
		return fmt.Errorf("encoding a message: the head has %d bytes, more than %d", len(text), maxHead)
	}
	b := make([]byte, 0, prefix+len(text))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = binary.LittleEndian.AppendUint64(b, uint64(payload))
	if _, err := w.Write(append(b, text...)); err != nil {
		return fmt.Errorf("sending a message: %w", err)
	}
	return nil
}

// Read receives the head of a message into head, a pointer, and returns the length
// of the payload that the caller reads next. io.EOF says that there is no further
// message.
func Read(r io.Reader, head any) (payload int64, err error) {
	var p [prefix]byte
	if _, err := io.ReadFull(r, p[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		return 0, fmt.Errorf("receiving a message: %w", err)
	}
	n, m := binary.LittleEndian.Uint32(p[:4]), binary.LittleEndian.Uint64(p[4:])
	if n > maxHead || m > maxPayload {
		return 0, fmt.Errorf("receiving a message: it announces a head of %d and a payload of %d bytes", n, m)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, fmt.Errorf("receiving a message: %w", err)
	}
	if err := json.Unmarshal(text, head); err != nil {
		return 0, fmt.Errorf("receiving a message: %w", err)
	}
	return int64(m), nil
}
