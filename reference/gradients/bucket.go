package gradients

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// bucket is what one all-reduce reduces: neighbours, the last parameter first, as they
// become ready in backward.
type bucket struct {
	flat   *device.Buffer
	params []*Param
	ready  int  // of params, in this backward
	sent   bool // reduced in this backward
}

// makeBucket gives parameters of size elements together their gradients.
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

// bucketReady counts, and reduces a bucket whose parameters are all there. DDP divides
// before it sums where gradients are no views of buckets; nothing else would move them.
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
	}
}

// intoBucket is what DDP does with a gradient that is no view.
func (s *Set) intoBucket(p *Param) {
	by := 1.0
	if s.policy.GradReduction == "mean" {
		by /= float64(s.rank.World)
	}
	end := s.rank.Range("cpu_op", "torch::distributed::reducer::mul_out", device.Tensor(p.Grad))
	s.rank.Run(ops.MulInto{Y: p.place, X: p.Grad, Value: by})
	end()
}

// TakeBack lets the compute stream wait for the reduction of a gradient, and copies it
// back where it is no view of its bucket.
func (s *Set) TakeBack(p *Param) {
	if s.Await(p); p.place == nil || !p.bucket.sent {
		return
	}
	end := s.rank.Range("cpu_op", "torch.distributed.ddp.reducer::copy_bucket_to_grad", device.Tensor(p.Grad))
	s.rank.MemcpyDtoDAsync(s.rank.Compute, p.Grad, p.place)
	end()
}

// AllReduce reduces whole gradients one by one: what an optimizer that reduces in its
// own step does, with gradients as accumulated over all micro-batches.
func (s *Set) AllReduce(params []*Param) {
	s.rank.Collective(func() {
		for _, p := range params {
			s.rank.Comm.AllReduce(s.rank.Comms, p.Grad, s.policy.Reduction())
		}
	})
}
