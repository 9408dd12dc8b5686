package device

// Recorder observes the device of one rank. All times are ns since the Unix epoch, on a
// clock of the backend's choice; correlation ids start at 1. Begin, Host, Span, Memory and Sync
// are called by the dispatch thread of the rank, Device (and Sync for a stream that waits)
// by streams, so a Recorder must be safe for concurrent use. Spans are reported when they
// end. A nil Recorder means that nothing is recorded, at the cost of a comparison.
type Recorder interface {
	Begin(step int) // the host begins a step
	Host(HostEvent)
	Span(Span)
	Device(DeviceEvent)
	Sync(SyncEvent)
	Memory(MemoryEvent)
}

// HostEvent is a call of the CUDA runtime: cudaLaunchKernel, cudaMemcpyAsync,
// cudaMemsetAsync, cudaEventRecord, cudaStreamWaitEvent, cudaStreamSynchronize,
// cudaEventSynchronize, cudaDeviceSynchronize, cudaMalloc, cudaFree.
type HostEvent struct {
	Name        string
	Start, End  int64 // ns
	Correlation int64 // of what it enqueued
	External    int64 // id of the enclosing span; 0 for none
}

// Span is an annotation or an operator on the dispatch thread.
type Span struct {
	Cat        string // user_annotation or cpu_op
	Name       string
	Start, End int64     // ns
	External   int64     // id of the span, counted from 1 per rank
	Operands   []Operand // of an operator; nil for none
	Message    *Message  // of a record_param_comms, else nil
}

// Kinds of device events, by their categories in traces.
const (
	KindKernel = "kernel"
	KindMemcpy = "gpu_memcpy"
	KindMemset = "gpu_memset"
)

// DeviceEvent is an operation that ran on a stream.
type DeviceEvent struct {
	Kind        string // KindKernel, KindMemcpy or KindMemset
	Name        string
	Stream      int      // its ID
	Start, End  int64    // ns
	Correlation int64    // that of its HostEvent
	External    int64    // that of its HostEvent
	Flops       int64    // floating-point operations; 0 if not counted
	Bytes       int64    // read and written
	Message     *Message // of a collective, else nil
}

// Kinds of sync events, by their names in traces.
const (
	StreamWait  = "Stream Wait Event"
	StreamSync  = "Stream Sync"
	EventSync   = "Event Sync"
	ContextSync = "Context Sync"
)

// SyncEvent is a wait: of a stream for an event, or of the host for a stream, an event or
// the whole device.
type SyncEvent struct {
	Kind        string
	Stream      int   // the waiting stream; for StreamSync the one waited for; -1 for none
	WaitStream  int   // the stream of the event; -1 for none
	EventRecord int64 // correlation of its cudaEventRecord; 0 for none
	Correlation int64 // of the call
	Start, End  int64 // ns
}

// MemoryEvent is an allocation (Bytes > 0) or a release (Bytes < 0). Allocated and
// Reserved are the bytes held afterwards by the program and by the allocator.
type MemoryEvent struct {
	Time      int64 // ns
	Addr      int64
	Bytes     int64
	Allocated int64
	Reserved  int64
}

// UnknownRank is the Rank of a Message that does not say whose it is.
const UnknownRank = -1

// Message describes a collective as record_param_comms does.
type Message struct {
	Name         string // allreduce, _reduce_scatter_base, _allgather_base, broadcast
	In, Out      int    // elements
	DType        string // Float, Double, Long, BFloat16
	GroupSize    int    // ranks
	Rank         int    // of the caller, in the group; UnknownRank if nobody says so
	Ranks        []int  // of the group
	Seq          int64  // numbers the collectives of the group from 1
	Group        string // its name: 0
	GroupComment string // what it is for: default_pg
}
