package reference

import (
	"math"
	"slices"
	"sync"
)

// collector puts the steps of the ranks together and tells the callbacks, one at a time.
type collector struct {
	plan      *plan
	callbacks *Callbacks

	mu     sync.Mutex
	open   map[int]*StepResult // steps that some rank has not delivered yet
	steps  int                 // that are complete
	tokens int64               // of those
}

func newCollector(p *plan, c *Callbacks) *collector {
	return &collector{plan: p, callbacks: c, open: make(map[int]*StepResult)}
}

// delivery is a step as one rank hands it over.
type delivery struct {
	step, micros int
	result       RankStep
	valid        int64    // targets of the rank, as the host has counted them
	gradients    []Tensor // nil where nobody wants them
}

// add takes the step of one rank, and tells of it when it is the last.
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
	s.Logged = loggedLoss(c.plan, s)
	if c.callbacks.Step != nil {
		c.callbacks.Step(*s)
	}
}

// weights hands out the parameters of a rank at the end of a run.
func (c *collector) weights(rank int, list []Tensor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.callbacks.Weights(rank, list)
}

// meanLoss is the mean over all tokens, however the loop normalizes.
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

// loggedLoss is what a loop of these options would log: of rank 0's tokens only where
// each rank normalizes by its own, a mean of means where micro-batches count alike.
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
	}
	return s.Loss
}

// addedMeans returns what a rank's micro-batches add up to, each divided as the loop does.
func addedMeans(p *plan, r RankStep) float64 {
	sum := 0.0
	for j, l := range r.LossSums {
		if p.LossReduction == "mean" {
			l /= math.Max(1, float64(r.Tokens[j]))
		}
		if !p.has(noRescale) {
			l /= float64(p.accumulation)
		}
		sum += l
	}
	return sum
}
