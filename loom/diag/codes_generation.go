package diag

// The codes of this file are refusals of 'loomc fmt --to': one generation of the
// language cannot say what the other says.

func generationCodes() []Code {
	return []Code{
		{"GENERATION/OP", "op of one generation only", "fmt --to met an operation or definition that the other generation does not have (index.scale, buffer.pack, kernel.decl, target.decl, module.import, …). Its meaning would be lost, so nothing is converted.", params("op, generation"), "Replace it as the help line says, or keep the file in its generation."},
		{"GENERATION/PREDICATE", "predicate without a counterpart", "The older generation has no unsigned predicates, none about float classes, and takes only literal ends in range.", params("predicate"), "Write relations that both generations read: ge and le with values, eq and lt."},
		{"GENERATION/ENCODING", "encoding family of one generation only", "An encoding family or parameter form has no counterpart that is certain to mean the same.", params("family, generation"), "Describe the storage with #encoding.operand or #matrix_operand, or write the near family by hand where that is what is stored."},
		{"GENERATION/MODIFIER", "head modifier without a counterpart", "retain, requires, noinline or abi on an implementation, or a target record attribute, cannot be said in the other generation.", params("modifier, symbol"), "Drop it or express it as the help line says."},
		{"GENERATION/CLAUSE", "clause or attribute without a counterpart", "An op exists in both generations but not with this clause: pipeline, schedule and offset bounds of loops, cluster_size, barriers over global memory or of another ordering, iota periods, schema tests by category or spec, unknown dictionary keys.", params("op, clause"), "Remove a hint; restructure anything else as the help line says."},
		{"GENERATION/FAMILY", "template family cannot be declared or implied", "The newer generation declares families and the older one implies them from a key. Either no single signature follows from this file (implementations or applications disagree, or a dimension is not an operand), or a declaration carries conditions the older generation has no place for, or the family is named where it would be no symbol.", params("family, first difference"), "Split the key by signature, declare the family by hand, or move the conditions to the implementations."},
		{"GENERATION/LAUNCH", "launch cannot be expressed", "func.call gives launch arguments only; kernel.launch gives the workload too. A workload cannot be made up or left out.", params("kernel"), "Write the launch by hand, or bind the workload with configs."},
		{"GENERATION/TARGET", "generations would choose differently", "The older generation takes a targeted implementation only for kernels of the same target symbol, the newer one for every compatible processor. With alternatives in the family, this file would select another implementation after conversion.", params("implementation, target or kernel"), "Keep one record per processor, and give the kernel a target."},
		{"GENERATION/NAME", "name taken or not spellable", "Keys and symbols live in different name spaces. Joining them would make two things one, or the name cannot be written as a key or alias.", params("name"), "Rename one of the two in every file that uses it."},
		{"GENERATION/OPAQUE", "verbatim text of the other generation", "Ops of low-level dialects are carried as text; this text spells something of the generation that is converted from.", params("spelling"), "Rewrite it by hand, or move it to a file of its own."},
	}
}
