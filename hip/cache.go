package hip

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cache keeps compiled objects on disk, one file per key:
//
//	objects/ab/abcdef…   entry: one header line, the compiler's log, the object
//	tmp/                 files being written, work directories of compilers
//	locks/abc            one of 4096 lock files, for compiling once
//	state/               what probing compilers found
//
// Entries appear by rename and carry a digest that every read checks, so a process
// killed at any point, a full disk or a flipped bit leaves misses and never a wrong
// object. A Cache is safe for concurrent use by goroutines and processes.
type Cache struct {
	dir      string
	maxBytes int64
}

// DefaultCacheBytes is the size budget of a cache that was not given one.
const DefaultCacheBytes = 2 << 30

// staleAfter is the age from which a temporary file is taken to be nobody's.
const staleAfter = time.Hour

// DefaultCacheDir returns LOOMC_CACHE or "loomc" in the user's cache directory.
// getenv nil means os.Getenv.
func DefaultCacheDir(getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	if d := getenv("LOOMC_CACHE"); d != "" {
		return d, nil
	}
	if d := getenv("XDG_CACHE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "loomc"), nil
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("choosing a cache directory: %w (set LOOMC_CACHE)", err)
	}
	return filepath.Join(d, "loomc"), nil
}

// OpenCache opens the cache in dir, creating it when absent. maxBytes is the
// budget that Prune keeps to; 0 means DefaultCacheBytes.
func OpenCache(dir string, maxBytes int64) (*Cache, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening cache %s: %w", dir, err)
	}
	if maxBytes <= 0 {
		maxBytes = DefaultCacheBytes
	}
	c := &Cache{dir: abs, maxBytes: maxBytes}
	for _, d := range []string{"objects", "tmp", "locks", "state"} {
		if err := os.MkdirAll(filepath.Join(abs, d), 0o755); err != nil {
			return nil, fmt.Errorf("opening cache: %w", err)
		}
	}
	tag := filepath.Join(abs, "CACHEDIR.TAG") // backup programs skip directories that hold one
	if !fileExists(tag) {
		if err := writeFileAtomic(tag, []byte("Signature: 8a477f597d28d172789f06886806bc55\n")); err != nil {
			return nil, fmt.Errorf("opening cache: %w", err)
		}
	}
	return c, nil
}

// Dir returns the cache's directory.
func (c *Cache) Dir() string { return c.dir }

// StateDir is where Search may remember compilers.
func (c *Cache) StateDir() string { return filepath.Join(c.dir, "state") }

// TempDir is where compilers may work: leftovers of killed processes are removed
// by Prune.
func (c *Cache) TempDir() string { return filepath.Join(c.dir, "tmp") }

// Entry is what a cache keeps for a key.
type Entry struct {
	Object []byte
	Log    string // what the compiler printed, so that a warm build warns like a cold one
}

const entryMagic = "loomc-object"

func (c *Cache) path(k Key) string {
	s := k.String()
	return filepath.Join(c.dir, "objects", s[:2], s)
}

// encodeEntry writes the header line and the payload.
func encodeEntry(k Key, e Entry) []byte {
	h := sha256.New()
	h.Write([]byte(e.Log))
	h.Write(e.Object)
	head := fmt.Sprintf("%s 1 %s %x %d %d\n", entryMagic, k, h.Sum(nil), len(e.Log), len(e.Object))
	b := make([]byte, 0, len(head)+len(e.Log)+len(e.Object))
	return append(append(append(b, head...), e.Log...), e.Object...)
}

// decodeEntry checks everything that encodeEntry wrote.
func decodeEntry(k Key, b []byte) (Entry, error) {
	head, payload, ok := bytes.Cut(b, []byte("\n"))
	if !ok || len(head) > 256 {
		return Entry{}, errors.New("no header line")
	}
	var magic, key, sum string
	var format, logLen, objLen int
	if n, err := fmt.Sscanf(string(head), "%s %d %s %s %d %d", &magic, &format, &key, &sum, &logLen, &objLen); n != 6 || err != nil || magic != entryMagic || format != 1 {
		return Entry{}, errors.New("header line is not readable")
	}
	if key != k.String() {
		return Entry{}, fmt.Errorf("holds the object of another key, %s", key)
	}
	if logLen < 0 || objLen < 0 || logLen > len(payload) || objLen != len(payload)-logLen {
		return Entry{}, fmt.Errorf("payload has %d bytes, header says %d and %d", len(payload), logLen, objLen)
	}
	if got := sha256.Sum256(payload); hex.EncodeToString(got[:]) != sum {
		return Entry{}, errors.New("digest of the payload differs from the header's")
	}
	return Entry{Log: string(payload[:logLen]), Object: payload[logLen:]}, nil
}

// Get returns the entry of k. An entry that does not verify is removed and
// reported as absent. The error is for a cache that cannot be read at all.
func (c *Cache) Get(k Key) (Entry, bool, error) {
	path := c.path(k)
	b, err := readBounded(path, maxObject+maxLog)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("reading the cache: %w", err)
	}
	e, err := decodeEntry(k, b)
	if err != nil {
		c.drop(k)
		return Entry{}, false, nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // order of use, for Prune; a read-only cache works without
	return e, true, nil
}

// drop removes an entry that turned out to be useless. Failing to is no harm: it
// will be found useless again.
func (c *Cache) drop(k Key) { _ = os.Remove(c.path(k)) }

// Put stores the entry of k, replacing what was there.
func (c *Cache) Put(k Key, e Entry) error {
	path := c.path(k)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("storing in the cache: %w", err)
	}
	if err := writeVia(c.TempDir(), path, encodeEntry(k, e)); err != nil {
		return fmt.Errorf("storing in the cache: %w", err)
	}
	return nil
}

// Lock waits until this caller alone, among all goroutines and processes, may
// produce the object of k, and returns what ends that. The lock goes with the
// process that holds it.
func (c *Cache) Lock(ctx context.Context, k Key) (unlock func(), err error) {
	return lockFile(ctx, filepath.Join(c.dir, "locks", k.String()[:3]))
}

// CacheStats describes a cache's contents.
type CacheStats struct {
	Dir       string
	Entries   int
	Bytes     int64
	MaxBytes  int64
	Temporary int // files and directories being written, or left by killed processes
}

type cacheFile struct {
	path string
	key  Key
	ok   bool // the name is a key in its right place
	size int64
	used time.Time
}

func (c *Cache) files(ctx context.Context) ([]cacheFile, error) {
	var out []cacheFile
	root := filepath.Join(c.dir, "objects")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // pruned by someone else meanwhile
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		st, err := d.Info()
		if err != nil {
			return nil
		}
		f := cacheFile{path: path, size: st.Size(), used: st.ModTime()}
		if k, err := ParseKey(d.Name()); err == nil && c.path(k) == path {
			f.key, f.ok = k, true
		}
		out = append(out, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the cache: %w", err)
	}
	return out, nil
}

// Stats counts what the cache holds.
func (c *Cache) Stats(ctx context.Context) (CacheStats, error) {
	files, err := c.files(ctx)
	if err != nil {
		return CacheStats{}, err
	}
	s := CacheStats{Dir: c.dir, MaxBytes: c.maxBytes, Entries: len(files)}
	for _, f := range files {
		s.Bytes += f.size
	}
	temps, err := os.ReadDir(c.TempDir())
	if err != nil {
		return CacheStats{}, fmt.Errorf("listing the cache: %w", err)
	}
	s.Temporary = len(temps)
	return s, nil
}

// BadEntry is a cache file that does not verify.
type BadEntry struct {
	Path   string
	Reason string
}

// Verify reads every entry and checks its digest and that it holds a code object.
// Bad entries are left where they are unless remove is set; reads would pass over
// them either way.
func (c *Cache) Verify(ctx context.Context, remove bool) (checked int, bad []BadEntry, err error) {
	files, err := c.files(ctx)
	if err != nil {
		return 0, nil, err
	}
	slices.SortFunc(files, func(a, b cacheFile) int { return strings.Compare(a.path, b.path) })
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return checked, bad, err
		}
		reason := ""
		if !f.ok {
			reason = "file name is not a key"
		} else if b, err := readBounded(f.path, maxObject+maxLog); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			reason = err.Error()
		} else if e, err := decodeEntry(f.key, b); err != nil {
			reason = err.Error()
		} else if _, err := ReadObject(e.Object); err != nil && checkNVIDIA(e.Object) != nil {
			reason = err.Error()
		}
		checked++
		if reason == "" {
			continue
		}
		bad = append(bad, BadEntry{Path: f.path, Reason: reason})
		if remove {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return checked, bad, fmt.Errorf("removing a bad entry: %w", err)
			}
		}
	}
	return checked, bad, nil
}

// Pruned says what Prune did.
type Pruned struct {
	Removed   int
	Freed     int64
	Kept      int
	KeptBytes int64
}

// Prune removes the entries used longest ago until at most maxBytes remain (the
// cache's budget when maxBytes is negative), and temporary files older than an hour.
func (c *Cache) Prune(ctx context.Context, maxBytes int64) (Pruned, error) {
	if maxBytes < 0 {
		maxBytes = c.maxBytes
	}
	var p Pruned
	if err := c.removeStale(time.Now().Add(-staleAfter)); err != nil {
		return p, err
	}
	files, err := c.files(ctx)
	if err != nil {
		return p, err
	}
	slices.SortFunc(files, func(a, b cacheFile) int { // last used first
		return cmp.Or(b.used.Compare(a.used), strings.Compare(a.path, b.path))
	})
	full := false
	for _, f := range files {
		if full = full || p.KeptBytes+f.size > maxBytes; !full {
			p.Kept++
			p.KeptBytes += f.size
			continue
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return p, fmt.Errorf("pruning the cache: %w", err)
		}
		p.Removed++
		p.Freed += f.size
	}
	return p, nil
}

func (c *Cache) removeStale(before time.Time) error {
	temps, err := os.ReadDir(c.TempDir())
	if err != nil {
		return fmt.Errorf("pruning the cache: %w", err)
	}
	for _, t := range temps {
		st, err := t.Info()
		if err != nil || st.ModTime().After(before) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(c.TempDir(), t.Name())); err != nil {
			return fmt.Errorf("pruning the cache: %w", err)
		}
	}
	return nil
}

// Clear removes every entry and what is remembered about compilers. Temporary
// files of running processes stay; those older than an hour are nobody's and go.
func (c *Cache) Clear(ctx context.Context) (Pruned, error) {
	p, err := c.Prune(ctx, 0)
	if err != nil {
		return p, err
	}
	state, err := os.ReadDir(c.StateDir())
	if err != nil {
		return p, fmt.Errorf("clearing the cache: %w", err)
	}
	for _, s := range state {
		if err := os.Remove(filepath.Join(c.StateDir(), s.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return p, fmt.Errorf("clearing the cache: %w", err)
		}
	}
	return p, nil
}
