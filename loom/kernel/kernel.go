// Package kernel holds the closed kernel: what linker.Specialize makes and what
// the executor and the code generator consume.
//
// A closed kernel has no config reads, no calls and no templates left. Its
// launch-config region computes six index values from the workload parameters
// alone. Its body is straight SSA over the ops that carry run-time meaning:
// index, scalar, vector, view, buffer, encoding, scf, cfg and kernel ops.
package kernel

import (
	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/facts"
	"github.com/loomc/loomc/loom/target"
)

// Access says how a kernel uses a binding.
type Access uint8

// Access values combine as bits.
const (
	None  Access = 0
	Read  Access = 1
	Write Access = 2
)

func (a Access) String() string { return [...]string{"none", "read", "write", "read_write"}[a] }

// Binding is one buffer parameter of the launch, in order.
type Binding struct {
	Name   string
	Param  *loom.Value
	Access Access // derived from loads, stores and atomics in the body
	Align  int64  // promised base alignment in bytes, 1 when unknown
	// NoAlias reports that the body promises the binding shares storage with no
	// other binding that makes the same promise.
	NoAlias bool
}

// Scalar is one non-buffer launch parameter or a workload parameter, in order.
type Scalar struct {
	Name  string
	Param *loom.Value
}

// LocalBuffer is one workgroup-memory allocation of the kernel.
type LocalBuffer struct {
	Name   string
	Alloca *loom.Op
	Offset int64 // byte offset in the workgroup's storage
	Size   int64 // reserved bytes
	Align  int64
}

// ConfigValue is one config binding the kernel was specialised with.
type ConfigValue struct {
	Key  string // without '@'
	Text string // canonical value text
}

// Kernel is a closed kernel.
type Kernel struct {
	Def      *loom.Def // private to the kernel: cloned, may be annotated
	Export   string    // export name
	Symbol   string    // kernel symbol without '@'
	Target   *target.Target
	Config   []ConfigValue // sorted by key; only those the kernel reads
	Bindings []Binding
	Launch   []Scalar // scalar launch parameters in order
	Workload []Scalar
	Local    []LocalBuffer
	// LocalBytes is the workgroup storage the allocations reserve, padding
	// included; scratch a back end needs for reductions is not part of it.
	LocalBytes int64
	// WorkgroupSize is the constant items-per-workgroup, zero where the launch
	// config leaves it to the workload.
	WorkgroupSize [3]int64
	Facts         *facts.Set
	// Sites says for operations that were inlined which call they came from; see
	// SiteOf. It holds the outermost operations of each inlined body.
	Sites map[*loom.Op]*Site
}

// Site is a call that specialisation replaced by the callee's body. The chain of
// sites of an operation is how a reader gets from the kernel to the line that
// was written.
type Site struct {
	Callee string    // symbol without '@'
	Call   diag.Span // place of the call
	Parent *Site     // the call that brought this one in, nil in the kernel itself
}

// SiteOf returns the innermost call that op came from, nil when the kernel's own
// body holds it.
func (k *Kernel) SiteOf(op *loom.Op) *Site {
	for ; op != nil; op = op.Parent() {
		if s, ok := k.Sites[op]; ok {
			return s
		}
	}
	return nil
}
