package compare

import "github.com/gaprof/gaprof/analyze/report"

// Schema names the contract of Diff's JSON form. Fields may be added to it and are
// never renamed; units are those of gaprof.report/1.
const Schema = "gaprof.diff/1"

// Diff is what changed from the base to the new side. Only complete steps are
// compared. Figures "per step" are per step of one rank.
type Diff struct {
	Schema  string `json:"schema"`         // Schema
	Version string `json:"gaprof_version"` // of the gaprof that compared

	StepTimes []StepTime `json:"step_time"` // the change of step time, by kind of step

	// Base and New describe the two sides; Unlike says in what they are not the same
	// experiment.
	Base   Side     `json:"base"`
	New    Side     `json:"new"`
	Unlike []Unlike `json:"unlike"`

	// What changed in the structure of a step. Moves also has the collectives that stayed.
	Moves       []Move             `json:"launch_sites"`
	Collectives []CollectiveChange `json:"collectives"`
	Orders      []OrderChange      `json:"orders"`
	Passes      []PassChange       `json:"gradient_passes"`
	Settings    []Setting          `json:"settings"`

	// Memory is that of the kinds of step of which both sides recorded it.
	Memory []MemoryChange `json:"memory"`

	Findings    []FindingChange `json:"findings"`     // by rule; those that stayed as well
	Kinds       []Kind          `json:"kinds"`        // times, by kind of step
	RecordSteps *int            `json:"record_steps"` // steps to record for firm times; null where there are enough
}

// StepTime is how the time of a step of one kind changed: what people ask first of two runs,
// and therefore what a difference begins with, whatever else changed.
type StepTime struct {
	Kind      string   `json:"kind"`       // the Name of a Kind
	Of        string   `json:"of"`         // device, or host where the steps have no time on a device
	BaseSteps int      `json:"base_steps"` // as in Kind
	NewSteps  int      `json:"new_steps"`
	Base      int64    `json:"base_ns"` // median
	New       int64    `json:"new_ns"`
	Change    int64    `json:"change_ns"` // New - Base
	Delta     *float64 `json:"delta"`     // New/Base - 1; null from zero
	P         float64  `json:"p"`         // of the two-sided Mann-Whitney U test, 0..1

	Significant   bool `json:"significant"`    // P is below 0.05
	LowConfidence bool `json:"low_confidence"` // fewer than five steps on a side
}

// Side describes the reports of one side. Device, WorldSize, Model and StepSource are
// those of its first report.
type Side struct {
	Files       []string `json:"files"`            // inputs of the reports, in their order
	Runs        int      `json:"runs"`             // repeats: how often the most frequent rank occurs
	Ranks       []int64  `json:"ranks"`            // numbers, ascending, each once
	Device      string   `json:"device"`           // its model, or unknown
	WorldSize   *int64   `json:"world_size"`       // ranks of the run; null unknown
	Model       string   `json:"model"`            // a hash of optimizers and parameters, or unknown
	Steps       int      `json:"steps"`            // complete ones, those of several ranks of a run counted once
	Incomplete  int      `json:"incomplete_steps"` // left out
	StepSource  string   `json:"step_source"`      // optimizer, profiler_step or none
	Warnings    int      `json:"health_warnings"`  // kinds of damage that touch figures
	Overlap     *float64 `json:"overlap"`          // of all communication of the recordings; null without any
	Judged      int      `json:"findings"`         // findings of all its reports
	fingerprint report.Fingerprint
}

// Unlike is something in which the two sides differ although a fair comparison wants
// it the same: device, world_size, ranks, model, accumulation, step_source,
// gaprof_version.
type Unlike struct {
	What string `json:"what"` // one of those names
	Base string `json:"base"` // what the base has, in words
	New  string `json:"new"`  // what the new side has
}

// Place is where collectives are launched, as in gaprof.report/1.
type Place struct {
	Site string `json:"site"` // backward_hook, optimizer_step, framework_hook, annotation or unknown
	Name string `json:"name"` // of the optimizer or the annotation; "" where the site has none
}

// Move is collectives of one kind that both sides launch: from which place the base
// does and from which the new side. Where From and To are the same they stayed. Base
// and New count them in all complete steps.
type Move struct {
	Collective string     `json:"collective"` // its kind: reduce_scatter, all_gather, ...
	From       Place      `json:"from"`
	To         Place      `json:"to"`
	Base       int        `json:"base_count"`
	New        int        `json:"new_count"`
	Kinds      []MoveKind `json:"kinds"` // of the steps that launch them
}

// MoveKind is a Move's part in the steps of one kind.
type MoveKind struct {
	Kind    string  `json:"kind"`     // the Name of a Kind
	PerStep float64 `json:"per_step"` // collectives
}

// Stayed reports whether the place is the same on both sides.
func (m *Move) Stayed() bool { return m.From == m.To }

// CollectiveChange is collectives of a kind of step that only one side has (added,
// gone), or that carry another number of bytes (resized). Bytes are per step, null
// unknown.
type CollectiveChange struct {
	Change     string  `json:"change"`     // added, gone or resized
	Kind       string  `json:"kind"`       // the Name of a Kind
	Collective string  `json:"collective"` // its kind: reduce_scatter, all_gather, ...
	Place      Place   `json:"place"`      // where they are or were launched
	PerStep    float64 `json:"per_step"`   // of what was added, is gone or was resized
	BaseBytes  *int64  `json:"base_bytes"`
	NewBytes   *int64  `json:"new_bytes"`
}

// OrderChange is a group of collectives whose kernels, by start on the device, are in
// another order (order) or other ones (kernels).
type OrderChange struct {
	Change     string   `json:"change"`     // order or kernels
	Kinds      []string `json:"kinds"`      // Names of the Kinds of step that have the group
	Collective string   `json:"collective"` // its kind: reduce_scatter, all_gather, ...
	From       Place    `json:"from"`       // where the base launches the group
	To         Place    `json:"to"`         // where the new side does
	Base       []Run    `json:"base"`       // the kernels of the base, in their order
	New        []Run    `json:"new"`
}

// Run is a kernel that is launched Count times in a row. Kernel lacks what all kernels
// of both sequences begin and end with.
type Run struct {
	Kernel string `json:"kernel"`
	Count  int    `json:"count"`
}

// PassChange is a pass over the gradients that one side alone makes (added, gone), or
// that changed in number, size or verdict (changed). Null on a side that lacks it.
type PassChange struct {
	Change    string    `json:"change"`    // added, gone or changed
	Kind      string    `json:"kind"`      // the Name of a Kind
	Pass      string    `json:"pass"`      // the kind of the pass: scale, clip, ...
	Where     string    `json:"where"`     // after_backward, in_optimizer, ...
	Optimizer string    `json:"optimizer"` // whose gradients; "" unknown
	Base      *PassSide `json:"base"`
	New       *PassSide `json:"new"`
}

// PassSide is a gradient pass on one side, per step.
type PassSide struct {
	PerStep float64 `json:"per_step"` // passes
	Bytes   int64   `json:"bytes"`    // read and written by them; 0 unknown
	Span    int64   `json:"span_ns"`  // their length together
	Verdict string  `json:"verdict"`  // the one that most of them have
}

// Setting is one thing that a side as a whole, a kind of step or an optimizer is set to:
// accumulation_steps, micro_batches, optimizer_in_backward, gradient_sync (its pattern),
// gradient_collective (its kind), gradient_collectives (by micro-batch), gradient_ranks,
// token_all_reduce, normalization, data_loader (PyTorch's name of what fetches batches).
type Setting struct {
	What string `json:"what"` // one of those names
	Of   string `json:"of"`   // the kind of step or the optimizer, empty for all
	Base string `json:"base"` // what the base is set to, in words
	New  string `json:"new"`  // what the new side is set to
}

// Changed reports whether anything of the structure differs; times, findings and unlike
// experiments aside.
func (d *Diff) Changed() bool {
	if len(d.Collectives)+len(d.Orders)+len(d.Passes)+len(d.Settings) > 0 {
		return true
	}
	for i := range d.Moves {
		if !d.Moves[i].Stayed() {
			return true
		}
	}
	for i := range d.Kinds {
		if d.Kinds[i].Only != "" {
			return true
		}
	}
	return false
}

// Kind is the times of one kind of step on both sides.
type Kind struct {
	Name string `json:"name"` // its optimizers
	// Only is base or new where the other side has steps, but none of the kind; else
	// empty.
	Only string `json:"only"`
	// Uncompared is why the kind could be neither compared nor called missing; else
	// empty.
	Uncompared string `json:"uncompared"`

	// What the reports of a side call the kind (A, B, ...), and the optimizers that its
	// steps run; empty on a side without it.
	BaseLetters    []string           `json:"base_kinds"`
	NewLetters     []string           `json:"new_kinds"`
	BaseOptimizers []report.Optimizer `json:"base_optimizers"`
	NewOptimizers  []report.Optimizer `json:"new_optimizers"`

	// Complete steps, those of several ranks of a run counted once; RankSteps counts those
	// of each rank, LeftOut the incomplete ones.
	BaseSteps     int `json:"base_steps"`
	NewSteps      int `json:"new_steps"`
	BaseRankSteps int `json:"base_rank_steps"`
	NewRankSteps  int `json:"new_rank_steps"`
	BaseLeftOut   int `json:"base_incomplete_steps"`
	NewLeftOut    int `json:"new_incomplete_steps"`

	LowConfidence bool     `json:"low_confidence"` // fewer than five steps on a side
	Figures       []Figure `json:"figures"`        // those that a side has

	// Parts of a step on a device, which add up to its mean duration on either side, and
	// whose changes add up to the change of that. Empty on a side without devices.
	Parts []Part `json:"parts"`
}

// Figure is one figure of a step on both sides: a time, or a ledger bucket of it. The
// value of a step is the mean over its ranks and devices. P is of the Mann-Whitney
// U test, Delta new/base - 1; both are null where they do not exist.
type Figure struct {
	Name        string   `json:"name"`        // duration, compute, idle, ...
	Unit        string   `json:"unit"`        // ns or count
	Base        *Summary `json:"base"`        // null on a side without the figure
	New         *Summary `json:"new"`         // likewise
	Delta       *float64 `json:"delta"`       // 0.1: a tenth more
	P           *float64 `json:"p"`           // 0..1
	Significant bool     `json:"significant"` // P is below 0.05
}

// Summary is a median with its interval of 95 % confidence; Low and High are null
// where too few values bound it (less than six).
type Summary struct {
	N      int    `json:"n"`      // values, one a step
	Median int64  `json:"median"` // in the Unit of the Figure, as are Low and High
	Low    *int64 `json:"low"`
	High   *int64 `json:"high"`
}

// FindingChange is a rule's finding on both sides: appeared, disappeared, stayed, or
// not_judged where the side without it could not judge the rule; Reason then says why.
// Severities, messages and costs are null on a side without it; a rule with several
// findings is represented by its most severe and costly one.
type FindingChange struct {
	Change string           `json:"change"` // appeared, disappeared, stayed or not_judged
	Rule   string           `json:"rule"`   // its ID
	Base   *report.Severity `json:"base_severity"`
	New    *report.Severity `json:"new_severity"`
	Was    *string          `json:"base_message"`
	Is     *string          `json:"new_message"`
	Before *int64           `json:"base_cost_ns"` // mean per optimizer step; null also where it costs no time
	After  *int64           `json:"new_cost_ns"`  // likewise
	Reason string           `json:"reason"`       // "" unless Change is not_judged
}
