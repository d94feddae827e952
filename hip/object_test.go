package hip

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/loomc/loomc/hip/internal/fixture"
)

func TestReadObject(t *testing.T) {
	o, err := ReadObject(fixture.Add().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := Object{
		Target: "gfx1151", CodeObjectVersion: 5,
		Kernels: []KernelInfo{{
			Name: "add_f32", Symbol: "add_f32.kd", KernargSize: 32, KernargAlign: 8,
			LDS: 512, VGPR: 6, SGPR: 10, WaveSize: 32, MaxFlatWorkgroupSize: 256, ReqdWorkgroupSize: [3]int{256, 1, 1},
			Args: []Arg{
				{Offset: 0, Size: 8, ValueKind: "global_buffer", AddressSpace: "global", Access: "read_only"},
				{Offset: 8, Size: 8, ValueKind: "global_buffer", AddressSpace: "global", Access: "read_only"},
				{Offset: 16, Size: 8, ValueKind: "global_buffer", AddressSpace: "global", Access: "write_only"},
				{Name: "n", TypeName: "uint", Offset: 24, Size: 4, ValueKind: "by_value"},
				{Offset: 28, Size: 4, ValueKind: "hidden_block_count_x"},
			},
		}},
	}
	if d := cmp.Diff(want, o); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if n := len(o.Kernels[0].ExplicitArgs()); n != 4 {
		t.Errorf("explicit arguments = %d, want 4: the hidden one is not the caller's", n)
	}
}

func TestReadObjectSortsKernels(t *testing.T) {
	s := fixture.Add()
	s.Note = fixture.Pack(fixture.Metadata(fixture.AddKernel("b"), fixture.AddKernel("a")))
	s.Symbols = []string{"a.kd", "b.kd"}
	o, err := ReadObject(s.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if o.Kernels[0].Name != "a" || o.Kernels[1].Name != "b" {
		t.Errorf("order %s, %s", o.Kernels[0].Name, o.Kernels[1].Name)
	}
	if _, ok := o.Kernel("b"); !ok {
		t.Error("kernel b not found by name")
	}
	if _, ok := o.Kernel("c"); ok {
		t.Error("kernel c found")
	}
}

func TestReadObjectRefuses(t *testing.T) {
	spec := func(f func(*fixture.Spec)) []byte {
		s := fixture.Add()
		f(&s)
		return s.Bytes()
	}
	kernel := func(key string, v any) []byte {
		return spec(func(s *fixture.Spec) {
			k := fixture.AddKernel("add_f32")
			k[key] = v
			s.Note = fixture.Pack(fixture.Metadata(k))
		})
	}
	arg := func(m map[string]any) []byte { return kernel(".args", []any{m}) }
	tests := map[string]struct {
		data []byte
		want string
	}{
		"empty":          {nil, "no ELF signature"},
		"bundle":         {[]byte("__CLANG_OFFLOAD_BUNDLE__...."), "offload bundle"},
		"packed bundle":  {[]byte("CCOB\x02"), "offload bundle"},
		"bitcode":        {[]byte("BC\xc0\xde"), "bitcode"},
		"short":          {[]byte("\x7fELF\x02\x01\x01"), "too short"},
		"32 bit":         {append([]byte("\x7fELF\x01\x01"), make([]byte, 64)...), "64-bit"},
		"host code":      {spec(func(s *fixture.Spec) { s.Machine = 62 }), "host code"},
		"other OS":       {spec(func(s *fixture.Spec) { s.OSABI = 0 }), "OS/ABI is 0"},
		"not linked":     {spec(func(s *fixture.Spec) { s.Type = 1 }), "not linked"},
		"version 2":      {spec(func(s *fixture.Spec) { s.ABIVersion = 0 }), "version 2 is not supported"},
		"no note":        {spec(func(s *fixture.Spec) { s.Note = nil }), "no AMDGPU metadata note"},
		"not a map":      {spec(func(s *fixture.Spec) { s.Note = fixture.Pack("x") }), "not a map"},
		"flags disagree": {spec(func(s *fixture.Spec) { s.Flags = 0x41 }), "e_flags says gfx1100 and the metadata says gfx1151"},
		"missing symbol": {spec(func(s *fixture.Spec) { s.Symbols = []string{"add_f32"} }), `"add_f32.kd", which the object does not define`},
		"kernel kind":    {spec(func(s *fixture.Spec) { s.Note = fixture.Pack(fixture.Metadata("x")) }), "kernel 0 is not a map"},
		"twice": {spec(func(s *fixture.Spec) {
			s.Note = fixture.Pack(fixture.Metadata(fixture.AddKernel("add_f32"), fixture.AddKernel("add_f32")))
		}), "twice"},
		"no target":       {spec(func(s *fixture.Spec) { s.Flags = 0xff; s.Note = fixture.Pack(map[string]any{}) }), "0xff"},
		"odd target":      {spec(func(s *fixture.Spec) { s.Note = fixture.Pack(map[string]any{"amdhsa.target": "sm_90"}) }), "not a target id"},
		"no name":         {kernel(".name", ""), ".name and .symbol are required"},
		"name kind":       {kernel(".name", 3), ".name is not a string"},
		"negative":        {kernel(".vgpr_count", -1), ".vgpr_count is not a size or count"},
		"huge":            {kernel(".kernarg_segment_size", 1<<40), "not a size or count"},
		"reqd length":     {kernel(".reqd_workgroup_size", []any{1}), "1 entries, want 3"},
		"reqd kind":       {kernel(".reqd_workgroup_size", []any{1, "a", 1}), "not a size"},
		"args kind":       {kernel(".args", "x"), ".args is not a list"},
		"arg kind":        {kernel(".args", []any{"x"}), "argument 0 is not a map"},
		"arg no kind":     {arg(map[string]any{".offset": 0, ".size": 8}), "required"},
		"arg outside":     {arg(map[string]any{".offset": 28, ".size": 8, ".value_kind": "by_value"}), "outside the argument block"},
		"dynamic stack":   {kernel(".uses_dynamic_stack", "x"), "not a truth value"},
		"overlap":         {kernel(".args", []any{map[string]any{".offset": 0, ".size": 8, ".value_kind": "by_value"}, map[string]any{".offset": 4, ".size": 8, ".value_kind": "by_value"}}), "overlap"},
		"truncated note":  {spec(func(s *fixture.Spec) { s.Note = s.Note[:len(s.Note)-9] }), "ends in the middle"},
		"bad kind":        {spec(func(s *fixture.Spec) { s.Note = []byte{0xc1} }), "unsupported kind"},
		"key kind":        {spec(func(s *fixture.Spec) { s.Note = []byte{0x81, 0x01, 0x01} }), "key that is not a string"},
		"key twice":       {spec(func(s *fixture.Spec) { s.Note = []byte{0x82, 0xa1, 'a', 1, 0xa1, 'a', 1} }), "twice"},
		"deep":            {spec(func(s *fixture.Spec) { s.Note = slices.Repeat([]byte{0x91}, 100) }), "nests deeper"},
		"array of 4 G":    {spec(func(s *fixture.Spec) { s.Note = []byte{0xdd, 0xff, 0xff, 0xff, 0xff} }), "ends in the middle"},
		"map of 4 G":      {spec(func(s *fixture.Spec) { s.Note = []byte{0xdf, 0xff, 0xff, 0xff, 0xff} }), "ends in the middle"},
		"string of 4 G":   {spec(func(s *fixture.Spec) { s.Note = []byte{0xdb, 0xff, 0xff, 0xff, 0xff} }), "ends in the middle"},
		"headers outside": {func() []byte { b := fixture.Add().Bytes(); le.PutUint64(b[32:], 1<<63); return b }(), "program header table"},
		"many headers":    {func() []byte { b := fixture.Add().Bytes(); le.PutUint16(b[56:], 0xffff); return b }(), "more than a code object has"},
		"segment outside": {func() []byte { b := fixture.Add().Bytes(); le.PutUint64(b[64+32:], 1<<62); return b }(), "segment 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadObject(tt.data)
			var oe *ObjectError
			if !errors.As(err, &oe) {
				t.Fatalf("error is %v, want an *ObjectError", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not contain %q", err, tt.want)
			}
		})
	}
}

// Every prefix of an object is an error and not a panic; the last ones may lack
// only padding.
func TestReadObjectTruncated(t *testing.T) {
	b := fixture.Add().Bytes()
	for n := range len(b) {
		if _, err := ReadObject(b[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were accepted", n, len(b))
		}
	}
}

func FuzzReadObject(f *testing.F) {
	f.Add(fixture.Add().Bytes())
	s := fixture.Add()
	s.Symbols = nil
	f.Add(s.Bytes())
	f.Add([]byte("CCOB"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ReadObject(data)
		if err != nil {
			return
		}
		if _, err := ParseTarget(o.Target); err != nil {
			t.Errorf("accepted an object for %q: %v", o.Target, err)
		}
		for _, k := range o.Kernels {
			for _, a := range k.Args {
				if a.Offset < 0 || a.Size <= 0 || a.Offset+a.Size > k.KernargSize {
					t.Errorf("accepted argument %+v in a block of %d bytes", a, k.KernargSize)
				}
			}
		}
	})
}

func TestCheckTarget(t *testing.T) {
	tests := []struct{ object, device, want string }{
		{"gfx1151", "gfx1151", ""},
		{"amdgcn-amd-amdhsa--gfx1151", "gfx1151", ""},
		{"gfx1100", "gfx1151", "built for gfx1100 and the device is gfx1151: another processor"},
		{"gfx11-generic", "gfx1151", ""},
		{"gfx11-generic", "gfx1030", "gfx11-generic covers"},
		{"gfx90a", "gfx90a:sramecc+:xnack-", ""},
		{"gfx90a:xnack+", "gfx90a:sramecc+:xnack-", "feature xnack"},
		{"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", ""},
		{"sm_90", "gfx1151", "not a target id"},
		{"gfx1151", "", "reading the device's target"},
		{"gfx90a:xnack", "gfx90a", "does not end in + or -"},
	}
	for _, tt := range tests {
		err := CheckTarget(tt.object, tt.device)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s on %s: %v", tt.object, tt.device, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s on %s: error %v, want %q", tt.object, tt.device, err, tt.want)
		}
	}
	var m *MismatchError
	if err := CheckTarget("gfx1100", "gfx1151"); !errors.As(err, &m) || m.Diagnostic().Help != "build again for gfx1151" {
		t.Errorf("mismatch help: %v", err)
	}
}
