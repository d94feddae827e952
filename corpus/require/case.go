package require

import (
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
)

// Case is one demand: a launch that an engine wants to make.
type Case struct {
	Name   string
	Export string // export name, or "@symbol"
	Target string // processor; "" leaves it to the kernel
	Config []linker.Binding
	// Workload and Launch are parameter values by name. An engine passes both
	// from one list; Params holds values that may be either.
	Workload, Launch, Params []Param
	// Bindings are the buffers. When Ordered they are checked for position too.
	Bindings []Buffer
	Ordered  bool
	// Why says where the demand comes from, for reports: a rule and a model.
	Why string

	Span       diag.Span // the whole record
	ExportSpan diag.Span
}

// Param is a parameter value.
type Param struct {
	Name    string
	Value   int64
	IsFloat bool // a float parameter; Value is not used
	Span    diag.Span
	KeySpan diag.Span
}

// Buffer is a binding with its size.
type Buffer struct {
	Name  string
	Bytes int64 // -1 leaves the size open
	Span  diag.Span
}
