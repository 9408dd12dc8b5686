package reference

import (
	"math"
	"slices"
	"sync"
)

// collector puts the steps of the ranks together.
type collector struct {
	plan      *plan
	callbacks *Callbacks
	mu        sync.Mutex
	open      map[int]*StepResult
	steps     int
	tokens    int64
}

// add takes the step of one rank, and tells of it when it is the last.
func (c *collector) add(step, micros int, s RankStep, valid int64, gradients []Tensor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callbacks.Gradients != nil {
		c.callbacks.Gradients(s.Rank, step, gradients)
	}
	all := c.open[step]
	if all == nil {
		all = &StepResult{Step: step, MicroBatches: micros}
		c.open[step] = all
	}
	all.Ranks = append(all.Ranks, s)
	all.Tokens += valid
	if len(all.Ranks) < c.plan.WorldSize {
		return
	}
	delete(c.open, step)
	c.steps++
	c.tokens += all.Tokens
	slices.SortFunc(all.Ranks, func(a, b RankStep) int { return a.Rank - b.Rank })
	c.plan.sumUp(all)
	if c.callbacks.Step != nil {
		c.callbacks.Step(*all)
	}
}

// sumUp computes the mean loss, and what the loop would log.
func (p *plan) sumUp(s *StepResult) {
	sum := 0.0
	for _, r := range s.Ranks {
		for _, l := range r.LossSums {
			sum += l
		}
	}
	if s.Tokens > 0 {
		s.Loss = sum / float64(s.Tokens)
	}
	s.Logged = s.Loss
	if p.ReduceLoss {
		s.Logged = s.Ranks[0].ReducedLoss / math.Max(1, float64(s.Ranks[0].GlobalTokens))
	}
	switch p.Normalization {
	case "per-rank":
		s.Logged = s.Ranks[0].mean()
	case "micro-mean":
		s.Logged = 0
		for _, r := range s.Ranks {
			s.Logged += p.microMean(r) / float64(len(s.Ranks))
		}
	}
}

// mean returns the mean loss of a rank's tokens.
func (r RankStep) mean() float64 {
	sum := 0.0
	for _, l := range r.LossSums {
		sum += l
	}
	return sum / math.Max(1, float64(r.LocalTokens))
}

// microMean returns what a rank's micro-batches add up to, each divided as the loop does.
func (p *plan) microMean(r RankStep) float64 {
	sum := 0.0
	for j, l := range r.LossSums {
		if p.LossReduction == "mean" {
			l /= math.Max(1, float64(r.Tokens[j]))
		}
		if p.bug&noRescale == 0 {
			l /= float64(p.accumulation)
		}
		sum += l
	}
	return sum
}
