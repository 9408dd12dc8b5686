package reference

import (
	"context"
	"fmt"
	"sync"
)

// gate lets ranks into steps: all into the same ones.
type gate struct {
	steps   int  // that there is data for, at most MaxSteps
	partial bool // the data goes on, by less than a step
	byData  bool // it is the data that ends the run

	mu      sync.Mutex
	begun   int // steps that some rank has begun
	stopped bool
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

// enter reports whether a rank begins a step. After a cancel, ranks still begin those
// that some rank has begun: nobody waits for a peer that has left.
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

// end returns why the run ended, once all ranks have been turned away.
func (g *gate) end() string {
	switch {
	case g.stopped && g.begun < g.steps:
		return EndCancel
	case g.byData:
		return EndData
	}
	return EndSteps
}
