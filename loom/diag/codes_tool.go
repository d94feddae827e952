package diag

// The codes of this file are about what loomc does with modules: configuration,
// linking, corpora, code generation, compilation and execution.

func configCodes() []Code {
	return []Code{
		{"CONFIG/INVALID", "config value breaks its declaration", "A value bound to a config symbol violates a constraint of its config.decl, or cannot be read as its type.", params("symbol, value, constraint, allowed set"), "Bind a value from the allowed set, or relax the declaration and every index.assume that repeats it."},
		{"CONFIG/TYPE", "config value of the wrong type", "The text bound to a config symbol cannot be read as the declared type, or does not fit its width.", params("symbol, text, type"), "Write an integer, a float, true or false, or an encoding, as the declaration says."},
		{"CONFIG/RANGE", "config value outside the type's domain", "The integer does not fit the declared width.", params("symbol, value, type, limits"), "Bind a value that fits."},
		{"CONFIG/UNKNOWN", "config key not used", "With --strict-config every key must name a config symbol of the link.", params("key"), "Remove the key or correct it; the message suggests a near one."},
		{"CONFIG/UNRESOLVED", "config value missing", "A reachable config.decl has no value.", params("symbol"), "Bind it with --config symbol=value, or add a config.def."},
		{"CONFIG/DUPLICATE", "config key bound twice", "", params("key"), "Keep one binding."},
		{"CONFIG/NOT-CONFIG", "not a config symbol", "The key names a symbol of another kind.", params("key, kind"), "Use the name of a config.decl."},
		{"CONFIG/SYNTAX", "config binding malformed", "Bindings are key=value, or a JSON object of strings, numbers and booleans.", params("text"), "Write key=value."},
		{"CONFIG/CONSTRAINT", "config constraint not decidable", "A constraint's other arguments must be integer literals, and its type an integer or index.", params("symbol, constraint"), "Write literals in the where list of config.decl."},
	}
}

func linkCodes() []Code {
	return []Code{
		{"LINK/ROOT", "root not found", "No input defines or declares the requested root.", params("symbol"), "Correct the name; the message suggests a near one."},
		{"LINK/UNRESOLVED", "dependency not found", "A reachable declaration is satisfied by no input.", params("symbol, who needs it"), "Add the library file that defines it."},
		{"LINK/DUPLICATE", "symbol defined by two inputs", "Two definitions with global identity have one name.", params("symbol, first place, second place"), "Remove one input or make one definition private."},
		{"LINK/MISMATCH", "declaration and definition disagree", "Argument or result types, counts, or modifiers differ.", params("symbol, field, declared, defined"), "Bring the two together; the message shows the first difference and both places."},
		{"LINK/OPAQUE", "op loomc does not translate is reached", "The root reaches an op that loomc only carries verbatim.", params("op, path from the root"), "Exclude the implementation that uses it, for example by its target."},
		{"LINK/CYCLE", "recursion", "Functions or templates call each other in a ring.", params("symbols"), "Break the ring: kernels have no call stack."},
		{"LINK/TARGET", "targets do not agree", "", params("caller target, callee target"), "Use compatible targets."},
		{"OVERRIDE/UNUSED", "override replaces nothing", "A file of the override directory matches no file or symbol of the corpus.", params("path"), "Correct the path or symbol."},
		{"OVERRIDE/SIGNATURE", "override with another signature", "The overriding definition does not fit the uses of the one it replaces.", params("symbol, first difference"), "Bring the two signatures together; the message shows both declarations."},
	}
}

func manifestCodes() []Code {
	return []Code{
		{"MANIFEST/SYNTAX", "manifest is not JSON", "", params("detail"), "Correct the JSON at the place shown."},
		{"MANIFEST/SCHEMA", "manifest schema not known", "", params("schema found, schemas known"), "Use a corpus of a known schema, or a newer loomc."},
		{"MANIFEST/ABI", "manifest and kernel disagree", "Names, order, types or counts of parameters or bindings in the manifest differ from the kernel's.", params("export, what differs, manifest, kernel"), "Correct the manifest or the kernel; the message shows both lines."},
		{"MANIFEST/ACCESS", "binding access wrong", "A binding's access is not one of read, write, read_write, or differs from what the body does.", params("export, binding, manifest, derived"), "Write the derived access."},
		{"MANIFEST/ACCESS-COUNT", "binding access list incomplete", "binding_access has one entry per binding.", params("export, accesses, bindings"), "Complete the list."},
		{"MANIFEST/DIGEST", "file differs from its digest", "", params("path, digest in the manifest, digest of the file"), "Sync the corpus again or regenerate the manifest."},
		{"MANIFEST/DIGEST-FORMAT", "digest malformed", "", params("path, text"), "Write 64 hexadecimal digits of SHA-256."},
		{"MANIFEST/SIZE", "file size differs", "", params("path, size in the manifest, size of the file"), "Sync the corpus again."},
		{"MANIFEST/DUPLICATE-EXPORT", "export listed twice", "Two exports of one name must differ in target selector.", params("export"), "Rename one or give both a selector."},
		{"MANIFEST/DUPLICATE-FILE", "file listed twice", "", params("path"), "Remove one entry."},
		{"MANIFEST/DUPLICATE-KEY", "JSON key repeated", "", params("key"), "Keep one."},
		{"MANIFEST/DUPLICATE-ARGUMENT", "argument name repeated", "", params("export, argument"), "Give every argument a name of its own."},
		{"MANIFEST/MISSING-FIELD", "manifest field missing", "", params("field"), "Add it."},
		{"MANIFEST/UNKNOWN-FIELD", "manifest field not known", "", params("field"), "Remove or correct it."},
		{"MANIFEST/TYPE", "manifest value of the wrong type", "", params("field, found, expected"), "Correct the value."},
		{"MANIFEST/SYMBOL", "manifest symbol malformed or missing", "", params("export, symbol"), "Name the kernel's symbol."},
		{"MANIFEST/PATH", "manifest path malformed", "Paths are relative, use '/', and are clean.", params("path"), "Correct the path."},
		{"MANIFEST/PATH-ESCAPE", "manifest path leaves the corpus", "", params("path"), "Keep paths inside the corpus."},
		{"MANIFEST/FILE-ABSENT", "file of the manifest missing", "", params("path"), "Add the file or remove the entry."},
		{"MANIFEST/NOT-A-FILE", "path is not a file", "", params("path"), "Name a regular file."},
		{"MANIFEST/SOURCE-UNLISTED", "source not in files", "An export's source or library is missing from files[].", params("export, path"), "List the file."},
		{"MANIFEST/LINK-MODULE", "link module not declared", "", params("export, module"), "Declare it under link_modules."},
		{"MANIFEST/RECIPE-MODE", "compile mode not known", "", params("export, mode"), "Use direct or archive."},
		{"MANIFEST/NO-PRIMARY", "export without primary source", "", params("export"), "Name exactly one primary source."},
		{"MANIFEST/PRIMARY-COUNT", "more than one primary source", "", params("export, count"), "Name exactly one primary source."},
		{"MANIFEST/VARIANT-ABI", "variants of an export differ in ABI", "", params("export, difference"), "Give all variants the same parameters and bindings."},
	}
}

func corpusCodes() []Code {
	return []Code{
		{"CORPUS/READ", "corpus cannot be read", "", params("path, reason"), "Check path and permissions."},
		{"CORPUS/TOO-LARGE", "file larger than any kernel source", "", params("path, size, limit"), "Check that the path is a corpus file."},
		{"CORPUS/LFS-POINTER", "file is a Git LFS pointer", "", params("path"), "Fetch the contents with git lfs pull."},
		{"CORPUS/PARTIAL-CLONE", "object missing from a partial clone", "", params("path, object"), "Fetch the object: git fetch origin <sha>."},
		{"CORPUS/SUBMODULE", "path is a submodule", "", params("path"), "Initialise the submodule or point at its repository."},
		{"PIN/UNKNOWN", "commit not present", "The repository does not have the pinned commit.", params("sha, repository"), "Fetch it: git fetch origin <sha>; a shallow clone needs git fetch --unshallow."},
		{"PIN/REPOSITORY", "not the expected repository", "git found an enclosing repository, not the corpus's own.", params("path, top level"), "Run in the corpus's repository, or use a directory source."},
		{"PIN/AMBIGUOUS", "commit name ambiguous", "", params("name"), "Write more digits of the sha."},
		{"PIN/DIRTY", "pinned tree has local changes", "", params("path"), "Commit or stash the changes, or use a directory source."},
	}
}

func codegenCodes() []Code {
	return []Code{
		{"CODEGEN/UNSUPPORTED", "op has no HIP translation", "The closed kernel holds an op or type the HIP back end does not translate for this target.", params("op, type, target"), "Choose another implementation or target; the executor may still run it."},
		{"CODEGEN/DYNAMIC", "size not constant after specialisation", "A vector lane count, matrix shape or storage size did not become a constant.", params("value"), "Bind the config value that determines it."},
		{"CODEGEN/ABI", "parameter cannot be passed", "", params("parameter, type"), "Pass a scalar of 32 or 64 bits or a buffer."},
		{"CODEGEN/OUTPUT", "output cannot be written", "", params("path, reason"), "Check path and permissions."},
	}
}

func hipCodes() []Code {
	return []Code{
		{"COMPILE/FAILED", "compiler rejected the generated source", "", params("compiler, first message"), "This is a fault of loomc unless flags were passed; keep the source with --keep and report it."},
		{"COMPILE/MISSING", "no compiler found", "", params("places tried"), "Install clang 19 or ROCm, or pass --compiler; loomc doctor prints what was tried."},
		{"HIP/COMPILE", "compiler rejected the generated source", "", params("compiler, message"), "Keep the source and report it."},
		{"HIP/MISSING", "toolchain or runtime missing", "", params("what, places tried"), "Run loomc doctor."},
		{"HIP/WARNING", "compiler warning", "", params("message"), "Usually harmless; report it with the source."},
		{"HIP/ARCH", "code object for another processor", "", params("code object target, device"), "Compile for the device's processor."},
		{"HIP/LOAD", "code object cannot be loaded", "", params("reason"), "Run loomc doctor."},
		{"HIP/LAUNCH", "launch failed", "", params("reason"), "Check grid, workgroup size and arguments."},
	}
}

func execCodes() []Code {
	return []Code{
		{"EXEC/BOUNDS", "access outside a buffer", "The executor saw a load or store outside its binding or allocation.", params("op, lane, byte offset, length"), "Correct the index; the message shows the work item and the values that made it."},
		{"EXEC/RACE", "data race", "Two work items access one location, at least one writes, and no barrier of the right space orders them.", params("first op, second op, location"), "Add a barrier over the memory space of the location."},
		{"EXEC/UNINIT", "uninitialised value used", "A value read from storage nobody wrote reaches an output.", params("op, location"), "Initialise the storage first."},
		{"EXEC/ASSUME", "assume does not hold", "A promised predicate is false for a value the launch produced.", params("predicate, value, lane"), "Correct the assume, or the inputs that break it."},
		{"EXEC/DIVERGENT", "collective reached by part of its scope", "A barrier or reduction must be reached by all work items of its scope together.", params("op, items missing"), "Hoist the op out of the divergent branch."},
		{"EXEC/DETERMINISM", "result depends on what it must not", "Two runs that differ only in ignored inputs or scheduling gave different bits.", params("binding, offset"), "Find the read of unwritten or masked data."},
		{"EXEC/LIMIT", "execution too long", "", params("steps"), "Run a smaller case or raise the limit."},
		{"EXEC/UNSUPPORTED", "op not executable", "", params("op"), "Exclude the op from the case."},
		{"EXEC/EXPECT", "expectation failed", "A check.expect of the case does not hold.", params("op, first difference"), "The message shows the first differing element and both values."},
		{"EXEC/ARGUMENT", "argument does not fit", "", params("parameter, found, expected"), "Pass a value of the parameter's type."},
	}
}

func lintCodes() []Code {
	return []Code{
		{"LINT/UNCHECKED-ASSUME", "assumed value reaches an address unchecked", "index.assume is a promise, not a check: a wrong value becomes a wild access.", params("value, address"), "Guard the access, or derive the bound from the value's computation."},
		{"LINT/BARRIER-SPACE", "barrier orders another memory space", "Stores to one space are read by other work items after a barrier over another space.", params("store, barrier, load"), "Fence the space of the stores: a barrier over global, then one over workgroup."},
		{"LINT/CONFIG-PER-LAUNCH", "per-launch value in config", "Every new value causes a compilation.", params("symbol"), "Make it a launch or workload parameter."},
		{"LINT/DUPLICATE-KERNEL", "two exports with nearly the same text", "", params("export, other export"), "Share one implementation."},
		{"LINT/UNUSED", "definition never used", "", params("symbol"), "Remove it."},
		{"LINT/FORMAT", "file not in canonical form", "", params("path"), "Run loomc fmt -w."},
		{"LINT/GENERATION", "form of the older generation", "", params("construct"), "Run loomc fmt --to=new."},
		{"LINT/REPEATED-BOUND", "bound repeated in a body", "An assume repeats a config declaration's bound; relaxing one alone fails later.", params("declaration, assume"), "Change both together."},
	}
}

func usageCodes() []Code {
	return []Code{
		{"USAGE/FLAG", "flag not understood", "", params("flag"), "See --help."},
		{"USAGE/ARGUMENT", "argument missing or not understood", "", params("argument"), "See --help."},
		{"USAGE/NOT-FOUND", "file not found", "", params("path"), "Check the path."},
		{"INTERNAL/FAULT", "fault of loomc", "loomc met a state it should never be in.", params("detail"), "Report it with the input."},
	}
}
