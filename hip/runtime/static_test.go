//go:build loomc_static

package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/loomc/loomc/hip"
)

// The static build keeps the interface and says why there is nothing behind it.
func TestStaticBuild(t *testing.T) {
	for _, kind := range []Kind{HIP, CUDA} {
		_, err := Open(Options{Kind: kind})
		var m *hip.MissingError
		if !errors.As(err, &m) || len(m.Tried) == 0 || !strings.Contains(m.Tried[0].Reason, "loomc_static") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
