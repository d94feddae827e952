package corpus

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFileAtomic writes data to path so that a reader sees the old content or
// the new one, never a part: the data goes to a temporary file in the same
// directory, is synced, and is renamed over path. perm (before umask) applies
// to the new file. A path that is a symbolic link keeps being one; its target
// is replaced. A path that is a device or a pipe is written in place.
func WriteFileAtomic(path string, data []byte, perm fs.FileMode) error {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("writing %s: it is a directory", path)
		}
		return writeInPlace(target, data)
	}
	if err := replaceFile(target, data, perm); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func writeInPlace(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, werr := f.Write(data)
	if err := errors.Join(werr, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func replaceFile(path string, data []byte, perm fs.FileMode) (err error) {
	f, err := createBeside(path, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) // best effort: err says what matters
		}
	}()
	_, werr := f.Write(data)
	// Without the sync a crash after the rename can leave an empty file.
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	// The rename itself is durable once the directory is synced. Some file
	// systems and Windows refuse that; the content is safe either way.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// createBeside makes a new, uniquely named hidden file in path's directory.
// os.CreateTemp would ignore the umask that perm is meant to pass through.
func createBeside(path string, perm fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for range 100 {
		var random [6]byte
		if _, err := rand.Read(random[:]); err != nil {
			return nil, err
		}
		name := filepath.Join(dir, "."+base+"."+hex.EncodeToString(random[:])+".tmp")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, errors.New("no free temporary name")
}
