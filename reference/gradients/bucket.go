package gradients

import (
	"slices"

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

// rebuild makes buckets of parameters in the order in which they have become ready, as DDP does after
// the first step: what is ready last would hold up a bucket that it shares with others. It needs that
// no gradient is there.
func (s *Set) rebuild() {
	if len(s.became) < len(s.params) || s.policy.BucketOrder == "forward" || s.hooks.Ready != nil {
		return
	}
	var old []*Param
	for _, b := range s.buckets {
		old = append(old, b.params...)
	}
	if slices.Equal(s.became, old) || slices.ContainsFunc(old, func(p *Param) bool { return p.has }) {
		return
	}
	for _, b := range s.buckets {
		s.rank.Free(b.flat)
	}
	if !s.policy.BucketView {
		for _, p := range old {
			s.rank.Free(p.Grad)
		}
	}
	s.buckets = nil
	s.makeBuckets(s.became)
}

// makeBucket allocates a bucket for parameters with size elements in total.
func (s *Set) makeBucket(params []*Param, size int) {
	b := &bucket{flat: s.rank.Zeros(size), params: params}
	s.buckets = append(s.buckets, b)
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
// are, and in a fixed order those before it have been.
func (s *Set) bucketReady(p *Param) {
	b := p.bucket
	if len(s.became) < len(s.params) && !slices.Contains(s.became, p) {
		s.became = append(s.became, p)
	}
	if p.place != nil {
		s.intoBucket(p)
	}
	if b.ready++; b.ready < len(b.params) {
		return
	}
	if s.policy.BucketOrder != "forward" {
		s.reduceBucket(b)
		return
	}
	for s.turn < len(s.buckets) && s.buckets[s.turn].ready == len(s.buckets[s.turn].params) {
		s.reduceBucket(s.buckets[s.turn])
		s.turn++
	}
}

// reduceBucket enqueues the all-reduce of a bucket. If gradients are not views, DDP has to copy
// them into the bucket anyway and divides them on the way, so the reduction is a sum then.
func (s *Set) reduceBucket(b *bucket) {
	op := s.policy.Reduction()
	if !s.policy.BucketView {
		op = device.Sum
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
