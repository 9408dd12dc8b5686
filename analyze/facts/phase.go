package facts

import (
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

// Launches tells of the host calls of one rank where in the program they stand. It
// reads the whole trace, so it is asked for before Compact.
type Launches struct {
	c    *computer
	r    *Rank
	sync map[int32]bool // device rows of collectives that reduce gradients
	last []int64        // end of the last backward pass of each step, then of what follows the last update; 0 none
}

// Launches looks at the names and threads of the rank's trace once more.
func (r *Rank) Launches() *Launches {
	c := &computer{t: r.Trace, col: r.Trace.Columns(), names: classifyNames(r.Trace)}
	c.mark()
	c.findAutogradThreads()
	l := &Launches{c: c, r: r, sync: make(map[int32]bool), last: make([]int64, len(r.Steps)+1)}
	for i := range r.Backwards {
		b := &r.Backwards[i]
		at := &l.last[l.window(r.StepAt(b.Start))]
		*at = max(*at, b.End)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		elems := max(m.InElems, m.OutElems)
		if elems == 0 {
			elems = Unknown
		}
		if r.reducesGradients(m.Kind, elems, m.Site) {
			l.sync[m.Row] = true
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
func (l *Launches) Phase(row, launch int32) Phase {
	if launch < 0 {
		return PhaseUnknown
	}
	p := l.phaseOfSpans(launch)
	if p == PhaseUnknown {
		p = l.phaseOfTime(l.c.col.Start[launch])
	}
	if l.sync[row] && p != PhaseForward && p != PhaseUnknown {
		return PhaseGradientSync
	}
	return p
}

func (l *Launches) phaseOfSpans(launch int32) Phase {
	p := PhaseUnknown
	l.c.stack(launch, func(span int32) bool {
		switch class := l.c.names.class[l.c.col.Name[span]]; {
		case class&(optimizerStep|zeroGrad) != 0:
			p = PhaseOptimizer
		case class&(accumulate|evaluate|backwardNode) != 0:
			p = PhaseBackward
		}
		return p == PhaseUnknown
	})
	if p == PhaseUnknown && l.c.autogradThread[l.c.col.Track[launch]] {
		return PhaseBackward
	}
	return p
}

func (l *Launches) phaseOfTime(t int64) Phase {
	if l.r.StepSource != StepsFromOptimizer {
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
func (l *Launches) window(step int) int {
	if step < 0 {
		return len(l.r.Steps)
	}
	return step
}

// Operator is the name of the innermost operator around a launch, record_param_comms
// only where there is no other; without any it is that of the call.
func (l *Launches) Operator(launch int32) string {
	name := ""
	l.c.stack(launch, func(span int32) bool {
		if cat := l.c.col.Cat[span]; cat != trace.CatCPUOp && cat != trace.CatNone {
			return true
		}
		if text := l.c.t.String(l.c.col.Name[span]); name == "" || text != recordParamComms {
			name = text
		}
		return name == recordParamComms
	})
	if name == "" {
		return l.c.t.String(l.c.col.Name[launch])
	}
	return name
}

const recordParamComms = "record_param_comms"

// ExposedEach shares the exposed time of all collectives of a rank out to them, in ns and
// in the order of Messages: an instant in which several run belongs to the one that
// started first. It sums to the Exposed of Measure over all.
func (r *Rank) ExposedEach() []int64 {
	list := make([]int64, len(r.Messages))
	reached := make(map[int]int64) // by device: the end of what was shared out
	for i := range r.Messages {
		m := &r.Messages[i]
		from := m.Start
		if end, ok := reached[m.Device]; ok {
			from = max(from, end)
		}
		if from < m.End {
			list[i] = m.End - from - r.Devices[m.Device].busy[ComputeBucket].Within(from, m.End)
			reached[m.Device] = m.End
		}
	}
	return list
}
