package hip

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// Key names the result of a job by everything that decides it: the compiler's
// identity, the flags (architecture, wave size and code-object version among them)
// and the source. The job's name is not part of it.
type Key [sha256.Size]byte

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads what String writes.
func ParseKey(s string) (Key, error) {
	var k Key
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(k) {
		return Key{}, fmt.Errorf("%q is not a cache key: want %d hexadecimal digits", s, 2*len(k))
	}
	copy(k[:], b)
	return k, nil
}

// keyFormat changes when an equal job would compile to something else for a reason
// that is not in the job: a change of driverFlags or of this encoding.
const keyFormat = "loomc-object-1"

// NewKey returns the key of j compiled by the compiler of that identity.
func NewKey(identity string, j Job) Key {
	h := sha256.New()
	field(h, keyFormat)
	field(h, identity)
	flags := append(append([]string{}, driverFlags...), Flags(j)...)
	field(h, strconv.Itoa(len(flags)))
	for _, f := range flags {
		field(h, f)
	}
	field(h, string(j.Source))
	return Key(h.Sum(nil))
}

// field writes one string so that no two sequences of strings write the same bytes.
func field(h hash.Hash, s string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// Shard is one part of a build split over several machines: part Index, from 1, of
// Count. The zero Shard owns everything.
type Shard struct {
	Index, Count int
}

// ParseShard reads "2/8".
func ParseShard(s string) (Shard, error) {
	a, b, ok := strings.Cut(s, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || n < 1 || i < 1 || i > n {
		return Shard{}, fmt.Errorf("shard %q is not of the form i/n with 1 ≤ i ≤ n", s)
	}
	return Shard{Index: i, Count: n}, nil
}

// Owns reports whether the job of that key is built in this shard. Every key is
// owned by exactly one of the shards 1/n … n/n, on every machine with the same
// compiler.
func (s Shard) Owns(k Key) bool {
	if s.Count <= 1 {
		return true
	}
	return binary.BigEndian.Uint64(k[:8])%uint64(s.Count) == uint64(s.Index-1)
}
