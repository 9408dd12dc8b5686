package trace

// Meta is what a recording says of itself as a whole. What it does not say is zero.
type Meta struct {
	Format      string       // what the reader took it for: "kineto", "chrome", "text" ...
	BaseTime    int64        // ns since 1970 that all times are offsets from; 0 unknown
	TraceName   string       // as the writer calls it; often a path
	Host        string       // the machine that wrote it, host_name of Kineto; "" unknown
	Devices     []Device     // in the order of the file
	Distributed *Distributed // nil where the recording does not say
	Dropped     int64        // device events that the profiler says it lost
	Extra       []Extra      // top-level entries kept for writing, in the order of the file

	// WindowStart and WindowEnd, in ns like all times, are the profiler's own span; both
	// are 0 where it is unknown.
	WindowStart int64
	WindowEnd   int64

	EventsInFile int64 // events that stood in the file, with those that became names of tracks
}

// Device is one accelerator as the profiler saw it.
type Device struct {
	ID          int64  // the ordinal, which device activity names
	Name        string // of the vendor's driver, such as "NVIDIA H100 80GB HBM3"
	MemoryBytes int64  // 0 unknown
}

// Distributed is the distributedInfo of a recording: which rank of which run it is of.
type Distributed struct {
	Backend   string         // nccl, gloo ...
	Rank      int64          // also 0 where the entry does not say
	WorldSize int64          // ranks in all; 0 unknown
	Groups    []ProcessGroup // in the order of the file
}

// ProcessGroup is one entry of pg_config: ranks that communicate with each other.
type ProcessGroup struct {
	Name  string  // as arguments of collectives name it; often a number
	Desc  string  // such as "default_pg" or "mesh_dp"
	Size  int64   // ranks in it; 0 unknown
	Ranks []int64 // by number; nil where the entry does not list them
}

// Extra is a top-level entry of the file that the model has no field for.
type Extra struct {
	Key  string // without quotes and escapes
	JSON string // the text of the value
}
