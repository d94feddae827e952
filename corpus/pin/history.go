package pin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// history asks the installed git how commits of a local repository relate. It
// writes nothing and fetches nothing.
type history struct{ dir string }

// run runs git in the repository. ok is false when git answers with status 1,
// which is how it says no.
func (h history) run(ctx context.Context, args ...string) (out string, ok bool, err error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", h.dir, "--no-pager"}, args...)...)
	// A hook's variables would point git at another repository; replacement refs
	// would make a commit mean other bytes here than elsewhere.
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
			"GIT_PREFIX", "GIT_NAMESPACE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "LC_ALL", "LANGUAGE":
			continue
		}
		cmd.Env = append(cmd.Env, kv)
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return strings.TrimSpace(stdout.String()), false, nil
	}
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return "", false, fmt.Errorf("git %s: %s: %w", args[0], line, err)
	}
	return strings.TrimSpace(stdout.String()), true, nil
}

// has reports whether the commit is here.
func (h history) has(ctx context.Context, id string) bool {
	_, ok, err := h.run(ctx, "cat-file", "-e", id+"^{commit}")
	return ok && err == nil
}

func (h history) shallow(ctx context.Context) bool {
	out, _, err := h.run(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && out == "true"
}

func (h history) ancestor(ctx context.Context, a, b string) (bool, error) {
	_, ok, err := h.run(ctx, "merge-base", "--is-ancestor", a, b)
	return ok, err
}

// count returns how many commits b has that a lacks, and how many of those touch
// the directory path ("" is the whole repository).
func (h history) count(ctx context.Context, a, b, path string) (all, touching int, err error) {
	out, _, err := h.run(ctx, "rev-list", "--count", a+".."+b)
	if err != nil {
		return 0, 0, err
	}
	if all, err = strconv.Atoi(out); err != nil {
		return 0, 0, fmt.Errorf("git rev-list printed %q", out)
	}
	if path == "" || path == "." {
		return all, all, nil
	}
	out, _, err = h.run(ctx, "rev-list", "--count", a+".."+b, "--", ":(top,literal)"+path)
	if err != nil {
		return all, 0, err
	}
	if touching, err = strconv.Atoi(out); err != nil {
		return all, 0, fmt.Errorf("git rev-list printed %q", out)
	}
	return all, touching, nil
}
