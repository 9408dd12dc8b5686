package straggler

import (
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/straggler/optable"
	"github.com/gaprof/gaprof/trace/graph"
)

// skew is what clocks of different machines may be apart, in ns: times that are more negative
// count as none.
const skew = 10_000_000

// observed is the time that each operation takes, in ns, by operation: its duration, or, where
// others take part, from when the last of them started to its own end. latest is when the
// last one of its peers started.
func (j *job) observed(g *graph.Graph) []int64 {
	latest := make([]int64, g.Groups())
	for i, group := range g.Group {
		if group != graph.None {
			latest[group] = max(latest[group], j.Start[i])
		}
	}
	work := slices.Clone(j.Duration)
	for i, group := range g.Group {
		if group != graph.None {
			work[i] = clamped(j.end(op(i)) - latest[group])
		}
	}
	return work
}

// delays is how much later than the last of what it waits for each operation started, in ns:
// what the graph does not explain.
func (j *job) delays(g *graph.Graph) []int64 {
	ready := make([]int64, j.Len())
	for e, from := range g.From {
		if from != graph.None {
			ready[g.To[e]] = max(ready[g.To[e]], j.end(from))
		}
	}
	delays := make([]int64, j.Len())
	for i := range delays {
		delays[i] = clamped(j.Start[i] - ready[i])
	}
	return delays
}

func clamped(ns int64) int64 {
	if ns <= -skew {
		return 0
	}
	return ns
}

// byMean are the types of which the ideal time is the mean: what varies there is work, and
// work can be moved to where there is less. Of all others it is the median.
var byMean = []optable.Type{optable.ForwardCompute, optable.BackwardCompute, optable.GC, optable.Optimizer}

// ideals returns the ideal time of an operation by type, in ns: one number for all steps,
// workers and micro-batches. Types that no operation has are math.MinInt64.
func (j *job) ideals(observed []int64) [optable.NumTypes]int64 {
	var byType [optable.NumTypes][]int64
	for i, t := range j.Type {
		byType[t] = append(byType[t], observed[i])
	}
	var ideal [optable.NumTypes]int64
	for t, list := range byType {
		switch {
		case len(list) == 0:
			ideal[t] = math.MinInt64
		case slices.Contains(byMean, optable.Type(t)):
			ideal[t] = int64(math.Round(mean(list)))
		default:
			ideal[t] = median(list)
		}
	}
	return ideal
}

func mean(list []int64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += float64(v)
	}
	return sum / float64(max(1, len(list)))
}

// median sorts its argument. Of two in the middle it is the mean, rounded to even.
func median(list []int64) int64 {
	slices.Sort(list)
	n := len(list)
	return int64(math.RoundToEven((float64(list[(n-1)/2]) + float64(list[n/2])) / 2))
}
