// Package agent is the short form of what gaprof says, for programs that read it a little at
// a time and pay for each byte: the contract gaprof.agent/1. Whatever the run, an answer
// stays within a bound; what does not fit is left out, counted and named.
package agent

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/contract"
)

// Schema names the contract of Answer's JSON form. Fields are added, never renamed.
const Schema = "gaprof.agent/1"

// JSONSchema describes the JSON form of an Answer.
func JSONSchema() (*jsonschema.Schema, error) { return contract.Of[Answer]("agent-1.json", Schema) }

// Answer is what a command says, in a few kilobytes. Texts are in one line, and cut with an
// ellipsis where they are long. Times are integer ns.
type Answer struct {
	Schema  string `json:"schema"`         // Schema
	Version string `json:"gaprof_version"` // of the program
	Command string `json:"command"`        // analyze, check, diff or whatif

	// Verdict is the answer in a sentence. Of check it begins with passed, failed or
	// inconclusive.
	Verdict string `json:"verdict"`

	Run      *Run      `json:"run,omitempty"` // what was read; absent of diff and whatif
	Findings []Finding `json:"findings"`      // most severe first, then by cost

	Checks []Check  `json:"checks,omitempty"`     // of check: what failed or could not be decided
	Facts  []string `json:"facts,omitempty"`      // of diff: what changed; of check: what was not judged
	Edits  []Edit   `json:"what_if,omitempty"`    // of whatif: by gain
	Skips  []Skip   `json:"not_judged,omitempty"` // rules that did not run, and what would let them

	LeftOut LeftOut     `json:"left_out"` // how many of each are not here
	Next    []string    `json:"next"`     // commands that go on from here
	Exit    report.Exit `json:"exit"`
}

// Run is what was read.
type Run struct {
	Files  []string `json:"files"` // the first ones
	Ranks  int      `json:"ranks"` // that were read
	World  *int64   `json:"world_size"`
	Device string   `json:"device"`
	Health string   `json:"health"` // ok, or the worst kinds of damage

	// Steps is how many steps StepTime, the mean, and Parts are over; 0 where none was
	// recorded on a device. Parts are what takes time, in ns per step; communication is what nothing hides.
	Steps    int              `json:"steps"`
	StepTime *int64           `json:"step_ns"`
	Parts    map[string]int64 `json:"step_parts_ns"`
}

// Finding is a report.Finding with what is needed to act on it.
type Finding struct {
	Rule     string          `json:"rule"`
	Severity report.Severity `json:"severity"` // note, warn or error
	Message  string          `json:"message"`
	Why      string          `json:"why,omitempty"`

	Cost   *int64        `json:"cost_ns"`    // per step; null where the finding has no cost in time
	Share  *float64      `json:"cost_share"` // of the step, 0..1
	Saving *report.Range `json:"saving_ns"`  // per step, a bound; null unknown

	Fix      string         `json:"fix"`
	Change   *report.Change `json:"change,omitempty"` // an example: names are not those of your program
	Caveats  []string       `json:"caveats,omitempty"`
	Evidence []Evidence     `json:"evidence"`
}

// Evidence is an event that shows a finding.
type Evidence struct {
	File     string `json:"file"` // the trace; empty where that is unknown
	Rank     int64  `json:"rank"`
	Name     string `json:"name"`
	Track    string `json:"track"`          // "pid/tid"
	Start    int64  `json:"start_ns"`       // on the clock of the trace: its ts is this by 1000
	Duration int64  `json:"duration_ns"`    // 0 for a moment
	Code     string `json:"code,omitempty"` // the line of the program, where stacks were recorded
}

// Check is one row of the gate.
type Check struct {
	Metric   string          `json:"metric"` // or the rule of a finding
	Kind     string          `json:"kind,omitempty"`
	Severity report.Severity `json:"severity"`
	Verdict  string          `json:"verdict"` // fail or undecidable
	Value    *float64        `json:"value"`   // null unknown
	Unit     string          `json:"unit"`
	Limit    string          `json:"limit"`
	Reason   string          `json:"reason"`
}

// Edit is a change that was replayed.
type Edit struct {
	Edit   string              `json:"edit"` // as whatif is asked for it
	Title  string              `json:"title"`
	Gain   *report.WhatIfRange `json:"gain_ns"` // per step; null where it does not apply
	Bound  bool                `json:"bound"`   // it bounds what a family of changes can gain
	Reason string              `json:"reason,omitempty"`
}

// Skip is why some rules did not run.
type Skip struct {
	Rules  []string `json:"rules"`
	Reason string   `json:"reason"` // what they lack and what would supply that
}

// LeftOut counts what an answer has no room for.
type LeftOut struct {
	Findings int `json:"findings"`
	Checks   int `json:"checks"`
	Facts    int `json:"facts"`
	Edits    int `json:"what_if"`
	Skips    int `json:"not_judged"` // groups of rules

	Texts bool `json:"texts"` // some texts are cut
}
