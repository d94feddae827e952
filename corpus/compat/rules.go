package compat

import (
	"fmt"
	"strings"
)

// Category says what a finding means for an engine that moves its pin.
type Category uint8

// Categories, from worst to mildest.
const (
	Breaking  Category = iota // an engine written for the old corpus stops working
	Narrowing                 // it works until it asks for what is no longer accepted
	Behaviour                 // it works, with other results, cost or requirements
	Additive                  // nothing that worked is affected
)

func (c Category) String() string {
	return [...]string{"BREAKING", "NARROWING", "BEHAVIOUR", "ADDITIVE"}[c]
}

// ParseCategory reads a category in any letter case.
func ParseCategory(word string) (Category, error) {
	for c := Breaking; c <= Additive; c++ {
		if strings.EqualFold(word, c.String()) {
			return c, nil
		}
	}
	return 0, fmt.Errorf("unknown category '%s': breaking, narrowing, behaviour or additive", word)
}

// Rule is one kind of difference. Its ID is stable: settings files and reports
// of other tools refer to it.
type Rule struct {
	ID       string
	Category Category
	Title    string // what happened, in a few words
	Doc      string // when it is reported and what it means for an engine
	Fix      string // what to do about it
}

// Rules returns every rule, in the order reports use.
func Rules() []Rule {
	out := make([]Rule, 0, len(rules))
	return append(out, rules...)
}

// LookupRule returns the rule called id, and whether it exists.
func LookupRule(id string) (Rule, bool) {
	for _, r := range rules {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// Rule identifiers.
const (
	ExportRemoved   = "export-removed"
	ExportRenamed   = "export-renamed"
	ExportUnusable  = "export-unusable"
	ExportRepaired  = "export-repaired"
	ExportAdded     = "export-added"
	TargetRemoved   = "target-removed"
	TargetAdded     = "target-added"
	TargetNarrowed  = "target-narrowed"
	TargetWidened   = "target-widened"
	SymbolChanged   = "symbol-changed"
	FamilyChanged   = "family-changed"
	BindingAdded    = "binding-added"
	BindingRemoved  = "binding-removed"
	BindingReorder  = "binding-reordered"
	BindingRenamed  = "binding-renamed"
	AccessWidened   = "binding-access-widened"
	AccessReduced   = "binding-access-reduced"
	AlignRaised     = "binding-alignment-raised"
	AlignLowered    = "binding-alignment-lowered"
	LaunchAdded     = "launch-parameter-added"
	LaunchRemoved   = "launch-parameter-removed"
	LaunchReorder   = "launch-parameter-reordered"
	LaunchRenamed   = "launch-parameter-renamed"
	LaunchRetyped   = "launch-parameter-retyped"
	LaunchNarrowed  = "launch-parameter-narrowed"
	LaunchWidened   = "launch-parameter-widened"
	WorkloadAdded   = "workload-parameter-added"
	WorkloadRemoved = "workload-parameter-removed"
	WorkloadReorder = "workload-parameter-reordered"
	WorkloadRenamed = "workload-parameter-renamed"
	WorkloadRetyped = "workload-parameter-retyped"
	ConfigAdded     = "config-added"
	ConfigOptional  = "config-added-with-default"
	ConfigRemoved   = "config-removed"
	ConfigRenamed   = "config-renamed"
	ConfigRetyped   = "config-type-changed"
	ConfigRequired  = "config-default-removed"
	ConfigDefault   = "config-default-changed"
	ConfigDefaulted = "config-default-added"
	ConfigNarrowed  = "config-narrowed"
	ConfigShifted   = "config-incomparable"
	ConfigWidened   = "config-widened"
	RelationAdded   = "relation-added"
	RelationRemoved = "relation-removed"
	CaseBroken      = "plan-case-broken"
	SizeChanged     = "workgroup-size-changed"
	LocalChanged    = "workgroup-memory-changed"
	WaveChanged     = "subgroup-size-changed"
	GeometryChanged = "launch-geometry-changed"
	BodyChanged     = "body-changed"
	AssumesChanged  = "assumes-changed"
	CopyDiverged    = "copy-diverged"
	RecipeChanged   = "recipe-changed"
	SourceMoved     = "source-moved"
	MotifRemoved    = "motif-removed"
	MotifChanged    = "motif-signature-changed"
	MotifAdded      = "motif-added"
)

var rules = []Rule{
	{ExportRemoved, Breaking, "export is gone",
		"The old corpus offers an export that the new one does not, under no name: nothing else there has its body.",
		"Keep the old file beside the corpus (--override), or stop asking for the export."},
	{ExportRenamed, Breaking, "export has another name",
		"An export is gone and a new one has the same body and launch geometry.",
		"Ask for the new name."},
	{ExportUnusable, Breaking, "export no longer links",
		"The old export links and keeps what its manifest promises, the new one does not. The first error is shown; `loomc link` shows all.",
		"Repair the new corpus, or keep the old files beside it (--override)."},
	{TargetRemoved, Breaking, "target variant is gone",
		"The export is still there, but not for this target selector.",
		"Use the default variant if there is one, or keep the old file (--override)."},
	{SymbolChanged, Breaking, "kernel symbol changed",
		"The kernel behind the export has another symbol. A run-time cache key and a code object's entry point contain it.",
		"Take the symbol from the manifest; rebuild code objects and caches."},
	{FamilyChanged, Breaking, "family changed",
		"The manifest groups the export under another family. Dispatch tables and command programs name kernels as family:name.",
		"Look the export up under the new family."},
	{BindingAdded, Breaking, "binding added",
		"The launch takes a buffer it did not take.",
		"Pass the buffer at the position shown."},
	{BindingRemoved, Breaking, "binding removed",
		"The launch no longer takes a buffer.",
		"Drop the buffer; the bindings after it move up."},
	{BindingReorder, Breaking, "bindings in another order",
		"The same buffers, at other positions. Nothing tells them apart at run time.",
		"Bind by name, or follow the new order."},
	{BindingRenamed, Breaking, "binding renamed",
		"The buffer at this position has another name. When the kernel's body is the same under both names only engines that bind by name are affected.",
		"Use the new name; check that it means the same buffer."},
	{AccessWidened, Breaking, "binding access widened",
		"The kernel reads or writes a buffer that it did not read or write. Barriers and read-only mappings that relied on the old access are wrong now.",
		"Order accesses to the buffer accordingly."},
	{LaunchAdded, Breaking, "launch parameter added", "The launch takes a scalar it did not take.", "Pass it at the position shown."},
	{LaunchRemoved, Breaking, "launch parameter removed", "The launch no longer takes a scalar.", "Drop it; the constants after it move up."},
	{LaunchReorder, Breaking, "launch parameters in another order", "The same scalars, at other positions of the constant block.", "Follow the new order."},
	{LaunchRenamed, Breaking, "launch parameter renamed", "The scalar at this position has another name.", "Use the new name; check that it means the same."},
	{LaunchRetyped, Breaking, "launch parameter has another type", "The scalar has another type, and with it another size or meaning in the constant block.", "Pass a value of the new type."},
	{WorkloadAdded, Breaking, "workload parameter added", "The launch geometry depends on a value it did not depend on.", "Pass it at the position shown."},
	{WorkloadRemoved, Breaking, "workload parameter removed", "The launch geometry no longer takes a value.", "Drop it."},
	{WorkloadReorder, Breaking, "workload parameters in another order", "The same values, at other positions.", "Follow the new order."},
	{WorkloadRenamed, Breaking, "workload parameter renamed", "The value at this position has another name.", "Use the new name; check that it means the same."},
	{WorkloadRetyped, Breaking, "workload parameter has another type", "The value has another type.", "Pass a value of the new type."},
	{ConfigAdded, Breaking, "required config added",
		"The export reads a config symbol that it did not read, and nothing gives it a value.",
		"Bind it."},
	{ConfigRemoved, Breaking, "config removed",
		"The export no longer reads a config symbol. A binding for it is silently ignored, or refused with --strict-config.",
		"Drop the binding; check what took over its meaning."},
	{ConfigRenamed, Breaking, "config renamed",
		"One config symbol went, another of the same type came, and with the one put for the other the kernel is the same.",
		"Bind the new name."},
	{ConfigRetyped, Breaking, "config has another type",
		"The config symbol's type changed; values are parsed by the new one.",
		"Write values of the new type."},
	{ConfigRequired, Breaking, "config lost its default",
		"A config symbol that had a value in the sources must be bound now.",
		"Bind it; the old value is shown."},
	{MotifRemoved, Breaking, "template family is gone",
		"A template family that kernels beside the corpus may apply or implement no longer exists. The exports that used it are named.",
		"Keep the motif's file beside the corpus (--override), or move to what replaced it."},
	{MotifChanged, Breaking, "template family has another signature",
		"Parameters or results of a template family changed. Exports of the corpus follow; kernels and implementations that an engine keeps beside it do not. The first differing parameter is named.",
		"Change every application and implementation outside the corpus."},
	{TargetNarrowed, Narrowing, "kernel is written for fewer targets",
		"The kernel's target record names a processor that covers less than the old one.",
		"Check the devices in use; `loomc check --target` tells."},
	{ConfigNarrowed, Narrowing, "config accepts fewer values",
		"Computed on the set of values that declaration, preconditions and assumes leave together, not on their text. The lost values are listed.",
		"Check the models in use against the new set (`loomc check`)."},
	{ConfigShifted, Narrowing, "config accepts other values",
		"Some values are accepted no longer, others are new.",
		"Check the models in use against the new set (`loomc check`)."},
	{LaunchNarrowed, Narrowing, "launch parameter accepts fewer values",
		"The launch where clause leaves fewer values of a scalar.",
		"Guard the launch, or check the shapes in use."},
	{RelationAdded, Narrowing, "new relation between values",
		"The export demands a relation between config values or launch parameters that it did not demand.",
		"Check that every caller keeps it."},
	{AlignRaised, Narrowing, "binding must be aligned more",
		"The kernel relies on a larger base alignment of a buffer.",
		"Align the buffer, or its offset in an arena, accordingly."},
	{CaseBroken, Narrowing, "plan case no longer builds",
		"A configuration that specialises in the old corpus is refused in the new one: a promise, a template choice or a device limit stands against it.",
		"The message is the first error; `loomc link` shows all."},
	{BodyChanged, Behaviour, "body changed: needs a numeric re-check",
		"The linked kernel computes by other operations. Names, comments, places and the order of definitions do not count. Results may differ in the last bits, or entirely.",
		"Compare results on the device, or run the export's test cases."},
	{AssumesChanged, Behaviour, "promises of the body changed",
		"The body computes the same, but assumes other facts about its inputs.",
		"Check that callers keep the new promises."},
	{CopyDiverged, Behaviour, "copies of a kernel diverged",
		"Two exports had the same body and only one of them changed: a fix may have reached one copy.",
		"Check whether the other copy needs the change."},
	{ConfigDefault, Behaviour, "config default changed",
		"A config symbol that need not be bound has another value.",
		"Bind the old value to keep it."},
	{SizeChanged, Behaviour, "workgroup size changed", "The same configuration is launched with other workgroups.", "Engines that state the size themselves must follow."},
	{LocalChanged, Behaviour, "workgroup memory changed", "The same configuration reserves another amount of workgroup memory.", "Check occupancy, and engines that state the amount themselves."},
	{WaveChanged, Behaviour, "subgroup size changed", "The kernel is compiled for another number of lanes per subgroup.", "Build for the new size; flags and launch code name it."},
	{GeometryChanged, Behaviour, "launch geometry changed",
		"The launch-config block computes by other operations. Engines that evaluate it are not affected; engines that repeat it in their own code must follow.",
		"Compare the engine's launch function with the new block."},
	{RecipeChanged, Behaviour, "compile recipe changed", "Another mode, link module, or other files take part in the compilation.", "Engines that list the files themselves must follow."},
	{SourceMoved, Behaviour, "export moved to another file", "The kernel is defined in another file. Overrides by path no longer apply to it.", "Move overrides along."},
	{ExportAdded, Additive, "new export", "The new corpus offers an export that the old one did not.", ""},
	{ExportRepaired, Additive, "export links again", "The old export did not link; the new one does.", ""},
	{TargetAdded, Additive, "new target variant", "An export got a variant for one more target.", ""},
	{TargetWidened, Additive, "kernel is written for more targets", "The kernel's target record covers more processors.", ""},
	{AccessReduced, Additive, "binding access reduced", "The kernel no longer reads or writes a buffer that it read or wrote.", ""},
	{AlignLowered, Additive, "binding may be aligned less", "The kernel relies on a smaller base alignment.", ""},
	{LaunchWidened, Additive, "launch parameter accepts more values", "The launch where clause leaves more values of a scalar.", ""},
	{ConfigOptional, Additive, "config added, with a default", "The export reads a config symbol that it did not read; the sources give it a value.", ""},
	{ConfigDefaulted, Additive, "config got a default", "A config symbol that had to be bound has a value in the sources.", ""},
	{ConfigWidened, Additive, "config accepts more values", "Every value that was accepted still is, others are new.", ""},
	{RelationRemoved, Additive, "relation between values dropped", "The export no longer demands a relation between values.", ""},
	{MotifAdded, Additive, "new template family", "The new corpus declares a template family that the old one did not.", ""},
}
