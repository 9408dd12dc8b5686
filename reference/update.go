package reference

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/gradients"
	"github.com/gaprof/gaprof/reference/optim"
)

// updater steps the optimizers: after backward, or in its hooks.
type updater struct {
	plan   *plan
	dev    *device.Rank
	grads  *gradients.Set
	optim  *optim.Optimizer
	export *gradientExport
	follow *follower
	span   spanFunc
}

// step steps the optimizers that are due. If fold is not nil, they multiply gradients by
// it.
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
		if u.plan.ReduceScatter != "" {
			u.stepSharded(step, g, fold)
		} else {
			u.stepWhole(step, g, fold)
		}
		end()
	}
}

// stepWhole updates all parameters of a group, or the shards of all, in one launch.
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

// stepSharded reduces what hooks have not reduced, launching everything before waiting
// for the first; it then updates the shards one by one and gathers each parameter.
func (u *updater) stepSharded(step int, g *optim.Group, fold *device.Buffer) {
	order := stepOrder(u.plan.StepOrder, u.grads.Of(g))
	inStep := u.plan.StepReduces(g)
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

// stepOrder sorts parameters into the order in which a sharded optimizer updates them.
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
	for _, p := range params {
		if fold != nil {
			u.follow.note(p, deed{what: scaled, by: math.NaN(), shard: u.plan.Sharded()})
		}
		u.follow.note(p, deed{what: applied, shard: u.plan.Sharded()})
	}
}

// early is the hook of an optimizer in backward: it updates a parameter as soon as its
// gradient is ready, and then drops the gradient.
func (u *updater) early(p *gradients.Param) {
	u.grads.TakeBack(p)
	end := u.dev.Range("user_annotation", p.Group.StepName())
	u.update(p.Group, nil, p)
	end()
	if !u.plan.has(keepUsed) {
		u.clear(p)
	}
}

// clear is zero_grad of one parameter.
func (u *updater) clear(p *gradients.Param) {
	p.Clear()
	u.follow.note(p, deed{what: cleared})
}

// zeroGrad calls zero_grad on the optimizers that are due in a step.
func (u *updater) zeroGrad(step int) {
	for _, g := range u.optim.Groups() {
		if !g.Due(step) {
			continue
		}
		end := u.dev.Range("user_annotation", g.ZeroGradName())
		for _, p := range u.grads.Of(g) {
			u.clear(p)
		}
		end()
	}
}
