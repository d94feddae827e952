package runtime

import (
	goruntime "runtime"
	"sync"
)

// worker runs functions one after another on one thread.
type worker struct {
	mu     sync.RWMutex // held for reading while a call is handed over
	closed bool
	calls  chan func()
	done   chan struct{}
}

func newWorker() *worker {
	w := &worker{calls: make(chan func()), done: make(chan struct{})}
	go func() {
		// Never unlocked: the thread ends with the goroutine, and with it whatever the
		// library tied to the thread.
		goruntime.LockOSThread()
		defer close(w.done)
		for f := range w.calls {
			f()
		}
	}()
	return w
}

// do runs f on the worker's thread and returns its error.
func (w *worker) do(f func() error) error {
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return ErrClosed
	}
	result := make(chan error, 1)
	w.calls <- func() { result <- f() }
	w.mu.RUnlock()
	return <-result
}

// stop runs last, then ends the worker. It reports false when it was ended before.
func (w *worker) stop(last func()) bool {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		<-w.done
		return false
	}
	w.closed = true
	w.mu.Unlock()
	if last != nil {
		w.calls <- last
	}
	close(w.calls)
	<-w.done
	return true
}

// ending reports whether stop was called.
func (w *worker) ending() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.closed
}
