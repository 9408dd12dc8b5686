package gradients

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// bucket is the unit of all-reduce: neighbouring parameters, the last one first, which is
// the order in which they become ready in backward.
type bucket struct {
	flat   *device.Buffer
	params []*Param
	ready  int  // parameters that are ready in this backward pass
	sent   bool // its all-reduce was enqueued in this backward pass
}

// makeBucket allocates a bucket for parameters with size elements in total.
func (s *Set) makeBucket(params []*Param, size int) {
	b := &bucket{flat: s.rank.Zeros(size), params: params}
	at := 0
	for _, p := range params {
		p.bucket, p.Grad = b, b.flat.View(at, p.Shape...)
		if !s.policy.BucketView {
			p.place = p.Grad
			p.Grad = s.rank.Zeros(p.Shape...)
		}
		at += p.Grad.N
	}
}

// bucketReady marks a parameter as ready, and reduces its bucket once all of its parameters
// are. If gradients are not views, DDP has to copy them into the bucket anyway and divides
// them on the way, so the reduction is a sum then.
func (s *Set) bucketReady(p *Param) {
	b, op := p.bucket, s.policy.Reduction()
	if p.place != nil {
		s.intoBucket(p)
		op = device.Sum
	}
	if b.ready++; b.ready < len(b.params) {
		return
	}
	s.rank.Fork()
	s.rank.Comm.AllReduce(s.rank.Comms, b.flat, op)
	b.sent = true
	done := &reduction{event: s.rank.EventRecord(s.rank.Comms)}
	for _, p := range b.params {
		p.reduced = done
		s.did(p, reduced(s.policy.Reduction(), Averaged, Summed))
	}
}

// intoBucket copies a gradient that is not a view into its bucket, as DDP does.
func (s *Set) intoBucket(p *Param) {
	by := 1.0
	if s.policy.GradReduction == "mean" {
		by /= float64(s.rank.World)
	}
	end := s.rank.Range("cpu_op", "torch::distributed::reducer::mul_out", device.Tensor(p.Grad))
	s.rank.Run(ops.MulInto{Y: p.place, X: p.Grad, Value: by})
	end()
}

// TakeBack makes the compute stream wait for the reduction of a gradient and, if that is
// not a view of its bucket, copies it back.
func (s *Set) TakeBack(p *Param) {
	if s.Await(p); p.place == nil || !p.bucket.sent {
		return
	}
	end := s.rank.Range("cpu_op", "torch.distributed.ddp.reducer::copy_bucket_to_grad", device.Tensor(p.Grad))
	s.rank.MemcpyDtoDAsync(s.rank.Compute, p.Grad, p.place)
	end()
}

// AllReduce reduces whole gradients one by one, for optimizers that reduce in their own
// step, after gradients have been accumulated over all micro-batches.
func (s *Set) AllReduce(params []*Param) {
	s.rank.Collective(func() {
		for _, p := range params {
			s.rank.Comm.AllReduce(s.rank.Comms, p.Grad, s.policy.Reduction())
			s.did(p, reduced(s.policy.Reduction(), Averaged, Summed))
		}
	})
}
