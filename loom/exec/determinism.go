package exec

import (
	"context"

	"github.com/loomc/loomc/loom/diag"
)

// Determinism steers CheckDeterminism.
type Determinism struct{}

// CheckDeterminism is written below.
func CheckDeterminism(ctx context.Context, p *Program, ln Launch, d Determinism) (diag.List, error) {
	return nil, nil
}
