package parser

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/verify"
)

// bundledText is the text of bundled kernels, one after the other and again, of at
// least size bytes.
func bundledText(tb testing.TB, size int) string {
	var files [][]byte
	err := filepath.WalkDir("../corpus/kernels", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".loom") || strings.Contains(path, "checks") {
			return err
		}
		text, err := os.ReadFile(path)
		files = append(files, text)
		return err
	})
	if err != nil || len(files) == 0 {
		tb.Fatalf("no bundled kernels: %v", err)
	}
	var all strings.Builder
	for i := 0; all.Len() < size; i++ {
		all.Write(files[i%len(files)])
	}
	return all.String()
}

func sizes(b *testing.B, f func(b *testing.B, text string)) {
	for _, size := range []int{20 << 10, 400 << 10, 3800 << 10, 100 << 20} {
		if size > 10<<20 && testing.Short() {
			continue
		}
		text := bundledText(b, size)
		b.Run(fmt.Sprintf("%dKB", len(text)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			f(b, text)
		})
	}
}

// BenchmarkIndex is what indexing a library costs: splitting into definitions.
func BenchmarkIndex(b *testing.B) {
	sizes(b, func(b *testing.B, text string) {
		for b.Loop() {
			Parse(diag.NewSource("x.loom", text))
		}
	})
}

// BenchmarkParse is a full parse: heads and bodies of every definition. held is
// what the module keeps, in bytes per byte of text.
func BenchmarkParse(b *testing.B) {
	sizes(b, func(b *testing.B, text string) {
		for b.Loop() {
			m, _ := Parse(diag.NewSource("x.loom", text))
			if l := m.Load(); len(l) > 0 {
				b.Fatal(l.Error())
			}
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC() // pools let go with the second
		runtime.ReadMemStats(&before)
		m, _ := Parse(diag.NewSource("x.loom", text))
		m.Load()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(len(text)), "held/byte")
		runtime.KeepAlive(m)
	})
}

// BenchmarkFormat is what a formatter does: parse, verify, print.
func BenchmarkFormat(b *testing.B) {
	sizes(b, func(b *testing.B, text string) {
		for b.Loop() {
			m, _ := Parse(diag.NewSource("x.loom", text))
			verify.Module(m, verify.Options{})
			loom.Print(m)
		}
	})
}

func BenchmarkPrint(b *testing.B) {
	sizes(b, func(b *testing.B, text string) {
		m, _ := Parse(diag.NewSource("x.loom", text))
		m.Load()
		for b.Loop() {
			loom.Print(m)
		}
	})
}
