package device

import "time"

// Stream is a queue of operations that run in order, concurrently with other streams.
type Stream interface {
	// ID returns the number of the stream in traces; it is never 0.
	ID() int
}

// Event marks a position in a stream. It has happened once everything enqueued on the
// stream before it has run.
type Event interface{}

// StreamID returns the number that the i-th stream of a device has in traces: the first two
// have those of PyTorch's compute and NCCL streams.
func StreamID(i int) int {
	if numbers := []int{7, 20}; i < len(numbers) {
		return numbers[i]
	}
	return 20 + i
}

// Properties describe a device for the header of a trace.
type Properties struct {
	Backend string // cpu, sim, cuda
	Name    string // as reported by the driver
	Memory  int64  // bytes; 0 if unknown
	SMs     int    // streaming multiprocessors; the cores of a cpu

	Capability float64 // compute capability, 9.0; 0 for what is no GPU
}

// Device is the device of one rank. Only one goroutine may call its methods: the rank's
// dispatch thread. Only the Synchronize methods wait for the device, except that a full
// queue blocks the host, as CUDA's launch queue does.
type Device interface {
	Properties() Properties
	// Malloc allocates uninitialized memory without waiting. It reuses freed memory at
	// once, relying on the order within a stream: while the device is running, only
	// memory that was used on a single stream may be freed.
	Malloc(dt DType, shape ...int) *Buffer
	// MallocOn is Malloc for memory whose first use is on s. Freed memory is reused for the
	// same stream only, as by PyTorch's allocator; what Malloc returns has a pool of its own,
	// that of the compute stream. Memory that other streams have used may be freed as soon as
	// the stream whose pool it goes back to is known to wait for them.
	MallocOn(s Stream, dt DType, shape ...int) *Buffer
	// Free releases the memory of b, which must have been returned by Malloc or MallocOn.
	Free(b *Buffer)
	// EmptyCache waits for the device and gives freed memory back to the system, from
	// which Malloc then has to take it again.
	EmptyCache()
	// StreamCreateWithPriority creates a stream. Lower numbers mean higher priority.
	StreamCreateWithPriority(priority int) Stream
	// Launch enqueues an operation.
	Launch(s Stream, k Kernel)
	// MemcpyHtoDAsync and MemcpyDtoHAsync enqueue copies. Host memory must not be
	// touched until the copy has run.
	MemcpyHtoDAsync(s Stream, dst *Buffer, src Host)
	MemcpyDtoHAsync(s Stream, dst Host, src *Buffer)
	// MemcpyDtoDAsync enqueues a copy within the device; MemsetAsync enqueues clearing.
	MemcpyDtoDAsync(s Stream, dst, src *Buffer)
	MemsetAsync(s Stream, b *Buffer)
	// EventRecord records an event on s. StreamWaitEvent makes everything enqueued on s
	// from then on wait for an event.
	EventRecord(s Stream) Event
	StreamWaitEvent(s Stream, e Event)
	StreamSynchronize(s Stream)
	EventSynchronize(e Event)
	DeviceSynchronize()
	// Range opens an annotation in a trace category, user_annotation or cpu_op. The
	// function it returns closes it. Ranges nest.
	Range(cat, name string, operands ...Operand) (end func())
	// Sleep lets the dispatch thread sleep.
	Sleep(d time.Duration)
	// HostWork stands for time that the dispatch thread spends computing. It advances
	// the clock of a simulation and does nothing elsewhere.
	HostWork(d time.Duration)
	// BeginStep tells the Recorder that the program begins a step. It is called inside the
	// ProfilerStep range of that step.
	BeginStep(step int)
	// Now notes the time. The function it returns tells it, in ns since the Unix epoch; on a
	// simulation it may only be called when all devices of the run are closed.
	Now() func() int64
	// Err returns the first failure of an enqueued operation, on any rank. Operations
	// enqueued after it are dropped.
	Err() error
	// Fail makes Err return err on all ranks: this host cannot continue, and its peers
	// must not wait for it.
	Fail(err error)
	// Close waits for all streams and releases them.
	Close()
}

// Reduce is the operator of a reduction over ranks. Sums are computed in the order of
// ranks, so that results are bitwise reproducible.
type Reduce uint8

// The sum over ranks, and their mean.
const (
	Sum Reduce = iota
	Avg
)

// String returns the operator as it appears in the names of kernels. As in NCCL, kernels
// that average are called Sum, too.
func (r Reduce) String() string { return "Sum" }

// Communicator connects a rank to the others of a group. Every rank of the group must call
// the same collectives in the same order. They are enqueued on a stream, like kernels.
type Communicator interface {
	Group() Group
	Rank() int // position in the group
	Size() int // ranks of the group
	// AllReduce replaces buf on every rank by the reduction over all ranks.
	AllReduce(s Stream, buf *Buffer, op Reduce)
	// ReduceScatter reduces send over all ranks and leaves part r of the result in recv
	// of rank r. send is Size() times as long as recv, which may be part of it.
	ReduceScatter(s Stream, send, recv *Buffer, op Reduce)
	// AllGather concatenates send over all ranks, in their order, into recv on every
	// rank. send may be the rank's own part of recv.
	AllGather(s Stream, send, recv *Buffer)
	// Broadcast copies buf of the root to buf on every rank.
	Broadcast(s Stream, buf *Buffer, root int)
	// AllToAll sends part r of send to rank r, and leaves what rank r has sent in part r of recv,
	// which is as long. Its length is a multiple of Size().
	AllToAll(s Stream, send, recv *Buffer)
	// Shift sends send to the rank so many positions further on, around the ring of all, and
	// receives recv from the one as many before: a batch of a send and a receive.
	Shift(s Stream, send, recv *Buffer, by int)
}

// Config tells a backend what to open.
type Config struct {
	World    int        // ranks, at least 1
	Record   []Recorder // by rank; nil, or nil for a rank, to record nothing
	Slowdown []float64  // factor by rank for the duration of kernels; nil, or less than 1, for none
	Equal    bool       // all ranks enqueue the same: a simulation may open one that stands for all
	Groups   []Group    // besides that of all ranks

	// Recorded is called once the Recorder of a rank has been told everything, by several goroutines at once. Only a
	// simulation that runs each rank by itself calls it: what is recorded can be used and let go of, rank by rank.
	Recorded func(rank int)
}

// Traits are what a program has to know of a backend before it opens devices.
type Traits struct {
	Name   string  // cpu, sim, cuda
	Types  []DType // of the models that it runs
	Shapes bool    // tensors have shapes and no contents: losses, norms and gradients are unknown
	Epoch  int64   // ns since the Unix epoch when the clock of the devices begins; 0 if that is the wall clock
	Memory int64   // bytes that all ranks together may take from the host; 0 unlimited
	Node   int     // devices of a node; 0 unknown
}

// Plain are the traits of a backend that computes on the host.
func Plain() Traits { return Traits{Name: "cpu", Types: []DType{F32, F64}, Memory: 64e9} }

// Refusal is the error of a backend that cannot run what is asked of it. Its texts name
// options of the trainer in backquotes.
type Refusal struct {
	Option string // to blame
	Reason string
	WayOut string // what to do instead
}

func (r *Refusal) Error() string { return r.Option + ": " + r.Reason + "; " + r.WayOut }

// Member is what a backend opens for one rank.
type Member struct {
	Device Device       // to be closed by the caller of Open
	Comm   Communicator // of all ranks; enqueues on streams of Device
	// Groups has a Communicator for each of Config.Groups that the rank is in, in their order.
	Groups []Communicator
}

// Backend opens the devices of a run.
type Backend interface {
	// Traits returns what the backend is.
	Traits() Traits
	// Open returns one Member per rank, or, if all are equal, as many as it likes: the first
	// stand for the others. The caller closes their devices. A *Refusal says what it cannot run.
	Open(c Config) ([]Member, error)
}
