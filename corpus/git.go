package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/loomc/loomc/loom/diag"
)

// repo is a local git repository, read through the installed git. Nothing here
// writes: no checkout, no index refresh, no fetch.
type repo struct {
	dir     string // where git runs
	gitDir  string
	top     string // work tree's top level; "" when bare
	prefix  string // path of dir below top, without a trailing slash
	shallow bool
	flags   []string // before the subcommand
}

// gitError is a git run that failed.
type gitError struct {
	args   []string
	stderr string
	err    error
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: %s", strings.Join(e.args, " "), e.message())
}

func (e *gitError) Unwrap() error { return e.err }

// message is git's own, on one line, without its "fatal: ".
func (e *gitError) message() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.stderr), "\n")
	line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
	if line == "" && e.err != nil {
		return e.err.Error()
	}
	return line
}

func (e *gitError) diagnostic(at diag.Span) diag.Diagnostic {
	if errors.Is(e.err, exec.ErrNotFound) {
		return diag.Errorf(at, "PIN/GIT-MISSING", "reading a commit needs git, and no git is in PATH").
			WithHelp("install git (Debian, Ubuntu: apt-get install git), or read files on disk with --corpus DIR and no --pin")
	}
	sub := "git"
	if len(e.args) > 0 {
		sub += " " + e.args[0]
	}
	return diag.Errorf(at, "PIN/GIT", "`%s` failed: %s", sub, e.message()).
		WithHelp("`git fsck` in the repository shows whether it is damaged")
}

// gitEnv is the environment git runs in. Variables that a hook or a caller sets
// to point git at another repository, index or object store are dropped; the
// rest (configuration, HOME, PATH) stays. Replacement refs are off because a
// commit must mean the same bytes everywhere. Nothing may use the network: a
// partial clone that lacks an object says so.
func gitEnv(environ []string) []string {
	drop := map[string]bool{}
	for _, name := range []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
		"GIT_REPLACE_REF_BASE", "GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH",
		"GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_DEFAULT_HASH",
		"GIT_TRACE", "GIT_TRACE2", "GIT_TRACE_SETUP", "GIT_TRACE_PERFORMANCE", "GIT_TRACE_PACK_ACCESS", "GIT_FLUSH",
		"LC_ALL", "LANGUAGE", "LANG", "LC_MESSAGES",
	} {
		drop[name] = true
	}
	out := make([]string, 0, len(environ)+8)
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); !drop[name] {
			out = append(out, kv)
		}
	}
	return append(out,
		"LC_ALL=C",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", // git before 2.44 does not know GIT_NO_LAZY_FETCH
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_ADVICE=0",
	)
}

func (r *repo) command(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{"-C", r.dir, "--no-pager"}, r.flags...)
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Env = gitEnv(os.Environ())
	return cmd
}

// output runs git and returns its standard output, also when it fails.
func (r *repo) output(ctx context.Context, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), &gitError{args: args, stderr: stderr.String(), err: err}
	}
	return stdout.Bytes(), nil
}

// openRepo finds the repository that dir belongs to.
func openRepo(ctx context.Context, dir string) (*repo, error) {
	r := &repo{dir: dir}
	// The top level comes last because a bare repository has none and git stops
	// there, after having printed the rest.
	args := []string{"rev-parse", "--absolute-git-dir", "--is-bare-repository", "--is-shallow-repository", "--is-inside-work-tree", "--show-prefix", "--show-toplevel"}
	out, err := r.output(ctx, args...)
	var ge *gitError
	if errors.As(err, &ge) && strings.Contains(ge.stderr, "safe.bareRepository") {
		// The user's configuration wants bare repositories named, and dir is
		// how the user named this one.
		if abs, aerr := filepath.Abs(dir); aerr == nil {
			r.flags = []string{"--git-dir=" + abs}
			out, err = r.output(ctx, args...)
		}
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 4 {
		if err == nil {
			err = fmt.Errorf("git rev-parse printed %q", out)
		}
		return nil, err
	}
	r.gitDir = lines[0]
	r.shallow = lines[2] == "true"
	if lines[1] != "true" && lines[3] == "true" && len(lines) >= 6 {
		r.prefix = strings.TrimSuffix(lines[4], "/")
		r.top = filepath.FromSlash(lines[5])
	}
	return r, nil
}

// name is how the repository is called in messages and commands.
func (r *repo) name() string {
	if r.top != "" {
		return r.top
	}
	if filepath.Base(r.gitDir) == ".git" {
		return filepath.Dir(r.gitDir)
	}
	return r.gitDir
}

// promisor returns the name of the remote a partial clone fetches from, "" when
// the repository is complete.
func (r *repo) promisor(ctx context.Context) string {
	out, err := r.output(ctx, "config", "--get-regexp", `^remote\..*\.promisor$`)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if value == "true" || value == "" {
			return strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor")
		}
	}
	return ""
}

// gitObject is what cat-file says about a name.
type gitObject struct {
	found     bool
	ambiguous bool
	oid, kind string
	size      int64
	data      string // "" when larger than maxFileSize
}

// batch is a running `git cat-file --batch`: one process serves every object of
// a corpus. It is not safe for concurrent use.
type batch struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	stop   func()
	once   sync.Once
	done   error
}

func (r *repo) startBatch(ctx context.Context) (*batch, error) {
	ctx, cancel := context.WithCancel(ctx)
	b := &batch{cmd: r.command(ctx, "cat-file", "--batch"), stop: cancel}
	b.cmd.Stderr = &b.stderr
	in, err := b.cmd.StdinPipe()
	if err == nil {
		b.in = in
		var out io.Reader
		if out, err = b.cmd.StdoutPipe(); err == nil {
			b.out = bufio.NewReaderSize(out, 64<<10)
			err = b.cmd.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, &gitError{args: []string{"cat-file"}, err: err}
	}
	return b, nil
}

// close ends the process. Its exit status matters only after a read failed.
func (b *batch) close() error {
	b.once.Do(func() {
		b.in.Close()
		b.stop()
		b.done = b.cmd.Wait()
	})
	return b.done
}

// get asks for objects by name. Names must not hold a line break.
func (b *batch) get(names []string) ([]gitObject, error) {
	// Requests are written while answers are read: both pipes are bounded.
	wrote := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(b.in)
		for _, n := range names {
			w.WriteString(n)
			w.WriteByte('\n')
		}
		wrote <- w.Flush()
	}()
	out := make([]gitObject, len(names))
	for i := range names {
		o, err := b.next()
		if err != nil {
			// The process is gone; waiting for it completes its messages.
			werr := b.close()
			<-wrote
			if werr != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
				err = werr
			}
			return nil, &gitError{args: []string{"cat-file"}, stderr: b.stderr.String(), err: fmt.Errorf("reading object %s: %w", names[i], err)}
		}
		out[i] = o
	}
	if err := <-wrote; err != nil {
		return nil, &gitError{args: []string{"cat-file"}, stderr: b.stderr.String(), err: err}
	}
	return out, nil
}

func (b *batch) next() (gitObject, error) {
	line, err := b.out.ReadString('\n')
	if err != nil {
		return gitObject{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	fields := strings.Split(line, " ")
	switch fields[len(fields)-1] {
	case "missing", "submodule":
		return gitObject{}, nil
	case "ambiguous":
		return gitObject{ambiguous: true}, nil
	}
	if len(fields) != 3 {
		return gitObject{}, fmt.Errorf("unexpected answer %q", line)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return gitObject{}, fmt.Errorf("unexpected answer %q", line)
	}
	o := gitObject{found: true, oid: fields[0], kind: fields[1], size: size}
	if size > maxFileSize {
		_, err = io.CopyN(io.Discard, b.out, size)
	} else {
		var data strings.Builder
		data.Grow(int(size))
		_, err = io.CopyN(&data, b.out, size)
		o.data = data.String()
	}
	if err != nil {
		return gitObject{}, err
	}
	_, err = b.out.Discard(1)
	return o, err
}

// treeEntry is one line of ls-tree.
type treeEntry struct {
	mode, oid string
}

// Modes of tree entries.
const (
	modeTree      = "040000"
	modeSymlink   = "120000"
	modeSubmodule = "160000"
)

// tree lists everything below root at a commit, root included, with paths from
// the repository's top level. It returns nil when the commit has no such path.
func (r *repo) tree(ctx context.Context, commit, root string) (map[string]treeEntry, error) {
	args := []string{"ls-tree", "-r", "-t", "-z", "--full-tree", commit}
	if root != "" {
		args = append(args, "--", root)
	}
	out, err := r.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	text := string(out)
	entries := make(map[string]treeEntry, strings.Count(text, "\x00"))
	for text != "" {
		var record string
		record, text, _ = strings.Cut(text, "\x00")
		meta, name, ok := strings.Cut(record, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("git ls-tree printed %q", record)
		}
		entries[name] = treeEntry{mode: f[0], oid: f[2]}
	}
	if root == "" {
		return entries, nil
	}
	if _, ok := entries[root]; !ok {
		return nil, nil // -t printed the directories on the way there
	}
	for name := range entries {
		if name != root && !strings.HasPrefix(name, root+"/") {
			delete(entries, name)
		}
	}
	return entries, nil
}
