package analyze

// Schema names the contract of Report's JSON form. Fields may be added to it and
// are never renamed. Integers are ns (_ns), bytes (_bytes) or counts; ratios are
// 0..1; what is unknown is null or "unknown".
const Schema = "gaprof.report/1"

// Report is everything gaprof says of some traces.
type Report struct {
	Schema            string            `json:"schema"`
	Version           string            `json:"gaprof_version"`
	Source            Source            `json:"source"`
	Health            Health            `json:"health"`
	Steps             []Step            `json:"steps"`
	AccumulationSteps *int              `json:"accumulation_steps"` // null where optimizers differ or it is unknown
	Communication     []Communication   `json:"communication"`
	Collectives       []Collectives     `json:"collectives"`
	Groups            []CollectiveGroup `json:"collective_groups"`
	GradientPasses    []GradientPassRow `json:"gradient_passes"`
	GradientSync      []GradientSync    `json:"gradient_sync"`
	TokenAllReduce    []TokenAllReduce  `json:"token_all_reduce"`
	Normalization     Normalization     `json:"normalization"`
	Ranks             []RankWaits       `json:"ranks"`
	Matching          Matching          `json:"matching"`
	Straggler         *int64            `json:"straggler"` // the rank that causes the most wait; null where that is unknown
	Kernels           []Kernel          `json:"top_kernels"`
	Findings          []Finding         `json:"findings"`
	Skipped           []Skip            `json:"skipped"`
	Exit              Exit              `json:"exit"`
	Drawing           *Drawing          `json:"drawing,omitempty"` // absent unless asked for

	normalized []NormalizedStep
}

// Source says what was read.
type Source struct {
	Files       []string    `json:"files"`
	Format      string      `json:"format"`
	Bytes       int64       `json:"bytes"` // as stored, compressed or not
	Events      int64       `json:"events"`
	Device      string      `json:"device"` // "unknown" where no header says it
	WorldSize   *int64      `json:"world_size"`
	Ranks       []int64     `json:"ranks"`
	StepSource  string      `json:"step_source"` // optimizer, profiler_step (fallback) or none
	Fingerprint Fingerprint `json:"fingerprint"`
}

// Health says how far the input can be believed.
type Health struct {
	DeviceEvents []DeviceEvents `json:"device_events"`
	Problems     []Problem      `json:"problems"`
}

// DeviceEvents counts kernels, copies and sets; Unlinked are those whose launch
// lies outside the recording, Edge those of them before the first linked one.
type DeviceEvents struct {
	Rank     int64 `json:"rank"`
	Count    int   `json:"count"`
	Unlinked int   `json:"unlinked"`
	Edge     int   `json:"unlinked_at_start"`
}

// Problem is one kind of damage in one file. Offset is null where it has no place.
type Problem struct {
	Rank     int64  `json:"rank"`
	File     string `json:"file"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Count    int64  `json:"count"`
	Message  string `json:"message"`
	Action   string `json:"action"`
	Offset   *int64 `json:"offset"`
}

// Optimizer is one optimizer that a step runs.
type Optimizer struct {
	Name         string `json:"name"`
	Accumulation *int   `json:"accumulation_steps"` // since its last step; null unknown
	InBackward   bool   `json:"in_backward"`        // it steps inside the backward pass
}

// Step is one optimizer step on one device of a rank. Device figures are null in
// traces without device activity.
type Step struct {
	Rank         int64       `json:"rank"`
	Device       string      `json:"device"`
	Index        int         `json:"index"`
	Kind         string      `json:"kind"`
	Complete     bool        `json:"complete"`
	Optimizers   []Optimizer `json:"optimizers"`
	MicroBatches *int        `json:"micro_batches"` // forward passes; null unknown
	LinkedEvents int         `json:"linked_device_events"`
	Start        *int64      `json:"start_ns"`
	Duration     *int64      `json:"duration_ns"`
	HostStart    int64       `json:"host_start_ns"`
	HostDuration int64       `json:"host_duration_ns"`
	Ledger       *Ledger     `json:"ledger_ns"`
}

// Ledger is the device time of a step by bucket, in ns; it sums to its duration.
type Ledger struct {
	Compute       int64 `json:"compute"`
	Memory        int64 `json:"memory"`
	ReduceScatter int64 `json:"reduce_scatter"`
	AllGather     int64 `json:"all_gather"`
	AllReduce     int64 `json:"all_reduce"`
	OtherComm     int64 `json:"other_communication"`
	Idle          int64 `json:"idle"`
}

// Overlap is how long communication ran and how much of it was hidden, in ns.
// Exposed is busy less what overlaps with compute kernels; Ratio is null where
// nothing was busy.
type Overlap struct {
	Busy       int64    `json:"busy_ns"`
	Overlapped int64    `json:"overlapped_ns"`
	WithMemory int64    `json:"overlapped_with_memory_ns"`
	Exposed    int64    `json:"exposed_ns"`
	Ratio      *float64 `json:"overlap"`
}

// Communication is the union of all collectives of a rank.
type Communication struct {
	Rank  int64 `json:"rank"`
	Count int   `json:"count"`
	Overlap
}

// Collectives is all collectives of one kind of a rank. InSteps is what the
// ledgers of all steps say of the kind; null without device windows.
type Collectives struct {
	Rank  int64  `json:"rank"`
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Overlap
	InSteps *int64       `json:"exposed_in_step_ns"`
	Sites   []LaunchSite `json:"launch_sites"`
}

// LaunchSite counts the collectives that one place of the program launches.
type LaunchSite struct {
	Site  string `json:"site"`
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// CollectiveGroup is the collectives of one kind, site and step. Step is null for
// groups whose site is inferred from the order of kernel names.
type CollectiveGroup struct {
	Rank      int64    `json:"rank"`
	Step      *int     `json:"step"`
	Kind      string   `json:"kind"`
	Site      string   `json:"site"`
	Name      string   `json:"name"`
	Inferred  bool     `json:"inferred"`
	Count     int      `json:"count"`
	Bytes     *int64   `json:"bytes"`
	Busy      int64    `json:"busy_ns"`
	Over      int64    `json:"overlapped_ns"`
	FirstBusy int64    `json:"first_busy_ns"`
	FirstOver int64    `json:"first_overlapped_ns"`
	Ratio     *float64 `json:"overlap"`
	Kernels   []string `json:"kernels"`
}

// Kernel is the device time of all events of one name on a rank, in ns.
type Kernel struct {
	Rank  int64  `json:"rank"`
	Name  string `json:"name"`
	Cat   string `json:"category"`
	Count int    `json:"count"`
	Busy  int64  `json:"total_ns"`
}

// Finding is one thing to change: what it is, what it costs and how to see it.
type Finding struct {
	Rule     string     `json:"rule"`
	Severity Severity   `json:"severity"`
	Title    string     `json:"title"`
	Message  string     `json:"message"`
	Why      string     `json:"why"`
	Cost     *int64     `json:"cost_ns"`    // mean per optimizer step over complete steps of Kinds
	Share    *float64   `json:"cost_share"` // of the mean step of Kinds
	Saving   *Range     `json:"saving_ns"`
	Kinds    []string   `json:"kinds"`
	Also     []string   `json:"also"` // rules that apply to the time claimed here
	Evidence []Evidence `json:"evidence"`
	Fix      string     `json:"fix"`
	Caveats  []string   `json:"caveats"`

	total int64 // ns over all steps, for the order of findings
}

// Range is a least and a greatest value in ns.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Evidence is an event that a person can open in a viewer. Start is in ns on the
// clock of the trace's ts.
type Evidence struct {
	Rank     int64  `json:"rank"`
	Name     string `json:"name"`
	Track    string `json:"track"`
	Start    int64  `json:"start_ns"`
	Duration int64  `json:"duration_ns"`
}

// Skip says that a rule did not run, why, and what would let it.
type Skip struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// Exit is the exit code of the command and its reason.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}
