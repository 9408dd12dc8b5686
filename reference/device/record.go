package device

// Recorder is told what one rank's device does. Times are in ns of one clock per
// rank, of the backend's making, and begin at the Unix epoch; correlations begin
// at 1. Host, Span, Memory and Sync are called by the rank's dispatch thread,
// Device (and Sync of a stream that waits) by the streams, so a Recorder must allow
// concurrent calls. Spans are told when they end. A nil Recorder is off, and costs
// a comparison.
type Recorder interface {
	Host(HostEvent)
	Span(Span)
	Device(DeviceEvent)
	Sync(SyncEvent)
	Memory(MemoryEvent)
}

// HostEvent is a call of the runtime: cudaLaunchKernel, cudaMemcpyAsync,
// cudaMemsetAsync, cudaEventRecord, cudaStreamWaitEvent, cudaStreamSynchronize,
// cudaEventSynchronize, cudaDeviceSynchronize.
type HostEvent struct {
	Name        string
	Start, End  int64 // ns
	Correlation int64 // of what it enqueued
	External    int64 // of the operator around it; 0 for none
}

// Span is an annotation or an operator on the dispatch thread.
type Span struct {
	Cat        string // user_annotation or cpu_op
	Name       string
	Start, End int64     // ns
	External   int64     // numbers the spans of a rank from 1
	Operands   []Operand // of an operator; nil for none
	Message    *Message  // of a record_param_comms, else nil
}

// Kinds of device events, as categories of traces.
const (
	KindKernel = "kernel"
	KindMemcpy = "gpu_memcpy"
	KindMemset = "gpu_memset"
)

// DeviceEvent is what ran on a stream.
type DeviceEvent struct {
	Kind        string // KindKernel, KindMemcpy or KindMemset
	Name        string
	Stream      int      // its ID
	Start, End  int64    // ns
	Correlation int64    // that of its HostEvent
	External    int64    // that of its HostEvent
	Flops       int64    // floating point operations; 0 where they are not counted
	Bytes       int64    // read and written
	Message     *Message // of a collective, else nil
}

// Kinds of sync events, as traces name them.
const (
	StreamWait  = "Stream Wait Event"
	StreamSync  = "Stream Sync"
	EventSync   = "Event Sync"
	ContextSync = "Context Sync"
)

// SyncEvent is a wait: of a stream for an event, or of the host for a stream, an
// event or everything.
type SyncEvent struct {
	Kind        string
	Stream      int   // that waits; of StreamSync the one that is waited for; -1 for none
	WaitStream  int   // on which the event was recorded; -1 for none
	EventRecord int64 // correlation of the cudaEventRecord; 0 for none
	Correlation int64 // of the call
	Start, End  int64 // ns
}

// MemoryEvent is an allocation (Bytes > 0) or a release (Bytes < 0). Allocated is
// what the program holds after it, Reserved what the allocator holds, in bytes.
type MemoryEvent struct {
	Time      int64 // ns
	Addr      int64
	Bytes     int64
	Allocated int64
	Reserved  int64
}

// Message describes a collective as record_param_comms does.
type Message struct {
	Name         string // allreduce, _reduce_scatter_base, _allgather_base, broadcast
	In, Out      int    // elements
	DType        string // Float, Double, Long
	GroupSize    int    // ranks
	Rank         int    // of the caller
	Ranks        []int  // of the group
	Seq          int64  // numbers the collectives of the group from 1
	Group        string // its name: 0
	GroupComment string // what it is for: default_pg
}
