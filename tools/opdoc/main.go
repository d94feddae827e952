// Command opdoc writes the generated operation reference: opdoc FILE.
package main

import (
	"fmt"
	"os"

	"github.com/loomc/loomc/loom/dialect"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: opdoc FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(dialect.Reference()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
