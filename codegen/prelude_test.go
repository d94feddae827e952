package codegen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPreludeNames holds the prelude to names of its own: run-time compilers put
// headers in front of a kernel that define others, and not all alike (uint64_t is
// unsigned long in one and unsigned long long in the next). The exception is
// uint32_t, the type of launch parameters, which is the same everywhere.
func TestPreludeNames(t *testing.T) {
	files, err := filepath.Glob("prelude/*.h")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	defines := regexp.MustCompile(`(?m)^(?:typedef [^;]*?(\w+);|(?:template <[^>]*> )?LOOM_FN \w+ (\w+)\(|struct (\w+))`)
	for _, f := range files {
		if filepath.Base(f) == "host.h" { // for this machine's compiler alone
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range defines.FindAllStringSubmatch(string(text), -1) {
			n++
			name := m[1] + m[2] + m[3]
			if strings.HasPrefix(name, "loom_") || name == "uint32_t" {
				continue
			}
			t.Errorf("%s defines %s: %s", f, name, m[0])
		}
		if n == 0 {
			t.Errorf("%s: nothing found, is the pattern still right?", f)
		}
	}
}
