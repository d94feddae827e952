// Package target is the table of facts about the GPUs loomc knows: wave sizes,
// memory and workgroup limits, and matrix shapes. Linker, executor and code
// generator ask it; nothing else knows a processor's properties.
package target

// Target is the set of facts one compilation is for: a processor row, possibly
// narrowed by the attributes of a target record.
type Target struct {
	Processor string // gfx1151, or a generic such as gfx11-generic
	Family    string // gfx9, gfx10, gfx11, gfx12: instruction family
	WaveSize  int    // lanes per subgroup the kernel is compiled for
	WaveSizes []int  // all that the processor can run
	LDSBytes  int    // workgroup storage limit per workgroup
	// MaxWorkgroupSize limits the items per workgroup, in all and per axis.
	MaxWorkgroupSize int
	MaxWorkgroupDim  [3]int64
	MaxGridDim       [3]int64 // workgroups per axis
	Matrix           []MatrixShape
	MaxBindings      int
}

// MatrixShape is one matrix multiply-accumulate the processor executes.
type MatrixShape struct {
	M, N, K int
	Lhs     string // element of lhs and rhs: f16, bf16, i8 (iu8), i4 (iu4), f8…
	Acc     string // element of the accumulator: f32, f16, bf16, i32
	Wave    int    // wave size the instruction is for
	// LhsLanes and AccLanes are elements per lane of the operand and accumulator
	// vectors as the language writes them.
	LhsLanes, AccLanes int
}
