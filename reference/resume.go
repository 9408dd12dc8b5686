package reference

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/optim"
)

// checkResume refuses what cannot be gone on from, and checkpoints that could not be gone on from.
func checkResume(p *plan, c *Callbacks) error {
	switch {
	case c.CheckpointEvery == 0 && p.Resume == nil:
	case p.Target.Shapes:
		return &OptionError{"device", "a simulation has no weights to keep", "train on the cpu"}
	case p.Plant != "":
		return &OptionError{"plant", "a run with a fault cannot be resumed", "leave it out"}
	case c.CheckpointEvery%max(1, p.AdamEvery) != 0:
		return &OptionError{"adam-every", fmt.Sprintf("between its steps there are gradients, which checkpoints after "+
			"every %d steps would lack", c.CheckpointEvery), "take a multiple of it"}
	}
	if p.Resume != nil && len(p.Resume.Moments) != p.WorldSize {
		return fmt.Errorf("resume: moments of %d ranks, not %d", len(p.Resume.Moments), p.WorldSize)
	}
	return nil
}

// restore gives the optimizers the moments that they had.
func (r *rank) restore(o *optim.Optimizer) {
	if r.plan.Resume == nil {
		return
	}
	moments := r.plan.Resume.Moments[r.dev.Index]
	for _, p := range r.grads.Params() {
		if kept, ok := moments[p.Name]; ok {
			o.Restore(p.Group, p.Mine(), kept)
		}
	}
}

// keep hands out a checkpoint after a step, where one is due.
func (r *rank) keep(step int) {
	c := r.back.collector
	if every := c.callbacks.CheckpointEvery; every == 0 || (step+1)%every != 0 {
		return
	}
	r.back.deliver()
	all := Checkpoint{Rank: r.dev.Index, Steps: step + 1, Weights: r.weights(), Moments: make(map[string]optim.Kept)}
	for _, p := range r.grads.Params() {
		if kept, ok := r.update.optim.Keep(p.Index); ok {
			all.Moments[p.Name] = kept
		}
	}
	if r.dev.DeviceSynchronize(); r.dev.Err() == nil {
		c.checkpoint(all)
	}
}

// weights enqueues copies of all parameters to the host.
func (r *rank) weights() []Tensor {
	var list []Tensor
	for _, p := range r.grads.Params() {
		whole, free := r.grads.Whole(p)
		values := make([]float64, whole.N)
		r.dev.Download(device.Host{Floats: values}, whole)
		free()
		list = append(list, Tensor{p.Name, p.Shape, values})
	}
	return list
}

// checkpoint passes what a rank keeps to the callback.
func (c *collector) checkpoint(k Checkpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.callbacks.Checkpoint(k)
}
