package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom/exec"
)

// sanitizers is what --sanitize and --dead ask for.
type sanitizers struct {
	mode        exec.Mode
	determinism *exec.Determinism // nil when not asked for
}

// parseSanitizers reads the names of --sanitize. determinism is kept apart: it
// needs several runs.
func parseSanitizers(names, dead []string) (sanitizers, error) {
	var s sanitizers
	var modes []string
	for _, n := range names {
		if n == "determinism" || n == "all" {
			s.determinism = &exec.Determinism{Find: true}
		}
		if n != "determinism" {
			modes = append(modes, n)
		}
	}
	m, err := exec.ParseSanitizers(modes)
	if err != nil {
		return s, &status{exitUsage, err}
	}
	s.mode = m
	for _, d := range dead {
		r, err := parseDead(d)
		if err != nil {
			return s, &status{exitUsage, fmt.Errorf("--dead %s: %w", d, err)}
		}
		if s.determinism == nil {
			return s, &status{exitUsage, errors.New("--dead goes with --sanitize=determinism")}
		}
		s.determinism.Dead = append(s.determinism.Dead, r)
	}
	return s, nil
}

// parseDead reads [kernel:]binding[lo:hi]; without a range the whole binding is
// dead.
func parseDead(text string) (exec.DeadRange, error) {
	var r exec.DeadRange
	name, span, ranged := strings.Cut(text, "[")
	if k, b, ok := strings.Cut(name, ":"); ok {
		r.Kernel, name = strings.TrimPrefix(k, "@"), b
	}
	r.Binding = strings.TrimPrefix(name, "%")
	if r.Binding == "" {
		return r, errors.New("want [kernel:]binding[lo:hi]")
	}
	if !ranged {
		return r, nil
	}
	span, closed := strings.CutSuffix(span, "]")
	lo, hi, ok := strings.Cut(span, ":")
	if !closed || !ok {
		return r, errors.New("want a byte range [lo:hi]")
	}
	var err error
	if lo != "" {
		if r.Lo, err = strconv.ParseInt(lo, 0, 64); err != nil {
			return r, fmt.Errorf("'%s' is not a number of bytes", lo)
		}
	}
	if hi != "" {
		if r.Hi, err = strconv.ParseInt(hi, 0, 64); err != nil {
			return r, fmt.Errorf("'%s' is not a number of bytes", hi)
		}
	}
	return r, nil
}
