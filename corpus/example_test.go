package corpus_test

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/loom/diag"
)

// An engine reads its corpus at the commit it pins and looks an export up.
func ExampleOpen() {
	c, ds := corpus.Open(context.Background(), corpus.Options{
		Repo: "/src/engine", // a local clone; the work tree is not touched
		Pin:  "8f3c2d1",
		Path: "ggml/kernels",
	})
	fmt.Print(diag.Text(ds))
	if c == nil {
		return
	}
	for _, e := range c.Manifest().Exports {
		if e.OK() {
			fmt.Println(e.ID(), c.Source(e.Source.Value).Name)
		}
	}
	// Output:
	// command line:1:8: error: PIN/NO-REPOSITORY: repository directory '/src/engine' does not exist
	//     --repo /src/engine
	//            ^~~~~~~~~~~
	//   help: give the directory of a local clone: --repo DIR
}

// The corpus built into the program needs no options.
func ExampleOpen_bundled() {
	c, _ := corpus.Open(context.Background(), corpus.Options{})
	_, err := fs.Stat(c.FS(), "manifest.json")
	fmt.Println(c, c.Origin().Kind, err)
	// Output: bundled embedded <nil>
}
