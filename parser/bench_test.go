package parser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// bundledText is the text of the bundled kernels, repeated up to at least size
// bytes.
func bundledText(tb testing.TB, size int) string {
	var one strings.Builder
	err := filepath.WalkDir("../corpus/kernels", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".loom") || strings.Contains(path, "checks") {
			return err
		}
		text, err := os.ReadFile(path)
		one.Write(text)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Repeat(one.String(), size/one.Len()+1)
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

// BenchmarkParse is a full parse: heads and bodies of every definition.
func BenchmarkParse(b *testing.B) {
	sizes(b, func(b *testing.B, text string) {
		for b.Loop() {
			m, _ := Parse(diag.NewSource("x.loom", text))
			if l := m.Load(); len(l) > 0 {
				b.Fatal(l.Error())
			}
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
