package reference

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/gradients"
)

// gradientExport copies gradients to the host as they are just before clipping and the
// optimizer, if there is a callback for them.
type gradientExport struct {
	dev    *device.Rank
	grads  *gradients.Set
	wanted bool
	list   []exported
}

type exported struct {
	index  int // of the parameter
	tensor Tensor
}

// add enqueues the copy of a gradient, unless its optimizer is not due in the step. A
// sharded gradient is gathered first.
func (e *gradientExport) add(step int, p *gradients.Param) {
	if !e.wanted || !p.Group.Due(step) {
		return
	}
	whole, free := e.grads.Gather(p)
	values := make([]float64, whole.N)
	e.dev.Download(device.Host{Floats: values}, whole)
	free()
	e.list = append(e.list, exported{p.Index, Tensor{p.Name, p.Shape, values}})
}

// take returns the gradients added since the last call, in the order of the model.
func (e *gradientExport) take() []Tensor {
	slices.SortFunc(e.list, func(a, b exported) int { return cmp.Compare(a.index, b.index) })
	var tensors []Tensor
	for _, x := range e.list {
		tensors = append(tensors, x.tensor)
	}
	e.list = nil
	return tensors
}

// readback copies the numbers of each step to the host. It waits for them only when the
// next step has been enqueued, so that the device does not run dry.
type readback struct {
	plan      *plan
	dev       *device.Rank
	s         *scalars
	collector *collector
	waiting   *pending // nil before the first step
}

// pending is a step whose copies are enqueued but may not have run.
type pending struct {
	step, micros int
	valid        []int64 // targets by micro-batch, as counted by the host
	story        story
	scalars      hostScalars
	gradients    []Tensor
	arrived      device.Event
}

// enqueue enqueues the copies of a step and delivers the previous one.
func (b *readback) enqueue(next *pending) {
	next.scalars = b.s.download(b.dev)
	next.arrived = b.dev.EventRecord(b.dev.Compute)
	b.deliver()
	b.waiting = next
}

// deliver waits for the pending step, if there is one, and passes it to the collector.
func (b *readback) deliver() {
	w := b.waiting
	if b.waiting = nil; w == nil {
		return
	}
	if b.dev.EventSynchronize(w.arrived); b.dev.Err() != nil {
		return
	}
	s := b.rankStep(w)
	if b.plan.Scale == "optimizer" || b.plan.Scale == "clip" {
		multiplyAll(w.gradients, s.Factor)
	}
	total := int64(0)
	for _, n := range w.valid {
		total += n
	}
	b.collector.add(delivery{step: w.step, micros: w.micros, result: s, valid: total, gradients: w.gradients,
		at: b.dev.Now()})
}

// rankStep converts a step that has arrived. Numbers that the loop does not compute are
// NaN.
func (b *readback) rankStep(w *pending) RankStep {
	if b.plan.Target.Shapes {
		return shapeStep(b.dev.Index, w)
	}
	h, nan := w.scalars, math.NaN()
	s := RankStep{Rank: b.dev.Index, Tokens: h.ints[:w.micros], LocalTokens: h.local(), GlobalTokens: h.total(),
		GradNorm: nan, ClipCoef: nan, Factor: nan, ReducedLoss: nan,
		story: w.story, valid: w.valid, means: b.plan.LossReduction == "mean"}
	for j, n := range w.valid {
		loss, added := h.floats[j], h.floats[j]
		if b.plan.LossReduction == "mean" {
			loss, added = loss*float64(n), added*float64(s.Tokens[j])
		}
		s.LossSums, s.added = append(s.LossSums, loss), append(s.added, added)
		s.computed = append(s.computed, h.floats[j])
	}
	if b.plan.ClipGradNorm > 0 {
		s.GradNorm, s.ClipCoef = h.norm(), h.coef()
	}
	if b.plan.scalesStored() || b.plan.scalesLoss() {
		s.Factor = h.factor()
	}
	if b.plan.ReduceLoss {
		s.ReducedLoss = h.logged()
	}
	return s
}

// shapeStep is a step of a device whose tensors have no contents: what the host knows of it.
func shapeStep(rank int, w *pending) RankStep {
	nan := math.NaN()
	s := RankStep{Rank: rank, Tokens: w.valid, GradNorm: nan, ClipCoef: nan, Factor: nan, ReducedLoss: nan,
		story: w.story, valid: w.valid}
	for _, n := range w.valid {
		s.LocalTokens += n
		s.LossSums, s.added, s.computed = append(s.LossSums, nan), append(s.added, nan), append(s.computed, nan)
	}
	return s
}

func multiplyAll(list []Tensor, by float64) {
	for _, t := range list {
		for i := range t.Values {
			t.Values[i] *= by
		}
	}
}
