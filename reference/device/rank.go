package device

// Rank bundles what the program of one rank works with: its Device, the two streams of a
// training loop, the Communicator, and the precision of the model. The parts of a trainer
// share one Rank. Like the Device, it may only be used from the rank's dispatch thread.
type Rank struct {
	Device
	Comm    Communicator
	Compute Stream // forward, backward and optimizer
	Comms   Stream // collectives; nil if there is only one rank
	Index   int    // of this rank, from 0
	World   int    // number of ranks
	DType   DType  // of parameters, activations and gradients; losses and moments have DType.Kept()

	member Member
}

// In returns the communicator of the group of this rank with a comment, see Member.In.
func (r *Rank) In(comment string) Communicator { return r.member.In(comment) }

// NewRank creates the streams of a rank. The one for collectives has the higher priority,
// because a late reduction delays all ranks.
func NewRank(m Member, dt DType) *Rank {
	r := &Rank{Device: m.Device, Comm: m.Comm, Index: m.Comm.Rank(), World: m.Comm.Size(), DType: dt,
		member: m}
	r.Compute = r.StreamCreateWithPriority(0)
	if r.World > 1 {
		r.Comms = r.StreamCreateWithPriority(-1)
	}
	return r
}

// Run enqueues an operation on the compute stream.
func (r *Rank) Run(k Kernel) { r.Launch(r.Compute, k) }

// Alloc allocates an uninitialized tensor in the precision of the model.
func (r *Rank) Alloc(shape ...int) *Buffer { return r.Malloc(r.DType, shape...) }

// Scalar allocates an uninitialized scalar, or a list of n, of the type in which losses,
// norms and factors are kept.
func (r *Rank) Scalar(n ...int) *Buffer { return r.Malloc(r.DType.Kept(), n...) }

// Zeros allocates a tensor in the precision of the model and clears it on the compute
// stream.
func (r *Rank) Zeros(shape ...int) *Buffer { return r.ZerosOf(r.DType, shape...) }

// ZerosOf is Zeros with elements of another type.
func (r *Rank) ZerosOf(dt DType, shape ...int) *Buffer {
	b := r.Malloc(dt, shape...)
	defer r.Range("cpu_op", "aten::zeros_like", Tensor(b))()
	r.MemsetAsync(r.Compute, b)
	return b
}

// Upload enqueues a copy from the host on the compute stream.
func (r *Rank) Upload(dst *Buffer, src Host) { r.MemcpyHtoDAsync(r.Compute, dst, src) }

// Download enqueues a copy to the host on the compute stream.
func (r *Rank) Download(dst Host, src *Buffer) { r.MemcpyDtoHAsync(r.Compute, dst, src) }

// After makes everything enqueued on s from now on wait for what is enqueued on the other
// stream so far.
func (r *Rank) After(s, other Stream) { r.StreamWaitEvent(s, r.EventRecord(other)) }

// Fork makes Comms wait for everything enqueued on Compute so far.
func (r *Rank) Fork() { r.StreamWaitEvent(r.Comms, r.EventRecord(r.Compute)) }

// Join makes Compute wait for everything enqueued on Comms so far.
func (r *Rank) Join() { r.StreamWaitEvent(r.Compute, r.EventRecord(r.Comms)) }

// Collective calls enqueue between a Fork and a Join: collectives see all results so far,
// and later operations see theirs.
func (r *Rank) Collective(enqueue func()) {
	r.Fork()
	enqueue()
	r.Join()
}
