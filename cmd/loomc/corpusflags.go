package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/target"
)

// corpusFlags are the flags that say which corpus a command works on.
type corpusFlags struct {
	repo, pin, corpus, override string
}

func (f *corpusFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.pin, "pin", "", "commit to read the corpus at: sha, branch or tag of a local git repository")
	c.Flags().StringVar(&f.repo, "repo", "", "git repository (default: the one around the current directory)")
	c.Flags().StringVar(&f.corpus, "corpus", "", "corpus directory: inside the repository with --pin, on disk without")
	c.Flags().StringVar(&f.override, "override", "", "directory whose files and export records replace those of the corpus")
}

// open opens the corpus the flags name: a pin, a directory, or the embedded one.
func (f *corpusFlags) open(ctx context.Context, c *cobra.Command) (*exports.Set, diag.List, error) {
	cp, ds := corpus.Open(ctx, corpus.Options{Repo: f.repo, Pin: f.pin, Path: f.corpus, Override: f.override})
	if cp == nil {
		return nil, ds, nil
	}
	return exports.New(cp), ds, nil
}

// configFlags are the flags that bind config symbols.
type configFlags struct {
	values []string
	files  []string
}

func (f *configFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.values, "config", nil, "bind a config symbol: key=value (repeatable)")
	c.Flags().StringArrayVar(&f.files, "config-file", nil, "bind config symbols from a JSONC file; nested keys join with dots (repeatable)")
}

// bindings reads files and flags; a flag wins over a file.
func (f *configFlags) bindings(a *app) ([]linker.Binding, diag.List, error) {
	var ds diag.List
	var fromFiles, fromFlags []linker.Binding
	for _, name := range f.files {
		src, err := a.readSource(name)
		if err != nil {
			return nil, nil, err
		}
		vs, l := corpus.ReadConfig(src)
		ds = append(ds, l...)
		for _, v := range vs {
			fromFiles = append(fromFiles, linker.Binding{Key: v.Key, Text: v.Text, Span: v.Span})
		}
	}
	for _, v := range f.values {
		b, l := linker.ParseBinding(v)
		ds = append(ds, l...)
		if len(l) == 0 {
			// A pseudo-source gives the flag a place in messages.
			src := diag.NewSource("command line", "--config "+v)
			b.Span = diag.Span{Src: src, Start: uint32(len("--config ")), End: uint32(len(src.Text))}
			fromFlags = append(fromFlags, b)
		}
	}
	for _, list := range [][]linker.Binding{fromFiles, fromFlags} {
		_, l := linker.Bindings(list)
		ds = append(ds, l...)
	}
	return exports.Overlay(fromFiles, fromFlags), ds, nil
}

// checkTarget reports an unknown processor name.
func checkTarget(name string) error {
	if name == "" {
		return nil
	}
	if _, ok := target.Lookup(name); ok {
		return nil
	}
	msg := fmt.Sprintf("unknown target '%s'", name)
	if n := target.Nearest(name); n != "" {
		msg += fmt.Sprintf("; did you mean '%s'?", n)
	}
	return &status{exitUsage, errors.New(msg + "\nknown targets: " + strings.Join(target.Names(), ", "))}
}
