package codegen

import (
	"strings"
	"testing"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/dialect"
)

// notInKernels says why an op of the table needs no device code.
func notInKernels(d *loom.OpDef) bool {
	if d.Traits&(loom.ModuleLevel|loom.CheckOnly) != 0 {
		return true
	}
	switch prefix, _, _ := strings.Cut(d.Name, "."); prefix {
	case "config", "func", "template", "check", "global", "test":
		return true // gone after specialisation, or host only
	}
	return d.Name == "kernel.launch" || strings.HasPrefix(d.Name, "encoding.isa") || strings.HasPrefix(d.Name, "encoding.matches")
}

// refused are the ops that are a CODEGEN/UNSUPPORTED diagnostic on every target.
var refused = map[string]string{
	"kernel.async.tensor.load.to.lds": "needs the tensor DMA unit", "kernel.async.tensor.store.from.lds": "needs the tensor DMA unit",
	"kernel.tensor.lds.descriptor": "needs the tensor DMA unit",
}

func TestEveryOpHasDeviceCode(t *testing.T) {
	for _, d := range dialect.Ops().All() {
		if notInKernels(d) {
			continue
		}
		switch why, listed := refused[d.Name]; {
		case Supported(d.Name) && listed:
			t.Errorf("%s has device code but is listed as refused (%s)", d.Name, why)
		case !Supported(d.Name) && !listed:
			t.Errorf("%s has no device code", d.Name)
		}
	}
}
