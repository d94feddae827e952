package hip

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

// Origin says where an object came from.
type Origin string

// Origins, from nearest to dearest.
const (
	FromLocal    Origin = "local"    // the cache on disk
	FromRemote   Origin = "remote"   // the remote cache
	FromCompiler Origin = "compiled" // the compiler, now
)

// Builder compiles jobs, each key at most once, through the caches it is given.
// It is safe for concurrent use; its fields are set before the first Build.
type Builder struct {
	Compiler    Compiler
	Cache       *Cache  // nil compiles every time
	Remote      *Remote // nil asks nobody; needs no Cache
	Parallelism int     // jobs at a time in BuildAll; 0 means GOMAXPROCS

	flights singleflight.Group
}

// Outcome is what became of one job.
type Outcome struct {
	Job     Job
	Key     Key
	Output  Output // zero when Err is set
	From    Origin
	Elapsed time.Duration
	// Warnings are failures of the caches that cost time and nothing else.
	Warnings []error
	Err      error
}

// Build produces the object of one job.
func (b *Builder) Build(ctx context.Context, j Job) Outcome {
	start := time.Now()
	o := Outcome{Job: j}
	if o.Err = j.check(); o.Err != nil {
		return o
	}
	o.Key = NewKey(b.Compiler.Identity(), j)
	for {
		v, _, shared := b.flights.Do(o.Key.String(), func() (any, error) { return b.produce(ctx, o.Key, j), nil })
		r := v.(Outcome)
		// The flight that this call joined belongs to a caller who gave up: start over.
		if shared && ctx.Err() == nil && isCancelled(r.Err) {
			continue
		}
		o.Output, o.From, o.Warnings, o.Err = r.Output, r.From, r.Warnings, r.Err
		break
	}
	if o.Err == nil && o.Output.Messages != nil {
		// Another job with the same key may have another name.
		o.Output.Messages = ParseMessages(o.Output.Log)
		renameFile(o.Output.Messages, sourceFile, j.Name)
	}
	var ce *CompileError
	if errors.As(o.Err, &ce) && ce.Job.Name != j.Name {
		own := *ce
		own.Job = j
		own.Messages = ParseMessages(ce.Log)
		renameFile(own.Messages, sourceFile, j.Name)
		o.Err = &own
	}
	o.Elapsed = time.Since(start)
	return o
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// produce looks the key up nearest first and compiles when nobody has it.
func (b *Builder) produce(ctx context.Context, k Key, j Job) (o Outcome) {
	warn := func(err error) {
		if err != nil {
			o.Warnings = append(o.Warnings, err)
		}
	}
	if b.Cache != nil {
		if out, ok, err := b.fromLocal(k, j); ok {
			o.Output, o.From = out, FromLocal
			return o
		} else if err != nil {
			warn(err)
		}
		unlock, err := b.Cache.Lock(ctx, k)
		switch {
		case err == nil:
			defer unlock()
			// Whoever held the lock may have been at the same key.
			if out, ok, _ := b.fromLocal(k, j); ok {
				o.Output, o.From = out, FromLocal
				return o
			}
		case ctx.Err() != nil:
			o.Err = fmt.Errorf("building %s: %w", j.Name, ctx.Err())
			return o
		default:
			warn(err)
		}
	}
	if b.Remote != nil {
		e, ok, err := b.Remote.Get(ctx, k)
		warn(err)
		if ok {
			if info, err := checkObject(j, e.Object); err != nil {
				warn(b.Remote.reject(fmt.Errorf("remote cache: the object of key %s does not fit the job: %w", k, err)))
			} else {
				o.Output, o.From = output(j, e, info), FromRemote
				if b.Cache != nil {
					warn(b.Cache.Put(k, e))
				}
				return o
			}
		}
	}
	out, err := b.Compiler.Compile(ctx, j)
	if err != nil {
		o.Err = err
		return o
	}
	o.Output, o.From = out, FromCompiler
	e := Entry{Object: out.Object, Log: out.Log}
	if b.Cache != nil {
		warn(b.Cache.Put(k, e))
	}
	if b.Remote != nil {
		warn(b.Remote.Put(ctx, k, e))
	}
	return o
}

func (b *Builder) fromLocal(k Key, j Job) (Output, bool, error) {
	e, ok, err := b.Cache.Get(k)
	if !ok || err != nil {
		return Output{}, false, err
	}
	info, err := checkObject(j, e.Object)
	if err != nil {
		b.Cache.drop(k)
		return Output{}, false, fmt.Errorf("cache: the object of key %s does not fit the job: %w", k, err)
	}
	return output(j, e, info), true, nil
}

func output(j Job, e Entry, info Object) Output {
	out := Output{Object: e.Object, Info: info, Log: e.Log, Messages: ParseMessages(e.Log)}
	renameFile(out.Messages, sourceFile, j.Name)
	return out
}

// BuildAll builds every job, Parallelism at a time, and returns the outcomes in
// the order of jobs. One job's failure does not stop the others; a cancelled
// context does, and the rest carry its error. progress, when not nil, is called
// once per job, one call at a time, in order of completion.
//
// When a cache is in use it is pruned to its budget after something was added.
func (b *Builder) BuildAll(ctx context.Context, jobs []Job, progress func(Outcome)) []Outcome {
	limit := b.Parallelism
	if limit <= 0 {
		limit = runtime.GOMAXPROCS(0)
	}
	out := make([]Outcome, len(jobs))
	var g errgroup.Group
	g.SetLimit(limit)
	var mu sync.Mutex
	added := false
	for i, j := range jobs {
		g.Go(func() error {
			o := b.Build(ctx, j)
			mu.Lock()
			defer mu.Unlock()
			out[i] = o
			added = added || (o.Err == nil && o.From != FromLocal)
			if progress != nil {
				progress(o)
			}
			return nil
		})
	}
	_ = g.Wait() // the functions return nil: failures are in the outcomes
	if b.Cache != nil && added && ctx.Err() == nil {
		if _, err := b.Cache.Prune(ctx, -1); err != nil && len(out) > 0 {
			last := &out[len(out)-1]
			last.Warnings = append(last.Warnings, err)
		}
	}
	return out
}

// CompileMany compiles jobs without any cache, limit at a time. It is BuildAll of
// a Builder that has only a compiler.
func CompileMany(ctx context.Context, c Compiler, jobs []Job, limit int, progress func(Outcome)) []Outcome {
	b := Builder{Compiler: c, Parallelism: limit}
	return b.BuildAll(ctx, jobs, progress)
}

// Absent stands in for a compiler that is not here, so that a build whose every
// object is in a cache needs none. Its identity must be given: that of the compiler
// which filled the cache.
type Absent struct {
	ID  string
	Err error // what Compile answers, usually a *MissingError
}

// Identity implements Compiler.
func (a Absent) Identity() string { return a.ID }

// Compile implements Compiler.
func (a Absent) Compile(context.Context, Job) (Output, error) { return Output{}, a.Err }
