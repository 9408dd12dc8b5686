package reference

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
)

// report is a step on its way to the host.
type report struct {
	step, micros int
	valid        []int64 // targets by micro-batch, as the host has counted them
	ints         []int64
	floats       []float64
	gradients    []Tensor
	arrived      device.Event
}

// readBack enqueues the copies of a step's scalars, and delivers the step before.
func (r *rank) readBack(micros int) {
	next := &report{step: r.step, micros: micros, valid: r.valid, ints: make([]int64, r.ints.N), floats: make([]float64, r.floats.N), gradients: r.inOrder(r.handed)}
	r.d.MemcpyDtoHAsync(r.compute, device.Host{Ints: next.ints}, r.ints)
	r.d.MemcpyDtoHAsync(r.compute, device.Host{Floats: next.floats}, r.floats)
	next.arrived = r.d.EventRecord(r.compute)
	r.report()
	r.waiting = next
}

// inOrder puts gradients into the order of parameters.
func (r *rank) inOrder(list []Tensor) []Tensor {
	slices.SortFunc(list, func(a, b Tensor) int { return r.named[a.Name].number - r.named[b.Name].number })
	return list
}

// report waits for the step that is under way to the host and delivers it.
func (r *rank) report() {
	w := r.waiting
	if r.waiting = nil; w == nil {
		return
	}
	if r.d.EventSynchronize(w.arrived); r.d.Err() != nil {
		return
	}
	s := RankStep{Rank: r.index, Tokens: w.ints[:w.micros], LocalTokens: w.ints[r.p.accumulation], GlobalTokens: w.ints[r.p.accumulation+1],
		GradNorm: math.NaN(), ClipCoef: math.NaN(), Factor: math.NaN(), ReducedLoss: math.NaN()}
	total := int64(0)
	for j, n := range w.valid {
		loss := w.floats[j]
		if r.p.LossReduction == "mean" {
			loss *= float64(n)
		}
		s.LossSums = append(s.LossSums, loss)
		total += n
	}
	last := w.floats[r.p.accumulation:]
	if r.p.ClipGradNorm > 0 {
		s.GradNorm, s.ClipCoef = last[0], last[1]
	}
	if r.p.passes() || r.countsFirst() {
		s.Factor = last[2]
	}
	if r.p.ReduceLoss {
		s.ReducedLoss = last[3]
	}
	if r.p.Scale == "optimizer" || r.p.Scale == "clip" {
		multiplyAll(w.gradients, s.Factor)
	}
	r.collector.add(w.step, w.micros, s, total, w.gradients)
}

func multiplyAll(list []Tensor, by float64) {
	for _, t := range list {
		for i := range t.Values {
			t.Values[i] *= by
		}
	}
}

// handWeights gives the parameters at the end of a run to who wants them.
func (r *rank) handWeights() {
	if r.callbacks.Weights == nil {
		return
	}
	var list []Tensor
	for _, p := range r.params {
		values := make([]float64, p.value.N)
		r.d.MemcpyDtoHAsync(r.compute, device.Host{Floats: values}, p.value)
		list = append(list, Tensor{p.name, p.shape, values})
	}
	r.d.StreamSynchronize(r.compute)
	r.collector.mu.Lock()
	defer r.collector.mu.Unlock()
	r.callbacks.Weights(r.index, list)
}
