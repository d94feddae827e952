package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// progress is a one-line counter on the error stream. It shows only on a
// terminal and never with --quiet.
type progress struct {
	a    *app
	what string
	mu   sync.Mutex
	last time.Time
	on   bool
	used bool
}

func (a *app) progress(what string) *progress {
	p := &progress{a: a, what: what}
	if f, ok := a.err.(*os.File); ok && !a.quiet {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.on = true
		}
	}
	return p
}

// update shows that done of total are finished. It is safe for concurrent use.
func (p *progress) update(done, total int, name string) {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); done == total || now.Sub(p.last) > 50*time.Millisecond {
		p.last, p.used = now, true
		fmt.Fprintf(p.a.err, "\r\x1b[K%s %d/%d %.50s", p.what, done, total, name)
	}
}

// done clears the line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used {
		fmt.Fprint(p.a.err, "\r\x1b[K")
	}
}
