package device

import "time"

// Stream is a queue of operations that run one after the other, beside other streams.
type Stream interface {
	// ID is the number of the stream in traces; never 0.
	ID() int
}

// Event is one record of an event on a stream: it happened when everything
// enqueued on that stream before it has run.
type Event interface{}

// Properties describe a device for the header of a trace.
type Properties struct {
	Backend string // cpu, sim, cuda
	Name    string // as the driver has it
	Memory  int64  // bytes; 0 where unknown
	SMs     int    // streaming multiprocessors; the cores of a cpu
}

// Device is the device of one rank. Its methods are called by one goroutine only,
// the rank's dispatch thread; none of them but the Synchronize ones waits for the
// device, though a full queue does hold back the host as a full launch queue does.
type Device interface {
	Properties() Properties
	// Malloc returns memory that holds anything, without a wait. Memory that was
	// freed is given out again at once: the streams' order keeps its uses apart, so
	// only what is used on a single stream may be freed while the device runs.
	Malloc(dt DType, shape ...int) *Buffer
	// Free gives the memory of b back; b is the buffer that Malloc returned.
	Free(b *Buffer)
	// StreamCreateWithPriority makes a stream; a lower number is more urgent.
	StreamCreateWithPriority(priority int) Stream
	// Launch enqueues an operation.
	Launch(s Stream, k Kernel)
	// MemcpyHtoDAsync and MemcpyDtoHAsync enqueue copies; the host's memory must be
	// left alone until the copy has run.
	MemcpyHtoDAsync(s Stream, dst *Buffer, src Host)
	MemcpyDtoHAsync(s Stream, dst Host, src *Buffer)
	// MemcpyDtoDAsync and MemsetAsync (to zero) are enqueued like kernels.
	MemcpyDtoDAsync(s Stream, dst, src *Buffer)
	MemsetAsync(s Stream, b *Buffer)
	// EventRecord makes an event of all that s holds now; what is enqueued on s
	// after StreamWaitEvent runs after the event.
	EventRecord(s Stream) Event
	StreamWaitEvent(s Stream, e Event)
	StreamSynchronize(s Stream)
	EventSynchronize(e Event)
	DeviceSynchronize()
	// Range opens an annotation of a trace category (user_annotation, cpu_op); the
	// function that it returns closes it. Ranges nest.
	Range(cat, name string, operands ...Operand) (end func())
	// HostWork is think time of the dispatch thread. It advances the clock of a
	// simulation and is nothing elsewhere.
	HostWork(d time.Duration)
	// Err returns the first failure of anything that was enqueued; after one, the
	// rest is dropped. On other ranks it is the failure of their peer.
	Err() error
	// Fail makes err that failure: the host cannot go on, and its peers shall not wait.
	Fail(err error)
	// Close waits for all streams and lets go of them.
	Close()
}

// Reduce is how a collective combines the numbers of the ranks. Sums are taken in
// the order of ranks, so bits repeat from run to run.
type Reduce uint8

// The sum of all ranks, and the sum divided by their number.
const (
	Sum Reduce = iota
	Avg
)

// String returns the name of the reduction in the names of kernels. Kernels of
// averages call themselves sums in NCCL, and here.
func (r Reduce) String() string { return "Sum" }

// Communicator is one rank's end of the group of all ranks. Every rank calls the
// same collectives in the same order. They are enqueued like kernels.
type Communicator interface {
	Rank() int
	Size() int
	// AllReduce leaves the reduction of all ranks' buf in every rank's buf.
	AllReduce(s Stream, buf *Buffer, op Reduce)
	// ReduceScatter leaves part r of the reduction of all ranks' send in rank r's
	// recv; send holds Size() parts as long as recv. recv may be that part of send.
	ReduceScatter(s Stream, send, recv *Buffer, op Reduce)
	// AllGather leaves every rank's send, in the order of ranks, in every rank's
	// recv. send may be the rank's own part of recv.
	AllGather(s Stream, send, recv *Buffer)
	// Broadcast leaves the root's buf in every rank's buf.
	Broadcast(s Stream, buf *Buffer, root int)
}

// Config says what a backend opens.
type Config struct {
	World    int        // ranks, at least 1
	Record   []Recorder // by rank; nil, or nil for a rank, records nothing
	Slowdown []float64  // by rank: its kernels take so many times as long; nil, or below 1, is full speed
}

// Member is what one rank owns.
type Member struct {
	Device Device       // closed by whoever opened the backend
	Comm   Communicator // of all ranks; its collectives are enqueued on streams of Device
}

// Backend makes the devices of all ranks of a run.
type Backend interface {
	// Open returns one Member per rank. Their devices are closed by the caller.
	Open(c Config) ([]Member, error)
}
