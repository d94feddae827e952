package linker

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/loom/diag"
)

// Job is one link of many: an index, which jobs may share, and a request.
type Job struct {
	Index   *Index
	Request Request
}

// Outcome is what one job yielded.
type Outcome struct {
	Result *Result
	Diags  diag.List
}

// LinkAll runs the jobs, as many at once as there are processors, and returns
// their outcomes in the order of the jobs. A job with errors does not stop the
// others. The error is the context's, when it ended before all jobs had run.
func LinkAll(ctx context.Context, jobs []Job) ([]Outcome, error) {
	out := make([]Outcome, len(jobs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			out[i].Result, out[i].Diags = Link(ctx, j.Index, j.Request)
			return ctx.Err()
		})
	}
	return out, g.Wait()
}
