package report

// Time says where the time of a device goes in a mean step: over all complete steps of all
// ranks that were asked for, whatever their kind, or over all steps where none is complete. A
// step on several devices of a rank counts as their mean. Without steps it is the whole
// recording, from the first start to the last end of activity on a device, a mean over
// devices.
type Time struct {
	Of     string `json:"of"`        // "step" or "recording"
	Count  int    `json:"count"`     // steps, or devices of a recording, that the mean is over
	Length int64  `json:"length_ns"` // the sum of Parts

	// Parts are what takes time at all, largest first. Idle is the part of that name by
	// cause; null where there are no steps.
	Parts []Part      `json:"parts"`
	Idle  *IdleCauses `json:"idle_causes_ns"`
}

// Part is a bucket of the ledger, or one kind of its other communication.
type Part struct {
	// What is the name of a bucket in Ledger. In place of other_communication stand the
	// kinds of collectives that are in it, and "other" for those of unknown kind; an instant
	// in which several run belongs to the first in the order broadcast, reduce, all_to_all,
	// send_recv, barrier, other.
	What  string  `json:"what"`
	Mean  int64   `json:"mean_ns"` // of a step, or of the recording
	Share float64 `json:"share"`   // of Time.Length, 0..1

	// Claims are what findings charge of it, by the order of findings. What is left has no
	// finding: no rule judges it, or it is too little for one.
	Claims []PartClaim `json:"claims"`
}

// PartClaim is what one finding charges of a Part.
type PartClaim struct {
	Rule string `json:"rule"`
	Mean int64  `json:"mean_ns"` // of a step
}

// ComputePart, MemoryPart, IdlePart and OtherPart are Parts that have no kind of collective.
const (
	ComputePart = "compute"
	MemoryPart  = "memory"
	IdlePart    = "idle"
	OtherPart   = "other" // communication of unknown kind
)
