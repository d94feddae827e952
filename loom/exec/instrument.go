package exec

import (
	"context"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

func (l *lowerer) instrumentBefore(op *loom.Op)        {}
func (l *lowerer) instrumentAfter(op *loom.Op)         {}
func (l *lowerer) checkAccess(in lowered, acc *access) {}
func (l *lowerer) launchWhere()                        {}

type shadow struct{}
type sanState struct{}
type sanShared struct{}
type Trace struct{}
type Counts struct{}
type counter struct{}
type stopFindings struct{}

func (s *sanState) allocated(f *frame, id int)        {}
func (s *sanState) startWorkgroup(f *frame)           {}
func newSanShared(r *launch) *sanShared               { return nil }
func newSanState(f *frame) *sanState                  { return nil }
func (s *sanShared) findings() diag.List              { return nil }
func collectCounts(c *boundCode, fs []*frame) *Counts { return nil }

type Determinism struct{}

func CheckDeterminism(ctx context.Context, p *Program, ln Launch, d Determinism) (diag.List, error) {
	return nil, nil
}
