package diag

// The codes of this file are about running kernels: launch geometry, test cases
// and the sanitizers of the reference executor.

func runCodes() []Code {
	return []Code{
		{"LAUNCH/WORKLOAD", "workload values do not fit the kernel", "A kernel's launch-config block is a function of its workload parameters: it needs one value for each, in order.", params("kernel, parameters, values given"), "Give every workload parameter a value, with --workload name=N."},
		{"LAUNCH/CONFIG", "launch configuration cannot be evaluated", "The launch-config block is missing or does not end in kernel.launch.config.", params("kernel"), "Write a block that computes the grid from the workload parameters and config."},
		{"LAUNCH/PREDICATE", "launch breaks a promise", "A where clause of the kernel or an assume of its launch-config block does not hold for these values.", params("predicate, values"), "Launch with values the kernel accepts, or relax the predicate together with the code that relies on it."},
		{"LAUNCH/RANGE", "launch geometry out of range", "A grid or workgroup extent is negative, zero where items are needed, or above the target's limit.", params("axis, value, limit"), "Correct the launch-config block or the workload."},
		{"LAUNCH/BUFFER", "buffer shorter than the kernel's views", "With these config, workload and launch values the kernel's accesses through its views reach past the end of a buffer.", params("argument, bytes given, bytes needed, view, values"), "Pass a buffer of at least the needed length, or correct the values that size the view."},
		{"LAUNCH/STEPS", "launch configuration runs too long", "A loop of the launch-config block did not end within the step limit.", params("steps"), "The block should compute a few values; check the loop's bounds."},
		{"LAUNCH/OP", "op not allowed in a launch configuration", "The launch-config block runs on the host before there are work items; only index, scalar and scf ops have a meaning there.", params("op"), "Move the op into the launch body."},
		{"LAUNCH/UNDEFINED", "launch configuration divides by zero or shifts too far", "The result of the operation is not defined for these values.", params("op, values"), "Guard the operation, or launch with other values."},
		{"CHECK/CASE", "test case cannot run", "The case has no body or its body does not parse.", params("case"), "Correct the case."},
		{"CHECK/PARAM", "test parameter malformed", "A check.param.* op has no values, a step of zero, or bounds that never meet.", params("parameter, detail"), "Give at least one value."},
		{"CHECK/OP", "op without meaning in a test", "Test bodies make inputs, launch and compare; this op does none of it.", params("op"), "Move the computation into a kernel or a function."},
		{"CHECK/CALL", "call in a test cannot run", "The callee is not a function that closes: it needs values that only a launch gives, or does not link.", params("callee, reason"), "Launch a kernel instead, or correct the function."},
		{"CHECK/LAUNCH", "launch in a test does not fit the kernel", "Argument count, types or tensor sizes differ from the kernel's launch parameters.", params("kernel, argument, detail"), "Pass what the kernel declares."},
		{"CHECK/EXPECT", "comparison cannot be made", "The two values have different shapes or elements, or the comparison's provider is not registered.", params("detail"), "Compare values of one type with a known provider."},
		{"CHECK/FILE", "test file cannot be read or written", "Paths of check.file.* stay below the test's directory and name NumPy files of the declared element and shape.", params("path, detail"), "Correct the path or the file."},
		{"CHECK/ORACLE", "oracle failed or is not known", "check.oracle.call asks a registered Go function for expected values.", params("provider, detail"), "Register the provider, or use another."},
		{"SANITIZE/RACE", "conflicting accesses without an order", "Two work items access the same bytes, one of them writing, and no barrier over that memory space, no atomic and no release/acquire pair orders them. A barrier orders only the space it names.", params("space, both accesses, what stands between"), "Put a barrier over the space of the access between them; for global data followed by a workgroup rendezvous, a barrier over global, then over workgroup."},
		{"SANITIZE/BOUNDS", "access outside a binding or view", "The access leaves the binding's exact byte length or the view's extents, or a wide access is not aligned to its element.", params("binding, offset, length"), "Guard the access, or correct the index or the view's shape."},
		{"SANITIZE/INIT", "read of memory never written", "The bytes read were never written by this launch or its inputs: workgroup or private memory, or an output.", params("space, offset"), "Write the bytes first, or do not read them."},
		{"SANITIZE/ASSUME", "promise broken", "An assume, noalias, alignment or launch where does not hold at run time. Optimised code relies on it.", params("predicate, lane, value"), "Make the promise true or weaken it."},
		{"SANITIZE/NAN", "first NaN or infinity", "An operation made a NaN or an infinity from finite inputs.", params("op, operands, lane"), "Guard the operation if the value matters."},
		{"SANITIZE/DIVERGENCE", "group operation under divergent control flow", "Barriers, reductions, matrix and subgroup operations need all their lanes; some lanes do not reach this one.", params("op, condition, lanes"), "Move the operation out of the branch."},
		{"SANITIZE/DETERMINISM", "result depends on what it must not", "Two runs that differ only in bits the launch must not depend on (stale rows, padding, unwritten output) or in workgroup order gave different results.", params("output byte, first op that differs"), "Select the value away where it is masked, before arithmetic: 0 times a stale NaN is NaN."},
	}
}
