package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/kernel"
)

func marshalIndent(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, failed(fmt.Errorf("encode result: %w", err))
	}
	return append(b, '\n'), nil
}

// launchText is the folded launch-config block as Loom statements.
func launchText(k *kernel.Kernel) string {
	var b strings.Builder
	for _, blk := range k.Def.Config.Blocks {
		for _, op := range blk.Ops {
			b.WriteString(loom.PrintOp(op))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
