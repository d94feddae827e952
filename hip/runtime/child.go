package runtime

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loomc/loomc/hip"
)

// RunChild is the child's side of a hip.Child: it reads a request from in and
// answers to out, or, when the parent opened a connection, serves it until the
// parent closes it. A program calls it with its standard input and output from the
// hidden command that hip.Child.Command leads to, and exits.
func RunChild(in io.Reader, out io.Writer) error {
	// The request is one line; what follows it are the messages of a connection.
	lines := bufio.NewReaderSize(in, 1<<16)
	line, err := lines.ReadBytes('\n')
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return fmt.Errorf("reading the request: %w", err)
	}
	var r hip.ChildRequest
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	if r.Op == "serve" {
		if r.Answers != 0 {
			f := os.NewFile(uintptr(r.Answers), "answers")
			defer f.Close()
			out = f
		}
		return serve(r, lines, out)
	}
	a := answer(r)
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	// On a line of its own, whatever a library printed before it.
	if _, err := fmt.Fprintf(out, "\n%s%s\n", hip.ChildMark, b); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

func answer(r hip.ChildRequest) hip.ChildAnswer {
	o := Options{Kind: Kind(r.Kind), Library: r.Library}
	if o.Kind == "" {
		o.Kind = HIP
	}
	switch r.Op {
	case "probe":
		p, err := probe(o, r.RTC)
		if err != nil {
			return hip.ChildAnswer{Error: err.Error()}
		}
		return hip.ChildAnswer{Probe: &p}
	case "compile":
		o.Library = r.RTC
		c, _, _, err := openRTC(o)
		if err != nil {
			var m *hip.MissingError
			errors.As(err, &m)
			return hip.ChildAnswer{Error: err.Error(), Missing: m}
		}
		object, log, rejected, err := c.build(r.Name, r.Source, r.Flags)
		a := hip.ChildAnswer{Object: object, Log: log, Rejected: rejected}
		if err != nil {
			a.Error = err.Error()
		}
		return a
	default:
		return hip.ChildAnswer{Error: fmt.Sprintf("unknown request %q", r.Op)}
	}
}

// probe opens both libraries of a kind. A kind without one of them is not an error.
func probe(o Options, compiler string) (hip.Probe, error) {
	p := hip.Probe{Kind: string(o.Kind), Install: runtimes[o.Kind].install, RTCInstall: compilers[o.Kind].install}
	rtcOptions := o
	rtcOptions.Library = compiler
	c, path, tried, err := openRTC(rtcOptions)
	p.RTCTried = tried
	if err == nil {
		p.RTC, p.RTCVersion, p.RTCFiles = path, c.versionText(), mapped(path)
	} else if m := (*hip.MissingError)(nil); !errors.As(err, &m) {
		return hip.Probe{}, err
	}
	r, err := Open(o)
	if m := (*hip.MissingError)(nil); errors.As(err, &m) {
		p.Tried = m.Tried
		return p, nil
	}
	if err != nil {
		return hip.Probe{}, err
	}
	defer r.Close()
	p.Library, p.Version, p.Tried = r.Library(), r.Version(), r.Tried()
	p.Override = r.Override()
	for _, d := range r.Devices() {
		p.Devices = append(p.Devices, hip.ProbeDevice(d))
	}
	if err := r.NoDevice(); err != nil {
		p.NoDevice = err.Error()
		var e *Error
		if errors.As(err, &e) {
			p.Hint = e.Hint
		}
	}
	return p, nil
}

// compilerFiles are the libraries that decide what a run-time compiler writes.
var compilerFiles = []string{"libhiprtc", "libamd_comgr", "libamdhip64", "libLLVM", "libclang", "libnvrtc"}

// mapped returns the files that loading the library brought into this process, as
// far as the system tells, so that the parent can digest them.
func mapped(path string) []string {
	var out []string
	if b, err := os.ReadFile("/proc/self/maps"); err == nil {
		for line := range strings.Lines(string(b)) {
			i := strings.IndexByte(line, '/')
			if i < 0 {
				continue
			}
			file := strings.TrimRight(line[i:], "\n")
			base := filepath.Base(file)
			if slices.ContainsFunc(compilerFiles, func(p string) bool { return strings.HasPrefix(base, p) }) && !slices.Contains(out, file) {
				out = append(out, file)
			}
		}
	}
	if len(out) == 0 && filepath.IsAbs(path) {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}
