package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// maxListed bounds a listing, so that a corpus path that is a home directory or
// a file system's root ends in a message and not in an hour of reading.
const maxListed = 500_000

// dirStore reads a directory or another fs.FS. A directory on disk comes as an
// os.Root's file system, which never follows a symbolic link out of it.
type dirStore struct {
	fsys fs.FS
	disk string // where fsys is on disk, "" when it is not
	from Origin
}

func (s *dirStore) origin() Origin { return s.from }

func (s *dirStore) sub(dir string) (store, error) {
	fsys, err := fs.Sub(s.fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("entering %s: %w", dir, err)
	}
	sub := &dirStore{fsys: fsys, from: s.from}
	sub.from.prefix += dir + "/"
	sub.from.Root = path.Join(s.from.Root, dir)
	if s.disk != "" {
		sub.disk = filepath.Join(s.disk, filepath.FromSlash(dir))
	}
	return sub, nil
}

func (s *dirStore) list(ctx context.Context) ([]string, error) {
	var out []string
	err := fs.WalkDir(s.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && p == ".":
			return err
		case err != nil:
			return fs.SkipDir // a file in it that is wanted says so itself
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if out = append(out, p); len(out) > maxListed {
			return fmt.Errorf("more than %d files; name the corpus directory more closely", maxListed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(out)
	return out, nil
}

func (s *dirStore) read(ctx context.Context, paths []string) ([]content, error) {
	out := make([]content, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	// Few files each are worth no goroutine.
	const chunk = 16
	for from := 0; from < len(paths); from += chunk {
		to := min(from+chunk, len(paths))
		g.Go(func() error {
			for i := from; i < to; i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				out[i] = s.readOne(paths[i])
			}
			return nil
		})
	}
	return out, g.Wait()
}

func (s *dirStore) readOne(p string) content {
	// Stat first: opening a named pipe would wait for a writer.
	info, err := fs.Stat(s.fsys, p)
	switch {
	case err != nil:
		return content{failure: s.why(p, err)}
	case info.IsDir():
		return content{failure: failure{failNotFile, "a directory"}}
	case !info.Mode().IsRegular():
		return content{failure: failure{failNotFile, "a device or pipe"}}
	case info.Size() > maxFileSize:
		return content{failure: failure{failTooLarge, fmt.Sprint(info.Size())}}
	}
	b, err := fs.ReadFile(s.fsys, p)
	if err != nil {
		return content{failure: s.why(p, err)}
	}
	if len(b) > maxFileSize {
		return content{failure: failure{failTooLarge, fmt.Sprint(len(b))}}
	}
	return content{text: string(b), ok: true}
}

// why explains an error of the file system.
func (s *dirStore) why(p string, err error) failure {
	if s.disk != "" {
		// The root's error for an escaping link is not a public value. Whether
		// a link leads out is seen by following it.
		full := filepath.Join(s.disk, filepath.FromSlash(p))
		root, rerr := filepath.EvalSymlinks(s.disk)
		if real, lerr := filepath.EvalSymlinks(full); rerr == nil && lerr == nil && outside(root, real) {
			return failure{failEscapes, real}
		}
		if to, dangling := danglingLink(full); dangling {
			return failure{failNotFile, "a symbolic link to '" + to + "', which does not exist"}
		}
	}
	if errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(err.Error(), "not a directory") {
		return failure{reason: failAbsent}
	}
	return failure{failRead, reason(err)}
}

func outside(root, p string) bool {
	rel, err := filepath.Rel(root, p)
	return err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func danglingLink(p string) (string, bool) {
	to, err := os.Readlink(p)
	if err != nil {
		return "", false
	}
	_, err = os.Stat(p)
	return to, err != nil
}
