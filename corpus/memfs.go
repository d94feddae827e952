package corpus

import (
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
	"time"
)

// memFS presents a corpus's files as a read-only fs.FS. Directories are those
// that the paths imply. It is built once and then only read.
type memFS struct {
	files map[string]string        // path → content
	dirs  map[string][]fs.DirEntry // path → entries sorted by name
}

var (
	_ fs.ReadFileFS = (*memFS)(nil)
	_ fs.ReadDirFS  = (*memFS)(nil)
	_ fs.StatFS     = (*memFS)(nil)
)

func newMemFS(files map[string]*file) *memFS {
	m := &memFS{files: make(map[string]string, len(files)), dirs: map[string][]fs.DirEntry{".": nil}}
	for p, f := range files {
		m.files[p] = f.src.Text
		m.addDir(path.Dir(p))
	}
	for p, text := range m.files {
		d := path.Dir(p)
		m.dirs[d] = append(m.dirs[d], memInfo{name: path.Base(p), size: int64(len(text))})
	}
	for p := range m.dirs {
		if p != "." {
			d := path.Dir(p)
			m.dirs[d] = append(m.dirs[d], memInfo{name: path.Base(p), dir: true})
		}
	}
	for _, es := range m.dirs {
		sort.Slice(es, func(i, j int) bool { return es[i].Name() < es[j].Name() })
	}
	return m
}

func (m *memFS) addDir(d string) {
	for ; d != "."; d = path.Dir(d) {
		if _, ok := m.dirs[d]; ok {
			return
		}
		m.dirs[d] = nil
	}
}

func (m *memFS) info(op, name string) (memInfo, error) {
	if !fs.ValidPath(name) {
		return memInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if text, ok := m.files[name]; ok {
		return memInfo{name: path.Base(name), size: int64(len(text))}, nil
	}
	if _, ok := m.dirs[name]; ok {
		return memInfo{name: path.Base(name), dir: true}, nil
	}
	return memInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Open implements fs.FS.
func (m *memFS) Open(name string) (fs.File, error) {
	info, err := m.info("open", name)
	if err != nil {
		return nil, err
	}
	if info.dir {
		return &memDir{memInfo: info, path: name, rest: m.dirs[name]}, nil
	}
	return &memFile{memInfo: info, Reader: strings.NewReader(m.files[name])}, nil
}

// ReadFile implements fs.ReadFileFS.
func (m *memFS) ReadFile(name string) ([]byte, error) {
	info, err := m.info("read", name)
	if err != nil {
		return nil, err
	}
	if info.dir {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return []byte(m.files[name]), nil
}

// ReadDir implements fs.ReadDirFS.
func (m *memFS) ReadDir(name string) ([]fs.DirEntry, error) {
	info, err := m.info("readdir", name)
	if err != nil {
		return nil, err
	}
	if !info.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	return append([]fs.DirEntry(nil), m.dirs[name]...), nil
}

// Stat implements fs.StatFS.
func (m *memFS) Stat(name string) (fs.FileInfo, error) { return m.info("stat", name) }

// memInfo is both FileInfo and DirEntry of a file or directory.
type memInfo struct {
	name string
	size int64
	dir  bool
}

func (i memInfo) Name() string               { return i.name }
func (i memInfo) Size() int64                { return i.size }
func (i memInfo) IsDir() bool                { return i.dir }
func (i memInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i memInfo) ModTime() time.Time         { return time.Time{} }
func (i memInfo) Sys() any                   { return nil }
func (i memInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type memFile struct {
	memInfo
	*strings.Reader
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f.memInfo, nil }
func (f *memFile) Close() error               { return nil }
func (f *memFile) Size() int64                { return f.memInfo.size }

type memDir struct {
	memInfo
	path string
	rest []fs.DirEntry
}

func (d *memDir) Stat() (fs.FileInfo, error) { return d.memInfo, nil }
func (d *memDir) Close() error               { return nil }
func (d *memDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *memDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		out := append([]fs.DirEntry(nil), d.rest...)
		d.rest = nil
		return out, nil
	}
	if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	out := append([]fs.DirEntry(nil), d.rest[:n]...)
	d.rest = d.rest[n:]
	return out, nil
}
