package facts

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Updates is what the optimizers of a rank do.
type Updates struct {
	Clears
	OptimizerRuns []OptimizerRun // in order of start
	ZeroInside    []ZeroGrad     // zero_grad between two backward passes of a step, which loses gradients
	ZeroSteps     []int          // by Optimizer.zero_grad span: index of its step, -1 after the last update
}

// OptimizerRun is one outermost optimizer span and what it makes the device do.
type OptimizerRun struct {
	Step       int            // index, -1 after the last update
	Name       string         // of the optimizer
	Event      timeline.Event // the span
	InBackward bool           // it runs inside a backward pass
	Events     int            // device events that it launches
	Start      int64          // ns: first start of those, 0 without any
	End        int64          // ns: last end of those, 0 without any
	Idle       int64          // ns from Start to End in which the device does nothing; 0 with several devices
}

// ZeroGrad is an Optimizer.zero_grad span, or the first gradient that is set anew where none shows
// who cleared it.
type ZeroGrad struct {
	Step  int            // index
	Event timeline.Event // the span
}

// updatesOf lists the optimizer spans of a rank and where gradients are cleared. zero_grad
// inside backward belongs to an optimizer that steps there, parameter by parameter.
func updatesOf(x *timeline.Rank, s *steps.Steps, g *gradients.Gradients) Updates {
	u := Updates{OptimizerRuns: optimizerRuns(x, s)}
	for _, z := range x.Spans(x.Host, timeline.ZeroGrad) {
		step := s.At(z.Start)
		u.ZeroSteps = append(u.ZeroSteps, step)
		if step < 0 || x.InBackward(z.Row) {
			continue
		}
		if gap := g.Steps[step].Gaps.At(z.Start); gap != nil && gap.Loses() {
			u.ZeroInside = append(u.ZeroInside, ZeroGrad{step, x.Event(z.Row)})
		}
	}
	u.renewed(x, s, g)
	u.Clears = clearsOf(x, s, g)
	return u
}

// renewed adds clearings that no span shows, such as model.zero_grad(): the first accumulation
// that sets a gradient instead of adding to it. Frameworks that shard gradients, and
// optimizers that step in backward, take them away themselves.
func (u *Updates) renewed(x *timeline.Rank, s *steps.Steps, g *gradients.Gradients) {
	sharded := func(c gradients.HostCollective) bool { return c.Kind == timeline.ReduceScatter }
	if len(u.ZeroInside) > 0 || slices.ContainsFunc(g.HostCollectives, sharded) ||
		slices.ContainsFunc(u.OptimizerRuns, func(o OptimizerRun) bool { return o.InBackward }) {
		return
	}
	for i := range g.Steps {
		for _, gap := range g.Steps[i].Gaps {
			at := sort.Search(len(x.Nodes), func(k int) bool { return x.Nodes[k].Start >= gap.End })
			if gap.Renewed && gap.Loses() && at < len(x.Nodes) {
				u.ZeroInside = append(u.ZeroInside, ZeroGrad{i, x.Event(x.Nodes[at].Row)})
			}
		}
	}
}

// optimizerRuns measures the optimizer spans of a rank.
func optimizerRuns(x *timeline.Rank, s *steps.Steps) []OptimizerRun {
	var list []OptimizerRun
	for _, span := range x.Optimizers {
		o := OptimizerRun{
			Step:       s.At(span.Start),
			Name:       timeline.OptimizerName(x.Name(span.Row)),
			Event:      x.Event(span.Row),
			InBackward: x.InBackward(span.Row),
		}
		for i, l := range x.LaunchedByUpdate(span.Row) {
			start, end := x.Col.Start[l.Event()], x.End(l.Event())
			if i == 0 || start < o.Start {
				o.Start = start
			}
			o.End = max(o.End, end)
			o.Events++
		}
		if o.Events > 0 && len(x.Devices) == 1 {
			o.Idle = x.Devices[0].Busy.Ledger(o.Start, o.End)[timeline.IdleBucket]
		}
		list = append(list, o)
	}
	return list
}

// Cleared reports whether gradients are cleared anywhere in a step: by zero_grad or by a
// pass that fills them with zeros.
func (r *Rank) Cleared(step int) bool {
	for i := range r.Passes {
		if r.Passes[i].Step == step && r.Passes[i].Kind == gradients.ZeroPass {
			return true
		}
	}
	return slices.Contains(r.ZeroSteps, step)
}

// InBackward returns the names of the optimizers that step inside a backward pass of a step.
func (r *Rank) InBackward(step int) map[string]bool {
	names := make(map[string]bool)
	for _, o := range r.runsOf(step) {
		if o.InBackward {
			names[o.Name] = true
		}
	}
	return names
}

// runsOf returns the optimizer spans of one step, a part of OptimizerRuns.
func (r *Rank) runsOf(step int) []OptimizerRun {
	from := sort.Search(len(r.OptimizerRuns), func(i int) bool { return r.OptimizerRuns[i].Step >= step })
	to := sort.Search(len(r.OptimizerRuns), func(i int) bool { return r.OptimizerRuns[i].Step > step })
	return r.OptimizerRuns[from:max(from, to)]
}
