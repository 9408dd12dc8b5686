package report

// WhatIfSchema names the version of [WhatIf]. Fields are added, never renamed.
const WhatIfSchema = "gaprof.whatif/1"

// WhatIf is what predictions for a run come to, as JSON. All times are integer ns, gains per
// optimizer step; a gain is positive where the run gets faster.
type WhatIf struct {
	Schema  string        `json:"schema"`
	Version string        `json:"version"` // of gaprof
	Files   []string      `json:"files"`
	Ranks   []int64       `json:"ranks"`
	Replay  WhatIfReplay  `json:"replay"`
	Steps   []WhatIfSteps `json:"steps"`         // complete steps by kind
	Paths   []WhatIfPath  `json:"critical_path"` // by kind of step
	Edits   []WhatIfEdit  `json:"edits"`         // by gain, those that do not apply last
	Exit    Exit          `json:"exit"`          // 4 where the edits that were asked for do not apply
}

// WhatIfReplay is how well the graph explains what was recorded. That is the error of the replay
// of the unmodified run, not of a prediction.
type WhatIfReplay struct {
	Nodes     int     `json:"nodes"`
	Edges     int     `json:"edges"`
	Span      int64   `json:"span_ns"`          // from the first start to the last end, as recorded
	Replayed  int64   `json:"replayed_span_ns"` // the same in the replay
	SpanError float64 `json:"span_error"`       // their difference as a share of span_ns
	Worst     int64   `json:"worst_start_error_ns"`

	// Device operations that start more than 10 us later than what they wait for explains.
	Gaps        int   `json:"unexplained_gaps"`
	ComputeGaps int   `json:"unexplained_compute_gaps"` // those of compute, copies and memsets
	WorstGap    int64 `json:"worst_unexplained_gap_ns"`

	// The same replay with each edge taking the usual time of its class instead of its own.
	UsualError float64 `json:"usual_span_error"`

	Queue  WhatIfQueue `json:"launch_queue"`
	Events WhatIfWaits `json:"stream_waits"`
	ByTime int         `json:"edges_by_time"` // inferred from what ends just before
	Broken int         `json:"broken_edges"`  // inferred ones that closed a circle and were taken out

	Joined int `json:"joined_collectives"` // of several ranks that are one in the graph
	Apart  int `json:"apart_collectives"`  // whose times contradict each other: each rank keeps its own

	// Sends and receives between ranks. Those that are not joined stay as recorded.
	Transfers      int `json:"joined_transfers"` // sends that are one with their receive
	TransfersApart int `json:"apart_transfers"`  // sends and receives without a counterpart
}

// WhatIfQueue is what is known of the queues in which launched operations wait for their stream.
type WhatIfQueue struct {
	Depth   int `json:"deepest"`             // operations of a stream not started when a call returned, at most
	Blocked int `json:"blocked_launches"`    // calls that waited for room
	Full    int `json:"command_buffer_full"` // events of that name, with which the profiler notes it
}

// WhatIfWaits is what is known of streams that wait for each other.
type WhatIfWaits struct {
	Recorded int `json:"recorded"` // cuda_sync events
	Inferred int `json:"inferred"` // from how process groups launch collectives
	Unknown  int `json:"unknown"`
}

// WhatIfSteps is the complete steps of one kind.
type WhatIfSteps struct {
	Kind       string   `json:"kind"`
	Optimizers []string `json:"optimizers"`
	Steps      int      `json:"steps"`       // on all ranks and devices
	Duration   int64    `json:"duration_ns"` // mean
}

// WhatIfEdit is what one edit, or several together, would gain.
type WhatIfEdit struct {
	Edit   string `json:"edit"` // as it is asked for
	Title  string `json:"title"`
	How    string `json:"how"`
	Limit  string `json:"assumes"`
	Bound  bool   `json:"bound"` // it bounds what a family of changes can gain
	Legal  bool   `json:"legal"`
	Reason string `json:"reason,omitempty"` // why not: that of each edit which does not apply

	Fitted string `json:"fitted,omitempty"` // what was fitted to the run for it, and from what

	Gain  *WhatIfRange `json:"gain_ns,omitempty"` // mean over all complete steps
	Kinds []WhatIfGain `json:"steps,omitempty"`
}

// WhatIfRange is a prediction: what is expected, and between what it lies.
type WhatIfRange struct {
	Low  int64 `json:"low"`
	Mean int64 `json:"mean"`
	High int64 `json:"high"`
}

// WhatIfGain is the gain in steps of one kind.
type WhatIfGain struct {
	Kind   string `json:"kind"`
	Steps  int    `json:"steps"`
	Before int64  `json:"before_ns"` // mean
	After  int64  `json:"after_ns"`  // mean, predicted

	MedianBefore int64 `json:"median_before_ns"`
	MedianAfter  int64 `json:"median_after_ns"`

	Gain WhatIfRange `json:"gain_ns"` // of the mean
}

// WhatIfPath is the critical path of the steps of one kind as recorded: what decided how long
// they took. Its parts sum to the mean duration.
type WhatIfPath struct {
	Kind  string `json:"kind"`
	Steps int    `json:"steps"` // on all ranks and devices

	// Parts is ns per step, by host, launch_latency, compute, memory, communication, kernel_gap,
	// event_latency and unknown.
	Parts      map[string]int64  `json:"parts_ns"`
	Operations []WhatIfOperation `json:"operations"`    // those with most of it
	Hops       int               `json:"hops"`          // edges that it runs over, all steps together
	Inferred   int               `json:"inferred_hops"` // those of them that no profiler recorded

	Edges []WhatIfEdge `json:"inferred_edges"` // the most frequent of those
}

// WhatIfEdge is inferred edges on a critical path between operations of two names.
type WhatIfEdge struct {
	Kind  string `json:"kind"` // event: by how process groups launch collectives; time: by what ends just before
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"` // all steps together
}

// WhatIfOperation is how much of a critical path the operations of a name take.
type WhatIfOperation struct {
	Name  string `json:"name"`
	Time  int64  `json:"time_ns"` // mean per step
	Count int    `json:"count"`   // all steps together
}
