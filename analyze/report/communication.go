package report

// Overlap is how long communication ran and how much of it was hidden, in ns, summed over
// the devices of a rank and the whole recording.
type Overlap struct {
	Busy       int64    `json:"busy_ns"`                   // length of the union of the kernels
	Overlapped int64    `json:"overlapped_ns"`             // of that, together with compute kernels
	WithMemory int64    `json:"overlapped_with_memory_ns"` // of that, together with compute kernels, copies or sets
	Exposed    int64    `json:"exposed_ns"`                // Busy less Overlapped
	Ratio      *float64 `json:"overlap"`                   // Overlapped over Busy, 0..1; null where nothing was busy
}

// Communication is the union of all collectives of a rank.
type Communication struct {
	Rank  int64 `json:"rank"`
	Count int   `json:"count"`
	Overlap
}

// Collectives is all collectives of one kind of a rank. The kinds do not add up to
// Communication where they run at the same time.
type Collectives struct {
	Rank int64 `json:"rank"`

	// Kind is reduce_scatter, all_gather, all_reduce, broadcast, reduce, all_to_all,
	// send_recv, barrier (waits for other ranks, moves next to nothing) or other.
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Overlap

	// InSteps is what the ledgers of all steps say of the kind; null without device windows.
	InSteps *int64       `json:"exposed_in_step_ns"`
	Sites   []LaunchSite `json:"launch_sites"` // most first, unknown last
}

// LaunchSite counts the collectives that one place of the program launches.
type LaunchSite struct {
	// Site is backward_hook, optimizer_step, framework_hook, annotation, cuda_graph or unknown.
	Site  string `json:"site"`
	Name  string `json:"name"` // of the optimizer, the annotation or a graph's own site; "" where the site has none
	Count int    `json:"count"`
}

// CollectiveGroup is the collectives of one kind, site and step of a rank, or where the
// site is inferred those of one period before the first step.
type CollectiveGroup struct {
	Rank     int64  `json:"rank"`
	Step     *int   `json:"step"` // an Index of Steps; null where the site is inferred
	Kind     string `json:"kind"` // as that of Collectives
	Site     string `json:"site"` // as that of LaunchSite, with its Name
	Name     string `json:"name"`
	Inferred bool   `json:"inferred"` // the site, from the order of kernel names

	Count int    `json:"count"`
	Bytes *int64 `json:"bytes"` // of all its collectives; null unknown

	// Busy and Over are ns as in Overlap, FirstBusy and FirstOver those of the first
	// collective alone. Ratio is Over by Busy; null where nothing was busy.
	Busy      int64    `json:"busy_ns"`
	Over      int64    `json:"overlapped_ns"`
	FirstBusy int64    `json:"first_busy_ns"`
	FirstOver int64    `json:"first_overlapped_ns"`
	Ratio     *float64 `json:"overlap"`

	Kernels []string `json:"kernels"` // short names in the order of their starts, one a collective
}

// Kernel is the device time of all events of one name on a rank.
type Kernel struct {
	Rank  int64  `json:"rank"`
	Name  string `json:"name"`
	Cat   string `json:"category"` // kernel, gpu_memcpy or gpu_memset, as the trace has it
	Count int    `json:"count"`
	Busy  int64  `json:"total_ns"` // the sum of their durations, also where they overlap
}
