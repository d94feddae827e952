package compat

import (
	_ "embed"
	"encoding/json"
	"io"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Schema names the form WriteJSON produces. A change that a reader would notice
// gets a new number.
const Schema = "loomc-diff-v1"

// SchemaJSON is the JSON Schema of that form.
//
//go:embed diff-v1.schema.json
var SchemaJSON []byte

type jsonReport struct {
	Schema    string         `json:"schema"`
	Old       jsonCorpus     `json:"old"`
	New       jsonCorpus     `json:"new"`
	Summary   map[string]int `json:"summary"`
	Unchanged int            `json:"unchanged"`
	Files     FileChanges    `json:"files"`
	Findings  []jsonFinding  `json:"findings"`
}

type jsonCorpus struct {
	Name    string `json:"name"`
	Exports int    `json:"exports"`
	Pins
}

type jsonFinding struct {
	Rule     string      `json:"rule"`
	Category string      `json:"category"`
	Export   string      `json:"export,omitempty"`
	Target   string      `json:"target,omitempty"`
	Subject  string      `json:"subject,omitempty"`
	Message  string      `json:"message"`
	Detail   []string    `json:"detail,omitempty"`
	Old      *jsonSide   `json:"old,omitempty"`
	New      *jsonSide   `json:"new,omitempty"`
	Users    []string    `json:"users,omitempty"`
	Help     string      `json:"help,omitempty"`
	Accepted *jsonAccept `json:"accepted,omitempty"`
}

type jsonSide struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text,omitempty"`
}

type jsonAccept struct {
	Reason string `json:"reason"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
}

func sideOf(s Side) *jsonSide {
	if !s.Span.Valid() {
		return nil
	}
	l, c := s.Span.LineCol()
	return &jsonSide{s.Span.Src.Name, l, c, s.Text}
}

// WriteJSON renders the report as one JSON object of the form Schema names.
func WriteJSON(w io.Writer, r *Report) error {
	out := jsonReport{
		Schema: Schema, Old: jsonCorpus{r.Old, r.OldCount, r.OldPins}, New: jsonCorpus{r.New, r.NewCount, r.NewPins},
		Summary: map[string]int{"accepted": r.Accepted()}, Unchanged: r.Unchanged, Files: r.Files, Findings: []jsonFinding{},
	}
	for c := Breaking; c <= Additive; c++ {
		out.Summary[strings.ToLower(c.String())] = r.Count(c)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		j := jsonFinding{
			Rule: f.Rule.ID, Category: f.Rule.Category.String(), Export: f.Export, Target: f.Target, Subject: f.Subject,
			Message: f.Message, Detail: f.Detail, Old: sideOf(f.Old), New: sideOf(f.New), Users: f.Users, Help: f.Rule.Fix,
		}
		if f.Ignored != nil {
			j.Accepted = &jsonAccept{Reason: f.Ignored.Reason}
			if sp := f.Ignored.Span; sp.Valid() {
				j.Accepted.File = sp.Src.Name
				j.Accepted.Line, _ = sp.LineCol()
			}
		}
		out.Findings = append(out.Findings, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

// SARIF 2.1.0 with the rules' own documentation.

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID            string            `json:"id"`
	Short         sarifText         `json:"shortDescription"`
	Full          sarifText         `json:"fullDescription"`
	Help          *sarifText        `json:"help,omitempty"`
	Configuration map[string]string `json:"defaultConfiguration"`
	Properties    map[string]string `json:"properties"`
}

type sarifPlace struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
	ID       int            `json:"id,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	} `json:"region"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifPlace       `json:"locations,omitempty"`
	Related      []sarifPlace       `json:"relatedLocations,omitempty"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

func (c Category) sarifLevel() string {
	return [...]string{"error", "warning", "warning", "note"}[c]
}

// WriteSARIF renders the report for code-scanning services. Accepted findings
// are suppressed results.
func WriteSARIF(w io.Writer, r *Report) error {
	var run sarifRun
	run.Tool.Driver = sarifDriver{Name: "loomc diff", Rules: []sarifRule{}}
	run.Results = []sarifResult{}
	at := map[string]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		n, ok := at[f.Rule.ID]
		if !ok {
			n = len(run.Tool.Driver.Rules)
			at[f.Rule.ID] = n
			rule := sarifRule{ID: f.Rule.ID, Short: sarifText{f.Rule.Title}, Full: sarifText{f.Rule.Doc},
				Configuration: map[string]string{"level": f.Rule.Category.sarifLevel()},
				Properties:    map[string]string{"category": f.Rule.Category.String()}}
			if f.Rule.Fix != "" {
				rule.Help = &sarifText{f.Rule.Fix}
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		text := f.ID() + ": " + f.Message
		for _, d := range f.Detail {
			text += "\n" + d
		}
		if len(f.Users) > 0 {
			text += "\nused by " + strings.Join(f.Users, ", ")
		}
		res := sarifResult{RuleID: f.Rule.ID, RuleIndex: n, Level: f.Rule.Category.sarifLevel(), Message: sarifText{text},
			Fingerprints: map[string]string{"loomcDiff/v1": f.Rule.ID + "|" + f.ID() + "|" + f.Subject}}
		if p := sarifAt(f.Place()); p != nil {
			res.Locations = []sarifPlace{{Physical: p}}
		}
		if f.New.Span.Valid() && f.Old.Span.Valid() {
			res.Related = []sarifPlace{{ID: 1, Physical: sarifAt(f.Old.Span), Message: &sarifText{"before: " + orPlain(f.Old.Text, "the old side")}}}
		}
		if f.Ignored != nil {
			res.Suppressions = []sarifSuppression{{"external", f.Ignored.Reason}}
		}
		run.Results = append(run.Results, res)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifAt(sp diag.Span) *sarifPhysical {
	if !sp.Valid() {
		return nil
	}
	p := &sarifPhysical{}
	p.Artifact.URI = fileURI(repoPath(sp.Src.Name))
	line, col := sp.LineCol()
	text := sp.Src.Line(line)
	p.Region.StartLine, p.Region.StartColumn = line, len([]rune(text[:min(col-1, len(text))]))+1
	return p
}
