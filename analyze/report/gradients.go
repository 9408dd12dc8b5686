package report

// GradientPass is a run of operators that writes all gradients of an optimizer, or nearly
// all: at least 90 % of their bytes.
type GradientPass struct {
	Rank int64 `json:"rank"`
	Step int   `json:"step"` // an Index of Steps

	// Kind is scale, clip, unscale, divide, copy, cast or zero; Where is in_backward,
	// between_micro_batches, after_backward, in_optimizer or after_optimizer.
	Kind      string `json:"kind"`
	Where     string `json:"where"`
	Optimizer string `json:"optimizer"` // "" unknown

	Parameters int   `json:"parameters"` // whose gradients it touches
	Launches   int   `json:"launches"`   // calls of operators: a foreach call is one
	Bytes      int64 `json:"bytes"`      // read and written, by shapes; 0 unknown

	// Busy is the time of its kernels and Span that from the first start to the last end,
	// in ns; where OnDevice is false both are of its operators on the host.
	Busy     int64 `json:"busy_ns"`
	Span     int64 `json:"span_ns"`
	OnDevice bool  `json:"on_device"`

	Floor    *int64 `json:"floor_ns"`                  // Bytes over the memory bandwidth of the device; null unknown
	Achieved *int64 `json:"achieved_bytes_per_second"` // Bytes over Busy; null off the device and where either is 0

	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"` // of the verdict, a sentence without a full stop
}

// Verdict is what gaprof says of a pass over the gradients.
type Verdict string

// The verdicts. Needless: the pass multiplies by one; it can go. Avoidable: it can be
// folded into something that runs anyway.
const (
	Needless       Verdict = "needless"
	Avoidable      Verdict = "avoidable"
	Required       Verdict = "required"
	UnknownVerdict Verdict = "unknown"
)

// GradientSync is in which micro-batches the gradients of a rank are reduced over ranks.
type GradientSync struct {
	Rank      int64  `json:"rank"`
	Optimizer string `json:"optimizer"` // "" where the rank has several, or none
	Pattern   string `json:"pattern"`   // every_micro_batch, last_micro_batch, none or unknown
	Kind      string `json:"kind"`      // of the collectives, as that of Collectives; "" without any

	// PerMicroBatch counts the collectives by backward pass of a step, as most steps have
	// them.
	PerMicroBatch []int  `json:"collectives_per_micro_batch"`
	Site          string `json:"site"`  // as that of LaunchSite; unknown without collectives
	Ranks         *int64 `json:"ranks"` // the size of the group that reduces; 1 without distributed run, null unknown
}

// TokenAllReduce is the reduction of token counts over ranks.
type TokenAllReduce struct {
	Rank    int64   `json:"rank"`
	Present *bool   `json:"present"`        // null where the trace cannot tell
	Where   *string `json:"where"`          // before_forward or before_scale; null unless Present
	PerStep int     `json:"count_per_step"` // as most steps have them
}
