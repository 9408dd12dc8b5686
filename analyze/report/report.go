package report

// Schema names the contract of Report's JSON form.
const Schema = "gaprof.report/1"

// Report is everything gaprof says of some traces, which are those of one run. Rows of
// ranks stand in the order of the ranks' numbers.
type Report struct {
	// Schema is the constant Schema, and Version that of the gaprof that made the report.
	Schema  string `json:"schema"`
	Version string `json:"gaprof_version"`

	Source Source `json:"source"`
	Health Health `json:"health"`

	// Steps has a row for every optimizer step that was asked for, on every device of
	// every rank: by rank, then step, then device.
	Steps []Step `json:"steps"`

	// Memory has a row for every device whose memory was recorded, in every step that was
	// asked for: by rank, then device, then step.
	Memory []Memory `json:"memory"`

	// Time is where the time of a mean step goes; null where no device was recorded.
	Time *Time `json:"time"`

	// AccumulationSteps is how often gradients are accumulated per optimizer step; null
	// where optimizers differ or it is unknown.
	AccumulationSteps *int `json:"accumulation_steps"`

	// Communication has a row for every rank with collectives on a device, Collectives
	// for every kind of them, Groups for every kind, launch site and step.
	Communication []Communication   `json:"communication"`
	Collectives   []Collectives     `json:"collectives"`
	Groups        []CollectiveGroup `json:"collective_groups"`

	// GradientPasses are those that write gradients, by rank. GradientSync and
	// TokenAllReduce have a row for every rank whose steps are those of optimizers.
	GradientPasses []GradientPass   `json:"gradient_passes"`
	GradientSync   []GradientSync   `json:"gradient_sync"`
	TokenAllReduce []TokenAllReduce `json:"token_all_reduce"`

	Normalization Normalization `json:"normalization"`

	// Ranks has a row for every rank, also where none could be matched with another.
	Ranks    []RankWaits `json:"ranks"`
	Matching Matching    `json:"matching"`

	// Straggler is the number of the rank that causes the most wait; null where that is
	// unknown.
	Straggler *int64 `json:"straggler"`

	// Kernels are the names with the most device time, most first, a few of every rank.
	Kernels []Kernel `json:"top_kernels"`

	// Findings stand most severe first, then what costs most over the whole recording.
	Findings []Finding `json:"findings"`

	// Skipped are the rules that did not run on any rank.
	Skipped []Skip `json:"skipped"`

	Exit Exit `json:"exit"`

	// WhatIf is what changes would gain, as the command whatif has it: each that applies by gain,
	// and why the others do not. Absent unless it was asked for, and where the run cannot be replayed.
	WhatIf *WhatIf `json:"what_if,omitempty"`

	// Drawing is absent unless it was asked for.
	Drawing *Drawing `json:"drawing,omitempty"`
}

// Exit is the exit code of the command that made the report, and its reason.
type Exit struct {
	Code   int    `json:"code"`   // 0: nothing that the command was told to fail on
	Reason string `json:"reason"` // "ok" where Code is 0
}
