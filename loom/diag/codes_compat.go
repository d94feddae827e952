package diag

// The codes of this file are about demands on a corpus: requirement files, models,
// command programs, settings and lock files. Findings of loomc diff have the
// codes DIFF/RULE; their documentation is the rule table of package compat.

func requireCodes() []Code {
	return []Code{
		{"REQUIRE/EXPORT", "demanded export not in the corpus", "", params("case, export"), "Correct the name; the message suggests a near one."},
		{"REQUIRE/CONFIG", "config value not accepted", "The value is outside the set that the declaration, preconditions and assumes leave together. Every statement against it is listed.", params("case, symbol, value, allowed set"), "Take the nearest allowed value, or one of the exports that accept it."},
		{"REQUIRE/CONFIG-MISSING", "demand binds no value for a config", "", params("case, symbol"), "Add it to the case's config."},
		{"REQUIRE/CONFIG-UNKNOWN", "demand binds a config that the export does not read", "", params("case, symbol"), "Correct or remove the key."},
		{"REQUIRE/PARAMETER", "parameter value not accepted", "A workload or launch parameter is outside its type, or what the launch's where clause allows.", params("case, parameter, value, allowed set"), "Split the launch, or choose another export."},
		{"REQUIRE/PARAMETER-MISSING", "demand gives no value for a parameter", "", params("case, parameter"), "Add it to workload, launch or params."},
		{"REQUIRE/PARAMETER-UNKNOWN", "export has no such parameter", "", params("case, parameter"), "Correct or remove it."},
		{"REQUIRE/RELATION", "values do not stand in the demanded relation", "The launch's where clause or an assume relates several values, for example a stride and a width.", params("case, predicate, values"), "Change one of the values."},
		{"REQUIRE/WORKGROUP-MEMORY", "configuration wants more workgroup memory than there is", "", params("case, bytes, limit, buffers"), "Choose config values that reserve less."},
		{"REQUIRE/WORKGROUP", "workgroup too large or empty", "", params("case, size, limit"), "Choose config values that make a smaller workgroup."},
		{"REQUIRE/GRID", "grid too large", "", params("case, count, limit"), "Split the launch."},
		{"REQUIRE/EMPTY-GRID", "nothing would run", "", params("case, axis"), "Check the workload values."},
		{"REQUIRE/BINDING", "binding name does not fit", "", params("case, binding"), "Use the kernel's names."},
		{"REQUIRE/BINDING-ORDER", "binding at another position", "", params("case, binding, positions"), "Follow the kernel's order."},
		{"REQUIRE/BINDING-SIZE", "buffer smaller than what the kernel reaches", "The bytes are computed from the kernel's views for the config and parameter values of the case.", params("case, binding, size, reach"), "Pass a larger buffer, or correct sizes and strides."},
		{"REQUIRE/SYNTAX", "malformed requirements file", "", params("detail"), "It is JSON; comments and trailing commas are allowed."},
		{"REQUIRE/SCHEMA", "requirements file of another schema", "", params("schema"), "Write the schema that the message names."},
		{"REQUIRE/TYPE", "value of the wrong kind", "", params("field, found"), "The message shows the form."},
		{"REQUIRE/KEY", "unknown field", "", params("field"), "Correct or remove it."},
		{"REQUIRE/MISSING", "field missing", "", params("field"), "Add it."},
		{"SHAPES/ARCHITECTURE", "no rules for a model's architecture", "", params("architecture"), "Add it to a rule file; loomc shapes --print-rules prints the one to start from."},
		{"SHAPES/EXPRESSION", "expression of a rule cannot be evaluated", "", params("expression, reason"), "Correct it, or give a fallback with ??."},
		{"SHAPES/GROUP", "architecture uses a group that does not exist", "", params("group"), "Correct the name."},
		{"SHAPES/MISSING", "rule incomplete", "", params("field"), "Add it."},
		{"SHAPES/PARAMETER", "unknown rule parameter", "", params("parameter"), "Use one of the rule file's parameters."},
		{"SHAPES/SCHEMA", "rule file of another schema", "", params("schema"), "Write the schema that the message names."},
		{"SHAPES/SYNTAX", "malformed rule file", "", params("detail"), "It is JSON; comments and trailing commas are allowed."},
		{"SHAPES/TYPE", "value of the wrong kind in a rule file", "", params("field, found"), "The message shows the form."},
	}
}

func programCodes() []Code {
	return []Code{
		{"PROGRAM/RAW", "read after write without an order", "Two commands touch common bytes, the first writes, the second reads, and no chain of dependencies orders them.", params("commands, bytes, value"), "Make the second depend on the first."},
		{"PROGRAM/WAR", "write after read without an order", "", params("commands, bytes, value"), "Make the second depend on the first."},
		{"PROGRAM/WAW", "two writes without an order", "", params("commands, bytes, value"), "Make the second depend on the first."},
		{"PROGRAM/DEPENDENCY", "dependency leads nowhere", "", params("command, ordinal"), "Name the ordinal of an earlier command."},
		{"PROGRAM/CYCLE", "commands wait for each other", "", params("command"), "Remove a dependency."},
		{"PROGRAM/ORDINAL", "ordinal used twice", "", params("command"), "Give every command of a phase its own ordinal."},
		{"PROGRAM/PHASE", "unknown phase", "", params("phase"), "Write init or main."},
		{"PROGRAM/KERNEL", "kernel of another family", "", params("command, family"), "Write family:name as the manifest has it."},
		{"PROGRAM/BINDING", "binding out of place", "", params("command, binding"), "List every binding once, in order."},
		{"PROGRAM/ACCESS", "access differs from the kernel's", "Dependencies and barriers follow from the stated access.", params("command, binding, stated, real"), "State the kernel's access."},
		{"PROGRAM/RANGE", "binding ends outside its value", "", params("command, binding, end, size"), "Bind less, or enlarge the value."},
		{"PROGRAM/TRANSIENT", "transient out of place", "A transient value ends outside the arena, or is not aligned.", params("value, offset, limit"), "Move it."},
		{"PROGRAM/LIVE-RANGE", "transients share bytes while both are in use", "", params("values, bytes, first and last uses"), "Move one of them."},
		{"PROGRAM/COUNTERS", "completion counters too small", "", params("bytes needed, bytes reserved"), "Reserve more."},
		{"PROGRAM/LAYOUT", "producer and consumer mean different layouts", "The encodings of their views, or the format selectors in their config (BINDING_format, _layout, _packed), disagree.", params("commands, value, layouts"), "Use one layout, or convert in between."},
		{"PROGRAM/SYNTAX", "malformed command program", "", params("detail"), "Check that the file is complete."},
		{"PROGRAM/SCHEMA", "program of another schema", "", params("schema"), "A newer schema needs a newer loomc."},
		{"PROGRAM/TYPE", "value of the wrong kind", "", params("field, found"), "The message shows the form."},
		{"PROGRAM/MISSING", "field missing", "", params("field"), "Add it."},
		{"PROGRAM/SIZE", "too many commands", "", params("count, limit"), "Split the program."},
		{"SETTINGS/SYNTAX", "malformed settings file", "", params("detail"), "It is JSON; comments and trailing commas are allowed."},
		{"SETTINGS/TYPE", "value of the wrong kind", "", params("field, found"), "The message shows the form."},
		{"SETTINGS/KEY", "unknown setting", "", params("key"), "Correct or remove it."},
		{"SETTINGS/MISSING", "field of an ignore entry missing", "An accepted finding names its export, its rule and why.", params("field"), "Add it."},
		{"SETTINGS/RULE", "unknown rule", "", params("rule"), "loomc diff --rules lists them."},
		{"SETTINGS/PATTERN", "malformed pattern", "", params("pattern"), "'*' stands for any run of characters."},
		{"LOCK/SYNTAX", "malformed lock file", "", params("detail"), "Restore it from version control."},
		{"LOCK/SCHEMA", "lock file of another schema", "", params("schema"), "loomc pin bump writes one."},
		{"LOCK/REVISION", "lock names no full commit id", "", params("revision"), "Write the full id; branches and short ids move."},
		{"LOCK/ACCEPTED", "accepted finding without rule or reason", "", nil, "State both."},
		{"LOCK/DIGEST", "commit is not what the lock says", "", params("commit, digests"), "Correct the lock before the pin moves."},
	}
}
