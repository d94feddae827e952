package hip

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What a remote cache keeps under /ac/KEY is an ActionResult of Bazel's remote
// execution protocol, in protocol-buffer encoding, because some servers check that
// it is one. These are the fields of it that a compile has:
//
//	ActionResult { repeated OutputFile output_files = 2; bytes stderr_raw = 7; }
//	OutputFile   { string path = 1; Digest digest = 2; }
//	Digest       { string hash = 1; int64 size_bytes = 2; }
//
// The path holds the key: a server that answers with the result of another action
// is found out even when every digest is right.

type actionResult struct {
	path string
	hash string // sha256 of the object, hexadecimal
	size int64
	log  string
}

func actionPath(k Key) string { return "loomc/" + k.String() + ".hsaco" }

func (r actionResult) encode() []byte {
	digest := protoBytes(nil, 1, []byte(r.hash))
	digest = binary.AppendUvarint(append(digest, 2<<3), uint64(r.size))
	file := protoBytes(nil, 1, []byte(r.path))
	file = protoBytes(file, 2, digest)
	b := protoBytes(nil, 2, file)
	if r.log != "" {
		b = protoBytes(b, 7, []byte(r.log))
	}
	return b
}

func protoBytes(b []byte, field int, v []byte) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

func decodeAction(b []byte) (actionResult, error) {
	var r actionResult
	files := 0
	err := protoFields(b, func(field int, v []byte, n uint64) error {
		switch field {
		case 2:
			files++
			return protoFields(v, func(field int, v []byte, _ uint64) error {
				switch field {
				case 1:
					r.path = string(v)
				case 2:
					return protoFields(v, func(field int, v []byte, n uint64) error {
						switch field {
						case 1:
							r.hash = string(v)
						case 2:
							r.size = int64(n)
						}
						return nil
					})
				}
				return nil
			})
		case 4:
			if n != 0 {
				return fmt.Errorf("result of a failed action, exit code %d", n)
			}
		case 7:
			r.log = string(v)
		}
		return nil
	})
	switch {
	case err != nil:
		return actionResult{}, err
	case files != 1:
		return actionResult{}, fmt.Errorf("action result has %d output files, want 1", files)
	case r.size <= 0 || r.size > maxObject:
		return actionResult{}, fmt.Errorf("action result names an object of %d bytes", r.size)
	}
	return r, nil
}

var errProto = errors.New("not an action result: the message ends in the middle of a field")

// protoFields calls f for every field of a message: with bytes for the
// length-delimited ones, with the number for the rest.
func protoFields(b []byte, f func(field int, v []byte, n uint64) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29 {
			return errProto
		}
		b = b[n:]
		var v []byte
		var num uint64
		switch tag & 7 {
		case 0:
			if num, n = binary.Uvarint(b); n <= 0 {
				return errProto
			}
			b = b[n:]
		case 1, 5:
			size := 8
			if tag&7 == 5 {
				size = 4
			}
			if len(b) < size {
				return errProto
			}
			b = b[size:]
		case 2:
			l, n := binary.Uvarint(b)
			if n <= 0 || l > uint64(len(b)-n) {
				return errProto
			}
			v, b = b[n:n+int(l)], b[n+int(l):]
		default:
			return fmt.Errorf("not an action result: wire type %d", tag&7)
		}
		if err := f(int(tag>>3), v, num); err != nil {
			return err
		}
	}
	return nil
}
