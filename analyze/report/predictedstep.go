package report

// PredictedStep is one step of a rank as recorded and as predicted for the edit that gains most,
// for a figure.
type PredictedStep struct {
	Edit       string        `json:"edit"`
	Title      string        `json:"title"` // of the edit
	Rank       int64         `json:"rank"`
	Step       int           `json:"step"` // an Index of Steps
	Kind       string        `json:"kind"` // as that of WhatIf
	Resolution int64         `json:"resolution_ns"`
	Before     PredictedSide `json:"before"`
	After      PredictedSide `json:"after"`
}

// PredictedSide is the step on its device, from its first operation to that of the next step.
type PredictedSide struct {
	Duration int64 `json:"duration_ns"`

	// Strips have the rows "compute", "communication" and "host". The classes of the host are
	// call, wait and data_loading; Exposed marks, over again, what the edit moves or takes out.
	Strips []Strip `json:"strips"`
}
