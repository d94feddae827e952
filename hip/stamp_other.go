//go:build !linux

package hip

import (
	"fmt"
	"io/fs"
)

func stamp(st fs.FileInfo) string { return fmt.Sprintf("%d", st.ModTime().UnixNano()) }
