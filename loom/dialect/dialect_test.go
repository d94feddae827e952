package dialect

import "testing"

func TestEveryFormatCompiles(t *testing.T) {
	for _, d := range Ops().All() {
		d.Compile()
		if d.Doc == "" {
			t.Errorf("%s has no documentation", d.Name)
		}
	}
}
