package hip

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeFileAtomic puts data at path so that a reader, or a machine that lost
// power, sees all of it or none: temporary file beside it, sync, rename.
func writeFileAtomic(path string, data []byte) error {
	return writeVia(filepath.Dir(path), path, data)
}

// writeVia is writeFileAtomic with the temporary file in tmpDir, which must be on
// the same file system.
func writeVia(tmpDir, path string, data []byte) (err error) {
	f, err := os.CreateTemp(tmpDir, ".tmp-")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err = f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
