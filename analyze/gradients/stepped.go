package gradients

import (
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// steppedOnce reports whether the optimizers of a step touch no more parameters than one of its
// backward passes reaches. Two networks of the same shapes are one to their passes, and two to
// the optimizers.
func steppedOnce(x *timeline.Rank, p *Params, s *steps.Step, passes []Backward) bool {
	for class, n := range steppedIn(x, p, s.Update.Start, s.HostEnd) {
		reaches := func(b Backward) bool { return b.of(class) >= n }
		if p.Classes[class].Count > 0 && n > 0 && !slices.ContainsFunc(passes, reaches) {
			return false
		}
	}
	return true
}

// steppedIn counts, by class, the parameters that the optimizer spans between two instants
// touch, 0 where that cannot be said: of the operators in place that go over tensors of a
// class, the one with the fewest has one each.
func steppedIn(x *timeline.Rank, p *Params, start, end int64) []int {
	total, classes := make([]int, len(p.Classes)), p.byShape()
	first := sort.Search(len(x.Optimizers), func(i int) bool { return x.Optimizers[i].End > start })
	for _, span := range x.Optimizers[first:] {
		if span.Start >= end {
			break
		}
		for class, n := range touched(x, classes, len(p.Classes), span) {
			total[class] += n
		}
	}
	return total
}

// touched counts, by n classes, which are given by the keys of their shapes, the parameters
// that one optimizer span touches.
func touched(x *timeline.Rank, classes map[string]int, n int, span timeline.Span) []int {
	own := span.Start
	if c, ok := x.Closure(span.Row); ok {
		own = c.End
	}
	in, trackEnd := x.Inputs(), x.TrackEnd(span.Row)
	counts := make(map[string][]int) // by operator
	for i := span.Row + 1; i < trackEnd && x.Col.Start[i] < span.End; i++ {
		name := x.Name(i)
		if x.Col.Start[i] < own || !strings.HasSuffix(name, "_") || !x.Is(x.Col.Parent[i], timeline.OptimizerStep) {
			continue
		}
		if ops := in.Of(i); len(ops) > 0 {
			if counts[name] == nil {
				counts[name] = make([]int, n)
			}
			countShapes(counts[name], classes, ops[0].Shapes)
		}
	}
	return leastCounts(counts, n)
}

// countShapes counts the shapes that are those of a class.
func countShapes(counts []int, classes map[string]int, shapes [][]int64) {
	var buf [64]byte
	for _, s := range shapes {
		if class, ok := classes[string(appendShape(buf[:0], s))]; ok {
			counts[class]++
		}
	}
}

// leastCounts returns the least count of each of n classes that is not 0, over all operators.
func leastCounts(counts map[string][]int, n int) []int {
	least := make([]int, n)
	for _, of := range counts {
		for class, count := range of {
			if count > 0 {
				least[class] = leastOf(least[class], count)
			}
		}
	}
	return least
}
