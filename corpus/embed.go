package corpus

import (
	"embed"
	"io/fs"
)

//go:embed all:kernels
var bundled embed.FS

// Bundled returns the files of the corpus built into this program. Its root
// holds manifest.json.
func Bundled() fs.FS {
	sub, err := fs.Sub(bundled, "kernels")
	if err != nil {
		return bundled // "kernels" is a valid path, so Sub does not fail
	}
	return sub
}
