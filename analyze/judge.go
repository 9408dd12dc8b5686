package analyze

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// judge decides how steps are normalized: from what the traces of all ranks show of the
// loop, which is alike for all steps, and from what logs say of each.
type judge struct {
	loop   normalization.Observation
	counts *tokenCounts
	logs   logs
	losses map[int64]*sidecar.LossLog // by step, as the log numbers them
	traced bool                       // there are traces, not logs alone
}

func newJudge(list []*Rank, counts *tokenCounts, l logs) *judge {
	j := &judge{loop: observeAll(list), counts: counts, logs: l, losses: byStep(l.Losses), traced: len(list) > 0}
	j.loop.Declared = l.declared
	if counts.known && j.loop.Reduced != normalization.Yes {
		j.loop.Reduced = normalization.NotKnown // ranks know the count of all, however they came by it
	}
	j.loop.Micro = mostMicroBatches(list)
	return j
}

// decide says how one step, as the traces number it, is normalized.
func (j *judge) decide(step int) NormalizedStep {
	o := j.loop
	o.Counts, o.Whole = j.counts.caseOf(step)
	logged := int64(step + j.logs.shift)
	addLosses(&o, j.losses[logged])
	for _, g := range j.logs.Gradients {
		if g.Step == logged && (o.Gradients == nil || o.Gradients.Right()) {
			o.Gradients = g.Cause
		}
	}
	if o.Ranks == 0 && !j.traced {
		o.Ranks = o.Counts.Ranks()
	}
	return NormalizedStep{Step: step, Counts: o.Counts, Observed: &o, Decision: normalization.Decide(&o)}
}

// mostMicroBatches is how many micro-batches a full step has, by the traces; 0 unknown.
func mostMicroBatches(list []*Rank) int {
	most := 0
	for _, r := range list {
		for i := range r.Steps {
			most = max(most, r.Steps[i].MicroBatches)
		}
	}
	return most
}

// byStep divides a log, which may be nil, by its steps: a run may have a million of them.
func byStep(log *sidecar.LossLog) map[int64]*sidecar.LossLog {
	steps := make(map[int64]*sidecar.LossLog)
	of := func(step int64) *sidecar.LossLog {
		if steps[step] == nil {
			steps[step] = new(sidecar.LossLog)
		}
		return steps[step]
	}
	if log == nil {
		return steps
	}
	for _, s := range log.Steps {
		to := of(s.Step)
		to.Steps = append(to.Steps, s)
	}
	for _, m := range log.Micro {
		to := of(m.Step)
		to.Micro = append(to.Micro, m)
	}
	return steps
}

// addLosses adds what a loss log says of a step, nil without anything; the losses of
// micro-batches are unknown unless all are there.
func addLosses(o *normalization.Observation, log *sidecar.LossLog) {
	if log == nil {
		return
	}
	for _, s := range log.Steps {
		if math.IsNaN(o.Optimised) {
			o.Optimised = s.Optimised
		}
		if math.IsNaN(o.Logged) {
			o.Logged = s.Logged
		}
	}
	o.Sums = lossSums(log, o.Counts)
}

// lossSums are the summed losses of the one step of a log by rank and micro-batch, in the shape of
// the token counts of the step; nil where one is missing.
func lossSums(log *sidecar.LossLog, c *normalization.Counts) [][]float64 {
	byRank := make(map[int64]map[int64]float64)
	var ranks []int64
	for _, m := range log.Micro {
		if byRank[m.Rank] == nil {
			byRank[m.Rank] = make(map[int64]float64)
			ranks = append(ranks, m.Rank)
		}
		byRank[m.Rank][m.MicroBatch] = m.Sum
	}
	if len(ranks) != len(c.Tokens) {
		return nil
	}
	slices.Sort(ranks)
	var sums [][]float64
	for r, rank := range ranks {
		row := make([]float64, len(c.Tokens[r]))
		for j := range row {
			v, ok := byRank[rank][int64(j)]
			if !ok {
				return nil
			}
			row[j] = v
		}
		sums = append(sums, row)
	}
	return sums
}
