package straggler

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/analyze/straggler/optable"
	"github.com/gaprof/gaprof/trace/graph"
)

// replays says what the steps of a job would take with other times.
type replays struct {
	*job
	g        *graph.Graph
	plan     *graph.Plan
	times    graph.Times
	observed []int64
	ideal    [optable.NumTypes]int64
}

// newReplays prepares the replays of a job. It fails where operations wait for each other in a
// circle.
func newReplays(j *job) (*replays, error) {
	g := j.build()
	plan, err := g.Plan()
	if err != nil {
		return nil, j.circle(g, err)
	}
	r := &replays{job: j, g: g, plan: plan, observed: j.observed(g)}
	r.times = graph.Times{Start: make([]int64, j.Len()), End: make([]int64, j.Len())}
	r.ideal = j.ideals(r.observed)
	return r, nil
}

// circle says which operations wait for each other.
func (j *job) circle(g *graph.Graph, err error) error {
	cycle, ok := err.(*graph.CycleError)
	if !ok || len(cycle.Edges) == 0 {
		return err
	}
	i := g.To[cycle.Edges[0]]
	return fmt.Errorf("step %d: %d operations wait for each other in a circle, among them %s %d of rank %d: "+
		"the table is not in the order of a pipeline of forward and backward passes",
		j.Step[i], len(cycle.Edges), j.Type[i], j.Seq[i], j.Rank[i])
}

// replay returns how long each step takes, in ns, where some operations take their ideal time
// and all others the observed one.
func (r *replays) replay(ideal func(i op) bool) []int64 {
	for i := range op(r.Len()) {
		if r.g.Work[i] = r.observed[i]; ideal(i) {
			r.g.Work[i] = r.ideal[r.Type[i]]
		}
	}
	r.plan.ReplayInto(&r.times)
	return r.spans(func(i op) (start, end int64) { return r.times.Start[i], r.times.End[i] })
}

// mean is the mean of what replay returns.
func (r *replays) mean(ideal func(i op) bool) float64 { return mean(r.replay(ideal)) }

// seen is how long each step took, in ns.
func (r *replays) seen() []int64 {
	return r.spans(func(i op) (start, end int64) { return r.Start[i], r.end(i) })
}

// spans is, by step, from the first start to the last end of its operations.
func (r *replays) spans(of func(i op) (start, end int64)) []int64 {
	spans := make([]int64, len(r.steps))
	for s := range spans {
		first, last := int64(math.MaxInt64), int64(math.MinInt64)
		for i := r.first[s]; i < r.first[s+1]; i++ {
			start, end := of(i)
			first, last = min(first, start), max(last, end)
		}
		spans[s] = last - first
	}
	return spans
}
