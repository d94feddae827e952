package parser

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"runtime"
	"runtime/debug"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/verify"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6 + float64(u.Stime.Sec) + float64(u.Stime.Usec)/1e6
}

func TestZCPU(t *testing.T) {
	kb, _ := strconv.Atoi(os.Getenv("ZKB"))
	if kb == 0 { t.Skip() }
	text := bundledText(t, kb<<10)
	if os.Getenv("ZSMALL") != "" { text = text[:kb<<10] }
	if g := os.Getenv("ZGC"); g != "" { n, _ := strconv.Atoi(g); debug.SetGCPercent(n) }
	n := max(1, (40<<20)/len(text))
	run := func(name string, f func()) {
		f()
		runtime.GC()
		best := 1e9
		for range 3 {
			t0 := cpu()
			for range n { f() }
			best = min(best, (cpu()-t0)/float64(n))
		}
		fmt.Printf("%-22s %8.1f MB/s cpu  %.1f ms\n", name, float64(len(text))/best/1e6, best*1e3)
	}
	run("index", func() { Parse(diag.NewSource("x", text)) })
	run("parse", func() { m, _ := Parse(diag.NewSource("x", text)); m.Load() })
	m, _ := Parse(diag.NewSource("x", text)); m.Load()
	run("print", func() { loom.Print(m) })
	run("verify", func() { verify.Module(m, verify.Options{}) })
	run("parse+verify+print", func() { m, _ := Parse(diag.NewSource("x", text)); verify.Module(m, verify.Options{}); loom.Print(m) })
	var before, after runtime.MemStats
	m = nil
	runtime.GC(); runtime.GC()
	runtime.ReadMemStats(&before)
	m, _ = Parse(diag.NewSource("x", text)); m.Load()
	runtime.GC()
	runtime.ReadMemStats(&after)
	fmt.Printf("held %.2f B per byte, %.2f allocated, heap from OS %.1f\n", float64(after.HeapAlloc-before.HeapAlloc)/float64(len(text)), float64(after.TotalAlloc-before.TotalAlloc)/float64(len(text)), float64(after.HeapSys)/float64(len(text)))
	runtime.KeepAlive(m)
}
