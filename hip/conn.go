package hip

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/loomc/loomc/hip/internal/frame"
)

// Conn is a connection to a child that stays: it holds the vendor's library open
// and answers one request after another, until it is closed or dies. What the
// requests mean is between the two sides of the subpackage runtime. A Conn is safe
// for concurrent use.
type Conn struct {
	cmd     *exec.Cmd
	dir     string
	in      io.WriteCloser
	answers *bufio.Reader
	files   []io.Closer // the parent's ends
	log     *boundedBuffer
	kill    context.CancelFunc

	mu   sync.Mutex // one exchange at a time
	dead error      // set when there is nobody left to ask
	step string
}

// ConnAnswer is the head of what a serving child sends: either the step it begins,
// or the answer to the request.
type ConnAnswer struct {
	Step   string          `json:",omitempty"`
	Answer json.RawMessage `json:",omitempty"`
}

// childAnswers is the number that the first of exec.Cmd.ExtraFiles gets in the
// child.
const childAnswers = 3

// Open starts a child that serves until Close or the end of ctx, which kills it.
func (c Child) Open(ctx context.Context) (conn *Conn, err error) {
	if len(c.Command) == 0 {
		return nil, errors.New("no command for a child process is set")
	}
	dir, err := os.MkdirTemp(c.TempDir, "device-")
	if err != nil {
		return nil, fmt.Errorf("making a work directory: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	n := &Conn{dir: dir, log: &boundedBuffer{limit: maxLog}, kill: cancel}
	var theirs []io.Closer
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range n.files {
				f.Close()
			}
			cancel()
			os.RemoveAll(dir)
		}
	}()
	n.cmd = exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	n.cmd.Env = childEnv(os.Environ(), dir)
	n.cmd.Stderr = n.log
	n.cmd.WaitDelay = 2 * time.Second
	ownGroup(n.cmd)
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	theirs, n.files = append(theirs, inRead), append(n.files, inWrite)
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	theirs, n.files = append(theirs, outWrite), append(n.files, outRead)
	n.in, n.answers = inWrite, bufio.NewReaderSize(outRead, 1<<16)
	r := ChildRequest{Op: "serve", Kind: c.Kind, Library: c.Library, RTC: c.RTC, Device: c.Device}
	n.cmd.Stdin = inRead
	if goruntime.GOOS == "windows" {
		n.cmd.Stdout = outWrite
	} else {
		// What libraries and kernels print must not get between the answers.
		r.Answers = childAnswers
		n.cmd.ExtraFiles = []*os.File{outWrite}
		n.cmd.Stdout = n.log
	}
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Command[0], err)
	}
	if err := json.NewEncoder(inWrite).Encode(r); err != nil {
		err := n.end(err)
		n.kill()
		return nil, err
	}
	return n, nil
}

// Receive waits for an answer without asking: a child announces itself so.
func (n *Conn) Receive(ctx context.Context, answer any) error {
	return n.exchange(ctx, nil, nil, answer, nil)
}

// Call sends a request with a payload, the concatenation of send, and reads the
// answer. The answer's payload fills into, whose lengths must add up to it unless
// there is none. The error is a *CrashError when the child died; it stays dead, and
// later calls get the same error. When ctx ends the child is killed: there is no
// other way to stop a kernel.
func (n *Conn) Call(ctx context.Context, request any, send [][]byte, answer any, into [][]byte) error {
	if request == nil {
		return errors.New("asking a child process: no request")
	}
	return n.exchange(ctx, request, send, answer, into)
}

func (n *Conn) exchange(ctx context.Context, request any, send [][]byte, answer any, into [][]byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead != nil {
		return n.dead
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, n.kill)
	defer stop()
	// The request goes out beside the reading: the child may have something to say
	// before it has taken in a payload of gigabytes.
	sent := make(chan error, 1)
	go func() {
		if request == nil {
			sent <- nil
			return
		}
		sent <- frame.Write(n.in, request, send...)
	}()
	n.step = ""
	err := n.read(answer, into)
	if err != nil {
		n.kill() // frees the sender, too
	}
	err = errors.Join(err, <-sent)
	if err == nil {
		return nil
	}
	ended := n.end(err)
	if ctx.Err() != nil {
		n.dead = fmt.Errorf("the device process was ended: %w", ctx.Err())
		return ctx.Err()
	}
	n.dead = ended
	return ended
}

// read takes frames in until the answer.
func (n *Conn) read(answer any, into [][]byte) error {
	for {
		var a ConnAnswer
		size, err := frame.Read(n.answers, &a)
		if err != nil {
			return err
		}
		if a.Answer == nil {
			n.step = a.Step
			continue
		}
		if err := json.Unmarshal(a.Answer, answer); err != nil {
			return fmt.Errorf("reading the child's answer: %w", err)
		}
		if size == 0 {
			return nil
		}
		want := int64(0)
		for _, b := range into {
			want += int64(len(b))
		}
		if size != want {
			return fmt.Errorf("reading the child's answer: %d bytes of results, want %d", size, want)
		}
		for _, b := range into {
			if _, err := io.ReadFull(n.answers, b); err != nil {
				return fmt.Errorf("reading results: %w", err)
			}
		}
		return nil
	}
}

// end waits for the child, which does not talk any more, and says how it went.
func (n *Conn) end(why error) error {
	n.in.Close()
	patience := time.AfterFunc(2*time.Second, n.kill)
	err := n.cmd.Wait()
	patience.Stop()
	e := crash(n.cmd, err, n.log.String())
	e.Step = n.step
	if err == nil && !errors.Is(why, io.EOF) {
		e.Reason = why.Error()
	}
	n.release()
	return e
}

func (n *Conn) release() {
	for _, f := range n.files {
		f.Close()
	}
	os.RemoveAll(n.dir)
}

// Close asks the child to end, by closing its input, and waits for it; one that
// does not end is killed. Closing twice does nothing.
func (n *Conn) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead != nil {
		return nil
	}
	n.dead = errors.New("the device process was closed")
	n.in.Close()
	patience := time.AfterFunc(closePatience, n.kill)
	err := n.cmd.Wait()
	patience.Stop()
	n.release()
	if err != nil {
		e := crash(n.cmd, err, n.log.String())
		e.Step = "closing"
		return e
	}
	return nil
}

// closePatience is how long a child may take to give its device back.
const closePatience = 10 * time.Second
