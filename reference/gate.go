package reference

import (
	"context"
	"fmt"
	"sync"
)

// gate decides whether ranks begin another step, so that all of them stop after the
// same one.
type gate struct {
	steps   int  // to run: MaxSteps, or fewer if the data runs out
	partial bool // data for part of another step is left over
	byData  bool // the data ends the run, not MaxSteps

	mu      sync.Mutex
	begun   int  // steps begun by at least one rank
	stopped bool // ctx was cancelled
}

func newGate(p *plan, d Data) (*gate, error) {
	whole, more := steps(d, p.WorldSize, p.accumulation)
	for rank := range p.WorldSize {
		if d.Len(rank) == 0 {
			reason := fmt.Sprintf("there is no data for rank %d", rank)
			return nil, &OptionError{"world-size", reason, "take fewer ranks or more data"}
		}
	}
	if p.has(partialWindow) && more {
		whole, more = whole+1, false
	}
	g := &gate{steps: min(whole, p.MaxSteps), byData: whole < p.MaxSteps}
	g.partial = g.byData && more
	return g, nil
}

// enter reports whether a rank may begin a step. After cancellation, ranks still begin
// steps that another rank has begun, or that one would wait for them forever.
func (g *gate) enter(ctx context.Context, step int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil {
		g.stopped = true
	}
	if step >= g.steps || g.stopped && step >= g.begun {
		return false
	}
	g.begun = max(g.begun, step+1)
	return true
}

// end returns why the run ended. It is meaningful once every rank has been refused.
func (g *gate) end() string {
	switch {
	case g.stopped && g.begun < g.steps:
		return EndCancel
	case g.byData:
		return EndData
	}
	return EndSteps
}
