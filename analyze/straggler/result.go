package straggler

// Schema names the form of a Result.
const Schema = "gaprof.straggler/1"

// Result is what slow workers cost a job. Ratios are of means over steps unless said
// otherwise; 1 is no slowdown. Times are ns.
type Result struct {
	Schema     string `json:"schema"`
	File       string `json:"file,omitempty"`
	Operations int    `json:"operations"` // rows of the table

	DataParallel int `json:"data_parallel"`   // ranks
	Stages       int `json:"pipeline_stages"` // of the pipeline
	Chunks       int `json:"model_chunks"`    // model chunks in each stage

	// ObservedNS is the mean step as it was. ReplayedNS is T, its replay without the delays
	// that the graph does not explain, and IdealNS is T_ideal, the replay in which every operation of
	// a type takes the same time.
	ObservedNS int64 `json:"observed_ns"`
	ReplayedNS int64 `json:"replayed_ns"`
	IdealNS    int64 `json:"ideal_ns"`

	// Slowdown is S, ReplayedNS over IdealNS. Unexplained is ObservedNS over ReplayedNS: above 1.05 the
	// model does not fit the job, and Doubt says so.
	Slowdown    float64 `json:"slowdown"`
	Unexplained float64 `json:"unexplained"`
	Doubt       string  `json:"doubt,omitempty"`

	// Slowdowns with the observed time of some operations, and the ideal time of all others,
	// the largest first: S_t, S_dp, S_stage.
	ByType  []TypeSlowdown  `json:"by_type"`
	ByDP    []GroupSlowdown `json:"by_data_parallel_rank"`
	ByStage []GroupSlowdown `json:"by_stage"`
	Workers []Worker        `json:"workers"` // in the order of their ranks

	WorstWorkers Share `json:"worst_workers"` // M_W: those 3 % with the largest slowdown
	LastStage    Share `json:"last_stage"`    // M_S: all workers of the last stage

	Steps []Step `json:"steps"` // in the order of their numbers
}

// TypeSlowdown is what the operations of a type cost; sends and receives of one direction
// are one.
type TypeSlowdown struct {
	Type     string  `json:"type"`
	Slowdown float64 `json:"slowdown"`
	IdealNS  *int64  `json:"ideal_ns,omitempty"` // of one operation; none for two types together
	// DelayNS is by how much its operations started, in the mean, after all that the model knows
	// them to wait for: the host, or an edge that the model lacks. Replays have none of it.
	DelayNS int64 `json:"delay_ns"`
}

// GroupSlowdown is what the workers of a data parallel rank, or of a stage, cost.
type GroupSlowdown struct {
	Number   int32   `json:"number"`
	Slowdown float64 `json:"slowdown"`
}

// Worker is a data parallel rank of a pipeline stage.
type Worker struct {
	Rank  int32 `json:"rank"` // global, that names it
	DP    int32 `json:"data_parallel_rank"`
	Stage int32 `json:"stage"`

	// Slowdown is S_w, the smaller of those of its data parallel rank and of its stage: an
	// upper bound of what it alone costs.
	Slowdown float64 `json:"slowdown"`
	// Alone is what it alone costs, by a replay of its own; 0 where the job is too large for
	// one replay a worker.
	Alone float64 `json:"alone,omitempty"`
}

// Share is how much of the slowdown some workers account for. Both shares may be negative
// or above 1, because the ideal is an average that contains the slow ones.
type Share struct {
	Ranks []int32 `json:"ranks"`
	// Removed is the part of the slowdown that is gone when these workers are ideal.
	Removed    float64 `json:"removed"`
	RepairedNS int64   `json:"repaired_ns"` // the mean step then
	// Added is the part of the slowdown that these workers cause when all others are ideal.
	Added   float64 `json:"added"`
	AloneNS int64   `json:"alone_ns"` // the mean step then
}

// Step is one step of the job.
type Step struct {
	Number     int64   `json:"number"`
	ObservedNS int64   `json:"observed_ns"`
	ReplayedNS int64   `json:"replayed_ns"`
	IdealNS    int64   `json:"ideal_ns"`
	Slowdown   float64 `json:"slowdown"` // of this step
}
