package report

// RankWaits is how long a rank waits for others inside collectives, and they for it.
// Times are in ns, summed over all that was matched; null where no collective of the rank
// was matched or where the clocks cannot be compared.
type RankWaits struct {
	Rank int64 `json:"rank"`

	// Host is the machine that the rank ran on, as its trace or the name of its file says;
	// "" unknown. Clocks of several machines are aligned before waits are measured.
	Host         string `json:"host"`
	Collectives  int    `json:"collectives"`         // of all ranks of a group; not point-to-point
	PointToPoint int    `json:"point_to_point"`      // sends and receives, which are not matched
	Matched      int    `json:"matched_collectives"` // of Collectives

	Wait       *int64 `json:"wait_ns"`           // from its own start to the latest start
	WaitCaused *int64 `json:"wait_caused_ns"`    // of all others, by coming later than the next to last
	Last       *int   `json:"last_arrivals"`     // collectives that it enters last; null together with the waits
	Residual   *int64 `json:"clock_residual_ns"` // median distance of its ends from the middle of all ends
	Drift      *int64 `json:"clock_drift_ns"`    // of that, from the first half to the second
}

// Matching says how far the collectives of the ranks could be matched. Times are in ns,
// over the collectives whose times do not contradict each other, and null without any.
type Matching struct {
	Matched    int `json:"matched"`     // collectives on every given rank of their group
	Mismatches int `json:"mismatches"`  // pairs that would have to be one collective and cannot be
	BySequence int `json:"by_sequence"` // of Matched, by sequence number
	ByMessage  int `json:"by_message"`  // of Matched, by kind, type and elements
	ByName     int `json:"by_name"`     // of Matched, by the kernel's name alone
	Impossible int `json:"impossible"`  // of Matched: no transfer, or one beyond the link

	EndSkewMedian  *int64 `json:"end_skew_median_ns"` // from the earliest end to the latest
	EndSkewMax     *int64 `json:"end_skew_max_ns"`
	TransferMedian *int64 `json:"transfer_median_ns"` // from the latest start to the earliest end
	TransferMin    *int64 `json:"transfer_min_ns"`

	// Window is from the first start to the last end of what was matched; waits are sums
	// over it.
	Window        *int64 `json:"window_ns"`
	ClocksAligned bool   `json:"clocks_aligned"` // residuals were subtracted in some group

	SameSteps   *bool `json:"same_steps"`   // the ranks recorded the same steps; null with one rank
	CommonSteps int   `json:"common_steps"` // last steps that all ranks have alike; 0 with one rank

	Groups []MatchedGroup `json:"groups"`
	Notes  []string       `json:"notes"` // what limits the figures, most important first
}

// MatchedGroup is one process group.
type MatchedGroup struct {
	Name    string  `json:"name"`    // "" where the trace has none
	Size    *int64  `json:"size"`    // of all its members; null unknown
	Ranks   []int64 `json:"ranks"`   // members with collectives, by number
	Absent  []int64 `json:"absent"`  // members of which no trace was given
	Status  string  `json:"status"`  // matched, unmatched or one_rank
	Matched int     `json:"matched"` // collectives

	// By is what decided which collectives are the same: comms_id and sequence_number are
	// exact, signature is an alignment of kernels, messages and times; "" with one rank.
	By     string `json:"matched_by"`
	Reason string `json:"reason"` // why there is no match, or why no figure; "" where there are both
}
