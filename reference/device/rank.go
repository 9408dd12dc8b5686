package device

// Rank is what the program of one rank works with: its Device, the two streams of a
// training loop, the Communicator and the precision of the model's numbers. It adds no
// state of its own; parts of a trainer share one, and all of them call it from the
// rank's dispatch thread only, as a Device wants it.
type Rank struct {
	Device
	Comm    Communicator
	Compute Stream // forward, backward and optimizer
	Comms   Stream // collectives; nil in a world of one, which has none
	Index   int    // of this rank, from 0
	World   int    // number of ranks
	DType   DType  // of parameters, activations, gradients and losses
}

// NewRank makes the streams of a rank. Collectives get the more urgent one: a gradient
// that is reduced late holds everybody up.
func NewRank(m Member, dt DType) *Rank {
	r := &Rank{Device: m.Device, Comm: m.Comm, Index: m.Comm.Rank(), World: m.Comm.Size(), DType: dt}
	r.Compute = r.StreamCreateWithPriority(0)
	if r.World > 1 {
		r.Comms = r.StreamCreateWithPriority(-1)
	}
	return r
}

// Run enqueues an operation on the compute stream.
func (r *Rank) Run(k Kernel) { r.Launch(r.Compute, k) }

// Alloc returns memory for numbers of the model, with anything in it.
func (r *Rank) Alloc(shape ...int) *Buffer { return r.Malloc(r.DType, shape...) }

// Zeros returns memory for numbers of the model that the compute stream clears.
func (r *Rank) Zeros(shape ...int) *Buffer {
	b := r.Alloc(shape...)
	r.MemsetAsync(r.Compute, b)
	return b
}

// Upload enqueues a copy from the host on the compute stream.
func (r *Rank) Upload(dst *Buffer, src Host) { r.MemcpyHtoDAsync(r.Compute, dst, src) }

// Download enqueues a copy to the host on the compute stream.
func (r *Rank) Download(dst Host, src *Buffer) { r.MemcpyDtoHAsync(r.Compute, dst, src) }

// Fork lets what is enqueued on Comms from now on run after all that Compute holds.
func (r *Rank) Fork() { r.StreamWaitEvent(r.Comms, r.EventRecord(r.Compute)) }

// Join lets what is enqueued on Compute from now on run after all that Comms holds.
func (r *Rank) Join() { r.StreamWaitEvent(r.Compute, r.EventRecord(r.Comms)) }

// Collective enqueues collectives between a Fork and a Join: they read what has been
// computed, and what is computed next reads them.
func (r *Rank) Collective(enqueue func()) {
	r.Fork()
	enqueue()
	r.Join()
}
