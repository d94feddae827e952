package linker

import (
	"fmt"
	"strings"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// Text is a string of a manifest together with its place there.
type Text struct {
	Value string
	Span  diag.Span
}

// ExportRecord is what a manifest says of one export, as far as the kernel can
// confirm it.
type ExportRecord struct {
	Name, Symbol Text
	Workload     []ParamRecord
	Launch       []ParamRecord
	Bindings     []Text
	// Access holds one word per binding; nil leaves access unchecked.
	Access []Text
	// TargetSelector "" is the default variant and fits any kernel.
	TargetSelector Text
	// Places of the record and its lists, for findings about a list's length.
	Span, WorkloadSpan, LaunchSpan, BindingsSpan, AccessSpan diag.Span
}

// ParamRecord is one scalar parameter of a manifest.
type ParamRecord struct{ Name, Type Text }

// CheckABI compares a manifest's record with the kernel. Every difference is
// its own finding, the first of each list first; places are the manifest's
// line, with the kernel's as related.
func CheckABI(a *ABI, rec ExportRecord) diag.List {
	c := abiCheck{abi: a, rec: rec}
	if n := rec.Name.Value; n != "" && n != a.Export && n != a.Symbol {
		c.report(rec.Name.Span, "MANIFEST/ABI", a.Kernel.NameSpan, "kernel '@%s' is exported under this name", a.Symbol).
			message("manifest calls the export '%s', the kernel '%s'", n, a.Export).
			help("change the manifest's name to '%s', or the kernel's export(…)", a.Export)
	}
	c.scalars("workload parameter", "MANIFEST/ABI", a.Workload, rec.Workload, rec.WorkloadSpan)
	c.bindings()
	c.scalars("launch parameter", "MANIFEST/ABI", a.Launch, rec.Launch, rec.LaunchSpan)
	c.access()
	if sel := rec.TargetSelector; sel.Value != "" && a.TargetSelector != "" && !target.Compatible(a.TargetSelector, sel.Value) {
		c.report(sel.Span, "MANIFEST/ABI", a.Kernel.NameSpan, "the kernel's target is %s", a.TargetSelector).
			message("export '%s' is listed for %s, but kernel '@%s' is written for %s", rec.Name.Value, sel.Value, a.Symbol, a.TargetSelector).
			help("list it for %s, or give the kernel a target that covers %s", a.TargetSelector, sel.Value)
	}
	return c.ds
}

type abiCheck struct {
	abi *ABI
	rec ExportRecord
	ds  diag.List
}

// finding builds one diagnostic in the list.
type finding struct {
	c *abiCheck
	i int
}

func (c *abiCheck) report(at diag.Span, code string, kernel diag.Span, kernelSays string, args ...any) finding {
	if !at.Valid() {
		at = c.rec.Span
	}
	c.ds.Add(diag.Errorf(at, code, "").WithRelated(kernel, kernelSays, args...))
	return finding{c, len(c.ds) - 1}
}

func (f finding) message(format string, args ...any) finding {
	f.c.ds[f.i].Message = fmt.Sprintf(format, args...)
	return f
}

func (f finding) help(format string, args ...any) finding {
	f.c.ds[f.i].Help = fmt.Sprintf(format, args...)
	return f
}

// named is a list entry reduced to what both sides have.
type named struct {
	name string
	span diag.Span
}

// order compares the names of two lists. It returns false, after reporting, when
// they differ.
func (c *abiCheck) order(what, code string, kernel, manifest []named, list diag.Span) bool {
	same := len(kernel) == len(manifest)
	for i := 0; same && i < len(kernel); i++ {
		same = kernel[i].name == manifest[i].name
	}
	if same {
		return true
	}
	if !list.Valid() {
		list = c.rec.Span
	}
	export := c.rec.Name.Value
	if len(kernel) != len(manifest) {
		c.report(list, code, c.abi.Kernel.NameSpan, "kernel '@%s' has %s: %s", c.abi.Symbol, plural(len(kernel), what), nameList(kernel)).
			message("export '%s' has %s in the manifest, %d in the kernel", export, plural(len(manifest), what), len(kernel)).
			help("list exactly the kernel's %ss, in order: %s", what, nameList(kernel))
	}
	if i, j, ok := swapped(kernel, manifest); ok {
		c.report(manifest[i].span, code, kernel[i].span, "the kernel has '%s' here", kernel[i].name).
			message("export '%s': %ss %d and %d are swapped: the kernel has (%s, %s), the manifest (%s, %s)", export, what, i+1, j+1,
				kernel[i].name, kernel[j].name, manifest[i].name, manifest[j].name).
			help("swap them in the manifest: at run time parameters are known by position alone")
		return false
	}
	for i := 0; i < max(len(kernel), len(manifest)); i++ {
		switch {
		case i >= len(manifest):
			c.report(list, code, kernel[i].span, "the kernel has it here").
				message("export '%s': %s %d '%s' of the kernel is not in the manifest", export, what, i+1, kernel[i].name).
				help("add '%s' at position %d", kernel[i].name, i+1)
		case i >= len(kernel):
			c.report(manifest[i].span, code, c.abi.Kernel.NameSpan, "the kernel has only %d", len(kernel)).
				message("export '%s': %s %d '%s' of the manifest is not in the kernel", export, what, i+1, manifest[i].name).
				help("remove '%s' from the manifest", manifest[i].name)
		case kernel[i].name != manifest[i].name:
			c.report(manifest[i].span, code, kernel[i].span, "the kernel has '%s' here", kernel[i].name).
				message("export '%s': %s %d is '%s' in the manifest, '%s' in the kernel", export, what, i+1, manifest[i].name, kernel[i].name).
				help("write '%s' in the manifest, or rename the kernel's parameter", kernel[i].name)
		}
	}
	return false
}

// swapped finds the one pair of positions whose names are exchanged.
func swapped(a, b []named) (i, j int, ok bool) {
	if len(a) != len(b) {
		return 0, 0, false
	}
	var diff []int
	for k := range a {
		if a[k].name != b[k].name {
			diff = append(diff, k)
		}
	}
	if len(diff) != 2 {
		return 0, 0, false
	}
	i, j = diff[0], diff[1]
	return i, j, a[i].name == b[j].name && a[j].name == b[i].name
}

func (c *abiCheck) scalars(what, code string, have []ABIScalar, want []ParamRecord, list diag.Span) {
	ks, ms := make([]named, len(have)), make([]named, len(want))
	for i, s := range have {
		ks[i] = named{s.Name, s.Span}
	}
	for i, p := range want {
		ms[i] = named{p.Name.Value, p.Name.Span}
	}
	c.order(what, code, ks, ms, list)
	for i := 0; i < min(len(have), len(want)); i++ {
		if have[i].Name != want[i].Name.Value || want[i].Type.Value == "" || have[i].Type == want[i].Type.Value {
			continue
		}
		c.report(want[i].Type.Span, code, have[i].Span, "the kernel's '%%%s: %s'", have[i].Name, have[i].Type).
			message("export '%s': %s %d '%s' has type %s in the manifest, %s in the kernel", c.rec.Name.Value, what, i+1, have[i].Name, want[i].Type.Value, have[i].Type).
			help("write %s in the manifest", have[i].Type)
	}
}

func (c *abiCheck) bindings() {
	ks, ms := make([]named, len(c.abi.Bindings)), make([]named, len(c.rec.Bindings))
	for i, b := range c.abi.Bindings {
		ks[i] = named{b.Name, b.Span}
	}
	for i, b := range c.rec.Bindings {
		ms[i] = named{b.Value, b.Span}
	}
	c.order("binding", "MANIFEST/ABI", ks, ms, c.rec.BindingsSpan)
}

func (c *abiCheck) access() {
	if c.rec.Access == nil {
		return
	}
	if len(c.rec.Access) != len(c.rec.Bindings) {
		c.report(c.rec.AccessSpan, "MANIFEST/ACCESS", c.abi.Kernel.NameSpan, "the kernel's access is %s", c.accessList()).
			message("export '%s' lists %s for %s", c.rec.Name.Value, plural(len(c.rec.Access), "access word"), plural(len(c.rec.Bindings), "binding")).
			help("write one word per binding: %s", c.accessList())
		return
	}
	byName := map[string]ABIBinding{}
	for _, b := range c.abi.Bindings {
		byName[b.Name] = b
	}
	for i, w := range c.rec.Access {
		b, ok := byName[c.rec.Bindings[i].Value]
		if !ok {
			continue // reported with the names
		}
		if b.Access == kernel.None {
			// A binding the kernel never touches is harmless under any word.
			continue
		}
		if w.Value == b.Access.String() {
			continue
		}
		f := c.report(w.Span, "MANIFEST/ACCESS", b.Span, "the kernel's binding").
			message("export '%s': binding %d '%s' is '%s' in the manifest, but the kernel's access is %s", c.rec.Name.Value, i+1, b.Name, w.Value, b.Access).
			help("write \"%s\"", b.Access)
		if w.Value == "read_write" {
			// Promising too much costs synchronisation, not correctness.
			f.c.ds[f.i].Severity = diag.Warning
		}
		if b.ReadAt.Valid() && !strings.HasPrefix(w.Value, "read") {
			f.c.ds[f.i] = f.c.ds[f.i].WithRelated(b.ReadAt, "it is read here")
		}
		if b.WriteAt.Valid() && !strings.HasSuffix(w.Value, "write") {
			f.c.ds[f.i] = f.c.ds[f.i].WithRelated(b.WriteAt, "it is written here")
		}
	}
}

func (c *abiCheck) accessList() string {
	var out []string
	for _, b := range c.abi.Bindings {
		if b.Access == kernel.None {
			out = append(out, kernel.Read.String()) // a manifest has no word for unused
			continue
		}
		out = append(out, b.Access.String())
	}
	return strings.Join(out, ", ")
}

func nameList(ns []named) string {
	if len(ns) == 0 {
		return "none"
	}
	var out []string
	for _, n := range ns {
		out = append(out, n.name)
	}
	return strings.Join(out, ", ")
}
