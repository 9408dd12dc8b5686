package reference

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/gradients"
	"github.com/gaprof/gaprof/reference/optim"
)

// updater steps the optimizers, in the place of the loop that the options say.
type updater struct {
	plan   *plan
	dev    *device.Rank
	grads  *gradients.Set
	optim  *optim.Optimizer
	export *gradientExport
	span   spanFunc
}

// step steps the optimizers that are due; fold is a factor of the gradients, or nil.
func (u *updater) step(step int, fold *device.Buffer) {
	if u.plan.OptimizerInBackward {
		return
	}
	defer u.span("optimizer", step)()
	for _, g := range u.optim.Groups() {
		if !g.Due(step) {
			continue
		}
		end := u.dev.Range("user_annotation", g.StepName())
		if u.plan.Sharded() {
			u.stepSharded(step, g, fold)
		} else {
			u.stepWhole(step, g, fold)
		}
		end()
	}
}

// stepWhole updates all parameters of a group at once.
func (u *updater) stepWhole(step int, g *optim.Group, fold *device.Buffer) {
	params := u.grads.Of(g)
	if u.plan.AllReduce == "step" {
		u.grads.AllReduce(params)
		for _, p := range params {
			u.export.add(step, p)
		}
	}
	u.update(g, fold, params...)
}

// stepSharded reduces what has not been reduced in hooks, all launched before the
// first is waited for; then updates each shard and gathers the parameter.
func (u *updater) stepSharded(step int, g *optim.Group, fold *device.Buffer) {
	order := stepOrder(u.plan.StepOrder, u.grads.Of(g))
	inStep := u.plan.ReduceScatter == "step"
	if inStep {
		for _, p := range order {
			u.grads.ReduceScatter(p)
		}
	}
	for _, p := range order {
		if u.grads.Await(p); inStep {
			u.export.add(step, p)
		}
		u.update(g, fold, p)
		u.grads.GatherValue(p)
	}
	u.dev.Join()
}

// stepOrder returns the order in which a sharded optimizer goes through parameters.
func stepOrder(order string, params []*gradients.Param) []*gradients.Param {
	switch order {
	case "reverse":
		slices.Reverse(params)
	case "explicit":
		slices.SortStableFunc(params, func(a, b *gradients.Param) int { return cmp.Compare(a.Value.N, b.Value.N) })
	}
	return params
}

func (u *updater) update(g *optim.Group, fold *device.Buffer, params ...*gradients.Param) {
	targets := make([]optim.Target, len(params))
	for i, p := range params {
		targets[i] = p.Mine()
	}
	u.optim.Update(g, fold, targets)
}

// early is the hook of an optimizer in backward: it updates a parameter as soon as its
// gradient is ready, and is done with the gradient.
func (u *updater) early(p *gradients.Param) {
	u.grads.TakeBack(p)
	end := u.dev.Range("user_annotation", p.Group.StepName())
	u.update(p.Group, nil, p)
	end()
	if !u.plan.has(keepUsed) {
		p.Clear()
	}
}

// zeroGrad is zero_grad of the optimizers that step at the end of a step.
func (u *updater) zeroGrad(step int) {
	for _, g := range u.optim.Groups() {
		if !g.Due(step) {
			continue
		}
		end := u.dev.Range("user_annotation", g.ZeroGradName())
		for _, p := range u.grads.Of(g) {
			p.Clear()
		}
		end()
	}
}
