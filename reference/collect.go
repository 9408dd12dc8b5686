package reference

import (
	"math"
	"slices"
	"sync"
)

// collector merges what ranks deliver into steps of the whole run and serializes the
// callbacks.
type collector struct {
	plan      *plan
	callbacks *Callbacks

	mu     sync.Mutex
	open   map[int]*StepResult // steps that some ranks have yet to deliver
	steps  int                 // completed
	tokens int64               // of completed steps
}

func newCollector(p *plan, c *Callbacks) *collector {
	return &collector{plan: p, callbacks: c, open: make(map[int]*StepResult)}
}

// delivery is what one rank knows of a step.
type delivery struct {
	step, micros int
	result       RankStep
	valid        int64    // targets, as counted by the host
	gradients    []Tensor // nil unless exported
}

// add records the step of one rank; the last rank completes the step.
func (c *collector) add(d delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callbacks.Gradients != nil {
		c.callbacks.Gradients(d.result.Rank, d.step, d.gradients)
	}
	all := c.open[d.step]
	if all == nil {
		all = &StepResult{Step: d.step, MicroBatches: d.micros}
		c.open[d.step] = all
	}
	all.Ranks = append(all.Ranks, d.result)
	all.Tokens += d.valid
	if len(all.Ranks) == c.plan.WorldSize {
		c.complete(all)
	}
}

func (c *collector) complete(s *StepResult) {
	delete(c.open, s.Step)
	c.steps++
	c.tokens += s.Tokens
	slices.SortFunc(s.Ranks, func(a, b RankStep) int { return a.Rank - b.Rank })
	s.Loss = meanLoss(s)
	s.Logged, s.Optimized = loggedLoss(c.plan, s), optimizedLoss(s)
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
