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
		{"CONFIG/SYNTAX", "config binding malformed", "Bindings are key=value, or a JSON object of strings, numbers and booleans.", params("text"), "Write key=value."},
		{"CONFIG/CONSTRAINT", "config constraint not decidable", "A constraint's other arguments must be integer literals, and its type an integer or index.", params("symbol, constraint"), "Write literals in the where list of config.decl."},
		{"CONFIG/ASSUME", "config value breaks an assume", "The value satisfies its declaration, but a body that the link reaches promises more about it with index.assume.", params("symbol, value, promise"), "Bind a value that satisfies both, or relax the declaration and the assume together."},
		{"CONFIG/NOT-CONFIG", "not a config symbol", "A binding names a symbol of another kind.", params("key"), "Use the name of a config.decl."},
		{"CONFIG/FILE-SYNTAX", "config file malformed", "A config file is JSON with comments.", params("detail"), "Correct the text at the place shown."},
		{"CONFIG/FILE-TYPE", "config file value of the wrong type", "A config file is an object; its values are numbers, strings, booleans, or objects whose keys join with dots.", params("key, kind found"), "Write a number, a string or a boolean."},
		{"CONFIG/FILE-KEY", "config file key malformed", "", params("key, reason"), "Write the config symbol without '@', parts joined by dots."},
		{"CONFIG/FILE-DUPLICATE", "config file binds a key twice", "A dotted key and a nested one can mean the same symbol.", params("key"), "Keep one binding."},
	}
}

func linkCodes() []Code {
	return []Code{
		{"LINK/ROOT", "root not found", "No input defines or declares the requested root.", params("symbol"), "Correct the name; the message suggests a near one."},
		{"LINK/VARIANT", "no variant for the target", "Several exports share the name, each for targets of its own, and none of them is for the selected processor.", params("export, target, variants"), "Select a processor that one of them is for, or add a variant."},
		{"LINK/UNRESOLVED", "dependency not found", "A reachable declaration is satisfied by no input.", params("symbol, who needs it"), "Add the library file that defines it."},
		{"LINK/DUPLICATE", "symbol defined by two inputs", "Two definitions with global identity have one name.", params("symbol, first place, second place"), "Remove one input or make one definition private."},
		{"LINK/OPAQUE", "op loomc does not translate is reached", "The root reaches an op that loomc only carries verbatim.", params("op, path from the root"), "Exclude the implementation that uses it, for example by its target."},
		{"LINK/CYCLE", "recursion", "Functions or templates call each other in a ring.", params("symbols"), "Break the ring: kernels have no call stack."},
		{"LINK/TARGET", "targets do not agree", "", params("caller target, callee target"), "Use compatible targets."},
		{"LINK/MISMATCH", "declaration and definition disagree", "A declaration and the definition or declaration it is linked with differ in a count, a type, or a modifier.", params("symbol, field, both values"), "Bring the two together; the message shows the first difference and both places."},
		{"LINK/STRIPPED", "required symbol was stripped", "A stripping option removed a definition that a reachable body still needs.", params("symbol, who needs it"), "Keep it, or strip its users as well."},
		{"LINK/ECLIPSED", "private definition fills a declaration", "A declaration is filled by the first definition of its name in input order, even a private one; a public one comes later.", params("symbol, both places"), "Make the intended definition public and the other one differently named, or reorder the inputs."},
		{"LINK/CASE", "plan case not found", "", params("export, case"), "Use a plan case the export lists."},
		{"LINK/CANCELLED", "work stopped", "", params("reason"), "Run it again."},
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
		{"MANIFEST/RECIPE", "recipe is not what the kernel needs", "library_sources leaves out a file that the kernel reaches, or lists one that it does not. A missing implementation of a template family can change which one is chosen without any other error.", params("export, file, why it is needed"), "Write the list that loomc manifest generate writes."},
		{"MANIFEST/EXPORT-UNLISTED", "kernel without export record", "A file of the corpus defines a kernel that no export names, so no engine can ask for it.", params("kernel"), "Add the record; loomc manifest generate writes it."},
		{"MANIFEST/FILE-UNLISTED", "source file not in files", "", params("path"), "Add the record, or remove the file."},
		{"MANIFEST/STALE", "manifest out of date", "A field differs from what the sources call for.", params("export or file, field, manifest, sources"), "Write what loomc manifest generate writes."},
		{"MANIFEST/TARGET", "target selector not known", "An engine takes the record whose target_selector is the processor it runs on; one that is no processor is never taken.", params("export, selector"), "Write a processor that loomc targets lists, or leave the selector empty."},
		{"MANIFEST/CASE-NAME", "name of a plan case not usable", "Names are words joined by '/'. They become parts of file names and are given to --case, so that path elements such as '..', backslashes and control characters are refused.", params("case, reason"), "Rename the case."},
		{"MANIFEST/DUPLICATE-CASE", "two plan cases with one name", "--case selects by name.", params("case"), "Give each a name of its own."},
		{"MANIFEST/CASE-ROOT", "plan case about no export", "The root of a plan case is the name of an export, or '@' and the symbol of its kernel. A case about anything else is never compiled.", params("case, root"), "Correct the root; the message suggests a near one."},
		{"MANIFEST/CASE-VALUE", "number of a plan case not usable", "Workload values are whole numbers from 0 to 2^63-1; launch values are numbers of their parameter's type.", params("case, parameter, value, reason"), "Write a number that fits."},
		{"MANIFEST/CASE-PARAMETER", "plan case and kernel disagree", "The workload and launch values of a case are those of its kernel's parameters, by name: all of them and no others.", params("case, parameter"), "Add the missing value, or correct the name; the message suggests a near one."},
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
		{"CORPUS/NO-DIRECTORY", "corpus directory not found", "", params("path"), "Name the directory that holds the corpus."},
		{"CORPUS/NO-MANIFEST", "no corpus manifest", "The place holds no manifest.json of a known schema.", params("place"), "Name the corpus's own directory with --path."},
		{"CORPUS/AMBIGUOUS", "more than one corpus", "The place holds several corpora and none was chosen.", params("place, corpora"), "Choose one with --path."},
		{"CORPUS/PATH", "corpus path not usable", "A path is missing at the commit, is no directory, is a symbolic link, or leaves the repository.", params("path, commit"), "Name a directory of the repository at that commit."},
		{"CORPUS/OVERRIDE-UNUSED", "override replaces nothing", "A file of the override directory matches no file of the corpus.", params("path"), "Give it the path of the file it should replace."},
		{"CORPUS/CANCELED", "reading stopped", "", params("reason"), "Run it again."},
		{"PIN/UNKNOWN", "commit not present", "The repository has no object, branch or tag of this name.", params("revision, repository"), "Fetch it: git fetch origin <sha>."},
		{"PIN/SHALLOW", "commit cut off by a shallow clone", "The repository is a shallow clone that does not reach the commit.", params("revision, repository"), "Run git fetch --unshallow, or git fetch origin <sha>."},
		{"PIN/AMBIGUOUS", "commit name ambiguous", "", params("abbreviation, objects"), "Write more digits of the sha."},
		{"PIN/NOT-A-COMMIT", "object is not a commit", "The name is that of a file, a directory or something else.", params("revision, kind"), "Pin a commit, a branch or a tag."},
		{"PIN/INVALID", "pin malformed", "A pin is one revision: no range, no option, no white space.", params("text"), "Write the full sha of a commit."},
		{"PIN/MISSING", "no commit given", "A repository is given and no commit to read from it.", nil, "Add --pin <sha>."},
		{"PIN/NO-REPOSITORY", "not a git repository", "", params("path"), "Name a directory inside the repository, or use a directory source."},
		{"PIN/OUTER-REPOSITORY", "commit read from an enclosing repository", "The path is not tracked by the repository around it, as happens with an unpacked archive.", params("repository, path"), "Point at the corpus's own repository, or use a directory source."},
		{"PIN/DUBIOUS-OWNERSHIP", "repository owned by another user", "git refuses to read repositories of other users.", params("path"), "Add the path to git's safe.directory."},
		{"PIN/GIT-MISSING", "git not installed", "Reading a commit needs git.", nil, "Install git, or use a directory source."},
		{"PIN/GIT", "git failed", "", params("command, message"), "Run the command by hand to see more."},
	}
}

func codegenCodes() []Code {
	return []Code{
		{"CODEGEN/UNSUPPORTED", "op has no HIP translation", "The closed kernel holds an op or type the HIP back end does not translate for this target.", params("op, type, target"), "Choose another implementation or target; the executor may still run it."},
		{"CODEGEN/DYNAMIC", "size not constant after specialisation", "A vector lane count, matrix shape or storage size did not become a constant.", params("value"), "Bind the config value that determines it."},
		{"CODEGEN/ABI", "parameter cannot be passed", "", params("parameter, type"), "Pass a scalar of 32 or 64 bits or a buffer."},
		{"CODEGEN/STEM", "two kernels share a file name", "Code-object stems are unique across an engine; two kernels of the output have one.", params("stem"), "Build the two in separate outputs, or name one plan case per export with --case."},
		{"CODEGEN/OUTPUT", "output cannot be written", "", params("path, reason"), "Check path and permissions."},
		{"CODEGEN/INTERNAL", "fault of the code generator", "The generator met a kernel it should never be given.", params("detail"), "Report the kernel with its config."},
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
		{"HIP/FAILED", "step of the toolchain failed", "", params("reason"), "Run loomc doctor."},
		{"HIP/RUNTIME", "runtime call failed", "", params("call, error"), "Run loomc doctor; the message names the HIP error."},
		{"HIP/CRASH", "device process ended", "Device work runs in a child process. The vendor's library or a kernel ended it; the message says which signal and what it was doing.", params("signal or status, last step, processor of the object and of the device"), "Run the same launch with --device cpu --sanitize=all; when it is clean, look at the kernel log and the driver's version."},
		{"HIP/OBJECT", "code object differs from what was emitted", "The kernel, its arguments or their offsets in the compiled object are not those of the source.", params("kernel, difference"), "Report it with the compiler's version."},
		{"HIP/CACHE", "compile cache not usable", "The build went on without it.", params("reason"), "Check the cache directory and its permissions."},
		{"HIP/SPILL", "kernel spills registers", "Values that do not fit the register file live in scratch memory, which is slow.", params("kernel, registers, bytes"), "Reduce the tile or the unroll factor, or allow more registers per wave."},
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
		{"EXEC/LAUNCH", "launch not possible", "Grid, workgroup size or argument count do not fit the kernel.", params("kernel, what differs"), "Correct the launch."},
		{"EXEC/ASSERT", "assertion failed", "kernel.assert saw a false condition.", params("message, work item"), "The message shows the work item and the values that made the condition."},
		{"EXEC/SHAPE", "size not known to the executor", "An extent or lane count did not become a number.", params("op, value"), "Bind the config value that determines it."},
	}
}

func lintCodes() []Code {
	return []Code{
		{"LINT/ASSUME-ADDRESS", "promised value reaches an address unchecked", "index.assume is a promise, not a check. A value that was read from memory (a row number, a token id, the result of a search) is what some other program wrote; where it is wrong, the promise turns it into a wild access instead of an error. Reported when such a value is assumed to lie in bounds and becomes part of an address, and neither a branch around the access nor a select, minimum, remainder or mask before the assume compares it with anything.", params("value, read, access"), "Compare the value with its bounds and guard the access with scf.if, or clamp it before the assume."},
		{"LINT/BANK-CONFLICT", "lanes meet in a bank of workgroup memory", "Workgroup memory has 32 banks of 4 bytes and serves 128 bytes at a time. Lanes served together that want different words of one bank wait for each other. Reported when the addresses of a subgroup can be computed, as for a constant stride between lanes or a row pitch of a matrix tile, and two lanes meet at a constant stride, or four in any other pattern.", params("lanes, distance"), "Pad the pitch of the tile, or let neighbouring lanes take neighbouring words."},
		{"LINT/BARRIER-DIVERGENT", "collective operation in divergent flow", "Barriers and workgroup reductions must be reached by every work item of the workgroup, matrix operations and subgroup reductions by every lane of the subgroup. Under a condition, trip count or kernel.exit that differs inside that group some never arrive: a hang, or a result computed from stale registers. Operations that are about the active lanes (votes, active masks, broadcast.first) are not reported.", params("operation, condition, what makes it differ"), "Move the operation out of the branch, or make the condition the same for the whole group, for example with a vote."},
		{"LINT/BARRIER-SPACE", "barrier orders another memory space", "kernel.barrier orders the memory space it names and only that one. A store to global memory, a barrier over workgroup memory, then a load of the same buffer by another work item reads stale data on some runs: under preemption, on another processor, with another cache state. The same holds with the spaces exchanged. Loads by the lane that stored are not reported.", params("store, barrier, load"), "Fence the space of the stores as well: a barrier over global, then one over workgroup."},
		{"LINT/BOUND-CONTRADICTED", "code promises more than the config declares", "A config.decl says which values may be bound. An index.assume or a function's where that every run comes by, and that allows fewer, makes the others undefined behaviour: they pass every check of the declaration and then break the promise. With no common value nothing can be bound at all.", params("promise, declaration, values that break it"), "Narrow the declaration, or widen the promise after checking the code that relies on it."},
		{"LINT/BOUND-REPEATED", "config bound repeated in a body", "The declaration's constraint already holds wherever the config is read. A copy of it in an index.assume or a where adds nothing, and the day the declaration is relaxed alone the copy makes the new values undefined.", params("assume, declaration"), "Drop the copy: the declaration holds without it; or change both together."},
		{"LINT/CONFIG-UNUSED", "config declared and never read", "No statement of the checked sources reads the config. A value bound to it is accepted and does nothing.", params("symbol"), "Remove the declaration, or read the config where it was meant."},
		{"LINT/LAUNCH-CONFIG", "per-launch value in config", "Config is compiled in. A quantity that changes with every request (tokens, rows, the length of the KV cache) makes one compilation per value. Reported for a config that is named like such a quantity and whose value only sizes the grid, ends loops, guards edges or gives a view its outer extent: nothing gets faster because it is a constant.", params("symbol, use"), "Make it a workload or launch parameter."},
		{"LINT/MASKED-VALUE", "masked weight times unmasked value", "Attention gives a removed key the weight 0 and multiplies it with the key's value row all the same. What that row holds is stale: 0 times NaN or infinity is NaN, and the output of a request depends on what an earlier one left behind. Reported for a product of a weight that a mask sets to 0 (or whose exponent it lowers to minus infinity) and a value loaded from global memory that no condition depending on the same mask guards.", params("weight, mask, load"), "Make the value zero where the mask removes its key: guard the load with the mask or select 0."},
		{"LINT/NEAR-DUPLICATE", "two definitions with nearly the same text", "Statements are compared without names, symbols, comments and promises. A copy means that a fix has to be made twice, and sooner or later is made once. Reported from 24 statements and three quarters in common on, outside of files with test cases; the message shows where the two part.", params("definition, other definition, part in common"), "Move the common part into a template or function that both use."},
		{"LINT/PROVIDER-UNREACHABLE", "template implementation nothing can select", "The implementation's own conditions exclude each other, or another implementation of the family fits wherever this one does and has a higher priority, or the same one, which makes every such application ambiguous.", params("implementation, family, what stands in its way"), "Remove it, raise its priority above the more general one, or correct the conditions."},
		{"LINT/UNALIGNED-WIDE", "vector access not provably aligned", "A vector load or store is one full-speed instruction when its address is a multiple of its size, at most 16 bytes. When that cannot be proven, a back end may have to split it, and where it does not hold the access crosses cache lines or faults. Alignment follows from the binding or allocation, the view's offset, and index times stride along each axis; the message names the part that limits it. A buffer without a promise is reported once.", params("bytes, alignment proven, limiting part"), "Promise the base alignment with buffer.assume.alignment, demand the multiple in the config.decl or where of the stride, or access narrower vectors."},
		{"LINT/IGNORE-MALFORMED", "suppression not understood", "A suppression comment reads // loomc:ignore LINT/RULE reason. Without a reason, or with a rule that does not exist, it is not honoured.", params("what is missing"), "Name the rule and say why the finding does not matter here."},
		{"LINT/IGNORE-UNUSED", "suppression without effect", "The run looked at the line or definition that the comment is about and found nothing the comment excuses.", params("rule"), "Remove the comment, or move it directly above the line it is about."},
		{"LINT/UNUSED", "definition never used", "", params("symbol"), "Remove it."},
		{"LINT/FORMAT", "file not in canonical form", "", params("path"), "Run loomc fmt -w."},
		{"LINT/GENERATION", "form of the older generation", "", params("construct"), "Run loomc fmt --to=new."},
	}
}

func usageCodes() []Code {
	return []Code{
		{"USAGE/INPUT", "input cannot be read", "A file or directory given on the command line does not exist, is not readable, or holds no Loom file.", params("path, reason"), "Check the path and its permissions."},
		{"INTERNAL/FAULT", "fault of loomc", "loomc met a state it should never be in.", params("detail"), "Report it with the input."},
	}
}
