package normalization

import "github.com/gaprof/gaprof/internal/choice"

// Schema names the contract of Report's JSON form. Fields may be added to it and are
// never renamed; what is unknown is null or "unknown".
const Schema = "gaprof.norm/1"

// Report is everything that the audit says of the normalization of a run. Lists are never
// nil, so that their JSON is [].
type Report struct {
	Schema    string           `json:"schema"`         // Schema
	Version   string           `json:"gaprof_version"` // of the gaprof that audited
	Files     []string         `json:"files"`          // traces, logs and folders of gradients, as the user names them
	Verdict   Judgement        `json:"verdict"`        // what the audit comes to
	Findings  []Judgement      `json:"findings"`       // the most severe first
	Steps     []StepReport     `json:"steps"`          // complete steps with token counts
	Gradients []GradientReport `json:"gradients"`      // files of gradients that were compared
	Notes     []string         `json:"notes"`          // what cannot be said, and why
	Exit      Exit             `json:"exit"`
}

// Judgement is a finding in short, or that there is none.
type Judgement struct {
	Rule     string `json:"rule"`     // "" where nothing is wrong or known
	Severity string `json:"severity"` // error, warn, note; "" where nothing is wrong
	Message  string `json:"message"`  // what is wrong, or that nothing is
	Why      string `json:"why"`      // "" where Message says it all
	Fix      string `json:"fix"`      // what to do, "" nothing
}

// Exit is the exit code of the command and its reason.
type Exit struct {
	Code   int    `json:"code"`   // 0 where nothing is wrong
	Reason string `json:"reason"` // ok where Code is 0
}

// StepReport is how one step is normalized, and how it would be under every mode.
type StepReport struct {
	Step      int        `json:"step"`            // from 0
	Tokens    [][]int64  `json:"tokens"`          // by rank and micro-batch
	Total     int64      `json:"total_tokens"`    // N
	Mode      Mode       `json:"mode"`            // unknown where nothing tells
	Factor    string     `json:"factor"`          // common to all tokens: 1, 1/R, A ...; "" unknown
	Basis     Basis      `json:"basis"`           // what Mode and Factor rest on
	Evidence  string     `json:"evidence"`        // the same in words
	Weights   *Weights   `json:"weights"`         // null where mode, factor or counts are not known
	Modes     []*Weights `json:"weights_by_mode"` // what tokens would count; empty where counts are of whole steps
	Losses    []Loss     `json:"losses"`          // averages of the losses of micro-batches; empty without a log
	Logged    *NamedLoss `json:"logged_loss"`     // what the run prints; null unknown
	Optimised *NamedLoss `json:"optimized_loss"`  // what the run follows; null unknown
}

// NamedLoss is a loss of a log and which average of the losses of micro-batches it is.
type NamedLoss struct {
	Value  float64 `json:"value"`  // as logged
	Name   string  `json:"name"`   // of a Loss; unknown where it is none of them
	Factor string  `json:"factor"` // that the average is multiplied by; "" where Name is unknown
	Text   string  `json:"text"`   // the same in words
}

// GradientReport is the gradients of one rank and step against the right ones.
type GradientReport struct {
	Step    int64  `json:"step"`    // as the file names it
	Rank    int64  `json:"rank"`    // likewise
	File    string `json:"file"`    // of the gradients
	Against string `json:"against"` // a file, or ByMicroBatches
	*Verdict
}

// NewReport is the report of nothing yet: of some files, by a version of gaprof.
func NewReport(version string, files []string) *Report {
	return &Report{Schema: Schema, Version: version, Files: files, Findings: []Judgement{}, Steps: []StepReport{},
		Gradients: []GradientReport{}, Notes: []string{}}
}

// Empty reports whether there is nothing that was audited.
func (r *Report) Empty() bool { return len(r.Steps)+len(r.Gradients) == 0 }

// AddGradients takes over what comparing gradients says.
func (r *Report) AddGradients(a *GradientAudit) {
	r.Gradients = append(r.Gradients, a.Reports...)
	switch {
	case a.Alone:
		r.Notes = append(r.Notes, "there is nothing to compare the gradients with: pass {against}, "+
			"or write those of single micro-batches")
	case a.Later:
		r.Notes = append(r.Notes, "no cause is named for later steps: the two runs start them from different weights")
	}
}

// NameChoices names what the caller may choose in the texts of the report as the caller
// calls it; see package choice. It is the last thing done to a report.
func (r *Report) NameChoices(names map[string]string) {
	name := func(text *string) { *text = choice.Name(*text, names) }
	for _, j := range append([]*Judgement{&r.Verdict}, pointers(r.Findings)...) {
		name(&j.Message)
		name(&j.Why)
		name(&j.Fix)
	}
	for i := range r.Steps {
		name(&r.Steps[i].Evidence)
	}
	for i := range r.Notes {
		name(&r.Notes[i])
	}
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
