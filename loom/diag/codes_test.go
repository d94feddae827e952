package diag

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestCodeTableIsComplete(t *testing.T) {
	form := regexp.MustCompile(`^[A-Z][A-Z0-9]*/[A-Z0-9]+(-[A-Z0-9]+)*$`)
	seen := make(map[string]bool)
	for _, list := range codeLists() {
		for _, c := range list {
			if seen[c.Name] {
				t.Errorf("%s is declared twice", c.Name)
			}
			seen[c.Name] = true
			if !form.MatchString(c.Name) {
				t.Errorf("%q is not of the form DOMAIN/CODE", c.Name)
			}
			if c.Title == "" || strings.HasSuffix(c.Title, ".") {
				t.Errorf("%s: title %q should be a few words without a period", c.Name, c.Title)
			}
			if c.Fix == "" {
				t.Errorf("%s does not say what to do", c.Name)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	c, ok := Lookup("type/001")
	if !ok || c.Name != "TYPE/001" || c.Domain() != "TYPE" {
		t.Errorf("Lookup(type/001) = %+v, %v", c, ok)
	}
	if _, ok := Lookup("TYPE/999"); ok {
		t.Error("TYPE/999 exists")
	}
	if text := c.Text(); !strings.Contains(text, "What to do:") || !strings.Contains(text, "The message names:") {
		t.Errorf("incomplete text:\n%s", text)
	}
}

// TestEveryCodeInUseIsDocumented reads the module's sources: a diagnostic whose
// code has no entry would leave the explain command speechless.
func TestEveryCodeInUseIsDocumented(t *testing.T) {
	lit := regexp.MustCompile(`"((?:PARSE|SYMBOL|TYPE|STRUCTURE|DOMINANCE|SHAPE|ENCODING|SUBRANGE|LOWERING|TARGET|AMDGPU|CONFIG|LINK|MANIFEST|PIN|CORPUS|OVERRIDE|CODEGEN|COMPILE|HIP|EXEC|LINT|USAGE|INTERNAL|GENERATION|LAUNCH|CHECK|SANITIZE)/[A-Z0-9][A-Z0-9-]*)"`)
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		for _, m := range lit.FindAllSubmatch(b, -1) {
			if _, ok := Lookup(string(m[1])); !ok {
				t.Errorf("%s uses %s, which codes_*.go do not document", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
