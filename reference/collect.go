package reference

import (
	"math"
	"slices"
	"sync"
	"time"
)

// collector merges what ranks deliver into steps of the whole run and serializes the
// callbacks.
type collector struct {
	plan      *plan
	callbacks *Callbacks
	ranks     int // that deliver: all, or those that stand for all
	tellToken func(rank, micro int) int64

	mu     sync.Mutex
	open   map[int]*opened // steps that some ranks have yet to deliver
	held   []*opened       // complete, while times are unknown
	last   int64           // ns of the device's clock: when the last step was complete
	steps  int             // completed
	tokens int64           // of completed steps
}

// opened is a step that ranks have delivered.
type opened struct {
	StepResult
	at []func() int64 // when they did
}

func newCollector(p *plan, d Data, c *Callbacks) *collector {
	tell := func(rank, micro int) int64 { return int64(validOf(d, rank, micro)) }
	return &collector{plan: p, callbacks: c, tellToken: tell, open: make(map[int]*opened)}
}

// begin says how many ranks will deliver, and when the run has begun.
func (c *collector) begin(ranks int, at func() int64) {
	c.ranks = ranks
	if !c.plan.Target.Shapes {
		c.last = at()
	}
}

// delivery is what one rank knows of a step.
type delivery struct {
	step, micros int
	result       RankStep
	valid        int64    // targets, as counted by the host
	gradients    []Tensor // nil unless exported
	at           func() int64
}

// add records the step of one rank; the last rank completes the step.
func (c *collector) add(d delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callbacks.Gradients != nil && !c.plan.Target.Shapes {
		c.callbacks.Gradients(d.result.Rank, d.step, d.gradients)
	}
	all := c.open[d.step]
	if all == nil {
		all = &opened{StepResult: StepResult{Step: d.step, MicroBatches: d.micros}}
		c.open[d.step] = all
	}
	all.Ranks, all.at = append(all.Ranks, d.result), append(all.at, d.at)
	all.Tokens += d.valid
	if len(all.Ranks) < c.ranks {
		return
	}
	delete(c.open, d.step)
	if c.plan.Target.Shapes {
		c.held = append(c.held, all)
		return
	}
	c.complete(all)
}

// release completes the steps that are held, once all devices are closed.
func (c *collector) release(begin func() int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) > 0 {
		c.last = begin()
	}
	for _, s := range c.held {
		c.standIn(s)
		c.complete(s)
	}
	c.held = nil
}

// standIn adds what the ranks know that others stood for, and what none can compute.
func (c *collector) standIn(s *opened) {
	for rank := len(s.Ranks); rank < c.plan.WorldSize; rank++ {
		r := s.Ranks[0]
		r.Rank, r.LocalTokens, r.valid = rank, 0, nil
		for j := range s.MicroBatches {
			r.valid = append(r.valid, c.tellToken(rank, s.Step*c.plan.accumulation+j))
			r.LocalTokens += r.valid[j]
		}
		r.Tokens = r.valid
		s.Tokens += r.LocalTokens
		s.Ranks = append(s.Ranks, r)
	}
	if !c.plan.countsAll() {
		return
	}
	total := int64(0)
	for i := range s.Ranks {
		total += s.Ranks[i].LocalTokens
	}
	for i := range s.Ranks {
		s.Ranks[i].GlobalTokens = total
	}
}

func (c *collector) complete(o *opened) {
	s := &o.StepResult
	at := c.last
	for _, tell := range o.at {
		at = max(at, tell())
	}
	s.Duration, c.last = time.Duration(at-c.last), at
	c.steps++
	c.tokens += s.Tokens
	slices.SortFunc(s.Ranks, func(a, b RankStep) int { return a.Rank - b.Rank })
	s.Loss = meanLoss(s)
	s.Logged, s.Optimized = loggedLoss(c.plan, s), optimizedLoss(s)
	if c.plan.Target.Shapes {
		s.Loss, s.Logged, s.Optimized = math.NaN(), math.NaN(), math.NaN()
	}
	if c.callbacks.Step != nil {
		c.callbacks.Step(*s)
	}
}

// weights passes the final parameters of a rank to the callback.
func (c *collector) weights(rank int, list []Tensor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.callbacks.Weights(rank, list)
}

// meanLoss returns the mean over all tokens, regardless of how the loop normalizes.
func meanLoss(s *StepResult) float64 {
	sum := 0.0
	for _, r := range s.Ranks {
		for _, l := range r.LossSums {
			sum += l
		}
	}
	if s.Tokens == 0 {
		return 0
	}
	return sum / float64(s.Tokens)
}

// loggedLoss returns what a loop with these options would log on rank 0: the mean over its
// own tokens if each rank normalizes by those, a mean of means if micro-batches have equal
// weight, and a mean with other weights if it counts other tokens than have a loss.
func loggedLoss(p *plan, s *StepResult) float64 {
	first := s.Ranks[0]
	switch {
	case p.Normalization == "per-rank":
		return first.mean()
	case p.Normalization == "micro-mean":
		sum := 0.0
		for _, r := range s.Ranks {
			sum += addedMeans(p, r) / float64(len(s.Ranks))
		}
		return sum
	case p.ReduceLoss:
		return first.ReducedLoss / math.Max(1, float64(first.GlobalTokens))
	case p.has(preshiftCount):
		return countedLoss(s)
	}
	return s.Loss
}

// countedLoss returns the mean loss of a loop that counts other tokens than its losses are
// means over: of those means, by the tokens that it counts.
func countedLoss(s *StepResult) float64 {
	sum, tokens := 0.0, int64(0)
	for _, r := range s.Ranks {
		for j, l := range r.added {
			sum, tokens = sum+l, tokens+r.Tokens[j]
		}
	}
	return sum / math.Max(1, float64(tokens))
}

// addedMeans returns the sum of the losses of a rank's micro-batches, divided as the loop does.
func addedMeans(p *plan, r RankStep) float64 {
	sum := 0.0
	for _, l := range r.computed {
		if !p.has(noRescale) {
			l /= float64(p.accumulation)
		}
		sum += l
	}
	return sum
}
