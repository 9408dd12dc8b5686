package facts

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Phase is the part of a training step in which a device event is launched.
type Phase string

// The phases of a step.
const (
	PhaseForward       Phase = "forward"        // forward passes, and whatever precedes them
	PhaseBackward      Phase = "backward"       // backward passes
	PhaseGradientSync  Phase = "gradient_sync"  // collectives that reduce gradients
	PhaseAfterBackward Phase = "after_backward" // between the last backward pass and the optimizer: scaling, clipping
	PhaseOptimizer     Phase = "optimizer"      // the update
	PhaseUnknown       Phase = "unknown"        // none of these can be said
)

// Phases determines the phase and the operator of device events. Unlike facts it refers to
// the index that they were computed from: it answers for every single event, and to keep
// the answers would take as much memory as the trace. It is read-only once it is made.
type Phases struct {
	x    *timeline.Rank
	r    *Rank
	sync map[int32]bool // device rows of collectives that reduce gradients
	last []int64        // ns: end of the last backward pass by step, then after the last update; 0 for none
}

// NewPhases prepares the phases of a rank, given its index and its facts.
func NewPhases(x *timeline.Rank, r *Rank) *Phases {
	l := launchPhases(x, r)
	rows := x.CollectiveRows()
	for i := range r.Collectives {
		c := &r.Collectives[i]
		elems := max(c.InElems, c.OutElems)
		if elems == 0 {
			elems = Unknown
		}
		reduces := r.Params.Reduces(c.Kind, elems, c.Site)
		if c.Asked >= 0 {
			reduces = r.HostCollectives[c.Asked].Gradient
		}
		if reduces {
			l.sync[rows[i]] = true
		}
	}
	return l
}

// launchPhases prepares the phases of a rank without saying which collectives reduce
// gradients: PhaseGradientSync is then never one of them.
func launchPhases(x *timeline.Rank, r *Rank) *Phases {
	l := &Phases{x: x, r: r, sync: make(map[int32]bool), last: make([]int64, len(r.Steps)+1)}
	for i := range r.Backwards {
		b := &r.Backwards[i]
		at := &l.last[l.window(r.StepAt(b.Start))]
		*at = max(*at, b.End)
	}
	return l
}

// Phase returns the phase of a device event, given its row and that of its launch call, -1
// for none.
//
//  1. Without a launch call in the recording it is unknown.
//  2. The innermost span around the launch call that is an optimizer's (step, zero_grad) or
//     of backward decides. On a thread that runs only backward it is backward.
//  3. Else time decides, within the step's host window: forward before the end of its last
//     backward pass, then after_backward until its update. If steps are not those of an
//     optimizer, or no backward pass was recorded, it is unknown.
//  4. A collective that reduces gradients is gradient_sync, whether backward,
//     after_backward or the optimizer launches it.
//
// Parts of a graph that annotations place in backward are of it. Without annotations a graph
// that a step launches in its optimizer, and no backward pass before that, may be all of the
// step: unknown.
func (l *Phases) Phase(row, launch int32) Phase {
	if launch < 0 {
		return PhaseUnknown
	}
	p := l.phaseOfSpans(launch)
	if p == PhaseUnknown {
		p = l.phaseOfTime(l.x.Col.Start[launch])
	}
	if l.x.Is(launch, timeline.GraphLaunch) {
		p = l.phaseInGraph(row, launch, p)
	}
	if l.sync[row] && p != PhaseForward && p != PhaseUnknown {
		return PhaseGradientSync
	}
	return p
}

// phaseInGraph is the phase of a part of a graph whose launch is in phase p.
func (l *Phases) phaseInGraph(row, launch int32, p Phase) Phase {
	switch site := l.x.GraphSite(row, timeline.UnknownSite); {
	case site.Site == timeline.SiteBackwardHook:
		return PhaseBackward
	case site.Site == timeline.SiteOptimizerStep:
		return PhaseOptimizer
	case p == PhaseOptimizer && l.last[l.window(l.r.StepAt(l.x.Col.Start[launch]))] == 0:
		return PhaseUnknown
	}
	return p
}

// phaseOfSpans determines the phase by the spans around a launch call, PhaseUnknown if they
// do not say it.
func (l *Phases) phaseOfSpans(launch int32) Phase {
	p := PhaseUnknown
	_, closure := l.x.ClosureAt(l.x.Col.Start[launch])
	l.x.Stack(launch, func(span int32) bool {
		switch class := l.x.Class(span); {
		case closure && class&timeline.OptimizerStep != 0: // what a closure does is not the optimizer's
		case class&(timeline.OptimizerStep|timeline.ZeroGrad) != 0:
			p = PhaseOptimizer
		case class&(timeline.AccumulateGrad|timeline.EvaluateFunction|timeline.BackwardNode) != 0:
			p = PhaseBackward
		}
		return p == PhaseUnknown
	})
	if p == PhaseUnknown && l.x.Autograd(l.x.Col.Track[launch]) {
		return PhaseBackward
	}
	return p
}

// phaseOfTime determines the phase of an instant on the host that no span accounts for.
func (l *Phases) phaseOfTime(t int64) Phase {
	if l.r.StepSource != steps.FromOptimizer {
		return PhaseUnknown
	}
	step := l.r.StepAt(t)
	last := l.last[l.window(step)]
	switch {
	case last == 0:
		return PhaseUnknown
	case t < last:
		return PhaseForward
	case step < 0:
		return PhaseUnknown // the optimizer of the step was not recorded
	case t < l.r.Steps[step].Update.Start:
		return PhaseAfterBackward
	}
	return PhaseOptimizer
}

// window returns the index of a step in last, that of its end for -1, after the last update.
func (l *Phases) window(step int) int {
	if step < 0 {
		return len(l.r.Steps)
	}
	return step
}

// Operator returns the name of the innermost operator around a launch call, and that of the
// call itself if there is none. record_param_comms counts only if there is no other: it is
// around every collective and says less than the operator around it.
func (l *Phases) Operator(launch int32) string {
	name := ""
	l.x.Stack(launch, func(span int32) bool {
		if cat := l.x.Col.Cat[span]; cat != trace.CatCPUOp && cat != trace.CatNone {
			return true
		}
		if text := l.x.Name(span); name == "" || text != timeline.RecordParamComms {
			name = text
		}
		return name == timeline.RecordParamComms
	})
	if name == "" {
		return l.x.Name(launch)
	}
	return name
}
