package main

import (
	"strings"
	"testing"

	"github.com/loomc/loomc/loom/diag"
)

// TestAnnotateKeepsBlocksAfterAnEarlyExit feeds a kernel that ends in two places:
// the block after the first s_endpgm belongs to it, what follows its end does not.
func TestAnnotateKeepsBlocksAfterAnEarlyExit(t *testing.T) {
	const text = `	.text
k:                                      ; @k
.Lfunc_begin0:
	.loc	1 2 3   ; k.loom:2:3
	s_cbranch_execnz .LBB0_2
	s_endpgm
.LBB0_2:
	.loc	1 3 3   ; k.loom:3:3
	v_mov_b32_e32 v0, 1.0
	s_endpgm
	.section	.rodata,"a",@progbits
	.amdhsa_kernel k
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	k, .Lfunc_end0-k
other:
	s_nop 7
`
	src := diag.NewSource("k.loom", "one\ntwo\nthree\n")
	got := string(annotate(text, "k", func(string) *diag.Source { return src }))
	for _, want := range []string{"; k.loom:2  two", ".LBB0_2:", "; k.loom:3  three", "v_mov_b32_e32"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "s_endpgm") != 2 {
		t.Errorf("want both exits:\n%s", got)
	}
	if strings.Contains(got, "s_nop") || strings.Contains(got, "amdhsa") {
		t.Errorf("runs past the function's end:\n%s", got)
	}
}
