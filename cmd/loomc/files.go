package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/loomc/loomc/loom/diag"
)

// loomFiles expands arguments into files: a file stands for itself, a directory
// for every .loom file below it (dot directories left out), "-" for the standard
// input.
func loomFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		if arg == "-" {
			out = append(out, arg)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, failed(fmt.Errorf("read input: %w", err))
		}
		if !info.IsDir() {
			out = append(out, arg)
			continue
		}
		n := len(out)
		err = filepath.WalkDir(arg, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && p != arg && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			if d.Type().IsRegular() && strings.HasSuffix(p, ".loom") {
				out = append(out, p)
			}
			return nil
		})
		if err != nil {
			return nil, failed(fmt.Errorf("search %s: %w", arg, err))
		}
		if len(out) == n {
			return nil, failed(fmt.Errorf("no .loom file below %s", arg))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// readSource reads one input.
func (a *app) readSource(name string) (*diag.Source, error) {
	var b []byte
	var err error
	if name == "-" {
		name = "<stdin>"
		b, err = io.ReadAll(a.in)
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, failed(fmt.Errorf("read input: %w", err))
	}
	return diag.NewSource(name, string(b)), nil
}

// eachFile calls f for every file on all cores and returns the results in the
// order of files.
func eachFile[R any](ctx context.Context, files []string, f func(ctx context.Context, name string) (R, error)) ([]R, error) {
	out := make([]R, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range files {
		g.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			out[i], err = f(ctx, name)
			return err
		})
	}
	return out, g.Wait()
}
