package check

import (
	"time"

	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/exec"
)

// Status is the outcome of a sample or a case.
type Status uint8

// Statuses. Error means that the case could not be carried out.
const (
	Pass Status = iota
	Skip
	Fail
	Error
)

func (s Status) String() string { return [...]string{"pass", "skip", "fail", "error"}[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Element is one differing element of a comparison.
type Element struct {
	Index    []int64 `json:"index"` // empty for a scalar
	Expected string  `json:"expected"`
	Actual   string  `json:"actual"`
	// ULP is the distance in representable values; -1 where there is none (NaN,
	// different signs of infinity).
	ULP int64 `json:"ulp"`
}

// Mismatch is a comparison that failed.
type Mismatch struct {
	Place  diag.Span `json:"-"`
	Op     string    `json:"op"`
	Where  string    `json:"place"`
	Actual string    `json:"actual"` // name and type of the actual value
	Rule   string    `json:"rule"`   // what had to hold
	Total  int64     `json:"elements"`
	Wrong  int64     `json:"differing"`
	First  []Element `json:"first"`
	// MaxAbs and MaxULP describe the worst element.
	MaxAbs float64 `json:"-"`
	MaxULP int64   `json:"max_ulp"`
	// Message replaces the element list for comparisons of another kind.
	Message string `json:"message,omitempty"`
}

// LaunchRecord is one launch of a sample.
type LaunchRecord struct {
	Kernel     string        `json:"kernel"`
	Workgroups int64         `json:"workgroups"`
	Items      int64         `json:"items_per_workgroup"`
	Time       time.Duration `json:"-"`
	Counts     *exec.Counts  `json:"counts,omitempty"`
}

// SampleResult is the outcome of one sample.
type SampleResult struct {
	Params     []ParamValue   `json:"params,omitempty"`
	Status     Status         `json:"status"`
	SkipReason string         `json:"skip_reason,omitempty"` // provider and why
	Mismatches []Mismatch     `json:"mismatches,omitempty"`
	Problems   diag.List      `json:"-"` // why it could not run, or what sanitizers found
	Launches   []LaunchRecord `json:"launches,omitempty"`
	Time       time.Duration  `json:"-"`
}

// CaseResult is the outcome of a case.
type CaseResult struct {
	Name    string         `json:"name"`
	File    string         `json:"file"`
	Line    int            `json:"line"`
	Device  string         `json:"device"`
	Samples []SampleResult `json:"samples"`
	// Problems concern the case as a whole: a body that does not parse.
	Problems diag.List     `json:"-"`
	Time     time.Duration `json:"-"`
}

// Status is the worst status of the samples; a case is skipped only when all of
// its samples are.
func (r *CaseResult) Status() Status {
	if r.Problems.HasErrors() {
		return Error
	}
	worst, skipped := Pass, 0
	for _, s := range r.Samples {
		if s.Status == Skip {
			skipped++
			continue
		}
		worst = max(worst, s.Status)
	}
	if worst == Pass && skipped > 0 && skipped == len(r.Samples) {
		return Skip
	}
	return worst
}
