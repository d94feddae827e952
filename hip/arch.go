package hip

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// machines maps the EF_AMDGPU_MACH field of e_flags to the processor name. The
// numbers are those of LLVM's AMDGPU usage document.
var machines = map[uint32]string{
	0x020: "gfx600", 0x021: "gfx601", 0x03a: "gfx602",
	0x022: "gfx700", 0x023: "gfx701", 0x024: "gfx702", 0x025: "gfx703", 0x026: "gfx704", 0x03b: "gfx705",
	0x028: "gfx801", 0x029: "gfx802", 0x02a: "gfx803", 0x03c: "gfx805", 0x02b: "gfx810",
	0x02c: "gfx900", 0x02d: "gfx902", 0x02e: "gfx904", 0x02f: "gfx906", 0x030: "gfx908", 0x031: "gfx909",
	0x032: "gfx90c", 0x03f: "gfx90a", 0x040: "gfx940", 0x04b: "gfx941", 0x04c: "gfx942", 0x04f: "gfx950",
	0x033: "gfx1010", 0x034: "gfx1011", 0x035: "gfx1012", 0x042: "gfx1013",
	0x036: "gfx1030", 0x037: "gfx1031", 0x038: "gfx1032", 0x039: "gfx1033", 0x03e: "gfx1034", 0x03d: "gfx1035", 0x045: "gfx1036",
	0x041: "gfx1100", 0x046: "gfx1101", 0x047: "gfx1102", 0x044: "gfx1103",
	0x043: "gfx1150", 0x04a: "gfx1151", 0x055: "gfx1152", 0x058: "gfx1153",
	0x048: "gfx1200", 0x04e: "gfx1201", 0x049: "gfx1250",
	0x051: "gfx9-generic", 0x05f: "gfx9-4-generic", 0x052: "gfx10-1-generic", 0x053: "gfx10-3-generic",
	0x054: "gfx11-generic", 0x059: "gfx12-generic",
}

// generics lists the processors that run code built for a generic target.
var generics = map[string][]string{
	"gfx9-generic":    {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"},
	"gfx9-4-generic":  {"gfx940", "gfx941", "gfx942", "gfx950"},
	"gfx10-1-generic": {"gfx1010", "gfx1011", "gfx1012", "gfx1013"},
	"gfx10-3-generic": {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"},
	"gfx11-generic":   {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"},
	"gfx12-generic":   {"gfx1200", "gfx1201"},
}

// Target is a target id taken apart: a processor and the feature settings that
// follow it, "gfx90a:sramecc+:xnack-".
type Target struct {
	Processor string
	Features  map[string]bool // sramecc, xnack; absent means "any"
}

// ParseTarget reads a target id, with or without the "amdgcn-amd-amdhsa--" that
// code-object metadata puts in front.
func ParseTarget(s string) (Target, error) {
	if i := strings.LastIndex(s, "--"); i >= 0 {
		s = s[i+2:]
	}
	parts := strings.Split(s, ":")
	t := Target{Processor: parts[0]}
	rest, ok := strings.CutPrefix(t.Processor, "gfx")
	if !ok || rest == "" || strings.ContainsFunc(rest, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		return Target{}, fmt.Errorf("%q is not a target id: want a processor such as gfx1151, optionally followed by features such as :xnack-", s)
	}
	for _, f := range parts[1:] {
		if len(f) < 2 || (f[len(f)-1] != '+' && f[len(f)-1] != '-') {
			return Target{}, fmt.Errorf("feature %q of target id %q does not end in + or -", f, s)
		}
		if t.Features == nil {
			t.Features = map[string]bool{}
		}
		t.Features[f[:len(f)-1]] = f[len(f)-1] == '+'
	}
	return t, nil
}

// String returns the canonical spelling, features sorted by name.
func (t Target) String() string {
	names := make([]string, 0, len(t.Features))
	for n := range t.Features {
		names = append(names, n)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(t.Processor)
	for _, n := range names {
		sign := byte('-')
		if t.Features[n] {
			sign = '+'
		}
		b.WriteByte(':')
		b.WriteString(n)
		b.WriteByte(sign)
	}
	return b.String()
}

// MismatchError says that a code object was built for another device.
type MismatchError struct {
	Object string // target id of the object
	Device string // target id of the device
	Reason string // which part of the two does not fit
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("code object is built for %s and the device is %s: %s", e.Object, e.Device, e.Reason)
}

// Diagnostic returns the error with what to do about it.
func (e *MismatchError) Diagnostic() diag.Diagnostic {
	return diag.Errorf(diag.Span{}, "HIP/ARCH", "%s", e.Error()).WithHelp("build again for %s", e.Device)
}

// CheckTarget reports whether a code object built for object may be loaded on
// device (both target ids; gcnArchName for the device). Callers check before they
// load: the runtime may crash instead of refusing. The error is a *MismatchError
// when both ids are readable and do not fit.
func CheckTarget(object, device string) error {
	o, err := ParseTarget(object)
	if err != nil {
		return fmt.Errorf("reading the code object's target: %w", err)
	}
	d, err := ParseTarget(device)
	if err != nil {
		return fmt.Errorf("reading the device's target: %w", err)
	}
	if o.Processor != d.Processor && !slices.Contains(generics[o.Processor], d.Processor) {
		reason := "another processor"
		if g, ok := generics[o.Processor]; ok {
			reason = fmt.Sprintf("%s covers %s", o.Processor, strings.Join(g, ", "))
		}
		return &MismatchError{Object: o.String(), Device: d.String(), Reason: reason}
	}
	for _, name := range []string{"sramecc", "xnack"} {
		want, set := o.Features[name]
		if !set {
			continue
		}
		if have, known := d.Features[name]; !known || have != want {
			return &MismatchError{Object: o.String(), Device: d.String(), Reason: "feature " + name + " is set differently"}
		}
	}
	return nil
}
