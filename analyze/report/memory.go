package report

// Memory is the memory of one device in one step of a rank, as the [memory] events of
// profile_memory=True tell it. Its times are those of the host, which allocates long before
// a device uses the memory.
type Memory struct {
	Rank   int64  `json:"rank"`
	Device string `json:"device"`      // that of Step for an accelerator; cpu for host memory; unknown
	Kind   string `json:"device_type"` // cpu, cuda, hip, xpu, ...; unknown

	Step     *int   `json:"step"`     // an Index of Steps; null where the trace has no steps: of the whole recording
	StepKind string `json:"kind"`     // as that of Step; "" without one
	Complete bool   `json:"complete"` // as that of Step

	// PeakAllocated is the most that tensors take at a time, in bytes, and PeakReserved the
	// most that the allocator holds of the device for them, null where the trace does not tell.
	// They need not be reached together.
	PeakAllocated int64  `json:"peak_allocated_bytes"`
	PeakReserved  *int64 `json:"peak_reserved_bytes"`

	Phase string `json:"phase"`   // of PeakAllocated: forward, backward, after_backward, optimizer or unknown
	At    int64  `json:"peak_ns"` // when PeakAllocated was first reached, on the clock of the trace's ts

	// Start is what is allocated as the step begins, in bytes: parameters, the state of the
	// optimizer, gradients that were not cleared.
	Start int64 `json:"start_allocated_bytes"`

	// What forward passes hold until backward: bytes that are allocated in forward and
	// released in a backward pass of the same step, as the most at any time of the step
	// and at the peak, and of how many forward passes. Null where the trace has no addresses
	// or no backward pass.
	Held             *int64 `json:"held_bytes"`
	HeldPasses       *int   `json:"held_forward_passes"`
	HeldAtPeak       *int64 `json:"held_at_peak_bytes"`
	HeldAtPeakPasses *int   `json:"held_at_peak_forward_passes"`

	// Relative says that the trace does not tell all that is allocated: amounts count from
	// the lowest level of the recording, or, of host memory, from when memory was first
	// profiled, and are the least that can be.
	Relative bool `json:"relative"`
}
