package hip

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stamp changes whenever the file may have changed. The change time is in it
// because a program can set the modification time back, but not that one.
func stamp(st fs.FileInfo) string {
	s := fmt.Sprintf("%d", st.ModTime().UnixNano())
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s += fmt.Sprintf("-%d.%d-%d", sys.Ctim.Sec, sys.Ctim.Nsec, sys.Ino)
	}
	return s
}
