package report

// Lateness is why a rank enters collectives later than those that wait for it there: what it
// does in the time before them that the others do not. Times are in ns per optimizer step of
// the rank.
type Lateness struct {
	LateRank
	Chain []LateRank `json:"chain"` // where the rank waits for another: that one, and so on; empty else
}

// LateRank is a rank and why it is late.
type LateRank struct {
	Rank  int64  `json:"rank"`
	Group string `json:"group"` // the process group in which it keeps others waiting; "" without a name

	// Cause is data_loading, synchronization, memory_management, compilation, profiler,
	// launch_bound, host_stall, garbage_collection, slower_kernels, more_work,
	// memory_copies, other_rank or unknown, and NS what the rank spends on it beyond the
	// others, their median, per step: in whole steps for causes of idle time, before
	// collectives for the rest; 0 if unknown.
	Cause string `json:"cause"`
	NS    int64  `json:"ns"`
	Text  string `json:"text"` // the same as a sentence

	// Late is how much longer the others stand in collectives of the group than the rank,
	// and Parts and Unexplained, which sum to it, what the rank does meanwhile beyond them.
	Late        int64      `json:"late_ns"`
	Parts       []LatePart `json:"parts"` // largest first
	Unexplained int64      `json:"unexplained_ns"`

	Steps     int    `json:"steps"`      // that were compared
	LateSteps int    `json:"late_steps"` // of Steps, in which Cause makes it late
	WaitsFor  *int64 `json:"waits_for"`  // the rank that it waits for; null for other causes

	Evidence []Evidence `json:"evidence"` // spans of the rank that show the cause
}

// LatePart is what a rank spends on something beyond the others, in ns per step. Beside the
// causes there are other_idle and other_communication.
type LatePart struct {
	Cause string `json:"cause"`
	NS    int64  `json:"ns"` // negative where the others spend more
}
