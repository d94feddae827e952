package corpustest

import (
	"regexp"
	"strconv"
	"strings"
)

// Mode is what a case asks for.
type Mode string

// The modes this package runs; cases of other modes are skipped.
const (
	RoundTrip Mode = "roundtrip"
	Verify    Mode = "verify"
)

// Case is one case of a corpus file.
type Case struct {
	File     string
	Line     int // 1-based line of the file at which Input starts
	Mode     Mode
	Input    string // text before "// ----", own lines
	Expected string // text after it
	HasOut   bool   // there is an expected section
	Errors   []Expectation
	Requires []string
}

// Expectation is an announced diagnostic: its line within the case and its
// code, "" for any code, "DOMAIN" for any of a domain.
type Expectation struct {
	Line int
	Code string
}

var announced = regexp.MustCompile(`^\s*// (ERROR|WARNING|REMARK)@([-+][0-9]+):?\s*([A-Z0-9]+(?:/[0-9A-Z]+)?)?`)

// Split divides the text of a corpus file into cases.
func Split(file, text string) []Case {
	var out []Case
	lines := strings.Split(text, "\n")
	fileMode := Mode("")
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && !separator(lines[end], "====") {
			end++
		}
		c := readCase(file, lines[start:end], start, &fileMode)
		if strings.TrimSpace(stripComments(c.Input)) != "" {
			out = append(out, c)
		}
		start = end + 1
	}
	return out
}

func separator(line, mark string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
	return ok && strings.TrimSpace(rest) == mark
}

func readCase(file string, lines []string, at int, fileMode *Mode) Case {
	c := Case{File: file, Line: at + 1, Mode: *fileMode}
	split := len(lines)
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if separator(l, "----") {
			split = i
			c.HasOut = true
			break
		}
		if rest, ok := strings.CutPrefix(t, "// RUN:"); ok {
			fields := strings.Fields(rest)
			if len(fields) > 0 {
				c.Mode = Mode(fields[0])
				if at == 0 {
					*fileMode = c.Mode
				}
			}
		}
		if rest, ok := strings.CutPrefix(t, "// REQUIRES:"); ok {
			c.Requires = append(c.Requires, strings.Fields(rest)...)
		}
		if m := announced.FindStringSubmatch(l); m != nil && m[1] == "ERROR" {
			if n, err := strconv.Atoi(m[2]); err == nil {
				c.Errors = append(c.Errors, Expectation{Line: i + 1 + n, Code: m[3]})
			}
		}
	}
	c.Input = strings.Join(lines[:split], "\n") + "\n"
	if c.HasOut {
		c.Expected = strings.Join(lines[split+1:], "\n") + "\n"
	}
	return c
}

// stripComments blanks lines that hold only a comment: they carry the corpus's
// own directives, and other implementations do not keep comments.
func stripComments(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "//") {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}
