package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
)

// BenchmarkStartup is the time of a whole process that prints its version.
func BenchmarkStartup(b *testing.B) {
	bin := buildBinary(b)
	for b.Loop() {
		if err := exec.Command(bin, "--version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLinkBundled links every export of the bundled corpus and closes every
// planned case, from nothing.
func BenchmarkLinkBundled(b *testing.B) { benchmarkCommand(b, "link") }

// BenchmarkEmitFlashAttention specialises and emits the largest bundled kernel.
func BenchmarkEmitFlashAttention(b *testing.B) {
	benchmarkCommand(b, "emit", "ggml_flash_attention_f32_f16_wmma")
}

// BenchmarkTestBundled runs every bundled test case on the reference executor.
func BenchmarkTestBundled(b *testing.B) { benchmarkCommand(b, "test") }

func benchmarkCommand(b *testing.B, args ...string) {
	b.ReportAllocs()
	for b.Loop() {
		runCommand(b, args...)
	}
}

func runCommand(b *testing.B, args ...string) {
	var out, errs bytes.Buffer
	if code := execute(context.Background(), args, nil, &out, &errs); code != 0 {
		b.Fatalf("loomc %s: exit status %d\n%s", strings.Join(args, " "), code, errs.String())
	}
}

// BenchmarkBuildBundledWarm is a rebuild of the bundled corpus when nothing
// changed: the whole process, every object from the cache.
func BenchmarkBuildBundledWarm(b *testing.B) {
	cache, out := b.TempDir(), b.TempDir()
	benchmarkBuild(b, func() {}, "--cache-dir", cache, "-o", out)
}

// BenchmarkBuildBundledCold builds the bundled corpus with an empty cache: the
// whole process, every object from the compiler.
func BenchmarkBuildBundledCold(b *testing.B) {
	dir := b.TempDir()
	benchmarkBuild(b, func() { empty(b, dir) }, "--cache-dir", filepath.Join(dir, "cache"), "-o", filepath.Join(dir, "out"))
}

// BenchmarkBuildTreeCold does the same for the kernel tree that LOOM_BENCH names: a
// directory with .loom files, or a checkout with kernels/v2. The tree needs no
// manifest: one is generated, with one case per kernel, each with the values
// nearest to 1024 that the kernel's declarations and code permit.
func BenchmarkBuildTreeCold(b *testing.B) {
	tree := os.Getenv("LOOM_BENCH")
	if tree == "" {
		b.Skip("SKIPPED: set LOOM_BENCH to a checkout of the kernel bench (https://github.com/rsuderman/ggml-hrx-kernel-bench) to measure its cold build")
	}
	if sub := filepath.Join(tree, "kernels", "v2"); isDir(sub) {
		tree = sub
	}
	copied := filepath.Join(b.TempDir(), "tree")
	if err := os.CopyFS(copied, os.DirFS(tree)); err != nil {
		b.Fatal(err)
	}
	roots := planTree(b, copied)
	dir := b.TempDir()
	objects := benchmarkBuild(b, func() { empty(b, dir) }, "--corpus", copied, "--cache-dir", filepath.Join(dir, "cache"), "-o", filepath.Join(dir, "out"))
	if objects != roots {
		b.Fatalf("%d objects of %d kernels", objects, roots)
	}
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func empty(b *testing.B, dir string) {
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		b.Fatal(err)
	}
}

// benchmarkBuild times `loomc build` with args as a process of its own, and
// returns the number of objects. prepare runs before each, outside the time.
func benchmarkBuild(b *testing.B, prepare func(), args ...string) int {
	bin := buildBinary(b)
	args = append([]string{"build", "--format", "json"}, args...)
	build := func() (objects int, used, wall time.Duration) {
		prepare()
		var out, errs bytes.Buffer
		c := exec.Command(bin, args...)
		c.Stdout, c.Stderr = &out, &errs
		start := time.Now()
		err := c.Run()
		wall = time.Since(start)
		if c.ProcessState != nil && c.ProcessState.ExitCode() == exitMissing {
			b.Skipf("SKIPPED: there is no compiler to build with:\n%s", errs.String())
		}
		if err != nil {
			b.Fatalf("%v\n%.4000s", err, errs.String())
		}
		var doc struct{ Objects []json.RawMessage }
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			b.Fatal(err)
		}
		return len(doc.Objects), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), wall
	}
	build() // the first one fills what a cache keeps, and the disk's cache
	b.ResetTimer()
	best, total, n, objects := time.Hour, time.Duration(0), 0, 0
	for b.Loop() {
		o, used, wall := build()
		best, total, n, objects = min(best, wall), total+used, n+1, o
	}
	b.ReportMetric(float64(best.Microseconds())/1e3, "best-ms")
	b.ReportMetric(float64(total.Microseconds())/1e3/float64(n), "cpu-ms/op")
	b.ReportMetric(float64(objects), "objects")
	return objects
}

func buildBinary(b *testing.B) string {
	bin := filepath.Join(b.TempDir(), "loomc")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// planTree writes a manifest for the kernels below dir with a case for each, and
// returns how many there are.
func planTree(b *testing.B, dir string) int {
	manifest := filepath.Join(dir, "manifest.json")
	runCommand(b, "manifest", "generate", "--corpus", dir, "-o", manifest)
	ctx := context.Background()
	c, ds := corpus.Open(ctx, corpus.Options{Path: dir})
	if ds.HasErrors() {
		b.Fatal(ds)
	}
	set := exports.New(c)
	picked, _ := set.Select(nil)
	outs, _ := set.Link(ctx, picked, exports.Request{})
	var cases []map[string]any
	for _, o := range outs {
		if o.Link == nil || len(o.Link.Roots) == 0 || o.Link.Roots[0].Def == nil {
			b.Fatalf("%s does not link:\n%v", o.Export.ID(), o.Diags)
		}
		config := map[string]string{}
		for _, k := range o.Link.Configs {
			config[k.Key] = "1.0"
			if near := k.Accepted().Nearest(1024); k.Integer && len(near) > 0 {
				config[k.Key] = fmt.Sprint(near[0])
			}
		}
		workload := map[string]int64{}
		for _, p := range linker.DeriveABI(o.Link.Module, o.Link.Roots[0].Def).Workload {
			workload[p.Name] = 1024
		}
		launch := map[string]int64{}
		for _, p := range linker.DeriveABI(o.Link.Module, o.Link.Roots[0].Def).Launch {
			launch[p.Name] = 1024
		}
		cases = append(cases, map[string]any{"name": o.Export.Name.Value + "/near-1024", "root": o.Export.Name.Value, "workload": workload, "launch": launch, "config": config})
	}
	text, err := os.ReadFile(manifest)
	if err != nil {
		b.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		b.Fatal(err)
	}
	doc["plan_cases"] = cases
	if text, err = json.MarshalIndent(doc, "", "  "); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(manifest, text, 0o644); err != nil {
		b.Fatal(err)
	}
	return len(cases)
}
