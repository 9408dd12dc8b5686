package trace

// Meta is what a recording says of itself as a whole.
type Meta struct {
	Format       string // "kineto", "chrome", "text": what the reader took it for
	BaseTime     int64  // ns since 1970 that all times are offsets from; 0 where absent
	TraceName    string
	Devices      []Device
	Distributed  *Distributed // nil where the recording does not say
	Dropped      int64        // device events the profiler says it lost
	Extra        []Extra      // top-level entries kept for writing, in file order
	WindowStart  int64        // ns, the profiler's own span; 0 with WindowEnd 0 where absent
	WindowEnd    int64
	EventsInFile int64 // events that stood in the file, metadata included
}

// Device is one accelerator as the profiler saw it.
type Device struct {
	ID          int64
	Name        string
	MemoryBytes int64
}

// Distributed is the distributedInfo of a recording.
type Distributed struct {
	Backend   string
	Rank      int64
	WorldSize int64
	Groups    []ProcessGroup
}

// ProcessGroup is one entry of pg_config.
type ProcessGroup struct {
	Name  string
	Desc  string
	Size  int64
	Ranks []int64
}

// Extra is a top-level entry of the file that the model has no field for.
type Extra struct {
	Key  string
	JSON string // the value's text
}
