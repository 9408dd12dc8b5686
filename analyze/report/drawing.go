package report

// Drawing is what figures need beyond the figures of a report: a report without it has no
// timeline.
type Drawing struct {
	Timelines   []Timeline   `json:"timelines"`            // one a rank that has a step with a device window
	Collectives []Collective `json:"collectives"`          // by rank, then start where some were left out
	LeftOut     int          `json:"collectives_left_out"` // the shortest, of more than can be shown

	// Memory is of the same steps as Timelines, highest peak first. MemoryLeftOut devices with
	// lower ones, of more than can be shown, are not in it.
	Memory        []MemorySeries `json:"memory"`
	MemoryLeftOut int            `json:"memory_left_out"`

	// Predicted is a step before and after the edit that gains most; absent where none gains.
	Predicted *PredictedStep `json:"predicted,omitempty"`

	// NotReplayed is why the run cannot be replayed, "" where it can or was not asked to be.
	NotReplayed string `json:"not_replayed,omitempty"`
}

// MemorySeries is the memory of a device over one step of a rank, on the clock of the host.
// Amounts are in bytes, each from its instant to that of the next one; of many, the least and
// the most of each of some hundred parts of the step.
type MemorySeries struct {
	Rank      int64   `json:"rank"`
	Device    string  `json:"device"`      // as that of Memory
	Kind      string  `json:"device_type"` // as that of Memory
	Step      int     `json:"step"`        // an Index of Steps
	Start     int64   `json:"start_ns"`    // of the step on the host
	Duration  int64   `json:"duration_ns"`
	At        []int64 `json:"at_ns"`           // from Start; ascending
	Allocated []int64 `json:"allocated_bytes"` // as long as At
	Reserved  []int64 `json:"reserved_bytes"`  // as long as At, or empty: unknown
	Held      []int64 `json:"held_bytes"`      // likewise: allocated in forward, released in backward
	Phases    []Strip `json:"phases"`          // of the row "phase", by the host's time
	Relative  bool    `json:"relative"`        // as that of Memory
}

// Timeline is one representative step of a rank on one device. Times are in ns; spans
// closer than Resolution are joined.
type Timeline struct {
	Rank       int64   `json:"rank"`
	Device     string  `json:"device"` // as that of Step
	Step       int     `json:"step"`   // an Index of Steps
	Kind       string  `json:"kind"`   // as that of Step
	Start      int64   `json:"start_ns"`
	Duration   int64   `json:"duration_ns"`
	Resolution int64   `json:"resolution_ns"`
	Folded     int     `json:"folded_streams"` // streams that share the row "other streams"
	Strips     []Strip `json:"strips"`

	// Names are of what takes most time on the rows of streams, the longest first; Strip.Names counts them from 1.
	Names []string `json:"names,omitempty"`

	// Others are further steps of the rank, at a coarser resolution; absent where it has none.
	Others []TimelineStep `json:"other_steps,omitempty"`
}

// TimelineStep is one more step of the rank of a Timeline, with its fields.
type TimelineStep struct {
	Device     string  `json:"device"`
	Step       int     `json:"step"`
	Kind       string  `json:"kind"`
	Start      int64   `json:"start_ns"`
	Duration   int64   `json:"duration_ns"`
	Resolution int64   `json:"resolution_ns"`
	Folded     int     `json:"folded_streams"`
	Strips     []Strip `json:"strips"`

	Names []string `json:"names,omitempty"`
}

// Strip is the spans of one class on one row of a timeline.
type Strip struct {
	// Row is "phase" (by the launch of compute kernels), "stream " and its name, "other
	// streams" or "ledger".
	Row string `json:"row"`

	// Class is, on the row "phase", one of forward, backward, gradient_sync,
	// after_backward, optimizer and unknown, else a bucket of the Ledger.
	Class string `json:"class"`

	// Exposed strips are the part of communication that the ledger counts; the strip of all
	// communication has the same time too.
	Exposed bool       `json:"exposed"`
	Spans   [][2]int64 `json:"spans_ns"` // start, from that of the window, and length; ascending

	// Names says of each span which of Timeline.Names is the longest piece of it, 0 none; absent where a strip
	// is not what a stream runs.
	Names []int `json:"span_names,omitempty"`
}

// Collective is one collective on a device.
type Collective struct {
	Rank     int64  `json:"rank"`
	Step     *int   `json:"step"` // an Index of Steps; null unlinked
	Kind     string `json:"kind"` // as that of Collectives
	Site     string `json:"site"` // as that of LaunchSite, with its Name
	Name     string `json:"name"`
	Bytes    *int64 `json:"bytes"` // null unknown
	Start    int64  `json:"start_ns"`
	Duration int64  `json:"duration_ns"`
	Exposed  int64  `json:"exposed_ns"` // of Duration, that no compute kernel covers
}
