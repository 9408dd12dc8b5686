package facts

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/analyze/work"
	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Compute derives the facts of every rank of an index, in the order of its Ranks. Problems
// of the trace as a whole are listed with the first rank only.
func Compute(x *timeline.Index) []*Rank { return computeAll(x, true) }

// ComputeAlone is Compute for a trace that no other is compared with: without Work, where it is
// of one rank.
func ComputeAlone(x *timeline.Index) []*Rank { return computeAll(x, len(x.Ranks) > 1) }

func computeAll(x *timeline.Index, compared bool) []*Rank {
	var ranks []*Rank
	var compile *compiling
	for i, r := range x.Ranks {
		if i == 0 {
			compile = compilingIn(r.Trace, &r.Col)
		}
		ranks = append(ranks, rankOf(r, compile, compared))
	}
	if len(ranks) > 0 {
		loaders := idle.Loaders(x.Ranks[0].Trace) // of the whole trace
		for _, r := range ranks {
			r.Loaders = slices.Clone(loaders)
		}
		first := ranks[0]
		first.Problems = append(wholeTrace(x), first.Problems...)
	}
	texts := make(map[string]string)
	for _, r := range ranks {
		r.texts(func(text *string) { *text = own(texts, *text) })
	}
	return ranks
}

// wholeTrace lists the problems of a trace that belong to no single rank. Whether a stack was
// too deep is known only now, after all ranks have been computed.
func wholeTrace(x *timeline.Index) []trace.Problem {
	list := append([]trace.Problem(nil), x.Problems...)
	if x.TooDeep() {
		const detail = "more than %d spans around one event, of which the outermost were not looked at"
		list = append(list, problem(trace.DeepNesting, 1, fmt.Sprintf(detail, timeline.Deepest)))
	}
	return list
}

// rankOf derives the facts of one rank. What is independent runs at the same time: steps and
// backward passes, then the device's side of communication and the gradients.
func rankOf(x *timeline.Rank, compile *compiling, compared bool) *Rank {
	r := &Rank{}
	var s *steps.Steps
	var backwards gradients.Backwards
	parallel.Both(func() {
		r.Identity, r.Activity = identify(x), activityOf(x)
		s = steps.Find(x)
	}, func() { backwards = gradients.FindBackwards(x) })
	var g *gradients.Gradients
	var launches, rows []int32
	var idles [][]idle.Window
	parallel.Both(func() {
		r.Communication, launches = communicate(x, s)
		r.Warmup, r.TokenNotes = warmupOf(x, s, compile), tokenNotes(x, s)
		if compared {
			idles, r.Work = work.Find(x, s, r.Communication.onDevices())
		} else {
			idles = idle.Find(x, s)
		}
	}, func() {
		g, rows = gradients.Compute(x, s, backwards, r.WorldSize)
	})
	joinHost(x, r.Collectives, launches, rows)
	r.Gradients, r.Steps, r.StepSource = *g, stepsOf(s, g, idles), s.Source
	hideSync(r)
	parallel.Both(func() {
		r.Updates = updatesOf(x, s, g)
		r.Problems = problemsOf(x, r)
	}, func() {
		placeCollectives(x, r)
		r.Loss = lossOf(x, g.Backwards)
		r.Memory = memory.Find(x, r.MemoryWindows())
	})
	return r
}

// stepsOf combines the windows of each step with what its gradients show. The kind of the
// latter, which knows accumulation, replaces that by optimizers alone.
func stepsOf(s *steps.Steps, g *gradients.Gradients, idles [][]idle.Window) []Step {
	var list []Step
	for i, one := range s.List {
		of := &g.Steps[i]
		one.Kind = of.Kind
		list = append(list, Step{one, of.PerOptimizer, of.MicroBatches, of.Backwards, of.Gaps, idles[i], nil})
	}
	return list
}
