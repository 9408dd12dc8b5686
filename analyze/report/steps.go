package report

// Step is one optimizer step on one device of a rank. The figures of the device are null,
// and Device is empty, where the step has no device window.
type Step struct {
	Rank   int64  `json:"rank"`
	Device string `json:"device"` // as the trace numbers it
	Index  int    `json:"index"`  // from 0, also where only some steps were asked for

	Kind       string      `json:"kind"`     // A, B, ...: steps that run the same optimizers with the same accumulation
	Complete   bool        `json:"complete"` // both its ends were recorded
	Optimizers []Optimizer `json:"optimizers"`

	MicroBatches *int `json:"micro_batches"`        // forward passes; null unknown
	LinkedEvents int  `json:"linked_device_events"` // launched in the step

	// Start and Duration, in ns, are of the device window; null together with Ledger.
	Start        *int64 `json:"start_ns"`
	Duration     *int64 `json:"duration_ns"`
	HostStart    int64  `json:"host_start_ns"`
	HostDuration int64  `json:"host_duration_ns"`

	Ledger *Ledger `json:"ledger_ns"` // where Duration went; null with it
}

// Optimizer is one optimizer that a step runs.
type Optimizer struct {
	Name         string `json:"name"`
	Accumulation *int   `json:"accumulation_steps"` // since its last step; null unknown
	InBackward   bool   `json:"in_backward"`        // it steps inside the backward pass
}

// Ledger is the device time of a step by bucket, in ns; it sums to the step's Duration.
// Communication is what is exposed of it: time in which compute or copies ran as well is
// theirs.
type Ledger struct {
	Compute       int64 `json:"compute"`
	Memory        int64 `json:"memory"` // copies and sets
	ReduceScatter int64 `json:"reduce_scatter"`
	AllGather     int64 `json:"all_gather"`
	AllReduce     int64 `json:"all_reduce"`
	OtherComm     int64 `json:"other_communication"`
	Idle          int64 `json:"idle"`
}
