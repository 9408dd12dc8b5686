package facts

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Phase is the part of a training step that a device event is launched in.
type Phase string

// The phases of a step. PhaseAfterBackward lies between the last backward pass of a step
// and its optimizer: where gradients are scaled and clipped.
const (
	PhaseForward       Phase = "forward"
	PhaseBackward      Phase = "backward"
	PhaseGradientSync  Phase = "gradient_sync"
	PhaseAfterBackward Phase = "after_backward"
	PhaseOptimizer     Phase = "optimizer"
	PhaseUnknown       Phase = "unknown"
)

// Phases tells of the launches of a rank where in the program they stand. It looks into
// the index that the facts were computed from.
type Phases struct {
	x    *timeline.Rank
	r    *Rank
	sync map[int32]bool // device rows of collectives that reduce gradients
	last []int64        // end of the last backward pass of each step, then of what follows the last update; 0 none
}

// NewPhases prepares to tell of the launches of a rank, of which r are the facts.
func NewPhases(x *timeline.Rank, r *Rank) *Phases {
	l := &Phases{x: x, r: r, sync: make(map[int32]bool), last: make([]int64, len(r.Steps)+1)}
	for i := range r.Backwards {
		b := &r.Backwards[i]
		at := &l.last[l.window(r.StepAt(b.Start))]
		*at = max(*at, b.End)
	}
	rows := x.CollectiveRows()
	for i := range r.Collectives {
		c := &r.Collectives[i]
		elems := max(c.InElems, c.OutElems)
		if elems == 0 {
			elems = Unknown
		}
		if r.Params.Reduces(c.Kind, elems, c.Site) {
			l.sync[rows[i]] = true
		}
	}
	return l
}

// Phase is the phase of a device event with its launch, -1 for none.
//
//  1. Without a launch in the recording: unknown.
//  2. The innermost span around the launch that is an optimizer's (step, zero_grad) or
//     of backward decides; on a thread of backward alone it is backward.
//  3. Else the time does, within the step's host window: before the end of its last
//     backward pass forward, then, until its update, after_backward. Where steps are
//     not those of an optimizer, or no backward pass is recorded: unknown.
//  4. A collective that reduces gradients is gradient_sync wherever backward,
//     after_backward or the optimizer launch it.
func (l *Phases) Phase(row, launch int32) Phase {
	if launch < 0 {
		return PhaseUnknown
	}
	p := l.phaseOfSpans(launch)
	if p == PhaseUnknown {
		p = l.phaseOfTime(l.x.Col.Start[launch])
	}
	if l.sync[row] && p != PhaseForward && p != PhaseUnknown {
		return PhaseGradientSync
	}
	return p
}

func (l *Phases) phaseOfSpans(launch int32) Phase {
	p := PhaseUnknown
	l.x.Stack(launch, func(span int32) bool {
		switch class := l.x.Class(span); {
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

// window is the place of a step in last; -1, after the last update, is the end.
func (l *Phases) window(step int) int {
	if step < 0 {
		return len(l.r.Steps)
	}
	return step
}

// Operator is the name of the innermost operator around a launch, record_param_comms
// only where there is no other; without any it is that of the call.
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
