package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/loomc/loomc/codegen"
	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/hip"
	"github.com/loomc/loomc/loom/diag"
)

// assembly compiles a unit and returns its ISA with the Loom line above each run
// of instructions that comes from it.
func (a *app) assembly(ctx context.Context, set *exports.Set, u *codegen.Unit, arch string) ([]byte, error) {
	tc, _, err := hip.Discover(ctx, hip.Search{})
	if err != nil {
		_ = a.show(hip.Explain(err, nil))
		return nil, &status{code: exitMissing}
	}
	text, err := tc.Assembly(ctx, hip.Job{Name: u.Symbol + ".hip", Source: u.Source, Arch: arch, Wave64: u.WaveSize == 64})
	lookup := sourceLookup(set)
	if err != nil {
		return nil, a.show(hip.Explain(err, lookup))
	}
	return annotate(text, u.Symbol, lookup), nil
}

// annotate keeps the instructions of the kernel called symbol and writes the
// source line of each .loc directive above those that follow it.
func annotate(text, symbol string, lookup func(string) *diag.Source) []byte {
	var out bytes.Buffer
	inside := false
	var last, pending string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		word := strings.TrimSpace(line)
		switch {
		case word == symbol+":" || strings.HasPrefix(word, symbol+": "):
			inside = true
			fmt.Fprintf(&out, "%s:\n", symbol)
		case !inside:
		case functionEnd(word, symbol):
			inside = false
		case strings.HasPrefix(word, ".loc"):
			if src, l := locDirective(word, lookup); src != nil {
				pending = fmt.Sprintf("; %s:%d  %s", src.Name, l, strings.TrimSpace(src.Line(l)))
			}
		case word == "" || strings.HasPrefix(word, ";") || strings.HasPrefix(word, "."):
			if strings.HasSuffix(word, ":") && strings.HasPrefix(word, ".LBB") {
				fmt.Fprintln(&out, line)
			}
		default:
			if strings.HasPrefix(word, ".L") || strings.HasSuffix(word, ":") {
				continue
			}
			if pending != "" && pending != last {
				fmt.Fprintf(&out, "\n%s\n", pending)
				last = pending
			}
			fmt.Fprintln(&out, line)
		}
	}
	return out.Bytes()
}

// functionEnd tells the line that closes the body of symbol. An s_endpgm does not:
// a kernel with an early exit has one per exit, with blocks after it.
func functionEnd(word, symbol string) bool {
	return strings.HasPrefix(word, ".Lfunc_end") ||
		strings.HasPrefix(word, ".section") ||
		strings.HasPrefix(word, ".size\t"+symbol+",") ||
		strings.HasPrefix(word, ".size "+symbol+",") ||
		strings.HasPrefix(word, ".end_amdgpu_metadata")
}

// locDirective reads the place that the comment of a .loc directive gives:
// ".loc 1 30 35   ; ops/scale.loom:30:35".
func locDirective(word string, lookup func(string) *diag.Source) (*diag.Source, int) {
	_, place, ok := strings.Cut(word, "; ")
	if !ok {
		return nil, 0
	}
	parts := strings.Split(strings.TrimSpace(place), ":")
	if len(parts) < 3 {
		return nil, 0
	}
	line, err := strconv.Atoi(parts[len(parts)-2])
	if err != nil || line == 0 {
		return nil, 0
	}
	return lookup(strings.Join(parts[:len(parts)-2], ":")), line
}
