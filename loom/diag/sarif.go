package diag

import (
	"io"
	"net/url"
	"strings"
)

// SARIF 2.1.0, the part code-scanning services read.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID    string     `json:"id"`
	Short sarifText  `json:"shortDescription"`
	Full  *sarifText `json:"fullDescription,omitempty"`
	Help  *sarifText `json:"help,omitempty"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
}

type sarifLocation struct {
	ID       int            `json:"id,omitempty"`
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int    `json:"startLine"`
	StartColumn int    `json:"startColumn"`
	EndLine     int    `json:"endLine"`
	EndColumn   int    `json:"endColumn"`
	ByteOffset  uint32 `json:"byteOffset"`
	ByteLength  uint32 `json:"byteLength"`
}

func sarifPlace(s Span) *sarifPhysical {
	p := placeOf(s)
	if p == nil {
		return nil
	}
	// A SARIF column counts Unicode code points here, our spans count bytes.
	col := func(line, bytes int) int {
		text := s.Src.Line(line)
		n := min(max(bytes-1, 0), len(text))
		return len([]rune(text[:n])) + 1
	}
	return &sarifPhysical{
		Artifact: sarifArtifact{sarifURI(p.File)},
		Region: sarifRegion{StartLine: p.Line, StartColumn: col(p.Line, p.Column), EndLine: p.EndLine, EndColumn: col(p.EndLine, p.EndColumn),
			ByteOffset: p.Offset, ByteLength: p.EndOffset - p.Offset},
	}
}

// sarifURI turns a file name into a relative or file URI.
func sarifURI(name string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	u := url.URL{Path: name}
	if strings.HasPrefix(name, "/") {
		u.Scheme = "file"
	}
	return u.String()
}

// WriteSARIF renders the list as a SARIF 2.1.0 log whose rules are the codes
// that occur. version is the version of the tool, "" to leave it out.
func WriteSARIF(w io.Writer, l List, version string) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "loomc", Version: version, Rules: []sarifRule{}}},
		ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, 0, len(l)),
	}
	rules := make(map[string]int)
	for _, d := range l {
		i, ok := rules[d.Code]
		if !ok {
			i = len(run.Tool.Driver.Rules)
			rules[d.Code] = i
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(d.Code))
		}
		text := Escape(d.Message)
		if d.Help != "" {
			text += "\n" + Escape(d.Help)
		}
		r := sarifResult{RuleID: d.Code, RuleIndex: i, Level: d.Severity.String(), Message: sarifText{text}}
		if p := sarifPlace(d.Span); p != nil {
			r.Locations = []sarifLocation{{Physical: p}}
		}
		for n, rel := range d.Related {
			r.Related = append(r.Related, sarifLocation{ID: n + 1, Physical: sarifPlace(rel.Span), Message: &sarifText{Escape(rel.Message)}})
		}
		run.Results = append(run.Results, r)
	}
	return encodeJSON(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifRuleOf(code string) sarifRule {
	c, ok := Lookup(code)
	if !ok {
		return sarifRule{ID: code, Short: sarifText{code}}
	}
	r := sarifRule{ID: code, Short: sarifText{c.Title}}
	if c.Doc != "" {
		r.Full = &sarifText{c.Doc}
	}
	if c.Fix != "" {
		r.Help = &sarifText{c.Fix}
	}
	return r
}
