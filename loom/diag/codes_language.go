package diag

// The codes of this file are about source text. Their numbers are those users
// of the language search for; the wording is loomc's own.

func parseCodes() []Code {
	return []Code{
		{"PARSE/001", "value used before any definition", "A body mentions an SSA name that no argument, earlier op or enclosing region defines.", params("value"), "Define the value above its use, or correct the name; the message suggests a near one."},
		{"PARSE/002", "value defined twice in one scope", "Two results or arguments of one scope have the same name. A nested region may reuse an outer name, the same scope may not.", params("value"), "Rename one of the two; the message shows both places."},
		{"PARSE/003", "token not allowed here", "The text does not continue as the form of the construct demands.", params("token found, token expected"), "Compare with the form of the op: loomc explain OP prints it."},
		{"PARSE/004", "malformed type", "A type's text cannot be read.", params("text"), "Write types as i32, vector<4xf32>, view<[%n]xf32, %layout>, encoding<schema> and so on."},
		{"PARSE/005", "string not closed", "A double quote has no partner on its line.", nil, "Close the string; a quote inside one is written \\\"."},
		{"PARSE/006", "unknown op", "No dialect known to loomc has an op of this name.", params("op"), "Correct the name; the message suggests a near one."},
		{"PARSE/007", "unknown type", "The word is not the name of a type.", params("type"), "Correct the name."},
		{"PARSE/008", "unknown encoding family", "A #name is neither a file-level alias nor a known family.", params("encoding"), "Correct the name or declare the alias above its use."},
		{"PARSE/009", "wrong number of result names", "The names left of '=' do not match the results the op produces.", params("op, names expected, names found"), "Name every result, and no more."},
		{"PARSE/010", "wrong number of operands", "The op takes another number of operands.", params("op, operands expected, operands found"), "Compare with the op's form: loomc explain OP."},
		{"PARSE/011", "malformed location", "A trailing loc(…) cannot be read.", params("detail"), "Write loc(\"file\":line:col), or drop it."},
		{"PARSE/012", "too many errors", "Reading stopped because the file has more faults than are worth listing.", params("error count"), "Fix the first ones and run again."},
		{"PARSE/013", "unknown predicate", "The word is not a predicate of either generation.", params("predicate"), "Use one of eq ne lt le gt ge range multiple_of power_of_two ult ule ugt uge not_nan not_inf finite, or the older mul pow2 min max."},
		{"PARSE/014", "bad file-level alias", "An alias is malformed or would hide a known family.", params("detail"), "Choose a name of its own for the alias."},
		{"PARSE/015", "bad integer", "The integer is malformed or does not fit 64 bits.", params("text"), "Write a decimal or 0x… integer that fits."},
		{"PARSE/016", "bad float", "The float is malformed.", params("text"), "Write digits on both sides of the point, an exponent, inf or nan."},
		{"PARSE/017", "word not in the enumeration", "An attribute takes one word of a fixed list.", params("enumeration, word found"), "Use one of the listed words."},
		{"PARSE/018", "flag not known", "A flag list in angle brackets holds a word the op does not know, for example an integer overflow flag on a float op.", params("context, word found"), "Remove the flag or use one the op accepts."},
		{"PARSE/019", "invalid UTF-8", "The file is not UTF-8 at this byte.", params("byte offset"), "Save the file as UTF-8; if it is binary, it is not a module."},
		{"PARSE/020", "dictionary key repeated", "An attribute dictionary gives one key twice.", params("key"), "Keep one of the two."},
		{"PARSE/021", "nesting too deep", "Regions, dictionaries or types are nested deeper than any real module needs.", params("limit"), "Flatten the construct."},
		{"PARSE/022", "signature dimension never bound", "A [%name] in a signature's type refers to no parameter of that signature.", params("value"), "Add the parameter or correct the name."},
		{"PARSE/023", "bad escape in a string", "Strings use JSON escapes.", params("detail"), "Use \\n \\t \\\" \\\\ \\/ \\b \\f \\r or \\uXXXX."},
		{"PARSE/024", "sigil without a name", "A %, @, #, ^ or ! stands alone.", params("sigil"), "Write the name directly after it."},
		{"PARSE/025", "character not in the alphabet", "Outside comments and strings only ASCII tokens are legal.", nil, "Remove the character."},
		{"PARSE/026", "angle bracket not closed", "A '<' has no matching '>'.", nil, "Close it."},
		{"PARSE/027", "operand dictionary key repeated", "A {key = %value : type} dictionary gives one key twice.", params("key"), "Keep one of the two."},
		{"PARSE/028", "SSA value among static encoding parameters", "Parameters in angle brackets are compile-time constants.", params("parameter"), "Move the parameter to the brace list: #family<…> {name = %value : type}."},
		{"PARSE/029", "encoding parameter repeated", "A static parameter is given twice.", params("parameter"), "Keep one of the two."},
		{"PARSE/030", "table row of another width", "Every row of scf.lookup has one value per result.", params("values found, values expected"), "Complete or shorten the row."},
		{"PARSE/031", "wrong number of predicate arguments", "Each predicate takes a fixed number of arguments.", params("predicate, arguments expected, arguments found"), "range takes three, not_nan and the like one, the relations two."},
		{"PARSE/032", "label not defined", "A branch names a block the region does not have.", params("label"), "Add the block or correct the label."},
		{"PARSE/033", "label defined twice", "Two blocks of one region have the same label.", params("label"), "Rename one."},
		{"PARSE/034", "malformed assembly region", "A low-level assembly body cannot be read.", params("detail"), "loomc carries such bodies verbatim; only their brackets must match."},
	}
}

func symbolCodes() []Code {
	return []Code{
		{"SYMBOL/001", "symbol number out of range", "Only damaged binary input can cause this.", params("number, count"), "Build the file again."},
		{"SYMBOL/002", "symbol not defined", "The file refers to a symbol it neither defines nor declares. A file declares everything it uses (func.decl, kernel.decl, target.decl, template.decl, config.decl); the linker then finds the definition.", params("symbol"), "Add the declaration, or correct the name; the message suggests a near one."},
		{"SYMBOL/003", "symbol of another kind", "The symbol exists but is not what this use needs, for example config.get of a function.", params("symbol, kind found, kind expected"), "Refer to a symbol of the expected kind; the message shows where this one is defined."},
		{"SYMBOL/004", "reference into another module", "Only damaged binary input can cause this.", params("module"), "Build the file again."},
		{"SYMBOL/005", "symbol defined twice", "Two definitions of one file have the same name.", params("symbol"), "Rename or remove one; the message shows both places."},
	}
}

func typeCodes() []Code {
	return []Code{
		{"TYPE/001", "types differ", "Two places that must have one type do not: operands of an arithmetic op, a call's argument and the parameter, a written type and the value's own, a config read and its declaration.", params("first place, its type, second place, its type"), "Convert one value, or correct the written type."},
		{"TYPE/002", "element types differ", "Two shaped or scalar places must have one element type, for example a view and what is loaded from it.", params("first place, its element, second place, its element"), "Use the view's element type and convert afterwards."},
		{"TYPE/003", "operand type not accepted", "The op does not work on operands of this type.", params("operand, type found, types accepted"), "Convert the operand or use the op of the right dialect (index.* for index, scalar.* for fixed widths, vector.* for vectors)."},
		{"TYPE/004", "result type not possible", "The op cannot produce a result of this type.", params("result, type found, types possible"), "Correct the result type."},
		{"TYPE/005", "attribute of the wrong kind", "A required attribute is missing, an attribute is of another kind, or a literal does not suit the type it is for: a float type takes 1.0, not 1; i1 takes true, false, 0 or 1.", params("attribute, kind found, kind expected"), "Write the literal in the form of the type."},
		{"TYPE/006", "fill value of another type", "The value that fills a shaped value must have its element type.", params("value type, element type"), "Convert the fill value."},
		{"TYPE/007", "constant does not suit the result", "A constant's literal cannot be a value of the result type.", params("literal type, result type"), "Correct the literal or the type."},
		{"TYPE/008", "block argument not the element type", "A region that runs per element takes elements.", params("argument, its type, element type"), "Give the argument the element type."},
		{"TYPE/009", "yielded type differs from the result", "A region's terminator hands over a value of another type than the op's result.", params("yielded type, expected type"), "Convert the value before the yield or correct the result type."},
		{"TYPE/010", "type out of bounds", "A type's parts exceed what can be represented, such as a negative extent.", params("place, type, reason"), "Correct the type."},
		{"TYPE/011", "codes do not fit", "A table needs more codes than the result lanes can hold.", params("result, type, thresholds, largest code"), "Use wider lanes or fewer thresholds."},
		{"TYPE/012", "poison reaches an effect", "An undefined value would be stored, returned or otherwise observed.", params("value, boundary, op"), "Replace the poison by a defined value before it is observed."},
		{"TYPE/013", "block argument of another type", "A region's entry argument must have the type of what enters it.", params("argument, its type, expected type"), "Correct the argument's type."},
		{"TYPE/014", "block argument type not accepted", "A block argument's type is not one the construct accepts.", params("argument, type found, types accepted"), "Correct the argument's type."},
		{"TYPE/015", "facts do not suit the type", "Facts at a boundary contradict the type.", params("op, pass, type"), "Correct the facts."},
		{"TYPE/016", "call result differs from the callee's", "After selection a call's results no longer match its callee.", params("op, pass, type found, candidate type"), "Correct the call's or the callee's result type."},
	}
}

func structureCodes() []Code {
	return []Code{
		{"STRUCTURE/001", "wrong number of operands", "The op or call has another number of operands than it takes.", params("op, operands found, operands expected"), "Add or remove operands; for a call the message shows the callee."},
		{"STRUCTURE/002", "wrong number of results", "The op or call names another number of results than it produces.", params("op, results found, results expected"), "Name every result."},
		{"STRUCTURE/003", "wrong number of attributes", "Only damaged binary input can cause this.", params("op, found, expected"), "Build the file again."},
		{"STRUCTURE/004", "region missing", "The op has another number of regions than its form demands.", params("op, regions found, regions expected"), "Add the region."},
		{"STRUCTURE/005", "block without terminator", "Every block ends in a terminator: func.return, kernel.return, scf.yield, a branch and so on.", params("op, region"), "End the block with the terminator the message names."},
		{"STRUCTURE/006", "region must have one block", "Structured regions hold straight-line code; labels belong into function bodies.", params("op, region, blocks"), "Use scf.if or move the branches out."},
		{"STRUCTURE/007", "wrong number of block arguments", "A region's entry takes another number of arguments.", params("arguments found, arguments expected"), "Match the arguments to the values that enter."},
		{"STRUCTURE/008", "wrong number of yielded values", "A region hands over another number of values than its op has results.", params("values yielded, results"), "Yield one value per result, in order."},
		{"STRUCTURE/009", "op kind unknown", "Only damaged binary input can cause this.", params("kind, op"), "Build the file again."},
		{"STRUCTURE/010", "enumeration value out of range", "An attribute holds no word of its enumeration.", params("attribute, value, words"), "Use one of the words."},
		{"STRUCTURE/011", "op not allowed at module level", "A file is a list of definitions; ordinary ops belong into bodies.", params("op"), "Move the op into a function or kernel."},
		{"STRUCTURE/012", "op after the terminator", "Nothing can follow the op that ends a block.", params("op"), "Remove the op or move it before the terminator; the message shows both."},
		{"STRUCTURE/013", "two counts must agree", "Two variable-length parts of an op must have the same length, for example carried values and loop results.", params("first part, its count, second part, its count"), "Complete the shorter part."},
		{"STRUCTURE/014", "attribute value not allowed", "An attribute's value breaks the op's rule: alignments are powers of two, permutations name each axis once, cache hints come in pairs, table keys rise, and so on.", params("attribute, value found, rule"), "Use a value that satisfies the rule."},
		{"STRUCTURE/015", "thresholds not in order", "Quantisation thresholds must not decrease.", params("operand, left position, right position"), "Sort the thresholds."},
		{"STRUCTURE/016", "contradicting traits", "An op cannot have both traits.", params("op, trait, other trait"), "Report this as a fault of the op table."},
		{"STRUCTURE/017", "pure function with effects", "A body promised to be pure reads or writes memory, or holds an op all lanes must reach together.", params("op, reads, writes, convergent ops"), "Drop 'pure', or move the effect out; the message points at the first one."},
		{"STRUCTURE/018", "wrong terminator", "The region ends in a terminator of another construct.", params("op, region, terminator expected, terminator found"), "Use the expected terminator."},
		{"STRUCTURE/019", "predicate list missing", "The op exists to promise predicates and has none.", params("attribute, count"), "Add [predicate, …]."},
		{"STRUCTURE/020", "predicate not known", "Only damaged binary input can cause this.", params("attribute, position, kind, kinds"), "Build the file again."},
		{"STRUCTURE/021", "predicate does not suit its arguments", "A predicate has the wrong number of arguments, or is about values of a type it is not defined for: range and the orders take integers and indices, ult and its kin fixed widths, not_nan and its kin floats.", params("attribute, position, predicate, arguments expected, arguments found"), "Use a predicate of the argument's domain."},
		{"STRUCTURE/022", "predicate argument malformed", "A predicate argument is neither a value nor a literal it can take.", params("attribute, predicate, argument"), "Use an SSA value or an integer literal; config constraints mention the declared value first and literals after it."},
		{"STRUCTURE/023", "branch target missing", "A branch has fewer targets than it needs.", params("op, position"), "Name the block."},
		{"STRUCTURE/024", "branch into another region", "A branch may only go to blocks of its own region.", params("op, position"), "Branch to a block of the same body."},
		{"STRUCTURE/025", "wrong number of branch arguments", "A branch passes one value per argument of its target.", params("op, position, values passed, arguments expected"), "Match the values to the target's arguments; the message shows the target."},
		{"STRUCTURE/026", "branch argument of another type", "A value passed to a block has another type than the block's argument.", params("op, position, argument, type passed, type expected"), "Convert the value or correct the argument."},
		{"STRUCTURE/027", "string attribute not allowed", "A string breaks the attribute's rule, such as being empty.", params("attribute, value, rule"), "Use a string that satisfies the rule."},
		{"STRUCTURE/028", "pass failed", "A pass pipeline reported failure.", params("pass, anchor, symbol, pipeline"), "See the diagnostics before this one."},
		{"STRUCTURE/029", "op in the wrong place", "The op only means something inside (or directly inside) a certain construct: item and group ids, reductions and votes inside a kernel, check.* inside check.case; or it may not stand where it does: a launch-config block has no effects.", params("op, relation, construct needed, construct found"), "Move the op; values of the kernel can be passed into functions as arguments."},
		{"STRUCTURE/030", "op in the wrong order", "The op must come before or after another one.", params("op, relation, other op"), "Reorder them."},
		{"STRUCTURE/031", "op in the wrong block", "The op must stand in a particular block.", params("op, block expected, block found"), "Move it."},
		{"STRUCTURE/032", "operand of the wrong origin", "The operand must come from a particular kind of definition.", params("op, operand, origin needed"), "Pass the value the op needs."},
		{"STRUCTURE/033", "operand of another owner", "The operand belongs to another construct.", params("op, operand, owner"), "Use a value of the same owner."},
		{"STRUCTURE/034", "pure call of an impure function", "A call marked pure, or standing where effects are not allowed, needs a callee declared pure.", params("callee, place"), "Declare the callee pure, or drop the mark."},
		{"STRUCTURE/035", "loop step not positive", "scf.for counts upward; a step of zero or below never ends.", params("op, pass"), "Use a positive step; promise it with index.assume [gt(%step, 0)] where it is not constant."},
		{"STRUCTURE/036", "tied results lost", "Results that share an operand's storage cannot be kept here.", params("op, pass"), "Pass the value explicitly."},
	}
}

func dominanceCodes() []Code {
	return []Code{
		{"DOMINANCE/001", "use not dominated by its definition", "On some way through the blocks the value is used before it is computed.", params("value"), "Compute the value in a block every such way passes, or hand it over as a block argument."},
		{"DOMINANCE/002", "use after the value was consumed", "A result tied to this value took over its storage.", params("value, consuming op"), "Use the result of the consuming op instead."},
		{"DOMINANCE/003", "value number invalid", "Only damaged binary input can cause this.", params("value, limit"), "Build the file again."},
		{"DOMINANCE/004", "tied result does not exist", "A tie names a result the op does not have.", params("result, op, results"), "Correct the tie."},
		{"DOMINANCE/005", "tied operand does not exist", "A tie names an operand the op does not have.", params("operand, op, operands"), "Correct the tie."},
		{"DOMINANCE/006", "result tied twice", "A result can share the storage of one operand only.", params("result, op"), "Remove one tie."},
		{"DOMINANCE/007", "operand tied twice", "An operand's storage can go to one result only.", params("operand, op"), "Remove one tie."},
		{"DOMINANCE/008", "tied operand ambiguous", "The tied value occurs more than once among the operands.", params("operand, op, value"), "Pass distinct values."},
		{"DOMINANCE/009", "wrong number of uses", "Tokens of asynchronous transfers are used exactly once, groups at least once.", params("value, uses, rule"), "Put every token into one kernel.async.group and wait for every group."},
		{"DOMINANCE/010", "wrong kind of user or producer", "A token or group comes from or goes to an op that does not handle it.", params("value, op, rule"), "Connect transfer, group and wait in this order."},
		{"DOMINANCE/011", "register part undefined", "A low-level value is read where part of it was never written.", params("function, op, operand, parts needed, parts defined"), "Write all parts first."},
		{"DOMINANCE/012", "resource used after release", "", params("phase, value, op"), "Keep the resource until its last use."},
		{"DOMINANCE/013", "resource not owned", "", params("phase, op, value, effect, state"), "Take ownership first."},
		{"DOMINANCE/014", "resource leaks", "", params("phase, value"), "Release it on every way out."},
		{"DOMINANCE/015", "resource states differ where ways join", "", params("phase, value, state, incoming state"), "Bring all ways to the same state."},
	}
}

func shapeCodes() []Code {
	return []Code{
		{"SHAPE/001", "ranks differ", "Two shaped places must have the same number of axes.", params("first place, its rank, second place, its rank"), "Correct the type with the wrong rank."},
		{"SHAPE/002", "shapes differ", "Two shaped places must have the same extents; [%n] equals [%m] only when both are the same value.", params("first place, second place"), "Correct one shape."},
		{"SHAPE/003", "tile shapes differ", "All tiles of the list must have one shape.", params("first type, position, other type"), "Correct the odd one."},
		{"SHAPE/004", "extents cannot be broadcast", "An axis stretches only from extent 1.", params("source axis, its extent, result axis, its extent"), "Make the source extent 1 or equal to the result's."},
		{"SHAPE/005", "tile result shape", "The result tile's shape does not follow from the inputs.", params("result type, input type"), "Correct the result type."},
		{"SHAPE/006", "axis must be static here", "A transformation needs a literal extent.", params("op, pass"), "Bind the configuration that determines the extent."},
		{"SHAPE/007", "too many lanes", "A vector is too long to be expanded.", params("op, pass, type"), "Split the vector."},
	}
}

func encodingCodes() []Code {
	return []Code{
		{"ENCODING/001", "encodings differ", "Two places must have the same layout or storage encoding.", params("first place, second place"), "Use the same encoding, or restate the view with view.refine."},
		{"ENCODING/002", "encoding must be kept", "A view op may not change the encoding.", params("op"), "Repeat the source's encoding in the result type."},
		{"ENCODING/003", "encoding value invalid", "Only damaged binary input can cause this.", params("place, value, count"), "Build the file again."},
		{"ENCODING/004", "encoding value not in scope", "A type refers to an encoding value that is not defined here.", params("place, value"), "Define the encoding before the type is used."},
		{"ENCODING/005", "not an encoding", "A type's encoding slot holds a value of another type.", params("place, value, type"), "Put a value of type encoding<layout> or encoding<storage> there."},
		{"ENCODING/006", "parameter given twice", "A parameter stands both in the angle brackets (static) and in the braces (dynamic).", params("parameter"), "Keep one of the two."},
		{"ENCODING/007", "parameter missing", "The family needs this parameter.", params("family, parameter"), "Add it; loomc explain #family lists the parameters."},
		{"ENCODING/008", "parameter not known", "The family has no such parameter, or not in this place.", params("family, parameter"), "Correct the name; the message suggests a near one."},
		{"ENCODING/009", "dynamic parameter of the wrong type", "A value given in the braces has a type the family does not accept.", params("family, parameter, type found, type expected"), "Pass a value of the expected type."},
		{"ENCODING/010", "static parameter of the wrong kind", "A parameter takes a number, a word or a string, and another was written.", params("family, parameter, kind found, kind expected"), "Write the literal in the expected form."},
		{"ENCODING/011", "parameter of the wrong role", "An encoding passed as parameter has another role, for example a schema where a layout belongs.", params("family, parameter, role expected"), "Pass an encoding of that role."},
		{"ENCODING/012", "result of the wrong role", "encoding.define must say the role of its family: encoding<layout>, <schema>, <storage> or <transform>.", params("family, type found, type expected"), "Correct the result type."},
		{"ENCODING/013", "parameter value not supported", "The value is not among those the parameter can take.", params("family, parameter, value, values supported"), "Use one of the supported values."},
		{"ENCODING/014", "parameters exclude each other", "Only one of the two parameters may be given.", params("family, parameter, other parameter"), "Remove one."},
		{"ENCODING/015", "auxiliary operand not known", "The brace list of a schema-driven op has a key no schema uses.", params("op, key"), "Correct the key: scale, minimum, zero_point, bias, codebook and so on."},
		{"ENCODING/016", "auxiliary operand missing", "The schema says that its codes need this operand.", params("op, key"), "Add {key = %value : type}."},
		{"ENCODING/017", "transform needs local data", "", params("op, pass"), "Keep the transformed axis within one vector."},
		{"ENCODING/018", "permutation not constant", "", params("op, pass"), "Use a constant permutation."},
		{"ENCODING/019", "permutation repeats a lane", "", params("op, pass"), "Name each lane once."},
		{"ENCODING/020", "permutation lane out of range", "", params("op, pass"), "Use lanes below the vector's length."},
	}
}

func subrangeCodes() []Code {
	return []Code{
		{"SUBRANGE/001", "wrong number of indices", "An access names one index per axis of the view or vector.", params("operand, indices, rank"), "Add or remove indices."},
		{"SUBRANGE/002", "axis does not exist", "An axis number is not below the rank.", params("axis, rank"), "Use an axis from 0 to rank − 1."},
		{"SUBRANGE/003", "wrong number of sizes", "A window names one size per axis.", params("operand, sizes, rank"), "Add or remove sizes."},
		{"SUBRANGE/004", "access outside the extent", "A literal index or window lies outside a literal extent.", params("axis, offset, size, offset + size, extent"), "Correct the index, or the extent in the type."},
		{"SUBRANGE/005", "vector access not proven inside", "Per axis, the footprint of a vector access could not be proven to lie inside the view.", params("op, view axis, vector axis, origin, proof, requirement"), "Add an index.assume with the bound you know, or guard the access with scf.if on index.cmp ult."},
		{"SUBRANGE/006", "vector access not proven inside the view", "The linear footprint of a vector access could not be proven to lie inside the view.", params("op, origin, proof, requirement"), "Add an index.assume with the bound you know, or use the masked form."},
	}
}

func loweringCodes() []Code {
	return []Code{
		{"LOWERING/043", "fact refinement did not settle", "Facts kept changing after the allowed number of rounds.", params("pass, rounds"), "Report the input; simplify the loop that carries the values."},
		{"LOWERING/SIZE", "kernel too large", "Inlining and unrolling made more operations than the limit.", params("kernel, operations, pass, limit"), "Reduce unroll factors, or raise the limit."},
		{"LOWERING/DIVERGENT", "collective operation in divergent flow", "A barrier, a workgroup reduction or a matrix operation must be reached by every work item of its group. A branch or trip count around it was computed for each of them and differs.", params("op, group, condition, two work items"), "Move the operation out of the branch, or make the condition the same for the whole group."},
		{"LOWERING/044", "mandatory inlining failed", "A template implementation or inline function must become part of its caller and cannot.", params("op, phase, callee, reason"), "The reason names the obstacle: recursion, a missing body, or more than one return."},
		{"LOWERING/045", "template selection failed", "No implementation of the family could be chosen for this apply.", params("op, phase, family, reason"), "The notes list every candidate with the predicate, type or target that rejected it. Reasons: no_provider, target_mismatch, all_rejected, missing_facts, ambiguous, materialization_blocked, family_rejected, exact_call_rejected."},
	}
}

func targetCodes() []Code {
	const p = "target, export, config, function, op"
	return []Code{
		{"TARGET/001", "op not available on the target", "The op has no implementation for the selected processor.", params(p), "Select another implementation for this target."},
		{"TARGET/002", "operand type not available on the target", "", params(p + ", operand, type found, type expected"), "Convert the operand."},
		{"TARGET/023", "workgroup size range not possible", "The kernel's promise about its workgroup size cannot hold on the target.", params("function, target, rule, minimum, maximum, limit"), "Reduce the workgroup size."},
		{"TARGET/024", "workgroup axis over the limit", "One axis of the workgroup is larger than the target allows.", params("function, target, axis, size, limit"), "Reduce that axis."},
		{"TARGET/025", "workgroup too large", "The product of the three axes exceeds what the target runs.", params("function, target, rule, size, minimum, maximum, limit"), "Reduce the workgroup size."},
		{"TARGET/026", "no target", "A kernel is compiled without any target: neither target(@t) nor the request says one.", params("function"), "Pass --target or add target(@t)."},
		{"TARGET/039", "matrix multiply not available", "The shape, element types, lanes or wave size of a vector.mma match no matrix instruction of the target.", params("op, shape, element types, target, lanes"), "Use a shape the target lists (loomc targets), or another wave size."},
		{"TARGET/050", "alignment not known", "An access needs a stronger alignment than is known.", params(p + ", type, alignment needed, alignment known"), "Promise it with buffer.assume.alignment, or an index.assume [multiple_of(…)]."},
		{"TARGET/051", "workgroup storage over the limit", "The workgroup buffers of the kernel together exceed the target's local memory.", params("function, target, bytes reserved, bytes available"), "Reduce or reuse buffers; the notes list each with its bytes."},
		{"TARGET/052", "two targets", "The kernel is written for one target and another was requested.", params("function, target written, target requested"), "Request the written target, or remove target(@t)."},
		{"TARGET/058", "topology promise excludes live work", "An assume about ids or sizes excludes work items the launch creates.", params(p), "Correct the assume."},
		{"TARGET/059", "assume contradicts a known range", "A promise about a value cannot hold: what is known about it excludes the promised range.", params(p + ", predicate, value, promised minimum, promised maximum, known minimum, known maximum"), "Correct the assume or the declaration it repeats; the message shows both."},
		{"TARGET/060", "assume contradicts a known integer", "", params(p + ", predicate, value"), "Correct the assume."},
		{"TARGET/061", "assume contradicts a known float", "", params(p + ", predicate, value"), "Correct the assume."},
		{"TARGET/062", "cluster size not possible", "", params("function, target, axis, size, limit"), "Reduce the cluster size."},
		{"TARGET/UNKNOWN", "target not known", "", params("name"), "Use a known name; loomc targets lists them."},
		{"TARGET/LIMIT", "target record exceeds the processor", "An attribute of a target record allows more than the processor has.", params("target, attribute, value, limit"), "Lower the value, or leave it out."},
		{"AMDGPU/001", "view element not storable", "The processor has no memory access for this element.", params(p + ", operand, type, storage needed"), "Store a wider type or pack the elements."},
		{"AMDGPU/003", "processor not known", "", params("processor"), "Use a known name; loomc targets lists them."},
		{"AMDGPU/006", "too many bindings", "", params("bindings, limit"), "Merge buffers."},
		{"AMDGPU/020", "address form not supported", "", params(p + ", access, memory space"), "Simplify the index computation."},
		{"AMDGPU/021", "no matrix instruction for these operands", "The processor has no matrix multiply of this shape, element types and wave size.", params(p + ", rule"), "Use a shape and types the target lists (loomc targets), or another wave size."},
		{"AMDGPU/026", "subgroup size not possible", "The target record asks for a subgroup size the processor does not run.", params("target, subgroup size, processor"), "gfx9 runs 64; gfx10, gfx11 and gfx12 run 32 or 64; gfx1250 runs 32."},
	}
}
