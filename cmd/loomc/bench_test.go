package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStartup is the time of a whole process that prints its version.
func BenchmarkStartup(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "loomc")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
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
		var out, errs bytes.Buffer
		if code := execute(context.Background(), args, nil, &out, &errs); code != 0 {
			b.Fatalf("exit status %d\n%s", code, errs.String())
		}
	}
}
