package report

// Source says what was read.
type Source struct {
	// Files are the names of the inputs, in their order; Format is that of the first,
	// "unknown" without any.
	Files  []string `json:"files"`
	Format string   `json:"format"`

	Bytes  int64 `json:"bytes"`  // of all files as stored, compressed or not
	Events int64 `json:"events"` // of all traces

	Device    string  `json:"device"`     // the model of the first rank's device; "unknown" where no header says it
	WorldSize *int64  `json:"world_size"` // ranks of the run, also those whose traces are not here; null unknown
	Ranks     []int64 `json:"ranks"`      // numbers of the ranks that were read, ascending; empty without any

	// RankFiles says which file holds the trace of a rank, by rank.
	RankFiles []RankFile `json:"rank_files,omitempty"`

	// StepSource says where the first rank's steps come from: optimizer, profiler_step (a
	// fallback that may be one per micro-batch) or none.
	StepSource string `json:"step_source"`

	// DataLoaders are PyTorch's names of what fetches batches, sorted, such as
	// _SingleProcessDataLoaderIter (in the loop's own process) and
	// _MultiProcessingDataLoaderIter (in workers); empty where no trace has any.
	DataLoaders []string `json:"data_loaders"`

	Fingerprint Fingerprint `json:"fingerprint"`
}

// RankFile is the file of a rank, one of Source.Files.
type RankFile struct {
	Rank int64  `json:"rank"`
	File string `json:"file"`
}

// Fingerprint is what must agree, beside device and world size, before the times of two
// reports are compared.
type Fingerprint struct {
	// Model is a hash of optimizers and parameters, in hexadecimal; "unknown" without shapes.
	Model string `json:"model"`

	// Accumulation is accumulation steps by optimizer name; empty where those of any of them,
	// or Model, are unknown.
	Accumulation []int `json:"accumulation"`
}

// Health says how far the input can be believed.
type Health struct {
	DeviceEvents []DeviceEvents `json:"device_events"` // of every rank with any
	Problems     []Problem      `json:"problems"`      // by rank

	// TimeUnknown is why Report.Time is null, so that where the time goes is unknown, and
	// absent where it is not. A clause without a full stop.
	TimeUnknown string `json:"time_unknown,omitempty"`
}

// NoDevice is the TimeUnknown of a recording of the host alone.
const NoDevice = "no device activity was recorded"

// DeviceEvents counts the kernels, copies and memsets of one rank.
type DeviceEvents struct {
	Rank     int64 `json:"rank"`
	Count    int   `json:"count"`
	Unlinked int   `json:"unlinked"`          // whose launch lies outside the recording
	Edge     int   `json:"unlinked_at_start"` // those of Unlinked before the first linked one
}

// Problem is one kind of damage in one file.
type Problem struct {
	Rank     int64  `json:"rank"`
	File     string `json:"file"`
	Code     string `json:"code"`     // a trace.Code
	Severity string `json:"severity"` // of the damage, not of a finding: note, warn, error
	Count    int64  `json:"count"`    // how often it occurred, at least 1
	Message  string `json:"message"`  // what it is
	Action   string `json:"action"`   // what the user can do

	// Offset is that of the first of them, in bytes of the decompressed file; null where it
	// has no place.
	Offset *int64 `json:"offset"`
}
