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

	// Idle is why the device did nothing, by cause, in ns: it sums to the idle time of
	// Ledger, and is null together with it. LaunchBound, LaunchGaps and HostStall look at the
	// same time by the length of its pieces.
	Idle        *IdleCauses `json:"idle_causes_ns"`
	LaunchBound *int64      `json:"launch_bound_ns"` // in gaps of 1 ms at most that a late launch ends
	LaunchGaps  *int        `json:"launch_gaps"`     // how many of those there are
	HostStall   *int64      `json:"host_stall_ns"`   // in longer gaps
}

// IdleCauses is the idle time of a step on a device by cause, in ns.
type IdleCauses struct {
	DataLoading      int64 `json:"data_loading"`      // the loop waits for a batch
	Synchronization  int64 `json:"synchronization"`   // the host waited for the device, or for other hosts
	MemoryManagement int64 `json:"memory_management"` // memory is allocated or freed
	Compilation      int64 `json:"compilation"`       // code is compiled or loaded
	Optimizer        int64 `json:"optimizer"`         // the optimizer runs on the host
	HostOperators    int64 `json:"host_operators"`    // other operators and calls run on the host
	NoOperator       int64 `json:"no_operator"`       // Python, or what the profiler does not see
	LaunchLatency    int64 `json:"launch_latency"`    // the launch call is open, or just was
	KernelGap        int64 `json:"kernel_gap"`        // launched in time: between two kernels of a stream
	Profiler         int64 `json:"profiler"`          // the profiler itself
	QueuedWait       int64 `json:"queued_wait"`       // launched long before: it waits on the device
	Unlinked         int64 `json:"unlinked"`          // its launch was not recorded
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
	Memory        int64 `json:"memory"` // copies and memsets
	ReduceScatter int64 `json:"reduce_scatter"`
	AllGather     int64 `json:"all_gather"`
	AllReduce     int64 `json:"all_reduce"`
	OtherComm     int64 `json:"other_communication"`
	Idle          int64 `json:"idle"`
}
