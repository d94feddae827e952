package runtime

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/loomc/loomc/hip"
	"github.com/loomc/loomc/hip/internal/frame"
)

// server is the child's side of a Process.
type server struct {
	in      *bufio.Reader
	out     io.Writer
	d       *Device
	kernels []*Kernel
	chunk   []byte // between the pipe and the device
}

// chunkBytes is how much of a buffer is in the child's memory at a time.
const chunkBytes = 8 << 20

// serve opens the device and answers requests until there are no more. The error is
// one that the parent cannot be told.
func serve(r hip.ChildRequest, in *bufio.Reader, out io.Writer) (err error) {
	s := &server{in: in, out: out, chunk: make([]byte, chunkBytes)}
	o := Options{Kind: Kind(r.Kind), Library: r.Library}
	if o.Kind == "" {
		o.Kind = HIP
	}
	if err := s.step("opening the %s library", o.Kind); err != nil {
		return err
	}
	rt, err := Open(o)
	if err != nil {
		return s.answer(response{Error: packError(err)})
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	if err := s.step("opening device %d", r.Device); err != nil {
		return err
	}
	if s.d, err = rt.Device(r.Device); err != nil {
		return s.answer(response{Error: packError(err)})
	}
	if err := s.answer(response{Hello: &hello{Library: rt.Library(), Version: rt.Version(), Override: rt.Override(), Device: s.d.Info()}}); err != nil {
		return err
	}
	for {
		var q request
		size, err := frame.Read(s.in, &q)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		payload := &io.LimitedReader{R: s.in, N: size}
		if err := s.serve(q, payload); err != nil {
			return err
		}
	}
}

func (s *server) step(format string, args ...any) error {
	return frame.Write(s.out, hip.ConnAnswer{Step: fmt.Sprintf(format, args...)})
}

// answer ends a request without results.
func (s *server) answer(r response) error { return s.answerWith(r, nil) }

// serve answers one request. What is left of its payload is passed over, so that the
// next request begins where it should.
func (s *server) serve(q request, payload *io.LimitedReader) error {
	var a response
	var results []*Buffer
	var release func() error
	var err error
	switch q.Op {
	case "load":
		a.Kernel, err = s.load(q, payload)
	case "launch":
		a.Measured, results, release, err = s.launch(q, payload)
	default:
		err = fmt.Errorf("unknown request %q", q.Op)
	}
	a.Error = packError(err)
	if _, e := io.Copy(io.Discard, payload); e != nil {
		return fmt.Errorf("reading a request: %w", e)
	}
	if err != nil {
		results = nil
	}
	if len(results) > 0 {
		if e := s.step("copying the results of %s back", s.kernels[q.Kernel].name); e != nil {
			return e
		}
	}
	if e := s.answerWith(a, results); e != nil {
		return e
	}
	if release != nil {
		// The answer is out: what goes wrong now is in the next launch's way, which
		// will say so.
		_ = release()
	}
	return nil
}

// answerWith ends a request with the contents of buffers.
func (s *server) answerWith(a response, results []*Buffer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	size := 0
	for _, x := range results {
		size += x.Size()
	}
	if err := frame.WriteHead(s.out, hip.ConnAnswer{Answer: b}, size); err != nil {
		return err
	}
	for _, x := range results {
		for off := 0; off < x.Size(); off += chunkBytes {
			part := s.chunk[:min(chunkBytes, x.Size()-off)]
			if err := x.Read(off, part); err != nil {
				return fmt.Errorf("copying results back: %w", err)
			}
			if _, err := s.out.Write(part); err != nil {
				return fmt.Errorf("sending results: %w", err)
			}
		}
	}
	return nil
}

func (s *server) load(q request, payload *io.LimitedReader) (int, error) {
	if payload.N > math.MaxInt32 {
		return 0, fmt.Errorf("loading %s: an object of %d bytes", q.Symbol, payload.N)
	}
	image, err := io.ReadAll(payload)
	if err != nil {
		return 0, fmt.Errorf("receiving the object of %s: %w", q.Symbol, err)
	}
	if err := s.step("loading the code object of %s", q.Symbol); err != nil {
		return 0, err
	}
	m, err := s.d.Load(image)
	if err != nil {
		return 0, err
	}
	if err := s.step("looking up %s", q.Symbol); err != nil {
		return 0, err
	}
	k, err := m.Kernel(q.Symbol, q.Params...)
	if err != nil {
		return 0, errors.Join(err, m.Close())
	}
	s.kernels = append(s.kernels, k)
	return len(s.kernels) - 1, nil
}

// launch runs one launch. The buffers whose contents are wanted come back with a
// function that frees everything.
func (s *server) launch(q request, payload io.Reader) (measured *Measured, results []*Buffer, release func() error, err error) {
	if q.Kernel < 0 || q.Kernel >= len(s.kernels) {
		return nil, nil, nil, fmt.Errorf("launching kernel %d of %d", q.Kernel, len(s.kernels))
	}
	k := s.kernels[q.Kernel]
	var made []*Buffer
	release = func() error {
		var errs []error
		for _, b := range made {
			errs = append(errs, b.Close())
		}
		return errors.Join(errs...)
	}
	alloc := func(n int) (*Buffer, error) {
		b, err := s.d.Alloc(n)
		if err == nil {
			made = append(made, b)
		}
		return b, err
	}
	buffers := make([]*Buffer, len(q.Memory))
	for i, p := range q.Memory {
		if err := s.step("making memory %d of %s, %d bytes", i, k.name, p.Size); err != nil {
			return nil, nil, release, err
		}
		if buffers[i], err = alloc(p.Size); err != nil {
			return nil, nil, release, err
		}
		if err := s.fill(buffers[i], p, payload); err != nil {
			return nil, nil, release, err
		}
		if p.Return {
			results = append(results, buffers[i])
		}
	}
	args, err := arguments(q.Args, buffers)
	if err != nil {
		return nil, nil, release, err
	}
	if err := s.step("launching %s", k.name); err != nil {
		return nil, nil, release, err
	}
	if err := k.Launch(q.Geometry, args...); err != nil {
		return nil, nil, release, err
	}
	if err := s.step("waiting for %s", k.name); err != nil {
		return nil, nil, release, err
	}
	ctx := context.Background() // who does not want to wait kills the process
	if err := s.d.Synchronize(ctx); err != nil {
		return nil, nil, release, fmt.Errorf("running %s: %w", k.name, err)
	}
	if q.Measure != nil {
		// The results are those of the one launch: the timed ones may go on from them.
		for i, b := range results {
			kept, err := alloc(b.Size())
			if err == nil {
				err = kept.CopyFrom(0, b, 0, b.Size())
			}
			if err != nil {
				return nil, nil, release, err
			}
			results[i] = kept
		}
		if err := s.step("timing %s", k.name); err != nil {
			return nil, nil, release, err
		}
		if measured, err = s.measure(ctx, k, q, buffers, alloc); err != nil {
			return nil, nil, release, err
		}
	}
	return measured, results, release, nil
}

// arguments binds the arguments of a request to buffers.
func arguments(list []argument, buffers []*Buffer) ([]Arg, error) {
	out := make([]Arg, len(list))
	for i, a := range list {
		switch {
		case a.Memory < 0:
			out[i] = Bytes(a.Value)
		case a.Memory < len(buffers):
			out[i] = PtrAt(buffers[a.Memory], a.Offset).Needs(a.Need, a.Why)
		default:
			return nil, fmt.Errorf("argument %d names memory %d of %d", i, a.Memory, len(buffers))
		}
	}
	return out, nil
}

// fill gives a buffer what it holds before the launch.
func (s *server) fill(b *Buffer, p place, payload io.Reader) error {
	if !p.Send && !p.Random {
		return b.Fill(0)
	}
	for off := 0; off < p.Size; off += chunkBytes {
		part := s.chunk[:min(chunkBytes, p.Size-off)]
		if p.Send {
			if _, err := io.ReadFull(payload, part); err != nil {
				return fmt.Errorf("receiving the contents of a buffer: %w", err)
			}
		} else {
			Random(part, p.Seed, off)
		}
		if err := b.Write(off, part); err != nil {
			return err
		}
	}
	return nil
}

const (
	// pastCache is how many times the buffers in turn exceed the device's cache.
	pastCache = 4
	maxSets   = 64
	// warmup is how long launches and copies run before the clock starts: clocks
	// rise under load.
	warmup = 100 * time.Millisecond
	// warmupLaunches bounds it for kernels that are over at once.
	warmupLaunches = 1024
)

// sets is how many sets of buffers that together move bytes it takes to get past
// the device's cache with room bytes of free memory for further sets of size bytes.
func sets(cache, bytes, size int, room uint64) int {
	if bytes <= 0 || cache <= 0 {
		return 1
	}
	n := min((pastCache*cache+bytes-1)/bytes, maxSets)
	if size > 0 {
		n = min(n, 1+int(room/uint64(size)))
	}
	return max(n, 1)
}

// measure times launches, and copies that move as many bytes, in turns: what slows
// or speeds up the one meets the other, too.
func (s *server) measure(ctx context.Context, k *Kernel, q request, buffers []*Buffer, alloc func(int) (*Buffer, error)) (*Measured, error) {
	room := func() uint64 {
		free, _, err := s.d.Memory()
		if err != nil {
			return 0
		}
		return free / 3
	}
	total := 0
	for _, b := range buffers {
		total += b.Size()
	}
	moved := q.Measure.Bytes
	m := &Measured{Sets: sets(s.d.info.L2Bytes, moved, total, room())}
	argSets := make([][]Arg, m.Sets)
	for i := range argSets {
		own := buffers
		if i > 0 {
			own = make([]*Buffer, len(buffers))
			for j, b := range buffers {
				c, err := alloc(b.Size())
				if err != nil {
					return nil, err
				}
				if err := c.CopyFrom(0, b, 0, b.Size()); err != nil {
					return nil, err
				}
				own[j] = c
			}
		}
		var err error
		if argSets[i], err = arguments(q.Args, own); err != nil {
			return nil, err
		}
	}
	launches := func(n int) ([]time.Duration, error) { return k.Times(ctx, n, q.Geometry, argSets...) }
	copies := func(int) ([]time.Duration, error) { return nil, nil }
	if n := moved / 2; n > 0 {
		m.CopyBytes = n
		m.CopySets = sets(s.d.info.L2Bytes, 2*n, 2*n, room())
		var list []Copy
		for range m.CopySets {
			from, err := alloc(n)
			if err != nil {
				return nil, err
			}
			to, err := alloc(n)
			if err != nil {
				return nil, err
			}
			if err := from.Fill(0x5a); err != nil {
				return nil, err
			}
			list = append(list, Copy{To: to, From: from, Bytes: n})
		}
		copies = func(n int) ([]time.Duration, error) { return s.d.CopyTimes(ctx, n, list...) }
	}
	for _, f := range []func(int) ([]time.Duration, error){launches, copies} {
		start := time.Now()
		for i := 0; i < warmupLaunches && (i == 0 || time.Since(start) < warmup); i += 16 {
			if _, err := f(16); err != nil {
				return nil, err
			}
		}
	}
	const turn = 16
	for done := 0; done < q.Measure.Repeat; done += turn {
		n := min(turn, q.Measure.Repeat-done)
		l, err := launches(n)
		if err != nil {
			return nil, err
		}
		c, err := copies(n)
		if err != nil {
			return nil, err
		}
		m.Launches, m.Copies = append(m.Launches, l...), append(m.Copies, c...)
	}
	return m, nil
}
