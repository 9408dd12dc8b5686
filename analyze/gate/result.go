package gate

import (
	"time"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
)

// Schema names the contract of Result's JSON form. Fields may be added to it and are never
// renamed; units are those of gaprof.report/1.
const Schema = "gaprof.check/1"

// Result is the judgement of a gate on some reports.
type Result struct {
	Schema   string   `json:"schema"`         // Schema
	Version  string   `json:"gaprof_version"` // of the program that judged
	Config   string   `json:"config"`         // the file, empty where none was found
	Extends  string   `json:"extends"`        // the preset with its prefix, gaprof:off where there is none
	Files    []string `json:"files"`          // of the reports that were judged
	Baseline []string `json:"baseline"`       // likewise of the baseline; empty without one
	Verdict  Outcome  `json:"verdict"`        // of all rows together
	Summary  string   `json:"summary"`        // the verdict and what led to it, in a sentence
	// StepTimes are against the baseline; empty without one of the same experiment.
	StepTimes []compare.StepTime `json:"step_time"`

	// Findings are those of the reports that were judged, the worst rule first, and then those that
	// only the baseline has.
	Findings []Found `json:"findings"`

	Rows   []Row       `json:"rows"`         // of the job, budgets, regressions, findings
	Notes  []string    `json:"notes"`        // what was not judged and why, a sentence each
	Record *int        `json:"record_steps"` // steps to record for times that decide; null where there are enough
	Exit   report.Exit `json:"exit"`         // the exit code that follows from the verdict
}

// Outcome is the verdict of the gate as a whole.
type Outcome string

// The outcomes. Inconclusive is neither: see Result.Summary.
const (
	Passed       Outcome = "passed"
	Failed       Outcome = "failed"
	Inconclusive Outcome = "inconclusive"
)

// Verdict is that of one row.
type Verdict string

// The verdicts. An undecidable row says why in its Reason.
const (
	Pass        Verdict = "pass"
	Fail        Verdict = "fail"
	Undecidable Verdict = "undecidable"
	Ignored     Verdict = "ignored"
)

// Row is one thing that was judged: a budget or a regression for one kind of step or for
// all, a declaration of the job, or a finding.
type Row struct {
	Check         string          `json:"check"`          // budget, regression, job or finding
	Metric        string          `json:"metric"`         // or the rule of a finding
	Kind          string          `json:"kind"`           // of step, by its optimizers; empty for all
	Severity      report.Severity `json:"severity"`       // of a failure; error decides the outcome
	Verdict       Verdict         `json:"verdict"`        // of this row
	Unit          Unit            `json:"unit"`           // of Value and BaselineValue
	Value         *float64        `json:"value"`          // null unknown
	Limit         string          `json:"limit"`          // the bounds as text
	BaselineValue *float64        `json:"baseline_value"` // null unknown, or not a regression
	P             *float64        `json:"p"`              // of the Mann-Whitney test; null where none was made
	Steps         int             `json:"steps"`          // that Value is made of; 0 where it is of no step
	BaselineSteps int             `json:"baseline_steps"` // likewise
	Rank          *int64          `json:"rank"`           // where the value was found, null for several
	Step          *int64          `json:"step"`           // likewise
	Where         string          `json:"where"`          // JSON path in the report
	Reason        string          `json:"reason"`         // why it failed, is undecidable or ignored; may be empty
	Next          string          `json:"next"`           // what to do about it; empty where nothing needs doing
	Finding       string          `json:"finding"`        // rule, severity and sentence of what was found; may be empty

	// BadData is true where a row is undecidable because data are damaged, not because
	// they are few or absent.
	BadData bool `json:"bad_data"`

	// Tolerated is true where the configuration lets a gate pass although the row is
	// undecidable, and the values that there are keep the limits.
	Tolerated bool `json:"tolerated"`
}

// Options are what a configuration does not contain.
type Options struct {
	Version string          // of the program, as Result.Version has it
	Config  string          // the file that the configuration came from; empty: none
	Now     time.Time       // for ignores that expire
	FailOn  report.Severity // findings that are at least this severe fail; Off none

	// Choices is what the caller calls its choices, as in analyze.Options.
	Choices map[string]string

	// AnyRanks is true where the user asks for the ranks that there are, whatever the
	// configuration says.
	AnyRanks bool

	// OnlyNew is true where only what is new since the baseline fails: findings that FailOn names
	// and budgets that the baseline exceeds too pass, as far as they are no worse.
	OnlyNew bool

	// FirstRun is true where the baseline is yet to be made: what only it could decide is
	// no reason to be inconclusive.
	FirstRun bool
}
