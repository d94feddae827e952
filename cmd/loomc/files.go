package main

import (
	"context"
	"errors"
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
	var unread []error
	for _, arg := range args {
		if arg == "-" {
			out = append(out, arg)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, inputError(arg, reason(err), "check the path; '-' is the standard input")
		}
		if !info.IsDir() {
			out = append(out, arg)
			continue
		}
		n := len(out)
		err = filepath.WalkDir(arg, func(p string, d fs.DirEntry, err error) error {
			if err != nil && d != nil && d.IsDir() && p != arg {
				unread = append(unread, err)
				return filepath.SkipDir
			}
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
			return nil, inputError(arg, reason(err), "make the directory readable")
		}
		if len(out) == n && len(unread) == 0 {
			return nil, inputError(arg, "no .loom file below it", "name a file, or a directory that holds .loom files")
		}
	}
	if len(unread) > 0 {
		return nil, inputError(args[0], errors.Join(unread...).Error(), "make the directory readable, or name the files")
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
		return nil, inputError(name, reason(err), "check the path and its permissions")
	}
	return diag.NewSource(name, string(b)), nil
}

// inputError is the findings status of an input that cannot be read.
func inputError(name, why, help string) error {
	src := diag.NewSource("command line", name)
	d := diag.Errorf(diag.Span{Src: src, End: uint32(len(name))}, "USAGE/INPUT", "cannot read '%s': %s", name, why).WithHelp("%s", help)
	return &status{exitFindings, d}
}

// reason is the cause of a file error without the path, which the message names.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
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
