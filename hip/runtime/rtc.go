package runtime

import (
	"bytes"
	"fmt"
	goruntime "runtime"
	"unsafe"

	"github.com/loomc/loomc/hip"
)

// rtc calls hiprtc or NVRTC, whose functions differ in the prefix of their names
// and in what the result is called.
type rtc struct {
	prefix string

	version   func(major, minor *int32) int32
	create    func(p *handle, source, name string, headers int32, texts, names unsafe.Pointer) int32
	compile   func(p handle, options int32, list unsafe.Pointer) int32
	logSize   func(p handle, n *uintptr) int32
	log       func(p handle, b *byte) int32
	codeSize  func(p handle, n *uintptr) int32
	code      func(p handle, b *byte) int32
	destroy   func(p *handle) int32
	errorText func(code int32) string
}

func newRTC(kind Kind) (*rtc, []binding) {
	r := &rtc{prefix: "hiprtc"}
	code := "Code"
	if kind == CUDA {
		r.prefix, code = "nvrtc", "CUBIN"
	}
	return r, []binding{
		{r.prefix + "Version", &r.version, false},
		{r.prefix + "CreateProgram", &r.create, false},
		{r.prefix + "CompileProgram", &r.compile, false},
		{r.prefix + "GetProgramLogSize", &r.logSize, false},
		{r.prefix + "GetProgramLog", &r.log, false},
		{r.prefix + "Get" + code + "Size", &r.codeSize, false},
		{r.prefix + "Get" + code, &r.code, false},
		{r.prefix + "DestroyProgram", &r.destroy, false},
		{r.prefix + "GetErrorString", &r.errorText, false},
	}
}

// openRTC loads the run-time compiler for a kind of device.
func openRTC(o Options) (r *rtc, path string, tried []hip.Attempt, err error) {
	f, known := compilers[o.Kind]
	if !known {
		return nil, "", nil, fmt.Errorf("opening a run-time compiler: unknown kind %q", o.Kind)
	}
	r, bindings := newRTC(o.Kind)
	path, tried, err = f.open(o, bindings)
	if err != nil {
		return nil, "", tried, err
	}
	return r, path, tried, nil
}

func (r *rtc) err(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s%s: %s (%d)", r.prefix, call, r.errorText(code), code)
}

func (r *rtc) versionText() string {
	var major, minor int32
	if r.version(&major, &minor) != 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", major, minor)
}

// rtcCompileFailed is the code that both libraries give a source they refuse.
const rtcCompileFailed = 6

// build compiles one source. rejected is set when the source is at fault, and the
// log says why.
func (r *rtc) build(name string, source []byte, flags []string) (object []byte, log string, rejected bool, err error) {
	if bytes.IndexByte(source, 0) >= 0 {
		return nil, "", true, fmt.Errorf("the source holds a zero byte")
	}
	var p handle
	if err := r.err("CreateProgram", r.create(&p, string(source), name, 0, nil, nil)); err != nil {
		return nil, "", false, err
	}
	defer r.destroy(&p)
	list := make([]unsafe.Pointer, len(flags)+1)
	texts := make([][]byte, len(flags))
	for i, f := range flags {
		texts[i] = append([]byte(f), 0)
		list[i] = unsafe.Pointer(&texts[i][0])
	}
	code := r.compile(p, int32(len(flags)), unsafe.Pointer(&list[0]))
	goruntime.KeepAlive(list)
	goruntime.KeepAlive(texts)
	log = r.readLog(p)
	if err := r.err("CompileProgram", code); err != nil {
		return nil, log, code == rtcCompileFailed, err
	}
	var n uintptr
	if err := r.err("GetCodeSize", r.codeSize(p, &n)); err != nil {
		return nil, log, false, err
	}
	if n == 0 || n > maxCode {
		return nil, log, false, fmt.Errorf("%s announces an object of %d bytes", r.prefix, n)
	}
	object = make([]byte, n)
	if err := r.err("GetCode", r.code(p, &object[0])); err != nil {
		return nil, log, false, err
	}
	return object, log, false, nil
}

const (
	maxCode = 256 << 20
	maxLog  = 16 << 20
)

func (r *rtc) readLog(p handle) string {
	var n uintptr
	if r.logSize(p, &n) != 0 || n <= 1 || n > maxLog {
		return ""
	}
	b := make([]byte, n)
	if r.log(p, &b[0]) != 0 {
		return ""
	}
	return cString(b)
}
