package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Finding is one thing to change: what it is, what it costs and how to see it.
type Finding struct {
	Rule     string   `json:"rule"`     // its ID: two letters of the family and three digits
	Severity Severity `json:"severity"` // note, warn or error
	Title    string   `json:"title"`    // of the rule
	Message  string   `json:"message"`  // what was found in this run, in one line
	Why      string   `json:"why"`      // what in the trace says so; may be ""

	// Cost and Saving are in ns, means per optimizer step over the complete steps of
	// Kinds, and Share is Cost by the median of those steps, or by their mean where a few
	// long ones make Cost exceed the median: 0..1. Cost and Share are null where the finding
	// has no cost in time; Saving.High is at most Cost.
	Cost   *int64   `json:"cost_ns"`
	Share  *float64 `json:"cost_share"`
	Saving *Range   `json:"saving_ns"` // null unknown; a bound, or by Predicted where that is there
	Kinds  []string `json:"kinds"`     // of the steps that cost anything

	// CostBytes is what the finding holds of the peak memory of a device, in bytes, and
	// SavingBytes how much lower that peak could be, at most all of it. Absent where the
	// finding is not about memory, or memory was not recorded.
	CostBytes   *int64 `json:"cost_bytes,omitempty"`
	SavingBytes *Range `json:"saving_bytes,omitempty"`

	// Predicted is what a replay of the run says of the change. Saving is then its range, cut
	// to 0..Cost. Absent where nothing was replayed: findings that are notes, those that no edit
	// answers, runs that have no execution graph or are too large to be replayed beside the analysis.
	Predicted *Predicted `json:"predicted,omitempty"`

	Also     []string   `json:"also"`             // rules that apply to the time claimed here
	Evidence []Evidence `json:"evidence"`         // events to look at; empty where there are none
	Fix      string     `json:"fix"`              // what to change
	Change   *Change    `json:"change,omitempty"` // that, in a line of code
	Caveats  []string   `json:"caveats"`          // what may make the finding wrong

	Lateness *Lateness `json:"lateness,omitempty"` // of a straggler's finding, if its trace shows anything of it
}

// Code are the lines of the program that the evidence names, each once.
func (f *Finding) Code() []string {
	var lines []string
	for _, e := range f.Evidence {
		if e.Code != "" && !slices.Contains(lines, e.Code) {
			lines = append(lines, e.Code)
		}
	}
	return lines
}

// Fingerprint is the same for the same finding of another run: a hash of its rule and of its place
// n, from 0, among the findings of the rule, the most severe and costly first.
func (f *Finding) Fingerprint(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "gaprof %s %d", f.Rule, n))
	return hex.EncodeToString(sum[:8])
}

// Change is the line of code that matters, before and after: an example in PyTorch, whose names
// are not those of the program that was recorded. The page of the rule has the lines around
// it. It is absent where what to change is no code, or depends on more than the trace shows.
type Change struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// Predicted is what a replay of the run with an edit comes to, as the command whatif has it.
type Predicted struct {
	Edit    string            `json:"edit"`    // as whatif is asked for it
	Gain    WhatIfRange       `json:"gain_ns"` // mean over the complete steps of the finding's Kinds; negative: longer
	Kinds   []WhatIfKindRange `json:"kinds"`   // the same by kind of step
	Bound   bool              `json:"bound"`   // it bounds what a family of changes can gain
	Assumes string            `json:"assumes"`

	// Most is what the change could save at most, in ns per step, where the edit may do only
	// part of what the finding asks for; else absent.
	Most *int64 `json:"at_most_ns,omitempty"`
}

// WhatIfKindRange is a gain in steps of one kind.
type WhatIfKindRange struct {
	Kind string      `json:"kind"`
	Gain WhatIfRange `json:"gain_ns"` // of the mean step
}

// Range is a least and a greatest value, in the unit of the field that has it.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Evidence is an event that a person can open in a viewer.
type Evidence struct {
	Rank     int64  `json:"rank"`
	Name     string `json:"name"`        // of the event
	Track    string `json:"track"`       // process and thread or stream, "pid/tid"
	Start    int64  `json:"start_ns"`    // on the clock of the trace's ts
	Duration int64  `json:"duration_ns"` // 0 for a moment

	// Code is the line of the program that does it, or launches it: "train.py(57): step". It is
	// absent where stacks were not recorded, or hold no file of the program.
	Code string `json:"code,omitempty"`
}

// Skip says that a rule did not run, why, and what would let it.
type Skip struct {
	Rule   string `json:"rule"`   // its ID
	Reason string `json:"reason"` // what it lacks and what would supply that
}

// OneRank is the Reason of a Skip whose rule asks about several ranks where one was given.
const OneRank = "one rank was given: pass the traces of all ranks together"

// Severity orders findings. Package analyze decides it, in one place.
type Severity string

// The severities, least first. Off is the threshold that nothing reaches.
const (
	Note  Severity = "note"
	Warn  Severity = "warn"
	Error Severity = "error"
	Off   Severity = "off"
)

var severityOrder = map[Severity]int{Note: 1, Warn: 2, Error: 3, Off: 4}

// Compare orders severities, least first.
func (s Severity) Compare(t Severity) int { return cmp.Compare(severityOrder[s], severityOrder[t]) }

// AtLeast reports whether s is as severe as t or more.
func (s Severity) AtLeast(t Severity) bool { return s.Compare(t) >= 0 }

// ParseSeverity reads off, note, warn or error.
func ParseSeverity(s string) (Severity, error) {
	if _, ok := severityOrder[Severity(s)]; !ok {
		return "", fmt.Errorf("unknown severity %q (off, note, warn, error)", s)
	}
	return Severity(s), nil
}
